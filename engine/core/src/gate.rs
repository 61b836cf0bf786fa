//! Gates: what the body must contain before a transition is allowed.

use core::fmt;

use crate::section::{fingerprint, prose_lines, section};

/// The outcome that a reviewer wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The work is good.
    Pass,
    /// It is not.
    Fail,
}

impl Verdict {
    /// The word as it stands in an artifact.
    pub const fn as_str(self) -> &'static str {
        match self {
            Verdict::Pass => "PASS",
            Verdict::Fail => "FAIL",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What one section must say (design §5). All parts that are asked for must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate<'a> {
    /// The heading, `#`s included: `## Review`. The section must exist.
    pub section: &'a str,
    /// It must have a line that is not blank.
    pub required: bool,
    /// It must carry this verdict.
    pub verdict: Option<Verdict>,
    /// The verdict must be the first line that is not blank, as `Verdict: PASS` or `Verdict: FAIL`.
    pub strict: bool,
    /// It must have a line `NAME: something` for one of these names; empty when none is asked for.
    pub fields: &'a [&'a str],
    /// Its content must differ from what a gate on this section last let through.
    pub fresh: bool,
}

/// Why a gate does not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The section does not exist.
    Section,
    /// The section has no line that is not blank.
    Content,
    /// No line has the word `PASS` or `FAIL`; with a strict gate, the first line is not `Verdict: …`.
    Verdict,
    /// The line that should give the verdict has both words. Lines count from 1 within the section.
    OneVerdict {
        /// The line.
        line: u32,
    },
    /// The verdict is the other one.
    OtherVerdict {
        /// The verdict that stands there.
        found: Verdict,
    },
    /// None of the fields has a line.
    Field,
    /// The content is what a gate on this section already let through once.
    Fresh,
}

/// Whether the body passes the gate. `last_seen` is the [`fingerprint`] of what a gate on the same section last let
/// through, if one did.
pub fn check_gate(gate: &Gate<'_>, body: &str, last_seen: Option<u64>) -> Result<(), Missing> {
    let content = section(body, gate.section).ok_or(Missing::Section)?;
    let blank = content.trim().is_empty();
    if blank && (gate.required || gate.verdict.is_some() || !gate.fields.is_empty()) {
        return Err(Missing::Content);
    }
    if let Some(wanted) = gate.verdict {
        let found = if gate.strict { strict_verdict(content)? } else { loose_verdict(content)? };
        if found != wanted {
            return Err(Missing::OtherVerdict { found });
        }
    }
    if !gate.fields.is_empty() && !has_field(content, gate.fields) {
        return Err(Missing::Field);
    }
    if gate.fresh && last_seen == Some(fingerprint(content)) {
        return Err(Missing::Fresh);
    }
    Ok(())
}

fn strict_verdict(content: &str) -> Result<Verdict, Missing> {
    let first = content.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    match after_verdict(first).map(str::trim) {
        Some(word) if word.eq_ignore_ascii_case("PASS") => Ok(Verdict::Pass),
        Some(word) if word.eq_ignore_ascii_case("FAIL") => Ok(Verdict::Fail),
        Some(_) | None => Err(Missing::Verdict),
    }
}

/// The first line with the word PASS or FAIL, one that begins with `Verdict:` before any other. A line with both
/// words is no verdict, so that "tests pass, verdict: FAIL" is never read as PASS.
fn loose_verdict(content: &str) -> Result<Verdict, Missing> {
    let mut first = None;
    for (number, line) in numbered_prose(content) {
        let verdict = match (has_word(line, "PASS"), has_word(line, "FAIL")) {
            (false, false) => continue,
            (true, true) => Err(Missing::OneVerdict { line: number }),
            (true, false) => Ok(Verdict::Pass),
            (false, true) => Ok(Verdict::Fail),
        };
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

/// Whether a text has this word of ASCII letters, in any case, with no letter, digit or `_` around it.
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

fn has_field(content: &str, names: &[&str]) -> bool {
    prose_lines(content).any(|(_, line)| {
        names.iter().any(|name| {
            line.strip_prefix(name)
                .and_then(|rest| rest.strip_prefix(':'))
                .is_some_and(|value| !value.trim().is_empty())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    const HANDOFF: Gate<'_> =
        Gate { section: "## S", required: false, verdict: None, strict: false, fields: &[], fresh: false };

    #[track_caller]
    fn check(gate: Gate<'_>, content: &str, expect: Result<(), Missing>) {
        assert_eq!(check_gate(&gate, &format!("intro\n## S\n{content}"), None), expect);
    }

    #[track_caller]
    fn verdict(content: &str, expect: Result<Verdict, Missing>) {
        assert_eq!(loose_verdict(content), expect, "{content:?}");
    }

    #[test]
    fn a_section_alone_needs_no_content_and_required_does() {
        let required = Gate { required: true, ..HANDOFF };
        check(HANDOFF, "", Ok(()));
        check(required, " \n\t\n", Err(Missing::Content));
        check(required, "\nx", Ok(()));
        assert_eq!(check_gate(&HANDOFF, "# S", None), Err(Missing::Section));
    }

    #[test]
    fn the_verdict_is_the_first_line_with_the_word() {
        verdict("fine\nPass it.\nFAIL", Ok(Verdict::Pass));
        verdict("passing, failed, surpass", Err(Missing::Verdict));
        verdict("- **FAIL**: no tests", Ok(Verdict::Fail));
        verdict("```\nPASS\n```\nFAIL", Ok(Verdict::Fail));
    }

    #[test]
    fn a_verdict_line_comes_before_prose() {
        verdict("All tests pass, but it leaks.\nVerdict: FAIL", Ok(Verdict::Fail));
        verdict("verdict:pass", Ok(Verdict::Pass));
        verdict("Verdict: unsure\nFAIL", Ok(Verdict::Fail));
    }

    #[test]
    fn a_line_with_both_words_is_no_verdict() {
        verdict("\nVerdict: PASS/FAIL", Err(Missing::OneVerdict { line: 2 }));
        verdict("did not fail, so pass", Err(Missing::OneVerdict { line: 1 }));
        verdict("PASS or FAIL?\nVerdict: PASS", Ok(Verdict::Pass));
    }

    #[test]
    fn strict_wants_the_verdict_first() {
        let strict = Gate { verdict: Some(Verdict::Pass), strict: true, ..HANDOFF };
        check(strict, "\n  verdict: pass \r\nfine", Ok(()));
        check(strict, "Looks good.\nVerdict: PASS", Err(Missing::Verdict));
        check(strict, "Verdict: PASS, mostly", Err(Missing::Verdict));
        check(strict, "Verdict: FAIL", Err(Missing::OtherVerdict { found: Verdict::Fail }));
        check(strict, "", Err(Missing::Content));
    }

    #[test]
    fn one_field_with_something_after_the_colon_is_enough() {
        let fields = Gate { fields: &["DONE", "REMAINING"], ..HANDOFF };
        check(fields, "REMAINING: tests", Ok(()));
        check(fields, "DONE:\nREMAINING: ", Err(Missing::Field));
        check(fields, "done: x\nUNDONE: y", Err(Missing::Field));
        check(fields, "```\nDONE: x\n```", Err(Missing::Field));
    }

    #[test]
    fn fresh_wants_other_content_than_last_time() {
        let fresh = Gate { fresh: true, ..HANDOFF };
        let seen = Some(fingerprint("old\n"));
        assert_eq!(check_gate(&fresh, "## S\nold", seen), Err(Missing::Fresh));
        assert_eq!(check_gate(&fresh, "## S\nnew", seen), Ok(()));
        assert_eq!(check_gate(&HANDOFF, "## S\nold", seen), Ok(()));
    }
}
