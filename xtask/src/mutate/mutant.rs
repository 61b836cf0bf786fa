//! The changes: everything in a workflow that can be left out or replaced by its like.

use std::collections::{BTreeMap, BTreeSet};

use orange_codegen::syntax::{self, Node};
use orange_codegen::{LineIndex, Source, Span};

use super::prompts;
use super::tree::{Entry, entries, entry, items, items_of, removed, replaced, swapped, text, value};
use crate::Result;

/// One small change of a workflow.
#[derive(Clone, Debug)]
pub(super) struct Mutant {
    /// What is changed.
    pub kind: Kind,
    /// The place: `working → stuck`, hook 2 kill_session.
    pub place: String,
    /// The change: left out.
    pub change: String,
    /// The changed line.
    pub line: u32,
    /// Whether it is a line of prose in which checks read nothing.
    pub is_prose: bool,
    /// The whole source with the change.
    pub text: String,
}

/// The kind of what is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    State,
    Transition,
    Guard,
    Gate,
    Hook,
    ExitRule,
    Prompt,
}

impl Kind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::State => "states",
            Self::Transition => "transitions",
            Self::Guard => "guards",
            Self::Gate => "gates",
            Self::Hook => "hooks",
            Self::ExitRule => "exit rules",
            Self::Prompt => "prompts",
        }
    }
}

impl Mutant {
    /// The change in one line, independent of the rest of the file.
    pub fn name(&self) -> String {
        format!("{}: {}", self.place, self.change)
    }
}

/// Every change to a workflow, in the order of its parts.
pub(super) fn all(source: &Source) -> Result<Vec<Mutant>> {
    let (tree, _) = syntax::parse(source);
    let tree = tree.ok_or_else(|| format!("{} is no YAML", source.path))?;
    let states =
        entry(&tree, "states").map(|it| entries(it.value).map(|it| it.name).collect()).unwrap_or_default();
    let names =
        entry(&tree, "prompts").map(|it| entries(it.value).map(|it| it.name).collect()).unwrap_or_default();
    let mut maker = Maker {
        source,
        lines: LineIndex::new(&source.text),
        states,
        prompts: names,
        place: String::new(),
        made: Vec::new(),
    };
    maker.workflow(&tree);
    maker.made.extend(prompts::mutants(source, &tree, &maker.states, &maker.lines)?);
    let mut seen = BTreeSet::new();
    maker.made.retain(|it| it.text != source.text && seen.insert(it.text.clone()));
    number(&mut maker.made);
    Ok(maker.made)
}

/// Numbers places with equal names.
fn number(mutants: &mut [Mutant]) {
    let mut count: BTreeMap<String, u32> = BTreeMap::new();
    for mutant in mutants {
        let times = count.entry(mutant.name()).or_default();
        *times += 1;
        if *times > 1 {
            mutant.change = format!("{} ({times})", mutant.change);
        }
    }
}

struct Maker<'m> {
    source: &'m Source,
    lines: LineIndex<'m>,
    states: Vec<&'m str>,
    prompts: Vec<&'m str>,
    /// The place of the current change.
    place: String,
    made: Vec<Mutant>,
}

impl<'m> Maker<'m> {
    fn workflow(&mut self, tree: &'m Node) {
        for state in entry(tree, "states").iter().flat_map(|it| entries(it.value)) {
            self.state(state);
        }
        for transition in items_of(tree, "transitions") {
            self.transition(transition);
        }
        let rules = entry(tree, "exit_monitoring").map(|it| items_of(it.value, "rules")).unwrap_or_default();
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        for rule in rules {
            let status = value(rule, "status").unwrap_or_default();
            let number = numbers.entry(status).or_default();
            *number += 1;
            self.place = format!("rule {number} of `{status}`");
            self.rule(rule);
        }
    }

    fn state(&mut self, state: Entry<'m>) {
        self.place = format!("state `{}`", state.name);
        for key in ["terminal", "entry"] {
            self.flip(Kind::State, state.value, key);
        }
        if let Some(prompt) = entry(state.value, "respawn_prompt") {
            self.leave_out(Kind::State, "respawn_prompt", prompt.span());
            self.another(Kind::State, "respawn_prompt", prompt.value, &self.prompts.clone());
        }
        if let Some(wait) = entry(state.value, "wait") {
            self.leave_out(Kind::State, "wait", wait.span());
        }
    }

    fn transition(&mut self, transition: &'m Node) {
        let from = entry(transition, "from").map(|it| it.value);
        let sources: Vec<&str> = match from {
            Some(list) if !items(list).is_empty() => items(list).iter().map(text).collect(),
            from => from.map(text).into_iter().collect(),
        };
        let to = entry(transition, "to");
        let arrow = format!("`{} → {}`", sources.join(", "), to.map(|it| text(it.value)).unwrap_or_default());
        self.place.clone_from(&arrow);
        self.leave_out(Kind::Transition, "it", transition.span);
        for source in from.map(items).unwrap_or_default() {
            self.leave_out(Kind::Transition, &format!("from `{}`", text(source)), source.span);
        }
        if let Some(to) = to {
            let others: Vec<&str> = self.states.iter().copied().filter(|it| !sources.contains(it)).collect();
            self.another(Kind::Transition, "to", to.value, &others);
        }
        if let Some(by) = entry(transition, "by") {
            self.leave_out(Kind::Transition, "by", by.span());
        }
        if let Some(when) = entry(transition, "when") {
            self.leave_out(Kind::Guard, "when", when.span());
            self.guard(Kind::Guard, when.value);
        }
        if let Some(gate) = entry(transition, "gate") {
            self.leave_out(Kind::Gate, "gate", gate.span());
            self.gate(Kind::Gate, gate.value);
        }
        let hooks = items_of(transition, "hooks");
        for (at, hook) in hooks.iter().enumerate() {
            let action = value(hook, "action").unwrap_or_default();
            self.place = format!("{arrow} hook `{action}`");
            self.leave_out(Kind::Hook, "it", hook.span);
            if let Some(next) = hooks.get(at + 1) {
                let change = format!("swapped with `{}`", value(next, "action").unwrap_or_default());
                self.push(Kind::Hook, change, hook.span, swapped(self.source, hook.span, next.span));
            }
            self.spawn(hook);
        }
    }

    /// Changes the parameters of a hook.
    fn spawn(&mut self, hook: &'m Node) {
        if let Some(prompt) = entry(hook, "prompt") {
            self.another(Kind::Hook, "prompt", prompt.value, &self.prompts.clone());
        }
        for (key, words) in [("harness", ["task", "review"]), ("permissions", ["full", "reduced"])] {
            if let Some(word) = entry(hook, key) {
                self.another(Kind::Hook, key, word.value, &words);
            }
        }
        for key in ["increment", "field"] {
            if let Some(counter) = entry(hook, key) {
                self.leave_out(Kind::Hook, key, counter.span());
            }
        }
    }

    fn rule(&mut self, rule: &'m Node) {
        self.leave_out(Kind::ExitRule, "it", rule.span);
        for key in ["no_artifact", "has_artifact", "stuck_after"] {
            if let Some(part) = entry(rule, key) {
                self.leave_out(Kind::ExitRule, key, part.span());
            }
        }
        if let Some(artifact) = entry(rule, "has_artifact") {
            self.gate(Kind::ExitRule, artifact.value);
        }
        if let Some(then) = entry(rule, "then") {
            self.another(Kind::ExitRule, "then", then.value, &self.states.clone());
        }
        for clause in items_of(rule, "then_when") {
            let named = format!("clause to `{}`", value(clause, "then").unwrap_or_default());
            self.leave_out(Kind::ExitRule, &named, clause.span);
            if let Some(when) = entry(clause, "when") {
                self.guard(Kind::ExitRule, when.value);
            }
            if let Some(then) = entry(clause, "then") {
                self.another(Kind::ExitRule, &named, then.value, &self.states.clone());
            }
        }
        if let Some(action) = entry(rule, "action") {
            self.another(Kind::ExitRule, "action", action.value, &["crash", "mark_dead"]);
        }
        if let Some(limit) = entry(rule, "stuck_after") {
            self.numbers(Kind::ExitRule, limit.value.span);
        }
        self.flip(Kind::ExitRule, rule, "respawn");
    }

    fn gate(&mut self, kind: Kind, gate: &'m Node) {
        if let Some(section) = entry(gate, "section") {
            let other = format!("\"{}s\"", text(section.value));
            let text = replaced(self.source, section.value.span, &other);
            self.push(kind, format!("section {other}"), section.value.span, text);
        }
        for key in ["verdict", "fields"] {
            if let Some(part) = entry(gate, key) {
                self.leave_out(kind, key, part.span());
            }
        }
        if let Some(verdict) = entry(gate, "verdict") {
            self.another(kind, "verdict", verdict.value, &["PASS", "FAIL"]);
        }
        for field in items_of(gate, "fields") {
            self.leave_out(kind, &format!("field {}", text(field)), field.span);
        }
        for key in ["required", "strict", "fresh"] {
            self.flip(kind, gate, key);
        }
    }

    fn guard(&mut self, kind: Kind, guard: &'m Node) {
        self.numbers(kind, guard.span);
        let written = &self.source.text[guard.span.range()];
        for (at, sign, other) in signs(written) {
            let start = guard.span.start + at as u32;
            let span = Span::new(start, start + sign.len() as u32);
            self.push(
                kind,
                format!("`{other}` for `{sign}` in {written}"),
                span,
                replaced(self.source, span, other),
            );
        }
    }

    /// Changes every number by one.
    fn numbers(&mut self, kind: Kind, span: Span) {
        let written = &self.source.text[span.range()];
        for (at, digits) in numbers(written) {
            let start = span.start + at as u32;
            let place = Span::new(start, start + digits.len() as u32);
            let value: u32 = digits.parse().unwrap_or_default();
            for other in [value.checked_add(1), value.checked_sub(1)].into_iter().flatten() {
                let change = format!("{other} for {digits} in {written}");
                self.push(kind, change, place, replaced(self.source, place, &other.to_string()));
            }
        }
    }

    fn leave_out(&mut self, kind: Kind, what: &str, span: Span) {
        if let Some(text) = removed(self.source, span) {
            self.push(kind, format!("{what} left out"), span, text);
        }
    }

    fn flip(&mut self, kind: Kind, node: &'m Node, key: &str) {
        if let Some(flag) = entry(node, key) {
            self.another(kind, key, flag.value, &["true", "false"]);
        }
    }

    /// Replaces a word by the next one of its kind.
    fn another(&mut self, kind: Kind, what: &str, node: &'m Node, words: &[&str]) {
        let written = text(node);
        let at = words.iter().position(|it| *it == written).map_or(0, |at| at + 1);
        if let Some(other) = words.get(at % words.len().max(1)) {
            let text = replaced(self.source, node.span, other);
            self.push(kind, format!("{what} `{other}` for `{written}`"), node.span, text);
        }
    }

    fn push(&mut self, kind: Kind, change: String, span: Span, text: String) {
        let line = self.lines.position(span.start).line;
        self.made.push(Mutant { kind, place: self.place.clone(), change, line, is_prose: false, text });
    }
}

/// The operators of a guard, each with its opposite.
fn signs(guard: &str) -> Vec<(usize, &'static str, &'static str)> {
    const SIGNS: [(&str, &str); 6] =
        [("<=", ">"), (">=", "<"), ("==", "!="), ("!=", "=="), ("<", ">="), (">", "<=")];
    let mut found = Vec::new();
    let mut at = 0;
    while at < guard.len() {
        let here = SIGNS.iter().find(|(sign, _)| guard.as_bytes()[at..].starts_with(sign.as_bytes()));
        found.extend(here.map(|(sign, other)| (at, *sign, *other)));
        at += here.map_or(1, |(sign, _)| sign.len());
    }
    found
}

/// The numbers in a text, with their offsets.
fn numbers(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    for part in text.split_inclusive(|it: char| !it.is_ascii_digit()) {
        let digits = part.trim_end_matches(|it: char| !it.is_ascii_digit());
        if !digits.is_empty() {
            found.push((at, digits));
        }
        at += part.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_and_numbers_are_found_where_they_stand() {
        assert_eq!(signs("a <= 2 && b != 3"), [(2, "<=", ">"), (12, "!=", "==")]);
        assert_eq!(numbers("\"round >= 12 || x<3\""), [(10, "12"), (18, "3")]);
        assert_eq!(numbers("none"), []);
    }

    #[test]
    fn every_change_is_another_text_and_has_another_name() {
        let text = "name: flow\nstates:\n  a: {terminal: false, respawn_prompt: p}\n  b: {terminal: true}\ntransitions:\n  - {from: a, to: b, when: \"review_round < 2\", gate: {section: \"## S\", verdict: PASS}, hooks: [{action: kill_session}, {action: release_workspace}]}\nprompts:\n  p: |\n    Hello.\n    --status b\n";
        let source = Source::new("flow.yml", text);
        let mutants = all(&source).unwrap();
        let names: BTreeSet<String> = mutants.iter().map(Mutant::name).collect();
        assert_eq!(names.len(), mutants.len());
        assert!(mutants.iter().all(|it| it.text != text));
        let kinds: BTreeSet<Kind> = mutants.iter().map(|it| it.kind).collect();
        assert_eq!(kinds.len(), 6);
    }
}
