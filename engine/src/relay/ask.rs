//! The agent's side: decides whether to ask, leaves a request, and waits for its reply.

use orange_system::variables::{MISSION, RELAYED, WORKTREE};
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::confinement;
use super::folder::{RequestFolder, RequestName, RequestPart, open_worktree};
use super::message::{LONGEST_REPLY, RelayReply, RelayRequest, in_doubt, is_held};
use rustix::fs::OFlags;

use crate::caller::Caller;
use crate::drive::git::REQUEST_FOLDER;
use crate::store::{Home, WorkItemDir, WorkItemKind, list, pool};
use crate::{Error, ErrorKind, Result};
use orange_system::nofollow;

/// The time in which a companion must claim a request.
const TO_CLAIM: Duration = Duration::from_secs(20);

/// The time limit of a claimed command; the companion's own limit is shorter.
const TO_REPLY: Duration = Duration::from_secs(45 * 60);

/// The time limit of one that waits for a person.
const TO_PERSON: Duration = Duration::from_secs(86_400);

/// An agent that has to ask because it is in a sandbox.
#[derive(Debug)]
pub struct SandboxAsker<'c> {
    task: &'c str,
    kind: WorkItemKind,
    spawn: u32,
    secret: Option<&'c str>,
    folder: &'c Path,
    worktree: Option<PathBuf>,
    /// False if its task is not in the store that it sees, as in a wall.
    pub sees_store: bool,
}

impl<'c> SandboxAsker<'c> {
    /// The asker, if this caller in this folder is an agent in a sandbox: the store cannot be written, or the agent is confined
    /// differently than its companion.
    pub fn of(home: &Home, caller: &'c Caller, folder: &'c Path) -> Option<SandboxAsker<'c>> {
        let Caller::Agent { task, spawn: Some(spawn), secret, .. } = caller else { return None };
        if std::env::var_os(RELAYED).is_some() {
            return None;
        }
        let worktree = worktree_of(home, task, *spawn, folder);
        // The store may be invisible from here.
        let kind = std::env::var_os(MISSION).map_or(WorkItemKind::Task, |_| WorkItemKind::Mission);
        let secret = secret.as_deref();
        // A store that cannot be read is as one without the task.
        let found = list::with_id(home, &WorkItemKind::ALL, None, task).map(|mut dirs| dirs.pop());
        let dir = found.unwrap_or_default();
        let sees_store = dir.is_some();
        let asker = SandboxAsker { task, kind, spawn: *spawn, secret, folder, worktree, sees_store };
        (asker.is_confined() || is_out_of_reach(home, dir.as_ref())).then_some(asker)
    }

    /// Makes the companion run `orange` with these words and this standard input.
    pub fn ask(&self, words: Vec<String>, input: String) -> Result<RelayReply> {
        let request = RelayRequest {
            task: self.task.to_owned(),
            spawn: self.spawn,
            secret: self.secret.map(str::to_owned),
            folder: self.folder.to_owned(),
            words,
            input,
        };
        let patience = if is_held(&request.words) { TO_PERSON } else { TO_REPLY };
        let bytes = serde_json::to_vec(&request).map_err(|cause| {
            Error::new(ErrorKind::Environment, format!("cannot write the request: {cause}"))
        })?;
        let folder = self.request_folder().filter(RequestFolder::is_answered).ok_or_else(|| self.nobody())?;
        let fail = |cause: io::Error| Error::io("leave a request in", &self.place(), &cause);
        let name = RequestName::random()?;
        folder.create(&name, RequestPart::Request, &bytes).map_err(fail)?;
        self.wait(&folder, &name, patience)
    }

    fn wait(&self, folder: &RequestFolder, name: &RequestName, patience: Duration) -> Result<RelayReply> {
        let asked = Instant::now();
        let mut nap = Nap::default();
        loop {
            if let Some(reply) = taken(folder, name) {
                return Ok(reply);
            }
            let late = asked.elapsed() > patience
                || asked.elapsed() > TO_CLAIM && folder.has(name, RequestPart::Request);
            if late || nap.has_looked_long() && !folder.is_answered() {
                return self.withdraw(folder, name);
            }
            nap.sleep();
        }
    }

    /// Withdraws a request without an answer, unless the reply has come at the last moment.
    fn withdraw(&self, folder: &RequestFolder, name: &RequestName) -> Result<RelayReply> {
        if folder.remove(name, RequestPart::Request) {
            return Err(self.nobody());
        }
        let unknown = || in_doubt("the process that carries requests out has ended while it was at this one");
        taken(folder, name).ok_or_else(unknown)
    }

    fn nobody(&self) -> Error {
        let message = format!(
            "the store cannot be written from here, as in a sandbox, and nobody answers requests in {}: nothing was done",
            self.place().display()
        );
        Error::new(ErrorKind::Environment, message).help(stop_here(self.kind, self.task))
    }

    fn place(&self) -> PathBuf {
        self.worktree.as_deref().unwrap_or(self.folder).join(REQUEST_FOLDER).join(self.spawn.to_string())
    }

    fn request_folder(&self) -> Option<RequestFolder> {
        let worktree = open_worktree(self.worktree.as_ref()?).ok()?;
        RequestFolder::open(worktree.as_fd(), self.spawn).ok()
    }

    /// True if the companion is confined differently than this process.
    fn is_confined(&self) -> bool {
        let answered = self.request_folder().and_then(|folder| folder.answered_from());
        answered.is_some_and(|other| !other.is_empty() && other != confinement::own())
    }
}

/// Help for an agent that gets no answer.
fn stop_here(kind: WorkItemKind, id: &str) -> String {
    let next = match kind {
        WorkItemKind::Task => format!("a person runs this command outside, or `orange task respawn {id}`"),
        WorkItemKind::Mission => {
            format!("another agent goes on with the step, and `orange mission show {id}` shows it")
        }
    };
    format!("stop here; {next}; `orange log` may say more")
}

/// The worktree of the task: the one that it holds, or else the one of this folder, or else the one that a walled agent is given.
fn worktree_of(home: &Home, task: &str, spawn: u32, folder: &Path) -> Option<PathBuf> {
    let held = pool::worktree_of(home, task).unwrap_or_default();
    let bound = held.map(|name| home.workspace(&name));
    let requests = Path::new(REQUEST_FOLDER).join(spawn.to_string());
    let named = std::env::var_os(WORKTREE).map(PathBuf::from);
    let above =
        || folder.ancestors().map(Path::to_owned).chain(named).find(|above| above.join(&requests).is_dir());
    bound.or_else(above)
}

/// True if the store is read-only or invisible.
fn is_out_of_reach(home: &Home, dir: Option<&WorkItemDir>) -> bool {
    let Some(dir) = dir else { return !home.root().is_dir() };
    let opened = nofollow::open(&dir.lock_file(), OFlags::RDWR);
    let kinds = [io::ErrorKind::ReadOnlyFilesystem, io::ErrorKind::PermissionDenied];
    opened.is_err_and(|cause| kinds.contains(&cause.kind()))
}

/// The reply to this request, if there is one; its file is removed.
fn taken(folder: &RequestFolder, name: &RequestName) -> Option<RelayReply> {
    let reply = RelayReply::from_bytes(&folder.read(name, RequestPart::Reply, LONGEST_REPLY).ok()?)?;
    folder.remove(name, RequestPart::Reply);
    Some(reply)
}

/// The pauses between two looks, which become longer.
#[derive(Default)]
struct Nap(u32);

impl Nap {
    fn sleep(&mut self) {
        self.0 = self.0.saturating_add(1);
        let pause = match self.0 {
            0..50 => 1,
            50..200 => 5,
            _ => 20,
        };
        thread::sleep(Duration::from_millis(pause));
    }

    /// True if a check for a companion is due, which is done less often than one for a reply.
    fn has_looked_long(&self) -> bool {
        self.0 % 20 == 19
    }
}

/// The error with what an agent can do about its sandbox.
pub fn only_some(error: Error) -> Error {
    error.help(
        "inside its sandbox an agent may ask for `orange task update`, `complete`, `next`, `show`, `feedback`, `reply`, `verdict` and \
         `create` (where its state delegates work), and for `orange step` and `orange mission show`, which are run outside; leave anything else \
         to a person",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_without_an_answer_hears_who_goes_on() {
        assert!(stop_here(WorkItemKind::Task, "t1").contains("`orange task respawn t1`"));
        assert!(stop_here(WorkItemKind::Mission, "m1").contains("`orange mission show m1`"));
    }
}
