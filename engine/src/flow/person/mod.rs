//! Requests of people beside transitions: tasks, starts, stops, merges, migrations, answers, deletions, projects, harnesses.

pub mod answer;
pub mod cancel;
pub mod collect;
pub mod create;
pub mod create_pr;
pub mod delete;
pub mod diff;
pub mod edit;
pub mod harness;
pub mod issue;
pub mod merge;
pub mod migrate;
pub mod open;
pub mod project;
pub mod rebranch;
pub mod refresh;
pub mod respawn;
pub mod restore;
pub mod send;
pub mod start;
pub mod stop;
pub mod trust;
pub mod typed;
pub mod undo;
pub mod update;
pub mod written;
