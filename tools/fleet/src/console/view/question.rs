//! Questions of steps to people, with their answers.

use maud::{Markup, html};
use orange_core::mission::{AttemptEnd, Mission};
use orange_core::plan::StepId;

use super::forms::{self, Seal};
use super::{text, time};
use crate::host::questions::{Question, after_time, persons};
use crate::host::{Millis, StoredMission};

/// Number of digits of a commit that are shown.
const SHORT: usize = 12;

/// The question of a step, with a form that answers it for those who may.
pub struct QuestionCard<'q> {
    pub stored: &'q StoredMission,
    pub question: &'q Question,
    /// Name of the person who reads it.
    pub person: &'q str,
    pub seal: &'q Seal<'q>,
    pub now: Millis,
}

/// Keys of the open questions of steps: while a person reads them, no others take their place unseen.
pub fn keys(mission: &Mission) -> impl Iterator<Item = String> + '_ {
    mission.open_asks().map(|(step, attempt)| format!("{}.{attempt}", step.0))
}

/// Names of those whom a question asks.
pub fn whom(who: &[&str]) -> String {
    if who.is_empty() { "a person".to_owned() } else { who.join(", ") }
}

impl QuestionCard<'_> {
    pub fn shown(&self) -> Markup {
        let QuestionCard { stored, question, .. } = self;
        let step = stored.plan.step(question.step);
        let address = format!("/console/missions/{}/steps/{}", stored.row.id, step.id);
        let title = format!("question-{}-{}", step.id, question.attempt);
        html! {
            section.card.ask aria-labelledby=(title) {
                h2 id=(title) { (text::line(step.id)) " asks " (text::inline(&whom(persons(step)))) }
                (text::block(&question.text, text::SUMMARY, &format!("{address}/prompt"), "question"))
                p.facts { (self.times()) }
                @if let Some(context) = question.context.as_ref().filter(|it| !it.trim().is_empty()) {
                    h3 { "Reports of the steps before it" }
                    (text::block(context, text::SUMMARY, &format!("{address}/context"), "context"))
                }
                (self.changes())
                (self.form())
            }
        }
    }

    fn times(&self) -> Markup {
        let Question { step, since, until, .. } = self.question;
        html! {
            "asked " (time::at_and_ago(*since, self.now))
            @match (until, after_time(self.stored.plan.step(*step))) {
                (Some(until), Some("fail")) => { " · the step fails without an answer until " (time::at(*until)) }
                (Some(until), Some(answer)) => {
                    " · " strong { (text::inline(answer)) } " counts without an answer until " (time::at(*until))
                }
                (Some(_), None) | (None, _) => {}
            }
        }
    }

    /// The commit that it shows, with links to the changes of the attempts until then.
    fn changes(&self) -> Markup {
        let StoredMission { row, plan, runs, .. } = self.stored;
        if !plan.step(self.question.step).ask.is_some_and(|it| it.shows_diff) {
            return html! {};
        }
        let changed: Vec<_> = runs.iter().filter(|it| it.diff.is_some_and(|it| it > 0)).collect();
        html! {
            p.facts {
                "It is about the changes of the mission, and no crab works on it meanwhile. "
                @match &self.question.commit {
                    Some(commit) => { "Commit " code title=(text::line(commit)) { (text::cut(commit, SHORT).0) } }
                    None => { "No crab has pushed a commit." }
                }
            }
            @if !changed.is_empty() {
                p.texts.changes {
                    @for run in changed {
                        a href={ "/console/missions/" (row.id) "/steps/" (run.step) "/" (run.attempt) "#diff" } {
                            "Diff of " (text::line(&run.step)) " #" (run.attempt)
                        }
                        " "
                    }
                }
            }
        }
    }

    fn form(&self) -> Markup {
        let QuestionCard { stored, question, person, seal, .. } = self;
        let step = stored.plan.step(question.step);
        if !step.ask.is_some_and(|it| it.admits(person)) {
            return html! {
                p.note { "You have signed in as " (text::inline(person)) ", and the question is for others." }
            };
        }
        let field = format!("comment-{}-{}", step.id, question.attempt);
        html! {
            form.answers method="post" action={ "/console/missions/" (stored.row.id) "/answers" } {
                (seal.fields())
                (forms::hidden("step", step.id))
                (forms::hidden("attempt", &question.attempt.to_string()))
                (forms::hidden("commit", question.commit.as_deref().unwrap_or_default()))
                p.field {
                    label for=(field) { "Comment" }
                    textarea id=(field) name="comment" rows="3" dir="auto" {}
                }
                div.choices {
                    @for answer in step.answers() {
                        div { button.plain[step.answers().first() != Some(&answer)] type="submit" name="answer" value=(answer) { (answer) } }
                    }
                }
            }
        }
    }
}

/// The answers that count, by step: who has given which, with the comment.
pub fn answered(stored: &StoredMission, now: Millis) -> Markup {
    let given: Vec<Markup> = stored.plan.asks().filter_map(|step| answer(stored, step, now)).collect();
    html! {
        @if !given.is_empty() {
            section #answers aria-labelledby="answers-title" {
                h2 #answers-title { "Answers" }
                ul { @for it in given { li { (it) } } }
            }
        }
    }
}

/// The answer to the last question of a step, if it has one.
fn answer(stored: &StoredMission, step: StepId, now: Millis) -> Option<Markup> {
    let (name, state) = (stored.plan.step(step).id, stored.mission.step(step));
    let end = state.attempts.last()?.end.as_ref()?;
    let (word, origin) = end.answered()?;
    let run = stored.runs.iter().find(|it| it.step == name && it.attempt == state.attempt());
    let said = match end {
        AttemptEnd::Completed(report) => Some(&report.summary),
        AttemptEnd::Rejected { reason, .. } => Some(reason),
        AttemptEnd::Failed { .. } | AttemptEnd::Lost | AttemptEnd::Abandoned | AttemptEnd::Withdrawn => None,
    };
    Some(html! {
        (text::line(name)) ": " strong.result { (text::inline(&word)) } ", by " (text::inline(origin.by.as_str()))
        @if let Some(ended) = run.and_then(|it| it.ended) { ", " (time::at_and_ago(ended, now)) }
        @if let Some(said) = said { ". " span dir="auto" { (text::line(said)) } }
    })
}
