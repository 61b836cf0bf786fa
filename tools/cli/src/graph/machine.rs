//! The view of a state machine: its states, its transitions, and what the engine does when an agent has ended.

use orange_codegen::Span;
use orange_codegen::model::{
    Actors, Condition, Deadline, Ending, ExitMonitoring, ExitRule, Gate, OnFailure, Outcome, RequiredFields,
    SectionGate, StateId, Transition, WatchRule, Workflow,
};

use super::{Graph, GraphEdge, GraphNode, GraphNodeKind, Mark, Taker};

impl Graph {
    pub(super) fn of_machine(workflow: &Workflow) -> Self {
        let mut edges =
            workflow.transitions.iter().map(|it| GraphEdge::of_transition(workflow, it)).collect();
        for edge in workflow.transitions.iter().filter_map(GraphEdge::of_failed_hook) {
            add_exit(&mut edges, edge);
        }
        for rule in &workflow.exit_monitoring.rules {
            for edge in of_rule(workflow, rule) {
                add_exit(&mut edges, edge);
            }
        }
        for edge in workflow.watch.iter().flat_map(of_watch) {
            edges.push(edge);
        }
        let nodes = (0..workflow.states.len()).map(|at| GraphNode::of_state(workflow, StateId(at as u16)));
        Self { name: workflow.name.value.clone(), nodes: nodes.collect(), edges, ..Self::default() }
    }
}

impl GraphNode {
    fn of_state(workflow: &Workflow, id: StateId) -> Self {
        let state = &workflow.states[usize::from(id.0)];
        let respawn = state.respawn_prompt.as_ref().map(|it| it.span);
        Self {
            name: state.name.value.clone(),
            lines: Vec::new(),
            kind: kind(workflow, id),
            entry: state.entry,
            spans: std::iter::once(state.name.span).chain(respawn).collect(),
            mark: Mark::default(),
        }
    }
}

fn kind(workflow: &Workflow, id: StateId) -> GraphNodeKind {
    let state = &workflow.states[usize::from(id.0)];
    if state.terminal {
        GraphNodeKind::End
    } else if id == workflow.initial {
        GraphNodeKind::Start
    } else if workflow.commands.crash == Some(id) {
        GraphNodeKind::Crash
    } else if state.wait.is_some() || !advances(&workflow.exit_monitoring, id) {
        GraphNodeKind::Wait
    } else {
        GraphNodeKind::Work
    }
}

/// True if an exit rule moves a task on from this state.
fn advances(exits: &ExitMonitoring, state: StateId) -> bool {
    exits.rules.iter().any(|rule| {
        rule.status.value == state
            && match rule.outcome {
                Outcome::Then(_) | Outcome::ThenWhen(_) => true,
                Outcome::Crash { .. } | Outcome::MarkDead | Outcome::Wait { .. } => false,
            }
    })
}

impl GraphEdge {
    fn of_transition(workflow: &Workflow, transition: &Transition) -> Self {
        let when = transition.when.as_ref().map(|it| it.text.clone());
        Self {
            from: usize::from(transition.from.value.0),
            to: usize::from(transition.to.value.0),
            lines: transition.gates.iter().map(gate).chain(when).collect(),
            by: (transition.by != Actors::ANYONE).then(|| actors(workflow, transition.by)),
            spans: vec![transition.span],
            ..Self::default()
        }
    }

    /// Edge that a task takes when a hook of a transition fails.
    fn of_failed_hook(transition: &Transition) -> Option<Self> {
        let target = transition.on_hook_failure.as_ref()?;
        let stops = transition.hooks.iter().filter(|hook| hook.on_failure == OnFailure::Stop);
        let mut names: Vec<&str> = stops.map(|hook| hook.action.name()).collect();
        names.dedup();
        let lines = vec![format!("{} fails", names.join(" or "))];
        Some(Self::of_exit(transition.to.value, target.value, lines, target.span))
    }

    fn of_exit(from: StateId, to: StateId, lines: Vec<String>, span: Span) -> Self {
        let (from, to) = (usize::from(from.0), usize::from(to.0));
        Self { from, to, lines, taker: Taker::Engine, spans: vec![span], ..Self::default() }
    }
}

fn of_rule(workflow: &Workflow, rule: &ExitRule) -> Vec<GraphEdge> {
    let from = rule.status.value;
    let condition = match &rule.condition {
        Condition::HasArtifact(gates) => gates.iter().map(gate).collect(),
        Condition::NoArtifact => vec!["nothing written".to_owned()],
        Condition::Ended(ending) => vec![ended(ending)],
        Condition::Spent => vec!["budget used up".to_owned()],
        Condition::Overdue(_) | Condition::Always => Vec::new(),
    };
    let deadline = match &rule.condition {
        Condition::Overdue(number) => workflow.deadlines.get(*number).map(overdue),
        Condition::HasArtifact(_)
        | Condition::NoArtifact
        | Condition::Ended(_)
        | Condition::Spent
        | Condition::Always => None,
    };
    let lines = |when: Option<&String>| condition.iter().chain(when).cloned().collect();
    match &rule.outcome {
        Outcome::Then(to) => {
            vec![GraphEdge { after: deadline, ..GraphEdge::of_exit(from, to.value, lines(None), rule.span) }]
        }
        Outcome::ThenWhen(clauses) => clauses
            .iter()
            .map(|it| GraphEdge::of_exit(from, it.then.value, lines(Some(&it.when.text)), rule.span))
            .collect(),
        Outcome::Crash { stuck_after, .. } => {
            let crash = workflow.commands.crash.filter(|to| is_declared(workflow, from, *to));
            let times = if *stuck_after == 1 { "crash" } else { "crashes" };
            let after = Some(format!("after {stuck_after} {times}"));
            let edge = |to| GraphEdge { after, ..GraphEdge::of_exit(from, to, Vec::new(), rule.span) };
            crash.map(edge).into_iter().collect()
        }
        Outcome::MarkDead | Outcome::Wait { .. } => Vec::new(),
    }
}

/// The edges of a watch rule: its fact, and under which counter values.
fn of_watch(rule: &WatchRule) -> Vec<GraphEdge> {
    let when = rule.when.as_ref().map(|it| it.text.clone());
    let lines = |clause: Option<&String>| {
        let fact = rule.fact.value.to_string();
        let rerun = (rule.rerun > 0).then(|| format!("rerun {}", rule.rerun));
        std::iter::once(fact).chain(rerun).chain(when.clone()).chain(clause.cloned()).collect()
    };
    let edge = |to: StateId, clause| GraphEdge {
        taker: Taker::Watch,
        ..GraphEdge::of_exit(rule.status.value, to, lines(clause), rule.span)
    };
    match &rule.outcome {
        Outcome::Then(to) => vec![edge(to.value, None)],
        Outcome::ThenWhen(clauses) => {
            clauses.iter().map(|it| edge(it.then.value, Some(&it.when.text))).collect()
        }
        Outcome::Crash { .. } | Outcome::MarkDead | Outcome::Wait { .. } => Vec::new(),
    }
}

/// `exit 75, 76` or `says "rate limit"`, or both; `after 2 h`.
fn ended(ending: &Ending) -> String {
    let numbers = |what: &str, numbers: &[i32]| {
        let numbers: Vec<String> = numbers.iter().map(i32::to_string).collect();
        (!numbers.is_empty()).then(|| format!("{what} {}", numbers.join(", ")))
    };
    let said = ending.output.as_ref().map(|it| format!("says \"{}\"", it.value));
    let over = ending.after.map(|_| orange_core::Ending { after: ending.after, ..orange_core::Ending::ANY });
    let over = over.map(|it| it.to_string());
    let parts = [numbers("exit", &ending.codes), numbers("signal", &ending.signals), said, over];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `at the deadline of 4 h`
fn overdue(deadline: &Deadline) -> String {
    orange_core::Deadline { states: &[], after: deadline.after }.to_string()
}

/// True if the engine has a transition to take: without a declared one a task stays in the state in which it crashes.
fn is_declared(workflow: &Workflow, from: StateId, to: StateId) -> bool {
    workflow.transitions.iter().any(|it| it.from.value == from && it.to.value == to)
}

/// An exit rule with the conditions of a transition is one edge with it.
fn add_exit(edges: &mut Vec<GraphEdge>, exit: GraphEdge) {
    let same = |it: &&mut GraphEdge| {
        let is_other = it.after.is_some() && exit.after.is_some() && it.after != exit.after;
        (it.from, it.to, &it.lines) == (exit.from, exit.to, &exit.lines) && !is_other
    };
    match edges.iter_mut().find(same) {
        Some(edge) => {
            edge.spans.extend(exit.spans);
            edge.after = edge.after.take().or(exit.after);
            if edge.taker == Taker::Asker {
                edge.taker = Taker::AskerOrEngine;
            }
        }
        None => edges.push(exit),
    }
}

fn gate(gate: &Gate) -> String {
    match gate {
        Gate::Section(gate) => section_gate(gate),
        Gate::AnySection(gate) => gate.sections.iter().map(section_gate).collect::<Vec<_>>().join(" or "),
        Gate::Command(gate) if gate.on_merge => format!("{} on the merge", gate.argv.join(" ")),
        Gate::Command(gate) => gate.argv.join(" "),
        Gate::Checks(_) => "checks: green".to_owned(),
        Gate::Children(gate) => format!("children: {}", gate.wanted.as_str()),
    }
}

/// `## Review: PASS, strict`
fn section_gate(gate: &SectionGate) -> String {
    let verdict = match &gate.verdict {
        Some(verdict) => Some(verdict.value.clone()),
        None => gate.asks_for_verdict().then(|| gate.words.join(" or ")),
    };
    let names: Vec<&str> = gate.fields.names().iter().map(|it| it.value.as_str()).collect();
    let fields = match gate.fields {
        RequiredFields::Any(_) => names.join(", "),
        RequiredFields::All(_) => names.join(" and "),
    };
    let fields = Some(fields).filter(|it| !it.is_empty());
    let strict = gate.strict.then(|| "strict".to_owned());
    let fresh = gate.fresh.then(|| "fresh".to_owned());
    let asked: Vec<String> = verdict.into_iter().chain(fields).chain(strict).chain(fresh).collect();
    let section = &gate.section.value;
    if asked.is_empty() { section.clone() } else { format!("{section}: {}", asked.join(", ")) }
}

fn actors(workflow: &Workflow, by: Actors) -> String {
    let names: Vec<&str> = by.iter().map(|it| workflow.actor_name(it)).collect();
    format!("by {}", names.join(", "))
}
