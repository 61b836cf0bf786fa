//! `orange task list`

use std::borrow::Cow;
use std::time::SystemTime;

use orange_core::Machine;

use crate::app::App;
use crate::cmd::answer::{CommandAnswer, array, one_line, table, written};
use crate::cmd::args::ListArgs;
use crate::cmd::needs::{NeedRank, age, has_several, in_order, project_of, why};
use crate::cmd::screen;
use crate::flow::activity::may_have_agents;
use crate::flow::names::KnownNames;
use crate::flow::need::{self, AskGit, NeedFacts};
use crate::flow::observed::Observed;
use crate::flow::queue::StartQueue;
use crate::flow::session::{self, Panes};
use crate::flow::{activity, changed};
use crate::store::intake::WaitingIssue;
use crate::store::list::{BriefTask, KnownTask};
use crate::store::pool::SavedPool;
use crate::store::{
    Owned, WorkItem, WorkItemDir, WorkItemEntry, WorkItemKind, list, projects, suggest, work_item,
};
use crate::{Error, ErrorKind, Result};
use orange_api::{ListedTask, Need, Spending, TaskRow};
use orange_system::fault;

/// The longest title of an issue.
const ISSUE_WIDTH: usize = 50;

/// Lists tasks, what needs a person first, and of that what has waited longest; unfinished ones unless `all` or a status is asked for.
/// A task that cannot be read is listed with its error, last. Only the form of the answer that is printed is built, since there may
/// be thousands of tasks.
pub fn run(app: &App, args: &ListArgs, as_json: bool) -> Result<CommandAnswer> {
    run_at(app, args, as_json, fault::now())
}

/// The list with the ages of `now`.
pub(super) fn run_at(app: &App, args: &ListArgs, as_json: bool, now: SystemTime) -> Result<CommandAnswer> {
    let status = args.status.as_deref();
    if let Some(status) = status {
        check_status(app, status)?;
    }
    let project = project_of(app, args.project.as_deref(), args.all_projects)?;
    let is_wanted = |owned: &Owned| {
        status.map_or_else(
            || args.all || !app.is_end(WorkItemKind::Task, owned),
            |status| owned.status == status,
        )
    };
    let saved = SavedPool::read(&app.home);
    let is_listed = |kind, owned: &Owned| kind == WorkItemKind::Task && is_wanted(owned);
    let mut known = list::journals(&app.home, &WorkItemKind::ALL, project.as_deref(), &is_listed)?;
    // Commands that need the projects or the pool report what is wrong with them.
    let queue = saved.and_then(|saved| StartQueue::of(&app.home, saved, &known)).ok();
    let (names, panes, git) = (KnownNames::of(app), Panes::of(app), asked_of(args));
    let around = ListFacts { app, names, panes, queue, git, has_actions: as_json };
    known.retain(|one| one.dir.kind == WorkItemKind::Task && one.may_be(is_wanted));
    let is_asked = |row: &ListedTask<'_>| !args.needs_me || needs_person(row);
    if as_json {
        let written = |row: &ListedTask<'_>| is_asked(row).then(|| written(row));
        let rows = around.rows(known, &is_wanted, written).into_iter().collect::<Result<Vec<_>>>()?;
        return Ok(CommandAnswer::text(array(&rows)));
    }
    let width = screen::width();
    let has_project = project.is_none() && has_several(app);
    let shape = RowLayout { width, has_project, now };
    let rows = around.rows(known, &is_wanted, |row| is_asked(row).then(|| shape.row(row)));
    let issues = waiting_issues(app, project.as_deref());
    if rows.is_empty() && issues.is_empty() {
        return Ok(CommandAnswer::text(nothing(app, args, project.as_deref())?));
    }
    let table = table(["NEED", "AGE", "BRANCH", "STATUS", "SUMMARY", "WHY"], &rows);
    let lines = table.lines().filter(|_| !rows.is_empty()).map(str::to_owned).chain(issues);
    // The last column is cut to the width that is left.
    let lines: Vec<_> =
        lines.map(|line| width.map_or_else(|| line.clone(), |width| screen::fit(&line, width))).collect();
    Ok(CommandAnswer::text(lines.join("\n")))
}

/// The labelled issues that wait for a person, in words.
fn waiting_issues(app: &App, project: Option<&str>) -> Vec<String> {
    let projects = match projects::read(&app.home) {
        Ok(projects) => projects,
        Err(error) => return vec![error.one_line()],
    };
    let line = |waiting: Result<(String, WaitingIssue)>| match waiting {
        Ok((_, issue)) => {
            let (number, title) = (issue.number, one_line(&issue.title, ISSUE_WIDTH));
            format!("issue {number} ({title}): {}; `orange intake` shows it", issue.rule())
        }
        Err(error) => error.one_line(),
    };
    WaitingIssue::of_projects(&projects, &app.home, project).into_iter().map(line).collect()
}

fn asked_of(args: &ListArgs) -> AskGit {
    match () {
        () if args.without_git => AskGit::Nothing,
        () if args.changes => AskGit::Size,
        () => AskGit::Merge,
    }
}

/// The text of a list without tasks: how to begin.
fn nothing(app: &App, args: &ListArgs, project: Option<&str>) -> Result<String> {
    let is_plain = args.status.is_none() && args.project.is_none() && !args.all;
    Ok(match () {
        () if projects::read(&app.home)?.is_empty() => NO_PROJECT.to_owned(),
        () if args.needs_me => "nothing needs you".to_owned(),
        () if is_plain => {
            let here = project.map(|name| format!(" in {name}")).unwrap_or_default();
            let others = project.filter(|_| has_several(app)).map_or("", |_| OTHERS);
            format!("No task is under way{here}. {NONE_UNDER_WAY}{others}")
        }
        () => "no tasks; `orange task create` makes one".to_owned(),
    })
}

const NO_PROJECT: &str = "\
No project yet. To begin, in a repository of yours:
  orange setup                                               adds it, and answers what your coding agents would ask, if you agree
  orange task create add-login \"Implement the login form\"    a task, whose agent starts at once

`orange demo` shows the life of a task, without an account, and `orange help` every command.";

const NONE_UNDER_WAY: &str = "\
`orange task create BRANCH \"SUMMARY\"` makes one and starts its agent; `orange task list --all` shows those that
are over, and `orange help` every command.";

const OTHERS: &str = " `--all-projects` lists those of other projects.";

fn rank(row: &ListedTask<'_>) -> NeedRank {
    match row {
        ListedTask::Readable(row) => NeedRank::of(row.need.as_ref()),
        ListedTask::Unreadable { .. } => NeedRank::LAST,
    }
}

fn needs_person(row: &ListedTask<'_>) -> bool {
    match row {
        ListedTask::Readable(row) => row.need.as_ref().is_some_and(|need| need.person),
        // Somebody has to mend its files.
        ListedTask::Unreadable { .. } => true,
    }
}

/// Facts for the list that are not in a task.
struct ListFacts<'o> {
    app: &'o App,
    names: KnownNames<'o>,
    panes: Panes<'o>,
    /// The reason for which each task waits.
    queue: Option<StartQueue>,
    /// Questions to git about each task.
    git: AskGit,
    /// True if the rows have actions, which only JSON shows.
    has_actions: bool,
}

impl ListFacts<'_> {
    /// True if the row of an idle task with these values needs neither its body nor its journal: it is over, or waits for its
    /// start.
    fn is_brief(&self, owned: &Owned) -> bool {
        let is_over = self.app.is_end(WorkItemKind::Task, owned);
        self.git != AskGit::Size && (is_over || owned.hooks_wait.is_none() && self.is_first(owned))
    }

    fn is_first(&self, owned: &Owned) -> bool {
        let is_first = |machine: &Machine<'_>| {
            machine.state_named(&owned.status).is_some_and(|state| state == machine.initial)
        };
        self.app.machine_of(owned).is_ok_and(is_first)
    }

    /// The rows of the wanted tasks as `written` makes them, in the order of the list.
    fn rows<R: Send>(
        &self,
        known: Vec<KnownTask>,
        is_wanted: &(dyn Fn(&Owned) -> bool + Sync),
        written: impl Fn(&ListedTask<'_>) -> Option<R> + Sync,
    ) -> Vec<R> {
        let ranked = |row: &ListedTask<'_>| Some((rank(row), written(row)?));
        let mut room = None;
        let brief = |BriefTask { dir, task, idle }: BriefTask| {
            let observed = Observed::without_agents_in(&mut room, task, &idle.since);
            ranked(&ListedTask::Readable(Box::new(self.row(&dir, observed))))
        };
        let whole = |WorkItemEntry { dir, task }: WorkItemEntry| {
            let is_shown = task.as_ref().map_or(true, |task| is_wanted(&task.owned));
            let observed = is_shown.then(|| self.observed(&dir, task)).flatten()?;
            ranked(&self.listed(&dir, &observed))
        };
        in_order(list::each_briefly(known, |_, owned| self.is_brief(owned), brief, whole))
    }

    /// A task with its agents; `None` if it was deleted meanwhile.
    fn observed(&self, dir: &WorkItemDir, task: Result<WorkItem>) -> Option<Result<Observed>> {
        let observed = task.and_then(|task| {
            // A task that waits for its start has no agent and no transition, so its journal is not read.
            if self.is_plain(&task) {
                return Ok(Observed::without_agents(task, ""));
            }
            let history = work_item::read_journal_last(dir, 0)?.history();
            Observed::of(self.app, dir, task, history, &self.panes)
        });
        let is_gone = observed.as_ref().is_err_and(|error| error.kind == ErrorKind::NotFound);
        (!is_gone).then_some(observed)
    }

    fn is_plain(&self, task: &WorkItem) -> bool {
        !may_have_agents(task) && task.owned.hooks_wait.is_none() && self.is_first(&task.owned)
    }

    fn listed<'l>(&self, dir: &'l WorkItemDir, observed: &'l Result<Observed>) -> ListedTask<'l> {
        match observed {
            Ok(observed) => ListedTask::Readable(Box::new(self.row(dir, observed))),
            Err(error) => ListedTask::Unreadable {
                id: dir.id.as_str().into(),
                project: dir.project.as_str().into(),
                error: Cow::Borrowed(error),
            },
        }
    }

    fn row<'l>(&self, dir: &WorkItemDir, observed: &'l Observed) -> TaskRow<'l> {
        let Observed { task, history, session, agents } = observed;
        let owned = &task.owned;
        let spent =
            (!agents.is_empty()).then(|| Spending::from(&activity::spent(self.app, dir, task, history)));
        let waits_for = self.waits_for(task);
        let has_room = || self.queue.as_ref().is_none_or(|queue| queue.has_room(self.app, task));
        let has_room = owned.workspace.is_some() || has_room();
        let known = NeedFacts { has_actions: self.has_actions, ..NeedFacts::of(dir, observed, self.git) };
        let forbidden = self.queue.as_ref().and_then(|queue| queue.forbids(self.app, task));
        let (queued, forbidden) = (waits_for.as_deref(), forbidden.as_deref());
        let need = need::of_task(self.app, &NeedFacts { queued, forbidden, has_room, ..known });
        let need = need.map(|need| self.names.in_need(need));
        let with_changes = |()| changed::size(self.app, task, history);
        let asked = (self.git == AskGit::Size).then_some(());
        TaskRow {
            need,
            changes: asked.map(with_changes),
            pr: asked.map(|()| changed::pull_request(self.app, task, history)),
            other_branch: asked.map(|()| changed::other_branch(self.app, task)),
            id: task.id.as_str().into(),
            project: task.project.as_str().into(),
            branch: task.branch.as_str().into(),
            status: owned.status.as_str().into(),
            workflow: owned.workflow.as_str().into(),
            review_round: task.counter("review_round"),
            crash_count: task.counter("crash_count"),
            summary: task.summary.as_str().into(),
            harness: task.harness.as_str().into(),
            workspace: owned.workspace.as_deref().map(Into::into),
            tmux_session: owned.tmux_session.as_deref().map(Into::into),
            session: session.state(),
            agents: agents.clone(),
            spent,
            attention: task.attention.as_deref().map(Into::into),
            unnoticed: observed.unnoticed(dir),
            your_turn: session::your_turn(self.app, task, *session),
            waits_for,
            priority: task.priority,
            blocked_by: Cow::Borrowed(&task.blocked_by),
            waiting_until: owned.waiting_until.as_deref().map(Into::into),
            updated_at: task.updated_at.as_str().into(),
        }
    }

    fn waits_for(&self, task: &WorkItem) -> Option<String> {
        if task.owned.workspace.is_some() {
            return None;
        }
        self.queue.as_ref()?.waits_for(self.app, task)
    }
}

fn check_status(app: &App, status: &str) -> Result<()> {
    let machines = app.machines.usable()?;
    if machines.iter().any(|machine| machine.state_named(status).is_some()) {
        return Ok(());
    }
    let mut names: Vec<_> =
        machines.iter().flat_map(|machine| machine.states).map(|state| state.name).collect();
    names.sort_unstable();
    names.dedup();
    Err(Error::new(ErrorKind::NotFound, format!("no workflow has a status `{status}`"))
        .help(suggest::help(status, &names, "statuses")))
}

/// Appearance of rows.
struct RowLayout {
    /// The columns of the terminal, if it is one.
    width: Option<usize>,
    /// True if the project stands before the branch.
    has_project: bool,
    now: SystemTime,
}

impl RowLayout {
    /// Summary and reason share the width that the other columns leave; the terminal cuts the reason.
    fn row(&self, listed: &ListedTask<'_>) -> [String; 6] {
        match listed {
            ListedTask::Readable(task) => {
                let need = task.need.as_ref().filter(|need| !need.is_over());
                let branch = match self.has_project {
                    true => format!("{}/{}", task.project, task.branch),
                    false => task.branch.to_string(),
                };
                [
                    need.map_or("-", |need| need.kind.as_str()).to_owned(),
                    need.map_or_else(|| "-".to_owned(), |need| age(need, self.now)),
                    one_line(&branch, self.branch_width()),
                    task.status.to_string(),
                    one_line(&task.summary, self.summary_width()),
                    need.map(|need| self.why(need)).unwrap_or_default(),
                ]
            }
            ListedTask::Unreadable { id, project, error } => {
                let text = one_line(&format!("! {}", error.message), self.width.unwrap_or(90));
                let name = if self.has_project { format!("{project}/{id}") } else { id.to_string() };
                ["-", "-", &name, "unreadable", "-", &text].map(str::to_owned)
            }
        }
    }

    fn why(&self, need: &Need) -> String {
        one_line(&why(need), self.width.unwrap_or(90))
    }

    fn branch_width(&self) -> usize {
        self.share(4, 30)
    }

    fn summary_width(&self) -> usize {
        self.share(3, 50)
    }

    /// A part of the width beside the columns for need, age and status; on no terminal, `most`.
    fn share(&self, part: usize, most: usize) -> usize {
        const OTHERS: usize = 44;
        self.width.map_or(most, |width| (width.saturating_sub(OTHERS) / part).clamp(12, most))
    }
}
