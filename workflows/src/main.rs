//! The workflows that Orange ships and the binary that they become.

use std::process::ExitCode;

use orange_engine::Workflows;

include!(concat!(env!("OUT_DIR"), "/workflows.rs"));

/// Compiler of the workflows of `ORANGE_HOME/workflows`.
const COMPILE: Option<orange_engine::Compile> = {
    #[cfg(feature = "custom-workflows")]
    {
        Some(orange_codegen::custom::workflow)
    }
    #[cfg(not(feature = "custom-workflows"))]
    {
        None
    }
};

fn main() -> ExitCode {
    orange_engine::main(Workflows { machines: MACHINES, plans: PLANS }, COMPILE)
}
