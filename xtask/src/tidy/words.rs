//! Words of a dialect of our own, which no newcomer knows, and the words to write instead.

use super::Finding;
use crate::house::File;

/// Each word and what to write instead.
const WORDS: &[(&str, &str)] = &[
    ("way", "write `transition`, `path`, or how it happens"),
    ("ways", "write `transitions`, `paths`, or how it happens"),
    ("told", "say who reports, prints or reads it"),
    ("kin", "write `siblings`"),
    ("keeper", "write `backup`"),
    ("in hand", "say which state it is in"),
    ("wrong but for", "say what the exception is"),
    ("but on record", "write `journaled`"),
];

/// The folders whose comments, texts and pages are free of these words.
const PLAIN: &[&str] = &["analysis/src/", "codegen/src/", "docs/lints/"];

/// Every such word in a comment, in a text between quotes, or on a page.
pub(super) fn all(files: &[File]) -> Vec<Finding> {
    let plain = files.iter().filter(|file| PLAIN.iter().any(|folder| file.path.starts_with(folder)));
    plain.flat_map(in_file).collect()
}

fn in_file(file: &File) -> impl Iterator<Item = Finding> {
    let is_page = file.path.ends_with(".md");
    file.text.lines().zip(1..).filter_map(move |(line, number)| {
        let text = if is_page { line.to_string() } else { words_of(line) };
        let (word, remedy) = WORDS.iter().find(|(word, _)| has(&text, word))?;
        let place = format!("{}:{number}", file.path);
        Some(Finding::new(place, format!("says `{word}`, a word of our own"), remedy))
    })
}

/// What people read in a line of Rust: its comment, or its texts without the names between braces.
fn words_of(line: &str) -> String {
    if let Some((_, comment)) = line.split_once("//") {
        return comment.to_string();
    }
    let line = line.replace("'\"'", "");
    let texts = line.split('"').skip(1).step_by(2);
    let outside =
        texts.flat_map(|text| text.split('{').map(|it| it.split_once('}').map_or(it, |(_, after)| after)));
    outside.collect::<Vec<_>>().join(" ")
}

/// Whether a text has a word as a whole: `-` and `_` make it a part of a name.
fn has(text: &str, word: &str) -> bool {
    let text = text.to_lowercase();
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_');
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, expect: &[&str]) {
        let file = File { path: path.to_string(), text: text.to_string() };
        let found: Vec<String> =
            all(&[file]).into_iter().map(|it| format!("{}: {}", it.place, it.remedy)).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn words_of_our_own_are_refused_with_the_word_to_write() {
        check(
            "docs/lints/a.md",
            "# A\n\nNo way leads on.\n",
            &[&format!("docs/lints/a.md:3: {}", WORDS[0].1)],
        );
        check(
            "codegen/src/a.rs",
            "//! What it is told.\n",
            &[&format!("codegen/src/a.rs:1: {}", WORDS[2].1)],
        );
        check(
            "analysis/src/a.rs",
            "let text = format!(\"{it} is in hand\");",
            &[&format!("analysis/src/a.rs:1: {}", WORDS[5].1)],
        );
    }

    #[test]
    fn names_and_other_rooms_may_have_them() {
        check("analysis/src/a.rs", "let told = format!(\"{told} of {way}\"); // always", &[]);
        check("docs/lints/a.md", "# C10 one-way-human-gate", &[]);
        check("engine/src/a.rs", "// What the agent is told.", &[]);
    }
}
