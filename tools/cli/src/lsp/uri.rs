//! Addresses of documents and paths of files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const FILE: &str = "file://";

/// The path of a document; the address itself where it is not a file, which is not an absolute path.
pub(super) fn path(uri: &str) -> PathBuf {
    match uri.strip_prefix(FILE).map(|it| it.strip_prefix("localhost").unwrap_or(it)) {
        Some(path) if path.starts_with('/') => PathBuf::from(decoded(path)),
        Some(_) | None => PathBuf::from(uri),
    }
}

/// The address of a file.
pub(super) fn of(path: &Path) -> String {
    if !path.is_absolute() {
        return path.to_string_lossy().into_owned();
    }
    let mut uri = FILE.to_owned();
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            _ => {
                // Writing into a string cannot fail.
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

/// A text in which each byte that a query cannot have is written as `%XX`.
pub(super) fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => {
                // Writing into a string cannot fail.
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded
}

/// A text with each `%XX` as the byte that it stands for.
pub(super) fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = after.get(..2).and_then(|it| std::str::from_utf8(it).ok());
        match hex.filter(|_| *first == b'%').and_then(|it| u8::from_str_radix(it, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(uri: &str, expect: &str) {
        assert_eq!(path(uri), Path::new(expect));
    }

    #[test]
    fn a_file_has_a_path_and_other_documents_keep_their_address() {
        check("file:///a/b.yml", "/a/b.yml");
        check("file://localhost/a/b.yml", "/a/b.yml");
        check("file:///a%20b/%C3%B1.yml", "/a b/ñ.yml");
        check("file:///100%25/%zz%", "/100%/%zz%");
        check("untitled:Untitled-1", "untitled:Untitled-1");
        check("file://host/a.yml", "file://host/a.yml");
    }

    #[test]
    fn the_address_of_a_path_leads_back_to_it() {
        for of_file in ["/a/b.yml", "/a b/ñ#?.yml", "/100%/%20", "untitled:1"] {
            assert_eq!(path(&of(Path::new(of_file))), Path::new(of_file));
        }
    }
}
