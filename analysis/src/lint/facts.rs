//! Facts that every lint may ask for: the workflow with its places, its machine, its search, and who does what.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use orange_core::{self as core, Actor, Machine, StateId, TransitionId};

use super::actor_kind::{ActorKind, actor_kind, is_ruled};
use super::prompt_facts::PromptFacts;
use super::state_graph::StateGraph;
use super::{authority, exits, prompts};
use crate::search::components::Components;
use crate::search::ends::RuleIndex;
use crate::search::sections::{OutsideCheck, SUCCEEDS};
use crate::search::task::{ABSENT, ContentId, Task};
use crate::search::{self, ConfigurationId, Edge, EdgeId, FailedHook, Search, SearchStep, ends};
use crate::walk::{Act, WalkEnd};
use orange_codegen::diag;
use orange_codegen::guard::cells::WorkBudget;
use orange_codegen::lower;
use orange_codegen::model::{ExitRule, Hook, State, Transition, Workflow};
use orange_codegen::source::Source;
use orange_codegen::span::Span;

/// All traces of one file have no more steps and hooks than this together: nobody reads more, and a thousand findings
/// with a thousand steps each would be more than there is room for.
pub const MAX_TRACED: usize = 50_000;

/// The part of a run that its trace has reported.
#[derive(Debug, Default)]
struct RunSoFar {
    /// By section: how often it was written.
    written: BTreeMap<u8, u32>,
    /// The programs and checks that have answered well, by the number of their section.
    answered: BTreeSet<u8>,
}

/// Everything about one checked workflow.
#[derive(Debug)]
pub struct Facts<'f> {
    /// The workflow, with a span on everything.
    pub workflow: &'f Workflow,
    pub source: &'f Source,
    pub machine: &'f Machine<'f>,
    /// Every run of it.
    pub search: &'f Search<'f>,
    /// Facts that its prompts state.
    pub prompt_facts: &'f PromptFacts,
    /// By [`TransitionId`].
    pub transitions: Vec<&'f Transition>,
    /// In the machine's order: by state, then source order.
    pub exit_rules: Vec<&'f ExitRule>,
    /// By [`TransitionId`]: who takes it.
    pub actor_kinds: Vec<ActorKind>,
    /// Connections between states by transitions, whatever their guards say.
    pub graph: StateGraph,
    /// By state: the nearest configuration in it, if the search came there.
    pub nearest: Vec<Option<ConfigurationId>>,
    /// Work that may still be spent on questions about guards.
    pub work: RefCell<WorkBudget>,
    /// Steps and their hooks in the traces so far.
    traced: Cell<usize>,
    /// Facts for the lints of authority, computed once.
    pub(super) authority: authority::AuthorityLintFacts,
    /// Facts for the lints of exit rules, computed once.
    pub(super) exits: exits::ExitLintFacts,
    /// Facts for the lints of prompts, computed once.
    pub(super) prompts: prompts::PromptLintFacts,
}

/// A person in a trace.
const PERSON: &str = "person";

impl<'f> Facts<'f> {
    /// Gathers what lints ask for.
    pub fn new(
        workflow: &'f Workflow,
        source: &'f Source,
        machine: &'f Machine<'f>,
        search: &'f Search<'f>,
        prompt_facts: &'f PromptFacts,
    ) -> Self {
        let transitions = lower::transitions(workflow);
        let actor_kinds =
            machine.transitions.iter().map(|it| actor_kind(machine, prompt_facts, it)).collect();
        let exit_rules = lower::exit_rules(workflow);
        Self {
            workflow,
            source,
            machine,
            search,
            prompt_facts,
            transitions,
            exit_rules,
            actor_kinds,
            graph: StateGraph::of(machine),
            nearest: nearest(search),
            work: RefCell::new(WorkBudget::default()),
            traced: Cell::new(0),
            authority: authority::AuthorityLintFacts::default(),
            exits: exits::ExitLintFacts::default(),
            prompts: prompts::PromptLintFacts::default(),
        }
    }

    /// The state with this number.
    pub fn state(&self, id: StateId) -> &'f State {
        &self.workflow.states[usize::from(id.0)]
    }

    pub fn name(&self, id: StateId) -> &'f str {
        &self.state(id).name.value
    }

    /// Every state with its number, in source order.
    pub fn states(&self) -> impl Iterator<Item = (StateId, &'f State)> {
        (0u16..).map(StateId).zip(&self.workflow.states)
    }

    /// The transition with this number, with its places.
    pub fn transition(&self, id: TransitionId) -> &'f Transition {
        self.transitions[id.0 as usize]
    }

    /// True if an exit rule leads to the target of a transition.
    pub fn is_ruled(&self, id: TransitionId) -> bool {
        is_ruled(self.machine, self.machine.transition(id))
    }

    /// The transitions out of a state, in the machine's order.
    pub fn leaving(&self, from: StateId) -> impl Iterator<Item = (TransitionId, &'f Transition)> {
        let (start, end) = match self.machine.rows.get(usize::from(from.0)..usize::from(from.0) + 2) {
            Some([start, end]) => (*start, *end),
            _ => (0, 0),
        };
        (start..end).map(TransitionId).map(|id| (id, self.transition(id)))
    }

    /// True if a transition gives the task up and takes no verdict for it: it leads to the crash state or to the one of `cancel`.
    pub fn gives_up(&self, id: TransitionId) -> bool {
        let Machine { commands, .. } = self.machine;
        let transition = self.machine.transition(id);
        let gives_up = [commands.crash, commands.cancel].contains(&Some(transition.to));
        gives_up && transition.section_gates().all(|gate| !gate.asks_for_verdict())
    }

    /// The hook of a transition, with its places.
    pub fn hook(&self, id: TransitionId, index: search::HookIndex) -> Option<&'f Hook> {
        self.transition(id).hooks.get(usize::from(index))
    }

    /// `working → stuck`, quoted.
    pub fn arrow(&self, transition: &Transition) -> String {
        format!("`{} → {}`", self.name(transition.from.value), self.name(transition.to.value))
    }

    /// The part of a span on its first line: a whole mapping makes no readable caret.
    pub fn first_line(&self, span: Span) -> Span {
        span.first_line(&self.source.text)
    }

    /// True if no exit rule moves a task on from a state.
    pub fn waits(&self, id: StateId) -> bool {
        self.machine.state(id).waits_for_human
    }

    /// A run as readers see it. Of a run that is longer than what is left of [`MAX_TRACED`], that is its last step.
    pub fn tell(&self, run: &[EdgeId], end: impl Into<Option<String>>) -> diag::Trace {
        self.tell_unasked(run, 0, end)
    }

    /// The nearest configuration from which no run leads to one where this holds; `None` also if the search was cut. While hooks wait,
    /// an agent may end without a step, so that no run counts on a request that agents alone may make.
    pub fn caught(&self, holds: impl Fn(ConfigurationId) -> bool) -> Option<ConfigurationId> {
        let search = self.search;
        if search.cut().is_some() {
            return None;
        }
        let is_sure = |edge: &Edge| {
            let task = search.task(edge.from);
            let SearchStep::Request { transition, by: Actor::Worker | Actor::Reviewer, .. } = edge.step
            else {
                return true;
            };
            let by = self.machine.transition(transition).by;
            task.waiting.is_none() || self.machine.asker(task.status, by, |_| false).is_some()
        };
        let edges = search.edges().map(|(_, edge)| edge).filter(|edge| is_sure(edge));
        let components = Components::of(search.size(), edges.map(|edge| (edge.from, edge.to)));
        let reaching = components.reaching(holds);
        search.configurations().map(|(id, _)| id).find(|id| !reaching[*id as usize])
    }

    /// The shortest run to a configuration, which may be one that a task is created in.
    pub fn tell_to(&self, at: ConfigurationId, end: impl Into<Option<String>>) -> diag::Trace {
        let run = self.search.run_to(at);
        let mut trace = self.tell(&run, end);
        if run.is_empty() {
            self.name(self.search.task(at).status).clone_into(&mut trace.start);
        }
        trace
    }

    /// A run as readers see it, in whose last steps no person takes part: the actor that asks there is named, although
    /// a person usually does.
    pub fn tell_unasked(&self, run: &[EdgeId], last: usize, end: impl Into<Option<String>>) -> diag::Trace {
        self.trace_of(self.with_room(run), last, &[], end.into())
    }

    /// A run without an end, whose last steps are taken again and again: programs and checks that answer well in one turn answer badly
    /// in the next one, until they are said to answer well.
    pub fn tell_loop(&self, run: &[EdgeId], last: usize, end: impl Into<Option<String>>) -> diag::Trace {
        let turn = self.search.named(&run[run.len().saturating_sub(last)..]);
        let wrote = turn.iter().filter_map(|edge| edge.step.wrote()).filter(|it| it.content != ABSENT);
        let is_asked = |section: &u8| self.search.sections.get(usize::from(*section)).asked.is_some();
        let answered: Vec<u8> = wrote.map(|it| it.section).filter(is_asked).collect();
        self.trace_of(self.with_room(run), last, &answered, end.into())
    }

    /// A shortest run to a configuration from its beginning; none beyond [`MAX_TRACED`] steps of all traces.
    pub(crate) fn whole_run_to(&self, at: ConfigurationId) -> Option<diag::Trace> {
        let run = self.search.run_to(at);
        let mut trace = self.has_room(&run).then(|| self.trace_of(&run, 0, &[], None))?;
        if run.is_empty() {
            self.name(self.search.task(at).status).clone_into(&mut trace.start);
        }
        Some(trace)
    }

    /// A run as readers see it. These programs and checks may have answered well before its last steps.
    fn trace_of(&self, run: &[EdgeId], last: usize, answered: &[u8], end: Option<String>) -> diag::Trace {
        let to = run.last().map_or(0, |last| self.search.edge(*last).to);
        let mut so_far = RunSoFar::default();
        let usual = run.len().saturating_sub(last);
        let judged = self.judged_later(run);
        let steps = self.search.named(run).into_iter().enumerate().map(|(at, edge)| {
            let by = if at < usual { self.by(&edge.step) } else { self.asks(&edge.step) };
            if at == usual {
                so_far.answered.extend(answered);
            }
            self.step(&edge, by, judged[at], &mut so_far)
        });
        let mut steps: Vec<diag::TraceStep> = steps.collect();
        // The engine goes on at once from a hook that fails, and from an end that is judged once more: that the next hook fails, and
        // what a program answers, is to be said before.
        for at in (1..steps.len()).rev() {
            let edge = self.search.edge(run[at]);
            let is_engines =
                matches!(edge.step, SearchStep::Failure { failed, .. } if failed.by == Actor::Engine);
            let before = self.search.task(edge.from);
            if is_engines && before.waiting.is_some() || is_judged_again(before) {
                let lines = std::mem::take(&mut steps[at].script);
                let before = &mut steps[at - 1].script;
                let last = before.len().saturating_sub(1);
                before.splice(last..last, lines);
            }
        }
        diag::Trace { start: self.name(self.search.start_of(run, to)).to_owned(), steps, end }
    }

    /// A run as readers see it; this actor asks for its last transition, although another usually does.
    pub fn tell_asked_by(&self, run: &[EdgeId], asks: Actor, end: impl Into<Option<String>>) -> diag::Trace {
        let mut trace = self.tell(run, end);
        let Some((id, step)) = run.last().zip(trace.steps.last_mut()) else { return trace };
        if let (SearchStep::Request { .. }, Some(line)) = (self.search.edge(*id).step, step.script.last_mut())
        {
            step.by = self.machine.actor_name(asks).to_owned();
            *line = Act::Request { to: step.to.clone(), by: step.by.clone() }.to_string();
        }
        trace
    }

    /// The run, or its last step if there is no room for more.
    fn with_room<'r>(&self, run: &'r [EdgeId]) -> &'r [EdgeId] {
        if self.has_room(run) { run } else { &run[run.len().saturating_sub(1)..] }
    }

    fn has_room(&self, run: &[EdgeId]) -> bool {
        let hooks = |id: TransitionId| self.machine.transition(id).hooks.len();
        let length = |id: &EdgeId| 1 + self.search.edge(*id).step.transition().map_or(0, hooks);
        let total = self.traced.get() + run.iter().map(length).sum::<usize>();
        if total <= MAX_TRACED {
            self.traced.set(total);
        }
        total <= MAX_TRACED
    }

    /// For each step in which an agent ends, the rule for this end in a later step, which judges it once more.
    fn judged_later(&self, run: &[EdgeId]) -> Vec<Option<RuleIndex>> {
        let mut judged = vec![None; run.len()];
        let mut later = None;
        for (at, id) in run.iter().enumerate().rev() {
            let edge = self.search.edge(*id);
            let end = match edge.step {
                SearchStep::Exit { end, .. } => Some(end),
                SearchStep::Failure { failed, .. } => failed.exit,
                SearchStep::EndWhileWaiting(_) => Some(None),
                SearchStep::Start
                | SearchStep::Write(_)
                | SearchStep::Commit(_)
                | SearchStep::Request { .. }
                | SearchStep::Respawn
                | SearchStep::Retry { .. } => None,
            };
            match end {
                Some(rule) if is_judged_again(self.search.task(edge.from)) => later = rule.or(later),
                Some(_) => judged[at] = later.take(),
                None => {}
            }
        }
        judged
    }

    fn step(
        &self,
        edge: &Edge,
        by: &str,
        judged: Option<RuleIndex>,
        so_far: &mut RunSoFar,
    ) -> diag::TraceStep {
        let to = self.name(self.search.task(edge.to).status).to_owned();
        let transition = edge.step.transition();
        diag::TraceStep {
            by: by.to_owned(),
            does: self.does(&edge.step, &to),
            to,
            hooks: transition
                .map(|id| self.machine.transition(id).hooks.iter().map(|it| it.name().to_owned()).collect())
                .unwrap_or_default(),
            span: transition.map(|id| self.first_line(self.transition(id).span)),
            script: self.acts(edge, by, judged, so_far).iter().map(Act::to_string).collect(),
        }
    }

    /// Acts of a walk that have the effect of a step. An end that is judged once more follows from the first by itself, which is
    /// one that the later rule is for.
    fn acts(&self, edge: &Edge, by: &str, judged: Option<RuleIndex>, so_far: &mut RunSoFar) -> Vec<Act> {
        let before = self.search.task(edge.from);
        let is_engines = match &edge.step {
            SearchStep::Request { by, .. } => *by == Actor::Engine,
            SearchStep::Failure { failed, .. } => failed.by == Actor::Engine,
            SearchStep::Start
            | SearchStep::Write(_)
            | SearchStep::Commit(_)
            | SearchStep::EndWhileWaiting(_)
            | SearchStep::Exit { .. }
            | SearchStep::Respawn
            | SearchStep::Retry { .. } => false,
        };
        let is_request = matches!(edge.step, SearchStep::Request { .. });
        let wrote = self.writes(edge, so_far);
        if is_judged_again(before) || before.waiting.is_some() && is_engines && is_request {
            return wrote;
        }
        let watch = edge.step.watch();
        let request = |transition: TransitionId| {
            if let Some(rule) = watch {
                return Act::Fact { fact: self.machine.watch[usize::from(rule)].fact };
            }
            if is_engines {
                return Act::Elapse { after: self.time_of(transition) };
            }
            let to = self.name(self.transition(transition).to.value).to_owned();
            let by = if by == PERSON { Actor::Human.kind() } else { by };
            Act::Request { to, by: by.to_owned() }
        };
        let end = |agent: Actor, one: Option<search::reviewers::ReviewerIndex>, end: Option<RuleIndex>| {
            let ended = WalkEnd::from(&ends::example(self.machine, end.or(judged)).end());
            let name = one.map(|it| self.search.reviewers.name(it).to_owned());
            Act::End { agent, name, ended }
        };
        let fail = |transition: TransitionId, hook: search::HookIndex| {
            let hook = self.machine.transition(transition).hooks[usize::from(hook)].name();
            Act::Fail { hook: hook.to_owned() }
        };
        let mut fails = None;
        let then = match &edge.step {
            SearchStep::Retry { failing, .. } => {
                fails = failing.zip(before.waiting).map(|(hook, it)| fail(it.transition, hook));
                Some(Act::RetryHooks)
            }
            SearchStep::Failure { transition, hook, .. } if is_engines && before.waiting.is_some() => {
                Some(fail(*transition, *hook))
            }
            SearchStep::Failure { transition, hook, failed } => {
                fails = Some(fail(*transition, *hook));
                Some(failed.exit.map_or_else(|| request(*transition), |it| end(failed.by, failed.one, it)))
            }
            SearchStep::Start => Some(Act::Spawn),
            SearchStep::Respawn => Some(Act::Respawn),
            SearchStep::Write(_) => None,
            SearchStep::Commit(_) => Some(Act::Commit { is_sync: false }),
            SearchStep::EndWhileWaiting(agent) => Some(end(*agent, None, None)),
            SearchStep::Request { transition, .. } => Some(request(*transition)),
            SearchStep::Exit { agent, one, end: rule, .. } => Some(end(*agent, *one, *rule)),
        };
        let is_resumed = matches!(
            edge.step,
            SearchStep::Exit { outcome: search::ExitResult::Waits { resumed: true }, .. }
        );
        wrote.into_iter().chain(fails).chain(then).chain(is_resumed.then_some(Act::Respawn)).collect()
    }

    /// Acts of a walk by which sections and answers stand as a step finds them. The walk keeps an answer, and the search asks again in
    /// each state.
    fn writes(&self, edge: &Edge, so_far: &mut RunSoFar) -> Vec<Act> {
        let before = self.search.task(edge.from);
        let wrote = edge.step.wrote();
        let is_asked = |section: usize| {
            let mut gates = self.machine.gates_of(before.status);
            gates.any(|gate| self.search.sections.asked_by(gate) == Some(section))
        };
        let is_outdated = |section: &u8| {
            let at = usize::from(*section);
            let is_written = wrote.is_some_and(|it| it.section == *section);
            !is_written && before.section(at).content == ABSENT && is_asked(at)
        };
        let outdated: Vec<u8> = so_far.answered.iter().copied().filter(is_outdated).collect();
        let mut acts = Vec::new();
        for section in outdated {
            so_far.answered.remove(&section);
            acts.extend(self.answer(section, ABSENT));
        }
        let Some(wrote) = wrote else { return acts };
        if let Some(answer) = self.answer(wrote.section, wrote.content) {
            match wrote.content {
                ABSENT => so_far.answered.remove(&wrote.section),
                _ => so_far.answered.insert(wrote.section),
            };
            acts.push(answer);
            return acts;
        }
        let section = self.search.sections.get(usize::from(wrote.section));
        let text = section.written(wrote.content).text.clone().unwrap_or_default();
        let times = so_far.written.entry(wrote.section).or_insert(0);
        *times += 1;
        acts.push(Act::Write { heading: section.heading.to_owned(), text: repeated(text, *times) });
        acts
    }

    /// The act by which a program or checks answer; none for a section of the body.
    fn answer(&self, section: u8, content: ContentId) -> Option<Act> {
        let section = self.search.sections.get(usize::from(section));
        let text = section.written(content).text.clone().unwrap_or_default();
        Some(match section.asked? {
            OutsideCheck::Program(argv) => {
                Act::Answer { program: argv.join(" "), succeeds: text == SUCCEEDS }
            }
            OutsideCheck::Checks => Act::Checks { word: text },
            OutsideCheck::Children => Act::Children { word: text },
        })
    }

    /// After how many seconds the task takes a transition by itself, where its state has several times.
    fn time_of(&self, transition: TransitionId) -> Option<u32> {
        let core::Transition { from, to, .. } = *self.machine.transition(transition);
        let rules = self.machine.exit_rules_of(from).map(|at| &self.machine.exit_rules[at]);
        let times = rules.filter_map(|rule| Some((rule.outcome, rule.after()?)));
        let leads = |outcome: &core::Outcome<'_>| matches!(outcome, core::Outcome::Then(it) if *it == to);
        let is_one_of_several = times.clone().count() > 1;
        times.filter(|(outcome, _)| is_one_of_several && leads(outcome)).map(|(_, after)| after).next()
    }

    /// Actor that takes a step, as the search has it.
    fn asks(&self, step: &SearchStep) -> &'f str {
        let (SearchStep::Request { by, .. }
        | SearchStep::Retry { by, .. }
        | SearchStep::Failure { failed: FailedHook { by, exit: None, .. }, .. }) = step
        else {
            return self.by(step);
        };
        if *by == Actor::Human { PERSON } else { self.machine.actor_name(*by) }
    }

    /// Actor that usually takes a step.
    fn by(&self, step: &SearchStep) -> &'f str {
        match step {
            SearchStep::Start | SearchStep::Respawn | SearchStep::Retry { .. } => PERSON,
            SearchStep::Write(_) => "agent",
            SearchStep::Commit(agent) | SearchStep::EndWhileWaiting(agent) => agent.kind(),
            SearchStep::Failure { failed, .. } if failed.exit.is_some() => failed.by.kind(),
            SearchStep::Failure { transition, failed: FailedHook { by, .. }, .. }
            | SearchStep::Request { transition, by, .. } => {
                let declared = self.transition(*transition);
                let theirs = self.actor_kinds[transition.0 as usize] == ActorKind::Person;
                match by {
                    Actor::Human => PERSON,
                    Actor::Worker | Actor::Reviewer if theirs && declared.by.allows(Actor::Human) => PERSON,
                    Actor::Worker | Actor::Reviewer | Actor::Engine | Actor::Declared(_) => {
                        self.machine.actor_name(*by)
                    }
                }
            }
            SearchStep::Exit { agent, .. } => agent.kind(),
        }
    }

    fn does(&self, step: &SearchStep, to: &str) -> String {
        let wrote = step.wrote().map(|it| {
            let section = self.search.sections.get(usize::from(it.section));
            let label = &section.written(it.content).label;
            match section.asked {
                Some(asked @ OutsideCheck::Program(_)) => format!("`{}` {label}", asked.name()),
                Some(OutsideCheck::Checks) => format!("the checks are {label}"),
                Some(OutsideCheck::Children) => format!("of the tasks that it has created, {label} are open"),
                None => format!("writes {} ({label})", section.heading),
            }
        });
        let then = match step {
            SearchStep::Start => Some("spawn".to_owned()),
            SearchStep::Respawn => Some("respawn".to_owned()),
            SearchStep::Write(_) => None,
            SearchStep::Commit(Actor::Engine) => Some("has taken the base in".to_owned()),
            SearchStep::Commit(_) => Some("commits".to_owned()),
            SearchStep::EndWhileWaiting(_) => Some("ends".to_owned()),
            SearchStep::Request { watch: Some(rule), .. } => {
                let fact = self.machine.watch[usize::from(*rule)].fact;
                Some(format!("goes on to {to}, since {}", fact.sentence()))
            }
            SearchStep::Request { by: Actor::Engine, .. } => Some(format!("goes on to {to}")),
            SearchStep::Request { .. } => Some(format!("--status {to}")),
            SearchStep::Failure { transition, hook, failed } => {
                let hook = self.machine.transition(*transition).hooks[usize::from(*hook)].name();
                let does = if failed.exit.is_some() { "ends".to_owned() } else { format!("--status {to}") };
                Some(format!("{does}, {hook} fails"))
            }
            SearchStep::Retry { failing: None, .. } => Some("--retry-hooks".to_owned()),
            SearchStep::Retry { failing: Some(_), .. } => {
                Some("--retry-hooks, and one fails again".to_owned())
            }
            SearchStep::Exit { end, outcome, .. } => {
                let becomes = match outcome {
                    search::ExitResult::Advance(_) => "ends",
                    search::ExitResult::Escalate(_) => "crashes once too often",
                    search::ExitResult::Crash { respawned: true } => "crashes and is started again",
                    search::ExitResult::Crash { respawned: false } => "crashes",
                    search::ExitResult::Marked => "ends and is shown as dead",
                    search::ExitResult::Waits { resumed: false } => "ends, to be started again after a wait",
                    search::ExitResult::Waits { resumed: true } => "ends, and is started again after a wait",
                };
                Some(match end.and_then(|rule| ends::how(self.machine, rule)) {
                    Some(how) => format!("{becomes} ({how})"),
                    None => becomes.to_owned(),
                })
            }
        };
        wrote.into_iter().chain(then).collect::<Vec<_>>().join(", ")
    }
}

/// True if the end of an agent is judged once more, after a transition that it was for.
fn is_judged_again(task: &Task) -> bool {
    task.unhandled_exit.is_some() && task.waiting.is_none()
}

/// A text that is the same to every gate, and another one to a gate that asks for something fresh.
fn repeated(text: String, times: u32) -> String {
    match times {
        1 => text,
        _ if text.is_empty() => format!("<!-- Written again ({times}). -->"),
        _ => format!("{text}\nWritten again ({times})."),
    }
}

fn nearest(search: &Search<'_>) -> Vec<Option<ConfigurationId>> {
    let mut nearest = vec![None; search.machine.states.len()];
    for (id, task) in search.configurations() {
        nearest[usize::from(task.status.0)].get_or_insert(id);
    }
    nearest
}
