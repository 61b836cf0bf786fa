//! Docs of items: each names the noun that it documents.

use super::RuleBreach;
use crate::workspace::TextFile;

/// Words with which a clause begins that stands in the place of a noun.
const QUESTIONS: [&str; 9] = ["What", "How", "Whether", "Who", "Whose", "Why", "When", "Where", "Which"];

/// Every doc comment that begins with a question or with `The same`, or is one word.
pub(super) fn all(files: &[TextFile]) -> Vec<RuleBreach> {
    files.iter().filter(|file| file.path.ends_with(".rs")).flat_map(in_file).collect()
}

fn in_file(file: &TextFile) -> Vec<RuleBreach> {
    let mut found = Vec::new();
    let mut before = None;
    for (number, line) in (1..).zip(file.text.lines()) {
        let doc = doc_of(line);
        if before.is_none()
            && let Some(text) = doc
            && let Some((problem, remedy)) = problem(text)
        {
            found.push(RuleBreach::new(format!("{}:{number}", file.path), problem.to_owned(), remedy));
        }
        before = doc;
    }
    found
}

/// The text of a line of docs.
fn doc_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let text = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?;
    (!text.starts_with('/')).then_some(text.trim())
}

fn problem(text: &str) -> Option<(&'static str, &'static str)> {
    let first = text.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
    if QUESTIONS.contains(&first) {
        return Some((
            "its doc begins with a question word",
            "name the noun: `Idempotency key.`, `True if it waits.`",
        ));
    }
    if text.starts_with("The same") {
        return Some((
            "its doc begins with `The same`",
            "say what the item does or is: a reader has not read the one before",
        ));
    }
    let is_word = text.ends_with('.') && !text.contains(' ') && !text.contains('`');
    is_word.then_some(("its doc is one word", "leave it out, or say what a reader cannot see"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str) -> Vec<String> {
        let file = TextFile { path: "a.rs".to_owned(), text: text.to_owned() };
        in_file(&file).into_iter().map(|it| it.place).collect()
    }

    #[test]
    fn a_question_is_found_on_its_first_line_only() {
        assert_eq!(places("/// What it is.\nstruct A;\n"), ["a.rs:1"]);
        assert_eq!(places("struct A {\n    /// Whether it waits.\n    a: bool,\n}\n"), ["a.rs:2"]);
        assert_eq!(places("//! How it works.\n"), ["a.rs:1"]);
        assert!(places("/// Rules of\n/// What follows.\nstruct A;\n").is_empty());
        assert!(places("// What follows is ours.\nlet a = \"/// What\";\n").is_empty());
        assert!(places("/// Whatsit of it.\nstruct A;\n").is_empty());
    }

    #[test]
    fn a_doc_that_refers_to_another_one_is_found() {
        assert_eq!(places("/// The same with more arguments.\nfn a() {}\n"), ["a.rs:1"]);
        assert!(places("/// Its arguments.\n/// The same ones.\nfn a() {}\n").is_empty());
    }

    #[test]
    fn a_doc_of_one_word_is_found() {
        assert_eq!(places("/// Reason.\nstruct A;\n"), ["a.rs:1"]);
        assert!(places("/// `PATH`.\n/// [`A`].\nstruct A;\n").is_empty());
    }
}
