//! The actions: everything that a hook can do, each described once.

use crate::{Actor, OnFailure, Permissions, Role};

/// Traits of an action, which the rest of the code reads. An action without any of them has [`PLAIN`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// Start of an agent, if it starts one.
    pub starts: Option<Starts>,
    /// Agents that it ends.
    pub ends: Option<Ends>,
    /// Use of the task's worktree.
    pub worktree: Option<WorktreeUse>,
    /// Change of the remote.
    pub remote: Option<Remote>,
    /// Reader of its message.
    pub tells: Option<Actor>,
    /// True if it changes the work: the commits of the task's branch.
    pub remakes: bool,
    /// Reaction of its transition to its failure, where the hook does not say.
    pub on_failure: OnFailure,
}

/// Start of an agent by an action. Each needs a worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starts {
    /// In the place of the agents before.
    New,
    /// Beside a worker, in a window of the task's session.
    BesideWorker,
    /// If no worker is alive to read its message.
    MissingWorker,
}

/// Agents that an action ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Both, with the session that they are in.
    Session,
    /// The reviewer.
    Reviewer,
}

/// Use of the task's worktree by an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorktreeUse {
    /// Binds one, unless one is bound.
    Acquires,
    /// Gives it back.
    Releases,
    /// Works in the workspace.
    Uses,
}

/// Change that an action makes to the remote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remote {
    /// Adds to the counter.
    Adds,
    /// Deletes something of it.
    Deletes,
}

/// An action that runs beside the task and its agents.
pub const PLAIN: Traits = Traits {
    starts: None,
    ends: None,
    worktree: None,
    remote: None,
    tells: None,
    remakes: false,
    on_failure: OnFailure::GoOn,
};

impl Starts {
    /// The role and the permissions of the agent where the hook does not say.
    pub const fn defaults(self) -> (Role, Permissions) {
        match self {
            Starts::New | Starts::MissingWorker => (Role::Worker, Permissions::Full),
            Starts::BesideWorker => (Role::Reviewer, Permissions::Reduced),
        }
    }
}

/// A key of a hook beside `action`. An action has at most one parameter of each kind.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Key in a workflow.
    pub name: &'static str,
    /// Kind of its value, and so the part of [`crate::Hook`] that it becomes.
    pub kind: ParameterKind,
    /// True if the key must be there.
    pub required: bool,
    /// Meaning, in one sentence.
    pub doc: &'static str,
}

/// Kind of value that a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// The name of a prompt.
    Prompt,
    /// The role of the agent in the task.
    Role,
    /// The harness of an agent: one of the task's two, or a name.
    Harness,
    /// The model of an agent.
    Model,
    /// The effort of an agent.
    Effort,
    /// The name of a reviewer beside others.
    Reviewer,
    /// The permissions of the agent.
    Permissions,
    /// The name of a counter.
    Counter,
    /// A text that somebody reads.
    Message,
    /// A key of the frontmatter that people own.
    Field,
    /// Any scalar, taken as text.
    Value,
    /// A program and its arguments.
    Argv,
    /// Seconds, at least 1, and how many where the hook does not say.
    Seconds(u32),
    /// The strategy that brings a branch up to its base: one of [`SYNC_STRATEGIES`].
    SyncStrategy,
    /// The demand on the confinement of the agent.
    Sandbox,
}

use ParameterKind as Kind;

/// Strategies that bring a branch up to its base.
pub const SYNC_STRATEGIES: [&str; 2] = ["merge", "rebase"];

const fn required(name: &'static str, kind: Kind, doc: &'static str) -> Parameter {
    Parameter { name, kind, required: true, doc }
}

const fn optional(name: &'static str, kind: Kind, doc: &'static str) -> Parameter {
    Parameter { name, kind, required: false, doc }
}

const PROMPT: Parameter = required("prompt", Kind::Prompt, "The prompt of the agent.");
const INCREMENT: Parameter =
    optional("increment", Kind::Counter, "The counter that goes up by one before the agent starts.");

const AS: Parameter = optional(
    "as",
    Kind::Role,
    "Which of the task's agents it is; by default as its harness says, else as its action does.",
);
const HARNESS: Parameter = optional(
    "harness",
    Kind::Harness,
    "The harness that runs it: one of the task's (task, review), or a name.",
);
const MODEL: Parameter =
    optional("model", Kind::Model, "The model that it uses; the harness's own by default.");
const NAME: Parameter = optional(
    "name",
    Kind::Reviewer,
    "Its name, if it is a reviewer: those with different names can be alive at once, and each writes a section of its own.",
);
const EFFORT: Parameter = optional("effort", Kind::Effort, "Its effort; the task's by default.");
const SANDBOX: Parameter = optional(
    "sandbox",
    Kind::Sandbox,
    "The least confinement of the agent, beside that of its state and of the workflow.",
);

macro_rules! actions {
    ($($(#[doc = $doc:literal])+ $action:ident = $name:literal [$($parameter:expr),* $(,)?] $traits:expr;)+) => {
        /// Action of a hook. The text of each is its row in `docs/workflow.md`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Action {
            $($(#[doc = $doc])+ $action,)+
        }

        impl Action {
            /// All actions, in the order of the page.
            pub const ALL: &[Action] = &[$(Action::$action),+];

            /// The name in the workflow language.
            pub const fn name(self) -> &'static str {
                match self { $(Action::$action => $name,)+ }
            }

            /// Description of its effect, for people.
            pub const fn doc(self) -> &'static str {
                match self { $(Action::$action => concat!($($doc),+).trim_ascii(),)+ }
            }

            /// Its keys beside `action`, in the order that people write them in.
            pub const fn parameters(self) -> &'static [Parameter] {
                match self { $(Action::$action => const { &[$($parameter),*] },)+ }
            }

            /// Traits of the action, which the rest of the code reads.
            pub const fn traits(self) -> &'static Traits {
                match self { $(Action::$action => const { &$traits },)+ }
            }
        }
    };
}

actions! {
    /// Gives the task a worktree of the project's pool.
    AcquireWorkspace = "acquire_workspace" []
        Traits { worktree: Some(WorktreeUse::Acquires), ..PLAIN };

    /// Backs up unsaved work, resets the worktree to the default branch and returns it to the pool; refuses while an agent of the task is alive. It starts no other task.
    ReleaseWorkspace = "release_workspace" []
        Traits { worktree: Some(WorktreeUse::Releases), ..PLAIN };

    /// Starts an agent in the task's session, which it creates if there is none. A worker's window is called `worker`, a
    /// reviewer's `review-<round>`, and with a name `review-<round>-<name>`. The hook fails while an earlier agent of the same kind
    /// is alive, unless both are reviewers with different names.
    SpawnAgent = "spawn_agent" [
        PROMPT,
        AS,
        HARNESS,
        MODEL,
        EFFORT,
        NAME,
        optional("permissions", Kind::Permissions, "What it may do without asking; full by default."),
        SANDBOX,
        INCREMENT,
    ] Traits { starts: Some(Starts::New), ..PLAIN };

    /// Starts an agent as `spawn_agent` does, with a reviewer's defaults.
    SpawnReviewer = "spawn_reviewer" [
        PROMPT,
        AS,
        HARNESS,
        MODEL,
        EFFORT,
        NAME,
        optional("permissions", Kind::Permissions, "What it may do without asking; reduced by default."),
        SANDBOX,
        INCREMENT,
    ] Traits { starts: Some(Starts::BesideWorker), ..PLAIN };

    /// Ends the task's agents, all processes that they have started, and their session. Panes and windows that a person has
    /// opened in it stay.
    KillSession = "kill_session" []
        Traits { ends: Some(Ends::Session), ..PLAIN };

    /// Ends the reviewer and all processes that it has started, and not the worker.
    KillReviewer = "kill_reviewer" []
        Traits { ends: Some(Ends::Reviewer), ..PLAIN };

    /// Pastes the message into the worker's window; `{orange}` in it is replaced as in prompts. If no worker is alive, the hook
    /// starts one with the prompt instead; without a `prompt`, it fails.
    NotifyWorker = "notify_worker" [
        required("message", Kind::Message, "The message to the worker."),
        optional(
            "prompt",
            Kind::Prompt,
            "What a worker is started with where none is alive; without it, the hook fails there.",
        ),
        HARNESS,
        MODEL,
        EFFORT,
    ] Traits { starts: Some(Starts::MissingWorker), tells: Some(Actor::Worker), ..PLAIN };

    /// Starts the oldest waiting task of the project, if a worktree is free. Nothing else starts a waiting task, not even a
    /// cancellation, unless the project's queue is `auto` (`orange project update --queue auto`): then every free worktree goes
    /// to a waiting task, also through `orange monitor`.
    SpawnNext = "spawn_next" [] PLAIN;

    /// Pushes the task's branch.
    PushBranch = "push_branch" []
        Traits { remote: Some(Remote::Adds), ..PLAIN };

    /// Brings the task's branch up to its base, as `orange task sync` does, and pushes it if the remote has it: `merge` takes the base
    /// in, `rebase` moves the work onto it. A conflict fails the hook and changes nothing, and so does uncommitted work or a living
    /// agent; with nothing new in the base, nothing happens.
    SyncBranch = "sync_branch" [optional(
        "with",
        Kind::SyncStrategy,
        "`merge` or `rebase`; what `[merge] sync` of the project says by default.",
    )] Traits { on_failure: OnFailure::Stop, remakes: true, ..PLAIN };

    /// Pushes the branch and opens a pull request.
    CreatePr = "create_pr" []
        Traits { remote: Some(Remote::Adds), ..PLAIN };

    /// Removes the branch from the remote if it was made for this task, unless it is protected: the default branch, `main`,
    /// `master`, `trunk`, `develop`, `development`, `staging`, `production`, `release/*`, and names set with
    /// `git config --add orange.protected 'lts-*'` in the repository.
    DeleteRemoteBranch = "delete_remote_branch" []
        Traits { remote: Some(Remote::Deletes), ..PLAIN };

    /// Raises a counter by one. `increment_review_round` is the same with `field: review_round`.
    Increment = "increment" [required("field", Kind::Counter, "The counter that goes up by one.")] PLAIN;

    /// Sets a counter back to its initial value. `reset: COUNTER` of a transition is the same as a first hook.
    Reset = "reset" [required("field", Kind::Counter, "The counter that starts again.")] PLAIN;

    /// Writes a key of the frontmatter that the engine does not own.
    SetField = "set_field" [
        required("field", Kind::Field, "A key of the frontmatter that people own."),
        required("value", Kind::Value, "What is written there."),
    ] PLAIN;

    /// Shows the message to a person, as the task's `attention`.
    Notify = "notify" [required("message", Kind::Message, "The message to the person.")]
        Traits { tells: Some(Actor::Human), ..PLAIN };

    /// Writes the section `## Feedback` of `TASK.md`: the failed checks, the threads or the conflict because of which a watch rule has
    /// taken the transition, with texts of others as quotations. It stands before the hook that starts the agent.
    WriteFeedback = "write_feedback" [] PLAIN;

    /// Runs a program in the worktree, with these arguments and no shell; `timeout` is in seconds, 60 by default.
    RunCommand = "run_command" [
        required("argv", Kind::Argv, "The program and its arguments. No shell reads it."),
        optional("timeout", Kind::Seconds(60), "Seconds after which it is ended; 60 by default."),
    ] Traits { worktree: Some(WorktreeUse::Uses), on_failure: OnFailure::Stop, ..PLAIN };
}

impl Action {
    /// The action with this name.
    pub fn named(name: &str) -> Option<Action> {
        Action::ALL.iter().copied().find(|it| it.name() == name)
    }

    /// True if it binds a worktree to the task.
    pub fn acquires(self) -> bool {
        self.traits().worktree == Some(WorktreeUse::Acquires)
    }

    /// True if it gives the task's worktree back.
    pub fn releases(self) -> bool {
        self.traits().worktree == Some(WorktreeUse::Releases)
    }

    /// True if it ends the task's session.
    pub fn ends_session(self) -> bool {
        self.traits().ends == Some(Ends::Session)
    }

    /// True if it starts an agent beside a worker.
    pub fn starts_beside(self) -> bool {
        self.traits().starts == Some(Starts::BesideWorker)
    }

    /// True if it is meant for a task whose worker is alive.
    pub fn needs_worker(self) -> bool {
        matches!(self.traits().starts, Some(Starts::BesideWorker | Starts::MissingWorker))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_has_one_parameter_of_a_kind() {
        for action in Action::ALL {
            assert_eq!(Action::named(action.name()), Some(*action));
            let kind = |it: &Parameter| core::mem::discriminant(&it.kind);
            let parameters = action.parameters();
            for (at, parameter) in parameters.iter().enumerate() {
                let same = parameters[..at].iter().find(|it| kind(it) == kind(parameter));
                assert_eq!(same.map(|it| it.name), None, "{action:?}");
            }
        }
    }

    /// The search does one of these for a hook.
    #[test]
    fn an_action_has_one_effect_on_agents_and_worktree() {
        for action in Action::ALL {
            let has = |kind| action.parameters().iter().any(|it| it.kind == kind);
            let Traits { starts, ends, worktree, tells, .. } = *action.traits();
            let effects = [starts.is_some(), ends.is_some(), worktree.is_some()];
            assert!(effects.iter().filter(|it| **it).count() <= 1, "{action:?}");
            assert_eq!(starts.is_some(), has(Kind::Prompt), "{action:?}");
            assert!(tells.is_none() || has(Kind::Message), "{action:?}");
        }
    }
}
