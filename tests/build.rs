//! Emits made-up workflows as Rust, which `tests/typed.rs` includes: they are compiled with the tests, and not by a cargo of their own.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "the modules have more than this needs; a build that fails here says why"
)]

#[path = "src/generate.rs"]
mod generate;
#[path = "src/plan.rs"]
mod plan;
#[path = "src/steps.rs"]
mod steps;

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use orange_codegen::emit::{self, Options};
use orange_codegen::lower::{PlanArena, lower_plan};
use orange_codegen::{Checked, Source, compile};

/// As many as compile in a few seconds.
const WORKFLOWS: u64 = 24;
const PLANS: u64 = 12;
const WIDE_PLANS: u64 = 6;

fn main() {
    for module in ["generate", "plan", "steps", "steps/more"] {
        println!("cargo::rerun-if-changed=src/{module}.rs");
    }
    let mut typed = TypedModules::default();
    (0..WORKFLOWS).for_each(|seed| typed.machine(&generate::plan(seed).to_string()));
    typed.undecided();
    (0..PLANS).for_each(|seed| typed.plan(&steps::steps(seed).to_string(), "check_plan"));
    (0..WIDE_PLANS).for_each(|seed| typed.plan(&steps::wide_steps(seed).to_string(), "check_steps"));
    let file = Path::new(&env::var_os("OUT_DIR").unwrap()).join("typed.rs");
    fs::write(file, typed.code + &typed.tests).unwrap();
}

/// Emitted modules, and the tests of them.
#[derive(Default)]
struct TypedModules {
    code: String,
    tests: String,
}

impl TypedModules {
    fn machine(&mut self, text: &str) {
        let module = self.module(&checked("made-up.yml", text));
        self.test(&module, &format!("orange_tests::check_typed!({module});"));
    }

    /// Two transitions of which nobody has decided whether they can fire at once: with these values, none, each, or both.
    fn undecided(&mut self) {
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
        let diagnostics = compile(&Source::new("large.yml", &text)).diagnostics;
        assert!(diagnostics.iter().any(|it| it.code() == "A10"), "{diagnostics:?}");
        let module = self.module(&checked("large.yml", &text));
        let values = "[[0; 22], [1; 22], std::array::from_fn(|it| (it > 11).into()), std::array::from_fn(|it| (it < 12).into())]";
        self.test(&module, &format!("orange_tests::check_typed!({module}, {values}.into_iter());"));
    }

    /// A step workflow: its emitted plan is the one that the compiler makes at run time, too.
    fn plan(&mut self, text: &str, check: &str) {
        let checked = checked("made-up.toml", text);
        let module = self.module(&checked);
        let arena = PlanArena::default();
        let plan = format!("{:?}", lower_plan(&checked, &arena).unwrap());
        let same = format!("assert_eq!(format!(\"{{:?}}\", {module}::PLAN), {plan:?});");
        self.test(&module, &format!("orange_tests::{check}!({module});\n    {same}"));
    }

    /// Emits a module, and gives its name.
    fn module(&mut self, checked: &Checked) -> String {
        writeln!(self.code, "{}", emit::emit(checked, &Options::default()).unwrap()).unwrap();
        emit::module_name(checked, &Options::default())
    }

    fn test(&mut self, module: &str, statements: &str) {
        let name = format!("typed_{}", module.trim_start_matches("r#"));
        writeln!(self.tests, "#[test]\nfn {name}() {{\n    {statements}\n}}").unwrap();
    }
}

fn checked(name: &str, text: &str) -> Checked {
    let compilation = compile(&Source::new(name, text));
    compilation.checked.unwrap_or_else(|| panic!("{text}{:#?}", compilation.diagnostics))
}
