//! CA0: an agent whose work a verdict judges passes the gate, or is to write the verdict.

use std::collections::BTreeSet;

use orange_core::{Actor, StateId};

use super::{CA0, VerdictWriter};
use crate::lint::Facts;
use crate::search::{EdgeId, SearchStep};
use orange_codegen::diag::{Diagnostic, Level};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let judges = facts.judges();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (id, edge) in facts.search.edges() {
        for agent in judges.passing(facts, edge) {
            if seen.insert((facts.search.task(edge.from).status, agent)) {
                found.extend(passes(facts, id, agent));
            }
        }
    }
    for (state, heading, writer) in judges.writers(facts) {
        if let VerdictWriter::Judged(agent) = writer
            && seen.insert((state, agent))
        {
            found.extend(writes(facts, state, heading, agent));
        }
    }
    found
}

/// The states in which it is found.
pub(super) fn states(facts: &Facts<'_>) -> BTreeSet<StateId> {
    let judges = facts.judges();
    let passed =
        facts.search.edges().map(|(_, edge)| edge).filter(|edge| !judges.passing(facts, edge).is_empty());
    let passed = passed.map(|edge| facts.search.task(edge.from).status);
    let written = judges.writers(facts).filter(|(.., writer)| matches!(writer, VerdictWriter::Judged(_)));
    passed.chain(written.map(|(state, ..)| state)).collect()
}

/// The agent takes the transition that its own verdict opens.
fn passes(facts: &Facts<'_>, id: EdgeId, agent: Actor) -> Option<Diagnostic> {
    let (judges, edge) = (facts.judges(), facts.search.edge(id));
    let transition = facts.transition(edge.step.transition()?);
    let state = facts.search.task(edge.from).status;
    let mut verdicts =
        judges.verdicts.range((state, String::new())..).take_while(|((it, _), _)| *it == state);
    let own = transition.section_gates().find(|it| it.asks_for_verdict());
    let heading = own.map_or_else(
        || verdicts.next().map(|((_, it), _)| it.clone()),
        |it| Some(it.section.value.clone()),
    )?;
    let arrow = facts.arrow(transition);
    let (message, part) = match edge.step {
        SearchStep::Exit { .. } => (
            format!("the end of a {agent} takes {arrow}, by the verdict in `{heading}` on its own work"),
            "an exit rule takes it when that agent ends".to_owned(),
        ),
        SearchStep::Request { .. }
        | SearchStep::Start
        | SearchStep::Write(_)
        | SearchStep::Commit(_)
        | SearchStep::EndWhileWaiting(_)
        | SearchStep::Respawn
        | SearchStep::Failure { .. }
        | SearchStep::Retry { .. } => (
            format!("a {agent} can take {arrow} itself, by the verdict in `{heading}` on its own work"),
            format!("lets the {agent} ask"),
        ),
    };
    let run = judges.run_to(facts, edge.from, agent);
    let mut story = facts.life(&run, agent);
    story.push((facts.first_line(transition.span), part));
    let others: Vec<&str> =
        [Actor::Reviewer, Actor::Human].into_iter().filter(|it| *it != agent).map(Actor::kind).collect();
    let to = facts.name(state);
    let help = match edge.step {
        SearchStep::Request { .. } => format!(
            "write `by: [{}]` in this transition, or end the {agent} before `{to}`: `- action: kill_session`",
            others.join(", ")
        ),
        SearchStep::Exit { .. }
        | SearchStep::Start
        | SearchStep::Write(_)
        | SearchStep::Commit(_)
        | SearchStep::EndWhileWaiting(_)
        | SearchStep::Respawn
        | SearchStep::Failure { .. }
        | SearchStep::Retry { .. } => format!(
            "let another agent judge: on the transition to `{to}`, `- action: kill_session`, then `- {{action: spawn_agent, \
             prompt: …, harness: review}}`"
        ),
    };
    let level = if judges.has_judge(facts, state) { CA0.level } else { Level::Deny };
    let run: Vec<EdgeId> = run.into_iter().chain([id]).collect();
    // The agent may, although another usually does.
    let trace = facts.tell_asked_by(&run, agent, "it has judged its own work".to_owned());
    let found = Diagnostic::new(&CA0, facts.first_line(transition.span), message).at_level(level);
    Some(numbered(found, story).trace(trace).help(help))
}

/// The workflow says that the agent writes the verdict.
fn writes(facts: &Facts<'_>, state: StateId, heading: &str, agent: Actor) -> Option<Diagnostic> {
    let place = *facts.judges().verdicts.get(&(state, heading.to_owned()))?.places.first()?;
    let name = facts.name(state);
    let message = format!(
        "the {agent} is to write the verdict in `{heading}`, and in `{name}` that is on its own work"
    );
    let found = Diagnostic::new(&CA0, place, message).label(place, "goes by its verdict");
    Some(found.help("let another agent write it, and say so: `written_by: reviewer`"))
}

fn numbered(found: Diagnostic, story: Vec<crate::lint::agents::StoryLabel>) -> Diagnostic {
    (1..)
        .zip(story)
        .fold(found, |found, (number, (span, part))| found.label(span, format!("{number}. {part}")))
}
