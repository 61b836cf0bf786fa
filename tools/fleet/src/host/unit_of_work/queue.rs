//! The first waiting steps of a lane, so that its next one is known without a look into the store.

use std::collections::VecDeque;

use orange_core::scheduler::Waiting;

use super::PAGE;

/// The first waiting steps of a lane in their order.
pub struct WaitingQueue {
    first: VecDeque<Waiting>,
    /// No other steps wait.
    is_whole: bool,
}

impl WaitingQueue {
    /// A queue that begins with these, as the store has them: at most [`PAGE`].
    pub fn new(first: Vec<Waiting>) -> WaitingQueue {
        WaitingQueue { is_whole: first.len() < PAGE, first: first.into() }
    }

    /// The first of all.
    pub fn head(&self) -> Option<&Waiting> {
        self.first.front()
    }

    /// True if the store has to be asked for those that come next.
    pub fn is_used_up(&self) -> bool {
        self.first.is_empty() && !self.is_whole
    }

    /// One more waits.
    pub fn push(&mut self, waiting: Waiting) {
        let place = self.first.partition_point(|it| it.place() < waiting.place());
        if place < self.first.len() || self.is_whole {
            self.first.insert(place, waiting);
        }
        if self.first.len() > 2 * PAGE {
            self.first.truncate(PAGE);
            self.is_whole = false;
        }
    }

    /// No step of this mission waits any longer.
    pub fn remove(&mut self, mission: &str) {
        self.first.retain(|it| it.item.mission != mission);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use orange_core::plan::StepId;
    use orange_core::scheduler::Item;

    use super::*;

    fn waiting(ticket: u64) -> Waiting {
        let item = Item::of_lane("any", ticket.to_string(), StepId(0), 1);
        Waiting { item, ticket, version: 1 }
    }

    /// Pushes and removes in an order that is not an order, against a map that has everything.
    #[test]
    fn a_queue_has_the_head_of_everything_that_waits() {
        let mut all = BTreeMap::new();
        let mut queue = WaitingQueue::new(Vec::new());
        let mut number: u64 = 7;
        for turn in 0..20_000 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let ticket = (number >> 33) % 1000;
            let grows = (turn / 2000) % 2 == 0;
            let removes_head = !grows && !number.is_multiple_of(3);
            if removes_head && let Some((ticket, _)) = all.pop_first() {
                queue.remove(&u64::to_string(&ticket));
            } else if all.remove(&ticket).is_some() {
                queue.remove(&ticket.to_string());
            } else {
                all.insert(ticket, waiting(ticket));
                queue.push(waiting(ticket));
            }
            if queue.is_used_up() {
                queue = WaitingQueue::new(all.values().take(PAGE).cloned().collect());
            }
            assert_eq!(queue.head(), all.values().next(), "turn {turn}");
        }
    }
}
