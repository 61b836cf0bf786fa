//! Which exit rule decided in a step of the search.

use orange_core::{SectionGate, Seen, When, check_section, fingerprint, section};

use crate::lint::Facts;
use crate::search::ends;
use crate::search::sections::{Content, Sections};
use crate::search::task::Written;
use crate::search::{Edge, SearchStep};

/// What the artifacts of all rules say of every content that the search tells apart.
#[derive(Debug)]
pub struct Deciding {
    /// By exit rule of the machine; nothing for those without an artifact.
    artifacts: Vec<Vec<Artifact>>,
}

#[derive(Debug)]
struct Artifact {
    section: usize,
    /// By content, first while it is fresh, then when it is stale.
    holds: Vec<[bool; 2]>,
}

impl Deciding {
    pub(super) fn of(facts: &Facts<'_>) -> Self {
        let sections = &facts.search.sections;
        let artifacts = facts.machine.exit_rules.iter().map(|rule| {
            let gates = rule.condition.section_gates();
            gates.filter_map(|gate| Artifact::of(gate, sections)).collect()
        });
        Self { artifacts: artifacts.collect() }
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

    /// Whether the artifacts of a rule are there when a step ends an agent, or it ends as the rule says.
    pub(super) fn holds(&self, facts: &Facts<'_>, rule: usize, edge: &Edge) -> bool {
        if let SearchStep::Exit { end, .. } = edge.step
            && ends::fits(facts.machine, rule, &ends::example(facts.machine, end).end())
        {
            return true;
        }
        let artifacts = &self.artifacts[rule];
        !artifacts.is_empty()
            && artifacts.iter().all(|artifact| {
                let wrote = edge.step.wrote().filter(|it| usize::from(it.section) == artifact.section);
                let stands = facts.search.task(edge.from).section(artifact.section);
                let fresh = |content| Written { content, seen: false, stood: false };
                let written = wrote.map_or(stands, |it| fresh(it.content));
                artifact.holds[usize::from(written.content)][usize::from(written.is_stale())]
            })
    }

    /// The sections that a rule reads.
    pub(super) fn sections(&self, rule: usize) -> impl Iterator<Item = usize> {
        self.artifacts[rule].iter().map(|it| it.section)
    }
}

impl Artifact {
    fn of(gate: &SectionGate<'_>, sections: &Sections<'_>) -> Option<Self> {
        let section = sections.find(gate.section)?;
        let contents = &sections.get(section).contents;
        Some(Self { section, holds: contents.iter().map(|it| judge(gate, it)).collect() })
    }
}

fn judge(gate: &SectionGate<'_>, content: &Content) -> [bool; 2] {
    let text = content.text.as_ref();
    let body = text.map(|text| format!("{}\n{text}\n", gate.section)).unwrap_or_default();
    let stale = Seen {
        section: gate.section,
        fingerprint: section(&body, gate.section).map(fingerprint).unwrap_or_default(),
        when: When::Passed,
    };
    [&[][..], &[stale]].map(|seen| check_section(gate, &body, seen).is_ok())
}
