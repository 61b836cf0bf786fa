//! The times of schedules, by the zone database of the system.

use std::path::Path;
use std::time::UNIX_EPOCH;

use orange_core::schedule::{ON_TIME, Slot};
use orange_core::zone::Zone;

use crate::store::schedules::ScheduleState;
use crate::store::settings::ScheduleSettings;
use crate::{Error, ErrorKind, Result};
use orange_system::{fault, nofollow};

/// The folder of the zone database.
const ZONES: &str = "/usr/share/zoneinfo";

/// The name of the zone that needs no database.
const UTC: &str = "UTC";

/// The most slots that are looked at: a schedule for each minute has as many in a day.
const MOST: i64 = 1440;

/// The zone of a schedule.
///
/// # Errors
/// `not_found` for a zone that the system does not know.
pub fn zone(settings: &ScheduleSettings) -> Result<Zone> {
    if settings.tz == UTC {
        return Ok(Zone::UTC);
    }
    let path = Path::new(ZONES).join(&settings.tz);
    let bytes = nofollow::read_linked(&path, nofollow::LONGEST).ok();
    bytes.and_then(|bytes| Zone::parse(&bytes)).ok_or_else(|| {
        let message = format!("schedule {}: no time zone is named {}", settings.name, settings.tz);
        Error::new(ErrorKind::NotFound, message)
            .help(format!("see {ZONES}, where the package tzdata has them"))
    })
}

/// The slots that are due and have no decision, the oldest first. After an outage, those that are too old for the grace are left out.
pub fn due(settings: &ScheduleSettings, zone: &Zone, state: &ScheduleState, now: i64) -> Vec<Slot> {
    let Some(until) = state.until else { return Vec::new() };
    let oldest = now - i64::from(settings.grace).max(ON_TIME) - 60 * MOST;
    settings.times.slots(zone, until.max(oldest), now)
}

/// Seconds since 1970.
pub fn now() -> i64 {
    let since = fault::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::settings::parse;

    fn settings(tz: &str) -> ScheduleSettings {
        let text = format!("[[schedule]]\nname = 'a'\ncron = '0 7 * * *'\nmission = 'm'\ntz = '{tz}'");
        parse(Path::new("orange.toml"), text.as_bytes()).unwrap().schedule.unwrap().remove(0)
    }

    #[test]
    fn an_unknown_zone_is_an_error() {
        assert_eq!(zone(&settings("UTC")).unwrap(), Zone::UTC);
        let error = zone(&settings("Europe/Atlantis")).unwrap_err();
        assert!(error.kind == ErrorKind::NotFound && error.message.contains("Europe/Atlantis"));
    }

    #[test]
    fn nothing_is_due_before_the_first_look() {
        const DAY: i64 = 86_400;
        let due = |until: Option<i64>, now: i64| {
            let state = ScheduleState { until, ..ScheduleState::default() };
            super::due(&settings("UTC"), &Zone::UTC, &state, now).len()
        };
        assert_eq!(due(None, 10 * DAY), 0);
        assert_eq!(due(Some(8 * DAY), 9 * DAY), 1);
        assert_eq!(due(Some(DAY), 1000 * DAY + 7 * 3600 + 1800), 2, "an outage of years has no long list");
    }
}
