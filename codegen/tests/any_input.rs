//! Any input at all: no panic, no hang, and every place that a finding names is one of the text.

use orange_codegen::{Format, Level, fuzzing};
use proptest::prelude::*;

const SEEDS: [(&str, Format); 3] = [
    (include_str!("../../tests/fixtures/seed-default.yml"), Format::Yaml),
    (include_str!("../../tests/fixtures/seed-minimal.yml"), Format::Yaml),
    (include_str!("../../tests/fixtures/dev-task.toml"), Format::Toml),
];

/// Pieces that mean something somewhere.
const PIECES: [&str; 42] = [
    "\t",
    "\n",
    "\r\n",
    "\u{feff}",
    "é",
    "日本",
    "😀",
    "\"",
    "'",
    "{",
    "}",
    "[",
    "]",
    ":",
    ": ",
    "- ",
    "? ",
    "#",
    " #",
    "&a ",
    "*a",
    "<<: *a",
    "!!str ",
    "---\n",
    "...\n",
    "|\n",
    ">-\n",
    "|2\n",
    "\\",
    "\\u00e9",
    "\\\n",
    "%",
    "@",
    "`",
    "\0",
    "\u{85}",
    "\u{2028}",
    "  ",
    "''",
    "=",
    "# orange: allow(S07, S07) why\n",
    " # orange: allow(",
];

/// Pieces of guards.
const CLAUSES: [&str; 24] = [
    "review_round",
    "r",
    " ",
    "<",
    "<=",
    "=<",
    ">",
    ">=",
    "==",
    "=",
    "!",
    "!=",
    "&&",
    "&",
    "||",
    "|",
    "(",
    ")",
    "and",
    "2",
    "99999999999",
    "-1",
    "é",
    "\n",
];

#[derive(Clone, Debug)]
enum TextChange {
    Insert(usize, &'static str),
    Delete(usize, usize),
    Repeat(usize, usize),
    Cut(usize),
}

fn change() -> impl Strategy<Value = TextChange> {
    prop_oneof![
        (any::<usize>(), prop::sample::select(&PIECES[..]))
            .prop_map(|(at, piece)| TextChange::Insert(at, piece)),
        (any::<usize>(), 1usize..40).prop_map(|(at, len)| TextChange::Delete(at, len)),
        (any::<usize>(), 1usize..200).prop_map(|(at, len)| TextChange::Repeat(at, len)),
        any::<usize>().prop_map(TextChange::Cut),
    ]
}

fn apply(text: &str, changes: &[TextChange]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for change in changes {
        let len = chars.len();
        let place = |at: &usize| at % (len + 1);
        match change {
            TextChange::Insert(at, piece) => {
                let at = place(at);
                chars.splice(at..at, piece.chars());
            }
            TextChange::Delete(at, count) => {
                let at = place(at);
                chars.drain(at..(at + count).min(len));
            }
            TextChange::Repeat(at, count) => {
                let at = place(at);
                let again: Vec<char> = chars[at..(at + count).min(len)].to_vec();
                chars.splice(at..at, again);
            }
            TextChange::Cut(at) => chars.truncate(place(at)),
        }
    }
    chars.into_iter().collect()
}

/// `ORANGE_FUZZ_CASES` asks for more.
fn config() -> ProptestConfig {
    let cases = std::env::var("ORANGE_FUZZ_CASES").ok().and_then(|it| it.parse().ok());
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases.unwrap_or(400)) }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn mutated_workflows(seed in 0usize..3, changes in prop::collection::vec(change(), 1..8), other in any::<bool>()) {
        let (text, format) = SEEDS[seed];
        let format = match (other, format) {
            (false, format) => format,
            (true, Format::Yaml) => Format::Toml,
            (true, Format::Toml) => Format::Yaml,
        };
        fuzzing::any_source(format, apply(text, &changes).as_bytes());
    }

    #[test]
    fn pieces_of_yaml_and_toml(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60)) {
        let text = pieces.concat();
        fuzzing::any_source(Format::Yaml, text.as_bytes());
        fuzzing::any_source(Format::Toml, text.as_bytes());
        fuzzing::any_source(Format::Yaml, format!("name: a\nstates:\n  b: {text}\nprompts:\n  c: \"{{x}} {text}\"\n").as_bytes());
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        fuzzing::any_source(Format::Yaml, &bytes);
        fuzzing::any_source(Format::Toml, &bytes);
    }

    #[test]
    fn any_guard(text in any::<String>(), pieces in prop::collection::vec(prop::sample::select(&CLAUSES[..]), 0..30)) {
        fuzzing::any_guard(&text);
        fuzzing::any_guard(&pieces.concat());
        let quoted = pieces.concat().replace('\n', "\\n").replace('"', "");
        let workflow = format!("name: a\nstates: {{b: {{}}}}\ntransitions:\n  - {{from: b, to: b, when: \"{quoted}\"}}\n");
        fuzzing::any_source(Format::Yaml, workflow.as_bytes());
    }
}

#[test]
fn the_seeds_compile() {
    for (text, format) in SEEDS {
        let compilation = fuzzing::any_source(format, text.as_bytes()).expect("text");
        // The prompts of steps are in files, and a text alone has none.
        let found = compilation.diagnostics.iter().filter(|it| it.code() != "B18");
        assert!(found.clone().all(|it| it.level > Level::Error), "{:#?}", found.collect::<Vec<_>>());
    }
}
