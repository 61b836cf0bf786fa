//! What can happen to a mission, named without numbers of attempts and pauses.

use std::collections::BTreeSet;

use orange_core::mission::{Event, Mission, MissionStatus, Report};
use orange_core::plan::{Field, Intervene, Plan, StepId};

use super::{Failures, Scope};

/// Something that happens to a mission: to the current attempt of a step, or to the mission itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// The agent of a step reports a completion.
    Complete(StepId, Report),
    /// The agent of a step reports a failure.
    Fail(StepId, String),
    /// The agent of a step ends without a word.
    Lose(StepId),
    /// A person answers the pause: goes on, or tries the failed step again.
    Continue,
    /// A person takes the failure as it is.
    AcceptFailure,
    /// A person runs a failed mission again, from this step or from every failed one.
    Retry(Option<StepId>),
    /// A person ends the mission.
    Cancel,
}

impl Act {
    /// The event that the core takes.
    pub fn event(&self, mission: &Mission) -> Event {
        let attempt = |step: StepId| mission.steps.get(step.index()).map_or(0, |it| it.attempt());
        let answer = |accept_failure| Event::Continue {
            pause: None,
            accept_failure,
            execution: None,
            intervene: None,
        };
        match self {
            Act::Complete(step, report) => {
                Event::Complete { step: *step, attempt: attempt(*step), report: report.clone() }
            }
            Act::Fail(step, reason) => {
                Event::Fail { step: *step, attempt: attempt(*step), reason: reason.clone() }
            }
            Act::Lose(step) => Event::Lose { step: *step, attempt: attempt(*step) },
            Act::Continue => answer(false),
            Act::AcceptFailure => answer(true),
            Act::Retry(step) => Event::Retry { step: *step },
            Act::Cancel => Event::Cancel,
        }
    }

    /// Whether a person makes a step run once more than the plan does.
    pub fn is_by_hand(&self, mission: &Mission) -> bool {
        match self {
            Act::Continue => mission.asked().is_some(),
            Act::Retry(_) => true,
            Act::Complete(..) | Act::Fail(..) | Act::Lose(_) | Act::AcceptFailure | Act::Cancel => false,
        }
    }
}

/// A word that is none of these.
pub fn other(words: &BTreeSet<&str>) -> String {
    let mut other = String::new();
    while words.contains(other.as_str()) {
        other.push('…');
    }
    other
}

/// The acts that a search tries.
pub(super) fn at(plan: &Plan<'_>, scope: Scope, mission: &Mission) -> Vec<Act> {
    let mut acts = Vec::new();
    if let Some((step, _)) = mission.next() {
        let fails = scope.failures == Failures::All || plan.step(step).on_fail.is_some();
        acts.extend(
            reports(plan, step, scope.policy.intervene).into_iter().map(|it| Act::Complete(step, it)),
        );
        acts.extend(fails.then(|| Act::Fail(step, String::new())));
    }
    if mission.status == MissionStatus::Paused {
        acts.extend(mission.asked().map(|_| Act::AcceptFailure));
        acts.extend((mission.asked().is_none() || scope.by_hand).then_some(Act::Continue));
    }
    if mission.status == MissionStatus::Failed && scope.by_hand {
        acts.push(Act::Retry(None));
    }
    acts
}

/// Every report of a step that decisions distinguish.
fn reports(plan: &Plan<'_>, id: StepId, intervene: Intervene) -> Vec<Report> {
    let stands_for = plan.step(id).handles.unwrap_or(id);
    let read = |field: Field| -> BTreeSet<&str> {
        let conditions = plan.steps.iter().filter_map(|it| it.condition);
        let of_it = conditions.filter(|it| (it.step == id || it.step == stands_for) && it.field == field);
        of_it.map(|it| it.value).collect()
    };
    let with_other = |words: BTreeSet<&str>| -> Vec<String> {
        let other = other(&words);
        words.into_iter().map(str::to_owned).chain([other]).collect()
    };
    let results: Vec<Option<String>> = match (plan.results_of(id), plan.needs_result(id)) {
        ([], false) => vec![None],
        ([], true) => with_other(read(Field::Result)).into_iter().map(Some).collect(),
        (declared, _) => declared.iter().map(|it| Some((*it).to_owned())).collect(),
    };
    let warnings = match intervene {
        Intervene::OnWarning => vec![None, Some(String::new())],
        Intervene::Never | Intervene::OnError | Intervene::Always => vec![None],
    };
    let summaries = with_other(read(Field::Summary));
    let mut reports = Vec::new();
    for result in &results {
        for summary in &summaries {
            for warning in &warnings {
                reports.push(Report {
                    result: result.clone(),
                    summary: summary.clone(),
                    warning: warning.clone(),
                });
            }
        }
    }
    reports
}
