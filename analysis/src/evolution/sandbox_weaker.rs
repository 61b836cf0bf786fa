//! D07: an agent is confined less strictly than before.

use orange_core::wall::Demand;
use orange_core::{Spawn, TransitionId};

use super::both::{Both, TransitionPair, label};
use super::{ChangeFinding, D07, Side};
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;
use orange_codegen::span::Span;

/// A hook that starts an agent.
struct Started<'s> {
    span: Span,
    spawn: &'s Spawn<'s>,
}

pub(super) fn find(both: &Both<'_>) -> Vec<ChangeFinding> {
    both.pairs().flat_map(|pair| in_pair(both, &pair)).collect()
}

fn in_pair(both: &Both<'_>, pair: &TransitionPair<'_>) -> Vec<ChangeFinding> {
    let (Some(old), Some(new)) = (pair.old.first(), pair.new.first()) else { return Vec::new() };
    let before = started(both.old, both.old.machine.between(old.from.value, old.to.value));
    let after = started(both.new, both.new.machine.between(new.from.value, new.to.value));
    let weaker = after.iter().filter_map(|it| {
        let is_same =
            |old: &&Started<'_>| (old.spawn.role, old.spawn.reviewer) == (it.spawn.role, it.spawn.reviewer);
        let mut same = before.iter().filter(is_same).peekable();
        let first = same.peek().copied()?;
        let is_weaker = same.all(|old| old.spawn.sandbox.and(it.spawn.sandbox) != it.spawn.sandbox);
        is_weaker.then(|| finding(both, &both.new.arrow(new), first, it))
    });
    weaker.collect()
}

fn started<'f>(facts: &Facts<'f>, ids: impl Iterator<Item = TransitionId>) -> Vec<Started<'f>> {
    let of_one = |id: TransitionId| {
        let hooks = (0..).zip(facts.machine.transition(id).hooks);
        hooks.filter_map(move |(at, hook)| {
            Some(Started { span: facts.hook(id, at)?.span, spawn: hook.spawn()? })
        })
    };
    ids.flat_map(of_one).collect()
}

fn finding(both: &Both<'_>, arrow: &str, old: &Started<'_>, new: &Started<'_>) -> ChangeFinding {
    let agent = new.spawn.actor().kind();
    let message = format!("the {agent} that {arrow} starts is confined less strictly than before");
    let place = both.new.first_line(new.span);
    let finding = Diagnostic::new(&D07, place, message).label(place, words(new.spawn.sandbox)).help(format!(
        "write `sandbox: {{{}}}` here, or say in the review why less is enough",
        old.spawn.sandbox.words()
    ));
    ChangeFinding::on(Side::New, finding)
        .beside(label(both.old.first_line(old.span), words(old.spawn.sandbox)))
}

fn words(demand: Demand) -> String {
    if demand.is_none() { "no demand".to_owned() } else { format!("`{}`", demand.words()) }
}
