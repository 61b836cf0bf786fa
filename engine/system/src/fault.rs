//! Numbered steps of a process, and a clock with an offset, for builds that are killed at every step.
//!
//! Under the feature `fail-points`, or `count-opens` of tests, and with `ORANGE_FAIL_POINTS` naming a folder, each step is appended to its file `steps`
//! as `<role> <number> <step>`; the role is the first words of the command. A process that comes to the step in the file
//! `kill` (`<role> <number>`) removes that file and dies as by `kill -9`. The file `clock` has the offset of the clock in
//! seconds.
//!
//! Under the feature `lacks`, `ORANGE_LACKS` names what the program does without, with commas between them, so that the code for
//! systems that lack it runs here: `openat2`, `proc` (its processes), `environments` (those of programs that macOS ships),
//! `subreaper`. In any other build all this does nothing.

use std::ffi::OsString;
use std::fmt::Display;
use std::time::SystemTime;

#[cfg(any(test, feature = "lacks", feature = "count-opens"))]
const FOLDER: &str = "ORANGE_FAIL_POINTS";

/// Marks a step: what the process is about to do, and to what.
#[cfg(not(any(test, feature = "fail-points", feature = "count-opens")))]
pub fn step(_action: &str, _what: impl Display) {}

/// The time of day.
#[cfg(not(any(test, feature = "fail-points", feature = "count-opens")))]
pub fn now() -> SystemTime {
    SystemTime::now()
}

/// The variables that a program needs so that all this holds for it, too, and their values.
#[cfg(not(any(test, feature = "lacks")))]
pub fn variables() -> Vec<(&'static str, OsString)> {
    Vec::new()
}

/// True if the program does without this part of the system.
#[cfg(not(any(test, feature = "lacks")))]
pub fn lacks(_part: &str) -> bool {
    false
}

#[cfg(any(test, feature = "fail-points", feature = "count-opens"))]
pub use armed::{now, step};

#[cfg(any(test, feature = "lacks"))]
pub use lacking::{lacks, variables};

#[cfg(any(test, feature = "fail-points", feature = "count-opens"))]
mod armed {
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::{Display, FOLDER, SystemTime};

    /// Marks a step: what the process is about to do, and to what.
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

    /// The time of day, with the offset of the folder.
    pub fn now() -> SystemTime {
        let off = folder().and_then(|folder| fs::read_to_string(folder.join("clock")).ok());
        let off: i64 = off.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        let (now, distance) = (SystemTime::now(), Duration::from_secs(off.unsigned_abs()));
        let turned = if off < 0 { now.checked_sub(distance) } else { now.checked_add(distance) };
        turned.unwrap_or(now)
    }

    fn folder() -> Option<PathBuf> {
        std::env::var_os(FOLDER).map(PathBuf::from)
    }

    fn role() -> String {
        let words = std::env::args().skip(1).filter(|word| !word.starts_with('-'));
        words.take(2).collect::<Vec<_>>().join("-")
    }

    fn note(folder: &std::path::Path, line: &str) {
        let steps = OpenOptions::new().create(true).append(true).open(folder.join("steps"));
        // One write, so that lines of several processes do not mix. The reader notices lines that could not be written.
        steps.and_then(|mut steps| steps.write_all(line.as_bytes())).unwrap_or_default();
    }
}

#[cfg(any(test, feature = "lacks"))]
mod lacking {
    use std::sync::OnceLock;

    use super::{FOLDER, OsString};

    const LACKS: &str = "ORANGE_LACKS";

    /// True if the program does without this part of the system.
    pub fn lacks(part: &str) -> bool {
        static LACKING: OnceLock<Option<String>> = OnceLock::new();
        let named = LACKING.get_or_init(|| std::env::var(LACKS).ok());
        named.as_ref().is_some_and(|named| named.split(',').any(|name| name == part))
    }

    /// The variables that a program needs so that all this holds for it, too, and their values.
    pub fn variables() -> Vec<(&'static str, OsString)> {
        let set = [FOLDER, LACKS].into_iter();
        set.filter_map(|name| Some((name, std::env::var_os(name)?))).collect()
    }
}
