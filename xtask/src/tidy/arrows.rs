//! The arrows of dependencies: between our own packages, and to packages from elsewhere.

use super::{RuleBreach, entries};
use crate::Result;
use crate::workspace::{DeclaredDependency, MemberPackage, OwnRepository, TextFile};

/// The committed list of what the small binary is built from.
const SMALL_BINARY: &str = "xtask/small-binary.txt";

/// The committed list of what the compiler of custom workflows adds to it.
const CUSTOM_WORKFLOWS: &str = "xtask/custom-workflows.txt";

/// The arrows that one package may have to others of the workspace.
struct Arrows {
    from: &'static str,
    normal: &'static [&'static str],
    build: &'static [&'static str],
    dev: &'static [&'static str],
}

const NONE: &[&str] = &[];

/// Every arrow there may be: `core ← codegen ← macros, workflows/main.rs`, `codegen ← analysis ← workflows/build.rs, tools`
/// and `core ← journal ← api ← system ← engine ← workflows/main.rs`. Only xtask and tests reach for everything.
const ARROWS: &[Arrows] = &[
    Arrows { from: "orange-core", normal: NONE, build: NONE, dev: NONE },
    Arrows { from: "orange-codegen", normal: &["orange-core"], build: NONE, dev: NONE },
    Arrows { from: "orange-analysis", normal: &["orange-codegen", "orange-core"], build: NONE, dev: NONE },
    Arrows {
        from: "orange-ide",
        normal: &["orange-analysis", "orange-api", "orange-codegen", "orange-core"],
        build: NONE,
        dev: NONE,
    },
    Arrows { from: "orange-macros", normal: &["orange-codegen"], build: NONE, dev: &["orange-core"] },
    Arrows { from: "orange-journal", normal: &["orange-core"], build: NONE, dev: NONE },
    Arrows {
        from: "orange-api",
        normal: &["orange-core", "orange-journal"],
        build: NONE,
        dev: &["orange-testkit"],
    },
    Arrows { from: "orange-system", normal: &["orange-api"], build: NONE, dev: &["orange-testkit"] },
    Arrows {
        from: "orange-engine",
        normal: &["orange-api", "orange-core", "orange-journal", "orange-manual", "orange-system"],
        build: NONE,
        dev: &["orange-system", "orange-testkit"],
    },
    Arrows { from: "orange-manual", normal: NONE, build: NONE, dev: NONE },
    Arrows { from: "orange-testkit", normal: &["orange-core"], build: NONE, dev: NONE },
    Arrows {
        from: "orange",
        // The compiler only behind the feature `custom-workflows`, which the lists of the binary watch.
        normal: &["orange-engine", "orange-codegen"],
        build: &["orange-codegen", "orange-analysis"],
        dev: NONE,
    },
    Arrows {
        from: "orange-workflow",
        normal: &[
            "orange-analysis",
            "orange-codegen",
            "orange-core",
            "orange-ide",
            "orange-manual",
            "orange-picture",
            "orange-system",
        ],
        build: NONE,
        dev: NONE,
    },
    Arrows { from: "orange-picture", normal: NONE, build: NONE, dev: NONE },
    // It calls `orange` as anybody does, so that rules, actors and locks are the same.
    Arrows { from: "orange-mcp", normal: NONE, build: NONE, dev: NONE },
    // The dashboard calls `orange` as anybody does, too, and it reads journals and names the policies of missions.
    Arrows {
        from: "orange-dashboard",
        normal: &["orange-api", "orange-core", "orange-journal", "orange-system"],
        build: NONE,
        dev: NONE,
    },
    // The gateway follows the plans that are compiled in, and those of a folder through the same compiler.
    Arrows {
        from: "orange-fleet",
        normal: &[
            "orange-analysis",
            "orange-api",
            "orange-codegen",
            "orange-core",
            "orange-journal",
            "orange-picture",
            "orange-system",
        ],
        build: &["orange-codegen", "orange-analysis"],
        dev: &["orange-testkit", "orange-tests"],
    },
    Arrows {
        from: "orange-tests",
        normal: EVERYTHING,
        build: &["orange-codegen", "orange-testkit"],
        dev: EVERYTHING,
    },
    // It is built before anything is installed, so it is built from little.
    Arrows { from: "xtask-build", normal: NONE, build: NONE, dev: NONE },
    Arrows { from: "xtask", normal: EVERYTHING, build: &["orange-codegen"], dev: EVERYTHING },
];

/// Packages of ours that may depend on one package from elsewhere alone: the core by its feature of that name, for which neither the
/// compiler nor the macro asks, and `cargo xtask` for its arguments.
const ONLY: &[(&str, &str)] = &[("orange-core", "serde"), ("xtask-build", "clap")];

const EVERYTHING: &[&str] = &[
    "orange-api",
    "orange-core",
    "orange-codegen",
    "orange-analysis",
    "orange-macros",
    "orange-journal",
    "orange-engine",
    "orange",
    "orange-fleet",
    "orange-ide",
    "orange-manual",
    "orange-picture",
    "orange-system",
    "orange-testkit",
    "orange-workflow",
    "xtask-build",
];

/// Packages that neither the compiler nor the macro may bring into the build of those who use them.
const TOO_HEAVY_FOR_THE_COMPILER: &[&str] = &[
    "async-std",
    "clap",
    "futures",
    "miette",
    "prettyplease",
    "saphyr",
    "serde",
    "serde_json",
    "serde_yaml",
    "smol",
    "syn",
    "tokio",
];

/// Packages that no binary may have, whatever the lists say.
const NEVER_IN_THE_BINARY: &[&str] = &[
    "async-std",
    "axum",
    "clap_derive",
    "futures",
    "miette",
    "rusqlite",
    "serde_yaml",
    "smol",
    "syn",
    "tokio",
];

/// The arrows that the manifests declare and the table does not.
pub(super) fn declared(packages: &[MemberPackage]) -> Vec<RuleBreach> {
    packages.iter().flat_map(declared_by).collect()
}

fn declared_by(package: &MemberPackage) -> Vec<RuleBreach> {
    let Some(arrows) = ARROWS.iter().find(|arrows| arrows.from == package.name) else {
        let problem = "is a package that the arrows do not know";
        return vec![RuleBreach::new(
            &package.name,
            problem,
            "give it a line in ARROWS, xtask/src/tidy/arrows.rs",
        )];
    };
    let forbidden = package.dependencies.iter().filter(|dependency| !arrows.allow(dependency));
    forbidden
        .map(|DeclaredDependency { name, kind, .. }| {
            let kind = kind.as_deref().unwrap_or("normal");
            RuleBreach::new(
                &package.name,
                format!("has a {kind} dependency on {name}, which goes against the arrows"),
                "move what needs it to where it may be needed, or argue for a new arrow in ARROWS, xtask/src/tidy/arrows.rs",
            )
        })
        .collect()
}

impl Arrows {
    fn allow(&self, dependency: &DeclaredDependency) -> bool {
        if dependency.path.is_none() {
            let is_dev = dependency.kind.as_deref() == Some("dev");
            let only = ONLY.iter().find(|(from, _)| *from == self.from);
            return is_dev || only.is_none_or(|(_, only)| *only == dependency.name);
        }
        let allowed = match dependency.kind.as_deref() {
            Some("dev") => [self.normal, self.dev].concat(),
            Some("build") => self.build.to_vec(),
            Some(_) | None => self.normal.to_vec(),
        };
        allowed.contains(&dependency.name.as_str())
    }
}

/// Packages from which the compiler and the macro are built and should not be.
pub(super) fn compiler(workspace: &OwnRepository) -> Result<Vec<RuleBreach>> {
    let mut findings = Vec::new();
    for package in ["orange-codegen", "orange-macros"] {
        findings.extend(too_heavy(package, &workspace.tree(package, "normal,build", &[])?));
    }
    Ok(findings)
}

fn too_heavy<'t>(package: &'t str, tree: &'t [String]) -> impl Iterator<Item = RuleBreach> + 't {
    tree.iter().filter(|name| TOO_HEAVY_FOR_THE_COMPILER.contains(&name.as_str())).map(move |name| {
        RuleBreach::new(
            package,
            format!("is built from {name}, which everybody who uses `workflow!` would pay for"),
            "put it behind the feature `pretty`, or do without; `cargo tree -i` says who brings it",
        )
    })
}

/// Packages that can be killed at their own steps without anybody having asked for that.
pub(super) fn no_fail_points(features: &[String]) -> Vec<RuleBreach> {
    let armed = features.iter().filter(|package| package.contains("fail-points"));
    let finding = |package: &String| {
        let name = package.split(' ').next().unwrap_or(package);
        let remedy =
            "the feature `fail-points` is for builds that are to be killed: take it out of the manifests";
        RuleBreach::new(name, "has fail points in an ordinary build", remedy)
    };
    armed.map(finding).take(1).collect()
}

/// Differences between the packages from which the binary is built and the committed lists, without custom workflows and with them.
pub(super) fn binaries(workspace: &OwnRepository) -> Result<Vec<RuleBreach>> {
    let tree = |features: &[&str]| workspace.tree("orange", "normal,no-proc-macro", features);
    let small = tree(&["--no-default-features"])?;
    let mut added = tree(&[])?;
    added.retain(|name| !small.contains(name));
    let mut findings = built_from(&small, &workspace.read(SMALL_BINARY)?);
    if small.iter().any(|name| name == "orange-codegen") {
        let problem = "is built from the compiler even without `custom-workflows`";
        findings.push(RuleBreach::new("orange", problem, "depend on it behind that feature alone"));
    }
    findings.extend(built_from(&added, &workspace.read(CUSTOM_WORKFLOWS)?));
    Ok(findings)
}

fn built_from(tree: &[String], list: &TextFile) -> Vec<RuleBreach> {
    let ours = |name: &str| ARROWS.iter().any(|arrows| arrows.from == name);
    let never = tree.iter().filter(|name| NEVER_IN_THE_BINARY.contains(&name.as_str())).map(|name| {
        let problem = format!("is built from {name}, which is too heavy for it");
        RuleBreach::new("orange", problem, "do without it; `cargo tree -p orange -i` says who brings it")
    });
    let unlisted = tree
        .iter()
        .filter(|name| !ours(name) && !entries(list).any(|entry| entry.name == **name))
        .map(|name| {
            let problem = format!("the binary is built from {name}, which is not on the list");
            RuleBreach::new(&list.path, problem, "do without it, or add a line with the reason")
        });
    let stale = entries(list).filter(|entry| !tree.iter().any(|name| name == entry.name)).map(|entry| {
        let problem = format!("the binary is not built from {}", entry.name);
        RuleBreach::new(entry.place, problem, "take the line away")
    });
    let unexplained = entries(list).filter(|entry| entry.reason.is_empty()).map(|entry| {
        RuleBreach::new(entry.place, format!("says no reason for {}", entry.name), "write it after a `#`")
    });
    never.chain(unlisted).chain(stale).chain(unexplained).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependency: &str, kind: Option<&str>) -> MemberPackage {
        let path = dependency.starts_with("orange").then(|| "somewhere".into());
        let dependency =
            DeclaredDependency { name: dependency.to_string(), kind: kind.map(str::to_string), path };
        MemberPackage {
            name: name.to_string(),
            manifest_path: "Cargo.toml".into(),
            publish: None,
            dependencies: vec![dependency],
        }
    }

    #[track_caller]
    fn check(from: &str, to: &str, kind: Option<&str>, allowed: bool) {
        assert_eq!(declared(&[package(from, to, kind)]).is_empty(), allowed, "{from} → {to} ({kind:?})");
    }

    #[test]
    fn arrows_have_one_direction() {
        check("orange-codegen", "orange-core", None, true);
        check("orange-core", "orange-codegen", None, false);
        check("orange-engine", "orange-codegen", None, false);
        check("orange-engine", "orange-analysis", None, false);
        check("orange-codegen", "orange-analysis", Some("dev"), false);
        check("orange-macros", "orange-analysis", None, false);
        check("orange", "orange-analysis", None, false);
        check("orange-engine", "orange-journal", None, true);
        check("orange-journal", "orange-engine", None, false);
        check("orange-codegen", "orange-engine", Some("dev"), false);
        check("orange", "orange-codegen", Some("build"), true);
        check("orange", "orange-workflow", None, false);
        check("orange-engine", "orange-workflow", Some("dev"), false);
        check("orange-tests", "orange-workflow", Some("dev"), true);
        check("orange-fleet", "orange-core", None, true);
        check("orange-fleet", "orange-engine", None, false);
        check("orange-engine", "orange-fleet", None, false);
        check("orange", "orange-fleet", None, false);
        check("newcomer", "orange-core", None, false);
    }

    #[test]
    fn the_core_depends_on_nothing() {
        check("orange-core", "memchr", None, false);
        check("orange-core", "memchr", Some("build"), false);
        check("orange-core", "proptest", Some("dev"), true);
        check("orange-core", "serde", None, true);
        check("orange-engine", "memchr", None, true);
    }

    #[test]
    fn xtask_is_built_from_clap_alone() {
        check("xtask-build", "clap", None, true);
        check("xtask-build", "serde", None, false);
        check("xtask-build", "tempfile", Some("dev"), true);
        check("xtask-build", "orange-core", None, false);
    }

    #[test]
    fn the_compiler_stays_light() {
        let tree = ["granit-parser", "syn", "toml"].map(str::to_string);
        assert_eq!(too_heavy("orange-codegen", &tree).count(), 1);
    }

    #[track_caller]
    fn check_binary(tree: &[&str], list: &str, expect: &[&str]) {
        let tree: Vec<_> = tree.iter().map(|name| (*name).to_string()).collect();
        let list = TextFile { path: "list".to_string(), text: list.to_string() };
        let found: Vec<_> = built_from(&tree, &list).into_iter().map(|finding| finding.place).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn an_ordinary_build_has_no_fail_points() {
        let features = |of: &str| vec![format!("orange-engine v0.1.0 (/orange/engine): {of}")];
        assert_eq!(no_fail_points(&features("custom-workflows")), []);
        assert_eq!(no_fail_points(&features("default,fail-points")).len(), 1);
    }

    #[test]
    fn what_the_small_binary_is_built_from_is_on_the_list() {
        check_binary(&["orange", "orange-core", "clap"], "clap # arguments", &[]);
        check_binary(&["clap", "memchr"], "clap # arguments", &["list"]);
        check_binary(&["clap"], "clap # arguments\nmemchr # search", &["list:2"]);
        check_binary(&["clap"], "clap", &["list:1"]);
        check_binary(&["tokio"], "tokio # please", &["orange"]);
    }
}
