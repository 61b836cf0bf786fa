//! The lines of a source and their comments, apart from text that only looks like a comment.

use std::ops::Range;

use crate::diag::Edit;
use crate::source::{Format, Source};
use crate::span::Span;
use crate::syntax::{Node, NodeKind};

/// The lines of a source, and which of them a place belongs to.
#[derive(Clone, Debug, Default)]
pub(super) struct SourceLines {
    lines: Vec<SourceLine>,
    /// Scalars over several lines, and the line that each begins on. No comment can stand inside.
    bodies: Vec<(Span, usize)>,
}

#[derive(Clone, Debug)]
struct SourceLine {
    start: usize,
    /// Start of its comment.
    comment: Option<usize>,
    /// The line that a comment on this one is about: the line itself; if it has nothing else, the one that its block
    /// of comments stands directly above.
    about: usize,
}

impl SourceLines {
    pub(super) fn new(source: &Source, tree: &Node) -> Self {
        let text = source.text.as_str();
        let mut scalars = Vec::new();
        gather(tree, &mut scalars);
        scalars.sort_unstable();
        let mut lines = Self { lines: split(source, &scalars), bodies: Vec::new() };
        lines.find_subjects(text);
        let bodies = scalars.into_iter().filter(|it| text[it.range()].contains('\n'));
        // A block's header is on the line before its text; anything else begins on the line of what it follows.
        let opening = |it: &Span| text[..it.range().start].trim_end().len().saturating_sub(1);
        lines.bodies = bodies.map(|it| (it, lines.number(opening(&it)))).collect();
        lines
    }

    /// Every comment and the line that it is about.
    pub(super) fn comments(&self, text: &str) -> Vec<(usize, Span)> {
        let comments = self.lines.iter().filter_map(|line| {
            let start = line.comment?;
            let length = text[start..].lines().next().unwrap_or_default().trim_end().len();
            Some((line.about, Span::new(start as u32, (start + length) as u32)))
        });
        comments.collect()
    }

    /// The lines on which a comment is about this place.
    pub(super) fn of(&self, start: u32) -> impl Iterator<Item = usize> + use<> {
        let own = self.lines.get(self.number(start as usize)).map(|it| it.about);
        let after = self.bodies.partition_point(|(body, _)| body.start <= start);
        let body = after.checked_sub(1).map(|it| self.bodies[it]).filter(|(body, _)| start < body.end);
        own.into_iter().chain(body.map(|(_, line)| line))
    }

    /// Puts a comment on a line of its own, above the line of a place. A comment cannot stand within a scalar of several lines, so that
    /// it stands above the line on which that begins.
    pub(super) fn insertion(&self, text: &str, start: u32, comment: &str) -> Edit {
        let after = self.bodies.partition_point(|(body, _)| body.start <= start);
        let body = after.checked_sub(1).map(|it| self.bodies[it]).filter(|(body, _)| start < body.end);
        let line = body.map_or_else(|| self.number(start as usize), |(_, line)| line);
        let begin = self.lines.get(line).map_or(0, |it| it.start);
        let mark = if text[begin..].starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let rest = &text[begin + mark..];
        let indentation = &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()];
        let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let span = Span::at((begin + mark) as u32);
        Edit { span, text: format!("{indentation}{comment}{line_end}") }
    }

    fn number(&self, at: usize) -> usize {
        self.lines.partition_point(|it| it.start <= at).saturating_sub(1)
    }

    fn find_subjects(&mut self, text: &str) {
        let mut below = None;
        for number in (0..self.lines.len()).rev() {
            let end = self.lines.get(number + 1).map_or(text.len(), |it| it.start);
            let SourceLine { start, comment, .. } = self.lines[number];
            let content = text[start..comment.unwrap_or(end)].trim_start_matches('\u{feff}').trim();
            match (content, comment) {
                ("", Some(_)) => self.lines[number].about = below.unwrap_or(number),
                ("", None) => below = None,
                _ => below = Some(number),
            }
        }
    }
}

/// Takes a comment away with the white space before it, or with its line where that has nothing else.
pub(super) fn removal(text: &str, comment: Span) -> Edit {
    let Range { start, end } = comment.range();
    let before = text[..start].trim_end_matches([' ', '\t']).len();
    let is_whole_line = before == 0 || text[..before].ends_with('\n');
    let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    let span = Span::new(before as u32, if is_whole_line { line_end } else { end } as u32);
    Edit { span, text: String::new() }
}

fn split(source: &Source, scalars: &[Span]) -> Vec<SourceLine> {
    let mut end = 0;
    let lines = source.text.split_inclusive('\n').enumerate().map(|(about, line)| {
        let start = end;
        end += line.len();
        SourceLine { start, comment: comment_in(source, start..end, scalars), about }
    });
    lines.collect()
}

/// Start of the comment of a line: the first `#` that is in no scalar. In YAML there is white space before it.
fn comment_in(source: &Source, line: Range<usize>, scalars: &[Span]) -> Option<usize> {
    let before = |at: usize| source.text[line.start..at].chars().next_back();
    let may_begin = |at: &usize| match source.format {
        Format::Yaml => before(*at).is_none_or(|it| it.is_whitespace() || it == '\u{feff}'),
        Format::Toml => true,
    };
    let signs = source.text[line.clone()].match_indices('#').map(|(at, _)| line.start + at);
    signs.filter(may_begin).find(|at| !is_inside(*at, scalars))
}

fn is_inside(at: usize, scalars: &[Span]) -> bool {
    let after = scalars.partition_point(|it| it.range().start <= at);
    after.checked_sub(1).is_some_and(|it| scalars[it].range().contains(&at))
}

/// The places of all scalars, keys among them.
fn gather(node: &Node, scalars: &mut Vec<Span>) {
    match &node.kind {
        NodeKind::Scalar(_) => scalars.push(node.span),
        NodeKind::Sequence(items) => items.iter().for_each(|it| gather(it, scalars)),
        NodeKind::Mapping(entries) => {
            for (key, value) in entries {
                gather(key, scalars);
                gather(value, scalars);
            }
        }
    }
}
