//! Compiles the step workflows of the repository, or of the folder that `ORANGE_WORKFLOWS` names.

use std::process::ExitCode;

use orange_codegen::emit::CorePath;

fn main() -> ExitCode {
    orange_codegen::build::workflows(concat!(env!("CARGO_MANIFEST_DIR"), "/../../workflows"))
        .or_from("ORANGE_WORKFLOWS")
        .core(CorePath::Core)
        .compiled_by(orange_analysis::lint)
        .run()
}
