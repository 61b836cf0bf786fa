//! Where everything is: `ORANGE_HOME` and the paths under it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::files::real;
use crate::nofollow::{self, Unfit};
use crate::{Error, Kind, Result};

/// How long a command waits for a lock before it says who holds it.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The variable that says how long to wait instead, in seconds, such as `0.5`.
const LOCK_TIMEOUT: &str = "ORANGE_LOCK_TIMEOUT";

/// The folder that everything is kept in, and who asks for it.
#[derive(Clone, Debug)]
pub struct Home {
    root: PathBuf,
    command: String,
    patience: Duration,
}

/// The folder of one task.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskDir {
    /// The project's name.
    pub project: String,
    /// The task's id.
    pub id: String,
    /// `tasks/<project>/<id>`.
    pub path: PathBuf,
}

impl Home {
    /// The home that `ORANGE_HOME` names, or `~/orange`. Nothing is created yet.
    pub fn from_env() -> Result<Home> {
        let named = std::env::var_os("ORANGE_HOME").filter(|value| !value.is_empty()).map(PathBuf::from);
        let root = match named.or_else(|| std::env::home_dir().map(|home| home.join("orange"))) {
            Some(root) => root,
            None => {
                return Err(Error::new(Kind::Environment, "neither ORANGE_HOME nor HOME is set")
                    .help("set ORANGE_HOME to the folder where orange may keep its tasks"));
            }
        };
        let root = std::path::absolute(&root).map_err(|cause| Error::io("find", &root, &cause))?;
        let command = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>();
        Ok(Home::at(root).named(&command.join(" ")).patient(patience()?))
    }

    /// The home in this folder, which should be absolute. Where links lead there, they are followed now, and never again.
    pub fn at(root: impl AsRef<Path>) -> Home {
        Home { root: real(root.as_ref()), command: "orange".to_owned(), patience: PATIENCE }
    }

    /// The same home, with the command line that a waiting process is shown as the holder of a lock.
    pub fn named(mut self, command: &str) -> Home {
        const SHOWN: usize = 200;
        let printable = |letter: char| if letter.is_control() { ' ' } else { letter };
        self.command = command.chars().take(SHOWN).map(printable).collect();
        self
    }

    /// The same home, waiting this long for a lock instead of 30 s.
    pub fn patient(mut self, patience: Duration) -> Home {
        self.patience = patience;
        self
    }

    /// Makes the folder, readable by its owner alone; one that exists is left as it is.
    pub fn prepare(&self) -> Result<()> {
        make_folder(&self.root)
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The command line that holds the locks this process takes.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// How long to wait for a lock.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// The list of projects.
    pub fn projects_json(&self) -> PathBuf {
        self.root.join("projects.json")
    }

    /// Harnesses beside those that are built in; there may be no such file.
    pub fn harnesses_toml(&self) -> PathBuf {
        self.root.join("harnesses.toml")
    }

    /// What a person has agreed to with `orange setup`; there may be no such file.
    pub fn setup_json(&self) -> PathBuf {
        self.root.join("setup.json")
    }

    /// The log.
    pub fn log_file(&self) -> PathBuf {
        self.root.join("orange.log")
    }

    /// What was in the log before it grew too long.
    pub fn former_log(&self) -> PathBuf {
        self.root.join("orange.old.log")
    }

    /// The folder with a folder of tasks for each project.
    pub fn tasks(&self) -> PathBuf {
        self.place("tasks")
    }

    /// The folder of the starts that are owed in a project.
    pub fn owed(&self, project: &str) -> PathBuf {
        self.tasks().join(project).join(".owed")
    }

    /// The folder of one task, whether or not it exists.
    pub fn task(&self, project: &str, id: &str) -> TaskDir {
        TaskDir { project: project.to_owned(), id: id.to_owned(), path: self.tasks().join(project).join(id) }
    }

    /// The folder of custom workflows.
    pub fn workflows(&self) -> PathBuf {
        self.place("workflows")
    }

    /// The folder with a folder of deleted tasks for each project, and what was set aside.
    pub fn trash(&self) -> PathBuf {
        self.place("trash")
    }

    /// Where what goes from the trash for ever is while it is being removed.
    pub fn leaving(&self) -> PathBuf {
        self.trash().join(".leaving")
    }

    /// The folder of one deleted task, whether or not it exists.
    pub fn deleted(&self, project: &str, id: &str) -> TaskDir {
        TaskDir { path: self.trash().join(project).join(id), ..self.task(project, id) }
    }

    /// Where goes, whole, what no ref can keep of a worktree of this task, or of this name: repositories inside it, and what
    /// stood in the place of its `TASK.md`.
    pub fn set_aside(&self, task: &str) -> PathBuf {
        self.trash().join(".repositories").join(task)
    }

    /// The folder with all worktrees.
    pub fn workspaces(&self) -> PathBuf {
        self.place("workspaces")
    }

    /// The worktree of this name (`<project>--<n>`).
    pub fn workspace(&self, name: &str) -> PathBuf {
        self.workspaces().join(name)
    }

    /// Which task holds which worktree.
    pub fn pool_json(&self) -> PathBuf {
        self.workspaces().join(".pool.json")
    }

    /// One of its great folders. A person may have put it on another disk, with a link; below it, none is followed.
    fn place(&self, name: &str) -> PathBuf {
        let path = self.root.join(name);
        if path.is_symlink() { real(&path) } else { path }
    }
}

impl TaskDir {
    /// The task as people and agents see it.
    pub fn task_md(&self) -> PathBuf {
        self.path.join("TASK.md")
    }

    /// The journal.
    pub fn history(&self) -> PathBuf {
        self.path.join("history.jsonl")
    }

    /// The file that carries the task's lock.
    pub fn lock_file(&self) -> PathBuf {
        self.path.join(".lock")
    }

    /// The last text that `TASK.md` had in common with the worktree's copy of it.
    pub fn base(&self) -> PathBuf {
        self.path.join(".TASK.md.base")
    }

    /// The same for a text of the worktree that is just being taken in.
    pub fn next_base(&self) -> PathBuf {
        self.path.join(".TASK.md.next")
    }

    /// Texts of `TASK.md` that another one has replaced, and that nobody else has.
    pub fn kept(&self) -> PathBuf {
        self.path.join("kept")
    }

    /// The prompt that an agent was started with; spawns count from 1.
    pub fn prompt(&self, spawn: u32) -> PathBuf {
        self.path.join("prompts").join(format!("{spawn}.md"))
    }

    /// What programs have written that hooks ran.
    pub fn commands(&self) -> PathBuf {
        self.path.join("commands")
    }

    /// What its agents did.
    pub fn transcripts(&self) -> PathBuf {
        self.path.join("transcripts")
    }

    /// What the pane of a live agent has shown so far.
    pub fn pane(&self, spawn: u32) -> PathBuf {
        self.transcripts().join(format!("{spawn}.pane"))
    }

    /// What the harnesses of its agents report.
    pub fn activity(&self) -> PathBuf {
        self.path.join("activity.jsonl")
    }

    /// What they reported before that.
    pub fn former_activity(&self) -> PathBuf {
        self.path.join("activity.old.jsonl")
    }

    /// The folder with the plugins by which harnesses report that take no command for it.
    pub fn reporting(&self) -> PathBuf {
        self.path.join("reporting")
    }

    /// What was answered to requests of its agents.
    pub fn answers(&self) -> PathBuf {
        self.path.join("answers")
    }

    /// Which processes its agents are.
    pub fn agents(&self) -> PathBuf {
        self.path.join("agents")
    }

    /// Which processes the agent of this spawn is.
    pub fn agent(&self, spawn: u32) -> PathBuf {
        self.agents().join(format!("{spawn}.json"))
    }

    /// The secret that the agent of this spawn has in its environment.
    pub fn secret(&self, spawn: u32) -> PathBuf {
        self.agents().join(format!("{spawn}.secret"))
    }
}

fn patience() -> Result<Duration> {
    let Some(given) = std::env::var_os(LOCK_TIMEOUT).filter(|value| !value.is_empty()) else {
        return Ok(PATIENCE);
    };
    given.to_str().and_then(seconds).ok_or_else(|| {
        Error::new(Kind::Environment, format!("{LOCK_TIMEOUT} is `{}`", given.to_string_lossy()))
            .help("it is the longest wait for a lock in seconds, such as 30 or 0.5; leave it out for 30")
    })
}

/// Such as `30` or `0.5`; without floating point numbers, whose tables no other part of the binary needs.
fn seconds(text: &str) -> Option<Duration> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let nanos = format!("{fraction:0<9}").get(..9)?.parse().ok()?;
    (is_digits(whole) && is_digits(fraction)).then_some(Duration::new(whole.parse().ok()?, nanos))
}

/// Makes a folder and those above it, readable by their owner alone; one that exists is left as it is.
pub(crate) fn make_folder(path: &Path) -> Result<()> {
    nofollow::make_folder(path).map_err(|cause| {
        let error = Error::io("make the folder", path, &cause);
        let is_in_the_way = matches!(cause.kind(), ErrorKind::AlreadyExists | ErrorKind::NotADirectory);
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
