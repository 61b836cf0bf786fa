//! Messages about needs: real receivers on the loopback, a `notify-send` on `PATH`, terminals of tmux.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use crate::attach::AttachedTerminal;
use crate::following::begin;
use crate::task::{Task, kill};
use crate::world::{World, write_program};

/// Reaction of a server to a request.
#[derive(Clone, Copy)]
enum Does {
    Answers(&'static str),
    Hangs,
    Closes,
}

/// A server on the loopback: its address, and the requests that it gets.
fn server(does: Does) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/hook", listener.local_addr().unwrap());
    let (sender, requests) = channel();
    thread::spawn(move || {
        let mut held = Vec::new();
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            if matches!(does, Does::Closes) {
                continue;
            }
            if sender.send(request(&mut stream)).is_err() {
                return;
            }
            match does {
                Does::Answers(status) => {
                    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                        .unwrap();
                }
                Does::Hangs | Does::Closes => held.push(stream),
            }
        }
    });
    (address, requests)
}

/// The head and the body of a request.
fn request(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return text,
            Ok(length) => read.extend_from_slice(&buffer[..length]),
        }
    }
}

fn body(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()
}

fn set(world: &World, channels: &str) {
    fs::write(world.home().join("notify.toml"), channels).unwrap();
}

/// A program that writes its arguments into a file, an argument a line, and what this script does besides.
fn logger(world: &World, name: &str, script: &str) -> std::path::PathBuf {
    let log = world.path(&format!("{name}.log"));
    let script =
        format!("#!/bin/sh\nfor word; do printf '%s\\n' \"$word\"; done >>'{}'\n{script}\n", log.display());
    write_program(&world.path("agents").join(name), &script);
    log
}

fn read(log: &std::path::Path) -> Vec<String> {
    fs::read_to_string(log).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// A task that waits for a person.
fn waiting<'w>(world: &'w World, branch: &str, summary: &str) -> Task<'w> {
    world.commit_on(branch, branch);
    world.create(branch, summary, &["--status", "reviewing", "--no-spawn"])
}

#[track_caller]
fn look(world: &World) -> Value {
    world.ok(&["monitor", "--once"])
}

#[test]
fn every_channel_gets_a_message_about_a_need_once() {
    let world = World::new();
    let log = logger(&world, "log", "cat >\"$0.stdin\"; env >\"$0.env\"");
    let desk = logger(&world, "notify-send", "");
    let [(json_url, json), (slack_url, slack), (ntfy_url, ntfy)] =
        [(); 3].map(|()| server(Does::Answers("200 OK")));
    set(
        &world,
        &format!(
            "[log]\nvia = 'command'\nargv = ['log', '{{need}}', '{{branch}}: {{why}}']\n[desk]\nvia = 'desktop'\n\
             [json]\nvia = 'webhook'\nurl = '{json_url}'\nheaders = ['Authorization: Bearer s3cret']\n\
             [slack]\nvia = 'webhook'\nurl = '{slack_url}'\nshape = 'slack'\n\
             [ntfy]\nvia = 'webhook'\nurl = '{ntfy_url}'\nshape = 'ntfy'\n"
        ),
    );
    let task = waiting(&world, "fix", "Mend it");
    let need = task.show()["need"].clone();
    assert_eq!(need["kind"], "review-ready", "{need}");
    let why = need["why"].as_str().unwrap();
    let said = look(&world);
    assert_eq!(said["events"].as_array().unwrap().len(), 5, "{said}");
    assert_eq!(read(&log), ["review-ready".to_owned(), format!("fix: {why}")]);
    assert_eq!(read(&desk)[..3], ["--app-name=orange", "--", "review-ready: fix (toy)"].map(str::to_owned));
    let got = json.recv().unwrap();
    assert!(got.starts_with("POST /hook ") && got.contains("Authorization: Bearer s3cret\r\n"), "{got}");
    let message = body(&got);
    assert_eq!(
        (&message["title"], &message["needs"][0]["id"]),
        (&json!("review-ready: fix (toy)"), &json!(task.id))
    );
    assert_eq!(message["needs"][0]["why"], why);
    assert!(body(&slack.recv().unwrap())["text"].as_str().unwrap().starts_with("review-ready: fix (toy)\n"));
    let got = ntfy.recv().unwrap();
    assert!(got.starts_with("POST / "), "{got}");
    assert_eq!(
        (&body(&got)["topic"], &body(&got)["title"]),
        (&json!("hook"), &json!("review-ready: fix (toy)"))
    );
    let stdin: Value = serde_json::from_slice(&fs::read(world.path("agents/log.stdin")).unwrap()).unwrap();
    assert_eq!(stdin, message);
    assert!(
        fs::read_to_string(world.path("agents/log.env")).unwrap().contains("\nORANGE_NOTIFY_BRANCH=fix\n")
    );

    // A fact that was sent is not sent again; another one is.
    assert_eq!(look(&world)["events"], json!([]));
    waiting(&world, "other", "Mend that");
    assert_eq!(look(&world)["events"].as_array().unwrap().len(), 5);
    assert_eq!(read(&log).len(), 4);
    let listed = world.ok(&["notify", "list"]);
    assert!(
        listed.as_array().unwrap().iter().all(|it| it["failure"].is_null() && it["taken_at"].is_string())
    );
}

#[test]
fn a_receiver_that_hangs_or_fails_delays_nothing() {
    let world = World::new();
    let log = logger(&world, "log", "");
    let [(hangs, hanging), (fails, _failing), (closes, _closing)] =
        [Does::Hangs, Does::Answers("500 Oh no"), Does::Closes].map(server);
    set(
        &world,
        &format!(
            "[a-hangs]\nvia = 'webhook'\nurl = '{hangs}'\ntimeout = 300\n[b-fails]\nvia = 'webhook'\nurl = '{fails}'\n\
             [c-closes]\nvia = 'webhook'\nurl = '{closes}'\n[d-gone]\nvia = 'command'\nargv = ['no-such-program']\n\
             [e-log]\nvia = 'command'\nargv = ['log', '{{branch}}']\n"
        ),
    );
    waiting(&world, "first", "Mend it");
    let mut monitor = begin(&world, &["monitor", "--interval", "1", "--json"]);
    hanging.recv().unwrap();
    waiting(&world, "second", "Mend it");
    world.until("both have come, while the first receiver hangs", || read(&log) == ["first", "second"]);
    let failure = |name: &str| {
        let listed = world.ok(&["notify", "list"]);
        let rows = listed.as_array().unwrap().clone();
        rows.into_iter().find(|row| row["name"] == name).unwrap()["failure"]["error"]
            .as_str()
            .map(str::to_owned)
    };
    for (name, part) in [("b-fails", "500"), ("c-closes", "curl"), ("d-gone", "not installed")] {
        world.until(&format!("{name} has failed"), || failure(name).is_some_and(|it| it.contains(part)));
    }
    assert_eq!((failure("a-hangs"), failure("e-log")), (None, None));
    let doctor = world.ok(&["doctor"]).to_string();
    assert!(doctor.contains("b-fails has not taken a message"), "{doctor}");
    monitor.kill().unwrap();
    monitor.wait().unwrap();
    // A single look waits as long as the receiver may take, and then says that it was late.
    set(&world, &format!("[hangs]\nvia = 'webhook'\nurl = '{hangs}'\ntimeout = 1\n"));
    let said = look(&world).to_string();
    assert!(said.contains("notify hangs") && failure("hangs").is_some(), "{said}");
}

#[test]
fn a_kill_between_sending_and_noting_repeats_a_message_once() {
    let world = World::new();
    let go = world.path("go");
    let script = format!("until [ -e '{}' ]; do sleep 0.05; done", go.display());
    let log = logger(&world, "log", &script);
    set(&world, "[log]\nvia = 'command'\nargv = ['log', '{branch}']\ntimeout = 300\n");
    waiting(&world, "fix", "Mend it");
    let mut monitor = begin(&world, &["monitor", "--interval", "1"]);
    world.until("it is sent", || read(&log) == ["fix"]);
    kill(i32::try_from(monitor.id()).unwrap());
    monitor.wait().unwrap();
    fs::write(go, "").unwrap();
    assert_eq!(look(&world)["events"], json!([]), "a second try comes later");
    let file = world.home().join("notified.json");
    let mut noted: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let facts = noted["channels"]["log"]["facts"].as_object_mut().unwrap();
    assert_eq!(facts.len(), 1);
    facts.values_mut().for_each(|fact| fact["at"] = json!(1));
    fs::write(&file, noted.to_string()).unwrap();
    assert_eq!(look(&world)["events"].as_array().unwrap().len(), 1);
    assert_eq!(look(&world)["events"], json!([]));
    assert_eq!(read(&log), ["fix", "fix"]);
}

#[test]
fn hostile_texts_reach_no_shell_and_no_terminal() {
    let world = World::new();
    let pwned = world.path("pwned");
    let hostile = format!(
        "a\u{1b}]0;owned\u{7}\u{1b}[2J `touch {0}` $(touch {0}) #(touch {0}) '; touch {0} #' %H {{title}} <b>&amp; \u{9b}31m\u{202e}",
        pwned.display()
    );
    let log = logger(&world, "log", "cat >\"$0.stdin\"");
    let desk = logger(&world, "notify-send", "");
    let (url, requests) = server(Does::Answers("204 No Content"));
    set(
        &world,
        &format!(
            "[log]\nvia = 'command'\nargv = ['log', '{{summary}}']\n[desk]\nvia = 'desktop'\n[here]\nvia = 'terminal'\nstyle = 'osc9'\n\
             [hook]\nvia = 'webhook'\nurl = '{url}'\n"
        ),
    );
    let shown = world.create("open", "Hang [agents: hang]", &[]);
    shown.agent(1).begun();
    let terminal = AttachedTerminal::plain(&world, &format!("orange task attach {}", shown.id));
    terminal.shows("C-b d: detach");
    let raw = terminal.recorded();
    waiting(&world, "fix", &hostile);
    look(&world);
    world
        .until("the terminal has got it", || read_bytes(&raw).contains("\u{1b}]9;review-ready: fix (toy): "));
    let written = read_bytes(&raw);
    let start = written.find("\u{1b}]9;").unwrap();
    let sequence = &written[start + 4..start + written[start..].find('\u{7}').unwrap()];
    assert!(sequence.contains("$(touch ") && !sequence.contains('\u{1b}'), "{sequence:?}");
    assert!(!written[start..].contains("\u{1b}]0;owned"), "{written:?}");
    let words = read(&log);
    assert_eq!(words.len(), 1, "{words:?}");
    assert!(words[0].contains("{title} <b>&amp;") && !words[0].chars().any(char::is_control), "{words:?}");
    assert!(read(&desk)[3].contains("&lt;b&gt;&amp;amp;"), "{:?}", read(&desk));
    let got = body(&requests.recv().unwrap());
    assert!(got["needs"][0]["summary"].as_str().unwrap().contains("`touch "), "{got}");
    assert!(!pwned.exists(), "something ran a text of the task");
}

fn read_bytes(file: &std::path::Path) -> String {
    String::from_utf8_lossy(&fs::read(file).unwrap_or_default()).into_owned()
}

#[test]
fn quiet_hours_and_digests_hold_messages_back() {
    let world = World::new();
    let [am, pm, urgent, digest, stuck] =
        ["am", "pm", "urgent", "digest", "stuck"].map(|name| logger(&world, name, ""));
    set(
        &world,
        "[am]\nvia = 'command'\nargv = ['am', '{branch}']\nquiet = '00:00-12:00'\n\
         [pm]\nvia = 'command'\nargv = ['pm', '{branch}']\nquiet = '12:00-00:00'\n\
         [urgent]\nvia = 'command'\nargv = ['urgent', '{branch}']\nquiet = '00:00-23:59'\nurgent = ['review-ready']\n\
         [digest]\nvia = 'command'\nargv = ['digest', '{title}', '{count}']\ndigest = 1440\n\
         [stuck]\nvia = 'command'\nargv = ['stuck', '{branch}']\nneeds = ['stuck', 'crashed']\n",
    );
    waiting(&world, "one", "Mend it");
    waiting(&world, "two", "Mend it");
    look(&world);
    let mut loud = [read(&am), read(&pm)].concat();
    loud.sort();
    assert_eq!(loud, ["one", "two"], "one half of the day is quiet for each");
    assert_eq!(read(&urgent).len(), 2);
    assert_eq!(read(&digest), ["2 tasks need you", "2"]);
    assert!(read(&stuck).is_empty());
    waiting(&world, "three", "Mend it");
    look(&world);
    assert_eq!(read(&digest).len(), 2, "the next digest is a day later");
    assert_eq!(read(&urgent).len(), 3);
}

#[test]
fn a_test_message_says_what_came_of_it() {
    let world = World::new();
    let none = world.fails(3, "not_found", &["notify", "test"]);
    assert!(none.contains("notify.toml"), "{none}");
    assert_eq!(world.ok(&["notify", "list"]), json!([]));
    let log = logger(&world, "log", "");
    set(
        &world,
        "[log]\nvia = 'command'\nargv = ['log', '{title}']\n[gone]\nvia = 'command'\nargv = ['no-such']\n",
    );
    let said = world.ok(&["notify", "test", "log"]);
    assert_eq!((&said[0]["channel"], &said[0]["success"]), (&json!("log"), &json!(true)));
    assert_eq!(read(&log), ["orange: a test"]);
    let both = world.json(&["notify", "test"]);
    assert_eq!(both.status, 5, "{both:?}");
    assert_eq!((&both.json()[0]["success"], &both.json()[1]["success"]), (&json!(true), &json!(false)));
    let unknown = world.fails(3, "not_found", &["notify", "test", "lgo"]);
    assert!(unknown.contains("did you mean `log`?"), "{unknown}");

    set(&world, "[log]\nvia = 'command'\nargv = ['log', '{titel}']\n");
    let broken = world.fails(6, "corrupt", &["notify", "list"]);
    assert!(broken.contains("notify.toml:3: ") && broken.contains("did you mean `title`?"), "{broken}");
    // The rest of a look goes on.
    let said = look(&world);
    assert!(said["errors"].to_string().contains("notify.toml:3: "), "{said}");
}
