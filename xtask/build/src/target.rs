//! The choice of the target of a build: static where this machine has what that needs.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Result;
use crate::workspace::answer;

/// Facts of this machine that decide about the target.
#[derive(Clone, Debug)]
pub struct TargetFacts {
    /// The target of this machine.
    pub host: String,
    /// True if the standard library of its static target is installed.
    pub has_static_library: bool,
    /// True if there is a C compiler for its static target.
    pub has_static_compiler: bool,
    /// True if the compiler came with its linker, which can make one of equal functions.
    pub has_folding_linker: bool,
}

/// The chosen target of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenTarget {
    /// The name by which the compiler knows it.
    pub name: String,
    /// The reason for which the result is not static, with what would change that.
    pub reason: Option<String>,
    /// True if the linker makes one of equal functions.
    pub is_folded: bool,
}

impl TargetFacts {
    /// The facts of this machine.
    pub fn find() -> Result<TargetFacts> {
        let host = host()?;
        let name = static_target(&host);
        Ok(TargetFacts {
            has_static_library: name.as_deref().is_some_and(is_installed),
            has_static_compiler: name.as_deref().is_some_and(|target| {
                has_compiler(
                    target,
                    |name| std::env::var_os(name),
                    &std::env::var_os("PATH").unwrap_or_default(),
                )
            }),
            has_folding_linker: has_folding_linker()?,
            host,
        })
    }

    /// The target for a program, which has code in C or has none.
    pub fn choose(&self, program: &str, has_c: bool) -> ChosenTarget {
        let host = &self.host;
        let Some(name) = static_target(host) else {
            return ChosenTarget { name: host.clone(), reason: None, is_folded: false };
        };
        let reason = if !self.has_static_library {
            format!("{name} is not installed (`rustup target add {name}`)")
        } else if has_c && !self.has_static_compiler {
            let compilers = compilers(&name).join(" or ");
            format!(
                "{program} has code in C, and there is no {compilers} on PATH (package `musl-tools` of Debian and Ubuntu, `musl-gcc` of \
                 Fedora, `musl` of Arch)"
            )
        } else {
            return ChosenTarget { name, reason: None, is_folded: !has_c && self.has_folding_linker };
        };
        let reason = format!("{reason}: building {program} for {host}, which is not static");
        ChosenTarget { name: host.clone(), reason: Some(reason), is_folded: false }
    }
}

impl ChosenTarget {
    /// The arguments of cargo for this target.
    pub fn arguments(&self) -> Vec<String> {
        let mut words = vec!["--target".to_owned(), self.name.clone()];
        if is_static(&self.name) {
            words.extend([
                "--config".to_owned(),
                format!("target.{}.rustflags={:?}", self.name, static_flags(self.is_folded, AtPanic::Abort)),
            ]);
        }
        words
    }
}

/// Code at a fixed address needs no table of relocations, and no time to apply them.
pub const FIXED_ADDRESS: &str = "-Crelocation-model=static";

/// The linker of the compiler makes one of equal functions. It finds no libraries in C.
const FOLDING: [&str; 2] = ["-Clinker=rust-lld", "-Clink-arg=--icf=all"];

/// The reaction of a program to its own panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtPanic {
    Abort,
    Unwind,
}

/// The compiler makes functions of machine code that repeats: a twentieth less code, for a twentieth more instructions.
const OUTLINED: &str = "-Cllvm-args=-enable-machine-outliner=always";

/// The script of the linker counts from the root of the repository, where cargo starts the compiler.
const NO_UNWIND_TABLES: [&str; 2] =
    ["-Clink-arg=--no-eh-frame-hdr", "-Clink-arg=xtask/build/no-unwind-tables.ld"];

/// Flags of the compiler for a static program.
pub fn static_flags(is_folded: bool, at_panic: AtPanic) -> Vec<&'static str> {
    let folding = if is_folded { FOLDING.as_slice() } else { &[] };
    let is_smallest = is_folded && at_panic == AtPanic::Abort;
    let outlined = if is_smallest { [OUTLINED].as_slice() } else { &[] };
    let no_tables = if is_smallest { NO_UNWIND_TABLES.as_slice() } else { &[] };
    [&[FIXED_ADDRESS], folding, outlined, no_tables].concat()
}

/// True if the compiler came with its linker; that of a distribution may not have.
///
/// # Errors
/// There is no compiler.
pub fn has_folding_linker() -> Result<bool> {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir"]);
    let library = answer(rustc)?;
    Ok(Path::new(library.trim()).parent().is_some_and(|folder| folder.join("bin/rust-lld").is_file()))
}

/// True for a target whose programs need no libraries.
pub fn is_static(target: &str) -> bool {
    target.ends_with("-linux-musl")
}

/// The target of this machine.
pub fn host() -> Result<String> {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "host-tuple"]);
    answer(rustc).map(|host| host.trim().to_string())
}

/// The static target of a host, which has its architecture; `None` on a system without one.
fn static_target(host: &str) -> Option<String> {
    let (architecture, system) = host.split_once('-')?;
    system.contains("linux").then(|| format!("{architecture}-unknown-linux-musl"))
}

/// True if the standard library of a target is installed.
pub fn is_installed(target: &str) -> bool {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", target]).stderr(Stdio::null());
    answer(rustc).is_ok_and(|folder| Path::new(folder.trim()).is_dir())
}

/// The C compilers of a static target, as the crate `cc` looks for them.
fn compilers(target: &str) -> Vec<String> {
    let architecture = target.split('-').next().unwrap_or_default();
    let mut names = vec![format!("{architecture}-linux-musl-gcc")];
    if architecture == "x86_64" {
        names.push("musl-gcc".to_owned());
    }
    names
}

/// True if the crate `cc` finds a C compiler for a target: a variable names one, or it is on PATH.
fn has_compiler(target: &str, variable: impl Fn(&str) -> Option<OsString>, path: &OsStr) -> bool {
    let of_target = [format!("CC_{target}"), format!("CC_{}", target.replace('-', "_"))];
    let mut names = of_target.iter().map(String::as_str).chain(["TARGET_CC", "CC"]);
    names.any(|name| variable(name).is_some_and(|value| !value.is_empty()))
        || compilers(target).iter().any(|name| on_path(name, path).is_some())
}

/// The file that a shell would run for a name.
pub(crate) fn on_path(program: &str, path: &OsStr) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let is_program = |file: &PathBuf| {
        std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(path).map(|folder| folder.join(program)).find(is_program)
}

#[cfg(test)]
mod tests {
    use super::*;

    const X86: &str = "x86_64-unknown-linux-gnu";
    const X86_STATIC: &str = "x86_64-unknown-linux-musl";

    fn facts(host: &str, has_static_library: bool, has_static_compiler: bool) -> TargetFacts {
        TargetFacts {
            host: host.to_owned(),
            has_static_library,
            has_static_compiler,
            has_folding_linker: true,
        }
    }

    #[track_caller]
    fn check(facts: &TargetFacts, has_c: bool, expect: &str, reason: Option<&str>) {
        let chosen = facts.choose("orange-fleet", has_c);
        assert_eq!(chosen.name, expect);
        match reason {
            None => assert_eq!(chosen.reason, None),
            Some(part) => assert!(chosen.reason.as_deref().is_some_and(|it| it.contains(part)), "{chosen:?}"),
        }
    }

    #[test]
    fn the_static_target_is_of_the_hosts_architecture() {
        check(&facts(X86, true, true), true, X86_STATIC, None);
        check(&facts(X86_STATIC, true, true), true, X86_STATIC, None);
        let arm = "aarch64-unknown-linux-gnu";
        check(&facts(arm, true, false), false, "aarch64-unknown-linux-musl", None);
        check(&facts(arm, false, false), false, arm, Some("rustup target add aarch64-unknown-linux-musl"));
        check(&facts("aarch64-apple-darwin", false, false), true, "aarch64-apple-darwin", None);
    }

    #[test]
    fn code_in_c_without_a_compiler_is_built_for_the_host() {
        check(&facts(X86, true, false), false, X86_STATIC, None);
        let reason = "orange-fleet has code in C, and there is no x86_64-linux-musl-gcc or musl-gcc on PATH";
        check(&facts(X86, true, false), true, X86, Some(reason));
        check(&facts(X86, true, false), true, X86, Some("`musl-tools`"));
        check(&facts(X86, true, false), true, X86, Some("for x86_64-unknown-linux-gnu, which is not static"));
    }

    #[test]
    fn only_static_code_has_a_fixed_address_and_only_rust_is_folded() {
        let arguments = |library, has_c| facts(X86, library, true).choose("it", has_c).arguments().join(" ");
        let flags = |flags: &str| {
            format!(
                "--target x86_64-unknown-linux-musl --config \
                 target.x86_64-unknown-linux-musl.rustflags=[\"-Crelocation-model=static\"{flags}]"
            )
        };
        assert_eq!(arguments(false, false), "--target x86_64-unknown-linux-gnu");
        assert_eq!(arguments(true, true), flags(""));
        let folded = static_flags(true, AtPanic::Abort);
        let folded: String = folded[1..].iter().map(|flag| format!(", {flag:?}")).collect();
        assert_eq!(arguments(true, false), flags(&folded));
    }

    #[test]
    fn only_folded_code_that_aborts_has_no_unwind_tables() {
        let has_none = |is_folded, at_panic| static_flags(is_folded, at_panic).ends_with(&NO_UNWIND_TABLES);
        assert!(has_none(true, AtPanic::Abort));
        assert!(!has_none(true, AtPanic::Unwind) && !has_none(false, AtPanic::Abort));
    }

    #[test]
    fn a_compiler_is_named_by_a_variable_or_on_path() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().as_os_str();
        let none = |_: &str| None;
        assert!(!has_compiler(X86_STATIC, none, path));
        let zig = |name: &str| (name == "CC_x86_64_unknown_linux_musl").then(|| "zig".into());
        assert!(has_compiler(X86_STATIC, zig, path));
        std::fs::write(scratch.path().join("musl-gcc"), "").unwrap();
        assert!(!has_compiler(X86_STATIC, none, path), "it cannot be run");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(scratch.path().join("musl-gcc"), mode).unwrap();
        assert!(has_compiler(X86_STATIC, none, path));
        assert!(!has_compiler("aarch64-unknown-linux-musl", none, path), "it compiles for this machine");
    }
}
