//! Acts that can happen to a mission, named without numbers of attempts and pauses.

use orange_core::mission::{Answer, Event, Mission, MissionStatus, Pause, Report};
use orange_core::plan::{Execution, Intervene, Plan, StepId, WorktreeUse};

use super::{Ends, Failures, SearchScope, report};

/// Something that happens to a mission: to the current attempt of a step, or to the mission itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissionAct {
    /// The agent of a step reports a completion.
    Complete(StepId, Report),
    /// The agent of a step with its own worktree reports a completion, and its branch does not merge.
    Conflict(StepId, Report),
    /// The agent of a step reports a failure.
    Fail(StepId, String),
    /// The agent of a step ends without a word.
    Lose(StepId),
    /// A person answers the question of a step.
    Answer(StepId, Answer),
    /// Nobody answers the question of a step in time.
    Expire(StepId),
    /// A person answers a question.
    Continue(PauseReply),
    /// A person runs a failed mission again, from this step or from every failed one.
    Retry(Option<StepId>),
    /// A person ends the mission.
    Cancel,
}

/// The answer to a pause: it goes on, tries the failed step again, or takes the failure as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseReply {
    /// The number of the pause; without one, the oldest open pause.
    pub pause: Option<u32>,
    /// True if the failure is taken as it is.
    pub accept_failure: bool,
    /// The policy from now on.
    pub execution: Option<Execution>,
    /// The policy from now on.
    pub intervene: Option<Intervene>,
}

impl MissionAct {
    /// A person takes the failure as it is.
    pub const ACCEPT: MissionAct = MissionAct::Continue(PauseReply {
        pause: None,
        accept_failure: true,
        execution: None,
        intervene: None,
    });

    /// The event that the core takes: about the first attempt at work of its step, or about the last one.
    pub fn event(&self, mission: &Mission) -> Event {
        let at_work = |step: StepId| mission.working().find(|it| it.0 == step).map(|it| it.1);
        let current = |step: StepId| mission.steps.get(step.index()).map_or(0, |it| it.attempt());
        let attempt = |step: StepId| at_work(step).unwrap_or_else(|| current(step));
        match self {
            MissionAct::Complete(step, report) | MissionAct::Conflict(step, report) => {
                Event::Complete { step: *step, attempt: attempt(*step), report: report.clone() }
            }
            MissionAct::Fail(step, reason) => {
                Event::Fail { step: *step, attempt: attempt(*step), reason: reason.clone() }
            }
            MissionAct::Answer(step, answer) => {
                Event::Answer { step: *step, attempt: attempt(*step), answer: answer.clone() }
            }
            MissionAct::Expire(step) => Event::Expire { step: *step, attempt: attempt(*step) },
            MissionAct::Lose(step) => Event::Lose { step: *step, attempt: attempt(*step) },
            MissionAct::Continue(PauseReply { pause, accept_failure, execution, intervene }) => {
                Event::Continue {
                    pause: *pause,
                    accept_failure: *accept_failure,
                    execution: *execution,
                    intervene: *intervene,
                }
            }
            MissionAct::Retry(step) => Event::Retry { step: *step },
            MissionAct::Cancel => Event::Cancel,
        }
    }

    /// The step whose attempt ends by it.
    pub fn step(&self) -> Option<StepId> {
        match self {
            MissionAct::Complete(step, _)
            | MissionAct::Conflict(step, _)
            | MissionAct::Fail(step, _)
            | MissionAct::Lose(step)
            | MissionAct::Answer(step, _)
            | MissionAct::Expire(step) => Some(*step),
            MissionAct::Continue(_) | MissionAct::Retry(_) | MissionAct::Cancel => None,
        }
    }

    /// Actor of the act: a step stands for its agent.
    pub(super) fn actor<'p>(&self, plan: &Plan<'p>) -> &'p str {
        match self {
            MissionAct::Complete(step, _)
            | MissionAct::Conflict(step, _)
            | MissionAct::Fail(step, _)
            | MissionAct::Lose(step) => plan.step(*step).id,
            MissionAct::Answer(..) | MissionAct::Continue(_) | MissionAct::Retry(_) | MissionAct::Cancel => {
                "person"
            }
            MissionAct::Expire(_) => "nobody",
        }
    }

    /// Words for what the actor does, as in a trace.
    pub(super) fn does(&self) -> String {
        match self {
            MissionAct::Answer(_, answer) => format!("answers {}", answer.word),
            MissionAct::Expire(_) => "answers in time".to_owned(),
            MissionAct::Complete(_, Report { result, warning, outputs, .. }) => {
                let result = match (result, outputs.is_empty()) {
                    (None, true) => "completes".to_owned(),
                    (None, false) => format!("reports{}", report::words(outputs)),
                    (Some(it), _) => format!("reports {}{}", word(it), report::words(outputs)),
                };
                let warning = warning.as_ref().map_or("", |_| " with a warning");
                format!("{result}{warning}")
            }
            MissionAct::Conflict(..) => "completes, and its branch does not merge".to_owned(),
            MissionAct::Fail(..) => "fails".to_owned(),
            MissionAct::Lose(_) => "ends without a word".to_owned(),
            MissionAct::Continue(it) if it.accept_failure => "accepts the failure".to_owned(),
            MissionAct::Continue(_) => "continues".to_owned(),
            MissionAct::Retry(_) => "retries".to_owned(),
            MissionAct::Cancel => "cancels".to_owned(),
        }
    }

    /// The line of a walk's script that does the same.
    pub fn script(&self, plan: &Plan<'_>) -> String {
        let of = |step: StepId| plan.step(step).id;
        let after = |text: &str| {
            if text.is_empty() { String::new() } else { format!(": {}", text.replace('\n', "\\n")) }
        };
        match self {
            MissionAct::Complete(step, report) => match &report.warning {
                None => format!("complete {}{}{}", of(*step), values(report), after(&report.summary)),
                Some(warning) => format!("warn {}{}{}", of(*step), values(report), after(warning)),
            },
            MissionAct::Conflict(step, report) => {
                format!("conflict {}{}{}", of(*step), values(report), after(&report.summary))
            }
            MissionAct::Fail(step, reason) => format!("fail {}{}", of(*step), after(reason)),
            MissionAct::Lose(step) => format!("lose {}", of(*step)),
            MissionAct::Answer(step, Answer { word, comment, .. }) => {
                format!("answer {} {word}{}", of(*step), after(comment))
            }
            MissionAct::Expire(step) => format!("expire {}", of(*step)),
            MissionAct::Continue(PauseReply { pause, accept_failure, .. }) => {
                let number = pause.map_or(String::new(), |it| format!(" {it}"));
                format!("{}{number}", if *accept_failure { "accept" } else { "continue" })
            }
            MissionAct::Retry(None) => "retry".to_owned(),
            MissionAct::Retry(Some(step)) => format!("retry {}", of(*step)),
            MissionAct::Cancel => "cancel".to_owned(),
        }
    }

    /// True if a person makes a step run once more than the plan does.
    pub fn is_by_hand(&self, mission: &Mission) -> bool {
        match self {
            MissionAct::Continue(it) => {
                let meant = |open: &&Pause| it.pause.is_none_or(|number| number == open.number);
                let question = mission.questions.iter().find(meant);
                !it.accept_failure && question.is_some_and(|it| mission.offers_acceptance(it))
            }
            MissionAct::Retry(_) => true,
            MissionAct::Complete(..)
            | MissionAct::Conflict(..)
            | MissionAct::Fail(..)
            | MissionAct::Lose(_)
            | MissionAct::Answer(..)
            | MissionAct::Expire(_)
            | MissionAct::Cancel => false,
        }
    }
}

/// The result and the outputs of a report, with a blank before each.
fn values(report: &Report) -> String {
    let result = report.result.as_ref().map_or(String::new(), |it| format!(" {}", word(it)));
    result + &report::words(&report.outputs)
}

/// A result as people see it; the empty one stands for a word that no condition reads.
fn word(result: &str) -> &str {
    if result.is_empty() { "OTHER" } else { result }
}

/// The answer of a person whom a step asks.
pub(crate) fn answer(plan: &Plan<'_>, step: StepId, word: String, comment: String) -> MissionAct {
    let asked = plan.step(step).ask.and_then(|it| it.who.first().copied());
    let by = asked.unwrap_or("person").to_owned();
    MissionAct::Answer(step, Answer { word, comment, by, commit: None })
}

/// The acts that a search tries. Items of a step that have got equally far are alike, so that the first one stands for all.
pub(super) fn at(plan: &Plan<'_>, scope: SearchScope, ends: Ends, mission: &Mission) -> Vec<MissionAct> {
    let mut acts = Vec::new();
    let mut working: Vec<StepId> = match ends {
        // One step runs at a time, and nothing happens between its start and its end.
        Ends::OfNext => mission.next(plan).map(|(step, _)| step).or(mission.busy()).into_iter().collect(),
        Ends::InOrder | Ends::InAnyOrder => mission.working().map(|(step, _)| step).collect(),
    };
    working.dedup();
    working.truncate(if ends == Ends::InOrder { 1 } else { working.len() });
    for step in working {
        let fails = scope.failures == Failures::All || plan.step(step).on_fail.is_some();
        let reports = report::all(plan, step, scope.policy.intervene);
        let conflict = reports.first().filter(|_| fails && plan.step(step).worktree == WorktreeUse::Own);
        acts.extend(conflict.map(|it| MissionAct::Conflict(step, it.clone())));
        acts.extend(reports.into_iter().map(|it| MissionAct::Complete(step, it)));
        acts.extend(fails.then(|| MissionAct::Fail(step, String::new())));
        acts.extend(scope.losses.then_some(MissionAct::Lose(step)));
    }
    for (step, _) in mission.open_asks() {
        let rule = plan.step(step);
        let fails = scope.failures == Failures::All || rule.on_fail.is_some();
        for word in rule.answers().into_iter().filter(|it| fails || rule.results.contains(it)) {
            let comments = report::comments(plan, step).into_iter();
            acts.extend(comments.map(|it| answer(plan, step, word.to_owned(), it)));
        }
        let ends = rule.timeout.is_some() && (fails || rule.ask.is_some_and(|it| it.on_timeout.is_some()));
        acts.extend(ends.then_some(MissionAct::Expire(step)));
    }
    if mission.status == MissionStatus::Paused {
        let offers = mission.pause().is_some_and(|it| mission.offers_acceptance(it));
        acts.extend(offers.then_some(MissionAct::ACCEPT));
        acts.extend((!offers || scope.by_hand).then(|| MissionAct::Continue(PauseReply::default())));
    }
    if mission.status == MissionStatus::Failed && scope.by_hand {
        acts.push(MissionAct::Retry(None));
    }
    acts
}
