//! A wall around nothing of value: a home, a store and a project in a folder for temporary files, with everything that attacks look for.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use super::attack::{AttackResult, AttackTargets, MARK, NAMESPACES};
use crate::drive::wall::{Mount, WallPlan};
use crate::{Error, ErrorKind, Result};
use orange_system::exec::ProgramCall;
use orange_system::files::{real, remove_folder};
use orange_system::random;

/// The lab, which ends with this value.
#[derive(Debug)]
pub struct WallLab {
    root: PathBuf,
    port: TcpListener,
    /// These listen as long as the lab is there.
    sockets: Vec<UnixListener>,
    name: String,
}

const WORKTREE: &str = "ada/orange/workspaces/p--1";

/// Files that the lab has outside of the worktree, by what they are.
const SECRETS: &[(&str, &str)] = &[
    ("a key of the home", "ada/.ssh/id_ed25519"),
    ("the store", "ada/orange/projects.json"),
    ("its own journal", "ada/orange/tasks/p/t1/history.jsonl"),
    ("another task", "ada/orange/tasks/p/t2/TASK.md"),
    ("another worktree", "ada/orange/workspaces/p--2/file"),
    ("the main checkout", "repo/file"),
    ("a request of another agent", "ada/orange/workspaces/p--1/.orange/2/request"),
    ("a file for temporary files", "temporary"),
];

/// Places at which a program inside is to write nothing, by what they are.
const PLACES: &[(&str, &str)] = &[
    ("the home", "ada/.bashrc"),
    ("the store", "ada/orange/new"),
    ("its own journal", "ada/orange/tasks/p/t1/new"),
    ("another worktree", "ada/orange/workspaces/p--2/new"),
    ("the main checkout", "repo/new"),
    ("hooks", "repo/.git/hooks/post-commit"),
    ("settings of git", "repo/.git/config"),
    ("the link of the worktree", "ada/orange/workspaces/p--1/.git"),
    ("requests of another agent", "ada/orange/workspaces/p--1/.orange/2/new"),
    ("programs of PATH", "bin/git"),
    ("a folder for temporary files", "new"),
];

impl WallLab {
    /// Makes the files and listens.
    pub fn make() -> Result<WallLab> {
        let name = format!("orange-wall-{:016x}", u64::from_ne_bytes(random::bytes()?));
        let root = real(&std::env::temp_dir()).join(&name);
        let fail = |cause: io::Error| Error::io("make", &root, &cause);
        for folder in
            ["ada/orange/workspaces/p--1/.orange/1", "repo/.git/hooks", "bin", "ada/orange/tasks/p/t1/wall"]
        {
            fs::create_dir_all(root.join(folder)).map_err(fail)?;
        }
        for (_, path) in SECRETS {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&path)).map_err(fail)?;
            fs::write(&path, MARK).map_err(fail)?;
        }
        fs::write(root.join(WORKTREE).join(".git"), "gitdir: x\n").map_err(fail)?;
        fs::write(root.join("repo/.git/config"), "").map_err(fail)?;
        let socket = UnixListener::bind(root.join("socket")).map_err(fail)?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(fail)?;
        let sockets = listens(&name).into_iter().chain([socket]).collect();
        Ok(WallLab { port, sockets, root, name })
    }

    /// The wall of the lab, with this program in it.
    pub fn plan(&self, program: &Path) -> WallPlan {
        let at = |path: &str| self.root.join(path);
        WallPlan {
            homes: vec![at("ada")],
            private_home: at("ada/orange/tasks/p/t1/wall"),
            orange_home: at("ada/orange"),
            worktree: at(WORKTREE),
            requests: at(WORKTREE).join(".orange/1"),
            read: vec![at("bin")],
            own: vec![Mount::read(program)],
            repository: vec![Mount::read(&at("repo/.git"))],
            ..WallPlan::default()
        }
    }

    /// The variables of the program.
    pub fn variables(&self, path: &OsStr) -> Vec<(OsString, OsString)> {
        vec![("HOME".into(), self.root.join("ada").into_os_string()), ("PATH".into(), path.to_owned())]
    }

    /// The targets of the program.
    pub fn targets(&self) -> Result<AttackTargets> {
        let fail = |cause: io::Error| Error::io("look at", &self.root, &cause);
        let named = |all: &[(&str, &str)]| -> BTreeMap<String, PathBuf> {
            all.iter().map(|(name, path)| ((*name).to_owned(), self.root.join(path))).collect()
        };
        let mut secrets = named(SECRETS);
        if fs::File::open("/etc/shadow").is_ok() {
            // As root, a program could read it by its rights.
            secrets.insert("passwords of the system".to_owned(), "/etc/shadow".into());
        }
        let namespace =
            |name: &&str| Some(((*name).to_owned(), fs::read_link(format!("/proc/self/ns/{name}")).ok()?));
        Ok(AttackTargets {
            secrets,
            places: named(PLACES),
            writable: [
                self.root.join("ada"),
                self.root.join(WORKTREE),
                self.root.join(WORKTREE).join(".orange/1"),
            ]
            .into(),
            pid: rustix::process::getpid().as_raw_nonzero().get(),
            namespaces: NAMESPACES.iter().filter_map(namespace).collect(),
            port: self.port.local_addr().map_err(fail)?.port(),
            socket: self.root.join("socket"),
            abstract_socket: self.name.clone(),
        })
    }

    /// The results of the attacks of a program that is called so, within this call of bubblewrap.
    pub fn results(&self, program: ProgramCall, within: ProgramCall) -> Result<Vec<AttackResult>> {
        let output = program.within(within).run()?.checked()?;
        let wrong =
            |cause| Error::new(ErrorKind::Environment, format!("the attacks gave no answer: {cause}"));
        let text = output.text();
        let line = text.lines().find(|line| line.starts_with('[')).unwrap_or_default();
        let mut results: Vec<AttackResult> = serde_json::from_str(line).map_err(wrong)?;
        for (name, path) in PLACES {
            let seen = fs::read_to_string(self.root.join(path)).is_ok_and(|text| text.contains(MARK));
            results.push(AttackResult { name: format!("write to {name}"), held: Some(!seen) });
        }
        Ok(results)
    }
}

impl Drop for WallLab {
    fn drop(&mut self) {
        self.sockets.clear();
        // What is left lies with other temporary files.
        remove_folder(&self.root).unwrap_or_default();
    }
}

#[cfg(target_os = "linux")]
fn listens(name: &str) -> Option<UnixListener> {
    use std::os::linux::net::SocketAddrExt;
    let address = std::os::unix::net::SocketAddr::from_abstract_name(name);
    address.and_then(|address| UnixListener::bind_addr(&address)).ok()
}

#[cfg(not(target_os = "linux"))]
fn listens(_: &str) -> Option<UnixListener> {
    None
}
