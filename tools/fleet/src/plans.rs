//! The plans that missions follow: those that the program was built with, and those of `--prompts-path`.

#[allow(missing_docs, clippy::all)]
mod built_in {
    include!(concat!(env!("OUT_DIR"), "/workflows.rs"));
}

pub use built_in::PLANS;
