//! tmux: one session for each task, which is found by its mark.
//!
//! Each session that we start has the user option `@orange_task`, each pane with an agent the option `@orange_agent`. A session or
//! pane without the right mark is never killed or written to: names can be taken, changed by hand and matched by prefix,
//! marks cannot.

mod attach;
mod colours;
mod names;
mod parse;
mod screen;
mod spawn;
#[cfg(test)]
mod tests;

use orange_system::variables;
use std::ffi::{OsStr, OsString};
use std::iter;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crate::store::environment::is_needed;
use crate::{Error, ErrorKind, Result};
use orange_system::exec::{CallOutput, ProgramCall, how_to_install};
use orange_system::fault;
use orange_system::files::LONGEST_SOCKET;

pub use attach::ShownEnd;
pub use colours::without_colours;
pub use names::session_name;
pub use parse::{Pane, TmuxVersion};
pub use screen::{PaneScreen, Size};
pub use spawn::TmuxSpawn;

/// The oldest sufficient tmux: 3.2 brought `new-session -e` and `copy-mode -q`.
pub const OLDEST: TmuxVersion = TmuxVersion { major: 3, minor: 2 };

/// One tmux server, which need not run yet.
#[derive(Clone, Debug)]
pub struct Tmux {
    socket: TmuxSocket,
    env: Vec<(OsString, OsString)>,
}

#[derive(Clone, Debug)]
enum TmuxSocket {
    Name(OsString),
    Path(PathBuf),
}

/// Variables of ours that a terminal's client must not have.
const OWN_VARIABLES: &[&str] = &["TMUX", "TMUX_PANE", variables::TASK, variables::SPAWN, variables::RELAYED];

/// A program that reads a paste and Enter at once takes the Enter for a part of the paste.
const SECONDS_BEFORE_ENTER: &str = "0.3";

/// After this time, the Enter of a message has been pressed.
const SECONDS_UNTIL_ENTER: &str = "0.35";

impl Tmux {
    /// The server of a socket: the value of `ORANGE_TMUX_SOCKET`. A value with `/` is a path, any other a name as in `tmux -L`; without
    /// one, the server is `orange`.
    pub fn new(socket: Option<&OsStr>) -> Tmux {
        let socket = match socket.filter(|socket| !socket.is_empty()) {
            Some(path) if path.as_bytes().contains(&b'/') => {
                // Calls run in other folders; a path that cannot be made absolute fails when it is used.
                TmuxSocket::Path(std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path)))
            }
            Some(name) => TmuxSocket::Name(name.to_owned()),
            None => TmuxSocket::Name("orange".into()),
        };
        Tmux { socket, env: Vec::new() }
    }

    /// The value of `ORANGE_TMUX_SOCKET` for this server, valid in any folder.
    pub fn socket(&self) -> &OsStr {
        match &self.socket {
            TmuxSocket::Name(name) => name,
            TmuxSocket::Path(path) => path.as_os_str(),
        }
    }

    /// The command with which a person calls this server.
    pub fn shown(&self) -> String {
        match &self.socket {
            TmuxSocket::Name(name) => format!("tmux -L '{}'", name.to_string_lossy()),
            TmuxSocket::Path(path) => format!("tmux -S '{}'", path.display()),
        }
    }

    /// Adds a variable to the environment of every call.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Tmux {
        self.env.push((name.into(), value.into()));
        self
    }

    /// The version of the tmux on `PATH`; `None` for one without numbers (`master`, OpenBSD's own).
    pub fn version(&self) -> Result<Option<TmuxVersion>> {
        Ok(parse::parse_version(&ProgramCall::new("tmux").arg("-V").text()?))
    }

    /// Checks that tmux is installed and new enough.
    pub fn check(&self) -> Result<()> {
        match self.version()? {
            Some(version) if version < OLDEST => Err(Error::new(
                ErrorKind::Environment,
                format!("tmux {version} is too old: {OLDEST} or newer is needed"),
            )
            .help(how_to_install("tmux"))),
            Some(_) | None => Ok(()),
        }
    }

    /// Every pane of the server; none without a server. An error of tmux says nothing about the panes.
    pub fn panes(&self) -> Result<Vec<Pane>> {
        self.read_panes(&self.run(|call| call.args(["list-panes", "-a", "-F", parse::PANE_FORMAT]))?)
    }

    /// The panes of the session with this task's mark.
    pub fn panes_of(&self, task: &str) -> Result<Vec<Pane>> {
        Ok(self.panes()?.into_iter().filter(|pane| pane.belongs_to(task)).collect())
    }

    /// Kills every pane of the task's session in which an agent was started, and returns these panes: their processes may still be
    /// ending. Panes and windows that a person has opened stay, and so does a session of that name without the task's mark.
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
        // A person may have renamed it.
        let panes = if listed.is_empty() { self.panes_of(task)? } else { listed };
        let agents: Vec<Pane> = panes.into_iter().filter(|pane| pane.agent.is_some()).collect();
        self.kill_panes(&agents)?;
        Ok(agents)
    }

    /// Kills the pane of the task's session in which an agent was started under this window name, and returns it: its processes may
    /// still be ending. Panes that a person has split off stay.
    pub fn kill_agent(&self, task: &str, window: &str) -> Result<Vec<Pane>> {
        let mut panes = self.panes_of(task)?;
        panes.retain(|pane| pane.hosts(window));
        self.kill_panes(&panes)?;
        Ok(panes)
    }

    /// Pastes a text into a pane, byte for byte and bracketed if its program asked for that, then presses Enter, unless the pane was
    /// last sent the same `mark`. It first ends copy mode and other modes of tmux.
    ///
    /// The server does all of it or nothing: checking the mark, pasting, setting the mark and scheduling Enter are one step, which
    /// the end of this process does not interrupt.
    ///
    /// The text is sent without the sequence that ends a bracketed paste, after which the rest would be key presses.
    pub fn send_text(&self, pane_id: &str, mark: &str, text: &[u8]) -> Result<()> {
        if !mark.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return Err(Error::new(ErrorKind::Usage, format!("`{mark}` is not a mark of a message")));
        }
        let text = &without_paste_end(text);
        // From 3.7 on, control characters are made visible without -S.
        let raw = self.version()? >= Some(TmuxVersion { major: 3, minor: 7 });
        let (buffer, flags) = (unique_buffer(), if raw { "-dprS" } else { "-dpr" });
        let is_marked = format!("#{{==:#{{@orange_told}},{mark}}}");
        // tmux creates no buffer for an empty text.
        let (paste, forget) = match text.is_empty() {
            true => (String::new(), String::new()),
            false => (
                format!("paste-buffer {flags} -b {buffer} -t '{pane_id}' ; "),
                format!("delete-buffer -b {buffer}"),
            ),
        };
        // The first of the two presses Enter: the background job waits while a person has a prompt open, and the foreground one ends
        // with this call.
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
                .args(["if-shell", "-F", "-t", pane_id, &is_marked])
                .args([&forget, &tell, ";"])
                // The next message must not come between the paste and its Enter.
                .args(["run-shell", "-d", SECONDS_UNTIL_ENTER, ";"])
                .args(["if-shell", "-F", "-t", pane_id, &is_due, &enter])
        })?;
        if parse::says_no_target(&output.complaint()) {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("the pane {pane_id} is gone: nobody got the message"),
            ));
        }
        checked(output).map(drop)
    }

    /// Presses a key in a pane, by its name in tmux.
    pub fn press(&self, pane_id: &str, key: &str) -> Result<()> {
        let leave_history = ["copy-mode", "-q", "-t", pane_id, ";"];
        let output = self.run(|call| call.args(leave_history).args(["send-keys", "-t", pane_id, key]))?;
        checked(output).map(drop)
    }

    /// The last lines of a pane, without empty ones at the end. A wrapped line is one line.
    pub fn capture(&self, pane_id: &str, lines: usize) -> Result<String> {
        let start = format!("-{lines}");
        let output = self.run(|call| call.args(["capture-pane", "-p", "-J", "-t", pane_id, "-S", &start]))?;
        let shown = checked(output)?.text();
        let rows: Vec<&str> = shown.trim_end().lines().collect();
        Ok(rows[rows.len().saturating_sub(lines)..].join("\n"))
    }

    /// Pipes what a pane shows into a program, until the pane is gone. False for a pane that a person has already piped, which stays
    /// as it is.
    pub fn pipe(&self, pane_id: &str, program: &Path, args: &[&OsStr]) -> Result<bool> {
        let words = iter::once(program.as_os_str()).chain(args.iter().copied());
        let line: Vec<OsString> = words.map(quoted_twice).collect();
        // tmux runs the line in a shell with its own environment, which may be that of an agent.
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

    fn read_panes(&self, output: &CallOutput) -> Result<Vec<Pane>> {
        if !output.success() {
            let gone = parse::says_no_target(&output.complaint());
            return if gone { Ok(Vec::new()) } else { Err(failure(output)) };
        }
        parse::parse_panes(&output.text()).ok_or_else(|| {
            Error::new(
                ErrorKind::Environment,
                format!("tmux listed its panes in an unknown form: {}", output.text()),
            )
        })
    }

    /// Kills these panes. One that is gone already is not an error.
    pub fn kill_panes(&self, panes: &[Pane]) -> Result<()> {
        panes.iter().try_for_each(|pane| {
            let output = self.run(|call| call.args(["kill-pane", "-t", &pane.pane_id]))?;
            if parse::says_no_target(&output.complaint()) { Ok(()) } else { checked(output).map(drop) }
        })
    }

    /// Runs a call without a terminal. A server ends with its last session, and does not answer a call at that moment, so the call is
    /// repeated.
    fn run(&self, build: impl Fn(ProgramCall) -> ProgramCall) -> Result<CallOutput> {
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

    /// A call without a terminal. Without `-u`, tmux replaces what is not ASCII. A server that it starts is the engine's, even if an
    /// agent's request causes it, and outlives the shell that asked: it has nothing of that shell but what every program needs.
    fn call(&self) -> ProgramCall {
        let call = ProgramCall::new("tmux").bound(Duration::from_secs(20)).only(is_needed);
        let call = fault::variables().into_iter().fold(call, |call, (name, value)| call.env(name, value));
        let call = call.env(variables::ACTOR, variables::ENGINE);
        let call = self.env.iter().fold(call, |call, (name, value)| call.env(name, value));
        call.preset(["-u"]).preset(self.socket_args())
    }

    fn socket_args(&self) -> [&OsStr; 2] {
        match &self.socket {
            TmuxSocket::Name(name) => [OsStr::new("-L"), name],
            TmuxSocket::Path(path) => [OsStr::new("-S"), path.as_os_str()],
        }
    }
}

impl Pane {
    /// True if this is a pane of this task's session.
    pub fn belongs_to(&self, task: &str) -> bool {
        self.task.as_deref() == Some(task)
    }

    /// True if an agent was started here under this window name.
    pub fn hosts(&self, window: &str) -> bool {
        self.agent.as_deref() == Some(window)
    }
}

/// The sequence that ends a bracketed paste.
const PASTE_END: &[u8] = b"\x1b[201~";

/// The text without any, even those that a removal creates.
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

/// A shell word, quoted so that tmux's own formats and times in it do not apply.
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

/// The target of exactly this session. Without the colon, some commands read the name as a window first, and then match sessions by
/// prefix.
fn exactly(session: &str) -> String {
    format!("={session}:")
}

/// Checks a task's id, since a tmux condition gives other characters a meaning.
fn plain_id(task: &str) -> Result<&str> {
    let plain =
        !task.is_empty() && task.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if plain { Ok(task) } else { Err(Error::new(ErrorKind::Usage, format!("`{task}` is not a task's id"))) }
}

fn unique_buffer() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("orange-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

fn checked(output: CallOutput) -> Result<CallOutput> {
    if output.success() { Ok(output) } else { Err(failure(&output)) }
}

fn failure(output: &CallOutput) -> Error {
    let complaint = output.complaint();
    let error = output.failure();
    if complaint.contains("File name too long") {
        return error.help(format!(
            "a socket's path can have {LONGEST_SOCKET} bytes at most: set ORANGE_TMUX_SOCKET or TMUX_TMPDIR to a shorter one"
        ));
    }
    if complaint.contains("command too long") {
        return error.help(
            "what tmux starts may have 16 KiB of arguments and environment: shorten PATH or ORANGE_HOME",
        );
    }
    if parse::says_no_server(&complaint) || parse::says_server_ended(&complaint) {
        return error.help("the tmux server has ended; `orange monitor --once` looks after its agents");
    }
    error
}
