//! Starts of tasks and agents: the state, the worktree, and the error when they cannot be started.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::said::ProgramOutput;
use crate::task::{Task, kill};
use crate::world::{World, binary, write_program};

/// A task that is created in this state, with a branch that is there.
fn created_as<'w>(world: &'w World, branch: &str, status: &str, summary: &str) -> (Task<'w>, Value) {
    world.commit_on(branch, &format!("{branch}.txt"));
    let answer = world.ok(&["task", "create", "--status", status, "--", branch, summary]);
    (world.task(&answer), answer)
}

#[test]
fn a_review_of_work_that_is_there_is_the_first_round() {
    let world = World::new();
    let (task, _) = created_as(&world, "fix", "agent-review", "Look at it [agents: pass]");
    assert!(task.agent(1).prompt().contains("Review round: 1\n"));
    task.reaches("reviewing");
    assert_eq!((task.owned("review_round"), task.arrows().len()), (json!(1), 1));
    assert_eq!(task.events_of("agent.spawned")[0]["window"], "review-1");
}

#[test]
fn a_review_that_finds_no_worktree_waits_like_any_task() {
    let world = World::new();
    world.ok(&["project", "update", "toy", "--pool-size", "1"]);
    let first = world.create("one", "Mend it [agents: work pass]", &[]);
    let (second, answer) = created_as(&world, "two", "agent-review", "Look at it [agents: pass]");
    assert!(answer["waiting"].as_str().unwrap().contains("toy--1"), "{answer}");
    assert_eq!((second.status(), &answer["attention"]), ("agent-review".to_owned(), &json!(null)));
    first.reaches("reviewing");
    first.ok("merge", &["--local"]);
    second.reaches("reviewing");
}

#[test]
fn existing_work_may_wait_for_a_person_at_once() {
    let world = World::new();
    let (task, _) = created_as(&world, "fix", "reviewing", "Done by hand");
    assert_eq!((task.owned("workspace"), world.panes()), (json!(null), vec![]));
    task.fails(1, "refused", "spawn", &[]);
    task.ok("merge", &["--local"]);
}

#[test]
fn a_state_reached_by_a_start_is_refused_to_a_waiting_task() {
    let world = World::new();
    let message =
        world.fails(2, "usage", &["task", "create", "fix", "x", "--status", "clarification", "--no-spawn"]);
    assert!(message.contains("--no-spawn"), "{message}");
    assert_eq!(world.ok(&["task", "list", "--all"]), json!([]));
}

#[test]
fn of_many_created_at_once_those_without_a_worktree_wait() {
    let world = World::new();
    let creating: Vec<_> = (0..6)
        .map(|number| {
            let branch = format!("fix-{number}");
            let mut command = world.command(binary());
            command.args(["--json", "task", "create", &branch, "Mend it [agents: hang]"]);
            command.current_dir(world.repo()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let answers: Vec<Value> = creating
        .into_iter()
        .map(|child| ProgramOutput::from(child.wait_with_output().unwrap()).ok())
        .collect();
    let (started, waiting): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer["waiting"].is_null());
    assert_eq!((started.len(), waiting.len()), (2, 4));
    assert!(started.iter().all(|answer| answer["status"] == "working" && answer["workspace"].is_string()));
    assert!(waiting.iter().all(|answer| answer["status"] == "pending" && answer["attention"].is_null()));
}

#[test]
fn a_worktree_that_was_removed_by_hand_is_made_again() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    kill(task.agent(1).begun());
    task.has_events(1, "agent.crashed");
    let worktree = task.worktree();
    task.is_left();
    fs::remove_dir_all(&worktree).unwrap();

    task.ok("respawn", &[]);
    task.agent(2).begun();
    assert_eq!(world.git(&worktree, &["branch", "--show-current"]), "fix");
    task.gets_its_copy();
    task.reaches("reviewing");
}

#[test]
fn an_agent_that_cannot_be_run_says_why() {
    let world = World::new();
    let program = world.path("agents/claude");
    fs::remove_file(&program).unwrap();
    write_program(&program, "#!/no/such/interpreter\n");
    let task = world.create("fix", "Mend it", &[]);
    task.has_events(1, "agent.crashed");
    let exited = &task.events_of("agent.exited")[0];
    assert!(exited["reason"].as_str().unwrap().starts_with("could not be run: `claude`"), "{exited}");
    let attention = task.show()["attention"].as_str().unwrap().to_owned();
    assert!(attention.contains("could not be run: `claude`"), "{attention}");
}

#[test]
fn a_reviewer_s_new_start_does_not_hide_that_the_worker_is_gone() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work hang hang]", &["--workflow", "persistent"]);
    let worker = task.agent(1).begun();
    let reviewer = task.agent(2).begun();
    task.reaches("agent-review");
    kill(worker);
    task.has_events(1, "agent.exited");
    kill(reviewer);
    task.agent(3).begun();
    world.until("nothing else is under way", || {
        task.show()["attention"] == "the worker ended in agent-review (ended by signal 9)"
    });
}

#[test]
fn cancelling_again_releases_what_was_left() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    let projects = world.home().join("projects.json");
    let known = fs::read(&projects).unwrap();
    fs::write(&projects, "[]\n").unwrap();
    let cancelled = task.ok("cancel", &["--yes"]);
    let error = cancelled["hook_errors"][0].as_str().unwrap();
    assert!(error.contains("orange project add PATH --name toy"), "{error}");
    assert_eq!(task.show()["attention"], error);

    fs::write(&projects, known).unwrap();
    assert_eq!(task.ok("cancel", &["--yes"])["hook_errors"], json!([]));
    assert_eq!(world.ok(&["workspace", "list"])[0]["task"], json!(null));
    task.fails(1, "no_transition", "cancel", &["--yes"]);
}

#[test]
fn a_branch_that_another_task_has_is_not_taken_over() {
    let world = World::new();
    let one = world.task(&world.ok(&["task", "create", "one", "Mend it", "--no-spawn"]));
    let two = world.task(&world.ok(&["task", "create", "two", "Mend it too", "--no-spawn"]));
    let refused = two.fails(1, "refused", "update", &["--branch", "one"]);
    assert!(refused.contains(&one.id), "{refused}");
    one.ok("cancel", &["--yes"]);
    two.ok("update", &["--branch", "one"]);
    assert_eq!(two.show()["branch"], "one");
}

#[test]
fn a_workflow_says_what_runs_an_agent() {
    let world = World::new();
    let program = world.path("asked");
    write_program(
        &program,
        "#!/bin/sh\nprintf '%s\\n' \"$@\" \"as $ORANGE_ACTOR\" > asked.new\necho $$ > pid\nmv asked.new asked.txt\nexec sleep 1000",
    );
    let table = "full = ['{prompt}']\nreduced = ['{prompt}']\n";
    let with_model = format!("binary = '{}'\nmodel = ['--model={{model}}']\n{table}", program.display());
    fs::write(
        world.home().join("harnesses.toml"),
        format!("[own]\neffort = ['--effort={{effort}}']\n{with_model}[plain]\n{with_model}"),
    )
    .unwrap();
    let flow = |harness: &str| {
        format!(
            "name: flow
states:
  pending: {{}}
  working: {{respawn_prompt: again, agent: {{model: small, effort: low}}}}
  judged: {{agent: {{harness: {harness}, effort: high}}}}
  done: {{terminal: true}}
transitions:
  - {{from: pending, to: working, hooks: [{{action: acquire_workspace}}, {{action: spawn_agent, prompt: again, harness: own, effort: max}}]}}
  - {{from: working, to: judged, hooks: [{{action: kill_session}}, {{action: spawn_agent, prompt: look, as: reviewer}}]}}
  - {{from: judged, to: done, hooks: [{{action: kill_session}}, {{action: release_workspace}}]}}
prompts: {{again: go, look: see}}
"
        )
    };
    world.workflow("flow.yml", &flow("own"));
    let task = world.create("fix", "Mend it", &["--workflow", "flow"]);
    let asked = |expect: &str| {
        let file = task.worktree().join("asked.txt");
        world.until(expect, || fs::read_to_string(&file).is_ok_and(|it| it == expect));
        fs::remove_file(&file).unwrap();
    };
    asked("--model=small\n--effort=max\ngo\nas worker\n");
    kill(fs::read_to_string(task.worktree().join("pid")).unwrap().trim().parse().unwrap());
    task.has_events(1, "agent.exited");
    task.ok("respawn", &[]);
    asked("--model=small\n--effort=max\ngo\nas worker\n");

    // Orange refuses what cannot work while nothing has changed.
    world.workflow("flow.yml", &flow("onw"));
    let said = task.fails(3, "not_found", "update", &["--status", "judged"]);
    assert!(said.contains("did you mean `own`?"), "{said}");
    world.workflow("flow.yml", &flow("plain"));
    let said = task.fails(1, "refused", "update", &["--status", "judged"]);
    assert!(said.contains("the harness plain has no option for `effort: high`"), "{said}");
    assert_eq!(task.status(), "working");

    world.workflow("flow.yml", &flow("own"));
    task.ok("update", &["--status", "judged"]);
    asked("--effort=high\nsee\nas reviewer\n");
    let started = &task.events_of("agent.spawned")[1];
    assert_eq!(
        (&started["actor"], &started["harness"], &started["effort"]),
        (&json!("reviewer"), &json!("own"), &json!("high"))
    );
}
