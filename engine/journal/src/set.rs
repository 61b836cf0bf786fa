//! What an event changes: new values of engine-owned fields.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::name::Name;

/// New values of engine-owned fields, by their frontmatter key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Set(pub Map<String, Value>);

impl Set {
    /// Nothing changes.
    pub fn new() -> Set {
        Set::default()
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value that should be a name, and is none.
    pub fn misnamed(&self) -> Option<(&str, &Value)> {
        let named = self.0.iter().filter(|(key, value)| Set::is_name(key) && !value.is_null());
        let fits =
            |value: &Value| value.as_str().is_some_and(|text| text.is_empty() || Name::parse(text).is_some());
        let misnamed = named.filter(|(_, value)| !fits(value));
        misnamed.map(|(key, value)| (key.as_str(), value)).next()
    }

    /// Whether the value of this key becomes part of a path.
    fn is_name(key: &str) -> bool {
        matches!(key, "workspace" | "workflow" | "definition")
    }

    /// And the status becomes this.
    pub fn status(self, status: &str) -> Set {
        self.with("status", status.into())
    }

    /// And the counter becomes this.
    pub fn counter(self, name: &str, value: u32) -> Set {
        self.with(name, value.into())
    }

    /// And the task holds this workspace, or none.
    pub fn workspace(self, name: Option<&str>) -> Set {
        self.with("workspace", name.into())
    }

    /// And the task has this tmux session, or none.
    pub fn tmux_session(self, name: Option<&str>) -> Set {
        self.with("tmux_session", name.into())
    }

    /// And an agent is to be started again at this time, or none is.
    pub fn waiting_until(self, time: Option<&str>) -> Set {
        self.with("waiting_until", time.into())
    }

    /// And a person has stopped the task's agents at this time, or they may live.
    pub fn stopped_at(self, time: Option<&str>) -> Set {
        self.with("stopped_at", time.into())
    }

    /// And the task follows this workflow, in the version with this hash.
    pub fn workflow(self, name: &str, definition: &str) -> Set {
        self.with("workflow", name.into()).with("definition", definition.into())
    }

    fn with(mut self, key: &str, value: Value) -> Set {
        self.0.insert(key.to_owned(), value);
        self
    }
}
