//! Gates: what the body must contain before a transition is allowed.

use alloc::string::String;
use core::fmt;

use crate::section::{fingerprint, prose_lines, section, visible_lines};
use crate::{Checks, OpenChildren, Program};

/// The judgement of a reviewer, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Verdict<'a>(&'a str);

impl<'a> Verdict<'a> {
    /// The work is good.
    pub const PASS: Verdict<'static> = Verdict("PASS");

    /// It is not good.
    pub const FAIL: Verdict<'static> = Verdict("FAIL");

    /// The verdicts of a section whose gates name no others.
    pub const BOTH: [&'static str; 2] = [Verdict::PASS.0, Verdict::FAIL.0];

    /// The verdict that is this word of a workflow.
    pub const fn new(word: &'a str) -> Verdict<'a> {
        Verdict(word)
    }

    /// The word as it stands in an artifact.
    pub const fn as_str(self) -> &'a str {
        self.0
    }
}

/// Part of the work that has to be as it was when a gate accepted a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictOf {
    /// The changes since the base.
    Patch,
    /// The commit.
    Commit,
}

impl VerdictOf {
    /// The word in a workflow.
    pub const fn as_str(self) -> &'static str {
        match self {
            VerdictOf::Patch => "patch",
            VerdictOf::Commit => "commit",
        }
    }
}

impl fmt::Display for Verdict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One requirement of a transition, or of an exit rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate<'a> {
    /// The task's body has this.
    Section(SectionGate<'a>),
    /// The task's body has one of these; there is at least one.
    AnySection(&'a [SectionGate<'a>]),
    /// This program succeeds in the task's worktree.
    Command(Program<'a>),
    /// This program succeeds on the result of the merge to which the transition belongs.
    OnMerge(Program<'a>),
    /// The checks of the task's pull request are green.
    Checks,
    /// Some task that the task has created is open, or none is.
    Children(OpenChildren),
}

/// Requirement on one section. Every part that is set must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionGate<'a> {
    /// The heading, `#`s included: `## Review`. The section must exist.
    pub section: &'a str,
    /// It must have a line that is not blank.
    pub required: bool,
    /// The verdict that it must have.
    pub verdict: Option<Verdict<'a>>,
    /// The verdicts that the section may have, where they are not [`Verdict::BOTH`]. Without a `verdict`, the gate takes each of them.
    pub verdicts: &'a [&'a str],
    /// The verdict must be the first line that is not blank, as `Verdict: PASS` or `Verdict: FAIL`.
    pub strict: bool,
    /// The lines `NAME: something` that it must have.
    pub fields: Fields<'a>,
    /// Its content must be newer than the task's arrival in the state and the start of the agent that judges there, and must
    /// differ from the content that last passed a gate on this section.
    pub fresh: bool,
    /// Part of the work that must be as it was when a gate first accepted this content. Content that no gate has accepted is about the
    /// present work.
    pub of: Option<VerdictOf>,
    /// The reviewer with a name that writes it.
    pub reviewer: Option<&'a str>,
}

/// The names for which a section must have a line `NAME: something`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fields<'a> {
    /// One of these.
    Any(&'a [&'a str]),
    /// Each of these.
    All(&'a [&'a str]),
}

impl<'a> Gate<'a> {
    /// Requirements of the gate on sections: on the one that it reads, or on those of which one is enough.
    pub const fn sections(&self) -> &[SectionGate<'a>] {
        match self {
            Gate::Section(gate) => core::slice::from_ref(gate),
            Gate::AnySection(gates) => gates,
            Gate::Command(_) | Gate::OnMerge(_) | Gate::Checks | Gate::Children(_) => &[],
        }
    }

    /// The program that it asks about the task's worktree, if it asks one.
    pub const fn program(&self) -> Option<&Program<'a>> {
        match self {
            Gate::Command(program) => Some(program),
            Gate::Section(_) | Gate::AnySection(_) | Gate::OnMerge(_) | Gate::Checks | Gate::Children(_) => {
                None
            }
        }
    }

    /// The verdict that it asks for.
    pub const fn verdict(&self) -> Option<Verdict<'a>> {
        match self {
            Gate::Section(gate) => gate.verdict,
            // They ask for the same.
            Gate::AnySection(gates) => match gates {
                [gate, ..] => gate.verdict,
                [] => None,
            },
            Gate::Command(_) | Gate::OnMerge(_) | Gate::Checks | Gate::Children(_) => None,
        }
    }
}

impl<'a> SectionGate<'a> {
    /// True if the section must have a verdict.
    pub const fn asks_for_verdict(&self) -> bool {
        self.verdict.is_some() || !self.verdicts.is_empty()
    }

    /// The verdicts that the section may have.
    pub const fn words(&self) -> &'a [&'a str] {
        if self.verdicts.is_empty() { &Verdict::BOTH } else { self.verdicts }
    }

    /// The verdicts that the gate takes.
    pub fn wanted(&self) -> impl Iterator<Item = Verdict<'a>> {
        let wanted = self.verdict;
        self.words()
            .iter()
            .map(|word| Verdict(word))
            .filter(move |it| wanted.is_none_or(|wanted| wanted == *it))
    }

    /// The verdicts of the section that the gate does not take.
    pub fn others(&self) -> impl Iterator<Item = Verdict<'a>> {
        let wanted = self.verdict;
        self.words()
            .iter()
            .map(|word| Verdict(word))
            .filter(move |it| wanted.is_some_and(|wanted| wanted != *it))
    }

    /// The verdict that stands in the section of a body, if the gate holds.
    pub fn standing_verdict(&self, body: &str, seen: &[SeenSection<'_>]) -> Option<Verdict<'a>> {
        let holds = |verdict: &Verdict<'a>| {
            check_section(&SectionGate { verdict: Some(*verdict), ..*self }, body, seen).is_ok()
        };
        self.wanted().find(holds)
    }
}

impl<'a> Fields<'a> {
    /// No line is asked for.
    pub const NONE: Fields<'static> = Fields::All(&[]);

    /// Names of the fields, in order.
    pub const fn names(&self) -> &'a [&'a str] {
        match self {
            Fields::Any(names) | Fields::All(names) => names,
        }
    }

    /// True if it asks for nothing.
    pub const fn is_empty(&self) -> bool {
        self.names().is_empty()
    }

    /// The number of the first name that has to get a line, where `has` returns which names have one.
    pub fn lacking(&self, has: impl Fn(&str) -> bool) -> Option<usize> {
        match self {
            Fields::Any(names) => (!names.iter().any(|name| has(name))).then_some(0),
            Fields::All(names) => names.iter().position(|name| !has(name)),
        }
    }
}

/// The content of a section at an earlier time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenSection<'v> {
    /// Heading of the section, with its `##`.
    pub section: &'v str,
    /// The [`fingerprint`] of its content.
    pub fingerprint: u64,
    /// Occasion at which it was seen.
    pub when: When,
    /// Change of the work since a gate accepted it.
    pub work: WorkSince,
}

/// The present work, compared with that of which a gate accepted a verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorkSince {
    /// It is not known of which work the verdict is.
    #[default]
    Unknown,
    /// It is the same commit.
    Same,
    /// It is another commit.
    Changed {
        /// True if the changes since the base are the same.
        has_same_patch: bool,
        /// Commits since then; `None` if the commit of that time is not part of the present work.
        commits: Option<u32>,
    },
}

impl WorkSince {
    /// True if a verdict counts that has to be about the same work.
    pub const fn counts_for(self, of: VerdictOf) -> bool {
        match (self, of) {
            (WorkSince::Unknown, _) => false,
            (WorkSince::Same, _) => true,
            (WorkSince::Changed { has_same_patch, .. }, VerdictOf::Patch) => has_same_patch,
            (WorkSince::Changed { .. }, VerdictOf::Commit) => false,
        }
    }
}

/// The times at which the content of sections is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// A gate passed.
    Passed,
    /// The task entered its state.
    Entered,
    /// An agent was started in that state.
    Started,
}

/// A gate that does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lack {
    /// Its number among the gates of its transition or exit rule.
    pub gate: usize,
    /// Reason for which it does not hold.
    pub missing: Missing,
}

/// Reason for which a gate does not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The section does not exist.
    Section,
    /// The section has no line that is not blank.
    Content,
    /// No line has one of the section's verdicts, such as `PASS` or `FAIL`; with a strict gate, the first line is not `Verdict: …`.
    Verdict,
    /// The line that should give the verdict has more than one. Lines count from 1 within the section.
    OneVerdict {
        /// Line of the section, from 1.
        line: u32,
    },
    /// The verdict is the other one.
    OtherVerdict {
        /// The number of the verdict that stands there, among the gate's [`words`](SectionGate::words).
        found: usize,
    },
    /// A field has no line: one of those of which each must have one, or the first of those of which none has.
    Field {
        /// Its number among the gate's fields.
        field: usize,
    },
    /// The content is the same as at an earlier time.
    Fresh {
        /// Occasion at which it was seen.
        when: When,
    },
    /// The verdict is about other work than the present one.
    OtherWork {
        /// Change of the work.
        since: WorkSince,
    },
    /// None of several sections, of which one is enough, is as it must be.
    Any,
    /// The program has not been asked about the present content of the worktree.
    Answer,
    /// The program has failed.
    Success,
    /// The program is asked by a merge alone.
    Merge,
    /// The checks of the pull request are not green.
    Checks {
        /// State of the checks, as far as it is known.
        found: Checks,
    },
    /// Of the tasks that the task has created, one is open, or none is, against what is asked for.
    Children,
}

/// Checks that the body has the section that the gate asks for. `seen` has the earlier content of sections, which a fresh gate
/// refuses, and the work of which a verdict was accepted.
pub fn check_section(gate: &SectionGate<'_>, body: &str, seen: &[SeenSection<'_>]) -> Result<(), Missing> {
    let content = section(body, gate.section).ok_or(Missing::Section)?;
    let blank = visible_lines(content).all(is_blank);
    if blank && (gate.required || gate.asks_for_verdict() || !gate.fields.is_empty()) {
        return Err(Missing::Content);
    }
    if gate.asks_for_verdict() {
        let words = gate.words();
        let found =
            if gate.strict { strict_verdict(content, words)? } else { loose_verdict(content, words)? };
        if gate.verdict.is_some_and(|wanted| wanted.0 != words[found]) {
            return Err(Missing::OtherVerdict { found });
        }
    }
    if let Some(field) = gate.fields.lacking(|name| has_field(content, name)) {
        return Err(Missing::Field { field });
    }
    let own = fingerprint(content);
    let is_it = |seen: &&SeenSection<'_>| seen.section == gate.section && seen.fingerprint == own;
    if let Some(SeenSection { when, .. }) = seen.iter().find(is_it).filter(|_| gate.fresh) {
        return Err(Missing::Fresh { when: *when });
    }
    let accepted = seen.iter().filter(is_it).find(|seen| seen.when == When::Passed);
    match gate.of.zip(accepted).filter(|(of, seen)| !seen.work.counts_for(*of)) {
        Some((_, SeenSection { work, .. })) => Err(Missing::OtherWork { since: *work }),
        None => Ok(()),
    }
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// The number of the verdict in the first line that is not blank.
fn strict_verdict(content: &str, words: &[&str]) -> Result<usize, Missing> {
    let first = visible_lines(content).find(|line| !is_blank(line)).unwrap_or_default();
    let line = without_marks(first);
    let found = after_verdict(&line).map(str::trim).unwrap_or_default();
    words.iter().position(|word| word.eq_ignore_ascii_case(found)).ok_or(Missing::Verdict)
}

/// A line without Markdown's marks around words: `**Verdict:** PASS` is `Verdict: PASS`.
fn without_marks(line: &str) -> String {
    let line = line.trim_start_matches([' ', '\t', '#', '>', '-']);
    line.chars().filter(|it| !matches!(it, '*' | '_' | '`')).collect()
}

/// The number of the verdict in the first line with one of the words; a line that begins with `Verdict:` comes first. A line with
/// two of the words has no verdict, so that "tests pass, verdict: FAIL" is never read as PASS.
fn loose_verdict(content: &str, words: &[&str]) -> Result<usize, Missing> {
    let mut first = None;
    for (number, line) in numbered_prose(content) {
        let mut found = (0..words.len()).filter(|word| has_word(line, words[*word]));
        let Some(verdict) = found.next() else { continue };
        let verdict =
            if found.next().is_some() { Err(Missing::OneVerdict { line: number }) } else { Ok(verdict) };
        if after_verdict(line).is_some() {
            return verdict;
        }
        first.get_or_insert(verdict);
    }
    first.unwrap_or(Err(Missing::Verdict))
}

fn numbered_prose(content: &str) -> impl Iterator<Item = (u32, &str)> {
    let mut number = 1;
    let mut counted_to = 0;
    prose_lines(content).map(move |(start, line)| {
        number += content[counted_to..start].bytes().filter(|byte| *byte == b'\n').count() as u32;
        counted_to = start;
        (number, line)
    })
}

fn after_verdict(line: &str) -> Option<&str> {
    const MARK: &str = "verdict:";
    let line = line.trim_start();
    let head = line.get(..MARK.len())?;
    head.eq_ignore_ascii_case(MARK).then(|| &line[MARK.len()..])
}

/// True if a text has this word of ASCII letters, in any case, with no letter, digit or `_` around it.
pub fn has_word(text: &str, word: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    let (bytes, word) = (text.as_bytes(), word.as_bytes());
    let Some(first) = word.first() else { return false };
    let starts = bytes.iter().enumerate().filter(|(_, byte)| byte.eq_ignore_ascii_case(first));
    let mut spans = starts.map(|(start, _)| start..start + word.len());
    spans.any(|span| {
        bytes.get(span.clone()).is_some_and(|it| it.eq_ignore_ascii_case(word))
            && !text[..span.start].ends_with(is_part)
            && !text[span.end..].starts_with(is_part)
    })
}

fn has_field(content: &str, name: &str) -> bool {
    prose_lines(content).any(|(_, line)| {
        line.strip_prefix(name)
            .and_then(|rest| rest.strip_prefix(':'))
            .is_some_and(|value| !value.trim().is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    const HANDOFF: SectionGate<'_> = SectionGate {
        section: "## S",
        required: false,
        verdict: None,
        verdicts: &[],
        strict: false,
        fields: Fields::NONE,
        fresh: false,
        of: None,
        reviewer: None,
    };

    #[track_caller]
    fn check(gate: SectionGate<'_>, content: &str, expect: Result<(), Missing>) {
        assert_eq!(check_section(&gate, &format!("intro\n## S\n{content}"), &[]), expect);
    }

    #[track_caller]
    fn verdict(content: &str, expect: Result<Verdict<'_>, Missing>) {
        let found = loose_verdict(content, &Verdict::BOTH).map(|it| Verdict::new(Verdict::BOTH[it]));
        assert_eq!(found, expect, "{content:?}");
    }

    #[test]
    fn a_section_alone_needs_no_content_and_required_does() {
        let required = SectionGate { required: true, ..HANDOFF };
        check(HANDOFF, "", Ok(()));
        check(required, " \n\t\n", Err(Missing::Content));
        check(required, "\nx", Ok(()));
        assert_eq!(check_section(&HANDOFF, "# S", &[]), Err(Missing::Section));
    }

    #[test]
    fn a_comment_is_not_read() {
        let required = SectionGate { required: true, ..HANDOFF };
        check(required, "<!-- what was done -->\n", Err(Missing::Content));
        check(required, "<!--\nwhat was done\n-->\nall of it", Ok(()));
        let pass = SectionGate { verdict: Some(Verdict::PASS), ..HANDOFF };
        check(pass, "<!--\nVerdict: PASS\n-->\nsee above", Err(Missing::Verdict));
        check(pass, "<!-- PASS or FAIL -->\nVerdict: PASS", Ok(()));
        check(SectionGate { strict: true, ..pass }, "<!-- PASS or FAIL -->\nVerdict: PASS", Ok(()));
        check(SectionGate { strict: true, ..pass }, "<!--\nVerdict: PASS\n-->", Err(Missing::Content));
        let done = SectionGate { fields: Fields::Any(&["DONE"]), ..HANDOFF };
        check(done, "<!--\nDONE: x\n-->\nlater", Err(Missing::Field { field: 0 }));
    }

    #[test]
    fn the_verdict_is_the_first_line_with_the_word() {
        verdict("fine\nPass it.\nFAIL", Ok(Verdict::PASS));
        verdict("passing, failed, surpass", Err(Missing::Verdict));
        verdict("- **FAIL**: no tests", Ok(Verdict::FAIL));
        verdict("```\nPASS\n```\nFAIL", Ok(Verdict::FAIL));
    }

    #[test]
    fn a_verdict_line_comes_before_prose() {
        verdict("All tests pass, but it leaks.\nVerdict: FAIL", Ok(Verdict::FAIL));
        verdict("verdict:pass", Ok(Verdict::PASS));
        verdict("Verdict: unsure\nFAIL", Ok(Verdict::FAIL));
    }

    #[test]
    fn a_line_with_both_words_is_no_verdict() {
        verdict("\nVerdict: PASS/FAIL", Err(Missing::OneVerdict { line: 2 }));
        verdict("did not fail, so pass", Err(Missing::OneVerdict { line: 1 }));
        verdict("PASS or FAIL?\nVerdict: PASS", Ok(Verdict::PASS));
    }

    #[test]
    fn strict_wants_the_verdict_first() {
        let strict = SectionGate { verdict: Some(Verdict::PASS), strict: true, ..HANDOFF };
        check(strict, "\n  verdict: pass \r\nfine", Ok(()));
        check(strict, "Looks good.\nVerdict: PASS", Err(Missing::Verdict));
        check(strict, "Verdict: PASS, mostly", Err(Missing::Verdict));
        for marked in ["**Verdict: PASS**", "**Verdict:** PASS", "### Verdict: `pass`", "> _Verdict_: PASS"] {
            check(strict, marked, Ok(()));
        }
        check(strict, "This cannot pass: the tests are red.", Err(Missing::Verdict));
        check(strict, "```\nVerdict: PASS\n```", Err(Missing::Verdict));
        check(strict, "Verdict: FAIL", Err(Missing::OtherVerdict { found: 1 }));
        check(strict, "", Err(Missing::Content));
    }

    #[test]
    fn one_field_with_something_after_the_colon_is_enough() {
        let fields = SectionGate { fields: Fields::Any(&["DONE", "REMAINING"]), ..HANDOFF };
        check(fields, "REMAINING: tests", Ok(()));
        check(fields, "DONE:\nREMAINING: ", Err(Missing::Field { field: 0 }));
        check(fields, "done: x\nUNDONE: y", Err(Missing::Field { field: 0 }));
        check(fields, "```\nDONE: x\n```", Err(Missing::Field { field: 0 }));
    }

    #[test]
    fn all_fields_need_a_line_each() {
        let fields = SectionGate { fields: Fields::All(&["DONE", "REMAINING"]), ..HANDOFF };
        check(fields, "REMAINING: tests\nDONE: code", Ok(()));
        check(fields, "REMAINING: tests", Err(Missing::Field { field: 0 }));
        check(fields, "DONE: code\nREMAINING:", Err(Missing::Field { field: 1 }));
        check(fields, "", Err(Missing::Content));
    }

    #[test]
    fn fresh_wants_other_content_than_any_that_stood_there() {
        let fresh = SectionGate { fresh: true, ..HANDOFF };
        let at = |section, content: &str, when| SeenSection {
            section,
            fingerprint: fingerprint(content),
            when,
            work: WorkSince::Same,
        };
        let seen = [
            at("## T", "new", When::Passed),
            at("## S", "old\n", When::Passed),
            at("## S", "older", When::Entered),
        ];
        assert_eq!(check_section(&fresh, "## S\nold", &seen), Err(Missing::Fresh { when: When::Passed }));
        assert_eq!(check_section(&fresh, "## S\nolder", &seen), Err(Missing::Fresh { when: When::Entered }));
        assert_eq!(check_section(&fresh, "## S\nnew", &seen), Ok(()));
        assert_eq!(check_section(&HANDOFF, "## S\nold", &seen), Ok(()));
    }

    #[test]
    fn a_verdict_counts_while_its_work_is_the_same() {
        let moved = |has_same_patch| WorkSince::Changed { has_same_patch, commits: Some(2) };
        let gate = SectionGate { verdict: Some(Verdict::PASS), ..HANDOFF };
        let judge = |of, work| {
            let content = "Verdict: PASS";
            let seen =
                SeenSection { section: "## S", fingerprint: fingerprint(content), when: When::Passed, work };
            check_section(&SectionGate { of, ..gate }, &format!("## S\n{content}"), &[seen])
        };
        let [patch, commit] = [VerdictOf::Patch, VerdictOf::Commit].map(Some);
        for since in [WorkSince::Unknown, moved(false)] {
            assert_eq!(judge(None, since), Ok(()));
            assert_eq!(judge(patch, since), Err(Missing::OtherWork { since }));
            assert_eq!(judge(commit, since), Err(Missing::OtherWork { since }));
        }
        assert_eq!(judge(patch, moved(true)), Ok(()));
        assert_eq!(judge(commit, moved(true)), Err(Missing::OtherWork { since: moved(true) }));
        assert_eq!((judge(patch, WorkSince::Same), judge(commit, WorkSince::Same)), (Ok(()), Ok(())));
    }

    #[test]
    fn a_verdict_that_no_gate_has_accepted_is_of_the_present() {
        let gate = SectionGate { verdict: Some(Verdict::PASS), of: Some(VerdictOf::Commit), ..HANDOFF };
        let seen = |content, when| SeenSection {
            section: "## S",
            fingerprint: fingerprint(content),
            when,
            work: WorkSince::Unknown,
        };
        let seen = [seen("PASS before", When::Passed), seen("PASS", When::Entered)];
        assert_eq!(check_section(&gate, "## S\nPASS", &seen), Ok(()));
    }
}
