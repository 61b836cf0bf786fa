//! curl: requests to a server of the user.

use std::time::Duration;

use crate::{Error, ErrorKind, Result};
use orange_system::exec::ProgramCall;

/// Sends a text in JSON to this address, and returns the status of the answer. The address and the headers may be secrets, so no
/// command line has them.
///
/// # Errors
/// `environment` when the server does not answer in time, or with another status than success.
pub fn post(url: &str, headers: &[String], body: &str, timeout: Duration) -> Result<u32> {
    let mut config = format!("url = {}\nrequest = \"POST\"\n", quoted(url));
    for header in headers.iter().map(String::as_str).chain(["Content-Type: application/json"]) {
        config += &format!("header = {}\n", quoted(header));
    }
    config += &format!("data-raw = {}\n", quoted(body));
    let longest = timeout.as_secs().to_string();
    let call = ProgramCall::new("curl")
        .args(["--disable", "--silent", "--show-error", "--globoff", "--proto", "=http,https"])
        .args(["--max-time", &longest, "--output", "/dev/null", "--write-out", "%{http_code}"])
        .args(["--config", "-"])
        .input(config.as_bytes());
    let status = call.bound(timeout + Duration::from_secs(2)).text()?;
    match status.trim().parse() {
        Ok(status @ 200..300) => Ok(status),
        Ok(_) | Err(_) => {
            Err(Error::new(ErrorKind::Environment, format!("the server has answered {status}"))
                .help("`orange notify test` sends a test message"))
        }
    }
}

/// A value in a configuration of curl.
fn quoted(value: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in value.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_one_line() {
        assert_eq!(quoted("a \"b\"\n\\url = c"), r#""a \"b\"\n\\url = c""#);
    }
}
