//! A server of Restate, in a folder of its own, and `orange-fleet restate-log` beside it.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::process::Process;
use crate::restate_program::{self, Ports};
use crate::store::Server;
use crate::world::PATIENCE;

/// A server, and the service that it calls.
#[derive(Debug)]
pub(crate) struct Restate {
    server: Process,
    ports: Ports,
}

/// Reason for which Restate is missing, if it is.
pub(crate) fn lacks() -> Option<String> {
    restate_program::program().is_none().then(|| "npm does not have the server of Restate".to_owned())
}

/// Starts both. `fleet` is the program `orange-fleet`.
pub(crate) fn start(folder: &Path, fleet: &Path) -> Result<(Restate, Process), String> {
    let cause = |error: std::io::Error| error.to_string();
    let program = restate_program::program().ok_or("there is no Restate")?;
    let ports = Ports::free();
    let settings = folder.join("restate.toml");
    std::fs::write(&settings, ports.settings(&folder.join("restate"))).map_err(cause)?;
    let words = ["--config-file", &settings.display().to_string(), "--no-logo"].map(str::to_owned).into();
    let server = Process::new("restate", &program, words, folder.join("restate.log"));
    let (listen, admin) =
        (format!("127.0.0.1:{}", ports.service), format!("http://127.0.0.1:{}", ports.admin));
    let words = ["restate-log", "--listen", &listen, "--admin", &admin].map(str::to_owned).into();
    let mut service = Process::new("restate-log", fleet, words, folder.join("restate-log.log"));
    service.start()?;
    let mut restate = Restate { server, ports };
    Server::start(&mut restate)?;
    Ok((restate, service))
}

impl Restate {
    /// The address of the store.
    pub(crate) fn address(&self) -> String {
        format!("restate://127.0.0.1:{}/fleet", self.ports.ingress)
    }

    /// True if it answers for a log, for which it asks the service.
    fn answers(&self) -> bool {
        let url = format!("http://127.0.0.1:{}/OrangeLog/probe/length", self.ports.ingress);
        let patience = Some(Duration::from_secs(10));
        let agent = ureq::Agent::config_builder().timeout_global(patience).build().new_agent();
        agent.post(&url).header("Content-Type", "application/json").send("{}").is_ok()
    }
}

impl Server for Restate {
    fn process(&mut self) -> &mut Process {
        &mut self.server
    }

    fn start(&mut self) -> Result<(), String> {
        self.server.start()?;
        let begin = Instant::now();
        while !self.answers() {
            if self.server.has_ended() || begin.elapsed() > PATIENCE {
                return Err(format!("Restate does not answer: {}", self.server.logged()));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn logged(&self) -> String {
        self.server.logged()
    }
}
