//! Creation of tasks with every status, and the effects of respawns and hooks on them then.

use std::fs;

use serde_json::json;

use crate::task::{is_alive, kill};
use crate::world::World;

#[test]
fn work_that_is_nowhere_is_not_reviewed() {
    let world = World::new();
    for status in ["agent-review", "reviewing"] {
        let refused = world.fails(3, "not_found", &["task", "create", "fix", "Mend it", "--status", status]);
        assert!(refused.contains("no branch fix"), "{refused}");
        let which = world.fails(2, "usage", &["task", "create", "--status", status]);
        assert!(which.contains("orange task create BRANCH"), "{which}");
    }
    assert_eq!(world.ok(&["task", "list", "--all"]), json!([]));
}

#[test]
fn a_branch_that_only_the_remote_has_can_be_reviewed() {
    let world = World::new();
    world.commit_on("fix", "fix.txt");
    world.git(&world.repo(), &["push", "--quiet", "origin", "fix"]);
    world.git(&world.repo(), &["branch", "--quiet", "-D", "fix"]);
    // Not even the last fetch knows of it.
    world.git(&world.repo(), &["update-ref", "-d", "refs/remotes/origin/fix"]);
    let task = world.create("fix", "Look at it [agents: pass]", &["--status", "agent-review"]);
    task.reaches("reviewing");
    assert!(task.worktree().join("fix.txt").exists());
    task.ok("merge", &[]);
}

#[test]
fn a_pull_request_that_is_there_is_taken_over() {
    let world = World::new().with_github();
    world.commit_on("fix", "fix.txt");
    world.git(&world.repo(), &["push", "--quiet", "origin", "fix"]);
    fs::create_dir(world.path("home/gh")).unwrap();
    fs::write(world.path("home/gh/7.pr"), "fix\nOPEN\n").unwrap();
    let task = world.create("fix", "Look at it", &["--status", "reviewing"]);
    assert_eq!(task.show()["pr_url"], "https://github.com/toys/toy/pull/7");
    let refused = task.fails(1, "refused", "merge", &[]);
    assert!(refused.contains("pull/7"), "{refused}");

    // Where GitHub cannot tell, nobody hears of it.
    task.ok("cancel", &["--yes"]);
    fs::write(world.path("home/gh/broken"), "1 HTTP 502").unwrap();
    let task = world.create("fix", "Look at it", &["--status", "reviewing"]);
    let shown = task.show();
    assert_eq!((&shown["pr_url"], &shown["attention"]), (&json!(null), &json!(null)));
}

#[test]
fn a_summary_alone_makes_its_branch() {
    let world = World::new();
    let create = |more: &[&str]| world.ok(&[&["task", "create"], more].concat());
    let made = create(&["Implement the login form", "--no-spawn"]);
    let task = world.task(&made);
    assert_eq!(made["branch"], "implement-the-login-form");
    assert_eq!(task.show()["summary"], "Implement the login form");
    let planned = create(&["Implement the login form", "--dry-run"]);
    assert_eq!(planned["branch"], "implement-the-login-form-2");
    assert_eq!(create(&["Implement the login form!", "--no-spawn"])["branch"], planned["branch"]);
    // What git has, or cannot have, is taken, too; so is a branch of a finished task.
    world.git(&world.repo(), &["branch", "look-at-it/all"]);
    assert_eq!(create(&["Look at it", "--no-spawn"])["branch"], "look-at-it-2");
    task.ok("cancel", &["--yes"]);
    assert_eq!(create(&["Implement the login form", "--no-spawn"])["branch"], "implement-the-login-form-3");
    assert_eq!(create(&["main !", "--no-spawn"])["branch"], "main-2");
    let long = create(&[&"word ".repeat(40), "--no-spawn"])["branch"].as_str().unwrap().to_owned();
    assert!(long.starts_with("word-word") && long.len() <= 50, "{long}");
    let unnamed = create(&["漢字 日本", "--no-spawn"]);
    assert_eq!(unnamed["branch"], format!("orange-tasks/{}", unnamed["id"].as_str().unwrap()));

    // Without blanks it is a branch; with a summary, too.
    let plain = world.task(&create(&["fix", "--no-spawn"])).show();
    assert_eq!((&plain["branch"], &plain["summary"]), (&json!("fix"), &json!("")));
    world.fails(2, "usage", &["task", "create", "a branch", "A summary", "--no-spawn"]);
}

#[test]
fn people_read_the_next_step() {
    let world = World::new();
    let made = world.orange(&["task", "create", "Mend the roof", "--no-spawn"]);
    assert!(made.out.contains("mend-the-roof"), "{}", made.out);
    assert!(made.out.ends_with("next: `orange task spawn mend-the-roof` starts its agent\n"), "{}", made.out);
    let begun = world.orange(&["task", "create", "fix", "Mend it [agents: hang]"]);
    assert!(
        begun.out.contains("next: `orange task attach fix` shows its agent, and `orange` alone"),
        "{}",
        begun.out
    );
    let other = world.path("other");
    world.git(&world.repo(), &["clone", "--quiet", ".", other.to_str().unwrap()]);
    let added = world.orange(&["project", "add", other.to_str().unwrap(), "--name", "tea"]);
    assert!(added.out.contains("next: `orange task create --project tea"), "{}", added.out);
}

#[test]
fn a_respawn_says_what_it_lacks() {
    let world = World::new();
    let waiting = world.task(&world.ok(&["task", "create", "one", "Mend it", "--no-spawn"]));
    let refused = waiting.fails(1, "not_respawnable", "respawn", &[]);
    assert!(refused.contains("no respawn_prompt") && !refused.contains("restart"), "{refused}");
    waiting.ok("cancel", &["--yes"]);
    let refused = waiting.fails(1, "not_respawnable", "respawn", &[]);
    assert!(refused.contains("the task is over"), "{refused}");
    world.git(&world.repo(), &["branch", "two"]);
    let unbound = ["task", "create", "two", "Look at it", "--status", "agent-review", "--no-spawn"];
    let unbound = world.task(&world.ok(&unbound));
    let refused = unbound.fails(1, "not_respawnable", "respawn", &[]);
    assert!(refused.contains("no worktree") && refused.contains("orange task spawn"), "{refused}");

    let task = world.create("three", "Mend it [agents: hang hang]", &[]);
    let agent = task.agent(1).begun();
    let refused = task.fails(1, "not_respawnable", "respawn", &[]);
    assert!(refused.contains("alive") && refused.contains("orange task attach"), "{refused}");
    kill(agent);
    task.has_events(1, "agent.crashed");
    assert_eq!(task.ok("respawn", &[])["spawn"], 2);
    task.agent(2).begun();
    let again = &task.events_of("agent.respawned")[0];
    assert_eq!(
        (&again["prompt"], &again["harness"], &again["actor"], &again["permissions"]),
        (&json!("worker_respawn"), &json!("claude"), &json!("worker"), &json!("full"))
    );
    assert_eq!((task.arrows().len(), task.status().as_str()), (1, "working"));
}

/// Its hooks do what the shipped workflows leave to others.
const HOOKS: &str = "\
name: hooks
fields: {tries: 0}
states:
  pending: {}
  working: {respawn_prompt: worker}
  reviewing: {}
  done: {terminal: true}
  cancelled: {terminal: true}
transitions:
  - from: pending
    to: working
    hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]
  - from: working
    to: reviewing
    hooks:
      - {action: kill_session}
      - {action: run_command, on_failure: go-on, argv: [sh, -c, 'echo \"$0$GIT_DIR\"; pwd; echo oh >&2; exit 3', '$(touch run) a b']}
      - {action: run_command, argv: [sh, -c, 'setsid sh -c \"echo \\$\\$ > sleeper; exec sleep 1000\" & wait'], timeout: 10, on_failure: go-on}
      - {action: set_field, field: reviewer, value: 'Ada: \"yes\"'}
      - {action: increment, field: tries}
      - {action: notify, message: Have a look.}
      - {action: push_branch}
      - {action: create_pr}
  - {from: reviewing, to: done, hooks: [{action: release_workspace}, {action: delete_remote_branch}]}
  - {from: [pending, working, reviewing], to: cancelled, hooks: [{action: kill_session}, {action: release_workspace}]}
prompts: {worker: '{summary}'}
";

#[test]
fn hooks_do_what_they_say_and_leave_a_record() {
    let world = World::new().with_github();
    world.workflow("hooks.yml", HOOKS);
    world.commit_on("fix", "fix.txt");
    let task = world.create("fix", "Mend it [agents: hang]", &["--workflow", "hooks"]);
    task.agent(1).begun();
    task.reaches("working");
    let exclude = world.repo().join(".git/info/exclude");
    let excluded = fs::read_to_string(&exclude).unwrap();
    fs::write(&exclude, format!("{excluded}\nsleeper\nTASK.md\n")).unwrap();
    let mut from_a_git_hook = world.command(world.program);
    from_a_git_hook.env("GIT_DIR", "/nowhere").current_dir(world.repo());
    from_a_git_hook.args(["--json", "task", "update", &task.id, "--status", "reviewing"]);
    let moved = world.said(&mut from_a_git_hook).ok();
    let errors = moved["hook_errors"].as_array().unwrap();
    assert_eq!(errors.len(), 2, "{moved}");
    assert!(errors[0].as_str().unwrap().starts_with("run_command: "), "{moved}");
    assert!(errors[1].as_str().unwrap().contains("did not end within 10 s"), "{moved}");

    let ended = task.events_of("command.ended");
    let said = format!("$(touch run) a b\n{}\noh", task.worktree().canonicalize().unwrap().display());
    assert_eq!((&ended[0]["code"], &ended[0]["output"]), (&json!(3), &json!(said)));
    assert!(!task.worktree().join("run").exists());
    let sleeper = fs::read_to_string(task.worktree().join("sleeper")).unwrap();
    let sleeper = sleeper.trim().parse().unwrap();
    world.until("what the command had started is gone", || !is_alive(sleeper));

    let text = fs::read_to_string(task.file()).unwrap();
    assert!(text.contains("reviewer: ") && text.contains("Ada: "), "{text}");
    assert_eq!(task.owned("tries"), 1);
    let shown = task.show();
    assert!(shown["attention"].as_str().unwrap().contains("Have a look."), "{shown}");
    assert_eq!(shown["pr_url"], "https://github.com/toys/toy/pull/1");
    assert_eq!(task.events_of("pr.created").len(), 1);
    assert_eq!(world.git(&world.path("toy.git"), &["log", "-1", "--format=%s", "fix"]), "Before");
}

#[test]
fn the_monitor_ends_what_a_task_that_is_over_has_left() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    let agent = task.agent(1).begun();
    task.reaches("working");
    // As if the hook that should have ended the session had failed.
    let journal = task.folder().join("history.jsonl");
    let before = fs::read_to_string(&journal).unwrap();
    let seq = task.events().len() + 1;
    let over = format!(
        "{{\"seq\":{seq},\"timestamp\":\"2026-01-01T00:00:00Z\",\"type\":\"status.changed\",\"from\":\"working\",\"to\":\"cancelled\",\"set\":{{\"status\":\"cancelled\"}}}}\n"
    );
    fs::write(&journal, before + &over).unwrap();
    let found = world.ok(&["monitor", "--once"]);
    assert!(found["events"][0]["outcome"].as_str().unwrap().contains("still there"), "{found}");
    assert_eq!((world.panes(), is_alive(agent)), (vec![], false));
    assert_eq!((task.owned("tmux_session"), task.status().as_str()), (json!(null), "cancelled"));
    assert_eq!(world.ok(&["monitor", "--once"])["events"], json!([]));
}

/// A hook that writes more than anybody wants to keep, and fails.
const LOUD: &str = "\
name: loud
states:
  pending: {}
  working: {}
  cancelled: {terminal: true}
transitions:
  - from: pending
    to: working
    hooks:
      - {action: acquire_workspace}
      - {action: run_command, argv: [sh, -c, 'echo begin; head -c 50000000 /dev/zero | tr \"\\\\0\" x; echo; echo end; exit 3'], on_failure: go-on}
      - {action: run_command, argv: [echo, little]}
  - {from: working, to: cancelled, hooks: [{action: release_workspace}]}
";

#[test]
fn however_much_a_hook_writes_a_bounded_part_is_kept() {
    let world = World::new();
    world.workflow("loud.yml", LOUD);
    let task = world.create("fix", "Mend it", &["--workflow", "loud", "--no-spawn"]);
    let moved = task.ok("update", &["--status", "working"]);
    assert_eq!(moved["hook_errors"].as_array().unwrap().len(), 1, "{moved}");
    let [loud, little] = &task.events_of("command.ended")[..] else { panic!("two commands have ended") };
    let output = loud["output"].as_str().unwrap();
    assert!(output.starts_with("begin\nxxx") && output.ends_with("xxx\nend"), "{output}");
    assert_eq!((output.len() < 2100, &loud["code"]), (true, &json!(3)));
    let file = task.folder().join(loud["file"].as_str().unwrap());
    let length = fs::metadata(file).unwrap().len();
    assert_eq!(length, 8 * 1024 * 1024);
    assert_eq!((&little["output"], &little["file"]), (&json!("little"), &json!(null)));
    assert_eq!(fs::read_dir(task.folder().join("commands")).unwrap().count(), 1);
    let journal = fs::metadata(task.folder().join("history.jsonl")).unwrap().len();
    assert!(journal < 20_000, "{journal}");
}
