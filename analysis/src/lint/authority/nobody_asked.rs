//! CA2: the work of an agent can be merged without a person's consent.

use orange_core::Actor;
use orange_core::action::Remote;

use super::CA2;
use crate::lint::Facts;
use crate::search::task::Task;
use crate::search::{Edge, EdgeId, SearchStep};
use orange_codegen::diag::{Diagnostic, Trace};
use orange_codegen::model::Hook;

/// A run to the merge state, and the number of its last steps that need no person.
pub(crate) struct Unasked {
    run: Vec<EdgeId>,
    last: usize,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    unasked(facts).and_then(|it| finding(facts, &it)).into_iter().collect()
}

/// Finds a run in which an agent is alive, and from there only steps without a person lead to the merge state.
pub(crate) fn unasked(facts: &Facts<'_>) -> Option<Unasked> {
    let merge = facts.workflow.commands.merge.filter(|_| !facts.workflow.unattended)?;
    let search = facts.search;
    let is_unmerged = |task: &Task| task.live_agents() > 0 && task.status != merge;
    let manned = search.configurations().filter(|(_, task)| is_unmerged(task)).map(|(id, _)| id);
    let is_taken = |edge: &Edge| match edge.step {
        SearchStep::Request { by, .. } => by != Actor::Human,
        SearchStep::Failure { failed, .. } => failed.exit.is_some() || failed.by != Actor::Human,
        // An actor that may take the transition may also run its hooks again.
        SearchStep::Exit { .. }
        | SearchStep::Start
        | SearchStep::Write(_)
        | SearchStep::Commit(_)
        | SearchStep::EndWhileWaiting(_)
        | SearchStep::Respawn
        | SearchStep::Retry { .. } => true,
    };
    let merges = |edge: &Edge| search.task(edge.to).status == merge;
    let rest = search.walk_from(manned, is_taken, merges, &mut usize::MAX.clone())?;
    let first = search.edge(*rest.first()?).from;
    let last = rest.len();
    Some(Unasked { run: search.run_to(first).into_iter().chain(rest).collect(), last })
}

/// The trace of the run. For each of the last steps it names an actor other than a person, although a person usually takes it.
pub(crate) fn unasked_run(facts: &Facts<'_>, it: &Unasked) -> Trace {
    facts.tell_unasked(&it.run, it.last, "nobody was asked".to_owned())
}

fn finding(facts: &Facts<'_>, it: &Unasked) -> Option<Diagnostic> {
    let last = facts.search.edge(*it.run.last()?);
    let transition = facts.transition(last.step.transition()?);
    let deletes = |hook: &Hook| hook.action.traits().remote == Some(Remote::Deletes);
    let is_request = matches!(last.step, SearchStep::Request { .. });
    // `destructive-ungated` reports a transition without a gate that deletes.
    if is_request && transition.gates.is_empty() && transition.hooks.iter().any(deletes) {
        return None;
    }
    let (place, arrow) = (facts.first_line(transition.span), facts.arrow(transition));
    let (who, part) = match last.step {
        SearchStep::Request { by, .. } => {
            (facts.machine.actor_with("a", by), format!("lets {} ask", facts.machine.actor_with("the", by)))
        }
        SearchStep::Exit { .. }
        | SearchStep::Start
        | SearchStep::Write(_)
        | SearchStep::Commit(_)
        | SearchStep::EndWhileWaiting(_)
        | SearchStep::Respawn
        | SearchStep::Failure { .. }
        | SearchStep::Retry { .. } => ("an exit rule".to_owned(), "an exit rule takes it".to_owned()),
    };
    let merge = facts.name(transition.to.value);
    let message = format!("{who} takes {arrow}, and no person is asked before work is merged");
    let help = format!(
        "lead to a state in which a person decides, and from there to `{merge}` with `by: human`; or say that nobody is to be asked: \
         `unattended: true`"
    );
    let found = Diagnostic::new(&CA2, place, message).label(place, part);
    Some(found.trace(unasked_run(facts, it)).help(help))
}
