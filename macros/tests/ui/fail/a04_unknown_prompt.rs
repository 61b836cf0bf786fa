orange_macros::workflow!("diagnostics/a04-unknown-prompt.yml");

fn main() {}
