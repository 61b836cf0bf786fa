//! The maintainers' commands: build-workflow, ci, demo, bench, tidy.

fn main() {}
