//! Decisions on a small machine, as plain values: the review loop of the default workflow.

use alloc::vec;
use alloc::vec::Vec;

use crate::*;

pub(crate) const PENDING: StateId = StateId(0);
pub(crate) const WORKING: StateId = StateId(1);
pub(crate) const REVIEW: StateId = StateId(2);
pub(crate) const STUCK: StateId = StateId(3);
pub(crate) const DONE: StateId = StateId(4);

const REVIEW_SECTION: SectionGate<'_> = SectionGate {
    section: "## Review",
    required: false,
    verdict: Some(Verdict::FAIL),
    verdicts: &[],
    strict: false,
    fields: Fields::NONE,
    fresh: false,
    of: None,
    reviewer: None,
};
const HANDOFF_SECTION: SectionGate<'_> =
    SectionGate { section: "## Handoff", required: true, verdict: None, ..REVIEW_SECTION };
const REVIEW_GATE: &[Gate<'_>] = &[Gate::Section(REVIEW_SECTION)];
const HANDOFF: &[Gate<'_>] = &[Gate::Section(HANDOFF_SECTION)];
const UNDER_2: Guard<'_> =
    Guard { text: "review_round < 2", any_of: &[&[Range { counter: REVIEW_ROUND, low: 0, high: 1 }]] };
const FROM_2: Guard<'_> = Guard {
    text: "review_round >= 2",
    any_of: &[&[Range { counter: REVIEW_ROUND, low: 2, high: u32::MAX }]],
};
const SPAWN: Spawn = Spawn::new(PromptId(0), Role::Reviewer, Permissions::Reduced);

const fn state(name: &str, terminal: bool) -> State<'_> {
    State {
        name,
        description: "",
        terminal,
        waits_for_human: false,
        entry: false,
        respawn: None,
        agent: Actor::Worker,
        delegates: None,
        budget: Budget::NONE,
    }
}

const fn transition(from: StateId, to: StateId) -> Transition<'static> {
    Transition {
        from,
        to,
        by: Actors::ANYONE,
        cause: None,
        guard: None,
        gates: &[],
        hooks: &[],
        on_hook_failure: None,
    }
}

const REVIEWER_OR_HUMAN: Actors = Actors::NONE.with(Actor::Reviewer).with(Actor::Human);

pub(crate) static MACHINE: Machine<'static> = Machine {
    name: "test",
    version: 1,
    description: "",
    source_hash: "",
    prompts_hash: "",
    actors: &["ci"],
    states: &[
        state("pending", false),
        state("working", false),
        state("agent-review", false),
        state("stuck", false),
        state("done", true),
    ],
    initial: PENDING,
    counters: &[Counter { name: "review_round", default: 0 }, Counter { name: "crash_count", default: 0 }],
    transitions: &[
        transition(PENDING, WORKING),
        Transition {
            gates: HANDOFF,
            hooks: &[
                Hook::new(Action::KillSession),
                Hook { counter: Some(REVIEW_ROUND), ..Hook::spawning(Action::SpawnAgent, SPAWN) },
            ],
            ..transition(WORKING, REVIEW)
        },
        Transition {
            by: REVIEWER_OR_HUMAN,
            guard: Some(UNDER_2),
            gates: REVIEW_GATE,
            ..transition(REVIEW, WORKING)
        },
        Transition {
            guard: Some(FROM_2),
            gates: REVIEW_GATE,
            hooks: &[Hook::new(Action::KillSession)],
            ..transition(REVIEW, STUCK)
        },
        transition(STUCK, DONE),
    ],
    rows: &[0, 1, 2, 4, 5, 5],
    watch: &[],
    exit_rules: &[
        ExitRule { state: WORKING, condition: Condition::Artifact(HANDOFF), outcome: Outcome::Then(REVIEW) },
        ExitRule {
            state: WORKING,
            condition: Condition::NoArtifact,
            outcome: Outcome::Crash { stuck_after: 2, respawn: false },
        },
        ExitRule {
            state: REVIEW,
            condition: Condition::Artifact(REVIEW_GATE),
            outcome: Outcome::ThenWhen(&[(UNDER_2, WORKING), (FROM_2, STUCK)]),
        },
        ExitRule {
            state: REVIEW,
            condition: Condition::NoArtifact,
            outcome: Outcome::Crash { stuck_after: 2, respawn: true },
        },
        ExitRule { state: STUCK, condition: Condition::Always, outcome: Outcome::MarkDead },
    ],
    prompts: &[],
    commands: Commands {
        spawn: Some(WORKING),
        clarify: None,
        review: Some(REVIEW),
        merge: Some(DONE),
        cancel: None,
        crash: Some(STUCK),
    },
    poll_interval: 30,
    budget: Budget::NONE,
};

pub(crate) fn view<'v>(status: StateId, counters: &'v [u32], body: &'v str) -> View<'v> {
    View { status, counters, body, seen: &[], answers: Answers::default() }
}

#[track_caller]
fn rejects(view: View<'_>, to: StateId, actor: Actor, message: &str, help: &str) {
    let rejection = MACHINE.decide(&view, to, actor).map(|decision| decision.transition).unwrap_err();
    assert_eq!(rejection.message(&MACHINE, &view), message);
    assert_eq!(rejection.help(&MACHINE, &view, "orange task update"), help);
}

fn effects(decision: &Decision<'_>) -> Vec<(&'static str, Option<u32>)> {
    decision
        .effects
        .iter()
        .map(|effect| (effect.hook.name(), effect.counter.map(|(_, value)| value)))
        .collect()
}

/// A spawn with this prompt.
const fn spawn_with(prompt: u16) -> Spawn<'static> {
    Spawn::new(PromptId(prompt), Role::Worker, Permissions::Full)
}

#[test]
fn a_restart_has_the_prompt_of_the_state() {
    let hooks =
        |spawns: [u16; 4]| spawns.map(|prompt| [Hook::spawning(Action::SpawnAgent, spawn_with(prompt))]);
    let [work, fix, stuck_fix, judge] = &hooks([1, 2, 3, 4]);
    let transitions = [
        Transition { hooks: work, ..transition(PENDING, WORKING) },
        Transition { hooks: fix, ..transition(REVIEW, WORKING) },
        transition(WORKING, STUCK),
        Transition { hooks: stuck_fix, ..transition(STUCK, WORKING) },
        Transition { hooks: &[Hook::spawning(Action::SpawnAgent, SPAWN)], ..transition(WORKING, REVIEW) },
        Transition { hooks: judge, ..transition(PENDING, DONE) },
    ];
    let mut states: Vec<_> = MACHINE.states.to_vec();
    states[4].respawn = Some(Hook::spawning(Action::SpawnAgent, spawn_with(9)));
    let machine = Machine { transitions: &transitions, states: &states, ..MACHINE };
    let check = |state, last: Option<u16>, expect: Option<u16>| {
        let restart = machine.restart(state, last.map(spawn_with));
        assert_eq!(restart.map(|spawn| spawn.prompt.0), expect, "{state:?} after {last:?}");
    };
    check(WORKING, None, Some(1));
    check(WORKING, Some(2), Some(2));
    check(WORKING, Some(3), Some(1));
    check(WORKING, Some(7), Some(1));
    check(REVIEW, None, Some(SPAWN.prompt.0));
    check(DONE, Some(4), Some(9));
    check(STUCK, Some(2), Some(2));
    check(STUCK, None, None);
}

#[test]
fn a_hook_changes_a_counter_from_what_the_hook_before_left() {
    const HOOKS: &[Hook<'static>] = &[
        Hook { counter: Some(REVIEW_ROUND), ..Hook::new(Action::Increment) },
        Hook { counter: Some(REVIEW_ROUND), ..Hook::new(Action::Reset) },
        Hook { counter: Some(REVIEW_ROUND), ..Hook::new(Action::Increment) },
        Hook { counter: Some(CRASH_COUNT), ..Hook::new(Action::Reset) },
    ];
    let transitions = [Transition { hooks: HOOKS, ..transition(PENDING, WORKING) }];
    let counters = [Counter { default: 3, ..MACHINE.counters[0] }, MACHINE.counters[1]];
    let machine =
        Machine { transitions: &transitions, rows: &[0, 1, 1, 1, 1, 1], counters: &counters, ..MACHINE };
    let values: Vec<_> = machine.effects_of(TransitionId(0), &[7, 1]).iter().map(|it| it.counter).collect();
    let round = |value| Some((REVIEW_ROUND, value));
    assert_eq!(values, [round(8), round(3), round(4), None]);
    let left: Vec<_> =
        machine.effects_left(TransitionId(0), 1, &[3, 1]).iter().map(|it| it.counter).collect();
    assert_eq!(left, [None, round(4), None]);
}

#[test]
fn a_request_that_may_be_is_bound_to_its_effects() {
    let view = view(WORKING, &[1, 1], "## Handoff\nDONE: all\n");
    let decision = MACHINE.decide(&view, REVIEW, Actor::Worker).unwrap();
    assert_eq!((decision.from, decision.to, decision.closing), (WORKING, REVIEW, Some((CRASH_COUNT, 0))));
    assert_eq!(effects(&decision), vec![("kill_session", None), ("spawn_agent", Some(2))]);
    assert_eq!(decision.seen.iter().map(|seen| seen.section).collect::<Vec<_>>(), ["## Handoff"]);
}

#[test]
fn rejections_say_what_to_do() {
    rejects(
        view(WORKING, &[], "no sections"),
        REVIEW,
        Actor::Worker,
        "`## Handoff` is missing from TASK.md",
        "write it (at least one line), then run `orange task update --status agent-review` again",
    );
    rejects(
        view(WORKING, &[], "```\n## Handoff\nx\n```"),
        REVIEW,
        Actor::Worker,
        "`## Handoff` is missing from TASK.md: it stands in a code block or a comment only, where it is not a heading",
        "write it (at least one line), then run `orange task update --status agent-review` again",
    );
    rejects(
        view(WORKING, &[], ""),
        DONE,
        Actor::Human,
        "no transition leads from working to done",
        "from working a task can go to agent-review; `orange task next` says what each needs",
    );
    rejects(
        view(WORKING, &[], ""),
        WORKING,
        Actor::Worker,
        "the task is working already",
        "from working a task can go to agent-review; `orange task next` says what each needs",
    );
    rejects(
        view(REVIEW, &[2], "## Review\nFAIL"),
        WORKING,
        Actor::Reviewer,
        "agent-review → working is open when `review_round < 2`, and review_round is 2",
        "open from agent-review now: stuck",
    );
    rejects(
        view(REVIEW, &[0], "## Review\nFAIL"),
        WORKING,
        Actor::Worker,
        "a worker may not move a task from agent-review to working",
        "this is for: reviewer, human",
    );
    rejects(
        view(REVIEW, &[2], "## Review\nVerdict: PASS"),
        STUCK,
        Actor::Reviewer,
        "the verdict of `## Review` in TASK.md is PASS, and this needs FAIL",
        "ask for the state that fits the verdict, or, if the verdict is wrong, correct it, then run `orange task update --status stuck` again",
    );
    rejects(
        view(DONE, &[], ""),
        WORKING,
        Actor::Human,
        "the task is done, which is final",
        "create a new task for further work",
    );
}

#[test]
fn actors_are_checked_before_guard_and_gate_but_the_engine() {
    let view = view(REVIEW, &[2], "");
    let refused = |actor| MACHINE.decide(&view, WORKING, actor).unwrap_err().code();
    assert_eq!(refused(Actor::Worker), "not_allowed");
    assert_eq!(refused(Actor::Human), "guard_failed");
    assert_eq!(refused(Actor::Engine), "guard_failed");
}

#[test]
fn options_list_every_target_with_what_is_missing() {
    let view = view(REVIEW, &[0], "");
    let options = MACHINE.options(&view, Actor::Reviewer);
    let missing: Vec<_> =
        options.iter().map(|choice| (choice.to, choice.rejection.unwrap().code())).collect();
    assert_eq!(missing, vec![(WORKING, "gate_failed"), (STUCK, "guard_failed")]);
}

#[test]
fn an_agent_that_wrote_its_artifact_is_advanced() {
    let ExitDecision::Advance { decision, .. } =
        MACHINE.decide_exit(&view(WORKING, &[0, 1], "## Handoff\nx"), &AgentEnd::default()).unwrap()
    else {
        panic!("expected an advance")
    };
    assert_eq!((decision.to, decision.cause), (REVIEW, Cause::Exit));
    let ExitDecision::Advance { decision, .. } =
        MACHINE.decide_exit(&view(REVIEW, &[2], "## Review\nFAIL"), &AgentEnd::default()).unwrap()
    else {
        panic!("expected an advance")
    };
    assert_eq!(decision.to, STUCK);
}

#[test]
fn a_verdict_moves_nothing_on_while_another_agent_lives() {
    let beside = AgentEnd { is_beside: true, ..AgentEnd::default() };
    let decide = |status, body| MACHINE.decide_exit(&view(status, &[0, 0], body), &beside).unwrap();
    let ExitDecision::Crash { count: 1, reason, .. } = decide(REVIEW, "## Review\nFAIL") else {
        panic!("expected a crash")
    };
    assert!(reason.contains("beside another one"), "{reason}");
    assert!(matches!(decide(WORKING, "## Handoff\nx"), ExitDecision::Advance { .. }));
}

#[test]
fn entering_a_state_records_the_sections_of_its_fresh_gates() {
    let fresh = SectionGate { fresh: true, ..REVIEW_SECTION };
    let noted = [SectionGate { section: "## Notes", ..fresh }, SectionGate { verdict: None, ..fresh }, fresh];
    let noted = noted.map(|gate| [Gate::Section(gate)]);
    let rules = noted.each_ref().map(|gates| ExitRule {
        state: REVIEW,
        condition: Condition::Artifact(gates),
        outcome: Outcome::MarkDead,
    });
    let machine = Machine { exit_rules: &rules, ..MACHINE };
    let body = "## Handoff\nx\n## Review\nVerdict: PASS";
    let entered = machine.decide(&view(WORKING, &[0], body), REVIEW, Actor::Worker).unwrap().entered;
    let expect = entered_with("Verdict: PASS");
    assert_eq!(entered, vec![expect]);
    // An artifact without a verdict may be another agent's, too.
    let rules = [rules[1]];
    let machine = Machine { exit_rules: &rules, ..MACHINE };
    assert_eq!(machine.found(REVIEW, body, None), vec![]);
}

#[test]
fn crashes_are_counted_and_then_escalate_past_gate_and_guard() {
    let ExitDecision::Crash { count: 1, respawn: true, .. } =
        MACHINE.decide_exit(&view(REVIEW, &[0, 0], ""), &AgentEnd::default()).unwrap()
    else {
        panic!("expected a first crash")
    };
    let ExitDecision::Escalate { count: 2, decision, .. } =
        MACHINE.decide_exit(&view(REVIEW, &[0, 1], ""), &AgentEnd::default()).unwrap()
    else {
        panic!("expected an escalation")
    };
    assert_eq!((decision.to, decision.closing, decision.cause), (STUCK, None, Cause::Escalation));
    assert_eq!(effects(&decision), vec![("kill_session", None)]);
}

#[test]
fn without_a_declared_transition_a_task_stays_and_says_so() {
    let ExitDecision::Crash { count: 2, respawn: false, reason } =
        MACHINE.decide_exit(&view(WORKING, &[0, 1], ""), &AgentEnd::default()).unwrap()
    else {
        panic!("expected a crash")
    };
    assert!(reason.ends_with("the workflow declares no transition to a crash state"), "{reason}");
}

#[test]
fn a_failed_gate_on_an_exit_rules_transition_is_a_crash() {
    let mut machine = MACHINE;
    let loose = [Gate::Section(SectionGate { required: false, ..HANDOFF_SECTION })];
    let rules =
        [ExitRule { condition: Condition::Artifact(&loose), ..MACHINE.exit_rules[0] }, MACHINE.exit_rules[1]];
    machine.exit_rules = &rules;
    let ExitDecision::Crash { count: 1, reason, .. } =
        machine.decide_exit(&view(WORKING, &[], "## Handoff\n"), &AgentEnd::default()).unwrap()
    else {
        panic!("expected a crash")
    };
    assert!(reason.contains("`## Handoff` in TASK.md is empty"), "{reason}");
}

#[test]
fn how_an_agent_ended_is_asked_in_the_order_of_the_rules() {
    let said = |output| Condition::Ended(Ending { output: Some(output), ..Ending::ANY });
    let exited = Condition::Ended(Ending { codes: &[75], signals: &[9], ..Ending::ANY });
    let rule = |condition, outcome| ExitRule { state: WORKING, condition, outcome };
    let rules = [
        MACHINE.exit_rules[0],
        rule(said("rate limit"), Outcome::Wait { resume_after: 900 }),
        rule(exited, Outcome::MarkDead),
        rule(said("log in"), Outcome::Then(REVIEW)),
        rule(Condition::NoArtifact, Outcome::Crash { stuck_after: 9, respawn: true }),
    ];
    let machine = Machine { exit_rules: &rules, ..MACHINE };
    let decide = |body, code, output| {
        let end = AgentEnd { code, output, ..AgentEnd::default() };
        machine.decide_exit(&view(WORKING, &[], body), &end).unwrap()
    };
    let ExitDecision::Wait { resume_after: 900, reason } = decide("", Some(75), "Rate\nLIMIT") else {
        panic!("expected a wait")
    };
    assert_eq!(reason, "the agent ended in working with \"rate limit\" in its last lines");
    let ExitDecision::MarkDead { reason } = decide("", Some(75), "") else { panic!("expected a dead one") };
    assert_eq!(reason, "the agent ended in working with exit status 75 or by signal 9");
    let ExitDecision::Crash { count: 1, reason, .. } = decide("", None, "please log in") else {
        panic!("expected a gate that refuses")
    };
    assert!(reason.contains("its exit rule cannot go to agent-review"), "{reason}");
    assert!(matches!(decide("", Some(1), "boom"), ExitDecision::Crash { respawn: true, .. }));
    // The rule about the artifact comes first here, however its author ended.
    assert!(matches!(decide("## Handoff\nx", Some(75), "rate limit"), ExitDecision::Advance { .. }));
    // An artifact that is not there is absent, whatever is known of the end.
    let met = [false, true, true, true, true, false];
    assert_eq!(machine.exit(WORKING, &met, &[]), Exit::Wait { resume_after: 900 });
    assert_eq!(
        machine.exit(WORKING, &[false, false, false, false, false], &[]),
        Exit::Crash { stuck_after: 9, respawn: true }
    );
}

#[test]
fn other_states_are_marked_dead() {
    for status in [STUCK, PENDING] {
        assert!(matches!(
            MACHINE.decide_exit(&view(status, &[], ""), &AgentEnd::default()).unwrap(),
            ExitDecision::MarkDead { .. }
        ));
    }
}

fn entered_with(review: &str) -> SeenSection<'static> {
    SeenSection {
        section: "## Review",
        fingerprint: fingerprint(review),
        when: When::Entered,
        work: WorkSince::default(),
    }
}

#[test]
fn a_fresh_gate_refuses_what_it_has_seen() {
    let gates = [Gate::Section(SectionGate { fresh: true, ..REVIEW_SECTION })];
    let old = entered_with("FAIL: tests\n");
    let seen = [old];
    let view = View { seen: &seen, ..view(REVIEW, &[], "## Review\nFAIL: tests") };
    let stale = Lack { gate: 0, missing: Missing::Fresh { when: When::Entered } };
    assert_eq!(view.check(&gates), Err(stale));
    assert_eq!(View { body: "## Review\nFAIL: docs", ..view }.check(&gates), Ok(()));
}

/// The machine, where the way to a review asks for a handoff, for notes and for each of two fields.
fn with_several_gates(judge: impl FnOnce(&Machine<'_>)) {
    let notes = SectionGate { section: "## Notes", ..HANDOFF_SECTION };
    let fields = SectionGate { fields: Fields::All(&["DONE", "RISKS"]), ..HANDOFF_SECTION };
    let gates = [Gate::Section(notes), Gate::Section(fields), HANDOFF[0]];
    let mut transitions = MACHINE.transitions.to_vec();
    transitions[1].gates = &gates;
    let mut rules = MACHINE.exit_rules.to_vec();
    rules[0].condition = Condition::Artifact(&gates);
    judge(&Machine { transitions: &transitions, exit_rules: &rules, ..MACHINE });
}

#[test]
fn every_gate_has_to_hold_and_each_that_does_not_is_named() {
    with_several_gates(|machine| {
        let both = "## Handoff\nDONE: all\nRISKS: none\n## Notes\nx";
        let decision = machine.decide(&view(WORKING, &[], both), REVIEW, Actor::Worker).unwrap();
        let seen: Vec<_> = decision.seen.iter().map(|seen| seen.section).collect();
        assert_eq!(seen, ["## Notes", "## Handoff"]);
        let view = view(WORKING, &[], "## Handoff\nDONE: all");
        let rejection = machine.decide(&view, REVIEW, Actor::Worker).unwrap_err();
        let lack = Lack { gate: 0, missing: Missing::Section };
        assert_eq!(
            rejection,
            Rejection::GateFailed { transition: TransitionId(1), actor: Actor::Worker, lack }
        );
        assert_eq!(
            rejection.message(machine, &view),
            "`## Notes` is missing from TASK.md, and `## Handoff` in TASK.md has no line that begins with `RISKS:`"
        );
        assert_eq!(
            rejection.help(machine, &view, "orange task update"),
            "for `## Notes`: write it (at least one line); for `## Handoff`: write a line `RISKS: …` into it, then run `orange \
             task update --status agent-review` again"
        );
    });
}

/// The machine, where three transitions lead from a review to work: the reviewer's by a failed review, another one of theirs by a
/// passed one, and a person's.
fn with_several_transitions_to_work(judge: impl FnOnce(&Machine<'_>)) {
    let passed = [Gate::Section(SectionGate { verdict: Some(Verdict::PASS), ..REVIEW_SECTION })];
    let mut transitions = MACHINE.transitions.to_vec();
    let reviewers = Transition { by: Actors::NONE.with(Actor::Reviewer), ..transitions[2] };
    let others = Transition { gates: &passed, guard: None, ..reviewers };
    let persons = Transition { by: Actors::NONE.with(Actor::Human), ..transition(REVIEW, WORKING) };
    transitions.splice(2..3, [reviewers, others, persons]);
    judge(&Machine { transitions: &transitions, rows: &[0, 1, 2, 6, 7, 7], ..MACHINE });
}

#[test]
fn actor_and_verdict_choose_among_transitions_of_a_pair() {
    with_several_transitions_to_work(|machine| {
        let taken = |body: &str, actor| {
            machine.decide(&view(REVIEW, &[1], body), WORKING, actor).map(|it| it.transition.0)
        };
        assert_eq!(taken("## Review\nFAIL: tests", Actor::Reviewer), Ok(2));
        assert_eq!(taken("## Review\nPASS", Actor::Reviewer), Ok(3));
        assert_eq!(taken("## Review\nFAIL: tests", Actor::Human), Ok(4));
        assert_eq!(taken("", Actor::Human), Ok(4));
        let not_allowed = Rejection::NotAllowed { from: REVIEW, to: WORKING, actor: Actor::Worker };
        assert_eq!(taken("", Actor::Worker), Err(not_allowed));
        // No transition names the engine: it asks as the reviewer.
        assert_eq!(taken("## Review\nPASS", Actor::Engine), Ok(3));
        assert_eq!(taken("## Review\nFAIL: tests", Actor::Engine), Ok(2));
        let failed = view(REVIEW, &[2], "## Review\nFAIL: tests");
        let wrong = machine.decide(&failed, WORKING, Actor::Reviewer).unwrap_err();
        assert!(matches!(wrong, Rejection::GateFailed { transition: TransitionId(3), .. }), "{wrong:?}");
    });
}

#[test]
fn a_refusal_says_what_each_transition_of_a_pair_lacks() {
    with_several_transitions_to_work(|machine| {
        let view = view(REVIEW, &[1], "## Review\nlooks good");
        let wrong = machine.decide(&view, WORKING, Actor::Reviewer).unwrap_err();
        assert_eq!(
            wrong.message(machine, &view),
            "`## Review` in TASK.md has no verdict: no line with PASS or FAIL"
        );
        assert_eq!(
            wrong.help(machine, &view, "orange task update"),
            "write `Verdict: FAIL` as its first line, or write `Verdict: PASS` as its first line, then run `orange task update \
             --status working` again"
        );
        let choices = machine.options(&view, Actor::Human);
        let to_work = choices.iter().find(|it| it.to == WORKING).map(|it| (it.transition.0, it.rejection));
        assert_eq!(to_work, Some((4, None)));
    });
}

#[test]
fn an_exit_rule_applies_when_every_gate_of_it_holds() {
    with_several_gates(|machine| {
        let decide = |body| machine.decide_exit(&view(WORKING, &[], body), &AgentEnd::default()).unwrap();
        let both = "## Handoff\nDONE: all\nRISKS: none\n## Notes\nx";
        assert!(matches!(decide(both), ExitDecision::Advance { .. }));
        assert!(matches!(decide("## Handoff\nDONE: all\nRISKS: none"), ExitDecision::Crash { .. }));
    });
}

/// Checks the states to which a state leads once its work is done.
#[track_caller]
fn check_forward(status: StateId, body: &str, round: u32, actor: Actor, expect: &[StateId]) {
    let counters = [round, 0];
    let choices = MACHINE.forward(&view(status, &counters, body), actor);
    assert_eq!(choices.iter().map(|choice| choice.to).collect::<Vec<_>>(), expect);
}

#[test]
fn forward_is_what_the_gate_of_the_state_leads_to() {
    check_forward(WORKING, "", 0, Actor::Worker, &[REVIEW]);
    check_forward(WORKING, "## Handoff\n\nDONE", 0, Actor::Worker, &[REVIEW]);
    check_forward(REVIEW, "", 1, Actor::Reviewer, &[WORKING]);
    check_forward(REVIEW, "## Review\n\nVerdict: FAIL", 2, Actor::Reviewer, &[STUCK]);
    check_forward(REVIEW, "", 1, Actor::Worker, &[]);
    check_forward(PENDING, "", 0, Actor::Human, &[WORKING]);
    check_forward(STUCK, "", 0, Actor::Human, &[DONE]);
    check_forward(DONE, "", 0, Actor::Human, &[]);
}

#[test]
fn a_transition_of_the_engine_is_for_no_one_who_asks() {
    let by = Actors::NONE.with(Actor::Engine);
    let transitions = [Transition { by, ..transition(PENDING, WORKING) }];
    let machine = Machine { transitions: &transitions, rows: &[0, 1, 1, 1, 1, 1], ..MACHINE };
    let rejection = Rejection::NotAllowed { from: PENDING, to: WORKING, actor: Actor::Worker };
    assert_eq!(
        rejection.help(&machine, &view(PENDING, &[], ""), "orange task update"),
        "the engine alone takes this transition; `orange task next` says what you can ask for"
    );
}
