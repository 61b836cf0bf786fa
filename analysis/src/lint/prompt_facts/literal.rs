//! The literal reading of a text: complete commands `orange task update … --status STATE`, headings `## Section`, and verdicts
//! `Verdict: WORD`.
//!
//! Nothing here knows grammar. A command counts wherever it stands, also behind "do not": a check that rests on this reading is a
//! heuristic, and never denies a workflow.

use std::collections::HashMap;
use std::ops::Range;

use orange_core::StateId;

use orange_codegen::span::Span;
use orange_codegen::syntax::Text;

/// What one prompt, or one message, says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The commands, in order.
    pub commands: Vec<Command>,
    /// The words directly behind `Verdict:`.
    pub verdicts: Vec<VerdictWord>,
    /// Whether it shows `Verdict:`.
    pub verdict_line: bool,
}

/// `orange task update … --status NAME` in a prompt or a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The name that it gives.
    pub name: String,
    /// What that name means.
    pub target: Target,
    /// The name in the source.
    pub span: Span,
}

/// What a command gives as the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// This state.
    State(StateId),
    /// A name that no state has.
    Unknown,
    /// Whatever the agent puts there: `<status>`, `working|stuck`.
    Open,
}

/// A word directly behind `Verdict:`, in capitals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictWord {
    /// The word in the source.
    pub span: Span,
    /// As it is written.
    pub word: String,
}

impl Reading {
    /// The commands that name a state, with that state.
    pub fn targets(&self) -> impl Iterator<Item = (&Command, StateId)> {
        self.commands.iter().filter_map(|it| match it.target {
            Target::State(to) => Some((it, to)),
            Target::Unknown | Target::Open => None,
        })
    }
}

/// Reads a prompt or a message.
pub(super) fn read(text: &Text, states: &HashMap<&str, StateId>) -> Reading {
    let value = text.value.as_str();
    let ends = ["orange task update ", "orange} task update "]
        .iter()
        .flat_map(|command| value.match_indices(command).map(|(at, it)| at + it.len()));
    let mut ends: Vec<usize> = ends.collect();
    ends.sort_unstable();
    let commands = ends.into_iter().filter_map(|at| {
        let name = status(value, at)?;
        let written = &value[name.clone()];
        let target = match states.get(written) {
            _ if name.is_empty() || value[name.end..].starts_with(['|', '/']) => Target::Open,
            Some(state) => Target::State(*state),
            None => Target::Unknown,
        };
        Some(Command { name: written.to_owned(), target, span: text.locate(name.start, name.end) })
    });
    let words = value.match_indices(VERDICT).flat_map(|(at, it)| verdicts(value, at + it.len()));
    let verdicts =
        words.map(|it| VerdictWord { span: text.locate(it.start, it.end), word: value[it].to_owned() });
    Reading {
        commands: commands.collect(),
        verdicts: verdicts.collect(),
        verdict_line: value.contains(VERDICT),
    }
}

/// Where a text has a heading such as `## Review`, and not one that only begins like it, or one of another level.
pub fn find_heading(text: &str, heading: &str) -> Option<Range<usize>> {
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-');
    let mut found = text.match_indices(heading).map(|(at, it)| at..at + it.len());
    found.find(|it| !text[..it.start].ends_with('#') && !text[it.end..].starts_with(is_part))
}

const VERDICT: &str = "Verdict:";

/// Where the value of `--status` stands in the arguments of `orange task update`: one line with at most one id, and other flags with
/// their values. It is empty where the text leaves the status open.
fn status(text: &str, mut at: usize) -> Option<Range<usize>> {
    let mut has_id = false;
    loop {
        at = skip_blanks(text, at);
        if let Some(value) = text[at..].strip_prefix("--status").filter(|it| it.starts_with([' ', '='])) {
            let value = value[1..].trim_start_matches([' ', '`', '"', '\'', '*']);
            let start = text.len() - value.len();
            let is_part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_');
            let name = &value[..value.find(|it| !is_part(it)).unwrap_or(value.len())];
            let is_given = !value.is_empty() && !value.starts_with('\n');
            return is_given.then(|| start..start + name.trim_end_matches(['-', '_']).len());
        }
        if text[at..].starts_with("--") {
            at = skip_blanks(text, argument(text, at)?);
        } else if std::mem::replace(&mut has_id, true) {
            return None;
        }
        at = argument(text, at)?;
    }
}

fn skip_blanks(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start_matches(' ').len()
}

/// Where the argument ends that begins here: a quoted text or a word. A backtick ends the code, and with it the command.
fn argument(text: &str, at: usize) -> Option<usize> {
    let (start, end) = if text[at..].starts_with('"') { (at + 1, '"') } else { (at, ' ') };
    let length = text[start..].find([end, '\n', '`'])?;
    let is_whole = length > 0 && text[start + length..].starts_with(end);
    is_whole.then(|| start + length + usize::from(end == '"'))
}

/// The words in capitals that stand directly behind `Verdict:`, several where `|` or `/` is between them.
fn verdicts(text: &str, at: usize) -> impl Iterator<Item = Range<usize>> {
    let rest = text[at..].trim_start_matches([' ', '`', '"', '*', '<', '(', '{']);
    let is_word = |it: char| it.is_ascii_alphanumeric() || matches!(it, '|' | '/' | '_' | '-');
    let words = &rest[..rest.find(|it| !is_word(it)).unwrap_or(rest.len())];
    let mut start = text.len() - rest.len();
    let words = words.split(['|', '/']).map(move |word| {
        let range = start..start + word.len();
        start = range.end + 1;
        range
    });
    words.filter(|it| it.len() > 1 && text[it.clone()].bytes().all(|it| it.is_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATES: [&str; 4] = ["working", "agent-review", "stuck", "done"];

    fn reading(prompt: &str) -> Reading {
        let states = STATES.into_iter().zip((0u16..).map(StateId)).collect();
        read(&Text::verbatim(prompt.to_owned(), Span::default()), &states)
    }

    /// `<X>` leaves the status open, `!X` is no state.
    #[track_caller]
    fn check(prompt: &str, expect: &[&str]) {
        let commands = reading(prompt).commands.into_iter().map(|it| match it.target {
            Target::State(_) => it.name,
            Target::Open => format!("<{}>", it.name),
            Target::Unknown => format!("!{}", it.name),
        });
        assert_eq!(commands.collect::<Vec<_>>(), expect, "{prompt}");
    }

    #[test]
    fn complete_commands_are_read_in_every_form() {
        check("", &[]);
        check("Do it, then run: orange task update --status done", &["done"]);
        check("Run `orange task update --status agent-review`.", &["agent-review"]);
        check("7. {orange} task update --status agent-review (then wait)", &["agent-review"]);
        check("orange task update --status=agent-review", &["agent-review"]);
        check("orange task update --status \"agent-review\"", &["agent-review"]);
        check("orange task update --status **done**.", &["done"]);
        check("orange task update {id} --summary \"what it is\" --status working", &["working"]);
        check(
            "- good: orange task update --status done\n- bad: {orange} task update --status working",
            &["done", "working"],
        );
    }

    #[test]
    fn words_around_a_command_do_not_count() {
        check("Do NOT run `orange task update --status done`.", &["done"]);
        check("If it fails: orange task update --status stuck", &["stuck"]);
        check("Do NOT set --status done; set the status to stuck.", &[]);
    }

    #[test]
    fn flags_that_are_only_named_are_no_command() {
        check("Use the --status flag of orange task update.", &[]);
        check("Use orange task update with the --status flag.", &[]);
        check("Use `orange task update` and --status done.", &[]);
        check("Use `orange task update --status` to set it.", &[]);
        check("orange task update --statuses done", &[]);
        check("orange task update --status", &[]);
        check("orange task update\n--status done", &[]);
    }

    #[test]
    fn names_of_no_state_and_open_ones_are_distinguished() {
        check("orange task update --status agent_review", &["!agent_review"]);
        check("orange task update --status finished", &["!finished"]);
        check("orange task update --status <status>", &["<>"]);
        check("orange task update --status {next}", &["<>"]);
        check("orange task update --status ...", &["<>"]);
        check("orange task update --status working|stuck", &["<working>"]);
        check("orange task update --status done/stuck", &["<done>"]);
    }

    #[test]
    fn headings_are_whole_and_of_one_level() {
        let find = |text: &str| find_heading(text, "## Review");
        assert_eq!(find("Read ## Review."), Some(5..14));
        assert_eq!(find("## Reviews and ## Review"), Some(15..24));
        assert_eq!(find("### Review"), None);
        assert_eq!(find("## Review-notes"), None);
        assert_eq!(find("the review section"), None);
    }

    #[track_caller]
    fn check_verdicts(prompt: &str, words: &[&str], line: bool) {
        let reading = reading(prompt);
        let found: Vec<&str> = reading.verdicts.iter().map(|it| it.word.as_str()).collect();
        assert_eq!((found, reading.verdict_line), (words.to_vec(), line), "{prompt}");
    }

    #[test]
    fn verdicts_are_words_in_capitals_behind_the_colon() {
        check_verdicts("First line: \"Verdict: PASS\" or `Verdict: FAIL`", &["PASS", "FAIL"], true);
        check_verdicts("Verdict: <PASS|FAIL|BLOCKED>", &["PASS", "FAIL", "BLOCKED"], true);
        check_verdicts("Verdict: APPROVED/REJECTED", &["APPROVED", "REJECTED"], true);
        check_verdicts("Verdict: what you think", &[], true);
        check_verdicts("Verdict: <your verdict>", &[], true);
        check_verdicts("Write a verdict (PASS/FAIL).", &[], false);
    }

    #[test]
    fn hostile_prompts_are_read_without_panic() {
        let odd =
            ["--status", "`", "\n", "—", "\"", "Verdict:", "=", " ", "é", "{", "|", "orange task update "];
        for first in odd {
            for second in odd {
                reading(&[first, second, "orange task update ", first, "--status ", second].concat());
            }
        }
        for piece in ["orange task update --a ", "orange task update --a \"", "Verdict: A|", "--status "] {
            reading(&piece.repeat(20_000));
        }
    }
}
