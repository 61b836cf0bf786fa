//! Takes the requests of an agent, runs a command for each, and replies.

use orange_system::variables;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::folder::{Listing, RequestFolder, RequestName, RequestPart};
use super::message::{LONGEST_REPLY, LONGEST_REQUEST, RelayReply, RelayRequest, in_doubt, is_held};
use crate::app::App;
use crate::caller::check_secret;
use crate::store::WorkItemDir;
use crate::store::event::Actor;
use crate::{Error, ErrorKind, Result};
use orange_system::exec::ProgramCall;
use orange_system::fault;

/// Checks whether an agent may run these words. A walled one is given with its task or mission, of which alone it may ask.
pub type RequestCheck = fn(&[String], Option<&WorkItemDir>) -> Result<()>;

/// The number of concurrent commands; further requests wait.
const AT_ONCE: usize = 8;

/// The time limit of a command.
const BOUND: Duration = Duration::from_secs(40 * 60);

/// The number of requests that wait for a person at once.
const HELD_AT_ONCE: usize = 32;

/// The time limit of a command that waits for a person: that of a harness for its hook.
const LONG_BOUND: Duration = Duration::from_secs(86_400);

/// Takes the requests of one agent.
pub(super) struct RequestCounter<'o> {
    app: &'o App,
    dir: &'o WorkItemDir,
    spawn: u32,
    actor: Actor,
    /// The worktree of a walled agent.
    wall: Option<PathBuf>,
    check: RequestCheck,
    /// Names that were claimed: no request runs twice, whatever the agent writes into the folder.
    seen: BTreeSet<RequestName>,
    at_work: Vec<JoinHandle<()>>,
    /// Requests that wait for a person.
    held: Vec<JoinHandle<()>>,
}

impl<'o> RequestCounter<'o> {
    /// Takes requests of this agent.
    pub(super) fn new(
        app: &'o App,
        dir: &'o WorkItemDir,
        spawn: u32,
        actor: Actor,
        wall: Option<PathBuf>,
        check: RequestCheck,
    ) -> RequestCounter<'o> {
        let (at_work, held) = (Vec::new(), Vec::new());
        RequestCounter { app, dir, spawn, actor, wall, check, seen: BTreeSet::new(), at_work, held }
    }

    /// Replies to the requests that a killed companion had claimed: their results are unknown, so they do not run again.
    pub(super) fn reply_to_interrupted(&mut self, folder: &RequestFolder) {
        let unknown = in_doubt("the process that carries requests out was killed while it was at this one");
        for name in folder.list().unwrap_or_default().claimed {
            // After the folder was moved back, it has requests that this process is running.
            if self.seen.insert(name.clone()) {
                answer(folder, &name, &RelayReply::Failed(unknown.clone()));
            }
        }
    }

    /// Starts requested commands as long as there is room, and returns whether there was.
    pub(super) fn take(&mut self, folder: &Arc<RequestFolder>) -> bool {
        self.at_work.retain(|thread| !thread.is_finished());
        self.held.retain(|thread| !thread.is_finished());
        let Listing { requests, .. } = folder.list().unwrap_or_default();
        for name in requests {
            if self.at_work.len() >= AT_ONCE {
                return false;
            }
            fault::step("claim", "a request");
            if !folder.claim(&name).unwrap_or_default() || !self.seen.insert(name.clone()) {
                continue;
            }
            fault::step("read", "a request");
            match self.call(folder, &name) {
                Ok((call, is_held)) => self.begin(call, is_held, Arc::clone(folder), name),
                Err(error) => answer(folder, &name, &RelayReply::Failed(error)),
            }
        }
        true
    }

    /// Waits until every running command has a reply. Requests that wait for a person end by themselves: their agent has ended.
    pub(super) fn close(self) {
        for thread in self.at_work {
            // A command's thread does not panic; if it did, its agent would get no reply.
            thread.join().unwrap_or_default();
        }
    }

    fn begin(&mut self, call: ProgramCall, is_held: bool, folder: Arc<RequestFolder>, name: RequestName) {
        let threads = if is_held { &mut self.held } else { &mut self.at_work };
        threads.push(thread::spawn(move || {
            fault::step("carry out", "a request");
            let reply = call.run().map_or_else(RelayReply::Failed, |output| RelayReply::of(&output));
            fault::step("answer", "a request");
            answer(&folder, &name, &reply);
        }));
    }

    /// The command for a request, and whether it waits for a person.
    fn call(&self, folder: &RequestFolder, name: &RequestName) -> Result<(ProgramCall, bool)> {
        let wrong = |what: String| {
            Error::new(ErrorKind::Usage, format!("the request cannot be taken: {what}"))
                .help("run `orange`; it writes requests by itself")
        };
        let bytes = folder
            .read(name, RequestPart::Claimed, LONGEST_REQUEST)
            .map_err(|cause| wrong(cause.to_string()))?;
        let request: RelayRequest =
            serde_json::from_slice(&bytes).map_err(|cause| wrong(cause.to_string()))?;
        let RelayRequest { task, spawn, secret, folder, words, input } = request;
        if (&task, spawn) != (&self.dir.id, self.spawn) {
            let WorkItemDir { id, .. } = self.dir;
            let message =
                format!("agent {} of task {id} asks here, and not agent {spawn} of task {task}", self.spawn);
            return Err(Error::new(ErrorKind::NotAllowed, message)
                .help("ask in your own task's worktree, from the environment that you were started with"));
        }
        check_secret(&self.app.home, &task, Some(spawn), secret.as_deref())?;
        (self.check)(&words, self.wall.as_ref().map(|_| self.dir))?;
        let is_held = is_held(&words);
        if is_held && self.held.len() >= HELD_AT_ONCE {
            let message = format!("{HELD_AT_ONCE} requests wait for a person already");
            return Err(Error::new(ErrorKind::Refused, message).help("ask again when one has an answer"));
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        // The folder says which task is meant, and a walled agent may say anything.
        let folder = self.wall.as_ref().unwrap_or(&folder);
        let bound = if is_held { LONG_BOUND } else { BOUND };
        let call = self.app.as_engine(&words, self.dir).folder(folder).bound(bound).input(input.as_bytes());
        let call = call.env(variables::TASK, &task).env(variables::SPAWN, spawn.to_string());
        let call = call.env(variables::ACTOR, self.actor.as_str()).env(variables::RELAYED, "yes");
        let call = secret.into_iter().fold(call, |call, secret| call.env(variables::SECRET, secret));
        Ok((call, is_held))
    }
}

fn answer(folder: &RequestFolder, name: &RequestName, reply: &RelayReply) {
    let mut bytes = reply.to_bytes();
    if bytes.len() as u64 > LONGEST_REPLY {
        let message = format!("the answer has {} bytes, which is too much for a reply", bytes.len());
        bytes = RelayReply::Failed(
            Error::new(ErrorKind::Environment, message).help("what was asked for is done"),
        )
        .to_bytes();
    }
    // If the agent has removed the folder or filled the disk, it gets no reply.
    folder.create(name, RequestPart::Reply, &bytes).unwrap_or_default();
    fault::step("forget", "a request");
    folder.remove(name, RequestPart::Claimed);
}
