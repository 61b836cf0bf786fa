//! Formats a workflow in YAML: the order of keys, quotes, indentation and blank lines. Comments stay with the
//! text that they belong to, and the meaning of the workflow does not change.

mod attach;
mod order;
mod print;
mod same;
mod scalar;

#[cfg(test)]
mod tests;

use orange_codegen::Source;
use orange_codegen::syntax::layout::layout;

use attach::attach;
use order::order;
use print::print;
use same::difference;

/// The widest line that a list or a mapping between brackets may make.
const MAX_WIDTH: usize = 100;

/// Reason for which a text is not formatted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotFormatted {
    /// It cannot be read, or has syntax that no workflow has.
    Broken,
    /// The formatted workflow would differ, in these words. That is a bug of ours.
    Different(String),
}

/// A workflow's text, formatted and compared with the old one: the same machine, the same findings and the same
/// comments must come of it.
///
/// # Errors
///
/// The text has to be left as it is.
pub(crate) fn format(source: &Source) -> Result<String, NotFormatted> {
    let text = laid_out(&source.text).ok_or(NotFormatted::Broken)?;
    let after = Source { text, ..source.clone() };
    match difference(source, &after) {
        None => Ok(after.text),
        Some(difference) => Err(NotFormatted::Different(difference)),
    }
}

fn laid_out(text: &str) -> Option<String> {
    // Line ends that no other program counts as such.
    if text.replace("\r\n", "\n").contains('\r') {
        return None;
    }
    let layout = layout(text)?;
    let mut document = attach(text, &layout)?;
    order(&mut document.root);
    let lines = print(text, &document);
    let mark = if text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    let lines = if text.contains("\r\n") { lines.replace('\n', "\r\n") } else { lines };
    Some(format!("{mark}{lines}"))
}
