//! Lowering: the checked workflow becomes the tables of `orange-core`.
//!
//! The machine borrows its texts from the workflow and its lists from an [`Arena`], so that both are plain owned
//! values and the machine is a view of them:
//!
//! ```
//! # fn run(checked: &orange_codegen::Checked) -> Result<(), Vec<orange_codegen::Diagnostic>> {
//! let arena = orange_codegen::lower::Arena::default();
//! let machine = orange_codegen::lower::lower(checked, &arena)?;
//! assert_eq!(machine.name, checked.name());
//! # Ok(())
//! # }
//! ```

mod arena;
mod facts;
pub mod normal;
mod plan;
#[cfg(test)]
mod tests;

use orange_core as core;
use orange_core::{Machine, TransitionId, fnv1a};

use crate::catalogue::S08;
use crate::guard::Guard;
use crate::model::{
    AgentSettings, Condition, Definition, Ending, ExitRule, Gate, HarnessName, Hook, Outcome, Prompt,
    PromptPiece, RequiredFields, SectionGate, Spawn, StateId, Transition, WatchRule, Workflow,
};
use crate::{Checked, Diagnostic};

pub use arena::Arena;
use facts::LoweringFacts;
pub use plan::{PlanArena, lower_plan};

/// The machine of a checked workflow, in time that grows with its size and no faster.
///
/// # Errors
/// What is sound and still has no machine: a step workflow, and guards beyond [`normal::MAX_CONJUNCTIONS`].
pub fn lower<'a>(checked: &'a Checked, arena: &'a Arena<'a>) -> Result<Machine<'a>, Vec<Diagnostic>> {
    let workflow = state_machine(checked)?;
    let mut lowering = Lowering { workflow, arena, diagnostics: Vec::new() };
    let machine = lowering.machine(checked.hash());
    if lowering.diagnostics.is_empty() { Ok(machine) } else { Err(lowering.diagnostics) }
}

/// The state machine workflow that this is.
///
/// # Errors
/// It is a step workflow.
pub fn state_machine(checked: &Checked) -> Result<&Workflow, Vec<Diagnostic>> {
    match checked.definition() {
        Definition::Machine(workflow) => Ok(workflow),
        Definition::Steps(steps) => {
            let name = &steps.name;
            let message = format!("`{}` is a step workflow: it has no states and transitions", name.value);
            let help = "give a workflow with `states` and `transitions`";
            Err(vec![Diagnostic::new(&S08, name.span, message).help(help)])
        }
    }
}

/// The transitions by [`TransitionId`]: by `from`, then `to`, then source order.
pub fn transitions(workflow: &Workflow) -> Vec<&Transition> {
    let mut sorted: Vec<_> = workflow.transitions.iter().collect();
    sorted.sort_by_key(|transition| (transition.from.value, transition.to.value));
    sorted
}

/// The exit rules in the machine's order: by state, then source order.
pub fn exit_rules(workflow: &Workflow) -> Vec<&ExitRule> {
    let mut sorted: Vec<_> = workflow.exit_monitoring.rules.iter().collect();
    sorted.sort_by_key(|rule| rule.status.value);
    sorted
}

/// The watch rules in the machine's order: by state, then source order.
pub fn watch_rules(workflow: &Workflow) -> Vec<&WatchRule> {
    let mut sorted: Vec<_> = workflow.watch.iter().collect();
    sorted.sort_by_key(|rule| rule.status.value);
    sorted
}

struct Lowering<'a> {
    workflow: &'a Workflow,
    arena: &'a Arena<'a>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Lowering<'a> {
    fn machine(&mut self, source_hash: &'a str) -> Machine<'a> {
        let Self { workflow, arena, .. } = *self;
        let transitions = transitions(workflow);
        Machine {
            name: &workflow.name.value,
            version: workflow.version.value,
            description: workflow.description.as_deref().unwrap_or_default(),
            source_hash,
            prompts_hash: arena.text(prompts_hash(&workflow.prompts)),
            states: arena.states.keep(self.states()),
            initial: workflow.initial,
            counters: arena.counters.keep(self.counters()),
            actors: arena.words.keep(workflow.actors.iter().map(|it| it.value.as_str())),
            rows: arena.rows.keep(rows(workflow.states.len(), &transitions)),
            transitions: arena.transitions.keep(transitions.into_iter().map(|it| self.transition(it))),
            exit_rules: arena
                .exit_rules
                .keep(exit_rules(workflow).into_iter().map(|rule| self.exit_rule(rule))),
            watch: arena.watch.keep(watch_rules(workflow).into_iter().map(|rule| self.watch_rule(rule))),
            prompts: arena.prompts.keep(workflow.prompts.iter().map(|it| self.prompt(it))),
            commands: workflow.commands,
            poll_interval: workflow.exit_monitoring.poll_interval,
            budget: workflow.budget.as_ref().map_or(core::Budget::NONE, |it| it.limits()),
        }
    }

    fn states(&self) -> impl Iterator<Item = core::State<'a>> + use<'a> {
        let facts = LoweringFacts::of(self.workflow);
        let states = self.workflow.states.iter().zip(0..);
        states.map(move |(state, index)| {
            let id = core::StateId(index);
            core::State {
                name: &state.name.value,
                description: state.description.as_deref().unwrap_or_default(),
                terminal: state.terminal,
                waits_for_human: facts.waits_for_human(id),
                entry: state.entry,
                respawn: facts.respawn(id),
                agent: facts.agent(id),
                delegates: state.delegates.as_ref().map(|it| core::Delegates {
                    most: it.most,
                    depth: it.depth,
                    workflow: it.workflow.as_deref(),
                    into: it.into,
                }),
                budget: state.budget.as_ref().map_or(core::Budget::NONE, |it| it.limits()),
            }
        })
    }

    fn counters(&self) -> impl Iterator<Item = core::Counter<'a>> + use<'a> {
        self.workflow.counters.iter().map(|it| core::Counter { name: &it.name, default: it.start })
    }

    fn transition(&mut self, transition: &'a Transition) -> core::Transition<'a> {
        core::Transition {
            from: transition.from.value,
            to: transition.to.value,
            by: transition.by,
            cause: transition.cause.map(|it| it.value),
            guard: transition.when.as_ref().map(|guard| self.guard(guard)),
            gates: self.gates(&transition.gates),
            hooks: self
                .arena
                .hooks
                .keep(transition.hooks.iter().map(|it| self.hook(it, transition.to.value))),
            on_hook_failure: transition.on_hook_failure.map(|it| it.value),
        }
    }

    fn guard(&mut self, guard: &'a Guard) -> core::Guard<'a> {
        let conjunctions = normal::conjunctions(&guard.expr).unwrap_or_else(|too_large| {
            self.diagnostics.push(too_large.diagnostic(guard));
            Vec::new()
        });
        let any_of = conjunctions.into_iter().map(|ranges| self.arena.ranges.keep(ranges));
        core::Guard { text: &guard.text, any_of: self.arena.conjunctions.keep(any_of) }
    }

    fn gates(&self, gates: &'a [Gate]) -> &'a [core::Gate<'a>] {
        self.arena.gates.keep(gates.iter().map(|gate| match gate {
            Gate::Section(gate) => core::Gate::Section(self.section_gate(gate)),
            Gate::AnySection(gate) => {
                let sections = gate.sections.iter().map(|it| self.section_gate(it));
                core::Gate::AnySection(self.arena.sections.keep(sections))
            }
            Gate::Command(gate) => {
                let argv = self.arena.words.keep(gate.argv.iter().map(String::as_str));
                let program = core::Program { argv, timeout: gate.timeout };
                if gate.on_merge { core::Gate::OnMerge(program) } else { core::Gate::Command(program) }
            }
            Gate::Checks(_) => core::Gate::Checks,
            Gate::Children(gate) => core::Gate::Children(gate.wanted),
        }))
    }

    fn section_gate(&self, gate: &'a SectionGate) -> core::SectionGate<'a> {
        let names = gate.fields.names().iter().map(|field| field.value.as_str());
        let names = self.arena.words.keep(names);
        core::SectionGate {
            section: &gate.section.value,
            required: gate.required,
            verdict: gate.verdict.as_ref().map(|it| core::Verdict::new(&it.value)),
            verdicts: self.arena.words.keep(gate.words.iter().map(String::as_str)),
            strict: gate.strict,
            fields: match gate.fields {
                RequiredFields::Any(_) => core::Fields::Any(names),
                RequiredFields::All(_) => core::Fields::All(names),
            },
            fresh: gate.fresh,
            of: gate.of.map(|of| of.value),
            reviewer: gate.reviewer.as_deref(),
        }
    }

    /// A hook of a transition to this state.
    fn hook(&self, hook: &'a Hook, to: StateId) -> core::Hook<'a> {
        core::Hook {
            action: hook.action,
            spawn: hook.spawn.as_ref().map(|it| spawn(self.workflow, it, to)),
            counter: hook.counter.map(|it| it.value),
            message: hook.message.as_ref().map_or("", |it| &it.value),
            field: &hook.field,
            value: &hook.value,
            argv: self.arena.words.keep(hook.argv.iter().map(String::as_str)),
            timeout: hook.timeout,
            on_failure: hook.on_failure,
        }
    }

    fn exit_rule(&mut self, rule: &'a ExitRule) -> core::ExitRule<'a> {
        core::ExitRule {
            state: rule.status.value,
            condition: match &rule.condition {
                Condition::HasArtifact(gates) => core::Condition::Artifact(self.gates(gates)),
                Condition::NoArtifact => core::Condition::NoArtifact,
                Condition::Always => core::Condition::Always,
                Condition::Spent => core::Condition::Spent,
                Condition::Ended(it) => core::Condition::Ended(self.ending(it)),
                Condition::Overdue(number) => {
                    let deadline = &self.workflow.deadlines[*number];
                    let states = self.arena.ids.keep(deadline.states.iter().map(|it| it.value));
                    core::Condition::Overdue(core::Deadline { states, after: deadline.after })
                }
            },
            outcome: self.outcome(&rule.outcome),
        }
    }

    fn watch_rule(&mut self, rule: &'a WatchRule) -> core::WatchRule<'a> {
        core::WatchRule {
            state: rule.status.value,
            fact: rule.fact.value,
            guard: rule.when.as_ref().map(|guard| self.guard(guard)),
            rerun: rule.rerun,
            outcome: self.outcome(&rule.outcome),
        }
    }

    fn outcome(&mut self, outcome: &'a Outcome) -> core::Outcome<'a> {
        match outcome {
            Outcome::Then(to) => core::Outcome::Then(to.value),
            Outcome::ThenWhen(clauses) => {
                let arena = self.arena;
                let clauses = clauses.iter().map(|it| (self.guard(&it.when), it.then.value));
                core::Outcome::ThenWhen(arena.clauses.keep(clauses))
            }
            Outcome::Crash { stuck_after, respawn, .. } => {
                core::Outcome::Crash { stuck_after: *stuck_after, respawn: *respawn }
            }
            Outcome::MarkDead => core::Outcome::MarkDead,
            Outcome::Wait { resume_after, .. } => core::Outcome::Wait { resume_after: *resume_after },
        }
    }

    fn ending(&self, ending: &'a Ending) -> core::Ending<'a> {
        core::Ending {
            codes: self.arena.numbers.keep(ending.codes.iter().copied()),
            signals: self.arena.numbers.keep(ending.signals.iter().copied()),
            output: ending.output.as_ref().map(|it| it.value.as_str()),
            after: ending.after,
        }
    }

    fn prompt(&self, prompt: &'a Prompt) -> core::Prompt<'a> {
        let pieces = prompt.pieces.iter().map(piece);
        core::Prompt { name: &prompt.name.value, pieces: self.arena.pieces.keep(pieces) }
    }
}

/// Settings of a state for its agents.
fn settings_of(workflow: &Workflow, state: StateId) -> &AgentSettings {
    &workflow.states[usize::from(state.0)].agent
}

/// The start of an agent for a state, whose settings hold where the hook says nothing.
fn spawn<'w>(workflow: &'w Workflow, spawn: &'w Spawn, state: StateId) -> core::Spawn<'w> {
    let usual = core::Spawn::new(spawn.prompt.value, spawn.role, spawn.permissions);
    let reviewer = spawn.reviewer.as_ref().map(|it| it.value.as_str());
    let sandbox = workflow.demand(state, Some(spawn));
    core::Spawn { reviewer, sandbox, ..set(usual, &[&spawn.agent, settings_of(workflow, state)]) }
}

/// The start of an agent with these settings, of which the first that says something counts.
fn set<'w>(usual: core::Spawn<'w>, settings: &[&'w AgentSettings]) -> core::Spawn<'w> {
    let harness = settings.iter().find_map(|it| it.harness.as_ref());
    core::Spawn {
        harness: harness.map_or(usual.harness, |it| harness_of(&it.value)),
        model: settings.iter().find_map(|it| it.model.as_deref()),
        effort: settings.iter().find_map(|it| it.effort.as_deref()),
        workspace: settings.iter().find_map(|it| it.workspace).map_or(usual.workspace, |it| it.value),
        ..usual
    }
}

fn harness_of(name: &HarnessName) -> core::HarnessOf<'_> {
    match name {
        HarnessName::Task => core::HarnessOf::Task,
        HarnessName::Review => core::HarnessOf::Review,
        HarnessName::Named(name) => core::HarnessOf::Named(name),
    }
}

fn piece(piece: &PromptPiece) -> core::Piece<'_> {
    match piece {
        PromptPiece::Text(text) => core::Piece::Text(text),
        PromptPiece::Value(value) => core::Piece::Value(*value),
    }
}

/// Index of each state's first transition, and behind them the end of the last.
fn rows(states: usize, sorted: &[&Transition]) -> Vec<u32> {
    let mut rows = Vec::with_capacity(states + 1);
    let mut next = 0;
    for state in 0..=states {
        while sorted.get(next).is_some_and(|it| usize::from(it.from.value.0) < state) {
            next += 1;
        }
        rows.push(TransitionId(next as u32).0);
    }
    rows
}

/// A byte that no text of a source holds stands between two texts, so that nothing can move across unnoticed.
fn prompts_hash(prompts: &[Prompt]) -> String {
    let texts = prompts.iter().flat_map(|prompt| [&prompt.name.value, &prompt.text.value]);
    format!("{:016x}", fnv1a(texts.flat_map(|text| text.bytes().chain([0xff]))))
}
