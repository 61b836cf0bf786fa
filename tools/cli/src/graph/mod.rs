//! A workflow as nodes and edges: the small view that every drawing language writes out.

mod dot;
mod mermaid;

use std::collections::BTreeMap;

use orange_codegen::model::{
    Actors, Definition, ExitMonitoring, Gate, Outcome, State, StateId, Step, Steps, Transition, Workflow,
};

pub(crate) use dot::dot;
pub(crate) use mermaid::mermaid;

use crate::answer::Failure;

/// What there is to draw. Texts are as the author wrote them; each language escapes them in its own way.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Graph {
    name: String,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

/// A state or a step.
#[derive(Debug, PartialEq, Eq)]
struct Node {
    lines: Vec<String>,
    kind: Kind,
}

/// What a node is to its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// Where it begins.
    Start,
    /// An agent is at work, and what it leaves behind moves the task on.
    Work,
    /// Nothing moves the task on but a person.
    Wait,
    /// Where it ends.
    End,
}

/// A transition or a dependency, between nodes by their numbers.
#[derive(Debug, PartialEq, Eq)]
struct Edge {
    from: usize,
    to: usize,
    lines: Vec<String>,
}

impl Graph {
    /// The view of a workflow.
    ///
    /// # Errors
    ///
    /// A step that waits for one that is not there.
    pub(crate) fn new(definition: &Definition) -> Result<Self, Failure> {
        match definition {
            Definition::Machine(workflow) => Ok(Self::of_states(workflow)),
            Definition::Steps(steps) => Self::of_steps(steps),
        }
    }

    fn of_states(workflow: &Workflow) -> Self {
        let states = workflow.states.iter().zip(0..);
        Self {
            name: workflow.name.value.clone(),
            nodes: states.map(|(state, at)| Node::of_state(workflow, state, StateId(at))).collect(),
            edges: workflow.transitions.iter().map(Edge::of_transition).collect(),
        }
    }

    fn of_steps(steps: &Steps) -> Result<Self, Failure> {
        let numbers: BTreeMap<&str, usize> =
            steps.steps.iter().enumerate().map(|(at, step)| (step.id.value.as_str(), at)).collect();
        let mut edges = Vec::new();
        for (to, step) in steps.steps.iter().enumerate() {
            for dependency in &step.depends_on {
                let from = numbers.get(dependency.value.as_str()).copied();
                let from = from.ok_or_else(|| unknown_step(step, &dependency.value))?;
                edges.push(Edge { from, to, lines: Vec::new() });
            }
        }
        let nodes = steps.steps.iter().map(Node::of_step).collect();
        Ok(Self { name: steps.name.value.clone(), nodes, edges })
    }
}

impl Node {
    fn of_state(workflow: &Workflow, state: &State, id: StateId) -> Self {
        let kind = if state.terminal {
            Kind::End
        } else if id == workflow.initial {
            Kind::Start
        } else if state.wait.is_some() || !advances(&workflow.exit_monitoring, id) {
            Kind::Wait
        } else {
            Kind::Work
        };
        Self { lines: vec![state.name.value.clone()], kind }
    }

    fn of_step(step: &Step) -> Self {
        let role = step.role.iter().map(|it| format!("role: {}", it.value));
        let condition = step.condition.iter().map(|it| format!("if {}", it.value));
        let retries = step.max_retries.iter().map(|it| format!("at most {} retries", it.value));
        let lines = std::iter::once(step.id.value.clone()).chain(role).chain(condition).chain(retries);
        Self {
            lines: lines.collect(),
            kind: if step.depends_on.is_empty() { Kind::Start } else { Kind::Work },
        }
    }
}

/// Whether an exit rule moves a task on from this state.
fn advances(exits: &ExitMonitoring, state: StateId) -> bool {
    exits.rules.iter().any(|rule| {
        rule.status.value == state
            && match rule.outcome {
                Outcome::Then(_) | Outcome::ThenWhen(_) => true,
                Outcome::Crash { .. } | Outcome::MarkDead => false,
            }
    })
}

impl Edge {
    fn of_transition(transition: &Transition) -> Self {
        let by = (transition.by != Actors::ANYONE).then(|| actors(transition.by));
        let when = transition.when.as_ref().map(|it| it.text.clone());
        let gate = transition.gate.as_ref().map(gate);
        Self {
            from: usize::from(transition.from.value.0),
            to: usize::from(transition.to.value.0),
            lines: gate.into_iter().chain(when).chain(by).collect(),
        }
    }
}

/// `## Review: PASS, strict`
fn gate(gate: &Gate) -> String {
    let verdict = gate.verdict.iter().map(|it| it.value.as_str().to_owned());
    let fields = gate.fields.iter().map(|it| it.value.clone());
    let strict = gate.strict.then(|| "strict".to_owned());
    let fresh = gate.fresh.then(|| "fresh".to_owned());
    let asked: Vec<String> = verdict.chain(fields).chain(strict).chain(fresh).collect();
    let section = &gate.section.value;
    if asked.is_empty() { section.clone() } else { format!("{section}: {}", asked.join(", ")) }
}

fn actors(by: Actors) -> String {
    let names: Vec<&str> = by.iter().map(|it| it.as_str()).collect();
    format!("by {}", names.join(", "))
}

fn unknown_step(step: &Step, dependency: &str) -> Failure {
    Failure::new(
        format!("step `{}` waits for `{dependency}`, which is no step", step.id.value),
        "correct its `depends_on`; there is nothing to draw before that",
    )
}
