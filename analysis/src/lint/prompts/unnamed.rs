//! A part of C82: an agent may write something, by its prompt, after which the prompt names none of the transitions that are open.

use std::collections::BTreeMap;

use orange_core::Actor;

use super::C82;
use super::shared::{Prompted, any_of, named_section, names, prompts, started};
use crate::lint::Facts;
use crate::lint::prompt_facts::{PromptStart, StatusTarget};
use crate::search::{EdgeId, SearchStep, Wrote};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::StateId;

/// In which state an agent is, which one it is, and which section it writes.
type SectionWriter = (StateId, Actor, u8);

/// The states that exactly are open for some content of a section, with the first step that shows it.
type OpenStates = BTreeMap<Vec<StateId>, EdgeId>;

/// One finding for each prompt that leaves its agent without a command.
pub(super) fn unnamed(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let cases = cases(facts);
    let named = prompts(facts).filter(|it| !it.reading.commands.is_empty());
    named.filter_map(|it| it.starts.iter().find_map(|start| from_start(facts, &it, start, &cases))).collect()
}

/// States that are open after each thing that an agent can write, over all runs.
fn cases(facts: &Facts<'_>) -> BTreeMap<SectionWriter, OpenStates> {
    let search = facts.search;
    let mut cases: BTreeMap<SectionWriter, OpenStates> = BTreeMap::new();
    for (id, task) in search.configurations() {
        let mut open: Vec<(Wrote, Actor, EdgeId, Vec<StateId>)> = Vec::new();
        for (edge, step) in search.numbered_from(id) {
            let SearchStep::Request {
                transition,
                by: by @ (Actor::Worker | Actor::Reviewer),
                wrote: Some(wrote),
                ..
            } = step.step
            else {
                continue;
            };
            let to = facts.machine.transition(transition).to;
            match open.iter_mut().find(|(content, agent, ..)| (*content, *agent) == (wrote, by)) {
                Some((.., open)) => open.push(to),
                None => open.push((wrote, by, edge, vec![to])),
            }
        }
        for (wrote, by, edge, mut targets) in open {
            targets.sort_unstable();
            cases.entry((task.status, by, wrote.section)).or_default().entry(targets).or_insert(edge);
        }
    }
    cases
}

fn from_start(
    facts: &Facts<'_>,
    it: &Prompted<'_>,
    start: &PromptStart,
    cases: &BTreeMap<SectionWriter, OpenStates>,
) -> Option<Diagnostic> {
    let place = start.place;
    let of_start = (place.state, place.actor, 0)..=(place.state, place.actor, u8::MAX);
    let mut unnamed =
        cases.range(of_start).filter(|(case, _)| names_section(facts, it, case.2)).flat_map(|(_, open)| open);
    if leaves_otherwise(facts, it, start) {
        return None;
    }
    let (open, edge) = unnamed.find(|(open, _)| !open.iter().any(|to| names_state(it, *to)))?;
    Some(finding(facts, it, start, (open, *edge)))
}

fn names_section(facts: &Facts<'_>, it: &Prompted<'_>, section: u8) -> bool {
    let section = facts.search.sections.get(usize::from(section));
    section.asked.is_none() && named_section(it, section.heading).is_some()
}

/// True if a command of the prompt names this state. A name that no state has may have been meant for it.
fn names_state(it: &Prompted<'_>, state: StateId) -> bool {
    it.reading.commands.iter().any(|it| match it.target {
        StatusTarget::State(to) => to == state,
        StatusTarget::Open | StatusTarget::Unknown => true,
    })
}

/// True if a command leads on by a transition without a gate. To give up does not lead on.
fn leaves_otherwise(facts: &Facts<'_>, it: &Prompted<'_>, start: &PromptStart) -> bool {
    let place = start.place;
    let free = |to| {
        let mut between = facts.machine.between(place.state, to).map(|id| facts.machine.transition(id));
        between.any(|it| it.gates.is_empty() && it.by.allows(place.actor))
    };
    let gives_up = [facts.machine.commands.crash, facts.machine.commands.cancel];
    it.reading.targets().any(|(_, to)| !gives_up.contains(&Some(to)) && free(to))
}

fn finding(
    facts: &Facts<'_>,
    it: &Prompted<'_>,
    start: &PromptStart,
    (open, edge): (&[StateId], EdgeId),
) -> Diagnostic {
    let (search, name, step) = (facts.search, it.name, facts.search.edge(edge));
    let content = step.step.wrote().map(|wrote| {
        let section = search.sections.get(usize::from(wrote.section));
        format!("`{}` ({})", section.heading, section.contents[usize::from(wrote.content)].label)
    });
    let content = content.unwrap_or_default();
    let named = any_of(&names(facts, open.iter().copied()));
    let message =
        format!("`{name}` names no command that the engine grants after {content}: it could be {named}");
    let (place, words) = started(facts, it, start);
    let mut found = Diagnostic::new(&C82, it.prompt.name.span, message)
        .label(place, format!("1. {words}"))
        .label(it.prompt.name.span, format!("2. names no status that is granted after {content}"));
    if let Some(transition) = step.step.transition() {
        let open = facts.transition(transition);
        found = found.label(facts.first_line(open.span), format!("3. {} is open then", facts.arrow(open)));
    }
    found
        .trace(facts.tell(&search.run_through(edge), None))
        .help(format!("say when to run `orange task update --status {}`", facts.name(open[0])))
}
