//! Compares the findings of a text before and after a fix.

use std::collections::BTreeMap;

use orange_codegen::{Diagnostic, Level};

/// The effect of an edit on the findings.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EditEffect {
    /// There are fewer findings.
    Better,
    /// There is a new finding, or none less; in words.
    Worse(String),
}

/// Compares the findings before and after, with those that follow from others. There may be no new finding, except below
/// `error` if the text had errors, which hide all other findings. There must be fewer findings, the worst level counted first.
pub(super) fn judge(before: &[Diagnostic], after: &[Diagnostic]) -> EditEffect {
    let (before, after) = (all(before), all(after));
    let had_errors = before.iter().any(|it| it.level == Level::Error);
    let levels = if had_errors { &LEVELS[..1] } else { &LEVELS };
    if let Some(new) = levels.iter().find_map(|level| new_at(*level, &before, &after)) {
        let (level, code, name) = (new.level.as_str(), new.code(), new.name());
        return EditEffect::Worse(format!("there would be a new {level}[{code} {name}]: {}", new.message));
    }
    if counts(&after) < counts(&before) {
        EditEffect::Better
    } else {
        EditEffect::Worse("there would be no less to find".to_owned())
    }
}

/// The levels of findings, the worst first.
const LEVELS: [Level; 4] = [Level::Error, Level::Deny, Level::Warn, Level::Info];

/// The findings with those that follow from them.
fn all<'d>(findings: &'d [Diagnostic]) -> Vec<&'d Diagnostic> {
    let fault = |it: &'d Diagnostic| match &it.fault[..] {
        [] => std::slice::from_ref(it),
        fault => fault,
    };
    findings.iter().flat_map(fault).collect()
}

/// A finding of a check that has more of them at this level than before.
fn new_at<'d>(level: Level, before: &[&Diagnostic], after: &[&'d Diagnostic]) -> Option<&'d Diagnostic> {
    let mut allowed: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in before.iter().filter(|it| it.level == level) {
        *allowed.entry(finding.code()).or_default() += 1;
    }
    after.iter().copied().filter(|it| it.level == level).find(|it| match allowed.get_mut(it.code()) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        Some(_) | None => true,
    })
}

fn counts(findings: &[&Diagnostic]) -> [usize; 4] {
    LEVELS.map(|level| findings.iter().filter(|it| it.level == level).count())
}
