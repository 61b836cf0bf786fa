//! The stores under which the torture runs. Another one is a line in `STORES`, and how its processes are started, killed and stopped.

use std::fmt::Debug;
use std::path::Path;

use crate::postgres::{self, NAME, TorturePostgres};
use crate::process::FleetProcess;

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
    /// Starts it in this folder.
    pub(crate) start: fn(&Path) -> Result<RunningStore, String>,
}

/// Every kind of store.
pub(crate) const STORES: &[StoreKind] = &[
    StoreKind {
        name: "sqlite",
        gateways: 1,
        has_agents: true,
        lacks: || None,
        start: |_| Ok(RunningStore { option: None, servers: Servers::None }),
    },
    StoreKind { name: "postgres", gateways: 2, has_agents: true, lacks: postgres::lacks, start: one_server },
    StoreKind {
        name: "postgres-pair",
        gateways: 2,
        has_agents: false,
        lacks: postgres::lacks,
        start: two_servers,
    },
];

/// A server of a store, which is killed, stopped and started again.
pub(crate) trait Server: Debug {
    fn process(&mut self) -> &mut FleetProcess;

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
    One(Box<TorturePostgres>),
    /// The second one has everything that the first has answered, and takes over.
    Pair(Box<[TorturePostgres; 2]>),
}

impl RunningStore {
    /// The server that answers the gateways.
    pub(crate) fn server(&mut self) -> Option<&mut dyn Server> {
        match &mut self.servers {
            Servers::None => None,
            Servers::One(server) => Some(&mut **server),
            Servers::Pair(pair) => Some(&mut pair[0]),
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
        }
    }
}

fn one_server(folder: &Path) -> Result<RunningStore, String> {
    let server = TorturePostgres::new(&folder.join("postgres"))?;
    let option = Some(format!("postgres://{NAME}@/{NAME}?host={}", server.place()));
    Ok(RunningStore { option, servers: Servers::One(Box::new(server)) })
}

fn two_servers(folder: &Path) -> Result<RunningStore, String> {
    let server = TorturePostgres::new(&folder.join("postgres-1"))?;
    let standby = TorturePostgres::standby(&folder.join("postgres-2"), &server)?;
    let places = format!("{},{}", server.place(), standby.place());
    let option = Some(format!("postgres://{NAME}@/{NAME}?host={places}"));
    Ok(RunningStore { option, servers: Servers::Pair(Box::new([server, standby])) })
}
