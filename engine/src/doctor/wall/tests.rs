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
    results(bubblewrap, change_plan, change, variables).unwrap()
}

/// Those attacks, or the reason for which such a wall cannot be made.
fn results(
    bubblewrap: &Bubblewrap,
    change_plan: impl Fn(&mut WallPlan),
    change: impl Fn(Vec<OsString>) -> Vec<OsString>,
    variables: &[(&str, &str)],
) -> Result<Vec<String>> {
    let lab = WallLab::make().unwrap();
    let program = std::env::current_exe().unwrap();
    let mut plan = lab.plan(&program);
    change_plan(&mut plan);
    let given = variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let all: Vec<_> = lab.variables(&path()).into_iter().chain(given).collect();
    let within = bubblewrap.changed(&plan, &all, change).unwrap();
    let targets = serde_json::to_string(&lab.targets().unwrap()).unwrap();
    let call = ProgramCall::new(&program).args(["doctor::wall::tests::attacks", "--exact", "--nocapture"]);
    let results = lab.results(call.env(TARGETS, targets), within)?;
    assert!(results.len() > 30, "{results:#?}");
    Ok(results.into_iter().filter(|result| result.held == Some(false)).map(|result| result.name).collect())
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
    assert_eq!(through, ["write to a place that was not granted", "write to the link of the worktree"]);
}

/// Number of words behind each argument of bubblewrap that has some.
const VALUES: &[(&str, usize)] = &[
    ("--bind", 2),
    ("--cap-drop", 1),
    ("--chdir", 1),
    ("--dev", 1),
    ("--dir", 1),
    ("--hostname", 1),
    ("--proc", 1),
    ("--remount-ro", 1),
    ("--ro-bind", 2),
    ("--ro-bind-try", 2),
    ("--seccomp", 1),
    ("--tmpfs", 1),
];

/// The arguments of bubblewrap, each with its words, up to the program inside.
fn units(all: &[OsString]) -> Vec<Vec<OsString>> {
    let mut units = Vec::new();
    let mut rest = all;
    while let Some(first) = rest.first().filter(|word| *word != "--") {
        let count = VALUES.iter().find(|(flag, _)| first == flag).map_or(0, |(_, count)| *count);
        let (unit, behind) = rest.split_at(1 + count);
        units.push(unit.to_vec());
        rest = behind;
    }
    units
}

/// Reason for which a wall without a restriction still holds against every attack. `None` for a grant, which restricts nothing.
fn holds_without(unit: &[OsString], root: &Path) -> Option<&'static str> {
    let text = |at: usize| unit.get(at).and_then(|word| word.to_str()).unwrap_or_default();
    match (text(0), text(1)) {
        ("--die-with-parent", _) => Some("a test of whole lives looks for agents that are left"),
        ("--hostname", _) => Some("the name outside is in a namespace of its own"),
        ("--tmpfs", "/tmp" | "/var/tmp" | "/run") => Some("nothing else is mounted there"),
        ("--tmpfs", at) if Path::new(at) == root.join("ada/orange") => {
            Some("it hides what a grant could show, and the lab grants nothing there")
        }
        ("--remount-ro", _) => Some("an agent gets an error where it would write something that vanishes"),
        _ => None,
    }
}

#[test]
fn every_argument_of_a_wall_is_accounted_for() {
    let Some(bubblewrap) = bubblewrap() else { return };
    let lab = WallLab::make().unwrap();
    let plan = lab.plan(&std::env::current_exe().unwrap());
    let root = plan.homes[0].parent().unwrap().to_owned();
    let seen = std::cell::RefCell::new(Vec::new());
    let call = bubblewrap.changed(&plan, &[], |all| {
        seen.replace(units(&all));
        all
    });
    drop(call.unwrap());
    let count = seen.borrow().len();
    assert!(count > 40, "{count}");
    // The user root has rights that the kernel or bubblewrap takes from others.
    let is_root = rustix::process::geteuid().is_root();
    let of_root = ["--unshare-user", "--cap-drop"];
    for place in 0..count {
        let unit = seen.borrow()[place].clone();
        let flag = unit[0].to_str().unwrap().to_owned();
        let is_there = |at: usize| unit.get(at).is_some_and(|path| Path::new(path).exists());
        let change = |all: Vec<OsString>| {
            let mut all_units = units(&all);
            let end: Vec<OsString> = all.into_iter().skip_while(|word| word != "--").collect();
            match flag.as_str() {
                "--ro-bind" => all_units[place][0] = "--bind".into(),
                "--ro-bind-try" => all_units[place][0] = "--bind-try".into(),
                _ => drop(all_units.remove(place)),
            }
            // These need the namespace.
            let needs = [("--unshare-user", "--disable-userns"), ("--unshare-uts", "--hostname")];
            if let Some((_, other)) = needs.iter().find(|(it, _)| *it == flag) {
                all_units.retain(|it| it[0] != *other);
            }
            all_units.concat().into_iter().chain(end).collect()
        };
        let is_grant = ["--bind", "--chdir", "--dev", "--dir", "--proc"].contains(&flag.as_str())
            || flag == "--ro-bind-try" && !is_there(1);
        if is_grant || !is_root && of_root.contains(&flag.as_str()) {
            continue;
        }
        // The places of each lab are its own.
        let harmless = holds_without(&unit, &root);
        // A wall that cannot be made holds: no agent starts.
        let Ok(through) = results(&bubblewrap, |_| (), change, &[]) else { continue };
        match harmless {
            None => assert!(!through.is_empty(), "{unit:?} holds no attack"),
            Some(why) => {
                assert!(through.is_empty() || flag == "--remount-ro", "{unit:?}: {why}: {through:?}")
            }
        }
    }
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
