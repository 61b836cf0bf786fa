orange_macros::workflow!("diagnostics/a05-unknown-respawn-prompt.yml");

fn main() {}
