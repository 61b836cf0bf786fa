//! One call of `orange`, and what it answers.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;

use serde::Serialize;
use serde_json::Value;
use tokio::process::Command;

/// Result of a call. An answer of `orange` is passed on as it is, since no tool reads it.
pub(crate) type CallResult = Result<Value, Refusal>;

/// Answer of a tool that has failed.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Refusal {
    /// The answer of `orange`.
    Passed(Value),
    /// One of ours, in the form that `docs/json/error.schema.json` describes.
    Own { error: CallFailure },
}

#[derive(Debug, Serialize)]
pub(crate) struct CallFailure {
    code: Code,
    message: String,
    help: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Code {
    Environment,
    Usage,
}

impl Refusal {
    /// The arguments of a tool are wrong.
    pub(crate) fn usage(message: String) -> Refusal {
        Refusal::Own { error: CallFailure { code: Code::Usage, message, help: "see the tool's schema" } }
    }

    fn environment(message: String, help: &'static str) -> Refusal {
        Refusal::Own { error: CallFailure { code: Code::Environment, message, help } }
    }
}

/// Runs `orange` with these words. It inherits folder and environment, so that it knows whose agent asks; it does not get
/// standard input, which is the conversation. Once begun it is left to finish, whatever becomes of the one who asked.
pub(crate) async fn orange(words: &[String]) -> CallResult {
    let program = program();
    let output = Command::new(&program).args(words).stdin(Stdio::null()).output().await;
    let output = output.map_err(|cause| {
        let message = format!("cannot run {}: {cause}", Path::new(&program).display());
        Refusal::environment(message, "put `orange` beside `orange-mcp`, or on PATH")
    })?;
    let Ok(answer) = serde_json::from_slice(&output.stdout) else {
        let complaint = String::from_utf8_lossy(&output.stderr);
        let message = format!("`orange` gave no answer ({}): {}", output.status, complaint.trim());
        return Err(Refusal::environment(message, "`orange log` may say more"));
    };
    if output.status.success() { Ok(answer) } else { Err(Refusal::Passed(answer)) }
}

/// The `orange` beside this program, or else the one on `PATH`.
fn program() -> OsString {
    let own = std::env::current_exe().ok();
    let beside = own.and_then(|own| Some(own.parent()?.join("orange"))).filter(|program| program.is_file());
    beside.map_or_else(|| OsString::from("orange"), Into::into)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may fail where they stand, and say why")]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn our_refusals_are_as_the_schema_of_errors_says() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json/error.schema.json");
        let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let names = |it: &Value| it.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
        let failure = &schema["$defs"]["Failure"];
        let codes: Vec<_> =
            schema["$defs"]["Kind"]["oneOf"].as_array().unwrap().iter().map(|kind| &kind["const"]).collect();
        for refusal in [Refusal::usage(String::new()), Refusal::environment(String::new(), "")] {
            let written = serde_json::to_value(refusal).unwrap();
            assert_eq!(names(&written), names(&schema["properties"]));
            assert_eq!(names(&written["error"]), names(&failure["properties"]));
            assert!(codes.contains(&&written["error"]["code"]), "{written}");
        }
    }
}
