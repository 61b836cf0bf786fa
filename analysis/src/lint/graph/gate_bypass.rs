//! C12: transitions bypass a gate, and do not ask for what it asks for.

use std::collections::BTreeSet;

use orange_core::{Actor, StateId, TransitionId, check_section};

use super::C12;
use crate::lint::Facts;
use crate::lint::exits::text::all_of;
use crate::search::task::ABSENT;
use crate::search::task::MAX_SECTIONS;
use crate::search::{ConfigurationId, Edge, EdgeId, SearchStep};
use orange_codegen::catalogue::A10;
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::{Gate, SectionGate, Transition};

/// Steps that are looked at for all gates together.
const MAX_STEPS: usize = 2_000_000;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let entries = Entries::of(facts);
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
        // Gates of one transition have one cause, and so have those on one section.
        let declared = gated.transition.declaration;
        let is_new = [(last, Err(declared)), (last, Ok(gated.section))].map(|it| reported.insert(it));
        if is_new == [true; 2] {
            found.push(finding(facts, &gated, &round));
        }
    }
    found
}

/// A transition with a gate that an absent section does not pass.
struct Gated<'f> {
    transition: &'f Transition,
    gate: &'f SectionGate,
    /// The number of its section.
    section: usize,
}

fn gated<'f>(facts: &Facts<'f>) -> impl Iterator<Item = Gated<'f>> {
    let (machine, search) = (facts.machine, facts.search);
    let all = (0u32..).map(TransitionId).zip(facts.transitions.iter().copied());
    let leading_on = all.filter(|(_, transition)| transition.from.value != transition.to.value);
    leading_on.flat_map(move |(id, transition)| {
        // Of several sections of which one is enough, none is needed.
        let needed = |gate: &'f Gate| match gate {
            Gate::Section(gate) => Some(gate),
            Gate::AnySection(_) | Gate::Command(_) | Gate::Checks(_) => None,
        };
        let asked = machine.transition(id).gates.iter().zip(&transition.gates);
        let asked = asked.filter_map(move |(asked, gate)| Some((asked.sections().first()?, needed(gate)?)));
        let asked = asked.filter(|(asked, _)| check_section(asked, "", &[]).is_err());
        asked.filter_map(move |(asked, gate)| {
            let section = search.sections.find(asked.section)?;
            Some(Gated { transition, gate, section })
        })
    })
}

/// The configurations by state, and the states that are entered while a section is absent.
struct Entries {
    sorted: Vec<ConfigurationId>,
    /// By state, then by section: how many states it is entered from, none, one, or more.
    without: Vec<[EnteredFrom; MAX_SECTIONS]>,
}

/// From where a state is entered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EnteredFrom {
    Nowhere,
    Only(StateId),
    Several,
}

impl Entries {
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

    /// Whether its target is entered from elsewhere without its section.
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

/// Whether an agent may ask for this step, and the section is absent before it and after it.
fn asks_nothing(facts: &Facts<'_>, edge: &Edge, section: usize) -> bool {
    let SearchStep::Request { transition, .. } = edge.step else { return false };
    let by = facts.transition(transition).by;
    let absent = |id: ConfigurationId| facts.search.task(id).section(section).content == ABSENT;
    (by.allows(Actor::Worker) || by.allows(Actor::Reviewer)) && absent(edge.from) && absent(edge.to)
}

/// A shortest path from where the gate stands to what is behind it, of two steps or more, by requests alone.
fn round(facts: &Facts<'_>, entries: &Entries, gated: &Gated<'_>, budget: &mut usize) -> Option<Vec<EdgeId>> {
    let search = facts.search;
    let (from, to) = (gated.transition.from.value, gated.transition.to.value);
    let absent = |id: &ConfigurationId| search.task(*id).section(gated.section).content == ABSENT;
    let enters = |edge: &Edge| search.task(edge.to).status == to;
    let taken = |edge: &Edge| {
        let directly = search.task(edge.from).status == from && enters(edge);
        !directly && asks_nothing(facts, edge, gated.section)
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
    let (section, to) = (&gated.gate.section.value, facts.name(last.to.value));
    let message = format!(
        "{} leads round the gate of {}: a task comes to `{to}` without `{section}`",
        facts.arrow(last),
        facts.arrow(gated.transition)
    );
    let first = round.first().map_or(0, |id| facts.search.edge(*id).from);
    let run: Vec<EdgeId> = facts.search.run_to(first).into_iter().chain(round.iter().copied()).collect();
    let found = Diagnostic::new(&C12, facts.first_line(last.span), message).label(
        facts.first_line(gated.gate.place),
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
