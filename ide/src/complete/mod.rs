//! Completion: the words that can stand at a place, best first.
//!
//! A word that no file has is put at the cursor; the place at which the tree then has it says what can stand there.

mod operands;
mod place;
mod prompt;
mod values;

#[cfg(test)]
mod tests;

use orange_codegen::Span;
use orange_codegen::model::keys::NameKind;
use orange_codegen::syntax::parse_tolerant;
use orange_codegen::{Format, Source};

use crate::document::{Document, DocumentKind};
use crate::project::{Project, keys_of};
use crate::workspace::Workspace;

/// A word that can stand at the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The word, as the list shows it.
    pub label: String,
    /// Kind of the word.
    pub kind: CompletionKind,
    /// Its meaning, in one line.
    pub detail: Option<String>,
    /// The text that goes.
    pub span: Span,
    /// The text that comes.
    pub text: String,
}

/// Kind of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// A key.
    Key,
    /// A name.
    Name(NameKind),
    /// One of a few words, or a sign.
    Word,
    /// A command or an option of `orange`.
    Command,
    /// A check that a comment allows.
    Check,
}

/// A word that stands in no file.
const CURSOR: &str = "zqcursor";

/// Place of the cursor: the word that it stands in, and the text around that.
struct CursorWord<'d> {
    text: &'d str,
    /// The word, which may be empty.
    word: Span,
}

impl<'d> CursorWord<'d> {
    fn at(text: &'d str, offset: u32) -> Self {
        let offset = text.floor_char_boundary(offset as usize);
        let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-');
        let start = text[..offset].trim_end_matches(is_part).len();
        let end = text.len() - text[offset..].trim_start_matches(is_part).len();
        Self { text, word: Span::new(start as u32, end as u32) }
    }

    /// The line before the word.
    fn line_before(&self) -> &'d str {
        let before = &self.text[..self.word.start as usize];
        before.rsplit('\n').next().unwrap_or_default()
    }

    /// The line behind the word.
    fn line_behind(&self) -> &'d str {
        let behind = &self.text[self.word.end as usize..];
        behind.split('\n').next().unwrap_or_default()
    }

    /// The text with another word in its place.
    fn with(&self, word: &str) -> String {
        let (before, behind) = (&self.text[..self.word.start as usize], &self.text[self.word.end as usize..]);
        format!("{before}{word}{behind}")
    }
}

/// The words that can stand at a byte of a document, best first.
pub fn complete(workspace: &Workspace, document: &Document, offset: u32) -> Vec<Completion> {
    let cursor = CursorWord::at(document.text(), offset);
    if let Some(checks) = values::allowed_checks(&cursor) {
        return checks;
    }
    let Some(project) = Project::of(workspace, document) else { return Vec::new() };
    if document.kind == DocumentKind::Other {
        let file = project.prompts.values().find(|it| it.path == document.path);
        let before = &document.text()[..cursor.word.start as usize];
        return file.map(|it| prompt::complete(&project, it.kind, before, cursor.word)).unwrap_or_default();
    }
    let Some(keys) = keys_of(workspace, document) else { return Vec::new() };
    let is_open = needs_quotes(document.source.format, cursor.line_before());
    let word = if is_open { format!("\"{CURSOR}\"") } else { CURSOR.to_owned() };
    let mut source = Source::new(document.source.path.clone(), cursor.with(&word));
    source.format = document.source.format;
    let Some(tree) = parse_tolerant(&source, Some(cursor.word.start)).tree else { return Vec::new() };
    let Some(found) = place::find(&tree, keys) else { return Vec::new() };
    values::at(&values::Asked { workspace, document, project: &project, cursor: &cursor, is_open }, &found)
}

/// True if a value begins here that TOML wants in quotes.
fn needs_quotes(format: Format, line: &str) -> bool {
    let is_value = line.contains('=') || line.trim_start().starts_with(['"', '[', ',']);
    format == Format::Toml && is_value && !is_in_quotes(line) && !line.trim_start().starts_with("[[")
}

fn is_in_quotes(line: &str) -> bool {
    let open = line.chars().fold(None, |open, it| match open {
        None if matches!(it, '"' | '\'') => Some(it),
        Some(quote) if it == quote => None,
        open => open,
    });
    open.is_some()
}
