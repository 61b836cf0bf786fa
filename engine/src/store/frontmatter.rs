//! `TASK.md` as text: reads and changes single keys of its frontmatter, and leaves every other byte alone.
//!
//! This is no YAML library: it knows the lines of a mapping, and the scalars after its top-level keys. What it does
//! not know (lists, nested mappings, comments) it keeps as it is.

use std::borrow::Cow;
use std::fmt;

use crate::store::scalar::{self, KeepsBlankLines, Value};

/// A file with frontmatter and a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    text: String,
    newline: &'static str,
    entries: Vec<Entry>,
    /// Where the closing `---` begins.
    close: usize,
    /// Where the body begins.
    body: usize,
}

/// Why a file is no document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The line, from 1; 0 when it is the file as a whole.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
    /// What would mend it.
    pub mend: String,
}

/// One top-level key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    line: usize,
    start: usize,
    /// Behind the key, quotes included.
    key: usize,
    /// Behind the colon.
    value: usize,
    /// Behind the last line that belongs to it, the line's end not included.
    end: usize,
}

impl Document {
    /// Understands the bytes of a file.
    ///
    /// # Errors
    /// The first flaw: no frontmatter, a line in it that is none, conflict markers, bytes that are no text.
    pub fn parse(bytes: &[u8]) -> Result<Document, Flaw> {
        let text = std::str::from_utf8(bytes).map_err(|error| not_text(bytes, error.valid_up_to()))?;
        Document::of(text.to_owned())
    }

    /// As `parse`, for what is already text.
    ///
    /// # Errors
    /// As `parse`.
    pub fn of(text: String) -> Result<Document, Flaw> {
        const MOST_HAVE: usize = 16;
        if text.trim_start_matches(BOM).trim_start().is_empty() {
            return Err(Flaw::new(0, "it is empty", RESTORE));
        }
        no_conflict_markers(&text)?;
        let mut lines = Lines::new(&text);
        let newline = opening(&mut lines)?;
        let mut entries = Entries { done: Vec::with_capacity(MOST_HAVE), ..Entries::default() };
        for line in lines.by_ref() {
            if is_fence_of_frontmatter(line.content) {
                let (close, body) = (line.start, line.start + line.whole.len());
                return Ok(Document { newline, entries: entries.done, close, body, text });
            }
            entries.take(&line)?;
        }
        Err(Flaw::new(lines.number, "the frontmatter is not closed", "write a line `---` where it ends"))
    }

    /// The whole file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What follows the frontmatter.
    pub fn body(&self) -> &str {
        &self.text[self.body..]
    }

    /// The file's text cut down to its body.
    pub fn into_body(mut self) -> String {
        self.text.drain(..self.body);
        self.text
    }

    /// The value of a top-level key; `None` when there is no such key, or its value is null.
    ///
    /// # Errors
    /// When the key is there twice, or its value cannot be understood.
    pub fn get(&self, key: &str) -> Result<Option<String>, Flaw> {
        match self.entry(key)? {
            Some(entry) => entry.decode(&self.text),
            None => Ok(None),
        }
    }

    /// Gives a key this value, on one line: in its place, with the comment behind it; or as the last key. A key that is
    /// not there already has no value, and is not added to say so.
    ///
    /// # Errors
    /// When the key is there twice.
    pub fn set(&mut self, key: &str, value: Value) -> Result<(), Flaw> {
        let encoded = value.encoded();
        let text = match self.entry(key)? {
            Some(entry) if entry.decode(&self.text).ok() == Some(value.decoded().map(Into::into)) => {
                return Ok(());
            }
            Some(entry) => {
                let old = entry.value_range(&self.text);
                format!("{} {encoded}{}", &self.text[..old.start], &self.text[old.end..])
            }
            None if value == Value::Null => return Ok(()),
            None => {
                let (before, after) = self.text.split_at(self.close);
                format!("{before}{}: {encoded}{}{after}", Value::Text(key).encoded(), self.newline)
            }
        };
        *self = Document::of(text)?;
        Ok(())
    }

    /// Replaces the body.
    pub fn set_body(&mut self, body: &str) {
        self.text.truncate(self.body);
        if !self.text.ends_with('\n') && !body.is_empty() {
            self.text.push_str(self.newline);
            self.body = self.text.len();
        }
        self.text.push_str(body);
    }

    fn entry(&self, key: &str) -> Result<Option<&Entry>, Flaw> {
        let mut found = self.entries.iter().filter(|entry| entry.is(&self.text, key));
        match (found.next(), found.next()) {
            (first, None) => Ok(first),
            (_, Some(second)) => Err(Flaw::new(
                second.line,
                format!("`{key}` is there a second time"),
                "remove one of the two lines",
            )),
        }
    }
}

impl Entry {
    /// Whether its key is this one; hardly ever is that to be decoded first.
    fn is(&self, text: &str, key: &str) -> bool {
        match text.as_bytes()[self.start..self.key] {
            [b'"' | b'\'', ..] => self.key(text) == key,
            ref plain => plain == key.as_bytes(),
        }
    }

    fn key<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match &text[self.start..self.key] {
            quoted if quoted.starts_with(['"', '\'']) => {
                scalar::decode(quoted).ok().flatten().unwrap_or_default().into()
            }
            plain => plain.into(),
        }
    }

    fn decode(&self, text: &str) -> Result<Option<String>, Flaw> {
        scalar::decode(&text[self.value..self.end]).map_err(|what| {
            let what = format!("the value of `{}` cannot be understood: {what}", self.key(text));
            Flaw::new(self.line, what, "write it on one line, in double quotes")
        })
    }

    /// What a new value with a space before it replaces: a comment behind a value on one line stays.
    fn value_range(&self, text: &str) -> std::ops::Range<usize> {
        let raw = &text[self.value..self.end];
        if raw.contains('\n') {
            return self.value..self.end;
        }
        let blanks = raw.len() - raw.trim_start_matches([' ', '\t']).len();
        let length = scalar::one_line_length(&raw[blanks..]);
        let end = if length == 0 { self.value } else { self.value + blanks + length };
        self.value..end
    }
}

impl Flaw {
    fn new(line: usize, what: impl Into<String>, mend: &str) -> Flaw {
        Flaw { line, what: what.into(), mend: mend.to_owned() }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

const BOM: char = '\u{FEFF}';
const RESTORE: &str = "put back what was there";
const OPEN: &str = "the first line must be `---`, nothing else";

/// The keys so far, and how the lines below may continue the last one.
#[derive(Default)]
struct Entries {
    done: Vec<Entry>,
    block: Option<KeepsBlankLines>,
    /// Whether nothing stands behind the last key's colon, so that a list may follow.
    bare: bool,
}

impl Entries {
    fn take(&mut self, line: &Line) -> Result<(), Flaw> {
        // Most lines begin so, and that is a key.
        let begins_with_letter = line.content.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
        if begins_with_letter || !self.has_taken(line)? { self.begin(line) } else { Ok(()) }
    }

    /// Takes a line that is blank, a comment, or goes on with the last key; `false` for another one.
    fn has_taken(&mut self, line: &Line) -> Result<bool, Flaw> {
        let content = line.content;
        let bare = content.trim();
        if bare.is_empty() {
            if self.block == Some(KeepsBlankLines(true)) {
                self.extend(line);
            }
            return Ok(true);
        }
        if content.starts_with('\t') {
            return Err(Flaw::new(line.number, "the line begins with a tab", "indent with spaces"));
        }
        let is_indented = content.starts_with(' ');
        let is_comment = bare.starts_with('#') && !(is_indented && self.block.is_some());
        Ok(is_comment || (is_indented || self.bare && is_list_item(content)) && self.extend(line))
    }

    fn begin(&mut self, line: &Line) -> Result<(), Flaw> {
        let content = line.content;
        let (key, colon) = key(content).ok_or_else(|| {
            let help =
                "write `key: value`, indent what belongs to the line above, or begin the line with `#`";
            Flaw::new(line.number, "this line of the frontmatter is neither a key nor a comment", help)
        })?;
        let start = line.start;
        let value = content[colon..].trim_ascii_start();
        self.block = scalar::is_block(value);
        self.bare = matches!(value.as_bytes().first(), None | Some(b'#'));
        let end = start + content.len();
        self.done.push(Entry { line: line.number, start, key: start + key, value: start + colon, end });
        Ok(())
    }

    /// Adds a line to the last key; `false` when there is none.
    fn extend(&mut self, line: &Line) -> bool {
        let last = self.done.last_mut();
        last.map(|entry| entry.end = line.start + line.content.len()).is_some()
    }
}

/// A list may stand under its key without being indented.
fn is_list_item(content: &str) -> bool {
    content == "-" || content.starts_with("- ")
}

/// Where the key that a line begins with ends, and where the colon behind it does.
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

/// Passes the opening `---` and says how its line ends.
fn opening(lines: &mut Lines) -> Result<&'static str, Flaw> {
    let Some(first) = lines.next() else { return Err(Flaw::new(0, "it is empty", RESTORE)) };
    let content = first.content.trim_start_matches(BOM);
    if !is_fence_of_frontmatter(content) {
        let what = if content.starts_with("---") {
            format!("the frontmatter opens with `{}`", content.chars().take(20).collect::<String>())
        } else {
            "the frontmatter does not begin in the first line".to_owned()
        };
        return Err(Flaw::new(1, what, OPEN));
    }
    Ok(if first.whole.ends_with("\r\n") { "\r\n" } else { "\n" })
}

fn is_fence_of_frontmatter(content: &str) -> bool {
    content.strip_prefix("---").is_some_and(|rest| rest.trim().is_empty())
}

/// What a merge left undecided. A line of `=======` alone is no sign: it underlines a heading.
fn no_conflict_markers(text: &str) -> Result<(), Flaw> {
    let may_have = |letter: char, marker: &str| text.contains(letter) && text.contains(marker);
    if !may_have('<', "<<<<<<<") && !may_have('>', ">>>>>>>") {
        return Ok(());
    }
    let is_marker = |content: &str, marker: &str| {
        content.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let mut fence: Option<&str> = None;
    for line in Lines::new(text) {
        let mark = code_fence(line.content);
        match (fence, mark) {
            (Some(open), Some(mark)) if mark.starts_with(open) && line.content.trim() == mark => fence = None,
            (None, Some(mark)) => fence = Some(mark),
            (Some(_), _) => {}
            (None, None) => {
                if is_marker(line.content, "<<<<<<<") || is_marker(line.content, ">>>>>>>") {
                    let help = "keep what is right of the two versions and remove the lines `<<<<<<<`, `=======`, `>>>>>>>`";
                    return Err(Flaw::new(line.number, "a merge conflict is not resolved", help));
                }
            }
        }
    }
    Ok(())
}

/// The run of backticks or tildes that makes a line the beginning or the end of a code block.
fn code_fence(content: &str) -> Option<&str> {
    let inside = content.trim_start_matches(' ');
    let mark = inside.chars().next().filter(|first| matches!(first, '`' | '~'))?;
    let length = inside.len() - inside.trim_start_matches(mark).len();
    (content.len() - inside.len() <= 3 && length >= 3).then(|| &inside[..length])
}

fn not_text(bytes: &[u8], at: usize) -> Flaw {
    let line = 1 + bytes[..at].iter().filter(|&&byte| byte == b'\n').count();
    Flaw::new(line, "the file is not UTF-8 text", "save it as UTF-8, or put back what was there")
}

/// The lines of a text, with their places.
struct Lines<'a> {
    rest: &'a str,
    start: usize,
    number: usize,
}

struct Line<'a> {
    whole: &'a str,
    content: &'a str,
    start: usize,
    number: usize,
}

impl Lines<'_> {
    fn new(text: &str) -> Lines<'_> {
        Lines { rest: text, start: 0, number: 0 }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
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
        let line = Line { whole, content, start: self.start, number: self.number };
        self.start += whole.len();
        self.rest = rest;
        Some(line)
    }
}

/// What must hold for a file of any bytes; the body of a fuzz target.
///
/// # Panics
/// When it does not hold.
#[doc(hidden)]
pub fn any_bytes(bytes: &[u8]) {
    let Ok(document) = Document::parse(bytes) else { return };
    assert_eq!(document.text().as_bytes(), bytes);
    let keys: Vec<String> =
        document.entries.iter().map(|entry| entry.key(document.text()).into_owned()).collect();
    let values = keys.iter().map(|key| document.get(key)).collect::<Vec<_>>();
    for value in [Value::Text("---\n#: \u{FEFF}"), Value::Plain("7"), Value::Null] {
        for key in keys.iter().map(String::as_str).chain(["status"]) {
            let mut edited = document.clone();
            if edited.set(key, value).is_err() {
                assert!(keys.iter().filter(|other| *other == key).count() > 1, "`{key}` is there once");
                continue;
            }
            assert_eq!(edited.get(key), Ok(value.decoded().map(Into::into)));
            assert_eq!(edited.body(), document.body());
            let others = keys.iter().zip(&values).filter(|(other, _)| *other != key);
            others.for_each(|(other, before)| assert_eq!(value_of(&edited.get(other)), value_of(before)));
        }
    }
}

/// A value without the line of its flaw, which an edit above it moves.
fn value_of(got: &Result<Option<String>, Flaw>) -> Result<&Option<String>, &str> {
    got.as_ref().map_err(|flaw| flaw.what.as_str())
}

#[cfg(test)]
mod tests;
