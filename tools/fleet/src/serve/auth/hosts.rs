//! The names of this gateway, and the pages that may call it.
//!
//! A web page whose name is made to point at this machine has another `Host`, and a page of another site has another `Origin`.

use std::net::{IpAddr, Ipv6Addr};

use axum::http::{HeaderMap, Method, StatusCode, header};

use super::is_safe;
use crate::serve::error::ApiError;

/// The names under which a gateway is reached.
#[derive(Clone, Debug)]
pub struct Hosts {
    names: Vec<String>,
}

impl Hosts {
    /// `localhost`, every address, and these names.
    pub fn new(names: &[String]) -> Hosts {
        let localhost = std::iter::once("localhost".to_owned());
        Hosts { names: localhost.chain(names.iter().map(|it| it.to_ascii_lowercase())).collect() }
    }

    /// Checks that a request is for this gateway, and from one of its own pages if it is from a page.
    ///
    /// # Errors
    /// The answer to a request that is not.
    pub fn check(&self, method: &Method, headers: &HeaderMap) -> Result<(), ApiError> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (host, other) = (hosts.next().and_then(|it| it.to_str().ok()), hosts.next());
        let Some(host) = host.filter(|_| other.is_none()) else {
            return Err(ApiError::bad("no_host", "the request does not have one header Host")
                .help("every HTTP client sends one"));
        };
        if !self.is_ours(host) {
            let message = format!("this gateway is not called `{}`", host.escape_debug());
            return Err(ApiError::new(StatusCode::MISDIRECTED_REQUEST, "wrong_host", message)
                .help("`orange-fleet serve --host-name NAME` adds a name"));
        }
        let is_foreign = match headers.get(header::ORIGIN) {
            Some(origin) => !origin.to_str().is_ok_and(|origin| is_origin_of(origin, host)),
            None => is_from_another_site(method, headers),
        };
        if is_foreign {
            return Err(ApiError::new(
                StatusCode::FORBIDDEN,
                "wrong_origin",
                "the request comes from a page of another site",
            )
            .help("only pages of this gateway may call it; other programs send no Origin"));
        }
        Ok(())
    }

    /// Addresses are never names that somebody else can point here.
    fn is_ours(&self, host: &str) -> bool {
        let Some(name) = name(host) else { return false };
        let is_address = name.parse::<IpAddr>().is_ok()
            || name
                .strip_prefix('[')
                .and_then(|it| it.strip_suffix(']'))
                .is_some_and(|it| it.parse::<Ipv6Addr>().is_ok());
        is_address || self.names.iter().any(|it| name.eq_ignore_ascii_case(it))
    }
}

/// The name in `name:port`.
fn name(host: &str) -> Option<&str> {
    let (name, port) = match host.rfind(':') {
        Some(at) if !host[at..].contains(']') => (&host[..at], &host[at + 1..]),
        _ => return Some(host),
    };
    port.bytes().all(|it| it.is_ascii_digit()).then_some(name)
}

fn is_origin_of(origin: &str, host: &str) -> bool {
    let rest = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    rest.is_some_and(|rest| rest.eq_ignore_ascii_case(host))
}

/// Browsers say so even where they send no Origin. A link may lead here from anywhere.
fn is_from_another_site(method: &Method, headers: &HeaderMap) -> bool {
    let says =
        |name: &str, value: &str| headers.get(name).is_some_and(|it| it.as_bytes() == value.as_bytes());
    says("sec-fetch-site", "cross-site") && !(is_safe(method) && says("sec-fetch-mode", "navigate"))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[track_caller]
    fn check(method: Method, headers: &[(&'static str, &'static str)], expect: Result<(), &str>) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_static(value));
        }
        let found = Hosts::new(&["fleet.example.org".to_owned()]).check(&method, &map);
        assert_eq!(found.map_err(|it| it.code), expect, "{headers:?}");
    }

    #[test]
    fn only_own_names_and_addresses_are_answered() {
        for ours in [
            "localhost",
            "localhost:8800",
            "LOCALHOST:1",
            "127.0.0.1:8800",
            "[::1]:8800",
            "[::1]",
            "10.0.0.7:80",
            "Fleet.Example.org",
        ] {
            check(Method::GET, &[("host", ours)], Ok(()));
        }
        for other in [
            "evil.example",
            "localhost.evil.example:8800",
            "fleet.example.org.",
            "localhost:x",
            "",
            "[::1",
            "127.0.0.1.nip.io",
        ] {
            check(Method::GET, &[("host", other)], Err("wrong_host"));
        }
        check(Method::GET, &[], Err("no_host"));
        check(Method::GET, &[("host", "localhost"), ("host", "evil.example")], Err("no_host"));
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let host = ("host", "localhost:8800");
        for ours in ["http://localhost:8800", "https://localhost:8800"] {
            check(Method::POST, &[host, ("origin", ours)], Ok(()));
        }
        for other in [
            "null",
            "http://evil.example",
            "http://localhost:9000",
            "http://localhost",
            "localhost:8800",
            "ftp://localhost:8800",
        ] {
            check(Method::POST, &[host, ("origin", other)], Err("wrong_origin"));
            check(Method::GET, &[host, ("origin", other)], Err("wrong_origin"));
        }
    }

    #[test]
    fn links_lead_here_and_forms_of_other_sites_do_not() {
        let (host, cross, link) =
            (("host", "localhost"), ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"));
        check(Method::GET, &[host, cross, link], Ok(()));
        check(Method::POST, &[host, cross, link], Err("wrong_origin"));
        check(Method::GET, &[host, cross, ("sec-fetch-mode", "no-cors")], Err("wrong_origin"));
        check(Method::POST, &[host, ("sec-fetch-site", "same-origin")], Ok(()));
    }
}
