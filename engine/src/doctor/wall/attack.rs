//! Attacks on a wall, as a program that runs inside makes them.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use orange_system::exec::ProgramCall;
use rustix::io::Errno;
use rustix::process::Pid;
use serde::{Deserialize, Serialize};

/// The targets of attacks, by their places outside.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct AttackTargets {
    /// Files with [`MARK`] by what they are.
    pub secrets: BTreeMap<String, PathBuf>,
    /// Places by what they are, at which nothing is to appear.
    pub places: BTreeMap<String, PathBuf>,
    /// Places inside that are meant to be writable.
    #[serde(default)]
    pub writable: Vec<PathBuf>,
    /// A process outside.
    pub pid: i32,
    /// The namespaces outside, by their names.
    pub namespaces: BTreeMap<String, PathBuf>,
    /// A port on the loopback device outside.
    pub port: u16,
    /// A socket outside, by its path.
    pub socket: PathBuf,
    /// A socket outside, by its abstract name.
    pub abstract_socket: String,
}

/// The result of an attack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttackResult {
    /// The attack.
    pub name: String,
    /// True if the wall held; absent if it could not be tried.
    pub held: Option<bool>,
}

/// The text of secrets and of what attacks write.
pub const MARK: &str = "of the wall's attacks";

/// The namespaces that a wall has for itself.
pub const NAMESPACES: &[&str] = &["cgroup", "ipc", "mnt", "net", "pid", "user", "uts"];

/// `KEYCTL_GET_KEYRING_ID` of the session, by the number of `keyctl` on this processor.
const KEYCTL: &str = if cfg!(target_arch = "x86_64") { "250" } else { "219" };

/// Makes every attack. Those that write are judged outside.
pub fn attack(targets: &AttackTargets) -> Vec<AttackResult> {
    let mut results = Vec::new();
    let mut note =
        |name: &str, held: Option<bool>| results.push(AttackResult { name: name.to_owned(), held });
    for (name, path) in &targets.secrets {
        let seen = fs::read_to_string(path).is_ok_and(|text| text.contains(MARK));
        note(&format!("read {name}"), Some(!seen));
    }
    for path in targets.places.values() {
        // The judge is outside: a write to something private succeeds.
        fs::File::create(path).and_then(|mut file| file.write_all(MARK.as_bytes())).unwrap_or_default();
    }
    for (name, outside) in &targets.namespaces {
        let inside = fs::read_link(format!("/proc/self/ns/{name}"));
        note(&format!("be in the {name} namespace outside"), Some(inside.is_ok_and(|it| it != *outside)));
    }
    note("find a process outside", Some(!reaches(targets.pid)));
    note("read variables that were not granted", Some(!is_first_process_richer()));
    note("have a capability", Some(has_given_up()));
    for (name, program, arguments) in PROGRAMS {
        let called = ProgramCall::new(program).args(*arguments).run();
        note(name, called.ok().map(|output| !output.success()));
    }
    note(
        "type into its terminal",
        refused(&["-e", "my $x = 'x'; ioctl(STDIN, 0x5412, $x) and exit(0); exit($! + 0)"]),
    );
    note(
        "type into a console",
        refused(&["-e", "my $x = 'x'; ioctl(STDIN, 0x541c, $x) and exit(0); exit($! + 0)"]),
    );
    let keyring = format!("syscall({KEYCTL}, 0, -3, 0) < 0 or exit(0); exit($! + 0)");
    note("use a keyring", refused(&["-e", &keyring]));
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, targets.port));
    note("connect to a port", Some(TcpStream::connect_timeout(&address, Duration::from_secs(2)).is_err()));
    note("connect to a socket", Some(UnixStream::connect(&targets.socket).is_err()));
    note("connect to an abstract socket", connects(&targets.abstract_socket).map(|done| done.is_err()));
    note("see a disk", Some(!has_disk()));
    note("write to a place that was not granted", Some(ungranted(&targets.writable).is_none()));
    for place in ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger"] {
        note(&format!("open {place}"), Some(fs::File::options().write(true).open(place).is_err()));
    }
    results
}

/// Programs that succeed in nothing that is done to the system.
const PROGRAMS: &[(&str, &str, &[&str])] = &[
    ("mount a folder", "mount", &["-t", "tmpfs", "none", "/tmp"]),
    ("make a mount writable", "mount", &["-o", "remount,rw,bind", "/usr"]),
    ("make a user namespace", "unshare", &["--user", "true"]),
    ("make a device", "mknod", &["/tmp/device", "b", "8", "0"]),
];

fn reaches(pid: i32) -> bool {
    let Some(pid) = Pid::from_raw(pid) else { return false };
    rustix::process::test_kill_process(pid) != Err(Errno::SRCH)
}

/// True if the first process has variables that this one lacks.
fn is_first_process_richer() -> bool {
    let names = |process: &str| -> Option<Vec<String>> {
        let bytes = fs::read(format!("/proc/{process}/environ")).ok()?;
        let name = |entry: &[u8]| String::from_utf8_lossy(entry).split('=').next().map(str::to_owned);
        Some(bytes.split(|byte| *byte == 0).filter_map(name).filter(|name| !name.is_empty()).collect())
    };
    let Some((first, own)) = names("1").zip(names("self")) else { return false };
    first.iter().any(|name| !own.contains(name))
}

/// True if this process has no capability, and can get none by a program.
fn has_given_up() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let is_none = |name: &str| value(name).is_some_and(|text| text.bytes().all(|digit| digit == b'0'));
    ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"].into_iter().all(is_none)
        && value("NoNewPrivs:") == Some("1")
}

/// True if the kernel refuses the call of this script outright, and does not only fail to carry it out.
fn refused(script: &[&str]) -> Option<bool> {
    let code = ProgramCall::new("perl").args(script).run().ok()?.code()?;
    Some(code == Errno::PERM.raw_os_error())
}

#[cfg(target_os = "linux")]
fn connects(name: &str) -> Option<io::Result<UnixStream>> {
    use std::os::linux::net::SocketAddrExt;
    let address = std::os::unix::net::SocketAddr::from_abstract_name(name);
    Some(address.and_then(|address| UnixStream::connect_addr(&address)))
}

#[cfg(not(target_os = "linux"))]
fn connects(_: &str) -> Option<io::Result<UnixStream>> {
    None
}

/// A place outside of the wall that is writable inside, beside these.
fn ungranted(granted: &[PathBuf]) -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let found =
        mounts.lines().filter_map(WritableMount::of).find(|it| !it.is_own() && !granted.contains(&it.at));
    found.map(|it| it.at)
}

/// A writable line of `/proc/self/mountinfo`.
struct WritableMount {
    at: PathBuf,
    /// The folder of the file system that is mounted.
    root: PathBuf,
    kind: String,
}

impl WritableMount {
    fn of(line: &str) -> Option<WritableMount> {
        let (mount, system) = line.split_once(" - ")?;
        let words: Vec<&str> = mount.split(' ').collect();
        let [_, _, _, root, at, options, ..] = words[..] else { return None };
        let is_writable = options.split(',').any(|option| option == "rw");
        let kind = system.split(' ').next()?.to_owned();
        is_writable.then(|| WritableMount { at: at.into(), root: root.into(), kind })
    }

    /// True for a device, and for a folder in memory that ends with the wall.
    fn is_own(&self) -> bool {
        self.at.starts_with("/dev") || self.kind == "tmpfs" && self.root == Path::new("/")
    }
}

fn has_disk() -> bool {
    const DISKS: &[&str] =
        &["/dev/sda", "/dev/vda", "/dev/nvme0n1", "/dev/mem", "/dev/kmsg", "/dev/fuse", "/sys/block"];
    DISKS.iter().any(|disk| Path::new(disk).exists())
}
