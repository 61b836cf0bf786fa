//! `orange mission list`

use crate::Result;
use crate::answer::{ListedMission, MissionRow};
use crate::app::App;
use crate::cmd::answer::{Answer, one_line, table};
use crate::cmd::args::MissionListArgs;
use crate::cmd::project;
use crate::flow::mission::Course;
use crate::store::{Listed, Task, list, task};

/// Lists missions, unfinished ones unless `all` is asked for. One that has failed is listed: it may be tried again.
pub fn run(app: &App, args: &MissionListArgs) -> Result<Answer> {
    let project = args.project.as_deref().map(|name| project::named_or_here(app, Some(name))).transpose()?;
    let listed = list::missions(&app.home, project.as_ref().map(|project| project.name.as_str()))?;
    let is_shown = |listed: &Listed| {
        let task = listed.task.as_ref();
        args.all || task.map_or(true, |task| !app.is_done_with_worktree(task))
    };
    let missions: Vec<_> = listed.into_iter().filter(is_shown).map(row).collect();
    if missions.is_empty() {
        let text = "no mission is under way; `orange mission start WORKFLOW \"PROMPT\"` starts one";
        return Answer::of(&missions, text);
    }
    let cells: Vec<_> = missions.iter().map(cells).collect();
    Answer::of(&missions, table(["ID", "PROJECT", "BRANCH", "WORKFLOW", "STATUS", "STEP", "PROMPT"], &cells))
}

fn row(Listed { dir, task }: Listed) -> ListedMission {
    let branch = task.as_ref().ok().map(|task| task.branch.clone());
    let read = task.and_then(|task| {
        let history = task::read_journal_last(&dir, 0)?.history();
        Course::of(&dir, &history).map(|course| readable(task, &course))
    });
    match read {
        Ok(row) => ListedMission::Readable(Box::new(row)),
        Err(error) => {
            ListedMission::Unreadable { id: dir.id, project: dir.project, branch, error: (*error).clone() }
        }
    }
}

fn readable(task: Task, course: &Course) -> MissionRow {
    MissionRow {
        step: course.current().map(|step| course.name(step)),
        pause: course.pause(&task.id),
        id: task.id,
        project: task.project,
        branch: task.branch,
        workflow: task.owned.workflow,
        status: task.owned.status,
        waiting_until: task.owned.waiting_until,
        summary: task.summary,
        attention: task.attention,
        updated_at: task.updated_at,
    }
}

fn cells(mission: &ListedMission) -> [String; 7] {
    match mission {
        ListedMission::Readable(row) => {
            let asks = row.pause.as_ref().map(|pause| format!("? {}", pause.what));
            let calls = row.attention.as_ref().map(|attention| format!("! {attention}"));
            let waits =
                row.waiting_until.as_ref().map(|until| format!("waits until {until}: {}", row.summary));
            let matters = calls.or(asks).or(waits).unwrap_or_else(|| row.summary.clone());
            [
                row.id.clone(),
                row.project.clone(),
                one_line(&row.branch, 30),
                row.workflow.clone(),
                row.status.clone(),
                row.step.clone().unwrap_or_else(|| "-".to_owned()),
                one_line(&matters, 72),
            ]
        }
        ListedMission::Unreadable { id, project, branch, error } => {
            let text = one_line(&format!("! {}", error.message), 90);
            let branch = one_line(branch.as_deref().unwrap_or("-"), 30);
            [id, project, &branch, "-", "unreadable", "-", &text].map(str::to_owned)
        }
    }
}
