//! The Restate server of npm, and its settings for one on this machine.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};

/// Name and version of the server's package in npm.
const PACKAGE: &str = "@restatedev/restate-server@1.7.12";

/// Path of the program in the package.
const PROGRAM: &str = "node_modules/@restatedev/restate-server-linux-x64/bin/restate-server";

/// The ports of a server, and of the service beside it.
#[derive(Clone, Copy, Debug)]
pub struct Ports {
    /// Of the server among its like.
    node: u16,
    /// Of the calls of gateways.
    pub ingress: u16,
    /// Of the admin API.
    pub admin: u16,
    /// Of `orange-fleet restate-log`.
    pub service: u16,
}

impl Ports {
    /// Ports that nobody has.
    pub fn free() -> Ports {
        let [node, ingress, admin, service] = [(); 4].map(|()| port());
        Ports { node, ingress, admin, service }
    }

    /// The settings of a server with these ports and its data in this folder. They are those of `docs/fleet.md`.
    pub fn settings(self, data: &Path) -> String {
        let Ports { node, ingress, admin, .. } = self;
        format!(
            "base-dir = \"{}\"\n\
             default-num-partitions = 4\n\
             rocksdb-total-memory-size = \"128 MB\"\n\
             default-journal-retention = \"0s\"\n\
             default-idempotency-retention = \"10m\"\n\
             bind-ip = \"127.0.0.1\"\n\
             disable-telemetry = true\n\
             bind-port = {node}\n\
             [ingress]\nbind-port = {ingress}\n\
             [admin]\nbind-port = {admin}\n",
            data.display()
        )
    }
}

/// The program, which npm fetches once into the target directory.
pub fn program() -> Option<PathBuf> {
    static PROGRAM_AT: OnceLock<Option<PathBuf>> = OnceLock::new();
    PROGRAM_AT.get_or_init(fetched).clone()
}

fn fetched() -> Option<PathBuf> {
    // This program is in `<target>/<profile>/<kind>/`.
    let own = std::env::current_exe().ok()?;
    let target = own.ancestors().nth(3)?;
    let (_, version) = PACKAGE.rsplit_once('@')?;
    let folder = target.join(format!("restate-server-{version}"));
    let program = folder.join(PROGRAM);
    if program.exists() {
        return Some(program);
    }
    let partial = target.join(format!("restate-server-{version}.{}", std::process::id()));
    std::fs::create_dir_all(&partial).ok()?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1"]);
    npm.args(["--loglevel=error", "--prefix", ".", PACKAGE]).current_dir(&partial);
    let status = npm.stdin(Stdio::null()).stdout(Stdio::null()).status();
    if status.is_ok_and(|it| it.success()) && partial.join(PROGRAM).exists() {
        // Another process may have been faster.
        std::fs::rename(&partial, &folder).unwrap_or_default();
    }
    std::fs::remove_dir_all(&partial).unwrap_or_default();
    program.exists().then_some(program)
}

/// A port that nobody has, and that no connection gets by chance: those are higher.
fn port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 10_000 + (std::process::id() % 1000) as u16 * 20;
    loop {
        let port = first + NEXT.fetch_add(1, Ordering::Relaxed) % 2000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
