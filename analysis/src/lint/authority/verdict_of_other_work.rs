//! CA3: work is merged that an agent can change after the verdict on it.

use std::collections::VecDeque;

use orange_core::{Actor, Gate, SectionGate, StateId, TransitionId, Verdict};

use super::{CA3, Judges};
use crate::lint::Facts;
use crate::search::task::Agent;
use crate::search::{ConfigurationId, Edge, EdgeId};
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let Some(merge) = facts.workflow.commands.merge else { return Vec::new() };
    let passes = facts.machine.transitions.iter().flat_map(|it| it.section_gates());
    if !passes.into_iter().any(|gate| gate.verdict == Some(Verdict::Pass)) {
        return Vec::new();
    }
    let mut runs = JudgedRuns::new(facts);
    runs.follow(merge);
    let mut seen: Vec<TransitionId> = Vec::new();
    let mut found = Vec::new();
    for (node, last) in std::mem::take(&mut runs.merged) {
        let Some(transition) = facts.search.edge(last).step.transition() else { continue };
        if !seen.contains(&transition) {
            seen.push(transition);
            found.extend(finding(facts, &runs, node, last));
        }
    }
    found
}

/// Verdict on the work at one point of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// No verdict speaks for it.
    WithoutVerdict,
    /// The last verdict is PASS, and it is about this work.
    Approved,
    /// The last verdict is PASS, and an agent may have changed the work since then.
    Changed,
}

/// A configuration with the verdict on the work there.
type Node = usize;

const STANDINGS: usize = 3;

/// Every run, with the last verdict on the work.
struct JudgedRuns<'f, 'a> {
    facts: &'f Facts<'a>,
    judges: &'f Judges,
    /// By node: whether it was reached, from which other one, and by which step; a change of the work is not a step.
    arrivals: Vec<Option<(Node, Option<EdgeId>)>>,
    queue: VecDeque<Node>,
    /// The nodes from which a step merges changed work, with that step.
    merged: Vec<(Node, EdgeId)>,
}

impl<'f, 'a> JudgedRuns<'f, 'a> {
    fn new(facts: &'f Facts<'a>) -> Self {
        let arrivals = vec![None; facts.search.size() * STANDINGS];
        Self { facts, judges: facts.judges(), arrivals, queue: VecDeque::new(), merged: Vec::new() }
    }

    fn follow(&mut self, merge: StateId) {
        let search = self.facts.search;
        for (id, _) in search.configurations().filter(|(id, _)| search.arrival(*id).is_none()) {
            let node = node(id, Standing::WithoutVerdict);
            self.visit(node, node, None);
        }
        while let Some(at) = self.queue.pop_front() {
            let (id, standing) = parts(at);
            if standing == Standing::Approved && self.changing(id).is_some() {
                self.visit(node(id, Standing::Changed), at, None);
            }
            for (edge_id, edge) in search.numbered_from(id) {
                let next = self.after(edge, standing);
                if next == Standing::Changed && search.task(edge.to).status == merge {
                    self.merged.push((at, edge_id));
                } else {
                    self.visit(node(edge.to, next), at, Some(edge_id));
                }
            }
        }
    }

    fn visit(&mut self, at: Node, from: Node, by: Option<EdgeId>) {
        if self.arrivals[at].is_none() {
            self.arrivals[at] = Some((from, by));
            self.queue.push_back(at);
        }
    }

    /// The agent that can change the work in a configuration: it is alive in the worktree, and not only to judge.
    fn changing(&self, at: ConfigurationId) -> Option<Actor> {
        let task = self.facts.search.task(at);
        let is_there = |agent: &Actor| task.agent(*agent) == Agent::Live && task.has_worktree();
        self.judges.have_worked(at).find(is_there)
    }

    fn after(&self, edge: &Edge, standing: Standing) -> Standing {
        match self.accepted(edge) {
            Some(Verdict::Pass) => Standing::Approved,
            Some(Verdict::Fail) => Standing::WithoutVerdict,
            // Where a task is stuck, a person decides about the work, and no verdict.
            None if self.facts.machine.commands.crash == Some(self.facts.search.task(edge.to).status) => {
                Standing::WithoutVerdict
            }
            None => standing,
        }
    }

    /// The verdict that a step accepts about the present work: a new one, or one that counts for this work alone.
    fn accepted(&self, edge: &Edge) -> Option<Verdict> {
        let transition = self.facts.machine.transition(edge.step.begins()?);
        let mut gates = transition.gates.iter().filter_map(|gate| verdict(gate, |it| self.is_new(it, edge)));
        gates.next()
    }

    fn is_new(&self, gate: &SectionGate<'_>, edge: &Edge) -> bool {
        let search = self.facts.search;
        let Some(section) = search.sections.find(gate.section) else { return false };
        let is_written = edge.step.wrote().is_some_and(|it| usize::from(it.section) == section);
        gate.fresh || gate.of.is_some() || is_written || !search.task(edge.from).section(section).seen
    }

    /// The steps to a node, and the last change of the work before it: the agent, and the state in which it makes it.
    fn run_to(&self, mut at: Node) -> (Vec<EdgeId>, Option<(Actor, StateId)>) {
        let (mut run, mut change) = (Vec::new(), None);
        while let Some((from, by)) = self.arrivals[at].filter(|(from, _)| *from != at) {
            match by {
                Some(edge) => run.push(edge),
                None => {
                    let (id, _) = parts(at);
                    let status = self.facts.search.task(id).status;
                    change = change.or_else(|| Some((self.changing(id)?, status)));
                }
            }
            at = from;
        }
        run.reverse();
        (run, change)
    }
}

/// The verdict that a gate asks for, if one of its sections is as it should be.
fn verdict(gate: &Gate<'_>, is_new: impl Fn(&SectionGate<'_>) -> bool) -> Option<Verdict> {
    gate.sections().iter().find(|it| it.verdict.is_some() && is_new(it))?.verdict
}

const fn node(at: ConfigurationId, standing: Standing) -> Node {
    at as usize * STANDINGS + standing as usize
}

fn parts(node: Node) -> (ConfigurationId, Standing) {
    let standing = [Standing::WithoutVerdict, Standing::Approved, Standing::Changed][node % STANDINGS];
    ((node / STANDINGS) as ConfigurationId, standing)
}

fn finding(facts: &Facts<'_>, runs: &JudgedRuns<'_, '_>, before: Node, last: EdgeId) -> Option<Diagnostic> {
    let (mut run, change) = runs.run_to(before);
    let (agent, state) = change?;
    let approves = |id: &&EdgeId| runs.accepted(facts.search.edge(**id)) == Some(Verdict::Pass);
    let approving = facts.transition(facts.search.edge(*run.iter().rfind(approves)?).step.begins()?);
    let gate = approving.section_gates().find(|it| it.verdict.is_some_and(|it| it.value == Verdict::Pass))?;
    run.push(last);
    let merging = facts.transition(facts.search.edge(last).step.transition()?);
    let (arrow, heading, name) = (facts.arrow(merging), &gate.section.value, facts.name(state));
    let message =
        format!("{arrow} merges work that a {agent} can change in `{name}` after the verdict in `{heading}`");
    let own = merging.section_gates().find(|it| it.section.value == *heading && it.verdict.is_some());
    let ask = match own {
        Some(_) => "let the gate ask about the work, too: `of: patch`".to_owned(),
        None => format!(
            "ask for a verdict on the work that is merged: `gate: {{section: \"{heading}\", verdict: PASS, strict: true, of: patch}}`"
        ),
    };
    let help = format!(
        "{ask}; or end the {agent} where the verdict is accepted: `- action: kill_session` in {}",
        facts.arrow(approving)
    );
    let place = own.map_or_else(|| facts.first_line(merging.span), |it| it.span);
    let found = Diagnostic::new(&CA3, place, message)
        .label(gate.verdict.map_or(gate.span, |it| it.span), "1. the verdict is accepted")
        .label(place, format!("2. merges what the {agent} has changed since"));
    Some(found.trace(facts.tell(&run, format!("the {agent} has changed the work in {name}"))).help(help))
}
