//! Every answer with `--json` that a test reads is compared with the schema that `docs/json` has for its command.

use orange_tests::schemas;
use serde_json::Value;

/// Compares an answer with the schema of its command: of the words before an option or a name.
#[track_caller]
pub(crate) fn check(args: &[&str], answer: &Value) {
    schemas::check(&name(args), answer);
}

fn name(args: &[&str]) -> String {
    let is_option = |word: &&str| word.starts_with('-');
    let has = |words: &[&str]| args.iter().any(|word| words.contains(word));
    let words: Vec<&str> =
        args.iter().copied().skip_while(is_option).take_while(|word| !is_option(word)).collect();
    if has(&["--help", "-h", "help"]) {
        return "help".to_owned();
    }
    if has(&["--version", "-V"]) {
        return "version".to_owned();
    }
    let words = if words.is_empty() { vec!["ls"] } else { words };
    let known =
        (1..=words.len()).rev().map(|count| words[..count].join("-")).find(|name| schemas::exists(name));
    known.unwrap_or_else(|| panic!("docs/json has no schema for the answer of `orange {}`", args.join(" ")))
}
