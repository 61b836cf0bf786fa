//! One monitor at a time: the others stand by until it has ended.

use std::time::Duration;

use crate::Result;
use crate::app::App;
pub use crate::store::lock::LockHolder;
use crate::store::lock::{self, Lock, LockRank};

/// The time between two attempts of a monitor that stands by.
const PAUSE: Duration = Duration::from_millis(300);

/// The right to do the work of the monitor, until this value is dropped or the process ends.
#[derive(Debug)]
pub struct OnlyMonitor {
    _lock: Lock,
}

/// Becomes the monitor if no other process is.
///
/// # Errors
/// Those of the lock.
pub fn try_become(app: &App) -> Result<Option<OnlyMonitor>> {
    app.home.prepare()?;
    let lock = lock::acquire_at_once(&app.home, &app.home.monitor_lock(), LockRank::Monitor)?;
    Ok(lock.map(|lock| OnlyMonitor { _lock: lock }))
}

/// Becomes the monitor if no other process is and there may be messages to send: nothing else of a single look has to
/// be done by one process.
///
/// # Errors
/// Those of the lock.
pub fn try_for_messages(app: &App) -> Result<Option<OnlyMonitor>> {
    if app.home.notify_toml().exists() { try_become(app) } else { Ok(None) }
}

/// Becomes the monitor, after the end of the one that runs. `stands_by` gets that one, once; it gives up when `rest` says so.
///
/// # Errors
/// Those of the lock and of `stands_by`.
pub fn become_it(
    app: &App,
    rest: impl Fn(Duration) -> bool,
    stands_by: impl Fn(Option<LockHolder>) -> Result<()>,
) -> Result<Option<OnlyMonitor>> {
    let mut has_said = false;
    loop {
        if let Some(only) = try_become(app)? {
            return Ok(Some(only));
        }
        if !has_said {
            stands_by(holder(app))?;
            has_said = true;
        }
        if !rest(PAUSE) {
            return Ok(None);
        }
    }
}

/// The process that is the monitor now.
pub fn holder(app: &App) -> Option<LockHolder> {
    lock::held_longer(&app.home.monitor_lock(), Duration::ZERO)
}
