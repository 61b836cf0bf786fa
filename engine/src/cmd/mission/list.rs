//! `orange mission list`

use std::time::SystemTime;

use crate::Result;
use crate::app::App;
use crate::cmd::answer::{CommandAnswer, one_line, table};
use crate::cmd::args::MissionListArgs;
use crate::cmd::needs::{NeedRank, age, has_several, in_order, project_of, why};
use crate::cmd::screen;
use crate::flow::mission::Projection;
use crate::flow::names::KnownNames;
use crate::flow::need;
use crate::flow::observed::Observed;
use crate::flow::session::Panes;
use crate::store::{Owned, WorkItemDir, WorkItemEntry, WorkItemKind, list, work_item};
use orange_api::{ListedMission, MissionRow};
use orange_system::fault;

/// Lists missions, what needs a person first; unfinished ones unless `all` is asked for. One that has failed is listed: it may be
/// tried again.
pub fn run(app: &App, args: &MissionListArgs) -> Result<CommandAnswer> {
    let project = project_of(app, args.project.as_deref(), args.all_projects)?;
    let is_shown = |owned: &Owned| args.all || !app.is_done(WorkItemKind::Mission, owned);
    let is_wanted = |_, owned: &Owned| is_shown(owned);
    let mut known = list::journals(&app.home, &[WorkItemKind::Mission], project.as_deref(), &is_wanted)?;
    known.retain(|one| one.may_be(is_shown));
    let listed = list::each(known, |it| {
        let is_shown = it.task.as_ref().map_or(true, |task| is_shown(&task.owned));
        is_shown.then_some(it)
    });
    let (panes, names) = (Panes::of(app), KnownNames::of(app));
    let rows = listed.into_iter().map(|listed| row(app, listed, &panes, &names));
    let rows = rows.filter(|row| !args.needs_me || needs_person(row)).map(|row| (rank(&row), row)).collect();
    let missions = in_order(rows);
    if missions.is_empty() {
        let text = "no mission is under way; `orange mission start WORKFLOW \"PROMPT\"` starts one";
        return CommandAnswer::of(&missions, if args.needs_me { "nothing needs you" } else { text });
    }
    let now = fault::now();
    let has_project = project.is_none() && has_several(app);
    let cells: Vec<_> = missions.iter().map(|mission| cells(mission, has_project, now)).collect();
    let header = ["NEED", "AGE", "BRANCH", "WORKFLOW", "STATUS", "STEP", "PROMPT", "WHY"];
    let table = table(header, &cells);
    let Some(width) = screen::width() else { return CommandAnswer::of(&missions, table) };
    let lines: Vec<_> = table.lines().map(|line| screen::fit(line, width)).collect();
    CommandAnswer::of(&missions, lines.join("\n"))
}

fn rank(mission: &ListedMission) -> NeedRank {
    match mission {
        ListedMission::Readable(row) => NeedRank::of(row.need.as_ref()),
        ListedMission::Unreadable { .. } => NeedRank::LAST,
    }
}

fn needs_person(mission: &ListedMission) -> bool {
    match mission {
        ListedMission::Readable(row) => row.need.as_ref().is_some_and(|need| need.person),
        ListedMission::Unreadable { .. } => true,
    }
}

fn row(
    app: &App,
    WorkItemEntry { dir, task }: WorkItemEntry,
    panes: &Panes<'_>,
    names: &KnownNames<'_>,
) -> ListedMission {
    let branch = task.as_ref().ok().map(|task| task.branch.clone());
    let read = task.and_then(|task| {
        let history = work_item::read_journal_last(&dir, 0)?.history();
        let observed = Observed::of(app, &dir, task, history, panes)?;
        let projection = Projection::of(&dir, &observed.history)?;
        Ok(readable(&dir, observed, &projection, names))
    });
    match read {
        Ok(row) => ListedMission::Readable(Box::new(row)),
        Err(error) => {
            ListedMission::Unreadable { id: dir.id, project: dir.project, branch, error: (*error).clone() }
        }
    }
}

fn readable(
    dir: &WorkItemDir,
    observed: Observed,
    projection: &Projection,
    names: &KnownNames<'_>,
) -> MissionRow {
    let need = Some(names.in_need(need::of_mission(dir, &observed, projection)));
    let Observed { task, history, .. } = observed;
    MissionRow {
        need,
        step: projection.current().map(|step| projection.name(step)),
        asks: names.in_asks(projection.asks(dir, &history)),
        pause: projection.pause(&task.id).map(|pause| names.in_pause(pause)),
        id: task.id,
        project: task.project,
        branch: task.branch,
        workflow: task.owned.workflow,
        status: projection.mission.status,
        waiting_until: task.owned.waiting_until,
        summary: task.summary,
        attention: task.attention,
        updated_at: task.updated_at,
    }
}

fn cells(mission: &ListedMission, has_project: bool, now: SystemTime) -> [String; 8] {
    let named = |project: &str, branch: &str| match has_project {
        true => one_line(&format!("{project}/{branch}"), 30),
        false => one_line(branch, 30),
    };
    match mission {
        ListedMission::Readable(row) => {
            let need = row.need.as_ref().filter(|need| !need.is_over());
            [
                need.map_or("-", |need| need.kind.as_str()).to_owned(),
                need.map_or_else(|| "-".to_owned(), |need| age(need, now)),
                named(&row.project, &row.branch),
                row.workflow.clone(),
                row.status.as_str().to_owned(),
                row.step.clone().unwrap_or_else(|| "-".to_owned()),
                one_line(&row.summary, 40),
                need.map(|need| one_line(&why(need), 90)).unwrap_or_default(),
            ]
        }
        ListedMission::Unreadable { id, project, branch, error } => {
            let text = one_line(&format!("! {}", error.message), 90);
            let name = named(project, branch.as_deref().unwrap_or(id));
            ["-", "-", &name, "-", "unreadable", "-", "-", &text].map(str::to_owned)
        }
    }
}
