//! The program `orange`, with the crab's own home and tmux server.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use orange_api::{
    Diagnosis, Error, ErrorKind, ListedMission, ListedProject, MissionRow, NewAttempt, Result, ShownAttempt,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::job::short_hash;
use super::program::WantedCall;

/// Time limit of one call: a worktree is made, and files of another one are backed up.
const PATIENCE: Duration = Duration::from_secs(1800);

/// The longest path of a socket.
const LONGEST_SOCKET: usize = 100;

/// The program and its surroundings.
#[derive(Clone, Debug)]
pub struct Engine {
    program: PathBuf,
    home: PathBuf,
    socket: OsString,
}

impl Engine {
    /// This program with the home in this folder of a crab.
    pub fn new(program: PathBuf, crab_home: &Path) -> Engine {
        let socket = crab_home.join("tmux");
        // A path that is too long for a socket has a name instead, in the folder of tmux.
        let socket = if socket.as_os_str().len() > LONGEST_SOCKET {
            format!("orange-crab-{}", short_hash(&crab_home.to_string_lossy())).into()
        } else {
            socket.into_os_string()
        };
        Engine { program, home: crab_home.join("orange"), socket }
    }

    /// The home, which is `ORANGE_HOME` for its programs.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Path of the worktree in which the agents of a project work: its pool has one.
    pub fn worktree_of(&self, project: &str) -> PathBuf {
        self.home.join("workspaces").join(format!("{project}--1"))
    }

    /// Adds a clone as a project, unless it is one.
    pub fn add_project(&self, name: &str, clone: &Path, base: Option<&str>) -> Result<()> {
        let known: Vec<ListedProject> = self.ask(&["project", "list"], "")?;
        if known.iter().any(|it| it.name == name) {
            return Ok(());
        }
        let clone = clone.to_string_lossy();
        let mut words = vec!["project", "add", &clone, "--name", name, "--pool-size", "1"];
        words.extend(base.iter().flat_map(|base| ["--default-branch", base]));
        self.ask::<Value>(&words, "").map(drop)
    }

    /// Agrees to what these harnesses ask before they work, as a person does with `orange setup`.
    pub fn agree(&self, harness: Option<&str>) -> Result<()> {
        let words = ["setup", "--yes"].into_iter().chain(harness.iter().flat_map(|it| ["--harness", it]));
        self.ask::<Value>(&words.collect::<Vec<_>>(), "").map(drop)
    }

    /// Makes a wall on this machine, and attacks it.
    ///
    /// # Errors
    /// `environment` where none can be made, or one does not hold.
    pub fn attacks_wall(&self) -> Result<()> {
        let said = self.call(&["--json", "doctor", "--wall"]).run()?;
        let diagnosis: Diagnosis = serde_json::from_slice(&said.stdout).map_err(|_| said.failure())?;
        let broken = diagnosis.findings.into_iter().find(|it| it.level == "broken");
        match broken {
            None if diagnosis.healthy => Ok(()),
            None => Err(said.failure()),
            Some(found) => Err(Error::new(ErrorKind::Environment, found.message).help(
                found.remedy.unwrap_or_else(|| "`orange doctor --wall` shows every attack".to_owned()),
            )),
        }
    }

    /// Runs an attempt, unless it runs already.
    pub fn run(&self, new: &NewAttempt) -> Result<ShownAttempt> {
        let input = serde_json::to_string(new).map_err(|cause| {
            Error::new(ErrorKind::Environment, format!("the attempt cannot be written as JSON: {cause}"))
        })?;
        self.ask(&["attempt", "run", "-"], &input)
    }

    /// Every mission that can be read.
    pub fn missions(&self) -> Result<Vec<MissionRow>> {
        self.listed(&["mission", "list", "--all", "--all-projects"])
    }

    /// The missions that are not over.
    pub fn unfinished(&self) -> Result<Vec<MissionRow>> {
        self.listed(&["mission", "list", "--all-projects"])
    }

    fn listed(&self, words: &[&str]) -> Result<Vec<MissionRow>> {
        let all: Vec<ListedMission> = self.ask(words, "")?;
        let readable = all.into_iter().filter_map(|it| match it {
            ListedMission::Readable(row) => Some(*row),
            ListedMission::Unreadable { .. } => None,
        });
        Ok(readable.collect())
    }

    /// The attempt of a mission; `None` if there is none.
    pub fn attempt(&self, mission: &str) -> Result<Option<ShownAttempt>> {
        match self.ask(&["attempt", "show", mission], "") {
            Ok(shown) => Ok(Some(shown)),
            Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Transcript of the last agent of a step, as text, if there is anything of it.
    pub fn transcript(&self, id: &str, step: &str, limit: Duration) -> Result<Option<String>> {
        let said = self.call(&["mission", "logs", id, step]).limit(limit).run()?;
        Ok(said.success().then(|| said.text_as_it_is()))
    }

    /// Ends a mission and its agent. The engine backs up what is not committed.
    pub fn cancel(&self, id: &str) -> Result<()> {
        self.ask::<Value>(&["mission", "cancel", id, "--yes"], "").map(drop)
    }

    /// Moves a mission that is over to the trash.
    pub fn delete(&self, id: &str) -> Result<()> {
        self.ask::<Value>(&["mission", "delete", id, "--yes"], "").map(drop)
    }

    /// Removes what missions have left for so many days and what is kept elsewhere: work that is not merged stays, and a mission
    /// in the trash as long as it has a backup.
    pub fn collect(&self, days: u32) -> Result<()> {
        self.ask::<Value>(&["gc", "--older-than", &days.to_string(), "--yes"], "").map(drop)
    }

    /// Takes note of agents that have died without a report, of timeouts, and of limits that are over.
    pub fn look(&self) -> Result<()> {
        self.ask::<Value>(&["monitor", "--once"], "").map(drop)
    }

    fn ask<T: DeserializeOwned>(&self, words: &[&str], input: &str) -> Result<T> {
        self.call(&[&["--json"], words].concat()).input(input).limit(PATIENCE).json()
    }

    fn call(&self, words: &[&str]) -> WantedCall<'_> {
        let call = WantedCall::new(&self.program).args(words.iter().copied());
        call.env("ORANGE_HOME", &self.home).env("ORANGE_TMUX_SOCKET", &self.socket)
    }
}
