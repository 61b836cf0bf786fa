//! One mission: what it asks, its plan as a live picture, its steps and their attempts.

use maud::{Markup, html};
use orange_core::mission::{Mission, MissionStatus, Pause};
use orange_core::plan::StepId;

use super::forms::{self, Seal};
use super::question::{self, QuestionCard};
use super::words::{self, Tone, counted, standing};
use super::{ConsolePage, NavigationTab, attempts, badge, picture, text, time};
use crate::host::questions::Question;
use crate::host::{Colony, KEPT_BY_CRABS, KEPT_BY_GATEWAYS, Millis, StoredMission};
use crate::model;

/// Number of attempts that a page of a mission shows; the pages of its steps have all.
const ATTEMPTS: usize = 20;

/// A mission and what stands around it.
pub struct MissionPage<'m> {
    pub stored: &'m StoredMission,
    /// Its colony, if that is known.
    pub colony: Option<&'m Colony>,
    /// The crabs of the colony by id, with their names.
    pub crabs: &'m [(String, String)],
    /// Reason for which no crab has a step of it that may start, if it waits for one.
    pub waits: Option<String>,
    /// Sentence about the action that a person has just taken on it.
    pub said: Option<&'m str>,
    /// Name of the person who reads it.
    pub person: &'m str,
    /// The seal of its forms.
    pub seal: Seal<'m>,
    pub now: Millis,
}

impl MissionPage<'_> {
    pub fn page(&self) -> ConsolePage<'_> {
        let StoredMission { row, plan, mission, .. } = self.stored;
        let live = (!mission.status.is_terminal() || mission.status == MissionStatus::Failed)
            .then_some(row.id.as_str());
        ConsolePage {
            title: &row.summary,
            tab: NavigationTab::Elsewhere,
            live,
            says: words::doing(plan, mission, self.holder()),
            content: self.content(),
        }
    }

    fn content(&self) -> Markup {
        let StoredMission { row, plan, mission, prompt, .. } = self.stored;
        let address = format!("/console/missions/{}", row.id);
        html! {
            h1 dir="auto" { (text::line(&row.summary)) }
            @if let Some(said) = self.said { p.said #said { (said) } }
            (self.facts())
            div #ask data-question=(numbers(mission)) {
                @for (place, pause) in mission.questions.iter().enumerate() { (self.asks(pause, place == 0)) }
                @for question in &self.stored.questions() { (self.question(question)) }
                @if mission.status == MissionStatus::Failed { (self.failed()) }
            }
            (question::answered(self.stored, self.now))
            section #plan aria-labelledby="plan-title" {
                h2 #plan-title { "Plan" }
                p.now { (words::doing(plan, mission, self.holder())) }
                @if let Some(why) = &self.waits { p.why #waits dir="auto" { "It waits since " (text::line(why)) "." } }
                @let seen = self.stored.seen();
                (picture::picture(plan, Some(&seen)))
                (self.steps(&seen, &address))
            }
            section #attempts aria-labelledby="attempts-title" {
                h2 #attempts-title { "Attempts" }
                (attempts::list(&self.tried(), ATTEMPTS))
            }
            section #prompt aria-labelledby="prompt-title" {
                h2 #prompt-title { "Prompt" }
                (text::block(prompt, text::PROMPT, &format!("{address}/prompt"), "prompt"))
            }
            section #more aria-labelledby="more-title" {
                h2 #more-title { "More" }
                p { a href={ (address) "/history" } { "History: everything that has happened to it" } }
                p.note #kept {
                    "The gateway removes a mission " (KEPT_BY_GATEWAYS) " days after its end; " code { "orange-fleet serve --keep" }
                    " changes that. A crab removes what an attempt has left in its home after " (KEPT_BY_CRABS) " days; "
                    code { "orange-fleet crab --keep" } " changes that, and " code { "orange mission delete" }
                    " in that home moves it to the trash sooner."
                }
                @if !matches!(mission.status, MissionStatus::Completed | MissionStatus::Cancelled) { (self.cancel()) }
            }
        }
    }

    fn question(&self, question: &Question) -> Markup {
        let MissionPage { stored, person, seal, now, .. } = self;
        QuestionCard { stored, question, person, seal, now: *now }.shown()
    }

    /// The step that starts next, if a crab has it, with that crab.
    fn holder(&self) -> Option<(StepId, &str)> {
        model::mission::work(self.stored.plan, &self.stored.mission)
            .find_map(|(step, _)| Some((step, self.crab_of(step)?)))
    }

    /// The name of the crab that has a step.
    fn crab_of(&self, step: StepId) -> Option<&str> {
        let crab = self.stored.crab_of(step)?;
        Some(self.crabs.iter().find(|it| it.0 == crab).map_or(crab, |it| it.1.as_str()))
    }

    fn tried(&self) -> Vec<attempts::Tried<'_>> {
        attempts::of(self.stored, self.crabs, self.now)
    }

    fn facts(&self) -> Markup {
        let StoredMission { row, plan, mission, .. } = self.stored;
        let policy = mission.policy;
        let colony = self.colony.map_or(row.colony.as_str(), |it| it.name.as_str());
        html! {
            dl.facts #facts {
                div { dt { "Status" } dd { (badge(Tone::of_mission(mission.status), mission.status.as_str())) } }
                div { dt { "Workflow" } dd { a href={ "/console/workflows/" (plan.name) } { (plan.name) } } }
                div { dt { "Colony" } dd { a href={ "/console/colonies/" (row.colony) } { (text::inline(colony)) } } }
                div { dt { "Branch" } dd { (text::inline(&row.branch)) } }
                div {
                    dt { "Policy" }
                    dd { "execution " (policy.execution.as_str()) ", intervene " (policy.intervene.as_str()) }
                }
                div { dt { "Started" } dd { (time::at_and_ago(row.created, self.now)) } }
                div { dt { "Changed" } dd { (time::at_and_ago(row.updated, self.now)) } }
                div { dt { "Id" } dd { code { (row.id) } } }
            }
        }
    }

    /// The question of a pause, and its answers. The first one lets the policy change, too.
    fn asks(&self, pause: &Pause, is_first: bool) -> Markup {
        let StoredMission { row, plan, mission, .. } = self.stored;
        let title = if is_first { "ask-title".to_owned() } else { format!("ask-title-{}", pause.number) };
        let whole = format!("/console/missions/{}/reason?pause={}", row.id, pause.number);
        let why = words::reason(plan, mission, pause);
        html! {
            section.card.ask aria-labelledby=(title) {
                h2 id=(title) { "Pause " (pause.number) ": " (words::question(pause)) }
                (text::block(&why, text::SUMMARY, &whole, "reason"))
                (answers(self.stored, pause, &self.seal, if is_first { AnswerForm::WithPolicy } else { AnswerForm::InFull }))
            }
        }
    }

    fn failed(&self) -> Markup {
        let StoredMission { row, plan, mission, .. } = self.stored;
        let steps = words::retriable(plan, mission);
        let entries: Vec<(&str, &str)> = steps.iter().map(|it| (*it, *it)).collect();
        html! {
            section.card.bad aria-labelledby="ask-title" {
                h2 #ask-title { "It has failed" }
                @for failure in words::failures(plan, mission) {
                    p.why dir="auto" { (text::visible(text::cut(&failure, text::SUMMARY).0)) }
                }
                form.answers method="post" action={ "/console/missions/" (row.id) "/retry" } {
                    (self.seal.fields())
                    @if steps.len() > 1 {
                        (forms::menu("retry-step", "step", "From", "every failed step", &entries, ""))
                    }
                    button type="submit" { "Run it again from where it failed" }
                }
            }
        }
    }

    /// The steps as a table: what the picture says, in words.
    fn steps(&self, seen: &Mission, address: &str) -> Markup {
        let plan = self.stored.plan;
        html! {
            table.list #steps role="table" {
                caption.unseen { "The steps, in the order in which they can run" }
                thead role="rowgroup" {
                    tr role="row" {
                        @for name in ["Step", "Status", "Role", "Result", "Attempts"] {
                            th role="columnheader" scope="col" { (name) }
                        }
                    }
                }
                tbody role="rowgroup" {
                    @for id in plan.order {
                        @let (step, state) = (plan.step(*id), seen.step(*id));
                        tr role="row" id={ "step-" (step.id) } {
                            th role="rowheader" scope="row" {
                                a href={ (address) "/steps/" (step.id) } { (text::line(step.id)) }
                                @if step.title != step.id { " " span.sub dir="auto" { (text::line(step.title)) } }
                            }
                            td role="cell" {
                                (badge(Tone::of_step(state), standing(state)))
                                @if let Some(crab) = self.crab_of(*id) { " " span.sub { "crab " (text::inline(crab)) } }
                            }
                            td role="cell" { (text::line(plan.role(step.role))) }
                            @let result = state.latest.as_ref().and_then(|it| it.result.as_deref());
                            td.nil[result.is_none()] role="cell" { bdi { (result.map_or("–".to_owned(), text::line)) } }
                            td.nil[state.attempt() == 0] role="cell" {
                                (counted(state.attempts.len(), "attempt", "attempts"))
                                @if step.is_loop() {
                                    span.sub { " " (state.completions) " of "
                                        (counted(usize::from(step.max_retries) + usize::from(state.granted), "round", "rounds")) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn cancel(&self) -> Markup {
        html! {
            details #cancel {
                summary { "Cancel this mission" }
                form.answers method="post" action={ "/console/missions/" (self.stored.row.id) "/cancel" } {
                    (self.seal.fields())
                    p { "Its agent is ended, and nothing of it runs any more. Its branch stays as it was last pushed." }
                    button.danger type="submit" { "Cancel it for good" }
                }
            }
        }
    }
}

/// Extent of a form that answers a pause.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AnswerForm {
    /// Buttons, with a link to the mission.
    Short,
    /// Each button with the effect of its answer.
    InFull,
    /// That, and menus that change the policy with the answer.
    WithPolicy,
}

/// Numbers of the open questions: while a person reads them, no others take their place unseen.
fn numbers(mission: &Mission) -> String {
    let pauses = mission.questions.iter().map(|it| it.number.to_string());
    let numbers: Vec<String> = pauses.chain(question::keys(mission)).collect();
    if numbers.is_empty() { "0".to_owned() } else { numbers.join(" ") }
}

/// The form that answers a pause.
pub fn answers(stored: &StoredMission, pause: &Pause, seal: &Seal<'_>, form: AnswerForm) -> Markup {
    let StoredMission { row, plan, mission, .. } = stored;
    let choices = words::choices(plan, mission, pause);
    let in_full = form != AnswerForm::Short;
    html! {
        form.answers method="post" action={ "/console/missions/" (row.id) "/continue" } {
            (seal.fields())
            (forms::hidden("pause", &pause.number.to_string()))
            div.choices {
                @for choice in &choices {
                    div {
                        button.plain[choice.accepts] type="submit" name="accept" value=(if choice.accepts { "yes" } else { "no" }) {
                            (choice.label)
                        }
                        @if in_full { p.note { (choice.effect) } }
                    }
                }
                @if !in_full { div { a.button.plain href={ "/console/missions/" (row.id) } { "Look at it" } } }
            }
            @if form == AnswerForm::WithPolicy {
                details #policy {
                    summary { "When it pauses from now on" }
                    (forms::policy("answer", "as it is", ("", "")))
                }
            }
        }
    }
}
