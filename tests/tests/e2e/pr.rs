//! Pull requests: opened for a task, looked at before a merge, and followed when they end on GitHub.

use std::fs;

use serde_json::{Value, json};

use crate::following::begin;
use crate::task::Task;
use crate::world::World;

const URL: &str = "https://github.com/toys/toy/pull/1";

/// A world with the scripted `gh`, and a task in it that waits for a person.
fn reviewing(world: &World) -> Task<'_> {
    let task = world.create("fix", "Mend $(it)", &["--context", "Since *Monday*."]);
    task.reaches("reviewing");
    task
}

fn set_state(world: &World, state: &str) {
    fs::write(world.path("home/gh/1.pr"), format!("fix\n{state}\n")).unwrap();
}

fn break_github(world: &World, how: &str) {
    fs::create_dir_all(world.path("home/gh")).unwrap();
    fs::write(world.path("home/gh/broken"), how).unwrap();
}

fn calls(world: &World) -> String {
    fs::read_to_string(world.path("home/gh/calls")).unwrap_or_default()
}

/// Result of one look of the monitor: its events, its errors.
fn look(world: &World) -> (Value, Value) {
    let found = world.ok(&["monitor", "--once"]);
    (found["events"].clone(), found["errors"].clone())
}

#[test]
fn a_pull_request_is_opened_once_and_describes_the_task() {
    let world = World::new().with_github();
    let template = world.repo().join(".github/PULL_REQUEST_TEMPLATE.md");
    fs::create_dir_all(template.parent().unwrap()).unwrap();
    fs::write(template, "- [ ] tested\n").unwrap();
    world.git(&world.repo(), &["add", "."]);
    world.git(&world.repo(), &["commit", "--quiet", "--message", "Ask"]);
    world.git(&world.repo(), &["push", "--quiet", "origin", "main"]);
    let task = reviewing(&world);
    let opened = task.ok("create-pr", &[]);
    assert_eq!(
        (&opened["pr_url"], &opened["created"], &opened["template"]),
        (&json!(URL), &json!(true), &json!(".github/PULL_REQUEST_TEMPLATE.md"))
    );
    let body = fs::read_to_string(world.path("home/gh/1.body")).unwrap();
    assert_eq!(body, "Mend $(it)\n\nSince *Monday*.\n\n- [ ] tested\n");
    let created = "pr create [--base=main] [--head=fix] [--title=Mend $(it)] [--body-file=-]";
    assert!(calls(&world).contains(created), "{}", calls(&world));
    assert_eq!(
        world.git(&world.path("toy.git"), &["log", "-1", "--format=%s", "fix"]),
        "Agent 3 did its part"
    );

    let again = task.ok("create-pr", &[]);
    assert_eq!((&again["pr_url"], &again["created"]), (&json!(URL), &json!(false)));
    assert_eq!(task.events_of("pr.created").len(), 1);
    assert_eq!(task.show()["pr_url"], URL);
}

#[test]
fn a_pull_request_needs_a_ready_task_and_a_person() {
    let world = World::new().with_github();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    let empty = task.fails(1, "refused", "create-pr", &[]);
    assert!(empty.contains("no commit"), "{empty}");
    let loose = task.worktree().join("loose.txt");
    fs::write(&loose, "not committed\n").unwrap();
    let dirty = task.fails(1, "refused", "create-pr", &[]);
    assert!(dirty.contains("loose.txt"), "{dirty}");
    let mut asking = task.as_agent("worker", "1");
    asking.args(["task", "create-pr", &task.id]).current_dir(task.worktree());
    world.said(&mut asking).fails(1, "not_allowed");
    task.ok("cancel", &["--yes"]);
    let over = task.fails(1, "refused", "create-pr", &[]);
    assert!(over.contains("over"), "{over}");
    assert_eq!(calls(&world), "");
}

#[test]
fn a_merge_asks_first_what_has_become_of_the_pull_request() {
    let world = World::new().with_github();
    let task = reviewing(&world);
    task.ok("create-pr", &[]);
    let open = task.fails(1, "refused", "merge", &[]);
    assert!(open.contains(URL) && open.contains("--local"), "{open}");
    set_state(&world, "CLOSED");
    let closed = task.fails(1, "refused", "merge", &[]);
    assert!(closed.contains("not merged") && closed.contains("orange task cancel"), "{closed}");
    set_state(&world, "MERGED");
    let merged = task.ok("merge", &[]);
    assert_eq!((&merged["to"], &merged["pushed"]), (&json!("done"), &json!(false)));
    assert_eq!(merged["hook_errors"], json!([]));
    assert_eq!(task.events_of("pr.merged")[0]["url"], URL);
    let event = &task.events_of("task.merged")[0];
    assert_eq!((&event["strategy"], &event["commit"]), (&json!("pr"), &json!("c0ffee")));
    // GitHub has merged it: nothing was merged here.
    assert_eq!(world.git(&world.repo(), &["log", "-1", "--format=%s", "main"]), "Begin");
}

#[test]
fn a_pull_request_that_was_merged_elsewhere_ends_its_task() {
    let world = World::new().with_github();
    let task = reviewing(&world);
    task.ok("create-pr", &[]);
    assert_eq!(look(&world), (json!([]), json!([])));
    set_state(&world, "MERGED");
    let (events, errors) = look(&world);
    assert_eq!((events[0]["id"].as_str(), &errors), (Some(task.id.as_str()), &json!([])));
    let last = task.events_of("status.changed").pop().unwrap();
    assert_eq!((&last["to"], &last["actor"]), (&json!("done"), &json!("engine")));
    assert_eq!(task.events_of("pr.merged").len(), 1);
    let asked = calls(&world).lines().count();
    assert_eq!(look(&world), (json!([]), json!([])));
    assert_eq!(calls(&world).lines().count(), asked, "nobody asks about a task that is over");
}

#[test]
fn a_pull_request_merged_while_the_agent_works_ends_its_task() {
    let world = World::new().with_github();
    let task = world.create("fix", "Mend it [agents: work hang]", &[]);
    task.agent(2).begun();
    task.reaches("agent-review");
    task.ok("create-pr", &[]);
    fs::write(task.worktree().join("more.txt"), "not committed\n").unwrap();
    set_state(&world, "MERGED");
    look(&world);
    assert_eq!((task.status().as_str(), world.panes()), ("done", vec![]));
    let last = task.events_of("status.changed").pop().unwrap();
    assert_eq!((&last["cause"], &last["actor"]), (&json!("forced_merge"), &json!("engine")));
    assert_eq!(task.events_of("work.backed_up").len(), 1);
}

#[test]
fn a_pull_request_that_was_closed_cancels_its_task() {
    let world = World::new().with_github();
    let task = reviewing(&world);
    task.ok("create-pr", &[]);
    set_state(&world, "CLOSED");
    look(&world);
    assert_eq!((task.status().as_str(), task.owned("workspace")), ("cancelled", json!(null)));
    assert_eq!(task.events_of("pr.closed")[0]["url"], URL);
}

#[test]
fn without_github_everything_else_goes_on() {
    let world = World::new();
    let task = reviewing(&world);
    let mut bare = world.with_only(&["git", "tmux", "sh"]);
    let missing = world.said(bare.args(["--json", "task", "create-pr", &task.id])).fails(5, "environment");
    assert!(missing.contains("gh auth login"), "{missing}");
    assert_eq!(world.git(&world.path("toy.git"), &["branch", "--list", "fix"]), "", "nothing was pushed");

    let world = World::new().with_github();
    let task = reviewing(&world);
    break_github(&world, "4 To get started with GitHub CLI, please run: gh auth login");
    let refused = task.fails(5, "environment", "create-pr", &[]);
    assert!(refused.contains("GH_TOKEN"), "{refused}");
    fs::remove_file(world.path("home/gh/broken")).unwrap();
    task.ok("create-pr", &[]);
    break_github(&world, "1 HTTP 502: Bad gateway");
    let failed = task.fails(5, "environment", "merge", &[]);
    assert!(failed.contains("502") && failed.contains("--local"), "{failed}");
    let (events, errors) = look(&world);
    assert_eq!((events, errors[0]["id"].as_str()), (json!([]), Some(task.id.as_str())));
    assert_eq!(task.ok("merge", &["--local"])["to"], "done");
}

#[test]
fn what_is_no_address_never_reaches_github() {
    let world = World::new().with_github();
    let task = reviewing(&world);
    let text = fs::read_to_string(task.file()).unwrap();
    fs::write(task.file(), text.replacen("---\n", "---\npr_url: --web\n", 1)).unwrap();
    let refused = task.fails(1, "refused", "merge", &[]);
    assert!(refused.contains("--web") && refused.contains("pr_url:"), "{refused}");
    assert_eq!(calls(&world), "");
}

/// Opens a pull request for a branch as a person does on GitHub: no command of ours hears of it.
fn open_by_hand(world: &World, state: &str) {
    fs::create_dir_all(world.path("home/gh")).unwrap();
    set_state(world, state);
}

#[test]
fn a_merge_finds_the_pull_request_that_somebody_opened_by_hand() {
    let world = World::new().with_github();
    let task = reviewing(&world);
    world.git(&world.repo(), &["push", "--quiet", "origin", "fix"]);
    open_by_hand(&world, "OPEN");
    let open = task.fails(1, "refused", "merge", &[]);
    assert!(open.contains(URL) && open.contains("--local"), "{open}");
    assert_eq!(world.git(&world.repo(), &["log", "-1", "--format=%s", "main"]), "Begin");
    assert_ne!(world.git(&world.path("toy.git"), &["branch", "--list", "fix"]), "");
    assert_eq!(task.show()["pr_url"], URL);
    assert_eq!(task.events_of("pr.created")[0]["url"], URL);
    set_state(&world, "MERGED");
    assert_eq!(task.ok("merge", &[])["to"], "done");
    assert_eq!(task.events_of("task.merged")[0]["strategy"], "pr");
    assert_eq!(task.events_of("pr.created").len(), 1);
}

#[test]
fn the_monitor_finds_a_pull_request_opened_by_hand() {
    let world = World::new().with_github();
    let task = reviewing(&world);
    assert_eq!(look(&world), (json!([]), json!([])));
    open_by_hand(&world, "OPEN");
    let (events, errors) = look(&world);
    assert!(events[0].to_string().contains(URL), "{events}");
    assert_eq!((errors, task.show()["pr_url"].as_str()), (json!([]), Some(URL)));
    assert_eq!(task.events_of("pr.created").len(), 1);
    set_state(&world, "MERGED");
    look(&world);
    assert_eq!(task.status(), "done");
}

#[test]
fn one_question_tells_that_several_pull_requests_are_as_before() {
    let world = World::new().with_github();
    let [fix, other] = ["fix", "other"].map(|branch| {
        let task = world.create(branch, "Mend it", &[]);
        task.reaches("reviewing");
        task.ok("create-pr", &[]);
        task
    });
    for number in [1, 2] {
        fs::write(world.path(&format!("home/gh/{number}.checks")), "[]").unwrap();
    }
    let count = |call: &str| calls(&world).lines().filter(|line| line.starts_with(call)).count();
    let mut monitor = begin(&world, &["monitor", "--interval", "1"]);
    world.until("the checks of each are known", || {
        [&fix, &other].iter().all(|it| it.events_of("pr.checks").len() == 1)
    });
    assert_eq!((count("api graphql"), count("pr view")), (1, 2), "{}", calls(&world));
    set_state(&world, "MERGED");
    // It asks once a minute.
    world.until("the task of the merged one has ended", || !fix.events_of("pr.merged").is_empty());
    assert_eq!((count("api graphql"), count("pr view")), (2, 3), "the other is as before: {}", calls(&world));
    monitor.kill().unwrap();
    monitor.wait().unwrap();
}

#[test]
fn the_monitor_finds_a_pr_opened_and_merged_between_looks() {
    let world = World::new().with_github();
    let task = reviewing(&world);
    open_by_hand(&world, "MERGED");
    look(&world);
    assert_eq!((task.status().as_str(), task.events_of("pr.merged").len()), ("done", 1));
}

#[test]
fn an_older_pull_request_of_the_same_branch_is_not_the_tasks() {
    let world = World::new().with_github();
    let task = reviewing(&world);
    for state in ["CLOSED", "MERGED\n2020-01-01T00:00:00Z"] {
        open_by_hand(&world, state);
        assert_eq!(look(&world), (json!([]), json!([])), "{state}");
        assert_eq!(task.show()["pr_url"], json!(null), "{state}");
    }
    let merged = task.ok("merge", &[]);
    assert_eq!((&merged["to"], &merged["pushed"]), (&json!("done"), &json!(true)));
}

#[test]
fn a_merge_needs_no_github_and_trusts_no_silence_of_it() {
    let world = World::new().with_github();
    let task = reviewing(&world);
    break_github(&world, "1 HTTP 502: Bad gateway");
    let failed = task.fails(5, "environment", "merge", &[]);
    assert!(failed.contains("502") && failed.contains("--local"), "{failed}");
    assert_eq!(look(&world), (json!([]), json!([])), "a task without a pull request lacks nothing");
    break_github(
        &world,
        "1 none of the git remotes configured for this repository point to a known GitHub host.",
    );
    assert_eq!(task.ok("merge", &[])["to"], "done");

    let world = World::new().with_github();
    let task = reviewing(&world);
    break_github(&world, "4 To get started with GitHub CLI, please run: gh auth login");
    assert_eq!(task.ok("merge", &[])["to"], "done");
}
