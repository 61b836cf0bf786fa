//! A server of Restate for a measurement, and `orange-fleet restate-log` beside it.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use orange_fleet::host::Host;
use orange_fleet::host::restate::{Address, RestateHost};
use tempfile::TempDir;

use crate::restate_program::{self, Ports};
use crate::{PATIENCE, Result, cpu_of};

/// Both; they end with it.
pub(crate) struct Restate {
    /// The address of the store.
    pub(crate) address: String,
    processes: Vec<Child>,
    _folder: TempDir,
}

impl Restate {
    /// Starts them, and waits until they answer; `None` where npm does not have the server. `fleet` is `orange-fleet`.
    pub(crate) fn start(fleet: &Path) -> Result<Option<Restate>> {
        let Some(program) = restate_program::program() else { return Ok(None) };
        let (folder, ports) = (tempfile::tempdir()?, Ports::free());
        let settings = folder.path().join("restate.toml");
        std::fs::write(&settings, ports.settings(&folder.path().join("data")))?;
        let mut restate = Restate {
            address: format!("restate://127.0.0.1:{}/fleet", ports.ingress),
            processes: Vec::new(),
            _folder: folder,
        };
        let (listen, admin) =
            (format!("127.0.0.1:{}", ports.service), format!("http://127.0.0.1:{}", ports.admin));
        restate.spawn(Command::new(program).arg("--no-logo").arg("--config-file").arg(settings))?;
        restate.spawn(Command::new(fleet).args(["restate-log", "--listen", &listen, "--admin", &admin]))?;
        let begin = Instant::now();
        while restate.open().is_err() {
            if begin.elapsed() > PATIENCE {
                return Err("Restate does not answer".into());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(Some(restate))
    }

    /// Opens the store.
    pub(crate) fn open(&self) -> Result<Arc<dyn Host>> {
        Ok(Arc::new(RestateHost::open(&Address::read(&self.address)?)?))
    }

    /// The processor time of both.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        self.processes.iter().map(|it| cpu_of(it.id())).sum()
    }

    fn spawn(&mut self, command: &mut Command) -> Result<()> {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        self.processes.push(child);
        Ok(())
    }
}

impl Drop for Restate {
    fn drop(&mut self) {
        for child in &mut self.processes {
            // It may have ended.
            child.kill().unwrap_or_default();
            child.wait().map(drop).unwrap_or_default();
        }
    }
}
