//! The checks of `orange doctor`: everything that tasks need, and everything that may have been left behind. They change nothing.

mod dialogs;
mod disk;
mod intake;
mod monitor;
mod programs;
mod tasks;
#[cfg(test)]
mod tests;
pub mod wall;
mod worktrees;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::app::App;
use crate::drive::tmux::Pane;
use crate::flow::garbage;
use crate::flow::session::Panes;
use crate::store::index::Idle;
use crate::store::index::fine::FineTasks;
use crate::store::list::{BriefTask, ListedTask, SortedTasks};
use crate::store::pool::{SavedPool, Slot};
use crate::store::projects::{self, Project};
use crate::store::{Owned, WorkItem, WorkItemDir, WorkItemEntry, WorkItemKind, list};
use crate::{Error, Result};

pub struct DoctorCheck {
    pub name: &'static str,
    /// Remedy for its findings, unless a finding has its own.
    pub remedy: &'static str,
    look: fn(&CheckData<'_>) -> Result<Vec<CheckFinding>>,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingLevel {
    /// As it should be.
    Fine,
    /// Work goes on, but a person should look.
    Warning,
    /// Something necessary is missing or broken.
    Broken,
}

/// A finding of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckFinding {
    /// The check's name.
    pub check: &'static str,
    /// Its severity.
    pub level: FindingLevel,
    /// Fact that was found, in words.
    pub message: String,
    /// Remedy; empty if nothing is to be done.
    pub remedy: String,
}

/// Every check, in the order of the answer.
pub const CHECKS: &[DoctorCheck] = &[
    DoctorCheck { name: "tmux", remedy: "install tmux 3.2 or newer", look: programs::tmux },
    DoctorCheck { name: "git", remedy: "install git 2.38 or newer", look: programs::git },
    DoctorCheck { name: "path", remedy: "put the folder of `orange` on PATH", look: programs::path },
    DoctorCheck {
        name: "gh",
        remedy: "install https://cli.github.com and run `gh auth login`, if pull requests are wanted",
        look: programs::gh,
    },
    DoctorCheck {
        name: "glab",
        remedy: "install https://gitlab.com/gitlab-org/cli and run `glab auth login`, if pull requests are wanted",
        look: programs::glab,
    },
    DoctorCheck {
        name: "harnesses",
        remedy: "install it, or give its tasks another harness",
        look: programs::harnesses,
    },
    DoctorCheck {
        name: "dialogs",
        remedy: "`orange setup` shows what agents would ask, and agrees to it",
        look: dialogs::dialogs,
    },
    DoctorCheck { name: "logins", remedy: "log in to the coding agent", look: dialogs::logins },
    DoctorCheck { name: "root", remedy: "run `orange` as another user", look: dialogs::root },
    DoctorCheck { name: "skills", remedy: "`orange install` writes it", look: dialogs::skills },
    DoctorCheck {
        name: "home",
        remedy: "set ORANGE_HOME to a folder of your own on a local disk",
        look: disk::home,
    },
    DoctorCheck {
        name: "windows",
        remedy: "move it into a folder of Linux, such as ~/code: on a disk of Windows, no change is reported, and git is slow",
        look: disk::windows,
    },
    DoctorCheck {
        name: "disk",
        remedy: "free space: `orange gc` names what tasks have left, `orange workspace gc` gives back worktrees",
        look: disk::space,
    },
    DoctorCheck {
        name: "locks",
        remedy: "wait until it is done; if it hangs, end that process: its lock goes with it",
        look: disk::locks,
    },
    DoctorCheck { name: "monitor", remedy: "leave `orange monitor` running", look: monitor::monitor },
    DoctorCheck {
        name: "notifications",
        remedy: "`orange notify test` sends a test message",
        look: monitor::notifications,
    },
    DoctorCheck { name: "leftovers", remedy: "remove them: no process uses them", look: disk::leftovers },
    DoctorCheck { name: "garbage", remedy: "`orange gc` names what could go", look: disk::garbage },
    DoctorCheck { name: "trash", remedy: "remove from it what is not wanted any more", look: disk::trash },
    DoctorCheck {
        name: "projects",
        remedy: "`orange project update NAME --path PATH` links its worktrees to where it is now",
        look: programs::projects,
    },
    DoctorCheck {
        name: "identity",
        remedy: "run `git config --global user.name \"…\"` and `git config --global user.email …`",
        look: programs::identity,
    },
    DoctorCheck {
        name: "walls",
        remedy: "`orange project update --sandbox-level off` starts agents without a wall",
        look: wall::walls,
    },
    DoctorCheck {
        name: "intake",
        remedy: "`orange intake` shows it: look at its text and add the label again, or `orange intake retry NUMBER`",
        look: intake::intake,
    },
    DoctorCheck { name: "tasks", remedy: "mend the file that is named", look: tasks::readable },
    DoctorCheck {
        name: "plans",
        remedy: "restore `plan.json` from a backup, or cancel the mission",
        look: tasks::plans,
    },
    DoctorCheck {
        name: "workflows",
        remedy: "`orange workflow list` shows what there is",
        look: tasks::workflows,
    },
    DoctorCheck {
        name: "journals",
        remedy: "the next command that changes it puts it right",
        look: tasks::journals,
    },
    DoctorCheck {
        name: "transitions",
        remedy: "`orange monitor --once` finishes it",
        look: tasks::transitions,
    },
    DoctorCheck { name: "sessions", remedy: "`orange monitor --once` looks after it", look: tasks::sessions },
    DoctorCheck {
        name: "agents",
        remedy: "`orange task show` says what it waits for, `orange task attach` shows it",
        look: tasks::agents,
    },
    DoctorCheck {
        name: "clock",
        remedy: "set the clock if it is wrong; if it was wrong then, it passes: no order depends on it",
        look: tasks::clock,
    },
    DoctorCheck {
        name: "queue",
        remedy: "`orange monitor --once` makes the starts that are owed",
        look: tasks::queue,
    },
    DoctorCheck {
        name: "pool",
        remedy: "`orange workspace gc` gives back what nobody holds",
        look: worktrees::pool,
    },
    DoctorCheck {
        name: "worktrees",
        remedy: "see what git says there: `git worktree list`",
        look: worktrees::held,
    },
    DoctorCheck {
        name: "git-locks",
        remedy: "remove the lock that is named, if no git is running there",
        look: worktrees::git_locks,
    },
    DoctorCheck {
        name: "backups",
        remedy: "`orange task restore` makes a branch of one; `git update-ref -d` removes it",
        look: worktrees::backups,
    },
];

/// Runs every check; each has at least one finding, if only that all is well.
pub fn examine(app: &App) -> Vec<CheckFinding> {
    let seen = CheckData::of(app);
    CHECKS.iter().flat_map(|check| check.run(&seen)).collect()
}

/// Findings of the checks of these names that ask for something.
pub fn problems(app: &App, names: &[&str]) -> Vec<CheckFinding> {
    let seen = CheckData::of(app);
    let meant = CHECKS.iter().filter(|check| names.contains(&check.name));
    meant.flat_map(|check| check.run(&seen)).filter(|finding| finding.level != FindingLevel::Fine).collect()
}

impl DoctorCheck {
    fn run(&self, seen: &CheckData<'_>) -> Vec<CheckFinding> {
        let mut findings =
            (self.look)(seen).unwrap_or_else(|error| vec![CheckFinding::of(FindingLevel::Broken, &error)]);
        for finding in &mut findings {
            finding.check = self.name;
            if finding.level != FindingLevel::Fine && finding.remedy.is_empty() {
                self.remedy.clone_into(&mut finding.remedy);
            }
        }
        findings
    }
}

impl CheckFinding {
    fn new(level: FindingLevel, message: impl Into<String>) -> CheckFinding {
        CheckFinding { check: "", level, message: message.into(), remedy: String::new() }
    }

    fn fine(message: impl Into<String>) -> CheckFinding {
        CheckFinding::new(FindingLevel::Fine, message)
    }

    fn of(level: FindingLevel, error: &Error) -> CheckFinding {
        CheckFinding { remedy: error.help.clone(), ..CheckFinding::new(level, &error.message) }
    }

    fn remedy(self, remedy: impl Into<String>) -> CheckFinding {
        CheckFinding { remedy: remedy.into(), ..self }
    }
}

/// These findings, or the one that all is well.
fn or_fine(findings: Vec<CheckFinding>, fine: impl Into<String>) -> Vec<CheckFinding> {
    if findings.is_empty() { vec![CheckFinding::fine(fine)] } else { findings }
}

/// A task or mission, and that it is over and idle: then no check needs its body or its journal.
struct Examined {
    listed: WorkItemEntry,
    idle: Option<Idle>,
}

/// The data for several checks, read once and without a lock.
struct CheckData<'o> {
    app: &'o App,
    projects: Result<Vec<Project>>,
    examined: Result<Vec<Examined>>,
    /// Finished tasks and missions that are as they were when no check found anything about them.
    fine: Vec<WorkItemDir>,
    /// Failures to drop a list of idle tasks that is wrong.
    wrong_lists: Vec<Error>,
    slots: Result<Vec<Slot>>,
    panes: Panes<'o>,
    leftovers: OnceCell<Result<Vec<PathBuf>>>,
}

/// The ids of those that are known to be fine, and what is known of the tasks of each folder.
fn fine_among(over: &[ListedTask]) -> (BTreeSet<String>, Vec<FineTasks>) {
    let folders = over.chunk_by(|one, other| one.dir.path.parent() == other.dir.path.parent());
    let look = |over: &[ListedTask]| FineTasks::look(&over.iter().map(|over| &over.dir).collect::<Vec<_>>());
    let looked: Vec<FineTasks> = folders.filter_map(look).collect();
    let is_known = |over: &&ListedTask| looked.iter().any(|fine| fine.has(&over.dir.id));
    (over.iter().filter(is_known).map(|over| over.dir.id.clone()).collect(), looked)
}

impl CheckData<'_> {
    fn of(app: &App) -> CheckData<'_> {
        let saved = SavedPool::read(&app.home);
        let is_done = |kind, owned: &Owned| app.is_done(kind, owned);
        let (mut fine, mut wrong_lists, mut slots) = (Vec::new(), Vec::new(), Ok(Vec::new()));
        let examined = list::sorted(&app.home, &is_done).map(|SortedTasks { over, waiting, mut others }| {
            let (known, looked) = fine_among(&over);
            let (known, mut unknown): (Vec<_>, Vec<_>) =
                over.into_iter().partition(|over| known.contains(over.dir.id.as_str()));
            fine.extend(known.into_iter().map(|over| over.dir));
            unknown.extend(waiting);
            others.extend(unknown.iter().map(|task| task.dir.clone()));
            let journals = list::checked_journals(others);
            slots = saved.and_then(|saved| saved.slots(&journals));
            let brief = |listed: BriefTask| {
                let (listed, idle) = listed.into_entry();
                Some(Examined { listed, idle })
            };
            let whole = |listed| Some(Examined { listed, idle: None });
            let examined = list::each_briefly(journals, is_done, brief, whole);
            wrong_lists = tasks::note_fine(&examined, &unknown, looked);
            examined
        });
        if let Err(error) = &examined {
            slots = Err(error.clone());
        }
        CheckData {
            app,
            projects: projects::read(&app.home),
            examined,
            fine,
            wrong_lists,
            slots,
            panes: Panes::of(app),
            leftovers: OnceCell::new(),
        }
    }

    /// The temporary files of dead processes.
    fn leftovers(&self) -> Result<&[PathBuf]> {
        let find = || Ok(garbage::leftovers_in(&self.app.home, &self.dirs()?));
        let leftovers = self.leftovers.get_or_init(find);
        leftovers.as_deref().map_err(Clone::clone)
    }

    fn projects(&self) -> Result<&[Project]> {
        self.projects.as_deref().map_err(Clone::clone)
    }

    fn examined(&self) -> Result<&[Examined]> {
        self.examined.as_deref().map_err(Clone::clone)
    }

    /// The folders of those that are examined.
    fn dirs(&self) -> Result<Vec<WorkItemDir>> {
        Ok(self.examined()?.iter().map(|one| one.listed.dir.clone()).collect())
    }

    /// Every task and mission that is not known to be fine.
    fn listed(&self) -> Result<Vec<&WorkItemEntry>> {
        Ok(self.examined()?.iter().map(|one| &one.listed).collect())
    }

    /// Those whose journals may have something unfinished.
    fn not_idle(&self) -> Result<Vec<&WorkItemEntry>> {
        Ok(self.examined()?.iter().filter(|one| one.idle.is_none()).map(|one| &one.listed).collect())
    }

    /// The tasks that can be read.
    fn tasks(&self) -> Result<Vec<&WorkItem>> {
        let readable = self.listed()?.into_iter().filter_map(|listed| listed.task.as_ref().ok());
        Ok(readable.filter(|task| task.kind == WorkItemKind::Task).collect())
    }

    /// The unfinished tasks and missions that can be read.
    fn unfinished(&self) -> Result<Vec<&WorkItem>> {
        let readable = self.listed()?.into_iter().filter_map(|listed| listed.task.as_ref().ok());
        Ok(readable.filter(|task| !self.app.is_over(task)).collect())
    }

    fn slots(&self) -> Result<&[Slot]> {
        self.slots.as_deref().map_err(Clone::clone)
    }

    fn panes(&self) -> Result<&[Pane]> {
        self.panes.all()
    }
}
