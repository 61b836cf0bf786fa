//! The page about harnesses has every key, every placeholder and every harness.

use crate::page::MarkdownPage;

const KEYS: &str = include_str!("../../../engine/src/drive/harness/keys.rs");
const TEMPLATE: &str = include_str!("../../../engine/src/drive/harness/template.rs");
const BUILT_IN: &str = include_str!("../../../engine/src/drive/harness/built_in.rs");
const PLACES: &str = include_str!("../../../engine/src/setup/skill.rs");

#[test]
fn every_key_and_placeholder_of_a_harness_is_on_its_page() {
    let page = MarkdownPage::read("docs/harnesses.md");
    let keys = keys();
    let names = quoted(after(TEMPLATE, "const NAMES: "));
    assert!(keys.len() >= 18 && names.len() >= 8, "{keys:?} {names:?}");
    let rows = keys.iter().map(|key| format!("\n| `{key}` |"));
    let rows: Vec<_> = rows.chain(names.iter().map(|name| format!("\n| `{{{name}}}` |"))).collect();
    let forgotten: Vec<_> = rows.iter().filter(|row| !page.text.contains(row.as_str())).collect();
    assert!(forgotten.is_empty(), "docs/harnesses.md does not have {forgotten:?}");
    let of_rows = |row: &&str| row.starts_with("| `");
    let known = page.text.lines().filter(of_rows).count();
    assert_eq!(known, rows.len(), "docs/harnesses.md has a row for something that there is not");
}

#[test]
fn every_built_in_harness_and_its_folder_is_on_the_page() {
    let page = MarkdownPage::read("docs/agents.md");
    let names: Vec<_> = BUILT_IN.lines().filter_map(|line| line.trim().strip_prefix("name: \"")).collect();
    assert!(names.len() >= 6, "{names:?}");
    for name in names {
        let name = name.trim_end_matches("\".to_owned(),");
        let (_, place) = PLACES.split_once(&format!("harness: \"{name}\"")).unwrap();
        let variable = place.split("variable: \"").nth(1).unwrap().split('"').next().unwrap();
        let row = page.text.lines().find(|line| line.starts_with(&format!("| `{name}` | `")));
        assert!(row.is_some_and(|row| row.contains(&format!("`{variable}`"))), "{name}: {row:?}");
    }
}

/// The first word of each line of the macro `keys!` that is not a comment.
fn keys() -> Vec<&'static str> {
    let (_, lines) = KEYS.split_once("\nkeys! {\n").unwrap();
    let lines = lines.split_once("\n}\n").unwrap().0.lines().map(str::trim);
    lines.filter(|line| !line.starts_with("//")).map(|line| line.split_once(':').unwrap().0).collect()
}

/// The text from the beginning of this declaration to its end.
fn after<'t>(source: &'t str, declaration: &str) -> &'t str {
    let (_, rest) = source.split_once(declaration).unwrap();
    rest.split_once("];").unwrap().0
}

/// The strings in it.
fn quoted(text: &str) -> Vec<&str> {
    text.split('"').skip(1).step_by(2).collect()
}
