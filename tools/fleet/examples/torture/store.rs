//! The stores under which the torture runs. Another one is a line in `STORES`, and how its processes are started, killed and stopped.

use std::fmt::Debug;
use std::path::Path;

use crate::postgres::{self, NAME, TorturePostgres};
use crate::process::Process;
use crate::restate;

/// A kind of store.
pub(crate) struct StoreKind {
    /// Its name on the command line and in the table.
    pub(crate) name: &'static str,
    /// Number of gateways that serve it at a time.
    pub(crate) gateways: usize,
    /// True if real crabs with agents are tortured with it, too.
    pub(crate) has_agents: bool,
    /// Reason for which it cannot be had on this machine, if it cannot.
    pub(crate) lacks: fn() -> Option<String>,
    /// Starts it in this folder. The second path is that of `orange-fleet`.
    pub(crate) start: fn(&Path, &Path) -> Result<RunningStore, String>,
}

/// Every kind of store.
pub(crate) const STORES: &[StoreKind] = &[
    StoreKind {
        name: "sqlite",
        gateways: 1,
        has_agents: true,
        lacks: || None,
        start: |_, _| Ok(RunningStore { option: None, servers: Servers::None }),
    },
    StoreKind { name: "postgres", gateways: 2, has_agents: true, lacks: postgres::lacks, start: one_server },
    StoreKind {
        name: "postgres-pair",
        gateways: 2,
        has_agents: false,
        lacks: postgres::lacks,
        start: two_servers,
    },
    StoreKind { name: "restate", gateways: 2, has_agents: true, lacks: restate::lacks, start: with_log },
];

/// A server of a store, which is killed, stopped and started again.
pub(crate) trait Server: Debug {
    fn process(&mut self) -> &mut Process;

    /// Starts it, and waits until it answers.
    fn start(&mut self) -> Result<(), String>;

    /// The end of its log.
    fn logged(&self) -> String;
}

/// A store that runs.
#[derive(Debug)]
pub(crate) struct RunningStore {
    /// Value of `--store`; the gateway's own file if it is `None`.
    pub(crate) option: Option<String>,
    servers: Servers,
}

/// The servers of a store.
#[derive(Debug)]
enum Servers {
    /// It is a file.
    None,
    One(TorturePostgres),
    /// The second one has everything that the first has answered, and takes over.
    Pair(Box<[TorturePostgres; 2]>),
    /// The second one is called by the first.
    WithService(restate::Restate, Process),
}

impl RunningStore {
    /// The server that answers the gateways.
    pub(crate) fn server(&mut self) -> Option<&mut dyn Server> {
        match &mut self.servers {
            Servers::None => None,
            Servers::One(server) => Some(server),
            Servers::Pair(pair) => Some(&mut pair[0]),
            Servers::WithService(server, _) => Some(server),
        }
    }

    /// The service that the server calls.
    pub(crate) fn service(&mut self) -> Option<&mut Process> {
        match &mut self.servers {
            Servers::None | Servers::One(_) | Servers::Pair(_) => None,
            Servers::WithService(_, service) => Some(service),
        }
    }

    /// True if another server can take over.
    pub(crate) fn has_standby(&self) -> bool {
        matches!(self.servers, Servers::Pair(_))
    }

    /// Kills the server, lets its standby take over, and makes another standby in its place.
    pub(crate) fn fail_over(&mut self) -> Result<(), String> {
        let Servers::Pair(pair) = &mut self.servers else {
            return Err("the store has no standby".to_owned());
        };
        pair[0].process().kill();
        pair[1].promote()?;
        pair.swap(0, 1);
        let [server, standby] = &mut **pair;
        standby.copy(server)
    }

    /// Last lines of the logs of its processes.
    pub(crate) fn logged(&self) -> String {
        match &self.servers {
            Servers::None => String::new(),
            Servers::One(server) => server.logged(),
            Servers::Pair(pair) => pair.iter().map(Server::logged).collect(),
            Servers::WithService(server, service) => server.logged() + &service.logged(),
        }
    }
}

fn one_server(folder: &Path, _: &Path) -> Result<RunningStore, String> {
    let server = TorturePostgres::new(&folder.join("postgres"))?;
    let option = Some(format!("postgres://{NAME}@/{NAME}?host={}", server.place()));
    Ok(RunningStore { option, servers: Servers::One(server) })
}

fn two_servers(folder: &Path, _: &Path) -> Result<RunningStore, String> {
    let server = TorturePostgres::new(&folder.join("postgres-1"))?;
    let standby = TorturePostgres::standby(&folder.join("postgres-2"), &server)?;
    let places = format!("{},{}", server.place(), standby.place());
    let option = Some(format!("postgres://{NAME}@/{NAME}?host={places}"));
    Ok(RunningStore { option, servers: Servers::Pair(Box::new([server, standby])) })
}

fn with_log(folder: &Path, fleet: &Path) -> Result<RunningStore, String> {
    let (server, service) = restate::start(folder, fleet)?;
    Ok(RunningStore { option: Some(server.address()), servers: Servers::WithService(server, service) })
}
