//! `orange task create`

use crate::app::App;
use crate::cmd::answer::{CommandAnswer, one_line};
use crate::cmd::args::CreateArgs;
use crate::cmd::task::hints;
use crate::cmd::{project, stdin};
use crate::flow::create::{NewTask, NewlyCreated, create, would_create};
use crate::flow::issue::{self, FromIssue};
use crate::flow::parent::Parent;
use crate::flow::written::WrittenText;
use crate::relay::only_some;
use crate::store::effective::effective;
use crate::store::{WorkItem, WorkItemDraft};
use crate::{Error, ErrorKind, Result};
use orange_api::{Created, Success};
use orange_system::variables::RELAYED;

/// Makes the task and starts its agent.
pub fn run(app: &App, args: &CreateArgs) -> Result<CommandAnswer> {
    let project = project::named_or_here(app, args.project.as_deref())?;
    let context = args.context.as_deref().map(|given| stdin::or_text(given, "the context")).transpose()?;
    let issue = args.issue.map(|number| issue::read(app, &project, number)).transpose()?;
    let of_issue = |part: fn(&FromIssue) -> &str| issue.as_ref().map(part);
    let (branch, summary) = branch_and_summary(args);
    let branch = branch.or(of_issue(|it| &it.branch));
    let summary = summary.or(of_issue(|it| &it.summary));
    let context = context.as_deref().or(of_issue(|it| &it.context));
    let written = args.edit.then(|| WrittenText::read(app, summary, context)).transpose()?;
    let (summary, context) = match &written {
        Some(written) => (Some(written.summary.as_str()), written.context.as_deref()),
        None => (summary, context),
    };
    let settings = effective(&app.home, &project)?;
    let parent = Parent::of_caller(app)?;
    if parent.is_none() && std::env::var_os(RELAYED).is_some() {
        return Err(only_some(Error::new(
            ErrorKind::NotAllowed,
            "an agent in a sandbox creates tasks only where its state delegates work",
        )));
    }
    let of_parent = parent.as_ref().map(|parent| &parent.task);
    let warning = settings.trust.warning(&project.name);
    let new = NewTask {
        project: &project,
        workflow: args.workflow.as_deref(),
        status: args.status.as_deref(),
        branch,
        base: args.base.as_deref(),
        summary,
        about: summary,
        harness: args
            .harness
            .as_deref()
            .or(of_parent.map(|task| task.harness.as_str()))
            .unwrap_or(settings.worker()),
        review_harness: args
            .review_harness
            .as_deref()
            .or(of_parent.map(|task| task.review_harness.as_str()))
            .unwrap_or(settings.reviewer()),
        context,
        priority: args.priority,
        blocked_by: &args.blocked_by,
        budget: args.budget,
        parent: parent.as_ref(),
        source: None,
        no_spawn: args.no_spawn,
    };
    if args.dry_run {
        let draft = would_create(app, new);
        written.map_or(Ok(()), |written| written.file.forget())?;
        return planned(draft?);
    }
    let created = create(app, new);
    let Some(written) = written else { return answer(app, created?, warning) };
    let created = created.map_err(|error| written.file.kept(error))?;
    written.file.forget()?;
    answer(app, created, warning)
}

/// Alone, an argument with blanks is the summary: no branch has any. An empty branch before a summary is none.
fn branch_and_summary(args: &CreateArgs) -> (Option<&str>, Option<&str>) {
    match (args.branch.as_deref(), args.summary.as_deref()) {
        (Some(text), None) if text.contains(char::is_whitespace) => (None, Some(text)),
        (Some(""), Some(summary)) => (None, Some(summary)),
        given => given,
    }
}

/// The next step of a person.
fn next(task: &WorkItem, waits_for: Option<&Error>) -> String {
    let id = &task.id;
    match (&task.owned.tmux_session, waits_for) {
        (Some(_), _) => {
            format!("next: `orange task attach {id}` shows its agent, and `orange` alone what needs you")
        }
        (None, Some(_)) => format!("next: `orange task show {id}` says what it waits for"),
        (None, None) => format!("next: `orange task spawn {id}` starts its agent"),
    }
}

/// The answer of a dry run.
fn planned(WorkItemDraft { project, branch, status, workflow, .. }: WorkItemDraft) -> Result<CommandAnswer> {
    let shown = branch.as_deref().unwrap_or("(a branch with its id)");
    let text = format!("would create a task of {project}: {shown}  {status}");
    let created = Created {
        success: Success,
        id: None,
        project,
        branch,
        status,
        workflow,
        workspace: None,
        tmux_session: None,
        attention: None,
        waiting: None,
        path: None,
        hints: Vec::new(),
        dry_run: true,
    };
    CommandAnswer::of(&created, text)
}

fn answer(
    app: &App,
    NewlyCreated { dir, waits_for }: NewlyCreated,
    warning: Option<String>,
) -> Result<CommandAnswer> {
    let (task, _) = WorkItem::read(&app.home, &dir)?;
    let hints = match task.owned.tmux_session {
        Some(_) => hints(app, &dir)?,
        None => warning.into_iter().collect(),
    };
    let mut text =
        format!("{}  {}  {}  {}", task.id, task.branch, task.status(), one_line(&task.summary, 60));
    text.extend(waits_for.iter().map(|error| format!("\nnot started: {error}")));
    text.extend(task.attention.iter().map(|attention| format!("\nattention: {attention}")));
    text.extend(hints.iter().map(|hint| format!("\n{hint}")));
    text.extend(["\n", &next(&task, waits_for.as_ref())]);
    let created = Created {
        success: Success,
        id: Some(task.id),
        project: task.project,
        branch: Some(task.branch),
        status: task.owned.status,
        workflow: task.owned.workflow,
        workspace: task.owned.workspace.as_deref().map(str::to_owned),
        tmux_session: task.owned.tmux_session,
        attention: task.attention,
        waiting: waits_for.as_ref().map(|error| error.message.clone()),
        path: Some(dir.task_md().display().to_string()),
        hints,
        dry_run: false,
    };
    CommandAnswer::of(&created, text)
}
