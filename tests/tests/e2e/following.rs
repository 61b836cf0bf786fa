//! Commands with which scripts and people look on: wait, watch, log, lists on a terminal, completions.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use crate::activity::{event, reports};
use crate::answers;
use crate::task::Task;
use crate::world::{World, write_program};

/// Starts `orange …` and leaves it running.
pub(crate) fn begin(world: &World, args: &[&str]) -> Child {
    let mut command = world.command(world.program);
    command.args(args).current_dir(world.repo()).stdout(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_wait_ends_when_status_and_hooks_are_done() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &["--no-spawn"]);
    let waits =
        begin(&world, &["task", "wait", "fix", "--status", "reviewing", "--status", "working", "--json"]);
    task.ok("spawn", &[]);
    let said: Value = serde_json::from_slice(&waits.wait_with_output().unwrap().stdout).unwrap();
    answers::check(&["task", "wait"], &said);
    assert!(["working", "reviewing"].contains(&said["status"].as_str().unwrap()), "{said}");
    world.ok(&["task", "wait", "fix", "--status", "reviewing", "--timeout", "60"]);
}

#[test]
fn a_wait_says_why_it_gives_up() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &["--no-spawn"]);
    let late = world.fails(1, "timed_out", &["task", "wait", "fix", "--status", "done", "--timeout", "0"]);
    assert!(late.contains("still pending after 0 s"), "{late}");
    // An agent may be in the middle of writing the file: the journal says all that is asked.
    let good = fs::read(task.file()).unwrap();
    fs::write(task.file(), "").unwrap();
    world.fails(1, "timed_out", &["task", "wait", "fix", "--status", "done", "--timeout", "0"]);
    fs::write(task.file(), good).unwrap();
    world.fails(3, "not_found", &["task", "wait", "fix", "--status", "dome"]);
    world.fails(2, "usage", &["task", "wait", "fix"]);
    task.ok("cancel", &["--yes"]);
    let never = world.fails(1, "refused", &["task", "wait", "fix", "--status", "done"]);
    assert!(never.contains("can no longer reach done"), "{never}");
    world.ok(&["task", "wait", "fix", "--status", "cancelled"]);
}

/// The lines that a program writes, as they come.
pub(crate) fn lines(child: &mut Child) -> Receiver<String> {
    let (sender, received) = channel();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
    received
}

/// Makes something happen to the task that its journal tells of.
pub(crate) fn stir(task: &Task<'_>) {
    let text = fs::read_to_string(task.file()).unwrap();
    fs::write(task.file(), text.replace("status: pending", "status: done")).unwrap();
    task.ok("update", &["--summary", "Mend it, please"]);
}

#[test]
fn a_watch_prints_each_event_and_ends_with_the_task() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &["--no-spawn"]);
    let mut watches =
        [begin(&world, &["task", "watch", "fix", "--json"]), begin(&world, &["task", "watch", "--verbose"])];
    let [one, all] = watches.each_mut().map(lines);
    // A watch tells what comes after its own beginning, whenever that is.
    for lines in [&one, &all] {
        world.until("the watch has begun", || {
            stir(&task);
            lines.try_recv().is_ok_and(|line| line.contains("task.repaired"))
        });
    }
    task.ok("cancel", &["--yes"]);
    let events: Vec<Value> = one.iter().map(|line| serde_json::from_str(&line).unwrap()).collect();
    assert!(watches[0].wait().unwrap().success());
    events.iter().for_each(|event| answers::check(&["task", "watch"], event));
    assert_eq!(events.last().unwrap()["type"], "status.changed");
    assert!(events.iter().all(|event| event["task"] == json!(task.id)), "{events:?}");
    assert!(all.iter().any(|line| line.contains(" fix status.changed  from=pending to=cancelled")));

    // A new task is printed from its beginning; a watch ends when nobody reads it.
    world.create("other", "Mend that", &["--no-spawn"]);
    assert!(all.iter().any(|line| line.contains("task.created  actor=human branch=other")));
    drop(all);
    let other = world.task(&world.ok(&["task", "show", "other"]));
    world.until("the watch has ended", || {
        stir(&other);
        watches[1].try_wait().unwrap().is_some()
    });
}

#[test]
fn a_watch_prints_what_matters_by_branch() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    let mut watch = begin(&world, &["task", "watch", "fix"]);
    let lines = lines(&mut watch);
    let mut found = String::new();
    world.until("what is needed is printed", || {
        reports(&task, &event("UserPromptSubmit"));
        reports(&task, &event("Stop"));
        found.extend(lines.try_iter().map(|line| format!("{line}\n")));
        found.contains(" fix needs you, idle-without-artifact: agent 1 is at its prompt")
    });
    task.ok("cancel", &["--yes"]);
    found.extend(lines.iter().map(|line| format!("{line}\n")));
    assert!(watch.wait().unwrap().success());
    assert!(found.contains(" fix status.changed  from=working to=cancelled"), "{found}");
    assert!(!found.contains("hook.ended") && !found.contains("transition.started"), "{found}");
}

#[test]
fn the_log_has_what_nobody_was_there_to_read() {
    let world = World::new();
    assert_eq!(world.ok(&["log"]), json!([]));
    let task = world.create("fix", "Mend it [agents: crash hang]", &[]);
    world.until("the agent's end is in the log", || {
        !world.ok(&["log", "--component", "agent"]).as_array().unwrap().is_empty()
    });
    let line = &world.ok(&["log", "--component", "agent", "--lines", "1"])[0];
    assert_eq!(line["level"], "info");
    assert!(line["message"].as_str().unwrap().contains(&task.id), "{line}");
    let said = world.orange(&["log", "--grep", &task.id]);
    assert!(said.out.contains(" info agent: "), "{said:?}");
    assert_eq!(world.ok(&["log", "--level", "error"]), json!([]));

    let crash = "thread 'main' panicked: index out of bounds\n";
    let log = world.home().join("orange.log");
    fs::write(&log, format!("{}{crash}", fs::read_to_string(&log).unwrap())).unwrap();
    assert_eq!(world.ok(&["log", "--level", "error", "--lines", "1"])[0]["message"], crash.trim());
    world.fails(2, "usage", &["log", "--level", "loud"]);

    let line = "2026-01-01T00:00:00.000Z info agent: it was long\n";
    fs::write(&log, line.repeat(9 * 1024 * 1024 / line.len())).unwrap();
    // A completion that fails writes the line that makes the log too long.
    fs::write(world.home().join("projects.json"), "no JSON").unwrap();
    world.orange(&["complete", "--", "task", "list", "--project", ""]);
    assert!(!log.exists() && world.home().join("orange.old.log").exists());
    let last = world.ok(&["log", "--lines", "2"]);
    assert_eq!((&last[0]["message"], &last[1]["component"]), (&json!("it was long"), &json!("complete")));
}

#[test]
fn a_list_fits_its_terminal() {
    let world = World::new();
    let summary = "日本語 and a great many words ".repeat(9);
    world.create("a-branch-with-quite-a-long-name", &summary, &["--no-spawn"]);
    let (shown, done) = (world.path("shown"), world.path("done"));
    let script = format!(
        "stty cols 83; {} task list > /dev/tty; {} task list > {}; touch {}; sleep 1000000",
        world.program.display(),
        world.program.display(),
        shown.display(),
        done.display()
    );
    let mut start = world.command("tmux");
    start.arg("-S").arg(world.path("tmux")).args([
        "new-session",
        "-d",
        "-x",
        "83",
        "-y",
        "20",
        "-s",
        "look",
        "--",
        "sh",
        "-c",
        &script,
    ]);
    assert!(start.status().unwrap().success());
    world.until("the list is there", || done.exists());
    let pane = world.tmux(&["capture-pane", "-p", "-t", "=look:"]);
    let pane = crate::world::text(&pane.stdout);
    let rows: Vec<_> = pane.lines().filter(|line| !line.is_empty()).collect();
    let [header, row] = rows[..] else { panic!("{pane}") };
    assert!(header.starts_with("NEED ") && row.contains("日本語") && row.ends_with('…'), "{pane}");
    // To a file, it is the same lines wherever one stands, but for the age of the task.
    let piped = fs::read_to_string(shown).unwrap();
    assert_eq!(without_age(&piped), without_age(&world.orange(&["task", "list"]).out));
    assert!(piped.lines().nth(1).unwrap().chars().count() > row.chars().count());
}

/// The cells of a list, without the second one of each line.
fn without_age(list: &str) -> Vec<Vec<&str>> {
    let cells = |line| <str>::split(line, "  ").map(str::trim).filter(|cell| !cell.is_empty());
    list.lines()
        .map(|line| cells(line).enumerate().filter(|(at, _)| *at != 1).map(|it| it.1).collect())
        .collect()
}

#[test]
fn an_error_while_completing_is_in_the_log() {
    let world = World::new();
    world.create("fix", "Mend it", &["--no-spawn"]);
    fs::write(world.home().join("harnesses.toml"), "[claude]\nbinary = 1\n").unwrap();
    let said = world.orange(&["complete", "--", "task", "create", "--harness", ""]);
    assert_eq!((said.out.as_str(), said.err.as_str(), said.status), ("", "", 0));
    let log = world.ok(&["log", "--component", "complete"]);
    let message = log[0]["message"].as_str().unwrap();
    assert!(message.contains("harnesses.toml:2: `binary` is the name or path of a program"), "{message}");
    let said = world.orange(&["complete", "--", "task", "show", "fi"]);
    assert_eq!(said.out, "fix\tMend it\n", "other names are offered");
}

#[test]
fn bash_completes_commands_options_tasks_and_statuses() {
    let world = World::new();
    let task = world.create("fix-login", "Mend it", &["--no-spawn"]);
    world.create("fix@2", "Mend it again", &["--no-spawn"]);
    world.create("it's(odd)", "Mend * all", &["--no-spawn"]);
    let check = |words: &str, expect: &[&str]| {
        let script = format!(
            "source <({0} completions bash) && compopt() {{ COMPREPLY+=(\"$*\"); }} && COMP_WORDS=({0} {words}) && COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)) \
             && _orange && printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            world.program.display()
        );
        let said =
            world.said(world.command("bash").args(["--norc", "-c", &script]).current_dir(world.repo()));
        assert_eq!(
            (said.out.lines().collect::<Vec<_>>().as_slice(), said.err.as_str()),
            (expect, ""),
            "{words}"
        );
    };
    check("task upd", &["update"]);
    check("task update --dr", &["--dry-run"]);
    check("task update --status agent", &["agent-review"]);
    check("task update --status = agent", &["agent-review"]);
    check(
        "task update fix-login --status = ''",
        &["pending", "clarification", "working", "agent-review", "reviewing", "stuck", "done", "cancelled"],
    );
    check("task show fix", &["fix-login", "fix@2"]);
    check("task show fix@", &["@2"]);
    check("task show fix @ 2", &["@2"]);
    check("task show '\"fix-l'", &["fix-login"]);
    check("task update '\"fix-login\"' --status can", &["cancelled"]);
    check("task create fix 'Fix :' --no", &["--no-spawn"]);
    check("task show it", &["it\\'s\\(odd\\)"]);
    check("task show \\'it", &[""]);
    check("project add ''", &["-o default"]);
    check("project update toy --path = ''", &["-o default"]);
    check(&format!("task show {}", &task.id[..20]), &[&task.id]);
    check("task create --workflow mini", &["minimal"]);
    check("project update t", &["toy"]);
}

/// A monitor is left running for weeks: what it keeps from one look to the next must not add up, and a look must cost as
/// little with many sessions as with few.
#[test]
fn a_monitor_asks_tmux_once_a_look_and_does_not_grow() {
    let world = World::new();
    for number in 0..10 {
        world.create(&format!("waits-{number}"), "Wait", &["--no-spawn"]);
    }
    for branch in ["one", "two"] {
        world.create(branch, "Mend it [agents: hang]", &[]).agent(1).begun();
    }
    let calls = world.path("calls");
    let counting =
        format!("#!/bin/sh\necho >> {}\nexec {} \"$@\"\n", calls.display(), world.find("tmux").display());
    write_program(&world.path("agents/tmux"), &counting);

    // Before its first look.
    let started = std::time::Instant::now();
    let mut monitor = begin(&world, &["monitor", "--interval", "1"]);
    let called = || fs::read(&calls).map_or(0, |calls| calls.len());
    // `status` would have the same figure, but only roughly: each processor adds up its own part before it tells.
    let resident = || {
        let rollup = fs::read_to_string(format!("/proc/{}/smaps_rollup", monitor.id())).unwrap();
        let line = rollup.lines().find(|line| line.starts_with("Anonymous:")).unwrap().to_owned();
        line.split_whitespace().nth(1).unwrap().parse::<u32>().unwrap()
    };
    world.until("it has looked three times", || called() >= 3);
    let before = resident();
    world.until("it has looked five times more", || called() >= 8);
    let (after, calls) = (resident(), called());
    let looks = started.elapsed().as_secs() as usize + 1;
    assert!(calls <= looks, "{calls} calls of tmux in at most {looks} looks");
    assert!(after <= before + 256, "from {before} KiB to {after} KiB");
    monitor.kill().unwrap();
    monitor.wait().unwrap();
}
