//! A scripted model: it answers the wire protocols of coding agents with the tool calls of a plan.
//!
//! The prompt of a conversation selects its plan. The answers of the tools are recorded.

mod conversation;
mod http;
pub mod json;
mod plan;
mod protocol;
mod serve;
mod tools;

pub use conversation::{Exchange, PlanReport};
pub use plan::{ModelAct, Plan, RequestFault};
pub use serve::{Model, SideRequest};

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may fail where they stand")]
mod tests;
