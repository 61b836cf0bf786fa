//! One run of a generated workflow: a walk of `simulate`, and the monitor that watches it.

use std::collections::{BTreeMap, BTreeSet};

use orange_analysis::search::task::Agent;
use orange_analysis::walk::{Act, Happened, Impossible, Walk, WalkEnd};
use orange_core as core;
use orange_core::{Actor, Machine};
use orange_tests::generate::PROGRAMS;
use orange_tests::monitor::{
    self, Breach, DecidingRule, RunMonitor, StartCause, TaskActor, TaskHappening, TransitionCause,
};
use orange_tests::plan::{Applies, DECLARED, Plan, PlannedGate, PlannedOutcome};
use orange_tests::reference::{self, Resolution, Task, VisitedStates};

/// Effects of the end of the state's own agent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SeenEnd {
    pub moved: bool,
    pub crashed: bool,
    pub waits: bool,
}

/// A walk and what is known of it.
#[derive(Clone)]
pub(crate) struct WatchedWalk<'r> {
    plan: &'r Plan,
    /// By transition of the machine: its place in the plan.
    places: &'r [usize],
    pub walk: Walk<'r>,
    pub monitor: RunMonitor<'r>,
    /// The acts so far, as a script of `simulate`.
    pub script: Vec<String>,
    /// Number of acts of a person.
    pub by_person: u32,
    /// The breaches so far.
    pub breaches: Vec<Breach>,
    /// The exit rule that the last act has led by, by its place in the plan, and whether a gate let it through.
    pub led: Option<(usize, bool)>,
    /// The hook that waits, by its place in its transition.
    waiting: Option<usize>,
    /// True if the engine is to start the agent again after a while.
    pub is_awaited: bool,
    /// True if the next hook of some kind is still to fail, or one has failed that lets the others run.
    is_armed: bool,
    has_failed_softly: bool,
    /// True if the time in the state is over, and no agent is ended for that.
    has_elapsed: bool,
    /// The content of sections when a gate passed, and since the task came to its state.
    passed: Vec<(&'static str, String)>,
    entered: Vec<(&'static str, String)>,
    /// By section: the content that a gate last accepted, and the number of commits when one first did.
    judged: BTreeMap<&'static str, (String, u32)>,
    commits: u32,
    /// The content at the start of agents, for gates with a verdict.
    started: Vec<(&'static str, String)>,
    /// The time in each state.
    visits: VisitedStates,
    answered: SeenAnswers,
    last_end: Option<SeenEnd>,
}

/// The answers that gates get.
#[derive(Clone, Debug, Default, Hash)]
pub(crate) struct SeenAnswers {
    /// The programs that succeed.
    pub(crate) succeeding: BTreeSet<String>,
    /// The checks are green.
    pub(crate) is_green: bool,
    /// A task that it has created is open.
    pub(crate) has_children: bool,
}

/// By transition of a machine: its place in the plan that it was made of.
pub(crate) fn places(plan: &Plan) -> Vec<usize> {
    let mut places: Vec<usize> = (0..plan.transitions.len()).collect();
    places.sort_by_key(|at| (plan.transitions[*at].from, plan.transitions[*at].to));
    places
}

fn seen_end(story: &[Happened]) -> SeenEnd {
    let has = |is_it: fn(&Happened) -> bool| story.iter().any(is_it);
    SeenEnd {
        moved: has(|it| matches!(it, Happened::Transitioned { .. })),
        crashed: has(|it| matches!(it, Happened::Crashed { .. })),
        waits: has(|it| matches!(it, Happened::Waits { .. })),
    }
}

/// A program as `simulate` names it.
pub(crate) fn command_line(argv: &[&str]) -> String {
    argv.join(" ")
}

pub(crate) fn who(actor: Actor) -> TaskActor {
    match actor {
        Actor::Worker => TaskActor::Worker,
        Actor::Reviewer => TaskActor::Reviewer,
        Actor::Human | Actor::Engine => TaskActor::Person,
        Actor::Declared(_) => TaskActor::Program,
    }
}

const AGENTS: [Actor; 2] = [Actor::Worker, Actor::Reviewer];

impl<'r> WatchedWalk<'r> {
    pub(crate) fn new(
        plan: &'r Plan,
        places: &'r [usize],
        machine: &'r Machine<'r>,
        status: core::StateId,
    ) -> Self {
        Self {
            plan,
            places,
            walk: Walk::at(machine, status),
            monitor: RunMonitor::new(plan, usize::from(status.0)),
            script: Vec::new(),
            by_person: 0,
            breaches: Vec::new(),
            led: None,
            waiting: None,
            is_awaited: false,
            is_armed: false,
            has_failed_softly: false,
            has_elapsed: false,
            passed: Vec::new(),
            entered: Vec::new(),
            judged: BTreeMap::new(),
            commits: 0,
            started: Vec::new(),
            visits: vec![(usize::from(status.0), 0)],
            answered: SeenAnswers::default(),
            last_end: None,
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.plan.states[self.monitor.status].terminal
    }

    /// True if an agent is alive.
    pub(crate) fn is_manned(&self) -> bool {
        AGENTS.iter().any(|it| self.is_alive(*it))
    }

    pub(crate) fn hooks_wait(&self) -> bool {
        self.waiting.is_some()
    }

    pub(crate) fn is_alive(&self, actor: Actor) -> bool {
        self.walk.agent(actor) == Agent::Live
    }

    /// Does something. A section is written by `author`; an agent is started again by the engine if `by_engine`.
    pub(crate) fn act(
        &mut self,
        act: &Act,
        author: TaskActor,
        by_engine: bool,
    ) -> Result<Vec<Happened>, Impossible> {
        let visits = self.visits_after(act);
        let decides = self.ended(act, &visits);
        let is_own = matches!(act, Act::End { agent, .. } if monitor::own(self.plan, self.monitor.status) == who(*agent));
        // An end that comes while hooks wait is judged once these have run.
        let led = decides.filter(|_| !self.hooks_wait()).and_then(|(_, decides)| self.led_by(decides?));
        let is_persons = self.is_persons(act, by_engine);
        let story = self.walk.act(act)?;
        self.answers(act);
        (self.visits, self.led) = (visits, led);
        let suffix = match author {
            TaskActor::Person | TaskActor::Program => String::new(),
            TaskActor::Worker | TaskActor::Reviewer => format!("   # by the {author:?}"),
        };
        self.script.push(format!("{act}{suffix}"));
        if is_persons && !matches!(story[..], [Happened::Refused { .. }]) {
            self.monitor.see(&TaskHappening::PersonActs);
            self.by_person += 1;
        }
        self.has_elapsed = matches!(act, Act::Elapse { .. }) && decides.is_none();
        if let Some((agent, decides)) = decides {
            self.monitor.see(&TaskHappening::Ends(who(agent), decides));
        }
        self.last_end = is_own.then(|| seen_end(&story));
        let mut first = if matches!(act, Act::RetryHooks) { self.waiting.take() } else { None };
        let mut was_awaited = std::mem::take(&mut self.is_awaited);
        for happened in &story {
            self.see((act, author, by_engine), happened, &mut first, &mut was_awaited);
        }
        self.is_awaited |= was_awaited;
        let hooks_wait = self.waiting.is_some();
        self.monitor.see(&TaskHappening::Done { hooks_wait });
        self.breaches.extend(self.monitor.breaches());
        self.compare();
        Ok(story)
    }

    /// Effects of the last act, if an agent of the state itself ended with it.
    pub(crate) fn last_end(&self) -> Option<SeenEnd> {
        self.last_end
    }

    /// Notes the answer of a program, or of the checks.
    fn answers(&mut self, act: &Act) {
        if let Act::Answer { program, succeeds } = act {
            self.answered.succeeding.remove(program);
            self.answered.succeeding.extend(succeeds.then(|| program.clone()));
        }
        if let Act::Checks { word } = act {
            self.answered.is_green = word == "green";
        }
        if let Act::Children { word } = act {
            self.answered.has_children = word == "some";
        }
        self.commits += u32::from(matches!(act, Act::Commit { .. }));
    }

    /// The answers that gates get now.
    pub(crate) fn answered(&self) -> &SeenAnswers {
        &self.answered
    }

    fn is_persons(&self, act: &Act, by_engine: bool) -> bool {
        match act {
            Act::Request { by, .. } => *by == Actor::Human.kind(),
            Act::RetryHooks => !self.may_retry_alone(),
            Act::Spawn => true,
            Act::Respawn => !by_engine,
            Act::Write { .. }
            | Act::Answer { .. }
            | Act::Checks { .. }
            | Act::Children { .. }
            | Act::Commit { .. }
            | Act::Fact { .. }
            | Act::Fail { .. }
            | Act::End { .. }
            | Act::Elapse { .. } => false,
        }
    }

    /// True if hooks may be run again by a declared actor, or by an agent that is alive.
    fn may_retry_alone(&self) -> bool {
        let Some(last) = self.monitor.last() else { return false };
        let by = &self.plan.transitions[last].by;
        let may = |agent: &Actor| by.is_empty() || by.contains(&agent.kind());
        let is_agents = AGENTS.iter().any(|it| self.is_alive(*it) && may(it));
        is_agents || by.iter().any(|it| DECLARED.contains(it))
    }

    /// The visits of states by the task when an act is done.
    fn visits_after(&self, act: &Act) -> VisitedStates {
        let mut visits = self.visits.clone();
        let passes = match act {
            Act::End { ended, .. } => ended.lasted,
            Act::Elapse { after } => after.unwrap_or_else(|| reference::next_time(self.plan, &visits)),
            Act::Write { .. }
            | Act::Answer { .. }
            | Act::Checks { .. }
            | Act::Children { .. }
            | Act::Commit { .. }
            | Act::Fact { .. }
            | Act::Request { .. }
            | Act::Spawn
            | Act::Respawn
            | Act::Fail { .. }
            | Act::RetryHooks => 0,
        };
        visits.last_mut().into_iter().for_each(|(_, lasted)| *lasted = passes.max(*lasted));
        visits
    }

    /// The agent that ends with an act, and what decides about that.
    fn ended(&self, act: &Act, visits: &VisitedStates) -> Option<(Actor, Option<DecidingRule>)> {
        match act {
            Act::End { agent, ended, .. } if self.is_alive(*agent) => {
                Some((*agent, self.decides(*agent, ended, visits)))
            }
            Act::Elapse { .. } if !self.hooks_wait() => {
                let status = self.monitor.status;
                let own = if monitor::own(self.plan, status) == TaskActor::Reviewer {
                    Actor::Reviewer
                } else {
                    Actor::Worker
                };
                let leads_on = reference::overdue(self.plan, visits).is_some();
                (leads_on && self.is_alive(own)).then_some((own, Some(DecidingRule::Timeout)))
            }
            Act::End { .. }
            | Act::Elapse { .. }
            | Act::Write { .. }
            | Act::Answer { .. }
            | Act::Checks { .. }
            | Act::Children { .. }
            | Act::Commit { .. }
            | Act::Fact { .. }
            | Act::Request { .. }
            | Act::Spawn
            | Act::Respawn
            | Act::Fail { .. }
            | Act::RetryHooks => None,
        }
    }

    fn see(
        &mut self,
        (act, author, by_engine): (&Act, TaskActor, bool),
        happened: &Happened,
        first: &mut Option<usize>,
        was_awaited: &mut bool,
    ) {
        match happened {
            Happened::Wrote { heading } => self.monitor.see(&TaskHappening::Wrote(author, heading)),
            Happened::Transitioned { transition, cause, hooks, .. } => {
                (*was_awaited, self.waiting) = (false, None);
                let place = self.places[transition.0 as usize];
                self.monitor.see(&TaskHappening::Took(place, self.cause(*cause)));
                self.visits.push((self.plan.transitions[place].to, 0));
                self.note_gate(place, *cause);
                self.hooks(0, hooks.iter().map(|it| it.has_failed));
            }
            Happened::HooksWait { hooks, .. } => {
                let all = monitor::hooks(&self.plan.transitions[self.monitor.last().unwrap_or_default()]);
                self.waiting = Some(all.len() - hooks.len());
            }
            Happened::Started { hooks } => match first.take() {
                Some(first) => self.hooks(first, hooks.iter().map(|it| it.has_failed)),
                None => {
                    *was_awaited = false;
                    let with_worktree = matches!(act, Act::Spawn);
                    let by_person = StartCause::ByPerson { with_worktree };
                    let start = if by_engine { StartCause::AfterWait } else { by_person };
                    self.see_start(&TaskHappening::Started(start));
                }
            },
            Happened::Crashed { count, respawned, .. } => {
                self.monitor.see(&TaskHappening::Crashed(*count));
                if respawned.is_some() {
                    self.see_start(&TaskHappening::Started(StartCause::AfterCrash));
                }
            }
            Happened::Waits { .. } => *was_awaited = true,
            Happened::Answers { .. }
            | Happened::Refused { .. }
            | Happened::Marked { .. }
            | Happened::WillFail { .. }
            | Happened::Committed { .. }
            | Happened::Over { .. } => {}
        }
    }

    fn cause(&self, cause: core::Cause) -> TransitionCause {
        match cause {
            core::Cause::Request(actor) => TransitionCause::Asked(who(actor)),
            core::Cause::Exit if self.has_elapsed => TransitionCause::Elapsed,
            core::Cause::Exit => TransitionCause::Ended,
            // A fact is like a program that asks at any time.
            core::Cause::Watch => TransitionCause::Asked(TaskActor::Program),
            core::Cause::Escalation => TransitionCause::Escalated,
            core::Cause::HookFailed => TransitionCause::HookFailed,
            core::Cause::Forced(..) => panic!("nothing is forced here"),
        }
    }

    /// Does something while the next such hook fails; whether one has failed that stops the others.
    pub(crate) fn failing(&mut self, hook: &str, deed: impl FnOnce(&mut Self) -> bool) -> bool {
        self.is_armed = true;
        let is_done =
            self.act(&Act::Fail { hook: hook.to_owned() }, TaskActor::Person, false).is_ok() && deed(self);
        is_done && !self.is_armed && !self.has_failed_softly
    }

    fn hooks(&mut self, first: usize, hooks: impl Iterator<Item = bool>) {
        let all = monitor::hooks(&self.plan.transitions[self.monitor.last().unwrap_or_default()]);
        for (at, has_failed) in (first..).zip(hooks) {
            self.is_armed &= !has_failed;
            self.has_failed_softly |= has_failed && !all[at].stops();
            self.see_start(&TaskHappening::Hook(at, has_failed));
        }
    }

    fn note_gate(&mut self, place: usize, cause: core::Cause) {
        let gates = self.plan.transitions[place].gates.iter();
        for gate in gates.filter(|_| cause != core::Cause::Escalation) {
            self.passed.retain(|(section, _)| *section != gate.section);
            self.passed.extend(self.content(gate.section));
            if let Some((section, content)) = self.content(gate.section)
                && self.judged.get(section).is_none_or(|(known, _)| *known != content)
            {
                self.judged.insert(section, (content, self.commits));
            }
        }
        self.entered = self.sections().filter_map(|it| self.content(it)).collect();
        self.started = Vec::new();
    }

    /// Sees something that may start an agent. What stands there then is not a verdict of that agent.
    fn see_start(&mut self, happening: &TaskHappening<'_>) {
        let alive = |it: &Self| AGENTS.map(|agent| it.monitor.agent(who(agent)).is_some());
        let before = alive(self);
        self.monitor.see(happening);
        if alive(self).into_iter().zip(before).any(|(is, was)| is && !was) {
            let now: Vec<_> = self.sections().filter_map(|it| self.content(it)).collect();
            self.started.extend(now);
        }
    }

    /// True if gates that want new content do not take the present content of a section.
    pub(crate) fn is_stale(&self, section: &'static str) -> bool {
        let now = self.content(section);
        let mut seen = self.passed.iter().chain(&self.entered).chain(&self.started);
        now.is_some_and(|now| seen.any(|it| *it == now))
    }

    /// Content that a gate accepted about the present work, or about other work.
    pub(crate) fn judged_about(&self, is_other: bool) -> Vec<(&'static str, String)> {
        let judged = self.judged.iter().filter(|(_, (_, commits))| (*commits != self.commits) == is_other);
        let judged = judged.map(|(section, (content, _))| (*section, content.clone()));
        judged.filter(|it| self.content(it.0).as_ref() == Some(it)).collect()
    }

    fn content(&self, section: &'static str) -> Option<(&'static str, String)> {
        Some((section, self.walk.section(section)?.to_owned()))
    }

    /// The sections that anything reads.
    pub(crate) fn sections(&self) -> impl Iterator<Item = &'static str> + use<> {
        ["## Handoff", "## Review"].into_iter()
    }

    fn lacks(&self, gate: &PlannedGate) -> bool {
        let started = self.started.iter().filter(|_| gate.asks_for_verdict());
        let seen = self.passed.iter().chain(&self.entered).chain(started).cloned().collect();
        let body = self.walk.body().to_owned();
        let succeeds = |argv| self.answered.succeeding.contains(&command_line(argv));
        let asked = PROGRAMS.into_iter().map(|argv| (argv, succeeds(argv))).collect();
        let SeenAnswers { is_green, has_children, .. } = self.answered;
        let outdated = self.judged_about(true);
        let task = Task { body, seen, outdated, asked, is_green, has_children, ..Task::default() };
        reference::lack(gate, &task).is_some()
    }

    /// The rule that decides about this end of an agent of the task's state, by the documents.
    fn decides(&self, agent: Actor, ended: &WalkEnd, visits: &VisitedStates) -> Option<DecidingRule> {
        let status = self.monitor.status;
        if monitor::own(self.plan, status) != who(agent) {
            return None;
        }
        if reference::overdue(self.plan, visits).is_some() {
            return Some(DecidingRule::Timeout);
        }
        let mine: Vec<usize> =
            (0..self.plan.rules.len()).filter(|at| self.plan.rules[*at].status == status).collect();
        let end = (ended.code, ended.signal, ended.output.clone());
        let has = |nth: usize| match &self.plan.rules[mine[nth]].applies {
            Applies::HasArtifact(gates) => !gates.iter().any(|gate| self.lacks(gate)),
            Applies::Ended(ending) => reference::ended_so(ending, &end),
            Applies::Always | Applies::NoArtifact => false,
        };
        reference::decides(self.plan, status, has).map(|nth| DecidingRule::Rule(mine[nth]))
    }

    /// The rule that takes a transition, and whether the gates of one that is open hold, by the documents.
    fn led_by(&self, decides: DecidingRule) -> Option<(usize, bool)> {
        let DecidingRule::Rule(at) = decides else { return None };
        let rule = &self.plan.rules[at];
        let named = self.plan.counters.iter().filter_map(|it| self.walk.counter_named(it));
        let counters: Vec<u32> = named.map(|it| self.walk.counter(it)).collect();
        let to = match &rule.outcome {
            PlannedOutcome::Then(to) => *to,
            PlannedOutcome::ThenWhen(clauses) => {
                clauses.iter().find(|(when, _)| reference::holds(when, &counters))?.1
            }
            PlannedOutcome::Crash { .. } | PlannedOutcome::MarkDead | PlannedOutcome::Wait(_) => return None,
        };
        let Resolution::Open(open) = reference::resolve(self.plan, rule.status, to, &counters) else {
            return None;
        };
        let between = self.plan.transitions.iter().filter(|it| (it.from, it.to) == (rule.status, to));
        let gates: Vec<&Vec<PlannedGate>> = between.map(|it| &it.gates).collect();
        let holds = |nth: usize| !gates[nth].iter().any(|gate| self.lacks(gate));
        Some((at, open.into_iter().any(holds)))
    }

    /// The monitor's own idea of the task is the walk's.
    fn compare(&self) {
        let alive = AGENTS.map(|it| self.is_alive(it));
        let believed = AGENTS.map(|it| self.monitor.agent(who(it)).is_some());
        let must_wait = self.hooks_wait() || self.monitor.is_stopped();
        let (walked, watched) = (
            (usize::from(self.walk.status().0), alive, self.walk.has_workspace(), self.hooks_wait()),
            (self.monitor.status, believed, self.monitor.worktree, must_wait),
        );
        assert_eq!(
            walked,
            watched,
            "the walk (left) and the documents:\n{}\n{}",
            self.script.join("\n"),
            self.plan
        );
    }
}
