//! The compiler for agent workflows: source to syntax to model to checks to machine to Rust.

pub mod catalogue;
pub mod check;
pub mod diag;
pub mod emit;
pub mod guard;
pub mod hash;
pub mod lower;
pub mod model;
pub mod names;
pub mod plain;
pub mod source;
pub mod span;
pub mod suggest;
pub mod syntax;

pub use check::Checked;
pub use diag::{Diagnostic, Label, Level, Witness};
pub use source::{Compilation, Format, Source};
pub use span::{LineIndex, Position, Span, Spanned};
