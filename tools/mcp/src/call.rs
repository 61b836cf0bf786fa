//! One call of `orange`, and what it answers.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::process::Command;

/// What a call came to: the answer of `orange`, or its error object.
pub(crate) type CallResult = Result<Value, Value>;

/// Runs `orange` with these words. It inherits folder and environment, so that it knows whose agent asks; it does not get
/// standard input, which is the conversation. Once begun it is left to finish, whatever becomes of the one who asked.
pub(crate) async fn orange(words: &[String]) -> CallResult {
    let program = program();
    let output = Command::new(&program).args(words).stdin(Stdio::null()).output().await;
    let output = output.map_err(|cause| {
        let message = format!("cannot run {}: {cause}", Path::new(&program).display());
        error("environment", &message, "put `orange` beside `orange-mcp`, or on PATH")
    })?;
    let Ok(answer) = serde_json::from_slice::<Value>(&output.stdout) else {
        let complaint = String::from_utf8_lossy(&output.stderr);
        let message = format!("`orange` gave no answer ({}): {}", output.status, complaint.trim());
        return Err(error("environment", &message, "`orange log` may say more"));
    };
    if output.status.success() { Ok(answer) } else { Err(answer) }
}

/// An error as `orange` answers it.
pub(crate) fn error(code: &str, message: &str, help: &str) -> Value {
    json!({ "error": { "code": code, "message": message, "help": help } })
}

/// The `orange` beside this program, or else the one on `PATH`.
fn program() -> OsString {
    let own = std::env::current_exe().ok();
    let beside = own.and_then(|own| Some(own.parent()?.join("orange"))).filter(|program| program.is_file());
    beside.map_or_else(|| OsString::from("orange"), Into::into)
}
