//! `orange-fleet up`: a gateway and its crabs as processes that end together.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::world::{PATIENCE, World, kill, orange, text, until};

/// `orange-fleet up` with two crabs.
struct Up<'w> {
    world: &'w World,
    process: Child,
}

impl Up<'_> {
    fn start(world: &World) -> Up<'_> {
        let log = fs::File::create(world.path("up.log")).unwrap();
        let up = Up { world, process: Up::command(world).stderr(log).spawn().unwrap() };
        until("two crabs are registered", || up.log().matches(": registered in ").count() >= 2);
        up
    }

    fn command(world: &World) -> Command {
        let mut command = world.command(env!("CARGO_BIN_EXE_orange-fleet"));
        command.args([
            "up",
            "--crab",
            "planner,worker",
            "--crab",
            "reviewer",
            "--listen",
            "127.0.0.1:0",
            "--agree",
        ]);
        command.arg("--repository").arg(world.path("toy.git")).arg("--dir").arg(world.path("fleet"));
        command.arg("--home").arg(world.path("home"));
        // It is for another gateway.
        command.env("ORANGE_FLEET_TOKEN", "orange_other_token");
        command.arg("--orange").arg(orange()).stdout(Stdio::null());
        command
    }

    fn log(&self) -> String {
        fs::read_to_string(self.world.path("up.log")).unwrap_or_default()
    }

    /// The answer of `orange-fleet … --json`, with the administrator's token.
    #[track_caller]
    fn json(&self, args: &[&str]) -> Value {
        self.asks(args).unwrap_or_else(|said| panic!("{args:?}: {said}"))
    }

    fn asks(&self, args: &[&str]) -> Result<Value, String> {
        let log = self.log();
        let address = log.lines().rev().find_map(|it| it.split_once(" serves the colony ")).unwrap().0;
        let mut command = self.world.command(env!("CARGO_BIN_EXE_orange-fleet"));
        command
            .arg("--json")
            .args(args)
            .args(["--gateway", address, "--dir"])
            .arg(self.world.path("fleet/gateway"));
        let said = command.output().unwrap();
        let is_answered = said.status.success();
        is_answered.then(|| serde_json::from_slice(&said.stdout).unwrap()).ok_or_else(|| text(&said.stdout))
    }

    /// The processes that it has started: those whose command line has this word.
    fn processes(&self, word: &str) -> Vec<u32> {
        let mark = self.world.path("fleet").display().to_string();
        let is_ours = |pid: &u32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words: Vec<String> = line.split(|byte| *byte == 0).map(text).collect();
            words.get(1).is_some_and(|it| it == word) && words.iter().any(|it| it.starts_with(&mark))
        };
        let all = fs::read_dir("/proc").unwrap().flatten();
        all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_ours).collect()
    }
}

impl Drop for Up<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.log());
        }
        self.process.kill().unwrap_or_default();
        self.process.wait().map(drop).unwrap_or_default();
    }
}

#[test]
fn up_runs_a_mission_and_starts_again_what_ends() {
    let world = World::new();
    let mut up = Up::start(&world);
    let words = ["mission", "start", "dev-task", "Make it faster", "--colony", "toy", "--branch", "up/one"];
    let mission = up.json(&words)["mission_id"].as_str().unwrap().to_owned();
    let line = text(&fs::read(format!("/proc/{}/cmdline", up.processes("serve")[0])).unwrap());
    assert!(line.contains("--home") && line.contains("--orange"), "{line}");
    up.processes("crab").into_iter().for_each(kill);
    up.processes("serve").into_iter().for_each(kill);
    // The gateway is away for a moment.
    until("the mission is complete", || {
        up.asks(&["mission", "show", &mission]).is_ok_and(|it| it["status"] == "completed")
    });
    assert!(world.origin("up/one").is_some());
    kill_process(Pid::from_child(&up.process), Signal::TERM).unwrap();
    assert!(up.process.wait().unwrap().success());
    assert_eq!((up.processes("crab").len(), up.processes("serve").len()), (0, 0));
    // The next `up` finds the gateway, the colony and the crabs of the first one.
    let again = Up::start(&world);
    assert_eq!(again.json(&["mission", "show", &mission])["status"], "completed");
    assert_eq!(again.json(&["colony", "crabs", "toy"])["crabs"].as_array().map(Vec::len), Some(2));
}

#[test]
fn processes_end_with_a_killed_up() {
    let world = World::new();
    let up = Up::start(&world);
    kill(up.process.id());
    until("nothing is left", || up.processes("crab").is_empty() && up.processes("serve").is_empty());
}

#[test]
fn each_line_of_up_and_of_its_crabs_is_written_whole() {
    let world = World::new();
    // A message is what a process writes with one call.
    let (ours, theirs) = UnixDatagram::pair().unwrap();
    ours.set_read_timeout(Some(PATIENCE)).unwrap();
    let process = Up::command(&world).stderr(OwnedFd::from(theirs)).spawn().unwrap();
    let _up = Up { world: &world, process };
    let mut registered = 0;
    while registered < 2 {
        let mut message = [0; 4096];
        let length = ours.recv(&mut message).unwrap();
        let written = text(&message[..length]);
        assert!(written.ends_with('\n'), "{written:?} is not a whole line");
        registered += usize::from(written.contains(": registered in "));
    }
}

#[test]
fn up_takes_no_crabs_away_from_their_colony() {
    let world = World::new();
    drop(Up::start(&world));
    let mut command = world.command(env!("CARGO_BIN_EXE_orange-fleet"));
    command.args(["up", "--crabs", "1", "--listen", "127.0.0.1:0"]);
    world.git(".", &["init", "--quiet", "--bare", "other.git"]);
    command.arg("--repository").arg(world.path("other.git")).arg("--dir").arg(world.path("fleet"));
    let said = command.output().unwrap();
    assert_eq!(said.status.code(), Some(1));
    let complaint = text(&said.stderr);
    assert!(complaint.contains("work for the colony toy") && complaint.contains("--dir"), "{complaint}");
}

#[test]
fn up_ends_with_the_reason_when_something_does_not_start() {
    let world = World::new();
    let mut command = world.command(env!("CARGO_BIN_EXE_orange-fleet"));
    command.args(["up", "--crabs", "1", "--listen", "127.0.0.1:0", "--orange", "/no/such/orange"]);
    command.arg("--repository").arg(world.path("toy.git")).arg("--dir").arg(world.path("fleet"));
    let said = command.output().unwrap();
    assert_eq!(said.status.code(), Some(1));
    let complaint = text(&said.stderr);
    assert!(complaint.contains("there is no program /no/such/orange"), "{complaint}");
    assert!(complaint.contains("any-1 has not started"), "{complaint}");
}
