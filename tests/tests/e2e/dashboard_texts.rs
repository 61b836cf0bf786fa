//! Texts of several lines on the dashboard, in a real terminal: typed, pasted, and written in an editor.

use std::fs;

use crate::activity::{event, reports};
use crate::attach::AttachedTerminal;
use crate::dashboard::{dashboard, shows_no};
use crate::missions;
use crate::sending::{hears, listening};
use crate::task::Task;
use crate::world::{World, target_program, write_program};

/// The only task of this world, as soon as it is there.
#[track_caller]
fn created(world: &World) -> Task<'_> {
    world.until("the task is there", || world.ok(&["task", "list"]).as_array().unwrap().len() == 1);
    world.task(&world.ok(&["task", "list"])[0])
}

#[track_caller]
fn has_context(task: &Task<'_>, expect: &str) {
    let text = fs::read_to_string(task.file()).unwrap();
    assert!(text.contains(&format!("## Context\n\n{expect}\n")), "{text}");
}

#[test]
fn three_lines_of_the_form_are_three_lines_of_the_task() {
    let world = World::new();
    let terminal = dashboard(&world, "dashboard");
    terminal.press(&["c"]);
    terminal.shows("A new task");
    // A branch is made from the summary.
    terminal.press(&["Tab", "Refactor [agents: hang]", "Tab", "one", "Enter", "two", "Enter", "three"]);
    terminal.shows("three");
    terminal.press(&["C-s"]);
    let task = created(&world);
    has_context(&task, "one\ntwo\nthree");
    assert_eq!(task.show()["branch"], "refactor-agents-hang");
    terminal.shows("✓ create a task");
    shows_no(&world, &terminal, "A new task");
}

#[test]
fn a_refused_form_stays_with_its_lines() {
    let world = World::new();
    let terminal = dashboard(&world, "dashboard");
    terminal.press(&["c"]);
    terminal.shows("A new task");
    terminal.press(&["main", "Tab", "Mend it [agents: hang]", "Tab", "one", "Enter", "two", "C-s"]);
    terminal.shows("main is the default branch");
    let screen = terminal.shows("A new task");
    assert!(screen.contains("Mend it") && screen.contains("two"), "{screen}");
    terminal.press(&["Up", "Up", "Up", "C-u", "fix", "Enter"]);
    let task = created(&world);
    has_context(&task, "one\ntwo");
    assert_eq!(task.show()["branch"], "fix");
}

#[test]
fn a_pasted_text_arrives_whole() {
    let world = World::new();
    let (task, heard) = listening(&world);
    task.reaches("working");
    for name in ["SessionStart", "UserPromptSubmit", "Stop"] {
        reports(&task, &event(name));
    }
    let terminal = dashboard(&world, "dashboard");
    terminal.shows("s send");
    terminal.press(&["s"]);
    terminal.shows("send fix?");
    terminal.paste("first\n\n\tthird 漢字\nlast");
    terminal.shows("last");
    terminal.press(&["!", "C-s"]);
    hears(&world, &heard, "first\n\n\tthird 漢字\nlast!".as_bytes());
    terminal.shows("✓ send fix");
}

/// A terminal with the dashboard, whose person has an editor that runs this script.
fn with_editor<'w>(world: &'w World, script: &str) -> AttachedTerminal<'w> {
    target_program("orange-dashboard");
    write_program(&world.path("agents/editor"), &format!("#!/bin/sh\n{script}\n"));
    let terminal = AttachedTerminal::plain(
        world,
        "export TERM=xterm-256color VISUAL= EDITOR='editor --wait'; orange dashboard",
    );
    terminal.shows("NEEDS YOU");
    terminal
}

#[test]
fn an_editor_writes_a_text_and_gives_the_terminal_back() {
    let world = World::new();
    let go_on = world.path("go-on");
    let script = format!(
        "[ \"$1\" = --wait ] || exit 1; echo \"EDITS $(cat \"$2\")\" >&2
        while ! [ -e {} ]; do sleep 0.02; done; printf 'two\\nthree\\n' >>\"$2\"",
        go_on.display()
    );
    let terminal = with_editor(&world, &script);
    terminal.press(&["c"]);
    terminal.shows("A new task");
    terminal.press(&["fix", "Tab", "Mend it [agents: hang]", "Tab", "one", "C-e"]);
    let screen = terminal.shows("EDITS one");
    assert!(!screen.contains("A new task"), "the editor has the terminal: {screen}");
    fs::write(go_on, "").unwrap();
    let screen = terminal.shows("three");
    assert!(screen.contains("A new task") && screen.contains("NEEDS YOU"), "{screen}");
    terminal.press(&["C-s"]);
    has_context(&created(&world), "one\ntwo\nthree");
}

#[test]
fn an_editor_that_fails_takes_no_text() {
    let world = World::new();
    let terminal = with_editor(&world, "echo lost >\"$2\"; exit 3");
    terminal.press(&["c"]);
    terminal.shows("A new task");
    terminal.press(&["fix", "Tab", "Mend it [agents: hang]", "Tab", "one", "C-e"]);
    let screen = terminal.shows("`editor --wait` has failed");
    assert!(screen.contains("A new task") && !screen.contains("lost"), "{screen}");
    terminal.press(&["C-s"]);
    has_context(&created(&world), "one");
}

#[test]
fn a_form_whose_workflow_has_steps_starts_a_mission() {
    let world = missions::world();
    let terminal = dashboard(&world, "dashboard");
    terminal.press(&["c"]);
    terminal.shows("A new task");
    terminal.press(&["Tab", "Tab", "Tab"]);
    terminal.shows("workflow   ‹");
    // The names of the workflows may come later than the key.
    world.until("a workflow with steps is chosen", || {
        terminal.press(&["Left", "Tab"]);
        shows_no(&world, &terminal, "workflow   ‹");
        let is_chosen = terminal.screen().contains("A new mission");
        terminal.press(&["BTab"]);
        terminal.shows("workflow   ‹");
        is_chosen
    });
    terminal.press(&["BTab", "Add a form", "Enter", "and its tests", "C-s"]);
    let listed = || world.ok(&["mission", "list"]).as_array().unwrap().clone();
    world.until("the mission is there", || !listed().is_empty());
    let shown = world.ok(&["mission", "show", listed()[0]["id"].as_str().unwrap()]);
    assert_eq!(shown["prompt"], "Add a form\nand its tests");
}
