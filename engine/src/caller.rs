//! Who runs this command: a person, or an agent that `orange` started.

use orange_core::Actor;

use crate::store::Log;
use crate::{Error, Kind, Result};

/// The task whose agent this process belongs to.
pub const TASK: &str = "ORANGE_TASK";
/// The actor that this agent is: `worker` or `reviewer`.
pub const ACTOR: &str = "ORANGE_ACTOR";
/// The number of the spawn that started it.
pub const SPAWN: &str = "ORANGE_SPAWN";

/// Who asks (design §6, Agents). Agents run as the same user, so this tells honest callers apart and no others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// The task whose agent asks; absent for a person.
    pub task: Option<String>,
    actor: Option<Actor>,
    spawn: Option<u32>,
}

impl Caller {
    /// For tests: the agent of this spawn.
    #[cfg(test)]
    pub(crate) fn agent(task: &str, actor: Actor, spawn: u32) -> Caller {
        Caller { task: Some(task.to_owned()), actor: Some(actor), spawn: Some(spawn) }
    }

    /// What the environment says.
    pub fn from_env() -> Caller {
        let variable = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
        Caller {
            task: variable(TASK),
            actor: variable(ACTOR).and_then(|name| Actor::from_name(&name)).filter(is_agent),
            spawn: variable(SPAWN).and_then(|number| number.parse().ok()),
        }
    }

    /// Who asks something of this task. An agent of another task is, here, nobody special: a person's hand.
    pub fn actor_for(&self, id: &str) -> Actor {
        match (&self.task, self.actor) {
            (Some(task), Some(actor)) if task == id => actor,
            (Some(_) | None, _) => Actor::Human,
        }
    }

    /// Refuses an agent that has been replaced by a newer one, or whose end is on record.
    ///
    /// # Errors
    /// `not_allowed`.
    pub fn check(&self, id: &str, log: &Log) -> Result<()> {
        let (Some(task), Some(spawn)) = (&self.task, self.spawn) else { return Ok(()) };
        if task != id || log.agents.contains_key(&spawn) {
            return Ok(());
        }
        Err(Error::new(Kind::NotAllowed, format!("agent {spawn} of this task has been replaced or ended"))
            .help("stop here: another agent or a person carries on"))
    }
}

/// What the engine may do is nobody's to claim.
fn is_agent(actor: &Actor) -> bool {
    matches!(actor, Actor::Worker | Actor::Reviewer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::event::Spawn;

    fn worker(spawn: u32) -> Caller {
        Caller::agent("t1", Actor::Worker, spawn)
    }

    #[test]
    fn an_agent_is_its_actor_in_its_own_task_only() {
        assert_eq!(worker(1).actor_for("t1"), Actor::Worker);
        assert_eq!(worker(1).actor_for("t2"), Actor::Human);
        assert_eq!(Caller::default().actor_for("t1"), Actor::Human);
    }

    #[test]
    fn a_replaced_agent_is_refused() {
        let mut log = Log::default();
        log.agents.insert(2, Spawn { spawn: 2, ..Spawn::default() });
        assert!(worker(2).check("t1", &log).is_ok());
        assert_eq!(worker(1).check("t1", &log).map_err(|error| error.kind), Err(Kind::NotAllowed));
        assert!(worker(1).check("t2", &log).is_ok());
        assert!(Caller::default().check("t1", &log).is_ok());
    }
}
