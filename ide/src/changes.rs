//! Differences between what is known of two versions of a workflow: its proof and its findings.

use orange_analysis::insight::{Insight, WorkflowInsight};
use orange_analysis::prove::{Judged, ProofVerdict};
use orange_codegen::{Diagnostic, Level};

/// Differences between two versions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InsightChanges {
    /// Properties with another verdict.
    pub properties: Vec<ChangedProperty>,
    /// Findings that only the new version has.
    pub new: Vec<String>,
    /// Findings that only the old version had.
    pub gone: Vec<String>,
}

/// A property with another verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedProperty {
    /// Claim in words.
    pub claim: String,
    /// Verdict of the old version.
    pub before: &'static str,
    /// Verdict of the new version.
    pub after: &'static str,
}

/// The differences between an old and a new version.
pub fn between(old: &Insight, new: &Insight) -> InsightChanges {
    let (before, after) = (properties(old), properties(new));
    let changed = after.iter().filter_map(|it| {
        let (before, after) = (verdict(before.iter().find(|old| old.name == it.name)?), verdict(it));
        (before != after).then(|| ChangedProperty { claim: it.claim.to_owned(), before, after })
    });
    let (found_before, found_after) = (findings(old), findings(new));
    InsightChanges {
        properties: changed.collect(),
        new: missing_in(&found_before, &found_after),
        gone: missing_in(&found_after, &found_before),
    }
}

/// The differences as a text, with a paragraph for each kind that there is.
pub fn text(changes: &InsightChanges) -> String {
    let properties = changes.properties.iter();
    let properties = properties.map(|it| format!("{}: {}, and it was {}", it.claim, it.after, it.before));
    let parts = [
        ("Proof", properties.collect()),
        ("New findings", changes.new.clone()),
        ("Findings that are gone", changes.gone.clone()),
    ];
    let shown = parts.iter().filter(|(_, lines)| !lines.is_empty()).map(|(title, lines)| {
        let lines: String = lines.iter().map(|it| format!("  - {it}\n")).collect();
        format!("{title}\n{lines}")
    });
    let shown: Vec<String> = shown.collect();
    match shown.is_empty() {
        true => "Proof and findings are the same.\n".to_owned(),
        false => shown.join("\n"),
    }
}

fn properties(insight: &Insight) -> &[Judged] {
    match &insight.known {
        Ok(WorkflowInsight::Machine(it)) => &it.proof.properties,
        Ok(WorkflowInsight::Steps(it)) => &it.proof.properties,
        Err(_) => &[],
    }
}

fn verdict(judged: &Judged) -> &'static str {
    match judged.verdict {
        ProofVerdict::Proved { .. } => "proved",
        ProofVerdict::Refuted { .. } => "refuted",
        ProofVerdict::Undecided { .. } => "undecided",
    }
}

/// The findings in words, without those that are allowed. Places are left out, since an edit above moves them.
fn findings(insight: &Insight) -> Vec<String> {
    let shown = insight.findings.iter().filter(|it| it.level != Level::Allow);
    let line = |it: &Diagnostic| format!("{} {}: {}", it.code(), it.name(), it.message.replace('\n', " "));
    shown.map(line).collect()
}

/// The lines of `all` that `known` has not, each as often as it is there more often.
fn missing_in(known: &[String], all: &[String]) -> Vec<String> {
    let mut known: Vec<&String> = known.iter().collect();
    let is_new = |it: &&String| match known.iter().position(|known| known == it) {
        Some(at) => {
            known.swap_remove(at);
            false
        }
        None => true,
    };
    all.iter().filter(is_new).cloned().collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use orange_codegen::Source;

    use super::*;
    use crate::check;

    const FLOW: &str = "name: a\ncommands: {cancel: done}\nstates: {pending: {}, later: {}, done: {terminal: true}}\n\
        transitions:\n  - {from: pending, to: later, by: human}\n  - {from: [pending, later], to: done, by: human}\n";

    fn known(text: &str) -> Insight {
        check::workflow(&Source::new("a.yml", text), &AtomicBool::new(false)).unwrap()
    }

    #[test]
    fn a_lost_end_changes_the_proof_and_the_findings() {
        let stuck = FLOW.replace("from: [pending, later]", "from: pending");
        assert_ne!(stuck, FLOW);
        let (old, new) = (known(FLOW), known(&stuck));
        let there = between(&old, &new);
        assert!(!there.properties.is_empty() && !there.new.is_empty(), "{there:?}");
        assert!(
            there.properties.iter().all(|it| (it.before, it.after) == ("proved", "refuted")),
            "{there:?}"
        );
        let back = between(&new, &old);
        assert_eq!((&back.gone, &back.new), (&there.new, &there.gone));
        assert!(text(&there).starts_with("Proof\n  - ") && text(&there).contains("New findings\n  - "));
    }

    #[test]
    fn a_line_above_changes_nothing() {
        let changes = between(&known(FLOW), &known(&format!("# more\n{FLOW}")));
        assert_eq!(changes, InsightChanges::default());
        assert_eq!(text(&changes), "Proof and findings are the same.\n");
    }
}
