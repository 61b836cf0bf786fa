//! `orange log`: what processes without a terminal had to say.

use std::fs;
use std::io::ErrorKind;

use serde_json::{Value, json};

use crate::cmd::answer::Answer;
use crate::cmd::args::LogArgs;
use crate::log::{Level, Line};
use crate::orange::Orange;
use crate::{Error, Result};

/// The last lines that fit, oldest first.
pub fn run(orange: &Orange, args: &LogArgs) -> Result<Answer> {
    let path = orange.home.log_file();
    let log = match fs::read(&path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(cause) if cause.kind() == ErrorKind::NotFound => String::new(),
        Err(cause) => return Err(Error::io("read", &path, &cause)),
    };
    let mut lines: Vec<Line<'_>> = log.lines().map(Line::parse).filter(|line| fits(line, args)).collect();
    lines.drain(..lines.len().saturating_sub(args.lines));
    let json = lines.iter().map(|line| {
        json!({
            "time": Some(line.time).filter(|time| !time.is_empty()),
            "level": line.level.as_str(),
            "component": Some(line.component).filter(|component| !component.is_empty()),
            "message": line.message,
        })
    });
    let text: Vec<_> = lines.iter().map(Line::to_string).collect();
    Ok(Answer::new(Value::Array(json.collect()), text.join("\n")))
}

fn fits(line: &Line<'_>, args: &LogArgs) -> bool {
    let level = args.level.as_deref().and_then(Level::named).unwrap_or(Level::Debug);
    line.level <= level
        && args.component.as_ref().is_none_or(|component| component == line.component)
        && args.grep.as_ref().is_none_or(|text| line.message.contains(text.as_str()))
}
