//! `orange log`: messages of processes without a terminal.

use std::io;
use std::path::Path;

use log::Level;
use rustix::fs::OFlags;

use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::LogArgs;
use crate::log_file::{self, LONGEST, LogFileLine};
use crate::store::transcripts;
use crate::{Error, Result};
use orange_api::LogLine;
use orange_system::nofollow;

/// The last lines that fit, oldest first.
pub fn run(app: &App, args: &LogArgs) -> Result<CommandAnswer> {
    let log = end_of(&app.home.former_log())? + &end_of(&app.home.log_file())?;
    let mut lines: Vec<LogFileLine<'_>> =
        log.lines().map(LogFileLine::parse).filter(|line| fits(line, args)).collect();
    lines.drain(..lines.len().saturating_sub(args.lines));
    let answer: Vec<LogLine<'_>> = lines.iter().map(to_answer).collect();
    let text: Vec<_> = lines.iter().map(LogFileLine::to_string).collect();
    CommandAnswer::of(&answer, text.join("\n"))
}

fn to_answer<'l>(line: &LogFileLine<'l>) -> LogLine<'l> {
    let some = |text: &'l str| Some(text).filter(|text| !text.is_empty());
    LogLine {
        time: some(line.time).map(Into::into),
        level: log_file::name(line.level).into(),
        component: some(line.component).map(Into::into),
        message: line.message.into(),
    }
}

/// The last part of a log; empty if there is none.
fn end_of(path: &Path) -> Result<String> {
    let end = nofollow::open(path, OFlags::RDONLY).and_then(|mut log| transcripts::end_of(&mut log, LONGEST));
    match end {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(cause) => Err(Error::io("read", path, &cause)),
    }
}

fn fits(line: &LogFileLine<'_>, args: &LogArgs) -> bool {
    let level = args.level.as_deref().and_then(|name| name.parse().ok()).unwrap_or(Level::Debug);
    line.level <= level
        && args.component.as_ref().is_none_or(|component| component == line.component)
        && args.grep.as_ref().is_none_or(|text| line.message.contains(text.as_str()))
}
