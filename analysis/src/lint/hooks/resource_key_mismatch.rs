//! C66: a window that is named after a counter is ended when the counter has risen.

use orange_core::{Actor, TransitionId};

use super::C66;
use super::places::{Raised, move_before, numbered, raised};
use crate::lint::Facts;
use crate::lint::agents::StoryLabel;
use crate::search::task::Event;
use crate::search::{EdgeId, HookIndex};
use orange_codegen::diag::{Diagnostic, Fix};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let raised = raised(facts, |event| event == Event::KilledUnderOtherName, |_, _, _| true);
    raised.iter().filter(|it| !starts_another(facts, it)).map(|it| finding(facts, it)).collect()
}

/// True if the hook that counted was to start the next reviewer: the fault is then that the one before is alive.
fn starts_another(facts: &Facts<'_>, it: &Raised<'_>) -> bool {
    counts(facts, &facts.search.run_through(it.edge)).is_some_and(|(id, at)| {
        let spawn = facts.machine.transition(id).hooks[at].spawn();
        spawn.is_some_and(|it| it.actor() == Actor::Reviewer)
    })
}

fn finding(facts: &Facts<'_>, it: &Raised<'_>) -> Diagnostic {
    let run = facts.search.run_through(it.edge);
    let place = facts.first_line(it.hook.span);
    let counts = counts(facts, &run);
    let mut story: Vec<StoryLabel> = Vec::new();
    story.extend(counts.map(|(id, at)| {
        let span = facts.transition(id).hooks[at].span;
        (facts.first_line(span), "changes the round while the reviewer of the one before is alive".to_owned())
    }));
    story.push((place, "ends a reviewer whose window and prompt still have the round before".to_owned()));
    let message = format!(
        "{} ends `review-…` after `review_round` has changed: the window's number is not the task's",
        facts.arrow(facts.transition(it.id))
    );
    numbered(Diagnostic::new(&C66, place, message), story)
        .trace(facts.tell(&run, None))
        .help("put `- action: kill_reviewer` before the hook that counts, or count in the spawn: `increment: review_round`")
        .fix_if(counts.filter(|(id, _)| *id == it.id).and_then(|(_, at)| fix(facts, it.id, at, it.index)))
}

/// The last hook in a run that changed the round.
fn counts(facts: &Facts<'_>, run: &[EdgeId]) -> Option<(TransitionId, usize)> {
    run.iter().rev().find_map(|it| {
        let edge = facts.search.edge(*it);
        let (id, task) = (edge.step.transition()?, facts.search.task(edge.from));
        let effects = facts.machine.effects_of(id, &facts.search.counters.values(task));
        Some((id, effects.iter().position(|it| facts.search.renames(task, it))?))
    })
}

fn fix(facts: &Facts<'_>, id: TransitionId, counts: usize, kill: HookIndex) -> Option<Fix> {
    let hooks = &facts.transition(id).hooks;
    let kill = usize::from(kill);
    (counts < kill).then(|| move_before(facts, &hooks[counts], &hooks[kill], "kill_reviewer")).flatten()
}
