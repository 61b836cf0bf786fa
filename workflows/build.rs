//! Compiles the workflows of this folder, or of the one that `ORANGE_WORKFLOWS` names.

use std::process::ExitCode;

fn main() -> ExitCode {
    orange_codegen::build::workflows(env!("CARGO_MANIFEST_DIR"))
        .or_from("ORANGE_WORKFLOWS")
        .compiled_by(orange_analysis::lint)
        .run()
}
