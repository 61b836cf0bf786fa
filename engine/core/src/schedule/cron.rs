//! The five fields of a cron expression.

use alloc::format;
use alloc::string::String;

use crate::zone::{LocalTime, date_of, length_of, weekday};

const MONTHS: &[&str] = &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

const WEEKDAYS: &[&str] = &["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// A cron expression: minute, hour, day of the month, month, day of the week. Where both days are restricted, either one is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cron {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// True for a field that begins with `*`.
    is_every_hour: bool,
    is_every_day: bool,
    is_every_weekday: bool,
}

/// A field: its name, its least and its largest value, and the words for values.
type Field = (&'static str, u32, u32, &'static [&'static str]);

const FIELDS: [Field; 5] = [
    ("minute", 0, 59, &[]),
    ("hour", 0, 23, &[]),
    ("day of the month", 1, 31, &[]),
    ("month", 1, 12, MONTHS),
    // Both 0 and 7 are Sunday.
    ("day of the week", 0, 7, WEEKDAYS),
];

impl Cron {
    /// The expression in a text such as `0 7 * * 1-5`.
    ///
    /// # Errors
    /// The flaw, as a sentence.
    pub fn parse(text: &str) -> Result<Cron, String> {
        if text.split_ascii_whitespace().count() != FIELDS.len() {
            return Err(wrong_count(text));
        }
        let mut sets = [0; 5];
        let mut is_every = [false; 5];
        for (index, (field, word)) in FIELDS.iter().zip(text.split_ascii_whitespace()).enumerate() {
            sets[index] = values(field, word)?;
            is_every[index] = word.starts_with('*');
        }
        let [minutes, hours, days, months, weekdays] = sets;
        let weekdays = if has(weekdays, 7) { weekdays | 1 } else { weekdays };
        let [_, is_every_hour, is_every_day, _, is_every_weekday] = is_every;
        let cron =
            Cron { minutes, hours, days, months, weekdays, is_every_hour, is_every_day, is_every_weekday };
        // 2000 is a leap year.
        let has_day = |month| (1..=length_of(2000, month)).any(|day| has(days, day));
        if is_every_weekday && !(1..=12).any(|month| has(months, month) && has_day(month)) {
            return Err(format!("`{}` is never due: no such month has such a day", text.escape_debug()));
        }
        Ok(cron)
    }

    /// True if it is due in every hour, or in every few hours.
    pub(super) const fn is_every_hour(&self) -> bool {
        self.is_every_hour
    }

    /// Its local times of a day since 1970-01-01.
    pub(super) fn times(&self, day: i64) -> impl Iterator<Item = LocalTime> + use<> {
        let cron = *self;
        let (year, month, of_month) = date_of(day);
        let hours = if cron.has_day(day) { 0..24 } else { 0..0 };
        let hours = hours.filter(move |hour| has(cron.hours, *hour));
        hours.flat_map(move |hour| {
            let minutes = (0..60).filter(move |minute| has(cron.minutes, *minute));
            minutes.map(move |minute| LocalTime { year, month, day: of_month, hour, minute })
        })
    }

    fn has_day(&self, day: i64) -> bool {
        let (_, month, of_month) = date_of(day);
        let (is_day, is_weekday) = (has(self.days, of_month), has(self.weekdays, weekday(day)));
        let either = !self.is_every_day && !self.is_every_weekday;
        has(self.months, month) && if either { is_day || is_weekday } else { is_day && is_weekday }
    }
}

const fn has(set: u64, value: u32) -> bool {
    set >> value & 1 == 1
}

fn wrong_count(text: &str) -> String {
    format!(
        "`{}` has not five fields: minute, hour, day of the month, month, day of the week",
        text.escape_debug()
    )
}

/// The values of a field, as a set of bits.
fn values(field: &Field, word: &str) -> Result<u64, String> {
    word.split(',').try_fold(0, |set, part| Ok(set | range(field, part)?))
}

fn range(field: &Field, part: &str) -> Result<u64, String> {
    let &(name, least, most, _) = field;
    let wrong = || {
        format!(
            "`{}` is not a valid {name}: write {least} to {most}, a range such as {least}-{most}, a list with `,`, or steps such as */5",
            part.escape_debug()
        )
    };
    let (span, step) = match part.split_once('/') {
        Some((span, step)) => (span, Some(number(step).filter(|step| *step > 0).ok_or_else(wrong)?)),
        None => (part, None),
    };
    let (from, until) = match span.split_once('-') {
        _ if span == "*" => (least, most),
        Some((from, until)) => {
            (value(field, from).ok_or_else(wrong)?, value(field, until).ok_or_else(wrong)?)
        }
        None => {
            let from = value(field, span).ok_or_else(wrong)?;
            (from, if step.is_some() { most } else { from })
        }
    };
    if from > until {
        return Err(wrong());
    }
    let mut set = 0;
    let mut next = from;
    while next <= until {
        set |= 1_u64 << next;
        next += step.unwrap_or(1);
    }
    Ok(set)
}

fn value(&(_, least, most, words): &Field, text: &str) -> Option<u32> {
    let named = words.iter().position(|word| text.eq_ignore_ascii_case(word));
    let named = named.and_then(|index| u32::try_from(index).ok()).map(|index| index + least);
    named.or_else(|| number(text)).filter(|value| (least..=most).contains(value))
}

fn number(text: &str) -> Option<u32> {
    let is_number = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}
