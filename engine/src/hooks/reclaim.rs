//! Reclaims the worktree of a task that waits for a person for another task, and restores its work later.

use crate::app::App;
use crate::drive::git::Git;
use crate::hooks::workspace;
use crate::store::{Event, LockedWorkItem, Set, WorkItem, WorkItemHistory};
use crate::{Error, ErrorKind, Result};
use orange_system::fault;

/// Reclaims the worktree, after a backup of everything in it.
///
/// # Errors
/// Those of a release. Unless the worktree was changed, the task keeps it then.
pub fn begin(app: &App, locked: &mut LockedWorkItem, head: &str) -> Result<()> {
    let Some(workspace) = locked.task().worktree().map(ToString::to_string) else { return Ok(()) };
    fault::step("reclaim", "the worktree");
    let head = head.to_owned();
    locked.append(Event::WorktreeReclaiming { workspace, head }, Set::new())?;
    finish(app, locked)
}

/// True if a process has begun to reclaim or restore the worktree of a task, and has not finished. A task whose worktree was
/// reclaimed and that still has a slot of the pool keeps others from that worktree.
pub fn is_unfinished(task: &WorkItem, history: &WorkItemHistory, has_slot: bool) -> bool {
    let is_half_reclaimed = history.worktree.reclaimed.is_some() && (task.worktree().is_some() || has_slot);
    history.worktree.reclaiming.is_some() || is_half_reclaimed
}

/// Goes on with a reclaim or restoration that a kill has interrupted.
pub fn finish(app: &App, locked: &mut LockedWorkItem) -> Result<()> {
    if let Some(reclaiming) = locked.history().worktree.reclaiming.clone() {
        let set = match workspace::release(app, locked) {
            Ok(set) => set,
            Err(error) => return keep(app, locked, reclaiming.workspace).and(Err(error)),
        };
        fault::step("leave", "the worktree");
        locked.append(Event::WorktreeReclaimed { workspace: reclaiming.workspace }, set)?;
    }
    if locked.history().worktree.reclaimed.is_none() {
        return Ok(());
    }
    match locked.task().worktree() {
        None => workspace::give_back(app, locked.task()),
        // It fails as a whole: the worktree stays reclaimed.
        Some(_) => workspace::acquire(app, locked)
            .map(drop)
            .or_else(|error| locked.call_attention(&error.one_line())),
    }
}

/// Keeps a worktree that could not be released, if the release has changed nothing in it.
fn keep(app: &App, locked: &mut LockedWorkItem, workspace: String) -> Result<()> {
    let worktree = app.home.workspace(&workspace);
    let git = Git::at(&app.project_of(locked.task())?.path);
    let is_kept =
        locked.history().worktree.reclaiming.as_ref().is_some_and(|reclaim| !reclaim.kept.is_empty());
    let is_on_branch = git.current_branch(&worktree)?.as_ref() == Some(&locked.task().branch);
    if is_kept || !is_on_branch {
        return Ok(());
    }
    locked.append(Event::WorktreeRestored { workspace }, Set::new())
}

/// Restores the reclaimed worktree of the task.
///
/// # Errors
/// `refused` while no worktree is free: the task waits for one then. Those of a worktree that cannot be had or prepared.
pub fn restore(app: &App, mut locked: LockedWorkItem) -> Result<LockedWorkItem> {
    let Some(reclaimed) = locked.history().worktree.reclaimed.clone().filter(|_| !app.is_over(locked.task()))
    else {
        return Ok(locked);
    };
    let (project, id) = (locked.task().project.clone(), locked.dir().id.clone());
    if !workspace::is_free(app, &project, &id)? {
        let message = format!(
            "the worktree of task {id} was reclaimed for another task; the task waits for a free worktree of {project}"
        );
        if !reclaimed.is_requested {
            let actor = app.caller.actor().into();
            locked.append(Event::WorktreeRequested { actor }, Set::new())?;
            locked.call_attention(&message)?;
        }
        return Err(Error::new(ErrorKind::Refused, message)
            .help("`orange monitor` restores its work in the next one that is free: ask again then"));
    }
    let room = workspace::preflight(app, locked.task())?;
    room.map_or(Ok(()), workspace::WorktreeRoom::take)?;
    workspace::acquire(app, &mut locked)?;
    if reclaimed.is_requested {
        locked.clear_attention()?;
    }
    locked.sync()?;
    Ok(locked)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::{Path, PathBuf};

    use orange_testkit::Random;

    use super::*;
    use crate::hooks::workspace::tests::WorkspaceLab;
    use crate::store::{WorkItemDir, tests};

    /// Every file below a folder but git's: its bytes or the target of a link, and whether it can be executed.
    type FolderFiles = BTreeMap<PathBuf, (Vec<u8>, bool)>;

    fn files(top: &Path) -> FolderFiles {
        let (mut found, mut folders) = (FolderFiles::new(), vec![top.to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap().map(std::result::Result::unwrap) {
                let (path, kind) = (entry.path(), entry.file_type().unwrap());
                let name = path.strip_prefix(top).unwrap().to_owned();
                if [".git", "TASK.md"].iter().any(|own| name == Path::new(own)) {
                    continue;
                }
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_symlink() {
                    let target = fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes();
                    found.insert(name, (target, false));
                } else {
                    let is_executable = entry.metadata().unwrap().permissions().mode() & 0o100 != 0;
                    found.insert(name, (fs::read(&path).unwrap(), is_executable));
                }
            }
        }
        found
    }

    fn bytes(random: &mut Random) -> Vec<u8> {
        let length = *random.pick(&[0, 1, 7, 300]);
        (0..length).map(|_| *random.pick(&[b'\r', b'\n', 0, 255, b'a', b' '])).collect()
    }

    const NAMES: [&str; 10] =
        ["readme", "a", "a b", "-x", "ü", "src/one", "src/deep/two", "src", "line\nend", "\"quoted\""];

    /// Changes a worktree as a careless agent might: files, links and folders in each other's place, staged or committed or not.
    fn stir(lab: &WorkspaceLab, worktree: &Path, random: &mut Random) {
        for _ in 0..random.below(12) {
            let place = worktree.join(random.pick(&NAMES));
            if random.below(3) == 0 || place.is_dir() {
                drop(fs::remove_dir_all(&place).or_else(|_| fs::remove_file(&place)));
            }
            let blocked: Vec<_> = place.ancestors().skip(1).take_while(|it| *it != worktree).collect();
            for above in blocked.iter().filter(|it| it.symlink_metadata().is_ok_and(|found| !found.is_dir()))
            {
                fs::remove_file(above).unwrap();
            }
            drop(fs::create_dir_all(place.parent().unwrap()));
            match random.below(5) {
                0 => drop(fs::remove_file(&place)),
                1 => {
                    drop(fs::remove_file(&place));
                    symlink(random.pick(&["readme", "nowhere", "/etc/passwd"]), &place).unwrap();
                }
                kind if !place.is_symlink() => {
                    fs::write(&place, bytes(random)).unwrap();
                    let mode = if kind == 2 { 0o755 } else { 0o644 };
                    fs::set_permissions(&place, fs::Permissions::from_mode(mode)).unwrap();
                }
                _ => {}
            }
            match random.below(6) {
                0 => drop(lab.git_in(worktree, &["add", "--all"])),
                1 => {
                    lab.git_in(worktree, &["add", "--all"]);
                    lab.git_in(worktree, &["commit", "--quiet", "--allow-empty", "--message", "some"]);
                }
                _ => {}
            }
        }
    }

    fn lock(lab: &WorkspaceLab, dir: &WorkItemDir) -> LockedWorkItem {
        LockedWorkItem::lock(lab.home(), dir).unwrap()
    }

    fn head(lab: &WorkspaceLab) -> String {
        lab.git_in(&lab.worktree(), &["rev-parse", "HEAD"])
    }

    /// Another task uses the worktree meanwhile, and leaves something.
    fn use_by_another(lab: &WorkspaceLab, branch: &str) {
        let mut other = tests::task(lab.home(), branch);
        lab.acquire(&mut other).unwrap();
        fs::write(lab.worktree().join("a"), "another's\n").unwrap();
        fs::write(lab.worktree().join("theirs"), "another's\n").unwrap();
        lab.release(&mut other);
    }

    #[test]
    fn work_is_restored_as_it_was() {
        let mut random = Random::new(7);
        let lab = WorkspaceLab::new(None);
        for round in 0..10 {
            let mut locked = tests::task(lab.home(), &format!("fix-{round}"));
            let dir = locked.dir().clone();
            lab.acquire(&mut locked).unwrap();
            let worktree = lab.worktree();
            for turn in 0..2 {
                stir(&lab, &worktree, &mut random);
                let (before, commit) = (files(&worktree), head(&lab));
                begin(&lab.app, &mut locked, &commit).unwrap();
                assert_eq!(locked.task().worktree(), None);
                drop(locked);
                use_by_another(&lab, &format!("other-{round}-{turn}"));
                locked = restore(&lab.app, lock(&lab, &dir)).unwrap();
                assert_eq!((files(&worktree), head(&lab)), (before, commit), "round {round}, turn {turn}");
                assert_eq!(locked.history().worktree.reclaimed, None);
            }
            lab.release(&mut locked);
        }
    }

    #[test]
    fn a_kill_at_any_step_loses_nothing() {
        let lab = WorkspaceLab::new(None);
        for step in 0..5 {
            let mut locked = tests::task(lab.home(), &format!("fix-{step}"));
            let dir = locked.dir().clone();
            lab.acquire(&mut locked).unwrap();
            let worktree = lab.worktree();
            fs::write(worktree.join("idea"), "half\n").unwrap();
            fs::remove_file(worktree.join("readme")).unwrap();
            let (before, commit) = (files(&worktree), head(&lab));
            let workspace = "coffee--1".to_owned();
            let begun = Event::WorktreeReclaiming { workspace: workspace.clone(), head: commit.clone() };
            if step < 3 {
                locked.append(begun, Set::new()).unwrap();
            }
            match step {
                // Before, and after the release; and before the pool knows.
                0 => {}
                1 => drop(workspace::release(&lab.app, &mut locked).unwrap()),
                2 => {
                    let set = workspace::release(&lab.app, &mut locked).unwrap();
                    locked.append(Event::WorktreeReclaimed { workspace }, set).unwrap();
                }
                // While it is restored: before anything, and when a part of it is there.
                _ => {
                    begin(&lab.app, &mut locked, &commit).unwrap();
                    let room = workspace::preflight(&lab.app, locked.task()).unwrap();
                    room.unwrap().take().unwrap();
                    let set = Set::new().workspace(Some("coffee--1"));
                    locked.append(Event::WorktreeRestoring { workspace }, set).unwrap();
                    if step == 4 {
                        lab.git_in(&worktree, &["switch", "--quiet", &format!("fix-{step}")]);
                        fs::write(worktree.join("idea"), "ha").unwrap();
                    }
                }
            }
            drop(locked);
            let mut locked = lock(&lab, &dir);
            finish(&lab.app, &mut locked).unwrap();
            assert_eq!(locked.task().worktree().is_some(), step >= 3, "step {step}");
            if step < 3 {
                drop(locked);
                use_by_another(&lab, &format!("other-{step}"));
                locked = lock(&lab, &dir);
            }
            locked = restore(&lab.app, locked).unwrap();
            assert_eq!((files(&worktree), head(&lab)), (before, commit), "step {step}");
            lab.release(&mut locked);
        }
    }

    #[test]
    fn a_task_waits_while_no_worktree_is_free() {
        let lab = WorkspaceLab::new(None);
        let mut locked = tests::task(lab.home(), "fix");
        let dir = locked.dir().clone();
        lab.acquire(&mut locked).unwrap();
        fs::write(lab.worktree().join("idea"), "half\n").unwrap();
        let commit = head(&lab);
        begin(&lab.app, &mut locked, &commit).unwrap();
        drop(locked);
        let mut other = tests::task(lab.home(), "other");
        lab.acquire(&mut other).unwrap();
        drop(other);
        for _ in 0..2 {
            let error = restore(&lab.app, lock(&lab, &dir)).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Refused);
            assert!(error.message.contains("waits for a free worktree of coffee"), "{error}");
        }
        let locked = lock(&lab, &dir);
        assert!(locked.history().worktree.reclaimed.as_ref().is_some_and(|reclaim| reclaim.is_requested));
        let wanted = crate::store::work_item::read_journal(&dir).unwrap().records;
        assert_eq!(wanted.iter().filter(|it| matches!(it.event, Event::WorktreeRequested { .. })).count(), 1);
    }

    #[test]
    fn work_that_the_branch_has_changed_is_not_overwritten() {
        let lab = WorkspaceLab::new(None);
        let mut locked = tests::task(lab.home(), "fix");
        let dir = locked.dir().clone();
        lab.acquire(&mut locked).unwrap();
        fs::write(lab.worktree().join("readme"), "mine\n").unwrap();
        let commit = head(&lab);
        begin(&lab.app, &mut locked, &commit).unwrap();
        drop(locked);
        let worktree = lab.worktree();
        lab.git_in(&worktree, &["switch", "--quiet", "fix"]);
        fs::write(worktree.join("readme"), "theirs\n").unwrap();
        lab.git_in(&worktree, &["commit", "--quiet", "--all", "--message", "theirs"]);
        lab.git_in(&worktree, &["switch", "--quiet", "--detach", "main"]);
        let error = restore(&lab.app, lock(&lab, &dir)).unwrap_err();
        assert!(error.message.contains("has changed readme, too"), "{error}");
        let locked = lock(&lab, &dir);
        assert!(locked.history().worktree.reclaimed.is_some() && locked.task().worktree().is_none());
        let backup = &locked.history().worktree.reclaimed.as_ref().unwrap().kept[0];
        assert_eq!(lab.git_in(&worktree, &["show", &format!("{backup}:readme")]), "mine");
    }

    #[test]
    fn a_worktree_that_cannot_be_restored_is_kept() {
        let lab = WorkspaceLab::new(None);
        let mut locked = tests::task(lab.home(), "fix");
        lab.acquire(&mut locked).unwrap();
        let worktree = lab.worktree();
        let why = || Git::at(lab.repo()).why_bound(&worktree, "fix").unwrap();
        fs::write(worktree.join("idea"), "half\n").unwrap();
        assert_eq!(why(), None);
        lab.git_in(&worktree, &["switch", "--quiet", "--detach"]);
        assert!(why().unwrap().contains("not on `fix`"));
        lab.git_in(&worktree, &["switch", "--quiet", "fix"]);
        lab.git_in(&worktree, &["init", "--quiet", "inner"]);
        assert!(why().unwrap().contains("a repository"));
        fs::remove_dir_all(worktree.join("inner")).unwrap();
        lab.git_in(&worktree, &["update-index", "--assume-unchanged", "readme"]);
        assert!(why().unwrap().contains("readme"));
        lab.git_in(&worktree, &["update-index", "--no-assume-unchanged", "readme"]);
        lab.git_in(&worktree, &["bisect", "start"]);
        assert!(why().unwrap().contains("BISECT_LOG") || why().unwrap().contains("not on"));
    }
}
