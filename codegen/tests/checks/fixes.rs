//! The edits that findings offer: what stands in the place of what, and where there is none.

use orange_codegen::Source;

use crate::{SOUND, added, compiled, with_hooks, with_keys};

/// The text of every fix of these findings, as `«what stands there» → what is to stand there`.
#[track_caller]
fn check(text: &str, expect: &[&str]) {
    let found = compiled(text).diagnostics;
    let fixes = found.iter().filter_map(|it| it.fix.as_ref());
    let edits = fixes.flat_map(|it| {
        assert!(it.safe, "{}", it.title);
        &it.edits
    });
    let seen: Vec<String> = edits.map(|it| format!("«{}» → {}", &text[it.span.range()], it.text)).collect();
    assert_eq!(seen, expect, "{text}\n{found:#?}");
}

fn changed(old: &str, new: &str) -> String {
    assert!(SOUND.contains(old), "{old}");
    SOUND.replacen(old, new, 1)
}

#[test]
fn names_that_are_almost_right() {
    check(&changed("to: working}", "to: wroking}"), &["«wroking» → working"]);
    check(&changed("{from: pending", "{from: 'pneding'"), &["«pneding» → pending"]);
    check(&changed("respawn_prompt: worker", "respawn_prompt: woker"), &["«woker» → worker"]);
    check(&format!("{SOUND}initial: pendin\n"), &["«pendin» → pending"]);
    check(&with_hooks("      - {action: kil_session}\n"), &["«kil_session» → kill_session"]);
    check(
        &with_hooks("      - {action: increment, field: reveiw_round}\n"),
        &["«reveiw_round» → review_round"],
    );
    check(&changed("{summary}", "{sumary}"), &["«{sumary}» → {summary}"]);
    check(
        &format!("{SOUND}exit_monitoring:\n  rules: [{{status: working, then: agent_review}}]\n"),
        &["«agent_review» → agent-review"],
    );
}

#[test]
fn keys_and_words_that_are_almost_right() {
    check(&changed("transitions:", "transistions:"), &["«transistions» → transitions"]);
    check(&changed("terminal: true", "\"terminl\": true"), &["«terminl» → terminal"]);
    check(&changed("terminal: true", "terminal: yes"), &["«yes» → true"]);
    check(&changed("terminal: true", "terminal: 'true'"), &["«'true'» → true"]);
    check(&with_keys(&[", by: humen"]), &["«humen» → human"]);
    check(
        &with_hooks("      - {action: spawn_agent, prompt: worker, harness: revue}\n"),
        &["«revue» → review"],
    );
    check(&format!("{SOUND}exit_monitoring: {{poll_interval: \"30\"}}\n"), &["«\"30\"» → 30"]);
}

#[test]
fn guards_that_are_almost_right() {
    check(&with_keys(&[", when: \"review_round =< 2\""]), &["«=<» → <="]);
    check(
        &with_keys(&[", when: \"reviw_round < 2 and crash_count < 1\""]),
        &["«reviw_round» → review_round", "«and» → &&"],
    );
}

#[test]
fn truth_values_of_older_readers_get_quotes() {
    check(&changed("name: flow", "name: flow\ndescription: on"), &["«on» → \"on\""]);
}

#[test]
fn nothing_is_offered_where_it_would_be_a_guess() {
    let two = SOUND.replace("  stuck: {}\n", "  stuck: {}\n  stick: {}\n");
    check(&two.replace("to: stuck}", "to: stack}"), &[]);
    check(&changed("to: working}", "to: nowhere}"), &[]);
    check(&changed("to: working}", "to: \"wr\\x6fking\"}"), &[]);
    check(&changed("terminal: true", "terminal: maybe"), &[]);
    added("", &[]);
    let toml = Source::new("flow.toml", "name = \"flow\"\n[states.a]\nterminl = true\n");
    let found = orange_codegen::compile(&toml).diagnostics;
    let edits = found[0].fix.as_ref().map(|it| it.edits.clone()).unwrap_or_default();
    assert_eq!((&toml.text[edits[0].span.range()], edits[0].text.as_str()), ("terminl", "terminal"));
}
