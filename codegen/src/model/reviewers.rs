//! Reviewers with names: the sections in which they write, and the gates that read the sections of all of them.

use std::collections::BTreeMap;

use super::decoder::{Decoder, Field, shortened};
use super::{Condition, ExitRule, Gate, Hook, SectionGate, StateId, Transition};
use crate::catalogue::S04;
use crate::diag::Diagnostic;
use crate::span::{Span, Spanned};

/// Of how many reviewers a gate asks for a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdicts {
    /// Of each.
    All,
    /// Of one, whichever it is.
    Any,
}

impl Verdicts {
    /// The word in a workflow.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Any => "any",
        }
    }
}

/// Sections of which one must say what its gate asks for.
#[derive(Clone, Debug)]
pub struct AnySection {
    /// Its place in a transition or a rule.
    pub place: Span,
    /// The gates, which ask for the same; there is at least one.
    pub sections: Vec<SectionGate>,
}

/// By state: the names of the reviewers that transitions into it start, each once, in source order.
pub type ReviewersOf = BTreeMap<StateId, Vec<String>>;

/// `name` of a hook that starts a reviewer. One that is not spelled as a name is kept: the reviewer has one.
pub(super) fn name(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<Spanned<String>> {
    let name = decoder.string(field)?;
    let fits = name.value.starts_with(|it: char| it.is_ascii_lowercase())
        && name.value.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-');
    if !fits {
        let message = format!("`{}` is not a name for a reviewer", shortened(&name.value));
        let help = "a small letter first, then small letters, digits and `-`: `security`";
        decoder.report(Diagnostic::new(&S04, name.span, message).help(help));
    }
    Some(name)
}

/// The reviewers with names of every state.
pub fn reviewers_of(transitions: &[Transition]) -> ReviewersOf {
    let mut all = ReviewersOf::new();
    for transition in transitions {
        for name in transition.hooks.iter().filter_map(Hook::reviewer) {
            let names = all.entry(transition.to.value).or_default();
            if !names.contains(&name.value) {
                names.push(name.value.clone());
            }
        }
    }
    all
}

/// Makes of each gate with `verdicts` those of the reviewers' own sections, and notes which sections are a reviewer's own.
pub(super) fn assign(transitions: &mut [Transition], rules: &mut [ExitRule]) {
    let all = reviewers_of(transitions);
    let names = |state: StateId| all.get(&state).map_or(&[][..], Vec::as_slice);
    for transition in transitions {
        assign_all(&mut transition.gates, names(transition.from.value));
    }
    for rule in rules {
        if let Condition::HasArtifact(gates) = &mut rule.condition {
            assign_all(gates, names(rule.status.value));
        }
    }
}

fn assign_all(gates: &mut Vec<Gate>, names: &[String]) {
    if !names.is_empty() {
        *gates = std::mem::take(gates).into_iter().flat_map(|gate| assigned(gate, names)).collect();
    }
}

fn assigned(gate: Gate, names: &[String]) -> Vec<Gate> {
    let Gate::Section(gate) = gate else { return vec![gate] };
    let own = |name: &String| {
        let section = Spanned::new(own_section(&gate.section.value, name), gate.section.span);
        SectionGate { section, reviewer: Some(name.clone()), ..gate.clone() }
    };
    match gate.verdicts.map(|it| it.value) {
        Some(Verdicts::Any) if names.len() > 1 => {
            let (place, sections) = (gate.place, names.iter().map(own).collect());
            vec![Gate::AnySection(AnySection { place, sections })]
        }
        Some(_) => names.iter().map(|name| Gate::Section(own(name))).collect(),
        None => {
            let is_own = |name: &&String| gate.section.value.ends_with(&format!(": {name}"));
            let reviewer = names.iter().find(is_own).cloned();
            vec![Gate::Section(SectionGate { reviewer, ..gate })]
        }
    }
}

/// The heading of a reviewer's own section: `## Review: security`.
pub fn own_section(heading: &str, name: &str) -> String {
    format!("{heading}: {name}")
}

impl SectionGate {
    /// The heading as it is written, without the name that `verdicts` adds.
    pub fn heading(&self) -> &str {
        let own = self.reviewer.as_deref().filter(|_| self.verdicts.is_some());
        let written = own.and_then(|name| self.section.value.strip_suffix(name)?.strip_suffix(": "));
        written.unwrap_or(&self.section.value)
    }
}

impl Hook {
    /// The name of the reviewer that it starts, if that has one.
    pub fn reviewer(&self) -> Option<&Spanned<String>> {
        self.spawn.as_ref()?.reviewer.as_ref()
    }
}
