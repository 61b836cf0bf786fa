//! The seats of agents in a task.

use std::fmt;

use serde::de::Deserializer;

use crate::event::{Actor, Spawn};

/// Seat of an agent in a task: the worker, the reviewer, or the reviewer of a name. Two agents of one seat are never alive at once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seat {
    /// Actor as which the agent makes requests.
    pub actor: Actor,
    /// The name of a reviewer; of a mission whose steps work at once, that of the step, and the number of the item.
    pub name: Option<String>,
}

impl Seat {
    /// True if two agents of these seats are never alive at once: only those with different names are.
    pub fn excludes(&self, other: &Seat) -> bool {
        let is_other = self.name.is_some() && other.name.is_some() && self.name != other.name;
        self.actor == other.actor && !is_other
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_ref().map(|name| format!(" {name}"));
        write!(f, "{}{}", self.actor, name.unwrap_or_default())
    }
}

impl serde::Serialize for Seat {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Seat {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Seat, D::Error> {
        let text = String::deserialize(from)?;
        let (actor, name) = text.split_once(' ').map_or((&*text, None), |(actor, name)| (actor, Some(name)));
        Ok(Seat { actor: actor.into(), name: name.map(str::to_owned) })
    }
}

impl Spawn {
    /// Seat of the agent in the task.
    pub fn seat(&self) -> Seat {
        Seat { actor: self.actor.clone(), name: self.name.clone() }
    }
}
