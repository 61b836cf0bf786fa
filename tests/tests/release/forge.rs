//! The workflows of the forge: they are YAML, and what they call exists.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use orange_codegen::Source;
use orange_codegen::syntax::{self, Node, NodeKind};

use crate::download::{VERSION, release, serve, xtask};
use crate::machine::{InstallEnd, ended};

const WORKFLOWS: [&str; 2] = ["ci.yml", "release.yml"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(".github/workflows")
}

/// Every scalar below a node, with the keys that lead to it.
fn scalars(node: &Node, at: &str, found: &mut Vec<(String, String)>) {
    match &node.kind {
        NodeKind::Scalar(scalar) => found.push((at.to_owned(), scalar.text.value.clone())),
        NodeKind::Sequence(items) => items.iter().for_each(|item| scalars(item, at, found)),
        NodeKind::Mapping(entries) => {
            for (key, value) in entries {
                let NodeKind::Scalar(key) = &key.kind else { panic!("{at} has a key that is not a text") };
                scalars(value, &format!("{at}/{}", key.text.value), found);
            }
        }
    }
}

/// The values of a workflow, by the keys that lead to them.
fn values(file: &str) -> Vec<(String, String)> {
    let text = fs::read_to_string(folder().join(file)).unwrap();
    let (tree, problems) = syntax::parse(&Source::new(file, text));
    assert!(problems.is_empty(), "{file}: {problems:?}");
    let mut found = Vec::new();
    scalars(&tree.unwrap(), "", &mut found);
    found
}

fn scripts(file: &str) -> String {
    let runs = values(file).into_iter().filter(|(at, _)| at.ends_with("/run"));
    runs.map(|(_, script)| script + "\n").collect()
}

#[test]
fn every_workflow_is_known_here() {
    let mut files: Vec<_> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, WORKFLOWS);
}

#[test]
fn the_maintainers_commands_in_workflows_exist() {
    let mut called = Vec::new();
    for file in WORKFLOWS {
        let scripts = scripts(file).replace("\\\n", " ");
        for line in scripts.lines().filter_map(|line| line.trim().strip_prefix("cargo xtask ")) {
            let words: Vec<_> = line.split_whitespace().map(|word| word.trim_matches('"')).collect();
            let end = ended(Command::new(xtask()).args(&words).arg("--help"));
            assert_eq!(end.status, Some(0), "{file}: cargo xtask {line}: {end:?}");
            called.push(words[0].to_owned());
        }
    }
    called.dedup();
    assert_eq!(called, ["ci", "release"]);
}

#[test]
fn the_systems_of_ci_are_those_of_releases() {
    let systems: Vec<_> =
        values("ci.yml").into_iter().filter(|(at, _)| at.ends_with("/matrix/os")).map(|(_, it)| it).collect();
    assert_eq!(systems, ["ubuntu-24.04", "ubuntu-24.04-arm", "macos-15"]);
}

#[test]
fn no_script_of_a_workflow_has_expressions() {
    for file in WORKFLOWS {
        assert!(!scripts(file).contains("${{"), "{file}: values come as variables");
    }
}

#[test]
fn actions_are_named_with_their_versions() {
    for (at, value) in WORKFLOWS.into_iter().flat_map(values).filter(|(at, _)| at.ends_with("/uses")) {
        let version = value.split_once("@v").map(|(_, version)| version);
        assert!(version.is_some_and(|it| it.parse::<u8>().is_ok()), "{at}: {value}");
    }
}

/// A clone that `pre-commit` or a runner of actions has made, from this address.
fn clone(address: &str) -> tempfile::TempDir {
    let clone = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    fs::create_dir(clone.path().join(".ci")).unwrap();
    for file in [".ci/hook", ".ci/download", "install.sh", "Cargo.toml"] {
        fs::copy(root.join(file), clone.path().join(file)).unwrap();
    }
    for args in [&["init", "--quiet"][..], &["remote", "add", "origin", address]] {
        let end = ended(Command::new("git").args(args).current_dir(clone.path()));
        assert_eq!(end.status, Some(0), "{end:?}");
    }
    clone
}

/// The hook of a clone ends like this.
fn hook(clone: &Path) -> InstallEnd {
    ended(Command::new(clone.join(".ci/hook")).arg("check").env_remove("ORANGE_DOWNLOAD"))
}

#[test]
fn the_hook_runs_the_released_command() {
    let server = serve(release().to_owned(), false);
    let clone = clone(&format!("{server}/me/orange.git"));
    for _ in 0..2 {
        let end = hook(clone.path());
        assert!(end.out.starts_with(&format!("orange-workflow {VERSION} ")), "{end:?}");
    }
}

#[test]
fn a_hook_without_a_release_says_what_is_missing() {
    let server = serve(PathBuf::from("/nowhere"), false);
    let clone = clone(&format!("{server}/me/orange"));
    let end = hook(clone.path());
    let says = format!(
        "error: orange-workflow {VERSION} cannot be installed from {server}/me/orange/releases/download/v{VERSION}: \
         name the tag of a release (v{VERSION}), or set ORANGE_DOWNLOAD"
    );
    assert!(end.status == Some(1) && end.complaint.contains(&says), "{end:?}");
}

#[test]
fn the_action_installs_the_released_command() {
    let server = serve(release().to_owned(), false);
    let clone = clone(&server);
    let text = fs::read_to_string(folder().join("../../action.yml")).unwrap();
    let mut found = Vec::new();
    scalars(&syntax::parse(&Source::new("action.yml", text)).0.unwrap(), "", &mut found);
    let (_, script) = found.into_iter().find(|(at, _)| at == "/runs/steps/run").unwrap();
    let temporary = clone.path().join("temporary");
    let mut step = Command::new("bash");
    step.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script]).env_remove("ORANGE_DOWNLOAD");
    step.env("GITHUB_ACTION_PATH", clone.path()).env("RUNNER_TEMP", &temporary);
    let end = ended(step.env("REPOSITORY", format!("{server}/me/orange")));
    assert_eq!(end.status, Some(0), "{end:?}");
    assert!(temporary.join("orange-workflow/bin/orange-workflow").is_file());
}
