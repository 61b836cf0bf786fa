//! The editor of the person, which `orange` chooses and runs on this terminal.

use std::io::{self, Write};

use tempfile::NamedTempFile;

use super::orange::OrangeProgram;
use orange_api::{Error, ErrorKind};

/// Has a person write a text, which begins with this one. Returns what was saved.
pub(super) fn write(orange: &OrangeProgram, text: &str) -> Result<String, Error> {
    let begun = format!("{text}\n");
    let file = file_with(&begun).map_err(|cause| {
        let message = format!("cannot write the text into a file for the editor: {cause}");
        Error::new(ErrorKind::Environment, message)
            .help(format!("free space in {}, or set TMPDIR", std::env::temp_dir().display()))
    })?;
    let words = ["editor".into(), "--".into(), file.path().as_os_str().to_owned()];
    let ended = orange.attach(&words);
    // Editors put another file in its place.
    let read =
        std::fs::read(file.path()).and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other));
    match (ended, read) {
        // Editors end the last line.
        (Ok(()), Ok(saved)) => Ok(saved.strip_suffix('\n').unwrap_or(&saved).to_owned()),
        (Err(failure), Ok(saved)) if saved == begun => Err(failure),
        (Err(failure), _) => Err(kept(file, failure)),
        (Ok(()), Err(cause)) => {
            let message = format!("cannot read what the editor has saved: {cause}");
            Err(kept(file, Error::new(ErrorKind::Environment, message)))
        }
    }
}

fn file_with(text: &str) -> io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("orange-").suffix(".md").tempfile()?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}

/// The failure, which names the file: what a person has written there is not lost.
fn kept(file: NamedTempFile, failure: Error) -> Error {
    let Ok((_, path)) = file.keep() else { return failure };
    let before = if failure.help.is_empty() { String::new() } else { format!("{}; ", failure.help) };
    failure.help(format!("{before}what was written is in {}", path.display()))
}
