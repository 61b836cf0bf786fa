-- The steps that wait, of which a mission may have several. The first of a role is found by the primary key.
create table waiting_steps (
    colony text not null,
    role text not null,
    ticket integer not null,
    mission text not null,
    step integer not null,
    attempt integer not null,
    version integer not null,
    primary key (colony, role, ticket, step)
) without rowid;
insert into waiting_steps (colony, role, ticket, mission, step, attempt, version)
select colony, role, ticket, mission, step, attempt, version from waiting;
drop table waiting;
alter table waiting_steps rename to waiting;
create index waiting_mission on waiting (mission);

-- Of an older mission only the first step waits. The next start takes these alarms up, and each mission says what may start.
insert or ignore into alarm (kind, id, why, time)
select 'mission', id, 'only its first step waits', 0 from mission where status = 'running';
