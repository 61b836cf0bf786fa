//! Texts that a person writes in an editor: the summary and the context of a new task, and the message of a merge.

use std::path::{Path, PathBuf};

use crate::app::App;
use crate::drive::editor;
use crate::{Error, ErrorKind, Result};
use orange_system::{atomic, nofollow};

/// The line that ends the text: all below it is left out.
const CUT: &str = "# ------------------------ >8 ------------------------";

const HINT: &str = "\
# The first line says what is to be done; what follows is the context. All from the line above on is left out.
# Without a text, no task is created.
";

const MESSAGE_HINT: &str = "\
# The message of the commit that the merge makes. All from the line above on is left out.
# Without a text, nothing is merged.
";

/// The summary and the context of a new task.
#[derive(Debug)]
pub struct WrittenText {
    /// The first line.
    pub summary: String,
    pub context: Option<String>,
    /// The file in which both stay until the task is there.
    pub file: WrittenFile,
}

/// The message of a merge.
#[derive(Debug)]
pub struct WrittenMessage {
    pub text: String,
    /// The file in which it stays until the merge is made.
    pub file: WrittenFile,
}

/// A file in which a person has written.
#[derive(Debug)]
pub struct WrittenFile {
    path: PathBuf,
}

impl WrittenText {
    /// Has a person write a text, which begins with this one.
    ///
    /// # Errors
    /// `refused` for an empty text; `environment` when the editor cannot be used.
    pub fn read(app: &App, summary: Option<&str>, context: Option<&str>) -> Result<WrittenText> {
        app.caller.check_person("write a task in an editor")?;
        let texts: Vec<&str> = [summary, context].into_iter().flatten().collect();
        let (file, text) = WrittenFile::edit(app, "new-task", &texts.join("\n\n"), HINT)?;
        match split(&text) {
            Some((summary, context)) => Ok(WrittenText { summary, context, file }),
            None => {
                file.forget()?;
                Err(Error::new(ErrorKind::Refused, "nothing was written, so no task is created"))
            }
        }
    }
}

impl WrittenMessage {
    /// Has a person change the message of a merge.
    ///
    /// # Errors
    /// `refused` for an empty text; `environment` when the editor cannot be used.
    pub fn read(app: &App, planned: &str) -> Result<WrittenMessage> {
        let (file, text) = WrittenFile::edit(app, "merge-message", planned.trim_end(), MESSAGE_HINT)?;
        let lines: Vec<&str> = lines(&text).collect();
        let text = lines.join("\n").trim().to_owned();
        if text.is_empty() {
            file.forget()?;
            return Err(Error::new(ErrorKind::Refused, "nothing was written, so nothing is merged"));
        }
        Ok(WrittenMessage { text, file })
    }
}

impl WrittenFile {
    /// Has a person edit this text, with a hint below it; returns what stands there then.
    fn edit(app: &App, name: &str, text: &str, hint: &str) -> Result<(WrittenFile, String)> {
        app.home.prepare()?;
        let path = app.home.root().join(format!("{name}-{}.md", std::process::id()));
        atomic::write(&path, format!("{text}\n\n{CUT}\n{hint}").as_bytes())?;
        edit(app, &path)?;
        let bytes =
            nofollow::read(&path, nofollow::LONGEST).map_err(|cause| Error::io("read", &path, &cause))?;
        Ok((WrittenFile { path }, String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The error of what could not be done: the text is not lost.
    pub fn kept(&self, error: Error) -> Error {
        let gap = if error.help.is_empty() { "" } else { "\n" };
        let help = format!("{}{gap}what was written is in {}", error.help, self.path.display());
        error.help(help)
    }

    /// Removes the file.
    pub fn forget(&self) -> Result<()> {
        atomic::remove(&self.path)
    }
}

/// Opens a file in the editor of the person: `VISUAL`, `EDITOR`, or else `vi`.
///
/// # Errors
/// `not_allowed` for an agent; `environment` when the editor cannot be used.
pub fn edit(app: &App, file: &Path) -> Result<()> {
    app.caller.check_person("open an editor")?;
    let around = app.around()?;
    let command = around.variable("VISUAL").or(around.variable("EDITOR")).unwrap_or(editor::DEFAULT);
    editor::edit(command, file)
}

/// The lines above the one that ends the text.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().take_while(|line| line.trim_end() != CUT)
}

/// The first line that is not blank, and the rest.
fn split(text: &str) -> Option<(String, Option<String>)> {
    let lines: Vec<&str> = lines(text).collect();
    let first = lines.iter().position(|line| !line.trim().is_empty())?;
    let rest = lines[first + 1..].join("\n");
    let rest = rest.trim_matches('\n');
    Some((lines[first].trim().to_owned(), (!rest.trim().is_empty()).then(|| rest.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Option<(&str, Option<&str>)>) {
        let expect = expect.map(|(one, two)| (one.to_owned(), two.map(str::to_owned)));
        assert_eq!(split(text), expect, "{text:?}");
    }

    #[test]
    fn the_first_line_is_the_summary() {
        check("", None);
        check(&format!(" \n\n{CUT}\n{HINT}"), None);
        check(&format!("\nMend it \n\n{CUT}\nx"), Some(("Mend it", None)));
        check("Mend it\nnow\n", Some(("Mend it", Some("now"))));
        check("Mend it\n\n# Why\n\n  so\n\n", Some(("Mend it", Some("# Why\n\n  so"))));
        check(&format!("Mend it\n\nso\n{CUT}\nout"), Some(("Mend it", Some("so"))));
    }
}
