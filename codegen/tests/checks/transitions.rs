//! Group A: names, terminal states, guards.

use orange_codegen::Level;

use super::{REVIEW, SOUND, added, changed, check, compiled, findings, story, with_hooks, with_keys};

#[test]
fn a01_to_a06_and_a12_unknown_names() {
    changed(REVIEW, "  - {from: agent-review, to: dnoe}\n", &["A01 error «dnoe» unknown state `dnoe`"]);
    changed(
        REVIEW,
        "  - {from: [agent-review, wroking], to: done}\n",
        &["A02 error «wroking» unknown state `wroking`"],
    );
    changed("respawn_prompt: worker", "respawn_prompt: workr", &["A05 error «workr» unknown prompt `workr`"]);
    check(
        &with_hooks("      - {action: spawn_agent, prompt: wroker}\n"),
        &["A04 error «wroker» unknown prompt `wroker`"],
    );
    added(
        "exit_monitoring: {rules: [{status: working, then: agent_review}]}\n",
        &["A06 error «agent_review» unknown state `agent_review`"],
    );
    added(
        "exit_monitoring: {rules: [{status: workin, action: mark_dead}]}\n",
        &["A12 error «workin» unknown state `workin`"],
    );
    added(
        "initial: pendin\ncommands: {crash: stuk}\n",
        &["A12 error «pendin» unknown state `pendin`", "A12 error «stuk» unknown state `stuk`"],
    );
    story(&SOUND.replace(REVIEW, "  - {from: agent-review, to: dnoe}\n"), &[], "did you mean `done`?");
    story(
        &SOUND.replace(REVIEW, "  - {from: agent-review, to: shipped}\n"),
        &[],
        "the states are `pending`, `working`, `agent-review`, `stuck`, `done`",
    );
}

#[test]
fn a03_leaves_a_terminal_state() {
    let text = format!(
        "{}  - {{from: done, to: working}}\nprompts: {{worker: x}}\n",
        SOUND.split("prompts:").next().expect("a head")
    );
    check(&text, &["A03 error «done» a transition leaves the terminal state `done`"]);
    story(
        &text,
        &["«done» declared terminal here", "«done» left here, for `working`"],
        "delete this transition, or `terminal: true` of `done`",
    );
}

#[test]
fn a07_two_that_can_both_fire() {
    let text =
        with_keys(&[", when: \"review_round <= 2\"", ", when: 'review_round >= 2 && crash_count == 0'"]);
    check(
        &text,
        &[
            "A07 error «review_round >= 2 && crash_count == 0» two transitions `agent-review → done` can both fire: \
         review_round = 2 and crash_count = 0, and only there",
        ],
    );
    story(
        &text,
        &[
            "«review_round <= 2» fires when review_round <= 2",
            "«review_round >= 2 && crash_count == 0» fires when review_round >= 2 && crash_count == 0",
        ],
        "change one `when` so that no counter values satisfy both; or give each a `by`, so that nobody may ask for both",
    );
    check(&with_keys(&[", when: \"review_round < 2\"", ", when: \"review_round >= 2\""]), &[]);
}

#[test]
fn a07_actors_and_verdicts_choose_and_other_gates_do_not() {
    let gate = |verdict| format!(", gate: {{section: \"## R\", verdict: {verdict}}}");
    let (pass, fail) = (gate("PASS"), gate("FAIL"));
    check(&with_keys(&[&pass, &fail]), &[]);
    check(&with_keys(&[", by: worker", ", by: [human, engine]"]), &[]);
    let other = ", gate: {section: \"## Other\", verdict: FAIL}";
    let others = [(&*pass, other), (&pass, &pass), (", by: [worker, human]", ", by: [human, engine]")];
    for (first, second) in others {
        let found = findings(&with_keys(&[first, second]));
        assert_eq!(found.len(), 1, "{first} {second}");
        assert!(
            found[0]
                .ends_with("two transitions `agent-review → done` always both fire: neither has a `when`")
        );
    }
    let found = findings(&with_keys(&["", "", ", when: \"review_round > 0\""]));
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found[1].ends_with("can both fire: review_round >= 1 (for example 1)"), "{found:#?}");
}

#[test]
fn a08_points_into_the_string() {
    let when = |when: &str| with_keys(&[&format!(", when: {when}")]);
    check(&when("\"review_round =< 2\""), &["A08 error «=<» expected a comparison, found `=<`"]);
    check(
        &when("'review_rounds < 2 && crash < 1'"),
        &[
            "A08 error «review_rounds» unknown counter `review_rounds`",
            "A08 error «crash» unknown counter `crash`",
        ],
    );
    let long = "9".repeat(40);
    check(
        &when(&format!("\"\\u0072eview_round < {long}\"")),
        &[&format!("A08 error «{long}» the integer {long} does not fit a counter")],
    );
    check(&when("\"\""), &["A08 error «» the clause is empty"]);
    check(&when("true"), &["S04 error «true» `when` takes text, and this is `true`"]);
    story(
        &when("\"rounds < 2\""),
        &[],
        "the counters are `review_round`, `crash_count`; or declare it: `fields: {rounds: 0}`",
    );
}

#[test]
fn a10_is_never_silence() {
    let names: Vec<String> = (0..20).map(|it| format!("n{it}")).collect();
    let fields = names.iter().map(|it| format!("{it}: 0")).collect::<Vec<_>>().join(", ");
    let all = names.iter().map(|it| format!("{it} > 0")).collect::<Vec<_>>().join(" && ");
    let text = with_keys(&[&format!(", when: \"{all}\""), ", when: \"n0 == 0\""]);
    let text = text.replace("version: 1", &format!("fields: {{{fields}}}"));
    let compilation = compiled(&text);
    let seen: Vec<_> = compilation.diagnostics.iter().map(|it| (it.code(), it.level)).collect();
    assert_eq!(seen, [("A10", Level::Warn)]);
}

#[test]
fn a11_two_names_that_rust_spells_alike() {
    changed(
        "  stuck: {}",
        "  stuck: {}\n  agent_review: {}",
        &[
            "A11 error «agent_review» the states `agent-review` and `agent_review` have the same name in Rust: `AgentReview`",
        ],
    );
    added(
        "  Worker: x\n",
        &["A11 error «Worker» the prompts `worker` and `Worker` have the same name in Rust: `Worker`"],
    );
}
