//! An agent in a wall: it works as usual, and its attacks hold.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::processes;
use crate::task::Task;
use crate::world::{World, text, write_program};

/// The text that a walled agent is not to see.
const SECRET: &str = "nothing-for-agents";

/// The agent: it writes a line about each of its acts into a file of the worktree, then waits. What it attacks follows the marks.
const AGENT: &str = r#"#!/bin/sh
orange=$ORANGE_PROGRAM
line() { echo "$*" >> lines; }
try() { name=$1; shift; if "$@" > out 2>&1; then line "OPEN $name"; else line "held $name"; fi; }
seen() { name=$1; shift; "$@" > out 2>&1; if grep -aq SECRET out; then line "OPEN $name"; else line "held $name"; fi; }
works() { name=$1; shift; if "$@" > out 2>&1; then line "works $name"; else line "BROKEN $name: $(tr '\n' ' ' < out)"; fi; }

works 'git status' git status
echo work > work
works 'git add' git add work
works 'git commit' git commit --quiet --message Work
works 'a summary' "$orange" task update --summary 'Mended it'
works 'a question about its task' "$orange" task show
works 'a question about its task by its id' "$orange" task show "$ORANGE_TASK" --all
works 'statuses' "$orange" task next
works 'a question from another folder' sh -c 'cd /tmp && "$ORANGE_PROGRAM" task show'

seen 'read a key' cat HOME/.ssh/id_rsa
seen 'read the store' grep -r SECRET STORE/tasks STORE/projects.json
seen 'read its own journal' cat STORE/tasks/toy/$ORANGE_TASK/history.jsonl
seen 'read another worktree' grep -r SECRET OTHER-WORKTREE
seen 'read the main checkout' grep -r SECRET REPO --include=README.md
seen 'read environments' sh -c 'cat /proc/*/environ | tr "\0" "\n"'
seen 'read environments of others' sh -c 'cat /proc/*/environ | tr "\0" "\n" | sed s/OTHER-ID/SECRET/'
try 'read the harnesses' cat STORE/harnesses.toml
try 'reach tmux' tmux -S TMUX list-sessions
try 'signal a process outside' kill -0 PROCESS
try 'write to the store' sh -c 'echo x > STORE/tasks/evil'
sh -c 'echo evil > REPO/evil'; sh -c 'echo evil > REPO/.git/hooks/post-commit'; sh -c 'echo evil >> REPO/.git/config'
sh -c 'echo evil > HOME/.bashrc'; sh -c 'echo evil > OTHER-WORKTREE/evil'; sh -c 'echo evil > .git'
git branch --force main HEAD; git branch evil HEAD; git branch --force other HEAD
try 'write to programs' sh -c 'echo x > AGENTS/git'

seen 'ask about another task' "$orange" task show OTHER-ID
seen 'ask about another task at length' "$orange" task show OTHER-ID --all --json
try 'ask about a mission' "$orange" mission show OTHER-ID
try 'change another task' "$orange" task update OTHER-ID --summary evil
try 'cancel' "$orange" task cancel OTHER-ID --yes
try 'merge' "$orange" task merge "$ORANGE_TASK"
try 'make a token' "$orange" project token ci
try 'end an agent' "$orange" agent ended --task OTHER-ID --spawn=1 --reason=evil
try 'grant itself more' "$orange" project update toy --sandbox-level off
try 'be another agent' env ORANGE_TASK=OTHER-ID ORANGE_SPAWN=1 "$orange" task next
try 'be another spawn' env ORANGE_SPAWN=7 "$orange" task next
try 'have another secret' env ORANGE_SECRET=1234 "$orange" task next
try 'be a program' "$orange" task update --status done --as ci --token-file HOME/.ssh/id_rsa
try 'be a person' env -u ORANGE_TASK -u ORANGE_SPAWN -u ORANGE_ACTOR "$orange" task show OTHER-ID
ask() {
    printf '{"task":"%s","spawn":1,"secret":"%s","folder":"%s","words":%s,"input":""}' "$ORANGE_TASK" "$ORANGE_SECRET" "$2" "$3" > request
    name=.orange/1/$1
    mv request "$name.request"
    until [ -e "$name.reply" ]; do sleep 0.05; done
    cat "$name.reply"
}
seen 'ask from another folder' ask 00000000000000000000000000000001 OTHER-WORKTREE '["task","show"]'
ln -s OTHER-WORKTREE link
seen 'ask from a link' ask 00000000000000000000000000000002 "$PWD/link" '["task","show"]'
rm link

mkdir -p ~/.walled
printf '{"cwd":"%s","text":"a conversation"}\n' "$PWD" > ~/.walled/s1.jsonl
report() { printf '{"hook_event_name":"%s","session_id":"s1","transcript_path":"%s","tool_name":"Bash","tool_input":{"command":"ls"}}' "$1" "$2"; }
report SessionStart HOME/.walled/s1.jsonl | "$orange" agent event
line asking
report PermissionRequest HOME/.walled/s1.jsonl | "$orange" agent event --hold > out
line "answer $(cat out)"
report PreToolUse /etc/passwd | "$orange" agent event
trap 'line resized' WINCH
line waiting
while :; do sleep 0.1; done
"#;

/// True if a wall can be made here; else a line that the run of all tests counts.
pub(crate) fn has_walls(world: &World) -> bool {
    let output = world.orange(&["doctor", "--wall"]);
    let can = output.status == 0;
    if !can {
        // Past what catches the output of tests.
        let line = format!("SKIPPED: no wall can be made here: {}\n", output.out.replace('\n', " "));
        std::io::stderr().write_all(line.as_bytes()).unwrap();
    }
    can
}

/// A project with walls whose harness is this script.
fn walled(world: &World, script: &str) {
    write_program(&world.path("agents/walled"), script);
    let harness = "[walled]\nbinary = 'walled'\nfull = ['{prompt}']\nreduced = ['{prompt}']\n";
    fs::write(world.home().join("harnesses.toml"), harness).unwrap();
    world.ok(&["project", "update", "--sandbox-level", "wall", "--harness", "walled"]);
}

fn lines(task: &Task<'_>) -> String {
    fs::read_to_string(task.worktree().join("lines")).unwrap_or_default()
}

#[test]
fn a_walled_agent_works_and_its_attacks_hold() {
    let world = World::new();
    if !has_walls(&world) {
        return;
    }
    fs::create_dir_all(world.path("home/.ssh")).unwrap();
    fs::write(world.path("home/.ssh/id_rsa"), SECRET).unwrap();
    fs::write(world.repo().join("README.md"), SECRET).unwrap();
    let other = world.create("other", &format!("{SECRET} [agents: hang]"), &[]);
    other.agent(1).begun();
    fs::write(other.worktree().join("secret"), SECRET).unwrap();
    let marks = [
        ("OTHER-WORKTREE", other.worktree().display().to_string()),
        ("OTHER-ID", other.id.clone()),
        ("SECRET", SECRET.to_owned()),
        ("STORE", world.home().display().to_string()),
        ("HOME", world.path("home").display().to_string()),
        ("REPO", world.repo().display().to_string()),
        ("AGENTS", world.path("agents").display().to_string()),
        ("TMUX", world.path("tmux").display().to_string()),
        ("PROCESS", world.wrapper("toy/other").to_string()),
    ];
    // The names of variables have these words, too.
    let script = AGENT.replace("ORANGE_SECRET", "ORANGE_\u{1}");
    let script = marks.iter().fold(script, |script, (mark, value)| script.replace(mark, value));
    walled(&world, &script.replace('\u{1}', "SECRET"));
    let before = world.git(&world.repo(), &["for-each-ref"]);
    let task = world.create("fix", "Mend it", &[]);
    let spawned = task.events_of("agent.spawned");
    assert_eq!(spawned[0]["sandbox"]["level"], "wall", "{spawned:#?}");

    world.until("it asks", || lines(&task).contains("asking"));
    world.until("the question is there", || asks(&task));
    task.ok("answer", &["allow"]);
    world.until("it waits", || lines(&task).contains("waiting"));
    let said = lines(&task);
    let is_well = |line: &&str| {
        ["held ", "works ", "asking", "waiting"].iter().any(|beginning| line.starts_with(beginning))
    };
    let others: Vec<_> = said.lines().filter(|line| !is_well(line)).collect();
    let allowed = r#"answer {"hookSpecificOutput":{"decision":{"behavior":"allow"},"hookEventName":"PermissionRequest"}}"#;
    assert_eq!(others, [allowed], "{said}");
    assert!(said.matches("held ").count() > 25 && said.matches("works ").count() == 8, "{said}");

    for evil in [world.repo().join("evil"), other.worktree().join("evil"), world.path("home/.bashrc")] {
        assert!(!evil.exists(), "{}", evil.display());
    }
    assert!(!world.repo().join(".git/hooks/post-commit").exists());
    assert!(!fs::read_to_string(world.repo().join(".git/config")).unwrap().contains("evil"));
    assert!(fs::read_to_string(task.worktree().join(".git")).unwrap().starts_with("gitdir: "));
    let without = |refs: &str| {
        refs.lines().filter(|line| !line.ends_with("refs/heads/fix")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(without(&world.git(&world.repo(), &["for-each-ref"])), without(&before));
    // Its commit has come out.
    task.ok("diff", &[]);
    assert_eq!(world.git(&world.repo(), &["log", "-1", "--format=%s %an", "fix"]), "Work Toy Maker");
    let notes = fs::read_to_string(task.folder().join("activity.jsonl")).unwrap();
    let inside = task.folder().join("wall/homes/worker/.walled/s1.jsonl");
    assert!(notes.contains(inside.to_str().unwrap()) && !notes.contains("passwd"), "{notes}");
    let logs = world.orange(&["task", "logs", &task.id, "--raw"]);
    assert!(logs.out.contains("a conversation"), "{logs:?}");

    world.tmux(&["resize-window", "-t", "=toy/fix:", "-x", "100", "-y", "30"]);
    world.until("it hears of the size", || lines(&task).contains("resized"));
    task.ok("cancel", &["--yes"]);
    let script = world.path("agents/walled").display().to_string();
    let is_of_it = |folder: &Path| {
        let words = fs::read(folder.join("cmdline")).unwrap_or_default();
        text(&words).contains(&script)
    };
    world.until("nothing of it is left", || processes::that(is_of_it).is_empty());
}

fn asks(task: &Task<'_>) -> bool {
    let notes = fs::read_to_string(task.folder().join("activity.jsonl")).unwrap_or_default();
    notes.contains("\"request\"")
}

/// Notes what it finds in its wall.
const DEMANDING: &str = r#"#!/bin/sh
line() { echo "$*" >> /tmp/lines; }
can() { name=$1; shift; if "$@" > /tmp/out 2>&1; then line "can $name"; else line "cannot $name"; fi; }
can 'write the worktree' sh -c 'echo x > written'
can 'read the repository' git log -1
can 'write the repository' git branch mine HEAD
can 'ask' "$ORANGE_PROGRAM" task show
can 'see a socket' ls /run/orange/net
line "proxy=$HTTPS_PROXY"
cat /tmp/lines > "$HOME/lines"
while :; do sleep 0.1; done
"#;

#[test]
fn a_workflow_demands_a_wall_of_its_agents() {
    let world = World::new();
    if !has_walls(&world) {
        return;
    }
    walled(&world, DEMANDING);
    world.ok(&["project", "update", "--sandbox-level", "off"]);
    for (name, demand, expect, git) in [
        (
            "asks-little",
            "wall",
            "can write the worktree\ncan read the repository\ncan write the repository\ncan ask\ncan see a socket\nproxy=http://127.0.0.1:3128\n",
            "own",
        ),
        (
            "asks-more",
            "{git: read, network: none, worktree: read}",
            "cannot write the worktree\ncan read the repository\ncannot write the repository\ncan ask\ncannot see a socket\nproxy=\n",
            "read",
        ),
        (
            "asks-most",
            "{git: none, network: model}",
            "can write the worktree\ncannot read the repository\ncannot write the repository\ncan ask\ncan see a socket\nproxy=http://127.0.0.1:3128\n",
            "none",
        ),
    ] {
        let task = world.create(name, "Mend it", &["--workflow", &demanding(&world, name, demand)]);
        let spawned = task.events_of("agent.spawned");
        assert_eq!(spawned[0]["sandbox"]["level"], "wall", "{spawned:#?}");
        assert_eq!(spawned[0]["sandbox"]["git"], git, "{spawned:#?}");
        let file = task.folder().join("wall/homes/worker/lines");
        let said = || fs::read_to_string(&file).unwrap_or_default();
        world.until("it has said all", || said().contains("proxy="));
        assert_eq!(said(), expect, "{demand}");
        task.ok("cancel", &["--yes"]);
    }
    assert!(!world.git(&world.repo(), &["branch", "--list", "mine"]).contains("mine"));
}

/// The name of a new workflow whose state demands this.
fn demanding(world: &World, name: &str, demand: &str) -> String {
    let text = format!(
        "name: {name}\nstates:\n  pending: {{}}\n  working: {{respawn_prompt: p, sandbox: {demand}}}\n  done: {{terminal: true}}\n  \
         cancelled: {{terminal: true}}\ntransitions:\n- from: pending\n  to: working\n  hooks:\n  - action: acquire_workspace\n  \
         - {{action: spawn_agent, prompt: p}}\n- {{from: working, to: [done, cancelled], by: human, hooks: [{{action: kill_session}}, \
         {{action: release_workspace}}]}}\nprompts: {{p: go}}\n"
    );
    world.workflow(&format!("{name}.yml"), &text);
    name.to_owned()
}

#[test]
fn a_demand_that_cannot_be_met_refuses_the_start() {
    let world = World::new();
    walled(&world, "#!/bin/sh\ntouch \"$HOME/started\"\n");
    world.ok(&["project", "update", "--sandbox-level", "off"]);
    let name = demanding(&world, "asks", "wall");
    starts_nothing(&world, &["--workflow", &name]);
}

#[test]
fn without_bubblewrap_no_agent_starts() {
    let world = World::new();
    walled(&world, "#!/bin/sh\ntouch \"$HOME/started\"\n");
    starts_nothing(&world, &[]);
}

/// A new task has no agent where bubblewrap fails.
fn starts_nothing(world: &World, options: &[&str]) {
    let mut broken = world.command(world.program);
    let tools = world.path("tools");
    write_program(
        &tools.join("bwrap"),
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n",
    );
    let mut path = vec![tools];
    path.extend(std::env::split_paths(
        &broken.get_envs().find(|(name, _)| *name == "PATH").unwrap().1.unwrap().to_owned(),
    ));
    broken.env("PATH", std::env::join_paths(path).unwrap()).current_dir(world.repo());
    let said = world.said(broken.args(["task", "create", "fix", "Mend it"]).args(options));
    let shown = format!("{}{}", said.out, said.err);
    assert!(shown.contains("No permissions to create new namespace"), "{shown}");
    assert!(shown.contains("no agent starts without it"), "{shown}");
    let listed = world.ok(&["task", "list", "--all"]);
    assert_eq!(world.task(&listed[0]).events_of("agent.spawned").len(), 0);
    assert!(!world.path("home/started").exists());
}

/// The agent asks for a name that is not there, and for an address of a private network.
const OPENED: &str = r#"#!/bin/sh
{ git ls-remote http://evil.example/x; echo BEHIND; git ls-remote http://10.0.0.1/x; } > "$HOME/said" 2>&1
echo done >> "$HOME/said"
while :; do sleep 0.1; done
"#;

#[test]
fn an_open_network_is_a_grant_of_a_person() {
    let world = World::new();
    if !has_walls(&world) {
        return;
    }
    walled(&world, OPENED);
    world.ok(&["project", "update", "--sandbox-network", "open"]);
    for (name, options, network, of_name) in [
        ("open", vec![], "open", "502"),
        (
            "less",
            vec!["--workflow".to_owned(), demanding(&world, "less", "{network: listed}")],
            "listed",
            "403",
        ),
    ] {
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let task = world.create(name, "Mend it", &options);
        assert_eq!(task.events_of("agent.spawned")[0]["sandbox"]["network"], network);
        let file = task.folder().join("wall/homes/worker/said");
        let said = || fs::read_to_string(&file).unwrap_or_default();
        world.until("it has asked", || said().contains("done"));
        let all = said();
        let (first, second) = all.split_once("BEHIND").unwrap();
        assert!(first.contains(of_name), "{name}: {all}");
        assert!(second.contains("403"), "an address of a private network has to be listed: {all}");
        task.ok("cancel", &["--yes"]);
    }
    world.ok(&["project", "update", "--unset", "sandbox-network"]);
    let task = world.create("closed", "Mend it", &[]);
    assert_eq!(task.events_of("agent.spawned")[0]["sandbox"]["network"], "listed");
}

/// The agent asks for a host by the proxy that its variables name, and waits.
const LINKED: &str = r#"#!/bin/sh
for turn in 1 2; do git ls-remote http://evil.example/x >> said 2>&1; done
git -c http.proxy= ls-remote http://127.0.0.1:1/x >> said 2>&1
GIT_TRACE_CURL=1 git ls-remote http://evil.example/x 2>&1 | grep -ao 'not open in this wall' | head -1 >> said
echo done >> said
while :; do sleep 0.1; done
"#;

#[test]
fn a_host_off_the_list_is_refused_and_shown() {
    let world = World::new();
    if !has_walls(&world) {
        return;
    }
    walled(&world, LINKED);
    let task = world.create("fix", "Mend it", &[]);
    let said = || fs::read_to_string(task.worktree().join("said")).unwrap_or_default();
    world.until("it has asked", || said().contains("done"));
    assert_eq!(said().matches("403").count(), 2, "{}", said());
    assert!(said().contains("not open in this wall"), "{}", said());
    let shown = world.orange(&["task", "show", &task.id]).out;
    assert!(shown.contains("its wall refuses evil.example:80"), "{shown}");
    task.ok("cancel", &["--yes"]);
}
