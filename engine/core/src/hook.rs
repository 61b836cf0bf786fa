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
    /// What the agent is told.
    pub prompt: PromptId,
    /// What runs it.
    pub harness: HarnessOf,
    /// What it may do.
    pub permissions: Permissions,
    /// The counter that goes up by one before the agent starts.
    pub increment: Option<CounterId>,
}

impl Spawn {
    /// Whose requests the agent's will be.
    pub const fn actor(&self) -> Actor {
        match self.harness {
            HarnessOf::Task => Actor::Worker,
            HarnessOf::Review => Actor::Reviewer,
        }
    }
}

/// One side effect, with its parameters (the vocabulary of seeds 000 and 003, design §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook<'a> {
    /// Bind a worktree of the project's pool to the task.
    AcquireWorkspace,
    /// Unbind it and set it back to the default branch. Spawns nothing.
    ReleaseWorkspace,
    /// Start an agent in a session of its own.
    SpawnAgent(Spawn),
    /// Start an agent in a window of the task's session.
    SpawnReviewer(Spawn),
    /// End the task's session and everything in it.
    KillSession,
    /// End the reviewer's window and leave the worker alone.
    KillReviewer,
    /// Paste a message into the worker's window.
    NotifyWorker {
        /// The message.
        message: &'a str,
        /// How a worker is started where none is alive to read it.
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
    /// Count one up.
    Increment {
        /// The counter.
        counter: CounterId,
    },
    /// Write a key of the frontmatter that people own.
    SetField {
        /// The key.
        field: &'a str,
        /// What is written.
        value: &'a str,
    },
    /// Tell the person.
    Notify {
        /// The message.
        message: &'a str,
    },
    /// Run a program in the worktree. No shell reads it.
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

    /// The parameters of a hook that starts an agent, always or where none is alive.
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

    /// The counter that goes up by one before the hook acts.
    pub const fn increments(&self) -> Option<CounterId> {
        match (self, self.spawn()) {
            (Hook::Increment { counter }, _) => Some(*counter),
            (_, Some(spawn)) => spawn.increment,
            (_, None) => None,
        }
    }
}
