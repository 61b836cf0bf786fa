//! The repository as the commands see it: its folder, its files, and the folder that cargo builds in.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Result;

/// The variable that says that every program of this build is there, as `cargo xtask ci` has built it; our tests read it, too.
pub const ARE_BUILT: &str = "ORANGE_PROGRAMS_ARE_BUILT";

/// The repository in which this command was built.
pub struct OwnRepository {
    pub root: PathBuf,
}

/// A text file of the repository.
pub struct TextFile {
    /// Its path from the root, with `/`.
    pub path: String,
    /// The text, decoded from UTF-8.
    pub text: String,
}

impl OwnRepository {
    /// The repository around this package.
    pub fn find() -> Result<OwnRepository> {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = package.ancestors().nth(2).ok_or("xtask lies in no workspace")?;
        Ok(OwnRepository { root: root.to_path_buf() })
    }

    /// A command that runs cargo in the root.
    pub fn cargo<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        self.program(cargo, arguments)
    }

    /// A command that runs a program in the root.
    pub fn program<S: AsRef<OsStr>>(
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
    pub fn built(&self, what: &[&str]) -> Result<PathBuf> {
        if !self.is_built() {
            self.build(what)?;
        }
        self.programs()
    }

    /// Runs `cargo build` with these arguments.
    pub fn build(&self, what: &[&str]) -> Result<()> {
        let mut build = self.cargo([&["build", "--quiet"], what].concat());
        let status = build.status().map_err(|error| format!("`{}` cannot be run: {error}", typed(&build)))?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("`{}` failed; cargo says why above", typed(&build)))
        }
    }

    /// True if continuous integration has built every program.
    pub fn is_built(&self) -> bool {
        std::env::var_os(ARE_BUILT).is_some()
    }

    /// The folder in which cargo puts programs.
    pub fn programs(&self) -> Result<PathBuf> {
        Ok(self.target_folder()?.join("debug"))
    }

    /// The paths of all tracked and unignored files, from the root, sorted.
    pub fn paths(&self) -> Result<Vec<String>> {
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
    pub fn read(&self, path: &str) -> Result<TextFile> {
        let text = std::fs::read_to_string(self.root.join(path))
            .map_err(|error| format!("{path} cannot be read: {error}"))?;
        Ok(TextFile { path: path.to_string(), text })
    }

    /// The folder that cargo builds in.
    pub fn target_folder(&self) -> Result<PathBuf> {
        let json = answer(self.cargo(["metadata", "--no-deps", "--format-version", "1"]))?;
        text_of(&json, "target_directory")
            .map(PathBuf::from)
            .ok_or_else(|| "cargo metadata names no folder of builds".to_owned())
    }

    /// The names of all packages in the build of one package, itself included, sorted; `edges` and `features` are arguments of
    /// `cargo tree`.
    pub fn tree(&self, package: &str, edges: &str, features: &[&str]) -> Result<Vec<String>> {
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
    pub fn features(&self) -> Result<Vec<String>> {
        let format = ["--prefix", "none", "--format", "{p}: {f}"];
        let tree = answer(self.cargo(["tree", "--workspace", "-e", "all"].into_iter().chain(format)))?;
        let ours = tree.lines().filter(|line| line.starts_with("orange"));
        Ok(ours.map(str::to_string).collect())
    }
}

/// The text at a key of a JSON object; `None` where the text has an escape other than of a quote or a backslash. A parser of JSON would
/// take longer to build than everything else here.
fn text_of(json: &str, key: &str) -> Option<String> {
    let (_, from) = json.split_once(&format!("\"{key}\":\""))?;
    let mut text = String::new();
    let mut letters = from.chars();
    loop {
        match letters.next()? {
            '"' => return Some(text),
            '\\' => text.push(letters.next().filter(|escaped| ['"', '\\', '/'].contains(escaped))?),
            letter => text.push(letter),
        }
    }
}

/// The command as typed in a shell.
pub fn typed(command: &Command) -> String {
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
pub fn answer(mut command: Command) -> Result<String> {
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

    #[test]
    fn the_folder_of_builds_is_read_from_json() {
        let read = |json| text_of(json, "target_directory");
        assert_eq!(read(r#"{"a":1,"target_directory":"/o/target","b":2}"#).as_deref(), Some("/o/target"));
        assert_eq!(read(r#"{"target_directory":"/o \"x\"\\/t"}"#).as_deref(), Some(r#"/o "x"\/t"#));
        assert_eq!(read(r#"{"target_directory":"/o\u0007"}"#), None);
        assert_eq!(read(r#"{"target_directory":"/o"#), None);
        assert_eq!(read("{}"), None);
    }
}
