//! C23: what a gate lets through, and every guard behind it then refuses.

use std::collections::HashMap;
use std::rc::Rc;

use orange_core::{Fields, SectionGate, TransitionId, Verdict, check_section};

use super::C23;
use super::shared::undecided;
use crate::lint::{ActorKind, Facts};
use crate::search::ConfigurationId;
use crate::search::sections::Content;
use orange_codegen::diag::{Diagnostic, Witness};
use orange_codegen::guard::{Expr, Guard, Op, decide};
use orange_codegen::model::{Outcome, StateId};

/// Guards that a message still points at.
const MAX_LABELS: usize = 8;

/// A content that opens gates out of a state, and the guards behind them, which leave values out.
struct Gap<'f> {
    state: StateId,
    section: &'f str,
    content: &'f Content,
    guards: Vec<&'f Guard>,
    /// Configuration in which the search meets it, if it does.
    met: Option<ConfigurationId>,
    /// The smallest values, whether they are met or not.
    smallest: Witness,
}

/// Parts that tell two gates on one section apart, but for `fresh`.
type SectionWish<'f> = (&'f str, bool, (Option<Verdict<'f>>, &'f [&'f str]), bool, (bool, &'f [&'f str]));

/// Contents of their sections that the gates of a workflow let through.
struct Judge<'f> {
    facts: &'f Facts<'f>,
    /// By content of the gate's section.
    known: HashMap<SectionWish<'f>, Rc<[bool]>>,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut judge = Judge { facts, known: HashMap::new() };
    let mut gaps: Vec<Vec<Gap<'_>>> = Vec::new();
    for (state, _) in facts.states() {
        gaps.push(gaps_of(&mut judge, state, &mut found));
    }
    for (id, task) in facts.search.configurations() {
        let open = gaps[usize::from(task.status.0)].iter_mut().filter(|it| it.met.is_none());
        for gap in open {
            let values = facts.search.counters.values(task);
            if !gap.guards.iter().any(|it| it.expr.holds(&values)) {
                gap.met = Some(id);
            }
        }
    }
    found.extend(gaps.iter().flatten().filter_map(|gap| finding(facts, gap)));
    found
}

impl<'f> Judge<'f> {
    fn of(&mut self, gate: &SectionGate<'f>) -> Rc<[bool]> {
        let fields = (matches!(gate.fields, Fields::All(_)), gate.fields.names());
        let wish = (gate.section, gate.required, (gate.verdict, gate.verdicts), gate.strict, fields);
        let judged = self.known.entry(wish).or_insert_with(|| {
            let lets = |content: &Content| {
                let body = content.text.as_ref().map(|text| format!("{}\n{text}\n", gate.section));
                check_section(gate, &body.unwrap_or_default(), &[]).is_ok()
            };
            contents(self.facts, gate.section).iter().map(lets).collect()
        });
        Rc::clone(judged)
    }
}

fn contents<'f>(facts: &'f Facts<'_>, section: &str) -> &'f [Content] {
    facts.search.sections.find(section).map_or(&[], |at| &facts.search.sections.get(at).contents)
}

/// The gaps out of a state, by the cells alone. Contents that open the same gates are one.
fn gaps_of<'f>(judge: &mut Judge<'f>, state: StateId, found: &mut Vec<Diagnostic>) -> Vec<Gap<'f>> {
    let facts = judge.facts;
    let gates = |id: TransitionId| facts.machine.transition(id).section_gates().map(move |gate| (id, gate));
    let gated: Vec<(TransitionId, &SectionGate<'f>)> =
        facts.leaving(state).flat_map(|(id, _)| gates(id)).collect();
    if gated.iter().all(|(id, _)| facts.transition(*id).when.is_none()) {
        return Vec::new();
    }
    let judged: Vec<(TransitionId, &str, Rc<[bool]>)> =
        gated.iter().map(|(id, gate)| (*id, gate.section, judge.of(gate))).collect();
    let mut sections: Vec<&str> = gated.iter().map(|(_, gate)| gate.section).collect();
    sections.sort_unstable();
    sections.dedup();
    sections.into_iter().flat_map(|section| gaps_in(facts, state, section, &judged, found)).collect()
}

fn gaps_in<'f>(
    facts: &'f Facts<'f>,
    state: StateId,
    section: &'f str,
    judged: &[(TransitionId, &str, Rc<[bool]>)],
    found: &mut Vec<Diagnostic>,
) -> Vec<Gap<'f>> {
    let mut seen: Vec<Vec<TransitionId>> = Vec::new();
    let mut gaps = Vec::new();
    for (at, content) in contents(facts, section).iter().enumerate() {
        let opened = opened(judged, section, at);
        if opened.is_empty() || seen.contains(&opened) {
            continue;
        }
        seen.push(opened.clone());
        let Some(guards) = guards_behind(facts, state, &opened) else { continue };
        let exprs: Vec<&Expr> = guards.iter().map(|it| &it.expr).collect();
        match decide::gap(&exprs, &facts.workflow.counters, &mut facts.work.borrow_mut()) {
            Ok(None) => {}
            Ok(Some(smallest)) => gaps.push(Gap { state, section, content, guards, met: None, smallest }),
            Err(_) => {
                let question = format!("the guards out of `{}` leave a value out", facts.name(state));
                found.push(undecided(guards[0].clause, &question));
            }
        }
    }
    gaps
}

/// The transitions of which every gate on a section lets a content of it through. What their other gates read can be written,
/// too.
fn opened(judged: &[(TransitionId, &str, Rc<[bool]>)], section: &str, content: usize) -> Vec<TransitionId> {
    let of_section = || judged.iter().filter(|(_, it, _)| *it == section);
    let is_closed = |id: TransitionId| of_section().any(|(it, _, lets)| *it == id && !lets[content]);
    let mut opened: Vec<TransitionId> =
        of_section().map(|(id, ..)| *id).filter(|id| !is_closed(*id)).collect();
    opened.dedup();
    opened
}

/// The guards that decide where these gates are open; none when one transition has no guard. A transition without a gate, of an
/// agent or an exit rule, counts, too.
fn guards_behind<'f>(facts: &Facts<'f>, state: StateId, opened: &[TransitionId]) -> Option<Vec<&'f Guard>> {
    let leaving = facts.leaving(state).filter(|(id, transition)| {
        let ungated = transition.gates.is_empty() && facts.actor_kinds[id.0 as usize] != ActorKind::Person;
        ungated || opened.contains(id)
    });
    leaving.map(|(_, transition)| transition.when.as_ref()).collect()
}

fn finding(facts: &Facts<'_>, gap: &Gap<'_>) -> Option<Diagnostic> {
    let exprs: Vec<&Expr> = gap.guards.iter().map(|it| &it.expr).collect();
    let met = gap.met.map(|id| (id, facts.search.counters.values(facts.search.task(id))));
    // What a complete search does not meet does not happen.
    if met.is_none() && facts.search.cut().is_none() {
        return None;
    }
    let witness = met.as_ref().and_then(|(_, values)| {
        decide::gap_around(&exprs, values, &facts.workflow.counters, &mut facts.work.borrow_mut()).ok()
    });
    let witness = witness.unwrap_or_else(|| gap.smallest.clone());
    if met.as_ref().is_some_and(|(_, values)| is_ruled(facts, gap.state, values)) {
        return None;
    }
    let (state, content) = (facts.name(gap.state), written(gap));
    let message = format!("{content} opens no transition out of `{state}`: {}", witness.range);
    let found = Diagnostic::new(&C23, gap.guards[0].clause, message);
    let found = gap
        .guards
        .iter()
        .take(MAX_LABELS)
        .fold(found, |found, guard| found.label(guard.clause, format!("open when {}", guard.text)));
    let help = widened(&gap.guards, &witness).unwrap_or_else(|| {
        let values: Vec<String> =
            witness.values.iter().map(|(name, value)| format!("{name} == {value}")).collect();
        format!("widen one of the guards, or add a transition with `when: \"{}\"`", values.join(" && "))
    });
    let found = found.witness(witness).help(help);
    Some(match met {
        Some((id, _)) => found.trace(facts.tell_to(id, "every transition is closed".to_owned())),
        None => found,
    })
}

/// True if an exit rule chooses a transition for these values: that the transition is closed is then the rule's fault.
fn is_ruled(facts: &Facts<'_>, state: StateId, values: &[u32]) -> bool {
    facts.exit_rules.iter().filter(|rule| rule.status.value == state).any(|rule| match &rule.outcome {
        Outcome::ThenWhen(clauses) => clauses.iter().any(|clause| clause.when.expr.holds(values)),
        Outcome::Then(_) | Outcome::Crash { .. } | Outcome::MarkDead | Outcome::Wait { .. } => false,
    })
}

fn written(gap: &Gap<'_>) -> String {
    let Gap { section, content, .. } = gap;
    match content.label.as_str() {
        "text" => format!("`{section}`"),
        label => format!("`{section}` ({label})"),
    }
}

/// The comparison that stops one short of the value that is left out, and the sign that does not.
fn widened(guards: &[&Guard], witness: &Witness) -> Option<String> {
    let [(name, value)] = &witness.values[..] else { return None };
    guards.iter().rev().find_map(|guard| {
        let Expr::Compare(it) = &guard.expr else { return None };
        let sign = match it.op {
            Op::Greater => Op::AtLeast,
            Op::Less => Op::AtMost,
            Op::AtMost | Op::AtLeast | Op::Equal | Op::NotEqual => return None,
        };
        (it.value == *value)
            .then(|| format!("write `{name} {} {value}` in the place of `{}`", sign.as_str(), guard.text))
    })
}
