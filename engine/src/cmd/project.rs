//! `orange project`: the repositories that tasks belong to.

use std::path::{Path, PathBuf};

use crate::answer::ListedProject;
use crate::app::App;
use crate::cmd::answer::{Answer, table};
use crate::cmd::args::{ProjectCommand, ProjectSettings};
use crate::drive::git::Git;
use crate::store::pool;
use crate::store::projects::{self, DEFAULT_POOL_SIZE, Project};
use crate::store::transcripts;
use crate::store::{self, Listed};
use crate::{Error, Kind, Result};

/// Runs it.
pub fn run(app: &App, command: &ProjectCommand) -> Result<Answer> {
    match command {
        ProjectCommand::Add { path, name, settings } => add(app, path.as_ref(), name.as_deref(), settings),
        ProjectCommand::List => list(app),
        ProjectCommand::Update { name, path, settings } => {
            update(app, name.as_deref(), path.as_ref(), settings)
        }
        ProjectCommand::Remove { name } => remove(app, name),
    }
}

/// The project that was named, or the one that one stands in.
pub fn named_or_here(app: &App, name: Option<&str>) -> Result<Project> {
    match name {
        Some(name) => projects::get(&app.home, name),
        None => projects::at(&app.home, &app.folder),
    }
}

fn add(app: &App, path: Option<&PathBuf>, name: Option<&str>, settings: &ProjectSettings) -> Result<Answer> {
    check_workflow(app, settings)?;
    let path = path.map_or_else(|| app.folder.clone(), |path| app.folder.join(path));
    let path = main_checkout(path)?;
    let default_branch = match &settings.default_branch {
        Some(branch) => {
            Git::at(&path).check_branch_exists(branch)?;
            branch.clone()
        }
        None => {
            let branch = Git::at(&path).default_branch()?;
            Git::at(&path).check_branch_exists(&branch).map_err(|error| error.help(NO_COMMIT))?;
            branch
        }
    };
    let folder_name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.map(str::to_owned).or(folder_name).unwrap_or_default();
    let project = Project {
        name,
        path,
        default_branch,
        pool_size: settings.pool_size.unwrap_or(DEFAULT_POOL_SIZE),
        workflow: settings.workflow.clone(),
        transcripts_mb: settings.transcripts_mb,
        type_answers: settings.type_answers.unwrap_or(false),
        queue: settings.queue.clone(),
        backup_days: settings.backup_days.and_then(|days| days.0),
        branch_days: settings.branch_days.and_then(|days| days.0),
        trash_days: settings.trash_days.and_then(|days| days.0),
        other: serde_json::Map::new(),
    };
    projects::add(&app.home, project.clone())?;
    answer(&project, format!("added {} ({})", project.name, project.path.display()), settings)
}

/// The project as it is now. A queue that has just become automatic needs somebody who looks at it.
fn answer(project: &Project, mut text: String, settings: &ProjectSettings) -> Result<Answer> {
    let mut listed = to_answer(project);
    if settings.queue.is_some() && project.is_auto() {
        listed.hints = Some([AUTO]);
        text += &format!("\n{AUTO}");
    }
    Answer::of(&listed, text)
}

const AUTO: &str = "`orange monitor` starts the tasks that wait, as long as it runs; `orange monitor --once` starts those that \
                    have room now";

const NO_COMMIT: &str = "tasks begin from a commit: make a first one on it (`git commit --allow-empty -m Begin`), then add the \
                         repository again; or name another branch with --default-branch";

fn list(app: &App) -> Result<Answer> {
    let projects: Vec<_> = projects::read(&app.home)?.iter().map(to_answer).collect();
    if projects.is_empty() {
        return Answer::of(&projects, "no projects yet; add one with `orange project add PATH`");
    }
    let rows: Vec<_> = projects.iter().map(row).collect();
    Answer::of(&projects, table(["PROJECT", "BRANCH", "POOL", "WORKFLOW", "SETTINGS", "PATH"], &rows))
}

fn row(project: &ListedProject) -> [String; 6] {
    let ListedProject { name, path, default_branch, pool_size, workflow, .. } = project.clone();
    [name, default_branch, pool_size.to_string(), workflow, settings_of(project), path]
}

/// What is set otherwise than in a new project, as one would type it.
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

fn update(
    app: &App,
    name: Option<&str>,
    path: Option<&PathBuf>,
    settings: &ProjectSettings,
) -> Result<Answer> {
    let ProjectSettings { pool_size, workflow, default_branch, transcripts_mb, type_answers, queue, .. } =
        settings;
    let ProjectSettings { backup_days, branch_days, trash_days, .. } = settings;
    let numbers = pool_size.or(*transcripts_mb);
    let ages = backup_days.or(*branch_days).or(*trash_days);
    let words = [workflow, default_branch, queue];
    let is_said = path.is_some() || numbers.is_some() || ages.is_some() || type_answers.is_some();
    if !is_said && words.iter().all(|word| word.is_none()) {
        return Err(Error::new(Kind::Usage, "nothing to change")
            .help("give --path, --pool-size, --workflow or another option; `orange project update --help` lists them"));
    }
    app.caller.check_person("change a project")?;
    check_workflow(app, settings)?;
    let project = named_or_here(app, name)?;
    let path = match path {
        Some(path) => linked_again(app, &project, &app.folder.join(path))?,
        None => project.path,
    };
    if let Some(branch) = default_branch {
        Git::at(&path).check_branch_exists(branch)?;
    }
    let project = projects::update(&app.home, &project.name, |project| {
        project.path = path;
        project.pool_size = pool_size.unwrap_or(project.pool_size);
        project.transcripts_mb = transcripts_mb.or(project.transcripts_mb);
        project.type_answers = type_answers.unwrap_or(project.type_answers);
        project.queue = queue.clone().or(project.queue.take());
        project.backup_days = backup_days.map_or(project.backup_days, |days| days.0);
        project.branch_days = branch_days.map_or(project.branch_days, |days| days.0);
        project.trash_days = trash_days.map_or(project.trash_days, |days| days.0);
        project.workflow = workflow.clone().or(project.workflow.take());
        project.default_branch = default_branch.clone().unwrap_or_else(|| project.default_branch.clone());
    })?;
    answer(&project, format!("updated {}", project.name), settings)
}

/// The main checkout at this path, to which the project's worktrees are linked, wherever it was before.
fn linked_again(app: &App, project: &Project, path: &Path) -> Result<PathBuf> {
    let path = main_checkout(path.to_owned())?;
    let slots = pool::read(&app.home)?.into_iter().filter(|slot| slot.project == project.name);
    let folders = slots.map(|slot| app.home.workspace(&slot.name)).filter(|folder| folder.is_dir());
    Git::at(&path).repair(&folders.collect::<Vec<_>>())?;
    Ok(path)
}

fn main_checkout(path: PathBuf) -> Result<PathBuf> {
    if !path.is_dir() {
        return Err(Error::new(Kind::NotFound, format!("there is no folder {}", path.display()))
            .help("give the path of a checkout"));
    }
    Git::at(path).main_checkout()
}

fn remove(app: &App, name: &str) -> Result<Answer> {
    app.caller.check_person("remove a project")?;
    let project = projects::get(&app.home, name)?;
    // One that cannot be read may not be over.
    let unfinished = |listed: Listed| match listed.task {
        Ok(task) => (!app.is_over(&task.owned)).then_some(task.branch),
        Err(_) => Some(format!("{} (unreadable)", listed.dir.id)),
    };
    let open: Vec<String> =
        store::list(&app.home, Some(&project.name))?.into_iter().filter_map(unfinished).collect();
    if !open.is_empty() {
        return Err(Error::new(Kind::Refused, format!("{name} has unfinished tasks: {}", open.join(", ")))
            .help("merge or cancel them first"));
    }
    projects::remove(&app.home, name)?;
    Answer::of(&to_answer(&project), format!("removed {name}; its repository stays as it is"))
}

fn check_workflow(app: &App, settings: &ProjectSettings) -> Result<()> {
    settings.workflow.as_ref().map_or(Ok(()), |name| app.machines.named(name).map(drop))
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
        queue: if project.is_auto() { "auto" } else { "manual" },
        backup_days: project.backup_days,
        branch_days: project.branch_days,
        trash_days: project.trash_days,
        hints: None,
    }
}
