//! What commands answer with `--json`, as types: a file for each command. Other commands build their JSON by hand.

mod gc;
mod log;
mod monitor;
mod workspace;

pub use gc::Removal;
pub use log::LogLine;
pub use monitor::{Failed, Happened, MonitorLook};
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
        ("gc", schema::<Vec<Removal>>()),
        ("log", schema::<Vec<LogLine<'_>>>()),
        ("monitor", schema::<MonitorLook<'_>>()),
        ("workspace-gc", schema::<Vec<CollectedWorktree>>()),
        ("workspace-init", schema::<MadeWorktrees>()),
        ("workspace-list", schema::<Vec<Worktree>>()),
    ]
}
