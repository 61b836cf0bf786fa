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
    let mut config =
        config(url, headers.iter().map(String::as_str).chain(["Content-Type: application/json"]));
    config += &format!("request = \"POST\"\ndata-raw = {}\n", quoted(body));
    let call = call(&config, timeout).args(["--output", "/dev/null", "--write-out", "%{http_code}"]);
    success(&call.text()?)
}

/// Asks for the text at this address, and returns its first `most` bytes.
///
/// # Errors
/// As [`post`].
pub fn get(url: &str, headers: &[String], most: usize, timeout: Duration) -> Result<Vec<u8>> {
    let config = config(url, headers.iter().map(String::as_str));
    let call = call(&config, timeout).args(["--write-out", "%{stderr}%{http_code}"]).most(most);
    let output = call.run()?.checked()?;
    success(&String::from_utf8_lossy(&output.stderr)).map(|_| output.stdout)
}

/// A configuration of curl with this address and these headers.
fn config<'h>(url: &str, headers: impl Iterator<Item = &'h str>) -> String {
    headers.fold(format!("url = {}\n", quoted(url)), |config, header| {
        config + &format!("header = {}\n", quoted(header))
    })
}

/// A call of curl that reads this configuration.
fn call(config: &str, timeout: Duration) -> ProgramCall {
    ProgramCall::new("curl")
        .args(["--disable", "--silent", "--show-error", "--globoff", "--proto", "=http,https"])
        .args(["--max-time", &timeout.as_secs().to_string(), "--config", "-"])
        .input(config.as_bytes())
        .bound(timeout + Duration::from_secs(2))
}

/// The status of an answer, if it is one of success.
fn success(status: &str) -> Result<u32> {
    match status.trim().parse() {
        Ok(status @ 200..300) => Ok(status),
        Ok(_) | Err(_) => {
            let message = format!("the server has answered {}", status.trim());
            Err(Error::new(ErrorKind::Environment, message).help("`orange notify test` sends a test message"))
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
