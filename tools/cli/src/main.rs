//! The authors' command: check, explain, graph and emit agent workflows.

fn main() {}
