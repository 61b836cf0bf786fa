//! "Did you mean": the known word that is closest to an unknown one.

/// Longer words are not compared: nobody mistypes them by two letters.
const MAX_WORD: usize = 64;

/// Largest number of known words that a message lists.
const MAX_LIST: usize = 13;

/// The known word at most two edits away (insert, delete, replace, swap), or equal but for case, `-` and `_`.
/// The first of the closest wins.
pub fn closest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if word.is_empty() || word.len() > MAX_WORD {
        return None;
    }
    // Two edits turn any word of three letters into half of all others, and one edit any letter into any other.
    let allowed = (word.chars().count() / 2).min(2);
    let near = known.into_iter().filter(|it| it.len().abs_diff(word.len()) <= 2 * 4 && it.len() <= MAX_WORD);
    near.map(|it| (distance(word, it), it))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, it)| it)
}

/// The known word that [`closest`] gives, when no other is as close: nothing else can have been meant.
pub fn only<'k>(word: &str, known: impl IntoIterator<Item = &'k str> + Clone) -> Option<&'k str> {
    let close = closest(word, known.clone())?;
    let allowed = distance(word, close);
    let others = known.into_iter().filter(|it| *it != close && it.len() <= MAX_WORD);
    others.map(|it| distance(word, it)).all(|it| it > allowed).then_some(close)
}

/// A help for an unknown word: the closest known one, else all of them when they are few.
/// `kind` is what they are, in the plural.
pub fn help<'k>(word: &str, kind: &str, known: impl IntoIterator<Item = &'k str> + Clone) -> Option<String> {
    match closest(word, known.clone()) {
        Some(close) => Some(format!("did you mean `{close}`?")),
        None => list(known).map(|all| format!("the {kind} are {all}")),
    }
}

/// The words in a row, when they are few enough to read.
pub(crate) fn list<'k>(known: impl IntoIterator<Item = &'k str>) -> Option<String> {
    let words: Vec<String> = known.into_iter().take(MAX_LIST + 1).map(|it| format!("`{it}`")).collect();
    (1..=MAX_LIST).contains(&words.len()).then(|| words.join(", "))
}

/// The number of edits between two words; none if they are equal but for case, `-` and `_`.
pub fn distance(word: &str, known: &str) -> usize {
    if alike(word, known) { 0 } else { strsim::damerau_levenshtein(word, known) }
}

fn alike(a: &str, b: &str) -> bool {
    let same =
        |a: u8, b: u8| a.eq_ignore_ascii_case(&b) || (matches!(a, b'-' | b'_') && matches!(b, b'-' | b'_'));
    a.len() == b.len() && a.bytes().zip(b.bytes()).all(|(a, b)| same(a, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expect: Option<&str>) {
        assert_eq!(closest(word, ["working", "agent-review", "reviewing", "done", "qa"]), expect, "{word}");
    }

    #[test]
    fn two_edits_are_close() {
        check("wroking", Some("working"));
        check("reveiwing", Some("reviewing"));
        check("agent_review", Some("agent-review"));
        check("DONE", Some("done"));
        check("dnoe", Some("done"));
    }

    #[test]
    fn more_are_not() {
        check("stuck", None);
        check("zz", None);
        check("", None);
        assert_eq!(closest("d", ["a", "b"]), None);
        assert_eq!(closest("A", ["a", "b"]), Some("a"));
        check(&"w".repeat(100), None);
    }

    #[test]
    fn two_that_are_as_close_are_no_answer() {
        assert_eq!(only("wroking", ["working", "done"]), Some("working"));
        assert_eq!(only("wroking", ["working", "done", "working"]), Some("working"));
        assert_eq!(only("stat", ["start", "state"]), None);
        assert_eq!(only("zz", ["working"]), None);
    }

    #[test]
    fn a_help_lists_what_there_is() {
        assert_eq!(help("x", "states", ["a12", "b12"]).as_deref(), Some("the states are `a12`, `b12`"));
        assert_eq!(help("a13", "states", ["a12", "b12"]).as_deref(), Some("did you mean `a12`?"));
        assert_eq!(list(["a"; MAX_LIST + 1]), None);
    }
}
