//! The hash that pins a task to the definition of its workflow.

/// The hash of a workflow's source: FNV-1a, 64 bits, as 16 hexadecimal digits.
///
/// It covers every byte of the source, comments included, after a byte order mark at its start is dropped
/// and every `\r\n` is read as `\n`: a checkout with other line ends is the same definition.
pub fn source(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).as_bytes();
    let kept =
        text.iter().enumerate().filter(|(at, byte)| **byte != b'\r' || text.get(at + 1) != Some(&b'\n'));
    format!("{:016x}", fnv1a(kept.map(|(_, byte)| *byte)))
}

/// FNV-1a over bytes: <https://datatracker.ietf.org/doc/html/rfc9923>.
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.into_iter().fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_values() {
        assert_eq!(fnv1a(*b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(*b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(*b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn line_ends_and_a_byte_order_mark_do_not_matter_and_everything_else_does() {
        assert_eq!(source("\u{feff}a: 1\r\nb: 2\r\n"), source("a: 1\nb: 2\n"));
        assert_ne!(source("a: 1\rb: 2"), source("a: 1b: 2"));
        assert_ne!(source("a: 1 # x"), source("a: 1 # y"));
        assert_eq!(source("").len(), 16);
    }
}
