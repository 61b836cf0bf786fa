//! What every command stands on: the machines, the home, the tmux server, the caller.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use orange_core::{Actor, Machine};

use crate::caller::{self, Caller};
use crate::drive::exec::{Call, Detached, GIT_VARIABLES};
use crate::drive::harness::{self, Harness};
use crate::drive::tmux::Tmux;
use crate::machines::{Built, Machines};
use crate::progress::Progress;
use crate::store::projects::{self, Project};
use crate::store::{Home, Log, Owned, Task, TaskDir};
use crate::{Error, Kind, Result};

/// One run of `orange`: what its environment says, read once.
#[derive(Debug)]
pub struct Orange {
    /// The machines that tasks can follow.
    pub machines: Machines,
    /// Where everything is kept.
    pub home: Home,
    /// The tmux server of the agents.
    pub tmux: Tmux,
    /// Who asks.
    pub caller: Caller,
    /// The folder one stands in.
    pub folder: PathBuf,
    /// This program, to be started again for what must outlive the caller.
    pub program: PathBuf,
    /// What a person who waits is told meanwhile.
    pub progress: Progress,
    path: OsString,
}

impl Orange {
    /// Reads the environment; who asks is told.
    ///
    /// # Errors
    /// `environment` when there is no home, no current folder, or no name for this program.
    pub fn open(built: Built, caller: Caller) -> Result<Orange> {
        let unknown = |what: &str, cause: std::io::Error| {
            Error::new(Kind::Environment, format!("cannot tell {what}: {cause}"))
                .help("it may have been removed: run the command again in a folder that is there")
        };
        let socket = std::env::var_os("ORANGE_TMUX_SOCKET").filter(|socket| !socket.is_empty());
        let home = Home::from_env()?;
        Ok(Orange {
            machines: Machines::new(built, &home),
            home,
            tmux: Tmux::new(socket.as_deref()),
            caller,
            folder: std::env::current_dir().map_err(|cause| unknown("the current folder", cause))?,
            program: std::env::current_exe().map_err(|cause| unknown("where this program is", cause))?,
            progress: Progress::default(),
            path: std::env::var_os("PATH").unwrap_or_default(),
        })
    }

    /// The same, telling a person at a terminal what it is at.
    pub fn telling(self, as_json: bool) -> Orange {
        Orange { progress: Progress::of(as_json), ..self }
    }

    /// For tests: these machines and this home, a person who asks, nobody's programs but tmux, a tmux server in this
    /// folder, and a program that does nothing in place of this one.
    #[cfg(test)]
    pub(crate) fn for_tests(machines: Machines, home: Home, folder: &Path) -> Orange {
        let socket = folder.join("tmux").into_os_string();
        Orange {
            machines,
            home,
            tmux: Tmux::new(Some(&socket)),
            caller: Caller::Person,
            folder: folder.to_owned(),
            program: PathBuf::from("/bin/true"),
            progress: Progress::default(),
            path: OsString::new(),
        }
    }

    /// Who asks for a change of this task.
    ///
    /// # Errors
    /// `not_allowed` for an agent that may not change it, with the reason.
    pub fn check_caller(&self, task: &Task, log: &Log) -> Result<Actor> {
        self.caller.check(&self.home, &self.folder, task, log)
    }

    /// The harness of this name, built in or in `harnesses.toml`.
    ///
    /// # Errors
    /// `not_found`; `corrupt`, `environment` when that file cannot be read.
    pub fn harness(&self, name: &str) -> Result<Harness> {
        harness::named(&self.home.harnesses_toml(), name)
    }

    /// The machine that a task follows, by what the engine owns of it.
    ///
    /// # Errors
    /// `not_found` when its workflow is gone, with where its definition is kept; `corrupt` when a custom one has errors.
    pub fn machine_of(&self, owned: &Owned) -> Result<&'static Machine<'static>> {
        let Owned { workflow, definition, .. } = owned;
        self.machines.named(workflow).map_err(|error| {
            let kept = self.machines.kept(workflow, definition).filter(|_| error.kind == Kind::NotFound);
            let folder = self.home.workflows();
            let mend = kept.map_or_else(
                || error.help.clone(),
                |kept| {
                    format!("the task's definition is kept: `cp {} {}/`", kept.display(), folder.display())
                },
            );
            error.help(format!(
                "{mend}; or a person ends the task with `orange task cancel`, or moves it with \
                 `orange task migrate --to STATUS --workflow NAME`"
            ))
        })
    }

    /// Whether nothing more can happen to the task.
    pub fn is_over(&self, owned: &Owned) -> bool {
        let machine = self.machine_of(owned).ok();
        let state =
            machine.and_then(|machine| machine.state_named(&owned.status).map(|id| machine.state(id)));
        state.is_some_and(|state| state.terminal)
    }

    /// The project that a task belongs to.
    ///
    /// # Errors
    /// `not_found` when it has been removed; those of reading `projects.json`.
    pub fn project_of(&self, task: &Task) -> Result<Project> {
        projects::get(&self.home, &task.project).map_err(|error| {
            if error.kind != Kind::NotFound {
                return error;
            }
            let add = format!("orange project add PATH --name {}", task.project);
            error.help(format!("the task needs its repository: add the project again with `{add}`"))
        })
    }

    /// What an agent and its wrapper need in their environment. A tmux server keeps the environment that it was
    /// started with, so everything that may differ is given. `orange` itself comes first on `PATH`, so that agents
    /// call the binary that started them.
    pub fn agent_env(&self) -> Vec<(&'static str, OsString)> {
        let path = with_first(self.program.parent(), &self.path);
        vec![
            ("PATH", path),
            ("ORANGE_HOME", self.home.root().as_os_str().to_owned()),
            ("ORANGE_TMUX_SOCKET", self.tmux.socket().to_owned()),
        ]
    }

    /// The `PATH` that programs are looked up on.
    pub fn path(&self) -> &OsStr {
        &self.path
    }

    /// Runs this program again in a session of its own, so that it outlives the caller's, and waits for its end. What
    /// it did stands in the journal; what it complained about, in `orange.log`.
    ///
    /// # Errors
    /// `environment` when it cannot be started.
    pub fn detached(&self, args: &[&str], dir: &TaskDir) -> Result<()> {
        self.again(args, dir)?.wait().map(drop)
    }

    /// Starts this program again in a session of its own, and waits no longer than until it is there.
    ///
    /// # Errors
    /// `environment` when it cannot be started.
    pub fn start_detached(&self, args: &[&str], dir: &TaskDir) -> Result<()> {
        self.again(args, dir)?.until_independent()
    }

    fn again(&self, args: &[&str], dir: &TaskDir) -> Result<Detached> {
        let folder = if dir.path.is_dir() { &dir.path } else { self.home.root() };
        let own = &[caller::TASK, caller::SPAWN];
        let call = Call::new(&self.program).args(args).folder(folder).without(own).without(GIT_VARIABLES);
        // It runs in another folder, where a relative home or socket would be another one.
        let call = self.agent_env().into_iter().fold(call, |call, (name, value)| call.env(name, value));
        call.env(caller::ACTOR, caller::ENGINE).detach(&self.home.log_file())
    }
}

/// The search path with this folder first. An agent's own requests start agents too, so it must not grow with each.
fn with_first(folder: Option<&Path>, path: &OsStr) -> OsString {
    let others = std::env::split_paths(path).filter(|other| Some(other.as_path()) != folder);
    let folders = folder.map(PathBuf::from).into_iter().chain(others);
    std::env::join_paths(folders).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::tests::MACHINES;
    use crate::store::tests;

    #[test]
    fn a_task_is_over_in_a_state_that_its_workflow_calls_terminal() {
        let (folder, home) = tests::home();
        let orange = Orange::for_tests(Machines::only(MACHINES), home, folder.path());
        let is_over = |status: &str, workflow: &str| {
            let (status, workflow) = (status.to_owned(), workflow.to_owned());
            orange.is_over(&Owned { status, workflow, ..Owned::default() })
        };
        assert!(is_over("done", "test") && !is_over("working", "test"));
        // What is not known is not over.
        assert!(!is_over("done", "elsewhere") && !is_over("vanished", "test"));
    }

    #[test]
    fn a_folder_stands_first_and_once() {
        let path = with_first(Some(Path::new("/own")), OsStr::new("/bin:/own:/usr/bin"));
        assert_eq!(path, "/own:/bin:/usr/bin");
        assert_eq!(with_first(Some(Path::new("/own")), &path), path);
        assert_eq!(with_first(None, OsStr::new("/bin")), "/bin");
    }
}
