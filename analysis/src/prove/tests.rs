//! Proofs of whole workflows: the seeds', whose figures were counted by hand, and small ones that break one property each.

mod budgets;
mod walls;

use super::*;

const DEFAULT: &str = include_str!("../../../tests/fixtures/seed-default.yml");
const MINIMAL: &str = include_str!("../../../tests/fixtures/seed-minimal.yml");
const PANEL: &str = include_str!("../../../tests/fixtures/panel.yml");

/// A worker, a reviewer beside it that is started again when it crashes, and two rounds.
const BESIDE: &str = r###"
name: beside
states:
  pending: {}
  planning: {respawn_prompt: worker}
  working: {respawn_prompt: worker}
  agent-review: {respawn_prompt: reviewer}
  reviewing: {}
  stuck: {}
  done: {terminal: true}
transitions:
  - from: pending
    to: planning
    hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]
  - {from: planning, to: working}
  - from: working
    to: agent-review
    hooks: [{action: spawn_reviewer, prompt: reviewer, increment: review_round}]
  - from: agent-review
    to: working
    gate: {section: "## Review", verdict: FAIL}
    when: "review_round < 2"
    hooks: [{action: kill_reviewer}, {action: notify_worker, message: again}]
  - from: agent-review
    to: stuck
    gate: {section: "## Review", verdict: FAIL}
    when: "review_round >= 2"
    hooks: [{action: kill_session}]
  - from: agent-review
    to: reviewing
    gate: {section: "## Review", verdict: PASS}
    hooks: [{action: kill_session}]
  - {from: [stuck, reviewing], to: done, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring:
  rules:
    - {status: planning, then: working}
    - {status: working, then: agent-review}
    - {status: agent-review, has_artifact: {section: "## Review", verdict: PASS}, then: reviewing}
    - status: agent-review
      has_artifact: {section: "## Review", verdict: FAIL}
      then_when: [{when: "review_round < 2", then: working}, {when: "review_round >= 2", then: stuck}]
    - {status: agent-review, no_artifact: true, action: crash, stuck_after: 2, respawn: true}
prompts:
  worker: |
    orange task update --status working, then orange task update --status agent-review
  reviewer: |
    Write ## Review with PASS or FAIL.
    orange task update --status reviewing, working or stuck
"###;

/// A worker that can lead its task round for ever, and no exit rule.
const ALONE: &str = r#"
name: alone
states:
  pending: {}
  working: {respawn_prompt: worker}
  checking: {}
  done: {terminal: true}
transitions:
  - from: pending
    to: working
    hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]
  - {from: working, to: checking}
  - {from: checking, to: working}
  - {from: [working, checking], to: done, hooks: [{action: kill_session}, {action: release_workspace}]}
prompts:
  worker: |
    orange task update --status checking, then orange task update --status working
"#;

/// Exit rules lead an agent round, through a state with this mark and this rule.
fn round(mark: &str, rule: &str) -> String {
    format!(
        "
name: round
states:
  pending: {{}}
  working: {{respawn_prompt: worker}}
  checking: {{{mark}respawn_prompt: worker}}
  done: {{terminal: true}}
commands: {{crash: working}}
transitions:
  - {{from: pending, to: working, hooks: [{{action: acquire_workspace}}, {{action: spawn_agent, prompt: worker}}]}}
  - {{from: working, to: checking}}
  - {{from: checking, to: working, hooks: [{{action: kill_session}}, {{action: spawn_agent, prompt: worker}}]}}
  - {{from: [working, checking], to: done, by: human, hooks: [{{action: kill_session}}, {{action: release_workspace}}]}}
exit_monitoring:
  rules:
    - {{status: working, then: checking}}
    - {rule}
prompts: {{worker: Do it.}}
"
    )
}

/// The seed, of which only a person takes what leads on from where an agent waits for one.
fn attended() -> String {
    let arrows = [("clarification", "working"), ("stuck", "working"), ("stuck", "agent-review")];
    arrows.iter().fold(DEFAULT.to_owned(), |text, (from, to)| {
        let arrow = format!("from: {from}\n    to: {to}\n");
        assert!(text.contains(&arrow), "{arrow}");
        text.replace(&arrow, &format!("{arrow}    by: human\n"))
    })
}

fn proof(text: &str) -> Proof {
    let source = Source::new("flow.yml", text);
    let checked = compile(&source).checked.unwrap();
    prove(&checked, &source).unwrap()
}

fn verdict<'p>(proof: &'p Proof, name: &str) -> &'p ProofVerdict {
    &proof.properties.iter().find(|it| it.name == name).unwrap().verdict
}

#[track_caller]
fn check_figures(text: &str, longest: u64, agents: u64, with_restarts: u64) {
    let figures = proof(text).figures;
    let count = |run: &Option<CountedRun>| run.as_ref().map(|it| it.count);
    assert_eq!(count(&figures.longest_run), Some(longest), "the longest run");
    assert_eq!(count(&figures.agents), Some(agents), "agents");
    assert_eq!(count(&figures.agents_with_restarts), Some(with_restarts), "agents and restarts");
}

#[track_caller]
fn check_refuted(text: &str, name: &str, codes: &[&str]) {
    let proof = proof(text);
    let ProofVerdict::Refuted { findings, .. } = verdict(&proof, name) else { panic!("{name}: {proof:#?}") };
    let found: Vec<&str> = findings.iter().map(Diagnostic::code).collect();
    assert_eq!(found, codes);
}

#[track_caller]
fn check_proved(text: &str, name: &str, expect: &str) {
    let proof = proof(text);
    let ProofVerdict::Proved { argument } = verdict(&proof, name) else { panic!("{name}: {proof:#?}") };
    assert_eq!(argument, expect);
}

#[test]
fn the_seeds_have_the_figures_that_were_counted_by_hand() {
    check_figures(&attended(), 5, 4, 4);
    check_figures(MINIMAL, 2, 1, 1);
    check_figures(BESIDE, 6, 3, 5);
}

#[test]
fn several_reviewers_are_proved_to_judge_the_work_of_another() {
    let proof = proof(PANEL);
    for name in ["ends-reachable", "one-agent", "no-lost-agent", "gates-met", "loops-bounded", "judged-apart"]
    {
        assert!(
            matches!(verdict(&proof, name), ProofVerdict::Proved { .. }),
            "{name}: {:?}",
            verdict(&proof, name)
        );
    }
    check_figures(PANEL, 5, 6, 12);
    let beside_the_worker = PANEL.replacen("      - {action: kill_session}\n", "", 1);
    assert_ne!(beside_the_worker, PANEL);
    check_refuted(&beside_the_worker, "judged-apart", &["CA0"]);
}

#[test]
fn a_run_goes_through_the_states_that_it_is_about() {
    let figures = proof(&attended()).figures;
    let states = figures.longest_run.unwrap().states;
    assert_eq!(states.join(" "), "pending working agent-review working clarification cancelled");
    assert_eq!(figures.waits_after_crash, ["working", "agent-review"]);
}

#[test]
fn the_argument_for_a_loop_names_the_counter_and_the_guard() {
    let rounds = "`review_round` rises on `working → agent-review`, and `agent-review → working` needs \
                  `review_round < 2`: so `working → agent-review` is taken at most 2 times";
    check_proved(&attended(), "loops-bounded", rounds);
    check_refuted(DEFAULT, "loops-bounded", &["C05"]);
    let restarts = "; crashed agents are started again at most 2 times in all";
    check_proved(BESIDE, "loops-bounded", &format!("{rounds}{restarts}"));
    let none = "no run comes back to a state that it has left before a person is needed";
    check_proved(MINIMAL, "loops-bounded", none);
}

#[test]
fn only_a_person_may_set_back_what_bounds_a_loop() {
    let last = "  - {from: [stuck, reviewing]";
    let again = "  - {from: stuck, to: working, by: human, reset: review_round, hooks: [{action: spawn_agent, prompt: worker}]}\n";
    let by_person = BESIDE.replace(last, &format!("{again}{last}"));
    let rounds = "`review_round` rises on `working → agent-review`, and `agent-review → working` needs \
                  `review_round < 2`: so `working → agent-review` is taken at most 2 times";
    let restarts = "; crashed agents are started again at most 2 times in all";
    check_proved(&by_person, "loops-bounded", &format!("{rounds}{restarts}"));
    let turn = "    when: \"review_round < 2\"\n";
    check_refuted(
        &BESIDE.replace(turn, &format!("{turn}    reset: review_round\n")),
        "loops-bounded",
        &["C05"],
    );
}

#[test]
fn what_the_lints_find_is_what_refutes() {
    check_refuted(DEFAULT, "one-agent", &["C62", "C62"]);
    check_refuted(MINIMAL, "no-lost-agent", &["C46"]);
    check_refuted(&BESIDE.replace("    when: \"review_round < 2\"\n", ""), "loops-bounded", &["C05"]);
    let leak = "hooks: [{action: kill_session}, {action: release_workspace}]";
    check_refuted(&BESIDE.replace(leak, "hooks: []"), "nothing-left-behind", &["C61"]);
    check_refuted(&BESIDE.replace("[stuck, reviewing]", "reviewing"), "ends-reachable", &["C02"]);
}

#[test]
fn no_mark_bounds_a_loop() {
    let then = "{status: checking, then: working}";
    let source = Source::new("round.yml", round("wait: human, ", then));
    let compilation = compile(&source);
    let codes: Vec<&str> = compilation.diagnostics.iter().map(Diagnostic::code).collect();
    assert!(compilation.checked.is_none() && codes == ["A13"], "{codes:?}");
    check_refuted(&round("", then), "loops-bounded", &["C05"]);
}

#[test]
fn agents_that_ask_or_crash_for_ever_are_loops() {
    check_refuted(ALONE, "loops-bounded", &["C05"]);
    let crash = "{status: checking, action: crash, stuck_after: 1}";
    check_refuted(&round("", crash), "loops-bounded", &["C05"]);
    let alone = round("", crash).replace("then: checking", "action: mark_dead");
    check_refuted(&alone.replace("to: checking}", "to: checking, by: worker}"), "loops-bounded", &["C05"]);
    let ended = "no run comes back to a state that it has left before a person is needed";
    let by_person = alone
        .replace("to: checking}", "to: checking, by: human}")
        .replace("stuck_after: 1", "stuck_after: 99");
    check_proved(
        &by_person
            .replace("to: working, hooks: [{action: kill", "to: working, by: human, hooks: [{action: kill"),
        "loops-bounded",
        ended,
    );
}

#[test]
fn an_agent_whose_end_is_only_shown_asks_without_a_person() {
    let shown =
        round("", "{status: checking, action: mark_dead}").replace("then: checking", "action: mark_dead");
    for (by, back) in [("by: worker, ", "by: worker, "), ("", ""), ("by: [worker, human], ", "")] {
        let text = shown.replace("to: checking}", &format!("to: checking, {by}}}"));
        let text = text.replace(
            "to: working, hooks: [{action: kill",
            &format!("to: working, {back}hooks: [{{action: kill"),
        );
        check_refuted(&text, "loops-bounded", &["C05"]);
        assert!(proof(&text).figures.longest_run.is_none(), "{text}");
    }
    let by_person = shown.replace("to: checking}", "to: checking, by: human}");
    assert!(matches!(verdict(&proof(&by_person), "loops-bounded"), ProofVerdict::Proved { .. }));
}

#[test]
fn a_finding_that_is_allowed_refutes_all_the_same() {
    let allowed = DEFAULT.replace(
        "      - action: spawn_agent\n        prompt: stuck_fix",
        "      # orange: allow(spawn-while-alive) it is known\n      - action: spawn_agent\n        prompt: stuck_fix",
    );
    assert_ne!(allowed, DEFAULT);
    check_refuted(&allowed, "one-agent", &["C62", "C62"]);
}

#[test]
fn a_search_that_was_cut_proves_nothing() {
    let counters: Vec<String> = (0..20).map(|it| format!("n{it}")).collect();
    let fields: Vec<String> = counters.iter().map(|it| format!("{it}: 0")).collect();
    let hooks: Vec<String> =
        counters.iter().map(|it| format!("{{action: increment, field: {it}}}")).collect();
    let guards: Vec<String> = counters.iter().map(|it| format!("{it} < 9")).collect();
    let text = format!(
        "name: flow\nfields: {{{}}}\nstates: {{a: {{}}, b: {{terminal: true}}}}\ntransitions:\n  - {{from: a, to: b, hooks: \
         [{}], when: \"{}\"}}\n",
        fields.join(", "),
        hooks.join(", "),
        guards.join(" && ")
    );
    let proof = proof(&text);
    assert!(matches!(verdict(&proof, "ends-reachable"), ProofVerdict::Undecided { .. }), "{proof:#?}");
}

#[test]
fn every_property_is_watched_by_lints_that_exist() {
    for code in PROPERTIES.iter().flat_map(|it| it.watched_by) {
        assert!(crate::catalogue::find(code).is_some(), "{code}");
    }
}

#[test]
fn a_proof_is_the_same_whatever_prompts_say() {
    let (command, prose) = ("orange task update --status", "as you like, or do not, and");
    assert_eq!(command.len(), prose.len(), "places stay the same");
    for text in [DEFAULT, MINIMAL, BESIDE, ALONE] {
        assert!(text.contains(command));
        let (with_command, with_prose) = (proof(text), proof(&text.replace(command, prose)));
        assert_eq!(format!("{with_command:?}"), format!("{with_prose:?}"));
    }
}

/// A workflow of these states, transitions and exit rules, each in a line.
fn flow(states: &str, transitions: &[&str], rules: &[&str]) -> String {
    let lines = |lines: &[&str]| lines.iter().map(|it| format!("  - {{{it}}}\n")).collect::<String>();
    let monitoring = match rules.is_empty() {
        true => String::new(),
        false => format!("exit_monitoring:\n  rules:\n  {}", lines(rules).replace('\n', "\n  ")),
    };
    let transitions = lines(transitions);
    format!(
        "name: flow\nstates: {{pending: {{}}, {states}, done: {{terminal: true}}, cancelled: {{terminal: true}}}}\n\
         transitions:\n{transitions}prompts: {{worker: Do it., reviewer: Judge it.}}\n{monitoring}\n"
    )
}

const BEGINS: &str =
    "from: pending, to: working, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]";
const ENDS: &str = "from: [working, checking], to: done, by: human, hooks: [{action: kill_session}, {action: release_workspace}]";

#[test]
fn a_deadline_moves_a_task_that_waits_for_a_person() {
    let deadline = "deadlines: [{states: checking, after: 1h, then: working}]\n";
    let text = round("", "{status: checking, action: mark_dead}").replace(
        "to: working, hooks: [{action: kill",
        "to: working, by: [human, engine], hooks: [{action: kill",
    );
    assert!(matches!(verdict(&proof(&text), "loops-bounded"), ProofVerdict::Proved { .. }));
    check_refuted(&(text + deadline), "loops-bounded", &["C05"]);
    let states = "working: {respawn_prompt: worker}, checking: {}";
    let leaves = "from: working, to: checking, hooks: [{action: kill_session}]";
    let text = flow(states, &[BEGINS, leaves, ENDS], &["status: working, action: mark_dead"]);
    let text = text + "deadlines: [{states: checking, after: 1h, then: done}]\n";
    assert!(matches!(verdict(&proof(&text), "no-lost-agent"), ProofVerdict::Proved { .. }));
    check_refuted(&text, "person-asked", &["CA2"]);
}

#[test]
fn a_timeout_moves_a_task_without_an_agent() {
    let back = "from: checking, to: working, hooks: [{action: spawn_agent, prompt: worker}]";
    let leaves = "from: working, to: checking, hooks: [{action: kill_session}]";
    let checking = "working: {}, checking: {respawn_prompt: worker, timeout: 60s, on_timeout: working}";
    check_refuted(&flow(checking, &[BEGINS, leaves, back, ENDS], &[]), "loops-bounded", &["C05"]);
    let merges = ENDS.replace("done, by: human", "done");
    let checking = checking.replace("on_timeout: working", "on_timeout: done");
    let by_human = back.replace("to: working,", "to: working, by: human,");
    let text = flow(
        &checking,
        &[
            BEGINS,
            &leaves.replace("to: checking,", "to: checking, by: worker,"),
            &by_human,
            &merges.replace("[working, checking]", "checking"),
        ],
        &[],
    );
    check_refuted(&text, "person-asked", &["CA2"]);
}

#[test]
fn nobody_is_asked_again_while_the_hooks_of_the_merge_wait() {
    let ends = "from: working, to: done, by: human, \
                hooks: [{action: kill_session, on_failure: stop}, {action: release_workspace}]";
    let text = flow("working: {respawn_prompt: worker}", &[BEGINS, ends], &[]);
    assert!(matches!(verdict(&proof(&text), "person-asked"), ProofVerdict::Proved { .. }));
}

#[test]
fn a_transition_counts_although_its_hook_fails() {
    let begins = "from: pending, to: working, on_hook_failure: checking, hooks: [{action: acquire_workspace}, {action: run_command, argv: [make]}]";
    let text =
        flow("working: {}, checking: {}", &[begins, "from: working, to: checking, by: engine", ENDS], &[]);
    check_figures(&text, 2, 0, 0);
}

#[test]
fn only_the_rule_that_applies_excuses_an_end() {
    let only = |rule: &str| {
        flow("working: {}, checking: {}", &[BEGINS, ENDS, "from: working, to: checking, by: human"], &[rule])
    };
    check_refuted(
        &only("status: working, exit: {code: 3}, action: mark_dead")
            .replace("checking: {}", "checking: {respawn_prompt: worker}"),
        "no-lost-agent",
        &["C47"],
    );
    let no_checking =
        |rule: &str| flow("working: {}", &[BEGINS, &ENDS.replace("[working, checking]", "working")], &[rule]);
    check_refuted(&no_checking("status: working, exit: {code: 3}, action: mark_dead"), "no-lost-agent", &[]);
    check_proved(
        &no_checking("status: working, action: mark_dead"),
        "no-lost-agent",
        "of the 1 ends that an agent can have, 0 move the task on, 0 count as crashes and 1 show the session as dead",
    );
}

#[test]
fn hooks_that_wait_leave_an_agent_behind() {
    let leaves = "from: working, to: checking, hooks: [{action: release_workspace}, {action: run_command, argv: [make]}, {action: kill_session}]";
    let cancels = "from: checking, to: cancelled, hooks: [{action: release_workspace}]";
    let ends = ENDS.replace("[working, checking]", "working");
    let text = flow("working: {}, checking: {}", &[BEGINS, leaves, cancels, &ends], &[]);
    let proof = proof(&text);
    let ProofVerdict::Refuted { findings, .. } = verdict(&proof, "nothing-left-behind") else {
        panic!("{proof:#?}")
    };
    assert!(findings.iter().all(|it| it.code() == "C60") && !findings.is_empty(), "{findings:#?}");
}

#[test]
fn a_reviewer_is_meant_beside_a_worker_if_it_always_is() {
    let meant = "from: working, to: checking, hooks: [{action: spawn_reviewer, prompt: reviewer}]";
    let alone = "from: pending, to: checking, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: reviewer, harness: review}]";
    let back = "from: checking, to: working, hooks: [{action: spawn_agent, prompt: worker}]";
    let rules = ["status: working, action: mark_dead", "status: checking, action: mark_dead"];
    let states = "working: {}, checking: {respawn_prompt: reviewer}";
    let text = flow(states, &[BEGINS, meant, alone, back, ENDS], &rules);
    check_refuted(&text, "one-agent", &["C62", "C62"]);
}

#[test]
fn a_wait_takes_no_person() {
    let states = "working: {respawn_prompt: worker}, checking: {respawn_prompt: worker}";
    let transitions = [BEGINS, "from: working, to: checking", "from: checking, to: working", ENDS];
    let transitions = transitions.map(|it| it.replace("to: checking", "to: checking, by: engine"));
    let transitions = transitions
        .map(|it| it.replace("from: checking, to: working", "from: checking, to: working, by: engine"));
    let all: Vec<&str> = transitions.iter().map(String::as_str).collect();
    let rules = [
        "status: working, exit: {code: 1}, then: checking",
        "status: working, exit: {code: 2}, action: wait, resume_after: 60",
        "status: working, action: mark_dead",
        "status: checking, exit: {code: 2}, then: working",
        "status: checking, exit: {code: 1}, action: wait, resume_after: 60",
        "status: checking, action: mark_dead",
    ];
    check_refuted(&flow(states, &all, &rules), "loops-bounded", &["C05"]);
}

#[test]
fn another_agent_goes_on_when_one_has_ended() {
    let begins = BEGINS.replace("]", ", {action: spawn_reviewer, prompt: reviewer}]");
    let leaves = "from: working, to: checking, by: reviewer, when: 'crash_count > 0', hooks: [{action: spawn_agent, prompt: worker}]";
    let back = "from: checking, to: working, by: reviewer";
    let rules =
        ["status: working, action: crash, stuck_after: 3", "status: checking, action: crash, stuck_after: 3"];
    let states = "working: {respawn_prompt: worker}, checking: {respawn_prompt: worker}";
    let text = flow(states, &[&begins, leaves, back, ENDS], &rules);
    check_refuted(&text, "loops-bounded", &["C05"]);
}

#[test]
fn an_actor_goes_on_when_an_agent_has_crashed() {
    let leaves =
        "from: working, to: checking, by: cron, when: 'crash_count > 0', hooks: [{action: kill_session}]";
    let back = "from: checking, to: working, by: cron, hooks: [{action: spawn_agent, prompt: worker}]";
    let states = "working: {respawn_prompt: worker}, checking: {}";
    let rules = ["status: working, action: crash, stuck_after: 3"];
    let text = flow(states, &[BEGINS, leaves, back, ENDS], &rules) + "actors: [cron]\n";
    check_refuted(&text, "loops-bounded", &["C05"]);
    let by_person = text.replace("to: checking, by: cron", "to: checking, by: human");
    assert!(matches!(verdict(&proof(&by_person), "loops-bounded"), ProofVerdict::Proved { .. }));
}

#[test]
fn contents_that_are_not_all_kept_prove_nothing() {
    let gates: Vec<String> = (0..8)
        .map(|it| format!("from: working, to: s{it}, gate: {{section: '## H', fields: [F{it}]}}"))
        .collect();
    let states: Vec<String> = (0..8).map(|it| format!("s{it}: {{terminal: true}}")).collect();
    let all: Vec<&str> = std::iter::once(BEGINS).chain(gates.iter().map(String::as_str)).collect();
    let proof = proof(&flow(&format!("working: {{}}, {}", states.join(", ")), &all, &[]));
    let ProofVerdict::Undecided { cut } = verdict(&proof, "ends-reachable") else { panic!("{proof:#?}") };
    assert!(cut.contains("contents of a section"), "{cut}");
    assert_eq!(
        (proof.figures.is_cut, &proof.figures.longest_run, &proof.figures.agents),
        (true, &None, &None)
    );
}

/// The steps of the run that refutes a property, each with its actor.
fn askers(text: &str, name: &str) -> Vec<String> {
    let proof = proof(text);
    let ProofVerdict::Refuted { findings, trace } = verdict(&proof, name) else {
        panic!("{name}: {proof:#?}")
    };
    let trace = findings.iter().find_map(|it| it.trace.as_ref()).or(trace.as_ref()).unwrap();
    trace.steps.iter().map(|it| format!("{}: {}", it.by, it.script.join(", "))).collect()
}

#[test]
fn an_end_that_leads_to_a_state_without_rules_is_not_lost() {
    let text = "
name: stuck
states: {pending: {}, working: {respawn_prompt: worker}, stuck: {}, done: {terminal: true}}
transitions:
  - {from: pending, to: working, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]}
  - {from: working, to: stuck, by: engine}
  - {from: stuck, to: working, by: human, hooks: [{action: spawn_agent, prompt: worker}]}
  - {from: stuck, to: done, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring: {rules: [{status: working, action: crash, stuck_after: 1}]}
prompts: {worker: Do it.}
";
    let proof = proof(text);
    assert!(matches!(verdict(&proof, "no-lost-agent"), ProofVerdict::Proved { .. }), "{proof:#?}");
}

#[test]
fn an_agent_alive_where_a_rule_shows_its_end_is_not_lost() {
    let text = "
name: lives-on
states: {pending: {}, working: {respawn_prompt: worker}, asking: {wait: human}, done: {terminal: true}}
transitions:
  - {from: pending, to: working, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]}
  - {from: working, to: asking}
  - {from: asking, to: done, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring: {rules: [{status: working, action: mark_dead}, {status: asking, action: mark_dead}]}
prompts: {worker: Do it.}
";
    assert!(matches!(verdict(&proof(text), "no-lost-agent"), ProofVerdict::Proved { .. }));
    let unwatched = text.replace(", {status: asking, action: mark_dead}", "");
    check_refuted(&unwatched, "no-lost-agent", &["C47"]);
}

#[test]
fn a_release_before_the_end_of_the_agent_releases_nothing() {
    let text = "
name: too-early
states: {pending: {}, working: {respawn_prompt: worker}, done: {terminal: true}}
transitions:
  - {from: pending, to: working, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]}
  - {from: working, to: done, by: human, hooks: [{action: release_workspace}, {action: kill_session}]}
exit_monitoring: {rules: [{status: working, action: mark_dead}]}
prompts: {worker: Do it.}
";
    check_refuted(text, "nothing-left-behind", &[]);
    let mended = text.replace(
        "{action: release_workspace}, {action: kill_session}",
        "{action: kill_session}, {action: release_workspace}",
    );
    assert!(matches!(verdict(&proof(&mended), "nothing-left-behind"), ProofVerdict::Proved { .. }));
}

/// A reviewer lives on in a state in which a person usually decides.
const LIVES_ON: &str = r###"
name: lives-on
states: {pending: {}, working: {respawn_prompt: worker}, review: {}, asking: {}, done: {terminal: true}}
transitions:
  - {from: pending, to: working, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]}
  - {from: working, to: review, hooks: [{action: kill_session}, {action: spawn_agent, prompt: reviewer, harness: review}]}
  - {from: review, to: asking, by: reviewer}
  - {from: asking, to: review}
  - {from: asking, to: done, hooks: [{action: kill_session}, {action: release_workspace}]}
deadlines: [{states: [asking], after: 1h, then: done}]
prompts: {worker: Do it., reviewer: Judge it.}
"###;

#[test]
fn a_run_without_a_person_names_none() {
    let loops = askers(LIVES_ON, "loops-bounded");
    assert_eq!(loops[2..], ["reviewer: status asking by reviewer", "reviewer: status review by reviewer"]);
    let engine = LIVES_ON.replace("to: done, hooks", "to: done, by: engine, hooks");
    let merged = askers(&engine, "person-asked");
    assert_eq!(merged.last().unwrap(), "engine: elapse");
}

#[test]
fn a_verdict_that_the_worker_writes_is_not_by_another() {
    let text = "
name: own-verdict
actors: [ci]
states: {pending: {}, working: {respawn_prompt: worker}, review: {}, done: {terminal: true}}
transitions:
  - {from: pending, to: working, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: worker}]}
  - {from: working, to: review, by: worker, hooks: [{action: kill_session}]}
  - {from: review, to: done, by: ci, gate: {section: '## Review', verdict: PASS, strict: true, written_by: worker}, hooks: [{action: release_workspace}]}
exit_monitoring: {rules: [{status: working, action: mark_dead}]}
prompts: {worker: Do it.}
";
    check_refuted(text, "judged-apart", &["CA0"]);
    let by_ci = text.replace("written_by: worker", "written_by: ci");
    assert!(matches!(verdict(&proof(&by_ci), "judged-apart"), ProofVerdict::Proved { .. }));
}
