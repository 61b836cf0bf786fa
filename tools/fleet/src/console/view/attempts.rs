//! The attempts of a mission: who had them, how long they took, and what they reported.

use maud::{Markup, html};
use orange_core::mission::{AttemptEnd, Report, StepStatus};
use orange_core::plan::StepId;

use super::words::Tone;
use super::{badge, text, time};
use crate::host::{AttemptRow as Timing, Millis, StoredMission};

/// Number of characters of the name of a commit that are shown.
const SHORT: usize = 12;

/// The width of a bar in units of its own, and of the thinnest part that is seen.
const BAR: Millis = 1_000;
const THIN: Millis = 8;

/// An attempt, with what the mission and the host know of it.
pub struct Tried<'t> {
    address: String,
    step: &'t str,
    number: u32,
    tone: Tone,
    word: &'static str,
    end: Option<&'t AttemptEnd>,
    timing: Option<&'t Timing>,
    crab: Option<&'t str>,
    now: Millis,
}

/// Every attempt of a mission, the newest first. `crabs` are names by id.
pub fn of<'t>(stored: &'t StoredMission, crabs: &'t [(String, String)], now: Millis) -> Vec<Tried<'t>> {
    let mut all: Vec<Tried<'t>> =
        stored.plan.step_ids().flat_map(|id| of_step(stored, id, crabs, now)).collect();
    all.sort_by_key(|it| std::cmp::Reverse((it.timing.map_or(Millis::MAX, |it| it.queued), it.number)));
    all
}

/// The attempts of one step, the newest first.
pub fn of_step<'t>(
    stored: &'t StoredMission,
    id: StepId,
    crabs: &'t [(String, String)],
    now: Millis,
) -> Vec<Tried<'t>> {
    let step = stored.plan.step(id).id;
    let state = stored.mission.step(id);
    let tried = (1..).zip(&state.attempts).map(|(number, attempt)| {
        let timing = stored.runs.iter().find(|it| it.step == step && it.attempt == number);
        let crab = timing.and_then(|it| it.crab.as_deref());
        let (tone, word) = standing(attempt.end.as_ref(), state.status, crab.is_some());
        Tried {
            address: format!("/console/missions/{}/steps/{step}", stored.row.id),
            step,
            number,
            tone,
            word,
            end: attempt.end.as_ref(),
            timing,
            crab: crab.map(|id| crabs.iter().find(|it| it.0 == id).map_or(id, |it| it.1.as_str())),
            now,
        }
    });
    let mut tried: Vec<Tried<'t>> = tried.collect();
    tried.reverse();
    tried
}

fn standing(end: Option<&AttemptEnd>, status: StepStatus, has_crab: bool) -> (Tone, &'static str) {
    match end {
        Some(AttemptEnd::Completed(Report { warning: Some(_), .. })) => {
            (Tone::Ask, "completed, with a warning")
        }
        Some(AttemptEnd::Completed(_)) => (Tone::Good, "completed"),
        Some(AttemptEnd::Failed { .. }) => (Tone::Bad, "failed"),
        Some(AttemptEnd::Rejected { .. }) => (Tone::Bad, "rejected"),
        Some(AttemptEnd::Lost) => (Tone::Bad, "ended without a word"),
        Some(AttemptEnd::Abandoned) => (Tone::Bad, "its crab was lost"),
        Some(AttemptEnd::Withdrawn) => (Tone::Off, "withdrawn"),
        None if status == StepStatus::Asked => (Tone::Ask, "asked"),
        None if status == StepStatus::Running => (Tone::Busy, "running"),
        None if has_crab || status == StepStatus::Assigned => (Tone::Busy, "assigned"),
        None => (Tone::Calm, "waits for a crab"),
    }
}

/// The times from the first attempt on a page to the end of the last: what the bars of a timeline are drawn in.
struct TimeSpan {
    from: Millis,
    to: Millis,
}

/// At most so many of them on a timeline; the pages of the steps have the others. All but the last that has begun are folded.
pub fn list(tried: &[Tried<'_>], most: usize) -> Markup {
    let shown = &tried[..tried.len().min(most)];
    let span = TimeSpan::of(shown);
    let last = shown.iter().position(Tried::has_begun).unwrap_or(0);
    html! {
        @if tried.is_empty() { p.empty { "No step has been tried." } }
        @else {
            ol.attempts reversed {
                @for (index, one) in shown.iter().enumerate() { (one.shown(&span, index == last)) }
            }
            @if tried.len() > most {
                p.note { (tried.len() - most) " older attempts are on the pages of their steps." }
            }
        }
    }
}

impl TimeSpan {
    fn of(tried: &[Tried<'_>]) -> TimeSpan {
        let timings = || tried.iter().filter_map(|it| Some((it.timing?, it.now)));
        let from = timings().map(|(timing, _)| timing.queued).min().unwrap_or_default();
        let to = timings().map(|(timing, now)| timing.ended.unwrap_or(now)).max().unwrap_or_default();
        TimeSpan { from, to: to.max(from + 1) }
    }

    /// Position of a time, as a part of the width of a bar.
    fn place(&self, time: Millis) -> Millis {
        let passed = time.clamp(self.from, self.to) - self.from;
        passed.saturating_mul(BAR) / (self.to - self.from)
    }
}

impl Tried<'_> {
    fn shown(&self, span: &TimeSpan, is_open: bool) -> Markup {
        html! {
            li.card id={ "a-" (self.step) "-" (self.number) } {
                details open[is_open] {
                    summary {
                        h3 { (text::line(self.step)) " " span.number { "#" (self.number) } " " (badge(self.tone, self.word)) }
                        " " span.number { (self.took()) }
                        (self.bar(span))
                    }
                    p.facts { (self.when()) }
                    (self.end())
                    (self.commit())
                    (self.links())
                }
            }
        }
    }

    /// Time for which its agent has worked, or for which it has waited for one.
    fn took(&self) -> String {
        let Some(timing) = self.timing else { return String::new() };
        match (self.began(), timing.ended) {
            (Some(began), Some(ended)) => time::duration(began, ended),
            (Some(began), None) => format!("{} so far", time::duration(began, self.now)),
            (None, Some(ended)) => format!("waited {}", time::duration(timing.queued, ended)),
            (None, None) => format!("{} so far", time::duration(timing.queued, self.now)),
        }
    }

    /// Bar of the times in which it has waited, and in which its agent has worked.
    fn bar(&self, span: &TimeSpan) -> Markup {
        let Some(timing) = self.timing else { return html! {} };
        let ended = timing.ended.unwrap_or(self.now);
        let began = self.began().unwrap_or(ended);
        let [queued, began, ended] = [timing.queued, began, ended].map(|it| span.place(it));
        let width = (ended - began).max(THIN);
        html! {
            svg.bar viewBox={ "0 0 " (BAR) " 8" } preserveAspectRatio="none" aria-hidden="true" {
                rect.waited x=(queued) width=((began - queued).max(0)) height="8" {}
                @if self.began().is_some() {
                    rect.ran.(self.tone.class()) x=(began.min(BAR - width)) width=(width) height="8" {}
                }
            }
        }
    }

    /// Time at which its agent has started, or at which its crab has got it.
    fn began(&self) -> Option<Millis> {
        self.timing.and_then(|it| it.started.or(it.offered))
    }

    fn has_begun(&self) -> bool {
        self.end.is_some() || self.began().is_some()
    }

    /// The way to what it has changed, and to what its agent has said and done.
    fn links(&self) -> Markup {
        let page = format!("{}/{}", self.address, self.number);
        let of = |kind: &str, name: &str, length: Option<u32>| {
            html! {
                @if let Some(length) = length {
                    a href={ (page) "#" (kind) } { (name) span.unseen { " of " (text::line(self.step)) " #" (self.number) } }
                    " (" (text::size(length as usize)) ") "
                }
            }
        };
        let (diff, transcript) = self.timing.map_or((None, None), |it| (it.diff, it.transcript));
        html! {
            p.texts {
                a href=(self.address) { "Step " (text::line(self.step)) } " "
                // A diff without a byte is not a page to look at.
                (of("diff", "Diff", diff.filter(|it| *it > 0)))
                @if diff == Some(0) { "It has changed nothing. " }
                (of("transcript", "Transcript", transcript))
            }
        }
    }

    fn commit(&self) -> Markup {
        html! {
            @if let Some(commit) = self.timing.and_then(|it| it.commit.as_deref()) {
                p.facts { "Commit " code title=(text::line(commit)) { (text::cut(commit, SHORT).0) } }
            }
        }
    }

    /// Its description on a page of its own.
    pub fn alone(&self) -> Markup {
        html! {
            p { (badge(self.tone, self.word)) }
            p.facts { (self.when()) }
            (self.end())
            (self.commit())
        }
    }

    fn end(&self) -> Markup {
        let by = self.end.and_then(AttemptEnd::answered).map(|(_, origin)| origin.by.as_str());
        html! {
            @if let Some(by) = by { p { "Answered by " strong { (text::inline(by)) } } }
            (self.outcome())
        }
    }

    /// Report of its end, or the reason for its failure.
    fn outcome(&self) -> Markup {
        match self.end {
            Some(AttemptEnd::Completed(report)) => self.report(report),
            Some(AttemptEnd::Failed { reason } | AttemptEnd::Rejected { reason, .. }) => {
                self.long(reason, "reason")
            }
            Some(AttemptEnd::Lost | AttemptEnd::Abandoned | AttemptEnd::Withdrawn) | None => html! {},
        }
    }

    pub fn number(&self) -> u32 {
        self.number
    }

    /// State of the attempt, in words.
    pub fn word(&self) -> &'static str {
        self.word
    }

    /// True if it has ended.
    pub fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Crab that had it, with the times of its start and its wait, and its duration.
    fn when(&self) -> Markup {
        let Some(timing) = self.timing else { return html! {} };
        html! {
            @if let Some(crab) = self.crab { "by " (text::inline(crab)) " · " }
            @match self.began() {
                Some(started) => {
                    "started " (time::at_and_ago(started, self.now)) ", waited " (time::duration(timing.queued, started)) ", "
                    @match timing.ended {
                        Some(ended) => { "ran for " (time::duration(started, ended)) }
                        None => { "runs for " (time::duration(started, self.now)) }
                    }
                }
                None => {
                    "waits since " (time::at_and_ago(timing.queued, self.now))
                    @if let Some(ended) = timing.ended { ", until " (time::at_and_ago(ended, self.now)) }
                }
            }
        }
    }

    fn report(&self, report: &Report) -> Markup {
        html! {
            @if let Some(result) = &report.result { p { "Result " strong.result { (text::inline(result)) } } }
            @if let Some(warning) = &report.warning {
                div.warning { strong { "Warning" } (self.long(warning, "warning")) }
            }
            (self.long(&report.summary, "summary"))
        }
    }

    fn long(&self, shown: &str, name: &str) -> Markup {
        text::block(shown, text::SUMMARY, &format!("{}/{}/{name}", self.address, self.number), name)
    }
}
