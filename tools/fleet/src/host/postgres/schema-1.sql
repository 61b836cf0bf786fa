-- One row. `turn` rises with every transaction that writes; the others are the newest of everything.
create table store (
    version integer not null,
    turn bigint not null,
    mission bigint not null,
    record bigint not null,
    newest text collate "C"
) with (fillfactor = 10);
insert into store values (0, 0, 0, 0, null);

create table colony (
    id text collate "C" primary key,
    name text collate "C" not null unique,
    repository text not null,
    base text,
    created bigint not null,
    -- The scheduler as JSON, and how many events it has accepted.
    state text not null,
    version bigint not null,
    -- Crabs: known, parked, with a lease, with a fault.
    known bigint not null default 0,
    parked bigint not null default 0,
    leased bigint not null default 0,
    faulty bigint not null default 0
) with (fillfactor = 50);

create table crab (
    colony text collate "C" not null,
    id text collate "C" not null,
    name text not null,
    heard bigint not null,
    primary key (colony, id)
) with (fillfactor = 50);

create table plan (
    hash text collate "C" primary key,
    body text not null
);

-- `id` rises with `seq`. `ended` is when a mission has ended that has; no index has a column that changes with every event.
create table mission (
    seq bigint primary key,
    id text collate "C" not null unique,
    colony text collate "C" not null,
    plan text collate "C" not null,
    workflow text not null,
    summary text not null,
    branch text not null,
    status text collate "C" not null,
    step text,
    pause bigint,
    version bigint not null,
    created bigint not null,
    updated bigint not null,
    ended bigint,
    state text not null
) with (fillfactor = 70);
create index mission_status on mission (status, seq);
create index mission_colony on mission (colony, seq);
create index mission_colony_status on mission (colony, status, seq);
create index mission_branch on mission (colony, branch);
create index mission_plan on mission (plan);
create index mission_ended on mission (ended) where ended is not null;

-- The prompt of each mission, and what a search looks at: branch, workflow and the beginning of the prompt, in lower case.
create table prompt (
    mission bigint primary key,
    body text not null,
    searched text not null
);

create table run (
    mission text collate "C" not null,
    step integer not null,
    attempt bigint not null,
    crab text,
    queued bigint not null,
    offered bigint,
    started bigint,
    ended bigint,
    commit_id text,
    worktree text,
    primary key (mission, step, attempt)
) with (fillfactor = 70);

-- The steps that wait, of which a mission may have several. The first of a role is found by the primary key.
create table waiting (
    colony text collate "C" not null,
    role text collate "C" not null,
    ticket bigint not null,
    mission text collate "C" not null,
    step integer not null,
    attempt bigint not null,
    version bigint not null,
    primary key (colony, role, ticket, step)
) with (autovacuum_vacuum_scale_factor = 0.02);
create index waiting_mission on waiting (mission);

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

create table record (
    seq bigint primary key,
    time bigint not null,
    colony text collate "C" not null,
    mission text collate "C",
    kind text not null,
    data text not null
);
create index record_mission on record (mission, seq);
create index record_time on record (time) where mission is null;

-- Calls that were answered, with a hash of what they asked.
create table call (
    key text collate "C" primary key,
    hash bytea not null,
    outcome text not null,
    time bigint not null
);
create index call_time on call (time);

-- What nobody can read, set aside.
create table alarm (
    kind text collate "C" not null,
    id text collate "C" not null,
    why text not null,
    time bigint not null,
    primary key (kind, id)
);

-- How many missions have a status, and how many steps wait for a role.
create table tally (
    colony text collate "C" not null,
    kind text collate "C" not null,
    name text collate "C" not null,
    n bigint not null,
    primary key (colony, kind, name)
) with (fillfactor = 50);
