//! C15: a gate reads a section whose heading is almost another heading, and no prompt names that section.

use std::collections::BTreeMap;

use super::C15;
use crate::lint::Facts;
use crate::lint::prompt_facts::find_heading;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::SectionGate;
use orange_codegen::span::Span;
use orange_codegen::suggest;

/// The sections that gates and exit rules read, with the places of their headings.
type ReadSections<'f> = BTreeMap<&'f str, Vec<Span>>;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let mut read = ReadSections::new();
    let rules = facts.exit_rules.iter().flat_map(|it| it.condition.section_gates());
    for gate in facts.transitions.iter().flat_map(|it| it.section_gates()).chain(rules) {
        note(&mut read, gate);
    }
    let is_named = |heading: &str| {
        let mut prompts = facts.workflow.prompts.iter();
        prompts.any(|it| find_heading(&it.text.value, heading).is_some())
    };
    let (named, unnamed): (Vec<&str>, Vec<&str>) = read.keys().partition(|it| is_named(it));
    let found = unnamed.into_iter().filter_map(|odd| {
        // If no prompt names either heading, the one that is read more often is meant.
        let often = read.iter().filter(|(it, places)| **it != odd && places.len() > read[odd].len());
        let likely: Vec<&str> = named.iter().copied().chain(often.map(|(it, _)| *it)).collect();
        Some(finding(odd, alike(odd, &likely)?, &read))
    });
    found.collect()
}

fn note<'f>(read: &mut ReadSections<'f>, gate: &'f SectionGate) {
    let places = read.entry(gate.section.value.as_str()).or_default();
    // Transitions of one declaration share a gate, which counts once.
    if gate.reviewer.is_none() && !places.contains(&gate.section.span) {
        places.push(gate.section.span);
    }
}

/// The known heading that differs from `odd` by a letter or two. Headings that differ by a number, such as `## Step 1` and `##
/// Step 2`, are not alike, and neither are headings that end in a word of at most three letters.
fn alike<'k>(odd: &str, known: &[&'k str]) -> Option<&'k str> {
    let numbers = |it: &str| it.chars().filter(char::is_ascii_digit).collect::<String>();
    let last = |it: &str| it.rsplit(' ').next().map_or(0, |word| word.chars().count());
    let known = known.iter().copied().filter(|it| numbers(it) == numbers(odd) && last(it).min(last(odd)) > 3);
    suggest::closest(odd, known)
}

fn finding(odd: &str, meant: &str, read: &ReadSections<'_>) -> Diagnostic {
    let [places, others] = [odd, meant].map(|it| read[it].as_slice());
    let place = places.first().copied().unwrap_or_default();
    let message =
        format!("no prompt has an agent write `{odd}`, which this gate reads: `{meant}` is almost the same");
    let mut found = Diagnostic::new(&C15, place, message);
    for span in places {
        found = found.label(*span, format!("reads `{odd}`"));
    }
    if let Some(other) = others.first() {
        found = found.label(*other, format!("reads `{meant}`"));
    }
    found.help(format!("did you mean `{meant}`?"))
}
