//! Prompts: what agents are told, with placeholders that are filled in once.

use alloc::string::{String, ToString};

use crate::CounterId;

/// One prompt, split into pieces when it was compiled. Values are data: they are never searched for placeholders.
#[derive(Clone, Copy, Debug)]
pub struct Prompt<'a> {
    /// The key in the workflow.
    pub name: &'a str,
    /// Text and placeholders, in order.
    pub pieces: &'a [Piece<'a>],
}

/// A part of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text as it stands, escapes resolved.
    Text(&'a str),
    /// A placeholder.
    Value(Value),
}

/// What a placeholder stands for (design §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// `{summary}`
    Summary,
    /// `{project}`
    Project,
    /// `{branch}`
    Branch,
    /// `{status}`
    Status,
    /// `{id}`
    Id,
    /// `{workflow}`
    Workflow,
    /// `{review_round}` or any other counter
    Counter(CounterId),
}

impl Value {
    /// The placeholders that are no counters, with their names.
    pub const NAMED: [(&'static str, Value); 6] = [
        ("summary", Value::Summary),
        ("project", Value::Project),
        ("branch", Value::Branch),
        ("status", Value::Status),
        ("id", Value::Id),
        ("workflow", Value::Workflow),
    ];
}

/// What the placeholders of one task stand for.
#[derive(Clone, Copy, Debug)]
pub struct Values<'v> {
    /// `{summary}`
    pub summary: &'v str,
    /// `{project}`
    pub project: &'v str,
    /// `{branch}`
    pub branch: &'v str,
    /// `{status}`
    pub status: &'v str,
    /// `{id}`
    pub id: &'v str,
    /// `{workflow}`
    pub workflow: &'v str,
    /// By [`CounterId`]; what is not given counts as 0.
    pub counters: &'v [u32],
}

impl Prompt<'_> {
    /// The prompt for one task.
    pub fn render(&self, values: &Values<'_>) -> String {
        self.pieces.iter().fold(String::new(), |mut text, piece| {
            match piece {
                Piece::Text(literal) => text.push_str(literal),
                Piece::Value(Value::Summary) => text.push_str(values.summary),
                Piece::Value(Value::Project) => text.push_str(values.project),
                Piece::Value(Value::Branch) => text.push_str(values.branch),
                Piece::Value(Value::Status) => text.push_str(values.status),
                Piece::Value(Value::Id) => text.push_str(values.id),
                Piece::Value(Value::Workflow) => text.push_str(values.workflow),
                Piece::Value(Value::Counter(id)) => {
                    let value = values.counters.get(usize::from(id.0)).copied().unwrap_or_default();
                    text.push_str(&value.to_string());
                }
            }
            text
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_data_and_never_substituted_again() {
        let prompt = Prompt {
            name: "worker",
            pieces: &[
                Piece::Text("# "),
                Piece::Value(Value::Summary),
                Piece::Text(" {literal} round "),
                Piece::Value(Value::Counter(CounterId(0))),
            ],
        };
        let values = Values {
            summary: "{branch} $(touch x)",
            project: "p",
            branch: "b",
            status: "working",
            id: "i",
            workflow: "w",
            counters: &[2],
        };
        assert_eq!(prompt.render(&values), "# {branch} $(touch x) {literal} round 2");
    }
}
