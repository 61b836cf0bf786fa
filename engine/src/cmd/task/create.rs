//! `orange task create`

use std::borrow::Cow;
use std::io::Read;

use crate::answer::{Created, Success};
use crate::app::App;
use crate::cmd::answer::{Answer, one_line};
use crate::cmd::args::CreateArgs;
use crate::cmd::project;
use crate::cmd::task::hints;
use crate::flow::create::{NewTask, NewlyCreated, create};
use crate::store::Task;
use crate::{Error, Kind, Result};

/// Makes the task and starts its agent.
pub fn run(app: &App, args: &CreateArgs) -> Result<Answer> {
    let project = project::named_or_here(app, args.project.as_deref())?;
    let context = context(args)?;
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

fn context(args: &CreateArgs) -> Result<Option<Cow<'_, str>>> {
    match args.context.as_deref() {
        Some("-") => read_stdin().map(Cow::Owned).map(Some),
        given => Ok(given.map(Cow::Borrowed)),
    }
}

fn read_stdin() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|cause| {
        Error::new(Kind::Usage, format!("cannot read the context from standard input: {cause}"))
            .help("it must be UTF-8 text")
    })?;
    Ok(text)
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
