//! Files in the store that lead the engine elsewhere, make it wait, or say what is not so.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, makedev, mkfifoat, mknodat};

use super::super::outcome::Task;
use super::super::plan::Dice;
use super::super::world::{World, end_of};
use super::evidence::{Evidence, others};
use super::life::{Lived, cancel, come_to_an_end, nobody_is_left, same};
use crate::Result;
use crate::scratch::PROJECT;

/// What the engine reads of a task, in its folder.
const PLACES: [&str; 14] = [
    "TASK.md",
    "history.jsonl",
    ".lock",
    ".TASK.md.base",
    ".TASK.md.next",
    "prompts",
    "prompts/1.md",
    "agents",
    "agents/1.json",
    "agents/1.secret",
    "transcripts",
    "activity.jsonl",
    "kept",
    "answers",
];

/// Puts something into one of these places, or an old list of the worktrees into its own. No command may hang, what is not the
/// engine's stays, and another task goes on. Then it is put right, as a person would.
pub(super) fn hostile(world: &World, dice: &mut Dice, branch: &str) -> Result<Lived> {
    let (before, other) = (others(world)?, format!("{branch}-other"));
    world.orange(&["task", "create", branch, "Mend it"])?;
    let task = Task::named(world, branch)?;
    let mut evidence = Evidence::default();
    let work = task.worktree(world)?.join("idea.txt");
    write(&mut evidence, work, branch)?;
    world.orange(&["task", "create", &other, "Mend it"])?;
    write(&mut evidence, Task::named(world, &other)?.worktree(world)?.join("idea.txt"), &other)?;

    let kind = dice.below(8);
    let name = PLACES[dice.below(PLACES.len() as u64) as usize];
    let place = task.folder.join(name);
    let (away, pool) = (world.path(&format!("{branch}.away")), world.path("orange/workspaces/.pool.json"));
    if kind == 0 {
        fs::write(&pool, "{\"slots\": []}\n").map_err(|error| error.to_string())?;
    } else {
        // Not all of them are there.
        fs::rename(&place, &away).unwrap_or_default();
        put(world, kind, &place).map_err(|error| format!("{}: {error}", place.display()))?;
    }
    let told = |error: String| format!("kind {kind} in the place of {name}: {error}");

    let kills = cancel(world, dice, branch).map_err(told)?;
    for look in
        [&["task", "list"][..], &["doctor"], &["task", "show", branch], &["monitor", "--once"], &["gc"]]
    {
        end_of(world.start(&[], look)?).map_err(|_| told(format!("`orange {}` hangs", look.join(" "))))?;
    }
    world.orange(&["task", "update", &other, "--summary", "It goes on"]).map_err(told)?;
    world.quiet().map_err(told)?;
    same(&before, &others(world)?).map_err(told)?;

    if kind != 0 {
        put_right(&place, &away).map_err(|error| told(error.to_string()))?;
    }
    let mut unlocked = 0;
    for name in [branch, &other] {
        unlocked += come_to_an_end(world, name, &["task", "cancel", name, "--yes"]).map_err(told)?;
    }
    evidence.check(world).map_err(told)?;
    nobody_is_left(world).map_err(told)?;
    same(&before, &others(world)?).map_err(told)?;
    Ok(Lived { kills, texts: evidence.len(), unlocked })
}

fn write(evidence: &mut Evidence, file: std::path::PathBuf, branch: &str) -> Result<()> {
    let text = format!("{branch} has half an idea\n");
    fs::write(&file, &text).map_err(|error| error.to_string())?;
    evidence.note(file, 0, text);
    Ok(())
}

fn put(world: &World, kind: u64, place: &Path) -> io::Result<()> {
    const HUGE: u64 = 1 << 33;
    let own = world.path(PROJECT);
    match kind {
        1 => mkfifoat(CWD, place, Mode::RWXU).map_err(io::Error::from),
        2 => symlink(own.join("mine"), place),
        3 => symlink(&own, place),
        // Who may not make a device makes a link to one.
        4 => mknodat(CWD, place, FileType::CharacterDevice, Mode::RWXU, makedev(1, 5))
            .or_else(|_| symlink("/dev/zero", place).map_err(|_| rustix::io::Errno::PERM))
            .map_err(io::Error::from),
        5 => File::create(place)?.set_len(HUGE),
        6 => fs::create_dir(place),
        _ => fs::write(place, [0xff, 0x00, b'{', b'\n', 0xfe]),
    }
}

/// Takes away what stands there, and puts back what was there before; what has been written there since stays where nothing was.
fn put_right(place: &Path, away: &Path) -> io::Result<()> {
    let Ok(found) = place.symlink_metadata() else {
        return if away.exists() { fs::rename(away, place) } else { Ok(()) };
    };
    if found.is_dir() {
        fs::remove_dir_all(place)?
    } else {
        fs::remove_file(place)?
    }
    if away.symlink_metadata().is_ok() { fs::rename(away, place) } else { Ok(()) }
}
