orange_macros::workflow!("diagnostics/a07-no-guards.yml");

fn main() {}
