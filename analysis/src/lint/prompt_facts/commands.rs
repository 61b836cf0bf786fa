//! Calls of `orange` in a text, held against the commands and options that it has.

use std::ops::Range;

use orange_core::{COMMANDS, options, unknown_command};

use orange_codegen::suggest;

/// A command is not followed further than this.
const MAX_LINE: usize = 400;

/// Words that are written like a command of `orange`, which has none of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCommand {
    /// Place of the words in the text.
    pub place: Range<usize>,
    pub written: String,
    /// Reason why they are not one: `is not a command`.
    pub why: &'static str,
    pub help: String,
}

/// Words that are written like a command of `orange` and are not one: at the beginning of a line, of code or after a colon or
/// `run`.
pub fn unknown_commands(text: &str) -> impl Iterator<Item = UnknownCommand> {
    let names = ["orange ", "{orange} ", "{{orange}} "];
    let mut found: Vec<UnknownCommand> = names
        .iter()
        .flat_map(|name| text.match_indices(name).map(|(at, it)| (at, at + it.len())))
        .filter(|(at, end)| {
            is_called(&text[..*at]) && !is_prose(&text[..*at], &text[*at..*end], &text[*end..])
        })
        .filter_map(|(at, end)| unknown_at(text, at, end).or_else(|| unknown_option(text, at, end)))
        .collect();
    found.sort_by_key(|it| it.place.start);
    found.into_iter()
}

/// True if what follows this text is a command rather than prose.
pub(super) fn is_called(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or(before);
    let is_mark = |it: char| it.is_ascii_digit() || matches!(it, ' ' | '-' | '*' | '.' | ')' | '$' | '`');
    line.trim_start_matches(is_mark).is_empty()
        || line.ends_with(['`', '"'])
        || [": ", "→ ", "run ", "Run "].iter().any(|it| line.ends_with(it))
}

/// True if a line begins with a sentence about orange: "orange is a tool". A command there is one of a group, or written like one.
fn is_prose(before: &str, name: &str, after: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or(before);
    if name != "orange " || !line.trim_start().is_empty() {
        return false;
    }
    let rest = after.lines().next().unwrap_or_default();
    let first = rest.split(' ').next().unwrap_or_default();
    let names =
        || COMMANDS.iter().flat_map(|(name, below)| std::iter::once(*name).chain(below.iter().copied()));
    let is_near = first.len() > 3 && suggest::closest(first, names()).is_some();
    !is_near && !rest.contains(" --")
}

/// The command of a text that stands at a place, with its words from `words` on, if `orange` does not have it.
fn unknown_at(text: &str, at: usize, words: usize) -> Option<UnknownCommand> {
    let is_part = |it: char| it.is_ascii_lowercase() || it == '-';
    let rest = &text[words..];
    let mut found: Vec<&str> = Vec::new();
    for word in rest.split(' ').take(2) {
        let name = &word[..word.find(|it| !is_part(it)).unwrap_or(word.len())];
        // `task|mission`, `<command>` and `--help` are for readers to fill in, and no names.
        let tail = &word[name.len()..];
        if name.is_empty() || name.starts_with('-') || tail.starts_with(['|', '/', '<', '{', '(', '_']) {
            break;
        }
        found.push(name);
        if !tail.is_empty() {
            break;
        }
    }
    let (wrong, known) = unknown_command(found.iter().copied())?;
    let length = found[..=wrong].join(" ").len();
    let with = |word: &str| format!("{}{}", &text[at..words], [&found[..wrong], &[word]].concat().join(" "));
    let help = match (below(found[wrong]).filter(|_| wrong == 0), suggest::closest(found[wrong], known)) {
        (Some(group), _) => format!("did you mean `{}`?", with(&format!("{group} {}", found[wrong]))),
        (None, Some(close)) => format!("did you mean `{}`?", with(close)),
        (None, None) => format!("`{}` lists the commands", with("--help")),
    };
    let place = at..words + length;
    Some(UnknownCommand { written: text[place.clone()].to_owned(), why: "is not a command", place, help })
}

/// The first option of a command that stands at a place, with its words from `words` on, that the command does not have.
fn unknown_option(text: &str, at: usize, words: usize) -> Option<UnknownCommand> {
    let rest = &text[words..text.floor_char_boundary(words + MAX_LINE)];
    let rest = rest.split(['\n', '`', '\'']).next().unwrap_or_default();
    let (group, behind) = rest.split_once(' ')?;
    let (_, below) = COMMANDS.iter().find(|(name, _)| *name == group)?;
    let (command, mut line) = if below.is_empty() {
        (group.to_owned(), behind)
    } else {
        let (name, behind) = behind.split_once(' ')?;
        let name = below.iter().find(|it| **it == name)?;
        (format!("{group} {name}"), behind)
    };
    line = line.trim_start();
    // One word that belongs to no option is an id; after a second one, the text is prose.
    let (mut free, mut at_word) = (1, words + rest.len() - line.len());
    while let Some(word) = argument_of(line).filter(|it| *it != "--" && !it.starts_with('(')) {
        if let Some(option) = word.strip_prefix("--") {
            let is_part = |it: char| it.is_ascii_lowercase() || it == '-';
            let name = &option[..option.find(|it| !is_part(it)).unwrap_or(option.len())];
            let known = options(&command);
            if name.len() > 1 && !known.clone().any(|it| it == name) {
                let named = format!("{}{command}", &text[at..words]);
                let help = match suggest::closest(name, known) {
                    Some(close) => format!("did you mean `--{close}`?"),
                    None => format!("`{named} --help` lists the options"),
                };
                let place = at_word..at_word + 2 + name.len();
                return Some(UnknownCommand {
                    place,
                    written: format!("{named} --{name}"),
                    why: "has no such option",
                    help,
                });
            }
            free += usize::from(!option.contains('='));
        } else if word.starts_with('"') || free > 0 {
            free = free.saturating_sub(1);
        } else {
            break;
        }
        let behind = line[word.len()..].trim_start();
        if word.ends_with(['.', ',', ';', ':', ')']) {
            break;
        }
        at_word += line.len() - behind.len();
        line = behind;
    }
    None
}

/// The first word of a line, or the first text in quotation marks.
fn argument_of(line: &str) -> Option<&str> {
    let length = match line.strip_prefix('"') {
        Some(quoted) => quoted.find('"').map_or(line.len(), |it| it + 2),
        None => line.find(' ').unwrap_or(line.len()),
    };
    (length > 0).then(|| &line[..length])
}

/// The group of commands that has one of this name, of several the one that agents use.
fn below(name: &str) -> Option<&'static str> {
    let has = |group: &&str| COMMANDS.iter().any(|(it, below)| it == group && below.contains(&name));
    ["task", "step"].into_iter().chain(COMMANDS.iter().map(|(it, _)| *it)).find(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_unknown(text: &str, expect: &[(&str, &str)]) {
        let found: Vec<UnknownCommand> = unknown_commands(text).collect();
        let found: Vec<_> = found.iter().map(|it| (&text[it.place.clone()], it.help.as_str())).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn commands_that_are_none_are_found_where_they_are_called() {
        check_unknown(
            "Then run: orange update --status done",
            &[("orange update", "did you mean `orange task update`?")],
        );
        check_unknown(
            "`{orange} task status`",
            &[("{orange} task status", "`{orange} task --help` lists the commands")],
        );
        check_unknown(
            "1. orange task updat --status x",
            &[("orange task updat", "did you mean `orange task update`?")],
        );
        check_unknown("PASS → orange tsk update", &[("orange tsk", "did you mean `orange task`?")]);
        check_unknown(
            "{{orange}} mission status\nrun orange stop",
            &[
                ("{{orange}} mission status", "`{{orange}} mission --help` lists the commands"),
                ("orange stop", "did you mean `orange task stop`?"),
            ],
        );
    }

    #[test]
    fn options_that_a_command_does_not_have_are_found() {
        for (line, option, help) in [
            ("orange task update --summry \"x y\" --status done", "--summry", "did you mean `--summary`?"),
            ("orange task update --stat review", "--stat", "did you mean `--status`?"),
            ("orange task update {id} --foo bar", "--foo", "`orange task update --help` lists the options"),
            ("Run orange task show --jsonn first.", "--jsonn", "did you mean `--json`?"),
            ("orange task update --status done --dry-runs", "--dry-runs", "did you mean `--dry-run`?"),
        ] {
            check_unknown(line, &[(option, help)]);
        }
        for line in [
            "orange task update --status done, then git push --force",
            "orange task list then git push --force",
            "orange task update --status=done --summary \"with --odd words\"",
            "orange task update --status done (with --force, nothing else)",
            "orange task show ID --json",
            "orange task diff --stat -- --what",
        ] {
            check_unknown(line, &[]);
        }
    }

    #[test]
    fn prose_and_commands_with_blanks_to_fill_in_are_none() {
        check_unknown("orange is a tool that runs agents.\norange has tasks", &[]);
        check_unknown("An orange peel; the orange update is red. `orange` task.", &[]);
        for blank in ["<command>", "task|mission list", "--help", "task", "task <command>", "task {command}"]
        {
            check_unknown(&format!("`orange {blank}`"), &[]);
        }
        check_unknown(
            "orange task update --status x\norange ls\n`orange task show ID`\norange doctor now",
            &[],
        );
    }
}
