//! The entry point of build scripts: every workflow of a folder becomes one Rust file in `OUT_DIR`.
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! fn main() -> ExitCode {
//!     orange_codegen::build::workflows("flows").out("workflows.rs").run()
//! }
//! ```

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::check::same_name;
use crate::emit::{self, CorePath, Options, module_name};
use crate::model::Definition;
use crate::plain::Renderer;
use crate::source::is_scenario_file;
use crate::{Compilation, Diagnostic, Format, Level, Likeness, PromptFiles, Source, compile};

/// A build of the workflows in this folder. Its other files, and its folders, are left alone.
pub fn workflows(folder: impl Into<PathBuf>) -> Build {
    Build {
        folder: folder.into(),
        variable: None,
        core: CorePath::Engine,
        out: PathBuf::from("workflows.rs"),
        compile,
    }
}

/// The settings of a build script.
#[derive(Clone, Debug)]
pub struct Build {
    folder: PathBuf,
    variable: Option<String>,
    core: CorePath,
    out: PathBuf,
    compile: fn(&Source) -> Compilation,
}

/// The result of a build.
#[derive(Clone, Debug)]
pub struct Output {
    /// The instructions to cargo: one line each.
    pub instructions: Vec<String>,
    /// The Rust file: a module for each workflow, `MACHINES` and `PLANS`, all of them sorted by name. Absent when a
    /// workflow has an error, or when there is none.
    pub code: Option<String>,
}

impl Build {
    /// Takes the folder from this environment variable, where it is set.
    pub fn or_from(mut self, variable: &str) -> Self {
        if let Some(folder) = env::var_os(variable) {
            self.folder = folder.into();
        }
        self.variable = Some(variable.to_owned());
        self
    }

    /// Sets the path under which the code finds `orange-core`; inside the engine unless said otherwise.
    pub fn core(mut self, core: CorePath) -> Self {
        self.core = core;
        self
    }

    /// Compiles each workflow with this function: `orange_analysis::lint` asks the lints, too. Without it the checks of the
    /// compiler alone are asked.
    pub fn compiled_by(mut self, compile: fn(&Source) -> Compilation) -> Self {
        self.compile = compile;
        self
    }

    /// The name of the file in `OUT_DIR`; `workflows.rs` unless said otherwise.
    pub fn out(mut self, file: impl Into<PathBuf>) -> Self {
        self.out = file.into();
        self
    }

    /// Compiles, tells cargo what was found and what to watch, and writes the file. It fails after all errors of all
    /// workflows.
    pub fn run(&self) -> ExitCode {
        let Output { instructions: mut lines, code } = self.compile();
        let written = code.map(|code| write(&self.out, &code));
        if let Some(Err(error)) = &written {
            lines.extend(instructions("error", error));
        }
        let printed = lines.iter().try_for_each(|line| writeln!(io::stdout(), "{line}"));
        if matches!(written, Some(Ok(()))) && printed.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    /// Compiles, and writes nothing.
    pub fn compile(&self) -> Output {
        let mut run = BuildState { core: self.core, instructions: Vec::new(), failed: false };
        if let Some(variable) = &self.variable {
            run.instructions.push(format!("cargo::rerun-if-env-changed={variable}"));
        }
        run.instructions.push(format!("cargo::rerun-if-changed={}", self.folder.display()));
        let code = run.folder(&self.folder, self.compile);
        Output { instructions: run.instructions, code: code.filter(|_| !run.failed) }
    }
}

/// The result of one build so far.
struct BuildState {
    core: CorePath,
    instructions: Vec<String>,
    failed: bool,
}

/// The module of one workflow.
struct Module {
    workflow: String,
    name: String,
    is_plan: bool,
    tokens: TokenStream,
}

impl BuildState {
    fn folder(&mut self, folder: &Path, compile: fn(&Source) -> Compilation) -> Option<String> {
        let shown = folder.display();
        let files = match files(folder) {
            Ok(files) => files,
            Err(error) => return self.fails(&format!("cannot look through {shown}: {error}")),
        };
        let sources: Vec<_> = files.iter().filter_map(|path| self.read(path)).collect();
        let compiled = sources.iter().map(|source| (source, compile(source)));
        let (workflows, others): (Vec<_>, Vec<_>) =
            compiled.partition(|(_, compiled)| compiled.likeness != Likeness::Other);
        for (source, _) in others {
            let message = format!("{} is not a workflow and is left out", source.path);
            self.instructions.extend(instructions("warning", &message));
        }
        if workflows.is_empty() && !self.failed {
            return self.fails(&format!("there is no workflow in {shown}: write one, `<name>.yml`"));
        }
        let mut modules: Vec<_> =
            workflows.iter().filter_map(|(source, compilation)| self.workflow(source, compilation)).collect();
        let files: Vec<_> = workflows.iter().map(|(source, compilation)| (*source, compilation)).collect();
        for (number, finding) in same_name(&files) {
            self.report(files[number].0, &[finding]);
        }
        modules.sort_by(|a, b| a.workflow.cmp(&b.workflow));
        Some(code(&modules, self.core))
    }

    fn read(&mut self, path: &Path) -> Option<Source> {
        let shown = path.display().to_string();
        match fs::read_to_string(path) {
            Ok(text) => Some(Source::new(shown, text).with_files(PromptFiles::beside(path))),
            Err(error) => self.fails(&format!("cannot read {shown}: {error}")),
        }
    }

    fn workflow(&mut self, source: &Source, compilation: &Compilation) -> Option<Module> {
        self.instructions.push(format!("cargo::rerun-if-changed={}", source.path));
        self.report(source, &compilation.diagnostics);
        let checked = compilation.checked.as_ref()?;
        let prompts = checked.prompt_files().into_keys().filter_map(|it| source.prompt_files.path(it));
        self.instructions.extend(prompts.map(|it| format!("cargo::rerun-if-changed={}", it.display())));
        let options = Options { core: self.core, module: None };
        let (workflow, name) = (checked.name().to_owned(), module_name(checked, &options));
        match emit::emit(checked, &options) {
            Ok(tokens) => {
                let is_plan = matches!(checked.definition(), Definition::Steps(_));
                Some(Module { workflow, name, is_plan, tokens })
            }
            Err(diagnostics) => {
                self.report(source, &diagnostics);
                None
            }
        }
    }

    fn report(&mut self, source: &Source, diagnostics: &[Diagnostic]) {
        let renderer = Renderer::new(source);
        for diagnostic in diagnostics {
            let text = renderer.render(diagnostic);
            match diagnostic.level {
                Level::Error | Level::Deny => self.error(&text),
                Level::Warn => self.instructions.extend(instructions("warning", &text)),
                Level::Info | Level::Allow => {}
            }
        }
    }

    fn fails<T>(&mut self, message: &str) -> Option<T> {
        self.error(message);
        None
    }

    fn error(&mut self, message: &str) {
        self.failed = true;
        self.instructions.extend(instructions("error", message));
    }
}

fn code(modules: &[Module], core: CorePath) -> String {
    let tokens = modules.iter().map(|module| &module.tokens);
    let names = |is_plan: bool| {
        let modules = modules.iter().filter(move |it| it.is_plan == is_plan);
        modules.map(|module| format_ident!("{}", module.name))
    };
    let (machines, plans) = (names(false), names(true));
    let core = core.tokens();
    quote! {
        #(#tokens)*

        /// The machines of all state machine workflows, sorted by name.
        #[allow(dead_code, unreachable_pub)]
        pub static MACHINES: &[&#core::Machine<'static>] = &[#(&#machines::MACHINE),*];

        /// The plans of all step workflows, sorted by name.
        #[allow(dead_code, unreachable_pub)]
        pub static PLANS: &[&#core::plan::Plan<'static>] = &[#(&#plans::PLAN),*];
    }
    .to_string()
}

/// The files that should be workflows, sorted by name: those with the right extension, but for cargo's own and scenarios.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let formatted = path.to_str().and_then(Format::of_path).is_some();
        if formatted && path.is_file() && !path.ends_with("Cargo.toml") && !is_scenario_file(&path) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn write(out: &Path, code: &str) -> Result<(), String> {
    let folder: OsString = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set: this runs in a build script")?;
    let path = Path::new(&folder).join(out);
    fs::write(&path, code).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// An instruction is one line; cargo shows several of one kind below each other.
fn instructions(kind: &str, text: &str) -> impl Iterator<Item = String> {
    text.lines().map(move |line| format!("cargo::{kind}={line}"))
}
