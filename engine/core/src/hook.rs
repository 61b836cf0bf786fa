//! Hooks: the side effects that a transition may have, as data.

use crate::{Action, Actor, CounterId, PromptId};

/// Which of a task's two harnesses runs an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HarnessOf {
    /// `task.harness`: the worker's.
    Task,
    /// `task.review_harness`: the reviewer's.
    Review,
}

/// What an agent may do without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permissions {
    /// Everything.
    Full,
    /// What the harness allows by default.
    Reduced,
}

/// What a transition does when one of its hooks fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// The hooks after it wait, and it with them.
    Stop,
    /// The hooks after it run.
    GoOn,
}

/// How an agent is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spawn {
    /// The first message of the agent.
    pub prompt: PromptId,
    /// The harness that runs it.
    pub harness: HarnessOf,
    /// What it may do without asking.
    pub permissions: Permissions,
}

impl Spawn {
    /// The actor as which the agent makes requests.
    pub const fn actor(&self) -> Actor {
        match self.harness {
            HarnessOf::Task => Actor::Worker,
            HarnessOf::Review => Actor::Reviewer,
        }
    }
}

/// One side effect: an action and the values of its parameters. Those that the action has not are empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hook<'a> {
    /// The action.
    pub action: Action,
    /// How it starts an agent.
    pub spawn: Option<Spawn>,
    /// The counter that changes before it acts: `reset` sets it back, every other action raises it by one.
    pub counter: Option<CounterId>,
    /// The text for an agent or a person.
    pub message: &'a str,
    /// A key of the frontmatter.
    pub field: &'a str,
    /// The value that is written there.
    pub value: &'a str,
    /// A program and its arguments.
    pub argv: &'a [&'a str],
    /// Seconds until the program is ended.
    pub timeout: u32,
    /// What its transition does when it fails.
    pub on_failure: OnFailure,
}

impl Hook<'_> {
    /// A hook without parameters.
    pub const fn new(action: Action) -> Self {
        Hook {
            action,
            spawn: None,
            counter: None,
            message: "",
            field: "",
            value: "",
            argv: &[],
            timeout: 0,
            on_failure: action.traits().on_failure,
        }
    }

    /// A hook that starts an agent.
    pub const fn spawning(action: Action, spawn: Spawn) -> Self {
        Hook { spawn: Some(spawn), ..Hook::new(action) }
    }

    /// The action's name in the workflow language.
    pub const fn name(&self) -> &'static str {
        self.action.name()
    }

    /// The counter that it raises by one.
    pub fn raises(&self) -> Option<CounterId> {
        self.counter.filter(|_| self.action != Action::Reset)
    }

    /// The counter that it sets back.
    pub fn resets(&self) -> Option<CounterId> {
        self.counter.filter(|_| self.action == Action::Reset)
    }

    /// How it starts an agent, always or where none is alive.
    pub const fn spawn(&self) -> Option<&Spawn> {
        self.spawn.as_ref()
    }
}
