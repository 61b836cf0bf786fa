//! `orange task open`, `refresh` and `edit`.

use std::fs;

use serde_json::{Value, json};

use crate::task::Task;
use crate::world::{World, write_program};

/// A task whose worker hangs, in a world with GitHub.
fn begun(world: &World) -> Task<'_> {
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    task
}

/// Somebody opens a pull request for `fix`, or changes its state.
fn on_github(world: &World, state: &str) {
    fs::create_dir_all(world.path("home/gh")).unwrap();
    fs::write(world.path("home/gh/1.pr"), format!("fix\n{state}\n")).unwrap();
}

const URL: &str = "https://github.com/toys/toy/pull/1";

#[test]
fn refresh_links_follows_and_says_what_is_new() {
    let world = World::new().with_github();
    let task = begun(&world);
    let news = |answer: &Value| {
        [answer["news"].clone(), answer["pr_url"].clone(), answer["state"].clone(), answer["status"].clone()]
    };
    let expect =
        |news: &str, url: Value, state: Value, status: &str| [json!(news), url, state, json!(status)];
    assert_eq!(news(&task.ok("refresh", &[])), expect("none", json!(null), json!(null), "working"));
    on_github(&world, "OPEN");
    assert_eq!(news(&task.ok("refresh", &[])), expect("linked", json!(URL), json!("open"), "working"));
    assert_eq!(task.show()["pr_url"], URL);
    assert_eq!(news(&task.ok("refresh", &[])), expect("unchanged", json!(URL), json!("open"), "working"));
    fs::write(world.path("home/gh/1.checks"), "[{\"conclusion\":\"SUCCESS\"}]").unwrap();
    let checked = task.ok("refresh", &[]);
    assert_eq!(news(&checked), expect("checked", json!(URL), json!("open"), "working"));
    assert!(checked["done"].as_str().unwrap().contains("green"), "{checked}");
    let mut agent = task.as_agent("worker", "1");
    world.said(agent.args(["task", "refresh"]).current_dir(task.worktree())).fails(1, "not_allowed");
    on_github(&world, "MERGED");
    assert_eq!(news(&task.ok("refresh", &[])), expect("merged", json!(URL), json!("merged"), "done"));
    assert_eq!(news(&task.ok("refresh", &[])), expect("unchanged", json!(URL), json!("merged"), "done"));
}

#[test]
fn refresh_without_an_answer_changes_nothing() {
    let world = World::new().with_github();
    let task = begun(&world);
    on_github(&world, "OPEN");
    task.ok("refresh", &[]);
    fs::write(world.path("home/gh/broken"), "1 no network\n").unwrap();
    let events = task.events();
    let refused = task.fails(5, "environment", "refresh", &[]);
    assert!(refused.contains("no network"), "{refused}");
    assert_eq!(task.events(), events);
}

#[test]
fn open_gives_the_address_to_the_first_browser_that_takes_it() {
    let world = World::new().with_github();
    let task = begun(&world);
    let refused = task.fails(1, "refused", "open", &[]);
    assert!(refused.contains("orange task refresh"), "{refused}");
    on_github(&world, "OPEN");
    task.ok("refresh", &[]);
    let seen = world.path("seen");
    write_program(&world.path("agents/broken-browser"), "#!/bin/sh\necho broken >&2\nexit 3\n");
    write_program(&world.path("agents/browser"), &format!("#!/bin/sh\necho \"$@\" >>{}\n", seen.display()));
    let open = |browser: &str| {
        let mut command = world.command(world.program);
        command.env("BROWSER", browser).args(["--json", "task", "open", "fix"]).current_dir(world.repo());
        world.said(&mut command).ok()
    };
    let answer = open("no-such-program:broken-browser:browser --tab");
    assert_eq!((&answer["url"], &answer["browser"]), (&json!(URL), &json!("browser")));
    assert_eq!(fs::read_to_string(&seen).unwrap(), format!("--tab {URL}\n"));
    open("browser -u=%s");
    assert!(fs::read_to_string(&seen).unwrap().ends_with(&format!("-u={URL}\n")));

    let mut alone = world.with_only(&["git", "tmux"]);
    let alone = world.said(alone.args(["task", "open", "fix"]));
    assert!(alone.status == 0 && alone.out.starts_with(URL) && alone.out.contains("BROWSER"), "{alone:?}");
}

#[test]
fn open_takes_no_address_that_is_none() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &["--no-spawn"]);
    for address in ["--help", "file:///etc/passwd", "javascript:alert(1)"] {
        let text = fs::read_to_string(task.file()).unwrap();
        let text = text.lines().filter(|line| !line.starts_with("pr_url")).collect::<Vec<_>>().join("\n");
        fs::write(task.file(), text.replacen("---\n", &format!("---\npr_url: \"{address}\"\n"), 1)).unwrap();
        let refused = task.fails(1, "refused", "open", &[]);
        assert!(refused.contains("not an address of a page"), "{refused}");
    }
}

#[test]
fn edit_changes_what_no_living_agent_has() {
    let world = World::new();
    let task = begun(&world);
    let refused = task.fails(1, "refused", "edit", &["--harness", "codex", "--summary", "Other"]);
    assert!(refused.contains("agent 1 (worker) is alive") && refused.contains("task stop"), "{refused}");
    assert_eq!(task.show()["summary"], "Mend it [agents: hang]", "all of it or nothing");
    task.fails(3, "not_found", "edit", &["--harness", "no-such"]);
    task.fails(2, "usage", "edit", &[]);
    task.fails(2, "usage", "edit", &["--summary", " "]);

    let before = (fs::read(task.file()).unwrap(), task.events());
    let dry = task.ok("edit", &["--review-harness", "codex", "--dry-run"]);
    assert_eq!((&dry["updated"], &dry["dry_run"]), (&json!(["review_harness"]), &json!(true)));
    assert_eq!((fs::read(task.file()).unwrap(), task.events()), before);
    task.ok("edit", &["--review-harness", "codex", "--summary", "- mend it"]);
    task.ok("stop", &[]);
    task.ok("edit", &["--harness", "codex"]);
    let show = task.show();
    let shown = [&show["harness"], &show["review_harness"], &show["summary"]];
    assert_eq!(shown, ["codex", "codex", "- mend it"]);
    let mut agent = task.as_agent("worker", "1");
    agent.args(["task", "edit", "--harness", "claude"]).current_dir(task.worktree());
    world.said(&mut agent).fails(1, "not_allowed");
}
