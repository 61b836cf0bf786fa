//! The stores under which the torture runs. Another one is a line in `STORES`, and how its processes are started, killed and stopped.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::process::Process;
use crate::world::PATIENCE;

/// Where Debian has the programs of each version of Postgres.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The database of the fleet, and its user.
const NAME: &str = "fleet";

/// What is to be known of a kind of store.
pub(crate) struct StoreKind {
    /// Its name on the command line and in the table.
    pub(crate) name: &'static str,
    /// How many gateways serve it at a time.
    pub(crate) gateways: usize,
    /// Why it cannot be had on this machine, if it cannot.
    pub(crate) lacks: fn() -> Option<String>,
    /// Starts it in this folder.
    pub(crate) start: fn(&Path) -> Result<Store, String>,
}

/// Every kind of store.
pub(crate) const STORES: &[StoreKind] = &[
    StoreKind { name: "sqlite", gateways: 1, lacks: || None, start: |_| Ok(Store::default()) },
    StoreKind { name: "postgres", gateways: 2, lacks: lacks_postgres, start: postgres },
];

/// A store that runs.
#[derive(Debug, Default)]
pub(crate) struct Store {
    /// What `--store` names; the gateway's own file if it is `None`.
    pub(crate) option: Option<String>,
    /// Its server, which is killed, stopped and started again.
    pub(crate) server: Option<Server>,
}

/// A server of Postgres.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) process: Process,
    programs: PathBuf,
    folder: PathBuf,
}

impl Server {
    /// Starts it, and waits until it answers. After a kill, its children take a moment to end, and it does not start before.
    pub(crate) fn start(&mut self) -> Result<(), String> {
        let begin = Instant::now();
        self.process.start()?;
        while !self.answers() {
            if begin.elapsed() > PATIENCE {
                return Err(format!("Postgres does not answer: {}", self.process.logged()));
            }
            if self.process.has_ended() {
                self.process.start()?;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn answers(&self) -> bool {
        let mut ask = Command::new(self.programs.join("pg_isready"));
        ask.arg("--quiet").arg("--host").arg(&self.folder).stdout(Stdio::null()).stderr(Stdio::null());
        ask.status().is_ok_and(|it| it.success())
    }
}

/// The programs of the newest version.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir(DEBIAN).ok()?.filter_map(Result::ok);
    let programs = versions.map(|it| it.path().join("bin"));
    programs.filter(|it| it.join("initdb").exists() && it.join("pg_isready").exists()).max()
}

fn lacks_postgres() -> Option<String> {
    programs().is_none().then(|| format!("there is no Postgres in {DEBIAN}"))
}

/// A server with one empty database, on a socket in this folder.
fn postgres(folder: &Path) -> Result<Store, String> {
    let programs = programs().ok_or("there is no Postgres")?;
    let cause = |error: std::io::Error| error.to_string();
    let folder = folder.join("postgres");
    std::fs::create_dir(&folder).map_err(cause)?;
    // It refuses root: then it runs as the user that Debian's package has made, who comes through the folders above.
    let is_root = std::fs::metadata("/proc/self").map_err(cause)?.uid() == 0;
    if is_root {
        let above = folder.parent().unwrap_or(&folder);
        std::fs::set_permissions(above, std::fs::Permissions::from_mode(0o711)).map_err(cause)?;
        run(Command::new("chown").arg("postgres:postgres").arg(&folder))?;
    }
    let as_user = if is_root { &["--reuid=postgres", "--regid=postgres", "--clear-groups"][..] } else { &[] };
    let program = if is_root { PathBuf::from("setpriv") } else { PathBuf::from("env") };
    let (data, place) = (folder.join("data"), folder.display().to_string());
    let words = |name: &str, words: &[&str]| {
        let own = [programs.join(name).display().to_string()];
        let words = as_user
            .iter()
            .chain(&[])
            .map(|it| (*it).to_owned())
            .chain(own)
            .chain(words.iter().map(|it| (*it).to_owned()));
        words.collect::<Vec<String>>()
    };
    let data = data.display().to_string();
    let made = ["-D", &data, "-A", "trust", "-U", NAME, "-E", "UTF8", "--locale=C"];
    run(Command::new(&program).args(words("initdb", &made)).current_dir(&folder))?;
    let served = ["-D", &data, "-k", &place, "-c", "listen_addresses=", "-c", "max_connections=100"];
    let log = folder.with_extension("log");
    let process = Process::new("postgres", &program, words("postgres", &served), log);
    let mut server = Server { process, programs: programs.clone(), folder };
    server.start()?;
    run(Command::new(programs.join("createdb")).args(["--host", &place, "--username", NAME, NAME]))?;
    Ok(Store { option: Some(format!("postgres://{NAME}@/{NAME}?host={place}")), server: Some(server) })
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?} cannot be run: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("{command:?}: {said}")) }
}
