//! Lives of tasks: a request, kills, and the recovery.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Output};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use super::super::attempt::unlock;
use super::super::outcome::Task;
use super::super::plan::Dice;
use super::super::world::{ProcessRole, World, end_of};
use super::evidence::{AttackEvidence, census, make_special, others};
use super::holders;
use super::states::confuse;
use super::store;
use crate::Result;
use crate::scratch::PROJECT;

/// The figures of a life.
pub(super) struct Lived {
    /// The number of kills.
    pub(super) kills: usize,
    /// The number of texts to be kept.
    pub(super) texts: usize,
    /// The number of lock files of killed gits that were removed by hand.
    pub(super) unlocked: usize,
}

/// A kind of life.
pub(super) struct LifeKind {
    pub(super) name: &'static str,
    pub(super) live: fn(&World, &mut Dice, &str) -> Result<Lived>,
}

pub(super) const KINDS: [LifeKind; 7] = [
    LifeKind { name: "a worktree in an odd state is given back", live: give_back },
    LifeKind {
        name: "a worktree in an odd state is given back while a process writes in it",
        live: give_back_under_a_writer,
    },
    LifeKind { name: "merges at once", live: merge_at_once },
    LifeKind { name: "starts at once", live: start_at_once },
    LifeKind { name: "hostile files in a worktree", live: hostile },
    LifeKind { name: "hostile files in the store", live: store::hostile },
    LifeKind { name: "agents that hold a lock with all their children", live: holders::hold },
];

/// The maximum of kills during a request.
const KILLS: u64 = 10;

/// The maximum of milliseconds between two kills, where requests take no longer.
const MOST_APART: u64 = 200;

/// The highest exit status that `orange` documents.
const MOST: i32 = 6;

/// Number of times that a person repeats a request before it counts as failed.
const PATIENCE: usize = 6;

/// The address space of a process in KiB: far more than any needs, and far less than the size of a hostile file.
const MEMORY: u64 = 1 << 20;

/// A world with files in its repository, and a person's own changes beside it.
pub(super) fn world(orange: &Path) -> Result<World> {
    let world = World::of_memory(orange, MEMORY)?;
    let own = world.path(PROJECT);
    for folder in ["inside", "outside"] {
        fs::create_dir(own.join(folder)).map_err(|error| error.to_string())?;
    }
    for file in ["readme", "inside/tracked", "outside/tracked"] {
        fs::write(own.join(file), "the project's\n").map_err(|error| error.to_string())?;
    }
    let git = |words: &[&str]| world.git(&own, words);
    git(&["add", "."])?;
    git(&["commit", "--quiet", "-m", "Files"])?;
    git(&["push", "--quiet", "origin", "main", "main:develop", "main:production"])?;
    fs::write(own.join("mine"), "a person's\n").map_err(|error| error.to_string())?;
    Ok(world)
}

fn give_back(world: &World, dice: &mut Dice, branch: &str) -> Result<Lived> {
    release(world, dice, branch, false)
}

fn give_back_under_a_writer(world: &World, dice: &mut Dice, branch: &str) -> Result<Lived> {
    release(world, dice, branch, true)
}

fn release(world: &World, dice: &mut Dice, branch: &str, has_writer: bool) -> Result<Lived> {
    let before = others(world)?;
    world.orange(&["task", "create", branch, "Mend it"])?;
    let worktree = Task::named(world, branch)?.worktree(world)?;
    let mut evidence = AttackEvidence::default();
    confuse(world, &worktree, dice, &mut evidence)?;
    let is_over = AtomicBool::new(false);
    let (kills, written) = thread::scope(|scope| {
        let writer =
            scope.spawn(|| if has_writer { write_all(&worktree, branch, &is_over) } else { Vec::new() });
        let kills = cancel(world, dice, branch);
        is_over.store(true, Ordering::Relaxed);
        (kills, writer.join().map_err(|_| "the writer has panicked".to_owned()))
    });
    let (kills, written) = (kills?, written?);
    written.into_iter().for_each(|(file, text)| evidence.note(file, 0, text));
    let unlocked = come_to_an_end(world, branch, &["task", "cancel", branch, "--yes"])?;
    evidence.check(world)?;
    nobody_is_left(world)?;
    same(&before, &others(world)?)?;
    Ok(Lived { kills, texts: evidence.len(), unlocked })
}

fn merge_at_once(world: &World, dice: &mut Dice, branch: &str) -> Result<Lived> {
    let before = others(world)?;
    let (own, mut evidence) = (world.path(PROJECT), AttackEvidence::default());
    let branches: Vec<String> = (0..3).map(|number| format!("{branch}-{number}")).collect();
    for name in &branches {
        let text = format!("{name}\n");
        let blob = world.git_with(&own, &["hash-object", "-w", "--stdin"], &text)?;
        let tree = with_file(world, name, &blob)?;
        let commit = world.git(&own, &["commit-tree", &tree, "-p", "main", "-m", name])?;
        world.git(&own, &["branch", name, &commit])?;
        evidence.note(name.into(), 0, text);
        world.orange(&["task", "create", name, "Mend it", "--status", "reviewing"])?;
    }
    let merge = |name: &str| start(world, &["task", "merge", name, "--local", "--strategy", "merge"]);
    let all = || {
        branches
            .iter()
            .map(|name| merge(name))
            .collect::<Result<Vec<_>>>()
            .map(|all| all.into_iter().flatten().collect())
    };
    let kills = under_kills(world, dice, &ProcessRole::ALL, MOST_APART, all)?;
    let mut unlocked = 0;
    for name in &branches {
        unlocked += come_to_an_end(world, name, &["task", "merge", name, "--local", "--strategy", "merge"])?;
        let has = |place: &Path| world.git(place, &["cat-file", "-e", &format!("main:{name}")]).is_ok();
        if !has(&own) || !has(&world.path("toy.git")) {
            return Err(format!("{name} counts as merged, and the default branch or the remote lacks it"));
        }
        let merges = world.git(&own, &["log", "main", "--merges", "--format=%s"])?;
        let count = merges.lines().filter(|line| line.contains(&format!("'{name}'"))).count();
        if count > 1 {
            return Err(format!("{name} was merged {count} times"));
        }
    }
    evidence.check(world)?;
    same(&before, &others(world)?)?;
    Ok(Lived { kills, texts: evidence.len(), unlocked })
}

fn start_at_once(world: &World, dice: &mut Dice, branch: &str) -> Result<Lived> {
    let branches: Vec<String> = (0..3).map(|number| format!("{branch}-{number}")).collect();
    let all = || {
        let mut children = Vec::new();
        for name in &branches {
            children.extend(start(world, &["task", "create", name, "Mend it"])?);
            children.extend(start(world, &["task", "spawn", name])?);
            children.extend(start(world, &["task", "spawn", name])?);
        }
        Ok(children)
    };
    let kills = under_kills(world, dice, &ProcessRole::ALL, MOST_APART, all)?;
    census(world)?;
    let mut unlocked = 0;
    for name in branches.iter().filter(|name| Task::find(world, name).is_ok_and(|task| task.is_some())) {
        unlocked += come_to_an_end(world, name, &["task", "cancel", name, "--yes"])?;
    }
    nobody_is_left(world)?;
    Ok(Lived { kills, texts: 0, unlocked })
}

/// Checks that no agent is left.
pub(super) fn nobody_is_left(world: &World) -> Result<()> {
    // An agent whose terminal is gone ends when it reads from that.
    let is_over = || census(world).is_ok_and(|alive| alive.is_empty());
    world.until("every agent has ended", is_over).or_else(|_| {
        let alive = census(world)?;
        let journal = |task: &str| world.note(&format!("orange/tasks/{PROJECT}/{task}/history.jsonl"));
        let names: String =
            alive.iter().map(|(task, who)| format!("\n  {who} of task {task}:\n{}", journal(task))).collect();
        Err(format!("no task is under way, and there are agents:{names}"))
    })
}

/// Puts files in the way that lead the engine elsewhere or make it wait, and afterwards repairs them like a person.
fn hostile(world: &World, dice: &mut Dice, branch: &str) -> Result<Lived> {
    const PLACES: [&str; 4] = [".git", ".orange", "TASK.md", ".gitmodules"];
    let before = others(world)?;
    world.orange(&["task", "create", branch, "Mend it"])?;
    let worktree = Task::named(world, branch)?.worktree(world)?;
    let mut evidence = AttackEvidence::default();
    confuse(world, &worktree, dice, &mut evidence)?;
    let name = PLACES[dice.below(PLACES.len() as u64) as usize];
    let place = worktree.join(name);
    let away = world.path(&format!("{branch}.away"));
    // Some of them do not exist.
    fs::rename(&place, &away).unwrap_or_default();
    let own = world.path(PROJECT);
    let made = match dice.below(4) {
        0 => fs::write(&place, format!("gitdir: {}\n", own.join(".git").display())),
        1 => std::os::unix::fs::symlink(own.join("mine"), &place),
        2 => std::os::unix::fs::symlink(&own, &place),
        _ => make_special("mkfifo", &place, &[]),
    };
    made.map_err(|error| error.to_string())?;
    let kills = cancel(world, dice, branch)?;
    for look in [&["task", "list"][..], &["doctor"], &["task", "show", branch], &["monitor", "--once"]] {
        end_of(world.start(&[], look)?).map_err(|_| format!("`orange {}` hangs", look.join(" ")))?;
    }
    same(&before, &others(world)?)?;
    if name == ".git" {
        fs::remove_file(&place)
            .and_then(|()| fs::rename(&away, &place))
            .map_err(|error| format!("the worktree's link is gone: {error}"))?;
    }
    let unlocked = come_to_an_end(world, branch, &["task", "cancel", branch, "--yes"])?;
    evidence.check(world)?;
    nobody_is_left(world)?;
    same(&before, &others(world)?)?;
    Ok(Lived { kills, texts: evidence.len(), unlocked })
}

pub(super) fn same(before: &str, now: &str) -> Result<()> {
    if before == now { Ok(()) } else { Err(format!("somebody else's was touched:\n  {before}\n  {now}")) }
}

pub(super) fn start(world: &World, words: &[&str]) -> Result<Vec<Child>> {
    Ok(vec![world.start(&[], words)?])
}

/// Cancels a task, perhaps repeatedly, with a monitor beside it, all under kills. Returns the number of kills.
pub(super) fn cancel(world: &World, dice: &mut Dice, branch: &str) -> Result<usize> {
    let mut kills = 0;
    for turn in 0..=dice.below(4) {
        let words =
            if turn % 2 == 0 { &["task", "cancel", branch, "--yes"][..] } else { &["monitor", "--once"] };
        kills += under_kills(world, dice, &ProcessRole::ALL, MOST_APART, || start(world, words))?;
    }
    Ok(kills)
}

/// Makes requests, and kills processes of one of these roles while they run, at most so many milliseconds apart. Returns the number of
/// kills.
pub(super) fn under_kills(
    world: &World,
    dice: &mut Dice,
    roles: &[ProcessRole],
    most: u64,
    begin: impl FnOnce() -> Result<Vec<Child>>,
) -> Result<usize> {
    let count = 1 + dice.below(KILLS);
    let strike = |_| {
        let longest = 20 + dice.below(most);
        (Duration::from_millis(dice.below(longest)), dice.below(roles.len() as u64) as usize)
    };
    let strikes: Vec<(Duration, usize)> = (0..count).map(strike).collect();
    let (is_over, met) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        let children = begin()?;
        scope.spawn(|| {
            for (after, first) in strikes {
                thread::sleep(after);
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                // A process of this role, or else of the next.
                let mut from_first = roles.iter().cycle().skip(first).take(roles.len());
                let has_met = from_first.any(|role| world.kill(*role) > 0);
                met.fetch_add(usize::from(has_met), Ordering::Relaxed);
            }
        });
        let ended = children.into_iter().map(|child| check_end(&end_of(child)?)).collect::<Result<Vec<()>>>();
        let quiet = ended.and_then(|_| world.calm());
        is_over.store(true, Ordering::Relaxed);
        quiet
    })?;
    Ok(met.load(Ordering::Relaxed))
}

/// Checks that a process has ended by itself or was killed, and has not panicked or run out of memory.
pub(super) fn check_end(output: &Output) -> Result<()> {
    let killed = output.status.signal() == Some(Signal::KILL.as_raw());
    if killed || output.status.code().is_some_and(|code| code <= MOST) {
        return Ok(());
    }
    Err(format!("a request breaks off, {}: {}", output.status, String::from_utf8_lossy(&output.stderr)))
}

/// Repeats recovery and the request until the task is finished and its worktree released. Returns the number of removed locks of
/// killed gits.
pub(super) fn come_to_an_end(world: &World, branch: &str, words: &[&str]) -> Result<usize> {
    let (mut unlocked, mut said) = (0, String::new());
    for _ in 0..PATIENCE {
        end_of(world.start(&[], &["monitor", "--once"])?)?;
        world.calm()?;
        unlocked += unlock(world)?;
        let task = Task::named(world, branch)?;
        let is_over = ["done", "cancelled"].contains(&task.status().as_str());
        if is_over && task.worktree(world).is_err() {
            return Ok(unlocked);
        }
        let words = if is_over { &["workspace", "gc"][..] } else { words };
        let output = end_of(world.start(&[], words)?)?;
        said = String::from_utf8_lossy(&output.stdout).into_owned();
        world.calm()?;
    }
    Err(format!("{branch} does not come to its end: {said}"))
}

/// Writes files until it is over, and returns those that were written completely.
fn write_all(worktree: &Path, branch: &str, is_over: &AtomicBool) -> Vec<(PathBuf, String)> {
    const MOST: usize = 600;
    let mut written = Vec::new();
    for count in (0..MOST).take_while(|_| !is_over.load(Ordering::Relaxed)) {
        let folder = worktree.join(format!("written-{}", count % 5));
        let (file, saving) = (folder.join(count.to_string()), worktree.join("saving"));
        let text = format!("{branch} writes {count}\n");
        let saved = match count % 2 {
            0 => fs::write(&file, &text),
            _ => fs::write(&saving, &text).and_then(|()| fs::rename(&saving, &file)),
        };
        match saved {
            Ok(()) => written.push((file, text)),
            // The folder does not exist yet, or no longer.
            Err(_) => fs::create_dir(folder).unwrap_or_default(),
        }
    }
    written
}

/// The tree of the default branch with one more file.
fn with_file(world: &World, name: &str, blob: &str) -> Result<String> {
    let own = world.path(PROJECT);
    let listed = world.git(&own, &["ls-tree", "main"])?;
    world.git_with(&own, &["mktree"], &format!("{listed}\n100644 blob {blob}\t{name}\n"))
}
