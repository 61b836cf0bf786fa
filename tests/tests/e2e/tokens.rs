//! Programs that ask as declared actors: with a token, for what names them, and for nothing else.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::task::Task;
use crate::world::World;

/// A workflow in which a program ships what a worker has handed over.
const FLOW: &str = "\
name: shipping
actors: [ci, release-bot]
states:
  working: {respawn_prompt: worker}
  built: {}
  shipped: {terminal: true}
  cancelled: {terminal: true}
transitions:
  - {from: working, to: built, gate: {section: \"## Handoff\", required: true}}
  - from: built
    to: shipped
    by: [ci, human]
    gate: {section: \"## Build\", verdict: PASS, strict: true, written_by: ci}
  - {from: built, to: working, by: ci}
  - {from: [working, built], to: cancelled, by: [human, release-bot]}
prompts: {worker: \"Build it.\\n{summary}\\n\"}
";

/// A world with a task of the workflow, in `built`.
fn built(world: &World) -> Task<'_> {
    world.workflow("shipping.yml", FLOW);
    let task = world.create("ship", "Ship it", &["--workflow", "shipping", "--no-spawn"]);
    task.write("## Handoff\n\nDONE: all of it");
    task.ok("update", &["--status", "built"]);
    task
}

/// Writes the output of `orange project token` to a file, as a shell does, and returns the path.
fn token(world: &World, name: &str, args: &[&str]) -> String {
    let said = world.orange(&[&["project", "token"], args].concat());
    assert_eq!(said.status, 0, "{said:?}");
    let file = world.path(name);
    fs::write(&file, said.out).unwrap();
    file.to_string_lossy().into_owned()
}

#[track_caller]
fn refused(task: &Task<'_>, args: &[&str], expect: &str) {
    let refused = task.fails(1, "not_allowed", "update", args);
    assert!(refused.contains(expect), "{refused}");
    assert_eq!(task.status(), "built");
}

#[test]
fn a_script_with_a_token_advances_a_task() {
    let world = World::new();
    let task = built(&world);
    let file = token(&world, "ci-token", &["ci"]);
    let next = task.ok("next", &[]);
    let by = |to: &str| next.as_array().unwrap().iter().find(|it| it["to"] == to).unwrap()["by"].clone();
    assert_eq!((by("shipped"), by("working")), (json!(["human", "ci"]), json!(["ci"])));

    let args = ["--status", "shipped", "--as", "ci", "--token-file", &file];
    let gate = task.fails(1, "gate_failed", "update", &args);
    assert!(gate.contains("`## Build` is missing"), "{gate}");
    task.write("## Build\n\nVerdict: PASS");
    let script = world.path("ship.sh");
    let line =
        format!("exec \"$1\" task update {} --status shipped --as ci --token-file - < \"$2\"\n", task.id);
    fs::write(&script, line).unwrap();
    let said = world.said(world.command("sh").arg(&script).arg(world.program).arg(&file));
    assert_eq!((said.status, task.status()), (0, "shipped".to_owned()), "{said:?}");
    for kind in ["transition.started", "status.changed"] {
        assert_eq!(task.events_of(kind).pop().unwrap()["actor"], "ci", "{kind}");
    }
    assert!(world.orange(&["task", "show", &task.id]).out.contains("ci"));
}

#[test]
fn a_token_is_for_one_actor_in_one_project_until_revoked() {
    let world = World::new();
    let task = built(&world);
    let file = token(&world, "ci-token", &["ci"]);
    let ask = |to, actor, file| ["--status", to, "--as", actor, "--token-file", file];

    let (origin, other) = (world.path("toy.git"), world.path("other"));
    world.git(&world.path(""), &["clone", "--quiet", &origin.to_string_lossy(), &other.to_string_lossy()]);
    world.ok(&["project", "add", &other.to_string_lossy(), "--name", "other"]);
    let others = token(&world, "other-token", &["ci", "--project", "other"]);
    let wrong = world.path("wrong").to_string_lossy().into_owned();
    fs::write(&wrong, "orange_0000\n").unwrap();
    for file in [&others, &wrong] {
        refused(&task, &ask("working", "ci", file), "this is not a token of ci for tasks of toy");
    }
    refused(&task, &ask("cancelled", "release-bot", &file), "this is not a token of release-bot");
    refused(&task, &ask("cancelled", "ci", &file), "ci may not move a task from built to cancelled");
    refused(&task, &ask("working", "ic", &file), "this is not a token of ic");
    let misspelled = world.fails(1, "refused", &["project", "token", "ic"]);
    assert!(misspelled.contains("did you mean ci?"), "{misspelled}");

    let listed = world.ok(&["project", "tokens"]);
    let id = listed[0]["id"].as_str().unwrap();
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["actor"]), (1, &json!("ci")));
    let kept = world.home().join("tokens.json");
    assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!fs::read_to_string(&kept).unwrap().contains(fs::read_to_string(&file).unwrap().trim()));

    task.ok("update", &[&ask("working", "ci", &file)[..], &["--dry-run"]].concat());
    world.fails(3, "not_found", &["project", "revoke", "ci", "00000000"]);
    world.ok(&["project", "revoke", "ci", id]);
    refused(&task, &ask("working", "ci", &file), "this is not a token of ci for tasks of toy");
}

#[test]
fn nobody_is_another_actor_by_saying_so() {
    let world = World::new();
    let task = built(&world);
    let file = token(&world, "ci-token", &["ci"]);
    let ask = ["--status", "working", "--as", "ci"];
    refused(&task, &ask, "ci asks with its token");
    for actor in ["human", "worker", "reviewer", "engine"] {
        let ask = ["--status", "cancelled", "--as", actor, "--token-file", &file];
        refused(&task, &ask, &format!("nobody becomes a {actor} by a token"));
    }
    task.ok("update", &["--status", "cancelled", "--dry-run"]);
}

#[test]
fn an_agent_can_neither_make_nor_use_a_token() {
    let world = World::new();
    world.workflow("shipping.yml", &FLOW.replace("  working: {respawn_prompt: worker}", "  pending: {}\n  working: {respawn_prompt: worker}").replace(
        "transitions:\n",
        "transitions:\n  - {from: pending, to: working, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]}\n",
    ));
    let file = token(&world, "ci-token", &["ci"]);
    let task = world.create("ship", "Ship it [agents: hang]", &["--workflow", "shipping"]);
    task.agent(1).begun();
    task.write("## Handoff\n\nDONE: all of it");
    task.asks("worker", 1, "built").ok();
    let say = |args: &[&str]| {
        let mut command = task.as_agent("worker", "1");
        world.said(command.current_dir(task.worktree()).args(args))
    };
    for more in [&[][..], &["--token-file", &file]] {
        let said = say(&[&["task", "update", "--status", "working", "--as", "ci"], more].concat());
        let refused = said.fails(1, "not_allowed");
        assert!(refused.contains("an agent asks as itself, and not as ci"), "{refused}");
    }
    for command in [&["project", "token", "ci"][..], &["project", "tokens"], &["project", "revoke", "ci"]] {
        let refused = say(command).fails(1, "not_allowed");
        assert!(refused.contains("only a person may"), "{refused}");
    }
    let refused = task.asks("worker", 1, "working").fails(1, "not_allowed");
    assert!(
        refused.contains("a worker may not move a task from built to working")
            && refused.contains("this is for: ci")
    );
    assert_eq!(task.status(), "built");
}
