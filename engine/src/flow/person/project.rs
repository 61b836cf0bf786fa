//! Adds, changes and removes projects.

use std::path::{Path, PathBuf};

use crate::app::App;
use crate::drive::git::Git;
use crate::store::effective::effective;
use crate::store::projects::{self, DEFAULT_POOL_SIZE, Project};
use crate::store::tokens::{self, Token};
use crate::store::{self, WorkItemEntry, environment, list, pool, ports, suggest, trust};
use crate::{Error, ErrorKind, Result};

/// Adds the repository at this path under this name, or that of its folder. Without a default branch it takes that of the
/// repository; `set` sets the rest.
pub fn add(
    app: &App,
    path: &Path,
    name: Option<&str>,
    default_branch: Option<&str>,
    set: impl FnOnce(&mut Project),
) -> Result<Project> {
    app.caller.check_person("add a project")?;
    let mut project = Project { pool_size: DEFAULT_POOL_SIZE, ..Project::default() };
    set(&mut project);
    check_workflow(app, &project)?;
    check_harnesses(app, &project)?;
    let project = with_repository(project, main_checkout(path.to_owned())?, default_branch)?;
    let project = named(project, name);
    projects::check_name(&project.name)?;
    app.home.prepare()?;
    check_ports(app, &project)?;
    projects::add(&app.home, project.clone())?;
    app.remember_environment(&project.name)?;
    Ok(project)
}

/// The repository of the current folder, as [`add`] would add it; `None` if that is a project already, or no repository.
///
/// # Errors
/// As [`add`], without a commit.
pub fn to_add(app: &App) -> Result<Option<Project>> {
    let is_known =
        !matches!(projects::at(&app.home, &app.folder), Err(error) if error.kind == ErrorKind::NotFound);
    if is_known || app.caller.check_person("add a project").is_err() {
        return Ok(None);
    }
    // Without git, or outside of a repository, there is nothing to add.
    let Ok(path) = main_checkout(app.folder.clone()) else { return Ok(None) };
    let project =
        with_repository(Project { pool_size: DEFAULT_POOL_SIZE, ..Project::default() }, path, None)?;
    Ok(Some(named(project, None)))
}

fn with_repository(project: Project, path: PathBuf, default_branch: Option<&str>) -> Result<Project> {
    let git = Git::at(&path);
    let default_branch = match default_branch {
        Some(branch) => git.check_branch_exists(branch).map(|()| branch.to_owned())?,
        None => {
            let branch = git.default_branch()?;
            git.check_branch_exists(&branch).map_err(|error| error.help(NO_COMMIT))?;
            branch
        }
    };
    Ok(Project { path, default_branch, ..project })
}

fn named(project: Project, name: Option<&str>) -> Project {
    let folder_name = project.path.file_name().map(|name| name.to_string_lossy().into_owned());
    Project { name: name.map(str::to_owned).or(folder_name).unwrap_or_default(), ..project }
}

const NO_COMMIT: &str = "tasks begin from a commit: make a first one on it (`git commit --allow-empty -m Begin`), then repeat the \
                         command; or name another branch with `orange project add --default-branch`";

/// Changes a project. Where its path changes, its worktrees are linked to the checkout there.
pub fn update(
    app: &App,
    project: &Project,
    path: Option<&Path>,
    default_branch: Option<&str>,
    set: impl Fn(&mut Project),
) -> Result<Project> {
    app.caller.check_person("change a project")?;
    let mut changed = project.clone();
    set(&mut changed);
    if changed.workflow != project.workflow {
        check_workflow(app, &changed)?;
    }
    if changed.settings != project.settings {
        check_harnesses(app, &changed)?;
    }
    check_ports(app, &changed)?;
    let path = path.map_or_else(|| Ok(project.path.clone()), |path| linked_again(app, project, path))?;
    if let Some(branch) = default_branch {
        Git::at(&path).check_branch_exists(branch)?;
    }
    let updated = projects::update(&app.home, &project.name, |project| {
        set(project);
        project.path = path;
        if let Some(branch) = default_branch {
            branch.clone_into(&mut project.default_branch);
        }
    })?;
    app.remember_environment(&updated.name)?;
    Ok(updated)
}

fn check_workflow(app: &App, project: &Project) -> Result<()> {
    project.workflow.as_ref().map_or(Ok(()), |name| app.machines.named(name).map(drop))
}

/// Refuses the name of a harness that is none.
fn check_harnesses(app: &App, project: &Project) -> Result<()> {
    let names = [&project.settings.harness, &project.settings.review_harness];
    names.into_iter().flatten().try_for_each(|name| app.harness(name).map(drop))
}

/// Refuses ports that another project has, also where a larger pool would need more.
fn check_ports(app: &App, project: &Project) -> Result<()> {
    let wanted = effective(&app.home, project)?.ports.value;
    wanted.map_or(Ok(()), |wanted| ports::check(&app.home, project, wanted))
}

/// Removes a project from the list; its repository stays. One with unfinished tasks or missions is refused.
pub fn remove(app: &App, name: &str) -> Result<Project> {
    app.caller.check_person("remove a project")?;
    let project = projects::get(&app.home, name)?;
    // One that cannot be read may not be over.
    let unfinished = |listed: WorkItemEntry| match listed.task {
        Ok(task) => (!app.is_done_with_worktree(&task)).then_some(task.branch),
        Err(_) => Some(format!("{} (unreadable)", listed.dir.id)),
    };
    let of = |listed: Vec<WorkItemEntry>| listed.into_iter().filter_map(unfinished).collect::<Vec<_>>();
    let tasks = of(store::list(&app.home, Some(&project.name))?);
    let missions = of(list::missions(&app.home, Some(&project.name))?);
    for (what, open) in [("tasks", tasks), ("missions", missions)] {
        if !open.is_empty() {
            let message = format!("{name} has unfinished {what}: {}", open.join(", "));
            return Err(Error::new(ErrorKind::Refused, message).help("finish or cancel them first"));
        }
    }
    tokens::revoke(&app.home, name, |_| true)?;
    // Another project of this name is another repository.
    if trust::agreed(&app.home, name)?.is_some() {
        trust::agree(&app.home, name, None)?;
    }
    environment::forget_last(&app.home, name)?;
    projects::remove(&app.home, name)
}

/// Makes a token for a declared actor, which the tasks of the project then take requests from.
///
/// # Errors
/// `not_allowed` for everybody but a person; `refused` for an actor that no workflow declares.
pub fn make_token(app: &App, project: &Project, actor: &str) -> Result<(Token, String)> {
    app.caller.check_person("make a token")?;
    let machines = app.machines.usable()?;
    if !machines.iter().any(|machine| machine.actors.contains(&actor)) {
        let declared = machines.iter().flat_map(|machine| machine.actors.iter().copied());
        let declare = format!("declare it in the workflow of the tasks: `actors: [{actor}]`");
        let help = suggest::nearest(actor, declared).map_or(declare, |it| format!("did you mean {it}?"));
        return Err(
            Error::new(ErrorKind::Refused, format!("no workflow declares an actor {actor}")).help(help)
        );
    }
    tokens::make(&app.home, &project.name, actor)
}

/// The tokens of the project that are valid.
pub fn tokens(app: &App, project: &Project) -> Result<Vec<Token>> {
    app.caller.check_person("look at tokens")?;
    tokens::of_project(&app.home, &project.name)
}

/// Revokes the tokens of an actor, or the one with this id.
pub fn revoke(app: &App, project: &Project, actor: &str, id: Option<&str>) -> Result<Vec<Token>> {
    app.caller.check_person("revoke a token")?;
    let is_meant = |token: &Token| token.actor == actor && id.is_none_or(|id| token.id() == id);
    let revoked = tokens::revoke(&app.home, &project.name, is_meant)?;
    if revoked.is_empty() {
        let which = id.map_or_else(String::new, |id| format!(" {id}"));
        let message = format!("there is no token{which} of {actor} for tasks of {}", project.name);
        return Err(Error::new(ErrorKind::NotFound, message)
            .help(format!("`orange project tokens --project {}` lists them", project.name)));
    }
    Ok(revoked)
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
        return Err(Error::new(ErrorKind::NotFound, format!("there is no folder {}", path.display()))
            .help("give the path of a checkout"));
    }
    Git::at(path).main_checkout()
}
