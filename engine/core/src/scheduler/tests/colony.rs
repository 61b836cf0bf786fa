//! A scheduler with its backlog, as a host keeps it.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::plan::StepId;
use crate::scheduler::*;

/// A colony: rows of waiting steps, and the scheduler that sees the first one of each role.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestColony {
    pub scheduler: Scheduler,
    /// By mission; a mission that has none has no entry.
    pub rows: BTreeMap<String, Vec<Waiting>>,
    /// By role, in the order of their places.
    pub queues: BTreeMap<String, BTreeMap<(u64, StepId), Waiting>>,
    /// Number of rows that were read.
    pub reads: usize,
}

impl TestColony {
    /// Carries an event out. `Want` gets its row here.
    pub fn happens(&mut self, event: Event) -> Result<Vec<Effect>, Refusal> {
        let event = self.with_row(event);
        let heads = if self.scheduler.reads_heads(&event) { self.heads() } else { Heads::new() };
        let effects = self.scheduler.apply(&heads, event)?;
        for effect in &effects {
            self.carry_out(effect);
        }
        Ok(effects)
    }

    fn with_row(&mut self, event: Event) -> Event {
        let Event::Want { mission, version, ticket, next, running, waiting: _ } = event else { return event };
        let waiting = self.rows.get(&mission).cloned().unwrap_or_default();
        self.reads += waiting.len();
        Event::Want { mission, version, ticket, next, running, waiting }
    }

    pub fn heads(&mut self) -> Heads {
        let firsts = self.queues.iter().filter_map(|(role, queue)| Some((role, queue.values().next()?)));
        let head = |step: &Waiting| {
            let rows = self.rows[&step.item.mission].iter();
            Head { step: step.clone(), others: rows.filter(|it| *it != step).cloned().collect() }
        };
        let heads: Heads = firsts.map(|(role, first)| (role.clone(), head(first))).collect();
        self.reads += heads.values().map(|it| 1 + it.others.len()).sum::<usize>();
        heads
    }

    fn carry_out(&mut self, effect: &Effect) {
        match effect {
            Effect::Push(row) => {
                let queue = self.queues.entry(row.item.lane()).or_default();
                let is_new = queue.insert(row.place(), row.clone()).is_none();
                assert!(is_new, "a place is used twice: {row:?}");
                let rows = self.rows.entry(row.item.mission.clone()).or_default();
                assert!(rows.iter().all(|it| it.item.step != row.item.step), "a step waits twice: {row:?}");
                rows.push(row.clone());
            }
            Effect::Remove { mission } => {
                for row in self.rows.remove(mission).expect("what is removed waits") {
                    let queue = self.queues.get_mut(&row.item.lane()).expect("its lane has a queue");
                    assert_eq!(queue.remove(&row.place()), Some(row));
                }
            }
            Effect::Offer { .. } | Effect::EndAgent { .. } | Effect::Lost { .. } => {}
        }
    }

    /// Waiting steps, the earliest first.
    pub fn waiting(&self) -> Vec<&Waiting> {
        let mut rows: Vec<&Waiting> = self.rows.values().flatten().collect();
        rows.sort_by_key(|it| it.place());
        rows
    }
}
