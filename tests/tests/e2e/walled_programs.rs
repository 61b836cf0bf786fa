//! Programs that run what an agent has written: without a wall their attacks succeed, and in a wall they do not.

use std::fs;

use serde_json::json;

use crate::missions::ends;
use crate::task::Task;
use crate::wall::has_walls;
use crate::world::{World, write_program};

/// The text that no program in a wall is to see.
const SECRET: &str = "nothing-for-programs";

/// A file of the branch, with everything that attacks the outside. It marks that it has run, and where it could write.
const ATTACK: &str = r#"
echo "$1" >> ran
cat "$HOME/.ssh/id_rsa" STORE/projects.json
touch "$HOME/.evil-$1"; touch STORE/evil-$1; touch REPO/evil-$1
git push --quiet origin HEAD:refs/heads/evil-$1
git -C REPO update-ref refs/heads/evil-$1 HEAD
git config --add evil.$1 true
echo "the proxy of $1: $HTTPS_PROXY $(ls /run/orange/net)."
echo "the end of $1"
exit 0
"#;

const FLOW: &str = "\
name: attacked
states:
  pending: {}
  working: {respawn_prompt: worker}
  reviewing: {wait: human}
  done: {terminal: true}
  cancelled: {terminal: true}
transitions:
  - from: pending
    to: working
    hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]
  - from: working
    to: reviewing
    gate: {command: {argv: [sh, attack.sh, gate], timeout: 60}}
    hooks: [{action: run_command, argv: [sh, attack.sh, hook]}, {action: kill_session}]
  - from: reviewing
    to: done
    by: human
    gate: {command: {argv: [sh, attack.sh, merge], timeout: 60, on: merge}}
    hooks: [{action: release_workspace}]
  - from: [pending, working, reviewing]
    to: cancelled
    by: human
    hooks: [{action: kill_session}, {action: release_workspace}]
prompts: {worker: '{summary}'}
";

const STEPS: &str = r#"
[workflow]
name = "toy"

[[steps]]
id = "attack"
run = ["sh", "-c", "sh attack.sh step; git commit --quiet --allow-empty -m Step; printf '{\"summary\": \"reported\"}' > $ORANGE_OUTPUT"]

[[steps]]
id = "after"
run = ["sh", "-c", "git log --format=%s -1; cat ran; ls -A ~"]
depends_on = ["attack"]
"#;

/// A project with a hostile script in its branch, at this level.
fn attacked(level: &str) -> World {
    let world = World::new();
    fs::create_dir_all(world.path("home/.ssh")).unwrap();
    fs::write(world.path("home/.ssh/id_rsa"), SECRET).unwrap();
    let places = [("STORE", world.home()), ("REPO", world.repo())];
    let script = places
        .iter()
        .fold(ATTACK.to_owned(), |script, (mark, place)| script.replace(mark, &place.display().to_string()));
    fs::write(world.repo().join("attack.sh"), script).unwrap();
    fs::write(world.repo().join(".gitignore"), "ran\n").unwrap();
    world.git(&world.repo(), &["add", "attack.sh", ".gitignore"]);
    world.git(&world.repo(), &["commit", "--quiet", "--message", "Attack"]);
    world.git(&world.repo(), &["push", "--quiet", "origin", "main"]);
    write_program(&world.path("agents/waits"), "#!/bin/sh\nwhile :; do sleep 0.1; done\n");
    let harness = "[waits]\nbinary = 'waits'\nfull = ['{prompt}']\nreduced = ['{prompt}']\n";
    fs::write(world.home().join("harnesses.toml"), harness).unwrap();
    world.ok(&["project", "update", "--sandbox-level", level, "--harness", "waits"]);
    world
}

/// The traces outside of a program of this kind.
fn traces(world: &World, kind: &str) -> Vec<String> {
    let name = format!("evil-{kind}");
    let mut found = Vec::new();
    for place in
        [world.path("home").join(format!(".{name}")), world.home().join(&name), world.repo().join(&name)]
    {
        found.extend(place.exists().then(|| place.display().to_string()));
    }
    let reference = format!("refs/heads/{name}");
    for folder in [world.repo(), world.path("toy.git")] {
        let listed = world.git(&folder, &["for-each-ref", &reference]);
        found.extend((!listed.is_empty()).then(|| format!("{}: {listed}", folder.display())));
    }
    let config = fs::read_to_string(world.repo().join(".git/config")).unwrap();
    found.extend(config.contains(&format!("\t{kind} = true")).then(|| "config".to_owned()));
    found
}

/// The journal of a task, with the output of each program.
fn outputs(task: &Task<'_>) -> String {
    fs::read_to_string(task.folder().join("history.jsonl")).unwrap()
}

/// Runs one program of every kind of a task, whose workflow begins with this line.
fn run_all(world: &World, demand: &str) -> String {
    world.ok(&["project", "update", "--setup", &json!(["sh", "attack.sh", "setup"]).to_string()]);
    world.workflow("attacked.yml", &format!("{demand}{FLOW}"));
    let task = world.create("fix", "Mend it", &["--workflow", "attacked"]);
    task.reaches("working");
    let ran = || fs::read_to_string(task.worktree().join("ran")).unwrap_or_default();
    assert_eq!(ran(), "setup\n");
    task.ok("update", &["--status", "reviewing"]);
    assert_eq!(ran(), "setup\ngate\nhook\n");
    fs::write(task.worktree().join("work.txt"), "work\n").unwrap();
    world.git(&task.worktree(), &["add", "work.txt"]);
    world.git(&task.worktree(), &["commit", "--quiet", "--message", "Work"]);
    task.ok("merge", &[]);
    assert_eq!(task.status(), "done");
    let said = outputs(&task);
    for kind in ["setup", "gate", "hook", "merge"] {
        assert!(said.contains(&format!("the end of {kind}")), "{kind}: {said}");
    }
    said
}

#[test]
fn programs_outside_of_a_wall_reach_everything() {
    let world = attacked("off");
    let said = run_all(&world, "");
    for kind in ["setup", "gate", "hook", "merge"] {
        assert_eq!(traces(&world, kind).len(), 6, "{kind}: {:?}", traces(&world, kind));
    }
    assert!(said.matches(SECRET).count() >= 4, "{said}");
}

#[test]
fn programs_in_a_wall_reach_nothing_outside() {
    let world = attacked("wall");
    if !has_walls(&world) {
        return;
    }
    let said = run_all(&world, "");
    for kind in ["setup", "gate", "hook", "merge"] {
        assert_eq!(traces(&world, kind), Vec::<String>::new(), "{kind}");
        let proxy = format!("the proxy of {kind}: http://127.0.0.1:3128 proxy.sock.");
        assert!(said.contains(&proxy), "{said}");
    }
    assert!(!said.contains(SECRET), "{said}");
    // The home of a program of a merge ends with it.
    assert!(!said.contains("homes/merge-result"), "{said}");
}

#[test]
fn a_demand_of_a_workflow_walls_programs_from_the_first_setup() {
    for demand in ["sandbox: {network: none}\n", "sandbox: {network: model}\n"] {
        let world = attacked("off");
        if !has_walls(&world) {
            return;
        }
        world.ok(&["project", "update", "--sandbox-hosts", "example.org:443", "--sandbox-network", "open"]);
        let said = run_all(&world, demand);
        for kind in ["setup", "gate", "hook", "merge"] {
            assert_eq!(traces(&world, kind), Vec::<String>::new(), "{kind}");
            assert!(said.contains(&format!("the proxy of {kind}:  .")), "{demand}{said}");
        }
        assert!(!said.contains(SECRET), "{said}");
    }
}

#[test]
fn the_program_of_a_step_has_no_more_network_than_agents() {
    for (demand, expect) in
        [("'wall'", "proxy=http://127.0.0.1:3128 proxy.sock"), ("{ network = 'none' }", "proxy= end")]
    {
        let world = attacked("off");
        if !has_walls(&world) {
            return;
        }
        let run = "echo proxy=$HTTPS_PROXY $(ls /run/orange/net) end; touch STORE/evil-step; exit 0";
        let run = run.replace("STORE", &world.home().display().to_string());
        let text = format!(
            "[workflow]\nname = 'toy'\nsandbox = {demand}\n[[steps]]\nid = 'a'\nrun = ['sh', '-c', '{run}']\n\
             [[steps]]\nid = 'b'\nprompt = 'Do it.'\ndepends_on = ['a']\n"
        );
        world.workflow("toy.toml", &text);
        let mission = world.start("toy", &["--branch", "stepped"]);
        world.until("the program has ended", || mission.show()["steps"][0]["status"] == "completed");
        let shown = mission.show();
        let said = shown["steps"][0]["summary"].as_str().unwrap_or_default();
        assert!(said.contains(expect), "{shown}");
        assert_eq!(traces(&world, "step"), Vec::<String>::new());
    }
}

#[test]
fn the_program_of_a_step_commits_and_reaches_nothing() {
    for (level, expect) in [("off", 6), ("wall", 0)] {
        let world = attacked(level);
        if level == "wall" && !has_walls(&world) {
            return;
        }
        world.workflow("toy.toml", STEPS);
        let mission = world.start("toy", &["--branch", "stepped"]);
        ends(&mission, "completed");
        assert_eq!(traces(&world, "step").len(), expect, "{level}: {:?}", traces(&world, "step"));
        let shown = mission.show();
        assert_eq!(shown["steps"][0]["summary"], "reported", "{shown}");
        let after = shown["steps"][1]["summary"].as_str().unwrap();
        assert!(after.starts_with("Step\nstep"), "{after}");
        assert_eq!(world.git(&world.repo(), &["log", "-1", "--format=%s", "stepped"]), "Step");
    }
}

#[test]
fn a_program_does_not_run_without_its_wall() {
    let world = attacked("wall");
    world.workflow(
        "attacked.yml",
        &FLOW.replace("{action: spawn_agent, prompt: worker}", "{action: notify, message: x}"),
    );
    let task = world.create("fix", "Mend it", &["--workflow", "attacked"]);
    task.reaches("working");
    let tools = world.path("tools");
    write_program(&tools.join("bwrap"), "#!/bin/sh\necho 'bwrap: No permissions' >&2\nexit 1\n");
    let mut broken = world.command(world.program);
    let path = broken.get_envs().find(|(name, _)| *name == "PATH").unwrap().1.unwrap().to_owned();
    let path = std::iter::once(tools).chain(std::env::split_paths(&path));
    broken.env("PATH", std::env::join_paths(path).unwrap()).current_dir(world.repo());
    let said = world.said(broken.args(["task", "update", &task.id, "--status", "reviewing"]));
    let shown = format!("{}{}", said.out, said.err);
    assert!(said.status == 1 && shown.contains("bwrap: No permissions"), "{shown}");
    assert!(!task.worktree().join("ran").exists());
}
