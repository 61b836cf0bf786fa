//! Runs an agent in the terminal, and ends everything that it has started when it ends.

use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, WaitId, WaitIdOptions};

use crate::{Error, ErrorKind, Result};
use orange_system::exec::{ProcessGroup, ProgramCall};
use orange_system::fault;
use orange_system::process::{self, Ledger, Process, ProcessRoot};

/// The time between two looks while the process table cannot be read.
const WITHOUT_TABLE: Duration = Duration::from_millis(500);

/// End of an agent: it exited with a code, or a signal ended it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentExit {
    /// Its exit status.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

/// Runs an agent on this terminal and waits for its end; then ends everything that it started: what is in its process group,
/// below this process, or of these roots. `holder` is a program that ends with its standard input and has the terminal
/// before the agent exists. `started` is called with the agent first of all, and `lost` with each other child of this process
/// that ends meanwhile.
pub fn run(
    call: ProgramCall,
    holder: ProgramCall,
    roots: &[ProcessRoot],
    started: impl FnOnce(Process) -> Result<()>,
    lost: impl FnMut(Pid),
) -> Result<AgentExit> {
    let mut ledger = Ledger::begin()?;
    let (mut child, group) = on_terminal(call, holder)?;
    let pid = Pid::from_child(&child);
    let begun = Process::alive(pid.as_raw_nonzero().get()).and_then(|agent| agent.map_or(Ok(()), started));
    let waited = begun.and_then(|()| match &mut ledger {
        None => wait_unreaped(pid, lost),
        Some(ledger) => wait_with(ledger, pid, lost),
    });
    fault::step("clear up after", "the agent");
    let remembered = ledger.as_ref().map(Ledger::roots).unwrap_or_default();
    process::end(&[roots, &below(group)?, &remembered].concat())?;
    let ended = reap(&mut child)?;
    waited.map(|()| ended)
}

/// Starts the agent in the terminal's foreground, so that Ctrl-C reaches it alone. Its process group has the terminal before it
/// starts: in tmux, a process that reads another group's terminal sees it closed. Returns the group, too.
fn on_terminal(call: ProgramCall, holder: ProgramCall) -> Result<(Child, Pid)> {
    let stdin = std::io::stdin();
    if !rustix::termios::isatty(&stdin) {
        let child = call.attended(ProcessGroup::New)?;
        let group = Pid::from_child(&child);
        return Ok((child, group));
    }
    let mut holder = holder.held()?;
    let group = Pid::from_child(&holder);
    let given = rustix::termios::tcsetpgrp(&stdin, group).map_err(|cause| {
        Error::new(ErrorKind::Environment, format!("cannot give the agent the terminal: {cause}"))
    });
    let child = given.and_then(|()| call.attended(ProcessGroup::Other(group)));
    drop(holder.stdin.take());
    reap(&mut holder)?;
    Ok((child?, group))
}

/// Waits without reaping the agent, so that its id stays its own; other children are reaped.
fn wait_unreaped(agent: Pid, mut lost: impl FnMut(Pid)) -> Result<()> {
    let is_over = || waitable(WaitId::Pid(agent), WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG);
    loop {
        waitable(WaitId::All, WaitIdOptions::NOWAIT)?;
        if is_over()? {
            return Ok(());
        }
        // While the process table cannot be read, the agent is not to end for that: ended children stay until it can.
        let Ok(ended) = process::ended_children(rustix::process::getpid()) else {
            thread::sleep(WITHOUT_TABLE);
            continue;
        };
        for orphan in ended.into_iter().filter(|pid| *pid != agent) {
            waitable(WaitId::Pid(orphan), WaitIdOptions::NOHANG)?;
            lost(orphan);
        }
    }
}

/// Waits likewise, and remembers meanwhile what the agent starts.
fn wait_with(ledger: &mut Ledger, agent: Pid, mut lost: impl FnMut(Pid)) -> Result<()> {
    /// Time between two looks at the agent alone, which cost little.
    const OFTEN: Duration = Duration::from_millis(50);
    while !waitable(WaitId::Pid(agent), WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG)? {
        thread::sleep(OFTEN);
        // While the process table cannot be read, the agent is not to end for that.
        for child in ledger.look().unwrap_or_default().into_iter().filter(|pid| *pid != agent) {
            // It may have been waited for already.
            waitable(WaitId::Pid(child), WaitIdOptions::NOHANG).unwrap_or_default();
            lost(child);
        }
    }
    Ok(())
}

/// True if such a child has ended, by a wait with these options.
fn waitable(which: WaitId<'_>, options: WaitIdOptions) -> Result<bool> {
    loop {
        match rustix::process::waitid(which.clone(), WaitIdOptions::EXITED | options) {
            Ok(status) => return Ok(status.is_some()),
            Err(rustix::io::Errno::INTR) => (),
            Err(cause) => {
                return Err(Error::new(
                    ErrorKind::Environment,
                    format!("cannot wait for the agent: {cause}"),
                ));
            }
        }
    }
}

/// The roots of an agent's processes by their position: its group, what is below this process, and the terminal's session if this
/// process leads it, as in a tmux pane.
fn below(group: Pid) -> Result<Vec<ProcessRoot>> {
    let own = rustix::process::getpid();
    let session = process::leads_session(own)?.then_some(ProcessRoot::Session(own));
    let itself = Process::alive(own.as_raw_nonzero().get())?.map(ProcessRoot::Process);
    Ok(session.into_iter().chain(itself).chain([ProcessRoot::Group(group)]).collect())
}

fn reap(child: &mut Child) -> Result<AgentExit> {
    let status = child
        .wait()
        .map_err(|cause| Error::new(ErrorKind::Environment, format!("cannot wait for the agent: {cause}")))?;
    Ok(AgentExit { code: status.code(), signal: status.signal() })
}

#[cfg(test)]
mod tests {
    use std::ffi::{OsStr, OsString};
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::drive::testing::{TestServer, spawn};
    use crate::drive::tmux::TmuxSpawn;
    use orange_testkit::until;

    const SCRIPT: &str = "ORANGE_TEST_AGENT";
    const ANSWER: &str = "ORANGE_TEST_ANSWER";

    /// Not a test by itself: the tests below start this binary again, with these variables, as the one who
    /// attends an agent. An agent must not take the terminal in which the tests run.
    #[test]
    fn attends() {
        let (Some(script), Some(answer)) = (std::env::var_os(SCRIPT), std::env::var_os(ANSWER)) else {
            return;
        };
        let ended = run(
            ProgramCall::new("/bin/sh").arg("-c").arg(script),
            ProgramCall::new("cat"),
            &[],
            |_| Ok(()),
            |_| (),
        )
        .unwrap();
        fs::write(&answer, format!("{:?} {:?}", ended.code, ended.signal)).unwrap();
    }

    fn attend_args() -> [OsString; 3] {
        ["drive::agent::tests::attends", "--exact", "--nocapture"].map(OsString::from)
    }

    #[track_caller]
    fn check_ending(script: &str, expect: &str) {
        let folder = tempfile::tempdir().unwrap();
        let answer = folder.path().join("answer");
        let call = ProgramCall::new(std::env::current_exe().unwrap())
            .args(attend_args())
            .env(SCRIPT, script)
            .env(ANSWER, &answer);
        call.run().unwrap().checked().unwrap();
        assert_eq!(fs::read_to_string(answer).unwrap(), expect);
    }

    #[test]
    fn an_agent_ends_with_a_code_or_a_signal() {
        check_ending("exit 0", "Some(0) None");
        check_ending("exit 7", "Some(7) None");
        check_ending("kill -9 $$", "None Some(9)");
    }

    #[test]
    fn what_an_agent_left_running_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("pid");
        check_ending(
            &format!("(trap '' TERM HUP; sleep 1000) & echo $! > '{}'", note.display()),
            "Some(0) None",
        );
        let pid = Pid::from_raw(fs::read_to_string(&note).unwrap().trim().parse().unwrap()).unwrap();
        until("it is gone", || Process::alive(pid.as_raw_nonzero().get()).unwrap().is_none());
    }

    /// Runs an agent in a tmux pane, types this at it, and gives what the one who attended it wrote down.
    fn typed_at(script: &str, ready: &str, keys: &[&str]) -> String {
        let server = TestServer::new();
        let answer = server.path().join("answer");
        let ready = server.path().join(ready);
        let script = script.replace("READY", &ready.display().to_string());
        let env = [(SCRIPT, OsStr::new(&script)), (ANSWER, answer.as_os_str())];
        let (program, args) = (std::env::current_exe().unwrap(), attend_args());
        let spawn = TmuxSpawn {
            env: &env,
            program: program.as_os_str(),
            ..spawn("T1", "p/fix", server.path(), &args)
        };
        let pane = server.tmux.new_session(&spawn).unwrap().pane_id;
        until("the agent is ready", || ready.exists());
        if !keys.is_empty() {
            // A server whose configuration has a mistake shows that in its first pane until somebody has read it.
            server.raw(&[&["copy-mode", "-q", "-t", &pane, ";", "send-keys", "-t", &pane], keys].concat());
        }
        let written = |file: &Path| fs::read_to_string(file).is_ok_and(|text| !text.is_empty());
        until("the agent has ended", || written(&answer));
        fs::read_to_string(answer).unwrap()
    }

    #[test]
    fn an_agent_has_the_terminal() {
        let script = "stty -echo; : > 'READY'; read -r line; [ \"$line\" = hello ] && exit 5";
        assert_eq!(typed_at(script, "ready", &["hello", "Enter"]), "Some(5) None");
    }

    #[test]
    fn an_interrupt_reaches_the_agent_alone() {
        assert_eq!(typed_at(": > 'READY'; exec sleep 1000", "ready", &["C-c"]), "None Some(2)");
    }

    #[test]
    fn an_agent_has_the_terminal_from_its_beginning() {
        // The fifth field is its own group, the eighth the one that has the terminal.
        let script =
            "read -r _ _ _ _ own _ _ terminal _ < /proc/$$/stat; : > 'READY'; [ $own = $terminal ] && exit 5";
        assert_eq!(typed_at(script, "ready", &[]), "Some(5) None");
    }
}
