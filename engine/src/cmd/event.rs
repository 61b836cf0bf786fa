//! `orange agent event`: the command that the hooks of a harness call. It records what happens and never blocks an agent.

use std::io::{self, Read, Write};

use serde_json::{Value, json};

use crate::app::App;
use crate::flow::answer::Answer;
use crate::flow::event::note;
use crate::{Error, Kind, Result};

/// The longest input of a hook; no event that matters is longer.
const LONGEST_INPUT: u64 = 16 * 1024 * 1024;

/// Records the event from standard input. With `hold`, a request for a permission waits for a person's answer, which is
/// written to standard output as the harness reads it. A failure is only in `orange.log`.
pub fn run(hold: bool, open: impl FnOnce() -> Result<App>) {
    let given =
        given().map_err(|cause| Error::new(Kind::Environment, format!("cannot read the event: {cause}")));
    let answered = given.and_then(|given| note(&given, hold, open));
    if let Err(error) = answered.and_then(|answer| answer.as_ref().map_or(Ok(()), reply)) {
        log::error!(target: "event", "{}", error.one_line());
    }
}

/// Standard input, read to its end even if it is not used: a harness that writes to a hook that has ended gets an error.
fn given() -> io::Result<Vec<u8>> {
    let mut given = Vec::new();
    let mut input = io::stdin().lock();
    input.by_ref().take(LONGEST_INPUT).read_to_end(&mut given)?;
    io::copy(&mut input, &mut io::sink())?;
    Ok(given)
}

/// What claude and codex read from a hook that was asked for a permission.
fn reply(given: &Answer) -> Result<()> {
    let mut decision = json!({ "behavior": if given.allow { "allow" } else { "deny" } });
    if let Some(message) = given.message.as_ref().filter(|_| !given.allow) {
        decision["message"] = Value::from(message.as_str());
    }
    let output =
        json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": decision } });
    writeln!(io::stdout(), "{output}").map_err(|cause| {
        Error::new(Kind::Environment, format!("nobody reads the answer to a request: {cause}"))
    })
}
