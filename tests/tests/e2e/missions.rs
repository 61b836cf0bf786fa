//! Missions on real tmux and git: what their steps run, what stops them, and what they leave.

use std::fs;

use serde_json::{Value, json};

use crate::task::{Task, end, is_alive, kill};
use crate::world::World;

/// A step workflow with a loop, a handler and a timeout that nobody meets.
pub(crate) const TOY: &str = "\
[workflow]
name = \"toy\"
roles = [\"worker\", \"reviewer\"]

[[steps]]
id = \"build\"
role = \"worker\"
prompt = \"Build it: {{mission_prompt}}\"
timeout = 86400

[[steps]]
id = \"check\"
role = \"reviewer\"
prompt = \"Check it. {{context}}\"
depends_on = [\"build\"]
results = [\"PASS\", \"FAIL\"]

[[steps]]
id = \"mend\"
role = \"worker\"
prompt = \"Mend it. {{context}}\"
depends_on = [\"check\"]
condition = \"check.result == 'FAIL'\"
max_retries = 2

[[steps]]
id = \"ship\"
role = \"worker\"
prompt = \"Ship it. {{context}}\"
depends_on = [\"check\"]
condition = \"check.result == 'PASS'\"
on_fail = \"rescue\"

[[steps]]
id = \"rescue\"
role = \"worker\"
prompt = \"Rescue it. {{context}}\"
";

pub(crate) fn world() -> World {
    let world = World::new();
    world.workflow("toy.toml", TOY);
    world
}

/// The steps of a mission with their statuses, as `build completed 1`: the last is the number of attempts.
fn steps(mission: &Task<'_>) -> Vec<String> {
    let shown = mission.show();
    let attempts = |step: &Value| step["attempts"].as_array().unwrap().len();
    let line = |step: &Value| {
        format!("{} {} {}", step["id"].as_str().unwrap(), step["status"].as_str().unwrap(), attempts(step))
    };
    shown["steps"].as_array().unwrap().iter().map(line).collect()
}

/// Waits until the mission has ended so and has left nothing to do.
#[track_caller]
pub(crate) fn ends(mission: &Task<'_>, status: &str) {
    mission.has_events(1, "mission.ended");
    assert_eq!(mission.status(), status);
    mission.is_left();
}

/// A step of a mission, as `mission show` has it.
pub(crate) fn step(mission: &Task<'_>, id: &str) -> Value {
    let shown = mission.show();
    shown["steps"].as_array().unwrap().iter().find(|it| it["id"] == id).unwrap().clone()
}

/// Waits until the mission asks at the pause of this number.
#[track_caller]
pub(crate) fn pauses(world: &World, mission: &Task<'_>, number: usize) -> Value {
    mission.has_events(number, "mission.paused");
    mission.is_left();
    let shown = mission.show();
    assert_eq!((&shown["status"], &shown["pause"]["number"]), (&json!("paused"), &json!(number)), "{shown}");
    assert_eq!(world.panes(), Vec::<String>::new(), "nothing runs while a mission is paused");
    shown["pause"].clone()
}

#[test]
fn a_review_that_fails_is_mended_and_repeated() {
    let world = world();
    world.acts("check.1", "complete FAIL 'It is slow'");
    let mission = world.start("toy", &["--branch", "fast"]);
    ends(&mission, "completed");
    assert_eq!(
        steps(&mission),
        [
            "build completed 1",
            "check completed 2",
            "mend completed 1",
            "ship completed 1",
            "rescue skipped 0"
        ]
    );
    assert_eq!(mission.owned("workspace"), json!(null));
    assert_eq!(world.git(&world.repo(), &["log", "--format=%s", "main..fast"]).lines().count(), 4);
    assert_eq!(mission.agent(1).prompt(), "Build it: Make it faster");
    assert_eq!(mission.agent(3).prompt(), "Mend it. ## check\nIt is slow\n");

    let shown = mission.show();
    let last = &shown["last_step_result"];
    assert_eq!(
        (&last["step"], &last["status"], &last["job_id"]),
        (&json!("ship"), &json!("completed"), &json!(format!("{}.5", mission.id)))
    );
    assert!(last["duration_ms"].is_u64() && last["worker_id"].is_string(), "{last}");
    let check = &shown["steps"][1];
    assert_eq!((&check["result"], &check["attempts"][0]["result"]), (&json!("PASS"), &json!("FAIL")));
    assert_eq!(world.ok(&["mission", "list"]), json!([]));
    assert_eq!(world.ok(&["mission", "list", "--all"])[0]["status"], "completed");
    assert_eq!(world.ok(&["task", "list", "--all"]), json!([]));
}

#[test]
fn an_exhausted_loop_fails_loudly_and_keeps_its_worktree() {
    let world = world();
    world.acts("check", "complete FAIL 'It is slow'");
    let mission = world.start("toy", &["--intervene", "never"]);
    ends(&mission, "failed");
    let shown = mission.show();
    assert_eq!(shown["steps"][2]["loops"], json!({ "completions": 2, "max": 2, "is_exhausted": true }));
    assert!(
        shown["steps"][2]["failure"].as_str().unwrap().contains("the loop of mend is exhausted"),
        "{shown}"
    );
    assert!(shown["worktree"].is_string());
    assert!(mission.fails(1, "refused", "continue", &[]).contains("orange mission retry"));
    let shown = world.orange(&["mission", "show", &mission.id]).out;
    assert!(shown.contains(&format!("\n  orange mission retry {}\n", mission.name())), "{shown}");

    // A person makes it pass and grants one more round.
    world.acts("check", "complete PASS 'It is fast'");
    mission.ok("retry", &[]);
    mission.has_events(2, "mission.ended");
    mission.is_left();
    assert_eq!((mission.status(), mission.owned("workspace")), ("completed".to_owned(), json!(null)));
    assert!(mission.fails(1, "refused", "retry", &[]).contains("only a failed one is tried again"));
}

#[test]
fn in_step_mode_a_person_says_go_on_after_every_step() {
    let world = world();
    let mission = world.start("toy", &["--execution", "step"]);
    let pause = pauses(&world, &mission, 1);
    assert_eq!((&pause["reason"], &pause["step"]), (&json!("boundary"), &json!("build")));
    assert_eq!(mission.show()["current_step_index"], 1, "the step that runs next");
    let shown = mission.show();
    let branch = shown["branch"].as_str().unwrap();
    let offers =
        [format!("orange mission continue {branch} --pause 1"), format!("orange mission cancel {branch}")];
    assert_eq!(pause["offers"], json!(offers));
    assert!(mission.fails(1, "refused", "continue", &["--accept-failure"]).contains("not about a failure"));
    let done = mission.ok("continue", &["--pause", "1"]);
    assert_eq!(done["done"], "pause 1 is answered: it goes on");

    pauses(&world, &mission, 2);
    assert!(mission.fails(1, "refused", "continue", &["--pause", "1"]).contains("at pause 2"));
    mission.ok("continue", &["--execution", "auto"]);
    ends(&mission, "completed");
    assert_eq!(mission.show()["policy"], json!({ "execution": "auto", "intervene": "on-error" }));
    assert!(mission.fails(1, "refused", "continue", &[]).contains("closed"));
}

#[test]
fn after_an_error_a_person_retries_or_accepts() {
    let world = world();
    world
        .acts("ship", "orange step fail --reason 'no network' >>\"$notes.answers\" 2>&1; exec sleep 1000000");
    let mission = world.start("toy", &[]);
    let pause = pauses(&world, &mission, 1);
    assert_eq!((&pause["reason"], &pause["what"]), (&json!("error"), &json!("ship failed: no network")));
    assert_eq!(steps(&mission)[4], "rescue blocked 0", "no handler starts before the answer");
    assert_eq!(mission.ok("continue", &[])["done"], "pause 1 is answered: step ship is tried again");
    pauses(&world, &mission, 2);
    let taken = mission.ok("continue", &["--accept-failure"]);
    assert_eq!(taken["done"], "pause 2 is answered: the failure of ship is taken as it is");
    ends(&mission, "completed");
    assert_eq!(steps(&mission)[3..], ["ship failed 2", "rescue completed 1"]);
    assert_eq!(mission.agent(5).prompt(), "Rescue it. ship failed: no network");
}

#[test]
fn an_agent_without_a_word_is_tried_again() {
    let world = world();
    world.acts("build", "exit 0");
    let mission = world.start("toy", &[]);
    let pause = pauses(&world, &mission, 1);
    assert_eq!(pause["what"], "build failed: its agent ended without a word 2 times in a row");
    assert_eq!(steps(&mission)[0], "build failed 2");
    let ends: Vec<_> = mission.events_of("step.ended").iter().map(|event| event["end"].clone()).collect();
    assert_eq!(ends, ["lost", "lost"]);
}

#[test]
fn a_report_counts_once_and_only_for_its_own_attempt() {
    let world = world();
    world.acts("check", "echo 'I look at it'; exec sleep 1000000");
    let mission = world.start("toy", &[]);
    mission.has_events(2, "step.started");
    mission.agent(2).begun();
    let logs = || world.orange(&["mission", "logs", &mission.id, "check"]).out;
    world.until("its screen is shown", || logs().contains("I look at it"));
    assert!(logs().starts_with("agent 2 (step check, reviewer, "), "{}", logs());
    let logs = mission.ok("logs", &["check"]);
    assert_eq!((&logs["step"], &logs["role"]), (&json!("check"), &json!("reviewer")));
    let asks = |spawn: &str, step: &str, attempt: &str, words: &[&str]| {
        let mut command = mission.as_agent("worker", spawn);
        command.env("ORANGE_MISSION", &mission.id).env("ORANGE_STEP", step).env("ORANGE_ATTEMPT", attempt);
        world.said(command.args(["step"]).args(words).current_dir(mission.worktree()))
    };
    // The agent of `build` is over: the same report again is answered as then, another one is refused.
    let same = asks("1", "build", "1", &["complete", "--result", "PASS", "--summary", "build is done"]);
    assert_eq!(same.ok()["repeated"], true);
    let other = asks("1", "build", "1", &["complete", "--summary", "Something else"]);
    assert!(other.fails(1, "refused").contains("has ended, with another report"));

    let wrong = asks("2", "ship", "1", &["complete", "--result", "PASS", "--summary", "x"]);
    assert!(wrong.fails(1, "not_allowed").contains("works at step check, attempt 1"));
    assert!(
        asks("2", "check", "1", &["complete", "--summary", "x"]).fails(2, "usage").contains("PASS, FAIL")
    );
    let none = asks("2", "check", "1", &["complete", "--result", "MAYBE", "--summary", "x"]);
    assert!(none.fails(2, "usage").contains("declares no such result"));
    assert!(
        asks("2", "check", "1", &["complete", "--result", "PASS", "--summary", " "])
            .fails(2, "usage")
            .contains("empty")
    );
    assert_eq!(asks("2", "check", "1", &["show"]).ok()["results"], json!(["PASS", "FAIL"]));
    assert_eq!(mission.events_of("step.ended").len(), 1, "a refused report changes nothing");

    let person = world.orange_in(&mission.worktree(), &["--json", "step", "complete", "--summary", "x"]);
    assert!(person.fails(1, "not_allowed").contains("only the agent of a step"));
    mission.ok("cancel", &["--yes"]);
    mission.is_left();
}

#[test]
fn a_summary_may_be_anything_and_long() {
    let world = world();
    let line = "`$(touch /tmp/x)` {{branch}} \u{1b}[31m --- \"q\" 'q' \\ \u{fffd} ü\n";
    let long = line.repeat(1024 * 1024 / line.len());
    let file = world.path("summary.md");
    fs::write(&file, &long).unwrap();
    world.acts("build", &format!("complete() {{ :; }}; orange step complete --summary - <{} >>\"$notes.answers\" 2>&1; exec sleep 1000000", file.display()));
    world.acts("check", "complete PASS good");
    let mission = world.start("toy", &[]);
    ends(&mission, "completed");
    assert_eq!(mission.show()["steps"][0]["summary"], json!(long.trim_end()));
    let prompt = fs::read_to_string(mission.folder().join("prompts/2.md")).unwrap();
    assert!(prompt.contains(long.trim_end()));
}

#[test]
fn a_warning_pauses_where_the_policy_says_so() {
    let world = world();
    let warned = "orange step complete --summary 'Done' --warning 'The tests are slow' >>\"$notes.answers\" 2>&1; exec sleep 1000000";
    world.acts("build", warned);
    let mission = world.start("toy", &["--intervene", "on-warning"]);
    let pause = pauses(&world, &mission, 1);
    assert_eq!(
        (&pause["reason"], &pause["what"]),
        (&json!("warning"), &json!("step build has completed with a warning: The tests are slow"))
    );
    mission.ok("continue", &[]);
    ends(&mission, "completed");
    let other = world.start("toy", &[]);
    ends(&other, "completed");
    assert_eq!(other.events_of("mission.paused").len(), 0);
}

#[test]
fn a_cancelled_mission_gives_its_worktree_back() {
    let world = world();
    world.acts("build", "echo unsaved >unsaved.txt; exec sleep 1000000");
    let mission = world.start("toy", &["--branch", "fast"]);
    let agent = mission.agent(1).begun();
    let worktree = mission.worktree();
    world.until("its work is there", || worktree.join("unsaved.txt").exists());
    assert!(mission.fails(2, "usage", "cancel", &[]).contains("repeat it with --yes"));
    assert!(is_alive(agent));
    let cancelled = mission.ok("cancel", &["--yes"]);
    let backup = format!("refs/orange/backup/{}/1", mission.id);
    assert_eq!((&cancelled["status"], &cancelled["backed_up"]), (&json!("cancelled"), &json!([backup])));
    assert!(!is_alive(agent));
    mission.is_left();
    assert_eq!((mission.owned("workspace"), world.panes()), (json!(null), vec![]));
    assert!(world.kept_texts().contains("unsaved"), "what was not committed is under a backup");
    let shown = world.orange(&["mission", "show", &mission.id]).out;
    let command = shown.lines().find_map(|line| line.strip_prefix("backup     `")).unwrap();
    let made = world.command("sh").args(["-c", command.trim_end_matches('`')]).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    assert_eq!(world.git(&world.repo(), &["show", "fast-backup-1:unsaved.txt"]), "unsaved");
    assert!(mission.fails(1, "refused", "cancel", &["--yes"]).contains("closed"));
    assert_eq!(steps(&mission)[0], "build cancelled 1");
}

#[test]
fn missions_and_tasks_share_a_pool_and_wait_for_each_other() {
    let world = world();
    world.acts("build", "until [ -e \"$ORANGE_HOME/go\" ]; do sleep 0.05; done; complete PASS built");
    let first = world.start("toy", &[]);
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    first.agent(1).begun();
    task.agent(1).begun();
    assert_ne!(first.owned("workspace"), task.owned("workspace"));
    let second = world.start("toy", &[]);
    assert_eq!((second.status(), second.owned("workspace")), ("pending".to_owned(), json!(null)));
    task.ok("cancel", &["--yes"]);
    second.agent(1).begun();
    let third = world.start("toy", &[]);
    assert_eq!(third.status(), "pending");
    assert!(third.fails(3, "not_found", "logs", &[]).contains("orange mission show"));
    second.ok("cancel", &["--yes"]);
    third.agent(1).begun();
    fs::write(world.home().join("go"), "").unwrap();
    ends(&first, "completed");
    ends(&third, "completed");
}

#[test]
fn two_missions_wait_and_begin_when_two_worktrees_are_free() {
    let world = world();
    world.acts("build", "until [ -e \"$ORANGE_HOME/go\" ]; do sleep 0.05; done; complete PASS built");
    let missions = [1, 2, 3, 4].map(|_| world.start("toy", &[]));
    assert_eq!(missions[2..].iter().map(Task::status).collect::<Vec<_>>(), ["pending", "pending"]);
    fs::write(world.home().join("go"), "").unwrap();
    for mission in missions {
        ends(&mission, "completed");
    }
}

#[test]
fn a_useless_mission_is_refused_before_it_is_made() {
    let world = world();
    let fails = |status: i32, code: &str, words: &[&str]| {
        world.fails(status, code, &[&["mission", "start"], words].concat())
    };
    assert!(fails(3, "not_found", &["toyy", "x"]).contains("did you mean `toy`"));
    assert!(fails(1, "refused", &["default", "x"]).contains("missions follow steps"));
    assert!(fails(1, "refused", &["default", "x"]).contains("toy"), "workflows of the home are named, too");
    assert!(world.fails(2, "usage", &["step", "complete", "--summary", "x"]).contains("an agent reports"));
    assert!(fails(2, "usage", &["toy"]).contains("the prompt is missing"));
    assert!(fails(2, "usage", &["toy", " "]).contains("the prompt is missing"));
    assert!(fails(2, "usage", &["toy", "x", "--intervene", "sometimes"]).contains("on-warning"));
    assert!(fails(3, "not_found", &["toy", "x", "--harness", "nobody"]).contains("nobody"));
    assert!(fails(1, "refused", &["toy", "x", "--branch", "main"]).contains("a mission has one of its own"));
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    assert!(fails(1, "refused", &["toy", "x", "--branch", "fix"]).contains(&task.id));
    assert_eq!(world.ok(&["mission", "list", "--all"]), json!([]));
}

#[test]
fn a_mission_keeps_the_plan_that_it_was_started_with() {
    let world = world();
    world.acts("build", "until [ -e \"$ORANGE_HOME/go\" ]; do sleep 0.05; done; complete PASS built");
    let mission = world.start("toy", &[]);
    mission.agent(1).begun();
    world.workflow("toy.toml", &TOY.replace("Check it.", "Something else entirely."));
    fs::write(world.home().join("go"), "").unwrap();
    ends(&mission, "completed");
    assert!(mission.agent(2).prompt().starts_with("Check it."));
}

#[test]
fn a_damaged_plan_pauses_the_mission_until_it_is_restored() {
    let world = world();
    world.acts("build", "until [ -e \"$ORANGE_HOME/go\" ]; do sleep 0.05; done
         until orange step complete --result PASS --summary built >>\"$notes.answers\" 2>&1; do sleep 0.05; done
         exec sleep 1000000");
    let mission = world.start("toy", &["--branch", "fast", "--intervene", "never"]);
    mission.agent(1).begun();
    let plan = mission.folder().join("plan.json");
    let whole = fs::read(&plan).unwrap();
    fs::write(&plan, b"{}").unwrap();
    fs::write(world.home().join("go"), "").unwrap();
    mission.has_events(1, "mission.paused");
    assert_eq!(
        (mission.status(), &mission.events_of("mission.paused")[0]["reason"]),
        ("paused".to_owned(), &json!("obstacle"))
    );
    assert!(mission.fails(6, "corrupt", "show", &[]).contains("plan.json"));
    let listed = &world.ok(&["mission", "list"])[0];
    assert_eq!((&listed["branch"], &listed["error"]["code"]), (&json!("fast"), &json!("corrupt")));
    assert_eq!(world.ok(&["mission", "list"])[0]["error"]["code"], "corrupt");
    fs::write(&plan, whole).unwrap();
    mission.ok("continue", &[]);
    ends(&mission, "completed");
}

#[test]
fn the_monitor_takes_note_of_an_agent_that_is_gone() {
    let world = world();
    world.acts("build.1", "exec sleep 1000000");
    let mission = world.start("toy", &[]);
    let agent = mission.agent(1).begun();
    let pane = world.panes();
    let (session, _) = pane[0].split_once(' ').unwrap();
    kill(world.wrapper(session));
    end(agent);
    world.tmux(&["kill-server"]);
    world.until("its agent is gone", || mission.show()["session"] == "crashed");
    let gone = "agent 1 is gone, unnoticed: `orange monitor --once` looks after it";
    assert_eq!(mission.show()["unnoticed"], gone);
    assert!(world.orange(&["mission", "show", &mission.id]).out.contains(gone));
    for verb in ["attach", "continue"] {
        let refused = mission.fails(1, "refused", verb, &[]);
        assert!(refused.contains(gone), "{verb}: {refused}");
    }
    world.ok(&["monitor", "--once"]);
    ends(&mission, "completed");
    assert_eq!(steps(&mission)[0], "build completed 2");
    assert_eq!(mission.events_of("step.ended")[0]["end"], "lost");
}

#[test]
fn the_agent_that_starts_a_mission_hears_of_its_steps() {
    let world = world();
    let task = world.create("fix", "Mend it [agents: scripted]", &[]);
    task.agent(1).begun();
    let mut command = task.as_agent("worker", "1");
    command.args(["mission", "start", "toy", "Make it faster"]).current_dir(task.worktree());
    let answer = world.said(&mut command).ok();
    let mission = Task::mission(&world, answer["id"].as_str().unwrap());
    ends(&mission, "completed");
    let is_over = |events: &[Value]| {
        events.iter().any(|event| event["text"].as_str().unwrap().contains("It is completed"))
    };
    world.until("the last message is journaled", || is_over(&mission.events_of("mission.notice")));
    for notice in mission.events_of("mission.notice") {
        assert_eq!((&notice["to"], &notice["undelivered"]), (&json!(task.id), &json!(null)), "{notice}");
        let text = notice["text"].as_str().unwrap();
        let show = format!("`orange mission show {}` shows everything", mission.name());
        assert!(text.contains(&show) && text.contains("`orange dashboard`"), "{text}");
    }
    let (branch, short) = (mission.name(), &mission.id[..8]);
    assert_eq!(branch, format!("orange/make-it-faster-{short}"));
}

/// The checks of the doctor that are not content, with their remedies.
fn complaints(world: &World) -> Vec<(String, String)> {
    let answer = world.json(&["doctor"]).json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let bad = answer["findings"].as_array().unwrap().iter().filter(|finding| finding["level"] != "ok");
    let bad = bad.map(|finding| (text(&finding["check"]), text(&finding["remedy"])));
    bad.filter(|(check, _)| !["gh", "glab", "disk", "path"].contains(&check.as_str())).collect()
}

#[test]
fn the_doctor_and_gc_leave_a_paused_mission_alone() {
    let world = world();
    world.ok(&["install", "--harness", "claude"]);
    let mission = world.start("toy", &["--execution", "step"]);
    pauses(&world, &mission, 1);
    let idea = mission.worktree().join("idea.txt");
    fs::write(&idea, "half an idea\n").unwrap();
    fs::remove_file(world.home().join("workspaces/.pool.json")).unwrap();
    assert_eq!(complaints(&world), []);
    assert_eq!(world.ok(&["workspace", "gc"]), json!([]));
    assert_eq!(world.ok(&["gc", "--older-than", "0"]), json!([]));
    assert_eq!(world.ok(&["workspace", "list", "--all"])[0]["task"], json!(mission.id));
    world.fails(1, "refused", &["project", "remove", "toy"]);
    assert!(idea.exists());

    fs::remove_dir_all(mission.worktree()).unwrap();
    let [(check, remedy)] = &complaints(&world)[..] else { panic!("{:?}", complaints(&world)) };
    assert_eq!(check, "worktrees");
    assert!(remedy.contains(&format!("`orange mission continue {}`", mission.id)), "{remedy}");
    mission.ok("continue", &["--execution", "auto"]);
    ends(&mission, "completed");
    world.until("its worktree is given back", || mission.owned("workspace").is_null());
    assert_eq!(complaints(&world), []);
}

#[test]
fn a_worktree_on_another_branch_pauses_the_mission() {
    let world = world();
    world.acts("build", "git switch --quiet --create elsewhere; complete PASS built");
    fs::write(world.repo().join("draft.txt"), "not committed\n").unwrap();
    let answer =
        world.ok(&["mission", "start", "toy", "Make it faster", "--branch", "fast", "--intervene", "never"]);
    assert!(answer["done"].as_str().unwrap().contains("1 uncommitted changes in"), "{answer}");
    let mission = Task::mission(&world, answer["id"].as_str().unwrap());
    let pause = pauses(&world, &mission, 1);
    assert_eq!(pause["reason"], "obstacle");
    let what = pause["what"].as_str().unwrap();
    assert!(what.contains("the worktree is on elsewhere, and the mission's branch is fast"), "{what}");
    world.git(&mission.worktree(), &["switch", "--quiet", "fast"]);
    mission.ok("continue", &[]);
    ends(&mission, "completed");
}

#[test]
fn a_mission_whose_branch_is_gone_pauses_until_it_is_back() {
    let world = world();
    let mission = world.start("toy", &["--branch", "fast", "--execution", "step"]);
    pauses(&world, &mission, 1);
    let commit = world.git(&world.repo(), &["rev-parse", "fast"]);
    for (number, worktree_is_there) in [(2, true), (3, false)] {
        world.git(&world.repo(), &["update-ref", "-d", "refs/heads/fast"]);
        if !worktree_is_there {
            fs::remove_dir_all(mission.worktree()).unwrap();
        }
        mission.ok("continue", &[]);
        let pause = pauses(&world, &mission, number);
        assert_eq!(pause["reason"], "obstacle");
        let what = pause["what"].as_str().unwrap();
        let continues = "orange mission continue fast";
        assert!(what.contains("branch fast is gone") && what.contains(continues), "{what}");
        assert_eq!(mission.events_of("step.started").len(), 1, "no agent begins from nothing");
        world.git(&world.repo(), &["branch", "fast", &commit]);
    }
    mission.ok("continue", &["--execution", "auto"]);
    ends(&mission, "completed");
}

#[test]
fn an_agent_answers_for_the_mission_that_it_has_started() {
    let world = world();
    world.acts("build", "exec sleep 1000000");
    let task = world.create("fix", "Mend it [agents: scripted]", &[]);
    task.agent(1).begun();
    let asks = |of: &Task<'_>, folder: &std::path::Path, words: &[&str]| {
        let mut command = of.as_agent("worker", "1");
        world.said(command.arg("mission").args(words).current_dir(folder))
    };
    let started =
        asks(&task, &task.worktree(), &["start", "toy", "Make it faster", "--execution", "step"]).ok();
    let mission = Task::mission(&world, started["id"].as_str().unwrap());
    mission.agent(1).begun();
    let own = asks(&mission, &mission.worktree(), &["cancel", "--yes"]);
    assert!(own.fails(1, "not_allowed").contains("and not decide about it"));
    let mut report = mission.as_agent("worker", "1");
    report.args(["step", "complete", "--summary", "built"]).current_dir(mission.worktree());
    world.said(&mut report).ok();
    mission.has_events(1, "mission.paused");
    let answered = asks(&task, &task.worktree(), &["continue", &mission.id, "--pause", "1"]).ok();
    assert_eq!(answered["done"], "pause 1 is answered: it goes on");
    asks(&task, &task.worktree(), &["cancel", &mission.id, "--yes"]).ok();
}
