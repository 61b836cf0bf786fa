//! The commands for people, against a gateway that runs.

use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use serde_json::Value;

use crate::stops::{ServeProcess, command};

impl ServeProcess {
    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = command();
        let is_local = arguments[0] == "backup" || (arguments[0] == "token" && arguments[1] != "new");
        command.args(arguments).arg("--dir").arg(self.folder.path());
        if !is_local {
            command.args(["--gateway", &self.url]);
        }
        command.output().unwrap()
    }

    #[track_caller]
    fn says(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        let mut all = arguments.to_vec();
        all.push("--json");
        serde_json::from_str(&self.says(&all)).unwrap()
    }

    #[track_caller]
    fn fails(&self, arguments: &[&str], status: i32) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

#[test]
fn people_start_and_answer_missions() {
    let program = ServeProcess::new(&[]);
    program.says(&["colony", "create", "coffee", "--repository", "/srv/git/coffee.git", "--base", "main"]);
    assert!(program.says(&["colony", "list"]).contains("coffee  /srv/git/coffee.git  main"));
    let started = program.json(&[
        "mission",
        "start",
        "dev-task",
        "Add a login form",
        "--colony",
        "coffee",
        "--execution",
        "step",
    ]);
    let mission = started["mission_id"].as_str().unwrap();
    let waits = "it waits: the colony has no crab that takes a step of the role planner";
    assert!(program.says(&["mission", "show", mission]).ends_with(waits));
    assert!(program.says(&["mission", "list", "--status", "running"]).contains(mission));
    let with_key = ["mission", "start", "dev-task", "Add tea", "--colony", "coffee", "--key", "tea"];
    let [once, again] = [(); 2].map(|()| program.json(&with_key));
    assert_eq!(once["mission_id"], again["mission_id"]);
    program.says(&["mission", "cancel", once["mission_id"].as_str().unwrap()]);
    let client = &program.client;
    client.register("sage", "coffee", "any");
    let run = client.run("sage");
    client.complete("sage", &run, None).ok(200);
    let shown = program.says(&["mission", "show", mission]);
    assert!(shown.contains("\n\npaused after plan\n"), "{shown}");
    let same = format!("--gateway {} --dir {}", program.url, program.folder.path().display());
    for next in ["continue {} --pause 1", "cancel {}"].map(|it| it.replace("{}", mission)) {
        assert!(shown.contains(&format!("`orange-fleet mission {next} {same}`")), "{shown}");
    }
    assert!(!shown.contains("--accept-failure"), "{shown}");
    assert!(
        program
            .fails(&["mission", "continue", mission, "--pause", "7"], 1)
            .contains("help: look at what the mission asks now")
    );
    let branch = started["branch"].as_str().unwrap();
    let by_branch = program.says(&["mission", "show", branch]);
    assert_eq!(by_branch, shown.replace(&format!(" {mission} "), &format!(" {branch} ")), "{by_branch}");
    assert_eq!(
        program.says(&["mission", "continue", mission, "--pause", "1"]),
        format!("mission {mission} goes on")
    );
    assert!(program.says(&["mission", "runs", mission]).contains(&run));
    assert!(program.fails(&["mission", "retry", mission], 1).contains("only a failed one is tried again"));
    program.says(&["mission", "cancel", branch]);
    assert!(program.says(&["status"]).contains("2 cancelled"));
    assert!(program.says(&["colony", "crabs"]).contains("sage"));
    assert_eq!(program.says(&["colony", "remove-crab", "sage"]), "sage has left its colony");
    assert_eq!(program.says(&["colony", "crabs"]), "none");
    assert!(
        program
            .fails(&["colony", "remove-crab", "sage"], 3)
            .contains("`orange-fleet colony crabs` lists them")
    );
    assert!(
        program
            .fails(&["mission", "start", "dev-tsak", "x", "--colony", "coffee"], 3)
            .contains("did you mean `dev-task`?")
    );
    assert!(program.fails(&["mission", "show", "m9"], 3).contains("no mission on a branch `m9`"));
}

#[test]
fn people_answer_the_questions_of_steps() {
    let prompts = tempfile::tempdir().unwrap();
    std::fs::create_dir(prompts.path().join("workflows")).unwrap();
    let asks = "[workflow]\nname = 'asks'\n[[steps]]\nid = 'ok'\nask = 'Good?'\nwho = ['admin']\n\
                [[steps]]\nid = 'when'\nask = 'When?'\nanswers = ['now', 'later']\nshow = ['context']\n";
    std::fs::write(prompts.path().join("workflows/asks.toml"), asks).unwrap();
    let program = ServeProcess::new(&["--prompts-path", prompts.path().to_str().unwrap()]);
    program.says(&["colony", "create", "coffee", "--repository", "/srv/git/coffee.git", "--base", "main"]);
    let started = program.json(&["mission", "start", "asks", "Make tea", "--colony", "coffee"]);
    let mission = started["mission_id"].as_str().unwrap();
    assert!(program.says(&["mission", "list", "--asks"]).contains(mission));
    let shown = program.says(&["mission", "show", mission]);
    assert!(shown.contains("ok asks admin: Good?") && shown.contains("when asks a person: When?"), "{shown}");
    let command = format!("`orange-fleet mission answer {mission} when later --gateway ");
    assert!(shown.contains(&command), "{shown}");
    assert!(
        program.fails(&["mission", "answer", mission, "approve"], 2).contains("several steps ask: ok, when")
    );
    let answer = ["mission", "answer", mission, "ok", "approve", "--comment", "fine"];
    assert_eq!(program.says(&answer), "step ok is answered: approve, by admin");
    assert_eq!(program.says(&answer), "step ok is answered: approve, by admin (it was before)");
    let other = program.fails(&["mission", "answer", mission, "ok", "reject"], 1);
    assert!(other.contains("has been answered: approve, by admin"), "{other}");
    assert_eq!(program.json(&["mission", "answer", mission, "later"])["by"], "admin");
    assert!(program.says(&["mission", "list", "--status", "completed"]).contains(mission));
    assert!(!program.says(&["mission", "list", "--asks"]).contains(mission));
}

#[test]
fn a_branch_of_two_colonies_names_no_mission() {
    let program = ServeProcess::new(&[]);
    let mut ids = Vec::new();
    for colony in ["coffee", "tea"] {
        let repository = format!("/srv/git/{colony}.git");
        program.says(&["colony", "create", colony, "--repository", &repository]);
        let start = ["mission", "start", "dev-task", "Add it", "--colony", colony, "--branch", "login"];
        ids.push(program.json(&start)["mission_id"].as_str().unwrap().to_owned());
    }
    let refusal = program.fails(&["mission", "cancel", "login"], 2);
    assert!(refusal.contains("2 missions are on a branch `login`"), "{refusal}");
    assert!(ids.iter().all(|id| refusal.contains(id)), "{refusal}");
    assert!(program.says(&["mission", "show", &ids[0]]).contains("running"), "neither is cancelled");
}

#[test]
fn tokens_are_made_shown_once_and_revoked() {
    let program = ServeProcess::new(&[]);
    program.says(&["colony", "create", "coffee", "--repository", "/srv/git/coffee.git"]);
    let token = program.says(&["token", "new", "--colony", "coffee"]);
    let crabs = crate::world::TokenClient { token: Some(token.clone()), ..program.client.clone() };
    crabs.register("atlas", "coffee", "worker");
    crabs.get("/v1/missions").refused(403, "forbidden");
    let id = token.split('_').nth(1).unwrap();
    let list = program.says(&["token", "list"]);
    assert!(
        list.contains(id)
            && list.contains("crabs of coffee")
            && !list.contains(token.split('_').nth(2).unwrap()),
        "{list}"
    );
    program.says(&["token", "revoke", id]);
    crabs.post("/v1/crabs/atlas/heartbeat", &serde_json::json!({"runs": []})).refused(401, "unauthorized");
    assert!(program.fails(&["token", "new", "--colony", "cofee"], 3).contains("did you mean `coffee`?"));
    assert!(program.fails(&["token", "revoke", "nothing"], 3).contains("there is no token"));
    let person = program.says(&["token", "new", "--person", "ada"]);
    crate::world::TokenClient { token: Some(person), ..program.client.clone() }.get("/v1/status").ok(200);
}

#[test]
fn the_store_is_copied_while_the_gateway_runs() {
    let program = ServeProcess::new(&[]);
    program.says(&["colony", "create", "coffee", "--repository", "/srv/git/coffee.git"]);
    let copy = program.folder.path().join("copy.db");
    program.says(&["backup", copy.to_str().unwrap()]);
    assert!(program.fails(&["backup", copy.to_str().unwrap()], 1).contains("is there already"));
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(&copy, folder.path().join("fleet.db")).unwrap();
    let restored = ServeProcess::at(folder, &[]);
    assert!(restored.says(&["colony", "list"]).contains("coffee"));
}

#[test]
fn a_check_says_what_would_not_be_served() {
    let folder = tempfile::tempdir().unwrap();
    let workflows = folder.path().join("prompts/workflows");
    std::fs::create_dir_all(&workflows).unwrap();
    std::fs::write(
        workflows.join("good.toml"),
        "[workflow]\nname = 'good'\n[[steps]]\nid = 'a'\nprompt = 'x'\n",
    )
    .unwrap();
    let check = |more: &[&str]| {
        let prompts = folder.path().join("prompts");
        command()
            .args(["serve", "--check", "--dir"])
            .arg(folder.path().join("g"))
            .arg("--prompts-path")
            .arg(prompts)
            .args(more)
            .output()
            .unwrap()
    };
    let refused = check(&["--traces", "nonsense"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let output = check(&[]);
    assert!(
        output.status.success() && String::from_utf8_lossy(&output.stdout).contains("dev-task, good"),
        "{output:?}"
    );
    std::fs::write(
        workflows.join("cycle.toml"),
        "[workflow]\nname = 'cycle'\n[[steps]]\nid = 'a'\nprompt = 'x'\ndepends_on = ['a']\n",
    )
    .unwrap();
    let output = check(&[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cycle.toml"), "{output:?}");
    let output = check(&["--listen", "0.0.0.0:8800"]);
    assert!(
        output.status.code() == Some(2) && String::from_utf8_lossy(&output.stderr).contains("--tls-cert"),
        "{output:?}"
    );
    let output = check(&["--lease", "0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!folder.path().join("g").exists(), "a check makes nothing");
    let other = folder.path().join("other.db");
    std::fs::write(&other, "no database").unwrap();
    let output = check(&["--store", &format!("sqlite:{}", other.display())]);
    assert_eq!(output.status.code(), Some(6), "{output:?}");
    let output = check(&["--store", "mysql://x"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("is not a store"), "{output:?}");
}

#[test]
fn a_check_knows_what_the_start_would_refuse() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    std::fs::create_dir(&tokens).unwrap();
    std::fs::write(tokens.join("admin"), "orange_admin_x").unwrap();
    std::fs::set_permissions(tokens.join("admin"), PermissionsExt::from_mode(0o644)).unwrap();
    let check = |more: &[&str]| {
        let output =
            command().args(["serve", "--check", "--dir"]).arg(folder.path()).args(more).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (status, complaint) = check(&[]);
    assert!(status == Some(1) && complaint.contains("others may read the token"), "{complaint}");
    let (status, complaint) = check(&["--host-name", "https://fleet.example.org"]);
    assert!(status == Some(2) && complaint.contains("write the name alone"), "{complaint}");
}

#[test]
fn tokens_are_those_of_a_gateway_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = folder.path().join("gatway");
    for words in [&["list"][..], &["revoke", "x"], &["new", "--person", "ada"]] {
        let output = command().arg("token").args(words).arg("--dir").arg(&gateway).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("there is no gateway in"), "{output:?}");
    }
    assert!(!gateway.exists());
}

#[test]
fn an_answer_that_cannot_be_written_is_said_elsewhere() {
    let program = ServeProcess::new(&[]);
    for more in [&["status"][..], &["status", "--json"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = command();
        command.args(more).arg("--dir").arg(program.folder.path()).args(["--gateway", &program.url]);
        let output = command.stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(5), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write the answer"), "{output:?}");
    }
}

#[test]
fn a_store_may_have_a_folder_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("a/b/fleet.db");
    drop(ServeProcess::new(&["--store", &format!("sqlite:{}", store.display())]));
    assert!(store.is_file());
}

#[test]
fn a_refused_line_is_json_where_that_is_asked_for() {
    let output = command().args(["--json", "bogus"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["error"]["code"], "usage");
    assert!(answer["error"]["message"].as_str().unwrap().contains("bogus"), "{answer}");
    let run = ["complete-run", "--gateway", "http://127.0.0.1:1", "--run-id", "m.a.1", "--status", "failed"];
    let output = command().args(run).args(["--summary", " "]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("needs a reason"), "{output:?}");
}

#[test]
fn a_gateway_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let output = command()
        .args(["status", "--gateway", "http://127.0.0.1:1", "--dir"])
        .arg(folder.path())
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("--token-file"), "{output:?}");
    let token = folder.path().join("token");
    std::fs::write(&token, "orange_x_y").unwrap();
    let output = command()
        .args(["status", "--gateway", "http://127.0.0.1:1", "--token-file"])
        .arg(&token)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(5));
    assert!(String::from_utf8_lossy(&output.stderr).contains("`orange-fleet serve` starts it"), "{output:?}");
}
