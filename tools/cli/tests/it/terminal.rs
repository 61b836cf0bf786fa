//! Effects of a terminal: width, colour, and the place that a drawing begins with. The terminal is a pane of tmux.

use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::check::BROKEN;
use crate::scratch::Scratch;

/// A workflow whose finding has two places, the second of which is the one that it is about.
const TWICE: &str = "\
name: twice
states:
  pending: {}
  # One.
  # Two.
  # Three.
  # Four.
  pending: {}
  done: {terminal: true}
transitions:
  - {from: pending, to: done}
";

/// A terminal of this width in which the binary runs; it ends with the test.
pub(crate) struct Terminal {
    socket: PathBuf,
}

impl Terminal {
    /// Runs a line of a shell in the folder of the scratch; `$orange` is the binary.
    pub(crate) fn new(scratch: &Scratch, width: u16, line: &str) -> Self {
        let socket = scratch.path().join("tmux.sock");
        let terminal = Self { socket };
        let program = env!("CARGO_BIN_EXE_orange-workflow");
        let line = format!("orange='{program}'; {line}; printf '[ended %s]' $?; exec sleep 600");
        let width = width.to_string();
        let done = terminal
            .tmux(&["-f", "/dev/null", "new-session", "-d", "-x", &width, "-y", "60", "sh", "-c", &line])
            .current_dir(scratch.path())
            .status()
            .unwrap();
        assert!(done.success());
        terminal
    }

    fn tmux(&self, args: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(&self.socket).args(args).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("TERM", "xterm-256color").env("LC_ALL", "C.UTF-8");
        command
    }

    fn tmux_output(&self, args: &[&str]) -> String {
        String::from_utf8(self.tmux(args).output().unwrap().stdout).unwrap()
    }

    /// Types these keys.
    pub(crate) fn type_keys(&self, keys: &[&str]) {
        assert!(self.tmux(&[&["send-keys"], keys].concat()).status().unwrap().success());
    }

    /// The screen with its escape sequences, once it has this text.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) -> String {
        let start = Instant::now();
        loop {
            let plain = self.tmux_output(&["capture-pane", "-p"]);
            if plain.contains(text) {
                return self.tmux_output(&["capture-pane", "-p", "-e"]);
            }
            assert!(start.elapsed() < Duration::from_secs(60), "{text:?} does not appear:\n{plain}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        assert!(self.tmux(&["kill-server"]).status().is_ok());
    }
}

/// The screen after a run of the binary with these arguments.
fn screen(width: u16, line: &str) -> String {
    let scratch = Scratch::with(&[("broken.yml", BROKEN), ("twice.yml", TWICE)]);
    Terminal::new(&scratch, width, line).wait_for("[ended ")
}

fn widest(text: &str) -> usize {
    text.lines().map(|it| it.trim_end().chars().count()).max().unwrap_or(0)
}

#[test]
fn a_drawing_is_as_wide_as_its_terminal() {
    let line = "$orange --color never check broken.yml";
    for width in [50, 120] {
        let shown = screen(width, line);
        assert!(shown.contains("╭─[broken.yml:7:25]"), "{shown}");
        assert!(widest(&shown) <= usize::from(width), "{shown}");
    }
    let narrow = screen(120, &format!("export COLUMNS=50; {line}"));
    assert!(widest(&narrow) <= 50, "{narrow}");
}

#[test]
fn a_terminal_has_colour_unless_it_is_unwanted() {
    assert!(screen(80, "$orange check broken.yml").contains("\u{1b}["));
    for line in ["NO_COLOR=1 $orange check broken.yml", "$orange check broken.yml --color never"] {
        let shown = screen(80, line);
        assert!(shown.contains("╭─[") && !shown.contains('\u{1b}'), "{shown}");
    }
}

fn pipe(args: &[&str], env: &[(&str, &str)]) -> String {
    let scratch = Scratch::with(&[("broken.yml", BROKEN)]);
    let run = scratch.command(args).envs(env.iter().copied()).output().unwrap();
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn a_pipe_has_colour_where_it_is_asked_for() {
    let plain = pipe(&["check", "broken.yml"], &[]);
    assert!(plain.starts_with("Error A01 unknown-to, at broken.yml:7:25:\n"), "{plain}");
    let drawn = pipe(&["check", "broken.yml", "--color", "always"], &[]);
    assert!(drawn.contains("╭─[") && drawn.contains("\u{1b}[31m"), "{drawn}");
    assert_eq!(pipe(&["check", "broken.yml"], &[("FORCE_COLOR", "1")]), drawn);
    assert_eq!(pipe(&["check", "broken.yml", "--color", "never"], &[("FORCE_COLOR", "1")]), plain);
    assert_eq!(pipe(&["check", "broken.yml"], &[("FORCE_COLOR", "1"), ("NO_COLOR", "1")]), plain);
    let json = pipe(&["check", "broken.yml", "--format", "json", "--color", "always"], &[]);
    assert!(!json.contains('\u{1b}'), "{json}");
}

#[test]
fn columns_sets_the_width_of_a_pipe() {
    let lines = |columns| {
        let scratch = Scratch::new();
        scratch.run(&["init"]);
        let out = scratch.command(&["prove", "workflow.yml"]).env("COLUMNS", columns).output().unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    assert!(widest(&lines("50")) <= 50, "{}", lines("50"));
    assert!(widest(&lines("150")) > 90, "{}", lines("150"));
    assert_eq!(lines("none"), lines("80"));
}

#[test]
fn every_format_begins_with_the_same_place() {
    let scratch = Scratch::with(&[("twice.yml", TWICE)]);
    let run = |format: &str| scratch.run(&["check", "twice.yml", "--format", format]).out;
    let first = |text: &str| {
        let at = text.find("twice.yml:").unwrap();
        text[at..].split([']', ' ', '\n']).next().unwrap().trim_end_matches(':').to_owned()
    };
    for format in ["graphical", "narrated", "short"] {
        assert_eq!(first(&run(format)), "twice.yml:8:3", "{format}: {}", run(format));
    }
    let json: serde_json::Value = serde_json::from_str(&run("json")).unwrap();
    assert_eq!((&json["diagnostics"][0]["line"], &json["diagnostics"][0]["column"]), (&8.into(), &3.into()));
    assert!(run("github").starts_with("::error file=twice.yml,line=8,endLine=8,col=3,"));
    let sarif: serde_json::Value = serde_json::from_str(&run("sarif")).unwrap();
    let region = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"];
    assert_eq!((&region["startLine"], &region["startColumn"]), (&8.into(), &3.into()));
}
