//! Possible next steps of a task: its agents, persons and the engine each do what they may.

use orange_core::{
    Actor, Actors, Cause, Decision, Effect, LifeEvent, LifeTurn, OnFailure, StateId, TransitionId,
};

use super::decisions;
use super::ends::{self, RuleIndex};
use super::explore::Explorer;
use super::symmetry::Exchange;
use super::task::{ABSENT, ContentId};
use super::task::{Agent, Event, Task, WaitingHooks, WrittenSection};
use super::{ConfigurationId, ExitResult, FailedHook, HookIndex, OWN_HOOK, SearchStep, WatchIndex, Wrote};

impl<'m> Explorer<'_, 'm> {
    /// Adds every step from a configuration. An end that is still to be judged comes before anything else.
    pub(super) fn steps_from(&mut self, from: ConfigurationId) {
        let task = *self.search.task(from);
        let from = Origin { configuration: from, exchange: Exchange::default() };
        self.repeated = self.search.symmetry.repeated(&task);
        if let Some(waiting) = task.waiting {
            self.while_hooks_wait(from, &task, waiting);
            return;
        }
        if let Some(agent) = task.unhandled_exit {
            self.judge(from, &task, agent, None);
            let asked = |section: &usize| self.search.sections.get(*section).asked.is_some();
            let asked: Vec<usize> = self.decisions.reads(&task).ruled.iter().filter(asked).collect();
            let answered: Vec<_> = asked.into_iter().flat_map(|it| self.rewritten(from, &task, it)).collect();
            for it in answered {
                self.judge(it.from, &it.task, agent, Some(it.wrote));
            }
            return;
        }
        if self.search.machine.state(task.status).terminal {
            return;
        }
        self.start(from, &task);
        self.requests(from, &task);
        self.exits(from, &task);
        self.one_of_several_exits(from, &task);
        self.elapses(from, &task);
        self.watches(from, &task);
        self.writes(from, &task);
        self.commits(from, &task);
        self.synced(from, &task);
    }

    /// A time is over, and no agent of the state is there to be ended; with an agent, it is one of its ends.
    fn elapses(&mut self, from: Origin, task: &Task) {
        let machine = self.search.machine;
        if task.agent(machine.state(task.status).agent) == Agent::Live {
            return;
        }
        for rule in ends::timed(machine, task.status) {
            self.elapsed(from, task, rule, None);
            for section in self.decisions.reads(task).gated.iter() {
                for it in self.rewritten(from, task, section) {
                    self.elapsed(it.from, &it.task, rule, Some(it.wrote));
                }
            }
        }
    }

    fn elapsed(&mut self, from: Origin, task: &Task, rule: RuleIndex, wrote: Option<Wrote>) {
        self.decisions.made += 1;
        if let Some(decision) = decisions::elapsed(self.search, task, rule) {
            let passed = self.search.times.passed(self.search.machine, task.passed, Some(rule));
            self.request(from, &Task { passed, ..*task }, &decision, Actor::Engine, wrote);
        }
    }

    /// A fact holds that the workflow watches: that can happen at any time.
    fn watches(&mut self, from: Origin, task: &Task) {
        for rule in self.search.machine.watch_rules_of(task.status) {
            let rule = rule as WatchIndex;
            self.watched(from, task, rule, None);
            for section in self.decisions.reads(task).gated.iter() {
                for it in self.rewritten(from, task, section) {
                    self.watched(it.from, &it.task, rule, Some(it.wrote));
                }
            }
        }
    }

    fn watched(&mut self, from: Origin, task: &Task, rule: WatchIndex, wrote: Option<Wrote>) {
        self.decisions.made += 1;
        if let Some(decision) = decisions::watched(self.search, task, rule) {
            let failed = FailedHook { by: Actor::Engine, one: None, wrote, exit: None, watch: Some(rule) };
            self.takes(from, task, &decision, failed);
        }
    }

    /// A task that was created past the initial state gets its worktree and its agent. Later that agent is started again, by a
    /// person or after a wait.
    fn start(&mut self, from: Origin, task: &Task) {
        let Some(turn) = decisions::start(self.search, task) else { return };
        // What leads out of the initial state is among the requests.
        if turn.decision().is_none() {
            let is_late = self.search.machine.is_to_start(task.status, task.workspace);
            let step = if is_late { SearchStep::Start } else { SearchStep::Respawn };
            let (next, _, events) = self.carried(task, &turn);
            self.add(from, step, next, events);
        }
    }

    /// Every transition that can fire, as things stand or after somebody has written what its gate reads.
    fn requests(&mut self, from: Origin, task: &Task) {
        for request in self.decisions.requests(self.search, task).iter() {
            if let Some(by) = self.asker(task, request.by) {
                self.request(from, task, &request.decision, by, None);
            }
        }
        for section in self.decisions.reads(task).gated.iter() {
            for it in self.rewritten(from, task, section) {
                if self.too_much().is_some() {
                    return;
                }
                let stands = self.search.symmetry.place_of(section, it.from.exchange);
                let requests = self.decisions.requests(self.search, &it.task);
                for request in requests.iter().filter(|it| it.sections.contains(&stands)) {
                    if let Some(by) = self.asker(task, request.by) {
                        self.request(it.from, &it.task, &request.decision, by, Some(it.wrote));
                    }
                }
            }
        }
    }

    fn asker(&self, task: &Task, by: Actors) -> Option<Actor> {
        self.search.machine.asker(task.status, by, |it| task.agent(it) == Agent::Live)
    }

    fn request(
        &mut self,
        from: Origin,
        task: &Task,
        decision: &Decision<'m>,
        by: Actor,
        wrote: Option<Wrote>,
    ) {
        self.takes(from, task, decision, FailedHook { by, one: None, wrote, exit: None, watch: None });
    }

    /// Adds the transition of a request, and those of which a hook fails.
    fn takes(&mut self, from: Origin, task: &Task, decision: &Decision<'m>, cause: FailedHook) {
        let (transition, FailedHook { by, wrote, watch, .. }) = (decision.transition, cause);
        self.take_transition(from, task, decision, SearchStep::Request { transition, by, wrote, watch });
        self.failures(from, task, decision, cause);
    }

    fn take_transition(&mut self, from: Origin, task: &Task, decision: &Decision<'m>, step: SearchStep) {
        let (mut next, mut events) = (*task, Vec::new());
        self.fire(&mut next, decision, &mut events);
        if next.waiting.is_none() {
            next.unhandled_exit = task.unhandled_exit.filter(|agent| self.is_missed(&next, *agent));
        }
        self.add(from, step, next, events);
    }

    /// Adds the failed transition for each of its hooks that can fail and then stops the others. A hook that fails by
    /// itself always does.
    pub(super) fn failures(
        &mut self,
        from: Origin,
        task: &Task,
        decision: &Decision<'m>,
        failed: FailedHook,
    ) {
        let transition = decision.transition;
        for (hook, effect) in (0..).zip(&decision.effects) {
            if effect.hook.on_failure == OnFailure::GoOn {
                continue;
            }
            let (mut next, mut events) = (*task, Vec::new());
            self.enter(&mut next, decision);
            if !self.fails_at(&mut next, &decision.effects, 0, hook, &mut events) {
                return;
            }
            self.stop(&mut next, transition, hook, decision.cause == Cause::HookFailed);
            self.add(from, SearchStep::Failure { transition, hook, failed }, next, events);
        }
    }

    /// The task goes on by itself where its transition says how. Else somebody has the hooks run, or the task is cancelled, perhaps after
    /// something was written. The ends of agents are judged once the hooks have run, as if they
    /// came then, and are left out where no hook fails because of a living agent.
    fn while_hooks_wait(&mut self, from: Origin, task: &Task, waiting: WaitingHooks) {
        let machine = self.search.machine;
        let plain = Task { waiting: None, ..*task };
        if waiting.goes_on {
            if let Some(decision) = decisions::after_failure(self.search, &plain, waiting.transition) {
                self.request(from, &plain, &decision, Actor::Engine, None);
            }
            return;
        }
        let cancelled = Task { unhandled_exit: None, ..plain };
        let requests = self.decisions.requests(self.search, &cancelled);
        for request in requests.iter().filter(|it| machine.commands.cancel == Some(it.decision.to)) {
            if let Some(by) = self.asker(task, request.by) {
                self.request(from, &cancelled, &request.decision, by, None);
            }
        }
        self.retry(from, task, waiting);
        let reads = self.decisions.reads(task);
        for section in reads.gated.with(reads.ruled).iter() {
            for it in self.rewritten(from, task, section) {
                self.add(it.from, SearchStep::Write(it.wrote), it.task, Vec::new());
            }
        }
    }

    /// The hooks that wait run again, and each of them can fail again. A person may always ask for that.
    fn retry(&mut self, from: Origin, task: &Task, waiting: WaitingHooks) {
        let WaitingHooks { transition, hook: first, follows_failure, .. } = waiting;
        let plain = Task { waiting: None, ..*task };
        let by = self.asker(task, self.search.machine.transition(transition).by).unwrap_or(Actor::Human);
        let values = self.search.counters.values(&plain);
        let left = &self.search.machine.effects_left(transition, first.into(), &values);
        let (mut next, mut events) = (plain, Vec::new());
        match self.run_hooks(&mut next, left, first, &mut events) {
            Some(hook) => {
                self.stop(&mut next, transition, hook, follows_failure);
                self.ends_while_waiting(from, task);
            }
            None => {
                let closing = self.search.machine.closing(Cause::Request(by)).into_iter();
                closing.for_each(|(counter, value)| self.search.counters.set(&mut next, counter, value));
                next.unhandled_exit = next.unhandled_exit.filter(|agent| self.is_missed(&next, *agent));
            }
        }
        self.add(from, SearchStep::Retry { by, failing: None }, next, events);
        for (hook, _) in (first..).zip(left).filter(|(_, it)| it.hook.on_failure == OnFailure::Stop) {
            let (mut next, mut events) = (plain, Vec::new());
            if !self.fails_at(&mut next, left, first, hook, &mut events) {
                return;
            }
            self.stop(&mut next, transition, hook, follows_failure);
            if next != *task {
                self.add(from, SearchStep::Retry { by, failing: Some(hook) }, next, events);
            }
        }
    }

    /// A hook fails by itself as long as an agent is alive, which may end meanwhile. Only the end of the state's own agent is judged
    /// later.
    fn ends_while_waiting(&mut self, from: Origin, task: &Task) {
        let own = self.search.machine.state(task.status).agent;
        for agent in [Actor::Worker, Actor::Reviewer].into_iter().filter(|it| task.agent(*it) == Agent::Live)
        {
            let mut ended = *task;
            ended.set_agent(agent, Agent::Dead);
            if agent == own {
                ended.unhandled_exit = Some(agent);
            }
            self.add(from, SearchStep::EndWhileWaiting(agent), ended, Vec::new());
        }
    }

    /// Runs the hooks up to one of them that fails; whether it comes to that, and does not fail by itself.
    fn fails_at(
        &mut self,
        task: &mut Task,
        effects: &[Effect<'m>],
        first: HookIndex,
        hook: HookIndex,
        events: &mut Vec<(HookIndex, Event)>,
    ) -> bool {
        let at = usize::from(hook - first);
        if self.run_hooks(task, &effects[..at], first, events).is_some() {
            return false;
        }
        let mut tried = *task;
        let event = self.take(&mut tried, &effects[at]);
        self.count(task, &effects[at]);
        !tried.is_stopped_by(&effects[at].hook, event)
    }

    /// The hooks wait from this one on, which has failed.
    fn stop(&mut self, task: &mut Task, transition: TransitionId, hook: HookIndex, follows_failure: bool) {
        let goes_on = !follows_failure && {
            self.decisions.made += 1;
            decisions::after_failure(self.search, task, transition).is_some()
        };
        task.waiting = Some(WaitingHooks { transition, hook, follows_failure, goes_on });
    }

    /// Each agent that is alive can end, whatever it has written before.
    fn exits(&mut self, from: Origin, task: &Task) {
        for agent in [Actor::Worker, Actor::Reviewer] {
            if task.agent(agent) != Agent::Live {
                continue;
            }
            let mut ended = *task;
            ended.set_agent(agent, Agent::Dead);
            self.judge(from, &ended, agent, None);
            if self.search.machine.state(task.status).agent == agent {
                for section in self.decisions.reads(task).ruled.iter() {
                    for it in self.rewritten(from, &ended, section) {
                        self.judge(it.from, &it.task, agent, Some(it.wrote));
                    }
                }
            }
        }
    }

    /// Asks what becomes of the task, for every end of the agent that its exit rules tell apart.
    fn judge(&mut self, from: Origin, task: &Task, agent: Actor, wrote: Option<Wrote>) {
        // Where hooks wait then, it is judged again when they have run, but only once more.
        let is_first = task.unhandled_exit.is_none();
        let task = &Task { unhandled_exit: is_first.then_some(agent), ..*task };
        for (end, turn) in self.decisions.exits(self.search, task, agent).iter() {
            // A task that has just come to its state has not been there for long.
            if !is_first && end.is_some_and(|rule| ends::is_timed(self.search.machine, rule)) {
                continue;
            }
            let passed = self.search.times.passed(self.search.machine, task.passed, *end);
            let task = &Task { passed, ..*task };
            let (mut next, outcome, events) = self.carried(task, turn);
            if next.waiting.is_none() {
                let is_missed = next.status != task.status && self.is_missed(&next, agent);
                next.unhandled_exit = is_missed.then_some(agent);
            }
            if outcome == (ExitResult::Waits { resumed: false }) {
                self.resumes(
                    from,
                    &next,
                    SearchStep::Exit {
                        agent,
                        one: None,
                        wrote,
                        end: *end,
                        outcome: ExitResult::Waits { resumed: true },
                    },
                );
            }
            self.add(from, SearchStep::Exit { agent, one: None, wrote, end: *end, outcome }, next, events);
            if let Some(decision) = turn.decision() {
                self.failures(
                    from,
                    task,
                    decision,
                    FailedHook { by: agent, one: None, wrote, exit: Some(*end), watch: None },
                );
            }
        }
    }

    fn is_missed(&self, task: &Task, agent: Actor) -> bool {
        let is_replaced = task.agent(agent) == Agent::Live;
        self.search.machine.is_missed(task.status, task.session, agent, is_replaced)
    }

    /// Adds the end of an agent with the start of the next one after the wait.
    pub(super) fn resumes(&mut self, from: Origin, waiting: &Task, step: SearchStep) {
        if let Some(turn) = decisions::respawn(self.search, waiting) {
            let (next, _, events) = self.carried(waiting, &turn);
            self.add(from, step, next, events);
        }
    }

    /// The task after what follows, what became of it, and what its hooks did beside.
    pub(super) fn carried(
        &mut self,
        task: &Task,
        turn: &LifeTurn<'m>,
    ) -> (Task, ExitResult, Vec<(HookIndex, Event)>) {
        let (mut next, mut outcome, mut events) = (*task, ExitResult::Marked, Vec::new());
        let is_started = !turn.effects.is_empty();
        for event in &turn.events {
            match event {
                LifeEvent::Crashed { counter, count, .. } => {
                    self.search.counters.set(&mut next, *counter, *count);
                    outcome = ExitResult::Crash { respawned: is_started };
                }
                LifeEvent::Began(decision) => {
                    self.fire(&mut next, decision, &mut events);
                    outcome = if decision.cause == Cause::Escalation {
                        ExitResult::Escalate(decision.transition)
                    } else {
                        ExitResult::Advance(decision.transition)
                    };
                }
                LifeEvent::Waits { .. } if !is_started => outcome = ExitResult::Waits { resumed: false },
                LifeEvent::Forced { to, .. } => self.arrive(&mut next, *to),
                LifeEvent::Waits { .. }
                | LifeEvent::NotResumed
                | LifeEvent::Advanced { .. }
                | LifeEvent::HooksWait
                | LifeEvent::GaveUp { .. }
                | LifeEvent::Attention(_) => {}
            }
        }
        for effect in &turn.effects {
            let before = next;
            let event = self.take(&mut next, effect);
            self.is_wrong |= self.starts_a_living_one(effect, event);
            events.extend(event.map(|event| (OWN_HOOK, event)));
            if next.has_started(&before) {
                self.note_verdicts(&mut next, effect.hook.reviewer());
            }
        }
        (next, outcome, events)
    }

    /// Adds the steps that only write: where several sections matter, they are written one after the other; and what stands in a section
    /// may count later, in any state, where not every gate on it wants something new. An answer that is got here may count later, too.
    fn writes(&mut self, from: Origin, task: &Task) {
        let reads = self.decisions.reads(task);
        let here = reads.gated.with(reads.ruled);
        let kept = self.search.sections.kept();
        let here = if here.len() < 2 { here.both(kept.answers) } else { here };
        for section in kept.written.with(here).iter() {
            for it in self.rewritten(from, task, section) {
                self.add(it.from, SearchStep::Write(it.wrote), it.task, Vec::new());
            }
        }
    }

    /// Takes a transition.
    fn fire(&mut self, task: &mut Task, decision: &Decision<'m>, events: &mut Vec<(HookIndex, Event)>) {
        self.enter(task, decision);
        if let Some(hook) = self.run_hooks(task, &decision.effects, 0, events) {
            self.stop(task, decision.transition, hook, decision.cause == Cause::HookFailed);
        } else if let Some((counter, value)) = decision.closing {
            self.search.counters.set(task, counter, value);
        }
    }

    fn arrive(&self, task: &mut Task, status: StateId) {
        task.passed = self.search.times.entered(task.passed, status);
        task.status = status;
    }

    /// Writes the status, and what is known then of the sections.
    fn enter(&mut self, task: &mut Task, decision: &Decision<'m>) {
        self.arrive(task, decision.to);
        let seen = decision.seen.iter().filter_map(|it| self.search.sections.find(it.section));
        for section in seen {
            let written = task.section(section);
            task.write(section, WrittenSection { seen: written.content != ABSENT, ..written });
        }
        if self.search.machine.state(task.status).terminal {
            (task.sections, task.outdated) = (0, 0);
            return;
        }
        let fresh = self.decisions.reads(task).fresh;
        for section in 0..self.search.sections.len() {
            self.stood(task, section, fresh.has(section));
        }
    }

    /// A section stood there before; whether that counts for a gate that wants something new.
    pub(super) fn stood(&mut self, task: &mut Task, section: usize, counts: bool) {
        let written = task.section(section);
        let old = match self.search.sections.get(section).is_forgotten {
            true => WrittenSection { content: ABSENT, seen: false, stood: false },
            false => WrittenSection { stood: counts && written.content != ABSENT, ..written },
        };
        let is_stale = written.content != ABSENT && (old.content == ABSENT || old.is_stale());
        self.search.stale[usize::from(task.status.0)] |= u16::from(is_stale) << section;
        task.write(section, old);
    }

    /// The task with every content that can be written to a section and that no gate has seen yet.
    fn rewritten(&self, from: Origin, task: &Task, section: usize) -> Vec<Rewritten> {
        if self.repeated.sections >> section & 1 == 1 {
            return Vec::new();
        }
        let known = self.search.sections.get(section);
        let fresh = ABSENT + 1..known.contents.len() as ContentId;
        let blank = known.blank.is_some().then_some(ABSENT);
        let fresh = fresh.chain(blank).map(|content| WrittenSection { content, seen: false, stood: false });
        let written = fresh.filter(|it| *it != task.section(section)).map(|written| {
            let mut next = *task;
            next.write(section, written);
            let (task, exchange) = self.search.symmetry.canonical(&next);
            let from = Origin { exchange: exchange.after(from.exchange), ..from };
            Rewritten { from, wrote: Wrote { section: section as u8, content: written.content }, task }
        });
        written.collect()
    }
}

/// Configuration in which a step begins.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    pub configuration: ConfigurationId,
    /// The reviewers that were exchanged after what the step has written.
    pub exchange: Exchange,
}

/// A task after a section was written.
struct Rewritten {
    from: Origin,
    wrote: Wrote,
    task: Task,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Search;
    use orange_codegen::lower::{Arena, lower};
    use orange_codegen::{Source, compile};

    /// The steps of a run to `reviewing` and from where its hooks wait, in words, with the state that each leads to.
    #[track_caller]
    fn check(target: &str, expect: &[&str]) {
        let text = format!(
            "name: flow\nfields: {{tries: 0}}\nstates: {{working: {{}}, reviewing: {{}}, done: {{terminal: true}}, \
             cancelled: {{terminal: true}}}}\ntransitions:\n\
             - {{from: working, to: reviewing, hooks: [{{action: push_branch, on_failure: stop}}, \
             {{action: run_command, argv: [make], on_failure: go-on}}, {{action: acquire_workspace}}]{target}}}\n\
             - {{from: reviewing, to: working, hooks: [{{action: push_branch, on_failure: stop}}]}}\n\
             - {{from: reviewing, to: done}}\n- {{from: reviewing, to: cancelled}}\n"
        );
        let checked = compile(&Source::new("flow.yml", text)).checked.expect("sound");
        let arena = Arena::default();
        let machine = lower(&checked, &arena).expect("a state machine");
        let search = Search::run(&machine);
        let to = |step: &crate::search::Edge| {
            let task = search.task(step.to);
            let waits = if task.waiting.is_some() { ", waits" } else { "" };
            let bound = if task.has_worktree() { ", bound" } else { "" };
            format!("{}{waits}{bound}", machine.state(task.status).name)
        };
        let words = |step: &crate::search::Edge| match step.step {
            SearchStep::Request { by, .. } => format!("{} → {}", by.kind(), to(step)),
            SearchStep::Failure { hook, .. } => format!("{hook} fails → {}", to(step)),
            SearchStep::Retry { failing: None, .. } => format!("retry → {}", to(step)),
            SearchStep::Retry { .. } => format!("fails again → {}", to(step)),
            SearchStep::Start
            | SearchStep::Write(_)
            | SearchStep::Commit(_)
            | SearchStep::EndWhileWaiting(_)
            | SearchStep::Exit { .. }
            | SearchStep::Respawn => "other".to_owned(),
        };
        let first = search.edges_from(0);
        let waits = first.iter().find(|it| search.task(it.to).waiting.is_some()).expect("hooks wait");
        let found: Vec<String> = first.iter().chain(search.edges_from(waits.to)).map(words).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn a_hook_that_stops_the_others_fails_or_does_not() {
        let to = ["human → reviewing, bound", "0 fails → reviewing, waits"];
        check("", &[&to[..], &["human → cancelled", "retry → reviewing, bound"]].concat());
        // The transition back has a hook that can fail, too, and names no state for that.
        let target = ", on_hook_failure: working";
        check(target, &[&to[..], &["engine → working", "0 fails → working, waits"]].concat());
    }

    #[test]
    fn a_hook_that_can_never_work_fails_each_time() {
        let text = "\
name: flow
states: {working: {}, reviewing: {}, done: {terminal: true}, cancelled: {terminal: true}}
transitions:
- {from: working, to: reviewing, hooks: [{action: push_branch, on_failure: stop}, {action: run_command, argv: [make]}, {action: acquire_workspace}]}
- {from: reviewing, to: [done, cancelled]}
";
        let checked = compile(&Source::new("flow.yml", text)).checked.expect("sound");
        let arena = Arena::default();
        let machine = lower(&checked, &arena).expect("a state machine");
        let search = Search::run(&machine);
        let steps: Vec<_> =
            search.edges_from(0).iter().map(|it| (it.step, search.task(it.to).waiting)).collect();
        let waits = |hook| {
            Some(WaitingHooks { transition: TransitionId(0), hook, follows_failure: false, goes_on: false })
        };
        let by = Actor::Human;
        let failed = FailedHook { by, one: None, wrote: None, exit: None, watch: None };
        let transition = TransitionId(0);
        let request = SearchStep::Request { transition, by, wrote: None, watch: None };
        let failure = SearchStep::Failure { transition, hook: 0, failed };
        assert_eq!(steps, [(request, waits(1)), (failure, waits(0))]);
        let never = search.edges().filter(|(_, edge)| search.has_failed_by_itself(edge));
        let retried =
            never.filter(|(_, edge)| edge.step == SearchStep::Retry { by: Actor::Human, failing: None });
        assert!(
            retried.clone().count() == 2
                && retried.clone().all(|(_, edge)| search.task(edge.to).waiting == waits(1))
        );
        assert!(search.configurations().all(|(_, task)| task.workspace.is_none()), "no later hook runs");
    }
}
