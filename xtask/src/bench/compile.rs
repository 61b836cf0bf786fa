//! Times the compilation of `workflow!`, beside the usual way to read YAML.

use std::path::{Path, PathBuf};

use super::processes::{MeasuredRuns, text, write};
use super::{BenchPrograms, FigureRow};
use crate::Result;
use crate::workspace::OwnRepository;

/// A package that uses the macro, or does not.
struct BuiltPackage {
    folder: PathBuf,
}

pub(super) fn rows(
    workspace: &OwnRepository,
    built: &BenchPrograms,
    scratch: &Path,
    quick: bool,
) -> Result<Vec<FigureRow>> {
    let of_ours =
        |name: &str, path: &str| format!("{name} = {{ path = {:?} }}\n", text(&workspace.root.join(path)));
    let ours = of_ours("orange-core", "engine/core") + &of_ours("orange-macros", "macros");
    let with =
        BuiltPackage::new(workspace, scratch, "with", &ours, "orange_macros::workflow!(\"default.yml\");\n")?;
    let without = BuiltPackage::new(workspace, scratch, "without", &ours, "")?;
    let theirs = "serde = { version = \"1\", features = [\"derive\"] }\nserde_yaml = \"0.9\"\n";
    let peer = BuiltPackage::new(workspace, scratch, "peer", theirs, "")?;
    let rounds = if quick { 1 } else { 3 };
    let mut clean = MeasuredRuns::new(rounds, built);
    clean.ask(
        "workflow!, a clean build",
        &[],
        &with.rebuilt(rounds).each_ref().map(String::as_str),
        "at most 5 s of cpu",
        Some(|it, _| it.cpu <= 5_000.0),
    );
    let mut rows = clean.measure()?;
    let mut beside = MeasuredRuns::new(rounds, built);
    let what = "serde_yaml with derive, a clean build";
    beside.ask(what, &[], &peer.rebuilt(rounds).each_ref().map(String::as_str), "", None);
    match beside.measure() {
        Ok(row) => rows.extend(row),
        Err(why) => println!("serde_yaml is not measured: {why}"),
    }
    let mut edited = MeasuredRuns::new(5 * rounds, built);
    let what = "an edit in a package without it, built again";
    edited.ask(what, &[], &without.edited().each_ref().map(String::as_str), "", None);
    edited.ask(
        "workflow!, an edit beside it, built again",
        &[],
        &with.edited().each_ref().map(String::as_str),
        "at most 50 ms over that",
        Some(|it, floor| it.wall <= floor.wall + 50.0),
    );
    rows.extend(edited.measure()?);
    Ok(rows)
}

impl BuiltPackage {
    fn new(
        workspace: &OwnRepository,
        scratch: &Path,
        name: &str,
        dependencies: &str,
        code: &str,
    ) -> Result<BuiltPackage> {
        let folder = scratch.join("compile").join(name);
        std::fs::create_dir_all(folder.join("src"))
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        let manifest = format!(
            "[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n{dependencies}"
        );
        write(&folder.join("Cargo.toml"), &manifest)?;
        write(&folder.join("Cargo.lock"), &workspace.read("Cargo.lock")?.text)?;
        write(&folder.join("default.yml"), &workspace.read("workflows/default.yml")?.text)?;
        write(&folder.join("src/lib.rs"), code)?;
        Ok(BuiltPackage { folder })
    }

    /// Builds the package and its dependencies, each time in a new folder.
    fn rebuilt(&self, rounds: usize) -> [String; 6] {
        let targets: Vec<String> =
            (0..rounds).map(|round| text(&self.folder.join(format!("target-{round}")))).collect();
        [
            "cargo",
            "build",
            "--manifest-path",
            &text(&self.folder.join("Cargo.toml")),
            "--target-dir",
            &targets.join("|"),
        ]
        .map(str::to_string)
    }

    /// Adds a line to its code and builds it again.
    fn edited(&self) -> [String; 4] {
        let edit =
            "cd \"$0\" && echo '// Another line.' >> src/lib.rs && exec cargo build --target-dir target-0";
        ["sh", "-c", edit, &text(&self.folder)].map(str::to_string)
    }
}
