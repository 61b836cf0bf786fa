//! Adds, changes and removes projects.

use std::path::{Path, PathBuf};

use crate::app::App;
use crate::drive::git::Git;
use crate::store::projects::{self, DEFAULT_POOL_SIZE, Project};
use crate::store::{self, Listed, pool};
use crate::{Error, Kind, Result};

/// What is to be changed; `None` keeps what is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change<'a> {
    /// The repository, or a path below the current folder.
    pub path: Option<&'a Path>,
    /// The branch from which tasks begin.
    pub default_branch: Option<&'a str>,
    /// The workflow of new tasks.
    pub workflow: Option<&'a str>,
    /// How many worktrees its tasks may hold.
    pub pool_size: Option<u32>,
    /// The megabytes of a task's transcripts.
    pub transcripts_mb: Option<u32>,
    /// Whether answers may be typed.
    pub type_answers: Option<bool>,
    /// What starts waiting tasks.
    pub queue: Option<&'a str>,
    /// The days after which merged backups are removed, or never.
    pub backup_days: Option<Option<u32>>,
    /// The same for merged branches.
    pub branch_days: Option<Option<u32>>,
    /// The same for deleted tasks.
    pub trash_days: Option<Option<u32>>,
}

impl Change<'_> {
    /// Refuses what asks for nothing.
    pub fn check(&self) -> Result<()> {
        if *self != Change::default() {
            return Ok(());
        }
        Err(Error::new(Kind::Usage, "nothing to change")
            .help("give --path, --pool-size, --workflow or another option; `orange project update --help` lists them"))
    }

    fn check_workflow(&self, app: &App) -> Result<()> {
        self.workflow.map_or(Ok(()), |name| app.machines.named(name).map(drop))
    }

    fn make(&self, project: &mut Project, path: PathBuf) {
        project.path = path;
        project.pool_size = self.pool_size.unwrap_or(project.pool_size);
        project.transcripts_mb = self.transcripts_mb.or(project.transcripts_mb);
        project.type_answers = self.type_answers.unwrap_or(project.type_answers);
        project.queue = self.queue.map(str::to_owned).or(project.queue.take());
        project.backup_days = self.backup_days.unwrap_or(project.backup_days);
        project.branch_days = self.branch_days.unwrap_or(project.branch_days);
        project.trash_days = self.trash_days.unwrap_or(project.trash_days);
        project.workflow = self.workflow.map(str::to_owned).or(project.workflow.take());
        if let Some(branch) = self.default_branch {
            branch.clone_into(&mut project.default_branch);
        }
    }
}

/// Adds the repository at the path, or of the current folder, under this name, or that of its folder.
pub fn add(app: &App, name: Option<&str>, change: &Change<'_>) -> Result<Project> {
    change.check_workflow(app)?;
    let path = main_checkout(change.path.map_or_else(|| app.folder.clone(), |path| app.folder.join(path)))?;
    let git = Git::at(&path);
    let default_branch = match change.default_branch {
        Some(branch) => {
            git.check_branch_exists(branch)?;
            branch.to_owned()
        }
        None => {
            let branch = git.default_branch()?;
            git.check_branch_exists(&branch).map_err(|error| error.help(NO_COMMIT))?;
            branch
        }
    };
    let folder_name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.map(str::to_owned).or(folder_name).unwrap_or_default();
    let mut project = Project { name, default_branch, pool_size: DEFAULT_POOL_SIZE, ..Project::default() };
    change.make(&mut project, path);
    projects::add(&app.home, project.clone())?;
    Ok(project)
}

const NO_COMMIT: &str = "tasks begin from a commit: make a first one on it (`git commit --allow-empty -m Begin`), then add the \
                         repository again; or name another branch with --default-branch";

/// Changes a project. Where its path changes, its worktrees are linked to the checkout there.
pub fn update(app: &App, project: &Project, change: &Change<'_>) -> Result<Project> {
    app.caller.check_person("change a project")?;
    change.check_workflow(app)?;
    let path = match change.path {
        Some(path) => linked_again(app, project, &app.folder.join(path))?,
        None => project.path.clone(),
    };
    if let Some(branch) = change.default_branch {
        Git::at(&path).check_branch_exists(branch)?;
    }
    projects::update(&app.home, &project.name, |project| change.make(project, path))
}

/// Removes a project from the list; its repository stays. One with unfinished tasks is refused.
pub fn remove(app: &App, name: &str) -> Result<Project> {
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
    projects::remove(&app.home, name)
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
