//! The checks of `orange doctor`: everything that tasks need, and everything that may have been left behind. They change nothing.

mod dialogs;
mod disk;
mod monitor;
mod programs;
mod tasks;
#[cfg(test)]
mod tests;
mod worktrees;

use std::cell::OnceCell;
use std::path::PathBuf;

use crate::app::App;
use crate::drive::tmux::Pane;
use crate::flow::garbage;
use crate::flow::session::Panes;
use crate::store::index::Idle;
use crate::store::list::Brevity;
use crate::store::pool::{Saved, Slot};
use crate::store::projects::{self, Project};
use crate::store::{DirKind, Listed, Owned, Task, list};
use crate::{Error, Result};

pub struct Check {
    pub name: &'static str,
    /// Remedy for its findings, unless a finding has its own.
    pub remedy: &'static str,
    look: fn(&Seen<'_>) -> Result<Vec<Finding>>,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// As it should be.
    Fine,
    /// Work goes on, but a person should look.
    Warning,
    /// Something necessary is missing or broken.
    Broken,
}

/// A finding of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The check's name.
    pub check: &'static str,
    /// Its severity.
    pub level: Level,
    /// Fact that was found, in words.
    pub message: String,
    /// Remedy; empty if nothing is to be done.
    pub remedy: String,
}

/// Every check, in the order of the answer.
pub const CHECKS: &[Check] = &[
    Check { name: "tmux", remedy: "install tmux 3.2 or newer", look: programs::tmux },
    Check { name: "git", remedy: "install git 2.38 or newer", look: programs::git },
    Check {
        name: "gh",
        remedy: "install https://cli.github.com and run `gh auth login`, if pull requests are wanted",
        look: programs::gh,
    },
    Check {
        name: "harnesses",
        remedy: "install it, or give its tasks another harness",
        look: programs::harnesses,
    },
    Check {
        name: "dialogs",
        remedy: "`orange setup` shows what agents would ask, and agrees to it",
        look: dialogs::dialogs,
    },
    Check { name: "logins", remedy: "log in to the coding agent", look: dialogs::logins },
    Check { name: "root", remedy: "run `orange` as another user", look: dialogs::root },
    Check { name: "skills", remedy: "`orange install` writes it", look: dialogs::skills },
    Check {
        name: "home",
        remedy: "set ORANGE_HOME to a folder of your own on a local disk",
        look: disk::home,
    },
    Check {
        name: "disk",
        remedy: "free space: `orange gc` names what tasks have left, `orange workspace gc` gives back worktrees",
        look: disk::space,
    },
    Check {
        name: "locks",
        remedy: "wait until it is done; if it hangs, end that process: its lock goes with it",
        look: disk::locks,
    },
    Check { name: "monitor", remedy: "leave `orange monitor` running", look: monitor::monitor },
    Check {
        name: "notifications",
        remedy: "`orange notify test` sends a test message",
        look: monitor::notifications,
    },
    Check { name: "leftovers", remedy: "remove them: no process uses them", look: disk::leftovers },
    Check { name: "garbage", remedy: "`orange gc` names what could go", look: disk::garbage },
    Check { name: "trash", remedy: "remove from it what is not wanted any more", look: disk::trash },
    Check {
        name: "projects",
        remedy: "`orange project update NAME --path PATH` links its worktrees to where it is now",
        look: programs::projects,
    },
    Check {
        name: "identity",
        remedy: "run `git config --global user.name \"…\"` and `git config --global user.email …`",
        look: programs::identity,
    },
    Check { name: "tasks", remedy: "mend the file that is named", look: tasks::readable },
    Check {
        name: "plans",
        remedy: "restore `plan.json` from a backup, or cancel the mission",
        look: tasks::plans,
    },
    Check { name: "workflows", remedy: "`orange workflow list` shows what there is", look: tasks::workflows },
    Check {
        name: "journals",
        remedy: "the next command that changes it puts it right",
        look: tasks::journals,
    },
    Check { name: "transitions", remedy: "`orange monitor --once` finishes it", look: tasks::transitions },
    Check { name: "sessions", remedy: "`orange monitor --once` looks after it", look: tasks::sessions },
    Check {
        name: "agents",
        remedy: "`orange task show` says what it waits for, `orange task attach` shows it",
        look: tasks::agents,
    },
    Check {
        name: "clock",
        remedy: "set the clock if it is wrong; if it was wrong then, it passes: no order depends on it",
        look: tasks::clock,
    },
    Check {
        name: "queue",
        remedy: "`orange monitor --once` makes the starts that are owed",
        look: tasks::queue,
    },
    Check {
        name: "pool",
        remedy: "`orange workspace gc` gives back what nobody holds",
        look: worktrees::pool,
    },
    Check {
        name: "worktrees",
        remedy: "see what git says there: `git worktree list`",
        look: worktrees::held,
    },
    Check {
        name: "git-locks",
        remedy: "remove the lock that is named, if no git is running there",
        look: worktrees::git_locks,
    },
    Check {
        name: "backups",
        remedy: "`orange task restore` makes a branch of one; `git update-ref -d` removes it",
        look: worktrees::backups,
    },
];

/// Runs every check; each has at least one finding, if only that all is well.
pub fn examine(app: &App) -> Vec<Finding> {
    let seen = Seen::of(app);
    CHECKS.iter().flat_map(|check| check.run(&seen)).collect()
}

impl Check {
    fn run(&self, seen: &Seen<'_>) -> Vec<Finding> {
        let mut findings = (self.look)(seen).unwrap_or_else(|error| vec![Finding::of(Level::Broken, &error)]);
        for finding in &mut findings {
            finding.check = self.name;
            if finding.level != Level::Fine && finding.remedy.is_empty() {
                self.remedy.clone_into(&mut finding.remedy);
            }
        }
        findings
    }
}

impl Finding {
    fn new(level: Level, message: impl Into<String>) -> Finding {
        Finding { check: "", level, message: message.into(), remedy: String::new() }
    }

    fn fine(message: impl Into<String>) -> Finding {
        Finding::new(Level::Fine, message)
    }

    fn of(level: Level, error: &Error) -> Finding {
        Finding { remedy: error.help.clone(), ..Finding::new(level, &error.message) }
    }

    fn remedy(self, remedy: impl Into<String>) -> Finding {
        Finding { remedy: remedy.into(), ..self }
    }
}

/// These findings, or the one that all is well.
fn or_fine(findings: Vec<Finding>, fine: impl Into<String>) -> Vec<Finding> {
    if findings.is_empty() { vec![Finding::fine(fine)] } else { findings }
}

/// A task or mission, and that it is over and idle: then no check needs its body or its journal.
struct Examined {
    listed: Listed,
    idle: Option<Idle>,
}

/// The data for several checks, read once and without a lock.
struct Seen<'o> {
    app: &'o App,
    projects: Result<Vec<Project>>,
    examined: Result<Vec<Examined>>,
    slots: Result<Vec<Slot>>,
    panes: Panes<'o>,
    leftovers: OnceCell<Result<Vec<PathBuf>>>,
}

impl Seen<'_> {
    fn of(app: &App) -> Seen<'_> {
        let saved = Saved::read(&app.home);
        let known = list::journals(&app.home, &DirKind::ALL, None);
        let slots = known.as_deref().map_err(Clone::clone).and_then(|known| saved?.slots(known));
        let is_over = |kind, owned: &Owned| app.is_done(kind, owned);
        let examined = |listed, brevity| {
            let idle = if let Brevity::Brief(idle) = brevity { Some(idle) } else { None };
            Some(Examined { listed, idle })
        };
        Seen {
            app,
            projects: projects::read(&app.home),
            examined: known.map(|known| list::each_briefly(known, is_over, examined)),
            slots,
            panes: Panes::of(app),
            leftovers: OnceCell::new(),
        }
    }

    /// The temporary files of dead processes.
    fn leftovers(&self) -> Result<&[PathBuf]> {
        let leftovers = self.leftovers.get_or_init(|| garbage::leftovers(&self.app.home));
        leftovers.as_deref().map_err(Clone::clone)
    }

    fn projects(&self) -> Result<&[Project]> {
        self.projects.as_deref().map_err(Clone::clone)
    }

    fn examined(&self) -> Result<&[Examined]> {
        self.examined.as_deref().map_err(Clone::clone)
    }

    /// Every task and mission.
    fn listed(&self) -> Result<Vec<&Listed>> {
        Ok(self.examined()?.iter().map(|one| &one.listed).collect())
    }

    /// Those whose journals may have something unfinished.
    fn not_idle(&self) -> Result<Vec<&Listed>> {
        Ok(self.examined()?.iter().filter(|one| one.idle.is_none()).map(|one| &one.listed).collect())
    }

    /// The tasks that can be read.
    fn tasks(&self) -> Result<Vec<&Task>> {
        let readable = self.listed()?.into_iter().filter_map(|listed| listed.task.as_ref().ok());
        Ok(readable.filter(|task| task.kind == DirKind::Task).collect())
    }

    /// The unfinished tasks and missions that can be read.
    fn unfinished(&self) -> Result<Vec<&Task>> {
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
