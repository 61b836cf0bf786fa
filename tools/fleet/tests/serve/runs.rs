//! Missions from their start to their end, as crabs and people bring them there.

use serde_json::{Value, json};

use crate::world::{TokenClient, World};

struct RunColony {
    world: World,
    id: String,
    crabs: TokenClient,
}

fn colony() -> RunColony {
    let world = World::new();
    let id = world.colony("coffee");
    let crabs = world.crabs_of(&id);
    RunColony { world, id, crabs }
}

impl RunColony {
    fn mission(&self, id: &str) -> Value {
        self.world.admin.get(&format!("/v1/missions/{id}")).ok(200)
    }

    fn person(&self, mission: &str, what: &str, body: &Value) -> crate::world::HttpAnswer {
        self.world.admin.post(&format!("/v1/missions/{mission}/{what}"), body)
    }

    /// Ends the step that a crab gets next.
    fn step(&self, crab: &str, result: Option<&str>) -> String {
        let run = self.crabs.run(crab);
        self.crabs.start(crab, &run).ok(200);
        self.crabs.complete(crab, &run, result).ok(200);
        run
    }
}

#[test]
fn a_role_that_is_taken_is_refused_with_its_holder() {
    let it = colony();
    it.crabs.register("atlas-id", &it.id, "worker");
    let body = json!({"colony_id": it.id, "name": "Second", "role": "worker"});
    let (message, help) = it.crabs.post("/v1/crabs/register", &body).refused(400, "role_taken");
    assert_eq!(message, "role 'worker' is already taken in this colony by crab 'atlas-id'");
    assert!(help.contains("any"));
    it.crabs.register("atlas-id", &it.id, "worker");
    it.crabs.register("extra-1", &it.id, "any");
    it.crabs.register("extra-2", &it.id, "any");
    it.crabs.register("atlas-id", &it.id, "planner");
    it.crabs.register("coral", &it.id, "worker");
    it.crabs.delete("/v1/crabs/coral").ok(204);
    it.crabs.register("other", &it.id, "worker");
}

#[test]
fn a_crab_without_an_id_gets_one() {
    let it = colony();
    let body = json!({"colony_id": "coffee", "name": "Sage", "roles": ["planner", "worker", "planner"], "version": "of the future"});
    let keyed = it.crabs.header("Idempotency-Key", "start-1");
    let first = keyed.post("/v1/crabs/register", &body).ok(200);
    assert_eq!((&first["roles"], &first["colony_id"]), (&json!(["planner", "worker"]), &json!(it.id)));
    assert_eq!(keyed.post("/v1/crabs/register", &body).ok(200), first);
    let other = json!({"colony_id": it.id, "name": "Coral", "role": "any"});
    let ids: Vec<Value> =
        (0..2).map(|_| it.crabs.post("/v1/crabs/register", &other).ok(200)["crab_id"].clone()).collect();
    assert_ne!(ids[0], ids[1]);
    let crabs = it.world.admin.get("/v1/crabs").ok(200);
    assert_eq!(crabs["crabs"].as_array().unwrap().len(), 3);
}

#[test]
fn what_a_crab_is_assigned_has_everything_that_it_needs() {
    let it = colony();
    it.crabs.register("sage", &it.id, "planner");
    it.crabs.register("atlas", &it.id, "worker");
    let body = json!({"colony_id": it.id, "workflow": "two", "prompt": "fix {{attempt}} \u{202e} <b>", "branch": "login"});
    let mission =
        it.world.admin.post("/v1/missions", &body).ok(201)["mission_id"].as_str().unwrap().to_owned();
    let plan = &it.crabs.poll("sage", 30_000)[0];
    assert_eq!(plan["run_id"], format!("{mission}.plan.1"));
    assert_eq!(
        (&plan["prompt"], &plan["results"]),
        (&json!("plan fix {{attempt}} \u{202e} <b>"), &json!(["GO", "STOP"]))
    );
    assert_eq!(
        (&plan["needs_result"], &plan["branch"], &plan["base"]),
        (&json!(true), &json!("login"), &json!("main"))
    );
    assert_eq!(
        (&plan["repository"], &plan["permissions"], &plan["worktree_path"]),
        (&json!("/srv/git/x.git"), &json!("full"), &Value::Null)
    );
    let run = plan["run_id"].as_str().unwrap();
    let step = || {
        let tasks = it.world.admin.get(&format!("/v1/tasks?mission={mission}")).ok(200);
        (tasks["tasks"][0]["status"].clone(), tasks["tasks"][0]["crab_id"].clone())
    };
    assert_eq!(step(), (json!("assigned"), json!("sage")));
    it.crabs.start("sage", run).ok(200);
    assert_eq!(step(), (json!("running"), json!("sage")));
    let again = it.crabs.get(&format!("/v1/runs/{run}")).ok(200);
    assert_eq!(
        (&again["prompt"], &again["status"], &again["worktree_path"]),
        (&plan["prompt"], &json!("running"), &json!("/w"))
    );
    let report = json!({"run_id": run, "crab_id": "sage", "status": "completed", "summary": "first tea", "result": "GO", "commit": "1f2e3d4c5b"});
    it.crabs.post("/v1/runs/complete", &report).ok(200);
    assert_eq!(step(), (json!("completed"), Value::Null));
    let work = &it.crabs.poll("atlas", 30_000)[0];
    assert_eq!(work["context"], "## plan\nfirst tea\n");
    assert_eq!(work["prompt"], "do fix {{attempt}} \u{202e} <b> 1\n\n# Context\n\n## plan\nfirst tea\n");
    let runs = it.world.admin.get(&format!("/v1/runs?mission={mission}")).ok(200);
    assert_eq!(
        (&runs["runs"][0]["commit"], &runs["runs"][0]["crab_id"]),
        (&json!("1f2e3d4c5b"), &json!("sage"))
    );
}

#[test]
fn the_path_of_the_worktree_is_the_crabs_to_fill_in() {
    let it = colony();
    it.crabs.register("atlas", &it.id, "worker");
    let mission = it.world.mission(&it.id, "one");
    let assigned = &it.crabs.poll("atlas", 30_000)[0];
    let (prompt, token) =
        (assigned["prompt"].as_str().unwrap(), assigned["worktree_token"].as_str().unwrap());
    let branch = assigned["branch"].as_str().unwrap();
    assert_eq!(
        prompt.replace(token, "/home/c/w"),
        format!("In /home/c/w on {branch} from origin/main: make tea")
    );
    let again = it.crabs.get(&format!("/v1/runs/{mission}.do.1")).ok(200);
    assert_eq!(again["worktree_token"], token);
}

#[test]
fn a_loop_runs_until_its_review_passes() {
    let it = colony();
    for (crab, role) in [("sage", "planner"), ("atlas", "worker"), ("coral", "reviewer")] {
        it.crabs.register(crab, &it.id, role);
    }
    let mission = it.world.mission(&it.id, "dev-task");
    let mut runs = vec![it.step("sage", None), it.step("atlas", None), it.step("coral", Some("FAIL"))];
    runs.extend([it.step("atlas", None), it.step("coral", Some("PASS")), it.step("atlas", None)]);
    let steps = ["plan.1", "implement.1", "review.1", "fix.1", "review.2", "pr.1"];
    assert_eq!(runs, steps.map(|it| format!("{mission}.{it}")));
    assert_eq!(it.mission(&mission)["status"], "completed");
    let tasks = it.world.admin.get(&format!("/v1/tasks?mission={mission}")).ok(200);
    let status = |step: &str| {
        tasks["tasks"].as_array().unwrap().iter().find(|it| it["step_id"] == step).unwrap()["status"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!([status("review"), status("fix"), status("hand-over")], ["completed", "completed", "skipped"]);
}

#[test]
fn a_report_counts_once() {
    let it = colony();
    it.crabs.register("atlas", &it.id, "worker");
    it.world.mission(&it.id, "one");
    let run = it.crabs.run("atlas");
    assert_eq!(it.crabs.start("atlas", &run).ok(200)["outcome"], "accepted");
    assert_eq!(it.crabs.start("atlas", &run).ok(200)["outcome"], "repeated");
    it.crabs.start("coral", &run).refused(409, "no_lease");
    assert_eq!(it.crabs.complete("atlas", &run, None).ok(200)["outcome"], "accepted");
    assert_eq!(it.crabs.complete("atlas", &run, None).ok(200)["outcome"], "repeated");
    it.crabs.complete("atlas", &run, Some("OTHER")).refused(409, "closed");
    let failed = json!({"run_id": run, "status": "failed", "summary": "no"});
    it.crabs.post("/v1/runs/complete", &failed).refused(409, "closed");
}

#[test]
fn a_late_completion_is_fenced() {
    let it = colony();
    it.crabs.register("atlas", &it.id, "worker");
    let mission = it.world.mission(&it.id, "one");
    let late = it.crabs.run("atlas");
    it.crabs.start("atlas", &late).ok(200);
    for _ in 0..3 {
        it.world.admin.post("/v1/scheduler/tick", &json!({})).ok(200);
    }
    it.crabs.register("coral", &it.id, "worker");
    let run = it.crabs.run("coral");
    assert_eq!(run, format!("{mission}.do.2"));
    let (message, help) = it.crabs.complete("atlas", &late, None).refused(409, "stale");
    assert!(message.contains("the current one is 2") && help.contains("keep its work"), "{message} {help}");
    it.crabs.complete("atlas", &run, None).refused(409, "no_lease");
    let ended = it.crabs.post("/v1/crabs/atlas/heartbeat", &json!({"runs": [late, run]})).ok(200);
    assert_eq!(ended, json!({"ended": [late, run], "is_registered": false}));
    it.crabs.complete("coral", &run, None).ok(200);
    assert_eq!(it.mission(&mission)["status"], "completed");
    it.crabs.complete("atlas", &late, None).refused(409, "closed");
}

#[test]
fn a_pause_is_answered_once() {
    let it = colony();
    it.crabs.register("atlas", &it.id, "any");
    let body = json!({"colony_id": it.id, "workflow": "two", "prompt": "x", "execution": "step"});
    let mission =
        it.world.admin.post("/v1/missions", &body).ok(201)["mission_id"].as_str().unwrap().to_owned();
    it.step("atlas", Some("GO"));
    let asked = it.mission(&mission);
    assert_eq!(
        asked["pause"],
        json!({"number": 1, "reason": "boundary", "step_id": "plan", "message": "", "offers": ["continue", "cancel"]})
    );
    it.person(&mission, "continue", &json!({"pause": 2})).refused(409, "other_pause");
    it.person(&mission, "continue", &json!({"accept_failure": true})).refused(409, "nothing_to_accept");
    it.person(&mission, "retry", &json!({})).refused(409, "not_failed");
    it.person(&mission, "continue", &json!({"pause": 1, "execution": "autom"}))
        .refused(400, "unknown_execution");
    let keyed = it.world.admin.header("Idempotency-Key", "answer-1");
    let path = format!("/v1/missions/{mission}/continue");
    let first = keyed.post(&path, &json!({"pause": 1, "execution": "auto"})).ok(200);
    assert_eq!(first["answered"], "went_on");
    assert_eq!(keyed.post(&path, &json!({"pause": 1, "execution": "auto"})).ok(200), first);
    keyed.post(&path, &json!({"pause": 1})).refused(409, "idempotency_conflict");
    it.person(&mission, "continue", &json!({"pause": 1})).refused(409, "not_paused");
    assert_eq!(it.mission(&mission)["execution"], "auto");
    it.step("atlas", None);
    assert_eq!(it.mission(&mission)["status"], "completed");
    it.person(&mission, "cancel", &json!({})).refused(409, "closed");
    it.person(&mission, "continue", &json!({})).refused(409, "closed");
}

#[test]
fn a_failed_step_is_tried_again_or_accepted() {
    let it = colony();
    it.crabs.register("atlas", &it.id, "any");
    let mission = it.world.mission(&it.id, "one");
    let fail = || {
        let run = it.crabs.run("atlas");
        it.crabs
            .post(
                "/v1/runs/complete",
                &json!({"run_id": run, "crab_id": "atlas", "status": "failed", "summary": "no milk"}),
            )
            .ok(200);
    };
    fail();
    let pause = &it.mission(&mission)["pause"];
    assert_eq!((&pause["reason"], &pause["message"]), (&json!("error"), &json!("do failed: no milk")));
    assert_eq!(pause["offers"], json!(["continue", "accept_failure", "cancel"]));
    let again = it.person(&mission, "continue", &json!({"pause": 1})).ok(200);
    assert_eq!((&again["answered"], &again["step_id"]), (&json!("tried_again"), &json!("do")));
    fail();
    assert_eq!(
        it.person(&mission, "continue", &json!({"accept_failure": true})).ok(200)["answered"],
        "accepted"
    );
    assert_eq!(it.mission(&mission)["status"], "failed");
    let (_, help) = it.person(&mission, "retry", &json!({"step": "doo"})).refused(404, "no_such_step");
    assert_eq!(help, "did you mean `do`?");
    it.person(&mission, "retry", &json!({"step": "do"})).ok(200);
    it.step("atlas", None);
    let runs = it.world.admin.get(&format!("/v1/runs?mission={mission}&limit=2")).ok(200);
    let status = |it: &Value| it["status"].as_str().unwrap().to_owned();
    assert_eq!(runs["runs"].as_array().unwrap().iter().map(status).collect::<Vec<_>>(), ["failed", "failed"]);
    let next = runs["next"].as_str().unwrap();
    let rest = it.world.admin.get(&format!("/v1/runs?mission={mission}&after={next}")).ok(200);
    assert_eq!((status(&rest["runs"][0]), &rest["next"]), ("completed".to_owned(), &Value::Null));
}

#[test]
fn a_step_that_the_last_round_skips_has_completed() {
    let it = colony();
    it.crabs.register("atlas", &it.id, "any");
    let body = json!({"colony_id": it.id, "workflow": "dev-task", "prompt": "x", "execution": "auto", "intervene": "never"});
    let made = it.world.admin.post("/v1/missions", &body).ok(201);
    let mission = made["mission_id"].as_str().unwrap();
    for result in [None, None, Some("FAIL"), Some("PASS"), Some("PASS")] {
        it.step("atlas", result);
    }
    let shown = it.mission(mission);
    let fix = shown["tasks"].as_array().unwrap().iter().find(|it| it["step_id"] == "fix").unwrap();
    assert_eq!((&fix["status"], &fix["result"]), (&json!("completed"), &json!("PASS")));
}

#[test]
fn a_step_that_cannot_start_waits_for_another_crab() {
    let it = colony();
    it.crabs.register("atlas", &it.id, "worker");
    let mission = it.world.mission(&it.id, "one");
    let run = it.crabs.run("atlas");
    let give_back = |crab: &str| {
        it.crabs.post(
            "/v1/runs/give-back",
            &json!({"run_id": run, "crab_id": crab, "reason": "the disk is full"}),
        )
    };
    give_back("coral").refused(409, "no_lease");
    give_back("atlas").ok(200);
    give_back("atlas").refused(409, "no_lease");
    let crab = &it.world.admin.get("/v1/crabs").ok(200)["crabs"][0];
    assert_eq!((&crab["status"], &crab["fault"]), (&json!("faulty"), &json!("the disk is full")));
    it.crabs.register("coral", &it.id, "any");
    assert_eq!(it.crabs.run("coral"), run, "the attempt is the same one");
    assert_eq!(it.mission(&mission)["status"], "running");
}

#[test]
fn a_step_that_needs_a_wall_goes_to_no_crab_without_one() {
    let it = colony();
    it.crabs.register("old", &it.id, "any");
    it.crabs.register_with("plain", &it.id, &["gates"]);
    let mission = it.world.mission(&it.id, "walled");
    for crab in ["old", "plain"] {
        let other = it.world.mission(&it.id, "one");
        assert!(it.crabs.run(crab).starts_with(&other), "{crab}");
    }
    let abilities = |crab: &str| {
        let crabs = it.world.admin.get("/v1/crabs").ok(200)["crabs"].clone();
        crabs.as_array().unwrap().iter().find(|it| it["crab_id"] == crab).unwrap()["abilities"].clone()
    };
    assert_eq!((abilities("old"), abilities("plain")), (json!([]), json!(["gates"])));
    let waits = it.mission(&mission)["waits"].clone();
    let lack = "no crab that takes a step of the role worker checks gates (upgrade its orange-fleet) and can make a wall";
    assert!(waits.as_str().is_some_and(|it| it.starts_with(lack)), "{waits}");
    it.crabs.register_with("able", &it.id, &["gates", "wall", "a word of a newer version"]);
    assert_eq!(abilities("able"), json!(["gates", "wall"]));
    assert!(it.crabs.run("able").starts_with(&mission));
}

#[test]
fn a_mission_is_made_once_for_each_key() {
    let it = colony();
    let start = |key: &str, prompt: &str| {
        let body = json!({"colony_id": it.id, "workflow": "one", "prompt": prompt});
        it.world.admin.header("Idempotency-Key", key).post("/v1/missions", &body)
    };
    let first = start("k1", "tea").ok(201);
    assert_eq!(start("k1", "tea").ok(201)["mission_id"], first["mission_id"]);
    start("k1", "coffee").refused(409, "idempotency_conflict");
    assert_ne!(start("k2", "tea").ok(201)["mission_id"], first["mission_id"]);
    assert_eq!(it.world.admin.get("/v1/missions").ok(200)["missions"].as_array().unwrap().len(), 2);
}

#[test]
fn lists_have_pages() {
    let it = colony();
    let made: Vec<String> = (0..5).map(|_| it.world.mission(&it.id, "one")).collect();
    let mut found: Vec<String> = Vec::new();
    let mut path = "/v1/missions?limit=2".to_owned();
    loop {
        let page = it.world.admin.get(&path).ok(200);
        found.extend(
            page["missions"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| it["mission_id"].as_str().unwrap().to_owned()),
        );
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/v1/missions?limit=2&after={next}");
    }
    found.reverse();
    assert_eq!(found, made);
    for name in ["a", "b", "c"] {
        it.world.colony(name);
        it.crabs.register(&format!("crab-{name}"), &it.id, "any");
    }
    let colonies = it.world.admin.get("/v1/colonies?limit=2").ok(200);
    assert_eq!(colonies["next"], "b");
    assert_eq!(it.world.admin.get("/v1/colonies?after=b").ok(200)["colonies"][0]["name"], "c");
    let crabs = it.world.admin.get("/v1/crabs?limit=2").ok(200);
    assert_eq!(crabs["next"], format!("{}/crab-b", it.id));
    let rest = it.world.admin.get(&format!("/v1/crabs?after={}/crab-b", it.id)).ok(200);
    assert_eq!((&rest["crabs"][0]["crab_id"], &rest["next"]), (&json!("crab-c"), &Value::Null));
}

#[test]
fn missions_are_found_by_status_and_text() {
    let it = colony();
    let start = |prompt: &str, branch: &str| {
        let body = json!({"colony_id": "coffee", "workflow": "one", "prompt": prompt, "branch": branch});
        it.world.admin.post("/v1/missions", &body).ok(201)["mission_id"].as_str().unwrap().to_owned()
    };
    let (milk, _) = (start("100% milk", "milk"), start("tea", "leaves"));
    it.person(&milk, "cancel", &json!({})).ok(200);
    let found = |query: &str| {
        it.world.admin.get(&format!("/v1/missions?{query}")).ok(200)["missions"].as_array().unwrap().len()
    };
    assert_eq!(
        [found("status=cancelled"), found("status=running,cancelled"), found("status=failed")],
        [1, 2, 0]
    );
    assert_eq!([found("q=100%25"), found("q=leaves"), found("q=nothing"), found("q=")], [1, 1, 0, 2]);
    assert_eq!([found("colony=coffee"), found(&format!("colony={}", it.id))], [2, 2]);
}
