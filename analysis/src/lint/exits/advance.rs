//! The transitions that an exit rule can take, and what their gates say of that with which it applies.

use orange_core::{Actor, Actors, StateId, TransitionId};

use super::cases::{Cases, EndCase};
use crate::lint::Facts;
use orange_codegen::guard::decide;
use orange_codegen::model::{Clause, ExitRule, Outcome};
use orange_codegen::span::Span;

/// One place where an exit rule says where to go.
#[derive(Debug)]
pub struct Advance<'f> {
    /// The rule, by its number in the machine.
    pub rule: usize,
    /// The clause of a `then_when`.
    pub clause: Option<&'f Clause>,
    /// The state it leads to.
    pub to: StateId,
    /// Place that names the state.
    pub named: Span,
}

/// One transition that such a place can take.
#[derive(Debug)]
pub struct Candidate<'c> {
    /// The transition.
    pub transition: TransitionId,
    /// True if its gate lets through any case in which the rule applies.
    pub is_open: bool,
    /// The cases in which the rule applies and the gate refuses.
    pub refused: Vec<&'c EndCase>,
}

/// Targets of the rules of a state, in their order.
pub fn of<'f>(facts: &Facts<'f>, state: StateId) -> Vec<Advance<'f>> {
    let rules = facts.machine.exit_rules_of(state);
    rules.flat_map(|rule| places(facts.exit_rules[rule], rule)).collect()
}

fn places(of: &ExitRule, rule: usize) -> Vec<Advance<'_>> {
    match &of.outcome {
        Outcome::Then(to) => vec![Advance { rule, clause: None, to: to.value, named: to.span }],
        Outcome::ThenWhen(clauses) => clauses
            .iter()
            .map(|it| Advance { rule, clause: Some(it), to: it.then.value, named: it.then.span })
            .collect(),
        Outcome::Crash { .. } | Outcome::MarkDead | Outcome::Wait { .. } => Vec::new(),
    }
}

impl Advance<'_> {
    /// The transitions that it can take. What guards leave undecided is not among them.
    pub fn candidates<'c>(&self, facts: &Facts<'_>, cases: &'c Cases) -> Vec<Candidate<'c>> {
        let declared = facts.machine.between(cases.state, self.to);
        let open: Vec<TransitionId> = declared.filter(|id| self.can_take(facts, *id)).collect();
        let by = |id: &TransitionId| facts.machine.transition(*id).by;
        let taker = self.taker(facts, &open);
        let taken: Vec<TransitionId> =
            open.iter().copied().filter(|id| taker.is_none_or(|it| by(id).names(it))).collect();
        let mut candidates: Vec<Candidate<'c>> = taken.iter().map(|id| self.candidate(cases, *id)).collect();
        // The engine takes whichever gate lets it through.
        if taken.iter().all(|id| is_unguarded(facts, *id)) {
            let refused = |case: &&EndCase| taken.iter().all(|id| !cases.passes(case, *id));
            candidates.iter_mut().for_each(|it| it.refused.retain(refused));
        }
        candidates
    }

    /// Actor as whom the engine takes one of these transitions: itself where one is for it, else the first for whom one is. `None` if
    /// that depends on guards.
    fn taker(&self, facts: &Facts<'_>, open: &[TransitionId]) -> Option<Actor> {
        let by = |ids: &mut dyn Iterator<Item = &TransitionId>| {
            ids.fold(Actors::NONE, |by, id| by.joined(facts.machine.transition(*id).by))
        };
        if by(&mut open.iter().filter(|id| is_unguarded(facts, **id))).names(Actor::Engine) {
            return Some(Actor::Engine);
        }
        let is_certain = open.iter().all(|id| is_unguarded(facts, *id));
        by(&mut open.iter()).iter().next().filter(|_| is_certain)
    }

    fn candidate<'c>(&self, cases: &'c Cases, transition: TransitionId) -> Candidate<'c> {
        let mine = cases.all.iter().filter(|case| case.rule == Some(self.rule));
        let (open, refused): (Vec<_>, Vec<_>) = mine.partition(|case| cases.passes(case, transition));
        Candidate { transition, is_open: !open.is_empty(), refused }
    }

    /// True if clause and guard can hold at once.
    fn can_take(&self, facts: &Facts<'_>, id: TransitionId) -> bool {
        let guard = facts.transition(id).when.as_ref();
        let (Some(clause), Some(guard)) = (self.clause, guard) else { return true };
        let both = [Some(&clause.when.expr), Some(&guard.expr)];
        let overlaps = decide::overlaps(&both, &facts.workflow.counters, &mut facts.work.borrow_mut());
        overlaps.is_ok_and(|it| !it.is_empty())
    }
}

fn is_unguarded(facts: &Facts<'_>, id: TransitionId) -> bool {
    facts.transition(id).when.is_none()
}
