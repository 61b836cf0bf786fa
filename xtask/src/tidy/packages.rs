//! Packages that are published need nothing outside of their folders, and no package that is not published.

use std::path::{Component, Path, PathBuf};

use super::RuleBreach;
use super::sources::code_outside_tests;
use crate::workspace::{MemberPackage, TextFile};

/// Macros that read a file while a package is compiled.
const INCLUDES: [&str; 3] = ["include_str!(", "include_bytes!(", "include!("];

/// Every file that a published package includes and does not have.
pub(super) fn reach_outside(packages: &[MemberPackage], files: &[TextFile]) -> Vec<RuleBreach> {
    let root = env!("CARGO_MANIFEST_DIR").trim_end_matches("xtask");
    let folders = packages.iter().filter(|package| package.is_published()).filter_map(|package| {
        let folder = package.manifest_path.parent()?.strip_prefix(root).ok()?;
        Some(folder.to_owned())
    });
    folders.flat_map(|folder| files.iter().flat_map(move |file| includes_outside(&folder, file))).collect()
}

fn includes_outside(folder: &Path, file: &TextFile) -> Vec<RuleBreach> {
    if !Path::new(&file.path).starts_with(folder.join("src")) {
        return Vec::new();
    }
    let beside = Path::new(&file.path).parent().unwrap_or(folder);
    let outside = code_outside_tests(file).filter(|(_, code)| {
        let included = INCLUDES.iter().filter_map(|it| code.split_once(it)).map(|(_, rest)| rest);
        included
            .filter_map(|rest| rest.split('"').nth(1))
            .any(|path| !normal(&beside.join(path)).starts_with(folder))
            || code.contains("CARGO_MANIFEST_DIR") && code.contains("\"/../")
    });
    let breach = |(number, _)| {
        RuleBreach::new(
            format!("{}:{number}", file.path),
            "includes a file from outside of its package, which is published without it",
            "move the file into the package, or put a link to it there",
        )
    };
    outside.map(breach).collect()
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            normal.pop();
        } else {
            normal.push(part);
        }
    }
    normal
}

/// Every published package that needs one that is not. Tests may: cargo leaves their dependencies out.
pub(super) fn cannot_be_published(packages: &[MemberPackage]) -> Vec<RuleBreach> {
    let is_published =
        |name: &str| packages.iter().find(|it| it.name == name).is_none_or(MemberPackage::is_published);
    let mut breaches = Vec::new();
    for package in packages.iter().filter(|package| package.is_published()) {
        let needed = package.dependencies.iter().filter(|it| it.kind.as_deref() != Some("dev"));
        for dependency in needed.filter(|it| !is_published(&it.name)) {
            breaches.push(RuleBreach::new(
                &package.name,
                format!("is published, and needs {}, which is not", dependency.name),
                "publish both, with a version in the workspace's Cargo.toml, or do without",
            ));
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use crate::workspace::DeclaredDependency;

    use super::*;

    #[test]
    fn a_file_outside_of_the_package_is_found() {
        let check = |line: &str, expect: usize| {
            let file =
                TextFile { path: "tools/cli/src/cmd/a.rs".to_owned(), text: format!("//! A.\n{line}\n") };
            assert_eq!(includes_outside(Path::new("tools/cli"), &file).len(), expect, "{line}");
            assert_eq!(includes_outside(Path::new("tools/mcp"), &file).len(), 0, "{line}");
        };
        check("let a = include_str!(\"../../../mcp/a.md\");", 1);
        check("let a = include_str!(\"../../a.md\");", 0);
        check("let a = include_bytes!(\"a.md\");", 0);
        check("include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/../a/\", $name))", 1);
        check("include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/a/\", $name))", 0);
        check("#[cfg(test)]\nmod tests { include_str!(\"../../../mcp/a.md\"); }", 0);
    }

    #[test]
    fn a_package_that_needs_an_unpublished_one_is_found() {
        let package = |name: &str, publish, needs: &[(&str, Option<&str>)]| MemberPackage {
            name: name.to_owned(),
            manifest_path: PathBuf::new(),
            publish,
            dependencies: needs
                .iter()
                .map(|(name, kind)| DeclaredDependency {
                    name: (*name).to_owned(),
                    kind: kind.map(str::to_owned),
                    path: None,
                })
                .collect(),
        };
        let hidden = package("hidden", Some(Vec::new()), &[]);
        let good = package("good", None, &[("hidden", Some("dev")), ("serde", None)]);
        let bad = package("bad", None, &[("good", None), ("hidden", None)]);
        let found = cannot_be_published(&[hidden, good, bad]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].problem, "is published, and needs hidden, which is not");
    }
}
