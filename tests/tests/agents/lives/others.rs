//! Workflows of other systems, as `tests/fixtures/others` has them.

use std::fs;

use orange_tests::model::{ModelAct, Plan};
use serde_json::{Value, json};

use super::HarnessPair;
use crate::plans::{all_went_well, paint};
use crate::suite::LifeSuite;
use crate::task::Task;
use crate::world::World;

const PROMPT: &str = "Paint the garden door";

/// The minds of `takt-magi`, with what each judges.
const MINDS: [(&str, &str); 3] =
    [("an engineer", "approve"), ("a guardian", "reject"), ("a pragmatist", "approve")];

/// Three agents judge side by side, a fourth counts, and a fifth does what was approved.
pub(super) fn panel(suite: &'static LifeSuite, HarnessPair(harness, _): HarnessPair) {
    let world = World::new(suite);
    let minds = MINDS.map(|(mind, judgment)| {
        let acts = vec![
            ModelAct::run("git log --oneline -1"),
            ModelAct::hold(mind),
            reports(&format!("--output judgment={judgment} "), &format!("So says {mind}")),
        ];
        world.plan(Plan::new(&[&format!("As {mind}, judge this matter: {PROMPT}")], acts))
    });
    let said = MINDS.map(|(mind, _)| format!("So says {mind}"));
    let heard = [&["Count the judgments"], &said.each_ref().map(String::as_str)[..]].concat();
    let counts = world.plan(Plan::new(&heard, vec![reports("--output verdict=approve ", "Two approve")]));
    let works =
        world.plan(Plan::new(&["Carry out", "Two approve"], vec![paint("door"), reports("", "It is green")]));
    let mission = start(&world, "takt-magi.yml", harness);
    for (mind, _) in MINDS {
        world.until_held(mind);
    }
    let minds_at_work = step(&world, &mission, "minds");
    let statuses = minds_at_work["items"].as_array().unwrap().iter().map(|it| it["status"].clone());
    assert_eq!(statuses.collect::<Vec<_>>(), ["running"; 3], "{minds_at_work}");
    for (mind, _) in MINDS {
        world.model.open(mind);
    }
    completes(&world, &mission, &[&minds[..], &[counts, works]].concat());
    assert_eq!(step(&world, &mission, "conditions")["status"], "skipped");
}

/// A gate refuses the first report of the plan; a person rejects the plan and says why, and approves the design.
pub(super) fn approvals(suite: &'static LifeSuite, HarnessPair(harness, _): HarnessPair) {
    let world = World::new(suite);
    let commit = |file: &str, text: &str| {
        let command = format!("printf '{text}' > {file} && git add {file} && git commit --quiet -m '{file}'");
        ModelAct::run(command)
    };
    let plan = world.plan(Plan::new(
        &["numbered steps and no code", PROMPT],
        vec![reports("", "Too early"), commit("plan.md", "1. Paint it\\n"), reports("", "One step")],
    ));
    let others = [
        (
            &["Change plan.md", "Say what becomes of the old paint"][..],
            vec![
                commit("plan.md", "1. Scrape it\\n2. Paint it\\n"),
                reports("--result approve ", "Scraped first"),
            ],
        ),
        (
            &["Write the interfaces", "Scraped first"],
            vec![commit("spec.md", "A door is green.\\n"), reports("", "Green")],
        ),
        (&["Build what spec.md says"], vec![paint("door"), reports("", "It is green")]),
        (
            &["Compare the code with spec.md", "It is green"],
            vec![ModelAct::run("git log --oneline -3"), reports("--result PASS ", "As it says")],
        ),
        (&["Open a pull request for paint", "As it says"], vec![reports("", "There is no remote for one")]),
    ]
    .map(|(marks, acts)| world.plan(Plan::new(marks, acts)));
    let mission = start(&world, "ironcurtain-design-and-code.yml", harness);
    let answer = |ask: &str, more: &[&str]| {
        world.until(&format!("{ask} is asked"), || step(&world, &mission, ask)["status"] == "asked");
        world.ok(&[&["mission", "answer", &mission.id, ask], more].concat());
    };
    answer("approve-plan", &["reject", "--comment", "Say what becomes of the old paint"]);
    answer("approve-design", &["approve"]);
    completes(&world, &mission, &others);
    let exchanges = world.report(plan).exchanges;
    let refusal = exchanges[0].answer.as_deref().unwrap_or_default();
    assert!(refusal.contains("plan.md"), "{refusal}");
    assert!(exchanges[1..].iter().all(|it| !it.is_error), "{exchanges:#?}");
    let plan = world.git(&world.repo(), &["show", "paint:plan.md"]);
    assert_eq!(plan, "1. Scrape it\n2. Paint it");
}

/// Starts a mission of one of these workflows.
fn start<'w>(world: &'w World, file: &str, harness: &str) -> Task<'w> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/others");
    let text = fs::read_to_string(format!("{folder}/{file}")).unwrap();
    world.write(&format!("orange/workflows/{file}"), &text);
    let name = file.split_once('.').unwrap().0;
    world.start(name, PROMPT, &["--branch", "paint", "--harness", harness])
}

/// Waits until a mission has completed, each of these plans as it was written.
fn completes(world: &World, mission: &Task<'_>, plans: &[usize]) {
    mission.has_events(1, "mission.ended");
    assert_eq!(mission.events_of("mission.ended")[0]["status"], json!("completed"));
    for plan in plans {
        all_went_well(world, *plan);
    }
}

fn step(world: &World, mission: &Task<'_>, id: &str) -> Value {
    let shown = world.ok(&["mission", "show", &mission.id]);
    shown["steps"].as_array().unwrap().iter().find(|it| it["id"] == id).unwrap().clone()
}

/// A report as the prompt of a step wants it.
fn reports(values: &str, summary: &str) -> ModelAct {
    ModelAct::run(format!("orange step complete {values}--summary - <<'END'\n{summary}\nEND"))
}
