//! Decides which faults strike which requests.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use orange_testkit::Random;

use super::TorturePrograms;
use super::fault::{ReachedStep, TortureFault, small_disk, unmount};
use super::outcome::TaskState;
use super::scene::{SCENES, SceneAct};
use super::world::World;
use crate::Result;

/// The measurements of an undisturbed run.
pub(super) struct MeasuredScene {
    /// Its index among the scenes.
    pub(super) scene: usize,
    pub(super) outcome: TaskState,
    pub(super) steps: Vec<ReachedStep>,
    pub(super) took: Duration,
}

/// One scene under one fault.
pub(super) struct TortureJob {
    pub(super) scene: usize,
    pub(super) fault: TortureFault,
}

/// The kind of world that a job needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorldKind {
    /// With an `orange` that has fail points.
    Armed,
    /// With the plain `orange`.
    Plain,
    /// With the plain `orange`, and the home on a small disk.
    SmallDisk,
}

/// The number of faults of each kind.
#[derive(Default)]
pub(super) struct Amounts {
    pub(super) steps: usize,
    pub(super) moments: usize,
    pub(super) disks: usize,
    /// All other kinds.
    pub(super) others: usize,
}

/// Random choices that repeat with the same seed.
pub(super) struct Dice(Random);

/// Every job, in the order of the table.
pub(super) fn jobs(measured: &[MeasuredScene], amounts: &Amounts, seed: u64) -> Vec<TortureJob> {
    let mut dice = Dice::of(seed);
    let mut jobs = dice.some(all_steps(measured), amounts.steps);
    for turn in 0..amounts.moments {
        let MeasuredScene { scene, took, .. } = &measured[turn % measured.len()];
        let after = took.mul_f64(dice.below(1100) as f64 / 1000.0);
        jobs.push(TortureJob {
            scene: *scene,
            fault: TortureFault::Moment { after, with_called: turn % 4 == 3 },
        });
    }
    let (all, asked) = (scenes(measured, |_| true), scenes(measured, |act| matches!(act, SceneAct::Ask(_))));
    let mut add = |count: usize, scenes: &[usize], fault: &mut dyn FnMut(usize) -> TortureFault| {
        let turns = if scenes.is_empty() { 0 } else { count };
        jobs.extend(
            (0..turns).map(|turn| TortureJob { scene: scenes[turn % scenes.len()], fault: fault(turn) }),
        );
    };
    add(amounts.others, &all, &mut |_| TortureFault::Stops);
    add(amounts.others, &all, &mut |turn| TortureFault::Clock {
        by: [3600, -3600, 86_400 * 400, -86_400 * 400][turn % 4],
    });
    if has_small_disks() {
        add(amounts.disks, &asked, &mut |_| TortureFault::FullDisk { left: dice.below(24) * 4096 });
        add(amounts.others, &asked, &mut |_| TortureFault::ReadOnly);
    } else {
        add(amounts.disks, &asked, &mut |_| TortureFault::ShortFiles { longest: dice.below(8) });
    }
    jobs
}

/// Some of these, in order.
pub(super) fn some(all: Vec<usize>, count: usize, seed: u64) -> Vec<usize> {
    Dice::of(seed).some(all, count)
}

/// The seed unless one is given.
pub(super) fn seed_of_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn all_steps(measured: &[MeasuredScene]) -> Vec<TortureJob> {
    let jobs = |measured: &MeasuredScene| {
        let steps = measured.steps.iter().filter(|step| is_meant(measured.scene, step)).cloned();
        let scene = measured.scene;
        let fault = |ReachedStep { role, number, what }| TortureFault::Step { role, number, what };
        steps.map(|step| TortureJob { scene, fault: fault(step) }).collect::<Vec<_>>()
    };
    measured.iter().flat_map(jobs).collect()
}

/// True if the fault makes sense: killing a wrapper at its start kills an agent, so the task changes, unless the scene is about
/// that.
fn is_meant(scene: usize, step: &ReachedStep) -> bool {
    let is_about_an_end =
        matches!(SCENES[scene].act, SceneAct::Agent { does, .. } if does.starts_with("exit"));
    let is_end = ["clear up", "detach", "leave", "answer", "end "].iter().any(|it| step.what.starts_with(it));
    step.role != "agent-run" || is_about_an_end && is_end
}

fn scenes(measured: &[MeasuredScene], wanted: impl Fn(&SceneAct) -> bool) -> Vec<usize> {
    measured.iter().map(|it| it.scene).filter(|scene| wanted(&SCENES[*scene].act)).collect()
}

/// True if this process may mount a disk.
pub(super) fn has_small_disks() -> bool {
    let Ok(place) = tempfile::tempdir() else { return false };
    let has = small_disk(place.path());
    if has {
        unmount(place.path());
    }
    has
}

impl TortureJob {
    /// The world that it needs.
    pub(super) fn place(&self) -> WorldKind {
        match self.fault {
            TortureFault::None | TortureFault::Step { .. } | TortureFault::Clock { .. } => WorldKind::Armed,
            TortureFault::Moment { .. } | TortureFault::Stops | TortureFault::ShortFiles { .. } => {
                WorldKind::Plain
            }
            TortureFault::FullDisk { .. } | TortureFault::ReadOnly => WorldKind::SmallDisk,
        }
    }
}

impl WorldKind {
    /// A new world of this kind.
    pub(super) fn enter(self, built: &TorturePrograms) -> Result<World> {
        let mount = |home: &Path| match small_disk(home) {
            true => Ok(()),
            false => Err(format!("no disk can be mounted on {}", home.display())),
        };
        match self {
            WorldKind::Armed => World::new(&built.armed),
            WorldKind::Plain => World::new(&built.plain),
            WorldKind::SmallDisk => World::furnished(&built.plain, mount),
        }
    }

    /// Ends a world; a failure to remove it is harmless.
    pub(super) fn leave(self, world: World) {
        world.stop();
        if self == WorldKind::SmallDisk {
            unmount(&world.path("orange"));
        }
        world.end().unwrap_or_default();
    }
}

impl Dice {
    /// The sequence of a seed.
    pub(super) fn of(seed: u64) -> Dice {
        Dice(Random::new(seed))
    }

    /// A random number below `end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0.number() % end.max(1)
    }

    /// Some of these, each with the same probability, in order.
    fn some<T>(&mut self, mut all: Vec<T>, count: usize) -> Vec<T> {
        while all.len() > count {
            let drawn = self.below(all.len() as u64) as usize;
            all.remove(drawn);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_the_same_again_and_keeps_the_order() {
        let drawn = |seed| Dice::of(seed).some((0..1000).collect::<Vec<_>>(), 10);
        assert_eq!(drawn(7), drawn(7));
        assert_ne!(drawn(7), drawn(8));
        assert!(drawn(7).is_sorted() && drawn(7).len() == 10);
        assert_eq!(Dice::of(1).some(vec![1, 2], usize::MAX), [1, 2]);
    }

    #[test]
    fn the_end_of_a_wrapper_is_meant_where_the_scene_is_about_it() {
        let step =
            |role: &str, what: &str| ReachedStep { role: role.to_owned(), number: 1, what: what.to_owned() };
        let about_an_end =
            SCENES.iter().position(|scene| matches!(scene.act, SceneAct::Agent { does: "exit 3", .. }));
        let about_an_end = about_an_end.unwrap_or_default();
        assert!(is_meant(about_an_end, &step("agent-run", "detach itself")));
        assert!(!is_meant(about_an_end, &step("agent-run", "attend claude")));
        assert!(!is_meant(0, &step("agent-run", "detach itself")));
        assert!(is_meant(0, &step("task-finish", "begin spawn_agent")));
    }
}
