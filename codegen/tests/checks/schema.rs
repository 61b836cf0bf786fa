//! Group S, hooks, prompts and step workflows.

use orange_codegen::recognise::WorkflowKind;
use orange_codegen::{Compilation, Level, Likeness, Source, check as checks, compile, lower};

use super::{REVIEW, SOUND, added, changed, check, compiled, story, with_hooks};

#[test]
fn s01_stops_at_broken_syntax_and_says_one_thing() {
    check("name: flow\nstates: [\n", &["S01 error «[» this `[` is never closed"]);
    check("name: \"flow\nstates: {}\n", &["S01 error «\"» this \" is never closed"]);
}

#[test]
fn s02_names_the_key_that_was_meant() {
    changed("prompts:", "promts:", &["S02 error «promts» unknown key `promts` in a workflow"]);
    changed(
        "{from: pending, to: working}",
        "{from: pending, too: working}",
        &["S02 error «too» unknown key `too` in a transition"],
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
    let error = |name: &str| format!("S04 error «{name}» `{name}` is not a name for a state");
    for name in ["Δ", "2nd", "a.b", "-a", "_a", "a b"] {
        changed("  stuck: {}", &format!("  stuck: {{}}\n  {name}: {{}}"), &[&error(name)]);
    }
    for name in ["type", "self", "Self", "match", "A-b_2"] {
        changed("  stuck: {}", &format!("  stuck: {{}}\n  {name}: {{}}"), &[]);
    }
    changed("name: flow", "name: My Flow", &["S04 error «My Flow» `My Flow` is not a name for a workflow"]);
}

#[test]
fn s04_counters_are_the_engines_own() {
    changed(
        "version: 1",
        "fields: {tries: 0, review_round: 1, Tries: 0, status: 0, m: -1}",
        &[
            "S04 error «review_round» the counter `review_round` is always there",
            "S04 error «Tries» `Tries` is not a name for a counter",
            "S04 error «status» the frontmatter of a task has another `status`",
            "S04 error «-1» `m` takes a whole number, and this is `-1`",
        ],
    );
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
      - {action: increment_review_round, on_failure: stop}
      - {action: set_field, field: note, value: 1}
      - {action: notify, message: look}
      - {action: run_command, argv: [cargo, test, 1], timeout: 5, on_failure: go-on}
";
    check(&with_hooks(all), &[]);
    let compilation = compiled(&with_hooks(all));
    let workflow =
        lower::state_machine(compilation.checked.as_ref().expect("sound")).expect("a state machine");
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
        &with_hooks("      - {action: push_branch, on_failure: wait}\n"),
        &["S04 error «wait» unknown value `wait` of `on_failure`"],
    );
    check(
        &with_hooks("      - kill_session\n"),
        &["S04 error «kill_session» a hook is a mapping, and this is `kill_session`"],
    );
}

#[test]
fn s04_gates_of_one_list_all_hold() {
    let gate =
        |gate: &str| SOUND.replace(REVIEW, &format!("  - {{from: agent-review, to: done, gate: {gate}}}\n"));
    let review = "{section: \"## Review\", verdict: PASS}";
    check(&gate(&format!("{{all: [{review}, {{section: \"## Notes\"}}]}}")), &[]);
    check(&gate("{all: []}"), &["S04 error «[]» `all` names no gate"]);
    check(
        &gate(&format!("{{all: [{review}, {review}]}}")),
        &[&format!("S04 error «{review}» `all` has this gate twice")],
    );
    let other = "{section: \"## Review\", verdict: FAIL}";
    check(
        &gate(&format!("{{all: [{review}, {other}]}}")),
        &[&format!("S04 error «{other}» `all` asks `## Review` for two verdicts, and it has one")],
    );
    check(
        &gate(&format!("{{all: [{{all: [{review}]}}]}}")),
        &[&format!(
            "S04 error «{{all: [{review}]}}» `all` stands in a `gate` or a `has_artifact`, not inside another gate"
        )],
    );
    check(&gate(&format!("[{review}]")), &["S04 error «gate» `gate` takes one gate, and this is a list"]);
}

#[test]
fn a17_a_gate_has_a_name_that_is_declared() {
    let named = |gates: &str, gate: &str| {
        SOUND
            .replace(REVIEW, &format!("  - {{from: agent-review, to: done, gate: {gate}}}\n"))
            .replace("states:", &format!("{gates}states:"))
    };
    let handoff = "gates: {handoff: {section: \"## Handoff\"}}\n";
    check(&named(handoff, "handoff"), &[]);
    check(&named(handoff, "{all: [handoff, {section: \"## Notes\"}]}"), &[]);
    check(
        &named(handoff, "{all: [handoff, {section: \"## Handoff\"}]}"),
        &["S04 error «{section: \"## Handoff\"}» `all` has this gate twice"],
    );
    let text = named(handoff, "handof");
    check(&text, &["A17 error «handof» unknown gate `handof`"]);
    story(&text, &[], "did you mean `handoff`?");
    story(&named("", "handoff"), &[], "write it under `gates:` as `handoff: {section: …}`");
    story(&named(handoff, "\"## Handoff\""), &[], "write `{section: \"## Handoff\"}`");
    check(
        &named("gates: {both: {all: [{section: \"## A\"}]}}\n", "both"),
        &[
            "S04 error «{all: [{section: \"## A\"}]}» `all` stands in a `gate` or a `has_artifact`, not inside another gate",
        ],
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
    for of in ["patch", "commit"] {
        check(&gate(&format!("{{section: \"## Review\", verdict: PASS, strict: true, of: {of}}}")), &[]);
    }
    check(
        &gate("{section: \"## Review\", verdict: PASS, of: work}"),
        &["S04 error «work» unknown value `work` of `of`"],
    );
    check(
        &gate("{section: \"## Review\", of: patch}"),
        &["S04 error «of» `of` says of which work a verdict is, and this gate asks for none"],
    );
    check(
        &gate("{section: \"## Review\", verdict: PASS, of: patch, fresh: true}"),
        &[
            "S04 error «of» `of` says of which work an earlier verdict may be, and `fresh` takes no earlier one",
        ],
    );
    check(
        &gate("{section: \"## Review\", fields: [DONE:, B]}"),
        &["S04 error «DONE:» `fields` takes text, and this is a mapping"],
    );
    check(&gate("{required: true}"), &["S09 error «{required: true}» a gate needs the key `section`"]);
    check(&gate("{section: \"## Handoff\", fields: {all: [DONE, REMAINING]}}"), &[]);
    check(&gate("{section: \"## Handoff\", fields: {all: []}}"), &["S04 error «[]» `all` names no field"]);
}

#[test]
fn s04_a_heading_without_quotes_is_a_comment() {
    let text =
        SOUND.replace(REVIEW, "  - from: agent-review\n    to: done\n    gate:\n      section: ## Review\n");
    story(&text, &[], "`#` begins a comment; write `section: \"## Review\"`");
}

#[test]
fn s05_versions_count_from_one() {
    for version in ["0", "01", "-1", "1.0", "\"1.1\"", "one", "4294967296"] {
        let shown = version.trim_matches('"');
        let message = format!("S05 error «{version}» `{shown}` is not a version: versions count from 1");
        changed("version: 1", &format!("version: {version}"), &[&message]);
    }
    for version in ["2", "\"2\"", "4294967295"] {
        changed("version: 1", &format!("version: {version}"), &[]);
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
    let found = checks::same_name(&files);
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
        assert!(compiled(text).likeness == Likeness::Other, "{text}");
    }
    assert_eq!(compiled("states: {a: {}}\n").likeness, Likeness::Workflow(WorkflowKind::Machine));
    assert_eq!(compiled("name: a\nstaets: {}\n").likeness, Likeness::Almost(WorkflowKind::Machine));
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
    check(
        &format!("name: flow\nstates:\n{states}transitions:\n  - {{from: [{all}], to: [{all}]}}\n"),
        &["S10 error «transitions» too many transitions: the limit is 100 000"],
    );
}

#[test]
fn s10_too_many_hooks() {
    let flow = |names: usize, hooks: usize| {
        let all: Vec<String> = (0..names).map(|it| format!("s{it}")).collect();
        let states: String = all.iter().map(|it| format!("  {it}: {{}}\n")).collect();
        let (from, hooks) = (all.join(", "), vec!["{action: push_branch}"; hooks].join(", "));
        let transition = |to| format!("  - {{from: [{from}], to: {to}, hooks: [{hooks}]}}\n");
        format!(
            "name: flow\nstates:\n{states}transitions:\n{}",
            all.iter().map(transition).collect::<String>()
        )
    };
    check(&flow(1, 101), &["S10 error «hooks» too many hooks: the limit is 100"]);
    check(&flow(72, 100), &["S10 error «transitions» too many hooks: the limit is 500 000"]);
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
    let sound = "[workflow]\nname = \"flow\"\n[[steps]]\nid = \"a\"\nprompt = \"do it\"\n";
    assert_eq!(toml(sound), Vec::<String>::new());
    assert_eq!(toml(&sound.replace("id =", "di =")), ["S02 «di» unknown key `di` in a step"]);
    assert_eq!(
        toml(&format!("{sound}max_retries = \"3\"\ndepends_on = \"b\"\n")),
        [
            "S04 «\"3\"» `max_retries` takes a whole number, and this is the text `3`",
            "S04 «\"b\"» `depends_on` takes a list, and this is the text `b`",
        ]
    );
    assert_eq!(
        toml(&format!(
            "{sound}max_retries = 1001\nstuck_after = 0\ntimeout = -1\nresults = [\"a\", \"1\", \"a\"]\n"
        )),
        [
            "S04 «1001» `max_retries` takes a number from 0 to 1000, and this is 1001",
            "S04 «0» `stuck_after` takes a number from 1 to 1000, and this is 0",
            "S04 «-1» `timeout` takes a whole number, and this is `-1`",
            "S04 «\"1\"» `1` is not a name for a result",
            "S04 «\"a\"» `a` stands here a second time",
        ]
    );
    let back = "[[steps]]\nid = \"b\"\nprompt = \"fix it\"\ndepends_on = [\"a\"]\nrequeue = [\"a\"]\nmax_retries = 2000\n";
    assert_eq!(
        toml(&format!("{sound}{back}")),
        ["S04 «2000» `max_retries` takes a number from 0 to 1000, and this is 2000"]
    );
    assert_eq!(toml("[workflow]\nname = \"flow\"\n"), ["S08 «[workflow]» this file holds no workflow"]);
}
