//! Transitions that are finished, also after a kill.

use super::*;

#[test]
fn finishing_runs_only_the_hooks_that_have_not_ended() {
    let lab = TaskLab::new(WORKING, "## Handoff\nall");
    let mut locked = lab.begin("agent-review");
    let first = Event::HookEnded { hook: "set_field".to_owned(), index: 0, error: None, held: false };
    locked.append(first, Set::new()).unwrap();
    drop(locked);

    finish(&lab.app, &mut lab.open()).unwrap();
    assert_eq!((lab.field("first"), lab.field("last").as_deref()), (None, Some("done")));
    assert_eq!(lab.task().counter("review_round"), 1);
    // A failed hook stops neither the others nor the transition.
    lab.check("agent-review", 0, Some("run_command: the task has no worktree"));
    let again = lab.events();
    finish(&lab.app, &mut lab.open()).unwrap();
    assert_eq!(lab.events(), again);
}

#[test]
fn a_counter_rises_once_however_often_its_hook_runs() {
    let lab = TaskLab::new(WORKING, "## Handoff\nall");
    let mut locked = lab.begin("agent-review");
    // Its value was set, and a kill came before that was noted.
    locked.append(Event::Unknown, Set::new().counter("review_round", 1)).unwrap();
    drop(locked);
    finish(&lab.app, &mut lab.open()).unwrap();
    assert_eq!(lab.task().counter("review_round"), 1);
}

#[test]
fn what_a_transition_answers_is_cleared_after_a_kill() {
    for (after_the_kill, is_kept) in [("the disk is full", false), ("another one", true)] {
        let lab = TaskLab::new(WORKING, "## Handoff\nall");
        lab.open().call_attention("the disk is full").unwrap();
        let mut locked = lab.begin("agent-review");
        assert_eq!(locked.task().attention, None);
        // The kill comes before the call is cleared, or after another one.
        locked.call_attention(after_the_kill).unwrap();
        drop(locked);
        finish(&lab.app, &mut lab.open()).unwrap();
        let attention = lab.task().attention.unwrap();
        assert!(attention.contains("run_command: "), "{attention}");
        assert_eq!(attention.contains(after_the_kill), is_kept, "{attention}");
    }
}

#[test]
fn a_failure_from_before_a_kill_is_reported_too() {
    let lab = TaskLab::new(WORKING, "## Handoff\nall");
    let mut locked = lab.begin("agent-review");
    let error = Some("disk full".into());
    let failed = Event::HookEnded { hook: "set_field".into(), index: 0, error, held: false };
    locked.append(failed, Set::new()).unwrap();
    drop(locked);
    finish(&lab.app, &mut lab.open()).unwrap();
    lab.check("agent-review", 0, Some("set_field: disk full; run_command: "));
}

#[test]
fn what_cannot_be_finished_is_an_error_and_not_a_loop() {
    let lab = TaskLab::new(WORKING, "## Handoff\nall");
    drop(lab.begin("agent-review"));
    // The program that should finish it does nothing.
    let error = refused(lab.ask("done"), ErrorKind::Environment, "working → agent-review was begun");
    assert!(error.help.contains("orange.log"), "{error}");
}

#[test]
fn the_answer_is_read_from_this_transition_in_the_journal() {
    let lab = TaskLab::new(WORKING, "## Handoff\nall");
    let mut locked = lab.begin("agent-review");
    let started = locked.history().transition.open.as_ref().unwrap().seq;
    finish(&lab.app, &mut locked).unwrap();
    locked.append(Event::Unknown, Set::new().counter("review_round", 7)).unwrap();
    drop(locked);
    lab.ask("done").unwrap();

    let result = transition_result::read("T1", &lab.records(), started);
    assert_eq!(
        (result.from.as_str(), result.to.as_str(), result.review_round),
        ("working", "agent-review", 1)
    );
    assert_eq!(result.hooks, ["set_field", "increment", "run_command", "set_field"]);
    assert_eq!(
        result.hook_errors,
        [
            "run_command: the task has no worktree to run a command in; the workflow has to give it one before: `acquire_workspace` before this hook"
        ]
    );
    let json = serde_json::to_value(&result).unwrap();
    assert_eq!((&json["success"], &json["id"]), (&true.into(), &"T1".into()));
    assert_eq!((json.get("dry_run"), json.get("backed_up")), (None, None));
}
