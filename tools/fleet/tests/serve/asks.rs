//! Steps that ask people: the question is put without a crab, and the first answer counts.

use orange_fleet::serve::auth::Rights;
use serde_json::{Value, json};

use crate::world::{TokenClient, World, until};

struct Asking {
    world: World,
    crabs: TokenClient,
    ada: TokenClient,
    bob: TokenClient,
    mission: String,
}

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// A mission whose plan is pushed, and which asks whether it is good, and when.
fn asking() -> Asking {
    let world = World::new();
    let colony = world.colony("coffee");
    let crabs = world.crabs_of(&colony);
    crabs.register("sage", &colony, "planner");
    let mission = world.mission(&colony, "asks");
    let run = crabs.run("sage");
    crabs.start("sage", &run).ok(200);
    let body = json!({"run_id": run, "crab_id": "sage", "status": "completed", "summary": "a plan", "commit": COMMIT});
    crabs.post("/v1/runs/complete", &body).ok(200);
    let (ada, bob) = (world.person("Ada"), world.person("Bob"));
    Asking { world, crabs, ada, bob, mission }
}

impl Asking {
    fn shown(&self) -> Value {
        self.world.admin.get(&format!("/v1/missions/{}", self.mission)).ok(200)
    }

    fn status_of(&self, step: &str) -> Value {
        let shown = self.shown();
        shown["tasks"].as_array().unwrap().iter().find(|it| it["step_id"] == step).unwrap()["status"].clone()
    }

    fn answers(&self) -> String {
        format!("/v1/missions/{}/answers", self.mission)
    }

    fn kinds(&self) -> Vec<String> {
        let events = self.world.admin.get(&format!("/v1/missions/{}/events?limit=500", self.mission)).ok(200);
        let events = events["events"].as_array().unwrap().iter();
        events.map(|it| it["kind"].as_str().unwrap().to_owned()).collect()
    }
}

#[test]
fn a_mission_shows_whom_it_asks_what() {
    let it = asking();
    let shown = it.shown();
    assert_eq!(shown["status"], "running");
    let [approve, when] = &shown["asks"].as_array().unwrap()[..] else { panic!("{shown}") };
    assert_eq!(approve["question"], "Is this plan good: make tea?");
    assert_eq!((&approve["who"], &approve["commit"]), (&json!(["Ada", "Bob"]), &json!(COMMIT)));
    assert_eq!((&approve["answers"], &approve["shows_diff"]), (&json!(["approve", "reject"]), &json!(true)));
    assert!(approve["context"].as_str().unwrap().contains("a plan"), "{approve}");
    assert_eq!((&when["answers"], &when["commit"]), (&json!(["now", "later"]), &Value::Null));
    assert_eq!((it.status_of("approve"), it.status_of("do")), (json!("asked"), json!("blocked")));
    let listed = it.world.admin.get("/v1/missions?asks=true").ok(200);
    assert_eq!(listed["missions"][0]["asks"], json!(["approve", "when"]));
    assert_eq!(it.world.admin.get("/v1/status").ok(200)["asking"], 1);
    assert_eq!(it.crabs.poll("sage", 10), Vec::<Value>::new(), "no crab gets a question");
}

#[test]
fn the_first_answer_counts_and_is_repeated() {
    let it = asking();
    let path = it.answers();
    let approve = json!({"step": "approve", "answer": "approve", "comment": "go", "commit": &COMMIT[..7]});
    let given = it.ada.post(&path, &approve).ok(200);
    assert_eq!((&given["by"], &given["outcome"]), (&json!("Ada"), &json!("accepted")));
    assert_eq!(it.ada.post(&path, &approve).ok(200)["outcome"], "repeated");
    let (message, _) =
        it.bob.post(&path, &json!({"step": "approve", "answer": "reject"})).refused(409, "answered");
    assert!(message.ends_with("approve, by Ada"), "{message}");
    it.bob.post(&path, &json!({"answer": "now"})).ok(200);
    let runs = it.world.admin.get(&format!("/v1/runs?mission={}", it.mission)).ok(200);
    let run = runs["runs"].as_array().unwrap().iter().find(|it| it["step_id"] == "approve").unwrap();
    assert_eq!((&run["by"], &run["summary"], &run["crab_id"]), (&json!("Ada"), &json!("go"), &Value::Null));
    let run = it.crabs.run("sage");
    let prompt = it.crabs.get(&format!("/v1/runs/{run}")).ok(200)["prompt"].clone();
    assert!(prompt.as_str().unwrap().contains("Bob answered `now`"), "{prompt}");
    assert_eq!(it.world.admin.get("/v1/status").ok(200)["asking"], 0);
    assert_eq!(it.kinds().iter().filter(|it| *it == "step.answered").count(), 2);
}

#[test]
fn who_is_not_asked_cannot_answer() {
    let it = asking();
    let path = it.answers();
    let approve = json!({"step": "approve", "answer": "approve"});
    let (message, _) = it.world.admin.post(&path, &approve).refused(403, "not_yours");
    assert!(message.contains("Ada, Bob"), "{message}");
    it.crabs.post(&path, &approve).refused(403, "forbidden");
    it.world.with_rights(Rights::Reader).post(&path, &approve).refused(403, "forbidden");
    let run = format!("{}.approve.1", it.mission);
    it.crabs.complete("sage", &run, Some("approve")).refused(403, "not_yours");
    it.crabs.start("sage", &run).refused(403, "not_yours");
    it.crabs.get(&format!("/v1/runs/{run}")).refused(403, "not_yours");
    assert_eq!(it.status_of("approve"), "asked");
}

#[test]
fn an_answer_to_something_else_is_refused() {
    let it = asking();
    let path = it.answers();
    let refused = |body: Value, status: u16, code: &str| it.ada.post(&path, &body).refused(status, code);
    let (message, _) =
        refused(json!({"step": "approve", "answer": "approve", "commit": "fedcba9"}), 409, "moved");
    assert!(message.contains(COMMIT), "{message}");
    refused(json!({"step": "when", "answer": "now", "commit": COMMIT}), 409, "moved");
    let (_, help) = refused(json!({"step": "when", "answer": "soon"}), 400, "no_such_answer");
    assert!(help.contains("now, later"), "{help}");
    refused(json!({"answer": "approve"}), 400, "step_needed");
    refused(json!({"step": "aprove", "answer": "approve"}), 404, "no_such_step");
    refused(json!({"step": "plan", "answer": "approve"}), 409, "not_asked");
    refused(json!({"step": "approve", "answer": "approve", "attempt": 2}), 404, "no_such_attempt");
    refused(json!({"step": "approve", "answer": "approve", "why": "x"}), 400, "bad_field");
    assert_eq!((it.status_of("approve"), it.status_of("when")), (json!("asked"), json!("asked")));
}

#[test]
fn a_rejection_goes_to_the_handler() {
    let it = asking();
    it.bob
        .post(&it.answers(), &json!({"step": "approve", "answer": "reject", "comment": "no tests"}))
        .ok(200);
    assert_eq!((it.shown()["status"].clone(), it.status_of("revise")), (json!("running"), json!("queued")));
    let run = it.crabs.run("sage");
    assert_eq!(run, format!("{}.revise.1", it.mission));
    it.crabs.start("sage", &run).ok(200);
    it.crabs.complete("sage", &run, Some("approve")).ok(200);
    it.bob.post(&it.answers(), &json!({"answer": "later"})).ok(200);
    assert_eq!(it.crabs.run("sage"), format!("{}.do.1", it.mission));
}

#[test]
fn a_question_ends_when_its_time_is_over() {
    let world = World::with(|settings| settings.lease = std::time::Duration::from_secs(1));
    let mission = world.mission(&world.colony("coffee"), "hurry");
    let path = format!("/v1/missions/{mission}");
    let asks = world.admin.get(&path).ok(200)["asks"].clone();
    let until_ms = asks[0]["until_ms"].as_i64().unwrap();
    assert_eq!(
        (until_ms - asks[0]["since_ms"].as_i64().unwrap(), &asks[0]["on_timeout"]),
        (2000, &json!("no"))
    );
    until("the time is over", || world.admin.get(&path).ok(200)["status"] == "failed");
    let runs = world.admin.get(&format!("/v1/runs?mission={mission}")).ok(200);
    let end = |step: &str| {
        let runs = runs["runs"].as_array().unwrap();
        let run = runs.iter().find(|it| it["step_id"] == step).unwrap();
        (run["status"].clone(), run["result"].clone(), run["by"].clone())
    };
    assert_eq!(end("go"), (json!("completed"), json!("no"), json!("timeout")));
    assert_eq!(end("good"), (json!("failed"), Value::Null, Value::Null));
    let late = json!({"step": "go", "answer": "yes"});
    let (message, _) = world.admin.post(&format!("{path}/answers"), &late).refused(409, "answered");
    assert!(message.ends_with("no, by timeout"), "{message}");
    let events = world.admin.get(&format!("{path}/events?limit=500")).ok(200);
    let of = |kind: &str| events["events"].as_array().unwrap().iter().filter(|it| it["kind"] == kind).count();
    assert_eq!((of("step.asked"), of("step.expired")), (2, 2));
}

#[test]
fn a_fleet_refuses_steps_that_work_side_by_side() {
    let world = World::new();
    let body = json!({"colony_id": world.colony("coffee"), "workflow": "beside", "prompt": "x"});
    let (message, _) = world.admin.post("/v1/missions", &body).refused(501, "unsupported");
    assert!(message.contains("side by side"), "{message}");
}
