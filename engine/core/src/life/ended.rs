//! Consequences when an agent ends, waits, or cannot be started.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::start::workspace_of;
use super::{LifeEvent, LifeFacts, LifeTurn};
use crate::restart::{MAX_RESTARTS, limit_after, restart_after};
use crate::{
    Actor, AgentEnd, CRASH_COUNT, Cause, Condition, Decision, ExitDecision, ExitRule, LeftState, Machine,
    Outcome, Rejection, StateId,
};

impl<'m> Machine<'m> {
    /// Decides the consequences of an agent's end. A rejection says that a program has to answer first.
    pub(super) fn ended(
        &self,
        facts: &LifeFacts<'_>,
        agent: Actor,
        end: &AgentEnd<'_>,
    ) -> Result<LifeTurn<'m>, Rejection> {
        let state = self.state(facts.view.status);
        if state.terminal {
            return Ok(LifeTurn::of(
                Vec::new(),
                format!("the {} ended{}, and the task is over", agent.kind(), end.how()),
            ));
        }
        if state.agent != agent || !self.has_reviewer(facts.view.status, end.reviewer) {
            return Ok(LifeTurn::attention(format!(
                "the {} ended in {}{}",
                agent.kind(),
                state.name,
                end.how()
            )));
        }
        if let Some(reviewer) = end.reviewer
            && self.waits_for_others(facts, end, reviewer)?
        {
            let story = format!("the reviewer {reviewer} ended{}, and others are still at work", end.how());
            return Ok(LifeTurn::of(Vec::new(), story));
        }
        let exit = self.decide_exit(&facts.view, end)?;
        Ok(self.after_exit(facts, end, exit))
    }

    /// True if the end of a reviewer has no consequence while other reviewers are alive: it has given its verdict, or the exit
    /// rule that decides is not about how it ended. The verdicts are judged when the last reviewer has ended.
    fn waits_for_others(
        &self,
        facts: &LifeFacts<'_>,
        end: &AgentEnd<'_>,
        reviewer: &str,
    ) -> Result<bool, Rejection> {
        let is_beside = facts.reviewers.iter().any(|other| *other != reviewer);
        if self.has_judged(&facts.view, reviewer) {
            return Ok(is_beside || end.awaits_other.is_some());
        }
        if !is_beside {
            return Ok(false);
        }
        let rule = self.exit_rule_for(&facts.view, end)?.map(|rule| &self.exit_rules[rule]);
        Ok(rule.is_some_and(|rule| match (rule.condition, rule.outcome) {
            (Condition::Artifact(_), _) => true,
            (Condition::Always, Outcome::Then(_) | Outcome::ThenWhen(_)) => true,
            (
                Condition::Always
                | Condition::NoArtifact
                | Condition::Ended(_)
                | Condition::Overdue(_)
                | Condition::Spent,
                _,
            ) => false,
        }))
    }

    fn after_exit(&self, facts: &LifeFacts<'_>, end: &AgentEnd<'_>, exit: ExitDecision<'m>) -> LifeTurn<'m> {
        let reason = format!("{}{}", exit.reason(), end.how());
        if let ExitDecision::Advance { decision, .. } = exit {
            return self.advanced(decision, reason);
        }
        if end.is_awaited {
            return LifeTurn::of(Vec::new(), format!("{reason}; it was waiting for the end of a limit"));
        }
        if let Some(after) = self.left_of_limit(facts, end, &exit) {
            let reason = format!("{reason} at a limit of its provider");
            return self.restart_after(facts, Vec::new(), Some(after), reason, end);
        }
        let is_crash = matches!(exit, ExitDecision::Crash { .. } | ExitDecision::Escalate { .. });
        // The process that starts an agent can be killed: an agent that never began has not crashed.
        if is_crash && end.never_began {
            let story = format!("agent {} was never started{}", end.spawn, end.how());
            return self.restart_after(facts, Vec::new(), None, story, end);
        }
        let is_wait = matches!(exit, ExitDecision::Wait { .. });
        if let Some(lost) = end.lost.filter(|_| !is_wait) {
            let story = format!("agent {}: {lost}{}", end.spawn, end.how());
            let attention = LifeEvent::Attention(format!("{story}; the agent begins a new conversation"));
            return self.restart_after(
                facts,
                Vec::from([attention, LifeEvent::NotResumed]),
                None,
                story,
                end,
            );
        }
        match exit {
            ExitDecision::Advance { decision, .. } => self.advanced(decision, reason),
            ExitDecision::Crash { count, respawn, .. } => self.crashed(facts, end, count, respawn, reason),
            ExitDecision::Escalate { count, decision, .. } => self.escalated(count, decision, reason),
            ExitDecision::MarkDead { .. } => LifeTurn::attention(reason),
            ExitDecision::Wait { resume_after, .. } => {
                self.restart_after(facts, Vec::new(), Some(resume_after), reason, end)
            }
        }
    }

    /// True if the exit rules of this state must judge the end that led to it: the agent that ended is the state's own agent, and
    /// no other has been started in its place.
    pub fn is_missed(&self, status: StateId, has_session: bool, agent: Actor, is_replaced: bool) -> bool {
        let state = self.state(status);
        has_session && !is_replaced && !state.terminal && state.agent == agent
    }

    /// True if an exit rule limits the time in this state, or in a group of states that includes it, or is for its budget.
    pub fn limits(&self, state: StateId) -> bool {
        let mut rules = self.exit_rules_of(state).map(|rule| &self.exit_rules[rule]);
        rules.any(|rule| rule.after().is_some() || matches!(rule.condition, Condition::Spent))
    }

    /// True if a task has been in this state, or in a group of states that includes it, for longer than a rule allows. `lasted`
    /// is the time in this state, in seconds.
    pub fn is_overdue(&self, state: StateId, lasted: u32, left: &[LeftState]) -> bool {
        self.overdue_rule(state, &AgentEnd { lasted, left, ..AgentEnd::PLAIN }).is_some()
    }

    /// True if an exit rule of this state is for its used-up budget.
    pub fn leaves_when_spent(&self, state: StateId) -> bool {
        self.exit_rules_of(state).any(|rule| matches!(self.exit_rules[rule].condition, Condition::Spent))
    }

    /// The first rule of a state whose time is over, or whose budget is used up.
    fn overdue_rule(&self, state: StateId, end: &AgentEnd<'_>) -> Option<&ExitRule<'m>> {
        let mut rules = self.exit_rules_of(state).map(|rule| &self.exit_rules[rule]);
        let is_spent = |rule: &ExitRule<'_>| matches!(rule.condition, Condition::Spent) && end.is_spent;
        rules.find(|rule| rule.remaining(end) == Some(0) || is_spent(rule))
    }

    /// Decides the consequences of a time limit that is over, or of a budget that is used up. The driver first ends a living agent, unless the rule only notifies
    /// a person.
    pub(super) fn elapsed(
        &self,
        facts: &LifeFacts<'_>,
        has_agent: bool,
        end: &AgentEnd<'_>,
    ) -> Result<LifeTurn<'m>, Rejection> {
        let state = self.state(facts.view.status);
        let rule = self.overdue_rule(facts.view.status, end).filter(|_| !state.terminal);
        let Some(rule) = rule else { return Ok(LifeTurn::default()) };
        let still = format!("the task is still in {} {}", state.name, rule.condition.limit());
        let Some(to) = rule.outcome.targets().next() else { return Ok(LifeTurn::attention(still)) };
        if has_agent {
            let what = if end.is_spent { "the budget of" } else { "the time in" };
            let how = if end.is_spent { "is used up" } else { "is over" };
            return Ok(LifeTurn::of(Vec::new(), format!("{what} {} {how}", state.name)));
        }
        match self.decide(&facts.view, to, Actor::Engine) {
            Ok(decision) => Ok(self.advanced(Decision { cause: Cause::Exit, ..decision }, still)),
            Err(rejection @ Rejection::NotAsked { .. }) => Err(rejection),
            // A refusal is not a crash: the engine asks again until the transition is allowed.
            Err(rejection) => {
                let why = rejection.message(self, &facts.view);
                Ok(LifeTurn::attention(format!("{still}, and cannot go to {}: {why}", self.state(to).name)))
            }
        }
    }

    pub(super) fn limit_met(
        &self,
        facts: &LifeFacts<'_>,
        agent: Actor,
        left: Option<u32>,
        reason: &str,
    ) -> LifeTurn<'m> {
        if self.state(facts.view.status).agent != agent {
            return LifeTurn::default();
        }
        let after = self.seconds_of_limit(facts, left);
        // The agent is alive and goes on, so that nothing starts it.
        LifeTurn {
            effects: Vec::new(),
            ..self.restart_after(facts, Vec::new(), Some(after), reason.into(), &AgentEnd::PLAIN)
        }
    }

    pub(super) fn not_started(&self, facts: &LifeFacts<'_>, reason: &str, is_final: bool) -> LifeTurn<'m> {
        let reason = format!("could not be started again: {reason}");
        if is_final {
            given_up(Vec::new(), reason)
        } else {
            self.restart_after(facts, Vec::new(), None, reason, &AgentEnd::PLAIN)
        }
    }

    pub(crate) fn advanced(&self, decision: Decision<'m>, reason: String) -> LifeTurn<'m> {
        let to = decision.to;
        let story = format!("advanced to {}", self.state(to).name);
        LifeTurn::of(Vec::from([LifeEvent::Advanced { to, reason }, LifeEvent::Began(decision)]), story)
    }

    fn crashed(
        &self,
        facts: &LifeFacts<'_>,
        end: &AgentEnd<'_>,
        count: u32,
        respawn: bool,
        reason: String,
    ) -> LifeTurn<'m> {
        let state = self.state(facts.view.status);
        let story = format!("crash {count} in {}: {reason}", state.name);
        let crashed = LifeEvent::Crashed { counter: CRASH_COUNT, count, reason };
        let is_ready = |hook| workspace_of(hook).is_ready(facts.workspace);
        if respawn && state.respawn.as_ref().is_some_and(is_ready) {
            return self.restart_after(facts, Vec::from([crashed]), None, story, end);
        }
        LifeTurn::of(Vec::from([LifeEvent::Attention(story.clone()), crashed]), story)
    }

    fn escalated(&self, count: u32, decision: Decision<'m>, reason: String) -> LifeTurn<'m> {
        let to = decision.to;
        let story = format!("escalated to {} after {count} crashes: {reason}", self.state(to).name);
        let events = Vec::from([
            LifeEvent::Crashed { counter: CRASH_COUNT, count, reason: reason.clone() },
            LifeEvent::Advanced { to, reason },
            LifeEvent::Began(decision),
            LifeEvent::Attention(story.clone()),
        ]);
        LifeTurn::of(events, story)
    }

    /// The remaining seconds of a limit that the agent met. The limit replaces a crash or the time of a `wait` rule. Only a
    /// state with a respawn prompt can wait.
    fn left_of_limit(
        &self,
        facts: &LifeFacts<'_>,
        end: &AgentEnd<'_>,
        exit: &ExitDecision<'_>,
    ) -> Option<u32> {
        let limit = end.limit.filter(|_| self.state(facts.view.status).respawn.is_some())?;
        match exit {
            ExitDecision::Wait { resume_after, .. } => Some(limit.left.unwrap_or(*resume_after)),
            ExitDecision::Advance { .. }
            | ExitDecision::Crash { .. }
            | ExitDecision::Escalate { .. }
            | ExitDecision::MarkDead { .. } => Some(self.seconds_of_limit(facts, limit.left)),
        }
    }

    /// Seconds to wait at a limit: as the harness says, or else as a `wait` rule of the state says, or else by the number of
    /// restarts.
    fn seconds_of_limit(&self, facts: &LifeFacts<'_>, left: Option<u32>) -> u32 {
        let rule =
            self.exit_rules_of(facts.view.status).find_map(|rule| match self.exit_rules[rule].outcome {
                Outcome::Wait { resume_after } => Some(resume_after),
                Outcome::Then(_) | Outcome::ThenWhen(_) | Outcome::Crash { .. } | Outcome::MarkDead => None,
            });
        left.or(rule).unwrap_or_else(|| limit_after(facts.restarts))
    }

    /// Starts the agent again, now or after a delay, and gives up when the limit of restarts is reached. If another agent of the
    /// task waits longer, both start at the end of that wait, since one start covers all missing agents.
    fn restart_after(
        &self,
        facts: &LifeFacts<'_>,
        mut events: Vec<LifeEvent<'m>>,
        resume_after: Option<u32>,
        reason: String,
        end: &AgentEnd<'_>,
    ) -> LifeTurn<'m> {
        let Some(after) = restart_after(facts.restarts, resume_after) else {
            let reason = format!(
                "{reason}; it has been started again {MAX_RESTARTS} times, and the task has not moved on: \
                 `orange task respawn` tries once more"
            );
            return given_up(events, reason);
        };
        if end.awaits_other.is_some_and(|left| after <= left) {
            return LifeTurn::of(events, format!("{reason}; it is started again with the one that waits"));
        }
        let effects = if after == 0 {
            match self.again(facts, end.reviewer) {
                Ok(effects) => effects,
                Err(refusal) => {
                    let why = refusal.message(self, &facts.view);
                    return given_up(events, format!("{reason}; it could not be started again: {why}"));
                }
            }
        } else {
            Vec::new()
        };
        events.push(LifeEvent::Waits { after, reason: reason.clone() });
        LifeTurn { events, effects, story: reason }
    }
}

pub(super) fn given_up(mut events: Vec<LifeEvent<'_>>, reason: String) -> LifeTurn<'_> {
    events.push(LifeEvent::Attention(reason.clone()));
    events.push(LifeEvent::GaveUp { reason: reason.clone() });
    LifeTurn::of(events, reason)
}
