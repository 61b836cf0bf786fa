//! Requests of agents in sandboxes: the companion that carries them out, and the folder that they are left in.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::processes;
use crate::task::{Task, is_alive, kill};
use crate::world::{World, text};

/// The request folder of an agent.
fn folder(task: &Task<'_>, spawn: u32) -> PathBuf {
    task.worktree().join(".orange").join(spawn.to_string())
}

/// True if a process answers requests in this folder.
fn is_answered(folder: &Path) -> bool {
    File::open(folder.join("lock"))
        .is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// The companions of this world's agents.
fn companions(world: &World) -> Vec<i32> {
    let home = format!("ORANGE_HOME={}", world.home().display());
    processes::that(|folder| {
        let environment = fs::read(folder.join("environ")).unwrap_or_default();
        let is_of_world = environment.split(|byte| *byte == 0).any(|variable| variable == home.as_bytes());
        is_of_world && processes::runs(folder, &["agent", "serve"])
    })
}

#[test]
fn a_companion_lives_as_long_as_its_agent() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: scripted]", &[]);
    task.agent(1).begun();
    let folder = folder(&task, 1);
    assert!(is_answered(&folder), "it answers before the agent begins");
    let [companion] = companions(&world)[..] else { panic!("{:?}", companions(&world)) };
    assert_eq!(world.git(&task.worktree(), &["status", "--porcelain"]), "");
    task.agent(1).tell("exit 0");
    task.has_events(1, "agent.exited");
    world.until("it has ended", || !is_alive(companion));
}

#[test]
fn a_companion_that_is_killed_is_replaced() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    let [first] = companions(&world)[..] else { panic!("{:?}", companions(&world)) };
    kill(first);
    let others = || companions(&world).into_iter().filter(|pid| *pid != first).collect::<Vec<_>>();
    world.until("another one answers", || !others().is_empty() && is_answered(&folder(&task, 1)));
    let [second] = others()[..] else { panic!("{:?}", others()) };
    kill(world.wrapper("toy/fix"));
    world.until("it ends with its wrapper", || !is_alive(second));
}

#[test]
fn a_request_folder_that_was_removed_is_made_again() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    world.git(&task.worktree(), &["clean", "-ffdxq"]);
    world.until("it is there again", || is_answered(&folder(&task, 1)));
}

#[test]
fn a_worktree_is_given_back_without_requests() {
    let world = World::new();
    let task = world.create("fix", "Mend it [agents: hang]", &[]);
    task.agent(1).begun();
    let worktree = task.worktree();
    fs::create_dir(worktree.join("filled")).unwrap();
    fs::write(worktree.join("filled/file"), "").unwrap();
    // The companion removes an empty folder at once.
    fs::rename(worktree.join("filled"), worktree.join(".orange/1/a folder")).unwrap();
    task.ok("cancel", &["--yes"]);
    world.until("no companion is left", || companions(&world).is_empty());
    assert!(!worktree.join(".orange").exists());
    let refs = world.command("git").args(["for-each-ref", "refs/orange"]).current_dir(world.repo()).output();
    assert_eq!(text(&refs.unwrap().stdout), "");
}

/// `orange` as the agent of a task's spawn, in a sandbox: processes of its own, and nothing of the home that it can write to but
/// the worktree. None, and a loud word, where the system lets nobody make one.
struct Sandbox<'t, 'w> {
    world: &'w World,
    task: &'t Task<'w>,
    spawn: &'t str,
}

impl<'t, 'w> Sandbox<'t, 'w> {
    fn of(world: &'w World, task: &'t Task<'w>, spawn: &'t str) -> Option<Sandbox<'t, 'w>> {
        let sandbox = Sandbox { world, task, spawn };
        let mut can =
            sandbox.runs(&["sh", "-c", "! touch \"$ORANGE_HOME/x\" 2>/dev/null && touch .orange/1/x"]);
        let can = can.output().is_ok_and(|output| output.status.success());
        if !can {
            // Past what catches the output of tests.
            let line = b"SKIPPED: no sandbox can be made here (`unshare --user --mount --pid` fails)\n";
            std::io::stderr().write_all(line).unwrap();
        }
        can.then_some(sandbox)
    }

    /// This program in the sandbox.
    fn runs(&self, words: &[&str]) -> Command {
        const INSIDE: &str = "set -e; mount --bind \"$ORANGE_HOME\" \"$ORANGE_HOME\"; cd /; mount --bind \"$PLACE\" \"$PLACE\"; \
                              mount -o remount,bind,ro \"$ORANGE_HOME\"; cd \"$PLACE\"; exec \"$@\"";
        let mut command = self.world.command("unshare");
        command.args([
            "--user",
            "--map-root-user",
            "--mount",
            "--pid",
            "--fork",
            "--kill-child",
            "sh",
            "-c",
            INSIDE,
            "sh",
        ]);
        let agent = self.task.as_agent("worker", self.spawn);
        command.envs(agent.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("PLACE", self.task.worktree()).current_dir(self.task.worktree()).args(words);
        command
    }

    fn asks(&self, words: &[&str]) -> Output {
        self.runs(&[&[self.world.program.to_str().unwrap()], words].concat()).output().unwrap()
    }
}

/// A task whose agent waits, and has written what its status asks for.
fn at_work(world: &World) -> Task<'_> {
    let task = world.create("fix", "Mend it [agents: scripted hang]", &[]);
    task.agent(1).begun();
    task.reaches("working");
    task.write("## Handoff\n\nDONE: all of it\nUNCERTAIN: nothing");
    // The companion takes that in, and says in the frontmatter when it did.
    task.gets_its_copy();
    task
}

/// The answer without how long the agent has been at it and how long ago an event was: that may be a second more in the next answer.
fn ageless(answer: &str) -> String {
    let at_it = |line: &str| {
        let is_at_it = line.starts_with("agent ") || line.starts_with("needs ");
        let (state, rest) = line.split_once(" for ").filter(|_| is_at_it)?;
        Some(format!("{state}: {}", rest.split_once(": ")?.1))
    };
    let ago = |line: &str| {
        let (age, event) = line.strip_prefix("  ")?.split_once(" ago  ")?;
        Some(format!("{} {event}", age.split_whitespace().next()?))
    };
    let lines =
        answer.lines().map(|line| at_it(line).or_else(|| ago(line)).unwrap_or_else(|| line.to_owned()));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_sandboxed_agent_gets_the_answers_of_a_direct_call() {
    let world = World::new();
    let task = at_work(&world);
    let other = world.create("other", "Another one", &["--no-spawn"]);
    let Some(sandbox) = Sandbox::of(&world, &task, "1") else { return };
    for words in [
        &["task", "next"][..],
        &["task", "next", "--json"],
        &["task", "show"],
        &["task", "show", "--json", &other.id],
        &["task", "show", "no-such-task"],
        &["task", "update", "--status", "agent-review", "--dry-run"],
        &["task", "update", "--status", "agent-review", "--dry-run", "--json"],
        &["task", "update", "--status", "done"],
        &["task", "update", "--status", "done", "--json"],
        &["task", "update", "--status", "nowhere"],
        &["task", "update"],
        &["task", "update", &other.id, "--summary", "x"],
    ] {
        let direct = task.as_agent("worker", "1");
        let mut plain = Command::new(direct.get_program());
        plain.env_clear().envs(direct.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let direct = plain.args(words).current_dir(task.worktree()).output().unwrap();
        let asked = sandbox.asks(words);
        let message =
            |output: &Output| (output.status.code(), ageless(&text(&output.stdout)), text(&output.stderr));
        assert_eq!(message(&asked), message(&direct), "{words:?}");
    }
    let updated = sandbox.asks(&["task", "update", "--summary", "-v; $(x) ü\n"]);
    assert!(updated.status.success(), "{updated:?}");
    assert_eq!(task.show()["summary"], "-v; $(x) ü\n");
    assert_eq!(other.show()["summary"], "Another one");
}

#[test]
fn a_sandboxed_agent_hands_its_task_on() {
    let world = World::new();
    let task = at_work(&world);
    let Some(sandbox) = Sandbox::of(&world, &task, "1") else { return };
    // It ends with its session, and so does the one who would answer it.
    sandbox.asks(&["task", "update", "--status", "agent-review"]);
    task.reaches("agent-review");
    task.agent(2).begun();
    assert_eq!(task.arrows().iter().filter(|arrows| arrows.ends_with("agent-review")).count(), 1);
    assert!(is_answered(&folder(&task, 2)));
    world.until("nobody answers the first one", || !is_answered(&folder(&task, 1)));
}

#[test]
fn a_sandboxed_agent_reports_its_step() {
    let world = World::new();
    world.acts("plan", "exec sleep 1000000");
    let mission = world.start("dev-task", &["--execution", "step"]);
    mission.agent(1).begun();
    let Some(sandbox) = Sandbox::of(&world, &mission, "1") else { return };
    let shown = sandbox.asks(&["step", "show", "--json"]);
    assert!(text(&shown.stdout).contains("\"step\":\"plan\""), "{shown:?}");
    // More than one argument of a program can have.
    let summary = "A long plan; $(x) ü\n".repeat(10_000);
    let file = world.path("plan.md");
    fs::write(&file, &summary).unwrap();
    let mut command = sandbox.runs(&[world.program.to_str().unwrap(), "step", "complete", "--summary", "-"]);
    command.stdin(File::open(file).unwrap());
    // The mission ends the agent, and so the companion that would answer it.
    command.output().unwrap();
    mission.has_events(1, "mission.paused");
    assert_eq!(mission.show()["steps"][0]["summary"], json!(summary.trim_end()));
}

#[test]
fn a_sandboxed_agent_without_a_companion_is_refused_at_once() {
    let world = World::new();
    let task = at_work(&world);
    let Some(sandbox) = Sandbox::of(&world, &task, "1") else { return };
    kill(world.wrapper("toy/fix"));
    world.until("nobody answers", || companions(&world).is_empty());
    let said = sandbox.asks(&["task", "next"]);
    let message = text(&said.stderr);
    assert_eq!(said.status.code(), Some(5), "{message}");
    assert!(
        message.contains("nobody answers")
            && message.contains("respawn")
            && message.contains("nothing was done"),
        "{message}"
    );
}

#[test]
fn a_sandboxed_agent_is_refused_anything_else() {
    let world = World::new();
    let task = at_work(&world);
    let Some(sandbox) = Sandbox::of(&world, &task, "1") else { return };
    for words in [&["task", "create", "x", "y", "--no-spawn"][..], &["project", "remove", "toy"]] {
        let said = sandbox.asks(words);
        assert!(!said.status.success(), "{said:?}");
    }
    let said = sandbox.asks(&["task", "create", "x", "y", "--no-spawn"]);
    assert!(text(&said.stderr).contains("inside its sandbox"), "{}", text(&said.stderr));
    for words in [
        &["task", "cancel", "--yes"][..],
        &["task", "create", "x", "y", "--project", "toy"],
        &["project", "list"],
        &["agent", "ended", "--task", &task.id, "--spawn", "1", "--reason", "x"],
        &["task", "next", "--help"],
        &["nonsense"],
        &[],
    ] {
        let secret = task.secret("1");
        let reply = leave(&world, &task, &request(&task, secret.as_deref(), words));
        let code = reply["code"].as_str().unwrap_or_default();
        assert!(["not_allowed", "usage"].contains(&code), "{words:?}: {reply}");
        assert!(!reply["help"].as_str().unwrap().is_empty(), "{words:?}: {reply}");
    }
    assert_eq!(
        (task.status(), world.ok(&["task", "list"]).as_array().unwrap().len()),
        ("working".to_owned(), 1)
    );
}

/// Request that an agent in a sandbox writes.
fn request(task: &Task<'_>, secret: Option<&str>, words: &[&str]) -> Vec<u8> {
    let folder = task.worktree();
    json!({ "task": task.id, "spawn": 1, "secret": secret, "folder": folder, "words": words })
        .to_string()
        .into()
}

/// Leaves these bytes as a request, and gives the reply.
fn leave(world: &World, task: &Task<'_>, bytes: &[u8]) -> Value {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("{:032x}", COUNT.fetch_add(1, Ordering::Relaxed) + 0xabc);
    let folder = folder(task, 1);
    fs::write(folder.join(format!("{name}.draft")), bytes).unwrap();
    fs::rename(folder.join(format!("{name}.draft")), folder.join(format!("{name}.request"))).unwrap();
    let reply = folder.join(format!("{name}.reply"));
    world.until("it is answered", || reply.exists());
    serde_json::from_slice(&fs::read(reply).unwrap()).unwrap()
}

#[test]
fn a_request_without_the_secret_of_its_agent_is_refused() {
    let world = World::new();
    let task = at_work(&world);
    let other = world.create("other", "Another one [agents: hang]", &[]);
    other.agent(1).begun();
    let words = &["task", "update", "--summary", "x"][..];
    let (own, others) = (task.secret("1").unwrap(), other.secret("1").unwrap());
    assert_ne!(own, others);
    for wrong in [None, Some(""), Some("0"), Some(&*others)] {
        let reply = leave(&world, &task, &request(&task, wrong, words));
        assert_eq!(reply["code"], "not_allowed", "{reply}");
        assert!(reply["message"].as_str().unwrap().contains("ORANGE_SECRET"), "{reply}");
        let mut direct = task.as_agent("worker", "1");
        direct.env_remove("ORANGE_SECRET").envs(wrong.map(|secret| ("ORANGE_SECRET", secret)));
        world.said(direct.args(words).current_dir(task.worktree())).fails(1, "not_allowed");
    }
    // Another task's agent is not answered here, whatever it shows.
    let reply = leave(&world, &task, &request(&other, Some(&others), words));
    assert_eq!(reply["code"], "not_allowed", "{reply}");
    let reply = leave(&world, &task, &request(&task, Some(&own), words));
    assert_eq!(reply["status"], 0, "{reply}");
    assert_eq!(
        (task.show()["summary"].clone(), other.show()["summary"].clone()),
        (json!("x"), json!("Another one [agents: hang]"))
    );
}

#[test]
fn an_agent_whose_secret_is_not_kept_is_refused() {
    let world = World::new();
    let task = at_work(&world);
    let mut direct = task.as_agent("worker", "1");
    fs::remove_file(task.folder().join("agents/1.secret")).unwrap();
    let said = world.said(direct.args(["task", "update", "--summary", "x"]).current_dir(task.worktree()));
    let message = said.fails(1, "not_allowed");
    assert!(message.contains("ORANGE_SECRET") && message.contains("orange task restart"), "{message}");
}

#[test]
fn what_the_engine_starts_by_itself_is_refused_to_agents() {
    let world = World::new();
    let task = at_work(&world);
    for words in [
        &["agent", "ended", "--task", &task.id, "--spawn", "1", "--reason", "x"][..],
        &["agent", "resume", "--task", &task.id, "--spawn", "1"],
        &["agent", "serve", "--task", &task.id, "--spawn", "1"],
        &["agent", "run", "--task", &task.id, "--spawn", "1"],
        &["task", "finish", &task.id],
        &["task", "spawn-next", &task.id],
        &["task", "merge-into-parent", &task.id],
    ] {
        let said = task.as_agent("worker", "1").args(words).current_dir(task.worktree()).output().unwrap();
        assert_eq!(said.status.code(), Some(1), "{words:?}: {said:?}");
        let message = text(&said.stdout) + &text(&said.stderr);
        assert!(
            message.contains("the engine's alone") && message.contains("orange task update"),
            "{words:?}: {message}"
        );
    }
    assert!(task.events_of("agent.exited").is_empty());
}

#[test]
fn what_is_about_an_agent_takes_the_secret_of_that_agent() {
    let world = World::new();
    let task = at_work(&world);
    let other = world.create("other", "Mend it [agents: hang]", &[]);
    other.agent(1).begun();
    for secret in [None, other.secret("1"), Some("0".to_owned())] {
        for words in [
            &["agent", "ended", "--task", &task.id, "--spawn", "1", "--reason", "x"][..],
            &["agent", "limited", "--task", &task.id, "--spawn", "1"],
            &["agent", "resume", "--task", &task.id, "--spawn", "1"],
            &["agent", "serve", "--task", &task.id, "--spawn", "1"],
            &["agent", "run", "--task", &task.id, "--spawn", "1"],
        ] {
            let mut command = world.command(world.program);
            command.envs(secret.as_ref().map(|secret| ("ORANGE_SECRET", secret)));
            let said = command.args(words).output().unwrap();
            assert_eq!(said.status.code(), Some(1), "{words:?}: {said:?}");
            let message = text(&said.stdout) + &text(&said.stderr);
            assert!(
                message.contains("ORANGE_SECRET") && message.contains("orange task stop"),
                "{words:?}: {message}"
            );
        }
    }
    let mut event = other.as_agent("worker", "1");
    event.env("ORANGE_TASK", &task.id).args(["agent", "event"]).stdin(Stdio::piped());
    let mut event = event.spawn().unwrap();
    event.stdin.take().unwrap().write_all(b"{\"hook_event_name\":\"Stop\",\"session_id\":\"s1\"}").unwrap();
    assert!(event.wait().unwrap().success(), "it blocks no agent");
    let log = fs::read_to_string(world.home().join("orange.log")).unwrap();
    assert!(log.contains("ORANGE_SECRET is another one's"), "{log}");
    assert!(task.events_of("agent.exited").is_empty());
    assert_eq!(task.status(), "working");
}

/// A request that cannot end, since somebody else holds the task: in a sandbox, claimed, its command waiting.
fn held_up(world: &World, task: &Task<'_>, sandbox: &Sandbox<'_, '_>) -> (File, Child) {
    let lock = File::open(task.folder().join(".lock")).unwrap();
    lock.lock().unwrap();
    let program = world.program.to_str().unwrap();
    let mut asks = sandbox.runs(&[program, "--json", "task", "update", "--summary", "Something else"]);
    let asks = asks.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    world.until("it is claimed", || parts(task).iter().any(|name| name.ends_with(".claimed")));
    let is_its_command = |folder: &Path| {
        let parent = processes::parent(folder);
        parent.is_some_and(|it| companions(world).contains(&it))
            && processes::is_about(folder, "Something else")
    };
    world.until("its command runs", || !processes::that(is_its_command).is_empty());
    (lock, asks)
}

/// The names of everything in the request folder of the first agent.
fn parts(task: &Task<'_>) -> Vec<String> {
    let entries = fs::read_dir(folder(task, 1)).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_request_whose_companion_is_killed_is_not_done_twice() {
    let world = World::new();
    let task = at_work(&world);
    let Some(sandbox) = Sandbox::of(&world, &task, "1") else { return };
    let (lock, asks) = held_up(&world, &task, &sandbox);
    let [companion] = companions(&world)[..] else { panic!("{:?}", companions(&world)) };
    kill(companion);
    let said = asks.wait_with_output().unwrap();
    let message = text(&said.stdout);
    assert_eq!(said.status.code(), Some(5), "{message}");
    assert!(message.contains("it is unknown whether") && message.contains("orange task show"), "{message}");
    drop(lock);
    // The command itself was not killed, and does what was asked for, once.
    world.until("it is done", || task.show()["summary"] == "Something else");
    task.ok("update", &["--summary", "As it was"]);
    world.until("another one answers", || is_answered(&folder(&task, 1)));
    assert!(sandbox.asks(&["task", "next"]).status.success());
    assert_eq!(task.show()["summary"], "As it was");
    let is_open = |name: &String| name.ends_with(".request") || name.ends_with(".claimed");
    assert!(!parts(&task).iter().any(is_open), "{:?}", parts(&task));
}

#[test]
fn a_request_whose_wrapper_is_killed_ends() {
    let world = World::new();
    let task = at_work(&world);
    let Some(sandbox) = Sandbox::of(&world, &task, "1") else { return };
    let (lock, asks) = held_up(&world, &task, &sandbox);
    kill(world.wrapper("toy/fix"));
    drop(lock);
    // The companion ends with the wrapper, and answers what it has begun with before.
    let said = asks.wait_with_output().unwrap();
    assert!(said.status.success(), "{said:?}");
    assert_eq!(task.show()["summary"], "Something else");
    world.until("no companion is left", || companions(&world).is_empty());
}

#[test]
fn a_request_whose_client_is_killed_is_done_once() {
    let world = World::new();
    let task = at_work(&world);
    let Some(sandbox) = Sandbox::of(&world, &task, "1") else { return };
    let (lock, mut asks) = held_up(&world, &task, &sandbox);
    asks.kill().unwrap();
    asks.wait().unwrap();
    drop(lock);
    world.until("it is done", || task.show()["summary"] == "Something else");
    world.until("it is answered", || parts(&task).iter().any(|name| name.ends_with(".reply")));
    assert!(sandbox.asks(&["task", "next"]).status.success());
}

/// Everything below these folders: names, kinds, and the bytes of files.
fn below(folders: &[PathBuf]) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = folders.to_vec();
    while let Some(path) = left.pop() {
        let kind = path.symlink_metadata().map(|found| found.file_type());
        match kind {
            Ok(kind) if kind.is_dir() => {
                left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()))
            }
            Ok(kind) if kind.is_file() => {
                found.push(format!("{}: {:?}", path.display(), fs::read(&path).unwrap()))
            }
            Ok(_) | Err(_) => found.push(format!("{}", path.display())),
        }
    }
    found.sort();
    found
}

/// One hostile thing in a request folder; `random` says which.
fn harm(world: &World, task: &Task<'_>, victim: &Path, random: &mut impl FnMut(u32) -> u32) {
    let folder = folder(task, 1);
    let name = format!("{:032x}", random(20));
    let part = ["request", "claimed", "reply", "draft", "x"][random(5) as usize];
    let place = folder.join(format!("{name}.{part}"));
    let secret = task.secret("1").unwrap();
    let words =
        [&["task", "next"][..], &["task", "cancel", "--yes"], &["task", "update", "--status", "done"]];
    let bytes = request(task, Some(&secret), words[random(3) as usize]);
    let shell = |script: &str| world.command("sh").args(["-c", script, "sh"]).arg(&place).output().unwrap();
    let harm = random(15);
    if [4, 6, 7].contains(&harm) {
        // What writes would write through a link that is there.
        fs::remove_file(&place).unwrap_or_default();
    }
    match harm {
        0 => drop(symlink(victim, &place)),
        1 => drop(symlink(&folder, &place)),
        2 => drop(shell("mkfifo \"$1\"")),
        3 => drop(shell("mknod \"$1\" c 1 5")),
        4 => drop(shell("truncate -s 9G \"$1\"")),
        5 => drop(shell("mkdir -p \"$1/a/b\"; touch \"$1/a/c\"")),
        6 => drop(fs::write(&place, &bytes[..random(bytes.len() as u32) as usize])),
        7 => drop(fs::write(&place, &bytes)),
        8 => drop(fs::hard_link(victim, &place)),
        9 => drop(fs::rename(folder.join(format!("{name}.claimed")), &place)),
        10 => drop(fs::rename(folder.join(format!("{name}.reply")), &place)),
        11 => (0..2000).for_each(|number| drop(fs::write(folder.join(format!("{number}.junk")), ""))),
        12 => drop(shell("rm -rf \"${1%/*}\"; ln -s \"$ORANGE_HOME/../decoy\" \"${1%/*}\"")),
        13 => drop(shell("rm -f \"${1%/*}/lock\"; mkfifo \"${1%/*}/lock\"")),
        _ => drop(
            fs::remove_file(folder.join("lock")).and_then(|()| fs::hard_link(victim, folder.join("lock"))),
        ),
    }
}

#[test]
fn a_hostile_request_folder_harms_nobody_else() {
    let world = World::new();
    let task = at_work(&world);
    let other = world.create("other", "Another one [agents: hang]", &[]);
    other.agent(1).begun();
    other.reaches("working");
    other.gets_its_copy();
    other.is_recorded();
    task.ok("update", &["--summary", "Mend it"]);
    task.gets_its_copy();
    let Some(sandbox) = Sandbox::of(&world, &task, "1") else { return };
    let victim = world.path("victim");
    fs::write(&victim, "untouched").unwrap();
    fs::create_dir(world.path("decoy")).unwrap();
    let watched =
        [victim.clone(), other.folder(), other.worktree().join("TASK.md"), task.folder().join("prompts")];
    let before = (below(&watched), task.events().len());
    let mut seed = 0x2545_f491_u32;
    let mut random = |below: u32| {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        seed % below.max(1)
    };
    for round in 0..12 {
        for _ in 0..12 {
            harm(&world, &task, &victim, &mut random);
        }
        // Whatever is there, a command ends.
        let said = sandbox.asks(&["task", "next"]);
        assert!([Some(0), Some(5)].contains(&said.status.code()), "round {round}: {said:?}");
        assert_eq!((below(&watched), task.events().len()), before, "round {round}");
    }
    // Left alone, it answers again.
    fs::remove_file(folder(&task, 1)).or_else(|_| fs::remove_dir_all(folder(&task, 1))).unwrap_or_default();
    world.until("it answers", || is_answered(&folder(&task, 1)));
    assert!(sandbox.asks(&["task", "next"]).status.success());
}

#[test]
fn a_name_that_was_claimed_is_carried_out_once() {
    let world = World::new();
    let task = at_work(&world);
    let secret = task.secret("1").unwrap();
    let folder = folder(&task, 1);
    let place = |part: &str| folder.join(format!("{:032x}.{part}", 7));
    let ask = |summary: &str| {
        let bytes = request(&task, Some(&secret), &["task", "update", "--summary", summary]);
        fs::write(place("draft"), bytes).unwrap();
        fs::rename(place("draft"), place("request")).unwrap();
    };
    ask("First");
    world.until("it is answered", || place("reply").exists() && !place("claimed").exists());
    fs::remove_file(place("reply")).unwrap();
    ask("Second");
    world.until("it is claimed", || !place("request").exists());
    // Requests are taken in turn: when this one is answered, that one would have been.
    let reply = leave(&world, &task, &request(&task, Some(&secret), &["task", "next"]));
    assert_eq!((reply["status"].clone(), task.show()["summary"].clone()), (json!(0), json!("First")));
}
