//! Answers by buttons of notifications. A server on the loopback stands in for ntfy, after its documented interface: messages as JSON
//! with actions, posts to a topic, and reads with `poll=1&since=ID`.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::activity::asks;
use crate::task::Task;
use crate::world::World;

/// A message on a topic: its id, its topic, and its body.
type Posted = (String, String, Value);

/// A server with topics, whose tokens are those of the test.
struct Ntfy {
    address: String,
    messages: Arc<Mutex<Vec<Posted>>>,
    reads: Arc<Mutex<Vec<String>>>,
    /// File that is locked before the next read is answered, so that the monitor waits there.
    barred: Arc<Mutex<Option<PathBuf>>>,
    bar: Arc<Mutex<Option<File>>>,
}

impl Ntfy {
    fn start() -> Ntfy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (messages, reads) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
        let (kept, seen) = (Arc::clone(&messages), Arc::clone(&reads));
        let (barred, bar) = (Arc::new(Mutex::new(None::<PathBuf>)), Arc::new(Mutex::new(None)));
        let (to_bar, kept_bar) = (Arc::clone(&barred), Arc::clone(&bar));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut stream = stream;
                let (head, body) = request(&mut stream);
                if head.starts_with("GET ")
                    && let Some(path) = to_bar.lock().unwrap().take()
                {
                    *kept_bar.lock().unwrap() = Some(locked(&path));
                }
                let (status, text) = answer(&head, &body, &kept, &seen);
                let length = text.len();
                write!(
                    stream,
                    "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}"
                )
                .unwrap();
            }
        });
        Ntfy { address, messages, reads, barred, bar }
    }

    /// Bars the lock of a task once the monitor reads its replies, begins a look, and waits until it has taken a code.
    fn take_behind_bar(&self, world: &World, task: &Task<'_>) -> Child {
        *self.barred.lock().unwrap() = Some(task.folder().join(".lock"));
        let mut look = world.command(crate::world::binary());
        let look = look.args(["monitor", "--once"]).stdout(Stdio::null()).stderr(Stdio::null());
        let look = look.spawn().unwrap();
        let codes = || fs::read_to_string(world.home().join("answers.json")).unwrap();
        world.until("a code is taken", || codes().contains(r#""state":"taken""#));
        look
    }

    fn unbar(&self) {
        self.bar.lock().unwrap().take().unwrap();
    }

    fn settings(&self, answers: &str) -> String {
        let Ntfy { address, .. } = self;
        format!(
            "[phone]\nvia = 'webhook'\nshape = 'ntfy'\nurl = '{address}/alerts'\nheaders = ['Authorization: Bearer send']\n\
             console = 'https://fleet.example.org/console'\nanswers = {answers}\n\
             reply = {{ url = '{address}/replies', headers = ['Authorization: Bearer read'], phone = ['Authorization: Bearer write'] }}\n"
        )
    }

    /// The last message to the phone.
    fn last(&self) -> Value {
        let messages = self.messages.lock().unwrap();
        messages.iter().rev().find(|(_, topic, _)| topic == "alerts").unwrap().2.clone()
    }

    /// The person presses this button of the last message.
    fn press(&self, label: &str) -> Value {
        let button = button(&self.last(), label);
        self.send(&button);
        button
    }

    /// The phone sends the request of a button, with the program that it uses in its place.
    fn send(&self, button: &Value) {
        assert_eq!(
            (&button["action"], &button["method"], &button["clear"]),
            (&json!("http"), &json!("POST"), &json!(true))
        );
        let authorization = button["headers"]["Authorization"].as_str().unwrap();
        let (host, path) = button["url"].as_str().unwrap()["http://".len()..].split_once('/').unwrap();
        let body = button["body"].as_str().unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        write!(
            stream,
            "POST /{path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: {authorization}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answered = String::new();
        stream.read_to_string(&mut answered).unwrap();
        assert!(answered.starts_with("HTTP/1.1 200"), "{answered}");
    }
}

/// The head and the body of a request.
fn request(stream: &mut TcpStream) -> (String, String) {
    let mut read = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return (head.to_owned(), body.to_owned());
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return (text, String::new()),
            Ok(length) => read.extend_from_slice(&buffer[..length]),
        }
    }
}

/// The answer of the server.
fn answer(
    head: &str,
    body: &str,
    messages: &Mutex<Vec<Posted>>,
    reads: &Mutex<Vec<String>>,
) -> (&'static str, String) {
    const FORBIDDEN: (&str, String) = ("403 Forbidden", String::new());
    let mut messages = messages.lock().unwrap();
    let may = |token: &str| {
        head.contains(&format!("Authorization: Bearer {token}\r\n"))
            || head.ends_with(&format!("Authorization: Bearer {token}"))
    };
    let mut words = head.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    if let Some(query) = path.strip_prefix("/replies/json?poll=1&since=").filter(|_| method == "GET") {
        if !may("read") {
            return FORBIDDEN;
        }
        reads.lock().unwrap().push(query.to_owned());
        // As ntfy does, everything is sent where the message is not known.
        let known = messages.iter().position(|(id, _, _)| id == query).map_or(0, |at| at + 1);
        let after = messages.iter().skip(known).filter(|(_, topic, _)| topic == "replies");
        let lines = after.map(|(id, topic, text)| {
            json!({ "id": id, "time": 1, "event": "message", "topic": topic, "message": text }).to_string()
                + "\n"
        });
        return ("200 OK", lines.collect());
    }
    let id = format!("m{:011}", messages.len());
    let (topic, posted) = match path {
        "/" if may("send") => {
            let message: Value = serde_json::from_str(body).unwrap();
            (message["topic"].as_str().unwrap().to_owned(), message)
        }
        "/replies" if may("write") => ("replies".to_owned(), json!(body)),
        _ => return FORBIDDEN,
    };
    messages.push((id, topic, posted));
    ("200 OK", "{}".to_owned())
}

fn locked(path: &Path) -> File {
    let file = File::open(path).unwrap();
    file.lock().unwrap();
    file
}

fn button(message: &Value, label: &str) -> Value {
    let found = message["actions"].as_array().unwrap().iter().find(|action| action["label"] == label);
    found.unwrap_or_else(|| panic!("no {label}: {message}")).clone()
}

fn labels(message: &Value) -> Vec<&str> {
    message["actions"].as_array().unwrap().iter().map(|action| action["label"].as_str().unwrap()).collect()
}

#[track_caller]
fn look(world: &World) -> Value {
    world.ok(&["monitor", "--once"])
}

fn is_open(task: &Task<'_>, request: &str) -> bool {
    task.show()["agents"][0]["request"] == request
}

fn said(mut hook: Child) -> String {
    let mut text = String::new();
    hook.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(hook.wait().unwrap().success());
    text
}

#[test]
fn a_button_answers_one_request_once() {
    let world = World::new();
    let ntfy = Ntfy::start();
    fs::write(world.home().join("notify.toml"), ntfy.settings("['allow', 'deny']")).unwrap();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();

    let (first, request) = asks(&world, &task, "cargo test");
    look(&world);
    let message = ntfy.last();
    assert_eq!(labels(&message), ["Allow", "Deny", "Open"], "{message}");
    assert!(message["message"].as_str().unwrap().contains("Bash: cargo test"), "{message}");
    assert_eq!(button(&message, "Open")["url"], "https://fleet.example.org/console");
    let codes = fs::read_to_string(world.home().join("answers.json")).unwrap();
    let code = button(&message, "Allow")["body"].as_str().unwrap().strip_prefix("o1 ").unwrap().to_owned();
    assert!(code.len() == 32 && !codes.contains(&code), "the code itself is not kept: {codes}");
    assert_eq!(look(&world)["events"], json!([]), "nothing is pressed");

    let allow = ntfy.press("Allow");
    assert_eq!(world.said(task.as_agent("worker", "1").args(["monitor", "--once"])).status, 0);
    assert!(is_open(&task, &request), "an agent's monitor gives no answers");
    let looked = look(&world);
    assert!(looked["events"].to_string().contains("agent 1 may use Bash: cargo test"), "{looked}");
    assert!(said(first).contains("allow"));
    assert!(!is_open(&task, &request));
    let answered = task.events_of("agent.activity").into_iter().find(|it| it["state"] == "answered").unwrap();
    assert_eq!((&answered["actor"], &answered["via"]), (&json!("human"), &json!("phone")), "{answered}");

    // The first code again, its sibling, and one that is guessed: none answers another request.
    let (second, request) = asks(&world, &task, "cargo build");
    look(&world);
    let deny = button(&message, "Deny");
    let mut guess = allow.clone();
    guess["body"] = json!("o1 00000000000000000000000000000000");
    for button in [&allow, &deny, &guess] {
        ntfy.send(button);
    }
    let looked = look(&world);
    let errors = looked["errors"].to_string();
    for part in ["it was used already", "another answer to the same need", "a wrong code"] {
        assert!(errors.contains(part), "{errors}");
    }
    assert!(is_open(&task, &request));
    assert!(ntfy.reads.lock().unwrap().iter().any(|since| since.starts_with('m')), "a message is read once");

    // Revoked codes are dead, and the console answers.
    assert_eq!(world.ok(&["notify", "list"])[0]["open_codes"], 2);
    assert_eq!(world.ok(&["notify", "revoke", "phone"]), json!({ "channel": "phone", "codes": 2 }));
    ntfy.press("Deny");
    look(&world);
    assert!(is_open(&task, &request));
    let error = world.fails(3, "not_found", &["notify", "revoke", "fone"]);
    assert!(error.contains("phone"), "{error}");
    world.ok(&["task", "answer", &request, "deny"]);
    assert!(said(second).contains("deny"));

    // A code is dead when its time is over; a long argument gets no Allow.
    let (third, request) = asks(&world, &task, &format!("cargo {}", "x".repeat(300)));
    look(&world);
    assert_eq!(labels(&ntfy.last()), ["Deny", "Open"]);
    let file = world.home().join("answers.json");
    let mut book: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    for code in book["codes"].as_array_mut().unwrap() {
        code["expires"] = json!(code["made"].as_u64().unwrap());
    }
    fs::write(&file, book.to_string()).unwrap();
    ntfy.press("Deny");
    look(&world);
    assert!(is_open(&task, &request));
    world.ok(&["task", "answer", &request, "allow"]);
    assert!(said(third).contains("allow"));

    // Five wrong codes close the answers, which a message says once.
    let (fourth, request) = asks(&world, &task, "cargo doc");
    look(&world);
    // What came before the codes is read, and counts for nothing.
    look(&world);
    let deny = button(&ntfy.last(), "Deny");
    (0..5).for_each(|_| ntfy.send(&guess));
    ntfy.send(&deny);
    let errors = look(&world)["errors"].to_string();
    assert!(
        errors.contains("too many wrong codes") && errors.contains("while answers are closed"),
        "{errors}"
    );
    assert!(is_open(&task, &request));
    assert_eq!(ntfy.last()["title"], "orange: answers of phone are closed");
    assert_ne!(world.ok(&["notify", "list"])[0]["closed_until"], json!(null));
    let found = world.json(&["doctor"]).json()["findings"].to_string();
    assert!(found.contains("takes no answers until"), "{found}");
    let sent = ntfy.messages.lock().unwrap().len();
    assert_eq!(look(&world)["events"], json!([]));
    assert_eq!(ntfy.messages.lock().unwrap().len(), sent);
    let tested = world.ok(&["notify", "test", "phone"])[0]["outcome"].clone();
    assert_eq!(tested, "answered 200, and its replies can be read");
    world.ok(&["task", "answer", &request, "deny"]);
    assert!(said(fourth).contains("deny"));
}

#[test]
fn a_button_continues_a_paused_mission_once() {
    let world = crate::missions::world();
    let ntfy = Ntfy::start();
    fs::write(world.home().join("notify.toml"), ntfy.settings("['continue']")).unwrap();
    let mission = world.start("toy", &["--execution", "step"]);
    crate::missions::pauses(&world, &mission, 1);
    look(&world);
    assert_eq!(labels(&ntfy.last()), ["Continue", "Open"]);
    let first = ntfy.press("Continue");
    let looked = look(&world);
    assert!(looked["events"].to_string().contains("pause 1 of "), "{looked}");
    let continued = mission.events_of("mission.continued");
    assert_eq!((&continued[0]["actor"], &continued[0]["via"]), (&json!("human"), &json!("phone")));
    crate::missions::pauses(&world, &mission, 2);
    look(&world);
    ntfy.send(&first);
    look(&world);
    assert_eq!(mission.events_of("mission.continued").len(), 1, "a code is for one pause");
}

/// A step that asks again where the answer is `later`.
const WHEN: &str = r#"
[workflow]
name = "toy"

[[steps]]
id = "when"
ask = "When?"
answers = ["now", "later"]
show = ["context"]

[[steps]]
id = "wait"
run = ["true"]
depends_on = ["when"]
condition = "when.result == 'later'"
max_retries = 2
requeue = ["when"]
"#;

#[test]
fn a_button_answers_the_question_of_a_step_once() {
    let world = World::new();
    world.workflow("toy.toml", WHEN);
    let ntfy = Ntfy::start();
    fs::write(world.home().join("notify.toml"), ntfy.settings("['answer']")).unwrap();
    let mission = world.start("toy", &[]);
    mission.has_events(1, "step.asked");
    look(&world);
    assert_eq!(labels(&ntfy.last()), ["now", "later", "Open"]);
    let first = ntfy.press("later");
    let looked = look(&world);
    assert!(looked["events"].to_string().contains("step when is answered: later"), "{looked}");
    mission.has_events(2, "step.asked");
    look(&world);
    ntfy.send(&first);
    look(&world);
    assert_eq!(mission.show()["asks"][0]["attempt"], 2, "a code is for one question");
    ntfy.press("now");
    look(&world);
    crate::missions::ends(&mission, "completed");
}

#[test]
fn an_answer_survives_a_kill_and_is_given_once() {
    let world = World::new();
    let ntfy = Ntfy::start();
    fs::write(world.home().join("notify.toml"), ntfy.settings("['allow', 'deny']")).unwrap();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    let answers = || {
        let answered = task.events_of("agent.activity").into_iter().filter(|it| it["state"] == "answered");
        answered.count()
    };

    // The monitor is killed after it has taken the code, and before it answers.
    let (first, request) = asks(&world, &task, "cargo test");
    look(&world);
    ntfy.press("Allow");
    let mut killed = ntfy.take_behind_bar(&world, &task);
    killed.kill().unwrap();
    killed.wait().unwrap();
    ntfy.unbar();
    assert!(is_open(&task, &request) && answers() == 0);
    let looked = look(&world);
    assert!(looked["events"].to_string().contains("agent 1 may use Bash: cargo test"), "{looked}");
    assert!(said(first).contains("allow"));
    assert_eq!(answers(), 1);

    // It is killed after it has answered, and before it has written that down.
    let (second, _) = asks(&world, &task, "cargo build");
    look(&world);
    let deny = ntfy.press("Deny");
    let mut killed = ntfy.take_behind_bar(&world, &task);
    let bar = locked(&world.home().join(".answers.lock"));
    ntfy.unbar();
    assert!(said(second).contains("deny"));
    killed.kill().unwrap();
    killed.wait().unwrap();
    drop(bar);
    assert_eq!(answers(), 2);
    let codes = || fs::read_to_string(world.home().join("answers.json")).unwrap();
    assert!(codes().contains(r#""state":"taken""#), "{}", codes());
    let (third, request) = asks(&world, &task, "cargo doc");
    let looked = look(&world);
    assert!(looked["errors"].to_string().contains("was answered already"), "{looked}");
    assert!(!codes().contains(r#""state":"taken""#), "{}", codes());
    ntfy.send(&deny);
    look(&world);
    assert!(is_open(&task, &request) && answers() == 2);
    world.ok(&["task", "answer", &request, "deny"]);
    assert!(said(third).contains("deny"));
}
