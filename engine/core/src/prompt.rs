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
    /// `{base}`: the commit that the branch's work is compared with.
    Base,
    /// `{orange}`: the program itself, as it is called in a shell.
    Orange,
    /// `{review_round}` or any other counter
    Counter(CounterId),
}

/// What prompts may call the default branch of the remote. Not every repository has it.
pub const ORIGIN_HEAD: &str = "origin/HEAD";

impl Value {
    /// The placeholders that are no counters, with their names.
    pub const NAMED: [(&'static str, Value); 8] = [
        ("summary", Value::Summary),
        ("project", Value::Project),
        ("branch", Value::Branch),
        ("status", Value::Status),
        ("id", Value::Id),
        ("workflow", Value::Workflow),
        ("base", Value::Base),
        ("orange", Value::Orange),
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
    /// `{base}`
    pub base: &'v str,
    /// `{orange}`
    pub orange: &'v str,
    /// What a prompt's own text has in place of [`ORIGIN_HEAD`]: that itself, where the repository has it.
    pub origin_head: &'v str,
    /// By [`CounterId`]; what is not given counts as 0.
    pub counters: &'v [u32],
}

impl Prompt<'_> {
    /// Whether this value stands in it.
    pub fn has(&self, value: Value) -> bool {
        self.pieces.contains(&Piece::Value(value))
    }

    /// Whether its own text has these words. Values do not count.
    pub fn says(&self, words: &str) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains(words)))
    }

    /// The prompt for one task.
    pub fn render(&self, values: &Values<'_>) -> String {
        self.pieces.iter().fold(String::new(), |mut text, piece| {
            match piece {
                Piece::Text(literal) => {
                    let mut parts = literal.split(ORIGIN_HEAD);
                    text.push_str(parts.next().unwrap_or_default());
                    for part in parts {
                        text.push_str(values.origin_head);
                        text.push_str(part);
                    }
                }
                Piece::Value(Value::Summary) => text.push_str(values.summary),
                Piece::Value(Value::Project) => text.push_str(values.project),
                Piece::Value(Value::Branch) => text.push_str(values.branch),
                Piece::Value(Value::Status) => text.push_str(values.status),
                Piece::Value(Value::Id) => text.push_str(values.id),
                Piece::Value(Value::Workflow) => text.push_str(values.workflow),
                Piece::Value(Value::Base) => text.push_str(values.base),
                Piece::Value(Value::Orange) => text.push_str(values.orange),
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
                Piece::Text(": git diff "),
                Piece::Value(Value::Base),
                Piece::Text("...HEAD or origin/HEAD, then "),
                Piece::Value(Value::Orange),
                Piece::Text(" task next"),
            ],
        };
        let values = Values {
            summary: "{branch} $(touch x) origin/HEAD",
            project: "p",
            branch: "b",
            status: "working",
            id: "i",
            workflow: "w",
            base: "1f2e",
            orange: "/bin/orange",
            origin_head: "1f2e",
            counters: &[2],
        };
        assert_eq!(
            prompt.render(&values),
            "# {branch} $(touch x) origin/HEAD {literal} round 2: git diff 1f2e...HEAD or 1f2e, then /bin/orange task next"
        );
    }
}
