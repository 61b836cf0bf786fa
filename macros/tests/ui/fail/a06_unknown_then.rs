orange_macros::workflow!("diagnostics/a06-unknown-then.yml");

fn main() {}
