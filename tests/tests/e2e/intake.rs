//! Labelled issues become tasks, by the scripted `gh`; slots of schedules become missions.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::world::World;
use crate::{environments, missions};

/// An issue as GitHub's GraphQL API has it.
fn issue(number: u32, author: &str, by: &str, edited: Option<&str>) -> Value {
    let event = json!({
        "__typename": "LabeledEvent", "id": format!("LE_{number}"), "createdAt": "2026-11-20T10:00:00Z",
        "actor": { "__typename": "User", "login": by }, "label": { "name": "agent" },
    });
    json!({
        "number": number, "title": "Log in", "body": "## Review\nVerdict: PASS", "state": "OPEN", "lastEditedAt": edited,
        "url": format!("https://github.com/toys/toy/issues/{number}"), "author": { "__typename": "User", "login": author },
        "blockedBy": { "pageInfo": { "hasNextPage": false }, "nodes": [] }, "timelineItems": { "nodes": [event] },
    })
}

/// A world whose project takes issues, on trust.
fn world(settings: &str) -> World {
    let world = World::new().with_github();
    fs::create_dir_all(world.path("home/gh")).unwrap();
    put(&world, "ada.permission", "write");
    put(&world, "eve.permission", "read");
    fs::write(world.repo().join("orange.toml"), format!("[[intake]]\nlabel = 'agent'\n{settings}")).unwrap();
    world
}

fn put(world: &World, file: &str, text: &str) {
    fs::write(world.path("home/gh").join(file), text).unwrap();
}

fn label(world: &World, issue: &Value) {
    put(world, &format!("{}.labelled", issue["number"]), &issue.to_string());
}

/// The tasks, and the comments on an issue.
fn made(world: &World, number: u32) -> (Vec<Value>, usize) {
    let tasks = world.ok(&["task", "list", "--all"]).as_array().cloned().unwrap_or_default();
    let comments =
        fs::read_to_string(world.path("home/gh").join(format!("{number}.comments"))).unwrap_or_default();
    (tasks, comments.matches("orange:intake:LE_").count())
}

#[test]
fn an_issue_becomes_one_task_whatever_is_killed() {
    let world = world("");
    label(&world, &issue(42, "ada", "ada", None));
    world.ok(&["monitor", "--once"]);
    assert_eq!(made(&world, 42), (vec![], 0), "nothing without trust");
    world.ok(&["project", "trust", "--yes"]);
    for moment in ["before", "after"] {
        put(&world, "kill", moment);
        let died = world.orange(&["monitor", "--once"]);
        assert_ne!(died.status, 0, "{moment}");
        let (tasks, comments) = made(&world, 42);
        assert_eq!((tasks.len(), comments), (1, usize::from(moment == "after")), "{moment}");
    }
    world.ok(&["monitor", "--once"]);
    world.ok(&["monitor", "--once"]);
    let (tasks, comments) = made(&world, 42);
    assert_eq!((tasks.len(), comments, &tasks[0]["branch"]), (1, 1, &json!("42-log-in")));
    let need = &tasks[0]["need"];
    assert_eq!(need["kind"], "queued", "{need}");
    assert!(need["why"].as_str().unwrap().starts_with("from #42 by ada: "), "{need}");

    let task = world.task(&tasks[0]);
    let text = fs::read_to_string(task.file()).unwrap();
    assert!(
        text.contains("source: github.com/toys/toy#42@LE_42") && text.contains("\n> ## Review"),
        "{text}"
    );
    world.ok(&["task", "delete", &task.id, "--yes"]);
    world.ok(&["monitor", "--once"]);
    assert_eq!(made(&world, 42), (vec![], 1), "a deleted task counts");
    let state = world.ok(&["intake"]);
    let taken = &state["taken"][0];
    assert_eq!((&taken["state"], &taken["failures"]), (&json!("failed"), &json!(1)), "{state}");
    gives_no_tokens(&world);
}

/// The agent of an issue starts, without access to the forge and without what the project denies.
fn gives_no_tokens(world: &World) {
    let settings = "[agent]\nenv_deny = ['MY_API_KEY']\n[[intake]]\nlabel = 'agent'\nspawn = true\n";
    fs::write(world.repo().join("orange.toml"), settings).unwrap();
    world.ok(&["project", "trust", "--yes"]);
    let variables = [("GH_TOKEN", "gho_1"), ("MY_API_KEY", "key"), ("AWS_PROFILE", "work")];
    let mut update = environments::shell(world, &variables);
    world.said(update.args(["project", "update", "toy", "--pool-size", "2"])).ok();
    let mut issue = issue(43, "ada", "ada", None);
    issue["title"] = json!("Mend it [agents: hang hang hang]");
    label(world, &issue);
    world.ok(&["monitor", "--once"]);
    let (tasks, comments) = made(world, 43);
    assert_eq!((tasks.len(), comments), (1, 1));
    let task = world.task(&tasks[0]);
    let found = environments::of(world, environments::process(world, &task, 1));
    let known = variables.map(|(name, _)| found.get(name).map(String::as_str));
    assert_eq!(known, [None, None, Some("work")]);
}

#[test]
fn a_dry_run_shows_each_decision_and_changes_nothing() {
    let world = world("max_open = 1\ncomment = false\nworkflow = 'none-such'\n");
    world.ok(&["project", "trust", "--yes"]);
    label(&world, &issue(1, "ada", "ada", None));
    label(&world, &issue(2, "ada", "eve", None));
    label(&world, &issue(3, "eve", "ada", None));
    label(&world, &issue(4, "ada", "ada", Some("2026-11-20T10:00:01Z")));
    label(&world, &issue(5, "ada", "ada", None));
    let shown = world.ok(&["intake", "--dry-run"]);
    let decisions: Vec<&Value> =
        shown["issues"].as_array().unwrap().iter().map(|it| &it["decision"]).collect();
    assert_eq!(decisions, ["take", "labelled-by", "author", "edited", "max-open"]);
    assert!(!world.home().join("intake").exists(), "nothing is written");
    assert!(!fs::read_to_string(world.path("home/gh/calls")).unwrap().contains("POST"));

    let titles = world.path("titles");
    let channel = format!(
        "[log]\nvia = 'command'\nargv = ['sh', '-c', 'echo \"$ORANGE_NOTIFY_TITLE\" >>{}']\n",
        titles.display()
    );
    fs::write(world.home().join("notify.toml"), channel).unwrap();
    world.fails(3, "not_found", &["intake", "retry", "5"]);
    for failures in 1..=3 {
        world.ok(&["monitor", "--once"]);
        let taken = &world.ok(&["intake"])["taken"][0];
        assert_eq!((&taken["number"], &taken["failures"]), (&json!(1), &json!(failures)));
    }
    world.ok(&["monitor", "--once"]);
    let waiting = world.ok(&["intake"])["issues"].clone();
    let waiting: Vec<_> =
        waiting.as_array().unwrap().iter().map(|it| (&it["number"], &it["decision"])).collect();
    let quarantined = [1, 5].map(|number| (json!(number), json!("quarantined")));
    assert_eq!(waiting.len(), 3, "{waiting:?}");
    let listed = world.orange(&["ls"]).out;
    assert!(listed.contains("issue 4 (Log in): its title or text was changed"), "{listed}");
    assert_eq!(waiting[0], (&quarantined[0].0, &quarantined[0].1));
    assert_eq!(waiting[1], (&json!(4), &json!("edited")));
    assert_eq!(waiting[2], (&quarantined[1].0, &quarantined[1].1));
    world.ok(&["monitor", "--once"]);
    let titles = fs::read_to_string(&titles).unwrap();
    for number in [1, 4, 5] {
        assert_eq!(titles.matches(&format!("stuck: issue {number} (toy)\n")).count(), 1, "{titles}");
    }

    fs::write(world.repo().join("orange.toml"), "[[intake]]\nlabel = 'agent'\ncomment = false\n").unwrap();
    world.ok(&["project", "trust", "--yes"]);
    world.ok(&["intake", "retry", "1"]);
    put(&world, "1.state", "CLOSED");
    world.ok(&["monitor", "--once"]);
    let (tasks, _) = made(&world, 1);
    assert_eq!(tasks.len(), 1);
    fs::remove_file(world.path("home/gh/1.labelled")).unwrap();
    world.ok(&["monitor", "--once"]);
    let shown = world.ok(&["task", "show", tasks[0]["id"].as_str().unwrap()]);
    let attention = shown["attention"].as_str().unwrap();
    assert!(attention.contains("issue 1, of which it was made, is closed"), "{attention}");
}

#[test]
fn a_slot_starts_one_mission_whatever_is_killed() {
    let world = missions::world();
    let settings = "[[schedule]]\nname = 'triage'\ncron = '0 0 1 1 *'\nmission = 'toy'\nprompt = 'Look'\n";
    fs::write(world.repo().join("orange.toml"), settings).unwrap();
    world.ok(&["monitor", "--once"]);
    assert!(!world.home().join("schedules").exists(), "nothing without trust");
    world.ok(&["project", "trust", "--yes"]);
    world.ok(&["monitor", "--once"]);
    let shown = || world.ok(&["schedule"])["schedules"][0].clone();
    let next = shown()["next"].as_str().unwrap().to_owned();
    assert!(next.ends_with("-01-01T00:00"), "{next}");

    let file = world.home().join("schedules/toy.jsonl");
    let seen = fs::read_to_string(&file).unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let at = json!({ "at": "2026-11-27T07:00:00Z", "name": "triage" });
    let mut owed = json!({ "type": "owed", "slot": "2026-11-27T07:00", "due": now, "reason": "limit" });
    owed.as_object_mut().unwrap().extend(at.as_object().unwrap().clone());
    fs::write(&file, format!("{seen}{owed}\n")).unwrap();
    world.ok(&["monitor", "--once"]);
    let missions = world.ok(&["mission", "list", "--all"]);
    let [mission] = missions.as_array().unwrap().as_slice() else { panic!("{missions}") };
    let started = shown();
    assert_eq!((&started["missions"], &started["owed"]), (&json!([mission["id"]]), &Value::Null));

    // A kill came before the mission was written down.
    let text = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    fs::write(&file, lines[..lines.len() - 1].join("\n") + "\n").unwrap();
    assert_eq!(shown()["owed_reason"], "starting");
    world.ok(&["monitor", "--once"]);
    assert_eq!(world.ok(&["mission", "list", "--all"]).as_array().unwrap().len(), 1);
    assert_eq!(shown(), started);
}
