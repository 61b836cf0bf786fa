//! `orange install`: the skill where each coding agent looks for it.

use std::fs;

use serde_json::{Value, json};

use crate::world::World;

fn changes(answer: &Value) -> Vec<(&str, &str)> {
    let files = answer["files"].as_array().unwrap().iter();
    files.map(|file| (file["harness"].as_str().unwrap(), file["change"].as_str().unwrap())).collect()
}

#[test]
fn the_skill_is_written_where_installed_coding_agents_look() {
    let world = World::empty();
    let mut install = world.with_only(&["claude", "git", "tmux"]);
    let answer = world.said(install.args(["install", "--json"])).ok();
    assert_eq!(changes(&answer), [("claude", "written")]);
    let file = world.path("home/.claude/skills/orange/SKILL.md");
    assert_eq!(answer["files"][0]["file"], json!(file));
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("---\nname: orange\n") && text.contains("### Workflow `default`"), "{text}");
    assert_eq!(world.orange(&["install", "--print"]).out, text.trim_end().to_owned() + "\n");

    assert_eq!(changes(&world.ok(&["install", "--harness", "claude"])), [("claude", "unchanged")]);
    let flow =
        "name: mine\nversion: 1\nstates: {a: {}, b: {terminal: true}}\ntransitions: [{from: a, to: b}]\n";
    world.workflow("mine.yml", flow);
    assert_eq!(changes(&world.ok(&["install", "--harness", "claude"])), [("claude", "updated")]);
    assert!(fs::read_to_string(&file).unwrap().contains("### Workflow `mine`"));
}

#[test]
fn each_harness_has_its_place_and_its_variable() {
    let world = World::empty();
    for (harness, variable, default, inside) in [
        ("claude", "CLAUDE_CONFIG_DIR", ".claude", "skills"),
        ("codex", "CODEX_HOME", ".codex", "skills"),
        ("opencode", "XDG_CONFIG_HOME", ".config", "opencode/skills"),
        ("pi", "PI_CODING_AGENT_DIR", ".pi/agent", "skills"),
        ("gemini", "GEMINI_CLI_HOME", "", ".gemini/skills"),
        ("copilot", "COPILOT_HOME", ".copilot", "skills"),
    ] {
        let below = |folder: std::path::PathBuf| folder.join(inside).join("orange/SKILL.md");
        world.ok(&["install", "--harness", harness]);
        assert!(below(world.path("home").join(default)).is_file(), "{harness}");
        let elsewhere = world.path(harness);
        let mut install = world.command(world.program);
        install.env(variable, &elsewhere).args(["install", "--harness", harness, "--json"]);
        world.said(&mut install).ok();
        assert!(below(elsewhere).is_file(), "{harness}");
    }
}

#[test]
fn nothing_of_somebody_else_s_is_overwritten() {
    let world = World::empty();
    let folder = world.path("home/.codex/skills/orange");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("SKILL.md"), "my own\n").unwrap();
    let refused = world.fails(1, "refused", &["install", "--harness", "codex"]);
    assert!(refused.contains(".codex/skills/orange/SKILL.md"), "{refused}");
    assert_eq!(fs::read_to_string(folder.join("SKILL.md")).unwrap(), "my own\n");

    world.fails(3, "not_found", &["install", "--harness", "cursor"]);
    let mut nobody = world.with_only(&["git"]);
    let message = world.said(nobody.args(["install", "--json"])).fails(5, "environment");
    assert!(message.contains("orange install --harness claude"), "{message}");
}
