//! Cases beyond those of the pages: what each lint says of small workflows, and where it is silent.

use crate::every_finding;
use orange_codegen::Source;

/// A reviewer's workflow around the lines of one test.
fn reviewed(gates: [&str; 2], rules: &str) -> String {
    format!(
        r#"
name: flow
states:
  pending: {{}}
  agent-review: {{respawn_prompt: reviewer}}
  reviewing: {{}}
  stuck: {{}}
  done: {{terminal: true}}
transitions:
  - from: pending
    to: agent-review
    hooks: [{{action: acquire_workspace}}, {{action: spawn_agent, prompt: reviewer, harness: review}}]
  - {{from: agent-review, to: reviewing, hooks: [{{action: kill_session}}]{}}}
  - {{from: agent-review, to: stuck, hooks: [{{action: kill_session}}]{}}}
  - {{from: stuck, to: agent-review, hooks: [{{action: spawn_agent, prompt: reviewer, harness: review}}]}}
  - {{from: [reviewing, stuck], to: done, hooks: [{{action: release_workspace}}]}}
exit_monitoring:
  rules:
{rules}
prompts: {{reviewer: Review it.}}
"#,
        gates[0], gates[1]
    )
}

#[track_caller]
fn check(code: &str, source: &str, expect: &[&str]) {
    let found = every_finding(&Source::new("flow.yml", source)).diagnostics;
    let wrong: Vec<_> = found.iter().filter(|it| it.level == orange_codegen::Level::Error).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let found: Vec<_> = found.iter().filter(|it| it.code() == code).map(|it| it.message.as_str()).collect();
    assert_eq!(found, expect);
}

const PASS: &str = r###", gate: {section: "## Review", verdict: PASS}"###;
const FAIL: &str = r###", gate: {section: "## Review", verdict: FAIL}"###;

#[test]
fn a_rule_is_held_against_the_gate_by_what_is_left_to_it() {
    let rules = r###"
    - {status: agent-review, has_artifact: {section: "## Review", verdict: FAIL}, then: stuck}
    - {status: agent-review, has_artifact: {section: "## Review"}, then: reviewing}
    - {status: agent-review, action: mark_dead}"###;
    check(
        "C42",
        &reviewed([PASS, FAIL], rules),
        &[
            "this exit rule applies with an empty `## Review`, and the gate of `agent-review → reviewing` then refuses",
        ],
    );
    check("C42", &reviewed(["", FAIL], rules), &[]);
}

#[test]
fn a_rule_without_an_artifact_can_lead_to_a_gate_too() {
    let rules = "    - {status: agent-review, then: reviewing}";
    check(
        "C42",
        &reviewed([PASS, FAIL], rules),
        &[
            "this exit rule applies with no `## Review`, and the gate of `agent-review → reviewing` then refuses",
        ],
    );
}

#[test]
fn content_that_a_gate_has_seen_is_a_case_where_it_can_stand() {
    let fresh = r###", gate: {section: "## Review", verdict: FAIL, fresh: true}"###;
    let rules = r###"
    - {status: agent-review, has_artifact: {section: "## Review", verdict: FAIL}, then: stuck}
    - {status: agent-review, action: mark_dead}"###;
    let expect = "this exit rule applies with a `## Review` that has not changed, and the gate of \
                  `agent-review → stuck` then refuses";
    check("C42", &reviewed([PASS, fresh], rules), &[expect]);
    // Where the task comes but once, an agent that is started again finds it.
    let once =
        reviewed([PASS, fresh], rules).replace("from: stuck, to: agent-review", "from: stuck, to: stuck");
    check("C42", &once, &[expect]);
}

#[test]
fn a_gate_that_refuses_everything_is_one_finding() {
    let rules = r###"
    - {status: agent-review, has_artifact: {section: "## Review", verdict: FAIL}, then: reviewing}
    - {status: agent-review, action: mark_dead}"###;
    let source = reviewed([PASS, FAIL], rules);
    check(
        "C41",
        &source,
        &[
            "this exit rule takes `agent-review → reviewing`, whose gate refuses everything that the rule applies to",
        ],
    );
    check("C42", &source, &[]);
}

#[test]
fn rules_and_gates_are_compared_as_the_lists_that_they_are() {
    let both = r###", gate: {all: [{section: "## Review", verdict: PASS}, {section: "## Notes", required: true}]}"###;
    let rules = |artifact: &str| {
        format!(
            "    - {{status: agent-review, has_artifact: {artifact}, then: reviewing}}\n    - {{status: agent-review, action: \
             mark_dead}}"
        )
    };
    let pass = r###"{section: "## Review", verdict: PASS}"###;
    check(
        "C42",
        &reviewed([both, FAIL], &rules(pass)),
        &[
            "this exit rule applies with no `## Notes`, and the gate of `agent-review → reviewing` then refuses",
        ],
    );
    let same = format!("{{all: [{pass}, {{section: \"## Notes\", required: true}}]}}");
    check("C42", &reviewed([both, FAIL], &rules(&same)), &[]);
    check("C41", &reviewed([both, FAIL], &rules(&same)), &[]);
    let other = same.replace("PASS", "FAIL");
    check(
        "C41",
        &reviewed([both, FAIL], &rules(&other)),
        &[
            "this exit rule takes `agent-review → reviewing`, whose gate refuses everything that the rule applies to",
        ],
    );
}

#[test]
fn a_gate_for_every_field_is_met_by_all_of_them() {
    let fields = r###", gate: {section: "## Review", fields: {all: [A, B, C, D, E, F, G, H]}}"###;
    let rules = r###"
    - {status: agent-review, has_artifact: {section: "## Review", fields: [A, B]}, then: reviewing}
    - {status: agent-review, action: mark_dead}"###;
    let source = reviewed([fields, FAIL], rules);
    check("C41", &source, &[]);
    check("C06", &source, &[]);
    check(
        "C42",
        &source,
        &[
            "this exit rule applies with a `## Review` with text and A, and the gate of `agent-review → reviewing` then refuses",
        ],
    );
}

#[test]
fn a_plain_rule_needs_guards_that_are_never_all_closed() {
    let rules = "    - {status: agent-review, then: reviewing}";
    let guarded = [r#", when: "review_round < 2""#, ""];
    let closed = "this exit rule leads to `reviewing`, and `agent-review → reviewing` is closed: review_round >= 2 (for \
                  example 2)";
    check("C43", &reviewed(guarded, rules), &[closed]);
    let both = reviewed(guarded, rules).replace(
        "  - {from: stuck, to: agent-review,",
        "  - {from: agent-review, to: reviewing, when: \"review_round >= 2\"}\n  - {from: stuck, to: agent-review,",
    );
    check("C43", &both, &[]);
}

#[test]
fn what_no_rule_applies_to_is_named() {
    let rules = r###"
    - {status: agent-review, has_artifact: {section: "## Review", verdict: PASS}, then: reviewing}
    - {status: agent-review, has_artifact: {section: "## Review", verdict: FAIL}, then: stuck}"###;
    check(
        "C44",
        &reviewed([PASS, FAIL], rules),
        &[
            "an agent that ends in `agent-review` with a `## Review` without a verdict, an empty `## Review` or no \
           `## Review` is shown as dead and nothing more: no exit rule applies",
        ],
    );
    let or_else = format!("{rules}\n    - {{status: agent-review, action: crash, stuck_after: 2}}");
    check("C44", &reviewed([PASS, FAIL], &or_else), &[]);
}

#[test]
fn a_verdict_that_no_rule_reads_is_no_missing_artifact() {
    let rules = r###"
    - {status: agent-review, has_artifact: {section: "## Review", verdict: PASS, strict: true}, then: reviewing}
    - {status: agent-review, no_artifact: true, action: crash, stuck_after: 2}"###;
    check(
        "C44",
        &reviewed([PASS, FAIL], rules),
        &[
            "in `agent-review`, a `## Review` with PASS in prose or a `## Review` without a verdict is taken for no artifact: \
           no exit rule says what becomes of it",
        ],
    );
}

#[test]
fn two_rules_can_hide_a_third() {
    let rules = r###"
    - {status: agent-review, has_artifact: {section: "## Review"}, then: reviewing}
    - {status: agent-review, no_artifact: true, action: mark_dead}
    - {status: agent-review, action: mark_dead}"###;
    check(
        "C45",
        &reviewed(["", ""], rules),
        &["this exit rule never applies: one of those before it does whenever it would"],
    );
}

#[test]
fn a_section_that_several_gates_read_in_turn_is_not_stale() {
    let rules = "    - {status: agent-review, action: mark_dead}";
    let source = reviewed([PASS, ""], rules).replace(
        "  - {from: [reviewing, stuck], to: done, hooks: [{action: release_workspace}]}",
        "  - {from: reviewing, to: done, hooks: [{action: release_workspace}], gate: {section: \"## Review\", verdict: PASS}}",
    );
    check("C49", &source, &[]);
    let back = source.replace("from: stuck, to: agent-review", "from: [stuck, reviewing], to: agent-review");
    let stale = |arrow: &str, state: &str| {
        format!(
            "the gate of `{arrow}` accepts a `## Review` that was written in an earlier visit to `{state}`"
        )
    };
    check("C49", &back, &[&stale("agent-review → reviewing", "agent-review")]);
}

#[test]
fn a_person_who_ends_the_task_needs_no_agent() {
    let rules =
        "    - {status: agent-review, action: mark_dead}\n    - {status: reviewing, action: mark_dead}";
    let source = reviewed(["", ""], rules)
        .replace("to: reviewing, hooks: [{action: kill_session}]", "to: reviewing, by: reviewer");
    check("C4A", &source, &[]);
}

#[test]
fn what_the_workflows_of_seed_000_show() {
    let default = include_str!("../../../../tests/fixtures/seed-default.yml");
    let stale = |arrow: &str, heading: &str, state: &str| {
        format!(
            "the gate of `{arrow}` accepts a `{heading}` that was written in an earlier visit to `{state}`"
        )
    };
    check(
        "C49",
        default,
        &[
            &stale("working → agent-review", "## Handoff", "working"),
            &stale("agent-review → stuck", "## Review", "agent-review"),
        ],
    );
    let empty = |to: &str| {
        format!(
            "this exit rule applies with an empty `## Handoff`, and the gate of `working → {to}` then refuses"
        )
    };
    check("C42", default, &[&empty("agent-review")]);
    check(
        "C44",
        default,
        &[
            "in `agent-review`, a `## Review` without a verdict is taken for no artifact: no exit rule says what becomes of it",
        ],
    );
    check(
        "C4A",
        default,
        &[
            "a worker that ends in `clarification` cannot be started again there, and no transition from there (to `working` or \
           `cancelled`) starts one",
        ],
    );
    check("C48", default, &["the exit rules of `reviewing` never apply: no worker is ever alive there"]);
    let minimal = include_str!("../../../../tests/fixtures/seed-minimal.yml");
    check("C42", minimal, &[&empty("reviewing")]);
    check("C49", minimal, &[]);
}

#[test]
fn what_only_exit_rules_read_is_old_the_second_time_too() {
    let rules = r###"
    - {status: agent-review, has_artifact: {section: "## Review", verdict: PASS}, then: reviewing}
    - {status: agent-review, has_artifact: {section: "## Review", verdict: FAIL}, then: stuck}
    - {status: agent-review, action: mark_dead}"###;
    let source = reviewed(["", ""], rules);
    let old = "this exit rule accepts a `## Review` that was written in an earlier visit to `agent-review`";
    // Nobody comes back from `reviewing`.
    check("C49", &source, &[old]);

    let found = every_finding(&Source::new("flow.yml", source.as_str())).diagnostics;
    let found = found.iter().find(|it| it.code() == "C49").expect("it is found");
    assert_eq!(
        found.help.as_deref(),
        Some(
            "write `gate: {section: \"## Review\", verdict: FAIL, fresh: true}` into `agent-review → stuck`, and add \
             `fresh: true` here: what was let through once then has to be rewritten"
        )
    );
    let mut mended = source;
    let mut edits = found.fix.clone().expect("it has a mend").edits;
    edits.sort_by_key(|it| std::cmp::Reverse(it.span.start));
    edits.iter().for_each(|it| mended.replace_range(it.span.range(), &it.text));
    check("C49", &mended, &[]);
    check("C42", &mended, &[]);
}

/// The rules of `agent-review` that leave nothing open, behind those of one test.
fn after(first: &str) -> String {
    let rules = [
        first,
        "has_artifact: {section: '## Review', verdict: PASS}, then: reviewing",
        "has_artifact: {section: '## Review', verdict: FAIL}, then: stuck",
        "has_artifact: {section: '## Review', required: true}, action: mark_dead",
        "no_artifact: true, action: crash",
    ];
    let rules = rules.into_iter().filter(|rule| !rule.is_empty());
    rules.map(|rule| format!("    - {{status: agent-review, {rule}}}\n")).collect()
}

#[test]
fn rules_about_ends_may_hold_or_not() {
    let waits = after("on_output: rate limit, action: wait, resume_after: 9");
    for code in ["C41", "C42", "C44", "C45", "C48", "C4A", "C4E"] {
        check(code, &reviewed([PASS, FAIL], &waits), &[]);
    }
    let only = "    - {status: agent-review, exit: {code: 75}, action: mark_dead}\n";
    check(
        "C44",
        &reviewed([PASS, FAIL], only),
        &[
            "an agent that ends in `agent-review` for any other reason is shown as dead and nothing more: no exit rule applies",
        ],
    );
}

#[test]
fn a_rule_about_ends_is_checked_against_gate_and_earlier_rules() {
    let leads_on = after("exit: {code: 0}, then: reviewing");
    let found = every_finding(&Source::new("flow.yml", reviewed([PASS, FAIL], &leads_on))).diagnostics;
    let messages: Vec<_> = found.iter().filter(|it| it.code() == "C42").map(|it| &it.message).collect();
    assert!(
        messages.len() == 1
            && messages[0].contains("and the gate of `agent-review → reviewing` then refuses"),
        "{messages:?}"
    );

    let shadowed = "this exit rule never applies: the one before it does whenever it would";
    let behind = |rules: &str| reviewed([PASS, FAIL], &format!("{}{rules}", after("")));
    let last = "    - {status: agent-review, exit: {code: 75}, action: mark_dead}\n";
    check(
        "C45",
        &behind(last),
        &["this exit rule never applies: one of those before it does whenever it would"],
    );
    let words = "on_output: limit, action: mark_dead}\n    - {status: agent-review, on_output: Rate Limit, action: mark_dead";
    check("C45", &reviewed([PASS, FAIL], &after(words)), &[shadowed]);
    let codes = "exit: {code: 1}, action: mark_dead}\n    - {status: agent-review, exit: {code: [1, 2]}, action: mark_dead";
    check("C45", &reviewed([PASS, FAIL], &after(codes)), &[]);
}

/// Deadlines in the place of the exit rules.
fn limited(deadlines: &str) -> String {
    let (text, prompts) = (reviewed([PASS, FAIL], ""), "prompts: {reviewer: Review it.}");
    let (before, _) = text.split_once("exit_monitoring:").unwrap();
    format!("{before}deadlines: [{deadlines}]\n{prompts}\n")
}

#[test]
fn a_notice_decides_about_no_end() {
    let text = limited("{states: agent-review, after: 4h}");
    let unmonitored = "a reviewer can be alive in `agent-review`, and no exit rule is for that state: should it end, the task \
                       stays there, and nothing is done about it";
    check("C47", &text, &[unmonitored]);
    for code in ["C44", "C48", "C4C"] {
        check(code, &text, &[]);
    }
    let without_prompt = text.replace("{respawn_prompt: reviewer}", "{}");
    let failed = "when `acquire_workspace` fails, `pending → agent-review` has led to `agent-review` all the same, and \
                  nothing starts an agent there again";
    check("C69", &without_prompt, &[failed]);
}

#[test]
fn a_deadline_where_a_person_is_waited_for_asks_for_no_agent() {
    let rules = "    - {status: agent-review, action: mark_dead}";
    let deadline = "deadlines: [{states: [reviewing, stuck], after: 3d, then: done}]\n";
    let text = reviewed([PASS, FAIL], rules) + deadline;
    for code in ["C05", "C44", "C45", "C48", "C4A", "C4C", "C68"] {
        check(code, &text, &[]);
    }
}

#[test]
fn a_deadline_is_called_one() {
    let rules = "    - {status: agent-review, action: mark_dead}";
    let text =
        reviewed([PASS, FAIL], rules) + "deadlines: [{states: agent-review, after: 4h, then: stuck}]\n";
    let message =
        "this deadline applies with no `## Review`, and the gate of `agent-review → stuck` then refuses";
    check("C42", &text, &[message]);
}

#[test]
fn a_deadline_takes_the_transition_that_names_the_engine() {
    let text = |by: &str| {
        format!(
            "
name: flow
states: {{pending: {{}}, review: {{respawn_prompt: reviewer}}, stuck: {{}}, done: {{terminal: true}}}}
transitions:
  - {{from: pending, to: review, hooks: [{{action: acquire_workspace}}, {{action: spawn_agent, prompt: reviewer, as: reviewer}}]}}
  - {{from: review, to: stuck, by: reviewer, gate: {{section: '## Review', verdict: FAIL, fresh: true}}, hooks: [{{action: kill_session}}]}}
  - {{from: review, to: stuck, by: {by}, hooks: [{{action: kill_session}}]}}
  - {{from: stuck, to: done, by: human, hooks: [{{action: release_workspace}}]}}
deadlines: [{{states: [review], after: 8h, then: stuck}}]
exit_monitoring: {{rules: [{{status: review, action: mark_dead}}]}}
prompts: {{reviewer: Review it.}}
"
        )
    };
    check("C42", &text("[engine, human]"), &[]);
    check(
        "C42",
        &text("human"),
        &["this deadline applies with no `## Review`, and the gate of `review → stuck` then refuses"],
    );
}

#[test]
fn a_timeout_is_over_before_a_deadline_that_moves_the_task() {
    let flow = |timeout: &str, deadline: &str, gate: &str| {
        format!(
            "name: flow\nstates:\n  a: {{respawn_prompt: p}}\n  b: {{respawn_prompt: p, timeout: {timeout}}}\n  c: {{}}\n  d: {{terminal: true}}\n\
             transitions:\n- {{from: a, to: b}}\n- {{from: a, to: c}}\n- {{from: b, to: c{gate}}}\n- {{from: c, to: d}}\n\
             deadlines:\n- {{{deadline}}}\nprompts: {{p: go}}\n"
        )
    };
    let of =
        |timeout: &str, deadline: &str, expect: &[&str]| check("C50", &flow(timeout, deadline, ""), expect);
    let never = ["the timeout of `b` is never over: a deadline moves the task on after 2 h at the latest"];
    let both = "states: [a, b], after: 2h, then: c";
    of("2h, on_timeout: c", both, &never);
    of("3h", both, &never);
    of("1h", both, &[]);
    of("3h", "states: a, after: 2h, then: c", &[]);
    of("3h", "states: [a, b], after: 2h", &[]);
    of("3h", "states: [a, b], after: 4h, then: c}\n- {states: b, after: 2h, then: c", &never);
    check("C50", &flow("3h", both, ", when: \"review_round < 2\""), &[]);
    check("C50", &flow("3h", both, ", gate: {section: \"## Notes\", required: true}"), &[]);
}
