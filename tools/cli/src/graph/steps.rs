//! The view of a step workflow: its steps and what each of them waits for.

use orange_codegen::model::{Step, Steps};

use super::{Edge, Graph, Kind, Mark, Node};

impl Graph {
    pub(super) fn of_steps(steps: &Steps) -> Self {
        let edges = steps.steps.iter().enumerate().flat_map(|(to, step)| {
            let edge = move |from: usize, span| Edge { from, to, spans: vec![span], ..Edge::default() };
            step.depends_on.iter().map(move |it| edge(it.value.index(), it.span))
        });
        let edges = edges.collect();
        let nodes = steps.steps.iter().map(|step| Node::of_step(steps, step)).collect();
        Self { name: steps.name.value.clone(), nodes, edges, caption: Vec::new() }
    }
}

impl Node {
    fn of_step(steps: &Steps, step: &Step) -> Self {
        let role = format!("role: {}", steps.roles[usize::from(step.role.value.0)].value);
        let condition = step.condition.iter().map(|it| format!("if {}", it.text));
        let retries = step.max_retries.iter().map(|it| format!("at most {} retries", it.value));
        Self {
            name: step.id.value.clone(),
            lines: [role].into_iter().chain(condition).chain(retries).collect(),
            kind: if step.depends_on.is_empty() { Kind::Start } else { Kind::Work },
            entry: false,
            spans: vec![step.span],
            mark: Mark::default(),
        }
    }
}
