//! Starts other programs: no environment of an agent or of a git hook is around the crab.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use orange_api::{Error, ErrorKind, Result};
use orange_system::exec::{self, CallOutput, StopReason};
use orange_system::variables;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Variables that the programs of a crab must not inherit, beside [`variables::IDENTITY`] and [`variables::GIT`]: the token, and
/// those of a terminal multiplexer around it.
const NOT_INHERITED: &[&str] = &["ORANGE_FLEET_TOKEN", "ORANGE_FLEET_WITH_PARENT", "TMUX", "TMUX_PANE"];

/// One call of a program.
#[derive(Debug)]
pub struct WantedCall<'c> {
    call: exec::ProgramCall,
    is_wanted: Option<&'c dyn StillWanted>,
}

/// The answer of `orange` when it refuses.
#[derive(Deserialize)]
struct RefusalAnswer {
    error: Error,
}

/// A condition on which the answer of a program is still wanted.
pub trait StillWanted: std::fmt::Debug {
    fn is_wanted(&self) -> bool;
}

impl<'c> WantedCall<'c> {
    /// A call with a limit of two minutes.
    pub fn new(program: impl AsRef<OsStr>) -> WantedCall<'c> {
        let call = exec::ProgramCall::new(program).without(NOT_INHERITED);
        let call = call.without(variables::IDENTITY).without(variables::GIT);
        WantedCall { call: call.bound(Duration::from_secs(120)), is_wanted: None }
    }

    /// Adds arguments.
    pub fn args<A: AsRef<OsStr>>(self, args: impl IntoIterator<Item = A>) -> Self {
        WantedCall { call: self.call.args(args), ..self }
    }

    /// Sets the folder in which the program runs.
    pub fn folder(self, folder: &Path) -> Self {
        WantedCall { call: self.call.folder(folder), ..self }
    }

    /// Adds a variable to the environment.
    pub fn env(self, name: &str, value: impl Into<OsString>) -> Self {
        WantedCall { call: self.call.env(name, value.into()), ..self }
    }

    /// Sets the text on its standard input.
    pub fn input(self, text: &str) -> Self {
        WantedCall { call: self.call.input(text.as_bytes()), ..self }
    }

    /// Sets the time limit.
    pub fn limit(self, limit: Duration) -> Self {
        WantedCall { call: self.call.bound(limit), ..self }
    }

    /// Sets the most bytes of its standard output that are kept.
    pub fn most(self, most: usize) -> Self {
        WantedCall { call: self.call.most(most), ..self }
    }

    /// Ends the program when its answer is not wanted any more.
    pub fn while_wanted(self, wanted: &'c dyn StillWanted) -> Self {
        WantedCall { is_wanted: Some(wanted), ..self }
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// `environment` when it cannot start; `timed_out` when its time is over, or its answer is not wanted any more.
    pub fn run(self) -> Result<CallOutput> {
        let WantedCall { call, is_wanted } = self;
        let end = call.run_while(&|| is_wanted.is_none_or(|it| it.is_wanted()))?;
        let reason = match end.stopped {
            None => return Ok(end.output),
            Some(StopReason::Late) => "has taken too long",
            Some(StopReason::Unwanted) => "is not needed any more",
        };
        Err(Error::new(ErrorKind::TimedOut, format!("`{}` {reason}", end.output.call())))
    }

    /// Runs it to an end with success, and gives its standard output without the last line break.
    ///
    /// # Errors
    /// Those of [`Self::run`]; `environment` with what it has complained of.
    pub fn text(self) -> Result<String> {
        Ok(self.run()?.checked()?.text())
    }

    /// Runs `orange --json …`, and gives its answer.
    ///
    /// # Errors
    /// Those of [`Self::run`]; the one that `orange` answers; `environment` for an answer of another shape.
    pub fn json<T: DeserializeOwned>(self) -> Result<T> {
        let said = self.run()?;
        if !said.success() {
            let refused: Option<RefusalAnswer> = serde_json::from_slice(&said.stdout).ok();
            return Err(refused.map_or_else(|| said.failure(), |it| it.error));
        }
        serde_json::from_slice(&said.stdout).map_err(|cause| {
            let message = format!("`{}` answers something else: {cause}", said.call());
            Error::new(ErrorKind::Environment, message)
                .help("use `orange` and `orange-fleet` of the same version")
        })
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::{Pid, Signal};

    use super::*;

    #[derive(Debug)]
    struct Never;

    impl StillWanted for Never {
        fn is_wanted(&self) -> bool {
            false
        }
    }

    #[test]
    fn a_program_reads_its_input_and_is_heard() {
        assert_eq!(WantedCall::new("cat").input("hello\n").text().unwrap(), "hello");
        assert_eq!(
            WantedCall::new("cat").input(&"hello\n".repeat(100_000)).most(8).text().unwrap(),
            "hello\nhe"
        );
        let error = WantedCall::new("ls").args(["/no/such/folder"]).text().unwrap_err();
        assert!(error.message.contains("/no/such/folder"), "{error}");
        assert_eq!(WantedCall::new("/no/such/program").run().unwrap_err().kind, ErrorKind::Environment);
    }

    #[test]
    fn a_program_that_leaves_another_one_running_has_ended() {
        let script = "sleep 1000 & echo $!; exit 0";
        let said = WantedCall::new("sh").args(["-c", script]).limit(Duration::from_secs(60)).text().unwrap();
        let left = said.parse().ok().and_then(Pid::from_raw).unwrap();
        rustix::process::kill_process(left, Signal::KILL).unwrap();
    }

    #[test]
    fn a_program_ends_with_its_time_or_when_nobody_wants_it() {
        let sleep = || WantedCall::new("sleep").args(["1000"]);
        assert_eq!(sleep().limit(Duration::from_millis(1)).run().unwrap_err().kind, ErrorKind::TimedOut);
        let error = sleep().while_wanted(&Never).run().unwrap_err();
        assert_eq!(error.message, "`sleep 1000` is not needed any more");
    }
}
