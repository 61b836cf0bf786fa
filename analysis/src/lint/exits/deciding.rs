//! Exit rule that decided in a step of the search.

use orange_core::{
    Gate, SectionGate, SeenSection, TransitionId, When, WorkSince, check_section, fingerprint, section,
};

use crate::lint::Facts;
use crate::search::ends::{self, EndExample, RuleIndex};
use crate::search::sections::{CHANGED, Content, Sections};
use crate::search::task::{ContentId, WrittenSection};
use crate::search::{Edge, EdgeId, ReadSet, SearchStep};

/// Judgement of the artifacts of all rules on every content that the search tells apart.
#[derive(Debug)]
pub struct Deciding {
    /// By exit rule of the machine; nothing for those without an artifact.
    artifacts: Vec<Vec<AnyArtifact>>,
    /// By transition: its gates, likewise.
    gates: Vec<Vec<AnyArtifact>>,
    /// By step: the rule that decided in it.
    decided: Vec<Option<RuleIndex>>,
}

/// Artifacts of which one is enough.
type AnyArtifact = Vec<Artifact>;

#[derive(Debug)]
struct Artifact {
    section: usize,
    /// By content: while it is fresh, when it is stale, and when it was accepted about other work.
    holds: Vec<[bool; 3]>,
}

/// Content of a section, and its index in [`Artifact::holds`].
struct StandingSection {
    content: ContentId,
    age: usize,
}

impl Deciding {
    pub(super) fn of(facts: &Facts<'_>) -> Self {
        let sections = &facts.search.sections;
        let any = |gate: &Gate<'_>| -> AnyArtifact {
            gate.sections().iter().filter_map(|gate| Artifact::of(gate, sections)).collect()
        };
        let all = |gates: &[Gate<'_>]| gates.iter().map(any).filter(|it| !it.is_empty()).collect();
        let rules = facts.machine.exit_rules.iter();
        let mut deciding = Self {
            artifacts: rules.map(|rule| all(rule.condition.gates())).collect(),
            gates: facts.machine.transitions.iter().map(|it| all(it.gates)).collect(),
            decided: Vec::new(),
        };
        deciding.decided = facts.search.edges().map(|(_, edge)| deciding.decided_in(facts, edge)).collect();
        deciding
    }

    /// The rule that decided about an agent's end, by its number in the machine; `None` where none was asked, or none
    /// applied.
    pub(super) fn rule(&self, id: EdgeId) -> Option<usize> {
        self.decided[id as usize].map(usize::from)
    }

    fn decided_in(&self, facts: &Facts<'_>, edge: &Edge) -> Option<RuleIndex> {
        let SearchStep::Exit { agent, .. } = edge.step else { return None };
        let task = facts.search.task(edge.from);
        if facts.machine.state(task.status).agent != agent {
            return None;
        }
        let end = end(facts, edge);
        let rule =
            facts.machine.exit_rule(task.status, |rule| self.holds_at(facts, rule, edge, end.as_ref()));
        rule.map(|it| it as RuleIndex)
    }

    /// True if the artifacts of a rule are there when a step ends an agent, or it ends as the rule says.
    pub(super) fn holds(&self, facts: &Facts<'_>, rule: usize, edge: &Edge) -> bool {
        self.holds_at(facts, rule, edge, end(facts, edge).as_ref())
    }

    fn holds_at(&self, facts: &Facts<'_>, rule: usize, edge: &Edge, end: Option<&EndExample<'_>>) -> bool {
        if end.is_some_and(|end| ends::fits(facts.machine, rule, &end.end())) {
            return true;
        }
        let artifacts = &self.artifacts[rule];
        !artifacts.is_empty()
            && artifacts.iter().all(|any| any.iter().any(|it| it.holds_in(&it.stands(facts, edge))))
    }

    /// The sections that a rule reads.
    pub(super) fn sections(&self, rule: usize) -> impl Iterator<Item = usize> {
        self.artifacts[rule].iter().flatten().map(|it| it.section)
    }

    /// The sections by which a rule decides in a step.
    pub(super) fn ruled_by(&self, facts: &Facts<'_>, rule: usize, edge: &Edge) -> ReadSet {
        all_needed(facts, &self.artifacts[rule], edge)
    }

    /// The sections by which the gates of a transition let it through in a step.
    pub(super) fn let_through_by(&self, facts: &Facts<'_>, transition: TransitionId, edge: &Edge) -> ReadSet {
        all_needed(facts, &self.gates[transition.0 as usize], edge)
    }
}

/// The end of an agent in a step.
fn end<'f>(facts: &Facts<'f>, edge: &Edge) -> Option<EndExample<'f>> {
    let SearchStep::Exit { end, .. } = edge.step else { return None };
    Some(facts.search.example(facts.search.task(edge.from), end))
}

/// Sections that decide where all of these have to hold.
fn all_needed(facts: &Facts<'_>, all: &[AnyArtifact], edge: &Edge) -> ReadSet {
    all.iter().fold(ReadSet::default(), |sections, any| sections.with(needed(facts, any, edge)))
}

/// Sections that decide where one of several is enough: those that hold, and if some of these are new, these alone.
fn needed(facts: &Facts<'_>, any: &AnyArtifact, edge: &Edge) -> ReadSet {
    let mut sections = ReadSet::default();
    if let [one] = &any[..] {
        sections.extend(Some(one.section));
        return sections;
    }
    let stands = any.iter().map(|it| (it.section, it, it.stands(facts, edge)));
    let holding: Vec<_> = stands.filter(|(_, it, written)| it.holds_in(written)).collect();
    let is_new = |written: &StandingSection| written.age == 0;
    let has_new = holding.iter().any(|(.., written)| is_new(written));
    let deciding = holding.iter().filter(|(.., it)| !has_new || is_new(it));
    deciding.for_each(|(section, ..)| sections.extend(Some(*section)));
    sections
}

impl Artifact {
    fn of(gate: &SectionGate<'_>, sections: &Sections<'_>) -> Option<Self> {
        let section = sections.find(gate.section)?;
        let contents = &sections.get(section).contents;
        Some(Self { section, holds: contents.iter().map(|it| judge(gate, it)).collect() })
    }

    /// Content of its section after the writing in a step.
    fn stands(&self, facts: &Facts<'_>, edge: &Edge) -> StandingSection {
        let wrote = edge.step.wrote().filter(|it| usize::from(it.section) == self.section);
        let before = facts.search.task(edge.from);
        let WrittenSection { content, .. } = before.section(self.section);
        let age = match () {
            () if before.is_outdated(self.section) => 2,
            () => usize::from(before.section(self.section).is_stale()),
        };
        wrote.map_or(StandingSection { content, age }, |it| StandingSection { content: it.content, age: 0 })
    }

    fn holds_in(&self, it: &StandingSection) -> bool {
        self.holds[usize::from(it.content)][it.age]
    }
}

fn judge(gate: &SectionGate<'_>, content: &Content) -> [bool; 3] {
    let text = content.text.as_ref();
    let body = text.map(|text| format!("{}\n{text}\n", gate.section)).unwrap_or_default();
    let stale = SeenSection {
        section: gate.section,
        fingerprint: section(&body, gate.section).map(fingerprint).unwrap_or_default(),
        when: When::Passed,
        work: WorkSince::Same,
    };
    let outdated = SeenSection { work: CHANGED, ..stale };
    [&[][..], &[stale], &[outdated]].map(|seen| check_section(gate, &body, seen).is_ok())
}
