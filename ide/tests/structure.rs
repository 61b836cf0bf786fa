//! Outline, folds, selections, links and tokens, as values and over the workflows that ship.

#![expect(clippy::expect_used, reason = "a test without its files has failed")]

use std::fs;
use std::path::{Path, PathBuf};

use orange_codegen::PromptFiles;
use orange_codegen::model::keys::{NameKind, PromptKind};
use orange_ide::links::links;
use orange_ide::outline::{OutlineEntry, outline};
use orange_ide::ranges::{folds, selections};
use orange_ide::tokens::{Token, TokenKind, in_prompt_file, tokens};
use orange_ide::{Document, Language, Workspace};

fn document(path: &Path, text: &str, edited: Option<u32>) -> Document {
    let files = PromptFiles::beside(path);
    let language = if path.to_string_lossy().ends_with(".test.yml") {
        Language::Scenarios
    } else if path.extension().is_some_and(|it| it == "toml") {
        Language::WorkflowToml
    } else {
        Language::Workflow
    };
    Document::new(path.to_owned(), 1, language, text.to_owned(), files, edited)
}

fn written(name: &str, text: &str) -> Document {
    document(Path::new(name), text, None)
}

/// The files that ship, with their texts.
fn shipped() -> Vec<(PathBuf, String)> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../workflows"));
    let entries = fs::read_dir(folder).expect("the workflows");
    let paths = entries.filter_map(|it| it.ok().map(|it| it.path()));
    let is_ours = |it: &PathBuf| {
        let name = it.to_string_lossy();
        !it.ends_with("Cargo.toml") && [".yml", ".toml"].iter().any(|end| name.ends_with(end))
    };
    let files: Vec<_> =
        paths.filter(is_ours).map(|it| (it.clone(), fs::read_to_string(it).expect("a text"))).collect();
    assert!(files.len() > 5);
    files
}

fn shown(entries: &[OutlineEntry]) -> String {
    let one = |it: &OutlineEntry| {
        let detail = it.detail.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
        let below =
            if it.children.is_empty() { String::new() } else { format!(" [{}]", shown(&it.children)) };
        format!("{:?} {}{detail}{below}", it.kind, it.name)
    };
    entries.iter().map(one).collect::<Vec<_>>().join(", ")
}

const FLOW: &str = "# one\n# two\nname: a\nfields: {tries: 0}\nstates:\n  b: {}\n  c:\n    terminal: true\ntransitions:\n  - {from: [b], to: c, by: worker, when: 'tries <= 2 && crash_count > 1'}\n  - {from: d, to: b}\nprompts:\n  p: |\n    ## Review\n    Verdict: PASS\n    Run `orange task update --status c {branch}`.\n";

#[test]
fn an_outline_has_transitions_below_their_states() {
    assert_eq!(
        shown(&outline(&written("a.yml", FLOW))),
        "Counter tries, State b [Transition → c (worker when tries <= 2 && crash_count > 1)], State c, Transition d → b, Prompt p"
    );
    let steps = "[workflow]\nname = 'a'\nroles = ['dev']\n[[steps]]\nid = 'one'\nrole = 'dev'\n";
    assert_eq!(shown(&outline(&written("a.toml", steps))), "Role dev, Step one (dev)");
    let scenarios = "scenarios:\n  - name: it works\n    steps: []\n";
    assert_eq!(shown(&outline(&written("a.test.yml", scenarios))), "Scenario it works");
}

#[test]
fn an_outline_is_there_after_every_keystroke() {
    for (path, text) in shipped() {
        let whole = outline(&document(&path, &text, None));
        let first = whole.iter().map(|it| it.named.end as usize).min().expect("an entry");
        for at in (first + 1..text.len()).step_by(211).filter(|it| text.is_char_boundary(*it)) {
            let typed = document(&path, &text[..at], Some(at as u32));
            assert!(!outline(&typed).is_empty(), "{} up to {at}", path.display());
            check_tokens(&typed.source.text, &tokens(&Workspace::default(), &typed, &|_| false));
        }
    }
}

#[track_caller]
fn check_tokens(text: &str, tokens: &[Token]) {
    let mut end = 0;
    for token in tokens {
        let slice = text.get(token.span.range()).expect("a token in the text");
        assert!(token.span.start >= end && !slice.is_empty() && !slice.contains('\n'), "{token:?}");
        end = token.span.end;
    }
}

#[test]
fn tokens_of_shipped_files_are_in_order() {
    for (path, text) in shipped() {
        let document = document(&path, &text, None);
        let all = tokens(&Workspace::default(), &document, &|_| false);
        check_tokens(&text, &all);
        assert!(all.len() > 10, "{}", path.display());
        for entry in outline(&document) {
            assert!(entry.span.start <= entry.named.start && entry.named.end <= entry.span.end, "{entry:?}");
        }
        for fold in folds(&document) {
            assert!(fold.first < fold.last);
        }
        for link in links(&Workspace::default(), &document) {
            assert!(link.path.is_file());
        }
    }
}

#[test]
fn tokens_say_what_words_mean() {
    let document = written("a.yml", FLOW);
    let all = tokens(&Workspace::default(), &document, &|state| state == "b");
    let shown = all.iter().map(|it| {
        let marks = [(it.is_definition, "*"), (it.is_terminal, "!"), (it.is_unreachable, "?")];
        let marks: String = marks.iter().filter(|it| it.0).map(|it| it.1).collect();
        let kind =
            if let TokenKind::Name(kind) = it.kind { format!("{kind:?}") } else { format!("{:?}", it.kind) };
        format!("{marks}{kind} {}", &FLOW[it.span.range()])
    });
    let expected = "*Workflows a, *Counters tries, *?States b, *!States c, ?States b, !States c, Counters tries, \
                    Operator <=, Number 2, Operator &&, Counters crash_count, Operator >, Number 1, States d, ?States b, *Prompts p, \
                    Heading ## Review, Verdict PASS, Command task update, Flag --status, Values branch";
    assert_eq!(shown.collect::<Vec<_>>().join(", "), expected);
}

#[test]
fn a_prompt_file_has_tokens_too() {
    let text = "# Do it\n{summary}: run `orange task update --status done`, then `{orange} task show`.\nVerdict: FAIL\n";
    let all = in_prompt_file(text, PromptKind::Task);
    check_tokens(text, &all);
    let shown: Vec<_> = all.iter().map(|it| (it.kind, &text[it.span.range()])).collect();
    let value = TokenKind::Name(NameKind::Values);
    let expected = [
        (TokenKind::Heading, "# Do it"),
        (value, "summary"),
        (TokenKind::Command, "task update"),
        (TokenKind::Flag, "--status"),
        (value, "orange"),
        (TokenKind::Command, "task show"),
        (TokenKind::Verdict, "FAIL"),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn folds_are_entries_comments_and_tables() {
    let lines = |document: &Document| {
        folds(document).iter().map(|it| (it.first, it.last, it.is_comment)).collect::<Vec<_>>()
    };
    assert_eq!(
        lines(&written("a.yml", FLOW)),
        [(0, 1, true), (4, 7, false), (6, 7, false), (8, 10, false), (11, 15, false), (12, 15, false)]
    );
    let toml = "[workflow]\nname = 'a'\n\n# of one\n[[steps]]\nid = 'one'\nprompt = '''\n[x]\n'''\n";
    assert_eq!(lines(&written("a.toml", toml)), [(0, 1, false), (4, 8, false), (6, 8, false)]);
}

#[test]
fn a_selection_grows_to_the_whole_text() {
    let document = written("a.yml", FLOW);
    let at = FLOW.find("crash_count").expect("the guard") as u32;
    let grown = selections(&document, at + 2);
    let slices: Vec<_> = grown.iter().map(|it| &FLOW[it.range()]).collect();
    assert_eq!(slices[0], "crash_count");
    assert_eq!(
        slices[1..4],
        [
            "tries <= 2 && crash_count > 1",
            "'tries <= 2 && crash_count > 1'",
            "when: 'tries <= 2 && crash_count > 1'"
        ]
    );
    assert_eq!(slices.last(), Some(&FLOW));
    for (inner, outer) in grown.iter().zip(&grown[1..]) {
        assert!(outer.start <= inner.start && inner.end <= outer.end && inner != outer);
    }
}

#[test]
fn files_that_are_named_are_links() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("p.md"), "do it").expect("a prompt");
    fs::write(folder.path().join("a.yml"), FLOW).expect("a workflow");
    let text = FLOW.replace("prompts:", "prompts:\n  q: {include: p.md}\n  r: {include: none.md}");
    let found = links(&Workspace::default(), &document(&folder.path().join("a.yml"), &text, None));
    let shown: Vec<_> = found.iter().map(|it| (&text[it.span.range()], it.path.clone())).collect();
    assert_eq!(shown, [("p.md", folder.path().join("p.md"))]);
    let text = "workflow: a.yml\nscenarios: []\n";
    let found = links(&Workspace::default(), &document(&folder.path().join("b.test.yml"), text, None));
    assert_eq!(found.iter().map(|it| it.path.clone()).collect::<Vec<_>>(), [folder.path().join("a.yml")]);
}
