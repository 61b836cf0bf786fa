//! S06: a workflow is found by its name, so its file should have it, and no other file.

use std::path::Path;

use crate::Compilation;
use crate::catalogue::S06;
use crate::diag::{Diagnostic, Level};
use crate::source::{Format, Source};
use crate::span::Spanned;

/// The name is the file's stem.
pub(super) fn check(name: &Spanned<String>, source: &Source, found: &mut Vec<Diagnostic>) {
    let stem = Path::new(&source.path).file_stem().and_then(|it| it.to_str());
    let Some(stem) = stem.filter(|_| Format::of_path(&source.path).is_some()) else { return };
    if name.value.is_empty() || name.value == stem {
        return;
    }
    let extension = Path::new(&source.path).extension().and_then(|it| it.to_str()).unwrap_or("yml");
    found.push(
        Diagnostic::new(
            &S06,
            name.span,
            format!("the workflow `{}` is in a file named `{stem}`", name.value),
        )
        .help(format!("rename the file to `{}.{extension}`, or the workflow to `{stem}`", name.value)),
    );
}

/// Files whose workflow has the name of an earlier file's: the number of each, and the finding.
pub fn same_name(files: &[(&Source, &Compilation)]) -> Vec<(usize, Diagnostic)> {
    let mut first: std::collections::HashMap<&str, &str> = std::collections::HashMap::new();
    let mut found = Vec::new();
    for (number, (source, compilation)) in files.iter().enumerate() {
        let Some(name) = &compilation.name else { continue };
        match first.get(name.value.as_str()) {
            Some(earlier) => {
                let message = format!("the workflow `{}` is already defined in {earlier}", name.value);
                let finding = Diagnostic::new(&S06, name.span, message).at_level(Level::Error);
                found.push((number, finding.help("give one of the two another name")));
            }
            None => _ = first.insert(&name.value, &source.path),
        }
    }
    found
}
