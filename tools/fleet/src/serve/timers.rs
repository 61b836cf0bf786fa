//! Periodic work: leases are swept, heartbeats passed on, and missions that ended long ago removed.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::future::join_all;
use orange_core::scheduler::Event;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::connected::reconcile;
use super::gateway::Gateway;
use super::heartbeats;
use super::sweeps::Sweeps;
use crate::host::{ActorReply, HostError, Millis};

/// Interval between removals of what ended long ago.
const FORGET_EVERY: Duration = Duration::from_secs(60 * 60);

/// Longest interval between looks at what is due about the questions of steps.
const REMIND_EVERY: Duration = Duration::from_secs(10);

/// Interval between looks at the tokens.
const TOKENS_EVERY: Duration = Duration::from_millis(250);

/// Sweeps the leases of every colony, for as long as the gateway lives. After a sleep of the machine there is one sweep, and not one for
/// each that was missed: heartbeats come in first.
pub async fn sweep(gateway: Arc<Gateway>) {
    let mut sweeps = Sweeps::default();
    let mut timer = timer(gateway.settings.sweep_every());
    // The first look only sees what there was, so that a sweep is due after the first period.
    if let Err(error) = look(&gateway, &mut sweeps).await {
        log::warn!(cause = error.to_string().as_str(); "leases could not be looked at");
    }
    loop {
        tokio::select! {
            _ = timer.tick() => {}
            () = gateway.stop() => return,
        }
        let swept = sweep_all(&gateway, &mut sweeps).await;
        if let Err(error) = swept.and(reconcile_all(&gateway).await) {
            log::warn!(cause = error.to_string().as_str(); "leases could not be swept");
        }
    }
}

async fn sweep_all(gateway: &Gateway, sweeps: &mut Sweeps) -> Result<(), HostError> {
    let due = look(gateway, sweeps).await?;
    // All at once, so that the store has one commit for many.
    let swept = join_all(due.iter().map(|(colony, seen)| sweep_colony(gateway, colony, Some(*seen)))).await;
    for ((colony, seen), reply) in due.iter().zip(swept) {
        // Otherwise another gateway has swept at this moment.
        if matches!(reply?, ActorReply::Done { is_repeated: false, .. }) {
            sweeps.made(colony, *seen);
        }
    }
    Ok(())
}

/// The colonies for which a sweep is due, and how many sweeps there were.
async fn look(gateway: &Gateway, sweeps: &mut Sweeps) -> Result<Vec<(String, u64)>, HostError> {
    let mut due = Vec::new();
    for colony in gateway.host.colonies().await? {
        let Some(state) = gateway.host.colony(&colony.id).await? else { continue };
        let seen = state.scheduler.sweeps;
        if sweeps.is_due(&colony.id, seen) {
            due.push((colony.id, seen));
        }
    }
    Ok(due)
}

/// Sweeps the leases of a colony, after the heartbeats that have come in. `seen` is how many sweeps the caller knows of: where another
/// gateway has swept since, this sweep is refused.
///
/// # Errors
/// The store does not take the heartbeats or the sweep.
pub async fn sweep_colony(
    gateway: &Gateway,
    colony: &str,
    seen: Option<u64>,
) -> Result<ActorReply, HostError> {
    heartbeats::flush_of(gateway, colony).await?;
    let reply = gateway.scheduler(colony, Event::Sweep { seen }).await?;
    gateway.metrics.count("sweep", 1);
    Ok(reply)
}

/// Crabs that are connected here and have a step that they have not heard of hear of it.
async fn reconcile_all(gateway: &Gateway) -> Result<(), HostError> {
    for colony in gateway.host.colonies().await? {
        if gateway.connected.has_crabs_of(&colony.id)
            && let Some(state) = gateway.host.colony(&colony.id).await?
        {
            reconcile(gateway, &state).await;
        }
    }
    Ok(())
}

/// Reminds people of the questions of steps, and ends those whose time is over, by the clock of the store. What was due while no gateway
/// ran is done first.
pub async fn remind(gateway: Arc<Gateway>) {
    let mut timer = timer(REMIND_EVERY.min(gateway.settings.sweep_every()));
    loop {
        if let Err(error) = remind_all(&gateway).await {
            log::warn!(cause = error.to_string().as_str(); "the questions of steps could not be looked at");
        }
        tokio::select! {
            _ = timer.tick() => {}
            () = gateway.stop() => return,
        }
    }
}

/// Does what is due about every question. One that cannot be read does not hold up the others.
async fn remind_all(gateway: &Gateway) -> Result<(), HostError> {
    let due = gateway.host.due().await?;
    for done in join_all(due.into_iter().map(|it| gateway.host.remind(it))).await {
        match done {
            Ok(_) => {}
            Err(HostError::Corrupt(cause)) => {
                log::error!(cause = cause.as_str(); "people could not be reminded of a question");
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Passes the heartbeats to the schedulers every so often, and once more when the gateway stops.
pub async fn flush(gateway: Arc<Gateway>) {
    let mut timer = timer(gateway.settings.flush_every());
    loop {
        tokio::select! {
            _ = timer.tick() => heartbeats::flush(&gateway).await,
            () = gateway.stop() => return heartbeats::flush(&gateway).await,
        }
    }
}

/// Looks at the tokens every so often, so that what a revoked one has opened ends soon, although nothing happens there.
pub async fn watch_tokens(gateway: Arc<Gateway>) {
    let mut timer = timer(TOKENS_EVERY);
    loop {
        tokio::select! {
            _ = timer.tick() => gateway.tokens.look_again(),
            () = gateway.stop() => return,
        }
    }
}

/// Removes missions that ended long ago.
pub async fn forget(gateway: Arc<Gateway>) {
    let Some(keep) = gateway.settings.keep else { return };
    let mut timer = timer(FORGET_EVERY);
    loop {
        tokio::select! {
            _ = timer.tick() => {}
            () = gateway.stop() => return,
        }
        match gateway.host.forget(before(keep)).await {
            Ok(removed) => gateway.metrics.count("forgotten", removed),
            Err(error) => log::warn!(cause = error.to_string().as_str(); "old missions could not be removed"),
        }
    }
}

fn before(keep: Duration) -> Millis {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(now.saturating_sub(keep).as_millis()).unwrap_or(0)
}

fn timer(every: Duration) -> Interval {
    let every = every.max(Duration::from_millis(1));
    let mut timer = interval_at(Instant::now() + every, every);
    timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
    timer
}
