orange_macros::workflow!("diagnostics/b18-missing-prompt-file.toml");

fn main() {}
