orange_macros::workflow!("diagnostics/a01-unknown-to.yml");

fn main() {}
