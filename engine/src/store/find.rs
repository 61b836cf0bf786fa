//! Finds a task or a mission by id, by the beginning of an id, by branch, or by the current folder.

use std::path::Path;

use crate::store::list::{self, IsWanted, NamedTask, WorkItemEntry};
use crate::store::{Home, WorkItemDir, WorkItemKind, id, pool, suggest};
use crate::{Error, ErrorKind, Result};
use orange_system::files::real;

/// The task or mission of this name, in one project or in all: an id, else a branch, else the beginning of exactly one id. If
/// several have the branch, the unfinished one is meant; if several could be meant, the `usage` error lists them.
pub fn named(
    home: &Home,
    kind: WorkItemKind,
    name: &str,
    project: Option<&str>,
    is_over: IsWanted<'_>,
) -> Result<WorkItemDir> {
    // Agents use the id, which needs no other task to be read.
    if let [dir] = &list::with_id(home, &[kind], project, name)?[..] {
        return Ok(dir.clone());
    }
    let error = match of_name(home, &[kind], name, project, is_over) {
        Err(error) if error.kind == ErrorKind::NotFound => error,
        found => return found,
    };
    let others = list::with_id(home, &WorkItemKind::ALL, project, name)?;
    Err(others.first().map_or(error, wrong_kind))
}

/// The task or mission of this name, as [`named`] finds one.
pub fn either(home: &Home, name: &str, is_over: IsWanted<'_>) -> Result<WorkItemDir> {
    if let [dir] = &list::with_id(home, &WorkItemKind::ALL, None, name)?[..] {
        return Ok(dir.clone());
    }
    of_name(home, &WorkItemKind::ALL, name, None, is_over)
}

/// The one with this branch, or whose id begins so. A branch that no list has may have come by hand, so the texts say that it is none.
fn of_name(
    home: &Home,
    kinds: &[WorkItemKind],
    name: &str,
    project: Option<&str>,
    is_over: IsWanted<'_>,
) -> Result<WorkItemDir> {
    let kind = if let [kind] = kinds { *kind } else { WorkItemKind::Task };
    let is_meant = |id: &str, branch: &str| branch == name || id.starts_with(name);
    match among(kind, &list::branches(home, kinds, project, is_over, &is_meant)?, name, is_over) {
        Err(error) if error.kind == ErrorKind::NotFound => {
            among(kind, &list::checked_branches(home, kinds, project)?, name, is_over)
        }
        found => found,
    }
}

/// The task or mission with exactly this id: the engine's own processes never use a prefix or a branch.
pub fn by_id(home: &Home, id: &str) -> Result<WorkItemDir> {
    list::with_id(home, &WorkItemKind::ALL, None, id)?
        .pop()
        .ok_or_else(|| unknown(WorkItemKind::Task, id, &[]))
}

/// The deleted task or mission of this name.
pub fn deleted(home: &Home, kind: WorkItemKind, name: &str) -> Result<WorkItemDir> {
    let dirs = list::deleted(home, &[kind])?;
    if let [dir] = &dirs.iter().filter(|dir| dir.id == name).collect::<Vec<_>>()[..] {
        return Ok((*dir).clone());
    }
    among(kind, &list::branches_of(dirs), name, &|_, _| true)
}

/// The error for a command about tasks that got a mission, or about missions that got a task.
pub fn wrong_kind(dir: &WorkItemDir) -> Error {
    let (word, id) = (dir.kind.word(), &dir.id);
    Error::new(ErrorKind::NotFound, format!("{id} is a {word}")).help(format!("`orange {word} show {id}`"))
}

fn among(kind: WorkItemKind, all: &[NamedTask], name: &str, is_over: IsWanted<'_>) -> Result<WorkItemDir> {
    let of_branch = of_branch(all, name, is_over);
    let of_id = || all.iter().filter(|named| id::is_prefix(name) && named.dir.id.starts_with(name));
    let candidates = if of_branch.is_empty() { of_id().map(NamedTask::read).collect() } else { of_branch };
    match &candidates[..] {
        [] => Err(unknown(kind, name, all)),
        [one] => Ok(one.dir.clone()),
        _ => Err(ambiguous(kind, name, &candidates)),
    }
}

/// The task or mission that holds the worktree of this folder; `None` outside all worktrees, and in a free one.
pub fn at(home: &Home, folder: &Path) -> Result<Option<WorkItemDir>> {
    let folder = real(folder);
    let Ok(inside) = folder.strip_prefix(real(&home.workspaces())) else { return Ok(None) };
    let Some(name) = inside.iter().next().and_then(|name| name.to_str()) else { return Ok(None) };
    pool::holder(home, name)
}

/// The tasks with this branch; finished ones only if all are finished.
fn of_branch(all: &[NamedTask], branch: &str, is_over: IsWanted<'_>) -> Vec<WorkItemEntry> {
    let may_have_it = all.iter().filter(|named| named.may_have(|own| own == branch));
    let with_branch = may_have_it.map(NamedTask::read).filter(|it| it.branch().as_deref() == Some(branch));
    let (over, live): (Vec<_>, Vec<_>) =
        with_branch.partition(|it| it.task.as_ref().is_ok_and(|task| is_over(task.kind, &task.owned)));
    if live.is_empty() { over } else { live }
}

fn unknown(kind: WorkItemKind, name: &str, all: &[NamedTask]) -> Error {
    let word = kind.word();
    let branches: Vec<_> = all.iter().filter_map(NamedTask::branch).collect();
    let ids = all.iter().map(|named| named.dir.id.as_str());
    let help = match suggest::nearest(name, branches.iter().map(|branch| &**branch).chain(ids)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => kind.list_command(" with its id and branch"),
    };
    Error::new(ErrorKind::NotFound, format!("there is no {word} `{name}`")).help(help)
}

fn ambiguous(kind: WorkItemKind, name: &str, candidates: &[WorkItemEntry]) -> Error {
    const SHOWN: usize = 10;
    let describe = |listed: &WorkItemEntry| match &listed.task {
        Ok(task) => format!("{} ({}, {}, {})", task.id, task.project, task.branch, task.status()),
        Err(_) => format!("{} ({}, unreadable)", listed.dir.id, listed.dir.project),
    };
    let mut shown: Vec<String> = candidates.iter().take(SHOWN).map(describe).collect();
    if candidates.len() > SHOWN {
        shown.push(format!("and {} more", candidates.len() - SHOWN));
    }
    let (count, word) = (candidates.len(), kind.word());
    Error::new(ErrorKind::Usage, format!("`{name}` could be {count} {word}s: {}", shown.join(", ")))
        .help("name one by its id")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::{draft, home, task};
    use crate::store::{Event, LockedWorkItem, Owned, Pool, Set, create};

    fn is_over(_: WorkItemKind, owned: &Owned) -> bool {
        owned.status == "done"
    }

    #[test]
    fn tasks_are_found_by_id_prefix_and_branch() {
        let (_folder, home) = home();
        let fix = task(&home, "fix").dir().clone();
        let other = task(&home, "fix-2").dir().clone();
        let find = |name: &str| named(&home, WorkItemKind::Task, name, None, &is_over);
        assert_eq!(find(&fix.id).unwrap(), fix);
        assert_eq!(find("fix").unwrap(), fix);
        assert_eq!(find("fix-2").unwrap(), other);
        assert_eq!(find(&other.id[..12]).unwrap(), other);
        assert_eq!(
            named(&home, WorkItemKind::Task, "fix", Some("tea"), &is_over).unwrap_err().kind,
            ErrorKind::NotFound
        );
        let error = find("fixx-2").unwrap_err();
        assert_eq!((error.kind, error.help.as_str()), (ErrorKind::NotFound, "did you mean `fix-2`?"));
        assert_eq!(find("").unwrap_err().kind, ErrorKind::NotFound);
        assert_eq!(find("../coffee").unwrap_err().kind, ErrorKind::NotFound);
    }

    #[test]
    fn an_id_is_all_that_a_name_can_lead_to() {
        let (_folder, home) = home();
        let fix = task(&home, "fix").dir().clone();
        let with_id = |id: &str| list::with_id(&home, &[WorkItemKind::Task], None, id).unwrap();
        assert_eq!(with_id(&fix.id), std::slice::from_ref(&fix));
        for other in ["", ".", "..", ".lock", "fix", &fix.id[..12], "../coffee", &format!("{}/..", fix.id)] {
            assert_eq!(with_id(other), [], "{other}");
        }
        // Two projects that have a task of one id: nobody can say which is meant.
        std::fs::create_dir_all(home.task("tea", &fix.id).path).unwrap();
        assert_eq!(
            named(&home, WorkItemKind::Task, &fix.id, None, &is_over).unwrap_err().kind,
            ErrorKind::Usage
        );
        assert_eq!(named(&home, WorkItemKind::Task, &fix.id, Some("coffee"), &is_over).unwrap(), fix);
    }

    #[test]
    fn programs_name_a_task_by_its_id_alone() {
        let (_folder, home) = home();
        let fix = task(&home, "fix").dir().clone();
        assert_eq!(by_id(&home, &fix.id).unwrap(), fix);
        for other in ["fix", &fix.id[..12], ""] {
            assert_eq!(by_id(&home, other).unwrap_err().kind, ErrorKind::NotFound, "{other}");
        }
    }

    #[test]
    fn of_several_tasks_the_living_one_is_meant() {
        let (_folder, home) = home();
        let first = task(&home, "fix").dir().clone();
        let second = task(&home, "fix").dir().clone();
        let error = named(&home, WorkItemKind::Task, "fix", None, &is_over).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage);
        assert!(error.message.contains(&format!("{} (coffee, fix, pending)", first.id)), "{}", error.message);
        LockedWorkItem::lock(&home, &first)
            .unwrap()
            .append(Event::Unknown, Set::new().status("done"))
            .unwrap();
        assert_eq!(named(&home, WorkItemKind::Task, "fix", None, &is_over).unwrap(), second);
    }

    #[test]
    fn a_task_that_cannot_be_read_is_found_and_keeps_its_branch() {
        let (_folder, home) = home();
        let broken = task(&home, "fix").dir().clone();
        std::fs::write(broken.task_md(), "").unwrap();
        assert_eq!(named(&home, WorkItemKind::Task, "fix", None, &is_over).unwrap(), broken);
        assert_eq!(
            named(&home, WorkItemKind::Task, "fixx", None, &is_over).unwrap_err().help,
            "did you mean `fix`?"
        );
        let error = create(&home, &draft("fix"), |_| Ok(())).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Corrupt);
        assert!(error.message.contains("TASK.md"), "{}", error.message);
    }

    #[test]
    fn a_task_without_a_journal_keeps_the_branch_of_its_file() {
        let (_folder, home) = home();
        let broken = task(&home, "fix").dir().clone();
        std::fs::remove_file(broken.history()).unwrap();
        std::fs::create_dir(broken.history()).unwrap();
        assert_eq!(named(&home, WorkItemKind::Task, "fix", None, &is_over).unwrap(), broken);
        let error = create(&home, &draft("fix"), |_| Ok(())).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Corrupt);
        assert!(error.message.contains("history.jsonl"), "{}", error.message);
    }

    #[test]
    fn a_task_is_found_from_its_workspace() {
        let (folder, home) = home();
        let dir = task(&home, "fix").dir().clone();
        Pool::lock(&home).unwrap().bind("coffee", 1, &dir.id, crate::store::tests::usable).unwrap();
        let inside = home.workspace("coffee--1").join("src");
        std::fs::create_dir_all(&inside).unwrap();
        assert_eq!(at(&home, &inside).unwrap(), Some(dir));
        assert_eq!(at(&home, folder.path()).unwrap(), None);
        assert_eq!(at(&home, &home.workspaces()).unwrap(), None);
    }
}
