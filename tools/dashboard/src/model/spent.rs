//! The tokens of today: those of agents that have ended today, and of agents whose end is on no record yet.

use std::collections::{BTreeMap, BTreeSet};

use super::row::Row;

/// An agent: the id of its task, and its number.
pub type AgentName = (String, u32);

/// The agents that have ended, by the journals that were written today.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndedToday {
    /// The day, as a journal writes it.
    pub day: String,
    /// Tokens of the agents that have ended on that day.
    pub tokens: u64,
    /// All that have ended.
    pub agents: BTreeSet<AgentName>,
}

/// Known tokens of today.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpentToday {
    ended: EndedToday,
    /// Tokens of the agents that were alive when a list last had them.
    living: BTreeMap<AgentName, u64>,
}

impl SpentToday {
    /// Notes which agents have ended.
    pub fn note_ended(&mut self, ended: EndedToday) {
        // Yesterday's agents that are still alive are in the next list.
        if !self.ended.day.is_empty() && self.ended.day != ended.day {
            self.living.clear();
        }
        self.ended = ended;
    }

    /// Notes what living agents have used. One that a list has no more is counted until its end is on record.
    pub fn note_living<'r>(&mut self, rows: impl Iterator<Item = &'r Row>) {
        for row in rows {
            let is_alive = |spawn: u32| row.agents.iter().any(|agent| agent.spawn == spawn);
            let living = row.spent.iter().filter(|(spawn, _)| is_alive(**spawn));
            self.living.extend(living.map(|(spawn, tokens)| ((row.id.clone(), *spawn), *tokens)));
        }
    }

    pub fn tokens(&self) -> u64 {
        let living = self.living.iter().filter(|(agent, _)| !self.ended.agents.contains(*agent));
        self.ended.tokens + living.map(|(_, tokens)| tokens).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orange_api::Agent;

    fn row(alive: &[u32], spent: &[(u32, u64)]) -> Row {
        let agent = |spawn: &u32| -> Agent {
            let agent = format!(
                r#"{{"spawn": {spawn}, "actor": "worker", "state": "busy", "reason": "it works", "seconds": null}}"#
            );
            serde_json::from_str(&agent).unwrap()
        };
        let agents = alive.iter().map(agent).collect();
        Row { id: "t1".to_owned(), agents, spent: spent.iter().copied().collect(), ..Row::default() }
    }

    fn ended(day: &str, tokens: u64, agents: &[u32]) -> EndedToday {
        let agents = agents.iter().map(|spawn| ("t1".to_owned(), *spawn)).collect();
        EndedToday { day: day.to_owned(), tokens, agents }
    }

    #[test]
    fn tokens_of_today_do_not_fall_when_an_agent_ends() {
        let mut spent = SpentToday::default();
        // Agent 1 has ended, and agent 2 is alive: the task has used 130.
        spent.note_living([row(&[2], &[(1, 100), (2, 30)])].iter());
        spent.note_ended(ended("day", 100, &[1]));
        assert_eq!(spent.tokens(), 130);
        // The task is cancelled: its agent is gone, then its end is on record, in both orders.
        let (gone, recorded) = ([], ended("day", 130, &[1, 2]));
        let mut other = spent.clone();
        spent.note_living(gone.iter());
        assert_eq!(spent.tokens(), 130);
        spent.note_ended(recorded.clone());
        assert_eq!(spent.tokens(), 130);
        other.note_ended(recorded);
        assert_eq!(other.tokens(), 130);
    }

    #[test]
    fn yesterday_s_tokens_are_not_today_s() {
        let mut spent = SpentToday::default();
        spent.note_ended(ended("one", 100, &[1]));
        spent.note_living([row(&[2], &[(1, 100), (2, 30)])].iter());
        spent.note_ended(ended("two", 0, &[1]));
        assert_eq!(spent.tokens(), 0);
        spent.note_living([row(&[2], &[(1, 100), (2, 31)])].iter());
        assert_eq!(spent.tokens(), 31);
    }
}
