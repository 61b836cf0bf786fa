//! The lints: what a workflow may say and should not, each decided on the checked workflow and on one search of it.
//!
//! A lint is a file here, a page in `docs/lints/` and a line in the table of its group.

mod actor_kind;
pub(crate) mod agents;
pub mod causes;
mod facts;
pub(crate) mod prompt_facts;
mod state_graph;

pub mod authority;
pub mod counters;
pub mod exits;
pub mod graph;
pub mod hooks;
pub mod prompts;
pub mod steps;
pub mod unattended;
mod undecided;
pub mod watch;

pub use actor_kind::ActorKind;
pub use facts::{Facts, MAX_TRACED};
pub use prompt_facts::{
    AgentInState, Command, PromptFacts, Reading, StatusTarget, UnknownCommand, VerdictWord, find_heading,
    headings, result_names, status_names,
};
pub use state_graph::StateGraph;
pub use steps::StepFacts;

use std::ops::RangeInclusive;

use crate::search::{Search, SearchLimits};
use orange_codegen::catalogue::CheckPage;
use orange_codegen::check::Checked;
use orange_codegen::diag::Diagnostic;
use orange_codegen::lower::{self, Arena, PlanArena, lower_plan};
use orange_codegen::model::Definition;
use orange_codegen::source::Source;

/// One lint: its entry in the catalogue, and the function that decides it.
#[derive(Debug)]
pub struct Lint {
    /// Its entry in the catalogue, and its page.
    pub page: CheckPage,
    pub find: Find,
}

/// Function of a lint, by the kind of workflow that it reads.
#[derive(Clone, Copy, Debug)]
pub enum Find {
    /// A state machine.
    Machine(fn(&Facts<'_>) -> Vec<Diagnostic>),
    /// A step workflow.
    Steps(fn(&StepFacts<'_>) -> Vec<Diagnostic>),
    /// Either: what is wrong in a state machine is wrong in steps, too.
    Both(fn(&Facts<'_>) -> Vec<Diagnostic>, fn(&StepFacts<'_>) -> Vec<Diagnostic>),
}

impl Find {
    fn in_machine(self) -> Option<fn(&Facts<'_>) -> Vec<Diagnostic>> {
        match self {
            Find::Machine(find) | Find::Both(find, _) => Some(find),
            Find::Steps(_) => None,
        }
    }

    fn in_steps(self) -> Option<fn(&StepFacts<'_>) -> Vec<Diagnostic>> {
        match self {
            Find::Steps(find) | Find::Both(_, find) => Some(find),
            Find::Machine(_) => None,
        }
    }
}

/// Declares the lints of a group: for each its code, its name, its default level, and the module that decides it; `, steps` after it where
/// it decides steps, too.
macro_rules! group {
    (@language Machine) => { orange_codegen::catalogue::Language::Machines };
    (@language Machine steps) => { orange_codegen::catalogue::Language::Both };
    (@language Steps) => { orange_codegen::catalogue::Language::Steps };
    (@find Machine $module:ident) => { $crate::lint::Find::Machine($module::find) };
    (@find Machine $module:ident steps) => { $crate::lint::Find::Both($module::find, $module::find_in_steps) };
    (@find Steps $module:ident) => { $crate::lint::Find::Steps($module::find) };
    ($($code:ident $name:literal $level:ident $module:ident $(, $steps:ident)?;)*) => {
        $crate::lint::group! { Machine: $($code $name $level $module $(, $steps)?;)* }
    };
    ($kind:ident: $($code:ident $name:literal $level:ident $module:ident $(, $steps:ident)?;)*) => {
        $(
            #[doc = concat!("`", $name, "`: its page says what it means.")]
            pub static $code: orange_codegen::catalogue::Check = orange_codegen::catalogue::Check {
                code: stringify!($code),
                name: $name,
                level: orange_codegen::diag::Level::$level,
                language: $crate::lint::group!(@language $kind $($steps)?),
            };
        )*

        /// The lints of this group, in the order of their codes.
        pub static LINTS: &[$crate::lint::Lint] = &[$($crate::lint::Lint {
            page: (&$code, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/lints/", $name, ".md"))),
            find: $crate::lint::group!(@find $kind $module $($steps)?),
        }),*];
    };
}
pub(crate) use group;

/// One group of lints.
#[derive(Debug)]
pub struct Group {
    /// Its folder here, and what people call it.
    pub name: &'static str,
    /// The heading of its part of a list.
    pub title: &'static str,
    /// The letter of its codes.
    pub letter: char,
    /// Their numbers: `0x20` stands for `20`.
    pub numbers: RangeInclusive<u8>,
    /// Its lints, in the order of their codes.
    pub lints: &'static [Lint],
}

/// The groups, in the order of their codes. Lists of lints, headings and `cargo xtask new-lint` are read from here.
pub static GROUPS: &[Group] = &[
    Group { name: "steps", title: "Step workflows", letter: 'B', numbers: 0x00..=0xff, lints: steps::LINTS },
    Group {
        name: "graph",
        title: "The graph of states",
        letter: 'C',
        numbers: 0x00..=0x1f,
        lints: graph::LINTS,
    },
    Group {
        name: "counters",
        title: "Guards and counters",
        letter: 'C',
        numbers: 0x20..=0x3f,
        lints: counters::LINTS,
    },
    Group { name: "exits", title: "Exit rules", letter: 'C', numbers: 0x40..=0x5f, lints: exits::LINTS },
    Group {
        name: "hooks",
        title: "Hooks and what they hold",
        letter: 'C',
        numbers: 0x60..=0x7f,
        lints: hooks::LINTS,
    },
    Group { name: "prompts", title: "Prompts", letter: 'C', numbers: 0x80..=0x9f, lints: prompts::LINTS },
    Group {
        name: "authority",
        title: "Who decides",
        letter: 'C',
        numbers: 0xa0..=0xbf,
        lints: authority::LINTS,
    },
    Group { name: "watch", title: "Watch rules", letter: 'C', numbers: 0xc0..=0xdf, lints: watch::LINTS },
];

impl Group {
    /// True if a check with this code belongs to it.
    pub fn has(&self, code: &str) -> bool {
        let number = code.strip_prefix(self.letter).and_then(|it| u8::from_str_radix(it, 16).ok());
        number.is_some_and(|it| self.numbers.contains(&it))
    }
}

/// The lints of all groups, in the order of their codes.
pub fn lints() -> impl Iterator<Item = &'static Lint> {
    GROUPS.iter().flat_map(|group| group.lints)
}

/// Findings of the lints in a checked workflow; for one that has no tables, the reasons for that.
pub fn findings(checked: &Checked, source: &Source) -> Vec<Diagnostic> {
    findings_within(checked, source, &SearchLimits::default())
}

/// Findings of the lints in a checked workflow after a search within these limits.
pub fn findings_within(checked: &Checked, source: &Source, limits: &SearchLimits<'_>) -> Vec<Diagnostic> {
    let of_steps = with_step_facts_within(checked, limits, |facts| steps::all_within(facts, limits));
    of_steps.unwrap_or_else(|| {
        let of_machine = |facts: &Facts<'_>| all_within(facts, limits);
        with_facts_within(checked, source, limits, of_machine).unwrap_or_else(|refused| refused)
    })
}

/// Result of a function on all facts about a checked step workflow; `None` for a state machine workflow.
pub fn with_step_facts<T>(checked: &Checked, tell: impl FnOnce(&StepFacts<'_>) -> T) -> Option<T> {
    with_step_facts_within(checked, &SearchLimits::default(), tell)
}

/// Result of a function on all facts about a checked step workflow, after a search that somebody may stop.
pub(crate) fn with_step_facts_within<T>(
    checked: &Checked,
    limits: &SearchLimits<'_>,
    tell: impl FnOnce(&StepFacts<'_>) -> T,
) -> Option<T> {
    let Definition::Steps(steps) = checked.definition() else { return None };
    let arena = PlanArena::default();
    let plan = lower_plan(checked, &arena)?;
    Some(tell(&StepFacts::within(steps, &plan, limits)))
}

/// Result of a function on all facts about a checked workflow.
///
/// # Errors
/// It has no machine: it is a step workflow, or its guards are beyond a limit.
pub fn with_facts<T>(
    checked: &Checked,
    source: &Source,
    tell: impl FnOnce(&Facts<'_>) -> T,
) -> Result<T, Vec<Diagnostic>> {
    with_facts_within(checked, source, &SearchLimits::default(), tell)
}

/// Result of a function on all facts about a checked workflow, after a search within these limits.
///
/// # Errors
/// As those of [`with_facts`].
pub fn with_facts_within<T>(
    checked: &Checked,
    source: &Source,
    limits: &SearchLimits<'_>,
    tell: impl FnOnce(&Facts<'_>) -> T,
) -> Result<T, Vec<Diagnostic>> {
    let arena = Arena::default();
    let workflow = lower::state_machine(checked)?;
    let machine = lower::lower(checked, &arena)?;
    let prompt_facts = PromptFacts::of(workflow, &machine);
    let search = Search::within(&machine, limits);
    Ok(tell(&Facts::new(workflow, source, &machine, &search, &prompt_facts)))
}

/// Findings of every lint of state machines, and one more if the search was cut.
pub fn all(facts: &Facts<'_>) -> Vec<Diagnostic> {
    all_within(facts, &SearchLimits::default())
}

/// Findings of the lints of state machines that run before somebody stops them.
pub(crate) fn all_within(facts: &Facts<'_>, limits: &SearchLimits<'_>) -> Vec<Diagnostic> {
    let cut = facts.search.cut().map(|cut| undecided::finding(facts, cut));
    found_by(facts, lints().take_while(|_| !limits.is_stopped()), cut)
}

/// Findings of the lints of state machines with these codes.
pub fn of_codes(facts: &Facts<'_>, codes: &[&str]) -> Vec<Diagnostic> {
    found_by(facts, lints().filter(|it| codes.contains(&it.page.0.code)), None)
}

fn found_by(
    facts: &Facts<'_>,
    lints: impl Iterator<Item = &'static Lint>,
    cut: Option<Diagnostic>,
) -> Vec<Diagnostic> {
    let finds = lints.filter_map(|lint| lint.find.in_machine());
    let mut found: Vec<Diagnostic> = finds.flat_map(|find| find(facts)).chain(cut).collect();
    facts.workflow.included.relocate(&mut found);
    found
}
