orange_macros::workflow!("diagnostics/b01-cycle.toml");

fn main() {}
