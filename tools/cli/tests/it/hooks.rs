//! The pre-commit hooks and the GitHub Action: what they run is understood by the command, and does what they say.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use orange_codegen::Source;
use orange_codegen::syntax::{self, Node, NodeKind};

use crate::scratch::{CLEAN, Scratch};

/// Script that a runner of actions would run, with `$(…)` and the like in its inputs.
struct Action {
    scratch: Scratch,
    script: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn parsed(file: &str) -> Node {
    let text = fs::read_to_string(root().join(file)).unwrap();
    syntax::parse(&Source::new(file, text)).0.unwrap()
}

fn get<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    let NodeKind::Mapping(entries) = &node.kind else { panic!("no mapping with {key}") };
    entries.iter().find(|(it, _)| text(it) == key).map(|(_, value)| value)
}

fn items(node: &Node) -> &[Node] {
    let NodeKind::Sequence(items) = &node.kind else { panic!("no list") };
    items
}

fn text(node: &Node) -> &str {
    let NodeKind::Scalar(scalar) = &node.kind else { panic!("no scalar") };
    &scalar.text.value
}

#[test]
fn hooks_run_what_the_command_understands() {
    let hooks = parsed(".pre-commit-hooks.yaml");
    let scratch =
        Scratch::with(&[("workflows/clean.yml", CLEAN), ("workflows/bad.yml", "name: [\nstates:\n")]);
    assert_eq!(scratch.run(&["fmt", "workflows/clean.yml"]).exit, 0);
    let mut commands = Vec::new();
    for hook in items(&hooks) {
        let entry: Vec<&str> = text(get(hook, "entry").unwrap()).split(' ').collect();
        assert_eq!(entry[0], ".ci/hook");
        assert_eq!(text(get(hook, "name").unwrap()), format!("orange-workflow {}", entry[1..].join(" ")));
        let clean = scratch.run(&[&entry[1..], &["workflows/clean.yml"]].concat());
        assert_eq!(clean.exit, 0, "{}{}", clean.out, clean.err);
        assert_ne!(scratch.run(&[&entry[1..], &["workflows/bad.yml"]].concat()).exit, 0);
        // Every named file has to be a workflow, so a configuration between them must not be.
        let (files, exclude) = (text(get(hook, "files").unwrap()), text(get(hook, "exclude").unwrap()));
        assert!(!files.contains("toml") || exclude.contains(r"|orange-workflow)\.toml$"), "{exclude}");
        commands.push(entry[1]);
    }
    assert_eq!(commands, ["check", "fmt"]);
    let script = root().join(".ci/hook");
    assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o111, 0o111);
    assert!(fs::read_to_string(script).unwrap().ends_with("orange-workflow\" \"$@\"\n"));
}

impl Action {
    /// The action's last step, with the binary of this build in the place of an installed one.
    fn new(files: &[(&str, &str)]) -> Self {
        let scratch = Scratch::with(files);
        let bin = scratch.path().join("temp/orange-workflow/bin");
        fs::create_dir_all(&bin).unwrap();
        symlink(env!("CARGO_BIN_EXE_orange-workflow"), bin.join("orange-workflow")).unwrap();
        let action = parsed("action.yml");
        let steps = get(get(&action, "runs").unwrap(), "steps").unwrap();
        let script = text(get(items(steps).last().unwrap(), "run").unwrap()).to_owned();
        Self { scratch, script }
    }

    fn run(&self, paths: &str, deny: &str, args: &str) -> Output {
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &self.script]);
        command.current_dir(self.scratch.path()).env_clear();
        command.env("RUNNER_TEMP", self.scratch.path().join("temp"));
        command.env("PATHS", paths).env("DENY", deny).env("ARGS", args).output().unwrap()
    }

    #[track_caller]
    fn check(&self, [paths, deny, args]: [&str; 3], exit: i32, says: &str) {
        let output = self.run(paths, deny, args);
        let all = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert_eq!(output.status.code(), Some(exit), "{all}");
        assert!(all.contains(says), "{all}");
    }
}

#[test]
fn the_action_checks_what_it_is_given() {
    let warned = CLEAN.replace("clean", "other");
    let broken = CLEAN.replace("to: done", "to: doen");
    let action =
        Action::new(&[("a b/clean.yml", CLEAN), ("warned.yml", &warned), ("broken/clean.yml", &broken)]);
    action.check(["a b", "", ""], 0, "");
    action.check(["a b\nbroken/clean.yml\n", "", ""], 1, "::error file=broken/clean.yml,");
    action.check(["warned.yml", "", ""], 0, "::warning ");
    action.check(["warned.yml", "warnings", ""], 1, "::error ");
    action.check(["warned.yml", "name-mismatch\n", "--exit-zero"], 0, "::error ");
    action.check(["warned.yml", "", "--allow\nname-mismatch"], 0, "");
    action.check(["warned.yml", "no-such-check", ""], 2, "no-such-check");
}

#[test]
fn no_input_of_the_action_is_run() {
    let action = Action::new(&[("clean.yml", CLEAN)]);
    for evil in
        ["$(touch pwned)", "`touch pwned`", "; touch pwned", "\"; touch pwned; \"", "*\n$(touch pwned)"]
    {
        for inputs in [[evil, "", ""], ["clean.yml", evil, ""], ["clean.yml", "", evil]] {
            let output = action.run(inputs[0], inputs[1], inputs[2]);
            assert_eq!(output.status.code(), Some(2), "{evil}: {output:?}");
        }
    }
    action.check(["--fix", "", ""], 2, "--fix");
    assert!(!action.scratch.path().join("pwned").exists());
}

#[test]
fn scripts_of_the_action_have_no_expressions() {
    let action = parsed("action.yml");
    let inputs = get(&action, "inputs").unwrap();
    for step in items(get(get(&action, "runs").unwrap(), "steps").unwrap()) {
        assert!(!text(get(step, "run").unwrap()).contains("${{"));
        let Some(env) = get(step, "env") else { continue };
        let NodeKind::Mapping(entries) = &env.kind else { panic!("no mapping") };
        for (_, value) in entries {
            // What the runner knows of the action itself is not an input.
            if text(value) != "${{ github.server_url }}/${{ github.action_repository }}" {
                let name = text(value).trim_start_matches("${{ inputs.").trim_end_matches(" }}");
                assert!(get(inputs, name).is_some(), "{name}");
            }
        }
    }
}
