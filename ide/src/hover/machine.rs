//! Facts about the names of a state machine workflow.

use orange_analysis::insight::{CounterRange, MachineInsight, StateInsight, TransitionInsight};
use orange_api::contract as agreed;
use orange_codegen::diag::Trace;
use orange_codegen::guard::cells::WorkBudget;
use orange_codegen::guard::decide;
use orange_codegen::lower::{self, Arena};
use orange_codegen::model::keys::NameKind;
use orange_codegen::model::occurrences::Occurrence;
use orange_codegen::model::{
    Actors, Condition, Counter, ExitRule, Gate, NamedGate, Outcome, State, Transition, Workflow,
};
use orange_core::{Machine, StateId};

use crate::document::Document;

pub(super) fn described(
    document: &Document,
    workflow: &Workflow,
    insight: Option<&MachineInsight>,
    occurrence: &Occurrence,
) -> Option<String> {
    let name = occurrence.name.as_str();
    match occurrence.kind {
        NameKind::States => {
            let state = workflow.states.iter().find(|it| it.name.value == name)?;
            let at = occurrence.span.start;
            let here = |it: &&Transition| it.to.span.start <= at && at < it.to.span.end;
            let transitions: Vec<&Transition> = workflow.transitions.iter().filter(here).collect();
            let shown = transitions.iter().map(|it| transition(document, workflow, insight, it));
            let parts: Vec<String> = shown.chain([self::state(document, workflow, insight, state)]).collect();
            Some(parts.join("\n\n---\n\n"))
        }
        NameKind::Counters => {
            let counter = workflow.counters.iter().find(|it| it.name == name)?;
            Some(self::counter(workflow, insight, counter))
        }
        NameKind::Gates => {
            let gate = workflow.gates.iter().find(|it| it.name.value == name)?;
            Some(named_gate(document, workflow, gate))
        }
        NameKind::Sections => Some(section(document, workflow, name)),
        NameKind::Prompts => {
            let prompt = workflow.prompts.iter().find(|it| it.name.value == name)?;
            let file = prompt.file.as_ref().map(|it| format!(" (`{it}`)")).unwrap_or_default();
            let shown: Vec<&str> = prompt.text.value.lines().take(12).collect();
            Some(format!("**prompt** `{name}`{file}\n\n~~~\n{}\n~~~", shown.join("\n")))
        }
        NameKind::Workflows
        | NameKind::Steps
        | NameKind::Harnesses
        | NameKind::Actors
        | NameKind::Reviewers
        | NameKind::Verdicts
        | NameKind::Roles
        | NameKind::Results
        | NameKind::Inputs
        | NameKind::Outputs
        | NameKind::Actions
        | NameKind::Values
        | NameKind::Files => None,
    }
}

/// Facts about a state: the actors that may leave it, the end of its agent, its runs, and the contract with agents in it.
pub(super) fn state(
    document: &Document,
    workflow: &Workflow,
    insight: Option<&MachineInsight>,
    state: &State,
) -> String {
    let name = &state.name.value;
    let known = insight.and_then(|it| it.state(name));
    let mut parts = vec![format!("**state** `{name}`{}", kind(workflow, state))];
    parts.extend(state.description.clone());
    parts.extend(known.map(runs));
    let leaving = workflow.transitions.iter().filter(|it| name_of(workflow, it.from.value) == name);
    let leaving: Vec<String> = leaving
        .map(|it| {
            let to = name_of(workflow, it.to.value);
            let when = it.when.as_ref().map(|it| format!(", if `{}`", it.text)).unwrap_or_default();
            format!("- → `{to}` by {}{when}", actors(workflow, it.by))
        })
        .collect();
    if !leaving.is_empty() {
        parts.push(leaving.join("\n"));
    }
    let rules = workflow.exit_monitoring.rules.iter();
    let rules: Vec<String> = rules
        .filter(|it| name_of(workflow, it.status.value) == name)
        .map(|it| format!("- {}", rule(workflow, it)))
        .collect();
    if !rules.is_empty() {
        parts.push(format!("When its agent ends:\n\n{}", rules.join("\n")));
    }
    parts.extend(contract(document, name).filter(|it| !it.is_empty()));
    parts.join("\n\n")
}

/// The contract of a state with its agents: what they may ask for, and what they have to write; none where there is no such state or
/// the workflow has an error.
pub fn contract(document: &Document, state: &str) -> Option<String> {
    let text = with_machine(document, |machine| {
        machine.state_named(state)?;
        let mut contract = agreed::of(machine);
        contract.statuses.retain(|it| it.status == state);
        Some(agreed::text(&contract))
    });
    text.flatten()
}

fn kind(workflow: &Workflow, state: &State) -> String {
    let is = |id: Option<StateId>| id.is_some_and(|id| name_of(workflow, id) == state.name.value);
    let kinds = [
        (is(Some(workflow.initial)), "initial"),
        (state.terminal, "terminal"),
        (state.entry, "tasks may be created here"),
        (state.wait.is_some(), "waits for a person"),
        (is(workflow.commands.crash), "after too many crashes"),
    ];
    let kinds: Vec<&str> = kinds.into_iter().filter(|(is, _)| *is).map(|(_, kind)| kind).collect();
    if kinds.is_empty() { String::new() } else { format!(": {}", kinds.join(", ")) }
}

fn runs(known: &StateInsight) -> String {
    let reached = match (known.is_reached, &known.run) {
        (Some(false), _) => return "No run reaches it.".to_owned(),
        (None, _) => "No run that was searched reaches it, and the search was cut.".to_owned(),
        (Some(true), Some(run)) if !run.steps.is_empty() => format!("Shortest run: {}", shown(run)),
        (Some(true), _) => "Tasks begin here.".to_owned(),
    };
    let agents = known.agents.iter().map(|it| {
        let always = if it.is_always { "is always" } else { "can be" };
        format!("A {} {always} alive here.", it.agent.kind())
    });
    let ranges: Vec<String> = known.counters.iter().map(range).collect();
    let counters = (!ranges.is_empty()).then(|| format!("Here {}.", ranges.join(", ")));
    std::iter::once(reached).chain(agents).chain(counters).collect::<Vec<_>>().join("  \n")
}

fn shown(run: &Trace) -> String {
    run.to_string().replace('`', "'")
}

/// `review_round` is 0 to 2 or more
pub(crate) fn range(it: &CounterRange) -> String {
    let more = if it.or_more { " or more" } else { "" };
    match it.least == it.most {
        true => format!("`{}` is {}{more}", it.counter, it.least),
        false => format!("`{}` is {} to {}{more}", it.counter, it.least, it.most),
    }
}

/// Facts about a transition: its actors, its guard, its gate and its hooks.
fn transition(
    document: &Document,
    workflow: &Workflow,
    insight: Option<&MachineInsight>,
    of: &Transition,
) -> String {
    let (from, to) = (name_of(workflow, of.from.value), name_of(workflow, of.to.value));
    let mut parts = vec![format!("**transition** `{from} → {to}` by {}", actors(workflow, of.by))];
    let is_it = |it: &&TransitionInsight| it.span == of.span && it.from == from && it.to == to;
    let known = insight.and_then(|it| it.transitions.iter().find(is_it));
    if let Some(known) = known {
        match known.fires {
            Some(true) => parts.push(format!("Taken by {} in some run.", known.by.join(", "))),
            Some(false) => parts.push("No run takes it.".to_owned()),
            None => {}
        }
        parts.extend(known.most.map(|most| {
            let times = if most == 1 { "once".to_owned() } else { format!("{most} times") };
            format!("Taken at most {times} before a person is needed.")
        }));
    }
    if let Some(when) = &of.when {
        let ranges = insight.and_then(|it| it.state(from)).map(|it| &it.counters[..]).unwrap_or_default();
        let ranges = ranges.iter().filter(|it| when.text.contains(it.counter.as_str()));
        let ranges: Vec<String> = ranges.map(range).collect();
        let at =
            if ranges.is_empty() { String::new() } else { format!("; in `{from}` {}", ranges.join(", ")) };
        let holds = decide::somewhere(&when.expr, &workflow.counters, &mut WorkBudget::default());
        let holds = match holds {
            Ok(Some(it)) => match it.range.split(" (for example").next().unwrap_or_default() {
                "always" | "for all values" => ", which always holds".to_owned(),
                range => format!(", that is {range}"),
            },
            Ok(None) => ", which never holds".to_owned(),
            Err(_) => String::new(),
        };
        parts.push(format!("Guard: `{}`{holds}{at}.", when.text));
    }
    let words = with_lowered(document, workflow, |machine, transitions| {
        let at = transitions.iter().position(|it| std::ptr::eq(*it, of))?;
        let gates = machine.transitions.get(at)?.gates;
        agreed::gate_words(gates).map(|it| (it, agreed::example(gates)))
    });
    if let Some((words, example)) = words {
        parts.push(format!("Gate: {words}.{}", fenced(example)));
    }
    let hooks: Vec<String> = of
        .hooks
        .iter()
        .map(|it| {
            let stops = if it.on_failure == orange_core::OnFailure::Stop {
                "; a failure stops the others"
            } else {
                ""
            };
            format!("1. `{}`: {}{stops}", it.action.name(), first_sentence(it.action.doc()))
        })
        .collect();
    if !hooks.is_empty() {
        parts.push(format!("Hooks:\n\n{}", hooks.join("\n")));
    }
    parts.join("\n\n")
}

fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.')
}

fn fenced(example: Option<String>) -> String {
    example.map(|it| format!(" For example:\n\n~~~markdown\n{it}\n~~~")).unwrap_or_default()
}

fn counter(workflow: &Workflow, insight: Option<&MachineInsight>, counter: &Counter) -> String {
    let name = &counter.name;
    let mut parts = vec![format!("**counter** `{name}`, {} in a new task", counter.start)];
    let changes = |hook: &orange_codegen::model::Hook| {
        hook.counter.is_some_and(|it| {
            workflow.counters.get(usize::from(it.value.0)).is_some_and(|it| it.name == *name)
        })
    };
    let changed = workflow.transitions.iter().flat_map(|transition| {
        let hooks = transition.hooks.iter().filter(|it| changes(it));
        hooks.map(move |hook| (transition, hook))
    });
    let changed: Vec<String> = changed
        .map(|(transition, hook)| {
            let (from, to) = (transition.from.value, transition.to.value);
            let (from, to) = (name_of(workflow, from), name_of(workflow, to));
            format!("- `{}` on `{from} → {to}`", hook.action.name())
        })
        .collect();
    if !changed.is_empty() {
        parts.push(format!("Changed by:\n\n{}", changed.join("\n")));
    }
    let ranges = insight.into_iter().flat_map(|it| &it.states).filter_map(|state| {
        let it = state.counters.iter().find(|it| it.counter == *name)?;
        Some(format!("- in `{}`: {}", state.name, bare(it)))
    });
    let ranges: Vec<String> = ranges.collect();
    if !ranges.is_empty() {
        parts.push(format!("Its values:\n\n{}", ranges.join("\n")));
    }
    parts.join("\n\n")
}

/// `0..2` or `0..2+`
pub(crate) fn bare(it: &CounterRange) -> String {
    let more = if it.or_more { "+" } else { "" };
    match it.least == it.most {
        true => format!("{}{more}", it.least),
        false => format!("{}..{}{more}", it.least, it.most),
    }
}

fn named_gate(document: &Document, workflow: &Workflow, named: &NamedGate) -> String {
    let Some(gate) = &named.gate else { return format!("**gate** `{}`", named.name.value) };
    let words = gate_words(document, workflow, |it| it.span() == gate.span());
    let (words, example) = words.unwrap_or_else(|| ("no transition uses it".to_owned(), None));
    format!("**gate** `{}`: {words}.{}", named.name.value, fenced(example))
}

fn section(document: &Document, workflow: &Workflow, heading: &str) -> String {
    let reads = |it: &Gate| it.sections().iter().any(|it| it.section.value == heading);
    let readers = workflow.transitions.iter().filter(|it| it.gates.iter().any(reads));
    let readers: Vec<String> = readers
        .map(|it| format!("- `{} → {}`", name_of(workflow, it.from.value), name_of(workflow, it.to.value)))
        .collect();
    let words = gate_words(document, workflow, reads);
    let shown = words.map(|(words, example)| format!(": {words}.{}", fenced(example))).unwrap_or_default();
    let readers =
        if readers.is_empty() { String::new() } else { format!("\n\nRead by:\n\n{}", readers.join("\n")) };
    format!("**section** `{heading}`{shown}{readers}")
}

/// The words for the first gate of a transition of which this holds, and an example.
fn gate_words(
    document: &Document,
    workflow: &Workflow,
    is_wanted: impl Fn(&Gate) -> bool,
) -> Option<(String, Option<String>)> {
    with_lowered(document, workflow, |machine, transitions| {
        let lowered = machine.transitions.iter().map(|it| it.gates);
        let all = transitions.iter().map(|it| &it.gates).zip(lowered);
        let mut pairs = all.flat_map(|(gates, lowered)| gates.iter().zip(lowered));
        let (_, gate) = pairs.find(|(gate, _)| is_wanted(gate))?;
        let gates = std::slice::from_ref(gate);
        agreed::gate_words(gates).map(|it| (it, agreed::example(gates)))
    })
}

fn rule(workflow: &Workflow, rule: &ExitRule) -> String {
    let condition = match &rule.condition {
        Condition::HasArtifact(gates) => {
            let sections = gates.iter().flat_map(Gate::sections).map(|it| format!("`{}`", it.section.value));
            let sections: Vec<String> = sections.collect();
            match sections.is_empty() {
                true => "when its gate lets it pass".to_owned(),
                false => format!("with {}", sections.join(" and ")),
            }
        }
        Condition::NoArtifact => "with nothing written".to_owned(),
        Condition::Ended(_) => "after an end as the rule says".to_owned(),
        Condition::Overdue(_) => "at the deadline".to_owned(),
        Condition::Spent => "when the budget of the state is used up".to_owned(),
        Condition::Always => "always".to_owned(),
    };
    let outcome = match &rule.outcome {
        Outcome::Then(to) => format!("→ `{}`", name_of(workflow, to.value)),
        Outcome::ThenWhen(clauses) => {
            let clauses = clauses
                .iter()
                .map(|it| format!("→ `{}` if `{}`", name_of(workflow, it.then.value), it.when.text));
            clauses.collect::<Vec<_>>().join(", ")
        }
        Outcome::Crash { stuck_after, respawn, .. } => {
            let again = if *respawn { "it is started again" } else { "the task waits" };
            format!("a crash: {again}, and {stuck_after} of them escalate")
        }
        Outcome::MarkDead => "it is shown as dead, and the task waits for a person".to_owned(),
        Outcome::Wait { resume_after, .. } => format!("it is started again after {resume_after} s"),
    };
    format!("{condition}: {outcome}")
}

pub(crate) fn name_of(workflow: &Workflow, id: StateId) -> &str {
    workflow.states.get(usize::from(id.0)).map_or("", |it| it.name.value.as_str())
}

pub(crate) fn actors(workflow: &Workflow, by: Actors) -> String {
    if by == Actors::ANYONE {
        return "anyone".to_owned();
    }
    by.iter().map(|it| workflow.actor_name(it)).collect::<Vec<_>>().join(", ")
}

fn with_machine<T>(document: &Document, tell: impl FnOnce(&Machine<'_>) -> T) -> Option<T> {
    let checked = document.compilation.checked.as_ref()?;
    let arena = Arena::default();
    let machine = lower::lower(checked, &arena).ok()?;
    Some(tell(&machine))
}

fn with_lowered<T>(
    document: &Document,
    workflow: &Workflow,
    tell: impl FnOnce(&Machine<'_>, &[&Transition]) -> Option<T>,
) -> Option<T> {
    with_machine(document, |machine| tell(machine, &lower::transitions(workflow)))?
}
