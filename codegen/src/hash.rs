//! The hash that pins a task to the definition of its workflow, and a mission to that of its plan.

use orange_core::fnv1a;

use crate::model::{StepPiece, StepPrompt, Steps, Workflow};

/// The hash of a workflow's source: FNV-1a, 64 bits, as 16 hexadecimal digits.
///
/// It covers every byte of the source, comments included, after a byte order mark at its start is dropped
/// and every `\r\n` is read as `\n`: a checkout with other line ends is the same definition.
pub fn source(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).as_bytes();
    let kept =
        text.iter().enumerate().filter(|(at, byte)| **byte != b'\r' || text.get(at + 1) != Some(&b'\n'));
    format!("{:016x}", fnv1a(kept.map(|(_, byte)| *byte)))
}

/// The hash of a state machine workflow: of its source, and of every file that a prompt stands in.
pub(crate) fn machine(text: &str, workflow: &Workflow) -> String {
    let files = workflow.prompts.iter().filter(|it| it.file.is_some());
    with_files(source(text), files.map(|it| it.text.value.clone()))
}

/// The hash of a step workflow: of its source, and of every prompt, since prompts stand in files of their own.
pub(crate) fn steps(text: &str, steps: &Steps) -> String {
    with_files(source(text), steps.steps.iter().map(|step| written(&step.prompt)))
}

/// A hash with texts that stand elsewhere; without any, it is the same.
fn with_files(hash: String, texts: impl Iterator<Item = String>) -> String {
    // No text has this byte, so that no two texts read like one.
    let mut texts = texts.flat_map(|text| text.into_bytes().into_iter().chain([0xff])).peekable();
    if texts.peek().is_none() {
        return hash;
    }
    format!("{:016x}", fnv1a(hash.into_bytes().into_iter().chain([0xff]).chain(texts)))
}

/// A prompt as an author writes it.
pub(crate) fn written(prompt: &StepPrompt) -> String {
    prompt.pieces.iter().map(piece).collect()
}

fn piece(piece: &StepPiece) -> String {
    match piece {
        StepPiece::Text(text) => text.clone(),
        StepPiece::Value(value) => format!("{{{{{}}}}}", value.name()),
        StepPiece::Read(_, name) => format!("{{{{{}}}}}", name.value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_ignores_line_ends_and_a_byte_order_mark_only() {
        assert_eq!(source("\u{feff}a: 1\r\nb: 2\r\n"), source("a: 1\nb: 2\n"));
        assert_ne!(source("a: 1\rb: 2"), source("a: 1b: 2"));
        assert_ne!(source("a: 1 # x"), source("a: 1 # y"));
        assert_eq!(source("").len(), 16);
    }
}
