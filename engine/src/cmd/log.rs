//! `orange log`: what processes without a terminal had to say.

use std::io::{ErrorKind, Write};
use std::path::Path;

use rustix::fs::OFlags;

use crate::answer::LogLine;
use crate::app::App;
use crate::cmd::answer::Answer;
use crate::cmd::args::LogArgs;
use crate::flow::garbage::LONGEST_LOG;
use crate::log::{Level, Line};
use crate::store::home::Home;
use crate::store::{clock, transcripts};
use crate::{Error, Result, nofollow};

/// The last lines that fit, oldest first.
pub fn run(app: &App, args: &LogArgs) -> Result<Answer> {
    let log = end_of(&app.home.former_log())? + &end_of(&app.home.log_file())?;
    let mut lines: Vec<Line<'_>> = log.lines().map(Line::parse).filter(|line| fits(line, args)).collect();
    lines.drain(..lines.len().saturating_sub(args.lines));
    let answer: Vec<LogLine<'_>> = lines.iter().map(to_answer).collect();
    let text: Vec<_> = lines.iter().map(Line::to_string).collect();
    Answer::of(&answer, text.join("\n"))
}

fn to_answer<'l>(line: &Line<'l>) -> LogLine<'l> {
    let some = |text: &'l str| Some(text).filter(|text| !text.is_empty());
    LogLine {
        time: some(line.time),
        level: line.level.as_str(),
        component: some(line.component),
        message: line.message,
    }
}

/// The last part of a log; nothing when there is none.
fn end_of(path: &Path) -> Result<String> {
    let end =
        nofollow::open(path, OFlags::RDONLY).and_then(|mut log| transcripts::end_of(&mut log, LONGEST_LOG));
    match end {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(cause) => Err(Error::io("read", path, &cause)),
    }
}

/// Writes an error of a command whose output nobody sees into `orange.log`. Where that cannot be written, it is lost.
pub fn complain(component: &str, what: &str) {
    let Ok(home) = Home::from_env() else { return };
    let line = Line { time: &clock::now(), level: Level::Error, component, message: what };
    let log = nofollow::open(&home.log_file(), OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE);
    // One write, so that lines of several processes do not mix.
    log.and_then(|mut log| log.write_all(format!("{line}\n").as_bytes())).unwrap_or_default();
}

fn fits(line: &Line<'_>, args: &LogArgs) -> bool {
    let level = args.level.as_deref().and_then(Level::named).unwrap_or(Level::Debug);
    line.level <= level
        && args.component.as_ref().is_none_or(|component| component == line.component)
        && args.grep.as_ref().is_none_or(|text| line.message.contains(text.as_str()))
}
