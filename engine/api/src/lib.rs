//! Everything that the programs of Orange say to each other: answers of `--json`, errors, needs, and the actions that meet them.
//!
//! Each is declared here once, for the program that writes it and for those that read it.

#![warn(missing_docs)]

mod acts;
mod agent;
mod attempt;
mod common;
pub mod contract;
mod declared;
mod diff;
mod doctor;
mod error;
mod feedback;
pub mod gateway;
mod gc;
mod harness;
mod install;
mod intake;
mod log;
mod mission;
mod monitor;
mod need;
mod notify;
mod pane;
mod project;
mod report;
mod schedule;
pub mod stored_plan;
mod task;
mod transition;
pub mod usage;
mod workflow;
mod workspace;

use serde::{Deserialize, Serialize};

pub use acts::{Edited, FailedTask, OpenedPage, Refreshed, Reopened, Sent, TakenBack, TaskBudget};
pub use agent::{Agent, AgentSpending, AgentState, Asked, Assessment, SessionState, Spending};
pub use attempt::{AttemptGate, AttemptState, NewAttempt, ShownAttempt};
pub use common::{Refusal, Text, Version};
pub use declared::DeclaredValue;
pub use diff::{Diff, DiffFile};
pub use doctor::{Diagnosis, Finding};
pub use error::{Error, ErrorKind, Failure, Result, Unfit};
pub use feedback::{
    CheckLog, Comment, Conflict, CreatedTask, FailedCheck, Feedback, Judged, MOST_CHECKS, Permission,
    Replied, ReviewDecision, TaskFeedback, TaskStanding, Thread, end_of_log,
};
pub use gc::Removal;
pub use harness::ListedHarness;
pub use install::{
    Candidate, Completions, Demo, HarnessInProject, Install, InstalledPart, KeptPart, Setup, SetupMatter,
    SkillFile, Uninstall,
};
pub use intake::{Intake, IntakeIssue, TakenIssue};
pub use log::LogLine;
pub use mission::{
    ChangedMission, ListedMission, LoopCount, MissionAsk, MissionAttempt, MissionItem, MissionPause,
    MissionPolicy, MissionRow, MissionStep, ReportedStep, ShownMission, ShownStep, StepResult,
};
pub use monitor::{MonitorEvent, MonitorFailure, MonitorLook};
pub use need::{ActionName, ChangeSize, Need, NeedAction, Shows};
pub use notify::{ChannelFailure, ListedChannel, RevokedCodes, TestedChannel};
pub use pane::{Cursor, ShownPane};
pub use project::{
    ListedProject, ListedToken, MadeToken, OrangeToml, PortsOfSlot, SettingOrigin, SettingSource,
    SetupProgram, SharedBudgetSettings, SharedFeedbackSettings, SharedMergeSettings, SharedSandboxSettings,
    SharedSettings, ShownProject, TrustState, TrustedFile,
};
pub use report::{UnreadableUsage, UsageGroup, UsageReport};
pub use schedule::{ScheduleRow, Schedules};
pub use task::{
    Answered, Attached, BudgetState, Changing, Created, Deleted, ListedTask, Logs, OpenedPullRequest,
    PassedGate, PullRequestFacts, Repair, Respawned, Restarted, Restored, ShownTask, Stopped, TaskRow, Turn,
    Waited, WaitingHooks, Watched,
};
pub use transition::{
    Merged, Migrated, Next, StatusChange, Synced, TransitionResult, Update, WorkflowChange,
};
pub use workflow::{
    Contract, Duty, ListedWorkflow, Plan, PlanStep, ShownMachine, ShownPlan, ShownWorkflow, State,
    StatusContract, Transition, WatchRule, Workflow,
};
pub use workspace::{CollectedWorktree, MadeWorktrees, Worktree};

/// The version of all answers. It rises when a key goes or gets another meaning; a new key leaves it as it is.
pub const VERSION: u32 = 1;

/// `true` in an answer: the command has done what was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(into = "bool", try_from = "bool")]
pub struct Success;

impl TryFrom<bool> for Success {
    type Error = &'static str;

    fn try_from(is_done: bool) -> std::result::Result<Success, &'static str> {
        if is_done { Ok(Success) } else { Err("`success` is false in no answer") }
    }
}

impl From<Success> for bool {
    fn from(_: Success) -> bool {
        true
    }
}

/// The schema of each answer, by the words of its command with `-` between them.
#[cfg(feature = "schemas")]
pub fn schemas() -> Vec<(&'static str, serde_json::Value)> {
    use schemars::generate::SchemaSettings;

    use acts::OneOrEach;

    fn schema<T: schemars::JsonSchema>() -> serde_json::Value {
        let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
        generator.into_root_schema_for::<T>().into()
    }

    vec![
        ("attempt-run", schema::<ShownAttempt>()),
        ("attempt-show", schema::<ShownAttempt>()),
        ("complete", schema::<Vec<Candidate>>()),
        ("completions", schema::<Completions>()),
        ("demo", schema::<Demo>()),
        ("doctor", schema::<Diagnosis>()),
        ("error", schema::<Refusal<'_>>()),
        ("gc", schema::<Vec<Removal>>()),
        ("harness-list", schema::<Vec<ListedHarness>>()),
        ("help", schema::<Text<'_>>()),
        ("install", schema::<Install>()),
        ("intake", schema::<Intake>()),
        ("log", schema::<Vec<LogLine<'_>>>()),
        ("mission-answer", schema::<ChangedMission>()),
        ("mission-cancel", schema::<ChangedMission>()),
        ("mission-continue", schema::<ChangedMission>()),
        ("mission-delete", schema::<Deleted>()),
        ("mission-list", schema::<Vec<ListedMission>>()),
        ("mission-logs", schema::<Logs<'_>>()),
        ("mission-attach", schema::<Attached>()),
        ("mission-pane", schema::<ShownPane<'_>>()),
        ("mission-restore", schema::<Restored>()),
        ("mission-retry", schema::<ChangedMission>()),
        ("mission-show", schema::<ShownMission>()),
        ("mission-start", schema::<ChangedMission>()),
        ("mission-watch", schema::<Watched<'_>>()),
        ("monitor", schema::<MonitorLook<'_>>()),
        ("notify-list", schema::<Vec<ListedChannel>>()),
        ("notify-revoke", schema::<RevokedCodes>()),
        ("notify-test", schema::<Vec<TestedChannel>>()),
        ("project-add", schema::<ListedProject>()),
        ("project-list", schema::<Vec<ListedProject>>()),
        ("project-remove", schema::<ListedProject>()),
        ("project-revoke", schema::<Vec<ListedToken>>()),
        ("project-show", schema::<ShownProject>()),
        ("project-token", schema::<MadeToken<'_>>()),
        ("project-tokens", schema::<Vec<ListedToken>>()),
        ("project-trust", schema::<TrustedFile>()),
        ("project-update", schema::<ListedProject>()),
        ("schedule", schema::<Schedules>()),
        ("setup", schema::<Setup>()),
        ("step-complete", schema::<ReportedStep>()),
        ("step-fail", schema::<ReportedStep>()),
        ("step-show", schema::<ShownStep>()),
        ("ls", schema::<Vec<ListedTask<'_>>>()),
        ("task-answer", schema::<Answered>()),
        ("task-attach", schema::<Attached>()),
        ("task-cancel", schema::<OneOrEach<Changing<TransitionResult>>>()),
        ("task-complete", schema::<Changing<StatusChange>>()),
        ("task-create", schema::<Created>()),
        ("task-create-pr", schema::<Changing<OpenedPullRequest>>()),
        ("task-delete", schema::<OneOrEach<Deleted>>()),
        ("task-diff", schema::<Diff>()),
        ("task-budget", schema::<Changing<TaskBudget>>()),
        ("task-feedback", schema::<TaskFeedback>()),
        ("task-edit", schema::<Changing<Edited>>()),
        ("task-list", schema::<Vec<ListedTask<'_>>>()),
        ("task-logs", schema::<Logs<'_>>()),
        ("task-merge", schema::<OneOrEach<Changing<Merged>>>()),
        ("task-migrate", schema::<Changing<Migrated>>()),
        ("task-next", schema::<Vec<Next>>()),
        ("task-open", schema::<OpenedPage>()),
        ("task-refresh", schema::<Changing<Refreshed>>()),
        ("task-pane", schema::<ShownPane<'_>>()),
        ("task-reply", schema::<Changing<Replied>>()),
        ("task-verdict", schema::<Changing<Judged>>()),
        ("task-respawn", schema::<OneOrEach<Changing<Respawned>>>()),
        ("task-restart", schema::<OneOrEach<Changing<Restarted>>>()),
        ("task-restore", schema::<Restored>()),
        ("task-send", schema::<OneOrEach<Changing<Sent>>>()),
        ("task-show", schema::<ShownTask>()),
        ("task-spawn", schema::<OneOrEach<Changing<StatusChange>>>()),
        ("task-stop", schema::<OneOrEach<Changing<Stopped>>>()),
        ("task-sync", schema::<Changing<Synced>>()),
        ("task-undo", schema::<Changing<Reopened>>()),
        ("task-update", schema::<OneOrEach<Changing<Update>>>()),
        ("task-wait", schema::<Waited>()),
        ("task-watch", schema::<Watched<'_>>()),
        ("uninstall", schema::<Uninstall>()),
        ("usage", schema::<UsageReport<'_>>()),
        ("version", schema::<Version<'_>>()),
        ("workflow-contract", schema::<Contract<'_>>()),
        ("workflow-list", schema::<Vec<ListedWorkflow<'_>>>()),
        ("workflow-show", schema::<ShownWorkflow>()),
        ("workspace-gc", schema::<Vec<CollectedWorktree>>()),
        ("workspace-init", schema::<MadeWorktrees>()),
        ("workspace-list", schema::<Vec<Worktree>>()),
    ]
}
