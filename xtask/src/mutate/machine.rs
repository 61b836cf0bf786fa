//! The changes of machines: states, transitions with guards, gates and hooks, and exit rules.

use std::collections::BTreeMap;

use orange_codegen::Span;
use orange_codegen::syntax::Node;

use super::mutant::{Maker, MutantKind};
use super::prompts;
use super::tree::{MappingEntry, entries, entry, items, items_of, replaced, swapped, text, value};
use crate::Result;

/// The names of states and prompts.
struct MachineNames<'m> {
    states: Vec<&'m str>,
    prompts: Vec<&'m str>,
}

impl<'m> Maker<'m> {
    /// Every change of a machine, in the order of its parts.
    pub fn machine(&mut self, tree: &'m Node) -> Result<()> {
        let keys = |of: &str| entry(tree, of).map(|it| entries(it.value).map(|it| it.name).collect());
        let names = MachineNames {
            states: keys("states").unwrap_or_default(),
            prompts: keys("prompts").unwrap_or_default(),
        };
        for state in entry(tree, "states").iter().flat_map(|it| entries(it.value)) {
            self.state(&names, state);
        }
        for gate in entry(tree, "gates").iter().flat_map(|it| entries(it.value)) {
            self.place = format!("gate `{}`", gate.name);
            self.gate(MutantKind::Gate, gate.value);
        }
        for transition in items_of(tree, "transitions") {
            self.transition(&names, transition);
        }
        let rules = entry(tree, "exit_monitoring").map(|it| items_of(it.value, "rules")).unwrap_or_default();
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        for rule in rules {
            let status = value(rule, "status").unwrap_or_default();
            let number = numbers.entry(status).or_default();
            *number += 1;
            self.place = format!("rule {number} of `{status}`");
            self.rule(&names, rule);
        }
        self.made.extend(prompts::mutants(self.source, tree, &names.states, &self.lines)?);
        Ok(())
    }

    fn state(&mut self, names: &MachineNames<'m>, state: MappingEntry<'m>) {
        self.place = format!("state `{}`", state.name);
        for key in ["terminal", "entry"] {
            self.flip(MutantKind::State, state.value, key);
        }
        if let Some(prompt) = entry(state.value, "respawn_prompt") {
            self.leave_out(MutantKind::State, "respawn_prompt", prompt.span());
            self.another(MutantKind::State, "respawn_prompt", prompt.value, &names.prompts);
        }
        if let Some(wait) = entry(state.value, "wait") {
            self.leave_out(MutantKind::State, "wait", wait.span());
        }
    }

    fn transition(&mut self, names: &MachineNames<'m>, transition: &'m Node) {
        let from = entry(transition, "from").map(|it| it.value);
        let sources: Vec<&str> = match from {
            Some(list) if !items(list).is_empty() => items(list).iter().map(text).collect(),
            from => from.map(text).into_iter().collect(),
        };
        let to = entry(transition, "to");
        let arrow = format!("`{} → {}`", sources.join(", "), to.map(|it| text(it.value)).unwrap_or_default());
        self.place.clone_from(&arrow);
        self.leave_out(MutantKind::Transition, "it", transition.span);
        for source in from.map(items).unwrap_or_default() {
            self.leave_out(MutantKind::Transition, &format!("from `{}`", text(source)), source.span);
        }
        if let Some(to) = to {
            let others: Vec<&str> = names.states.iter().copied().filter(|it| !sources.contains(it)).collect();
            self.another(MutantKind::Transition, "to", to.value, &others);
        }
        if let Some(by) = entry(transition, "by") {
            self.leave_out(MutantKind::Transition, "by", by.span());
        }
        if let Some(when) = entry(transition, "when") {
            self.leave_out(MutantKind::Guard, "when", when.span());
            self.guard(MutantKind::Guard, when.value);
        }
        if let Some(gate) = entry(transition, "gate") {
            self.leave_out(MutantKind::Gate, "gate", gate.span());
            self.gates(MutantKind::Gate, gate.value);
        }
        let hooks = items_of(transition, "hooks");
        for (at, hook) in hooks.iter().enumerate() {
            let action = value(hook, "action").unwrap_or_default();
            self.place = format!("{arrow} hook `{action}`");
            self.leave_out(MutantKind::Hook, "it", hook.span);
            if let Some(next) = hooks.get(at + 1) {
                let change = format!("swapped with `{}`", value(next, "action").unwrap_or_default());
                self.push(MutantKind::Hook, change, hook.span, swapped(self.source, hook.span, next.span));
            }
            self.spawn(names, hook);
        }
    }

    /// Changes the parameters of a hook.
    fn spawn(&mut self, names: &MachineNames<'m>, hook: &'m Node) {
        if let Some(prompt) = entry(hook, "prompt") {
            self.another(MutantKind::Hook, "prompt", prompt.value, &names.prompts);
        }
        for (key, words) in [("harness", ["task", "review"]), ("permissions", ["full", "reduced"])] {
            if let Some(word) = entry(hook, key) {
                self.another(MutantKind::Hook, key, word.value, &words);
            }
        }
        for key in ["increment", "field"] {
            if let Some(counter) = entry(hook, key) {
                self.leave_out(MutantKind::Hook, key, counter.span());
            }
        }
    }

    fn rule(&mut self, names: &MachineNames<'m>, rule: &'m Node) {
        self.leave_out(MutantKind::ExitRule, "it", rule.span);
        for key in ["no_artifact", "has_artifact", "stuck_after"] {
            if let Some(part) = entry(rule, key) {
                self.leave_out(MutantKind::ExitRule, key, part.span());
            }
        }
        if let Some(artifact) = entry(rule, "has_artifact") {
            self.gates(MutantKind::ExitRule, artifact.value);
        }
        if let Some(then) = entry(rule, "then") {
            self.another(MutantKind::ExitRule, "then", then.value, &names.states);
        }
        for clause in items_of(rule, "then_when") {
            let named = format!("clause to `{}`", value(clause, "then").unwrap_or_default());
            self.leave_out(MutantKind::ExitRule, &named, clause.span);
            if let Some(when) = entry(clause, "when") {
                self.guard(MutantKind::ExitRule, when.value);
            }
            if let Some(then) = entry(clause, "then") {
                self.another(MutantKind::ExitRule, &named, then.value, &names.states);
            }
        }
        if let Some(action) = entry(rule, "action") {
            self.another(MutantKind::ExitRule, "action", action.value, &["crash", "mark_dead"]);
        }
        if let Some(limit) = entry(rule, "stuck_after") {
            self.numbers(MutantKind::ExitRule, limit.value.span);
        }
        self.flip(MutantKind::ExitRule, rule, "respawn");
    }

    fn gates(&mut self, kind: MutantKind, gates: &'m Node) {
        if entry(gates, "all").is_none() {
            self.gate(kind, gates);
        }
        for gate in items_of(gates, "all") {
            let named = value(gate, "section").unwrap_or_else(|| text(gate));
            self.leave_out(kind, &format!("gate {named}"), gate.span);
            self.gate(kind, gate);
        }
    }

    fn gate(&mut self, kind: MutantKind, gate: &'m Node) {
        if let Some(section) = entry(gate, "section") {
            let other = format!("\"{}s\"", text(section.value));
            let text = replaced(self.source, section.value.span, &other);
            self.push(kind, format!("section {other}"), section.value.span, text);
        }
        for key in ["verdict", "fields", "of"] {
            if let Some(part) = entry(gate, key) {
                self.leave_out(kind, key, part.span());
            }
        }
        if let Some(verdict) = entry(gate, "verdict") {
            self.another(kind, "verdict", verdict.value, &["PASS", "FAIL"]);
        }
        if let Some(of) = entry(gate, "of") {
            self.another(kind, "of", of.value, &["patch", "commit"]);
        }
        let fields = entry(gate, "fields").map(|it| it.value);
        let all = fields.map(|it| items_of(it, "all")).unwrap_or_default();
        for field in all.iter().chain(items_of(gate, "fields")) {
            self.leave_out(kind, &format!("field {}", text(field)), field.span);
        }
        for key in ["required", "strict", "fresh"] {
            self.flip(kind, gate, key);
        }
    }

    fn guard(&mut self, kind: MutantKind, guard: &'m Node) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_found_where_they_stand() {
        assert_eq!(signs("a <= 2 && b != 3"), [(2, "<=", ">"), (12, "!=", "==")]);
    }
}
