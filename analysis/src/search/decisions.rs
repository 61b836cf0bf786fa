//! Decisions of the core about a task, each asked once for everything that it depends on.

use std::rc::Rc;

use orange_core::{
    Actor, Actors, AgentEnd, Cause, Checks, Children, Decision, Input, LifeFacts, LifeTurn, ProgramAnswer,
    SeenSection, TransitionId, View, Workspace,
};

use super::ends::{self, RuleIndex};
use super::numbers::Numbers;
use super::reads::Reads;
use super::task::{Agent, Task, WrittenSection};
use super::{Search, WatchIndex, Wrote};

/// The core's answers so far.
#[derive(Debug)]
pub(super) struct Decisions<'m> {
    /// Indexed by state.
    reads: Vec<Reads>,
    numbers: Numbers,
    /// The parts of tasks that were asked about, and the answers.
    asked: Vec<Task>,
    answers: Vec<PartAnswers<'m>>,
    /// Number of transitions and exit rules that were asked about.
    pub made: usize,
}

/// The answers to what was asked of one part of a task.
#[derive(Clone, Debug, Default)]
struct PartAnswers<'m> {
    requests: Option<Rc<[PossibleRequest<'m>]>>,
    /// By what else the end of an agent depends on.
    exits: [Option<Rc<[JudgedEnd<'m>]>>; Beside::SIZE],
}

/// A transition that fires, and who may ask for it.
#[derive(Debug)]
pub(super) struct PossibleRequest<'m> {
    pub decision: Decision<'m>,
    /// The sections that its gates have let through, and what they have asked.
    pub sections: Vec<usize>,
    pub by: Actors,
}

/// The rule about ends that an agent ended for, if any, and what then becomes of the task.
type JudgedEnd<'m> = (Option<RuleIndex>, LifeTurn<'m>);

/// Facts on which the end of an agent depends, beside those that decisions read.
#[derive(Clone, Copy)]
struct Beside {
    agent: Actor,
    another_lives: bool,
    workspace: Option<Workspace>,
}

impl Beside {
    const SIZE: usize = 12;

    fn of(task: &Task, agent: Actor) -> Self {
        Self { agent, another_lives: task.live_agents() > 0, workspace: task.workspace }
    }

    fn index(self) -> usize {
        let workspace = match self.workspace {
            None => 0,
            Some(Workspace::Worktree) => 1,
            Some(Workspace::Folder) => 2,
        };
        usize::from(self.agent == Actor::Reviewer) * 6 + usize::from(self.another_lives) * 3 + workspace
    }
}

impl<'m> Decisions<'m> {
    /// Nothing is asked yet.
    pub(super) fn new(search: &Search<'m>) -> Self {
        Self {
            reads: Reads::of(search.machine, &search.sections, &search.counters),
            numbers: Numbers::new(),
            asked: Vec::new(),
            answers: Vec::new(),
            made: 0,
        }
    }

    /// The transitions that can fire on request.
    pub(super) fn requests(&mut self, search: &Search<'m>, task: &Task) -> Rc<[PossibleRequest<'m>]> {
        let (part, answers) = self.answers(task);
        Rc::clone(answers.requests.get_or_insert_with(|| CoreTask::about(search, &part).requests(search)))
    }

    /// Turns that follow when this agent of the task has ended: after an ordinary end, and after those for which a rule about ends
    /// decides.
    pub(super) fn exits(&mut self, search: &Search<'m>, task: &Task, agent: Actor) -> Rc<[JudgedEnd<'m>]> {
        let beside = Beside::of(task, agent);
        let (part, answers) = self.answers(task);
        let exits = &mut answers.exits[beside.index()];
        Rc::clone(exits.get_or_insert_with(|| CoreTask::about(search, &part).exits(search, beside)))
    }

    fn answers(&mut self, task: &Task) -> (Task, &mut PartAnswers<'m>) {
        let reads = self.reads(task);
        let part = reads.decisive(task);
        let (number, is_new) = self.numbers.number(&mut self.asked, part);
        if is_new {
            self.answers.push(PartAnswers::default());
            self.made += reads.decisions as usize;
        }
        (part, &mut self.answers[number as usize])
    }

    /// Facts on which decisions about this task depend.
    pub(super) fn reads(&self, task: &Task) -> Reads {
        self.reads[usize::from(task.status.0)]
    }
}

/// Turn that follows when a person has a task started, or its agent again; neither reads a section.
pub(super) fn start<'m>(search: &Search<'m>, task: &Task) -> Option<LifeTurn<'m>> {
    if search.machine.is_to_start(task.status, task.workspace) {
        return turn(search, task, Input::Spawn { by: Actor::Human });
    }
    respawn(search, task)
}

/// Turn that follows when the agent of a task is started again.
pub(super) fn respawn<'m>(search: &Search<'m>, task: &Task) -> Option<LifeTurn<'m>> {
    let state = search.machine.state(task.status);
    state.respawn?;
    let is_alive = task.agent(state.agent) == Agent::Live;
    // Beside an agent that is alive, only reviewers with names can be started.
    if is_alive && search.reviewers.is_empty() {
        return None;
    }
    turn(search, task, Input::Respawn { is_alive })
}

fn turn<'m>(search: &Search<'m>, task: &Task, input: Input<'_>) -> Option<LifeTurn<'m>> {
    let counters = search.counters.values(task);
    let view =
        View { status: task.status, counters: &counters, body: "", seen: &[], answers: Default::default() };
    let names: Vec<&str> = search.reviewers.named(task.reviewers).map(|(_, name)| name).collect();
    let facts = LifeFacts { workspace: task.workspace, reviewers: &names, ..facts(view) };
    search.machine.life(&facts, input).ok()
}

/// The exit rule that decides when the agent of a state ends like this, after it has written this.
pub(super) fn deciding(
    search: &Search<'_>,
    task: &Task,
    wrote: Option<Wrote>,
    end: Option<RuleIndex>,
) -> Option<usize> {
    let mut task = *task;
    if let Some(Wrote { section, content }) = wrote {
        task.write(usize::from(section), WrittenSection { content, seen: false, stood: false });
    }
    let asked = CoreTask::about(search, &task);
    // Every program has answered in a search.
    search.machine.exit_rule_for(&asked.facts().view, &search.example(&task, end).end()).ok().flatten()
}

/// Decision that follows when the time of this rule is over, and no agent of the state is there to be ended.
pub(super) fn elapsed<'m>(search: &Search<'m>, task: &Task, rule: RuleIndex) -> Option<Decision<'m>> {
    let example = search.example(task, Some(rule));
    let AgentEnd { lasted, is_spent, left, .. } = example.end();
    let asked = CoreTask::about(search, task);
    let facts = LifeFacts { workspace: task.workspace, ..asked.facts() };
    let turn =
        search.machine.life(&facts, Input::Elapsed { has_agent: false, lasted, is_spent, left }).ok()?;
    turn.decision().cloned()
}

/// Decision that follows when the fact of this watch rule holds, and none that the rules before it wait for otherwise.
pub(super) fn watched<'m>(search: &Search<'m>, task: &Task, rule: WatchIndex) -> Option<Decision<'m>> {
    let rule = usize::from(rule);
    let fact = search.machine.watch[rule].fact;
    let values = search.counters.values(task);
    let applies = search.machine.watch_rule(task.status, &values, |other| fact.implies(other));
    let asked = CoreTask::about(search, task);
    let input = Input::Watched { rule: applies.filter(|it| *it == rule)? };
    let facts = LifeFacts { workspace: task.workspace, ..asked.facts() };
    search.machine.life(&facts, input).ok()?.decision().cloned()
}

/// Decision of the engine after a hook of a transition has failed, if the transition says where the task then goes.
pub(super) fn after_failure<'m>(
    search: &Search<'m>,
    task: &Task,
    transition: TransitionId,
) -> Option<Decision<'m>> {
    let to = search.machine.transition(transition).on_hook_failure?;
    let asked = CoreTask::about(search, task);
    let turn = search.machine.life(&asked.facts(), Input::Request { to, by: Actor::Engine }).ok()?;
    turn.decision().map(|decision| Decision { cause: Cause::HookFailed, ..decision.clone() })
}

/// Of a task that nothing else is known of.
fn facts(view: View<'_>) -> LifeFacts<'_> {
    LifeFacts {
        view,
        has_summary: true,
        workspace: None,
        has_session: false,
        hooks_wait: false,
        restarts: 0,
        reviewers: &[],
        last: None,
    }
}

/// A task as the core sees it.
pub(super) struct CoreTask<'m> {
    task: Task,
    counters: Vec<u32>,
    body: String,
    seen: Vec<SeenSection<'m>>,
    programs: Vec<ProgramAnswer<'m>>,
    checks: Checks,
    children: Children,
}

impl<'m> CoreTask<'m> {
    pub(super) fn about(search: &Search<'m>, task: &Task) -> Self {
        let (body, seen) = search.sections.body(task);
        let (programs, checks, children) = search.sections.answers(task);
        Self { task: *task, counters: search.counters.values(task), body, seen, programs, checks, children }
    }

    pub(super) fn facts(&self) -> LifeFacts<'_> {
        // A request to the state of merged tasks stands for the merge.
        let answers = orange_core::Answers {
            programs: &self.programs,
            checks: self.checks,
            children: self.children,
            is_merge: true,
        };
        let (counters, seen) = (&self.counters, &self.seen);
        facts(View { status: self.task.status, counters, body: &self.body, seen, answers })
    }

    /// Nothing else that one of them may ask for fires in the place of a transition, so that the answer to one whom `by` names is
    /// everybody's.
    fn requests(&self, search: &Search<'m>) -> Rc<[PossibleRequest<'m>]> {
        let (machine, status) = (search.machine, self.task.status);
        let request = |id| {
            let transition = machine.transition(id);
            let input = Input::Request { to: transition.to, by: transition.by.iter().next()? };
            let turn = machine.life(&self.facts(), input).ok()?;
            let decision = turn.decision().filter(|it| it.transition == id)?.clone();
            Some(PossibleRequest {
                by: transition.by,
                sections: {
                    let seen = decision.seen.iter().filter_map(|it| search.sections.find(it.section));
                    let gates = transition.gates.iter();
                    seen.chain(gates.filter_map(|gate| search.sections.asked_by(gate))).collect()
                },
                decision,
            })
        };
        machine.targets(status).flat_map(|to| machine.between(status, to)).filter_map(request).collect()
    }

    fn exits(&self, search: &Search<'m>, beside: Beside) -> Rc<[JudgedEnd<'m>]> {
        let is_asked = search.machine.state(self.task.status).agent == beside.agent;
        let rules = ends::rules(search.machine, self.task.status)
            .filter(|it| is_asked && self.is_decided_by(search, *it));
        let ends = std::iter::once(None).chain(rules.map(Some));
        ends.filter_map(|end| Some((end, self.exit(search, end, beside)?))).collect()
    }

    /// True if no rule before this one decides when the agent ended as this rule says. The end is an ordinary one if the time of the
    /// rule was over before.
    fn is_decided_by(&self, search: &Search<'m>, rule: RuleIndex) -> bool {
        if search.times.is_over(self.task.passed, &search.machine.exit_rules[usize::from(rule)]) {
            return false;
        }
        let example = search.example(&self.task, Some(rule));
        search.machine.exit_rule_for(&self.facts().view, &example.end()) == Ok(Some(rule.into()))
    }

    fn exit(&self, search: &Search<'m>, end: Option<RuleIndex>, beside: Beside) -> Option<LifeTurn<'m>> {
        let example = search.example(&self.task, end);
        let end = AgentEnd { is_beside: beside.another_lives, ..example.end() };
        let facts = LifeFacts { workspace: beside.workspace, ..self.facts() };
        search.machine.life(&facts, Input::Ended { agent: beside.agent, end }).ok()
    }
}
