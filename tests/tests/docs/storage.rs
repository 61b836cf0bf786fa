//! The page about storage has every event, every field and every key.
//! `ORANGE_REWRITE=1 cargo test -p orange-tests --test docs` writes the rows of the events again.

use std::fs;

use orange_journal::Event;
use orange_journal::event::{CounterValue, EventType, Pass, PlannedHook};

use crate::given::{GivenWorld, Setting};
use crate::page::{MarkdownPage, root};

/// The rows of all events, as they are declared.
fn events() -> String {
    let quoted = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" ");
    let row = |of: &EventType| {
        let when: Vec<_> = of.when.iter().map(|line| line.trim()).collect();
        format!("| `{}` | {} | {} |\n", of.name, quoted(of.fields), when.join(" ").trim_end_matches('.'))
    };
    Event::TYPES.iter().map(row).collect()
}

#[test]
fn the_page_has_the_events_as_they_are_declared() {
    const HEAD: &str = "| type | fields | when |\n|---|---|---|\n";
    let page = MarkdownPage::read("docs/storage.md");
    let (before, from) = page.text.split_once(HEAD).unwrap();
    let (found, after) = from.split_once("\n\n").unwrap();
    let expect = events();
    if std::env::var_os("ORANGE_REWRITE").is_some() {
        fs::write(root().join(&page.path), [before, HEAD, &expect, "\n", after].concat()).unwrap();
    } else {
        assert_eq!(format!("{found}\n"), expect, "ORANGE_REWRITE=1 writes the rows again");
    }
    for name in [PlannedHook::FIELDS, CounterValue::FIELDS, Pass::FIELDS].concat() {
        assert!(page.text.contains(&format!("`{name}`")), "docs/storage.md does not have the field {name}");
    }
}

#[test]
fn every_key_and_every_file_is_on_the_page() {
    let page = MarkdownPage::read("docs/storage.md");
    let place = Setting::new(GivenWorld::Working);
    let text = fs::read_to_string(place.folder.join("TASK.md")).unwrap();
    let frontmatter = text.trim_start_matches("---\n").split("\n---\n").next().unwrap();
    for key in frontmatter.lines().filter_map(|line| line.split_once(':')).map(|(key, _)| key) {
        assert!(page.text.contains(&format!("`{key}`")), "docs/storage.md does not have the key {key}");
    }
    let files = place
        .world
        .command("find")
        .arg(place.world.home())
        .args(["-type", "f", "-not", "-path", "*/coffee--1/*", "-printf", "%f\n"])
        .output()
        .unwrap();
    for name in String::from_utf8(files.stdout).unwrap().lines() {
        assert!(page.text.contains(&on_the_page(name)), "docs/storage.md does not have the file {name}");
    }
}

/// A file's name as `docs/storage.md` has it, with a placeholder for the part that differs.
fn on_the_page(name: &str) -> String {
    match name.strip_prefix(".TASK.md.") {
        // Somebody may be in the middle of writing any file.
        Some(_) | None if name.starts_with('.') && name.ends_with(".tmp") => {
            ".TASK.md.<pid>.<n>.tmp".to_owned()
        }
        Some(rest) if rest.ends_with(".old") => ".TASK.md.….old".to_owned(),
        Some(_) | None if name.starts_with("1.") => name.replacen('1', "<spawn>", 1),
        Some(_) | None => name.to_owned(),
    }
}

#[test]
fn every_check_of_the_doctor_is_on_the_page() {
    let page = MarkdownPage::read("docs/storage.md");
    let place = Setting::new(GivenWorld::Working);
    let answer = place.world.orange_in(&place.folder, &["--json", "doctor"]).ok();
    let findings = answer["findings"].as_array().unwrap();
    assert!(findings.len() >= 20, "{answer}");
    for finding in findings {
        let check = finding["check"].as_str().unwrap();
        assert!(
            page.text.contains(&format!("| `{check}` |")),
            "docs/storage.md does not have the check {check}"
        );
    }
}
