//! Kills, stops and cuts off everything of a fleet while it works, and holds what is left against what was acknowledged.
//!
//! `cargo xtask torture --fleet` builds the programs and calls it.

mod agents;
mod audit;
mod breadth;
mod client;
mod crab;
mod dice;
mod fault;
mod ledger;
mod people;
mod postgres;
mod process;
mod proxy;
mod store;
mod table;
mod world;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use self::store::STORES;
use self::table::{render, say};

/// Result with an error of the torture itself.
type Result<T> = std::result::Result<T, String>;

/// Torture a fleet.
#[derive(Debug, Parser)]
struct TortureArguments {
    /// Seed of every choice
    #[arg(long)]
    seed: u64,
    /// For how long faults happen; every kind of fault happens once at least
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Number of simulated crabs
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u64).range(4..))]
    crabs: u64,
    /// Only this store
    #[arg(long)]
    store: Option<String>,
    /// `orange-fleet`
    #[arg(long)]
    fleet: PathBuf,
    /// `orange`: real crabs with agents are tortured, too
    #[arg(long)]
    orange: Option<PathBuf>,
}

fn main() -> ExitCode {
    match torture(&TortureArguments::parse()) {
        Ok(code) => code,
        Err(why) => {
            say(&format!("error: {why}"));
            ExitCode::from(2)
        }
    }
}

fn torture(arguments: &TortureArguments) -> Result<ExitCode> {
    let TortureArguments { seed, crabs, .. } = *arguments;
    let time = Duration::from_secs(arguments.seconds);
    let stores: Vec<_> =
        STORES.iter().filter(|it| arguments.store.as_ref().is_none_or(|name| it.name == name)).collect();
    if stores.is_empty() {
        let names: Vec<_> = STORES.iter().map(|it| it.name).collect();
        return Err(format!("there is no such store; there are {}", names.join(", ")));
    }
    let mut rows = Vec::new();
    let mut skipped = Vec::new();
    for kind in stores {
        if let Some(why) = (kind.lacks)() {
            say(&format!("SKIPPED: {}: {why}", kind.name));
            skipped.push(why);
            continue;
        }
        rows.push(breadth::run(kind, &arguments.fleet, seed, crabs, time)?);
        if let Some(orange) = arguments.orange.as_ref().filter(|_| kind.has_agents) {
            rows.push(agents::run(kind, &arguments.fleet, orange, seed)?);
        }
    }
    say(&render(&rows, seed));
    say(&format!("{} stores were skipped", skipped.len()));
    if let Some(why) = skipped.first().filter(|_| rows.is_empty()) {
        // `cargo xtask ci` reads this line.
        say(&format!("SKIPPED STEP: {why}"));
    }
    let is_sound = rows.iter().all(|it| it.broken.is_empty());
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
