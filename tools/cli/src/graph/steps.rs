//! The view of a step workflow: its steps, what each of them waits for, what it sends back, and where its failure leads.

use orange_codegen::model::{Step, StepCondition, StepId, StepItemList, Steps, WorktreeUse};

use super::{Graph, GraphEdge, GraphNode, GraphNodeKind, Mark, Taker};

impl Graph {
    pub(super) fn of_steps(steps: &Steps) -> Self {
        let edges =
            steps.steps.iter().enumerate().flat_map(|(at, step)| GraphEdge::of_step(at, step)).collect();
        let handlers: Vec<StepId> = steps.steps.iter().filter_map(|it| Some(it.on_fail?.value)).collect();
        let nodes = steps.steps.iter().enumerate();
        let nodes = nodes.map(|(at, step)| GraphNode {
            kind: match handlers.iter().any(|it| it.index() == at) {
                true => GraphNodeKind::Handler,
                false if step.depends_on.is_empty() => GraphNodeKind::Start,
                false => GraphNodeKind::Work,
            },
            ..GraphNode::of_step(steps, step)
        });
        let nodes = nodes.collect();
        Self { name: steps.name.value.clone(), nodes, edges, has_steps: true, ..Self::default() }
    }
}

impl GraphEdge {
    /// The edges that a step declares: from its dependencies, back to what it runs again, and to its handler.
    fn of_step(at: usize, step: &Step) -> Vec<Self> {
        let condition = step.condition.as_ref().filter(|it| is_direct(step, it));
        let waits = step.depends_on.iter().map(|it| {
            let condition = condition.filter(|condition| condition.reads(it.value));
            Self {
                from: it.value.index(),
                to: at,
                lines: condition.map(compared).into_iter().collect(),
                spans: std::iter::once(it.span).chain(condition.map(|it| it.span)).collect(),
                ..Self::default()
            }
        });
        let retries = step.max_retries.map_or(0, |it| it.value);
        let times = if retries == 1 { "once".to_owned() } else { format!("{retries} times") };
        let back = step.requeue.iter().map(|it| Self {
            from: at,
            to: it.value.index(),
            lines: vec![format!("again, at most {times}")],
            taker: Taker::Loop,
            spans: vec![it.span],
            ..Self::default()
        });
        let failure = step.on_fail.iter().map(|it| Self {
            from: at,
            to: it.value.index(),
            lines: vec!["failed".to_owned()],
            taker: Taker::Failure,
            spans: vec![it.span],
            ..Self::default()
        });
        waits.chain(back).chain(failure).collect()
    }
}

/// True if a condition reads one step alone, for which its own step waits directly: then it stands on the edge between them.
fn is_direct(step: &Step, condition: &StepCondition) -> bool {
    match &condition.steps()[..] {
        [read] => step.depends_on.iter().any(|it| it.value == read.value),
        _ => false,
    }
}

/// `result == 'PASS'`, on an edge that names the step; other conditions as they are written.
fn compared(condition: &StepCondition) -> String {
    match condition.equality().and_then(|it| Some((it.field.word()?, it.value.value))) {
        Some((field, value)) => format!("{field} == '{value}'"),
        None => condition.text.clone(),
    }
}

impl GraphNode {
    fn of_step(steps: &Steps, step: &Step) -> Self {
        let role = format!("role: {}", steps.roles[usize::from(step.role.value.0)].value);
        let condition = step.condition.iter().filter(|it| !is_direct(step, it));
        let condition = condition.map(|it| format!("if {}", it.text));
        let items = step.fan_out.as_ref().map(|it| match &it.list {
            StepItemList::Fixed(items) => format!("{} items", items.len()),
            StepItemList::Output(of, output) => {
                let of = &steps.steps[of.value.index()];
                let name = of.outputs.get(output.index()).map_or("", |it| it.name.value.as_str());
                format!("for each of {}.{name}", of.id.value)
            }
            StepItemList::Input(input) => {
                let name = steps.inputs.get(input.index()).map_or("", |it| it.name.value.as_str());
                format!("for each of inputs.{name}")
            }
        });
        let worktree = match step.worktree.value {
            WorktreeUse::Write => None,
            WorktreeUse::Read => Some("only reads".to_owned()),
            WorktreeUse::Own => Some("own worktree".to_owned()),
        };
        let work = items.into_iter().chain(worktree);
        let harness = step.harness.iter().map(|it| format!("harness: {}", it.value));
        Self {
            name: step.id.value.clone(),
            lines: [role].into_iter().chain(harness).chain(work).chain(condition).collect(),
            kind: GraphNodeKind::Work,
            entry: false,
            spans: vec![step.span],
            mark: Mark::default(),
        }
    }
}
