//! The compiler for agent workflows: source to syntax to model to checks to machine to Rust.

#![warn(missing_docs)]

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
pub mod included;
pub mod lower;
pub mod model;
pub mod names;
pub mod plain;
pub mod prompt_files;
pub mod recognise;
pub mod source;
pub mod span;
pub mod suggest;
pub mod suppress;
pub mod syntax;

pub use check::Checked;
pub use diag::{Diagnostic, Edit, Fix, Label, Level, Trace, Witness};
pub use prompt_files::PromptFiles;
pub use recognise::Likeness;
pub use source::{Format, Source};
pub use span::{LineIndex, Position, Span, Spanned};
pub use suppress::Suppressions;

/// The result of compiling one source: everything that was found, and the workflow when nothing was an error.
#[derive(Clone, Debug, Default)]
pub struct Compilation {
    /// Every finding, in the order of the source.
    pub diagnostics: Vec<Diagnostic>,
    /// The checked workflow; absent when there is a finding at level `error`.
    pub checked: Option<Checked>,
    /// The workflow's name, as far as it could be read.
    pub name: Option<Spanned<String>>,
    /// Likeness of the file to a workflow.
    pub likeness: Likeness,
    /// The findings that comments in the source allow. They are not among the diagnostics.
    pub suppressions: Suppressions,
}

/// Compiles one source: parse, resolve, check. Stops at nothing but broken syntax, so that one run finds all that is
/// wrong.
pub fn compile(source: &Source) -> Compilation {
    let (tree, mut diagnostics) = syntax::parse(source);
    let mut suppressions = tree.as_ref().map(|tree| Suppressions::read(source, tree)).unwrap_or_default();
    let likeness = Likeness::of_tree(source, tree.as_ref());
    let draft = match (&tree, likeness.kind()) {
        (Some(tree), Some(kind)) => model::resolve(tree, source, kind, &mut diagnostics),
        (Some(tree), None) => {
            let span = tree.span.first_line(&source.text);
            diagnostics.push(model::no_workflow(span, "this file holds no workflow", Some(tree)));
            None
        }
        (None, _) if diagnostics.is_empty() => {
            diagnostics.push(model::no_workflow(Span::at(0), "this file is empty", None));
            None
        }
        (None, _) => None,
    };
    let name = draft.as_ref().map(|draft| draft.name().clone()).filter(|it| !it.value.is_empty());
    let checked = draft.and_then(|draft| check::run(draft, source, &mut diagnostics));
    suppressions.apply(&mut diagnostics);
    diag::sort(&mut diagnostics);
    Compilation { diagnostics, checked, name, likeness, suppressions }
}
