//! Checks of the home: permissions, space, locks, and leftovers of dead processes.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::io::Errno;

use crate::doctor::{CheckData, CheckFinding, FindingLevel, or_fine};
use crate::flow::garbage::{self, LeftoverSelection};
use crate::store::lock::LockHolder;
use crate::store::{Home, WorkItemKind, list, lock};
use crate::{Error, Result};
use orange_api::Unfit;
use orange_system::files::{bytes_in, disk_space, size};
use orange_system::many::in_order;
use orange_system::nofollow;
use orange_system::process::Process;

/// With less free space, nothing works reliably.
const TOO_LITTLE: u64 = 100 << 20;
/// With less free space, the next worktree may not fit.
const LITTLE: u64 = 1 << 30;

pub(super) fn home(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let root = seen.app.home.root();
    let found = match fs::metadata(root) {
        Ok(found) => found,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
            return Ok(vec![CheckFinding::fine(format!(
                "{} is made by the first command that needs it",
                root.display()
            ))]);
        }
        Err(cause) => return Err(Error::io("look at", root, &cause)),
    };
    let mut findings = Vec::new();
    let shown = root.display();
    if let Err(cause) = access(root, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK) {
        let finding = CheckFinding::new(FindingLevel::Broken, format!("{shown} cannot be written: {cause}"));
        findings.push(finding.remedy(match cause {
            Errno::ROFS => {
                "mount its file system for writing, or set ORANGE_HOME to a folder on another one".to_owned()
            }
            _ => format!("make it yours: `chown -R $USER {shown}`"),
        }));
    }
    if found.permissions().mode() & 0o077 != 0 {
        let finding = CheckFinding::new(
            FindingLevel::Warning,
            format!("others can read {shown}, and so prompts and tasks"),
        );
        findings.push(finding.remedy(format!("`chmod 700 {shown}`")));
    }
    // A folder can be locked, too, which needs no file.
    if let Ok(folder) = File::open(root)
        && let Err(TryLockError::Error(cause)) = folder.try_lock_shared()
    {
        findings.push(CheckFinding::new(
            FindingLevel::Broken,
            format!("the file system of {shown} has no locks: {cause}"),
        ));
    }
    let home = &seen.app.home;
    findings.extend([home.log_file(), home.former_log()].iter().filter_map(|log| in_the_place_of(log)));
    Ok(or_fine(findings, format!("{shown}")))
}

/// Looks for folders that the subsystem for Linux takes from a disk of Windows, which it mounts at `/mnt/c` and the like.
pub(super) fn windows(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    if seen.app.around()?.variable("WSL_DISTRO_NAME").is_none() {
        return Ok(vec![CheckFinding::fine("this is not the subsystem for Linux of Windows")]);
    }
    let projects = seen.projects()?.iter().map(|project| project.path.as_path());
    let there = [seen.app.home.root()].into_iter().chain(projects).filter(|folder| is_of_windows(folder));
    let findings = there.map(|folder| {
        let message = format!("{} is on a disk of Windows", folder.display());
        CheckFinding::new(FindingLevel::Warning, message)
    });
    Ok(or_fine(findings.collect(), "nothing is on a disk of Windows"))
}

fn is_of_windows(folder: &Path) -> bool {
    let inside = folder.strip_prefix("/mnt").ok().and_then(|inside| inside.iter().next());
    inside.is_some_and(|drive| drive.len() == 1)
}

/// The finding about something at a file's path that is not a file, and so never opened.
fn in_the_place_of(file: &Path) -> Option<CheckFinding> {
    let unfit = nofollow::unfit_for_file(file)?;
    Some(CheckFinding::of(FindingLevel::Broken, &Error::io("open", file, &unfit.into())))
}

pub(super) fn space(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let root = seen.app.home.root();
    let Some(there) = root.ancestors().find(|folder| folder.is_dir()) else { return Ok(Vec::new()) };
    let disk = disk_space(there)?;
    let message = format!("{} free for {}", size(disk.free), root.display());
    Ok(vec![match disk.free {
        _ if !disk.takes_files => CheckFinding::new(FindingLevel::Broken, "the disk takes no more files"),
        ..TOO_LITTLE => CheckFinding::new(FindingLevel::Broken, message),
        TOO_LITTLE..LITTLE => CheckFinding::new(FindingLevel::Warning, message),
        LITTLE.. => CheckFinding::fine(message),
    }])
}

/// A held lock is not a fault, but a lock that is held for long may belong to a process that hangs. Something else at the path of a
/// lock file is a fault.
pub(super) fn locks(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let home = &seen.app.home;
    let root = home.root();
    let mut files =
        vec![root.join(".projects.lock"), root.join(".answers.lock"), home.workspaces().join(".pool.lock")];
    for project in seen.projects().unwrap_or_default() {
        let folder = home.tasks().join(&project.name);
        files.extend([".lock", ".merge.lock", ".owed/.lock"].map(|name| folder.join(name)));
    }
    for dir in seen.dirs()? {
        files.extend(dir.path.parent().map(|project| project.join(".lock")));
        files.push(dir.lock_file());
    }
    files.sort_unstable();
    files.dedup();
    let (mut replaced, mut held) = (Vec::new(), Vec::new());
    let holders = in_order(&files, &|file, _| lock::holder(file, home.patience()));
    for (file, holder) in files.iter().zip(holders) {
        match holder {
            Ok(holder) => held.extend(holder.map(|holder| (file, holder))),
            Err(cause) => {
                let finding = || CheckFinding::of(FindingLevel::Broken, &Error::io("open", file, &cause));
                replaced.extend(Unfit::of(&cause).map(|_| finding()));
            }
        }
    }
    // If the clock was set forwards, the signature may be older than the holder.
    let is_old = |holder: &LockHolder| {
        let age = Process::alive(holder.pid).ok().flatten().and_then(Process::age);
        age.is_none_or(|age| age >= home.patience())
    };
    held.retain(|(_, holder)| is_old(holder));
    let describe = |(file, holder): (&PathBuf, LockHolder)| {
        CheckFinding::new(
            FindingLevel::Warning,
            format!("{} is held by {}", file.display(), holder.description),
        )
    };
    Ok(or_fine(replaced.into_iter().chain(held.into_iter().map(describe)).collect(), "none is held for long"))
}

pub(super) fn leftovers(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let left = seen.leftovers()?;
    let describe = |file: &PathBuf| {
        let shown = file.display();
        CheckFinding::new(FindingLevel::Warning, format!("{shown} belongs to a dead process"))
            .remedy(format!("`rm '{shown}'`"))
    };
    Ok(or_fine(left.iter().map(describe).collect(), "none"))
}

/// Garbage that `orange gc` would remove.
pub(super) fn garbage(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let found =
        garbage::find_with(seen.app, &LeftoverSelection::default(), || seen.leftovers().map(<[_]>::to_vec))?;
    let message = match garbage::summary(&found) {
        None => "nothing that is old enough and kept elsewhere".to_owned(),
        Some(summary) => format!("{summary}; `orange gc` names them, `orange gc --yes` removes them"),
    };
    Ok(vec![CheckFinding::fine(message)])
}

pub(super) fn trash(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let home: &Home = &seen.app.home;
    let deleted = list::deleted(home, &WorkItemKind::ALL)?.len();
    let bytes = bytes_in(&home.trash())?;
    Ok(vec![CheckFinding::fine(format!("{deleted} deleted tasks and missions, {}", size(bytes)))])
}
