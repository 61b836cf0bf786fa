//! Sections of a markdown body, which gates read.

use alloc::string::String;

use crate::fnv1a;

/// A markdown heading of the `#` kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heading<'a> {
    /// The number of `#`, 1 to 6.
    pub level: usize,
    /// The text without the `#`s around it.
    pub text: &'a str,
}

impl<'a> Heading<'a> {
    /// Reads a line as a heading: at most three spaces, one to six `#`, then a space or nothing.
    pub fn parse(line: &'a str) -> Option<Heading<'a>> {
        let line = up_to_three_spaces(line)?;
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        let text = &line[level..];
        if !(1..=6).contains(&level) || !(text.is_empty() || text.starts_with([' ', '\t'])) {
            return None;
        }
        Some(Heading { level, text: without_closing(text.trim()) })
    }
}

/// The content of the section with this heading (`## Handoff`): the lines after it up to the next heading of the same or
/// a higher level. Headings inside fenced code blocks and comments do not count. Of several equal headings the last one
/// counts, since agents append.
pub fn section<'b>(body: &'b str, heading: &str) -> Option<&'b str> {
    let wanted = Heading::parse(heading)?;
    let mut found = None;
    let mut open = None;
    for (start, line) in prose_lines(body) {
        let Some(heading) = Heading::parse(line) else { continue };
        if let Some(content_start) = open
            && heading.level <= wanted.level
        {
            found = Some(&body[content_start..start]);
            open = None;
        }
        if heading == wanted {
            open = Some(after_line(body, start));
        }
    }
    open.map(|content_start| &body[content_start..]).or(found)
}

/// True if this heading occurs in fenced code blocks and comments only.
pub(crate) fn is_hidden(body: &str, heading: &str) -> bool {
    let wanted = Heading::parse(heading);
    section(body, heading).is_none()
        && body.lines().any(|line| wanted.is_some() && Heading::parse(line) == wanted)
}

/// The lines outside fenced code blocks and comments, each with the byte where it starts and without its line end.
pub(crate) fn prose_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    lines(text).filter(|line| line.part == ProseOrCode::Prose).map(|line| (line.start, line.text))
}

/// The lines that a reader of the rendered text sees: those outside comments.
pub(crate) fn visible_lines(text: &str) -> impl Iterator<Item = &str> {
    lines(text).filter(|line| line.part != ProseOrCode::Comment).map(|line| line.text)
}

/// The line that closes the fenced code block or comment in which a text ends; `None` if it ends in neither. What is appended to such a
/// text without it is hidden.
pub fn closing_line(text: &str) -> Option<String> {
    let mut open: Option<OpenBlock> = None;
    for line in text.lines() {
        let block = open.or_else(|| OpenBlock::opened_by(line));
        let is_first = open.is_none();
        open = block.filter(|block| !block.is_closed_by(line, is_first));
    }
    open.map(|block| match block {
        OpenBlock::Code(CodeFence { mark, length }) => {
            core::iter::repeat_n(char::from(mark), length).collect()
        }
        OpenBlock::Comment => "-->".into(),
    })
}

/// The kind of text to which a line belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ProseOrCode {
    Prose,
    /// A fenced code block.
    Code,
    /// An HTML comment that begins a line.
    Comment,
}

struct BodyLine<'a> {
    /// The byte where it starts.
    start: usize,
    /// Without its end.
    text: &'a str,
    part: ProseOrCode,
}

/// A block that is not closed yet.
#[derive(Clone, Copy)]
enum OpenBlock {
    Code(CodeFence),
    Comment,
}

fn lines(text: &str) -> impl Iterator<Item = BodyLine<'_>> {
    let mut open: Option<OpenBlock> = None;
    let mut next = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = next;
        next += line.len();
        let text = line.trim_end_matches(['\n', '\r']);
        let block = open.or_else(|| OpenBlock::opened_by(text));
        let is_first = open.is_none();
        open = block.filter(|block| !block.is_closed_by(text, is_first));
        let part = match block {
            None => ProseOrCode::Prose,
            Some(OpenBlock::Code(_)) => ProseOrCode::Code,
            Some(OpenBlock::Comment) => ProseOrCode::Comment,
        };
        BodyLine { start, text, part }
    })
}

impl OpenBlock {
    fn opened_by(line: &str) -> Option<OpenBlock> {
        let is_comment = up_to_three_spaces(line).is_some_and(|line| line.starts_with("<!--"));
        if is_comment { Some(OpenBlock::Comment) } else { CodeFence::opened_by(line).map(OpenBlock::Code) }
    }

    /// True if this line, possibly the one that opened it, is its last one.
    fn is_closed_by(self, line: &str, is_first: bool) -> bool {
        match self {
            OpenBlock::Code(fence) => !is_first && fence.closed_by(line),
            OpenBlock::Comment => line.contains("-->"),
        }
    }
}

/// A hash of the content that ignores surrounding white space and line ends.
pub fn fingerprint(content: &str) -> u64 {
    fnv1a(content.trim().bytes().filter(|byte| *byte != b'\r'))
}

#[derive(Clone, Copy)]
struct CodeFence {
    mark: u8,
    length: usize,
}

impl CodeFence {
    fn opened_by(line: &str) -> Option<CodeFence> {
        let line = up_to_three_spaces(line)?;
        let mark = *line.as_bytes().first().filter(|byte| matches!(byte, b'`' | b'~'))?;
        let length = line.bytes().take_while(|byte| *byte == mark).count();
        let info_is_inline_code = mark == b'`' && line[length..].contains('`');
        (length >= 3 && !info_is_inline_code).then_some(CodeFence { mark, length })
    }

    fn closed_by(self, line: &str) -> bool {
        let Some(line) = up_to_three_spaces(line) else { return false };
        let length = line.bytes().take_while(|byte| *byte == self.mark).count();
        length >= self.length && line[length..].trim().is_empty()
    }
}

fn up_to_three_spaces(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(' ');
    (line.len() - text.len() <= 3).then_some(text)
}

fn without_closing(text: &str) -> &str {
    let open = text.trim_end_matches('#');
    if open.is_empty() || open.ends_with([' ', '\t']) { open.trim_end() } else { text }
}

fn after_line(body: &str, start: usize) -> usize {
    body[start..].find('\n').map_or(body.len(), |end| start + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, expect: Option<&str>) {
        assert_eq!(section(body, "## Handoff"), expect);
    }

    #[test]
    fn a_section_ends_at_a_heading_of_its_level_or_higher() {
        check("## Handoff\nDONE: x\n### Detail\ny\n## Review\nz\n", Some("DONE: x\n### Detail\ny\n"));
        check("## Handoff\na\n# Top\nb", Some("a\n"));
        check("## Handoff", Some(""));
        check("", None);
    }

    #[test]
    fn only_a_real_heading_counts() {
        check("text ## Handoff\n", None);
        check("##Handoff\n", None);
        check("### Handoff\n", None);
        check("## Handoff notes\n", None);
        check("    ## Handoff\nindented code\n", None);
        check("   ## Handoff ##  \r\nx\r\n", Some("x\r\n"));
        check("##\tHandoff\nx", Some("x"));
    }

    #[test]
    fn fenced_code_hides_headings() {
        check("```\n## Handoff\nx\n```\n", None);
        check("~~~md\n## Handoff\n```\n~~~\n## Handoff\nreal\n", Some("real\n"));
        check("````\n```\n## Handoff\n````\n", None);
        assert!(is_hidden("```\n## Handoff\nx\n```\n", "## Handoff"));
        assert!(!is_hidden("```\n## Handoff\n```\n## Handoff\n", "## Handoff"));
        assert!(!is_hidden("## Review\n", "## Handoff"));
        check("```never closed\n## Handoff\n", None);
        check("```inline``` code\n## Handoff\nx", Some("x"));
        check("## Handoff\n```\n## Not a heading\n```\nend\n", Some("```\n## Not a heading\n```\nend\n"));
    }

    #[test]
    fn a_comment_hides_headings() {
        check("<!--\n## Handoff\nDONE: x\n-->\n", None);
        check("  <!-- ## Handoff -->\n", None);
        check("<!-- a --> ## Handoff\nx\n", None);
        check("<!-- never closed\n## Handoff\nx\n", None);
        check("<!--\n```\n-->\n## Handoff\nx\n", Some("x\n"));
        check("```\n<!--\n```\n## Handoff\nx\n", Some("x\n"));
        check("<!-->\n## Handoff\nx\n", Some("x\n"));
        check("text <!--\n## Handoff\nx\n", Some("x\n"));
        check("    <!-- indented code\n## Handoff\nx\n", Some("x\n"));
        check("## Handoff\n<!--\n## Review\n-->\nend\n", Some("<!--\n## Review\n-->\nend\n"));
        assert!(is_hidden("<!--\n## Handoff\n-->\n", "## Handoff"));
    }

    #[test]
    fn what_is_appended_after_the_closing_line_is_seen() {
        for (body, closing) in [
            ("text", None),
            ("```\nx\n```", None),
            ("<!-- x -->", None),
            ("````rust\n```", Some("````")),
            ("~~~\nx", Some("~~~")),
            ("<!-- x\n```", Some("-->")),
        ] {
            assert_eq!(closing_line(body).as_deref(), closing, "{body}");
            let end = closing.map(|line| alloc::format!("\n{line}")).unwrap_or_default();
            check(&alloc::format!("{body}{end}\n\n## Handoff\nx\n"), Some("x\n"));
        }
    }

    #[test]
    fn the_last_of_several_is_meant() {
        check("## Handoff\nold\n## Other\n\n## Handoff\nnew\n", Some("new\n"));
        check("## Handoff\nold\n## Handoff\nnew\n## Other\n", Some("new\n"));
    }

    #[test]
    fn a_fingerprint_sees_content_and_not_white_space_around_it() {
        assert_eq!(fingerprint("\nPASS\r\nfine\n\n"), fingerprint("PASS\nfine"));
        assert_ne!(fingerprint("PASS"), fingerprint("FAIL"));
    }
}
