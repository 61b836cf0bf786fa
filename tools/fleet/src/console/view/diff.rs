//! A diff as `git diff` prints it, with a heading for each file and a class for each line that is added or removed.

use maud::{Markup, html};

use super::text;

/// DiffPart of a line of a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffPart {
    /// It is the same before and after.
    Same,
    Added,
    Removed,
    /// It says where the next lines are, or something about the file.
    About,
}

/// A part of a diff: what stands before the first file, or a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePart<'d> {
    /// The name of the file; `None` before the first one.
    pub file: Option<String>,
    /// Its lines, without their ends.
    pub lines: Vec<(DiffPart, &'d str)>,
}

/// Bytes that a class, its tags and the end of a line add to a page, about.
const AROUND: usize = 32;

/// Bytes that the tags around a file add to a page, about.
const AROUND_FILE: usize = 64;

/// The parts of a diff. A text that is not a diff is one part.
pub fn parts(diff: &str) -> Vec<FilePart<'_>> {
    let mut parts = vec![FilePart { file: None, lines: Vec::new() }];
    // How many lines of the present hunk are to come, before and after.
    let mut left = (0_u32, 0_u32);
    for line in diff.lines() {
        let kind = match line.as_bytes().first() {
            _ if left == (0, 0) => DiffPart::About,
            Some(b'+') => DiffPart::Added,
            Some(b'-') => DiffPart::Removed,
            Some(b'\\') => DiffPart::About,
            Some(_) | None => DiffPart::Same,
        };
        match kind {
            DiffPart::Added => left.1 = left.1.saturating_sub(1),
            DiffPart::Removed => left.0 = left.0.saturating_sub(1),
            DiffPart::Same => left = (left.0.saturating_sub(1), left.1.saturating_sub(1)),
            DiffPart::About => {}
        }
        if kind == DiffPart::About && line.starts_with("diff --git ") {
            parts.push(FilePart { file: Some(name(line)), lines: Vec::new() });
            continue;
        }
        if kind == DiffPart::About && left == (0, 0) {
            left = hunk(line).unwrap_or_default();
        }
        if let Some(part) = parts.last_mut() {
            part.lines.push((kind, line));
        }
    }
    parts.retain(|it| it.file.is_some() || it.lines.iter().any(|(_, line)| !line.is_empty()));
    parts
}

/// The name of a file in `diff --git a/NAME b/NAME`: the new one where they differ.
fn name(line: &str) -> String {
    let names = line.strip_prefix("diff --git ").unwrap_or(line);
    // Both are equally long unless the file is renamed; a name can have a space.
    let half = names.len().saturating_sub(1) / 2;
    let same = names
        .is_char_boundary(half)
        .then(|| names.split_at(half))
        .filter(|(old, new)| old.strip_prefix("a/").is_some_and(|old| new.strip_prefix(" b/") == Some(old)));
    let found = match same {
        Some((old, _)) => old.strip_prefix("a/"),
        None => names.rsplit_once(" b/").map(|(_, new)| new),
    };
    found.unwrap_or(names).to_owned()
}

/// Numbers of lines of a hunk, before and after, as in `@@ -1,3 +1,4 @@`.
fn hunk(line: &str) -> Option<(u32, u32)> {
    let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let count = |range: &str| match range.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => Some(1),
    };
    Some((count(old)?, count(new)?))
}

/// The beginning of a diff that takes at most so many bytes of a page, about, and whether that is not all.
pub fn shown(diff: &str, most: usize) -> (Markup, bool) {
    let (mut room, mut is_cut) = (most, false);
    let mut kept = Vec::new();
    'all: for part in parts(diff) {
        let head = part.file.as_deref().map_or(0, text::weight) + AROUND_FILE;
        let mut lines = Vec::new();
        let Some(rest) = room.checked_sub(head) else {
            is_cut = true;
            break;
        };
        room = rest;
        for (kind, line) in part.lines {
            let Some(rest) = room.checked_sub(text::weight(line) + AROUND) else {
                is_cut = true;
                kept.push(FilePart { file: part.file, lines });
                break 'all;
            };
            room = rest;
            lines.push((kind, line));
        }
        kept.push(FilePart { file: part.file, lines });
    }
    (html! { @for part in &kept { (of_part(part)) } }, is_cut)
}

fn of_part(part: &FilePart<'_>) -> Markup {
    html! {
        @if let Some(file) = &part.file { h3.file { bdi { (text::visible(file)) } } }
        @if !part.lines.is_empty() {
            pre.text.diff {
                @for (kind, line) in &part.lines { span.(class(*kind)) { (text::visible(line)) "\n" } }
            }
        }
    }
}

fn class(kind: DiffPart) -> &'static str {
    match kind {
        DiffPart::Same => "same",
        DiffPart::Added => "added",
        DiffPart::Removed => "removed",
        DiffPart::About => "about",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = " a b.txt | 2 +-\n 1 file changed\n\ndiff --git a/a b.txt b/a b.txt\nindex 1..2 100644\n--- a/a b.txt\n+++ b/a b.txt\n\
        @@ -1,3 +1,3 @@ fn main\n one\n--- two\n+++ three\n four\n\\ No newline at end of file\n\
        diff --git a/old.bin b/new.bin\nsimilarity index 90%\nBinary files a/old.bin and b/new.bin differ\n";

    #[test]
    fn a_diff_has_a_part_for_each_file() {
        let parts = parts(DIFF);
        let files: Vec<Option<&str>> = parts.iter().map(|it| it.file.as_deref()).collect();
        assert_eq!(files, [None, Some("a b.txt"), Some("new.bin")]);
        let of = |kind| {
            let lines = parts.iter().flat_map(|it| &it.lines).filter(|it| it.0 == kind);
            lines.map(|it| it.1).collect::<Vec<_>>()
        };
        assert_eq!(of(DiffPart::Removed), ["--- two"]);
        assert_eq!(of(DiffPart::Added), ["+++ three"]);
        assert_eq!(of(DiffPart::Same), [" one", " four"]);
        assert_eq!(of(DiffPart::About).len(), 10);
    }

    #[test]
    fn a_line_of_a_file_is_no_heading() {
        let text = "diff --git a/x b/x\n@@ -0,0 +1,2 @@\n+diff --git a/y b/y\n+@@ -1,9 +1,9 @@\ndiff --git a/z b/z\n";
        let files: Vec<_> = parts(text).into_iter().filter_map(|it| it.file).collect();
        assert_eq!(files, ["x", "z"]);
    }

    #[test]
    fn what_is_no_diff_is_one_part() {
        for text in [
            "",
            "\n",
            "no diff",
            "@@ -a +b @@\n+x",
            "diff --git \n",
            "diff --git a/ñ",
            "@@ -99999999999,1 +1 @@\n",
        ] {
            assert!(parts(text).len() <= 2, "{text}");
            assert!(!shown(text, 1_000).1, "{text}");
        }
    }

    #[test]
    fn markup_in_a_diff_is_text_and_its_page_is_short() {
        let hostile = "diff --git a/<script> b/<script>\n@@ -0,0 +1,90000 @@\n".to_owned()
            + &"+<script>alert('&\"')</script>\u{202e}\u{0}\n+\n".repeat(45_000);
        let (markup, is_cut) = shown(&hostile, 60_000);
        let markup = markup.into_string();
        assert!(is_cut && markup.len() <= 60_000 && markup.len() > 40_000, "{}", markup.len());
        assert!(!markup.contains("<script") && !markup.contains('\u{202e}') && !markup.contains('\0'));
        assert!(markup.contains("<span class=\"added\">+&lt;script&gt;"));
        let one_line = format!("diff --git a/x b/x\n@@ -0,0 +1 @@\n+{}", "x".repeat(90_000));
        let (markup, is_cut) = shown(&one_line, 60_000);
        assert!(is_cut && markup.into_string().len() < 1_000);
    }
}
