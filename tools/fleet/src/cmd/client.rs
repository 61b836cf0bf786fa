//! The API as the commands for people call it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use orange_engine::{Error, Kind, Result, random};
use serde_json::Value;
use ureq::Agent;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use super::store::folder;
use crate::serve::doors::Tokens;
use crate::serve::settings::PORT;

/// How long a call may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// The longest answer that is read.
const LONGEST: u64 = 16 << 20;

/// How often a call is made again that nobody has answered.
const TRIES: u32 = 3;

/// Where the gateway is, and what it lets in.
#[derive(Clone, Debug, Default, Args)]
pub struct ClientArgs {
    /// The address of the gateway [env: ORANGE_FLEET_GATEWAY; default: http://127.0.0.1:8800]
    #[arg(long, value_name = "URL")]
    pub gateway: Option<String>,
    /// The file with the token [default: the token in ORANGE_FLEET_TOKEN, else the administrator's on the gateway's machine]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// A PEM file with the authority of the gateway's certificate [default: the public ones]
    #[arg(long, value_name = "FILE")]
    pub authority: Option<PathBuf>,
    /// The gateway's folder, on its machine [env: ORANGE_FLEET_DIR; default: ~/orange-fleet/gateway]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// A gateway that answers.
#[derive(Debug)]
pub struct Client {
    agent: Agent,
    address: String,
    token: String,
}

impl ClientArgs {
    /// The client of these arguments and of the environment.
    ///
    /// # Errors
    /// There is no token, or a file cannot be read.
    pub fn client(&self) -> Result<Client> {
        let set = |name: &str| std::env::var(name).ok().filter(|it| !it.is_empty());
        let named = self.gateway.clone().or_else(|| set("ORANGE_FLEET_GATEWAY"));
        let first = named.as_deref().and_then(|it| it.split(',').next()).map(str::trim);
        let address = first
            .map_or_else(|| format!("http://127.0.0.1:{PORT}"), |it| it.trim_end_matches('/').to_owned());
        let token = match (&self.token_file, set("ORANGE_FLEET_TOKEN")) {
            (Some(path), _) => read(path)?.trim().to_owned(),
            (None, Some(token)) => token,
            (None, None) => self.own_token()?,
        };
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(PATIENCE));
        let config = match &self.authority {
            Some(path) => config.tls_config(TlsConfig::builder().root_certs(roots(path)?).build()),
            None => config,
        };
        Ok(Client { agent: config.build().into(), address, token })
    }

    fn own_token(&self) -> Result<String> {
        Tokens::admin(&folder(self.dir.as_deref())?).map_err(|error| {
            let message = format!("there is no token for the gateway: {}", error.message);
            Error::new(Kind::NotAllowed, message).help(
                "name its file with `--token-file`, or put it into ORANGE_FLEET_TOKEN; on the gateway's machine `--dir` names its folder",
            )
        })
    }
}

impl Client {
    /// Reads something.
    ///
    /// # Errors
    /// The gateway refuses, or does not answer.
    pub fn get(&self, path: &str) -> Result<Value> {
        self.again(|| {
            let call = self.agent.get(format!("{}{path}", self.address));
            call.header("Authorization", format!("Bearer {}", self.token)).call()
        })
    }

    /// Has something happen, once even if the answer is lost.
    ///
    /// # Errors
    /// The gateway refuses, or does not answer.
    pub fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let key: String = random::bytes::<16>()?.iter().map(|it| format!("{it:02x}")).collect();
        self.again(|| {
            let call = self.agent.post(format!("{}{path}", self.address));
            let call = call.header("Authorization", format!("Bearer {}", self.token));
            call.header("Content-Type", "application/json")
                .header("Idempotency-Key", &key)
                .send(body.to_string())
        })
    }

    fn again(
        &self,
        call: impl Fn() -> std::result::Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    ) -> Result<Value> {
        let mut tried = 1;
        loop {
            let failed = match call() {
                Ok(answer) if answer.status().as_u16() == 503 && tried < TRIES => "it is stopping".to_owned(),
                Ok(answer) => return self.heard(answer),
                Err(cause) => cause.to_string(),
            };
            if tried == TRIES {
                return Err(Error::new(Kind::Environment, format!("the gateway at {} does not answer: {failed}", self.address))
                    .help("`orange-fleet serve` starts it, and `--gateway URL` names another one; the same command again is safe"));
            }
            tried += 1;
            std::thread::sleep(Duration::from_millis(300));
        }
    }

    fn heard(&self, mut answer: ureq::http::Response<ureq::Body>) -> Result<Value> {
        let status = answer.status().as_u16();
        let text = answer.body_mut().with_config().limit(LONGEST).read_to_string().unwrap_or_default();
        if (200..300).contains(&status) {
            return Ok(serde_json::from_str(&text).unwrap_or(Value::Null));
        }
        let refusal: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
        let word = |name: &str| refusal["error"][name].as_str().map(str::to_owned);
        let kind = match status {
            404 => Kind::NotFound,
            401 | 403 => Kind::NotAllowed,
            400 | 413 | 422 => Kind::Usage,
            500.. => Kind::Environment,
            _ => Kind::Refused,
        };
        let message =
            word("message").unwrap_or_else(|| format!("{} answers with status {status}", self.address));
        Err(Error::new(kind, message).help(word("help").unwrap_or_default()))
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

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|cause| Error::io("read", path, &cause))
}

fn roots(path: &Path) -> Result<RootCerts> {
    let pem = read(path)?;
    let certificate =
        |item: PemItem<'static>| if let PemItem::Certificate(it) = item { Some(it) } else { None };
    let found: Vec<Certificate<'static>> =
        parse_pem(pem.as_bytes()).filter_map(|it| certificate(it.ok()?)).collect();
    if found.is_empty() {
        return Err(Error::new(Kind::Usage, format!("{} has no certificate", path.display()))
            .help("it is a PEM file with the certificate of the authority that has signed the gateway's"));
    }
    Ok(RootCerts::new_with_certs(&found))
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
