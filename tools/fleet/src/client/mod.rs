//! Calls of a gateway, at one or several addresses: crabs and the commands for people make them.

pub mod roots;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use orange_api::gateway::{Complaint, RefusedCall};
use orange_api::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_rustls::rustls::ClientConfig;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::typestate::{WithBody, WithoutBody};
use ureq::{Agent, RequestBuilder};

/// The longest answer that is read.
const LONGEST: u64 = 16 << 20;

/// Access to a gateway: its addresses, and what it lets in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GatewayAccess {
    /// Its addresses, the best one first.
    pub addresses: Vec<String>,
    pub token: String,
    /// The certificates of authorities, as PEM, in place of the public ones.
    pub authorities: Option<Vec<u8>>,
}

/// A client of a gateway.
#[derive(Debug)]
pub struct Client {
    agent: Agent,
    addresses: Vec<String>,
    token: String,
    tls: Arc<ClientConfig>,
    /// The address that has answered last.
    current: AtomicUsize,
}

/// Reason for the failure of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GatewayFailure {
    /// The gateway does not answer, or cannot now. The same call with the same key is safe.
    Unheard(String),
    Refused {
        /// The status of its answer.
        status: u16,
        message: String,
        /// Advice on what to do about it.
        help: String,
    },
}

/// Result of a call.
pub type Heard<T> = std::result::Result<T, GatewayFailure>;

fn is_url(text: &str) -> bool {
    let address = text.parse::<ureq::http::Uri>();
    address.is_ok_and(|it| matches!(it.scheme_str(), Some("http" | "https")) && it.host().is_some())
}

/// Advice about a gateway that does not answer for this reason.
fn help_for(why: &str) -> &'static str {
    if why.contains("CaUsedAsEndEntity") {
        "the certificate is one of an authority, as `openssl req -x509` makes it: add `-addext basicConstraints=critical,CA:FALSE`, \
         or sign another one with it for the gateway"
    } else if why.contains("certificate") {
        "`--authority FILE` names the certificate of an authority of your own"
    } else if why.contains("http parse") {
        "it may have TLS: then its address begins with `https://`"
    } else {
        "`orange-fleet serve` starts it, and `--gateway URL` names another one"
    }
}

/// Result of a call, as `ureq` gives it.
type Called = std::result::Result<ureq::http::Response<ureq::Body>, ureq::Error>;

impl GatewayFailure {
    /// The failure as an error of a command.
    pub fn into_error(self) -> Error {
        match self {
            GatewayFailure::Unheard(why) => {
                Error::new(ErrorKind::Environment, format!("the gateway does not answer: {why}"))
                    .help(help_for(&why))
            }
            GatewayFailure::Refused { status, message, help } => {
                let kind = match status {
                    404 => ErrorKind::NotFound,
                    401 | 403 => ErrorKind::NotAllowed,
                    400 | 413 | 422 => ErrorKind::Usage,
                    _ => ErrorKind::Refused,
                };
                Error::new(kind, message).help(help)
            }
        }
    }
}

impl std::fmt::Display for GatewayFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            GatewayFailure::Unheard(why) => write!(f, "it does not answer: {why}"),
            GatewayFailure::Refused { status, message, .. } => write!(f, "it refuses ({status}): {message}"),
        }
    }
}

impl Client {
    /// A client of this gateway.
    ///
    /// # Errors
    /// `usage` without an address, or with certificates that cannot be read.
    pub fn new(gateway: GatewayAccess) -> Result<Client> {
        let GatewayAccess { addresses, token, authorities } = gateway;
        if addresses.is_empty() {
            return Err(Error::new(ErrorKind::Usage, "the address of the gateway is missing")
                .help("name it with `--gateway URL`, or in ORANGE_FLEET_GATEWAY"));
        }
        if let Some(odd) = addresses.iter().find(|it| !is_url(it)) {
            let message = format!("`{}` is not an address of a gateway", odd.escape_debug());
            return Err(Error::new(ErrorKind::Usage, message)
                .help("write `https://HOST:PORT`, or `http://HOST:PORT`"));
        }
        let config = Agent::config_builder().http_status_as_error(false).max_redirects(0);
        let authorities = authorities.as_deref().map(roots::read).transpose()?;
        let config = match &authorities {
            Some(roots) => {
                let roots: Vec<_> = roots.iter().map(|it| Certificate::from_der(it).to_owned()).collect();
                config.tls_config(TlsConfig::builder().root_certs(RootCerts::new_with_certs(&roots)).build())
            }
            None => config,
        };
        let addresses = addresses.iter().map(|it| it.trim_end_matches('/').to_owned()).collect();
        let tls = Arc::new(roots::tls(authorities)?);
        Ok(Client { agent: config.build().into(), addresses, token, tls, current: AtomicUsize::new(0) })
    }

    /// The address that is asked next.
    pub fn address(&self) -> &str {
        let current = self.current.load(Ordering::Relaxed) % self.addresses.len();
        self.addresses.get(current).map(String::as_str).unwrap_or_default()
    }

    pub fn token(&self) -> &str {
        &self.token
    }

    /// TLS, for WebSockets.
    pub fn tls(&self) -> &Arc<ClientConfig> {
        &self.tls
    }

    /// Reads something.
    pub fn get(&self, path: &str, patience: Duration) -> Heard<String> {
        self.each(|address| self.without_body(self.agent.get(format!("{address}{path}")), patience).call())
    }

    /// Removes something.
    pub fn delete(&self, path: &str, patience: Duration) -> Heard<String> {
        self.each(|address| self.without_body(self.agent.delete(format!("{address}{path}")), patience).call())
    }

    /// Sends JSON. With a key, the gateway does what is asked once, however often it hears the call.
    pub fn post(&self, path: &str, body: &Value, key: Option<&str>, patience: Duration) -> Heard<String> {
        let text = body.to_string();
        self.each(|address| {
            let call = self.with_body(self.agent.post(format!("{address}{path}")), patience);
            let call = call.header("Content-Type", "application/json");
            let call = key.into_iter().fold(call, |call, key| call.header("Idempotency-Key", key));
            call.send(&text)
        })
    }

    /// Sends a plain text in place of the one that is there.
    pub fn put(&self, path: &str, text: &str, patience: Duration) -> Heard<String> {
        self.each(|address| {
            let call = self.with_body(self.agent.put(format!("{address}{path}")), patience);
            call.header("Content-Type", "text/plain; charset=utf-8").send(text)
        })
    }

    fn without_body(
        &self,
        call: RequestBuilder<WithoutBody>,
        patience: Duration,
    ) -> RequestBuilder<WithoutBody> {
        let call = call.header("Authorization", format!("Bearer {}", self.token));
        call.config().timeout_global(Some(patience)).build()
    }

    fn with_body(&self, call: RequestBuilder<WithBody>, patience: Duration) -> RequestBuilder<WithBody> {
        let call = call.header("Authorization", format!("Bearer {}", self.token));
        call.config().timeout_global(Some(patience)).build()
    }

    /// Asks the addresses in turn, beginning with the one that has answered last.
    fn each(&self, call: impl Fn(&str) -> Called) -> Heard<String> {
        let mut failed = GatewayFailure::Unheard("it has no address".to_owned());
        for _ in 0..self.addresses.len() {
            let current = self.current.load(Ordering::Relaxed);
            let address = self.address();
            match heard(call(address)) {
                Err(GatewayFailure::Unheard(why)) => {
                    failed = GatewayFailure::Unheard(format!("{address}: {why}"))
                }
                other => return other,
            }
            self.current.store(current.wrapping_add(1) % self.addresses.len(), Ordering::Relaxed);
        }
        Err(failed)
    }
}

/// The JSON of a body. Bodies are structs of plain fields, which always have one.
pub fn json(body: &impl Serialize) -> Value {
    serde_json::to_value(body).unwrap_or_default()
}

/// The value of an answer, which may be empty.
pub fn parse<T: for<'de> Deserialize<'de>>(answer: &str) -> Heard<T> {
    let answer = if answer.is_empty() { "null" } else { answer };
    serde_json::from_str(answer)
        .map_err(|cause| GatewayFailure::Unheard(format!("its answer is something else: {cause}")))
}

fn heard(called: Called) -> Heard<String> {
    let unheard = |error: ureq::Error| GatewayFailure::Unheard(error.to_string());
    let mut answer = called.map_err(unheard)?;
    let status = answer.status().as_u16();
    let text = answer.body_mut().with_config().limit(LONGEST).read_to_string().map_err(unheard)?;
    if (200..300).contains(&status) {
        return Ok(text);
    }
    Err(refusal(status, &text))
}

/// Failure of a call, read from an unsuccessful answer.
pub fn refusal(status: u16, text: &str) -> GatewayFailure {
    let Ok(RefusedCall { error: Complaint { message, help, .. } }) = serde_json::from_str(text) else {
        // Something between the caller and the gateway has answered.
        return GatewayFailure::Unheard(format!("HTTP status {status}"));
    };
    match status {
        501 => GatewayFailure::Refused { status, message, help },
        // It is overloaded, or about to stop: the call has changed nothing that the same call would change again.
        408 | 425 | 429 | 500..=599 => GatewayFailure::Unheard(message),
        _ => GatewayFailure::Refused { status, message, help },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_url() {
        let client = |address: &str| {
            Client::new(GatewayAccess { addresses: vec![address.to_owned()], ..GatewayAccess::default() })
        };
        for address in ["http://127.0.0.1:8800", "https://fleet.example.org", "http://[::1]:8800/"] {
            assert!(client(address).is_ok(), "{address}");
        }
        for address in ["localhost:8800", "fleet.example.org", "ftp://fleet.example.org", "http://", "a b"] {
            let error = client(address).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Usage, "{address}");
            assert!(error.message.contains(address), "{error}");
        }
    }

    #[test]
    fn the_help_is_about_what_is_wrong() {
        let help = |why: &str| GatewayFailure::Unheard(why.to_owned()).into_error().help.clone();
        assert!(help("invalid peer certificate: UnknownIssuer").contains("--authority"));
        assert!(help("invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))").contains("CA:FALSE"));
        assert!(help("http parse fail: invalid HTTP version").contains("https://"));
        assert!(help("Connection refused").contains("orange-fleet serve"));
    }

    #[test]
    fn only_a_refusal_of_the_gateway_is_one() {
        let said = r#"{"error": {"code": "x", "message": "no", "help": "do this"}}"#;
        let refused =
            |status| GatewayFailure::Refused { status, message: "no".to_owned(), help: "do this".to_owned() };
        for status in [400, 404, 409, 501] {
            assert_eq!(refusal(status, said), refused(status));
        }
        for status in [408, 429, 500, 503] {
            assert_eq!(refusal(status, said), GatewayFailure::Unheard("no".to_owned()));
        }
        assert_eq!(refusal(404, "<html>"), GatewayFailure::Unheard("HTTP status 404".to_owned()));
    }

    #[test]
    fn the_address_that_has_answered_is_asked_first() {
        let addresses = ["http://127.0.0.1:1/", "http://127.0.0.1:2"].map(str::to_owned).to_vec();
        let client = Client::new(GatewayAccess { addresses, ..GatewayAccess::default() }).unwrap();
        assert_eq!(client.address(), "http://127.0.0.1:1");
        let failed = client.get("/v1/status", Duration::from_secs(5)).unwrap_err();
        let GatewayFailure::Unheard(why) = failed else { panic!("{failed:?}") };
        assert!(why.starts_with("http://127.0.0.1:2: "), "{why}");
        assert_eq!(client.address(), "http://127.0.0.1:1");
    }

    #[test]
    fn an_answer_is_read_as_what_it_is() {
        assert_eq!(parse::<Value>("").unwrap(), Value::Null);
        assert!(matches!(parse::<u32>("\"x\""), Err(GatewayFailure::Unheard(_))));
    }
}
