//! Writing the rows of a transaction: a statement for each table, all of which are sent at once.

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, try_join_all};
use tokio_postgres::Error;
use tokio_postgres::types::ToSql;

use super::notices;
use super::session::PostgresSession;
use crate::host::unit_of_work::{CrabRow, Writes};

/// A parameter of a statement.
type Value = Box<dyn ToSql + Sync + Send>;

/// Statements with their parameters, in their order.
#[derive(Default)]
struct Statements(Vec<(&'static str, Vec<Value>)>);

/// Writes rows, in the transaction that the session has begun.
pub(super) async fn write(
    session: &PostgresSession,
    writes: &Writes,
    turn: i64,
    name: &str,
) -> Result<(), Error> {
    let mut all = Statements::default();
    all.missions(writes);
    all.colonies(writes);
    all.attempts(writes);
    all.waiting(writes);
    all.others(writes);
    let newest = &writes.newest;
    all.add(
        "update store set turn = $1, mission = $2, record = $3, newest = coalesce($4, newest)",
        vec![
            Box::new(turn),
            Box::new(newest.mission as i64),
            Box::new(newest.record as i64),
            Box::new(newest.id.clone()),
        ],
    );
    let texts = notices::write(name, newest.record, &writes.deliveries);
    all.add("select pg_notify('orange_fleet', it) from unnest($1::text[]) it", vec![Box::new(texts)]);
    let mut prepared = Vec::new();
    for (text, values) in &all.0 {
        prepared.push((session.statement(text).await?, values));
    }
    // Each is sent when it is first asked for, in this order, and none waits for the answer to another.
    let sent = prepared.iter().map(|(statement, values)| -> BoxFuture<'_, Result<u64, Error>> {
        let values = values.iter().map(|it| -> &(dyn ToSql + Sync) { it.as_ref() });
        session.client.execute_raw(statement, values.collect::<Vec<_>>()).boxed()
    });
    try_join_all(sent.collect::<Vec<_>>()).await.map(drop)
}

/// A column of rows.
fn column<T, V: ToSql + Sync + Send + 'static>(rows: &[T], value: impl Fn(&T) -> V) -> Value {
    Box::new(rows.iter().map(value).collect::<Vec<V>>())
}

impl Statements {
    fn add(&mut self, statement: &'static str, values: Vec<Value>) {
        self.0.push((statement, values));
    }

    fn missions(&mut self, writes: &Writes) {
        if !writes.plans.is_empty() {
            let rows: Vec<_> = writes.plans.iter().collect();
            self.add(
                "insert into plan (hash, body) select * from unnest($1::text[], $2::text[]) on conflict do nothing",
                vec![column(&rows, |it| it.0.clone()), column(&rows, |it| it.1.clone())],
            );
        }
        if !writes.missions.is_empty() {
            let rows: Vec<_> = writes.missions.iter().collect();
            self.add(
                "insert into mission (seq, id, colony, plan, workflow, summary, branch, status, step, pause, version, state, asks, tip, \
                 created, updated, ended) \
                 select u.*, $15::bigint, $15, case when u.status in ('completed', 'failed', 'cancelled') then $15 end from unnest( \
                 $1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], \
                 $9::text[], $10::bigint[], $11::bigint[], $12::text[], $13::text[], $14::text[]) \
                 u(seq, id, colony, plan, workflow, summary, branch, status, step, pause, version, state, asks, tip)",
                vec![
                    column(&rows, |(_, it)| it.seq as i64),
                    column(&rows, |(id, _)| (*id).clone()),
                    column(&rows, |(_, it)| it.colony.clone()),
                    column(&rows, |(_, it)| it.plan.clone()),
                    column(&rows, |(_, it)| it.workflow),
                    column(&rows, |(_, it)| it.summary.clone()),
                    column(&rows, |(_, it)| it.branch.clone()),
                    column(&rows, |(_, it)| it.state.status),
                    column(&rows, |(_, it)| it.state.step),
                    column(&rows, |(_, it)| it.state.pause.map(i64::from)),
                    column(&rows, |(_, it)| it.state.version as i64),
                    column(&rows, |(_, it)| it.state.state.clone()),
                    column(&rows, |(_, it)| it.state.asks.clone()),
                    column(&rows, |(_, it)| it.state.tip.clone()),
                    Box::new(writes.now),
                ],
            );
            self.add(
                "insert into prompt (mission, body, searched) select * from unnest($1::bigint[], $2::text[], $3::text[])",
                vec![
                    column(&rows, |(_, it)| it.seq as i64),
                    column(&rows, |(_, it)| it.prompt.clone()),
                    column(&rows, |(_, it)| it.searched.to_lowercase()),
                ],
            );
        }
        if !writes.mission_states.is_empty() {
            let rows: Vec<_> = writes.mission_states.iter().collect();
            self.add(
                "update mission m set status = u.status, step = u.step, pause = u.pause, version = u.version, state = u.state, \
                 asks = u.asks, tip = u.tip, \
                 updated = $9::bigint, ended = case when u.status in ('completed', 'failed', 'cancelled') then $9 end \
                 from unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[]) \
                 u(seq, status, step, pause, version, state, asks, tip) where m.seq = u.seq",
                vec![
                    column(&rows, |(seq, _)| **seq as i64),
                    column(&rows, |(_, it)| it.status),
                    column(&rows, |(_, it)| it.step),
                    column(&rows, |(_, it)| it.pause.map(i64::from)),
                    column(&rows, |(_, it)| it.version as i64),
                    column(&rows, |(_, it)| it.state.clone()),
                    column(&rows, |(_, it)| it.asks.clone()),
                    column(&rows, |(_, it)| it.tip.clone()),
                    Box::new(writes.now),
                ],
            );
        }
    }

    fn colonies(&mut self, writes: &Writes) {
        if !writes.colonies.is_empty() {
            let rows = &writes.colonies;
            self.add(
                "insert into colony (id, name, repository, base, created, state, version) \
                 select u.*, '', 0 from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[]) u",
                vec![
                    column(rows, |it| it.id.clone()),
                    column(rows, |it| it.name.clone()),
                    column(rows, |it| it.repository.clone()),
                    column(rows, |it| it.base.clone()),
                    column(rows, |it| it.created),
                ],
            );
        }
        if !writes.colony_states.is_empty() {
            let rows: Vec<_> = writes.colony_states.iter().collect();
            let mut values: Vec<Value> = vec![
                column(&rows, |(id, _)| (*id).clone()),
                column(&rows, |(_, it)| it.version as i64),
                column(&rows, |(_, it)| it.state.clone()),
            ];
            values.extend((0..4).map(|at| column(&rows, move |(_, it)| it.crabs[at] as i64)));
            self.add(
                "update colony c set version = u.version, state = u.state, known = u.known, parked = u.parked, \
                 leased = u.leased, faulty = u.faulty from unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], \
                 $5::bigint[], $6::bigint[], $7::bigint[]) u(id, version, state, known, parked, leased, faulty) \
                 where c.id = u.id",
                values,
            );
        }
        let (mut registered, mut heard, mut left) = (Vec::new(), Vec::new(), Vec::new());
        for ((colony, crab), row) in &writes.crabs {
            let key = (colony.clone(), crab.clone());
            match row {
                CrabRow::Registered(name) => registered.push((key.0, key.1, name.clone())),
                CrabRow::Heard => heard.push(key),
                CrabRow::Left => left.push(key),
            }
        }
        if !registered.is_empty() {
            self.add(
                "insert into crab (colony, id, name, heard) select u.*, $4::bigint from unnest($1::text[], $2::text[], $3::text[]) u \
                 on conflict (colony, id) do update set name = excluded.name, heard = excluded.heard",
                vec![
                    column(&registered, |it| it.0.clone()),
                    column(&registered, |it| it.1.clone()),
                    column(&registered, |it| it.2.clone()),
                    Box::new(writes.now),
                ],
            );
        }
        let keys = |rows: &Vec<(String, String)>| -> Vec<Value> {
            vec![column(rows, |it| it.0.clone()), column(rows, |it| it.1.clone())]
        };
        if !heard.is_empty() {
            let mut values = keys(&heard);
            values.push(Box::new(writes.now));
            self.add(
                "update crab c set heard = $3::bigint from unnest($1::text[], $2::text[]) u(colony, id) \
                 where c.colony = u.colony and c.id = u.id",
                values,
            );
        }
        if !left.is_empty() {
            self.add(
                "delete from crab c using unnest($1::text[], $2::text[]) u(colony, id) \
                 where c.colony = u.colony and c.id = u.id",
                keys(&left),
            );
        }
    }

    fn attempts(&mut self, writes: &Writes) {
        let rows: Vec<_> = writes.attempts.iter().collect();
        let new: Vec<_> = rows.iter().filter(|(_, it)| it.queued.is_some()).collect();
        if !new.is_empty() {
            self.add(
                "insert into run (mission, step, attempt, queued) \
                 select * from unnest($1::text[], $2::int[], $3::bigint[], $4::bigint[])",
                vec![
                    column(&new, |(key, _)| key.0.clone()),
                    column(&new, |(key, _)| i32::from(key.1)),
                    column(&new, |(key, _)| i64::from(key.2)),
                    column(&new, |(_, it)| it.queued),
                ],
            );
        }
        let changed: Vec<_> = rows.iter().filter(|(_, it)| it.is_changed()).collect();
        if changed.is_empty() {
            return;
        }
        self.add(
            "update run r set \
             crab = case when u.has_crab then u.crab when r.crab = u.returned then null else r.crab end, \
             offered = case when u.has_offered then u.offered when r.crab = u.returned then null else r.offered end, \
             started = coalesce(u.started, r.started), \
             worktree = case when u.started is null then r.worktree else u.worktree end, \
             due = case when u.has_due then u.due else r.due end, \
             ended = coalesce(u.ended, r.ended), \
             commit_id = case when u.ended is null then r.commit_id else u.commit_id end \
             from unnest($1::text[], $2::int[], $3::bigint[], $4::text[], $5::bool[], $6::text[], $7::bool[], $8::bigint[], \
             $9::bigint[], $10::text[], $11::bigint[], $12::text[], $13::bool[], $14::bigint[]) \
             u(mission, step, attempt, returned, has_crab, crab, has_offered, offered, started, worktree, ended, commit_id, has_due, due) \
             where r.mission = u.mission and r.step = u.step and r.attempt = u.attempt",
            vec![
                column(&changed, |(key, _)| key.0.clone()),
                column(&changed, |(key, _)| i32::from(key.1)),
                column(&changed, |(key, _)| i64::from(key.2)),
                column(&changed, |(_, it)| it.returned.clone()),
                column(&changed, |(_, it)| it.crab.is_some()),
                column(&changed, |(_, it)| it.crab.clone().flatten()),
                column(&changed, |(_, it)| it.offered.is_some()),
                column(&changed, |(_, it)| it.offered.flatten()),
                column(&changed, |(_, it)| it.started.as_ref().map(|it| it.0)),
                column(&changed, |(_, it)| it.started.clone().and_then(|it| it.1)),
                column(&changed, |(_, it)| it.ended.as_ref().map(|it| it.0)),
                column(&changed, |(_, it)| it.ended.clone().and_then(|it| it.1)),
                column(&changed, |(_, it)| it.due.is_some()),
                column(&changed, |(_, it)| it.due.flatten()),
            ],
        );
    }

    fn waiting(&mut self, writes: &Writes) {
        if writes.waiting.is_empty() {
            return;
        }
        let missions: Vec<String> = writes.waiting.keys().cloned().collect();
        self.add("delete from waiting where mission = any($1)", vec![Box::new(missions)]);
        let rows: Vec<_> = writes
            .waiting
            .values()
            .flat_map(|(colony, steps)| steps.iter().map(move |it| (colony, it)))
            .collect();
        if !rows.is_empty() {
            self.add(
                "insert into waiting (colony, lane, ticket, mission, step, attempt, version) select * from unnest( \
                 $1::text[], $2::text[], $3::bigint[], $4::text[], $5::int[], $6::bigint[], $7::bigint[])",
                vec![
                    column(&rows, |it| it.0.to_owned()),
                    column(&rows, |it| it.1.item.lane()),
                    column(&rows, |it| it.1.ticket as i64),
                    column(&rows, |it| it.1.item.mission.clone()),
                    column(&rows, |it| i32::from(it.1.item.step.0)),
                    column(&rows, |it| i64::from(it.1.item.attempt)),
                    column(&rows, |it| it.1.version as i64),
                ],
            );
        }
    }

    fn others(&mut self, writes: &Writes) {
        if !writes.records.is_empty() {
            let rows = &writes.records;
            self.add(
                "insert into record (seq, colony, mission, kind, data, time) select u.*, $6::bigint from unnest( \
                 $1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[]) u",
                vec![
                    column(rows, |it| it.seq as i64),
                    column(rows, |it| it.colony.clone()),
                    column(rows, |it| it.mission.clone()),
                    column(rows, |it| it.kind),
                    column(rows, |it| it.data.clone()),
                    Box::new(writes.now),
                ],
            );
        }
        let tallies: Vec<_> = writes.tallies.iter().filter(|(_, change)| **change != 0).collect();
        if !tallies.is_empty() {
            self.add(
                "insert into tally (colony, kind, name, n) select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) \
                 on conflict (colony, kind, name) do update set n = tally.n + excluded.n",
                vec![
                    column(&tallies, |((colony, _, _), _)| colony.clone()),
                    column(&tallies, |((_, kind, _), _)| *kind),
                    column(&tallies, |((_, _, name), _)| name.clone()),
                    column(&tallies, |(_, change)| **change),
                ],
            );
        }
        if !writes.calls.is_empty() {
            let rows = &writes.calls;
            self.add(
                "insert into call (key, hash, outcome, time) select u.*, $4::bigint from unnest($1::text[], $2::bytea[], $3::text[]) u",
                vec![
                    column(rows, |it| it.key.clone()),
                    column(rows, |it| it.hash.clone()),
                    column(rows, |it| it.outcome.clone()),
                    Box::new(writes.now),
                ],
            );
        }
        if !writes.alarms.is_empty() {
            let rows = &writes.alarms;
            self.add(
                "insert into alarm (kind, id, why, time) select u.*, $4::bigint from unnest($1::text[], $2::text[], $3::text[]) u \
                 on conflict do nothing",
                vec![
                    column(rows, |it| it.kind),
                    column(rows, |it| it.id.clone()),
                    column(rows, |it| it.why.clone()),
                    Box::new(writes.now),
                ],
            );
        }
    }
}
