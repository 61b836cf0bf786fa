//! The flow on a real store, with a small machine and no agents.

use orange_core::{
    Action, Actor, Actors, Budget, Commands, Condition, Counter, Ending, ExitRule, Fields, Gate, Guard, Hook,
    MAX_RESTARTS, Machine, OnFailure, Outcome, Permissions, Piece, Prompt, PromptId, REVIEW_ROUND, Range,
    Role, SectionGate, Spawn, State, StateId, Transition, Verdict, Workspace,
};

use crate::app::App;
use crate::caller::Caller;
use crate::flow::life;
use crate::flow::request::{decide, transition_result};
use crate::flow::{Goal, dry_run, ended, finish, lock_recovered, request, spawn};
use crate::machines::Machines;
use crate::store::event::{Exited, Spawn as Spawned};
use crate::store::{self, Event, LockedWorkItem, Record, Set, WorkItem, WorkItemDir, WorkItemDraft, secret};
use crate::{Error, ErrorKind};
use orange_api::TransitionResult;

mod finish;
mod verdict;

const PENDING: StateId = StateId(0);
const WORKING: StateId = StateId(1);
const REVIEW: StateId = StateId(2);
const STUCK: StateId = StateId(3);
const DONE: StateId = StateId(4);

const HANDOFF: SectionGate<'_> = SectionGate {
    section: "## Handoff",
    required: true,
    verdict: None,
    verdicts: &[],
    strict: false,
    fields: Fields::NONE,
    fresh: true,
    of: None,
    reviewer: None,
};
const FAIL: SectionGate<'_> = SectionGate {
    section: "## Review",
    required: false,
    verdict: Some(Verdict::FAIL),
    fresh: false,
    ..HANDOFF
};
const UNDER_2: Guard<'_> =
    Guard { text: "review_round < 2", any_of: &[&[Range { counter: REVIEW_ROUND, low: 0, high: 1 }]] };
/// Nobody has this harness's program in a test.
const ABSENT: Spawn = Spawn::new(PromptId(0), Role::Reviewer, Permissions::Full);

const fn state(name: &str, agent: Actor) -> State<'_> {
    State {
        name,
        description: "",
        terminal: false,
        waits_for_human: false,
        entry: false,
        respawn: None,
        agent,
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

const fn on_crash(state: StateId) -> ExitRule<'static> {
    let outcome = Outcome::Crash { stuck_after: 2, respawn: false };
    ExitRule { state, condition: Condition::NoArtifact, outcome }
}

static MACHINE: Machine<'static> = Machine {
    name: "test",
    version: 1,
    description: "",
    source_hash: "d1",
    prompts_hash: "",
    states: &[
        state("pending", Actor::Worker),
        State {
            respawn: Some(Hook::spawning(Action::SpawnAgent, ABSENT)),
            ..state("working", Actor::Worker)
        },
        state("agent-review", Actor::Reviewer),
        state("stuck", Actor::Worker),
        State { terminal: true, ..state("done", Actor::Worker) },
    ],
    actors: &[],
    initial: PENDING,
    counters: &[Counter { name: "review_round", default: 0 }, Counter { name: "crash_count", default: 0 }],
    transitions: &[
        transition(PENDING, WORKING),
        Transition {
            gates: &[Gate::Section(HANDOFF)],
            hooks: &[
                Hook { field: "first", value: "done", ..Hook::new(Action::SetField) },
                Hook { counter: Some(REVIEW_ROUND), ..Hook::new(Action::Increment) },
                Hook {
                    argv: &["true"],
                    timeout: 9,
                    on_failure: OnFailure::GoOn,
                    ..Hook::new(Action::RunCommand)
                },
                Hook { field: "last", value: "done", ..Hook::new(Action::SetField) },
            ],
            ..transition(WORKING, REVIEW)
        },
        transition(WORKING, STUCK),
        Transition { guard: Some(UNDER_2), gates: &[Gate::Section(FAIL)], ..transition(REVIEW, WORKING) },
        Transition { guard: Some(UNDER_2), ..transition(REVIEW, STUCK) },
        transition(REVIEW, DONE),
        Transition { hooks: &[Hook::spawning(Action::SpawnReviewer, ABSENT)], ..transition(STUCK, REVIEW) },
    ],
    rows: &[0, 1, 3, 6, 7, 7],
    watch: &[],
    exit_rules: &[
        ExitRule { state: PENDING, condition: Condition::Always, outcome: Outcome::Then(WORKING) },
        ExitRule {
            state: WORKING,
            condition: Condition::Artifact(&[Gate::Section(HANDOFF)]),
            outcome: Outcome::Then(REVIEW),
        },
        on_crash(WORKING),
        ExitRule {
            state: REVIEW,
            condition: Condition::Artifact(&[Gate::Section(FAIL)]),
            outcome: Outcome::Then(WORKING),
        },
        ExitRule {
            state: REVIEW,
            condition: Condition::Ended(Ending { codes: &[75], output: Some("limit"), ..Ending::ANY }),
            outcome: Outcome::Wait { resume_after: 900 },
        },
        on_crash(REVIEW),
        ExitRule {
            state: STUCK,
            condition: Condition::Artifact(&[Gate::Section(HANDOFF)]),
            outcome: Outcome::Then(REVIEW),
        },
    ],
    prompts: &[Prompt { name: "worker", pieces: &[Piece::Text("go")] }],
    commands: Commands {
        spawn: Some(WORKING),
        clarify: None,
        review: Some(REVIEW),
        merge: None,
        cancel: Some(DONE),
        crash: Some(STUCK),
    },
    poll_interval: 30,
    budget: Budget::NONE,
};

pub(crate) static MACHINES: &[&Machine<'static>] = &[&MACHINE];

/// One task of a home of its own.
struct TaskLab {
    _folder: tempfile::TempDir,
    app: App,
    dir: WorkItemDir,
}

impl TaskLab {
    fn new(status: StateId, body: &str) -> TaskLab {
        let (folder, home) = store::tests::home();
        let draft = WorkItemDraft {
            workflow: "test".to_owned(),
            status: MACHINE.state(status).name.to_owned(),
            body: format!("\n{body}\n"),
            review_harness: "pi".to_owned(),
            ..store::tests::draft("fix")
        };
        let dir = store::create(&home, &draft, |_| Ok(())).unwrap().dir().clone();
        let app = App::for_tests(Machines::only(MACHINES), home, folder.path());
        TaskLab { _folder: folder, app, dir }
    }

    fn open(&self) -> LockedWorkItem {
        LockedWorkItem::lock(&self.app.home, &self.dir).unwrap()
    }

    fn task(&self) -> WorkItem {
        WorkItem::read(&self.app.home, &self.dir).unwrap().0
    }

    fn records(&self) -> Vec<Record> {
        WorkItem::read(&self.app.home, &self.dir).unwrap().1.records
    }

    /// The types of the events since the task was created.
    fn events(&self) -> Vec<String> {
        let name = |record: &Record| serde_json::to_value(&record.event).unwrap()["type"].clone();
        self.records()[1..].iter().map(|record| name(record).as_str().unwrap().to_owned()).collect()
    }

    /// A key of the frontmatter that is nobody's.
    fn field(&self, key: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.dir.task_md()).unwrap();
        text.lines().find_map(|line| line.strip_prefix(&format!("{key}: ")).map(str::to_owned))
    }

    fn ask(&self, to: &str) -> crate::Result<TransitionResult> {
        request(&self.app, &self.dir, Goal::Named(to))
    }

    fn begin(&self, to: &str) -> LockedWorkItem {
        let mut locked = lock_recovered(&self.app, &self.dir).unwrap();
        let turn = decide(&self.app, &MACHINE, locked.task(), locked.history(), Goal::Named(to)).unwrap();
        life::record(&self.app, &MACHINE, &mut locked, &turn, life::TurnRecord::default()).unwrap();
        locked
    }

    fn agent(&self, spawn: u32, actor: Actor) {
        let agent = Spawned { spawn, actor: actor.into(), ..Spawned::default() };
        self.open().append(Event::AgentSpawned(agent), Set::new().tmux_session(Some("s"))).unwrap();
        secret::make(&self.dir, spawn).unwrap();
    }

    /// From now on, this agent asks, in the task's worktree.
    fn asks_as(&mut self, spawn: u32) {
        self.open().append(Event::Unknown, Set::new().workspace(Some("coffee--1"))).unwrap();
        self.app.folder = self.app.home.workspace("coffee--1");
        let (task, secret) = (self.dir.id.clone(), secret::read(&self.dir, spawn).unwrap());
        self.app.caller = Caller::Agent { task, spawn: Some(spawn), claim: Actor::Worker, secret };
    }

    fn end(&self, spawn: u32) -> crate::Result<String> {
        ended(&self.app, &self.dir, &Exited { code: Some(3), ..Exited::of(spawn, "exited with 3") })
    }

    fn end_limited(&self, spawn: u32) -> String {
        let last_lines = vec!["Usage LIMIT".to_owned()];
        ended(&self.app, &self.dir, &Exited { code: Some(75), last_lines, ..Exited::of(spawn, "") }).unwrap()
    }

    #[track_caller]
    fn check(&self, status: &str, crashes: u32, attention: Option<&str>) {
        let task = self.task();
        assert_eq!((task.status(), task.counter("crash_count")), (status, crashes));
        match attention {
            Some(part) => assert!(task.attention.as_ref().unwrap().contains(part), "{:?}", task.attention),
            None => assert_eq!(task.attention, None),
        }
    }
}

#[track_caller]
fn refused<T: std::fmt::Debug>(outcome: crate::Result<T>, kind: ErrorKind, message: &str) -> Error {
    let error = outcome.unwrap_err();
    assert_eq!(error.kind, kind, "{error}");
    assert!(error.message.contains(message), "{error}");
    error
}

#[test]
fn a_transition_without_hooks_is_done_at_once() {
    let lab = TaskLab::new(PENDING, "");
    let result = lab.ask("working").unwrap();
    assert_eq!((result.from.as_str(), result.to.as_str()), ("pending", "working"));
    assert_eq!(lab.events(), ["transition.started", "status.changed"]);
    lab.check("working", 0, None);
}

/// The journals of other tasks are not read: there may be thousands.
#[test]
fn a_task_that_holds_nothing_needs_no_pool() {
    let lab = TaskLab::new(PENDING, "");
    let other = store::tests::task(&lab.app.home, "other").dir().clone();
    std::fs::write(other.history(), "no event\n").unwrap();
    lab.ask("working").unwrap();
    assert!(!lab.app.home.pool_json().exists());
}

#[test]
fn a_refusal_changes_nothing() {
    let lab = TaskLab::new(WORKING, "");
    refused(lab.ask("agent-review"), ErrorKind::GateFailed, "`## Handoff` is missing");
    refused(lab.ask("done"), ErrorKind::NoTransition, "working to done");
    refused(lab.ask("working"), ErrorKind::NoTransition, "working already");
    refused(lab.ask("donne"), ErrorKind::NotFound, "no status `donne`");
    assert_eq!(lab.events(), [] as [&str; 0]);
    refused(
        request(&lab.app, &lab.dir, Goal::Merge { force: false }),
        ErrorKind::Refused,
        "no status for `merge`",
    );
}

#[test]
fn a_dry_run_answers_what_the_real_call_would() {
    let lab = TaskLab::new(STUCK, "");
    let goal = Goal::Named("agent-review");
    let error = refused(dry_run(&lab.app, &lab.dir, goal), ErrorKind::Environment, "`pi`");
    assert_eq!(request(&lab.app, &lab.dir, goal).unwrap_err(), error);
    assert_eq!(lab.events(), [] as [&str; 0]);
}

#[test]
fn a_fresh_gate_wants_more_than_what_passed_last_time() {
    let lab = TaskLab::new(WORKING, "## Handoff\nall\n\n## Review\nFAIL");
    finish(&lab.app, &mut lab.begin("agent-review")).unwrap();
    lab.ask("working").unwrap();
    refused(lab.ask("agent-review"), ErrorKind::GateFailed, "as it was when it last passed");
    // Nor does an exit rule take the old handoff for a new one.
    lab.agent(1, Actor::Worker);
    lab.end(1).unwrap();
    lab.check("working", 1, Some("crash 1 in working"));
}

#[test]
fn a_transition_resets_crashes_and_an_escalation_keeps_them() {
    let lab = TaskLab::new(WORKING, "");
    lab.agent(1, Actor::Worker);
    let story = lab.end(1).unwrap();
    assert!(story.contains("crash 1 in working") && story.contains("exited with 3"), "{story}");
    lab.check("working", 1, Some("exited with 3"));
    lab.agent(2, Actor::Worker);
    lab.end(2).unwrap();
    lab.check("stuck", 2, Some("escalated to stuck after 2 crashes"));
    assert_eq!(
        lab.events()[4..],
        ["agent.exited", "agent.crashed", "auto.advanced", "transition.started", "status.changed"],
        "all that follows from an end is journaled with it"
    );

    let lab = TaskLab::new(REVIEW, "## Review\nFAIL");
    lab.open().append(Event::Unknown, Set::new().counter("crash_count", 1)).unwrap();
    lab.ask("working").unwrap();
    lab.check("working", 0, None);
}

#[test]
fn an_end_is_judged_once() {
    let lab = TaskLab::new(WORKING, "");
    lab.agent(1, Actor::Worker);
    lab.end(1).unwrap();
    let events = lab.events();
    assert!(lab.end(1).unwrap().contains("on record as ended"));
    assert!(lab.end(9).unwrap().contains("has been replaced"));
    assert_eq!(lab.events(), events);
}

#[test]
fn an_end_without_a_consequence_is_reported_again() {
    let lab = TaskLab::new(WORKING, "");
    lab.agent(1, Actor::Worker);
    let good = std::fs::read(lab.dir.task_md()).unwrap();
    std::fs::write(lab.dir.task_md(), "<<<<<<< ours\n").unwrap();
    refused(lab.end(1), ErrorKind::Corrupt, "TASK.md");
    std::fs::write(lab.dir.task_md(), good).unwrap();
    lab.end(1).unwrap();
    lab.check("working", 1, Some("crash 1"));
}

#[test]
fn an_agent_that_ended_as_a_rule_says_is_waited_for() {
    let lab = TaskLab::new(REVIEW, "");
    lab.agent(1, Actor::Reviewer);
    let story = lab.end_limited(1);
    assert!(story.contains("with exit status 75 and \"limit\" in its last lines"), "{story}");
    lab.check("agent-review", 0, None);
    assert_eq!(lab.events()[1..], ["agent.exited", "agent.waiting"]);
    let waiting = lab.open().history().agents.waiting.clone().unwrap();
    assert_eq!((waiting.spawn, waiting.after), (1, 900));
    assert_eq!(super::waiting::overdue(&lab.app, &lab.dir).unwrap(), None, "it is not due");

    lab.ask("stuck").unwrap();
    let history = lab.open().history().clone();
    assert_eq!((history.agents.waiting, history.agents.restarts), (None, 0));
    assert_eq!(history.owned.waiting_until, None);
}

#[test]
fn agents_are_not_started_again_without_end() {
    let lab = TaskLab::new(REVIEW, "");
    for spawn in 1..=MAX_RESTARTS {
        lab.agent(spawn, Actor::Reviewer);
        assert!(lab.end_limited(spawn).contains("goes on at"));
    }
    lab.agent(99, Actor::Reviewer);
    let story = lab.end_limited(99);
    assert!(story.contains("started again 20 times"), "{story}");
    lab.check("agent-review", 0, Some("`orange task respawn` tries once more"));
    assert_eq!(lab.events().last().unwrap(), "agent.given_up");
    let history = lab.open().history().clone();
    assert_eq!((history.agents.waiting, history.agents.restarts), (None, 0));
}

#[test]
fn what_can_never_be_started_again_is_given_up() {
    let lab = TaskLab::new(REVIEW, "");
    lab.agent(1, Actor::Reviewer);
    lab.end_limited(1);
    let text = std::fs::read_to_string(lab.dir.history()).unwrap();
    let until = lab.open().history().owned.waiting_until.clone().unwrap();
    std::fs::write(lab.dir.history(), text.replace(&until, "2001-01-01T00:00:00.000Z")).unwrap();
    let story = super::waiting::overdue(&lab.app, &lab.dir).unwrap().unwrap();
    assert!(story.contains("no agent works in agent-review"), "{story}");
    lab.check("agent-review", 0, Some("could not be started again"));
    assert_eq!(super::waiting::overdue(&lab.app, &lab.dir).unwrap(), None);
}

#[test]
fn exit_rules_are_asked_again_where_the_same_agent_is_wanted() {
    let lab = TaskLab::new(PENDING, "");
    lab.agent(1, Actor::Worker);
    let story = lab.end(1).unwrap();
    assert!(story.starts_with("advanced to working; crash 1 in working: "), "{story}");
    lab.check("working", 1, Some("crash 1 in working"));
    assert_eq!(lab.events().iter().filter(|event| *event == "agent.exited").count(), 1);
}

#[test]
fn an_exit_rule_leads_on() {
    let lab = TaskLab::new(WORKING, "## Handoff\nall");
    lab.agent(1, Actor::Worker);
    assert_eq!(lab.end(1).unwrap(), "advanced to agent-review");
    let events = lab.events();
    assert_eq!(events[1..4], ["agent.exited", "auto.advanced", "transition.started"]);
    // The state it came to is the reviewer's: that the worker is gone is nothing to look at there.
    lab.check("agent-review", 0, Some("run_command"));
    assert!(!lab.task().attention.unwrap().contains("ended"));
}

#[test]
fn an_agent_that_ends_in_another_s_state_is_shown() {
    let lab = TaskLab::new(REVIEW, "");
    lab.agent(1, Actor::Worker);
    assert_eq!(lab.end(1).unwrap(), "the worker ended in agent-review (exited with 3)");
    lab.check("agent-review", 0, Some("the worker ended in agent-review"));
    assert_eq!(lab.events()[1..], ["agent.exited"]);
}

#[test]
fn a_blocked_transition_is_shown_and_not_taken() {
    let lab = TaskLab::new(STUCK, "## Handoff\nall");
    lab.agent(1, Actor::Worker);
    refused(lab.end(1), ErrorKind::Environment, "`pi`");
    lab.check("stuck", 0, Some("the transition is blocked: `pi`"));
    assert_eq!(lab.events()[1..], ["agent.exited"]);
}

#[test]
fn attention_goes_with_the_next_transition() {
    let lab = TaskLab::new(WORKING, "");
    let mut locked = lab.open();
    for what in ["a", "b", "a"] {
        locked.call_attention(what).unwrap();
    }
    drop(locked);
    lab.check("working", 0, Some("b; a"));
    lab.ask("stuck").unwrap();
    lab.check("stuck", 0, None);
}

#[test]
fn an_agent_that_has_ended_is_not_heard() {
    let mut lab = TaskLab::new(WORKING, "");
    lab.agent(1, Actor::Worker);
    lab.asks_as(2);
    refused(lab.ask("stuck"), ErrorKind::NotAllowed, "agent 2");
    lab.asks_as(1);
    lab.ask("stuck").unwrap();
}

#[test]
fn only_a_task_that_waits_is_started() {
    let lab = TaskLab::new(STUCK, "");
    let error = refused(spawn(&lab.app, &lab.dir, false), ErrorKind::Refused, "started before: it is stuck");
    assert!(error.help.contains("orange task respawn"), "{error}");
    // Past its initial state and without a worktree, where an agent can be started: the answer says what is missing.
    let lab = TaskLab::new(WORKING, "");
    refused(spawn(&lab.app, &lab.dir, false), ErrorKind::Environment, "`pi`");
    refused(super::respawn(&lab.app, &lab.dir, false), ErrorKind::NotRespawnable, "no worktree");
}

#[test]
fn a_task_with_an_agent_in_its_folder_does_not_wait() {
    let lab = TaskLab::new(WORKING, "");
    lab.open().append(Event::Unknown, Set::new().workspace(Some(&lab.dir.id))).unwrap();
    assert_eq!(super::snapshot::waits(&lab.app, &lab.task()), Some(Workspace::Worktree));
    lab.agent(1, Actor::Worker);
    assert_eq!(super::snapshot::waits(&lab.app, &lab.task()), None);
}

#[test]
fn a_status_that_the_workflow_lost_is_reported() {
    let lab = TaskLab::new(WORKING, "");
    lab.open().append(Event::Unknown, Set::new().status("elsewhere")).unwrap();
    refused(lab.ask("stuck"), ErrorKind::Refused, "no longer has the status elsewhere");
    lab.agent(1, Actor::Worker);
    refused(lab.end(1), ErrorKind::Refused, "elsewhere");
    let alive = lab.open().history().agents.alive.len();
    assert_eq!(alive, 1, "the binary that knows the status can still take note");
}

/// Cancels, and finishes as the process of its own would.
fn cancelled(lab: &TaskLab) {
    refused(super::cancel(&lab.app, &lab.dir), ErrorKind::Environment, "begun and not finished");
    finish(&lab.app, &mut lab.open()).unwrap();
}

#[test]
fn a_task_whose_status_is_lost_can_be_cancelled_by_a_person() {
    let mut lab = TaskLab::new(WORKING, "");
    lab.open().append(Event::Unknown, Set::new().status("elsewhere")).unwrap();
    lab.agent(1, Actor::Worker);
    lab.asks_as(1);
    refused(super::cancel(&lab.app, &lab.dir), ErrorKind::NotAllowed, "only a person");
    lab.app.caller = Caller::Person;
    lab.open().append(Event::Unknown, Set::new().workspace(None)).unwrap();
    cancelled(&lab);
    lab.check("done", 0, None);
    let locked = lab.open();
    assert_eq!((&locked.task().owned.tmux_session, locked.history().agents.alive.len()), (&None, 0));
}

#[test]
fn leftovers_of_a_failed_hook_of_a_finished_task_can_be_cleared() {
    let lab = TaskLab::new(DONE, "");
    refused(super::cancel(&lab.app, &lab.dir), ErrorKind::NoTransition, "final");
    lab.open()
        .append(Event::Unknown, Set::new().workspace(Some("coffee--1")).tmux_session(Some("s")))
        .unwrap();
    cancelled(&lab);
    // Its project is not there, so the worktree stays bound, and the answer says how to go on.
    lab.check("done", 0, Some("orange project add PATH --name coffee"));
    assert_eq!(lab.task().owned.tmux_session, None);
    cancelled(&lab);
}
