//! One line for each finding, for editors and `grep`.

use orange_codegen::LineIndex;

use super::{printable, put};
use crate::json::SpanLocation;
use crate::report::Report;

/// `path:line:column: level[CODE name]: message`, one line each.
pub(crate) fn short(report: &Report) -> String {
    let mut out = String::new();
    for file in report.files.iter().filter(|it| !it.findings().is_empty()) {
        let index = LineIndex::new(&file.source.text);
        for it in file.findings() {
            let SpanLocation { line, column, .. } = SpanLocation::of(it.span, &index);
            let path = one_line(&file.source.path);
            let (level, code, name) = (it.level.as_str(), it.code(), it.name());
            let message = one_line(&it.message);
            put(&mut out, format_args!("{path}:{line}:{column}: {level}[{code} {name}]: {message}\n"));
        }
    }
    out
}

fn one_line(text: &str) -> String {
    printable(text).replace('\n', " ")
}
