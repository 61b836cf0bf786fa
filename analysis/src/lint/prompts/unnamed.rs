//! A part of C82: what an agent may write, by its prompt, so that every way that is then open is one which the prompt does
//! not name.

use std::collections::BTreeMap;

use orange_core::Actor;

use super::C82;
use super::shared::{Prompted, any_of, asked_section, names, prompts, started};
use crate::lint::Facts;
use crate::lint::prompt_facts::{Mood, Start, Target};
use crate::search::{EdgeId, SearchStep, Wrote};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::StateId;

/// In which state an agent is, which one it is, and which section it writes.
type Case = (StateId, Actor, u8);

/// Ways that are open for some content of a section and no others are, with the first step that shows it.
type Open = BTreeMap<Vec<StateId>, EdgeId>;

/// One finding for each prompt that leaves its agent without a way.
pub(super) fn unnamed(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let cases = cases(facts);
    let named = prompts(facts).filter(|it| it.reading.names_a_command());
    named.filter_map(|it| it.starts.iter().find_map(|start| from_start(facts, &it, start, &cases))).collect()
}

/// What is open after each thing that an agent can write, over all runs.
fn cases(facts: &Facts<'_>) -> BTreeMap<Case, Open> {
    let search = facts.search;
    let mut cases: BTreeMap<Case, Open> = BTreeMap::new();
    for (id, task) in search.configurations() {
        let mut open: Vec<(Wrote, Actor, EdgeId, Vec<StateId>)> = Vec::new();
        for (edge, step) in search.numbered_from(id) {
            let SearchStep::Request {
                transition,
                by: by @ (Actor::Worker | Actor::Reviewer),
                wrote: Some(wrote),
            } = step.step
            else {
                continue;
            };
            let to = facts.machine.transition(transition).to;
            match open.iter_mut().find(|(content, agent, ..)| (*content, *agent) == (wrote, by)) {
                Some((.., ways)) => ways.push(to),
                None => open.push((wrote, by, edge, vec![to])),
            }
        }
        for (wrote, by, edge, mut ways) in open {
            ways.sort_unstable();
            cases.entry((task.status, by, wrote.section)).or_default().entry(ways).or_insert(edge);
        }
    }
    cases
}

fn from_start(
    facts: &Facts<'_>,
    it: &Prompted<'_>,
    start: &Start,
    cases: &BTreeMap<Case, Open>,
) -> Option<Diagnostic> {
    let place = start.place;
    let of_start = (place.state, place.actor, 0)..=(place.state, place.actor, u8::MAX);
    let mut unnamed =
        cases.range(of_start).filter(|(case, _)| asks_for(facts, it, case.2)).flat_map(|(_, open)| open);
    if leaves_otherwise(facts, it, start) {
        return None;
    }
    let (ways, edge) = unnamed.find(|(ways, _)| !ways.iter().any(|way| names_way(it, start, *way)))?;
    Some(finding(facts, it, start, (ways, *edge)))
}

fn asks_for(facts: &Facts<'_>, it: &Prompted<'_>, section: u8) -> bool {
    asked_section(it, facts.search.sections.get(usize::from(section)).heading).is_some()
}

/// Whether the prompt names this way, however it speaks of it. A name that is no state may have been meant for it.
fn names_way(it: &Prompted<'_>, start: &Start, way: StateId) -> bool {
    let named =
        it.reading.commands.iter().filter(|it| it.mood != Mood::Negated && it.concerns(start.place.state));
    named.into_iter().any(|it| match it.target {
        Target::State(to) => to == way,
        Target::Open | Target::Unknown => true,
    })
}

/// Whether the agent is told, whatever happens, to take a way that no gate is on. To give up is no such way.
fn leaves_otherwise(facts: &Facts<'_>, it: &Prompted<'_>, start: &Start) -> bool {
    let place = start.place;
    let free = |to| {
        facts
            .machine
            .between(place.state, to)
            .map(|id| facts.machine.transition(id))
            .any(|way| way.gate.is_none() && way.by.allows(place.actor))
    };
    let gives_up = [facts.machine.commands.crash, facts.machine.commands.cancel];
    let mut told = it.reading.told_commands().filter(|(_, to)| !gives_up.contains(&Some(*to)));
    told.any(|(command, to)| !command.conditional && command.concerns(place.state) && free(to))
}

fn finding(
    facts: &Facts<'_>,
    it: &Prompted<'_>,
    start: &Start,
    (ways, edge): (&[StateId], EdgeId),
) -> Diagnostic {
    let (search, name, step) = (facts.search, it.name, facts.search.edge(edge));
    let content = step.step.wrote().map(|wrote| {
        let section = search.sections.get(usize::from(wrote.section));
        format!("`{}` ({})", section.heading, section.contents[usize::from(wrote.content)].label)
    });
    let content = content.unwrap_or_default();
    let named = any_of(&names(facts, ways.iter().copied()));
    let message = format!("`{name}` does not name the way that is open after {content}: {named}");
    let (place, words) = started(facts, it, start);
    let mut found = Diagnostic::new(&C82, it.prompt.name.span, message)
        .label(place, format!("1. {words}"))
        .label(it.prompt.name.span, format!("2. names no `--status` that is granted after {content}"));
    if let Some(transition) = step.step.transition() {
        let way = facts.transition(transition);
        found = found.label(facts.first_line(way.span), format!("3. {} is open then", facts.arrow(way)));
    }
    found
        .trace(facts.tell(&search.run_through(edge), None))
        .help(format!("say when to run `orange task update --status {}`", facts.name(ways[0])))
}
