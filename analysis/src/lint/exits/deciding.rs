//! Exit rule that decided in a step of the search.

use std::collections::BTreeSet;

use orange_core::{Gate, SectionGate, SeenSection, TransitionId, When, check_section, fingerprint, section};

use crate::lint::Facts;
use crate::search::ends;
use crate::search::sections::{Content, Sections};
use crate::search::task::WrittenSection;
use crate::search::{Edge, SearchStep};

/// Judgement of the artifacts of all rules on every content that the search tells apart.
#[derive(Debug)]
pub struct Deciding {
    /// By exit rule of the machine; nothing for those without an artifact.
    artifacts: Vec<Vec<AnyArtifact>>,
    /// By transition: its gates, likewise.
    gates: Vec<Vec<AnyArtifact>>,
}

/// Artifacts of which one is enough.
type AnyArtifact = Vec<Artifact>;

#[derive(Debug)]
struct Artifact {
    section: usize,
    /// By content, first while it is fresh, then when it is stale.
    holds: Vec<[bool; 2]>,
}

impl Deciding {
    pub(super) fn of(facts: &Facts<'_>) -> Self {
        let sections = &facts.search.sections;
        let any = |gate: &Gate<'_>| -> AnyArtifact {
            gate.sections().iter().filter_map(|gate| Artifact::of(gate, sections)).collect()
        };
        let all = |gates: &[Gate<'_>]| gates.iter().map(any).filter(|it| !it.is_empty()).collect();
        let rules = facts.machine.exit_rules.iter();
        Self {
            artifacts: rules.map(|rule| all(rule.condition.gates())).collect(),
            gates: facts.machine.transitions.iter().map(|it| all(it.gates)).collect(),
        }
    }

    /// The rule that decided about an agent's end, by its number in the machine; `None` where none was asked, or none
    /// applied.
    pub(super) fn rule(&self, facts: &Facts<'_>, edge: &Edge) -> Option<usize> {
        let SearchStep::Exit { agent, .. } = edge.step else { return None };
        let task = facts.search.task(edge.from);
        if facts.machine.state(task.status).agent != agent {
            return None;
        }
        facts.machine.exit_rule(task.status, |rule| self.holds(facts, rule, edge))
    }

    /// True if the artifacts of a rule are there when a step ends an agent, or it ends as the rule says.
    pub(super) fn holds(&self, facts: &Facts<'_>, rule: usize, edge: &Edge) -> bool {
        if let SearchStep::Exit { end, .. } = edge.step
            && ends::fits(facts.machine, rule, &ends::example(facts.machine, end).end())
        {
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
    pub(super) fn ruled_by(&self, facts: &Facts<'_>, rule: usize, edge: &Edge) -> BTreeSet<usize> {
        self.artifacts[rule].iter().flat_map(|any| needed(facts, any, edge)).collect()
    }

    /// The sections by which the gates of a transition let it through in a step.
    pub(super) fn let_through_by(
        &self,
        facts: &Facts<'_>,
        transition: TransitionId,
        edge: &Edge,
    ) -> BTreeSet<usize> {
        self.gates[transition.0 as usize].iter().flat_map(|any| needed(facts, any, edge)).collect()
    }
}

/// Sections that decide where one of several is enough: those that hold, and if some of these are new, these alone.
fn needed(facts: &Facts<'_>, any: &AnyArtifact, edge: &Edge) -> Vec<usize> {
    if let [one] = &any[..] {
        return vec![one.section];
    }
    let stands = any.iter().map(|it| (it.section, it, it.stands(facts, edge)));
    let holding: Vec<_> = stands.filter(|(_, it, written)| it.holds_in(written)).collect();
    let is_new = |written: &WrittenSection| !written.is_stale();
    let has_new = holding.iter().any(|(.., written)| is_new(written));
    holding.iter().filter(|(.., it)| !has_new || is_new(it)).map(|(section, ..)| *section).collect()
}

impl Artifact {
    fn of(gate: &SectionGate<'_>, sections: &Sections<'_>) -> Option<Self> {
        let section = sections.find(gate.section)?;
        let contents = &sections.get(section).contents;
        Some(Self { section, holds: contents.iter().map(|it| judge(gate, it)).collect() })
    }

    /// Content of its section after the writing in a step.
    fn stands(&self, facts: &Facts<'_>, edge: &Edge) -> WrittenSection {
        let wrote = edge.step.wrote().filter(|it| usize::from(it.section) == self.section);
        let fresh = |content| WrittenSection { content, seen: false, stood: false };
        let stands = facts.search.task(edge.from).section(self.section);
        wrote.map_or(stands, |it| fresh(it.content))
    }

    fn holds_in(&self, written: &WrittenSection) -> bool {
        self.holds[usize::from(written.content)][usize::from(written.is_stale())]
    }
}

fn judge(gate: &SectionGate<'_>, content: &Content) -> [bool; 2] {
    let text = content.text.as_ref();
    let body = text.map(|text| format!("{}\n{text}\n", gate.section)).unwrap_or_default();
    let stale = SeenSection {
        section: gate.section,
        fingerprint: section(&body, gate.section).map(fingerprint).unwrap_or_default(),
        when: When::Passed,
    };
    [&[][..], &[stale]].map(|seen| check_section(gate, &body, seen).is_ok())
}
