//! `fmt`: what is formatted, what is left alone, and that nothing is lost.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use orange_codegen::Source;

use crate::scratch::{CLEAN, Scratch};

const MESSY: &str = "\
version: 1
name:    messy # mine
states:
    pending:   {}
    done: {terminal:   true}
transitions:
- {to: 'done' , from: pending}
";

const NEAT: &str = "\
name: messy  # mine
version: 1

states:
  pending: {}
  done: {terminal: true}

transitions:
  - {from: pending, to: done}
";

#[test]
fn files_are_laid_out_in_place() {
    let scratch =
        Scratch::with(&[("a/messy.yml", MESSY), ("b/ci.yml", "on:   push\n"), ("b/x.toml", "[states.a]\n")]);
    let run = scratch.run(&["fmt", "."]);
    assert_eq!((run.exit, run.out.as_str()), (0, ""));
    assert_eq!(run.err, "laid out a/messy.yml\nleft alone b/x.toml: only YAML is laid out\n");
    assert_eq!(scratch.read("a/messy.yml"), NEAT);
    assert_eq!(scratch.read("b/ci.yml"), "on:   push\n");
    let again = scratch.run(&["fmt", "a"]);
    assert_eq!((again.exit, again.err.as_str()), (0, ""));
}

#[test]
fn a_step_workflow_is_laid_out() {
    let messy = "\
# A flow
steps:
  - prompt: |
      Do {{mission_prompt}}

      it
    id:   a   # first
  # the review
  - depends_on: [ a ]
    id: review
    results: [PASS,   FAIL]
    prompt_file: do/review.md
  - id: fix
    prompt: 'Fix. {{context}}'
    condition: \"review.result == 'FAIL'\"
    depends_on: [review]
    max_retries: 3
    on_fail: help
  - {prompt: \"Help. {{context}}\", id: help}
workflow: {name: flow, version: '1.0'}
";
    let neat = "\
# A flow
workflow: {name: flow, version: \"1.0\"}

steps:
  - id: a   # first
    prompt: |
      Do {{mission_prompt}}

      it
  # the review
  - id: review
    prompt_file: do/review.md
    depends_on: [a]
    results: [PASS, FAIL]
  - id: fix
    prompt: \"Fix. {{context}}\"
    depends_on: [review]
    condition: review.result == 'FAIL'
    max_retries: 3
    on_fail: help
  - {id: help, prompt: \"Help. {{context}}\"}
";
    let scratch = Scratch::with(&[("flow.yml", messy)]);
    scratch.write_prompts();
    assert_eq!(scratch.run(&["fmt", "flow.yml"]).exit, 0);
    assert_eq!(scratch.read("flow.yml"), neat);
    assert_eq!(scratch.run(&["fmt", "flow.yml", "--check"]).exit, 0);
    assert_eq!(scratch.run(&["emit", "flow.yml"]).exit, 0);
}

#[test]
fn check_only_names_them() {
    let scratch = Scratch::with(&[("messy.yml", MESSY), ("neat.yml", NEAT)]);
    let run = scratch.run(&["fmt", ".", "--check"]);
    assert_eq!((run.exit, run.out.as_str(), run.err.as_str()), (1, "messy.yml\n", ""));
    assert_eq!(scratch.read("messy.yml"), MESSY);
    assert_eq!(scratch.run(&["fmt", "neat.yml", "--check"]).exit, 0);
}

#[test]
fn standard_input_goes_to_standard_output() {
    let scratch = Scratch::new();
    let run = scratch.run_with_stdin(&["fmt", "-"], MESSY);
    assert_eq!((run.exit, run.out.as_str(), run.err.as_str()), (0, NEAT, ""));
    let run = scratch.run_with_stdin(&["fmt", "-", "--check", "--stdin-name", "flows/messy.yml"], MESSY);
    assert_eq!((run.exit, run.out.as_str()), (1, "flows/messy.yml\n"));
    let toml = scratch.run_with_stdin(&["fmt", "-", "--stdin-name", "a.toml"], "[states.a]\n");
    assert_eq!((toml.exit, toml.out.as_str()), (0, "[states.a]\n"));
}

#[test]
fn what_cannot_be_laid_out_is_left_and_named() {
    let scratch = Scratch::with(&[("broken.yml", "states: [\n"), ("messy.yml", MESSY)]);
    let run = scratch.run(&["fmt", "."]);
    assert_eq!(run.exit, 2);
    assert!(run.err.contains("error: broken.yml is left as it is: its YAML is broken"), "{}", run.err);
    assert!(run.err.contains("\n  help: mend it first: `orange-workflow check broken.yml`"), "{}", run.err);
    assert_eq!(scratch.read("broken.yml"), "states: [\n");
    assert_eq!(scratch.read("messy.yml"), NEAT);
    assert_eq!(scratch.run(&["fmt", "nowhere.yml"]).exit, 2);
    scratch.write("ci.yml", "on:   push\n");
    assert!(scratch.run(&["fmt", "ci.yml"]).err.starts_with("error: ci.yml is not a workflow\n"));
    assert_eq!(scratch.read("ci.yml"), "on:   push\n");
    let none = scratch.run(&["fmt", "."]);
    assert!(!none.err.contains("there is no workflow"), "{}", none.err);
    assert_eq!(Scratch::new().run(&["fmt", "."]).exit, 2);
}

#[test]
fn wrong_workflows_are_laid_out_too() {
    let scratch =
        Scratch::with(&[("messy.yml", &MESSY.replace("from:", "form:").replace("'done'", "'doen'"))]);
    assert_eq!(scratch.run(&["fmt", "messy.yml"]).exit, 0);
    assert_eq!(
        scratch.read("messy.yml"),
        NEAT.replace("{from: pending, to: done}", "{to: doen, form: pending}")
    );
}

#[test]
fn permissions_and_links_stay() {
    let scratch = Scratch::with(&[("real/messy.yml", MESSY)]);
    let file = scratch.path().join("real/messy.yml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real/messy.yml", scratch.path().join("messy.yml")).unwrap();
    assert_eq!(scratch.run(&["fmt", "messy.yml"]).exit, 0);
    assert_eq!(scratch.read("real/messy.yml"), NEAT);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(scratch.path().join("messy.yml")).unwrap().is_symlink());
}

#[test]
fn our_own_workflows_are_laid_out() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let run = Scratch::new().run(&["fmt", "--check", root.join("workflows").to_str().unwrap()]);
    assert_eq!((run.exit, run.out.as_str()), (0, ""), "lay them out: orange-workflow fmt workflows");
}

#[test]
fn the_workflow_of_init_is_laid_out() {
    let scratch = Scratch::new();
    scratch.run(&["init"]);
    assert_eq!(scratch.run(&["fmt", "workflow.yml", "--check"]).exit, 0);
}

/// Every workflow of the repository: ours, fixtures, examples of findings, those on pages.
fn corpus() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["workflows", "tests/fixtures", "tests/diagnostics", "tools/cli/templates"];
    let files = folders.iter().flat_map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let files = files.map(|it| it.unwrap().path()).filter(|it| it.extension().is_some_and(|it| it == "yml"));
    let texts = files.filter_map(|path| Some((path.clone(), fs::read_to_string(path).ok()?)));
    let pages = ["docs/workflow.md"].map(|it| root.join(it)).into_iter();
    let lints = fs::read_dir(root.join("docs/lints")).unwrap().map(|it| it.unwrap().path());
    let blocks = pages.chain(lints).flat_map(|page| {
        let text = fs::read_to_string(&page).unwrap();
        let blocks: Vec<_> = text
            .split("```yaml")
            .skip(1)
            .filter_map(|it| it.split("```").next())
            .map(str::to_owned)
            .collect();
        blocks.into_iter().map(move |it| (page.clone(), it.split_once('\n').unwrap_or_default().1.to_owned()))
    });
    texts.chain(blocks).collect()
}

#[test]
fn whatever_there_is_is_laid_out_once_and_says_the_same() {
    let scratch = Scratch::new();
    let corpus = corpus();
    assert!(corpus.len() > 60, "only {}", corpus.len());
    let names: Vec<String> = (0..corpus.len()).map(|at| format!("{at}.yml")).collect();
    for (name, (_, text)) in names.iter().zip(&corpus) {
        scratch.write(name, text);
    }
    let files: Vec<&str> = names.iter().map(String::as_str).collect();
    let run = scratch.run(&[&["fmt"], &files[..]].concat());
    for (name, (path, text)) in names.iter().zip(&corpus) {
        let is_sound = orange_codegen::compile(&Source::new(name, text)).checked.is_some();
        let is_left = run.err.contains(&format!("error: {name} is "));
        assert!(!(is_sound && is_left), "{}: {}\n{text}", path.display(), run.err);
    }
    assert!(!run.err.contains("a bug of"), "{}", run.err);
    assert!(run.err.matches("laid out").count() > 20, "{}", run.err);
    let again = scratch.run(&[&["fmt", "--check"], &files[..]].concat());
    assert_eq!(again.out, "", "formatted twice");
}

#[test]
fn a_text_without_an_end_is_given_one() {
    let scratch = Scratch::with(&[("clean.yml", CLEAN.trim_end())]);
    assert_eq!(scratch.run(&["fmt", "clean.yml"]).exit, 0);
    assert!(scratch.read("clean.yml").ends_with("to: done}\n"));
}
