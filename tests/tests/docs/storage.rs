//! The page about storage has every event, every field and every key.

use std::fs;

use crate::given::{Given, Setting};
use crate::page::Page;

const EVENTS: &str = include_str!("../../../engine/journal/src/event.rs");

#[test]
fn every_event_and_every_field_is_on_the_page() {
    let page = Page::read("docs/storage.md");
    let (declared, _) = EVENTS.split_once("\nimpl Event").unwrap();
    let types = declared.split("rename = \"").skip(1).filter_map(|rest| rest.split('"').next());
    let types: Vec<_> = types.filter(|name| *name != "unknown").collect();
    let fields = declared.lines().filter_map(|line| line.trim().trim_start_matches("pub ").split_once(": "));
    let fields = fields
        .map(|(name, _)| name)
        .filter(|name| name.bytes().all(|it| it.is_ascii_lowercase() || it == b'_'));
    let names: Vec<_> = types
        .iter()
        .copied()
        .chain(fields)
        .filter(|name| !["event", "trace", "spent"].contains(name))
        .collect();
    assert!(types.len() >= 15 && names.len() >= 50, "{names:?}");
    let forgotten: Vec<_> = names.iter().filter(|name| !page.text.contains(&format!("`{name}`"))).collect();
    assert!(forgotten.is_empty(), "docs/storage.md does not have {forgotten:?}");
}

#[test]
fn every_key_and_every_file_is_on_the_page() {
    let page = Page::read("docs/storage.md");
    let place = Setting::new(Given::Working);
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

/// A file's name as the page has it, what differs from one to the next being left open.
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
    let page = Page::read("docs/storage.md");
    let place = Setting::new(Given::Working);
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
