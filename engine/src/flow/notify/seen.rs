//! Needs of all unfinished tasks and missions now.

use crate::Result;
use crate::app::App;
use crate::flow::mission::Projection;
use crate::flow::names::Names;
use crate::flow::need::{self, AskGit, Known};
use crate::flow::observed::Observed;
use crate::flow::queue::Queue;
use crate::flow::session::Panes;
use crate::store::pool::Saved;
use crate::store::{DirKind, Listed, TaskDir, list, task};
use orange_api::Need;

/// A need, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The folder of the task or mission.
    pub dir: TaskDir,
    /// Its name in commands.
    pub name: String,
    pub branch: String,
    /// Summary of the task or mission.
    pub summary: String,
    pub need: Need,
}

impl Seen {
    /// The fact that messages are about: the same need of another time, or another request, is another fact.
    pub fn mark(&self) -> String {
        let Need { kind, request, since, .. } = &self.need;
        let mark = request.as_deref().or(since.as_deref()).unwrap_or_default();
        format!("{} {} {mark}", self.dir.id, kind.as_str())
    }
}

/// The needs, oldest task first. A task that cannot be read has none here: the monitor reports it.
pub fn all(app: &App) -> Result<Vec<Seen>> {
    let saved = Saved::read(&app.home);
    let mut known = list::journals(&app.home, &DirKind::ALL, None)?;
    let queue = saved.and_then(|saved| Queue::of(&app.home, saved, &known)).ok();
    known.retain(|one| one.may_be(|owned| !app.is_done(one.dir.kind, owned)));
    let (panes, names) = (Panes::of(app), Names::of(app));
    Ok(list::each(known, |listed| of(app, listed, queue.as_ref(), &panes, &names)))
}

fn of(
    app: &App,
    listed: Listed,
    queue: Option<&Queue>,
    panes: &Panes<'_>,
    names: &Names<'_>,
) -> Option<Seen> {
    let Listed { dir, task } = listed;
    let task = task.ok().filter(|task| !app.is_done_with_worktree(task))?;
    let history = task::read_journal_last(&dir, 0).ok()?.history();
    let observed = Observed::of(app, &dir, task, history, panes).ok()?;
    let task = &observed.task;
    let need = match dir.kind {
        DirKind::Mission => {
            Some(need::of_mission(&dir, &observed, &Projection::of(&dir, &observed.history).ok()?))
        }
        DirKind::Task => {
            let queued = queue.and_then(|queue| queue.waits_for(app, task));
            let forbidden = queue.and_then(|queue| queue.forbids(app, task));
            let has_room =
                task.owned.workspace.is_some() || queue.is_none_or(|queue| queue.has_room(app, task));
            let known = Known::of(&dir, &observed, AskGit::Merge);
            let (queued, forbidden) = (queued.as_deref(), forbidden.as_deref());
            need::of_task(app, &Known { queued, forbidden, has_room, ..known })
        }
    }?;
    if !need.person {
        return None;
    }
    let need = names.in_need(need);
    let Observed { task, .. } = observed;
    Some(Seen { name: names.name(&dir), dir, branch: task.branch, summary: task.summary, need })
}
