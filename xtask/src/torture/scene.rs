//! The requests under torture: the state before, the request, and how it is repeated.

mod merges;
mod missions;
mod tasks;
mod walls;

use std::sync::LazyLock;

use serde_json::Value;

use self::SceneAct::{Agent, Ask};
use super::outcome::Task;
use super::prepare::before;
use super::world::World;
use crate::Result;

/// One request, or one end of an agent.
pub(super) struct Scene {
    pub(super) name: &'static str,
    prepare: fn(&World, &str) -> Result<()>,
    pub(super) act: SceneAct,
    /// The status of the task afterwards.
    pub(super) to: &'static str,
}

/// The action. `BRANCH` stands for the task's branch, also as the beginning of a word.
pub(super) enum SceneAct {
    /// A person runs `orange` with these words.
    Ask(&'static [&'static str]),
    /// The agent in this window does this.
    Agent { window: &'static str, does: &'static str },
}

/// All of them.
pub(super) static SCENES: LazyLock<Vec<&'static Scene>> = LazyLock::new(|| {
    [tasks::SCENES, merges::SCENES, missions::SCENES, walls::SCENES].into_iter().flatten().collect()
});

impl Scene {
    /// Creates a task on this branch that is ready for the request; returns its state before.
    pub(super) fn prepare(&self, world: &World, branch: &str) -> Result<Option<Task>> {
        (self.prepare)(world, branch)?;
        world.quiet()?;
        let task = Task::find(world, branch)?;
        if let Some(task) = &task {
            task.has_begun(world)?;
        }
        Ok(task)
    }

    /// The words of a request for this branch.
    pub(super) fn words(&self, branch: &str) -> Option<Vec<String>> {
        match self.act {
            Ask(words) => Some(with_branch(words, branch)),
            Agent { .. } => None,
        }
    }

    /// True if the task that the request names has the status that success promises: this one, or one before it whose end starts
    /// this one in a process of its own. A look of the monitor names none, and starts tasks in processes of their own.
    pub(super) fn keeps_its_word(&self, world: &World, branch: &str) -> Result<bool> {
        let words = self.words(branch).unwrap_or_default();
        if words.contains(&before(branch)) {
            return Task::named(world, &before(branch)).map(|task| task.is_over());
        }
        let is_look = words.iter().any(|word| word == "monitor");
        Ok(is_look || Task::named(world, branch)?.status() == self.to)
    }

    /// Repeats the request as a person does when it has had no effect.
    pub(super) fn ask_again(&self, world: &World, branch: &str, found: Option<&Task>) -> Result<Value> {
        match self.words(branch) {
            None => Err("there is nobody who could ask again".to_string()),
            Some(words) if words.iter().any(|word| word == "create") && found.is_some() => {
                world.orange(&["task", "spawn", branch])
            }
            Some(words) if words.iter().any(|word| word == "start") && found.is_some() => {
                world.orange(&["monitor", "--once"])
            }
            Some(words) => world.orange(&words.iter().map(String::as_str).collect::<Vec<_>>()),
        }
    }
}

fn with_branch(words: &[&str], branch: &str) -> Vec<String> {
    words.iter().map(|word| word.replace("BRANCH", branch)).collect()
}
