//! CA1: nothing says that a verdict is not written by the agent whose work it judges.

use orange_core::{Actor, StateId};

use super::{CA1, Judges, VerdictWriter, judge_of_own_work};
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let judges = facts.judges();
    let unknown = judges.writers(facts).filter_map(|(state, heading, writer)| match writer {
        VerdictWriter::Unknown(agent) => Some((state, heading, agent)),
        VerdictWriter::OfPersons
        | VerdictWriter::Declared
        | VerdictWriter::Follows
        | VerdictWriter::Judged(_) => None,
    });
    let passed = judge_of_own_work::states(facts);
    let is_crowded = |state: StateId| {
        let mut into = facts.search.edges().filter(|(_, edge)| facts.search.task(edge.to).status == state);
        into.any(|(_, edge)| facts.is_crowded(edge))
    };
    let unknown = unknown.filter(|(state, ..)| !passed.contains(state) && !is_crowded(*state));
    unknown.filter_map(|(state, heading, agent)| finding(facts, judges, state, heading, agent)).collect()
}

fn finding(
    facts: &Facts<'_>,
    judges: &Judges,
    state: StateId,
    heading: &str,
    agent: Actor,
) -> Option<Diagnostic> {
    let verdicts = judges.verdicts.get(&(state, heading.to_owned()))?;
    let name = facts.name(state);
    let is_there = judges.is_there(facts, state);
    let message = match is_there {
        true => format!(
            "the {agent} can be alive in `{name}` and write the verdict in `{heading}` on its own work"
        ),
        false => format!(
            "the {agent} can write the verdict in `{heading}` on its own work before `{name}`, and it counts there"
        ),
    };
    let declare = "declare who writes it: `written_by: reviewer`";
    let help = match is_there {
        true => format!("end the {agent} before `{name}`, `- action: kill_session`; or {declare}"),
        false => format!("add `fresh: true` to each gate and rule of `{name}` that reads it; or {declare}"),
    };
    // Where the others are fresh, the one that is not lets in what was written before.
    let first = *verdicts.stale.iter().min().filter(|_| !is_there).or(verdicts.places.first())?;
    let found = Diagnostic::new(&CA1, first, message)
        .label(first, "goes by this verdict, and anybody could have written it");
    let others = verdicts.places.iter().filter(|it| **it != first);
    let found = others.fold(found, |found, place| found.label(*place, "here, too"));
    Some(found.help(help))
}
