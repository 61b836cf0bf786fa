//! What can happen next to a task: its agents, persons and the engine each do what they may.

use orange_core::{Actor, Actors, Cause, Decision, Effect, LifeEvent, OnFailure, Turn};

use super::decisions;
use super::ends::{self, RuleIndex};
use super::task::{ABSENT, ContentId};
use super::task::{Agent, Event, Task, WaitingHooks, Written};
use super::{ConfigurationId, ExitResult, Explorer, FailedHook, HookIndex, OWN_HOOK, SearchStep, Wrote};

impl<'m> Explorer<'_, 'm> {
    /// Adds every step from a configuration. An end that is still to be judged comes before anything else.
    pub(super) fn steps_from(&mut self, from: ConfigurationId) {
        let task = *self.search.task(from);
        if let Some(agent) = task.unhandled_exit {
            self.judge(from, &task, agent, None);
            return;
        }
        if let Some(waiting) = task.waiting {
            self.while_hooks_wait(from, &task, waiting);
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
        self.writes(from, &task);
    }

    /// A time is over, and no agent of the state is there to be ended; with an agent, it is one of its ends.
    fn elapses(&mut self, from: ConfigurationId, task: &Task) {
        let machine = self.search.machine;
        if task.agent(machine.state(task.status).agent) == Agent::Live {
            return;
        }
        for rule in ends::timed(machine, task.status) {
            self.elapsed(from, task, rule, None);
            for section in self.decisions.reads(task).gated.iter() {
                for (wrote, written) in self.rewritten(task, section) {
                    self.elapsed(from, &written, rule, Some(wrote));
                }
            }
        }
    }

    fn elapsed(&mut self, from: ConfigurationId, task: &Task, rule: RuleIndex, wrote: Option<Wrote>) {
        self.decisions.made += 1;
        if let Some(decision) = decisions::elapsed(self.search, task, rule) {
            self.request(from, task, &decision, Actor::Engine, wrote);
        }
    }

    /// A task that was created past the initial state gets its worktree and its agent. Later that agent is started again, by a
    /// person or after a wait.
    fn start(&mut self, from: ConfigurationId, task: &Task) {
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
    fn requests(&mut self, from: ConfigurationId, task: &Task) {
        for request in self.decisions.requests(self.search, task).iter() {
            if let Some(by) = self.asker(task, request.by) {
                self.request(from, task, &request.decision, by, None);
            }
        }
        for section in self.decisions.reads(task).gated.iter() {
            for (wrote, written) in self.rewritten(task, section) {
                if self.too_much().is_some() {
                    return;
                }
                let requests = self.decisions.requests(self.search, &written);
                for request in requests.iter().filter(|it| it.sections.contains(&section)) {
                    if let Some(by) = self.asker(task, request.by) {
                        self.request(from, &written, &request.decision, by, Some(wrote));
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
        from: ConfigurationId,
        task: &Task,
        decision: &Decision<'m>,
        by: Actor,
        wrote: Option<Wrote>,
    ) {
        let transition = decision.transition;
        self.take_transition(from, task, decision, SearchStep::Request { transition, by, wrote });
        let failed = FailedHook { by, one: None, wrote, exit: None };
        self.failures(from, task, decision, failed);
    }

    fn take_transition(
        &mut self,
        from: ConfigurationId,
        task: &Task,
        decision: &Decision<'m>,
        step: SearchStep,
    ) {
        let (mut next, mut events) = (*task, Vec::new());
        self.fire(&mut next, decision, &mut events);
        self.add(from, step, next, events);
    }

    /// The same transition, for each of its hooks that can fail and then stops the others.
    pub(super) fn failures(
        &mut self,
        from: ConfigurationId,
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
            self.run_hooks(&mut next, &decision.effects[..usize::from(hook)], 0, &mut events);
            let follows_failure = self.search.task(from).waiting.is_some() && failed.by == Actor::Engine;
            next.waiting = Some(WaitingHooks { transition, hook, follows_failure });
            self.add(from, SearchStep::Failure { transition, hook, failed }, next, events);
        }
    }

    /// The task goes on by itself where its transition says how. Else somebody has the hooks run, or the task is cancelled. The
    /// ends of agents are left out: they are judged once the hooks have run, as if they came then.
    fn while_hooks_wait(&mut self, from: ConfigurationId, task: &Task, waiting: WaitingHooks) {
        let machine = self.search.machine;
        let WaitingHooks { transition, hook, follows_failure } = waiting;
        let plain = Task { waiting: None, ..*task };
        let target = machine.transition(transition).on_hook_failure.filter(|_| !follows_failure);
        if let Some(decision) = target.and_then(|to| decisions::taken_by_engine(self.search, &plain, to)) {
            self.request(from, &plain, &decision, Actor::Engine, None);
            return;
        }
        let requests = self.decisions.requests(self.search, &plain);
        for request in requests.iter().filter(|it| machine.commands.cancel == Some(it.decision.to)) {
            if let Some(by) = self.asker(task, request.by) {
                self.request(from, &plain, &request.decision, by, None);
            }
        }
        let (mut next, mut events) = (plain, Vec::new());
        let effects = machine.effects_of(transition, &self.search.counters.values(&plain));
        let left = effects.get(usize::from(hook)..).unwrap_or_default();
        self.run_hooks(&mut next, left, hook, &mut events);
        let closing = machine.closing(Cause::Request(Actor::Engine));
        closing.into_iter().for_each(|(counter, value)| self.search.counters.set(&mut next, counter, value));
        self.add(from, SearchStep::Retry, next, events);
    }

    /// Each agent that is alive can end, whatever it has written before.
    fn exits(&mut self, from: ConfigurationId, task: &Task) {
        for agent in [Actor::Worker, Actor::Reviewer] {
            if task.agent(agent) != Agent::Live {
                continue;
            }
            let mut ended = *task;
            ended.set_agent(agent, Agent::Dead);
            self.judge(from, &ended, agent, None);
            if self.search.machine.state(task.status).agent == agent {
                for section in self.decisions.reads(task).ruled.iter() {
                    for (wrote, written) in self.rewritten(&ended, section) {
                        self.judge(from, &written, agent, Some(wrote));
                    }
                }
            }
        }
    }

    /// Asks what becomes of the task, for every end of the agent that its exit rules tell apart.
    fn judge(&mut self, from: ConfigurationId, task: &Task, agent: Actor, wrote: Option<Wrote>) {
        let task = &Task { unhandled_exit: None, ..*task };
        for (end, turn) in self.decisions.exits(self.search, task, agent).iter() {
            let (mut next, outcome, events) = self.carried(task, turn);
            let is_replaced = next.agent(agent) == Agent::Live;
            let is_missed = next.status != task.status
                && self.search.machine.is_missed(next.status, next.session, agent, is_replaced);
            next.unhandled_exit = is_missed.then_some(agent);
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
                    FailedHook { by: agent, one: None, wrote, exit: Some(*end) },
                );
            }
        }
    }

    /// The same end of an agent, with the start of the next one after the wait.
    pub(super) fn resumes(&mut self, from: ConfigurationId, waiting: &Task, step: SearchStep) {
        if let Some(turn) = decisions::start(self.search, waiting).filter(|turn| turn.decision().is_none()) {
            let (next, _, events) = self.carried(waiting, &turn);
            self.add(from, step, next, events);
        }
    }

    /// The task after what follows, what became of it, and what its hooks did beside.
    pub(super) fn carried(
        &mut self,
        task: &Task,
        turn: &Turn<'m>,
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
                LifeEvent::Forced { to, .. } => next.status = *to,
                LifeEvent::Waits { .. }
                | LifeEvent::NotResumed
                | LifeEvent::Advanced { .. }
                | LifeEvent::HooksWait
                | LifeEvent::GaveUp { .. }
                | LifeEvent::Attention(_) => {}
            }
        }
        for effect in &turn.effects {
            events.extend(self.take(&mut next, effect).map(|event| (OWN_HOOK, event)));
            if effect.hook.spawn().is_some() {
                self.note_verdicts(&mut next, effect.hook.reviewer());
            }
        }
        (next, outcome, events)
    }

    /// Where several sections matter, they are written one after the other.
    fn writes(&mut self, from: ConfigurationId, task: &Task) {
        let reads = self.decisions.reads(task);
        let sections = reads.gated.with(reads.ruled);
        if sections.len() < 2 {
            return;
        }
        for section in sections.iter() {
            for (wrote, written) in self.rewritten(task, section) {
                self.add(from, SearchStep::Write(wrote), written, Vec::new());
            }
        }
    }

    /// Takes a transition.
    fn fire(&mut self, task: &mut Task, decision: &Decision<'m>, events: &mut Vec<(HookIndex, Event)>) {
        self.enter(task, decision);
        self.run_hooks(task, &decision.effects, 0, events);
        if let Some((counter, value)) = decision.closing {
            self.search.counters.set(task, counter, value);
        }
    }

    /// Writes the status, and what is known then of the sections.
    fn enter(&mut self, task: &mut Task, decision: &Decision<'m>) {
        task.status = decision.to;
        let seen = decision.seen.iter().filter_map(|it| self.search.sections.find(it.section));
        for section in seen {
            let written = task.section(section);
            task.write(section, Written { seen: written.content != ABSENT, ..written });
        }
        let fresh = self.decisions.reads(task).fresh;
        for section in 0..self.search.sections.len() {
            let written = task.section(section);
            let stood = fresh.has(section) && written.content != ABSENT;
            task.write(section, Written { stood, ..written });
        }
    }

    /// Runs hooks, of which the first has this index.
    fn run_hooks(
        &mut self,
        task: &mut Task,
        effects: &[Effect<'m>],
        first: HookIndex,
        events: &mut Vec<(HookIndex, Event)>,
    ) {
        self.hooks += effects.len();
        for (index, effect) in (first..).zip(effects) {
            events.extend(self.take(task, effect).map(|event| (index, event)));
        }
    }

    fn take(&self, task: &mut Task, effect: &Effect<'m>) -> Option<Event> {
        if let Some((counter, value)) = effect.counter {
            self.search.counters.set(task, counter, value);
        }
        task.take(effect, self.search.reviewers.bit(&effect.hook))
    }

    /// A verdict that an agent finds at its start is not its own; another reviewer's section is none of its business.
    fn note_verdicts(&self, task: &mut Task, reviewer: Option<&str>) {
        let is_own = |it: Option<&str>| it.is_none() || it == reviewer;
        let judged = self.decisions.reads(task).judged.iter();
        for section in judged.filter(|it| is_own(self.search.sections.get(*it).reviewer)) {
            let written = task.section(section);
            task.write(section, Written { stood: written.content != ABSENT, ..written });
        }
    }

    /// The task with every content that can be written to a section and that no gate has seen yet.
    fn rewritten(&self, task: &Task, section: usize) -> impl Iterator<Item = (Wrote, Task)> + use<> {
        let known = self.search.sections.get(section);
        let fresh = ABSENT + 1..known.contents.len() as ContentId;
        let blank = known.blank.is_some().then_some(ABSENT);
        let fresh = fresh.chain(blank).map(|content| Written { content, seen: false, stood: false });
        let task = *task;
        fresh.filter(move |it| *it != task.section(section)).map(move |written| {
            let mut next = task;
            next.write(section, written);
            (Wrote { section: section as u8, content: written.content }, next)
        })
    }
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
             - {{from: working, to: reviewing, hooks: [{{action: run_command, argv: [make]}}, \
             {{action: run_command, argv: [make], on_failure: go-on}}, {{action: acquire_workspace}}]{target}}}\n\
             - {{from: reviewing, to: working, hooks: [{{action: run_command, argv: [make]}}]}}\n\
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
            SearchStep::Retry => format!("retry → {}", to(step)),
            SearchStep::Start | SearchStep::Write(_) | SearchStep::Exit { .. } | SearchStep::Respawn => {
                "other".to_owned()
            }
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
}
