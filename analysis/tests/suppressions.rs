//! Comments that allow findings, in both languages.

use orange_analysis::lint;
use orange_codegen::{Source, compile};

/// Expects these codes of group S, each with its line.
#[track_caller]
fn check(path: &str, text: &str, expect: &str) {
    let found = lint(&Source::new(path, text)).diagnostics;
    let lines = |at: u32| text[..at as usize].matches('\n').count() + 1;
    let ours = found.iter().filter(|it| it.code().starts_with('S'));
    let found: Vec<String> = ours.map(|it| format!("{}:{}", it.code(), lines(it.span.start))).collect();
    assert_eq!(found.join(" "), expect, "{text}");
}

#[track_caller]
fn yaml(states: &str, expect: &str) {
    let text = format!("name: flow\nstates:\n{states}  done: {{terminal: true}}\n");
    check("flow.yml", &text, expect);
}

#[test]
fn on_the_line_or_directly_above() {
    yaml("  on: {}\n", "S07:3");
    yaml("  on: {} # orange: allow(yaml-trap) why\n", "");
    yaml("  on: {} #orange:allow( S07 , name-mismatch ): why\n", "S12:3");
    yaml("  # orange: allow(yaml-trap) why\n  on: {}\n", "");
    yaml("# orange: allow(yaml-trap) why\n  # more\n\n  on: {}\n", "S12:3 S07:6");
    yaml("  # orange: allow(yaml-trap) why\n  # and more of why\n  on: {}\n", "");
    yaml("  # before it\n  # orange: allow(yaml-trap) why\n  on: {}\n", "");
    yaml("  on: {}\n  # orange: allow(yaml-trap) why\n", "S07:3 S12:4");
    yaml("  on: {} # orange: allow(yaml-trap) why\n  off: {}\n", "S07:4");
    yaml("  on: {}\r\n  # orange: allow(yaml-trap) why\r\n  off: {}\r\n", "S07:3");
}

#[test]
fn one_comment_may_be_about_several_findings() {
    check("flow.yml", "name: flow\n# orange: allow(yaml-trap) why\nstates: {on: {}, off: {}}\n", "");
}

#[test]
fn text_is_no_comment() {
    yaml("  on: {description: \"# orange: allow(yaml-trap) why\"}\n", "S07:3");
    yaml("  on: {description: 'a # orange: allow(yaml-trap) why'}\n", "S07:3");
    yaml("  on:\n    description: |\n      # orange: allow(unknown) no\n      on\n", "S07:3");
    yaml("  on:\n    description: a#orange:allow(yaml-trap)\n", "S07:3");
    yaml("  on: {} # see # orange: allow(yaml-trap) why\n", "S07:3");
    yaml("  on: {} # orange: the colour (of this)\n", "S07:3");
    yaml("  on: {} # orange is what (it is)\n", "S07:3");
}

#[test]
fn a_text_over_several_lines_belongs_to_the_line_it_begins_on() {
    let states = "name: flow\nstates: {a: {respawn_prompt: p}, done: {terminal: true}}\n";
    unknown_placeholder("flow.yml", &format!("{states}prompts:\n  p: |\n    one\n    {{sumary}}\n"), true);
    let allowed = "# orange: allow(unknown-placeholder) why";
    for text in ["  p: | {}\n    one\n    {sumary}\n", "  {}\n  p: |\n    one\n    {sumary}\n"] {
        let text = text.replacen("{}", allowed, 1);
        unknown_placeholder("flow.yml", &format!("{states}prompts:\n{text}"), false);
    }
    let states =
        "name = 'flow'\n[states.done]\nterminal = true\n[states.a]\nrespawn_prompt = 'p'\n[prompts]\n";
    unknown_placeholder("flow.toml", &format!("{states}p = '''\n{{sumary}}'''\n"), true);
    unknown_placeholder("flow.toml", &format!("{states}p = '''\n{allowed}\n{{sumary}}'''\n"), true);
    unknown_placeholder("flow.toml", &format!("{states}{allowed}\np = '''\n{{sumary}}'''\n"), false);
    unknown_placeholder("flow.toml", &format!("{states}p = '''\n{{sumary}}''' {allowed}\n"), false);
}

#[track_caller]
fn unknown_placeholder(path: &str, text: &str, expect: bool) {
    let found = lint(&Source::new(path, text)).diagnostics;
    let codes: Vec<_> =
        found.iter().map(|it| it.code()).filter(|it| ["C84", "S01", "S12"].contains(it)).collect();
    assert_eq!(codes.contains(&"C84"), expect, "{codes:?}\n{text}");
    assert!(expect || codes.is_empty(), "{codes:?}\n{text}");
}

#[test]
fn in_toml() {
    let toml =
        |comment: &str| format!("name = \"other\"{comment}\n[states.a]\n[states.done]\nterminal = true\n");
    check("flow.toml", &toml(""), "S06:1");
    check("flow.toml", &toml("# orange: allow(name-mismatch) why"), "");
    check("flow.toml", &format!("# orange: allow(S06) why\n{}", toml("")), "");
    check("flow.toml", &format!("# orange: allow(S06) why\n\n{}", toml("")), "S12:1 S06:3");
    check("flow.toml", &toml("\ndescription = '''\n# orange: allow(S06)\n'''"), "S06:1");
}

#[test]
fn what_is_wrong_with_the_comments() {
    yaml("  on: {} # orange: allow(yaml-trap)\n", "S11:3");
    yaml("  on: {} # orange: allow(yaml-trap) --\n", "S11:3");
    yaml("  on: {} # orange: allow(yaml-trp) why\n", "S07:3 S13:3");
    yaml("  on: {} # orange: allow() why\n", "S07:3 S13:3");
    yaml("  on: {} # orange: allow(yaml-trap why\n", "S07:3 S13:3");
    yaml("  on: {} # orange: allow\n", "S07:3 S13:3");
    yaml("  on: {} # orange: allow yaml-trap why\n", "S07:3 S13:3");
    yaml("  on: {} # orange: disable(yaml-trap) why\n", "S07:3 S13:3");
    yaml("  a: {} # orange: allow(unknown-to) why\n", "S13:3");
    yaml("  a: {} # orange: allow(unused-suppression) why\n", "S12:3");
}

#[test]
fn an_error_is_never_allowed_and_hides_what_is_unused() {
    yaml("  a: {b: 1} # orange: allow(unknown-key) why\n", "S02:3 S13:3");
    yaml("  a: {b: 1} # orange: allow(spawn-while-alive) why\n", "S02:3");
    let undefined = "name: flow\nstates: {a: *b} # orange: allow(yaml-trap) why\n";
    check("flow.yml", undefined, "S07:2");
}

#[test]
fn compile_reports_neither_allowed_findings_nor_comment_faults() {
    let text = "name: flow\nstates:\n  on: {} # orange: allow(yaml-trap)\n  a: {} # orange: allow(x) y\n";
    assert!(compile(&Source::new("flow.yml", text)).diagnostics.is_empty());
    assert_eq!(compile(&Source::new("flow.yml", text.replace("orange", "yellow"))).diagnostics.len(), 1);
}

#[test]
fn what_is_unused_can_be_taken_out() {
    let mended = |text: &str| {
        let found = lint(&Source::new("flow.yml", text)).diagnostics;
        let fix = found.into_iter().find(|it| it.code() == "S12").and_then(|it| it.fix).unwrap();
        let mut text = text.to_owned();
        fix.edits.iter().rev().for_each(|it| text.replace_range(it.span.range(), &it.text));
        text
    };
    let around = |middle: &str| format!("name: flow\nstates:\n{middle}  done: {{terminal: true}}\n");
    assert_eq!(mended(&around("  a: {}  # orange: allow(S07) x\n")), around("  a: {}\n"));
    assert_eq!(mended(&around("  # orange: allow(S07) x\n  a: {}\n")), around("  a: {}\n"));
    let several = around("  on: {} # orange: allow(S06, S07) x\n");
    assert_eq!(mended(&several), several.replace("S06, ", ""));
    assert_eq!(mended(&several.replace("S06, S07", "S07, S06")), several.replace("S06, ", ""));
}

#[test]
fn a_hundred_thousand_comments_are_no_trouble() {
    let comments = "  # orange: allow(yaml-trap, nothing-known) why\n".repeat(100_000);
    let text = format!("name: flow\nstates:\n{comments}  on: {{}}\n  done: {{terminal: true}}\n");
    let found = lint(&Source::new("flow.yml", text)).diagnostics;
    assert_eq!(found.iter().filter(|it| it.code() == "S13").count(), 100_000);
    assert!(found.iter().all(|it| it.code() != "S07" && it.code() != "S12"));
}
