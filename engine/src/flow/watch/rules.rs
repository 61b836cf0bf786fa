//! Watch rules of a task: the facts of its pull request and its base that hold, and the transition that follows.

use orange_api::{AgentState, Feedback};
use orange_core::{Action, Checks, Children, Fact, FactKind, Input, Machine};

use crate::app::App;
use crate::drive::forge::PullRequest;
use crate::drive::git::{Git, Mergeable};
use crate::flow::life::{self, TurnRecord};
use crate::flow::snapshot::{checks_of, status_of};
use crate::flow::{Snapshot, activity, ask, changed, delegation, feedback, finish, lock_recovered};
use crate::hooks;
use crate::store::{self, Event, LockedWorkItem, Set, WorkItem, WorkItemDir, WorkItemHistory};
use crate::{Error, Result};
use orange_system::fault;

/// A fact that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HeldFact {
    fact: Fact,
    /// Commits and comments that it is about: a rule acts on it again when one of these is new.
    items: Vec<String>,
}

/// A rule that applies, and what is known of its fact.
struct AppliedRule {
    rule: usize,
    held: HeldFact,
}

/// True if a state of the task's workflow, that in which it is, has watch rules.
pub fn watches(machine: &Machine<'_>, task: &WorkItem) -> bool {
    status_of(machine, task).is_ok_and(|status| !machine.watch_rules_of(status).is_empty())
}

/// True if such a rule is about a fact of which `is_wanted` is true.
pub fn watches_for(machine: &Machine<'_>, task: &WorkItem, is_wanted: impl Fn(FactKind) -> bool) -> bool {
    status_of(machine, task).is_ok_and(|status| machine.watched_kinds(status).any(is_wanted))
}

/// Takes the transition of the watch rule that applies to a task, if one does, and returns what was done, in words. Nothing is done while an
/// agent of the task is at work. The pull request is as the forge has just shown it.
pub fn apply(app: &App, dir: &WorkItemDir, pr: Option<&PullRequest>) -> Result<Option<String>> {
    let (task, journal) = WorkItem::read(&app.home, dir)?;
    let history = journal.history();
    let machine = app.machine_of(&task.owned)?;
    if !watches(machine, &task) || !is_quiet(app, dir, &task, &history) {
        return Ok(None);
    }
    let LookedUp { held, discussion, failure } = facts(app, dir, machine, &task, &history, pr)?;
    let Some(applied) = applied(app, machine, &task, &history, &held)? else {
        return failure.map_or(Ok(None), Err);
    };
    let feedback = match writes_feedback(machine, applied.rule) {
        false => None,
        true => Some(collected(app, dir, &history, applied.held.fact.kind(), discussion)?),
    };
    take(app, dir, &applied, feedback)
}

/// The feedback of the next round. What the discussion has, if it was asked for, is not asked for again.
fn collected(
    app: &App,
    dir: &WorkItemDir,
    history: &WorkItemHistory,
    kind: FactKind,
    discussion: Option<Feedback>,
) -> Result<Feedback> {
    let number = next_round(history);
    match (kind, discussion) {
        (FactKind::Review | FactKind::Threads, Some(discussion)) => {
            Ok(Feedback { number, cause: kind.as_str().to_owned(), ..discussion })
        }
        (
            FactKind::Review | FactKind::Threads | FactKind::Checks | FactKind::Base | FactKind::Children,
            _,
        ) => feedback::collect(app, dir, kind.as_str(), number),
    }
}

fn next_round(history: &WorkItemHistory) -> u32 {
    history.branch.feedback.unwrap_or_default() + 1
}

/// The facts that hold, as far as they could be looked up.
#[derive(Debug, Default)]
struct LookedUp {
    held: Vec<HeldFact>,
    /// The discussion of the pull request, if that was asked for.
    discussion: Option<Feedback>,
    /// The failure of a question; other facts count all the same.
    failure: Option<Error>,
}

impl LookedUp {
    fn add<T: IntoIterator<Item = HeldFact>>(&mut self, found: Result<T>) {
        match found {
            Ok(found) => self.held.extend(found),
            Err(error) => self.failure = self.failure.take().or(Some(error)),
        }
    }
}

/// The facts that hold of those for which the rules of the task's state wait under its counters.
fn facts(
    app: &App,
    dir: &WorkItemDir,
    machine: &Machine<'_>,
    task: &WorkItem,
    history: &WorkItemHistory,
    pr: Option<&PullRequest>,
) -> Result<LookedUp> {
    let status = status_of(machine, task)?;
    let counters: Vec<u32> = machine.counters.iter().map(|counter| task.counter(counter.name)).collect();
    let open = machine.watch_rules_of(status).map(|rule| &machine.watch[rule]);
    let open: Vec<FactKind> = open
        .filter(|rule| rule.guard.is_none_or(|guard| guard.holds(&counters)))
        .map(|rule| rule.fact.kind())
        .collect();
    let mut found = LookedUp::default();
    if open.contains(&FactKind::Checks) {
        found.add(of_checks(app, task, history, pr));
    }
    if pr.is_some() && open.iter().any(|kind| matches!(kind, FactKind::Review | FactKind::Threads)) {
        match discussion(app, dir, task, history) {
            Ok(discussion) => {
                found.add(Ok(discussion.iter().flat_map(of_discussion)));
                found.discussion = discussion;
            }
            Err(error) => found.failure = Some(error),
        }
    }
    if open.contains(&FactKind::Base) {
        found.add(of_base(app, task, history));
    }
    if open.contains(&FactKind::Children) {
        found.add(of_children(app, task, history));
    }
    Ok(found)
}

/// The discussion of the pull request, if that is at the commit of the branch.
fn discussion(
    app: &App,
    dir: &WorkItemDir,
    task: &WorkItem,
    history: &WorkItemHistory,
) -> Result<Option<Feedback>> {
    let feedback = feedback::collect(app, dir, FactKind::Threads.as_str(), next_round(history))?;
    Ok((tip(app, task)?.as_ref() == Some(&feedback.commit)).then_some(feedback))
}

/// The facts of checks that have all ended, and that are of the commit of the branch.
fn of_checks(
    app: &App,
    task: &WorkItem,
    history: &WorkItemHistory,
    pr: Option<&PullRequest>,
) -> Result<Option<HeldFact>> {
    let Some(checks) = pr.and_then(|pr| pr.checks.as_ref()).filter(|checks| checks.have_ended) else {
        return Ok(None);
    };
    let fact = match checks_of(app, task, history)? {
        Checks::Red => Fact::ChecksRed,
        Checks::Green => Fact::ChecksGreen,
        Checks::NoPullRequest | Checks::Unseen | Checks::Outdated | Checks::None | Checks::Pending => {
            return Ok(None);
        }
    };
    Ok(Some(HeldFact { fact, items: vec![checks.commit.clone()] }))
}

/// The facts of reviews and of threads.
fn of_discussion(feedback: &Feedback) -> Vec<HeldFact> {
    let mut held = Vec::new();
    let decision = match feedback.review {
        orange_api::ReviewDecision::Approved => Some(Fact::Approved),
        orange_api::ReviewDecision::ChangesRequested => Some(Fact::ChangesRequested),
        orange_api::ReviewDecision::None => None,
    };
    held.extend(decision.map(|fact| HeldFact { fact, items: vec![feedback.commit.clone()] }));
    let newest = |thread: &orange_api::Thread| {
        let comment = thread.comments.last().map(|comment| comment.id.as_str()).unwrap_or_default();
        format!("{} {comment}", thread.id)
    };
    let items: Vec<String> = feedback.threads.iter().map(newest).collect();
    if !items.is_empty() {
        held.push(HeldFact { fact: Fact::ThreadsOpen, items });
    }
    held
}

/// The facts of the branch and its base, as far as git can tell without a fetch.
fn of_base(app: &App, task: &WorkItem, history: &WorkItemHistory) -> Result<Vec<HeldFact>> {
    let Some(tip) = tip(app, task)? else { return Ok(Vec::new()) };
    let git = Git::at(&app.project_of(task)?.path);
    let moved = |items| HeldFact { fact: Fact::BaseMoved, items };
    Ok(match changed::mergeable(app, task, history)? {
        Mergeable::No { is_conflict: true, .. } => {
            vec![HeldFact { fact: Fact::BaseConflict, items: vec![tip.clone()] }, moved(vec![tip])]
        }
        Mergeable::WithCommit => {
            let target = changed::merge_target_of(app, task)?;
            vec![moved(vec![git.newest_commit(&target)?])]
        }
        Mergeable::FastForward | Mergeable::Nothing | Mergeable::No { is_conflict: false, .. } => Vec::new(),
    })
}

/// The fact of the tasks that it has created. A rule acts on it once in a stay in the state.
fn of_children(app: &App, task: &WorkItem, history: &WorkItemHistory) -> Result<Option<HeldFact>> {
    let fact = match delegation::whole(app, task)? {
        Children::Open => return Ok(None),
        Children::Merged => Fact::ChildrenMerged,
        Children::Ended | Children::None => Fact::ChildrenEnded,
    };
    Ok(Some(HeldFact { fact, items: vec![history.since.clone()] }))
}

fn tip(app: &App, task: &WorkItem) -> Result<Option<String>> {
    let git = Git::at(&app.project_of(task)?.path);
    match task.worktree() {
        Some(name) => git.head(&app.home.workspace(name)),
        None => git.branch_tip(&task.branch),
    }
}

/// The first rule of which the fact holds, its guard holds, and on which none has acted yet.
fn applied(
    app: &App,
    machine: &'static Machine<'static>,
    task: &WorkItem,
    history: &WorkItemHistory,
    held: &[HeldFact],
) -> Result<Option<AppliedRule>> {
    let is_new = |held: &&HeldFact| {
        let (cause, value) = (held.fact.kind().as_str(), held.fact.value());
        !history.branch.has_watched(cause, value, &held.items)
    };
    let find = |fact: Fact| held.iter().filter(is_new).find(|held| held.fact == fact);
    let rule = Snapshot::of(app, machine, task, history)?.with_facts(|facts| {
        machine.watch_rule(facts.view.status, facts.view.counters, |fact| find(fact).is_some())
    });
    Ok(rule.and_then(|rule| Some(AppliedRule { rule, held: find(machine.watch[rule].fact)?.clone() })))
}

/// True if no agent of the task is at work and no transition of it is open, so that it can be moved.
fn is_quiet(app: &App, dir: &WorkItemDir, task: &WorkItem, history: &WorkItemHistory) -> bool {
    let transition = &history.transition;
    let agents = activity::of_task(app, dir, task, history, || app.tmux.panes().ok());
    let is_still = |state: AgentState| matches!(state, AgentState::Idle | AgentState::Ended);
    transition.open.is_none()
        && transition.waiting_hooks.is_none()
        && history.gates.asked.is_none()
        && agents.iter().all(|agent| is_still(agent.assessment.state))
}

/// True if a transition that the rule may take writes feedback.
fn writes_feedback(machine: &Machine<'_>, rule: usize) -> bool {
    let rule = &machine.watch[rule];
    let taken = rule.outcome.targets().flat_map(|to| machine.between(rule.state, to));
    let mut hooks = taken.flat_map(|id| machine.transition(id).hooks);
    hooks.any(|hook| hook.action == Action::WriteFeedback)
}

/// Takes the transition under the task's lock, if nothing of it has changed meanwhile.
fn take(
    app: &App,
    dir: &WorkItemDir,
    applied: &AppliedRule,
    feedback: Option<Feedback>,
) -> Result<Option<String>> {
    let locked = lock_recovered(app, dir)?;
    let machine = app.machine_of(&locked.task().owned)?;
    let held = std::slice::from_ref(&applied.held);
    let now = self::applied(app, machine, locked.task(), locked.history(), held)?;
    if now.is_none_or(|now| now.rule != applied.rule) || !is_quiet(app, dir, locked.task(), locked.history())
    {
        return Ok(None);
    }
    let input = Input::Watched { rule: applied.rule };
    let needs =
        |locked: &LockedWorkItem| life::program(app, machine, locked.task(), locked.history(), input, None);
    let Some(mut locked) = ask::begun(app, locked, &needs)? else {
        return Ok(None);
    };
    let turn = life::ask(app, machine, locked.task(), locked.history(), input)?;
    let Some(decision) = turn.decision() else {
        if turn.events.is_empty()
            || locked.task().attention.as_ref().is_some_and(|it| it.contains(&turn.story))
        {
            return Ok(None);
        }
        life::record(app, machine, &mut locked, &turn, TurnRecord::default())?;
        return Ok(Some(turn.story));
    };
    let room = hooks::preflight(app, locked.task(), &decision.effects)?;
    if let Some(feedback) = &feedback {
        store::feedback::write(&locked, feedback)?;
    }
    let HeldFact { fact, items } = &applied.held;
    let taken = Event::WatchTaken {
        cause: fact.kind().as_str().to_owned(),
        value: fact.value().to_owned(),
        items: items.clone(),
        feedback: feedback.map(|feedback| feedback.number),
    };
    fault::step("take", "a watch rule");
    let led_to_it: Vec<(Event, Set)> = vec![taken.into()];
    life::record(app, machine, &mut locked, &turn, TurnRecord { led_to_it, room, ..TurnRecord::default() })?;
    finish(app, &mut locked)?;
    Ok(Some(format!("{}: {}", fact.sentence(), turn.story)))
}
