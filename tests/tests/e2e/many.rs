//! One command for several tasks: each has its own outcome.

use serde_json::{Value, json};

use crate::world::World;

/// Of each answer, the id and the code of its error.
fn outcomes(answers: &Value) -> Vec<(String, Value)> {
    let one = |answer: &Value| (answer["id"].as_str().unwrap().to_owned(), answer["error"]["code"].clone());
    answers.as_array().unwrap().iter().map(one).collect()
}

#[test]
fn one_failure_stops_no_other_and_gives_the_exit_status() {
    let world = World::new();
    let [a, b, c] = ["a1", "b1", "c1"].map(|branch| world.create(branch, "Mend it", &["--no-spawn"]));
    b.ok("cancel", &["--yes"]);
    let said = world.json(&[
        "task",
        "update",
        "a1",
        &b.id,
        "nobody",
        &a.id,
        "c1",
        "--status",
        "working",
        "--dry-run",
    ]);
    assert_eq!(said.status, 1, "that of the first failure: {said:?}");
    let null = Value::Null;
    let expect = [
        (a.id.clone(), null.clone()),
        (b.id.clone(), json!("no_transition")),
        ("nobody".to_owned(), json!("not_found")),
        (c.id.clone(), null),
    ];
    assert_eq!(outcomes(&said.json()), expect);
    let said = world.json(&["task", "delete", "nobody", "b1", "--yes"]);
    assert_eq!((said.status, b.folder().exists()), (3, false), "{said:?}");
    let text = world.orange(&["task", "delete", "c1", "nobody", "--yes"]);
    assert!(text.status == 3 && text.out.contains("error: there is no task `nobody`"), "{text:?}");
    assert!(!c.folder().exists());
}

#[test]
fn a_filter_selects_tasks_and_none_is_no_failure() {
    let world = World::new();
    let [a, b] =
        ["a1", "b1"].map(|branch| world.create(branch, "Mend it [agents: hang hang]", &["--no-spawn"]));
    let over = world.create("over", "Mend it", &["--no-spawn"]);
    over.ok("cancel", &["--yes"]);
    let ids = |words: &[&str]| outcomes(&world.ok(words)).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    let both = vec![a.id.clone(), b.id.clone()];
    assert_eq!(ids(&["task", "spawn", "--where", "status=pending,project=toy"]), both);
    [&a, &b].iter().for_each(|task| task.reaches("working"));
    let [first, second] = [&a, &b].map(|task| task.agent(1).begun());
    assert_eq!(ids(&["task", "stop", "--where", "workflow=default"]), both, "finished ones are left out");
    assert!(![first, second].iter().any(|agent| crate::task::is_alive(*agent)));
    assert_eq!(ids(&["task", "respawn", "a1", "b1"]), both);
    for task in [&a, &b] {
        task.agent(2).begun();
    }
    let working =
        &["task", "update", "--status", "stuck", "--dry-run", "--where", "need=working,project=toy"];
    assert_eq!(ids(working), both);
    assert_eq!(world.ok(&["task", "stop", "--where", "need=permission"]), json!([]));
    assert_eq!(ids(&["task", "cancel", "--where", "status=working", "--yes"]), both);
    let all = [a.id.clone(), b.id.clone(), over.id.clone()];
    assert_eq!(world.ok(&["task", "stop", "--where", "status=stuck"]), json!([]));
    assert_eq!(ids(&["task", "delete", "--where", "status=cancelled", "--yes"]), all);
    for wrong in ["state=x", "status", "status="] {
        world.fails(2, "usage", &["task", "stop", "--where", wrong]);
    }
    world.fails(2, "usage", &["task", "stop", "a1", "--where", "status=stuck"]);
    world.fails(2, "usage", &["task", "update", "a1", "b1", "--summary", "X"]);
}

#[test]
fn a_message_goes_to_several() {
    let world = World::new();
    let tasks = ["a1", "b1"].map(|branch| world.create(branch, "Mend it [agents: scripted]", &[]));
    for task in &tasks {
        task.agent(1).begun();
    }
    let answers = world.ok(&["task", "send", "a1,b1", "- go on"]);
    assert_eq!(outcomes(&answers).len(), 2);
    let answers = world.ok(&["task", "send", "--where", "status=working", "--", "-- go on"]);
    assert_eq!(outcomes(&answers).len(), 2);
    for task in &tasks {
        let texts: Vec<Value> =
            task.events_of("agent.sent").iter().map(|sent| sent["text"].clone()).collect();
        assert_eq!(texts, ["- go on", "-- go on"]);
    }
    world.fails(2, "usage", &["task", "send", "a1"]);
    world.fails(2, "usage", &["task", "send", "a1", "Go on", "--where", "status=working"]);
}
