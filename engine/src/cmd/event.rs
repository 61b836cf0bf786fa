//! `orange agent event`: the command that the hooks of a harness call. It records what happens and never blocks an agent.

use std::io::{self, Read, Write};

use serde::Serialize;

use crate::app::App;
use crate::cmd::answer::written;
use crate::cmd::relayed;
use crate::flow::asked::RequestAnswer;
use crate::flow::event::note;
use crate::relay::RelayReply;
use crate::{Error, ErrorKind, Result};

/// The longest input of a hook; no event that matters is longer.
const LONGEST_INPUT: u64 = 16 * 1024 * 1024;

/// Output of a hook, which claude and codex read.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HookOutput<'l> {
    hook_specific_output: PermissionOutput<'l>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PermissionOutput<'l> {
    decision: HookDecision<'l>,
    hook_event_name: &'static str,
}

#[derive(Serialize)]
struct HookDecision<'l> {
    behavior: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'l str>,
}

/// Records the event from standard input. With `hold`, a request for a permission waits for a person's answer, which is
/// written to standard output as the harness reads it. A failure is only in `orange.log`.
pub fn run(hold: bool, open: impl FnOnce() -> Result<App>) {
    let given = given()
        .map_err(|cause| Error::new(ErrorKind::Environment, format!("cannot read the event: {cause}")));
    let relayed = given.as_ref().ok().and_then(|given| relayed::reported(&String::from_utf8_lossy(given)));
    if let Some(reply) = relayed {
        if let Err(error) = reply.and_then(pass_on) {
            log::error!(target: "event", "{}", error.one_line());
        }
        return;
    }
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

/// Passes on the answer that the companion of a walled agent has got for its harness.
fn pass_on(reply: RelayReply) -> Result<()> {
    match reply {
        RelayReply::Ran { stdout, .. } => io::stdout().write_all(stdout.as_bytes()).map_err(|cause| {
            Error::new(ErrorKind::Environment, format!("the answer to a request cannot be written: {cause}"))
        }),
        RelayReply::Failed(error) => Err(error),
    }
}

/// Answers the harness, which asked its hook for a permission.
fn reply(given: &RequestAnswer) -> Result<()> {
    let decision = HookDecision {
        behavior: if given.allow { "allow" } else { "deny" },
        message: given.message.as_deref().filter(|_| !given.allow),
    };
    let output = written(&HookOutput {
        hook_specific_output: PermissionOutput { decision, hook_event_name: "PermissionRequest" },
    })?;
    writeln!(io::stdout(), "{output}").map_err(|cause| {
        Error::new(ErrorKind::Environment, format!("the answer to a request cannot be written: {cause}"))
    })
}
