//! The objects that are parts of events.

use std::collections::BTreeMap;

use orange_core::plan::Value;

use crate::event::declare::{objects, take};
use crate::event::words::{
    Activity, Actor, Cause, Checks, Ending, GitAccess, Level, Network, Permissions, StepEnd, Strategy, Via,
    WorktreeAccess,
};

objects! {
    /// The undo of a merge.
    MergeUndo {
        /// The target branch.
        into: String,
        /// The commit of that branch after the merge.
        merged: String,
        /// The commit of that branch before it got the task's branch for the first time.
        onto: String,
        /// The commit of the task's branch then.
        source: String,
        /// The commit of the target branch now.
        from: String,
        /// Its new commit; null if it has nothing of the merge.
        #[serde(skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
        /// True if that is a commit of its own, and not the one before the merge.
        #[serde(skip_serializing_if = "is_false")]
        reverts: bool,
    }

    /// An answer to a thread of the pull request.
    ThreadAnswer {
        /// The round of the feedback that has the thread.
        round: u32,
        /// The forge's id of the thread.
        thread: String,
        /// The answer, as it was given.
        text: String,
        /// True if it resolves the thread.
        #[serde(skip_serializing_if = "is_false")]
        resolve: bool,
    }

    /// The end of an answer to a thread of the pull request.
    PostedAnswer {
        /// The round of the feedback that has the thread.
        round: u32,
        /// The forge's id of the thread.
        thread: String,
        /// True if it is there.
        is_posted: bool,
    }

    /// The question to a forge to merge a pull request.
    AskedForMerge {
        /// Address of the pull request.
        url: String,
        /// The commit of its branch.
        commit: String,
        /// Strategy of the merge; absent where a queue decides it.
        #[serde(skip_serializing_if = "Option::is_none")]
        strategy: Option<Strategy>,
    }

    /// A merge of a pull request that its forge has accepted.
    AcceptedMerge {
        /// Address of the pull request.
        url: String,
        /// The forge's name for the merge; absent in a queue.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    }

    /// A merge of a pull request that its forge does not make.
    RefusedMerge {
        /// Address of the pull request.
        url: String,
        /// Reason of the forge.
        error: String,
    }

    /// A sync of a task's branch with its base.
    BranchSync {
        /// The base: a branch.
        base: String,
        /// The commit of the base.
        onto: String,
        /// The commit of the task's branch before.
        from: String,
        /// The commit of the task's branch after it.
        commit: String,
        /// `merge` or `rebase`.
        strategy: Strategy,
        /// The ref with the commit before, if the branch no longer contains that.
        #[serde(skip_serializing_if = "Option::is_none")]
        backup: Option<String>,
    }

    /// A started agent.
    Spawn {
        /// Its number within the task, from 1.
        spawn: u32,
        /// Role of the agent in the task.
        actor: Actor,
        /// The name of its prompt.
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
        /// Permissions: the acts that it may do without asking.
        #[serde(default)]
        permissions: Permissions,
        /// Its model, if the workflow or the task names one.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// Its effort, likewise.
        #[serde(skip_serializing_if = "Option::is_none")]
        effort: Option<String>,
        /// The harness's id of its conversation, if it is known before the start.
        #[serde(skip_serializing_if = "Option::is_none")]
        conversation: Option<String>,
        /// True if it continues that conversation.
        #[serde(skip_serializing_if = "is_false")]
        resumed: bool,
        /// Reason for which it does not continue the earlier conversation, if it should have.
        #[serde(skip_serializing_if = "Option::is_none")]
        not_resumed: Option<String>,
        /// The content of the sections that must have a verdict: that content is not this agent's.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        stood: Vec<Pass>,
        /// The fingerprint of the questions to a person that stood in the text when its conversation began: they are not this agent's.
        #[serde(skip_serializing_if = "Option::is_none")]
        asked: Option<String>,
        /// The call for attention that a person answers with this agent.
        #[serde(skip_serializing_if = "Option::is_none")]
        answers: Option<String>,
        /// Its name, if it is a reviewer beside which others can be alive.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The step of a mission that it works at.
        #[serde(skip_serializing_if = "Option::is_none")]
        step: Option<String>,
        /// The role of that step.
        #[serde(skip_serializing_if = "Option::is_none")]
        role: Option<String>,
        /// The number of its attempt at that step.
        #[serde(skip_serializing_if = "Option::is_none")]
        attempt: Option<u32>,
        /// Its confinement by Orange, if it has one.
        #[serde(skip_serializing_if = "Option::is_none")]
        sandbox: Option<Sandbox>,
    }

    /// The confinement of an agent.
    Sandbox {
        /// Strictness of the confinement.
        level: Level,
        /// Its git repository; as its role has it where nothing is said.
        #[serde(skip_serializing_if = "Option::is_none")]
        git: Option<GitAccess>,
        /// Its network; `listed` where nothing is said.
        #[serde(skip_serializing_if = "Option::is_none")]
        network: Option<Network>,
        /// Its worktree; writable where nothing is said.
        #[serde(skip_serializing_if = "Option::is_none")]
        worktree: Option<WorktreeAccess>,
        /// A digest of what was granted; equal for equal grants.
        #[serde(default)]
        grants: String,
    }

    /// Preparation that a worktree is to get.
    Preparation {
        /// Name of the worktree.
        workspace: String,
        /// Files and folders that are copied.
        #[serde(default)]
        copied: Vec<String>,
        /// Files and folders that are linked.
        #[serde(default)]
        linked: Vec<String>,
        /// The programs that prepare it, with their arguments.
        #[serde(default)]
        setup: Vec<Vec<String>>,
    }

    /// State of a worktree at a moment, without files that git does not track.
    WorktreeState {
        /// The commit that is checked out.
        head: String,
        /// The tree of the index.
        index: String,
        /// The tree of the tracked files as they are.
        files: String,
    }

    /// The end of an attempt at a step.
    EndedAttempt {
        /// Id of the step.
        step: String,
        /// The number of the attempt.
        attempt: u32,
        /// End of the attempt.
        #[serde(default)]
        end: StepEnd,
        /// The word that its agent reports.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<String>,
        /// Summary of the work, in its agent's own words.
        #[serde(skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
        /// Call for a person's attention.
        #[serde(skip_serializing_if = "Option::is_none")]
        warning: Option<String>,
        /// Its declared outputs, by name.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        outputs: BTreeMap<String, Value>,
        /// Reason for the failure.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The commit on which the program of a step ran, or that was shown to the person who has answered.
        #[serde(skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
        /// Name of the person who has answered.
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    }

    /// An agent that has ended, and what is left of it.
    Exited {
        /// Number of the agent.
        spawn: u32,
        /// Its exit status, when it ended by itself.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// Evidence of its end.
        #[serde(default)]
        reason: Ending,
        /// Duration of its life in seconds, if its wrapper reports that.
        #[serde(skip_serializing_if = "Option::is_none")]
        duration: Option<u64>,
        /// The last lines of its pane, if its wrapper could read them.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        last_lines: Vec<String>,
        /// The harness's id of its conversation, if it is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        conversation: Option<String>,
        /// Its transcript, a file in `transcripts/`.
        #[serde(skip_serializing_if = "Option::is_none")]
        transcript: Option<String>,
        /// Reason for the missing transcript, if writing it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        not_kept: Option<String>,
        /// Number of tokens that its model has read, cached or not, and written, if its harness reports that.
        #[serde(skip_serializing_if = "Option::is_none")]
        tokens: Option<u64>,
        /// Those of the tokens that were not read from a cache, if its harness reports that.
        #[serde(skip_serializing_if = "Option::is_none")]
        fresh_tokens: Option<u64>,
        /// Cost, in millionths of a dollar, if its harness reports that.
        #[serde(skip_serializing_if = "Option::is_none")]
        cost: Option<u64>,
        /// Cost at list price, in millionths of a dollar, if its harness reports tokens only.
        #[serde(skip_serializing_if = "Option::is_none")]
        list_price: Option<u64>,
        /// Reason for the missing list price.
        #[serde(skip_serializing_if = "Option::is_none")]
        unpriced: Option<String>,
        /// True if the figures are lower bounds.
        #[serde(skip_serializing_if = "is_false")]
        at_least: bool,
    }

    /// Activity of an agent, as its harness reports it.
    Report {
        /// Number of the agent.
        spawn: u32,
        /// Activity of the agent.
        state: Activity,
        /// Subject of its wait, or the answered request.
        #[serde(default)]
        reason: String,
        /// End of a limit, RFC 3339 UTC, if the harness says so.
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<String>,
        /// The request that a person can answer, or has answered.
        #[serde(skip_serializing_if = "Option::is_none")]
        request: Option<String>,
        /// Actor that answered.
        #[serde(skip_serializing_if = "Option::is_none")]
        actor: Option<Actor>,
        /// Path by which it was answered: `phone` for a button of a notification; absent for a command.
        #[serde(skip_serializing_if = "Option::is_none")]
        via: Option<Via>,
        /// The harness's id of the conversation.
        #[serde(skip_serializing_if = "Option::is_none")]
        conversation: Option<String>,
        /// The harness's own record of the conversation.
        #[serde(skip_serializing_if = "Option::is_none")]
        transcript: Option<String>,
        /// Number of tokens that the conversation has used so far.
        #[serde(skip_serializing_if = "Option::is_none")]
        tokens: Option<u64>,
        /// Cost so far, in millionths of a dollar.
        #[serde(skip_serializing_if = "Option::is_none")]
        cost: Option<u64>,
    }

    /// An agent that has ended and is to be started again.
    Waiting {
        /// Number of the agent.
        spawn: u32,
        /// Time of the restart, RFC 3339 UTC.
        until: String,
        /// Seconds that were left until then.
        after: u32,
        /// Reason for the wait.
        #[serde(default)]
        reason: String,
    }

    /// The checks of a pull request.
    ChecksSeen {
        /// The address of the pull request.
        url: String,
        /// The commit that they examine.
        #[serde(default)]
        commit: String,
        /// Their result.
        #[serde(default)]
        state: Checks,
    }

    /// Question of a gate to a program.
    Question {
        /// The program and its arguments.
        argv: Vec<String>,
        /// Time limit, in seconds.
        #[serde(default)]
        timeout: u32,
        /// The commit of the worktree; empty on a branch without commits.
        #[serde(default)]
        commit: String,
        /// A hash of everything in the worktree that differs from the commit and is not ignored; empty if nothing does.
        #[serde(default)]
        changes: String,
        /// On whose behalf.
        #[serde(default)]
        actor: Actor,
    }

    /// A program's answer to a gate.
    Answer {
        /// The number of its `gate.asked`.
        asked: u64,
        /// True if it has exited with 0.
        passed: bool,
        /// Its exit status, when it ended by itself.
        code: Option<i32>,
        /// Reason for which it has not passed.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The first and the last characters of its output.
        #[serde(default)]
        output: String,
        /// The file in the task's folder with more of the output, if there is more.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<String>,
    }

    /// A decided transition, with everything that is needed to finish it after a kill.
    Transition {
        /// The state it leaves.
        from: String,
        /// The state it enters.
        to: String,
        /// Its index in the machine, if it is a declared one.
        transition: Option<usize>,
        /// Cause of the decision.
        #[serde(default)]
        cause: Cause,
        /// Actor that asked.
        #[serde(default)]
        actor: Actor,
        /// Its hooks, in order.
        #[serde(default)]
        hooks: Vec<PlannedHook>,
        /// The sections that passed its gates.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        passed: Vec<Pass>,
        /// The content of the sections for which gates in the state it enters require something new.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        stood: Vec<Pass>,
        /// The call for attention about the state it leaves, which it answers.
        #[serde(skip_serializing_if = "Option::is_none")]
        answers: Option<String>,
    }

    /// A hook that a transition runs.
    PlannedHook {
        /// Action of the hook.
        name: String,
        /// Its index among the transition's hooks, from 0.
        index: usize,
        /// The counter that it changes, with its new value: a repeated hook counts once.
        counter: Option<CounterValue>,
    }

    /// A counter and its new value.
    CounterValue {
        /// Name of the counter.
        name: String,
        /// Its new value.
        value: u32,
    }

    /// The content of a section when a gate passed, a state was entered or an agent was started.
    Pass {
        /// The section, such as `## Review`.
        section: String,
        /// A hash of the section's content.
        hash: String,
        /// The commit of the task's worktree when a gate passed, if it had a worktree.
        #[serde(skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
        /// Hash of the changes since the base when a gate passed, if the workflow has a gate with `of`.
        #[serde(skip_serializing_if = "Option::is_none")]
        patch: Option<String>,
    }
}

/// For serde.
fn is_false(value: &bool) -> bool {
    !value
}
