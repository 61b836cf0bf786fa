//! Starts agents in a session or a window of their own, which is marked in the same call.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use super::{Tmux, exactly, failure, names, parse, plain_id};
use crate::{Error, ErrorKind, Result};
use orange_system::exec::{CallOutput, ProgramCall};

/// An agent to start in tmux.
#[derive(Clone, Copy, Debug)]
pub struct TmuxSpawn<'a> {
    /// The session's name, from [`session_name`](super::session_name).
    pub session: &'a str,
    /// The window's name, `worker` or `review-<round>`.
    pub window: &'a str,
    /// The task's id: letters, digits, `_` and `-`.
    pub task: &'a str,
    /// The folder it starts in.
    pub folder: &'a Path,
    /// Its environment beside that of the server. Every user of the machine can read it in tmux's command line.
    pub env: &'a [(&'a str, &'a OsStr)],
    /// The program, preferably an absolute path.
    pub program: &'a OsStr,
    /// Its arguments.
    pub args: &'a [OsString],
}

/// The session, window and pane of a started agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaneRef {
    /// The session's name: the requested one, perhaps followed by the task's id.
    pub session: String,
    /// The session's id, such as `$1`.
    pub session_id: String,
    /// The window's id, such as `@2`.
    pub window_id: String,
    /// The pane's id, such as `%3`.
    pub pane_id: String,
}

const REF_FORMAT: &str = "#{session_id}:#{window_id}:#{pane_id}:#{session_name}";

impl Tmux {
    /// Starts an agent in a new session. If the name is taken by another session, the task's id is added to it. It refuses if this
    /// task already has a session.
    pub fn new_session(&self, spawn: &TmuxSpawn) -> Result<PaneRef> {
        for name in [spawn.session.to_owned(), names::with_task(spawn.session, spawn.task)] {
            let output = self.start_session(&name, spawn)?;
            if let Some(placed) = parse_ref(&output) {
                return Ok(placed);
            }
            if !output.complaint().starts_with("duplicate session") {
                return Err(failure(&output));
            }
            if self.panes()?.iter().any(|pane| pane.session == name && pane.belongs_to(spawn.task)) {
                break;
            }
        }
        Err(Error::new(
            ErrorKind::Refused,
            format!("{} already has a tmux session, `{}`", spawn.task, spawn.session),
        )
        .help(format!("look at it with `{} attach-session -t '={}'`", self.shown(), spawn.session)))
    }

    /// Starts an agent in a new window of the task's session; `None` if the task has no session, which may end with its last agent at
    /// any moment. It refuses if an agent is in a window of that name.
    pub fn new_window(&self, spawn: &TmuxSpawn) -> Result<Option<PaneRef>> {
        let refused = |message| Err(Error::new(ErrorKind::Refused, message));
        let panes = self.panes_of(spawn.task)?;
        let Some(session) = panes.first().map(|pane| pane.session_id.clone()) else { return Ok(None) };
        if panes.iter().any(|pane| pane.hosts(spawn.window)) {
            return refused(format!(
                "task {} already has an agent in its window `{}`",
                spawn.task, spawn.window
            ));
        }
        let taken = |name: &str| panes.iter().any(|pane| pane.window == name);
        let mut window = spawn.window.to_owned();
        while taken(&window) {
            window.push_str("-x");
        }
        let (inside, target) = (format!("{session}:"), format!("{session}:={window}"));
        let output = self.run(|call| {
            with_path(call, spawn)
                .folder(spawn.folder)
                .args(["new-window", "-d", "-P", "-F", REF_FORMAT, "-n", &window, "-t", &inside])
                .args(command_line(spawn))
                .args(mark(&target, spawn, &mark_pane(spawn.window)))
        })?;
        match parse_ref(&output) {
            None if output.text().is_empty() && parse::says_no_target(&output.complaint()) => Ok(None),
            None => Err(failure(&output)),
            placed => Ok(placed),
        }
    }

    fn start_session(&self, name: &str, spawn: &TmuxSpawn) -> Result<CallOutput> {
        let target = exactly(name);
        let mut marks = vec![format!("set-option -t '{HERE}' @orange_task {}", plain_id(spawn.task)?)];
        // A person's configuration may end sessions without a client.
        marks.push(format!("set-option -t '{HERE}' destroy-unattached off"));
        marks.push("set-option -s exit-unattached off".to_owned());
        marks.extend(mark_pane(spawn.window));
        self.run(|call| {
            with_path(call, spawn)
                .folder(spawn.folder)
                .args(["new-session", "-d", "-P", "-F", REF_FORMAT, "-s", name, "-n", spawn.window])
                .args(["-x", "200", "-y", "50"])
                .args(command_line(spawn))
                .args(mark(&target, spawn, &marks))
        })
    }
}

/// Sets `PATH` for tmux itself: it gives a new pane the `PATH` of its caller, whatever `-e` says.
fn with_path(call: ProgramCall, spawn: &TmuxSpawn) -> ProgramCall {
    let path = spawn.env.iter().find(|(name, _)| *name == "PATH");
    path.iter().fold(call, |call, (name, path)| call.env(name, path))
}

fn command_line(spawn: &TmuxSpawn) -> Vec<OsString> {
    let mut line: Vec<OsString> = Vec::new();
    for (name, value) in spawn.env {
        let mut pair = OsString::from(name);
        pair.push("=");
        pair.push(value);
        line.extend([OsString::from("-e"), literal(&pair)]);
    }
    if spawn.args.is_empty() {
        // tmux runs a single word in a shell.
        line.push("env".into());
    }
    line.push(literal(spawn.program));
    line.extend(spawn.args.iter().map(|arg| literal(arg)));
    line
}

/// Escapes a `;` at the end of an argument, which tmux reads as the end of a command.
fn literal(arg: &OsStr) -> OsString {
    let mut bytes = arg.as_bytes().to_vec();
    if bytes.last() == Some(&b';') {
        bytes.insert(bytes.len() - 1, b'\\');
    }
    OsString::from_vec(bytes)
}

/// The place of the new pane in the commands that mark it.
const HERE: &str = "HERE";

/// The output when all commands have run.
const MARKED: &str = "marked";

fn mark_pane(window: &str) -> Vec<String> {
    let mut marks = vec![format!("set-option -p -t '{HERE}' @orange_agent {window}")];
    // The agent must not get what a person types in another pane, nor a person's shell the agent's messages.
    marks.push(format!("set-option -p -t '{HERE}' synchronize-panes off"));
    for option in ["remain-on-exit", "allow-rename", "automatic-rename"] {
        marks.push(format!("set-option -w -t '{HERE}' {option} off"));
    }
    marks
}

/// Runs these commands on the new pane in the same step of the server. A person's hook may already have renamed its session or
/// window, or opened others, so the server finds the pane by its command line.
fn mark(target: &str, spawn: &TmuxSpawn, marks: &[String]) -> Vec<String> {
    let is_it = format!("#{{m:*{},#{{pane_start_command}}}}", plain_end(spawn.args));
    let found = format!("#{{S:#{{W:#{{P:#{{?{is_it},#{{pane_id}},}}}}}}}}");
    let marks = marks.join(" ; ");
    let at_once = format!("{} ; display-message -p {MARKED}", marks.replace(HERE, target));
    // Without a target tmux uses the last pane.
    let wherever = marks.replace(HERE, &format!("#{{?{found},{found},%}}"));
    let wherever =
        format!("run-shell -b -C \"{wherever}\" ; run-shell -C \"{wherever} ; display-message -p {MARKED}\"");
    [";", "if-shell", "-F", "-t", target, &is_it, &at_once, &wherever].map(str::to_owned).to_vec()
}

/// The last arguments that tmux shows unchanged.
fn plain_end(args: &[OsString]) -> String {
    let is_plain = |arg: &&str| {
        !arg.is_empty() && arg.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-=/".contains(&byte))
    };
    let words: Vec<&str> = args.iter().rev().map_while(|arg| arg.to_str().filter(is_plain)).collect();
    words.into_iter().rev().collect::<Vec<_>>().join(" ")
}

/// The pane of a started agent, once it is marked: a failing hook of a person may make tmux fail after that.
fn parse_ref(output: &CallOutput) -> Option<PaneRef> {
    let text = output.text();
    if !text.lines().any(|line| line == MARKED) {
        return None;
    }
    let mut fields = text.lines().next()?.splitn(4, ':').map(str::to_owned);
    let mut next = || fields.next();
    let (session_id, window_id, pane_id) = (next()?, next()?, next()?);
    Some(PaneRef { session: next()?, session_id, window_id, pane_id })
}
