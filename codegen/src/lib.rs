//! The compiler for agent workflows: source to syntax to model to checks to machine to Rust.

#![warn(missing_docs)]

pub mod build;
pub mod catalogue;
pub mod check;
pub mod custom;
pub mod diag;
pub mod edit;
pub mod editor_lines;
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

pub use check::{Checked, PartialDefinition};
pub use diag::{Diagnostic, Edit, FilePlace, Fix, Label, Level, Trace, Witness};
pub use editor_lines::{EditorLines, EditorPosition, Encoding};
pub use prompt_files::{OpenTexts, PromptFiles};
pub use recognise::Likeness;
pub use source::{Format, Source};
pub use span::{LineIndex, Position, Span, Spanned};
pub use suppress::Suppressions;

use model::{Definition, Draft};
use syntax::{Node, RecoveredTree, Recovery};

/// The result of compiling one source: everything that was found, and the workflow when nothing was an error.
#[derive(Clone, Debug, Default)]
pub struct Compilation {
    /// Every finding, in the order of the source.
    pub diagnostics: Vec<Diagnostic>,
    /// The checked workflow; absent when there is a finding at level `error`.
    pub checked: Option<Checked>,
    /// The workflow as far as it was understood, where something is an error.
    pub partial: Option<PartialDefinition>,
    /// The workflow's name, as far as it could be read.
    pub name: Option<Spanned<String>>,
    /// Likeness of the file to a workflow.
    pub likeness: Likeness,
    /// The findings that comments in the source allow. They are not among the diagnostics.
    pub suppressions: Suppressions,
}

impl Compilation {
    /// The workflow: checked, or as far as it was understood.
    pub fn definition(&self) -> Option<&Definition> {
        let partial = || self.partial.as_ref().map(PartialDefinition::definition);
        self.checked.as_ref().map(Checked::definition).or_else(partial)
    }

    /// The compilation with findings for readers of one text, see [`Diagnostic::worded`].
    pub fn worded(mut self) -> Self {
        self.diagnostics = self.diagnostics.into_iter().map(Diagnostic::worded).collect();
        self
    }
}

/// Compiles one source: parse, resolve, check. Stops at nothing but broken syntax, so that one run finds all that is
/// wrong.
pub fn compile(source: &Source) -> Compilation {
    let (tree, found) = syntax::parse(source);
    compile_tree(source, tree.as_ref(), found)
}

/// Compiles a source that somebody is editing. Where its syntax has a fault, that is the only finding, and what the workflow defines is
/// read from the tree as far as there is one; without a fault it is [`compile`].
pub fn compile_recovered(source: &Source, read: &RecoveredTree) -> Compilation {
    if read.recovery == Recovery::Whole {
        return compile_tree(source, read.tree.as_ref(), read.faults.clone());
    }
    let by_lines = Likeness::of_tree(source, None);
    let by_tree = || Likeness::of_tree(source, read.tree.as_ref());
    let likeness = if by_lines == Likeness::Other { by_tree() } else { by_lines };
    let understood = read.tree.as_ref().zip(likeness.kind());
    let draft = understood.and_then(|(tree, kind)| model::resolve(tree, source, kind, &mut Vec::new()));
    let name = name_of(draft.as_ref());
    let partial = draft.map(PartialDefinition::from);
    let mut diagnostics = read.faults.clone();
    diag::sort(&mut diagnostics);
    Compilation { diagnostics, partial, name, likeness, ..Compilation::default() }
}

fn compile_tree(source: &Source, tree: Option<&Node>, mut diagnostics: Vec<Diagnostic>) -> Compilation {
    let mut suppressions = tree.map(|tree| Suppressions::read(source, tree)).unwrap_or_default();
    let likeness = Likeness::of_tree(source, tree);
    let draft = match (tree, likeness.kind()) {
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
    let name = name_of(draft.as_ref());
    let (checked, partial) = match draft.map(|draft| check::run(draft, source, &mut diagnostics)) {
        Some(Ok(checked)) => (Some(checked), None),
        Some(Err(partial)) => (None, Some(partial)),
        None => (None, None),
    };
    suppressions.apply(&mut diagnostics);
    diag::sort(&mut diagnostics);
    Compilation { diagnostics, checked, partial, name, likeness, suppressions }
}

fn name_of(draft: Option<&Draft>) -> Option<Spanned<String>> {
    draft.map(|draft| draft.name().clone()).filter(|it| !it.value.is_empty())
}
