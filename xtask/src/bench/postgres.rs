//! A Postgres for a measurement, as Debian has it.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::Result;

/// Folder in which Debian has the programs of each version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// Makes a server with one empty database in a folder of its own, and ends it when its input ends. It refuses root.
const SCRIPT: &str = r#"
d=$(mktemp -d /tmp/orange-bench.XXXXXX) && cd "$d" || exit 1
"$0/initdb" -D data -A trust -U fleet -E UTF8 --locale=C >log 2>&1 || { cat log >&2; exit 1; }
"$0/pg_ctl" -D data -o "-k $d -c listen_addresses=" -l log -w start >/dev/null || { cat log >&2; exit 1; }
"$0/createdb" --host "$d" --username fleet fleet && echo "$d"
read -r _
"$0/pg_ctl" -D data -m immediate stop >/dev/null
rm -rf "$d"
"#;

/// A server that runs.
pub(super) struct BenchPostgres {
    /// The address of its database.
    pub(super) address: String,
    shell: Child,
    input: Option<ChildStdin>,
}

impl BenchPostgres {
    /// Starts one, if there are its programs.
    pub(super) fn start() -> Result<Option<BenchPostgres>> {
        let Some(programs) = programs() else { return Ok(None) };
        let cause = |error: std::io::Error| format!("Postgres cannot be started: {error}");
        let is_root = rustix::process::geteuid().is_root();
        let user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"];
        let mut words = user.iter().filter(|_| is_root).chain(&["sh", "-c", SCRIPT]);
        let mut command = Command::new(words.next().unwrap_or(&"sh"));
        command.args(words).arg(programs).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = command.spawn().map_err(cause)?;
        let (input, output) = (shell.stdin.take(), shell.stdout.take());
        let mut folder = String::new();
        output.map_or(Ok(0), |it| BufReader::new(it).read_line(&mut folder)).map_err(cause)?;
        let folder = folder.trim();
        if folder.is_empty() {
            return Err("Postgres does not start: its reason is above".to_owned());
        }
        Ok(Some(BenchPostgres { address: format!("postgres://fleet@/fleet?host={folder}"), shell, input }))
    }
}

impl Drop for BenchPostgres {
    fn drop(&mut self) {
        drop(self.input.take());
        // What it leaves behind is in the folder for temporary files.
        self.shell.wait().map(drop).unwrap_or_default();
    }
}

fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir(DEBIAN).ok()?.filter_map(std::result::Result::ok);
    versions.map(|it| it.path().join("bin")).filter(|it| it.join("initdb").exists()).max()
}
