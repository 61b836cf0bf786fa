orange_macros::workflow!(flow);
orange_macros::workflow! { path: "fixtures/seed-minimal.yml", nmae: flow }

fn main() {}
