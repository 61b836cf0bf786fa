//! Custom workflows: found in the home, compiled there, pinned to their tasks, and changed under them.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::task::Task;
use crate::world::{World, seeds, target_program};

/// A workflow of its own, with a counter.
pub(crate) const FLOW: &str = "\
name: flow
version: 1
fields: {tries: 3}
states:
  open: {terminal: false}
  doing: {terminal: false}
  checking: {terminal: false}
  closed: {terminal: true}
  dropped: {terminal: true}
commands: {spawn: doing, cancel: dropped}
transitions:
  - {from: open, to: doing}
  - {from: doing, to: checking, gate: {section: \"## Handoff\", required: true}}
  - {from: checking, to: doing, by: [reviewer, human], hooks: [{action: increment, field: tries}]}
  - {from: checking, to: closed}
  - {from: [open, doing, checking], to: dropped}
";

/// A task that follows it, at work.
pub(crate) fn followed(world: &World) -> Task<'_> {
    world.workflow("flow.yml", FLOW);
    let task = world.create("fix", "Mend it", &["--workflow", "flow", "--no-spawn"]);
    task.ok("update", &["--status", "doing"]);
    task
}

/// A step workflow whose prompt is in a file.
const STEPS: &str = "\
[workflow]
name = \"two-steps\"
[[steps]]
id = \"a\"
prompt_file = \"do/a.md\"
[[steps]]
id = \"b\"
prompt = \"Go on. {{context}}\"
depends_on = [\"a\"]
";

#[test]
fn a_custom_step_workflow_is_compiled_with_its_prompts() {
    let world = World::new();
    let file = world.workflow("two-steps.toml", STEPS);
    let show = &["workflow", "show", "two-steps"];
    let refused = world.fails(6, "corrupt", show);
    assert!(refused.contains("two-steps.toml:5:15: error[B18 missing-prompt-file]"), "{refused}");
    let prompt = file.with_file_name("do/a.md");
    fs::create_dir_all(prompt.parent().unwrap()).unwrap();
    fs::write(&prompt, "Begin with {{mission_prompt}}").unwrap();
    let shown = world.ok(show);
    assert_eq!((&shown["steps"], &shown["step_list"][1]["depends_on"]), (&json!(2), &json!(["a"])));
    let listed = world.ok(&["workflow", "list"]);
    let listed: Vec<_> = listed.as_array().unwrap().iter().filter(|it| it["file"] != Value::Null).collect();
    assert_eq!((listed.len(), &listed[0]["source_hash"]), (1, &shown["source_hash"]));
    fs::write(&prompt, "Begin well with {{mission_prompt}}").unwrap();
    assert_ne!(world.ok(show)["source_hash"], shown["source_hash"]);
    let refused = world.fails(1, "refused", &["task", "create", "fix", "x", "--workflow", "two-steps"]);
    assert!(refused.contains("`orange mission start two-steps` makes a mission"), "{refused}");
    let refused = world.fails(1, "refused", &["mission", "start", "default", "x"]);
    assert!(refused.contains("`orange task create --workflow default` makes a task"), "{refused}");
}

#[test]
fn an_included_prompt_belongs_to_the_definition() {
    let world = World::new();
    let file = world.workflow("flow.yml", &(FLOW.to_owned() + "prompts:\n  p: {include: prompts/p.md}\n"));
    let prompt = file.with_file_name("prompts/p.md");
    fs::create_dir_all(prompt.parent().unwrap()).unwrap();
    fs::write(&prompt, "Begin with {summary}\n").unwrap();
    let task = world.create("fix", "Mend it", &["--workflow", "flow", "--no-spawn"]);
    let first = task.owned("definition");
    let kept = world.home().join("workflows/.kept").join(first.as_str().unwrap());
    assert_eq!(fs::read_to_string(kept.join("prompts/p.md")).unwrap(), "Begin with {summary}\n");
    fs::write(&prompt, "Begin well with {summary}\n").unwrap();
    task.ok("update", &["--status", "doing"]);
    assert_ne!(task.owned("definition"), first);
    assert_eq!(count(&task, "workflow.changed"), 1);
    let compared = Command::new(target_program("orange-workflow"))
        .args(["diff", "--format", "short"])
        .args([&kept.join("flow.yml"), &file])
        .output()
        .unwrap();
    let said = String::from_utf8(compared.stdout).unwrap();
    assert!(said.contains("prompt `p`") || said.contains("`p`"), "{said}");
    fs::remove_file(&prompt).unwrap();
    let refused = world.fails(6, "corrupt", &["workflow", "show", "flow"]);
    assert!(refused.contains("error[B18 missing-prompt-file]: there is no prompt file"), "{refused}");
}

fn count(task: &Task<'_>, kind: &str) -> usize {
    task.events_of(kind).len()
}

#[test]
fn a_custom_workflow_is_followed_as_a_compiled_in_one() {
    let world = World::new();
    let task = followed(&world);
    let refused = task.fails(1, "gate_failed", "update", &["--status", "checking"]);
    assert!(refused.contains("`## Handoff` is missing"), "{refused}");
    task.write("## Handoff\n\nDONE: all of it");
    task.ok("update", &["--status", "checking"]);
    task.ok("update", &["--status", "doing"]);
    assert_eq!((task.owned("tries"), task.status()), (json!(4), "doing".to_owned()));

    let shown = world.ok(&["workflow", "show", "flow"]);
    assert_eq!(task.owned("definition"), shown["source_hash"]);
    let kept = world.home().join("workflows/.kept").join(shown["source_hash"].as_str().unwrap());
    assert_eq!(fs::read_to_string(kept.join("flow.yml")).unwrap(), FLOW);
    let contract = world.ok(&["workflow", "contract", "flow"]);
    assert_eq!(contract["statuses"][1]["transitions"][0]["gate"], "`## Handoff` (not empty)");
    assert_eq!(world.ok(&["task", "list", "--status", "doing"])[0]["id"], json!(task.id));

    world.ok(&["project", "update", "toy", "--workflow", "flow"]);
    let other = world.create("other", "Mend it, too", &["--no-spawn"]);
    assert_eq!(other.owned("workflow"), "flow");
}

#[test]
fn a_transition_sets_a_counter_back() {
    let world = World::new();
    let again = "to: checking, reset: tries";
    world.workflow("flow.yml", &FLOW.replacen("to: checking", again, 1));
    let task = world.create("fix", "Mend it", &["--workflow", "flow", "--no-spawn"]);
    task.write("## Handoff\n\nDONE: all of it");
    let mut values = Vec::new();
    for status in ["doing", "checking", "doing", "checking"] {
        task.ok("update", &["--status", status]);
        values.push(task.owned("tries"));
    }
    assert_eq!(values, [3, 3, 4, 3]);
}

#[test]
fn the_hash_of_a_compiled_in_workflow_is_pinned_too() {
    let world = World::new();
    let task = world.create("fix", "Mend it", &["--no-spawn"]);
    assert_eq!(task.owned("definition"), world.ok(&["workflow", "show", "default"])["source_hash"]);
    assert!(
        !world.home().join("workflows").exists(),
        "those of compiled-in ones are where the binary was built"
    );
}

#[test]
fn a_toml_file_does_as_well_and_two_files_are_one_too_many() {
    let world = World::new();
    let toml = "name = \"mine\"\nversion = 1\nstates.open.terminal = false\nstates.closed.terminal = true\n\
                [[transitions]]\nfrom = \"open\"\nto = \"closed\"\n";
    world.workflow("mine.toml", toml);
    world.create("fix", "Mend it", &["--workflow", "mine", "--no-spawn"]);
    world.workflow("mine.yml", FLOW);
    let twice = world.fails(6, "corrupt", &["workflow", "show", "mine"]);
    assert!(twice.contains("mine.yml") && twice.contains("mine.toml"), "{twice}");
}

#[test]
fn what_is_not_there_is_an_error_before_anything_is_made() {
    let world = World::new();
    world.workflow("flow.yml", FLOW);
    let create =
        |name: &str| world.fails(3, "not_found", &["task", "create", "fix", "x", "--workflow", name]);
    assert!(create("folw").contains("did you mean `flow`?"));
    assert!(create("water").contains("default") && create("water").contains("workflows/NAME.yml"));
    for path in ["../flow", "/etc/passwd", "flow.yml", ".kept", ""] {
        create(path);
    }
    assert_eq!(world.ok(&["task", "list", "--all"]), json!([]));
}

#[test]
fn a_broken_workflow_lists_its_errors_and_blocks_no_other() {
    let world = World::new();
    let task = followed(&world);
    let other = world.create("other", "Another", &["--no-spawn"]);
    let file = world.workflow("flow.yml", &FLOW.replace("to: checking, gate", "to: chekcing, gaet"));
    let message = task.fails(6, "corrupt", "update", &["--status", "checking"]);
    for part in
        [&format!("{}:13:", file.display()), "error[A01 unknown-to]", "error[S02 unknown-key]", "= help: "]
    {
        assert!(message.contains(part), "{part} in {message}");
    }
    world.fails(6, "corrupt", &["task", "create", "third", "x", "--workflow", "flow"]);
    assert!(task.show()["workflow_note"].as_str().unwrap().contains("chekcing"));

    other.ok("update", &["--summary", "Another one"]);
    world.ok(&["monitor", "--once"]);
    assert_eq!(world.ok(&["task", "list"]).as_array().unwrap().len(), 2);
    assert_eq!(world.ok(&["task", "list", "--status", "pending"]).as_array().unwrap().len(), 1);
    let listed = world.ok(&["workflow", "list"]);
    let flow = listed.as_array().unwrap().iter().find(|it| it["name"] == "flow").unwrap();
    assert_eq!((&flow["error"]["code"], &flow["file"]), (&json!("corrupt"), &json!(file)));

    world.workflow("flow.yml", &FLOW.replace("name: flow", "name: flaw"));
    assert!(task.fails(6, "corrupt", "next", &[]).contains("calls its workflow `flaw`"));
    fs::write(&file, b"\xff\xfe").unwrap();
    assert!(task.fails(6, "corrupt", "next", &[]).contains("UTF-8"));
    world.workflow("flow.yml", FLOW);
    task.ok("next", &[]);
}

#[test]
fn one_that_is_gone_is_missed_and_its_definition_is_kept() {
    let world = World::new();
    let task = followed(&world);
    let file = world.home().join("workflows/flow.yml");
    fs::remove_file(&file).unwrap();
    let message = task.fails(3, "not_found", "update", &["--status", "dropped"]);
    let copy = message.split('`').find(|part| part.starts_with("cp ")).unwrap().to_owned();
    let words: Vec<_> = copy.split(' ').collect();
    assert!(Command::new(words[0]).args(&words[1..]).status().unwrap().success(), "{copy}");
    task.ok("update", &["--status", "dropped"]);
}

#[test]
fn a_person_cancels_a_task_whose_workflow_nobody_knows() {
    let world = World::new();
    let task = followed(&world);
    task.ok("update", &["--status", "dropped"]);
    let hooked = FLOW
        .replace("{from: open, to: doing}", "{from: open, to: doing, hooks: [{action: acquire_workspace}]}");
    let file = world.workflow("flow.yml", &hooked);
    let task = world.create("other", "Mend it, too", &["--workflow", "flow"]);
    fs::write(task.worktree().join("idea.txt"), "half an idea\n").unwrap();
    torn_between(&task, "checking");
    for gone in [true, false] {
        if gone {
            fs::rename(&file, world.path("flow.yml")).unwrap();
        } else {
            fs::write(&file, "name: flow\nstates: [").unwrap();
        }
        let message = world.orange(&["--json", "task", "next", &task.id]).json()["error"]["help"].to_string();
        assert!(message.contains("or a person ends the task with `orange task cancel`"), "{message}");
    }
    fs::remove_file(&file).unwrap();
    let agent = world.said(task.as_agent("worker", "1").args(["task", "cancel", &task.id, "--yes"]));
    agent.fails(1, "not_allowed");
    let worktree = task.worktree();
    let cancelled = task.ok("cancel", &["--yes"]);
    let hooks = json!(["kill_session", "release_workspace"]);
    assert_eq!((&cancelled["to"], &cancelled["hooks_executed"]), (&json!("cancelled"), &hooks));
    assert!(cancelled["backed_up"][0].is_string() && !worktree.join("idea.txt").exists());
    let migrated = &task.events_of("task.migrated")[0];
    assert_eq!(
        (&migrated["from"], &migrated["dropped_hooks"]),
        (&json!("checking"), &json!(["run_command"]))
    );
    assert_eq!(
        (task.status(), task.owned("workflow")),
        ("cancelled".to_owned(), migrated["workflow"].clone())
    );
    task.ok("delete", &["--yes"]);
}

#[test]
fn a_compiled_in_one_comes_first() {
    let world = World::new();
    world.workflow("minimal.yml", &FLOW.replace("name: flow", "name: minimal"));
    assert!(world.ok(&["workflow", "show", "minimal"]).to_string().contains("reviewing"));
    let listed = world.orange(&["workflow", "list"]);
    assert!(listed.out.contains("is never followed: a workflow `minimal` is compiled in"), "{}", listed.out);
    fs::create_dir(world.home().join("workflows/folder.yml")).unwrap();
    let message = world.fails(3, "not_found", &["workflow", "show", "nowhere"]);
    assert!(message.matches("minimal").count() == 1 && !message.contains("folder"), "{message}");
}

#[test]
fn a_binary_without_the_compiler_says_which_has_it() {
    let world = World::of(seeds());
    world.workflow("flow.yml", FLOW);
    let message = world.fails(3, "not_found", &["task", "create", "fix", "x", "--workflow", "flow"]);
    assert!(message.contains("flow.yml") && message.contains("cargo xtask build-workflow"), "{message}");
}

#[test]
fn a_change_is_reported_once_and_the_task_goes_on() {
    let world = World::new();
    let task = followed(&world);
    let before = task.owned("definition");
    let file = world.workflow(
        "flow.yml",
        &(FLOW.replace("tries: 3", "tries: 3, walks: 5") + "  - {from: doing, to: closed}\n"),
    );
    assert!(task.show()["workflow_note"].as_str().unwrap().contains("orange-workflow diff"));
    assert_eq!(count(&task, "workflow.changed"), 0, "who only looks changes nothing");

    task.fails(1, "gate_failed", "update", &["--status", "checking"]);
    let shown = task.show();
    assert!(shown["attention"].as_str().unwrap().contains("orange-workflow diff"), "{shown}");
    assert_eq!((task.owned("walks"), task.owned("tries")), (json!(5), json!(3)));
    let moved = task.ok("update", &["--status", "closed"]);
    let changed = &moved["workflow_changed"];
    assert_eq!((&changed["from"], &changed["to"]), (&before, &task.owned("definition")));
    assert_eq!(count(&task, "workflow.changed"), 1);
    assert_eq!(task.show()["attention"], Value::Null);

    let compare = changed["compare"].as_str().unwrap().to_owned();
    assert!(compare.ends_with(&file.display().to_string()), "{compare}");
    let mut words = compare.split(' ');
    assert_eq!(words.next(), Some("orange-workflow"));
    let said = world.said(world.command(target_program("orange-workflow")).args(words));
    assert!(said.status < 2 && said.out.contains("closed"), "{said:?}");
}

#[test]
fn a_change_from_before_a_migration_is_not_reported_after_it() {
    let world = World::new();
    let task = followed(&world);
    world.workflow("flow.yml", &FLOW.replace("tries: 3", "tries: 3, walks: 5"));
    task.fails(1, "gate_failed", "update", &["--status", "checking"]);
    assert_eq!(count(&task, "workflow.changed"), 1);
    task.ok("migrate", &["--to", "pending", "--workflow", "minimal"]);
    assert_eq!(task.ok("cancel", &["--yes"])["workflow_changed"], Value::Null);
}

#[test]
fn a_task_without_its_status_can_be_migrated_or_cancelled_only() {
    let world = World::new();
    let [task, other] = ["fix", "other"].map(|branch| {
        world.workflow("flow.yml", FLOW);
        let task = world.create(branch, "Mend it", &["--workflow", "flow", "--no-spawn"]);
        task.ok("update", &["--status", "doing"]);
        task
    });
    let renamed = FLOW
        .replace("doing", "making")
        .replace("tries: 3", "turns: 7")
        .replace("field: tries", "field: turns");
    world.workflow("flow.yml", &renamed);
    for (verb, more) in [
        ("update", &["--status", "closed"][..]),
        ("update", &["--summary", "x"]),
        ("next", &[]),
        ("spawn", &[]),
        ("respawn", &[]),
        ("merge", &["--local"]),
    ] {
        let message = task.fails(1, "refused", verb, more);
        assert!(
            message.contains(&format!("orange task migrate {} --to STATUS", task.name())),
            "{verb}: {message}"
        );
    }
    assert!(task.show()["workflow_note"].as_str().unwrap().contains("no longer has the status doing"));
    world.ok(&["monitor", "--once"]);
    assert_eq!(world.ok(&["task", "list"]).as_array().unwrap().len(), 2);

    task.fails(3, "not_found", "migrate", &["--to", "doing"]);
    let said = world.said(task.as_agent("worker", "1").args(["task", "migrate", &task.id, "--to", "making"]));
    said.fails(1, "not_allowed");
    let moved = task.ok("migrate", &["--to", "making"]);
    assert_eq!(
        (&moved["from"], &moved["to"], &moved["dropped_hooks"]),
        (&json!("doing"), &json!("making"), &json!([]))
    );
    assert_eq!((task.owned("turns"), task.owned("tries")), (json!(7), json!(3)));
    task.ok("update", &["--status", "dropped"]);

    other.ok("cancel", &["--yes"]);
    assert_eq!(other.status(), "dropped");
}

/// A transition whose hooks were never run, as a kill leaves it.
fn torn_between(task: &Task<'_>, to: &str) {
    let seq = task.events().len() + 1;
    let hooks = json!([{ "name": "kill_session", "index": 0 }, { "name": "run_command", "index": 1 }]);
    let started = json!({
        "seq": seq, "timestamp": "2026-01-01T00:00:00Z", "type": "transition.started", "from": "doing", "to": to,
        "cause": "request", "actor": "human", "hooks": hooks, "set": { "status": to },
    });
    let ended = json!({
        "seq": seq + 1, "timestamp": "2026-01-01T00:00:00Z", "type": "hook.ended", "hook": "kill_session", "index": 0,
    });
    let journal = task.folder().join("history.jsonl");
    let before = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, format!("{before}{started}\n{ended}\n")).unwrap();
}

#[test]
fn a_begun_transition_that_is_gone_is_handled_the_same_way() {
    let world = World::new();
    for status in ["checking", "gone"] {
        let task = followed(&world);
        torn_between(&task, status);
        let message = task.fails(1, "refused", "update", &["--status", "dropped"]);
        assert!(
            message.contains("was begun under another flow workflow") && message.contains("migrate"),
            "{message}"
        );
        let moved = task.ok("migrate", &["--to", "open"]);
        assert_eq!(moved["dropped_hooks"], json!(["run_command"]));
        task.ok("update", &["--status", "doing"]);
        torn_between(&task, status);
        task.ok("cancel", &["--yes"]);
        assert_eq!(task.arrows().last().unwrap(), &format!("{status} → dropped"));
    }
}

#[test]
fn a_task_can_be_moved_to_another_workflow() {
    let world = World::new();
    let task = followed(&world);
    fs::remove_file(world.home().join("workflows/flow.yml")).unwrap();
    let moved = task.ok("migrate", &["--to", "reviewing", "--workflow", "minimal"]);
    assert_eq!((&moved["workflow"], &moved["to"]), (&json!("minimal"), &json!("reviewing")));
    assert_eq!(task.owned("definition"), world.ok(&["workflow", "show", "minimal"])["source_hash"]);
    task.ok("update", &["--status", "cancelled"]);
}
