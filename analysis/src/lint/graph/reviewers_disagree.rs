//! C16: reviewers disagree, and the gates on their verdicts let the task go to two states, to none, or on although one says FAIL.

use orange_core::{Fields, Gate, Hook, SectionGate, StateId, TransitionId, Verdict, check_section};

use super::C16;
use crate::lint::Facts;
use orange_codegen::diag::Diagnostic;
use orange_codegen::span::Span;

/// The transitions out of a state whose gates ask for a verdict of its reviewers.
struct Judged<'m> {
    /// The reviewers with names, and the sections that they write.
    reviewers: Vec<(&'m str, &'m str)>,
    passing: Vec<TransitionId>,
    failing: Vec<TransitionId>,
}

/// Verdicts of which one at least is PASS, and one FAIL: a bit for each reviewer that says FAIL.
#[derive(Clone, Copy)]
struct Verdicts(u32);

/// Result of such verdicts.
enum Disagreement {
    /// Both transitions are open.
    Both(TransitionId, TransitionId),
    /// No transition is open.
    Neither,
    /// This transition for PASS is the only one that is open.
    Passes(TransitionId),
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Diagnostic> {
    facts.states().filter_map(|(state, _)| of_state(facts, state)).collect()
}

fn of_state(facts: &Facts<'_>, state: StateId) -> Option<Diagnostic> {
    let judged = Judged::of(facts, state)?;
    let all = 1..(1_u32 << judged.reviewers.len()) - 1;
    let (verdicts, disagreement) =
        all.map(Verdicts).find_map(|it| Some((it, judged.disagreement(facts, it)?)))?;
    Some(finding(facts, &judged, verdicts, &disagreement))
}

impl<'m> Judged<'m> {
    /// Those of a state with several reviewers, and transitions for PASS and for FAIL.
    fn of(facts: &Facts<'m>, state: StateId) -> Option<Self> {
        let gates = || facts.machine.section_gates_of(state).filter(|gate| gate.asks_for_verdict());
        let section = |name: &str| gates().find(|gate| gate.reviewer == Some(name)).map(|gate| gate.section);
        let names = facts.machine.reviewers(state).into_iter().filter_map(Hook::reviewer);
        let reviewers: Vec<_> = names.filter_map(|name| Some((name, section(name)?))).collect();
        let wanting = |verdict| {
            let leaving = facts.leaving(state).map(|(id, _)| id);
            leaving.filter(|id| gates_on_verdicts(facts, *id).any(|it| wants(it, verdict))).collect()
        };
        let (passing, failing): (Vec<_>, Vec<_>) = (wanting(Verdict::PASS), wanting(Verdict::FAIL));
        let is_asked = reviewers.len() > 1 && !passing.is_empty() && !failing.is_empty();
        is_asked.then_some(Self { reviewers, passing, failing })
    }

    fn disagreement(&self, facts: &Facts<'_>, verdicts: Verdicts) -> Option<Disagreement> {
        let body = self.body(verdicts);
        let open = |ids: &[TransitionId]| {
            let is_open =
                |id: &TransitionId| gates_on_verdicts(facts, *id).all(|gate| lets_through(gate, &body));
            ids.iter().copied().find(is_open)
        };
        match (open(&self.passing), open(&self.failing)) {
            (Some(pass), Some(fail)) => {
                let to = |id| facts.machine.transition(id).to;
                (to(pass) != to(fail)).then_some(Disagreement::Both(pass, fail))
            }
            (Some(pass), None) => Some(Disagreement::Passes(pass)),
            (None, Some(_)) => None,
            (None, None) => Some(Disagreement::Neither),
        }
    }

    /// The body with the sections of the reviewers.
    fn body(&self, verdicts: Verdicts) -> String {
        let section = |(at, (_, heading)): (usize, &(&str, &str))| {
            let verdict = if verdicts.fails(at) { "FAIL" } else { "PASS" };
            format!("{heading}\nVerdict: {verdict}\n")
        };
        self.reviewers.iter().enumerate().map(section).collect()
    }

    /// `a` says FAIL and `b` says PASS, in words.
    fn words(&self, verdicts: Verdicts) -> String {
        let saying = |fails: bool| {
            let names = self.reviewers.iter().enumerate().filter(|(at, _)| verdicts.fails(*at) == fails);
            let names: Vec<String> = names.map(|(_, (name, _))| format!("`{name}`")).collect();
            let say = if names.len() == 1 { "says" } else { "say" };
            format!("{} {say} {}", names.join(" and "), if fails { "FAIL" } else { "PASS" })
        };
        format!("{} and {}", saying(true), saying(false))
    }
}

impl Verdicts {
    fn fails(self, reviewer: usize) -> bool {
        self.0 >> reviewer & 1 == 1
    }
}

/// The gates of a transition that ask for verdicts of reviewers with names.
fn gates_on_verdicts<'m>(
    facts: &Facts<'m>,
    id: TransitionId,
) -> impl Iterator<Item = &'m Gate<'m>> + use<'m> {
    let is_of_reviewers =
        |gate: &&Gate<'_>| gate.sections().iter().any(|it| it.reviewer.is_some() && it.asks_for_verdict());
    facts.machine.transition(id).gates.iter().filter(is_of_reviewers)
}

fn wants(gate: &Gate<'_>, verdict: Verdict<'_>) -> bool {
    gate.sections().iter().any(|it| it.asks_for_verdict() && it.wanted().any(|it| it == verdict))
}

fn lets_through(gate: &Gate<'_>, body: &str) -> bool {
    let is_met = |gate: &SectionGate<'_>| {
        check_section(&SectionGate { fields: Fields::NONE, ..*gate }, body, &[]).is_ok()
    };
    gate.sections().iter().any(is_met)
}

fn finding(
    facts: &Facts<'_>,
    judged: &Judged<'_>,
    verdicts: Verdicts,
    disagreement: &Disagreement,
) -> Diagnostic {
    let words = judged.words(verdicts);
    let arrow = |id: TransitionId| facts.arrow(facts.transition(id));
    let (first, second) = match disagreement {
        Disagreement::Both(pass, fail) => (*pass, *fail),
        Disagreement::Passes(pass) => (*pass, judged.failing[0]),
        Disagreement::Neither => (judged.passing[0], judged.failing[0]),
    };
    let (message, [one, other]) = match disagreement {
        Disagreement::Both(..) => (
            format!("where {words}, {} and {} are both open", arrow(first), arrow(second)),
            ["lets the task go on", "lets it go, too"],
        ),
        Disagreement::Passes(_) => (
            format!("{} is open although {words}", arrow(first)),
            ["lets the task go on", "waits for more who say FAIL"],
        ),
        Disagreement::Neither => (
            format!("where {words}, neither {} nor {} is open", arrow(first), arrow(second)),
            ["refuses the task", "refuses it, too"],
        ),
    };
    let (first, second) = (place(facts, first), place(facts, second));
    Diagnostic::new(&C16, first, message)
        .label(first, format!("1. {one}"))
        .label(second, format!("2. {other}"))
        .help("write `verdicts: all` in the gate that asks for PASS, and `verdicts: any` in the one that asks for FAIL")
}

/// The first gate of a transition.
fn place(facts: &Facts<'_>, id: TransitionId) -> Span {
    let transition = facts.transition(id);
    let gate = transition.section_gates().find(|gate| gate.asks_for_verdict());
    facts.first_line(gate.map_or(transition.span, |gate| gate.place))
}
