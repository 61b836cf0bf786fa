//! Verdicts that a reviewer asks the engine to write: into which section, and with which text.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::gate::check_section;
use crate::section::{Heading, closing_line, prose_lines};
use crate::{Machine, SectionGate, StateId, Verdict};

/// Reason for which a verdict has no place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoVerdict {
    /// No gate of the state reads a verdict of this reviewer.
    NotAsked,
    /// The section has other verdicts: these.
    Unknown(Vec<String>),
    /// Gates read the verdict of a reviewer in several sections.
    Several(Vec<String>),
    /// A line of the text is a heading that would end the section.
    Heading(String),
    /// The section would not pass for its verdict: what is missing, and what to write.
    Lacks {
        /// The missing part.
        what: String,
        /// The remedy, as an imperative.
        remedy: String,
    },
}

/// A verdict with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedVerdict<'m> {
    /// The heading of its section.
    pub section: &'m str,
    /// The verdict, as the workflow spells it.
    pub verdict: Verdict<'m>,
    /// The content of the section.
    pub content: String,
}

impl<'m> Machine<'m> {
    /// Places the verdict of a reviewer, whose name is `None` where only one judges, with this text.
    ///
    /// # Errors
    /// The flaw of the text, or that no gate of the state asks for this verdict.
    pub fn verdict(
        &'m self,
        state: StateId,
        reviewer: Option<&str>,
        verdict: &str,
        text: &str,
    ) -> Result<PlacedVerdict<'m>, NoVerdict> {
        let own: Vec<&SectionGate<'m>> = self
            .section_gates_of(state)
            .filter(|gate| gate.asks_for_verdict() && gate.reviewer == reviewer)
            .collect();
        let Some(first) = own.first() else { return Err(NoVerdict::NotAsked) };
        if own.iter().any(|gate| gate.section != first.section) {
            let mut sections: Vec<String> = own.iter().map(|gate| gate.section.to_string()).collect();
            sections.sort();
            sections.dedup();
            return Err(NoVerdict::Several(sections));
        }
        let known = first.words().iter().find(|it| it.eq_ignore_ascii_case(verdict));
        let Some(verdict) = known.map(|it| Verdict::new(it)) else {
            return Err(NoVerdict::Unknown(first.words().iter().map(ToString::to_string).collect()));
        };
        let content = content(first.section, verdict, text)?;
        let body = format!("{}\n\n{content}\n", first.section);
        // Gates for another verdict are not asked: a FAIL need not have what a PASS must.
        for gate in own.iter().filter(|gate| gate.wanted().any(|it| it == verdict)) {
            let alone = SectionGate { fresh: false, of: None, ..**gate };
            check_section(&alone, &body, &[]).map_err(|missing| NoVerdict::Lacks {
                what: missing.message(gate),
                remedy: missing.remedy(gate),
            })?;
        }
        Ok(PlacedVerdict { section: first.section, verdict, content })
    }
}

/// The content of a section: the verdict as its first line, and the text, whose headings are below that of the section.
fn content(section: &str, verdict: Verdict<'_>, text: &str) -> Result<String, NoVerdict> {
    // The indentation of a first line stays: with it, a line may be code.
    let text = text.trim_end().trim_start_matches(['\r', '\n']);
    let level = Heading::parse(section).map_or(1, |heading| heading.level);
    let is_outer = |line: &&str| Heading::parse(line).is_some_and(|heading| heading.level <= level);
    if let Some(line) = prose_lines(text).map(|(_, line)| line).find(is_outer) {
        return Err(NoVerdict::Heading(line.trim().to_string()));
    }
    // A block that stays open would hide what is written after it.
    let closing = closing_line(text).map(|line| format!("\n{line}")).unwrap_or_default();
    let gap = if text.is_empty() { "" } else { "\n\n" };
    Ok(format!("Verdict: {verdict}{gap}{text}{closing}"))
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::section::section;
    use crate::tests::{DONE, MACHINE, REVIEW, WORKING};
    use crate::{Fields, Gate};

    const fn gate(
        section: &'static str,
        name: Option<&'static str>,
        verdict: Verdict<'static>,
    ) -> SectionGate<'static> {
        SectionGate {
            section,
            required: false,
            verdict: Some(verdict),
            verdicts: &[],
            strict: true,
            fields: Fields::NONE,
            fresh: true,
            of: None,
            reviewer: name,
        }
    }

    const FIELDS: Fields<'_> = Fields::All(&["TESTED"]);
    const PASSED: &[Gate<'_>] = &[
        Gate::Section(SectionGate { fields: FIELDS, ..gate("## R: a", Some("a"), Verdict::PASS) }),
        Gate::Section(gate("## R: b", Some("b"), Verdict::PASS)),
        Gate::Section(gate("## Review", None, Verdict::PASS)),
    ];
    const FAILED: &[Gate<'_>] = &[Gate::AnySection(&[
        gate("## R: a", Some("a"), Verdict::FAIL),
        gate("## R: b", Some("b"), Verdict::FAIL),
    ])];

    fn verdict(
        state: StateId,
        reviewer: Option<&str>,
        verdict: Verdict<'_>,
        text: &str,
    ) -> Result<(String, String), NoVerdict> {
        let mut transitions = MACHINE.transitions.to_vec();
        (transitions[2].gates, transitions[2].guard) = (FAILED, None);
        (transitions[3].gates, transitions[3].guard, transitions[3].to) = (PASSED, None, DONE);
        let machine = Machine { transitions: &transitions, exit_rules: &[], ..MACHINE };
        let placed = machine.verdict(state, reviewer, verdict.as_str(), text)?;
        Ok((placed.section.to_string(), placed.content))
    }

    #[test]
    fn a_reviewer_has_a_section_of_its_own() {
        let fails = |name| verdict(REVIEW, name, Verdict::FAIL, "It breaks.\n").unwrap();
        assert_eq!(fails(Some("a")), ("## R: a".to_string(), "Verdict: FAIL\n\nIt breaks.".to_string()));
        assert_eq!(fails(Some("b")).0, "## R: b");
        assert_eq!(
            verdict(REVIEW, None, Verdict::PASS, "").unwrap(),
            ("## Review".to_string(), "Verdict: PASS".to_string())
        );
        assert_eq!(verdict(REVIEW, Some("c"), Verdict::PASS, ""), Err(NoVerdict::NotAsked));
        assert_eq!(verdict(WORKING, Some("a"), Verdict::PASS, ""), Err(NoVerdict::NotAsked));
    }

    #[test]
    fn a_pass_has_what_its_gate_asks_for() {
        let passes = |text| verdict(REVIEW, Some("a"), Verdict::PASS, text);
        let Err(NoVerdict::Lacks { what, remedy }) = passes("Fine.") else { panic!("it lacks a field") };
        assert_eq!(what, "`## R: a` in TASK.md has no line that begins with `TESTED:`");
        assert_eq!(remedy, "write a line `TESTED: …` into it");
        assert_eq!(passes("TESTED: all\n").unwrap().1, "Verdict: PASS\n\nTESTED: all");
    }

    #[test]
    fn no_text_reaches_another_section() {
        let fails = |text: &str| verdict(REVIEW, Some("a"), Verdict::FAIL, text);
        for (text, line) in [
            ("x\n## R: b\nVerdict: PASS", "## R: b"),
            ("# Top", "# Top"),
            ("   ##\tR: b ##", "##\tR: b ##"),
            ("```\n```\n## R: b", "## R: b"),
            ("<!-- -->\n## R: b", "## R: b"),
            ("~~~\n```\n~~~\r\n## R: b\r\n", "## R: b"),
        ] {
            assert_eq!(fails(text), Err(NoVerdict::Heading(line.to_string())), "{text:?}");
        }
        for text in ["### Part\nx", "```\n## R: b\n```", "    ## R: b", "```\n## R: b", "<!-- x\n## R: b"] {
            let (heading, content) = fails(text).unwrap();
            let body = format!("## R: b\n\nVerdict: FAIL\n\n{heading}\n\n{content}\n\n## After\n\nx\n");
            assert_eq!(section(&body, "## R: b").unwrap().trim(), "Verdict: FAIL", "{text:?}");
            assert_eq!(section(&body, "## After").unwrap().trim(), "x", "{text:?}");
            assert!(section(&body, "## R: a").unwrap().trim().starts_with("Verdict: FAIL"), "{text:?}");
        }
    }

    #[test]
    fn one_reviewer_has_one_section() {
        const TWO: &[Gate<'_>] = &[
            Gate::Section(gate("## A", None, Verdict::PASS)),
            Gate::Section(gate("## B", None, Verdict::PASS)),
        ];
        let mut transitions = MACHINE.transitions.to_vec();
        (transitions[2].gates, transitions[2].guard) = (TWO, None);
        let machine = Machine { transitions: &transitions, exit_rules: &[], ..MACHINE };
        let sections = ["## A", "## B", "## Review"].map(String::from).to_vec();
        assert_eq!(machine.verdict(REVIEW, None, "PASS", ""), Err(NoVerdict::Several(sections)));
    }
}
