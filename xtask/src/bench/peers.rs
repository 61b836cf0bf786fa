//! Other linters, on files that each of them can read.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::FigureRow;
use super::processes::{MeasuredRuns, large_workflow, text, write};
use crate::Result;
use crate::workspace::{OwnRepository, answer};

/// The packages to install, once.
const PEERS: [&str; 2] = ["yamllint==1.38.0", "zizmor==1.32.0"];

/// The number of files in a folder for every linter.
const MANY: usize = 1_000;

/// Installs the other linters from PyPI, or says why that fails.
pub(super) fn install(workspace: &OwnRepository) -> Result<PathBuf> {
    let place = workspace.target_folder()?.join("bench/peers");
    let bin = place.join("bin");
    if ["yamllint", "zizmor"].iter().all(|name| bin.join(name).exists()) {
        return Ok(bin);
    }
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv"]).arg(&place);
    answer(venv)?;
    let mut pip = Command::new(bin.join("pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(PEERS);
    answer(pip)?;
    Ok(bin)
}

/// Times each linter with one file and with a thousand. yamllint reads every YAML file; zizmor reads only GitHub's workflows, so it
/// gets one of the same length.
pub(super) fn rows(
    workspace: &OwnRepository,
    runs: &mut MeasuredRuns,
    checker: &Path,
    peers: &Path,
    scratch: &Path,
) -> Result<()> {
    let flow = workspace.read("workflows/default.yml")?.text;
    let github = github_workflow(flow.lines().count());
    let folder = |name: &str, text: &str| -> Result<(String, String)> {
        let folder = scratch.join(format!("peers/{name}/.github/workflows"));
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for number in 0..MANY {
            let own = text.replacen("name: default", &format!("name: flow-{number}"), 1);
            write(&folder.join(format!("flow-{number}.yml")), &own)?;
        }
        Ok((self::text(&folder), self::text(&folder.join("flow-0.yml"))))
    };
    let (ours, one_of_ours) = folder("ours", &flow)?;
    let (theirs, one_of_theirs) = folder("theirs", &github)?;
    let (checker, yamllint, zizmor) =
        (text(checker), text(&peers.join("yamllint")), text(&peers.join("zizmor")));
    let check = |path: &str| vec![checker.clone(), "check".into(), path.into(), "--no-cache".into()];
    let lint = |path: &str| vec![yamllint.clone(), "-d".into(), "relaxed".into(), path.into()];
    let audit = |path: &str| vec![zizmor.clone(), "--offline".into(), "--no-exit-codes".into(), path.into()];
    for (what, words) in [
        ("orange-workflow check, one file", check(&one_of_ours)),
        ("yamllint, the same file", lint(&one_of_ours)),
        ("zizmor, a GitHub workflow as long", audit(&one_of_theirs)),
        ("yamllint, that GitHub workflow", lint(&one_of_theirs)),
        ("orange-workflow check, 1 000 files", check(&ours)),
        ("yamllint, the same 1 000", lint(&ours)),
        ("zizmor, 1 000 GitHub workflows", audit(&theirs)),
    ] {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        runs.ask(what, &[], &words, "", None);
    }
    Ok(())
}

/// A workflow for GitHub with about this many lines.
fn github_workflow(lines: usize) -> String {
    let mut text = "name: default\non: [push]\npermissions: {}\njobs:\n".to_string();
    for job in 0..lines.div_ceil(8) {
        text += &format!(
            "  job-{job}:\n    runs-on: ubuntu-latest\n    steps:\n      - name: Build\n        run: cargo build\n      \
             - name: Test\n        run: cargo test\n\n"
        );
    }
    text
}

/// The instructions of a check, which other load does not change.
pub(super) fn instructions(
    checker: &Path,
    workspace: &OwnRepository,
    scratch: &Path,
) -> Result<Vec<FigureRow>> {
    let mut files = vec![("default.yml".to_string(), 1, workspace.root.join("workflows/default.yml"))];
    for states in [100, 1_000, 10_000] {
        let path = scratch.join(format!("count-{states}.yml"));
        write(&path, &large_workflow(states))?;
        files.push((format!("{states} states"), states, path));
    }
    files
        .into_iter()
        .map(|(what, states, path)| {
            let counted = count(checker, &path, scratch)?;
            let figures = vec![
                format!("{:.2}", counted as f64 / 1e6),
                if states > 1 {
                    format!("{:.1}", counted as f64 / 1e3 / states as f64)
                } else {
                    String::new()
                },
            ];
            Ok(FigureRow { what: format!("check of {what}"), figures, budget: String::new(), kept: None })
        })
        .collect()
}

/// Callgrind's count for one check, from its standard error.
fn count(checker: &Path, path: &Path, scratch: &Path) -> Result<u64> {
    let mut valgrind = Command::new("valgrind");
    valgrind
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", text(&scratch.join("callgrind.out"))));
    valgrind.arg(checker).arg("check").arg(path).args(["--exit-zero", "--no-cache"]);
    let output = valgrind.output().map_err(|error| format!("valgrind cannot be run: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let counted = said.lines().find_map(|line| line.split_once("Collected :").map(|(_, it)| it.trim()));
    counted
        .and_then(|it| it.parse().ok())
        .ok_or_else(|| format!("callgrind did not count: {}", said.lines().next_back().unwrap_or_default()))
}
