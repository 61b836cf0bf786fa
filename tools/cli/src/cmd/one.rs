//! Functions that the commands for one workflow share: loading it, and writing a text to a file.

use std::path::Path;

use orange_codegen::{Checked, Diagnostic, Level};

use crate::answer::{Answer, Exit, Failure};
use crate::input::Input;
use crate::output;
use crate::report::File;
use crate::screen::Styles;
use crate::whole;

/// The checked workflow of a file, and the file; or else the answer with its errors.
pub(super) fn load(path: &Path, styles: Styles) -> Result<(File, Checked), Answer> {
    checked(File::new(&Input::named(path)?), styles)
}

/// The checked workflow of a file, and the file without the findings of lints; or else the answer with its errors.
pub(super) fn compiled(path: &Path, styles: Styles) -> Result<(File, Checked), Answer> {
    checked(File::compiled(&Input::named(path)?), styles)
}

fn checked(mut file: File, styles: Styles) -> Result<(File, Checked), Answer> {
    match file.compilation.checked.take() {
        Some(checked) => Ok((file, checked)),
        None => Err(refuse_errors(file, styles)),
    }
}

fn refuse_errors(mut file: File, styles: Styles) -> Answer {
    let findings = std::mem::take(&mut file.compilation.diagnostics);
    let errors = findings.into_iter().filter(|it| it.level == Level::Error).collect();
    refuse(file, errors, styles)
}

/// The answer that this file cannot be used, with these reasons.
pub(super) fn refuse(mut file: File, findings: Vec<Diagnostic>, styles: Styles) -> Answer {
    file.compilation.diagnostics = findings;
    let err = output::findings(&[file], styles.err);
    Answer { out: String::new(), err, exit: Exit::Found }
}

/// Answers with the text, or writes it to a file whole or not at all.
pub(super) fn deliver(text: String, output: Option<&Path>) -> Result<Answer, Failure> {
    let Some(path) = output else { return Ok(Answer::text(text)) };
    whole::write(path, &text).map_err(|error| {
        let message = format!("cannot write {}: {error}", path.display());
        Failure::new(message, "see whether the folder is there and you may write to it")
    })?;
    Ok(Answer::text(""))
}
