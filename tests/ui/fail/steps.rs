orange_macros::workflow!("diagnostics/s14-steps.toml");

fn main() {}
