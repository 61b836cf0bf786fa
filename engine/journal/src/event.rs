//! What the journal says: typed events, each with the engine-owned values that it changed.

pub(crate) mod declare;
#[cfg(test)]
pub(crate) mod sample;

use orange_core::Seen;

use self::declare::{Fields, events, objects, take, words};
use crate::set::Set;

pub use self::declare::Type;

words! {
    /// Who asked for something, or which agent one is.
    Actor {
        /// Orange itself: exit rules and escalation.
        Engine = "engine",
        /// A person.
        Human = "human",
        /// The agent that judges the work.
        Reviewer = "reviewer",
        /// The agent that does it.
        Worker = "worker",
    }

    /// Why a transition was decided.
    Cause {
        /// Somebody asked for it.
        Request = "request",
        /// An exit rule.
        Auto = "auto",
        /// The last crash of an agent. It alone keeps `crash_count`.
        Escalation = "escalation",
        /// A cancellation that no transition is declared for.
        Forced = "forced",
        /// A merge that no transition is declared for.
        ForcedMerge = "forced_merge",
    }

    /// What an agent may do without asking.
    Permissions {
        /// Everything.
        Full = "full",
        /// What its harness lets it do.
        Reduced = "reduced",
    }

    /// How a branch was merged.
    Strategy {
        /// The default branch was moved to it.
        FastForward = "ff",
        /// With a merge commit.
        Merge = "merge",
        /// As a pull request, elsewhere.
        PullRequest = "pr",
    }

    /// How the end of an agent is known. Of one that reported it itself, it is what its wrapper says: `exited with 3`.
    Ending {
        /// Orange ended it.
        Killed = "killed",
        /// A person had it ended.
        Stopped = "stopped",
        /// There was nothing left of it.
        PaneGone = "its pane is gone",
    }

    /// What an agent does.
    Activity {
        /// It works.
        Busy = "busy",
        /// It waits for somebody.
        Waiting = "waiting",
        /// It has met a limit of its provider.
        Limit = "limit",
        /// It is at its prompt, and nothing is wanted of it.
        Idle = "idle",
        /// Its conversation is over.
        Ended = "ended",
        /// Nothing has been heard of it for long.
        Quiet = "quiet",
        /// Its harness does not tell.
        Unknown = "unknown",
        /// A person has answered what it asked.
        Answered = "answered",
    }
}

objects! {
    /// A started agent.
    Spawn {
        /// Its number within the task, from 1.
        spawn: u32,
        /// Which agent of the task it is.
        actor: Actor,
        /// The prompt it got, by name.
        #[serde(default)]
        prompt: String,
        /// The harness it runs in.
        #[serde(default)]
        harness: String,
        /// The tmux session.
        #[serde(default)]
        session: String,
        /// The tmux window.
        #[serde(default)]
        window: String,
        /// What it may do without asking.
        #[serde(default)]
        permissions: Permissions,
        /// The harness's own id of its conversation, where that is known before it begins.
        #[serde(skip_serializing_if = "Option::is_none")]
        conversation: Option<String>,
        /// Whether it continues that conversation.
        #[serde(skip_serializing_if = "is_false")]
        resumed: bool,
        /// Why it does not continue the conversation of the agent before, where it should have.
        #[serde(skip_serializing_if = "Option::is_none")]
        not_resumed: Option<String>,
        /// What stands in the sections that are to have a verdict: it is not this agent's.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        stood: Vec<Pass>,
        /// The call for attention that a person answers with it.
        #[serde(skip_serializing_if = "Option::is_none")]
        answers: Option<String>,
    }

    /// An agent that is gone, and what it leaves to be read.
    Exited {
        /// Its number.
        spawn: u32,
        /// Its exit status, when it ended by itself.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// How its end is known.
        #[serde(default)]
        reason: Ending,
        /// How many seconds it lived, where its wrapper says so.
        #[serde(skip_serializing_if = "Option::is_none")]
        duration: Option<u64>,
        /// The last lines of its pane, where its wrapper could read them.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        last_lines: Vec<String>,
        /// The harness's own id of its conversation, where it is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        conversation: Option<String>,
        /// The file in `transcripts/` with what it did, where there is one.
        #[serde(skip_serializing_if = "Option::is_none")]
        transcript: Option<String>,
        /// Why there is none, where it could not be written.
        #[serde(skip_serializing_if = "Option::is_none")]
        not_kept: Option<String>,
        /// How many tokens its model has read, cached or not, and written, where its harness tells.
        #[serde(skip_serializing_if = "Option::is_none")]
        tokens: Option<u64>,
        /// What it has cost, in millionths of a dollar, where its harness tells.
        #[serde(skip_serializing_if = "Option::is_none")]
        cost: Option<u64>,
    }

    /// What an agent does, as its harness reports it.
    Report {
        /// Its number.
        spawn: u32,
        /// What it does.
        state: Activity,
        /// What it waits for, or what was answered.
        #[serde(default)]
        reason: String,
        /// When a limit is over, RFC 3339 UTC, where the harness says so.
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<String>,
        /// The request that can be answered, or was.
        #[serde(skip_serializing_if = "Option::is_none")]
        request: Option<String>,
        /// The harness's name for the conversation.
        #[serde(skip_serializing_if = "Option::is_none")]
        conversation: Option<String>,
        /// The harness's own record of the conversation.
        #[serde(skip_serializing_if = "Option::is_none")]
        transcript: Option<String>,
        /// How many tokens the conversation has taken so far.
        #[serde(skip_serializing_if = "Option::is_none")]
        tokens: Option<u64>,
        /// What it has cost so far, in millionths of a dollar.
        #[serde(skip_serializing_if = "Option::is_none")]
        cost: Option<u64>,
    }

    /// An agent that has ended and is to be started again.
    Waiting {
        /// Its number.
        spawn: u32,
        /// When, RFC 3339 UTC.
        until: String,
        /// How many seconds that was from then.
        after: u32,
        /// What is waited for.
        #[serde(default)]
        reason: String,
    }

    /// A transition that was decided: enough to finish it after a kill.
    Transition {
        /// The state it leaves.
        from: String,
        /// The state it reaches.
        to: String,
        /// Its index in the machine, when it is a declared one.
        transition: Option<usize>,
        /// Why it was decided.
        #[serde(default)]
        cause: Cause,
        /// Who asked.
        #[serde(default)]
        actor: Actor,
        /// Its hooks, in order.
        #[serde(default)]
        hooks: Vec<PlannedHook>,
        /// The gate that was passed.
        #[serde(skip_serializing_if = "Option::is_none")]
        gate: Option<Pass>,
        /// What stands in the sections that gates of the state it reaches want written anew.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        stood: Vec<Pass>,
    }

    /// A hook that a transition is going to run.
    PlannedHook {
        /// Its action.
        name: String,
        /// Its place among the transition's hooks, from 0.
        index: usize,
        /// The counter it changes, with the value decided for it: running the hook twice counts once.
        counter: Option<CounterValue>,
    }

    /// A counter and the value it gets.
    CounterValue {
        /// The counter.
        name: String,
        /// Its new value.
        value: u32,
    }

    /// What a section said: when a gate was passed, a state entered, an agent started.
    Pass {
        /// The section, such as `## Review`.
        section: String,
        /// A hash of the section's content.
        hash: String,
        /// The commit that the task's worktree stood on when a gate was passed, where it had one.
        #[serde(skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
    }
}

events! {
    /// The task is created, in the first line; its `set` has every value.
    "task.created" TaskCreated {
        /// The branch it was created for.
        branch: String,
        /// Who created it.
        actor: Actor,
        /// The task whose agent that was.
        #[serde(skip_serializing_if = "Option::is_none")]
        creator: Option<String>,
    },
    /// A transition is decided; its `set` has the new status. It is open until `status.changed`.
    "transition.started" TransitionStarted(Transition),
    /// A hook of the transition has run.
    "hook.ended" HookEnded {
        /// Its action.
        hook: String,
        /// Its place among the transition's hooks, from 0.
        index: usize,
        /// Why it failed.
        error: Option<String>,
    },
    /// The transition is complete, its hooks with it.
    "status.changed" StatusChanged {
        /// The state it left.
        from: String,
        /// The state it reached.
        to: String,
        /// Why, as in `transition.started`.
        #[serde(default)]
        cause: Cause,
        /// Who asked.
        #[serde(default)]
        actor: Actor,
        /// The gate that was passed.
        #[serde(skip_serializing_if = "Option::is_none")]
        gate: Option<Pass>,
    },
    /// The end of an agent leads to the transition that follows: by an exit rule, or by escalation after a last crash.
    "auto.advanced" AutoAdvanced {
        /// The state it was in.
        from: String,
        /// The state it goes to.
        to: String,
        /// Which rule, and what it saw.
        reason: String,
    },
    /// An agent is about to be started.
    "agent.spawned" AgentSpawned(Spawn),
    /// An agent is about to be started again in the same state, by a person or an exit rule.
    "agent.respawned" AgentRespawned(Spawn),
    /// An agent is gone.
    "agent.exited" AgentExited(Exited),
    /// A conversation could not be continued; the next agent begins a new one.
    "agent.not_resumed" AgentNotResumed {
        /// The agent that was to resume it.
        spawn: u32,
        /// The conversation.
        conversation: String,
        /// Why it could not.
        #[serde(default)]
        reason: String,
    },
    /// An agent ended without what its state asks for.
    "agent.crashed" AgentCrashed {
        /// Which one, when known.
        spawn: Option<u32>,
        /// The state it was in.
        status: String,
        /// The crashes since the last transition, this one included.
        crash_count: u32,
        /// What was missing.
        reason: String,
    },
    /// An agent is to be started again at this time; its `set` has `waiting_until`.
    "agent.waiting" AgentWaiting(Waiting),
    /// An agent has come to wait, has met a limit, goes on after that, was answered, or its conversation is over.
    "agent.activity" AgentActivity(Report),
    /// An agent that has waited for the end of a limit goes on; its `set` has no `waiting_until` any more.
    "agent.continued" AgentContinued {
        /// Which one.
        spawn: u32,
        /// Why.
        #[serde(default)]
        reason: String,
    },
    /// The engine starts an agent no more: it has done so too often, or it cannot.
    "agent.given_up" AgentGivenUp {
        /// The agent that ended.
        spawn: u32,
        /// Why.
        #[serde(default)]
        reason: String,
    },
    /// A person is about to end these agents: no exit rule is applied to their ends; its `set` has `stopped_at`, unless they are
    /// to start again.
    "agent.stopped" AgentStopped {
        /// Which ones; none when an agent was only waited for.
        spawns: Vec<u32>,
        /// Who asked.
        #[serde(default)]
        actor: Actor,
    },
    /// Something was not as the journal has it.
    "task.repaired" TaskRepaired {
        /// The field of the frontmatter, or `history.jsonl`.
        field: String,
        /// What was there.
        found: Option<String>,
        /// What is there now.
        kept: Option<String>,
    },
    /// The task's branch, which is neither here nor on the remote, is about to be made at this commit.
    "branch.made" BranchMade {
        /// Its name.
        branch: String,
        /// The commit that it starts from.
        commit: String,
    },
    /// A merge stands, and the default branch is about to move to it.
    "merge.started" MergeStarted {
        /// The branch it goes into.
        into: String,
        /// The commit that branch shall have.
        commit: String,
    },
    /// The branch was merged.
    "task.merged" TaskMerged {
        /// How.
        strategy: Strategy,
        /// The branch it went into.
        into: String,
        /// The commit that branch has now.
        commit: Option<String>,
    },
    /// The branch was merged from a state that does not lead there.
    "task.force_merged" TaskForceMerged {
        /// The state it was in.
        from: String,
        /// How.
        strategy: Strategy,
        /// The branch it went into.
        into: String,
        /// The commit that branch has now.
        commit: Option<String>,
    },
    /// A pull request was opened or found.
    "pr.created" PrCreated {
        /// Its address.
        url: String,
    },
    /// The pull request was merged.
    "pr.merged" PrMerged {
        /// Its address.
        url: String,
    },
    /// The pull request was closed without being merged.
    "pr.closed" PrClosed {
        /// Its address.
        url: String,
    },
    /// A program that `run_command` ran has ended; the first 500 and last 1 500 characters of what it wrote, and the file with
    /// more.
    "command.ended" CommandEnded {
        /// The program and its arguments.
        argv: Vec<String>,
        /// Its exit status, when it ended by itself.
        code: Option<i32>,
        /// The first and the last of what it wrote.
        #[serde(default)]
        output: String,
        /// The file in the task's folder with more of it, where there is more.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<String>,
    },
    /// Work that is on no remote was kept.
    "work.backed_up" WorkBackedUp {
        /// The ref.
        reference: String,
        /// The commit it points to.
        #[serde(default)]
        commit: String,
    },
    /// Something in the worktree, such as a repository, was moved there, whole: no ref could keep all of it.
    "work.set_aside" WorkSetAside {
        /// Where it is now.
        folder: String,
    },
    /// The task was moved to the trash.
    "task.deleted" TaskDeleted {
        /// Who asked.
        #[serde(default)]
        actor: Actor,
    },
    /// The task came back from the trash.
    "task.restored" TaskRestored {
        /// Who asked.
        #[serde(default)]
        actor: Actor,
    },
    /// The task goes on under another definition of its workflow; its `set` has that definition.
    "workflow.changed" WorkflowChanged {
        /// The workflow.
        workflow: String,
        /// The hash of the definition before.
        from: String,
        /// The hash of the one that it has now.
        to: String,
        /// The command that says what that means for tasks.
        #[serde(default)]
        compare: String,
    },
    /// A person moved the task past its workflow; that closes an open transition.
    "task.migrated" TaskMigrated {
        /// The state it was in.
        from: String,
        /// The state it is in now.
        to: String,
        /// The workflow that it follows from now on.
        workflow: String,
        /// Who asked.
        #[serde(default)]
        actor: Actor,
        /// The hooks of the open transition that had not ended, and never will.
        #[serde(default)]
        dropped_hooks: Vec<String>,
    },
}

impl Actor {
    /// Who that is to the rules; nobody for a word of a newer version.
    pub fn known(&self) -> Option<orange_core::Actor> {
        orange_core::Actor::from_name(self.as_str())
    }
}

impl From<orange_core::Actor> for Actor {
    fn from(actor: orange_core::Actor) -> Actor {
        Actor::from(actor.as_str())
    }
}

impl From<orange_core::Permissions> for Permissions {
    fn from(permissions: orange_core::Permissions) -> Permissions {
        match permissions {
            orange_core::Permissions::Full => Permissions::Full,
            orange_core::Permissions::Reduced => Permissions::Reduced,
        }
    }
}

/// What an agent has taken, as far as its harness tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Spent {
    /// How many tokens its model has read, cached or not, and written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// What it has cost, in millionths of a dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
}

impl Spent {
    /// Both together; what only one of them knows is known.
    #[must_use]
    pub fn and(self, other: Spent) -> Spent {
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        };
        Spent { tokens: sum(self.tokens, other.tokens), cost: sum(self.cost, other.cost) }
    }
}

impl Exited {
    /// What it has taken.
    pub fn spent(&self) -> Spent {
        Spent { tokens: self.tokens, cost: self.cost }
    }
}

impl Pass {
    /// What stands in a section, without where the worktree stands.
    pub fn of(seen: Seen<'_>) -> Pass {
        Pass { section: seen.section.to_owned(), hash: Pass::hash_of(seen.fingerprint), commit: None }
    }

    /// What stands for content with this fingerprint.
    pub fn hash_of(fingerprint: u64) -> String {
        format!("{fingerprint:016x}")
    }
}

impl Event {
    /// Whether whoever was waited for is not waited for any more: it is there, the task has moved on, or nobody will come.
    pub fn ends_waiting(&self) -> bool {
        matches!(
            self,
            Event::AgentSpawned(_)
                | Event::AgentRespawned(_)
                | Event::AgentGivenUp { .. }
                | Event::AgentStopped { .. }
                | Event::AgentContinued { .. }
                | Event::TransitionStarted(_)
                | Event::TaskMigrated { .. }
        )
    }

    /// Whether a task that a person had stopped goes on with this.
    pub fn ends_stop(&self) -> bool {
        matches!(
            self,
            Event::AgentSpawned(_)
                | Event::AgentRespawned(_)
                | Event::TransitionStarted(_)
                | Event::TaskMigrated { .. }
        )
    }
}

impl From<Event> for (Event, Set) {
    fn from(event: Event) -> (Event, Set) {
        (event, Set::new())
    }
}

/// For serde.
fn is_false(value: &bool) -> bool {
    !value
}
