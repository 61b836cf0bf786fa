//! Exit rules: A09, C40, C46, C4D.

use super::{REVIEW, SOUND, added, check, findings};

/// The sound workflow with a `then_when` of these clauses.
fn choice(clauses: &[&str]) -> String {
    let clauses: Vec<String> = clauses.iter().map(|it| format!("{{when: \"{it}\", then: stuck}}")).collect();
    format!("{SOUND}exit_monitoring: {{rules: [{{status: working, then_when: [{}]}}]}}\n", clauses.join(", "))
}

#[test]
fn a09_exactly_one_clause_holds() {
    check(&choice(&["review_round < 2", "review_round >= 2"]), &[]);
    check(
        &choice(&["review_round < 2", "review_round > 2"]),
        &["A09 error «review_round < 2» no `then_when` clause holds: review_round = 2, and only there"],
    );
    check(
        &choice(&["review_round < 3", "review_round > 1"]),
        &[
            "A09 error «review_round > 1» two `then_when` clauses hold at once: review_round = 2, and only there",
        ],
    );
    check(
        &choice(&["review_round < 2 && crash_count < 3", "review_round < 1", "review_round > 4"]),
        &[
            "A09 error «review_round < 2 && crash_count < 3» no `then_when` clause holds: review_round = 1 to 4 \
         and crash_count >= 3, among others (for example review_round = 1, crash_count = 3)",
            "A09 error «review_round < 1» two `then_when` clauses hold at once: review_round = 0 and crash_count <= 2 \
         (for example review_round = 0, crash_count = 0)",
        ],
    );
}

#[test]
fn a09_is_asked_even_where_a_target_is_unknown() {
    let text = choice(&["review_round < 2", "review_round > 2"]).replacen("then: stuck", "then: stcuk", 1);
    check(
        &text,
        &[
            "A09 error «review_round < 2» no `then_when` clause holds: review_round = 2, and only there",
            "A06 error «stcuk» unknown state `stcuk`",
        ],
    );
}

#[test]
fn c40_and_c46_an_exit_takes_a_declared_transition() {
    added(
        "exit_monitoring: {rules: [{status: working, then: done}]}\n",
        &["C40 deny «done» this exit rule leads to `done`, but no transition `working → done` is declared"],
    );
    added("exit_monitoring: {rules: [{status: working, action: crash}]}\n", &[]);
    added(
        "exit_monitoring: {rules: [{status: pending, action: crash, stuck_after: 1}]}\n",
        &["C46 warn «crash» after 1 crash in `pending` the engine moves to `stuck`, but no transition \
         `pending → stuck` is declared"],
    );
    added(
        "commands: {crash: agent-review}\nexit_monitoring: {rules: [{status: working, action: crash}]}\n",
        &[],
    );
    added(
        "commands: {crash: agent-revew}\nexit_monitoring: {rules: [{status: pending, action: crash}]}\n",
        &["A12 error «agent-revew» unknown state `agent-revew`"],
    );
}

#[test]
fn c40_is_not_asked_where_a_transition_was_not_understood() {
    let rule = "exit_monitoring: {rules: [{status: working, then: done}]}\n";
    let text = SOUND.replace(REVIEW, "  - {from: agent-review, to: done}\n  - {from: working, to: dnoe}\n");
    check(&format!("{text}{rule}"), &["A01 error «dnoe» unknown state `dnoe`"]);
    let text = SOUND
        .replace(REVIEW, "  - {from: agent-review, to: done}\n  - {from: working, to: done, when: \"x\"}\n");
    let found = findings(&format!("{text}{rule}"));
    assert!(found.len() == 1 && found[0].starts_with("A08"), "{found:#?}");
}

#[test]
fn c4d_thresholds_begin_at_one() {
    added(
        "exit_monitoring: {poll_interval: 0, rules: [{status: working, action: crash, stuck_after: 0}]}\n",
        &["C4D deny «0» `poll_interval: 0` has no meaning", "C4D deny «0» `stuck_after: 0` has no meaning"],
    );
}

#[test]
fn c4d_a_respawn_needs_a_crash_that_does_not_escalate() {
    let added_rule = |rule: &str, expect: &[&str]| {
        added(&format!("exit_monitoring: {{rules: [{{status: working, {rule}}}]}}\n"), expect)
    };
    added_rule(
        "action: crash, stuck_after: 1, respawn: true",
        &[
            "C4D warn «stuck_after: 1» `stuck_after: 1` leaves nothing to `respawn: true`: the first crash is one too many",
        ],
    );
    added_rule("action: crash, stuck_after: 1, respawn: false", &[]);
    added_rule("action: crash, stuck_after: 2, respawn: true", &[]);
    added_rule("action: crash, respawn: true", &[]);
}

#[test]
fn exit_rules_say_one_thing() {
    let rule = |rule: &str| format!("{SOUND}exit_monitoring: {{rules: [{{status: working, {rule}}}]}}\n");
    check(
        &rule("then: stuck, action: crash"),
        &["S04 error «action» `then` and `action` exclude each other"],
    );
    check(
        &rule("no_artifact: true, has_artifact: {section: \"## A\"}, then: stuck"),
        &["S04 error «no_artifact» `has_artifact` and `no_artifact` exclude each other"],
    );
    check(
        &rule("action: mark_dead, respawn: true"),
        &["S04 error «respawn» `respawn` belongs to `action: crash`, and this rule counts no crash"],
    );
    check(&rule("then_when: []"), &["S04 error «[]» `then_when` has no clause"]);
    check(&rule("action: crsh"), &["S04 error «crsh» unknown value `crsh` of `action`"]);
}

#[test]
fn the_end_of_an_agent_has_known_numbers_and_words() {
    let rule = |rule: &str| {
        format!("{SOUND}exit_monitoring: {{rules: [{{status: working, {rule}, then: stuck}}]}}\n")
    };
    for sound in ["exit: {code: [0, 255], signal: 64}, on_output: \"rate limit\"", "exit: {signal: [1, 9]}"] {
        check(&rule(sound), &[]);
    }
    for (wrong, expect) in [
        ("exit: {code: 256}", "S04 error «256» no agent ends with `code: 256`"),
        ("exit: {signal: [9, 0]}", "S04 error «0» no agent ends with `signal: 0`"),
        ("exit: {signal: 65}", "S04 error «65» no agent ends with `signal: 65`"),
        ("exit: {}", "S04 error «{}» `exit` names no status and no signal"),
        ("exit: {code: []}", "S04 error «{code: []}» `exit` names no status and no signal"),
        ("exit: {cod: 3}", "S02 error «cod» unknown key `cod` in `exit`"),
        ("on_output: \"  \"", "S04 error «\"  \"» `on_output` is empty, and so would hold for every end"),
        ("on_output: 429", "S04 error «429» `on_output` takes text, and this is `429`"),
        (
            "exit: {code: 3}, no_artifact: true",
            "S04 error «exit» `no_artifact` and `exit` exclude each other",
        ),
        (
            "on_output: \"x\", has_artifact: {section: \"## A\"}",
            "S04 error «on_output» `has_artifact` and `on_output` exclude each other",
        ),
    ] {
        check(&rule(wrong), &[expect]);
    }
    check(
        &rule("exit: {code: 999}, on_output: \"\""),
        &[
            "S04 error «999» no agent ends with `code: 999`",
            "S04 error «\"\"» `on_output` is empty, and so would hold for every end",
        ],
    );
}

#[test]
fn a_wait_says_how_long_and_which_message_follows() {
    let with = |state: &str, rule: &str| {
        let text = SOUND.replace("working: {respawn_prompt: worker}", &format!("working: {state}"));
        format!("{text}exit_monitoring: {{rules: [{{status: working, {rule}}}]}}\n")
    };
    let again = "{respawn_prompt: worker}";
    for sound in ["action: wait, resume_after: 1", "on_output: \"x\", action: wait, resume_after: 604800"] {
        check(&with(again, sound), &[]);
    }
    for (state, wrong, expect) in [
        (again, "action: wait", "S09 error «wait» `action: wait` needs the key `resume_after`"),
        (again, "action: wait, resume_after: 0", "C4D deny «0» `resume_after: 0` has no meaning"),
        (
            again,
            "action: wait, resume_after: 604801",
            "S04 error «604801» `resume_after: 604801` is longer than a week",
        ),
        (
            again,
            "action: wait, resume_after: 9, stuck_after: 3",
            "S04 error «stuck_after» `stuck_after` belongs to `action: crash`, and this rule counts no crash",
        ),
        (
            again,
            "action: mark_dead, resume_after: 9",
            "S04 error «resume_after» `resume_after` belongs to `action: wait`, and this rule does not wait",
        ),
        (
            "{}",
            "action: wait, resume_after: 9",
            "S09 error «wait» `action: wait` starts the agent of `working` again, and the state has no prompt for it",
        ),
    ] {
        check(&with(state, wrong), &[expect]);
    }
}
