//! The steps that a process takes, and a clock that can be turned: for builds that are to be killed at every step.
//!
//! Under the feature `fail-points`, and with `ORANGE_FAIL_POINTS` naming a folder, each step is noted in its file `steps`
//! as `<role> <number> <step>`, the role being the command's first words. Who comes to the step that the file `kill` names
//! (`<role> <number>`) takes that file away and ends as by `kill -9`. The file `clock` has the seconds that the clock is
//! off. In any other build none of this exists.

use std::fmt::Display;
use std::time::SystemTime;

/// Comes to a step: what is about to be done, and to what.
#[cfg(not(feature = "fail-points"))]
pub fn step(_action: &str, _what: impl Display) {}

/// The time of day.
#[cfg(not(feature = "fail-points"))]
pub fn now() -> SystemTime {
    SystemTime::now()
}

#[cfg(feature = "fail-points")]
pub use armed::{now, step};

#[cfg(feature = "fail-points")]
mod armed {
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::{Display, SystemTime};

    /// Comes to a step: what is about to be done, and to what.
    pub fn step(action: &str, what: impl Display) {
        static TAKEN: AtomicUsize = AtomicUsize::new(0);
        let Some(folder) = folder() else { return };
        let number = TAKEN.fetch_add(1, Ordering::Relaxed) + 1;
        let place = format!("{} {number}", role());
        note(&folder, &format!("{place} {action} {what}\n"));
        let wanted = fs::read_to_string(folder.join("kill")).is_ok_and(|wanted| wanted == place);
        if wanted && fs::rename(folder.join("kill"), folder.join("killed")).is_ok() {
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)
                .unwrap_or_default();
        }
    }

    /// The time of day, as far off as the folder says.
    pub fn now() -> SystemTime {
        let off = folder().and_then(|folder| fs::read_to_string(folder.join("clock")).ok());
        let off: i64 = off.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        let (now, distance) = (SystemTime::now(), Duration::from_secs(off.unsigned_abs()));
        let turned = if off < 0 { now.checked_sub(distance) } else { now.checked_add(distance) };
        turned.unwrap_or(now)
    }

    fn folder() -> Option<PathBuf> {
        std::env::var_os("ORANGE_FAIL_POINTS").map(PathBuf::from)
    }

    fn role() -> String {
        let words = std::env::args().skip(1).filter(|word| !word.starts_with('-'));
        words.take(2).collect::<Vec<_>>().join("-")
    }

    fn note(folder: &std::path::Path, line: &str) {
        let steps = OpenOptions::new().create(true).append(true).open(folder.join("steps"));
        // One write, so that lines of several processes do not mix. Notes that cannot be made are missed by who reads them.
        steps.and_then(|mut steps| steps.write_all(line.as_bytes())).unwrap_or_default();
    }
}
