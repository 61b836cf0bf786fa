orange_macros::workflow!("diagnostics/a12-initial.yml");

fn main() {}
