//! Ids of tasks: 21 characters that are safe in paths, branches, shells and tmux targets.

use orange_system::random;

use crate::Result;

/// The length of an id: 108 random bits.
pub const LENGTH: usize = 21;

const ALPHABET: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// A new, random id.
pub fn new() -> Result<String> {
    let mut id = String::with_capacity(LENGTH);
    while id.len() < LENGTH {
        id.extend(random::bytes::<32>()?.into_iter().filter_map(letter).take(LENGTH - id.len()));
    }
    Ok(id)
}

/// A random UUID (version 4), for harnesses that require one.
pub fn uuid() -> Result<String> {
    let mut bytes: [u8; 16] = random::bytes()?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let digits = format!("{:032x}", u128::from_be_bytes(bytes));
    let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
    Ok(parts.join("-"))
}

/// True if this could be an id, or the beginning of one.
pub fn is_prefix(text: &str) -> bool {
    (1..=LENGTH).contains(&text.len()) && text.bytes().all(|byte| ALPHABET.contains(&byte))
}

/// The letter for a random byte; `None` for bytes that would make some letters more likely than others.
fn letter(byte: u8) -> Option<char> {
    const FAIR: u8 = 252;
    (byte < FAIR).then(|| char::from(ALPHABET[usize::from(byte) % ALPHABET.len()]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_uuid_has_its_form() {
        let uuid = uuid().unwrap();
        let lengths: Vec<usize> = uuid.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert!(uuid.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit()), "{uuid}");
        assert_eq!(&uuid[14..15], "4");
        assert_ne!(uuid, super::uuid().unwrap());
    }

    #[test]
    fn ids_differ_and_are_safe() {
        let ids: BTreeSet<String> = (0..1000).map(|_| new().unwrap()).collect();
        assert_eq!(ids.len(), 1000);
        assert!(ids.iter().all(|id| id.len() == LENGTH && is_prefix(id)));
        let used: BTreeSet<char> = ids.iter().flat_map(|id| id.chars()).collect();
        assert_eq!(used.len(), ALPHABET.len(), "every letter occurs");
    }

    #[test]
    fn prefixes_are_no_other_words() {
        assert!(is_prefix("a"));
        assert!(!is_prefix(""));
        assert!(!is_prefix("../x"));
        assert!(!is_prefix("-a"));
        assert!(!is_prefix("abcdefghijklmnopqrstuv"));
    }
}
