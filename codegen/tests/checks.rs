//! Findings by example: what is reported, where, and in which words.

use orange_codegen::{Compilation, Level, Source, check, compile};

/// A sound workflow; each test adds to it or puts something else in the place of one line.
const SOUND: &str = "\
name: flow
version: 1
states:
  pending: {}
  working: {respawn_prompt: worker}
  agent-review: {}
  stuck: {}
  done: {terminal: true}
transitions:
  - {from: pending, to: working}
  - {from: working, to: agent-review}
  - {from: working, to: stuck}
  - {from: agent-review, to: done}
  - {from: stuck, to: working}
prompts:
  worker: \"Do {summary}.\"
";

const REVIEW: &str = "  - {from: agent-review, to: done}\n";

fn compiled(text: &str) -> Compilation {
    compile(&Source::new("flow.yml", text))
}

/// Every finding as `CODE level «place» message`.
fn findings(text: &str) -> Vec<String> {
    let found = compiled(text).diagnostics;
    let show = |it: &orange_codegen::Diagnostic| {
        format!("{} {} «{}» {}", it.code(), it.level.as_str(), &text[it.span.range()], it.message)
    };
    found.iter().map(show).collect()
}

#[track_caller]
fn check(text: &str, expect: &[&str]) {
    assert_eq!(findings(text), expect, "{text}");
}

/// The sound workflow with `line` in the place of `old`.
#[track_caller]
fn changed(old: &str, line: &str, expect: &[&str]) {
    assert!(SOUND.contains(old), "{old}");
    check(&SOUND.replacen(old, line, 1), expect);
}

/// The sound workflow with more lines at its end.
#[track_caller]
fn added(lines: &str, expect: &[&str]) {
    check(&format!("{SOUND}{lines}"), expect);
}

/// The labels of the only finding, each as `«place» message`, and its help.
#[track_caller]
fn story(text: &str, labels: &[&str], help: &str) {
    let found = compiled(text).diagnostics;
    let [it] = &found[..] else { panic!("{found:#?}") };
    let seen: Vec<String> =
        it.labels.iter().map(|label| format!("«{}» {}", &text[label.span.range()], label.message)).collect();
    assert_eq!(seen, labels, "{text}");
    assert_eq!(it.help.as_deref(), Some(help), "{text}");
}

#[test]
fn the_sound_workflow_is_sound() {
    check(SOUND, &[]);
    assert!(compiled(SOUND).checked.is_some());
}

#[test]
fn the_same_workflow_in_toml_is_sound_too() {
    let text = r#"
name = "flow"
[states]
pending = {}
working = { respawn_prompt = "worker" }
done = { terminal = true }
[[transitions]]
from = ["pending", "working"]
to = "done"
when = "review_round < 2"
[prompts]
worker = """
Do {summary}.
"""
"#;
    let compilation = compile(&Source::new("flow.toml", text));
    assert!(compilation.diagnostics.is_empty(), "{:#?}", compilation.diagnostics);
    let workflow = compilation.checked.as_ref().and_then(|it| it.workflow()).expect("a state machine");
    assert_eq!(workflow.transitions.len(), 2);
}

#[test]
fn s01_stops_at_broken_syntax_and_says_one_thing() {
    check("name: flow\nstates: [\n", &["S01 error «[» this `[` is never closed"]);
    check("name: \"flow\nstates: {}\n", &["S01 error «\"» this \" is never closed"]);
}

#[test]
fn s02_names_the_key_that_was_meant() {
    changed(
        "prompts:",
        "promts:",
        &[
            "A05 error «worker» unknown prompt `worker`",
            "S02 error «promts» unknown key `promts` in a workflow",
        ],
    );
    changed(
        "{from: pending, to: working}",
        "{from: pending, too: working}",
        &[
            "S09 error «{from: pending, too: working}» a transition needs the key `to`",
            "S02 error «too» unknown key `too` in a transition",
        ],
    );
    story(&SOUND.replace("version", "verison"), &[], "did you mean `version`?");
}

#[test]
fn s03_shows_both() {
    let text = SOUND.replace("  stuck: {}", "  stuck: {}\n  working: {}");
    check(&text, &["S03 error «working» `working` stands here a second time"]);
    story(
        &text,
        &["«working» the first one", "«working» the second one"],
        "delete one of the two, or give it another name",
    );
    added("version: 1\n", &["S03 error «version» `version` stands here a second time"]);
}

#[test]
fn s04_says_what_is_wanted() {
    changed(
        "terminal: true",
        "terminal: \"true\"",
        &["S04 error «\"true\"» `terminal` takes true or false, and this is the text `true`"],
    );
    changed(
        "version: 1",
        "version: 1\ndescription: [a]",
        &["S04 error «[a]» `description` takes text, and this is a list"],
    );
    changed(
        "  stuck: {}",
        "  stuck: false",
        &["S04 error «false» a state is a mapping, and this is `false`"],
    );
    changed(
        REVIEW,
        "  - from agent-review\n",
        &["S04 error «from agent-review» a transition is a mapping, and this is `from agent-review`"],
    );
    changed(
        REVIEW,
        "  - {from: agent-review, to: done, by: [worker, robot]}\n",
        &["S04 error «robot» unknown value `robot` of `by`"],
    );
    changed("{summary}", "{summary}\\\n  x", &[]);
    check("name: flow\nstates: {}\n", &["S04 error «states» a workflow has at least one state"]);
    check("name: flow\nstates: []\n", &["S04 error «[]» `states` is a mapping, and this is a list"]);
}

#[test]
fn s04_names_have_a_form_that_rust_can_spell() {
    let error = |name: &str| format!("S04 error «{name}» `{name}` is no name for a state");
    for name in ["Δ", "2nd", "a.b", "-a", "_a", "a b"] {
        changed("  stuck: {}", &format!("  stuck: {{}}\n  {name}: {{}}"), &[&error(name)]);
    }
    for name in ["type", "self", "Self", "match", "A-b_2"] {
        changed("  stuck: {}", &format!("  stuck: {{}}\n  {name}: {{}}"), &[]);
    }
    changed(
        "name: flow",
        "name: My Flow",
        &[
            "S04 error «My Flow» `My Flow` is no name for a workflow",
            "S06 warn «My Flow» the workflow `My Flow` is in a file named `flow`",
        ],
    );
}

#[test]
fn s04_counters_are_the_engines_own() {
    changed(
        "version: 1",
        "fields: {tries: 0, review_round: 1, Tries: 0, status: 0, m: -1}",
        &[
            "S04 error «review_round» the counter `review_round` is always there",
            "S04 error «Tries» `Tries` is no name for a counter",
            "S04 error «status» the frontmatter of a task has another `status`",
            "S04 error «-1» `m` takes a whole number, and this is `-1`",
        ],
    );
}

/// The sound workflow with these hooks on one transition.
fn with_hooks(hooks: &str) -> String {
    let transition = format!("  - from: agent-review\n    to: done\n    hooks:\n{hooks}");
    SOUND.replace(REVIEW, &transition)
}

#[test]
fn every_action_has_exactly_its_parameters() {
    let all = "      - action: acquire_workspace
      - action: release_workspace
      - {action: spawn_agent, prompt: worker, harness: review, permissions: reduced, increment: crash_count}
      - {action: spawn_reviewer, prompt: worker}
      - action: kill_session
      - action: kill_reviewer
      - {action: notify_worker, message: read it}
      - action: spawn_next
      - action: push_branch
      - action: create_pr
      - action: delete_remote_branch
      - {action: increment, field: review_round}
      - action: increment_review_round
      - {action: set_field, field: note, value: 1}
      - {action: notify, message: look}
      - {action: run_command, argv: [cargo, test, 1], timeout: 5}
";
    check(&with_hooks(all), &[]);
    let compilation = compiled(&with_hooks(all));
    let workflow = compilation.checked.as_ref().and_then(|it| it.workflow()).expect("a state machine");
    let hooks: usize = workflow.transitions.iter().map(|it| it.hooks.len()).sum();
    assert_eq!(hooks, 16);
    check(
        &with_hooks("      - {action: kill_sesion}\n"),
        &["S04 error «kill_sesion» unknown action `kill_sesion`"],
    );
    check(
        &with_hooks("      - {action: kill_session, prompt: worker}\n"),
        &["S02 error «prompt» unknown key `prompt` in kill_session"],
    );
    check(
        &with_hooks("      - {action: spawn_agent}\n"),
        &["S09 error «{action: spawn_agent}» spawn_agent needs the key `prompt`"],
    );
    check(
        &with_hooks("      - {action: spawn_agent, prompt: worker, harness: tasks, increment: round}\n"),
        &[
            "S04 error «tasks» unknown value `tasks` of `harness`",
            "S04 error «round» unknown counter `round`",
        ],
    );
    check(
        &with_hooks("      - {action: set_field, field: status, value: x}\n"),
        &["S04 error «status» `status` belongs to the engine; a hook cannot set it"],
    );
    check(
        &with_hooks("      - {action: run_command, argv: []}\n"),
        &["S04 error «[]» `argv` names no program"],
    );
    check(
        &with_hooks("      - kill_session\n"),
        &["S04 error «kill_session» a hook is a mapping, and this is `kill_session`"],
    );
}

#[test]
fn s04_gates_ask_for_what_can_be_there() {
    let gate =
        |gate: &str| SOUND.replace(REVIEW, &format!("  - {{from: agent-review, to: done, gate: {gate}}}\n"));
    check(&gate("{section: \"## Review\", verdict: PASS, strict: true, fresh: true}"), &[]);
    check(&gate("{section: \"## Handoff\", fields: [DONE, REMAINING]}"), &[]);
    check(
        &gate("{section: Review, required: true}"),
        &["S04 error «Review» `section` takes a heading of one line"],
    );
    check(
        &gate("{section: \"## Review\", verdict: pass}"),
        &["S04 error «pass» unknown value `pass` of `verdict`"],
    );
    check(
        &gate("{section: \"## Review\", strict: true}"),
        &["S04 error «strict» `strict` says how a verdict is written, and this gate asks for none"],
    );
    check(
        &gate("{section: \"## Review\", fields: [DONE:, B]}"),
        &["S04 error «DONE:» `fields` takes text, and this is a mapping"],
    );
    check(&gate("{required: true}"), &["S09 error «{required: true}» a gate needs the key `section`"]);
}

#[test]
fn s04_a_heading_without_quotes_is_a_comment() {
    let text =
        SOUND.replace(REVIEW, "  - from: agent-review\n    to: done\n    gate:\n      section: ## Review\n");
    story(&text, &[], "`#` begins a comment; write `section: \"## Review\"`");
}

#[test]
fn s05_knows_one_version() {
    for version in ["2", "0", "1.0", "\"1.1\"", "one"] {
        let shown = version.trim_matches('"');
        let message =
            format!("S05 error «{version}» version `{shown}` of the workflow language is not supported");
        changed("version: 1", &format!("version: {version}"), &[&message]);
    }
    changed("version: 1\n", "", &[]);
}

#[test]
fn s06_a_name_is_found_in_one_file() {
    changed(
        "name: flow",
        "name: other",
        &["S06 warn «other» the workflow `other` is in a file named `flow`"],
    );
    let sources: Vec<Source> =
        ["a/flow.yml", "b/flow.yml", "c/flow.yml"].map(|path| Source::new(path, SOUND)).to_vec();
    let compiled: Vec<Compilation> = sources.iter().map(compile).collect();
    let files: Vec<_> = sources.iter().zip(&compiled).collect();
    let found = check::same_name(&files);
    let seen: Vec<_> = found.iter().map(|(file, it)| (*file, it.level, it.message.as_str())).collect();
    let message = "the workflow `flow` is already defined in a/flow.yml";
    assert_eq!(seen, [(1, Level::Error, message), (2, Level::Error, message)]);
}

#[test]
fn s07_warns_of_what_other_readers_take_it_for() {
    changed(
        "version: 1",
        "version: 1\ndescription: off",
        &["S07 warn «off» `off` is text here, and a truth value to readers of YAML 1.1"],
    );
    changed(
        "version: 1",
        "fields: {tries: 010}",
        &["S07 warn «010» readers of YAML 1.1 take `010` for an octal number"],
    );
    changed("version: 1", "version: &v 1", &["S07 warn «&v» the anchor `&v` is never used"]);
    changed(
        "version: 1",
        "description: *v",
        &["S07 error «*v» the alias `*v` names an anchor that is not defined before it"],
    );
}

#[test]
fn s08_what_is_no_workflow() {
    for (text, place, message) in [
        ("", "", "this file is empty"),
        ("# a comment\n", "", "this file is empty"),
        ("just text\n", "just text", "this file holds no workflow"),
        ("- a\n- b\n", "- a", "this file holds no workflow"),
        ("name: ci\njobs: {}\n", "name: ci", "this file holds no workflow"),
        ("stages: [a]\n", "stages: [a]", "this file holds no workflow"),
    ] {
        check(text, &[&format!("S08 error «{place}» {message}")]);
        assert!(!compiled(text).recognised, "{text}");
    }
    assert!(compiled("states: {a: {}}\n").recognised && compiled("name: a\nstaets: {}\n").recognised);
}

#[test]
fn s09_what_is_missing() {
    changed("name: flow\n", "", &["S09 error «version: 1» a workflow needs the key `name`"]);
    check("name: flow\ntransitions: []\n", &["S09 error «name: flow» a workflow needs the key `states`"]);
    added(
        "exit_monitoring: {rules: [{status: working}]}\n",
        &["S09 error «status: working» an exit rule says what happens: `then`, `then_when` or `action`"],
    );
}

#[test]
fn s10_too_many_states_and_transitions() {
    let states: String = (0..10_001).map(|it| format!("  s{it}: {{}}\n")).collect();
    check(
        &format!("name: flow\nstates:\n{states}"),
        &["S10 error «states» too many states: the limit is 10 000"],
    );
    let all: Vec<String> = (0..317).map(|it| format!("s{it}")).collect();
    let all = all.join(", ");
    let states: String = (0..317).map(|it| format!("  s{it}: {{}}\n")).collect();
    let transitions: String = (0..317).map(|it| format!("  - {{from: [{all}], to: s{it}}}\n")).collect();
    check(
        &format!("name: flow\nstates:\n{states}transitions:\n{transitions}"),
        &["S10 error «transitions» too many transitions: the limit is 100 000"],
    );
}

#[test]
fn a01_to_a06_and_a12_unknown_names() {
    changed(REVIEW, "  - {from: agent-review, to: dnoe}\n", &["A01 error «dnoe» unknown state `dnoe`"]);
    changed(
        REVIEW,
        "  - {from: [agent-review, wroking], to: done}\n",
        &["A02 error «wroking» unknown state `wroking`"],
    );
    changed("respawn_prompt: worker", "respawn_prompt: workr", &["A05 error «workr» unknown prompt `workr`"]);
    check(
        &with_hooks("      - {action: spawn_agent, prompt: wroker}\n"),
        &["A04 error «wroker» unknown prompt `wroker`"],
    );
    added(
        "exit_monitoring: {rules: [{status: working, then: agent_review}]}\n",
        &["A06 error «agent_review» unknown state `agent_review`"],
    );
    added(
        "exit_monitoring: {rules: [{status: workin, action: mark_dead}]}\n",
        &["A12 error «workin» unknown state `workin`"],
    );
    added(
        "initial: pendin\ncommands: {crash: stuk}\n",
        &["A12 error «pendin» unknown state `pendin`", "A12 error «stuk» unknown state `stuk`"],
    );
    story(&SOUND.replace(REVIEW, "  - {from: agent-review, to: dnoe}\n"), &[], "did you mean `done`?");
    story(
        &SOUND.replace(REVIEW, "  - {from: agent-review, to: shipped}\n"),
        &[],
        "the states are `pending`, `working`, `agent-review`, `stuck`, `done`",
    );
}

#[test]
fn a03_leaves_a_terminal_state() {
    let text = format!(
        "{}  - {{from: done, to: working}}\nprompts: {{worker: x}}\n",
        SOUND.split("prompts:").next().expect("a head")
    );
    check(&text, &["A03 error «done» a transition leaves the terminal state `done`"]);
    story(
        &text,
        &["«done» declared terminal here", "«done» left here, for `working`"],
        "delete this transition, or `terminal: true` of `done`",
    );
}

/// The sound workflow with several ways from review to done.
fn ways(ways: &[&str]) -> String {
    let lines: Vec<String> =
        ways.iter().map(|it| format!("  - {{from: agent-review, to: done{it}}}\n")).collect();
    SOUND.replace(REVIEW, &lines.concat())
}

#[test]
fn a07_two_that_can_both_fire() {
    let text = ways(&[", when: \"review_round <= 2\"", ", when: 'review_round >= 2 && crash_count == 0'"]);
    check(
        &text,
        &[
            "A07 error «review_round >= 2 && crash_count == 0» two transitions `agent-review → done` can both fire: \
         review_round = 2 and crash_count = 0, and only there",
        ],
    );
    story(
        &text,
        &[
            "«review_round <= 2» fires when review_round <= 2",
            "«review_round >= 2 && crash_count == 0» fires when review_round >= 2 && crash_count == 0",
        ],
        "change one `when` so that no counter values satisfy both",
    );
    check(&ways(&[", when: \"review_round < 2\"", ", when: \"review_round >= 2\""]), &[]);
}

#[test]
fn a07_gates_do_not_choose_and_neither_does_nothing() {
    let gate = |verdict| format!(", gate: {{section: \"## R\", verdict: {verdict}}}");
    let (pass, fail) = (gate("PASS"), gate("FAIL"));
    let found = findings(&ways(&[&pass, &fail]));
    assert_eq!(found.len(), 1);
    assert!(
        found[0].ends_with("two transitions `agent-review → done` always both fire: neither has a `when`")
    );
    let found = findings(&ways(&["", "", ", when: \"review_round > 0\""]));
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found[1].ends_with("can both fire: review_round >= 1 (for example 1)"), "{found:#?}");
}

#[test]
fn a08_points_into_the_string() {
    let when = |when: &str| ways(&[&format!(", when: {when}")]);
    check(&when("\"review_round =< 2\""), &["A08 error «=<» expected a comparison, found `=<`"]);
    check(
        &when("'review_rounds < 2 && crash < 1'"),
        &[
            "A08 error «review_rounds» unknown counter `review_rounds`",
            "A08 error «crash» unknown counter `crash`",
        ],
    );
    let long = "9".repeat(40);
    check(
        &when(&format!("\"\\u0072eview_round < {long}\"")),
        &[&format!("A08 error «{long}» the integer {long} does not fit a counter")],
    );
    check(&when("\"\""), &["A08 error «» the clause is empty"]);
    check(&when("true"), &["S04 error «true» `when` takes text, and this is `true`"]);
    story(
        &when("\"rounds < 2\""),
        &[],
        "the counters are `review_round`, `crash_count`; or declare it: `fields: {rounds: 0}`",
    );
}

/// The sound workflow with a `then_when` of these clauses.
fn choice(clauses: &[&str]) -> String {
    let clauses: Vec<String> = clauses.iter().map(|it| format!("{{when: \"{it}\", then: stuck}}")).collect();
    format!("{SOUND}exit_monitoring: {{rules: [{{status: working, then_when: [{}]}}]}}\n", clauses.join(", "))
}

#[test]
fn a09_exactly_one_clause_holds() {
    check(&choice(&["review_round < 2", "review_round >= 2"]), &[]);
    check(
        &choice(&["review_round < 2", "review_round > 2"]),
        &["A09 error «review_round < 2» no `then_when` clause holds: review_round = 2, and only there"],
    );
    check(
        &choice(&["review_round < 3", "review_round > 1"]),
        &[
            "A09 error «review_round > 1» two `then_when` clauses hold at once: review_round = 2, and only there",
        ],
    );
    check(
        &choice(&["review_round < 2 && crash_count < 3", "review_round < 1", "review_round > 4"]),
        &[
            "A09 error «review_round < 2 && crash_count < 3» no `then_when` clause holds: review_round = 1 to 4 \
         and crash_count >= 3, among others (for example review_round = 1, crash_count = 3)",
            "A09 error «review_round < 1» two `then_when` clauses hold at once: review_round = 0 and crash_count <= 2 \
         (for example review_round = 0, crash_count = 0)",
        ],
    );
}

#[test]
fn a09_is_asked_even_where_a_target_is_unknown() {
    let text = choice(&["review_round < 2", "review_round > 2"]).replacen("then: stuck", "then: stcuk", 1);
    check(
        &text,
        &[
            "A09 error «review_round < 2» no `then_when` clause holds: review_round = 2, and only there",
            "A06 error «stcuk» unknown state `stcuk`",
        ],
    );
}

#[test]
fn a10_is_never_silence() {
    let names: Vec<String> = (0..20).map(|it| format!("n{it}")).collect();
    let fields = names.iter().map(|it| format!("{it}: 0")).collect::<Vec<_>>().join(", ");
    let all = names.iter().map(|it| format!("{it} > 0")).collect::<Vec<_>>().join(" && ");
    let text = ways(&[&format!(", when: \"{all}\""), ", when: \"n0 == 0\""]);
    let text = text.replace("version: 1", &format!("fields: {{{fields}}}"));
    let compilation = compiled(&text);
    let seen: Vec<_> = compilation.diagnostics.iter().map(|it| (it.code(), it.level)).collect();
    assert_eq!(seen, [("A10", Level::Warn)]);
}

#[test]
fn a11_two_names_that_rust_spells_alike() {
    changed(
        "  stuck: {}",
        "  stuck: {}\n  agent_review: {}",
        &[
            "A11 error «agent_review» the states `agent-review` and `agent_review` have the same name in Rust: `AgentReview`",
        ],
    );
    added(
        "  Worker: x\n",
        &["A11 error «Worker» the prompts `worker` and `Worker` have the same name in Rust: `Worker`"],
    );
}

#[test]
fn c40_and_c46_an_exit_takes_a_declared_transition() {
    added(
        "exit_monitoring: {rules: [{status: working, then: done}]}\n",
        &["C40 deny «done» this exit rule leads to `done`, but no transition `working → done` is declared"],
    );
    added("exit_monitoring: {rules: [{status: working, action: crash}]}\n", &[]);
    added(
        "exit_monitoring: {rules: [{status: pending, action: crash, stuck_after: 1}]}\n",
        &["C46 warn «crash» after 1 crash in `pending` the engine moves to `stuck`, but no transition \
         `pending → stuck` is declared"],
    );
    added(
        "commands: {crash: agent-review}\nexit_monitoring: {rules: [{status: working, action: crash}]}\n",
        &[],
    );
    added(
        "commands: {crash: agent-revew}\nexit_monitoring: {rules: [{status: pending, action: crash}]}\n",
        &["A12 error «agent-revew» unknown state `agent-revew`"],
    );
}

#[test]
fn c40_is_not_asked_where_a_transition_was_not_understood() {
    let rule = "exit_monitoring: {rules: [{status: working, then: done}]}\n";
    let text = SOUND.replace(REVIEW, "  - {from: agent-review, to: done}\n  - {from: working, to: dnoe}\n");
    check(&format!("{text}{rule}"), &["A01 error «dnoe» unknown state `dnoe`"]);
    let text = SOUND
        .replace(REVIEW, "  - {from: agent-review, to: done}\n  - {from: working, to: done, when: \"x\"}\n");
    let found = findings(&format!("{text}{rule}"));
    assert!(found.len() == 1 && found[0].starts_with("A08"), "{found:#?}");
}

#[test]
fn c4d_thresholds_begin_at_one() {
    added(
        "exit_monitoring: {poll_interval: 0, rules: [{status: working, action: crash, stuck_after: 0}]}\n",
        &["C4D deny «0» `poll_interval: 0` has no meaning", "C4D deny «0» `stuck_after: 0` has no meaning"],
    );
}

#[test]
fn exit_rules_say_one_thing() {
    let rule = |rule: &str| format!("{SOUND}exit_monitoring: {{rules: [{{status: working, {rule}}}]}}\n");
    check(
        &rule("then: stuck, action: crash"),
        &["S04 error «action» `then` and `action` exclude each other"],
    );
    check(
        &rule("no_artifact: true, has_artifact: {section: \"## A\"}, then: stuck"),
        &["S04 error «no_artifact» `has_artifact` and `no_artifact` exclude each other"],
    );
    check(
        &rule("action: mark_dead, respawn: true"),
        &["S04 error «respawn» `respawn` belongs to `action: crash`, and this rule counts no crash"],
    );
    check(&rule("then_when: []"), &["S04 error «[]» `then_when` has no clause"]);
    check(&rule("action: crsh"), &["S04 error «crsh» unknown value `crsh` of `action`"]);
}

#[test]
fn c84_unknown_placeholders() {
    changed(
        "Do {summary}.",
        "é \\u00e9 {sumary} {review_round} {{x}} {x y}",
        &["C84 warn «{sumary}» unknown placeholder `{sumary}`: agents will read it as it stands"],
    );
    let text = SOUND.replace("worker: \"Do {summary}.\"", "worker: >-\n    Do this:\n\n    {sumary}\n");
    story(&text, &[], "did you mean `{summary}`? To write braces, double them: `{{sumary}}`");
}

#[test]
fn step_workflows_have_a_schema() {
    let toml = |text: &str| {
        let compilation = compile(&Source::new("flow.toml", text));
        let found = compilation.diagnostics.iter();
        found
            .map(|it| format!("{} «{}» {}", it.code(), &text[it.span.range()], it.message))
            .collect::<Vec<_>>()
    };
    let sound = "[workflow]\nname = \"flow\"\n[[steps]]\nid = \"a\"\nprompt_file = \"a.md\"\n";
    assert_eq!(toml(sound), Vec::<String>::new());
    assert_eq!(
        toml(&sound.replace("id =", "di =")),
        ["S09 «[[steps]]» a step needs the key `id`", "S02 «di» unknown key `di` in a step",]
    );
    assert_eq!(
        toml(&format!("{sound}max_retries = \"3\"\ndepends_on = \"b\"\n")),
        [
            "S04 «\"3\"» `max_retries` takes a whole number, and this is the text `3`",
            "S04 «\"b\"» `depends_on` takes a list, and this is the text `b`",
        ]
    );
    assert_eq!(toml("[workflow]\nname = \"flow\"\n"), ["S08 «[workflow]» this file holds no workflow"]);
}

#[test]
fn crlf_and_a_byte_order_mark_change_nothing() {
    let text = format!("\u{feff}{}", ways(&[", when: \"review_round =< 2\""]).replace('\n', "\r\n"));
    check(&text, &["A08 error «=<» expected a comparison, found `=<`"]);
    let sound = format!("\u{feff}{}", SOUND.replace('\n', "\r\n"));
    let hash = |text: &str| compiled(text).checked.map(|it| it.hash().to_owned());
    assert_eq!(hash(&sound), hash(SOUND));
}

#[test]
fn one_run_finds_everything_and_twice_the_same() {
    let text = ways(&[", when: \"x < 1\"", ", when: \"review_round =< 1\""])
        .replace("name: flow", "nam: flow")
        .replace("  stuck: {}", "  stuck: {terminal: maybe}\n  Δ: {}");
    let codes: Vec<String> = findings(&text).iter().map(|it| it[..3].to_owned()).collect();
    assert_eq!(codes, ["S02", "S09", "S04", "S04", "A08", "A08"]);
    assert_eq!(findings(&text), findings(&text));
}
