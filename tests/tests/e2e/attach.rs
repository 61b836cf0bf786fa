//! `orange task attach`, on a terminal that a person sits at: a pane of another tmux.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::missions;
use crate::task::is_alive;
use crate::world::{World, text};

/// A terminal, with what runs on it.
pub(crate) struct AttachedTerminal<'w> {
    world: &'w World,
    socket: PathBuf,
}

impl<'w> AttachedTerminal<'w> {
    /// One that is in no tmux, and runs this script of the shell, in which `orange` is ours.
    pub(crate) fn plain(world: &'w World, script: &str) -> AttachedTerminal<'w> {
        AttachedTerminal::inside(world, &format!("unset TMUX TMUX_PANE; {script}"))
    }

    /// A terminal inside a tmux of the person's own.
    fn inside(world: &'w World, script: &str) -> AttachedTerminal<'w> {
        // One server for each: the one before may not have ended yet.
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let terminal = AttachedTerminal { world, socket: world.path(&format!("persons-tmux-{number}")) };
        let orange = format!("orange() {{ {} \"$@\"; }}", world.program.display());
        // A killed program leaves the terminal raw and the cursor anywhere: without a return, the words may be cut by the edge.
        let script = format!("{orange}; {script}; printf '\\r\\nLEFT %s\\r\\n' $?; exec sleep 1000000");
        terminal.tmux(&["new-session", "-d", "-x", "120", "-y", "30", "-s", "person", &script]);
        terminal
    }

    fn tmux(&self, args: &[&str]) -> String {
        let mut command = self.world.command("tmux");
        command.arg("-S").arg(&self.socket).args(["-f", "/dev/null"]).args(args);
        text(&command.current_dir(self.world.repo()).output().unwrap().stdout)
    }

    pub(crate) fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-t", "=person:"])
    }

    #[track_caller]
    pub(crate) fn shows(&self, what: &str) -> String {
        let mut screen = String::new();
        let until = format!("the terminal shows {what:?}");
        self.world.until(&until, || {
            screen = self.screen();
            screen.contains(what)
        });
        screen
    }

    /// Gives it another size.
    pub(crate) fn resize(&self, columns: u32, lines: u32) {
        let [columns, lines] = [columns, lines].map(|it| it.to_string());
        self.tmux(&["resize-window", "-t", "=person:", "-x", &columns, "-y", &lines]);
    }

    /// Takes it away from its programs.
    pub(crate) fn kill(&self) {
        self.tmux(&["kill-server"]);
    }

    /// The file with what the terminal is sent from now on, byte for byte.
    pub(crate) fn recorded(&self) -> PathBuf {
        let file = self.socket.with_extension("recorded");
        self.tmux(&["pipe-pane", "-t", "=person:", &format!("exec cat >'{}'", file.display())]);
        self.world.until("the terminal is recorded", || file.exists());
        file
    }

    pub(crate) fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys", "-t", "=person:"], keys].concat());
    }
}

impl AttachedTerminal<'_> {
    /// Pastes a text, as a terminal does for a program that asks for brackets around it.
    pub(crate) fn paste(&self, text: &str) {
        self.tmux(&["set-buffer", "--", text]);
        self.tmux(&["paste-buffer", "-p", "-t", "=person:"]);
    }
}

impl Drop for AttachedTerminal<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- the terminal\n{}", self.screen().trim_end());
        }
        self.tmux(&["kill-server"]);
    }
}

const LONG: &str = "a-branch-whose-name-is-much-longer-than-a-status-line-has-room-for";

#[test]
fn it_names_the_branch_and_the_keys_that_detach() {
    let world = World::new();
    let task = world.create(LONG, "Mend it [agents: hang]", &[]);
    let agent = task.agent(1).begun();
    // Into a file, since tmux drops what its terminal has not read when it begins.
    let output = world.path("attach-output");
    let script = format!("orange task attach {LONG} >{}", output.display());
    let terminal = AttachedTerminal::plain(&world, &script);
    let screen = terminal.shows("C-b d: detach");
    assert!(screen.contains(&format!("[toy/{LONG}]")), "{screen}");
    terminal.press(&["C-b", "d"]);
    terminal.shows("LEFT 0");
    let output = fs::read_to_string(output).unwrap();
    assert!(output.starts_with(&format!("{LONG} (working): C-b d detaches\n")), "{output}");
    assert!(
        output.ends_with("the agent goes on; `orange` alone shows what needs you\n") && is_alive(agent),
        "{output}"
    );
}

#[test]
fn inside_another_tmux_the_prefix_is_pressed_twice() {
    let world = World::new();
    let task = world.create(LONG, "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    let terminal = AttachedTerminal::inside(&world, "orange task attach");
    // There is no worktree here to tell which task is meant.
    terminal.shows("LEFT 2");
    drop(terminal);
    let terminal = AttachedTerminal::inside(&world, &format!("orange task attach {LONG}"));
    let screen = terminal.shows("C-b C-b d: detach");
    assert!(screen.contains(&format!("[toy/{LONG}]")), "{screen}");
    terminal.press(&["C-b", "d"]);
    terminal.shows("LEFT 0");
    drop(terminal);
    // With another prefix than the person's, it is pressed once.
    world.tmux(&["set-option", "-g", "prefix", "C-a"]);
    let terminal = AttachedTerminal::inside(&world, &format!("orange task attach {LONG}"));
    terminal.shows(" C-a d: detach");
}

#[test]
fn it_follows_the_task_from_agent_to_agent() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    let terminal = AttachedTerminal::plain(&world, "orange task attach fix");
    terminal.shows("0:worker*");
    task.write("## Handoff\n\nDONE: all of it");
    task.ok("update", &["--status", "agent-review"]);
    terminal.shows("0:review-1*");

    task.write("## Review\n\nVerdict: PASS");
    task.ok("update", &["--status", "reviewing"]);
    let screen = terminal.shows("LEFT 0");
    assert!(screen.contains("Agent 2 (reviewer) has ended: killed."), "{screen}");
    assert!(screen.contains("fix is reviewing."), "{screen}");
    assert!(screen.contains(&format!("orange task merge {}", task.name())), "{screen}");
    assert!(!screen.contains("respawn"), "nothing starts again in reviewing: {screen}");
}

#[test]
fn it_follows_a_mission_from_step_to_step() {
    let world = missions::world();
    let until =
        |file: &str, then: &str| format!("until [ -e \"$ORANGE_HOME/{file}\" ]; do sleep 0.05; done; {then}");
    world.acts("build", &until("one", "complete PASS built"));
    world.acts("check", &until("two", "orange step fail --reason 'no tests'; exec sleep 1000000"));
    let mission = world.start("toy", &["--branch", "fast"]);
    mission.agent(1).begun();
    let terminal = AttachedTerminal::plain(&world, "orange mission attach fast");
    terminal.shows("0:build-1*");
    fs::write(world.home().join("one"), "").unwrap();
    terminal.shows("0:check-1*");
    fs::write(world.home().join("two"), "").unwrap();
    let screen = terminal.shows("LEFT 0");
    assert!(screen.contains("Agent 2 (step check, reviewer) has ended: killed."), "{screen}");
    assert!(screen.contains("fast is paused."), "{screen}");
    assert!(screen.contains(&format!("orange mission continue {} --pause 1", mission.name())), "{screen}");
    let refused = mission.fails(1, "refused", "attach", &[]);
    assert!(refused.contains("no agent of fast is there: it is paused"), "{refused}");
    assert!(refused.contains(&format!("orange mission cancel {}", mission.name())), "{refused}");
}

#[test]
fn it_follows_a_restart() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang hang]", &[]);
    let first = task.agent(1).begun();
    let terminal = AttachedTerminal::plain(&world, "orange task attach fix");
    terminal.shows("0:worker*");
    task.ok("restart", &[]);
    let second = task.agent(2).begun();
    world.until("the terminal shows the second", || {
        world.tmux(&["list-clients", "-F", "#{client_session}"]).stdout == b"toy/fix\n"
    });
    assert!(!is_alive(first) && is_alive(second));
    assert!(!terminal.screen().contains("LEFT"));
}

#[test]
fn it_says_why_the_agent_ended_and_what_can_be_done() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: scripted scripted]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    let terminal = AttachedTerminal::plain(&world, "orange task attach fix");
    terminal.shows("0:worker*");
    task.agent(1).tell("exit 3");
    let screen = terminal.shows("LEFT 0");
    assert!(screen.contains("Agent 1 (worker) has ended: exited with 3."), "{screen}");
    assert!(screen.contains("fix is working."), "{screen}");
    assert!(screen.contains(&format!("orange task respawn {}", task.name())), "{screen}");
    assert!(screen.contains(&format!("orange task update {} --status stuck", task.name())), "{screen}");
    drop(terminal);

    task.ok("respawn", &[]);
    task.agent(2).begun();
    let terminal = AttachedTerminal::plain(&world, "orange task attach fix");
    terminal.shows("0:worker*");
    task.ok("stop", &[]);
    let screen = terminal.shows("LEFT 0");
    assert!(screen.contains("Agent 2 (worker) has ended: stopped."), "{screen}");
}

#[test]
fn where_nobody_is_left_it_names_respawn() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: crash crash]", &[]);
    task.has_events(1, "agent.crashed");
    task.ok("respawn", &[]);
    task.reaches("stuck");
    let refused = task.fails(1, "refused", "attach", &[]);
    assert!(refused.contains("it is stuck"), "{refused}");
    assert!(refused.contains(&format!("orange task respawn {}", task.name())), "{refused}");
}

#[test]
fn inside_our_own_tmux_it_switches_and_comes_back() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    let orange = world.program.display();
    let shell = format!("{orange} task attach fix; echo \"LEFT $?\"; exec sleep 1000000");
    let repo = world.repo();
    world.tmux(&["new-session", "-d", "-s", "mine", "-c", &repo.to_string_lossy(), "sleep 1000000"]);
    let socket = world.path("tmux");
    let terminal =
        AttachedTerminal::plain(&world, &format!("tmux -S {} attach-session -t =mine", socket.display()));
    let client = || text(&world.tmux(&["list-clients", "-F", "#{client_session}"]).stdout);
    world.until("the person is in a session of their own", || client() == "mine\n");
    world.tmux(&["respawn-pane", "-k", "-t", "=mine:", &shell]);
    world.until("the client is switched", || client() == "toy/fix\n");
    task.ok("cancel", &["--yes"]);
    world.until("it is back in the person's own", || client() == "mine\n");
    terminal.shows("LEFT 0");
}
