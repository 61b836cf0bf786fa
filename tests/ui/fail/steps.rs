orange_macros::workflow!("fixtures/dev-task.toml");

fn main() {}
