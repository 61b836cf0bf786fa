//! Somebody types every workflow of the repository and deletes it again.

use orange_codegen::editor_lines::Encoding;
use serde_json::json;

use super::super::sync::edited;
use super::super::wire;
use super::text::change;
use super::*;

/// The keystrokes of one file that are looked at where not all are.
const SAMPLE: usize = 24;

/// The position of the end of a text, counted character by character.
fn end(text: &str, encoding: Encoding) -> [u32; 2] {
    let (mut line, mut column) = (0, 0);
    let mut characters = text.chars().peekable();
    while let Some(it) = characters.next() {
        match it {
            '\n' => (line, column) = (line + 1, 0),
            '\r' if characters.peek() != Some(&'\n') => (line, column) = (line + 1, 0),
            '\r' => {}
            _ => {
                column += match encoding {
                    Encoding::Utf8 => it.len_utf8(),
                    Encoding::Utf16 => it.len_utf16(),
                };
            }
        }
    }
    [line, column as u32]
}

/// The places of a text at which the test looks: after each character, or a sample of them.
fn places(text: &str) -> Vec<usize> {
    let ends = text.char_indices().map(|(at, it)| at + it.len_utf8());
    // A line end of two characters is one key.
    let all: Vec<usize> = ends.filter(|at| text.get(at - 1..at + 1) != Some("\r\n")).collect();
    let step = if is_whole() { 1 } else { (all.len() / SAMPLE).max(1) };
    // A sample with an odd step sees every column in the end.
    all.iter().copied().skip(step / 3).step_by(step | 1).chain(all.last().copied()).collect()
}

/// Findings of `check` in a file, as code and position.
fn found_by_check(path: &str, text: &str, encoding: Encoding) -> Vec<(String, wire::Range)> {
    let source = orange_codegen::Source::new(path, text)
        .with_files(orange_codegen::PromptFiles::beside(std::path::Path::new(path)));
    let lines = convert_lines(text, encoding);
    let found = orange_analysis::lint(&source).diagnostics;
    let found = found.iter().filter(|it| it.level != orange_codegen::Level::Allow);
    found.map(|it| (it.code().to_owned(), lines.range(it.span))).collect()
}

fn convert_lines(text: &str, encoding: Encoding) -> super::super::convert::Lines<'_> {
    super::super::convert::Lines::new(text, encoding)
}

fn variants(text: &str) -> [String; 2] {
    [text.to_owned(), text.replace('\n', "\r\n")]
}

#[test]
fn texts_are_equal_after_every_key() {
    for path in files(&["workflows", "tests/realistic"]) {
        for text in variants(&std::fs::read_to_string(&path).unwrap()) {
            for encoding in [Encoding::Utf8, Encoding::Utf16] {
                let mut before = 0;
                for at in places(&text) {
                    let [line, column] = end(&text[..before], encoding);
                    let typed = change([line, column, line, column], &text[before..at]);
                    assert_eq!(edited(&text[..before], vec![typed], encoding), text[..at]);
                    let [last, end] = end(&text[..at], encoding);
                    let deleted = change([line, column, last, end], "");
                    assert_eq!(edited(&text[..at], vec![deleted], encoding), text[..before]);
                    before = at;
                }
            }
        }
    }
}

/// Types a file, deletes its second half and types that again.
fn type_file(path: &std::path::Path, text: &str, encoding: Encoding) {
    let uri = uri::of(path);
    let mut server = TestServer::with(encoding, Value::Null);
    server.open(&uri, "yaml", 0, "");
    let mut version = 0;
    let mut shown = -1;
    let places = places(text);
    let back: Vec<usize> = places[places.len() / 2..].iter().rev().copied().collect();
    let steps = places.iter().chain(&back).chain(&places[places.len() / 2..]);
    let mut before = 0;
    for at in steps.copied() {
        version += 1;
        let (from, to) = (before.min(at), before.max(at));
        let [l0, c0] = end(&text[..from], encoding);
        let edit = match at > before {
            true => change([l0, c0, l0, c0], &text[from..to]),
            false => {
                let [l1, c1] = end(&text[..to], encoding);
                change([l0, c0, l1, c1], "")
            }
        };
        server.change(&uri, version, json!([edit]));
        before = at;
        if version % 16 == 0 {
            server.status();
            for published in server.published() {
                let of = published.version.unwrap();
                assert!(of >= shown && of <= version, "{of} after {shown} of {version}");
                shown = of;
            }
        }
    }
    server.save(&uri);
    server.idle();
    let last = server.published().pop().unwrap();
    assert_eq!(last.version, Some(version));
    let found: Vec<_> = last.diagnostics.iter().map(|it| (code_of(it).to_owned(), it.range)).collect();
    assert_eq!(found, found_by_check(&path.to_string_lossy(), text, encoding), "{}", path.display());
}

#[test]
fn the_last_findings_are_those_of_check() {
    let workflows = files(&["workflows", "tests/realistic"]);
    let workflows = workflows.iter().filter(|it| !orange_codegen::source::is_scenario_file(it));
    for (number, path) in workflows.enumerate() {
        let texts = variants(&std::fs::read_to_string(path).unwrap());
        for (at, text) in texts.iter().enumerate() {
            for encoding in [Encoding::Utf8, Encoding::Utf16] {
                // Each file in one of four variants; all of them see each one.
                let is_turn = (number + at * 2 + usize::from(encoding == Encoding::Utf8)) % 4 == 0;
                if is_turn || is_whole() {
                    type_file(path, text, encoding);
                }
            }
        }
    }
}
