orange_macros::workflow!("diagnostics/a09-gap.yml");

fn main() {}
