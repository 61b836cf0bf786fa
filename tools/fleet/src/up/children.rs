//! The processes of `orange-fleet up`: they are started again when they end, and end when this process does.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use orange_api::{Error, ErrorKind, Result};
use rustix::process::{Pid, Signal, getpid, kill_process};

use super::LOOK;
use crate::crab::Tell;

/// Says to a process that it ends when its standard input does.
const WITH_PARENT: &str = "ORANGE_FLEET_WITH_PARENT";

/// Words that the gateway prints before its address.
const SERVES: &str = "orange-fleet serves ";

/// A process that ends this soon has not started.
const SOON: Duration = Duration::from_secs(5);

/// Time limit for the end of a process.
const PATIENCE: Duration = Duration::from_secs(15);

/// The shortest and the longest time before a process is started again.
const AGAIN: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// A process, and what it is started with.
pub(super) struct Child {
    name: String,
    words: Vec<String>,
    process: Option<std::process::Child>,
    since: Instant,
    /// Time of its next start, and the wait before the one after it.
    again: (Instant, Duration),
    has_lived: bool,
}

/// All of them: the gateway, then the crabs.
pub(super) struct Children {
    all: Vec<Child>,
    tell: Tell,
}

impl Child {
    pub(super) fn new(name: &str, words: Vec<String>) -> Child {
        let now = Instant::now();
        Child {
            name: name.to_owned(),
            words,
            process: None,
            since: now,
            again: (now, AGAIN.0),
            has_lived: false,
        }
    }

    fn start(&mut self, stdout: Stdio) -> Result<()> {
        let own = std::env::current_exe().map_err(|cause| {
            Error::new(ErrorKind::Environment, format!("this program cannot be found: {cause}"))
        })?;
        let mut command = Command::new(own);
        // The pipe closes with this process, however that ends.
        command.args(&self.words).env(WITH_PARENT, "1").stdin(Stdio::piped()).stdout(stdout);
        let process = command.spawn().map_err(|cause| {
            Error::new(ErrorKind::Environment, format!("{} cannot be started: {cause}", self.name))
        })?;
        (self.process, self.since) = (Some(process), Instant::now());
        Ok(())
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        let status = self.process.as_mut()?.try_wait().ok().flatten()?;
        self.process = None;
        Some(status)
    }

    /// Asks it to end, and ends it.
    fn stop(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        let pid = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // One that has ended needs no signal.
            kill_process(pid, Signal::TERM).unwrap_or_default();
        }
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE && matches!(process.try_wait(), Ok(None)) {
            thread::sleep(LOOK);
        }
        process.kill().unwrap_or_default();
        process.wait().map(drop).unwrap_or_default();
    }
}

impl Children {
    pub(super) fn new(tell: Tell) -> Children {
        Children { all: Vec::new(), tell }
    }

    pub(super) fn add(&mut self, mut child: Child) -> Result<()> {
        child.start(Stdio::null())?;
        self.all.push(child);
        Ok(())
    }

    /// Starts the gateway, and gives its address once it serves.
    pub(super) fn add_gateway(&mut self, words: Vec<String>, stop: &AtomicBool) -> Result<String> {
        let mut child = Child::new("the gateway", words);
        child.start(Stdio::piped())?;
        let output = child.process.as_mut().and_then(|it| it.stdout.take());
        self.all.push(child);
        let (sender, receiver) = std::sync::mpsc::channel();
        thread::spawn(move || {
            let Some(output) = output else { return };
            for line in BufReader::new(output).lines().map_while(std::result::Result::ok) {
                let address =
                    line.strip_prefix(SERVES).and_then(|it| it.split(';').next()).map(str::to_owned);
                // Nobody waits for a second address.
                address.map_or(Ok(()), |it| sender.send(it)).unwrap_or_default();
            }
        });
        loop {
            if let Ok(address) = receiver.recv_timeout(LOOK) {
                return Ok(self.keep_address(address));
            }
            let is_over = self.all.iter_mut().any(|it| it.ended().is_some());
            if is_over || stop.load(Ordering::Relaxed) {
                return Err(Error::new(ErrorKind::Environment, "the gateway has not started")
                    .help("it has said why; another one may have its address: `--listen 127.0.0.1:0` takes a free port"));
            }
        }
    }

    /// A gateway that is started again has the same address, which the crabs know.
    fn keep_address(&mut self, address: String) -> String {
        let listen = address.split_once("://").map_or(address.as_str(), |(_, it)| it).to_owned();
        for child in &mut self.all {
            let at = child.words.iter().position(|it| it == "--listen");
            if let Some(value) = at.and_then(|at| child.words.get_mut(at + 1)) {
                value.clone_from(&listen);
            }
        }
        address
    }

    /// Starts again what has ended.
    ///
    /// # Errors
    /// A process has refused to start.
    pub(super) fn look(&mut self) -> Result<()> {
        for child in &mut self.all {
            if let Some(status) = child.ended() {
                let lived = child.since.elapsed() > SOON;
                if !child.has_lived && !lived && status.code().is_some() {
                    let message = format!("{} has not started ({status})", child.name);
                    return Err(Error::new(ErrorKind::Refused, message).help("it has said why"));
                }
                let pause = if lived { AGAIN.0 } else { child.again.1 };
                child.again = (Instant::now() + pause, (pause * 2).min(AGAIN.1));
                (self.tell)(&format!("{} has ended ({status}), and is started again", child.name));
            }
            child.has_lived |= child.process.is_some() && child.since.elapsed() > SOON;
            if child.process.is_none() && Instant::now() >= child.again.0 {
                child.start(Stdio::null())?;
            }
        }
        Ok(())
    }

    /// Stops the crabs, then the gateway.
    pub(super) fn stop(&mut self) {
        self.all.iter_mut().rev().for_each(Child::stop);
    }
}

/// Has a process that `orange-fleet up` has started end with it.
pub fn follow_parent() {
    if std::env::var_os(WITH_PARENT).is_none() {
        return;
    }
    thread::spawn(|| {
        let mut input = std::io::stdin();
        let mut nothing = [0; 64];
        // An input that cannot be read has ended, too.
        while let Ok(1..) = input.read(&mut nothing) {}
        // It stops as it does at any other end.
        kill_process(getpid(), Signal::TERM).unwrap_or_default();
    });
}
