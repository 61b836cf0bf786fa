//! A mission of the workflow `dev-task` through a gateway and three crabs, one for each role: each step by an agent on a crab of its own.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use serde_json::Value;

use super::HarnessPair;
use super::missions::{PROMPT, fails_once};
use crate::plans::all_went_well;
use crate::suite::LifeSuite;
use crate::world::{World, files_in, text};

/// The branch of the mission.
const BRANCH: &str = "paint";

/// The roles of the crabs, which are the names of their folders, too.
const ROLES: [&str; 3] = ["planner", "worker", "reviewer"];

/// The attempts, in order, with their summaries.
const RUNS: [(&str, &str); 6] = [
    ("plan.1", "Paint it green"),
    ("implement.1", "The door is green"),
    ("review.1", "The door has no second coat"),
    ("fix.1", "It has a second coat"),
    ("review.2", "Both coats are there"),
    ("pr.1", "There is no remote that takes pull requests"),
];

/// A review fails, the next one passes after a fix, and the mission is complete: its branch on the origin has the work of every step, and
/// the crab of each attempt has its transcript.
pub(super) fn fail_fix_pass(suite: &'static LifeSuite, pair: HarnessPair) {
    let world = World::fresh(suite);
    let plans = fails_once(&world);
    let fleet = LocalFleet::start(&world, pair);
    let words = ["mission", "start", "dev-task", PROMPT, "--colony", "toy", "--branch", BRANCH];
    let mission = word(&fleet.ok(&words)["mission_id"]);
    world.until("the mission is over", || !is_open(&fleet.ok(&["mission", "show", &mission])));
    let shown = fleet.ok(&["mission", "show", &mission]);
    assert_eq!(shown["status"], "completed", "{shown}");
    for plan in plans {
        all_went_well(&world, plan);
    }
    let runs = fleet.ok(&["mission", "runs", &mission])["runs"].clone();
    let seen: Vec<[&str; 3]> = runs
        .as_array()
        .unwrap()
        .iter()
        .map(|run| {
            let id = run["run_id"].as_str().unwrap().split_once('.').unwrap().1;
            [id, run["status"].as_str().unwrap(), run["summary"].as_str().unwrap().trim_end()]
        })
        .collect();
    assert_eq!(seen, RUNS.map(|(run, summary)| [run, "completed", summary]));
    // Each attempt is a mission in the home of its crab.
    assert_eq!(ROLES.map(|role| fleet.transcripts(role)), [1, 3, 2]);
    let origin = world.path("toy.git");
    assert_eq!(runs[5]["commit"], world.git(&origin, &["rev-parse", BRANCH]));
    let files = world.git(&origin, &["ls-tree", "-r", "--name-only", BRANCH]);
    assert_eq!(files, "coat.txt\ndoor.txt", "the work is on the origin, and nothing else");
    let log = world.git(&origin, &["log", "--format=%s", &format!("main..{BRANCH}")]);
    assert_eq!(log, "Paint it\nPaint it");
    assert_eq!(world.git(&origin, &["for-each-ref", "refs/orange-fleet"]), "", "no claim is left");
}

/// `orange-fleet up` of this world's user.
struct LocalFleet<'w> {
    world: &'w World,
    up: Child,
}

impl<'w> LocalFleet<'w> {
    /// A gateway and a crab for each role, which agree to what the agents ask before they work.
    fn start(world: &'w World, HarnessPair(works, reviews): HarnessPair) -> LocalFleet<'w> {
        let log = fs::File::create(world.path("up.log")).unwrap();
        let mut command = world.command("orange-fleet");
        command.args(["up", "--agree", "--listen", "127.0.0.1:0", "--lease", "600"]);
        ROLES.iter().for_each(|role| _ = command.args(["--crab", role]));
        command.args(["--harness", works, "--review-harness", reviews]);
        command.arg("--repository").arg(world.path("toy.git")).arg("--dir").arg(world.path("fleet"));
        let up = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let fleet = LocalFleet { world, up };
        world.until("the crabs are registered", || {
            fleet.log().matches(": registered in ").count() == ROLES.len() && fleet.address().is_some()
        });
        fleet
    }

    fn log(&self) -> String {
        fs::read_to_string(self.world.path("up.log")).unwrap_or_default()
    }

    fn address(&self) -> Option<String> {
        let log = self.log();
        log.lines().find_map(|it| it.split_once(" serves the colony ")).map(|it| it.0.to_owned())
    }

    /// The answer of `orange-fleet … --json`, with the administrator's token.
    #[track_caller]
    fn ok(&self, args: &[&str]) -> Value {
        let mut command = self.world.command("orange-fleet");
        command.arg("--json").args(args).args(["--gateway", &self.address().unwrap(), "--dir"]);
        let output = command.arg(self.world.path("fleet/gateway")).output().unwrap();
        let said = || format!("orange-fleet {args:?}: {}{}", text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{}", said());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", said()))
    }

    fn crab(&self, role: &str) -> PathBuf {
        let number = ROLES.iter().position(|it| *it == role).unwrap() + 1;
        self.world.path("fleet/crabs").join(format!("{role}-{number}"))
    }

    /// Number of attempts that have a transcript in the home of this role's crab.
    fn transcripts(&self, role: &str) -> usize {
        let kept = files_in(&self.crab(role).join("orange/missions"));
        let folders = kept.iter().filter_map(|it| it.parent()).filter(|it| it.ends_with("transcripts"));
        folders.collect::<BTreeSet<_>>().len()
    }
}

impl Drop for LocalFleet<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- up\n{}", self.log());
            for role in ROLES {
                let socket = format!("fleet/crabs/{}/tmux", self.crab(role).file_name().unwrap().display());
                let panes = self.world.tmux_at(&socket, &["list-panes", "-a", "-F", "#{pane_id}"]);
                for pane in text(&panes.stdout).lines() {
                    eprintln!("--- a pane of {role}\n{}", self.world.screen(&socket, pane).trim_end());
                }
            }
        }
        self.up.kill().unwrap_or_default();
        self.up.wait().map(drop).unwrap_or_default();
    }
}

fn is_open(shown: &Value) -> bool {
    !["completed", "failed", "cancelled", "paused"].iter().any(|it| shown["status"] == *it)
}

#[track_caller]
fn word(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no word: {value}")).to_owned()
}
