//! The console in a real browser: Debian's Chromium, driven through WebDriver, and plain HTTP for what no browser shows.
//!
//! Without Chromium, or without npm for `axe-core`, the tests that need them are skipped, loudly and counted.
//! `ORANGE_CONSOLE_PICTURES=DIR` writes a picture of every page.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "tests fail where they stand, and say why"
)]

mod axe;
mod browser;
mod colony;
mod driver;
mod gateway;
mod http;
mod live;
mod machine;
mod people;
mod pictures;
mod questions;
mod streams;
mod suite;
mod texts;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Each browser is several processes that want a processor.
    arguments.test_threads = arguments.test_threads.or(Some(2));
    let trials = [
        http::trials(),
        people::trials(),
        questions::trials(),
        live::trials(),
        streams::trials(),
        machine::trials(),
        texts::trials(),
        axe::trials(),
        pictures::trials(),
    ];
    let conclusion = libtest_mimic::run(&arguments, trials.into_iter().flatten().collect());
    if !arguments.list {
        let skipped = suite::skipped();
        println!(
            "console: {} passed, {} failed, {skipped} skipped\n",
            conclusion.num_passed, conclusion.num_failed
        );
    }
    driver::stop();
    conclusion.exit_code()
}
