//! The view of a step workflow: its steps and what each of them waits for.

use std::collections::BTreeMap;

use orange_codegen::model::{Step, Steps};

use super::{Edge, Graph, Kind, Mark, Node};
use crate::answer::Failure;

impl Graph {
    pub(super) fn of_steps(steps: &Steps) -> Result<Self, Failure> {
        let numbers: BTreeMap<&str, usize> =
            steps.steps.iter().enumerate().map(|(at, step)| (step.id.value.as_str(), at)).collect();
        let mut edges = Vec::new();
        for (to, step) in steps.steps.iter().enumerate() {
            for dependency in &step.depends_on {
                let from = numbers.get(dependency.value.as_str()).copied();
                let from = from.ok_or_else(|| unknown_step(step, &dependency.value))?;
                edges.push(Edge { from, to, spans: vec![dependency.span], ..Edge::default() });
            }
        }
        let nodes = steps.steps.iter().map(Node::of_step).collect();
        Ok(Self { name: steps.name.value.clone(), nodes, edges, caption: Vec::new() })
    }
}

impl Node {
    fn of_step(step: &Step) -> Self {
        let role = step.role.iter().map(|it| format!("role: {}", it.value));
        let condition = step.condition.iter().map(|it| format!("if {}", it.value));
        let retries = step.max_retries.iter().map(|it| format!("at most {} retries", it.value));
        Self {
            name: step.id.value.clone(),
            lines: role.chain(condition).chain(retries).collect(),
            kind: if step.depends_on.is_empty() { Kind::Start } else { Kind::Work },
            entry: false,
            spans: vec![step.span],
            mark: Mark::default(),
        }
    }
}

fn unknown_step(step: &Step, dependency: &str) -> Failure {
    Failure::new(
        format!("step `{}` waits for `{dependency}`, which is no step", step.id.value),
        "correct its `depends_on`; there is nothing to draw before that",
    )
}
