//! States that journals fold to, record by record.

use std::collections::BTreeSet;

use super::*;
use crate::event::*;
use crate::set::Set;

#[track_caller]
fn fold(events: Vec<(Event, Set)>) -> WorkItemHistory {
    let record = |(seq, (event, set))| Record { seq, timestamp: String::new(), event, set };
    WorkItemHistory::fold(&(1..).zip(events).map(record).collect::<Vec<_>>())
}

fn started() -> (Event, Set) {
    let hook = |index| PlannedHook { name: "spawn_agent".into(), index, counter: None };
    let plan = Transition {
        from: "a".into(),
        to: "b".into(),
        hooks: vec![hook(0), hook(1)],
        passed: vec![Pass { section: "## Review".into(), hash: "h".into(), ..Pass::default() }],
        ..Transition::default()
    };
    (Event::TransitionStarted(plan), Set::new().status("b"))
}

fn ended(index: usize, error: Option<&str>) -> (Event, Set) {
    Event::HookEnded { hook: "spawn_agent".into(), index, error: error.map(str::to_owned), held: false }
        .into()
}

fn closed() -> (Event, Set) {
    let event = Event::StatusChanged {
        from: "a".into(),
        to: "b".into(),
        cause: Cause::default(),
        actor: Actor::default(),
    };
    (event, Set::new().counter("crash_count", 0))
}

fn spawned(spawn: u32) -> (Event, Set) {
    Event::AgentSpawned(Spawn { spawn, ..Spawn::default() }).into()
}

#[test]
fn a_transition_is_open_until_its_status_is_changed() {
    let history = fold(vec![started(), ended(0, None), ended(1, Some("no tmux"))]);
    let open = history.transition.open.unwrap();
    assert_eq!((open.seq, history.owned.status.as_str()), (1, "b"));
    assert_eq!(open.ended, BTreeMap::from([(0, None), (1, Some("no tmux".to_owned()))]));

    let history = fold(vec![started(), ended(0, None), closed()]);
    assert_eq!((history.transition.open, history.last_seq), (None, 3));
    assert_eq!(history.gates.passes["## Review"].hash, "h");
    assert_eq!(history.owned.counters, BTreeMap::from([("crash_count".to_owned(), 0)]));
}

#[test]
fn hooks_wait_until_they_are_retried_or_the_task_moves_on() {
    let waiting = || -> (Event, Set) {
        let (from, to, hook) = ("a".into(), "b".into(), "spawn_agent".into());
        let event = Event::HooksWaiting { from, to, hook, index: 0, left: vec!["spawn_agent".into()] };
        (event, Set::new().hooks_wait(Some("spawn_agent")))
    };
    let retried = || -> (Event, Set) {
        let event =
            Event::HooksRetried { from: "a".into(), to: "b".into(), actor: Actor::default(), answers: None };
        (event, Set::new().hooks_wait(None))
    };
    let history = fold(vec![started(), ended(0, Some("no tmux")), waiting()]);
    assert_eq!((history.transition.open, history.owned.hooks_wait.as_deref()), (None, Some("spawn_agent")));
    let waits = history.transition.waiting_hooks.unwrap();
    assert_eq!((waits.seq, waits.error.as_deref()), (1, Some("no tmux")));
    assert_eq!(waits.left().map(|hook| hook.index).collect::<Vec<_>>(), [0, 1]);
    let exited = Event::AgentExited(Exited { spawn: 1, ..Exited::default() });
    let before = [started(), ended(0, Some("no tmux")), spawned(1), waiting(), exited.into()];
    let history = fold(before.into_iter().chain([retried()]).collect());
    assert_eq!((history.transition.waiting_hooks, history.owned.hooks_wait), (None, None));
    let open = history.transition.open.unwrap();
    assert_eq!((open.seq, open.since, open.ended, open.exited.len()), (1, 6, BTreeMap::new(), 1));

    let history = fold(vec![started(), ended(0, Some("no tmux")), waiting(), started()]);
    assert_eq!((history.transition.waiting_hooks, history.transition.open.unwrap().seq), (None, 4));
}

#[test]
fn a_start_that_a_budget_refuses_is_held_until_it_runs() {
    let held = || -> (Event, Set) {
        let error = Some("the start waits: the budget of the task is used up".to_owned());
        Event::HookEnded { hook: "spawn_agent".into(), index: 1, error, held: true }.into()
    };
    let waiting = || -> (Event, Set) {
        let (from, to, hook) = ("a".into(), "b".into(), "spawn_agent".into());
        Event::HooksWaiting { from, to, hook, index: 1, left: Vec::new() }.into()
    };
    let retried = || -> (Event, Set) {
        Event::HooksRetried { from: "a".into(), to: "b".into(), actor: Actor::default(), answers: None }
            .into()
    };
    let of_open = |events| fold(events).transition.open.and_then(|open| open.held);
    assert_eq!(of_open(vec![started(), ended(0, None), held()]), Some(1));
    let waits = fold(vec![started(), ended(0, None), held(), waiting()]).transition.waiting_hooks.unwrap();
    assert_eq!(waits.held, Some(1));
    assert_eq!(of_open(vec![started(), ended(0, None), held(), waiting(), retried()]), None);
    let failed = vec![started(), ended(0, Some("the start waits: no")), waiting()];
    assert_eq!(fold(failed).transition.waiting_hooks.unwrap().held, None);
}

#[test]
fn an_agent_is_waited_for_until_it_is_there_or_not_wanted() {
    let waiting = |spawn| {
        let waiting = Waiting { spawn, until: "2026".into(), after: 9, reason: String::new() };
        (Event::AgentWaiting(waiting), Set::new().waiting_until(Some("2026")))
    };
    let history = fold(vec![spawned(1), waiting(1), waiting(1)]);
    assert_eq!((history.agents.waiting.map(|it| it.spawn), history.agents.restarts), (Some(1), 2));
    let over = Set::new().waiting_until(None);
    let history = fold(vec![waiting(1), (spawned(2).0, over.clone())]);
    assert_eq!((history.agents.waiting, history.agents.restarts), (None, 1));
    let history = fold(vec![waiting(1), (started().0, over)]);
    assert_eq!((history.agents.waiting, history.agents.restarts), (None, 0));
}

#[test]
fn the_restarts_of_a_step_count_over_its_lost_attempts() {
    let begun = |step: &str, attempt| {
        let worker = String::new();
        Event::StepStarted { step: step.to_owned(), attempt, worker, spawn: 1, found: None }.into()
    };
    let ended = |step: &str, attempt, end| {
        let step = step.to_owned();
        Event::StepEnded(EndedAttempt { step, attempt, end, ..EndedAttempt::default() }).into()
    };
    let waits = || (Event::AgentWaiting(Waiting::default()), Set::new());
    let lost = || vec![begun("a", 1), ended("a", 1, StepEnd::Lost), waits()];
    let restarts = |then: Vec<(Event, Set)>| fold([lost(), then].concat()).agents.restarts;
    assert_eq!(restarts(vec![begun("a", 2)]), 1);
    assert_eq!(restarts(vec![begun("a", 2), ended("a", 2, StepEnd::Lost), waits(), begun("a", 3)]), 2);
    assert_eq!(restarts(vec![begun("a", 2), ended("a", 2, StepEnd::Failed), begun("a", 3)]), 0);
    assert_eq!(restarts(vec![begun("b", 1)]), 0);
    let retried = Event::MissionRetried { step: None, actor: Actor::Human };
    assert_eq!(restarts(vec![retried.into(), begun("a", 2)]), 0);
}

#[test]
fn a_stopped_agent_is_one_until_its_end_is_on_record() {
    let stopped = |spawns: &[u32]| -> (Event, Set) {
        Event::AgentStopped { spawns: spawns.to_vec(), actor: Actor::Human }.into()
    };
    let exited = Event::AgentExited(Exited { spawn: 1, ..Exited::default() });
    let history = fold(vec![spawned(1), spawned(2), stopped(&[1, 2, 7])]);
    assert_eq!((history.agents.stopped, history.agents.alive.len()), (BTreeSet::from([1, 2]), 2));
    let history = fold(vec![spawned(1), stopped(&[1]), exited.into()]);
    assert_eq!((history.agents.stopped.len(), history.agents.alive.len()), (0, 0));
}

#[test]
fn what_a_transition_has_kept_is_known_until_it_is_closed() {
    let kept = |name: &str| -> (Event, Set) {
        Event::WorkBackedUp { reference: name.to_owned(), commit: String::new() }.into()
    };
    let history = fold(vec![kept("before"), started(), kept("now")]);
    assert_eq!(history.transition.open.unwrap().kept, BTreeSet::from(["now".to_owned()]));
    assert_eq!(history.transition.kept, BTreeSet::from(["before".to_owned()]));
}

#[test]
fn agents_are_alive_until_they_exited() {
    let exited = Event::AgentExited(Exited { spawn: 1, ..Exited::default() });
    let history = fold(vec![spawned(1), spawned(2), exited.clone().into(), exited.into()]);
    assert_eq!(
        (history.agents.alive.keys().copied().collect::<Vec<_>>(), history.agents.last_spawn),
        (vec![2], 2)
    );
}

#[test]
fn an_agent_is_of_a_status_until_the_task_leaves_it_without_it() {
    let exited = |spawn| -> (Event, Set) { exited_with(spawn, "a") };
    let here = |events| fold(events).agents.here.into_values().map(|it| it.spawn).collect::<Vec<_>>();
    let (one, two) = (talking(1, "worker", None), talking(2, "reviewer", None));
    assert_eq!(here(vec![one.clone(), exited(1)]), [1], "it has ended there");
    assert_eq!(here(vec![one.clone(), started(), closed()]), [1], "it lives on");
    assert_eq!(here(vec![one.clone(), exited(1), started(), closed()]), Vec::<u32>::new());
    assert_eq!(
        here(vec![one.clone(), started(), exited(1), closed()]),
        Vec::<u32>::new(),
        "the transition ended it"
    );
    let replaced = vec![one.clone(), started(), exited(1), two.clone(), closed(), exited(2)];
    assert_eq!(here(replaced), [2]);
    assert_eq!(here(vec![one, started(), two, exited(2), closed()]), [2, 1], "it could not be started");
}

#[test]
fn an_answer_counts_for_the_question_that_is_asked() {
    let question =
        |commit: &str| Question { argv: vec!["make".into()], commit: commit.into(), ..Question::default() };
    let asks = |commit| -> (Event, Set) { Event::GateAsked(question(commit)).into() };
    let answers = |asked| -> (Event, Set) {
        Event::GateAnswered(Answer { asked, passed: true, ..Answer::default() }).into()
    };
    let known = |events| {
        let GatesHistory { asked, answers, .. } = fold(events).gates;
        let answers: Vec<_> = answers.into_iter().map(|(it, answer)| (it.commit, answer.asked)).collect();
        (asked.map(|(seq, _)| seq), answers)
    };
    assert_eq!(known(vec![asks("a")]), (Some(1), vec![]));
    assert_eq!(known(vec![asks("a"), answers(1), answers(1)]), (None, vec![("a".into(), 1)]));
    // A later question replaces the one before, whose answer comes late.
    assert_eq!(known(vec![asks("a"), asks("b"), answers(1)]), (Some(2), vec![]));
    assert_eq!(known(vec![asks("a"), answers(1), asks("b"), answers(3)]).1, [("b".into(), 3)]);
    // Nobody waits for the answer once the task has moved.
    assert_eq!(known(vec![asks("a"), started(), closed(), answers(1)]), (None, vec![]));
}

fn conversations(events: Vec<(Event, Set)>) -> Vec<(String, u32, String)> {
    let known = fold(events).agents.conversations.into_iter().map(|(seat, it)| (seat.actor, it));
    known.map(|(actor, it)| (actor.to_string(), it.spawn, it.id)).collect()
}

fn talking(spawn: u32, actor: &str, id: Option<&str>) -> (Event, Set) {
    let (actor, conversation) = (Actor::from(actor), id.map(str::to_owned));
    Event::AgentSpawned(Spawn { spawn, actor, conversation, ..Spawn::default() }).into()
}

fn exited_with(spawn: u32, id: &str) -> (Event, Set) {
    let conversation = Some(id.to_owned());
    Event::AgentExited(Exited { spawn, conversation, ..Exited::default() }).into()
}

#[test]
fn the_last_conversation_of_each_actor_is_known() {
    let know = |actor: &str, spawn, id: &str| (actor.to_owned(), spawn, id.to_owned());
    let (one, two) = (talking(1, "worker", Some("a")), talking(2, "reviewer", Some("b")));
    assert_eq!(conversations(vec![one.clone(), two]), [know("reviewer", 2, "b"), know("worker", 1, "a")]);
    let found = vec![talking(1, "worker", None), exited_with(1, "a")];
    assert_eq!(conversations(found), [know("worker", 1, "a")]);
    // A new agent of the actor has a conversation of its own, known or not.
    assert_eq!(conversations(vec![one.clone(), talking(2, "worker", None)]), []);
    let late = vec![one.clone(), talking(2, "worker", Some("b")), exited_with(1, "a")];
    assert_eq!(conversations(late), [know("worker", 2, "b")]);
    let lost = Event::AgentNotResumed { spawn: 1, conversation: "a".into(), reason: Ending::default() };
    assert_eq!(conversations(vec![one, lost.into()]), []);
}

#[test]
fn no_time_is_later_than_a_clock_that_was_set_back() {
    let moved = |seq, timestamp: &str, status| {
        let (event, _) = started();
        Record { seq, timestamp: timestamp.to_owned(), event, set: Set::new().status(status) }
    };
    let records = [
        moved(1, "2026-11-25T08:00:00.000Z", "a"),
        moved(2, "2027-11-25T09:00:00.000Z", "b"),
        moved(3, "2026-11-25T10:00:00.000Z", "c"),
    ];
    let left = [
        ("", "2026-11-25T08:00:00.000Z"),
        ("a", "2026-11-25T10:00:00.000Z"),
        ("b", "2026-11-25T10:00:00.000Z"),
    ];
    let left = left.map(|(state, at)| (state.to_owned(), at.to_owned()));
    assert_eq!(WorkItemHistory::fold(&records).left, BTreeMap::from(left));
}

#[test]
fn a_sync_is_open_until_the_branch_has_moved() {
    let sync = || BranchSync { base: "main".into(), commit: "c2".into(), ..BranchSync::default() };
    let started: (Event, Set) = Event::SyncStarted(sync()).into();
    assert_eq!(fold(vec![started.clone()]).branch.syncing, Some(sync()));
    assert_eq!(fold(vec![started, Event::WorkSynced(sync()).into()]).branch.syncing, None);
}

#[test]
fn an_answer_waits_until_it_is_posted() {
    let answered = |round: u32, thread: &str| {
        let answer = ThreadAnswer { round, thread: thread.into(), text: "Done.".into(), resolve: false };
        (Event::FeedbackAnswered(answer), Set::new())
    };
    let posted = |round: u32, thread: &str| {
        (Event::FeedbackPosted(PostedAnswer { round, thread: thread.into(), is_posted: true }), Set::new())
    };
    let history =
        fold(vec![answered(1, "a"), answered(1, "b"), posted(1, "a"), posted(1, "x"), answered(2, "a")]);
    let waiting: Vec<_> = history.branch.answers.iter().map(|it| (it.round, it.thread.as_str())).collect();
    assert_eq!(waiting, [(1, "b"), (2, "a")]);
    assert_eq!(history.branch.answered, BTreeMap::from([("a".to_owned(), 2), ("b".to_owned(), 1)]));
}

#[test]
fn a_merge_that_was_taken_back_is_none() {
    let merge = || -> Vec<(Event, Set)> {
        let begun = Event::MergeStarted {
            into: "main".into(),
            commit: "m2".into(),
            from: Some("m1".into()),
            onto: Some("m1".into()),
            source: Some("w1".into()),
            strategy: Some(Strategy::Squash),
        };
        let merged = Event::TaskMerged {
            strategy: Strategy::Squash,
            into: "main".into(),
            commit: Some("m2".into()),
            kept: false,
        };
        vec![begun.into(), merged.into()]
    };
    let undoing = MergeUndo { into: "main".into(), commit: Some("m3".into()), ..MergeUndo::default() };
    let reopened = Event::TaskReopened {
        from: "done".into(),
        to: "reviewing".into(),
        worktree: false,
        backup: None,
        actor: Actor::default(),
    };
    let undone = [merge(), vec![Event::MergeUndoing(undoing.clone()).into(), reopened.into()]].concat();
    let branch = fold(undone.clone()).branch;
    assert_eq!((branch.is_merged, branch.merge, branch.begun), (false, None, None));
    assert_eq!(branch.undone, Some(undoing));
    let branch = fold([undone, merge()].concat()).branch;
    assert!(branch.is_merged && branch.begun.is_some());
}

#[test]
fn the_last_answer_of_a_forge_about_a_merge_counts() {
    let url = || "https://github.com/toys/toy/pull/7".to_owned();
    let asked = || -> (Event, Set) {
        Event::PrMergeAsked(AskedForMerge { url: url(), commit: "w1".into(), strategy: None }).into()
    };
    let accepted = |id: Option<&str>| -> (Event, Set) {
        Event::PrMergeAccepted(AcceptedMerge { url: url(), id: id.map(str::to_owned) }).into()
    };
    let refused = || -> (Event, Set) {
        Event::PrMergeRefused(RefusedMerge { url: url(), error: "a rule".into() }).into()
    };
    let answer = |events| fold(events).branch.asked_merge.and_then(|asked| asked.answer);
    assert_eq!(answer(vec![asked()]), None);
    let pending = answer(vec![asked(), accepted(Some("i"))]);
    assert!(matches!(pending, Some(AskedAnswer::Pending { id, .. }) if id == "i"));
    let queued = answer(vec![asked(), accepted(Some("i")), accepted(None)]);
    assert!(matches!(queued, Some(AskedAnswer::Queued { .. })));
    let no = Some(AskedAnswer::Refused { error: "a rule".into() });
    assert_eq!(answer(vec![asked(), accepted(None), refused()]), no);
    assert_eq!(answer(vec![asked(), refused(), asked()]), None);
    assert_eq!(answer(vec![refused()]), None, "of a merge that was not asked for");
}

#[test]
fn a_text_stays_about_the_work_of_its_first_pass() {
    let passed = |hash: &str, commit: &str| -> (Event, Set) {
        let pass = Pass {
            section: "## Review".into(),
            hash: hash.into(),
            commit: Some(commit.into()),
            ..Pass::default()
        };
        let plan = Transition { passed: vec![pass], ..Transition::default() };
        (Event::TransitionStarted(plan), Set::new().status("b"))
    };
    let commit = |events| fold(events).gates.passes["## Review"].commit.clone().unwrap();
    assert_eq!(commit(vec![passed("h", "1"), closed(), passed("h", "2")]), "1");
    assert_eq!(commit(vec![passed("h", "1"), closed(), passed("i", "2")]), "2");
}
