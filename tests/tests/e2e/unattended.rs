//! From labels of issues to merged work: tasks of five issues at once, with red checks, a comment, a conflict and created tasks,
//! under budgets, and with monitors that are killed throughout. A person only reviews and merges.

use std::fs;

use serde_json::{Value, json};

use crate::every_step::{KillMoment, killed_in};
use crate::task::Task;
use crate::watch::{set_checks_of, set_threads_of};
use crate::world::World;

/// The issues: label, and title with the behaviour of the agents.
const ISSUES: [(&str, &str); 5] = [
    ("small", "Checks [agents: work pass work pass work pass work pass]"),
    ("small", "Comment [agents: work pass work pass]"),
    ("small", "Conflict [agents: work pass scripted pass]"),
    ("big", "Left half [agents: scripted work pass]"),
    ("big", "Right half [agents: scripted work pass]"),
];

fn world() -> World {
    let world = World::new().with_github();
    world.ok(&["project", "update", "--pool-size", "6"]);
    fs::create_dir_all(world.path("home/gh")).unwrap();
    fs::write(world.path("home/gh/ada.permission"), "write").unwrap();
    let rule = |label: &str, workflow: &str| {
        format!(
            "[[intake]]\nlabel = '{label}'\nworkflow = '{workflow}'\nspawn = true\nmax_open = 5\nmax_per_day = 9\nbudget = {{starts = 40}}\n"
        )
    };
    let settings = rule("small", "pull-request") + &rule("big", "split");
    fs::write(world.repo().join("orange.toml"), settings).unwrap();
    world.ok(&["project", "trust", "--yes"]);
    for (number, (label, title)) in (1..).zip(ISSUES) {
        let event = json!({
            "__typename": "LabeledEvent", "id": format!("LE_{number}"), "createdAt": "2026-11-20T10:00:00Z",
            "actor": { "__typename": "User", "login": "ada" }, "label": { "name": label },
        });
        let issue = json!({
            "number": number, "title": title, "body": "Do it.", "state": "OPEN", "lastEditedAt": null,
            "url": format!("https://github.com/toys/toy/issues/{number}"),
            "author": { "__typename": "User", "login": "ada" },
            "blockedBy": { "pageInfo": { "hasNextPage": false }, "nodes": [] }, "timelineItems": { "nodes": [event] },
        });
        fs::write(world.path("home/gh").join(format!("{number}.labelled")), issue.to_string()).unwrap();
    }
    world
}

/// Looks of the monitor until this holds. Every second look is killed at a call of git or tmux, each time at a later one.
fn attended_until(world: &World, turn: &mut usize, what: &str, mut holds: impl FnMut() -> bool) {
    world.until(what, || {
        let call = *turn % 9 + 1;
        let moment = if turn.is_multiple_of(2) { KillMoment::Before } else { KillMoment::After };
        *turn += 1;
        for file in ["killed", "calls", "stopped", "go"] {
            fs::remove_file(world.path(file)).unwrap_or_default();
        }
        killed_in(world, "monitor --once", call, moment, &["monitor", "--once"]);
        // From now on, the programs stop nobody. They stay where they are, since agents run them at any moment.
        fs::write(world.path("killed"), "").unwrap();
        world.ok(&["monitor", "--once"]);
        holds()
    });
}

/// The task of an issue.
fn task_of<'w>(world: &'w World, number: usize) -> Option<Task<'w>> {
    let taken = world.ok(&["intake"])["taken"].clone();
    let of_issue = taken.as_array().unwrap().iter().find(|taken| taken["number"] == json!(number))?;
    of_issue["task"].as_str().map(|id| Task::new(world, id))
}

#[test]
fn labelled_issues_become_merged_work_whatever_is_killed() {
    let world = world();
    let mut turn = 0;
    attended_until(&world, &mut turn, "each issue has a task", || {
        (1..=ISSUES.len()).all(|number| task_of(&world, number).is_some())
    });
    let tasks: Vec<Task<'_>> = (1..=ISSUES.len()).map(|number| task_of(&world, number).unwrap()).collect();

    // Two agents split their tasks.
    for (task, parts) in [(&tasks[3], ["l1", "l2"]), (&tasks[4], ["r1", "r2"])] {
        let creates = parts.map(|part| {
            format!(
                "orange task create {part} 'Build {part} [agents: work pass]' >>\"$notes.answers\" 2>&1\n"
            )
        });
        let script = format!("write Plan 'Two parts'\n{}ask delegated\n", creates.concat());
        task.agent(1).begun();
        task.agent(1).tell(&script);
    }
    // One resolves a conflict.
    let file = format!("work-{}.txt", tasks[2].id);
    tasks[2].agent(3).tell(&format!(
        "git merge origin/main >/dev/null 2>&1 || git merge main >/dev/null 2>&1\n\
         echo both >{file}\ngit add {file}\ngit commit --quiet --message 'Resolve it'\n\
         write Handoff 'DONE: resolved'\nask agent-review\n"
    ));
    attended_until(&world, &mut turn, "three tasks have pull requests", || {
        tasks[..3].iter().all(|task| !task.events_of("pr.created").is_empty() && task.status() == "reviewing")
    });
    let number = |task: &Task<'_>| {
        let url = task.show()["pr_url"].as_str().unwrap().to_owned();
        url.rsplit('/').next().unwrap().parse::<u32>().unwrap()
    };
    set_checks_of(&world, number(&tasks[0]), "FAILURE");
    set_threads_of(&world, number(&tasks[1]), &[("T1", &[("ada", "Name it `toy`.")])]);
    fs::write(world.repo().join(&file), "written elsewhere\n").unwrap();
    world.git(&world.repo(), &["add", &file]);
    world.git(&world.repo(), &["commit", "--quiet", "--message", "The same file"]);
    world.git(&world.repo(), &["push", "--quiet", "origin", "main"]);
    attended_until(&world, &mut turn, "an agent mends the checks", || {
        !tasks[0].events_of("watch.taken").is_empty()
    });
    set_checks_of(&world, number(&tasks[0]), "SUCCESS");
    attended_until(&world, &mut turn, "each has been mended, and the halves are whole", || {
        let is_mended = tasks[..3].iter().all(|task| !task.events_of("watch.taken").is_empty());
        is_mended && tasks.iter().all(|task| task.status() == "reviewing")
    });
    for _ in 0..2 {
        attended_until(&world, &mut turn, "a look is over", || true);
    }
    for task in &tasks {
        assert_eq!((task.status().as_str(), task.show()["attention"].clone()), ("reviewing", Value::Null));
        task.ok("merge", &["--local", "--strategy", "squash"]);
        assert_eq!(task.status(), "done");
    }

    // Nothing is lost, and nothing is there twice. Checks that are red for a new commit, too, are another round.
    assert!(tasks[1..].iter().all(|task| task.events_of("watch.taken").len() == 1));
    let all = world.ok(&["task", "list", "--all"]);
    let all: Vec<Task<'_>> = all.as_array().unwrap().iter().map(|task| world.task(task)).collect();
    assert_eq!(all.len(), ISSUES.len() + 4);
    assert!(all.iter().all(|task| task.status() == "done"));
    let files = world.git(&world.repo(), &["ls-tree", "--name-only", "main"]);
    for task in &all {
        assert!(files.contains(&format!("work-{}.txt", task.id)), "{}: {files}", task.id);
        assert_eq!(task.events_of("task.merged").len(), 1, "{}", task.id);
    }
    let both = fs::read_to_string(world.repo().join(&file)).unwrap_or_default();
    assert!(both.contains("both"), "{both}");
    let subjects = world.git(&world.repo(), &["log", "--format=%s", "--first-parent", "main"]);
    for (_, title) in ISSUES {
        assert_eq!(subjects.lines().filter(|subject| *subject == title).count(), 1, "{subjects}");
    }
    for number in 1..=ISSUES.len() {
        let comments = fs::read_to_string(world.path("home/gh").join(format!("{number}.comments"))).unwrap();
        assert_eq!(comments.matches("orange:intake:LE_").count(), 1, "{comments}");
    }
    let requests = fs::read_dir(world.path("home/gh")).unwrap().flatten();
    let requests = requests.filter(|it| it.path().extension().is_some_and(|it| it == "pr")).count();
    assert_eq!(requests, 3);
}
