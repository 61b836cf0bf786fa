//! What people ask for beside transitions: tasks, starts, stops, merges, migrations, answers, deletions, projects.

pub mod answer;
pub mod cancel;
pub mod collect;
pub mod create;
pub mod create_pr;
pub mod delete;
pub mod merge;
pub mod migrate;
pub mod project;
pub mod rebranch;
pub mod respawn;
pub mod restore;
pub mod start;
pub mod stop;
pub mod typed;
pub mod update;
