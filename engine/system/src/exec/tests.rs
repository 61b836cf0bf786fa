//! Calls of real programs: what they give back, and what happens when they do not.

use super::*;
use crate::process;
use orange_testkit::{until, write_program};

fn sh(script: &str) -> ProgramCall {
    ProgramCall::new("sh").arg("-c").arg(script)
}

/// Runs a call that does not end by itself until it is cut short after it has begun, which may take long on a busy machine.
#[track_caller]
fn cut_short(call: impl Fn() -> ProgramCall, has_begun: impl Fn() -> bool) -> Error {
    for bound in [1, 10, 100].map(Duration::from_secs) {
        let error = call().bound(bound).run().unwrap_err();
        if has_begun() {
            return error;
        }
    }
    panic!("it has never begun")
}

#[test]
fn a_call_gives_what_the_program_wrote_and_how_it_ended() {
    let output = sh("cat; printf 'no\\n' >&2; exit 3").input(b"a\0b\n").run().unwrap();
    assert_eq!(
        (output.stdout.as_slice(), output.stderr.as_slice(), output.code()),
        (&b"a\0b\n"[..], &b"no\n"[..], Some(3))
    );
    let error = output.checked().unwrap_err();
    assert_eq!(
        (error.kind, error.message.ends_with("failed: no")),
        (ErrorKind::Environment, true),
        "{error}"
    );
}

#[test]
fn large_input_and_output_do_not_block_each_other() {
    let bytes = vec![b'x'; 3 << 20];
    assert_eq!(ProgramCall::new("cat").input(&bytes).run().unwrap().stdout, bytes);
    // A program that does not read its input is not harmed by ours.
    assert!(ProgramCall::new("true").input(&bytes).run().unwrap().success());
}

#[test]
fn an_input_that_is_not_completed_ends_early() {
    let call = ProgramCall::new("cat").input_by(|pipe| {
        pipe.write_all(b"half")?;
        Err(io::ErrorKind::UnexpectedEof.into())
    });
    assert_eq!(call.run().unwrap().stdout, b"half");
}

#[test]
fn standard_input_is_empty_by_default() {
    assert_eq!(ProgramCall::new("cat").text().unwrap(), "");
}

#[test]
fn only_an_exit_status_of_1_means_no() {
    let answer = |script: &str| sh(script).run().unwrap().yes_or_no();
    assert_eq!((answer("exit 0"), answer("exit 1")), (Ok(true), Ok(false)));
    assert!(answer("echo broken >&2; exit 2").unwrap_err().message.contains("broken"));
    assert!(answer("kill -9 $$").unwrap_err().message.contains("signal"));
}

#[test]
fn a_program_that_does_not_end_is_killed_with_all_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("pid");
    let script = format!("sleep 1000 & echo $! > '{}'; wait", note.display());
    let noted = || std::fs::read_to_string(&note).unwrap_or_default();
    let error = cut_short(|| sh(&script), || noted().ends_with('\n'));
    assert!(error.message.contains("did not end"), "{error}");
    let pid: i32 = noted().trim().parse().unwrap();
    until("the grandchild ends", || process::Process::alive(pid).unwrap().is_none());
}

#[test]
fn a_background_process_with_the_pipe_does_not_hold_the_call() {
    let output = sh("sleep 1000 & echo $!").run().unwrap();
    let pid = Pid::from_raw(output.text().parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, Signal::KILL).unwrap();
}

#[test]
fn what_cannot_be_started_says_what_to_do() {
    let error = ProgramCall::new("orange-no-such-program").run().unwrap_err();
    assert!(error.message.contains("not installed or not on PATH"), "{error}");
    assert!(error.help.contains("PATH"), "{error}");
    let missing = Path::new("/no/such/folder");
    let error = ProgramCall::new("true").folder(missing).run().unwrap_err();
    assert!(error.message.contains("no such folder"), "{error}");
    let error = ProgramCall::new("true").arg("x".repeat(1 << 18)).run().unwrap_err();
    assert!(error.message.contains("longer than the system allows"), "{error}");
}

#[test]
fn variables_are_set_and_taken_away() {
    let call = sh("echo \"$A-$HOME\"").env("A", "1").without(&["HOME"]);
    assert_eq!(call.text().unwrap(), "1-");
}

#[test]
fn a_detached_process_writes_to_its_log_and_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    // The end of the one that it leaves running is its end.
    sh("exec 3<&0; (sleep 0.2; echo out; echo err >&2) & exit 0").detach(&log).unwrap().wait().unwrap();
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "out\nerr\n");
}

#[test]
fn a_go_between_that_fails_is_reported() {
    let log = tempfile::NamedTempFile::new().unwrap();
    let error = sh("exit 3").detach(log.path()).unwrap().until_independent().unwrap_err();
    assert!(error.message.contains("was not started") && error.message.contains('3'), "{error}");
}

#[test]
fn what_is_left_running_is_no_descendant_and_has_no_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let (log, note) = (folder.path().join("log"), folder.path().join("pid"));
    let script = format!("echo $$ >'{}'; exec sleep 1000", note.display());
    let go_between = ProgramCall::new(std::env::current_exe().unwrap())
        .args(["exec::tests::goes_between", "--exact"])
        .env(GO_BETWEEN, script);
    let mut detached = go_between.detach(&log).unwrap();
    detached.until_independent().unwrap();
    until("it runs", || std::fs::read_to_string(&note).is_ok_and(|pid| pid.ends_with('\n')));
    let pid: i32 = std::fs::read_to_string(&note).unwrap().trim().parse().unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    // Behind the name: the state, the parent, the group, the session, the terminal.
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let own = std::process::id().to_string();
    assert!(fields[1] != own && fields[4] == "0", "{stat}");
    rustix::process::kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    detached.wait().unwrap();
}

const GO_BETWEEN: &str = "ORANGE_TEST_GO_BETWEEN";

/// Not a test by itself: the one above starts this binary again, with this variable, as the go-between.
#[test]
fn goes_between() {
    if let Some(script) = std::env::var_os(GO_BETWEEN) {
        process::become_independent().unwrap();
        ProgramCall::new("sh").arg("-c").arg(script).leave_running().unwrap();
    }
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

#[test]
fn of_a_bounded_call_both_ends_are_kept_and_more_is_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let copy = |name: &str| folder.path().join(name);
    let long = sh("echo begin; head -c 30000000 /dev/zero; echo end").copied(1000, &copy("long"), 100_000);
    let output = long.run().unwrap();
    assert!(output.stdout.starts_with(b"begin\n") && output.stdout.ends_with(b"end\n"));
    assert!(output.stdout.len() < 4000, "{}", output.stdout.len());
    assert!(output.text().contains(" bytes …"));
    assert_eq!(std::fs::metadata(copy("long")).unwrap().len(), 100_000);

    let short = sh("echo out; echo err >&2").copied(1000, &copy("short"), 100_000).run().unwrap();
    assert_eq!((short.text().as_str(), short.complaint().as_str()), ("out", "err"));
    assert_eq!(std::fs::read_to_string(copy("short")).unwrap().len(), 8);

    let ends = sh("echo begin; head -c 30000000 /dev/zero; echo end").ends(1000).run().unwrap();
    assert!(ends.stdout.starts_with(b"begin\n") && ends.stdout.ends_with(b"end\n"));
    assert!(ends.stdout.len() < 4000, "{}", ends.stdout.len());

    // What it wrote until then is there when it takes too long.
    let slow = || sh("echo begun; sleep 1000").copied(1000, &copy("slow"), 100_000);
    let kept = || std::fs::read_to_string(copy("slow")).unwrap_or_default();
    cut_short(slow, || kept() == "begun\n");
}

#[test]
fn a_call_within_another_one_has_its_environment() {
    let inner =
        sh("printf '%s %s %s' \"$A\" \"${HOME-none}\" \"$0\"").arg("zero").env("A", "a b").without(&["B"]);
    let outer = ProgramCall::new("env").only(|name| name == "PATH").env("B", "b").arg("C=c");
    let call = inner.within(outer);
    assert_eq!(call.text().unwrap(), "a b none zero");
}

#[test]
fn a_program_reads_a_file_that_it_was_passed() {
    let file = readable(b"12345678").unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&file);
    let call = sh("cat <&\"$0\"").arg(number.to_string()).passing(file);
    assert_eq!(call.text().unwrap(), "12345678");
}
