orange_macros::workflow!("diagnostics/a03-from-terminal.yml");

fn main() {}
