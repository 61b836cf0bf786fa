//! Consent to each command: a table of all of them, and the refusals that it promises.

use std::collections::BTreeMap;
use std::fs;

use orange_engine::Cli;

use crate::task::Task;
use crate::world::World;

/// Actors that may give a command.
#[derive(Clone, Copy)]
enum May {
    /// Everybody; what an agent may ask of which task, the task's journal and workflow say.
    Anybody,
    /// The agent of a mission's step.
    Step,
    /// `orange` itself.
    Engine,
    /// A person alone: an agent is refused these arguments.
    Person(&'static [&'static str]),
    /// Everybody, and a person alone with these arguments.
    PersonFor(&'static [&'static [&'static str]]),
}

use May::{Anybody, Engine, Person, PersonFor, Step};

/// Every command. `TASK` is the asking agent's own task, `CANCELLED` and `DELETED` are others; `MISSION` and
/// `GONE` are missions, the second a deleted one.
const COMMANDS: &[(&str, May)] = &[
    ("project add", Person(&["."])),
    ("editor", Anybody),
    ("project list", Anybody),
    ("project show", Anybody),
    ("project trust", Person(&["toy", "--yes"])),
    ("project update", Person(&["toy", "--pool-size", "9"])),
    ("project remove", Person(&["toy"])),
    ("project token", Person(&["ci", "--project", "toy"])),
    ("project tokens", Person(&["--project", "toy"])),
    ("project revoke", Person(&["ci", "--project", "toy"])),
    ("task create", PersonFor(&[&["new", "--edit"], &["new", "Mend it", "--budget", "cost=5"]])),
    ("task list", Anybody),
    ("task show", Anybody),
    ("task next", Anybody),
    ("task wait", Anybody),
    ("task watch", Anybody),
    ("task logs", Anybody),
    ("task diff", Anybody),
    ("task feedback", Anybody),
    ("task reply", Anybody),
    ("task verdict", Anybody),
    ("task pane", Anybody),
    ("task answer", Person(&["TASK", "allow"])),
    ("task send", Person(&["TASK", "Hello"])),
    ("task spawn", Anybody),
    ("task respawn", Anybody),
    ("task restart", Person(&["TASK"])),
    ("task stop", Person(&["TASK"])),
    ("task update", Anybody),
    ("task complete", Anybody),
    ("task attach", Anybody),
    ("task cancel", Anybody),
    ("task delete", Person(&["CANCELLED", "--yes"])),
    ("task restore", PersonFor(&[&["DELETED"]])),
    ("task undo", Person(&["CANCELLED"])),
    ("task migrate", Person(&["TASK", "--to", "working"])),
    ("task merge", Anybody),
    ("task sync", Person(&["TASK"])),
    ("task create-pr", Person(&["TASK"])),
    ("task open", Person(&["TASK"])),
    ("task refresh", Person(&["TASK"])),
    ("task budget", PersonFor(&[&["TASK", "--add", "cost=5"], &["TASK", "--set", "cost=5"]])),
    ("task edit", Person(&["TASK", "--priority", "9"])),
    ("task finish", Engine),
    ("task ask", Engine),
    ("task spawn-next", Engine),
    ("task merge-into-parent", Engine),
    ("mission start", Anybody),
    ("mission list", Anybody),
    ("mission show", Anybody),
    ("mission watch", Anybody),
    ("mission attach", Anybody),
    ("mission logs", Anybody),
    ("mission pane", Anybody),
    ("mission answer", Person(&["MISSION", "approve"])),
    ("mission continue", Anybody),
    ("mission retry", Anybody),
    ("mission cancel", Anybody),
    ("mission delete", Person(&["MISSION", "--yes"])),
    ("mission restore", PersonFor(&[&["GONE"]])),
    ("mission advance", Engine),
    ("mission run-program", Engine),
    ("attempt run", Anybody),
    ("attempt show", Anybody),
    ("step show", Step),
    ("step complete", Step),
    ("step fail", Step),
    ("workspace init", Anybody),
    ("workspace list", Anybody),
    ("workspace gc", Anybody),
    ("ls", Anybody),
    ("dashboard", Anybody),
    ("monitor", Anybody),
    ("intake", PersonFor(&[&["retry", "42"]])),
    ("schedule", Anybody),
    ("notify list", Anybody),
    ("notify revoke", Person(&["phone"])),
    ("notify test", Anybody),
    ("workflow list", Anybody),
    ("workflow show", Anybody),
    ("workflow contract", Anybody),
    ("harness list", Anybody),
    ("log", Anybody),
    ("install", PersonFor(&[&["--harness", "claude"]])),
    ("setup", PersonFor(&[&["--harness", "claude", "--yes"], &["--undo"]])),
    ("uninstall", Person(&["--yes"])),
    ("demo", Anybody),
    ("mcp", Anybody),
    ("doctor", Anybody),
    ("gc", PersonFor(&[&["--yes"]])),
    ("usage", Anybody),
    ("completions", Anybody),
    ("complete", Anybody),
    ("manual", Anybody),
    ("agent run", Engine),
    ("agent serve", Engine),
    ("agent attack", Engine),
    ("agent hold", Engine),
    ("agent inside", Engine),
    ("agent detach", Engine),
    ("agent record", Engine),
    ("agent ended", Engine),
    ("agent resume", Engine),
    ("agent limited", Engine),
    ("agent event", Engine),
];

/// Every command without commands of its own, by its words.
fn commands(command: &clap::Command, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        let words = [words, &[inner.get_name()]].concat();
        if inner.has_subcommands() {
            found.extend(commands(inner, &words));
        } else {
            found.push(words.join(" "));
        }
    }
    found
}

#[test]
fn every_command_says_who_may_give_it() {
    let mut listed: Vec<String> = COMMANDS.iter().map(|(words, _)| (*words).to_owned()).collect();
    let mut all = commands(&Cli::whole(), &[]);
    listed.sort();
    all.sort();
    assert_eq!(listed, all);
}

/// The calls that an agent is refused, with the ids of this world.
fn refused(names: &BTreeMap<&str, String>) -> Vec<Vec<String>> {
    let mut calls = Vec::new();
    for (words, may) in COMMANDS {
        let arguments: &[&[&str]] = match may {
            Anybody | Step | Engine => &[],
            Person(arguments) => &[arguments],
            PersonFor(several) => several,
        };
        for arguments in arguments {
            let all = words.split(' ').chain(arguments.iter().copied());
            calls.push(all.map(|word| names.get(word).map_or(word, |id| id).to_owned()).collect());
        }
    }
    calls
}

/// Content of all that an agent could have changed: the projects, the consent of a person, and the files of coding agents.
fn kept(world: &World, tasks: &[&Task<'_>]) -> Vec<Option<Vec<u8>>> {
    let of_home =
        ["projects.json", "setup.json", "trusted.json", "tokens.json"].map(|it| world.home().join(it));
    let of_user = [".claude.json", ".claude/settings.json", ".claude/skills/orange/SKILL.md"];
    let of_user = of_user.map(|it| world.path("home").join(it));
    let journals = tasks.iter().map(|task| task.folder().join("history.jsonl"));
    of_home.into_iter().chain(of_user).chain(journals).map(|file| fs::read(file).ok()).collect()
}

#[test]
fn what_a_person_alone_may_do_an_agent_is_refused() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    let cancelled = world.create("other", "Another one", &["--no-spawn"]);
    cancelled.ok("cancel", &["--yes"]);
    let deleted = world.create("third", "A third one", &["--no-spawn"]);
    deleted.ok("cancel", &["--yes"]);
    deleted.ok("delete", &["--yes"]);
    world.workflow("toy.toml", crate::missions::TOY);
    let mission = world.start("toy", &["--branch", "mission"]);
    let gone = world.start("toy", &["--branch", "gone"]);
    gone.ok("cancel", &["--yes"]);
    gone.ok("delete", &["--yes"]);
    let ids = [
        ("GONE", &gone.id),
        ("TASK", &task.id),
        ("CANCELLED", &cancelled.id),
        ("DELETED", &deleted.id),
        ("MISSION", &mission.id),
    ];
    let names = ids.map(|(name, id)| (name, id.clone())).into_iter().collect();
    let before = kept(&world, &[&task, &cancelled]);
    for call in refused(&names) {
        let mut command = task.as_agent("worker", "1");
        let message = world.said(command.args(&call).current_dir(task.worktree())).fails(1, "not_allowed");
        assert!(message.contains("only a person may"), "{call:?}: {message}");
    }
    assert!(before == kept(&world, &[&task, &cancelled]), "an agent has changed something");
}

#[test]
fn setup_shows_an_agent_what_is_open_and_asks_nothing() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    let mut command = task.as_agent("worker", "1");
    let answer = world.said(command.args(["setup", "--harness", "codex"]).current_dir(task.worktree())).ok();
    assert_eq!(answer["changed"], serde_json::json!([]));
}
