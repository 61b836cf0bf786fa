//! What a person asks for beside a transition: a start, a stop, a merge, another branch or workflow, an answer, an end.

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
