//! Reports of agents: inputs of a start, outputs and gates of a completion. What is refused changes nothing.

use std::fs;

use serde_json::{Value, json};

use crate::missions::ends;
use crate::said::ProgramOutput;
use crate::task::Task;
use crate::world::World;

const VALUES: &str = r#"
[workflow]
name = "toy"

[inputs.target]
words = ["web", "api"]
default = "web"

[inputs.tries]
type = "number"
min = 1

[[steps]]
id = "plan"
prompt = "Plan {{inputs.target}}, {{inputs.tries}} times."
[steps.outputs]
risk = { words = ["low", "high"] }
parts = { type = "list", max_items = 2 }
score = { type = "number", min = 0, max = 10 }
done = { type = "bool" }

[[steps]]
id = "hard"
run = ["false"]
depends_on = ["plan"]
condition = "plan.risk == 'high' || plan.score > 5"

[[steps]]
id = "easy"
run = ["true"]
depends_on = ["plan"]
condition = "plan.done && inputs.target == 'api' && 'a' in plan.parts"
"#;

const GATES: &str = r###"
[workflow]
name = "toy"

[[steps]]
id = "fix"
prompt = "Fix it."
timeout = 86400
gates = [
    { run = ["sh", "-c", "test -f fixed && exit; echo \"no fix on $1 for $ORANGE_STEP\"; exit 3", "sh", "{{branch}}"], timeout = 60 },
    { file = "NOTES.md", contains = "## Cause" },
]
"###;

/// Says something as the agent of the mission's first attempt. A report may end its own process before the answer; then it is repeated.
fn says(mission: &Task<'_>, world: &World, words: &[&str], input: Option<&str>) -> ProgramOutput {
    let once = || {
        let mut command = mission.as_agent("worker", "1");
        // The worktree is given back at the end of the mission.
        let worktree =
            mission.owned("workspace").as_str().map(|name| world.home().join("workspaces").join(name));
        let folder = worktree.unwrap_or_else(|| world.repo());
        command.arg("step").args(words).current_dir(folder);
        if let Some(text) = input {
            let file = world.path("input.json");
            fs::write(&file, text).unwrap();
            command.stdin(fs::File::open(&file).unwrap());
        }
        world.said(&mut command)
    };
    (0..100).map(|_| once()).find(|said| said.status >= 0).unwrap()
}

/// A mission whose first agent waits.
fn waiting<'w>(world: &'w World, flow: &str, more: &[&str]) -> Task<'w> {
    world.workflow("toy.toml", flow);
    for step in ["plan", "fix"] {
        world.acts(step, "exec sleep 1000000");
    }
    let mission = world.start("toy", more);
    mission.agent(1).begun();
    mission
}

#[test]
fn a_start_gives_each_input_once_and_of_its_type() {
    let world = World::new();
    world.workflow("toy.toml", VALUES);
    let fails = |inputs: &[&str], expect: &str| {
        let inputs = inputs.iter().flat_map(|it| ["--input", it]);
        let words: Vec<&str> = ["mission", "start", "toy"].into_iter().chain(inputs).collect();
        let said = world.fails(2, "usage", &words);
        assert!(said.contains(expect), "{words:?}: {said}");
    };
    fails(&[], "tries");
    fails(&["tries=three"], "tries");
    fails(&["tries=0"], "tries");
    fails(&["tries=1", "target=ios"], "target");
    fails(&["tries=1", "tries=2"], "tries");
    fails(&["tries=1", "goal=x"], "goal");
    fails(&["tries"], "tries");
    let missions = world.ok(&["mission", "list"]);
    assert_eq!(missions, json!([]), "a refused start makes nothing");
}

#[test]
fn a_report_has_each_output_once_and_of_its_type() {
    let world = World::new();
    let mission = waiting(&world, VALUES, &["--input", "tries=3", "--input", "target=api"]);
    assert!(mission.agent(1).prompt().starts_with("Plan api, 3 times."));
    assert_eq!(mission.show()["inputs"], json!({"target": "api", "tries": 3}));
    let fails = |outputs: &[&str], expect: &str| {
        let outputs = outputs.iter().flat_map(|it| ["--output", it]);
        let words: Vec<&str> = ["complete", "--summary", "planned"].into_iter().chain(outputs).collect();
        let said = says(&mission, &world, &words, None).fails(2, "usage");
        assert!(said.contains(expect), "{words:?}: {said}");
    };
    let [risk, score, done] = ["risk=low", "score=3", "done=yes"];
    fails(&[], "risk");
    fails(&[risk, score], "parts");
    fails(&["risk=medium", score, done, "parts=a"], "risk");
    fails(&[risk, "score=11", done, "parts=a"], "score");
    fails(&[risk, "score=3.5", done, "parts=a"], "score");
    fails(&[risk, score, done, "parts=a", "parts=b", "parts=c"], "parts");
    fails(&[risk, risk, score, done, "parts=a"], "risk");
    fails(&[risk, score, done, "parts=a", "cost=3"], "cost");
    let json = |text: &str| {
        says(&mission, &world, &["complete", "--summary", "planned", "--outputs", "-"], Some(text))
    };
    for wrong in [
        "[]",
        "risk",
        r#"{"risk": "low"}"#,
        r#"{"risk": "low", "score": "3", "done": true, "parts": []}"#,
        r#"{"risk": "low", "score": 3, "done": true, "parts": "a"}"#,
        r#"{"risk": null, "score": 3, "done": true, "parts": []}"#,
    ] {
        json(wrong).fails(2, "usage");
    }
    let both = says(&mission, &world, &["complete", "--summary", "-", "--outputs", "-"], Some("{}"));
    assert!(both.fails(2, "usage").contains("cannot both come from standard input"));
    assert_eq!(mission.events_of("step.ended"), [] as [Value; 0], "a refused report changes nothing");

    let good = r#"{"risk": "low", "score": 3, "done": true, "parts": ["a"]}"#;
    assert!(json(good).ok()["repeated"].is_boolean());
    ends(&mission, "completed");
    // The same again, as options, is answered as then; another report is refused.
    let again = |risk: &str| {
        let outputs = [risk, score, done, "parts=a"].into_iter().flat_map(|it| ["--output", it]);
        let words: Vec<&str> = ["complete", "--summary", "planned"].into_iter().chain(outputs).collect();
        says(&mission, &world, &words, None)
    };
    let other = again("risk=high");
    assert!(other.out.contains("refused") || other.err.contains("refused"), "{other:?}");
    let steps = mission.show()["steps"].as_array().unwrap().clone();
    let statuses: Vec<&str> = steps.iter().map(|it| it["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["completed", "skipped", "completed"]);
}

#[test]
fn a_gate_that_says_no_refuses_a_report_and_changes_nothing() {
    let world = World::new();
    let mission = waiting(&world, GATES, &["--branch", "fast"]);
    let reports = || says(&mission, &world, &["complete", "--summary", "fixed"], None);
    let before = mission.events().len();
    let refused = reports().fails(1, "refused");
    for part in [
        "2 gates say no to the report of step fix; nothing was recorded",
        "no fix on fast for fix",
        "ended with status 3",
        "there is no file `NOTES.md`",
    ] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    fs::write(mission.worktree().join("fixed"), "").unwrap();
    fs::write(mission.worktree().join("NOTES.md"), "# Notes\n").unwrap();
    let refused = reports().fails(1, "refused");
    assert!(
        refused.contains("a gate says no") && refused.contains("does not contain `## Cause`"),
        "{refused}"
    );
    assert_eq!(mission.events().len(), before, "the journal has no refused report");
    assert!(mission.agent(1).is_there());

    fs::write(mission.worktree().join("NOTES.md"), "# Notes\n## Cause\n").unwrap();
    assert!(reports().ok()["repeated"].is_boolean());
    ends(&mission, "completed");
}

#[test]
fn an_agent_that_passes_no_gate_may_fail() {
    let world = World::new();
    let mission = waiting(&world, GATES, &[]);
    says(&mission, &world, &["fail", "--reason", "I cannot"], None).ok();
    mission.has_events(1, "mission.paused");
    assert_eq!(mission.show()["steps"][0]["status"], "failed");
}
