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
