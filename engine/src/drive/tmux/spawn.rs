//! Starting agents: a session or a window of its own, marked as the task's in the call that makes it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use super::super::exec::{Call, Output};
use super::{Tmux, checked, exactly, failure, names, plain_id};
use crate::{Error, Kind, Result};

/// An agent to be started in tmux.
#[derive(Clone, Copy, Debug)]
pub struct Spawn<'a> {
    /// The session's name, from [`session_name`](super::session_name).
    pub session: &'a str,
    /// The window's name, `worker` or `review-<round>`.
    pub window: &'a str,
    /// The task's id: letters, digits, `_` and `-`.
    pub task: &'a str,
    /// The folder it starts in.
    pub folder: &'a Path,
    /// What it needs in its environment. A server keeps the environment it was once started with, so
    /// `PATH` and `ORANGE_HOME` belong here too.
    pub env: &'a [(&'a str, &'a OsStr)],
    /// The program, best as an absolute path.
    pub program: &'a OsStr,
    /// Its arguments.
    pub args: &'a [OsString],
}

/// Where an agent was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaneRef {
    /// The session's name: the one asked for, or the one with the task's id at its end.
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
    /// Starts an agent in a new session of its own. When another task's session, or a person's, already
    /// has the name, the task's id is added to it.
    ///
    /// # Errors
    /// `refused` when this task already has a session; `environment` when tmux fails.
    pub fn new_session(&self, spawn: &Spawn) -> Result<PaneRef> {
        for name in [spawn.session.to_owned(), names::with_task(spawn.session, spawn.task)] {
            let output = self.start_session(&name, spawn)?;
            if output.success() {
                return parse_ref(&output);
            }
            if !output.complaint().starts_with("duplicate session") {
                return Err(failure(&output));
            }
            if self.panes()?.iter().any(|pane| pane.session == name && pane.belongs_to(spawn.task)) {
                break;
            }
        }
        Err(Error::new(
            Kind::Refused,
            format!("task {} already has a tmux session, `{}`", spawn.task, spawn.session),
        )
        .help(format!("look at it with `orange task attach {}`", spawn.task)))
    }

    /// Starts an agent in a new window of the task's session; the session's other windows stay as they are.
    ///
    /// # Errors
    /// `refused` when the task has no session, or an agent in a window of that name already;
    /// `environment` when tmux fails.
    pub fn new_window(&self, spawn: &Spawn) -> Result<PaneRef> {
        let refused = |message| Err(Error::new(Kind::Refused, message));
        let panes = self.panes_of(spawn.task)?;
        let Some(session) = panes.first().map(|pane| pane.session_id.clone()) else {
            return refused(format!(
                "task {} has no tmux session to open the window `{}` in",
                spawn.task, spawn.window
            ));
        };
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
                .args(mark_pane(&target, spawn.window))
        });
        parse_ref(&checked(output?)?)
    }

    fn start_session(&self, name: &str, spawn: &Spawn) -> Result<Output> {
        let target = exactly(name);
        let task = plain_id(spawn.task)?;
        self.run(|call| {
            with_path(call, spawn)
                .folder(spawn.folder)
                .args(["new-session", "-d", "-P", "-F", REF_FORMAT, "-s", name, "-n", spawn.window])
                .args(["-x", "200", "-y", "50"])
                .args(command_line(spawn))
                .args([";", "set-option", "-t", &target, "@orange_task", task])
                // A person's configuration may end sessions that nobody looks at: agents live in those.
                .args([";", "set-option", "-t", &target, "destroy-unattached", "off"])
                .args([";", "set-option", "-s", "exit-unattached", "off"])
                .args(mark_pane(&target, spawn.window))
        })
    }
}

/// tmux gives a new pane the `PATH` of the one who asks for it, whatever `-e` says.
fn with_path(call: Call, spawn: &Spawn) -> Call {
    let path = spawn.env.iter().find(|(name, _)| *name == "PATH");
    path.iter().fold(call, |call, (name, path)| call.env(name, path))
}

fn command_line(spawn: &Spawn) -> Vec<OsString> {
    let mut line: Vec<OsString> = Vec::new();
    for (name, value) in spawn.env {
        let mut pair = OsString::from(name);
        pair.push("=");
        pair.push(value);
        line.extend([OsString::from("-e"), literal(&pair)]);
    }
    if spawn.args.is_empty() {
        // tmux gives a single word to a shell.
        line.push("env".into());
    }
    line.push(literal(spawn.program));
    line.extend(spawn.args.iter().map(|arg| literal(arg)));
    line
}

/// tmux takes a `;` at the end of an argument for the end of a command unless it is escaped.
fn literal(arg: &OsStr) -> OsString {
    let mut bytes = arg.as_bytes().to_vec();
    if bytes.last() == Some(&b';') {
        bytes.insert(bytes.len() - 1, b'\\');
    }
    OsString::from_vec(bytes)
}

fn mark_pane<'a>(target: &'a str, window: &'a str) -> Vec<&'a str> {
    let mut args = vec![";", "set-option", "-p", "-t", target, "@orange_agent", window];
    for option in ["remain-on-exit", "allow-rename", "automatic-rename"] {
        args.extend([";", "set-option", "-w", "-t", target, option, "off"]);
    }
    args
}

fn parse_ref(output: &Output) -> Result<PaneRef> {
    let text = output.text();
    match text.splitn(4, ':').collect::<Vec<_>>().as_slice() {
        [session_id, window_id, pane_id, session] => Ok(PaneRef {
            session: (*session).to_owned(),
            session_id: (*session_id).to_owned(),
            window_id: (*window_id).to_owned(),
            pane_id: (*pane_id).to_owned(),
        }),
        _ => {
            Err(Error::new(Kind::Environment, format!("tmux named its new pane in an unknown form: {text}")))
        }
    }
}
