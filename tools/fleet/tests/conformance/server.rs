//! A real Postgres for tests: on a Unix socket in a folder of its own, with `fsync`, and started again when it is killed. It ends with
//! the test process, however that ends: its shell reads until this process is gone.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use orange_fleet::host::postgres::Address;
use tokio_postgres::{NoTls, SimpleQueryMessage};

use crate::world::PATIENCE;

/// Folder with the programs of each version on Debian.
const DEBIAN: &str = "/usr/lib/postgresql";

const SCRIPT: &str = r#"
trap "" TERM INT HUP
d=$(mktemp -d /tmp/orange-postgres.XXXXXX) && cd "$d" || exit 1
"$0/initdb" -D data -A trust -U fleet -E UTF8 --locale=C >/dev/null 2>&1 || exit 1
( while [ ! -e stop ]; do
    "$0/postgres" -D data -k "$d" -c listen_addresses= -c max_connections=200 >>log 2>&1 </dev/null
    sleep 0.1
  done ) &
echo "$d"
read -r _
touch stop
[ -e data/postmaster.pid ] && kill -QUIT "$(head -n 1 data/postmaster.pid)"
wait
rm -rf "$d"
"#;

/// A server that runs.
pub struct PostgresServer {
    folder: PathBuf,
    // It ends when its input does.
    _shell: Child,
}

/// Number of tests that were skipped for want of a server.
static SKIPPED: AtomicUsize = AtomicUsize::new(0);

/// The server of this test run, if there are its programs.
pub fn shared() -> Option<&'static PostgresServer> {
    static SERVER: OnceLock<Option<PostgresServer>> = OnceLock::new();
    SERVER.get_or_init(PostgresServer::start).as_ref()
}

/// Says that a test is skipped, and how many were, past everything that catches the output of tests.
pub fn skip(what: &str) {
    let number = SKIPPED.fetch_add(1, Ordering::Relaxed) + 1;
    let line = format!("SKIPPED: {what}: there is no server for it ({number} skipped so far)\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

impl PostgresServer {
    /// Starts a server, if there are its programs.
    pub fn start() -> Option<PostgresServer> {
        let programs = programs()?;
        let is_root =
            std::fs::metadata("/proc/self").is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0);
        let mut command = match is_root {
            true => {
                // `initdb` refuses root.
                let mut command = Command::new("setpriv");
                command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "sh"]);
                command
            }
            false => Command::new("sh"),
        };
        command.args(["-c", SCRIPT]).arg(programs).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = command.spawn().unwrap();
        let mut folder = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut folder).unwrap();
        assert!(!folder.trim().is_empty(), "Postgres does not start");
        let server = PostgresServer { folder: PathBuf::from(folder.trim()), _shell: shell };
        server.wait();
        Some(server)
    }

    /// The address of one of its databases.
    pub fn address(&self, database: &str) -> String {
        format!("postgres://fleet@/{database}?host={}", self.folder.display())
    }

    /// Makes a database, and answers its address.
    pub fn database(&self) -> String {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("fleet_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        sql(&self.address("postgres"), &format!("create database {name}")).unwrap();
        self.address(&name)
    }

    /// Waits until it answers.
    pub fn wait(&self) {
        let begin = Instant::now();
        while sql(&self.address("postgres"), "select 1").is_err() {
            assert!(begin.elapsed() < PATIENCE, "Postgres does not answer in {}", self.folder.display());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Kills it, as a power cut would. It comes back by itself.
    pub fn kill(&self) {
        let file = std::fs::read_to_string(self.folder.join("data/postmaster.pid")).unwrap_or_default();
        let Some(pid) = file.lines().next() else { return };
        Command::new("kill").args(["-9", pid]).status().unwrap();
    }
}

fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir(DEBIAN).ok()?.filter_map(Result::ok);
    let programs = versions.map(|it| it.path().join("bin"));
    programs.filter(|it| it.join("initdb").exists() && it.join("postgres").exists()).max()
}

/// The first columns of the rows that a database answers.
pub fn sql(address: &str, text: &str) -> Result<Vec<String>, String> {
    let (address, text) = (address.to_owned(), text.to_owned());
    let asked = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let connected = tokio_postgres::connect(&address, NoTls).await;
            let (client, connection) = connected.map_err(|cause| format!("{cause:?}"))?;
            tokio::spawn(connection);
            let answered = client.simple_query(&text).await.map_err(|cause| format!("{cause:?}"))?;
            let first = |it: SimpleQueryMessage| {
                let SimpleQueryMessage::Row(row) = it else { return None };
                row.get(0).map(str::to_owned)
            };
            Ok(answered.into_iter().filter_map(first).collect())
        })
    });
    asked.join().unwrap()
}

/// The address of the database of a folder.
pub fn of(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("postgres")).unwrap()
}

/// The address, as a host takes it.
pub fn read(address: &str) -> Address {
    Address::read(address, &|_| None).unwrap()
}
