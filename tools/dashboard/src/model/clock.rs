//! Times as people read them.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Milliseconds since 1970 of a time in RFC 3339.
pub fn parse(text: &str) -> Option<i64> {
    let time = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    i64::try_from(time.unix_timestamp_nanos() / 1_000_000).ok()
}

/// Time since then: `12s`, `5m`, `3h`, `2d`.
pub fn age(since: &str, now: i64) -> Option<String> {
    parse(since).map(|since| span((now - since) / 1000))
}

/// Time until then.
pub fn until(then: &str, now: i64) -> Option<String> {
    parse(then).map(|then| span((then - now) / 1000))
}

/// A number of seconds in one unit. A clock that was set back gives `0s`.
pub fn span(seconds: i64) -> String {
    let seconds = seconds.max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        86_400.. | ..0 => format!("{}d", seconds / 86_400),
    }
}

/// A number of tokens: `950`, `12k`, `3.4M`.
pub fn tokens(count: u64) -> String {
    match count {
        0..1000 => count.to_string(),
        1000..1_000_000 => format!("{}k", count / 1000),
        1_000_000.. => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_one_unit() {
        let now = parse("2026-11-25T20:00:00Z").unwrap();
        for (since, expect) in [
            ("2026-11-25T19:59:48Z", "12s"),
            ("2026-11-25T19:55:00.5Z", "4m"),
            ("2026-11-25T17:00:00Z", "3h"),
            ("2026-11-23T20:00:00Z", "2d"),
            ("2026-11-25T20:00:09Z", "0s"),
        ] {
            assert_eq!(age(since, now).as_deref(), Some(expect));
        }
        assert_eq!(age("yesterday", now), None);
        assert_eq!(until("2026-11-25T20:30:00Z", now).as_deref(), Some("30m"));
    }

    #[test]
    fn tokens_are_short() {
        assert_eq!([950, 12_345, 3_456_789].map(tokens), ["950", "12k", "3.4M"]);
    }
}
