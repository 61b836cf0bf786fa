//! `cargo xtask new-lint`: creates a lint's file, its page, and its line in the table of its group.
//!
//! The new lint works at once: it finds states or steps with the name of the lint. Its author replaces its decision and its page, under
//! tests that have been green before.

use std::fs;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use orange_analysis::catalogue;
use orange_analysis::lint::{GROUPS, Group};

use crate::Result;
use crate::workspace::OwnRepository;

/// Begin a lint: its file, its page, and its line in the table of its group.
#[derive(Args)]
#[command(after_help = "\
Example:
  cargo xtask new-lint too-many-rounds --group counters")]
pub(crate) struct NewLint {
    /// The problem, in words with hyphens that read well after "allow"
    name: String,

    /// The group of lints about its subject
    #[arg(long, value_parser = group)]
    group: &'static Group,

    /// The default level of its findings
    #[arg(long, value_enum, default_value = "warn")]
    level: LintLevel,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LintLevel {
    Deny,
    Warn,
    Info,
    Allow,
}

/// One of the three places: its path from the root, and its contents.
#[derive(Debug, PartialEq, Eq)]
struct PlannedFile {
    path: String,
    text: String,
}

const LINT: &str = include_str!("new_lint/lint.rs.txt");
const PAGE: &str = include_str!("new_lint/page.md.txt");
const STEP_LINT: &str = include_str!("new_lint/step_lint.rs.txt");
const STEP_PAGE: &str = include_str!("new_lint/step_page.md.txt");

pub(crate) fn run(workspace: &OwnRepository, arguments: &NewLint) -> Result<ExitCode> {
    let NewLint { name, group, level } = arguments;
    if let Some(check) = catalogue::find(name) {
        return Err(format!("{} is called `{name}` already; choose another name", check.code));
    }
    let used: Vec<&str> = catalogue::all().iter().map(|it| it.code).collect();
    let code = next_code(&used, group)?;
    let registry = format!("analysis/src/lint/{}/mod.rs", group.name);
    let places = places(name, &code, group, *level, &workspace.read(&registry)?.text)?;
    if let Some(place) =
        places.iter().find(|it| it.path != registry && workspace.root.join(&it.path).exists())
    {
        return Err(format!("{} is there already; choose another name", place.path));
    }
    for PlannedFile { path, text } in &places {
        fs::write(workspace.root.join(path), text)
            .map_err(|error| format!("{path} cannot be written: {error}"))?;
        println!("{path}");
    }
    println!("\n{}", next_steps(&code, name));
    Ok(ExitCode::SUCCESS)
}

fn next_steps(code: &str, name: &str) -> String {
    format!(
        "{code} {name} finds what is called `{name}`. Say on its page what it is to find, make it find that, then:\n  \
         ORANGE_REWRITE=1 cargo test -p orange-analysis --test pages     writes what it tells into its page\n  \
         ORANGE_REWRITE=1 cargo test -p orange-workflow --test it site  writes the index of the pages\n\
         and read both diffs."
    )
}

/// The file, its page, and the table of the group with its line.
fn places(
    name: &str,
    code: &str,
    group: &Group,
    level: LintLevel,
    registry: &str,
) -> Result<[PlannedFile; 3]> {
    if !is_name(name) {
        return Err(format!(
            "`{name}` is not a name: write small letters and hyphens, as in `unreachable-state`"
        ));
    }
    let module = name.replace('-', "_");
    let filled = |text: &str| text.replace("@code@", code).replace("@name@", name);
    let line = format!("    {code} \"{name}\" {level:?} {module};\n");
    let folder = format!("analysis/src/lint/{}", group.name);
    let registered = with_line(&with_module(registry, &module), &line)
        .ok_or_else(|| format!("{folder}/mod.rs has no table `super::group! {{…}}`"))?;
    let (lint, page) = if group.name == "steps" { (STEP_LINT, STEP_PAGE) } else { (LINT, PAGE) };
    Ok([
        PlannedFile { path: format!("{folder}/{module}.rs"), text: filled(lint) },
        PlannedFile { path: format!("docs/lints/{name}.md"), text: filled(page) },
        PlannedFile { path: format!("{folder}/mod.rs"), text: registered },
    ])
}

fn is_name(name: &str) -> bool {
    let is_word = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_lowercase());
    name.contains('-') && name.split('-').all(is_word)
}

/// The code after the last one of the group.
fn next_code(used: &[&str], group: &Group) -> Result<String> {
    let codes = used.iter().filter(|it| group.has(it));
    let last = codes.filter_map(|it| u8::from_str_radix(&it[1..], 16).ok()).max();
    let next = last.map_or(Some(*group.numbers.start()), |it| it.checked_add(1));
    let next = next.filter(|it| group.numbers.contains(it));
    let next = next.ok_or_else(|| format!("the group {} has no code left", group.name))?;
    Ok(format!("{}{next:02X}", group.letter))
}

/// Adds a module in the order of names, below the first line.
fn with_module(registry: &str, module: &str) -> String {
    let new = format!("mod {module};");
    let mut modules = registry.lines().filter(|it| it.starts_with("mod "));
    match (modules.clone().find(|it| **it > *new), modules.next_back()) {
        (Some(behind), _) => registry.replacen(behind, &format!("{new}\n{behind}"), 1),
        (None, Some(last)) => registry.replacen(last, &format!("{last}\n{new}"), 1),
        (None, None) => registry.replacen("\n\n", &format!("\n\n{new}\n\n"), 1),
    }
}

/// Adds a line to the table in the order of codes; a new code is the last one.
fn with_line(registry: &str, line: &str) -> Option<String> {
    if registry.contains("super::group! {}") {
        return Some(registry.replacen("super::group! {}", &format!("super::group! {{\n{line}}}"), 1));
    }
    let table = registry.find("super::group! {")?;
    let end = table + registry[table..].find("\n}")? + 1;
    Some(format!("{}{line}{}", &registry[..end], &registry[end..]))
}

fn group(name: &str) -> Result<&'static Group> {
    let names = || GROUPS.iter().map(|group| group.name).collect::<Vec<_>>().join(", ");
    GROUPS
        .iter()
        .find(|group| group.name == name)
        .ok_or_else(|| format!("there is no group `{name}`; the groups are {}", names()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGISTRY: &str = "//! Hooks.\n\nmod hook_order;\nmod spawn_while_alive;\n\nsuper::group! {\n    C62 \"spawn-while-alive\" Warn spawn_while_alive;\n}\n\nfn other() {\n}\n";

    #[track_caller]
    fn check_registry(registry: &str, name: &str, expect: &str) {
        let places = places(name, "C6D", group("hooks").unwrap(), LintLevel::Info, registry).unwrap();
        assert_eq!(
            places[2],
            PlannedFile { path: "analysis/src/lint/hooks/mod.rs".into(), text: expect.into() }
        );
    }

    #[test]
    fn a_lint_has_three_places() {
        let [lint, page, _] =
            places("late-kill", "C6D", group("hooks").unwrap(), LintLevel::Warn, REGISTRY).unwrap();
        assert_eq!(lint.path, "analysis/src/lint/hooks/late_kill.rs");
        assert!(lint.text.starts_with("//! C6D: a state is called `late-kill`.\n\nuse super::C6D;\n"));
        assert_eq!(page.path, "docs/lints/late-kill.md");
        assert!(page.text.starts_with("# C6D late-kill\n\nA state is called `late-kill`.\n"));
        assert!(page.text.contains("\n  late-kill: {}\n") && page.text.contains("{terminal: true}"));
    }

    #[test]
    fn the_table_has_a_line_more_and_nothing_else_changes() {
        check_registry(
            REGISTRY,
            "late-kill",
            "//! Hooks.\n\nmod hook_order;\nmod late_kill;\nmod spawn_while_alive;\n\nsuper::group! {\n    C62 \"spawn-while-alive\" Warn spawn_while_alive;\n    C6D \"late-kill\" Info late_kill;\n}\n\nfn other() {\n}\n",
        );
        check_registry(
            REGISTRY,
            "too-late",
            "//! Hooks.\n\nmod hook_order;\nmod spawn_while_alive;\nmod too_late;\n\nsuper::group! {\n    C62 \"spawn-while-alive\" Warn spawn_while_alive;\n    C6D \"too-late\" Info too_late;\n}\n\nfn other() {\n}\n",
        );
        check_registry(
            "//! Hooks.\n\nsuper::group! {}\n",
            "too-late",
            "//! Hooks.\n\nmod too_late;\n\nsuper::group! {\n    C6D \"too-late\" Info too_late;\n}\n",
        );
    }

    #[test]
    fn codes_go_on_where_the_group_ends() {
        #[track_caller]
        fn check(used: &[&str], group: &Group, expect: &str) {
            assert_eq!(next_code(used, group).as_deref(), Ok(expect));
        }
        check(&["A07", "C62", "C6A", "C84"], group("hooks").unwrap(), "C6B");
        check(&["C09", "C12", "C20"], group("graph").unwrap(), "C13");
        check(&["C62"], group("prompts").unwrap(), "C80");
        check(&["B09", "B27", "C62"], group("steps").unwrap(), "B28");
        assert!(next_code(&["C7F"], group("hooks").unwrap()).is_err());
    }

    #[test]
    fn a_name_is_words_with_hyphens() {
        assert!(is_name("spawn-while-alive"));
        assert!(
            ["Spawn-a", "spawn", "spawn_a", "a--b", "-a", "a-", "c6-d", ""].iter().all(|it| !is_name(it))
        );
    }

    #[test]
    fn every_group_of_lints_can_have_another() {
        let workspace = OwnRepository::find().unwrap();
        for group in GROUPS {
            let path = format!("analysis/src/lint/{}/mod.rs", group.name);
            let text = workspace.read(&path).unwrap().text;
            let [_, _, place] = places("never-seen-before", "CFF", group, LintLevel::Warn, &text).unwrap();
            let added: Vec<_> = place.text.lines().filter(|it| it.contains("never_seen_before")).collect();
            assert_eq!(added.len(), 2, "{}", place.text);
            assert!(place.text.lines().count() >= text.lines().count() + 2);
        }
    }
}
