//! tmux itself, on private sockets and under a hostile configuration.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use rustix::process::Pid;

use super::*;
use crate::drive::testing::{TestServer, scripted, spawn};
use orange_system::process::{self, ProcessRoot};
use orange_system::terminal;
use orange_testkit::{until, write_program};

/// An agent that does nothing until it is killed.
fn idle() -> Vec<OsString> {
    scripted("exec sleep 1000", &[])
}

fn is_alive(pid: i32) -> bool {
    // A zombie answers signals; its status says more.
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

fn noted_pid(file: &Path) -> i32 {
    let mut pid = None;
    until("the agent notes its pid", || {
        pid = fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok());
        pid.is_some()
    });
    pid.unwrap()
}

#[test]
fn this_tmux_is_new_enough() {
    Tmux::new(None).check().unwrap();
}

#[test]
fn no_server_is_no_panes_but_any_other_failure_is_an_error() {
    let server = TestServer::new();
    assert_eq!(server.tmux.panes().unwrap(), []);
    assert_eq!(server.tmux.kill_session("p/fix", "T1").unwrap(), []);
    assert_eq!(server.tmux.kill_agent("T1", "worker").unwrap(), []);

    let file = server.path().join("file");
    fs::write(&file, "").unwrap();
    let broken = Tmux::new(Some(file.join("socket").as_os_str()));
    assert_eq!(broken.panes().unwrap_err().kind, ErrorKind::Environment);

    let long = Tmux::new(Some(server.path().join("x".repeat(120)).as_os_str()));
    assert!(long.panes().unwrap_err().help.contains(&format!("{LONGEST_SOCKET} bytes")));
}

#[test]
fn an_agent_gets_its_folder_environment_and_arguments_unchanged() {
    let server = TestServer::new();
    let folder = server.path().join("#(touch expanded) #{pane_id}");
    fs::create_dir(&folder).unwrap();
    let out = server.path().join("out");
    let hostile =
        ["$(touch expanded)", "#(touch expanded)", "`x`;", ";", "", "a\nb", "-t", "\\;", "'\"", "grün"];
    let hostile: Vec<&OsStr> = hostile.iter().map(OsStr::new).collect();
    let script = "{ printf '%s\\0' \"$PWD\" \"$PATH\" \"$VALUE\" \"$@\"; } > \"$OUT\"; exec sleep 1000";
    let args = scripted(script, &hostile);
    let mut path = OsString::from("/nowhere:");
    path.push(std::env::var_os("PATH").unwrap());
    let env = [("OUT", out.as_os_str()), ("PATH", &path), ("VALUE", OsStr::new("a;b #(x);"))];
    let spawn = TmuxSpawn { env: &env, ..spawn("T1", "p/fix", &folder, &args) };
    server.tmux.new_session(&spawn).unwrap();

    let mut expect = vec![folder.as_os_str(), &path, OsStr::new("a;b #(x);")];
    expect.extend(hostile);
    let expect: Vec<u8> = expect.iter().flat_map(|arg| [arg.as_bytes(), b"\0"].concat()).collect();
    until("the agent has written all", || fs::read(&out).is_ok_and(|bytes| bytes.len() >= expect.len()));
    assert_eq!(String::from_utf8_lossy(&fs::read(&out).unwrap()), String::from_utf8_lossy(&expect));
    assert!(!folder.join("expanded").exists());
}

#[test]
fn a_program_without_arguments_meets_no_shell() {
    let server = TestServer::new();
    let program = server.path().join("agent $(touch expanded)");
    let pid = server.path().join("pid");
    write_program(&program, &format!("#!/bin/sh\necho $$ > '{}'\nexec sleep 1000\n", pid.display()));
    let spawn = TmuxSpawn { program: program.as_os_str(), ..spawn("T1", "p/fix", server.path(), &[]) };
    server.tmux.new_session(&spawn).unwrap();
    noted_pid(&pid);
    assert!(!server.path().join("expanded").exists());
}

#[test]
fn a_session_is_marked_and_listed_under_any_configuration() {
    let server = TestServer::new();
    let placed = server.tmux.new_session(&spawn("T1", "p/fix", server.path(), &idle())).unwrap();
    let panes = server.tmux.panes().unwrap();
    let [pane] = panes.as_slice() else { panic!("{panes:?}") };
    assert_eq!((pane.session.as_str(), pane.window.as_str(), pane.dead), ("p/fix", "worker", false));
    assert_eq!(
        (&pane.session_id, &pane.window_id, &pane.pane_id),
        (&placed.session_id, &placed.window_id, &placed.pane_id)
    );
    assert!(pane.belongs_to("T1") && pane.hosts("worker"));

    let error = server.tmux.new_session(&spawn("T1", "p/fix", server.path(), &idle())).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused, "{error}");
}

#[test]
fn a_session_ends_with_its_agent() {
    let server = TestServer::new();
    server.tmux.new_session(&spawn("T1", "p/fix", server.path(), &scripted("exit 1", &[]))).unwrap();
    // While the server ends with its last session, it may not answer.
    until("the session is gone", || server.tmux.panes().is_ok_and(|panes| panes.is_empty()));
}

#[test]
fn a_session_can_follow_the_last_one_at_once() {
    let server = TestServer::new();
    for _ in 0..30 {
        server.tmux.new_session(&spawn("T1", "p/fix", server.path(), &idle())).unwrap();
        assert_eq!(server.tmux.kill_session("p/fix", "T1").unwrap().len(), 1);
    }
}

#[test]
fn killing_a_session_leaves_its_namesakes_alone() {
    let server = TestServer::new();
    for (task, session) in [("T1", "p/fix"), ("T2", "p/fix-2"), ("T3", "p/fi")] {
        server.tmux.new_session(&spawn(task, session, server.path(), &idle())).unwrap();
    }
    assert_eq!(server.tmux.kill_session("p/fix-2", "T9").unwrap(), []);
    assert_eq!(server.tmux.kill_session("p/f", "T9").unwrap(), []);
    assert_eq!(server.tmux.kill_session("p/fix", "T1").unwrap().len(), 1);
    assert_eq!(server.tmux.kill_session("p/fix", "T1").unwrap(), []);
    let mut left: Vec<_> = server.tmux.panes().unwrap().into_iter().map(|pane| pane.session).collect();
    left.sort();
    assert_eq!(left, ["p/fi", "p/fix-2"]);
}

#[test]
fn a_taken_name_gets_the_task_id_and_its_owner_stays() {
    let server = TestServer::new();
    server.tmux.new_session(&spawn("T1", "p/other", server.path(), &idle())).unwrap();
    let persons = ["new-session", "-d", "-s", "p/fix", "sleep", "1000"];
    server.raw(&[&persons[..], &[";", "set-option", "-t", "=p/fix:", "destroy-unattached", "off"]].concat());
    let placed = server.tmux.new_session(&spawn("abcdefgh", "p/fix", server.path(), &idle())).unwrap();
    assert_eq!(placed.session, "p/fix-abcdef");
    // Even when it goes by the name alone, only the marked one is found.
    assert_eq!(server.tmux.kill_session("p/fix", "abcdefgh").unwrap().len(), 1);
    let mut left: Vec<_> = server.tmux.panes().unwrap().into_iter().map(|pane| pane.session).collect();
    left.sort();
    assert_eq!(left, ["p/fix", "p/other"]);
}

#[test]
fn a_renamed_session_is_still_the_tasks() {
    let server = TestServer::new();
    server.tmux.new_session(&spawn("T1", "p/fix", server.path(), &idle())).unwrap();
    server.raw(&["rename-session", "-t", "=p/fix:", "mine"]);
    assert_eq!(server.tmux.panes_of("T1").unwrap().len(), 1);
    assert_eq!(server.tmux.kill_session("p/fix", "T1").unwrap().len(), 1);
    assert_eq!(server.tmux.panes().unwrap(), []);
}

#[test]
fn an_agent_that_ignores_hangups_dies_with_its_session() {
    let server = TestServer::new();
    let (agent, child) = (server.path().join("agent"), server.path().join("child"));
    let script = "trap '' HUP TERM; sh -c 'echo $$ > \"$1\"; while :; do sleep 1; done' child \"$2\" & echo $$ > \"$1\"; wait";
    let args = scripted(script, &[agent.as_os_str(), child.as_os_str()]);
    server.tmux.new_session(&spawn("T1", "p/fix", server.path(), &args)).unwrap();
    let pids = [noted_pid(&agent), noted_pid(&child)];
    assert!(pids.iter().all(|&pid| is_alive(pid)));
    let killed = server.tmux.kill_session("p/fix", "T1").unwrap();
    let roots: Vec<_> =
        killed.iter().map(|pane| ProcessRoot::Session(Pid::from_raw(pane.pid).unwrap())).collect();
    process::end(&roots).unwrap();
    assert!(pids.iter().all(|&pid| !is_alive(pid)));
}

#[test]
fn a_reviewer_has_a_window_of_its_own() {
    let server = TestServer::new();
    let args = idle();
    let worker = spawn("T1", "p/fix", server.path(), &args);
    let reviewer = TmuxSpawn { window: "review-1", ..worker };
    assert_eq!(server.tmux.new_window(&reviewer).unwrap(), None);
    let placed = server.tmux.new_session(&worker).unwrap();
    // A person has a window of the same name, and has split and renamed the worker's.
    server.raw(&["new-window", "-d", "-t", "=p/fix:", "-n", "review-1", "sleep", "1000"]);
    server.raw(&["split-window", "-t", &placed.pane_id, "sleep", "1000"]);
    server.raw(&["rename-window", "-t", &placed.window_id, "mine"]);
    let review = server.tmux.new_window(&reviewer).unwrap().unwrap();
    assert_eq!(review.session_id, placed.session_id);
    assert_eq!(server.tmux.new_window(&reviewer).unwrap_err().kind, ErrorKind::Refused);

    let panes = server.tmux.panes_of("T1").unwrap();
    let hosting = |window: &str| {
        panes.iter().filter(|pane| pane.hosts(window)).map(|pane| &pane.pane_id).collect::<Vec<_>>()
    };
    assert_eq!(hosting("review-1"), [&review.pane_id]);
    assert_eq!(hosting("worker"), [&placed.pane_id]);

    assert_eq!(server.tmux.kill_agent("T1", "review-1").unwrap().len(), 1);
    assert_eq!(server.tmux.kill_agent("T1", "review-1").unwrap(), []);
    assert_eq!(server.tmux.panes_of("T1").unwrap().len(), 3);
}

/// A pane whose program writes every byte it reads into a file.
struct Reader {
    server: TestServer,
    pane: String,
    file: PathBuf,
    seen: usize,
}

impl Reader {
    fn new() -> Reader {
        let server = TestServer::new();
        let file = server.path().join("read");
        let args = scripted("stty raw -echo && : > \"$1\" && exec cat > \"$1\"", &[file.as_os_str()]);
        let pane = server.tmux.new_session(&spawn("T1", "p/fix", server.path(), &args)).unwrap().pane_id;
        until("the reader is ready", || file.exists());
        Reader { server, pane, file, seen: 0 }
    }

    fn reads(&mut self, text: &[u8]) -> Vec<u8> {
        self.server.tmux.send_text(&self.pane, &self.seen.to_string(), text).unwrap();
        let end = self.seen + text.len() + 1;
        until("everything has arrived", || fs::metadata(&self.file).unwrap().len() >= end as u64);
        let all = fs::read(&self.file).unwrap();
        let read = all[self.seen..].to_vec();
        self.seen = all.len();
        read
    }
}

#[test]
fn a_message_arrives_byte_for_byte_and_then_enter() {
    let mut reader = Reader::new();
    let hostile = [
        "",
        ";",
        "-l",
        "a\n\nb\t\r",
        "$(touch x) `x` \"'\\",
        "#(touch x)#{pane_id}",
        "\u{1b}[2J\u{3}\u{4}",
        "naïve 漢字 🍊",
    ];
    for text in hostile {
        assert_eq!(reader.reads(text.as_bytes()), [text.as_bytes(), b"\r"].concat());
    }
    let large: Vec<u8> = (0..1_000_000u32).map(|i| (i % 251) as u8).collect();
    assert_eq!(reader.reads(&large), [large.as_slice(), b"\r"].concat());

    let mut runner = TestRunner::new(Config { cases: 16, failure_persistence: None, ..Config::default() });
    let reader = std::cell::RefCell::new(reader);
    let outcome = runner.run(&proptest::collection::vec(any::<u8>(), 0..2000), |text| {
        prop_assert_eq!(reader.borrow_mut().reads(&text), [text.as_slice(), b"\r"].concat());
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn a_pane_in_a_mode_leaves_it_to_read_a_message() {
    let mut reader = Reader::new();
    let pane = reader.pane.clone();
    let mode = |server: &TestServer| server.raw(&["display-message", "-p", "-t", &pane, "#{pane_mode}"]);
    for (name, enter) in [
        ("copy-mode", &["copy-mode", "-t", &pane][..]),
        ("view-mode", &["run-shell", "-t", &pane, "echo seen"]),
        ("tree-mode", &["choose-tree", "-t", &pane]),
        ("clock-mode", &["clock-mode", "-t", &pane]),
        ("options-mode", &["customize-mode", "-t", &pane]),
    ] {
        reader.server.raw(enter);
        assert_eq!(mode(&reader.server), name);
        assert_eq!(reader.reads(b"hello"), b"hello\r", "{name}");
        assert_eq!(mode(&reader.server), "");
    }
}

#[test]
fn only_the_agent_reads_a_message_in_synchronized_panes() {
    let mut reader = Reader::new();
    let beside = reader.server.path().join("beside");
    let cat = format!("stty raw -echo; : > '{0}'; exec cat > '{0}'", beside.display());
    reader.server.raw(&["split-window", "-Z", "-t", &reader.pane, "sh", "-c", &cat]);
    reader.server.raw(&["set-option", "-w", "-t", &reader.pane, "synchronize-panes", "on"]);
    until("the other reader is ready", || beside.exists());
    assert_eq!(
        reader.server.raw(&["display-message", "-p", "-t", &reader.pane, "#{window_zoomed_flag}"]),
        "1"
    );
    assert_eq!(reader.reads(b"hello"), b"hello\r");
    assert_eq!(fs::read(&beside).unwrap(), b"");
}

#[test]
fn a_message_sent_again_is_read_once_and_order_is_kept() {
    let reader = Reader::new();
    let tmux = &reader.server.tmux;
    for (mark, text) in [("7.0", "first"), ("7.0", "first"), ("7.1", ""), ("7.1", ""), ("9.0", "second")] {
        tmux.send_text(&reader.pane, mark, text.as_bytes()).unwrap();
    }
    tmux.send_text(&reader.pane, "9.0", b"second").unwrap();
    until("all of it has arrived", || fs::read(&reader.file).unwrap() == b"first\r\rsecond\r");
    assert_eq!(reader.server.raw(&["list-buffers"]), "");
    assert_eq!(tmux.send_text(&reader.pane, "#{x}", b"").unwrap_err().kind, ErrorKind::Usage);
}

#[test]
fn a_message_to_a_missing_pane_fails_and_leaves_no_buffer() {
    let reader = Reader::new();
    let error = reader.server.tmux.send_text("%77", "7.0", b"hello").unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound);
    assert_eq!(reader.server.raw(&["list-buffers"]), "");
}

#[test]
fn a_program_that_asked_for_it_gets_a_bracketed_paste() {
    let server = TestServer::new();
    let file = server.path().join("read");
    let script = "stty raw -echo; printf '\\033[?2004h'; : > \"$1\"; exec cat > \"$1\"";
    let args = scripted(script, &[file.as_os_str()]);
    let pane = server.tmux.new_session(&spawn("T1", "p/fix", server.path(), &args)).unwrap().pane_id;
    until("the reader is ready", || file.exists());
    let expect = b"\x1b[200~two\nlines\x1b[201~\r";
    let mut sent = 0;
    // tmux may read the request after the file is there: until then it pastes plainly.
    until("a bracketed paste arrives", || {
        sent += 1;
        server.tmux.send_text(&pane, &sent.to_string(), b"two\nlines").unwrap();
        fs::read(&file).unwrap().ends_with(expect)
    });
}

#[test]
fn a_program_is_waited_for_until_it_reads_its_keys() {
    let server = TestServer::new();
    let go = server.path().join("go");
    let script = "while [ ! -e \"$1\" ]; do sleep 0.01; done; stty raw; exec sleep 1000";
    let args = scripted(script, &[go.as_os_str()]);
    server.tmux.new_session(&spawn("T1", "p/fix", server.path(), &args)).unwrap();
    let tty = server.tmux.panes().unwrap().remove(0).tty;
    terminal::until_raw(&tty, || Ok(false)).unwrap();
    assert_eq!(terminal::is_raw(&tty), Some(false));
    terminal::until_raw(&tty, || {
        fs::write(&go, "").unwrap();
        Ok(true)
    })
    .unwrap();
    assert_eq!(terminal::is_raw(&tty), Some(true));
}

#[test]
fn the_last_lines_of_a_pane_can_be_read() {
    let server = TestServer::new();
    let args = scripted("seq 1 500; printf 'grün $'; exec sleep 1000", &[]);
    let pane = server.tmux.new_session(&spawn("T1", "p/fix", server.path(), &args)).unwrap().pane_id;
    until("the lines are shown", || server.tmux.capture(&pane, 3).unwrap() == "499\n500\ngrün $");
}

/// Renames, and opens windows and panes of its own, whenever something is made.
const RENAMING: &str = "\
set-hook -g after-new-session 'rename-session mine ; new-window ; split-window'
set-hook -g after-new-window 'rename-window theirs ; split-window ; move-window -r'
";

#[test]
fn a_hook_that_fails_is_no_failure_to_start() {
    let server = TestServer::with("set-hook -g after-new-session 'rename-session mine'");
    for task in ["T1", "T2"] {
        let args = scripted("exec sleep 1000", &[OsStr::new(task)]);
        server.tmux.new_session(&spawn(task, &format!("p/{task}"), server.path(), &args)).unwrap();
    }
    let mut found: Vec<_> =
        server.tmux.panes().unwrap().into_iter().map(|pane| (pane.task, pane.session)).collect();
    found.sort();
    assert_eq!(
        found,
        [("T1", "mine"), ("T2", "p/T2")].map(|(task, name)| (Some(task.to_owned()), name.to_owned()))
    );
}

#[test]
fn what_hooks_rename_is_marked_all_the_same() {
    let server = TestServer::with(RENAMING);
    let fresh = [("1", "worker"), ("2", "review-1")].map(|(number, window)| {
        let args = scripted("exec sleep 1000", &[OsStr::new("--spawn"), OsStr::new(number)]);
        let spawn = TmuxSpawn { window, ..spawn("T1", "p/fix", server.path(), &args) };
        let placed = if number == "1" {
            server.tmux.new_session(&spawn).map(Some)
        } else {
            server.tmux.new_window(&spawn)
        };
        (window, placed.unwrap().unwrap().pane_id)
    });
    let panes = server.tmux.panes_of("T1").unwrap();
    for (window, pane_id) in &fresh {
        let hosts: Vec<_> =
            panes.iter().filter(|pane| pane.hosts(window)).map(|pane| &pane.pane_id).collect();
        assert_eq!(hosts, [pane_id], "{panes:?}");
    }
    assert!(panes.len() > 2 && panes.iter().filter(|pane| pane.agent.is_some()).count() == 2, "{panes:?}");
    assert_eq!(server.tmux.kill_agent("T1", "review-1").unwrap().len(), 1);
    assert_eq!(server.tmux.kill_session("p/fix", "T1").unwrap().len(), 1);
}

const ATTACH: &str = "ORANGE_TEST_ATTACH";

/// Not a test by itself: the tests below start this binary again in a pane, to be the one who attaches.
#[test]
fn attaches() {
    let Some(target) = std::env::var_os(ATTACH) else { return };
    let target = target.to_str().unwrap();
    let (socket, session) = target.split_once(' ').unwrap();
    let tmux = Tmux::new(Some(OsStr::new(socket)));
    tmux.attach(session, None, std::env::var_os("TMUX").as_deref(), |_| Ok(())).unwrap();
}

/// Starts one who attaches to a session of a server, in a session of this server.
fn attach_from(server: &TestServer, session: &str, to: &TestServer, to_session: &str) {
    let target = [to.socket(), OsStr::new(to_session)].join(OsStr::new(" "));
    let args = ["drive::tmux::tests::attaches", "--exact", "--nocapture"].map(OsString::from);
    let (env, program) = ([(ATTACH, target.as_os_str())], std::env::current_exe().unwrap());
    let spawn =
        TmuxSpawn { env: &env, program: program.as_os_str(), ..spawn(session, session, to.path(), &args) };
    server.tmux.new_session(&spawn).unwrap();
}

#[test]
fn a_session_is_shown_on_the_terminal_one_is_at() {
    let (outer, server) = (TestServer::new(), TestServer::new());
    for session in ["one", "two"] {
        server.tmux.new_session(&spawn(session, session, server.path(), &idle())).unwrap();
    }
    let shown = || server.raw(&["list-clients", "-F", "#{client_session}"]);
    attach_from(&outer, "person", &server, "one");
    until("the outer terminal shows the session", || shown() == "one");
    // A person attaches from a pane inside: the terminal that shows that pane switches, none attaches inside it.
    server.raw(&[
        "switch-client",
        "-c",
        &server.raw(&["list-clients", "-F", "#{client_name}"]),
        "-t",
        "=two:",
    ]);
    attach_from(&server, "inside", &server, "one");
    until("the session inside is gone again", || server.tmux.panes_of("inside").unwrap().is_empty());
    until("the terminal shows the session", || shown() == "one");
}

#[test]
fn a_message_waits_for_nothing_that_a_person_has_tmux_do() {
    let outer = TestServer::new();
    let mut reader = Reader::new();
    let open = reader.server.path().join("open");
    // As a prompt that is open, this keeps everything waiting that tmux has to do for this person. It ends with the folder, too.
    let block = format!(": > '{0}'; while [ -e '{0}' ]; do sleep 0.05; done", open.display());
    reader.server.raw(&["bind-key", "-n", "F5", "run-shell", &block]);
    attach_from(&outer, "person", &reader.server, "T1");
    let shown = outer.tmux.panes().unwrap().remove(0).pane_id;
    until("the person's command is at work", || {
        // What is wrong with its configuration is shown first.
        outer.raw(&["copy-mode", "-q", "-t", &shown, ";", "send-keys", "-t", &shown, "F5"]);
        open.exists()
    });
    let read = reader.reads(b"hello");
    fs::remove_file(open).unwrap();
    assert!(read.ends_with(b"hello\r"), "{read:?}");
}

#[test]
fn attaching_needs_a_session_and_a_terminal() {
    let server = TestServer::new();
    let error = server.tmux.attach("T1", None, None, |_| Ok(())).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound);
    server.tmux.new_session(&spawn("T1", "p/fix", server.path(), &idle())).unwrap();
    let call =
        ProgramCall::new(std::env::current_exe().unwrap()).args(["drive::tmux::tests::attaches", "--exact"]);
    let target = [server.socket(), OsStr::new("T1")].join(OsStr::new(" "));
    let output = call.env(ATTACH, target).without(&["TMUX"]).run().unwrap();
    assert!(output.text().contains("not a terminal"), "{}", output.text());
}

#[test]
fn a_pane_is_piped_to_a_program_whose_name_means_nothing() {
    let server = TestServer::new();
    let folder = server.path().join("it's #{pane_id} #(touch x) %H $(touch y); `z`");
    fs::create_dir(&folder).unwrap();
    let (program, file) = (folder.join("record"), folder.join("shown"));
    write_program(&program, "#!/bin/sh\nenv >\"$1.env\"\nexec cat >\"$1\"\n");
    let args = scripted("until [ -e go ]; do sleep 0.05; done; echo shown; exec sleep 1000", &[]);
    let pane = server.tmux.new_session(&spawn("T1", "p/fix", server.path(), &args)).unwrap().pane_id;
    server.tmux.pipe(&pane, &program, &[file.as_os_str()]).unwrap();
    until("it is piped", || folder.join("shown.env").exists());
    fs::write(server.path().join("go"), "").unwrap();
    until("it is recorded", || fs::read_to_string(&file).is_ok_and(|text| text.contains("shown")));
    let env = fs::read_to_string(folder.join("shown.env")).unwrap();
    assert!(env.contains("ORANGE_ACTOR=engine") && !env.contains("ORANGE_TASK="), "{env}");
    // A pipe that is there already stays.
    server.tmux.pipe(&pane, Path::new("/bin/false"), &[]).unwrap();
    assert_eq!(server.raw(&["display-message", "-p", "-t", &pane, "#{pane_pipe}"]).trim(), "1");
    assert!(!server.path().join("x").exists() && !server.path().join("y").exists());
    server.tmux.kill_session("p/fix", "T1").unwrap();
}
