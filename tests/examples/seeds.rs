//! `orange` with the workflows of the seeds as they stand, faults and all: what is foretold of them is tried here.

use std::process::ExitCode;

use orange_core::Machine;
use orange_engine::Workflows;

orange_macros::workflow! { path: "fixtures/seed-default.yml", name: default }
orange_macros::workflow! { path: "fixtures/seed-minimal.yml", name: minimal }

static MACHINES: &[&Machine<'static>] = &[&default::MACHINE, &minimal::MACHINE];

fn main() -> ExitCode {
    orange_engine::main(Workflows { machines: MACHINES, plans: &[] }, None)
}
