orange_macros::workflow!("diagnostics/a02-unknown-from.yml");

fn main() {}
