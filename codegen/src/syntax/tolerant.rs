//! A tree also where the syntax is broken, as it is on every second keystroke: for editors, and never for the compiler.
//!
//! The edited line is closed, or left out, in a copy of the text. All spans are those of the text as it is.

mod patch;
mod toml_state;

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::ops::Range;

use super::limits::MAX_BYTES;
use super::{Node, parse, toml, yaml};
use crate::diag::{Diagnostic, Level};
use crate::editor_lines::EditorLines;
use crate::source::{Format, Source};

use patch::Patch;
pub use patch::after_edit;

/// A tree as far as the syntax allows one.
#[derive(Clone, Debug)]
pub struct RecoveredTree {
    /// The tree; absent where nothing is written, or nothing can be understood.
    pub tree: Option<Node>,
    /// Part of the text that the tree is made of.
    pub recovery: Recovery,
    /// The faults of the syntax. If the text is whole, everything that [`parse`] says of it.
    pub faults: Vec<Diagnostic>,
}

/// Part of a text that a tree is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// All of it: the syntax has no fault.
    Whole,
    /// All of it, after this line, from 0, was closed or left out.
    Mended {
        /// The line, from 0.
        line: u32,
    },
    /// The text up to this byte, with everything closed that is open there.
    Partial {
        /// The first byte that the tree says nothing about.
        up_to: u32,
    },
}

/// Texts that are tried at most, each a parse of its own; fewer where the text is so large that a parse takes long.
const MAX_TRIES: usize = 40;
/// Bytes from which on few texts are tried.
const LARGE: usize = 1 << 20;

/// The tree of a source that is being edited at this byte. Where that is not known, the fault of the syntax says which line to mend.
pub fn parse_tolerant(source: &Source, edited: Option<u32>) -> RecoveredTree {
    let (tree, found) = parse(source);
    let is_whole = tree.is_some() || found.is_empty();
    if is_whole {
        return RecoveredTree { tree, recovery: Recovery::Whole, faults: found };
    }
    let faults: Vec<_> = found.into_iter().filter(|it| it.level == Level::Error).collect();
    let mut attempts = Attempts::new(source);
    let recovered = attempts.mended(edited, &faults).or_else(|| attempts.up_to_fault(&faults));
    let (tree, recovery) = match recovered {
        Some((tree, recovery)) => (Some(tree), recovery),
        None => (None, Recovery::Partial { up_to: 0 }),
    };
    RecoveredTree { tree, recovery, faults }
}

struct Attempts<'s> {
    source: &'s Source,
    lines: EditorLines,
    left: usize,
}

impl<'s> Attempts<'s> {
    fn new(source: &'s Source) -> Self {
        let left = match source.text.len() {
            MAX_BYTES.. => 0,
            LARGE.. => 3,
            _ => MAX_TRIES,
        };
        Self { source, lines: EditorLines::new(&source.text), left }
    }

    /// The tree after one line was closed or left out: the edited one, those that the fault is about, or the one before them, since
    /// a parser often sees only there that something is missing.
    fn mended(&mut self, edited: Option<u32>, faults: &[Diagnostic]) -> Option<(Node, Recovery)> {
        let fault = faults.first()?;
        let labels = fault.labels.iter().map(|it| it.span.start);
        let places = edited.into_iter().chain([fault.span.start]).chain(labels);
        let mut lines: Vec<u32> = places.map(|it| self.lines.line_of(it)).collect();
        lines.push(self.lines.line_of(fault.span.start).saturating_sub(1));
        let mut tried = HashSet::new();
        lines.retain(|it| tried.insert(*it));
        lines.into_iter().find_map(|line| Some((self.mend(line)?, Recovery::Mended { line })))
    }

    fn mend(&mut self, line: u32) -> Option<Node> {
        let source = self.source;
        let content = self.lines.line(&source.text, line);
        match source.format {
            Format::Yaml => yaml_patches(&source.text, content).find_map(|it| self.read(&it)),
            Format::Toml => {
                toml_state::patches(&source.text, content).into_iter().find_map(|it| self.read(&it))
            }
        }
    }

    /// The tree of the lines before the fault. Where they have a fault, too, those before that one.
    fn up_to_fault(&mut self, faults: &[Diagnostic]) -> Option<(Node, Recovery)> {
        let text = &self.source.text;
        let mut fault = faults.first()?.span.range().start;
        while self.left > 0 {
            let up_to = text[..text.floor_char_boundary(fault)].rfind('\n').map_or(0, |it| it + 1);
            let before = &text[..up_to];
            if before.trim().is_empty() {
                return None;
            }
            let closings = match self.source.format {
                Format::Yaml => yaml_closings(before),
                Format::Toml => vec![toml_state::closing(before)],
            };
            for closing in closings {
                let patch = Patch::cut(up_to, closing);
                if let Some(tree) = self.read(&patch) {
                    return Some((tree, Recovery::Partial { up_to: up_to as u32 }));
                }
            }
            fault = up_to.checked_sub(1)?;
        }
        None
    }

    fn read(&mut self, patch: &Patch) -> Option<Node> {
        self.left = self.left.checked_sub(1)?;
        let patched = patch.apply(&self.source.text);
        let mut tree = match self.source.format {
            Format::Yaml => yaml::read(&patched).0,
            Format::Toml => toml::read(&patched).0,
        }?;
        patch.restore(&mut tree, &self.source.text);
        Some(tree)
    }
}

/// Texts with a line closed, then with a part of it or all of it left out; the first ones keep most.
fn yaml_patches(text: &str, line: Range<usize>) -> impl Iterator<Item = Patch> {
    let written = &text[line.clone()];
    let end = line.start + written.trim_end().len();
    let is_comment = written.trim_start().starts_with('#');
    let behind = |sign: Option<usize>, length: usize| sign.map(|it| line.start + it + length);
    // A value that cannot begin like this, or that a second colon ends.
    let value = behind(written.find(": ").filter(|_| !is_comment), 2);
    let item = behind(written.rfind([',', '{', '[', ':']).filter(|_| !is_comment), 1);
    let parts = [Some(end), value.filter(|it| *it < end), item.filter(|it| *it < end)];
    let closed = parts.into_iter().flatten().flat_map(move |start| {
        let blank = start..end;
        let closings = yaml_closings(&Patch::blanked(blank.clone()).apply(&text[..end]));
        closings.into_iter().map(move |insert| Patch { blank: blank.clone(), at: end, insert })
    });
    closed.filter(|it| !it.is_nothing()).chain(std::iter::once(Patch::blanked(line)))
}

/// Endings with which a text may have no fault: each is more than the one before, since the lines that follow may
/// close the rest. The last ones add a colon, which makes a key of a word.
fn yaml_closings(before: &str) -> Vec<String> {
    const MAX_OPEN: usize = 6;
    let closing = yaml::closing(before).unwrap_or_default();
    let ends = (0..=closing.len()).filter(|it| *it == 0 || !closing[..*it].ends_with('\\'));
    let mut closings: Vec<_> = ends.take(MAX_OPEN).map(|end| closing[..end].to_owned()).collect();
    let with_colon: Vec<_> = closings.iter().map(|it| format!("{it}:")).collect();
    closings.extend(with_colon);
    closings
}
