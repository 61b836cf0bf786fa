//! Times and durations. Without a script a page shows UTC; the script shows the reader's own time.

use maud::{Markup, html};
use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;

use crate::host::Millis;

const EXACT: &[BorrowedFormatItem<'static>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");
const SHOWN: &[BorrowedFormatItem<'static>] =
    format_description!("[year]-[month]-[day] [hour]:[minute]:[second] UTC");

/// A point in time.
pub fn at(time: Millis) -> Markup {
    html! { time datetime=(written(time, EXACT)) { (written(time, SHOWN)) } }
}

/// A point in time, and how long ago that is. The script keeps the second up to date.
pub fn at_and_ago(time: Millis, now: Millis) -> Markup {
    html! { (at(time)) " " span.ago { "(" (ago(time, now)) ")" } }
}

/// "just now", "4 min ago", "2 h ago", "3 d ago".
fn ago(time: Millis, now: Millis) -> String {
    let minutes = now.saturating_sub(time) / 60_000;
    match minutes {
        ..1 => "just now".to_owned(),
        1..60 => format!("{minutes} min ago"),
        60..1_440 => format!("{} h ago", minutes / 60),
        _ => format!("{} d ago", minutes / 1_440),
    }
}

fn written(time: Millis, format: &[BorrowedFormatItem<'static>]) -> String {
    let nanos = i128::from(time) * 1_000_000;
    let formatted =
        OffsetDateTime::from_unix_timestamp_nanos(nanos).ok().and_then(|it| it.format(format).ok());
    formatted.unwrap_or_else(|| time.to_string())
}

/// Duration from one time to another: "4 s", "12 min 3 s", "2 h 5 min", "3 d 4 h".
pub fn duration(from: Millis, to: Millis) -> String {
    let seconds = to.saturating_sub(from).max(0) / 1_000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_exact_for_programs_and_short_for_people() {
        let expect = "<time datetime=\"2026-02-03T04:05:06Z\">2026-02-03 04:05:06 UTC</time>";
        assert_eq!(at(1_770_091_506_789).into_string(), expect);
        assert!(at(Millis::MAX).into_string().contains(&Millis::MAX.to_string()));
    }

    #[test]
    fn a_time_says_how_long_ago_it_is() {
        let shown = [-5, 59_999, 60_000, 7_500_000, 273_600_000].map(|now| ago(0, now));
        assert_eq!(shown, ["just now", "just now", "1 min ago", "2 h ago", "3 d ago"]);
    }

    #[test]
    fn durations_have_two_units() {
        let shown = [0, 59_999, 60_000, 7_500_000, 273_600_000, -5].map(|it| duration(0, it));
        assert_eq!(shown, ["0 s", "59 s", "1 min 0 s", "2 h 5 min", "3 d 4 h", "0 s"]);
    }
}
