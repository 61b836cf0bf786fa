//! Prompts: the first messages of agents, with placeholders that are filled in once.

use alloc::string::{String, ToString};

use crate::CounterId;

/// One prompt, split into pieces at compile time. Values are data: they are never searched for placeholders.
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
    /// Literal text, with escapes resolved.
    Text(&'a str),
    /// A placeholder.
    Value(Value),
}

/// The value that a placeholder names.
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
    /// `{base}`: the commit with which the branch's work is compared.
    Base,
    /// `{orange}`: the program itself, quoted for a shell.
    Orange,
    /// `{reviewer}`: the name of the reviewer that is started.
    Reviewer,
    /// `{port}`: the first port of the worktree.
    Port,
    /// `{review_round}` or any other counter
    Counter(CounterId),
}

/// A name of the remote's default branch that prompts may use, and that not every repository has.
pub const ORIGIN_HEAD: &str = "origin/HEAD";

impl Value {
    /// The placeholders other than counters, with their names.
    pub const NAMED: [(&'static str, Value); 10] = [
        ("summary", Value::Summary),
        ("project", Value::Project),
        ("branch", Value::Branch),
        ("status", Value::Status),
        ("id", Value::Id),
        ("workflow", Value::Workflow),
        ("base", Value::Base),
        ("orange", Value::Orange),
        ("reviewer", Value::Reviewer),
        ("port", Value::Port),
    ];
}

/// The values of the placeholders for one task.
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
    /// `{reviewer}`; empty for an agent without a name.
    pub reviewer: &'v str,
    /// `{port}`; empty in a project without ports.
    pub port: &'v str,
    /// Replacement of [`ORIGIN_HEAD`] in a prompt's own text: the same name, if the repository has it.
    pub origin_head: &'v str,
    /// By [`CounterId`]; a counter that is not given is 0.
    pub counters: &'v [u32],
}

impl Prompt<'_> {
    /// True if the prompt uses this value.
    pub fn has(&self, value: Value) -> bool {
        self.pieces.contains(&Piece::Value(value))
    }

    /// True if the prompt's own text, without values, contains these words.
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
                Piece::Value(Value::Reviewer) => text.push_str(values.reviewer),
                Piece::Value(Value::Port) => text.push_str(values.port),
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
            reviewer: "",
            port: "",
            origin_head: "1f2e",
            counters: &[2],
        };
        assert_eq!(
            prompt.render(&values),
            "# {branch} $(touch x) origin/HEAD {literal} round 2: git diff 1f2e...HEAD or 1f2e, then /bin/orange task next"
        );
    }
}
