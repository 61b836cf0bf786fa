//! Separates what people read in a file, its prose, from the names in its code. Both keep their lines.

use crate::workspace::TextFile;

/// A stretch of prose: the comment lines that follow each other, a text between quotes, or a whole page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Prose {
    /// The line on which it begins, from 1.
    pub(super) line: usize,
    /// Its words, with the line breaks of the file and without comment marks, escapes and placeholders.
    pub(super) text: String,
}

/// A name in the code, and its line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CodeName<'f> {
    pub(super) line: usize,
    pub(super) text: &'f str,
}

/// The prose and the names of a file. A file that is not Rust is prose as a whole.
pub(super) fn of(file: &TextFile) -> (Vec<Prose>, Vec<CodeName<'_>>) {
    if !file.path.ends_with(".rs") {
        return (vec![Prose { line: 1, text: file.text.clone() }], Vec::new());
    }
    let (mut prose, mut names) = (Vec::new(), Vec::new());
    let mut comment: Option<Prose> = None;
    let mut line = 1;
    for piece in pieces(&file.text) {
        match piece {
            SourcePiece::Comment(text) => {
                let text = text.trim_start_matches(['/', '!', '*', ' ']);
                let follows =
                    |it: &mut Prose| !text.is_empty() && it.line + it.text.matches('\n').count() + 1 == line;
                if let Some(before) = comment.as_mut().and_then(|it| follows(it).then_some(it)) {
                    before.text.push('\n');
                    before.text.push_str(text);
                } else {
                    prose.extend(comment.take());
                    comment = (!text.is_empty()).then(|| Prose { line, text: text.to_string() });
                }
            }
            SourcePiece::Text(text) => prose.push(Prose { line, text: words_of(text) }),
            SourcePiece::Code(text) => names.extend(names_of(text, line)),
        }
        line += piece.text().matches('\n').count();
    }
    prose.extend(comment);
    prose.retain(|it| !it.text.trim().is_empty());
    prose.sort_by_key(|it| it.line);
    (prose, names)
}

/// Part of a Rust file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SourcePiece<'f> {
    /// From its mark to the end of the line, or of the block.
    Comment(&'f str),
    /// With its quotes.
    Text(&'f str),
    /// Anything else, characters between quotes included.
    Code(&'f str),
}

impl<'f> SourcePiece<'f> {
    fn text(self) -> &'f str {
        match self {
            SourcePiece::Comment(text) | SourcePiece::Text(text) | SourcePiece::Code(text) => text,
        }
    }
}

fn pieces(text: &str) -> Vec<SourcePiece<'_>> {
    let (mut found, mut code, mut at) = (Vec::new(), 0, 0);
    while at < text.len() {
        let rest = &text[at..];
        let is_name = text[..at].ends_with(|it: char| it.is_alphanumeric() || it == '_');
        let piece = if rest.starts_with("//") {
            Some(SourcePiece::Comment(&rest[..rest.find('\n').unwrap_or(rest.len())]))
        } else if rest.starts_with("/*") {
            Some(SourcePiece::Comment(&rest[..rest.find("*/").map_or(rest.len(), |end| end + 2)]))
        } else if rest.starts_with('"') {
            Some(SourcePiece::Text(&rest[..quoted(rest)]))
        } else {
            raw(rest).filter(|_| !is_name).map(|length| SourcePiece::Text(&rest[..length]))
        };
        if let Some(piece) = piece {
            found.push(SourcePiece::Code(&text[code..at]));
            found.push(piece);
            at += piece.text().len();
            code = at;
        } else {
            at += character(rest).unwrap_or_else(|| rest.chars().next().map_or(1, char::len_utf8));
        }
    }
    found.push(SourcePiece::Code(&text[code..]));
    found
}

/// The length of a text between quotes.
fn quoted(rest: &str) -> usize {
    let mut is_escaped = false;
    let end = rest.char_indices().skip(1).find(|(_, it)| {
        let is_end = *it == '"' && !is_escaped;
        is_escaped = *it == '\\' && !is_escaped;
        is_end
    });
    end.map_or(rest.len(), |(at, _)| at + 1)
}

/// The length of a raw text, such as `r#"…"#`.
fn raw(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix('b').unwrap_or(rest).strip_prefix('r')?;
    let marks = after.len() - after.trim_start_matches('#').len();
    let body = after[marks..].strip_prefix('"')?;
    let end = body.find(&format!("\"{}", "#".repeat(marks)))? + 1 + marks;
    Some(rest.len() - body.len() + end)
}

/// The length of a character between quotes; none for a lifetime.
fn character(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix('\'')?;
    let mut letters = body.char_indices();
    let (_, first) = letters.next()?;
    let (end, _) = if first == '\\' {
        letters.next()?;
        letters.find(|(_, it)| *it == '\'')?
    } else {
        letters.next().filter(|(_, it)| *it == '\'')?
    };
    Some(end + 2)
}

/// A text between quotes with spaces in the place of quotes, escapes and placeholders: the words that it shows.
fn words_of(text: &str) -> String {
    let mut words = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = if letter == '\\' {
            1 + rest[1..].chars().next().map_or(0, char::len_utf8)
        } else if letter == '{' {
            placeholder(rest).unwrap_or(1)
        } else {
            letter.len_utf8()
        };
        let (this, after) = rest.split_at(length);
        let is_shown = length == letter.len_utf8() && !matches!(letter, '"' | '#' | '{' | '}' | '\\');
        words.push_str(if is_shown { this } else { " " });
        words.extend((!is_shown).then(|| this.matches('\n')).into_iter().flatten());
        rest = after;
    }
    words
}

/// The length of a placeholder such as `{name:?}`, if one begins here.
fn placeholder(rest: &str) -> Option<usize> {
    let end = rest.find('}')?;
    let is_part = |it: char| it.is_alphanumeric() || "_.:?<>^$*#".contains(it);
    rest[1..end].chars().all(is_part).then_some(end + 1)
}

fn names_of(code: &str, line: usize) -> Vec<CodeName<'_>> {
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    let lines = code.split('\n').zip(line..);
    lines
        .flat_map(|(text, line)| text.split(move |it| !is_part(it)).map(move |text| CodeName { line, text }))
        .filter(|name| name.text.starts_with(|it: char| it.is_alphabetic()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> TextFile {
        TextFile { path: "a.rs".to_string(), text: text.to_string() }
    }

    #[track_caller]
    fn check_prose(text: &str, expect: &[(usize, &str)]) {
        let prose = of(&file(text)).0;
        let found: Vec<_> = prose.iter().map(|it| (it.line, it.text.trim_end())).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn comments_that_follow_each_other_are_one_text() {
        check_prose("//! One,\n//! two.\n//!\n//! Three.\n", &[(1, "One,\ntwo."), (4, "Three.")]);
        check_prose("let a = 1; // one\n\n/* two */", &[(1, "one"), (3, "two */")]);
    }

    #[test]
    fn texts_keep_their_words_and_lines() {
        check_prose("let a = \"a \\\n  b\";", &[(1, " a  \n  b")]);
        check_prose("f(r#\"a \"c\" b\"#, '\"', \"c\")", &[(1, "r  a  c  b"), (1, " c")]);
        check_prose("f(\"a // {way:?}, {{b}}\\nc\")", &[(1, " a //  ,     c")]);
        check_prose("f(r\"{ a }\")", &[(1, "r   a")]);
    }

    #[test]
    fn names_are_what_is_left() {
        let text = "fn a<'b>(c: char) {\n  f('x', '\\'', \"c\") // c\n}\nlet d;";
        let found: Vec<_> = of(&file(text)).1.into_iter().map(|it| (it.line, it.text.to_string())).collect();
        let expect =
            [(1, "fn"), (1, "a"), (1, "b"), (1, "c"), (1, "char"), (2, "f"), (2, "x"), (4, "let"), (4, "d")];
        assert_eq!(found, expect.map(|(line, text)| (line, text.to_string())));
    }
}
