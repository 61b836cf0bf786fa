//! The recipes of `AGENTS.md`: a scratch copy of the tree in which their steps are done still compiles, and what they add works.
//!
//! A step is an edit of one file. All recipes are followed in one copy, `target/recipes/tree`, so that it is built once; it
//! stays, so that the next run builds what has changed since. `CARGO_TARGET_DIR` of its own keeps `cargo` of both apart.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
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
    edits: &'static [RecipeEdit],
}

/// A step of a recipe, or a part of one.
struct RecipeEdit {
    path: &'static str,
    change: RecipeChange,
}

enum RecipeChange {
    /// This goes before a text that is there once.
    Before(&'static str, &'static str),
    /// This stands in place of a text that is there once.
    Instead(&'static str, &'static str),
    /// A file with the text of another one, in which these words are replaced.
    New(&'static str, &'static [(&'static str, &'static str)]),
}

const fn before(path: &'static str, anchor: &'static str, insert: &'static str) -> RecipeEdit {
    RecipeEdit { path, change: RecipeChange::Before(anchor, insert) }
}

const fn instead(path: &'static str, old: &'static str, new: &'static str) -> RecipeEdit {
    RecipeEdit { path, change: RecipeChange::Instead(old, new) }
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
            "/// Runs a program in the task's worktree. The journal gets",
            "/// Empties `attention`, and writes why into the task's file.\n\
             pub fn clear_attention(locked: &mut LockedWorkItem, why: &str) -> Result<()> {\n    \
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
            "    /// The task or mission was restored from the trash.",
            "    /// A person pinned the task.\n    \"task.pinned\" TaskPinned {\n        /// Who asked.\n        \
             actor: Actor,\n    },\n",
        ),
        before(
            "engine/journal/src/history/mod.rs",
            "    /// Time of its creation, RFC 3339 UTC.",
            "    /// Whether a person pinned it.\n    pub is_pinned: bool,\n",
        ),
        before(
            "engine/journal/src/history/mod.rs",
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
        RecipeEdit {
            path: "analysis/src/lint/hooks/left_over.rs",
            change: RecipeChange::New("xtask/src/new_lint/lint.rs.txt", NEW_LINT),
        },
        RecipeEdit {
            path: "docs/lints/left-over.md",
            change: RecipeChange::New("xtask/src/new_lint/page.md.txt", NEW_LINT),
        },
        before("analysis/src/lint/hooks/mod.rs", "mod places;", "mod left_over;\n"),
        before(
            "analysis/src/lint/hooks/mod.rs",
            "    C6D \"reduced-permission-worker\"",
            "    C6F \"left-over\" Warn left_over;\n",
        ),
    ],
};

/// An exit rule may ask how often the agent was started again: `restarts: 2`.
const RULE: Recipe = Recipe {
    heading: "### Add a rule of life",
    most: 20,
    edits: &[
        instead(
            "engine/core/src/end.rs",
            "    pub lasted: u32,\n",
            "    pub lasted: u32,\n    /// How often the agent was started again since the task's last transition.\n    \
             pub restarts: u32,\n",
        ),
        instead(
            "engine/core/src/end.rs",
            "        lasted: 0,\n",
            "        lasted: 0,\n        restarts: 0,\n",
        ),
        instead(
            "engine/core/src/end.rs",
            "    pub after: Option<u32>,\n",
            "    pub after: Option<u32>,\n    /// The agent was started again at least this often.\n    \
             pub restarts: Option<u32>,\n",
        ),
        instead(
            "engine/core/src/end.rs",
            "    pub const ANY: Ending<'static> = Ending { codes: &[], signals: &[], output: None, after: None };",
            "    pub const ANY: Ending<'static> =\n        \
             Ending { codes: &[], signals: &[], output: None, after: None, restarts: None };",
        ),
        instead(
            "engine/core/src/end.rs",
            "        (is_any || is_one) && is_said && is_over\n",
            "        let is_often = self.restarts.is_none_or(|restarts| end.restarts >= restarts);\n        \
             (is_any || is_one) && is_said && is_over && is_often\n",
        ),
        before(
            "engine/core/src/end.rs",
            "        self.after.map_or(Ok(()), |seconds| write!",
            "        let space = if before.is_empty() && self.output.is_none() { \"\" } else { \" \" };\n        \
             self.restarts.map_or(Ok(()), |times| write!(f, \"{space}after {times} restarts\"))?;\n",
        ),
        before(
            "engine/core/src/life/ended.rs",
            "        let exit = self.decide_exit(&facts.view, end)?;\n",
            "        let end = &AgentEnd { restarts: end.restarts.max(facts.restarts), ..*end };\n",
        ),
        before(
            "engine/core/src/life/tests.rs",
            "#[test]\nfn a_timeout_ends_an_agent_and_moves_the_task_on",
            "#[test]\nfn a_rule_may_ask_how_often_an_agent_was_started_again() {\n    \
             let condition = Condition::Ended(Ending { restarts: Some(2), ..Ending::ANY });\n    \
             let rules = [ExitRule { state: REVIEW, condition, outcome: Outcome::Then(STUCK) }];\n    \
             let states = states();\n    \
             let machine = Machine { exit_rules: &rules, ..machine(&states) };\n    \
             let is_moved = |restarts| {\n        \
             let facts = LifeFacts { restarts, ..facts(REVIEW, &[2, 0], \"## Review\\nFAIL\") };\n        \
             let turn = machine.life(&facts, REVIEWER_ENDED).unwrap();\n        \
             words(&turn).contains(&\"advance 3\".into())\n    };\n    \
             assert_eq!([0, 1, 2, 3].map(is_moved), [false, false, true, true]);\n}\n\n",
        ),
        before(
            "codegen/src/model/keys.rs",
            "        key(\"then\", STATE_NAME, \"Takes the transition to this state.\"),\n",
            "        key(\n            \"restarts\",\n            Takes::Integer(1),\n            \
             \"It applies when the agent was started again this often without a transition between.\",\n        ),\n",
        ),
        instead(
            "codegen/src/model/mod.rs",
            "    pub after: Option<u32>,\n",
            "    pub after: Option<u32>,\n    /// How often the agent was started again.\n    \
             pub restarts: Option<u32>,\n",
        ),
        instead(
            "codegen/src/model/ending.rs",
            "    let first = exit.or(output)?;\n",
            "    let restarts = fields.get(\"restarts\");\n    let first = exit.or(output).or(restarts)?;\n",
        ),
        instead(
            "codegen/src/model/ending.rs",
            "    Some(Ending { span: first.key.to(first.value.span), codes, signals, output, after: None })\n",
            "    let restarts = match restarts {\n        \
             Some(it) => Some(number(decoder, &it, (1, orange_core::MAX_RESTARTS))?.unsigned_abs()),\n        \
             None => None,\n    };\n    \
             let span = first.key.to(first.value.span);\n    \
             Some(Ending { span, codes, signals, output, after: None, restarts })\n",
        ),
        instead(
            "codegen/src/model/exit.rs",
            "fields.get(\"exit\").or(fields.get(\"on_output\"))",
            "fields.get(\"exit\").or(fields.get(\"on_output\")).or(fields.get(\"restarts\"))",
        ),
        instead(
            "codegen/src/model/states.rs",
            "output: None, after: Some(after?) }",
            "output: None, after: Some(after?), restarts: None }",
        ),
        before("codegen/src/check/wait.rs", "    timeouts(context);\n", "    restarts(context);\n"),
        before(
            "codegen/src/check/wait.rs",
            "fn timeouts(",
            "fn restarts(context: &mut CheckContext<'_>) {\n    \
             for rule in &context.draft.workflow.exit_monitoring.rules {\n        \
             let Condition::Ended(ending) = &rule.condition else { continue };\n        \
             let state = context.state(rule.status.value);\n        \
             if ending.restarts.is_none() || state.respawn_prompt.is_some() {\n            continue;\n        }\n        \
             let name = &state.name.value;\n        \
             let message = format!(\"no agent of `{name}` is started again, so `restarts` never holds\");\n        \
             let finding = Diagnostic::new(&S09, ending.span, message)\n            \
             .label(ending.span, \"counts restarts\")\n            \
             .label(state.name.span, \"has no `respawn_prompt`\")\n            \
             .help(format!(\"add `respawn_prompt: …` to `{name}`, or delete `restarts`\"));\n        \
             context.report(finding);\n    }\n}\n\n",
        ),
        instead(
            "codegen/src/lower/mod.rs",
            "            after: ending.after,\n",
            "            after: ending.after,\n            restarts: ending.restarts,\n",
        ),
        instead(
            "codegen/src/emit/tables.rs",
            "    let is_whole = codes.is_some() && signals.is_some() && output.is_some() && after.is_some();\n",
            "    let restarts = ending.restarts.map(Literal::u32_unsuffixed).map(|it| quote!(restarts: Some(#it),));\n    \
             let parts = [&codes, &signals, &output, &after, &restarts];\n    \
             let is_whole = parts.iter().all(|it| it.is_some());\n",
        ),
        instead("codegen/src/emit/tables.rs", "#output #after #rest }", "#output #after #restarts #rest }"),
        instead(
            "analysis/src/search/ends.rs",
            "    let said = AgentEnd { output: ending.output.unwrap_or_default(), ..lasted };\n",
            "    let restarts = ending.restarts.unwrap_or_default();\n    \
             let said = AgentEnd { output: ending.output.unwrap_or_default(), restarts, ..lasted };\n",
        ),
        before(
            "analysis/src/walk/mod.rs",
            "    /// Its agents and its worktree.\n    task: Task,\n",
            "    /// How often an agent was started again since the last transition.\n    restarts: u32,\n",
        ),
        instead(
            "analysis/src/walk/mod.rs",
            "            restarts: 0,\n",
            "            restarts: self.restarts,\n",
        ),
        instead(
            "analysis/src/walk/mod.rs",
            "            task: Task::new(status),\n",
            "            restarts: 0,\n            task: Task::new(status),\n",
        ),
        before(
            "analysis/src/walk/mod.rs",
            "            match event {\n                LifeEvent::Crashed { counter, count, reason } => {",
            "            match event {\n                LifeEvent::Waits { .. } => self.restarts += 1,\n                \
             LifeEvent::Began(_) | LifeEvent::GaveUp { .. } => self.restarts = 0,\n                \
             LifeEvent::Crashed { .. }\n                | LifeEvent::NotResumed\n                \
             | LifeEvent::HooksWait\n                | LifeEvent::Advanced { .. }\n                | LifeEvent::Forced { .. }\n                \
             | LifeEvent::Attention(_) => {}\n            }\n",
        ),
        instead(
            "engine/src/flow/agent/ended.rs",
            "            left: &self.left,\n",
            "            left: &self.left,\n            ..core::AgentEnd::PLAIN\n",
        ),
        before(
            "tools/cli/src/graph/machine.rs",
            "    let parts = [numbers(\"exit\"",
            "    let often = ending.restarts.map(|it| format!(\"after {it} restarts\"));\n",
        ),
        instead(
            "tools/cli/src/graph/machine.rs",
            "&ending.signals), said, over];",
            "&ending.signals), said, over, often];",
        ),
        before(
            "docs/workflow.md",
            "| `then` | takes the transition to this state | |\n",
            "| `restarts` | 1 to 20: the rule applies if the agent was started again this often without a transition between | |\n",
        ),
        instead(
            "CHANGELOG.md",
            "## Unreleased\n",
            "## Unreleased\n\n- An exit rule may ask for `restarts: 3`: the agent was started again this often.\n",
        ),
    ],
};

/// A workflow with the rule that [`RULE`] adds.
const PATIENT: &str = "\
name: patient
states:
  working: {respawn_prompt: again}
  stuck: {}
  done: {terminal: true}
transitions:
  - {from: working, to: done, gate: {section: \"## Handoff\", required: true}}
  - {from: working, to: stuck}
  - {from: stuck, to: working}
exit_monitoring:
  rules:
    - {status: working, has_artifact: {section: \"## Handoff\", required: true}, then: done}
    - {status: working, on_output: rate limit, restarts: 2, then: stuck}
    - {status: working, on_output: rate limit, action: wait, resume_after: 900}
    - {status: working, no_artifact: true, action: crash, stuck_after: 3, respawn: true}
prompts:
  again: Go on where the last one stopped, write `## Handoff`, then call `orange task update --status done`.
";

const SCENARIOS: &str = "\
scenarios:
  - name: two limits are waited for, and the third is for a person
    given: {status: working, agents: [worker]}
    steps:
      - {end: worker, output: rate limit, expect: {status: working, agents: []}}
      - {respawn: true, expect: {status: working, agents: [worker]}}
      - {end: worker, output: rate limit, expect: {status: working, agents: []}}
      - {respawn: true, expect: {status: working, agents: [worker]}}
      - {end: worker, output: rate limit, expect: {status: stuck}}
";

const RECIPES: [Recipe; 4] = [ACTION, EVENT, LINT, RULE];

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

/// True if a pattern like `docs/lints/<name>.md` stands for a path.
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

#[test]
fn a_rule_of_life_that_was_added_is_checked_and_decides() {
    let (found, status) = check("patient.yml", PATIENT);
    assert!(status, "{found}");
    let (found, status) = check("patient.yml", &PATIENT.replace("restarts: 2", "restarts: 21"));
    assert!(!status && found.contains("no agent ends with `restarts: 21`"), "{found}");
    let (found, status) = check("patient.yml", &PATIENT.replace("{respawn_prompt: again}", "{}"));
    assert!(!status && found.contains("no agent of `working` is started again"), "{found}");
    let scenarios = |workflow| run("test", &[("patient.test.yml", SCENARIOS), ("patient.yml", workflow)]);
    let (found, status) = scenarios(PATIENT);
    assert!(status, "{found}");
    let (found, status) = scenarios(&PATIENT.replace("restarts: 2", "restarts: 3"));
    assert!(!status && found.contains("stuck"), "{found}");
    cargo(tree(), &["test", "--package", "orange-core", "--lib", "--quiet"]);
}

/// Output of the tree's `check` for a workflow, and true if it passes.
fn check(name: &str, text: &str) -> (String, bool) {
    run("check", &[(name, text)])
}

/// Output of a command of the tree for the first of these files, and true if it passes.
fn run(command: &str, files: &[(&str, &str)]) -> (String, bool) {
    let program = target().join("debug/orange-workflow");
    tree();
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let output =
        Command::new(program).args([command, files[0].0]).current_dir(folder.path()).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (String::from_utf8(said).unwrap(), output.status.success())
}

/// The tree in which all recipes are followed; built.
fn tree() -> &'static Path {
    static TREE: OnceLock<PathBuf> = OnceLock::new();
    TREE.get_or_init(|| {
        let tree = target().join("tree");
        write(&tree, followed(sources()));
        for (link, folder) in links() {
            symlink(folder, tree.join(link)).unwrap();
        }
        cargo(&tree, &["build", "--package", "orange-workflow"]);
        cargo(&tree, &["check", "--package", "orange-engine"]);
        tree
    })
}

/// The files of this repository, as they are now.
fn sources() -> BTreeMap<String, Vec<u8>> {
    listed().into_iter().filter_map(|path| Some((path.clone(), fs::read(root().join(path)).ok()?))).collect()
}

/// The links of this repository that lead to folders.
fn links() -> impl Iterator<Item = (String, PathBuf)> {
    let linked = listed().into_iter().filter(|path| root().join(path).is_dir());
    linked.filter_map(|path| Some((path.clone(), fs::read_link(root().join(path)).ok()?)))
}

fn listed() -> BTreeSet<String> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let listed = String::from_utf8(listed.stdout).unwrap();
    listed.split_terminator('\0').map(str::to_owned).collect()
}

fn followed(mut files: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    for RecipeEdit { path, change } in RECIPES.iter().flat_map(|it| it.edits) {
        let text = |path: &str| String::from_utf8(files[path].clone()).unwrap();
        let text = match change {
            RecipeChange::Before(anchor, insert) => {
                let text = text(path);
                assert_eq!(text.matches(anchor).count(), 1, "`{anchor}` in {path}");
                text.replace(anchor, &format!("{insert}{anchor}"))
            }
            RecipeChange::Instead(old, new) => {
                let text = text(path);
                assert_eq!(text.matches(old).count(), 1, "`{old}` in {path}");
                text.replace(old, new)
            }
            RecipeChange::New(template, words) => {
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
        if path.is_dir() && !path.is_symlink() {
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
