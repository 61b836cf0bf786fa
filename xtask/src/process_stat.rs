//! The line of `/proc` about a process.

use std::fmt::Display;
use std::fs;
use std::time::Duration;

/// A process, as Linux shows it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ProcessStat {
    /// `Z` once it has ended and its parent has not asked for its end.
    pub(crate) state: char,
    pub(crate) parent: i32,
    /// Its time of processors, of its own and of the system, with that of the children for which it has waited.
    pub(crate) used: Duration,
}

impl ProcessStat {
    /// The process with this number; `None` if there is none, and on systems without `/proc`.
    pub(crate) fn of(pid: impl Display) -> Option<ProcessStat> {
        let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        ProcessStat::parse(&line, rustix::param::clock_ticks_per_second())
    }

    /// The second field, the name in parentheses, may contain anything. The times are the fields 14 to 17.
    fn parse(line: &str, ticks_per_second: u64) -> Option<ProcessStat> {
        let (_, fields) = line.rsplit_once(')')?;
        let mut fields = fields.split_ascii_whitespace();
        let (state, parent) = (fields.next()?.chars().next()?, fields.next()?.parse().ok()?);
        let times: Option<Vec<u64>> = fields.skip(9).take(4).map(|field| field.parse().ok()).collect();
        let times = times.filter(|times| times.len() == 4)?;
        let used = Duration::from_millis(times.iter().sum::<u64>() * 1000 / ticks_per_second);
        Some(ProcessStat { state, parent, used })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_time_and_that_of_children_are_added() {
        let line = "42 (a b) c) Z 1 42 42 0 -1 4194304 90 0 0 0 1 20 300 4000 20 0 1 0 5551";
        let expect = ProcessStat { state: 'Z', parent: 1, used: Duration::from_millis(43_210) };
        assert_eq!(ProcessStat::parse(line, 100), Some(expect));
        assert_eq!(ProcessStat::parse("42 (short) Z 1", 100), None);
    }
}
