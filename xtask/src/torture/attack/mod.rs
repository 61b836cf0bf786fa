//! `cargo xtask torture --attack`: random lives of tasks, under kills of all kinds of processes. The checks ask git, files and the
//! agents' own notes, and never `orange`.

mod evidence;
mod holders;
mod life;
mod states;
mod store;

use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use self::life::{KINDS, Lived};
use super::plan::Dice;
use super::world::World;
use super::{REQUESTS_IN_A_WORLD, indented};
use crate::Result;

/// A kind of life, and its results.
#[derive(Clone, Default)]
struct AttackRow {
    lives: usize,
    kills: usize,
    texts: usize,
    unlocked: usize,
    lost: usize,
}

/// Runs the lives of these numbers in worlds of this `orange`; false if anything was lost.
pub(super) fn run(
    orange: &Path,
    lives: Range<usize>,
    workers: usize,
    seed: u64,
    wanted: Option<&str>,
) -> Result<bool> {
    let kinds = (0..KINDS.len()).filter(|kind| wanted.is_none_or(|words| KINDS[*kind].name.contains(words)));
    let kinds: Vec<usize> = kinds.collect();
    if kinds.is_empty() {
        let names: Vec<_> = KINDS.iter().map(|kind| kind.name).collect();
        return Err(format!("no attack has that in its name; there are\n  {}", names.join("\n  ")));
    }
    let rows = Mutex::new(vec![AttackRow::default(); KINDS.len()]);
    let (next, started) = (AtomicUsize::new(lives.start), Instant::now());
    thread::scope(|scope| {
        let workers: Vec<_> = (0..workers)
            .map(|_| scope.spawn(|| work(orange, &kinds, lives.end, seed, &next, &rows)))
            .collect();
        let ended = workers.into_iter().map(|worker| worker.join());
        ended.map(|ended| ended.map_err(|_| "a life has panicked".to_owned())?).collect::<Result<Vec<()>>>()
    })?;
    let rows = rows.into_inner().map_err(|_| "the table is broken".to_owned())?;
    print!("{}", render(&rows, started.elapsed()));
    Ok(rows.iter().all(|row| row.lost == 0))
}

fn work(
    orange: &Path,
    kinds: &[usize],
    end_of_lives: usize,
    seed: u64,
    next: &AtomicUsize,
    rows: &Mutex<Vec<AttackRow>>,
) -> Result<()> {
    let mut world: Option<(World, usize)> = None;
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= end_of_lives {
            break;
        }
        let (here, lived) = match world.take() {
            Some(world) => world,
            None => (life::world(orange)?, 0),
        };
        let kind = kinds[number % kinds.len()];
        // The seed and its number determine a life.
        let mut dice = Dice::of(seed ^ (number as u64).wrapping_mul(0x9e37_79b9));
        let outcome = (KINDS[kind].live)(&here, &mut dice, &format!("life-{number}"));
        let is_whole = outcome.is_ok();
        if let Ok(mut rows) = rows.lock() {
            rows[kind].add(&format!("{}, life {number}", KINDS[kind].name), &here, outcome);
        }
        if is_whole && lived + 1 < REQUESTS_IN_A_WORLD {
            world = Some((here, lived + 1));
        } else {
            end(here);
        }
    }
    if let Some((world, _)) = world {
        end(world);
    }
    Ok(())
}

/// Ends a world; a failure to remove it is harmless.
fn end(world: World) {
    world.end().unwrap_or_default();
}

impl AttackRow {
    fn add(&mut self, what: &str, world: &World, outcome: Result<Lived>) {
        self.lives += 1;
        match outcome {
            Ok(Lived { kills, texts, unlocked }) => {
                self.kills += kills;
                self.texts += texts;
                self.unlocked += usize::from(unlocked > 0);
            }
            Err(error) => {
                self.lost += 1;
                let log = indented("orange.log", &world.note("orange/orange.log"));
                println!("LOST {what}: {}\n{log}", error.trim_end());
            }
        }
    }
}

fn render(rows: &[AttackRow], took: Duration) -> String {
    let mut text =
        "\n| attack | lives | kills | texts to be kept | locks removed by hand | lost |\n|---|---|---|---|---|---|\n"
            .to_owned();
    let mut all = AttackRow::default();
    let line = |name: &str, row: &AttackRow| {
        let AttackRow { lives, kills, texts, unlocked, lost } = row;
        format!("| {name} | {lives} | {kills} | {texts} | {unlocked} | {lost} |\n")
    };
    for (kind, row) in KINDS.iter().zip(rows) {
        text += &line(kind.name, row);
        all.lives += row.lives;
        all.kills += row.kills;
        all.texts += row.texts;
        all.unlocked += row.unlocked;
        all.lost += row.lost;
    }
    text + &line("all", &all) + &format!("\nIt took {} s.\n", took.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_adds_up() {
        let mut rows = vec![AttackRow::default(); KINDS.len()];
        rows[0] = AttackRow { lives: 2, kills: 5, texts: 9, unlocked: 1, lost: 0 };
        rows[1] = AttackRow { lives: 1, kills: 1, texts: 1, unlocked: 0, lost: 1 };
        let text = render(&rows, Duration::from_secs(3));
        assert!(text.contains("| all | 3 | 6 | 10 | 1 | 1 |\n\nIt took 3 s."), "{text}");
    }
}
