//! Writing the rows of a transaction.

use rusqlite::Connection;

use crate::host::unit_of_work::{
    AttemptChanges, CrabRow, MissionState, NewMissionRow, RecordRow, StoredScheduler, Writes,
};

/// Writes rows, in the transaction that the connection has begun.
pub(super) fn write(connection: &Connection, writes: &Writes) -> rusqlite::Result<()> {
    missions(connection, writes)?;
    colonies(connection, writes)?;
    attempts(connection, writes)?;
    waiting(connection, writes)?;
    let now = writes.now;
    let mut insert = connection.prepare_cached(
        "insert into record (seq, time, colony, mission, kind, data) values (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for RecordRow { seq, colony, mission, kind, data } in &writes.records {
        insert.execute((*seq as i64, now, colony, mission, kind, data))?;
    }
    let mut upsert = connection.prepare_cached(
        "insert into tally (colony, kind, name, n) values (?1, ?2, ?3, ?4) on conflict do update set n = n + excluded.n",
    )?;
    for ((colony, kind, name), change) in writes.tallies.iter().filter(|(_, change)| **change != 0) {
        upsert.execute((colony, kind, name, change))?;
    }
    let mut insert =
        connection.prepare_cached("insert into call (key, hash, outcome, time) values (?1, ?2, ?3, ?4)")?;
    for call in &writes.calls {
        insert.execute((&call.key, &call.hash, &call.outcome, now))?;
    }
    let mut insert = connection
        .prepare_cached("insert or ignore into alarm (kind, id, why, time) values (?1, ?2, ?3, ?4)")?;
    for alarm in &writes.alarms {
        insert.execute((&alarm.kind, &alarm.id, &alarm.why, now))?;
    }
    Ok(())
}

fn missions(connection: &Connection, writes: &Writes) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached("insert or ignore into plan (hash, body) values (?1, ?2)")?;
    for (hash, body) in &writes.plans {
        insert.execute((hash, body))?;
    }
    let mut insert = connection.prepare_cached(
        "insert into mission (seq, id, colony, plan, workflow, summary, branch, status, step, pause, version, \
         created, updated, state, asks, tip) values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12, ?13, ?14, ?15)",
    )?;
    let mut prompt = connection.prepare_cached("insert into prompt (mission, body) values (?1, ?2)")?;
    let mut search = connection.prepare_cached("insert into search (rowid, body) values (?1, ?2)")?;
    for (id, new) in &writes.missions {
        let NewMissionRow { colony, plan, workflow, summary, branch, state: it, .. } = new;
        let (seq, version) = (new.seq as i64, it.version as i64);
        insert.execute(rusqlite::params![
            seq, id, colony, plan, workflow, summary, branch, it.status, it.step, it.pause, version,
            writes.now, it.state, it.asks, it.tip
        ])?;
        prompt.execute((seq, &new.prompt))?;
        search.execute((seq, &new.searched))?;
    }
    let mut update = connection.prepare_cached(
        "update mission set status = ?2, step = ?3, pause = ?4, version = ?5, updated = ?6, state = ?7, \
         asks = ?8, tip = ?9 where seq = ?1",
    )?;
    for (seq, it) in &writes.mission_states {
        let MissionState { status, step, pause, asks, tip, version, state } = it;
        let (seq, version) = (*seq as i64, *version as i64);
        update.execute((seq, status, step, pause, version, writes.now, state, asks, tip))?;
    }
    Ok(())
}

fn colonies(connection: &Connection, writes: &Writes) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(
        "insert into colony (id, name, repository, base, created, state, version) values (?1, ?2, ?3, ?4, ?5, '', 0)",
    )?;
    for it in &writes.colonies {
        insert.execute((&it.id, &it.name, &it.repository, &it.base, it.created))?;
    }
    let mut update = connection.prepare_cached(
        "update colony set version = ?2, state = ?3, known = ?4, parked = ?5, leased = ?6, faulty = ?7 where id = ?1",
    )?;
    for (id, StoredScheduler { version, state, crabs }) in &writes.colony_states {
        let [known, parked, leased, faulty] = crabs.map(|it| it as i64);
        update.execute((id, *version as i64, state, known, parked, leased, faulty))?;
    }
    let mut upsert = connection.prepare_cached(
        "insert into crab (colony, id, name, heard) values (?1, ?2, ?3, ?4) \
         on conflict do update set name = excluded.name, heard = excluded.heard",
    )?;
    let mut heard = connection.prepare_cached("update crab set heard = ?3 where colony = ?1 and id = ?2")?;
    let mut left = connection.prepare_cached("delete from crab where colony = ?1 and id = ?2")?;
    for ((colony, crab), row) in &writes.crabs {
        match row {
            CrabRow::Registered(name) => upsert.execute((colony, crab, name, writes.now))?,
            CrabRow::Heard => heard.execute((colony, crab, writes.now))?,
            CrabRow::Left => left.execute((colony, crab))?,
        };
    }
    Ok(())
}

fn attempts(connection: &Connection, writes: &Writes) -> rusqlite::Result<()> {
    let mut insert = connection
        .prepare_cached("insert into run (mission, step, attempt, queued) values (?1, ?2, ?3, ?4)")?;
    let on = "where mission = ?1 and step = ?2 and attempt = ?3";
    let update = |what: &str| connection.prepare_cached(&format!("update run set {what} {on}"));
    let mut returned = update("crab = null, offered = null")?;
    let mut returned_by = connection
        .prepare_cached(&format!("update run set crab = null, offered = null {on} and crab = ?4"))?;
    let (mut crab, mut offered) = (update("crab = ?4")?, update("offered = ?4")?);
    let mut started = update("started = ?4, worktree = ?5")?;
    let mut next = update("due = ?4")?;
    let mut ended = update("ended = ?4, commit_id = ?5")?;
    for ((mission, step, attempt), row) in &writes.attempts {
        let AttemptChanges { queued, returned: by, crab: has, offered: at, started: start, due, ended: end } =
            row;
        if let Some(queued) = queued {
            insert.execute((mission, step, attempt, queued))?;
        }
        if let Some(by) = by {
            returned_by.execute((mission, step, attempt, by))?;
        }
        match (has, at) {
            (Some(None), Some(None)) => _ = returned.execute((mission, step, attempt))?,
            (has, at) => {
                if let Some(has) = has {
                    crab.execute((mission, step, attempt, has))?;
                }
                if let Some(at) = at {
                    offered.execute((mission, step, attempt, at))?;
                }
            }
        }
        if let Some((time, worktree)) = start {
            started.execute((mission, step, attempt, time, worktree))?;
        }
        if let Some(due) = due {
            next.execute((mission, step, attempt, due))?;
        }
        if let Some((time, commit)) = end {
            ended.execute((mission, step, attempt, time, commit))?;
        }
    }
    Ok(())
}

fn waiting(connection: &Connection, writes: &Writes) -> rusqlite::Result<()> {
    let mut delete = connection.prepare_cached("delete from waiting where mission = ?1")?;
    let mut insert = connection.prepare_cached(
        "insert into waiting (colony, lane, ticket, mission, step, attempt, version) values (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for mission in writes.waiting.keys() {
        delete.execute([mission])?;
    }
    let rows = writes.waiting.values().flat_map(|(colony, steps)| steps.iter().map(move |it| (colony, it)));
    for (colony, it) in rows {
        let item = &it.item;
        let (ticket, version) = (it.ticket as i64, it.version as i64);
        insert.execute((colony, item.lane(), ticket, &item.mission, item.step.0, item.attempt, version))?;
    }
    Ok(())
}
