//! Claims of `orange-workflow prove` about a workflow, watched over one run: a reference that was written from the documents
//! (`docs/workflow.md`, `docs/linting.md`, the pages of the checks) and uses nothing of the compiler, the core or the search.
//!
//! The test that takes the run says what happens, one thing after the other; the monitor has its own idea of the task's agents and
//! its worktree, and notes each breach of a property.

use std::collections::{BTreeMap, BTreeSet};

mod walls;

use self::walls::{Forgery, is_again_walled, is_walled};
use crate::plan::{
    Applies, Plan, PlannedDeadline, PlannedGate, PlannedHook, PlannedOutcome, PlannedRule, PlannedTransition,
};

/// Somebody who acts on a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskActor {
    /// A person.
    Person,
    /// The agent whose requests are the worker's.
    Worker,
    /// The agent whose requests are the reviewer's.
    Reviewer,
    /// A declared actor, which is neither an agent nor a person.
    Program,
}

/// Cause of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransitionCause {
    /// Somebody has asked.
    Asked(TaskActor),
    /// An agent has ended, and an exit rule of its state decides.
    Ended,
    /// An agent has crashed too often.
    Escalated,
    /// The time in the state is over, and no agent of the state is there to be ended.
    Elapsed,
    /// A hook of the transition before has failed.
    HookFailed,
}

/// Something that happens to a task.
#[derive(Clone, Debug)]
pub enum TaskHappening<'h> {
    /// Somebody writes a section.
    Wrote(TaskActor, &'h str),
    /// A person acts: asks, starts, retries.
    PersonActs,
    /// The task takes a transition, by its place in the plan.
    Took(usize, TransitionCause),
    /// A hook of that transition runs; whether somebody has made it fail.
    Hook(usize, bool),
    /// The agent of the state is started without a transition, with the state's prompt.
    Started(StartCause),
    /// An agent ends; the rule that decides, if one does, as the reference has it.
    Ends(TaskActor, Option<DecidingRule>),
    /// It was a crash, and the task stays: how many there have been.
    Crashed(u32),
    /// Nothing further follows from what somebody has done.
    Done {
        /// True if hooks wait.
        hooks_wait: bool,
    },
}

/// The rule that decides about the end of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecidingRule {
    /// The timeout of the state, or a deadline.
    Timeout,
    /// The exit rule with this place in the plan.
    Rule(usize),
}

/// One agent that is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agent {
    /// True if it has worked on the task, or has the prompt of agents that do.
    pub has_worked: bool,
    /// True if `spawn_reviewer` has started it, to run beside a worker.
    pub is_beside: bool,
    /// True if it was started by the last transition.
    is_new: bool,
}

/// A breach of a property, by the property's name.
pub type Breach = (&'static str, String);

/// Facts about one run.
#[derive(Clone, Debug)]
pub struct RunMonitor<'p> {
    plan: &'p Plan,
    /// The task's state.
    pub status: usize,
    /// True if it has a worktree.
    pub worktree: bool,
    /// True if it has a plain folder in the place of one.
    folder: bool,
    /// True if a hook of the last transition was to release a place in which an agent is alive.
    is_kept: bool,
    /// True if the last hook has failed by itself, and those after it wait.
    is_stopped: bool,
    agents: [Option<Agent>; 2],
    /// By agent: what it was when it ended. The ends that come while hooks wait are judged once these have run.
    ended: [Option<Agent>; 2],
    last_ended: Option<TaskActor>,
    decided: Option<DecidingRule>,
    /// By section: who wrote it last, if that was an agent that has worked.
    writers: BTreeMap<String, Option<TaskActor>>,
    last: Option<usize>,
    hooks_wait: bool,
    /// True if a person has asked for something since an agent was last alive; before any agent, a request is not needed.
    is_asked: bool,
    /// The transitions since a person last did something, the person's own included.
    pub unattended: u64,
    /// The agents that were started since then, beside those that were started again after a crash or a wait.
    pub started: u64,
    /// The agents that were started again after a crash since then.
    pub restarted: u64,
    /// By state: the stays whose first agent was started since then.
    pub stays: BTreeMap<usize, u64>,
    /// True if no agent was started in the present stay.
    is_new_stay: bool,
    /// The transitions since then, by their place in the plan, and how often each was taken.
    pub taken: BTreeMap<usize, u64>,
    /// True if the task has come back, without a person, to a state that it had left.
    pub has_returned: bool,
    /// The states that it has left without a person.
    left: BTreeSet<usize>,
    forgery: Forgery,
    breaches: Vec<Breach>,
}

/// Start of an agent without a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartCause {
    /// A person starts the task, which gets a worktree first, or its agent again.
    ByPerson {
        /// True if it gets a worktree first.
        with_worktree: bool,
    },
    /// The engine does, after a crash.
    AfterCrash,
    /// The engine does, after a wait.
    AfterWait,
}

impl<'p> RunMonitor<'p> {
    /// A task that was created in a state.
    pub fn new(plan: &'p Plan, status: usize) -> Self {
        Self {
            plan,
            status,
            worktree: false,
            folder: false,
            is_kept: false,
            is_stopped: false,
            agents: [None, None],
            ended: [None, None],
            last_ended: None,
            decided: None,
            writers: BTreeMap::new(),
            last: None,
            hooks_wait: false,
            is_asked: true,
            unattended: 0,
            started: 0,
            restarted: 0,
            stays: BTreeMap::new(),
            is_new_stay: true,
            taken: BTreeMap::new(),
            has_returned: false,
            left: BTreeSet::new(),
            forgery: Forgery::None,
            breaches: Vec::new(),
        }
    }

    /// The agent of this actor, if it is alive.
    pub fn agent(&self, who: TaskActor) -> Option<Agent> {
        slot(who).and_then(|at| self.agents[at])
    }

    /// True if hooks wait because one of them can never work.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// The last transition, by its place in the plan.
    pub fn last(&self) -> Option<usize> {
        self.last
    }

    /// The breaches so far, each once.
    pub fn breaches(&mut self) -> Vec<Breach> {
        std::mem::take(&mut self.breaches)
    }

    /// Key of the facts that the properties distinguish in the run so far, beside the task itself.
    pub fn key(&self) -> impl std::hash::Hash + Eq + use<> {
        let agents = self.agents.map(|it| it.map(|it| (it.has_worked, it.is_beside)));
        let writers: Vec<_> = self.writers.iter().map(|(section, who)| (section.clone(), *who)).collect();
        (agents, writers, self.is_asked, self.folder, self.forgery)
    }

    /// The deadlines of the task's state.
    fn deadlines(&self) -> impl Iterator<Item = &PlannedDeadline> {
        self.plan.deadlines.iter().filter(|it| it.states.contains(&self.status))
    }

    /// The next thing that happens.
    pub fn see(&mut self, happening: &TaskHappening<'_>) {
        match happening {
            TaskHappening::Wrote(who, section) => self.writes(*who, section),
            TaskHappening::PersonActs => self.begin_unattended(),
            TaskHappening::Took(transition, cause) => self.takes(*transition, *cause),
            TaskHappening::Hook(at, has_failed) => self.runs(*at, *has_failed),
            TaskHappening::Started(start) => self.starts(*start),
            TaskHappening::Ends(who, decides) => self.ends(*who, *decides),
            TaskHappening::Crashed(count) => self.crashes(*count),
            TaskHappening::Done { hooks_wait } => self.is_done(*hooks_wait),
        }
    }

    /// Counts from here on.
    fn begin_unattended(&mut self) {
        (self.unattended, self.started, self.restarted) = (0, 0, 0);
        self.stays.clear();
        self.taken.clear();
        self.left.clear();
        self.has_returned = false;
    }

    fn breach(&mut self, property: &'static str, what: String) {
        self.breaches.push((property, what));
    }

    fn writes(&mut self, who: TaskActor, section: &str) {
        let has_worked = self.agent(who).is_some_and(|it| it.has_worked);
        self.writers.insert(section.to_owned(), has_worked.then_some(who));
    }

    fn ends(&mut self, who: TaskActor, decides: Option<DecidingRule>) {
        let ended = slot(who).and_then(|at| self.agents[at].take());
        if let Some(at) = slot(who) {
            self.ended[at] = ended;
        }
        (self.last_ended, self.decided) = (Some(who), decides);
        if self.hooks_wait || self.plan.states[self.status].terminal {
            return;
        }
        self.judged(who, ended);
    }

    /// An end goes unnoticed where no exit rule is asked about it, or none applies ("If none applies, the agent is shown as dead").
    fn judged(&mut self, who: TaskActor, ended: Option<Agent>) {
        let name = &self.plan.states[self.status].name;
        let has_rules = self.plan.rules.iter().any(|it| it.status == self.status)
            || self.plan.states[self.status].timeout.is_some_and(|(_, to)| to.is_some())
            || self.deadlines().any(|it| it.then.is_some());
        if !has_rules {
            self.breach("no-lost-agent", format!("the {who:?} ended in {name}, which has no exit rule"));
        } else if own(self.plan, self.status) == who {
            if self.decided.is_none() {
                self.breach(
                    "no-lost-agent",
                    format!("no exit rule of {name} applies to the end of the {who:?}"),
                );
            }
        } else if ended.is_some_and(|it| it.is_new) {
            self.breach(
                "no-lost-agent",
                format!("the rules of {name} are about another agent than the {who:?}"),
            );
        }
    }

    /// A crash that is one too many moves the task.
    fn crashes(&mut self, count: u32) {
        let limit = |it: &PlannedRule| match it.outcome {
            PlannedOutcome::Crash { stuck_after, .. } => Some(stuck_after.unwrap_or(2)),
            PlannedOutcome::Then(_)
            | PlannedOutcome::ThenWhen(_)
            | PlannedOutcome::MarkDead
            | PlannedOutcome::Wait(_) => None,
        };
        let own = match self.decided {
            // An end that is judged once more crashes by the rules of the state to which it has led.
            Some(DecidingRule::Rule(rule)) => {
                Some(&self.plan.rules[rule]).filter(|it| it.status == self.status).and_then(limit)
            }
            Some(DecidingRule::Timeout) | None => None,
        };
        let of_state = self.plan.rules.iter().filter(|it| it.status == self.status).find_map(limit);
        if count >= own.or(of_state).unwrap_or(2) {
            self.breach("no-lost-agent", format!("crash {count} moves nothing in {}", self.status));
        }
    }

    fn takes(&mut self, at: usize, cause: TransitionCause) {
        let it = &self.plan.transitions[at];
        let by_person = cause == TransitionCause::Asked(TaskActor::Person);
        if cause == TransitionCause::HookFailed {
            self.stand();
        }
        self.judges(it, cause);
        self.forges(it, cause);
        self.is_asked &= self.agents == [None, None];
        self.is_asked |= by_person;
        self.unattended += 1;
        *self.taken.entry(at).or_default() += 1;
        if !by_person {
            self.left.insert(it.from);
        }
        self.has_returned |= self.left.contains(&it.to);
        (self.status, self.is_kept, self.is_stopped) = (it.to, false, false);
        self.is_new_stay = true;
        self.last = Some(at);
        for agent in self.agents.iter_mut().flatten() {
            agent.is_new = false;
        }
        let merge =
            self.plan.merge.or_else(|| self.plan.states.iter().position(|state| state.name == "done"));
        if merge == Some(it.to) && !self.is_asked && !self.plan.unattended {
            self.breach("person-asked", "nobody was asked since an agent was alive".to_owned());
        }
    }

    /// The actor that passes a gate by a verdict has not worked, and neither has its author, unless a person goes by it.
    fn judges(&mut self, it: &PlannedTransition, cause: TransitionCause) {
        let of_rule = self.gates_of_rule(it, cause);
        let verdicts = it.gates.iter().chain(of_rule).filter(|gate| gate.asks_for_verdict());
        let verdicts: Vec<&PlannedGate> = verdicts.collect();
        if cause == TransitionCause::Escalated || verdicts.is_empty() {
            return;
        }
        let actor = match cause {
            TransitionCause::Asked(who) => self.agent(who).map(|agent| (who, agent)),
            TransitionCause::Ended => self.judged_end(it.from),
            TransitionCause::Escalated | TransitionCause::Elapsed | TransitionCause::HookFailed => None,
        };
        if let Some((who, _)) = actor.filter(|(_, agent)| agent.has_worked) {
            self.breach("judged-apart", format!("the {who:?} has worked, and passes a gate by a verdict"));
        }
        if cause == TransitionCause::Asked(TaskActor::Person) {
            return;
        }
        for gate in verdicts {
            let declared = declared(self.plan, it.from, gate.section);
            let may = |who: &TaskActor| declared.is_empty() || declared.contains(&name(*who));
            if let Some(who) = self.writers.get(gate.section).copied().flatten().filter(may) {
                let what =
                    format!("the verdict in {} was written by the {who:?}, who has worked", gate.section);
                self.breach("judged-apart", what);
            }
        }
    }

    /// The agent about whose end the exit rules of a state decide: the state's own, or the one that has ended last.
    fn judged_end(&self, state: usize) -> Option<(TaskActor, Agent)> {
        let of = |who: TaskActor| Some((who, self.ended[slot(who)?]?));
        of(own(self.plan, state)).or_else(|| of(self.last_ended?))
    }

    /// Effect of a hook, by its row in `docs/workflow.md`.
    fn runs(&mut self, at: usize, has_failed: bool) {
        let Some(hook) = self.last.and_then(|last| hooks(&self.plan.transitions[last]).into_iter().nth(at))
        else {
            return;
        };
        self.is_stopped = !has_failed && hook.stops() && self.cannot(&hook);
        if has_failed {
            return;
        }
        match hook.action {
            "acquire_workspace" => self.acquire(),
            "release_workspace" if self.agents != [None, None] => self.is_kept = true,
            "release_workspace" => (self.worktree, self.folder) = (false, false),
            "kill_session" => self.agents = [None, None],
            "kill_reviewer" => self.agents[1] = None,
            "notify_worker" if self.agents[0].is_some() || hook.prompt.is_none() => {}
            "spawn_agent" | "spawn_reviewer" | "notify_worker" => {
                let who = if is_review(&hook) { TaskActor::Reviewer } else { TaskActor::Worker };
                let is_beside = hook.action == "spawn_reviewer";
                let is_second = self.agent(who).is_some();
                if is_second && self.has_place() {
                    self.breach("one-agent", format!("a hook is to start a second {who:?}"));
                }
                if self.start(who, is_beside, hook.prompt) {
                    self.count_start();
                    self.has_started(is_walled(&hook));
                }
            }
            _ => {}
        }
    }

    /// True if the engine refuses the effect of a hook (`docs/workflow.md`, "Hooks").
    fn cannot(&self, hook: &PlannedHook) -> bool {
        let is_manned = self.agents != [None, None];
        match hook.action {
            "acquire_workspace" => self.folder && is_manned,
            "release_workspace" => (self.worktree || self.folder) && is_manned,
            "run_command" => !self.worktree,
            "sync_branch" => is_manned || self.folder,
            "notify_worker" if self.agents[0].is_some() => false,
            "notify_worker" if hook.prompt.is_none() => true,
            "spawn_agent" | "spawn_reviewer" | "notify_worker" => {
                let who = if is_review(hook) { TaskActor::Reviewer } else { TaskActor::Worker };
                self.agent(who).is_some() || !self.has_place()
            }
            _ => false,
        }
    }

    /// A worktree takes the place of the folder, unless an agent is alive there.
    fn acquire(&mut self) {
        if !self.folder || self.agents == [None, None] {
            (self.worktree, self.folder) = (true, false);
        }
    }

    /// True if the task has a place for the agents of its state, or can get it: a worktree, or a folder of its own.
    fn has_place(&self) -> bool {
        self.plan.states[self.status].in_folder != self.worktree
    }

    /// Starts an agent, unless it has no place or one of its kind is alive; says whether it has.
    fn start(&mut self, who: TaskActor, is_beside: bool, prompt: Option<&'static str>) -> bool {
        let (Some(at), true) = (slot(who), self.has_place()) else { return false };
        self.folder = !self.worktree;
        let (same, other) = (self.agents[at], self.agents[1 - at]);
        if same.is_some_and(|it| !it.is_beside) {
            self.breach("one-agent", format!("a second {who:?} is to be started beside the first"));
        }
        if same.is_none() && !is_beside && other.is_some_and(|it| !it.is_beside) {
            self.breach("one-agent", format!("the {who:?} is started beside another agent"));
        }
        if same.is_some() {
            return false;
        }
        let has_worked = works(self.plan, self.status) || prompt.is_some_and(|it| is_for_work(self.plan, it));
        self.agents[at] = Some(Agent { has_worked, is_beside, is_new: true });
        self.ended[at] = None;
        true
    }

    /// The state's own agent is started again, after a crash or by a person.
    fn starts(&mut self, start: StartCause) {
        if start == (StartCause::ByPerson { with_worktree: true }) && !self.plan.states[self.status].in_folder
        {
            self.acquire();
        }
        let who = own(self.plan, self.status);
        let prompt = self.plan.states[self.status].respawn;
        let is_beside = respawn_hook(self.plan, self.status).is_some_and(|it| it.action == "spawn_reviewer");
        let is_started = self.start(who, is_beside, prompt);
        self.has_started(!is_started || is_again_walled(self.plan, self.status));
        match (is_started, start) {
            (true, StartCause::AfterCrash) => self.restarted += 1,
            (true, StartCause::ByPerson { .. }) => self.count_start(),
            (true, StartCause::AfterWait) | (false, _) => {}
        }
    }

    /// Counts an agent that was started, and the stay whose first one it is.
    fn count_start(&mut self) {
        self.started += 1;
        if std::mem::take(&mut self.is_new_stay) {
            *self.stays.entry(self.status).or_default() += 1;
        }
    }

    /// The agents that are alive have been in the state, if only until a hook of the way to it failed.
    fn stand(&mut self) {
        let does_work = works(self.plan, self.status);
        self.agents.iter_mut().flatten().for_each(|it| it.has_worked |= does_work);
    }

    fn is_done(&mut self, hooks_wait: bool) {
        self.hooks_wait = hooks_wait;
        let (state, is_alive) = (&self.plan.states[self.status], self.agents != [None, None]);
        self.stand();
        self.is_asked &= !is_alive;
        if hooks_wait && !self.is_stopped {
            return;
        }
        if is_alive && (state.terminal || self.is_kept || !(self.worktree || self.folder)) {
            self.breach("nothing-left-behind", format!("an agent is alive in {}", state.name));
        }
        if state.terminal && self.worktree {
            self.breach("nothing-left-behind", format!("the worktree stays bound in {}", state.name));
        }
        self.is_kept &= is_alive;
    }
}

/// All hooks of a transition, in the order in which they run: `reset` comes first.
pub fn hooks(transition: &PlannedTransition) -> Vec<PlannedHook> {
    let simple = |action| PlannedHook { action, ..PlannedHook::default() };
    let resets = transition.reset.iter().map(|_| simple("reset"));
    let increments = transition.increments.iter().map(|_| simple("increment"));
    resets.chain(increments).chain(transition.hooks.iter().cloned()).collect()
}

/// The writers whom the gates and rules of a state declare for a section. The engine does not examine that, and neither is it doubted here.
fn declared(plan: &Plan, state: usize, section: &str) -> Vec<&'static str> {
    gates(plan, state).filter(|it| it.section == section).flat_map(|it| it.written_by.clone()).collect()
}

/// The gates that leave a state, and the artifacts of its exit rules.
pub fn gates(plan: &Plan, state: usize) -> impl Iterator<Item = &PlannedGate> {
    let leaving = plan.transitions.iter().filter(move |it| it.from == state);
    let rules = plan.rules.iter().filter(move |it| it.status == state);
    let artifacts = rules.flat_map(|it| match &it.applies {
        Applies::HasArtifact(gates) => gates.as_slice(),
        Applies::Always | Applies::NoArtifact | Applies::Ended(_) => &[],
    });
    leaving.flat_map(|it| &it.gates).chain(artifacts)
}

fn name(who: TaskActor) -> &'static str {
    match who {
        TaskActor::Person => "human",
        TaskActor::Worker => "worker",
        TaskActor::Reviewer => "reviewer",
        TaskActor::Program => "ci",
    }
}

fn slot(who: TaskActor) -> Option<usize> {
    match who {
        TaskActor::Person | TaskActor::Program => None,
        TaskActor::Worker => Some(0),
        TaskActor::Reviewer => Some(1),
    }
}

fn spawns(transition: &PlannedTransition) -> impl Iterator<Item = &PlannedHook> {
    transition.hooks.iter().filter(|it| it.prompt.is_some())
}

/// The actor of an agent: "by `as`, or else by `harness: task` or `harness: review`, or else by its action".
fn is_review(hook: &PlannedHook) -> bool {
    let by_harness = hook.harness.map(|it| it == "review");
    hook.role.map(|it| it == "reviewer").or(by_harness).unwrap_or(hook.action == "spawn_reviewer")
}

/// The hook that a respawn in a state is like: one that starts an agent on a transition there with the same prompt, or anywhere, or
/// any on a transition there ("The agent starts in the same way as the state's own agent").
fn respawn_hook(plan: &Plan, state: usize) -> Option<&PlannedHook> {
    let prompt = plan.states[state].respawn?;
    let into = || plan.transitions.iter().filter(move |it| it.to == state).flat_map(spawns);
    let all = || plan.transitions.iter().flat_map(spawns);
    let same = |it: &&PlannedHook| it.prompt == Some(prompt);
    into().find(same).or_else(|| all().find(same)).or_else(|| into().next())
}

/// The agent whose end the exit rules of a state judge: the agent that is started again there, else a reviewer where one is started
/// on a transition there.
pub fn own(plan: &Plan, state: usize) -> TaskActor {
    let into = || plan.transitions.iter().filter(move |it| it.to == state).flat_map(spawns);
    let is_reviewer = match plan.states[state].respawn {
        Some(_) => respawn_hook(plan, state).is_some_and(is_review),
        None => into().any(is_review),
    };
    if is_reviewer { TaskActor::Reviewer } else { TaskActor::Worker }
}

/// True if agents work in a state: no gate and no exit rule takes a verdict there, or it is where they begin
/// (`docs/lints/judge-of-own-work.md`).
fn works(plan: &Plan, state: usize) -> bool {
    let judges = gates(plan, state).any(|it| it.asks_for_verdict());
    let begins =
        plan.transitions.iter().any(|it| it.from == 0 && it.to == state && spawns(it).next().is_some());
    let name = plan.states[state].name.as_str();
    let first = || plan.transitions.iter().filter(|it| it.from == 0);
    let is_led_to = first().any(|it| it.to == state);
    let clarifies = |at: usize| {
        plan.commands.get("clarify").map_or(plan.states[at].name == "clarification", |it| *it == at)
    };
    let spawning = first().filter(|it| !clarifies(it.to) && spawns(it).next().is_some());
    let named = |command, or: bool| plan.commands.get(command).map_or(or, |it| *it == state);
    let is_spawned =
        clarifies(state) || named("spawn", name == "working" && (is_led_to || spawning.count() != 1));
    !judges || ((is_spawned || begins) && !named("review", name == "agent-review"))
}

/// True if agents that work are started with a prompt.
fn is_for_work(plan: &Plan, prompt: &str) -> bool {
    let by_transition = plan
        .transitions
        .iter()
        .any(|it| works(plan, it.to) && spawns(it).any(|hook| hook.prompt == Some(prompt)));
    let again = (0..plan.states.len()).any(|at| works(plan, at) && plan.states[at].respawn == Some(prompt));
    by_transition || again
}
