//! Times as the files contain them: RFC 3339 in UTC, to the millisecond.

use std::time::{SystemTime, UNIX_EPOCH};

use time::format_description::StaticFormatDescription;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{OffsetDateTime, PrimitiveDateTime};

use crate::fault;

/// Always three digits, so that texts sort like times.
const FORM: StaticFormatDescription =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");

/// Now, such as `2026-11-21T22:23:24.025Z`.
pub fn now() -> String {
    rfc3339(fault::now())
}

/// A time in RFC 3339, UTC, milliseconds; times outside the years 1970 to 9999 become the nearest one inside.
pub fn rfc3339(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default().try_into().ok();
    let time = since.and_then(|since| OffsetDateTime::UNIX_EPOCH.checked_add(since));
    time.unwrap_or(PrimitiveDateTime::MAX.assume_utc()).format(FORM).unwrap_or_default()
}

/// The boot id of the system; empty if it is unknown.
#[cfg(target_os = "linux")]
pub fn boot() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

/// The boot id of the system, asked for once; empty if it is unknown.
#[cfg(not(target_os = "linux"))]
pub fn boot() -> String {
    static ID: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    let ask =
        || crate::exec::ProgramCall::new("/usr/sbin/sysctl").args(["-n", "kern.bootsessionuuid"]).text();
    ID.get_or_init(|| ask().map(|id| id.trim().to_owned()).unwrap_or_default()).clone()
}

/// Reads a time in RFC 3339, from 1970 on.
pub fn parse(text: &str) -> Option<SystemTime> {
    let time = OffsetDateTime::parse(text, &Rfc3339).ok()?.into();
    Some(time).filter(|time| *time >= UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[track_caller]
    fn check(millis: u64, expect: &str) {
        assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_millis(millis)), expect);
    }

    #[test]
    fn what_was_written_can_be_read() {
        for second in [0, 951_782_400, 1_709_164_800, 1_795_354_943, 4_102_444_799] {
            let time = UNIX_EPOCH + Duration::from_secs(second);
            assert_eq!(parse(&rfc3339(time)), Some(time), "{second}");
        }
        let zoned = parse("2026-11-22T11:00:00.5+01:00").unwrap();
        assert_eq!(rfc3339(zoned), "2026-11-22T10:00:00.500Z");
        for wrong in [
            "",
            "2026",
            "2026-02-30T00:00:00Z",
            "1969-12-31T23:59:59Z",
            "2026-11-22T10:00:00",
            "ä026-11-22T1",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn this_boot_is_known_and_stays_the_same() {
        assert!(!boot().is_empty());
        assert_eq!(boot(), boot());
    }

    #[test]
    fn times_are_rfc3339() {
        check(0, "1970-01-01T00:00:00.000Z");
        check(951_782_399_999, "2000-02-28T23:59:59.999Z");
        check(951_782_400_000, "2000-02-29T00:00:00.000Z");
        check(1_709_164_800_000, "2024-02-29T00:00:00.000Z");
        check(4_107_542_400_000, "2100-03-01T00:00:00.000Z");
        check(1_795_299_804_025, "2026-11-21T22:23:24.025Z");
        check(u64::MAX, "9999-12-31T23:59:59.999Z");
    }
}
