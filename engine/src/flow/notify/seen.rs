//! Current needs of all unfinished tasks and missions.

use crate::Result;
use crate::app::App;
use crate::flow::mission::Projection;
use crate::flow::names::KnownNames;
use crate::flow::need::{self, AskGit, NeedFacts};
use crate::flow::observed::Observed;
use crate::flow::queue::StartQueue;
use crate::flow::session::Panes;
use crate::store::pool::SavedPool;
use crate::store::{WorkItemDir, WorkItemEntry, WorkItemKind, list, work_item};
use orange_api::{Agent, Need};

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
}

impl SeenNeed {
    /// The identity of the need in messages. A need of another time or with another request has another identity.
    pub fn mark(&self) -> String {
        let Need { kind, request, since, .. } = &self.need;
        let mark = request.as_deref().or(since.as_deref()).unwrap_or_default();
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
    let need = match dir.kind {
        WorkItemKind::Mission => {
            Some(need::of_mission(&dir, &observed, &Projection::of(&dir, &observed.history).ok()?))
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
    Some(SeenNeed { name, dir, branch: task.branch, summary: task.summary, need, is_whole, call })
}
