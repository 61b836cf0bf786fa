//! Whole tasks with the coding agents that people have, unmodified: real tmux, real git, and a scripted model.
//!
//! `ORANGE_AGENTS=latest` takes their newest versions, `ORANGE_AGENTS_RECORD=FILE` writes down how each life came out.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "tests fail where they stand, and say why"
)]

mod lives;
mod plans;
mod record;
mod suite;
mod task;
mod user;
mod world;

use std::process::ExitCode;
use std::thread;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use crate::lives::{LIVES, Life};

/// Number of lives that go on at once: each is several processes that want a processor.
const AT_ONCE: usize = 2;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    let processors = thread::available_parallelism().map_or(1, usize::from);
    arguments.test_threads = arguments.test_threads.or(Some(AT_ONCE.min(processors)));
    let trials = LIVES.iter().flat_map(Life::trials).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !arguments.list {
        let skipped = suite::skipped();
        println!(
            "agents: {} passed, {} failed, {skipped} skipped\n",
            conclusion.num_passed, conclusion.num_failed
        );
    }
    suite::clean();
    conclusion.exit_code()
}

impl Life {
    /// A test for each pair of harnesses.
    fn trials(&'static self) -> impl Iterator<Item = Trial> {
        self.pairs.iter().map(move |pair| {
            let name = self.name_with(*pair);
            let kept = name.clone();
            Trial::ignorable_test(name, move || self.run(&kept, *pair))
        })
    }

    fn run(&self, name: &str, pair: lives::HarnessPair) -> Result<Completion, Failed> {
        let suite = match suite::get(&[pair.0, pair.1]) {
            Ok(suite) => suite,
            Err(why) => {
                suite::skip(name, &why);
                record::skipped(name, pair, &why);
                return Ok(Completion::ignored_with(why));
            }
        };
        Ok(match record::of(name, pair, || (self.live)(suite, pair)) {
            None => Completion::Completed,
            Some(why) => {
                suite::skip(name, &why);
                Completion::ignored_with(why)
            }
        })
    }
}
