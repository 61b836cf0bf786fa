//! The words that fields of events have.

use super::declare::words;

words! {
    /// The actor that asked, or that an agent is.
    Actor {
        /// Orange itself: exit rules and escalation.
        Engine = "engine",
        /// Person at a terminal or in a dashboard.
        Human = "human",
        /// The agent that reviews the work.
        Reviewer = "reviewer",
        /// The agent that does the work.
        Worker = "worker",
    }

    /// Cause of the decision for a transition.
    Cause {
        /// Somebody asked for it.
        Request = "request",
        /// An exit rule.
        Auto = "auto",
        /// The last crash of an agent. Only this cause keeps `crash_count`.
        Escalation = "escalation",
        /// A fact that the workflow watches.
        Watch = "watch",
        /// A failed hook of the transition before.
        HookFailed = "hook_failed",
        /// A cancellation without a declared transition.
        Forced = "forced",
        /// A merge without a declared transition.
        ForcedMerge = "forced_merge",
    }

    /// Path by which a person answered, other than a command or a screen.
    Via {
        /// A button of a notification.
        Phone = "phone",
    }

    /// Permissions of an agent: the acts that it may do without asking.
    Permissions {
        /// Every act: its harness asks for no permission.
        Full = "full",
        /// Everything that its harness lets it do.
        Reduced = "reduced",
    }

    /// Strictness of an agent's confinement.
    Level {
        /// Namespaces of its own, in which everything is invisible that is not granted.
        Wall = "wall",
    }

    /// The git repository of a walled agent.
    GitAccess {
        /// None at all.
        None = "none",
        /// The project's, read-only.
        Read = "read",
        /// A private one, whose branch is imported.
        Own = "own",
    }

    /// The network of a walled agent.
    Network {
        /// None at all.
        None = "none",
        /// The hosts of its harness.
        Model = "model",
        /// The hosts of its harness and those that a person grants.
        Listed = "listed",
    }

    /// The worktree of a walled agent.
    WorktreeAccess {
        /// It is read-only.
        Read = "read",
        /// Readable and writable.
        Write = "write",
    }

    /// Strategy of a merge.
    Strategy {
        /// The default branch was moved to the branch's commit.
        FastForward = "ff",
        /// With a merge commit.
        Merge = "merge",
        /// With one commit of everything.
        Squash = "squash",
        /// With each commit again, on top of the target.
        Rebase = "rebase",
        /// As a pull request, elsewhere.
        PullRequest = "pr",
    }

    /// The result of the checks of a pull request.
    Checks {
        /// All of them have succeeded.
        Green = "green",
        /// There are none.
        None = "none",
        /// Some have not ended, and none has failed.
        Pending = "pending",
        /// One has failed.
        Red = "red",
    }

    /// Evidence from which the engine knows that an agent ended. For an agent with a wrapper it is the wrapper's report: `exited
    /// with 3`.
    Ending {
        /// Orange ended it.
        Killed = "killed",
        /// A person stopped it.
        Stopped = "stopped",
        /// Its tmux pane no longer exists.
        PaneGone = "its pane is gone",
    }

    /// Reason for which an agent goes on after the end of a limit.
    GoesOn {
        /// Orange has sent it a message.
        Message = "it got the message that the limit is over",
        /// It did so before Orange sent one.
        ByItself = "it went on by itself",
    }

    /// Activity of an agent.
    Activity {
        /// The agent works.
        Busy = "busy",
        /// It waits for a person.
        Waiting = "waiting",
        /// It has met a limit of its provider.
        Limit = "limit",
        /// It is at its prompt and has nothing to do.
        Idle = "idle",
        /// Its conversation is over.
        Ended = "ended",
        /// It has reported nothing for a long time.
        Quiet = "quiet",
        /// Its harness does not report it.
        Unknown = "unknown",
        /// A person has answered its question.
        Answered = "answered",
    }

    /// End of an attempt at a step.
    StepEnd {
        /// Its agent has reported a completion.
        Completed = "completed",
        /// Its agent has reported a failure, or its time is over.
        Failed = "failed",
        /// Its agent has ended without a word.
        Lost = "lost",
        /// A person has answered its question.
        Answered = "answered",
        /// Nobody has answered its question in time.
        Expired = "expired",
    }

    /// Reason for a pause of a mission.
    PauseReason {
        /// A step has ended, and the policy asks for a pause.
        Boundary = "boundary",
        /// A step has completed with a warning.
        Warning = "warning",
        /// A step has failed.
        Error = "error",
        /// The loop of a step is exhausted.
        Exhausted = "exhausted",
        /// A step needs an attempt, and the mission has used its `max_attempts`.
        Cap = "cap",
        /// The worktree has changed while only steps worked there that read it.
        Changed = "changed",
        /// The mission cannot go on: no worktree, no harness, a damaged plan.
        Obstacle = "obstacle",
    }
}
