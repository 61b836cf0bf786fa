//! The compiler for agent workflows: source to syntax to model to checks to machine to Rust.

pub mod build;
pub mod catalogue;
pub mod check;
pub mod custom;
pub mod diag;
pub mod edit;
pub mod emit;
#[doc(hidden)]
pub mod fuzzing;
pub mod guard;
pub mod hash;
pub mod lower;
pub mod model;
pub mod names;
pub mod plain;
pub mod source;
pub mod span;
pub mod suggest;
pub mod suppress;
pub mod syntax;

pub use check::Checked;
pub use diag::{Diagnostic, Edit, Fix, Label, Level, Trace, Witness};
pub use source::{Format, Source};
pub use span::{LineIndex, Position, Span, Spanned};
pub use suppress::Suppressions;

/// What compiling one source gave: everything that was found, and the workflow when nothing was an error.
#[derive(Clone, Debug, Default)]
pub struct Compilation {
    /// Every finding, in the order of the source.
    pub diagnostics: Vec<Diagnostic>,
    /// The checked workflow; absent when there is a finding at level `error`.
    pub checked: Option<Checked>,
    /// The workflow's name, as far as it could be read.
    pub name: Option<Spanned<String>>,
    /// Whether the file looks like a workflow at all. One with broken syntax does.
    pub recognised: bool,
    /// What comments in the source allow. It is not among the diagnostics.
    pub suppressions: Suppressions,
}

/// Compiles one source: parse, resolve, check. Stops at nothing but broken syntax, so that one run finds all that is
/// wrong.
pub fn compile(source: &Source) -> Compilation {
    let (tree, mut diagnostics) = syntax::parse(source);
    let mut suppressions = tree.as_ref().map(|tree| Suppressions::read(source, tree)).unwrap_or_default();
    let resolution = tree.map(|tree| model::resolve(&tree, &source.text));
    let (draft, recognised) = match resolution {
        Some(resolution) => {
            diagnostics.extend(resolution.found);
            (resolution.draft, resolution.recognised)
        }
        None if diagnostics.is_empty() => {
            diagnostics.push(model::no_workflow(Span::at(0), "this file is empty"));
            (None, false)
        }
        None => (None, true),
    };
    let name = draft.as_ref().map(|draft| draft.definition.name().clone()).filter(|it| !it.value.is_empty());
    let checked = draft.and_then(|draft| check::run(draft, source, &mut diagnostics));
    suppressions.apply(&mut diagnostics);
    diag::sort(&mut diagnostics);
    Compilation { diagnostics, checked, name, recognised, suppressions }
}
