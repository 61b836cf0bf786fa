//! Takes the requests of an agent, runs a command for each, and replies.

use orange_system::variables;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::folder::{Listing, RequestFolder, RequestName, RequestPart};
use super::message::{LONGEST_REPLY, LONGEST_REQUEST, RelayReply, RelayRequest, in_doubt};
use crate::app::App;
use crate::caller::check_secret;
use crate::store::WorkItemDir;
use crate::store::event::Actor;
use crate::{Error, ErrorKind, Result};
use orange_system::exec::ProgramCall;
use orange_system::fault;

/// Checks whether an agent may run these words.
pub type RequestCheck = fn(&[String]) -> Result<()>;

/// The number of concurrent commands; further requests wait.
const AT_ONCE: usize = 8;

/// The time limit of a command.
const BOUND: Duration = Duration::from_secs(40 * 60);

/// Takes the requests of one agent.
pub(super) struct RequestCounter<'o> {
    app: &'o App,
    dir: &'o WorkItemDir,
    spawn: u32,
    actor: Actor,
    check: RequestCheck,
    /// Names that were claimed: no request runs twice, whatever the agent writes into the folder.
    seen: BTreeSet<RequestName>,
    at_work: Vec<JoinHandle<()>>,
}

impl<'o> RequestCounter<'o> {
    /// Takes requests of this agent.
    pub(super) fn new(
        app: &'o App,
        dir: &'o WorkItemDir,
        spawn: u32,
        actor: Actor,
        check: RequestCheck,
    ) -> RequestCounter<'o> {
        RequestCounter { app, dir, spawn, actor, check, seen: BTreeSet::new(), at_work: Vec::new() }
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
                Ok(call) => self.begin(call, Arc::clone(folder), name),
                Err(error) => answer(folder, &name, &RelayReply::Failed(error)),
            }
        }
        true
    }

    /// Waits until every running command has a reply.
    pub(super) fn close(self) {
        for thread in self.at_work {
            // A command's thread does not panic; if it did, its agent would get no reply.
            thread.join().unwrap_or_default();
        }
    }

    fn begin(&mut self, call: ProgramCall, folder: Arc<RequestFolder>, name: RequestName) {
        self.at_work.push(thread::spawn(move || {
            fault::step("carry out", "a request");
            let reply = call.run().map_or_else(RelayReply::Failed, |output| RelayReply::of(&output));
            fault::step("answer", "a request");
            answer(&folder, &name, &reply);
        }));
    }

    /// The command for a request.
    fn call(&self, folder: &RequestFolder, name: &RequestName) -> Result<ProgramCall> {
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
        (self.check)(&words)?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let call = self.app.as_engine(&words, self.dir).folder(&folder).bound(BOUND).input(input.as_bytes());
        let call = call.env(variables::TASK, &task).env(variables::SPAWN, spawn.to_string());
        let call = call.env(variables::ACTOR, self.actor.as_str()).env(variables::RELAYED, "yes");
        Ok(secret.into_iter().fold(call, |call, secret| call.env(variables::SECRET, secret)))
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
