//! Cases that the `docs/lints` pages of these checks don't show: other actors, other kinds of steps, and the reports of other
//! checks.

use crate::every_finding;
use orange_codegen::source::Source;

/// A workflow of these transitions; each ends before the next `;`.
fn flow(states: &str, transitions: &str, rest: &str) -> String {
    let states: String = states.split("; ").map(|it| format!("  {it}\n")).collect();
    let transitions: String = transitions.split(";").map(|it| format!("  - {{{}}}\n", it.trim())).collect();
    let prompts = "prompts: {worker: Work., reviewer: Review.}\n";
    format!("name: flow\nstates:\n{states}transitions:\n{transitions}{rest}{prompts}")
}

const WORKER: &str = "{action: spawn_agent, prompt: worker}";
const REVIEWER: &str = "{action: spawn_agent, prompt: reviewer, harness: review}";
const BESIDE: &str = "{action: spawn_reviewer, prompt: reviewer}";
const ACQUIRE: &str = "{action: acquire_workspace}";
const RELEASE: &str = "{action: release_workspace}";
const KILL: &str = "{action: kill_session}";
const START: &str =
    "from: a, to: b, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]";
const END: &str = "hooks: [{action: kill_session}, {action: release_workspace}]";

/// The findings of this group but hook-unneeded: code and message, one per line.
#[track_caller]
fn check(source: &str, expect: &[&str]) {
    let found = every_finding(&Source::new("flow.yml", source)).diagnostics;
    assert!(found.iter().all(|it| it.level > orange_codegen::Level::Error), "{found:#?}");
    let found = found.iter().filter(|it| it.code().starts_with("C6") && it.code() != "C65");
    let found: Vec<String> = found.map(|it| format!("{} {}", it.code(), it.message)).collect();
    assert_eq!(found, expect, "{source}");
}

#[test]
fn a_first_agent_may_be_a_reviewer() {
    let states = "a: {}; b: {respawn_prompt: worker}; c: {respawn_prompt: reviewer}; z: {terminal: true}";
    let transitions = format!(
        "{START}; from: b, to: c, hooks: [{KILL}, {REVIEWER}]; from: c, to: b, hooks: [{WORKER}]; from: b, to: z, {END}"
    );
    check(
        &flow(states, &transitions, ""),
        &["C62 `c → b` starts a worker while the reviewer may still be alive in the worktree"],
    );
}

#[test]
fn a_reviewer_may_run_beside_a_worker_and_not_beside_a_reviewer() {
    let states = "a: {}; b: {respawn_prompt: worker}; c: {respawn_prompt: reviewer}; z: {terminal: true}";
    let transitions = |back: &str| {
        format!("{START}; from: b, to: c, hooks: [{BESIDE}]; from: c, to: b{back}; from: b, to: z, {END}")
    };
    check(&flow(states, &transitions(", hooks: [{action: kill_reviewer}]"), ""), &[]);
    let again =
        ", hooks: [{action: notify_worker, message: Go on., prompt: worker}, {action: kill_reviewer}]";
    check(&flow(states, &transitions(again), ""), &[]);
    check(
        &flow(states, &transitions(""), ""),
        &["C62 `b → c` starts a second reviewer while the first may still be alive in the worktree"],
    );
}

#[test]
fn a_respawn_may_be_what_starts_the_second_agent() {
    let states = "a: {}; b: {respawn_prompt: worker}; c: {respawn_prompt: reviewer}; z: {terminal: true}";
    let transitions = format!(
        "{START}; from: b, to: c; from: d, to: c, hooks: [{REVIEWER}]; from: b, to: d, hooks: [{KILL}]; from: c, to: z, {END}"
    );
    check(
        &flow(&format!("{states}; d: {{}}"), &transitions, ""),
        &["C62 a respawn in `c` starts a reviewer while the worker may still be alive in the worktree"],
    );
}

#[test]
fn hooks_out_of_order_are_reported_once() {
    let states = "a: {}; b: {respawn_prompt: worker}; z: {terminal: true}";
    let begin =
        |hooks: &str| flow(states, &format!("from: a, to: b, hooks: [{hooks}]; from: b, to: z, {END}"), "");
    check(
        &begin(&format!("{WORKER}, {ACQUIRE}")),
        &["C67 `a → b` runs `spawn_agent` before `acquire_workspace`"],
    );
    check(
        &begin(&format!("{ACQUIRE}, {WORKER}, {KILL}")),
        &["C67 `a → b` runs `spawn_agent` before `kill_session`"],
    );
    check(
        &begin(&format!("{ACQUIRE}, {WORKER}, {RELEASE}")),
        &["C67 `a → b` runs `spawn_agent` before `release_workspace`"],
    );
    let again = format!("{START}; from: b, to: b, hooks: [{WORKER}, {KILL}]; from: b, to: z, {END}");
    check(&flow(states, &again, ""), &["C67 `b → b` runs `spawn_agent` before `kill_session`"]);
}

#[test]
fn a_worktree_is_not_given_away_under_an_agent() {
    let states = "a: {}; b: {respawn_prompt: worker}; c: {}; z: {terminal: true}";
    let transitions = format!("{START}; from: b, to: c, hooks: [{RELEASE}]; from: c, to: z");
    check(
        &flow(states, &transitions, ""),
        &["C60 `b → c` gives the worktree back while the worker may still be alive"],
    );
}

#[test]
fn an_agent_that_has_ended_leaves_nothing_behind() {
    let states = "a: {}; b: {respawn_prompt: worker}; z: {terminal: true}";
    let transitions = format!("{START}; from: b, to: z, by: engine, hooks: [{RELEASE}]");
    check(&flow(states, &transitions, "exit_monitoring: {rules: [{status: b, then: z}]}\n"), &[]);
}

#[test]
fn of_several_spawns_without_a_worktree_the_first_is_reported() {
    let states = "a: {}; b: {}; c: {}; z: {terminal: true}";
    let transitions = format!(
        "from: a, to: b, hooks: [{WORKER}]; from: b, to: c, hooks: [{KILL}, {WORKER}]; from: c, to: b; from: c, to: z, {END}"
    );
    check(
        &flow(states, &transitions, ""),
        &[
            "C63 `a → b` starts `worker` where no worktree is bound",
            "C69 when `spawn_agent` fails, `a → b` has led to `b` all the same, and nothing starts an agent there again",
            "C69 when `spawn_agent` fails, `b → c` has led to `c` all the same, and nothing starts an agent there again",
        ],
    );
}

#[test]
fn a_task_that_was_created_further_on_can_be_started() {
    let states =
        "a: {}; b: {respawn_prompt: worker}; c: {respawn_prompt: worker, entry: true}; z: {terminal: true}";
    let transitions = format!(
        "{START}; from: b, to: c, hooks: [{KILL}]; from: c, to: b, hooks: [{KILL}, {WORKER}]; from: b, to: z, {END}"
    );
    check(&flow(states, &transitions, ""), &[]);
}

#[test]
fn nobody_is_ever_there() {
    let states = "a: {}; b: {respawn_prompt: worker}; c: {respawn_prompt: worker}; z: {terminal: true}";
    let tell = "{action: notify_worker, message: Go on.}";
    let transitions =
        |hooks: &str| format!("{START}; from: b, to: c, hooks: [{KILL}, {hooks}]; from: c, to: z, {END}");
    check(
        &flow(states, &transitions(tell), ""),
        &["C64 `b → c` sends a message to a worker, and none is ever alive there"],
    );
    check(
        &flow(states, &transitions(BESIDE), ""),
        &["C64 `b → c` starts a reviewer beside a worker, and none is ever alive there"],
    );
}

#[test]
fn a_state_whose_agent_is_never_started() {
    let states = "a: {}; b: {respawn_prompt: worker}; c: {respawn_prompt: reviewer}; z: {terminal: true}";
    let rules = "exit_monitoring: {rules: [{status: b, then: c}, {status: c, then: z}]}\n";
    let transitions = |first: &str, second: &str| {
        format!(
            "from: a, to: b, hooks: [{ACQUIRE}{first}]; from: b, to: c, hooks: [{KILL}{second}]; from: c, to: z, {END}"
        )
    };
    let (worker, reviewer) = (format!(", {WORKER}"), format!(", {REVIEWER}"));
    check(&flow(states, &transitions(&worker, &reviewer), rules), &[]);
    check(
        &flow(states, &transitions(&worker, ""), rules),
        &["C68 `b → c` starts no worker, and none is alive: nobody works in `c`"],
    );
    check(
        &flow(states, &transitions("", &reviewer), rules),
        &["C68 `a → b` starts no worker, and none is alive: nobody works in `b`"],
    );
}

#[test]
fn only_who_is_alive_can_destroy_something() {
    let states = "a: {}; b: {respawn_prompt: worker}; c: {}; z: {terminal: true}";
    let transitions = format!(
        "{START}; from: b, to: c, hooks: [{KILL}]; from: c, to: z, hooks: [{RELEASE}, {{action: delete_remote_branch}}]"
    );
    check(&flow(states, &transitions, ""), &[]);
}

#[test]
fn what_a_fix_mends_is_mended() {
    for lint_of in super::LINTS {
        let page = lint_of.page.1;
        let example = page.split("```").nth(1).and_then(|it| it.strip_prefix("yaml\n")).expect("an example");
        let found = every_finding(&Source::new("flow.yml", example)).diagnostics;
        for found in found.iter().filter(|it| it.code() == lint_of.page.0.code) {
            let Some(fix) = &found.fix else { continue };
            assert!(!fix.safe, "{}", found.message);
            let mut mended = example.to_owned();
            let mut edits = fix.edits.clone();
            edits.sort_by_key(|it| std::cmp::Reverse(it.span.start));
            edits.iter().for_each(|it| mended.replace_range(it.span.range(), &it.text));
            let left = every_finding(&Source::new("flow.yml", mended.as_str())).diagnostics;
            assert!(left.iter().all(|it| it.code() != found.code()), "{mended}\n{left:#?}");
        }
    }
}

#[test]
fn a_reviewer_not_ended_before_the_next_is_reported_once() {
    let states = "a: {}; b: {respawn_prompt: worker}; c: {respawn_prompt: reviewer}; z: {terminal: true}";
    let transitions = format!(
        "{START}; from: b, to: c, hooks: [{{action: spawn_reviewer, prompt: reviewer, increment: review_round}}]; from: c, to: b; from: c, to: z, hooks: [{{action: kill_reviewer}}, {{action: kill_session}}, {RELEASE}]"
    );
    check(
        &flow(states, &transitions, ""),
        &["C62 `b → c` starts a second reviewer while the first may still be alive in the worktree"],
    );
}

/// The findings of `workspace-conflict`, in which the agents of `t` work without a worktree.
#[track_caller]
fn conflicts(transitions: &str, rest: &str, expect: &[&str]) {
    let states = "a: {}; t: {respawn_prompt: reviewer, agent: {workspace: none}}; b: {respawn_prompt: worker}; z: {terminal: true}";
    let found = every_finding(&Source::new("flow.yml", flow(states, transitions, rest))).diagnostics;
    let of_folder = |code: &str| ["C60", "C61", "C63", "C74"].contains(&code);
    let found = found.iter().filter(|it| of_folder(it.code()));
    let found: Vec<String> = found.map(|it| format!("{} {}", it.code(), it.message)).collect();
    assert_eq!(found, expect, "{transitions}");
}

#[test]
fn a_state_without_a_worktree_needs_none() {
    let triage = "{action: spawn_agent, prompt: reviewer}";
    conflicts(
        &format!(
            "from: a, to: t, hooks: [{triage}]; from: t, to: z, hooks: [{KILL}]; \
             from: t, to: b, hooks: [{KILL}, {ACQUIRE}, {WORKER}]; from: b, to: z, {END}"
        ),
        "",
        &[],
    );
    conflicts(
        &format!(
            "from: a, to: t, hooks: [{triage}]; from: t, to: b, hooks: [{KILL}, {WORKER}]; from: b, to: z, {END}"
        ),
        "",
        &["C63 `t → b` starts `worker` where no worktree is bound"],
    );
}

#[test]
fn a_worktree_and_a_folder_exclude_each_other() {
    let triage = "{action: spawn_agent, prompt: reviewer}";
    conflicts(
        &format!("{START}; from: b, to: t, hooks: [{KILL}, {triage}]; from: t, to: z, {END}"),
        "",
        &["C74 `b → t` starts an agent that works without a worktree, while the task may hold one"],
    );
    conflicts(
        &format!("{START}; from: b, to: t, hooks: [{KILL}, {RELEASE}, {triage}]; from: t, to: z, {END}"),
        "",
        &[],
    );
    conflicts(
        &format!(
            "from: a, to: t, hooks: [{triage}]; from: t, to: b, hooks: [{ACQUIRE}]; from: b, to: z, {END}"
        ),
        "",
        &["C74 `t → b` takes a worktree while the worker may still be alive in the task's folder"],
    );
}

#[test]
fn nothing_of_a_folder_is_run_pushed_or_judged() {
    let triage = "{action: spawn_agent, prompt: reviewer}";
    conflicts(
        &format!(
            "from: a, to: t, hooks: [{triage}]; from: t, to: z, hooks: [{KILL}, {{action: push_branch}}]"
        ),
        "",
        &["C74 `t → z` runs `push_branch` where the task has no worktree"],
    );
    conflicts(
        &format!(
            "from: a, to: t, hooks: [{triage}]; from: t, to: z, gate: {{command: {{argv: [make]}}}}, hooks: [{KILL}]"
        ),
        "",
        &["C74 a gate asks a program about the work in `t`, where the task has no worktree"],
    );
}

#[test]
fn an_agent_of_a_folder_is_not_left_where_a_worktree_is_wanted() {
    let triage = "{action: spawn_agent, prompt: reviewer}";
    let stays = |hooks: &str| {
        format!("from: a, to: t, hooks: [{triage}]; from: t, to: b{hooks}; from: b, to: z, {END}")
    };
    conflicts(
        &stays(""),
        "",
        &["C74 `t → b` leaves the worker in the task's folder, and the agents of `b` work in a worktree"],
    );
    conflicts(&stays(&format!(", hooks: [{KILL}]")), "", &[]);
}

#[test]
fn a_reset_from_the_initial_value_changes_no_round() {
    // An agent that is started again would begin a first round.
    let states = "a: {}; b: {respawn_prompt: worker}; c: {}; z: {terminal: true}";
    let reset = "{action: reset, field: review_round}";
    let rounds = |when: &str, into: &str| {
        let transitions = format!(
            "{START}; from: b, to: c, hooks: [{{action: spawn_reviewer, prompt: reviewer{into}}}]; \
             from: c, to: b{when}, hooks: [{reset}, {{action: kill_reviewer}}]; from: b, to: z, {END}"
        );
        flow(states, &transitions, "")
    };
    let (when, into) = (", when: \"review_round < 2\"", ", increment: review_round");
    let changed =
        "C66 `c → b` ends `review-…` after `review_round` has changed: the window's number is not the task's";
    check(&rounds("", ""), &[]);
    check(&rounds(when, ""), &[]);
    check(&rounds("", into), &[changed]);
    check(&rounds(when, into), &[changed]);
}

/// Asserts the number of findings of a check.
#[track_caller]
fn check_count(code: &str, source: &str, expect: usize) {
    let found = every_finding(&Source::new("flow.yml", source)).diagnostics;
    assert_eq!(found.iter().filter(|it| it.code() == code).count(), expect, "{source}\n{found:#?}");
}

#[test]
fn words_for_a_shell_are_found_in_every_shape() {
    let text = |argv: &str| {
        let states = "a: {}; b: {respawn_prompt: worker}; z: {terminal: true}";
        let leaves =
            format!("from: b, to: z, hooks: [{KILL}, {{action: run_command, argv: {argv}}}, {RELEASE}]");
        flow(states, &format!("{START}; {leaves}"), "")
    };
    for argv in [
        "[FOO=1, make]",
        "['./run.sh', '*.rs']",
        "['~/bin/x']",
        "[cat, '~/notes']",
        "[make, '>out']",
        "[make, '2>/dev/null']",
        "[make, '<branch>']",
        "[ls, 'src/**/*.rs']",
    ] {
        check_count("C70", &text(argv), 1);
    }
    for argv in [
        "[make, FOO=1]",
        "[env, FOO=1, make]",
        "[grep, '.*rs', x]",
        "[git, diff, '--', x]",
        "[cargo, test, '--exclude=*.rs']",
        "[sh, -c, 'ls *.rs > out']",
        "[git, rev-parse, 'HEAD~1']",
        "[test, 'a>=b']",
    ] {
        check_count("C70", &text(argv), 0);
    }
}

#[test]
fn a_program_before_the_end_of_the_session_decides_too_late() {
    let text = |hooks: &str| {
        let states = "a: {}; b: {respawn_prompt: worker}; c: {}; z: {terminal: true}";
        let leaves = format!("from: b, to: c, hooks: [{hooks}]");
        flow(states, &format!("{START}; {leaves}; from: c, to: z, by: human, {END}"), "")
    };
    let tests = "{action: run_command, argv: [make, test]}";
    check_count("C72", &text(&format!("{tests}, {KILL}")), 1);
    check_count("C72", &text(&format!("{KILL}, {tests}")), 0);
    check_count("C72", &text(&format!("{}, {KILL}", tests.replace("test]", "test], on_failure: go-on"))), 0);
}

#[test]
fn an_agent_in_a_state_for_a_person_is_one_error() {
    let states = "a: {}; b: {respawn_prompt: worker}; c: {wait: human}; z: {terminal: true}";
    let text = flow(states, &format!("{START}; from: b, to: c; from: c, to: z, by: human, {END}"), "");
    let found = crate::lint(&Source::new("flow.yml", text)).diagnostics;
    let of = |code: &str| found.iter().filter(|it| it.code() == code).map(|it| it.level).collect::<Vec<_>>();
    assert_eq!((of("C4F"), of("C47").len()), (vec![orange_codegen::Level::Error], 0), "{found:#?}");
}
