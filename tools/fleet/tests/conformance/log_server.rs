//! A real Restate for tests, on ports of its own, and the service of this build beside it. Both are started again when they are killed,
//! and end with the test process, however that ends: their shell reads until this process is gone.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use orange_fleet::host::restate::Address;
use serde_json::{Value, json};

use crate::restate_program::{self, Ports};
use crate::world::PATIENCE;

/// The program `$0` with the settings `$1`, and the service `$2` on the port `$3` for the admin API on the port `$4`.
const SCRIPT: &str = r#"
d=$(mktemp -d /tmp/orange-restate.XXXXXX) && cd "$d" || exit 1
printf '%s\n' "$1" >config.toml
again() {
  name=$1; shift
  while [ ! -e stop ]; do
    "$@" >>"$name.log" 2>&1 </dev/null &
    echo $! >"$name.pid"
    wait $!
    sleep 0.1
  done
}
again server "$0" --config-file config.toml --no-logo &
again service "$2" restate-log --listen "127.0.0.1:$3" --admin "http://127.0.0.1:$4" &
trap "" TERM INT HUP
echo "$d"
read -r _
touch stop
kill -KILL "$(cat server.pid)" "$(cat service.pid)"
wait
rm -rf "$d"
"#;

/// A server that runs.
pub struct LogServer {
    folder: PathBuf,
    ports: Ports,
    // It ends when its input does.
    _shell: Child,
}

/// The server of this test run, if there is its program.
pub fn shared() -> Option<&'static LogServer> {
    static SERVER: OnceLock<Option<LogServer>> = OnceLock::new();
    SERVER.get_or_init(LogServer::start).as_ref()
}

impl LogServer {
    /// Starts a server, if there is its program.
    pub fn start() -> Option<LogServer> {
        let program = restate_program::program()?;
        let ports = Ports::free();
        // A relative folder is in the one where the server is started.
        let settings = ports.settings(Path::new("data"));
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT]).arg(program).arg(settings).arg(env!("CARGO_BIN_EXE_orange-fleet"));
        command.args([ports.service.to_string(), ports.admin.to_string()]);
        // A shell says which of its programs were killed.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut shell = command.spawn().unwrap();
        let mut folder = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut folder).unwrap();
        assert!(!folder.trim().is_empty(), "Restate does not start");
        let server = LogServer { folder: PathBuf::from(folder.trim()), ports, _shell: shell };
        server.wait();
        Some(server)
    }

    /// The address of a store that nobody has had.
    pub fn address(&self) -> String {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        format!("restate://127.0.0.1:{}/fleet-{number}", self.ports.ingress)
    }

    /// Removes a log, as somebody does who sets up the server from the beginning.
    pub fn forget(&self, address: &str) {
        let url = format!("http://127.0.0.1:{}/services/OrangeLog/state", self.ports.admin);
        let body = json!({"object_key": read(address).name(), "new_state": {}});
        let call = ureq::post(&url).header("Content-Type", "application/json");
        call.send(body.to_string()).unwrap();
        while length(address) > 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until it answers for the log.
    fn wait(&self) {
        let begin = Instant::now();
        let address = format!("restate://127.0.0.1:{}/probe", self.ports.ingress);
        while call(&address, "length", &json!({})).is_err() {
            assert!(begin.elapsed() < PATIENCE, "Restate does not answer in {}", self.folder.display());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Kills the server, as a power cut would. It comes back by itself.
    pub fn kill(&self) {
        self.kill_one("server.pid");
    }

    /// Kills the service. It comes back by itself.
    pub fn kill_service(&self) {
        self.kill_one("service.pid");
    }

    fn kill_one(&self, file: &str) {
        let pid = std::fs::read_to_string(self.folder.join(file)).unwrap_or_default();
        Command::new("kill").args(["-9", pid.trim()]).status().unwrap();
    }
}

/// The address, as a host takes it.
pub fn read(address: &str) -> Address {
    Address::read(address).unwrap()
}

/// The address of the store of a folder.
pub fn of(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("restate")).unwrap()
}

/// Answer of a handler of a log.
pub fn call(address: &str, handler: &str, body: &Value) -> Result<Value, String> {
    let address = read(address);
    let url = format!("http://{}/OrangeLog/{}/{handler}", address.server(), address.name());
    let agent =
        ureq::Agent::config_builder().timeout_global(Some(Duration::from_secs(10))).build().new_agent();
    let called = agent.post(&url).header("Content-Type", "application/json").send(body.to_string());
    let text = called.and_then(|mut it| it.body_mut().read_to_string()).map_err(|it| it.to_string())?;
    serde_json::from_str(&text).map_err(|it| it.to_string())
}

/// Number of entries that a log has had.
pub fn length(address: &str) -> u64 {
    call(address, "length", &json!({})).unwrap().as_u64().unwrap()
}

/// Appends an entry that is not a gateway's.
pub fn append(address: &str, entry: &Value) {
    use base64::Engine;
    use std::io::Write;
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(entry.to_string().as_bytes()).unwrap();
    let entry = base64::engine::general_purpose::STANDARD.encode(encoder.finish().unwrap());
    let after = length(address);
    let body = json!({"after": after, "by": "other", "id": format!("other-{after}"), "entry": entry});
    assert_eq!(call(address, "append", &body), Ok(Value::Null));
}

/// Writes the state of a mission as a gateway of a newer version would, with the state that was there.
pub fn damage(address: &str, mission: &str, state: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("fleet.db");
    orange_fleet::host::restate::RestateHost::copy(&read(address), &copy).unwrap();
    let connection = rusqlite::Connection::open(copy).unwrap();
    let select = "select seq, status, step, pause, version, updated, state from mission where id = ?1";
    let (seq, row, updated, before) = connection
        .query_row(select, [mission], |row| {
            let state = json!({
                "status": row.get::<_, String>(1)?,
                "step": row.get::<_, Option<String>>(2)?,
                "pause": row.get::<_, Option<u32>>(3)?,
                "version": row.get::<_, u32>(4)?,
                "state": state,
            });
            Ok((row.get::<_, i64>(0)?, state, row.get::<_, i64>(5)?, row.get::<_, String>(6)?))
        })
        .unwrap();
    let write = json!({"mission_states": {seq.to_string(): row}, "now": updated});
    append(address, &json!({"v": 1, "by": "newer", "ops": [{"write": write}]}));
    before
}
