//! The wall around an agent: whether it has one, and what that is made of.

mod program;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use orange_core::Role;
use orange_core::host::HostPattern;
use orange_core::wall::{Confinement, Demand, GitAccess, Grants, Network, WorktreeAccess};
use orange_system::exec::{ProgramCall, find_on_path};
use orange_system::files::real;
use orange_system::variables;

use crate::app::App;
use crate::drive::git::REQUEST_FOLDER;
use crate::drive::harness::Harness;
use crate::drive::wall::{
    Bubblewrap, HomeSeed, Mount, Proxy, ProxyRules, RUN, WallPlan, inside as bridging, make_home,
    make_points, visible,
};
use crate::hooks::imported;
use crate::store::activity::{self, ActivityNote, NoteKind};
use crate::store::effective::effective;
use crate::store::event::{self, Sandbox, Spawn};
use crate::store::home::make_folder;
use crate::store::projects::Project;
use crate::store::{Seat, WorkItem, WorkItemDir};
use crate::{Error, ErrorKind, Result};

pub use program::{ProgramKind, ProgramPlace, check_programs, demand_on_programs};

/// The variables of a walled agent, where they are set: what a program needs to find its programs and files, and to write. Those of
/// a session, such as `XDG_RUNTIME_DIR`, lead to places that are not inside.
const PASSED: &[&str] = &[
    "COLORTERM",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "NO_COLOR",
    "ORANGE_HOME",
    "ORANGE_PORT",
    "ORANGE_PORTS",
    "ORANGE_SLOT",
    "PATH",
    "SHELL",
    "TERM",
    "TZ",
    "USER",
];

/// The name of the proxy's socket.
const SOCKET: &str = "proxy.sock";

/// The variables that lead programs to a proxy.
const PROXY: &[&str] = &["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];

/// The confinement of an agent that is about to start; `None` if neither its project nor its workflow demands one.
///
/// # Errors
/// `environment` where a wall is demanded and cannot be made: the agent does not start without it.
pub fn decide(
    app: &App,
    task: &WorkItem,
    harness: &Harness,
    demand: Demand,
    role: Role,
) -> Result<Option<Sandbox>> {
    let sandbox = effective(&app.home, &app.project_of(task)?)?.sandbox;
    let granted = sandbox.network.value;
    let Some(confinement) = demand.confinement(sandbox.level.value, granted, role) else { return Ok(None) };
    bubblewrap(app)?.check(app.path())?;
    Ok(Some(Sandbox {
        level: event::Level::Wall,
        git: Some(confinement.git.as_str().into()),
        network: Some(confinement.network.as_str().into()),
        worktree: Some(confinement.worktree.as_str().into()),
        grants: digest(&sandbox.grants(), harness),
    }))
}

/// The confinement of a walled agent, as it is on record.
///
/// # Errors
/// `refused` for a word of a newer version.
fn confinement(record: &Spawn) -> Result<Confinement> {
    let role = match record.actor {
        event::Actor::Reviewer => Role::Reviewer,
        event::Actor::Worker | event::Actor::Human | event::Actor::Engine | event::Actor::Other(_) => {
            Role::Worker
        }
    };
    let usual = Confinement::usual(role);
    let Some(sandbox) = &record.sandbox else { return Ok(usual) };
    let unknown = |word: &str| {
        let word = word.escape_debug();
        let message = format!("this version of Orange does not know the confinement `{word}` of the agent");
        Error::new(ErrorKind::Refused, message).help("use the version that has started it")
    };
    let git =
        sandbox.git.as_ref().map(|it| GitAccess::parse(it.as_str()).ok_or_else(|| unknown(it.as_str())));
    let network =
        sandbox.network.as_ref().map(|it| Network::parse(it.as_str()).ok_or_else(|| unknown(it.as_str())));
    let worktree = sandbox
        .worktree
        .as_ref()
        .map(|it| WorktreeAccess::parse(it.as_str()).ok_or_else(|| unknown(it.as_str())));
    Ok(Confinement {
        git: git.unwrap_or(Ok(usual.git))?,
        network: network.unwrap_or(Ok(usual.network))?,
        worktree: worktree.unwrap_or(Ok(usual.worktree))?,
    })
}

/// True if the agent of this record is walled. A level of a newer version is one, too.
pub fn is_walled(record: &Spawn) -> bool {
    record.sandbox.is_some()
}

/// The private home of a seat: what a worker writes there, such as a hook of its harness, no reviewer runs.
pub fn private_home(dir: &WorkItemDir, seat: &Seat) -> PathBuf {
    let name = seat.name.as_ref().map_or_else(String::new, |name| format!("-{name}"));
    dir.wall().join("homes").join(format!("{}{name}", seat.actor.as_str()))
}

/// True unless the file is said to be of a walled agent and is not in its home, in which the agent can make links.
pub fn is_own(dir: &WorkItemDir, record: &Spawn, file: &Path) -> bool {
    !is_walled(record) || real(file).starts_with(real(&private_home(dir, &record.seat())))
}

/// The path outside of a file that a walled agent names by its path inside, if that is in its home.
pub fn outside(dir: &WorkItemDir, record: &Spawn, inside: &Path) -> Option<PathBuf> {
    below(&private_home(dir, &record.seat()), &std::env::home_dir()?, inside)
}

fn below(private_home: &Path, home: &Path, inside: &Path) -> Option<PathBuf> {
    let below = [home.to_owned(), real(home)]
        .iter()
        .find_map(|home| inside.strip_prefix(home).ok().map(Path::to_owned))?;
    let path = private_home.join(below);
    // The agent can make links in its home.
    real(&path).starts_with(real(private_home)).then_some(path)
}

/// A wall around one agent.
#[derive(Debug)]
pub struct Wall<'w> {
    pub app: &'w App,
    pub dir: &'w WorkItemDir,
    pub task: &'w WorkItem,
    pub record: &'w Spawn,
    pub project: &'w Project,
    pub harness: &'w Harness,
    /// The folder that the agent works in.
    pub worktree: &'w Path,
}

impl Wall<'_> {
    /// The call of a harness, inside of the wall.
    ///
    /// # Errors
    /// `refused` if other things are granted than the journal says; `environment` where the wall cannot be made.
    pub fn around(&self, call: ProgramCall) -> Result<ProgramCall> {
        let Wall { app, dir, record, project, harness, worktree, .. } = self;
        let grants = effective(&app.home, project)?.sandbox.grants();
        let recorded = record.sandbox.as_ref().map(|it| it.grants.as_str());
        if recorded != Some(&digest(&grants, harness)) {
            let message =
                format!("what agents of {} may use has changed since this one was started", project.name);
            return Err(Error::new(ErrorKind::Refused, message)
                .help(format!("{} shows it, and how another one starts", dir.command("show"))));
        }
        let confinement = confinement(record)?;
        let plan = self.plan(&grants, confinement)?;
        self.prepare(&plan)?;
        let bubblewrap = bubblewrap(app)?;
        let variables = self.variables(&grants, confinement.network);
        Ok(call.within(bubblewrap.around(&plan, &variables)?.folder(worktree)))
    }

    fn plan(&self, grants: &Grants, confinement: Confinement) -> Result<WallPlan> {
        let Wall { app, dir, record, project, harness, worktree, .. } = self;
        let home = home()?;
        let root = app.home.root();
        let kept = [home.clone(), real(&home), root.to_owned(), worktree.to_path_buf(), real(&project.path)];
        let programs: Vec<PathBuf> = find_on_path(&harness.binary, app.path()).into_iter().collect();
        let mut read: BTreeSet<PathBuf> = visible(app.path(), &programs, &kept).into_iter().collect();
        read.extend(granted(&grants.read, &home, &kept)?);
        let mut own = vec![Mount::read(&app.program)];
        own.extend(app.program.parent().map(|folder| Mount::read_if_there(&folder.join("orange-mcp"))));
        own.push(Mount::read(&dir.prompt(record.spawn)));
        own.push(Mount::read_if_there(&dir.reporting()));
        if has_proxy(confinement.network) {
            // The folder and not the socket: a companion that is started again makes another one.
            own.push(Mount::Read { from: bridge(dir, record.spawn), at: Path::new(RUN).join("net") });
        }
        let repository = self.repository(confinement.git)?;
        Ok(WallPlan {
            homes: BTreeSet::from([home.clone(), real(&home)]).into_iter().collect(),
            private_home: private_home(dir, &record.seat()),
            orange_home: root.to_owned(),
            worktree: worktree.to_path_buf(),
            is_read_only: confinement.worktree == WorktreeAccess::Read,
            requests: worktree.join(REQUEST_FOLDER).join(record.spawn.to_string()),
            read: read.into_iter().collect(),
            write: granted(&grants.write, &home, &kept)?,
            own,
            repository,
            inside: if has_proxy(confinement.network) { inside(&app.program) } else { Vec::new() },
            hidden: Vec::new(),
        })
    }

    /// The mounts of the repository; none without a worktree.
    fn repository(&self, access: GitAccess) -> Result<Vec<Mount>> {
        let Wall { app, task, .. } = self;
        if task.worktree().is_none() {
            return Ok(Vec::new());
        }
        match access {
            GitAccess::None => Ok(Vec::new()),
            GitAccess::Read => imported::shared(app, task),
            GitAccess::Own => imported::begin(app, task),
        }
    }

    /// Makes the private home, and the places in it at which something is mounted.
    fn prepare(&self, plan: &WallPlan) -> Result<()> {
        make_folder(&bridge(self.dir, self.record.spawn))?;
        seeded(plan, self.project, &self.harness.sandbox.seed)
    }

    /// The variables inside, beside those that the call of the harness sets.
    fn variables(&self, grants: &Grants, network: Network) -> Vec<(OsString, OsString)> {
        variables_of(&[&grants.env, &self.harness.sandbox.env], self.worktree, has_proxy(network))
    }
}

/// Makes the private home of a wall with these files of the person, and the places in it at which something is mounted.
fn seeded(plan: &WallPlan, project: &Project, seed: &[String]) -> Result<()> {
    let home = home()?;
    let known_as = [project.path.clone(), real(&project.path), plan.worktree.clone()];
    let from = HomeSeed { home: &home, seed, project: &project.path, known_as: &known_as };
    make_home(&plan.private_home, &from)?;
    let points: Vec<(PathBuf, bool)> = plan.points().into_iter().collect();
    plan.homes.iter().try_for_each(|home| make_points(&plan.private_home, home, &points))
}

/// The variables inside of a wall: those that every program needs, those of these lists, and those that lead to the proxy, if there is
/// one.
fn variables_of(named: &[&Vec<String>], worktree: &Path, has_proxy: bool) -> Vec<(OsString, OsString)> {
    let is_passed = |name: &OsStr| {
        let text = name.to_str().unwrap_or_default();
        PASSED.contains(&text)
            || text.starts_with("LC_")
            || named.iter().any(|list| list.iter().any(|it| it == text))
    };
    let found = std::env::vars_os().filter(|(name, _)| is_passed(name));
    let own = [
        ("TMPDIR".into(), "/tmp".into()),
        ("IS_SANDBOX".into(), "1".into()),
        (variables::WORKTREE.into(), worktree.into()),
    ];
    if !has_proxy {
        return found.chain(own).collect();
    }
    let proxy = format!("http://127.0.0.1:{}", bridging::PORT);
    let proxied = PROXY.iter().map(|name| (OsString::from(*name), OsString::from(&proxy)));
    let direct = ["NO_PROXY", "no_proxy"].map(|name| (name.into(), "127.0.0.1,localhost,::1".into()));
    // Programs of node read the others only with this one.
    let of_node = [("NODE_USE_ENV_PROXY".into(), "1".into())];
    found.chain(own).chain(proxied).chain(direct).chain(of_node).collect()
}

/// True if an agent with this network has a proxy.
fn has_proxy(network: Network) -> bool {
    match network {
        Network::None => false,
        Network::Model | Network::Listed | Network::Open => true,
    }
}

/// The hosts of the proxy of an agent with this network.
fn hosts<'g>(network: Network, harness: &'g Harness, grants: &'g Grants) -> Vec<&'g String> {
    let granted: &[String] = match network {
        Network::None | Network::Model => &[],
        Network::Listed | Network::Open => &grants.hosts,
    };
    let of_harness: &[String] = if has_proxy(network) { &harness.sandbox.hosts } else { &[] };
    of_harness.iter().chain(granted).collect()
}

/// The folder with the socket of the proxy of an agent.
fn bridge(dir: &WorkItemDir, spawn: u32) -> PathBuf {
    dir.wall().join("net").join(spawn.to_string())
}

/// The program inside of a wall that leads to the proxy, before the harness.
fn inside(program: &Path) -> Vec<OsString> {
    let socket = Path::new(RUN).join("net").join(SOCKET);
    let words = ["agent", "inside", "--proxy"].map(OsString::from);
    std::iter::once(program.into()).chain(words).chain([socket.into(), "--".into()]).collect()
}

/// Starts the proxy of a walled agent, which ends with this process or when it is dropped; none for one without a network.
///
/// # Errors
/// `corrupt` for a host in the settings that is none; `environment` where it cannot listen.
pub fn proxy(app: &App, dir: &WorkItemDir, task: &WorkItem, record: &Spawn) -> Result<Option<Proxy>> {
    let network = confinement(record)?.network;
    if !has_proxy(network) {
        return Ok(None);
    }
    let grants = effective(&app.home, &app.project_of(task)?)?.sandbox.grants();
    let harness = app.harness(&record.harness)?;
    let rules = listed(network, hosts(network, &harness, &grants).into_iter())?;
    let folder = bridge(dir, record.spawn);
    make_folder(&folder)?;
    let (dir, spawn) = (dir.clone(), record.spawn);
    Proxy::start(&folder.join(SOCKET), rules, move |host, count| note_refused(&dir, spawn, host, count))
        .map(Some)
}

/// The rules of a proxy that opens these hosts.
fn listed<'h>(network: Network, hosts: impl Iterator<Item = &'h String>) -> Result<ProxyRules> {
    let pattern = |text: &String| {
        HostPattern::parse(text).map_err(|flaw| {
            Error::new(ErrorKind::Corrupt, format!("`{}` {}", text.escape_debug(), flaw.text()))
                .help("correct it in `sandbox.hosts` of the project, or of the harness in harnesses.toml")
        })
    };
    Ok(ProxyRules { network, hosts: hosts.map(pattern).collect::<Result<_>>()? })
}

/// Notes that a host was refused, at the first time and each time that it is ten times as often.
fn note_refused(dir: &WorkItemDir, spawn: u32, host: &str, count: u64) {
    let is_power_of_ten = count.checked_ilog10().is_some_and(|power| 10_u64.pow(power) == count);
    if !is_power_of_ten {
        return;
    }
    let (tool, text) = (Some(host.to_owned()), Some(count.to_string()));
    let note = ActivityNote { tool, text, ..ActivityNote::now(spawn, NoteKind::Refused) };
    if let Err(cause) = activity::append(dir, &note) {
        log::error!(target: "wall", "{}, agent {spawn}: that {host} was refused cannot be noted: {cause}", dir.shown());
    }
}

fn bubblewrap(app: &App) -> Result<Bubblewrap> {
    Bubblewrap::find(app.path(), app.home.root())
}

fn home() -> Result<PathBuf> {
    std::env::home_dir().filter(|home| home.is_absolute()).ok_or_else(|| {
        Error::new(ErrorKind::Environment, "HOME is not set: a wall needs the path of the home that it hides")
            .help("set HOME where agents are started")
    })
}

/// The paths of grants that are there, with the home in the place of `~`.
///
/// # Errors
/// `refused` for one that would show what a wall hides.
fn granted(grants: &[String], home: &Path, kept: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut paths = BTreeSet::new();
    for grant in grants {
        let path = grant.strip_prefix("~/").map_or_else(|| PathBuf::from(grant), |below| home.join(below));
        if kept.iter().any(|kept| kept.starts_with(&path) || kept.starts_with(real(&path))) {
            let message = format!(
                "`{grant}` cannot be granted: the home, the store, the worktree or the main checkout is in it"
            );
            return Err(Error::new(ErrorKind::Refused, message).help(
                "name what is needed of it in the project's settings, `sandbox.read` and `sandbox.write`",
            ));
        }
        if path.exists() {
            paths.insert(path);
        }
    }
    Ok(paths.into_iter().collect())
}

/// A digest of everything that is granted, by the project and for the harness.
fn digest(grants: &Grants, harness: &Harness) -> String {
    let own = Grants {
        env: harness.sandbox.env.clone(),
        hosts: harness.sandbox.hosts.clone(),
        read: harness.sandbox.seed.clone(),
        ..Grants::default()
    };
    format!("{:016x}{:016x}", grants.digest(), own.digest())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_grant_does_not_show_what_a_wall_hides() {
        let folder = tempfile::tempdir().unwrap();
        let home = real(folder.path()).join("ada");
        std::fs::create_dir_all(home.join(".cargo")).unwrap();
        symlink(folder.path(), home.join("up")).unwrap();
        let kept = [home.clone(), home.join("orange"), home.join("orange/workspaces/p--1")];
        let paths = |grants: &[&str]| {
            let grants: Vec<String> = grants.iter().map(|it| (*it).to_owned()).collect();
            granted(&grants, &home, &kept)
        };
        assert_eq!(paths(&["~/.cargo", "~/.absent"]).unwrap(), [home.join(".cargo")]);
        assert!(paths(&["~/orange/x"]).unwrap().is_empty());
        for wrong in [folder.path().to_str().unwrap(), "~/orange", "~/orange/workspaces", "~/up"] {
            assert!(paths(&[wrong]).unwrap_err().message.contains("cannot be granted"), "{wrong}");
        }
    }

    #[test]
    fn a_path_inside_is_a_path_of_the_private_home() {
        let folder = tempfile::tempdir().unwrap();
        let private = real(folder.path()).join("private");
        std::fs::create_dir_all(private.join("a")).unwrap();
        std::fs::write(private.join("a/b"), "").unwrap();
        symlink(folder.path(), private.join("link")).unwrap();
        let found = |inside: &str| below(&private, Path::new("/home/ada"), Path::new(inside));
        assert_eq!(found("/home/ada/a/b"), Some(private.join("a/b")));
        for wrong in ["/home/ada/link/x", "/home/ada/../x", "/etc/passwd", "a/b", "/home/adam/a"] {
            assert_eq!(found(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn other_grants_of_a_harness_have_another_digest() {
        let mut harness = crate::drive::harness::built_in().remove(0);
        let before = digest(&Grants::default(), &harness);
        harness.sandbox.hosts.push("a.org:443".to_owned());
        assert_ne!(digest(&Grants::default(), &harness), before);
        assert_eq!(before.len(), 32);
    }
}
