//! The ends of a walk's agents, and which of several reviewers is the one.

use orange_core::Actor;

use super::{Happened, Impossible, Walk, WalkEnd};
use crate::search::task::Agent;

impl<'m> Walk<'m> {
    /// The names of the reviewers with names that are alive.
    pub fn reviewers(&self) -> Vec<&'m str> {
        self.reviewers.named(self.task.reviewers).map(|(_, name)| name).collect()
    }

    /// Puts reviewers with these names there.
    ///
    /// # Errors
    /// No hook starts one of this name.
    pub fn set_reviewers(&mut self, names: &[String]) -> Result<(), Impossible> {
        for name in names {
            let (at, _) = self.numbered(u8::MAX, name)?;
            self.set_agent(Actor::Reviewer, Agent::Live);
            self.task.reviewers |= 1 << at;
        }
        Ok(())
    }

    /// The end may lead to a state that wants the very agent that has ended; it is then judged again, at most once for every
    /// state. Of several reviewers the one with this name ends; without a name all of them do, and the end of the last is judged.
    pub(super) fn end(
        &mut self,
        agent: Actor,
        name: Option<&str>,
        ended: &WalkEnd,
    ) -> Result<Vec<Happened>, Impossible> {
        if self.agent(agent) != Agent::Live {
            return Err(Impossible(format!("no {agent} is alive")));
        }
        let name = match name {
            Some(name) => {
                let (at, name) = self.numbered(self.task.reviewers, name)?;
                self.task.reviewers &= !(1 << at);
                Some(name)
            }
            None => None,
        };
        if name.is_none() || self.task.reviewers == 0 {
            self.set_agent(agent, Agent::Dead);
        }
        if self.waiting.is_some() {
            self.exited.push((agent, name, ended.clone()));
        }
        self.judge(agent, name, ended, false)
    }

    /// True if an agent is alive in the place of one that has ended.
    pub(super) fn is_replaced(&self, agent: Actor, name: Option<&str>) -> bool {
        let is_other = |name: &str| self.task.reviewers != 0 && !self.reviewers().contains(&name);
        self.agent(agent) == Agent::Live && !name.is_some_and(is_other)
    }

    fn numbered(&self, bits: u8, name: &str) -> Result<(u8, &'m str), Impossible> {
        let known: Vec<(u8, &'m str)> = self.reviewers.named(bits).collect();
        known.iter().copied().find(|(_, it)| *it == name).ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|(_, name)| *name).collect();
            let there = if names.is_empty() { "none has a name".to_owned() } else { names.join(", ") };
            Impossible(format!("there is no reviewer `{name}`: {there}"))
        })
    }
}
