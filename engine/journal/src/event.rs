//! What the journal says: typed events, each with the engine-owned values that it changed.

mod read;

use orange_core::Seen;
use serde::Serialize;
use serde_json::Value;

use crate::set::Set;

/// One line of `history.jsonl`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Record {
    /// Its number: from 1, without gaps as long as nobody removes lines by hand.
    pub seq: u64,
    /// When it was written, RFC 3339 UTC.
    pub timestamp: String,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
    /// The engine-owned values that it changed, with their new values.
    #[serde(skip_serializing_if = "Set::is_empty")]
    pub set: Set,
}

impl Record {
    /// What its line says.
    pub fn to_json(&self) -> Value {
        // A line is read back: another serializer for each event would weigh more than the time it saves is worth.
        let line = serde_json::to_vec(self).unwrap_or_default();
        serde_json::from_slice(&line).unwrap_or_default()
    }
}

/// What can happen to a task. Fields and types that a newer version wrote are passed over.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(tag = "type")]
pub enum Event {
    /// The task came to be; its `set` has every engine-owned value.
    #[serde(rename = "task.created")]
    TaskCreated {
        /// The branch it was created for.
        branch: String,
        /// Who created it.
        actor: String,
        /// The task whose agent that was.
        #[serde(skip_serializing_if = "Option::is_none")]
        creator: Option<String>,
    },
    /// An agent was started.
    #[serde(rename = "agent.spawned")]
    AgentSpawned(Spawn),
    /// An agent was started again in the same state, by a person or an exit rule.
    #[serde(rename = "agent.respawned")]
    AgentRespawned(Spawn),
    /// An agent is gone.
    #[serde(rename = "agent.exited")]
    AgentExited {
        /// Which one.
        spawn: u32,
        /// Its exit status, when it ended by itself.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// How it is known: `exited`, `killed`, `its pane is gone`, ….
        reason: String,
        /// How many seconds it lived, where its wrapper says so.
        #[serde(skip_serializing_if = "Option::is_none")]
        duration: Option<u64>,
        /// The last lines of its pane, where its wrapper could read them.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        last_lines: Vec<String>,
        /// What is kept of it, and which conversation it had.
        #[serde(flatten)]
        trace: Trace,
    },
    /// A conversation could not be resumed; the next agent begins a new one.
    #[serde(rename = "agent.not_resumed")]
    AgentNotResumed {
        /// The agent that was to resume it.
        spawn: u32,
        /// The conversation.
        conversation: String,
        /// Why it could not.
        reason: String,
    },
    /// An agent ended without what its state asks for.
    #[serde(rename = "agent.crashed")]
    AgentCrashed {
        /// Which one, when known.
        spawn: Option<u32>,
        /// The state it was in.
        status: String,
        /// The crashes since the last transition, this one included.
        crash_count: u32,
        /// What was missing.
        reason: String,
    },
    /// An agent is to be started again after a while; its `set` has when.
    #[serde(rename = "agent.waiting")]
    AgentWaiting(Waiting),
    /// The engine starts the agent of the state no more: it has done so too often, or it cannot.
    #[serde(rename = "agent.given_up")]
    AgentGivenUp {
        /// The agent that ended.
        spawn: u32,
        /// Why.
        reason: String,
    },
    /// A person ends these agents: no exit rule is applied to their ends. They are about to be killed.
    #[serde(rename = "agent.stopped")]
    AgentStopped {
        /// Which ones; none when an agent was only waited for.
        spawns: Vec<u32>,
        /// Who asked.
        actor: String,
    },
    /// What an agent does by its harness: it waits, has met a limit, goes on, has ended.
    #[serde(rename = "agent.activity")]
    AgentActivity(Report),
    /// An agent that has waited for the end of a limit goes on, by itself or because it was told to.
    #[serde(rename = "agent.continued")]
    AgentContinued {
        /// Which one.
        spawn: u32,
        /// Why.
        reason: String,
    },
    /// A transition was decided and its status is about to be written; open until `status.changed`.
    #[serde(rename = "transition.started")]
    TransitionStarted(Transition),
    /// A hook of the open transition was run.
    #[serde(rename = "hook.ended")]
    HookEnded {
        /// Its action.
        hook: String,
        /// Its place among the transition's hooks, from 0.
        index: usize,
        /// Why it failed.
        error: Option<String>,
    },
    /// The open transition is done, its hooks with it.
    #[serde(rename = "status.changed")]
    StatusChanged {
        /// The state it left.
        from: String,
        /// The state it reached.
        to: String,
        /// Why, as in `transition.started`.
        cause: String,
        /// Who asked.
        actor: String,
        /// The gate that was passed.
        #[serde(skip_serializing_if = "Option::is_none")]
        gate: Option<Pass>,
    },
    /// An exit rule chose the next state.
    #[serde(rename = "auto.advanced")]
    AutoAdvanced {
        /// The state it was in.
        from: String,
        /// The state it goes to.
        to: String,
        /// Which rule, and what it saw.
        reason: String,
    },
    /// Something engine-owned was not as the journal has it, and was set right.
    #[serde(rename = "task.repaired")]
    TaskRepaired {
        /// The field of the frontmatter, or `history.jsonl`.
        field: String,
        /// What was there.
        found: Option<String>,
        /// What is there now.
        kept: Option<String>,
    },
    /// The task's branch, which is neither here nor on the remote, is about to be made.
    #[serde(rename = "branch.made")]
    BranchMade {
        /// Its name.
        branch: String,
        /// The commit that it starts from.
        commit: String,
    },
    /// A merge stands and the default branch is about to move to it.
    #[serde(rename = "merge.started")]
    MergeStarted {
        /// The branch it goes into.
        into: String,
        /// The commit that branch shall have.
        commit: String,
    },
    /// The branch was merged.
    #[serde(rename = "task.merged")]
    TaskMerged {
        /// `ff`, `merge`, or `pr`.
        strategy: String,
        /// The branch it went into.
        into: String,
        /// The commit that branch has now.
        commit: Option<String>,
    },
    /// The branch was merged from a state that does not lead there.
    #[serde(rename = "task.force_merged")]
    TaskForceMerged {
        /// The state it was in.
        from: String,
        /// `ff`, `merge`, or `pr`.
        strategy: String,
        /// The branch it went into.
        into: String,
        /// The commit that branch has now.
        commit: Option<String>,
    },
    /// A pull request was opened.
    #[serde(rename = "pr.created")]
    PrCreated {
        /// Its address.
        url: String,
    },
    /// The pull request was merged.
    #[serde(rename = "pr.merged")]
    PrMerged {
        /// Its address.
        url: String,
    },
    /// The pull request was closed without being merged.
    #[serde(rename = "pr.closed")]
    PrClosed {
        /// Its address.
        url: String,
    },
    /// The workflow has another definition than the one that the task was pinned to; it goes on under this one.
    #[serde(rename = "workflow.changed")]
    WorkflowChanged {
        /// The workflow.
        workflow: String,
        /// The hash of the definition before.
        from: String,
        /// The hash of the one that it has now.
        to: String,
        /// The command that says what that means for tasks.
        compare: String,
    },
    /// A person moved the task past its workflow. A transition that was open is closed by it.
    #[serde(rename = "task.migrated")]
    TaskMigrated {
        /// The state it was in.
        from: String,
        /// The state it is in now.
        to: String,
        /// The workflow that it follows from now on.
        workflow: String,
        /// Who asked.
        actor: String,
        /// The hooks of the open transition that had not ended, and never will.
        dropped_hooks: Vec<String>,
    },
    /// A program that a hook ran has ended.
    #[serde(rename = "command.ended")]
    CommandEnded {
        /// The program and its arguments.
        argv: Vec<String>,
        /// Its exit status, when it ended by itself.
        code: Option<i32>,
        /// The first and the last of what it wrote.
        output: String,
        /// The file in the task's folder with more of it, where there is more.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<String>,
    },
    /// Work that would have been lost was kept under a ref.
    #[serde(rename = "work.backed_up")]
    WorkBackedUp {
        /// The ref.
        reference: String,
        /// The commit it points to.
        commit: String,
    },
    /// Something in the worktree, such as a repository, was moved away, whole: no ref could keep all of it.
    #[serde(rename = "work.set_aside")]
    WorkSetAside {
        /// Where it is now.
        folder: String,
    },
    /// The task was moved to the trash.
    #[serde(rename = "task.deleted")]
    TaskDeleted {
        /// Who asked.
        actor: String,
    },
    /// The task came back from the trash.
    #[serde(rename = "task.restored")]
    TaskRestored {
        /// Who asked.
        actor: String,
    },
    /// What a newer version wrote.
    #[default]
    #[serde(rename = "unknown")]
    Unknown,
}

/// A started agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spawn {
    /// Its number within the task, from 1.
    pub spawn: u32,
    /// `worker` or `reviewer`.
    pub actor: String,
    /// The prompt it got, by name.
    pub prompt: String,
    /// The harness it runs in.
    pub harness: String,
    /// The tmux session.
    pub session: String,
    /// The tmux window.
    pub window: String,
    /// What it may do without asking: `full` or `reduced`.
    pub permissions: String,
    /// The harness's own id of its conversation, where that is known before it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// Whether it continues that conversation.
    #[serde(skip_serializing_if = "is_false")]
    pub resumed: bool,
    /// Why it does not continue the conversation of the agent before, where it should have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_resumed: Option<String>,
    /// What stands in the sections that are to have a verdict: it is not this agent's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stood: Vec<Pass>,
    /// The call for attention that a person answers with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
}

/// What an agent that has ended leaves to be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Trace {
    /// The harness's own id of its conversation, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The file in `transcripts/` with what it did, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
    /// Why there is none, where it could not be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_kept: Option<String>,
    /// What it has taken, where its harness tells.
    #[serde(flatten)]
    pub spent: Spent,
}

/// What an agent has taken, as far as its harness tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
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

/// What an agent does, as its harness reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Its number.
    pub spawn: u32,
    /// `busy`, `waiting`, `limit`, `answered`, `ended`, ….
    pub state: String,
    /// What it waits for, or what was answered.
    pub reason: String,
    /// When a limit is over, RFC 3339 UTC, where the harness says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The request that can be answered, or was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The harness's name for the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The harness's own record of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
    /// How many tokens the conversation has taken so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// What it has cost so far, in millionths of a dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
}

/// An agent that has ended and is to be started again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Waiting {
    /// Its number.
    pub spawn: u32,
    /// When, RFC 3339 UTC.
    pub until: String,
    /// How many seconds that was from then.
    pub after: u32,
    /// What is waited for.
    pub reason: String,
}

/// A transition that was decided: enough to finish it after a kill.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Transition {
    /// The state it leaves.
    pub from: String,
    /// The state it reaches.
    pub to: String,
    /// Its index in the machine, when it is a declared one.
    pub transition: Option<usize>,
    /// `request`, `auto`, `escalation`, `forced`, ….
    pub cause: String,
    /// Who asked.
    pub actor: String,
    /// Its hooks, in order.
    pub hooks: Vec<PlannedHook>,
    /// The gate that was passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<Pass>,
    /// What stands in the sections that gates of the state it reaches want written anew.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stood: Vec<Pass>,
}

/// A hook that a transition is going to run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlannedHook {
    /// Its action.
    pub name: String,
    /// Its place among the transition's hooks, from 0.
    pub index: usize,
    /// The counter it changes, with the value decided for it: running the hook twice counts once.
    pub counter: Option<CounterValue>,
}

/// A counter and the value it gets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CounterValue {
    /// The counter.
    pub name: String,
    /// Its new value.
    pub value: u32,
}

/// What a section said: when a gate was passed, a state entered, an agent started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pass {
    /// The section, such as `## Review`.
    pub section: String,
    /// A hash of the section's content.
    pub hash: String,
    /// The commit that the task's worktree stood on when a gate was passed, where it had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
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

fn is_false(value: &bool) -> bool {
    !value
}
