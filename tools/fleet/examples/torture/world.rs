//! A fleet: a store, its gateways, and the network before them.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::audit::{AuditRecord, StoreContents};
use crate::client::TortureClient;
use crate::dice::Dice;
use crate::ledger::Ledger;
use crate::process::FleetProcess;
use crate::proxy::{ConnectionCounts, Proxy};
use crate::store::{RunningStore, StoreKind};

/// Time after which something counts as stuck: far more than it ever takes, on a busy machine too.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// Workflows of simulated crabs, and of real ones.
const WORKFLOWS: [(&str, &str); 3] = [
    ("torture.toml", include_str!("torture.toml")),
    ("pair.toml", include_str!("pair.toml")),
    ("asked.toml", include_str!("asked.toml")),
];

/// A fleet. Its processes end with it.
pub(crate) struct World {
    pub(crate) store: RunningStore,
    pub(crate) gateways: Vec<FleetProcess>,
    pub(crate) proxies: Vec<Proxy>,
    pub(crate) counts: Arc<ConnectionCounts>,
    pub(crate) ledger: Arc<Ledger>,
    /// The run is over: clients end.
    pub(crate) is_over: Arc<AtomicBool>,
    /// It asks the gateways themselves, and not through the network.
    pub(crate) direct: TortureClient,
    /// It asks through the network.
    pub(crate) client: TortureClient,
    pub(crate) colony: String,
    addresses: Vec<SocketAddr>,
    program: PathBuf,
    folder: TempDir,
}

impl World {
    /// Starts a store of this kind and its gateways, whose leases are this long, with a colony for this repository.
    pub(crate) fn start(
        kind: &StoreKind,
        program: &Path,
        lease: Duration,
        dice: &Dice,
        repository: Option<&Path>,
    ) -> Result<World, String> {
        // A socket's path is short, and a temporary folder may be far down.
        let folder = tempfile::Builder::new().prefix("orange-torture-").tempdir_in("/tmp").map_err(cause)?;
        let workflows = folder.path().join("prompts/workflows");
        std::fs::create_dir_all(&workflows).map_err(cause)?;
        std::fs::create_dir_all(folder.path().join("gateway")).map_err(cause)?;
        for (name, text) in WORKFLOWS {
            std::fs::write(workflows.join(name), text).map_err(cause)?;
        }
        let store = (kind.start)(folder.path())?;
        let addresses = (0..kind.gateways).map(|_| free_address()).collect::<Result<Vec<_>, _>>()?;
        let mut gateways = Vec::new();
        for (number, address) in addresses.iter().enumerate() {
            let mut gateway = gateway(folder.path(), program, &store, *address, lease, number);
            gateway.start()?;
            gateways.push(gateway);
        }
        let token = std::fs::read_to_string(folder.path().join("gateway/tokens/admin")).map_err(cause)?;
        let (ledger, is_over, counts) =
            (Arc::<Ledger>::default(), Arc::<AtomicBool>::default(), Arc::default());
        let proxies: Vec<Proxy> = addresses
            .iter()
            .map(|address| Proxy::start(*address, dice.clone(), &counts))
            .collect::<Result<_, _>>()
            .map_err(cause)?;
        let named = |addresses: Vec<SocketAddr>| addresses.iter().map(|it| format!("http://{it}")).collect();
        let client = |addresses| TortureClient::new(named(addresses), token.trim(), &ledger, &is_over);
        let (direct, through) =
            (client(addresses.clone()), client(proxies.iter().map(|it| it.address).collect()));
        let repository = repository.unwrap_or(Path::new("/srv/none.git"));
        let made =
            direct.ask("POST", "/v1/colonies", None, Some(&json!({"name": "toy", "repository": repository})));
        let made = made.filter(|it| it.is_success()).ok_or("no colony can be made")?;
        let (colony, program) = (made.word("colony_id").to_owned(), program.to_path_buf());
        Ok(World {
            store,
            gateways,
            proxies,
            counts,
            ledger,
            is_over,
            direct,
            client: through,
            colony,
            addresses,
            program,
            folder,
        })
    }

    /// Another gateway at this store, which is not started.
    pub(crate) fn another_gateway(&self, lease: Duration) -> Result<FleetProcess, String> {
        Ok(gateway(
            self.folder.path(),
            &self.program,
            &self.store,
            free_address()?,
            lease,
            self.addresses.len(),
        ))
    }

    /// Everything of the store, as the gateways answer it.
    pub(crate) fn read(&self) -> Result<StoreContents, String> {
        let get = |path: &str| {
            let answer = self.direct.ask("GET", path, None, None).filter(|it| it.is_success());
            answer.map(|it| it.body).ok_or_else(|| format!("GET {path} is not answered"))
        };
        let mut found = StoreContents { status: get("/v1/status")?, ..StoreContents::default() };
        let mut after = 0;
        loop {
            let page = get(&format!("/v1/events?after={after}&limit=500"))?;
            let records = page["events"].as_array().map(Vec::as_slice).unwrap_or_default();
            if records.is_empty() {
                break;
            }
            found.records.extend(records.iter().map(record));
            after = page["next"].as_u64().unwrap_or_default();
        }
        let mut after = String::new();
        loop {
            let page = get(&format!("/v1/missions?limit=500{after}"))?;
            for mission in page["missions"].as_array().into_iter().flatten() {
                let word = |key: &str| mission[key].as_str().unwrap_or_default().to_owned();
                found.missions.insert(word("mission_id"), word("status"));
            }
            match page["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => return Ok(found),
            }
        }
    }

    /// Waits until every mission has ended and no crab has a lease; after much too long a time it is as it is, and the audit says so.
    pub(crate) fn until_all_end(&self) {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            let status =
                self.direct.ask("GET", "/v1/status", None, None).map(|it| it.body).unwrap_or_default();
            let open = ["pending", "running", "paused"];
            let open: u64 = open.iter().filter_map(|it| status["missions"][it].as_u64()).sum();
            if open == 0 && status["waiting"] == 0 && status["crabs"]["busy"] == 0 {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Last lines of the logs of the processes.
    pub(crate) fn logs(&self) -> String {
        let gateways: String = self.gateways.iter().map(FleetProcess::logged).collect();
        gateways + &self.store.logged()
    }
}

fn gateway(
    folder: &Path,
    program: &Path,
    store: &RunningStore,
    address: SocketAddr,
    lease: Duration,
    number: usize,
) -> FleetProcess {
    let place = |name: &str| folder.join(name).display().to_string();
    let mut words: Vec<String> = ["serve", "--log", "warn", "--lease"].map(str::to_owned).into();
    words.extend([lease.as_secs_f64().to_string(), "--listen".to_owned(), address.to_string()]);
    words.extend(["--dir".to_owned(), place("gateway"), "--prompts-path".to_owned(), place("prompts")]);
    words.extend(store.option.iter().flat_map(|it| ["--store".to_owned(), it.clone()]));
    let name = format!("gateway-{}", number + 1);
    let log = folder.join(format!("{name}.log"));
    FleetProcess::new(&name, program, words, log).that_says_ready()
}

fn record(record: &Value) -> AuditRecord {
    AuditRecord {
        seq: record["seq"].as_u64().unwrap_or_default(),
        mission: record["mission_id"].as_str().map(str::to_owned),
        kind: record["kind"].as_str().unwrap_or_default().to_owned(),
        data: record["data"].clone(),
    }
}

/// An address on which nothing listens; a gateway keeps it over its restarts.
fn free_address() -> Result<SocketAddr, String> {
    TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).map_err(cause)
}

fn cause(error: std::io::Error) -> String {
    error.to_string()
}
