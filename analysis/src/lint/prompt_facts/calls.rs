//! Calls in a text that a wall refuses: programs that need the network, and commands of `orange` that no companion runs.

use std::ops::Range;

use orange_core::{COMMANDS, is_refused_in_wall};

use super::commands::is_called;

/// The beginnings of commands that connect to a host.
const CONNECTING: &[&str] = &[
    "git push",
    "git fetch",
    "git pull",
    "git clone",
    "git ls-remote",
    "gh pr",
    "gh issue",
    "gh api",
    "gh run",
    "gh repo",
    "gh release",
    "glab mr",
    "glab issue",
    "npm install",
    "npm ci",
    "npm publish",
    "pnpm install",
    "yarn install",
    "pip install",
    "cargo install",
    "cargo publish",
    "go get",
    "gem install",
    "bundle install",
    "apt install",
    "apt-get install",
    "curl ",
    "wget ",
];

/// The places of calls of programs that need the network, in their order: where a command begins, and behind `&&`.
pub fn network_calls(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut found: Vec<Range<usize>> = CONNECTING
        .iter()
        .flat_map(|call| text.match_indices(call).map(move |(at, it)| at..at + it.trim_end().len()))
        .filter(|place| is_begun(&text[..place.start]) && is_whole(&text[place.end..]))
        .collect();
    found.sort_by_key(|it| it.start);
    found.into_iter()
}

/// The places of calls of `orange` that are refused to an agent in a wall, in their order. `delegates`: an agent may create tasks.
pub fn refused_calls(text: &str, delegates: bool) -> impl Iterator<Item = Range<usize>> {
    let names = ["orange ", "{orange} ", "{{orange}} "];
    let mut found: Vec<Range<usize>> = names
        .iter()
        .flat_map(|name| text.match_indices(name).map(|(at, it)| (at, at + it.len())))
        .filter(|(at, _)| is_begun(&text[..*at]))
        .filter_map(|(at, words)| {
            let length = refused(&text[words..], delegates)?;
            Some(at..words + length)
        })
        .collect();
    found.sort_by_key(|it| it.start);
    found.into_iter()
}

/// The length of the command at the beginning of a text, if it is one that is refused.
fn refused(text: &str, delegates: bool) -> Option<usize> {
    let word_of = |text: &str| {
        text.len() - text.trim_start_matches(|it: char| it.is_ascii_lowercase() || it == '-').len()
    };
    let group = &text[..word_of(text)];
    let (_, below) = COMMANDS.iter().find(|(name, _)| *name == group)?;
    let behind = text[group.len()..].strip_prefix(' ').unwrap_or_default();
    let name = &behind[..word_of(behind)];
    let (command, length) = if below.is_empty() {
        (group.to_owned(), group.len())
    } else {
        below.iter().find(|it| **it == name && **it != "help")?;
        (format!("{group} {name}"), group.len() + 1 + name.len())
    };
    let is_refused = is_refused_in_wall(&command) || command == "task create" && !delegates;
    (is_refused && is_whole(&text[length..])).then_some(length)
}

fn is_begun(before: &str) -> bool {
    is_called(before) || before.ends_with("&& ")
}

/// True if a word has ended before this text.
fn is_whole(behind: &str) -> bool {
    !behind.starts_with(|it: char| it.is_alphanumeric() || matches!(it, '-' | '_' | '|' | '/' | '<'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_need_the_network_are_found_at_their_calls() {
        let found = |text: &str| network_calls(text).map(|it| text[it].to_owned()).collect::<Vec<_>>();
        assert_eq!(found("Run git push, then `gh pr create`."), ["git push", "gh pr"]);
        assert_eq!(
            found("1. npm install && git fetch origin\n2. curl https://x"),
            ["npm install", "git fetch", "curl"]
        );
        for text in [
            "Never run anything like a git push.",
            "The commit is pushed by Orange; `git push-all` is not a command.",
            "Run git pushes of others",
            "Use `git log` and `git status`.",
            "A curl of hair",
        ] {
            assert!(found(text).is_empty(), "{text}: {:?}", found(text));
        }
    }

    #[test]
    fn commands_that_are_refused_in_a_wall_are_found() {
        let found = |text: &str, delegates| {
            refused_calls(text, delegates).map(|it| text[it].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(found("`{orange} task create x y`", false), ["{orange} task create"]);
        assert_eq!(found("`{orange} task create x y`", true), [""; 0]);
        assert_eq!(found("Run orange task list, then orange doctor", false), ["orange task list"]);
        assert_eq!(
            found("orange ls\n- {{orange}} task merge", false),
            ["orange ls", "{{orange}} task merge"]
        );
        for text in [
            "orange task update --status done",
            "`{orange} task verdict PASS -`",
            "Run {{orange}} step complete",
            "run orange mission show",
            "orange task --help",
            "Nobody may call orange task list here.",
        ] {
            assert!(found(text, false).is_empty(), "{text}: {:?}", found(text, false));
        }
    }
}
