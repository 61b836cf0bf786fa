//! Hooks: the side effects that a transition may have, as data.

use crate::wall::Demand;
use crate::{Action, Actor, CounterId, PromptId};

/// Role of an agent: one of the two that a task has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The one that does the work.
    Worker,
    /// The one that judges it.
    Reviewer,
}

impl Role {
    /// The actor as which the agent makes requests.
    pub const fn actor(self) -> Actor {
        match self {
            Role::Worker => Actor::Worker,
            Role::Reviewer => Actor::Reviewer,
        }
    }

    /// The harness that runs the agent where the workflow does not say.
    pub const fn harness(self) -> HarnessOf<'static> {
        match self {
            Role::Worker => HarnessOf::Task,
            Role::Reviewer => HarnessOf::Review,
        }
    }
}

/// Choice of the harness that runs an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HarnessOf<'a> {
    /// `task.harness`: the worker's.
    Task,
    /// `task.review_harness`: the reviewer's.
    Review,
    /// The one with this name, whatever the task says.
    Named(&'a str),
}

/// Place in which an agent works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Workspace {
    /// In the task's git worktree.
    Worktree,
    /// In a plain folder of the task, without a worktree.
    Folder,
}

impl Workspace {
    /// True if an agent that works here can be started in a task that holds this: a folder is made where it is needed, and a
    /// worktree is not.
    pub fn is_ready(self, held: Option<Workspace>) -> bool {
        match self {
            Workspace::Worktree => held == Some(Workspace::Worktree),
            Workspace::Folder => held != Some(Workspace::Worktree),
        }
    }
}

/// Permissions of an agent: the acts that it may do without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Permissions {
    /// Every act: the harness asks for no permission.
    Full,
    /// Everything that the harness allows by default.
    Reduced,
}

impl Permissions {
    /// Its word in workflows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Permissions::Full => "full",
            Permissions::Reduced => "reduced",
        }
    }
}

/// Reaction of a transition to the failure of one of its hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// The hooks after it wait, and it with them.
    Stop,
    /// The hooks after it run.
    GoOn,
}

/// Start of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spawn<'a> {
    /// The first message of the agent.
    pub prompt: PromptId,
    /// Role of the agent in the task.
    pub role: Role,
    /// The harness that runs it.
    pub harness: HarnessOf<'a>,
    /// Permissions: the acts that it may do without asking.
    pub permissions: Permissions,
    /// The model that it uses, in the harness's own words; the task's where the workflow names none.
    pub model: Option<&'a str>,
    /// Its effort, likewise.
    pub effort: Option<&'a str>,
    /// Place in which it works.
    pub workspace: Workspace,
    /// The name of a reviewer beside which others can be alive.
    pub reviewer: Option<&'a str>,
    /// Demand on its confinement, from the workflow, the state and the hook.
    pub sandbox: Demand,
}

impl Spawn<'_> {
    /// An agent with the harness of its role.
    pub const fn new(prompt: PromptId, role: Role, permissions: Permissions) -> Self {
        Spawn {
            prompt,
            role,
            harness: role.harness(),
            permissions,
            model: None,
            effort: None,
            workspace: Workspace::Worktree,
            reviewer: None,
            sandbox: Demand::NONE,
        }
    }

    /// The actor as which the agent makes requests.
    pub const fn actor(&self) -> Actor {
        self.role.actor()
    }

    /// True if an agent that was started like this can have been this one: the task may have named values that are not given here.
    pub(crate) fn can_be(&self, started: &Spawn<'_>) -> bool {
        let fits = |said: Option<&str>, was: Option<&str>| said.is_none() || said == was;
        (self.prompt, self.role, self.permissions) == (started.prompt, started.role, started.permissions)
            && fits(self.model, started.model)
            && fits(self.effort, started.effort)
            && self.reviewer == started.reviewer
    }
}

impl<'a> Spawn<'a> {
    /// The name of its harness, for a task with these two.
    pub const fn harness_name(&self, worker: &'a str, reviewer: &'a str) -> &'a str {
        match self.harness {
            HarnessOf::Task => worker,
            HarnessOf::Review => reviewer,
            HarnessOf::Named(name) => name,
        }
    }
}

/// One side effect: an action and the values of its parameters. Those that the action has not are empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hook<'a> {
    /// Side effect that it has.
    pub action: Action,
    /// Start of an agent, if it starts one.
    pub spawn: Option<Spawn<'a>>,
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
    /// Reaction of its transition to its failure.
    pub on_failure: OnFailure,
}

impl<'a> Hook<'a> {
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
    pub const fn spawning(action: Action, spawn: Spawn<'a>) -> Self {
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

    /// Start of an agent, unconditional or only where none is alive.
    pub const fn spawn(&self) -> Option<&Spawn<'a>> {
        self.spawn.as_ref()
    }
}
