//! `cargo xtask torture`: kills, starves and confuses requests, and compares the results with undisturbed runs.
//!
//! The promises here: a request may be killed at any step of ours, `fault::step`, may be started twice, and may meet a full disk at
//! any byte, and after one look of the monitor the task is as without it (`--steps`, the slice); the same at random moments, of random
//! lives with kills of every kind of process (`--attack`); and for gateways, crabs and their network (`--fleet`). Tests of one kill
//! each, at a program that `orange` calls, are `every_step` and `kills` in `tests/tests/e2e`.

mod attack;
mod attempt;
mod fault;
mod fleet;
mod outcome;
mod plan;
mod prepare;
mod scene;
mod table;
mod world;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use self::attempt::attempt;
use self::outcome::{Task, TaskState};
use self::plan::{Amounts, MeasuredScene, TortureJob};
use self::scene::SCENES;
use self::table::FigureTable;
use self::world::World;
use crate::Result;
use crate::workspace::OwnRepository;

/// The number of requests in one world, so that homes are neither empty nor endless.
const REQUESTS_IN_A_WORLD: usize = 25;

/// The number of lives that continuous integration has time for.
const LIVES_OF_A_SLICE: usize = 10;

/// Kill, starve and confuse requests at every step and at any moment, and compare what is left with an undisturbed run.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  cargo xtask torture\n  cargo xtask torture --seed 7\n  cargo xtask torture --random 2000\n  cargo xtask torture --long\n  cargo xtask torture --attack 50\n  cargo xtask torture --attack 10 --without proc,environments,subreaper,openat2\n  cargo xtask torture --fleet --seconds 300"
)]
pub(crate) struct Torture {
    /// Every step of every request, and 2000 kills of the release binary; otherwise a slice, which no moment decides about.
    #[arg(long)]
    long: bool,
    /// Every step of every request, and nothing else.
    #[arg(long, conflicts_with = "long")]
    steps: bool,
    /// So many kills of the release binary at random moments, and nothing else.
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["long", "steps"])]
    random: Option<usize>,
    /// So many full disks, with any number of bytes left, and nothing else.
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["long", "steps", "random"])]
    disks: Option<usize>,
    /// So many random lives of tasks, under kills of every kind of process, and nothing else; 10, if not given.
    #[arg(
        long,
        value_name = "LIVES",
        num_args = 0..=1,
        default_missing_value = "10",
        conflicts_with_all = ["long", "steps", "random", "disks"]
    )]
    attack: Option<usize>,
    /// Of these lives, only the one with this number.
    #[arg(long, value_name = "NUMBER", requires = "attack")]
    life: Option<usize>,
    /// Gateways, crabs and their network, and nothing else: killed, stopped and cut off, and held against what was acknowledged.
    #[arg(long, conflicts_with_all = ["long", "steps", "random", "disks", "attack"])]
    fleet: bool,
    /// For how long a fleet is tortured; every kind of fault happens once at least.
    #[arg(long, value_name = "SECONDS", requires = "fleet", default_value_t = 20)]
    seconds: u64,
    /// Of the fleet's stores, only this one.
    #[arg(long, value_name = "NAME", requires = "fleet")]
    store: Option<String>,
    /// The seed of the slice and the random moments; by default today's number of seconds.
    #[arg(long)]
    seed: Option<u64>,
    /// Parts of the system that `orange` does without, so that the code for systems that lack them runs: of `proc`, `environments`,
    /// `subreaper` and `openat2`, with commas between them.
    #[arg(long, value_name = "PARTS", conflicts_with_all = ["long", "random", "fleet"], value_parser = known_parts)]
    without: Option<String>,
    /// Only the scenes, or the attacks, whose name contains this.
    #[arg(long, value_name = "WORDS")]
    scene: Option<String>,
}

/// Refuses a part that no program can do without.
fn known_parts(parts: &str) -> std::result::Result<String, String> {
    const KNOWN: [&str; 4] = ["proc", "environments", "subreaper", "openat2"];
    match parts.split(',').find(|part| !KNOWN.contains(part)) {
        Some(part) => Err(format!("`{part}` is none of {}", KNOWN.join(", "))),
        None => Ok(parts.to_owned()),
    }
}

impl Torture {
    /// The number of concurrent worlds. Requests under kills mostly wait.
    fn workers(&self) -> usize {
        let cores = thread::available_parallelism().map_or(2, usize::from);
        let is_long = self.random.is_some()
            || self.disks.is_some()
            || self.attack.is_some_and(|lives| lives > LIVES_OF_A_SLICE);
        if is_long { cores * 2 } else { cores.min(4) }
    }

    fn amounts(&self) -> Amounts {
        let none = Amounts::default();
        match (self.long, self.steps, self.random, self.disks) {
            (true, ..) => Amounts { steps: usize::MAX, moments: 2000, disks: 24, others: 24 },
            (false, true, ..) => Amounts { steps: usize::MAX, ..none },
            (false, false, Some(moments), _) => Amounts { moments, ..none },
            (false, false, None, Some(disks)) => Amounts { disks, ..none },
            (false, false, None, None) => Amounts { steps: 16, moments: 0, disks: 1, others: 1 },
        }
    }

    /// The selected scenes, at least one; a slice has only some.
    fn scenes(&self, seed: u64) -> Result<Vec<usize>> {
        const SLICE: usize = 6;
        let wanted = |name: &str| self.scene.as_ref().is_none_or(|scene| name.contains(scene));
        let all: Vec<_> = (0..SCENES.len()).filter(|scene| wanted(SCENES[*scene].name)).collect();
        if all.is_empty() {
            let names: Vec<_> = SCENES.iter().map(|scene| scene.name).collect();
            return Err(format!("no scene has that in its name; there are\n  {}", names.join("\n  ")));
        }
        let is_slice = !self.long && !self.steps && self.random.is_none() && self.disks.is_none();
        Ok(if is_slice { plan::some(all, SLICE, seed) } else { all })
    }
}

/// The programs under torture.
struct TorturePrograms {
    /// Built with fail points.
    armed: PathBuf,
    /// Built like the release.
    plain: PathBuf,
}

pub(crate) fn run(workspace: &OwnRepository, arguments: &Torture) -> Result<ExitCode> {
    let seed = arguments.seed.unwrap_or_else(plan::seed_of_now);
    if arguments.fleet {
        return fleet::run(workspace, seed, arguments.seconds, arguments.store.as_deref());
    }
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    if let Some(parts) = &arguments.without {
        world::do_without(parts);
    }
    if let Some(lives) = arguments.attack {
        // Only the program with fail points can do without parts of the system.
        let orange = match &arguments.without {
            Some(_) => armed(workspace, folder.path())?,
            None => plain(workspace, folder.path(), &[])?,
        };
        println!("seed {seed}");
        let lives = arguments.life.map_or(0..lives, |life| life..life + 1);
        let is_whole = attack::run(&orange, lives, arguments.workers(), seed, arguments.scene.as_deref())?;
        return Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let scenes = arguments.scenes(seed)?;
    let mut built = build(workspace, folder.path(), arguments.long || arguments.random.is_some())?;
    if arguments.without.is_some() {
        built.plain.clone_from(&built.armed);
    }
    println!("seed {seed}");
    // Random moments are measured with the program that they strike.
    let measuring = if arguments.random.is_some() { &built.plain } else { &built.armed };
    let measured = measure(measuring, &scenes)?;
    let jobs = plan::jobs(&measured, &arguments.amounts(), seed);
    let table = Mutex::new(FigureTable::new(&measured));
    let started = Instant::now();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..arguments.workers() {
            scope.spawn(|| work(&built, &jobs, &next, &measured, &table));
        }
    });
    let table = table.into_inner().map_err(|_| "the table is broken".to_string())?;
    print!("{}", table.render(started.elapsed()));
    Ok(if table.has_losses() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Undisturbed runs: the result, the steps and the time of each scene.
fn measure(orange: &Path, scenes: &[usize]) -> Result<Vec<MeasuredScene>> {
    let mut measured = Vec::new();
    let world = World::new(orange)?;
    for scene in scenes {
        let branch = format!("undisturbed-{scene}");
        let run = attempt(&world, SCENES[*scene], &fault::TortureFault::None, &branch, None)
            .map_err(|error| format!("{}, undisturbed: {error}", SCENES[*scene].name))?;
        attempt::clear_up(&world, &branch)?;
        measured.push(MeasuredScene {
            scene: *scene,
            outcome: run.outcome,
            steps: run.steps,
            took: run.took,
        });
    }
    world.end()?;
    Ok(measured)
}

/// Does jobs until none is left.
fn work(
    built: &TorturePrograms,
    jobs: &[TortureJob],
    next: &AtomicUsize,
    measured: &[MeasuredScene],
    table: &Mutex<FigureTable>,
) {
    let mut worlds: Vec<(plan::WorldKind, World, usize)> = Vec::new();
    while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
        let expected = measured.iter().find(|it| it.scene == job.scene).map(|it| &it.outcome);
        let outcome = one(built, job, expected, &mut worlds);
        if let Ok(mut table) = table.lock() {
            table.add(job, outcome);
        }
    }
    for (place, world, _) in worlds {
        place.leave(world);
    }
}

fn one(
    built: &TorturePrograms,
    job: &TortureJob,
    expected: Option<&TaskState>,
    worlds: &mut Vec<(plan::WorldKind, World, usize)>,
) -> Result<attempt::AttemptResult> {
    let place = job.place();
    let at = match worlds.iter().position(|(its, ..)| *its == place) {
        Some(at) => at,
        None => {
            worlds.push((place, place.enter(built)?, 0));
            worlds.len() - 1
        }
    };
    let (_, world, count) = &mut worlds[at];
    *count += 1;
    let branch = format!("t{count}");
    let done = attempt(world, SCENES[job.scene], &job.fault, &branch, expected)
        .and_then(|attempt| attempt::clear_up(world, &branch).map(|()| attempt));
    if done.is_err() || *count == REQUESTS_IN_A_WORLD {
        let journal = Task::named(world, &branch).map(|task| task.journal()).unwrap_or_default();
        let log = world.note("orange/orange.log");
        let (place, world, _) = worlds.swap_remove(at);
        place.leave(world);
        let tail = indented("orange.log", &log) + &indented("history.jsonl", &journal);
        return done.map_err(|error| format!("{error}\n{tail}"));
    }
    done
}

/// The last lines of a file.
fn indented(name: &str, text: &str) -> String {
    let from = text.lines().count().saturating_sub(6);
    text.lines().skip(from).map(|line| format!("    {name}: {line}\n")).collect()
}

/// Builds `orange` with and without fail points.
fn build(workspace: &OwnRepository, folder: &Path, release: bool) -> Result<TorturePrograms> {
    let armed = armed(workspace, folder)?;
    Ok(TorturePrograms {
        armed,
        plain: plain(workspace, folder, if release { &["--release"] } else { &[] })?,
    })
}

/// `orange` with fail points. Continuous integration has built it before the one without, which has the same place.
fn armed(workspace: &OwnRepository, folder: &Path) -> Result<PathBuf> {
    let before = workspace.target_folder()?.join("armed");
    if !before.join("orange").exists() || !workspace.is_built() {
        build_armed(workspace)?;
    }
    keep(&before.join("orange"), &folder.join("armed"))
}

/// Builds `orange` with fail points into a folder of its own.
pub(crate) fn build_armed(workspace: &OwnRepository) -> Result<()> {
    workspace.build(&["--package", "orange", "--features", "fail-points"])?;
    let folder = workspace.target_folder()?.join("armed");
    keep(&workspace.programs()?.join("orange"), &folder).map(drop)
}

fn plain(workspace: &OwnRepository, folder: &Path, more: &[&str]) -> Result<PathBuf> {
    let words = [&["--package", "orange"], more].concat();
    let debug = if more.is_empty() {
        workspace.built(&words)?
    } else {
        workspace.build(&words).and(workspace.programs())?
    };
    let program = if more == ["--release"] { debug.with_file_name("release") } else { debug }.join("orange");
    keep(&program, &folder.join("plain"))
}

/// Copies a program into a folder before the next build replaces it.
fn keep(program: &Path, folder: &Path) -> Result<PathBuf> {
    let kept = folder.join("orange");
    fs::create_dir_all(folder)
        .and_then(|()| fs::copy(program, &kept))
        .map_err(|error| format!("{} cannot be copied: {error}", program.display()))?;
    Ok(kept)
}
