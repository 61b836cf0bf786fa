//! Address of the log: a Restate server's ingress, and the name of the store.

use std::fmt;

/// URL scheme of a store of this kind.
const SCHEME: &str = "restate://";

/// The port of the ingress of a server that nobody has configured.
const PORT: u16 = 8080;

/// The longest name of a store.
const LONGEST: usize = 64;

/// Address of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    server: String,
    name: String,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}/{}", self.server, self.name)
    }
}

impl Address {
    /// True if a text is meant as such an address.
    pub fn is_one(text: &str) -> bool {
        text.starts_with(SCHEME)
    }

    /// The address of this text, such as `restate://127.0.0.1:8080/fleet`.
    ///
    /// # Errors
    /// The text is not a valid address.
    pub fn read(text: &str) -> Result<Address, String> {
        let rest = text.strip_prefix(SCHEME).ok_or_else(|| format!("it does not begin with `{SCHEME}`"))?;
        let (server, name) = rest.split_once('/').ok_or("it names no store after the server")?;
        if server.contains('@') {
            return Err("it has a user: the ingress of Restate knows none".to_owned());
        }
        let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
        if name.is_empty() || name.len() > LONGEST || !name.chars().all(is_plain) {
            return Err(format!(
                "the name of the store is not made of 1 to {LONGEST} letters, digits, `-`, `_` and `.`"
            ));
        }
        let uri: ureq::http::Uri =
            format!("http://{server}").parse().map_err(|_| "its server is not an address".to_owned())?;
        let host = uri.host().filter(|it| !it.is_empty()).ok_or("it names no server")?;
        let port = match uri.authority().map(|it| it.as_str().len() > host.len()) {
            Some(true) => uri.port_u16().filter(|it| *it > 0).ok_or("its port is not a number")?,
            Some(false) | None => PORT,
        };
        Ok(Address { server: format!("{host}:{port}"), name: name.to_owned() })
    }

    /// The server: its host and port.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The name of the store.
    pub fn name(&self) -> &str {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_whole() {
        let read = |text: &str| Address::read(text).map(|it| it.to_string());
        assert_eq!(read("restate://127.0.0.1:8080/fleet").unwrap(), "restate://127.0.0.1:8080/fleet");
        assert_eq!(
            read("restate://db.example.org/a-1_b.c").unwrap(),
            "restate://db.example.org:8080/a-1_b.c"
        );
        assert_eq!(read("restate://[::1]:81/x").unwrap(), "restate://[::1]:81/x");
    }

    #[test]
    fn wrong_addresses_are_refused_with_a_reason() {
        for (wrong, why) in [
            ("postgres://a/b", "begin with"),
            ("restate://", "names no store"),
            ("restate://a:1", "names no store"),
            ("restate:///fleet", "server"),
            ("restate://a:1/", "the name of the store"),
            ("restate://a:1/x/y", "the name of the store"),
            ("restate://a:1/x y", "the name of the store"),
            ("restate://a:http/x", ""),
            ("restate://a:0/x", "port"),
            ("restate://a:70000/x", ""),
            ("restate://a:/x", "port"),
            ("restate://me:secret@a:1/x", "user"),
        ] {
            let error = Address::read(wrong).unwrap_err();
            assert!(error.contains(why) && !error.contains("secret"), "{wrong}: {error}");
        }
    }
}
