//! Effects of steps on the agents and the worktree of a task: the starts of agents, and agents and worktrees that are left
//! behind.

use orange_core::{Actor, Hook, Spawn};

use super::Facts;
use crate::search::task::{Agent, Event};
use crate::search::{Edge, EdgeId, HookIndex, SearchStep};
use orange_codegen::span::Span;

/// A place in the workflow, and its text in the story of a finding.
pub(crate) type StoryLabel = (Span, String);

/// Hook that started an agent: one of a transition, or the state's own with its `respawn_prompt`.
pub(crate) struct AgentStart<'f> {
    pub(crate) hook: &'f Hook<'f>,
    pub(crate) span: Span,
}

impl<'f> Facts<'f> {
    /// The agent that is still alive when a step has ended its task, or has given its worktree away.
    pub(crate) fn outliving(&self, edge: &Edge) -> Option<Actor> {
        let (before, after) = (self.search.task(edge.from), self.search.task(edge.to));
        let is_over = self.is_done(edge)
            && (after.workspace.is_none()
                || self.releases_under_agent(edge)
                || self.machine.state(after.status).terminal);
        let was_over = || before.live_agents() > 0 && before.workspace.is_none() && before.waiting.is_none();
        if is_over && !was_over() { after.alive() } else { None }
    }

    /// True if nothing follows from a step by itself. Hooks that wait may still end an agent or give its worktree back, unless the first
    /// of them can never work and the task does not go on without them.
    fn is_done(&self, edge: &Edge) -> bool {
        let waiting = self.search.task(edge.to).waiting;
        waiting.is_none_or(|it| !it.goes_on && self.search.has_failed_by_itself(edge))
    }

    /// True if a hook of a step is to give back the worktree in which an agent is alive.
    fn releases_under_agent(&self, edge: &Edge) -> bool {
        self.search.events(edge).iter().any(|(_, event)| matches!(event, Event::ReleaseUnderAgent(_)))
    }

    /// True if an earlier step, on a shortest run, was to give the worktree back under an agent that lives on. That step then
    /// also causes what is left behind later.
    pub(crate) fn follows_release(&self, edge: EdgeId) -> bool {
        let run = self.search.run_to(self.search.edge(edge).from);
        let mut before = run.iter().map(|id| self.search.edge(*id));
        before.any(|it| self.releases_under_agent(it) && self.outliving(it).is_some())
    }

    /// True if a step ends its task and leaves the worktree bound to it.
    pub(crate) fn keeps_workspace(&self, edge: &Edge) -> bool {
        let after = self.search.task(edge.to);
        after.has_worktree() && self.is_done(edge) && self.machine.state(after.status).terminal
    }

    /// The hooks of a step that start an agent while another one is alive in the same worktree, each with the living agent.
    pub(crate) fn second_agents(&self, edge: &Edge) -> impl Iterator<Item = (HookIndex, Actor)> + use<'f> {
        self.search.events(edge).iter().filter_map(|(index, event)| match event {
            Event::SpawnWhileAlive(alive) => Some((*index, *alive)),
            Event::SpawnWithoutWorkspace
            | Event::SpawnBesideWorktree
            | Event::AcquireUnderAgent(_)
            | Event::ReleaseUnderAgent(_)
            | Event::NoWorktreeToUse
            | Event::SpawnWithoutSession
            | Event::NobodyToNotify
            | Event::KilledUnderOtherName
            | Event::Idle => None,
        })
    }

    /// True if a step starts an agent beside a living one, and the two are not meant to run together: `spawn-while-alive` reports
    /// that.
    pub(crate) fn is_crowded(&self, edge: &Edge) -> bool {
        let mut alive = self.second_agents(edge);
        alive.any(|(index, alive)| self.crowds(edge, index, alive))
    }

    /// True if a hook starts an agent beside this living one, and the two are not meant to run together. Two agents of one actor
    /// never are: the engine refuses the second.
    pub(crate) fn crowds(&self, edge: &Edge, index: HookIndex, alive: Actor) -> bool {
        let waiting = self.search.task(edge.from).waiting.map(|it| it.transition);
        let hooks = edge.step.begins().or(waiting).map_or(&[][..], |id| self.machine.transition(id).hooks);
        let starts = hooks.get(usize::from(index)).and_then(|hook| hook.spawn());
        starts.is_some_and(|it| it.actor() == alive) || !self.is_meant_beside(edge, alive)
    }

    /// True if the living agent is a reviewer that was started to run beside a worker, so that a new worker may start beside it.
    pub(crate) fn is_meant_beside(&self, edge: &Edge, alive: Actor) -> bool {
        let mut task = *self.search.task(edge.from);
        if let Some(id) = edge.step.begins().filter(|_| task.agent(alive) != Agent::Live) {
            for hook in self.machine.transition(id).hooks {
                task.apply(hook);
            }
        }
        alive == Actor::Reviewer && task.beside
    }

    /// True if a task was created past the initial state and has not been started: `orange task spawn` gives it a worktree and an
    /// agent, before this step or after it.
    pub(crate) fn was_never_started(&self, edge: &Edge) -> bool {
        let is_bound = self.search.task(edge.from).workspace.is_some();
        !self.search.is_ordinary(edge.from) && !is_bound && self.could_have_been_started(edge)
    }

    fn could_have_been_started(&self, edge: &Edge) -> bool {
        let can_start = |id| self.machine.state(self.search.task(id).status).respawn.is_some();
        let run = self.search.run_to(edge.from);
        can_start(edge.from)
            || can_start(edge.to)
            || run.iter().any(|it| can_start(self.search.edge(*it).from))
    }

    /// By configuration: true if a hook on the first path to it was to start an agent and had no worktree for it.
    pub(crate) fn never_bound(&self) -> Vec<bool> {
        let mut lost: Vec<bool> = Vec::new();
        for (id, _) in self.search.configurations() {
            lost.push(self.search.arrival(id).is_some_and(|edge| {
                let edge = self.search.edge(edge);
                let fails = |(_, event): &(HookIndex, Event)| *event == Event::SpawnWithoutWorkspace;
                lost[edge.from as usize] || self.search.events(edge).iter().any(fails)
            }));
        }
        lost
    }

    /// Place where a run started the agent that is alive at its end, and the last transition since that left it alive.
    pub(crate) fn life(&self, run: &[EdgeId], agent: Actor) -> Vec<StoryLabel> {
        let Some((at, start)) = self.start(run, agent) else { return Vec::new() };
        let prompt = start.hook.spawn().map_or("", |it| self.machine.prompt(it.prompt).name);
        let left = run[at + 1..].iter().rev().find_map(|id| self.search.edge(*id).step.transition());
        let left = left.map(|id| {
            let left = self.transition(id);
            (self.first_line(left.span), format!("{} leaves it alive", self.arrow(left)))
        });
        let started = (self.first_line(start.span), format!("starts the {agent} with `{prompt}`"));
        std::iter::once(started).chain(left).collect()
    }

    /// The start of the agent that is alive at the end of a run: the index of the step in the run, and the hook.
    pub(crate) fn start(&self, run: &[EdgeId], agent: Actor) -> Option<(usize, AgentStart<'f>)> {
        let mut steps = run.iter().enumerate().rev();
        steps.find_map(|(at, id)| Some((at, self.starts(self.search.edge(*id), agent)?)))
    }

    /// The hooks of a step's transition that start an agent. A hook that messages the worker starts one only if no worker is
    /// alive.
    pub(crate) fn starting(&self, edge: &Edge) -> Vec<(HookIndex, &'f Spawn<'f>)> {
        let begun = self.search.ran(edge).filter(|_| edge.step.begins().is_some());
        let Some((id, ran)) = begun else { return Vec::new() };
        let hooks = &self.machine.transition(id).hooks[ran];
        let ended = match edge.step {
            SearchStep::Failure { failed, .. } => failed.exit.and(edge.step.ended()),
            SearchStep::Exit { .. } => edge.step.ended(),
            SearchStep::Request { .. }
            | SearchStep::Start
            | SearchStep::Write(_)
            | SearchStep::Commit(_)
            | SearchStep::EndWhileWaiting(_)
            | SearchStep::Respawn
            | SearchStep::Retry { .. } => None,
        };
        if hooks.iter().all(|hook| hook.spawn().is_none()) {
            return Vec::new();
        }
        let tells = |hook: &Hook<'_>| hook.action.traits().tells == Some(Actor::Worker);
        if !hooks.iter().any(tells) {
            return (0..).zip(hooks).filter_map(|(at, hook)| Some((at, hook.spawn()?))).collect();
        }
        let mut task = *self.search.task(edge.from);
        if let Some(agent) = ended {
            task.set_agent(agent, Agent::Dead);
        }
        let starting = (0..).zip(hooks).filter_map(|(at, hook)| {
            let is_messaged = tells(hook) && task.worker == Agent::Live;
            task.apply(hook);
            hook.spawn().filter(|_| !is_messaged).map(|spawn| (at, spawn))
        });
        starting.collect()
    }

    fn starts(&self, edge: &Edge, agent: Actor) -> Option<AgentStart<'f>> {
        if let Some(id) = edge.step.transition() {
            let (at, _) = self.starting(edge).into_iter().rfind(|(_, spawn)| spawn.actor() == agent)?;
            let hook = &self.machine.transition(id).hooks[usize::from(at)];
            return Some(AgentStart { hook, span: self.hook(id, at)?.span });
        }
        let starts = |hook: &Hook<'_>| hook.spawn().is_some_and(|it| it.actor() == agent);
        let is_alive = |id| self.search.task(id).agent(agent) == Agent::Live;
        let status = self.search.task(edge.from).status;
        let hook = self.machine.state(status).respawn.as_ref().filter(|hook| starts(hook))?;
        let span = self.state(status).respawn_prompt.as_ref()?.span;
        (!is_alive(edge.from) && is_alive(edge.to)).then_some(AgentStart { hook, span })
    }
}
