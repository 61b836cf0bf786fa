//! `graph`: what is drawn of a workflow, in each language.

use roxmltree::{Document, Node};

use crate::scratch::{CLEAN, Scratch};

const DEFAULT: &str = include_str!("../../../../tests/fixtures/seed-default.yml");
const STEPS: &str = include_str!("../../../../tests/fixtures/dev-task.toml");

/// Everything that markup could be made of, where an author may write what they like.
const HOSTILE: &str = r###"
name: hostile
states:
  a: {}
  b: {terminal: true}
transitions:
  - {from: a, to: a}
  - {from: a, to: b, gate: {section: '## <script>"&]]>\ `x` %%{init: {}}%%', required: true}, when: "review_round < 2 && crash_count >= 1"}
  - {from: a, to: b, when: "review_round >= 2"}
"###;

/// As little of a report as there may be.
const REPORT: &str = r#"{"diagnostics": [
    {"code": "C62", "name": "spawn-while-alive", "message": "two", "file": "other.yml", "trace": ["a"]}
]}"#;

#[test]
fn a_graph_has_every_state_and_every_transition() {
    let scratch = Scratch::with(&[("default.yml", DEFAULT)]);
    let mermaid = scratch.run(&["graph", "default.yml"]);
    assert_eq!((mermaid.exit, mermaid.err.as_str()), (0, ""));
    assert!(mermaid.out.contains("flowchart TD\n    s0([\"pending\"]):::start\n"), "{}", mermaid.out);
    assert_eq!(mermaid.out.matches(" -->").count(), 18, "{}", mermaid.out);
    assert!(mermaid.out.contains("|\"## Review: FAIL<br/>review_round #lt; 2\"|"), "{}", mermaid.out);
    let dot = scratch.run(&["graph", "default.yml", "--format", "dot"]);
    let of_the_engine = dot.out.matches("style=dashed").count();
    assert_eq!(dot.out.matches(" -> ").count(), 18 + of_the_engine, "{}", dot.out);
    assert!(dot.out.starts_with("digraph \"default\" {\n") && dot.out.ends_with("}\n"), "{}", dot.out);
    assert_eq!(scratch.run(&["graph", "default.yml"]).out, mermaid.out);
}

#[test]
fn a_picture_has_every_state_and_every_transition() {
    let scratch = Scratch::with(&[("default.yml", DEFAULT)]);
    let run = scratch.run(&["graph", "default.yml", "--format", "svg"]);
    assert_eq!((run.exit, run.err.as_str()), (0, ""));
    let picture = Document::parse(&run.out).unwrap();
    assert_eq!(groups(&picture, "node").len(), 8);
    let edges = groups(&picture, "edge");
    let engine = "by the engine when an agent ended";
    let asked = edges.iter().filter(|it| !description(**it).contains(&format!(": {engine}")));
    assert_eq!(asked.count(), 18, "{}", run.out);
    for expect in [
        "pending → working",
        "agent-review → working: ## Review: FAIL, review_round < 2, also by the engine when an agent ended",
        "working → stuck: also by the engine when an agent ended, after 2 crashes",
        "agent-review → stuck: by the engine when an agent ended, after 2 crashes",
    ] {
        assert!(edges.iter().any(|it| description(*it) == expect), "{expect}\n{}", run.out);
    }
    assert_eq!(scratch.run(&["graph", "default.yml", "--format", "svg"]).out, run.out);
}

#[test]
fn a_picture_can_be_read_without_being_seen() {
    let scratch = Scratch::with(&[("default.yml", DEFAULT)]);
    let run = scratch.run(&["graph", "default.yml", "--format", "svg"]);
    let picture = Document::parse(&run.out).unwrap();
    let root = picture.root_element();
    assert_eq!(root.attribute("role"), Some("img"));
    assert_eq!(root.attribute("aria-labelledby"), Some("title desc"));
    let described = root.children().find(|it| it.has_tag_name("desc")).and_then(|it| it.text()).unwrap();
    let expect =
        "8 states, 19 arrows between them. begins here: pending. moves on by itself: working, agent-review.";
    assert!(described.starts_with(expect), "{described}");
    assert!(run.out.contains("prefers-color-scheme: dark"), "{}", run.out);
    let elsewhere = ["http", "url(", "@import", "<script", "href"].map(|it| run.out.matches(it).count());
    assert_eq!(elsewhere, [1, 0, 0, 0, 0], "more than the name of the language: {}", run.out);
}

#[test]
fn nothing_that_is_written_in_a_workflow_is_markup() {
    let scratch = Scratch::with(&[("hostile.yml", HOSTILE)]);
    let run = scratch.run(&["graph", "hostile.yml", "--format", "svg"]);
    let picture = Document::parse(&run.out).unwrap();
    let loops = "a → a";
    let gated = "a → b: ## <script>\"&]]>\\ `x` %%{init: {}}%%, review_round < 2 && crash_count >= 1";
    let found: Vec<String> = groups(&picture, "edge").into_iter().map(description).collect();
    assert_eq!(found, [loops, gated, "a → b: review_round >= 2"]);
    let mermaid = scratch.run(&["graph", "hostile.yml"]).out;
    assert!(!mermaid.contains("<script") && !mermaid.contains("%%") && !mermaid.contains('`'), "{mermaid}");
    let dot = scratch.run(&["graph", "hostile.yml", "--format", "dot"]).out;
    assert!(dot.contains(r###"label="## <script>\"&]]>\\ `x` %%{init: {}}%%\nreview_round"###), "{dot}");
}

#[test]
fn no_picture_is_drawn_that_nobody_could_read() {
    let states: String = (0..400).map(|at| format!("  s{at}: {{}}\n")).collect();
    let edges: String = (1..400).map(|at| format!("  - {{from: s{}, to: s{at}}}\n", at - 1)).collect();
    let text = format!("name: large\nstates:\n{states}transitions:\n{edges}");
    let scratch = Scratch::with(&[("large.yml", text.as_str())]);
    let run = scratch.run(&["graph", "large.yml", "--format", "svg"]);
    assert_eq!((run.exit, run.out.as_str()), (2, ""));
    assert!(run.err.contains("too many for one picture") && run.err.contains("--format dot"), "{}", run.err);
    assert_eq!(scratch.run(&["graph", "large.yml", "--format", "dot"]).exit, 0);
}

#[test]
fn a_large_picture_has_the_end_beside_each_state() {
    let states: String = (0..99).map(|at| format!("  s{at}: {{}}\n")).collect();
    let edges = (0..99).map(|at| {
        let next = (at + 1) % 99;
        format!("  - {{from: s{at}, to: s{next}}}\n  - {{from: s{at}, to: done}}\n")
    });
    let edges: String = edges.collect();
    let text = format!("name: large\nstates:\n{states}  done: {{terminal: true}}\ntransitions:\n{edges}");
    let scratch = Scratch::with(&[("large.yml", text.as_str())]);
    let draw = ["graph", "large.yml", "--format", "svg"];
    let run = scratch.run(&draw);
    assert_eq!((run.exit, run.err.as_str()), (0, ""));
    let picture = Document::parse(&run.out).unwrap();
    let ends = |class: &str| {
        let groups = groups(&picture, class);
        groups.into_iter().filter(|it| description(*it) == "done: ends here").count()
    };
    assert_eq!((groups(&picture, "edge").len(), ends("node")), (198, 99));
    assert!(run.out.contains("100 states, 198 arrows between them"), "{}", run.out);
    let traced = scratch.run(&[&draw[..], &["--trace", "s0,s1,done"]].concat());
    let picture = Document::parse(&traced.out).unwrap();
    let marked = groups(&picture, "marked").into_iter().filter_map(telling);
    assert_eq!(marked.filter(|it| it == "done: ends here").count(), 1, "{}", traced.out);
}

#[test]
fn a_graph_of_steps() {
    let scratch = Scratch::with(&[("dev-task.toml", STEPS)]);
    scratch.write_prompts();
    let run = scratch.run(&["graph", "dev-task.toml"]);
    assert_eq!((run.exit, run.err.as_str()), (0, ""));
    let expect = r#"---
title: "dev-task"
---
flowchart TD
    s0(["plan<br/>role: planner"]):::start
    s1["implement<br/>role: worker"]:::work
    s2["review<br/>role: reviewer"]:::work
    s3["fix<br/>role: worker"]:::work
    s4["pr<br/>role: any"]:::work
    s0 --> s1
    s1 --> s2
    s2 -->|"result == 'FAIL'"| s3
    s3 -.->|"again, at most 3 times"| s2
    s2 -->|"result == 'PASS'"| s4
    classDef start fill:#ddf4ff,stroke:#0969da,color:#0a3069
    classDef work fill:#dafbe1,stroke:#1a7f37,color:#044f1e
"#;
    assert_eq!(run.out, expect);
    let picture = scratch.run(&["graph", "dev-task.toml", "--format", "svg"]).out;
    assert_eq!(groups(&Document::parse(&picture).unwrap(), "edge").len(), 5);
}

#[test]
fn a_graph_of_a_step_with_a_handler() {
    let text = "[workflow]\nname = \"rescued\"\n[[steps]]\nid = \"a\"\nprompt = \"a\"\non_fail = \"help\"\n\
                [[steps]]\nid = \"b\"\nprompt = \"b\"\ndepends_on = [\"a\"]\nharness = \"codex\"\n\
                [[steps]]\nid = \"c\"\nprompt = \"c\"\ndepends_on = [\"b\"]\ncondition = \"a.summary == 'x'\"\n\
                [[steps]]\nid = \"help\"\nprompt = \"h\"\n";
    let scratch = Scratch::with(&[("rescued.toml", text)]);
    let dot = scratch.run(&["graph", "rescued.toml", "--format", "dot"]).out;
    assert!(dot.contains(r#"s0 -> s3 [label="failed", style=dashed];"#), "{dot}");
    assert!(dot.contains(r#"s1 [label="b\nrole: any\nharness: codex""#), "{dot}");
    // A condition on a step further up is not a matter of one arrow.
    assert!(dot.contains(r#"s2 [label="c\nrole: any\nif a.summary == 'x'""#), "{dot}");
    let picture = scratch.run(&["graph", "rescued.toml", "--format", "svg"]).out;
    for text in [
        "4 steps, 3 arrows between them.",
        "runs after a failure: help.",
        "runs it again, or handles its failure",
    ] {
        assert!(picture.contains(text), "{text}: {picture}");
    }
}

/// A deadline ends the time in a state whether an agent has ended or not.
#[test]
fn a_deadline_has_its_label_in_every_format() {
    let text = "\
name: limited
states: {working: {}, review: {}, stuck: {}, done: {terminal: true}}
transitions:
  - {from: working, to: review}
  - {from: review, to: [working, done]}
  - {from: [working, review], to: stuck, by: human}
deadlines: [{states: [working, review], after: 4h, then: stuck}]
";
    let scratch = Scratch::with(&[("limited.yml", text)]);
    for format in ["mermaid", "dot", "svg"] {
        let graph = scratch.run(&["graph", "limited.yml", "--format", format]);
        assert_eq!(graph.exit, 0, "{}", graph.err);
        assert!(graph.out.matches("at the deadline of 4 h").count() >= 2, "{}", graph.out);
        let edges = graph.out.lines().filter(|it| it.contains("at the deadline"));
        assert!(edges.clone().all(|it| !it.contains("agent ended")), "{}", graph.out);
    }
}

#[test]
fn a_graph_of_next_to_nothing() {
    let scratch = Scratch::with(&[("clean.yml", CLEAN)]);
    for format in ["mermaid", "dot", "svg"] {
        assert_eq!(scratch.run(&["graph", "clean.yml", "--format", format]).exit, 0);
    }
}

#[test]
fn a_run_is_highlighted_by_the_names_of_its_states() {
    let scratch = Scratch::with(&[("default.yml", DEFAULT)]);
    let draw = |format| {
        let args = ["graph", "default.yml", "--trace", "pending, working,stuck,working", "--format", format];
        let run = scratch.run(&args);
        assert_eq!((run.exit, run.err.as_str()), (0, ""));
        run.out
    };
    let svg = draw("svg");
    let picture = Document::parse(&svg).unwrap();
    let marked = groups(&picture, "marked").into_iter().filter_map(telling).collect::<Vec<_>>();
    let expect = [
        "pending → working",
        "working → stuck: also by the engine when an agent ended, after 2 crashes",
        "stuck → working",
    ];
    assert_eq!(marked[..3], expect, "{svg}");
    assert_eq!(texts(&picture, "number"), ["1", "2", "3"]);
    assert_eq!(texts(&picture, "said first"), ["pending → working → stuck → working"]);
    let mermaid = draw("mermaid");
    assert!(mermaid.contains("s0 -->|\"(1)\"| s2") && mermaid.contains("s5 -->|\"(3)\"| s2"), "{mermaid}");
    assert!(mermaid.contains("class s0,s2,s5 mark\n    linkStyle 0,"), "{mermaid}");
    let dot = draw("dot");
    assert!(dot.contains("s0 -> s2 [label=\"(1)\", color=\"#d9480f\", penwidth=3];"), "{dot}");
}

#[test]
fn what_a_check_finds_is_highlighted() {
    let scratch = Scratch::with(&[("default.yml", DEFAULT)]);
    let run = scratch.run(&["graph", "default.yml", "--highlight", "spawn-while-alive", "--format", "svg"]);
    assert_eq!((run.exit, run.err.as_str()), (0, ""));
    let picture = Document::parse(&run.out).unwrap();
    let marked: Vec<String> = groups(&picture, "marked").into_iter().filter_map(telling).collect();
    for expect in ["stuck → working", "stuck → agent-review"] {
        assert!(marked.iter().any(|it| it == expect), "{expect}: {marked:?}");
    }
    assert!(!texts(&picture, "number").is_empty() && !groups(&picture, "faded").is_empty(), "{}", run.out);
    let said = texts(&picture, "said first").concat();
    assert!(said.starts_with("C62 spawn-while-alive: "), "{said}");
}

#[test]
fn what_a_comment_allows_is_highlighted_all_the_same() {
    let allowed = DEFAULT.replace("  reviewing:\n", "  # orange: allow(C10) so it is meant\n  reviewing:\n");
    let scratch = Scratch::with(&[("default.yml", &allowed)]);
    assert!(!scratch.run(&["check", "default.yml"]).out.contains("C10"));
    let run = scratch.run(&["graph", "default.yml", "--highlight", "C10", "--format", "svg"]);
    assert_eq!((run.exit, run.err.as_str()), (0, ""));
    let picture = Document::parse(&run.out).unwrap();
    assert!(texts(&picture, "said first").concat().starts_with("C10 "), "{}", run.out);
}

#[test]
fn the_run_of_a_report_is_highlighted() {
    let scratch = Scratch::with(&[("default.yml", DEFAULT), ("clean.yml", CLEAN)]);
    let report = scratch.run(&["check", "default.yml", "--format", "json"]);
    scratch.write("report.json", &report.out);
    let of_file = scratch.run(&["graph", "default.yml", "--trace", "report.json", "--highlight", "C62"]);
    assert_eq!((of_file.exit, of_file.err.as_str()), (0, ""));
    assert!(of_file.out.contains("title: \"default: C62 spawn-while-alive: "), "{}", of_file.out);
    let of_stream =
        scratch.run_with_stdin(&["graph", "default.yml", "--trace", "-", "--highlight", "c62"], &report.out);
    assert_eq!(of_stream.out, of_file.out);
}

#[test]
fn a_run_that_cannot_be_highlighted_is_reported() {
    #[track_caller]
    fn check(args: &[&str], message: &str, help: &str) {
        let scratch = Scratch::with(&[("clean.yml", CLEAN), ("report.json", REPORT), ("broken.json", "{")]);
        let run = scratch.run(&[&["graph", "clean.yml"], args].concat());
        assert_eq!((run.exit, run.out.as_str()), (2, ""));
        assert!(run.err.starts_with(&format!("error: {message}")), "{}", run.err);
        assert!(run.err.contains(&format!("help: {help}")), "{}", run.err);
    }
    check(&["--trace", "pending,doen"], "--trace: there is no state `doen`", "did you mean `done`?");
    check(&["--trace", "nowhere"], "--trace: there is no state and no file `nowhere`", "name states");
    check(
        &["--trace", "done,pending"],
        "the trace goes from `done` to `pending`",
        "nothing leads on from `done`",
    );
    check(
        &["--trace", "broken.json"],
        "--trace: broken.json is not a report: ",
        "give what `orange-workflow check",
    );
    check(
        &["--trace", "report.json"],
        "--trace: report.json has no finding about clean.yml with a trace",
        "it is about other.yml",
    );
    check(&["--highlight", "C6222"], "--highlight: there is no check `C6222`", "");
    check(
        &["--highlight", "spawn-while-alife"],
        "--highlight: there is no",
        "did you mean `spawn-while-alive`?",
    );
    check(
        &["--highlight", "C62"],
        "--highlight: there is no finding of `spawn-while-alive`",
        "`orange-workflow check`",
    );
}

#[test]
fn the_trace_of_a_finding_about_steps_is_numbered() {
    let scratch =
        Scratch::with(&[("dev-task.toml", include_str!("../../../../tests/fixtures/dev-task.toml"))]);
    scratch.write_prompts();
    let picture = scratch.run(&["graph", "dev-task.toml", "--highlight", "B15"]);
    assert_eq!((picture.exit, picture.err.as_str()), (0, ""));
    assert!(picture.out.contains("(4, 6, 8)"), "{}", picture.out);
    let report = scratch.run(&["check", "dev-task.toml", "--format", "json"]);
    let piped = scratch
        .run_with_stdin(&["graph", "dev-task.toml", "--trace", "-", "--highlight", "B15"], &report.out);
    assert_eq!((piped.exit, piped.out), (0, picture.out), "{}", piped.err);
}

/// The groups of this class, whatever other classes they have.
fn groups<'d>(picture: &'d Document<'_>, class: &str) -> Vec<Node<'d, 'd>> {
    let has_class = |it: &Node<'_, '_>| {
        it.attribute("class").is_some_and(|classes| classes.split(' ').any(|it| it == class))
    };
    picture.descendants().filter(|it| it.has_tag_name("g") && has_class(it)).collect()
}

/// Description of a group.
fn description(group: Node<'_, '_>) -> String {
    telling(group).unwrap()
}

/// Description of a group, if it is more than a text.
fn telling(group: Node<'_, '_>) -> Option<String> {
    let title = group.first_element_child().filter(|it| it.has_tag_name("title"));
    title.and_then(|it| it.text()).map(str::to_owned)
}

/// The texts of this class.
fn texts<'d>(picture: &'d Document<'_>, class: &str) -> Vec<&'d str> {
    let has_class = |it: &Node<'_, '_>| it.has_tag_name("text") && it.attribute("class") == Some(class);
    picture.descendants().filter(has_class).filter_map(|it| it.text()).collect()
}
