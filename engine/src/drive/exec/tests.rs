//! Calls of real programs: what they give back, and what happens when they do not.

use super::*;
use crate::drive::testing::{eventually, write_program};

fn sh(script: &str) -> Call {
    Call::new("sh").arg("-c").arg(script)
}

#[test]
fn a_call_gives_what_the_program_wrote_and_how_it_ended() {
    let output = sh("cat; printf 'no\\n' >&2; exit 3").input(b"a\0b\n").run().unwrap();
    assert_eq!(
        (output.stdout.as_slice(), output.stderr.as_slice(), output.code()),
        (&b"a\0b\n"[..], &b"no\n"[..], Some(3))
    );
    let error = output.checked().unwrap_err();
    assert_eq!((error.kind, error.message.ends_with("failed: no")), (Kind::Environment, true), "{error}");
}

#[test]
fn large_input_and_output_do_not_block_each_other() {
    let bytes = vec![b'x'; 3 << 20];
    assert_eq!(Call::new("cat").input(&bytes).run().unwrap().stdout, bytes);
    // Whoever does not read its input is not harmed by ours.
    assert!(Call::new("true").input(&bytes).run().unwrap().success());
}

#[test]
fn standard_input_is_empty_by_default() {
    assert_eq!(Call::new("cat").text().unwrap(), "");
}

#[test]
fn a_program_that_does_not_end_is_killed_with_all_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("pid");
    let script = format!("sleep 1000 & echo $! > '{}'; wait", note.display());
    let error = sh(&script).bound(Duration::from_millis(700)).run().unwrap_err();
    assert!(error.message.contains("did not end"), "{error}");
    let pid: i32 = std::fs::read_to_string(&note).unwrap().trim().parse().unwrap();
    eventually("the grandchild ends", || process::Process::alive(pid).is_none());
}

#[test]
fn a_background_process_that_keeps_the_pipe_does_not_hold_the_call() {
    let output = sh("sleep 1000 & echo $!").run().unwrap();
    let pid = Pid::from_raw(output.text().parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, Signal::KILL).unwrap();
}

#[test]
fn what_cannot_be_started_says_what_to_do() {
    let error = Call::new("orange-no-such-program").run().unwrap_err();
    assert!(error.message.contains("not installed or not on PATH"), "{error}");
    assert!(error.help.contains("PATH"), "{error}");
    let missing = Path::new("/no/such/folder");
    let error = Call::new("true").folder(missing).run().unwrap_err();
    assert!(error.message.contains("no such folder"), "{error}");
    let error = Call::new("true").arg("x".repeat(1 << 18)).run().unwrap_err();
    assert!(error.message.contains("longer than the system allows"), "{error}");
}

#[test]
fn variables_are_set_and_taken_away() {
    let call = sh("echo \"$A-$HOME\"").env("A", "1").without(&["HOME"]);
    assert_eq!(call.text().unwrap(), "1-");
}

#[test]
fn a_detached_process_writes_to_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut detached = sh("cat; echo out; echo err >&2; exit 4").detach(&log).unwrap();
    assert_eq!(detached.wait().unwrap().code(), Some(4));
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "out\nerr\n");
}

#[test]
fn a_detached_process_is_waited_for_until_it_is_independent_or_gone() {
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut gone = sh("exit 3").detach(log.path()).unwrap();
    gone.until_independent().unwrap();
    assert_eq!(gone.wait().unwrap().code(), Some(3));

    let mut alone = Call::new("setsid").args(["sleep", "1000"]).detach(log.path()).unwrap();
    alone.until_independent().unwrap();
    let pid = Pid::from_child(&alone.child);
    assert!(process::leads_session(pid));
    rustix::process::kill_process(pid, Signal::KILL).unwrap();
    alone.wait().unwrap();
}

#[test]
fn programs_are_found_on_the_path_given() {
    let folder = tempfile::tempdir().unwrap();
    let (program, text) = (folder.path().join("claude"), folder.path().join("notes"));
    write_program(&program, "#!/bin/sh\n");
    std::fs::write(&text, "").unwrap();
    let path = std::env::join_paths([Path::new("/no/such/folder"), folder.path()]).unwrap();
    assert_eq!(find_on_path("claude", &path), Some(program.clone()));
    assert_eq!(find_on_path("notes", &path), None);
    assert_eq!(find_on_path("codex", &path), None);
    assert_eq!(find_on_path(program.to_str().unwrap(), OsStr::new("")), Some(program));
}
