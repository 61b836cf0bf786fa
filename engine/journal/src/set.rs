//! The new values of engine-owned fields that an event brings.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::name::Name;

/// New values of engine-owned fields, by their frontmatter key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Set(pub Map<String, Value>);

impl Set {
    /// Changes nothing.
    pub fn new() -> Set {
        Set::default()
    }

    /// True if nothing changes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first value that must be a name and is not.
    pub fn misnamed(&self) -> Option<(&str, &Value)> {
        let named = self.0.iter().filter(|(key, value)| Set::is_name(key) && !value.is_null());
        let fits =
            |value: &Value| value.as_str().is_some_and(|text| text.is_empty() || Name::parse(text).is_some());
        let misnamed = named.filter(|(_, value)| !fits(value));
        misnamed.map(|(key, value)| (key.as_str(), value)).next()
    }

    /// True if the value of this key becomes part of a path.
    fn is_name(key: &str) -> bool {
        matches!(key, "workspace" | "workflow" | "definition")
    }

    /// Also sets the status.
    pub fn status(self, status: &str) -> Set {
        self.with("status", status.into())
    }

    /// Also sets a counter.
    pub fn counter(self, name: &str, value: u32) -> Set {
        self.with(name, value.into())
    }

    /// Also sets or clears the worktree.
    pub fn workspace(self, name: Option<&str>) -> Set {
        self.with("workspace", name.into())
    }

    /// Also sets or clears the tmux session.
    pub fn tmux_session(self, name: Option<&str>) -> Set {
        self.with("tmux_session", name.into())
    }

    /// Also sets or clears the time at which an agent is started again.
    pub fn waiting_until(self, time: Option<&str>) -> Set {
        self.with("waiting_until", time.into())
    }

    /// Also sets or clears the time at which a person stopped the agents.
    pub fn stopped_at(self, time: Option<&str>) -> Set {
        self.with("stopped_at", time.into())
    }

    /// Also sets or clears the action of the failed hook with which others wait.
    pub fn hooks_wait(self, hook: Option<&str>) -> Set {
        self.with("hooks_wait", hook.into())
    }

    /// Also sets the workflow and the hash of its definition.
    pub fn workflow(self, name: &str, definition: &str) -> Set {
        self.with("workflow", name.into()).with("definition", definition.into())
    }

    /// Also sets the branch that it is based on and merged into, if that is not the default branch.
    pub fn base(self, branch: Option<&str>) -> Set {
        match branch {
            Some(branch) => self.with("base", branch.into()),
            None => self,
        }
    }

    /// Also sets the task that has created it and waits for it, if there is one.
    pub fn parent(self, task: Option<&str>) -> Set {
        match task {
            Some(task) => self.with("parent", task.into()),
            None => self,
        }
    }

    /// Also sets the issue or slot that it was made for, the account that decided that, and whether only a person starts it.
    pub fn source(self, source: Option<&str>, by: Option<&str>, is_held: bool) -> Set {
        let Some(source) = source else { return self };
        let set = self.with("source", source.into());
        let set = by.into_iter().fold(set, |set, by| set.with("source_by", by.into()));
        if is_held { set.with("held", true.into()) } else { set }
    }

    /// Also records that the engine may start it from now on.
    pub fn released(self) -> Set {
        self.with("held", false.into())
    }

    fn with(mut self, key: &str, value: Value) -> Set {
        self.0.insert(key.to_owned(), value);
        self
    }
}
