create table colony (
    id text primary key,
    name text not null unique,
    repository text not null,
    base text,
    created integer not null,
    -- The scheduler as JSON, and how many events it has accepted.
    state text not null,
    version integer not null,
    -- Crabs: known, parked, with a lease, with a fault.
    known integer not null default 0,
    parked integer not null default 0,
    leased integer not null default 0,
    faulty integer not null default 0
) without rowid;

create table crab (
    colony text not null,
    id text not null,
    name text not null,
    heard integer not null,
    primary key (colony, id)
) without rowid;

create table plan (
    hash text primary key,
    body text not null
);

-- `id` rises with `seq`.
create table mission (
    seq integer primary key,
    id text not null unique,
    colony text not null,
    plan text not null,
    workflow text not null,
    summary text not null,
    branch text not null,
    status text not null,
    step text,
    pause integer,
    version integer not null,
    created integer not null,
    updated integer not null,
    state text not null
);
create index mission_status on mission (status, seq);
create index mission_colony on mission (colony, seq);
create index mission_colony_status on mission (colony, status, seq);
create index mission_branch on mission (colony, branch);
create index mission_plan on mission (plan);
create index mission_ended on mission (updated) where status in ('completed', 'failed', 'cancelled');

create table prompt (
    mission integer primary key,
    body text not null
);

-- The beginning of the prompt, the branch and the workflow of each mission, by its seq.
create virtual table search using fts5 (
    body,
    content = '',
    contentless_delete = 1,
    tokenize = 'trigram'
);

create table run (
    mission text not null,
    step integer not null,
    attempt integer not null,
    crab text,
    queued integer not null,
    offered integer,
    started integer,
    ended integer,
    commit_id text,
    worktree text,
    primary key (mission, step, attempt)
) without rowid;

-- The steps that wait, of which a mission may have several. The first of a role is found by the primary key.
create table waiting (
    colony text not null,
    role text not null,
    ticket integer not null,
    mission text not null,
    step integer not null,
    attempt integer not null,
    version integer not null,
    primary key (colony, role, ticket, step)
) without rowid;
create index waiting_mission on waiting (mission);

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

-- Numbers are never used again, so that a follower misses nothing.
create table record (
    seq integer primary key autoincrement,
    time integer not null,
    colony text not null,
    mission text,
    kind text not null,
    data text not null
);
create index record_mission on record (mission, seq);
create index record_time on record (time) where mission is null;

-- Calls that were answered, with a hash of what they asked.
create table call (
    key text primary key,
    hash blob not null,
    outcome text not null,
    time integer not null
) without rowid;
create index call_time on call (time);

-- What nobody can read, set aside.
create table alarm (
    kind text not null,
    id text not null,
    why text not null,
    time integer not null,
    primary key (kind, id)
) without rowid;

-- How many missions have a status, and how many steps wait for a role.
create table tally (
    colony text not null,
    kind text not null,
    name text not null,
    n integer not null,
    primary key (colony, kind, name)
) without rowid;
