//! The first screen: what needs a person.

use maud::{Markup, html};
use orange_core::mission::MissionStatus;

use super::forms::Seal;
use super::words::{self, Tone, counted};
use super::{ConsolePage, NavigationTab, badge, mission, question, text, time};
use crate::host::StoredMission;
use crate::host::questions::persons;

pub struct Inbox<'i> {
    /// Missions that wait for an answer, each with the seal of its form.
    pub waiting: Vec<(StoredMission, Seal<'i>)>,
    /// Missions that run, and have a question of a step that waits for an answer.
    pub asking: Vec<StoredMission>,
    /// Missions that have failed, the newest first.
    pub failed: Vec<(StoredMission, Seal<'i>)>,
    /// Number of missions that are paused, that ask, and that have failed; more than are shown here, perhaps.
    pub counts: (u64, u64, u64),
    /// Number of missions that run, and of those that wait to begin.
    pub under_way: (u64, u64),
    /// Number of steps that wait for a crab.
    pub steps: u64,
    /// Numbers of crabs: all, free ones, those with a step, and those with a fault.
    pub crabs: [u64; 4],
    /// Crabs that cannot start steps; not all of them, perhaps.
    pub faulty: Vec<Faulty>,
}

/// A crab that cannot start steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faulty {
    pub name: String,
    /// The id of its colony.
    pub colony: String,
    /// Reason for which it has given its last step back.
    pub fault: String,
}

impl Inbox<'_> {
    pub fn page(&self) -> ConsolePage<'static> {
        let (paused, asking, failed) = self.counts;
        let waiting = paused + asking;
        let says = format!(
            "{} for you. {failed} failed.",
            counted(waiting as usize, "mission waits", "missions wait")
        );
        ConsolePage {
            title: "Inbox",
            tab: NavigationTab::Inbox,
            live: Some(""),
            says,
            content: self.content(),
        }
    }

    fn content(&self) -> Markup {
        let (paused, asking, failed) = self.counts;
        let waiting = paused + asking;
        html! {
            h1 { "Inbox" }
            (self.summary())
            section #waiting aria-labelledby="waiting-title" data-question=(self.questions()) {
                h2 #waiting-title { "Waiting for you" @if waiting > 0 { " (" (waiting) ")" } }
                @if self.waiting.is_empty() && self.asking.is_empty() { p.empty { "No mission waits for an answer." } }
                @for (stored, seal) in &self.waiting { (waits(stored, seal)) }
                @for stored in &self.asking { (asks(stored)) }
                (more(paused, self.waiting.len(), "paused"))
                @if asking > self.asking.len() as u64 {
                    p { a href="/console/missions?status=running&asks=true" { "All " (asking) " missions that run and ask" } }
                }
            }
            section #failed aria-labelledby="failed-title" {
                h2 #failed-title { "Failed" @if failed > 0 { " (" (failed) ")" } }
                @if self.failed.is_empty() { p.empty { "No mission has failed." } }
                @for (stored, seal) in &self.failed { (has_failed(stored, seal)) }
                (more(failed, self.failed.len(), "failed"))
            }
            @if !self.faulty.is_empty() {
                section #faulty aria-labelledby="faulty-title" {
                    h2 #faulty-title { "Crabs with a fault" }
                    p.note { "They give every step back until their machines are mended. The steps wait, or go to other crabs." }
                    @for crab in &self.faulty { (at_fault(crab)) }
                }
            }
        }
    }

    /// Key of the questions that are asked here: while a person reads them, nothing else takes their place unseen.
    fn questions(&self) -> String {
        let asked = |(stored, _): &(StoredMission, Seal<'_>)| {
            let oldest = stored.mission.pause().map_or(0, |it| it.number);
            format!("{}.{oldest}.{}", stored.row.id, stored.mission.pauses)
        };
        let asks = |stored: &StoredMission| {
            let keys: Vec<String> = question::keys(&stored.mission).collect();
            format!("{}.{}", stored.row.id, keys.join("+"))
        };
        let all = self.waiting.iter().map(asked).chain(self.asking.iter().map(asks));
        all.collect::<Vec<_>>().join(" ")
    }

    fn summary(&self) -> Markup {
        let [known, parked, busy, faulty] = self.crabs;
        let (running, pending) = self.under_way;
        html! {
            p.summary #summary {
                a href="/console/missions?status=running" { (counted(running as usize, "mission runs", "missions run")) }
                ", "
                @if pending > 0 { a href="/console/missions?status=pending" { (pending) " wait to begin" } ", " }
                (counted(self.steps as usize, "step waits", "steps wait")) " for a crab"
                ". "
                a href="/console/colonies" { (counted(known as usize, "crab", "crabs")) }
                @if known > 0 { ": " (busy) " at work, " (parked) " free" }
                @if faulty > 0 { ", " strong { (faulty) " with a fault" } }
                "."
            }
        }
    }
}

fn at_fault(crab: &Faulty) -> Markup {
    html! {
        p.why {
            strong { a href={ "/console/colonies/" (crab.colony) } dir="auto" { (text::line(&crab.name)) } }
            " " span.fault dir="auto" { (text::line(&crab.fault)) }
        }
    }
}

fn more(count: u64, shown: usize, status: &str) -> Markup {
    html! {
        @if count > shown as u64 {
            p { a href={ "/console/missions?status=" (status) } { "All " (count) " missions that are " (status) } }
        }
    }
}

/// A mission that waits, with its answers.
fn waits(stored: &StoredMission, seal: &Seal<'_>) -> Markup {
    let (plan, state) = (stored.plan, &stored.mission);
    let Some(pause) = state.pause() else { return html! {} };
    let others = state.questions.len() - 1;
    html! {
        article.card.ask id={ "waits-" (stored.row.id) } aria-labelledby={ "title-" (stored.row.id) } {
            (heading(stored))
            p.why { strong { (words::question(pause)) } " " span dir="auto" { (text::line(&words::reason(plan, state, pause))) } }
            @if others > 0 { p.why { (counted(others, "more question is", "more questions are")) " open." } }
            (mission::answers(stored, pause, seal, mission::AnswerForm::Short))
        }
    }
}

/// A mission that runs, with the questions of its steps. Its page has the answers.
fn asks(stored: &StoredMission) -> Markup {
    let row = &stored.row;
    html! {
        article.card.ask id={ "asks-" (row.id) } aria-labelledby={ "title-" (row.id) } {
            (heading(stored))
            @for question in stored.questions() {
                @let step = stored.plan.step(question.step);
                p.why {
                    strong { (text::line(step.id)) " asks " (text::inline(&question::whom(persons(step)))) } " "
                    span dir="auto" { (text::line(&question.text)) }
                }
            }
            p { a.button href={ "/console/missions/" (row.id) } { "Look at it" } }
        }
    }
}

/// A mission that has failed, with what can be done.
fn has_failed(stored: &StoredMission, seal: &Seal<'_>) -> Markup {
    let failures = words::failures(stored.plan, &stored.mission);
    html! {
        article.card.bad id={ "failed-" (stored.row.id) } aria-labelledby={ "title-" (stored.row.id) } {
            (heading(stored))
            @for failure in failures.iter().take(2) { p.why dir="auto" { (text::line(failure)) } }
            form.answers method="post" action={ "/console/missions/" (stored.row.id) "/retry" } {
                (seal.fields())
                button type="submit" { "Run it again from where it failed" }
                a.button.plain href={ "/console/missions/" (stored.row.id) } { "Look at it" }
            }
        }
    }
}

fn heading(stored: &StoredMission) -> Markup {
    let row = &stored.row;
    let word = match words::is_exhausted(&stored.mission) {
        true => "exhausted",
        false => stored.mission.status.as_str(),
    };
    html! {
        h3 id={ "title-" (row.id) } {
            a href={ "/console/missions/" (row.id) } dir="auto" { (text::line(&row.summary)) }
        }
        p.facts {
            (badge(Tone::of_mission(stored.mission.status), word)) " "
            (row.workflow) " · " bdi { (text::line(&row.branch)) } " · "
            @match stored.mission.status {
                MissionStatus::Paused | MissionStatus::Running => { "since " }
                MissionStatus::Failed | MissionStatus::Pending
                | MissionStatus::Completed | MissionStatus::Cancelled => { "ended " }
            }
            (time::at(row.updated))
        }
    }
}
