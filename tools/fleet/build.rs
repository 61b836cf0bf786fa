//! Compiles the step workflows of the repository, or of the folder that `ORANGE_WORKFLOWS` names.

use std::process::ExitCode;

fn main() -> ExitCode {
    orange_codegen::build::workflows(concat!(env!("CARGO_MANIFEST_DIR"), "/../../workflows"))
        .or_from("ORANGE_WORKFLOWS")
        .compiled_by(orange_analysis::lint)
        .run()
}
