//! Watch rules of a task: the facts of its pull request and its base that hold, and the transition that follows.

use orange_api::{AgentState, Feedback};
use orange_core::{Action, Checks, Children, Fact, FactKind, Input, Machine};

use crate::app::App;
use crate::drive::forge::{CheckedCommit, MergeState, PullRequest};
use crate::drive::git::{Git, Mergeable};
use crate::flow::life::{self, TurnRecord};
use crate::flow::snapshot::{checks_of, status_of};
use crate::flow::watch::rerun::{self, BeforeRule, ChecksInQuestion};
use crate::flow::{Snapshot, activity, ask, changed, delegation, feedback, finish, lock_recovered};
use crate::hooks::{self, imported};
use crate::store::{self, Event, LockedWorkItem, Set, WorkItem, WorkItemDir, WorkItemHistory, event};
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
    if !watches(machine, &task) || is_between(&history) {
        return Ok(None);
    }
    let LookedUp { held, discussion, failure } = facts(app, dir, machine, &task, &history, pr)?;
    let applied = applied(app, machine, &task, &history, &held)?;
    if !are_agents_still(app, dir, &task, &history) {
        let fact = applied.map(|it| it.held.fact);
        // A fact that could not be looked up may hold as before.
        if fact.is_some() || failure.is_none() {
            wait(app, dir, fact)?;
        }
        return failure.map_or(Ok(None), Err);
    }
    let Some(applied) = applied else { return failure.map_or(Ok(None), Err) };
    if let (Some(pr), [commit]) = (pr, &applied.held.items[..]) {
        let still_applies = |locked: &LockedWorkItem| still_applies(app, locked, &applied);
        let checks = ChecksInQuestion { pr, commit, still_applies: &still_applies };
        match rerun::before(app, dir, &history, &machine.watch[applied.rule], checks)? {
            BeforeRule::Take => {}
            BeforeRule::Wait => return Ok(None),
            BeforeRule::Asked(story) => return Ok(Some(story)),
        }
    }
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
            FactKind::Review
            | FactKind::Threads
            | FactKind::Checks
            | FactKind::Mergeable
            | FactKind::Base
            | FactKind::Children,
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
    let open: Vec<Fact> = open
        .filter(|rule| rule.guard.is_none_or(|guard| guard.holds(&counters)))
        .map(|rule| rule.fact)
        .collect();
    let has_fact = |is_it: fn(Fact) -> bool| open.iter().any(|fact| is_it(*fact));
    let open: Vec<FactKind> = open.iter().map(|fact| fact.kind()).collect();
    let mut found = LookedUp::default();
    if let Some(pr) = pr {
        if has_fact(|fact| fact.kind() == FactKind::Checks && !fact.is_of_required()) {
            found.add(of_checks(app, task, history, pr, has_fact(Fact::is_early)));
        }
        if has_fact(Fact::is_of_required) {
            found.add(of_required_checks(app, task, pr));
        }
        if open.contains(&FactKind::Mergeable) {
            found.add(of_outlook(app, task, pr));
        }
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

/// The facts of checks of the commit of the branch. A forge whose checks have one state says only when asked that one of them has failed
/// while others run.
fn of_checks(
    app: &App,
    task: &WorkItem,
    history: &WorkItemHistory,
    pr: &PullRequest,
    asks_early: bool,
) -> Result<Vec<HeldFact>> {
    let Some(checks) = &pr.checks else { return Ok(Vec::new()) };
    let facts: &[Fact] = match checks_of(app, task, history)? {
        Checks::Red if checks.have_ended => &[Fact::ChecksRed, Fact::ChecksRedEarly],
        Checks::Red => &[Fact::ChecksRedEarly],
        Checks::Green if checks.have_ended => &[Fact::ChecksGreen],
        Checks::Pending if asks_early => {
            let forge = app.forge_of(&app.project_of(task)?)?;
            let failed = forge.failed_runs(&pr.url, &checks.commit, false)?;
            if failed.is_empty() { &[] } else { &[Fact::ChecksRedEarly] }
        }
        Checks::Green
        | Checks::NoPullRequest
        | Checks::Unseen
        | Checks::Outdated
        | Checks::None
        | Checks::Pending => &[],
    };
    Ok(held(facts, &checks.commit))
}

/// The facts of required checks of the commit of the branch.
fn of_required_checks(app: &App, task: &WorkItem, pr: &PullRequest) -> Result<Vec<HeldFact>> {
    let found = app.forge_of(&app.project_of(task)?)?.required_checks(&pr.url)?;
    if tip(app, task)?.as_ref() != Some(&found.commit) {
        return Ok(Vec::new());
    }
    Ok(held(required_facts(&found), &found.commit))
}

fn required_facts(found: &CheckedCommit) -> &'static [Fact] {
    match found.state {
        event::Checks::Red if found.have_ended => &[Fact::RequiredRed, Fact::RequiredRedEarly],
        event::Checks::Red => &[Fact::RequiredRedEarly],
        event::Checks::Green if found.have_ended => &[Fact::RequiredGreen],
        event::Checks::Green | event::Checks::None | event::Checks::Pending | event::Checks::Other(_) => &[],
    }
}

/// The fact of the merge that the forge foresees for the commit of the branch.
fn of_outlook(app: &App, task: &WorkItem, pr: &PullRequest) -> Result<Vec<HeldFact>> {
    let found = app.forge_of(&app.project_of(task)?)?.merge_outlook(&pr.url)?;
    let fact = match found.state {
        MergeState::Clean => Fact::MergeableClean,
        MergeState::Conflict => Fact::MergeableConflict,
        MergeState::Blocked => Fact::MergeableBlocked,
        MergeState::Unknown => return Ok(Vec::new()),
    };
    let is_of_branch = tip(app, task)?.as_ref() == Some(&found.commit);
    Ok(if is_of_branch { held(&[fact], &found.commit) } else { Vec::new() })
}

/// These facts of a commit.
fn held(facts: &[Fact], commit: &str) -> Vec<HeldFact> {
    facts.iter().map(|fact| HeldFact { fact: *fact, items: vec![commit.to_owned()] }).collect()
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
    imported::look(app, task);
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
        let cause = held.fact.kind().as_str();
        !held.fact.acted().any(|fact| history.branch.has_watched(cause, fact.word(), &held.items))
    };
    let find = |fact: Fact| held.iter().filter(is_new).find(|held| held.fact == fact);
    let rule = Snapshot::of(app, machine, task, history)?.with_facts(|facts| {
        machine.watch_rule(facts.view.status, facts.view.counters, |fact| find(fact).is_some())
    });
    Ok(rule.and_then(|rule| Some(AppliedRule { rule, held: find(machine.watch[rule].fact)?.clone() })))
}

/// Journals that the rule of this fact waits for an agent, or that none does, if that is new.
fn wait(app: &App, dir: &WorkItemDir, fact: Option<Fact>) -> Result<()> {
    let (_, journal) = WorkItem::read(&app.home, dir)?;
    let is_known = |history: &WorkItemHistory| {
        let waiting = history.branch.waiting.as_ref();
        waiting.map(|it| (it.cause.as_str(), it.value.as_str()))
            == fact.map(|it| (it.kind().as_str(), it.word()))
    };
    if is_known(&journal.history()) {
        return Ok(());
    }
    let mut locked = lock_recovered(app, dir)?;
    if !is_known(locked.history()) {
        let (cause, value) = fact.map(|it| (it.kind().as_str().to_owned(), it.word().to_owned())).unzip();
        locked.append(Event::WatchWaits { cause, value }, Set::new())?;
    }
    Ok(())
}

/// True if no agent of the task is at work and no transition of it is open, so that it can be moved.
fn is_quiet(app: &App, dir: &WorkItemDir, task: &WorkItem, history: &WorkItemHistory) -> bool {
    !is_between(history) && are_agents_still(app, dir, task, history)
}

/// True if a transition of the task is open, or waits for something.
fn is_between(history: &WorkItemHistory) -> bool {
    let transition = &history.transition;
    transition.open.is_some() || transition.waiting_hooks.is_some() || history.gates.asked.is_some()
}

/// True if no agent of the task is at work.
fn are_agents_still(app: &App, dir: &WorkItemDir, task: &WorkItem, history: &WorkItemHistory) -> bool {
    let agents = activity::of_task(app, dir, task, history, || app.tmux.panes().ok());
    let is_still = |state: AgentState| matches!(state, AgentState::Idle | AgentState::Ended);
    agents.iter().all(|agent| is_still(agent.assessment.state))
}

/// True if a transition that the rule may take writes feedback.
fn writes_feedback(machine: &Machine<'_>, rule: usize) -> bool {
    let rule = &machine.watch[rule];
    let taken = rule.outcome.targets().flat_map(|to| machine.between(rule.state, to));
    let mut hooks = taken.flat_map(|id| machine.transition(id).hooks);
    hooks.any(|hook| hook.action == Action::WriteFeedback)
}

/// True if nothing of the locked task has changed for which the rule would not apply any more.
fn still_applies(app: &App, locked: &LockedWorkItem, applied: &AppliedRule) -> Result<bool> {
    let (task, history) = (locked.task(), locked.history());
    let machine = app.machine_of(&task.owned)?;
    let held = std::slice::from_ref(&applied.held);
    let now = self::applied(app, machine, task, history, held)?;
    Ok(now.is_some_and(|now| now.rule == applied.rule) && is_quiet(app, locked.dir(), task, history))
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
    if !still_applies(app, &locked, applied)? {
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
        value: fact.word().to_owned(),
        items: items.clone(),
        feedback: feedback.map(|feedback| feedback.number),
    };
    fault::step("take", "a watch rule");
    let led_to_it: Vec<(Event, Set)> = vec![taken.into()];
    life::record(app, machine, &mut locked, &turn, TurnRecord { led_to_it, room, ..TurnRecord::default() })?;
    finish(app, &mut locked)?;
    Ok(Some(format!("{}: {}", fact.sentence(), turn.story)))
}
