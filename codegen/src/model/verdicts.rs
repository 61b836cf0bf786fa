//! `verdicts`: the words of which a section has one, and the reviewers whose verdicts count.

use std::collections::HashMap;

use orange_core::Verdict;

use super::decoder::{Decoder, Field};
use super::keys::{ALL_VERDICTS, ANY_VERDICTS};
use super::{SectionGate, Verdicts};
use crate::catalogue::S04;
use crate::diag::Diagnostic;
use crate::span::{Span, Spanned};
use crate::syntax::{Node, NodeKind};

/// The most verdicts of a section.
const MAX_VERDICTS: usize = 16;

/// The verdicts of the sections whose gates name them, by heading.
#[derive(Default)]
pub(crate) struct SectionVerdicts(HashMap<String, (Span, Vec<String>)>);

/// The value of `verdicts`.
#[derive(Default)]
pub(super) struct WrittenVerdicts {
    /// The reviewers whose verdicts count.
    pub(super) of: Option<Spanned<Verdicts>>,
    /// The words of which the section has one.
    pub(super) words: Option<Spanned<Vec<String>>>,
}

impl SectionVerdicts {
    /// The words of the first gate on each section that names some. Faults are reported where the gates are read.
    pub(crate) fn declared(tree: &Node) -> SectionVerdicts {
        let mut found = SectionVerdicts::default();
        found.visit(tree);
        found
    }

    fn visit(&mut self, node: &Node) {
        match &node.kind {
            NodeKind::Scalar(_) => {}
            NodeKind::Sequence(items) => items.iter().for_each(|it| self.visit(it)),
            NodeKind::Mapping(entries) => {
                if let Some((heading, list)) = value(node, "section").and_then(text).zip(list(node)) {
                    let words: Vec<String> = items(list).iter().filter_map(text).map(str::to_owned).collect();
                    self.0.entry(heading.trim().to_owned()).or_insert((list.span, words));
                }
                entries.iter().for_each(|(_, value)| self.visit(value));
            }
        }
    }

    /// The verdicts of a section; `None` if no gate names them, so that they are `PASS` and `FAIL`.
    pub(super) fn of(&self, heading: &str) -> Option<&[String]> {
        self.0.get(heading).map(|(_, words)| words.as_slice())
    }

    /// Reports words that differ from those of another gate on this section.
    pub(super) fn compare(&self, decoder: &mut Decoder<'_>, heading: &str, words: &Spanned<Vec<String>>) {
        let Some((first, known)) = self.0.get(heading) else { return };
        if *known == words.value || *first == words.span {
            return;
        }
        let message = format!("`{heading}` has other verdicts elsewhere: {}", known.join(", "));
        let found = Diagnostic::new(&S04, words.span, message)
            .label(*first, "these")
            .label(words.span, "and these")
            .help(
                "name the verdicts of a section once; every other gate on the section takes them from there",
            );
        decoder.report(found);
    }
}

impl SectionGate {
    /// True if the section must have a verdict.
    pub fn asks_for_verdict(&self) -> bool {
        self.verdict.is_some() || !self.words.is_empty()
    }

    /// The verdicts that the section may have.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let both = if self.words.is_empty() { Verdict::BOTH.as_slice() } else { &[] };
        both.iter().copied().chain(self.words.iter().map(String::as_str))
    }

    /// Place that asks for a verdict: the verdict, or the section whose verdicts the gate lists.
    pub fn verdict_place(&self) -> Option<Span> {
        match &self.verdict {
            Some(verdict) => Some(verdict.span),
            None => self.asks_for_verdict().then_some(self.section.span),
        }
    }

    /// True if the gate takes this verdict alone.
    pub fn wants(&self, word: &str) -> bool {
        self.verdict.as_ref().is_some_and(|it| it.value == word)
    }
}

/// The value of a key of a mapping.
fn value<'n>(node: &'n Node, name: &str) -> Option<&'n Node> {
    let NodeKind::Mapping(entries) = &node.kind else { return None };
    entries.iter().find(|(key, _)| text(key) == Some(name)).map(|(_, value)| value)
}

fn text(node: &Node) -> Option<&str> {
    match &node.kind {
        NodeKind::Scalar(scalar) => Some(&scalar.text.value),
        NodeKind::Sequence(_) | NodeKind::Mapping(_) => None,
    }
}

fn items(node: &Node) -> &[Node] {
    match &node.kind {
        NodeKind::Sequence(items) => items,
        NodeKind::Scalar(_) | NodeKind::Mapping(_) => &[],
    }
}

/// The list of words in the `verdicts` of a gate, if there are some.
fn list(gate: &Node) -> Option<&Node> {
    let verdicts = value(gate, "verdicts")?;
    let list = value(verdicts, "all").or_else(|| value(verdicts, "any")).unwrap_or(verdicts);
    (!items(list).is_empty()).then_some(list)
}

/// Reads `all`, `any`, a list of words, or `{all: [words]}`.
pub(super) fn verdicts(decoder: &mut Decoder<'_>, field: &Field<'_>) -> WrittenVerdicts {
    let words = |decoder: &mut Decoder<'_>, field: &Field<'_>| words(decoder, field);
    match &field.value.kind {
        NodeKind::Scalar(_) => {
            let both = [Verdicts::All, Verdicts::Any].map(|it| (it.as_str(), it));
            let list = |_: &str| Some("or list the words of the section: `[PASS, FAIL, DISCUSS]`".to_owned());
            WrittenVerdicts { of: decoder.word_or(field, &both, list), words: None }
        }
        NodeKind::Sequence(_) => WrittenVerdicts { of: None, words: words(decoder, field) },
        NodeKind::Mapping(_) => {
            let (object, of) = match value(field.value, Verdicts::Any.as_str()) {
                Some(_) => (&ANY_VERDICTS, Verdicts::Any),
                None => (&ALL_VERDICTS, Verdicts::All),
            };
            let fields = decoder.object(field.value, object);
            let list = fields.and_then(|it| it.get(of.as_str()));
            let words = list.and_then(|it| words(decoder, &it));
            WrittenVerdicts { of: Some(Spanned::new(of, field.value.span)), words }
        }
    }
}

/// The words of a list: two or more, each of letters and digits.
fn words(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<Spanned<Vec<String>>> {
    let mut found: Vec<String> = Vec::new();
    for item in decoder.list(field) {
        let word = decoder.string(&field.item(item))?;
        if let Some(problem) = problem(&word.value, &found) {
            let found = Diagnostic::new(&S04, word.span, problem);
            decoder.report(found.help("a verdict is a word of letters and digits: `DISCUSS`"));
            return None;
        }
        found.push(word.value);
    }
    if !(2..=MAX_VERDICTS).contains(&found.len()) {
        let message = format!("a section has 2 to {MAX_VERDICTS} verdicts, and this names {}", found.len());
        let found = Diagnostic::new(&S04, field.value.span, message);
        decoder.report(found.help("name every word that its writer may choose: `[PASS, FAIL, DISCUSS]`"));
        return None;
    }
    Some(Spanned::new(found, field.value.span))
}

fn problem(word: &str, before: &[String]) -> Option<String> {
    let is_word = word.starts_with(|it: char| it.is_ascii_alphabetic())
        && word.chars().all(|it| it.is_ascii_alphanumeric());
    if !is_word {
        return Some("this cannot be a verdict".to_owned());
    }
    let twin = before.iter().find(|it| it.eq_ignore_ascii_case(word))?;
    Some(format!("`{twin}` is named twice: capitals make no difference"))
}
