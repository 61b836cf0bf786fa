-- Long texts of attempts, compressed. `length` is that of the text.
create table attempt_text (
    mission text not null,
    step integer not null,
    attempt integer not null,
    kind text not null,
    length integer not null,
    body blob not null,
    primary key (mission, step, attempt, kind)
);
