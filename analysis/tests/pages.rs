//! Each check's page is its test: the first example fires with exactly the output below it, the mended one does not. The
//! page of a lint shows a near miss between them, which does not fire either. A page about two workflows begins with the old
//! one, and all the others are new ones in its place.
//!
//! `ORANGE_REWRITE=1 cargo test -p orange-analysis --test pages` writes the outputs again.

#![expect(clippy::expect_used, reason = "a test that cannot read its pages has failed")]

use std::fs;
use std::path::{Path, PathBuf};

use orange_analysis::catalogue::{self, Check};
use orange_analysis::evolution::{self, ChangeFinding, Side};
use orange_analysis::{every_finding, lint};
use orange_codegen::plain::Renderer;
use orange_codegen::{Level, Source};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/lints")
}

/// The fenced blocks of a page: language, text, and where the text stands.
fn blocks(page: &str) -> Vec<(&str, std::ops::Range<usize>)> {
    let mut blocks = Vec::new();
    let mut at = 0;
    while let Some(open) = page[at..].find("```") {
        let language = at + open + 3;
        let start = language + page[language..].find('\n').expect("a block has lines") + 1;
        let end = start + page[start..].find("```").expect("a block ends");
        blocks.push((page[language..start].trim(), start..end));
        at = end + 3;
    }
    blocks
}

fn source(language: &str, text: &str) -> Source {
    Source::new(if language == "toml" { "flow.toml" } else { "flow.yml" }, text)
}

fn output(check: &Check, language: &str, text: &str) -> String {
    let source = source(language, text);
    let renderer = Renderer::new(&source);
    let found = every_finding(&source).diagnostics;
    let of_check = found.iter().filter(|it| it.code() == check.code);
    of_check.map(|it| renderer.render(it) + "\n").collect::<Vec<_>>().join("\n")
}

#[test]
fn every_page_fires_as_it_says_and_mends_what_it_shows() {
    let rewrite = std::env::var_os("ORANGE_REWRITE").is_some();
    for check in catalogue::all().iter().filter(|it| !is_about_two(it)) {
        let path = folder().join(format!("{}.md", check.name));
        let page = fs::read_to_string(&path).expect("every check has a page");
        assert!(
            page.starts_with(&format!("# {} {}\n\n", check.code, check.name)),
            "the title of {}",
            check.name
        );
        let blocks = blocks(&page);
        let [(bad, bad_text), (_, printed), silent @ ..] = &blocks[..] else {
            panic!("{}: an example and its output", check.name)
        };
        let expected = if lint::lints().any(|it| it.page.0 == *check) { 2 } else { 1 };
        assert_eq!(silent.len(), expected, "{}: what does not fire", check.name);
        let now = output(check, bad, &page[bad_text.clone()]);
        assert!(!now.is_empty(), "{}: the example does not fire", check.name);
        if rewrite {
            let page = format!("{}{now}{}", &page[..printed.start], &page[printed.end..]);
            fs::write(&path, page).expect("a page can be written");
        } else {
            assert_eq!(&page[printed.clone()], now, "{}: another output", check.name);
        }
        for (language, text) in silent {
            let found = every_finding(&source(language, &page[text.clone()])).diagnostics;
            let worst = found.iter().map(|it| it.level).min();
            assert!(worst.is_none_or(|it| it > Level::Deny), "{}: {found:#?}", check.name);
            let now = output(check, language, &page[text.clone()]);
            assert_eq!(now, "", "{}: the example that should not fire does", check.name);
        }
    }
}

/// The checks that read text of prompts, and the codes of those that read comparisons or calls there.
const OF_TEXT: [&str; 16] = [
    "B28", "B29", "C2A", "C2B", "C80", "C81", "C82", "C85", "C86", "C87", "C88", "C8B", "C8C", "C8D", "C8E",
    "D02",
];
const OF_COMPARISONS: [&str; 3] = ["C2A", "C2B", "C85"];
const OF_CALLS: [&str; 3] = ["B28", "C8C", "C8E"];
const OF_PROGRAMS: [&str; 1] = ["C8D"];
const OF_ORDERS: [&str; 1] = ["B29"];

#[test]
fn checks_that_read_text_are_called_heuristics_and_never_deny() {
    for check in catalogue::all() {
        let page = catalogue::page(check).replace('\n', " ");
        let reads = if OF_COMPARISONS.contains(&check.code) {
            "comparisons of a counter with a number,"
        } else if OF_CALLS.contains(&check.code) {
            "calls of `orange`"
        } else if OF_PROGRAMS.contains(&check.code) {
            "calls of programs that need the network"
        } else if OF_ORDERS.contains(&check.code) {
            "orders to fix something (`fix`, `mend`, `correct` and the like),"
        } else {
            "complete commands (`orange task update … --status STATE`), headings (`## Section`), verdicts (`Verdict: WORD`, `PASS`, `FAIL`) \
             and fields of gates,"
        };
        let says_so = page.contains(&format!(
            "This check is a heuristic: in a prompt it reads {reads} wherever they stand, and no other words. No proof rests on it."
        ));
        assert_eq!(says_so, OF_TEXT.contains(&check.code), "{}", check.name);
        assert!(!says_so || check.level > Level::Deny, "{}", check.name);
    }
}

fn is_about_two(check: &Check) -> bool {
    evolution::KINDS.iter().any(|it| it.page.0 == check)
}

/// Findings of the check when the one text takes the place of the other; both must compile.
fn changes(check: &Check, old: &str, new: &str) -> String {
    let [old, new] = [("old.yml", old), ("new.yml", new)].map(|(path, text)| {
        let source = Source::new(path, text);
        let checked = orange_codegen::compile(&source).checked.expect("both workflows are sound");
        (source, checked)
    });
    let comparison = evolution::compare((&old.1, &old.0), (&new.1, &new.0)).expect("state machines");
    let of_check = comparison.changes.iter().filter(|it| it.finding.check == check);
    of_check.map(|it| printed(it, &old.0, &new.0)).collect::<Vec<_>>().join("\n")
}

fn printed(change: &ChangeFinding, old: &Source, new: &Source) -> String {
    let (here, there) = if change.side == Side::Old { (old, new) } else { (new, old) };
    let finding = Renderer::new(here).render(&change.finding);
    let counterpart = change.counterpart.iter().map(|it| Renderer::new(there).place(it));
    [finding].into_iter().chain(counterpart).map(|it| it + "\n").collect()
}

#[test]
fn every_page_about_two_workflows_fires_as_it_says() {
    let rewrite = std::env::var_os("ORANGE_REWRITE").is_some();
    for check in evolution::KINDS.iter().map(|it| it.page.0) {
        let path = folder().join(format!("{}.md", check.name));
        let page = fs::read_to_string(&path).expect("every check has a page");
        assert!(page.starts_with(&format!("# {} {}\n\n", check.code, check.name)), "{}", check.name);
        let blocks = blocks(&page);
        let [(_, old), (_, new), (_, printed), (_, near), (_, mended)] = &blocks[..] else {
            panic!("{}: the old one, the new one, the output, a near miss, a mended one", check.name)
        };
        let text = |range: &std::ops::Range<usize>| &page[range.clone()];
        let now = changes(check, text(old), text(new));
        assert!(!now.is_empty(), "{}: the example does not fire", check.name);
        if rewrite {
            let page = format!("{}{now}{}", &page[..printed.start], &page[printed.end..]);
            fs::write(&path, page).expect("a page can be written");
        } else {
            assert_eq!(text(printed), now, "{}: another output", check.name);
        }
        for silent in [near, mended] {
            assert_eq!(
                changes(check, text(old), text(silent)),
                "",
                "{}: fires where it should not",
                check.name
            );
        }
    }
}

#[test]
fn every_page_belongs_to_a_check() {
    let pages = fs::read_dir(folder()).expect("the folder of the pages");
    for page in pages.map(|it| it.expect("an entry").path()) {
        let stem = page.file_stem().and_then(|it| it.to_str()).expect("a name");
        let is_index = stem == "README";
        assert!(is_index || catalogue::find(stem).is_some(), "{stem} is the page of no check");
    }
}

#[test]
fn codes_and_names_are_there_once_and_lead_back() {
    for (at, check) in catalogue::all().iter().enumerate() {
        assert_eq!(catalogue::find(check.code), Some(*check));
        assert_eq!(catalogue::find(&check.code.to_lowercase()), Some(*check));
        assert_eq!(catalogue::find(check.name), Some(*check));
        assert!(
            !catalogue::summary(check).is_empty() && !catalogue::summary(check).contains('\n'),
            "{}",
            check.name
        );
        assert!(catalogue::all()[..at].iter().all(|it| it.code != check.code && it.name != check.name));
    }
    assert_eq!(catalogue::find("nothing"), None);
}
