//! A scripted model: it answers the wire protocols of coding agents with the tool calls of a plan.
//!
//! Each conversation follows a plan of its own, which is recognised by the prompt. What each tool answered is on record.

mod conversation;
mod http;
pub mod json;
mod plan;
mod protocol;
mod serve;
mod tools;

pub use conversation::{Exchange, Report};
pub use plan::{Act, Fault, Plan};
pub use serve::{Model, Side};

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may fail where they stand")]
mod tests;
