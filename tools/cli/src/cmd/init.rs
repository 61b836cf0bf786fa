//! `init`: a workflow to start from.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use orange_codegen::source::SCENARIOS;

use crate::answer::{Answer, Failure};
use crate::args;
use crate::output::put;
use crate::whole;

/// A small sound workflow in which only the name is replaced.
struct WorkflowTemplate {
    text: &'static str,
    /// Its scenarios.
    scenarios: &'static str,
    /// The line with the name, up to it and behind it.
    name: (&'static str, &'static str),
    /// The endings of its file; the first one is added where there is none.
    endings: &'static [&'static str],
}

const STATES: &[WorkflowTemplate] = &[WorkflowTemplate {
    text: include_str!("../../templates/workflow.yml"),
    scenarios: include_str!("../../templates/workflow.test.yml"),
    name: ("\nname: ", "\n"),
    endings: &["yml", "yaml"],
}];

/// A step workflow in both formats.
const STEPS: &[WorkflowTemplate] = &[
    WorkflowTemplate {
        text: include_str!("../../templates/steps.toml"),
        scenarios: include_str!("../../templates/steps.test.yml"),
        name: ("\nname = \"", "\"\n"),
        endings: &["toml"],
    },
    WorkflowTemplate {
        text: include_str!("../../templates/steps.yml"),
        scenarios: include_str!("../../templates/steps.test.yml"),
        name: ("\n  name: ", "\n"),
        endings: &["yml", "yaml"],
    },
];

/// The name of the templates, and of a workflow without a name of its own.
const NAME: &str = "workflow";

pub(super) fn run(args: &args::Init) -> Result<Answer, Answer> {
    let to_stdout = args.stdout || args.name.as_deref() == Some(Path::new("-"));
    let path = args.name.as_deref().filter(|it| *it != Path::new("-")).unwrap_or(Path::new(NAME));
    let is_steps = args.steps || args.template == args::Template::Steps;
    let (template, path) = of_path(if is_steps { STEPS } else { STATES }, path)?;
    let name = name(&path)?;
    let text = template.named(&name);
    if to_stdout {
        return Ok(Answer::text(text));
    }
    let scenarios = path.with_file_name(format!("{name}{SCENARIOS}"));
    create(&path, &text)?;
    let (path, beside) = (path.display(), scenarios.display());
    let mut err = format!("wrote {path}; next: orange-workflow check {path}\n");
    match scenarios.exists() {
        true => put(&mut err, format_args!("{beside} is there already, and is left as it is\n")),
        false => {
            create(
                &scenarios,
                &template.scenarios.replace(&format!("{NAME}{SCENARIOS}"), &format!("{name}{SCENARIOS}")),
            )?;
            put(&mut err, format_args!("wrote {beside}; next: orange-workflow test {beside}\n"));
        }
    }
    Ok(Answer { err, ..Answer::text("") })
}

fn create(path: &Path, text: &str) -> Result<(), Failure> {
    let shown = path.display();
    whole::create(path, text).map_err(|error| {
        if error.kind() == ErrorKind::AlreadyExists {
            Failure::new(format!("{shown} is there already"), "choose another name, or delete the file first")
        } else {
            Failure::new(format!("cannot write {shown}: {error}"), "see whether you may write there")
        }
    })
}

/// The template for the ending of this path, and the path, which gets the ending of the first one if it has none.
fn of_path<'t>(
    templates: &'t [WorkflowTemplate],
    path: &Path,
) -> Result<(&'t WorkflowTemplate, PathBuf), Failure> {
    let ending = path.extension().map(|it| it.to_str().unwrap_or_default());
    let fits = |it: &&WorkflowTemplate| ending.is_none_or(|ending| it.endings.contains(&ending));
    if let Some(template) = templates.iter().find(fits) {
        let is_without = ending.is_none();
        return Ok((
            template,
            if is_without { path.with_extension(template.ending()) } else { path.to_owned() },
        ));
    }
    let known: Vec<String> = templates.iter().map(|it| format!(".{}", it.ending())).collect();
    let known = known.join(" or ");
    Err(Failure::new(
        format!("{} does not end in {known}", path.display()),
        format!("name a file that ends in {known}, or leave the ending out"),
    ))
}

impl WorkflowTemplate {
    fn ending(&self) -> &'static str {
        self.endings.first().copied().unwrap_or_default()
    }

    /// Its text with another name.
    fn named(&self, name: &str) -> String {
        let (before, after) = self.name;
        let line = |name: &str| format!("{before}{name}{after}");
        let file = |name: &str| format!(" {name}.{}`", self.ending());
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
            format!("`{stem}` is not a name for a workflow"),
            "a small letter first, then small letters, digits and `-`: `my-flow-2`",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_changes() {
        for (template, line, file) in [
            (&STATES[0], "\nname: fix\n", "check fix.yml`"),
            (&STEPS[0], "\nname = \"fix\"\n", "check fix.toml`"),
            (&STEPS[1], "\n  name: fix\n", "check fix.yml`"),
        ] {
            assert_eq!(template.named(NAME), template.text);
            let fix = template.named("fix");
            assert!(fix.contains(line) && fix.contains(file), "{fix}");
            assert_eq!(fix.lines().count(), template.text.lines().count());
        }
    }
}
