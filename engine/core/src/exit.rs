//! Decisions about a task whose agent has ended.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::convert::Infallible;

use crate::{
    Actor, AgentEnd, Asker, CRASH_COUNT, Cause, Deadline, Decision, Ending, Gate, Guard, Lack, Machine,
    Missing, Rejection, SectionGate, StateId, View,
};

/// The number of crashes after which a task escalates, unless the workflow says otherwise.
pub const DEFAULT_STUCK_AFTER: u32 = 2;

/// The longest time that a rule can wait before an agent is started again, in seconds: a week.
pub const MAX_RESUME_AFTER: u32 = 7 * 24 * 60 * 60;

/// One rule of `exit_monitoring`. The rules of a state are tried in order; the first whose condition holds decides.
#[derive(Clone, Copy, Debug)]
pub struct ExitRule<'a> {
    /// The state that has the rule.
    pub state: StateId,
    /// Condition under which it applies.
    pub condition: Condition<'a>,
    /// Consequence when it applies.
    pub outcome: Outcome<'a>,
}

/// Condition of an exit rule.
#[derive(Clone, Copy, Debug)]
pub enum Condition<'a> {
    /// Every end of the agent.
    Always,
    /// Each of these gates holds; there is at least one.
    Artifact(&'a [Gate<'a>]),
    /// No artifact rule of the same state applies.
    NoArtifact,
    /// The agent ended like this.
    Ended(Ending<'a>),
    /// The time within some states, of which this is one, is over.
    Overdue(Deadline<'a>),
    /// The budget of the state is used up.
    Spent,
}

/// The end of an agent for [`Condition::Spent`].
const SPENT: &str = "with the budget of the state used up";

/// Consequence that an exit rule demands.
#[derive(Clone, Copy, Debug)]
pub enum Outcome<'a> {
    /// Take the transition to this state.
    Then(StateId),
    /// Take the transition to the state whose guard holds.
    ThenWhen(&'a [(Guard<'a>, StateId)]),
    /// The agent crashed.
    Crash {
        /// The number of crashes after which the task escalates; at least 1.
        stuck_after: u32,
        /// True if the agent is started again before that.
        respawn: bool,
    },
    /// Show the session as dead, and wait for a person.
    MarkDead,
    /// Start the agent again later; this is not a crash.
    Wait {
        /// Seconds until then; 1 to [`MAX_RESUME_AFTER`].
        resume_after: u32,
    },
}

impl<'a> Outcome<'a> {
    /// The states that it may lead to, in their order; the crash state is not among them.
    pub fn targets(self) -> impl Iterator<Item = StateId> + use<'a> {
        let (one, clauses): (_, &[_]) = match self {
            Self::Then(to) => (Some(to), &[]),
            Self::ThenWhen(clauses) => (None, clauses),
            Self::Crash { .. } | Self::MarkDead | Self::Wait { .. } => (None, &[]),
        };
        one.into_iter().chain(clauses.iter().map(|(_, to)| *to))
    }
}

/// Consequence that the exit rules of a state demand, before any transition is examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Take the transition to this state.
    Then(StateId),
    /// The agent crashed.
    Crash {
        /// The number of crashes after which the task escalates.
        stuck_after: u32,
        /// True if the agent is started again before that.
        respawn: bool,
    },
    /// Show the session as dead.
    MarkDead,
    /// Start the agent again later.
    Wait {
        /// Seconds until then.
        resume_after: u32,
    },
    /// No rule applies.
    Unmatched,
}

/// Decision about a task whose agent has ended.
#[derive(Clone, Debug)]
pub enum ExitDecision<'m> {
    /// It takes a transition.
    Advance {
        /// The transition that an exit rule chose.
        decision: Decision<'m>,
        /// Reason, in one sentence.
        reason: String,
    },
    /// It stays, and its `crash_count` rises.
    Crash {
        /// The new `crash_count`.
        count: u32,
        /// True if the agent is started again.
        respawn: bool,
        /// Reason for which it counts as a crash.
        reason: String,
    },
    /// It has crashed too often, and the engine moves it to the crash state.
    Escalate {
        /// The new `crash_count`.
        count: u32,
        /// The transition.
        decision: Decision<'m>,
        /// Reason for which it counts as a crash.
        reason: String,
    },
    /// It stays, and nothing else follows.
    MarkDead {
        /// Reason for which nothing moves it on.
        reason: String,
    },
    /// It stays, and its agent is started again later.
    Wait {
        /// Seconds until then.
        resume_after: u32,
        /// Reason for the wait.
        reason: String,
    },
}

impl<'m> Machine<'m> {
    /// Consequence that the exit rules of a state demand. `met` has for every entry of `exit_rules` whether its own condition
    /// holds: its artifact is there, or the agent ended as it says. Entries of rules without such a condition are ignored.
    pub fn exit(&self, state: StateId, met: &[bool], counters: &[u32]) -> Exit {
        let rule = self.exit_rule(state, |index| met.get(index).copied().unwrap_or_default());
        rule.map_or(Exit::Unmatched, |index| self.exit_rules[index].outcome.choose(counters))
    }

    /// The entry of `exit_rules` that applies in a state: the first whose condition holds. `holds` returns whether an entry's
    /// own condition holds: its artifact, or how the agent ended.
    pub fn exit_rule(&self, state: StateId, holds: impl Fn(usize) -> bool) -> Option<usize> {
        let Ok(rule) = self.first_rule::<Infallible>(state, |rule| Ok(holds(rule)));
        rule
    }

    fn first_rule<E>(
        &self,
        state: StateId,
        holds: impl Fn(usize) -> Result<bool, E>,
    ) -> Result<Option<usize>, E> {
        let no_artifact = || {
            for index in self.exit_rules_of(state) {
                if matches!(self.exit_rules[index].condition, Condition::Artifact(_)) && holds(index)? {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        for index in self.exit_rules_of(state) {
            let applies = match self.exit_rules[index].condition {
                Condition::Always => true,
                Condition::Artifact(_) | Condition::Ended(_) | Condition::Overdue(_) | Condition::Spent => {
                    holds(index)?
                }
                Condition::NoArtifact => no_artifact()?,
            };
            if applies {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// Decides about a task when the agent of its state ends like this.
    ///
    /// # Errors
    /// A program has to answer first.
    pub fn decide_exit(&self, view: &View<'_>, end: &AgentEnd<'_>) -> Result<ExitDecision<'m>, Rejection> {
        let state = self.state(view.status).name;
        let Some(rule) = self.exit_rule_for(view, end)? else {
            return Ok(ExitDecision::MarkDead {
                reason: format!("the agent ended in {state}, and no exit rule applies"),
            });
        };
        let ExitRule { condition, outcome, .. } = &self.exit_rules[rule];
        Ok(match outcome.choose(view.counters) {
            Exit::Then(to) => self.advance(view, to, condition, end)?,
            Exit::Crash { stuck_after, respawn } => {
                self.crash(view, stuck_after, respawn, condition.crashed(state))
            }
            Exit::MarkDead => ExitDecision::MarkDead { reason: condition.ended(state) },
            Exit::Wait { resume_after } => {
                ExitDecision::Wait { resume_after, reason: condition.ended(state) }
            }
            Exit::Unmatched => ExitDecision::MarkDead {
                reason: format!("the agent ended in {state}, and no clause of its exit rule holds"),
            },
        })
    }

    /// The entry of `exit_rules` that applies to a task whose agent has ended like this.
    ///
    /// # Errors
    /// A program has to answer first.
    pub fn exit_rule_for(&self, view: &View<'_>, end: &AgentEnd<'_>) -> Result<Option<usize>, Rejection> {
        self.first_rule(view.status, |index| self.is_met(index, view, end))
    }

    fn advance(
        &self,
        view: &View<'_>,
        to: StateId,
        condition: &Condition<'_>,
        end: &AgentEnd<'_>,
    ) -> Result<ExitDecision<'m>, Rejection> {
        let reason = match self.decide(view, to, Actor::Engine) {
            Ok(decision) if end.is_beside && self.takes_verdict(condition, &decision) => {
                "the agent ended beside another one, which may have written the verdict that stands there"
                    .into()
            }
            Ok(decision) => {
                let decision = Decision { cause: Cause::Exit, ..decision };
                return Ok(ExitDecision::Advance { decision, reason: condition.advanced() });
            }
            Err(rejection @ Rejection::NotAsked { .. }) => return Err(rejection),
            Err(rejection) => self.refused(view, to, rejection),
        };
        let (stuck_after, respawn) = self.crash_rule(view.status);
        Ok(self.crash(view, stuck_after, respawn, reason))
    }

    /// True if the transition depends on a verdict, which any agent in the worktree may have written.
    fn takes_verdict(&self, condition: &Condition<'_>, decision: &Decision<'_>) -> bool {
        let gates = self.transition(decision.transition).gates;
        gates.iter().chain(condition.gates()).flat_map(Gate::sections).any(SectionGate::asks_for_verdict)
    }

    /// An exit rule whose transition is refused, or depends on a verdict that may be another agent's, counts as a crash under
    /// the crash rule of the state.
    fn crash_rule(&self, state: StateId) -> (u32, bool) {
        self.exit_rules_of(state)
            .find_map(|index| match self.exit_rules[index].outcome {
                Outcome::Crash { stuck_after, respawn } => Some((stuck_after, respawn)),
                Outcome::Then(_) | Outcome::ThenWhen(_) | Outcome::MarkDead | Outcome::Wait { .. } => None,
            })
            .unwrap_or((DEFAULT_STUCK_AFTER, false))
    }

    fn refused(&self, view: &View<'_>, to: StateId, rejection: Rejection) -> String {
        let target = self.state(to).name;
        format!("the agent ended, and its exit rule cannot go to {target}: {}", rejection.message(self, view))
    }

    fn crash(&self, view: &View<'_>, stuck_after: u32, respawn: bool, reason: String) -> ExitDecision<'m> {
        let count = view.counter(CRASH_COUNT).saturating_add(1);
        if count < stuck_after {
            return ExitDecision::Crash { count, respawn, reason };
        }
        match self.escalation(view) {
            Some(decision) => ExitDecision::Escalate { count, decision, reason },
            None => {
                let note =
                    "; it has crashed too often, and the workflow declares no transition to a crash state";
                ExitDecision::Crash { count, respawn: false, reason: reason + note }
            }
        }
    }

    /// The engine takes the declared transition and its hooks, but skips gate and guard, which concern the agent's own
    /// requests.
    fn escalation(&self, view: &View<'_>) -> Option<Decision<'m>> {
        let to = self.commands.crash?;
        let open = self.candidates(view, to, Actor::Engine, None).into_iter().next();
        let id = open.or_else(|| self.between(view.status, to).next())?;
        Some(Decision { seen: Vec::new(), ..self.fire(view, id, Cause::Escalation) })
    }

    fn is_met(&self, index: usize, view: &View<'_>, end: &AgentEnd<'_>) -> Result<bool, Rejection> {
        let rule = &self.exit_rules[index];
        match &rule.condition {
            Condition::Artifact(gates) => match view.check(gates) {
                Err(Lack { gate, missing: Missing::Answer }) => {
                    Err(Rejection::NotAsked { asker: Asker::Rule(index), gate })
                }
                checked => Ok(checked.is_ok()),
            },
            Condition::Always
            | Condition::NoArtifact
            | Condition::Ended(_)
            | Condition::Overdue(_)
            | Condition::Spent => Ok(rule.fits(end)),
        }
    }
}

impl<'a> Condition<'a> {
    /// Requirements of the condition on sections.
    pub fn section_gates(&self) -> impl Iterator<Item = &'a SectionGate<'a>> + use<'a> {
        self.gates().iter().flat_map(Gate::sections)
    }

    /// The gates that it asks for.
    pub const fn gates(&self) -> &'a [Gate<'a>] {
        match self {
            Condition::Artifact(gates) => gates,
            Condition::Always
            | Condition::NoArtifact
            | Condition::Ended(_)
            | Condition::Overdue(_)
            | Condition::Spent => &[],
        }
    }
}

impl ExitRule<'_> {
    /// True if the rule is about the end of an agent, or about a time, and decides about this end.
    pub fn fits(&self, end: &AgentEnd<'_>) -> bool {
        match &self.condition {
            _ if self.only_notifies() => false,
            Condition::Ended(ending) => ending.fits(end),
            Condition::Overdue(_) => self.remaining(end) == Some(0),
            Condition::Spent => end.is_spent,
            Condition::Always | Condition::Artifact(_) | Condition::NoArtifact => false,
        }
    }

    /// The seconds after which its time is over, if it is about one.
    pub fn after(&self) -> Option<u32> {
        match &self.condition {
            Condition::Ended(ending) => ending.after,
            Condition::Overdue(deadline) => Some(deadline.after),
            Condition::Always | Condition::Artifact(_) | Condition::NoArtifact | Condition::Spent => None,
        }
    }

    /// Seconds that are left of its time; 0 when the time is over.
    pub fn remaining(&self, end: &AgentEnd<'_>) -> Option<u32> {
        let lasted = match &self.condition {
            Condition::Overdue(deadline) => deadline.lasted(end),
            Condition::Ended(_)
            | Condition::Always
            | Condition::Artifact(_)
            | Condition::NoArtifact
            | Condition::Spent => end.lasted,
        };
        Some(self.after()?.saturating_sub(lasted))
    }

    /// True if it tells a person that a time is over. It decides about no end: an agent that ends later is judged as any other.
    pub fn only_notifies(&self) -> bool {
        self.after().is_some() && matches!(self.outcome, Outcome::MarkDead)
    }
}

/// The reason that a rule with this condition gives, in one sentence.
impl Condition<'_> {
    fn advanced(&self) -> String {
        match self {
            Condition::Ended(ending) => format!("the agent ended {ending}"),
            Condition::Overdue(deadline) => format!("the agent ended {deadline}"),
            Condition::Spent => format!("the agent ended {SPENT}"),
            Condition::Always | Condition::Artifact(_) | Condition::NoArtifact => {
                "the agent ended after it had written what was asked for".into()
            }
        }
    }

    /// Time that is over, or the budget: `after 2 h`.
    pub(crate) fn limit(&self) -> String {
        match self {
            Condition::Ended(Ending { after, .. }) => format!("{}", Ending { after: *after, ..Ending::ANY }),
            Condition::Overdue(deadline) => format!("{deadline}"),
            Condition::Spent => SPENT.into(),
            Condition::Always | Condition::Artifact(_) | Condition::NoArtifact => String::new(),
        }
    }

    fn crashed(&self, state: &str) -> String {
        match self {
            Condition::Ended(_) | Condition::Overdue(_) | Condition::Spent => self.ended(state),
            Condition::Always | Condition::Artifact(_) | Condition::NoArtifact => {
                format!("the agent ended without what {state} asks for")
            }
        }
    }

    fn ended(&self, state: &str) -> String {
        match self {
            Condition::Ended(ending) => format!("the agent ended in {state} {ending}"),
            Condition::Overdue(deadline) => format!("the agent ended in {state} {deadline}"),
            Condition::Spent => format!("the agent ended in {state} {SPENT}"),
            Condition::Always | Condition::Artifact(_) | Condition::NoArtifact => {
                format!("the agent ended in {state}")
            }
        }
    }
}

impl Outcome<'_> {
    pub(crate) fn choose(&self, counters: &[u32]) -> Exit {
        match *self {
            Outcome::Then(to) => Exit::Then(to),
            Outcome::ThenWhen(clauses) => clauses
                .iter()
                .find(|(guard, _)| guard.holds(counters))
                .map_or(Exit::Unmatched, |(_, to)| Exit::Then(*to)),
            Outcome::Crash { stuck_after, respawn } => Exit::Crash { stuck_after, respawn },
            Outcome::MarkDead => Exit::MarkDead,
            Outcome::Wait { resume_after } => Exit::Wait { resume_after },
        }
    }
}

impl ExitDecision<'_> {
    /// Reason for the decision, in one sentence.
    pub fn reason(&self) -> &str {
        match self {
            ExitDecision::Advance { reason, .. }
            | ExitDecision::Crash { reason, .. }
            | ExitDecision::Escalate { reason, .. }
            | ExitDecision::MarkDead { reason }
            | ExitDecision::Wait { reason, .. } => reason,
        }
    }
}
