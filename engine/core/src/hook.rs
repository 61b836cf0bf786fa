//! Hooks: the side effects that a transition may have, as data.

use crate::{Actor, CounterId, PromptId};

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

/// The parameters of `spawn_agent` and `spawn_reviewer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spawn {
    /// The first message of the agent.
    pub prompt: PromptId,
    /// The harness that runs it.
    pub harness: HarnessOf,
    /// What it may do without asking.
    pub permissions: Permissions,
    /// The counter that rises by one before the agent starts.
    pub increment: Option<CounterId>,
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

/// One side effect of a transition, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook<'a> {
    /// Bind a worktree of the project's pool to the task.
    AcquireWorkspace,
    /// Unbind the worktree and reset it to the default branch.
    ReleaseWorkspace,
    /// Start an agent in a session of its own.
    SpawnAgent(Spawn),
    /// Start an agent in a window of the task's session.
    SpawnReviewer(Spawn),
    /// End the task's session and every process in it.
    KillSession,
    /// End the reviewer's window; the worker goes on.
    KillReviewer,
    /// Paste a message into the worker's window.
    NotifyWorker {
        /// The message.
        message: &'a str,
        /// How to start a worker when none is alive.
        otherwise: Option<Spawn>,
    },
    /// Spawn the next pending task of the project.
    SpawnNext,
    /// Push the task's branch.
    PushBranch,
    /// Push it and open a pull request.
    CreatePr,
    /// Remove the branch from the remote.
    DeleteRemoteBranch,
    /// Add one to a counter.
    Increment {
        /// The counter.
        counter: CounterId,
    },
    /// Write a key of the frontmatter that people may edit.
    SetField {
        /// The key.
        field: &'a str,
        /// The new value.
        value: &'a str,
    },
    /// Show a message to the person.
    Notify {
        /// The message.
        message: &'a str,
    },
    /// Run a program in the worktree, without a shell.
    RunCommand {
        /// The program and its arguments.
        argv: &'a [&'a str],
        /// Seconds after which it is ended.
        timeout: u32,
    },
}

impl Hook<'_> {
    /// The action's name in the workflow language.
    pub const fn name(&self) -> &'static str {
        match self {
            Hook::AcquireWorkspace => "acquire_workspace",
            Hook::ReleaseWorkspace => "release_workspace",
            Hook::SpawnAgent(_) => "spawn_agent",
            Hook::SpawnReviewer(_) => "spawn_reviewer",
            Hook::KillSession => "kill_session",
            Hook::KillReviewer => "kill_reviewer",
            Hook::NotifyWorker { .. } => "notify_worker",
            Hook::SpawnNext => "spawn_next",
            Hook::PushBranch => "push_branch",
            Hook::CreatePr => "create_pr",
            Hook::DeleteRemoteBranch => "delete_remote_branch",
            Hook::Increment { .. } => "increment",
            Hook::SetField { .. } => "set_field",
            Hook::Notify { .. } => "notify",
            Hook::RunCommand { .. } => "run_command",
        }
    }

    /// The parameters of a hook that starts an agent, always or when none is alive.
    pub const fn spawn(&self) -> Option<&Spawn> {
        match self {
            Hook::SpawnAgent(spawn) | Hook::SpawnReviewer(spawn) => Some(spawn),
            Hook::NotifyWorker { otherwise, .. } => otherwise.as_ref(),
            Hook::AcquireWorkspace
            | Hook::ReleaseWorkspace
            | Hook::KillSession
            | Hook::KillReviewer
            | Hook::SpawnNext
            | Hook::PushBranch
            | Hook::CreatePr
            | Hook::DeleteRemoteBranch
            | Hook::Increment { .. }
            | Hook::SetField { .. }
            | Hook::Notify { .. }
            | Hook::RunCommand { .. } => None,
        }
    }

    /// The counter that rises by one before the hook runs.
    pub const fn increments(&self) -> Option<CounterId> {
        match (self, self.spawn()) {
            (Hook::Increment { counter }, _) => Some(*counter),
            (_, Some(spawn)) => spawn.increment,
            (_, None) => None,
        }
    }
}
