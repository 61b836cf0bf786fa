//! The attacks on a wall, and that each restriction is needed against one of them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::*;
use crate::drive::wall::{Mount, WallPlan};

const TARGETS: &str = "ORANGE_TEST_TARGETS";

/// Not a test by itself: the tests below start this binary again in a wall, with this variable.
#[test]
fn attacks() {
    let Some(targets) = std::env::var_os(TARGETS) else { return };
    println!("\n{}", attack(targets.to_str().unwrap()).unwrap());
}

fn path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

/// Bubblewrap, if it can make a wall here.
fn bubblewrap() -> Option<Bubblewrap> {
    let found =
        Bubblewrap::find(&path(), Path::new("/nowhere")).and_then(|it| it.check(&path()).map(|()| it));
    found.map_err(|error| println!("SKIPPED: attacks on a wall: {}", error.one_line())).ok()
}

/// The attacks that go through a wall with a changed plan, changed arguments and further variables.
fn open(
    bubblewrap: &Bubblewrap,
    change_plan: impl Fn(&mut WallPlan),
    change: impl Fn(Vec<OsString>) -> Vec<OsString>,
    variables: &[(&str, &str)],
) -> Vec<String> {
    let lab = WallLab::make().unwrap();
    let program = std::env::current_exe().unwrap();
    let mut plan = lab.plan(&program);
    change_plan(&mut plan);
    let given = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let all: Vec<_> = lab.variables(&path()).into_iter().chain(given).collect();
    let within = bubblewrap.changed(&plan, &all, change).unwrap();
    let targets = serde_json::to_string(&lab.targets().unwrap()).unwrap();
    let call = ProgramCall::new(&program).args(["doctor::wall::tests::attacks", "--exact", "--nocapture"]);
    let results = lab.results(call.env(TARGETS, targets), within).unwrap();
    assert!(results.len() > 30, "{results:#?}");
    results.into_iter().filter(|result| result.held == Some(false)).map(|result| result.name).collect()
}

fn without(flag: &str, values: usize) -> impl Fn(Vec<OsString>) -> Vec<OsString> {
    move |mut all: Vec<OsString>| {
        let at = all.iter().position(|word| word == flag).unwrap_or_else(|| panic!("no {flag}"));
        all.drain(at..=at + values);
        all
    }
}

#[test]
fn a_wall_holds_against_every_attack() {
    let Some(bubblewrap) = bubblewrap() else { return };
    assert_eq!(open(&bubblewrap, |_| (), |all| all, &[]), [""; 0]);
}

#[test]
fn every_restriction_of_a_wall_holds_an_attack() {
    let Some(bubblewrap) = bubblewrap() else { return };
    for (flag, values, attack) in [
        ("--unshare-user", 0, "be in the user namespace outside"),
        ("--unshare-pid", 0, "find a process outside"),
        ("--unshare-ipc", 0, "be in the ipc namespace outside"),
        ("--unshare-uts", 0, "be in the uts namespace outside"),
        ("--unshare-cgroup-try", 0, "be in the cgroup namespace outside"),
        ("--unshare-net", 0, "connect to a port"),
        ("--disable-userns", 0, "make a user namespace"),
        ("--cap-drop", 1, "have a capability"),
        ("--seccomp", 1, "type into its terminal"),
    ] {
        let change = without(flag, values);
        let change = |all: Vec<OsString>| {
            // These need the user namespace.
            let all = if flag == "--unshare-user" { without("--disable-userns", 0)(all) } else { all };
            let all = if flag == "--unshare-uts" { without("--hostname", 1)(all) } else { all };
            change(all)
        };
        let through = open(&bubblewrap, |_| (), change, &[]);
        let is_through = through.iter().any(|name| name == attack);
        // The kernel or bubblewrap itself has taken a user's capabilities who is not root.
        let is_root = rustix::process::geteuid().is_root();
        assert!(
            is_through || !is_root && ["--cap-drop", "--unshare-user"].contains(&flag),
            "{flag}: {through:?}"
        );
    }
}

#[test]
fn every_mount_of_a_wall_holds_an_attack() {
    let Some(bubblewrap) = bubblewrap() else { return };
    let outside = |plan: &WallPlan| plan.homes[0].clone();
    let root = move |plan: &WallPlan| outside(plan).parent().map(Path::to_owned).unwrap_or_default();
    type Change<'c> = &'c dyn Fn(&mut WallPlan);
    let changes: [(Change<'_>, &str); 5] = [
        (&|plan| plan.private_home = plan.homes[0].clone(), "read a key of the home"),
        (&|plan| plan.write = std::mem::take(&mut plan.read), "write to programs of PATH"),
        (&|plan| plan.repository = vec![Mount::write(&root(plan).join("repo/.git"))], "write to hooks"),
        (&|plan| plan.requests = PathBuf::new(), "read a request of another agent"),
        (&|plan| plan.own.push(Mount::read(&plan.orange_home)), "read the store"),
    ];
    for (change, attack) in changes {
        let through = open(&bubblewrap, change, |all| all, &[]);
        assert!(through.iter().any(|name| name == attack), "{attack}: {through:?}");
    }
    if rustix::process::geteuid().is_root() {
        let unsealed = |mut all: Vec<OsString>| {
            let at = all.windows(2).position(|pair| pair == ["--remount-ro", "/proc"]).unwrap();
            all.drain(at..at + 2);
            all
        };
        let through = open(&bubblewrap, |_| (), unsealed, &[]);
        assert!(through.iter().any(|name| name.contains("core_pattern")), "{through:?}");
    }
    let writable = |mut all: Vec<OsString>| {
        let at = all.iter().rposition(|word| Path::new(word).ends_with(".git")).unwrap() - 2;
        all[at] = OsStr::new("--bind").to_owned();
        all
    };
    let through = open(&bubblewrap, |_| (), writable, &[]);
    assert_eq!(through, ["write to the link of the worktree"]);
}

#[test]
fn bubblewrap_itself_has_the_environment_of_the_agent() {
    let Some(bubblewrap) = bubblewrap() else { return };
    let through = open(&bubblewrap, |_| (), |all| all, &[("SECRET", "x")]);
    assert_eq!(through, [""; 0], "the program inside has it, too");
    let cleared = |mut all: Vec<OsString>| {
        let set = ["--unsetenv", "SECRET"].map(OsString::from);
        all.splice(0..0, set);
        all
    };
    let through = open(&bubblewrap, |_| (), cleared, &[("SECRET", "x")]);
    assert_eq!(through, ["read variables that were not granted"]);
}
