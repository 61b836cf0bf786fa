//! The API as the commands for people call it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use orange_api::{Error, ErrorKind, Result};
use orange_system::random;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::store::folder;
use crate::client::{self, GatewayAccess, GatewayFailure, Heard, parse};
use crate::serve::auth::Tokens;
use crate::serve::settings::PORT;

/// Time limit of a call.
const PATIENCE: Duration = Duration::from_secs(30);

/// Number of tries of a call that gets no answer.
const TRIES: u32 = 3;

/// Address of the gateway, and the token that it lets in.
#[derive(Clone, Debug, Default, Args)]
pub struct ClientArgs {
    /// The address of the gateway [env: ORANGE_FLEET_GATEWAY; default: http://127.0.0.1:8800]
    #[arg(long, value_name = "URL")]
    pub gateway: Option<String>,
    /// The file with the token [default: the token in ORANGE_FLEET_TOKEN, else the administrator's on the gateway's machine]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// A PEM file with the certificate authority of the gateway [default: the public authorities]
    #[arg(long, value_name = "FILE")]
    pub authority: Option<PathBuf>,
    /// The gateway's folder, on its machine [env: ORANGE_FLEET_DIR; default: ~/orange-fleet/gateway]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// An answer of the gateway.
#[derive(Debug)]
pub struct Received<T> {
    /// All that came, for `--json`.
    pub json: Value,
    pub answer: T,
}

/// A gateway that answers.
#[derive(Debug)]
pub struct CommandClient(client::Client);

impl ClientArgs {
    /// The client of these arguments and of the environment.
    ///
    /// # Errors
    /// There is no token, or a file cannot be read.
    pub fn client(&self) -> Result<CommandClient> {
        let set = |name: &str| std::env::var(name).ok().filter(|it| !it.is_empty());
        let named = self.gateway.clone().or_else(|| set("ORANGE_FLEET_GATEWAY"));
        let named = named.unwrap_or_else(|| format!("http://127.0.0.1:{PORT}"));
        let addresses = named.split(',').map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned);
        let token = match (&self.token_file, set("ORANGE_FLEET_TOKEN")) {
            (Some(path), _) => String::from_utf8_lossy(&read(path)?).trim().to_owned(),
            (None, Some(token)) => token,
            (None, None) => self.own_token()?,
        };
        let authorities = self.authority.as_deref().map(read).transpose()?;
        let gateway = GatewayAccess { addresses: addresses.collect(), token, authorities };
        client::Client::new(gateway).map(CommandClient)
    }

    /// These arguments as words for a shell, each after a space: a suggested command reaches the same gateway.
    pub fn words(&self) -> String {
        let text = |path: &PathBuf| path.display().to_string();
        let given = [
            ("--gateway", self.gateway.clone()),
            ("--token-file", self.token_file.as_ref().map(text)),
            ("--authority", self.authority.as_ref().map(text)),
            ("--dir", self.dir.as_ref().map(text)),
        ];
        let given = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
        given.map(|(name, value)| format!(" {name} {}", shell_word(&value))).collect()
    }

    fn own_token(&self) -> Result<String> {
        Tokens::admin(&folder(self.dir.as_deref())?).map_err(|error| {
            let message = format!("there is no token for the gateway: {}", error.message);
            Error::new(ErrorKind::NotAllowed, message).help(
                "name its file with `--token-file`, or put it into ORANGE_FLEET_TOKEN; on the gateway's machine `--dir` names its folder",
            )
        })
    }
}

impl CommandClient {
    /// Reads something.
    ///
    /// # Errors
    /// The gateway refuses, or does not answer.
    pub fn get<T: for<'de> Deserialize<'de>>(&self, path: &str) -> Result<Received<T>> {
        again(|| received(&self.0.get(path, PATIENCE)?))
    }

    /// Removes something. It is asked once, since what is removed is not found again.
    ///
    /// # Errors
    /// The gateway refuses, or does not answer.
    pub fn delete(&self, path: &str) -> Result<()> {
        self.0.delete(path, PATIENCE).map(drop).map_err(GatewayFailure::into_error)
    }

    /// Has something happen, once even if the answer is lost.
    ///
    /// # Errors
    /// The gateway refuses, or does not answer.
    pub fn post<T: for<'de> Deserialize<'de>>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<Received<T>> {
        let key: String = random::bytes::<16>()?.iter().map(|it| format!("{it:02x}")).collect();
        self.post_with(&key, path, body)
    }

    /// Has something happen once, however many commands ask for it with this key.
    ///
    /// # Errors
    /// The gateway refuses, or does not answer.
    pub fn post_with<T: for<'de> Deserialize<'de>>(
        &self,
        key: &str,
        path: &str,
        body: &impl Serialize,
    ) -> Result<Received<T>> {
        let body = client::json(body);
        again(|| received(&self.0.post(path, &body, Some(key), PATIENCE)?))
    }
}

fn shell_word(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_./:,@%+=".contains(it);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

fn received<T: for<'de> Deserialize<'de>>(text: &str) -> Heard<Received<T>> {
    Ok(Received { json: parse(text)?, answer: parse(text)? })
}

fn again<T>(call: impl Fn() -> Heard<T>) -> Result<T> {
    let mut tried = 1;
    loop {
        match call() {
            Err(GatewayFailure::Unheard(_)) if tried < TRIES => tried += 1,
            other => return other.map_err(GatewayFailure::into_error),
        }
        std::thread::sleep(Duration::from_millis(300));
    }
}

/// A value of a query or a part of a path.
pub fn encoded(value: &str) -> String {
    let is_plain = |it: &u8| it.is_ascii_alphanumeric() || b"-_.~".contains(it);
    value
        .bytes()
        .map(|it| if is_plain(&it) { char::from(it).to_string() } else { format!("%{it:02X}") })
        .collect()
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|cause| Error::io("read", path, &cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_encoded() {
        assert_eq!(encoded("a b/ü&c"), "a%20b%2F%C3%BC%26c");
        assert_eq!(encoded("m-1._~"), "m-1._~");
    }
}
