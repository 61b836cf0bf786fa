//! `cargo xtask codegen`: rewrites the golden files, the Rust of each workflow of this repository.

use std::path::Path;
use std::process::ExitCode;

use orange_codegen::emit::{self, Header, Options};
use orange_codegen::source::is_scenario_file;
use orange_codegen::{Source, compile};

use crate::Result;
use crate::house::House;

/// Folders whose workflows have golden files. The golden test compares the result with its own list.
const FOLDERS: [&str; 2] = ["tests/fixtures/", "workflows/"];

pub(crate) fn run(house: &House) -> Result<ExitCode> {
    let stale = rewrite(house)?;
    println!("{}", if stale.is_empty() { "the golden files are as they should be" } else { "read the diff" });
    Ok(ExitCode::SUCCESS)
}

/// Rewrites every stale golden file, and returns their names.
pub(crate) fn rewrite(house: &House) -> Result<Vec<String>> {
    let mut stale = Vec::new();
    for source in house.paths()?.into_iter().filter(|path| has_golden_file(path)) {
        let golden = golden_file(&source);
        let code = emitted(house, &source)?;
        if house.read(&golden).ok().is_none_or(|file| file.text != code) {
            let path = house.root.join(&golden);
            std::fs::write(path, code).map_err(|error| format!("{golden} cannot be written: {error}"))?;
            println!("{golden}: rewritten from {source}");
            stale.push(golden);
        }
    }
    Ok(stale)
}

fn has_golden_file(path: &str) -> bool {
    let file = FOLDERS.iter().find_map(|folder| path.strip_prefix(folder));
    file.is_some_and(|file| {
        file.ends_with(".yml") && !file.contains('/') && !is_scenario_file(Path::new(file))
    })
}

fn golden_file(source: &str) -> String {
    let file = source.rsplit('/').next().unwrap_or(source);
    format!("tests/golden/{}.rs", file.trim_end_matches(".yml"))
}

fn emitted(house: &House, path: &str) -> Result<String> {
    let compiled = compile(&Source::new(path, house.read(path)?.text));
    let broken = || format!("{path} does not compile; `orange-workflow check {path}` says why");
    let checked = compiled.checked.ok_or_else(broken)?;
    let header = Header { source: path, command: "cargo xtask codegen" };
    emit::pretty(&checked, &Options::default(), header).map_err(|_| broken())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_machine_of_ours_has_a_golden_file() {
        assert!(
            has_golden_file("workflows/default.yml") && has_golden_file("tests/fixtures/seed-default.yml")
        );
        assert!(
            !has_golden_file("tests/fixtures/dev-task.toml") && !has_golden_file("tests/diagnostics/a.yml")
        );
        assert!(!has_golden_file("tests/fixtures/folder/a.yml"));
        assert!(!has_golden_file("workflows/default.test.yml"));
        assert_eq!(golden_file("workflows/default.yml"), "tests/golden/default.rs");
    }
}
