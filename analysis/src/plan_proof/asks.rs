//! Facts about the asks of a plan: their answers, and the steps that never start without these.

use std::collections::BTreeSet;

use orange_codegen::diag::Trace;
use orange_core::plan::{Plan, StepId};

use super::PlanProofFacts;
use super::properties::searches;
use crate::missions::{Approvals, MissionAct, MissionSearch};

/// A claim that somebody makes of a plan: this step starts only after a person has answered that one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// Name of the step that starts.
    pub step: String,
    /// Name of the ask before it.
    pub after: String,
}

impl Requirement {
    /// Reads `deploy after approve`.
    pub fn parse(text: &str) -> Option<Requirement> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [step, "after", after] = words[..] else { return None };
        Some(Requirement { step: step.to_owned(), after: after.to_owned() })
    }
}

/// An answer that no mission takes, although its question is put.
pub(super) fn unanswered(known: &PlanProofFacts<'_>) -> Option<Trace> {
    let search = &known.search;
    let given: BTreeSet<(StepId, &str)> = search
        .edges()
        .iter()
        .filter_map(|edge| match &edge.act {
            MissionAct::Answer(step, answer) => Some((*step, answer.word.as_str())),
            MissionAct::Complete(..)
            | MissionAct::Fail(..)
            | MissionAct::Conflict(..)
            | MissionAct::Lose(_)
            | MissionAct::Expire(_)
            | MissionAct::Continue(_)
            | MissionAct::Retry(_)
            | MissionAct::Cancel => None,
        })
        .collect();
    known.plan.asks().find_map(|step| {
        let (at, _) =
            search.configurations().find(|(_, it)| it.open_asks().any(|(asking, _)| asking == step))?;
        let answers = known.plan.step(step).answers();
        let lost = answers.into_iter().find(|it| !given.contains(&(step, it)))?;
        Some(search.trace(at, Some(format!("`{lost}` is not accepted"))))
    })
}

pub(super) fn answers(known: &PlanProofFacts<'_>) -> String {
    let one = |id: StepId| {
        let step = known.plan.step(id);
        let who = step.ask.map_or(&[][..], |it| it.who);
        let whom = if who.is_empty() { "everybody who answers pauses".to_owned() } else { who.join(", ") };
        let until = match (step.timeout, step.ask.and_then(|it| it.on_timeout)) {
            (None, _) => "and waits until somebody answers".to_owned(),
            (Some(seconds), None) => format!("and fails after {seconds} s"),
            (Some(seconds), Some(word)) => format!("and after {seconds} s `{word}` counts"),
        };
        format!("`{}` asks {whom} ({}) {until}", step.id, step.answers().join(", "))
    };
    known.plan.asks().map(one).collect::<Vec<_>>().join("; ")
}

/// The most questions of a mission, for the sentence on attempts.
pub(super) fn most(known: &PlanProofFacts<'_>) -> String {
    match known.figures.asks {
        Some(most) if known.plan.has_asks() => {
            format!("; at most {most} question{} to persons", if most == 1 { "" } else { "s" })
        }
        Some(_) | None => String::new(),
    }
}

pub(super) fn approvals(known: &PlanProofFacts<'_>) -> String {
    let all = of_searches(&searches(known));
    let claims = all.iter().filter_map(|((step, ask), answers)| {
        let words: Option<Vec<&str>> = answers.iter().map(Option::as_deref).collect();
        let plan = known.plan;
        Some(format!(
            "`{}` starts only after {} of `{}`",
            plan.step(*step).id,
            alternatives(&words?),
            plan.step(*ask).id
        ))
    });
    let claims: Vec<String> = claims.collect();
    match claims.is_empty() {
        true => "no step waits for the answer of a person".to_owned(),
        false => claims.join("; "),
    }
}

/// The answers that count at the starts of steps, over all searches.
fn of_searches(searches: &[&MissionSearch<'_>]) -> Approvals {
    let mut all = Approvals::new();
    for search in searches {
        for (pair, answers) in search.approvals() {
            all.entry(*pair).or_default().extend(answers.iter().cloned());
        }
    }
    all
}

fn alternatives(words: &[&str]) -> String {
    words.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(" or ")
}

/// The answers after which the step of a requirement starts, in words, or the reason for which it is not proved.
pub(super) fn required(
    plan: &Plan<'_>,
    searches: &[MissionSearch<'_>; 2],
    requirement: &Requirement,
) -> Result<String, String> {
    let Requirement { step, after } = requirement;
    let named = |name: &str| plan.step_named(name).ok_or_else(|| format!("there is no step `{name}`"));
    let (id, ask) = (named(step)?, named(after)?);
    if !plan.step(ask).is_ask() {
        return Err(format!("`{after}` does not ask a person"));
    }
    if searches.iter().any(|it| it.is_cut()) {
        return Err("not all runs were looked at: there are too many".to_owned());
    }
    let all = of_searches(&searches.each_ref());
    let answers = all.get(&(id, ask)).ok_or_else(|| format!("no run starts `{step}`"))?;
    match answers.iter().map(Option::as_deref).collect::<Option<Vec<&str>>>() {
        Some(words) => Ok(format!("`{step}` starts only after {} of `{after}`", alternatives(&words))),
        None => Err(format!("`{step}` may start without the answer of a person to `{after}`")),
    }
}
