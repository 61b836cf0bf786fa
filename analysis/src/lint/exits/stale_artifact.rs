//! C49: a gate or an exit rule accepts what was written in an earlier visit to its state.

use std::collections::{BTreeMap, BTreeSet};

use orange_core::{StateId, TransitionId};

use super::C49;
use super::coming_back::{self, ComingBack, SectionSteps};
use super::text::wishes;
use crate::lint::Facts;
use crate::search::components::Components;
use crate::search::{Edge, EdgeId, ExitResult, SearchStep};
use orange_codegen::catalogue::A10;
use orange_codegen::diag::{Diagnostic, Fix};
use orange_codegen::edit;
use orange_codegen::model::{SectionGate, Transition};
use orange_codegen::source::Format;

/// A state, and the number of a section that is accepted there.
type SectionInState = (StateId, usize);

/// The gate or exit rule that accepts a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    Gate(TransitionId),
    /// An exit rule whose transition has no gate on that section.
    Rule(usize),
}

/// Steps and rules that accept one section in one state.
#[derive(Debug, Default)]
struct SectionVisits {
    steps: SectionSteps<Owner>,
    /// By transition: the exit rule that takes it and accepts the section as its gate does.
    rules: BTreeMap<TransitionId, usize>,
}

/// A gate or an exit rule that accepts a stale section, and a run to that step.
struct Acceptance<'a> {
    place: SectionInState,
    visits: &'a SectionVisits,
    owner: Owner,
    run: &'a [EdgeId],
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let places: Vec<_> = places(facts).into_iter().filter(|(_, it)| !it.steps.accepting.is_empty()).collect();
    if places.is_empty() {
        return Vec::new();
    }
    let distances = coming_back::distances(facts.search);
    let mut budget = coming_back::budget(facts.search);
    let mut found = Vec::new();
    for (looked_at, (place, visits)) in places.iter().enumerate() {
        let runs = ComingBack::of(facts.search, place.1).runs(&visits.steps, &distances, &mut budget);
        for (owner, run) in &runs {
            found.extend(finding(facts, &Acceptance { place: *place, visits, owner: *owner, run }));
        }
        if budget == 0 {
            found.push(undecided(facts, places.len() - looked_at));
            break;
        }
    }
    found
}

/// By state: true if transitions lead back to it.
fn comes_back(facts: &Facts<'_>) -> Vec<bool> {
    let arrows = facts.machine.transitions.iter().map(|it| (u32::from(it.from.0), u32::from(it.to.0)));
    let components = Components::of(facts.machine.states.len(), arrows);
    let leads_back =
        |from: StateId| facts.machine.targets(from).any(|to| components.together(from.0.into(), to.0.into()));
    facts.states().map(|(state, _)| leads_back(state)).collect()
}

/// By state: true if something that was accepted there can be accepted there again: some gate or rule does not want something new, or
/// a rule takes a transition without a gate, so that nothing records what it has accepted.
fn accepts_again(facts: &Facts<'_>) -> Vec<bool> {
    let accepts = |state: StateId| {
        let is_unrecorded = |id: TransitionId| {
            facts.machine.transition(id).section_gates().next().is_none() && facts.is_ruled(id)
        };
        facts.machine.section_gates_of(state).any(|gate| !gate.fresh)
            || facts.leaving(state).any(|(id, _)| is_unrecorded(id))
    };
    let states = facts.states().zip(comes_back(facts));
    states.map(|((state, _), comes_back)| comes_back && accepts(state)).collect()
}

/// The steps and rules of every section in every state that may accept one again, collected in one pass over all steps.
fn places(facts: &Facts<'_>) -> BTreeMap<SectionInState, SectionVisits> {
    let mut places: BTreeMap<SectionInState, SectionVisits> = BTreeMap::new();
    let accepts_again = accepts_again(facts);
    let may_accept = |edge: &Edge| accepts_again[usize::from(facts.search.task(edge.from).status.0)];
    for (id, edge) in facts.search.edges().filter(|(_, edge)| may_accept(edge)) {
        let Some(transition) = gated_step(edge).filter(|_| is_started(facts, edge)) else { continue };
        let status = facts.search.task(edge.from).status;
        let gated = facts.deciding().let_through_by(facts, transition, edge);
        let rule = facts.deciding().rule(id);
        let ruled = rule.map(|it| facts.deciding().ruled_by(facts, it, edge)).unwrap_or_default();
        // Gates that want something new accept nothing of an earlier visit.
        let is_gated = !gated.is_empty();
        let counts = |section: &usize| !facts.search.sections.get(*section).is_forgotten;
        for section in gated.iter().filter(counts) {
            let visits = places.entry((status, section)).or_default();
            visits.steps.passing.push(id);
            // The reason for giving a task up can hold a second time, so it need not be new.
            if is_stale(facts, edge, section) && !facts.gives_up(transition) {
                visits.steps.accepting.insert(id, Owner::Gate(transition));
                visits.rules.extend(rule.filter(|_| ruled.has(section)).map(|rule| (transition, rule)));
            }
        }
        let Some(rule) = rule else { continue };
        for section in ruled.without(gated).iter().filter(counts) {
            let visits = places.entry((status, section)).or_default();
            // Without a gate, the transition does not record what it has accepted.
            if !is_gated {
                visits.steps.passing.push(id);
            }
            if is_stale(facts, edge, section) || (!is_gated && stands(edge, section)) {
                visits.steps.accepting.insert(id, Owner::Rule(rule));
            }
        }
    }
    places
}

/// The transition of a step, if its gate was asked.
fn gated_step(edge: &Edge) -> Option<TransitionId> {
    match edge.step {
        SearchStep::Request { transition, .. }
        | SearchStep::Exit { outcome: ExitResult::Advance(transition), .. } => Some(transition),
        SearchStep::Exit {
            outcome:
                ExitResult::Escalate(_) | ExitResult::Crash { .. } | ExitResult::Marked | ExitResult::Waits { .. },
            ..
        }
        | SearchStep::Start
        | SearchStep::Write(_)
        | SearchStep::Commit(_)
        | SearchStep::EndWhileWaiting(_)
        | SearchStep::Failure { .. }
        | SearchStep::Retry { .. }
        | SearchStep::Respawn => None,
    }
}

/// True if work on the task can have begun. A task that was created past the initial state begins when it gets its worktree.
fn is_started(facts: &Facts<'_>, edge: &Edge) -> bool {
    facts.search.is_ordinary(edge.from) || facts.search.task(edge.from).workspace.is_some()
}

fn is_stale(facts: &Facts<'_>, edge: &Edge, section: usize) -> bool {
    stands(edge, section) && facts.search.task(edge.from).section(section).seen
}

/// True if the section is not written in this step.
fn stands(edge: &Edge, section: usize) -> bool {
    edge.step.wrote().is_none_or(|it| usize::from(it.section) != section)
}

fn finding(facts: &Facts<'_>, accepted: &Acceptance<'_>) -> Option<Diagnostic> {
    let heading = facts.search.sections.get(accepted.place.1).heading;
    let state = facts.name(accepted.place.0);
    let (who, gate, rule) = acceptors(facts, accepted)?;
    let message = format!("{who} accepts a `{heading}` that was written in an earlier visit to `{state}`");
    let place = facts.first_line(gate.place);
    let mut story = Vec::new();
    match let_through(facts, accepted).filter(|(first, _)| first.place != gate.place) {
        Some((first, arrow)) => {
            story.push((facts.first_line(first.place), format!("the gate of {arrow} lets it through")));
            story.push((place, "accepts the same once more".to_owned()));
        }
        None => story.push((place, "lets it through, and in the next visit the same once more".to_owned())),
    }
    let ruled = rule.map(|rule| facts.first_line(rule.place));
    story.extend(ruled.map(|span| (span, "so does the exit rule, when the agent ends".to_owned())));
    let found = story
        .into_iter()
        .zip(1..)
        .fold(Diagnostic::new(&C49, place, message), |found, ((span, words), number)| {
            found.label(span, format!("{number}. {words}"))
        });
    let (help, fix) = mend(facts, accepted, gate, rule);
    Some(
        found
            .trace(facts.tell(accepted.run, format!("the `{heading}` is the one of the earlier visit")))
            .help(help)
            .fix_if(fix),
    )
}

/// Help text for the finding, and the edits if they are certain.
fn mend<'g>(
    facts: &Facts<'_>,
    accepted: &Acceptance<'_>,
    gate: &'g SectionGate,
    rule: Option<&'g SectionGate>,
) -> (String, Option<Fix>) {
    let why = "what was let through once then has to be rewritten";
    let ungated = ungated(facts, accepted);
    let arrows: BTreeSet<String> = ungated.iter().map(|it| facts.arrow(it)).collect();
    let asks = wishes(gate, true);
    let help = match (arrows.is_empty(), rule.is_some(), gate.fresh) {
        (true, true, _) => format!("add `fresh: true` to both: {why}"),
        (true, false, _) => format!("add `fresh: true` to it: {why}"),
        (false, _, is_fresh) => {
            let arrows = arrows.into_iter().collect::<Vec<_>>().join(" and ");
            let here = if is_fresh { "" } else { ", and add `fresh: true` here" };
            format!("write `gate: {asks}` into {arrows}{here}: {why}")
        }
    };
    // A named gate can be both the gate and the artifact of the rule.
    let rule = rule.filter(|it| it.span != gate.span);
    let fresh = std::iter::once(gate).chain(rule).filter(|it| !it.fresh);
    let fresh = fresh.map(|it| edit::put_first(facts.source, it.span, ("fresh", "true")));
    let gates = ungated.iter().map(|it| {
        let is_alone = facts.transitions.iter().filter(|other| other.span == it.span).count() == 1;
        let put = || edit::put_first(facts.source, it.span, ("gate", &asks));
        (is_alone && facts.source.format == Format::Yaml).then(put).flatten()
    });
    let edits = fresh.chain(gates).collect::<Option<_>>();
    let title = "ask for fresh content".to_owned();
    (help, edits.map(|edits| Fix { title, edits, safe: false }))
}

/// The transitions of an exit rule that have no gate. Only a gate records the content that it accepts.
fn ungated<'f>(facts: &Facts<'f>, accepted: &Acceptance<'_>) -> Vec<&'f Transition> {
    let Owner::Rule(rule) = accepted.owner else { return Vec::new() };
    let targets: Vec<StateId> = facts.exit_rules[rule].outcome.targets().collect();
    let leaving = facts.leaving(accepted.place.0).map(|(_, transition)| transition);
    leaving.filter(|it| targets.contains(&it.to.value) && it.gates.is_empty()).collect()
}

/// The finding that the runs back to a state are too long to search all of them.
fn undecided(facts: &Facts<'_>, places: usize) -> Diagnostic {
    let message = format!(
        "whether artifacts of earlier visits are accepted was not decided everywhere: {places} sections of states are left, \
         and the runs that come back there are too long"
    );
    Diagnostic::new(&A10, facts.workflow.name.span, message)
        .help("mend what is found and check again, or split the workflow")
}

/// Words for the gate or rule that accepts the section, then the gate or artifact that does, then the artifact of an exit rule
/// that accepts it as well.
fn acceptors<'f>(
    facts: &Facts<'f>,
    accepted: &Acceptance<'_>,
) -> Option<(String, &'f SectionGate, Option<&'f SectionGate>)> {
    let heading = facts.search.sections.get(accepted.place.1).heading;
    match accepted.owner {
        Owner::Gate(id) => {
            let transition = facts.transition(id);
            let rule = accepted.visits.rules.get(&id).and_then(|rule| artifact(facts, *rule, heading));
            Some((format!("the gate of {}", facts.arrow(transition)), on(transition, heading)?, rule))
        }
        Owner::Rule(rule) => Some(("this exit rule".to_owned(), artifact(facts, rule, heading)?, None)),
    }
}

/// The gate of a transition that reads a section.
fn on<'f>(transition: &'f Transition, heading: &str) -> Option<&'f SectionGate> {
    transition.section_gates().find(|it| it.section.value == heading)
}

/// The artifact of an exit rule that reads this section.
fn artifact<'f>(facts: &Facts<'f>, rule: usize, heading: &str) -> Option<&'f SectionGate> {
    let mut artifacts = facts.exit_rules[rule].condition.section_gates();
    artifacts.find(|it| it.section.value == heading)
}

/// The gate that accepted the section in the earlier visit, and the arrow of its transition. It is the last such gate of the run
/// before the final step.
fn let_through<'f>(facts: &Facts<'f>, accepted: &Acceptance<'_>) -> Option<(&'f SectionGate, String)> {
    let before = accepted.run.iter().rev().skip(1);
    let id = before.copied().find(|id| accepted.visits.steps.passing.contains(id))?;
    let transition = facts.transition(facts.search.edge(id).step.transition()?);
    Some((on(transition, facts.search.sections.get(accepted.place.1).heading)?, facts.arrow(transition)))
}
