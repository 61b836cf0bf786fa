//! `orange.log`: the messages of processes without a terminal, one for each line.

use std::fmt;

/// The level of a line, the most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// A failure.
    Error,
    /// Something unexpected that stopped nothing.
    Warn,
    /// An action.
    Info,
    /// An action without a result.
    Debug,
}

/// A line: `2026-11-21T22:23:24.025Z info agent: task t1, agent 2: advanced to done`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'l> {
    /// When it was written, RFC 3339 UTC; empty for the output of a crashed process.
    pub time: &'l str,
    /// Its level.
    pub level: Level,
    /// The command that wrote it.
    pub component: &'l str,
    /// Its message, on one line.
    pub message: &'l str,
}

impl Level {
    /// The names of all levels, in order.
    pub const NAMES: &'static [&'static str] = &["error", "warn", "info", "debug"];

    /// The name in lines and in `ORANGE_LOG_LEVEL`.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warn => "warn",
            Level::Info => "info",
            Level::Debug => "debug",
        }
    }

    /// The level of this name.
    pub fn named(name: &str) -> Option<Level> {
        [Level::Error, Level::Warn, Level::Info, Level::Debug]
            .into_iter()
            .find(|level| level.as_str() == name)
    }

    /// The least severe level that is written: `ORANGE_LOG_LEVEL`, or else `info`.
    pub fn least(variable: Option<&str>) -> Level {
        variable.and_then(Level::named).unwrap_or(Level::Info)
    }
}

impl<'l> Line<'l> {
    /// Parses a line; one in another form is an error that a process left when it crashed.
    pub fn parse(line: &'l str) -> Line<'l> {
        Line::in_form(line).unwrap_or(Line { time: "", level: Level::Error, component: "", message: line })
    }

    fn in_form(line: &'l str) -> Option<Line<'l>> {
        let (head, message) = line.split_once(": ")?;
        let mut words = head.split(' ');
        let (time, level, component) = (words.next()?, Level::named(words.next()?)?, words.next()?);
        words.next().is_none().then_some(Line { time, level, component, message })
    }
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.time.is_empty() {
            return f.write_str(self.message);
        }
        let message = self.message.replace('\n', " ");
        write!(f, "{} {} {}: {message}", self.time, self.level.as_str(), self.component)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, level: Level, component: &str, message: &str) {
        let line = Line::parse(text);
        assert_eq!((line.level, line.component, line.message), (level, component, message));
        assert_eq!(line.to_string(), text);
    }

    #[test]
    fn lines_are_taken_apart_and_put_together() {
        check("T info agent: task t1: done", Level::Info, "agent", "task t1: done");
        check("T error spawn-next: `a: b` failed", Level::Error, "spawn-next", "`a: b` failed");
        for crashed in ["thread 'main' panicked at x: y", "", "T loud agent: x", "T info agent x: y"] {
            check(crashed, Level::Error, "", crashed);
        }
        let line = Line { time: "T", level: Level::Warn, component: "finish", message: "a\nb" };
        assert_eq!(line.to_string(), "T warn finish: a b");
    }

    #[test]
    fn the_gravest_come_first() {
        assert!(Level::Error < Level::Debug);
        assert!(Level::NAMES.iter().all(|name| Level::named(name).unwrap().as_str() == *name));
        assert_eq!(Level::least(Some("debug")), Level::Debug);
        assert_eq!(Level::least(Some("loud")), Level::Info);
        assert_eq!(Level::least(None), Level::Info);
    }
}
