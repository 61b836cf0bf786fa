//! Every check there is: those of the compiler, the lints, and those that compare two workflows.

use std::sync::LazyLock;

pub use orange_codegen::catalogue::{Check, CheckPage, Language};

use crate::{evolution, lint};

/// Checks of one language, each with the check that asks the same of the other one, or the reason why none does.
static OTHER_LANGUAGE: &[(&str, &str)] = &[
    ("A09", "B09"),
    ("B09", "A09"),
    ("B11", "C01"),
    ("B13", "C05"),
    ("B14", "a transition names the state in which a task goes on"),
    ("B15", "C23"),
    ("B19", "C84"),
    ("B21", "C62"),
    ("B24", "states may share a prompt"),
    ("B28", "C8C"),
    ("B29", "each state of a task has transitions, which say what follows a fix"),
    ("B31", "the programs of gates answer yes or no, and a gate that says no stops the task"),
    ("B34", "a state has one agent"),
    ("B35", "an agent of a task that only reads has the permissions `reduced`"),
    ("B36", "a task waits for persons in states of their own"),
    ("B37", "an agent of a task works in a state, and no other one beside it"),
    ("B38", "a person takes a task on, and no timeout does"),
    ("B39", "a budget of `starts` bounds a task, and its loops have bounds of their own"),
    ("B3A", "a budget of `starts` bounds a task, and its loops have bounds of their own"),
    ("B40", "the programs of tasks have no placeholders but {port}"),
    ("B45", "a transition that a gate refuses asks a person, or leads to another state"),
    ("C01", "B11"),
    ("C05", "B13"),
    ("C23", "B15"),
    ("C60", "a mission ends its agents by itself"),
    ("C61", "a mission that is over returns its worktree by itself"),
    ("C62", "B21"),
    ("C70", "a program of a step has a time limit of its own"),
    ("C81", "a step reports a summary and writes no section"),
    ("C82", "the skill of agents says how a step ends"),
    ("C83", "a prompt belongs to its step"),
    ("C88", "a step reports its result as an option of a command"),
    ("C8A", "a step reports its result as an option of a command"),
    ("C8C", "B28"),
    ("CA0", "each attempt at a step has an agent of its own"),
    ("CA2", "a mission merges nothing by itself"),
    ("CA3", "a mission merges nothing by itself"),
    ("CA4", "the agents of all steps share a branch, and the proof of a mission is about its order"),
    ("CA5", "a step reports its result as an option of a command, and no other step can"),
    ("D01", "a mission keeps the plan with which it was started"),
    ("D02", "a mission keeps the plan with which it was started"),
    ("D05", "a mission keeps the plan with which it was started"),
    ("D06", "a mission keeps the plan with which it was started"),
    ("D07", "`orange-workflow diff` lists every changed key of a step"),
];

/// The check that asks the same of the other language, or the reason why none does; `None` where nobody would expect one.
pub fn other_language(check: &Check) -> Option<&'static str> {
    OTHER_LANGUAGE.iter().find(|(code, _)| *code == check.code).map(|(_, other)| *other)
}

/// All checks, in the order of their groups and codes.
pub fn all() -> &'static [&'static Check] {
    static ALL: LazyLock<Vec<&'static Check>> = LazyLock::new(|| {
        let mut all: Vec<_> = pages().map(|(check, _)| *check).collect();
        all.sort_by_key(|it| (group(it), it.code));
        all
    });
    &ALL
}

/// Syntax comes before sense: group S before group A.
fn group(check: &Check) -> usize {
    "SABCD".find(|it| check.code.starts_with(it)).unwrap_or(usize::MAX)
}

fn pages() -> impl Iterator<Item = &'static CheckPage> {
    let lints = lint::lints().map(|it| &it.page);
    let kinds = evolution::KINDS.iter().map(|it| &it.page);
    orange_codegen::catalogue::PAGES.iter().chain(lints).chain(kinds)
}

/// The check with this code (in any case) or this name.
pub fn find(code_or_name: &str) -> Option<&'static Check> {
    all().iter().copied().find(|check| check.is(code_or_name))
}

/// A check's page in Markdown: what, why, an example that fires, the mended example.
pub fn page(check: &Check) -> &'static str {
    pages().find(|(it, _)| *it == check).map_or("", |(_, page)| *page)
}

/// Summary of a check in one line: the first paragraph of its page.
pub fn summary(check: &Check) -> &'static str {
    let page = page(check);
    let body = page.split_once("\n\n").map_or(page, |(_, body)| body);
    body.split_once("\n\n").map_or(body, |(first, _)| first).trim_end()
}

/// Title of a check's group, as the heading of its part of a list.
pub fn title(check: &Check) -> &'static str {
    let group = lint::GROUPS.iter().find(|group| group.has(check.code));
    match (check.code.split_at(1).0, group) {
        ("S", _) => "Files, syntax and keys",
        ("A", _) => "Names, guards and exits",
        ("D", _) => "Changes",
        (_, group) => group.map_or("Others", |group| group.title),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_twin_is_of_the_other_language_and_leads_back() {
        for (code, other) in OTHER_LANGUAGE {
            let check = find(code).unwrap_or_else(|| panic!("{code} is the code of no check"));
            assert_ne!(check.language, Language::Both, "{code}");
            let Some(twin) = find(other) else {
                assert!(other.contains(' '), "{other} of {code} is neither a check nor a reason");
                continue;
            };
            assert_ne!(twin.language, check.language, "{code}");
            let leads_back = other_language(twin) == Some(code) || twin.language == Language::Both;
            assert!(leads_back, "{other} of {code}");
        }
    }

    #[test]
    fn lints_are_for_the_languages_in_which_they_look() {
        let of = |name: &str| find(name).map(|it| it.language);
        assert_eq!(of("full-permission-reviewer"), Some(Language::Both));
        assert_eq!(of("session-leak"), Some(Language::Machines));
        assert_eq!(of("unreviewed-fix"), Some(Language::Steps));
    }
}
