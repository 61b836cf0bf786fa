//! The syntax tree: one shape for YAML and TOML, with a span on every node.
//!
//! Nothing after this module knows which language a file was written in.

mod conflict;
pub mod layout;
pub mod limits;
mod text;
mod tolerant;
mod toml;
mod yaml;
mod yaml_error;

#[cfg(test)]
mod tests;

use crate::catalogue::S01;
use crate::diag::Diagnostic;
use crate::source::{Format, Source};
use crate::span::Span;

#[cfg(test)]
pub(crate) use text::Notation;
pub use text::Text;
pub use tolerant::{RecoveredTree, Recovery, after_edit, parse_tolerant};

/// One node: where it stands and what it is.
#[derive(Clone, Debug)]
pub struct Node {
    /// The whole node; a quoted scalar's quotes included. Where nothing was written, the key it is missing from.
    pub span: Span,
    /// Its kind and content.
    pub kind: NodeKind,
}

/// Kind and content of a node.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// Anything without children.
    Scalar(Scalar),
    /// A list.
    Sequence(Vec<Node>),
    /// A mapping, in source order, duplicates and all; keys are nodes too.
    Mapping(Vec<(Node, Node)>),
}

/// A scalar: its decoded text and how it was written.
#[derive(Clone, Debug)]
pub struct Scalar {
    /// The decoded text.
    pub text: Text,
    /// Its style in the source, which decides what it may be read as.
    pub style: ScalarForm,
}

/// Style of a scalar in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarForm {
    /// Without quotes: may be a boolean, an integer, nothing at all, or a string.
    Plain,
    /// In quotes or as a block: a string, whatever it says.
    Quoted,
    /// Nothing, since another finding reports it already.
    Broken,
}

/// The tree of a source, and everything wrong with it. No tree when its syntax is broken, since nothing
/// after the fault can be trusted, or when there is nothing in it.
pub fn parse(source: &Source) -> (Option<Node>, Vec<Diagnostic>) {
    if source.text.len() > limits::MAX_BYTES {
        return (None, vec![limits::too_large()]);
    }
    match source.format {
        Format::Yaml => match yaml::read(&source.text) {
            (None, found) if !found.is_empty() && toml::read(&source.text).0.is_some() => {
                (None, vec![is_toml()])
            }
            read => read,
        },
        Format::Toml => toml::read(&source.text),
    }
}

/// The finding that a file has the other language than its name says.
fn is_toml() -> Diagnostic {
    Diagnostic::new(&S01, Span::at(0), "this file is TOML, and its name says that it is YAML")
        .help("give it a name that ends with `.toml`")
}

impl Node {
    /// Its text, if it is a scalar.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::Scalar(scalar) => Some(&scalar.text.value),
            NodeKind::Sequence(_) | NodeKind::Mapping(_) => None,
        }
    }

    /// The value under a key, if it is a mapping that has the key.
    pub fn value_of(&self, key: &str) -> Option<&Node> {
        let NodeKind::Mapping(entries) = &self.kind else { return None };
        entries.iter().find(|(it, _)| it.text() == Some(key)).map(|(_, value)| value)
    }
}

impl Scalar {
    /// True if it says nothing: an empty value, `~` or `null` without quotes.
    pub fn is_null(&self) -> bool {
        match self.style {
            ScalarForm::Plain => matches!(self.text.value.as_str(), "" | "~" | "null" | "Null" | "NULL"),
            ScalarForm::Quoted => false,
            ScalarForm::Broken => true,
        }
    }
}
