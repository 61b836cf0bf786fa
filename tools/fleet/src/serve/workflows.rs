//! The step workflows that missions can follow: those that the program was built with, and those of `--prompts-path`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use axum::http::StatusCode;
use orange_api::{Error, ErrorKind, Result};
use orange_codegen::plain::Renderer;
use orange_codegen::{Level, PromptFiles, Source, custom, suggest};
use orange_core::Workflow;
use orange_core::plan::Plan;

use super::error::ApiError;

/// The extensions of workflow files.
const EXTENSIONS: [&str; 3] = ["toml", "yaml", "yml"];

/// The folder of workflows in the folder of `--prompts-path`.
const FOLDER: &str = "workflows";

/// The step workflows of a gateway, by name.
#[derive(Clone, Debug, Default)]
pub struct ServedWorkflows {
    plans: BTreeMap<&'static str, &'static Plan<'static>>,
    /// By workflow: its file, if it is served from one.
    files: BTreeMap<&'static str, PathBuf>,
    /// The files that are not served, each with the reason.
    pub refused: Vec<(PathBuf, String)>,
}

impl ServedWorkflows {
    /// Loads the compiled-in workflows, and those of the files in `workflows/` of each folder. A file replaces a compiled-in
    /// workflow of its name; a file that does not compile is refused, and the others are served.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn load(built_in: &[&'static Plan<'static>], folders: &[PathBuf]) -> Result<ServedWorkflows> {
        let plans = built_in.iter().map(|plan| (plan.name, *plan)).collect();
        let mut workflows = ServedWorkflows { plans, files: BTreeMap::new(), refused: Vec::new() };
        for folder in folders {
            for file in listed(&folder.join(FOLDER))? {
                match compiled(&file) {
                    Ok(plan) => match workflows.files.get(plan.name) {
                        Some(other) => {
                            let why = format!("{} has a workflow `{}`, too", other.display(), plan.name);
                            workflows.refused.push((file, why));
                        }
                        None => {
                            workflows.plans.insert(plan.name, plan);
                            workflows.files.insert(plan.name, file);
                        }
                    },
                    Err(why) => workflows.refused.push((file, why)),
                }
            }
        }
        Ok(workflows)
    }

    /// The workflow of this name.
    ///
    /// # Errors
    /// No workflow has this name; the help has the nearest name.
    pub fn named(&self, name: &str) -> std::result::Result<&'static Plan<'static>, ApiError> {
        if let Some(plan) = self.plans.get(name) {
            return Ok(plan);
        }
        let shown: String = name.chars().take(100).collect();
        let broken = self.refused.iter().find(|(file, _)| file.file_stem().is_some_and(|it| it == name));
        let help = match broken {
            Some((file, _)) => format!(
                "{} does not compile, and the log of the gateway says why; mend it, and start the gateway again",
                file.file_name().unwrap_or_default().display()
            ),
            None => suggest::help(name, "workflows", self.plans.keys().copied())
                .unwrap_or_else(|| "GET /v1/workflows lists them".to_owned()),
        };
        let message = format!("there is no workflow `{}`", shown.escape_debug());
        Err(ApiError::new(StatusCode::NOT_FOUND, "unknown_workflow", message).help(help))
    }

    /// Warnings of the checks about the files that are served, each as `orange-workflow check` prints it.
    ///
    /// # Errors
    /// A file cannot be read any more.
    pub fn warnings(&self) -> Result<Vec<String>> {
        let found = self.files.values().map(|file| warned(file)).collect::<Result<Vec<_>>>()?;
        Ok(found.concat())
    }

    /// Every workflow, in the order of their names.
    pub fn all(&self) -> impl Iterator<Item = &'static Plan<'static>> + '_ {
        self.plans.values().copied()
    }
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |cause: std::io::Error| {
        Error::new(ErrorKind::Usage, format!("cannot read the workflows of {}: {cause}", folder.display()))
            .help("--prompts-path names a folder that has a folder `workflows` with files in TOML or YAML")
    };
    let entries =
        fs::read_dir(folder).map_err(failed)?.collect::<std::io::Result<Vec<_>>>().map_err(failed)?;
    let is_ours = |path: &PathBuf| {
        let ending = path.extension().and_then(|it| it.to_str());
        let is_test = path.file_stem().is_some_and(|it| it.as_encoded_bytes().ends_with(b".test"));
        ending.is_some_and(|it| EXTENSIONS.contains(&it)) && !is_test && path.is_file()
    };
    let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).filter(is_ours).collect();
    files.sort();
    Ok(files)
}

fn compiled(file: &Path) -> std::result::Result<&'static Plan<'static>, String> {
    let text = fs::read_to_string(file).map_err(|cause| format!("it cannot be read: {cause}"))?;
    match custom::workflow(&file.display().to_string(), &text)?.workflow {
        Workflow::Plan(plan) => Ok(plan),
        Workflow::Machine(_) => Err("it is a workflow of states, and missions follow steps".to_owned()),
    }
}

fn warned(file: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(file).map_err(|cause| Error::io("read", file, &cause))?;
    let source = Source::new(file.display().to_string(), text).with_files(PromptFiles::beside(file));
    let renderer = Renderer::new(&source);
    let found = orange_analysis::lint(&source).diagnostics;
    let warnings = found.iter().filter(|it| matches!(it.level, Level::Warn | Level::Deny));
    Ok(warnings.map(|it| renderer.render(it)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[workflow]\nname = 'good'\n[[steps]]\nid = 'a'\nprompt = 'do it'\n";
    const CYCLE: &str = "[workflow]\nname = 'cycle'\n[[steps]]\nid = 'a'\nprompt = 'x'\ndepends_on = ['b']\n[[steps]]\nid = 'b'\nprompt = 'x'\ndepends_on = ['a']\n";
    const NEVER_SAID: &str = "[workflow]\nname = 'never'\n[[steps]]\nid = 'a'\nprompt = 'Say `orange step complete --result PASS`.'\nresults = ['PASS', 'FAIL']\n[[steps]]\nid = 'b'\nprompt = 'do it'\ndepends_on = ['a']\ncondition = \"a.result == 'OK'\"\n";
    const LEAVES: &str =
        "[workflow]\nname = 'leaves'\n[[steps]]\nid = 'a'\nprompt_file = '../../secret.md'\n";

    #[test]
    fn a_file_that_is_served_has_its_warnings() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(FOLDER)).unwrap();
        let warnings = |name: &str, text: &str| {
            fs::write(folder.path().join(FOLDER).join(name), text).unwrap();
            ServedWorkflows::load(&[], &[folder.path().to_owned()]).unwrap().warnings().unwrap()
        };
        assert_eq!(warnings("good.toml", GOOD), Vec::<String>::new());
        let found = warnings("never.toml", NEVER_SAID);
        assert!(found.iter().any(|it| it.contains("never.toml:11") && it.contains("[B08 ")), "{found:?}");
    }

    #[test]
    fn what_does_not_compile_is_refused_and_the_rest_served() {
        let folder = tempfile::tempdir().unwrap();
        let prompts = folder.path().join("prompts");
        fs::create_dir_all(prompts.join(FOLDER)).unwrap();
        fs::write(folder.path().join("secret.md"), "a secret").unwrap();
        for (name, text) in [("good", GOOD), ("cycle", CYCLE), ("leaves", LEAVES), ("twice", GOOD)] {
            fs::write(prompts.join(FOLDER).join(name).with_extension("toml"), text).unwrap();
        }
        let workflows = ServedWorkflows::load(&[], std::slice::from_ref(&prompts)).unwrap();
        assert_eq!(workflows.all().map(|it| it.name).collect::<Vec<_>>(), ["good"]);
        let refused: Vec<_> = workflows.refused.iter().map(|(file, _)| file.file_stem().unwrap()).collect();
        assert_eq!(refused, ["cycle", "leaves", "twice"]);
        assert!(workflows.refused[1].1.contains("secret.md"), "{}", workflows.refused[1].1);
        let help = |name: &str| workflows.named(name).unwrap_err().help;
        assert_eq!(help("goood"), "did you mean `good`?");
        assert!(help("cycle").contains("cycle.toml does not compile"), "{}", help("cycle"));
        assert!(ServedWorkflows::load(&[], &[folder.path().join("nowhere")]).is_err());
    }
}
