//! The part of HTTP/1.1 that coding agents need: requests with a body, answers with a length or in chunks.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// A request.
#[derive(Debug)]
pub(super) struct HttpRequest {
    pub(super) method: String,
    /// Its path, without a query.
    pub(super) path: String,
    pub(super) body: Vec<u8>,
}

/// An answer.
#[derive(Debug)]
pub(super) struct HttpResponse {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: String,
    /// True if the connection ends before the body does.
    pub(super) cut: bool,
}

impl HttpResponse {
    pub(super) fn json(status: u16, body: &serde_json::Value) -> HttpResponse {
        let headers = vec![("content-type", "application/json".to_owned())];
        HttpResponse { status, headers, body: body.to_string(), cut: false }
    }

    pub(super) fn events(body: String) -> HttpResponse {
        let headers = vec![("content-type", "text/event-stream".to_owned())];
        HttpResponse { status: 200, headers, body, cut: false }
    }
}

/// Reads the next request of a connection; `None` when it is closed.
pub(super) fn read(from: &mut BufReader<TcpStream>) -> io::Result<Option<HttpRequest>> {
    let Some(first) = line(from)? else { return Ok(None) };
    let mut words = first.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (method, path) = (method.to_owned(), target.split('?').next().unwrap_or_default().to_owned());
    let (mut length, mut chunked, mut expects) = (0, false, false);
    loop {
        let Some(header) = line(from)? else { return Ok(None) };
        let Some((name, value)) = header.split_once(':') else { break };
        match (name.to_ascii_lowercase().as_str(), value.trim()) {
            ("content-length", value) => length = value.parse().map_err(io::Error::other)?,
            ("transfer-encoding", value) => chunked = value.eq_ignore_ascii_case("chunked"),
            ("expect", _) => expects = true,
            _ => (),
        }
    }
    if expects {
        from.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let body = if chunked { chunks(from)? } else { exactly(from, length)? };
    Ok(Some(HttpRequest { method, path, body }))
}

/// Writes an answer, and returns whether the connection can be used again.
pub(super) fn write(to: &mut TcpStream, answer: &HttpResponse) -> io::Result<bool> {
    let mut head = format!("HTTP/1.1 {} -\r\n", answer.status);
    for (name, value) in &answer.headers {
        head += &format!("{name}: {value}\r\n");
    }
    if answer.cut {
        // The length is more than what follows.
        head += &format!("content-length: {}\r\n\r\n", answer.body.len() + 1000);
        to.write_all(format!("{head}{}", answer.body).as_bytes())?;
        return Ok(false);
    }
    head += &format!("content-length: {}\r\n\r\n", answer.body.len());
    to.write_all(head.as_bytes())?;
    to.write_all(answer.body.as_bytes())?;
    to.flush()?;
    Ok(true)
}

fn line(from: &mut BufReader<TcpStream>) -> io::Result<Option<String>> {
    let mut line = String::new();
    let length = from.by_ref().take(64 * 1024).read_line(&mut line)?;
    Ok((length > 0).then(|| line.trim_end().to_owned()))
}

fn exactly(from: &mut BufReader<TcpStream>, length: usize) -> io::Result<Vec<u8>> {
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    Ok(body)
}

fn chunks(from: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = line(from)?.unwrap_or_default();
        let size = usize::from_str_radix(size.split(';').next().unwrap_or_default().trim(), 16);
        let size = size.map_err(io::Error::other)?;
        body.extend(exactly(from, size)?);
        line(from)?;
        if size == 0 {
            return Ok(body);
        }
    }
}
