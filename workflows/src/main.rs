//! The workflows that Orange ships and the binary that they become.

fn main() {}
