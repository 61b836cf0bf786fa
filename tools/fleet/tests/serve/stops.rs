//! The program stops when it is asked to, and everybody hears of it; TLS.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use orange_fleet::serve::auth::Tokens;
use serde_json::json;
use tempfile::TempDir;

use crate::world::{TokenClient, World, until};

/// `orange-fleet serve` as a process of its own.
pub struct ServeProcess {
    pub folder: TempDir,
    pub child: Child,
    pub url: String,
    pub client: TokenClient,
}

pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orange-fleet"));
    for name in ["ORANGE_FLEET_DIR", "ORANGE_FLEET_GATEWAY", "ORANGE_FLEET_TOKEN"] {
        command.env_remove(name);
    }
    command
}

impl ServeProcess {
    pub fn new(arguments: &[&str]) -> ServeProcess {
        ServeProcess::at(tempfile::tempdir().unwrap(), arguments)
    }

    pub fn at(folder: TempDir, arguments: &[&str]) -> ServeProcess {
        let log = std::fs::File::options().append(true).create(true).open(folder.path().join("log")).unwrap();
        let mut child = command()
            .args(["serve", "--listen", "127.0.0.1:0", "--dir"])
            .arg(folder.path())
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.split(' ').nth(2).unwrap_or_else(|| panic!("{line}")).trim_end_matches(';').to_owned();
        let address: SocketAddr = url.split("//").nth(1).unwrap().parse().unwrap();
        let client =
            TokenClient { address, token: Some(Tokens::admin(folder.path()).unwrap()), headers: Vec::new() };
        ServeProcess { folder, child, url, client }
    }

    pub fn signal(&self, signal: &str) {
        let killed = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(killed.success());
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn everybody_is_answered_before_the_program_ends() {
    for signal in ["-TERM", "-INT"] {
        let mut program = ServeProcess::new(&["--log", "debug"]);
        let client = program.client.clone();
        client.post("/v1/colonies", &json!({"name": "coffee", "repository": "/x"})).ok(201);
        client.register("atlas", "coffee", "worker");
        client.register("coral", "coffee", "reviewer");
        let mut socket = client.work("atlas");
        socket.park();
        let poller = client.clone();
        let poll = std::thread::spawn(move || poller.poll("coral", 60_000));
        let idle = || client.get("/v1/status").ok(200)["crabs"]["idle"] == 2;
        until("both wait", idle);
        program.signal(signal);
        assert_eq!(socket.next(), json!({"type": "Retry", "after_ms": 1000}));
        assert_eq!(socket.closed(), 1001);
        assert_eq!(poll.join().unwrap(), [json!({"type": "Retry", "after_ms": 1000})]);
        assert!(program.child.wait().unwrap().success());
        let log = program.log();
        let last: serde_json::Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
        assert_eq!((&last["level"], &last["message"]), (&json!("info"), &json!("the gateway has stopped")));
        assert!(log.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{log}");
    }
}

#[test]
fn one_gateway_serves_a_store() {
    let program = ServeProcess::new(&[]);
    let serve = |more: &[&str]| {
        let mut second = command();
        second.args(["serve", "--listen", "127.0.0.1:0", "--dir"]).arg(program.folder.path()).args(more);
        second.output().unwrap()
    };
    let second = serve(&[]);
    assert_eq!(second.status.code(), Some(4));
    assert!(
        String::from_utf8_lossy(&second.stderr).contains("another gateway serves the store"),
        "{second:?}"
    );
    assert!(serve(&["--check"]).status.success(), "a check changes nothing");
}

#[test]
fn a_gateway_that_was_killed_goes_on_where_it_was() {
    let mut program = ServeProcess::new(&[]);
    let client = &program.client;
    client.post("/v1/colonies", &json!({"name": "coffee", "repository": "/x"})).ok(201);
    client.register("atlas", "coffee", "any");
    let body = json!({"colony_id": "coffee", "workflow": "dev-task", "prompt": "x"});
    let mission = client.post("/v1/missions", &body).ok(201)["mission_id"].as_str().unwrap().to_owned();
    let run = client.run("atlas");
    client.register("coral", "coffee", "any");
    let mut socket = client.work("coral");
    socket.park();
    until("it waits", || client.get("/v1/status").ok(200)["crabs"]["idle"] == 1);
    program.signal("-KILL");
    program.child.wait().unwrap();
    let folder = std::mem::replace(&mut program.folder, tempfile::tempdir().unwrap());
    let program = ServeProcess::at(folder, &[]);
    let client = &program.client;
    assert_eq!(
        client.get("/v1/status").ok(200)["crabs"]["idle"],
        0,
        "nobody is connected to a gateway that has just started"
    );
    assert_eq!(client.post("/v1/crabs/atlas/heartbeat", &json!({"runs": [run]})).ok(200)["ended"], json!([]));
    client.start("atlas", &run).ok(200);
    client.complete("atlas", &run, None).ok(200);
    assert_eq!(client.run("atlas"), format!("{mission}.implement.1"));
}

#[test]
fn a_request_that_is_under_way_is_answered() {
    let mut world = World::new();
    let colony = world.colony("coffee");
    let body = json!({"colony_id": colony, "workflow": "one", "prompt": "x"}).to_string();
    let mut stream = world.admin.raw();
    let more = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    let head = world.admin.head("POST", "/v1/missions", &more);
    std::io::Write::write_all(&mut stream, format!("{head}{}", &body[..5]).as_bytes()).unwrap();
    until("the gateway reads it", || world.gateway.open_requests() == 1);
    let stopped = world.begin_stop();
    until("no connection is accepted any more", || std::net::TcpStream::connect(world.address).is_err());
    let answer = crate::world::exchange(&mut stream, &body.as_bytes()[5..]);
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    stopped();
}

/// Writes `cert.pem`, which is good for `localhost`, and `key.pem`.
pub fn certificates(folder: &Path) {
    let made =
        rcgen::generate_simple_self_signed(vec!["localhost".to_owned(), "fleet.example.org".to_owned()])
            .unwrap();
    std::fs::write(folder.join("cert.pem"), made.cert.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    set_mode(&folder.join("key.pem"), 0o600);
}

fn set_mode(file: &Path, mode: u32) {
    std::fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
}

#[test]
fn other_machines_are_served_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path());
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    let (cert, key) = (cert.to_str().unwrap().to_owned(), key.to_str().unwrap().to_owned());
    let program = ServeProcess::at(folder, &["--tls-cert", &cert, "--tls-key", &key]);
    assert!(program.url.starts_with("https://"), "{}", program.url);
    let port = program.client.address.port();
    let status = |authority: &[&str]| {
        let gateway = format!("https://localhost:{port}");
        command()
            .args(["status", "--gateway", &gateway, "--dir"])
            .arg(program.folder.path())
            .args(authority)
            .output()
            .unwrap()
    };
    let trusted = status(&["--authority", &cert]);
    assert!(trusted.status.success(), "{}", String::from_utf8_lossy(&trusted.stderr));
    assert!(!status(&[]).status.success(), "nobody vouches for the certificate");
    let plain = crate::world::exchange(
        &mut program.client.raw(),
        program.client.head("GET", "/v1/status", "").as_bytes(),
    );
    assert!(!plain.contains("HTTP/1.1 200"), "{plain}");
}

#[test]
fn files_of_tls_that_are_none_stop_the_start() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path());
    let check = |cert: &str, key: &str| {
        let (cert, key) = (folder.path().join(cert), folder.path().join(key));
        command()
            .args(["serve", "--check", "--dir"])
            .arg(folder.path().join("g"))
            .arg("--tls-cert")
            .arg(cert)
            .arg("--tls-key")
            .arg(key)
            .output()
            .unwrap()
    };
    assert!(check("cert.pem", "key.pem").status.success());
    set_mode(&folder.path().join("key.pem"), 0o644);
    let others_read = check("cert.pem", "key.pem");
    assert!(!others_read.status.success());
    assert!(String::from_utf8_lossy(&others_read.stderr).contains("chmod 600"));
    set_mode(&folder.path().join("key.pem"), 0o600);
    for (cert, key) in
        [("key.pem", "key.pem"), ("cert.pem", "cert.pem"), ("nothing", "key.pem"), ("cert.pem", "nothing")]
    {
        let output = check(cert, key);
        assert_eq!(output.status.code(), Some(2), "{cert} {key}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("is of no use for TLS"), "{output:?}");
    }
}
