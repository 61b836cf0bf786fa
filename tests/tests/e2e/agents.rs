//! Agents and what they start: who may ask for what, who is alive, and what is left of them.

use std::fs;
use std::process::Stdio;

use serde_json::json;

use crate::task::{Task, is_alive, kill};
use crate::world::{World, binary, text, write_program};

/// Makes this script a harness of `ORANGE_HOME/harnesses.toml`, with the prompt as its only argument. Its notes are for
/// the folder `$NOTES`.
pub(crate) fn harness(world: &World, script: &str) {
    let program = world.path("wild");
    let notes = world.path("notes");
    fs::create_dir(&notes).unwrap();
    write_program(&program, &format!("#!/bin/sh\nNOTES='{}'\n{script}\n", notes.display()));
    let table = format!(
        "[wild] # not one of ours\nbinary = '{}'\nfull = [\n  '{{prompt}}',\n]\nreduced = ['{{prompt}}']\n",
        program.display()
    );
    fs::write(world.home().join("harnesses.toml"), table).unwrap();
}

/// A task whose worker is that harness.
pub(crate) fn wild<'w>(world: &'w World, branch: &str, summary: &str) -> Task<'w> {
    world.create(branch, summary, &["--harness", "wild"])
}

/// The number that a script has noted under this name.
#[track_caller]
pub(crate) fn noted(world: &World, name: &str) -> i32 {
    let file = world.path("notes").join(name);
    let read = || fs::read_to_string(&file).unwrap_or_default();
    world.until(&format!("{name} is noted"), || read().ends_with('\n'));
    read().trim().parse().unwrap()
}

#[test]
fn a_worker_cannot_pass_its_own_review_and_a_person_can() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: work hang]", &["--workflow", "persistent"]);
    task.reaches("agent-review");
    task.agent(2).begun();
    task.write("## Review\n\nVerdict: PASS");
    let refused = task.asks("worker", 1, "reviewing").fails(1, "not_allowed");
    assert!(refused.contains("reviewer, human"), "{refused}");
    // What it says that it is counts for nothing: the journal knows.
    task.asks("reviewer", 1, "reviewing").fails(1, "not_allowed");
    assert_eq!(task.status(), "agent-review");
    task.ok("update", &["--status", "reviewing"]);
}

#[test]
fn an_agent_asks_from_its_worktree_with_a_current_token() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    let asks = |folder: &std::path::Path, spawn: &str| {
        let mut command = task.as_agent("worker", spawn);
        world.said(command.args(["task", "update", "--summary", "Something else"]).current_dir(folder))
    };
    let refused = asks(&world.repo(), "1").fails(1, "not_allowed");
    assert!(refused.contains(&task.worktree().display().to_string()), "{refused}");
    for stale in ["7", "", "x"] {
        asks(&task.worktree(), stale).fails(1, "not_allowed");
    }
    assert_eq!(task.show()["summary"], "Mend it [agents: hang]");
    asks(&task.worktree(), "1").ok();
}

#[test]
fn an_agent_reads_and_creates_tasks_and_changes_its_own() {
    let world = World::new();
    let one = world.create("one", "Mend it [agents: hang]", &[]);
    let two = world.create("two", "Mend it too [agents: hang]", &[]);
    one.agent(1).begun();
    one.reaches("working");
    let asks = |args: &[&str]| world.said(one.as_agent("worker", "1").args(args).current_dir(one.worktree()));
    asks(&["task", "show", &two.id]).ok();
    asks(&["task", "next", &two.id]).ok();
    for change in [
        &["task", "update", &two.id, "--status", "stuck"][..],
        &["task", "update", &two.id, "--summary", "x"],
        &["task", "cancel", &two.id, "--yes"],
        &["task", "respawn", &two.id],
    ] {
        let refused = asks(change).fails(1, "not_allowed");
        assert!(refused.contains(&two.id) && refused.contains(&one.id), "{refused}");
    }
    for change in [&["update", "toy", "--pool-size", "9"][..], &["remove", "toy"]] {
        let refused = asks(&[&["project"], change].concat()).fails(1, "not_allowed");
        assert!(refused.contains("only a person"), "{refused}");
    }
    asks(&["project", "list"]).ok();
    let created = asks(&["task", "create", "three", "A part of it", "--no-spawn"]).ok();
    let three = world.task(&created);
    assert_eq!(three.events()[0]["creator"], json!(one.id));
    asks(&["task", "update", &three.id, "--summary", "Another part of it"]).ok();
    assert_eq!(
        (two.status(), three.show()["summary"].clone()),
        ("working".to_owned(), json!("Another part of it"))
    );
}

#[test]
fn all_that_an_agent_started_ends_with_it_and_nothing_else() {
    let world = World::new();
    harness(
        &world,
        "note() { sh -c \"echo \\$\\$ >'$NOTES/$1'; exec sleep 1000000\"; }
         (trap '' TERM HUP INT; note stubborn) &
         setsid sh -c \"echo \\$\\$ >'$NOTES/away'; exec sleep 1000000\" &
         setsid env -i PATH=\"$PATH\" sh -c \"sh -c 'echo \\$\\$ >$NOTES/nameless; exec sleep 1000000' & exit\"
         setsid env -i ORANGE_ACTOR=engine PATH=\"$PATH\" sh -c \"sh -c 'echo \\$\\$ >$NOTES/false; exec sleep 1000000' & exit\"
         note agent",
    );
    let task = wild(&world, "fix", "Mend it");
    let other = world.create("fix-2", "Mend it too [agents: hang]", &[]);
    let pids: Vec<i32> =
        ["stubborn", "away", "nameless", "false", "agent"].map(|name| noted(&world, name)).to_vec();
    let others = other.agent(1).begun();
    // A person works in the same session: in a window of their own, and beside the agent.
    let person = |args: &[&str]| {
        let opened = world
            .tmux(&[args, &["-t", "=toy/fix:", "-dP", "-F", "#{pane_pid}", "sleep", "1000000"]].concat());
        text(&opened.stdout).trim().parse().unwrap()
    };
    let persons: [i32; 2] = [person(&["new-window"]), person(&["split-window"])];
    assert!(pids.iter().chain(&persons).all(|pid| is_alive(*pid)));

    let cancelled = task.ok("cancel", &["--yes"]);
    assert_eq!(cancelled["hook_errors"], json!([]));
    assert_eq!(pids.iter().filter(|pid| is_alive(**pid)).count(), 0);
    assert!(persons.iter().all(|pid| is_alive(*pid)) && is_alive(others));
    let show = task.show();
    assert_eq!((&show["tmux_session"], &show["session"]), (&json!(null), &json!("inactive")));
}

#[test]
fn what_an_agent_has_left_behind_is_gone_when_it_ends_by_itself() {
    let world = World::new();
    harness(
        &world,
        "setsid sh -c \"echo \\$\\$ >'$NOTES/server'; exec sleep 1000000\" & while [ ! -s \"$NOTES/server\" ]; do :; done",
    );
    let task = wild(&world, "fix", "Mend it");
    task.has_events(1, "agent.crashed");
    assert!(!is_alive(noted(&world, "server")));
    assert_eq!(task.events_of("agent.exited")[0]["code"], 0);
}

#[test]
fn an_agent_that_outlives_its_wrapper_is_not_doubled() {
    let world = World::new();
    harness(
        &world,
        "trap '' HUP; sh -c \"trap '' HUP; echo \\$\\$ >'$NOTES/child'; exec sleep 1000000\" & echo $$ >\"$NOTES/agent\"; wait",
    );
    let task = wild(&world, "fix", "Mend it");
    let (agent, child) = (noted(&world, "agent"), noted(&world, "child"));
    task.reaches("working");
    world.until("its wrapper has noted who it is", || task.folder().join("agents/1.json").exists());
    kill(world.wrapper("toy/fix"));
    world.until("its pane is gone", || world.panes().is_empty());
    assert!(is_alive(agent));
    assert_eq!(world.ok(&["monitor", "--once"])["events"], json!([]));
    assert_eq!(world.ok(&["task", "list"])[0]["session"], "active");
    let refused = task.fails(1, "not_respawnable", "respawn", &[]);
    assert!(refused.contains("alive"), "{refused}");
    // When it dies at last, the monitor sees that, and clears away what it has left.
    kill(agent);
    world.ok(&["monitor", "--once"]);
    assert_eq!(task.events_of("agent.crashed").len(), 1);
    assert!(!is_alive(child));
}

#[test]
fn one_that_outlived_its_wrapper_ends_with_its_session() {
    let world = World::new();
    harness(&world, "trap '' HUP TERM; echo $$ >\"$NOTES/agent\"; while :; do sleep 1; done");
    let task = wild(&world, "fix", "Mend it");
    let agent = noted(&world, "agent");
    task.reaches("working");
    world.until("its wrapper has noted who it is", || task.folder().join("agents/1.json").exists());
    kill(world.wrapper("toy/fix"));
    world.until("its pane is gone", || world.panes().is_empty());
    task.ok("cancel", &["--yes"]);
    assert!(!is_alive(agent));
}

#[test]
fn a_dead_agent_in_a_living_session_is_dead() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    let agent = task.agent(1).begun();
    task.reaches("working");
    world.tmux(&["set-option", "-w", "-t", "=toy/fix:", "remain-on-exit", "on"]);
    kill(world.wrapper("toy/fix"));
    world.until("the agent is gone, too", || !is_alive(agent));
    // Its pane is still there, and now somebody has a shell in it.
    world.tmux(&["respawn-pane", "-k", "-t", "=toy/fix:", "sleep", "1000000"]);
    assert_eq!(world.panes(), ["toy/fix worker"]);
    assert_eq!(task.show()["session"], "crashed");
    world.ok(&["monitor", "--once"]);
    assert_eq!(task.events_of("agent.crashed").len(), 1);
}

#[test]
fn after_the_servers_death_finished_work_goes_on_exactly_once() {
    let world = World::new();
    let tasks = ["one", "two"].map(|branch| world.create(branch, "Mend it [agents: hang hang]", &[]));
    for task in &tasks {
        task.agent(1).begun();
        task.reaches("working");
        task.write("## Handoff\n\nDONE: all of it");
    }
    let server = world.tmux(&["display-message", "-p", "-t", "=toy/one:", "#{pid}"]);
    kill(text(&server.stdout).trim().parse().unwrap());
    tasks.iter().for_each(Task::is_left);
    let looks = || {
        let mut command = world.command(binary());
        command.args(["monitor", "--once", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    for look in [looks(), looks(), looks()] {
        let said = crate::said::ProgramOutput::from(look.wait_with_output().unwrap()).ok();
        assert_eq!(said["errors"], json!([]), "{said}");
    }
    for task in &tasks {
        task.agent(2).begun();
        task.reaches("agent-review");
        let counts =
            ["auto.advanced", "agent.spawned", "agent.crashed"].map(|kind| task.events_of(kind).len());
        assert_eq!(counts, [1, 2, 0]);
        assert_eq!(task.show()["session"], "active");
    }
}

#[test]
fn a_reviewer_that_was_alone_takes_the_session_with_it() {
    let world = World::new();
    world.git(&world.repo(), &["branch", "fix"]);
    let more = ["--status", "agent-review", "--workflow", "persistent"];
    let task = world.create("fix", "Look at it [agents: pass]", &more);
    task.reaches("reviewing");
    let show = task.show();
    assert_eq!((&show["tmux_session"], &show["session"]), (&json!(null), &json!("inactive")));
    assert_eq!(world.panes(), [] as [&str; 0]);
}

#[test]
fn prompts_arrive_byte_for_byte_whatever_they_say() {
    let world = World::new();
    harness(
        &world,
        "printf '%s' \"$1\" >\"$NOTES/$ORANGE_TASK.new\" && mv \"$NOTES/$ORANGE_TASK.new\" \"$NOTES/$ORANGE_TASK\"; exec sleep 1000000",
    );
    let hostile =
        "-x; #(touch planted) $(touch planted) `touch planted` \u{1b}[201~ \"'\\ {branch} naïve 漢字 🍊;";
    for (branch, summary) in [
        ("a", hostile.to_owned()),
        ("b", "x".repeat(100_000)),
        ("c", format!("{}{hostile}", "x\t".repeat(500_000))),
    ] {
        let task = world.create(branch, "later", &["--harness", "wild", "--no-spawn"]);
        let file = fs::read_to_string(task.file()).unwrap();
        // JSON strings are YAML strings: no argument could have this one.
        let line = format!("summary: {}", serde_json::to_string(&summary).unwrap());
        fs::write(task.file(), file.replace("summary: later", &line)).unwrap();
        task.ok("spawn", &[]);
        let got = world.path("notes").join(&task.id);
        world.until("the prompt is there", || got.exists());
        let got = fs::read_to_string(got).unwrap();
        let kept = task.folder().join("prompts/1.md");
        let prompt = fs::read_to_string(&kept).unwrap();
        assert!(prompt.starts_with(&format!("# Task: {summary}\n")));
        if prompt.len() < 128 * 1024 {
            assert!(got == prompt, "{} of {} bytes", got.len(), prompt.len());
        } else {
            assert_eq!(
                got,
                format!("Read the file {} and do what it says: it is your prompt.", kept.display())
            );
        }
        task.ok("cancel", &["--yes"]);
    }
    let planted = world.command("find").args([".", "-name", "planted"]).output().unwrap();
    assert_eq!(text(&planted.stdout), "");
}

#[test]
fn a_message_reaches_an_agent_that_is_slow_to_listen() {
    let world = World::new();
    harness(
        &world,
        "mkdir \"$NOTES/begun\"; while [ ! -e \"$NOTES/go\" ]; do sleep 0.1; done
         stty raw -echo; printf '\\033[?2004h'; exec cat >\"$NOTES/heard\"",
    );
    let more = ["--workflow", "persistent", "--harness", "wild", "--review-harness", "claude"];
    let task = world.create("fix", "Mend it [agents: hang hang]", &more);
    world.until("the worker has begun", || world.path("notes/begun").exists());
    task.write("## Plan\n\nAPPROACH: the simplest one");
    task.ok("update", &["--status", "working"]);
    task.write("## Handoff\n\nDONE: all of it");
    task.ok("update", &["--status", "agent-review"]);
    task.agent(2).begun();
    task.write("## Review\n\nVerdict: FAIL");
    let before = task.events_of("transition.started").len();
    let mut command = world.command(binary());
    command.args(["--json", "task", "update", &task.id, "--status", "working"]).stdout(Stdio::piped());
    let asking = command.spawn().unwrap();
    world.until("it is under way", || task.events_of("transition.started").len() > before);
    fs::write(world.path("notes/go"), "").unwrap();
    let answer = crate::said::ProgramOutput::from(asking.wait_with_output().unwrap()).ok();
    assert_eq!(answer["hook_errors"], json!([]));
    let heard = || fs::read(world.path("notes/heard")).unwrap_or_default();
    world.until("the message is there", || text(&heard()).contains("## Review"));
}

#[test]
fn names_that_tmux_would_expand_stay_apart_and_never_run() {
    let world = World::new();
    world.ok(&["project", "update", "toy", "--pool-size", "4"]);
    let branches = ["v1.2", "v1-2", "12", "x#(touch${IFS}planted)#{pane_id}"];
    let tasks = branches.map(|branch| world.create(branch, "Mend it [agents: hang]", &[]));
    let agents = tasks.each_ref().map(|task| task.agent(1).begun());
    assert_eq!(world.panes().len(), 4);
    for (at, task) in tasks.iter().enumerate() {
        task.ok("cancel", &["--yes"]);
        let alive: Vec<bool> = agents.iter().map(|pid| is_alive(*pid)).collect();
        assert_eq!(alive, (0..4).map(|other| other > at).collect::<Vec<_>>());
    }
    let planted = world.command("find").args([".", "-name", "planted"]).output().unwrap();
    assert_eq!(text(&planted.stdout), "");
}

#[test]
fn an_old_tmux_is_reported_and_an_open_pipe_blocks_nothing() {
    let world = World::new();
    let mut command = world.command(binary());
    command.args(["--json", "task", "create", "fix", "Mend it [agents: hang]"]).current_dir(world.repo());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let open = child.stdin.take();
    crate::said::ProgramOutput::from(child.wait_with_output().unwrap()).ok();
    drop(open);

    let old = world.path("agents/tmux");
    write_program(&old, "#!/bin/sh\necho tmux 2.9\n");
    let refused = world.fails(5, "environment", &["task", "create", "other", "Mend it"]);
    assert!(refused.contains("tmux 2.9 is too old"), "{refused}");
    fs::remove_file(old).unwrap();
    assert_eq!(world.ok(&["task", "list"]).as_array().unwrap().len(), 1);
}

const GREET: &str = "\
name: greet
states:
  pending: {}
  working: {respawn_prompt: worker}
  reviewing: {}
  cancelled: {terminal: true}
transitions:
  - from: pending
    to: working
    hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]
  - from: working
    to: reviewing
    hooks: [{action: run_command, argv: [sh, -c, 'echo ${GREETING-none} ${OTHER-none} ${ORANGE_OVERRIDES-none}']}]
  - {from: [pending, working, reviewing], to: cancelled, hooks: [{action: kill_session}, {action: release_workspace}]}
prompts: {worker: '{summary}'}
";

#[test]
fn a_harness_sets_variables_and_orange_drops_overrides() {
    let world = World::new();
    world.workflow("greet.yml", GREET);
    // Its commands see other variables than it was given, as those of a program that shields its agent's git.
    harness(
        &world,
        "echo \"$GREETING\" > \"$NOTES/given\"\n\
         GREETING=hi OTHER=ho orange task update --status reviewing\nexec sleep 1000",
    );
    let file = world.home().join("harnesses.toml");
    let table = fs::read_to_string(&file).unwrap();
    fs::write(&file, table + "set = ['GREETING=from {worktree}']\noverrides = ['GREETING']\n").unwrap();
    let task = world.create("fix", "Mend it", &["--harness", "wild", "--workflow", "greet"]);
    task.reaches("reviewing");
    let given = fs::read_to_string(world.path("notes/given")).unwrap();
    assert_eq!(given, format!("from {}\n", task.worktree().display()));
    assert_eq!(task.events_of("command.ended")[0]["output"], json!("none ho none"));
}

#[test]
fn a_missing_or_unknown_harness_is_refused_at_first() {
    let world = World::new();
    let refused = world.fails(3, "not_found", &["task", "create", "fix", "x", "--harness", "cluade"]);
    assert!(refused.contains("did you mean `claude`?"), "{refused}");
    fs::write(world.home().join("harnesses.toml"), "[wild]\nbinary = 'nowhere'\nfull = ['{prompt}']\n")
        .unwrap();
    let refused = world.fails(6, "corrupt", &["task", "create", "fix", "x"]);
    assert!(refused.contains("harnesses.toml:1: a new harness says its `reduced`"), "{refused}");
    harness(&world, "");
    fs::remove_file(world.path("wild")).unwrap();
    let refused = world.fails(5, "environment", &["task", "create", "fix", "x", "--harness", "wild"]);
    assert!(refused.contains("not installed"), "{refused}");
    assert_eq!(world.ok(&["task", "list", "--all"]), json!([]));
}
