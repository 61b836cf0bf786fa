//! Transcripts of agents: the file of the harness, and the recording of the pane.

mod find;
pub mod pane;
pub mod pattern;
pub mod spent;
pub mod turns;

pub use find::{FoundConversation, Sought, find, read};

/// True if this can be the id of a conversation, and not an option or a path.
pub fn is_id(text: &str) -> bool {
    const LONGEST: usize = 128;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    text.len() <= LONGEST
        && text.bytes().all(plain)
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_no_option_and_no_path() {
        for id in ["01a2037d-18d1-745a-9b9d-ec0891f3e1a9", "ses_dfc82d34affegTbEPkgJC0NHdY", "7"] {
            assert!(is_id(id), "{id}");
        }
        let long = "x".repeat(129);
        for other in ["", "-c", "--help", "_x", "a/b", "..", "a b", "a;b", "$(a)", "a\n", "é", long.as_str()]
        {
            assert!(!is_id(other), "{other}");
        }
    }
}
