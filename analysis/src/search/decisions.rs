//! What the core decides about a task, asked once for everything that decisions depend on.

use std::rc::Rc;

use orange_core::{
    Actor, Actors, CRASH_COUNT, Cause, CounterId, Decision, End, ExitDecision, Seen, TransitionId, View,
};

use super::Search;
use super::ends::{self, RuleIndex};
use super::numbers::Numbers;
use super::reads::Reads;
use super::task::Task;

/// The core's answers so far.
#[derive(Debug)]
pub(super) struct Decisions {
    /// By state.
    reads: Vec<Reads>,
    numbers: Numbers,
    /// The parts of tasks that were asked about, and the answers.
    asked: Vec<Task>,
    answers: Vec<Answers>,
    /// How many transitions and exit rules were asked about.
    pub made: usize,
}

/// The answers to what was asked of one part of a task.
#[derive(Clone, Debug, Default)]
struct Answers {
    requests: Option<Rc<[Request]>>,
    /// While no other agent is alive, and while one is.
    exits: [Option<Rc<[Judged]>>; 2],
}

/// A transition that fires, and who may ask for it.
#[derive(Debug)]
pub(super) struct Request {
    pub fire: Fire,
    pub by: Actors,
}

/// A decision, without what it borrows.
#[derive(Clone, Debug)]
pub(super) struct Fire {
    pub transition: TransitionId,
    /// By hook: the counter that it raises, and the new value.
    pub counters: Vec<Option<(CounterId, u32)>>,
    pub seen: Option<usize>,
    pub resets_crashes: bool,
}

/// What becomes of a task whose agent has ended.
#[derive(Clone, Debug)]
pub(super) enum Exit {
    Advance(Fire),
    Escalate { count: u32, fire: Fire },
    Crash { count: u32, respawn: bool },
    Marked,
    Waits,
}

/// The rule about ends that an agent ended for, if any, and what then becomes of the task.
type Judged = (Option<RuleIndex>, Exit);

impl Decisions {
    /// Nothing is asked yet.
    pub(super) fn new(search: &Search<'_>) -> Self {
        Self {
            reads: Reads::of(search.machine, &search.sections, &search.counters),
            numbers: Numbers::new(),
            asked: Vec::new(),
            answers: Vec::new(),
            made: 0,
        }
    }

    /// The transitions that can fire on request.
    pub(super) fn requests(&mut self, search: &Search<'_>, task: &Task) -> Rc<[Request]> {
        let (part, answers) = self.answers(task);
        Rc::clone(answers.requests.get_or_insert_with(|| Asked::about(search, &part).requests(search)))
    }

    /// What becomes of the task when its agent has ended, beside another one or not: after an ordinary end, and after those
    /// for which a rule about ends decides.
    pub(super) fn exits(&mut self, search: &Search<'_>, task: &Task, is_beside: bool) -> Rc<[Judged]> {
        let (part, answers) = self.answers(task);
        let exits = &mut answers.exits[usize::from(is_beside)];
        Rc::clone(exits.get_or_insert_with(|| Asked::about(search, &part).exits(search, is_beside)))
    }

    fn answers(&mut self, task: &Task) -> (Task, &mut Answers) {
        let reads = self.reads(task);
        let part = reads.decisive(task);
        let (number, is_new) = self.numbers.number(&mut self.asked, part);
        if is_new {
            self.answers.push(Answers::default());
            self.made += reads.decisions as usize;
        }
        (part, &mut self.answers[number as usize])
    }

    /// What decisions about this task depend on.
    pub(super) fn reads(&self, task: &Task) -> Reads {
        self.reads[usize::from(task.status.0)]
    }
}

/// A task as the core sees it.
struct Asked<'m> {
    task: Task,
    counters: Vec<u32>,
    body: String,
    seen: Vec<Seen<'m>>,
}

impl<'m> Asked<'m> {
    fn about(search: &Search<'m>, task: &Task) -> Self {
        let (body, seen) = search.sections.body(task);
        Self { task: *task, counters: search.counters.values(task), body, seen }
    }

    fn view(&self) -> View<'_> {
        View { status: self.task.status, counters: &self.counters, body: &self.body, seen: &self.seen }
    }

    /// The engine always may, so that its answer is everybody's whom `by` names.
    fn requests(&self, search: &Search<'m>) -> Rc<[Request]> {
        let targets = search.machine.targets(self.task.status);
        let decisions = targets.filter_map(|to| search.machine.decide(&self.view(), to, Actor::Engine).ok());
        let request = |decision: Decision<'_>| Request {
            by: search.machine.transition(decision.transition).by,
            fire: Fire::of(search, &decision),
        };
        decisions.map(request).collect()
    }

    fn exits(&self, search: &Search<'m>, is_beside: bool) -> Rc<[Judged]> {
        let rules =
            ends::rules(search.machine, self.task.status).filter(|it| self.is_decided_by(search, *it));
        let ends = std::iter::once(None).chain(rules.map(Some));
        ends.map(|end| (end, self.exit(search, end, is_beside))).collect()
    }

    /// Whether no rule before this one decides, when the agent ended as it says.
    fn is_decided_by(&self, search: &Search<'m>, rule: RuleIndex) -> bool {
        let end = ends::example(search.machine, Some(rule));
        search.machine.exit_rule_for(&self.view(), &end) == Some(rule.into())
    }

    fn exit(&self, search: &Search<'m>, end: Option<RuleIndex>, is_beside: bool) -> Exit {
        let end = End { is_beside, ..ends::example(search.machine, end) };
        match search.machine.decide_exit(&self.view(), &end) {
            ExitDecision::Advance { decision, .. } => Exit::Advance(Fire::of(search, &decision)),
            ExitDecision::Escalate { count, decision, .. } => {
                Exit::Escalate { count, fire: Fire::of(search, &decision) }
            }
            ExitDecision::Crash { count, respawn, .. } => Exit::Crash { count, respawn },
            ExitDecision::MarkDead { .. } => Exit::Marked,
            ExitDecision::Wait { .. } => Exit::Waits,
        }
    }
}

impl Fire {
    fn of(search: &Search<'_>, decision: &Decision<'_>) -> Self {
        debug_assert!(decision.resets_crashes || decision.cause == Cause::Escalation);
        Self {
            transition: decision.transition,
            counters: decision.effects.iter().map(|it| it.counter).collect(),
            seen: decision.seen.and_then(|it| search.sections.find(it.section)),
            resets_crashes: decision.resets_crashes,
        }
    }

    /// Whether it counts crashes or something else up.
    pub(super) fn raises(&self, hook: usize) -> Option<(CounterId, u32)> {
        self.counters.get(hook).copied().flatten().filter(|(id, _)| *id != CRASH_COUNT)
    }
}
