//! Binds a worktree of the project's pool to a task, and gives it back. An agent that works without one gets a plain folder of the
//! task instead, which goes when the task takes a worktree, gives it back or ends.

use std::fs::{self, FileType};
use std::io;
use std::path::{Component, Path};

use orange_core::Workspace;

use crate::app::App;
use crate::drive::git::{BackupContext, BranchState, Git, REQUEST_FOLDER, TASK_FILE};
use crate::drive::harness::Harness;
use crate::hooks::agent_processes::check_gone;
use crate::hooks::saved::with_context;
use crate::hooks::{imported, prepare};
use crate::store::copy;
use crate::store::pool::{self, Slot};
use crate::store::projects::{self, Project};
use crate::store::{Event, LockedWorkItem, Pool, Set, WorkItem, WorkItemKind, home};
use crate::{Error, ErrorKind, Result};
use orange_system::files::{self, entries};
use orange_system::{atomic, fault, nofollow};

/// A slot for one more task in its project's pool. No other process can take it as long as this value lives.
#[derive(Debug)]
pub struct WorktreeRoom {
    pool: Pool,
    project: Project,
    task: String,
}

impl WorktreeRoom {
    /// Gives the slot to the task.
    pub fn take(mut self) -> Result<()> {
        let git = Git::at(&self.project.path);
        let is_usable = |worktree: &Path| git.is_usable(worktree);
        self.pool.bind(&self.project.name, self.project.pool_size, &self.task, is_usable).map(drop)
    }
}

/// Refuses an `acquire_workspace` that cannot work: no git, no identity, a branch that is checked out somewhere else, no
/// free worktree. It locks the pool until the slot is taken; a task that has a worktree needs none.
pub fn preflight(app: &App, task: &WorkItem) -> Result<Option<WorktreeRoom>> {
    let Some(project) = without_worktree(app, task)? else { return Ok(None) };
    let pool = Pool::lock(&app.home)?;
    check_room(app, &project, task, pool.slots())?;
    Ok(Some(WorktreeRoom { pool, project, task: task.id.clone() }))
}

/// As [`preflight`], for the pool as it is at this moment.
pub fn dry_run(app: &App, task: &WorkItem) -> Result<()> {
    let Some(project) = without_worktree(app, task)? else { return Ok(()) };
    check_room(app, &project, task, &pool::read(&app.home)?)
}

/// The project of a task that has no worktree yet, when git can make one.
fn without_worktree(app: &App, task: &WorkItem) -> Result<Option<Project>> {
    if task.worktree().is_some() {
        return Ok(None);
    }
    let project = app.project_of(task)?;
    let git = Git::at(&project.path);
    git.check()?;
    git.check_identity()?;
    Ok(Some(project))
}

fn check_room(app: &App, project: &Project, task: &WorkItem, slots: &[Slot]) -> Result<()> {
    let git = Git::at(&project.path);
    let own = pool::slot_of(slots, &task.id)
        .map_or_else(|| app.home.workspaces(), |slot| app.home.workspace(&slot.name));
    git.check_branch_free(&task.branch, &own)?;
    git.check_filters(&task.branch, &project.default_branch, app.path())?;
    // A mission leaves the project's own file of that name where it is.
    if task.kind == WorkItemKind::Task && git.tracks(&task.branch, &project.default_branch, TASK_FILE)? {
        return Err(Error::new(
            ErrorKind::Refused,
            format!("{} has a {TASK_FILE} of its own in git", project.name),
        )
        .help(format!(
            "orange keeps the task under this name: on `{}`, `git rm {TASK_FILE}` removes what a task has left there (`git mv` keeps \
             a file of the project's own), then commit and push that",
            project.default_branch
        )));
    }
    pool::check_room(&app.home, slots, (&project.name, project.pool_size), &task.id)
}

/// Binds a worktree to the task, on the task's branch, and prepares the place of its copy of `TASK.md`, which a mission lacks. A worktree that is bound already stays;
/// if its folder was removed, it is made again.
///
/// # Errors
/// `refused` when the pool is exhausted or the branch is taken; `environment` when git fails. The slot is free again then.
pub fn acquire(app: &App, locked: &mut LockedWorkItem) -> Result<Set> {
    let set = bind(app, locked)?;
    restore_work(app, locked, &set)?;
    Ok(set)
}

/// Gives a task that was reopened its uncommitted work, before anybody works in its worktree.
fn restore_work(app: &App, locked: &mut LockedWorkItem, set: &Set) -> Result<()> {
    let Some(backup) = locked.history().worktree.reopening.clone() else { return Ok(()) };
    let name = pool::read(&app.home)?.into_iter().find(|slot| slot.task.as_ref() == Some(&locked.dir().id));
    if let (Some(slot), Some(commit)) = (name, &backup) {
        let project = app.project_of(locked.task())?;
        Git::at(&project.path).restore_work(&app.home.workspace(&slot.name), commit)?;
    }
    fault::step("record", "restored work");
    locked.append(Event::WorkRestored { commit: backup }, set.clone())
}

fn bind(app: &App, locked: &mut LockedWorkItem) -> Result<Set> {
    leave_folder(app, locked)?;
    let bound = locked.task().worktree().cloned();
    let is_reclaimed = locked.history().worktree.reclaimed.is_some();
    if !is_reclaimed && bound.as_ref().is_some_and(|name| app.home.workspace(name).is_dir()) {
        Git::give_back_released(&app.home.workspace(bound.as_deref().unwrap_or_default()))?;
        // A worktree that an older version has prepared lacks it.
        if let Ok(project) = app.project_of(locked.task()) {
            Git::at(&project.path).exclude(REQUEST_FOLDER)?;
            prepare::go_on(app, &project, locked)?;
        }
        return Ok(Set::new());
    }
    let project = app.project_of(locked.task())?;
    let git = Git::at(&project.path);
    let is_usable = |worktree: &Path| git.is_usable(worktree);
    let id = locked.task().id.clone();
    let name = Pool::lock(&app.home)?.bind(&project.name, project.pool_size, &id, is_usable)?;
    // The slot is the task's now, so the pool is not locked while git works: the remote may be slow.
    let worktree = app.home.workspace(&name);
    if is_reclaimed && bound.is_none() {
        let workspace = name.clone();
        locked.append(Event::WorktreeRestoring { workspace }, Set::new().workspace(Some(&name)))?;
    }
    let begun = prepare::begin(app, &project, locked, &name);
    match begun.and_then(|()| ready(app, &project, locked, &worktree)) {
        Ok(warning) => {
            // The remote did not answer, so the branch begins at the commit that this repository fetched last.
            warning.map_or(Ok(()), |warning| locked.call_attention(&warning))?;
            if is_reclaimed {
                fault::step("return", "the worktree");
                locked.append(Event::WorktreeRestored { workspace: name.clone() }, Set::new())?;
            }
            Ok(Set::new().workspace(Some(&name)))
        }
        Err(error) if bound.is_none() || is_reclaimed => {
            // No other worktree can check out the task's branch while this one has it.
            let left = leave(app, &project, locked, &worktree);
            if is_reclaimed {
                // The files that are there so far are only a copy.
                let workspace = name.clone();
                locked.append(Event::WorktreeReclaimed { workspace }, Set::new().workspace(None))?;
            }
            Pool::lock(&app.home)?.unbind(&locked.task().id)?;
            left.or_else(|also| locked.call_attention(&also.one_line()))?;
            Err(error)
        }
        Err(error) => Err(error),
    }
}

/// Checks out the task's branch, and has git ignore the files that Orange and the agents keep in the worktree.
fn ready(
    app: &App,
    project: &Project,
    locked: &mut LockedWorkItem,
    worktree: &Path,
) -> Result<Option<String>> {
    let git = Git::at(&project.path);
    let branch = locked.task().branch.clone();
    let warning = git.catch_up(&branch, &project.default_branch)?;
    // A remote that did not answer may have that branch.
    if warning.is_none() && git.branch_state(&branch)? == BranchState::Nowhere {
        let commit = git.base(&project.default_branch)?;
        if locked.history().branch.made.get(&branch) != Some(&commit) {
            locked.append(Event::BranchMade { branch: branch.clone(), commit }, Set::new())?;
        }
    }
    git.acquire(worktree, &branch, &project.default_branch)?;
    git.exclude(REQUEST_FOLDER)?;
    for file in files_of_harnesses(app, locked.task()) {
        git.exclude(&file)?;
    }
    if locked.dir().kind == WorkItemKind::Task {
        git.exclude(TASK_FILE)?;
        copy::check_place(worktree)?;
    }
    if let Some(reclaimed) = locked.history().worktree.reclaimed.clone() {
        // Without a backup, the branch has all of it.
        reclaimed
            .kept
            .first()
            .map_or(Ok(()), |backup| git.restore_backup(worktree, &reclaimed.head, backup))?;
    }
    prepare::go_on(app, project, locked)?;
    Ok(warning)
}

/// Empties the task's worktree: backs up under a ref what is not committed or on no branch, reads its `TASK.md` into the
/// task, removes that file, and checks out the default branch. It starts no agent.
///
/// Its slot becomes free by [`give_back`] only when the journal says that the task holds it no more.
///
/// # Errors
/// `refused` while an agent is alive, since it would then share its worktree with the next task's agent; `environment` when git fails. The
/// worktree stays bound then.
pub fn release(app: &App, locked: &mut LockedWorkItem) -> Result<Set> {
    if leave_folder(app, locked)? {
        return Ok(Set::new().workspace(None));
    }
    let Some(name) = locked.task().owned.workspace.clone() else { return Ok(Set::new()) };
    let id = locked.task().id.clone();
    let project = app.project_of(locked.task())?;
    let is_own =
        pool::read(&app.home)?.iter().any(|slot| slot.name == name && slot.task.as_ref() == Some(&id));
    if is_own {
        check_gone(app, locked)?;
        imported::last(app, locked.task());
        let worktree = app.home.workspace(&name);
        locked.sync()?;
        prepare::decide_given(app, &project, locked)?;
        empty(app, &project, locked, &worktree)?;
        let own = files_of_harnesses(app, locked.task());
        Git::at(&project.path).remove_ignored(&worktree, &own)?;
        prepare::clear(app, &project, locked)?;
        let has_copy = locked.dir().kind == WorkItemKind::Task;
        if has_copy && !Git::at(&project.path).is_tracked(&worktree, TASK_FILE)? {
            locked.withdraw(&worktree)?;
        }
    }
    Ok(Set::new().workspace(None))
}

/// The files that the harnesses of a task or mission keep in a worktree, such as the permissions that a person has given there.
/// They are not work, and the next task must not get them. A harness that is no longer in `harnesses.toml` has none.
fn files_of_harnesses(app: &App, task: &WorkItem) -> Vec<String> {
    let harnesses = match task.kind {
        WorkItemKind::Task => app.harnesses_of(task).filter_map(|name| app.harness(name).ok()).collect(),
        // Any step may have a harness of its own.
        WorkItemKind::Mission => app.harnesses().unwrap_or_default(),
    };
    harnesses.into_iter().flat_map(|harness: Harness| harness.workspace_files).collect()
}

/// Takes a worktree whose preparation failed off the task's branch, if it is on that branch.
fn leave(app: &App, project: &Project, locked: &mut LockedWorkItem, worktree: &Path) -> Result<()> {
    let is_on_it = worktree.is_dir()
        && Git::at(&project.path).current_branch(worktree)?.as_ref() == Some(&locked.task().branch);
    if is_on_it {
        prepare::decide_given(app, project, locked)?;
        empty(app, project, locked, worktree)?;
    }
    prepare::clear(app, project, locked)
}

fn empty(app: &App, project: &Project, locked: &mut LockedWorkItem, worktree: &Path) -> Result<()> {
    let kind = locked.dir().kind;
    let git = Git::at(&project.path);
    with_context(app, locked, &project.default_branch, |context| {
        git.release(worktree, context)?;
        match kind {
            WorkItemKind::Task => clear_place(worktree, context),
            WorkItemKind::Mission => set_task_file_aside(&git, worktree, context),
        }
    })
}

/// Refuses an agent that works where the task has nothing for it.
///
/// # Errors
/// `refused`.
pub fn check_ready(task: &WorkItem, workspace: Workspace) -> Result<()> {
    if workspace.is_ready(task.holds()) {
        return Ok(());
    }
    Err(match (workspace, task.worktree()) {
        (Workspace::Folder, Some(name)) => {
            let message = format!("its agent works without a worktree, and the task holds {name}");
            Error::new(ErrorKind::Refused, message)
                .help("the workflow has to give that back before: `release_workspace` before the spawn")
        }
        (Workspace::Worktree | Workspace::Folder, _) => {
            Error::new(ErrorKind::Refused, "the task has no worktree to start an agent in")
                .help("`orange task spawn` gives it one")
        }
    })
}

/// Makes the plain folder of a task that holds one, if it is not there: nobody has made it yet, or somebody has removed it.
pub fn make_folder(app: &App, task: &WorkItem) -> Result<()> {
    if task.holds() != Some(Workspace::Folder) {
        return Ok(());
    }
    fault::step("make", "the folder");
    home::make_folder(&app.home.workspaces())?;
    home::make_folder(&app.home.workspace(&task.id))
}

/// Removes the plain folder of a task, if it holds one, and returns whether it does: reads its `TASK.md` into the task, and sets aside
/// what else has been written there. The journal is to say that the task holds it no more.
///
/// # Errors
/// `refused` while an agent is alive in it.
pub fn leave_folder(app: &App, locked: &mut LockedWorkItem) -> Result<bool> {
    if locked.task().holds() != Some(Workspace::Folder) {
        return Ok(false);
    }
    check_gone(app, locked)?;
    let folder = app.home.workspace(&locked.dir().id);
    fault::step("leave", "the folder");
    // Anything but a folder is not followed: it is set aside as it is.
    if kind_at(&folder)?.is_some_and(|kind| kind.is_dir()) {
        locked.sync()?;
        locked.withdraw(&folder)?;
        clear(&folder, &files_of_harnesses(app, locked.task()))?;
    }
    if kind_at(&folder)?.is_some() {
        with_context(app, locked, "", |context| context.set_aside(&folder))?;
    }
    Ok(true)
}

/// Removes the requests and these files of harnesses from a folder, then the folder, if no file is left in it. A file that is not
/// reached without a link stays.
fn clear(folder: &Path, files: &[String]) -> Result<()> {
    let requests = folder.join(REQUEST_FOLDER);
    if kind_at(&requests)?.is_some_and(|kind| kind.is_dir()) {
        files::remove_folder(&requests).map_err(|cause| Error::io("remove", &requests, &cause))?;
    }
    let is_inside = |file: &Path| file.components().all(|part| matches!(part, Component::Normal(_)));
    for file in files.iter().map(Path::new).filter(|file| is_inside(file)) {
        nofollow::remove(&folder.join(file)).unwrap_or_default();
    }
    remove_folders(folder);
    Ok(())
}

/// Removes a folder in which there are only folders. Files stay, and so do folders that the system cannot remove: the caller sets aside
/// everything that is still there.
fn remove_folders(folder: &Path) {
    let inside = entries(folder).unwrap_or_default();
    for entry in inside.iter().filter(|it| it.file_type().is_ok_and(|kind| kind.is_dir())) {
        remove_folders(&entry.path());
    }
    fs::remove_dir(folder).unwrap_or_default();
}

/// Frees the slot of a task that holds no worktree any more.
pub fn give_back(app: &App, task: &WorkItem) -> Result<()> {
    if task.owned.workspace.is_none() && pool::has_slot_of(&app.home, &task.id)? {
        Pool::lock(&app.home)?.unbind(&task.id)?;
    }
    Ok(())
}

/// True if this task, which has no worktree, could get one now.
pub fn is_free(app: &App, project: &str, task: &str) -> Result<bool> {
    let project = projects::get(&app.home, project)?;
    let pool = Pool::lock(&app.home)?;
    Ok(pool::check_room(&app.home, pool.slots(), (&project.name, project.pool_size), task).is_ok())
}

/// Clears the place of `TASK.md` for the next task. A link there is from a former version, a file may be the project's, and
/// anything else, such as a folder, moves elsewhere.
fn clear_place(worktree: &Path, context: &mut BackupContext<'_>) -> Result<()> {
    let place = worktree.join(TASK_FILE);
    match kind_at(&place)? {
        Some(kind) if kind.is_symlink() => atomic::remove(&place),
        Some(kind) if !kind.is_file() => context.set_aside(&place),
        Some(_) | None => Ok(()),
    }
}

/// Moves a `TASK.md` elsewhere that an agent of a mission has written, unless it is the project's.
fn set_task_file_aside(git: &Git, worktree: &Path, context: &mut BackupContext<'_>) -> Result<()> {
    let place = worktree.join(TASK_FILE);
    if kind_at(&place)?.is_some() && !git.is_tracked(worktree, TASK_FILE)? {
        return context.set_aside(&place);
    }
    Ok(())
}

fn kind_at(place: &Path) -> Result<Option<FileType>> {
    match place.symlink_metadata() {
        Ok(found) => Ok(Some(found.file_type())),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(Error::io("look at", place, &cause)),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::PathBuf;

    use super::*;
    use crate::drive::git::{Backup, SavedWork};
    use crate::hooks::saved::note;
    use crate::machines::Machines;
    use crate::store::{Home, Record, tests};
    use orange_system::exec::ProgramCall;

    /// A home with one project of one worktree, whose repository is real.
    pub(crate) struct WorkspaceLab {
        _folder: tempfile::TempDir,
        pub(crate) app: App,
        repo: PathBuf,
    }

    impl WorkspaceLab {
        /// A project with this `TASK.md` of its own, if it has one.
        pub(crate) fn new(own: Option<&str>) -> WorkspaceLab {
            let (folder, home) = tests::home();
            let repo = folder.path().join("coffee");
            fs::create_dir(&repo).unwrap();
            let lab = WorkspaceLab {
                app: App::for_tests(Machines::only(&[]), home, folder.path()),
                repo: repo.clone(),
                _folder: folder,
            };
            lab.git(&["init", "--quiet", "--initial-branch=main"]);
            for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.org")] {
                lab.git(&["config", key, value]);
            }
            fs::write(repo.join("readme"), "first\n").unwrap();
            own.map_or(Ok(()), |own| fs::write(repo.join(TASK_FILE), own)).unwrap();
            lab.git(&["add", "--all"]);
            lab.git(&["commit", "--quiet", "--message", "first"]);
            let project = Project {
                name: "coffee".to_owned(),
                path: repo,
                default_branch: "main".to_owned(),
                pool_size: 1,
                ..Project::default()
            };
            projects::add(lab.home(), project).unwrap();
            lab
        }

        pub(crate) fn home(&self) -> &Home {
            &self.app.home
        }

        fn git(&self, args: &[&str]) -> String {
            ProgramCall::new("git").folder(&self.repo).args(args).text().unwrap()
        }

        pub(crate) fn git_in(&self, folder: &Path, args: &[&str]) -> String {
            ProgramCall::new("git").folder(folder).args(args).text().unwrap()
        }

        pub(crate) fn repo(&self) -> &Path {
            &self.repo
        }

        pub(crate) fn worktree(&self) -> PathBuf {
            self.home().workspace("coffee--1")
        }

        pub(crate) fn acquire(&self, locked: &mut LockedWorkItem) -> Result<()> {
            drop(preflight(&self.app, locked.task())?);
            let set = acquire(&self.app, locked)?;
            locked.append(Event::Unknown, set)
        }

        /// Releases the worktree, and returns the folders for what was set aside.
        pub(crate) fn release(&self, locked: &mut LockedWorkItem) -> Vec<PathBuf> {
            let set = release(&self.app, locked).unwrap();
            locked.append(Event::Unknown, set).unwrap();
            give_back(&self.app, locked.task()).unwrap();
            let journal = crate::store::work_item::read_journal(locked.dir()).unwrap();
            let aside = |event| {
                if let Event::WorkSetAside { folder } = event { Some(PathBuf::from(folder)) } else { None }
            };
            journal.records.into_iter().filter_map(|record| aside(record.event)).collect()
        }
    }

    #[test]
    fn a_mission_runs_beside_a_task_md_of_the_project() {
        let lab = WorkspaceLab::new(Some("the project's\n"));
        let mut locked = tests::task(lab.home(), "fix");
        assert_eq!(lab.acquire(&mut locked).unwrap_err().kind, ErrorKind::Refused);
        drop(locked);
        let mut locked = tests::mission(lab.home(), "brew");
        lab.acquire(&mut locked).unwrap();
        let own = lab.worktree().join(TASK_FILE);
        assert_eq!(fs::read_to_string(&own).unwrap(), "the project's\n");
        fs::write(&own, "changed\n").unwrap();
        assert_eq!(lab.release(&mut locked), Vec::<PathBuf>::new());
        assert_eq!(fs::read_to_string(&own).unwrap(), "the project's\n");
        let backup = format!("refs/orange/backup/{}/1:{TASK_FILE}", locked.dir().id);
        assert_eq!(lab.git(&["show", &backup]), "changed");
    }

    #[test]
    fn a_task_md_that_an_agent_of_a_mission_wrote_is_set_aside() {
        let lab = WorkspaceLab::new(None);
        // A task before has excluded the name.
        Git::at(&lab.repo).exclude(TASK_FILE).unwrap();
        let mut locked = tests::mission(lab.home(), "brew");
        lab.acquire(&mut locked).unwrap();
        let own = lab.worktree().join(TASK_FILE);
        fs::write(&own, "a plan\n").unwrap();
        let [aside] = &lab.release(&mut locked)[..] else { panic!("it is gone") };
        assert_eq!(fs::read_to_string(aside).unwrap(), "a plan\n");
        assert!(!own.exists());
        drop(locked);
        let mut locked = tests::task(lab.home(), "fix");
        lab.acquire(&mut locked).unwrap();
        drop(locked);
        assert!(fs::read_to_string(&own).unwrap().contains("Too sour."));
    }

    #[test]
    fn files_of_any_harness_go_with_the_mission() {
        let lab = WorkspaceLab::new(None);
        let text = "[aider]\nbinary = 'aider'\nfull = ['{prompt}']\nreduced = ['{prompt}']\nworkspace_files = ['.aider*']\n";
        fs::write(lab.home().harnesses_toml(), text).unwrap();
        assert!(lab.app.harnesses().is_ok());
        let mut locked = tests::mission(lab.home(), "brew");
        lab.acquire(&mut locked).unwrap();
        let left = [".aider.log", ".claude/settings.local.json"].map(|file| lab.worktree().join(file));
        fs::create_dir(lab.worktree().join(".claude")).unwrap();
        for file in &left {
            fs::write(file, "{}").unwrap();
        }
        lab.release(&mut locked);
        assert!(!left.iter().any(|file| file.exists()));
        assert_eq!(locked.history().transition.kept, BTreeSet::new());
    }

    #[test]
    fn a_backup_of_a_mission_is_journaled_once() {
        let lab = WorkspaceLab::new(None);
        let mut locked = tests::mission(lab.home(), "brew");
        lab.acquire(&mut locked).unwrap();
        fs::write(lab.worktree().join("idea"), "half\n").unwrap();
        let saved =
            SavedWork::Commit(Backup { reference: "refs/orange/x".to_owned(), commit: "c".to_owned() });
        for _ in 0..2 {
            note(&mut locked, saved.clone()).unwrap();
        }
        assert_eq!(locked.history().transition.kept.len(), 1);
        lab.release(&mut locked);
        let journal = crate::store::work_item::read_journal(locked.dir()).unwrap();
        let is_backup = |record: &&Record| matches!(record.event, Event::WorkBackedUp { .. });
        assert_eq!(journal.records.iter().filter(is_backup).count(), 2);
    }

    #[test]
    fn a_mission_and_a_task_never_share_a_worktree_or_a_branch() {
        let lab = WorkspaceLab::new(None);
        let mut locked = tests::mission(lab.home(), "brew");
        lab.acquire(&mut locked).unwrap();
        let holder = locked.dir().id.clone();
        drop(locked);
        fs::remove_file(lab.home().pool_json()).unwrap();
        let mut locked = tests::task(lab.home(), "fix");
        let error = lab.acquire(&mut locked).unwrap_err();
        assert!(error.message.contains(&format!("coffee--1 by {holder} (brew)")), "{}", error.message);
        drop(locked);
        let mut locked = tests::task(lab.home(), "brew");
        let error = lab.acquire(&mut locked).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Refused);
        assert!(error.message.contains("brew"), "{}", error.message);
    }
}
