//! `init`: a workflow to start from.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::answer::{Answer, Failure};
use crate::args;
use crate::whole;

/// A small sound workflow in which only the name is replaced.
struct Template {
    text: &'static str,
    /// The line with the name, up to it and behind it.
    name: (&'static str, &'static str),
    /// The endings of its file; the first one is added where there is none.
    endings: &'static [&'static str],
}

const STATES: Template = Template {
    text: include_str!("../../templates/workflow.yml"),
    name: ("\nname: ", "\n"),
    endings: &["yml", "yaml"],
};

const STEPS: Template = Template {
    text: include_str!("../../templates/steps.toml"),
    name: ("\nname = \"", "\"\n"),
    endings: &["toml"],
};

/// The name of the templates, and of a workflow without a name of its own.
const NAME: &str = "workflow";

pub(super) fn run(args: &args::Init) -> Result<Answer, Answer> {
    let to_stdout = args.stdout || args.name.as_deref() == Some(Path::new("-"));
    let path = args.name.as_deref().filter(|it| *it != Path::new("-")).unwrap_or(Path::new(NAME));
    let template = if args.steps { STEPS } else { STATES };
    let path = template.with_ending(path)?;
    let text = template.named(&name(&path)?);
    if to_stdout {
        return Ok(Answer::text(text));
    }
    let shown = path.display();
    whole::create(&path, &text).map_err(|error| {
        if error.kind() == ErrorKind::AlreadyExists {
            Failure::new(format!("{shown} is there already"), "choose another name, or delete the file first")
        } else {
            Failure::new(format!("cannot write {shown}: {error}"), "see whether the folder is there")
        }
    })?;
    Ok(Answer { err: format!("wrote {shown}; next: orange-workflow check {shown}\n"), ..Answer::text("") })
}

impl Template {
    /// The path with the ending of such a workflow.
    fn with_ending(&self, path: &Path) -> Result<PathBuf, Failure> {
        let first = self.endings.first().copied().unwrap_or_default();
        match path.extension().and_then(|it| it.to_str()) {
            Some(ending) if self.endings.contains(&ending) => Ok(path.to_owned()),
            None => Ok(path.with_extension(first)),
            Some(_) => Err(Failure::new(
                format!("{} does not end in .{first}", path.display()),
                format!("name a file that ends in .{first}, or leave the ending out"),
            )),
        }
    }

    /// Its text with another name.
    fn named(&self, name: &str) -> String {
        let (before, after) = self.name;
        let line = |name: &str| format!("{before}{name}{after}");
        let ending = self.endings.first().copied().unwrap_or_default();
        let file = |name: &str| format!(" {name}.{ending}`");
        self.text.replacen(&line(NAME), &line(name), 1).replace(&file(NAME), &file(name))
    }
}

/// The workflow's name, which is the file's stem.
fn name(path: &Path) -> Result<String, Failure> {
    let stem = path.file_stem().and_then(|it| it.to_str()).unwrap_or_default();
    let fits = stem.starts_with(|it: char| it.is_ascii_lowercase())
        && stem.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-');
    fits.then(|| stem.to_owned()).ok_or_else(|| {
        Failure::new(
            format!("`{stem}` is no name for a workflow"),
            "a small letter first, then small letters, digits and `-`: `my-flow-2`",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_changes() {
        for (template, line, file) in
            [(STATES, "\nname: fix\n", "check fix.yml`"), (STEPS, "\nname = \"fix\"\n", "check fix.toml`")]
        {
            assert_eq!(template.named(NAME), template.text);
            let fix = template.named("fix");
            assert!(fix.contains(line) && fix.contains(file), "{fix}");
            assert_eq!(fix.lines().count(), template.text.lines().count());
        }
    }
}
