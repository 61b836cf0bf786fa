//! `fmt` over workflows as nobody should write them: the machine stays what it is, every comment stays with what it is
//! about, and a second time changes nothing.
#![allow(clippy::unwrap_used)]

mod scrawl;

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use orange_codegen::emit::{self, Options};
use orange_codegen::{Source, compile, syntax};
use orange_testkit::Random;
use orange_tests::generate;

use orange_workflow::{Answer, Exit, Screens};
use scrawl::{CommentSubject, ScrawlComment, scrawl};
use tempfile::TempDir;

/// Made-up workflows.
const WORKFLOWS: u64 = 30;

/// Number of times that each text that people wrote is scrawled.
const TIMES: u64 = 12;

#[test]
fn made_up_workflows_stay_what_they_are() {
    for seed in 0..WORKFLOWS {
        stays(&generate::plan(seed).to_string(), seed);
    }
}

#[test]
fn our_workflows_stay_what_they_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let files = ["workflows/default.yml", "workflows/minimal.yml", "workflows/persistent.yml"];
    let fixtures =
        ["tests/fixtures/seed-default.yml", "tests/fixtures/type.yml", "tools/cli/templates/workflow.yml"];
    for file in files.iter().chain(&fixtures) {
        let text = fs::read_to_string(root.join(file)).unwrap();
        (0..TIMES).for_each(|seed| stays(&text, seed));
    }
}

#[track_caller]
fn stays(text: &str, seed: u64) {
    let original = Source::new("flow.yml", text);
    let tree = syntax::parse(&original).0.unwrap();
    let scrawled = scrawl(&mut Random::new(seed), &tree);
    let machine = machine(text).unwrap_or_else(|| panic!("{text}\ndoes not compile"));
    assert_eq!(self::machine(&scrawled.text).as_ref(), Some(&machine), "seed {seed} of\n{}", scrawled.text);

    let folder = TempDir::new().unwrap();
    let file = folder.path().join("flow.yml");
    fs::write(&file, &scrawled.text).unwrap();
    let answer = fmt(&file, "fmt");
    assert_eq!(
        (answer.exit, answer.err.contains("error")),
        (Exit::Clean, false),
        "{}\nof\n{}",
        answer.err,
        scrawled.text
    );
    let laid_out = fs::read_to_string(&file).unwrap();
    let story = || format!("seed {seed}\n{}\nbecame\n{laid_out}", scrawled.text);
    assert_eq!(self::machine(&laid_out).as_ref(), Some(&machine), "{}", story());
    scrawled.notes.iter().for_each(|note| assert_stays(note, &laid_out, story));
    assert!(
        laid_out.lines().all(|line| line.trim_end() == line || text.contains(line.trim_start())),
        "{}",
        story()
    );
    fmt(&file, "fmt");
    assert_eq!(fs::read_to_string(&file).unwrap(), laid_out, "not twice the same: {}", story());
}

/// The note is there once, above or behind what it is about.
#[track_caller]
fn assert_stays(note: &ScrawlComment, text: &str, story: impl Fn() -> String) {
    assert_eq!(text.matches(&note.text).count(), 1, "{note:?} in {}", story());
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.contains(&note.text)).unwrap();
    let is_content = |line: &&&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let below = || lines[at..].iter().find(is_content).map_or("", |line| line.trim());
    let stays = match &note.about {
        CommentSubject::Below(key) => {
            below().trim_start_matches("- ").trim_start_matches(['"', '\'']).starts_with(key)
        }
        CommentSubject::Item => below().starts_with('-'),
        CommentSubject::Line(word) => {
            // Where quotes go, a doubled one in them is a single one.
            let is_there = |line: &str| line.contains(word) || line.contains(&word.replace("''", "'"));
            lines[at].split('#').next().is_some_and(is_there) || word.contains('#')
        }
        CommentSubject::Bracketed => !lines[at].trim_start().starts_with('#') || below().starts_with('-'),
        CommentSubject::Nothing => true,
    };
    assert!(stays, "{note:?} in {}", story());
}

fn fmt(file: &Path, command: &str) -> Answer {
    let args = ["orange-workflow", command].map(OsString::from).into_iter().chain([file.into()]);
    orange_workflow::run(args, Screens::plain())
}

/// The Rust that becomes of a text, without its hash.
fn machine(text: &str) -> Option<String> {
    let checked = compile(&Source::new("flow.yml", text)).checked?;
    Some(emit::emit(&checked, &Options::default()).ok()?.to_string().replace(checked.hash(), ""))
}
