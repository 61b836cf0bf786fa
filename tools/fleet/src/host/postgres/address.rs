//! Address and login of the database: the text of the address, the variables of libpq, and its password file.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use super::session::{PATIENCE, broken, silent};
use crate::host::HostError;

/// Time limit for a server to answer at all.
const CONNECT: Duration = Duration::from_secs(5);

/// Stream that carries TLS.
type PostgresStream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// Folder of the socket of Debian's servers.
const SOCKET: &str = "/var/run/postgresql";

/// URL schemes of a store of this kind.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// Address of a database. Its password is in no text that is shown.
#[derive(Clone)]
pub struct Address {
    config: Config,
    tls: MakeRustlsConnect,
    shown: String,
    has_password: bool,
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl PartialEq for Address {
    fn eq(&self, other: &Address) -> bool {
        self.config == other.config
    }
}

impl Eq for Address {}

impl Address {
    /// True if a text is meant as such an address.
    pub fn is_one(text: &str) -> bool {
        SCHEMES.iter().any(|scheme| text.starts_with(scheme))
    }

    /// The address of this text. What it leaves out comes from the variables of libpq (`PGHOST`, `PGPASSWORD`, …) and from its file with
    /// passwords.
    ///
    /// # Errors
    /// The text is not a valid address. The message does not repeat it: there may be a password in it.
    pub fn read(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Address, String> {
        let (text, own) = own_parameters(text);
        let mut config: Config = text.parse().map_err(|cause: tokio_postgres::Error| whole(&cause))?;
        let has_password = config.get_password().is_some();
        let own = |name: &str| own.iter().find(|(it, _)| it == name).map(|(_, value)| value.clone());
        add_variables(&mut config, variable)?;
        let is_local = config.get_hosts().iter().all(is_local);
        let mode = own("sslmode").or_else(|| variable("PGSSLMODE"));
        config.ssl_mode(match mode.as_deref() {
            Some("disable" | "allow") => SslMode::Disable,
            Some("require" | "verify-ca" | "verify-full") => SslMode::Require,
            Some("prefer") | None if is_local => SslMode::Disable,
            Some("prefer") | None => SslMode::Require,
            Some(_) => {
                return Err("its `sslmode` is none: write `disable`, `require` or `verify-full`".to_owned());
            }
        });
        if !text.contains("target_session_attrs=") {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        let limits = [
            (
                "connect_timeout=",
                Config::connect_timeout as fn(&mut Config, Duration) -> &mut Config,
                CONNECT,
            ),
            ("tcp_user_timeout=", Config::tcp_user_timeout, PATIENCE),
            ("keepalives_idle=", Config::keepalives_idle, Duration::from_secs(10)),
            ("keepalives_interval=", Config::keepalives_interval, Duration::from_secs(5)),
        ];
        for (name, set, limit) in limits {
            if !text.contains(name) {
                set(&mut config, limit);
            }
        }
        if config.get_application_name().is_none() {
            config.application_name("orange-fleet");
        }
        let roots = own("sslrootcert").or_else(|| variable("PGSSLROOTCERT"));
        let tls = tls(roots.as_deref().map(Path::new))?;
        let shown = shown(&config);
        Ok(Address { config, tls, shown, has_password })
    }

    /// True if the text itself has a password.
    pub fn has_password(&self) -> bool {
        self.has_password
    }

    /// A connection, which works as long as somebody drives its other half.
    pub(super) async fn connect(&self) -> Result<(Client, Connection<Socket, PostgresStream>), HostError> {
        match tokio::time::timeout(PATIENCE, self.config.connect(self.tls.clone())).await {
            Ok(connected) => connected.map_err(|cause| refused(&cause)),
            Err(_) => Err(silent()),
        }
    }
}

/// The address without the parameters that the client does not know, and those: `sslmode` in all its forms, and `sslrootcert`. Hosts
/// with commas between them are one parameter each, since the client takes the comma for a part of a name.
fn own_parameters(text: &str) -> (String, Vec<(String, String)>) {
    let Some((address, query)) = text.split_once('?') else { return (text.to_owned(), Vec::new()) };
    let is_own = |it: &&str| ["sslmode=", "sslrootcert="].iter().any(|own| it.starts_with(own));
    let (own, others): (Vec<&str>, Vec<&str>) = query.split('&').partition(is_own);
    let parts = own.iter().filter_map(|it| it.split_once('='));
    let own = parts.map(|(name, value)| (name.to_owned(), decoded(value))).collect();
    let one_host = |it: &&str| match it.strip_prefix("host=") {
        Some(hosts) => hosts.split(',').map(|host| format!("host={host}")).collect::<Vec<_>>().join("&"),
        None => (*it).to_owned(),
    };
    let others: Vec<String> = others.iter().map(one_host).collect();
    match others.is_empty() {
        true => (address.to_owned(), own),
        false => (format!("{address}?{}", others.join("&")), own),
    }
}

/// A text whose `%41` are letters again.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        let code = more.get(..2).and_then(|it| std::str::from_utf8(it).ok());
        match (first, code.and_then(|it| u8::from_str_radix(it, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &more[2..];
            }
            _ => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Adds what the address leaves out, as libpq would find it.
fn add_variables(config: &mut Config, variable: &dyn Fn(&str) -> Option<String>) -> Result<(), String> {
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        let hosts = variable("PGHOST").unwrap_or_else(|| SOCKET.to_owned());
        for host in hosts.split(',') {
            config.host(host);
        }
    }
    if config.get_ports().is_empty()
        && let Some(ports) = variable("PGPORT")
    {
        for port in ports.split(',') {
            config.port(port.parse().map_err(|_| "PGPORT is not a port".to_owned())?);
        }
    }
    if config.get_user().is_none()
        && let Some(user) = variable("PGUSER").or_else(|| variable("USER"))
    {
        config.user(user);
    }
    if config.get_dbname().is_none()
        && let Some(name) = variable("PGDATABASE")
    {
        config.dbname(name);
    }
    if config.get_password().is_none() {
        let found = variable("PGPASSWORD").or_else(|| from_file(config, variable));
        found.map(|it| config.password(it));
    }
    Ok(())
}

/// The password of the file that libpq reads, which its owner alone may read.
fn from_file(config: &Config, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;

    let file = variable("PGPASSFILE").map(PathBuf::from);
    let file = file.or_else(|| Some(Path::new(&variable("HOME")?).join(".pgpass")))?;
    let mode = std::fs::metadata(&file).ok()?.permissions().mode();
    if mode & 0o077 != 0 {
        log::warn!(file = file.display().to_string().as_str(); "others may read the file with passwords: it is not used");
        return None;
    }
    let text = std::fs::read_to_string(&file).ok()?;
    let user = config.get_user().unwrap_or_default();
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        // libpq calls it so where the socket is in the usual place.
        Some(Host::Unix(path)) if path == Path::new(SOCKET) => "localhost".to_owned(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => config.get_hostaddrs().first()?.to_string(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    password(&text, [&host, &port, config.get_dbname().unwrap_or(user), user])
}

/// The password of the first line for this host, port, database and user.
fn password(text: &str, wanted: [&str; 4]) -> Option<String> {
    let fields = |line: &str| {
        let mut fields = vec![String::new()];
        let mut letters = line.chars();
        while let Some(letter) = letters.next() {
            let last = fields.len() - 1;
            match letter {
                '\\' => fields[last].extend(letters.next()),
                ':' if last < 4 => fields.push(String::new()),
                letter => fields[last].push(letter),
            }
        }
        fields
    };
    let lines = text.lines().filter(|it| !it.starts_with('#')).map(fields);
    let is_for = |line: &Vec<String>| {
        line.len() == 5 && line.iter().zip(wanted).all(|(field, wanted)| field == "*" || field == wanted)
    };
    lines.into_iter().find(is_for).and_then(|mut it| it.pop())
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(host) => ["localhost", "127.0.0.1", "::1"].contains(&host.as_str()),
    }
}

/// TLS that trusts the authorities of browsers, or those of a file.
fn tls(roots: Option<&Path>) -> Result<MakeRustlsConnect, String> {
    let mut store = RootCertStore::empty();
    match roots {
        Some(file) => {
            let failed =
                |cause: String| format!("the authorities of {} cannot be used: {cause}", file.display());
            let certificates =
                CertificateDer::pem_file_iter(file).map_err(|cause| failed(cause.to_string()))?;
            for certificate in certificates {
                let certificate = certificate.map_err(|cause| failed(cause.to_string()))?;
                store.add(certificate).map_err(|cause| failed(cause.to_string()))?;
            }
        }
        None => store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
    }
    let config = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|cause| cause.to_string())?;
    Ok(MakeRustlsConnect::new(config.with_root_certificates(store).with_no_client_auth()))
}

fn shown(config: &Config) -> String {
    let ports = config.get_ports();
    let hosts = config.get_hosts().iter().enumerate().map(|(number, host)| {
        let port = ports.get(number).or(ports.first()).copied().unwrap_or(5432);
        match host {
            Host::Tcp(host) => format!("{host}:{port}"),
            Host::Unix(path) => format!("{}:{port}", path.display()),
        }
    });
    let hosts = hosts.collect::<Vec<_>>().join(",");
    let user = config.get_user().unwrap_or_default();
    format!("postgres://{user}@{hosts}/{}", config.get_dbname().unwrap_or(user))
}

/// Error of a connection that cannot be made, with what helps.
fn refused(cause: &tokio_postgres::Error) -> HostError {
    let help = match cause.code().map(|it| it.code()) {
        Some("28P01" | "28000") => "look at the user, at PGPASSWORD and at ~/.pgpass",
        Some("3D000") => "make it with `createdb`",
        Some("53300") => "the database has no room for more connections",
        Some(_) => return broken(cause),
        None => {
            let why = whole(cause);
            let help = match () {
                () if why.contains("does not allow writes") => {
                    "it is a standby, and none of the named servers is the primary"
                }
                () if why.contains("invalid peer certificate") || why.contains("UnknownIssuer") => {
                    "name the authority of its certificate with `sslrootcert=FILE`"
                }
                () if why.contains("does not support TLS") => {
                    "a server on another machine needs TLS: `sslmode=disable` does without"
                }
                () if why.contains("password missing") => "set PGPASSWORD, or write ~/.pgpass",
                () => "look whether it runs, and at host and port",
            };
            return HostError::Unavailable(format!("{why}; {help}"));
        }
    };
    let said = cause.as_db_error().map(|it| it.message().to_owned()).unwrap_or_else(|| whole(cause));
    HostError::Unavailable(format!("{said}; {help}"))
}

/// An error with its causes, each of which some say themselves.
pub(super) fn whole(cause: &tokio_postgres::Error) -> String {
    let mut text = cause.to_string();
    let mut inner = std::error::Error::source(cause);
    while let Some(cause) = inner {
        let more = cause.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        inner = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, variables: &[(&str, &str)]) -> Result<Address, String> {
        let find =
            |name: &str| variables.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned());
        Address::read(text, &find)
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        let address = read("postgres://ada:s3cret@db/fleet", &[]).unwrap();
        assert!(address.has_password());
        assert_eq!(format!("{address} {address:?}").matches("s3cret").count(), 0);
        assert_eq!(address.to_string(), "postgres://ada@db:5432/fleet");
        let wrong = read("postgres://ada:s3cret@db:port/fleet", &[]).unwrap_err();
        assert!(!wrong.contains("s3cret"), "{wrong}");
    }

    #[test]
    fn variables_add_what_an_address_leaves_out() {
        let variables = [("PGHOST", "a,b"), ("PGPORT", "6000"), ("PGUSER", "ada"), ("PGPASSWORD", "p")];
        let address = read("postgres:///fleet", &variables).unwrap();
        assert_eq!(address.to_string(), "postgres://ada@a:6000,b:6000/fleet");
        assert_eq!((address.has_password(), address.config.get_password()), (false, Some(&b"p"[..])));
        let address = read("postgres://bob@c:7000/", &variables).unwrap();
        assert_eq!(address.to_string(), "postgres://bob@c:7000/bob");
    }

    #[test]
    fn several_hosts_stand_where_libpq_has_them() {
        for text in ["postgres://ada@/x?host=/a,/b&port=6000", "postgres://ada@%2Fa:6000,%2Fb:6000/x"] {
            assert_eq!(read(text, &[]).unwrap().to_string(), "postgres://ada@/a:6000,/b:6000/x", "{text}");
        }
        let address = read("postgres://ada@a:1,b:2/x", &[]).unwrap();
        assert_eq!(address.to_string(), "postgres://ada@a:1,b:2/x");
    }

    #[test]
    fn other_machines_are_reached_with_tls() {
        let mode = |text: &str| read(text, &[]).map(|it| it.config.get_ssl_mode());
        assert_eq!(mode("postgres://db/x"), Ok(SslMode::Require));
        assert_eq!(mode("postgres://db/x?sslmode=disable"), Ok(SslMode::Disable));
        assert_eq!(mode("postgres://localhost/x"), Ok(SslMode::Disable));
        assert_eq!(mode("postgres://localhost/x?sslmode=verify-full"), Ok(SslMode::Require));
        assert!(mode("postgres://db/x?sslmode=yes").is_err());
        assert!(mode("postgres://db/x?sslrootcert=%2Fnowhere").unwrap_err().contains("/nowhere"));
    }

    #[test]
    fn the_password_file_has_a_line_for_a_login() {
        let text = "# a comment\nother:*:*:*:1\ndb:5432:fleet:ada:a\\:b\\\\c:d\n*:*:*:*:last\n";
        assert_eq!(password(text, ["db", "5432", "fleet", "ada"]).as_deref(), Some("a:b\\c:d"));
        assert_eq!(password(text, ["db", "5432", "fleet", "bob"]).as_deref(), Some("last"));
        assert_eq!(password("db:5432:fleet:ada", ["db", "5432", "fleet", "ada"]), None);
    }
}
