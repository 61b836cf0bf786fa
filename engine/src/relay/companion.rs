//! The wrapper's side: starts the companion before the agent and again after it was killed, and ends it after the agent.

use orange_system::variables;
use std::io::Read;
use std::process::Child;

use rustix::process::Pid;

use crate::Result;
use crate::app::App;
use crate::store::{WorkItemDir, secret};
use orange_system::fault;

/// Number of times that a companion is started again at most.
const RESTARTS: u32 = 8;

/// The companion of one agent: a process outside every sandbox, which ends with this process or on request.
#[derive(Debug)]
pub struct Companion<'o> {
    app: &'o App,
    dir: &'o WorkItemDir,
    spawn: u32,
    child: Option<Child>,
    restarts: u32,
}

impl<'o> Companion<'o> {
    /// Starts it, and waits until it answers. If it cannot be started, the agent runs without one, and `orange.log` has the reason.
    pub fn start(app: &'o App, dir: &'o WorkItemDir, spawn: u32) -> Companion<'o> {
        let mut companion = Companion { app, dir, spawn, child: None, restarts: 0 };
        companion.begin();
        companion
    }

    /// Handles the end of a child of this process; if it was the companion, another one is started.
    pub fn lost(&mut self, pid: Pid) {
        if self.child.as_ref().is_some_and(|child| Pid::from_child(child) == pid) {
            self.child = None;
            if self.restarts < RESTARTS {
                self.restarts += 1;
                self.begin();
            }
        }
    }

    /// Ends it, after it has answered the last requests.
    pub fn end(self) {
        let Some(mut child) = self.child else { return };
        fault::step("end", "the companion");
        // Waiting closes its standard input first. It fails if the companion was reaped, which has then ended, too.
        child.wait().map(drop).unwrap_or_default();
    }

    fn begin(&mut self) {
        // The companion itself writes its failure to the log.
        self.child = self.started().unwrap_or_default();
    }

    /// Starts a companion that answers.
    fn started(&self) -> Result<Option<Child>> {
        let spawn = self.spawn.to_string();
        let call =
            self.app.as_engine(&["agent", "serve", "--task", &self.dir.id, "--spawn", &spawn], self.dir);
        let call = call.env(variables::SECRET, secret::read(self.dir, self.spawn)?.unwrap_or_default());
        let mut child = call.companion(&self.app.home.log_file())?;
        // It writes one byte when it is ready, and closes the pipe when it fails.
        let said = child.stdout.take().map(|mut pipe| pipe.read(&mut [0]));
        if matches!(said, Some(Ok(1))) {
            return Ok(Some(child));
        }
        child.wait().map(drop).unwrap_or_default();
        Ok(None)
    }
}
