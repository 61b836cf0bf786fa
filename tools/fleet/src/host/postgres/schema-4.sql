-- A mission may have several steps that wait.
alter table waiting drop constraint waiting_mission_key;
alter table waiting drop constraint waiting_pkey;
alter table waiting add primary key (colony, role, ticket, step);
create index waiting_mission on waiting (mission);

-- Of an older mission only the first step waits. The next start takes these alarms up, and each mission says what may start.
insert into alarm (kind, id, why, time)
select 'mission', id, 'only its first step waits', 0 from mission where status = 'running'
on conflict do nothing;
