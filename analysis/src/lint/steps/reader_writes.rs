//! B35: a step that only reads, and whose prompt tells its agent to change something.

use super::B35;
use super::facts::{StepFacts, each, prompt_text};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::WorktreeUse;

/// Verbs of which nothing is left when an agent may not write.
const WRITES: [&str; 12] = [
    "commit",
    "edit",
    "fix",
    "implement",
    "modify",
    "rewrite",
    "refactor",
    "correct",
    "rename",
    "delete",
    "mend",
    "repair",
];

/// Words before a verb that leave it a command.
const BEFORE: [&str; 6] = ["and", "then", "please", "also", "now", "finally"];

pub(super) fn find(facts: &StepFacts<'_>) -> Vec<Diagnostic> {
    each(facts.all().filter(|(_, step)| step.worktree.value == WorktreeUse::Read), |(_, step)| {
        let text = prompt_text(&step.prompt);
        let verb = command(&text)?;
        let name = &step.id.value;
        let message = format!("`{name}` only reads, and its prompt says to {verb}");
        let help = "delete `read_only`, or say in the prompt what to report instead";
        Some(
            Diagnostic::new(&B35, step.prompt.span, message)
                .label(step.worktree.span, "only reads")
                .help(help),
        )
    })
}

/// The first verb of a prompt with which a sentence or a clause tells to write.
fn command(text: &str) -> Option<&'static str> {
    let clauses = text.split(['.', '!', '?', ';', ':', ',', '\n', '(', ')']);
    clauses.flat_map(|it| it.split(" and ")).flat_map(|it| it.split(" then ")).find_map(|clause| {
        let is_part = |it: char| !it.is_alphanumeric();
        let mut words =
            clause.split(is_part).filter(|it| !it.is_empty() && !it.bytes().all(|it| it.is_ascii_digit()));
        let first = words.by_ref().map(str::to_lowercase).find(|it| !BEFORE.contains(&it.as_str()))?;
        let verb = WRITES.into_iter().find(|it| *it == first)?;
        // A verb alone is a name; before a noun such as `commit message` it is a part of one.
        let next = words.next()?.to_lowercase();
        (!["message", "messages", "history", "hash", "id", "ids"].contains(&next.as_str())).then_some(verb)
    })
}

#[cfg(test)]
mod tests {
    use super::command;

    #[test]
    fn a_sentence_or_clause_tells_to_write() {
        for (text, expect) in [
            ("Review it, and fix what you find.", Some("fix")),
            ("1. Read the diff\n2. Commit your notes", Some("commit")),
            ("Look at it. Then please correct the docs.", Some("correct")),
            ("Review {{branch}} for {{item}}. {{context}}", None),
            ("Say what to fix. Do not edit anything, never commit.", None),
            ("Commit messages are in English.", None),
            ("Report each fault: file, line, fix.", None),
        ] {
            assert_eq!(command(text), expect, "{text}");
        }
    }
}
