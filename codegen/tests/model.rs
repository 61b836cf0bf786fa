//! The model: what is filled in where the author says nothing.

#![expect(clippy::expect_used, reason = "a test whose workflow does not compile has failed")]

use std::collections::BTreeMap;
use std::path::Path;

use orange_codegen::model::{
    Action, Actor, Actors, Condition, CounterId, Definition, Hook, Outcome, Permissions, PromptPiece, Role,
    StateId, StepId, Value, Wait, Workflow,
};
use orange_codegen::syntax::{parse, parse_tolerant};
use orange_codegen::{
    Compilation, Edit, PromptFiles, Source, Span, catalogue, compile, compile_recovered, lower, suppress,
};

#[track_caller]
fn workflow(text: &str) -> Workflow {
    let compilation = compile(&Source::new("flow.yml", text));
    let checked = compilation.checked.unwrap_or_else(|| panic!("{:#?}", compilation.diagnostics));
    lower::state_machine(&checked).expect("a state machine").clone()
}

fn default() -> Workflow {
    workflow(include_str!("../../tests/fixtures/seed-default.yml"))
}

fn name(workflow: &Workflow, state: Option<StateId>) -> Option<&str> {
    state.map(|it| workflow.states[usize::from(it.0)].name.value.as_str())
}

/// `spawn clarify review merge cancel crash`
fn commands(workflow: &Workflow) -> String {
    let it = workflow.commands;
    let all = [it.spawn, it.clarify, it.review, it.merge, it.cancel, it.crash];
    all.map(|it| name(workflow, it).unwrap_or("-")).join(" ")
}

#[test]
fn the_default_workflow_of_seed_000() {
    let it = default();
    assert_eq!((it.states.len(), it.transitions.len(), it.prompts.len()), (8, 18, 6));
    assert_eq!((it.exit_monitoring.rules.len(), it.exit_monitoring.poll_interval), (8, 30));
    assert_eq!(name(&it, Some(it.initial)), Some("pending"));
    assert_eq!(commands(&it), "working clarification agent-review done cancelled stuck");
    let entries: Vec<_> = it.states.iter().filter(|it| it.entry).map(|it| it.name.value.as_str()).collect();
    assert_eq!(entries, ["pending", "clarification", "agent-review", "reviewing"]);
    let counters: Vec<_> = it.counters.iter().map(|it| (it.name.as_str(), it.start)).collect();
    assert_eq!(counters, [("review_round", 0), ("crash_count", 0)]);
    assert!(it.transitions.iter().all(|it| it.by == Actors::ANYONE));
    let outcomes = it.exit_monitoring.rules.iter().map(|rule| match (&rule.condition, &rule.outcome) {
        (Condition::HasArtifact(_), Outcome::Then(_)) => "then",
        (Condition::HasArtifact(_), Outcome::ThenWhen(clauses)) if clauses.len() == 2 => "then_when",
        (Condition::NoArtifact, Outcome::Crash { stuck_after: 2, respawn: false, .. }) => "crash",
        (Condition::Always, Outcome::MarkDead) => "dead",
        _ => "?",
    });
    assert_eq!(outcomes.collect::<Vec<_>>().join(" "), "then crash then then_when crash dead dead dead");
    assert_eq!(it.prompts[0].pieces[1], PromptPiece::Value(Value::Summary));
    assert!(it.prompts[1].pieces.contains(&PromptPiece::Value(Value::Counter(CounterId(0)))));
}

#[test]
fn spawn_goes_where_the_initial_state_leads() {
    let with = |transitions: &str| {
        let head = "name: flow\nstates: {pending: {}, clarification: {}, planning: {}, working: {}}\n";
        let prompts = "prompts: {p: x}\n";
        let it = workflow(&format!("{head}transitions:\n{transitions}{prompts}"));
        name(&it, it.commands.spawn).map(str::to_owned)
    };
    let spawn =
        |to: &str| format!("  - {{from: pending, to: {to}, hooks: [{{action: spawn_agent, prompt: p}}]}}\n");
    assert_eq!(with(&spawn("working")).as_deref(), Some("working"));
    assert_eq!(with(&(spawn("planning") + &spawn("clarification"))).as_deref(), Some("planning"));
    assert_eq!(with(&(spawn("planning") + &spawn("working"))).as_deref(), Some("working"));
    assert_eq!(with("  - {from: pending, to: planning}\n").as_deref(), Some("working"));
}

#[test]
fn what_is_written_stands() {
    let it = workflow(
        "name: flow
initial: b
fields: {tries: 3, _x: 0}
commands: {spawn: a, crash: a, merge: c}
states:
  a: {description: the first}
  b: {entry: true}
  c: {terminal: true, wait: human}
transitions:
  - from: [a, b]
    to: c
    by: [human, reviewer]
    when: tries < 2
  - from: a
    to: b
    by: worker
    hooks:
      - {action: spawn_agent, prompt: p}
      - {action: spawn_reviewer, prompt: p, increment: tries}
      - {action: run_command, argv: [make, 1]}
prompts:
  p: 'a {{ {tries}'
",
    );
    assert_eq!(commands(&it), "a - - c - a");
    assert_eq!(it.initial, StateId(1));
    let entries: Vec<_> =
        it.states.iter().map(|it| (it.entry, it.wait.map(|it| it.value), it.terminal)).collect();
    assert_eq!(entries, [(false, None, false), (true, None, false), (false, Some(Wait::Human), true)]);
    let pairs: Vec<_> =
        it.transitions.iter().map(|it| (it.from.value.0, it.to.value.0, it.declaration)).collect();
    assert_eq!(pairs, [(0, 2, 0), (1, 2, 0), (0, 1, 1)]);
    assert_eq!(it.transitions[0].by, Actors::NONE.with(Actor::Human).with(Actor::Reviewer));
    assert_eq!(it.transitions[0].when.as_ref().map(|it| it.text.as_str()), Some("tries < 2"));
    let [worker, reviewer, command] = &it.transitions[2].hooks[..] else {
        panic!("{:#?}", it.transitions[2].hooks)
    };
    let started = |hook: &Hook| hook.spawn.as_ref().map(|it| (it.role, it.permissions));
    assert_eq!(started(worker), Some((Role::Worker, Permissions::Full)));
    assert_eq!(started(reviewer), Some((Role::Reviewer, Permissions::Reduced)));
    assert_eq!(reviewer.counter.map(|it| it.value), Some(CounterId(2)));
    assert_eq!(command.action, Action::RunCommand);
    assert_eq!((&command.argv[..], command.timeout), (&["make".to_owned(), "1".to_owned()][..], 60));
    assert_eq!(
        it.prompts[0].pieces,
        [PromptPiece::Text("a { ".to_owned()), PromptPiece::Value(Value::Counter(CounterId(2)))]
    );
}

#[test]
fn a_step_workflow_keeps_what_its_file_says() {
    let text = include_str!("../../tests/fixtures/dev-task.toml");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures");
    let source = Source::new("dev-task.toml", text).with_files(PromptFiles::Folder(folder));
    let checked = compile(&source).checked.expect("sound");
    let Definition::Steps(steps) = checked.definition() else { panic!("a step workflow") };
    let ids: Vec<_> = steps.steps.iter().map(|it| it.id.value.as_str()).collect();
    assert_eq!(ids, ["plan", "implement", "review", "fix", "pr"]);
    let roles: Vec<_> = steps.roles.iter().map(|it| it.value.as_str()).collect();
    assert_eq!(roles, ["any", "planner", "worker", "reviewer"]);
    let files: Vec<_> =
        steps.steps.iter().flat_map(|it| &it.prompt.files).map(|it| it.name.as_str()).collect();
    assert_eq!(files, ["do/plan.md", "do/implement.md", "do/review.md", "do/implement.md", "do/pr.md"]);
    let fix = &steps.steps[3];
    let condition = fix.condition.as_ref().expect("a condition");
    let compared = condition.equality().expect("a comparison");
    assert_eq!((compared.step.value, compared.value.value), (StepId(2), "FAIL"));
    assert_eq!(&text[compared.value.span.range()], "FAIL");
    assert_eq!(fix.max_retries.map(|it| it.value), Some(3));
    assert_eq!(fix.requeue.iter().map(|it| it.value).collect::<Vec<_>>(), [StepId(2)]);
    assert_eq!(steps.version.as_deref(), Some("1.0.0"));
    let refused = lower::state_machine(&checked).unwrap_err();
    assert_eq!(refused[0].code(), "S08");
}

#[test]
fn a_step_workflow_without_its_prompts_is_refused() {
    let text = include_str!("../../tests/fixtures/dev-task.toml");
    let compilation = compile(&Source::new("dev-task.toml", text));
    let found: Vec<_> = compilation.diagnostics.iter().map(|it| it.code()).collect();
    assert_eq!(found, ["B18"; 5]);
}

const INCLUDING: &str = "name: flow\nstates: {a: {respawn_prompt: p}, b: {terminal: true}}\n\
                         transitions: [{from: a, to: b}]\nprompts:\n  p: {include: p.md}\n";

fn including(text: &str) -> Compilation {
    let files = BTreeMap::from([("p.md".to_owned(), text.to_owned())]);
    compile(&Source::new("flow.yml", INCLUDING).with_files(PromptFiles::Given(files)))
}

#[test]
fn a_prompt_is_the_text_of_the_file_that_it_includes() {
    let checked = including("# {summary}\n").checked.unwrap();
    let Definition::Machine(workflow) = checked.definition() else { panic!("a state machine") };
    let prompt = &workflow.prompts[0];
    let pieces = [
        PromptPiece::Text("# ".to_owned()),
        PromptPiece::Value(Value::Summary),
        PromptPiece::Text("\n".to_owned()),
    ];
    assert_eq!(prompt.pieces, pieces);
    assert_eq!((prompt.file.as_deref(), &INCLUDING[prompt.span.range()]), (Some("p.md"), "{include: p.md}"));
    assert_eq!(checked.prompt_files(), BTreeMap::from([("p.md", "# {summary}\n".to_owned())]));
    let hash = |text: &str| including(text).checked.unwrap().hash().to_owned();
    assert_eq!(hash("# {summary}\n"), checked.hash());
    assert_ne!(hash("# {summary}"), checked.hash());
    let inline = INCLUDING.replace("{include: p.md}", "\"# {summary}\"");
    let inline_hash = compile(&Source::new("flow.yml", &inline)).checked.unwrap().hash().to_owned();
    assert_eq!(inline_hash, orange_codegen::hash::source(&inline));
}

#[test]
fn a_finding_in_an_included_prompt_names_its_line() {
    let found = including("Do it.\n\nThis: {sumary}\n").diagnostics;
    let [unknown] = &found[..] else { panic!("{found:#?}") };
    let message = "unknown placeholder `{sumary}`: agents will read it as it stands";
    assert_eq!((unknown.code(), unknown.message.as_str()), ("C84", message));
    assert_eq!((&INCLUDING[unknown.span.range()], unknown.fix.is_none()), ("p.md", true));
    let place = unknown.file.as_ref().unwrap();
    assert_eq!((place.file.as_str(), place.span, place.line), ("p.md", Span::new(14, 22), 3));
    let edits = &unknown.file_fix.as_ref().unwrap().edits;
    assert_eq!(edits[..], [Edit { span: Span::new(14, 22), text: "{summary}".to_owned() }]);
    let worded = unknown.clone().worded();
    assert_eq!((worded.message, worded.file_fix), (format!("{message} (line 3 of p.md)"), None));
}

/// After the edit, the comment allows the only finding of the text and nothing else is found.
#[track_caller]
fn allowed(path: &str, text: &str, expect: &str) {
    let source = Source::new(path, text);
    let found = compile(&source).diagnostics;
    let [finding] = &found[..] else { panic!("{found:#?}") };
    let tree = parse(&source).0.expect("a tree");
    let edit = suppress::allow(&source, &tree, finding.span, finding.check, "it is so");
    let (before, after) = text.split_at(edit.span.start as usize);
    let edited = format!("{before}{}{after}", edit.text);
    assert!(edited.contains(expect), "{edited}");
    let again = compile(&Source::new(path, edited));
    let faults = again.suppressions.faults(catalogue::CHECKS, true);
    assert!(again.diagnostics.is_empty() && faults.is_empty(), "{:#?} {faults:#?}", again.diagnostics);
}

#[test]
fn a_comment_that_allows_a_finding_is_put_above_it() {
    let flow = "name: a\nstates: {b: {respawn_prompt: p}, c: {}}\ntransitions:\n  - {from: b, to: c}\n";
    let allow = "# orange: allow(unknown-placeholder) it is so\n";
    let block = format!("{flow}prompts:\n  p: |\n    Do it.\n\n    Now {{sumary}}.\n");
    allowed("a.yml", &block, &format!("prompts:\n  {allow}  p: |"));
    let lines = format!("{flow}prompts: {{\n  # of b\n  p: 'Do {{sumary}}'}}\n");
    allowed("a.yml", &lines, &format!("  # of b\n  {allow}  p: "));
    allowed("a.yml", &block.replace('\n', "\r\n"), &format!("{}  p: |", allow.replace('\n', "\r\n")));
    let toml = "name = 'a'\n[states.b]\nrespawn_prompt = 'p'\n[states.c]\n[[transitions]]\nfrom = 'b'\nto = 'c'\n\
                [prompts]\np = \"\"\"\nDo\n{sumary}\n\"\"\"\n";
    allowed("a.toml", toml, &format!("{allow}p = "));
}

#[test]
fn a_prompt_is_a_text_or_includes_a_file() {
    let codes = |prompt: &str| {
        let text = INCLUDING.replace("{include: p.md}", prompt);
        let found = compile(&Source::new("flow.yml", text)).diagnostics;
        found.iter().map(|it| it.code()).collect::<Vec<_>>()
    };
    assert_eq!(codes("{include: p.md}"), ["B18"]);
    assert_eq!(codes("{include: ../p.md}"), ["B41"]);
    assert_eq!(codes("{}"), ["S09"]);
    assert_eq!(codes("{file: p.md}"), ["S09", "S02"]);
    assert_eq!(codes("{include: 3}"), ["S04"]);
    assert_eq!(codes("[p.md]"), ["S04"]);
}

#[test]
fn a_transition_stands_for_each_two_states_that_it_names() {
    let it = workflow(
        "name: flow\nfields: {tries: 0}\nstates: {a: {}, b: {}, c: {}, d: {terminal: true}, e: {terminal: true}}\n\
         transitions:\n- {from: a, to: [b, c]}\n- {from: [b, c], to: [d, e], reset: [tries, review_round], \
         hooks: [{action: increment, field: tries}]}\n",
    );
    let named = |at: StateId| name(&it, Some(at)).expect("a state").to_owned();
    let all: Vec<String> = it
        .transitions
        .iter()
        .map(|it| format!("{}{}{}", it.declaration, named(it.from.value), named(it.to.value)))
        .collect();
    assert_eq!(all.join(" "), "0ab 0ac 1bd 1cd 1be 1ce");
    let hooks: Vec<_> =
        it.transitions[5].hooks.iter().map(|it| (it.action, it.counter.map(|it| it.value.0))).collect();
    assert_eq!(hooks, [(Action::Reset, Some(2)), (Action::Reset, Some(0)), (Action::Increment, Some(2))]);
}

#[test]
fn a_workflow_with_an_error_is_there_as_far_as_understood() {
    let text = "name: a\nstates: {b: {}, c: {}}\ntransitions: [{from: b, to: c}, {from: b, to: d}]\n";
    let compilation = compile(&Source::new("a.yml", text));
    assert!(compilation.checked.is_none());
    let Some(Definition::Machine(it)) = compilation.definition() else { panic!("{compilation:#?}") };
    assert_eq!((it.states.len(), it.transitions.len()), (2, 1));
    let whole = compile(&Source::new("a.yml", text.replace(", {from: b, to: d}", "")));
    assert!(whole.partial.is_none() && whole.checked.is_some(), "{:#?}", whole.diagnostics);
}

#[test]
fn a_fault_of_the_syntax_is_the_only_finding_in_an_editor() {
    let text = "name: a\nstates: {b: {}, c: {}}\ntransitions:\n  - {from: b, to: nowhere}\n  - {from: b, to: \n  - {from: c, to: b}\n";
    let source = Source::new("a.yml", text);
    let edited = text.find("to: \n").map(|it| it as u32 + 4);
    let compilation = compile_recovered(&source, &parse_tolerant(&source, edited));
    let found: Vec<_> = compilation.diagnostics.iter().map(|it| it.code()).collect();
    assert_eq!((found, compilation.checked.is_none()), (vec!["S01"], true));
    assert_eq!(compilation.name.as_ref().map(|it| it.value.as_str()), Some("a"));
    let Some(Definition::Machine(it)) = compilation.definition() else { panic!("{compilation:#?}") };
    assert_eq!((it.states.len(), it.transitions.len()), (2, 1));
    let whole = Source::new("a.yml", text.replace("to: \n", "to: c}\n"));
    let [known, recovered] = [compile(&whole), compile_recovered(&whole, &parse_tolerant(&whole, edited))];
    assert_eq!(format!("{:?}", known.diagnostics), format!("{:?}", recovered.diagnostics));
}

#[test]
fn a_section_has_the_verdicts_that_a_gate_names() {
    let flow = |gates: &str| {
        format!(
            "name: a\nstates: {{x: {{}}, y: {{}}, z: {{terminal: true}}}}\ntransitions:\n  - {{from: x, to: y}}\n{gates}"
        )
    };
    let of = |gates: &str| -> Vec<String> {
        let found = compile(&Source::new("flow.yml", flow(gates))).diagnostics;
        found.iter().map(|it| it.code().to_owned()).filter(|it| it == "S04").collect()
    };
    let review =
        |key: &str, to: &str| format!("  - {{from: y, to: {to}, gate: {{section: '## R', {key}}}}}\n");
    let three = "verdicts: [PASS, FAIL, DISCUSS]";
    let good = review(&format!("verdict: PASS, {three}"), "z") + &review("verdict: DISCUSS", "x");
    assert_eq!(of(&good), [""; 0]);
    assert_eq!(of(&review("verdict: DISCUSS", "z")), ["S04"], "no gate names it");
    assert_eq!(of(&review(three, "z")), [""; 0], "each of them");
    let differs = review(three, "z") + &review("verdicts: [PASS, FAIL]", "x");
    assert_eq!(of(&differs), ["S04"]);
    for wrong in ["[PASS]", "[PASS, pass]", "[PASS, 'TO DO']", "[]", "most"] {
        assert_eq!(of(&review(&format!("verdict: PASS, verdicts: {wrong}"), "z")), ["S04"], "{wrong}");
    }
}
