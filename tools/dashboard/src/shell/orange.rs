//! The program `orange`: everything that the dashboard knows comes from it, and everything that it does is done by it.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};

use super::ShellNote;
use crate::model::DashboardOptions;
use crate::model::effect::{Event, Order, Question};
use orange_api::{Error, ErrorKind, Refusal};

#[derive(Clone, Debug)]
pub(super) struct OrangeProgram {
    program: OsString,
}

impl OrangeProgram {
    /// The one beside this program, or else the one on `PATH`.
    pub(super) fn find() -> OrangeProgram {
        let own = std::env::current_exe().ok();
        let beside = own.and_then(|own| Some(own.parent()?.join("orange"))).filter(|file| file.is_file());
        OrangeProgram { program: beside.map_or_else(|| OsString::from("orange"), Into::into) }
    }

    /// Asks in a thread, which sends the answer.
    pub(super) fn ask(&self, question: Question, scope: &DashboardOptions, sender: Sender<ShellNote>) {
        let (orange, words) = (self.clone(), question.words(scope));
        thread::spawn(move || {
            let answer = orange.output(&words, None, question.is_text()).and_then(|output| {
                question.parse(&output.stdout).map_err(|cause| something_else(&words, &cause))
            });
            // Without a receiver, nobody needs the answer any more.
            sender.send(ShellNote::Event(Event::Answered(question, Box::new(answer)))).unwrap_or_default();
        });
    }

    /// Carries an order out in a thread, which sends what became of it.
    pub(super) fn carry(&self, order: Order, sender: Sender<ShellNote>) -> JoinHandle<()> {
        let orange = self.clone();
        thread::spawn(move || {
            let output = orange.output(&order.words, order.input.as_deref(), false);
            let answer = output.and_then(|output| {
                order.parse(&output.stdout).map_err(|cause| something_else(&order.words, &cause))
            });
            sender.send(ShellNote::Event(Event::Carried(order, Box::new(answer)))).unwrap_or_default();
        })
    }

    /// Runs a command that uses this terminal, until a session is detached or over, or an editor has ended.
    pub(super) fn attach(&self, words: &[impl AsRef<OsStr>]) -> Result<(), Error> {
        let output = Command::new(&self.program).args(words).stderr(Stdio::piped()).output_on_terminal();
        let output = output.map_err(|cause| self.cannot_run(&cause))?;
        if output.status.success() { Ok(()) } else { Err(complaint(&output)) }
    }

    /// Prints an answer on this terminal, and waits for a key.
    pub(super) fn print(&self, words: &[String]) -> Result<(), Error> {
        let shown = self.attach(words);
        let mut out = io::stdout();
        // A terminal that is gone has nobody to wait for.
        write!(out, "\n(Enter goes back to the dashboard) ").and_then(|()| out.flush()).unwrap_or_default();
        io::stdin().read_line(&mut String::new()).unwrap_or_default();
        shown
    }

    /// Starts it with a pipe for its output, and without input.
    pub(super) fn start(&self, words: &[String]) -> io::Result<Child> {
        let mut command = Command::new(&self.program);
        command.arg("--json").args(words);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
    }

    fn output(&self, words: &[String], input: Option<&str>, is_text: bool) -> Result<Output, Error> {
        let mut command = Command::new(&self.program);
        if !is_text {
            command.arg("--json");
        }
        let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
        command.args(words).stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|cause| self.cannot_run(&cause))?;
        if let (Some(text), Some(mut stdin)) = (input, child.stdin.take()) {
            // A command that does not read its input says why in its answer.
            stdin.write_all(text.as_bytes()).unwrap_or_default();
        }
        let output = child.wait_with_output().map_err(|cause| self.cannot_run(&cause))?;
        if output.status.success() { Ok(output) } else { Err(complaint(&output)) }
    }

    fn cannot_run(&self, cause: &io::Error) -> Error {
        Error::new(ErrorKind::Environment, format!("cannot run {}: {cause}", self.program.display()))
            .help("put `orange` beside `orange-dashboard`, or on PATH")
    }
}

/// The error of an answer that is not the expected one.
fn something_else(words: &[String], cause: &serde_json::Error) -> Error {
    let message = format!("`orange {}` answers something else: {cause}", words.join(" "));
    Error::new(ErrorKind::Environment, message)
        .help("see whether `orange` and `orange-dashboard` have the same version")
}

/// Error of a failed command: its answer, or what it has printed.
fn complaint(output: &Output) -> Error {
    if let Ok(Refusal { error }) = serde_json::from_slice(&output.stdout) {
        return Error::reported(error.into_owned());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let text = text.trim();
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let (message, help) = text.split_once('\n').unwrap_or((text, ""));
    let message = if message.is_empty() {
        format!("`orange` has failed, {}", output.status)
    } else {
        message.to_owned()
    };
    Error::new(ErrorKind::Environment, message).help(help.trim())
}

/// Runs a program that uses the terminal itself.
trait OnTerminal {
    fn output_on_terminal(&mut self) -> io::Result<Output>;
}

impl OnTerminal for Command {
    fn output_on_terminal(&mut self) -> io::Result<Output> {
        self.stdin(Stdio::inherit()).stdout(Stdio::inherit()).spawn()?.wait_with_output()
    }
}
