//! Applies the fixes of findings to a text, and checks the text again.

mod apply;
mod diff;
mod judge;

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use orange_codegen::{Diagnostic, Fix};

pub(crate) use diff::unified;

use apply::apply;
use judge::{EditEffect, judge};

/// The number of checks of one file, after which no more fixes are made.
const MAX_CHECKS: usize = 200;

/// The number of fixes between two checks.
const MAX_AT_ONCE: usize = 500;

/// The fixes that are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The fixes with one possible meaning.
    Safe,
    All,
}

/// The result for one text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mended {
    /// The text with the fixes that were made.
    pub text: String,
    /// The number of fixes that were made.
    pub made: usize,
    /// The fixes that were not made, and why.
    pub refused: Vec<RefusedFix>,
}

/// A fix that was tried and not made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RefusedFix {
    pub title: String,
    /// The findings that it would have caused.
    pub why: String,
}

/// Makes the fixes that the findings of a text carry, until none is left. `check` gives the findings of a text. A fix
/// that causes a new finding, or removes none, is not made.
pub(crate) fn mend(text: &str, reach: Reach, check: impl Fn(&str) -> Vec<Diagnostic>) -> Mended {
    let findings = check(text);
    let mut work = FixWork {
        text: text.to_owned(),
        findings,
        reach,
        made: 0,
        refused: Vec::new(),
        seen: HashSet::new(),
    };
    let mut checks = 1;
    while checks < MAX_CHECKS {
        let fixes = work.pending();
        if fixes.is_empty() {
            break;
        }
        checks += work.make(&fixes, &check, MAX_CHECKS - checks);
    }
    Mended { text: work.text, made: work.made, refused: work.refused }
}

struct FixWork {
    text: String,
    findings: Vec<Diagnostic>,
    reach: Reach,
    made: usize,
    refused: Vec<RefusedFix>,
    /// The texts that were refused, which are not tried again.
    seen: HashSet<(String, String)>,
}

impl FixWork {
    /// The fixes to make next, in the order of the findings; no two touch the same text.
    fn pending(&self) -> Vec<(String, Fix)> {
        let mut pending: Vec<(String, Fix)> = Vec::new();
        for finding in &self.findings {
            let Some(fix) = finding.fix.as_ref().filter(|_| pending.len() < MAX_AT_ONCE) else { continue };
            let wanted = fix.safe || self.reach == Reach::All;
            let key = (finding.message.clone(), fix.title.clone());
            if wanted && !self.seen.contains(&key) && pending.iter().all(|(_, it)| !apply::overlap(it, fix)) {
                pending.push((finding.message.clone(), fix.clone()));
            }
        }
        pending
    }

    /// Makes these fixes together, or one at a time if together they cause a finding. Returns the number of checks.
    fn make(
        &mut self,
        fixes: &[(String, Fix)],
        check: &impl Fn(&str) -> Vec<Diagnostic>,
        most: usize,
    ) -> usize {
        match (self.attempt(fixes, check), fixes) {
            (None, _) => return 1,
            (Some(why), [one]) => {
                self.refuse(one, why);
                return 1;
            }
            (Some(_), _) => {}
        }
        for (checks, one) in fixes.iter().take(most).enumerate() {
            match self.attempt(std::slice::from_ref(one), check) {
                // The places of the others have moved.
                None => return checks + 2,
                Some(why) => self.refuse(one, why),
            }
        }
        fixes.len() + 1
    }

    fn refuse(&mut self, (message, fix): &(String, Fix), why: String) {
        self.seen.insert((message.clone(), fix.title.clone()));
        self.refused.push(RefusedFix { title: fix.title.clone(), why });
    }

    /// Makes fixes if the text has fewer findings then; else returns the findings that they would cause.
    fn attempt(
        &mut self,
        fixes: &[(String, Fix)],
        check: &impl Fn(&str) -> Vec<Diagnostic>,
    ) -> Option<String> {
        let text = apply(&self.text, fixes.iter().map(|(_, fix)| fix));
        let findings = check(&text);
        match judge(&self.findings, &findings) {
            EditEffect::Better => {
                self.text = text;
                self.findings = findings;
                self.made += fixes.len();
                None
            }
            EditEffect::Worse(why) => Some(why),
        }
    }
}

/// The text with this fix, if it then has fewer findings and no new one. `before` are the findings of the text.
pub(crate) fn tried(
    text: &str,
    fix: &Fix,
    before: &[Diagnostic],
    check: impl Fn(&str) -> Vec<Diagnostic>,
) -> Option<String> {
    let fixed = apply(text, std::iter::once(fix));
    match judge(before, &check(&fixed)) {
        EditEffect::Better => Some(fixed),
        EditEffect::Worse(_) => None,
    }
}
