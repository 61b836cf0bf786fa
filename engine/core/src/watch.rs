//! Facts outside of a task that its workflow watches: its pull request, its base, and the tasks that it has created.

use alloc::format;
use core::fmt;

use crate::life::{LifeFacts, LifeTurn, Refusal};
use crate::{Actor, Cause, Decision, Exit, Guard, Machine, Outcome, Rejection, StateId};

/// A fact that a watch rule waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fact {
    /// All checks of the pull request have ended, and one has failed.
    ChecksRed,
    /// All checks of the pull request have succeeded.
    ChecksGreen,
    /// The reviewers of the pull request have approved it.
    Approved,
    /// A reviewer of the pull request asks for changes.
    ChangesRequested,
    /// The pull request has a thread that is not resolved, by a person whose comments count.
    ThreadsOpen,
    /// The base has commits that the branch lacks.
    BaseMoved,
    /// The branch and its base conflict.
    BaseConflict,
    /// The tasks that it has created are over and merged.
    ChildrenMerged,
    /// The tasks that it has created are over, and one was not merged; or there are none.
    ChildrenEnded,
}

/// The subject of a fact, which distinguishes transitions of one pair of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FactKind {
    /// The checks of the pull request.
    Checks,
    /// The reviews of the pull request.
    Review,
    /// The threads of the pull request.
    Threads,
    /// The branch into which the work is to be merged.
    Base,
    /// The tasks that it has created.
    Children,
}

impl Fact {
    /// Every fact.
    pub const ALL: [Fact; 9] = [
        Fact::ChecksRed,
        Fact::ChecksGreen,
        Fact::Approved,
        Fact::ChangesRequested,
        Fact::ThreadsOpen,
        Fact::BaseMoved,
        Fact::BaseConflict,
        Fact::ChildrenMerged,
        Fact::ChildrenEnded,
    ];

    /// The subject of the fact.
    pub const fn kind(self) -> FactKind {
        match self {
            Fact::ChecksRed | Fact::ChecksGreen => FactKind::Checks,
            Fact::Approved | Fact::ChangesRequested => FactKind::Review,
            Fact::ThreadsOpen => FactKind::Threads,
            Fact::BaseMoved | Fact::BaseConflict => FactKind::Base,
            Fact::ChildrenMerged | Fact::ChildrenEnded => FactKind::Children,
        }
    }

    /// The value of the condition's key in a workflow.
    pub const fn value(self) -> &'static str {
        match self {
            Fact::ChecksRed => "red",
            Fact::ChecksGreen => "green",
            Fact::Approved => "approved",
            Fact::ChangesRequested => "changes-requested",
            Fact::ThreadsOpen => "open",
            Fact::BaseMoved => "moved",
            Fact::BaseConflict => "conflict",
            Fact::ChildrenMerged => "merged",
            Fact::ChildrenEnded => "ended",
        }
    }

    /// The fact of this kind with this value.
    pub fn of(kind: FactKind, value: &str) -> Option<Fact> {
        Fact::ALL.into_iter().find(|fact| fact.kind() == kind && fact.value() == value)
    }

    /// True if the other fact holds whenever this one does.
    pub fn implies(self, other: Fact) -> bool {
        self == other || (self, other) == (Fact::BaseConflict, Fact::BaseMoved)
    }

    /// The fact as a sentence without its end.
    pub const fn sentence(self) -> &'static str {
        match self {
            Fact::ChecksRed => "a check of its pull request has failed",
            Fact::ChecksGreen => "the checks of its pull request are green",
            Fact::Approved => "its pull request is approved",
            Fact::ChangesRequested => "a review of its pull request asks for changes",
            Fact::ThreadsOpen => "its pull request has open threads",
            Fact::BaseMoved => "its base has moved",
            Fact::BaseConflict => "its work conflicts with its base",
            Fact::ChildrenMerged => "the tasks that it has created are merged",
            Fact::ChildrenEnded => "the tasks that it has created are over, and not all of them are merged",
        }
    }
}

/// As a workflow writes it: `pr: {checks: red}`, `base: conflict`.
impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind().as_str().split_once('.') {
            Some((pr, key)) => write!(f, "{pr}: {{{key}: {}}}", self.value()),
            None => write!(f, "{}: {}", self.kind().as_str(), self.value()),
        }
    }
}

impl FactKind {
    /// Every kind.
    pub const ALL: [FactKind; 5] =
        [FactKind::Checks, FactKind::Review, FactKind::Threads, FactKind::Base, FactKind::Children];

    /// The word in workflows, journals and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            FactKind::Checks => "pr.checks",
            FactKind::Review => "pr.review",
            FactKind::Threads => "pr.threads",
            FactKind::Base => "base",
            FactKind::Children => "children",
        }
    }

    /// The kind of this word.
    pub fn parse(word: &str) -> Option<FactKind> {
        FactKind::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// True if the forge knows the fact.
    pub const fn is_of_pull_request(self) -> bool {
        match self {
            FactKind::Checks | FactKind::Review | FactKind::Threads => true,
            FactKind::Base | FactKind::Children => false,
        }
    }
}

/// A rule of `watch`: a fact takes a task out of a state. The rules of a state are tried in order; the first that applies decides.
#[derive(Clone, Copy, Debug)]
pub struct WatchRule<'a> {
    /// The state that has the rule.
    pub state: StateId,
    /// The fact for which it waits.
    pub fact: Fact,
    /// The condition over counters under which it applies.
    pub guard: Option<Guard<'a>>,
    /// The transition that it takes: [`Outcome::Then`] or [`Outcome::ThenWhen`].
    pub outcome: Outcome<'a>,
}

impl<'m> Machine<'m> {
    /// The watch rules of a state, in source order.
    pub fn watch_rules_of(&self, state: StateId) -> core::ops::Range<usize> {
        let start = self.watch.partition_point(|rule| rule.state < state);
        let length = self.watch[start..].partition_point(|rule| rule.state == state);
        start..start + length
    }

    /// The kinds of facts for which the rules of a state wait.
    pub fn watched_kinds(&self, state: StateId) -> impl Iterator<Item = FactKind> + use<'_, 'm> {
        self.watch_rules_of(state).map(|rule| self.watch[rule].fact.kind())
    }

    /// The entry of `watch` that applies in a state under these facts and counters.
    pub fn watch_rule(
        &self,
        state: StateId,
        counters: &[u32],
        holds: impl Fn(Fact) -> bool,
    ) -> Option<usize> {
        self.watch_rules_of(state).find(|index| {
            let rule = &self.watch[*index];
            holds(rule.fact) && rule.guard.is_none_or(|guard| guard.holds(counters))
        })
    }

    /// The transition that a watch rule takes: one for its kind of fact, or else one without a cause.
    ///
    /// # Errors
    /// No transition is declared, its guard or a gate refuses it, or a program has to answer first.
    pub fn decide_watch(
        &self,
        facts: &LifeFacts<'_>,
        rule: usize,
    ) -> Result<Option<Decision<'m>>, Rejection> {
        let rule = &self.watch[rule];
        let Exit::Then(to) = rule.outcome.choose(facts.view.counters) else { return Ok(None) };
        let decision = self.decide_for(&facts.view, to, Actor::Engine, Some(rule.fact.kind()))?;
        Ok(Some(Decision { cause: Cause::Watch, ..decision }))
    }

    /// Decides what a watch rule does. A refusal is not a crash: a person has to act.
    pub(crate) fn watched(&self, facts: &LifeFacts<'_>, rule: usize) -> Result<LifeTurn<'m>, Refusal> {
        let fact = self.watch[rule].fact;
        match self.decide_watch(facts, rule) {
            Ok(None) => Ok(LifeTurn::default()),
            Ok(Some(decision)) => Ok(self.advanced(decision, fact.sentence().into())),
            Err(rejection @ Rejection::NotAsked { .. }) => {
                Err(Refusal::Rejected { rejection, is_forcible: false })
            }
            Err(rejection) => {
                let why = rejection.message(self, &facts.view);
                Ok(LifeTurn::attention(format!("{}, and the watch rule is refused: {why}", fact.sentence())))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn every_fact_is_read_back_from_its_kind_and_value() {
        for fact in Fact::ALL {
            assert_eq!(Fact::of(fact.kind(), fact.value()), Some(fact));
        }
        assert_eq!(Fact::of(FactKind::Base, "red"), None);
        for kind in FactKind::ALL {
            assert_eq!(FactKind::parse(kind.as_str()), Some(kind));
            assert!(Fact::ALL.into_iter().any(|fact| fact.kind() == kind));
        }
    }

    #[test]
    fn a_fact_is_written_as_in_a_workflow() {
        assert_eq!(Fact::ChecksRed.to_string(), "pr: {checks: red}");
        assert_eq!(Fact::BaseConflict.to_string(), "base: conflict");
    }
}
