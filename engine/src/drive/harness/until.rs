//! Parses the end of a limit from the messages of harnesses.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use orange_system::exec::ProgramCall;

/// A time in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageTime {
    /// After this duration.
    In(Duration),
    /// At this second since 1970.
    At(u64),
    /// At this local time, on this day if one is given.
    Local {
        /// Month, day, and the year if it is given.
        day: Option<(u32, u32, Option<u32>)>,
        /// The hour, 0 to 23.
        hour: u32,
        minute: u32,
    },
}

/// The longest plausible limit: a week and a day.
const LONGEST: Duration = Duration::from_secs(8 * 86_400);

/// End of the limit in this message; `None` if it gives no plausible time.
pub fn until(text: &str, now: SystemTime) -> Option<SystemTime> {
    let time = match when(text)? {
        MessageTime::In(duration) => now.checked_add(duration)?,
        MessageTime::At(second) => UNIX_EPOCH.checked_add(Duration::from_secs(second))?,
        MessageTime::Local { day, hour, minute } => local(day, hour, minute, now)?,
    };
    let left = time.duration_since(now).ok()?;
    (left <= LONGEST).then_some(time)
}

/// The time in this message, such as `resets 3pm`, `try again at Nov 23rd, 2026 2:13 AM`, `try again in 2 hours 5 minutes`,
/// `limit reached|1795400000`.
pub fn when(text: &str) -> Option<MessageTime> {
    let text = text.to_lowercase();
    let words: Vec<&str> = text
        .split(|letter: char| letter.is_whitespace() || "|,()·".contains(letter))
        .map(|word| word.trim_end_matches(['.', ';', '!']))
        .filter(|word| !word.is_empty())
        .collect();
    let after = |mark: &str| words.iter().position(|word| *word == mark).map(|at| &words[at + 1..]);
    let epoch = words.iter().find(|word| word.len() == 10 && word.bytes().all(|byte| byte.is_ascii_digit()));
    if let Some(second) = epoch {
        return second.parse().ok().map(MessageTime::At);
    }
    if let Some(found) = after("again").and_then(|rest| rest.strip_prefix(&["in"])).and_then(duration) {
        return Some(MessageTime::In(found));
    }
    after("retry-after:").and_then(duration_or_seconds).map(MessageTime::In).or_else(|| {
        let rest = after("resets").or_else(|| after("again"))?;
        local_time(rest)
    })
}

fn duration_or_seconds(words: &[&str]) -> Option<Duration> {
    words.first()?.parse().ok().map(Duration::from_secs).or_else(|| duration(words))
}

/// `2 hours 5 minutes`, `35.6s`, `3d4h`.
fn duration(words: &[&str]) -> Option<Duration> {
    let mut seconds = 0_u64;
    let mut number: Option<u64> = None;
    for word in words {
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        let (figure, rest) = word.split_at(digits);
        // Fractions of a second round up.
        let fraction = rest
            .strip_prefix('.')
            .map(|rest| rest.trim_start_matches(|letter: char| letter.is_ascii_digit()));
        let up = u64::from(fraction.is_some());
        if digits > 0 {
            number = Some(figure.parse::<u64>().ok()?.checked_add(up)?);
        }
        let unit = fraction.unwrap_or(rest);
        if unit.is_empty() {
            continue;
        }
        let Some((count, length)) = number.take().zip(unit_of(unit)) else { break };
        seconds = seconds.checked_add(count.checked_mul(length)?)?;
    }
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

fn unit_of(unit: &str) -> Option<u64> {
    Some(match unit {
        "s" | "sec" | "secs" | "second" | "seconds" => 1,
        "m" | "min" | "mins" | "minute" | "minutes" => 60,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600,
        "d" | "day" | "days" => 86_400,
        _ => return None,
    })
}

/// `3pm`, `at 3:45 pm`, `dec 5 3pm`, `dec 5 at 3pm`, `nov 23rd 2026 2:13 am`, `14:05`.
fn local_time(words: &[&str]) -> Option<MessageTime> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let mut words = words.iter().copied().filter(|word| *word != "at" && *word != "on").peekable();
    let month = words.peek().and_then(|word| MONTHS.iter().position(|month| word.starts_with(month)));
    let mut day = None;
    if let Some(month) = month {
        words.next();
        let number = words.next()?.trim_end_matches(|letter: char| letter.is_alphabetic()).parse().ok()?;
        let year = words.peek().and_then(|word| word.parse().ok()).filter(|year| *year > 2000);
        if year.is_some() {
            words.next();
        }
        day = Some((u32::try_from(month).ok()? + 1, number, year));
    }
    let clock = words.next()?;
    let (clock, half) = match (clock.strip_suffix("am"), clock.strip_suffix("pm")) {
        (Some(clock), _) => (clock, Some(0)),
        (None, Some(clock)) => (clock, Some(12)),
        (None, None) => (
            clock,
            words
                .next()
                .and_then(|word| ["am", "pm"].iter().position(|it| *it == word))
                .map(|at| 12 * at as u32),
        ),
    };
    let (hour, minute) = clock.split_once(':').unwrap_or((clock, "0"));
    let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
    // A bare number is not a time of day.
    let hour = match half {
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        None if clock.contains(':') && hour < 24 => hour,
        Some(_) | None => return None,
    };
    (minute < 60).then_some(MessageTime::Local { day, hour, minute })
}

/// The arguments with which the `date` of GNU and that of BSD print the seconds of a local time.
fn questions<'t>(format: &'t str, text: &'t str) -> [Vec<&'t str>; 2] {
    [vec!["-d", text, "+%s"], vec!["-j", "-f", format, text, "+%s"]]
}

/// Converts a local time with the program `date`, since only the system knows the time zone.
fn local(
    day: Option<(u32, u32, Option<u32>)>,
    hour: u32,
    minute: u32,
    now: SystemTime,
) -> Option<SystemTime> {
    const DAY: Duration = Duration::from_secs(86_400);
    let ask = |format: &str, text: String| {
        let answer = |words: Vec<&str>| {
            let call = ProgramCall::new("date").args(words).bound(Duration::from_secs(5));
            call.text().ok()?.trim().parse().ok()
        };
        let second = questions(format, &text).into_iter().find_map(answer)?;
        UNIX_EPOCH.checked_add(Duration::from_secs(second))
    };
    let Some((month, day, year)) = day else {
        // The seconds, too: that of BSD takes those of now.
        let today = ask("%H:%M:%S", format!("{hour:02}:{minute:02}:00"))?;
        // A time that has just passed is over; an earlier one is tomorrow's.
        return if today < now { today.checked_add(DAY) } else { Some(today) };
    };
    let this_year = orange_system::clock::rfc3339(now).get(..4)?.parse().ok()?;
    let at = |year: u32| {
        ask("%Y-%m-%d %H:%M:%S", format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:00"))
    };
    match year {
        Some(year) => at(year),
        None => at(this_year).filter(|time| *time >= now).or_else(|| at(this_year + 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Option<MessageTime>) {
        assert_eq!(when(text), expect, "{text}");
    }

    fn at(hour: u32, minute: u32) -> Option<MessageTime> {
        Some(MessageTime::Local { day: None, hour, minute })
    }

    #[test]
    fn times_are_read_as_harnesses_write_them() {
        check("You've hit your session limit · resets 3pm (Europe/Berlin)", at(15, 0));
        check("5-hour limit reached ∙ resets 12:30am", at(0, 30));
        check("You’ve hit your usage limit. Upgrade to Pro or try again at 2:13 AM.", at(2, 13));
        let day = |month, day, year, hour, minute| {
            Some(MessageTime::Local { day: Some((month, day, year)), hour, minute })
        };
        check("usage limit. visit x or try again at Nov 23rd, 2026 2:13 AM.", day(11, 23, Some(2026), 2, 13));
        check("Weekly limit reached · resets Dec 5 at 3pm", day(12, 5, None, 15, 0));
        check("Claude AI usage limit reached|1795400000", Some(MessageTime::At(1_795_400_000)));
    }

    #[test]
    fn durations_are_read_with_their_units() {
        let seconds = |seconds| Some(MessageTime::In(Duration::from_secs(seconds)));
        check("Please try again in 35.6s.", seconds(36));
        check("try again in 3 days 1 hour 20 minutes.", seconds(3 * 86_400 + 3600 + 1200));
        check("Try again in 5 minutes", seconds(300));
        check("retry-after: 60", seconds(60));
    }

    #[test]
    fn what_names_no_time_is_none() {
        for text in [
            "",
            "API Error: 429",
            "please try again later",
            "resets",
            "resets 3",
            "resets 99pm",
            "again in",
            "try again in 7",
        ] {
            check(text, None);
        }
        check("try again in 99999999999999999999 days", None);
        check("resets 1:99pm", None);
    }

    #[test]
    fn a_time_is_believed_for_a_week() {
        let now = UNIX_EPOCH + Duration::from_secs(1_795_000_000);
        assert_eq!(until("try again in 2 hours", now), Some(now + Duration::from_secs(7200)));
        assert_eq!(until("try again in 300 days", now), None);
        assert_eq!(until("limit reached|1700000000", now), None);
    }

    #[test]
    fn both_kinds_of_date_are_asked() {
        let [gnu, bsd] = questions("%H:%M:%S", "15:07:00");
        assert_eq!(gnu, ["-d", "15:07:00", "+%s"]);
        assert_eq!(bsd, ["-j", "-f", "%H:%M:%S", "15:07:00", "+%s"]);
        assert!(
            ProgramCall::new("date").args(gnu).text().or(ProgramCall::new("date").args(bsd).text()).is_ok()
        );
    }

    #[test]
    fn a_time_of_day_is_the_next_one_here() {
        let now = SystemTime::now();
        let found = until("resets 3:07pm", now).unwrap();
        assert!(found.duration_since(now).unwrap() <= Duration::from_secs(86_400));
        let second = found.duration_since(UNIX_EPOCH).unwrap().as_secs();
        let shown =
            |option: &str, second: &str| ProgramCall::new("date").args([option, second, "+%H:%M"]).text();
        let shown = shown("-d", &format!("@{second}")).or_else(|_| shown("-r", &second.to_string())).unwrap();
        assert_eq!(shown.trim(), "15:07");
    }
}
