//! The language for editors: open documents, and each answer to an editor as a function of values.
//!
//! Nothing here knows the protocol of language servers. Places are byte offsets; the server turns them into lines and columns.
//! A feature is one module: a function of a [`Document`], or of a [`Workspace`], that gives a value.

#![warn(missing_docs)]

pub mod actions;
pub mod change;
pub mod changes;
pub mod check;
pub mod complete;
pub mod document;
pub mod files;
pub mod findings;
pub mod hierarchy;
pub mod hints;
pub mod hover;
pub mod lenses;
pub mod links;
pub mod names;
pub mod outline;
pub mod project;
pub mod ranges;
pub mod scenarios;
pub mod tokens;
pub mod workspace;

pub use change::TextChange;
pub use document::{Document, DocumentKind, Language};
pub use findings::Findings;
pub use workspace::Workspace;
