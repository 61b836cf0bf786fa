//! Starts other programs: argument vectors, a time limit, and no environment of an agent or a git hook around the crab.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use orange_api::{Error, Kind, Result};
use orange_engine::GIT_VARIABLES;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Time between two looks at a running program.
const LOOK: Duration = Duration::from_millis(5);

/// Time for which the output of a program that has ended may stay open: a connection of ssh that is kept for later has it, too.
const AFTER_END: Duration = Duration::from_secs(1);

/// Variables that the programs of a crab must not inherit: the token, those that name another agent, and those of a terminal
/// multiplexer around it; and [`GIT_VARIABLES`], which name another repository.
const NOT_INHERITED: &[&str] = &[
    "ORANGE_FLEET_TOKEN",
    "ORANGE_FLEET_WITH_PARENT",
    "ORANGE_TASK",
    "ORANGE_ACTOR",
    "ORANGE_SPAWN",
    "ORANGE_SECRET",
    "ORANGE_MISSION",
    "ORANGE_STEP",
    "ORANGE_ATTEMPT",
    "ORANGE_RELAYED",
    "ORANGE_PROGRAM",
    "ORANGE_GATE",
    "ORANGE_OVERRIDES",
    "TMUX",
    "TMUX_PANE",
];

/// One call of a program.
#[derive(Clone, Debug)]
pub struct Call<'c> {
    program: PathBuf,
    args: Vec<OsString>,
    folder: Option<&'c Path>,
    environment: Vec<(OsString, OsString)>,
    input: Vec<u8>,
    limit: Duration,
    most: usize,
    is_wanted: Option<&'c dyn Wanted>,
}

/// The answer of `orange` when it refuses.
#[derive(Deserialize)]
struct Refused {
    error: Error,
}

/// A condition on which the answer of a program is still wanted.
pub trait Wanted: std::fmt::Debug {
    fn is_wanted(&self) -> bool;
}

/// Output and exit status of a program.
#[derive(Debug)]
pub struct Said {
    /// Status with which it has ended.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: String,
}

impl<'c> Call<'c> {
    /// A call with a limit of two minutes.
    pub fn new(program: impl Into<PathBuf>) -> Call<'c> {
        Call {
            program: program.into(),
            args: Vec::new(),
            folder: None,
            environment: Vec::new(),
            input: Vec::new(),
            limit: Duration::from_secs(120),
            most: usize::MAX,
            is_wanted: None,
        }
    }

    /// The same with more arguments.
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// The same in this folder.
    pub fn folder(self, folder: &'c Path) -> Self {
        Call { folder: Some(folder), ..self }
    }

    /// The same with one more variable.
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// The same with this text on its standard input.
    pub fn input(self, text: &str) -> Self {
        Call { input: text.as_bytes().to_vec(), ..self }
    }

    /// The same with another time limit.
    pub fn limit(self, limit: Duration) -> Self {
        Call { limit, ..self }
    }

    /// The same, of whose standard output only so many bytes are kept.
    pub fn most(self, most: usize) -> Self {
        Call { most, ..self }
    }

    /// The same, ended when its answer is not wanted any more.
    pub fn while_wanted(self, wanted: &'c dyn Wanted) -> Self {
        Call { is_wanted: Some(wanted), ..self }
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// `environment` when it cannot start; `timed_out` when its time is over, or nobody wants its answer.
    pub fn run(&self) -> Result<Said> {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        let not_inherited = NOT_INHERITED.iter().chain(GIT_VARIABLES);
        not_inherited.fold(&mut command, |command, name| command.env_remove(name));
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        self.folder.map(|folder| command.current_dir(folder));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(|cause| self.cannot_start(&cause))?;
        let (input, mut stdin) = (self.input.clone(), child.stdin.take());
        // A program that does not read its input says why.
        thread::spawn(move || stdin.as_mut().map(|it| it.write_all(&input).unwrap_or_default()));
        let stdout = Gathered::from(child.stdout.take(), self.most);
        let stderr = Gathered::from(child.stderr.take(), usize::MAX);
        let status = self.end_of(&mut child)?;
        let stderr = String::from_utf8_lossy(&stderr.taken()).trim_end().to_owned();
        Ok(Said { status, stdout: stdout.taken(), stderr })
    }

    /// Runs it to an end with success, and gives its standard output without the last line break.
    ///
    /// # Errors
    /// Those of [`Self::run`]; `environment` with what it has complained of.
    pub fn text(&self) -> Result<String> {
        let said = self.run()?;
        if said.status.success() {
            return Ok(String::from_utf8_lossy(&said.stdout).trim_end_matches('\n').to_owned());
        }
        Err(self.failed(&said))
    }

    /// Runs `orange --json …`, and gives its answer.
    ///
    /// # Errors
    /// Those of [`Self::run`]; the one that `orange` answers; `environment` for an answer of another shape.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T> {
        let said = self.run()?;
        if !said.status.success() {
            let refused: Option<Refused> = serde_json::from_slice(&said.stdout).ok();
            return Err(refused.map_or_else(|| self.failed(&said), |it| it.error));
        }
        serde_json::from_slice(&said.stdout).map_err(|cause| {
            let message = format!("`{}` answers something else: {cause}", self.shown());
            Error::new(Kind::Environment, message).help("use `orange` and `orange-fleet` of the same version")
        })
    }

    /// The error of a call that has not ended with success.
    pub fn failed(&self, said: &Said) -> Error {
        let what = if said.stderr.is_empty() { said.status.to_string() } else { said.stderr.clone() };
        Error::new(Kind::Environment, format!("`{}`: {what}", self.shown()))
    }

    fn end_of(&self, child: &mut Child) -> Result<ExitStatus> {
        let start = Instant::now();
        loop {
            if let Some(status) = child.try_wait().map_err(|cause| self.cannot_start(&cause))? {
                return Ok(status);
            }
            let is_late = start.elapsed() > self.limit;
            if is_late || self.is_wanted.is_some_and(|it| !it.is_wanted()) {
                end_group(child);
                let why = if is_late { "has taken too long" } else { "is not needed any more" };
                return Err(Error::new(Kind::TimedOut, format!("`{}` {why}", self.shown())));
            }
            thread::sleep(LOOK);
        }
    }

    /// The program and its first words.
    fn shown(&self) -> String {
        let name = self.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let words = self.args.iter().map(|it| it.to_string_lossy().into_owned());
        let text: Vec<String> = [name].into_iter().chain(words).collect();
        text.join(" ").chars().take(160).collect()
    }

    fn cannot_start(&self, cause: &std::io::Error) -> Error {
        Error::new(Kind::Environment, format!("cannot run `{}`: {cause}", self.program.display()))
            .help("install it, or put it on the PATH of the crab")
    }
}

/// Ends a program with everything that it has started.
fn end_group(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // A group that is gone needs no end.
    if let Some(group) = group {
        kill_process_group(group, Signal::KILL).unwrap_or_default();
    }
    child.wait().map(drop).unwrap_or_default();
}

/// The output of a program, read in a thread of its own.
struct Gathered {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Gathered {
    fn from(pipe: Option<impl Read + Send + 'static>, most: usize) -> Gathered {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let filled = Arc::clone(&bytes);
        let reader = thread::spawn(move || {
            let Some(mut pipe) = pipe else { return };
            let mut part = [0; 1 << 16];
            // What was read before a failure is still what the program has said.
            while let Ok(length @ 1..) = pipe.read(&mut part) {
                let mut filled = filled.lock().unwrap_or_else(PoisonError::into_inner);
                let room = most.saturating_sub(filled.len());
                filled.extend(part.iter().take(length.min(room)));
            }
        });
        Gathered { bytes, reader }
    }

    /// Output of the program, after its end.
    fn taken(self) -> Vec<u8> {
        let end = Instant::now();
        while !self.reader.is_finished() && end.elapsed() < AFTER_END {
            thread::sleep(LOOK);
        }
        std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Never;

    impl Wanted for Never {
        fn is_wanted(&self) -> bool {
            false
        }
    }

    #[test]
    fn a_program_reads_its_input_and_is_heard() {
        assert_eq!(Call::new("cat").input("hello\n").text().unwrap(), "hello");
        assert_eq!(Call::new("cat").input(&"hello\n".repeat(100_000)).most(8).text().unwrap(), "hello\nhe");
        let error = Call::new("ls").args(["/no/such/folder"]).text().unwrap_err();
        assert!(error.message.contains("/no/such/folder"), "{error}");
        assert_eq!(Call::new("/no/such/program").run().unwrap_err().kind, Kind::Environment);
    }

    #[test]
    fn a_program_that_leaves_another_one_running_has_ended() {
        let script = "sleep 1000 & echo $!; exit 0";
        let said = Call::new("sh").args(["-c", script]).limit(Duration::from_secs(60)).text().unwrap();
        let left = said.parse().ok().and_then(Pid::from_raw).unwrap();
        rustix::process::kill_process(left, Signal::KILL).unwrap();
    }

    #[test]
    fn a_program_ends_with_its_time_or_when_nobody_wants_it() {
        let sleep = || Call::new("sleep").args(["1000"]);
        assert_eq!(sleep().limit(Duration::from_millis(1)).run().unwrap_err().kind, Kind::TimedOut);
        let error = sleep().while_wanted(&Never).run().unwrap_err();
        assert_eq!(error.message, "`sleep 1000` is not needed any more");
    }
}
