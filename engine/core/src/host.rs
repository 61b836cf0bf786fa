//! Hosts that walled agents reach: the patterns of a list, and the addresses that none but a listed address opens.

use alloc::string::{String, ToString};
use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::wall::Network;

/// The longest name in the domain name system.
const LONGEST: usize = 253;

/// The port of a pattern without one.
const DEFAULT_PORT: u16 = 443;

/// A name or an address in a request or a pattern, spelled in one form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HostName {
    /// A name in lower case without a trailing dot.
    Name(String),
    /// An address.
    Address(IpAddr),
}

/// An entry of a list of hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPattern {
    host: HostName,
    /// True for `*.` before the name: every name below it, and not the name itself.
    is_below: bool,
    port: u16,
}

/// Flaw of a host or a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostFlaw {
    /// It has letters that names of hosts do not have.
    Letters,
    /// It has letters beyond ASCII, which a name has in its `xn--` form.
    Unicode,
    /// It looks like an address in another form, such as `0x7f.1`.
    OddAddress,
    /// The port is not a number from 1 to 65535.
    Port,
}

impl HostFlaw {
    /// The flaw, with what to write instead.
    pub const fn text(self) -> &'static str {
        match self {
            HostFlaw::Letters => {
                "is no host: write NAME:PORT, ADDRESS:PORT, or *.NAME:PORT for the names below one"
            }
            HostFlaw::Unicode => {
                "has letters beyond ASCII: write the name in its form that begins with `xn--`"
            }
            HostFlaw::OddAddress => {
                "is no address: write four decimal numbers, or an IPv6 address in brackets"
            }
            HostFlaw::Port => "has no port from 1 to 65535",
        }
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostName::Name(name) => f.write_str(name),
            HostName::Address(IpAddr::V4(address)) => address.fmt(f),
            HostName::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let star = if self.is_below { "*." } else { "" };
        write!(f, "{star}{}:{}", self.host, self.port)
    }
}

impl HostName {
    /// Parses a name or an address: case and one trailing dot make no difference.
    ///
    /// # Errors
    /// A name whose letters others could read differently than a resolver.
    pub fn parse(text: &str) -> Result<HostName, HostFlaw> {
        if !text.is_ascii() {
            return Err(HostFlaw::Unicode);
        }
        if let Some(inner) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let address: Ipv6Addr = inner.parse().map_err(|_| HostFlaw::OddAddress)?;
            return Ok(HostName::Address(plain(IpAddr::V6(address))));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        if let Ok(address) = name.parse::<Ipv4Addr>() {
            return Ok(HostName::Address(IpAddr::V4(address)));
        }
        let is_part = |part: &str| {
            let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
            (1..=63).contains(&part.len())
                && part.bytes().all(is_letter)
                && !part.starts_with('-')
                && !part.ends_with('-')
        };
        if name.len() > LONGEST || !name.split('.').all(is_part) {
            return Err(HostFlaw::Letters);
        }
        // Resolvers read `127.1`, `0x7f000001` and `2130706433` as addresses.
        let last = name.rsplit('.').next().unwrap_or_default();
        let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_hex = |part: &str| {
            part.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
        };
        if is_number(last) || is_hex(last) { Err(HostFlaw::OddAddress) } else { Ok(HostName::Name(name)) }
    }
}

/// Parses a host and its port: `example.org:443`, `[::1]:80`. `default` is the port of a text without one.
pub fn with_port(text: &str, default: Option<u16>) -> Result<(HostName, u16), HostFlaw> {
    let at = text.rfind(':').filter(|at| text[*at..].find(']').is_none());
    let (host, port) = match at {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let port = match port {
        Some(digits) if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().ok()
        }
        Some(_) => None,
        None => default,
    };
    Ok((HostName::parse(host)?, port.filter(|port| *port != 0).ok_or(HostFlaw::Port)?))
}

impl HostPattern {
    /// Parses an entry: `HOST:PORT`, `*.NAME:PORT`, or without a port for 443.
    pub fn parse(text: &str) -> Result<HostPattern, HostFlaw> {
        let (is_below, rest) = text.strip_prefix("*.").map_or((false, text), |rest| (true, rest));
        let (host, port) = with_port(rest, Some(DEFAULT_PORT))?;
        match host {
            HostName::Address(_) if is_below => Err(HostFlaw::Letters),
            HostName::Name(_) | HostName::Address(_) => Ok(HostPattern { host, is_below, port }),
        }
    }

    fn has(&self, host: &HostName, port: u16) -> bool {
        let is_it = match (&self.host, host) {
            (HostName::Name(own), HostName::Name(name)) if self.is_below => {
                name.strip_suffix(own.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
            (own, host) => own == host,
        };
        is_it && self.port == port
    }
}

/// True if a wall with this network and list lets a connection to this host through.
pub fn allows(network: Network, listed: &[HostPattern], host: &HostName, port: u16) -> bool {
    let is_listed = listed.iter().any(|pattern| pattern.has(host, port));
    match network {
        Network::None => false,
        // Which hosts are listed, those of the harness or a person's too, is the caller's.
        Network::Model | Network::Listed => is_listed,
        Network::Open => match host {
            HostName::Name(_) => true,
            HostName::Address(address) => is_public(*address) || is_listed,
        },
    }
}

/// True if a connection may go to this address of an allowed host. A name that leads to the machine or its neighbours opens nothing:
/// who names it decides what it leads to.
pub fn allows_address(listed: &[HostPattern], address: IpAddr, port: u16) -> bool {
    let address = plain(address);
    is_public(address) || listed.iter().any(|pattern| pattern.has(&HostName::Address(address), port))
}

/// An IPv4 address that is written as an IPv6 one as itself.
fn plain(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(six) => six.to_ipv4_mapped().map_or(address, IpAddr::V4),
    }
}

/// True if an address belongs to some host of the internet, and not to this machine, its networks or a group.
pub fn is_public(address: IpAddr) -> bool {
    match plain(address) {
        IpAddr::V4(four) => is_public_v4(four),
        IpAddr::V6(six) => is_public_v6(six),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = match a {
        0 | 10 | 127 => true,
        100 => (64..128).contains(&b),
        169 => b == 254,
        172 => (16..32).contains(&b),
        192 => b == 168 || (b, c) == (0, 0) || (b, c) == (0, 2) || (b, c) == (88, 99),
        198 => b == 18 || b == 19 || (b, c) == (51, 100),
        203 => (b, c) == (0, 113),
        _ => a >= 224,
    };
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let inner = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        // An IPv4 address behind a translator.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => inner(high, low),
        [0x2002, high, low, ..] => inner(high, low),
        // Tunnels, documentation, benchmarks, and numbers for programs.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        // The rest of the internet is in here.
        [first, ..] => (0x2000..0x4000).contains(&first),
    }
}

/// Text of a host with its port.
pub fn shown(host: &HostName, port: u16) -> String {
    let mut text = host.to_string();
    text.push(':');
    text.push_str(&port.to_string());
    text
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn list(entries: &[&str]) -> Vec<HostPattern> {
        entries.iter().map(|entry| HostPattern::parse(entry).unwrap()).collect()
    }

    fn is_allowed(network: Network, entries: &[&str], target: &str) -> bool {
        with_port(target, None).is_ok_and(|(host, port)| allows(network, &list(entries), &host, port))
    }

    #[test]
    fn names_are_compared_whole() {
        let listed = ["packages.example.org:443", "*.example.net:8443", "1.2.3.4:80", "[2a00::1]:443"];
        let check = |target: &str, expect: bool| {
            for network in [Network::Model, Network::Listed] {
                assert_eq!(is_allowed(network, &listed, target), expect, "{target}");
            }
        };
        for target in [
            "packages.example.org:443",
            "PACKAGES.Example.ORG:443",
            "packages.example.org.:443",
            "a.example.net:8443",
            "a.b.example.net.:8443",
            "1.2.3.4:80",
            "[::ffff:1.2.3.4]:80",
            "[2a00:0::1]:443",
        ] {
            check(target, true);
        }
        for target in [
            "packages.example.org:80",
            "packages.example.org",
            "packages.example.org..:443",
            "x.packages.example.org:443",
            "packages.example.org.evil.net:443",
            "evilpackages.example.org:443",
            "example.net:8443",
            "evilexample.net:8443",
            ".example.net:8443",
            "a.example.net:443",
            "1.2.3.4:443",
            "1.2.3.4.:81",
            "0x1.2.3.4:80",
            "16909060:80",
            "packages.example.org:443:443",
            "packages.example.org:0443x",
            "packages.example.org@evil.net:443",
            "evil.net#packages.example.org:443",
            "evil.net\0packages.example.org:443",
            "рackages.example.org:443",
            "",
            ":443",
        ] {
            check(target, false);
        }
    }

    #[test]
    fn an_open_network_opens_the_internet_alone() {
        assert!(is_allowed(Network::Open, &[], "anything.example:22"));
        assert!(is_allowed(Network::Open, &[], "1.1.1.1:53"));
        assert!(is_allowed(Network::Open, &["10.0.0.1:80"], "10.0.0.1:80"));
        for target in
            ["10.0.0.1:81", "127.0.0.1:80", "[::1]:80", "169.254.169.254:80", "[::ffff:127.0.0.1]:80"]
        {
            assert!(!is_allowed(Network::Open, &["10.0.0.1:80"], target), "{target}");
        }
        assert!(!is_allowed(Network::None, &["a.example:443"], "a.example:443"));
    }

    #[test]
    fn addresses_of_the_machine_and_its_networks_are_not_public() {
        let special = [
            "0.0.0.0",
            "0.1.2.3",
            "10.1.1.1",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.1",
            "192.168.1.1",
            "192.0.0.1",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "100::1",
        ];
        for text in special {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
        for text in
            ["1.1.1.1", "100.63.0.1", "172.32.0.1", "192.167.1.1", "2606:4700::1111", "64:ff9b::101:101"]
        {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn a_name_that_leads_home_opens_nothing() {
        let by_name = list(&["localhost:80", "intern.example:80"]);
        let by_address = list(&["127.0.0.1:80"]);
        let home: IpAddr = "127.0.0.1".parse().unwrap();
        assert!(!allows_address(&by_name, home, 80));
        assert!(allows_address(&by_address, home, 80));
        assert!(allows_address(&by_address, "::ffff:127.0.0.1".parse().unwrap(), 80));
        assert!(!allows_address(&by_address, home, 81));
        assert!(allows_address(&[], "1.1.1.1".parse().unwrap(), 81));
    }

    #[test]
    fn flaws_say_what_to_write() {
        let flaw = |text| HostPattern::parse(text).unwrap_err();
        assert_eq!(flaw("münchen.example:443"), HostFlaw::Unicode);
        assert_eq!(flaw("https://example.org"), HostFlaw::Port);
        assert_eq!(flaw("example.org/x"), HostFlaw::Letters);
        assert_eq!(flaw("*.1.2.3.4:80"), HostFlaw::Letters);
        assert_eq!(flaw("*:443"), HostFlaw::Letters);
        assert_eq!(flaw("127.1:80"), HostFlaw::OddAddress);
        assert_eq!(flaw("example.org:0"), HostFlaw::Port);
        assert_eq!(flaw("example.org:65536"), HostFlaw::Port);
        assert_eq!(flaw("example.org:+443"), HostFlaw::Port);
        assert_eq!(HostPattern::parse("*.Example.org").unwrap().to_string(), "*.example.org:443");
        assert_eq!(HostPattern::parse("[::1]").unwrap().to_string(), "[::1]:443");
    }
}
