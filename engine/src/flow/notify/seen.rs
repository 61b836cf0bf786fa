//! Current needs of all unfinished tasks and missions.

use crate::Result;
use crate::app::App;
use crate::flow::mission::{Projection, answer_ask};
use crate::flow::names::KnownNames;
use crate::flow::need::{self, AskGit, NeedFacts};
use crate::flow::observed::Observed;
use crate::flow::queue::StartQueue;
use crate::flow::session::Panes;
use crate::store::pool::SavedPool;
use crate::store::{WorkItem, WorkItemDir, WorkItemEntry, WorkItemKind, list, work_item};
use orange_api::{Agent, MissionAsk, Need};
use orange_core::need::NeedKind;

/// A need for a person, and the task or mission that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenNeed {
    /// The folder of the task or mission.
    pub dir: WorkItemDir,
    /// Its name in commands.
    pub name: String,
    pub branch: String,
    /// Summary of the task or mission.
    pub summary: String,
    pub need: Need,
    /// True if the need's argument is all that the tool would get.
    pub is_whole: bool,
    /// The task's call for attention.
    pub call: Option<String>,
    /// The identity of the questions of steps, if the need is about them.
    pub asked: Option<String>,
    /// The only question of a step, if it shows no changes and this person may answer it.
    pub ask: Option<MissionAsk>,
}

impl SeenNeed {
    /// The identity of the need in messages. A need of another time or with another request has another identity, and so has a question of
    /// a step when people are to be reminded of it.
    pub fn mark(&self) -> String {
        let Need { kind, request, since, .. } = &self.need;
        let mark = self.asked.as_deref().or(request.as_deref()).or(since.as_deref()).unwrap_or_default();
        format!("{} {} {mark}", self.dir.id, kind.as_str())
    }
}

/// The needs for a person, oldest task first. A task that cannot be read has none here: the monitor reports it.
pub fn all(app: &App) -> Result<Vec<SeenNeed>> {
    let saved = SavedPool::read(&app.home);
    let mut known =
        list::journals(&app.home, &WorkItemKind::ALL, None, &|kind, owned| !app.is_done(kind, owned))?;
    let queue = saved.and_then(|saved| StartQueue::of(&app.home, saved, &known)).ok();
    known.retain(|one| one.may_be(|owned| !app.is_done(one.dir.kind, owned)));
    let (panes, names) = (Panes::of(app), KnownNames::of(app));
    Ok(list::each(known, |listed| of(app, listed, queue.as_ref(), &panes, &names)))
}

fn of(
    app: &App,
    listed: WorkItemEntry,
    queue: Option<&StartQueue>,
    panes: &Panes<'_>,
    names: &KnownNames<'_>,
) -> Option<SeenNeed> {
    let WorkItemEntry { dir, task } = listed;
    let task = task.ok().filter(|task| !app.is_done_with_worktree(task))?;
    let history = work_item::read_journal_last(&dir, 0).ok()?.history();
    let observed = Observed::of(app, &dir, task, history, panes).ok()?;
    let task = &observed.task;
    let (mut asked, mut ask) = (None, None);
    let need = match dir.kind {
        WorkItemKind::Mission => {
            let projection = Projection::of(&dir, &observed.history).ok()?;
            let need = need::of_mission(&dir, &observed, &projection);
            let is_asked = need.kind == NeedKind::Question && need.request.is_none();
            asked = is_asked.then(|| projection.ask_mark(&observed.history)).filter(|it| !it.is_empty());
            if asked.is_some() {
                ask = answerable(app, &observed.task, projection.asks(&dir, &observed.history));
            }
            Some(need)
        }
        WorkItemKind::Task => {
            let queued = queue.and_then(|queue| queue.waits_for(app, task));
            let forbidden = queue.and_then(|queue| queue.forbids(app, task));
            let has_room =
                task.owned.workspace.is_some() || queue.is_none_or(|queue| queue.has_room(app, task));
            let known = NeedFacts::of(&dir, &observed, AskGit::Merge);
            let (queued, forbidden) = (queued.as_deref(), forbidden.as_deref());
            need::of_task(app, &NeedFacts { queued, forbidden, has_room, ..known })
        }
    }?;
    if !need.person {
        return None;
    }
    let asks = |agent: &Agent| {
        agent.assessment.request == need.request
            && agent.assessment.asked.as_ref().is_some_and(|it| it.is_whole)
    };
    let is_whole = need.request.is_some() && observed.agents.iter().any(asks);
    let need = names.in_need(need);
    let Observed { task, .. } = observed;
    let (name, call) = (names.name(&dir), task.attention);
    Some(SeenNeed { name, dir, branch: task.branch, summary: task.summary, need, is_whole, call, asked, ask })
}

/// The only question, if it shows no changes and this person may answer it.
fn answerable(app: &App, task: &WorkItem, mut asks: Vec<MissionAsk>) -> Option<MissionAsk> {
    let ask = asks.pop().filter(|ask| asks.is_empty() && !ask.shows_diff)?;
    let is_theirs = || answer_ask::person(app, task).is_ok_and(|name| ask.who.contains(&name));
    (ask.who.is_empty() || is_theirs()).then_some(ask)
}
