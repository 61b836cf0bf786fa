//! The time of day as the files have it: RFC 3339 in UTC, to the millisecond.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::fault;

/// Now, such as `2026-11-21T22:23:24.025Z`.
pub fn now() -> String {
    rfc3339(fault::now())
}

/// A time in RFC 3339, UTC, milliseconds; times before 1970 are shown as its beginning.
pub fn rfc3339(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = since.as_secs();
    let (year, month, day) = civil(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let millis = since.subsec_millis();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// Which run of the system this is; empty where that is unknown.
pub fn boot() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

/// The time that this says, in the form of [`rfc3339`] with or without the part behind the seconds.
pub fn parse(text: &str) -> Option<SystemTime> {
    let digits = |range: std::ops::Range<usize>| text.get(range)?.parse::<u64>().ok();
    let (year, month, day) = (digits(0..4)?, digits(5..7)?, digits(8..10)?);
    let seconds = digits(11..13)? * 3600 + digits(14..16)? * 60 + digits(17..19)?;
    let signs = [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")];
    let has_form = signs.iter().all(|(at, sign)| text.get(*at..*at + 1) == Some(sign)) && text.ends_with('Z');
    // Every day of the year is looked at once at most.
    let first = day_of_year(year)?;
    let found = (first..first + 366).find(|candidate| civil(*candidate) == (year, month, day))?;
    has_form.then(|| UNIX_EPOCH + std::time::Duration::from_secs(found * 86_400 + seconds))
}

/// The number of the first day of a year, from 1970-01-01 on.
fn day_of_year(year: u64) -> Option<u64> {
    let before = year.checked_sub(1).filter(|_| (1970..10_000).contains(&year))?;
    Some(before * 365 + before / 4 - before / 100 + before / 400 - 719_162)
}

/// The Gregorian date of a day, counted from 1970-01-01 (Howard Hinnant's `civil_from_days`).
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
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
        for wrong in [
            "",
            "2026",
            "2026-02-30T00:00:00Z",
            "1969-12-31T23:59:59Z",
            "2026-11-22 10:00:00Z",
            "ä026-11-22T1",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_are_rfc3339() {
        check(0, "1970-01-01T00:00:00.000Z");
        check(951_782_399_999, "2000-02-28T23:59:59.999Z");
        check(951_782_400_000, "2000-02-29T00:00:00.000Z");
        check(1_709_164_800_000, "2024-02-29T00:00:00.000Z");
        check(4_107_542_400_000, "2100-03-01T00:00:00.000Z");
        check(1_795_299_804_025, "2026-11-21T22:23:24.025Z");
    }
}
