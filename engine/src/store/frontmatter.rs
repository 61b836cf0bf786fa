//! `TASK.md` as text: reads and changes single keys of its frontmatter, and leaves every other byte alone.
//!
//! This is not a YAML library: it knows the lines of a mapping, and the scalars after its top-level keys. It preserves
//! everything else (lists, nested mappings, comments).

mod scan;

use std::borrow::Cow;
use std::fmt;

use self::scan::{Scanned, scan};
use crate::store::scalar::{self, Value};

/// A file with frontmatter and a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    text: String,
    newline: &'static str,
    entries: Vec<FrontmatterEntry>,
    /// Offset of the closing `---`.
    close: usize,
    /// Offset of the body.
    body: usize,
}

/// Reason for which a file cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrontmatterFlaw {
    /// The line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// Description of the defect.
    pub what: String,
    /// Advice on how to repair the file.
    pub mend: String,
}

/// One top-level key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FrontmatterEntry {
    line: usize,
    start: usize,
    /// After the key, quotes included.
    key: usize,
    /// After the colon.
    value: usize,
    /// After the last line that belongs to it, without the end of that line.
    end: usize,
}

impl Document {
    /// Parses the bytes of a file.
    pub fn parse(bytes: &[u8]) -> Result<Document, FrontmatterFlaw> {
        let text = std::str::from_utf8(bytes).map_err(|error| not_text(bytes, error.valid_up_to()))?;
        Document::of(text.to_owned())
    }

    /// Parses a text.
    pub fn of(text: String) -> Result<Document, FrontmatterFlaw> {
        let Scanned { newline, entries, close, body } = scan(&text)?;
        Ok(Document { newline, entries, close, body, text })
    }

    /// The whole file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text after the frontmatter.
    pub fn body(&self) -> &str {
        &self.text[self.body..]
    }

    /// The frontmatter with its two fences.
    pub fn head(&self) -> &str {
        &self.text[..self.body]
    }

    /// The names of its top-level keys, in their order.
    pub fn keys(&self) -> Vec<String> {
        self.entries.iter().map(|entry| entry.key(&self.text).into_owned()).collect()
    }

    /// A top-level key with its value and comment, as in the file.
    pub fn raw(&self, key: &str) -> Result<Option<&str>, FrontmatterFlaw> {
        Ok(self.entry(key)?.map(|entry| &self.text[entry.start..entry.end]))
    }

    /// Writes a top-level key as in another document, or removes it.
    pub fn put_raw(&mut self, key: &str, raw: Option<&str>) -> Result<(), FrontmatterFlaw> {
        let place = self.entry(key)?.map(|entry| entry.start..entry.end);
        let text = match (place, raw) {
            (None, None) => return Ok(()),
            (Some(place), Some(raw)) => [&self.text[..place.start], raw, &self.text[place.end..]].concat(),
            (Some(place), None) => {
                let behind = self.text[place.end..].split_once('\n').map_or("", |(_, behind)| behind);
                [&self.text[..place.start], behind].concat()
            }
            (None, Some(raw)) => {
                let (before, after) = self.text.split_at(self.close);
                [before, raw, self.newline, after].concat()
            }
        };
        *self = Document::of(text)?;
        Ok(())
    }

    /// Reduces the text to its body.
    pub fn into_body(mut self) -> String {
        self.text.drain(..self.body);
        self.text
    }

    /// The value of a top-level key; `None` when there is no such key, or its value is null.
    pub fn get(&self, key: &str) -> Result<Option<String>, FrontmatterFlaw> {
        match self.entry(key)? {
            Some(entry) => entry.decode(&self.text),
            None => Ok(None),
        }
    }

    /// Sets a key on one line: in its place, followed by its comment, or as the last key. A missing key already means no value,
    /// so it is not added for one.
    pub fn set(&mut self, key: &str, value: Value) -> Result<(), FrontmatterFlaw> {
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

    fn entry(&self, key: &str) -> Result<Option<&FrontmatterEntry>, FrontmatterFlaw> {
        let mut found = self.entries.iter().filter(|entry| entry.is(&self.text, key));
        match (found.next(), found.next()) {
            (first, None) => Ok(first),
            (_, Some(second)) => Err(FrontmatterFlaw::new(
                second.line,
                format!("`{key}` is there a second time"),
                "remove one of the two lines",
            )),
        }
    }
}

impl FrontmatterEntry {
    /// True if its key is this one; a plain key need not be decoded.
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

    fn decode(&self, text: &str) -> Result<Option<String>, FrontmatterFlaw> {
        scalar::decode(&text[self.value..self.end]).map_err(|what| {
            let what = format!("the value of `{}` cannot be understood: {what}", self.key(text));
            FrontmatterFlaw::new(self.line, what, "write it on one line, in double quotes")
        })
    }

    /// The range that a new value, with a space before it, replaces: a comment after a value on one line stays.
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

impl FrontmatterFlaw {
    fn new(line: usize, what: impl Into<String>, mend: &str) -> FrontmatterFlaw {
        FrontmatterFlaw { line, what: what.into(), mend: mend.to_owned() }
    }
}

impl fmt::Display for FrontmatterFlaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

fn not_text(bytes: &[u8], at: usize) -> FrontmatterFlaw {
    let line = 1 + bytes[..at].iter().filter(|&&byte| byte == b'\n').count();
    FrontmatterFlaw::new(line, "the file is not UTF-8 text", "save it as UTF-8, or put back what was there")
}

/// The properties of every parsed file: the body of a fuzz target.
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

/// A value without the line of its flaw, which an edit above it changes.
fn value_of(got: &Result<Option<String>, FrontmatterFlaw>) -> Result<&Option<String>, &str> {
    got.as_ref().map_err(|flaw| flaw.what.as_str())
}

#[cfg(test)]
mod tests;
