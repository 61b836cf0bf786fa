//! Cases that the `docs/lints` pages of this group do not show.

use crate::every_finding;
use orange_codegen::diag::Fix;
use orange_codegen::source::Source;

const HEAD: &str = "name: flow\ncommands: {clarify: working, cancel: done}\nfields: {tries: 0}\nstates: {pending: {entry: true}, working: {respawn_prompt: do}, done: {terminal: true}}\n";

const TRANSITIONS: &str = "  - {from: pending, to: working, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: do, increment: tries}]}\n  - {from: [pending, working], to: done, hooks: [{action: kill_session}, {action: release_workspace}]}\n";

/// The small workflow with these transitions and this prompt.
fn flow(transitions: &str, prompt: &str) -> String {
    format!("{HEAD}transitions:\n{TRANSITIONS}{transitions}prompts:\n  do: \"{prompt}\"\n")
}

/// The codes of this group that are found, each with its place and message.
fn found(text: &str) -> Vec<String> {
    let compilation = every_finding(&Source::new("flow.yml", text));
    assert!(compilation.checked.is_some(), "{:#?}", compilation.diagnostics);
    let ours = compilation.diagnostics.iter().filter(|it| it.code().starts_with("C2"));
    ours.map(|it| format!("{} «{}» {}", it.code(), &text[it.span.range()], it.message)).collect()
}

#[track_caller]
fn check(text: &str, expect: &[&str]) {
    let found = found(text);
    assert_eq!(found.len(), expect.len(), "{found:#?}");
    for (found, expect) in found.iter().zip(expect) {
        assert!(found.starts_with(expect), "{found}\n{expect}");
    }
}

#[track_caller]
fn mended(text: &str, code: &str, expect: &str) {
    let found = every_finding(&Source::new("flow.yml", text)).diagnostics;
    let finding = found.iter().find(|it| it.code() == code).expect("it is found");
    let Fix { edits, safe, .. } = finding.fix.clone().expect("it has a mend");
    assert!(!safe, "another number may have been meant");
    let mut mended = text.to_owned();
    let mut edits = edits;
    edits.sort_by_key(|it| std::cmp::Reverse(it.span.start));
    edits.iter().for_each(|it| mended.replace_range(it.span.range(), &it.text));
    assert_eq!(mended, expect);
}

#[test]
fn a_guard_of_several_transitions_is_reported_once() {
    let text = flow("  - {from: [working, pending], to: pending, when: \"tries < 0\"}\n", "{tries}");
    check(
        &text,
        &["C20 «tries < 0» no values of the counters satisfy `tries < 0`: `working → pending` is never open"],
    );
}

#[test]
fn clauses_of_exit_rules_are_guards_too() {
    let rules = |clauses: &str| {
        flow("  - {from: working, to: pending}\n", "{tries}")
            + "exit_monitoring:\n  rules:\n    - {status: working, then_when: ["
            + clauses
            + "]}\n"
    };
    check(
        &rules("{when: \"tries >= 0\", then: done}"),
        &["C21 «tries >= 0» `tries >= 0` holds for every value: it keeps nothing out"],
    );
    check(
        &rules("{when: \"tries >= 0\", then: done}, {when: \"tries < 0\", then: pending}"),
        &[
            "C20 «tries < 0» no values of the counters satisfy `tries < 0`: the clause never leads to `pending`",
        ],
    );
    check(&rules("{when: \"tries >= 2\", then: done}, {when: \"tries < 2\", then: pending}"), &[]);
}

#[test]
fn a_guard_that_says_nothing_is_taken_away() {
    let with = |when: &str| flow(&format!("  - {{from: working, to: pending{when}}}\n"), "{tries}");
    mended(&with(", when: \"tries >= 0\""), "C21", &with(""));
    let block = |when: &str| flow(&format!("  - from: working\n{when}    to: pending\n"), "{tries}");
    mended(&block("    when: 'tries < 1 || tries > 0'\n"), "C21", &block(""));
}

/// A review with these two transitions after a failure, and perhaps another one.
fn review(first: &str, second: &str, other: &str) -> String {
    format!(
        "name: flow\ncommands: {{clarify: review, cancel: done}}\nstates: {{pending: {{entry: true}}, review: {{respawn_prompt: judge}}, stuck: {{}}, done: {{terminal: true}}}}\n\
         transitions:\n  - {{from: pending, to: review, hooks: [{{action: acquire_workspace}}, {{action: spawn_agent, prompt: judge, harness: review, increment: review_round}}]}}\n  \
         - {{from: review, to: review, gate: {{section: \"## Review\", verdict: FAIL}}, when: \"{first}\", hooks: [{{action: kill_session}}, {{action: spawn_agent, prompt: judge, harness: review, increment: review_round}}]}}\n  \
         - {{from: review, to: stuck, gate: {{section: \"## Review\", verdict: FAIL}}, when: \"{second}\", hooks: [{{action: kill_session}}]}}\n{other}  \
         - {{from: [pending, review, stuck], to: done, by: human, hooks: [{{action: kill_session}}, {{action: release_workspace}}]}}\nprompts:\n  judge: \"Judge it, write ## Review, then orange task update --status review, --status stuck or --status other\"\n"
    )
}

#[test]
fn gaps_are_reported_where_the_search_comes_to_them() {
    let gap = "C23 «review_round < 2» `## Review` (Verdict: FAIL) opens no transition out of `review`";
    check(
        &review("review_round < 2", "review_round > 2", ""),
        &[&format!("{gap}: review_round = 2, and only there")],
    );
    check(&review("review_round < 2", "review_round == 4", ""), &[gap]);
    check(&review("review_round < 2", "review_round == 2", ""), &[]);
    check(&review("review_round < 2", "review_round >= 2", ""), &[]);
    let bounds_below = review("review_round >= 1 && review_round < 2", "review_round >= 2", "");
    check(&bounds_below, &[]);
}

#[test]
fn a_named_transition_without_a_gate_leaves_no_gap() {
    let other = |when: &str| {
        format!(
            "  - {{from: review, to: other, {when}hooks: [{{action: kill_session}}]}}\n  - {{from: other, to: done, hooks: [{{action: release_workspace}}]}}\n"
        )
    };
    let with = |when: &str| {
        review("review_round < 2", "review_round > 2", &other(when))
            .replace("stuck: {}", "stuck: {}, other: {}")
    };
    check(&with(""), &[]);
    check(&with("when: \"review_round == 2\", "), &[]);
    check(&with("when: \"review_round == 1\", "), &["C23"]);
    check(&with("by: human, "), &["C23"]);
}

#[test]
fn a_counter_that_nothing_counts_bounds_no_loop() {
    let loops = |when: &str| {
        flow(&format!("  - {{from: working, to: pending, when: \"{when}\"}}\n"), "{tries}")
            .replace(", increment: tries", "")
    };
    check(
        &loops("tries < 3"),
        &["C25 «tries < 3» no hook counts `tries` up, so it is always 0 and bounds no loop"],
    );
    check(
        &loops("tries < 3").replace("tries: 0", "tries: 2"),
        &["C25 «tries < 3» no hook counts `tries` up, so it is always 2"],
    );
    check(&loops("crash_count < 3"), &[]);
    // The transition back makes it a loop.
    let straight = flow(
        "  - {from: working, to: last, when: \"tries < 3\"}\n  - {from: last, to: done, hooks: [{action: kill_session}]}\n",
        "{tries}",
    );
    check(&straight.replace(", increment: tries", "").replace("working: {", "last: {}, working: {"), &[]);
}

#[test]
fn what_a_counter_is_read_by() {
    check(&flow("", "{tries}"), &[]);
    check(&flow("  - {from: working, to: pending, when: \"tries < 9\"}\n", "do"), &[]);
    check(&flow("", "do"), &["C28 «tries» `tries` is changed, but nothing reads it"]);
    check(
        &flow("", "do").replace(", increment: tries", ""),
        &["C28 «tries» `tries` is declared and used nowhere"],
    );
    let round = |harness: &str| {
        flow("", "{tries}").replace("increment: tries", &format!("{harness}increment: review_round"))
    };
    check(&round(""), &["C28 «review_round»"]);
    check(&round("harness: review, "), &[]);
}

#[test]
fn counting_comes_before_what_shows_the_counter() {
    let hooks = |hooks: &str| {
        flow("", "{tries}").replace("{action: spawn_agent, prompt: do, increment: tries}", hooks)
    };
    let late = "C27 «{action: increment, field: tries}» `pending → working` starts `do` before it counts `tries`: the prompt has";
    check(&hooks("{action: spawn_agent, prompt: do}, {action: increment, field: tries}"), &[late]);
    check(&hooks("{action: increment, field: tries}, {action: spawn_agent, prompt: do}"), &[]);
    check(&hooks("{action: spawn_agent, prompt: do, increment: tries}"), &[]);
    let window =
        hooks("{action: spawn_agent, prompt: do, harness: review}, {action: increment_review_round}");
    check(
        &window,
        &[
            "C27 «{action: increment_review_round}» `pending → working` starts `do` before it counts `review_round`: the window",
        ],
    );
    mended(
        &window,
        "C27",
        &hooks("{action: increment_review_round}, {action: spawn_agent, prompt: do, harness: review}"),
    );
}

#[test]
fn numbers_that_a_prompt_repeats() {
    let says = |prompt: &str| flow("  - {from: working, to: pending, when: \"tries < 3\"}\n", prompt);
    for repeats in [
        "{tries} of 3",
        "{tries}/3",
        "{tries} out of 3",
        "if tries < 3 go on",
        "tries ≤ 2",
        "when tries >= 3",
        "Try {tries}, tries > 2",
    ] {
        let found = found(&says(repeats));
        assert!(found.len() == 1 && found[0].starts_with("C2A"), "{repeats}: {found:?}");
    }
    for other in ["3 tries", "retries < 3", "tries: 3", "{tries}, 3 files", "of 3 {tries}", "tries of 3"] {
        check(&says(other), &[]);
    }
    check(
        &says("{tries} of 4"),
        &["C2B «{tries} of 4» the prompt `do` says `{tries} of 4`, and no guard turns there"],
    );
}

#[test]
fn who_does_what_a_dead_agent_was_to_do_begins_no_new_round() {
    let text = |back: &str| {
        format!(
            "
name: flow
commands: {{spawn: drafting, clarify: drafting, cancel: done}}
fields: {{drafts: 0}}
states:
  pending: {{}}
  drafting: {{respawn_prompt: draft}}
  critique: {{respawn_prompt: critic}}
  editing: {{}}
  done: {{terminal: true}}
transitions:
  - {{from: pending, to: drafting, hooks: [{{action: acquire_workspace}}, {{action: spawn_agent, prompt: draft, increment: drafts}}]}}
  - {{from: drafting, to: critique, hooks: [{{action: kill_session}}, {{action: spawn_agent, prompt: critic}}]}}
  - {{from: critique, to: drafting, when: \"drafts < 3\", hooks: [{{action: kill_session}}, {{action: spawn_agent, prompt: draft, increment: drafts}}]}}
  - {{from: critique, to: editing, when: \"drafts >= 3\", hooks: [{{action: kill_session}}]}}
{back}  - {{from: [drafting, critique, editing], to: done, hooks: [{{action: kill_session}}, {{action: release_workspace}}]}}
exit_monitoring:
  rules:
    - {{status: drafting, then: critique}}
    - {{status: critique, then_when: [{{when: \"drafts < 3\", then: drafting}}, {{when: \"drafts >= 3\", then: editing}}]}}
prompts: {{draft: \"draft {{drafts}}\", critic: judge}}
"
        )
    };
    check(&text(""), &[]);
    let again = "  - {from: editing, to: critique, hooks: [{action: spawn_agent, prompt: critic}]}\n";
    check(&text(again), &["C26 «drafts < 3» `drafts` is never set back"]);
}
