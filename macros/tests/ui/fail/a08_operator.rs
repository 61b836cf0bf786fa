orange_macros::workflow!("diagnostics/a08-operator.yml");

fn main() {}
