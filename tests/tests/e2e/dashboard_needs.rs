//! Each need that a person answers on the dashboard, in a real terminal.

use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::activity::{event, reports};
use crate::attach::AttachedTerminal;
use crate::dashboard::{Stops, dashboard, kill, orders, processes, shows_no};
use crate::task::Task;
use crate::world::World;
use crate::{hooks, missions};

#[test]
fn an_idle_agent_gets_a_text() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: scripted]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    for name in ["SessionStart", "UserPromptSubmit", "Stop"] {
        reports(&task, &event(name));
    }
    let terminal = dashboard(&world, "dashboard");
    terminal.shows("at its prompt");
    terminal.press(&["s"]);
    terminal.shows("send fix?");
    terminal.press(&["Write the handoff", "C-s"]);
    task.has_events(1, "agent.sent");
    assert_eq!(task.events_of("agent.sent")[0]["text"], "Write the handoff");
    terminal.shows("✓ send fix");
}

#[test]
fn a_mission_shows_its_agent_and_its_pause_is_answered() {
    let world = missions::world();
    let fails = "orange step fail --reason 'no network' >>\"$notes.answers\" 2>&1; exec sleep 1000000";
    let script = format!(
        "echo 'I build it'; echo work >work.txt; while ! [ -e {} ]; do sleep 0.02; done; {fails}",
        world.path("go-on").display()
    );
    world.acts("build", &script);
    let mission = world.start("toy", &["--intervene", "on-error"]);
    let terminal = dashboard(&world, "dashboard");
    terminal.shows("I build it");
    terminal.press(&["2"]);
    terminal.shows("work.txt");
    terminal.press(&["4"]);
    terminal.shows("● build");
    fs::write(world.path("go-on"), "").unwrap();
    mission.has_events(1, "mission.paused");
    mission.is_left();
    terminal.shows("‖ it pauses at build");
    terminal.shows("A accept the failure");
    orders(&world, &terminal, "A", || terminal.screen().contains("r retry"));
    missions::ends(&mission, "failed");
    orders(&world, &terminal, "r", || !mission.events_of("mission.retried").is_empty());
}

/// A task whose reviewer is content, on a dashboard.
fn reviewed(world: &World) -> (Task<'_>, AttachedTerminal<'_>) {
    let task = world.create("fix", "Mend it [agents: work pass hang]", &[]);
    task.reaches("reviewing");
    let terminal = dashboard(world, "dashboard");
    terminal.shows("review PASS");
    (task, terminal)
}

#[test]
fn work_in_conflict_goes_back_to_its_worker() {
    let world = World::new();
    let (task, terminal) = reviewed(&world);
    let own = format!("work-{}.txt", task.id);
    fs::write(world.repo().join(&own), "something else\n").unwrap();
    world.git(&world.repo(), &["add", &own]);
    world.git(&world.repo(), &["commit", "--quiet", "--message", "In the way"]);
    world.git(&world.repo(), &["push", "--quiet", "origin", "main"]);
    // The repository is not a journal: what git knows shows with the next change of a task.
    world.create("other", "Mend that", &["--no-spawn"]);
    terminal.shows("conflict");
    terminal.press(&["r"]);
    terminal.shows("what is to change");
    terminal.press(&["Rebase it", "C-s"]);
    task.agent(3).begun();
    assert!(fs::read_to_string(task.file()).unwrap().contains("Rebase it"));
}

#[test]
fn work_with_red_checks_goes_back_to_its_worker() {
    let world = World::new().with_github();
    let (task, terminal) = reviewed(&world);
    terminal.shows("p create PR");
    let opened = "✓ create PR fix: https://github.com/toys/toy/pull/1";
    orders(&world, &terminal, "p", || terminal.screen().contains(opened));
    fs::write(world.path("home/gh/1.checks"), r#"[{"status":"COMPLETED","conclusion":"FAILURE"}]"#).unwrap();
    terminal.shows("R refresh PR");
    orders(&world, &terminal, "R", || terminal.screen().contains("its checks have changed"));
    terminal.shows("checks red");
    terminal.press(&["r"]);
    terminal.shows("what is to change");
    terminal.press(&["Mend the test", "C-s"]);
    task.agent(3).begun();
}

#[test]
fn hooks_that_have_failed_run_again() {
    let world = World::new().with_github();
    let task = hooks::working(&world, "hang");
    let terminal = dashboard(&world, "dashboard");
    task.ok("update", &["--status", "reviewing"]);
    terminal.shows("hook failed");
    terminal.shows("r retry hooks");
    hooks::mend(&world);
    orders(&world, &terminal, "r", || task.show()["hooks_waiting"] == json!(null));
    task.reaches("reviewing");
}

#[test]
fn a_hundred_tasks_that_change_leave_keys_alone() {
    const TASKS: usize = 100;
    let world = World::new();
    let task = world.create("t00", "Mend number 00", &["--no-spawn"]);
    let read = |file: &str| fs::read_to_string(task.folder().join(file)).unwrap();
    let (journal, text) = (read("history.jsonl"), read("TASK.md"));
    let id = |number: usize| format!("{}{number:02}", &task.id[..task.id.len() - 2]);
    let folder = |number: usize| task.folder().with_file_name(id(number));
    fs::remove_dir_all(task.folder()).unwrap();
    for number in 0..TASKS {
        fs::create_dir(folder(number)).unwrap();
        let own = |text: &str| {
            let named =
                text.replace("t00", &format!("t{number:02}")).replace("r 00", &format!("r {number:02}"));
            named.replace(&task.id, &id(number))
        };
        fs::write(folder(number).join("history.jsonl"), own(&journal)).unwrap();
        fs::write(folder(number).join("TASK.md"), own(&text)).unwrap();
    }
    assert_eq!(world.ok(&["task", "list"]).as_array().unwrap().len(), TASKS);
    let terminal = dashboard(&world, "dashboard");
    terminal.shows(&format!("queued {TASKS}"));
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for count in 0.. {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let (number, seq) = (count % TASKS, 2 + count / TASKS);
                let event = json!({"seq": seq, "timestamp": "2026-11-26T01:00:00.000Z", "type": "command.ended",
                    "argv": ["true"], "code": 0, "output": "", "file": null});
                let mut file =
                    fs::OpenOptions::new().append(true).open(folder(number).join("history.jsonl")).unwrap();
                file.write_all(format!("{event}\n").as_bytes()).unwrap();
                // A hundred changes a second.
                thread::sleep(Duration::from_millis(10));
            }
        });
        let _stops = Stops(&stop);
        terminal.press(&["G", "?"]);
        terminal.shows("the next need");
        terminal.press(&["x", "/", "number 37", "Enter"]);
        shows_no(&world, &terminal, "t99");
        terminal.shows("t37");
        terminal.press(&["5"]);
        terminal.shows("command.ended");
        terminal.press(&["q"]);
        terminal.shows("LEFT 0");
    });
}

#[test]
fn a_stop_gives_the_terminal_back_until_it_continues() {
    let world = World::new();
    world.create("fix", "Mend it", &["--no-spawn"]);
    let terminal = dashboard(&world, "dashboard");
    terminal.shows("fix");
    terminal.press(&["C-z"]);
    let is_stopped = || {
        let pid = processes(&world, "orange-dashboard").pop().unwrap();
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit(") ").next().unwrap().starts_with('T')
    };
    world.until("it is stopped", is_stopped);
    shows_no(&world, &terminal, "NEEDS YOU");
    kill(&world, "CONT", &processes(&world, "orange-dashboard"));
    terminal.shows("NEEDS YOU");
    terminal.press(&["?"]);
    terminal.shows("the next need");
    terminal.press(&["x", "q"]);
    terminal.shows("LEFT 0");
}

#[test]
fn no_colour_is_written_where_none_is_wanted() {
    let world = World::new();
    world.create("fix", "Mend it", &["--no-spawn"]);
    for (variable, expect) in [("", true), ("NO_COLOR=1 ", false)] {
        let script = format!("export TERM=xterm-256color; printf GO; read line; {variable}orange dashboard");
        let terminal = AttachedTerminal::plain(&world, &script);
        terminal.shows("GO");
        let recorded = terminal.recorded();
        terminal.press(&["Enter"]);
        terminal.shows("NEEDS YOU");
        terminal.press(&["?"]);
        terminal.shows("the next need");
        let bytes = fs::read_to_string(&recorded).unwrap();
        let sets = |sequence: &str| bytes.contains(sequence);
        let colours = ["\u{1b}[38;", "\u{1b}[48;", "\u{1b}[31", "\u{1b}[36"];
        assert_eq!(colours.into_iter().any(sets), expect, "{variable}");
        terminal.press(&["x", "q"]);
        terminal.shows("LEFT 0");
    }
}
