//! Compares what `/proc` and the portable look show of the same processes.

#![allow(clippy::unwrap_used, reason = "tests may fail where they stand")]

use std::process::{Child, Command, Stdio};

use rustix::process::Pid;

use super::portable::Portable;
use super::proc_folder::ProcFolder;
use super::processes::{ProcessFolder, ProcessState, Processes, Stat};
use super::{Process, ProcessRoot, ProcessTree, leads_session};
use orange_testkit::until;

const BOTH: [&dyn Processes; 2] = [&ProcFolder, &Portable];

fn own() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

/// A child that ends with its standard input.
struct Waiting(Child);

impl Waiting {
    fn start(command: &mut Command) -> Waiting {
        Waiting(command.stdin(Stdio::piped()).spawn().unwrap())
    }

    fn pid(&self) -> i32 {
        self.0.id().cast_signed()
    }

    /// It has been told to end, and nobody has asked for its end yet.
    fn become_a_zombie(&mut self) {
        drop(self.0.stdin.take());
        until("it is a zombie", || {
            ProcFolder.one(self.pid()).unwrap().is_none_or(|stat| stat.state == ProcessState::Ended)
        });
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.kill().unwrap_or_default();
        self.0.wait().unwrap();
    }
}

/// Both show the same, with starts in their own units.
#[track_caller]
fn same(pid: i32) -> Stat {
    let [exact, portable] = BOTH.map(|it| it.one(pid).unwrap().unwrap());
    assert_eq!(Stat { start: 0, ..portable }, Stat { start: 0, ..exact });
    let [exact_age, age] = [ProcFolder.age(exact.start), Portable.age(portable.start)].map(Option::unwrap);
    assert!(exact_age.abs_diff(age).as_secs() <= 2, "{exact_age:?} {age:?}");
    for it in BOTH {
        assert_eq!(it.all().unwrap().get(&pid).map(|stat| stat.parent), Some(exact.parent));
    }
    exact
}

#[test]
fn this_process_and_its_child_are_the_same_to_both() {
    assert_eq!(same(own()).state, ProcessState::Alive);
    let child = Waiting::start(Command::new("cat").env("ORANGE_TASK", "t1"));
    until("it has begun", || BOTH.iter().all(|it| it.name(child.pid()) == "cat"));
    let stat = same(child.pid());
    assert_eq!((stat.parent, stat.state), (own(), ProcessState::Alive));
    for it in BOTH {
        assert_eq!(it.command(child.pid()), b"cat\0");
        assert!(it.is_own(own()) && !it.is_own(child.pid()));
    }
    let [exact, portable] = BOTH.map(|it| it.environment(child.pid()));
    assert!(exact.split(|byte| *byte == 0).any(|word| word == b"ORANGE_TASK=t1"));
    assert_eq!(portable, if Portable.hides_environments() { Vec::new() } else { exact });
}

#[test]
fn a_leader_of_a_session_is_one_to_both() {
    let child = Waiting::start(Command::new("setsid").args(["-w", "cat"]));
    let of_cat = || {
        let table = ProcFolder.all().unwrap();
        let below =
            table.into_iter().find(|(_, stat)| stat.parent == child.pid() || stat.session == child.pid());
        below.map(|(pid, _)| pid).filter(|pid| ProcFolder.name(*pid) == "cat")
    };
    until("it has a session", || of_cat().is_some());
    let pid = of_cat().unwrap();
    let stat = same(pid);
    assert_eq!((stat.session, stat.group), (pid, pid));
}

#[test]
fn a_stopped_process_and_a_zombie_are_the_same_to_both() {
    let mut child = Waiting::start(&mut Command::new("cat"));
    let pid = Pid::from_child(&child.0);
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    until("it has stopped", || ProcFolder.one(child.pid()).unwrap().unwrap().state == ProcessState::Stopped);
    assert_eq!(same(child.pid()).state, ProcessState::Stopped);
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
    child.become_a_zombie();
    assert_eq!(same(child.pid()).state, ProcessState::Ended);
}

#[test]
fn a_process_that_is_gone_is_nobody_to_both() {
    let child = Waiting::start(&mut Command::new("cat"));
    let pid = child.pid();
    drop(child);
    for it in BOTH {
        assert_eq!([it.one(pid), it.one(i32::MAX), it.one(0), it.one(-1)], [const { Ok(None) }; 4]);
        assert!(it.environment(pid).is_empty() && it.command(pid).is_empty() && !it.is_own(pid));
    }
}

#[test]
fn a_number_that_has_another_process_is_not_the_first_one() {
    let child = Waiting::start(&mut Command::new("cat"));
    for it in BOTH {
        let found = it.one(child.pid()).unwrap().unwrap();
        let table = it.all().unwrap();
        let is = |start| table.get(&child.pid()).is_some_and(|stat| stat.start == start);
        assert!(is(found.start) && !is(found.start - 1));
    }
}

#[test]
fn files_and_folders_are_the_same_to_both() {
    if Command::new("lsof").arg("-v").output().is_err() {
        println!("SKIPPED: files_and_folders_are_the_same_to_both: lsof is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = std::fs::canonicalize(folder.path()).unwrap().join("ä b");
    std::fs::create_dir(&at).unwrap();
    std::fs::write(at.join("read"), "").unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec cat 3>written 4<read"]).current_dir(&at);
    let child = Waiting::start(&mut shell);
    let seen = |it: &dyn Processes| {
        let all = it.files(&at).unwrap();
        all.into_iter().find(|process| process.pid == child.pid()).unwrap()
    };
    until("it has both files open", || {
        seen(&ProcFolder).open.len() == 2 && ProcFolder.name(child.pid()) == "cat"
    });
    let [exact, portable] = BOTH.map(seen);
    assert_eq!((portable.open, portable.name), (exact.open, exact.name));
    assert_eq!(exact.folder, Some(ProcessFolder::At(at.clone())));
    assert_eq!(portable.folder, Some(ProcessFolder::Unknown), "a name with an escape");
}

#[test]
fn a_session_is_found_and_ended() {
    let mut leader = Command::new("setsid").args(["sleep", "1000"]).spawn().unwrap();
    let pid = Pid::from_child(&leader);
    until("it leads its session", || leads_session(pid).unwrap());
    let number = pid.as_raw_nonzero().get();
    let mut tree = ProcessTree::of(vec![ProcessRoot::Session(pid)]).unwrap();
    assert_eq!(tree.look().unwrap(), [Process::alive(number).unwrap().unwrap()]);
    tree.end().unwrap();
    leader.wait().unwrap();
    assert!(!leads_session(pid).unwrap());
}
