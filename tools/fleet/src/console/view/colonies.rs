//! Colonies and their crabs: who holds which role, since when, doing what, and what is wrong.

use std::collections::BTreeSet;

use maud::{Markup, html};
use orange_core::scheduler::{Ability, Crab};

use super::words::{Tone, counted};
use super::{ConsolePage, NavigationTab, badge, text, time};
use crate::host::{ColonyState, Millis};
use crate::serve::without_secret;

/// After so long without a word a crab is shown as silent. Leases do not depend on it.
const SILENT: Millis = 120_000;

/// Number of crabs that a page of one colony shows.
const CRABS: usize = 200;

/// A step that a crab has, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrabWork {
    pub crab: String,
    pub mission: String,
    /// Summary of the mission.
    pub summary: String,
    /// The name of the step.
    pub step: String,
    /// The number of the attempt.
    pub attempt: u32,
    /// True if the crab has accepted it.
    pub is_accepted: bool,
    /// Start, if that is known.
    pub since: Option<Millis>,
}

/// This page of all colonies, or of one.
pub struct ColoniesPage<'c> {
    /// The colonies, each with what its crabs do.
    pub colonies: &'c [(ColonyState, Vec<CrabWork>)],
    /// True if it shows one colony alone.
    pub is_one: bool,
    pub now: Millis,
}

impl ColoniesPage<'_> {
    pub fn page(&self) -> ConsolePage<'_> {
        let one = self.colonies.first().filter(|_| self.is_one);
        let crabs: usize = self.colonies.iter().map(|it| it.0.scheduler.crabs.len()).sum();
        let busy: usize = self.colonies.iter().map(|it| it.1.len()).sum();
        ConsolePage {
            title: one.map_or("Colonies", |it| it.0.colony.name.as_str()),
            tab: NavigationTab::Colonies,
            live: Some(""),
            says: format!("{}, {busy} at work.", counted(crabs, "crab", "crabs")),
            content: self.content(),
        }
    }

    fn content(&self) -> Markup {
        html! {
            @if self.is_one { p.back { a href="/console/colonies" { "← Colonies" } } }
            h1 {
                @match self.colonies.first().filter(|_| self.is_one) {
                    Some((state, _)) => { (text::inline(&state.colony.name)) }
                    None => { "Colonies" }
                }
            }
            @if self.colonies.is_empty() {
                p.empty { "There is no colony yet. " code { "orange-fleet colony create NAME --repository ADDRESS" } " makes one." }
            }
            @for (state, work) in self.colonies { (self.colony(state, work)) }
        }
    }

    fn colony(&self, state: &ColonyState, work: &[CrabWork]) -> Markup {
        let colony = &state.colony;
        let waiting: u64 = state.waiting.iter().map(|it| it.1).sum();
        html! {
            section.card id={ "colony-" (colony.id) } aria-label={ "Colony " (text::line(&colony.name)) } {
                @if !self.is_one {
                    h2 { a href={ "/console/colonies/" (colony.id) } { (text::inline(&colony.name)) } }
                }
                p.facts {
                    (text::inline(&without_secret(&colony.repository)))
                    @if let Some(base) = &colony.base { ", from " (text::inline(base)) }
                    " · " a href={ "/console/missions?colony=" (colony.id) } { "missions" }
                }
                p.facts {
                    @if waiting == 0 { "No step waits for a crab." }
                    @else {
                        (counted(waiting as usize, "step waits", "steps wait")) ": "
                        @for (at, (role, count)) in state.waiting.iter().enumerate() {
                            @if at > 0 { ", " } (count) " for " (text::inline(role))
                        }
                    }
                }
                (self.crabs(state, work))
            }
        }
    }

    fn crabs(&self, state: &ColonyState, work: &[CrabWork]) -> Markup {
        let crabs = &state.scheduler.crabs;
        html! {
            @if crabs.is_empty() {
                p.empty { "It has no crab. " code { "orange-fleet crab" } " on a machine makes one." }
            } @else {
                table.list role="table" {
                    caption.unseen { "The crabs of " (text::line(&state.colony.name)) }
                    thead role="rowgroup" { tr role="row" {
                        @for name in ["Crab", "Roles", "Doing", "Last heard of"] {
                            th role="columnheader" scope="col" { (name) }
                        }
                    } }
                    tbody role="rowgroup" {
                        @for (id, crab) in crabs.iter().take(CRABS) { (self.crab(state, id, crab, work)) }
                    }
                }
                @if crabs.len() > CRABS { p.note { "And " (crabs.len() - CRABS) " more." } }
            }
        }
    }

    fn crab(&self, state: &ColonyState, id: &str, crab: &Crab, work: &[CrabWork]) -> Markup {
        let known = state.crabs.iter().find(|it| it.0 == id);
        let has = work.iter().find(|it| it.crab == id);
        html! {
            tr role="row" id={ "crab-" (id) } {
                th role="rowheader" scope="row" {
                    (text::inline(known.map_or(id, |it| it.1.as_str())))
                    " " span.sub { code { (id) } }
                }
                td role="cell" {
                    (text::line(&crab.roles.join(", ")))
                    @if !crab.can(&BTreeSet::from([Ability::Wall])) { " " span.sub { "no walls" } }
                }
                td.full role="cell" {
                    (doing(crab, has))
                    @if let Some(fault) = &crab.fault { " " span.sub.fault dir="auto" { "fault: " (text::line(fault)) } }
                }
                td role="cell" data-label="heard of" {
                    @match known {
                        Some((_, _, heard)) => {
                            (time::at(*heard))
                            // Who waits for work is connected, and has nothing to say.
                            @if self.now - heard > SILENT && !crab.is_idle() { " " span.sub.fault { "silent for " (time::duration(*heard, self.now)) } }
                        }
                        None => { "–" }
                    }
                }
            }
        }
    }
}

fn doing(crab: &Crab, has: Option<&CrabWork>) -> Markup {
    html! {
        @match has {
            Some(work) => {
                (badge(Tone::Busy, if work.is_accepted { "at work" } else { "offered" })) " "
                a href={ "/console/missions/" (work.mission) "#a-" (work.step) "-" (work.attempt) } {
                    (text::line(&work.step)) " #" (work.attempt)
                }
                span.sub dir="auto" { " " (text::line(&work.summary)) }
                @if let Some(since) = work.since { span.sub { " since " (time::at(since)) } }
            }
            None if crab.fault.is_some() => { (badge(Tone::Bad, "at fault")) }
            None if crab.is_parked => { (badge(Tone::Good, "free")) }
            None => { (badge(Tone::Calm, "not ready")) }
        }
    }
}
