//! A hundred processes at once on one task: each transition has one winner, and the other processes get a true answer.

use std::process::{Child, Stdio};

use serde_json::Value;

use crate::said::ProgramOutput;
use crate::task::Task;
use crate::world::{World, binary};

const CROWD: usize = 100;

fn asking(world: &World, task: &Task<'_>, status: &str) -> Child {
    let mut command = world.command(binary());
    command.args(["--json", "task", "update", &task.id, "--status", status]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// All of them ask at once, each for one of these statuses; what they are answered.
fn ask_all(world: &World, task: &Task<'_>, statuses: &[&str]) -> Vec<(String, ProgramOutput)> {
    let wanted = statuses.iter().copied().cycle().take(CROWD);
    let asking: Vec<_> = wanted.map(|status| (status.to_owned(), asking(world, task, status))).collect();
    let end =
        |(status, child): (String, Child)| (status, ProgramOutput::from(child.wait_with_output().unwrap()));
    asking.into_iter().map(end).collect()
}

/// A worker has written its handoff, and asks for nothing.
fn ready(world: &World) -> Task<'_> {
    let task = world.create("fix", "Mend it [agents: hang hang hang hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    task.write("## Handoff\n\nDONE: all of it");
    task
}

/// The journal is whole, in order, and says what those who won were answered; the file says what the journal does.
#[track_caller]
fn check_record(task: &Task<'_>, answers: &[(String, ProgramOutput)], before: usize) {
    let events = task.events();
    assert!(events.iter().zip(1..).all(|(event, seq)| event["seq"] == seq));
    let arrow = |from: &Value, to: &Value| format!("{} → {}", from.as_str().unwrap(), to.as_str().unwrap());
    let granted = answers.iter().filter(|(_, said)| said.status == 0).map(|(_, said)| said.ok());
    let mut granted: Vec<_> = granted.map(|answer| arrow(&answer["from"], &answer["to"])).collect();
    let arrows = task.arrows().split_off(before);
    let mut journaled = arrows.clone();
    granted.sort();
    journaled.sort();
    assert_eq!(granted, journaled, "each that was granted is on record, once");
    let ends: Vec<_> = arrows.iter().map(|arrow| arrow.split_once(" → ").unwrap()).collect();
    assert!(ends.windows(2).all(|pair| pair[0].1 == pair[1].0), "{arrows:?}");

    let seen: Vec<_> = ends.iter().flat_map(|(from, to)| [*from, *to]).collect();
    for (wanted, said) in answers.iter().filter(|(_, said)| said.status != 0) {
        let error = &said.json()["error"];
        let refused =
            ["no_transition", "guard_failed", "gate_failed"].contains(&error["code"].as_str().unwrap());
        assert!(refused && said.status == 1, "{said:#?}");
        let message = error["message"].as_str().unwrap();
        assert!(
            seen.iter().any(|status| message.contains(status)) || message.contains("TASK.md"),
            "{wanted}: {message}"
        );
    }
    let text = std::fs::read_to_string(task.file()).unwrap();
    assert!(text.contains(&format!("\nstatus: {}\n", task.status())), "{text}");
    assert!(text.ends_with("DONE: all of it\n"), "{text}");
    assert_eq!(task.events_of("task.repaired"), [] as [Value; 0]);
}

#[test]
fn of_a_hundred_who_ask_for_one_status_one_is_granted() {
    let world = World::new();
    let task = ready(&world);
    let before = task.arrows().len();
    let answers = ask_all(&world, &task, &["agent-review"]);
    assert_eq!(task.arrows().len(), before + 1);
    check_record(&task, &answers, before);
    task.agent(2).begun();
    assert_eq!(task.events_of("agent.spawned").len(), 2);
    assert_eq!(world.panes(), ["toy/fix review-1"]);
    assert_eq!(task.owned("review_round"), 1);
}

#[test]
fn each_winner_of_a_hundred_requests_has_a_transition() {
    let world = World::new();
    let task = ready(&world);
    let before = task.arrows().len();
    let answers = ask_all(&world, &task, &["agent-review", "stuck", "reviewing", "cancelled"]);
    assert!(task.arrows().len() > before);
    check_record(&task, &answers, before);
    let spawned = task.events_of("agent.spawned").len();
    let reviews = task.arrows().iter().filter(|arrows| arrows.ends_with("→ agent-review")).count();
    assert!(spawned <= 1 + reviews && world.panes().len() <= 1, "{:?}", world.panes());
}

#[test]
fn of_many_who_create_one_branch_one_makes_a_task() {
    let world = World::new();
    let mut creating = Vec::new();
    for _ in 0..8 {
        let mut command = world.command(binary());
        command.args(["--json", "task", "create", "fix", "Mend it", "--no-spawn"]).current_dir(world.repo());
        creating.push(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    }
    let answers: Vec<_> =
        creating.into_iter().map(|child| ProgramOutput::from(child.wait_with_output().unwrap())).collect();
    let (made, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|said| said.status == 0);
    assert_eq!(made.len(), 1);
    let id = made[0].ok()["id"].as_str().unwrap().to_owned();
    for said in refused {
        assert!(said.fails(1, "refused").contains(&id));
    }
    assert_eq!(world.ok(&["task", "list", "--all"]).as_array().unwrap().len(), 1);
}

#[test]
fn of_many_who_take_one_branch_one_gets_it() {
    let world = World::new();
    let tasks: Vec<_> =
        (0..8).map(|number| world.create(&format!("fix-{number}"), "Mend it", &["--no-spawn"])).collect();
    let taking = tasks.iter().map(|task| {
        let mut command = world.command(binary());
        command.args(["--json", "task", "update", &task.id, "--branch", "fix"]).current_dir(world.repo());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    });
    let taking: Vec<_> = taking.collect();
    let answers: Vec<_> =
        taking.into_iter().map(|child| ProgramOutput::from(child.wait_with_output().unwrap())).collect();
    let (taken, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|said| said.status == 0);
    assert_eq!(taken.len(), 1, "{answers:?}");
    let id = taken[0].ok()["id"].as_str().unwrap().to_owned();
    for said in refused {
        assert!(said.fails(1, "refused").contains(&id));
    }
    assert_eq!(world.ok(&["task", "show", "fix"])["id"], id);
}

#[test]
fn waiting_for_a_lock_names_its_holder() {
    let world = World::new();
    let task = ready(&world);
    let lock = std::fs::File::options().write(true).open(task.folder().join(".lock")).unwrap();
    lock.lock().unwrap();
    std::fs::write(task.folder().join(".lock"), "4711\n2026-01-01T00:00:00.000Z\norange task merge\n")
        .unwrap();
    let mut command = world.command(binary());
    command.env("ORANGE_LOCK_TIMEOUT", "0.05");
    command.args(["--json", "task", "update", &task.id, "--status", "agent-review"]);
    let message = world.said(&mut command).fails(4, "locked");
    assert!(
        message.contains("process 4711 (`orange task merge`) since 2026-01-01T00:00:00.000Z"),
        "{message}"
    );
    assert_eq!(task.show()["status"], "working", "who only reads waits for nobody");
    command.env("ORANGE_LOCK_TIMEOUT", "soon");
    let message = world.said(&mut command).fails(5, "environment");
    assert!(message.contains("ORANGE_LOCK_TIMEOUT"), "{message}");
    drop(lock);
    task.ok("update", &["--status", "agent-review"]);
}
