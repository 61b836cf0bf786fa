//! What can happen next to a task: its agents, persons and the engine each do what they may.

use orange_core::{Actor, Actors, CRASH_COUNT, Effect, Hook, REVIEW_ROUND};

use super::decisions::{Exit, Fire};
use super::sections::{ABSENT, ContentId};
use super::task::{Agent, Event, Task, Written};
use super::{ConfigurationId, ExitResult, Explorer, HookIndex, OWN_HOOK, SearchStep, Wrote};

impl Explorer<'_, '_> {
    /// Adds every step from a configuration. An end that is still to be judged comes before anything else.
    pub(super) fn steps_from(&mut self, from: ConfigurationId) {
        let task = *self.search.task(from);
        if let Some(agent) = task.unhandled_exit {
            self.judge(from, &task, agent, None);
            return;
        }
        if self.search.machine.state(task.status).terminal {
            return;
        }
        self.start(from, &task);
        self.requests(from, &task);
        self.exits(from, &task);
        self.respawn(from, &task);
        self.writes(from, &task);
    }

    /// A task that was created past the initial state gets its worktree and its agent, as the engine's `spawn` does it.
    fn start(&mut self, from: ConfigurationId, task: &Task) {
        let machine = self.search.machine;
        let Some(hook) = machine.state(task.status).respawn else { return };
        if task.status == machine.initial || task.workspace {
            return;
        }
        let mut next = *task;
        next.apply(&Hook::AcquireWorkspace);
        let reviews = hook.spawn().is_some_and(|spawn| spawn.actor() == Actor::Reviewer);
        if reviews && self.search.counters.value(&next, REVIEW_ROUND) == 0 {
            self.search.counters.set(&mut next, REVIEW_ROUND, 1);
        }
        let events = next.apply(&hook).map(|event| (OWN_HOOK, event));
        self.note_verdicts(&mut next);
        self.add(from, SearchStep::Start, next, events.into_iter().collect());
    }

    /// Every transition that can fire, as things stand or after somebody has written what its gate reads.
    fn requests(&mut self, from: ConfigurationId, task: &Task) {
        for request in self.decisions.requests(self.search, task).iter() {
            if let Some(by) = self.asker(task, request.by) {
                self.request(from, task, &request.fire, by, None);
            }
        }
        for section in self.decisions.reads(task).gated.iter() {
            for (wrote, written) in self.rewritten(task, section) {
                if self.too_much().is_some() {
                    return;
                }
                let requests = self.decisions.requests(self.search, &written);
                for request in requests.iter().filter(|it| it.fire.seen == Some(section)) {
                    if let Some(by) = self.asker(task, request.by) {
                        self.request(from, &written, &request.fire, by, Some(wrote));
                    }
                }
            }
        }
    }

    /// Of those who may ask, an agent that is there before a person.
    fn asker(&self, task: &Task, by: Actors) -> Option<Actor> {
        let own = self.search.machine.state(task.status).agent;
        let may = |it: &Actor| by.allows(*it) && (*it == Actor::Human || task.agent(*it) == Agent::Live);
        [own, Actor::Worker, Actor::Reviewer, Actor::Human].into_iter().find(may)
    }

    fn request(&mut self, from: ConfigurationId, task: &Task, fire: &Fire, by: Actor, wrote: Option<Wrote>) {
        let (next, events) = self.fired(task, fire);
        self.add(from, SearchStep::Request { transition: fire.transition, by, wrote }, next, events);
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

    /// Asks the exit rules about an agent that has ended, as the engine does it, for every end that they tell apart.
    fn judge(&mut self, from: ConfigurationId, task: &Task, agent: Actor, wrote: Option<Wrote>) {
        let task = &Task { unhandled_exit: None, ..*task };
        if self.search.machine.state(task.status).agent != agent {
            let step = SearchStep::Exit { agent, wrote, end: None, outcome: ExitResult::Marked };
            self.add(from, step, *task, Vec::new());
            return;
        }
        for (end, exit) in self.decisions.exits(self.search, task, task.live_agents() > 0).iter() {
            let (next, outcome, events) = self.ended(task, agent, exit);
            self.add(from, SearchStep::Exit { agent, wrote, end: *end, outcome }, next, events);
        }
    }

    fn ended(
        &mut self,
        task: &Task,
        agent: Actor,
        exit: &Exit,
    ) -> (Task, ExitResult, Vec<(HookIndex, Event)>) {
        match exit {
            Exit::Marked => (*task, ExitResult::Marked, Vec::new()),
            Exit::Waits => (*task, ExitResult::Waits, Vec::new()),
            Exit::Advance(fire) => {
                let (next, events) = self.fired(task, fire);
                (self.missed(task, next, agent), ExitResult::Advance(fire.transition), events)
            }
            Exit::Escalate { count, fire } => {
                let mut task = *task;
                self.search.counters.set(&mut task, CRASH_COUNT, *count);
                let (next, events) = self.fired(&task, fire);
                (self.missed(&task, next, agent), ExitResult::Escalate(fire.transition), events)
            }
            Exit::Crash { count, respawn } => {
                let mut next = *task;
                self.search.counters.set(&mut next, CRASH_COUNT, *count);
                let hook =
                    self.search.machine.state(task.status).respawn.filter(|_| *respawn && task.workspace);
                let events = hook.and_then(|hook| next.apply(&hook)).map(|event| (OWN_HOOK, event));
                let respawned = hook.is_some();
                if respawned {
                    self.note_verdicts(&mut next);
                }
                (next, ExitResult::Crash { respawned }, events.into_iter().collect())
            }
        }
    }

    /// An exit rule may lead to a state that wants the very agent that has just ended; its rules are then asked, too.
    fn missed(&self, before: &Task, mut next: Task, agent: Actor) -> Task {
        let wants = self.search.machine.state(next.status).agent == agent;
        let terminal = self.search.machine.state(next.status).terminal;
        let has_ended = next.session && next.agent(agent) != Agent::Live;
        let is_missed = next.status != before.status && has_ended && wants && !terminal;
        next.unhandled_exit = is_missed.then_some(agent);
        next
    }

    /// The agent of the state is started again, by a person or after a wait.
    fn respawn(&mut self, from: ConfigurationId, task: &Task) {
        let state = self.search.machine.state(task.status);
        let Some(hook) = state.respawn else { return };
        if task.workspace && task.agent(state.agent) != Agent::Live {
            let mut next = *task;
            let events = next.apply(&hook).map(|event| (OWN_HOOK, event));
            self.note_verdicts(&mut next);
            self.add(from, SearchStep::Respawn, next, events.into_iter().collect());
        }
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

    /// The task after its transition's hooks, and what they did beside.
    fn fired(&mut self, task: &Task, fire: &Fire) -> (Task, Vec<(HookIndex, Event)>) {
        let transition = self.search.machine.transition(fire.transition);
        let mut next = Task { status: transition.to, ..*task };
        self.hooks += transition.hooks.len();
        if let Some(section) = fire.seen {
            let written = next.section(section);
            next.write(section, Written { seen: written.content != ABSENT, ..written });
        }
        let fresh = self.decisions.reads(&next).fresh;
        for section in 0..self.search.sections.len() {
            let written = next.section(section);
            let stood = fresh.has(section) && written.content != ABSENT;
            next.write(section, Written { stood, ..written });
        }
        let mut events = Vec::new();
        for (index, hook) in transition.hooks.iter().enumerate() {
            let counter = fire.raises(index);
            if let Some((id, value)) = counter {
                self.search.counters.set(&mut next, id, value);
            }
            let event = next.take(&Effect { hook, counter });
            events.extend(event.map(|event| (index as HookIndex, event)));
        }
        if fire.resets_crashes {
            self.search.counters.set(&mut next, CRASH_COUNT, 0);
        }
        (next, events)
    }

    /// What an agent finds when it is started is not its own verdict.
    fn note_verdicts(&self, task: &mut Task) {
        for section in self.decisions.reads(task).judged.iter() {
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
