//! Cases that the `docs/lints` pages of this group do not show.

use crate::every_finding;
use orange_codegen::Source;

/// The messages of one check about a workflow, which is all but its name.
#[track_caller]
fn check(code: &str, text: &str, expect: &[&str]) {
    let compilation = every_finding(&Source::new("flow.yml", format!("name: flow\n{text}")));
    assert!(compilation.checked.is_some(), "{:#?}", compilation.diagnostics);
    let found = compilation.diagnostics.iter().filter(|it| it.code() == code);
    assert_eq!(found.map(|it| it.message.as_str()).collect::<Vec<_>>(), expect);
}

/// A worker and a reviewer who send the task to each other, by what the transitions there and back say.
fn rounds(there: &str, back: &str) -> String {
    format!(
        "
fields: {{turns: 0}}
states:
  pending: {{}}
  working: {{}}
  agent-review: {{}}
  done: {{terminal: true}}
transitions:
  - {{from: pending, to: working, hooks: [{{action: acquire_workspace}}, {{action: spawn_agent, prompt: worker}}]}}
  - from: working
    to: agent-review
    hooks: [{{action: kill_session}}, {{action: spawn_agent, prompt: reviewer, harness: review}}{there}]
  - from: agent-review
    to: working
    hooks: [{{action: kill_session}}, {{action: spawn_agent, prompt: worker}}]
{back}  - {{from: [working, agent-review], to: done, hooks: [{{action: kill_session}}, {{action: release_workspace}}]}}
exit_monitoring:
  rules: [{{status: working, then: agent-review}}, {{status: agent-review, then: working}}]
prompts: {{worker: work, reviewer: review}}
"
    )
}

const ROUND: &str = "agents and the engine can go round for ever, `working → agent-review → working`: ";

#[test]
fn c01_a_circle_that_nothing_enters_is_reported_once() {
    check(
        "C01",
        "
states: {pending: {}, qa: {}, fix: {}, deploy: {}, done: {terminal: true}}
transitions:
  - {from: [pending, deploy], to: done}
  - {from: qa, to: fix}
  - {from: fix, to: qa}
  - {from: qa, to: deploy}
",
        &["`qa` is never entered: only `fix` leads there, which is never entered either"],
    );
}

#[test]
fn c03_guards_that_close_every_transition_in_the_end() {
    check(
        "C03",
        "
states: {pending: {}, working: {}, done: {terminal: true}}
transitions:
  - {from: pending, to: working, hooks: [{action: increment, field: review_round}]}
  - {from: working, to: pending}
  - {from: working, to: done, when: review_round < 3}
",
        &[
            "a task in `pending` can be caught: it comes no further than `pending` and `working`, and no run ends it",
        ],
    );
}

#[test]
fn c05_says_why_nothing_ends_the_loop() {
    let count = ", {action: increment, field: turns}";
    check("C05", &rounds("", ""), &[&format!("{ROUND}nothing on it counts the turns")]);
    let unread = format!("{ROUND}`turns` rises, and no guard on it compares that");
    check("C05", &rounds(count, ""), &[&unread]);
    let open = "agents and the engine can go round for ever, `agent-review → working → agent-review`: the guards on \
                it hold however far `turns` rises";
    check("C05", &rounds(count, "    when: turns >= 1\n"), &[open]);
    let reset = format!("{ROUND}every transition sets `crash_count` back to 0");
    check("C05", &rounds(count, "    when: crash_count < 2\n"), &[&reset]);
    check("C05", &rounds(count, "    when: turns < 3\n"), &[]);
}

#[test]
fn c05_leaves_a_counter_that_nothing_counts_to_its_own_lint() {
    let text = rounds("", "    when: turns < 3\n");
    check("C05", &text, &[]);
    check("C25", &text, &["no hook counts `turns` up, so it is always 0 and bounds no loop"]);
}

#[test]
fn c05_a_crash_loop_ends_by_itself() {
    check(
        "C05",
        "
states: {pending: {}, working: {respawn_prompt: worker}, stuck: {}, done: {terminal: true}}
transitions:
  - {from: pending, to: working, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]}
  - {from: working, to: stuck}
  - {from: [working, stuck], to: done, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring:
  rules:
    - {status: working, has_artifact: {section: '## Handoff'}, then: done}
    - {status: working, no_artifact: true, action: crash, stuck_after: 5, respawn: true}
prompts: {worker: work}
",
        &[],
    );
}

#[test]
fn c06_nobody_is_there_to_take_it() {
    let text = |by: &str| {
        format!(
            "
states: {{pending: {{}}, working: {{}}, done: {{terminal: true}}}}
transitions:
  - {{from: pending, to: working}}
  - {{from: working, to: done}}
  - {{from: working, to: pending, by: {by}}}
"
        )
    };
    let engine = "`working → pending` is never taken: only the engine may take it, and no exit rule ever does in `working`";
    check("C06", &text("engine"), &[engine]);
    let worker = "`working → pending` is never taken: only the worker or the engine may take it, and neither ever does in `working`";
    check("C06", &text("worker"), &[worker]);
    check("C06", &text("human"), &[]);
    check("C06", &format!("actors: [ci]{}", text("[worker, ci]")), &[]);
}

#[test]
fn c05_a_declared_actor_is_no_person() {
    let text = |by: &str| {
        format!(
            "
actors: [ci]
states: {{working: {{}}, built: {{}}, done: {{terminal: true}}}}
transitions:
  - {{from: working, to: built, by: ci}}
  - {{from: built, to: working, by: {by}}}
  - {{from: built, to: done, by: human}}
"
        )
    };
    let turn = "agents and the engine can go round for ever, `working → built → working`: nothing on it counts the turns";
    check("C05", &text("[ci, human]"), &[turn]);
    check("C05", &text("human"), &[]);
}

#[test]
fn c08_a_close_name_is_what_is_meant() {
    let states = "
states: {pending: {}, done: {terminal: true}, canceled: {terminal: true}}
transitions: [{from: pending, to: done}, {from: pending, to: canceled}]
";
    check(
        "C08",
        states,
        &["`orange task cancel` always fails: it goes to `cancelled`, and there is no such state"],
    );
    check("C08", &format!("commands: {{cancel: canceled}}{states}"), &[]);
}

#[test]
fn c08_spawn_cannot_choose() {
    let spawns = "
states: {pending: {}, left: {}, right: {}, done: {terminal: true}}
transitions:
  - {from: pending, to: left, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]}
  - {from: pending, to: right, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]}
  - {from: [left, right], to: done, hooks: [{action: kill_session}, {action: release_workspace}]}
prompts: {worker: work}
";
    let message = "`orange task spawn` cannot tell where a task starts: `pending` leads to `left` and to `right`, each \
                   with an agent";
    check("C08", &format!("commands: {{cancel: done}}{spawns}"), &[message]);
    check("C08", &format!("commands: {{cancel: done, spawn: left}}{spawns}"), &[]);
}

#[test]
fn c09_a_transition_that_no_person_may_take_does_not_count() {
    check(
        "C09",
        "
states: {pending: {}, done: {terminal: true}, cancelled: {terminal: true}}
transitions:
  - {from: pending, to: done}
  - {from: pending, to: cancelled, by: worker}
",
        &["a task in `pending` cannot be cancelled: no person may take `pending → cancelled`"],
    );
}

#[test]
fn c12_another_first_path_to_a_state_goes_round_nothing() {
    check(
        "C12",
        "
states: {pending: {}, planning: {}, working: {}, done: {terminal: true}}
transitions:
  - {from: pending, to: planning}
  - {from: pending, to: working}
  - {from: planning, to: working, gate: {section: '## Plan', required: true}}
  - {from: working, to: done}
",
        &[],
    );
}

/// A worker, a reviewer and a person, and one more transition.
fn reviewed(more: &str) -> String {
    format!(
        "
states:
  pending: {{}}
  working: {{respawn_prompt: worker}}
  review: {{respawn_prompt: reviewer}}
  reviewing: {{}}
  done: {{terminal: true}}
transitions:
  - {{from: pending, to: working, hooks: [{{action: acquire_workspace}}, {{action: spawn_agent, prompt: worker}}]}}
  - {{from: working, to: review, hooks: [{{action: kill_session}}, {{action: spawn_agent, prompt: reviewer, harness: review}}]}}
  - {{from: review, to: reviewing, by: [reviewer, human], gate: {{section: '## Review', verdict: PASS, strict: true, fresh: true}}, hooks: [{{action: kill_session}}]}}
  - {{from: reviewing, to: working, hooks: [{{action: spawn_agent, prompt: worker}}]}}
  - {{from: reviewing, to: done, hooks: [{{action: release_workspace}}]}}
  - {more}
prompts: {{worker: work, reviewer: judge}}
"
    )
}

#[test]
fn c12_no_agent_goes_round_a_gate_where_none_is_alive() {
    // `reviewing → working → done` begins where only persons are.
    let gate = "gate: {section: '## Review', verdict: FAIL, strict: true, fresh: true}";
    let fails = format!(
        "{{from: review, to: working, by: [reviewer, human], {gate}, hooks: [{{action: kill_session}}, {{action: spawn_agent, prompt: worker}}]}}"
    );
    check("C12", &reviewed(&fails), &[]);
}

#[test]
fn c12_a_worker_that_passes_its_own_work_goes_round_the_review() {
    let direct = "{from: working, to: reviewing, hooks: [{action: kill_session}]}";
    let found =
        "`working → reviewing` bypasses the review in `review`: an agent moves its own work to `reviewing`";
    check("C12", &reviewed(direct), &[found]);
    check("C12", &reviewed(&direct.replace("to: reviewing,", "to: reviewing, by: human,")), &[]);
}

#[test]
fn c12_the_program_of_a_gate_can_be_bypassed() {
    let text = |more: &str| {
        format!(
            "
states: {{pending: {{}}, working: {{respawn_prompt: worker}}, stuck: {{}}, reviewing: {{}}, done: {{terminal: true}}}}
commands: {{crash: done}}
transitions:
  - {{from: pending, to: working, hooks: [{{action: acquire_workspace}}, {{action: spawn_agent, prompt: worker}}]}}
  - {{from: working, to: reviewing, gate: {{command: {{argv: [make, test]}}}}, hooks: [{{action: kill_session}}]}}
  - {{from: working, to: stuck}}
  - {{from: stuck, to: reviewing, {more}hooks: [{{action: kill_session}}]}}
  - {{from: reviewing, to: done, hooks: [{{action: release_workspace}}]}}
prompts: {{worker: work}}
"
        )
    };
    let found = "`stuck → reviewing` bypasses the gate of `working → reviewing`: a task comes to `reviewing` without `make test`";
    check("C12", &text(""), &[found]);
    check("C12", &text("by: human, "), &[]);
}

#[test]
fn c01_a_closed_transition_of_an_exit_rule_counts_as_a_crash() {
    let text = |rule: &str| {
        format!(
            "
states: {{pending: {{}}, working: {{respawn_prompt: worker}}, stuck: {{}}, done: {{terminal: true}}}}
transitions:
  - {{from: pending, to: working, hooks: [{{action: acquire_workspace}}, {{action: spawn_agent, prompt: worker}}]}}
  - {{from: working, to: done, gate: {{section: \"## Handoff\"}}, hooks: [{{action: release_workspace}}]}}
  - {{from: working, to: stuck, by: engine}}
  - {{from: stuck, to: done, hooks: [{{action: release_workspace}}]}}
exit_monitoring:
  rules: [{{status: working, {rule}}}]
prompts: {{worker: work}}
"
        )
    };
    check("C01", &text("no_artifact: true, then: done"), &[]);
    check("C01", &text("then: done"), &[]);
    check(
        "C01",
        &text("action: mark_dead"),
        &[
            "`stuck` is never entered: only `working → stuck` leads there, and only the engine may take it, and no exit rule \
             ever does in `working`",
        ],
    );
}

#[test]
fn c06_a_task_that_begins_with_its_first_review_is_in_round_1() {
    let text = |harness: &str| {
        format!(
            "
states: {{pending: {{}}, working: {{}}, agent-review: {{respawn_prompt: reviewer, entry: true}}, done: {{terminal: true}}}}
transitions:
  - {{from: pending, to: working, hooks: [{{action: acquire_workspace}}, {{action: spawn_agent, prompt: worker}}]}}
  - {{from: working, to: agent-review, hooks: [{{action: kill_session}}, {{action: spawn_agent, prompt: reviewer, harness: {harness}}}]}}
  - {{from: agent-review, to: working, when: \"review_round == 1\", hooks: [{{action: kill_session}}, {{action: spawn_agent, prompt: worker}}]}}
  - {{from: agent-review, to: done, hooks: [{{action: kill_session}}, {{action: release_workspace}}]}}
prompts: {{worker: work, reviewer: review}}
"
        )
    };
    check(
        "C06",
        &text("task"),
        &[
            "`agent-review → working` is never taken: `when: review_round == 1` never holds: `review_round` is always 0 in \
             `agent-review`",
        ],
    );
    check("C06", &text("review"), &[]);
}

#[test]
fn c01_a_transition_that_an_exit_rule_lacks_is_the_rules_fault() {
    let text = |rule: &str| {
        format!(
            "
states: {{pending: {{}}, working: {{}}, stuck: {{}}, done: {{terminal: true}}}}
transitions:
  - {{from: pending, to: working, hooks: [{{action: acquire_workspace}}, {{action: spawn_agent, prompt: worker}}]}}
  - {{from: [working, stuck], to: done, hooks: [{{action: kill_session}}, {{action: release_workspace}}]}}
exit_monitoring:
  rules: [{{status: working, {rule}}}]
prompts: {{worker: work}}
"
        )
    };
    check("C01", &text("action: crash"), &[]);
    check("C01", &text("then: stuck"), &[]);
    check("C01", &text("then: done"), &["`stuck` is never entered: no transition leads there"]);
}

/// Two reviewers with gates on their verdicts: PASS leads to `ready`, FAIL to `stuck`.
fn panel(pass: &str, fail: &str) -> String {
    format!(
        "
states: {{working: {{}}, review: {{}}, ready: {{}}, stuck: {{}}, done: {{terminal: true}}}}
gates:
  passed: {{section: \"## Review\", verdict: PASS, verdicts: {pass}, strict: true, fresh: true}}
  failed: {{section: \"## Review\", verdict: FAIL, verdicts: {fail}, strict: true, fresh: true}}
transitions:
  - from: working
    to: review
    hooks:
      - {{action: acquire_workspace}}
      - {{action: spawn_agent, as: reviewer, name: a, prompt: reviewer}}
      - {{action: spawn_agent, as: reviewer, name: b, prompt: reviewer}}
  - {{from: review, to: ready, by: reviewer, gate: passed, hooks: [{{action: kill_session}}]}}
  - {{from: review, to: stuck, by: reviewer, gate: failed, hooks: [{{action: kill_session}}]}}
  - {{from: [working, review, ready, stuck], to: done, hooks: [{{action: kill_session}}, {{action: release_workspace}}]}}
exit_monitoring:
  rules: [{{status: review, action: mark_dead}}]
prompts: {{reviewer: review}}
"
    )
}

#[test]
fn c16_two_verdicts_have_one_answer() {
    check(
        "C16",
        &panel("any", "any"),
        &["where `a` says FAIL and `b` says PASS, `review → ready` and `review → stuck` are both open"],
    );
    check(
        "C16",
        &panel("all", "all"),
        &["where `a` says FAIL and `b` says PASS, neither `review → ready` nor `review → stuck` is open"],
    );
    check(
        "C16",
        &panel("any", "all"),
        &["`review → ready` is open although `a` says FAIL and `b` says PASS"],
    );
    check("C16", &panel("all", "any"), &[]);
}

#[test]
fn c16_two_transitions_to_one_state_do_not_disagree() {
    let panel = panel("any", "any")
        .replace("to: ready, by", "to: ready, when: \"crash_count == 0\", by")
        .replace("to: stuck, by", "to: ready, when: \"crash_count > 0\", by");
    check("C16", &panel, &[]);
}
