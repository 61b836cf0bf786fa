//! The folder `ORANGE_HOME`, and the paths under it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{Error, ErrorKind, Result};
use orange_api::Unfit;
use orange_system::files::real;
use orange_system::nofollow;

/// Time for which a command waits for a lock before it reports the holder.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The variable with another wait in seconds, such as `0.5`.
const LOCK_TIMEOUT: &str = "ORANGE_LOCK_TIMEOUT";

/// The home, and the command that uses it.
#[derive(Clone, Debug)]
pub struct Home {
    root: PathBuf,
    command: String,
    patience: Duration,
}

/// Kind of a folder of the home. Both kinds are stored alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkItemKind {
    /// A task, which follows a machine.
    #[default]
    Task,
    /// A mission, which follows a plan. Its worktree has no copy of its text.
    Mission,
}

/// The folder of one task or mission.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkItemDir {
    pub kind: WorkItemKind,
    /// The project's name.
    pub project: String,
    pub id: String,
    /// `tasks/<project>/<id>` or `missions/<project>/<id>`.
    pub path: PathBuf,
}

impl WorkItemKind {
    pub const ALL: [WorkItemKind; 2] = [WorkItemKind::Task, WorkItemKind::Mission];

    /// The kind of a folder of the trash, where both are: its text says it.
    pub fn of(folder: &Path) -> WorkItemKind {
        let is_mission = folder.join(WorkItemKind::Mission.file()).symlink_metadata().is_ok();
        if is_mission { WorkItemKind::Mission } else { WorkItemKind::Task }
    }

    /// The word for it in messages.
    pub fn word(self) -> &'static str {
        match self {
            WorkItemKind::Task => "task",
            WorkItemKind::Mission => "mission",
        }
    }

    /// The command that lists all, and what it shows, such as ` with its id`.
    pub fn list_command(self, with: &str) -> String {
        let word = self.word();
        format!("`orange {word} list --all` shows every {word}{with}")
    }

    /// The name of the file with its text.
    pub fn file(self) -> &'static str {
        match self {
            WorkItemKind::Task => "TASK.md",
            WorkItemKind::Mission => "MISSION.md",
        }
    }
}

impl Home {
    /// The home that `ORANGE_HOME` names, or `~/orange`. It creates nothing.
    pub fn from_env() -> Result<Home> {
        let named = std::env::var_os("ORANGE_HOME").filter(|value| !value.is_empty()).map(PathBuf::from);
        let root = match named.or_else(|| std::env::home_dir().map(|home| home.join("orange"))) {
            Some(root) => root,
            None => {
                return Err(Error::new(ErrorKind::Environment, "neither ORANGE_HOME nor HOME is set")
                    .help("set ORANGE_HOME to the folder where orange may keep its tasks"));
            }
        };
        let root = std::path::absolute(&root).map_err(|cause| Error::io("find", &root, &cause))?;
        let command = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>();
        Ok(Home::at(root).named(&command.join(" ")).patient(patience()?))
    }

    /// The home in this absolute folder. Links to it are resolved now, and none is followed later.
    pub fn at(root: impl AsRef<Path>) -> Home {
        Home { root: real(root.as_ref()), command: "orange".to_owned(), patience: PATIENCE }
    }

    /// Sets the command line that processes see that wait for its locks.
    pub fn named(mut self, command: &str) -> Home {
        const SHOWN: usize = 200;
        let printable = |letter: char| if letter.is_control() { ' ' } else { letter };
        self.command = command.chars().take(SHOWN).map(printable).collect();
        self
    }

    /// Sets another wait for a lock than 30 s.
    pub fn patient(mut self, patience: Duration) -> Home {
        self.patience = patience;
        self
    }

    /// Creates the folder, readable by its owner alone, unless it exists.
    pub fn prepare(&self) -> Result<()> {
        make_folder(&self.root)
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The command line of this process, which its locks name.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Time limit for a lock.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// The list of projects.
    pub fn projects_json(&self) -> PathBuf {
        self.root.join("projects.json")
    }

    /// The tokens of programs.
    pub fn tokens_json(&self) -> PathBuf {
        self.root.join("tokens.json")
    }

    /// The contents of `orange.toml` files that a person has agreed to.
    pub fn trusted_json(&self) -> PathBuf {
        self.root.join("trusted.json")
    }

    /// The user's own prices of models.
    pub fn prices_toml(&self) -> PathBuf {
        self.root.join("prices.toml")
    }

    /// The budgets of all projects; the file is optional.
    pub fn budget_toml(&self) -> PathBuf {
        self.root.join("budget.toml")
    }

    /// The user's own harnesses; the file is optional.
    pub fn harnesses_toml(&self) -> PathBuf {
        self.root.join("harnesses.toml")
    }

    /// The environment of the last command of a person about this project.
    pub fn environment(&self, project: &str) -> PathBuf {
        self.root.join("environments").join(project)
    }

    /// File of a person's consents in `orange setup`; it is optional.
    pub fn setup_json(&self) -> PathBuf {
        self.root.join("setup.json")
    }

    /// The folder of the issues that became tasks, with a file for each project.
    pub fn intake(&self) -> PathBuf {
        self.root.join("intake")
    }

    /// The folder of the slots of schedules, with a file for each project.
    pub fn schedules(&self) -> PathBuf {
        self.root.join("schedules")
    }

    /// The lock of the one monitor that works.
    pub fn monitor_lock(&self) -> PathBuf {
        self.root.join(".monitor.lock")
    }

    /// The user's channels for messages; the file is optional.
    pub fn notify_toml(&self) -> PathBuf {
        self.root.join("notify.toml")
    }

    /// The messages that were sent.
    pub fn notified_json(&self) -> PathBuf {
        self.root.join("notified.json")
    }

    /// The codes of buttons that were sent, and the places up to which replies are read.
    pub fn answers_json(&self) -> PathBuf {
        self.root.join("answers.json")
    }

    pub fn log_file(&self) -> PathBuf {
        self.root.join("orange.log")
    }

    /// The previous log.
    pub fn former_log(&self) -> PathBuf {
        self.root.join("orange.old.log")
    }

    /// The folder of all tasks, with a folder for each project.
    pub fn tasks(&self) -> PathBuf {
        self.place("tasks")
    }

    /// The folder of all missions, with a folder for each project.
    pub fn missions(&self) -> PathBuf {
        self.place("missions")
    }

    /// The folder of all tasks or of all missions.
    pub fn all(&self, kind: WorkItemKind) -> PathBuf {
        match kind {
            WorkItemKind::Task => self.tasks(),
            WorkItemKind::Mission => self.missions(),
        }
    }

    /// The folder of the starts that tasks of a project owe.
    pub fn owed(&self, project: &str) -> PathBuf {
        self.tasks().join(project).join(".owed")
    }

    /// The folder of one task, which need not exist.
    pub fn task(&self, project: &str, id: &str) -> WorkItemDir {
        self.dir(WorkItemKind::Task, project, id)
    }

    /// The folder of one mission, which need not exist.
    pub fn mission(&self, project: &str, id: &str) -> WorkItemDir {
        self.dir(WorkItemKind::Mission, project, id)
    }

    /// The folder of one task or mission, which need not exist.
    pub fn dir(&self, kind: WorkItemKind, project: &str, id: &str) -> WorkItemDir {
        let path = self.all(kind).join(project).join(id);
        WorkItemDir { kind, project: project.to_owned(), id: id.to_owned(), path }
    }

    /// The folder of the mission with this id if there is one, and otherwise that of a task, which need not exist.
    pub fn either(&self, project: &str, id: &str) -> WorkItemDir {
        let mission = self.mission(project, id);
        if mission.path.is_dir() { mission } else { self.task(project, id) }
    }

    /// The folder of custom workflows.
    pub fn workflows(&self) -> PathBuf {
        self.place("workflows")
    }

    /// The folder of deleted tasks and missions, with a folder for each project, and of what was set aside.
    pub fn trash(&self) -> PathBuf {
        self.place("trash")
    }

    /// The folder for entries of the trash while they are being removed.
    pub fn leaving(&self) -> PathBuf {
        self.trash().join(".leaving")
    }

    /// The folder in the trash of this task or mission, which need not exist.
    pub fn deleted(&self, dir: &WorkItemDir) -> WorkItemDir {
        WorkItemDir { path: self.trash().join(&dir.project).join(&dir.id), ..dir.clone() }
    }

    /// The folder for what no ref can hold of a worktree of this task or mission: nested repositories, and what was at the path
    /// of `TASK.md`.
    pub fn set_aside(&self, task: &str) -> PathBuf {
        self.trash().join(".repositories").join(task)
    }

    /// The folder of all worktrees.
    pub fn workspaces(&self) -> PathBuf {
        self.place("workspaces")
    }

    /// The worktree of this name (`<project>--<n>`).
    pub fn workspace(&self, name: &str) -> PathBuf {
        self.workspaces().join(name)
    }

    /// The folder with what the worktree of this name was given, and has git ignore.
    pub fn given(&self, name: &str) -> PathBuf {
        self.workspaces().join(".given").join(name)
    }

    /// The file of the pool: which task or mission holds which worktree.
    pub fn pool_json(&self) -> PathBuf {
        self.workspaces().join(".pool.json")
    }

    /// One of its main folders, which a person may have linked to another disk. Below it, no link is followed.
    fn place(&self, name: &str) -> PathBuf {
        let path = self.root.join(name);
        if path.is_symlink() { real(&path) } else { path }
    }
}

impl WorkItemDir {
    /// Its text: `TASK.md`, or `MISSION.md`.
    pub fn task_md(&self) -> PathBuf {
        self.path.join(self.kind.file())
    }

    /// The plan that a mission follows.
    pub fn plan(&self) -> PathBuf {
        self.path.join("plan.json")
    }

    /// Its name in messages, such as `task t1`.
    pub fn shown(&self) -> String {
        format!("{} {}", self.kind.word(), self.id)
    }

    /// The command about it, quoted, such as that with `orange task show t1` for `show`. Tasks and missions have `show`, `attach`,
    /// `watch`, `logs` and `cancel`; a person starts the agent of a task again, and a mission does that by itself.
    pub fn command(&self, verb: &str) -> String {
        format!("`orange {} {verb} {}`", self.kind.word(), self.id)
    }

    pub fn history(&self) -> PathBuf {
        self.path.join("history.jsonl")
    }

    /// The file that carries the task's lock.
    pub fn lock_file(&self) -> PathBuf {
        self.path.join(".lock")
    }

    /// The folder of its agents' walls: what is private to them, and what comes out.
    pub fn wall(&self) -> PathBuf {
        self.path.join("wall")
    }

    /// The file into which the program of a step writes its report.
    pub fn program_output(&self) -> PathBuf {
        self.path.join(".program.json")
    }

    /// The file that carries the lock of a program that a gate asks, or that does the work of a step. It exists while one runs, and after the process was killed
    /// that ran it.
    pub fn program_lock(&self) -> PathBuf {
        self.path.join(".program.lock")
    }

    /// The file that carries such a lock of one attempt of a mission, where several work at once.
    pub fn attempt_lock(&self, attempt: &str) -> PathBuf {
        self.path.join(format!(".program-{attempt}.lock"))
    }

    /// The base of merges with the worktree's copy of `TASK.md`.
    pub fn base(&self) -> PathBuf {
        self.path.join(".TASK.md.base")
    }

    /// The next base, while a text of the worktree is being merged.
    pub fn next_base(&self) -> PathBuf {
        self.path.join(".TASK.md.next")
    }

    /// Texts of `TASK.md` that were replaced and exist nowhere else.
    pub fn kept(&self) -> PathBuf {
        self.path.join("kept")
    }

    /// The prompt of an agent, by its spawn.
    pub fn prompt(&self, spawn: u32) -> PathBuf {
        self.path.join("prompts").join(format!("{spawn}.md"))
    }

    /// The folder with the feedback of each round.
    pub fn feedback(&self) -> PathBuf {
        self.path.join("feedback")
    }

    /// The checkout in which programs look at the result of a merge.
    pub fn merge_result(&self) -> PathBuf {
        self.path.join("merge")
    }

    /// The outputs of programs that hooks ran.
    pub fn commands(&self) -> PathBuf {
        self.path.join("commands")
    }

    /// The transcripts of its agents.
    pub fn transcripts(&self) -> PathBuf {
        self.path.join("transcripts")
    }

    /// Output of a live agent's pane so far.
    pub fn pane(&self, spawn: u32) -> PathBuf {
        self.transcripts().join(format!("{spawn}.pane"))
    }

    /// Reports of its agents' harnesses.
    pub fn activity(&self) -> PathBuf {
        self.path.join("activity.jsonl")
    }

    /// Their earlier reports.
    pub fn former_activity(&self) -> PathBuf {
        self.path.join("activity.old.jsonl")
    }

    /// The plugins of harnesses that report through plugins.
    pub fn reporting(&self) -> PathBuf {
        self.path.join("reporting")
    }

    /// The answers to requests of its agents.
    pub fn answers(&self) -> PathBuf {
        self.path.join("answers")
    }

    /// The files that identify the processes of its agents.
    pub fn agents(&self) -> PathBuf {
        self.path.join("agents")
    }

    /// The file that identifies the processes of the agent of this spawn.
    pub fn agent(&self, spawn: u32) -> PathBuf {
        self.agents().join(format!("{spawn}.json"))
    }

    /// The secret in the environment of the agent of this spawn.
    pub fn secret(&self, spawn: u32) -> PathBuf {
        self.agents().join(format!("{spawn}.secret"))
    }

    /// The environment of the agent of this spawn, until its wrapper takes it.
    pub fn environment(&self, spawn: u32) -> PathBuf {
        self.agents().join(format!("{spawn}.environment"))
    }
}

fn patience() -> Result<Duration> {
    let Some(given) = std::env::var_os(LOCK_TIMEOUT).filter(|value| !value.is_empty()) else {
        return Ok(PATIENCE);
    };
    given.to_str().and_then(seconds).ok_or_else(|| {
        Error::new(ErrorKind::Environment, format!("{LOCK_TIMEOUT} is `{}`", given.to_string_lossy()))
            .help("it is the longest wait for a lock in seconds, such as 30 or 0.5; leave it out for 30")
    })
}

/// Parses `30` or `0.5` without floating point numbers, whose tables no other part of the binary needs.
fn seconds(text: &str) -> Option<Duration> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let nanos = format!("{fraction:0<9}").get(..9)?.parse().ok()?;
    (is_digits(whole) && is_digits(fraction)).then_some(Duration::new(whole.parse().ok()?, nanos))
}

/// Creates a folder and its parents, readable by their owner alone, unless they exist.
pub(crate) fn make_folder(path: &Path) -> Result<()> {
    nofollow::make_folder(path).map_err(|cause| {
        let error = Error::io("make the folder", path, &cause);
        let is_in_the_way =
            matches!(cause.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory);
        match Unfit::of(&cause) {
            Some(_) => error,
            None if is_in_the_way => {
                error.help("a file is in the way: move it, or set ORANGE_HOME to another folder")
            }
            None => error.help("make it writable for you, or set ORANGE_HOME to a folder that is"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Option<u64>) {
        assert_eq!(seconds(text), expect.map(Duration::from_millis));
    }

    #[test]
    fn seconds_are_whole_or_have_a_fraction() {
        check("30", Some(30_000));
        check("0.5", Some(500));
        check("1.250", Some(1_250));
        check("0.0000000009", Some(0));
        for wrong in ["", ".", "1.", ".5", "-1", "1.-5", "1,5", "x", "1.5s", "99999999999999999999"] {
            check(wrong, None);
        }
    }
}
