//! The stores under which the torture runs. Another one is a line in `STORES`, and how its processes are started, killed and stopped.

use std::path::Path;

use crate::postgres::{self, NAME, Server};

/// What is to be known of a kind of store.
pub(crate) struct StoreKind {
    /// Its name on the command line and in the table.
    pub(crate) name: &'static str,
    /// How many gateways serve it at a time.
    pub(crate) gateways: usize,
    /// Whether real crabs with agents are tortured with it, too.
    pub(crate) has_agents: bool,
    /// Why it cannot be had on this machine, if it cannot.
    pub(crate) lacks: fn() -> Option<String>,
    /// Starts it in this folder.
    pub(crate) start: fn(&Path) -> Result<Store, String>,
}

/// Every kind of store.
pub(crate) const STORES: &[StoreKind] = &[
    StoreKind {
        name: "sqlite",
        gateways: 1,
        has_agents: true,
        lacks: || None,
        start: |_| Ok(Store::default()),
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

/// A store that runs.
#[derive(Debug, Default)]
pub(crate) struct Store {
    /// What `--store` names; the gateway's own file if it is `None`.
    pub(crate) option: Option<String>,
    /// Its server, which is killed, stopped and started again.
    pub(crate) server: Option<Server>,
    /// The server that has everything that was answered, and takes over.
    pub(crate) standby: Option<Server>,
}

impl Store {
    /// Kills the server, lets its standby take over, and makes another standby in its place.
    pub(crate) fn fail_over(&mut self) -> Result<(), String> {
        let (Some(server), Some(standby)) = (&mut self.server, &mut self.standby) else {
            return Err("the store has no standby".to_owned());
        };
        server.process.kill();
        standby.promote()?;
        std::mem::swap(server, standby);
        standby.copy(server)
    }
}

fn one_server(folder: &Path) -> Result<Store, String> {
    let server = Server::new(&folder.join("postgres"))?;
    let option = Some(format!("postgres://{NAME}@/{NAME}?host={}", server.place()));
    Ok(Store { option, server: Some(server), standby: None })
}

fn two_servers(folder: &Path) -> Result<Store, String> {
    let server = Server::new(&folder.join("postgres-1"))?;
    let standby = Server::standby(&folder.join("postgres-2"), &server)?;
    let places = format!("{},{}", server.place(), standby.place());
    let option = Some(format!("postgres://{NAME}@/{NAME}?host={places}"));
    Ok(Store { option, server: Some(server), standby: Some(standby) })
}
