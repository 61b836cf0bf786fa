//! Commands of a person beside transitions: starts, stops, merges, migrations, answers, deletions.

pub mod answer;
pub mod cancel;
pub mod collect;
pub mod delete;
pub mod merge;
pub mod migrate;
pub mod rebranch;
pub mod respawn;
pub mod start;
pub mod stop;
pub mod typed;
