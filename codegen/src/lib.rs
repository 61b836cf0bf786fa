//! The compiler for agent workflows: source to syntax to model to checks to machine to Rust.
