//! The console: pages for people, made on the server. They work without a script; with one, they change as the fleet does.
//!
//! Every page is a function of values in `view`; `routes` gets these values from the host, and sends forms to the gateway.

pub mod assets;
pub mod entry_point;
mod gateway;
mod guard;
mod live;
pub mod machine;
mod routes;
pub mod session;
pub mod view;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use orange_analysis::plan_proof::{self, PlanProof};
use orange_core::plan::Plan;
use tokio::sync::watch;

use self::entry_point::EntryPoint;
use self::machine::LocalMachine;
use self::session::Sessions;
use crate::host::Host;

pub use self::gateway::pages;
pub use self::routes::router;

/// The console and what it shows.
#[derive(Clone)]
pub struct Console {
    /// Host whose missions are shown.
    pub host: Arc<dyn Host>,
    /// Plans that missions can follow, in the order of their names.
    pub plans: Vec<&'static Plan<'static>>,
    /// Entry point that checks tokens and takes forms.
    pub entry_point: Arc<dyn EntryPoint>,
    /// The gateway's own machine, if its work is shown.
    pub machine: Option<Arc<LocalMachine>>,
    /// Turns true when the gateway stops: open pages are let go.
    pub stopping: watch::Receiver<bool>,
    sessions: Arc<Sessions>,
    proofs: Arc<Mutex<BTreeMap<String, Arc<PlanProof>>>>,
}

impl Console {
    pub fn new(
        host: Arc<dyn Host>,
        plans: Vec<&'static Plan<'static>>,
        entry_point: Arc<dyn EntryPoint>,
        machine: Option<Arc<LocalMachine>>,
        stopping: watch::Receiver<bool>,
    ) -> Console {
        let sessions =
            Arc::new(Sessions::new(&entry_point.secret(), entry_point.is_secure(), entry_point.signed_out()));
        Console { host, plans, entry_point, machine, stopping, sessions, proofs: Arc::default() }
    }

    /// The plan of this name.
    fn plan(&self, name: &str) -> Option<&'static Plan<'static>> {
        self.plans.iter().copied().find(|it| it.name == name)
    }

    /// Proof of a plan. It can take seconds the first time.
    fn proof(&self, plan: &'static Plan<'static>) -> Arc<PlanProof> {
        let known = || self.proofs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(proof) = known().get(plan.source_hash) {
            return proof.clone();
        }
        let proof = Arc::new(plan_proof::of_plan(plan));
        known().insert(plan.source_hash.to_owned(), proof.clone());
        proof
    }
}
