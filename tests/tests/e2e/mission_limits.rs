//! An agent of a step that meets a limit of its provider: its attempt goes on when that is over.

use std::fs;

use serde_json::{Value, json};

use crate::activity::{event, reports};
use crate::exits::{due_at, resumer};
use crate::missions::{TOY, ends, world};
use crate::task::{Task, is_alive, kill};
use crate::world::World;

/// Script of an agent that ends at a limit, which was not reported before: the first one of the mission alone.
const LIMITED: &str = r#"
if [ "$ORANGE_SPAWN" = 1 ]; then
  printf '{"time":"2026-01-01T00:00:00.000Z","spawn":1,"kind":"limit","text":"429, try again in %s"}\n' "$UNTIL" \
    >>"$ORANGE_HOME/missions/toy/$ORANGE_MISSION/activity.jsonl"
  exit 3
fi
complete PASS built
"#;

fn limited(until: &str) -> String {
    format!("UNTIL='{until}'{LIMITED}")
}

/// The steps and numbers of the attempts that have begun, and how many agents have.
fn begun(mission: &Task<'_>) -> (Vec<String>, usize) {
    let started = mission.events_of("step.started");
    let name = |it: &Value| format!("{} {}", it["step"].as_str().unwrap(), it["attempt"]);
    (started.iter().map(name).collect(), mission.events_of("agent.spawned").len())
}

/// A mission whose agent goes on in a quarter of an hour, and the process that waits for that is dead.
fn abandoned(world: &World) -> Task<'_> {
    world.acts("build", &limited("15 minutes"));
    let mission = world.start("toy", &["--branch", "fast"]);
    mission.has_events(1, "agent.waiting");
    world.until("somebody sees to it", || resumer(&mission).is_some());
    resumer(&mission).into_iter().for_each(kill);
    mission
}

#[test]
fn an_attempt_goes_on_when_the_limit_of_its_agent_is_over() {
    let world = world();
    world.acts("build", &limited("1 second"));
    let mission = world.start("toy", &[]);
    ends(&mission, "completed");
    let (attempts, agents) = begun(&mission);
    assert_eq!((attempts, agents), (["build 1", "check 1", "ship 1"].map(str::to_owned).to_vec(), 4));
    assert_eq!(mission.events_of("agent.exited")[0]["code"], 3);
    let waited = &mission.events_of("agent.waiting")[0];
    assert!(waited["reason"].as_str().unwrap().contains("has met a limit (429, try again"), "{waited}");
    assert!(waited["until"].as_str() <= mission.events_of("agent.spawned")[1]["timestamp"].as_str());
    assert_eq!((mission.owned("waiting_until"), mission.events_of("mission.paused")), (json!(null), vec![]));
    let build = &mission.show()["steps"][0];
    assert_eq!((&build["attempts"][0]["status"], &build["attempts"][1]), (&json!("completed"), &json!(null)));
    // The first report of the attempt counts, whichever of its agents repeats it.
    let mut again = mission.as_agent("worker", "2");
    again.args(["step", "complete", "--result", "PASS", "--summary", "built"]).current_dir(world.repo());
    assert_eq!(world.said(&mut again).ok()["repeated"], true);
}

#[test]
fn a_mission_that_waits_shows_until_when_and_why() {
    let world = world();
    let mission = abandoned(&world);
    let until = mission.owned("waiting_until");
    let show = mission.show();
    assert_eq!((&show["status"], &show["waiting_until"]), (&json!("running"), &until));
    assert_eq!((&show["steps"][0]["status"], &show["pause"]), (&json!("running"), &json!(null)));
    assert_eq!(world.ok(&["mission", "list"])[0]["waiting_until"], until);
    let until = until.as_str().unwrap();
    let text = world.orange(&["mission", "show", &mission.id]).out;
    assert!(text.contains(&format!("waiting    until {until}: agent 1 has met a limit (429")), "{text}");
    let list = world.orange(&["mission", "list"]).out;
    assert!(
        list.contains("Make it faster") && list.contains(&format!("until {until}: agent 1 has met a limit")),
        "{list}"
    );

    let attach = mission.fails(1, "refused", "attach", &[]);
    assert!(
        attach.contains(&format!("An agent starts again at {until}: agent 1 has met a limit")),
        "{attach}"
    );

    assert_eq!(mission.ok("cancel", &["--yes"])["status"], "cancelled");
    assert_eq!((mission.owned("waiting_until"), mission.owned("workspace")), (json!(null), json!(null)));
    let came = world.orange(&["agent", "resume", "--task", &mission.id, "--spawn", "1"]);
    assert_eq!((came.status, begun(&mission).1), (0, 1), "{came:?}");
}

#[test]
fn of_many_who_come_to_go_on_with_an_attempt_one_does() {
    let world = world();
    let mission = abandoned(&world);
    assert_eq!(world.ok(&["monitor", "--once"])["events"], json!([]), "it is not due");
    assert_eq!(begun(&mission).1, 1);
    world.acts("build", "until [ -e \"$ORANGE_HOME/go\" ]; do sleep 0.05; done; complete PASS built");
    due_at(&mission, "2001-01-01T00:00:00.000Z");
    let resume = ["agent", "resume", "--task", &mission.id, "--spawn", "1"];
    let comers = [&resume[..], &["monitor", "--once"], &resume, &["monitor", "--once"], &resume];
    let mut comers = comers.map(|args| world.command(world.program).args(args).spawn().unwrap());
    for comer in &mut comers {
        assert!(comer.wait().unwrap().success());
    }
    mission.agent(2).begun();
    assert_eq!(begun(&mission), (vec!["build 1".to_owned()], 2));
    fs::write(world.home().join("go"), "").unwrap();
    ends(&mission, "completed");
}

#[test]
fn a_living_agent_of_a_step_goes_on_after_its_limit() {
    let world = world();
    world.acts("build", "exec 3<&0; cat <&3 >\"$notes.heard\" & until grep -q 'Go on' \"$notes.heard\"; do sleep 0.05; done; complete PASS built");
    let mission = world.start("toy", &[]);
    let agent = mission.agent(1).begun();
    let mut limit = event("StopFailure");
    limit["error"] = "rate_limit".into();
    limit["last_assistant_message"] = "Limit reached, try again in 15 minutes.".into();
    reports(&mission, &limit);
    mission.has_events(1, "agent.waiting");
    world.until("somebody sees to it", || resumer(&mission).is_some());
    resumer(&mission).into_iter().for_each(kill);
    let other = world.ok(&["monitor", "--once"]);
    assert!(is_alive(agent), "{other}");
    assert_eq!(mission.events_of("agent.waiting").len(), 1);
    assert_eq!(mission.events_of("agent.activity")[0]["state"], "limit");
    let shown = world.orange(&["mission", "show", &mission.id]).out;
    assert!(shown.contains("agent      agent 1 (step build, worker) is limit"), "{shown}");
    due_at(&mission, "2001-01-01T00:00:00.000Z");
    world.ok(&["monitor", "--once"]);
    ends(&mission, "completed");
    assert_eq!(
        mission.events_of("agent.continued")[0]["reason"],
        "it got the message that the limit is over"
    );
    assert_eq!(begun(&mission).1, 3);
}

#[test]
fn a_timeout_begins_again_after_a_limit() {
    let world = World::new();
    world.workflow("toy.toml", &TOY.replace("timeout = 86400", "timeout = 1"));
    let mission = abandoned(&world);
    // The time of the attempt is over long ago.
    let file = mission.folder().join("history.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    let spawned = mission.events_of("agent.spawned")[0]["timestamp"].as_str().unwrap().to_owned();
    fs::write(&file, text.replace(&spawned, "2001-01-01T00:00:00.000Z")).unwrap();
    assert_eq!(world.ok(&["monitor", "--once"])["events"], json!([]), "no time passes while it waits");
    world.acts("build", "exec sleep 1000000");
    due_at(&mission, "2001-01-01T00:00:00.000Z");
    world.ok(&["monitor", "--once"]);
    mission.agent(2).begun();
    world.until("the monitor ends the attempt", || {
        world.ok(&["monitor", "--once"]);
        mission.events_of("step.ended").len() == 1
    });
    assert!(
        mission.events_of("step.ended")[0]["reason"].as_str().unwrap().contains("longer than the 1 seconds")
    );
}
