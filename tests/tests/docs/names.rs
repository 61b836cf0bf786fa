//! Commands and files that pages and messages name in passing exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::page::{self, root};
use crate::programs::OurProgram;

/// Folders of the messages and comments that name a command to run.
const SOURCES: &[&str] = &[
    "analysis/src",
    "codegen/src",
    "engine/core/src",
    "engine/journal/src",
    "engine/src",
    "macros/src",
    "tools/cli/src",
    "workflows",
    "xtask/build/src",
    "xtask/src",
];

#[test]
fn every_command_that_is_named_exists() {
    let mut named = BTreeMap::new();
    for page in page::all() {
        for (line, code) in page.code() {
            named.entry(as_typed(code)).or_insert(format!("{}:{line}", page.path));
        }
    }
    for file in SOURCES.iter().flat_map(|folder| files_in(&root().join(folder))) {
        let text = fs::read_to_string(&file).unwrap();
        for (at, _) in text.match_indices('`') {
            let line = 1 + text[..at].matches('\n').count();
            let code = text[at + 1..].split('`').next().unwrap_or_default();
            named.entry(as_typed(code)).or_insert(format!("{}:{line}", file.display()));
        }
    }
    let unknown = |(code, place): (&String, &String)| {
        let (program, args) = OurProgram::of(code)?;
        let complaint = program.help(&args).err()?;
        (!is_open(&complaint))
            .then(|| format!("{place}: `{code}`: {}", complaint.lines().next().unwrap_or_default()))
    };
    let unknown: Vec<_> = named.iter().filter_map(unknown).collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
}

#[test]
fn every_file_that_a_page_names_exists() {
    let mut unknown = Vec::new();
    for page in page::all() {
        for (line, code) in page.code() {
            let first = code.split('/').next().unwrap_or_default();
            let is_ours = root().join(first).is_dir() && !["", ".git", "target"].contains(&first);
            let is_path = is_ours && code.contains('/') && !code.contains([' ', '<', '*']);
            if is_path && !exists(code) {
                unknown.push(format!("{}:{line}: there is no {code}", page.path));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}

#[test]
fn the_glossary_has_at_most_forty_words_each_once() {
    let glossary = page::MarkdownPage::read("docs/glossary.md");
    let rows = glossary.text.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let words: Vec<&str> = rows.filter(|word| *word != "word").collect();
    let distinct: BTreeSet<_> = words.iter().collect();
    assert_eq!(distinct.len(), words.len(), "{words:?}");
    assert!((20..=40).contains(&words.len()), "{} words", words.len());
}

/// Text in the place of a word that a message fills in: a number for the options that want one, in a form that people do not write.
const FILLED: &str = "01";

/// A name in passing may leave out what stands behind an option, have a placeholder there, and a message may fill in the value or
/// the whole command.
fn is_open(complaint: &str) -> bool {
    let word = complaint.lines().next().unwrap_or_default().split('\'').nth(1).unwrap_or_default();
    let is_placeholder = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase());
    complaint.contains("a value is required for")
        || (word == FILLED && complaint.contains("unrecognized subcommand '"))
        || ((word == FILLED || is_placeholder) && complaint.contains("invalid value '"))
}

/// A file or folder, or a function in one: `path::name`.
fn exists(code: &str) -> bool {
    let Some((file, function)) = code.split_once("::") else { return root().join(code).exists() };
    let text = fs::read_to_string(root().join(file)).unwrap_or_default();
    text.contains(&format!("fn {function}("))
}

/// A command without what a message or a synopsis puts around its words.
fn as_typed(code: &str) -> String {
    let is_word = |word: &&str| !["\\", "///", "//!", "//", "#", "…"].contains(word);
    let words = code.split_whitespace().filter(is_word).map(|word| word.trim_matches(['[', ']', '\\', '…']));
    let filled = words.map(|word| if word == "N" || word.starts_with('{') { FILLED } else { word });
    filled.collect::<Vec<_>>().join(" ")
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_test = |path: &PathBuf| path.ends_with("tests") || path.ends_with("tests.rs");
    let is_source = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "rs" || kind == "yml");
    let is_wanted = |path: &PathBuf| !is_test(path) && (path.is_dir() || is_source(path));
    paths
        .filter(is_wanted)
        .flat_map(|path| if path.is_dir() { files_in(&path) } else { vec![path] })
        .collect()
}
