//! `orange task create`

use crate::Result;
use crate::answer::{Created, Success};
use crate::app::App;
use crate::cmd::answer::{Answer, one_line};
use crate::cmd::args::CreateArgs;
use crate::cmd::task::hints;
use crate::cmd::{project, stdin};
use crate::flow::create::{NewTask, NewlyCreated, create};
use crate::store::Task;

/// Makes the task and starts its agent.
pub fn run(app: &App, args: &CreateArgs) -> Result<Answer> {
    let project = project::named_or_here(app, args.project.as_deref())?;
    let context = args.context.as_deref().map(|given| stdin::or_text(given, "the context")).transpose()?;
    let created = create(
        app,
        NewTask {
            project: &project,
            workflow: args.workflow.as_deref(),
            status: args.status.as_deref(),
            branch: args.branch.as_deref(),
            summary: args.summary.as_deref(),
            harness: &args.harness,
            review_harness: &args.review_harness,
            context: context.as_deref(),
            no_spawn: args.no_spawn,
        },
    )?;
    answer(app, created)
}

fn answer(app: &App, NewlyCreated { dir, waits_for }: NewlyCreated) -> Result<Answer> {
    let (task, _) = Task::read(&app.home, &dir)?;
    let hints = if task.owned.tmux_session.is_some() { hints(app, &dir)? } else { Vec::new() };
    let mut text =
        format!("{}  {}  {}  {}", task.id, task.branch, task.status(), one_line(&task.summary, 60));
    text.extend(waits_for.iter().map(|error| format!("\nnot started: {error}")));
    text.extend(task.attention.iter().map(|attention| format!("\nattention: {attention}")));
    text.extend(hints.iter().map(|hint| format!("\n{hint}")));
    let created = Created {
        success: Success,
        id: task.id,
        project: task.project,
        branch: task.branch,
        status: task.owned.status,
        workflow: task.owned.workflow,
        workspace: task.owned.workspace.as_deref().map(str::to_owned),
        tmux_session: task.owned.tmux_session,
        attention: task.attention,
        waiting: waits_for.as_ref().map(|error| error.message.clone()),
        path: dir.task_md().display().to_string(),
        hints,
    };
    Answer::of(&created, text)
}
