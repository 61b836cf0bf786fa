//! Facts in the tables that the workflow only implies.

use orange_core::{
    Action, Actor, HarnessOf, Hook, Machine, OnFailure, Permissions, Role, StateId, TransitionId,
};

use super::*;
use crate::{Source, compile};

/// Hands the machine of a workflow to a closure; header and prompts are added.
#[track_caller]
fn with_machine(body: &str, look: impl FnOnce(&Machine<'_>)) {
    let checked = checked(body);
    let arena = Arena::default();
    look(&lower(&checked, &arena).unwrap());
}

#[track_caller]
fn checked(body: &str) -> Checked {
    let text = format!("name: flow\nversion: 1\n{body}\nprompts: {{do: do, check: check, again: again}}\n");
    let compilation = compile(&Source::new("flow.yml", text));
    compilation.checked.unwrap_or_else(|| panic!("{:#?}", compilation.diagnostics))
}

/// The respawn hook of state `b`, which respawns with the prompt `again`: its action, harness and permissions.
#[track_caller]
fn check_respawn(transitions: &str, expect: (&str, HarnessOf, Permissions), agent: Actor) {
    let body = format!("states: {{a: , b: {{respawn_prompt: again}}, c: }}\ntransitions:\n{transitions}");
    with_machine(&body, |machine| {
        let state = machine.state(StateId(1));
        let hook = state.respawn.unwrap();
        let spawn = hook.spawn().unwrap();
        assert_eq!(machine.prompt(spawn.prompt).name, "again");
        assert_eq!(hook.counter, None);
        assert_eq!((hook.name(), spawn.harness, spawn.permissions), expect);
        assert_eq!(state.agent, agent);
    });
}

#[test]
fn a_respawn_is_like_the_hook_with_its_prompt() {
    check_respawn(
        "
  - {from: a, to: c, hooks: [{action: spawn_agent, prompt: again, harness: task}]}
  - {from: a, to: b, hooks: [{action: spawn_agent, prompt: do}, {action: spawn_reviewer, prompt: again, harness: review, permissions: reduced, increment: review_round}]}",
        ("spawn_reviewer", HarnessOf::Review, Permissions::Reduced),
        Actor::Reviewer,
    );
}

#[test]
fn else_like_the_first_hook_with_its_prompt_anywhere() {
    check_respawn(
        "
  - {from: a, to: b, hooks: [{action: spawn_agent, prompt: do, harness: review}]}
  - {from: a, to: c, hooks: [{action: spawn_agent, prompt: again, harness: task, permissions: reduced}]}
  - {from: b, to: c, hooks: [{action: spawn_agent, prompt: again, harness: review}]}",
        ("spawn_agent", HarnessOf::Task, Permissions::Reduced),
        Actor::Worker,
    );
}

#[test]
fn else_like_the_first_hook_that_enters_the_state() {
    check_respawn(
        "
  - {from: a, to: b, hooks: [{action: kill_session}, {action: spawn_agent, prompt: check, harness: review, permissions: reduced}]}
  - {from: c, to: b, hooks: [{action: spawn_agent, prompt: do}]}",
        ("spawn_agent", HarnessOf::Review, Permissions::Reduced),
        Actor::Reviewer,
    );
}

#[test]
fn else_a_worker_with_all_permissions() {
    check_respawn("  - {from: a, to: b}", ("spawn_agent", HarnessOf::Task, Permissions::Full), Actor::Worker);
}

#[test]
fn what_runs_an_agent_is_said_by_its_hook_then_by_its_state() {
    let body = "states:
  a: {agent: {effort: low}}
  b: {respawn_prompt: again, agent: {harness: codex, model: small, effort: high}}
  c: {respawn_prompt: do, agent: {harness: review}}
transitions:
  - {from: a, to: b, hooks: [{action: spawn_agent, prompt: again, model: 4.5}, {action: notify_worker, message: go, prompt: do, harness: pi}]}
  - {from: b, to: c, hooks: [{action: spawn_agent, prompt: check}, {action: spawn_agent, prompt: check, harness: review, effort: max}]}";
    with_machine(body, |machine| {
        let words = |spawn: &orange_core::Spawn<'_>| {
            format!("{:?} {:?} {:?} {:?}", spawn.role, spawn.harness, spawn.model, spawn.effort)
        };
        let hooks = machine.transitions.iter().flat_map(|it| it.hooks).filter_map(Hook::spawn).map(words);
        let respawns = machine.states.iter().filter_map(|it| it.respawn.as_ref()?.spawn()).map(words);
        assert_eq!(
            hooks.chain(respawns).collect::<Vec<_>>(),
            [
                r#"Worker Named("codex") Some("4.5") Some("high")"#,
                r#"Worker Named("pi") Some("small") Some("high")"#,
                "Worker Review None None",
                r#"Reviewer Review None Some("max")"#,
                // The respawn of `b` is like its hook; the prompt of that of `c` is used on the way to `b`.
                r#"Worker Named("codex") Some("4.5") Some("high")"#,
                r#"Worker Named("pi") None None"#,
            ]
        );
        assert_eq!(machine.harnesses().collect::<Vec<_>>(), ["codex", "pi", "codex", "pi"]);
    });
}

#[test]
fn a_hook_says_which_agent_it_starts() {
    let role = |hook: &str| {
        let mut role = None;
        let body = format!(
            "states: {{a: , b: }}\ntransitions: [{{from: a, to: b, hooks: [{{prompt: do, {hook}}}]}}]"
        );
        with_machine(&body, |machine| role = machine.transitions[0].hooks[0].spawn().map(|it| it.role));
        role.unwrap()
    };
    assert_eq!(role("action: spawn_agent, harness: codex"), Role::Worker);
    assert_eq!(role("action: spawn_agent, harness: codex, as: reviewer"), Role::Reviewer);
    assert_eq!(role("action: spawn_agent, harness: task, as: reviewer"), Role::Reviewer);
    assert_eq!(role("action: spawn_reviewer, harness: codex"), Role::Reviewer);
    assert_eq!(role("action: spawn_reviewer, harness: task"), Role::Worker);
    assert_eq!(role("action: spawn_reviewer, harness: review, as: worker"), Role::Worker);
    assert_eq!(role("action: notify_worker, message: go, harness: review"), Role::Worker);
}

#[test]
fn a_state_without_respawn_has_the_agent_of_its_entry_hooks() {
    let body = "states: {a: , b: , c: }
transitions:
  - {from: a, to: b, hooks: [{action: spawn_agent, prompt: check, harness: review}]}
  - {from: a, to: c, hooks: [{action: spawn_agent, prompt: do}]}";
    with_machine(body, |machine| {
        let agents: Vec<_> = machine.states.iter().map(|state| state.agent).collect();
        assert_eq!(agents, [Actor::Worker, Actor::Reviewer, Actor::Worker]);
        assert!(machine.states.iter().all(|state| state.respawn.is_none()));
    });
}

#[test]
fn a_state_without_an_exit_rule_that_leads_on_waits() {
    let body = "states: {a: , b: , c: {wait: human}, d: , e: {terminal: true}}
transitions: [{from: [a, b, d], to: e}, {from: c, to: e, by: human}]
exit_monitoring:
  rules:
    - {status: a, then: e}
    - {status: b, action: mark_dead}
    - {status: d, then_when: [{when: review_round < 1, then: e}, {when: review_round >= 1, then: e}]}
deadlines: [{states: [a, b, d], after: 3d, then: e}]";
    with_machine(body, |machine| {
        let waiting = machine.states.iter().filter(|state| state.waits_for_human).map(|state| state.name);
        assert_eq!(waiting.collect::<Vec<_>>(), ["b", "c"]);
    });
}

#[test]
fn transitions_and_rules_are_sorted_stably() {
    let body = "states: {a: , b: , c: }
transitions:
  - {from: c, to: a}
  - {from: a, to: c, when: review_round >= 2}
  - {from: a, to: b}
  - {from: a, to: c, when: review_round < 2}
exit_monitoring:
  rules:
    - {status: c, then: a}
    - {status: a, has_artifact: {section: '## X'}, then: b}
    - {status: a, no_artifact: true, action: mark_dead}";
    with_machine(body, |machine| {
        let texts: Vec<_> = machine.transitions.iter().map(|it| it.guard.map(|guard| guard.text)).collect();
        assert_eq!(texts, [None, Some("review_round >= 2"), Some("review_round < 2"), None]);
        assert_eq!(machine.rows, [0, 3, 3, 4]);
        assert!(machine.resolve(StateId(0), StateId(2), &[1]).unwrap().eq([TransitionId(2)]));
        let states: Vec<_> = machine.exit_rules.iter().map(|rule| rule.state.0).collect();
        assert_eq!(states, [0, 0, 2]);
        assert!(matches!(machine.exit_rules[0].condition, core::Condition::Artifact(_)));
    });
}

#[test]
fn hooks_keep_their_parameters() {
    let body = "states: {a: }
fields: {tries: 3}
transitions:
  - from: a
    to: a
    hooks:
      - {action: run_command, argv: [make, 'a b'], timeout: 7, on_failure: go-on}
      - {action: increment, field: tries}
      - {action: set_field, field: note, value: x}";
    with_machine(body, |machine| {
        let expect = [
            Hook {
                argv: &["make", "a b"],
                timeout: 7,
                on_failure: OnFailure::GoOn,
                ..Hook::new(Action::RunCommand)
            },
            Hook { counter: Some(core::CounterId(2)), ..Hook::new(Action::Increment) },
            Hook { field: "note", value: "x", ..Hook::new(Action::SetField) },
        ];
        assert_eq!(machine.transitions[0].hooks, expect);
        assert_eq!(machine.counters[2], core::Counter { name: "tries", default: 3 });
    });
}

#[test]
fn the_hash_of_the_prompts_is_theirs_alone() {
    let hash = |head: &str, prompts: &str| {
        let text = format!("name: flow\nversion: 1\n{head}\ntransitions: []\nprompts: {{{prompts}}}\n");
        let checked = compile(&Source::new("flow.yml", text)).checked.unwrap();
        lower(&checked, &Arena::default()).unwrap().prompts_hash.to_owned()
    };
    let first = hash("states: {a: }", "x: ab, y: c");
    assert_eq!(first, hash("# other\nstates: {b: }", "x: ab, y: c"));
    assert_ne!(first, hash("states: {a: }", "x: a, y: bc"));
    assert_ne!(first, hash("states: {a: }", "x: ab, yc: ''"));
    assert_ne!(first, hash("states: {a: }", "y: c, x: ab"));
}

#[test]
fn a_guard_beyond_the_bound_is_refused_where_it_stands() {
    let names: Vec<_> = (0..11).map(|it| format!("c{it}")).collect();
    let fields = names.iter().map(|name| format!("{name}: 0")).collect::<Vec<_>>().join(", ");
    let guard = names.iter().map(|name| format!("{name} != 1")).collect::<Vec<_>>().join(" && ");
    let body =
        format!("fields: {{{fields}}}\nstates: {{a: }}\ntransitions: [{{from: a, to: a, when: {guard:?}}}]");
    let text = format!("name: flow\nversion: 1\n{body}\n");
    let found = compile(&Source::new("flow.yml", text.clone())).diagnostics;
    let messages: Vec<_> = found.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(messages, ["this guard comes to more than 1024 alternatives"]);
    assert_eq!(text[found[0].span.range()], format!("{guard:?}"));
}

#[test]
fn ten_thousand_states_are_no_matter() {
    let states: String = (0..10_000).map(|it| format!("  s{it}: {{}}\n")).collect();
    let ring = (0..10_000)
        .map(|it| format!("  - {{from: s{it}, to: s{}, when: review_round < 3}}\n", (it + 1) % 10_000));
    let body = format!("states:\n{states}transitions:\n{}", ring.collect::<String>());
    with_machine(&body, |machine| {
        assert_eq!(machine.transitions.len(), 10_000);
        assert!(machine.resolve(StateId(9_999), StateId(0), &[]).unwrap().eq([TransitionId(9_999)]));
    });
}
