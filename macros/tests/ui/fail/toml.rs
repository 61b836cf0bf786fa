orange_macros::workflow! { path: "workflows/fault.toml", name: flow }

fn main() {}
