//! Servers of Postgres, each in a folder of its own, with its socket in it.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::process::FleetProcess;
use crate::store::Server;
use crate::world::PATIENCE;

/// Folder with the programs of each version on Debian.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The database of the fleet, and its user.
pub(crate) const NAME: &str = "fleet";

#[derive(Debug)]
pub(crate) struct TorturePostgres {
    process: FleetProcess,
    programs: Programs,
    folder: PathBuf,
    /// Number of folders of data that it has had.
    copies: u32,
}

/// The programs of the newest version, and who runs them.
#[derive(Clone, Debug)]
struct Programs {
    folder: PathBuf,
    /// They refuse root: then they run as the user that Debian's package has made.
    is_root: bool,
}

/// Reason for which Postgres is missing, if it is.
pub(crate) fn lacks() -> Option<String> {
    folder_of_programs().is_none().then(|| format!("there is no Postgres in {DEBIAN}"))
}

impl TorturePostgres {
    /// A server with one empty database.
    pub(crate) fn new(folder: &Path) -> Result<TorturePostgres, String> {
        let mut server = TorturePostgres::prepare(folder)?;
        let data = server.data();
        let made = ["-D", &data, "-A", "trust", "-U", NAME, "-E", "UTF8", "--locale=C"];
        run(&mut server.programs.command("initdb", &made))?;
        server.start()?;
        let place = server.place();
        run(&mut server.programs.command("createdb", &["--host", &place, "--username", NAME, NAME]))?;
        Ok(server)
    }

    /// A server that repeats what this one does, before that one answers.
    pub(crate) fn standby(folder: &Path, of: &TorturePostgres) -> Result<TorturePostgres, String> {
        let mut standby = TorturePostgres::prepare(folder)?;
        standby.copy(of)?;
        Ok(standby)
    }

    /// Takes the work of its primary over, which is dead. That one becomes the standby of this one with
    /// [`TorturePostgres::copy`].
    pub(crate) fn promote(&self) -> Result<(), String> {
        self.sql("select pg_promote()").map(drop)
    }

    /// Begins again as the standby of that server, and waits until that one answers nothing before this one has written it.
    pub(crate) fn copy(&mut self, of: &TorturePostgres) -> Result<(), String> {
        // Children of a killed server may still have the old folder open.
        self.copies += 1;
        let (data, from) = (self.data(), of.place());
        let copied = ["-D", &data, "--host", &from, "--username", NAME, "--write-recovery-conf"];
        run(&mut self.programs.command("pg_basebackup", &[&copied[..], &["--checkpoint", "fast"]].concat()))?;
        self.process = self.served();
        self.start()?;
        of.sql("alter system set synchronous_standby_names = '*'")?;
        of.sql("select pg_reload_conf()")?;
        let begin = Instant::now();
        while of.sql("select count(*) from pg_stat_replication where sync_state = 'sync'")? != "1" {
            if begin.elapsed() > PATIENCE {
                return Err(format!("the standby follows nobody: {}", self.process.logged()));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// The folder of its socket.
    pub(crate) fn place(&self) -> String {
        self.folder.display().to_string()
    }

    fn prepare(folder: &Path) -> Result<TorturePostgres, String> {
        let cause = |error: std::io::Error| error.to_string();
        let programs = folder_of_programs().ok_or("there is no Postgres")?;
        std::fs::create_dir(folder).map_err(cause)?;
        let is_root = std::fs::metadata("/proc/self").map_err(cause)?.uid() == 0;
        if is_root {
            // Its user comes through the folder above.
            let above = folder.parent().unwrap_or(folder);
            std::fs::set_permissions(above, std::fs::Permissions::from_mode(0o711)).map_err(cause)?;
            run(Command::new("chown").arg("postgres:postgres").arg(folder))?;
        }
        let programs = Programs { folder: programs, is_root };
        let process = FleetProcess::new("postgres", Path::new("postgres"), Vec::new(), PathBuf::new());
        let mut server = TorturePostgres { process, programs, folder: folder.to_owned(), copies: 0 };
        server.process = server.served();
        Ok(server)
    }

    fn served(&self) -> FleetProcess {
        let (data, place) = (self.data(), self.place());
        let served = ["-D", &data, "-k", &place, "-c", "listen_addresses=", "-c", "max_connections=100"];
        let (program, words) = self.programs.words("postgres", &served);
        FleetProcess::new("postgres", Path::new(&program), words, self.folder.with_extension("log"))
    }

    fn data(&self) -> String {
        self.folder.join(format!("data-{}", self.copies)).display().to_string()
    }

    fn answers(&self) -> bool {
        let mut ask = self.programs.command("pg_isready", &["--quiet", "--host", &self.place()]);
        ask.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|it| it.success())
    }

    /// The first column of the only row of an answer.
    fn sql(&self, text: &str) -> Result<String, String> {
        let words = ["--no-psqlrc", "--tuples-only", "--no-align", "--host", &self.place()];
        run(&mut self
            .programs
            .command("psql", &[&words[..], &["--username", NAME, "--command", text]].concat()))
    }
}

impl Server for TorturePostgres {
    fn process(&mut self) -> &mut FleetProcess {
        &mut self.process
    }

    // After a kill, its children take a moment to end, and it does not start before.
    fn start(&mut self) -> Result<(), String> {
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

    fn logged(&self) -> String {
        self.process.logged()
    }
}

impl Programs {
    /// A program with its words, as it is run.
    fn words(&self, name: &str, words: &[&str]) -> (String, Vec<String>) {
        let own = self.folder.join(name).display().to_string();
        let words = words.iter().map(|it| (*it).to_owned());
        if !self.is_root {
            return (own, words.collect());
        }
        let user = ["--reuid=postgres", "--regid=postgres", "--clear-groups"].map(str::to_owned);
        ("setpriv".to_owned(), user.into_iter().chain([own]).chain(words).collect())
    }

    fn command(&self, name: &str, words: &[&str]) -> Command {
        let (program, words) = self.words(name, words);
        let mut command = Command::new(program);
        // Its user may not stand where this process does.
        command.args(words).current_dir("/");
        command
    }
}

fn folder_of_programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir(DEBIAN).ok()?.filter_map(Result::ok);
    let programs = versions.map(|it| it.path().join("bin"));
    programs.filter(|it| it.join("initdb").exists() && it.join("pg_isready").exists()).max()
}

/// Runs a program to its end, and gives what it says.
fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?} cannot be run: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        false => Err(format!("{command:?}: {said}")),
    }
}
