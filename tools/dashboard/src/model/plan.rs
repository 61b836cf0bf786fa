//! The plan of a mission as a small graph: each step under the steps that it depends on.

use std::collections::BTreeMap;

use orange_api::{MissionItem, MissionStep, PlanStep};
use orange_core::mission::{ItemStatus, StepStatus};

/// A line of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanLine {
    /// Number of levels by which it is indented.
    pub depth: usize,
    pub id: String,
    pub role: String,
    pub status: StepStatus,
    /// Number of attempts.
    pub attempts: usize,
    /// Its report, or the reason for its failure.
    pub said: String,
    /// The steps that it depends on, when these are several.
    pub joins: Vec<String>,
}

/// The lines of the graph, in the order of the steps.
pub fn lines(steps: &[MissionStep], plan: &[PlanStep]) -> Vec<PlanLine> {
    let mut depths: BTreeMap<&str, usize> = BTreeMap::new();
    let mut lines = Vec::new();
    for step in steps {
        let before =
            plan.iter().find(|it| it.id == step.id).map(|it| it.depends_on.as_slice()).unwrap_or_default();
        let depth = before.iter().filter_map(|id| depths.get(id.as_str())).max().map_or(0, |depth| depth + 1);
        depths.insert(&step.id, depth);
        let said = step.failure.as_ref().or(step.summary.as_ref()).or(step.result.as_ref());
        let joins = if before.len() > 1 { before.to_vec() } else { Vec::new() };
        lines.push(PlanLine {
            depth,
            id: step.id.clone(),
            role: step.role.clone(),
            status: step.status,
            attempts: step.attempts.len(),
            said: said.and_then(|text| text.lines().next()).unwrap_or_default().to_owned(),
            joins,
        });
        lines.extend((1..).zip(&step.items).map(|(place, item)| item_line(step, depth + 1, place, item)));
    }
    lines
}

/// The line of an item, below that of its step.
fn item_line(step: &MissionStep, depth: usize, place: u16, item: &MissionItem) -> PlanLine {
    let said = item.reason.as_ref().or(item.summary.as_ref()).or(item.result.as_ref());
    let first_line = |text: &String| text.lines().next().unwrap_or_default().to_owned();
    PlanLine {
        depth,
        id: first_line(&item.item),
        role: step.role.clone(),
        status: match item.status {
            ItemStatus::Queued => StepStatus::Queued,
            ItemStatus::Assigned => StepStatus::Assigned,
            ItemStatus::Running | ItemStatus::Landing | ItemStatus::Merging => StepStatus::Running,
            ItemStatus::Completed => StepStatus::Completed,
            ItemStatus::Failed => StepStatus::Failed,
            ItemStatus::Cancelled => StepStatus::Cancelled,
        },
        attempts: step.attempts.iter().filter(|it| it.item == Some(place)).count(),
        said: said.map(first_line).unwrap_or_default(),
        joins: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_stands_under_what_it_depends_on() {
        let step = |id: &str| MissionStep {
            id: id.to_owned(),
            title: String::new(),
            role: String::new(),
            status: StepStatus::Queued,
            result: None,
            summary: None,
            failure: None,
            reason: None,
            loops: None,
            items: Vec::new(),
            attempts: Vec::new(),
        };
        let plan = |id: &str, on: &[&str]| PlanStep {
            id: id.to_owned(),
            depends_on: on.iter().map(|it| (*it).to_owned()).collect(),
            ..PlanStep::default()
        };
        let lines = lines(
            &[step("plan"), step("a"), step("b"), step("join")],
            &[plan("plan", &[]), plan("a", &["plan"]), plan("b", &["plan"]), plan("join", &["a", "b"])],
        );
        let shown: Vec<_> = lines.iter().map(|it| (it.depth, it.id.as_str(), it.joins.len())).collect();
        assert_eq!(shown, [(0, "plan", 0), (1, "a", 0), (1, "b", 0), (2, "join", 2)]);
    }
}
