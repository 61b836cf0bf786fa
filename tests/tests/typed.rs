//! Made-up workflows, emitted and compiled: their typed functions say what their tables say.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::fs;
use std::path::Path;

use orange_codegen::emit::{self, Options};
use orange_codegen::lower::{PlanArena, lower_plan};
use orange_codegen::{Source, compile};
use orange_tests::generate;
use orange_tests::steps::steps;

/// As many as compile in a few seconds.
const WORKFLOWS: u64 = 24;
const PLANS: u64 = 12;

#[test]
fn typed_functions_say_what_the_tables_say() {
    let (machines, checks) = machines();
    let (plans, plan_checks) = plans();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("typed.rs");
    let code = format!("#![deny(warnings)]\n{machines}\n{plans}\nfn main() {{\n{checks}{plan_checks}}}\n");
    fs::write(&program, code).unwrap();
    trybuild::TestCases::new().pass(program);
}

/// Step workflows: their emitted plan is the one that the compiler makes at run time, too.
fn plans() -> (String, String) {
    let (mut code, mut checks) = (String::new(), String::new());
    for seed in 0..PLANS {
        let text = steps(seed).to_string();
        let compilation = compile(&Source::new("made-up.toml", &text));
        let checked = compilation.checked.unwrap_or_else(|| panic!("{text}{:#?}", compilation.diagnostics));
        writeln!(code, "{}", emit::emit(&checked, &Options::default()).unwrap()).unwrap();
        let module = emit::module_name(&checked, &Options::default());
        let arena = PlanArena::default();
        let plan = format!("{:?}", lower_plan(&checked, &arena).unwrap());
        writeln!(checks, "    orange_tests::check_plan!({module});").unwrap();
        writeln!(checks, "    assert_eq!(format!(\"{{:?}}\", {module}::PLAN), {plan:?});").unwrap();
    }
    (code, checks)
}

fn machines() -> (String, String) {
    let (mut code, mut checks) = (String::new(), String::new());
    for seed in 0..WORKFLOWS {
        let plan = generate::plan(seed).to_string();
        let checked = compile(&Source::new("made-up.yml", &plan)).checked.unwrap_or_else(|| panic!("{plan}"));
        writeln!(code, "{}", emit::emit(&checked, &Options::default()).unwrap()).unwrap();
        let module = emit::module_name(&checked, &Options::default());
        writeln!(checks, "    orange_tests::check_typed!({module});").unwrap();
    }
    (code, checks)
}
