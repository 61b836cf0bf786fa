//! `cargo xtask codegen`: rewrites the golden files, the Rust of each workflow of this repository.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use orange_codegen::emit::{self, Header, Options};
use orange_codegen::source::is_scenario_file;
use orange_codegen::{PromptFiles, Source, compile};

use crate::Result;
use crate::workspace::OwnRepository;

/// Folders whose workflows have golden files; of two with one name, the one in the last folder. The golden test compares the result
/// with its own list.
const FOLDERS: [&str; 2] = ["tests/fixtures/", "workflows/"];

pub(crate) fn run(workspace: &OwnRepository) -> Result<ExitCode> {
    let stale = rewrite(workspace)?;
    println!("{}", if stale.is_empty() { "the golden files are as they should be" } else { "read the diff" });
    Ok(ExitCode::SUCCESS)
}

/// Rewrites every stale golden file, and returns their names.
pub(crate) fn rewrite(workspace: &OwnRepository) -> Result<Vec<String>> {
    let mut stale = Vec::new();
    for (golden, source) in golden_files(&workspace.paths()?) {
        let code = emitted(workspace, &source)?;
        if workspace.read(&golden).ok().is_none_or(|file| file.text != code) {
            let path = workspace.root.join(&golden);
            std::fs::write(path, code).map_err(|error| format!("{golden} cannot be written: {error}"))?;
            println!("{golden}: rewritten from {source}");
            stale.push(golden);
        }
    }
    Ok(stale)
}

/// Every golden file, and the workflow that it is written from.
fn golden_files(paths: &[String]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for folder in FOLDERS {
        let golden = |path: &String| golden_file(path.strip_prefix(folder)?);
        found.extend(paths.iter().filter_map(|path| Some((golden(path)?, path.clone()))));
    }
    found
}

/// The golden file of a workflow, whose path is as seen from its folder.
fn golden_file(file: &str) -> Option<String> {
    let stem = file.strip_suffix(".yml").or_else(|| file.strip_suffix(".toml"))?;
    let is_workflow = !file.contains('/') && !is_scenario_file(Path::new(file)) && file != "Cargo.toml";
    is_workflow.then(|| format!("tests/golden/{stem}.rs"))
}

fn emitted(workspace: &OwnRepository, path: &str) -> Result<String> {
    let files = PromptFiles::beside(&workspace.root.join(path));
    let compiled = compile(&Source::new(path, workspace.read(path)?.text).with_files(files));
    let broken = || format!("{path} does not compile; `orange-workflow check {path}` says why");
    let checked = compiled.checked.ok_or_else(broken)?;
    let header = Header { source: path, command: "cargo xtask codegen" };
    emit::pretty(&checked, &Options::default(), header).map_err(|_| broken())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workflow_of_ours_has_a_golden_file() {
        let paths = [
            "tests/diagnostics/a.yml",
            "tests/fixtures/dev-task.toml",
            "tests/fixtures/folder/a.yml",
            "tests/fixtures/seed-default.yml",
            "workflows/Cargo.toml",
            "workflows/default.test.yml",
            "workflows/default.yml",
            "workflows/dev-task.toml",
        ];
        let found = golden_files(&paths.map(str::to_owned));
        let expect = [
            ("tests/golden/default.rs", "workflows/default.yml"),
            ("tests/golden/dev-task.rs", "workflows/dev-task.toml"),
            ("tests/golden/seed-default.rs", "tests/fixtures/seed-default.yml"),
        ];
        assert!(
            found.iter().map(|(golden, source)| (golden.as_str(), source.as_str())).eq(expect),
            "{found:?}"
        );
    }
}
