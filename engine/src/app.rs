//! Context of every command: the machines, the home, the tmux server, the caller.

use orange_system::variables;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use orange_core::forge::ForgeKind;
use orange_core::intake::FORGE_TOKENS;
use orange_core::mission::MissionStatus;
use orange_core::{Actor, Machine};

use crate::around::Around;
use crate::caller::{Caller, CommandOrigin};
use crate::declared::DeclaredCaller;
use crate::drive::forge::Forge;
use crate::drive::git::Git;
use crate::drive::harness::{self, Harness};
use crate::drive::tmux::Tmux;
use crate::machines::{CompiledParts, Machines};
use crate::progress::Progress;
use crate::store::effective::effective;
use crate::store::environment::{self, Environment};
use crate::store::projects::{self, Project};
use crate::store::{Home, Owned, WorkItem, WorkItemDir, WorkItemHistory, WorkItemKind, secret};
use crate::{Error, ErrorKind, Result};
pub use orange_system::exec::keep_files;
use orange_system::exec::{Detached, ProgramCall};
use orange_system::process;
pub use orange_system::process::become_independent;

/// The variables that say where a process is: its folder, its shell and its terminal.
pub const OF_PLACE: &[&str] = &[
    "_",
    "PWD",
    "OLDPWD",
    "SHLVL",
    "COLUMNS",
    "LINES",
    "TERM",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "TMUX",
    "TMUX_PANE",
];

/// One run of `orange`, with its environment, which is read once.
#[derive(Debug)]
pub struct App {
    /// The machines that tasks can follow.
    pub machines: Machines,
    /// The folder of everything that is stored.
    pub home: Home,
    /// The tmux server of the agents.
    pub tmux: Tmux,
    pub caller: Caller,
    /// The program that asks with a token, in place of the caller.
    declared: Option<DeclaredCaller>,
    /// The current folder.
    pub folder: PathBuf,
    /// The path of this program, which starts itself again for work that must outlive the caller.
    pub program: PathBuf,
    /// Reports steps to a person who waits.
    pub progress: Progress,
    origin: CommandOrigin,
    path: OsString,
    around: Result<Around>,
    /// Variables that the harness of the asking agent has changed.
    overrides: String,
}

impl App {
    /// Reads the environment.
    pub fn open(built: CompiledParts, caller: Caller) -> Result<App> {
        let unknown = |what: &str, cause: std::io::Error| {
            Error::new(ErrorKind::Environment, format!("cannot tell {what}: {cause}"))
                .help("it may have been removed: run the command again in a folder that is there")
        };
        let socket = std::env::var_os("ORANGE_TMUX_SOCKET").filter(|socket| !socket.is_empty());
        let home = Home::from_env()?;
        let origin = CommandOrigin::of(&caller);
        let tmux = Tmux::new(socket.as_deref());
        // What a person runs in a window of that server is about the same home.
        let socket = tmux.socket().to_owned();
        let tmux = tmux.env("ORANGE_HOME", home.root()).env("ORANGE_TMUX_SOCKET", socket);
        Ok(App {
            machines: Machines::new(built, &home),
            home,
            tmux,
            caller,
            declared: None,
            folder: std::env::current_dir().map_err(|cause| unknown("the current folder", cause))?,
            program: program()?,
            progress: Progress::default(),
            origin,
            path: std::env::var_os("PATH").unwrap_or_default(),
            around: Around::read(),
            overrides: std::env::var(variables::OVERRIDES).unwrap_or_default(),
        })
    }

    /// Adds reports to a person at a terminal.
    pub fn telling(self, as_json: bool) -> App {
        App { progress: Progress::of(as_json), ..self }
    }

    /// Makes the engine the origin, for a process that acts by itself: the monitor, or the wrapper of an agent.
    pub fn by_itself(self) -> App {
        App { origin: CommandOrigin::Engine, ..self }
    }

    /// For tests: these machines and this home, a person as the caller, no programs but tmux, a tmux server in this folder, and a
    /// program that does nothing in place of this one.
    #[cfg(test)]
    pub(crate) fn for_tests(machines: Machines, home: Home, folder: &Path) -> App {
        let socket = folder.join("tmux").into_os_string();
        App {
            machines,
            home,
            tmux: Tmux::new(Some(&socket)),
            caller: Caller::Person,
            declared: None,
            folder: folder.to_owned(),
            program: PathBuf::from("/bin/true"),
            progress: Progress::default(),
            origin: CommandOrigin::Engine,
            path: OsString::new(),
            around: Ok(Around::at(folder, &[], false)),
            overrides: String::new(),
        }
    }

    /// Sets other surroundings.
    #[cfg(test)]
    pub(crate) fn with_around(self, around: Around) -> App {
        App { around: Ok(around), ..self }
    }

    /// Sets the declared caller: a program that asks with the token in a file.
    pub fn asking_as(self, actor: &str, token_file: Option<&str>) -> Result<App> {
        let declared = DeclaredCaller::new(&self.caller, actor, token_file)?;
        Ok(App { declared: Some(declared), ..self })
    }

    /// The actor who asks for a change of this task, or why it may not.
    pub fn check_caller(&self, task: &WorkItem, history: &WorkItemHistory) -> Result<Actor> {
        match &self.declared {
            Some(declared) => declared.check(&self.home, task, self.machine_of(&task.owned)?),
            None => self.caller.check(&self.home, &self.folder, task, history),
        }
    }

    /// The harness of this name, built in or in `harnesses.toml`.
    ///
    /// # Errors
    /// `not_found`; `corrupt`, `environment` when that file cannot be read.
    pub fn harness(&self, name: &str) -> Result<Harness> {
        harness::named(&self.home.harnesses_toml(), name)
    }

    /// The names of a task's harnesses: its own two, and those that its workflow names. One may come several times.
    pub fn harnesses_of<'t>(&self, task: &'t WorkItem) -> impl Iterator<Item = &'t str> {
        // A task whose workflow is gone has its own.
        let machine = self.machine_of(&task.owned).ok().filter(|_| task.kind == WorkItemKind::Task);
        let own = [task.harness.as_str(), task.review_harness.as_str()];
        own.into_iter().chain(machine.into_iter().flat_map(|it| it.harnesses()))
    }

    /// Every harness, built in or in `harnesses.toml`.
    pub fn harnesses(&self) -> Result<Vec<Harness>> {
        harness::all(&self.home.harnesses_toml())
    }

    /// The machine that a task follows.
    ///
    /// # Errors
    /// `not_found` when its workflow is gone, with where its definition is kept; `corrupt` when a custom one has errors.
    pub fn machine_of(&self, owned: &Owned) -> Result<&'static Machine<'static>> {
        let Owned { workflow, definition, .. } = owned;
        self.machines.named(workflow).map_err(|error| {
            let kept = self.machines.kept(workflow, definition).filter(|_| error.kind == ErrorKind::NotFound);
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

    /// True if the task is in a terminal state, or the mission has ended.
    pub fn is_over(&self, task: &WorkItem) -> bool {
        self.is_end(task.kind, &task.owned)
    }

    /// True if a task or mission with these values is over. A task whose hooks wait is not.
    pub fn is_end(&self, kind: WorkItemKind, owned: &Owned) -> bool {
        if kind == WorkItemKind::Mission {
            return MissionStatus::from_name(&owned.status).is_some_and(MissionStatus::is_terminal);
        }
        if owned.hooks_wait.is_some() {
            return false;
        }
        let machine = self.machine_of(owned).ok();
        let state =
            machine.and_then(|machine| machine.state_named(&owned.status).map(|id| machine.state(id)));
        state.is_some_and(|state| state.terminal)
    }

    /// True if it is over and needs its worktree no more: a mission that has failed keeps it until it is tried again or cancelled.
    pub fn is_done_with_worktree(&self, task: &WorkItem) -> bool {
        self.is_done(task.kind, &task.owned)
    }

    /// True if a task or mission with these values is over and needs its worktree no more.
    pub fn is_done(&self, kind: WorkItemKind, owned: &Owned) -> bool {
        let is_kept = kind == WorkItemKind::Mission && owned.status == MissionStatus::Failed.as_str();
        self.is_end(kind, owned) && !is_kept
    }

    /// The project of a task, with the task's base for the default branch, as long as there is such a branch.
    pub fn project_of(&self, task: &WorkItem) -> Result<Project> {
        let project = projects::get(&self.home, &task.project).map_err(|error| {
            if error.kind != ErrorKind::NotFound {
                return error;
            }
            let add = format!("orange project add PATH --name {}", task.project);
            error.help(format!("the task needs its repository: add the project again with `{add}`"))
        })?;
        let Some(base) = task.owned.base.as_ref() else { return Ok(project) };
        match Git::at(&project.path).base(base) {
            Ok(_) => Ok(Project { default_branch: base.clone(), ..project }),
            // The branch of another task is gone once that is merged.
            Err(error) if error.kind == ErrorKind::NotFound => Ok(project),
            Err(error) => Err(error),
        }
    }

    /// The environment of an agent of this project: that of the command that starts it. One that the engine starts by itself gets
    /// that of the last command of a person about the project. A project may name what its agents get.
    pub fn environment(&self, project: &Project) -> Result<Environment> {
        let last = match self.origin {
            CommandOrigin::Person | CommandOrigin::Agent => None,
            CommandOrigin::Engine => environment::last(&self.home, &project.name)?,
        };
        let found = self.passed_on(project, last.unwrap_or_else(|| std::env::vars_os().collect()))?;
        let path = with_first(self.program.parent(), found.get("PATH").unwrap_or(&self.path));
        let own = self.own_env().into_iter().chain([("PATH", path)]);
        Ok(own.fold(found, |mut found, (name, value)| {
            found.set(name, value);
            found
        }))
    }

    /// The variables that agents and programs of a task do not get: those with access to a forge, and what the project denies, if the
    /// work comes from a text of other people.
    ///
    /// # Errors
    /// Those of reading the project's settings.
    pub fn denied(&self, task: &WorkItem) -> Result<Vec<String>> {
        if !task.is_foreign() {
            return Ok(Vec::new());
        }
        let named = effective(&self.home, &self.project_of(task)?)?.env_deny.value;
        Ok(FORGE_TOKENS.iter().map(|name| (*name).to_owned()).chain(named).collect())
    }

    /// The access to a forge that a command of a foreign task's agent lacks and the engine needs for it, such as for a pull request: that
    /// of the last command of a person about the project.
    fn forge_tokens(&self, dir: &WorkItemDir) -> Result<Vec<(&'static str, OsString)>> {
        if self.origin != CommandOrigin::Agent || !WorkItem::read_last(&self.home, dir, 0)?.0.is_foreign() {
            return Ok(Vec::new());
        }
        let Some(last) = environment::last(&self.home, &dir.project)? else { return Ok(Vec::new()) };
        let lacking = FORGE_TOKENS.iter().filter(|name| std::env::var_os(name).is_none());
        Ok(lacking.filter_map(|name| Some((*name, last.get(name)?.to_owned()))).collect())
    }

    /// Keeps the environment of a person's command as the last one of this project.
    pub fn remember_environment(&self, project: &str) -> Result<()> {
        if self.origin != CommandOrigin::Person {
            return Ok(());
        }
        // What is left of a project that was removed is changed, too, and starts nothing.
        let Some(project) = projects::read(&self.home)?.into_iter().find(|it| it.name == project) else {
            return Ok(());
        };
        let found = self.passed_on(&project, std::env::vars_os().collect())?;
        environment::keep(&self.home, &project.name, &found)
    }

    /// The variables that agents of this project get of an environment.
    fn passed_on(&self, project: &Project, found: Environment) -> Result<Environment> {
        let overrides: Vec<&str> = self.overrides.split_whitespace().collect();
        let is_of_place = |name: &str| {
            OF_PLACE.iter().chain(variables::IDENTITY).chain(variables::GIT).any(|it| *it == name)
        };
        let found = found.filtered(|name| !is_of_place(name) && !overrides.contains(&name));
        let names = effective(&self.home, project)?.environment.value;
        Ok(match names {
            Some(names) => found.only(&names),
            None => found,
        })
    }

    /// Environment variables that give a process the home and the server of this one.
    pub fn own_env(&self) -> Vec<(&'static str, OsString)> {
        vec![
            ("ORANGE_HOME", self.home.root().as_os_str().to_owned()),
            ("ORANGE_TMUX_SOCKET", self.tmux.socket().to_owned()),
        ]
    }

    /// The forge of a project: by its setting, else by the address of its remote, else GitHub.
    pub fn forge_of(&self, project: &Project) -> Result<Forge> {
        let kind = match effective(&self.home, project)?.forge.value {
            Some(kind) => kind,
            None => {
                let address = Git::at(&project.path).remote_address()?;
                address.as_deref().and_then(ForgeKind::of_remote).unwrap_or_default()
            }
        };
        Ok(Forge::at(kind, &project.path))
    }

    /// The surroundings of agents.
    pub fn around(&self) -> Result<Around> {
        self.around.clone()
    }

    /// The `PATH` on which programs are searched.
    pub fn path(&self) -> &OsStr {
        &self.path
    }

    /// Runs this program again in a session of its own, detached from the caller, and waits for its end. The journal has what it
    /// did, and `orange.log` its complaints.
    pub fn detached(&self, args: &[&str], dir: &WorkItemDir) -> Result<()> {
        self.again(args, dir)?.wait()
    }

    /// Runs this program again, detached from the caller, and waits only until it is independent.
    pub fn start_detached(&self, args: &[&str], dir: &WorkItemDir) -> Result<()> {
        self.again(args, dir)?.until_independent()
    }

    /// Starts this program detached with a command about one agent, which has to present that agent's secret.
    pub fn start_detached_for(&self, spawn: u32, args: &[&str], dir: &WorkItemDir) -> Result<()> {
        let call =
            self.go_between(args, dir).env(variables::SECRET, secret::read(dir, spawn)?.unwrap_or_default());
        call.detach(&self.home.log_file())?.until_independent()
    }

    /// Runs this program with these words as nobody's descendant, in a session of its own, and does not wait.
    pub fn leave_running(&self, words: &[OsString]) -> Result<()> {
        ProgramCall::new(&self.program).args(words).leave_running()
    }

    /// A call of this program by the engine, with the environment it needs, and without that of any agent.
    pub fn as_engine(&self, args: &[&str], dir: &WorkItemDir) -> ProgramCall {
        let folder = if dir.path.is_dir() { &dir.path } else { self.home.root() };
        let overrides: Vec<&str> = self.overrides.split_whitespace().collect();
        let call = ProgramCall::new(&self.program).args(args).folder(folder);
        let call = call.without(variables::IDENTITY).without(variables::GIT).without(&overrides);
        // It runs in another folder, so paths are absolute.
        let path = with_first(self.program.parent(), &self.path);
        let own = self.own_env().into_iter().chain([("PATH", path)]);
        let call = own.fold(call, |call, (name, value)| call.env(name, value));
        let call =
            self.origin.asked().into_iter().fold(call, |call, asked| call.env(variables::ASKED, asked));
        call.env(variables::ACTOR, variables::ENGINE)
    }

    fn again(&self, args: &[&str], dir: &WorkItemDir) -> Result<Detached> {
        let call = self.go_between(args, dir);
        let tokens = self.forge_tokens(dir)?.into_iter();
        tokens.fold(call, |call, (name, value)| call.env(name, value)).detach(&self.home.log_file())
    }

    fn go_between(&self, args: &[&str], dir: &WorkItemDir) -> ProgramCall {
        self.as_engine(&[&["agent", "detach"], args].concat(), dir)
    }
}

/// The search path with this folder first and once: agents start agents, so it must not grow.
fn with_first(folder: Option<&Path>, path: &OsStr) -> OsString {
    let others = std::env::split_paths(path).filter(|other| Some(other.as_path()) != folder);
    let folders = folder.map(PathBuf::from).into_iter().chain(others);
    std::env::join_paths(folders).unwrap_or_else(|_| path.to_owned())
}

/// The file of this program, which the process table names.
fn program() -> Result<PathBuf> {
    std::env::current_exe().map_err(|cause| {
        let unknown = || {
            Error::new(ErrorKind::Environment, format!("cannot tell where this program is: {cause}"))
                .help("install it again: its file may have been removed")
        };
        process::check().err().unwrap_or_else(unknown)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::tests::MACHINES;
    use crate::store::tests;

    #[test]
    fn a_task_is_over_in_a_state_that_its_workflow_calls_terminal() {
        let (folder, home) = tests::home();
        let app = App::for_tests(Machines::only(MACHINES), home, folder.path());
        let is_over = |status: &str, workflow: &str| {
            let (status, workflow) = (status.to_owned(), workflow.to_owned());
            app.is_end(WorkItemKind::Task, &Owned { status, workflow, ..Owned::default() })
        };
        assert!(is_over("done", "test") && !is_over("working", "test"));
        // A task of an unknown workflow or status is not over.
        assert!(!is_over("done", "elsewhere") && !is_over("vanished", "test"));
    }

    #[test]
    fn a_failed_mission_is_over_and_keeps_its_worktree() {
        let (folder, home) = tests::home();
        let app = App::for_tests(Machines::only(MACHINES), home, folder.path());
        let ends = |status: &str| {
            let owned = Owned { status: status.to_owned(), workflow: "test".to_owned(), ..Owned::default() };
            let mission = WorkItem { kind: WorkItemKind::Mission, owned, ..WorkItem::default() };
            (app.is_over(&mission), app.is_done_with_worktree(&mission))
        };
        for status in ["pending", "running", "paused", "done", "vanished"] {
            assert_eq!(ends(status), (false, false), "{status}");
        }
        for status in ["completed", "cancelled"] {
            assert_eq!(ends(status), (true, true), "{status}");
        }
        assert_eq!(ends("failed"), (true, false));
    }

    #[test]
    fn a_folder_stands_first_and_once() {
        let path = with_first(Some(Path::new("/own")), OsStr::new("/bin:/own:/usr/bin"));
        assert_eq!(path, "/own:/bin:/usr/bin");
        assert_eq!(with_first(Some(Path::new("/own")), &path), path);
        assert_eq!(with_first(None, OsStr::new("/bin")), "/bin");
    }
}
