//! Small workflows of which the attack on proofs (`tests/tests/proofs`) found the proof or its run wrong.

#![expect(clippy::expect_used, reason = "a test whose workflow does not compile has failed")]

use std::collections::BTreeSet;

use orange_analysis::prove::{Judged, Proof, ProofVerdict, prove};
use orange_analysis::search::{ExitResult, Search, SearchStep};
use orange_analysis::walk::Walk;
use orange_analysis::walk::command::Command;
use orange_codegen::diag::Trace;
use orange_codegen::lower::{Arena, lower};
use orange_codegen::{Diagnostic, Source, compile};

fn proof(text: &str) -> Proof {
    let source = Source::new("flow.yml", format!("name: flow\n{text}"));
    let compilation = compile(&source);
    let checked = compilation.checked.unwrap_or_else(|| panic!("{:#?}", compilation.diagnostics));
    prove(&checked, &source).expect("it has tables")
}

#[track_caller]
fn judged<'p>(proof: &'p Proof, name: &str) -> &'p Judged {
    proof.properties.iter().find(|it| it.name == name).expect("there is such a property")
}

#[track_caller]
fn argument<'p>(proof: &'p Proof, name: &str) -> &'p str {
    match &judged(proof, name).verdict {
        ProofVerdict::Proved { argument } => argument,
        other @ (ProofVerdict::Refuted { .. } | ProofVerdict::Undecided { .. }) => panic!("{other:#?}"),
    }
}

#[track_caller]
fn take(walk: &mut Walk<'_>, lines: &[&str]) {
    for line in lines {
        let Ok(Some(Command::Act(act))) = Command::parse(line) else { panic!("{line}") };
        walk.act(&act).unwrap_or_else(|it| panic!("{line}: {}", it.0));
    }
}

/// Takes a run, and its last four steps this many times more.
#[track_caller]
fn replay(text: &str, trace: &Trace, turns: usize) {
    let checked = compile(&Source::new("flow.yml", format!("name: flow\n{text}"))).checked;
    let (checked, arena) = (checked.expect("it compiles"), Arena::default());
    let machine = lower(&checked, &arena).expect("it has tables");
    let mut walk = Walk::new(&machine);
    let turn = &trace.steps[trace.steps.len().saturating_sub(4)..];
    for step in trace.steps.iter().chain(std::iter::repeat_n(turn, turns).flatten()) {
        let lines: Vec<&str> = step.script.iter().map(String::as_str).collect();
        take(&mut walk, &lines);
        assert_eq!(machine.state(walk.status()).name, step.to, "{trace}");
    }
}

/// A handoff of an earlier visit meets the rule, and its gate wants a new one: that end counts as a crash.
#[test]
fn a_section_of_an_earlier_visit_is_not_forgotten() {
    let proof = proof(
        "
states: {pending: {}, working: {}, stuck: {}, done: {terminal: true}}
transitions:
  - {from: pending, to: working, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: p}]}
  - {from: working, to: done, by: human, gate: {section: \"## Handoff\", required: true, fresh: true}, hooks: [{action: kill_session}, {action: release_workspace}]}
  - {from: working, to: stuck, hooks: [{action: kill_session}]}
  - {from: stuck, to: working, by: human, hooks: [{action: spawn_agent, prompt: p}]}
exit_monitoring:
  rules:
    - {status: working, has_artifact: {section: \"## Handoff\", required: true}, then: done}
    - {status: working, action: mark_dead}
prompts: {p: work}
",
    );
    let ProofVerdict::Refuted { findings, .. } = &judged(&proof, "gates-met").verdict else {
        panic!("{proof:#?}")
    };
    assert!(findings.iter().any(|it| it.code() == "C42"), "{findings:#?}");
    let argument = argument(&proof, "no-lost-agent");
    assert!(!argument.contains(" 0 count as crashes"), "{argument}");
}

/// The worktree cannot be given back under a live agent, and the task goes on to where the agent is ended.
#[test]
fn a_hook_that_fails_leaves_nothing_where_the_task_goes_on() {
    let proof = proof(
        "
states: {pending: {}, working: {}, cancelled: {terminal: true}}
transitions:
  - from: pending
    to: working
    by: human
    hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: p}, {action: release_workspace, on_failure: stop}]
    on_hook_failure: cancelled
  - {from: working, to: cancelled, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring: {rules: [{status: working, action: mark_dead}]}
prompts: {p: work}
",
    );
    argument(&proof, "nothing-left-behind");
}

/// A task can be created in a state that nothing leads out of: its run begins there.
#[test]
fn a_trap_where_a_task_begins_has_its_run() {
    let proof = proof(
        "
states: {pending: {}, agent-review: {}, done: {terminal: true}}
commands: {review: agent-review}
transitions:
  - {from: pending, to: done, by: human}
  - {from: agent-review, to: done, by: reviewer}
",
    );
    let ProofVerdict::Refuted { findings, trace } = &judged(&proof, "ends-reachable").verdict else {
        panic!("{proof:#?}")
    };
    let found = findings.iter().find_map(|it| it.trace.as_ref()).or(trace.as_ref());
    assert_eq!(found.map(|it| it.start.as_str()), Some("agent-review"), "{proof:#?}");
}

/// A program that a gate asks has answered before, and nobody asks it when a hook fails: the worker can go round for ever.
#[test]
fn an_earlier_answer_lets_a_failed_hook_lead_on() {
    let proof = proof(
        "
states: {pending: {}, working: {}, stuck: {}, done: {terminal: true}}
transitions:
  - {from: pending, to: working, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: p}]}
  - from: working
    to: stuck
    by: worker
    hooks: [{action: kill_session}, {action: run_command, argv: [make]}]
    on_hook_failure: working
  - {from: stuck, to: working, by: human, gate: {command: {argv: [make, test]}}, hooks: [{action: spawn_agent, prompt: p}]}
  - {from: [pending, working, stuck], to: done, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring: {rules: [{status: working, action: mark_dead}]}
prompts: {p: work}
",
    );
    let verdict = &judged(&proof, "loops-bounded").verdict;
    assert!(matches!(verdict, ProofVerdict::Refuted { .. }), "{verdict:#?}");
}

/// The hooks wait for ever, and the agent that alone may give the task up has ended.
#[test]
fn no_end_hangs_on_an_agent_while_hooks_wait() {
    let alone = |by: &str| {
        format!(
            "
states: {{pending: {{}}, working: {{agent: {{workspace: none}}}}, cancelled: {{terminal: true}}}}
transitions:
  - {{from: pending, to: working, by: human, hooks: [{{action: spawn_agent, prompt: p}}, {{action: run_command, argv: [make]}}]}}
  - {{from: working, to: cancelled, by: {by}, hooks: [{{action: kill_session}}, {{action: release_workspace}}]}}
exit_monitoring: {{rules: [{{status: working, action: mark_dead}}]}}
prompts: {{p: work}}
"
        )
    };
    let by_worker = proof(&alone("worker"));
    let verdict = &judged(&by_worker, "ends-reachable").verdict;
    assert!(matches!(verdict, ProofVerdict::Refuted { .. }), "{verdict:#?}");
    argument(&proof(&alone("[worker, human]")), "ends-reachable");
}

/// A failed hook takes the task on, although the gate there reads a verdict that the live worker could ask by.
#[test]
fn the_engine_goes_on_for_no_agent() {
    let proof = proof(
        "
states: {pending: {}, working: {}, review: {}, done: {terminal: true}}
transitions:
  - {from: pending, to: working, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: p}]}
  - from: working
    to: review
    by: [worker, human]
    hooks: [{action: kill_session, on_failure: stop}, {action: spawn_agent, as: reviewer, prompt: r}]
    on_hook_failure: working
  - from: review
    to: working
    by: [reviewer, human, worker]
    gate: {section: \"## Review\", verdict: FAIL, strict: true, fresh: true, written_by: reviewer}
    hooks: [{action: kill_session}, {action: spawn_agent, prompt: p}]
  - {from: [working, review], to: done, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring:
  rules: [{status: working, action: mark_dead}, {status: review, action: mark_dead}]
prompts: {p: work, r: review}
",
    );
    argument(&proof, "judged-apart");
}

/// Two transitions lead from one state to another: an argument that names the states counts both.
#[test]
fn a_bound_counts_every_transition_between_two_states() {
    let proof = proof(
        "
states: {pending: {}, working: {}, review: {}, done: {terminal: true}}
transitions:
  - {from: pending, to: working, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: p}]}
  - from: working
    to: review
    by: worker
    when: \"review_round >= 1\"
    hooks: [{action: kill_session}, {action: spawn_agent, as: reviewer, prompt: r, increment: review_round}]
  - from: working
    to: review
    by: human
    when: \"review_round < 1\"
    hooks: [{action: kill_session}, {action: spawn_agent, as: reviewer, prompt: r, increment: review_round}]
  - {from: review, to: working, by: reviewer, when: \"review_round < 2\", hooks: [{action: kill_session}, {action: spawn_agent, prompt: p}]}
  - {from: [working, review], to: done, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring:
  rules: [{status: working, action: mark_dead}, {status: review, action: mark_dead}]
prompts: {p: work, r: review}
",
    );
    let argument = argument(&proof, "loops-bounded");
    assert!(argument.contains("`working → review` is taken at most 2 times"), "{argument}");
    assert!(!argument.contains("at most once"), "{argument}");
}

/// An agent that cannot be started finds no verdict, so that one that was written before it is still new.
#[test]
fn an_agent_that_is_not_started_finds_nothing() {
    let source = Source::new(
        "flow.yml",
        "
name: flow
states: {pending: {}, review: {}, refused: {}, done: {terminal: true}}
transitions:
  - from: pending
    to: review
    by: human
    hooks: [{action: spawn_agent, as: reviewer, prompt: p, on_failure: stop}]
    on_hook_failure: refused
  - {from: review, to: refused, gate: {section: \"## Review\", verdict: FAIL, strict: true, fresh: true}}
  - {from: refused, to: done, by: human}
prompts: {p: review}
",
    );
    let checked = compile(&source).checked.expect("it compiles");
    let arena = Arena::default();
    let machine = lower(&checked, &arena).expect("it has tables");
    let mut walk = Walk::new(&machine);
    take(&mut walk, &["status review", "write ## Review: Verdict: FAIL", "retry-hooks"]);
    assert_eq!(machine.state(walk.status()).name, "refused");
}

/// The worktree cannot be given back as long as the agent is alive, which may end while the hooks wait.
#[test]
fn an_agent_in_the_way_of_hooks_may_end() {
    let proof = proof(
        "
states: {pending: {}, working: {}, reviewing: {}, done: {terminal: true}}
transitions:
  - {from: pending, to: working, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: p}]}
  - {from: working, to: reviewing, by: worker}
  - from: reviewing
    to: working
    by: human
    hooks: [{action: release_workspace, on_failure: stop}, {action: acquire_workspace}, {action: spawn_agent, prompt: p}]
  - {from: working, to: done, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring: {rules: [{status: working, action: mark_dead}, {status: reviewing, action: mark_dead}]}
prompts: {p: work}
",
    );
    argument(&proof, "ends-reachable");
}

/// A verdict that stands is enough for every turn. Once the agent has ended, nobody could write another one.
#[test]
fn a_loop_without_writes_comes_first() {
    let proof = proof(
        "
states:
  pending: {}
  working: {respawn_prompt: p, timeout: 60s, on_timeout: working}
  done: {terminal: true}
transitions:
  - {from: pending, to: working, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: p}]}
  - from: working
    to: working
    by: engine
    gate: {section: \"## Review\", verdict: PASS}
    hooks: [{action: kill_session}, {action: spawn_agent, prompt: p}]
  - {from: working, to: done, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring:
  rules:
    - {status: working, has_artifact: {section: \"## Review\", verdict: PASS}, then: working}
    - {status: working, action: mark_dead}
prompts: {p: work}
",
    );
    let ProofVerdict::Refuted { findings, trace } = &judged(&proof, "loops-bounded").verdict else {
        panic!("{proof:#?}")
    };
    let traces = findings.iter().filter_map(|it| it.trace.as_ref()).chain(trace);
    let turns: Vec<_> = traces.filter_map(|it| it.steps.last()).collect();
    assert!(!turns.is_empty() && turns.iter().all(|it| !it.does.contains("writes")), "{turns:#?}");
}

/// The reviewer that asks is alive, so that the hook starts no second one.
#[test]
fn a_hook_that_starts_nobody_loses_no_agent() {
    let proof = proof(
        "
states: {working: {}, first: {respawn_prompt: r}, second: {respawn_prompt: p}, done: {terminal: true}}
transitions:
  - from: working
    to: first
    by: human
    hooks: [{action: acquire_workspace}, {action: spawn_agent, as: reviewer, prompt: r}]
  - {from: first, to: second, by: reviewer, hooks: [{action: spawn_agent, as: reviewer, prompt: r}]}
  - {from: second, to: done, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring: {rules: [{status: first, action: mark_dead}, {status: second, action: mark_dead}]}
prompts: {p: work, r: review}
",
    );
    let findings = proof.properties.iter().filter_map(|it| match &it.verdict {
        ProofVerdict::Refuted { findings, .. } => Some(findings),
        ProofVerdict::Proved { .. } | ProofVerdict::Undecided { .. } => None,
    });
    let codes: Vec<&str> = findings.flatten().map(Diagnostic::code).collect();
    assert!(!codes.contains(&"C4C") && !codes.is_empty(), "{codes:?}");
}

/// The checks are green while the worker may ask for `done`, and nobody looks at them again when the hook fails.
#[test]
fn an_answer_of_an_earlier_state_lengthens_the_run() {
    let proof = proof(
        "
states: {pending: {}, working: {}, review: {}, mending: {}, done: {terminal: true}}
transitions:
  - {from: pending, to: working, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: p}]}
  - {from: working, to: done, by: human, gate: {checks: green}, hooks: [{action: kill_session}, {action: release_workspace}]}
  - from: working
    to: review
    by: worker
    hooks: [{action: kill_session}, {action: run_command, argv: [make]}]
    on_hook_failure: mending
  - {from: review, to: mending, by: human, gate: {checks: green}}
  - {from: [review, mending], to: done, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring: {rules: [{status: working, action: mark_dead}]}
prompts: {p: work}
",
    );
    let longest = proof.figures.longest_run.expect("every run ends");
    assert_eq!(longest.states, ["pending", "working", "review", "mending"]);
}

/// The hook raises its counter when it first fails, and not at each retry: the task is caught.
#[test]
fn a_hook_that_runs_again_counts_once() {
    let proof = proof(
        "
states: {pending: {}, working: {}, cancelled: {terminal: true}}
transitions:
  - {from: pending, to: working, by: human, hooks: [{action: spawn_agent, prompt: p, increment: review_round, on_failure: stop}]}
  - {from: [pending, working], to: cancelled, by: human, when: \"review_round >= 3\", hooks: [{action: kill_session}]}
prompts: {p: work}
",
    );
    let verdict = &judged(&proof, "ends-reachable").verdict;
    assert!(matches!(verdict, ProofVerdict::Refuted { .. }), "{verdict:#?}");
}

const FAILING: &str = "
states: {pending: {}, working: {}, done: {terminal: true}}
deadlines: [{states: [pending], after: 60s, then: working}]
transitions:
  - from: pending
    to: working
    when: \"review_round < 2\"
    hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: p, increment: review_round, on_failure: stop}]
    on_hook_failure: pending
  - {from: working, to: pending, by: human, hooks: [{action: kill_session}]}
  - {from: [pending, working], to: done, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring: {rules: [{status: working, action: mark_dead}]}
prompts: {p: work}
";

/// An agent that cannot be started uses its round, too.
#[test]
fn a_hook_that_fails_counts() {
    argument(&proof(FAILING), "loops-bounded");
    let checked = compile(&Source::new("flow.yml", format!("name: flow\n{FAILING}"))).checked;
    let (checked, arena) = (checked.expect("it compiles"), Arena::default());
    let machine = lower(&checked, &arena).expect("it has tables");
    let mut walk = Walk::new(&machine);
    take(&mut walk, &["fail spawn_agent", "status working"]);
    let round = walk.counter_named("review_round").expect("it is counted");
    assert_eq!((machine.state(walk.status()).name, walk.counter(round)), ("pending", 1));
}

/// The time in `working` is longer than that of the deadline, which is over then, and decides about the reviewer's end.
#[test]
fn a_time_that_is_over_stays_so() {
    let proof = proof(
        "
states: {pending: {}, working: {timeout: 60s, on_timeout: review}, review: {}, stuck: {}, done: {terminal: true}}
deadlines: [{states: [working, review], after: 30s, then: stuck}]
transitions:
  - {from: pending, to: working, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: p}]}
  - {from: working, to: review, by: engine, hooks: [{action: kill_session}, {action: spawn_agent, as: reviewer, prompt: r}]}
  - from: review
    to: done
    by: human
    gate: {section: \"## Review\", verdict: PASS, strict: true, fresh: true}
    hooks: [{action: kill_session}, {action: release_workspace}]
  - {from: [working, review], to: stuck, by: engine, hooks: [{action: kill_session}]}
  - {from: stuck, to: done, by: human, hooks: [{action: release_workspace}]}
exit_monitoring:
  rules:
    - {status: working, action: mark_dead}
    - {status: review, has_artifact: {section: \"## Review\", verdict: PASS, strict: true, fresh: true}, then: done}
    - {status: review, action: mark_dead}
prompts: {p: work, r: review}
",
    );
    argument(&proof, "person-asked");
}

const MADE: &str = "
states: {pending: {}, planning: {}, working: {respawn_prompt: p}, review: {}, done: {terminal: true}}
transitions:
  - {from: pending, to: planning, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: p}]}
  - {from: planning, to: working, by: worker}
  - {from: working, to: done, by: engine, gate: {command: {argv: [make]}}, hooks: [{action: kill_session}, {action: release_workspace}]}
  - from: working
    to: review
    by: worker
    when: \"crash_count >= 1\"
    gate: {command: {argv: [make]}}
    hooks: [{action: kill_session}, {action: spawn_agent, as: reviewer, prompt: r}]
  - {from: review, to: planning, by: reviewer, hooks: [{action: kill_session}, {action: spawn_agent, prompt: p}]}
  - {from: [planning, review], to: done, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring:
  rules:
    - {status: working, then: done}
    - {status: working, action: crash, stuck_after: 3, respawn: true}
    - {status: planning, action: mark_dead}
    - {status: review, action: mark_dead}
prompts: {p: work, r: review}
";

/// The program has to fail in each turn before it succeeds.
#[test]
fn every_turn_of_a_loop_can_be_taken_again() {
    let proof = proof(MADE);
    let ProofVerdict::Refuted { findings, trace } = &judged(&proof, "loops-bounded").verdict else {
        panic!("{proof:#?}")
    };
    let trace = findings.iter().find_map(|it| it.trace.as_ref()).or(trace.as_ref()).expect("it has a run");
    replay(MADE, trace, 2);
}

/// The end of the worker is judged in `agent-review` once more, by the rule for its signal.
#[test]
fn an_end_is_one_for_the_rule_that_judges_it_later() {
    let text = "
states: {pending: {}, working: {}, agent-review: {respawn_prompt: p}, stuck: {}, done: {terminal: true}}
commands: {crash: stuck}
transitions:
  - {from: pending, to: working, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: p}]}
  - {from: working, to: agent-review, by: engine, hooks: [{action: kill_session}, {action: spawn_agent, prompt: r, harness: review}]}
  - from: agent-review
    to: done
    by: human
    gate: {section: \"## Review\", verdict: PASS, strict: true, fresh: true}
    hooks: [{action: kill_session}, {action: release_workspace}]
  - {from: agent-review, to: stuck, hooks: [{action: kill_session}]}
  - {from: stuck, to: done, by: human, hooks: [{action: release_workspace}]}
exit_monitoring:
  rules:
    - {status: working, has_artifact: {section: \"## Handoff\", required: true}, then: agent-review}
    - {status: working, action: mark_dead}
    - {status: agent-review, exit: {signal: [9]}, action: crash, stuck_after: 2, respawn: true}
    - {status: agent-review, has_artifact: {section: \"## Review\", verdict: PASS, strict: true, fresh: true}, then: done}
    - {status: agent-review, no_artifact: true, action: crash, stuck_after: 1}
prompts: {p: work, r: review}
";
    let proof = proof(text);
    let ProofVerdict::Refuted { findings, .. } = &judged(&proof, "person-asked").verdict else {
        panic!("{proof:#?}")
    };
    let trace = findings.iter().find_map(|it| it.trace.as_ref()).expect("it has a run");
    let is_signalled = |line: &String| line == "die worker by 9";
    assert!(trace.steps.iter().flat_map(|step| &step.script).any(is_signalled), "{trace:#?}");
    replay(text, trace, 0);
}

/// The end is judged once more when the hooks have run, and not later than it came.
#[test]
fn time_does_not_pass_when_hooks_run_again() {
    let text = "
name: flow
states: {pending: {}, working: {timeout: 60s, on_timeout: mending}, mending: {}, done: {terminal: true}}
transitions:
  - {from: pending, to: working, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: p}]}
  - {from: working, to: mending, by: engine, hooks: [{action: run_command, argv: [make]}]}
  - {from: [working, mending], to: done, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring: {rules: [{status: working, action: mark_dead}, {status: mending, action: mark_dead}]}
prompts: {p: work}
";
    let checked = compile(&Source::new("flow.yml", text)).checked.expect("it compiles");
    let arena = Arena::default();
    let machine = lower(&checked, &arena).expect("it has tables");
    let mut walk = Walk::new(&machine);
    take(&mut walk, &["status working", "fail run_command", "die worker after 60", "retry-hooks"]);
    assert_eq!((machine.state(walk.status()).name, walk.now()), ("mending", 60));
}

/// The agent works in a folder where one with a worktree is to be started: it is not started again after a wait.
#[test]
fn a_wait_starts_no_agent_that_lacks_its_worktree() {
    let text = "
name: flow
states: {pending: {}, triage: {agent: {workspace: none}}, working: {respawn_prompt: p}, stuck: {}, done: {terminal: true}}
transitions:
  - {from: pending, to: triage, by: human, hooks: [{action: spawn_agent, prompt: p}]}
  - {from: triage, to: working, by: worker}
  - {from: working, to: stuck, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}
  - {from: stuck, to: working, by: human, hooks: [{action: acquire_workspace}, {action: spawn_agent, prompt: p}]}
  - {from: [triage, working], to: done, by: human, hooks: [{action: kill_session}, {action: release_workspace}]}
exit_monitoring:
  rules:
    - {status: triage, action: mark_dead}
    - {status: working, exit: {code: 75}, action: wait, resume_after: 60}
    - {status: working, action: mark_dead}
prompts: {p: work}
";
    let checked = compile(&Source::new("flow.yml", text)).checked.expect("it compiles");
    let arena = Arena::default();
    let machine = lower(&checked, &arena).expect("it has tables");
    let search = Search::run(&machine);
    let resumed = search.edges().map(|(_, edge)| edge).filter(|edge| {
        matches!(edge.step, SearchStep::Exit { outcome: ExitResult::Waits { resumed: true }, .. })
    });
    let held: BTreeSet<_> = resumed.map(|edge| search.task(edge.from).has_worktree()).collect();
    assert_eq!(held, BTreeSet::from([true]));
}
