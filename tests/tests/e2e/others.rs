//! Processes that an end leaves alone: other tasks' agents with their tools, and programs that people run themselves.

use std::process::{Child, Stdio};

use crate::agents::{harness, noted, wild};
use crate::task::{is_alive, kill};
use crate::world::World;

/// An agent with a tool in a session of its own, as a shared server of tools would be.
const WITH_TOOL: &str = "\
setsid sleep 1000000 >/dev/null 2>&1 & echo $! >$NOTES/tool-$ORANGE_TASK
echo $$ >$NOTES/agent-$ORANGE_TASK
exec sleep 1000000";

/// Something that a person runs in a folder: a coding agent of their own, or its server.
fn of_a_person(world: &World, folder: &std::path::Path) -> Child {
    let mut command = world.command("setsid");
    command.args(["sleep", "1000000"]).current_dir(folder).stdout(Stdio::null()).spawn().unwrap()
}

#[test]
fn cancel_leaves_other_tasks_and_people_alone() {
    let world = World::new();
    harness(&world, WITH_TOOL);
    let (first, second) = (wild(&world, "one", "Mend it"), wild(&world, "two", "Mend that"));
    let of = |what: &str, id: &str| noted(&world, &format!("{what}-{id}"));
    let all =
        [of("agent", &first.id), of("tool", &first.id), of("agent", &second.id), of("tool", &second.id)];
    assert!(all.into_iter().all(is_alive));
    let mut persons = [of_a_person(&world, &first.worktree()), of_a_person(&world, &world.repo())];
    let is_running = |person: &mut Child| person.try_wait().unwrap().is_none();

    first.ok("cancel", &["--yes"]);
    world.until("the first task's processes are gone", || !is_alive(all[0]) && !is_alive(all[1]));
    assert!(is_alive(all[2]) && is_alive(all[3]), "the second task's agent and its tool live on");
    assert!(persons.iter_mut().all(is_running), "what a person runs lives on");

    // The counterexample: what carries the mark of a task is ended with it, wherever it was started.
    let marked = persons[1].id();
    kill(marked.cast_signed());
    let mut other = world.command("setsid");
    let mut other = other.args(["sleep", "1000000"]).env("ORANGE_TASK", &second.id).spawn().unwrap();
    second.ok("cancel", &["--yes"]);
    world.until("what has its mark is gone", || !is_running(&mut other));
    assert!(is_running(&mut persons[0]));
    kill(persons[0].id().cast_signed());
    for mut person in persons {
        person.wait().unwrap();
    }
}
