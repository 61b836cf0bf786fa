//! Agents that work without a worktree: in a plain folder of their task, which goes when the task goes on or ends.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::task::{Task, kill};
use crate::world::World;

/// Agents that triage work without a worktree.
pub(crate) const TRIAGE: &str = "\
name: triage
states:
  open: {}
  triage: {respawn_prompt: triage, agent: {workspace: none}}
  working: {respawn_prompt: worker}
  done: {terminal: true}
  dropped: {terminal: true}
commands: {spawn: triage, cancel: dropped}
transitions:
  - {from: open, to: triage, hooks: [{action: spawn_agent, prompt: triage}]}
  - from: triage
    to: working
    gate: {section: \"## Triage\", required: true}
    hooks: [{action: kill_session}, {action: acquire_workspace}, {action: spawn_agent, prompt: worker}]
  - {from: triage, to: done, gate: {section: \"## Triage\", required: true}, hooks: [{action: kill_session}]}
  - {from: working, to: triage, by: human, hooks: [{action: kill_session}, {action: spawn_agent, prompt: triage}]}
  - {from: working, to: done, hooks: [{action: kill_session}, {action: release_workspace}]}
  - {from: [open, triage, working], to: dropped, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring:
  rules:
    - {status: triage, action: crash, stuck_after: 5}
    - {status: working, action: crash, stuck_after: 5}
prompts:
  triage: \"# Triage: {summary}\"
  worker: \"# Task: {summary}\"
";

/// A task of that workflow whose first agent is at work.
fn triaged<'w>(world: &'w World, agents: &str) -> Task<'w> {
    world.workflow("triage.yml", TRIAGE);
    let task = world.create("fix", &format!("Look at it [agents: {agents}]"), &["--workflow", "triage"]);
    task.agent(1).begun();
    task
}

fn folder(world: &World, task: &Task<'_>) -> PathBuf {
    world.home().join("workspaces").join(&task.id)
}

/// Paths of everything that the task has set aside.
fn set_aside(task: &Task<'_>) -> Vec<PathBuf> {
    let events = task.events_of("work.set_aside");
    events.iter().map(|event| PathBuf::from(event["folder"].as_str().unwrap())).collect()
}

fn is_gone(path: &Path) -> bool {
    path.symlink_metadata().is_err()
}

#[test]
fn a_triage_never_takes_a_worktree() {
    let world = World::new();
    let task = triaged(&world, "scripted");
    let folder = folder(&world, &task);
    assert_eq!((task.worktree(), task.owned("workspace")), (folder.clone(), json!(task.id)));
    task.gets_its_copy();
    let here = world.orange_in(&folder, &["--json", "task", "show"]).ok();
    assert_eq!((&here["id"], &here["project"]), (&json!(task.id), &json!("toy")));
    assert_eq!(world.ok(&["workspace", "list"]), json!([]));
    assert_eq!(world.ok(&["workspace", "gc", "--dry-run"]), json!([]));
    let listed = world.ok(&["task", "list"]);
    assert_eq!((&listed[0]["workspace"], &listed[0]["attention"]), (&json!(task.id), &Value::Null));

    task.agent(1).tell("echo idea >notes.txt; write Triage 'It is not a fault'; ask done");
    task.reaches("done");
    assert_eq!((task.owned("workspace"), task.show()["attention"].clone()), (Value::Null, Value::Null));
    assert!(is_gone(&folder) && world.panes().is_empty());
    assert!(fs::read_to_string(task.file()).unwrap().contains("It is not a fault"));
    let [kept] = &set_aside(&task)[..] else { panic!("one folder is set aside") };
    assert_eq!(fs::read_to_string(kept.join("notes.txt")).unwrap(), "idea\n");
    assert!(is_gone(&kept.join("TASK.md")) && is_gone(&kept.join(".orange")));
    assert_eq!(world.git(&world.repo(), &["branch", "--list", "fix"]), "");
    assert_eq!(world.ok(&["workspace", "list"]), json!([]));
}

#[test]
fn a_triage_has_nothing_to_merge() {
    let world = World::new().with_github();
    world.workflow(
        "merging.yml",
        &TRIAGE.replace("name: triage", "name: merging").replace("cancel:", "merge: done, cancel:"),
    );
    let task = world.create("fix", "Look at it [agents: hang]", &["--workflow", "merging"]);
    task.agent(1).begun();
    let shown = world.orange(&["task", "show", "fix"]).out;
    assert!(shown.contains(&format!("folder     {}", folder(&world, &task).display())), "{shown}");
    for (command, more) in [("merge", &["--local", "--force", "--yes"][..]), ("create-pr", &[])] {
        let said = world.orange(&[&["task", command, "fix"], more].concat());
        assert!(said.status != 0 && said.err.contains("no branch `fix`"), "{command}: {said:?}");
    }
    assert_eq!(task.status(), "triage");
}

#[test]
fn a_triage_goes_on_in_a_worktree() {
    let world = World::new();
    let task = triaged(&world, "scripted scripted");
    let folder = folder(&world, &task);
    let refused = task.fails(1, "gate_failed", "update", &["--status", "working"]);
    assert!(refused.contains("## Triage"), "{refused}");
    task.agent(1).tell("write Triage 'It is a fault'; ask working");
    task.reaches("working");
    task.agent(2).begun();
    assert_eq!((task.owned("workspace"), is_gone(&folder)), (json!("toy--1"), true));
    task.gets_its_copy();
    assert!(fs::read_to_string(task.copy()).unwrap().contains("It is a fault"));
    assert_eq!(world.git(&task.worktree(), &["branch", "--show-current"]), "fix");
    assert_eq!((set_aside(&task).len(), task.show()["attention"].clone()), (0, Value::Null));

    // Back to the triage, without giving the worktree back before.
    task.ok("update", &["--status", "triage"]);
    let attention = task.show()["attention"].as_str().unwrap_or_default().to_owned();
    assert!(attention.contains("the task holds toy--1"), "{attention}");
    assert_eq!((task.owned("workspace"), is_gone(&folder)), (json!("toy--1"), true));
    let refused = task.fails(1, "not_respawnable", "respawn", &[]);
    assert!(refused.contains("works without a worktree"), "{refused}");
    let refused = task.fails(1, "refused", "attach", &[]);
    assert!(refused.contains("--status working") && !refused.contains("task respawn"), "{refused}");
    task.ok("cancel", &["--yes"]);
    assert_eq!(task.owned("workspace"), Value::Null);
}

#[test]
fn a_removed_folder_is_made_again_and_goes_with_its_task() {
    let world = World::new();
    let task = triaged(&world, "hang hang");
    let folder = folder(&world, &task);
    let refused = task.fails(1, "refused", "delete", &["--yes"]);
    assert!(refused.contains("holds a workspace"), "{refused}");
    kill(task.agent(1).begun());
    task.has_events(1, "agent.crashed");
    task.is_left();
    fs::remove_dir_all(&folder).unwrap();
    let said = world.ok(&["doctor"]).to_string();
    assert!(said.contains("is gone"), "{said}");

    task.ok("respawn", &[]);
    task.agent(2).begun();
    task.gets_its_copy();
    fs::create_dir(folder.join("empty")).unwrap();
    task.ok("cancel", &["--yes"]);
    assert_eq!((task.owned("workspace"), is_gone(&folder), set_aside(&task).len()), (Value::Null, true, 0));
    assert!(task.events_of("hook.ended").iter().all(|it| it["error"].is_null()));
}

#[test]
fn a_task_that_was_created_past_the_start_gets_its_folder() {
    let world = World::new();
    let text = TRIAGE.replace("triage: {respawn_prompt", "triage: {entry: true, respawn_prompt");
    world.workflow("triage.yml", &text);
    // The only worktree is taken.
    world.ok(&["project", "update", "toy", "--pool-size", "1"]);
    world.create("other", "Mend it [agents: hang]", &[]);
    let more = ["--workflow", "triage", "--status", "triage"];
    let task = world.create("fix", "Look at it [agents: hang]", &more);
    task.agent(1).begun();
    assert_eq!(task.owned("workspace"), json!(task.id));
    // Nobody has ended the agent: the monitor does, and the folder goes then.
    fs::write(folder(&world, &task).join("notes.txt"), "idea\n").unwrap();
    task.ok("migrate", &["--to", "done"]);
    world.ok(&["monitor", "--once"]);
    assert_eq!((task.owned("workspace"), is_gone(&folder(&world, &task))), (Value::Null, true));
    assert_eq!((set_aside(&task).len(), world.panes()), (1, vec!["toy/other worker".to_owned()]));
}

#[test]
fn a_link_in_the_place_of_a_folder_is_not_followed() {
    let world = World::new();
    let task = triaged(&world, "hang");
    let (folder, other) = (folder(&world, &task), world.path("other"));
    kill(task.agent(1).begun());
    task.has_events(1, "agent.crashed");
    task.is_left();
    fs::create_dir_all(other.join(".orange")).unwrap();
    fs::write(other.join(".orange/precious"), "p").unwrap();
    fs::remove_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink(&other, &folder).unwrap();
    let refused = task.fails(6, "corrupt", "cancel", &["--yes"]);
    assert!(refused.contains("it is a symbolic link, or behind one"), "{refused}");
    fs::remove_file(&folder).unwrap();
    task.ok("cancel", &["--yes"]);
    assert_eq!((task.owned("workspace"), is_gone(&folder)), (Value::Null, true));
    assert!(other.join(".orange/precious").exists() && !other.join("TASK.md").exists());
}

#[test]
fn a_folder_too_deep_to_be_removed_is_set_aside() {
    let world = World::new();
    let task = triaged(&world, "hang");
    let folder = folder(&world, &task);
    // Longer than any path that the system takes.
    let deeper = "i=0; while [ $i -lt 30 ]; do mkdir -p \"$1\" && cd -P \"$1\" || exit 1; i=$((i + 1)); done";
    let name = format!("{}/d", "d".repeat(200));
    let made = world.said(world.command("bash").args(["-c", deeper, "sh", &name]).current_dir(&folder));
    assert_eq!(made.status, 0, "{made:?}");
    task.ok("cancel", &["--yes"]);
    assert_eq!((task.owned("workspace"), is_gone(&folder)), (Value::Null, true));
    assert!(task.events_of("hook.ended").iter().all(|it| it["error"].is_null()));
    assert_eq!(set_aside(&task).len(), 1);
}

#[test]
fn an_automatic_queue_starts_a_triage_without_a_free_worktree() {
    let world = World::new();
    world.workflow("triage.yml", TRIAGE);
    world.ok(&["project", "update", "toy", "--pool-size", "1", "--queue", "auto"]);
    world.create("other", "Mend it [agents: hang]", &[]).agent(1).begun();
    let create = |name: &str, workflow: &str| {
        let more = ["--workflow", workflow, "--no-spawn"];
        world.create(name, &format!("Look at {name} [agents: hang]"), &more)
    };
    // The oldest one needs the worktree that is not free, and no more than one works in a folder.
    let late = create("late", "default");
    let (first, second) = (create("first", "triage"), create("second", "triage"));
    world.ok(&["monitor", "--once"]);
    first.agent(1).begun();
    assert_eq!((late.status(), second.status()), ("pending".to_owned(), "open".to_owned()));
    first.ok("cancel", &["--yes"]);
    world.ok(&["monitor", "--once"]);
    second.agent(1).begun();
    assert_eq!((late.status(), late.show()["attention"].clone()), ("pending".to_owned(), Value::Null));
}
