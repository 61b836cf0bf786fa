//! The gateway's own machine in its console, with a real `orange`: a mission that asks is answered, and goes on.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;
use ureq::Agent;

use crate::world::{World, orange, text, until};

/// The answer of the `orange` of this home.
fn ask(world: &World, args: &[&str]) -> Value {
    let mut command = world.command(orange());
    command.env("ORANGE_HOME", world.path("machine")).env("ORANGE_TMUX_SOCKET", world.path("machine-tmux"));
    let output = command.arg("--json").args(args).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{args:?}: {}", text(&output.stderr)))
}

/// The values of this hidden field, in the order of the page.
fn hidden(page: &str, name: &str) -> Vec<String> {
    let mark = format!("name=\"{name}\" value=\"");
    page.split(&mark).skip(1).map(|it| it.split('"').next().unwrap().to_owned()).collect()
}

#[test]
fn a_mission_of_this_machine_is_answered_in_the_console() {
    let world = World::new();
    world.git(".", &["clone", "--quiet", "toy.git", "toy"]);
    fs::create_dir_all(world.path("machine/agents")).unwrap();
    let fails = "orange step fail --reason 'no <network>'; exec sleep 1000000";
    fs::write(world.path("machine/agents/plan.sh"), fails).unwrap();
    ask(&world, &["project", "add", &world.path("toy").to_string_lossy(), "--name", "toy"]);
    ask(&world, &["setup", "--yes"]);
    ask(&world, &["mission", "start", "--project", "toy", "--intervene", "on-error", "dev-task", "Mend it"]);
    let status = || ask(&world, &["mission", "list", "--all", "--all-projects"])[0]["status"].clone();
    until("the mission asks", || status() == "paused");

    let mut command = world.command(env!("CARGO_BIN_EXE_orange-fleet"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--dir"]).arg(world.path("gateway"));
    command.arg("--home").arg(world.path("machine")).arg("--orange").arg(orange());
    command
        .env("ORANGE_TMUX_SOCKET", world.path("machine-tmux"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut gateway = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(gateway.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split(' ').nth(2).unwrap().trim_end_matches(';').to_owned();

    let agent: Agent = Agent::config_builder().max_redirects(0).http_status_as_error(false).build().into();
    let token = fs::read_to_string(world.path("gateway/tokens/admin")).unwrap();
    let entered = agent.post(format!("{address}/console/login"));
    let entered = entered.send_form([("token", token.trim()), ("next", "/console")]).unwrap();
    let cookie = entered.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let at = format!("{address}/console/machine");
    let mut page = agent.get(&at).header("cookie", &cookie).call().unwrap();
    let page = page.body_mut().read_to_string().unwrap();
    assert!(page.contains("no &lt;network&gt;") && page.contains("Mend it"), "{page}");

    let accept = hidden(&page, "command").into_iter().find(|it| it.ends_with("--accept-failure")).unwrap();
    let [csrf, key, id] = ["csrf", "key", "id"].map(|name| hidden(&page, name).pop().unwrap());
    let form = [("csrf", &csrf), ("key", &key), ("id", &id), ("command", &accept)];
    let done = agent.post(&at).header("cookie", &cookie);
    let done = done.send_form(form.map(|(name, value)| (name, value.as_str()))).unwrap();
    assert_eq!(done.headers().get("location").unwrap(), "/console/machine?said=done");
    until("the failure counts", || status() == "failed");
    gateway.kill().unwrap();
    gateway.wait().unwrap();
}
