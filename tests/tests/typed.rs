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
    let (large, large_checks) = undecided();
    let (plans, plan_checks) = plans();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("typed.rs");
    let code = format!(
        "#![deny(warnings)]\n{machines}\n{large}\n{plans}\nfn main() {{\n{checks}{large_checks}{plan_checks}}}\n"
    );
    fs::write(&program, code).unwrap();
    trybuild::TestCases::new().pass(program);
}

/// Two transitions of which nobody has decided whether they can fire at once: with these values, none, each, or both.
fn undecided() -> (String, String) {
    let guard = |names: &str, is: &str| {
        names.chars().map(|it| format!("{it} {is} 0")).collect::<Vec<_>>().join(" && ")
    };
    let fields: Vec<_> = ('a'..='t').map(|it| format!("{it}: 0")).collect();
    let text = format!(
        "name: large\nfields: {{{}}}\nstates:\n  working: {{}}\n  done: {{terminal: true}}\ntransitions:\n\
         - {{from: working, to: done, when: {:?}}}\n- {{from: working, to: done, when: {:?}}}\n",
        fields.join(", "),
        guard("abcdefghij", "=="),
        guard("klmnopqrst", ">"),
    );
    let compilation = compile(&Source::new("large.yml", &text));
    assert!(compilation.diagnostics.iter().any(|it| it.code() == "A10"), "{:?}", compilation.diagnostics);
    let code = emit::emit(&compilation.checked.unwrap(), &Options::default()).unwrap().to_string();
    let values = "[[0; 22], [1; 22], std::array::from_fn(|it| (it > 11).into()), std::array::from_fn(|it| (it < 12).into())]";
    (code, format!("    orange_tests::check_typed!(large, {values}.into_iter());\n"))
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
