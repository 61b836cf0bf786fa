//! What commands answer with `--json`, as types: a file for each command. Other commands build their JSON by hand.

mod doctor;
mod door;
mod gc;
mod install;
mod log;
mod monitor;
mod project;
mod workflow;
mod workspace;

pub use doctor::{Diagnosis, Finding};
pub use door::{Refusal, Text};
pub use gc::Removal;
pub use install::{Candidate, Completions, HarnessInProject, Install, Setup, SetupMatter, SkillFile};
pub use log::LogLine;
pub use monitor::{Failed, Happened, MonitorLook};
pub use project::ListedProject;
pub use workflow::{
    Contract, Duty, ListedWorkflow, ShownWorkflow, State, StatusContract, Transition, Workflow,
};
pub use workspace::{CollectedWorktree, MadeWorktrees, Worktree};

/// The schema of each answer, by the words of its command with `-` between them.
#[cfg(feature = "schemas")]
pub fn schemas() -> Vec<(&'static str, serde_json::Value)> {
    use schemars::generate::SchemaSettings;

    fn schema<T: schemars::JsonSchema>() -> serde_json::Value {
        let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
        generator.into_root_schema_for::<T>().into()
    }

    vec![
        ("complete", schema::<Vec<Candidate>>()),
        ("completions", schema::<Completions>()),
        ("doctor", schema::<Diagnosis>()),
        ("error", schema::<Refusal<'_>>()),
        ("gc", schema::<Vec<Removal>>()),
        ("help", schema::<Text<'_>>()),
        ("install", schema::<Install>()),
        ("log", schema::<Vec<LogLine<'_>>>()),
        ("monitor", schema::<MonitorLook<'_>>()),
        ("project-add", schema::<ListedProject>()),
        ("project-list", schema::<Vec<ListedProject>>()),
        ("project-remove", schema::<ListedProject>()),
        ("project-update", schema::<ListedProject>()),
        ("setup", schema::<Setup>()),
        ("workflow-contract", schema::<Contract<'_>>()),
        ("workflow-list", schema::<Vec<ListedWorkflow<'_>>>()),
        ("workflow-show", schema::<ShownWorkflow>()),
        ("workspace-gc", schema::<Vec<CollectedWorktree>>()),
        ("workspace-init", schema::<MadeWorktrees>()),
        ("workspace-list", schema::<Vec<Worktree>>()),
    ]
}
