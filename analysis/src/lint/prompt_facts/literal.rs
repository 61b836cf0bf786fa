//! The literal reading of a text: complete commands `orange task update … --status STATE`, commands that `orange` does not have,
//! headings `## Section`, and verdicts `Verdict: WORD`.
//!
//! Nothing here knows grammar. A command counts wherever it stands, unless it names another task or stands between fixed words that
//! forbid it, leave it to a person or say that it is refused. A check that rests on this reading is a heuristic, and never denies a
//! workflow.

use std::collections::HashMap;
use std::ops::Range;

use orange_core::{StateId, Verdict, has_word};

use super::commands::{UnknownCommand, unknown_commands};
use orange_codegen::span::Span;
use orange_codegen::syntax::Text;

/// Content of one prompt, or of one message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The commands, in order.
    pub commands: Vec<Command>,
    /// Words that are written like a command of `orange` and are not one, in order, with their places in the source.
    pub unknown: Vec<(Span, UnknownCommand)>,
    /// The words directly behind `Verdict:`.
    pub verdicts: Vec<VerdictWord>,
    /// True if it shows `Verdict:`.
    pub verdict_line: bool,
}

/// `orange task update … --status NAME` in a prompt or a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The name that it gives.
    pub name: String,
    /// Meaning of that name.
    pub target: StatusTarget,
    /// The verdict for which its line gives it, if that names one alone before it.
    pub verdict: Option<Verdict<'static>>,
    /// The name in the source.
    pub span: Span,
}

/// Status that a command gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusTarget {
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
            StatusTarget::State(to) => Some((it, to)),
            StatusTarget::Unknown | StatusTarget::Open => None,
        })
    }
}

/// Reads a prompt or a message.
pub(super) fn read(text: &Text, states: &HashMap<&str, StateId>) -> Reading {
    let value = text.value.as_str();
    let mut last = 0;
    let commands = updates(value).into_iter().filter_map(|at| {
        let name = status(value, at)?;
        let before = std::mem::replace(&mut last, name.end)..at;
        let (so_far, after) = (&value[before.clone()], &value[name.end..]);
        let is_forbidden = is_forbidden(so_far) && !is_conditional(after);
        if is_forbidden || is_left_to_people(so_far) || is_called_refused(after) || is_for_people(after) {
            return None;
        }
        let written = &value[name.clone()];
        let target = match states.get(written) {
            _ if name.is_empty() || value[name.end..].starts_with(['|', '/']) => StatusTarget::Open,
            Some(state) => StatusTarget::State(*state),
            None => StatusTarget::Unknown,
        };
        let verdict = verdict_before(&value[before]);
        Some(Command { name: written.to_owned(), target, verdict, span: text.locate(name.start, name.end) })
    });
    let words = value.match_indices(VERDICT).flat_map(|(at, it)| verdicts(value, at + it.len()));
    let verdicts =
        words.map(|it| VerdictWord { span: text.locate(it.start, it.end), word: value[it].to_owned() });
    Reading {
        commands: commands.collect(),
        unknown: unknown_commands(value).map(|it| (text.locate(it.place.start, it.place.end), it)).collect(),
        verdicts: verdicts.collect(),
        verdict_line: value.contains(VERDICT),
    }
}

/// The names that the commands `orange task update … --status NAME` of a text give, whatever its words say of them, as bytes of it.
pub fn status_names(text: &str) -> impl Iterator<Item = Range<usize>> {
    updates(text).into_iter().filter_map(|at| status(text, at)).filter(|it| !it.is_empty())
}

/// The bytes behind each `orange task update`.
fn updates(text: &str) -> Vec<usize> {
    let commands = ["orange task update ", "orange} task update "];
    let ends = commands.iter().flat_map(|command| text.match_indices(command).map(|(at, it)| at + it.len()));
    let mut ends: Vec<usize> = ends.collect();
    ends.sort_unstable();
    ends
}

/// Place of a heading such as `## Review` in a text, and not of one that only begins like it, or one of another level.
pub fn find_heading(text: &str, heading: &str) -> Option<Range<usize>> {
    headings(text, heading).next()
}

/// All places of a heading in a text.
pub fn headings<'t>(text: &'t str, heading: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-');
    let found = text.match_indices(heading).map(|(at, it)| at..at + it.len());
    found.filter(move |it| !text[..it.start].ends_with('#') && !text[it.end..].starts_with(is_part))
}

const VERDICT: &str = "Verdict:";

const PEOPLE: [&str; 7] = ["human", "humans", "person", "persons", "people", "maintainer", "maintainers"];
const RUN: [&str; 10] =
    ["run", "runs", "call", "calls", "use", "uses", "execute", "executes", "type", "types"];

/// The words of the sentence in which a command stands, before it: `orange` itself is none of them.
fn sentence(before: &str) -> impl DoubleEndedIterator<Item = &str> + Clone {
    let line = before.rsplit(['\n', ';']).next().unwrap_or_default();
    let sentence = line.rsplit(". ").next().unwrap_or_default();
    let sentence =
        sentence.strip_suffix("orange task update ").or(sentence.strip_suffix("{orange} task update "));
    let is_part = |it: char| it.is_alphabetic() || matches!(it, '\'' | '’');
    sentence.unwrap_or_default().split(move |it: char| !is_part(it)).filter(|it| !it.is_empty())
}

fn is_any(word: Option<&str>, of: &[&str]) -> bool {
    word.is_some_and(|word| of.iter().any(|it| word.eq_ignore_ascii_case(it)))
}

/// True if the words directly before a command forbid it: "do NOT run", "never call".
fn is_forbidden(before: &str) -> bool {
    const NOT: [&str; 7] = ["not", "never", "don't", "don’t", "cannot", "can't", "mustn't"];
    // After "if you cannot, run" the agent runs it.
    let clause = before.rsplit(',').next().unwrap_or_default();
    let mut words = sentence(clause).rev();
    is_any(words.next(), &RUN) && is_any(words.next(), &NOT)
}

/// True if the words behind a command say when it is not forbidden: "before ## Handoff is there".
fn is_conditional(after: &str) -> bool {
    const WHEN: [&str; 9] = ["before", "until", "unless", "without", "if", "when", "while", "yet", "twice"];
    let rest = after.trim_start_matches(['`', '"', '\'', '*', ' ', ',']);
    is_any(rest.split(|it: char| !it.is_alphabetic()).next(), &WHEN)
}

/// True if the sentence before a command leaves it to people: "only a human may run", "a person runs".
fn is_left_to_people(before: &str) -> bool {
    let mut words = sentence(before).skip_while(|it| !it.eq_ignore_ascii_case("only")).skip(1);
    let is_article = |it: &&str| matches!(*it, "a" | "the");
    if is_any(words.find(|it| !is_article(it)), &PEOPLE) {
        return true;
    }
    let mut words = sentence(before).rev();
    let is_run = is_any(words.next(), &RUN);
    let mut who =
        words.skip_while(|it| is_any(Some(it), &["may", "can", "must", "will", "should", "then", "to"]));
    is_run && is_any(who.next(), &PEOPLE)
}

/// True if the words behind a command leave it to people: "is for people only".
fn is_for_people(after: &str) -> bool {
    let after = after.trim_start_matches(['`', '"', '\'', '*', ' ']);
    let mut words = after.split(|it: char| !it.is_alphabetic()).filter(|it| !it.is_empty());
    let is_for = is_any(words.next(), &["is"]) && is_any(words.next(), &["for"]);
    is_for && is_any(words.find(|it| !matches!(*it, "a" | "the" | "only")), &PEOPLE)
}

/// True if the words behind a command say that it is always refused: "would be refused".
fn is_called_refused(after: &str) -> bool {
    let after = after.trim_start_matches(['`', '"', '\'', '*', ' ']);
    let refused = ["would be refused", "will be refused", "is refused"].iter();
    refused.filter_map(|it| after.strip_prefix(it)).any(|rest| {
        let is_condition = |it: &&str| ["if", "when", "while", "until", "unless", "because"].contains(it);
        !rest.split_whitespace().next().is_some_and(|word| is_condition(&word))
    })
}

/// The verdict that the last line of a text names, if it is the only one there.
fn verdict_before(text: &str) -> Option<Verdict<'static>> {
    let line = text.rsplit('\n').next().unwrap_or(text);
    let is_named = |word: &str| line.contains(word) && has_word(line, word);
    let mut named = [Verdict::PASS, Verdict::FAIL].into_iter().filter(|it| is_named(it.as_str()));
    named.next().filter(|_| named.next().is_none())
}

/// Place of the value of `--status` in the arguments of `orange task update`: one line with at most one id, and other flags with
/// their values. It is empty where the text leaves the status open. A command with the id of a certain task is for another task.
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
        } else if !is_open_id(&text[at..]) || std::mem::replace(&mut has_id, true) {
            return None;
        }
        at = argument(text, at)?;
    }
}

/// True if an id that begins a text can be that of any task: `{id}`, `<id>`, `$ID`, `ID`.
fn is_open_id(text: &str) -> bool {
    text.trim_start_matches('"').starts_with(['{', '<', '$'])
        || text.starts_with(|it: char| it.is_ascii_uppercase())
}

fn skip_blanks(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start_matches(' ').len()
}

/// End of the argument that begins here: a quoted text or a word. A backtick ends the code, and with it the command.
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

    /// `<X>` leaves the status open, `!X` is not a state.
    #[track_caller]
    fn check(prompt: &str, expect: &[&str]) {
        let commands = reading(prompt).commands.into_iter().map(|it| match it.target {
            StatusTarget::State(_) => it.name,
            StatusTarget::Open => format!("<{}>", it.name),
            StatusTarget::Unknown => format!("!{}", it.name),
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

    #[track_caller]
    fn check_verdict(prompt: &str, expect: &[Option<Verdict<'_>>]) {
        let found: Vec<Option<Verdict<'_>>> = reading(prompt).commands.iter().map(|it| it.verdict).collect();
        assert_eq!(found, expect, "{prompt}");
    }

    #[test]
    fn the_verdict_of_a_command_stands_before_it_on_its_line() {
        const SET: &str = "orange task update --status";
        check_verdict(
            &format!("- PASS → {SET} done\n- FAIL → {SET} working"),
            &[Some(Verdict::PASS), Some(Verdict::FAIL)],
        );
        check_verdict(
            &format!("PASS: `{SET} done`, FAIL: `{SET} working`"),
            &[Some(Verdict::PASS), Some(Verdict::FAIL)],
        );
        check_verdict(
            &format!("PASS or FAIL: {SET} done\nPASS\n{SET} done\nIf they pass: {SET} done"),
            &[None; 3],
        );
        check_verdict(&format!("{SET} done (PASS)"), &[None]);
    }

    #[test]
    fn words_around_a_command_do_not_count() {
        check("If it fails: orange task update --status stuck", &["stuck"]);
        check("Do NOT set --status done; set the status to stuck.", &[]);
    }

    #[test]
    fn commands_that_are_forbidden_are_none() {
        for words in ["Do NOT run", "You must not call", "Never run", "do it. Don't use", "- Do not execute:"]
        {
            check(&format!("{words} `orange task update --status done`."), &[]);
        }
        check("Never run {orange} task update --status done", &[]);
        for when in ["before ## Handoff is there", "until the tests pass", "unless it builds", "twice"] {
            check(&format!("Do not run `orange task update --status done` {when}."), &["done"]);
        }
        check("Do not wait. Run orange task update --status done", &["done"]);
        check("If it does not build, run orange task update --status stuck", &["stuck"]);
        check("Do not push, run orange task update --status done", &["done"]);
    }

    #[test]
    fn commands_that_people_run_are_none() {
        check("A person runs `orange task update --status done`.", &[]);
        check("A maintainer will run `orange task update --status done` then.", &[]);
        check("`orange task update --status done` is for people only.", &[]);
        check("`orange task update --status done` is for a human.", &[]);
        check("A person waits: run `orange task update --status done`.", &["done"]);
        check("`orange task update --status done` is for work that is over.", &["done"]);
    }

    #[test]
    fn commands_for_others_are_none() {
        check("Only a human may run `orange task update --status done`.", &[]);
        check("It is only the maintainers: orange task update --status done", &[]);
        check("A person decides. When they have: orange task update --status done", &["done"]);
        check("Only then run orange task update --status done", &["done"]);
        check("`orange task update --status done` would be refused.", &[]);
        check("orange task update --status done is refused if the section is missing", &["done"]);
        check("orange task update web-7 --status done", &[]);
        check(
            "orange task update <id> --status done\norange task update ID --status stuck",
            &["done", "stuck"],
        );
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
