//! Combinations of section contents and agent ends that the exit rules of a state can meet, with the gates of their transitions.

use orange_core::{
    Gate, SectionGate, SeenSection, StateId, TransitionId, When, WorkSince, check_section, fingerprint,
    section,
};

use crate::lint::Facts;
use crate::search::ends::{self, RuleIndex};
use crate::search::sections::{CHANGED, Content, candidates};

/// The most combinations of one state that are looked at.
const MAX_CASES: usize = 10_000;

/// Every combination of contents and ends that the exit rules of one state and the gates of their transitions can tell apart.
#[derive(Debug)]
pub struct Cases {
    pub state: StateId,
    /// The combinations; of each choice of contents, the ordinary end comes first.
    pub all: Vec<EndCase>,
    /// True if there are more combinations than `MAX_CASES`.
    pub cut: bool,
    parts: Vec<SectionOptions>,
    readers: Vec<SectionReader>,
}

/// One combination: a content for each section, and one end of the agent.
#[derive(Debug)]
pub struct EndCase {
    /// The exit rule that decides then, by its number in the machine.
    pub rule: Option<usize>,
    /// The exit rule about ends that this end meets; `None` for an ordinary end.
    end: Option<RuleIndex>,
    choice: Vec<usize>,
}

/// Condition of one section, as its readers see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionStanding {
    /// The section does not exist.
    Absent,
    /// It has no line that is not blank.
    Empty,
    Written,
    /// It has text that was there before the visit or that a gate has accepted before.
    Stale,
}

/// One section and its possible contents.
#[derive(Debug)]
struct SectionOptions {
    heading: String,
    contents: Vec<JudgedContent>,
}

/// One content of a section, and the judgement of each reader of that section.
#[derive(Debug)]
struct JudgedContent {
    standing: SectionStanding,
    label: String,
    passes: Vec<bool>,
}

/// A gate that reads a section, or the artifact of a rule.
#[derive(Debug)]
struct SectionReader {
    asker: SectionAsker,
    /// The number of the gate among those of its asker. A gate with several sections holds if one of them passes.
    gate: usize,
    part: usize,
    /// Its number among the readers of the section.
    place: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SectionAsker {
    Rule(usize),
    Transition(TransitionId),
}

/// The cases of every state whose exit rules decide about an end, in the order of the states.
pub fn of(facts: &Facts<'_>) -> Vec<Cases> {
    let decides = |rule: usize| !facts.machine.exit_rules[rule].only_notifies();
    let states = facts.states().map(|(state, _)| state);
    states
        .filter(|state| facts.machine.exit_rules_of(*state).any(decides))
        .map(|state| Cases::of(facts, state))
        .collect()
}

impl Cases {
    fn of(facts: &Facts<'_>, state: StateId) -> Self {
        let mut cases = Self { state, all: Vec::new(), cut: false, parts: Vec::new(), readers: Vec::new() };
        let askers = askers(facts, state);
        for (asker, number, gate) in &askers {
            cases.add_reader((*asker, *number), gate.section);
        }
        for part in &mut cases.parts {
            let number = facts.search.sections.find(&part.heading);
            let can_be_stale = number.is_some_and(|number| facts.search.can_be_stale(state, number));
            let gates: Vec<&SectionGate<'_>> =
                askers.iter().map(|(.., gate)| *gate).filter(|gate| gate.section == part.heading).collect();
            part.contents = contents(&gates, can_be_stale);
        }
        cases.combine(facts);
        cases
    }

    /// True if the condition of this exit rule holds: its artifact is there, or the agent ended as the rule says.
    pub fn holds(&self, facts: &Facts<'_>, case: &EndCase, rule: usize) -> bool {
        let is_there = self.judgement(case, SectionAsker::Rule(rule)).unwrap_or_default();
        is_there || ends::fits(facts.machine, rule, &ends::example(facts.machine, case.end).end())
    }

    /// True if the gates of this transition let the case through, or it has none.
    pub fn passes(&self, case: &EndCase, transition: TransitionId) -> bool {
        self.judgement(case, SectionAsker::Transition(transition)).unwrap_or(true)
    }

    /// The section of the first gate of this transition that refuses the case.
    pub fn refused_section(&self, case: &EndCase, transition: TransitionId) -> Option<&str> {
        let mut readers = self.readers.iter().filter(|it| it.asker == SectionAsker::Transition(transition));
        readers.find(|it| !self.is_met(case, it)).map(|it| self.parts[it.part].heading.as_str())
    }

    /// The condition of a section in this case; `None` if no reader reads it.
    pub fn standing(&self, case: &EndCase, heading: &str) -> Option<SectionStanding> {
        self.content(case, heading).map(|it| it.standing)
    }

    /// True if an exit rule of the state accepts this section in this case.
    pub fn is_read(&self, case: &EndCase, heading: &str) -> bool {
        let own = self.readers.iter().filter(|it| self.parts[it.part].heading == heading);
        let mut rules = own.filter(|it| matches!(it.asker, SectionAsker::Rule(_)));
        rules.any(|it| self.is_passed(case, it))
    }

    /// Words for the content of a section: "an empty `## Handoff`".
    pub fn tell(&self, case: &EndCase, heading: &str) -> Option<String> {
        let JudgedContent { standing, label, .. } = self.content(case, heading)?;
        Some(match standing {
            SectionStanding::Absent => format!("no `{heading}`"),
            SectionStanding::Empty => format!("an empty `{heading}`"),
            SectionStanding::Written if label.starts_with("without") => format!("a `{heading}` {label}"),
            SectionStanding::Written => format!("a `{heading}` with {}", label.replace(" with ", " and ")),
            SectionStanding::Stale => format!("a `{heading}` that has not changed"),
        })
    }

    /// The sections that are read.
    pub fn headings(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|it| it.heading.as_str())
    }

    fn content(&self, case: &EndCase, heading: &str) -> Option<&JudgedContent> {
        let at = self.parts.iter().position(|it| it.heading == heading)?;
        Some(&self.parts[at].contents[case.choice[at]])
    }

    /// True if all gates of the asker hold; `None` if it has no gates.
    fn judgement(&self, case: &EndCase, asker: SectionAsker) -> Option<bool> {
        let mut readers = self.readers.iter().filter(|it| it.asker == asker).peekable();
        readers.peek()?;
        Some(readers.all(|it| self.is_met(case, it)))
    }

    /// True if the gate of this reader holds, by this section or by another one of the gate.
    fn is_met(&self, case: &EndCase, reader: &SectionReader) -> bool {
        let same = |it: &&SectionReader| (it.asker, it.gate) == (reader.asker, reader.gate);
        self.readers.iter().filter(same).any(|it| self.is_passed(case, it))
    }

    fn is_passed(&self, case: &EndCase, SectionReader { part, place, .. }: &SectionReader) -> bool {
        self.parts[*part].contents[case.choice[*part]].passes[*place]
    }

    fn add_reader(&mut self, (asker, gate): (SectionAsker, usize), heading: &str) {
        let known = self.parts.iter().position(|it| it.heading == heading);
        let part = known.unwrap_or_else(|| {
            self.parts.push(SectionOptions { heading: heading.to_owned(), contents: Vec::new() });
            self.parts.len() - 1
        });
        let place = self.readers.iter().filter(|it| it.part == part).count();
        self.readers.push(SectionReader { asker, gate, part, place });
    }

    /// Adds every choice of one content for each section, with every end. The last section varies fastest. Of choices that differ only
    /// in which of the reviewers that can be exchanged has written what, one is enough.
    fn combine(&mut self, facts: &Facts<'_>) {
        let alike = alike(facts, &self.parts);
        let mut choice = vec![0; self.parts.len()];
        loop {
            for end in std::iter::once(None).chain(ends::rules(facts.machine, self.state).map(Some)) {
                let mut case = EndCase { rule: None, end, choice: choice.clone() };
                case.rule = facts.machine.exit_rule(self.state, |rule| self.holds(facts, &case, rule));
                self.all.push(case);
            }
            let Some(next) =
                (0..choice.len()).rev().find(|at| choice[*at] + 1 < self.parts[*at].contents.len())
            else {
                return;
            };
            if self.all.len() >= MAX_CASES {
                self.cut = true;
                return;
            }
            choice[next] += 1;
            for at in next + 1..choice.len() {
                choice[at] = alike[at].map_or(0, |before| choice[before]);
            }
        }
    }
}

/// By section: the one before it that another reviewer writes who can be exchanged with the writer of this one.
fn alike(facts: &Facts<'_>, parts: &[SectionOptions]) -> Vec<Option<usize>> {
    let reviewer = |part: &SectionOptions| {
        let section = facts.search.sections.find(&part.heading)?;
        facts.search.sections.get(section).reviewer
    };
    let mut alike = vec![None; parts.len()];
    for class in facts.search.exchangeable() {
        let names: Vec<&str> = class.map(|it| facts.search.reviewers.name(it)).collect();
        let own = |name: &&str| parts.iter().filter(|part| reviewer(part) == Some(*name)).count();
        // Sections of one reviewer are exchanged together, so that each for itself says nothing.
        if names.iter().all(|name| own(name) == 1) {
            let written: Vec<usize> = (0..parts.len())
                .filter(|at| reviewer(&parts[*at]).is_some_and(|it| names.contains(&it)))
                .collect();
            written.windows(2).for_each(|pair| alike[pair[1]] = Some(pair[0]));
        }
    }
    alike
}

/// The artifacts of a state's rules, and the gates of the transitions that these can take, each with its number.
fn askers<'f>(facts: &Facts<'f>, state: StateId) -> Vec<(SectionAsker, usize, &'f SectionGate<'f>)> {
    fn sections<'g>(
        asker: SectionAsker,
        gates: &'g [Gate<'g>],
    ) -> impl Iterator<Item = (SectionAsker, usize, &'g SectionGate<'g>)> {
        let numbered = gates.iter().enumerate();
        numbered.flat_map(move |(at, gate)| gate.sections().iter().map(move |it| (asker, at, it)))
    }

    let machine = facts.machine;
    let mut askers = Vec::new();
    let mut targets = Vec::new();
    for rule in machine.exit_rules_of(state) {
        askers.extend(sections(SectionAsker::Rule(rule), machine.exit_rules[rule].condition.gates()));
        targets.extend(machine.exit_rules[rule].outcome.targets());
    }
    targets.sort_unstable();
    targets.dedup();
    for id in targets.into_iter().flat_map(|to| machine.between(state, to)) {
        askers.extend(sections(SectionAsker::Transition(id), machine.transition(id).gates));
    }
    askers
}

/// The contents of a section that its readers judge differently, or that the text of a finding tells apart.
fn contents(gates: &[&SectionGate<'_>], can_be_stale: bool) -> Vec<JudgedContent> {
    let mut kept: Vec<JudgedContent> = Vec::new();
    let candidates = candidates(gates);
    let seen = || candidates.iter().filter(|it| can_be_stale && it.text.is_some());
    let stale = seen().map(|it| judge(gates, it, Some(WorkSince::Same)));
    let outdated = seen().map(|it| judge(gates, it, Some(CHANGED)));
    for judged in candidates.iter().map(|it| judge(gates, it, None)).chain(stale).chain(outdated) {
        let same = |it: &JudgedContent| it.standing == judged.standing && it.passes == judged.passes;
        let is_old_news =
            judged.standing == SectionStanding::Stale && kept.iter().any(|it| it.passes == judged.passes);
        if !kept.iter().any(same) && !is_old_news {
            kept.push(judged);
        }
    }
    kept
}

fn judge(gates: &[&SectionGate<'_>], content: &Content, seen: Option<WorkSince>) -> JudgedContent {
    let Content { label, text } = content;
    let heading = gates.first().map_or("", |gate| gate.section);
    let body = text.as_ref().map(|text| format!("{heading}\n{text}\n")).unwrap_or_default();
    let stale = section(&body, heading).zip(seen).map(|(content, work)| SeenSection {
        section: heading,
        fingerprint: fingerprint(content),
        when: When::Passed,
        work,
    });
    let standing = match text {
        None => SectionStanding::Absent,
        Some(_) if seen.is_some() => SectionStanding::Stale,
        Some(text) if text.is_empty() => SectionStanding::Empty,
        Some(_) => SectionStanding::Written,
    };
    let passes = gates.iter().map(|gate| check_section(gate, &body, stale.as_slice()).is_ok()).collect();
    JudgedContent { standing, label: label.clone(), passes }
}
