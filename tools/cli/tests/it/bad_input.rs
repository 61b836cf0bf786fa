//! Files that nobody should write: each gets a finding or a refusal, and none a panic.

use std::fs;
use std::os::unix::fs::symlink;

use crate::scratch::{CLEAN, CommandResult, Scratch};

#[track_caller]
fn finds(name: &str, bytes: impl AsRef<[u8]>, code: &str) -> CommandResult {
    let scratch = Scratch::new();
    scratch.write(name, bytes);
    let json = scratch.run(&["check", name, "--format", "json"]);
    assert_eq!(json.exit, 1, "{}{}", json.out, json.err);
    assert!(json.codes().iter().any(|it| it == code), "{:?}", json.codes());
    let human = scratch.run(&["check", name]);
    assert_eq!(human.exit, 1);
    assert!(human.out.len() < 100_000, "a flood of {} bytes", human.out.len());
    human
}

#[track_caller]
fn accepts(text: &str) {
    let scratch = Scratch::with(&[("clean.yml", text)]);
    let run = scratch.run(&["check", "clean.yml"]);
    assert_eq!(
        (run.exit, run.out.as_str()),
        (0, "checked 1 file: nothing wrong\n"),
        "{}{}",
        run.out,
        run.err
    );
}

#[test]
fn nothing_in_it() {
    finds("empty.yml", "", "S08");
    finds("empty.toml", "", "S08");
    finds("blank.yml", " \n\n\t\n", "S08");
    finds("comment.yml", "# states:\n", "S08");
}

#[test]
fn no_text() {
    finds("binary.yml", [0x7f, b'E', b'L', b'F', 0, 0xff, 0xfe, 0x80], "S08");
    finds("utf-16.yml", [0xff, 0xfe, b's', 0, b't', 0], "S08");
    finds("latin.yml", b"states:\n  caf\xe9: {}\n", "S08");
    finds("nul.yml", b"states:\n  a: \0\0\0\n", "S01");
}

#[test]
fn another_kind_of_file() {
    finds("Cargo.toml", "[package]\nname = \"x\"\n", "S08");
    finds("list.yml", "- a\n- b\n", "S08");
    finds("text.yml", "hello\n", "S08");
}

#[test]
fn two_hundred_megabytes() {
    let scratch = Scratch::with(&[("clean.yml", CLEAN)]);
    fs::File::create(scratch.path().join("huge.yml")).unwrap().set_len(200 << 20).unwrap();
    let named = scratch.run(&["check", "huge.yml", "--format", "json"]);
    assert_eq!((named.exit, named.codes()), (1, vec!["S10".to_owned()]));
    let human = scratch.run(&["check", "huge.yml"]);
    assert!(human.out.contains(", in huge.yml:\n") && human.out.len() < 1000, "{}", human.out);
    let found = scratch.run(&["check", "."]);
    assert_eq!((found.exit, found.err.as_str()), (0, "skipped huge.yml: no workflow\n"));
}

#[test]
fn nested_too_deeply() {
    for (open, close) in [("[", "]"), ("{a: ", "}"), ("[{a: ", "}]")] {
        let text = format!("name: a\nstates: {}{}\n", open.repeat(10_000), close.repeat(10_000));
        finds("a.yml", text, "S10");
    }
    finds("a.yml", format!("states:\n  {}x\n", "- ".repeat(10_000)), "S10");
    finds("a.yml", format!("states: {}\n", "[".repeat(100_000)), "S10");
    finds("a.toml", format!("states = {}{}\n", "[".repeat(10_000), "]".repeat(10_000)), "S10");
}

#[test]
fn guards_nested_too_deeply() {
    let guard = format!("{}review_round < 2{}", "(".repeat(10_000), ")".repeat(10_000));
    finds("a.yml", CLEAN.replace("to: done}", &format!("to: done, when: \"{guard}\"}}")), "A08");
    let not = format!("{}review_round < 2", "!".repeat(100_000));
    finds("a.yml", CLEAN.replace("to: done}", &format!("to: done, when: \"{not}\"}}")), "A08");
}

#[test]
fn aliases_that_explode() {
    let mut text = String::from("a0: &a0 [x, x]\n");
    for level in 1..40 {
        text += &format!("a{level}: &a{level} [*a{0}, *a{0}, *a{0}]\n", level - 1);
    }
    finds("clean.yml", text + CLEAN, "S10");
}

#[test]
fn a_key_twice() {
    finds("clean.yml", format!("{CLEAN}name: again\n"), "S03");
    finds("clean.toml", "name = \"clean\"\nname = \"again\"\n[states.a]\n", "S03");
}

#[test]
fn tabs() {
    finds("clean.yml", CLEAN.replace("  pending", "\tpending"), "S01");
    accepts(&CLEAN.replace("name: clean", "name:\tclean"));
}

#[test]
fn forty_digits() {
    let number = "1234567890".repeat(4);
    finds("clean.yml", CLEAN.replace("done}", &format!("done, when: \"review_round < {number}\"}}")), "A08");
    finds("clean.yml", CLEAN.replace("version: 1", &format!("version: {number}")), "S05");
    finds("clean.yml", format!("{CLEAN}exit_monitoring: {{poll_interval: {number}}}\n"), "S04");
}

#[test]
fn states_with_names_that_rust_keeps_for_itself() {
    for name in ["type", "self", "Self", "crate", "match", "State"] {
        accepts(&CLEAN.replace("pending", name));
    }
}

#[test]
fn states_with_names_that_cannot_be() {
    for name in ["Δ", "'a b'", "-x", "1st", "''", "'../x'", "\"a\\nb\""] {
        finds("clean.yml", CLEAN.replace("pending", name), "S04");
    }
}

#[test]
fn other_line_ends_and_a_byte_order_mark() {
    accepts(&CLEAN.replace('\n', "\r\n"));
    accepts(&format!("\u{feff}{CLEAN}"));
}

#[test]
fn a_line_of_five_megabytes() {
    let long = "x".repeat(5 << 20);
    let run = finds("clean.yml", CLEAN.replace("to: done}", &format!("note: {long}, to: doen}}")), "A01");
    assert!(run.out.contains("doen"), "{}", run.out);
    assert!(run.out.lines().all(|it| it.chars().count() <= 120), "{}", run.out);
}

#[test]
fn ten_thousand_mistakes() {
    let transition = |number| format!("  - {{from: pending, to: nowhere-{number}}}\n");
    let transitions: String = (0..10_000).map(transition).collect();
    let run = finds("clean.yml", format!("{CLEAN}{transitions}"), "A01");
    assert!(run.out.contains("more findings; `--format short` lists them all"), "{}", run.out);
    assert!(run.out.ends_with("checked 1 file: 10000 errors\n"));
}

#[test]
fn links() {
    let scratch = Scratch::with(&[("flows/clean.yml", CLEAN)]);
    symlink("nowhere", scratch.path().join("flows/broken.yml")).unwrap();
    symlink(".", scratch.path().join("flows/round")).unwrap();
    let run = scratch.run(&["check", "flows", "--format", "json"]);
    assert_eq!((run.exit, run.codes()), (1, vec!["S08".to_owned()]), "{}", run.out);
    assert_eq!(run.json()["diagnostics"][0]["file"], "flows/broken.yml");
}

/// Parts of syntax errors.
const JUNK: [&[u8]; 14] =
    [b"\t", b"{", b"]", b"\"", b"'", b"&a ", b"*", b"#", b": ", b"- ", b"\n", b"\r", b"\0", b"\xff"];

/// A text with some of its bytes changed, the same for the same seed.
pub(crate) fn mutilated(text: &str, seed: usize) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    let mut state = seed as u64 + 1;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..=next(8) {
        let junk = JUNK[next(JUNK.len())];
        let at = next(bytes.len());
        let end = (at + next(3)).min(bytes.len());
        bytes.splice(at..end, junk.iter().copied());
    }
    bytes
}

#[test]
fn hundreds_of_mutilated_files() {
    let scratch = Scratch::new();
    let texts = [
        ("yml", include_str!("../../../../tests/fixtures/seed-default.yml")),
        ("toml", include_str!("../../../../tests/fixtures/dev-task.toml")),
    ];
    for seed in 0..400 {
        let (extension, text) = texts[seed % 2];
        scratch.write(&format!("f{seed}.{extension}"), mutilated(text, seed));
    }
    for format in ["human", "short", "json"] {
        assert_eq!(scratch.run(&["check", ".", "--format", format]).exit, 1);
    }
}

#[test]
fn a_prompt_file_is_a_short_text_in_the_folder() {
    let scratch = Scratch::new();
    scratch.write_prompts();
    scratch.write("do/long.md", vec![b'x'; (1 << 20) + 1]);
    scratch.write("do/bytes.md", b"\xff\xfe");
    scratch.write("do/empty.md", "\u{feff}\n");
    scratch.write("do/nul.md", "Plan.\nThen \0 stop.\n");
    std::os::unix::fs::symlink("/etc/passwd", scratch.path().join("do/out.md")).unwrap();
    let outside = "is not in the workflow's folder";
    for (name, expect) in [
        ("../../etc/passwd", outside),
        ("/etc/passwd", outside),
        ("do/../do/plan.md", outside),
        ("do/out.md", outside),
        ("", outside),
        ("do", "is not a file"),
        ("do/empty.md", "is empty"),
        ("do/long.md", "is longer than 1024 KiB"),
        ("do/bytes.md", "is not a UTF-8 text: byte 0 begins no character"),
        ("do/nul.md", "has the character U+0000 in line 2"),
        ("do/plam.md", "did you mean `do/plan.md`?"),
    ] {
        let text = format!("[workflow]\nname = \"x\"\n[[steps]]\nid = \"a\"\nprompt_file = \"{name}\"\n");
        scratch.write("x.toml", text);
        let run = scratch.run(&["check", "x.toml", "--format", "json"]);
        let found = &run.json()["diagnostics"][0];
        let said = format!("{} {}", found["message"], found["help"]);
        let code = if expect == outside { "B41" } else { "B18" };
        assert!(run.exit == 1 && found["code"] == code && said.contains(expect), "{name}: {said}");
    }
}

#[test]
fn an_included_prompt_is_found_beside_its_workflow() {
    let scratch = Scratch::new();
    let flow = "name: flow\nstates: {a: {respawn_prompt: p}, b: {terminal: true}}\n\
                transitions: [{from: a, to: b, by: humann}]\nprompts:\n  p: {include: do/p.md}\n";
    scratch.write("w/flow.yml", flow);
    scratch.write("w/do/p.md", "Do {summary}.\n\nThen {sumary}.\n");
    let run = scratch.run(&["check", "w/flow.yml", "--format", "short"]);
    assert!(
        run.out.contains("w/flow.yml:5:16: warn[C84") && run.out.contains("(line 3 of do/p.md)"),
        "{}",
        run.out
    );
    let run = scratch.run(&["check", "w/flow.yml", "--fix", "--format", "short"]);
    assert!(scratch.read("w/flow.yml").contains("by: human}") && !run.out.contains("B18"), "{}", run.out);
    assert_eq!(scratch.read("w/do/p.md"), "Do {summary}.\n\nThen {sumary}.\n");
    let neat = scratch.run(&["fmt", "w/flow.yml"]);
    assert_eq!(neat.exit, 0, "{}", neat.err);
    assert!(scratch.read("w/flow.yml").contains("do/p.md"));
}

#[test]
fn a_prompt_has_no_zero_character() {
    let task = "name: flow\nstates: {a: {respawn_prompt: p}, b: {terminal: true}}\ntransitions: [{from: a, to: b}]\nprompts:\n  p: \"x\\0y\"\n";
    let steps = "[workflow]\nname = \"flow\"\n[[steps]]\nid = \"a\"\nprompt = \"x\\u0000y\"\n";
    for (file, text, place, key) in [("flow.yml", task, 5, "p"), ("flow.toml", steps, 5, "prompt")] {
        let scratch = Scratch::with(&[(file, text)]);
        let run = scratch.run(&["check", file, "--format", "json"]);
        let found = &run.json()["diagnostics"][0];
        let expect = format!("`{key}` has the character U+0000, which is not a text");
        assert_eq!(
            (run.exit, &found["code"], &found["message"]),
            (1, &"S04".into(), &expect.into()),
            "{}",
            run.out
        );
        assert_eq!(found["line"], place, "{found}");
    }
}

#[test]
fn step_keys_with_numbers_words_and_lists_that_cannot_be() {
    let steps = |extra: &str| {
        format!(
            "[workflow]\nname = \"flow\"\n[[steps]]\nid = \"a\"\nprompt = \"x\"\nresults = [\"X\"]\n[[steps]]\nid = \"b\"\n\
             prompt = \"x {{{{context}}}}\"\ndepends_on = [\"a\"]\n{extra}\n"
        )
    };
    for (extra, code, says) in [
        ("max_retries = 1001", "S04", "0 or more, up to 1000"),
        ("max_retries = -1", "S04", "a number from 0 to 1000"),
        ("max_retries = 1.5", "S04", "a number from 0 to 1000"),
        ("max_retries = \"3\"", "S04", "without quotes"),
        ("timeout = \"soon\"", "S04", "takes a whole number"),
        ("requeue = \"a\"", "S04", "write `requeue = [\"…\"]`"),
        ("condition = \"a.result = 'X'\"", "B04", "write `==`"),
        ("condition = \"a.result == X\"", "B04", "write `'X'`"),
        ("condition = \"a.result == ‘X’\"", "B04", "write `'X'`"),
        ("condition = \"a.verdict == 'X'\"", "B06", "the fields are `result`, `summary`"),
        ("role = 3", "S04", "put it in quotes"),
        ("[[steps]]\nprompt = \"y\"", "S09", "add `id = …`"),
        ("[[steps]]\nid = \"c\"\nprompt = \"\"", "S09", "the prompt of the step `c` is empty"),
    ] {
        let found = finds("flow.toml", steps(extra), code);
        assert!(found.out.contains(says), "{extra}: {}", found.out);
    }
    let table = "[workflow]\nname = \"flow\"\n[steps.a]\nprompt = \"x\"\n";
    assert!(finds("flow.toml", table, "S04").out.contains("write `[[steps]]` above each item"));
}

#[test]
fn ten_thousand_steps() {
    let step = |number: usize, after: String| {
        format!(
            "[[steps]]\nid = \"s{number}\"\nprompt = \"{number}{{{{context}}}}\"\ndepends_on = [{after}]\n"
        )
    };
    let header = "[workflow]\nname = \"flow\"\n".to_owned();
    let chain = (1..10_000).map(|it| step(it, format!("\"s{}\"", it - 1)));
    let fan = (1..10_000).map(|it| step(it, "\"s0\"".to_owned()));
    for text in [chain.collect::<String>(), fan.collect()] {
        let text = header.clone() + &step(0, String::new()) + &text;
        let scratch = Scratch::with(&[("flow.toml", &text)]);
        assert_eq!(scratch.run(&["check", "flow.toml", "--format", "short"]).exit, 0);
        finds("flow.toml", text + &step(10_000, String::new()), "S10");
    }
}
