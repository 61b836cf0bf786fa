//! Edits that mend a source in place: they touch the bytes that are wrong, and leave comments and layout alone.

use crate::diag::{Edit, Fix};
use crate::source::{Format, Source};
use crate::span::Span;

#[cfg(test)]
mod tests;

/// Writes another word in the place of one. `None` where that is not simply putting one text for another: the source
/// spells the word with escapes, or the new one would need quotes that are not there.
pub fn replace_word(source: &str, span: Span, word: &str, new: &str) -> Option<Fix> {
    let written = source.get(span.range())?;
    let (inside, quoted) = match written.as_bytes() {
        _ if written == word => (span, false),
        [b'"' | b'\'', .., b'"' | b'\''] if written.get(1..written.len() - 1) == Some(word) => {
            (Span::new(span.start + 1, span.end - 1), true)
        }
        _ => return None,
    };
    let fits = if quoted { !new.contains(['"', '\'', '\\', '\n']) } else { is_plain_word(new) };
    fits.then(|| Fix::replace(format!("write `{new}`"), inside, new))
}

/// Takes an entry of a mapping or an item of a list away, with the comments that stand directly above it and behind it.
/// `span` is the whole of it: from the key to the end of the value. `None` where more than that would have to change.
pub fn remove_entry(source: &str, span: Span) -> Option<Edit> {
    let end = after_empty_value(source, span.end as usize);
    let edit = match follows_in_flow(source, end) {
        Some(_) => remove_from_flow(source, span.start as usize, end),
        None => remove_from_block(source, span.start as usize, end)?,
    };
    Some(edit)
}

/// Puts a mapping of one entry before an item of a list, written as the list is: on a line of its own with the same
/// indentation, or between brackets. Comments directly above the item stay with it. `None` where more than that would have to change.
pub fn insert_before(source: &Source, item: Span, entry: (&str, &str)) -> Option<Edit> {
    let text = &source.text;
    let start = item.start as usize;
    if follows_in_flow(text, item.end as usize).is_some() {
        let gap =
            if is_indentation(indentation(text, start)) { line_break(text, start) } else { " ".to_owned() };
        return Some(insert(start, format!("{},{gap}", in_braces(source.format, entry))));
    }
    let dash = dash_before(text, start).filter(|_| source.format == Format::Yaml)?;
    let entry = in_block(text, start, entry);
    let at = if is_indentation(indentation(text, dash)) { first_comment_above(text, dash) } else { dash };
    let column = indentation(text, dash).chars().count();
    Some(insert(at, format!("- {entry}{}{}", line_end(text), " ".repeat(column))))
}

/// Puts a mapping of one entry behind an item of a list, as [`insert_before`] does before it. A comment at the end of the
/// item's last line stays with it.
pub fn insert_after(source: &Source, item: Span, entry: (&str, &str)) -> Option<Edit> {
    let text = &source.text;
    let (start, end) = (item.start as usize, item.end as usize);
    if follows_in_flow(text, end).is_some() {
        let is_first_on_line = is_indentation(indentation(text, start));
        let gap = if is_first_on_line { line_break(text, start) } else { " ".to_owned() };
        return Some(insert(end, format!(",{gap}{}", in_braces(source.format, entry))));
    }
    let dash = dash_before(text, start).filter(|_| source.format == Format::Yaml)?;
    let column = indentation(text, dash).chars().count();
    let line = format!("{}- {}", " ".repeat(column), in_block(text, start, entry));
    let at = line_after(text, end);
    let is_last = !text[..at].ends_with('\n');
    Some(insert(at, if is_last { line_end(text).to_owned() + &line } else { line + line_end(text) }))
}

fn in_braces(format: Format, (key, value): (&str, &str)) -> String {
    match format {
        Format::Yaml => format!("{{{key}: {value}}}"),
        Format::Toml => format!("{{ {key} = \"{value}\" }}"),
    }
}

/// A mapping behind a dash, written like the one at `start`.
fn in_block(text: &str, start: usize, (key, value): (&str, &str)) -> String {
    if text[start..].starts_with('{') {
        in_braces(Format::Yaml, (key, value))
    } else {
        format!("{key}: {value}")
    }
}

/// Puts an entry before the first one of a mapping, written as the mapping is: on a line of its own with the same
/// indentation, or between braces. `None` where more than that would have to change.
pub fn put_first(source: &Source, mapping: Span, (key, value): (&str, &str)) -> Option<Edit> {
    let (text, start) = (&source.text, mapping.start as usize);
    let assign = if source.format == Format::Toml { " =" } else { ":" };
    if text[start..].starts_with('{') {
        let inside = start + 1 + text[start + 1..].len() - text[start + 1..].trim_start().len();
        return (!text[inside..].starts_with('}'))
            .then(|| insert(inside, format!("{key}{assign} {value}, ")));
    }
    let is_block = source.format == Format::Yaml && is_indentation(indentation(text, start));
    let column = text[line_start(text, start)..start].chars().count();
    is_block.then(|| insert(start, format!("{key}: {value}{}{}", line_end(text), " ".repeat(column))))
}

fn insert(at: usize, text: String) -> Edit {
    Edit { span: Span::at(at as u32), text }
}

fn remove(start: usize, end: usize) -> Edit {
    Edit { span: Span::new(start as u32, end as u32), text: String::new() }
}

/// True if a word can stand without quotes and be read as itself.
fn is_plain_word(word: &str) -> bool {
    const OTHERWISE: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    word.starts_with(|it: char| it.is_ascii_alphabetic())
        && word.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_'))
        && !OTHERWISE.contains(&word.to_ascii_lowercase().as_str())
}

/// The end of an entry whose value is not written: the colon belongs to it.
fn after_empty_value(source: &str, end: usize) -> usize {
    let rest = &source[end..];
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    if rest[blanks..].starts_with(':') { end + blanks + 1 } else { end }
}

/// The end of an entry between brackets: a comma or a closing bracket, and its place. Nothing of the kind can follow an entry that
/// stands on lines of its own.
fn follows_in_flow(source: &str, end: usize) -> Option<(usize, char)> {
    let mut rest = &source[end..];
    loop {
        rest = rest.trim_start();
        match rest.chars().next()? {
            '#' => rest = rest.find('\n').map_or("", |at| &rest[at..]),
            it @ (',' | ']' | '}') => return Some((source.len() - rest.len(), it)),
            _ => return None,
        }
    }
}

/// With the comma behind it and what follows that, or the comma before it when it is the last.
fn remove_from_flow(source: &str, start: usize, end: usize) -> Edit {
    match follows_in_flow(source, end) {
        Some((comma, ',')) => {
            let rest = &source[comma + 1..];
            remove(start, comma + 1 + rest.len() - rest.trim_start().len())
        }
        Some(_) | None => {
            let before = source[..start].trim_end();
            let start = before.strip_suffix(',').map_or(start, |it| it.trim_end().len());
            remove(start, end)
        }
    }
}

fn remove_from_block(source: &str, start: usize, end: usize) -> Option<Edit> {
    let before = indentation(source, start);
    let next = next_content(source, line_after(source, end));
    if is_indentation(before) {
        return Some(remove_lines(source, first_comment_above(source, start), end));
    }
    if !before.trim_start().bytes().all(|it| matches!(it, b'-' | b' ')) {
        return None;
    }
    match next {
        // The first entry of an item: the next one moves up behind the dash.
        Some(next) if column(source, next) == column(source, start) => Some(remove(start, next)),
        Some(_) | None => {
            let dash = dash_before(source, start)?;
            let is_alone = is_indentation(indentation(source, dash));
            is_alone.then(|| remove_lines(source, first_comment_above(source, dash), end))
        }
    }
}

/// Removes whole lines, and one of the two gaps that would meet where they stood.
fn remove_lines(source: &str, start: usize, end: usize) -> Edit {
    let start = line_start(source, start);
    let end = line_after(source, end);
    let next = end + blank_lines(&source[end..]);
    let above = source[..start].trim_end_matches([' ', '\t', '\r', '\n']);
    let gap_above = start - above.len() > line_end(source).len();
    match next == source.len() {
        true if !above.is_empty() => remove(line_after(source, above.len()), source.len()),
        true => remove(start, source.len()),
        false if gap_above || above.is_empty() => remove(start, next),
        false => remove(start, end),
    }
}

/// Start of the comments that stand directly above a line, at the same indentation; else the start of its text.
fn first_comment_above(source: &str, at: usize) -> usize {
    let column = column(source, at);
    let mut first = at;
    loop {
        let line = line_start(source, first);
        let Some(above) = line.checked_sub(1).map(|end| line_start(source, end)) else { return first };
        let text = &source[above..line];
        let comment = above + text.len() - text.trim_start().len();
        if !text.trim_start().starts_with('#') || comment - above != column {
            return first;
        }
        first = comment;
    }
}

/// The dash of the list item that begins at `start`, on the same line.
fn dash_before(source: &str, start: usize) -> Option<usize> {
    let before = source[..start].trim_end_matches([' ', '\t']);
    let dash = before.len().checked_sub(1)?;
    (before.ends_with('-') && before.len() < start).then_some(dash)
}

/// Start of the text of the next line that has something else than a comment.
fn next_content(source: &str, from: usize) -> Option<usize> {
    let mut at = from;
    for line in source[from..].split_inclusive('\n') {
        let text = line.trim_start();
        if !text.is_empty() && !text.starts_with('#') {
            return Some(at + line.len() - text.len());
        }
        at += line.len();
    }
    None
}

fn blank_lines(text: &str) -> usize {
    text.split_inclusive('\n').take_while(|line| line.trim().is_empty()).map(str::len).sum()
}

/// The text before a place on its line.
fn indentation(source: &str, at: usize) -> &str {
    &source[line_start(source, at)..at]
}

fn is_indentation(text: &str) -> bool {
    text.trim_start_matches([' ', '\t', '\u{feff}']).is_empty()
}

fn column(source: &str, at: usize) -> usize {
    at - line_start(source, at)
}

fn line_start(source: &str, at: usize) -> usize {
    source[..at].rfind('\n').map_or(0, |it| it + 1)
}

/// The first byte of the line after the one that `at` is in.
fn line_after(source: &str, at: usize) -> usize {
    source[at..].find('\n').map_or(source.len(), |it| at + it + 1)
}

/// A line end as the file has them, with the indentation of the line that `at` is in.
fn line_break(source: &str, at: usize) -> String {
    format!("{}{}", line_end(source), indentation(source, at))
}

fn line_end(source: &str) -> &'static str {
    if source.contains("\r\n") { "\r\n" } else { "\n" }
}
