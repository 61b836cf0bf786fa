//! Crabs of three roles at a real gateway: whole missions, while crabs and the gateway are killed.

use std::cell::RefCell;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::world::{TestCrab, World, text, until};

/// A gateway of its own with a colony, and who asks it.
struct ColonyFleet {
    world: World,
    serve: RefCell<Option<Child>>,
    listen: RefCell<String>,
}

impl ColonyFleet {
    fn new() -> ColonyFleet {
        let listen = RefCell::new("127.0.0.1:0".to_owned());
        let mut fleet = ColonyFleet { world: World::new(), serve: RefCell::default(), listen };
        fleet.start();
        let token = std::fs::read_to_string(fleet.world.path("gateway/tokens/admin")).unwrap();
        fleet.world.asks(&format!("http://{}", fleet.listen.borrow()), "toy", &token);
        let repository = fleet.world.path("toy.git").display().to_string();
        fleet.json(&["colony", "create", "toy", "--repository", &repository]);
        fleet
    }

    /// Starts the gateway, at the address that it had before.
    fn start(&self) {
        let mut command = self.world.command(env!("CARGO_BIN_EXE_orange-fleet"));
        let log = std::fs::OpenOptions::new().create(true).append(true).open(self.world.path("gateway.log"));
        // Only a test ends leases here.
        command.args(["serve", "--lease", "600", "--listen", &self.listen.borrow(), "--dir"]);
        command.arg(self.world.path("gateway"));
        let mut child = command.stdout(Stdio::piped()).stderr(log.unwrap()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split(';').next().and_then(|it| it.rsplit("http://").next()).unwrap();
        *self.listen.borrow_mut() = address.to_owned();
        *self.serve.borrow_mut() = Some(child);
    }

    fn kill(&self) {
        let mut serve = self.serve.take().unwrap();
        serve.kill().unwrap();
        serve.wait().unwrap();
    }

    /// Has the gateway take a crab that is silent for dead.
    fn sweep(&self) {
        let token = std::fs::read_to_string(self.world.path("token")).unwrap();
        for _ in 0..3 {
            let call = ureq::post(format!("http://{}/v1/scheduler/tick", self.listen.borrow()));
            let call = call.header("Authorization", format!("Bearer {}", token.trim()));
            call.content_type("application/json").send("{}").unwrap();
        }
    }

    /// A text that the gateway has.
    #[track_caller]
    fn text(&self, path: &str) -> String {
        let token = std::fs::read_to_string(self.world.path("token")).unwrap();
        let call = ureq::get(format!("http://{}{path}", self.listen.borrow()));
        let call = call.header("Authorization", format!("Bearer {}", token.trim()));
        call.call().unwrap().body_mut().read_to_string().unwrap()
    }

    /// The answer of `orange-fleet … --json`.
    #[track_caller]
    fn json(&self, args: &[&str]) -> Value {
        let said = self.world.fleet(&[&["--json"], args].concat());
        assert!(said.status.success(), "{args:?}: {} {}", text(&said.stdout), text(&said.stderr));
        serde_json::from_slice(&said.stdout).unwrap()
    }

    fn mission(&self, branch: &str, more: &[&str]) -> String {
        let words = ["mission", "start", "dev-task", "Make it faster", "--colony", "toy", "--branch", branch];
        self.json(&[&words[..], more].concat())["mission_id"].as_str().unwrap().to_owned()
    }

    fn crab(&self, role: &str) -> TestCrab<'_> {
        self.world.crab(role, &["--role", role])
    }

    fn status(&self, mission: &str) -> String {
        self.json(&["mission", "show", mission])["status"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    fn becomes(&self, mission: &str, status: &str) {
        until(&format!("the mission is {status}"), || self.status(mission) == status);
    }

    /// The attempts of a mission, as `step.attempt status`.
    fn runs(&self, mission: &str) -> Vec<String> {
        let runs = self.json(&["mission", "runs", mission]);
        let run = |it: &Value| {
            let id = it["run_id"].as_str().unwrap().split_once('.').unwrap().1;
            format!("{id} {}", it["status"].as_str().unwrap())
        };
        runs["runs"].as_array().unwrap().iter().map(run).collect()
    }

    /// Number of agents that a step had, on all of these crabs.
    fn agents(crabs: &[&TestCrab<'_>]) -> usize {
        crabs.iter().map(|crab| crab.notes("pid").len()).sum()
    }
}

impl Drop for ColonyFleet {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", std::fs::read_to_string(self.world.path("gateway.log")).unwrap_or_default());
        }
        if let Some(mut serve) = self.serve.take() {
            serve.kill().unwrap_or_default();
            serve.wait().map(drop).unwrap_or_default();
        }
    }
}

/// Script of an agent that waits until this file is there.
fn until_there(file: &Path, summary: &str) -> String {
    format!("until [ -e {} ]; do sleep 0.05; done; commit; complete PASS {summary}", file.display())
}

/// Script of a review: a branch on which nothing was fixed fails, if it is this one.
const REVIEW: &str = "if [ \"$(git branch --show-current)\" = fail/first ] && ! [ -e fixed.txt ]; \
    then complete FAIL 'It has no tests'; else complete PASS 'It is good'; fi";

const FIX: &str = "echo tests >fixed.txt; complete PASS 'The tests are there'";

#[test]
fn two_missions_at_once_and_one_through_fail_fix_pass() {
    let fleet = ColonyFleet::new();
    let crabs = ["planner", "worker", "reviewer"].map(|role| fleet.crab(role));
    crabs[1].acts("fix", FIX);
    crabs[2].acts("review", REVIEW);
    let (one, other) = (fleet.mission("fail/first", &[]), fleet.mission("pass/first", &[]));
    fleet.becomes(&one, "completed");
    fleet.becomes(&other, "completed");
    let runs = ["plan.1", "implement.1", "review.1", "fix.1", "review.2", "pr.1"];
    assert_eq!(fleet.runs(&one), runs.map(|it| format!("{it} completed")));
    assert_eq!(fleet.runs(&other), [runs[0], runs[1], runs[2], runs[5]].map(|it| format!("{it} completed")));
    assert_eq!(ColonyFleet::agents(&crabs.each_ref()), 10);
    crabs.iter().for_each(TestCrab::is_idle);
    let log = fleet.world.git("toy.git", &["log", "--format=%s", "fail/first"]);
    let expect = [
        "pr did its part",
        "Uncommitted work of step fix, attempt 1",
        "implement did its part",
        "plan did its part",
        "Begin",
    ];
    assert_eq!(log, expect.join("\n"));
    let claims = fleet.world.git("toy.git", &["for-each-ref", "refs/orange-fleet"]);
    assert_eq!(claims, "");
}

#[test]
fn an_attempt_shows_what_it_has_changed_and_said() {
    let fleet = ColonyFleet::new();
    let crab = fleet.crab("any");
    crab.acts(
        "plan",
        "echo 'I look at the README'; echo More >>README.md; git commit --quiet --all --message More; \
         echo '<script>' >left.txt; printf 'a\\0b' >picture.bin; complete PASS planned",
    );
    let mission = fleet.mission("shown/texts", &["--execution", "step"]);
    until("the plan is made", || fleet.runs(&mission).first().is_some_and(|it| it == "plan.1 completed"));
    let diff = fleet.text(&format!("/v1/runs/{mission}.plan.1/diff"));
    let has = [
        " README.md ",
        "3 files changed",
        "\n A toy.\n+More\n",
        "+++ b/left.txt\n@@ -0,0 +1 @@\n+<script>\n",
    ];
    for it in has {
        assert!(diff.contains(it), "{it:?} is not in {diff}");
    }
    assert!(diff.contains("Binary files /dev/null and b/picture.bin differ"), "{diff}");
    let transcript = fleet.text(&format!("/v1/runs/{mission}.plan.1/transcript"));
    assert!(transcript.starts_with("agent 1 ("), "{transcript}");
    assert!(transcript.contains("I look at the README"), "{transcript}");
}

#[test]
fn a_killed_crab_and_a_killed_gateway_lose_nothing() {
    let fleet = ColonyFleet::new();
    let mut crabs = ["planner", "worker", "reviewer"].map(|role| fleet.crab(role));
    let go = fleet.world.path("go");
    crabs[1].acts("implement", &until_there(&go, "done"));
    let mission = fleet.mission("kill/both", &[]);
    crabs[1].has_agent();
    crabs[1].kill();
    crabs[1].start();
    crabs[1].registers(2);
    fleet.kill();
    std::fs::write(&go, "").unwrap();
    until("the agent has reported", || crabs[1].mission()["steps"][0]["status"] == "completed");
    fleet.start();
    fleet.becomes(&mission, "completed");
    let runs = ["plan.1", "implement.1", "review.1", "pr.1"];
    assert_eq!(fleet.runs(&mission), runs.map(|it| format!("{it} completed")));
    assert_eq!(ColonyFleet::agents(&crabs.each_ref()), 4);
}

#[test]
fn the_step_of_a_dead_crab_goes_to_another_one() {
    let fleet = ColonyFleet::new();
    let mut first = fleet.crab("any");
    first.acts("plan", "echo half >half.txt; exec sleep 100000");
    let mission = fleet.mission("dead/crab", &[]);
    first.has_agent();
    until("the run has started", || fleet.runs(&mission) == ["plan.1 running"]);
    first.kill();
    fleet.sweep();
    let second = fleet.world.crab("second", &["--role", "any"]);
    fleet.becomes(&mission, "completed");
    let runs = [
        "plan.1 abandoned",
        "plan.2 completed",
        "implement.1 completed",
        "review.1 completed",
        "pr.1 completed",
    ];
    assert_eq!(fleet.runs(&mission), runs);
    // The first one is back late: its agent is ended, and what it had is not pushed.
    first.start();
    first.is_idle();
    assert_eq!(first.refs("refs/orange/backup").len(), 1);
    assert_eq!(fleet.world.origin_file("dead/crab", "half.txt"), None);
    assert_eq!(second.notes("pid").len(), 4);
}

#[test]
fn a_step_that_cannot_start_here_waits_for_another_crab() {
    let fleet = ColonyFleet::new();
    let broken = fleet.world.crab("broken", &["--role", "any", "--harness", "codex", "--fault-pause", "600"]);
    let mission = fleet.mission("give/back", &[]);
    until("the crab is marked", || {
        let crabs = fleet.json(&["colony", "crabs", "toy"]);
        crabs["crabs"][0]["fault"].as_str().is_some_and(|it| it.contains("codex"))
    });
    assert_eq!(fleet.status(&mission), "running");
    let _second = fleet.world.crab("second", &["--role", "any"]);
    fleet.becomes(&mission, "completed");
    assert!(broken.notes("pid").is_empty());
}

#[test]
fn a_crab_gives_a_step_back_as_often_as_it_comes() {
    let fleet = ColonyFleet::new();
    let _crab = fleet.world.crab("broken", &["--role", "any", "--harness", "codex", "--fault-pause", "0"]);
    let mission = fleet.mission("give/back", &[]);
    let events = format!("/v1/missions/{mission}/events");
    until("it has come back three times", || fleet.text(&events).matches("step.given-back").count() >= 3);
    assert_eq!(fleet.status(&mission), "running");
    assert_eq!(fleet.runs(&mission).len(), 1, "no attempt is lost");
}

#[test]
fn a_mission_on_the_default_branch_keeps_none_waiting() {
    let fleet = ColonyFleet::new();
    // A crab that were marked would not come back in time.
    let _crab = fleet.world.crab("atlas", &["--role", "any", "--fault-pause", "600"]);
    let wrong = fleet.mission("main", &[]);
    let other = fleet.mission("good/one", &[]);
    fleet.becomes(&other, "completed");
    assert!(["paused", "failed"].contains(&fleet.status(&wrong).as_str()), "{}", fleet.status(&wrong));
    let events = fleet.text(&format!("/v1/missions/{wrong}/events"));
    assert!(events.contains("run.failed") && !events.contains("step.given-back"), "{events}");
}

#[test]
fn a_cancelled_mission_ends_its_agent() {
    let fleet = ColonyFleet::new();
    let crab = fleet.crab("any");
    crab.acts("plan", "echo half >half.txt; exec sleep 100000");
    let mission = fleet.mission("cancel/it", &[]);
    crab.has_agent();
    fleet.json(&["mission", "cancel", &mission]);
    crab.is_idle();
    assert_eq!(fleet.status(&mission), "cancelled");
    assert_eq!(crab.mission()["status"], "cancelled");
    assert_eq!(crab.refs("refs/orange/backup").len(), 1);
}

#[test]
fn complete_run_ends_the_step_of_a_crab() {
    let fleet = ColonyFleet::new();
    let crab = fleet.crab("any");
    crab.acts("plan", "exec sleep 100000");
    let mission = fleet.mission("by/script", &["--execution", "step"]);
    crab.has_agent();
    until("the run has started", || fleet.runs(&mission) == ["plan.1 running"]);
    let run = format!("{mission}.plan.1");
    let words = ["complete-run", "--run-id", &run, "--status", "completed", "--summary", "By a script"];
    fleet.json(&words);
    fleet.json(&words);
    let said = fleet.world.fleet(&[
        "complete-run",
        "--run-id",
        &run,
        "--status",
        "completed",
        "--summary",
        "Another",
    ]);
    assert_eq!(said.status.code(), Some(1), "{}", text(&said.stderr));
    assert_eq!(fleet.runs(&mission)[0], "plan.1 completed");
    crab.is_idle();
    assert_eq!(crab.mission()["status"], "cancelled");
}
