//! The repository as the commands see it: its folder, its files, and cargo's metadata.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use crate::Result;

/// The variable that says that every program of this build is there, as `cargo xtask ci` has built it; our tests read it, too.
pub(crate) const ARE_BUILT: &str = "ORANGE_PROGRAMS_ARE_BUILT";

/// The repository in which this command was built.
pub(crate) struct OwnRepository {
    pub(crate) root: PathBuf,
}

/// A text file of the repository.
pub(crate) struct TextFile {
    /// Its path from the root, with `/`.
    pub(crate) path: String,
    /// Its contents.
    pub(crate) text: String,
}

/// The answer of `cargo metadata` about the workspace.
#[derive(Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<MemberPackage>,
    /// The folder of builds.
    pub(crate) target_directory: PathBuf,
}

/// A member of the workspace.
#[derive(Deserialize)]
pub(crate) struct MemberPackage {
    pub(crate) name: String,
    /// Its declared dependencies.
    pub(crate) dependencies: Vec<DeclaredDependency>,
}

/// One declared dependency.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct DeclaredDependency {
    pub(crate) name: String,
    /// `dev`, `build`, or nothing for a normal one.
    pub(crate) kind: Option<String>,
    /// Its folder, unless it is from a registry.
    pub(crate) path: Option<PathBuf>,
}

impl OwnRepository {
    /// The repository around this package.
    pub(crate) fn find() -> Result<OwnRepository> {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = package.parent().ok_or("xtask lies in no workspace")?;
        Ok(OwnRepository { root: root.to_path_buf() })
    }

    /// A command that runs cargo in the root.
    pub(crate) fn cargo<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        self.program(cargo, arguments)
    }

    /// A command that runs a program in the root.
    pub(crate) fn program<S: AsRef<OsStr>>(
        &self,
        program: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = S>,
    ) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.root);
        command
    }

    /// Builds programs, as these arguments of `cargo build` name them, and gives the folder in which they are. Where
    /// [`ARE_BUILT`] is set they are there already.
    pub(crate) fn built(&self, what: &[&str]) -> Result<PathBuf> {
        if !self.is_built() {
            self.build(what)?;
        }
        self.programs()
    }

    /// Runs `cargo build` with these arguments.
    pub(crate) fn build(&self, what: &[&str]) -> Result<()> {
        let mut build = self.cargo([&["build", "--quiet"], what].concat());
        let status = build.status().map_err(|error| format!("`{}` cannot be run: {error}", typed(&build)))?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("`{}` failed; cargo says why above", typed(&build)))
        }
    }

    /// True if continuous integration has built every program.
    pub(crate) fn is_built(&self) -> bool {
        std::env::var_os(ARE_BUILT).is_some()
    }

    /// The folder in which cargo puts programs.
    pub(crate) fn programs(&self) -> Result<PathBuf> {
        Ok(self.metadata()?.target_directory.join("debug"))
    }

    /// The paths of all tracked and unignored files, from the root, sorted.
    pub(crate) fn paths(&self) -> Result<Vec<String>> {
        let git = self.program(
            "git",
            ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"],
        );
        let listed = answer(git)?;
        let mut paths: Vec<_> = listed
            .split('\0')
            .filter(|path| !path.is_empty() && self.root.join(path).is_file())
            .map(str::to_string)
            .collect();
        paths.sort();
        Ok(paths)
    }

    /// The file at a path from the root.
    pub(crate) fn read(&self, path: &str) -> Result<TextFile> {
        let text = std::fs::read_to_string(self.root.join(path))
            .map_err(|error| format!("{path} cannot be read: {error}"))?;
        Ok(TextFile { path: path.to_string(), text })
    }

    /// The metadata of the members.
    pub(crate) fn metadata(&self) -> Result<Metadata> {
        let json = answer(self.cargo(["metadata", "--no-deps", "--format-version", "1"]))?;
        serde_json::from_str(&json).map_err(|error| format!("cargo metadata cannot be understood: {error}"))
    }

    /// The names of all packages in the build of one package, itself included, sorted; `edges` and `features` are arguments of
    /// `cargo tree`.
    pub(crate) fn tree(&self, package: &str, edges: &str, features: &[&str]) -> Result<Vec<String>> {
        let mut command =
            self.cargo(["tree", "-p", package, "-e", edges, "--prefix", "none", "--format", "{p}"]);
        command.args(features);
        let tree = answer(command)?;
        let mut names: Vec<_> =
            tree.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_string).collect();
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// Our packages, each with its features in a build of the whole workspace: `orange-engine: a,b`.
    pub(crate) fn features(&self) -> Result<Vec<String>> {
        let format = ["--prefix", "none", "--format", "{p}: {f}"];
        let tree = answer(self.cargo(["tree", "--workspace", "-e", "all"].into_iter().chain(format)))?;
        let ours = tree.lines().filter(|line| line.starts_with("orange"));
        Ok(ours.map(str::to_string).collect())
    }
}

/// The command as typed in a shell.
pub(crate) fn typed(command: &Command) -> String {
    let quoted = |word: &OsStr| {
        let word = word.to_string_lossy();
        if word.contains(' ') { format!("'{word}'") } else { word.into_owned() }
    };
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let set = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.to_string_lossy(), quoted(value?))));
    set.chain([quoted(program)]).chain(command.get_args().map(quoted)).collect::<Vec<_>>().join(" ")
}

/// The standard output of a command that succeeds.
pub(crate) fn answer(mut command: Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("`{}` cannot be run: {error}", typed(&command)))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`{}` failed ({}):\n{}", typed(&command), output.status, said.trim_end()));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("`{}` did not answer in UTF-8", typed(&command)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_reads_as_typed() {
        let mut command = Command::new("/usr/bin/cargo");
        command.args(["doc", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(typed(&command), "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps");
    }
}
