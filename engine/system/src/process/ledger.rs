//! Remembers the descendants of this process on a system where orphans are not adopted.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::table::ProcessTable;
use super::{Process, ProcessRoot, ProcessTree, adopt_orphans};
use crate::Result;

/// Time between two looks. What loses its parent and leaves session and group within that time may be missed.
pub const INTERVAL: Duration = Duration::from_millis(250);

/// The descendants of this process that were seen, even after they have lost their parents. Each look costs a look at every
/// process of the system, so this is only for systems whose orphans leave this process.
#[derive(Debug)]
pub struct Ledger {
    tree: ProcessTree,
    children: BTreeSet<Process>,
    looked: Instant,
}

impl Ledger {
    /// Adopts orphans where the system can do that: then nothing has to be remembered, and there is no ledger. Otherwise begins
    /// one, which leaves out what this process has started before.
    ///
    /// # Errors
    /// `environment` where the process table cannot be read.
    pub fn begin() -> Result<Option<Ledger>> {
        if adopt_orphans()? {
            return Ok(None);
        }
        let children: BTreeSet<Process> = super::children()?;
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let roots = Process::alive(own)?.map(ProcessRoot::Process).into_iter().collect();
        let tree = ProcessTree { roots, seen: BTreeSet::new(), others: children.clone() };
        Ok(Some(Ledger { tree, children, looked: Instant::now() }))
    }

    /// Looks if it is time for that, and returns the children of this process that are gone since.
    ///
    /// # Errors
    /// `environment` where the process table cannot be read.
    pub fn look(&mut self) -> Result<Vec<Pid>> {
        if self.looked.elapsed() < INTERVAL { Ok(Vec::new()) } else { self.look_now() }
    }

    fn look_now(&mut self) -> Result<Vec<Pid>> {
        let table = ProcessTable::read()?;
        self.tree.look_in(&table);
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let children: BTreeSet<Process> = table.children(own).collect();
        let gone = self.children.difference(&children).filter_map(|child| Pid::from_raw(child.pid)).collect();
        (self.children, self.looked) = (children, Instant::now());
        Ok(gone)
    }

    /// The processes in it, as roots of what they have started.
    pub fn roots(&self) -> Vec<ProcessRoot> {
        // One that was seen between its fork and its program can be the engine's.
        let is_theirs = |seen: &Process| !super::is_the_engine_s(seen.pid);
        let seen = self.tree.seen.iter().copied();
        let itself = seen.clone().filter(is_theirs).map(ProcessRoot::Process);
        itself.chain(seen.map(ProcessRoot::Led)).collect()
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::path::Path;
    use std::process::{Command, Stdio};

    use super::*;
    use orange_testkit::until;

    const NOTE: &str = "ORANGE_TEST_NOTE";

    /// Starts a program that starts another one, which leaves session and group, writes its number here and outlives the first.
    fn orphan(note: &Path, see: &mut dyn FnMut()) -> i32 {
        const STARTS: &str =
            r#"setsid sh -c 'echo $$ > "$0.new" && mv "$0.new" "$0" && exec sleep 1000' "$0" & read -r _"#;
        let mut command = Command::new("sh");
        command.args(["-c", STARTS]).arg(note).stdin(Stdio::piped());
        let mut first = command.env(crate::variables::TASK, "t1").spawn().unwrap();
        until("the second one runs", || note.exists());
        see();
        drop(first.stdin.take());
        first.wait().unwrap();
        std::fs::read_to_string(note).unwrap().trim().parse().unwrap()
    }

    /// Not a test by itself: the test below runs it in a process of its own, since a ledger has all that its process starts.
    #[test]
    fn keeps_a_ledger() {
        let Some(note) = std::env::var_os(NOTE) else { return };
        let before = Command::new("sleep").arg("1000").spawn();
        let mut before = before.unwrap();
        let mut ledger = Ledger::begin().unwrap().unwrap();
        let pid = orphan(Path::new(&note), &mut || drop(ledger.look_now().unwrap()));
        let is_alive = |pid| Process::alive(pid).unwrap().is_some();
        assert!(is_alive(pid), "it outlives its parent");
        let gone = ledger.look_now().unwrap();
        assert_eq!(gone.len(), 1, "the first one: {gone:?}");
        super::super::end(&ledger.roots()).unwrap();
        assert!(!is_alive(pid));
        assert!(is_alive(before.id().cast_signed()), "what was there before is left alone");
        assert_eq!(ledger.look_now().unwrap(), []);
        assert_eq!(ledger.tree.seen, BTreeSet::new(), "those that are gone are forgotten");
        before.kill().and_then(|()| before.wait()).unwrap();
    }

    #[test]
    fn an_orphan_that_left_its_session_is_remembered() {
        for lacks in ["subreaper", "subreaper,proc,environments"] {
            let folder = tempfile::tempdir().unwrap();
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["process::ledger::tests::keeps_a_ledger", "--exact", "--nocapture"]);
            command.env(NOTE, folder.path().join("pid")).env("ORANGE_LACKS", lacks);
            let said = command.output().unwrap();
            assert!(said.status.success(), "{lacks}: {}", String::from_utf8_lossy(&said.stderr));
        }
    }
}
