//! Facts about the names of a step workflow.

use orange_analysis::insight::{PlanInsight, StepInsight};
use orange_codegen::model::keys::NameKind;
use orange_codegen::model::occurrences::Occurrence;
use orange_codegen::model::{DeclaredValue, Step, StepItemList, Steps, WorktreeUse};

pub(super) fn described(
    steps: &Steps,
    insight: Option<&PlanInsight>,
    occurrence: &Occurrence,
) -> Option<String> {
    let name = occurrence.name.as_str();
    match occurrence.kind {
        NameKind::Steps => {
            let (at, step) = steps.steps.iter().enumerate().find(|(_, it)| it.id.value == name)?;
            Some(self::step(steps, insight.and_then(|it| it.steps.get(at)), step))
        }
        NameKind::Roles => {
            let has =
                |it: &&Step| steps.roles.get(usize::from(it.role.value.0)).is_some_and(|it| it.value == name);
            let of: Vec<String> =
                steps.steps.iter().filter(has).map(|it| format!("`{}`", it.id.value)).collect();
            Some(format!("**role** `{name}`\n\nSteps: {}", of.join(", ")))
        }
        NameKind::Results => {
            let step = occurrence.step.as_deref()?;
            let at = steps.steps.iter().position(|it| it.id.value == step)?;
            let readers = insight.and_then(|it| it.steps.get(at)).map(|it| readers(it, Some(name)));
            Some(format!("**result** `{name}` of `{step}`{}", readers.unwrap_or_default()))
        }
        NameKind::Inputs => declared("input", &steps.inputs, name, ""),
        NameKind::Outputs => {
            let of = occurrence.step.as_deref()?;
            let step = steps.steps.iter().find(|it| it.id.value == of)?;
            declared("output", &step.outputs, name, &format!(" of `{of}`"))
        }
        NameKind::Workflows
        | NameKind::States
        | NameKind::Prompts
        | NameKind::Gates
        | NameKind::Counters
        | NameKind::Harnesses
        | NameKind::Actors
        | NameKind::Reviewers
        | NameKind::Verdicts
        | NameKind::Sections
        | NameKind::Actions
        | NameKind::Values
        | NameKind::Files => None,
    }
}

/// An input or an output, with the values that it takes.
fn declared(kind: &str, of: &[DeclaredValue], name: &str, of_step: &str) -> Option<String> {
    let value = of.iter().find(|it| it.name.value == name)?;
    Some(format!("**{kind}** `{name}`{of_step}: {}", value.kind.values()))
}

fn step(steps: &Steps, known: Option<&StepInsight>, step: &Step) -> String {
    let role = steps.roles.get(usize::from(step.role.value.0)).map_or("", |it| it.value.as_str());
    let mut parts = vec![format!("**step** `{}` for role `{role}`", step.id.value)];
    parts.extend(step.title.clone());
    parts.extend(step.condition.as_ref().map(|it| format!("Runs if `{}`.", it.text)));
    parts.extend(step.fan_out.as_ref().map(|it| match &it.list {
        StepItemList::Fixed(items) => format!("Has {} items.", items.len()),
        StepItemList::Output(..) | StepItemList::Input(_) => {
            "Has one item for each element of a list.".to_owned()
        }
    }));
    parts.extend(match step.worktree.value {
        WorktreeUse::Write => None,
        WorktreeUse::Read => Some("Only reads in the worktree, beside other readers.".to_owned()),
        WorktreeUse::Own => Some("Writes in a worktree of its own, which lands afterwards.".to_owned()),
    });
    if let Some(known) = known {
        if known.runs == Some(false) {
            parts.push("No run starts it.".to_owned());
        }
        parts.extend(known.most.filter(|it| *it > 0).map(|most| {
            let attempts = if most == 1 { "attempt" } else { "attempts" };
            let agents = if known.agents == 1 { "agent" } else { "agents" };
            format!("At most {most} {attempts}, each with at most {} {agents}.", known.agents)
        }));
        let readers = readers(known, None);
        parts.extend((!readers.is_empty()).then(|| readers.trim_start().to_owned()));
    }
    parts.join("\n\n")
}

/// The steps that read a report, or those that compare it with this result.
fn readers(known: &StepInsight, result: Option<&str>) -> String {
    let wanted = known.readers.iter().filter(|it| result.is_none() || it.value.as_deref() == result);
    let readers: Vec<String> = wanted
        .map(|it| match &it.value {
            Some(value) => format!("- `{}` runs if its {} is `{value}`", it.step, it.field),
            None => format!("- the prompt of `{}` has its {}", it.step, it.field),
        })
        .collect();
    if readers.is_empty() { String::new() } else { format!("\n\nRead by:\n\n{}", readers.join("\n")) }
}
