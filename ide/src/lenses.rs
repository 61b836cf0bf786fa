//! Lines above the parts of a workflow: its proof, its scenarios, and the transitions of each state.

use orange_analysis::insight::{Insight, WorkflowInsight};
use orange_analysis::prove::{Judged, ProofVerdict};
use orange_codegen::Span;
use orange_codegen::model::Definition;

use crate::document::Document;

/// A line above a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lens {
    /// The part.
    pub span: Span,
    /// Words above the line.
    pub title: String,
    /// Its subject, with what a click shows.
    pub kind: LensKind,
}

/// Kind of a line, by which an editor knows what a click does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LensKind {
    /// The proof.
    Proof,
    /// The results of the scenarios.
    Scenarios,
    /// The changes since the last commit.
    Changes,
    /// The transitions of this state.
    State(String),
    /// A simulation that begins in this state.
    Simulate(String),
}

/// Numbers in the results of scenarios.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScenarioCounts {
    /// Number of scenarios that pass.
    pub passed: usize,
    /// Number of those that fail.
    pub failed: usize,
    /// Number of transitions, or of parts of a step workflow, that none has seen.
    pub missed: usize,
    /// True of a step workflow.
    pub has_steps: bool,
}

impl ScenarioCounts {
    /// `scenarios: 12 pass · 3 transitions never taken`
    pub fn title(&self) -> String {
        let Self { passed, failed, missed, has_steps } = self;
        let failed = if *failed == 0 { String::new() } else { format!(" · {failed} fail") };
        let missed = match (missed, has_steps) {
            (0, _) => String::new(),
            (1, true) => " · 1 part never seen".to_owned(),
            (_, true) => format!(" · {missed} parts never seen"),
            (1, false) => " · 1 transition never taken".to_owned(),
            (_, false) => format!(" · {missed} transitions never taken"),
        };
        format!("scenarios: {passed} pass{failed}{missed}")
    }
}

/// The part above which the lines about the whole workflow stand.
pub fn top(document: &Document) -> Option<Span> {
    document.compilation.definition().map(|it| it.name().span)
}

/// The lines of a document, except for that about its scenarios, which have to run first.
pub fn lenses(document: &Document, insight: Option<&Insight>) -> Vec<Lens> {
    let Some(definition) = document.compilation.definition() else { return Vec::new() };
    let top = definition.name().span;
    let mut lenses = Vec::new();
    let judged = insight.and_then(|it| it.known.as_ref().ok()).map(|it| match it {
        WorkflowInsight::Machine(it) => &it.proof.properties,
        WorkflowInsight::Steps(it) => &it.proof.properties,
    });
    lenses.extend(judged.map(|it| Lens { span: top, title: proof(it), kind: LensKind::Proof }));
    let title = "compare with the last commit".to_owned();
    lenses.push(Lens { span: top, title, kind: LensKind::Changes });
    if let Definition::Machine(workflow) = definition {
        for (id, state) in (0_u16..).zip(&workflow.states) {
            let count = |is: &dyn Fn(&orange_codegen::model::Transition) -> bool| {
                workflow.transitions.iter().filter(|it| is(it)).count()
            };
            let (into, out) = (count(&|it| it.to.value.0 == id), count(&|it| it.from.value.0 == id));
            let (span, name) = (state.name.span, state.name.value.clone());
            lenses.push(Lens {
                span,
                title: format!("{into} in · {out} out"),
                kind: LensKind::State(name.clone()),
            });
            if out > 0 {
                lenses.push(Lens {
                    span,
                    title: "simulate from here".to_owned(),
                    kind: LensKind::Simulate(name),
                });
            }
        }
    }
    lenses
}

/// `prove: 8 of 8`, or the first claim that is not proved
fn proof(judged: &[Judged]) -> String {
    let is_proved = |it: &&Judged| matches!(it.verdict, ProofVerdict::Proved { .. });
    let proved = judged.iter().filter(is_proved).count();
    let open = judged.iter().find(|it| !is_proved(it)).map(|it| match it.verdict {
        ProofVerdict::Refuted { .. } => format!(": refuted: {}", it.claim),
        ProofVerdict::Undecided { .. } | ProofVerdict::Proved { .. } => format!(": undecided: {}", it.claim),
    });
    format!("prove: {proved} of {}{}", judged.len(), open.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::AtomicBool;

    use orange_codegen::PromptFiles;

    use super::*;
    use crate::check;
    use crate::document::Language;

    fn read(text: &str) -> (Document, Option<Insight>) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workflows/default.yml");
        let files = PromptFiles::beside(&path);
        let document = Document::new(path, 1, Language::Other, text.to_owned(), files, None);
        let insight = check::workflow(&document.source, &AtomicBool::new(false));
        (document, insight)
    }

    fn titles(text: &str) -> Vec<String> {
        let (document, insight) = read(text);
        lenses(&document, insight.as_ref()).into_iter().map(|it| it.title).collect()
    }

    const DEFAULT: &str = include_str!("../../workflows/default.yml");

    #[test]
    fn lenses_have_the_proof_and_the_transitions() {
        let (document, insight) = read(DEFAULT);
        let shown = lenses(&document, insight.as_ref());
        assert_eq!((shown[0].title.as_str(), &shown[0].kind), ("prove: 8 of 8", &LensKind::Proof));
        assert_eq!(shown[1].kind, LensKind::Changes);
        let state = |name: &str| {
            let kinds = [LensKind::State(name.to_owned()), LensKind::Simulate(name.to_owned())];
            kinds.map(|kind| shown.iter().filter(|it| it.kind == kind).count())
        };
        assert_eq!((state("working"), state("done")), ([1, 1], [1, 0]));
    }

    #[test]
    fn numbers_of_scenarios_are_said_in_words() {
        let title =
            |passed, failed, missed| ScenarioCounts { passed, failed, missed, has_steps: false }.title();
        assert_eq!(title(3, 0, 0), "scenarios: 3 pass");
        assert_eq!(title(3, 2, 1), "scenarios: 3 pass · 2 fail · 1 transition never taken");
        assert_eq!(title(0, 1, 2), "scenarios: 0 pass · 1 fail · 2 transitions never taken");
        let of_steps = ScenarioCounts { passed: 1, failed: 0, missed: 1, has_steps: true };
        assert_eq!(of_steps.title(), "scenarios: 1 pass · 1 part never seen");
    }

    #[test]
    fn a_refuted_claim_and_an_error_are_shown() {
        let bounded = DEFAULT.replace("    when: \"review_round < 2\"\n", "");
        assert_ne!(bounded, DEFAULT);
        assert!(titles(&bounded)[0].contains("refuted: "), "{:?}", titles(&bounded));
        let wrong = DEFAULT.replacen("to: agent-review", "to: agent-reviewer", 1);
        assert!(titles(&wrong).iter().all(|it| !it.contains("prove")));
    }
}
