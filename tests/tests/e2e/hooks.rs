//! Hooks that fail: those after them wait, until somebody has mended the fault, or the task is cancelled.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::task::{Task, kill};
use crate::world::World;

/// Its work is published only if its test succeeds: `mended` is there. The test counts its runs, and waits as long as `held` is
/// there.
const TESTED: &str = "\
name: tested
states:
  pending: {}
  working: {respawn_prompt: worker}
  checked: {}
  reviewing: {}
  done: {terminal: true}
  cancelled: {terminal: true}
transitions:
  - from: pending
    to: working
    hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]
  - {from: working, to: checked, by: [worker, human], hooks: [{action: run_command, argv: [sh, '{test}']}]}
  - from: [working, checked]
    to: reviewing
    by: [human, engine]
    hooks:
      - {action: set_field, field: begun, value: 1}
      - {action: run_command, argv: [sh, '{test}']}
      - action: push_branch
      - action: create_pr
      - action: kill_session
      - action: release_workspace
  - {from: reviewing, to: done, by: human}
  - {from: [pending, working, checked, reviewing], to: cancelled, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring:
  rules:
    - {status: checked, then: reviewing}
prompts: {worker: '{summary}'}
";

/// The hooks that wait when the test has failed on the way to `reviewing`.
const WAITING: [&str; 5] = ["run_command", "push_branch", "create_pr", "kill_session", "release_workspace"];

/// A task at work whose test fails.
pub(crate) fn working<'w>(world: &'w World, agents: &str) -> Task<'w> {
    working_with(world, agents, TESTED)
}

fn working_with<'w>(world: &'w World, agents: &str, flow: &str) -> Task<'w> {
    let test = world.path("test.sh");
    let root = world.path("");
    let root = root.display();
    let script = format!(
        "cd {root}; echo run >>runs; while [ -e held ]; do sleep 0.02; done\n\
         test -e mended || {{ echo 'checking it'; echo '1 test failed' >&2; exit 2; }}\n"
    );
    fs::write(&test, script).unwrap();
    world.workflow("tested.yml", &flow.replace("{test}", &test.display().to_string()));
    world.commit_on("fix", "fix.txt");
    let task = world.create("fix", &format!("Mend it [agents: {agents}]"), &["--workflow", "tested"]);
    task.agent(1).begun();
    task.reaches("working");
    task
}

pub(crate) fn mend(world: &World) {
    fs::write(world.path("mended"), "").unwrap();
}

fn runs(world: &World) -> usize {
    fs::read_to_string(world.path("runs")).unwrap_or_default().lines().count()
}

/// The numbers of the hooks that have ended on the way to `reviewing`, in order.
fn ended(task: &Task<'_>) -> Vec<Value> {
    let events = task.events();
    let begun = events.iter().rposition(|event| event["type"] == "transition.started").unwrap();
    let hooks = events[begun..].iter().filter(|event| event["type"] == "hook.ended");
    hooks.map(|event| event["index"].clone()).collect()
}

/// Its branch and its pull request are there, or neither.
#[track_caller]
fn is_published(world: &World, task: &Task<'_>, expect: bool) {
    let heads =
        world.git(&world.path("toy.git"), &["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
    let has_branch = heads.lines().any(|head| head == "fix");
    assert_eq!((has_branch, task.events_of("pr.created").len()), (expect, usize::from(expect)));
}

#[test]
fn what_a_failed_test_holds_back_is_published_once_it_succeeds() {
    let world = World::new().with_github();
    let task = working(&world, "hang");
    let moved = task.ok("update", &["--status", "reviewing"]);
    assert_eq!((&moved["to"], &moved["hooks_waiting"]), (&json!("reviewing"), &json!(WAITING)));
    let error = moved["hook_errors"][0].as_str().unwrap();
    assert!(error.contains("status 2") && error.contains("checking it | 1 test failed"), "{error}");

    let shown = task.show();
    assert_eq!((&shown["status"], &shown["hooks_waiting"]["hooks"]), (&json!("reviewing"), &json!(WAITING)));
    assert!(shown["hooks_waiting"]["error"].as_str().unwrap().contains("1 test failed"), "{shown}");
    let attention = shown["attention"].as_str().unwrap();
    assert!(attention.contains("1 test failed") && attention.contains("--retry-hooks"), "{attention}");
    assert!(world.orange(&["task", "show", "fix"]).out.contains("wait: run_command, push_branch"));
    assert!(task.worktree().exists());
    is_published(&world, &task, false);

    for (verb, more) in [
        ("update", &["--status", "done"][..]),
        ("update", &["--status", "done", "--dry-run"]),
        ("respawn", &[]),
        ("restart", &[]),
        ("merge", &["--local", "--force", "--yes"]),
    ] {
        let refused = task.fails(1, "hooks_wait", verb, more);
        assert!(refused.contains("--retry-hooks") && refused.contains("orange task cancel"), "{refused}");
    }
    let next = task.ok("next", &[]);
    let allowed: Vec<_> = next.as_array().unwrap().iter().map(|it| (&it["to"], &it["allowed"])).collect();
    assert_eq!(allowed, [(&json!("done"), &json!(false)), (&json!("cancelled"), &json!(true))]);
    world.ok(&["monitor", "--once"]);
    assert_eq!((ended(&task), runs(&world)), (vec![json!(0), json!(1)], 1));

    let agent = world.said(task.as_agent("worker", "1").current_dir(task.worktree()).args([
        "task",
        "update",
        "--retry-hooks",
    ]));
    agent.fails(1, "not_allowed");
    let again = task.ok("update", &["--retry-hooks"]);
    assert_eq!(
        (&again["hooks_executed"], &again["hooks_waiting"]),
        (&json!(["run_command"]), &json!(WAITING))
    );
    is_published(&world, &task, false);

    mend(&world);
    let dry = task.ok("update", &["--retry-hooks", "--dry-run"]);
    assert_eq!((&dry["hooks_executed"], &dry["dry_run"]), (&json!(WAITING), &json!(true)));
    assert_eq!(runs(&world), 2);
    let done = task.ok("update", &["--retry-hooks"]);
    assert_eq!((&done["from"], &done["to"]), (&json!("working"), &json!("reviewing")));
    assert_eq!((&done["hooks_executed"], &done["hook_errors"]), (&json!(WAITING), &json!([])));
    assert_eq!((done.get("hooks_waiting"), runs(&world)), (None, 3));
    is_published(&world, &task, true);
    assert_eq!(ended(&task), [0, 1, 1, 1, 2, 3, 4, 5].map(|index| json!(index)));
    let shown = task.show();
    assert_eq!((&shown["attention"], &shown["hooks_waiting"]), (&json!(null), &json!(null)));
    assert_eq!((&shown["workspace"], world.panes()), (&json!(null), vec![]));
    task.fails(1, "refused", "update", &["--retry-hooks"]);
    task.ok("update", &["--status", "done"]);
}

/// The workflow `TESTED`, but a failed test sends the task back to its worker.
fn with_return(gate: &str) -> String {
    let target = "      - action: release_workspace\n    on_hook_failure: working\n  - from: reviewing\n    to: working\n    \
               by: engine\n";
    let notify = format!("{gate}    hooks: [{{action: set_field, field: sent, value: back}}]\n");
    TESTED.replacen("      - action: release_workspace\n", &format!("{target}{notify}"), 1)
}

#[test]
fn a_failed_test_sends_the_task_where_its_transition_says() {
    let world = World::new().with_github();
    let task = working_with(&world, "hang", &with_return(""));
    let check = || {
        assert_eq!(task.arrows(), ["pending → working", "working → reviewing", "reviewing → working"]);
        assert_eq!(task.events_of("status.changed")[2]["cause"], "hook_failed");
        let last = task.events_of("hook.ended").pop().unwrap();
        assert_eq!((&last["hook"], &last["error"]), (&json!("set_field"), &json!(null)));
        let shown = task.show();
        assert_eq!((&shown["hooks_waiting"], &shown["status"]), (&json!(null), &json!("working")));
        is_published(&world, &task, false);
    };
    let moved = task.ok("update", &["--status", "reviewing"]);
    let hooks = json!(["set_field", "run_command", "set_field"]);
    assert_eq!((&moved["from"], &moved["to"]), (&json!("working"), &json!("working")));
    assert_eq!((&moved["hooks_executed"], moved.get("hooks_waiting")), (&hooks, None));
    assert!(moved["hook_errors"][0].as_str().unwrap().contains("1 test failed"), "{moved}");
    check();

    // As if it had been killed between the end of the hook and what follows.
    let journal = task.folder().join("history.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let at =
        text.lines().position(|line| line.contains("1 test failed") && line.contains("hook.ended")).unwrap();
    let kept: String = text.split_inclusive('\n').take(at + 1).collect();
    fs::write(&journal, kept).unwrap();
    world.ok(&["monitor", "--once"]);
    check();
    assert_eq!(runs(&world), 1);

    mend(&world);
    assert_eq!(task.ok("update", &["--status", "reviewing"])["to"], "reviewing");
    is_published(&world, &task, true);
}

#[test]
fn hooks_wait_where_the_gate_of_the_return_refuses() {
    let world = World::new().with_github();
    let gate = "    gate: {section: '## Review', verdict: FAIL}\n";
    let task = working_with(&world, "hang", &with_return(gate));
    let moved = task.ok("update", &["--status", "reviewing"]);
    assert_eq!((&moved["to"], &moved["hooks_waiting"]), (&json!("reviewing"), &json!(WAITING)));
    let attention = task.show()["attention"].as_str().unwrap().to_owned();
    assert!(
        attention.contains("`## Review` is missing") && attention.contains("--retry-hooks"),
        "{attention}"
    );
    mend(&world);
    task.ok("update", &["--retry-hooks"]);
    is_published(&world, &task, true);
}

#[test]
fn a_cancelled_task_drops_the_hooks_that_waited() {
    let world = World::new().with_github();
    let task = working(&world, "hang");
    task.ok("update", &["--status", "reviewing"]);
    let cancelled = task.ok("cancel", &["--yes"]);
    assert_eq!(cancelled["hooks_executed"], json!(["kill_session", "release_workspace"]));
    let shown = task.show();
    assert_eq!((&shown["attention"], &shown["hooks_waiting"]), (&json!(null), &json!(null)));
    mend(&world);
    task.fails(1, "refused", "update", &["--retry-hooks"]);
    world.ok(&["monitor", "--once"]);
    is_published(&world, &task, false);
    assert_eq!((runs(&world), task.status().as_str()), (1, "cancelled"));
}

#[test]
fn a_migrated_task_drops_them_too_and_says_so() {
    let world = World::new().with_github();
    let task = working(&world, "hang");
    task.ok("update", &["--status", "reviewing"]);
    let moved = task.ok("migrate", &["--to", "working"]);
    assert_eq!(moved["dropped_hooks"], json!(WAITING));
    assert_eq!(task.show()["hooks_waiting"], json!(null));
    mend(&world);
    assert_eq!(task.ok("update", &["--status", "reviewing"]).get("hooks_waiting"), None);
    is_published(&world, &task, true);
}

/// The steps of a transition whose hook fails, and a kill before each.
#[test]
fn after_a_kill_hooks_that_wait_still_wait() {
    let world = World::new().with_github();
    let task = working(&world, "hang");
    task.ok("update", &["--status", "reviewing"]);
    let journal = task.folder().join("history.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    assert!(lines[lines.len() - 1].contains("\"hooks.waiting\""), "{text}");
    assert!(lines[lines.len() - 2].contains("\"hook.ended\""), "{text}");
    // Without the last line the end of the hook is journaled; without the last two it is not, and the hook runs again.
    for (left_out, more) in [(1, 0), (2, 1)] {
        let before = runs(&world);
        fs::write(&journal, lines[..lines.len() - left_out].concat()).unwrap();
        world.ok(&["monitor", "--once"]);
        world.ok(&["monitor", "--once"]);
        assert_eq!(task.show()["hooks_waiting"]["hooks"], json!(WAITING));
        assert_eq!(runs(&world) - before, more);
    }
    is_published(&world, &task, false);
}

#[test]
fn a_retry_that_is_killed_is_finished_by_the_monitor() {
    let world = World::new().with_github();
    let task = working(&world, "hang");
    task.ok("update", &["--status", "reviewing"]);
    fs::write(world.path("held"), "").unwrap();
    mend(&world);
    let mut retry = world.command(world.program);
    retry.args(["--json", "task", "update", &task.id, "--retry-hooks"]).stdout(Stdio::null());
    let mut retry = retry.current_dir(world.repo()).spawn().unwrap();
    world.until("the test runs again", || runs(&world) == 2);
    let signature = fs::read_to_string(task.folder().join(".lock")).unwrap();
    assert!(signature.contains("task finish"), "{signature}");
    kill(signature.lines().next().unwrap().parse().unwrap());
    retry.wait().unwrap();
    is_published(&world, &task, false);
    fs::remove_file(world.path("held")).unwrap();
    world.ok(&["monitor", "--once"]);
    is_published(&world, &task, true);
    assert_eq!(task.show()["hooks_waiting"], json!(null));
    assert_eq!(task.arrows(), ["pending → working", "working → reviewing"]);
}

#[test]
fn the_end_of_an_agent_is_judged_when_the_hooks_have_run() {
    let world = World::new().with_github();
    let task = working(&world, "scripted");
    task.ok("update", &["--status", "checked"]);
    assert_eq!(task.show()["hooks_waiting"]["hooks"], json!(["run_command"]));
    task.agent(1).tell("exit 3");
    task.has_events(1, "agent.exited");
    let attention = task.show()["attention"].as_str().unwrap().to_owned();
    assert!(
        attention.contains("the worker ended in checked (exited with 3) while hooks wait"),
        "{attention}"
    );
    world.ok(&["monitor", "--once"]);
    assert_eq!((task.status().as_str(), runs(&world)), ("checked", 1));

    mend(&world);
    task.ok("update", &["--retry-hooks"]);
    task.reaches("reviewing");
    assert_eq!(task.arrows(), ["pending → working", "working → checked", "checked → reviewing"]);
    assert_eq!(task.events_of("agent.exited").len(), 1);
    is_published(&world, &task, true);
}
