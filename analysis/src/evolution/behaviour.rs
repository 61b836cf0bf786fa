//! Behaviour of a workflow, in words that two workflows share: names and no numbers, and nothing of how it is written.

use std::collections::BTreeMap;

use orange_core::{Condition, Guard, Hook, Outcome, StateId, Transition, WatchRule};

use crate::lint::Facts;

/// By what it is called: everything that a task, an agent or a person could notice. Texts, comments, layout, the order of
/// declarations and the spelling of guards are left out; prompts are not.
pub(super) fn behaviour(facts: &Facts<'_>) -> BTreeMap<String, String> {
    let teller = DifferenceTeller(facts);
    let prompts = facts.workflow.prompts.iter();
    let counters = facts.machine.counters.iter();
    let whole = [
        ("the initial state".to_owned(), facts.name(facts.machine.initial).to_owned()),
        ("the commands".to_owned(), teller.commands()),
        ("`poll_interval`".to_owned(), facts.machine.poll_interval.to_string()),
        ("`budget`".to_owned(), facts.machine.budget.words()),
    ];
    whole
        .into_iter()
        .chain(facts.states().map(|(id, it)| (format!("`{}`", it.name.value), teller.state(id))))
        .chain(teller.transitions())
        .chain(prompts.map(|it| (format!("the prompt `{}`", it.name.value), it.text.value.clone())))
        .chain(counters.map(|it| (format!("the counter `{}`", it.name), it.default.to_string())))
        .collect()
}

struct DifferenceTeller<'f>(&'f Facts<'f>);

impl DifferenceTeller<'_> {
    fn commands(&self) -> String {
        let orange_core::Commands { spawn, clarify, review, merge, cancel, crash } = self.0.machine.commands;
        let names = [spawn, clarify, review, merge, cancel, crash].map(|it| it.map(|it| self.0.name(it)));
        format!("{names:?}")
    }

    /// Properties of a state, and the fate of a task whose agent has ended there.
    fn state(&self, id: StateId) -> String {
        let machine = self.0.machine;
        let orange_core::State { terminal, waits_for_human, entry, respawn, agent, budget, .. } =
            machine.state(id);
        let respawn = respawn.as_ref().map(|it| self.hook(it));
        let rules: Vec<String> = machine
            .exit_rules_of(id)
            .map(|at| self.rule(&machine.exit_rules[at].condition, &machine.exit_rules[at].outcome))
            .collect();
        let watch: Vec<String> =
            machine.watch_rules_of(id).map(|at| self.watch(&machine.watch[at])).collect();
        let budget = budget.words();
        format!("{terminal} {waits_for_human} {entry} {agent:?} {respawn:?} {rules:?} {watch:?} {budget}")
    }

    /// By two states: the transitions between them. At most one of them fires, so that their order says nothing.
    fn transitions(&self) -> BTreeMap<String, String> {
        let mut transitions: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (declared, transition) in self.0.transitions.iter().zip(self.0.machine.transitions) {
            transitions.entry(self.0.arrow(declared)).or_default().push(self.transition(transition));
        }
        let sorted = transitions.into_iter().map(|(arrow, mut transitions)| {
            transitions.sort();
            (arrow, transitions.join("; "))
        });
        sorted.collect()
    }

    fn transition(&self, transition: &Transition<'_>) -> String {
        let Transition { by, cause, guard, gates, hooks, on_hook_failure, .. } = transition;
        let on_hook_failure = on_hook_failure.map(|it| self.0.name(it));
        let hooks: Vec<String> = hooks.iter().map(|it| self.hook(it)).collect();
        let mut by: Vec<&str> = by.iter().map(|it| self.0.machine.actor_name(it)).collect();
        by.sort_unstable();
        format!(
            "{by:?} {cause:?} {:?} {gates:?} {hooks:?} {on_hook_failure:?}",
            guard.as_ref().map(|it| self.guard(it))
        )
    }

    /// The values for which it holds, however it says so.
    fn guard(&self, guard: &Guard<'_>) -> Vec<Vec<(&str, u32, u32)>> {
        let name = |at: orange_core::CounterId| self.0.machine.counter(at).name;
        let conjunctions = guard.any_of.iter().map(|ranges| {
            let mut ranges: Vec<_> = ranges.iter().map(|it| (name(it.counter), it.low, it.high)).collect();
            ranges.sort_unstable();
            ranges
        });
        let mut conjunctions: Vec<_> = conjunctions.collect();
        conjunctions.sort_unstable();
        conjunctions
    }

    fn hook(&self, hook: &Hook<'_>) -> String {
        let counter = hook.counter.map(|it| self.0.machine.counter(it).name);
        let on_failure = hook.on_failure;
        match (hook.spawn(), counter) {
            (Some(spawn), _) => {
                let orange_core::Spawn {
                    prompt,
                    role,
                    harness,
                    permissions,
                    model,
                    effort,
                    workspace,
                    reviewer,
                    sandbox,
                } = *spawn;
                let prompt = self.0.machine.prompt(prompt).name;
                let (name, message) = (hook.name(), hook.message);
                let agent = format!("{role:?} {harness:?} {permissions:?} {model:?} {effort:?}");
                let agent = format!("{agent} {workspace:?} {reviewer:?} {sandbox:?}");
                format!("{name} {prompt} {agent} {counter:?} {message:?} {on_failure:?}")
            }
            (None, Some(counter)) => format!("increment {counter} {on_failure:?}"),
            (None, None) => format!("{hook:?}"),
        }
    }

    fn watch(&self, rule: &WatchRule<'_>) -> String {
        let guard = rule.guard.as_ref().map(|it| self.guard(it));
        format!("{} {guard:?} {} {}", rule.fact, rule.rerun, self.outcome(&rule.outcome))
    }

    fn outcome(&self, outcome: &Outcome<'_>) -> String {
        match outcome {
            Outcome::Then(to) => self.0.name(*to).to_owned(),
            Outcome::ThenWhen(clauses) => {
                let mut clauses: Vec<_> =
                    clauses.iter().map(|(guard, to)| (self.guard(guard), self.0.name(*to))).collect();
                clauses.sort_unstable();
                format!("{clauses:?}")
            }
            Outcome::Crash { .. } | Outcome::MarkDead | Outcome::Wait { .. } => format!("{outcome:?}"),
        }
    }

    fn rule(&self, condition: &Condition<'_>, outcome: &Outcome<'_>) -> String {
        let outcome = self.outcome(outcome);
        let condition = match condition {
            Condition::Overdue(deadline) => {
                let mut states: Vec<_> = deadline.states.iter().map(|it| self.0.name(*it)).collect();
                states.sort_unstable();
                format!("{deadline} {states:?}")
            }
            Condition::Always
            | Condition::Artifact(_)
            | Condition::NoArtifact
            | Condition::Ended(_)
            | Condition::Spent => format!("{condition:?}"),
        };
        format!("{condition} {outcome}")
    }
}
