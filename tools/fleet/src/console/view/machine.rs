//! The tasks and missions of the gateway's own machine, with what each needs and the answers to it.

use maud::{Markup, html};

use super::forms::{self, Seal};
use super::words::{Tone, counted};
use super::{ConsolePage, NavigationTab, badge, text};
use orange_api::{Need, NeedAction};
use orange_core::need::NeedKind;

use crate::console::machine::{OpenWork, is_for_pages};

/// Number of characters of an argument or a question that are shown.
const ARGUMENT: usize = 2_000;

/// The work of this machine.
pub struct MachinePage<'m> {
    /// Every task and mission that is not over, each with the seal of its forms; those that need a person come first.
    pub work: Vec<(OpenWork, Seal<'m>)>,
    /// Message about the last action of the person.
    pub said: Option<&'static str>,
}

impl MachinePage<'_> {
    pub fn page(&self) -> ConsolePage<'static> {
        let count = self.waiting().count();
        let says =
            format!("{} you on this machine.", counted(count, "piece of work needs", "pieces of work need"));
        ConsolePage {
            title: "This machine",
            tab: NavigationTab::Machine,
            live: Some(""),
            says,
            content: self.content(),
        }
    }

    fn waiting(&self) -> impl Iterator<Item = &(OpenWork, Seal<'_>)> {
        self.work.iter().filter(|it| it.0.needs_person())
    }

    fn content(&self) -> Markup {
        let count = self.waiting().count();
        html! {
            h1 { "This machine" }
            @if let Some(said) = self.said { p.said #said { (said) } }
            section #waiting aria-labelledby="waiting-title" data-question=(self.questions()) {
                h2 #waiting-title { "Needs you" @if count > 0 { " (" (count) ")" } }
                @if count == 0 { p.empty { "No task and no mission of this machine needs you." } }
                @for (work, seal) in self.waiting() { (card(work, seal)) }
            }
            section #others aria-labelledby="others-title" {
                h2 #others-title { "Goes on by itself" }
                @if count == self.work.len() { p.empty { "Nothing else is under way." } }
                @for (work, seal) in self.work.iter().filter(|it| !it.0.needs_person()) { (card(work, seal)) }
            }
        }
    }

    /// Questions that are asked here: while a person reads one, nothing else takes its place unseen.
    fn questions(&self) -> String {
        let asked = |(work, _): &(OpenWork, Seal<'_>)| {
            let commands = work.need.iter().flat_map(|it| &it.actions).map(|it| it.command.join(" "));
            format!("{} {}", work.id, commands.collect::<Vec<_>>().join(";"))
        };
        self.waiting().map(asked).collect::<Vec<_>>().join("\n")
    }
}

fn card(work: &OpenWork, seal: &Seal<'_>) -> Markup {
    let class = if work.needs_person() { "card ask" } else { "card" };
    html! {
        article class=(class) id={ "work-" (work.id) } aria-labelledby={ "title-" (work.id) } {
            h3 id={ "title-" (work.id) } dir="auto" { (text::line(title(work))) }
            p.facts {
                @if let Some(need) = &work.need { (badge(tone(need), need.kind.as_str())) " " }
                bdi { (facts(work)) }
                @if let Some(address) = work.pull_request.as_deref().filter(|it| it.starts_with("https://")) {
                    " · " a href=(address) rel="noreferrer" { "pull request" }
                }
            }
            @if let Some(message) = &work.error { p.why dir="auto" { "It cannot be read: " (text::visible(message)) } }
            @if let Some(need) = &work.need { (asks(work, need, seal)) }
        }
    }
}

fn title(work: &OpenWork) -> &str {
    let names = [&work.summary, &work.branch, &work.id];
    names.into_iter().find(|it| !it.trim().is_empty()).map_or("", String::as_str)
}

/// Known facts about it, in one line.
fn facts(work: &OpenWork) -> String {
    let known = [&work.project, &work.branch, &work.workflow, &work.status];
    let known = known.into_iter().chain(&work.step).filter(|it| !it.is_empty());
    text::line(&known.map(String::as_str).collect::<Vec<_>>().join(" · "))
}

fn tone(need: &Need) -> Tone {
    match need.kind {
        NeedKind::Crashed
        | NeedKind::Stuck
        | NeedKind::Conflict
        | NeedKind::ChecksRed
        | NeedKind::HookFailed => Tone::Bad,
        NeedKind::Working => Tone::Busy,
        NeedKind::Permission
        | NeedKind::Question
        | NeedKind::IdleWithoutArtifact
        | NeedKind::ReviewReady
        | NeedKind::Budget
        | NeedKind::Paused => Tone::Ask,
        NeedKind::Limit | NeedKind::Queued | NeedKind::Over => Tone::Calm,
    }
}

/// Reason why a person is needed, and all actions: buttons, those that take a text, those that ask once more, and those that are
/// refused now.
fn asks(work: &OpenWork, need: &Need, seal: &Seal<'_>) -> Markup {
    let (open, refused): (Vec<_>, Vec<_>) =
        need.actions.iter().filter(|it| is_for_pages(it)).partition(|it| it.is_open());
    let is_button = |it: &&&NeedAction| !it.takes_text() && it.warning.is_none();
    let (first, more): (Vec<_>, Vec<_>) = open.iter().filter(is_button).partition(|it| !it.keys.is_empty());
    html! {
        p.why dir="auto" {
            (text::visible(&need.why))
            @if let Some(since) = &need.since { " · since " time datetime=(since) { (since) } }
        }
        @if let Some(argument) = &need.argument {
            pre.text dir="auto" { (text::visible(text::cut(argument, ARGUMENT).0)) }
        }
        (buttons(work, &first, seal))
        @for offer in open.iter().filter(|it| it.takes_text()) { (with_text(work, offer, seal)) }
        @for offer in &open {
            @if let Some(warning) = offer.warning.as_ref().filter(|_| !offer.takes_text()) {
                details {
                    summary { (label(offer)) }
                    form.answers method="post" action="/console/machine" {
                        (hidden(work, offer, seal))
                        p { (text::visible(warning)) }
                        button.danger type="submit" { (label(offer)) }
                    }
                }
            }
        }
        @if !more.is_empty() || !refused.is_empty() {
            details {
                summary { "More" }
                (buttons(work, &more, seal))
                @for offer in &refused {
                    p.why dir="auto" { (label(offer)) " is refused: " (text::visible(offer.refusal.as_deref().unwrap_or_default())) }
                }
            }
        }
    }
}

fn buttons(work: &OpenWork, offers: &[&&NeedAction], seal: &Seal<'_>) -> Markup {
    html! {
        @if !offers.is_empty() {
            div.answers {
                @for offer in offers {
                    form method="post" action="/console/machine" {
                        (hidden(work, offer, seal))
                        button type="submit" { (label(offer)) }
                    }
                }
            }
        }
    }
}

fn with_text(work: &OpenWork, offer: &NeedAction, seal: &Seal<'_>) -> Markup {
    // An action has several answers, each with a form of its own.
    let of = offer.to.as_deref().unwrap_or(if offer.takes_comment() { &offer.label } else { "" });
    let id = format!("text-{}-{}-{of}", work.id, offer.name.as_str());
    html! {
        details open[offer.text && work.needs_person()] {
            summary { (label(offer)) }
            form.answers method="post" action="/console/machine" {
                (hidden(work, offer, seal))
                p.field {
                    label for=(id) {
                        @if offer.returns { "What is to be changed" }
                        @else if offer.takes_comment() { "Comment" }
                        @else { "Message" }
                    }
                    textarea id=(id) name="text" rows="3" required[offer.text] {}
                }
                button type="submit" { (label(offer)) }
            }
        }
    }
}

fn hidden(work: &OpenWork, offer: &NeedAction, seal: &Seal<'_>) -> Markup {
    html! {
        (seal.fields())
        (forms::hidden("id", &work.id))
        (forms::hidden("command", &offer.command.join("\n")))
    }
}

/// The label of an action, as a button begins.
fn label(offer: &NeedAction) -> String {
    let mut label = offer.label.chars();
    label.next().map_or_else(String::new, |first| first.to_uppercase().chain(label).collect())
}
