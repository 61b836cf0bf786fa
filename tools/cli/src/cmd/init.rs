//! `init`: a workflow to start from.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::answer::{Answer, Failure};
use crate::args;
use crate::whole;

/// A small sound workflow in which only the name is replaced.
const TEMPLATE: &str = include_str!("../../templates/workflow.yml");

/// The name of the template, and of a workflow without a name of its own.
const NAME: &str = "workflow";

pub(super) fn run(args: &args::Init) -> Result<Answer, Answer> {
    let to_stdout = args.stdout || args.name.as_deref() == Some(Path::new("-"));
    let path = args.name.as_deref().filter(|it| *it != Path::new("-")).unwrap_or(Path::new(NAME));
    let path = with_extension(path)?;
    let text = named(&name(&path)?);
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

/// The path with the ending of a workflow in YAML.
fn with_extension(path: &Path) -> Result<PathBuf, Failure> {
    match path.extension().and_then(|it| it.to_str()) {
        Some("yml" | "yaml") => Ok(path.to_owned()),
        None => Ok(path.with_extension("yml")),
        Some(_) => Err(Failure::new(
            format!("{} does not end in .yml", path.display()),
            "name a YAML file, or leave the ending out",
        )),
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

fn named(name: &str) -> String {
    let file = |name: &str| format!(" {name}.yml`");
    TEMPLATE
        .replacen(&format!("\nname: {NAME}\n"), &format!("\nname: {name}\n"), 1)
        .replace(&file(NAME), &file(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_changes() {
        assert_eq!(named(NAME), TEMPLATE);
        let fix = named("fix");
        assert!(fix.contains("\nname: fix\n") && fix.contains("check fix.yml`"), "{fix}");
        assert_eq!(fix.lines().count(), TEMPLATE.lines().count());
    }
}
