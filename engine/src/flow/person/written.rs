//! The summary and the context of a new task, as a person writes them in an editor.

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

/// A text, and the file in which it stays until the task is there.
#[derive(Debug)]
pub struct WrittenText {
    /// The first line.
    pub summary: String,
    pub context: Option<String>,
    file: PathBuf,
}

impl WrittenText {
    /// Has a person write a text, which begins with this one.
    ///
    /// # Errors
    /// `refused` for an empty text; `environment` when the editor cannot be used.
    pub fn read(app: &App, summary: Option<&str>, context: Option<&str>) -> Result<WrittenText> {
        app.caller.check_person("write a task in an editor")?;
        app.home.prepare()?;
        let file = app.home.root().join(format!("new-task-{}.md", std::process::id()));
        let texts: Vec<&str> = [summary, context].into_iter().flatten().collect();
        atomic::write(&file, format!("{}\n\n{CUT}\n{HINT}", texts.join("\n\n")).as_bytes())?;
        edit(app, &file)?;
        let bytes =
            nofollow::read(&file, nofollow::LONGEST).map_err(|cause| Error::io("read", &file, &cause))?;
        match split(&String::from_utf8_lossy(&bytes)) {
            Some((summary, context)) => Ok(WrittenText { summary, context, file }),
            None => {
                atomic::remove(&file)?;
                Err(Error::new(ErrorKind::Refused, "nothing was written, so no task is created"))
            }
        }
    }

    /// The error of a task that could not be created: the text is not lost.
    pub fn kept(&self, error: Error) -> Error {
        let gap = if error.help.is_empty() { "" } else { "\n" };
        let help = format!("{}{gap}what was written is in {}", error.help, self.file.display());
        error.help(help)
    }

    /// Removes the file of a task that is there.
    pub fn forget(&self) -> Result<()> {
        atomic::remove(&self.file)
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

/// The first line that is not blank, and the rest.
fn split(text: &str) -> Option<(String, Option<String>)> {
    let lines: Vec<&str> = text.lines().take_while(|line| line.trim_end() != CUT).collect();
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
