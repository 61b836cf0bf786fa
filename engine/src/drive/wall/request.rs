//! The requests to a proxy: parsed from bytes that an agent wrote, and answers to them.

use orange_core::host::{HostFlaw, HostName, shown, with_port};

/// The longest head of a request.
pub(super) const LONGEST_HEAD: usize = 32 * 1024;

/// The end of a head.
const END: &[u8] = b"\r\n\r\n";

/// Headers that are about the connection to the proxy, or that the proxy writes itself.
const DROPPED: [&str; 6] = ["host", "connection", "keep-alive", "upgrade", "te", "trailer"];

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ProxyRequest {
    /// `CONNECT`: bytes in both directions.
    Tunnel { host: HostName, port: u16 },
    /// A request of plain HTTP, with the head that the host gets.
    Plain { host: HostName, port: u16, head: Vec<u8> },
}

/// Flaw of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadRequest {
    /// It is not HTTP as proxies read it.
    Form(&'static str),
    /// Its host or port.
    Host(HostFlaw),
}

impl BadRequest {
    pub(super) fn text(self) -> String {
        match self {
            BadRequest::Form(what) => format!("the request {what}"),
            BadRequest::Host(flaw) => format!("its host {}", flaw.text()),
        }
    }
}

impl ProxyRequest {
    /// The host and the port.
    pub(super) fn target(&self) -> (&HostName, u16) {
        match self {
            ProxyRequest::Tunnel { host, port } | ProxyRequest::Plain { host, port, .. } => (host, *port),
        }
    }
}

/// The length of the head in these bytes, if it is complete.
pub(super) fn head_length(bytes: &[u8]) -> Option<usize> {
    bytes.windows(END.len()).position(|part| part == END).map(|at| at + END.len())
}

/// Parses a head. What two readers could read differently is refused.
pub(super) fn parse(head: &[u8]) -> Result<ProxyRequest, BadRequest> {
    let form = BadRequest::Form;
    let head = head.strip_suffix(END).ok_or(form("has no end"))?;
    let lines = split(head);
    let (first, headers) = lines.split_first().ok_or(form("is empty"))?;
    let is_odd = |line: &&[u8]| line.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0));
    if lines.iter().any(is_odd) {
        return Err(form("has a line break or a zero byte within a line"));
    }
    let first = std::str::from_utf8(first).map_err(|_| form("has a first line that is not text"))?;
    let words: Vec<&str> = first.split(' ').collect();
    let [method, target, version] = words[..] else { return Err(form("has no first line of three words")) };
    if !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
        return Err(form("is of another version than HTTP/1.1 and HTTP/1.0"));
    }
    if !is_token(method.as_bytes()) {
        return Err(form("has no method"));
    }
    let headers = headers.iter().map(|line| header(line).ok_or(form("has a line that is not a header")));
    let headers: Vec<(&[u8], &[u8])> = headers.collect::<Result<_, _>>()?;
    if method == "CONNECT" {
        let (host, port) = with_port(target, None).map_err(BadRequest::Host)?;
        return Ok(ProxyRequest::Tunnel { host, port });
    }
    let Some((scheme, rest)) = target.split_once("://") else {
        return Err(form("names no host: a proxy gets `CONNECT HOST:PORT` or `GET http://HOST/`"));
    };
    if !scheme.eq_ignore_ascii_case("http") {
        return Err(form("has another scheme than http: use CONNECT"));
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (host, port) = with_port(authority, Some(80)).map_err(BadRequest::Host)?;
    if !path.bytes().all(|byte| byte.is_ascii_graphic()) || path.starts_with('#') {
        return Err(form("has a path with odd letters"));
    }
    let slash = if path.starts_with('/') { "" } else { "/" };
    let of_host = if port == 80 { host.to_string() } else { shown(&host, port) };
    let mut sent = format!("{method} {slash}{path} {version}\r\nHost: {of_host}\r\n").into_bytes();
    for (name, value) in headers.into_iter().filter(|(name, _)| is_passed_on(name)) {
        sent.extend([name, b":", value, b"\r\n"].concat());
    }
    // A second request of the connection could be for another host.
    sent.extend(b"Connection: close\r\n\r\n");
    Ok(ProxyRequest::Plain { host, port, head: sent })
}

/// The answer to a request that is not carried out. `reason` is one line of ASCII.
pub(super) fn answer(status: u16, reason: &str, text: &str) -> Vec<u8> {
    let text = format!("{text}\n");
    let length = text.len();
    format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{text}"
    )
    .into_bytes()
}

fn split(mut head: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    while let Some(at) = head.windows(2).position(|part| part == b"\r\n") {
        lines.push(&head[..at]);
        head = &head[at + 2..];
    }
    lines.push(head);
    lines
}

fn header(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = (&line[..at], &line[at + 1..]);
    is_token(name).then_some((name, value))
}

fn is_passed_on(name: &[u8]) -> bool {
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    !DROPPED.contains(&name.as_str()) && !name.starts_with("proxy-")
}

fn is_token(text: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    !text.is_empty() && text.iter().all(is_letter)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<ProxyRequest, BadRequest> {
        parse(text.as_bytes())
    }

    #[track_caller]
    fn is_bad(text: &str) {
        assert!(read(text).is_err(), "{text:?}");
    }

    #[test]
    fn tunnels_name_a_host_and_a_port() {
        let tunnel = read("CONNECT Api.Example.ORG.:443 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        assert_eq!(tunnel.target(), (&HostName::Name("api.example.org".to_owned()), 443));
        for odd in [
            "CONNECT api.example.org HTTP/1.1\r\n\r\n",
            "CONNECT api.example.org:443\r\n\r\n",
            "CONNECT  api.example.org:443 HTTP/1.1\r\n\r\n",
            "CONNECT api.example.org:443 HTTP/2\r\n\r\n",
            "CONNECT api.example.org:443 HTTP/1.1\n\n",
            "CONNECT api.example.org:443 HTTP/1.1\r\n folded\r\n\r\n",
            "CONNECT api.example.org:443 HTTP/1.1\r\nA : b\r\n\r\n",
            "CONNECT a@api.example.org:443 HTTP/1.1\r\n\r\n",
            "CONNECT api.example.org:443\tHTTP/1.1\r\n\r\n",
            "CONNECT api.example.org:443 HTTP/1.1\rX: y\r\n\r\n",
            "CONNECT api.example.org:443 HTTP/1.1\r\nA: \0\r\n\r\n",
            "connect api.example.org:443 HTTP/1.1\r\n\r\n",
            "\r\n\r\n",
            "",
        ] {
            is_bad(odd);
        }
    }

    #[test]
    fn the_host_of_a_plain_request_is_that_of_its_address() {
        let text = "GET http://Example.org:8080/a?b HTTP/1.1\r\nHost: evil.example\r\nProxy-Authorization: x\r\n\
                    Connection: keep-alive\r\nAccept: */*\r\n\r\n";
        let expect =
            "GET /a?b HTTP/1.1\r\nHost: example.org:8080\r\nAccept: */*\r\nConnection: close\r\n\r\n";
        let host = HostName::Name("example.org".to_owned());
        let head = expect.as_bytes().to_vec();
        assert_eq!(read(text), Ok(ProxyRequest::Plain { host, port: 8080, head }));
        let Ok(ProxyRequest::Plain { port, head, .. }) = read("GET HTTP://example.org?x HTTP/1.0\r\n\r\n")
        else {
            panic!("it is plain");
        };
        assert_eq!(port, 80);
        assert!(head.starts_with(b"GET /?x HTTP/1.0\r\nHost: example.org\r\n"));
        for odd in [
            "GET /a HTTP/1.1\r\nHost: example.org\r\n\r\n",
            "GET https://example.org/ HTTP/1.1\r\n\r\n",
            "GET ftp://example.org/ HTTP/1.1\r\n\r\n",
            "GET http://user@example.org/ HTTP/1.1\r\n\r\n",
            "GET http://example.org\\@evil.example/ HTTP/1.1\r\n\r\n",
            "GET http:///etc/passwd HTTP/1.1\r\n\r\n",
            "GET http://example.org/\u{e4} HTTP/1.1\r\n\r\n",
            "G{T http://example.org/ HTTP/1.1\r\n\r\n",
        ] {
            is_bad(odd);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_refused_or_name_a_plain_host(
            start in "(CONNECT|GET|POST|[A-Z]{0,4}) {0,2}(http://|https://)?",
            target in "[ -~]{0,40}(:[0-9]{0,6})?",
            rest in "( HTTP/1\\.[01])?\r?\n?([ -~]{0,20}\r\n){0,3}(\r\n)?",
            noise in proptest::collection::vec(any::<u8>(), 0..8),
        ) {
            let bytes = [start.as_bytes(), target.as_bytes(), &noise, rest.as_bytes()].concat();
            for head in [bytes.clone(), [&bytes[..], b"\r\n\r\n"].concat(), [start.as_bytes(), target.as_bytes(), b" HTTP/1.1\r\n\r\n"].concat()] {
                let Ok(request) = parse(&head) else { continue };
                let (host, port) = request.target();
                prop_assert!(port != 0);
                let text = host.to_string();
                prop_assert!(text.bytes().all(|byte| byte.is_ascii_graphic() && !b"@/\\?#%".contains(&byte)));
                prop_assert_eq!(HostName::parse(&text), Ok(host.clone()));
                if let ProxyRequest::Plain { head, .. } = &request {
                    prop_assert_eq!(head_length(head), Some(head.len()));
                    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
                    prop_assert_eq!(text.matches("\r\nhost:").count(), 1);
                    prop_assert!(!text.contains("\r\nproxy-"));
                }
            }
        }
    }
}
