//! A proxy between real sockets.

use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use tempfile::TempDir;

use super::*;
use orange_testkit::Random;

/// A proxy, and a host that it opens by its address.
struct ProxyLab {
    folder: TempDir,
    port: u16,
    _proxy: Proxy,
    refused: Receiver<(String, u64)>,
}

impl ProxyLab {
    /// The host answers each connection in a thread of its own with this function.
    fn new(host: fn(TcpStream) -> io::Result<()>) -> ProxyLab {
        ProxyLab::with(Network::Listed, host, TO_ASK)
    }

    fn with(network: Network, host: fn(TcpStream) -> io::Result<()>, patience: Duration) -> ProxyLab {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(io::Result::ok) {
                thread::spawn(move || host(stream));
            }
        });
        let folder = tempfile::tempdir().unwrap();
        let hosts =
            [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("*.below.example:{port}")];
        let hosts = hosts.iter().map(|entry| HostPattern::parse(entry).unwrap()).collect();
        let (sender, refused) = channel();
        let note = move |host: &str, count| sender.send((host.to_owned(), count)).unwrap();
        let path = folder.path().join("proxy.sock");
        let rules = ProxyRules { network, hosts };
        let proxy = Proxy::with_patience(&path, rules, Box::new(note), patience).unwrap();
        ProxyLab { folder, port, _proxy: proxy, refused }
    }

    fn connect(&self) -> UnixStream {
        UnixStream::connect(self.folder.path().join("proxy.sock")).unwrap()
    }

    /// A tunnel to the host, after the proxy's answer.
    fn tunnel(&self) -> UnixStream {
        let mut stream = self.connect();
        write!(stream, "CONNECT 127.0.0.1:{} HTTP/1.1\r\n\r\n", self.port).unwrap();
        let mut answer = vec![0; "HTTP/1.1 200 Connection established\r\n\r\n".len()];
        stream.read_exact(&mut answer).unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 200 "));
        stream
    }

    fn ask(&self, request: &str) -> String {
        ask(self.connect(), request)
    }
}

/// The answer to a request after which nothing is sent.
fn ask(mut stream: UnixStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    read_all(&mut stream)
}

fn read_all(stream: &mut impl Read) -> String {
    let mut text = Vec::new();
    stream.read_to_end(&mut text).unwrap();
    String::from_utf8_lossy(&text).into_owned()
}

/// Sends back what it has got, when that has ended.
fn echo(mut stream: TcpStream) -> io::Result<()> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    stream.write_all(&bytes)
}

/// Sends its head back as the body of an answer.
fn http(mut stream: TcpStream) -> io::Result<()> {
    let mut bytes = vec![0; 4096];
    let length = stream.read(&mut bytes)?;
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
    stream.write_all(&bytes[..length])
}

#[test]
fn a_listed_host_is_reached_and_half_of_a_connection_ends() {
    let lab = ProxyLab::new(echo);
    let mut tunnel = lab.tunnel();
    let large = "x".repeat(3_000_000);
    let mut writer = tunnel.try_clone().unwrap();
    let sent = large.clone();
    let writing = thread::spawn(move || {
        writer.write_all(sent.as_bytes()).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    assert_eq!(read_all(&mut tunnel).len(), large.len());
    writing.join().unwrap();
}

#[test]
fn a_plain_request_goes_to_the_host_of_its_address() {
    let lab = ProxyLab::new(http);
    let port = lab.port;
    let answer = lab.ask(&format!("GET http://127.0.0.1:{port}/a HTTP/1.1\r\nHost: evil.example\r\n\r\n"));
    assert!(
        answer.ends_with(&format!("GET /a HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"))
    );
}

#[test]
fn other_hosts_are_refused_counted_and_named() {
    let lab = ProxyLab::new(echo);
    let port = lab.port;
    for count in 1..=2 {
        let answer = lab.ask("CONNECT evil.example:443 HTTP/1.1\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 403 evil.example:443 is not open in this wall\r\n"), "{answer}");
        assert!(answer.contains("`[sandbox]` with `hosts = [\"evil.example:443\"]`"), "{answer}");
        assert_eq!(lab.refused.recv().unwrap(), ("evil.example:443".to_owned(), count));
    }
    // A listed name that leads home.
    let answer = lab.ask(&format!("CONNECT LocalHost.:{port} HTTP/1.1\r\n\r\n"));
    assert!(answer.starts_with("HTTP/1.1 200") || answer.contains("by its address"), "{answer}");
    let other = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    for target in [format!("127.0.0.1:{other}"), "[::1]:22".to_owned(), "169.254.169.254:80".to_owned()] {
        assert!(lab.ask(&format!("CONNECT {target} HTTP/1.1\r\n\r\n")).starts_with("HTTP/1.1 403 "));
    }
    assert!(lab.ask("nonsense\r\n\r\n").starts_with("HTTP/1.1 400 "));
    assert!(
        lab.ask(&format!("GET http://a/{} HTTP/1.1\r\n", "x".repeat(40_000))).starts_with("HTTP/1.1 431 ")
    );
}

#[test]
fn a_wall_without_network_opens_nothing() {
    let lab = ProxyLab::with(Network::None, echo, TO_ASK);
    assert!(
        lab.ask(&format!("CONNECT 127.0.0.1:{} HTTP/1.1\r\n\r\n", lab.port)).starts_with("HTTP/1.1 403 ")
    );
}

#[test]
fn a_thousand_connections_are_served_beside_silent_ones() {
    let lab = ProxyLab::with(Network::Listed, echo, Duration::from_millis(300));
    // They ask for nothing, or never end to ask, and take all room until their time is over.
    let silent: Vec<UnixStream> = (0..AT_ONCE)
        .map(|_| {
            let mut stream = lab.connect();
            stream.write_all(b"CONNECT ").unwrap();
            stream
        })
        .collect();
    thread::scope(|scope| {
        for part in 0..20 {
            let lab = &lab;
            let folder = lab.folder.path().join("proxy.sock");
            let port = lab.port;
            scope.spawn(move || {
                for number in 0..50 {
                    let mut stream = UnixStream::connect(&folder).unwrap();
                    let text = format!("{part} {number}");
                    write!(stream, "CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n{text}").unwrap();
                    stream.shutdown(Shutdown::Write).unwrap();
                    let answer = read_all(&mut stream);
                    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with(&text), "{answer}");
                }
            });
        }
    });
    for mut stream in silent {
        assert_eq!(read_all(&mut stream), "");
    }
}

#[test]
fn many_refused_hosts_are_one() {
    let lab = ProxyLab::new(echo);
    for number in 0..MOST_COUNTED + 2 {
        lab.ask(&format!("CONNECT h{number}.example:443 HTTP/1.1\r\n\r\n"));
    }
    let last = lab.refused.try_iter().last().unwrap();
    assert_eq!(last, ("other hosts".to_owned(), 2));
}

#[test]
fn a_client_that_is_gone_ends_its_connection() {
    static ENDED: AtomicBool = AtomicBool::new(false);
    let lab = ProxyLab::new(|mut stream| {
        // It says nothing, and hears that the other end is gone.
        let mut byte = [0];
        let end = stream.read(&mut byte);
        ENDED.store(end.is_ok_and(|length| length == 0), Ordering::Relaxed);
        // A host that never closes keeps nothing open.
        thread::park();
        Ok(())
    });
    drop(lab.tunnel());
    while !ENDED.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_long_path_is_no_obstacle() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("x".repeat(120));
    fs::create_dir(&deep).unwrap();
    let path = deep.join("proxy.sock");
    let rules = ProxyRules { network: Network::Model, hosts: Vec::new() };
    let proxy = Proxy::start(&path, rules, |_, _| {}).unwrap();
    let mut stream = connect(&path).unwrap();
    stream.write_all(b"CONNECT a.example:443 HTTP/1.1\r\n\r\n").unwrap();
    assert!(read_all(&mut stream).starts_with("HTTP/1.1 403 "));
    drop(proxy);
    assert!(!path.exists());
}

/// Spellings of the listed host, of the machine by other names, of others, and of nothing.
const HOSTS: &[&str] = &[
    "127.0.0.1",
    "127.0.0.1.",
    "127.0.0.1..",
    "[::ffff:127.0.0.1]",
    "[::FFFF:7f00:1]",
    "::ffff:127.0.0.1",
    "[::1]",
    "[::1%25lo]",
    "[127.0.0.1]",
    "localhost",
    "LOCALhost.",
    "localhost..",
    ".localhost",
    "127.1",
    "127.0.1",
    "0x7f.0.0.1",
    "0x7f000001",
    "2130706433",
    "0177.0.0.1",
    "127.0.0.01",
    "0.0.0.0",
    "0",
    "127.0.0.2",
    "127.0.0.1.evil.example",
    "evil.example",
    "evilbelow.example",
    "below.example",
    "127.0.0.1@evil.example",
    "evil.example#127.0.0.1",
    "xn--bcher-kva.example",
    "b\u{fc}cher.example",
    "\u{ff11}27.0.0.1",
    "\u{1d4c1}ocalhost",
    "%31%32%37.0.0.1",
    "127.0.0.1%00.evil.example",
    "*",
    "*.example",
    "",
];

/// Parts of a request, of which many are wrong.
const METHODS: &[&str] = &["CONNECT", "CONNECT", "GET", "POST", "connect", "CONNECT\t", "", "X-Y"];
const SCHEMES: &[&str] = &["http://", "HTTP://", "https://", "//", "", "http:/", "ftp://", "http://u:p@"];
const VERSIONS: &[&str] = &[" HTTP/1.1", " HTTP/1.0", " HTTP/2", "", "  HTTP/1.1", " http/1.1"];
const LINES: &[&str] = &[
    "",
    "Host: evil.example\r\n",
    "Host : x\r\n",
    " folded\r\n",
    "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
    "Proxy-Authorization: x\r\n",
    "Upgrade: h2c\r\n",
    "X: a\rb\r\n",
    "\0\r\n",
    "\n",
];
const ENDS: &[&str] =
    &["\r\n", "\r\n", "\r\n", "\n", "", "\r\n\r\nGET http://evil.example/ HTTP/1.1\r\n\r\n"];

/// The spellings that name the listed host, written without the code that is tested.
fn is_listed(host: &str) -> bool {
    let same =
        ["127.0.0.1", "127.0.0.1.", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "localhost", "localhost."];
    same.contains(&host.to_ascii_lowercase().as_str())
}

/// Listens, and counts who comes.
fn counted() -> (u16, Arc<Mutex<usize>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let (port, count) = (listener.local_addr().unwrap().port(), Arc::new(Mutex::new(0)));
    let own = Arc::clone(&count);
    thread::spawn(move || {
        for _ in listener.incoming() {
            *own.lock().unwrap() += 1;
        }
    });
    (port, count)
}

#[test]
fn no_spelling_of_a_request_reaches_another_host() {
    let lab = ProxyLab::new(http);
    let (closed, came) = counted();
    let (good, seed) = (lab.port.to_string(), 0x5eed);
    let ports = [
        good.clone(),
        good.clone(),
        good.clone(),
        closed.to_string(),
        format!("0{good}"),
        "0".into(),
        "65536".into(),
        format!("+{good}"),
        format!("{good}:{closed}"),
        String::new(),
    ];
    let served: usize = thread::scope(|scope| {
        let asked = (0..8u64).map(|part| {
            let (socket, ports, good) = (lab.folder.path().join("proxy.sock"), &ports, &good);
            scope.spawn(move || {
                let mut random = Random::new(seed + part);
                let mut served = 0;
                for _ in 0..400 {
                    let mut one = |usual: &'static str, all: &[&'static str]| {
                        if random.chance(70) { usual } else { *random.pick(all) }
                    };
                    let (host, method) = (one("127.0.0.1", HOSTS), one("CONNECT", METHODS));
                    let (version, line, end) =
                        (one(" HTTP/1.1", VERSIONS), one("", LINES), one("\r\n", ENDS));
                    let is_tunnel = method == "CONNECT";
                    let (scheme, path) = if is_tunnel { ("", "") } else { (one("http://", SCHEMES), "/a?b") };
                    let port = random.pick(ports);
                    let target = if port.is_empty() { host.to_owned() } else { format!("{host}:{port}") };
                    let request = format!("{method} {scheme}{target}{path}{version}\r\n{line}{end}");
                    let answer = ask(UnixStream::connect(&socket).unwrap(), &request);
                    let is_served = answer.starts_with("HTTP/1.1 200");
                    let may_be = is_listed(host) && (port == good || *port == format!("0{good}"));
                    assert!(!is_served || may_be, "{request:?}: {answer}");
                    // The head that the host gets names that host alone.
                    let head = answer.split("\r\n\r\n").nth(1).unwrap_or_default();
                    assert!(!is_served || !head.contains("evil.example"), "{request:?}: {answer}");
                    served += usize::from(is_served);
                }
                served
            })
        });
        asked.collect::<Vec<_>>().into_iter().map(|it| it.join().unwrap()).sum()
    });
    assert!(served > 100, "{served}");
    assert_eq!(*came.lock().unwrap(), 0);
    // It still serves.
    drop(lab.tunnel());
}

#[test]
fn any_bytes_in_any_pieces_leave_the_proxy_serving() {
    let lab = ProxyLab::with(Network::Listed, echo, Duration::from_millis(200));
    let mut random = Random::new(7);
    for _ in 0..200 {
        let mut stream = lab.connect();
        for _ in 0..random.below(4) {
            let bytes: Vec<u8> = (0..random.below(300)).map(|_| random.number().to_le_bytes()[0]).collect();
            // It may have hung up.
            if stream.write_all(&bytes).is_err() {
                break;
            }
        }
        stream.shutdown(Shutdown::Write).unwrap_or_default();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).map(drop).unwrap_or_default();
        assert!(!answer.starts_with(b"HTTP/1.1 200"));
    }
    drop(lab.tunnel());
}
