//! Names of branches that are made from texts.

/// The words of a text in lower case with hyphens between them, at most `longest` letters, digits and hyphens of ASCII; empty for
/// a text without any. A word is cut only if it is the first.
pub fn slug(text: &str, longest: usize) -> String {
    let mut slug = String::new();
    for word in text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        let word = word.to_ascii_lowercase();
        if slug.is_empty() {
            slug = word.chars().take(longest).collect();
        } else if slug.len() + 1 + word.len() <= longest {
            slug = format!("{slug}-{word}");
        } else {
            break;
        }
    }
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_short_and_ascii() {
        for (text, expect) in [
            ("Implement the login form", "implement-the-login-form"),
            ("  `a/b`?\tNo! ", "a-b-no"),
            ("-v is ignored..lock~^:", "v-is-ignored-lock"),
            ("漢字 日本", ""),
            ("HEAD", "head"),
            ("one two three four five six", "one-two-three-four-five"),
            ("abcdefghijklmnopqrstuvwxyz more", "abcdefghijklmnopqrstuvwx"),
            ("", ""),
        ] {
            assert_eq!(slug(text, 24), expect, "{text}");
        }
    }
}
