//! Shows a task's session on the user's terminal.

use std::ffi::OsStr;
use std::io::IsTerminal;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::{OWN_VARIABLES, Pane, Tmux, checked, parse};
use crate::{Error, ErrorKind, Result};
use orange_system::exec::{ProcessGroup, ProgramCall};

/// Reason for which a terminal no longer shows a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownEnd {
    /// The terminal is inside this server, and was switched to the session.
    Switched,
    /// The person has detached; the session goes on.
    Detached,
    /// The session has ended.
    Ended,
}

/// The surroundings of a terminal.
enum TerminalPlace {
    Outside,
    /// In a pane of the server that has the session.
    SameServer,
    /// In a pane of another server, behind this socket.
    Nested(PathBuf),
}

impl Tmux {
    /// Shows a task's session on this terminal, whatever its name, with this window of an agent, or the newest one: switches to it if the terminal
    /// is inside this server (`inside` is the value of `TMUX`), and otherwise shows it until the person detaches or the session ends.
    /// `before` gets the keys that detach, before the session is shown.
    pub fn attach(
        &self,
        task: &str,
        window: Option<&str>,
        inside: Option<&OsStr>,
        before: impl FnOnce(&str) -> Result<()>,
    ) -> Result<ShownEnd> {
        let panes = self.panes_of(task)?;
        let newest = || panes.iter().rev().find(|pane| pane.agent.is_some());
        let wanted = window.and_then(|window| panes.iter().find(|pane| pane.hosts(window)));
        let Some(pane) = wanted.or_else(newest).or(panes.first()) else {
            return Err(Error::new(ErrorKind::NotFound, format!("{task} has no tmux session"))
                .help("its agent has ended; `orange monitor --once` looks after it"));
        };
        let place = self.place(inside)?;
        let id = pane.session_id.as_str();
        if matches!(place, TerminalPlace::SameServer) {
            before("")?;
            let back = ["set-option", "-t", id, "detach-on-destroy", "off", ";"];
            let output = self.run(|call| {
                let call = call.args(back).args(["select-window", "-t", &pane.window_id, ";"]);
                // The client of the asking pane is switched.
                call.args(["switch-client", "-t", id])
            })?;
            return checked(output).map(|_| ShownEnd::Switched);
        }
        if !std::io::stdin().is_terminal() {
            return Err(Error::new(ErrorKind::Environment, "this is not a terminal to show a session on")
                .help(format!("run the command in a terminal; the session is `{}`", pane.session)));
        }
        let keys = self.keys_that_detach(&place);
        before(&keys)?;
        self.show(pane, &keys)?;
        let is_there = self.panes()?.iter().any(|other| other.session_id == id && other.belongs_to(task));
        Ok(if is_there { ShownEnd::Detached } else { ShownEnd::Ended })
    }

    /// The terminals that show sessions of this server.
    pub fn clients(&self) -> Result<Vec<PathBuf>> {
        let output =
            self.run(|call| call.args(["list-clients", "-F", "#{client_control_mode}:#{client_tty}"]))?;
        if parse::says_no_target(&output.complaint()) {
            return Ok(Vec::new());
        }
        let printed = checked(output)?.text();
        Ok(printed.lines().filter_map(|line| line.strip_prefix("0:")).map(PathBuf::from).collect())
    }

    /// Shows the session of this pane, with a status line that names the task and the keys that detach, until the client ends.
    fn show(&self, pane: &Pane, keys: &str) -> Result<()> {
        let id = pane.session_id.as_str();
        let hint = format!(" {keys}: detach ");
        let options = [
            ("status", "on"),
            ("status-left-length", "100"),
            ("status-left", "[#{session_name}] "),
            ("status-right-length", "40"),
            ("status-right", hint.as_str()),
            // Otherwise the client would switch to another task's session.
            ("detach-on-destroy", "on"),
        ];
        let call = ProgramCall::new("tmux").preset(self.socket_args()).without(OWN_VARIABLES);
        let call = options
            .into_iter()
            .fold(call, |call, (option, value)| call.args(["set-option", "-t", id, option, value, ";"]));
        let call = call.args(["select-window", "-t", &pane.window_id, ";", "attach-session", "-t", id]);
        let mut client = call.attended(ProcessGroup::Inherited)?;
        let ended = client.wait();
        ended
            .map(drop)
            .map_err(|cause| Error::new(ErrorKind::Environment, format!("cannot wait for tmux: {cause}")))
    }

    fn place(&self, inside: Option<&OsStr>) -> Result<TerminalPlace> {
        let socket = inside.and_then(|tmux| tmux.as_bytes().split(|&byte| byte == b',').next());
        let Some(socket) = socket.filter(|socket| !socket.is_empty()) else {
            return Ok(TerminalPlace::Outside);
        };
        let own = checked(self.run(|call| call.args(["display-message", "-p", "#{socket_path}"]))?)?.text();
        let nested = || TerminalPlace::Nested(PathBuf::from(OsStr::from_bytes(socket)));
        Ok(if socket == own.as_bytes() { TerminalPlace::SameServer } else { nested() })
    }

    /// The keys that detach, in tmux's spelling. Inside another tmux with the same prefix, that one takes the first.
    fn keys_that_detach(&self, place: &TerminalPlace) -> String {
        let prefix = self.prefix();
        match place {
            TerminalPlace::Nested(outer) if Tmux::new(Some(outer.as_os_str())).prefix() == prefix => {
                format!("{prefix} {prefix} d")
            }
            TerminalPlace::Outside | TerminalPlace::SameServer | TerminalPlace::Nested(_) => {
                format!("{prefix} d")
            }
        }
    }

    /// The prefix of tmux's keys; the default if the server does not answer.
    fn prefix(&self) -> String {
        let asked = self.run(|call| call.args(["show-options", "-gv", "prefix"]));
        let output = asked.ok().filter(|output| !parse::says_no_server(&output.complaint()));
        let key = output.map(|output| output.text()).unwrap_or_default();
        if key.is_empty() { "C-b".to_owned() } else { key }
    }
}
