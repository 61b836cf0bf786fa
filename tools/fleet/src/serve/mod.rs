//! The gateway: the API over HTTP, its authentication, and the crabs that wait at it.
//!
//! A request passes the name of the host, the origin and the token (`auth`), then its route (`routes`), which reads its input (`input`),
//! has an event happen at the host, and answers (`answer`, `error`). The gateway keeps nothing: another one on the same store goes on.

mod answer;
mod assignment;
pub mod auth;
mod connected;
mod error;
mod gateway;
mod h2;
mod heartbeats;
mod input;
mod listen;
pub mod logs;
mod metrics;
mod names;
mod routes;
mod run;
pub mod settings;
mod stream;
mod sweeps;
mod timers;
mod traces;
mod work;
pub mod workflows;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use futures_util::future::join_all;
use orange_api::{Error, ErrorKind, Result};
use orange_core::scheduler::Event;
use tokio::task::JoinHandle;

pub use self::error::ApiError;
pub use self::gateway::Gateway;
pub use self::listen::OpenSocket;
pub use self::routes::{
    ApiRoute, MissionAction, ROUTES, answer as act, answer_question, start as start_mission,
};
pub use self::settings::GatewaySettings;
use self::traces::Traces;

pub use self::names::without_secret;

/// A gateway that serves.
pub struct Serving {
    /// Address at which it listens.
    pub address: SocketAddr,
    gateway: Arc<Gateway>,
    served: JoinHandle<()>,
    tasks: Vec<JoinHandle<()>>,
}

/// Checks that a gateway with these settings can serve. It opens nothing.
///
/// # Errors
/// The address may not be served, or the files of TLS or the address of the collector are of no use.
pub fn check(settings: &GatewaySettings) -> Result<()> {
    listen::check(settings)?;
    Traces::to(settings.traces.as_deref()).map(drop)
}

/// Serves a gateway on its socket, with `pages` beside the API.
///
/// # Errors
/// The store does not answer.
pub async fn serve(gateway: Arc<Gateway>, socket: OpenSocket, pages: Option<Router>) -> Result<Serving> {
    if gateway.settings.is_alone {
        unpark_all(&gateway).await.map_err(|cause| {
            Error::new(ErrorKind::Environment, format!("the store cannot be used: {cause}"))
                .help("look at the file or the database that --store names")
        })?;
    }
    let tasks = vec![
        tokio::spawn(connected::deliver(Arc::clone(&gateway))),
        tokio::spawn(heartbeats::answer(Arc::clone(&gateway))),
        tokio::spawn(timers::sweep(Arc::clone(&gateway))),
        tokio::spawn(timers::flush(Arc::clone(&gateway))),
        tokio::spawn(timers::remind(Arc::clone(&gateway))),
        tokio::spawn(timers::forget(Arc::clone(&gateway))),
        tokio::spawn(timers::watch_tokens(Arc::clone(&gateway))),
    ];
    let (address, settings) = (socket.address, &gateway.settings);
    let router = routes::router(&gateway, pages);
    let stopping = gateway.stopping.subscribe();
    let served = tokio::spawn(listen::serve(socket, router, settings.limits, stopping, settings.stop_within));
    Ok(Serving { address, gateway, served, tasks })
}

impl Serving {
    /// Stops: parked crabs are sent elsewhere, requests that are under way are answered, and nothing else is accepted.
    pub async fn stop(self) {
        self.gateway.stopping.send_replace(true);
        let Serving { gateway, served, tasks, .. } = self;
        served.await.unwrap_or_default();
        for task in &tasks {
            task.abort();
        }
        heartbeats::flush(&gateway).await;
        gateway.finish_traces().await;
    }
}

/// Crabs that were connected to a gateway that has ended are not connected any more.
async fn unpark_all(gateway: &Gateway) -> std::result::Result<(), crate::host::HostError> {
    for colony in gateway.host.colonies().await? {
        let Some(state) = gateway.host.colony(&colony.id).await? else { continue };
        let parked = state.scheduler.crabs.into_iter().filter(|(_, it)| it.is_parked);
        let unparked = parked.map(|(crab, _)| gateway.scheduler(&colony.id, Event::Unpark { crab }));
        // All at once, so that the store has one commit for many.
        for outcome in join_all(unparked).await {
            outcome?;
        }
    }
    Ok(())
}
