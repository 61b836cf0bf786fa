//! One attempt: what has come of it, what it has changed, and what its agent has said and done.

use maud::{Markup, html};

use super::attempts::Tried;
use super::{ConsolePage, NavigationTab, diff, text};
use crate::host::StoredMission;

/// Limits of its diff and its transcript on this page, in bytes.
const DIFF: usize = 52_000;
const TRANSCRIPT: usize = 28_000;

/// An attempt with its texts.
pub struct AttemptPage<'a> {
    pub stored: &'a StoredMission,
    /// The name of its step.
    pub step: &'a str,
    /// Its name: that of its step, with its number.
    pub title: String,
    pub tried: Tried<'a>,
    /// Diff of its changes, if its crab has sent that.
    pub diff: Option<String>,
    /// Transcript of its agent, if its crab has sent that.
    pub transcript: Option<String>,
}

impl AttemptPage<'_> {
    pub fn page(&self) -> ConsolePage<'_> {
        ConsolePage {
            title: &self.title,
            tab: NavigationTab::Elsewhere,
            live: Some(self.stored.row.id.as_str()),
            says: format!("{} is {}.", self.title, self.tried.word()),
            content: self.content(),
        }
    }

    fn content(&self) -> Markup {
        let row = &self.stored.row;
        let step = format!("/console/missions/{}/steps/{}", row.id, self.step);
        let address = format!("{step}/{}", self.tried.number());
        html! {
            p.back { a href={ "/console/missions/" (row.id) } dir="auto" { "← " (text::line(&row.summary)) } }
            p.back { a href=(step) { "← " (text::line(self.step)) ", all attempts" } }
            h1 { (text::line(self.step)) " " span.number { "#" (self.tried.number()) } }
            (self.tried.alone())
            section #diff aria-labelledby="diff-title" {
                h2 #diff-title { "Diff" }
                (self.changes(&address))
            }
            section #transcript aria-labelledby="transcript-title" {
                h2 #transcript-title { "Transcript" }
                (self.said(&address))
            }
        }
    }

    fn changes(&self, address: &str) -> Markup {
        let Some(diff) = self.diff.as_deref() else { return self.none() };
        if diff.trim().is_empty() {
            return html! { p.empty { "It has changed nothing." } };
        }
        let (shown, is_cut) = diff::shown(diff, DIFF);
        html! {
            p.note { "The lines that this attempt has added to the branch or removed from it." }
            (shown)
            @if is_cut { p { "The rest is not shown here." } }
            p { a href={ (address) "/diff" } { "The whole diff" } " (" (text::size(diff.len())) ", as plain text)" }
        }
    }

    fn said(&self, address: &str) -> Markup {
        let Some(transcript) = self.transcript.as_deref() else { return self.none() };
        let (end, is_cut) = text::end(transcript, TRANSCRIPT);
        html! {
            @if is_cut { p.note { "Its end. What comes before is not shown here." } }
            pre.text dir="auto" { (text::visible(end)) }
            p { a href={ (address) "/transcript" } { "The whole transcript" } " (" (text::size(transcript.len())) ", as plain text)" }
        }
    }

    fn none(&self) -> Markup {
        html! {
            p.empty {
                @if self.tried.has_ended() { "Its crab has sent none." }
                @else { "Its crab sends it when its agent has ended." }
            }
        }
    }
}
