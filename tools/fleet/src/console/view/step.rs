//! One step of a mission: what its agent is asked, with which context, and every attempt.

use maud::{Markup, html};
use orange_core::plan::StepId;

use super::words::{Tone, standing};
use super::{ConsolePage, NavigationTab, attempts, badge, text};
use crate::host::{Millis, StoredMission};

/// Number of attempts that a page shows.
const ATTEMPTS: usize = 40;

/// A step of a mission.
pub struct StepPage<'s> {
    pub stored: &'s StoredMission,
    pub step: StepId,
    /// The prompt of its current attempt, as far as the gateway knows it.
    pub prompt: String,
    pub context: String,
    /// The crabs of the colony by id, with their names.
    pub crabs: &'s [(String, String)],
    pub now: Millis,
    /// Number of newer attempts that are left out.
    pub skip: usize,
}

impl StepPage<'_> {
    pub fn page(&self) -> ConsolePage<'_> {
        let StoredMission { row, plan, .. } = self.stored;
        let seen = self.stored.seen();
        let (step, state) = (plan.step(self.step), seen.step(self.step));
        ConsolePage {
            title: step.id,
            tab: NavigationTab::Elsewhere,
            live: Some(row.id.as_str()),
            says: format!("{} is {}, attempt {}.", step.id, standing(state), state.attempt()),
            content: self.content(),
        }
    }

    fn content(&self) -> Markup {
        let StoredMission { row, plan, .. } = self.stored;
        let seen = self.stored.seen();
        let (step, state) = (plan.step(self.step), seen.step(self.step));
        let mission_address = format!("/console/missions/{}", row.id);
        let address = format!("{mission_address}/steps/{}", step.id);
        let names = |ids: &[StepId]| ids.iter().map(|it| plan.step(*it).id).collect::<Vec<_>>().join(", ");
        html! {
            p.back { a href=(mission_address) dir="auto" { "← " (text::line(&row.summary)) } }
            h1 { (text::line(step.id)) }
            @if step.title != step.id { p dir="auto" { (text::line(step.title)) } }
            dl.facts #facts {
                div { dt { "Status" } dd { (badge(Tone::of_step(state), standing(state))) } }
                div { dt { "Role" } dd { (text::line(plan.role(step.role))) } }
                @if !step.depends_on.is_empty() { div { dt { "After" } dd { (names(step.depends_on)) } } }
                @if let Some(condition) = &step.condition { div { dt { "If" } dd { code { (text::line(&plan.condition_text(condition))) } } } }
                @if step.is_loop() { div { dt { "Runs again" } dd { (names(step.requeue)) ", at most " (step.max_retries) " times" } } }
                @if let Some(handler) = step.on_fail { div { dt { "If it fails" } dd { (plan.step(handler).id) } } }
                @if let Some(failed) = step.handles { div { dt { "Handles" } dd { (plan.step(failed).id) } } }
                @if !plan.results_of(self.step).is_empty() { div { dt { "May report" } dd { (plan.results_of(self.step).join(", ")) } } }
                @if let Some(harness) = step.harness { div { dt { "Harness" } dd { (harness) } } }
                @if let Some(timeout) = step.timeout { div { dt { "Timeout" } dd { (timeout) " s" } } }
            }
            section #prompt aria-labelledby="prompt-title" {
                h2 #prompt-title { "Prompt" }
                p.note { "What the agent of attempt " (state.attempt().max(1)) " is asked. Its crab fills in the path of the worktree." }
                (text::block(&self.prompt, text::PROMPT, &format!("{address}/prompt"), "prompt"))
            }
            section #context aria-labelledby="context-title" {
                h2 #context-title { "Context" }
                @if self.context.is_empty() { p.empty { "It has none: no step before it has reported." } }
                @else { (text::block(&self.context, text::PROMPT, &format!("{address}/context"), "context")) }
            }
            section #attempts aria-labelledby="attempts-title" {
                h2 #attempts-title { "Attempts" }
                (self.attempts(&address))
            }
        }
    }

    fn attempts(&self, address: &str) -> Markup {
        let tried = attempts::of_step(self.stored, self.step, self.crabs, self.now);
        let rest = tried.get(self.skip..).unwrap_or_default();
        let shown = &rest[..rest.len().min(ATTEMPTS)];
        html! {
            (attempts::list(shown, ATTEMPTS))
            @if rest.len() > ATTEMPTS {
                p { a.button.plain href={ (address) "?skip=" (self.skip + ATTEMPTS) } { "Older attempts" } }
            }
        }
    }
}
