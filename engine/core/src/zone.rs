//! Time zones: local times, and the instants that they are, by the zone files of the system.

#[cfg(test)]
pub(crate) mod tests;

use alloc::vec::Vec;
use core::fmt;

const DAY: i64 = 86_400;

/// A local time to the minute, without a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocalTime {
    /// The year.
    pub year: i64,
    /// The month, from 1.
    pub month: u32,
    /// The day of the month, from 1.
    pub day: u32,
    /// The hour, from 0.
    pub hour: u32,
    /// The minute, from 0.
    pub minute: u32,
}

impl LocalTime {
    /// The local time at these seconds since 1970, as if it were in UTC.
    pub const fn of_seconds(seconds: i64) -> LocalTime {
        let (year, month, day) = date_of(seconds.div_euclid(DAY));
        let minute = seconds.rem_euclid(DAY) / 60;
        LocalTime { year, month, day, hour: (minute / 60) as u32, minute: (minute % 60) as u32 }
    }

    /// Its seconds since 1970, as if it were in UTC.
    pub const fn seconds(&self) -> i64 {
        days(self.year, self.month, self.day) * DAY + self.hour as i64 * 3600 + self.minute as i64 * 60
    }

    /// The time in a text such as `2026-11-27T07:00`.
    pub fn parse(text: &str) -> Option<LocalTime> {
        let (date, time) = text.split_once('T')?;
        let mut date = date.splitn(3, '-').map(str::parse::<u32>);
        let (hour, minute) = time.split_once(':')?;
        let read = LocalTime {
            year: date.next()?.ok()?.into(),
            month: date.next()?.ok()?,
            day: date.next()?.ok()?,
            hour: hour.parse().ok()?,
            minute: minute.parse().ok()?,
        };
        (LocalTime::of_seconds(read.seconds()) == read).then_some(read)
    }
}

impl fmt::Display for LocalTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LocalTime { year, month, day, hour, minute } = self;
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}")
    }
}

/// Days since 1970-01-01.
pub(crate) const fn days(year: i64, month: u32, day: u32) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month as i64 + 9) % 12) + 2) / 5 + day as i64 - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The year, the month and the day of a day since 1970-01-01.
pub(crate) const fn date_of(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + (month <= 2) as i64;
    (year, month as u32, day as u32)
}

/// The number of days of a month.
pub(crate) const fn length_of(year: i64, month: u32) -> u32 {
    let (next_year, next) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    (days(next_year, next, 1) - days(year, month, 1)) as u32
}

/// The day of the week of a day since 1970-01-01: 0 is Sunday.
pub(crate) const fn weekday(day: i64) -> u32 {
    (day + 4).rem_euclid(7) as u32
}

/// The offsets of a place from UTC, in seconds to the east.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Zone {
    /// Offset before the first change.
    first: i64,
    /// Changes, the oldest first: the instant, and the offset from then on.
    changes: Vec<(i64, i64)>,
    /// Rule after the last change.
    rule: Option<YearRule>,
}

/// The instant of a local time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instant {
    /// The local time is there once, or twice, and this is the first time.
    At(i64),
    /// Clocks skip the local time; this is the instant that it would be without the change.
    Skipped(i64),
}

impl Zone {
    /// The zone without an offset, at any time.
    pub const UTC: Zone = Zone { first: 0, changes: Vec::new(), rule: None };

    /// The zone in the bytes of a file of the zone database, of version 2 or later.
    pub fn parse(bytes: &[u8]) -> Option<Zone> {
        let mut reader = Reader(bytes);
        let old = Header::read(&mut reader)?;
        reader.take(old.length(4)?)?;
        let new = Header::read(&mut reader)?;
        let times: Vec<i64> =
            reader.take(new.times.checked_mul(8)?)?.chunks_exact(8).map(big_endian).collect();
        let kinds = reader.take(new.times)?;
        let offsets: Vec<i64> = reader
            .take(new.kinds.checked_mul(6)?)?
            .chunks_exact(6)
            .map(|kind| big_endian(&kind[..4]))
            .collect();
        reader.take(new.rest(8)?)?;
        let offset = |kind: &u8| offsets.get(usize::from(*kind)).copied();
        let changes = times.into_iter().zip(kinds).map(|(at, kind)| Some((at, offset(kind)?)));
        let footer = reader.0.strip_prefix(b"\n")?;
        let end = footer.iter().position(|byte| *byte == b'\n')?;
        let text = core::str::from_utf8(&footer[..end]).ok()?;
        let rule = if text.is_empty() { None } else { Some(YearRule::parse(text)?) };
        Some(Zone { first: *offsets.first()?, changes: changes.collect::<Option<_>>()?, rule })
    }

    /// The offset at an instant.
    pub fn offset(&self, at: i64) -> i64 {
        let index = self.changes.partition_point(|(change, _)| *change <= at);
        if let Some(rule) = &self.rule
            && index == self.changes.len()
        {
            return rule.offset(at);
        }
        index
            .checked_sub(1)
            .and_then(|index| self.changes.get(index))
            .map_or(self.first, |(_, offset)| *offset)
    }

    /// The local time of an instant.
    pub fn local(&self, at: i64) -> LocalTime {
        LocalTime::of_seconds(at + self.offset(at))
    }

    /// The instant of a local time.
    pub fn instant(&self, local: LocalTime) -> Instant {
        let local = local.seconds();
        let (before, after) = (self.offset(local - DAY), self.offset(local + DAY));
        let found = [before, after].map(|offset| local - offset);
        let is_one = |at: &i64| at + self.offset(*at) == local;
        match found.into_iter().filter(is_one).min() {
            Some(at) => Instant::At(at),
            None => Instant::Skipped(local - before),
        }
    }
}

/// The counts at the beginning of a block of a zone file.
struct Header {
    utc: usize,
    standard: usize,
    leaps: usize,
    times: usize,
    kinds: usize,
    letters: usize,
}

impl Header {
    fn read(reader: &mut Reader<'_>) -> Option<Header> {
        let head = reader.take(20)?;
        if !head.starts_with(b"TZif") || head[4] < b'2' {
            return None;
        }
        let mut count = || usize::try_from(big_endian(reader.take(4)?)).ok();
        let [utc, standard, leaps] = [count()?, count()?, count()?];
        Some(Header { utc, standard, leaps, times: count()?, kinds: count()?, letters: count()? })
    }

    /// The bytes of a block whose times have this size.
    fn length(&self, size: usize) -> Option<usize> {
        let table = self.times.checked_mul(size + 1)?.checked_add(self.kinds.checked_mul(6)?)?;
        table.checked_add(self.rest(size)?)
    }

    /// Those after the kinds of local time.
    fn rest(&self, size: usize) -> Option<usize> {
        let leaps = self.leaps.checked_mul(size + 4)?;
        self.letters.checked_add(leaps)?.checked_add(self.standard)?.checked_add(self.utc)
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }
}

/// A number with its sign, of four or eight bytes.
fn big_endian(bytes: &[u8]) -> i64 {
    let is_negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    bytes.iter().fold(if is_negative { -1 } else { 0 }, |number, byte| number << 8 | i64::from(*byte))
}

/// A rule for every year, as in the environment variable `TZ`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct YearRule {
    standard: i64,
    /// The offset in summer, and when it begins and ends.
    summer: Option<(i64, YearTime, YearTime)>,
}

/// A time of each year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct YearTime {
    day: YearDay,
    /// Seconds after midnight, which may be negative or more than a day.
    seconds: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum YearDay {
    /// The month, which of such weekdays (5 is the last one), and the weekday.
    Weekday(u32, u32, u32),
    /// The day from 1, without the 29th of February.
    WithoutLeap(i64),
    /// The day from 0.
    WithLeap(i64),
}

impl YearRule {
    fn parse(text: &str) -> Option<YearRule> {
        let mut text = Text(text);
        text.name()?;
        let standard = -text.seconds()?;
        if text.0.is_empty() {
            return Some(YearRule { standard, summer: None });
        }
        text.name()?;
        let summer = if text.0.starts_with(',') { standard + 3600 } else { -text.seconds()? };
        let mut time = || {
            text.skip(',')?;
            text.year_time()
        };
        let (begins, ends) = (time()?, time()?);
        text.0.is_empty().then_some(YearRule { standard, summer: Some((summer, begins, ends)) })
    }

    fn offset(&self, at: i64) -> i64 {
        let Some((summer, begins, ends)) = self.summer else { return self.standard };
        let (year, ..) = date_of((at + self.standard).div_euclid(DAY));
        let (begins, ends) = (begins.local(year) - self.standard, ends.local(year) - summer);
        let is_summer = if begins < ends { begins <= at && at < ends } else { !(ends <= at && at < begins) };
        if is_summer { summer } else { self.standard }
    }
}

impl YearTime {
    fn local(&self, year: i64) -> i64 {
        let first = days(year, 1, 1);
        let day = match self.day {
            YearDay::WithLeap(day) => first + day,
            YearDay::WithoutLeap(day) => first + day - 1 + i64::from(day >= 60 && length_of(year, 2) == 29),
            YearDay::Weekday(month, which, wanted) => {
                let first = days(year, month, 1);
                let until = (7 + wanted - weekday(first)) % 7;
                let days = until + 7 * (which - 1);
                let days = if days >= length_of(year, month) { days - 7 } else { days };
                first + i64::from(days)
            }
        };
        day * DAY + self.seconds
    }
}

/// The rest of a rule.
struct Text<'a>(&'a str);

impl Text<'_> {
    fn skip(&mut self, letter: char) -> Option<()> {
        self.0 = self.0.strip_prefix(letter)?;
        Some(())
    }

    fn name(&mut self) -> Option<()> {
        let length = match self.0.strip_prefix('<') {
            Some(quoted) => quoted.find('>')? + 2,
            None => self.0.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(self.0.len()),
        };
        self.0 = self.0.get(length..).filter(|_| length > 0)?;
        Some(())
    }

    fn number(&mut self) -> Option<i64> {
        let length = self.0.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(self.0.len());
        let (number, rest) = self.0.split_at(length);
        self.0 = rest;
        number.parse().ok().filter(|number| *number < 1000)
    }

    /// Hours, minutes and seconds with a sign.
    fn seconds(&mut self) -> Option<i64> {
        let is_negative = self.skip('-').is_some();
        if !is_negative {
            self.skip('+');
        }
        let mut seconds = self.number()? * 3600;
        for unit in [60, 1] {
            if self.skip(':').is_some() {
                seconds += self.number()? * unit;
            }
        }
        Some(if is_negative { -seconds } else { seconds })
    }

    fn year_time(&mut self) -> Option<YearTime> {
        let day = if self.skip('M').is_some() {
            let mut part = |range: core::ops::RangeInclusive<u32>| {
                let number = u32::try_from(self.number()?).ok().filter(|number| range.contains(number));
                self.skip('.');
                number
            };
            YearDay::Weekday(part(1..=12)?, part(1..=5)?, part(0..=6)?)
        } else if self.skip('J').is_some() {
            YearDay::WithoutLeap(self.number().filter(|day| (1..=365).contains(day))?)
        } else {
            YearDay::WithLeap(self.number().filter(|day| *day <= 365)?)
        };
        let seconds = if self.skip('/').is_some() { self.seconds()? } else { 2 * 3600 };
        Some(YearTime { day, seconds })
    }
}
