//! C12: transitions lead around a gate, and none of them has a gate that asks for its section or program.

use std::collections::BTreeSet;

use orange_core::{self as core, Actor, StateId, TransitionId, check_section};

use super::C12;
use crate::lint::Facts;
use crate::lint::exits::text::all_of;
use crate::search::task::{ABSENT, Agent, MAX_SECTIONS};
use crate::search::{ConfigurationId, Edge, EdgeId, SearchStep};
use orange_codegen::catalogue::A10;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{Gate, SectionGate, Transition, Verdict};
use orange_codegen::span::Span;

/// The most steps that are looked at, for all gates together.
const MAX_STEPS: usize = 2_000_000;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let entries = StateEntries::of(facts);
    let (mut found, mut reported) = (Vec::new(), BTreeSet::new());
    let mut budget = MAX_STEPS;
    for gated in gated(facts).filter(|it| entries.may_lead_round(facts, it)) {
        let Some(round) = round(facts, &entries, &gated, &mut budget) else {
            if budget == 0 {
                found.push(undecided(facts));
                break;
            }
            continue;
        };
        let last = round.last().and_then(|id| facts.search.edge(*id).step.transition());
        // The gates of one transition are bypassed for one reason, and so are the gates on one section: one finding is enough.
        let declared = gated.transition.declaration;
        let is_new = [(last, Err(declared)), (last, Ok(gated.section))].map(|it| reported.insert(it));
        if is_new == [true; 2] {
            found.push(finding(facts, &gated, &round));
        }
    }
    found.extend(round_reviews(facts, &reported));
    found
}

/// A transition with a gate that refuses an absent section or a failed program.
struct Gated<'f> {
    transition: &'f Transition,
    /// Place of the gate.
    place: Span,
    /// The heading of the section or the command line of the program.
    wants: String,
    /// The number, in the search, of the section or of the program's answer.
    section: usize,
}

fn gated<'f>(facts: &Facts<'f>) -> impl Iterator<Item = Gated<'f>> {
    let (machine, search) = (facts.machine, facts.search);
    let all = (0u32..).map(TransitionId).zip(facts.transitions.iter().copied());
    let leading_on = all.filter(|(_, transition)| transition.from.value != transition.to.value);
    leading_on.flat_map(move |(id, transition)| {
        let asked = machine.transition(id).gates.iter().zip(&transition.gates);
        asked.filter_map(move |(asked, gate)| {
            let (place, wants, section) = match (asked, gate) {
                (core::Gate::Section(asked), Gate::Section(gate)) => {
                    check_section(asked, "", &[]).err()?;
                    (gate.place, gate.section.value.clone(), search.sections.find(asked.section)?)
                }
                (core::Gate::Command(program), Gate::Command(gate)) => {
                    (gate.place, program.argv.join(" "), search.sections.asked_by(asked)?)
                }
                // A gate on one of several sections needs none of them in particular. The checks of a pull request are asked
                // again before the merge.
                _ => return None,
            };
            Some(Gated { transition, place, wants, section })
        })
    })
}

/// The findings about transitions by which a working agent leads its task to the state behind a review, without any review.
fn round_reviews(
    facts: &Facts<'_>,
    reported: &BTreeSet<(Option<TransitionId>, Result<usize, u32>)>,
) -> Vec<Diagnostic> {
    let passes = |it: &&Transition| it.section_gates().any(is_pass);
    let reviews: Vec<&Transition> = facts.transitions.iter().copied().filter(passes).collect();
    let judges: BTreeSet<StateId> = reviews.iter().map(|it| it.from.value).collect();
    let taken: BTreeSet<TransitionId> = if reviews.is_empty() {
        BTreeSet::new()
    } else {
        let edges = facts.search.edges().map(|(_, edge)| edge).filter(|edge| is_agents(facts, edge));
        edges.filter_map(|edge| edge.step.transition()).collect()
    };
    let mut found = Vec::new();
    for id in taken {
        let direct = facts.transition(id);
        let (from, to) = (direct.from.value, direct.to.value);
        let is_known = reported.iter().any(|(last, _)| *last == Some(id));
        let gives_up = facts.gives_up(id) || facts.machine.commands.cancel == Some(to);
        if is_known || gives_up || judges.contains(&from) || direct.section_gates().any(is_pass) {
            continue;
        }
        // The review is of work in `from` only if a transition leads from there to the review.
        let leads_to = |judge: StateId| facts.machine.between(from, judge).next().is_some();
        let review = reviews.iter().find(|it| it.to.value == to && leads_to(it.from.value));
        if let Some((review, gate)) =
            review.and_then(|it| Some((it, it.section_gates().find(|gate| is_pass(gate))?)))
        {
            found.push(round_review(facts, id, review, gate));
        }
    }
    found
}

fn is_pass(gate: &SectionGate) -> bool {
    gate.wants(Verdict::PASS.as_str())
}

fn round_review(facts: &Facts<'_>, id: TransitionId, review: &Transition, gate: &SectionGate) -> Diagnostic {
    let direct = facts.transition(id);
    let (arrow, place) = (facts.arrow(direct), facts.first_line(direct.span));
    let (from, to) = (facts.name(direct.from.value), facts.name(direct.to.value));
    let judge = facts.name(review.from.value);
    let message = format!("{arrow} bypasses the review in `{judge}`: an agent moves its own work to `{to}`");
    let takes = |edge: &Edge| is_agents(facts, edge) && edge.step.transition() == Some(id);
    let found = Diagnostic::new(&C12, place, message)
        .label(
            facts.first_line(gate.place),
            format!("1. {} asks for the verdict in `{}`", facts.arrow(review), gate.section.value),
        )
        .label(place, format!("2. {arrow} asks for no verdict"));
    let run = facts.search.first_edge(takes).map(|it| facts.search.run_through(it));
    let found = match run {
        Some(run) => found.trace(facts.tell(&run, "no review".to_owned())),
        None => found,
    };
    found.help(format!(
        "delete it, so that `{from}` leads to `{judge}`; or, if that is for a person to decide, write `by: human`"
    ))
}

/// The configurations by state, and the states that are entered while a section is absent.
struct StateEntries {
    sorted: Vec<ConfigurationId>,
    /// By state, then by section: the states from which it is entered while the section is absent.
    without: Vec<[EnteredFrom; MAX_SECTIONS]>,
}

/// The states from which a state is entered: none, one, or several.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EnteredFrom {
    Nowhere,
    Only(StateId),
    Several,
}

impl StateEntries {
    fn of(facts: &Facts<'_>) -> Self {
        let mut without = vec![[EnteredFrom::Nowhere; MAX_SECTIONS]; facts.workflow.states.len()];
        for (_, edge) in facts.search.edges() {
            let (from, to) = (facts.search.task(edge.from).status, facts.search.task(edge.to).status);
            for section in (0..facts.search.sections.len()).filter(|it| asks_nothing(facts, edge, *it)) {
                let entered = &mut without[usize::from(to.0)][section];
                *entered = match *entered {
                    EnteredFrom::Nowhere => EnteredFrom::Only(from),
                    EnteredFrom::Only(other) if other == from => EnteredFrom::Only(from),
                    EnteredFrom::Only(_) | EnteredFrom::Several => EnteredFrom::Several,
                };
            }
        }
        let mut sorted: Vec<_> = facts.search.configurations().map(|(id, _)| id).collect();
        sorted.sort_by_key(|id| facts.search.task(*id).status);
        Self { sorted, without }
    }

    /// True if the target of the transition is entered from another state while the section of its gate is absent.
    fn may_lead_round(&self, facts: &Facts<'_>, gated: &Gated<'_>) -> bool {
        let (from, to) = (gated.transition.from.value, gated.transition.to.value);
        facts.nearest[usize::from(from.0)].is_some()
            && match self.without[usize::from(to.0)][gated.section] {
                EnteredFrom::Nowhere => false,
                EnteredFrom::Only(only) => only != from,
                EnteredFrom::Several => true,
            }
    }

    fn in_state(&self, facts: &Facts<'_>, state: StateId) -> impl Iterator<Item = ConfigurationId> {
        let status = |id: &ConfigurationId| facts.search.task(*id).status;
        let start = self.sorted.partition_point(|it| status(it) < state);
        let length = self.sorted[start..].partition_point(|it| status(it) == state);
        self.sorted[start..start + length].iter().copied()
    }
}

/// True if an agent that is alive may ask for this step, and the section is absent before it and not written in it.
fn asks_nothing(facts: &Facts<'_>, edge: &Edge, section: usize) -> bool {
    let is_absent = facts.search.task(edge.from).section(section).content == ABSENT;
    is_absent
        && is_agents(facts, edge)
        && edge.step.wrote().is_none_or(|it| usize::from(it.section) != section)
}

/// True if an agent that is alive may ask for this step.
fn is_agents(facts: &Facts<'_>, edge: &Edge) -> bool {
    let SearchStep::Request { transition, .. } = edge.step else { return false };
    let (by, task) = (facts.transition(transition).by, facts.search.task(edge.from));
    [Actor::Worker, Actor::Reviewer].into_iter().any(|it| by.allows(it) && task.agent(it) == Agent::Live)
}

/// A shortest path of requests, of at least two steps, from the state before the gate to the state behind it.
fn round(
    facts: &Facts<'_>,
    entries: &StateEntries,
    gated: &Gated<'_>,
    budget: &mut usize,
) -> Option<Vec<EdgeId>> {
    let search = facts.search;
    let (from, to) = (gated.transition.from.value, gated.transition.to.value);
    let absent = |id: &ConfigurationId| search.task(*id).section(gated.section).content == ABSENT;
    let enters = |edge: &Edge| search.task(edge.to).status == to;
    let taken = |edge: &Edge| {
        let directly = search.task(edge.from).status == from && enters(edge);
        // An agent that gives up does not pass its work on.
        let gives_up = || enters(edge) && edge.step.transition().is_some_and(|id| facts.gives_up(id));
        !directly && asks_nothing(facts, edge, gated.section) && !gives_up()
    };
    let starts = entries.in_state(facts, from).filter(absent);
    search.walk_from(starts, taken, enters, budget)
}

fn finding(facts: &Facts<'_>, gated: &Gated<'_>, round: &[EdgeId]) -> Diagnostic {
    let path: Vec<&Transition> = round
        .iter()
        .filter_map(|id| Some(facts.transition(facts.search.edge(*id).step.transition()?)))
        .collect();
    let last = path.last().copied().unwrap_or(gated.transition);
    let (section, to) = (&gated.wants, facts.name(last.to.value));
    let message = format!(
        "{} bypasses the gate of {}: a task comes to `{to}` without `{section}`",
        facts.arrow(last),
        facts.arrow(gated.transition)
    );
    let first = round.first().map_or(0, |id| facts.search.edge(*id).from);
    let run: Vec<EdgeId> = facts.search.run_to(first).into_iter().chain(round.iter().copied()).collect();
    let found = Diagnostic::new(&C12, facts.first_line(last.span), message).label(
        facts.first_line(gated.place),
        format!("1. {} asks for `{section}`", facts.arrow(gated.transition)),
    );
    let found = (2..).zip(&path).fold(found, |found, (number, transition)| {
        let words = format!("{number}. {} does not", facts.arrow(transition));
        found.label(facts.first_line(transition.span), words)
    });
    found.trace(facts.tell(&run, format!("no `{section}`"))).help(format!(
        "give {} the gate, too, `gate: {}`, or, if that is for a person to decide, `by: human`",
        facts.arrow(last),
        all_of(&gated.transition.gates)
    ))
}

fn undecided(facts: &Facts<'_>) -> Diagnostic {
    let message = format!(
        "whether transitions bypass every gate was not decided: there are more than {MAX_STEPS} steps to look at"
    );
    Diagnostic::new(&A10, facts.workflow.name.span, message).help("split the workflow")
}
