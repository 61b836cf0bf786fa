//! The typed events of the journal, each with the engine-owned values that it changed.

mod convert;
pub(crate) mod declare;
mod ends;
mod objects;
#[cfg(test)]
pub(crate) mod sample;
mod spent;
mod words;

use std::collections::BTreeMap;

use orange_core::budget::Budget;
use orange_core::plan::Value;

use self::declare::{EventFields, events, take};

pub use self::declare::EventType;
pub use self::objects::{
    AcceptedMerge, Answer, AskedForMerge, BranchSync, ChecksSeen, CounterValue, EndedAttempt, Exited,
    MergeUndo, Pass, PlannedHook, PostedAnswer, Preparation, Question, RefusedMerge, Report, Sandbox, Spawn,
    ThreadAnswer, Transition, Waiting, WorktreeState,
};
pub use self::spent::Spent;
pub use self::words::{
    Activity, Actor, Cause, Checks, Ending, GitAccess, GoesOn, Level, Network, PauseReason, Permissions,
    StepEnd, Strategy, Via, WorktreeAccess,
};

events! {
    /// The task is created, in the first line; its `set` has every value.
    "task.created" TaskCreated {
        /// The task's branch.
        branch: String,
        /// Actor that created it.
        actor: Actor,
        /// The task whose agent created it.
        #[serde(skip_serializing_if = "Option::is_none")]
        creator: Option<String>,
    },
    /// The mission is created, in the first line; its `set` has every value.
    "mission.created" MissionCreated {
        /// The mission's branch.
        branch: String,
        /// Actor that started it.
        actor: Actor,
        /// The task or mission whose agent started it.
        #[serde(skip_serializing_if = "Option::is_none")]
        creator: Option<String>,
        /// The number of that agent.
        #[serde(skip_serializing_if = "Option::is_none")]
        creator_spawn: Option<u32>,
        /// Prompt of the mission, in its caller's words.
        #[serde(default)]
        prompt: String,
        /// The hash of the bytes of its `plan.json`.
        plan_hash: String,
        /// `step` or `auto`.
        execution: String,
        /// Policy of its pauses: `never`, `on-warning`, `on-error` or `always`.
        intervene: String,
        /// True if the session that started it gets notices.
        notices: bool,
        /// Attempts of its steps that were made elsewhere before; its agents count them, too.
        #[serde(default)]
        attempts_before: u32,
        /// The values of its inputs, by name.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        inputs: BTreeMap<String, Value>,
    },
    /// A transition is decided; its `set` has the new status. It is open until `status.changed`.
    "transition.started" TransitionStarted(Transition),
    /// A hook of the transition has run.
    "hook.ended" HookEnded {
        /// Action of the hook.
        hook: String,
        /// Its index among the transition's hooks, from 0.
        index: usize,
        /// Reason for its failure.
        error: Option<String>,
        /// True if it has not run, since a budget refuses the start of its agent: it waits until there is more.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        held: bool,
    },
    /// A hook of the transition has failed, and it waits with those after it until somebody asks for them; its `set` has
    /// `hooks_wait`.
    "hooks.waiting" HooksWaiting {
        /// The state that the transition left.
        from: String,
        /// The state that it entered.
        to: String,
        /// The action of the hook that has failed.
        hook: String,
        /// Its index among the transition's hooks, from 0.
        index: usize,
        /// The actions of the hooks that wait after it, in order.
        #[serde(default)]
        left: Vec<String>,
    },
    /// The hooks that waited run again from the one that had failed; the transition is open again.
    "hooks.retried" HooksRetried {
        /// The state that the transition left.
        from: String,
        /// The state that it entered.
        to: String,
        /// Actor that asked.
        #[serde(default)]
        actor: Actor,
        /// The call for attention about the failed hook, which it answers.
        #[serde(skip_serializing_if = "Option::is_none")]
        answers: Option<String>,
    },
    /// The transition and its hooks are complete.
    "status.changed" StatusChanged {
        /// The state it left.
        from: String,
        /// The state it entered.
        to: String,
        /// Cause, as in `transition.started`.
        #[serde(default)]
        cause: Cause,
        /// Actor that asked.
        #[serde(default)]
        actor: Actor,
    },
    /// The end of an agent leads to the transition that follows, by an exit rule or by escalation.
    "auto.advanced" AutoAdvanced {
        /// The state it was in.
        from: String,
        /// The state it goes to.
        to: String,
        /// The rule that applied, and what it found.
        reason: String,
    },
    /// An agent is about to be started.
    "agent.spawned" AgentSpawned(Spawn),
    /// An agent is about to be started again in the same state, by a person or an exit rule.
    "agent.respawned" AgentRespawned(Spawn),
    /// An agent has ended.
    "agent.exited" AgentExited(Exited),
    /// An agent could not continue a conversation; the next agent begins a new one.
    "agent.not_resumed" AgentNotResumed {
        /// The agent that was to resume it.
        spawn: u32,
        /// The conversation.
        conversation: String,
        /// Evidence of its end.
        #[serde(default)]
        reason: Ending,
    },
    /// An agent ended without the result that its state requires.
    "agent.crashed" AgentCrashed {
        /// Number of the agent, when known.
        spawn: Option<u32>,
        /// The state of the task.
        status: String,
        /// The crashes since the last transition, this one included.
        crash_count: u32,
        /// Reason for which it counts as a crash.
        reason: String,
    },
    /// An agent is to be started again later; its `set` has `waiting_until`.
    "agent.waiting" AgentWaiting(Waiting),
    /// An agent waits, has met a limit, goes on after that, was answered, or has ended its conversation.
    "agent.activity" AgentActivity(Report),
    /// An agent goes on after the end of a limit; its `set` clears `waiting_until`.
    "agent.continued" AgentContinued {
        /// Number of the agent.
        spawn: u32,
        /// Reason for which it goes on.
        #[serde(default)]
        reason: GoesOn,
    },
    /// The engine no longer starts an agent: it has done so too often, or it cannot.
    "agent.given_up" AgentGivenUp {
        /// The agent that ended.
        spawn: u32,
        /// Reason for which it is not started.
        #[serde(default)]
        reason: String,
    },
    /// A person, or the engine because of a budget, is about to end these agents, and no exit rule judges their ends; its `set` has
    /// `stopped_at`, unless they start again.
    "agent.stopped" AgentStopped {
        /// Their numbers; empty when the task only waited for an agent.
        spawns: Vec<u32>,
        /// Actor that asked.
        #[serde(default)]
        actor: Actor,
    },
    /// A limit of the budget of the task, or of its stay in a state, is reached: no agent starts, and those that are alive end at the end of their turns.
    "budget.reached" BudgetReached {
        /// Subject of the budget: `task`, `mission`, or `state` for the stay in the present one.
        #[serde(default)]
        of: String,
        /// Kind of the limit: `cost`, `tokens`, `fresh_tokens`, `time` or `starts`.
        #[serde(default)]
        kind: String,
        /// The limit: millionths of a dollar, tokens, seconds or starts.
        #[serde(default)]
        limit: u64,
        /// The amount that was spent then.
        #[serde(default)]
        spent: u64,
        /// Reason for which the cost is unknown, if that is why.
        #[serde(skip_serializing_if = "Option::is_none")]
        unpriced: Option<String>,
    },
    /// The task, or its stay in a state, has this budget of its own from now on.
    "budget.changed" BudgetChanged {
        /// Subject of the budget, as in `budget.reached`; the task where nothing is said.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        of: String,
        /// Limits by their kinds: millionths of a dollar, tokens, seconds or starts.
        #[serde(default)]
        budget: Budget,
        /// Actor that set it.
        #[serde(default)]
        actor: Actor,
    },
    /// A person has sent a message to an agent.
    "agent.sent" AgentSent {
        /// The number of the agent.
        spawn: u32,
        /// Actor that sent it.
        #[serde(default)]
        actor: Actor,
        /// The first line of the message, cut to 200 characters.
        #[serde(default)]
        text: String,
        /// The length of the message in bytes.
        #[serde(default)]
        bytes: u64,
        /// Reason for which the agent has not read it, if it has not.
        #[serde(skip_serializing_if = "Option::is_none")]
        undelivered: Option<String>,
    },
    /// A file differed from the journal, and the engine repaired it.
    "task.repaired" TaskRepaired {
        /// The field of the frontmatter, or `history.jsonl`.
        field: String,
        /// The value before.
        found: Option<String>,
        /// The value now.
        kept: Option<String>,
    },
    /// The task's branch exists neither here nor on the remote, and is about to be created at this commit.
    "branch.made" BranchMade {
        /// Name of the branch.
        branch: String,
        /// The commit that it starts from.
        commit: String,
    },
    /// A program that a gate asks about the result of a merge has ended; no branch has moved.
    "merge.checked" MergeChecked {
        /// The program and its arguments.
        argv: Vec<String>,
        /// The commit that the merge would make.
        commit: String,
        /// The files of that commit.
        tree: String,
        /// Its exit status, when it ended by itself.
        code: Option<i32>,
        /// The first and the last characters of its output.
        #[serde(default)]
        output: String,
        /// The file in the task's folder with more of the output, if there is more.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// Reason for its failure.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// A merge is complete, and the target branch is about to move to it.
    "merge.started" MergeStarted {
        /// The target branch.
        into: String,
        /// The new commit of that branch.
        commit: String,
        /// Its commit before, here.
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<String>,
        /// Its commit before, here or on the remote: the newer one.
        #[serde(skip_serializing_if = "Option::is_none")]
        onto: Option<String>,
        /// The commit of the task's branch.
        #[serde(skip_serializing_if = "Option::is_none")]
        source: Option<String>,
        /// Strategy of the merge.
        #[serde(skip_serializing_if = "Option::is_none")]
        strategy: Option<Strategy>,
    },
    /// A merge is about to be taken back; `task.reopened` follows.
    "merge.undoing" MergeUndoing(MergeUndo),
    /// The task's branch is about to move to a commit that has everything of its base.
    "sync.started" SyncStarted(BranchSync),
    /// The task's branch has everything of its base.
    "work.synced" WorkSynced(BranchSync),
    /// The branch was merged.
    "task.merged" TaskMerged {
        /// Strategy of the merge.
        strategy: Strategy,
        /// The target branch.
        into: String,
        /// The new commit of that branch.
        commit: Option<String>,
        /// True if the task goes on.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        kept: bool,
    },
    /// The branch was merged from a state that does not lead to the merged one.
    "task.force_merged" TaskForceMerged {
        /// The state it was in.
        from: String,
        /// Strategy of the merge.
        strategy: Strategy,
        /// The target branch.
        into: String,
        /// The new commit of that branch.
        commit: Option<String>,
    },
    /// A pull request was opened or found.
    "pr.created" PrCreated {
        /// Address of the pull request.
        url: String,
    },
    /// The pull request was merged.
    "pr.merged" PrMerged {
        /// Address of the pull request.
        url: String,
    },
    /// The pull request was closed without being merged.
    "pr.closed" PrClosed {
        /// Address of the pull request.
        url: String,
    },
    /// The forge is about to be asked to merge the pull request.
    "pr.merge_asked" PrMergeAsked(AskedForMerge),
    /// The forge merges the pull request, or has it in its queue.
    "pr.merge_accepted" PrMergeAccepted(AcceptedMerge),
    /// The forge does not merge the pull request.
    "pr.merge_refused" PrMergeRefused(RefusedMerge),
    /// The checks of the pull request have ended, or begin again, or are those of another commit.
    "pr.checks" PrChecks(ChecksSeen),
    /// The failed checks of the pull request are to run again before a watch rule about them applies; the forge is asked next.
    "pr.rerun" PrRerun {
        /// The commit that they examine.
        commit: String,
        /// Number of the request for this commit, from 1.
        number: u32,
        /// The most requests that the rule allows for a commit.
        most: u32,
        /// The runs that have failed.
        #[serde(default)]
        failed: Vec<String>,
    },
    /// The forge has refused to run the checks again: the watch rule applies without that.
    "pr.not_rerun" PrNotRerun {
        /// The commit that they examine.
        commit: String,
        /// Reason of the forge.
        error: String,
    },
    /// A fact that the workflow watches holds, and its rule waits for an agent that is at work; without a fact, it no longer waits.
    "watch.waits" WatchWaits {
        /// Kind of the fact.
        #[serde(skip_serializing_if = "Option::is_none")]
        cause: Option<String>,
        /// Word of the fact, such as `red-early`.
        #[serde(skip_serializing_if = "Option::is_none")]
        value: Option<String>,
    },
    /// A fact that the workflow watches leads to the transition that follows.
    "watch.taken" WatchTaken {
        /// Kind of the fact: `pr.checks`, `pr.review`, `pr.threads`, `pr.mergeable`, `base` or `children`.
        cause: String,
        /// Its word: `red`, or `required-red-early`.
        value: String,
        /// The commit, or the threads with their newest comments, on which the rule acts.
        #[serde(default)]
        items: Vec<String>,
        /// The number of the feedback that was written down for it.
        #[serde(skip_serializing_if = "Option::is_none")]
        feedback: Option<u32>,
    },
    /// An agent or a person answers a thread of the pull request; the next push posts it.
    "feedback.answered" FeedbackAnswered(ThreadAnswer),
    /// An answer to a thread of the pull request was posted, or its thread is no longer open.
    "feedback.posted" FeedbackPosted(PostedAnswer),
    /// A gate asks a program, which begins to run in the worktree.
    "gate.asked" GateAsked(Question),
    /// The program that a gate has asked has ended, or was stopped.
    "gate.answered" GateAnswered(Answer),
    /// A program that `run_command` ran has ended; the first 500 and last 1 500 characters of its output, and the file with
    /// more.
    "command.ended" CommandEnded {
        /// The program and its arguments.
        argv: Vec<String>,
        /// Its exit status, when it ended by itself.
        code: Option<i32>,
        /// The first and the last characters of its output.
        #[serde(default)]
        output: String,
        /// The file in the task's folder with more of the output, if there is more.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<String>,
    },
    /// A worktree is about to get files of the repository, and to be prepared by programs.
    "worktree.preparing" WorktreePreparing(Preparation),
    /// A program that prepares a worktree has ended; the first 500 and last 1 500 characters of its output, and the file with
    /// more.
    "setup.ended" SetupEnded {
        /// The program and its arguments.
        argv: Vec<String>,
        /// Its exit status, when it ended by itself.
        code: Option<i32>,
        /// The first and the last characters of its output.
        #[serde(default)]
        output: String,
        /// The file in the task's folder with more of the output, if there is more.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// Reason for its failure.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// The worktree has everything that it was to get.
    "worktree.prepared" WorktreePrepared {
        /// Name of the worktree.
        workspace: String,
        /// Files that it did not get, each with why.
        #[serde(default)]
        left_out: Vec<String>,
    },
    /// Everything that the worktree got is removed from it.
    "worktree.cleared" WorktreeCleared {
        /// Name of the worktree.
        workspace: String,
    },
    /// The worktree of a task that waits for a person is about to be reclaimed for another task, after a backup.
    "worktree.reclaiming" WorktreeReclaiming {
        /// Name of the worktree.
        workspace: String,
        /// Commit at which it stood.
        head: String,
    },
    /// The worktree was reclaimed: by its `set`, the task holds none.
    "worktree.reclaimed" WorktreeReclaimed {
        /// Name of the worktree.
        workspace: String,
    },
    /// The reclaimed worktree is needed, and none is free.
    "worktree.requested" WorktreeRequested {
        /// Actor that asked.
        #[serde(default)]
        actor: Actor,
    },
    /// The task gets the worktree that its `set` names, and its work is about to be restored there.
    "worktree.restoring" WorktreeRestoring {
        /// Name of the worktree.
        workspace: String,
    },
    /// The work is restored.
    "worktree.restored" WorktreeRestored {
        /// Name of the worktree.
        workspace: String,
    },
    /// Work that is on no remote was backed up.
    "work.backed_up" WorkBackedUp {
        /// Name of the ref.
        reference: String,
        /// The commit it points to.
        #[serde(default)]
        commit: String,
    },
    /// A part of the worktree, such as a nested repository, was moved to a folder: no ref could hold all of it.
    "work.set_aside" WorkSetAside {
        /// Path of the folder.
        folder: String,
    },
    /// The task or mission was moved to the trash.
    "task.deleted" TaskDeleted {
        /// Actor that asked.
        #[serde(default)]
        actor: Actor,
    },
    /// The task or mission was restored from the trash.
    "task.restored" TaskRestored {
        /// Actor that asked.
        #[serde(default)]
        actor: Actor,
    },
    /// A person has taken a cancellation back; its `set` has the status before that, and `stopped_at`.
    "task.reopened" TaskReopened {
        /// The state of cancelled tasks.
        from: String,
        /// The state now.
        to: String,
        /// True if the task is to get a worktree again.
        #[serde(default)]
        worktree: bool,
        /// The commit with the uncommitted work that it then gets back.
        #[serde(skip_serializing_if = "Option::is_none")]
        backup: Option<String>,
        /// Actor that asked.
        #[serde(default)]
        actor: Actor,
    },
    /// A task that was reopened has its worktree again, with what was not committed.
    "work.restored" WorkRestored {
        /// The commit of the backup, if there was uncommitted work.
        #[serde(skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
    },
    /// The task follows another definition of its workflow; its `set` has that definition.
    "workflow.changed" WorkflowChanged {
        /// The workflow.
        workflow: String,
        /// The hash of the definition before.
        from: String,
        /// The hash of the definition now.
        to: String,
        /// The command that compares both.
        #[serde(default)]
        compare: String,
    },
    /// A person moved the task without a transition of its workflow; that closes an open transition.
    "task.migrated" TaskMigrated {
        /// The state before.
        from: String,
        /// The state now.
        to: String,
        /// The workflow now.
        workflow: String,
        /// Actor that asked.
        #[serde(default)]
        actor: Actor,
        /// The hooks of the open transition that had not ended and will not run.
        #[serde(default)]
        dropped_hooks: Vec<String>,
    },
    /// The mission has a worktree and begins.
    "mission.started" MissionStarted {
        /// Its worktree.
        workspace: String,
    },
    /// The agent of an attempt at a step is about to be started.
    "step.started" StepStarted {
        /// Id of the step.
        step: String,
        /// The number of the attempt.
        attempt: u32,
        /// The machine that it works on.
        #[serde(default)]
        worker: String,
        /// The number of its agent within the mission.
        #[serde(default)]
        spawn: u32,
        /// State of the worktree, of a step that only reads.
        #[serde(skip_serializing_if = "Option::is_none")]
        found: Option<WorktreeState>,
    },
    /// The worktree is not as a step has found it that only reads, and only such steps have worked there.
    "worktree.changed" WorktreeChanged {
        /// The files that differ.
        files: Vec<String>,
        /// State of the worktree.
        found: WorktreeState,
    },
    /// The question of a step is put to its people, or shows another commit now.
    "step.asked" StepAsked {
        /// Id of the step.
        step: String,
        /// The number of the attempt.
        attempt: u32,
        /// The commit of the mission's branch that it shows.
        #[serde(skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
    },
    /// An attempt at a step has ended.
    "step.ended" StepEnded(EndedAttempt),
    /// The mission waits for a person.
    "mission.paused" MissionPaused {
        /// The number of the pause within the mission, from 1.
        number: u32,
        /// Reason for the pause.
        #[serde(default)]
        reason: PauseReason,
        /// The step that it is about.
        #[serde(skip_serializing_if = "Option::is_none")]
        step: Option<String>,
        /// Obstacle that prevents the mission from going on.
        #[serde(skip_serializing_if = "Option::is_none")]
        obstacle: Option<String>,
    },
    /// A person has answered a pause.
    "mission.continued" MissionContinued {
        /// The number of the pause.
        pause: u32,
        /// True if the failure was taken as it is.
        accept_failure: bool,
        /// The policy from now on, if it was changed.
        #[serde(skip_serializing_if = "Option::is_none")]
        execution: Option<String>,
        /// The policy from now on, if it was changed.
        #[serde(skip_serializing_if = "Option::is_none")]
        intervene: Option<String>,
        /// Numbers of the older pauses that still wait for an answer. Versions that kept the newest pause alone closed them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        still_open: Vec<u32>,
        /// Actor that asked.
        #[serde(default)]
        actor: Actor,
        /// Path by which it was answered: `phone` for a button of a notification; absent for a command.
        #[serde(skip_serializing_if = "Option::is_none")]
        via: Option<Via>,
    },
    /// A mission that has failed runs again.
    "mission.retried" MissionRetried {
        /// From which step; every failed one if it is absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        step: Option<String>,
        /// Actor that asked.
        #[serde(default)]
        actor: Actor,
    },
    /// A person has ended the mission.
    "mission.cancelled" MissionCancelled {
        /// Actor that asked.
        #[serde(default)]
        actor: Actor,
    },
    /// A message about what has happened to the mission, for its starter and for readers.
    "mission.notice" MissionNotice {
        /// The number of the last event that it is about.
        through: u64,
        /// Text of the message.
        text: String,
        /// The task or mission whose agent got it.
        #[serde(skip_serializing_if = "Option::is_none")]
        to: Option<String>,
        /// Reason for which that agent did not get it.
        #[serde(skip_serializing_if = "Option::is_none")]
        undelivered: Option<String>,
    },
    /// The mission has ended.
    "mission.ended" MissionEnded {
        /// Its last status.
        status: String,
    },
}
