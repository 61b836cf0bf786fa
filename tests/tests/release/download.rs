//! A release whose programs are scripts, packed as real ones are, and a server for it on the loopback.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::thread;

use orange_testkit::write_program;
use orange_tests::programs::built;

/// The version of the release.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The systems that have archives, and what `uname -s` and `uname -m` print there.
pub(crate) const SYSTEMS: [(&str, &str, &str); 4] = [
    ("aarch64-apple-darwin", "Darwin", "arm64"),
    ("aarch64-unknown-linux-musl", "Linux", "aarch64"),
    ("x86_64-apple-darwin", "Darwin", "x86_64"),
    ("x86_64-unknown-linux-musl", "Linux", "x86_64"),
];

/// The programs of a release, the fleet last.
pub(crate) const PROGRAMS: [&str; 5] =
    ["orange", "orange-dashboard", "orange-mcp", "orange-workflow", "orange-fleet"];

/// The folder of a release, which `cargo xtask release` has packed. Each program prints its name, the version and its target.
pub(crate) fn release() -> &'static Path {
    static RELEASE: OnceLock<PathBuf> = OnceLock::new();
    RELEASE.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("release");
        for (target, _, _) in SYSTEMS {
            pack(target, &folder);
        }
        folder
    })
}

/// Packs the release for one target into a folder.
pub(crate) fn pack(target: &str, folder: &Path) {
    let programs = tempfile::tempdir().unwrap();
    for name in PROGRAMS {
        write_program(&programs.path().join(name), &format!("#!/bin/sh\necho {name} {VERSION} {target}\n"));
    }
    let mut xtask = Command::new(xtask());
    xtask.args(["release", "--target", target, "--repository", "https://forge.example/o/orange"]);
    let output = xtask.arg("--programs").arg(programs.path()).arg("--out").arg(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The maintainers' command of this build.
pub(crate) fn xtask() -> PathBuf {
    built(&["--package", "xtask"]).join("xtask")
}

/// The name of the archive of a package for a target.
pub(crate) fn archive(package: &str, target: &str) -> String {
    format!("{package}-{VERSION}-{target}.tar.gz")
}

/// Serves the files of a folder, below any path, and gives its address. Of an archive, a server that cuts sends only the first half.
pub(crate) fn serve(folder: PathBuf, cuts: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that hangs up early is a part of some tests.
            answer(&stream, &folder, cuts).unwrap_or_default();
        }
    });
    address
}

fn answer(stream: &TcpStream, folder: &Path, cuts: bool) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let file = request.split(' ').nth(1).and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    let (status, body) = match fs::read(folder.join(file)) {
        Ok(body) => ("200 OK", body),
        Err(_) => ("404 Not Found", Vec::new()),
    };
    let sent = if cuts && file.ends_with(".gz") { body.len() / 2 } else { body.len() };
    let mut stream = stream;
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len())?;
    stream.write_all(&body[..sent])
}
