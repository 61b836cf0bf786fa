//! Finds the frontmatter of a file: its top-level keys, and where the body begins.

use super::{FrontmatterEntry, FrontmatterFlaw};
use crate::store::scalar::{self, KeepsBlankLines};

const BOM: char = '\u{FEFF}';
const RESTORE: &str = "put back what was there";
const OPEN: &str = "the first line must be `---`, nothing else";

/// The parts of a file with frontmatter.
pub(super) struct Scanned {
    pub(super) newline: &'static str,
    pub(super) entries: Vec<FrontmatterEntry>,
    /// Offset of the closing `---`.
    pub(super) close: usize,
    /// Offset of the body.
    pub(super) body: usize,
}

pub(super) fn scan(text: &str) -> Result<Scanned, FrontmatterFlaw> {
    const MOST_HAVE: usize = 16;
    if text.trim_start_matches(BOM).trim_start().is_empty() {
        return Err(FrontmatterFlaw::new(0, "it is empty", RESTORE));
    }
    no_conflict_markers(text)?;
    let mut lines = FrontmatterLines::new(text);
    let newline = opening(&mut lines)?;
    let mut entries =
        FrontmatterEntries { done: Vec::with_capacity(MOST_HAVE), ..FrontmatterEntries::default() };
    for line in lines.by_ref() {
        if is_fence_of_frontmatter(line.content) {
            let (close, body) = (line.start, line.start + line.whole.len());
            return Ok(Scanned { newline, entries: entries.done, close, body });
        }
        entries.take(&line)?;
    }
    Err(FrontmatterFlaw::new(
        lines.number,
        "the frontmatter is not closed",
        "write a line `---` where it ends",
    ))
}

/// The keys so far, and how the following lines may continue the last one.
#[derive(Default)]
struct FrontmatterEntries {
    done: Vec<FrontmatterEntry>,
    block: Option<KeepsBlankLines>,
    /// True if the last key's colon ends its line, so that a list may follow.
    bare: bool,
}

impl FrontmatterEntries {
    fn take(&mut self, line: &FrontmatterLine) -> Result<(), FrontmatterFlaw> {
        // Most lines begin with a letter, and are keys.
        let begins_with_letter = line.content.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
        if begins_with_letter || !self.has_taken(line)? { self.begin(line) } else { Ok(()) }
    }

    /// Takes a line that is blank, a comment, or a continuation of the last key; `false` for any other.
    fn has_taken(&mut self, line: &FrontmatterLine) -> Result<bool, FrontmatterFlaw> {
        let content = line.content;
        let bare = content.trim();
        if bare.is_empty() {
            if self.block == Some(KeepsBlankLines(true)) {
                self.extend(line);
            }
            return Ok(true);
        }
        if content.starts_with('\t') {
            return Err(FrontmatterFlaw::new(
                line.number,
                "the line begins with a tab",
                "indent with spaces",
            ));
        }
        let is_indented = content.starts_with(' ');
        let is_comment = bare.starts_with('#') && !(is_indented && self.block.is_some());
        Ok(is_comment || (is_indented || self.bare && is_list_item(content)) && self.extend(line))
    }

    fn begin(&mut self, line: &FrontmatterLine) -> Result<(), FrontmatterFlaw> {
        let content = line.content;
        let (key, colon) = key(content).ok_or_else(|| {
            let help =
                "write `key: value`, indent what belongs to the line above, or begin the line with `#`";
            FrontmatterFlaw::new(
                line.number,
                "this line of the frontmatter is neither a key nor a comment",
                help,
            )
        })?;
        let start = line.start;
        let value = content[colon..].trim_ascii_start();
        self.block = scalar::is_block(value);
        self.bare = matches!(value.as_bytes().first(), None | Some(b'#'));
        let end = start + content.len();
        self.done.push(FrontmatterEntry {
            line: line.number,
            start,
            key: start + key,
            value: start + colon,
            end,
        });
        Ok(())
    }

    /// Adds a line to the last key; `false` when there is none.
    fn extend(&mut self, line: &FrontmatterLine) -> bool {
        let last = self.done.last_mut();
        last.map(|entry| entry.end = line.start + line.content.len()).is_some()
    }
}

/// True if the line is a list item, which may follow its key without being indented.
fn is_list_item(content: &str) -> bool {
    content == "-" || content.starts_with("- ")
}

/// The ends of the key with which a line begins, and of the colon after it.
fn key(content: &str) -> Option<(usize, usize)> {
    let length = match content.chars().next()? {
        quote @ ('"' | '\'') => 2 + content[1..].find(quote)?,
        ' ' | '[' | ']' | '{' | '}' | ',' | '%' | '@' | '`' | '|' | '>' | '&' | '*' | '!' | '?' => {
            return None;
        }
        _ => (0..content.len()).find(|&at| is_colon(content, at))?,
    };
    let blanks = content.bytes().skip(length).take_while(|byte| *byte == b' ').count();
    let colon = length + blanks;
    is_colon(content, colon).then_some((length, colon + 1))
}

fn is_colon(content: &str, at: usize) -> bool {
    let bytes = content.as_bytes();
    bytes.get(at) == Some(&b':') && matches!(bytes.get(at + 1), None | Some(b' ' | b'\t'))
}

/// Skips the opening `---` and returns the end of its line.
fn opening(lines: &mut FrontmatterLines) -> Result<&'static str, FrontmatterFlaw> {
    let Some(first) = lines.next() else { return Err(FrontmatterFlaw::new(0, "it is empty", RESTORE)) };
    let content = first.content.trim_start_matches(BOM);
    if !is_fence_of_frontmatter(content) {
        let what = if content.starts_with("---") {
            format!("the frontmatter opens with `{}`", content.chars().take(20).collect::<String>())
        } else {
            "the frontmatter does not begin in the first line".to_owned()
        };
        return Err(FrontmatterFlaw::new(1, what, OPEN));
    }
    Ok(if first.whole.ends_with("\r\n") { "\r\n" } else { "\n" })
}

fn is_fence_of_frontmatter(content: &str) -> bool {
    content.strip_prefix("---").is_some_and(|rest| rest.trim().is_empty())
}

/// Refuses unresolved conflicts of a merge. A line of `=======` alone is allowed: it underlines a heading.
fn no_conflict_markers(text: &str) -> Result<(), FrontmatterFlaw> {
    let may_have = |letter: char, marker: &str| text.contains(letter) && text.contains(marker);
    if !may_have('<', "<<<<<<<") && !may_have('>', ">>>>>>>") {
        return Ok(());
    }
    let is_marker = |content: &str, marker: &str| {
        content.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let mut fence: Option<&str> = None;
    for line in FrontmatterLines::new(text) {
        let mark = code_fence(line.content);
        match (fence, mark) {
            (Some(open), Some(mark)) if mark.starts_with(open) && line.content.trim() == mark => fence = None,
            (None, Some(mark)) => fence = Some(mark),
            (Some(_), _) => {}
            (None, None) => {
                if is_marker(line.content, "<<<<<<<") || is_marker(line.content, ">>>>>>>") {
                    let help = "keep what is right of the two versions and remove the lines `<<<<<<<`, `=======`, `>>>>>>>`";
                    return Err(FrontmatterFlaw::new(line.number, "a merge conflict is not resolved", help));
                }
            }
        }
    }
    Ok(())
}

/// The run of backticks or tildes with which a code block begins or ends.
fn code_fence(content: &str) -> Option<&str> {
    let inside = content.trim_start_matches(' ');
    let mark = inside.chars().next().filter(|first| matches!(first, '`' | '~'))?;
    let length = inside.len() - inside.trim_start_matches(mark).len();
    (content.len() - inside.len() <= 3 && length >= 3).then(|| &inside[..length])
}

/// The lines of a text, with their positions.
struct FrontmatterLines<'a> {
    rest: &'a str,
    start: usize,
    number: usize,
}

struct FrontmatterLine<'a> {
    whole: &'a str,
    content: &'a str,
    start: usize,
    number: usize,
}

impl FrontmatterLines<'_> {
    fn new(text: &str) -> FrontmatterLines<'_> {
        FrontmatterLines { rest: text, start: 0, number: 0 }
    }
}

impl<'a> Iterator for FrontmatterLines<'a> {
    type Item = FrontmatterLine<'a>;

    fn next(&mut self) -> Option<FrontmatterLine<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.bytes().position(|byte| byte == b'\n');
        let (whole, rest) = self.rest.split_at(end.map_or(self.rest.len(), |end| end + 1));
        let content = match whole.as_bytes() {
            [.., b'\r', b'\n'] => &whole[..whole.len() - 2],
            [.., b'\r' | b'\n'] => &whole[..whole.len() - 1],
            _ => whole,
        };
        self.number += 1;
        let line = FrontmatterLine { whole, content, start: self.start, number: self.number };
        self.start += whole.len();
        self.rest = rest;
        Some(line)
    }
}
