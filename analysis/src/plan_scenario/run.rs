//! Running scenarios on a plan, and comparing what happens with what is expected.

use orange_codegen::span::{Span, Spanned};
use orange_core::mission::{Refusal, Report};
use orange_core::plan::{Plan, Policy, StepId};

use super::{NamedAct, PlanExpectation, PlanScenario, PlanScenarioResult, ScenarioAct};
use crate::missions::{self, MissionAct};
use crate::plan_walk::{Coverage, PlanWalk, command, pause_name, refusal_name};
use crate::scenario::FailedExpectation;

/// Runs one scenario.
pub fn run(plan: &Plan<'_>, scenario: &PlanScenario) -> PlanScenarioResult {
    let policy = Policy {
        execution: scenario.execution.unwrap_or(plan.policy.execution),
        intervene: scenario.intervene.unwrap_or(plan.policy.intervene),
    };
    let inputs: Vec<&str> = scenario.inputs.iter().map(String::as_str).collect();
    let declared: Vec<_> = plan.inputs.iter().map(|it| (it.name, it.kind)).collect();
    let inputs = match command::given(&declared, &inputs, "input") {
        Ok(inputs) => inputs,
        Err(message) => {
            let failed = vec![FailedExpectation { span: scenario.name.span, message }];
            return PlanScenarioResult { failed, coverage: Coverage::default() };
        }
    };
    let mut walk = PlanWalk::with_inputs(plan, policy, inputs);
    let mut failed = Vec::new();
    for item in &scenario.acts {
        failed = match resolved(plan, item) {
            Ok(act) => {
                let refused = walk.act(&act, item.attempt).err();
                compared(&walk, item, act.step(), refused.as_ref())
            }
            Err(unknown) => vec![unknown],
        };
        if !failed.is_empty() {
            break;
        }
    }
    PlanScenarioResult { failed, coverage: walk.coverage }
}

fn named(plan: &Plan<'_>, name: &Spanned<String>) -> Result<StepId, FailedExpectation> {
    command::named(plan, &name.value).map_err(|message| FailedExpectation { span: name.span, message })
}

fn resolved(plan: &Plan<'_>, item: &ScenarioAct) -> Result<MissionAct, FailedExpectation> {
    let act = match &item.act {
        NamedAct::Complete { step, result, summary, warning, outputs } => {
            let id = named(plan, step)?;
            let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
            let declared: Vec<_> = plan.outputs_of(id).iter().map(|it| (it.name, it.kind)).collect();
            let outputs = command::given(&declared, &outputs, "output")
                .map_err(|message| FailedExpectation { span: step.span, message })?;
            let report = Report {
                result: result.clone(),
                summary: summary.clone(),
                warning: warning.clone(),
                outputs,
                answer: None,
            };
            MissionAct::Complete(id, report)
        }
        NamedAct::Fail { step, reason } => MissionAct::Fail(named(plan, step)?, reason.clone()),
        NamedAct::Lose(step) => MissionAct::Lose(named(plan, step)?),
        NamedAct::Answer { step, word, comment } => {
            missions::answer(plan, named(plan, step)?, word.clone(), comment.clone())
        }
        NamedAct::Expire(step) => MissionAct::Expire(named(plan, step)?),
        NamedAct::Continue(answer) => MissionAct::Continue(*answer),
        NamedAct::Retry(step) => MissionAct::Retry(step.as_ref().map(|it| named(plan, it)).transpose()?),
        NamedAct::Cancel => MissionAct::Cancel,
    };
    match (&item.by, act.step().map(|it| plan.step(it))) {
        (Some(by), Some(step)) if plan.role(step.role) != by.value => {
            let message =
                format!("the role of {} is `{}`, not `{}`", step.id, plan.role(step.role), by.value);
            Err(FailedExpectation { span: by.span, message })
        }
        (Some(_) | None, _) => Ok(act),
    }
}

fn compared(
    walk: &PlanWalk<'_>,
    item: &ScenarioAct,
    step: Option<StepId>,
    refused: Option<&Refusal>,
) -> Vec<FailedExpectation> {
    let PlanExpectation { status, steps, context, pause, pauses, refusal } = &item.expect;
    let mut failed = Vec::new();
    let mut check = |what: &str, expected: &str, found: &str, span: Span| {
        if expected != found {
            failed
                .push(FailedExpectation { span, message: format!("{what} is `{found}`, not `{expected}`") });
        }
    };
    let found = refused.map_or("none", refusal_name);
    match refusal {
        Some(expected) => check("the refusal", &expected.value, found, expected.span),
        None => check("the refusal", "none", found, item.span),
    }
    if let Some(expected) = status {
        check("the mission", &expected.value, walk.mission.status.as_str(), expected.span);
    }
    if let Some(expected) = pause {
        let reason = walk.mission.pause().map(|it| &it.reason);
        check("the pause", &expected.value, pause_name(reason), expected.span);
    }
    if let Some(expected) = pauses {
        let open = walk.mission.questions.iter().map(|it| pause_name(Some(&it.reason)));
        let found = list(&open.collect::<Vec<_>>());
        check("the list of pauses", &list(&expected.value), &found, expected.span);
    }
    let mut unknown = Vec::new();
    for (name, expected) in steps {
        match named(walk.plan, name) {
            Ok(step) => {
                let found = walk.mission.step(step).status.as_str();
                check(&name.value, &expected.value, found, expected.span);
            }
            Err(it) => unknown.push(it),
        }
    }
    for (name, expected) in context {
        match named(walk.plan, name) {
            Ok(step) => {
                let found = walk.mission.context(walk.plan, step);
                if !found.contains(&expected.value) {
                    let message = format!("the context of {} does not contain this: {found:?}", name.value);
                    unknown.push(FailedExpectation { span: expected.span, message });
                }
            }
            Err(it) => unknown.push(it),
        }
    }
    failed.extend(unknown);
    // Why it was refused is nowhere in the file.
    if let (Some(_), None, Some(first), Some(step)) = (refused, refusal, failed.first_mut(), step) {
        first.message += &format!(": {}", standing(walk, step));
    }
    failed
}

/// Words of a list, as a file of scenarios has them.
fn list<W: AsRef<str>>(words: &[W]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    format!("[{}]", words.join(", "))
}

/// Status of a step, and the results that its agent may report.
fn standing(walk: &PlanWalk<'_>, step: StepId) -> String {
    let (name, status) = (walk.plan.step(step).id, walk.mission.step(step).status.as_str());
    match walk.plan.results_of(step) {
        _ if walk.plan.step(step).is_ask() => {
            format!("{name} is {status}, and its answers are {}", walk.plan.step(step).answers().join(", "))
        }
        [] => format!("{name} is {status}"),
        results => format!("{name} is {status}, and its results are {}", results.join(", ")),
    }
}
