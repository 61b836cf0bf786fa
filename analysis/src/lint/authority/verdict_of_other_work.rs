//! CA3: work is merged that an agent or a hook can change after the verdict on it.

use std::collections::VecDeque;

use orange_core::{Actor, Gate, SectionGate, StateId, TransitionId, Verdict};

use super::{CA3, Judges};
use crate::lint::Facts;
use crate::search::task::Agent;
use crate::search::{ConfigurationId, Edge, EdgeId, SearchStep};
use orange_codegen::diag::Diagnostic;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let Some(merge) = facts.workflow.commands.merge else { return Vec::new() };
    let passes = facts.machine.transitions.iter().flat_map(|it| it.section_gates());
    if !passes.into_iter().any(|gate| gate.verdict == Some(Verdict::PASS)) {
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
    /// The last verdict is PASS, and an agent or a hook may have changed the work since then.
    Changed,
}

/// Change of the work after a verdict on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// An agent makes it in a state.
    Agent(Actor, StateId),
    /// A hook of a transition makes it.
    Hook(TransitionId),
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
                if search.task(edge.to).status == merge {
                    if next == Standing::Changed {
                        self.merged.push((at, edge_id));
                    }
                    continue;
                }
                let is_remade = next == Standing::Approved && self.remaking(edge).is_some();
                let next = if is_remade { Standing::Changed } else { next };
                self.visit(node(edge.to, next), at, Some(edge_id));
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

    /// The transition of a step whose hook changes the work, for example takes the base in.
    fn remaking(&self, edge: &Edge) -> Option<TransitionId> {
        let remade = |transition: TransitionId, hooks: std::ops::Range<usize>| {
            let hooks = self.facts.machine.transition(transition).hooks.get(hooks)?;
            hooks.iter().any(|it| it.action.traits().remakes).then_some(transition)
        };
        let all = |transition: TransitionId| 0..self.facts.machine.transition(transition).hooks.len();
        match edge.step {
            SearchStep::Failure { transition, hook, .. } => remade(transition, 0..usize::from(hook)),
            SearchStep::Retry { .. } => {
                let waiting = self.facts.search.task(edge.from).waiting?;
                remade(waiting.transition, usize::from(waiting.hook)..all(waiting.transition).end)
            }
            SearchStep::Request { .. }
            | SearchStep::Exit { .. }
            | SearchStep::Start
            | SearchStep::Write(_)
            | SearchStep::Commit(_)
            | SearchStep::EndWhileWaiting(_)
            | SearchStep::Respawn => edge.step.transition().and_then(|it| remade(it, all(it))),
        }
    }

    fn after(&self, edge: &Edge, standing: Standing) -> Standing {
        match self.accepted(edge) {
            Some(Verdict::PASS) => Standing::Approved,
            Some(_) => Standing::WithoutVerdict,
            // Where a task is stuck, a person decides about the work, and no verdict.
            None if self.facts.machine.commands.crash == Some(self.facts.search.task(edge.to).status) => {
                Standing::WithoutVerdict
            }
            None => standing,
        }
    }

    /// The verdict that a step accepts about the present work: a new one, or one that counts for this work alone.
    fn accepted(&self, edge: &Edge) -> Option<Verdict<'_>> {
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

    /// The steps to a node, and the last change of the work before it.
    fn run_to(&self, mut at: Node) -> (Vec<EdgeId>, Option<Change>) {
        let (mut run, mut change) = (Vec::new(), None);
        while let Some((from, by)) = self.arrivals[at].filter(|(from, _)| *from != at) {
            match by {
                Some(edge) => {
                    run.push(edge);
                    let is_remade = parts(at).1 == Standing::Changed && parts(from).1 != Standing::Changed;
                    let by_hook = || self.remaking(self.facts.search.edge(edge)).map(Change::Hook);
                    change = change.or_else(|| if is_remade { by_hook() } else { None });
                }
                None => {
                    let (id, _) = parts(at);
                    let status = self.facts.search.task(id).status;
                    change = change.or_else(|| Some(Change::Agent(self.changing(id)?, status)));
                }
            }
            at = from;
        }
        run.reverse();
        (run, change)
    }
}

/// The verdict that a gate asks for, if one of its sections is as it should be.
fn verdict<'m>(gate: &Gate<'m>, is_new: impl Fn(&SectionGate<'_>) -> bool) -> Option<Verdict<'m>> {
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
    let change = change?;
    let approves = |id: &&EdgeId| runs.accepted(facts.search.edge(**id)) == Some(Verdict::PASS);
    let approving = facts.transition(facts.search.edge(*run.iter().rfind(approves)?).step.begins()?);
    let gate = approving.section_gates().find(|it| it.wants(Verdict::PASS.as_str()))?;
    run.push(last);
    let merging = facts.transition(facts.search.edge(last).step.transition()?);
    let (arrow, heading) = (facts.arrow(merging), &gate.section.value);
    let (changes, changed, since, otherwise) = match change {
        Change::Agent(agent, state) => {
            let name = facts.name(state);
            let end = format!(
                "end the {agent} where the verdict is accepted: `- action: kill_session` in {}",
                facts.arrow(approving)
            );
            let changed = format!("the {agent} has changed the work in {name}");
            (format!("a {agent} can change in `{name}`"), changed, format!("the {agent} has changed"), end)
        }
        Change::Hook(transition) => {
            let by = facts.arrow(facts.transition(transition));
            let end = "bring the branch up to its base before the verdict is given".to_owned();
            let changed = format!("{by} has taken the base in");
            (format!("`sync_branch` of {by} can change"), changed, "it has changed".to_owned(), end)
        }
    };
    let message = format!("{arrow} merges work that {changes} after the verdict in `{heading}`");
    let own = merging.section_gates().find(|it| it.section.value == *heading && it.asks_for_verdict());
    let ask = match own {
        Some(_) => "let the gate ask about the work, too: `of: patch`".to_owned(),
        None => format!(
            "ask for a verdict on the work that is merged: `gate: {{section: \"{heading}\", verdict: PASS, strict: true, of: patch}}`"
        ),
    };
    let help = format!("{ask}; or {otherwise}");
    let place = own.map_or_else(|| facts.first_line(merging.span), |it| it.span);
    let found = Diagnostic::new(&CA3, place, message)
        .label(gate.verdict_place().unwrap_or(gate.span), "1. the verdict is accepted")
        .label(place, format!("2. merges what {since} since"));
    Some(found.trace(facts.tell(&run, changed)).help(help))
}
