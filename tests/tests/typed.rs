//! Made-up workflows, emitted and compiled: their typed functions say what their tables say.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::fs;
use std::path::Path;

use orange_codegen::emit::{self, Options};
use orange_codegen::{Source, compile};
use orange_tests::generate;

/// As many as compile in a few seconds.
const WORKFLOWS: u64 = 24;

#[test]
fn typed_functions_say_what_the_tables_say() {
    let mut code = String::from("#![deny(warnings)]\n");
    let mut checks = String::new();
    for seed in 0..WORKFLOWS {
        let plan = generate::plan(seed).to_string();
        let checked = compile(&Source::new("made-up.yml", &plan)).checked.unwrap_or_else(|| panic!("{plan}"));
        writeln!(code, "{}", emit::emit(&checked, &Options::default()).unwrap()).unwrap();
        let module = emit::module_name(&checked, &Options::default());
        writeln!(checks, "    orange_tests::check_typed!({module});").unwrap();
    }
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("typed.rs");
    fs::write(&program, format!("{code}\nfn main() {{\n{checks}}}\n")).unwrap();
    trybuild::TestCases::new().pass(program);
}
