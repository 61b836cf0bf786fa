//! Hints between the words of a workflow: facts from its search, and defaults that it does not write.

use orange_analysis::insight::{Insight, MachineInsight};
use orange_codegen::Span;
use orange_codegen::model::{Actors, Definition, Outcome, Workflow};

use crate::document::Document;
use crate::hover::{bare, name_of};

/// A hint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hint {
    /// The byte before which it stands.
    pub offset: u32,
    /// Its kind, by which an editor can switch it off.
    pub kind: HintKind,
    /// Words that the editor shows between those of the document.
    pub text: String,
}

/// Kind of a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HintKind {
    /// Values of a counter in a state.
    Ranges,
    /// Agents that are alive in a state.
    Agents,
    /// Bound of a transition in a loop.
    Bounds,
    /// Actors of a transition that names none.
    Actors,
    /// Number of crashes that escalates, where a rule does not say.
    Crashes,
}

impl HintKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Ranges, Self::Agents, Self::Bounds, Self::Actors, Self::Crashes];

    /// Its name in the options of an editor.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ranges => "ranges",
            Self::Agents => "agents",
            Self::Bounds => "bounds",
            Self::Actors => "actors",
            Self::Crashes => "crashes",
        }
    }
}

/// The hints of a document that stand in a part of it, in the order of the text.
pub fn hints(document: &Document, insight: Option<&Insight>, within: Span) -> Vec<Hint> {
    let Some(Definition::Machine(workflow)) = document.compilation.definition() else { return Vec::new() };
    let mut hints = defaults(workflow, document.text());
    if let Some(machine) = insight.and_then(Insight::machine) {
        of_search(&mut hints, workflow, machine, document.text());
    }
    hints.retain(|it| (within.start..=within.end).contains(&it.offset));
    hints.sort();
    hints.dedup();
    hints
}

fn of_search(hints: &mut Vec<Hint>, workflow: &Workflow, machine: &MachineInsight, text: &str) {
    for (state, known) in workflow.states.iter().zip(&machine.states) {
        let end = state.name.span.end as usize;
        let colon = text.get(end..).is_some_and(|it| it.starts_with(':'));
        let offset = (end + usize::from(colon)) as u32;
        for range in &known.counters {
            let text = format!("{}: {}", range.counter, bare(range));
            hints.push(Hint { offset, kind: HintKind::Ranges, text });
        }
        for it in &known.agents {
            let alive = if it.is_always { "alive" } else { "may be alive" };
            let text = format!("{} {alive}", it.agent.kind());
            hints.push(Hint { offset, kind: HintKind::Agents, text });
        }
    }
    for (transition, known) in workflow.transitions.iter().zip(&machine.transitions) {
        let Some(most) = known.most else { continue };
        let is_one_of_several =
            workflow.transitions.iter().filter(|it| it.span == transition.span).count() > 1;
        let from = if is_one_of_several {
            format!(" from {}", name_of(workflow, transition.from.value))
        } else {
            String::new()
        };
        let times = if most == 1 { "once".to_owned() } else { format!("{most} times") };
        let text = format!("at most {times}{from}");
        hints.push(Hint { offset: transition.to.span.end, kind: HintKind::Bounds, text });
    }
}

fn defaults(workflow: &Workflow, text: &str) -> Vec<Hint> {
    let written = |span: Span, key: &str| text.get(span.range()).is_some_and(|it| it.contains(key));
    let open = workflow.transitions.iter().filter(|it| it.by == Actors::ANYONE && !written(it.span, "by:"));
    let open = open.filter(|it| !written(it.span, "by ="));
    let actors =
        open.map(|it| Hint { offset: it.to.span.end, kind: HintKind::Actors, text: "by anyone".to_owned() });
    let crashes = workflow.exit_monitoring.rules.iter().filter_map(|rule| match rule.outcome {
        Outcome::Crash { named, stuck_after, .. } if !written(rule.span, "stuck_after") => Some(Hint {
            offset: named.end,
            kind: HintKind::Crashes,
            text: format!("stuck_after: {stuck_after}"),
        }),
        Outcome::Crash { .. }
        | Outcome::Then(_)
        | Outcome::ThenWhen(_)
        | Outcome::MarkDead
        | Outcome::Wait { .. } => None,
    });
    actors.chain(crashes).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::AtomicBool;

    use orange_codegen::PromptFiles;

    use super::*;
    use crate::check;
    use crate::document::Language;

    fn read(path: &Path) -> (Document, Insight) {
        let text = std::fs::read_to_string(path).unwrap();
        let document =
            Document::new(path.to_owned(), 1, Language::Other, text, PromptFiles::beside(path), None);
        let insight = check::workflow(&document.source, &AtomicBool::new(false)).unwrap();
        (document, insight)
    }

    fn all(document: &Document, insight: &Insight) -> Vec<Hint> {
        hints(document, Some(insight), Span::new(0, document.text().len() as u32))
    }

    #[test]
    fn hints_are_facts_of_the_search_and_defaults() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workflows/default.yml");
        let (document, insight) = read(&path);
        let shown = all(&document, &insight);
        let has = |before: &str, kind: HintKind, text: &str| {
            let at = document.text().find(before).expect(before) + before.len();
            let found =
                shown.iter().any(|it| (it.offset as usize, it.kind, it.text.as_str()) == (at, kind, text));
            assert!(found, "{before}: {text}: {shown:#?}");
        };
        has("\n  agent-review:", HintKind::Ranges, "review_round: 0..2+");
        has("\n  working:", HintKind::Agents, "worker may be alive");
        has("  - from: working\n    to: agent-review", HintKind::Bounds, "at most 2 times");
    }

    /// Hints lie within the text, and bounds are those of the proof.
    #[test]
    fn hints_of_every_workflow_agree_with_its_proof() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let folders = ["workflows", "tests/fixtures"].into_iter();
        let entries = folders.flat_map(|it| std::fs::read_dir(root.join(it)).unwrap());
        let (mut bounds, mut seen) = (0, 0);
        let mut paths: Vec<_> = entries.map(|it| it.unwrap().path()).collect();
        paths.sort();
        for path in paths.into_iter().step_by(3) {
            if !path.extension().is_some_and(|it| it == "yml" || it == "toml") {
                continue;
            }
            let (document, insight) = read(&path);
            let found = all(&document, &insight);
            assert!(found.iter().all(|it| document.text().is_char_boundary(it.offset as usize)));
            let Some(machine) = insight.machine() else { continue };
            let mut proved: Vec<u64> = machine.proof.figures.bounds.iter().map(|it| it.most).collect();
            let hinted = machine.transitions.iter().filter_map(|it| it.most);
            let mut hinted: Vec<u64> = hinted.collect();
            proved.sort_unstable();
            hinted.sort_unstable();
            assert_eq!(proved, hinted, "{}", path.display());
            bounds += hinted.len();
            seen += found.len();
        }
        assert!(bounds > 0 && seen > 20, "{bounds} {seen}");
    }
}
