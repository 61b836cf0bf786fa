//! Results of all lives, as a file of JSON lines that `cargo xtask agents` makes a table of.

use std::fs::OpenOptions;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Instant;

use orange_tests::harnesses::{ALL, pinned};
use serde_json::{Value, json};

use crate::lives::HarnessPair;
use crate::suite::{Lacking, LifeSuite};

/// Runs a life and records how it came out. Gives why it was skipped, if it was.
pub(crate) fn of(life: &str, pair: HarnessPair, live: impl FnOnce()) -> Option<String> {
    let begun = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(live));
    if let Some(Lacking(why)) = outcome.as_ref().err().and_then(|panic| panic.downcast_ref()) {
        skipped(life, pair, why);
        return Some(why.clone());
    }
    let why = outcome.as_ref().err().map(|panic| {
        let text =
            panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        text.unwrap_or("it failed").lines().next().unwrap_or_default().to_owned()
    });
    let word = if why.is_none() { "passed" } else { "failed" };
    let seconds = begun.elapsed().as_secs();
    let harnesses = [pair.0, pair.1];
    write(&json!({ "life": life, "harnesses": harnesses, "outcome": word, "why": why, "seconds": seconds }));
    if let Err(panic) = outcome {
        resume_unwind(panic);
    }
    None
}

/// Records a life that was skipped.
pub(crate) fn skipped(life: &str, pair: HarnessPair, why: &str) {
    write(&json!({ "life": life, "harnesses": [pair.0, pair.1], "outcome": "skipped", "why": why }));
}

/// Records which versions there are.
pub(crate) fn versions(suite: &LifeSuite) {
    for harness in ALL {
        let version = suite.installed.version(harness);
        write(&json!({ "harness": harness.name, "version": version, "pinned": pinned(harness) }));
    }
}

/// Records what our words cost in one life: an agent's first prompt, and what it read and ran for us.
pub(crate) fn cost(harness: &str, role: &str, bytes: usize, requests: usize) {
    write(&json!({ "harness": harness, "role": role, "bytes": bytes, "requests": requests }));
}

fn write(line: &Value) {
    let Some(path) = std::env::var_os("ORANGE_AGENTS_RECORD") else { return };
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}
