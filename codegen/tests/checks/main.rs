//! Findings by example: what is reported, where, and in which words.

mod exits;
mod fixes;
mod schema;
mod transitions;

use orange_codegen::{Compilation, Source, compile, lower};

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

/// The sound workflow with these hooks on one transition.
fn with_hooks(hooks: &str) -> String {
    let transition = format!("  - from: agent-review\n    to: done\n    hooks:\n{hooks}");
    SOUND.replace(REVIEW, &transition)
}

/// The sound workflow with several transitions from review to done.
fn with_keys(with_keys: &[&str]) -> String {
    let lines: Vec<String> =
        with_keys.iter().map(|it| format!("  - {{from: agent-review, to: done{it}}}\n")).collect();
    SOUND.replace(REVIEW, &lines.concat())
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
    let workflow =
        lower::state_machine(compilation.checked.as_ref().expect("sound")).expect("a state machine");
    assert_eq!(workflow.transitions.len(), 2);
}

#[test]
fn crlf_and_a_byte_order_mark_change_nothing() {
    let text = format!("\u{feff}{}", with_keys(&[", when: \"review_round =< 2\""]).replace('\n', "\r\n"));
    check(&text, &["A08 error «=<» expected a comparison, found `=<`"]);
    let sound = format!("\u{feff}{}", SOUND.replace('\n', "\r\n"));
    let hash = |text: &str| compiled(text).checked.map(|it| it.hash().to_owned());
    assert_eq!(hash(&sound), hash(SOUND));
}

#[test]
fn one_run_finds_everything_and_twice_the_same() {
    let text = with_keys(&[", when: \"x < 1\"", ", when: \"review_round =< 1\""])
        .replace("name: flow", "nam: flow")
        .replace("  stuck: {}", "  stuck: {terminal: maybe}\n  Δ: {}");
    let codes: Vec<String> = findings(&text).iter().map(|it| it[..3].to_owned()).collect();
    assert_eq!(codes, ["S02", "S04", "S04", "A08", "A08"]);
    assert_eq!(findings(&text), findings(&text));
}
