//! The lints: what a workflow may say and should not, each decided on the checked workflow and on one search of it.
//!
//! A lint is a file here, a page in `docs/lints/` and a line in the table of its group.

pub(crate) mod agents;
mod facts;
pub(crate) mod prompt_facts;
mod state_graph;

pub mod counters;
pub mod exits;
pub mod graph;
pub mod hooks;
pub mod prompts;
pub mod unattended;

pub use facts::{ActorKind, Facts, MAX_TRACED};
pub use prompt_facts::{AgentInState, Command, PromptFacts, Reading, Target, VerdictWord, find_heading};
pub use state_graph::StateGraph;

use crate::catalogue::{self, Page};
use crate::search::Search;
use orange_codegen::check::Checked;
use orange_codegen::diag::{self, Diagnostic};
use orange_codegen::lower::{self, Arena};
use orange_codegen::source::Source;
use orange_codegen::{Compilation, compile};

/// One lint: its entry in the catalogue, and the function that decides it.
#[derive(Debug)]
pub struct Lint {
    /// Its entry in the catalogue, and its page.
    pub page: Page,
    /// Finds it.
    pub find: fn(&Facts<'_>) -> Vec<Diagnostic>,
}

/// Declares the lints of a group: for each its code, its name, its default level, and the module that decides it.
macro_rules! group {
    ($($code:ident $name:literal $level:ident $module:ident;)*) => {
        $(
            #[doc = concat!("`", $name, "`: its page says what it means.")]
            pub static $code: $crate::catalogue::Check = $crate::catalogue::Check {
                code: stringify!($code),
                name: $name,
                level: orange_codegen::diag::Level::$level,
            };
        )*

        /// The lints of this group, in the order of their codes.
        pub static LINTS: &[$crate::lint::Lint] = &[$($crate::lint::Lint {
            page: (&$code, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/lints/", $name, ".md"))),
            find: $module::find,
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
    /// The first of the 32 codes that it may have: `0x20` stands for `C20`.
    pub first_code: u8,
    /// Its lints, in the order of their codes.
    pub lints: &'static [Lint],
}

/// The groups, in the order of their codes. Lists of lints, headings and `cargo xtask new-lint` are read from here.
pub static GROUPS: &[Group] = &[
    Group { name: "graph", title: "The graph of states", first_code: 0x00, lints: graph::LINTS },
    Group { name: "counters", title: "Guards and counters", first_code: 0x20, lints: counters::LINTS },
    Group { name: "exits", title: "Exit rules", first_code: 0x40, lints: exits::LINTS },
    Group { name: "hooks", title: "Hooks and what they hold", first_code: 0x60, lints: hooks::LINTS },
    Group { name: "prompts", title: "Prompts", first_code: 0x80, lints: prompts::LINTS },
];

/// The lints of all groups, in the order of their codes.
pub fn lints() -> impl Iterator<Item = &'static Lint> {
    GROUPS.iter().flat_map(|group| group.lints)
}

/// Compiles one source and, when nothing in it is an error, asks every lint.
pub fn lint(source: &Source) -> Compilation {
    let mut compilation = compile(source);
    let mut found = compilation.checked.as_ref().map(|it| findings(it, source)).unwrap_or_default();
    compilation.suppressions.apply(&mut found);
    found.extend(compilation.suppressions.faults(catalogue::all(), compilation.checked.is_some()));
    compilation.diagnostics.extend(found);
    diag::sort(&mut compilation.diagnostics);
    compilation
}

/// What the lints find in a checked workflow; of one that has no tables, why not.
pub fn findings(checked: &Checked, source: &Source) -> Vec<Diagnostic> {
    with_facts(checked, source, all).unwrap_or_else(|refused| refused)
}

/// What a function makes of all facts about a checked workflow.
///
/// # Errors
/// It has no tables: it is a step workflow, or its guards are beyond a limit.
pub fn with_facts<T>(
    checked: &Checked,
    source: &Source,
    tell: impl FnOnce(&Facts<'_>) -> T,
) -> Result<T, Vec<Diagnostic>> {
    let arena = Arena::default();
    let workflow = lower::state_machine(checked)?;
    let machine = lower::lower(checked, &arena)?;
    let prompt_facts = PromptFacts::of(workflow, &machine);
    let search = Search::run(&machine);
    Ok(tell(&Facts::new(workflow, source, &machine, &search, &prompt_facts)))
}

/// What every lint finds, and where the search was cut.
pub fn all(facts: &Facts<'_>) -> Vec<Diagnostic> {
    let cut = facts.search.cut().map(|cut| {
        let message = format!("what lies beyond the search was not decided: {cut}");
        Diagnostic::new(&orange_codegen::catalogue::A10, facts.workflow.name.span, message).help(
            "what is proved holds for all that was looked at; compare fewer counters, or split the workflow",
        )
    });
    lints().flat_map(|lint| (lint.find)(facts)).chain(cut).collect()
}
