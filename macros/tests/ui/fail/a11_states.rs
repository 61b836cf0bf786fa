orange_macros::workflow!("diagnostics/a11-states.yml");

fn main() {}
