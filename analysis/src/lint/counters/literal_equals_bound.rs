//! C2A: a prompt says a number that a guard has, too.

use std::ops::Range;

use super::C2A;
use super::shared::{guards, name};
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;
use orange_codegen::guard::{Compare, Op};
use orange_codegen::model::{CounterId, Prompt};
use orange_codegen::span::Span;

/// Places in one prompt that a message still points at.
const MAX_LABELS: usize = 4;

/// A number in a prompt that bounds a counter.
pub(in crate::lint) struct Literal<'p> {
    /// As the prompt says it.
    pub text: &'p str,
    pub counter: CounterId,
    /// The first value on the other side of the bound.
    pub turn: u32,
    pub span: Span,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let guards = guards(facts);
    let compared: Vec<&Compare> = guards.iter().flat_map(|it| it.guard.expr.comparisons()).collect();
    facts.workflow.prompts.iter().flat_map(|prompt| in_prompt(facts, prompt, &compared)).collect()
}

/// One finding for each bound that the prompt repeats.
fn in_prompt(facts: &Facts<'_>, prompt: &Prompt, compared: &[&Compare]) -> Vec<Diagnostic> {
    let literals = literals(facts, prompt);
    let mut bounds: Vec<(CounterId, u32)> = literals.iter().map(|it| (it.counter, it.turn)).collect();
    bounds.sort_unstable();
    bounds.dedup();
    let findings = bounds.into_iter().filter_map(|bound| {
        let compare =
            compared.iter().find(|it| (it.counter, turn(it.op, it.value)) == (bound.0, Some(bound.1)))?;
        let said: Vec<&Literal<'_>> = literals.iter().filter(|it| (it.counter, it.turn) == bound).collect();
        Some(finding(facts, prompt, compare, &said))
    });
    findings.collect()
}

fn finding(facts: &Facts<'_>, prompt: &Prompt, compare: &Compare, said: &[&Literal<'_>]) -> Diagnostic {
    let text = |span: Span| &facts.source.text[span.range()];
    let name = name(facts, compare.counter);
    let message = format!(
        "the prompt `{}` repeats a bound of `{name}`: changing the guard will not change the text",
        prompt.name.value
    );
    let found = Diagnostic::new(&C2A, said[0].span, message)
        .label(compare.span, format!("the guard says `{}`", text(compare.span)));
    let found =
        said.iter().take(MAX_LABELS).fold(found, |found, it| found.label(it.span, "the text says it again"));
    found.help("leave the number out; `orange task next` lists the transitions that are open, and why the others are not")
}

/// `{tries} of 3`, `{tries}/3`, `tries < 3` and, with the last word of the counter's name, `round ≥ 2` and `at most 3 rounds`.
pub(in crate::lint) fn literals<'p>(facts: &Facts<'_>, prompt: &'p Prompt) -> Vec<Literal<'p>> {
    let text = prompt.text.value.as_str();
    let mut found = Vec::new();
    for (id, counter) in (0u16..).map(CounterId).zip(&facts.workflow.counters) {
        let word = counter.name.rsplit('_').next().unwrap_or(&counter.name);
        for (at, _) in text.match_indices(word).filter(|(at, _)| is_name(text, *at, word, &counter.name)) {
            let Some((turn, end)) = bound_after(&text[at + word.len()..]) else { continue };
            let end = at + word.len() + end;
            let start = text[..at + word.len()].strip_suffix(&counter.name).map_or(at, str::len);
            let start = text[..start].strip_suffix('{').map_or(start, str::len);
            let span = prompt.text.locate(start, end);
            found.push(Literal { text: &text[start..end], counter: id, turn, span });
        }
        found.extend(in_words(text, word).map(|(turn, place)| {
            let span = prompt.text.locate(place.start, place.end);
            Literal { text: &text[place], counter: id, turn, span }
        }));
    }
    found
}

/// `at most 3 rounds`, `up to three review rounds`: words that say how often, with the number and its place.
fn in_words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = (u32, Range<usize>)> + use<'t> {
    const LEADS: [&str; 7] =
        ["at most ", "up to ", "no more than ", "a maximum of ", "there are ", "you have ", "after "];
    let lead = |start: usize| LEADS.iter().find(|it| ends_with(&text[..start], it));
    let plural = word.strip_suffix('s').unwrap_or(word);
    let ends = text.match_indices(plural).filter_map(move |(at, _)| {
        let end = at + plural.len();
        let is_many = text[end..].starts_with('s') && !text[end + 1..].starts_with(char::is_alphanumeric);
        is_many.then_some((at, end + 1))
    });
    ends.filter_map(move |(at, end)| {
        // At most one word describes them: "3 review rounds".
        let line = text[..at].rfind('\n').map_or(0, |it| it + 1);
        let before: Vec<&str> = text[line..at].split_inclusive(' ').collect();
        let number = (1..=2).find_map(|back| {
            let start = at - before.iter().rev().take(back).map(|it| it.len()).sum::<usize>();
            let word = before.iter().rev().nth(back - 1)?;
            Some((number(word.trim())?, start))
        });
        let (value, start) = number?;
        let lead = lead(start)?;
        Some((value, start - lead.len()..end))
    })
}

/// True if a text ends with these words, in any case, and with no more of a word before them.
fn ends_with(text: &str, words: &str) -> bool {
    let Some(start) = text.len().checked_sub(words.len()).filter(|it| text.is_char_boundary(*it)) else {
        return false;
    };
    text[start..].eq_ignore_ascii_case(words) && !text[..start].ends_with(char::is_alphanumeric)
}

/// A small number, in digits or as a word.
fn number(word: &str) -> Option<u32> {
    const WORDS: [&str; 10] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let spelled = WORDS.iter().position(|it| it.eq_ignore_ascii_case(word));
    spelled.map(|at| at as u32 + 1).or_else(|| word.parse().ok())
}

/// True if the word stands alone here, or ends the counter's whole name, which stands alone.
fn is_name(text: &str, at: usize, word: &str, name: &str) -> bool {
    let part = |it: char| it.is_alphanumeric() || it == '_';
    let whole = text[..at + word.len()].strip_suffix(name);
    let before = whole.unwrap_or(&text[..at]);
    !before.ends_with(part) && !text[at + word.len()..].starts_with(part)
}

/// The bound that directly follows a name: the value at which it turns, and where its number ends.
fn bound_after(text: &str) -> Option<(u32, usize)> {
    let rest = text.strip_prefix('}').unwrap_or(text).trim_start_matches(' ');
    let (of, rest) = match ["of ", "out of ", "/"].iter().find_map(|it| rest.strip_prefix(it)) {
        Some(rest) if text.starts_with('}') => (true, rest),
        Some(_) | None => (false, rest),
    };
    let (op, rest) = if of { (Op::Less, rest) } else { sign(rest)? };
    let rest = rest.trim_start_matches(' ');
    let digits = rest.len() - rest.trim_start_matches(|it: char| it.is_ascii_digit()).len();
    let value = rest[..digits].parse().ok()?;
    Some((turn(op, value)?, text.len() - rest.len() + digits))
}

/// A sign as guards and as people write it.
fn sign(text: &str) -> Option<(Op, &str)> {
    const SIGNS: [(&str, Op); 7] = [
        ("<=", Op::AtMost),
        (">=", Op::AtLeast),
        ("≤", Op::AtMost),
        ("≥", Op::AtLeast),
        ("==", Op::Equal),
        ("<", Op::Less),
        (">", Op::Greater),
    ];
    SIGNS.iter().find_map(|(sign, op)| Some((*op, text.strip_prefix(sign)?)))
}

/// The first value at which a comparison is not what it was for smaller ones.
pub(super) fn turn(op: Op, value: u32) -> Option<u32> {
    match op {
        Op::Less | Op::AtLeast | Op::Equal | Op::NotEqual => Some(value),
        Op::AtMost | Op::Greater => value.checked_add(1),
    }
}
