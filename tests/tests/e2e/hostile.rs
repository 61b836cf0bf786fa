//! Whatever somebody has put in the place of a file of the home: no command waits for it, none writes or removes anything behind
//! it, and one bad task stops no other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::said::ProgramOutput;
use crate::task::{Task, is_alive};
use crate::world::World;

/// Source of the engine with the names of all its files.
const PLACES: &str = include_str!("../../../engine/src/store/home.rs");

/// Kinds of files that are put there.
const KINDS: [&str; 6] =
    ["pipe", "link to a file", "link to a folder", "link to nothing", "folder", "huge file"];

/// The paths that the functions of a type give, as its source has them: below `self.path` or `self.root`.
fn places(of: &str) -> BTreeSet<String> {
    let begin = PLACES.find(&format!("\nimpl {of} {{")).unwrap();
    let source = &PLACES[begin..];
    let source = &source[..source.find("\n}\n").unwrap()];
    let mut known = BTreeMap::from([("path".to_owned(), String::new()), ("root".to_owned(), String::new())]);
    for function in source.split("pub fn ").skip(1) {
        let name = function.split('(').next().unwrap();
        let line = function.lines().map(str::trim).find(|line| line.starts_with("self."));
        let Some(line) = line.filter(|line| line.contains(".join(") || line.contains(".place(")) else {
            continue;
        };
        let mut words = line.trim_start_matches("self.").split(".join(");
        let first = words.next().unwrap();
        let mut path = match first.strip_prefix("place(") {
            Some(name) => literal(name),
            None => known[first.trim_end_matches("()")].clone(),
        };
        for word in words {
            path = format!("{path}/{}", literal(word)).trim_start_matches('/').to_owned();
        }
        known.insert(name.to_owned(), path);
    }
    let mut places: BTreeSet<String> = known.into_values().filter(|path| !path.is_empty()).collect();
    let folders: Vec<_> =
        places.iter().filter_map(|path| Some(path.rsplit_once('/')?.0.to_owned())).collect();
    places.extend(folders);
    places
}

/// The text of `"name")`, or of `format!("{spawn}.md"))`; whatever is counted is the first.
fn literal(word: &str) -> String {
    match word.split('"').nth(1) {
        Some(text) => text.replace("{spawn}", "1"),
        None if word.contains("kind.file()") => "TASK.md".to_owned(),
        None => "toy".to_owned(),
    }
}

/// Everything in a folder, with its contents.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match path.is_dir() {
            true => all.extend(contents(&path)),
            false => drop(all.insert(path.clone(), fs::read(&path).unwrap())),
        }
        all.entry(path).or_default();
    }
    all
}

/// A place with something else in it until this is dropped.
struct Replaced {
    place: PathBuf,
    aside: PathBuf,
}

impl Replaced {
    fn by(world: &World, place: PathBuf, kind: &str) -> Replaced {
        let (aside, outside) = (world.path("aside"), world.path("outside"));
        if place.symlink_metadata().is_ok() {
            fs::rename(&place, &aside).unwrap();
        }
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        match kind {
            "pipe" => assert!(world.command("mkfifo").arg(&place).status().unwrap().success()),
            "link to a file" => symlink(outside.join("file"), &place).unwrap(),
            "link to a folder" => symlink(outside.join("folder"), &place).unwrap(),
            "link to nothing" => symlink(outside.join("nothing"), &place).unwrap(),
            "folder" => fs::create_dir(&place).unwrap(),
            _ => fs::File::create(&place).unwrap().set_len(1 << 40).unwrap(),
        }
        Replaced { place, aside }
    }
}

impl Drop for Replaced {
    fn drop(&mut self) {
        // What was put there, or what the engine may have made of it.
        let found = self.place.symlink_metadata();
        if found.is_ok_and(|found| found.is_dir()) {
            fs::remove_dir_all(&self.place).unwrap_or_default();
        } else {
            fs::remove_file(&self.place).unwrap_or_default();
        }
        if self.aside.symlink_metadata().is_ok() {
            fs::rename(&self.aside, &self.place).unwrap();
        }
    }
}

/// Runs `orange --json …`, which has to end by itself, with much less memory than what may be put into a place.
#[track_caller]
fn ends(world: &World, at: &str, args: &[&str]) -> ProgramOutput {
    let mut command = world.command("sh");
    command.args(["-c", "ulimit -v 1048576; exec timeout --signal=KILL 120 \"$0\" --json \"$@\""]);
    command.arg(world.program).args(args);
    let said = world.said(command.current_dir(world.repo()));
    assert!((0..=6).contains(&said.status), "{at}: orange {args:?} hangs or breaks: {said:#?}");
    said
}

/// A world with something outside that nobody may touch, a good task, and one that is going to be a bad one.
fn world() -> World {
    let world = World::new();
    fs::create_dir_all(world.path("outside/folder")).unwrap();
    for name in ["file", "folder/inner", "folder/1.json", "folder/1.md", "folder/1.secret", "folder/TASK.md"]
    {
        fs::write(world.path("outside").join(name), "precious\n").unwrap();
    }
    world
}

fn tasks(world: &World) -> [Task<'_>; 2] {
    let tasks = ["good", "bad"].map(|branch| world.create(branch, "Mend it [agents: hang]", &[]));
    tasks.iter().for_each(|task| {
        task.agent(1).begun();
        task.reaches("working");
    });
    tasks
}

#[test]
fn one_bad_task_blocks_no_other_and_leads_nothing_outside() {
    let world = world();
    let [good, bad] = tasks(&world);
    let before = contents(&world.path("outside"));
    let places = places("WorkItemDir");
    for known in ["TASK.md", "history.jsonl", ".lock", "agents", "agents/1.json", "prompts/1.md", "kept"] {
        assert!(places.contains(known), "{known} is not among {places:?}");
    }
    for place in &places {
        for kind in KINDS {
            let at = format!("{place}: {kind}");
            let replaced = Replaced::by(&world, bad.folder().join(place), kind);
            let listed = ends(&world, &at, &["task", "list"]);
            let ids: Vec<_> = listed.ok().as_array().unwrap().iter().map(|task| task["id"].clone()).collect();
            assert!(
                ids.contains(&good.id.as_str().into()) && ids.contains(&bad.id.as_str().into()),
                "{at}: {ids:?}"
            );
            ends(&world, &at, &["task", "show", &bad.id]);
            let update = ends(&world, &at, &["task", "update", &bad.id, "--summary", &at]);
            // What is in the lock means nothing.
            let is_needed = ["TASK.md", "history.jsonl"].contains(&place.as_str())
                || place == ".lock" && kind != "huge file";
            assert_eq!(update.status == 6, is_needed, "{at}: {update:#?}");
            ends(&world, &at, &["task", "logs", &bad.id]);
            let of_branch = ends(&world, &at, &["task", "show", "bad"]);
            assert!(of_branch.status != 3, "{at}: {of_branch:#?}");
            ends(&world, &at, &["task", "next", &bad.id]);
            if matches!(kind, "pipe" | "link to a folder") {
                assert_eq!(ends(&world, &at, &["monitor", "--once"]).status, 0, "{at}");
                // A cache is rewritten, whatever stands in its place.
                let path = bad.folder().join(place);
                let is_left = path.symlink_metadata().is_ok_and(|found| !found.is_file() && !found.is_dir());
                let doctor = ends(&world, &at, &["doctor"]);
                let message =
                    doctor.out.contains(&path.display().to_string()) || doctor.out.contains(&bad.id);
                assert!(!is_left || doctor.status == 5 && message, "{at}: {}", doctor.out);
            }
            good.ok("update", &["--summary", &at]);
            assert_eq!(contents(&world.path("outside")), before, "{at}");
            drop(replaced);
        }
    }
    for task in [&good, &bad] {
        task.ok("cancel", &["--yes"]);
    }
}

#[test]
fn a_home_with_odd_files_blocks_nobody_and_leads_nowhere() {
    let world = world();
    let [good, _] = tasks(&world);
    let before = contents(&world.path("outside"));
    let mut places = places("Home");
    // A person may have put the great folders on another disk, with a link.
    for great in ["tasks", "trash", "workflows", "workspaces"] {
        assert!(places.remove(great), "{great} is not among {places:?}");
    }
    places.extend(
        ["workspaces/.pool.lock", ".projects.lock", "tasks/toy/.lock", "tasks/toy/.new"].map(str::to_owned),
    );
    for place in places.iter().filter(|place| !place.starts_with("tasks/toy/toy")) {
        for kind in KINDS {
            let at = format!("{place}: {kind}");
            let replaced = Replaced::by(&world, world.home().join(place), kind);
            for command in [
                &["task", "list"][..],
                &["task", "show", &good.id],
                &["task", "update", &good.id, "--summary", &at],
                &["task", "create", "third", "More", "--dry-run"],
                &["project", "list"],
                &["project", "update", "toy", "--pool-size", "2"],
                &["workspace", "list"],
                &["workspace", "gc", "--dry-run"],
                &["log"],
                &["monitor", "--once"],
            ] {
                ends(&world, &at, command);
            }
            assert_eq!(contents(&world.path("outside")), before, "{at}");
            drop(replaced);
        }
    }
    good.ok("cancel", &["--yes"]);
}

/// Runs `orange doctor`, which has to name this place.
#[track_caller]
fn is_reported(world: &World, place: &Path) {
    let at = place.display().to_string();
    let doctor = ends(world, &at, &["doctor"]);
    assert!(doctor.status == 5 && doctor.out.contains(&at), "{at}: {}", doctor.out);
}

#[test]
fn a_log_that_is_no_file_stops_no_task_and_is_reported() {
    let world = world();
    let before = contents(&world.path("outside"));
    let log = world.home().join("orange.log");
    for (number, kind) in KINDS.iter().filter(|kind| **kind != "huge file").enumerate() {
        let replaced = Replaced::by(&world, log.clone(), kind);
        let task = world.create(&format!("fix-{number}"), "Mend it [agents: hang]", &[]);
        task.agent(1).begun();
        task.reaches("working");
        task.ok("cancel", &["--yes"]);
        is_reported(&world, &log);
        assert_eq!(contents(&world.path("outside")), before, "{kind}");
        drop(replaced);
    }
}

#[test]
fn a_lock_that_is_no_file_is_reported_and_blocks_no_other() {
    let world = world();
    let other = world.path("other");
    world.git(Path::new("/"), &["init", "--quiet", &other.to_string_lossy()]);
    world.git(&other, &["commit", "--quiet", "--allow-empty", "--message", "Begin"]);
    world.orange_in(&other, &["project", "add", "--name", "other", "--json"]).ok();
    let create = ["task", "create", "fix", "Mend it", "--no-spawn", "--json"];
    let task = world.task(&world.orange_in(&other, &create).ok());
    let locks = [
        ".projects.lock",
        "workspaces/.pool.lock",
        "tasks/toy/.lock",
        "tasks/toy/.merge.lock",
        "tasks/toy/.owed/.lock",
    ];
    for lock in locks {
        for kind in ["pipe", "link to a file", "folder"] {
            let place = world.home().join(lock);
            let replaced = Replaced::by(&world, place.clone(), kind);
            is_reported(&world, &place);
            let needs: &[&str] = match lock {
                ".projects.lock" => &["project", "update", "toy", "--pool-size", "2"],
                "workspaces/.pool.lock" => &["workspace", "gc"],
                "tasks/toy/.lock" => &["task", "create", "third", "More", "--no-spawn"],
                _ => &[],
            };
            if !needs.is_empty() {
                let message = ends(&world, lock, needs).fails(6, "corrupt");
                assert!(
                    message.contains(&place.display().to_string()) && message.contains("move it away"),
                    "{message}"
                );
            }
            world.ok(&["task", "update", &task.id, "--summary", &format!("{lock}: {kind}")]);
            drop(replaced);
        }
    }
}

#[test]
fn an_unreadable_owed_start_is_reported_and_blocks_no_other() {
    let world = world();
    let [good, _] = tasks(&world);
    world.ok(&["project", "update", "toy", "--pool-size", "3"]);
    let place = world.home().join("tasks/toy/.owed/0-hostile");
    for (number, kind) in ["pipe", "link to a file", "folder", "huge file"].iter().enumerate() {
        let replaced = Replaced::by(&world, place.clone(), kind);
        let waiting = world.create(&format!("next-{number}"), "Mend it [agents: hang]", &["--no-spawn"]);
        fs::write(place.with_file_name(&good.id), "").unwrap();
        ends(&world, kind, &["monitor", "--once"]);
        waiting.reaches("working");
        let looked = ends(&world, kind, &["monitor", "--once"]).ok();
        let errors = looked["errors"].to_string();
        assert!(errors.contains(&place.display().to_string()), "{kind}: {looked}");
        is_reported(&world, &place);
        waiting.ok("cancel", &["--yes"]);
        drop(replaced);
    }
}

#[test]
fn a_process_that_is_on_record_and_no_agent_is_not_ended() {
    let world = world();
    let [_, bad] = tasks(&world);
    let agent = bad.agent(1).begun();
    let mut stranger = world.command("sleep").arg("1000000").spawn().unwrap();
    let pid = stranger.id();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let start: u64 = stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap().parse().unwrap();
    let note = bad.folder().join("agents/1.json");
    let text = fs::read_to_string(&note).unwrap();
    let mut noted: serde_json::Value = serde_json::from_str(&text).unwrap();
    noted["agent"] = serde_json::json!({ "pid": pid, "start": start });
    noted["wrapper"] = noted["agent"].clone();
    fs::write(&note, noted.to_string()).unwrap();
    bad.ok("cancel", &["--yes"]);
    assert!(!is_alive(agent), "the agent itself is ended by its own mark");
    assert_eq!(stranger.try_wait().unwrap(), None, "somebody else's process was ended");
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[test]
fn a_name_in_a_journal_is_no_path() {
    let world = world();
    let [good, bad] = tasks(&world);
    let journal = bad.folder().join("history.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let outside = world.path("outside").display().to_string();
    for path in [outside.as_str(), "../../outside", "..", ".pool.json"] {
        let line = format!(
            "{{\"seq\":1000,\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"type\":\"unknown\",\"set\":{{\"workspace\":\"{path}\"}}}}\n"
        );
        fs::write(&journal, format!("{text}{line}")).unwrap();
        let message = bad.fails(6, "corrupt", "update", &["--summary", "x"]);
        assert!(message.contains("its `workspace` is not a name"), "{message}");
        assert_eq!(ends(&world, path, &["task", "list"]).status, 0);
        assert_eq!(ends(&world, path, &["monitor", "--once"]).status, 0);
        assert!(!world.path("outside/TASK.md").exists());
        good.ok("update", &["--summary", "y"]);
    }
    fs::write(&journal, text).unwrap();
    bad.ok("update", &["--summary", "x"]);
}
