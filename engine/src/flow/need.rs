//! Needs of tasks and missions: collects the facts for [`orange_core::need`], and says the answer in JSON.

use std::path::{Path, PathBuf};

use orange_core::mission::MissionStatus;
use orange_core::need::{
    self, AgentRequest, Doing, Hooks, KnownForgeMerge, KnownPullRequest, Lost, MissionFacts, NeedKind, Offer,
    OverdueFact, ReachedBudget, TaskFacts, Wait,
};
use orange_core::{Actor, Checks, Fact, FactKind, Machine, View};

use crate::app::App;
use crate::drive::git::{Mergeable, Strategy};
use crate::flow::budget;
use crate::flow::definition::declared_id;
use crate::flow::mission::{Projection, view};
use crate::flow::names::KnownNames;
use crate::flow::observed::Observed;
use crate::flow::offers::ActionSubject;
use crate::flow::queue::StartQueue;
use crate::flow::session::{self, Panes, SessionHealth};
use crate::flow::snapshot::status_of;
use crate::flow::{Snapshot, abandoned, changed, delegation};
use crate::store::effective::effective;
use crate::store::{WorkItem, WorkItemDir, WorkItemHistory, WorkItemKind, event, transcripts, trust};
use crate::{Error, Result};
use orange_api::{Agent, AgentState, ChangeSize, Need};
use orange_journal::history::AskedAnswer;
use orange_system::{clock, fault, nofollow};

/// Facts about a task or mission that are known before its need.
#[derive(Clone, Copy, Debug)]
pub struct NeedFacts<'k> {
    pub dir: &'k WorkItemDir,
    pub task: &'k WorkItem,
    pub history: &'k WorkItemHistory,
    /// Its living agents.
    pub agents: &'k [Agent],
    pub session: SessionHealth,
    /// Obstacle for which its start waits.
    pub queued: Option<&'k str>,
    /// Reason why its start would be refused, and the remedy.
    pub forbidden: Option<&'k str>,
    /// True if it has a worktree, or can have one.
    pub has_room: bool,
    /// Questions to git about work that is ready for a person.
    pub git: AskGit,
    /// False where no action is shown, as in a list in words: their texts take most of the time of a need.
    pub has_actions: bool,
}

/// Questions to git about work that is ready for a person. Each question takes processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AskGit {
    /// Nothing: a merge is offered, even if git would refuse it.
    Nothing,
    /// One question: can the work be merged?
    Merge,
    /// As `Merge`, and the size of the work.
    Size,
    /// As `Size`, and if other work could be merged by force.
    Force,
}

impl<'k> NeedFacts<'k> {
    /// The observed facts about a task that waits for nothing.
    pub fn of(dir: &'k WorkItemDir, observed: &'k Observed, git: AskGit) -> NeedFacts<'k> {
        let Observed { task, history, session, agents } = observed;
        NeedFacts {
            dir,
            task,
            history,
            agents,
            session: *session,
            queued: None,
            forbidden: None,
            has_room: true,
            git,
            has_actions: true,
        }
    }

    /// The actions that a need offers.
    fn offers<'f>(&self, facts: &TaskFacts<'f>, kind: NeedKind) -> Vec<Offer<'f>> {
        if self.has_actions { facts.actions(kind) } else { Vec::new() }
    }

    /// The task or mission with the facts that the words of its actions need.
    fn about<'a>(
        &'a self,
        view: Option<(&'a Machine<'a>, &'a View<'a>)>,
        worktree: Option<&'a Path>,
    ) -> ActionSubject<'a> {
        let NeedFacts { dir, task, history, agents, session, .. } = *self;
        let is_busy = !agents.is_empty() || session == SessionHealth::Active;
        ActionSubject { dir, task, history, view, worktree, is_busy }
    }

    /// Its worktree, where git may be asked about it.
    fn worktree(&self, app: &App) -> Option<PathBuf> {
        let name = self.task.owned.workspace.as_ref().filter(|_| self.git >= AskGit::Size)?;
        Some(app.home.workspace(name))
    }
}

/// The need of one task, by all that is known now. `queue` is the one [about it](StartQueue::about).
pub fn here(app: &App, dir: &WorkItemDir, observed: &Observed, queue: Option<&StartQueue>) -> Option<Need> {
    let need = queued(app, queue, NeedFacts::of(dir, observed, AskGit::Force))?;
    Some(KnownNames::of(app).in_need(need))
}

/// Reads a task or mission and returns its need; `None` if that is unknown. `queue` is that of all projects.
pub fn look(app: &App, dir: &WorkItemDir, queue: Option<&StartQueue>) -> Result<Option<(WorkItem, Need)>> {
    let observed = Observed::read(app, dir, &Panes::of(app))?;
    let need = match dir.kind {
        WorkItemKind::Task => queued(app, queue, NeedFacts::of(dir, &observed, AskGit::Merge)),
        WorkItemKind::Mission => Some(of_mission(dir, &observed, &Projection::of(dir, &observed.history)?)),
    };
    Ok(need.map(|need| (observed.task, KnownNames::of(app).in_need(need))))
}

/// The need of a task that may wait in this queue.
fn queued(app: &App, queue: Option<&StartQueue>, known: NeedFacts<'_>) -> Option<Need> {
    let task = known.task;
    let queue = queue.filter(|_| task.owned.workspace.is_none());
    let queued = queue.and_then(|queue| queue.waits_for(app, task));
    let forbidden = queue.and_then(|queue| queue.forbids(app, task));
    let has_room = queue.is_none_or(|queue| queue.has_room(app, task));
    of_task(app, &NeedFacts { queued: queued.as_deref(), forbidden: forbidden.as_deref(), has_room, ..known })
}

/// The need of a task.
pub fn of_task(app: &App, known: &NeedFacts<'_>) -> Option<Need> {
    let NeedFacts { dir, task, history, session, .. } = *known;
    let machine = app.machine_of(&task.owned);
    let lost = match &machine {
        Err(error) => Some((error.one_line(), can_cancel_lost(app))),
        Ok(machine) => {
            status_of(machine, task).err().map(|it| (it.one_line(), machine.commands.cancel.is_some()))
        }
    };
    if let Some((why, can_cancel)) = &lost {
        let agents = agents_of(known.agents, history);
        let facts =
            TaskFacts { lost: Some(Lost { why, can_cancel: *can_cancel }), ..facts(app, known, &agents) };
        return facts
            .need()
            .map(|need| answer(known.about(None, None), &need, known.offers(&facts, need.kind)));
    }
    let machine = machine.ok()?;
    let snapshot = Snapshot::of(app, machine, task, history).ok()?;
    let agents = agents_of(known.agents, history);
    let unnoticed = session::unnoticed(dir, history, session);
    let is_abandoned = abandoned(dir, history).is_some();
    let end = history.agents.alive.is_empty().then_some(history.transition.ending.as_ref()).flatten();
    let end = end.map(|(_, exited)| format!("agent {} has ended: {}", exited.spawn, exited.reason.as_str()));
    let hooks = history.transition.waiting_hooks.as_ref().map(|waiting| {
        let may_retry = machine.may_retry(declared_id(machine, &waiting.plan), Actor::Human);
        let name = task.owned.hooks_wait.as_deref().unwrap_or("that waits");
        Hooks { name, error: waiting.error.as_deref().unwrap_or_default(), may_retry }
    });
    let used_up = budget::need(app, task, history);
    let above = (used_up.is_none() && history.budget.holds).then(|| budget::refusal_above(app, task).ok());
    let above = above.flatten().flatten().map(|error| error.message.clone());
    let held = history.transition.waiting_hooks.as_ref().filter(|it| it.held.is_some());
    let held = held.and_then(|it| it.error.as_deref());
    let budget = match &used_up {
        Some((why, since)) => Some(ReachedBudget { why, since: Some(since), is_own: true }),
        None => {
            let why = above.as_deref().or(held);
            why.map(|why| ReachedBudget { why, since: None, is_own: false })
        }
    };
    let children = delegation::awaited(app, machine, task);
    snapshot.with_facts(|life| {
        let facts = TaskFacts {
            budget,
            children,
            life: Some((machine, life)),
            is_alive: is_alive(machine, known),
            end: unnoticed.as_deref().or(end.as_deref()),
            is_moving: history.transition.open.is_some() && !is_abandoned,
            unfinished: unnoticed.as_deref().filter(|_| is_abandoned),
            hooks,
            ..facts(app, known, &agents)
        };
        let worktree = known.worktree(app);
        let about = known.about(Some((machine, &life.view)), worktree.as_deref());
        let need = facts.need()?;
        let is_ready = need.kind == NeedKind::ReviewReady && known.git >= AskGit::Merge;
        let may_be_forced = known.git == AskGit::Force && facts.is_forcible();
        if !is_ready && !may_be_forced {
            return Some(answer(about, &need, known.offers(&facts, need.kind)));
        }
        // Only now git is asked, since that takes processes.
        let mergeable = changed::mergeable(app, task, history)
            .unwrap_or_else(|error| Mergeable::No { error, is_conflict: false });
        let nothing = format!("`{}` has no commit of its own", task.branch);
        let (unmergeable, conflicts) = match &mergeable {
            Mergeable::No { error, is_conflict } => (Some(error.message.as_str()), *is_conflict),
            Mergeable::Nothing => (Some(nothing.as_str()), false),
            Mergeable::FastForward | Mergeable::WithCommit => (None, false),
        };
        // Another strategy of the project merges what has diverged by itself.
        let is_forward =
            || changed::merge_settings(app, task).is_ok_and(|it| it.strategy.value == Strategy::FastForward);
        let has_diverged = matches!(mergeable, Mergeable::WithCommit) && is_forward();
        let facts = TaskFacts { is_merge_known: true, unmergeable, conflicts, has_diverged, ..facts };
        let need = facts.need()?;
        let is_sized = is_ready && known.git >= AskGit::Size;
        let change = is_sized.then(|| changed::size(app, task, history)).flatten();
        Some(Need { change, ..answer(about, &need, known.offers(&facts, need.kind)) })
    })
}

/// The facts that need no machine.
fn facts<'f>(app: &App, known: &NeedFacts<'f>, agents: &'f [need::Agent<'f>]) -> TaskFacts<'f> {
    let NeedFacts { dir, task, history, queued, forbidden, has_room, .. } = *known;
    TaskFacts {
        life: None,
        lost: None,
        agents,
        is_alive: None,
        entered: some(&history.since).or_else(|| some(&task.created_at)),
        halted: some(&history.halted),
        end: None,
        is_stopped: task.owned.stopped_at.is_some(),
        is_moving: false,
        unfinished: None,
        wait: wait(task, history),
        queued,
        forbidden,
        has_worktree: task.owned.workspace.is_some(),
        has_room,
        hooks: None,
        budget: None,
        children: None,
        attention: task.attention.as_deref().filter(|text| is_still_so(app, task, text)),
        pull_request: pull_request(task, history),
        overdue: overdue(app, task, history),
        is_merge_known: false,
        unmergeable: None,
        conflicts: false,
        has_diverged: false,
        is_merged: history.branch.is_merged,
        has_logs: has_logs(dir, history),
    }
}

/// True if the reason for which a task calls a person still holds, as far as that is known: a warning about the settings of its
/// repository no longer holds once these are trusted, or gone.
fn is_still_so(app: &App, task: &WorkItem, attention: &str) -> bool {
    let call = || {
        let project = app.project_of(task)?;
        Ok::<_, Error>(trust::of(&app.home, &project)?.0.call(&project.name))
    };
    !trust::is_warning(attention, &task.project) || call().map_or(true, |call| call.is_some())
}

/// The need of a mission.
pub fn of_mission(dir: &WorkItemDir, observed: &Observed, projection: &Projection) -> Need {
    let Observed { task, history, agents, .. } = observed;
    let agents = agents_of(agents, history);
    let unnoticed = observed.unnoticed(dir);
    let pauses = projection.pauses(&dir.id);
    let pause = pauses.first();
    let what = pause.map(|pause| paused_words(&pause.what, pauses.len() - 1)).unwrap_or_default();
    let asks = projection.asks(dir, history);
    let ask = asks.first();
    let asked = ask.map(|ask| paused_words(&ask.what, asks.len() - 1)).unwrap_or_default();
    let failure = view::standing(projection.plan, projection);
    let facts = MissionFacts {
        status: projection.mission.status,
        agents: &agents,
        since: some(&history.since).max(some(&history.halted)),
        pause: pause.map(|pause| need::OpenPause {
            number: pause.number,
            what: &what,
            can_accept: pause.offers.iter().any(|offer| offer.ends_with("--accept-failure")),
        }),
        ask: ask.map(|ask| need::OpenAsk {
            step: &ask.step,
            what: &asked,
            answers: &ask.answers,
            commit: ask.commit.as_deref(),
            since: ask.since.as_deref(),
        }),
        failure: (projection.mission.status == MissionStatus::Failed).then_some(failure.as_str()),
        unnoticed: unnoticed.as_deref(),
        wait: wait(task, history),
        attention: task.attention.as_deref(),
        has_logs: has_logs(dir, history),
    };
    let need = facts.need();
    let is_busy = projection.mission.status == MissionStatus::Running;
    let about = ActionSubject { dir, task, history, view: None, worktree: None, is_busy };
    answer(about, &need, facts.actions(need.kind))
}

/// Words of the oldest open pause. `others` is the number of the others.
fn paused_words(what: &str, others: usize) -> String {
    match others {
        0 => what.to_owned(),
        1 => format!("{what} (and one more question is open)"),
        _ => format!("{what} (and {others} more questions are open)"),
    }
}

fn some(time: &str) -> Option<&str> {
    Some(time).filter(|time| !time.is_empty())
}

fn can_cancel_lost(app: &App) -> bool {
    app.machines.usable().is_ok_and(|machines| machines.iter().any(|it| it.commands.cancel.is_some()))
}

fn wait<'f>(task: &'f WorkItem, history: &'f WorkItemHistory) -> Option<Wait<'f>> {
    let until = task.owned.waiting_until.as_deref()?;
    let reason = history.agents.waiting.as_ref().map_or("it waits", |waiting| &waiting.reason);
    Some(Wait { until: Some(until), reason })
}

/// True if there is something to show of its agents.
fn has_logs(dir: &WorkItemDir, history: &WorkItemHistory) -> bool {
    let spawn = history.agents.last_spawn;
    let is_kept = || transcripts::all(dir).is_ok_and(|kept| kept.iter().any(|it| it.spawn == spawn));
    let is_shown = || nofollow::metadata(&dir.pane(spawn)).is_ok();
    spawn > 0 && (is_shown() || is_kept())
}

/// True if an agent of the task's state is alive. An agent without a record is in the session alone.
fn is_alive(machine: &Machine<'_>, known: &NeedFacts<'_>) -> Option<bool> {
    let NeedFacts { task, agents, session, .. } = known;
    let agent = machine.state_named(task.status()).map(|id| machine.state(id).agent);
    match session {
        SessionHealth::Changing | SessionHealth::Unknown => None,
        SessionHealth::Active if agents.is_empty() => Some(true),
        SessionHealth::Active => Some(agents.iter().any(|it| it.actor.known() == agent)),
        SessionHealth::Stopped | SessionHealth::Crashed | SessionHealth::Inactive => Some(false),
    }
}

fn pull_request<'h>(task: &WorkItem, history: &'h WorkItemHistory) -> Option<KnownPullRequest<'h>> {
    let url = task.pr_url.as_ref()?;
    let seen = history.branch.checks.as_ref().filter(|seen| seen.url == *url);
    let checks = seen.map_or(Checks::Unseen, |seen| match seen.state {
        event::Checks::Green => Checks::Green,
        event::Checks::None => Checks::None,
        event::Checks::Pending => Checks::Pending,
        event::Checks::Red => Checks::Red,
        event::Checks::Other(_) => Checks::Unseen,
    });
    let asked = history.branch.asked_merge.as_ref().filter(|asked| asked.url == *url);
    let merge = asked.and_then(|asked| match asked.answer.as_ref()? {
        AskedAnswer::Pending { since, .. } | AskedAnswer::Queued { since } => {
            Some(KnownForgeMerge::Queued { since })
        }
        AskedAnswer::Refused { error } => Some(KnownForgeMerge::Refused { why: error }),
    });
    let rerun = history.branch.open_rerun().map(|it| (it.number, it.most));
    Some(KnownPullRequest { checks, merge, rerun })
}

/// The fact whose watch rule has waited for an agent for longer than the project's patience.
fn overdue<'f>(app: &App, task: &WorkItem, history: &'f WorkItemHistory) -> Option<OverdueFact<'f>> {
    let waiting = history.branch.waiting.as_ref()?;
    let fact = FactKind::parse(&waiting.cause).and_then(|kind| Fact::of(kind, &waiting.value))?;
    let waited = fault::now().duration_since(clock::parse(&waiting.since)?).ok()?;
    // Without the project, the need is another one.
    let minutes = effective(&app.home, &app.project_of(task).ok()?).ok()?.feedback.patience.value;
    let is_overdue = waited.as_secs() >= u64::from(minutes) * 60;
    is_overdue.then_some(OverdueFact { fact, since: &waiting.since, minutes })
}

fn agents_of<'a>(agents: &'a [Agent], history: &WorkItemHistory) -> Vec<need::Agent<'a>> {
    let asked_before = |agent: &Agent| {
        let asked = history.agents.alive.get(&agent.spawn)?.asked.as_ref()?;
        u64::from_str_radix(asked, 16).ok()
    };
    agents.iter().map(|agent| need::Agent { asked_before: asked_before(agent), ..agent_of(agent) }).collect()
}

fn agent_of(agent: &Agent) -> need::Agent<'_> {
    let assessment = &agent.assessment;
    let asks = assessment.asked.as_ref().filter(|asked| !asked.is_answered).map(|asked| AgentRequest {
        name: assessment.request.as_deref(),
        tool: asked.tool.as_deref(),
        argument: asked.text.as_deref(),
        is_question: asked.is_question,
    });
    let doing = match assessment.state {
        AgentState::Waiting => match asks {
            Some(request) => Doing::Asks(request),
            // It has been answered.
            None if assessment.asked.is_some() => Doing::Works,
            None => Doing::Waits,
        },
        AgentState::Limit => Doing::Limit { until: assessment.until.as_deref() },
        AgentState::Idle => Doing::Rests,
        AgentState::Ended => Doing::Ended,
        AgentState::Quiet => Doing::Quiet,
        AgentState::Busy | AgentState::Unknown => Doing::Works,
    };
    let since = assessment.since.as_deref();
    need::Agent { spawn: agent.spawn, doing, since, reason: &assessment.reason, asked_before: None }
}

/// The need as an answer.
fn answer(about: ActionSubject<'_>, need: &need::Need<'_>, offers: Vec<Offer<'_>>) -> Need {
    let request = need.request.unwrap_or_default();
    let owned = |text: Option<&str>| text.map(str::to_owned);
    Need {
        kind: need.kind,
        person: need.kind.needs_person(),
        since: owned(need.since),
        why: need.why.clone(),
        agent: need.agent,
        tool: owned(request.tool),
        argument: owned(request.argument),
        request: owned(request.name),
        until: owned(need.until),
        verdict: need.verdict.clone(),
        round: need.round,
        change: None::<ChangeSize>,
        actions: offers.into_iter().map(|offer| about.answer(offer)).collect(),
    }
}
