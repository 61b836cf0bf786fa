//! Results that the prompt of a step asks for: the words behind `--result`, and lists such as `Report PASS or FAIL`.

use std::ops::Range;

/// Words that stand for a result in examples of a command.
const PLACEHOLDERS: [&str; 6] = ["RESULT", "RESULTS", "WORD", "VALUE", "VERDICT", "X"];

/// Words before a list of results.
const BEFORE: [&str; 4] = ["report", "reports", "result", "results"];

/// Words that a text asks for as the result of its step. A list counts if one of its words is declared, or if the text has no declared
/// word at all: other words in capitals may be what the agent writes about.
pub fn asked_results<'t>(text: &'t str, declared: &[&str]) -> Vec<&'t str> {
    let is_declared = |it: &&str| declared.contains(it);
    let has_declared = text.split(|it| !is_part(it)).any(|it| declared.contains(&it));
    let lists = lists(text).filter(|list| !has_declared || list.iter().any(is_declared));
    let mut asked: Vec<&str> = given(text).chain(lists.flatten()).collect();
    let mut known = Vec::new();
    asked.retain(|it| {
        !known.contains(it) && {
            known.push(*it);
            true
        }
    });
    asked
}

/// The words behind `--result` of `orange step complete`, as bytes of the text.
pub fn result_names(text: &str) -> impl Iterator<Item = Range<usize>> {
    given(text).map(|word| {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        start..start + word.len()
    })
}

/// The words behind `--result` of `orange step complete`.
fn given(text: &str) -> impl Iterator<Item = &str> {
    let calls = text.lines().filter_map(|line| line.split_once("step complete"));
    let values = calls.flat_map(|(_, line)| line.split("--result").skip(1));
    let values = values.filter_map(|it| it.strip_prefix([' ', '=']));
    values.flat_map(|value| {
        let value = value.trim_start_matches([' ', '"', '\'', '`']);
        let (inside, is_open) = match value.strip_prefix(['<', '{', '[', '(']) {
            Some(inside) => (inside, true),
            None => (value, false),
        };
        let end = inside.find(|it| !is_part(it) && !matches!(it, '|' | '/')).unwrap_or(inside.len());
        let words: Vec<&str> = inside[..end].split(['|', '/']).filter(|it| !it.is_empty()).collect();
        let is_for_reader = is_open && words.len() < 2;
        words.into_iter().filter(move |it| !is_for_reader && !PLACEHOLDERS.contains(it))
    })
}

/// Lists of two or more words in capitals behind `report` or `result`.
fn lists(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let is_before = |word: &str| BEFORE.iter().any(|it| it.eq_ignore_ascii_case(word));
    let starts = text.split_inclusive([' ', '\n', ':']).scan(0, |at, word| {
        *at += word.len();
        Some((word.trim_end_matches([' ', '\n', ':']), *at))
    });
    let lists = starts.filter(move |(word, _)| is_before(word)).map(|(_, at)| list(&text[at..]));
    lists.filter(|it| it.len() > 1)
}

/// The words in capitals at the start of a text, with `or`, commas, `|` or `/` between them.
fn list(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start_matches([' ', ':']);
    loop {
        let quoted = rest.trim_start_matches(['`', '"', '\'', '*']);
        let word = &quoted[..quoted.find(|it| !is_part(it)).unwrap_or(quoted.len())];
        if word.len() < 2 || !word.bytes().all(|it| it.is_ascii_uppercase() || matches!(it, b'_' | b'-')) {
            return words;
        }
        words.push(word);
        let behind = quoted[word.len()..].trim_start_matches(['`', '"', '\'', '*']);
        let next =
            [", or ", " or ", ", ", "/", "|", " | ", " / "].iter().find_map(|it| behind.strip_prefix(it));
        match next {
            Some(next) => rest = next,
            None => return words,
        }
    }
}

fn is_part(it: char) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, '_' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        assert_eq!(asked_results(text, &["PASS", "FAIL"]), expect, "{text}");
    }

    #[test]
    fn results_of_commands_and_lists_are_read() {
        check("orange step complete --result APPROVED --summary -", &["APPROVED"]);
        check("`orange step complete --result=OK|NO`", &["OK", "NO"]);
        check("orange step complete --result <PASS|BLOCKED>", &["PASS", "BLOCKED"]);
        check("Do the tests pass? Report APPROVED or REJECTED. {{context}}", &["APPROVED", "REJECTED"]);
        check("Report `PASS`, `FAIL`, or `UNSURE`.", &["PASS", "FAIL", "UNSURE"]);
        check("The result: YES/NO", &["YES", "NO"]);
    }

    #[test]
    fn other_words_in_capitals_are_none() {
        check("orange step complete --result RESULT --summary -", &[]);
        check("orange step complete --result <result>, --result {word}", &[]);
        check("pytest --result json; orange step complete --results all", &[]);
        check("Report SQL or XSS injections. Then end with PASS or FAIL.", &[]);
        check("Report URL and TODO. Report TODO comments.", &[]);
        check("A report is written. Report", &[]);
    }

    #[test]
    fn odd_prompts_are_read_without_panic() {
        let odd = ["--result", " ", "é", "`", "report ", "\n", "|", "<", "A", "step complete"];
        for first in odd {
            for second in odd {
                check(&[first, second, "—", first, second].concat().to_lowercase(), &[]);
                asked_results(&[first, second, first, "PASS or é", second].concat(), &["PASS"]);
            }
        }
    }
}
