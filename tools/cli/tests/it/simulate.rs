//! `simulate`: scripts, traces, and what cannot happen.

use crate::scratch::Scratch;

const SEED: &str = include_str!("../../../../tests/fixtures/seed-default.yml");

fn scratch(script: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("default.yml", SEED);
    scratch.write("walk.txt", script);
    scratch
}

#[track_caller]
fn check(script: &str, exit: i32, expect: &[&str]) {
    let run = scratch(script).run(&["simulate", "default.yml", "--script", "walk.txt"]);
    assert_eq!(run.exit, exit, "{}{}", run.out, run.err);
    for line in expect {
        assert!(run.out.lines().any(|it| it.trim() == *line), "{line:?} is not in:\n{}", run.out);
    }
}

#[test]
fn a_script_prints_what_the_engine_would_do() {
    check(
        "# the first handoff\nspawn\nstatus agent-review by worker\nwrite ## Handoff: DONE: all\nstatus agent-review by worker\n\
         write ## Review: no tests\\nVerdict: FAIL\ndie reviewer\nshow",
        0,
        &[
            "pending → working (asked for by the person)",
            "acquire_workspace",
            "refused (gate_failed): `## Handoff` is missing from TASK.md",
            "working → agent-review (asked for by the worker)",
            "agent-review → working (by an exit rule)",
            "review_round = 1, crash_count = 0",
            "| Verdict: FAIL",
        ],
    );
}

#[test]
fn reviewers_that_are_alive_together_are_named() {
    let scratch = Scratch::new();
    scratch.write("panel.yml", include_str!("../../../../tests/fixtures/panel.yml"));
    scratch.write("walk.txt", "spawn\nwrite ## Handoff: DONE: all\nstatus agent-review by worker\nshow");
    let run = scratch.run(&["simulate", "panel.yml", "--script", "walk.txt"]);
    assert_eq!(run.exit, 0, "{}{}", run.out, run.err);
    let expect = "worktree: bound; agents: reviewer security, style alive";
    assert!(run.out.lines().any(|it| it.trim() == expect), "{}", run.out);
}

#[test]
fn crashes_escalate_and_can_be_taken_back() {
    check(
        "spawn\ndie\nrespawn\ndie worker\nback\nnext\nset review_round 7\nshow\nquit\nstatus nowhere",
        0,
        &[
            "crash 1: the agent ended without what working asks for",
            "working → stuck (escalation: it crashed too often)",
            "worktree: bound; agents: worker alive",
            "stuck: open",
            "review_round = 7, crash_count = 1",
        ],
    );
}

#[test]
fn an_impossible_step_is_printed_and_fails_the_command() {
    check("status working by worker", 1, &["cannot: no worker is alive to ask for `working`"]);
    check("dance", 1, &["cannot: `dance` is not a command; `help` lists them"]);
    check("respawn", 1, &["cannot: nothing can be respawned in pending: it has no respawn_prompt"]);
    check("back", 1, &["cannot: nothing has happened yet"]);
}

#[test]
fn the_trace_of_a_finding_replays_as_printed() {
    let run = scratch("").run(&["simulate", "default.yml", "--trace", "spawn-while-alive"]);
    assert_eq!(run.exit, 0, "{}{}", run.out, run.err);
    assert!(run.out.contains("spawn_agent: a worker is still alive in the worktree"), "{}", run.out);
}

#[test]
fn bad_input_says_what_to_do() {
    let scratch = scratch("");
    for args in [
        ["simulate", "default.yml", "--trace", "C99"],
        ["simulate", "default.yml", "--trace", "A01"],
        ["simulate", "default.yml", "--script", "missing.txt"],
    ] {
        let run = scratch.run(&args);
        assert_eq!((run.exit, run.out.as_str()), (2, ""), "{args:?}");
        assert!(run.err.contains("help:"), "{}", run.err);
    }
}

const STEPS: &str = include_str!("../../../../tests/fixtures/dev-task.toml");

fn simulate_steps(text: &str, script: &str, more: &[&str]) -> crate::scratch::CommandResult {
    let scratch = Scratch::with(&[("dev-task.toml", text), ("walk.txt", script)]);
    scratch.write_prompts();
    scratch.run(&[&["simulate", "dev-task.toml"], more].concat())
}

#[test]
fn a_mission_is_taken_through_its_steps() {
    let script = "complete plan: two files\ncontext implement\nlose implement\ncomplete implement\ncomplete review FAIL: a bug\n\
                  fail fix: no idea\ncontinue\ncomplete fix\nback\nnext\n";
    let run = simulate_steps(STEPS, script, &["--script", "walk.txt"]);
    assert_eq!((run.exit, run.err.as_str()), (0, ""), "{}", run.out);
    for line in [
        "mission: running\n  plan: running, attempt 1\n  implement: blocked\n",
        "> complete plan: two files\nplan: running → completed\nimplement: blocked → running\n  starts the agent of implement, attempt 1, role worker\n",
        "> context implement\n## plan\ntwo files\n",
        "> lose implement\n  starts the agent of implement, attempt 2, role worker\n",
        "> fail fix: no idea\nfix: running → failed\n  pauses (error, 1) after fix\n",
        "> continue\nfix: failed → running\n  tries fix again\n",
        "> next\ncomplete fix\nfail fix\nlose fix\ncancel\n",
    ] {
        assert!(run.out.contains(line), "{line}\n{}", run.out);
    }
    let refused =
        simulate_steps(STEPS, "complete plan\ncontinue\ncomplete plan: x\n", &["--script", "walk.txt"]);
    let expect = "> continue\nrefused (not_paused): the mission is not paused\n> complete plan: x\nrefused (has_ended): this attempt has ended, with another report\n";
    assert!(refused.exit == 1 && refused.out.ends_with(expect), "{}", refused.out);
    let unknown = simulate_steps(STEPS, "complete pan\n", &["--script", "walk.txt"]);
    assert_eq!(unknown.exit, 1);
    assert!(unknown.out.contains("cannot: there is no step `pan`; did you mean `plan`?"), "{}", unknown.out);
}

/// A workflow of steps that is called `flow`.
fn simulate_flow(steps: &str, script: &str, more: &[&str]) -> String {
    let text = format!("workflow: {{name: flow}}\nsteps:\n{steps}");
    let scratch = Scratch::with(&[("flow.yml", &text), ("walk.txt", script)]);
    let run = scratch.run(&[&["simulate", "flow.yml", "--script", "walk.txt"], more].concat());
    assert_eq!(run.exit, 0, "{}{}", run.out, run.err);
    run.out
}

#[test]
fn each_of_two_failures_waits_for_its_answer() {
    let steps = "  - {id: a, prompt: do}\n  - {id: b, prompt: do, depends_on: [a]}\n  - {id: c, prompt: do, depends_on: [a]}\n  \
                 - {id: d, prompt: do, depends_on: [b]}\n";
    let out = simulate_flow(steps, "complete a\nfail b\nfail c\nnext\ncontinue 2\naccept\n", &[]);
    for lines in [
        "> fail b\nb: running → failed\n  pauses (error, 1) after b\n",
        "> fail c\nc: queued → failed\n  pauses (error, 2) after c\n  2 pauses are open\n",
        "> next\ncontinue 1\naccept 1\ncontinue 2\naccept 2\ncancel\n",
        "> continue 2\nc: failed → queued\n  tries c again\n",
        "> accept\nc: queued → running\nd: blocked → failed\n  takes the failure of b as it is\n",
    ] {
        assert!(out.contains(lines), "{lines}\n{out}");
    }
}

#[test]
fn one_of_two_loops_that_wait_for_each_other_is_skipped() {
    let steps = "  - {id: a, prompt: do, results: [P, F]}
  - {id: s1, prompt: do, depends_on: [a], condition: \"a.result == 'P'\"}
  - {id: s2, prompt: do, depends_on: [a, s1], condition: \"a.result == 'F'\", max_retries: 3, requeue: [a]}
  - {id: s3, prompt: do, depends_on: [a], condition: \"a.result == 'P'\"}
  - {id: s6, prompt: do, depends_on: [s3], condition: \"a.result == 'F'\", max_retries: 2, requeue: [a]}\n";
    let script = "complete a F\nfail s2\ncomplete s6\n";
    let out = simulate_flow(steps, script, &["--intervene", "never"]);
    for lines in [
        "> complete a F\na: running → completed\ns1: blocked → skipped\ns2: blocked → running\n",
        "> fail s2\ns2: running → failed\ns3: blocked → skipped\ns6: blocked → running\n",
        "> complete s6\na: completed → running\ns1: skipped → blocked\n",
    ] {
        assert!(out.contains(lines), "{lines}\n{out}");
    }
}

#[test]
fn every_end_that_is_proved_can_be_walked() {
    let scratch = Scratch::with(&[("dev-task.toml", STEPS)]);
    scratch.write_prompts();
    let proof = scratch.run(&["prove", "dev-task.toml", "--format", "json"]).json();
    for end in proof["figures"]["ends"].as_array().unwrap() {
        let lines: Vec<&str> =
            end["script"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        let run = simulate_steps(STEPS, &lines.join("\n"), &["--script", "walk.txt", "--intervene", "never"]);
        let expect = format!("the mission has ended: {}\n", end["status"].as_str().unwrap());
        assert!(run.exit == 0 && run.out.ends_with(&expect), "{lines:?}\n{}", run.out);
    }
}

#[test]
fn the_run_that_breaks_a_property_can_be_replayed() {
    let text = STEPS.replace("id = \"plan\"", "id = \"plan\"\nresults = [\"GO\", \"STOP\"]").replace(
        "depends_on = [\"implement\"]",
        "depends_on = [\"implement\"]\ncondition = \"plan.result == 'GO'\"",
    );
    let run = simulate_steps(&text, "", &["--trace", "no-silent-success"]);
    assert_eq!((run.exit, run.err.as_str()), (0, ""), "{}", run.out);
    assert!(run.out.ends_with("the mission has ended: completed\n"), "{}", run.out);
    let none = simulate_steps(STEPS, "", &["--trace", "one-writer"]);
    assert!(none.exit == 2 && none.err.contains("no run breaks a property `one-writer`"), "{}", none.err);
}

#[test]
fn the_trace_of_a_finding_about_steps_replays_to_its_end() {
    let run = simulate_steps(STEPS, "", &["--trace", "exhaustion-silent"]);
    assert_eq!((run.exit, run.err.as_str()), (0, ""), "{}", run.out);
    assert!(run.out.ends_with("the mission has ended: failed\n"), "{}", run.out);
    let none = simulate_steps(STEPS, "", &["--trace", "B12"]);
    assert!(
        none.exit == 2 && none.err.contains("no finding of `runs-after-skip` here has a trace"),
        "{}",
        none.err
    );
}

#[test]
fn of_a_long_trace_people_see_both_ends() {
    let scratch =
        Scratch::with(&[("dev-task.toml", &STEPS.replace("max_retries = 3", "max_retries = 1000"))]);
    scratch.write_prompts();
    for format in ["narrated", "graphical", "github"] {
        let run = scratch.run(&["check", "dev-task.toml", "--format", format]);
        assert!(run.out.contains("1963 more") && run.out.len() < 8_000, "{} {}", run.out.len(), run.out);
    }
}

#[test]
fn a_task_can_begin_in_any_state() {
    let scratch = scratch("status done by human\nshow");
    let run = scratch.run(&["simulate", "default.yml", "--from", "reviewing", "--script", "walk.txt"]);
    assert!(run.out.contains("reviewing → done"), "{}{}", run.out, run.err);
    let unknown = scratch.run(&["simulate", "default.yml", "--from", "nowhere", "--script", "walk.txt"]);
    assert_eq!(unknown.exit, 2);
    assert!(
        unknown.err.contains("--from: there is no state `nowhere`") && unknown.err.contains("agent-review")
    );
    let steps = simulate_steps(STEPS, "", &["--script", "walk.txt", "--from", "plan"]);
    assert!(steps.exit == 2 && steps.err.contains("a step workflow has no states"), "{}", steps.err);
}
