//! The recipes of `AGENTS.md`: a scratch copy of the tree in which their steps are done still compiles, and what they add works.
//!
//! A step is an edit of one file. All recipes are followed in one copy, `target/recipes/tree`, so that it is built once; it
//! stays, so that the next run builds what has changed since. `CARGO_TARGET_DIR` of its own keeps `cargo` of both apart.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// One recipe, as an example of what it is for.
struct Recipe {
    /// Its heading in `AGENTS.md`.
    heading: &'static str,
    /// The files that it may touch at most.
    most: usize,
    /// Its steps, in the order of the page.
    edits: &'static [Edit],
}

/// A step of a recipe, or a part of one.
struct Edit {
    path: &'static str,
    change: Change,
}

enum Change {
    /// This goes before a text that is there once.
    Before(&'static str, &'static str),
    /// A file with the text of another one, in which these words are replaced.
    New(&'static str, &'static [(&'static str, &'static str)]),
}

const fn before(path: &'static str, anchor: &'static str, insert: &'static str) -> Edit {
    Edit { path, change: Change::Before(anchor, insert) }
}

const ACTION: Recipe = Recipe {
    heading: "### Add a hook action",
    most: 4,
    edits: &[
        before(
            "engine/core/src/action.rs",
            "    /// Runs a program in the worktree, with",
            "    /// Empties the task's `attention`, and notes why.\n    \
             ClearAttention = \"clear_attention\" [optional(\"message\", Kind::Message, \"Why.\")] PLAIN;\n\n",
        ),
        before(
            "engine/src/hooks/mod.rs",
            "        Action::RunCommand =>",
            "        Action::ClearAttention => other::clear_attention(locked, hook.message),\n",
        ),
        before(
            "engine/src/hooks/other.rs",
            "/// How much of a program's output is kept in memory",
            "/// Empties `attention`, and writes why into the task's file.\n\
             pub fn clear_attention(locked: &mut LockedTask, why: &str) -> Result<()> {\n    \
             locked.clear_attention()?;\n    set_field(locked, \"cleared\", why)\n}\n\n",
        ),
        before(
            "docs/workflow.md",
            "| `run_command` |",
            "| `clear_attention` | `message` | | Empties the task's `attention`, and notes why |\n",
        ),
    ],
};

/// A workflow with the action that [`ACTION`] adds.
const WORKFLOW: &str = "\
name: flow
states:
  pending: {}
  cancelled: {terminal: true}
transitions:
  - from: pending
    to: cancelled
    by: human
    hooks: [{action: clear_attention, message: over}]
";

const EVENT: Recipe = Recipe {
    heading: "### Add a journal event",
    most: 3,
    edits: &[
        before(
            "engine/journal/src/event.rs",
            "    /// The task was restored from the trash.",
            "    /// A person pinned the task.\n    \"task.pinned\" TaskPinned {\n        /// Who asked.\n        \
             actor: Actor,\n    },\n",
        ),
        before(
            "engine/journal/src/fold.rs",
            "    /// When it was created, RFC 3339 UTC.",
            "    /// Whether a person pinned it.\n    pub is_pinned: bool,\n",
        ),
        before(
            "engine/journal/src/fold.rs",
            "            Event::TaskRestored { .. } => self",
            "            Event::TaskPinned { .. } => self.is_pinned = true,\n",
        ),
        before(
            "docs/storage.md",
            "| `task.restored` |",
            "| `task.pinned` | `actor` | A person pinned the task |\n",
        ),
    ],
};

const NEW_LINT: &[(&str, &str)] = &[("@code@", "C6F"), ("@name@", "left-over")];

const LINT: Recipe = Recipe {
    heading: "### Add a lint",
    most: 3,
    edits: &[
        Edit {
            path: "analysis/src/lint/hooks/left_over.rs",
            change: Change::New("xtask/src/new_lint/lint.rs.txt", NEW_LINT),
        },
        Edit {
            path: "docs/lints/left-over.md",
            change: Change::New("xtask/src/new_lint/page.md.txt", NEW_LINT),
        },
        before("analysis/src/lint/hooks/mod.rs", "mod places;", "mod left_over;\n"),
        before(
            "analysis/src/lint/hooks/mod.rs",
            "    C6D \"reduced-permission-worker\"",
            "    C6F \"left-over\" Warn left_over;\n",
        ),
    ],
};

const RECIPES: [Recipe; 3] = [ACTION, EVENT, LINT];

#[test]
fn a_recipe_touches_the_files_that_its_page_lists() {
    let page = fs::read_to_string(root().join("AGENTS.md")).unwrap();
    for Recipe { heading, most, edits } in &RECIPES {
        let steps = page.split_once(&format!("{heading}\n")).unwrap_or_else(|| panic!("no {heading}")).1;
        let steps = steps.split("\n#").next().unwrap();
        let listed: Vec<_> = steps.lines().filter_map(|line| line.split_once(". `")).collect();
        let listed: Vec<&str> = listed.iter().map(|(_, rest)| rest.split('`').next().unwrap()).collect();
        let mut touched: Vec<&str> = edits.iter().map(|it| it.path).collect();
        touched.dedup();
        let is_meant =
            |(listed, touched): (&&str, &&str)| *listed == *touched || is_instance(listed, touched);
        assert!(
            listed.len() == touched.len() && listed.iter().zip(&touched).all(is_meant),
            "{listed:?} {touched:?}"
        );
        assert!(touched.len() <= *most, "{heading}: {touched:?}");
    }
}

/// Whether a path is what `docs/lints/<name>.md` stands for.
fn is_instance(pattern: &str, path: &str) -> bool {
    let ends = pattern.split_once('<').and_then(|(start, rest)| Some((start, rest.rsplit_once('>')?.1)));
    ends.is_some_and(|(start, end)| path.starts_with(start) && path.ends_with(end))
}

#[test]
fn a_workflow_may_use_an_action_that_was_added() {
    let (found, status) = check("flow.yml", WORKFLOW);
    assert!(status, "{found}");
    let (found, status) = check("flow.yml", &WORKFLOW.replace("message: over", "massage: over"));
    assert!(!status && found.contains("unknown key `massage` in clear_attention"), "{found}");
}

#[test]
fn a_lint_that_was_added_finds_what_it_is_for() {
    let page = fs::read_to_string(tree().join("docs/lints/left-over.md")).unwrap();
    let workflow = page.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let (found, _) = check("flow.yml", workflow);
    assert!(found.contains("a state is called `left-over`"), "{found}");
}

#[test]
fn an_event_that_was_added_is_written_and_read() {
    cargo(tree(), &["test", "--package", "orange-journal", "--lib", "--quiet"]);
}

/// What the command of the tree says of a workflow, and whether it passes.
fn check(name: &str, text: &str) -> (String, bool) {
    let program = target().join("debug/orange-workflow");
    tree();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    let output = Command::new(program).args(["check", name]).current_dir(folder.path()).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (String::from_utf8(said).unwrap(), output.status.success())
}

/// The tree in which all recipes are followed; built.
fn tree() -> &'static Path {
    static TREE: OnceLock<PathBuf> = OnceLock::new();
    TREE.get_or_init(|| {
        let tree = target().join("tree");
        write(&tree, followed(sources()));
        cargo(&tree, &["build", "--package", "orange-workflow"]);
        cargo(&tree, &["check", "--package", "orange-engine"]);
        tree
    })
}

/// The files of this repository, as they are now.
fn sources() -> BTreeMap<String, Vec<u8>> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let listed = String::from_utf8(listed.stdout).unwrap();
    let paths: BTreeSet<&str> = listed.split_terminator('\0').collect();
    paths.into_iter().filter_map(|path| Some((path.to_owned(), fs::read(root().join(path)).ok()?))).collect()
}

fn followed(mut files: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    for Edit { path, change } in RECIPES.iter().flat_map(|it| it.edits) {
        let text = |path: &str| String::from_utf8(files[path].clone()).unwrap();
        let text = match change {
            Change::Before(anchor, insert) => {
                let text = text(path);
                assert_eq!(text.matches(anchor).count(), 1, "`{anchor}` in {path}");
                text.replace(anchor, &format!("{insert}{anchor}"))
            }
            Change::New(template, words) => {
                assert!(!files.contains_key(*path), "{path} is there already");
                words.iter().fold(text(template), |text, (word, new)| text.replace(word, new))
            }
        };
        files.insert((*path).to_owned(), text.into_bytes());
    }
    files
}

/// Makes a folder have these files and no others. What is as it should be is not touched, so that it is not built again.
fn write(tree: &Path, files: BTreeMap<String, Vec<u8>>) {
    let wanted: BTreeSet<PathBuf> = files.keys().map(|path| tree.join(path)).collect();
    remove_others(tree, &wanted);
    for (path, text) in files {
        let path = tree.join(path);
        if fs::read(&path).ok().as_ref() != Some(&text) {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }
}

fn remove_others(folder: &Path, wanted: &BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            remove_others(&path, wanted);
        } else if !wanted.contains(&path) {
            fs::remove_file(path).unwrap();
        }
    }
}

#[track_caller]
fn cargo(tree: &Path, args: &[&str]) {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).args(["--offline", "--locked"]).current_dir(tree);
    // What a debugger needs is most of what a build writes.
    command
        .env("CARGO_TARGET_DIR", target())
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_INCREMENTAL", "0");
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "cargo {}:\n{}", args.join(" "), String::from_utf8_lossy(&said));
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("recipes")
}
