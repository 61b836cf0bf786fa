//! The life of a task, as plain values: what follows on what, on the small machine of the decisions' tests.

use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};

use crate::tests::{DONE, MACHINE, PENDING, REVIEW, STUCK, WORKING, view};
use crate::*;

const RESPAWN: Hook<'_> =
    Hook::spawning(Action::SpawnAgent, Spawn::new(PromptId(0), Role::Reviewer, Permissions::Full));

/// The machine, with an agent of the review that can be started again.
fn machine<'m>(states: &'m [State<'static>]) -> Machine<'m> {
    Machine { states, ..MACHINE }
}

fn states() -> Vec<State<'static>> {
    let mut states = MACHINE.states.to_vec();
    states[usize::from(REVIEW.0)].respawn = Some(RESPAWN);
    states[usize::from(REVIEW.0)].agent = Actor::Reviewer;
    states
}

fn facts<'v>(status: StateId, counters: &'v [u32], body: &'v str) -> LifeFacts<'v> {
    LifeFacts {
        view: view(status, counters, body),
        has_summary: true,
        workspace: Some(Workspace::Worktree),
        has_session: true,
        hooks_wait: false,
        restarts: 0,
        reviewers: &[],
        last: None,
    }
}

/// Events and effects of a turn, in a word each.
fn words(turn: &LifeTurn<'_>) -> Vec<String> {
    let event = |event: &LifeEvent<'_>| match event {
        LifeEvent::Crashed { count, .. } => format!("crash {count}"),
        LifeEvent::NotResumed => "not resumed".into(),
        LifeEvent::Advanced { to, .. } => format!("advance {}", to.0),
        LifeEvent::Began(decision) => format!("begin {}", decision.to.0),
        LifeEvent::Forced { what, to, .. } => format!("{what:?} {}", to.0),
        LifeEvent::Waits { after, .. } => format!("wait {after}"),
        LifeEvent::HooksWait => "hooks wait".into(),
        LifeEvent::GaveUp { .. } => "give up".into(),
        LifeEvent::Attention(_) => "attention".into(),
    };
    let effects = turn.effects.iter().map(|effect| match effect.counter {
        Some((_, value)) => format!("{} {value}", effect.hook.name()),
        None => effect.hook.name().into(),
    });
    turn.events.iter().map(event).chain(effects).collect()
}

#[track_caller]
fn check(facts: LifeFacts<'_>, input: Input<'_>, expect: &[&str]) {
    let states = states();
    let turn = machine(&states).life(&facts, input).unwrap_or_else(|no| panic!("{no:?}"));
    assert_eq!(words(&turn), expect, "{}", turn.story);
}

#[track_caller]
fn refuses(facts: LifeFacts<'_>, input: Input<'_>, expect: Refusal) {
    let states = states();
    let refusal = machine(&states).life(&facts, input).err();
    assert_eq!(refusal, Some(expect));
}

fn ended(agent: Actor, end: AgentEnd<'_>) -> Input<'_> {
    Input::Ended { agent, end }
}

const REVIEWER_ENDED: Input<'static> = Input::Ended { agent: Actor::Reviewer, end: AgentEnd::PLAIN };

#[test]
fn an_end_in_a_terminal_state_needs_nobody() {
    check(facts(DONE, &[], ""), ended(Actor::Worker, AgentEnd::PLAIN), &[]);
    let again = Input::JudgedAgain { agent: Actor::Worker, end: AgentEnd::PLAIN, is_replaced: false };
    check(facts(DONE, &[], ""), again, &[]);
}

#[test]
fn an_end_in_another_actor_s_state_needs_a_person() {
    check(facts(REVIEW, &[], ""), ended(Actor::Worker, AgentEnd::PLAIN), &["attention"]);
}

#[test]
fn a_crash_starts_the_agent_again_where_that_can_work() {
    check(facts(REVIEW, &[0, 0], ""), REVIEWER_ENDED, &["crash 1", "wait 0", "spawn_agent"]);
    let later = LifeFacts { restarts: 2, ..facts(REVIEW, &[0, 0], "") };
    check(later, REVIEWER_ENDED, &["crash 1", "wait 20"]);
    let homeless = LifeFacts { workspace: None, ..facts(REVIEW, &[0, 0], "") };
    check(homeless, REVIEWER_ENDED, &["attention", "crash 1"]);
    let often = LifeFacts { restarts: MAX_RESTARTS, ..facts(REVIEW, &[0, 0], "") };
    check(often, REVIEWER_ENDED, &["crash 1", "attention", "give up"]);
}

#[test]
fn an_escalation_calls_a_person_after_it_has_begun() {
    let expect = ["crash 2", "advance 3", "begin 3", "attention"];
    check(facts(REVIEW, &[0, 1], ""), REVIEWER_ENDED, &expect);
}

#[test]
fn evidence_excuses_a_crash_and_never_an_advance() {
    let written = facts(REVIEW, &[0, 0], "## Review\nFAIL");
    let missing = facts(REVIEW, &[0, 0], "");
    let limit = Some(Limit { left: Some(60) });
    let excuses: [(AgentEnd<'_>, &[&str]); 5] = [
        (AgentEnd { never_began: true, ..AgentEnd::PLAIN }, &["wait 0", "spawn_agent"]),
        (
            AgentEnd { lost: Some("it"), ..AgentEnd::PLAIN },
            &["attention", "not resumed", "wait 0", "spawn_agent"],
        ),
        (AgentEnd { limit, ..AgentEnd::PLAIN }, &["wait 60"]),
        (AgentEnd { limit: Some(Limit::default()), ..AgentEnd::PLAIN }, &["wait 300"]),
        (AgentEnd { is_awaited: true, ..AgentEnd::PLAIN }, &[]),
    ];
    for (end, expect) in excuses {
        check(missing, ended(Actor::Reviewer, end), expect);
        check(written, ended(Actor::Reviewer, end), &["advance 1", "begin 1"]);
    }
}

#[test]
fn one_that_crashes_is_started_with_the_one_that_waits() {
    let crashed = |left| ended(Actor::Reviewer, AgentEnd { awaits_other: Some(left), ..AgentEnd::PLAIN });
    check(facts(REVIEW, &[0, 0], ""), crashed(60), &["crash 1"]);
    let later = LifeFacts { restarts: 2, ..facts(REVIEW, &[0, 0], "") };
    check(later, crashed(60), &["crash 1"]);
    check(later, crashed(10), &["crash 1", "wait 20"]);
    let limited = |left| {
        let limit = Some(Limit { left: Some(60) });
        ended(Actor::Reviewer, AgentEnd { limit, awaits_other: Some(left), ..AgentEnd::PLAIN })
    };
    check(facts(REVIEW, &[0, 0], ""), limited(10), &["wait 60"]);
    check(facts(REVIEW, &[0, 0], ""), limited(3600), &[]);
    check(facts(REVIEW, &[0, 1], ""), crashed(60), &["crash 2", "advance 3", "begin 3", "attention"]);
}

#[test]
fn an_end_is_judged_again_only_where_the_agent_is_missed() {
    let judged =
        |is_replaced| Input::JudgedAgain { agent: Actor::Reviewer, end: AgentEnd::PLAIN, is_replaced };
    let here = facts(REVIEW, &[0, 0], "");
    check(here, judged(false), &["crash 1", "wait 0", "spawn_agent"]);
    check(here, judged(true), &[]);
    check(LifeFacts { has_session: false, ..here }, judged(false), &[]);
    check(facts(WORKING, &[0, 0], ""), judged(false), &[]);
}

#[test]
fn a_task_is_started_once_and_a_late_one_in_its_state() {
    let by = Actor::Human;
    let start = Input::Spawn { by };
    check(facts(PENDING, &[0, 0], ""), start, &["begin 1"]);
    let late = LifeFacts { workspace: None, ..facts(REVIEW, &[0, 0], "") };
    check(late, start, &["acquire_workspace", "spawn_agent 1"]);
    let second = LifeFacts { workspace: None, ..facts(REVIEW, &[1, 0], "") };
    check(second, start, &["acquire_workspace", "spawn_agent"]);
    refuses(facts(REVIEW, &[0, 0], ""), start, Refusal::Started);
    refuses(facts(DONE, &[0, 0], ""), start, Refusal::Started);
}

/// An agent of these tests that works without a worktree.
static IN_FOLDER: Hook<'_> = Hook::spawning(
    Action::SpawnAgent,
    Spawn { workspace: Workspace::Folder, ..Spawn::new(PromptId(0), Role::Reviewer, Permissions::Full) },
);

#[test]
fn an_agent_starts_where_the_task_holds_what_it_works_in() {
    let (states, mut without) = (states(), states());
    without[usize::from(REVIEW.0)].respawn = Some(IN_FOLDER);
    let (usual, triage) = (machine(&states), machine(&without));
    let of = |machine: &Machine<'_>, workspace, input| {
        machine.life(&LifeFacts { workspace, ..facts(REVIEW, &[1, 0], "") }, input).map(|turn| words(&turn))
    };
    let (start, again) = (Input::Spawn { by: Actor::Human }, Input::Respawn { is_alive: false });
    let (worktree, folder) = (Some(Workspace::Worktree), Some(Workspace::Folder));
    assert_eq!(of(&triage, None, start).unwrap(), ["spawn_agent"]);
    assert_eq!(of(&triage, None, again).unwrap(), ["spawn_agent"]);
    assert_eq!(of(&triage, folder, again).unwrap(), ["spawn_agent"]);
    assert_eq!(of(&triage, folder, start).unwrap_err(), Refusal::Started);
    assert_eq!(of(&triage, worktree, start).unwrap_err(), Refusal::Started);
    assert_eq!(of(&triage, worktree, again).unwrap_err(), Refusal::NoWorkspace(Workspace::Folder));
    assert_eq!(of(&triage, worktree, REVIEWER_ENDED).unwrap(), ["attention", "crash 1"]);
    // A folder is not a worktree.
    assert_eq!(of(&usual, folder, start).unwrap(), ["acquire_workspace", "spawn_agent"]);
    assert_eq!(of(&usual, folder, again).unwrap_err(), Refusal::NoWorkspace(Workspace::Worktree));
}

#[test]
fn without_a_summary_a_start_asks_for_one() {
    let commands = Commands { clarify: Some(REVIEW), ..MACHINE.commands };
    let machine = Machine { commands, ..MACHINE };
    let task = LifeFacts { has_summary: false, ..facts(PENDING, &[], "") };
    let refusal = machine.life(&task, Input::Spawn { by: Actor::Human }).err().and_then(|no| no.rejection());
    assert_eq!(refusal, Some(Rejection::NoTransition { from: PENDING, to: REVIEW }));
    let task = facts(PENDING, &[], "");
    assert_eq!(words(&machine.life(&task, Input::Spawn { by: Actor::Human }).unwrap()), ["begin 1"]);
}

#[test]
fn an_agent_is_started_again_where_one_works_and_none_lives() {
    let dead = Input::Respawn { is_alive: false };
    check(facts(REVIEW, &[], ""), dead, &["spawn_agent"]);
    refuses(facts(REVIEW, &[], ""), Input::Respawn { is_alive: true }, Refusal::Alive);
    refuses(
        LifeFacts { workspace: None, ..facts(REVIEW, &[], "") },
        dead,
        Refusal::NoWorkspace(Workspace::Worktree),
    );
    refuses(facts(STUCK, &[], ""), dead, Refusal::NoRespawnPrompt);
    refuses(facts(DONE, &[], ""), Input::Restart { is_alive: false }, Refusal::NoAgent);
    let last = RESPAWN.spawn().copied();
    check(LifeFacts { last, ..facts(STUCK, &[], "") }, Input::Restart { is_alive: false }, &["spawn_agent"]);
}

#[test]
fn what_could_not_be_started_is_tried_again_or_given_up() {
    let failed = |is_final| Input::NotStarted { reason: "no tmux", is_final };
    let task = LifeFacts { restarts: 1, ..facts(REVIEW, &[], "") };
    check(task, failed(false), &["wait 10"]);
    check(task, failed(true), &["attention", "give up"]);
}

#[test]
fn a_living_agent_at_a_limit_waits_and_is_not_started() {
    let met = |agent| Input::LimitMet { agent, left: None, reason: "429" };
    check(facts(REVIEW, &[], ""), met(Actor::Reviewer), &["wait 300"]);
    check(facts(REVIEW, &[], ""), met(Actor::Worker), &[]);
}

#[test]
fn a_person_forces_a_merge_of_what_is_not_over() {
    let merge = |force, is_merged| Input::Merge { by: Actor::Human, force, is_merged };
    check(facts(STUCK, &[], ""), merge(false, false), &["begin 4"]);
    check(facts(WORKING, &[], ""), merge(true, false), &["Merge 4"]);
    let rejection = Rejection::NoTransition { from: WORKING, to: DONE };
    let refusal = Refusal::Rejected { rejection, is_forcible: true };
    refuses(facts(WORKING, &[], ""), merge(false, false), refusal);
    // It went there without a merge, and stays there.
    check(facts(DONE, &[], ""), merge(false, false), &[]);
    let rejection = Rejection::NoTransition { from: DONE, to: DONE };
    let refusal = Refusal::Rejected { rejection, is_forcible: false };
    refuses(facts(DONE, &[], ""), merge(true, true), refusal);
}

#[test]
fn a_program_on_the_result_is_asked_by_the_merge_alone() {
    let mut transitions = MACHINE.transitions.to_vec();
    let to_done = transitions.iter_mut().find(|it| (it.from, it.to) == (STUCK, DONE)).unwrap();
    to_done.gates = &[Gate::OnMerge(TEST)];
    let machine = Machine { transitions: &transitions, ..MACHINE };
    let task = facts(STUCK, &[], "");
    let merge = Input::Merge { by: Actor::Human, force: false, is_merged: false };
    for input in [merge, Input::PullRequest { end: Forced::Merge }] {
        let turn = machine.life(&task, input).unwrap();
        assert_eq!(words(&turn), ["begin 4"]);
    }
    let refusal = machine.life(&task, Input::Request { to: DONE, by: Actor::Human }).unwrap_err();
    assert_eq!(refusal.program(&machine), None);
    let message = refusal.message(&machine, &task.view);
    assert_eq!(message, "`make test` runs on the result of a merge, and this is not a merge");
    let Refusal::Rejected { rejection, .. } = refusal else { panic!("{refusal:?}") };
    let help = rejection.help(&machine, &task.view, "orange task update fix");
    assert_eq!(help, "`orange task merge fix` asks it, and takes this transition");
}

#[test]
fn a_pull_request_ends_a_task_whatever_is_missing() {
    let merged = Input::PullRequest { end: Forced::Merge };
    check(facts(STUCK, &[], ""), merged, &["begin 4"]);
    check(facts(WORKING, &[], ""), merged, &["Merge 4"]);
    check(facts(DONE, &[], ""), merged, &[]);
    refuses(facts(WORKING, &[], ""), Input::PullRequest { end: Forced::Cancel }, Refusal::NoState("cancel"));
}

#[test]
fn a_cancel_clears_away_what_a_failed_hook_has_left() {
    let commands = Commands { cancel: Some(DONE), ..MACHINE.commands };
    let machine = Machine { commands, ..MACHINE };
    let cancel = |is_cut_short| Input::Cancel { by: Actor::Human, is_cut_short };
    let turn = |facts, input| words(&machine.life(&facts, input).unwrap());
    assert_eq!(turn(facts(DONE, &[], ""), cancel(false)), ["Cancel 4"]);
    assert_eq!(turn(facts(STUCK, &[], ""), cancel(false)), ["begin 4"]);
    assert_eq!(turn(facts(WORKING, &[], ""), cancel(true)), ["Cancel 4"]);
    let idle = LifeFacts { workspace: None, has_session: false, ..facts(DONE, &[], "") };
    assert!(machine.life(&idle, cancel(false)).is_err());
    assert_eq!(
        machine.forced_hooks(Forced::Cancel, DONE),
        vec![&Hook::new(Action::KillSession), &Hook::new(Action::ReleaseWorkspace)]
    );
}

#[test]
fn a_failed_hook_stops_the_others_or_does_not() {
    let fails = |hook: &Hook<'_>| {
        let states = states();
        let (cause, transition) = (Cause::Request(Actor::Human), None);
        let input = Input::HookFailed { hook, transition, cause, reason: "no" };
        let turn = machine(&states).life(&facts(REVIEW, &[], ""), input);
        words(&turn.unwrap())
    };
    let test = Hook::new(Action::RunCommand);
    assert_eq!(fails(&test), ["hooks wait", "attention"]);
    assert_eq!(fails(&Hook { on_failure: OnFailure::GoOn, ..test }), [""; 0]);
    let push = Hook::new(Action::PushBranch);
    assert_eq!(fails(&push), [""; 0]);
    assert_eq!(fails(&Hook { on_failure: OnFailure::Stop, ..push }), ["hooks wait", "attention"]);
}

#[test]
fn hooks_are_retried_by_a_person_and_by_who_may_ask() {
    let may = |transition| Actor::BUILT_IN.map(|by| MACHINE.may_retry(transition, by));
    let ids = (0..).map(TransitionId).zip(MACHINE.transitions);
    for (id, transition) in ids {
        let may_ask = |by| by == Actor::Human || transition.by.allows(by);
        assert_eq!(may(Some(id)), Actor::BUILT_IN.map(may_ask));
    }
    assert_eq!(may(None), Actor::BUILT_IN.map(|by| [Actor::Human, Actor::Engine].contains(&by)));
}

#[test]
fn a_failed_hook_leads_where_its_transition_says() {
    let mut transitions = MACHINE.transitions.to_vec();
    let target = TransitionId(1);
    assert_eq!((transitions[1].from, transitions[1].to), (WORKING, REVIEW));
    transitions[1].on_hook_failure = Some(WORKING);
    let machine = Machine { transitions: &transitions, ..MACHINE };
    let hook = &Hook::new(Action::RunCommand);
    let asked = Cause::Request(Actor::Worker);
    let fails = |body, transition, cause| {
        let facts = facts(REVIEW, &[0, 0], body);
        machine.life(&facts, Input::HookFailed { hook, transition, cause, reason: "no" }).unwrap()
    };
    let written = "## Review\nFAIL";
    let turn = fails(written, Some(target), asked);
    assert_eq!(words(&turn), ["advance 1", "begin 1"]);
    assert_eq!(turn.decision().map(|it| it.cause), Some(Cause::HookFailed));
    // The gate of the transition back refuses.
    let turn = fails("", Some(target), asked);
    assert_eq!(words(&turn), ["hooks wait", "attention"]);
    assert!(turn.story.contains("`## Review` is missing"), "{}", turn.story);
    // It follows a failed hook itself; it names no state; it is not a declared transition.
    for (transition, cause) in
        [(Some(target), Cause::HookFailed), (Some(TransitionId(0)), asked), (None, asked)]
    {
        assert_eq!(words(&fails(written, transition, cause)), ["hooks wait", "attention"]);
    }
}

#[test]
fn while_hooks_wait_a_task_can_only_end() {
    let waits = |status| LifeFacts { hooks_wait: true, ..facts(status, &[0, 0], "## Review\nFAIL") };
    let here = waits(REVIEW);
    let by = Actor::Human;
    let asks: [Input<'_>; 5] = [
        Input::Request { to: WORKING, by: Actor::Reviewer },
        Input::Spawn { by },
        Input::Respawn { is_alive: false },
        Input::Restart { is_alive: false },
        Input::Merge { by, force: true, is_merged: false },
    ];
    for input in asks {
        refuses(here, input, Refusal::HooksWait);
    }
    check(here, REVIEWER_ENDED, &["attention"]);
    check(here, Input::JudgedAgain { agent: Actor::Reviewer, end: AgentEnd::PLAIN, is_replaced: false }, &[]);
    check(here, Input::NotStarted { reason: "no tmux", is_final: false }, &["attention", "give up"]);
    check(waits(DONE), ended(Actor::Worker, AgentEnd::PLAIN), &[]);
    check(here, Input::PullRequest { end: Forced::Merge }, &["Merge 4"]);

    let rules = timed(Outcome::Then(STUCK));
    let commands = Commands { cancel: Some(DONE), ..MACHINE.commands };
    let machine = Machine { exit_rules: &rules, commands, ..MACHINE };
    let turn = |facts: LifeFacts<'_>, input| words(&machine.life(&facts, input).unwrap());
    assert_eq!(
        turn(here, Input::Elapsed { has_agent: true, lasted: 60, is_spent: false, left: &[] }),
        [""; 0]
    );
    assert_eq!(turn(waits(STUCK), Input::Request { to: DONE, by }), ["begin 4"]);
    assert_eq!(turn(waits(STUCK), Input::Cancel { by, is_cut_short: false }), ["begin 4"]);
    let idle = LifeFacts { workspace: None, has_session: false, ..waits(DONE) };
    assert_eq!(turn(idle, Input::Cancel { by, is_cut_short: false }), ["Cancel 4"]);
}

/// The machine with a time for the review, at the end of which a rule says this.
fn timed(outcome: Outcome<'static>) -> Vec<ExitRule<'static>> {
    let ending = Ending { after: Some(60), ..Ending::ANY };
    let timeout = ExitRule { state: REVIEW, condition: Condition::Ended(ending), outcome };
    let before = MACHINE.exit_rules.iter().filter(|rule| rule.state < REVIEW);
    let after = MACHINE.exit_rules.iter().filter(|rule| rule.state >= REVIEW);
    before.chain([&timeout]).chain(after).copied().collect()
}

#[test]
fn a_timeout_ends_an_agent_and_moves_the_task_on() {
    let rules = timed(Outcome::Then(STUCK));
    let machine = Machine { exit_rules: &rules, ..MACHINE };
    let after = |lasted, has_agent, body| {
        let facts = facts(REVIEW, &[2, 0], body);
        let turn =
            machine.life(&facts, Input::Elapsed { has_agent, lasted, is_spent: false, left: &[] }).unwrap();
        (words(&turn), turn.story)
    };
    let written = "## Review\nFAIL";
    let is_overdue = [59, 60].map(|lasted| machine.is_overdue(REVIEW, lasted, &[]));
    assert_eq!(is_overdue, [false, true]);
    assert_eq!(after(59, true, written), (vec![], String::new()));
    // Its agent is ended first, and its end judged.
    assert_eq!(after(60, true, written), (vec![], "the time in agent-review is over".into()));
    assert_eq!(after(60, false, written).0, ["advance 3", "begin 3"]);
    // The answer names what the transition still asks for, and this counts as no crash however often it is asked.
    let (events, story) = after(60, false, "");
    assert_eq!(events, ["attention"]);
    let expect = "the task is still in agent-review after 1 min, and cannot go to stuck: ";
    assert!(story.starts_with(expect), "{story}");
}

#[test]
fn a_timeout_can_leave_the_agent_alone() {
    let rules = timed(Outcome::MarkDead);
    let machine = Machine { exit_rules: &rules, ..MACHINE };
    let facts = facts(REVIEW, &[0, 0], "");
    for has_agent in [true, false] {
        let turn = machine
            .life(&facts, Input::Elapsed { has_agent, lasted: 90, is_spent: false, left: &[] })
            .unwrap();
        assert_eq!(
            (words(&turn), turn.story),
            (vec!["attention".into()], "the task is still in agent-review after 1 min".into())
        );
    }
}

const TEST: Program<'static> = Program { argv: &["make", "test"], timeout: 60 };

/// The machine whose transition from `working` to `review` also asks a program, and the checks of the pull request.
fn asking(rules: &[ExitRule<'static>], check: impl FnOnce(&Machine<'_>)) {
    let mut transitions = MACHINE.transitions.to_vec();
    assert_eq!((transitions[1].from, transitions[1].to), (WORKING, REVIEW));
    let gates: Vec<Gate<'_>> =
        [Gate::Command(TEST), Gate::Checks].into_iter().chain(transitions[1].gates.iter().copied()).collect();
    transitions[1].gates = &gates;
    check(&Machine { transitions: &transitions, exit_rules: rules, ..MACHINE });
}

fn with<'v>(facts: LifeFacts<'v>, programs: &'v [ProgramAnswer<'v>], checks: Checks) -> LifeFacts<'v> {
    let answers = Answers { programs, checks, children: Children::default(), is_merge: false };
    LifeFacts { view: View { answers, ..facts.view }, ..facts }
}

const PASSED: ProgramAnswer<'static> = ProgramAnswer { argv: TEST.argv, failure: None };
const FAILED: ProgramAnswer<'static> =
    ProgramAnswer { argv: TEST.argv, failure: Some("`make` ended with status 2: no") };

#[test]
fn a_program_is_asked_once_all_other_gates_hold() {
    asking(MACHINE.exit_rules, |machine| {
        let asks = |body, programs, checks| {
            let task = facts(WORKING, &[0, 0], body);
            let task = with(task, programs, checks);
            let input = Input::Request { to: REVIEW, by: Actor::Worker };
            match machine.life(&task, input) {
                Ok(turn) => words(&turn).join(" "),
                Err(no) => match no.program(machine) {
                    Some(program) => format!("asks {program}"),
                    None => no.message(machine, &task.view),
                },
            }
        };
        let written = "## Handoff\nx";
        assert_eq!(asks("", &[], Checks::Green), "`## Handoff` is missing from TASK.md");
        let pending = "the checks of the pull request have not ended";
        assert_eq!(asks(written, &[], Checks::Pending), pending);
        assert_eq!(asks(written, &[], Checks::Green), "asks make test");
        assert_eq!(asks(written, &[FAILED], Checks::Green), "`make` ended with status 2: no");
        assert_eq!(asks(written, &[PASSED], Checks::Green), "begin 2");
        assert_eq!(asks(written, &[PASSED], Checks::Outdated), Checks::Outdated.failure().unwrap());
    });
}

#[test]
fn the_end_of_an_agent_asks_a_program_when_only_that_is_missing() {
    const ASKED: ExitRule<'static> = ExitRule {
        state: WORKING,
        condition: Condition::Artifact(&[Gate::Command(TEST)]),
        outcome: Outcome::MarkDead,
    };
    let then = ExitRule { condition: Condition::Always, outcome: Outcome::Then(REVIEW), ..ASKED };
    let ended = |rules: &[ExitRule<'static>], body, programs| {
        let mut answer = String::new();
        asking(rules, |machine| {
            let task = with(facts(WORKING, &[0, 0], body), programs, Checks::Green);
            answer = match machine.life(&task, Input::Ended { agent: Actor::Worker, end: AgentEnd::PLAIN }) {
                Ok(turn) => words(&turn).join(" "),
                Err(no) => format!("asks {}", no.program(machine).unwrap()),
            };
        });
        answer
    };
    let written = "## Handoff\nx";
    // The transition of a rule asks; it is refused without a question where more is missing.
    assert_eq!(ended(&[then], written, &[]), "asks make test");
    assert_eq!(ended(&[then], written, &[PASSED]), "advance 2 begin 2");
    assert!(ended(&[then], written, &[FAILED]).contains("crash 1"));
    assert!(ended(&[then], "", &[]).contains("crash 1"));
    // The rule itself asks.
    assert_eq!(ended(&[ASKED, then], written, &[]), "asks make test");
    assert_eq!(ended(&[ASKED, then], written, &[PASSED]), "attention");
    assert!(ended(&[ASKED, then], written, &[FAILED]).contains("crash 1"));
}

#[test]
fn an_agent_that_ends_after_a_notice_is_judged_as_any_other() {
    let rules = timed(Outcome::MarkDead);
    let machine = Machine { exit_rules: &rules, ..MACHINE };
    let facts = facts(REVIEW, &[2, 0], "## Review\nFAIL");
    let end = AgentEnd { lasted: 90, ..AgentEnd::PLAIN };
    let [late, early] = [end, AgentEnd::PLAIN].map(|end| {
        let turn = machine.life(&facts, Input::Ended { agent: Actor::Reviewer, end }).unwrap();
        (words(&turn), turn.story)
    });
    assert_eq!(late, early);
}

#[test]
fn a_deadline_moves_a_task_on_from_each_of_its_states() {
    let states = [WORKING, REVIEW];
    let deadline = Deadline { states: &states, after: 60 };
    let mut rules = timed(Outcome::Then(STUCK));
    let rule = rules.iter_mut().find(|it| it.state == REVIEW).unwrap();
    rule.condition = Condition::Overdue(deadline);
    let machine = Machine { exit_rules: &rules, ..MACHINE };
    let after = |ago| {
        let facts = facts(REVIEW, &[2, 0], "## Review\nFAIL");
        let left = [LeftState { state: None, ago: 900 }, LeftState { state: Some(WORKING), ago: 5 }];
        let left = [left[0], left[1], LeftState { state: Some(STUCK), ago }];
        assert_eq!(machine.is_overdue(REVIEW, 5, &left), ago >= 60);
        words(
            &machine
                .life(&facts, Input::Elapsed { has_agent: false, lasted: 5, is_spent: false, left: &left })
                .unwrap(),
        )
    };
    assert_eq!(after(59), [""; 0]);
    assert_eq!(after(60), ["advance 3", "begin 3"]);
}

#[test]
fn a_used_up_budget_moves_a_task_on_when_its_agent_has_ended() {
    let mut rules = timed(Outcome::Then(STUCK));
    rules.iter_mut().find(|it| it.state == REVIEW).unwrap().condition = Condition::Spent;
    let states = states();
    let machine = Machine { exit_rules: &rules, ..machine(&states) };
    assert!(machine.leaves_when_spent(REVIEW) && machine.limits(REVIEW) && !machine.limits(WORKING));
    let after = |has_agent, is_spent, body| {
        let facts = facts(REVIEW, &[2, 0], body);
        let input = Input::Elapsed { has_agent, lasted: 9000, is_spent, left: &[] };
        let turn = machine.life(&facts, input).unwrap();
        (words(&turn), turn.story)
    };
    let written = "## Review\nFAIL";
    assert_eq!(after(false, false, written), (vec![], String::new()));
    assert_eq!(after(true, true, written), (vec![], "the budget of agent-review is used up".into()));
    assert_eq!(after(false, true, written).0, ["advance 3", "begin 3"]);
    let (events, story) = after(false, true, "");
    assert_eq!(events, ["attention"]);
    let expect =
        "the task is still in agent-review with the budget of the state used up, and cannot go to stuck: ";
    assert!(story.starts_with(expect), "{story}");
    let end = AgentEnd { is_spent: true, ..AgentEnd::PLAIN };
    let facts = facts(REVIEW, &[2, 0], written);
    let turn = machine.life(&facts, ended(Actor::Reviewer, end)).map_err(drop);
    assert_eq!(turn.map(|turn| words(&turn)), Ok(vec!["advance 3".into(), "begin 3".into()]));
}
