//! A corpus of prompts, and what is read in them.

use std::collections::HashMap;

use super::reading::{States, read};
use super::{Mood, Reading, Target};
use orange_codegen::span::Span;
use orange_codegen::syntax::Text;
use orange_core::StateId;

const STATES: [&str; 9] = [
    "pending",
    "planning",
    "clarification",
    "working",
    "agent-review",
    "reviewing",
    "stuck",
    "done",
    "cancelled",
];

fn reading(prompt: &str) -> Reading {
    let states: States<'_> =
        STATES.into_iter().enumerate().map(|(at, it)| (it, StateId(at as u16))).collect::<HashMap<_, _>>();
    read(&Text::verbatim(prompt.to_owned(), Span::default()), &states)
}

/// `not X` is forbidden, `(X)` is presumed, `((X))` is spoken of, `X?` is conditional, `X@a+b` is for these states, `<X>` leaves the status
/// open, `!X` is no state.
fn commands(prompt: &str) -> String {
    let reading = reading(prompt);
    let told = reading.commands.iter().map(|it| {
        let name = match it.target {
            Target::State(_) => it.name.clone(),
            Target::Open => format!("<{}>", it.name),
            Target::Unknown => format!("!{}", it.name),
        };
        let only: Vec<&str> = it.only_in.iter().map(|it| STATES[usize::from(it.0)]).collect();
        let only = if only.is_empty() { String::new() } else { format!("@{}", only.join("+")) };
        let name = format!("{name}{}{only}", if it.conditional { "?" } else { "" });
        match it.mood {
            Mood::Told => name,
            Mood::Presumed => format!("({name})"),
            Mood::Mentioned => format!("(({name}))"),
            Mood::Negated => format!("not {name}"),
        }
    });
    told.collect::<Vec<_>>().join(", ")
}

#[track_caller]
fn check(prompt: &str, expect: &str) {
    assert_eq!(commands(prompt), expect, "{prompt}");
}

#[track_caller]
fn sections(prompt: &str, expect: &[&str]) {
    let reading = reading(prompt);
    let told: Vec<String> = reading
        .sections
        .iter()
        .map(|it| {
            let line = prompt[it.at..].lines().next().unwrap_or_default();
            let name: Vec<&str> = line.split([' ', ',', '.', ')', '`', '"']).take(2).collect();
            let verb = if it.reads { "read " } else { "" };
            let not = if it.mood == Mood::Negated { "not " } else { "" };
            format!("{not}{verb}{}", name.join(" "))
        })
        .collect();
    assert_eq!(told, expect, "{prompt}");
}

#[track_caller]
fn verdicts(prompt: &str, words: &[&str], line: bool) {
    let reading = reading(prompt);
    let told: Vec<&str> = reading.verdicts.iter().map(|it| it.word.as_str()).collect();
    assert_eq!((told, reading.verdict_line), (words.to_vec(), line), "{prompt}");
}

#[track_caller]
fn branches(prompt: &str, expect: &[&str], otherwise: bool) {
    let reading = reading(prompt);
    let told: Vec<&str> = reading.branches.iter().map(|it| STATES[usize::from(it.0)]).collect();
    assert_eq!((told, reading.otherwise), (expect.to_vec(), otherwise), "{prompt}");
}

#[test]
fn commands_come_in_order_in_every_form() {
    check("", "");
    check("Do it, then run: orange task update --status done", "done");
    check("Run `orange task update --status agent-review`.", "agent-review");
    check("orange task update --status=agent-review", "agent-review");
    check("orange task update --status \"agent-review\"", "agent-review");
    check("orange task update {id} --summary \"what it is\" --status working", "working");
    check("Set --status working, implement, set --status agent-review.", "working, agent-review");
    check("Then set the status to agent-review.", "agent-review");
    check("Set status: stuck", "stuck");
    check("When that is done, set the task's status to **reviewing**.", "reviewing?");
    check("Finish with\n\n```bash\norange task update --status agent-review\n```\n", "agent-review");
    check("Finish by running `orange task update --status agent-review`", "agent-review");
    check("orange task update --status\nagent-review", "agent-review");
}

#[test]
fn what_is_no_name_of_a_state_is_told_apart() {
    check("Run orange task update --status agent_review", "!agent_review");
    check("Run orange task update --status finished", "!finished");
    check("Run orange task update --status <status>", "<status>");
    check("Run orange task update --status {next}", "<next>");
    check("Run orange task update --status ...", "<.>");
    check("Use the --status flag of orange task update.", "");
    check("Use orange task update with the --status flag.", "");
    check("The list that --statuses prints; --status", "");
    check("set --status workign", "!workign");
}

#[test]
fn a_choice_makes_each_of_its_commands_conditional() {
    check("orange task update --status <reviewing|working>", "reviewing?, working?");
    check("orange task update --status reviewing or stuck", "reviewing?, stuck?");
    check("orange task update --status reviewing/working/stuck", "reviewing?, working?, stuck?");
    check("Run --status reviewing or --status stuck.", "reviewing?, stuck?");
    check(
        "You may:\n- orange task update --status agent-review: it is ready\n- orange task update --status stuck: you are blocked\n",
        "agent-review?, stuck?",
    );
    check(
        "| verdict | command |\n| good | orange task update --status reviewing |\n| bad | orange task update --status working |\n",
        "reviewing?, working?",
    );
    check(
        "5. Approve: orange task update --status reviewing\n6. Reject: orange task update --status working\n",
        "reviewing?, working?",
    );
    check("Approve: --status reviewing\nReject: --status working", "reviewing?, working?");
    check("Plan: --status working. Then set --status agent-review", "working, agent-review");
    check("- Write ## Handoff\n- orange task update --status agent-review\n", "agent-review");
}

#[test]
fn what_is_forbidden_is_no_command() {
    check("Do NOT set --status reviewing directly — always use agent-review", "not reviewing");
    check("Never run orange task update --status done.", "not done");
    check("Don't set --status done; set --status agent-review.", "not done, agent-review");
    check("Don’t set --status done, but set --status agent-review.", "not done, agent-review");
    check("Do not set --status done or --status cancelled.", "not done?, not cancelled?");
    check("Use --status agent-review instead of --status done.", "agent-review, not done");
    check("Set --status agent-review rather than --status done.", "agent-review, not done");
    check("Instead of --status done, always use --status agent-review.", "not done, agent-review");
    check("You must not, under any circumstances,\nset --status done", "not done");
    check("Avoid --status done.", "not done");
    check("--status done is forbidden. --status cancelled is not allowed.", "not done, not cancelled");
    check("Do NOT:\n- push\n- set --status done\n\nThen set --status agent-review", "not done, agent-review");
    check("## What you must not do\n- --status done\n\n## Steps\n1. --status working", "not done, working");
    check("Leave without setting --status done.", "not done");
    check("Do NOT push to remote\nThen set --status agent-review", "agent-review");
    check("Do not merge! Set --status agent-review.", "agent-review");
}

#[test]
fn two_negations_are_none() {
    check("Do not forget to run orange task update --status agent-review.", "agent-review");
    check("Do not finish without setting --status agent-review.", "agent-review");
    check("Don't stop before you have run `orange task update --status agent-review`.", "agent-review");
    check("Never exit until --status agent-review went through.", "agent-review");
}

#[test]
fn what_is_spoken_of_is_no_command() {
    check("ALWAYS write ## Handoff to TASK.md before setting --status agent-review", "(agent-review)");
    check("After setting --status agent-review, WAIT.", "(agent-review)");
    check("After running the tests, set --status agent-review.", "agent-review");
    check("After running the tests set --status agent-review.", "agent-review");
    check("Before you set --status agent-review, commit.", "(agent-review)");
    check("Before finishing, set --status agent-review.", "agent-review");
    check("When you run --status agent-review, a reviewer starts.", "((agent-review?))");
    check("Once --status agent-review is accepted, wait.", "((agent-review?))");
}

#[test]
fn conditions_are_heard_where_people_put_them() {
    check("3. If unclear: add ## Questions, set --status clarification, wait", "clarification?");
    check("If unclear, set --status clarification. Then set --status working.", "clarification?, working");
    check("If unclear set --status clarification", "clarification?");
    check("If the goal is not clear, set --status clarification.", "clarification?");
    check("If the tests do not pass set --status stuck.", "stuck?");
    check("If you have not set --status agent-review yet, do it.", "not agent-review?");
    check("Set --status stuck if you cannot go on.", "stuck?");
    check("Set --status stuck (only when you are blocked).", "stuck?");
    check("Run --status agent-review (the command fails if ## Handoff is missing)", "agent-review");
    check("- PASS → orange task update --status reviewing", "reviewing?");
    check("- FAIL, round < 2 -> orange task update --status working", "working?");
    check("PASS: orange task update --status reviewing", "reviewing?");
    check("If it fails:\n- say why\n- set --status stuck\n\nSet --status done.", "stuck?, done");
    check(
        "If it fails:\n\n```\norange task update --status stuck\n```\n\nSet --status done.",
        "stuck?, done",
    );
    check("3. If it fails\n   a. say why\n   b. --status stuck\n4. --status done", "stuck?, done");
    check("## If it fails\n--status stuck\n## Steps\n--status done", "stuck?, done");
    check("If it works: --status agent-review. Otherwise --status stuck.", "agent-review?, stuck?");
    check("Resume: orange task update --status working", "working");
    check("Unless it is trivial, do NOT set --status done.", "not done?");
}

#[test]
fn a_case_of_the_status_says_for_which_states_a_command_is() {
    let list = "If status is planning:\n  1. Write ## Plan\n  2. orange task update --status working\n\nIf status is working:\n  1. orange task update --status agent-review\n";
    check(list, "working?@planning, agent-review?@working");
    branches(list, &["planning", "working"], false);
    let labels = "Go by the status:\n- planning: write ## Plan, --status working\n- `working` or `stuck`: --status agent-review\n- otherwise wait";
    check(labels, "working?@planning, agent-review?@working+stuck");
    branches(labels, &["planning", "working", "stuck"], true);
    branches(
        "- If back in working status: fix it\n- If in reviewing status: wait",
        &["working", "reviewing"],
        false,
    );
    branches("When the status is stuck, ask first.\nOtherwise go on.", &["stuck"], true);
    branches("If the status is not stuck, go on.", &[], true);
    branches("If status is empty: ask. Status: {status}", &[], false);
    branches("If done: stop. While working on it, commit.", &[], false);
}

#[test]
fn sections_are_to_be_written_or_only_to_be_read() {
    sections("6. Write ## Handoff to TASK.md (DONE/REMAINING)", &["## Handoff"]);
    sections("Read ## Review and ## Handoff for context.", &["read ## Review", "read ## Handoff"]);
    sections("Read ## Review, then update ## Handoff.", &["read ## Review", "## Handoff"]);
    sections("Do NOT set status without writing ## Review first", &["## Review"]);
    sections("Do NOT touch ## Plan.", &["not ## Plan"]);
    sections("(the command will fail if ## Handoff is missing)", &["## Handoff"]);
    sections("Check that ## Handoff is written.", &["## Handoff"]);
    sections("Implement according to ## Plan, test, commit", &["read ## Plan"]);
    sections("Fill in the Handoff section, and the `Notes` heading.", &["Handoff section", "Notes "]);
    sections("Write this:\n\n## Review\nVerdict: PASS", &["## Review"]);
    sections("Review the diff", &[]);
}

#[test]
fn verdicts_are_read_where_they_are_asked_for() {
    verdicts("First line must be: \"Verdict: PASS\" or \"Verdict: FAIL\"", &["PASS", "FAIL"], true);
    verdicts("with verdict (PASS/FAIL) and specific feedback", &["PASS", "FAIL"], false);
    verdicts("Begin with `Verdict: APPROVED` or `Verdict: REJECTED`.", &["APPROVED", "REJECTED"], true);
    verdicts("Begin with \"Verdict: approved\".", &["approved"], true);
    verdicts("Verdict: <PASS|FAIL|BLOCKED>", &["PASS", "FAIL", "BLOCKED"], true);
    verdicts("Give a verdict: PASS, FAIL or UNSURE.", &["PASS", "FAIL", "UNSURE"], false);
    verdicts("The verdict MUST be clear. Verdict: PASS, NOT maybe.", &["PASS"], true);
    verdicts("Never write Verdict: MAYBE.", &[], false);
    verdicts("Give your verdict and say why.", &[], false);
}

#[test]
fn waiting_going_on_and_ending_are_heard() {
    let flags = |prompt: &str| {
        let reading = reading(prompt);
        let commands: Vec<_> = reading.commands.iter().map(|it| (it.waits, it.goes_on)).collect();
        (commands, reading.ends)
    };
    assert_eq!(flags("set --status clarification, wait\n\nThen go"), (vec![(true, false)], false));
    assert_eq!(flags("If unclear: --status clarification, then proceed."), (vec![(false, true)], false));
    assert_eq!(flags("--status stuck and stop"), (vec![(false, false)], true));
    assert_eq!(flags("Write ## Handoff, then exit."), (vec![], true));
    assert_eq!(flags("Do not stop."), (vec![], false));
}

#[test]
fn hostile_prompts_are_read_in_time_and_without_panic() {
    let odd = [
        "--status",
        "`",
        "\n",
        "—",
        "## ",
        "Verdict:",
        "If ",
        ":",
        "é",
        "- ",
        "{",
        "<",
        "orange task update ",
    ];
    for first in odd {
        for second in odd {
            reading(&[first, second, first, "--status ", second].concat());
        }
    }
    for piece in
        ["--status done or ", "If status is done: ", "- not --status done, ", "## a verdict: ", "  - :\n"]
    {
        reading(&piece.repeat(20_000));
    }
    let deep: String = (0..2_000).map(|at| format!("{}- if:\n", " ".repeat(at))).collect();
    reading(&deep);
}
