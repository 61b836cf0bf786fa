//! A walk: one task led by hand through a machine, by the core's decisions, its agents and its worktree only imagined.

mod answers;
mod body;
pub mod command;
mod hooks;
mod request;
mod reviewers;
mod time;

use std::collections::{BTreeMap, BTreeSet};

use orange_core::{
    Action, Actor, AgentEnd, Answers, Cause, Checks, Children, Choice, CounterId, Decision, Fact, Input,
    LifeEvent, LifeFacts, LifeTurn, Machine, Program, ProgramAnswer, Refusal, SeenSection, StateId,
    TransitionId, View, WorkSince, Workspace, section,
};

pub use self::answers::{CHECKS, CHILDREN};
pub use self::hooks::HookRun;
use self::hooks::{WaitingTransition, starts};
use self::time::WalkTime;
use crate::search::reviewers::Reviewers;
use crate::search::task::{Agent, Task};

/// A task and everything that decisions about it depend on.
#[derive(Clone, Debug)]
pub struct Walk<'m> {
    machine: &'m Machine<'m>,
    counters: Vec<u32>,
    body: String,
    /// Content that a gate last let through, by section.
    passed: BTreeMap<&'m str, (SeenSection<'m>, WalkWork)>,
    work: WalkWork,
    /// Contents of sections when the task came to its state, and when agents were started there.
    stood: Vec<SeenSection<'m>>,
    /// Its agents and its worktree.
    task: Task,
    reviewers: Reviewers<'m>,
    /// The hooks that fail the next time, by their actions.
    failing: Vec<String>,
    /// The hooks that wait, because the first of them has failed.
    waiting: Option<WaitingTransition<'m>>,
    /// The agents whose ends are judged when these have run: the one whose end has led to them, and those that have ended since.
    exited: Vec<(Actor, Option<&'m str>, WalkEnd)>,
    /// The programs that succeed, by their command lines.
    succeeding: BTreeSet<String>,
    checks: Checks,
    children: Children,
    time: WalkTime,
}

/// Something that somebody does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Write a section of the body, in place of the one that is there.
    Write {
        /// The heading, `#`s included.
        heading: String,
        /// The lines after it.
        text: String,
    },
    /// Ask for a state.
    Request {
        to: String,
        /// The name of the actor that asks.
        by: String,
    },
    /// `orange task spawn`.
    Spawn,
    /// `orange task respawn`.
    Respawn,
    /// From now on, the next hook with this action fails.
    Fail { hook: String },
    /// `orange task update --retry-hooks`.
    RetryHooks,
    /// From now on, a program that gates ask succeeds or fails; at first it fails.
    Answer {
        /// Its command line.
        program: String,
        /// True if it succeeds.
        succeeds: bool,
    },
    /// From now on, the checks of the pull request are like this; at first there is none.
    Checks {
        /// `green`, `red`, `pending` or `none`.
        word: String,
    },
    /// From now on, a task that it has created is open, or none is; at first there is none.
    Children {
        /// `some` or `none`.
        word: String,
    },
    /// A fact holds that the workflow may watch.
    Fact { fact: Fact },
    /// Somebody changes the work.
    Commit {
        /// True if the branch takes in what the base has, without a conflict: the task's own changes stay the same.
        is_sync: bool,
    },
    /// The time that a task may spend in its state, or within some states, is over.
    Elapse {
        /// For how many seconds the task has then been in its state; without them, the next time is over.
        after: Option<u32>,
    },
    /// An agent ends.
    End {
        agent: Actor,
        /// The name of a reviewer; without one, all that are alive end.
        name: Option<String>,
        ended: WalkEnd,
    },
}

/// End of an agent, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WalkEnd {
    /// Its exit status.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Its last lines.
    pub output: String,
    /// For how many seconds the task had been in its state.
    pub lasted: u32,
    /// True if the budget of the state was used up.
    pub spent: bool,
}

/// Result of an act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// The section was written.
    Wrote { heading: String },
    /// The engine said no.
    Refused {
        /// The word for it in the answers of `orange`: `gate_failed`.
        code: &'static str,
        /// Reason why the transition is closed.
        message: String,
        /// Remedy that would open it.
        help: String,
    },
    /// The task went on.
    Transitioned {
        /// The transition that it took.
        transition: TransitionId,
        /// The state that it left.
        from: StateId,
        /// The state that it is in.
        to: StateId,
        cause: Cause,
        /// The hooks that ran, in order.
        hooks: Vec<HookRun>,
    },
    /// An agent was started without a transition.
    Started {
        /// The hooks that ran, in order.
        hooks: Vec<HookRun>,
    },
    /// Its agent crashed, and the task stays where it is.
    Crashed {
        /// The new `crash_count`.
        count: u32,
        /// Reason for counting it as a crash.
        reason: String,
        /// The hook that started the agent again, if that happened.
        respawned: Option<HookRun>,
    },
    /// The session is shown as dead, and the task waits for a person.
    Marked { reason: String },
    /// A hook has failed, and waits with those after it.
    HooksWait {
        /// The hooks, in order.
        hooks: Vec<&'static str>,
        reason: String,
    },
    /// A program, or the checks of the pull request, answers this from now on.
    Answers {
        asked: String,
        /// The answer: `succeeds`.
        answer: String,
    },
    /// The next hook with this action will fail.
    WillFail { hook: String },
    /// The work has changed.
    Committed {
        /// True if the task's own changes are the same as before.
        is_sync: bool,
    },
    /// An agent has ended, and the task was over before.
    Over {
        /// Explanation of the end.
        reason: String,
    },
    /// The agent is started again after a while; `respawn` does it here.
    Waits {
        /// Seconds until then.
        resume_after: u32,
        /// Reason for the wait.
        reason: String,
    },
}

/// Reason why an act cannot happen at all: it takes an agent that is not there, a state that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impossible(pub String);

const PERSON: Actor = Actor::Human;

impl<'m> Walk<'m> {
    /// A task as it is created in the machine's initial state.
    pub fn new(machine: &'m Machine<'m>) -> Self {
        Self::at(machine, machine.initial)
    }

    /// A task as it is created in a state.
    pub fn at(machine: &'m Machine<'m>, status: StateId) -> Self {
        Self {
            machine,
            counters: machine.counters.iter().map(|it| it.default).collect(),
            body: String::new(),
            passed: BTreeMap::new(),
            work: WalkWork::default(),
            stood: Vec::new(),
            task: Task::new(status),
            reviewers: Reviewers::of(machine),
            failing: Vec::new(),
            waiting: None,
            exited: Vec::new(),
            succeeding: BTreeSet::new(),
            checks: Checks::default(),
            children: Children::default(),
            time: WalkTime::default(),
        }
    }

    /// The machine that it walks.
    pub fn machine(&self) -> &'m Machine<'m> {
        self.machine
    }

    /// State of the task.
    pub fn status(&self) -> StateId {
        self.task.status
    }

    /// The body, sections and all.
    pub fn body(&self) -> &str {
        &self.body
    }

    /// The value of a counter.
    pub fn counter(&self, id: CounterId) -> u32 {
        self.counters[usize::from(id.0)]
    }

    /// The number of the counter with this name.
    pub fn counter_named(&self, name: &str) -> Option<CounterId> {
        self.machine.counters.iter().position(|it| it.name == name).map(|at| CounterId(at as u16))
    }

    /// Sets a counter.
    pub fn set_counter(&mut self, id: CounterId, value: u32) {
        self.counters[usize::from(id.0)] = value;
    }

    /// Replaces the whole body.
    pub fn set_body(&mut self, body: impl Into<String>) {
        self.body = body.into();
    }

    /// The agent of this actor.
    pub fn agent(&self, actor: Actor) -> Agent {
        self.task.agent(actor)
    }

    /// Puts an agent there, alive or dead, or takes it away.
    pub fn set_agent(&mut self, actor: Actor, agent: Agent) {
        self.task.set_agent(actor, agent);
        // What is left of an agent is in a session, alive or dead.
        self.task.session |= agent != Agent::None;
    }

    /// True if a worktree is bound to the task.
    pub fn has_workspace(&self) -> bool {
        self.task.has_worktree()
    }

    /// True if hooks wait because one of them has failed.
    pub fn hooks_wait(&self) -> bool {
        self.waiting.is_some()
    }

    /// Number of seconds since the task was created.
    pub fn now(&self) -> u32 {
        self.time.now()
    }

    /// Gives the task what its agents work in, or takes it away.
    pub fn set_workspace(&mut self, held: Option<Workspace>) {
        self.task.workspace = held;
    }

    /// Every transition from here, and what closes it.
    pub fn options(&self, actor: Actor) -> Vec<(Choice, Option<String>)> {
        self.view(|view| {
            let choices = self.machine.options(view, actor);
            choices.into_iter().map(|it| (it.clone(), it.missing(self.machine, view))).collect()
        })
    }

    /// Does something, and tells what came of it: one thing, or several where one leads to the next.
    ///
    /// # Errors
    /// What it takes is not there; nothing has changed then.
    pub fn act(&mut self, act: &Act) -> Result<Vec<Happened>, Impossible> {
        match act {
            Act::Write { heading, text } => {
                body::write_section(&mut self.body, heading, text)?;
                Ok(vec![Happened::Wrote { heading: heading.clone() }])
            }
            Act::Request { to, by } => self.ask(to, by),
            Act::Spawn => self.happens(Input::Spawn { by: PERSON }),
            Act::Respawn => self.respawn(),
            Act::Fail { hook } => self.fail(hook),
            Act::RetryHooks => self.retry(),
            Act::Answer { program, succeeds } => self.answer(program, *succeeds),
            Act::Checks { word } => self.see_checks(word),
            Act::Children { word } => self.see_children(word),
            Act::Fact { fact } => self.watch(*fact),
            Act::Commit { is_sync } => {
                self.work.change(*is_sync);
                Ok(vec![Happened::Committed { is_sync: *is_sync }])
            }
            Act::Elapse { after } => self.elapse(*after),
            Act::End { agent, name, ended } => self.end(*agent, name.as_deref(), ended),
        }
    }

    fn fail(&mut self, hook: &str) -> Result<Vec<Happened>, Impossible> {
        let Some(action) = Action::named(hook) else {
            return Err(Impossible(format!("there is no action `{hook}`")));
        };
        self.failing.push(action.name().to_owned());
        Ok(vec![Happened::WillFail { hook: hook.to_owned() }])
    }

    /// The watch rule that applies to a fact takes its transition.
    fn watch(&mut self, fact: Fact) -> Result<Vec<Happened>, Impossible> {
        let holds = |other| fact.implies(other);
        let Some(rule) = self.machine.watch_rule(self.status(), &self.counters, holds) else {
            let state = self.machine.state(self.status()).name;
            return Err(Impossible(format!("no watch rule of `{state}` applies to `{fact}`")));
        };
        self.happens(Input::Watched { rule })
    }

    fn respawn(&mut self) -> Result<Vec<Happened>, Impossible> {
        let agent = self.machine.state(self.status()).agent;
        self.happens(Input::Respawn { is_alive: self.agent(agent) == Agent::Live })
    }

    /// Results of the end of an agent, which an earlier state may have judged, or a state whose hooks waited.
    fn judge(
        &mut self,
        agent: Actor,
        reviewer: Option<&'m str>,
        ended: &WalkEnd,
        is_again: bool,
    ) -> Result<Vec<Happened>, Impossible> {
        let mut story = Vec::new();
        let mut before = is_again.then(|| self.status());
        if !is_again {
            self.time.pass_until(ended.lasted);
        }
        for _ in self.machine.states {
            let (is_beside, left) = (self.task.live_agents() > 0, self.time.left());
            let (lasted, is_spent) = (self.time.lasted(), ended.spent && before.is_none());
            let end = AgentEnd { is_beside, reviewer, lasted, is_spent, left: &left, ..ended.end() };
            let is_replaced = self.is_replaced(agent, reviewer);
            let input = match before {
                None => Input::Ended { agent, end },
                Some(_) => Input::JudgedAgain { agent, end, is_replaced },
            };
            let is_first = before.is_none() && self.waiting.is_none();
            before = Some(self.status());
            let happened = self.happens(input)?;
            if is_first && self.waiting.is_some() && !starts(&happened) {
                self.exited.push((agent, reviewer, ended.clone()));
            }
            story.extend(happened);
            if before == Some(self.status()) {
                break;
            }
        }
        Ok(story)
    }

    /// Does what follows on something, and tells it.
    fn happens(&mut self, input: Input<'_>) -> Result<Vec<Happened>, Impossible> {
        match self.turn(input) {
            Ok(turn) => Ok(self.carry(&turn)),
            Err(refused) => refused.map(|it| vec![it]),
        }
    }

    /// Turn that follows on an input, or the refusal of the engine; an input that no command can ask for is impossible.
    fn turn(&self, input: Input<'_>) -> Result<LifeTurn<'m>, Result<Happened, Impossible>> {
        let machine = self.machine;
        self.view(|view| {
            machine.life(&self.facts(view, &self.reviewers()), input).map_err(|refusal| match refusal {
                Refusal::Rejected { rejection, .. } => Ok(Happened::Refused {
                    code: rejection.code(),
                    message: rejection.message(machine, view),
                    help: rejection.help(machine, view, "orange task update"),
                }),
                Refusal::HooksWait => Ok(Happened::Refused {
                    code: "hooks_wait",
                    message: refusal.message(machine, view),
                    help: "`retry-hooks` runs them, and the cancellation of the task drops them".to_owned(),
                }),
                Refusal::NoState(_)
                | Refusal::Started
                | Refusal::NoRespawnPrompt
                | Refusal::NoAgent
                | Refusal::NoWorkspace(_)
                | Refusal::Alive => Err(Impossible(refusal.message(machine, view))),
            })
        })
    }

    fn facts<'v>(&self, view: &View<'v>, reviewers: &'v [&'v str]) -> LifeFacts<'v> {
        LifeFacts {
            view: *view,
            has_summary: true,
            workspace: self.task.workspace,
            has_session: self.task.session,
            hooks_wait: self.waiting.is_some(),
            restarts: 0,
            reviewers,
            last: None,
        }
    }

    /// Carries out what follows, and tells it.
    fn carry(&mut self, turn: &LifeTurn<'m>) -> Vec<Happened> {
        let mut story = Vec::new();
        if turn.events.is_empty() && !turn.story.is_empty() {
            story.push(Happened::Over { reason: turn.story.clone() });
        }
        let mut crash = None;
        let is_started = !turn.effects.is_empty();
        for event in &turn.events {
            match event {
                LifeEvent::Crashed { counter, count, reason } => {
                    self.set_counter(*counter, *count);
                    crash = Some((*count, reason));
                }
                LifeEvent::Began(decision) => {
                    crash = None;
                    story.extend(self.fire(decision));
                }
                LifeEvent::Forced { to, .. } => self.go_to(*to),
                LifeEvent::Waits { after, reason } if !is_started => {
                    story.push(Happened::Waits { resume_after: *after, reason: reason.clone() });
                }
                LifeEvent::Attention(reason) if turn.events.len() == 1 => {
                    story.push(Happened::Marked { reason: reason.clone() });
                }
                LifeEvent::Waits { .. }
                | LifeEvent::NotResumed
                | LifeEvent::Advanced { .. }
                | LifeEvent::HooksWait
                | LifeEvent::GaveUp { .. }
                | LifeEvent::Attention(_) => {}
            }
        }
        let hooks: Vec<HookRun> = turn.effects.iter().map(|effect| self.start(effect)).collect();
        match crash {
            Some((count, reason)) => {
                let (reason, respawned) = (reason.clone(), hooks.into_iter().next());
                story.push(Happened::Crashed { count, reason, respawned });
            }
            None if is_started => story.push(Happened::Started { hooks }),
            None => {}
        }
        story
    }

    fn fire(&mut self, decision: &Decision<'m>) -> Vec<Happened> {
        self.waiting = None;
        self.exited.clear();
        for seen in &decision.seen {
            let known = self.passed.get(seen.section);
            let is_known = known.is_some_and(|(it, _)| it.fingerprint == seen.fingerprint);
            if !is_known {
                self.passed.insert(seen.section, (*seen, self.work));
            }
        }
        self.stood.clone_from(&decision.entered);
        self.go_to(decision.to);
        let (hooks, story) = self.run_hooks(decision, 0);
        let Decision { transition, from, to, cause, .. } = *decision;
        let transitioned = Happened::Transitioned { transition, from, to, cause, hooks };
        std::iter::once(transitioned).chain(story).collect()
    }

    fn go_to(&mut self, status: StateId) {
        self.time.moves(self.task.status, status);
        self.task.status = status;
    }

    fn view<T>(&self, look: impl FnOnce(&View<'_>) -> T) -> T {
        let passed =
            self.passed.values().map(|(seen, work)| SeenSection { work: self.work.since(*work), ..*seen });
        let seen: Vec<SeenSection<'_>> = passed.chain(self.stood.iter().copied()).collect();
        let asked = self.machine.gates_of(self.status()).filter_map(|gate| gate.program());
        let answer = |program: &Program<'m>| {
            let has_failed = !self.succeeding.contains(&program.to_string());
            (program.argv, has_failed.then(|| format!("`{program}` fails")))
        };
        let known: Vec<(&[&str], Option<String>)> = asked.map(answer).collect();
        let programs: Vec<ProgramAnswer<'_>> =
            known.iter().map(|(argv, failure)| ProgramAnswer { argv, failure: failure.as_deref() }).collect();
        // A request to the state of merged tasks stands for the merge.
        let answers =
            Answers { programs: &programs, checks: self.checks, children: self.children, is_merge: true };
        let (counters, body) = (&self.counters, &self.body);
        look(&View { status: self.status(), counters, body, seen: &seen, answers })
    }

    /// Content of a section.
    pub fn section(&self, heading: &str) -> Option<&str> {
        section(&self.body, heading)
    }
}

/// The work of a walk's task.
#[derive(Clone, Copy, Debug, Default)]
struct WalkWork {
    /// Number of its commits.
    commits: u32,
    /// Number of those that have changed the patch.
    patches: u32,
}

impl WalkWork {
    fn change(&mut self, is_sync: bool) {
        self.commits += 1;
        self.patches += u32::from(!is_sync);
    }

    /// Change since earlier work.
    fn since(self, before: WalkWork) -> WorkSince {
        match self.commits - before.commits {
            0 => WorkSince::Same,
            commits => {
                WorkSince::Changed { has_same_patch: self.patches == before.patches, commits: Some(commits) }
            }
        }
    }
}

impl WalkEnd {
    /// An end with this exit status, by this signal, with these last lines.
    pub fn of(code: Option<i32>, signal: Option<i32>, output: String) -> Self {
        Self { code, signal, output, lasted: 0, spent: false }
    }

    fn end(&self) -> AgentEnd<'_> {
        AgentEnd {
            code: self.code,
            signal: self.signal,
            output: &self.output,
            is_spent: self.spent,
            ..AgentEnd::PLAIN
        }
    }
}

impl From<&AgentEnd<'_>> for WalkEnd {
    fn from(end: &AgentEnd<'_>) -> Self {
        Self {
            lasted: end.lasted,
            spent: end.is_spent,
            ..Self::of(end.code, end.signal, end.output.to_owned())
        }
    }
}
