//! A network that loses, delays and cuts: a TCP proxy before a gateway.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::dice::Dice;

/// Fate of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionFate {
    /// Nothing is lost.
    Whole,
    /// This answer is lost, and the connection with it: the gateway has done what it was asked.
    AnswerLost(u64),
    /// This request is cut in the middle.
    RequestCut(u64),
    /// Everything comes this much later.
    Late(Duration),
    /// From this answer on nothing comes through, and nobody says so.
    Silent(u64),
}

/// Number of connections with each fate.
#[derive(Debug, Default)]
pub(crate) struct ConnectionCounts {
    pub(crate) whole: AtomicU64,
    pub(crate) answers_lost: AtomicU64,
    pub(crate) requests_cut: AtomicU64,
    pub(crate) late: AtomicU64,
    pub(crate) silent: AtomicU64,
}

#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    shared: Arc<ProxyState>,
}

#[derive(Debug)]
struct ProxyState {
    gateway: SocketAddr,
    counts: Arc<ConnectionCounts>,
    dice: Mutex<Dice>,
    is_calm: AtomicBool,
    is_parted: AtomicBool,
}

impl Proxy {
    /// A proxy before the gateway at this address.
    pub(crate) fn start(
        gateway: SocketAddr,
        dice: Dice,
        counts: &Arc<ConnectionCounts>,
    ) -> std::io::Result<Proxy> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(ProxyState {
            gateway,
            counts: Arc::clone(counts),
            dice: Mutex::new(dice),
            is_calm: AtomicBool::new(false),
            is_parted: AtomicBool::new(false),
        });
        let ours = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || shared.serve(&client));
            }
        });
        Ok(Proxy { address, shared: ours })
    }

    /// From now on new connections are whole.
    pub(crate) fn calm(&self) {
        self.shared.is_calm.store(true, Ordering::Relaxed);
    }

    /// Nothing comes through while this is true.
    pub(crate) fn part(&self, is_parted: bool) {
        self.shared.is_parted.store(is_parted, Ordering::Relaxed);
    }
}

impl ProxyState {
    fn fate(&self) -> ConnectionFate {
        let mut dice = self.dice.lock().unwrap_or_else(PoisonError::into_inner);
        let (kind, number) = (dice.below(10), dice.below(12));
        if self.is_calm.load(Ordering::Relaxed) {
            return ConnectionFate::Whole;
        }
        let (fate, count) = match kind {
            0..=2 => (ConnectionFate::AnswerLost(number), &self.counts.answers_lost),
            3 => (ConnectionFate::RequestCut(number), &self.counts.requests_cut),
            4 => (ConnectionFate::Late(Duration::from_millis(5 + 20 * number)), &self.counts.late),
            5 => (ConnectionFate::Silent(number), &self.counts.silent),
            _ => (ConnectionFate::Whole, &self.counts.whole),
        };
        count.fetch_add(1, Ordering::Relaxed);
        fate
    }

    fn serve(&self, client: &TcpStream) {
        let fate = self.fate();
        let Ok(gateway) = TcpStream::connect(self.gateway) else { return };
        for stream in [client, &gateway] {
            // Without it every small answer would take 40 ms.
            stream.set_nodelay(true).unwrap_or_default();
        }
        thread::scope(|scope| {
            scope.spawn(|| self.copy(client, &gateway, |number| fate.of_request(number)));
            self.copy(&gateway, client, |number| fate.of_answer(number));
        });
    }

    /// Copies until one of the two ends, and then ends both.
    fn copy(&self, mut from: &TcpStream, mut to: &TcpStream, fate: impl Fn(u64) -> Pass) {
        let mut buffer = [0; 16 << 10];
        let mut number = 0;
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            while self.is_parted.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(10));
            }
            let passed = match fate(number) {
                Pass::All => to.write_all(&buffer[..length]),
                Pass::After(time) => {
                    thread::sleep(time);
                    to.write_all(&buffer[..length])
                }
                Pass::Half => {
                    // The other half is cut off, whether this one arrives or not.
                    to.write_all(&buffer[..length / 2]).unwrap_or_default();
                    break;
                }
                Pass::Nothing => break,
                Pass::Swallowed => Ok(()),
            };
            if passed.is_err() {
                break;
            }
            number += 1;
        }
        // It may be closed already.
        from.shutdown(Shutdown::Both).unwrap_or_default();
        to.shutdown(Shutdown::Both).unwrap_or_default();
    }
}

/// Fate of some bytes.
enum Pass {
    All,
    After(Duration),
    Half,
    Nothing,
    Swallowed,
}

impl ConnectionFate {
    fn of_request(self, number: u64) -> Pass {
        match self {
            ConnectionFate::RequestCut(at) if number == at => Pass::Half,
            ConnectionFate::Whole
            | ConnectionFate::AnswerLost(_)
            | ConnectionFate::RequestCut(_)
            | ConnectionFate::Late(_)
            | ConnectionFate::Silent(_) => Pass::All,
        }
    }

    fn of_answer(self, number: u64) -> Pass {
        match self {
            ConnectionFate::AnswerLost(at) if number == at => Pass::Nothing,
            ConnectionFate::Late(time) => Pass::After(time),
            ConnectionFate::Silent(at) if number >= at => Pass::Swallowed,
            ConnectionFate::Whole
            | ConnectionFate::AnswerLost(_)
            | ConnectionFate::RequestCut(_)
            | ConnectionFate::Silent(_) => Pass::All,
        }
    }
}
