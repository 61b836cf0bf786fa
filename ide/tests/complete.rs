//! Completion in the workflows of this repository: a word that is taken away is proposed where it stood, and near the top.

#![expect(clippy::unwrap_used, reason = "a test fails where something is missing")]

use std::fs;
use std::path::{Path, PathBuf};

use orange_codegen::model::keys::NameKind;
use orange_codegen::model::visit::{Visited, visit};
use orange_codegen::{Diagnostic, Source, Span};
use orange_ide::check::{self, ScenarioFindings};
use orange_ide::complete::{Completion, CompletionKind, complete};
use orange_ide::project::{Project, keys_of};
use orange_ide::{DocumentKind, Language, Workspace};

/// Proposals that stand no further down than this are seen at once.
const NEAR: usize = 5;

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workflows");
    let files = fs::read_dir(folder).unwrap().flatten().map(|it| it.path());
    let is_ours = |it: &PathBuf| {
        let name = it.file_name().unwrap().to_str().unwrap();
        (name.ends_with(".yml") || name.ends_with(".toml")) && name != "Cargo.toml"
    };
    let mut files: Vec<PathBuf> = files.filter(is_ours).collect();
    files.sort();
    files
}

/// The language that an editor gives to a file when it opens it.
fn language(path: &Path) -> Language {
    let text = fs::read_to_string(path).unwrap();
    Language::recognise(path, &text).map(Language::of_id).unwrap()
}

/// A text from which a word is taken away, and the words that are proposed there.
fn proposals(path: &Path, text: &str, span: Span) -> (String, Vec<Completion>) {
    let mut without = text.to_owned();
    without.replace_range(span.range(), "");
    let mut workspace = Workspace::default();
    workspace.open(path.to_owned(), 1, language(path), without.clone());
    let found = complete(&workspace, workspace.document(path).unwrap(), span.start);
    (without, found)
}

/// Place of a word in a list.
fn rank(found: &[Completion], word: &str) -> Option<usize> {
    found.iter().position(|it| it.label == word || it.label.ends_with(&format!(" {word}")))
}

/// Checks that find a name which nothing has, a key that is not one, or a text that cannot be read.
const UNKNOWN: [&str; 19] = [
    "S01", "S02", "S03", "A01", "A02", "A04", "A05", "A06", "A08", "A12", "A17", "B02", "B04", "B05", "B06",
    "B16", "B18", "B19", "C84",
];

/// Findings about a name that is unknown at the place of a proposal, once that is accepted.
fn unknown(path: &Path, without: &str, proposal: &Completion, workflow: &Source) -> Vec<String> {
    let mut text = without.to_owned();
    text.replace_range(proposal.span.range(), &proposal.text);
    let start = proposal.span.start;
    let here = Span::new(start, start + proposal.text.trim_end_matches([':', '=', ' ']).len() as u32);
    let touches = |it: Span| it.start < here.end && here.start < it.end;
    let is_value = proposal.kind != CompletionKind::Key;
    let is_unknown = |it: &&Diagnostic| {
        touches(it.span) && (UNKNOWN.contains(&it.code()) || (is_value && it.code() == "S04"))
    };
    let mut workspace = Workspace::default();
    let document = workspace.open(path.to_owned(), 1, language(path), text);
    let of_scenarios = match document.kind {
        DocumentKind::Scenarios => check::scenarios(&document.source, Some(workflow)),
        DocumentKind::Workflow | DocumentKind::Other => ScenarioFindings::default(),
    };
    let found = document.compilation.diagnostics.iter().chain(&of_scenarios.diagnostics);
    let mut said: Vec<String> = found.filter(is_unknown).map(|it| it.message.clone()).collect();
    let failed = of_scenarios.failed.iter().map(|it| &it.message);
    said.extend(failed.filter(|it| it.contains("there is no s")).cloned());
    said
}

#[test]
fn a_word_that_is_taken_away_is_proposed() {
    let is_whole = std::env::var_os("ORANGE_WHOLE").is_some();
    let (step, step_of_proposals) = if is_whole { (1, 1) } else { (11, 7) };
    let (mut all, mut near, mut far, mut missing) = (0, 0, Vec::new(), Vec::new());
    let (mut accepted, mut wrong) = (0, Vec::new());
    for path in files() {
        let text = fs::read_to_string(&path).unwrap();
        let mut workspace = Workspace::default();
        workspace.open(path.clone(), 1, Language::Other, text.clone());
        let document = workspace.document(&path).unwrap();
        let project = Project::of(&workspace, document).unwrap();
        let mut words: Vec<(Span, String)> = project
            .mentions
            .iter()
            .filter(|it| it.path == path && !it.occurrence.is_definition)
            .filter(|it| !matches!(it.occurrence.kind, NameKind::Harnesses | NameKind::Files))
            // A result that nothing else names is one that its scenario expects to be refused.
            .filter(|it| {
                it.occurrence.kind != NameKind::Results || project.mentions_of(&it.occurrence).count() > 1
            })
            .filter(|it| !it.in_text || it.occurrence.kind == NameKind::States)
            .map(|it| (it.occurrence.span, it.occurrence.name.clone()))
            .collect();
        visit(document.tree().unwrap(), keys_of(&workspace, document).unwrap(), &mut |_, visited| {
            if let Visited::Key { node, key: Some(key) } = visited {
                words.push((node.span, key.name.to_owned()));
            }
        });
        words.sort();
        let place = |span: Span| {
            let line = text[..span.start as usize].matches('\n').count() + 1;
            format!("{}:{line}", path.file_name().unwrap().display())
        };
        for (span, word) in words.into_iter().step_by(step) {
            all += 1;
            let (without, found) = proposals(&path, &text, span);
            // Each word has others of its proposals accepted, so that a sample has every rank.
            for proposal in found.iter().skip(all % step_of_proposals).step_by(step_of_proposals) {
                accepted += 1;
                let said = unknown(&path, &without, proposal, &project.workflow.source);
                wrong.extend(said.iter().map(|it| format!("{} {}: {it}", place(span), proposal.text)));
            }
            match rank(&found, &word) {
                Some(at) if at < NEAR => near += 1,
                Some(at) => far.push(format!("{} {word}: {at}", place(span))),
                None => missing.push(format!("{} {word}", place(span))),
            }
        }
    }
    let proposed = all - missing.len();
    println!("{all} words, {proposed} proposed, {near} near the top, {accepted} proposals accepted");
    assert!(missing.is_empty(), "{} of {all} are missing: {missing:#?}", missing.len());
    assert!(wrong.is_empty(), "{} of {accepted} proposals are unknown: {wrong:#?}", wrong.len());
    assert!(accepted > 100, "{accepted}");
    assert!(near * 10 >= all * 9, "{near} of {all} stand near the top: {far:#?}");
}
