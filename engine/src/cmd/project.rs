//! `orange project`: the repositories that tasks belong to.

use std::path::PathBuf;

use crate::app::App;
use crate::cmd::answer::{CommandAnswer, table};
use crate::cmd::args::{ProjectCommand, ProjectSettings};
use crate::cmd::{confirm, settings};
use crate::flow::{project, trust};
use crate::store::projects::{self, Project};
use crate::store::settings::FILE;
use crate::store::tokens::Token;
use crate::store::transcripts;
use crate::{Error, ErrorKind, Result};
use orange_api::{ListedProject, ListedToken, MadeToken, ShownProject, Success, TrustedFile};

pub fn run(app: &App, command: &ProjectCommand, as_json: bool) -> Result<CommandAnswer> {
    match command {
        ProjectCommand::Add { path, name, settings } => {
            add(app, path.as_ref(), name.as_deref(), settings, as_json)
        }
        ProjectCommand::List => list(app),
        ProjectCommand::Show { name } => show(app, name.as_deref()),
        ProjectCommand::Trust { name, yes, hash } => {
            trust(app, name.as_deref(), *yes, hash.as_deref(), as_json)
        }
        ProjectCommand::Update { name, path, settings } => {
            update(app, name.as_deref(), path.as_ref(), settings)
        }
        ProjectCommand::Remove { name } => remove(app, name),
        ProjectCommand::Token { actor, project } => token(app, actor, project.as_deref()),
        ProjectCommand::Tokens { project } => tokens(app, project.as_deref()),
        ProjectCommand::Revoke { actor, id, project } => {
            revoke(app, actor, id.as_deref(), project.as_deref())
        }
    }
}

/// The named project, or the project of the current folder.
pub fn named_or_here(app: &App, name: Option<&str>) -> Result<Project> {
    match name {
        Some(name) => projects::get(&app.home, name),
        None => projects::at(&app.home, &app.folder),
    }
}

/// Without a word about the queue, a person at a terminal is asked once.
fn add(
    app: &App,
    path: Option<&PathBuf>,
    name: Option<&str>,
    settings: &ProjectSettings,
    as_json: bool,
) -> Result<CommandAnswer> {
    let path = path.map_or_else(|| app.folder.clone(), |path| app.folder.join(path));
    let branch = settings.default_branch.as_deref();
    let mut project = project::add(app, &path, name, branch, |project| set(project, settings))?;
    if settings.queue.is_none() && confirm::ask(app, QUEUE, as_json) == Some(true) {
        let set = |project: &mut Project| project.queue = Some("auto".to_owned());
        project = project::update(app, &project, None, None, set)?;
    }
    let begin = format!("`orange task create --project {} \"What is to be done\"`", project.name);
    let added = format!("added {} ({})", project.name, project.path.display());
    answer(&project, format!("{added}\nnext: {begin} makes a task and starts its agent"), true)
}

const QUEUE: &str = "\
Tasks wait while all worktrees are taken. Without a yes, you start them
(`orange task spawn`), or a merge does; `--queue auto` changes that later.
Start them by `orange monitor` as soon as a worktree is free?";

fn update(
    app: &App,
    name: Option<&str>,
    path: Option<&PathBuf>,
    settings: &ProjectSettings,
) -> Result<CommandAnswer> {
    if path.is_none() && *settings == ProjectSettings::default() {
        return Err(Error::new(ErrorKind::Usage, "nothing to change")
            .help("give --path, --pool-size, --workflow or another option; `orange project update --help` lists them"));
    }
    let path = path.map(|path| app.folder.join(path));
    let branch = settings.default_branch.as_deref();
    let set = |project: &mut Project| set(project, settings);
    let project = project::update(app, &named_or_here(app, name)?, path.as_deref(), branch, set)?;
    answer(&project, format!("updated {}", project.name), settings.queue.is_some())
}

fn set(project: &mut Project, settings: &ProjectSettings) {
    project.pool_size = settings.pool_size.unwrap_or(project.pool_size);
    project.workflow = settings.workflow.clone().or(project.workflow.take());
    project.transcripts_mb = settings.transcripts_mb.or(project.transcripts_mb);
    project.type_answers = settings.type_answers.unwrap_or(project.type_answers);
    project.queue = settings.queue.clone().or(project.queue.take());
    project.backup_days = settings.backup_days.map_or(project.backup_days, |days| days.0);
    project.branch_days = settings.branch_days.map_or(project.branch_days, |days| days.0);
    project.trash_days = settings.trash_days.map_or(project.trash_days, |days| days.0);
    settings.change(&mut project.settings);
}

fn show(app: &App, name: Option<&str>) -> Result<CommandAnswer> {
    let project = named_or_here(app, name)?;
    let settings = settings::shown(app, &project)?;
    let shown = ShownProject { project: to_answer(&project), settings };
    let text = settings::text(&shown);
    CommandAnswer::of(&shown, text)
}

/// The content is read once: a person agrees to what was shown, and to nothing else.
fn trust(
    app: &App,
    name: Option<&str>,
    yes: bool,
    hash: Option<&str>,
    as_json: bool,
) -> Result<CommandAnswer> {
    let project = named_or_here(app, name)?;
    let offer = trust::offer(app, &project, hash)?;
    let shown = offer.shown();
    if !yes && !offer.is_agreed() {
        let repeat = match &offer.sha256 {
            Some(sha256) => format!("repeat it with `--yes --hash {}`", sha256.get(..12).unwrap_or(sha256)),
            None => "repeat it with --yes".to_owned(),
        };
        let unasked = format!("{shown}\nTrust this? This wants a yes");
        confirm::confirm(&format!("{shown}\nTrust this?"), unasked, &repeat, as_json)?;
    }
    trust::agree(app, &project, &offer)?;
    let path = offer.path.display().to_string();
    let text = match (&offer.sha256, offer.is_agreed()) {
        (_, true) => format!("{path} is trusted already, as it is"),
        (Some(_), false) => format!("{path} is trusted as it is now; a change of it has to be trusted again"),
        (None, false) => format!("{} has no {FILE} any more, and none is trusted", project.name),
    };
    let trusted = TrustedFile {
        success: Success,
        project: project.name,
        path,
        changed: !offer.is_agreed(),
        sha256: offer.sha256,
    };
    CommandAnswer::of(&trusted, text)
}

fn remove(app: &App, name: &str) -> Result<CommandAnswer> {
    let project = project::remove(app, name)?;
    CommandAnswer::of(&to_answer(&project), format!("removed {name}; its repository stays as it is"))
}

/// The token alone, so that it can be written to a file.
fn token(app: &App, actor: &str, name: Option<&str>) -> Result<CommandAnswer> {
    let project = named_or_here(app, name)?;
    let (made, token) = project::make_token(app, &project, actor)?;
    CommandAnswer::of(&MadeToken { made: to_listed(&made), token: token.as_str().into() }, token.as_str())
}

fn tokens(app: &App, name: Option<&str>) -> Result<CommandAnswer> {
    let project = named_or_here(app, name)?;
    let tokens: Vec<_> = project::tokens(app, &project)?.iter().map(to_listed).collect();
    if tokens.is_empty() {
        return CommandAnswer::of(&tokens, format!("{} has no tokens", project.name));
    }
    let row = |it: &ListedToken| [it.id.clone(), it.actor.clone(), it.created_at.clone()];
    let rows: Vec<_> = tokens.iter().map(row).collect();
    CommandAnswer::of(&tokens, table(["TOKEN", "ACTOR", "CREATED"], &rows))
}

fn revoke(app: &App, actor: &str, id: Option<&str>, name: Option<&str>) -> Result<CommandAnswer> {
    let project = named_or_here(app, name)?;
    let revoked: Vec<_> = project::revoke(app, &project, actor, id)?.iter().map(to_listed).collect();
    let ids: Vec<_> = revoked.iter().map(|it| it.id.as_str()).collect();
    CommandAnswer::of(&revoked, format!("revoked {}", ids.join(", ")))
}

fn to_listed(token: &Token) -> ListedToken {
    ListedToken {
        id: token.id().to_owned(),
        project: token.project.clone(),
        actor: token.actor.clone(),
        created_at: token.created_at.clone(),
    }
}

/// The project with its present settings. A queue that has just become automatic needs a running monitor.
fn answer(project: &Project, mut text: String, is_new_queue: bool) -> Result<CommandAnswer> {
    let mut listed = to_answer(project);
    if is_new_queue && project.is_auto() {
        listed.hints = Some(vec![AUTO.to_owned()]);
        text += &format!("\n{AUTO}");
    }
    CommandAnswer::of(&listed, text)
}

const AUTO: &str = "`orange monitor` starts the tasks that wait, as long as it runs; `orange monitor --once` starts those that \
                    have room now";

fn list(app: &App) -> Result<CommandAnswer> {
    let projects: Vec<_> = projects::read(&app.home)?.iter().map(to_answer).collect();
    if projects.is_empty() {
        return CommandAnswer::of(&projects, "no projects yet; add one with `orange project add PATH`");
    }
    let rows: Vec<_> = projects.iter().map(row).collect();
    CommandAnswer::of(&projects, table(["PROJECT", "BRANCH", "POOL", "WORKFLOW", "SETTINGS", "PATH"], &rows))
}

fn row(project: &ListedProject) -> [String; 6] {
    let ListedProject { name, path, default_branch, pool_size, workflow, .. } = project.clone();
    [name, default_branch, pool_size.to_string(), workflow, settings_of(project), path]
}

/// The settings that differ from those of a new project, as options.
fn settings_of(project: &ListedProject) -> String {
    let days = |option: &str, days: Option<u32>| Some(format!("--{option} {}", days?));
    let megabytes = project.transcripts_mb;
    let set = [
        (project.queue == "auto").then(|| "--queue auto".to_owned()),
        project.type_answers.then(|| "--type-answers true".to_owned()),
        (megabytes != transcripts::DEFAULT_MB).then(|| format!("--transcripts-mb {megabytes}")),
        days("backup-days", project.backup_days),
        days("branch-days", project.branch_days),
        days("trash-days", project.trash_days),
    ];
    let set: Vec<String> = set.into_iter().flatten().collect();
    if set.is_empty() { "-".to_owned() } else { set.join(" ") }
}

fn to_answer(project: &Project) -> ListedProject {
    ListedProject {
        name: project.name.clone(),
        path: project.path.to_string_lossy().into_owned(),
        default_branch: project.default_branch.clone(),
        pool_size: project.pool_size,
        workflow: project.workflow().to_owned(),
        type_answers: project.type_answers,
        transcripts_mb: project.transcripts_mb.unwrap_or(transcripts::DEFAULT_MB),
        queue: if project.is_auto() { "auto".into() } else { "manual".into() },
        backup_days: project.backup_days,
        branch_days: project.branch_days,
        trash_days: project.trash_days,
        hints: None,
    }
}
