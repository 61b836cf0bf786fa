//! Facts outside of a task that its workflow watches: its pull request, its base, and the tasks that it has created.

use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::life::{LifeFacts, LifeTurn, Refusal};
use crate::{Actor, Cause, Decision, Exit, Guard, Machine, Outcome, Rejection, StateId};

/// A fact that a watch rule waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fact {
    /// All checks of the pull request have ended, and one has failed.
    ChecksRed,
    /// A check of the pull request has failed, and others may still run.
    ChecksRedEarly,
    /// All checks of the pull request have succeeded.
    ChecksGreen,
    /// All required checks of the pull request have ended, and one has failed.
    RequiredRed,
    /// A required check of the pull request has failed, and others may still run.
    RequiredRedEarly,
    /// All required checks of the pull request have succeeded.
    RequiredGreen,
    /// The reviewers of the pull request have approved it.
    Approved,
    /// A reviewer of the pull request asks for changes.
    ChangesRequested,
    /// The pull request has a thread that is not resolved, by a person whose comments count.
    ThreadsOpen,
    /// The forge would merge the pull request now.
    MergeableClean,
    /// The forge has found a conflict of the pull request with its target.
    MergeableConflict,
    /// The forge refuses to merge the pull request, for another reason than a conflict.
    MergeableBlocked,
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
    /// The merge of the pull request, as the forge foresees it.
    Mergeable,
    /// The branch into which the work is to be merged.
    Base,
    /// The tasks that it has created.
    Children,
}

impl Fact {
    /// Every fact.
    pub const ALL: [Fact; 16] = [
        Fact::ChecksRed,
        Fact::ChecksRedEarly,
        Fact::ChecksGreen,
        Fact::RequiredRed,
        Fact::RequiredRedEarly,
        Fact::RequiredGreen,
        Fact::Approved,
        Fact::ChangesRequested,
        Fact::ThreadsOpen,
        Fact::MergeableClean,
        Fact::MergeableConflict,
        Fact::MergeableBlocked,
        Fact::BaseMoved,
        Fact::BaseConflict,
        Fact::ChildrenMerged,
        Fact::ChildrenEnded,
    ];

    /// The subject of the fact.
    pub const fn kind(self) -> FactKind {
        match self {
            Fact::ChecksRed
            | Fact::ChecksRedEarly
            | Fact::ChecksGreen
            | Fact::RequiredRed
            | Fact::RequiredRedEarly
            | Fact::RequiredGreen => FactKind::Checks,
            Fact::Approved | Fact::ChangesRequested => FactKind::Review,
            Fact::ThreadsOpen => FactKind::Threads,
            Fact::MergeableClean | Fact::MergeableConflict | Fact::MergeableBlocked => FactKind::Mergeable,
            Fact::BaseMoved | Fact::BaseConflict => FactKind::Base,
            Fact::ChildrenMerged | Fact::ChildrenEnded => FactKind::Children,
        }
    }

    /// The value of the condition's key in a workflow.
    pub const fn value(self) -> &'static str {
        match self {
            Fact::ChecksRed | Fact::ChecksRedEarly | Fact::RequiredRed | Fact::RequiredRedEarly => "red",
            Fact::ChecksGreen | Fact::RequiredGreen => "green",
            Fact::Approved => "approved",
            Fact::ChangesRequested => "changes-requested",
            Fact::ThreadsOpen => "open",
            Fact::MergeableClean => "clean",
            Fact::MergeableBlocked => "blocked",
            Fact::BaseMoved => "moved",
            Fact::MergeableConflict | Fact::BaseConflict => "conflict",
            Fact::ChildrenMerged => "merged",
            Fact::ChildrenEnded => "ended",
        }
    }

    /// The word in journals and walks, which no other fact of its kind has.
    pub const fn word(self) -> &'static str {
        match self {
            Fact::ChecksRedEarly => "red-early",
            Fact::RequiredRed => "required-red",
            Fact::RequiredRedEarly => "required-red-early",
            Fact::RequiredGreen => "required-green",
            Fact::ChecksRed
            | Fact::ChecksGreen
            | Fact::Approved
            | Fact::ChangesRequested
            | Fact::ThreadsOpen
            | Fact::MergeableClean
            | Fact::MergeableConflict
            | Fact::MergeableBlocked
            | Fact::BaseMoved
            | Fact::BaseConflict
            | Fact::ChildrenMerged
            | Fact::ChildrenEnded => self.value(),
        }
    }

    /// The fact of this kind with this word.
    pub fn of(kind: FactKind, word: &str) -> Option<Fact> {
        Fact::ALL.into_iter().find(|fact| fact.kind() == kind && fact.word() == word)
    }

    /// True if it holds before all checks have ended.
    pub const fn is_early(self) -> bool {
        matches!(self, Fact::ChecksRedEarly | Fact::RequiredRedEarly)
    }

    /// True if only required checks count.
    pub const fn is_of_required(self) -> bool {
        matches!(self, Fact::RequiredRed | Fact::RequiredRedEarly | Fact::RequiredGreen)
    }

    /// True if checks have failed.
    pub fn is_red(self) -> bool {
        self.kind() == FactKind::Checks && self.value() == "red"
    }

    /// The fact of this kind with this value, of required checks alone, or before all checks have ended.
    pub fn with(kind: FactKind, value: &str, is_of_required: bool, is_early: bool) -> Option<Fact> {
        let is_it = |fact: &Fact| {
            (fact.kind(), fact.value()) == (kind, value)
                && (fact.is_of_required(), fact.is_early()) == (is_of_required, is_early)
        };
        Fact::ALL.into_iter().find(is_it)
    }

    /// True if the other fact holds whenever this one does.
    pub fn implies(self, other: Fact) -> bool {
        self == other
            || matches!(
                (self, other),
                (Fact::BaseConflict, Fact::BaseMoved)
                    | (Fact::ChecksRed | Fact::RequiredRed | Fact::RequiredRedEarly, Fact::ChecksRedEarly)
                    | (Fact::RequiredRed, Fact::RequiredRedEarly)
            )
    }

    /// The facts on which a rule has acted if one has acted on this one: of one commit, failed checks are one thing, whether the others
    /// have ended or not.
    pub fn acted(self) -> impl Iterator<Item = Fact> {
        let is_same = move |it: &Fact| *it == self || self.kind() == FactKind::Checks && self.implies(*it);
        Fact::ALL.into_iter().filter(is_same)
    }

    /// The fact as a sentence without its end.
    pub const fn sentence(self) -> &'static str {
        match self {
            Fact::ChecksRed => "a check of its pull request has failed",
            Fact::ChecksRedEarly => "a check of its pull request has failed before all have ended",
            Fact::ChecksGreen => "the checks of its pull request are green",
            Fact::RequiredRed => "a required check of its pull request has failed",
            Fact::RequiredRedEarly => "a required check of its pull request has failed before all have ended",
            Fact::RequiredGreen => "the required checks of its pull request are green",
            Fact::Approved => "its pull request is approved",
            Fact::ChangesRequested => "a review of its pull request asks for changes",
            Fact::ThreadsOpen => "its pull request has open threads",
            Fact::MergeableClean => "the forge would merge its pull request",
            Fact::MergeableConflict => "its pull request conflicts with its target",
            Fact::MergeableBlocked => "the forge refuses to merge its pull request",
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
        let required = if self.is_of_required() { ", required: true" } else { "" };
        let early = if self.is_early() { ", early: true" } else { "" };
        match self.kind().as_str().split_once('.') {
            Some((pr, key)) => write!(f, "{pr}: {{{key}: {}{required}{early}}}", self.value()),
            None => write!(f, "{}: {}", self.kind().as_str(), self.value()),
        }
    }
}

impl FactKind {
    /// Every kind.
    pub const ALL: [FactKind; 6] = [
        FactKind::Checks,
        FactKind::Review,
        FactKind::Threads,
        FactKind::Mergeable,
        FactKind::Base,
        FactKind::Children,
    ];

    /// The word in workflows, journals and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            FactKind::Checks => "pr.checks",
            FactKind::Review => "pr.review",
            FactKind::Threads => "pr.threads",
            FactKind::Mergeable => "pr.mergeable",
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
            FactKind::Checks | FactKind::Review | FactKind::Threads | FactKind::Mergeable => true,
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
    /// The most requests to run the failed checks of one commit again before it applies.
    pub rerun: u8,
    /// The transition that it takes: [`Outcome::Then`] or [`Outcome::ThenWhen`].
    pub outcome: Outcome<'a>,
}

/// The most runs of the failed checks of one commit that a rule may ask for.
pub const MAX_RERUNS: u8 = 10;

/// The seconds after which failed checks count although the forge shows no new run of them.
pub const RERUN_PATIENCE: u64 = 600;

/// The last run of failed checks that a rule has asked for, of one commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastRerun<'f> {
    /// Its number, from 1.
    pub number: u32,
    /// The runs that had failed before it.
    pub failed: &'f [String],
    /// The seconds since it was asked for.
    pub since: u64,
    /// True if the forge has refused it.
    pub is_refused: bool,
}

/// The next step about failed checks for which a rule applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RerunStep {
    /// They are to run again, for this time.
    Ask {
        /// Its number, from 1.
        number: u32,
    },
    /// The forge does not show yet that they run again.
    Wait,
    /// The rule takes its transition.
    Take,
}

impl RerunStep {
    /// The step of a rule whose checks run again at most so often: `failed` are the failed runs of a commit, and `last` is what was asked
    /// for it.
    pub fn of(most: u8, failed: &[String], last: Option<LastRerun<'_>>) -> RerunStep {
        let number = last.map_or(0, |last| last.number);
        match last {
            Some(last) if last.is_refused => RerunStep::Take,
            Some(last) if last.failed == failed && last.since < RERUN_PATIENCE => RerunStep::Wait,
            Some(_) | None if number >= u32::from(most) => RerunStep::Take,
            Some(_) | None => RerunStep::Ask { number: number + 1 },
        }
    }
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
            assert_eq!(Fact::of(fact.kind(), fact.word()), Some(fact));
            let found = Fact::with(fact.kind(), fact.value(), fact.is_of_required(), fact.is_early());
            assert_eq!(found, Some(fact));
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
        let early = "pr: {checks: red, required: true, early: true}";
        assert_eq!(Fact::RequiredRedEarly.to_string(), early);
        assert_eq!(Fact::MergeableBlocked.to_string(), "pr: {mergeable: blocked}");
    }

    #[test]
    fn what_a_fact_implies_holds_for_what_that_implies() {
        for one in Fact::ALL {
            for other in Fact::ALL.into_iter().filter(|other| one.implies(*other)) {
                assert_eq!(one.kind(), other.kind());
                for third in Fact::ALL.into_iter().filter(|third| other.implies(*third)) {
                    assert!(one.implies(third), "{one} {other} {third}");
                }
            }
        }
        let acted: alloc::vec::Vec<Fact> = Fact::ChecksRed.acted().collect();
        assert_eq!(acted, [Fact::ChecksRed, Fact::ChecksRedEarly]);
        assert_eq!(Fact::BaseConflict.acted().count(), 1);
    }

    #[test]
    fn failed_checks_run_again_before_the_rule_applies() {
        let (first, second) = ([String::from("test 1")], [String::from("test 2")]);
        let asked = |number, since| Some(LastRerun { number, failed: &first[..], since, is_refused: false });
        for (most, failed, last, expect) in [
            (0, &first, None, RerunStep::Take),
            (1, &first, None, RerunStep::Ask { number: 1 }),
            // Killed before the forge was asked, or not shown yet: it is not asked again.
            (2, &first, asked(1, RERUN_PATIENCE - 1), RerunStep::Wait),
            (2, &first, asked(1, RERUN_PATIENCE), RerunStep::Ask { number: 2 }),
            (1, &first, asked(1, RERUN_PATIENCE), RerunStep::Take),
            (1, &second, asked(1, 5), RerunStep::Take),
            (2, &second, asked(1, 5), RerunStep::Ask { number: 2 }),
            (2, &second, asked(2, 5), RerunStep::Take),
        ] {
            assert_eq!(RerunStep::of(most, failed, last), expect, "{most} {failed:?} {last:?}");
        }
        let refused = asked(1, 5).map(|last| LastRerun { is_refused: true, ..last });
        assert_eq!(RerunStep::of(3, &first, refused), RerunStep::Take);
    }
}
