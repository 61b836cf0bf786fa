//! Where everything is: `ORANGE_HOME` and the paths under it.

use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

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
    ///
    /// # Errors
    /// `environment` when neither `ORANGE_HOME` nor a home folder of the user is known, or `ORANGE_LOCK_TIMEOUT` is no
    /// time.
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

    /// The home in this folder, which should be absolute.
    pub fn at(root: impl Into<PathBuf>) -> Home {
        Home { root: root.into(), command: "orange".to_owned(), patience: PATIENCE }
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
    ///
    /// # Errors
    /// `environment` when it cannot be made, with what to do.
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

    /// The log.
    pub fn log_file(&self) -> PathBuf {
        self.root.join("orange.log")
    }

    /// The folder with a folder of tasks for each project.
    pub fn tasks(&self) -> PathBuf {
        self.root.join("tasks")
    }

    /// The folder of one task, whether or not it exists.
    pub fn task(&self, project: &str, id: &str) -> TaskDir {
        TaskDir { project: project.to_owned(), id: id.to_owned(), path: self.tasks().join(project).join(id) }
    }

    /// The folder of custom workflows.
    pub fn workflows(&self) -> PathBuf {
        self.root.join("workflows")
    }

    /// The folder with a folder of deleted tasks for each project, and what was set aside.
    pub fn trash(&self) -> PathBuf {
        self.root.join("trash")
    }

    /// The folder of one deleted task, whether or not it exists.
    pub fn deleted(&self, project: &str, id: &str) -> TaskDir {
        TaskDir { path: self.trash().join(project).join(id), ..self.task(project, id) }
    }

    /// Where goes, whole, what no ref can keep of a worktree of this task, or of this name: repositories inside it, and what
    /// stood in the place of its link.
    pub fn set_aside(&self, task: &str) -> PathBuf {
        self.trash().join(".repositories").join(task)
    }

    /// The folder with all worktrees.
    pub fn workspaces(&self) -> PathBuf {
        self.root.join("workspaces")
    }

    /// The worktree of this name (`<project>--<n>`).
    pub fn workspace(&self, name: &str) -> PathBuf {
        self.workspaces().join(name)
    }

    /// Which task holds which worktree.
    pub fn pool_json(&self) -> PathBuf {
        self.workspaces().join(".pool.json")
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

    /// The prompt that an agent was started with; spawns count from 1.
    pub fn prompt(&self, spawn: u32) -> PathBuf {
        self.path.join("prompts").join(format!("{spawn}.md"))
    }

    /// Which processes its agents are.
    pub fn agents(&self) -> PathBuf {
        self.path.join("agents")
    }

    /// Which processes the agent of this spawn is.
    pub fn agent(&self, spawn: u32) -> PathBuf {
        self.agents().join(format!("{spawn}.json"))
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
///
/// # Errors
/// `environment` when it cannot be made, with what to do.
pub(crate) fn make_folder(path: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|cause| {
        let in_the_way = matches!(cause.kind(), ErrorKind::AlreadyExists | ErrorKind::NotADirectory);
        let help = if in_the_way {
            "a file is in the way: move it, or set ORANGE_HOME to another folder"
        } else {
            "make it writable for you, or set ORANGE_HOME to a folder that is"
        };
        Error::io("make the folder", path, &cause).help(help)
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
