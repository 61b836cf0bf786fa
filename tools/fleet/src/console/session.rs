//! Sessions of people who have signed in: a signed cookie, so that every gateway with the same secret accepts it, also after a restart.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};

/// The name of the cookie.
const COOKIE: &str = "orange_console";

/// Lifetime of a session, in seconds.
const LASTS: u64 = 7 * 24 * 3_600;

/// The length of a block of SHA-256, which HMAC pads keys to.
const BLOCK: usize = 64;

/// Makes sessions and recognises them.
#[derive(Debug)]
pub struct Sessions {
    secret: Vec<u8>,
    /// True if browsers send the cookie over TLS only.
    is_secure: bool,
    /// Has a file for each session that its person has ended, until its time is over.
    signed_out: PathBuf,
    made: AtomicU64,
}

/// A person who has signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonSession {
    /// The id of their token.
    pub holder: String,
    /// CSRF token that their forms carry.
    pub csrf: String,
    /// Unique word of the session: no other one has it.
    nonce: String,
}

impl Sessions {
    /// Sessions that are signed with a secret, and the folder that notes which of them have ended.
    pub fn new(secret: &[u8], is_secure: bool, signed_out: PathBuf) -> Sessions {
        let secret = mac(secret, &["orange console"]).to_vec();
        Sessions { secret, is_secure, signed_out, made: AtomicU64::new(0) }
    }

    /// The header that gives a browser a new session, for who holds the token of this id.
    pub fn begin(&self, holder: &str) -> String {
        let until = seconds_now() + LASTS;
        let nonce = self.unique();
        let sign = hex(&mac(&self.secret, &["session", &until.to_string(), &nonce, holder]));
        self.cookie(&format!("{until}.{nonce}.{sign}.{holder}"), LASTS)
    }

    /// Ends a session, also for who has copied its cookie, and returns the header that takes it from its browser.
    ///
    /// # Errors
    /// The folder of ended sessions cannot be written: the session goes on.
    pub fn end(&self, session: &PersonSession) -> io::Result<String> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.signed_out)?;
        self.forget()?;
        fs::write(self.signed_out.join(&session.nonce), "")?;
        Ok(self.cookie("", 0))
    }

    /// True if the session has not been ended by its person.
    pub fn stands(&self, session: &PersonSession) -> bool {
        !self.signed_out.join(&session.nonce).exists()
    }

    /// Removes the notes of sessions whose time is over.
    fn forget(&self) -> io::Result<()> {
        for note in fs::read_dir(&self.signed_out)? {
            let note = note?;
            let age = note.metadata()?.modified()?.elapsed().unwrap_or_default();
            if age > Duration::from_secs(LASTS) {
                fs::remove_file(note.path())?;
            }
        }
        Ok(())
    }

    /// The session of a request with these cookies.
    pub fn of(&self, cookies: &str) -> Option<PersonSession> {
        cookies.split(';').find_map(|it| self.opened(it.trim().strip_prefix(COOKIE)?.strip_prefix('=')?))
    }

    fn opened(&self, value: &str) -> Option<PersonSession> {
        let mut parts = value.splitn(4, '.');
        let (until, nonce, sign, holder) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let expect = hex(&mac(&self.secret, &["session", until, nonce, holder]));
        let is_open = is_same(sign, &expect) && until.parse::<u64>().is_ok_and(|it| it > seconds_now());
        let csrf = || hex(&mac(&self.secret, &["form", nonce]));
        let session = || PersonSession { holder: holder.to_owned(), csrf: csrf(), nonce: nonce.to_owned() };
        is_open.then(session).filter(|it| self.stands(it))
    }

    /// Something that nobody has had, and that nobody without the secret can guess.
    pub fn unique(&self) -> String {
        let number = self.made.fetch_add(1, Ordering::Relaxed).to_string();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_nanos()).to_string();
        let process = std::process::id().to_string();
        hex(&mac(&self.secret, &["unique", &number, &now, &process])[..16])
    }

    fn cookie(&self, value: &str, seconds: u64) -> String {
        let secure = if self.is_secure { "; Secure" } else { "" };
        format!("{COOKIE}={value}; Path=/console; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}")
    }
}

impl PersonSession {
    /// True if a form with this field is one of the session.
    pub fn has_made(&self, csrf: &str) -> bool {
        is_same(csrf, &self.csrf)
    }
}

fn seconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs())
}

/// Signs several texts, each with its length, so that no two lists are the same message.
fn mac(key: &[u8], texts: &[&str]) -> [u8; 32] {
    let framed = texts.iter().flat_map(|it| [&(it.len() as u64).to_be_bytes()[..], it.as_bytes()].concat());
    hmac(key, &framed.collect::<Vec<u8>>())
}

/// HMAC-SHA-256 of RFC 2104.
fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0_u8; BLOCK];
    let hashed = Sha256::digest(key);
    let key = if key.len() > BLOCK { &hashed[..] } else { key };
    block[..key.len()].copy_from_slice(key);
    let inner = Sha256::new().chain_update(block.map(|it| it ^ 0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(block.map(|it| it ^ 0x5c)).chain_update(inner).finalize().into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

/// Compares without saying by its duration where two texts differ.
fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sessions of which none has ended.
    fn sessions(secret: &[u8], is_secure: bool) -> Sessions {
        Sessions::new(secret, is_secure, PathBuf::from("/nowhere"))
    }

    fn value(header: &str) -> &str {
        header.split(';').next().unwrap()
    }

    #[test]
    fn a_session_outlives_its_gateway() {
        let header = sessions(b"secret", false).begin("admin");
        assert!(header.ends_with("; Path=/console; HttpOnly; SameSite=Strict; Max-Age=604800"), "{header}");
        let later = sessions(b"secret", false);
        let session = later.of(&format!("a=b; {}", value(&header))).unwrap();
        assert_eq!(session.holder, "admin");
        assert!(session.has_made(&session.csrf) && !session.has_made(""));
        assert_eq!(later.of(value(&header)), Some(session));
    }

    #[test]
    fn other_cookies_are_no_sessions() {
        let known = sessions(b"secret", true);
        let header = known.begin("admin");
        assert!(header.ends_with("; Secure"));
        let cookie = value(&header).to_owned();
        let (until, rest) = cookie.split_once('.').unwrap();
        let later: u64 = until.split_once('=').unwrap().1.parse::<u64>().unwrap() + 1;
        for wrong in [
            String::new(),
            "orange_console=".to_owned(),
            "orange_console=..".to_owned(),
            format!("orange_console={later}.{rest}"),
            cookie[..cookie.len() - 1].to_owned(),
            format!("{cookie}2"),
            format!("x{cookie}"),
            value(&sessions(b"other", true).begin("admin")).to_owned(),
            "orange_console=; Path=/console".to_owned(),
        ] {
            assert_eq!(known.of(&wrong), None, "{wrong}");
        }
        assert!(known.of(&cookie).is_some());
    }

    #[test]
    fn an_ended_session_is_none_on_any_gateway_of_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let sessions = || Sessions::new(b"secret", false, folder.path().join("signed-out"));
        let (one, other) = (sessions().begin("admin"), sessions().begin("ada"));
        let session = sessions().of(value(&one)).unwrap();
        assert!(sessions().stands(&session));
        let header = sessions().end(&session).unwrap();
        assert!(header.contains("Max-Age=0"), "{header}");
        assert_eq!(sessions().of(value(&one)), None);
        assert!(!sessions().stands(&session) && sessions().of(value(&other)).is_some());
    }

    #[test]
    fn signatures_are_those_of_rfc_4231() {
        let of = |key: &[u8], message: &[u8]| hex(&hmac(key, message))[..16].to_owned();
        assert_eq!(of(b"Jefe", b"what do ya want for nothing?"), "5bdcc146bf60754e");
        let long = b"Test Using Larger Than Block-Size Key - Hash Key First";
        assert_eq!(of(&[0xaa; 131], long), "60e431591ee0b67f");
        assert_ne!(mac(b"k", &["ab", "c"]), mac(b"k", &["a", "bc"]));
    }

    #[test]
    fn nothing_unique_comes_twice() {
        let known = sessions(b"secret", false);
        assert_ne!(known.unique(), known.unique());
        assert_eq!(known.unique().len(), 32);
    }
}
