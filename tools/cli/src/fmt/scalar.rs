//! Scalars: quotes where they are needed, and double ones.

use orange_codegen::syntax::layout::{Quotes, WrittenForm, WrittenNode};

/// The lines of a scalar or an alias, the first as it stands behind its key; the others without their indentation.
/// `in_flow` says whether brackets are around it.
pub(super) fn lines(text: &str, written: &WrittenNode, is_guard: bool, in_flow: bool) -> Vec<String> {
    let slice = &text[written.span.range()];
    let WrittenForm::Scalar { quotes, text } = &written.form else { return vec![slice.to_owned()] };
    if is_guard && !text.contains(char::is_control) {
        return vec![in_quotes(text)];
    }
    if slice.contains('\n') {
        return slice.lines().map(line).collect();
    }
    let written = match quotes {
        Quotes::None => slice.to_owned(),
        Quotes::Single | Quotes::Double if is_plain(text, in_flow) => text.clone(),
        Quotes::Single if !text.contains(['"', '\\']) && !text.contains(char::is_control) => in_quotes(text),
        Quotes::Single | Quotes::Double => slice.to_owned(),
    };
    vec![written]
}

/// True if a text needs no quotes, to any reader of YAML.
pub(super) fn is_plain(text: &str, in_flow: bool) -> bool {
    const OTHERWISE: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_harmless =
        |it: char| it.is_alphanumeric() || " _-./()'!?;=+".contains(it) || it == ',' && !in_flow;
    text.starts_with(|it: char| it.is_alphabetic())
        && !text.ends_with(' ')
        && text.chars().all(is_harmless)
        && !OTHERWISE.contains(&text.to_ascii_lowercase().as_str())
}

fn in_quotes(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A line of a scalar over several. White space at its end folds away, unless it is escaped.
fn line(line: &str) -> String {
    let line = line.trim_start_matches([' ', '\t']);
    let trimmed = line.trim_end_matches([' ', '\t', '\r']);
    if trimmed.ends_with('\\') { line.trim_end_matches('\r').to_owned() } else { trimmed.to_owned() }
}
