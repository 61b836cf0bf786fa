//! A machine on which somebody installs a release: a home, a shell, and the only programs on its `PATH`.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use orange_testkit::write_program;
use tempfile::TempDir;

use crate::download::SYSTEMS;

/// Programs that `install.sh` always needs.
const TOOLS: [&str; 10] = ["cat", "cp", "cut", "gzip", "mkdir", "mktemp", "mv", "rm", "tar", "true"];

/// Shell, and where the other programs come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Userland {
    /// dash, with the programs of this system, curl and `sha256sum`.
    Dash,
    /// dash, with wget and `shasum`.
    DashWget,
    /// Everything is busybox, which has a wget of its own.
    Busybox,
}

/// A machine, and what has been installed on it.
pub(crate) struct Machine {
    root: TempDir,
    userland: Userland,
}

/// The end of a run of `install.sh`.
#[derive(Debug)]
pub(crate) struct InstallEnd {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) complaint: String,
}

impl Userland {
    fn programs(self) -> [&'static str; 2] {
        match self {
            Userland::Dash => ["curl", "sha256sum"],
            Userland::DashWget => ["wget", "shasum"],
            Userland::Busybox => ["wget", "sha256sum"],
        }
    }

    fn shell(self) -> &'static str {
        match self {
            Userland::Dash | Userland::DashWget => "dash",
            Userland::Busybox => "busybox",
        }
    }
}

/// The machines of every userland that is installed here.
pub(crate) fn machines() -> Vec<Machine> {
    let all = [Userland::Dash, Userland::DashWget, Userland::Busybox];
    all.into_iter().filter_map(Machine::with).collect()
}

/// A machine of the first userland that is installed here.
pub(crate) fn machine() -> Option<Machine> {
    machines().into_iter().next()
}

impl Machine {
    fn with(userland: Userland) -> Option<Machine> {
        let root = tempfile::Builder::new().prefix("orange-").tempdir().unwrap();
        let machine = Machine { root, userland };
        for folder in ["home", "tools"] {
            fs::create_dir(machine.path(folder)).unwrap();
        }
        let shell = userland.shell();
        for program in TOOLS.into_iter().chain(userland.programs()).chain([shell]) {
            let provider = if userland == Userland::Busybox { shell } else { program };
            let Some(file) = found(provider) else {
                eprintln!("SKIPPED: install.sh on {userland:?}: {provider} is not installed");
                return None;
            };
            symlink(file, machine.path("tools").join(program)).unwrap();
        }
        // `shasum` is a script of perl.
        if let Some(perl) = found("perl") {
            symlink(perl, machine.path("tools/perl")).unwrap();
        }
        let (_, system, processor) =
            SYSTEMS.into_iter().find(|(target, _, _)| *target == "x86_64-unknown-linux-musl").unwrap();
        machine.is_a(system, processor);
        for program in ["tmux", "git", "claude"] {
            machine.has(program);
        }
        Some(machine)
    }

    /// Gives this machine another system.
    pub(crate) fn is_a(&self, system: &str, processor: &str) {
        let script = format!("#!/bin/sh\ncase $1 in -s) echo {system} ;; -m) echo {processor} ;; esac\n");
        write_program(&self.path("tools/uname"), &script);
    }

    /// Puts a program onto `PATH` that does nothing.
    fn has(&self, program: &str) {
        write_program(&self.path("tools").join(program), "#!/bin/sh\n");
    }

    /// Takes a program from `PATH`.
    pub(crate) fn lacks(&self, program: &str) {
        fs::remove_file(self.path("tools").join(program)).unwrap();
    }

    /// Takes the programs for downloads or sums from `PATH`.
    pub(crate) fn lacks_the(&self, at: usize) {
        self.lacks(self.userland.programs()[at]);
    }

    /// A place on this machine.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// The folder of programs of the home.
    pub(crate) fn bin(&self) -> PathBuf {
        self.path("home/.local/bin")
    }

    /// Runs the script of the repository with an address.
    pub(crate) fn install(&self, address: &str, args: &[&str]) -> InstallEnd {
        let mut command = self.shell(&script());
        ended(command.args(args).env("ORANGE_DOWNLOAD", address))
    }

    /// A shell of this machine that is about to read a script.
    pub(crate) fn shell(&self, script: &Path) -> Command {
        let mut command = self.bare_shell();
        command.arg(script);
        command
    }

    /// A shell that reads its standard input.
    pub(crate) fn bare_shell(&self) -> Command {
        let mut command = Command::new(self.path("tools").join(self.userland.shell()));
        if self.userland == Userland::Busybox {
            command.arg("sh");
        }
        let path = std::env::join_paths([self.path("tools"), self.bin()]).unwrap();
        command.env_clear().env("PATH", path).env("HOME", self.path("home")).stdin(Stdio::null());
        command.current_dir(self.root.path());
        command
    }

    /// The names in a folder, sorted.
    #[track_caller]
    pub(crate) fn names(&self, folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// `install.sh` of the repository.
pub(crate) fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("install.sh")
}

/// Runs a command to its end.
pub(crate) fn ended(command: &mut Command) -> InstallEnd {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    InstallEnd { status: output.status.code(), out: text(&output.stdout), complaint: text(&output.stderr) }
}

/// Gives a script to a shell on its standard input, as `curl … | sh` does.
pub(crate) fn piped(shell: &mut Command, script: &Path) -> InstallEnd {
    ended(shell.stdin(File::open(script).unwrap()))
}

/// The path of a program of this system.
pub(crate) fn found(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}
