//! Tokens: files of the gateway's folder, which has their hashes. Only the first one, the administrator's, is there as it is.
//!
//! A token is `orange_<id>_<secret>`. The secret has 256 random bits, so that one round of SHA-256 suffices.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use orange_api::{Error, ErrorKind, Result};
use orange_system::random;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::sync::watch;

use super::private;

/// The id of the token that the first start makes.
pub const ADMIN: &str = "admin";

/// Prefix of every token, by which scanners for leaked secrets find it.
const PREFIX: &str = "orange";

/// The longest name of a token.
const LONGEST_NAME: usize = 100;

/// A change of the folder within this time of a look may have been missed.
const GRAIN: Duration = Duration::from_secs(2);

/// Calls that a token is good for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Rights {
    Person,
    /// Reading everything.
    Reader,
    /// The calls of crabs, in one colony.
    Crab {
        /// The id of the colony.
        colony: String,
    },
}

/// Holder of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenHolder {
    /// The id of the token.
    pub id: String,
    pub rights: Rights,
}

/// A token as its file says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredToken {
    v: u32,
    pub id: String,
    /// Name of the token for people.
    pub name: String,
    #[serde(flatten)]
    pub rights: Rights,
    /// Time of creation, in milliseconds since 1970.
    pub created_at_ms: u64,
    /// The hash of its secret, in hexadecimal digits.
    hash: String,
}

/// The tokens of a gateway. A token that is made or revoked counts at once, also in a gateway that runs.
#[derive(Debug)]
pub struct Tokens {
    folder: PathBuf,
    seen: RwLock<TokenCache>,
    /// Changes when tokens are made or revoked.
    changes: watch::Sender<()>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct KnownToken {
    name: String,
    rights: Rights,
    hash: [u8; 32],
}

#[derive(Debug, Default)]
struct TokenCache {
    looked: Option<(SystemTime, SystemTime)>,
    known: BTreeMap<String, KnownToken>,
}

impl Tokens {
    /// The tokens of a gateway's folder, with the administrator's, which is made if there is none.
    ///
    /// # Errors
    /// The folder cannot be read or written, or others may read the administrator's token.
    pub fn open(gateway: &Path) -> Result<Tokens> {
        let folder = gateway.join("tokens");
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(|cause| Error::io("create the folder", &folder, &cause))?;
        private::folder(&folder)?;
        let admin = folder.join(ADMIN);
        match write_new(&admin, &text(ADMIN, &secret()?)) {
            Ok(()) => {}
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => private::file(&admin, "the token")?,
            Err(cause) => return Err(Error::io("write", &admin, &cause)),
        }
        let tokens = Tokens { folder, seen: RwLock::default(), changes: watch::Sender::new(()) };
        tokens.look(tokens.modified())?;
        Ok(tokens)
    }

    /// The tokens of a gateway that has been started before. It makes none.
    ///
    /// # Errors
    /// `not found` where no gateway has been started; those of [`Tokens::open`].
    pub fn of_gateway(gateway: &Path) -> Result<Tokens> {
        if !Tokens::admin_file(gateway).exists() {
            let message = format!("there is no gateway in {}", gateway.display());
            return Err(Error::new(ErrorKind::NotFound, message)
                .help("`--dir` names its folder; the first `orange-fleet serve` there makes the administrator's token"));
        }
        Tokens::open(gateway)
    }

    /// Checks that a gateway can have the tokens of this folder. It changes nothing.
    ///
    /// # Errors
    /// Others may read the administrator's token, or put tokens into the folder.
    pub fn check(gateway: &Path) -> Result<()> {
        let (folder, admin) = (gateway.join("tokens"), Tokens::admin_file(gateway));
        if folder.exists() {
            private::folder(&folder)?;
        }
        if admin.exists() { private::file(&admin, "the token") } else { Ok(()) }
    }

    /// The file with the administrator's token of a gateway's folder.
    pub fn admin_file(gateway: &Path) -> PathBuf {
        gateway.join("tokens").join(ADMIN)
    }

    /// The administrator's token of a gateway's folder.
    ///
    /// # Errors
    /// It is not there, or cannot be read.
    pub fn admin(gateway: &Path) -> Result<String> {
        let path = Tokens::admin_file(gateway);
        let read = fs::read_to_string(&path).map_err(|cause| Error::io("read the token", &path, &cause))?;
        Ok(read.trim().to_owned())
    }

    /// Makes a token, and returns it: only its hash is kept.
    ///
    /// # Errors
    /// The name is none, or the folder cannot be written.
    pub fn make(&self, name: &str, rights: Rights) -> Result<String> {
        let is_name =
            !name.trim().is_empty() && name.len() <= LONGEST_NAME && !name.contains(char::is_control);
        if !is_name {
            return Err(Error::new(ErrorKind::Usage, "the name of a token is a short line of text")
                .help("name the person or the machine that gets it"));
        }
        let (id, secret) = (hex(&random::bytes::<6>()?), secret()?);
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let stored = StoredToken {
            v: 1,
            id: id.clone(),
            name: name.trim().to_owned(),
            rights,
            created_at_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            hash: hex(&Sha256::digest(&secret)),
        };
        let path = self.file(&id);
        let json = serde_json::to_string_pretty(&stored).unwrap_or_default();
        write_new(&path, &json).map_err(|cause| Error::io("write", &path, &cause))?;
        Ok(text(&id, &secret))
    }

    /// The tokens beside the administrator's, in the order in which they were made.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn list(&self) -> Result<Vec<StoredToken>> {
        let mut found = Vec::new();
        let entries =
            fs::read_dir(&self.folder).map_err(|cause| Error::io("read the folder", &self.folder, &cause))?;
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if path.extension().is_none_or(|it| it != "json") {
                continue;
            }
            match fs::read(&path).ok().and_then(|text| serde_json::from_slice::<StoredToken>(&text).ok()) {
                Some(stored) if stored.v == 1 && path == self.file(&stored.id) => found.push(stored),
                Some(_) | None => {
                    log::warn!(path = path.display().to_string().as_str(); "a file of tokens is not a token of this version")
                }
            }
        }
        found.sort_by(|a, b| (a.created_at_ms, &a.id).cmp(&(b.created_at_ms, &b.id)));
        Ok(found)
    }

    /// Makes a token worthless.
    ///
    /// # Errors
    /// There is none of this id.
    pub fn revoke(&self, id: &str) -> Result<()> {
        if !self.list()?.iter().any(|it| it.id == id) {
            return Err(Error::new(ErrorKind::NotFound, format!("there is no token `{}`", id.escape_debug()))
                .help("`orange-fleet token list` lists them; to replace the administrator's, remove the file tokens/admin and start the gateway again"));
        }
        let path = self.file(id);
        fs::remove_file(&path).map_err(|cause| Error::io("remove", &path, &cause))
    }

    /// Holder of this token. Every token takes the same time to compare.
    pub fn holder(&self, presented: &str) -> Option<TokenHolder> {
        self.look_again();
        let (id, secret) = parts(presented).unwrap_or_default();
        let hash: [u8; 32] = Sha256::digest(secret).into();
        let seen = self.seen.read().unwrap_or_else(PoisonError::into_inner);
        let (rights, known) = match seen.known.get(id) {
            Some(known) => (Some(&known.rights), &known.hash),
            None => (None, &[0; 32]),
        };
        let is_equal: bool = known.ct_eq(&hash).into();
        rights.filter(|_| is_equal).map(|rights| TokenHolder { id: id.to_owned(), rights: rights.clone() })
    }

    /// True if this token is still good for the same calls.
    pub fn stands(&self, holder: &TokenHolder) -> bool {
        self.rights_of(&holder.id).as_ref() == Some(&holder.rights)
    }

    /// Rights of the token of this id; `None` after it was revoked.
    pub fn rights_of(&self, id: &str) -> Option<Rights> {
        self.look_again();
        let seen = self.seen.read().unwrap_or_else(PoisonError::into_inner);
        seen.known.get(id).map(|it| it.rights.clone())
    }

    /// Name of the token of this id, which is that of its person; `None` after it was revoked.
    pub fn name_of(&self, id: &str) -> Option<String> {
        self.look_again();
        let seen = self.seen.read().unwrap_or_else(PoisonError::into_inner);
        seen.known.get(id).map(|it| it.name.clone())
    }

    /// Hears when tokens are made or revoked, as soon as somebody looks.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Key that signs the sessions of the console, equal on every gateway that has the same administrator's token.
    pub fn session_secret(&self) -> Vec<u8> {
        let seen = self.seen.read().unwrap_or_else(PoisonError::into_inner);
        let admin = seen.known.get(ADMIN).map(|it| it.hash).unwrap_or_default();
        Sha256::new().chain_update("orange-fleet sessions").chain_update(admin).finalize().to_vec()
    }

    /// Looks whether tokens were made or revoked.
    pub fn look_again(&self) {
        let modified = self.modified();
        let is_current = |(seen, looked): (SystemTime, SystemTime)| {
            seen == modified && looked.duration_since(seen).is_ok_and(|it| it > GRAIN)
        };
        let looked = self.seen.read().unwrap_or_else(PoisonError::into_inner).looked;
        if !looked.is_some_and(is_current)
            && let Err(error) = self.look(modified)
        {
            log::error!(cause = error.one_line().as_str(); "the tokens cannot be read");
        }
    }

    fn look(&self, modified: SystemTime) -> Result<()> {
        let listed = self.list()?;
        let with_hash = |it: StoredToken| {
            let hash = unhex(&it.hash)?;
            Some((it.id, KnownToken { name: it.name, rights: it.rights, hash }))
        };
        let mut known: BTreeMap<_, _> = listed.into_iter().filter_map(with_hash).collect();
        let admin = fs::read_to_string(self.folder.join(ADMIN)).unwrap_or_default();
        if let Some((ADMIN, secret)) = parts(admin.trim()) {
            let (name, hash) = (ADMIN.to_owned(), Sha256::digest(secret).into());
            known.insert(ADMIN.to_owned(), KnownToken { name, rights: Rights::Person, hash });
        }
        let mut seen = self.seen.write().unwrap_or_else(PoisonError::into_inner);
        let has_changed = seen.known != known;
        *seen = TokenCache { looked: Some((modified, SystemTime::now())), known };
        drop(seen);
        if has_changed {
            self.changes.send_replace(());
        }
        Ok(())
    }

    /// Time at which the last file was added or removed.
    fn modified(&self) -> SystemTime {
        fs::metadata(&self.folder).and_then(|it| it.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
    }

    fn file(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }
}

fn text(id: &str, secret: &str) -> String {
    format!("{PREFIX}_{id}_{secret}")
}

/// The id and the secret of a token.
fn parts(token: &str) -> Option<(&str, &str)> {
    let (id, secret) = token.strip_prefix(PREFIX)?.strip_prefix('_')?.split_once('_')?;
    (secret.len() == 64).then_some((id, secret))
}

/// Writes a file that only its owner reads, and that is not there yet.
fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()
}

fn secret() -> Result<String> {
    Ok(hex(&random::bytes::<32>()?))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn id(token: &str) -> &str {
        parts(token).unwrap().0
    }

    #[test]
    fn the_first_start_makes_a_token_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = Tokens::open(folder.path()).unwrap();
        let token = Tokens::admin(folder.path()).unwrap();
        assert_eq!(tokens.holder(&token), Some(TokenHolder { id: ADMIN.to_owned(), rights: Rights::Person }));
        let mode = |path: &str| fs::metadata(folder.path().join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("tokens"), mode("tokens/admin")), (0o700, 0o600));
        let again = Tokens::open(folder.path()).unwrap();
        assert!(again.holder(&token).is_some());
        assert_eq!(again.session_secret(), tokens.session_secret());
    }

    #[test]
    fn a_token_that_others_may_read_stops_the_start() {
        let folder = tempfile::tempdir().unwrap();
        Tokens::open(folder.path()).unwrap();
        let path = folder.path().join("tokens/admin");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = Tokens::open(folder.path()).unwrap_err();
        assert!(error.help.contains("chmod 600"), "{error:?}");
    }

    #[test]
    fn a_folder_into_which_others_write_stops_the_start() {
        let folder = tempfile::tempdir().unwrap();
        Tokens::open(folder.path()).unwrap();
        for mode in [0o777, 0o720, 0o702] {
            fs::set_permissions(folder.path().join("tokens"), fs::Permissions::from_mode(mode)).unwrap();
            for refused in [Tokens::open(folder.path()).map(drop), Tokens::check(folder.path())] {
                let error = refused.unwrap_err();
                assert!(error.help.contains("chmod 700"), "{mode:o}: {error:?}");
            }
        }
        fs::set_permissions(folder.path().join("tokens"), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(Tokens::open(folder.path()).is_ok());
    }

    #[test]
    fn tokens_count_at_once_and_until_they_are_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let (gateway, command) = (Tokens::open(folder.path()).unwrap(), Tokens::open(folder.path()).unwrap());
        let rights = Rights::Crab { colony: "c1".to_owned() };
        let token = command.make("crab on mill", rights.clone()).unwrap();
        assert_eq!(gateway.holder(&token), Some(TokenHolder { id: id(&token).to_owned(), rights }));
        let stored = fs::read_to_string(gateway.file(id(&token))).unwrap();
        assert!(!stored.contains(parts(&token).unwrap().1), "{stored}");
        assert!(gateway.rights_of(id(&token)).is_some());
        command.revoke(id(&token)).unwrap();
        assert_eq!(gateway.holder(&token), None);
        assert_eq!(gateway.rights_of(id(&token)), None);
        assert_eq!(command.revoke(id(&token)).unwrap_err().kind, ErrorKind::NotFound);
        assert_eq!(command.revoke(ADMIN).unwrap_err().kind, ErrorKind::NotFound);
        assert_eq!(command.revoke("../admin").unwrap_err().kind, ErrorKind::NotFound);
    }

    #[test]
    fn what_is_no_token_opens_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let tokens = Tokens::open(folder.path()).unwrap();
        let admin = Tokens::admin(folder.path()).unwrap();
        let other = tokens.make("x", Rights::Reader).unwrap();
        let mixed = text(ADMIN, parts(&other).unwrap().1);
        let zeros = text("nobody", &"0".repeat(64));
        for wrong in
            ["", "orange", "orange_admin_", &admin[..admin.len() - 1], &format!("{admin}0"), &mixed, &zeros]
        {
            assert_eq!(tokens.holder(wrong), None, "{wrong}");
        }
        assert!(tokens.make(" ", Rights::Reader).is_err() && tokens.make("a\nb", Rights::Reader).is_err());
    }
}
