//! Gates that ask: programs that run in the worktree without the task's lock, and the checks of a pull request.

use std::fs;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::said::ProgramOutput;
use crate::task::{Task, is_alive, kill};
use crate::world::World;

/// Its work goes on only if its test succeeds. The test notes its runs and its process, waits as long as `held` is there, and
/// succeeds if `mended` is there.
const ASKING: &str = "\
name: asking
states:
  pending: {}
  working: {respawn_prompt: worker}
  reviewing: {}
  stuck: {}
  done: {terminal: true}
  cancelled: {terminal: true}
gates:
  tested: {command: {argv: [sh, '{test}'], timeout: 60}}
transitions:
  - from: pending
    to: working
    hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]
  - {from: working, to: reviewing, gate: {all: [tested, {section: '## Handoff', required: true}]}}
  - {from: working, to: stuck}
  - {from: reviewing, to: done, by: human, gate: {checks: green}}
  - from: [pending, working, reviewing, stuck]
    to: cancelled
    hooks: [{action: kill_session}, {action: release_workspace}]
exit_monitoring:
  rules:
    - {status: working, then: reviewing}
    - {status: working, action: crash, stuck_after: 1}
prompts: {worker: '{summary}'}
";

fn working<'w>(world: &'w World, agents: &str) -> Task<'w> {
    working_with(world, agents, ASKING)
}

/// A task at work with a handoff, whose test fails.
fn working_with<'w>(world: &'w World, agents: &str, flow: &str) -> Task<'w> {
    let (test, root) = (world.path("test.sh"), world.path(""));
    let script = format!(
        "echo $$ >>{root}/runs; while [ -e {root}/held ]; do sleep 0.02; done\n\
         if [ -e {root}/writes ]; then date +%N >written; fi\n\
         test -e {root}/mended || {{ echo 'checking it'; echo '1 test failed' >&2; exit 2; }}\n",
        root = root.display()
    );
    fs::write(&test, script).unwrap();
    world.workflow("asking.yml", &flow.replace("{test}", &test.display().to_string()));
    let task = world.create("fix", &format!("Mend it [agents: {agents}]"), &["--workflow", "asking"]);
    task.agent(1).begun();
    task.reaches("working");
    task.write("## Handoff\n\nDONE: all of it");
    task
}

fn put(world: &World, name: &str) {
    fs::write(world.path(name), "").unwrap();
}

fn take_away(world: &World, name: &str) {
    fs::remove_file(world.path(name)).unwrap();
}

/// The processes of the test so far.
fn runs(world: &World) -> Vec<i32> {
    let noted = fs::read_to_string(world.path("runs")).unwrap_or_default();
    noted.lines().map(|line| line.parse().unwrap()).collect()
}

const TO_REVIEW: [&str; 2] = ["--status", "reviewing"];

/// A request that waits for the test, which has begun.
fn asking(world: &World, task: &Task<'_>) -> Child {
    let before = runs(world).len();
    let asking = asks(world, task);
    world.until("the test has begun", || runs(world).len() > before);
    asking
}

fn asks(world: &World, task: &Task<'_>) -> Child {
    let mut request = world.command(crate::world::binary());
    request.args(["--json", "task", "update", &task.id, "--status", "reviewing"]);
    request.current_dir(world.repo()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The process that runs the program, which has signed the lock.
fn runner(task: &Task<'_>) -> i32 {
    let lock = fs::read_to_string(task.folder().join(".program.lock")).unwrap();
    lock.lines().next().unwrap().parse().unwrap()
}

fn answer(request: Child) -> ProgramOutput {
    ProgramOutput::from(request.wait_with_output().unwrap())
}

/// The answers of the journal: whether each has passed.
fn answers(task: &Task<'_>) -> Vec<Value> {
    task.events_of("gate.answered").into_iter().map(|event| event["passed"].clone()).collect()
}

#[test]
fn a_transition_waits_for_a_program_that_succeeds() {
    let world = World::new();
    let task = working(&world, "hang");
    let refused = task.fails(1, "gate_failed", "update", &TO_REVIEW);
    assert!(refused.contains("status 2: checking it | 1 test failed"), "{refused}");
    assert_eq!((task.status().as_str(), answers(&task)), ("working", vec![json!(false)]));
    let asked = &task.events_of("gate.asked")[0];
    let head = world.git(&task.worktree(), &["rev-parse", "HEAD"]);
    assert_eq!(
        (&asked["commit"], &asked["timeout"], &asked["actor"]),
        (&json!(head), &json!(60), &json!("human"))
    );
    let answered = &task.events_of("gate.answered")[0];
    assert_eq!((&answered["code"], &answered["output"]), (&json!(2), &json!("checking it\n1 test failed")));

    // Unchanged content is asked about again, since the fault may have been elsewhere.
    put(&world, "mended");
    let moved = task.ok("update", &TO_REVIEW);
    assert_eq!((&moved["to"], answers(&task)), (&json!("reviewing"), vec![json!(false), json!(true)]));
}

#[test]
fn a_program_runs_only_when_nothing_else_is_missing() {
    let world = World::new();
    let task = working(&world, "hang");
    task.write("## Handoff\n");
    let refused = task.fails(1, "gate_failed", "update", &TO_REVIEW);
    assert!(refused.contains("`## Handoff` in TASK.md is empty"), "{refused}");
    assert!(!refused.contains("has not been asked"), "{refused}");
    assert!(runs(&world).is_empty());
}

#[test]
fn what_would_be_asked_is_said_and_not_run() {
    let world = World::new();
    let task = working(&world, "hang");
    put(&world, "mended");
    let dry = task.ok("update", &["--status", "reviewing", "--dry-run"]);
    let command = format!("sh {}", world.path("test.sh").display());
    assert_eq!((&dry["to"], &dry["asks"]), (&json!("reviewing"), &json!([command])));
    let next = |task: &Task<'_>| {
        let all = task.ok("next", &[]);
        let one = all.as_array().unwrap().iter().find(|it| it["to"] == "reviewing").unwrap();
        (one["allowed"].clone(), one["asks"].clone(), one["missing"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(next(&task), (json!(true), json!(command), String::new()));
    assert!(runs(&world).is_empty());

    take_away(&world, "mended");
    task.fails(1, "gate_failed", "update", &TO_REVIEW);
    let (allowed, _, missing) = next(&task);
    assert!(allowed == false && missing.contains("1 test failed"), "{missing}");
    // The answer was about other content.
    fs::write(task.worktree().join("more.txt"), "more\n").unwrap();
    assert_eq!(next(&task), (json!(true), json!(command), String::new()));
    assert_eq!(runs(&world).len(), 1);
}

#[test]
fn a_program_that_takes_too_long_is_ended() {
    let world = World::new();
    let task = working_with(&world, "hang", &ASKING.replace("timeout: 60", "timeout: 1"));
    put(&world, "held");
    let refused = task.fails(1, "gate_failed", "update", &TO_REVIEW);
    assert!(refused.contains("did not end within 1 s"), "{refused}");
    assert!(runs(&world).iter().all(|pid| !is_alive(*pid)));
    assert_eq!((answers(&task), task.status().as_str()), (vec![json!(false)], "working"));
}

#[test]
fn an_answer_counts_only_for_the_content_that_was_asked_about() {
    let world = World::new();
    let task = working(&world, "hang");
    put(&world, "mended");
    for change in ["commit", "file"] {
        put(&world, "held");
        let request = asking(&world, &task);
        if change == "commit" {
            world.git(&task.worktree(), &["commit", "--quiet", "--allow-empty", "--message", "More"]);
        } else {
            fs::write(task.worktree().join("more.txt"), "more\n").unwrap();
        }
        take_away(&world, "held");
        let refused = answer(request).fails(1, "gate_failed");
        let expect =
            if change == "commit" { "has moved from commit" } else { "files of the worktree have changed" };
        assert!(refused.contains(expect) && refused.contains("does not count"), "{refused}");
        assert_eq!(task.status(), "working");
    }
    // A program that writes what git does not ignore changes the content itself.
    put(&world, "writes");
    let refused = task.fails(1, "gate_failed", "update", &TO_REVIEW);
    assert!(refused.contains("git has to ignore"), "{refused}");
    fs::write(task.worktree().join(".gitignore"), "written\n").unwrap();
    task.ok("update", &TO_REVIEW);
}

#[test]
fn a_cancelled_task_ends_the_program_that_its_gate_asks() {
    let world = World::new();
    let task = working(&world, "hang");
    put(&world, "held");
    let request = asking(&world, &task);
    task.ok("cancel", &["--yes"]);
    let refused = answer(request).fails(1, "refused");
    assert!(refused.contains("moved from working to cancelled"), "{refused}");
    assert!(runs(&world).iter().all(|pid| !is_alive(*pid)));
    assert_eq!((task.status().as_str(), task.owned("workspace")), ("cancelled", json!(null)));
    world.until("the end of the program is on record", || !answers(&task).is_empty());
    assert_eq!(answers(&task), [json!(false)]);
}

#[test]
fn other_commands_do_not_wait_for_a_program() {
    let world = World::new();
    let task = working(&world, "hang");
    put(&world, "held");
    let request = asking(&world, &task);
    task.ok("update", &["--summary", "Mend all of it"]);
    put(&world, "mended");
    take_away(&world, "held");
    assert_eq!(answer(request).ok()["to"], "reviewing");
}

#[test]
fn two_requests_share_one_run() {
    let world = World::new();
    let task = working(&world, "hang");
    put(&world, "held");
    let first = asking(&world, &task);
    let second = asks(&world, &task);
    put(&world, "mended");
    take_away(&world, "held");
    let answers = [answer(first), answer(second)].map(|said| said.out.contains("\"success\":true"));
    // The one that comes second finds that the task has moved.
    assert!(answers.contains(&true), "{answers:?}");
    assert_eq!((runs(&world).len(), task.status().as_str()), (1, "reviewing"));
}

#[test]
fn a_killed_request_leaves_a_run_whose_answer_counts() {
    let world = World::new();
    let task = working(&world, "hang");
    put(&world, "mended");
    put(&world, "held");
    let mut request = asking(&world, &task);
    kill(request.id() as i32);
    request.wait().unwrap();
    take_away(&world, "held");
    world.until("the program has answered", || answers(&task) == [json!(true)]);
    task.ok("update", &TO_REVIEW);
    assert_eq!(runs(&world).len(), 1);
}

#[test]
fn what_a_killed_run_leaves_is_ended_and_asked_again() {
    let world = World::new();
    let task = working(&world, "hang");
    put(&world, "mended");
    put(&world, "held");
    let mut request = asking(&world, &task);
    let runner = runner(&task);
    kill(request.id() as i32);
    request.wait().unwrap();
    kill(runner);
    let left = runs(&world)[0];
    assert!(is_alive(left), "nobody has ended the program");

    // The next request ends what is left, and asks again.
    let request = asking(&world, &task);
    assert!(!is_alive(left));
    take_away(&world, "held");
    assert_eq!(answer(request).ok()["to"], "reviewing");
    assert_eq!((runs(&world).len(), answers(&task)), (2, vec![json!(true)]));
    assert!(!task.folder().join(".program.lock").exists());
}

#[test]
fn a_cancel_ends_what_a_killed_run_has_left() {
    let world = World::new();
    let task = working(&world, "hang");
    put(&world, "held");
    let mut request = asking(&world, &task);
    let runner = runner(&task);
    kill(request.id() as i32);
    request.wait().unwrap();
    kill(runner);
    task.ok("cancel", &["--yes"]);
    assert!(runs(&world).iter().all(|pid| !is_alive(*pid)));
    assert_eq!(task.owned("workspace"), json!(null));
}

#[test]
fn the_end_of_an_agent_asks_the_program() {
    let world = World::new();
    let task = working(&world, "scripted");
    put(&world, "mended");
    task.agent(1).tell("exit 0");
    task.reaches("reviewing");
    assert_eq!(answers(&task), [json!(true)]);
    assert_eq!(task.events_of("gate.asked")[0]["actor"], "engine");

    let world = World::new();
    let task = working(&world, "scripted");
    task.agent(1).tell("exit 0");
    task.reaches("stuck");
    let reason = task.events_of("agent.crashed").pop().unwrap()["reason"].clone();
    assert!(reason.as_str().unwrap().contains("1 test failed"), "{reason}");
}

#[test]
fn the_monitor_asks_and_goes_on_without_waiting() {
    let world = World::new();
    let task = working(&world, "hang");
    put(&world, "mended");
    put(&world, "held");
    kill(world.wrapper("toy/fix"));
    world.tmux(&["kill-server"]);
    let found = world.ok(&["monitor", "--once"]);
    assert!(found["events"].to_string().contains("a gate asks a program"), "{found}");
    world.ok(&["monitor", "--once"]);
    assert_eq!(task.status(), "working");
    take_away(&world, "held");
    world.until("the program has answered", || answers(&task) == [json!(true)]);
    world.ok(&["monitor", "--once"]);
    assert_eq!((task.status().as_str(), runs(&world).len()), ("reviewing", 1));
}

#[test]
fn a_gate_reads_the_checks_of_the_branch_s_commit() {
    let world = World::new().with_github();
    let task = working(&world, "hang");
    put(&world, "mended");
    fs::write(task.worktree().join("work.txt"), "work\n").unwrap();
    world.git(&task.worktree(), &["add", "work.txt"]);
    world.git(&task.worktree(), &["commit", "--quiet", "--message", "Work"]);
    task.ok("update", &TO_REVIEW);
    let refused = |expect: &str| {
        let refused = task.fails(1, "gate_failed", "update", &["--status", "done"]);
        assert!(refused.contains(expect), "{refused}");
    };
    refused("has no pull request");
    task.ok("create-pr", &[]);
    refused("not known yet");
    let checks = |rollup: &str| {
        fs::write(world.path("home/gh/1.checks"), rollup).unwrap();
        world.ok(&["monitor", "--once"]);
    };
    checks("[]");
    refused("has no checks");
    checks(r#"[{"status":"IN_PROGRESS","conclusion":""}]"#);
    refused("have not ended");
    checks(r#"[{"status":"COMPLETED","conclusion":"FAILURE"}]"#);
    refused("has failed");
    let run = |started: &str, conclusion: &str| json!({"name": "test", "workflowName": "CI", "startedAt": started, "status": "COMPLETED", "conclusion": conclusion});
    let superseded = run("2026-11-20T10:00:00Z", "CANCELLED");
    let newest = run("2026-11-20T10:07:31Z", "SUCCESS");
    checks(&json!([superseded, newest]).to_string());
    checks(&json!([newest, superseded]).to_string());
    let states: Vec<_> =
        task.events_of("pr.checks").into_iter().map(|event| event["state"].clone()).collect();
    assert_eq!(states, ["none", "pending", "red", "green"]);

    // They are green for an older commit than the branch's.
    world.git(&task.worktree(), &["commit", "--quiet", "--allow-empty", "--message", "More"]);
    refused("another commit");
    world.ok(&["monitor", "--once"]);
    assert_eq!(task.ok("update", &["--status", "done"])["to"], "done");
}

/// Its merge asks a program about its result, which succeeds unless `a.txt` and `b.txt` stand there together, and waits as the test of
/// [`ASKING`] does.
const LANDING: &str = "\
name: landing
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
  - {from: working, to: reviewing, hooks: [{action: kill_session}]}
  - from: reviewing
    to: done
    by: human
    gate: {command: {argv: [sh, '{test}'], timeout: 60, on: merge}}
    hooks: [{action: release_workspace}]
  - {from: reviewing, to: working, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]}
  - from: [pending, working, reviewing]
    to: cancelled
    by: human
    hooks: [{action: kill_session}, {action: release_workspace}]
prompts: {worker: '{summary}'}
";

/// Tasks on these branches, each with a file of its own, in review.
fn landing<'w>(world: &'w World, branches: [&str; 2]) -> [Task<'w>; 2] {
    let (test, root) = (world.path("land.sh"), world.path(""));
    let script = format!(
        "echo $$ >>{root}/runs; while [ -e {root}/held ]; do sleep 0.02; done\n\
         test ! -e a.txt -o ! -e b.txt || {{ echo 'they clash' >&2; exit 2; }}\n",
        root = root.display()
    );
    fs::write(&test, script).unwrap();
    world.workflow("landing.yml", &LANDING.replace("{test}", &test.display().to_string()));
    let words = ["--status", "reviewing", "--workflow", "landing"];
    branches.map(|branch| {
        world.commit_on(branch, &format!("{branch}.txt"));
        world.create(branch, &format!("Add {branch}"), &words)
    })
}

fn checkouts(world: &World) -> usize {
    world.git(&world.repo(), &["worktree", "list", "--porcelain"]).matches("worktree ").count()
}

#[test]
fn a_merge_asks_about_its_result_before_a_branch_moves() {
    let world = World::new();
    let [a, b] = landing(&world, ["a", "b"]);
    let refused = a.fails(1, "gate_failed", "update", &["--status", "done"]);
    assert!(refused.contains("runs on the result of a merge") && refused.contains("task merge"), "{refused}");
    assert_eq!(runs(&world).len(), 0);
    a.ok("merge", &[]);
    // Each is fine alone, and both together are not.
    let before = world.git(&world.repo(), &["rev-parse", "main"]);
    let refused = b.fails(1, "gate_failed", "merge", &["--strategy", "squash"]);
    assert!(refused.contains("they clash") && refused.contains("nothing was merged"), "{refused}");
    let checked = &b.events_of("merge.checked")[0];
    assert_eq!((&checked["code"], b.events_of("merge.started").len()), (&json!(2), 0));
    let after = world.git(&world.repo(), &["rev-parse", "main"]);
    assert_eq!((after, b.status().as_str(), checkouts(&world)), (before, "reviewing", 1));
    // A person may merge all the same.
    b.ok("merge", &["--strategy", "squash", "--force", "--yes"]);
    assert_eq!((b.status().as_str(), runs(&world).len()), ("done", 2));
}

#[test]
fn a_merge_that_was_killed_while_its_result_was_checked() {
    let world = World::new();
    let [a, _] = landing(&world, ["a", "c"]);
    put(&world, "held");
    let mut command = world.command(world.program);
    command.args(["--json", "task", "merge", &a.id]).current_dir(world.repo());
    let mut merge = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    world.until("the program has begun", || runs(&world).len() == 1);
    kill(merge.id() as i32);
    merge.wait().unwrap();
    assert_eq!((checkouts(&world), a.events_of("merge.started").len()), (2, 0));
    take_away(&world, "held");
    a.ok("merge", &[]);
    assert!(runs(&world).iter().all(|pid| !is_alive(*pid)));
    assert_eq!((checkouts(&world), a.events_of("merge.checked").len()), (1, 1));
}

#[test]
fn a_merge_that_was_begun_without_its_gate_is_checked() {
    let world = World::new();
    let [a, _] = landing(&world, ["a", "c"]);
    let repo = world.repo();
    world.git(&repo, &["switch", "--quiet", "a"]);
    fs::write(repo.join("b.txt"), "clash\n").unwrap();
    world.git(&repo, &["add", "b.txt"]);
    world.git(&repo, &["commit", "--quiet", "--message", "Clash"]);
    world.git(&repo, &["switch", "--quiet", "main"]);
    let [tip, main] = ["a", "main"].map(|branch| world.git(&repo, &["rev-parse", branch]));
    // As by a merge with `--force` that was killed before the branch moved.
    let begun = json!({"seq": a.events().len() + 1, "timestamp": "2026-01-01T00:00:00.000Z", "type": "merge.started",
        "into": "main", "commit": tip, "from": main, "onto": main, "source": tip, "strategy": "ff"});
    let journal = a.folder().join("history.jsonl");
    let before = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, format!("{before}{begun}\n")).unwrap();
    let refused = a.fails(1, "gate_failed", "merge", &[]);
    assert!(refused.contains("they clash"), "{refused}");
    assert_eq!((world.git(&repo, &["rev-parse", "main"]), a.status().as_str()), (main, "reviewing"));
}
