//! The pages and the help texts are true: commands run, links lead somewhere, workflows compile, names exist.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests may fail where they stand, and say why")]

mod examples;
mod given;
mod graph;
mod harnesses;
mod json;
mod language;
mod missing;
mod mistakes;
mod names;
mod page;
mod programs;
mod realistic;
mod reliability;
mod scripts;
mod storage;

// The world of the end-to-end tests, of which this test needs a part.
#[allow(dead_code)]
#[path = "../e2e/answers.rs"]
mod answers;
#[allow(dead_code)]
#[path = "../e2e/processes.rs"]
mod processes;
#[allow(dead_code)]
#[path = "../e2e/recorder.rs"]
mod recorder;
#[allow(dead_code)]
#[path = "../e2e/said.rs"]
mod said;
#[allow(dead_code)]
#[path = "../e2e/task.rs"]
mod task;
#[allow(dead_code)]
#[path = "../e2e/world.rs"]
mod world;
