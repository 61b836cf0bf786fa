//! Fate of running tasks when one workflow takes the place of another.
//!
//! A check here is a file, a page in `docs/lints/` and a line in the table below, like a lint; it looks at two workflows.

mod behaviour;
mod both;
mod changed_ending;
mod fate;
mod narrowed_guard;
mod removed_state;
mod removed_transition;
mod sandbox_weaker;
#[cfg(test)]
mod tests;
mod tightened_gate;
mod version_not_bumped;

use std::collections::BTreeMap;

pub use both::Both;

use crate::lint::with_facts;
use orange_codegen::catalogue::{A10, Check, CheckPage};
use orange_codegen::check::Checked;
use orange_codegen::diag::{Diagnostic, Label};
use orange_codegen::source::Source;

/// One finding about two workflows.
#[derive(Clone, Debug)]
pub struct ChangeFinding {
    /// Diagnostic, all places of which are in one file.
    pub finding: Diagnostic,
    /// File of the diagnostic: the new one, or the old one where the thing is gone.
    pub side: Side,
    /// Label of the thing in the other file, if it is there.
    pub counterpart: Option<Label>,
}

/// One of the two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The workflow that tasks were started with.
    Old,
    /// The one that takes its place.
    New,
}

/// Two workflows compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Changes: what breaks first, then by file and place.
    pub changes: Vec<ChangeFinding>,
    /// By the name of an old state: why a task that is in it is stranded.
    pub fates: BTreeMap<String, String>,
    /// The old states in which a task is over.
    pub endings: Vec<String>,
    /// The states that there are now.
    states: Vec<String>,
}

/// One check of this group: its entry in the catalogue, and the function that decides it.
#[derive(Debug)]
pub struct ChangeCheck {
    /// Its entry in the catalogue, and its page.
    pub page: CheckPage,
    pub find: fn(&Both<'_>) -> Vec<ChangeFinding>,
}

/// Declares the checks: for each its code, its name, its default level, and the module that decides it.
macro_rules! kinds {
    ($($code:ident $name:literal $level:ident $module:ident;)*) => {
        $(
            #[doc = concat!("`", $name, "`: its page says what it means.")]
            pub static $code: Check = Check {
                code: stringify!($code),
                name: $name,
                level: orange_codegen::diag::Level::$level,
                language: orange_codegen::catalogue::Language::Machines,
            };
        )*

        /// The checks of this group, in the order of their codes.
        pub static KINDS: &[ChangeCheck] = &[$(ChangeCheck {
            page: (&$code, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/lints/", $name, ".md"))),
            find: $module::find,
        }),*];
    };
}

kinds! {
    D01 "removed-state" Warn removed_state;
    D02 "removed-transition" Warn removed_transition;
    D03 "narrowed-guard" Warn narrowed_guard;
    D04 "tightened-gate" Warn tightened_gate;
    D05 "changed-ending" Warn changed_ending;
    D06 "version-not-bumped" Warn version_not_bumped;
    D07 "sandbox-weaker" Warn sandbox_weaker;
}

/// Compares two workflows.
///
/// # Errors
/// One of them has no tables: it is a step workflow, or its guards are beyond a limit.
pub fn compare(
    old: (&Checked, &Source),
    new: (&Checked, &Source),
) -> Result<Comparison, (Side, Vec<Diagnostic>)> {
    let compared =
        with_facts(old.0, old.1, |old| with_facts(new.0, new.1, |new| compared(&Both::new(old, new))));
    compared.map_err(|refused| (Side::Old, refused))?.map_err(|refused| (Side::New, refused))
}

fn compared(both: &Both<'_>) -> Comparison {
    let mut changes: Vec<ChangeFinding> = KINDS.iter().flat_map(|kind| (kind.find)(both)).collect();
    changes.sort_by_key(|it| (!it.is_breaking(), it.side, it.finding.span.start, it.finding.code()));
    let endings = both.old.workflow.states.iter().filter(|it| it.terminal);
    Comparison {
        changes,
        fates: fate::fates(both),
        endings: endings.map(|it| it.name.value.clone()).collect(),
        states: both.new.workflow.states.iter().map(|it| it.name.value.clone()).collect(),
    }
}

impl ChangeFinding {
    /// A finding in one of the files.
    fn on(side: Side, finding: Diagnostic) -> Self {
        Self { finding, side, counterpart: None }
    }

    /// Points at the same thing in the other file.
    fn beside(mut self, counterpart: Option<Label>) -> Self {
        self.counterpart = counterpart;
        self
    }

    /// True if it harms running tasks. A change that could not be decided does not count.
    pub fn is_breaking(&self) -> bool {
        ![&D06, &A10].contains(&self.finding.check)
    }
}

impl Comparison {
    /// True if the new workflow harms running tasks.
    pub fn is_breaking(&self) -> bool {
        self.changes.iter().any(ChangeFinding::is_breaking)
    }

    /// Reason why a task with this status is stranded under the new workflow, if it is; one that is over is not.
    pub fn strands(&self, status: &str) -> Option<String> {
        if self.endings.iter().any(|it| it == status) {
            return None;
        }
        let is_known = self.states.iter().any(|it| it == status);
        let unknown = || (!is_known).then(|| format!("the new workflow has no state `{status}`"));
        self.fates.get(status).cloned().or_else(unknown)
    }
}
