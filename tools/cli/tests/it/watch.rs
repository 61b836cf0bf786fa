//! `check --watch`, on a terminal and through a pipe.

use std::io::Read;
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;
use std::{fs, thread};

use crate::check::{BROKEN, WARNED};
use crate::scratch::{CLEAN, Scratch};
use crate::terminal::Terminal;

/// A watch whose output is read; it is ended with the test.
struct WatchedCheck {
    child: Child,
    out: ChildStdout,
    read: String,
}

impl WatchedCheck {
    fn new(scratch: &Scratch, args: &[&str]) -> Self {
        let mut command = scratch.command(&[&["check", "--watch"], args].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let out = child.stdout.take().unwrap();
        Self { child, out, read: String::new() }
    }

    /// Reads until the output since the last call has this text.
    #[track_caller]
    fn wait_for(&mut self, text: &str) {
        let mut bytes = [0; 4096];
        while !self.read.contains(text) {
            let count = self.out.read(&mut bytes).unwrap();
            assert!(count > 0, "{text:?} is not in {}", self.read);
            self.read.push_str(str::from_utf8(&bytes[..count]).unwrap());
        }
        let end = self.read.find(text).unwrap() + text.len();
        self.read.drain(..end);
    }
}

impl Drop for WatchedCheck {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn every_change_is_checked() {
    let scratch = Scratch::with(&[("flows/broken.yml", BROKEN), ("flows/warned.yml", WARNED)]);
    let mut watched = WatchedCheck::new(&scratch, &["flows", "--format", "short"]);
    watched.wait_for("A01 unknown-to");
    // A new file, a file in a new folder, one that is replaced as editors do it, and a configuration.
    scratch.write("flows/other.yml", BROKEN.replace("doen", "dome"));
    watched.wait_for("other.yml:7:25");
    scratch.write("flows/deep/third.yml", BROKEN);
    watched.wait_for("third.yml:7:25");
    scratch.write("flows/.broken.yml.new", BROKEN.replace("doen", "gone"));
    fs::rename(scratch.path().join("flows/.broken.yml.new"), scratch.path().join("flows/broken.yml"))
        .unwrap();
    watched.wait_for("unknown state `gone`");
    scratch.write("orange-workflow.toml", "[lints]\nyaml-trap = 'deny'\n");
    watched.wait_for("deny[S07 yaml-trap]");
    fs::remove_dir_all(scratch.path().join("flows/deep")).unwrap();
    scratch.write("flows/broken.yml", CLEAN);
    watched.wait_for("clean");
}

#[test]
fn a_prompt_in_another_folder_is_watched() {
    let scratch = Scratch::with(&[("flow.toml", include_str!("../../../../tests/fixtures/dev-task.toml"))]);
    scratch.write_prompts();
    let mut watched = WatchedCheck::new(&scratch, &["flow.toml", "--format", "short"]);
    watched.wait_for("name-mismatch");
    fs::write(scratch.path().join("do/review.md"), "Judge {{mission_promt}}.\n").unwrap();
    watched.wait_for("unknown-template-var");
}

#[test]
fn a_watch_ends_with_its_reader() {
    let scratch = Scratch::with(&[("broken.yml", BROKEN)]);
    let mut command = scratch.command(&["check", "--watch", "broken.yml"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    for _ in 0..3000 {
        if child.try_wait().unwrap().is_some() {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    panic!("it still runs");
}

#[test]
fn a_terminal_is_cleared_and_ctrl_c_ends_the_watch() {
    let scratch = Scratch::with(&[("broken.yml", BROKEN)]);
    let terminal = Terminal::new(&scratch, 80, "trap : INT; $orange --color never check --watch broken.yml");
    terminal.wait_for("unknown state `doen`");
    scratch.write("broken.yml", CLEAN.replace("clean", "broken"));
    let shown = terminal.wait_for("checked 1 file: nothing wrong");
    assert!(!shown.contains("doen") && !shown.contains("[ended"), "{shown}");
    terminal.type_keys(&["C-c"]);
    terminal.wait_for("[ended 130]");
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let scratch = Scratch::with(&[("broken.yml", BROKEN)]);
    let run = scratch.run_with_stdin(&["check", "--watch", "-"], BROKEN);
    assert!(run.exit == 2 && run.err.contains("standard input cannot be watched"), "{}", run.err);
    for flag in ["--fix", "--diff", "--write-baseline=x"] {
        let run = scratch.run(&["check", "--watch", "broken.yml", flag]);
        assert!(run.exit == 2 && run.err.contains("cannot be used with"), "{}", run.err);
    }
}
