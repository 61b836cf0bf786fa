//! The wrapper's side of the companion: starting it before the agent, again when it was killed, and ending it after.

use std::io::Read;
use std::process::Child;

use rustix::process::Pid;

use crate::app::App;
use crate::store::{TaskDir, secret};
use crate::{Result, caller, fault};

/// How often a companion that was killed is started again.
const RESTARTS: u32 = 8;

/// The companion of one agent: a process outside every sandbox, which ends when this process ends or says so.
#[derive(Debug)]
pub struct Companion<'o> {
    app: &'o App,
    dir: &'o TaskDir,
    spawn: u32,
    child: Option<Child>,
    restarts: u32,
}

impl<'o> Companion<'o> {
    /// Starts it, and waits until it answers. An agent whose companion cannot be started runs without one: `orange.log`
    /// says why.
    pub fn start(app: &'o App, dir: &'o TaskDir, spawn: u32) -> Companion<'o> {
        let mut companion = Companion { app, dir, spawn, child: None, restarts: 0 };
        companion.begin();
        companion
    }

    /// Takes note that a child of this process has ended and was reaped. If it was the companion, another one is started.
    pub fn lost(&mut self, pid: Pid) {
        if self.child.as_ref().is_some_and(|child| Pid::from_child(child) == pid) {
            self.child = None;
            if self.restarts < RESTARTS {
                self.restarts += 1;
                self.begin();
            }
        }
    }

    /// Ends it, once it has answered what was asked before.
    pub fn end(self) {
        let Some(mut child) = self.child else { return };
        fault::step("end", "the companion");
        // Waiting closes its standard input first. It fails for one that was reaped, which has ended all the same.
        child.wait().map(drop).unwrap_or_default();
    }

    fn begin(&mut self) {
        // What went wrong is in the log: the companion writes it there itself.
        self.child = self.started().unwrap_or_default();
    }

    /// A companion that answers.
    fn started(&self) -> Result<Option<Child>> {
        let spawn = self.spawn.to_string();
        let call =
            self.app.as_engine(&["agent", "serve", "--task", &self.dir.id, "--spawn", &spawn], self.dir);
        let call = call.env(caller::SECRET, secret::read(self.dir, self.spawn)?.unwrap_or_default());
        let mut child = call.companion(&self.app.home.log_file())?;
        // It writes one byte when it answers, and closes the pipe without one when it cannot.
        let said = child.stdout.take().map(|mut pipe| pipe.read(&mut [0]));
        if matches!(said, Some(Ok(1))) {
            return Ok(Some(child));
        }
        child.wait().map(drop).unwrap_or_default();
        Ok(None)
    }
}
