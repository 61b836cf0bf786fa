//! `orange.log`: what processes without a terminal have to say, a line each. Code writes it with the macros of the crate `log`,
//! and names its command as the target.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use log::{Level, LevelFilter, Log, Metadata, Record};
use rustix::fs::OFlags;

use crate::store::Home;
use orange_system::{clock, nofollow};

/// A log of more bytes becomes the former log.
pub const LONGEST: u64 = 8 * 1024 * 1024;

/// The levels as lines, `--level` and `ORANGE_LOG_LEVEL` spell them; the gravest comes first.
pub const LEVELS: [&str; 4] = ["error", "warn", "info", "debug"];

struct LogFile {
    log: PathBuf,
    former: PathBuf,
    longest: u64,
}

/// Has the macros of the crate `log` append to the log of this home, at the levels that `ORANGE_LOG_LEVEL` names.
pub fn init(home: &Home) {
    let named = std::env::var("ORANGE_LOG_LEVEL").ok().and_then(|name| name.parse().ok());
    log::set_max_level(named.unwrap_or(LevelFilter::Info));
    let file = LogFile { log: home.log_file(), former: home.former_log(), longest: LONGEST };
    // It fails where a logger is set already, which then goes on.
    log::set_boxed_logger(Box::new(file)).unwrap_or_default();
}

impl Log for LogFile {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record<'_>) {
        let message = record.args().to_string();
        let (time, level) = (clock::now(), record.level());
        let line = LogFileLine { time: &time, level, component: record.target(), message: &message };
        // Work goes on without a log; `orange doctor` reports that it cannot be written.
        self.append(&line.to_string()).unwrap_or_default();
    }

    fn flush(&self) {}
}

impl LogFile {
    fn append(&self, line: &str) -> io::Result<()> {
        let mut file = nofollow::open(&self.log, OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE)?;
        // One write, so that lines of several processes do not mix.
        file.write_all(format!("{line}\n").as_bytes())?;
        if file.metadata()?.len() > self.longest { self.rotate(&file) } else { Ok(()) }
    }

    /// Makes the log the former log. Several processes may find it too long: the first that has the lock moves it, and the others
    /// find that their file is the log no more.
    fn rotate(&self, file: &File) -> io::Result<()> {
        file.lock()?;
        if is_at(file, &self.log)? { nofollow::rename(&self.log, &self.former) } else { Ok(()) }
    }
}

fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let (ours, there) = (file.metadata()?, nofollow::metadata(path)?);
    Ok((ours.dev(), ours.ino()) == (there.dev(), there.ino()))
}

/// One line of it: `2026-11-21T22:23:24.025Z info agent: task t1, agent 2: advanced to done`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFileLine<'l> {
    /// Time of writing, RFC 3339 UTC; empty for lines that a crashed process left there in its own form.
    pub time: &'l str,
    pub level: Level,
    /// The command that wrote it.
    pub component: &'l str,
    /// Message, on one line.
    pub message: &'l str,
}

/// The name of a level, one of [`LEVELS`].
pub fn name(level: Level) -> &'static str {
    match level {
        Level::Error => LEVELS[0],
        Level::Warn => LEVELS[1],
        Level::Info => LEVELS[2],
        Level::Debug | Level::Trace => LEVELS[3],
    }
}

impl<'l> LogFileLine<'l> {
    /// Understands a line; one in another form is an error that a process left when it crashed.
    pub fn parse(line: &'l str) -> LogFileLine<'l> {
        LogFileLine::in_form(line).unwrap_or(LogFileLine {
            time: "",
            level: Level::Error,
            component: "",
            message: line,
        })
    }

    fn in_form(line: &'l str) -> Option<LogFileLine<'l>> {
        let (head, message) = line.split_once(": ")?;
        let mut words = head.split(' ');
        let (time, level, component) = (words.next()?, words.next()?.parse().ok()?, words.next()?);
        words.next().is_none().then_some(LogFileLine { time, level, component, message })
    }
}

impl fmt::Display for LogFileLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.time.is_empty() {
            return f.write_str(self.message);
        }
        let message = self.message.replace('\n', " ");
        write!(f, "{} {} {}: {message}", self.time, name(self.level), self.component)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, level: Level, component: &str, message: &str) {
        let line = LogFileLine::parse(text);
        assert_eq!((line.level, line.component, line.message), (level, component, message));
        assert_eq!(line.to_string(), text);
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        check("T info agent: task t1: done", Level::Info, "agent", "task t1: done");
        check("T error spawn-next: `a: b` failed", Level::Error, "spawn-next", "`a: b` failed");
        for crashed in ["thread 'main' panicked at x: y", "", "T loud agent: x", "T info agent x: y"] {
            check(crashed, Level::Error, "", crashed);
        }
        let line = LogFileLine { time: "T", level: Level::Warn, component: "finish", message: "a\nb" };
        assert_eq!(line.to_string(), "T warn finish: a b");
    }

    #[test]
    fn a_level_has_the_name_that_it_is_read_from() {
        for named in LEVELS {
            assert_eq!(name(named.parse().unwrap()), named);
        }
    }

    #[test]
    fn many_writers_rotate_the_log_and_lose_no_line() {
        const WRITERS: usize = 4;
        const LINES: usize = 100;
        let folder = tempfile::tempdir().unwrap();
        let (log, former) = (folder.path().join("log"), folder.path().join("former"));
        let line = |writer: usize, number: usize| format!("writer {writer}, line {number:03}");
        // Room for all but one line: it is rotated once.
        let longest = (WRITERS * LINES - 1) * (line(0, 0).len() + 1) - 1;
        let file = LogFile { log: log.clone(), former: former.clone(), longest: longest as u64 };
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let file = &file;
                scope.spawn(move || {
                    (0..LINES).for_each(|number| file.append(&line(writer, number)).unwrap());
                });
            }
        });
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let written = read(&former) + &read(&log);
        let mut lines: Vec<_> = written.lines().collect();
        lines.sort_unstable();
        let expect: Vec<_> =
            (0..WRITERS).flat_map(|writer| (0..LINES).map(move |number| line(writer, number))).collect();
        assert_eq!(lines, expect);
        assert!(former.exists());
    }
}
