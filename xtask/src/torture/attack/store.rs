//! Files in the store that lead the engine elsewhere, make it wait, or are wrong.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use super::super::outcome::Task;
use super::super::plan::Dice;
use super::super::world::{World, end_of};
use super::evidence::{AttackEvidence, make_special, others};
use super::life::{Lived, cancel, check_end, come_to_an_end, nobody_is_left, same};
use crate::Result;
use crate::scratch::PROJECT;

/// A second project with independent tasks.
const NEXT: &str = "next";

/// Work that may fail while something else is at a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hits {
    Task,
    /// Work that needs a lock or a record of the project.
    Project,
    /// Every start of an agent.
    Starts,
    /// Nothing but what uses the file itself.
    Nobody,
}

/// The files that the engine uses: of a task in its folder, of a project beside its tasks, and of the home.
const PLACES: [(Hits, &str); 30] = [
    (Hits::Task, "TASK.md"),
    (Hits::Task, "history.jsonl"),
    (Hits::Task, ".lock"),
    (Hits::Task, ".TASK.md.base"),
    (Hits::Task, ".TASK.md.next"),
    (Hits::Task, "prompts"),
    (Hits::Task, "prompts/1.md"),
    (Hits::Task, "agents"),
    (Hits::Task, "agents/1.json"),
    (Hits::Task, "agents/1.secret"),
    (Hits::Task, "transcripts"),
    (Hits::Task, "activity.jsonl"),
    (Hits::Task, "activity.old.jsonl"),
    (Hits::Task, "kept"),
    (Hits::Task, "answers"),
    (Hits::Project, ".lock"),
    (Hits::Project, ".merge.lock"),
    (Hits::Project, ".owed"),
    (Hits::Project, ".owed/.lock"),
    (Hits::Project, ".owed/OWER"),
    (Hits::Starts, "projects.json"),
    (Hits::Nobody, ".projects.lock"),
    (Hits::Starts, "workspaces/.pool.lock"),
    (Hits::Starts, "workspaces/.pool.json"),
    (Hits::Starts, "harnesses.toml"),
    (Hits::Starts, "setup.json"),
    (Hits::Nobody, "orange.log"),
    (Hits::Nobody, "orange.old.log"),
    // A second time, since no task goes on without it.
    (Hits::Starts, "projects.json"),
    (Hits::Nobody, "orange.log"),
];

/// Files that a person writes or requests.
const PERSON_S: [&str; 3] = ["projects.json", "harnesses.toml", "setup.json"];

/// The length of a huge file.
const HUGE: u64 = 1 << 33;

/// Invalid reports of a harness.
const REPORTS: &str = r#"
{"time":"9999-12-31T23:59:59.999Z","spawn":1,"kind":"idle"}
{"time":"0000-00-00T00:00:00.000Z","spawn":1,"kind":"permission","tool":"\u001b[2J","text":"a\nb","request":"../../../projects.json","pid":1,"start":0}
{"time":"","spawn":1,"kind":"limit","until":"9999-12-31T23:59:59.999Z","text":"no end"}
{"time":"2026-01-01T00:00:00.000Z","spawn":4294967295,"kind":"question","text":"who?"}
{"time":"2026-01-01T00:00:00.000Z","spawn":1,"kind":"tool","pid":-1,"tokens":18446744073709551615,"cost":18446744073709551615}
{"time":"2026-01-01T00:00:00.000Z","spawn":1,"kind":"started","session":"--help","transcript":"/dev/zero"}
"#;

/// Something wrong at one path.
struct Trap {
    kind: u64,
    name: &'static str,
    hits: Hits,
    place: PathBuf,
    away: PathBuf,
}

/// Puts something at one of these paths, or replaces the list of worktrees by an old one. No command may hang, use much memory or
/// hide the problem; files of others stay, and other tasks go on. Then it is repaired like a person would.
pub(super) fn hostile(world: &World, dice: &mut Dice, branch: &str) -> Result<Lived> {
    let (next, other) = (next_project(world)?, format!("{branch}-other"));
    let before = untouched(world, &next)?;
    world.orange(&["task", "create", branch, "Mend it"])?;
    let task = Task::named(world, branch)?;
    let mut evidence = AttackEvidence::default();
    let work = task.worktree(world)?.join("idea.txt");
    write(&mut evidence, work, branch)?;
    world.orange(&["task", "create", &other, "Mend it"])?;
    write(&mut evidence, Task::named(world, &other)?.worktree(world)?.join("idea.txt"), &other)?;
    let neighbour = format!("{branch}-neighbour");
    world.orange(&["task", "create", "--project", NEXT, &neighbour, "Mend it"])?;

    let kind = dice.below(8);
    let (hits, name) = PLACES[dice.below(PLACES.len() as u64) as usize];
    let folder = match hits {
        Hits::Task => task.folder.clone(),
        Hits::Project => task.folder.with_file_name(""),
        Hits::Starts | Hits::Nobody => world.path("orange"),
    };
    let place = folder.join(name.replace("/OWER", &format!("/{}", task.id)));
    let trap = Trap { kind, name, hits, place, away: world.path(&format!("{branch}.away")) };
    trap.set(world)?;
    let failed = |error: String| format!("kind {kind} in the place of {name}: {error}");
    let seen = meanwhile(world, dice, branch, [&other, &neighbour], &trap);
    // A pipe that stays would block the search for lost texts.
    trap.put_right().map_err(|error| failed(error.to_string()))?;
    let kills = seen.map_err(failed)?;
    same(&before, &untouched(world, &next)?).map_err(failed)?;

    let mut unlocked = 0;
    for name in [branch, &other] {
        unlocked += come_to_an_end(world, name, &["task", "cancel", name, "--yes"]).map_err(failed)?;
    }
    for name in [neighbour, started(branch)] {
        let output = end_of(world.start(&[], &["task", "cancel", &name, "--yes"])?)?;
        // It may never have been created.
        if !output.status.success() && error_of(&output).0 != "not_found" {
            return Err(failed(format!("{name} cannot be cancelled: {}", said(&output))));
        }
    }
    world.calm()?;
    evidence.check(world).map_err(failed)?;
    nobody_is_left(world).map_err(failed)?;
    same(&before, &untouched(world, &next)?).map_err(failed)?;
    let log = world.note("orange/orange.log");
    match log.lines().find(|line| line.contains("memory allocation of") || line.contains("panicked at")) {
        Some(line) => Err(failed(line.to_owned())),
        None => Ok(Lived { kills, texts: evidence.len(), unlocked }),
    }
}

/// Makes requests while the trap is set, and checks the answers. Returns the number of kills.
fn meanwhile(world: &World, dice: &mut Dice, branch: &str, others: [&str; 2], trap: &Trap) -> Result<usize> {
    let before = trap.fingerprint();
    let kills = cancel(world, dice, branch)?;
    for look in [
        &["task", "list"][..],
        &["task", "show", branch],
        &["project", "list"],
        &["monitor", "--once"],
        &["gc"],
        &["workspace", "gc"],
        &["log"],
    ] {
        trap.check(&ask(world, look)?, look)?;
    }
    for other in others {
        world.orange(&["task", "update", other, "--summary", "It goes on"])?;
    }
    let create = ["task", "create", "--project", NEXT, &started(branch), "Mend it"];
    let created = ask(world, &create)?;
    trap.check(&created, &create)?;
    if !created.status.success() && trap.hits != Hits::Starts {
        return Err(format!("no task of another project can be started: {}", said(&created)));
    }
    world.calm()?;
    let doctor = ask(world, &["doctor"])?;
    if trap.is_never_opened() && !String::from_utf8_lossy(&doctor.stdout).contains(&trap.shown()) {
        return Err(format!("`orange doctor` does not report it: {}", said(&doctor)));
    }
    let is_person_s = PERSON_S.iter().any(|name| trap.name.ends_with(name));
    if is_person_s && trap.fingerprint() != before {
        return Err("what a person has put there was changed".to_owned());
    }
    Ok(kills)
}

/// The name of the task that is started meanwhile.
fn started(branch: &str) -> String {
    format!("{branch}-started")
}

/// A second project in this world, whose agents ask no questions. Returns its repository.
fn next_project(world: &World) -> Result<PathBuf> {
    let own = world.path(NEXT);
    if !own.exists() {
        fs::create_dir(&own).map_err(|error| error.to_string())?;
        world.git(&own, &["init", "--quiet"])?;
        world.git(&own, &["commit", "--quiet", "--allow-empty", "--message", "Begin"])?;
        fs::write(own.join("mine"), "a person's\n").map_err(|error| error.to_string())?;
        world.orange(&["project", "add", "--name", NEXT, "--pool-size", "4", &own.to_string_lossy()])?;
        world.orange(&["setup", "--yes", "--harness", "claude"])?;
    }
    Ok(own)
}

/// State that must not change, in both projects.
fn untouched(world: &World, next: &Path) -> Result<String> {
    let state = world.git(next, &["status", "--porcelain", "--branch", "--untracked-files=all"])?;
    let mine = fs::read_to_string(next.join("mine")).unwrap_or_default();
    Ok(format!("{} {state} {mine}", others(world)?))
}

/// The answer of a command without kills.
fn ask(world: &World, words: &[&str]) -> Result<Output> {
    let output =
        end_of(world.start(&[], words)?).map_err(|_| format!("`orange {}` hangs", words.join(" ")))?;
    check_end(&output).map(|()| output)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Code and help of an error.
fn error_of(output: &Output) -> (String, String) {
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let of = |key| answer["error"][key].as_str().unwrap_or_default().to_owned();
    (of("code"), of("help"))
}

fn write(evidence: &mut AttackEvidence, file: PathBuf, branch: &str) -> Result<()> {
    let text = format!("{branch} has half an idea\n");
    fs::write(&file, &text).map_err(|error| error.to_string())?;
    evidence.note(file, 0, text);
    Ok(())
}

impl Trap {
    fn shown(&self) -> String {
        self.place.display().to_string()
    }

    fn set(&self, world: &World) -> Result<()> {
        if self.kind == 0 {
            let pool = world.path("orange/workspaces/.pool.json");
            return fs::write(&pool, "{\"slots\": []}\n").map_err(|error| error.to_string());
        }
        // Some of them do not exist.
        fs::rename(&self.place, &self.away).unwrap_or_default();
        fs::create_dir_all(self.place.parent().unwrap_or(&self.place))
            .and_then(|()| self.put(world))
            .map_err(|error| format!("{}: {error}", self.shown()))
    }

    fn put(&self, world: &World) -> io::Result<()> {
        let (own, place) = (world.path(PROJECT), &self.place);
        match self.kind {
            1 => make_special("mkfifo", place, &[]),
            2 => symlink(own.join("mine"), place),
            3 => symlink(&own, place),
            // Without the right to create a device, it is a link to one.
            4 => make_special("mknod", place, &["c", "1", "5"]).or_else(|_| symlink("/dev/zero", place)),
            5 => File::create(place)?.set_len(HUGE),
            6 => fs::create_dir(place),
            _ if self.name.starts_with("activity") => fs::write(place, REPORTS),
            _ => fs::write(place, [0xff, 0x00, b'{', b'\n', 0xfe]),
        }
    }

    /// Takes away what stands there, and puts back what was there before; what has been written there since stays where nothing was.
    fn put_right(&self) -> io::Result<()> {
        if self.kind == 0 {
            return Ok(());
        }
        let has_former = self.away.symlink_metadata().is_ok();
        // The engine may have made room for a new file with a rename.
        let beside = self.place.parent().map(fs::read_dir).into_iter().flatten().flatten().flatten();
        for entry in beside {
            if entry.metadata().is_ok_and(|found| found.is_file() && found.len() >= HUGE) {
                fs::remove_file(entry.path())?;
            }
        }
        match self.place.symlink_metadata() {
            Ok(found) if found.is_dir() => fs::remove_dir_all(&self.place)?,
            Ok(_) => fs::remove_file(&self.place)?,
            Err(_) => {}
        }
        if has_former { fs::rename(&self.away, &self.place) } else { Ok(()) }
    }

    /// True if the place now has neither a file nor a folder, nor anything that a person may have put elsewhere.
    fn is_never_opened(&self) -> bool {
        let Ok(found) = self.place.symlink_metadata() else { return false };
        let kind = found.file_type();
        self.kind != 0 && (kind.is_fifo() || kind.is_symlink() || kind.is_char_device())
    }

    fn fingerprint(&self) -> Option<(u64, u64, u32)> {
        self.place.symlink_metadata().ok().map(|found| (found.ino(), found.len(), found.mode()))
    }

    /// That an error says what stands where, and what to do about it. One about several things has each in a list.
    fn check(&self, output: &Output, words: &[&str]) -> Result<()> {
        let (code, help) = error_of(output);
        let is_named = said(output).contains(&self.shown()) && (code.is_empty() || !help.is_empty());
        if output.status.success() || self.kind == 0 || is_named {
            return Ok(());
        }
        Err(format!("`orange {}` does not say what is wrong: {}", words.join(" "), said(output)))
    }
}
