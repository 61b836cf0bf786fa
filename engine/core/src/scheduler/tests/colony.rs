//! A scheduler with its backlog, as a host keeps it.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::scheduler::*;

/// A colony: rows of waiting steps, and the scheduler that sees the first one of each role.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Colony {
    pub scheduler: Scheduler,
    /// By mission.
    pub rows: BTreeMap<String, Waiting>,
    /// By role, in the order of tickets.
    pub queues: BTreeMap<String, BTreeMap<u64, String>>,
    /// How many rows were read.
    pub reads: usize,
}

impl Colony {
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
        let waiting = self.rows.get(&mission).cloned();
        self.reads += waiting.iter().len();
        Event::Want { mission, version, ticket, next, running, waiting }
    }

    pub fn heads(&mut self) -> Heads {
        let firsts = self.queues.iter().filter_map(|(role, queue)| Some((role, queue.values().next()?)));
        let heads: Heads = firsts.map(|(role, first)| (role.clone(), self.rows[first].clone())).collect();
        self.reads += heads.len();
        heads
    }

    fn carry_out(&mut self, effect: &Effect) {
        match effect {
            Effect::Push(row) => {
                let queue = self.queues.entry(row.item.role.clone()).or_default();
                let is_new = queue.insert(row.ticket, row.item.mission.clone()).is_none();
                assert!(is_new, "a ticket is used twice: {row:?}");
                let before = self.rows.insert(row.item.mission.clone(), row.clone());
                assert_eq!(before, None, "a mission waits twice");
            }
            Effect::Remove { mission } => {
                let row = self.rows.remove(mission).expect("what is removed waits");
                let queue = self.queues.get_mut(&row.item.role).expect("its role has a queue");
                assert_eq!(queue.remove(&row.ticket).as_ref(), Some(mission));
            }
            Effect::Offer { .. } | Effect::EndAgent { .. } | Effect::Lost { .. } => {}
        }
    }

    /// What waits, the earliest first.
    pub fn waiting(&self) -> Vec<&Waiting> {
        let mut rows: Vec<&Waiting> = self.rows.values().collect();
        rows.sort_by_key(|it| it.ticket);
        rows
    }
}
