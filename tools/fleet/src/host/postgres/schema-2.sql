-- Long texts of attempts, compressed. `length` is that of the text.
create table attempt_text (
    mission text collate "C" not null,
    step integer not null,
    attempt bigint not null,
    kind text collate "C" not null,
    length bigint not null,
    body bytea not null,
    primary key (mission, step, attempt, kind)
);
alter table attempt_text alter column body set storage external;
