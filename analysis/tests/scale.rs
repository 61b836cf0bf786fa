//! Growth of the search and the lints: counts of what they look at, which are the same on every machine.

#![expect(clippy::expect_used, reason = "a test whose workflow does not compile has failed")]

use std::fmt::Write as _;

use orange_analysis::lint::MAX_TRACED;
use orange_analysis::missions::{Failures, MissionSearch, SearchScope};
use orange_analysis::search::{Cut, MAX_CONFIGURATIONS, MAX_STEPS, Search, SearchLimits};
use orange_analysis::{every_finding, lint};
use orange_codegen::lower::{Arena, PlanArena, lower, lower_plan};
use orange_codegen::{Source, compile};
use orange_core::plan::{Execution, Intervene, Policy};

/// Size of a search.
#[derive(Debug, PartialEq, Eq)]
struct Count {
    configurations: usize,
    edges: usize,
    cut: Option<Cut>,
}

#[track_caller]
fn count(text: &str) -> Count {
    let checked = compile(&Source::new("flow.yml", text)).checked.expect("a workflow without an error");
    let arena = Arena::default();
    let machine = lower(&checked, &arena).expect("a state machine");
    let search = Search::run(&machine);
    let (configurations, edges) = (search.configurations().count(), search.edges().count());
    Count { configurations, edges, cut: search.cut() }
}

/// The codes of what is found, each once.
fn codes(text: &str) -> Vec<&'static str> {
    let mut codes: Vec<_> =
        lint(&Source::new("flow.yml", text)).diagnostics.iter().map(|it| it.code()).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

const START: &str = "[{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]";
const END: &str = "[{action: kill_session}, {action: release_workspace}]";

/// States one after the other, each with a gate, hooks, rules and a transition that cancels.
fn chain(states: usize, hooks: &str) -> String {
    let mut text = "name: flow\nstates:\n  pending: {}\n".to_owned();
    let mut add = |line: String| writeln!(text, "{line}").expect("memory");
    (0..states).for_each(|at| add(format!("  s{at}: {{respawn_prompt: worker}}")));
    add(format!("  s{states}: {{terminal: true}}\n  cancelled: {{terminal: true}}\ntransitions:"));
    add(format!("  - {{from: pending, to: s0, hooks: {START}}}"));
    let gate = "{section: \"## Handoff\", required: true, fresh: true}";
    for at in 0..states {
        let hooks = if at + 1 == states { END } else { hooks };
        add(format!("  - {{from: s{at}, to: s{}, gate: {gate}, hooks: {hooks}}}", at + 1));
        add(format!("  - {{from: s{at}, to: cancelled, hooks: {END}}}"));
    }
    add("exit_monitoring:\n  rules:".to_owned());
    for at in 0..states {
        add(format!("    - {{status: s{at}, has_artifact: {gate}, then: s{}}}", at + 1));
        add(format!("    - {{status: s{at}, no_artifact: true, action: mark_dead}}"));
    }
    add("prompts: {worker: Work.}".to_owned());
    text
}

/// A state from which every one of these transitions leads to another and back.
fn star(head: &str, transitions: impl Iterator<Item = String>) -> String {
    let transitions: Vec<String> = transitions.collect();
    let mut text = format!("name: flow\n{head}states:\n  a: {{}}\n  z: {{terminal: true}}\n");
    let mut add = |line: String| writeln!(text, "{line}").expect("memory");
    (0..transitions.len()).for_each(|at| add(format!("  s{at}: {{}}")));
    add("transitions:\n  - {from: a, to: z}".to_owned());
    for (at, keys) in transitions.iter().enumerate() {
        add(format!("  - {{from: a, to: s{at}, {keys}}}\n  - {{from: s{at}, to: a}}"));
    }
    text
}

fn counters(count: usize, bound: u32) -> String {
    let fields: Vec<String> = (0..count).map(|at| format!("c{at}: 0")).collect();
    let head = format!("fields: {{{}}}\n", fields.join(", "));
    let keys = |at| format!("when: \"c{at} < {bound}\", hooks: [{{action: increment, field: c{at}}}]");
    star(&head, (0..count).map(keys))
}

fn sections(count: usize) -> String {
    star("", (0..count).map(|at| format!("gate: {{section: \"## S{at}\", verdict: PASS, fresh: true}}")))
}

#[test]
fn a_chain_grows_as_it_is_long() {
    let kills = "[{action: kill_session}, {action: spawn_agent, prompt: worker}]";
    let [one, two, four] = [100, 200, 400].map(|states| count(&chain(states, kills)));
    let more = |a: &Count, b: &Count| (b.configurations - a.configurations, b.edges - a.edges);
    let (first, second) = (more(&one, &two), more(&two, &four));
    assert_eq!((2 * first.0, 2 * first.1), second);
    assert!(two.configurations < 5 * 200 && two.edges < 20 * 200, "{two:?}");
    assert_eq!((one.cut, two.cut, four.cut), (None, None, None));
}

#[test]
fn ten_thousand_states_are_decided() {
    let kills = "[{action: kill_session}, {action: spawn_agent, prompt: worker}]";
    let found = count(&chain(9_990, kills));
    assert_eq!(found.cut, None);
    assert!(found.edges < 20 * 9_990, "{found:?}");
}

#[test]
fn traces_have_a_bound_however_many_findings_there_are() {
    let spawns = "[{action: spawn_agent, prompt: worker}]";
    let found = every_finding(&Source::new("flow.yml", chain(1_000, spawns))).diagnostics;
    let traces = found.iter().filter_map(|it| it.trace.as_ref());
    let (traces, steps) = traces.fold((0, 0), |(traces, steps), it| {
        let length = it.steps.iter().map(|step| 1 + step.hooks.len()).sum::<usize>();
        (traces + 1, steps + length)
    });
    assert!(traces >= 999, "{traces}");
    // When that number is used up, a trace has its last step only.
    assert!(steps <= MAX_TRACED + 10 * traces, "{steps} of {traces}");
    assert!(found.iter().all(|it| it.trace.as_ref().is_none_or(|it| !it.steps.is_empty())));
}

/// Help of the finding that a search was cut.
#[track_caller]
fn help_of_a_cut(text: &str) -> String {
    let source = Source::new("flow.yml", text);
    let checked = compile(&source).checked.expect("a workflow without an error");
    let limits = SearchLimits { configurations: 2_000, steps: 100_000, ..SearchLimits::default() };
    let found = orange_analysis::lint::findings_within(&checked, &source, &limits);
    let cut = found.into_iter().find(|it| it.code() == "A10").expect("a finding that the search was cut");
    cut.help.expect("help")
}

#[test]
fn a_search_that_is_cut_says_what_makes_it_large() {
    let counted = help_of_a_cut(&counters(8, 1_000));
    assert!(counted.contains("compare `c7` with a smaller number"), "{counted}");
    let kept = help_of_a_cut(&sections(8).replace(", fresh: true", ""));
    assert!(kept.contains("write `fresh: true` in the gates on `## S0`, `## S1`"), "{kept}");
    assert!(help_of_a_cut(&counters(20, 5)).contains("compare fewer counters"));
    assert!(help_of_a_cut(&sections(20)).contains("let gates read fewer sections"));
}

/// A worker, and a panel of this many reviewers who judge its work at most twice.
fn panel(reviewers: usize) -> String {
    let spawn = |at| format!(", {{action: spawn_agent, as: reviewer, name: r{at}, prompt: review}}");
    let spawns: String = (0..reviewers).map(spawn).collect();
    format!(
        "\
name: flow
states: {{working: {{}}, review: {{respawn_prompt: review}}, stuck: {{}}, done: {{terminal: true}}}}
gates:
  handoff: {{section: '## Handoff', required: true, fresh: true}}
  passed: {{section: '## Review', verdict: PASS, verdicts: all, strict: true, fresh: true}}
  failed: {{section: '## Review', verdict: FAIL, verdicts: any, strict: true, fresh: true}}
transitions:
  - {{from: working, to: review, gate: handoff, hooks: [{{action: kill_session}}, {{action: acquire_workspace}}, {{action: increment, field: review_round}}{spawns}]}}
  - {{from: review, to: done, gate: passed, hooks: {END}}}
  - {{from: review, to: working, gate: failed, when: 'review_round < 2', hooks: [{{action: kill_session}}]}}
  - {{from: review, to: stuck, gate: failed, when: 'review_round >= 2', hooks: [{{action: kill_session}}]}}
  - {{from: stuck, to: done, by: human, hooks: {END}}}
exit_monitoring:
  rules:
    - {{status: review, has_artifact: passed, then: done}}
    - {{status: review, no_artifact: true, action: crash, stuck_after: 3, respawn: true}}
prompts: {{review: hi}}
"
    )
}

#[test]
fn a_panel_grows_with_the_number_of_its_reviewers() {
    let [four, eight] = [4, 8].map(|reviewers| count(&panel(reviewers)));
    assert_eq!((four.cut, eight.cut), (None, None));
    assert!(eight.configurations < 16 * four.configurations, "{four:?} {eight:?}");
    assert!(eight.configurations < 10_000 && eight.edges < 200_000, "{eight:?}");
}

#[test]
fn many_counters_are_left_undecided() {
    assert_eq!(count(&counters(20, 5)), Count { configurations: 0, edges: 0, cut: Some(Cut::Counters(20)) });
    assert!(codes(&counters(20, 5)).contains(&"A10"));
    let found = count(&counters(8, 1_000));
    assert_eq!(found.cut, Some(Cut::Configurations(MAX_CONFIGURATIONS)));
    assert!(found.configurations <= MAX_CONFIGURATIONS + 100, "{found:?}");
}

#[test]
fn many_sections_are_left_undecided() {
    assert_eq!(count(&sections(20)), Count { configurations: 0, edges: 0, cut: Some(Cut::Sections(20)) });
    assert!(codes(&sections(20)).contains(&"A10"));
    let found = count(&sections(8));
    assert!(found.cut.is_none() || found.configurations <= MAX_CONFIGURATIONS + 1_000, "{found:?}");
}

#[test]
fn exit_rules_on_many_sections_are_left_undecided() {
    let rules: String =
        (0..20).map(|at| format!("    - {{status: a, has_artifact: {{section: \"## S{at}\", verdict: PASS, fresh: true}}, then: s{at}}}\n")).collect();
    let text = format!("{}exit_monitoring:\n  rules:\n{rules}", sections(20));
    assert!(codes(&text).contains(&"A10"), "{:?}", codes(&text));
}

#[test]
fn a_hundred_thousand_transitions_are_decided() {
    let names: Vec<String> = (0..316).map(|at| format!("s{at}")).collect();
    let states: String = names.iter().map(|it| format!("  {it}: {{}}\n")).collect();
    let all = names.join(", ");
    let transitions: String = names.iter().map(|to| format!("  - {{from: [{all}], to: {to}}}\n")).collect();
    let text = format!(
        "name: flow\nstates:\n{states}  z: {{terminal: true}}\ntransitions:\n{transitions}  - {{from: s0, to: z}}\n"
    );
    let found = count(&text);
    assert_eq!((found.edges, found.cut), (316 * 316 + 1, None));
}

#[test]
fn hooks_count_as_steps() {
    let hooks = vec!["{action: push_branch}"; 99].join(", ");
    let keys = |at| format!("when: \"c{at} < 30\", hooks: [{{action: increment, field: c{at}}}, {hooks}]");
    let found = count(&star("fields: {c0: 0, c1: 0, c2: 0, c3: 0}\n", (0..4).map(keys)));
    assert_eq!(found.cut, Some(Cut::Steps(MAX_STEPS)));
    assert!(found.edges < MAX_STEPS / 20, "{found:?}");
}

/// Parts one after the other, each with six reviews side by side and a loop that sends them back.
fn reviewed_parts(parts: usize) -> String {
    let mut text = "[workflow]\nname = \"flow\"\n".to_owned();
    let step = |id: &str, part: usize, rest: &str| {
        format!("[[steps]]\nid = \"{id}{part}\"\nprompt = \"Do it. {{{{context}}}}\"\n{rest}\n")
    };
    let each = "for_each = [\"a\", \"b\", \"c\", \"d\", \"e\", \"f\"]\nread_only = true\noutputs = { verdict = { words = [\"good\", \"minor\", \"bad\"] } }";
    for at in 0..parts {
        let after = match at.checked_sub(1) {
            Some(before) => format!("depends_on = [\"done{before}\"]\ncondition = \"done{before}.ran\""),
            None => String::new(),
        };
        let after_work = format!("depends_on = [\"work{at}\"]\ncondition = \"work{at}.ran\"\n{each}");
        let fix = format!(
            "depends_on = [\"panel{at}\"]\ncondition = \"any panel{at}.verdict == 'bad'\"\nmax_retries = 2"
        );
        let done = format!("depends_on = [\"panel{at}\"]\ncondition = \"all panel{at}.verdict != 'bad'\"");
        for (id, rest) in [("work", &after), ("panel", &after_work), ("fix", &fix), ("done", &done)] {
            text += &step(id, at, rest);
        }
    }
    text
}

#[test]
fn forty_steps_with_fan_outs_of_six_are_decided() {
    let checked =
        compile(&Source::new("flow.toml", reviewed_parts(10))).checked.expect("a workflow without an error");
    let arena = PlanArena::default();
    let plan = lower_plan(&checked, &arena).expect("a step workflow");
    let policy = Policy { execution: Execution::Auto, intervene: Intervene::Never };
    let scope = SearchScope { policy, failures: Failures::Handled, by_hand: false, losses: false };
    let search = MissionSearch::run(&plan, scope);
    assert_eq!((plan.steps.len(), search.configurations().count(), search.is_cut()), (40, 841, false));
}
