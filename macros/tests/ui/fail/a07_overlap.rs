orange_macros::workflow!("diagnostics/a07-overlap.yml");

fn main() {}
