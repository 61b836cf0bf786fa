//! Rules for every source file.

use super::{RuleBreach, entries};
use crate::workspace::TextFile;

/// The committed list of files that may be long.
pub(super) const LONG_FILES: &str = "xtask/long-files.txt";

/// A file with more lines needs a reason in the list.
const LONG: usize = 600;

/// Characters that the name of a function may have, tests first of all: longer ones are sentences.
const NAME: usize = 60;

/// Folders of files that are written by the compiler, or that show how not to write.
const NOT_OURS: &[&str] = &["tests/golden/", "macros/tests/ui/"];

/// The only file under `engine` that starts other programs.
const EXEC: &str = "engine/system/src/exec.rs";

/// The modules of the engine that work on the home.
const OF_THE_HOME: &[&str] = &["engine/src/store/", "engine/src/flow/", "engine/src/hooks/"];

/// The programs whose JSON other programs read.
const ANSWERS: &[&str] = &["engine/src/", "tools/cli/src/", "tools/mcp/src/"];

/// Calls that open, move or remove a file of any kind, and follow links.
const FOLLOWS: &[&str] = &[
    "fs::read(",
    "fs::read_to_string(",
    "fs::write(",
    "fs::rename(",
    "fs::remove_file(",
    "fs::create_dir",
    "fs::hard_link(",
    "fs::copy(",
    "File::open(",
    "File::create(",
    "OpenOptions::",
];

/// The drivers of tasks: of a real one, of a simulated one, and of all possible ones.
const DRIVERS: &[&str] = &["engine/src/flow/", "analysis/src/walk/", "analysis/src/search/"];

/// Names that only rules of a task's life need: counters, outcomes of exit rules, and actors.
const RULES: &[&str] = &[
    "CRASH_COUNT",
    "REVIEW_ROUND",
    "ExitDecision",
    "Exit::",
    "Outcome::",
    "DEFAULT_STUCK_AFTER",
    "MAX_RESTARTS",
    "restart_after(",
    "limit_after(",
    "decide_exit(",
    ".decide(",
    ".by.allows(",
];

/// Marks of unfinished code.
const PLACEHOLDERS: &[&str] =
    &[concat!("to", "do!("), concat!("unimple", "mented!("), concat!("#[ig", "nore"), concat!("FIX", "ME")];

pub(super) fn all(files: &[TextFile], long: &TextFile) -> Vec<RuleBreach> {
    let ours = || files.iter().filter(|file| !NOT_OURS.iter().any(|folder| file.path.starts_with(folder)));
    let mut findings: Vec<_> = ours().filter_map(opens_with_a_sentence).collect();
    findings.extend(ours().flat_map(has_placeholders));
    findings.extend(ours().flat_map(has_long_names));
    findings.extend(ours().filter(|file| file.path.starts_with("engine/core/src/")).flat_map(uses_std));
    findings.extend(files.iter().filter_map(core_is_no_std));
    findings.extend(ours().filter(|file| file.path.starts_with("engine/")).flat_map(starts_programs));
    findings.extend(ours().flat_map(opens_files));
    findings.extend(ours().flat_map(writes_json));
    findings.extend(ours().flat_map(has_rules));
    findings.extend(ours().filter_map(|file| is_long(file, long)));
    findings.extend(stale_entries(files, long));
    findings
}

fn opens_with_a_sentence(file: &TextFile) -> Option<RuleBreach> {
    let opening: Vec<_> = file
        .text
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .take_while(|text| !text.is_empty())
        .collect();
    let sentence = opening.join("");
    let reads_well = sentence.starts_with(' ') && sentence.ends_with(['.', '?', '!', ':', '`']);
    (!reads_well).then(|| {
        RuleBreach::new(
            &file.path,
            "does not open with a sentence",
            "write `//! What this file is for.` as its first line",
        )
    })
}

fn has_placeholders(file: &TextFile) -> impl Iterator<Item = RuleBreach> {
    file.text.lines().zip(1..).filter_map(|(line, number)| {
        let found = PLACEHOLDERS.iter().find(|placeholder| line.contains(**placeholder))?;
        let place = format!("{}:{number}", file.path);
        Some(RuleBreach::new(place, format!("has `{found}`"), "write what belongs there, or take it out"))
    })
}

fn has_long_names(file: &TextFile) -> impl Iterator<Item = RuleBreach> {
    file.text.lines().zip(1..).filter_map(|(line, number)| {
        let (_, name) = line.trim_start().split_once("fn ").filter(|(before, _)| is_signature(before))?;
        let length = name.find(|it: char| !it.is_ascii_alphanumeric() && it != '_').unwrap_or(name.len());
        let place = format!("{}:{number}", file.path);
        (length > NAME).then(|| {
            let problem = format!("has a name of {length} characters, more than {NAME}");
            RuleBreach::new(place, problem, "say subject and outcome: `a_broken_link_is_refused`")
        })
    })
}

/// True if these are the words before `fn` in a declaration.
fn is_signature(before: &str) -> bool {
    before.split_whitespace().all(|word| word.starts_with("pub") || ["async", "const"].contains(&word))
}

fn core_is_no_std(file: &TextFile) -> Option<RuleBreach> {
    let missing =
        file.path == "engine/core/src/lib.rs" && !file.text.lines().any(|line| line == "#![no_std]");
    missing.then(|| {
        RuleBreach::new(
            &file.path,
            "is not `no_std`",
            "write `#![no_std]`: it is what keeps the core free of input and output",
        )
    })
}

fn uses_std(file: &TextFile) -> impl Iterator<Item = RuleBreach> {
    code_outside_tests(file).filter(|(_, code)| code.contains("std::")).map(|(number, _)| {
        let place = format!("{}:{number}", file.path);
        RuleBreach::new(
            place,
            "the core uses std",
            "use `core::` or `alloc::`; the outside world belongs into the engine",
        )
    })
}

fn starts_programs(file: &TextFile) -> impl Iterator<Item = RuleBreach> {
    let elsewhere = file.path != EXEC;
    code_outside_tests(file).filter(move |(_, code)| elsewhere && code.contains("Command::new(")).map(
        |(number, _)| {
            let place = format!("{}:{number}", file.path);
            RuleBreach::new(
                place,
                "starts a program directly",
                "go through engine/system/src/exec.rs, where time limits and the environment are seen to",
            )
        },
    )
}

fn opens_files(file: &TextFile) -> impl Iterator<Item = RuleBreach> {
    let is_watched = OF_THE_HOME.iter().any(|room| file.path.starts_with(room));
    let opens = move |code: &str| {
        is_watched && !code.contains("\"/proc/") && FOLLOWS.iter().any(|it| code.contains(it))
    };
    code_outside_tests(file).filter(move |(_, code)| opens(code)).map(|(number, _)| {
        let place = format!("{}:{number}", file.path);
        RuleBreach::new(
            place,
            "opens, moves or removes a file of the home directly",
            "go through engine/system/src/nofollow.rs, which follows no link and never blocks",
        )
    })
}

fn writes_json(file: &TextFile) -> impl Iterator<Item = RuleBreach> {
    let answers = ANSWERS.iter().any(|folder| file.path.starts_with(folder));
    code_outside_tests(file).filter(move |(_, code)| answers && code.contains("json!(")).map(|(number, _)| {
        let place = format!("{}:{number}", file.path);
        RuleBreach::new(place, "writes JSON by hand", "declare its type, in engine/api or tools/cli/src/json")
    })
}

fn has_rules(file: &TextFile) -> impl Iterator<Item = RuleBreach> {
    let is_driver = DRIVERS.iter().any(|room| file.path.starts_with(room));
    let rule = move |code: &str| RULES.iter().find(|it| is_driver && code.contains(**it));
    code_outside_tests(file).filter_map(move |(number, code)| {
        let problem = format!("decides instead of the core (`{}`)", rule(code)?);
        let place = format!("{}:{number}", file.path);
        Some(RuleBreach::new(place, problem, "ask `Machine::life`, and carry out what it answers"))
    })
}

fn is_long(file: &TextFile, list: &TextFile) -> Option<RuleBreach> {
    let lines = file.text.lines().count();
    let listed = entries(list).any(|entry| entry.name == file.path && !entry.reason.is_empty());
    (lines > LONG && !listed).then(|| {
        let problem = format!("has {lines} lines, more than {LONG}");
        RuleBreach::new(&file.path, problem, "split it, or list it in xtask/long-files.txt with the reason")
    })
}

fn stale_entries(files: &[TextFile], list: &TextFile) -> Vec<RuleBreach> {
    let long = |name: &str| files.iter().any(|file| file.path == name && file.text.lines().count() > LONG);
    entries(list)
        .filter(|entry| !long(entry.name))
        .map(|entry| {
            RuleBreach::new(entry.place, format!("{} is not long", entry.name), "take the line away")
        })
        .collect()
}

/// A member that does not take the workspace's lints.
pub(super) fn lints_are_the_workspaces(manifest: &TextFile) -> Option<RuleBreach> {
    let is_root = manifest.text.contains("[workspace]\n");
    let takes_them = manifest.text.contains("\n[lints]\nworkspace = true\n");
    (!is_root && !takes_them).then(|| {
        RuleBreach::new(
            &manifest.path,
            "does not take the workspace's lints",
            "write `[lints]` and `workspace = true`",
        )
    })
}

/// The lines of a file up to its tests, without comments, with their numbers. Files of tests have none.
pub(super) fn code_outside_tests(file: &TextFile) -> impl Iterator<Item = (usize, &str)> {
    let is_of_tests = ["/tests.rs", "/testing.rs"].iter().any(|end| file.path.ends_with(end))
        || file.path.contains("/tests/");
    let text = if is_of_tests { "" } else { file.text.as_str() };
    let mut is_over = false;
    let mut before = "";
    let lines = text.lines().zip(1..).filter(move |(line, _)| {
        let is_for_tests = before.trim() == "#[cfg(test)]";
        before = line;
        // A module of tests in a file of its own ends no file.
        is_over |= is_for_tests && !(line.contains("mod ") && line.ends_with(';'));
        !is_over && !is_for_tests
    });
    lines.map(|(line, number)| (number, line.split_once("//").map_or(line, |(code, _)| code)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> TextFile {
        TextFile { path: path.to_string(), text: text.to_string() }
    }

    #[track_caller]
    fn check(path: &str, text: &str, expect: &[&str]) {
        let found: Vec<_> =
            all(&[file(path, text)], &file("l", "")).into_iter().map(|finding| finding.place).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn files_open_with_a_sentence() {
        check("a.rs", "//! What it is.\n", &[]);
        check("a.rs", "//! What it is,\n//! on two lines.\n//!\n//! More\n", &[]);
        check("a.rs", "//! `orange task list`\n", &[]);
        check("a.rs", "//! what it is\n", &["a.rs"]);
        check("a.rs", "use std::fmt;\n", &["a.rs"]);
        check("a.rs", "", &["a.rs"]);
        check("tests/golden/a.rs", "mod a {}\n", &[]);
    }

    #[test]
    fn nothing_is_left_for_later() {
        check("a.rs", concat!("//! A.\nfn f() { to", "do!() }\n"), &["a.rs:2"]);
        check("a.rs", concat!("//! A.\n#[test]\n#[ig", "nore]\nfn f() {}\n"), &["a.rs:3"]);
    }

    #[test]
    fn long_names_are_found() {
        let declared = |length: usize| format!("//! A.\n    pub async fn {}() {{}}\n", "a".repeat(length));
        check("a.rs", &declared(NAME), &[]);
        check("a.rs", &declared(NAME + 1), &["a.rs:2"]);
        check("a.rs", &declared(NAME + 1).replace("pub async fn", "// A fn"), &[]);
    }

    #[test]
    fn the_core_has_no_std() {
        check("engine/core/src/a.rs", "//! A.\nuse std::fs;\n", &["engine/core/src/a.rs:2"]);
        check(
            "engine/core/src/a.rs",
            "//! A, no std::fs.\nuse core::fmt;\n#[cfg(test)]\nuse std::fs;\n",
            &[],
        );
        check("engine/core/src/lib.rs", "//! A.\n", &["engine/core/src/lib.rs"]);
        check("engine/core/src/lib.rs", "//! A.\n#![no_std]\n", &[]);
    }

    #[test]
    fn one_file_opens_those_of_the_home() {
        let text = "//! A.\nfn f() { fs::read(path); }\nfn g() { fs::read(\"/proc/x\"); }\n";
        check("engine/src/store/pool.rs", text, &["engine/src/store/pool.rs:2"]);
        check("engine/system/src/nofollow.rs", text, &[]);
    }

    #[test]
    fn who_drives_a_task_has_no_rules() {
        let text = "//! A.\nfn f() { machine.decide_exit(view, end); }\n// CRASH_COUNT\n";
        for room in ["engine/src/flow", "analysis/src/walk", "analysis/src/search"] {
            let place = format!("{room}/a.rs");
            check(&place, text, &[&format!("{place}:2")]);
        }
        check("engine/core/src/life.rs", text, &[]);
    }

    #[test]
    fn json_is_written_from_types() {
        let text = "//! A.\nfn f() { json!({}) }\n#[cfg(test)]\nmod tests { fn f() { json!({}) } }\n";
        check("engine/src/cmd/a.rs", text, &["engine/src/cmd/a.rs:2"]);
        check("tools/cli/src/cmd/a.rs", text, &["tools/cli/src/cmd/a.rs:2"]);
        check("xtask/src/scratch.rs", text, &[]);
    }

    #[test]
    fn one_file_starts_programs() {
        let text = "//! A.\nfn f() { Command::new(\"tmux\"); }\n";
        check("engine/src/drive/tmux.rs", text, &["engine/src/drive/tmux.rs:2"]);
        check("engine/system/src/exec.rs", text, &[]);
        check("xtask/src/workspace.rs", text, &[]);
    }

    #[test]
    fn a_long_file_has_a_reason() {
        let long = [file("a.rs", &format!("//! A.\n{}", "\n".repeat(LONG)))];
        assert_eq!(all(&long, &file("l", "")).len(), 1);
        assert_eq!(all(&long, &file("l", "a.rs")).len(), 1);
        assert_eq!(all(&long, &file("l", "a.rs # a table")), []);
        assert_eq!(all(&[file("a.rs", "//! A.\n")], &file("l", "a.rs # a table")).len(), 1);
    }

    #[test]
    fn members_take_the_workspaces_lints() {
        assert_eq!(
            lints_are_the_workspaces(&file("a/Cargo.toml", "[package]\n\n[lints]\nworkspace = true\n")),
            None
        );
        assert!(lints_are_the_workspaces(&file("a/Cargo.toml", "[package]\n")).is_some());
        assert_eq!(lints_are_the_workspaces(&file("Cargo.toml", "[workspace]\n")), None);
    }
}
