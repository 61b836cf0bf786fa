//! Needs as plain values, on the small machine of the decisions' tests.

use alloc::string::String;
use alloc::vec::Vec;

use super::{
    Agent, AgentRequest, CreatedCount, Doing, Hooks, KnownForgeMerge, KnownPullRequest, Lost, MissionFacts,
    NeedKind, Obstacle, OpenPause, OverdueFact, PersonAction, ReachedBudget, TaskFacts, Wait,
};
use crate::tests::{DONE, MACHINE, PENDING, REVIEW, STUCK, WORKING, view};
use crate::*;

const READY: StateId = StateId(5);
const CHECKED: StateId = StateId(6);
const CANCELLED: StateId = StateId(7);

const fn leads(from: StateId, to: StateId, by: Actors) -> Transition<'static> {
    Transition { from, to, by, cause: None, guard: None, gates: &[], hooks: &[], on_hook_failure: None }
}

/// The machine with a state that waits for a person, one that waits for a program, and one for cancelled tasks.
fn with_machine<T>(run: impl FnOnce(&Machine<'_>) -> T) -> T {
    let mut states = MACHINE.states.to_vec();
    let named = |name| State { name, waits_for_human: true, ..states[0] };
    let more = [named("ready"), named("checked"), State { terminal: true, ..named("cancelled") }];
    states.extend(more);
    states[usize::from(WORKING.0)].respawn = Some(Hook::spawning(
        crate::Action::SpawnAgent,
        Spawn::new(PromptId(0), Role::Worker, Permissions::Full),
    ));
    states[usize::from(REVIEW.0)].agent = Actor::Reviewer;
    let ci = Actors::NONE.with(Actor::Declared(ActorId(0)));
    let mut transitions = MACHINE.transitions.to_vec();
    transitions.extend([
        leads(READY, WORKING, Actors::ANYONE),
        leads(READY, DONE, Actors::ANYONE),
        leads(READY, CANCELLED, Actors::ANYONE),
        leads(CHECKED, READY, ci),
        leads(CHECKED, CANCELLED, Actors::ANYONE),
    ]);
    run(&Machine {
        states: &states,
        transitions: &transitions,
        rows: &[0, 1, 2, 4, 5, 5, 8, 10, 10],
        commands: Commands { cancel: Some(CANCELLED), ..MACHINE.commands },
        ..MACHINE
    })
}

/// Facts about a task, as far as a test gives them.
#[derive(Clone, Copy)]
struct GivenTask<'g> {
    status: StateId,
    body: &'g str,
    agents: &'g [Agent<'g>],
    is_alive: bool,
    /// Changes further facts.
    with: fn(TaskFacts<'g>) -> TaskFacts<'g>,
}

fn given<'g>(status: StateId) -> GivenTask<'g> {
    GivenTask { status, body: "", agents: &[], is_alive: false, with: |facts| facts }
}

const fn agent(doing: Doing<'static>) -> Agent<'static> {
    Agent { spawn: 1, doing, since: Some("2026-01-02"), reason: "it is there", asked_before: None }
}

const PERMISSION: AgentRequest<'_> =
    AgentRequest { name: Some("t.1.a"), tool: Some("Bash"), argument: Some("ls"), is_question: false };
const ASKS: &[Agent<'_>] = &[agent(Doing::Asks(PERMISSION))];
const WONDERS: &[Agent<'_>] = &[agent(Doing::Asks(AgentRequest { is_question: true, ..PERMISSION }))];
const WAITS: &[Agent<'_>] = &[agent(Doing::Waits)];
const WORKS: &[Agent<'_>] = &[agent(Doing::Works)];
const HUNG: &[Agent<'_>] = &[agent(Doing::Quiet)];
const LIMITED: &[Agent<'_>] = &[agent(Doing::Limit { until: Some("2027") })];

fn with_facts<T>(given: GivenTask<'_>, run: impl FnOnce(&Machine<'_>, &TaskFacts<'_>) -> T) -> T {
    with_machine(|machine| {
        let life = LifeFacts {
            view: View { body: given.body, ..view(given.status, &[1, 0], given.body) },
            has_summary: true,
            workspace: Some(Workspace::Worktree),
            has_session: true,
            hooks_wait: false,
            restarts: 0,
            reviewers: &[],
            last: None,
        };
        let facts = TaskFacts {
            life: None,
            lost: None,
            agents: given.agents,
            is_alive: Some(given.is_alive || !given.agents.is_empty()),
            entered: Some("2026-01-01"),
            halted: None,
            end: None,
            is_stopped: false,
            is_moving: false,
            unfinished: None,
            wait: None,
            queued: None,
            forbidden: None,
            has_worktree: false,
            has_room: true,
            hooks: None,
            budget: None,
            children: None,
            overdue: None,
            attention: None,
            pull_request: None,
            is_merge_known: false,
            unmergeable: None,
            conflicts: false,
            has_diverged: false,
            is_merged: false,
            has_logs: false,
        };
        let facts = (given.with)(facts);
        let life = LifeFacts { hooks_wait: facts.hooks.is_some(), ..life };
        let facts = match facts.lost {
            Some(_) => facts,
            None => TaskFacts { life: Some((machine, &life)), ..facts },
        };
        run(machine, &facts)
    })
}

fn answer(given: GivenTask<'_>) -> (Option<NeedKind>, String, Vec<&'static str>) {
    with_facts(given, |machine, facts| {
        let Some(need) = facts.need() else { return (None, String::new(), Vec::new()) };
        let is_answer = |action: &PersonAction<'_>| {
            let PersonAction::Status { to, .. } = action else { return true };
            !machine.is_detour(*to)
        };
        let offers = facts.actions(need.kind).into_iter().filter(|offer| offer.obstacle.is_none());
        let names = offers.filter(|it| is_answer(&it.action)).map(|it| name(&it.action)).collect();
        (Some(need.kind), need.why, names)
    })
}

fn name(action: &PersonAction<'_>) -> &'static str {
    match action {
        PersonAction::Allow { .. } => "allow",
        PersonAction::Deny { .. } => "deny",
        PersonAction::Send { .. } => "send",
        PersonAction::Attach => "attach",
        PersonAction::Logs => "logs",
        PersonAction::Spawn => "spawn",
        PersonAction::Respawn => "respawn",
        PersonAction::Restart => "restart",
        PersonAction::RetryHooks => "retry-hooks",
        PersonAction::Seen => "seen",
        PersonAction::Merge { by_force: true, .. } => "merge by force",
        PersonAction::Merge { with_commit: false, .. } => "merge",
        PersonAction::Merge { with_commit: true, .. } => "merge with a commit",
        PersonAction::CreatePullRequest => "create-pr",
        PersonAction::Open => "open",
        PersonAction::Refresh => "refresh",
        PersonAction::Status { .. } => "status",
        PersonAction::Continue { .. } => "continue",
        PersonAction::Accept { .. } => "accept",
        PersonAction::AnswerAsk { .. } => "answer",
        PersonAction::Retry => "retry",
        PersonAction::Cancel => "cancel",
        PersonAction::Resolve => "resolve",
        PersonAction::AddBudget => "add-budget",
        PersonAction::Undo => "undo",
        PersonAction::Delete => "delete",
    }
}

#[track_caller]
fn check(given: GivenTask<'_>, kind: impl Into<Option<NeedKind>>, why: &str, offered: &[&str]) {
    let (found, found_why, names) = answer(given);
    assert_eq!((found, found_why.as_str(), &names[..]), (kind.into(), why, offered));
}

#[test]
fn agents_come_first_and_permissions_before_all() {
    let working = given(WORKING);
    check(
        GivenTask { agents: ASKS, ..working },
        NeedKind::Permission,
        "agent 1 is there",
        &["allow", "deny", "attach", "restart"],
    );
    check(
        GivenTask { agents: WONDERS, ..working },
        NeedKind::Question,
        "agent 1 is there",
        &["attach", "restart"],
    );
    const BOTH: &[Agent<'_>] = &[agent(Doing::Waits), agent(Doing::Asks(PERMISSION))];
    assert_eq!(answer(GivenTask { agents: BOTH, ..working }).0, Some(NeedKind::Permission));
    let idle = ["send", "attach", "restart"];
    check(GivenTask { agents: WAITS, ..working }, NeedKind::IdleWithoutArtifact, "agent 1 is there", &idle);
    check(
        GivenTask { agents: HUNG, ..working },
        NeedKind::IdleWithoutArtifact,
        "agent 1 is there",
        &["attach", "restart", "send"],
    );
    let asked = "agent 1 has written ## Questions in TASK.md and waits for the answers";
    let body = "## Questions\n\nWhich?\n";
    check(GivenTask { agents: WAITS, body, ..working }, NeedKind::Question, asked, &idle);
    let begun_with = |text| [Agent { asked_before: super::questions(text), ..WAITS[0] }];
    // These are an earlier agent's.
    let agents = begun_with(body);
    let idler = GivenTask { agents: &agents, body, ..given(WORKING) };
    check(idler, NeedKind::IdleWithoutArtifact, "agent 1 is there", &idle);
    for earlier in ["## Questions\n\nWho?\n", "## Plan\n\nNone.\n"] {
        let agents = begun_with(earlier);
        check(GivenTask { agents: &agents, body, ..given(WORKING) }, NeedKind::Question, asked, &idle);
    }
    check(
        GivenTask { agents: WORKS, body, ..working },
        NeedKind::Working,
        "agent 1 is there",
        &["attach", "restart", "send"],
    );
}

#[test]
fn a_state_without_its_agent_is_crashed_stopped_or_waits() {
    let gone = |with: fn(TaskFacts<'_>) -> TaskFacts<'_>| GivenTask { with, ..given(WORKING) };
    check(gone(|it| it), NeedKind::Crashed, "no agent is alive in working", &["respawn"]);
    let called = gone(|it| TaskFacts { attention: Some("crash 1"), ..it });
    check(called, NeedKind::Crashed, "crash 1", &["respawn", "seen"]);
    let stopped = gone(|it| TaskFacts { is_stopped: true, ..it });
    check(stopped, NeedKind::Paused, "a person has stopped the agent in working", &["respawn"]);
    let wait = gone(|it| TaskFacts { wait: Some(Wait { until: Some("2027"), reason: "a limit" }), ..it });
    check(wait, NeedKind::Limit, "a limit", &["respawn"]);
    let unfinished = gone(|it| TaskFacts { unfinished: Some("begun and not finished"), ..it });
    check(unfinished, NeedKind::Crashed, "begun and not finished", &[]);
    let unknown = gone(|it| TaskFacts { is_alive: None, ..it });
    check(unknown, NeedKind::Working, "its agents work", &["respawn"]);
    let moving = gone(|it| TaskFacts { is_moving: true, ..it });
    check(moving, NeedKind::Working, "the transition to working is under way", &[]);
}

#[test]
fn the_crash_state_is_stuck_unless_somebody_works_there() {
    check(given(STUCK), NeedKind::Stuck, "no agent is alive in stuck", &[]);
    let idle = GivenTask { agents: WAITS, ..given(STUCK) };
    check(idle, NeedKind::Stuck, "agent 1 is there", &["send", "attach"]);
    check(
        GivenTask { agents: WORKS, ..given(STUCK) },
        NeedKind::Working,
        "agent 1 is there",
        &["attach", "send"],
    );
}

#[test]
fn a_state_for_a_person_is_ready_unless_something_is_in_the_way() {
    let ready = |with: fn(TaskFacts<'_>) -> TaskFacts<'_>| GivenTask { with, ..given(READY) };
    let why = "ready waits for a person";
    check(ready(|it| it), NeedKind::ReviewReady, why, &["merge", "status", "cancel"]);
    // An agent from before has nothing to do here.
    check(
        GivenTask { agents: WAITS, ..given(READY) },
        NeedKind::ReviewReady,
        why,
        &["merge", "status", "cancel", "attach", "send"],
    );
    let dirty = ready(|it| TaskFacts { unmergeable: Some("uncommitted"), ..it });
    let stopped = "ready waits for a person; it cannot be merged: uncommitted";
    check(dirty, NeedKind::ReviewReady, stopped, &["status", "cancel"]);
    let diverged = ready(|it| TaskFacts { has_diverged: true, ..it });
    check(diverged, NeedKind::ReviewReady, why, &["merge with a commit", "status", "cancel"]);
    let conflict = ready(|it| TaskFacts { unmergeable: Some("conflicts"), conflicts: true, ..it });
    check(conflict, NeedKind::Conflict, "conflicts", &["status", "cancel"]);
    let open = ready(|it| TaskFacts {
        pull_request: Some(KnownPullRequest { checks: Checks::Green, merge: None, rerun: None }),
        ..it
    });
    check(open, NeedKind::ReviewReady, why, &["open", "refresh", "status", "cancel"]);
    let red = ready(|it| TaskFacts {
        pull_request: Some(KnownPullRequest { checks: Checks::Red, merge: None, rerun: None }),
        ..it
    });
    let failed = "a check of the pull request has failed";
    let again = ready(|it| TaskFacts {
        pull_request: Some(KnownPullRequest { checks: Checks::Red, merge: None, rerun: Some((1, 2)) }),
        ..it
    });
    let runs = "its checks run again, 1 of 2";
    check(again, NeedKind::Queued, runs, &["status", "cancel", "open", "refresh"]);
    check(red, NeedKind::ChecksRed, failed, &["status", "open", "refresh", "cancel"]);
    let queued = ready(|it| TaskFacts {
        pull_request: Some(KnownPullRequest {
            checks: Checks::Green,
            merge: Some(KnownForgeMerge::Queued { since: "t7" }),
            rerun: None,
        }),
        ..it
    });
    let merges = "its pull request is queued for merge";
    check(queued, NeedKind::Queued, merges, &["status", "cancel", "open", "refresh"]);
    let refused = ready(|it| TaskFacts {
        pull_request: Some(KnownPullRequest {
            checks: Checks::Green,
            merge: Some(KnownForgeMerge::Refused { why: "a rule" }),
            rerun: None,
        }),
        ..it
    });
    let did_not = "ready waits for a person; its forge did not merge it: a rule";
    check(refused, NeedKind::ReviewReady, did_not, &["open", "refresh", "status", "cancel"]);
    check(given(CHECKED), NeedKind::Queued, "checked waits for ci", &["cancel"]);
}

#[test]
fn hooks_that_wait_leave_nothing_else_to_do() {
    let hooks = |it| TaskFacts {
        hooks: Some(Hooks { name: "create_pr", error: "no network", may_retry: true }),
        ..it
    };
    let why = "the hook create_pr has failed: no network";
    check(GivenTask { with: hooks, ..given(READY) }, NeedKind::HookFailed, why, &["retry-hooks", "cancel"]);
    check(GivenTask { with: hooks, ..given(DONE) }, NeedKind::HookFailed, why, &["retry-hooks", "cancel"]);
    let called = |it| TaskFacts { attention: Some("the push has failed"), ..it };
    let busy = GivenTask { agents: WORKS, with: called, ..given(WORKING) };
    check(busy, NeedKind::HookFailed, "the push has failed", &["seen", "attach", "send", "restart"]);
}

#[test]
fn a_used_up_budget_asks_for_more_where_an_agent_would_work() {
    const OWN: ReachedBudget<'_> = ReachedBudget { why: "used up", since: Some("2026-01-03"), is_own: true };
    fn own(it: TaskFacts<'_>) -> TaskFacts<'_> {
        TaskFacts { budget: Some(OWN), ..it }
    }
    check(GivenTask { with: own, ..given(WORKING) }, NeedKind::Budget, "used up", &["add-budget"]);
    let busy = GivenTask { agents: WORKS, with: own, ..given(WORKING) };
    check(busy, NeedKind::Budget, "used up", &["add-budget", "attach", "send"]);
    let asks = GivenTask { agents: ASKS, with: own, ..given(WORKING) };
    check(asks, NeedKind::Permission, "agent 1 is there", &["allow", "deny", "attach"]);
    // A person does not need an agent for this.
    assert_eq!(answer(GivenTask { with: own, ..given(READY) }).0, Some(NeedKind::ReviewReady));
    let held = |it| TaskFacts {
        budget: Some(ReachedBudget { is_own: false, ..OWN }),
        hooks: Some(Hooks { name: "spawn_agent", error: "used up", may_retry: true }),
        ..it
    };
    check(GivenTask { with: held, ..given(WORKING) }, NeedKind::Limit, "used up", &[]);
    let since = with_facts(GivenTask { with: own, ..given(WORKING) }, |_, it| {
        it.need().and_then(|need| need.since.map(String::from))
    });
    assert_eq!(since.as_deref(), Some("2026-01-03"));
}

#[test]
fn a_task_waits_for_those_that_it_has_created() {
    let waits = |it| TaskFacts { children: Some(CreatedCount { open: 2, all: 5 }), ..it };
    let (kind, why, _) = answer(GivenTask { with: waits, ..given(READY) });
    assert_eq!(kind, Some(NeedKind::Queued));
    assert!(why.ends_with(" waits for 2 of 5 tasks that it has created"), "{why}");
    let called =
        |it| TaskFacts { children: Some(CreatedCount { open: 2, all: 5 }), attention: Some("refused"), ..it };
    assert_eq!(answer(GivenTask { with: called, ..given(READY) }).0, Some(NeedKind::Stuck));
    let over = |it| TaskFacts { children: Some(CreatedCount { open: 0, all: 5 }), ..it };
    assert_eq!(answer(GivenTask { with: over, ..given(READY) }).0, Some(NeedKind::ReviewReady));
}

#[test]
fn a_fact_that_waits_for_an_agent_calls_a_person() {
    fn waits(fact: Fact) -> OverdueFact<'static> {
        OverdueFact { fact, since: "2026-01-04", minutes: 15 }
    }
    let red = |it| TaskFacts { overdue: Some(OverdueFact { minutes: 1, ..waits(Fact::ChecksRed) }), ..it };
    let (kind, why, _) = answer(GivenTask { agents: WORKS, with: red, ..given(WORKING) });
    assert_eq!(kind, Some(NeedKind::ChecksRed));
    let expect = "a check of its pull request has failed: that waits for its agent for more than a minute";
    assert_eq!(why, expect);
    let conflict = |it| TaskFacts { overdue: Some(waits(Fact::BaseConflict)), ..it };
    let (kind, why, _) = answer(GivenTask { agents: WORKS, with: conflict, ..given(WORKING) });
    assert_eq!(kind, Some(NeedKind::Conflict));
    assert!(why.ends_with("for more than 15 minutes"), "{why}");
    let open = |it| TaskFacts { overdue: Some(waits(Fact::ThreadsOpen)), ..it };
    let of = |agents| answer(GivenTask { agents, with: open, ..given(WORKING) }).0;
    assert_eq!(of(WORKS), Some(NeedKind::ReviewReady));
    // One that asks is answered first, and without one at work the rule is taken.
    assert_eq!(of(ASKS), Some(NeedKind::Permission));
    assert_eq!(of(&[]), Some(NeedKind::Crashed));
}

#[test]
fn a_start_that_is_forbidden_is_stuck_and_not_offered() {
    let why = "claude would ask a question; `orange setup --harness claude --yes` agrees to it";
    let forbidden = GivenTask {
        with: |it| TaskFacts {
            queued: Some("waits"),
            forbidden: Some(
                "claude would ask a question; `orange setup --harness claude --yes` agrees to it",
            ),
            attention: Some("not started"),
            ..it
        },
        ..given(PENDING)
    };
    check(forbidden, NeedKind::Stuck, why, &["seen"]);
}

#[test]
fn what_waits_for_its_start_is_queued_or_has_failed() {
    let queued = |it| TaskFacts { queued: Some("waits for a worktree"), ..it };
    check(GivenTask { with: queued, ..given(PENDING) }, NeedKind::Queued, "waits for a worktree", &["spawn"]);
    let full = |it| TaskFacts { queued: Some("waits for a worktree"), has_room: false, ..it };
    check(GivenTask { with: full, ..given(PENDING) }, NeedKind::Queued, "waits for a worktree", &[]);
    let failed = |it| TaskFacts { queued: Some("waits"), attention: Some("not started"), ..it };
    check(GivenTask { with: failed, ..given(PENDING) }, NeedKind::Stuck, "not started", &["spawn", "seen"]);
}

#[test]
fn a_task_without_a_workflow_can_only_be_cancelled() {
    let lost = |it| TaskFacts { lost: Some(Lost { why: "its workflow is gone", can_cancel: true }), ..it };
    check(GivenTask { with: lost, ..given(WORKING) }, NeedKind::Stuck, "its workflow is gone", &["cancel"]);
    check(given(DONE), NeedKind::Over, "the task is done", &["delete"]);
    check(given(CANCELLED), NeedKind::Over, "the task is cancelled", &["undo", "delete"]);
}

/// The actions that are refused, each with its obstacle.
fn refused(given: GivenTask<'static>) -> Vec<(&'static str, Obstacle<'static>)> {
    with_facts(given, |_, facts| {
        let offers = facts.need().into_iter().flat_map(|need| facts.actions(need.kind));
        offers.filter_map(|offer| Some((name(&offer.action), known(offer.obstacle?)))).collect()
    })
}

/// The obstacle, of a lifetime of its own: words of tests are static.
fn known(obstacle: Obstacle<'_>) -> Obstacle<'static> {
    match obstacle {
        Obstacle::Words(words) => {
            Obstacle::Words(["uncommitted", "no claude"].into_iter().find(|it| *it == words).unwrap())
        }
        Obstacle::Rejected(rejection) => Obstacle::Rejected(rejection),
        Obstacle::HooksWait => Obstacle::HooksWait,
        Obstacle::NoWorktree => Obstacle::NoWorktree,
        Obstacle::Asks => Obstacle::Asks,
        Obstacle::NoAgent => Obstacle::NoAgent,
        Obstacle::Unheard => Obstacle::Unheard,
        Obstacle::OfMission => Obstacle::OfMission,
    }
}

#[test]
fn an_action_that_is_refused_says_why() {
    let send = |obstacle| ("send", obstacle);
    assert_eq!(refused(given(READY)), [send(Obstacle::NoAgent)]);
    assert!(refused(GivenTask { agents: ASKS, ..given(WORKING) }).contains(&send(Obstacle::Asks)));
    const ENDED: &[Agent<'_>] = &[agent(Doing::Ended)];
    assert!(refused(GivenTask { agents: ENDED, ..given(WORKING) }).contains(&send(Obstacle::Unheard)));
    let dirty = |it| TaskFacts { unmergeable: Some("uncommitted"), ..it };
    let found = refused(GivenTask { with: dirty, ..given(READY) });
    assert_eq!(found[0], ("merge", Obstacle::Words("uncommitted")));
    let full = |it| TaskFacts { queued: Some("waits"), has_room: false, ..it };
    assert_eq!(refused(GivenTask { with: full, ..given(PENDING) })[0], ("spawn", Obstacle::NoWorktree));
    let forbidden = |it| TaskFacts { queued: Some("waits"), forbidden: Some("no claude"), ..it };
    let found = refused(GivenTask { with: forbidden, ..given(PENDING) });
    assert_eq!(found[0], ("spawn", Obstacle::Words("no claude")));
    let hooks = |it| TaskFacts { hooks: Some(Hooks { name: "x", error: "y", may_retry: true }), ..it };
    assert!(refused(GivenTask { with: hooks, ..given(READY) }).contains(&("status", Obstacle::HooksWait)));
    let rejected = refused(given(WORKING));
    assert!(matches!(rejected[0], ("status", Obstacle::Rejected(_))), "{rejected:?}");
}

#[test]
fn a_merge_by_force_is_offered_where_git_would_merge() {
    fn known(facts: TaskFacts<'_>) -> TaskFacts<'_> {
        TaskFacts { has_worktree: true, is_merge_known: true, ..facts }
    }
    let offers = |with| answer(GivenTask { agents: WORKS, with, ..given(WORKING) }).2;
    assert!(offers(known).contains(&"merge by force"));
    assert!(!offers(|it| TaskFacts { is_merge_known: false, ..known(it) }).contains(&"merge by force"));
    assert!(!offers(|it| TaskFacts { unmergeable: Some("dirty"), ..known(it) }).contains(&"merge by force"));
    assert!(!offers(|it| TaskFacts { has_worktree: false, ..known(it) }).contains(&"merge by force"));
    let open = |it| TaskFacts {
        pull_request: Some(KnownPullRequest { checks: Checks::None, merge: None, rerun: None }),
        ..known(it)
    };
    assert!(!offers(open).contains(&"merge by force"));
    assert!(offers(known).contains(&"create-pr"));
}

#[test]
fn a_limit_is_waited_for_while_nobody_works() {
    check(
        GivenTask { agents: LIMITED, ..given(WORKING) },
        NeedKind::Limit,
        "agent 1 is there",
        &["attach", "restart", "send"],
    );
    const BOTH: &[Agent<'_>] = &[agent(Doing::Limit { until: None }), agent(Doing::Works)];
    assert_eq!(answer(GivenTask { agents: BOTH, ..given(WORKING) }).0, Some(NeedKind::Working));
}

#[test]
fn a_mission_asks_or_has_failed_or_goes_on() {
    use crate::mission::MissionStatus;
    let facts = |status| MissionFacts {
        status,
        agents: &[],
        since: None,
        pause: None,
        ask: None,
        failure: None,
        unnoticed: None,
        wait: None,
        attention: None,
        has_logs: false,
    };
    let check = |facts: MissionFacts<'_>, kind: NeedKind, offered: &[&str]| {
        let need = facts.need();
        let offers = facts.actions(need.kind).into_iter().filter(|offer| offer.obstacle.is_none());
        let names: Vec<_> = offers.map(|offer| name(&offer.action)).collect();
        assert_eq!((need.kind, &names[..]), (kind, offered));
    };
    let pause = Some(OpenPause { number: 2, what: "build failed", can_accept: true });
    let paused = MissionFacts { pause, ..facts(MissionStatus::Paused) };
    check(paused, NeedKind::Paused, &["continue", "accept", "cancel"]);
    check(facts(MissionStatus::Failed), NeedKind::Stuck, &["retry", "cancel"]);
    check(facts(MissionStatus::Pending), NeedKind::Queued, &["cancel"]);
    check(facts(MissionStatus::Running), NeedKind::Working, &["cancel"]);
    let running = |agents| MissionFacts { agents, ..facts(MissionStatus::Running) };
    check(running(ASKS), NeedKind::Permission, &["allow", "deny", "attach", "cancel"]);
    check(running(WAITS), NeedKind::IdleWithoutArtifact, &["attach", "cancel"]);
    check(running(LIMITED), NeedKind::Limit, &["attach", "cancel"]);
    let answers = ["approve", "reject"].map(alloc::string::ToString::to_string);
    let ask =
        crate::need::OpenAsk { step: "q", what: "q asks", answers: &answers, commit: None, since: None };
    let asking = |agents| MissionFacts { ask: Some(ask), ..running(agents) };
    check(asking(&[]), NeedKind::Question, &["answer", "answer", "cancel"]);
    check(asking(ASKS), NeedKind::Permission, &["allow", "deny", "attach", "cancel"]);
    let gone = MissionFacts { unnoticed: Some("agent 1 is gone"), ..facts(MissionStatus::Running) };
    check(gone, NeedKind::Crashed, &["cancel"]);
    check(facts(MissionStatus::Completed), NeedKind::Over, &["delete"]);
    check(facts(MissionStatus::Cancelled), NeedKind::Over, &["delete"]);
}

#[test]
fn kinds_are_sorted_and_those_for_a_person_come_first() {
    assert!(NeedKind::ALL.is_sorted());
    let persons = NeedKind::ALL.iter().take_while(|kind| kind.needs_person()).count();
    assert!(NeedKind::ALL[persons..].iter().all(|kind| !kind.needs_person()));
}

#[test]
fn only_a_step_back_to_the_worker_returns_work() {
    const APPROVED: StateId = CHECKED;
    let mut states = MACHINE.states.to_vec();
    let named = |name| State { name, waits_for_human: true, ..states[0] };
    let more = [named("ready"), named("approved"), named("polishing")];
    states.extend(more);
    const POLISHING: StateId = StateId(7);
    let respawn =
        Hook::spawning(crate::Action::SpawnAgent, Spawn::new(PromptId(0), Role::Worker, Permissions::Full));
    for works in [WORKING, REVIEW, POLISHING] {
        states[usize::from(works.0)].respawn = Some(respawn);
    }
    states[usize::from(REVIEW.0)].agent = Actor::Reviewer;
    let pairs = [
        (PENDING, WORKING),
        (WORKING, REVIEW),
        (WORKING, STUCK),
        (REVIEW, READY),
        (STUCK, WORKING),
        (STUCK, REVIEW),
        (READY, WORKING),
        (READY, REVIEW),
        (READY, APPROVED),
        (READY, POLISHING),
        (APPROVED, WORKING),
        (APPROVED, DONE),
        (POLISHING, STUCK),
        (POLISHING, DONE),
    ];
    let transitions = pairs.map(|(from, to)| leads(from, to, Actors::ANYONE));
    let rows = [0, 1, 3, 4, 6, 6, 10, 12, 14];
    let machine = Machine { states: &states, transitions: &transitions, rows: &rows, ..MACHINE };
    let returns = pairs.into_iter().filter(|(from, to)| machine.returns_work(*from, *to));
    let expect = [(STUCK, WORKING), (READY, WORKING), (APPROVED, WORKING)];
    assert_eq!(returns.collect::<Vec<_>>(), expect);
}
