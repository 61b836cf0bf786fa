//! The arguments of bubblewrap as a function of values: what an agent sees, in the order of the mounts.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// A mount inside of a wall. Later mounts lie over earlier ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mount {
    /// A file or folder from outside, read-only.
    Read { from: PathBuf, at: PathBuf },
    /// A file or folder from outside, writable.
    Write { from: PathBuf, at: PathBuf },
    /// A file or folder from outside, read-only; left out where it is not there.
    ReadIfThere { from: PathBuf, at: PathBuf },
    /// An empty folder in memory.
    Empty { at: PathBuf },
    /// A folder for mounts.
    Folder { at: PathBuf },
    /// This mount cannot be written to any more; mounts below it stay as they are.
    Sealed { at: PathBuf },
}

impl Mount {
    /// A file or folder at its own path, read-only.
    pub fn read(path: &Path) -> Mount {
        Mount::Read { from: path.to_owned(), at: path.to_owned() }
    }

    /// A file or folder at its own path, writable.
    pub fn write(path: &Path) -> Mount {
        Mount::Write { from: path.to_owned(), at: path.to_owned() }
    }

    /// A file or folder at its own path, read-only, if it is there.
    pub fn read_if_there(path: &Path) -> Mount {
        Mount::ReadIfThere { from: path.to_owned(), at: path.to_owned() }
    }

    /// Its place inside.
    pub fn at(&self) -> &Path {
        match self {
            Mount::Read { at, .. }
            | Mount::Write { at, .. }
            | Mount::ReadIfThere { at, .. }
            | Mount::Empty { at }
            | Mount::Folder { at }
            | Mount::Sealed { at } => at,
        }
    }

    fn words(&self) -> Vec<&OsStr> {
        let word = OsStr::new;
        match self {
            Mount::Read { from, at } => vec![word("--ro-bind"), from.as_os_str(), at.as_os_str()],
            Mount::Write { from, at } => vec![word("--bind"), from.as_os_str(), at.as_os_str()],
            Mount::ReadIfThere { from, at } => vec![word("--ro-bind-try"), from.as_os_str(), at.as_os_str()],
            Mount::Empty { at } => vec![word("--tmpfs"), at.as_os_str()],
            Mount::Folder { at } => vec![word("--dir"), at.as_os_str()],
            Mount::Sealed { at } => vec![word("--remount-ro"), at.as_os_str()],
        }
    }
}

/// Everything that a wall is made of, as values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WallPlan {
    /// The paths of the user's home, at which the private one is: as its variable says it, and without links.
    pub homes: Vec<PathBuf>,
    /// The private home, outside.
    pub private_home: PathBuf,
    /// `ORANGE_HOME`, which is hidden.
    pub orange_home: PathBuf,
    /// The folder that the agent works in.
    pub worktree: PathBuf,
    /// True if it cannot write there.
    pub is_read_only: bool,
    /// The folder of its requests, in a folder of the worktree in which everything else is hidden; empty where it makes none.
    pub requests: PathBuf,
    /// Further folders of the worktree that are hidden.
    pub hidden: Vec<PathBuf>,
    /// Paths that are readable beside the system.
    pub read: Vec<PathBuf>,
    /// Paths that are writable beside the worktree.
    pub write: Vec<PathBuf>,
    /// Mounts of Orange's own: programs, the prompt, sockets.
    pub own: Vec<Mount>,
    /// The mounts of the repository.
    pub repository: Vec<Mount>,
    /// The program that runs inside before the harness, with its arguments; empty for none.
    pub inside: Vec<OsString>,
}

/// The folder inside for what Orange itself mounts.
pub const RUN: &str = "/run/orange";

/// The folders of the system that are readable in every wall, where they are there.
pub(super) const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix",
    "/snap",
    "/gnu",
    "/home/linuxbrew/.linuxbrew",
];

/// The entries of `/etc` that are readable in every wall. None has a secret, as `shadow` has, or a machine's key: the user `root` has
/// a wall, too.
const ETC: &[&str] = &[
    "alternatives",
    "bash.bashrc",
    "bashrc",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "debian_version",
    "fonts",
    "gai.conf",
    "group",
    "host.conf",
    "hosts",
    "inputrc",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "locale.conf",
    "localtime",
    "magic",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki/ca-trust/extracted",
    "pki/tls/cert.pem",
    "pki/tls/certs",
    "pki/tls/openssl.cnf",
    "profile",
    "profile.d",
    "protocols",
    "python3",
    "resolv.conf",
    "services",
    "shells",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
    "static",
    "terminfo",
    "timezone",
];

/// The namespaces of an agent, and what it may not do in them. No `--new-session`: an agent in a session of its own hears of no
/// resize, and the filter of system calls refuses what that would prevent. No `--clearenv`: bubblewrap itself is visible inside and
/// has the environment that it was started with, so that is a clean one.
pub(super) const NAMESPACES: &[&str] = &[
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--unshare-net",
    "--disable-userns",
    "--die-with-parent",
    "--cap-drop",
    "ALL",
    "--hostname",
    "wall",
];

/// The devices and the processes of an agent.
pub(super) const DEVICES: &[&str] = &["--dev", "/dev", "--proc", "/proc"];

impl WallPlan {
    /// The arguments of `bwrap` behind [`NAMESPACES`] and [`DEVICES`], up to the program that runs inside.
    pub fn arguments(&self) -> Vec<OsString> {
        let mounts = self.mounts();
        let mut arguments: Vec<OsString> =
            mounts.iter().flat_map(Mount::words).map(OsStr::to_owned).collect();
        arguments.extend(["--chdir".into(), self.worktree.clone().into_os_string(), "--".into()]);
        arguments.extend(self.inside.iter().cloned());
        arguments
    }

    /// The mounts of what is granted, a folder before what is in it: programs stay read-only in a folder that is writable.
    fn granted(&self) -> Vec<Mount> {
        let read = self.read.iter().map(|path| Mount::read(path));
        let mut granted: Vec<Mount> = read.chain(self.write.iter().map(|path| Mount::write(path))).collect();
        granted.sort_by(|one, other| one.at().cmp(other.at()));
        granted
    }

    /// The places of mounts, and whether a file is mounted there, without those in the empty `ORANGE_HOME`.
    pub fn points(&self) -> Vec<(PathBuf, bool)> {
        let point = |mount: &Mount| {
            let is_file = match mount {
                Mount::Read { from, .. } | Mount::Write { from, .. } => from.is_file(),
                Mount::ReadIfThere { from, .. } if !from.exists() => return None,
                Mount::ReadIfThere { from, .. } => from.is_file(),
                Mount::Empty { .. } | Mount::Folder { .. } => false,
                Mount::Sealed { .. } => return None,
            };
            let is_inside = mount.at() != self.orange_home && mount.at().starts_with(&self.orange_home);
            (!is_inside).then(|| (mount.at().to_owned(), is_file))
        };
        self.mounts().iter().filter_map(point).collect()
    }

    /// Every mount, in order: the system, the home, what is granted, `ORANGE_HOME` over all of that, Orange's own, the repository,
    /// the worktree, its requests. Folders in memory are sealed at last, so that an agent gets an error where it would write
    /// something that vanishes.
    pub fn mounts(&self) -> Vec<Mount> {
        let system = SYSTEM.iter().map(|path| Mount::read_if_there(Path::new(path)));
        let etc = ETC.iter().map(|name| Mount::read_if_there(&Path::new("/etc").join(name)));
        let mut mounts: Vec<Mount> = system.chain(etc).collect();
        mounts.extend(["/tmp", "/var/tmp", "/run"].map(|at| Mount::Empty { at: at.into() }));
        mounts.push(Mount::Folder { at: RUN.into() });
        let home = |at: &PathBuf| Mount::Write { from: self.private_home.clone(), at: at.clone() };
        mounts.extend(self.homes.iter().map(home));
        mounts.extend(self.granted());
        mounts.push(Mount::Empty { at: self.orange_home.clone() });
        mounts.extend(self.own.iter().cloned());
        mounts.extend(self.repository.iter().cloned());
        let worktree = if self.is_read_only { Mount::read } else { Mount::write };
        mounts.push(worktree(&self.worktree));
        mounts.push(Mount::read_if_there(&self.worktree.join(".git")));
        if let Some(all) = self.requests.parent() {
            mounts.push(Mount::Empty { at: all.to_owned() });
            mounts.push(Mount::write(&self.requests));
            mounts.push(Mount::Sealed { at: all.to_owned() });
        }
        for at in &self.hidden {
            mounts.extend([Mount::Empty { at: at.clone() }, Mount::Sealed { at: at.clone() }]);
        }
        mounts.push(Mount::Sealed { at: self.orange_home.clone() });
        // The settings of the kernel are writable for the user `root`, whatever its namespaces and capabilities.
        mounts.push(Mount::Sealed { at: "/proc".into() });
        mounts.push(Mount::Sealed { at: "/".into() });
        mounts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> WallPlan {
        let path = PathBuf::from;
        WallPlan {
            homes: vec![path("/home/ada")],
            private_home: path("/o/tasks/p/t/wall/worker"),
            orange_home: path("/o"),
            worktree: path("/o/workspaces/p--1"),
            is_read_only: false,
            requests: path("/o/workspaces/p--1/.orange/3"),
            hidden: Vec::new(),
            read: vec![path("/home/ada/.cargo/bin")],
            write: vec![path("/home/ada/.cache/sccache")],
            own: vec![Mount::read(Path::new("/o/bin/orange"))],
            repository: vec![Mount::read(Path::new("/home/ada/p/.git"))],
            inside: vec!["/o/bin/orange".into(), "agent".into(), "inside".into()],
        }
    }

    #[test]
    fn arguments_end_with_the_program_inside() {
        let arguments = plan().arguments();
        let text: Vec<&str> = arguments.iter().filter_map(|it| it.to_str()).collect();
        assert!(!NAMESPACES.contains(&"--new-session") && !NAMESPACES.contains(&"--clearenv"));
        let end = ["--chdir", "/o/workspaces/p--1", "--", "/o/bin/orange", "agent", "inside"];
        assert!(text.ends_with(&end), "{text:?}");
    }

    #[test]
    fn mounts_lie_over_each_other_in_order() {
        let mounts = plan().mounts();
        let place = |mount: &Mount| {
            let at = mounts.iter().position(|it| it == mount);
            at.unwrap_or_else(|| panic!("{mount:?}"))
        };
        let path = |text: &str| PathBuf::from(text);
        let order = [
            Mount::Empty { at: path("/run") },
            Mount::Write { from: path("/o/tasks/p/t/wall/worker"), at: path("/home/ada") },
            Mount::write(Path::new("/home/ada/.cache/sccache")),
            Mount::read(Path::new("/home/ada/.cargo/bin")),
            Mount::Empty { at: path("/o") },
            Mount::read(Path::new("/o/bin/orange")),
            Mount::read(Path::new("/home/ada/p/.git")),
            Mount::write(Path::new("/o/workspaces/p--1")),
            Mount::read_if_there(Path::new("/o/workspaces/p--1/.git")),
            Mount::Empty { at: path("/o/workspaces/p--1/.orange") },
            Mount::write(Path::new("/o/workspaces/p--1/.orange/3")),
            Mount::Sealed { at: path("/o/workspaces/p--1/.orange") },
            Mount::Sealed { at: path("/o") },
            Mount::Sealed { at: path("/") },
        ];
        for pair in order.windows(2) {
            assert!(place(&pair[0]) < place(&pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn requests_are_writable_in_a_worktree_that_is_not() {
        let plan = WallPlan { is_read_only: true, ..plan() };
        let mounts = plan.mounts();
        assert!(
            mounts.contains(&Mount::read(&plan.worktree)) && mounts.contains(&Mount::write(&plan.requests))
        );
        assert!(!mounts.contains(&Mount::write(&plan.worktree)));
    }

    #[test]
    fn a_folder_is_mounted_before_what_is_in_it() {
        let paths = |all: &[&str]| all.iter().map(PathBuf::from).collect::<Vec<_>>();
        let plan = WallPlan {
            read: paths(&["/h/a/bin", "/h/b"]),
            write: paths(&["/h/a", "/h/b", "/h/b/c"]),
            ..plan()
        };
        let expect = [
            Mount::write(Path::new("/h/a")),
            Mount::read(Path::new("/h/a/bin")),
            Mount::read(Path::new("/h/b")),
            Mount::write(Path::new("/h/b")),
            Mount::write(Path::new("/h/b/c")),
        ];
        assert_eq!(plan.granted(), expect);
    }

    #[test]
    fn nothing_secret_is_of_the_system() {
        for secret in ["shadow", "gshadow", "ssh", "sudoers", "ssl", "ssl/private", "pki", "pki/tls/private"]
        {
            assert!(!ETC.contains(&secret), "{secret}");
        }
        for folder in ["/", "/etc", "/home", "/root", "/run", "/var", "/tmp", "/srv", "/mnt", "/sys"] {
            assert!(!SYSTEM.contains(&folder), "{folder}");
        }
    }
}
