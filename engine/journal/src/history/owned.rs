//! The values of a task that only the engine changes.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::Value as Json;

use crate::name::Name;
use crate::set::Set;

/// The values of a task that only the engine changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Owned {
    /// Status: the name of a state of the workflow.
    pub status: String,
    /// `review_round`, `crash_count` and the counters that the workflow declares.
    pub counters: BTreeMap<String, u32>,
    /// The worktree it holds.
    pub workspace: Option<Name>,
    /// Its tmux session.
    pub tmux_session: Option<String>,
    /// The workflow it follows.
    pub workflow: String,
    /// Time at which an agent is started again, RFC 3339 UTC.
    pub waiting_until: Option<String>,
    /// Time at which a person stopped its agents, RFC 3339 UTC; `None` once it goes on.
    pub stopped_at: Option<String>,
    /// The action of the failed hook, while it and the hooks after it wait.
    pub hooks_wait: Option<String>,
    /// The hash of the definition of its workflow.
    pub definition: String,
    /// The branch that it is based on and merged into; `None` for the default branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The task whose agent has created it, and which waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The issue or the slot of a schedule that it was made for by the engine, or whose agent has made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The account whose label made it a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_by: Option<String>,
    /// True if only a person starts it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub held: bool,
}

// Serde passes a reference.
#[expect(clippy::trivially_copy_pass_by_ref)]
const fn is_false(value: &bool) -> bool {
    !*value
}

impl Owned {
    /// True if the engine owns the frontmatter key of this name: the fixed keys, and every counter of this task.
    pub fn owns(&self, key: &str) -> bool {
        matches!(key, "id" | "project" | "status" | "workspace" | "tmux_session" | "workflow")
            || key == "base" && self.base.is_some()
            || key == "parent" && self.parent.is_some()
            || key == "source" && self.source.is_some()
            || self.counters.contains_key(key)
    }

    /// The counter's value; 0 when the task has no such counter.
    pub fn counter(&self, name: &str) -> u32 {
        self.counters.get(name).copied().unwrap_or(0)
    }

    /// Applies the values of a set; values of a newer version are ignored.
    pub fn apply(&mut self, set: &Set) {
        for (key, value) in &set.0 {
            self.apply_one(key, value.clone());
        }
    }

    fn apply_one(&mut self, key: &str, value: Json) {
        match (key, value) {
            ("status", value) => self.status = text(value).unwrap_or_default(),
            ("workspace", value) => self.workspace = value.as_str().and_then(Name::parse),
            ("tmux_session", value) => self.tmux_session = text(value),
            ("workflow", value) => self.workflow = text(value).unwrap_or_default(),
            ("waiting_until", value) => self.waiting_until = text(value),
            ("stopped_at", value) => self.stopped_at = text(value),
            ("hooks_wait", value) => self.hooks_wait = text(value),
            ("definition", value) => self.definition = text(value).unwrap_or_default(),
            ("base", Json::String(base)) => self.base = Some(base),
            ("parent", Json::String(parent)) => self.parent = Some(parent),
            ("source", Json::String(source)) => self.source = Some(source),
            ("source_by", Json::String(login)) => self.source_by = Some(login),
            ("held", Json::Bool(is_held)) => self.held = is_held,
            (counter, value) => {
                let Some(value) = value.as_u64().and_then(|value| u32::try_from(value).ok()) else { return };
                match self.counters.get_mut(counter) {
                    Some(counter) => *counter = value,
                    None => drop(self.counters.insert(counter.to_owned(), value)),
                }
            }
        }
    }
}

/// The engine-owned values alone, which is fast enough for lists of thousands of tasks. `None` when only a fold of all
/// records finds them.
pub fn owned(bytes: &[u8]) -> Option<Owned> {
    // Inside a string these quotes are escaped.
    const SET: &str = "\"set\"";
    let mut owned = Owned::default();
    let mut last = 0;
    for line in std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?.split('\n') {
        last = seq_of(line).filter(|seq| *seq > last)?;
        // Most lines have no `set`, and a search from the front shows that faster.
        if line.contains(SET)
            && let Some(at) = line.rfind(SET)
        {
            let last_member = line[at + SET.len()..].strip_prefix(':')?.strip_suffix('}')?;
            let mut set = serde_json::Deserializer::from_str(last_member);
            SetInto(&mut owned).deserialize(&mut set).and_then(|()| set.end()).ok()?;
        }
    }
    (!owned.status.is_empty()).then_some(owned)
}

/// The number of a line with the beginning and the end that this program writes.
fn seq_of(line: &str) -> Option<u64> {
    let (seq, rest) = line.strip_prefix("{\"seq\":")?.split_once(',')?;
    let is_event = rest.starts_with("\"timestamp\":\"") && rest.ends_with('}');
    seq.parse().ok().filter(|_| is_event)
}

/// Applies a set to the values without building it first.
struct SetInto<'a>(&'a mut Owned);

impl<'de> DeserializeSeed<'de> for SetInto<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, set: D) -> Result<(), D::Error> {
        set.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for SetInto<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("the values of a set")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut set: A) -> Result<(), A::Error> {
        while let Some(key) = set.next_key::<&str>()? {
            self.0.apply_one(key, set.next_value()?);
        }
        Ok(())
    }
}

fn text(value: Json) -> Option<String> {
    if let Json::String(text) = value { Some(text) } else { None }
}
