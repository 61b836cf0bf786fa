//! D04: a gate refuses what it let through.

use orange_core::{
    Gate, OpenChildren, SectionGate, SeenSection, When, WorkSince, check_section, fingerprint, section,
};

use super::both::{Both, TransitionPair, guard_place, label};
use super::{ChangeFinding, D04, Side};
use crate::lint::Facts;
use crate::search::sections::{CHANGED, Content, candidates};
use orange_codegen::catalogue::A10;
use orange_codegen::diag::{Diagnostic, Witness};
use orange_codegen::guard::{Expr, decide};
use orange_codegen::model::{self, Transition};
use orange_codegen::span::Span;

/// More combinations of contents than these are not looked at.
const MAX_CASES: usize = 4_096;

/// Possible contents of each section that gates of a pair read.
struct GateCase<'c> {
    parts: Vec<SectionContent<'c>>,
    /// The gates whose programs and checks let the task through.
    asked: &'c [Gate<'c>],
}

#[derive(Clone)]
struct SectionContent<'c> {
    section: &'c str,
    content: Content,
    /// Change of the work since a gate let this very content through, if one has.
    seen: Option<WorkSince>,
}

/// The gates of a pair's transitions, in both workflows.
struct Gates<'c> {
    old: Vec<&'c [Gate<'c>]>,
    new: Vec<&'c [Gate<'c>]>,
}

pub(super) fn find(both: &Both<'_>) -> Vec<ChangeFinding> {
    let pairs = both.pairs().filter(|pair| pair.new.iter().any(|it| !it.gates.is_empty()));
    pairs.filter_map(|pair| in_pair(both, &pair)).collect()
}

fn in_pair(both: &Both<'_>, pair: &TransitionPair<'_>) -> Option<ChangeFinding> {
    let gates = Gates { old: gates(both.old, &pair.old), new: gates(both.new, &pair.new) };
    if gates.old == gates.new && gates.old.len() == 1 {
        return None;
    }
    let Some(cases) = cases(&gates) else { return Some(undecided(both, pair)) };
    let guards = both.old_guards(pair);
    for case in &cases {
        for (at, guard) in guards.iter().enumerate() {
            // A program and checks that the old gates ask are taken to let the task through, and no others.
            let case = GateCase { parts: case.parts.clone(), asked: gates.old[at] };
            if !case.opens(gates.old[at]) {
                continue;
            }
            match refused(both, pair, &case, &gates, guard.as_ref()) {
                Ok(None) => {}
                Ok(Some(witness)) => return Some(tightened(both, pair, at, &case, &gates, witness)),
                Err(()) => return Some(undecided(both, pair)),
            }
        }
    }
    None
}

fn gates<'c>(facts: &Facts<'c>, transitions: &[&Transition]) -> Vec<&'c [Gate<'c>]> {
    let Some(first) = transitions.first() else { return Vec::new() };
    let between = facts.machine.between(first.from.value, first.to.value);
    between.map(|id| facts.machine.transition(id).gates).collect()
}

/// Every combination of what the sections can say, new content before what a gate has seen.
fn cases<'c>(gates: &Gates<'c>) -> Option<Vec<GateCase<'c>>> {
    let all = gates.old.iter().chain(&gates.new).copied().flatten();
    let all: Vec<&SectionGate<'c>> = all.flat_map(Gate::sections).collect();
    let mut sections: Vec<&str> = all.iter().map(|it| it.section).collect();
    sections.sort_unstable();
    sections.dedup();
    let mut cases = vec![GateCase { parts: Vec::new(), asked: &[] }];
    for section in sections {
        let same: Vec<&SectionGate<'_>> = all.iter().copied().filter(|it| it.section == section).collect();
        let contents = candidates(&same);
        let fresh = contents.iter().map(|it| (it, None));
        let seen = |work| contents.iter().filter(|it| it.text.is_some()).map(move |it| (it, Some(work)));
        let moved = same.iter().any(|gate| gate.of.is_some()).then(|| seen(CHANGED));
        let parts = fresh
            .chain(seen(WorkSince::Same))
            .chain(moved.into_iter().flatten())
            .map(|(it, seen)| SectionContent { section, content: it.clone(), seen });
        let parts: Vec<SectionContent<'_>> = parts.collect();
        if cases.len() * parts.len() > MAX_CASES {
            return None;
        }
        let longer = cases.iter().flat_map(|case| {
            let with = |part| case.parts.iter().chain([part]).cloned().collect();
            parts.iter().map(move |part| GateCase { parts: with(part), asked: &[] })
        });
        cases = longer.collect();
    }
    Some(cases)
}

impl GateCase<'_> {
    /// True if this case passes every one of these gates.
    fn opens(&self, gates: &[Gate<'_>]) -> bool {
        gates.iter().all(|gate| match gate {
            Gate::AnySection(any) => any.iter().any(|gate| self.passes(gate)),
            Gate::Section(gate) => self.passes(gate),
            Gate::Command(_) | Gate::OnMerge(_) | Gate::Checks | Gate::Children(_) => self.is_asked(gate),
        })
    }

    /// True if the old gates ask this already, with no less time.
    fn is_asked(&self, gate: &Gate<'_>) -> bool {
        self.asked.iter().any(|old| match (old, gate) {
            (Gate::Command(old), Gate::Command(new)) | (Gate::OnMerge(old), Gate::OnMerge(new)) => {
                old.argv == new.argv && old.timeout <= new.timeout
            }
            (old, new) => old == new,
        })
    }

    /// Demand of these gates outside of the body, which the old ones did not have, in words.
    fn unasked(&self, gates: &[Gate<'_>]) -> Option<String> {
        gates.iter().find_map(|gate| match gate {
            Gate::Command(program) if !self.is_asked(gate) => {
                let is_shorter =
                    self.asked.iter().any(|old| matches!(old, Gate::Command(it) if it.argv == program.argv));
                let more = if is_shorter { " in less time" } else { "" };
                Some(format!("`{}` does not succeed{more}", program.argv.join(" ")))
            }
            Gate::OnMerge(program) if !self.is_asked(gate) => {
                Some(format!("`{}` does not succeed on the result of the merge", program.argv.join(" ")))
            }
            Gate::Checks if !self.is_asked(gate) => {
                Some("the checks of the pull request are not green".to_owned())
            }
            Gate::Children(wanted) if !self.is_asked(gate) => Some(match wanted {
                OpenChildren::Some => "no task that it has created is open".to_owned(),
                OpenChildren::None => "a task that it has created is open".to_owned(),
            }),
            Gate::Command(_)
            | Gate::OnMerge(_)
            | Gate::Checks
            | Gate::Children(_)
            | Gate::Section(_)
            | Gate::AnySection(_) => None,
        })
    }

    fn passes(&self, gate: &SectionGate<'_>) -> bool {
        self.parts.iter().filter(|it| it.section == gate.section).all(|part| {
            let body = part
                .content
                .text
                .as_ref()
                .map(|text| format!("{}\n{text}\n", part.section))
                .unwrap_or_default();
            let seen = section(&body, part.section).zip(part.seen).map(|(content, work)| SeenSection {
                section: part.section,
                fingerprint: fingerprint(content),
                when: When::Passed,
                work,
            });
            check_section(gate, &body, seen.as_slice()).is_ok()
        })
    }

    fn words(&self) -> String {
        let words = self.parts.iter().map(|it| {
            let seen = match it.seen {
                None => "",
                Some(WorkSince::Same) => ", let through before",
                Some(WorkSince::Unknown | WorkSince::Changed { .. }) => {
                    ", let through before about other work"
                }
            };
            format!("`{}` ({}{seen})", it.section, it.content.label)
        });
        words.collect::<Vec<_>>().join(" and ")
    }
}

/// Counter values with which the old transition was open, some new one would be, and none of them for this content.
fn refused(
    both: &Both<'_>,
    pair: &TransitionPair<'_>,
    case: &GateCase<'_>,
    gates: &Gates<'_>,
    old: Option<&Expr>,
) -> Result<Option<Witness>, ()> {
    let guard = |transition: &Transition| transition.when.as_ref().map(|it| it.expr.clone());
    let opened = pair.new.iter().zip(&gates.new).filter(|(_, gate)| case.opens(gate));
    let Some(opened) = opened.map(|(transition, _)| guard(transition)).collect::<Option<Vec<Expr>>>() else {
        return Ok(None);
    };
    // Values that every new guard refuses are the guards' doing.
    let some_new =
        pair.new.iter().map(|transition| guard(transition)).collect::<Option<Vec<Expr>>>().map(Expr::Or);
    let wanted: Vec<Expr> = old.cloned().into_iter().chain(some_new).collect();
    let wanted = (!wanted.is_empty()).then_some(Expr::And(wanted));
    let opened: Vec<&Expr> = opened.iter().collect();
    decide::beyond(wanted.as_ref(), &opened, &both.counters, &mut both.new.work.borrow_mut()).map_err(|_| ())
}

fn tightened(
    both: &Both<'_>,
    pair: &TransitionPair<'_>,
    at: usize,
    case: &GateCase<'_>,
    gates: &Gates<'_>,
    witness: Witness,
) -> ChangeFinding {
    let closed = pair.new.iter().zip(&gates.new).find(|(_, gate)| !case.opens(gate));
    let new = closed.map_or(pair.new[0], |(transition, _)| transition);
    let where_ = if witness.values.is_empty() { String::new() } else { format!(", {}", witness.range) };
    let asks = gates.new.iter().find(|gates| !case.opens(gates)).and_then(|gates| case.unasked(gates));
    let what = match (case.parts.is_empty(), asks) {
        (true, Some(asks)) => format!("a task while {asks}"),
        (false, Some(asks)) => format!("{} while {asks}", case.words()),
        (_, None) => case.words(),
    };
    let message = format!("{} now refuses {what}{where_}", both.new.arrow(new));
    let place = gate_place(both.new, new);
    let finding = Diagnostic::new(&D04, place, message).label(place, "refused here").help(
        "let it through until tasks that wrote it so are over, or send their agents what the gate asks for now",
    );
    let finding = if witness.values.is_empty() { finding } else { finding.witness(witness) };
    let old = pair.old[at];
    let was = if !old.gates.is_empty() { "it was let through here" } else { "there was no gate" };
    ChangeFinding::on(Side::New, finding).beside(label(gate_place(both.old, old), was))
}

fn gate_place(facts: &Facts<'_>, transition: &Transition) -> Span {
    facts.first_line(transition.gates.first().map_or(transition.span, model::Gate::place))
}

fn undecided(both: &Both<'_>, pair: &TransitionPair<'_>) -> ChangeFinding {
    let new = pair.new[0];
    let message =
        format!("whether the gates of {} refuse more than before was not decided", both.new.arrow(new));
    let finding = Diagnostic::new(&A10, guard_place(both.new, new), message)
        .help("let the gates between two states read fewer sections and fields");
    ChangeFinding::on(Side::New, finding)
}
