//! Forgotten files: fixtures that no test uses, golden files without a source, pages that no list names.

use super::RuleBreach;
use crate::workspace::TextFile;

/// Files and folders in which the checks are registered: those that come before everything else, and the groups of lints.
const REGISTRIES: [&str; 3] = ["codegen/src/catalogue.rs", "analysis/src/evolution/", "analysis/src/lint/"];

const FIXTURES: &str = "tests/fixtures/";
const GOLDEN: &str = "tests/golden/";
const PAGES: &str = "docs/lints/";
/// Of the pages.
const INDEX: &str = "README";

/// Fixtures that no Rust file names: neither the file, nor its golden file, nor the folder it lies in.
pub(super) fn fixtures_are_used(paths: &[String], rust: &[TextFile]) -> Vec<RuleBreach> {
    let named = |name: &str| rust.iter().any(|file| file.text.contains(name));
    let fixtures = paths.iter().filter_map(|path| Some((path, path.strip_prefix(FIXTURES)?)));
    let forgotten = fixtures.filter(|(_, inside)| {
        let folder = inside.split_once('/').map(|(folder, _)| format!("fixtures/{folder}"));
        let file = inside.rsplit('/').next().unwrap_or(inside);
        !named(file) && !named(&format!("{}.rs", stem(file))) && !folder.is_some_and(|folder| named(&folder))
    });
    forgotten
        .map(|(path, _)| {
            RuleBreach::new(path, "is a fixture that no test names", "use it in a test, or take it away")
        })
        .collect()
}

/// Golden files whose workflow is gone.
pub(super) fn golden_have_sources(paths: &[String]) -> Vec<RuleBreach> {
    let is_workflow = |path: &str| path.ends_with(".yml") || path.ends_with(".toml");
    let has_source = |golden: &str| paths.iter().any(|path| is_workflow(path) && stem(path) == stem(golden));
    let orphans = paths
        .iter()
        .filter(|path| path.starts_with(GOLDEN) && path.ends_with(".rs") && !path.ends_with("/mod.rs"))
        .filter(|path| !has_source(path));
    orphans
        .map(|path| {
            RuleBreach::new(
                path,
                "is emitted from no workflow that is here",
                "take it away, or bring its workflow back",
            )
        })
        .collect()
}

/// A path's last part without its extension.
fn stem(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

/// Pages that belong to no check. A check without a page does not compile.
pub(super) fn pages_are_registered(paths: &[String], rust: &[TextFile]) -> Vec<RuleBreach> {
    let registries = || rust.iter().filter(|file| REGISTRIES.iter().any(|it| file.path.starts_with(it)));
    let is_registered = |name: &str| registries().any(|file| file.text.contains(&format!("\"{name}\"")));
    let pages = paths.iter().filter_map(|path| Some((path, path.strip_prefix(PAGES)?.strip_suffix(".md")?)));
    pages
        .filter(|(_, name)| *name != INDEX && !is_registered(name))
        .map(|(path, _)| {
            RuleBreach::new(
                path,
                "is the page of no check",
                "register the check in the table of its group in analysis/src/lint, or delete this file",
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths<S: ToString>(of: &[S]) -> Vec<String> {
        of.iter().map(S::to_string).collect()
    }

    fn file(text: &str) -> TextFile {
        TextFile { path: "a.rs".to_string(), text: text.to_string() }
    }

    #[track_caller]
    fn check(found: Vec<RuleBreach>, expect: &[&str]) {
        let places: Vec<_> = found.into_iter().map(|finding| finding.place).collect();
        assert_eq!(places, expect);
    }

    #[test]
    fn a_fixture_is_named_or_its_folder_is() {
        let paths = paths(&[
            "tests/fixtures/a.yml",
            "tests/fixtures/agents/claude",
            "tests/fixtures/b.yml",
            "tests/fixtures/c.yml",
        ]);
        check(
            fixtures_are_used(&paths, &[file("\"a.yml\""), file("fixtures/agents"), file("\"c.rs\"")]),
            &["tests/fixtures/b.yml"],
        );
    }

    #[test]
    fn a_golden_file_has_a_workflow() {
        let paths = paths(&[
            "tests/golden/default.rs",
            "tests/golden/gone.rs",
            "workflows/default.yml",
            "tests/golden/mod.rs",
        ]);
        check(golden_have_sources(&paths), &["tests/golden/gone.rs"]);
    }

    #[test]
    fn a_page_belongs_to_a_check() {
        let paths =
            paths(&["unknown-to", "dead-end", "other", "README"].map(|it| format!("docs/lints/{it}.md")));
        let registry = |path: &str, text: &str| TextFile { path: path.to_string(), text: text.to_string() };
        let rust = [
            registry("codegen/src/catalogue.rs", "A01 \"unknown-to\" Error;"),
            registry("analysis/src/lint/graph/mod.rs", "C02 \"dead-end\" Deny dead_end;"),
            registry("codegen/src/emit/mod.rs", "\"other\""),
        ];
        check(pages_are_registered(&paths, &rust), &["docs/lints/other.md"]);
    }
}
