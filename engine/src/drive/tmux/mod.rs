//! tmux: one session per task, found by its mark and never by a guess at its name.
//!
//! Each session that we start carries the user option `@orange_task`, each pane with an agent the option
//! `@orange_agent`. Nothing without the right mark is ever killed or written to, whatever it is called:
//! names can be taken, changed by hand and matched by prefix, marks cannot.

mod attach;
mod names;
mod parse;
mod spawn;
#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::iter;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use super::exec::{Call, GIT_VARIABLES, Output};
use crate::{Error, Kind, Result, caller};

pub use attach::Shown;
pub use names::session_name;
pub use parse::{Pane, Version};
pub use spawn::Spawn;

/// The oldest tmux that will do: 3.2 brought `new-session -e` and `copy-mode -q`.
pub const OLDEST: Version = Version { major: 3, minor: 2 };

/// One tmux server, which need not run yet.
#[derive(Clone, Debug)]
pub struct Tmux {
    socket: Socket,
    env: Vec<(OsString, OsString)>,
}

#[derive(Clone, Debug)]
enum Socket {
    Name(OsString),
    Path(PathBuf),
}

/// What is ours alone and must not leak into a server that this call may start.
const OWN_VARIABLES: &[&str] = &["TMUX", "TMUX_PANE", caller::TASK, caller::SPAWN, caller::RELAYED];

/// A program that reads a paste and Enter in one go takes the Enter for a part of the paste.
const SECONDS_BEFORE_ENTER: &str = "0.3";

/// After this long, the Enter of a message has been pressed.
const SECONDS_UNTIL_ENTER: &str = "0.35";

impl Tmux {
    /// The server behind a socket: the value of `ORANGE_TMUX_SOCKET`. With a `/` in it, it is a path,
    /// otherwise a name as in `tmux -L`; without one, the server is our own, `orange`.
    pub fn new(socket: Option<&OsStr>) -> Tmux {
        let socket = match socket.filter(|socket| !socket.is_empty()) {
            Some(path) if path.as_bytes().contains(&b'/') => {
                // Calls run in other folders; a path that cannot be made absolute fails when it is used.
                Socket::Path(std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path)))
            }
            Some(name) => Socket::Name(name.to_owned()),
            None => Socket::Name("orange".into()),
        };
        Tmux { socket, env: Vec::new() }
    }

    /// What `ORANGE_TMUX_SOCKET` has to be for this server, from whichever folder.
    pub fn socket(&self) -> &OsStr {
        match &self.socket {
            Socket::Name(name) => name,
            Socket::Path(path) => path.as_os_str(),
        }
    }

    /// How a person calls this server.
    pub fn shown(&self) -> String {
        match &self.socket {
            Socket::Name(name) => format!("tmux -L '{}'", name.to_string_lossy()),
            Socket::Path(path) => format!("tmux -S '{}'", path.display()),
        }
    }

    /// The same with one more variable in the environment of every call.
    #[cfg(test)]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Tmux {
        self.env.push((name.into(), value.into()));
        self
    }

    /// The version of the tmux on `PATH`; none for one without numbers (`master`, OpenBSD's own).
    pub fn version(&self) -> Result<Option<Version>> {
        Ok(parse::parse_version(&Call::new("tmux").arg("-V").text()?))
    }

    /// Is tmux there, and new enough?
    pub fn check(&self) -> Result<()> {
        match self.version()? {
            Some(version) if version < OLDEST => Err(Error::new(
                Kind::Environment,
                format!("tmux {version} is too old: {OLDEST} or newer is needed"),
            )
            .help("install a newer tmux")),
            Some(_) | None => Ok(()),
        }
    }

    /// Every pane of the server. No server is no panes; that tmux cannot tell is an error.
    ///
    /// # Errors
    /// `environment` when tmux fails for any other reason: nothing may be concluded from that.
    pub fn panes(&self) -> Result<Vec<Pane>> {
        self.read_panes(&self.run(|call| call.args(["list-panes", "-a", "-F", parse::PANE_FORMAT]))?)
    }

    /// The panes of the session that is marked as this task's.
    pub fn panes_of(&self, task: &str) -> Result<Vec<Pane>> {
        Ok(self.panes()?.into_iter().filter(|pane| pane.belongs_to(task)).collect())
    }

    /// Kills every pane of the task's session that an agent was started in, and gives these panes: their processes may
    /// still be ending. The session ends with its last pane; panes and windows that a person has opened in it stay, and so
    /// does a session of that name that is not marked as the task's.
    pub fn kill_session(&self, name: &str, task: &str) -> Result<Vec<Pane>> {
        let target = exactly(name);
        let is_own = format!("#{{==:#{{@orange_task}},{}}}", plain_id(task)?);
        let kill = format!("kill-session -t '{target}'");
        let output = self.run(|call| {
            call.args(["list-panes", "-s", "-t", &target, "-F", parse::PANE_FORMAT, ";"]).args([
                "if-shell",
                "-F",
                "-t",
                &target,
                &format!("#{{&&:{is_own},{NOBODY_ELSE}}}"),
                &kill,
            ])
        })?;
        let of_task = |panes: Vec<Pane>| panes.into_iter().filter(|pane| pane.belongs_to(task)).collect();
        let listed: Vec<Pane> = of_task(self.read_panes(&output)?);
        if !listed.is_empty() && listed.iter().all(|pane| pane.agent.is_some()) {
            return Ok(listed);
        }
        // It may have been renamed by hand.
        let panes = if listed.is_empty() { self.panes_of(task)? } else { listed };
        let agents: Vec<Pane> = panes.into_iter().filter(|pane| pane.agent.is_some()).collect();
        self.kill_panes(&agents)?;
        Ok(agents)
    }

    /// Kills the pane of the task's session in which an agent was started under this window name, and gives it: its
    /// processes may still be ending. Panes that a person has split off its window stay.
    pub fn kill_agent(&self, task: &str, window: &str) -> Result<Vec<Pane>> {
        let mut panes = self.panes_of(task)?;
        panes.retain(|pane| pane.hosts(window));
        self.kill_panes(&panes)?;
        Ok(panes)
    }

    /// Pastes a text into a pane, byte for byte and bracketed where its program asked for that, then presses Enter, unless
    /// the pane was last told just this: `mark` names the message, and is set with the paste. A pane in copy mode or another
    /// of tmux's modes leaves that first.
    ///
    /// The server does all of it or nothing: looking at the mark, pasting, setting it and having Enter follow are one step
    /// of its own, which the end of the one who asks does not interrupt.
    ///
    /// One thing is left out of the text: what a terminal sends at the end of a bracketed paste. Behind it, the rest of
    /// the text would be keys that somebody presses.
    ///
    /// # Errors
    /// `usage` for a mark of other characters than digits and dots; `not_found` when the pane is gone; `environment` when
    /// tmux fails.
    pub fn send_text(&self, pane_id: &str, mark: &str, text: &[u8]) -> Result<()> {
        if !mark.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return Err(Error::new(Kind::Usage, format!("`{mark}` is no mark of a message")));
        }
        let text = &without_paste_end(text);
        // From 3.7 on, control characters are made visible unless -S says otherwise.
        let raw = self.version()? >= Some(Version { major: 3, minor: 7 });
        let (buffer, flags) = (unique_buffer(), if raw { "-dprS" } else { "-dpr" });
        let was_told = format!("#{{==:#{{@orange_told}},{mark}}}");
        // Of no text, tmux makes no buffer.
        let (paste, forget) = match text.is_empty() {
            true => (String::new(), String::new()),
            false => (
                format!("paste-buffer {flags} -b {buffer} -t '{pane_id}' ; "),
                format!("delete-buffer -b {buffer}"),
            ),
        };
        // Whoever of the two comes first presses it: what runs in the background waits while a person has a prompt open, and
        // what this call waits for ends with it.
        let is_due = format!("#{{==:#{{@orange_enter}},{mark}}}");
        let enter = format!("set-option -pu -t {pane_id} @orange_enter ; send-keys -t {pane_id} Enter");
        let not_yet = is_due.replace('#', "##");
        let tell = format!(
            "{paste}set-option -p -t '{pane_id}' @orange_told '{mark}' ; \
             set-option -p -t '{pane_id}' @orange_enter '{mark}' ; \
             run-shell -b -d {SECONDS_BEFORE_ENTER} -C \"if-shell -F -t {pane_id} '{not_yet}' '{enter}'\""
        );
        let output = self.run(|call| {
            call.input(text)
                .args(["copy-mode", "-q", "-t", pane_id, ";", "load-buffer", "-b", &buffer, "-", ";"])
                .args(["if-shell", "-F", "-t", pane_id, &was_told])
                .args([&forget, &tell, ";"])
                // Whoever is told something next shall not come between the paste and its Enter.
                .args(["run-shell", "-d", SECONDS_UNTIL_ENTER, ";"])
                .args(["if-shell", "-F", "-t", pane_id, &is_due, &enter])
        })?;
        if parse::says_no_target(&output.complaint()) {
            return Err(Error::new(
                Kind::NotFound,
                format!("the pane {pane_id} is gone: nobody got the message"),
            ));
        }
        checked(output).map(drop)
    }

    /// Presses a key in a pane, by tmux's name for it.
    pub fn press(&self, pane_id: &str, key: &str) -> Result<()> {
        let leave_history = ["copy-mode", "-q", "-t", pane_id, ";"];
        let output = self.run(|call| call.args(leave_history).args(["send-keys", "-t", pane_id, key]))?;
        checked(output).map(drop)
    }

    /// The last lines of what a pane shows, without the empty ones at its end. A line that the pane was too narrow for
    /// is one line.
    pub fn capture(&self, pane_id: &str, lines: usize) -> Result<String> {
        let start = format!("-{lines}");
        let output = self.run(|call| call.args(["capture-pane", "-p", "-J", "-t", pane_id, "-S", &start]))?;
        let shown = checked(output)?.text();
        let rows: Vec<&str> = shown.trim_end().lines().collect();
        Ok(rows[rows.len().saturating_sub(lines)..].join("\n"))
    }

    /// Has a program read what a pane shows from now on, until the pane is gone. False for a pane that a person has piped already,
    /// which is left alone.
    pub fn pipe(&self, pane_id: &str, program: &Path, args: &[&OsStr]) -> Result<bool> {
        let words = iter::once(program.as_os_str()).chain(args.iter().copied());
        let line: Vec<OsString> = words.map(quoted_twice).collect();
        // tmux gives the line to a shell, in its own environment, which may be that of an agent.
        let mut command =
            OsString::from("unset ORANGE_TASK ORANGE_SPAWN ORANGE_SECRET; ORANGE_ACTOR=engine exec ");
        command.push(line.join(OsStr::new(" ")));
        let is_piped =
            self.run(|call| call.args(["display-message", "-p", "-t", pane_id, "#{pane_pipe}"]))?;
        if checked(is_piped)?.text() == "1" {
            return Ok(false);
        }
        let output = self.run(|call| call.args(["pipe-pane", "-t", pane_id]).arg(&command))?;
        checked(output).map(|_| true)
    }

    fn read_panes(&self, output: &Output) -> Result<Vec<Pane>> {
        if !output.success() {
            let gone = parse::says_no_target(&output.complaint());
            return if gone { Ok(Vec::new()) } else { Err(failure(output)) };
        }
        parse::parse_panes(&output.text()).ok_or_else(|| {
            Error::new(
                Kind::Environment,
                format!("tmux listed its panes in an unknown form: {}", output.text()),
            )
        })
    }

    fn kill_panes(&self, panes: &[Pane]) -> Result<()> {
        panes.iter().try_for_each(|pane| {
            let output = self.run(|call| call.args(["kill-pane", "-t", &pane.pane_id]))?;
            if parse::says_no_target(&output.complaint()) { Ok(()) } else { checked(output).map(drop) }
        })
    }

    /// Runs a call that needs no terminal. A server ends with its last session, and whoever asks it just then
    /// gets no answer: nothing was done, so the call is made again.
    fn run(&self, build: impl Fn(Call) -> Call) -> Result<Output> {
        let mut output = build(self.call()).run()?;
        for pause in [5, 20, 50, 100, 200].map(Duration::from_millis) {
            if !parse::says_server_ended(&output.complaint()) {
                break;
            }
            thread::sleep(pause);
            output = build(self.call()).run()?;
        }
        Ok(output)
    }

    /// A call that needs no terminal. `-u` because tmux otherwise replaces what is not ASCII. A server that it starts is
    /// the engine's, even if an agent's request has led to that.
    fn call(&self) -> Call {
        let call =
            Call::new("tmux").bound(Duration::from_secs(20)).without(OWN_VARIABLES).without(GIT_VARIABLES);
        let call = call.env(caller::ACTOR, caller::ENGINE);
        let call = self.env.iter().fold(call, |call, (name, value)| call.env(name, value));
        call.preset(["-u"]).preset(self.socket_args())
    }

    fn socket_args(&self) -> [&OsStr; 2] {
        match &self.socket {
            Socket::Name(name) => [OsStr::new("-L"), name],
            Socket::Path(path) => [OsStr::new("-S"), path.as_os_str()],
        }
    }
}

impl Pane {
    /// Is this a pane of this task's session?
    pub fn belongs_to(&self, task: &str) -> bool {
        self.task.as_deref() == Some(task)
    }

    /// Was an agent started here under this window name?
    pub fn hosts(&self, window: &str) -> bool {
        self.agent.as_deref() == Some(window)
    }
}

/// What a terminal sends at the end of a bracketed paste.
const PASTE_END: &[u8] = b"\x1b[201~";

/// The text without any, even such as come to be where one is taken out.
fn without_paste_end(text: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(text.len());
    for byte in text {
        kept.push(*byte);
        if kept.ends_with(PASTE_END) {
            kept.truncate(kept.len() - PASTE_END.len());
        }
    }
    kept
}

/// A word of a shell's line, in quotes, as tmux leaves it when it has looked for formats and times in the line.
fn quoted_twice(word: &OsStr) -> OsString {
    let mut quoted = vec![b'\''];
    for byte in word.as_bytes() {
        match byte {
            b'\'' => quoted.extend_from_slice(br"'\''"),
            b'#' | b'%' => quoted.extend([*byte, *byte]),
            other => quoted.push(*other),
        }
    }
    quoted.push(b'\'');
    OsString::from_vec(quoted)
}

/// The condition that every pane of a session has an agent.
const NOBODY_ELSE: &str = "#{==:#{W:#{P:#{?@orange_agent,,x}}},}";

/// The target of exactly this session. The colon matters: without it, some commands take the name for a
/// window first and then fall back to sessions that only begin with it.
fn exactly(session: &str) -> String {
    format!("={session}:")
}

/// A task's id goes into a tmux condition, where other characters would mean something.
fn plain_id(task: &str) -> Result<&str> {
    let plain =
        !task.is_empty() && task.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if plain { Ok(task) } else { Err(Error::new(Kind::Usage, format!("`{task}` is not a task's id"))) }
}

fn unique_buffer() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("orange-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

fn checked(output: Output) -> Result<Output> {
    if output.success() { Ok(output) } else { Err(failure(&output)) }
}

fn failure(output: &Output) -> Error {
    let complaint = output.complaint();
    let error = output.failure();
    if complaint.contains("File name too long") {
        return error.help("a socket's path can have 107 bytes at most: set ORANGE_TMUX_SOCKET or TMUX_TMPDIR to a shorter one");
    }
    if complaint.contains("command too long") {
        return error.help(
            "what tmux starts may have 16 KiB of arguments and environment: shorten PATH or ORANGE_HOME",
        );
    }
    if parse::says_no_server(&complaint) || parse::says_server_ended(&complaint) {
        return error.help("the tmux server has ended; `orange task list` shows which agents are gone");
    }
    error
}
