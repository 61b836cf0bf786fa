//! `tokens.json`: the tokens with which programs ask as declared actors. It has a hash of each, and never the token.

use std::hint::black_box;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::store::Home;
use crate::store::lock::{self, LockRank};
use crate::{Error, ErrorKind, Result};
use orange_system::files::if_found;
use orange_system::{atomic, clock, nofollow, random};

/// Prefix of every token, so that programs which look for secrets find one that was published.
const PREFIX: &str = "orange_";

/// The digits of a hash that name its token.
const ID_LENGTH: usize = 8;

/// A token, as far as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// The project whose tasks it is for.
    pub project: String,
    /// The actor that its holder asks as.
    pub actor: String,
    /// Time of its creation.
    pub created_at: String,
    /// The SHA-256 of the token.
    hash: String,
}

impl Token {
    /// Its name: the first digits of its hash.
    pub fn id(&self) -> &str {
        self.hash.get(..ID_LENGTH).unwrap_or(&self.hash)
    }

    fn is_for(&self, project: &str, actor: &str) -> bool {
        self.project == project && self.actor == actor
    }
}

/// Makes a token, and returns it with what is kept of it. Nobody can read it again.
pub fn make(home: &Home, project: &str, actor: &str) -> Result<(Token, String)> {
    let [high, low] = [random::bytes()?, random::bytes()?].map(u128::from_be_bytes);
    let secret = format!("{PREFIX}{high:032x}{low:032x}");
    let token = Token {
        project: project.to_owned(),
        actor: actor.to_owned(),
        created_at: clock::now(),
        hash: hash_of(&secret),
    };
    change(home, |tokens| tokens.push(token.clone()))?;
    Ok((token, secret))
}

/// Every token of a project, the oldest first.
pub fn of_project(home: &Home, project: &str) -> Result<Vec<Token>> {
    Ok(read(home)?.into_iter().filter(|token| token.project == project).collect())
}

/// Revokes the tokens of a project for which this holds, and returns them.
pub fn revoke(home: &Home, project: &str, is_revoked: impl Fn(&Token) -> bool) -> Result<Vec<Token>> {
    if of_project(home, project)?.is_empty() {
        return Ok(Vec::new());
    }
    change(home, |tokens| tokens.extract_if(.., |it| it.project == project && is_revoked(it)).collect())
}

/// True if this is a token of the actor for tasks of the project.
pub fn is_valid(home: &Home, project: &str, actor: &str, secret: &str) -> Result<bool> {
    let hash = hash_of(secret);
    let all = read(home)?;
    let of_actor = all.iter().filter(|token| token.is_for(project, actor));
    // Every token is compared, and every byte of it, so that the time says nothing about them.
    Ok(of_actor.fold(false, |found, token| found | is_same(&token.hash, &hash)))
}

/// The SHA-256 of a token, as hexadecimal digits.
pub fn hash_of(secret: &str) -> String {
    Sha256::digest(secret).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compares two texts in a time that depends on their lengths alone.
fn is_same(one: &str, other: &str) -> bool {
    let differences =
        one.bytes().zip(other.bytes()).fold(0, |sum, (one, other)| black_box(sum | (one ^ other)));
    one.len() == other.len() && differences == 0
}

fn read(home: &Home) -> Result<Vec<Token>> {
    let path = home.tokens_json();
    let bytes = if_found(&path, nofollow::read(&path, nofollow::LONGEST))?;
    bytes.map_or(Ok(Vec::new()), |bytes| {
        serde_json::from_slice(&bytes).map_err(|cause| {
            Error::new(ErrorKind::Corrupt, format!("cannot read {}: {cause}", path.display()))
                .help("correct it, or delete it: then no token is valid, and a person makes new ones")
        })
    })
}

fn change<T>(home: &Home, edit: impl FnOnce(&mut Vec<Token>) -> T) -> Result<T> {
    home.prepare()?;
    let path = home.tokens_json();
    let lock_file = path.with_file_name(".tokens.lock");
    let _lock = lock::acquire(home, &lock_file, LockRank::Projects, "the list of tokens")?;
    let mut tokens = read(home)?;
    let result = edit(&mut tokens);
    let mut text = serde_json::to_vec_pretty(&tokens).map_err(|cause| {
        Error::new(ErrorKind::Corrupt, format!("the tokens cannot be written down: {cause}"))
    })?;
    text.push(b'\n');
    atomic::write(&path, &text)?;
    Ok(result)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_token_is_valid_for_its_actor_in_its_project_until_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        assert!(!is_valid(&home, "toy", "ci", "").unwrap());
        let (token, secret) = make(&home, "toy", "ci").unwrap();
        let (_, other) = make(&home, "toy", "ci").unwrap();
        let valid = |project, actor, secret: &str| is_valid(&home, project, actor, secret).unwrap();
        assert!(valid("toy", "ci", &secret) && valid("toy", "ci", &other) && secret != other);
        assert!(!valid("tea", "ci", &secret) && !valid("toy", "bot", &secret));
        for wrong in ["", "orange_", &secret[1..], &format!("{secret}0"), &secret.to_uppercase()] {
            assert!(!valid("toy", "ci", wrong), "{wrong}");
        }
        assert_eq!(revoke(&home, "tea", |_| true).unwrap(), []);
        assert_eq!(revoke(&home, "toy", |it| it.id() == token.id()).unwrap(), [token]);
        assert!(!valid("toy", "ci", &secret) && valid("toy", "ci", &other));
    }

    #[test]
    fn only_the_owner_can_read_hashes_and_nobody_a_token() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        let (_, secret) = make(&home, "toy", "ci").unwrap();
        let file = home.tokens_json();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!fs::read_to_string(&file).unwrap().contains(secret.trim_start_matches(PREFIX)));
    }
}
