//! The tasks and missions of the gateway's own machine, with what each needs and the answers to it.

use maud::{Markup, html};

use super::forms::{self, Seal};
use super::words::{Tone, counted};
use super::{Page, Tab, badge, text};
use crate::console::machine::{Need, Offer, Work};

/// How many characters of an argument or a question are shown.
const ARGUMENT: usize = 2_000;

/// The work of this machine.
pub struct MachinePage<'m> {
    /// Every task and mission that is not over, each with the seal of its forms; those that need a person come first.
    pub work: Vec<(Work, Seal<'m>)>,
    /// What a person has just done.
    pub said: Option<&'static str>,
}

impl MachinePage<'_> {
    /// This page.
    pub fn page(&self) -> Page<'static> {
        let count = self.waiting().count();
        let says =
            format!("{} you on this machine.", counted(count, "piece of work needs", "pieces of work need"));
        Page { title: "This machine", tab: Tab::Machine, live: Some(""), says, content: self.content() }
    }

    fn waiting(&self) -> impl Iterator<Item = &(Work, Seal<'_>)> {
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

    /// What is asked here: while somebody reads it, nothing else takes its place unseen.
    fn questions(&self) -> String {
        let asked = |(work, _): &(Work, Seal<'_>)| {
            let commands = work.need.iter().flat_map(|it| &it.actions).map(|it| it.command.join(" "));
            format!("{} {}", work.id, commands.collect::<Vec<_>>().join(";"))
        };
        self.waiting().map(asked).collect::<Vec<_>>().join("\n")
    }
}

fn card(work: &Work, seal: &Seal<'_>) -> Markup {
    let class = if work.needs_person() { "card ask" } else { "card" };
    html! {
        article class=(class) id={ "work-" (work.id) } aria-labelledby={ "title-" (work.id) } {
            h3 id={ "title-" (work.id) } dir="auto" { (text::line(title(work))) }
            p.facts {
                @if let Some(need) = &work.need { (badge(tone(need), &need.kind)) " " }
                bdi { (facts(work)) }
                @if let Some(address) = work.pr.as_ref().map(|it| it.url.as_str()).filter(|it| it.starts_with("https://")) {
                    " · " a href=(address) rel="noreferrer" { "pull request" }
                }
            }
            @if let Some(failure) = &work.error { p.why dir="auto" { "It cannot be read: " (text::visible(&failure.message)) } }
            @if let Some(need) = &work.need { (asks(work, need, seal)) }
        }
    }
}

fn title(work: &Work) -> &str {
    let names = [&work.summary, &work.branch, &work.id];
    names.into_iter().find(|it| !it.trim().is_empty()).map_or("", String::as_str)
}

/// What is known of it, in one line.
fn facts(work: &Work) -> String {
    let known = [&work.project, &work.branch, &work.workflow, &work.status];
    let known = known.into_iter().chain(&work.step).filter(|it| !it.is_empty());
    text::line(&known.map(String::as_str).collect::<Vec<_>>().join(" · "))
}

fn tone(need: &Need) -> Tone {
    match need.kind.as_str() {
        "crashed" | "stuck" | "conflict" | "checks-red" | "hook-failed" => Tone::Bad,
        "working" => Tone::Busy,
        _ if need.person => Tone::Ask,
        _ => Tone::Calm,
    }
}

/// Why a person is needed, and the answers. Only the first few stand open; a cancel asks once more.
fn asks(work: &Work, need: &Need, seal: &Seal<'_>) -> Markup {
    let possible = || need.actions.iter().filter(|it| it.is_possible());
    let buttons = || possible().filter(|it| !it.takes_text() && it.name != "cancel");
    html! {
        p.why dir="auto" {
            (text::visible(&need.why))
            @if let Some(since) = &need.since { " · since " time datetime=(since) { (since) } }
        }
        @if let Some(argument) = &need.argument {
            pre.text dir="auto" { (text::visible(text::cut(argument, ARGUMENT).0)) }
        }
        @if buttons().next().is_some() {
            div.answers {
                @for offer in buttons() {
                    form method="post" action="/console/machine" {
                        (hidden(work, offer, seal))
                        button type="submit" { (label(offer)) }
                    }
                }
            }
        }
        @for offer in possible().filter(|it| it.takes_text()) { (with_text(work, offer, seal)) }
        @for offer in possible().filter(|it| it.name == "cancel") {
            details {
                summary { "Cancel it" }
                form.answers method="post" action="/console/machine" {
                    (hidden(work, offer, seal))
                    p { "Its agent is ended. The work that is not merged is kept in a backup." }
                    button.danger type="submit" { "Cancel it for good" }
                }
            }
        }
    }
}

fn with_text(work: &Work, offer: &Offer, seal: &Seal<'_>) -> Markup {
    let id = format!("text-{}-{}-{}", work.id, offer.name, offer.to.as_deref().unwrap_or_default());
    html! {
        details open[offer.text && work.needs_person()] {
            summary { (label(offer)) }
            form.answers method="post" action="/console/machine" {
                (hidden(work, offer, seal))
                p.field {
                    label for=(id) { @if offer.returns { "What is to be changed" } @else { "Message" } }
                    textarea id=(id) name="text" rows="3" required[offer.text] {}
                }
                button type="submit" { (label(offer)) }
            }
        }
    }
}

fn hidden(work: &Work, offer: &Offer, seal: &Seal<'_>) -> Markup {
    html! {
        (seal.fields())
        (forms::hidden("id", &work.id))
        (forms::hidden("command", &offer.command.join("\n")))
    }
}

/// An action in words.
fn label(offer: &Offer) -> String {
    match (offer.name.as_str(), offer.to.as_deref()) {
        ("status", Some(to)) if offer.returns => format!("Send it back to {to}"),
        ("status", Some(to)) => format!("Move it to {to}"),
        ("allow", _) => "Allow".to_owned(),
        ("deny", _) => "Deny".to_owned(),
        ("send", _) => "Answer the agent".to_owned(),
        ("spawn", _) => "Start it".to_owned(),
        ("respawn" | "restart", _) => "Start its agent again".to_owned(),
        ("retry-hooks", _) => "Run its hooks again".to_owned(),
        ("seen", _) => "I have seen it".to_owned(),
        ("merge", _) => "Merge".to_owned(),
        ("refresh", _) => "Ask about its pull request now".to_owned(),
        ("continue", _) => "Go on".to_owned(),
        ("accept", _) => "Take the failure as it is".to_owned(),
        ("retry", _) => "Run it again from where it failed".to_owned(),
        (other, _) => other.to_owned(),
    }
}
