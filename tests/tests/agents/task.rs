//! One task of a world: what its journal and its `TASK.md` say.

use std::fs;
use std::path::PathBuf;

use orange_journal::{Record, read};
use serde_json::Value;

use crate::world::{PROJECT, World};

/// A task or a mission by its id.
pub(crate) struct Task<'w> {
    world: &'w World,
    /// Its id.
    pub(crate) id: String,
    /// The folder of all of its kind.
    place: &'static str,
}

impl<'w> Task<'w> {
    pub(crate) fn new(world: &'w World, id: &str) -> Task<'w> {
        Task { world, id: id.to_owned(), place: "tasks" }
    }

    pub(crate) fn mission(world: &'w World, id: &str) -> Task<'w> {
        Task { place: "missions", ..Task::new(world, id) }
    }

    fn folder(&self) -> PathBuf {
        self.world.home().join(self.place).join(PROJECT).join(&self.id)
    }

    /// Path of the `TASK.md` of the store.
    pub(crate) fn file(&self) -> PathBuf {
        self.folder().join("TASK.md")
    }

    /// The `TASK.md` of the store.
    pub(crate) fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap_or_default()
    }

    /// Its journal. A line that is being written does not count yet.
    pub(crate) fn events(&self) -> Vec<Value> {
        let bytes = fs::read(self.folder().join("history.jsonl")).unwrap_or_default();
        read::parse(&bytes).unwrap().records.iter().map(Record::to_json).collect()
    }

    /// Its events of one type.
    pub(crate) fn events_of(&self, kind: &str) -> Vec<Value> {
        self.events().into_iter().filter(|event| event["type"] == kind).collect()
    }

    /// The newest value of something that the engine owns.
    pub(crate) fn owned(&self, key: &str) -> Value {
        self.events().iter().rev().find_map(|event| event["set"].get(key).cloned()).unwrap_or_default()
    }

    /// Its worktree.
    #[track_caller]
    pub(crate) fn worktree(&self) -> PathBuf {
        self.world.home().join("workspaces").join(self.owned("workspace").as_str().unwrap())
    }

    /// The statuses that it came to, in order.
    pub(crate) fn path(&self) -> Vec<String> {
        let to = |event: &Value| event["to"].as_str().unwrap_or("?").to_owned();
        self.events_of("status.changed").iter().map(to).collect()
    }

    /// Waits until the last status that it came to is this one.
    #[track_caller]
    pub(crate) fn reaches(&self, status: &str) {
        let is_there = || self.path().last().is_some_and(|last| last == status);
        self.world.until(&format!("{} is {status}", self.id), is_there);
    }

    /// Waits until its journal has this many events of a type.
    #[track_caller]
    pub(crate) fn has_events(&self, count: usize, kind: &str) {
        let what = format!("{} has {count} × {kind}", self.id);
        self.world.until(&what, || self.events_of(kind).len() >= count);
    }

    /// `orange task VERB ID …`, which must succeed.
    #[track_caller]
    pub(crate) fn ok(&self, verb: &str, more: &[&str]) -> Value {
        self.world.ok(&[&["task", verb, &self.id], more].concat())
    }

    /// Its row in `orange task list`.
    #[track_caller]
    pub(crate) fn row(&self) -> Value {
        self.world.tasks().into_iter().find(|row| row["id"] == self.id.as_str()).unwrap_or_default()
    }

    /// Its agent that needs a person most, in `orange task list`.
    #[track_caller]
    pub(crate) fn agent(&self) -> Value {
        self.row()["agents"][0].clone()
    }

    /// The pane in which its newest agent runs, by tmux's name for it.
    #[track_caller]
    pub(crate) fn pane(&self) -> String {
        let session = self.owned("tmux_session");
        format!("={}:", session.as_str().unwrap())
    }
}
