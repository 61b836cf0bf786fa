//! The pages of the console, as pure functions of their values.

pub mod attempt;
pub mod attempts;
pub mod colonies;
pub mod diff;
pub mod failed;
pub mod forms;
pub mod history;
pub mod inbox;
pub mod login;
pub mod machine;
pub mod mission;
pub mod missions;
pub mod picture;
pub mod question;
pub mod start;
pub mod step;
#[cfg(test)]
mod tests;
pub mod text;
pub mod time;
pub mod words;
pub mod workflows;

use maud::{DOCTYPE, Markup, html};

use self::words::Tone;
use super::assets;

/// Place of a page in the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NavigationTab {
    /// Missions and crabs that need a person.
    Inbox,
    /// Every mission.
    Missions,
    /// Colonies and their crabs.
    Colonies,
    /// The work of the gateway's own machine.
    Machine,
    /// Workflows that missions follow.
    Workflows,
    /// The form that starts a mission.
    Start,
    /// No tab, for a page outside of the navigation.
    Elsewhere,
}

/// Content of the frame around every page of a person who has signed in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageFrame {
    /// Number of missions that wait for an answer.
    pub waiting: u64,
    /// Number of messages that the gateway did not understand.
    pub alarms: u64,
    /// Number of the newest record at the time of the answer.
    pub seq: u64,
    /// CSRF token that forms carry, so that no other site can send them.
    pub csrf: String,
    /// True if the work of the gateway's own machine is shown.
    pub has_machine: bool,
}

pub struct ConsolePage<'p> {
    pub title: &'p str,
    /// Place in the navigation.
    pub tab: NavigationTab,
    /// Id of the mission whose news change this page; `Some("")` if all news do, `None` if it does not change.
    pub live: Option<&'p str>,
    /// Sentence about the last change, for screen readers, which read it out when it differs from the one before.
    pub says: String,
    pub content: Markup,
}

const TABS: [(NavigationTab, &str, &str); 5] = [
    (NavigationTab::Inbox, "/console", "Inbox"),
    (NavigationTab::Missions, "/console/missions", "Missions"),
    (NavigationTab::Colonies, "/console/colonies", "Colonies"),
    (NavigationTab::Workflows, "/console/workflows", "Workflows"),
    (NavigationTab::Machine, "/console/machine", "This machine"),
];

impl ConsolePage<'_> {
    /// This page for a person who has signed in.
    pub fn render(&self, frame: &PageFrame) -> Markup {
        let live = self.live.map(|mission| (mission, frame.seq, assets::news_address()));
        let mark = if frame.waiting > 0 { format!("({}) ", frame.waiting) } else { String::new() };
        html! {
            (DOCTYPE)
            html lang="en" {
                (head(&format!("{mark}{}", self.title)))
                body data-mission=[live.map(|it| it.0)] data-after=[live.map(|it| it.1)] data-stream=[live.map(|it| it.2)] {
                    a.skip href="#main" { "Skip to the content" }
                    header.top {
                        a.brand href="/console" { "Orange" }
                        nav aria-label="Main" { ul { @for tab in tabs(frame) { (self.tab(tab, frame)) } } }
                        a.button
                            href="/console/start"
                            aria-current=[(self.tab == NavigationTab::Start).then_some("page")]
                        { "Start a mission" }
                        form method="post" action="/console/logout" {
                            (forms::hidden("csrf", &frame.csrf))
                            button.plain type="submit" { "Sign out" }
                        }
                    }
                    p #connection.banner role="status" {}
                    p #says.unseen role="status" {}
                    main #main tabindex="-1" data-says=(self.says) {
                        @if frame.alarms > 0 { (alarms(frame.alarms)) }
                        (self.content)
                    }
                    noscript { p.note { "Reload this page to see what has changed." } }
                }
            }
        }
    }

    fn tab(&self, (tab, address, name): (NavigationTab, &str, &str), frame: &PageFrame) -> Markup {
        let current = (tab == self.tab).then_some("page");
        html! {
            li {
                a href=(address) aria-current=[current] {
                    (name)
                    @if tab == NavigationTab::Inbox && frame.waiting > 0 {
                        " " span.count { (frame.waiting) span.unseen { " waiting" } }
                    }
                }
            }
        }
    }
}

fn tabs(frame: &PageFrame) -> impl Iterator<Item = (NavigationTab, &'static str, &'static str)> {
    let has_machine = frame.has_machine;
    TABS.into_iter().filter(move |it| has_machine || it.0 != NavigationTab::Machine)
}

/// A page for a visitor who has not signed in.
pub fn outside(title: &str, content: Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(title))
            body {
                header.top { a.brand href="/console" { "Orange" } }
                main #main tabindex="-1" { (content) }
            }
        }
    }
}

/// A status in a word, with its colour.
pub fn badge(tone: Tone, word: &str) -> Markup {
    html! { span.badge.(tone.class()) { (word) } }
}

fn head(title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) " · Orange" }
            link rel="stylesheet" href=(assets::style_address());
            link rel="icon" type="image/svg+xml" href="/console/icon.svg";
            script src=(assets::news_address()) defer {}
            script src=(assets::script_address()) defer {}
        }
    }
}

fn alarms(count: u64) -> Markup {
    html! {
        p.alarm role="alert" {
            (words::counted(count as usize, "message was", "messages were"))
            " set aside, since this gateway does not understand them. Its log names them; a newer gateway may."
        }
    }
}
