//! `cargo xtask release`: the archives of a release, their sums, the formula for Homebrew, and `install.sh` with its address.

mod archive;
mod build;
mod formula;
mod target;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use orange_system::atomic;
use orange_workflow::Shell;

use self::archive::{ArchiveMember, SUMS};
use self::formula::{Described, FORMULA};
use self::target::ReleaseTarget;
use crate::Result;
use crate::workspace::OwnRepository;

/// The version of everything in a release.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The script that installs a release.
const INSTALLER: &str = "install.sh";

/// The line of the script that a release completes with the address of the repository.
const INSTALLER_LINE: &str = "\nrepository=\n";

/// The archives of a release for one system: a package, and the programs in it.
const ARCHIVES: [(&str, &[&str]); 2] = [
    ("orange", &["orange", "orange-dashboard", "orange-mcp", "orange-workflow"]),
    ("orange-fleet", &["orange-fleet"]),
];

/// Build the archives of a release, with SHA256SUMS, install.sh and, once every system has its archive, a formula for Homebrew.
///
/// Two builds of one commit give the same bytes. A system for which nothing can be built here is left out, and the exit status is 1.
#[derive(Args)]
#[command(after_help = "\
Examples:
  cargo xtask release
  cargo xtask release --target x86_64-unknown-linux-musl --out dist/release
  cargo xtask release --collect --tag v0.1.0 --repository https://github.com/me/orange")]
pub(crate) struct Release {
    /// Build for this system alone; may be repeated. All four by default
    #[arg(long = "target", value_name = "TARGET", value_enum)]
    targets: Vec<ReleaseTarget>,

    /// The folder for the archives; `dist/release` by default
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Pack the programs of this folder instead of building them
    #[arg(long, value_name = "DIR")]
    programs: Option<PathBuf>,

    /// Build nothing: write what belongs to the archives that are in the folder already
    #[arg(long, conflicts_with_all = ["targets", "programs"])]
    collect: bool,

    /// The tag of the release; another one than that of the version is refused
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,

    /// The address of the repository; the one in Cargo.toml by default
    #[arg(long, value_name = "URL", default_value = env!("CARGO_PKG_REPOSITORY"))]
    repository: String,
}

pub(crate) fn run(workspace: &OwnRepository, arguments: &Release) -> Result<ExitCode> {
    if let Some(tag) = &arguments.tag {
        let expected = format!("v{VERSION}");
        if *tag != expected {
            return Err(format!("the tag {tag} is not {expected}, which the version in Cargo.toml asks for"));
        }
    }
    let out = arguments.out.clone().unwrap_or_else(|| workspace.root.join("dist/release"));
    let out = std::path::absolute(out).map_err(|error| format!("--out leads nowhere: {error}"))?;
    fs::create_dir_all(&out).map_err(|error| format!("{} cannot be made: {error}", out.display()))?;
    let targets = match (arguments.collect, arguments.targets.as_slice()) {
        (true, _) => &[],
        (false, []) => ReleaseTarget::ALL.as_slice(),
        (false, some) => some,
    };
    let mut left_out = Vec::new();
    for target in targets {
        if let Some(reason) = build_and_pack(workspace, *target, arguments, &out)? {
            left_out.push(format!("LEFT OUT: {}: {reason}", target.triple()));
        }
    }
    left_out.iter().for_each(|line| eprintln!("{line}"));
    finish(workspace, arguments, &out)?;
    Ok(if left_out.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Writes both archives for a target, or gives the reason why they cannot be built here.
fn build_and_pack(
    workspace: &OwnRepository,
    target: ReleaseTarget,
    arguments: &Release,
    out: &Path,
) -> Result<Option<String>> {
    let programs = arguments.programs.as_deref();
    if let Some(obstacle) = programs.is_none().then(|| target.obstacle(build::tools(target))).flatten() {
        return Ok(Some(obstacle));
    }
    let time = build::time(workspace)?;
    for (package, names) in ARCHIVES {
        let mut members = beside(workspace, package)?;
        for name in names {
            let built = match programs {
                Some(folder) => folder.join(name),
                None => build::program(workspace, target, name, time)?,
            };
            let bytes = read(&built)?;
            members.push(ArchiveMember { path: format!("bin/{name}"), is_program: true, bytes });
        }
        let folder = archive::folder(package, VERSION, target.triple());
        write(
            &out.join(archive::name(package, VERSION, target.triple())),
            &archive::packed(&folder, members, time)?,
        )?;
    }
    Ok(None)
}

/// Everything in an archive that is not a program.
fn beside(workspace: &OwnRepository, package: &str) -> Result<Vec<ArchiveMember>> {
    let member =
        |path: String, text: String| ArchiveMember { path, is_program: false, bytes: text.into_bytes() };
    let mut members = Vec::new();
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        members.push(member(format!("share/doc/{package}/{licence}"), workspace.read(licence)?.text));
    }
    if package == "orange" {
        let pages = orange_engine::manual::of_orange();
        let mut pages: BTreeMap<String, String> = pages.into_iter().map(|it| (it.file, it.text)).collect();
        // `orange workflow` is a group of commands, and `orange-workflow` a program.
        let others = orange_workflow::of_orange_workflow();
        pages.extend(others.into_iter().map(|it| (it.file, it.text)));
        members.extend(pages.into_iter().map(|(name, page)| member(format!("share/man/man1/{name}"), page)));
        members.extend(["orange", "orange-workflow"].into_iter().flat_map(|program| {
            let script = |path: String, shell: Shell| member(path, shell.script(program));
            [
                script(format!("share/bash-completion/completions/{program}"), Shell::Bash),
                script(format!("share/fish/vendor_completions.d/{program}.fish"), Shell::Fish),
                script(format!("share/zsh/site-functions/_{program}"), Shell::Zsh),
            ]
        }));
    }
    Ok(members)
}

/// Writes what belongs to the archives of this version that are in the folder, by whichever machine they were built.
fn finish(workspace: &OwnRepository, arguments: &Release, out: &Path) -> Result<()> {
    let repository = arguments.repository.trim_end_matches('/');
    let (mut archives, mut sums) = (Vec::new(), Vec::new());
    for target in ReleaseTarget::ALL {
        for (package, _) in ARCHIVES {
            let name = archive::name(package, VERSION, target.triple());
            if !out.join(&name).is_file() {
                continue;
            }
            let bytes = read(&out.join(&name))?;
            if package == "orange" {
                sums.push((target, archive::sum(&bytes)));
            }
            println!("{}  {}", out.join(&name).display(), xtask_build::binary::kibibytes(bytes.len() as u64));
            archives.push((name, bytes));
        }
    }
    if archives.is_empty() {
        return Err(format!(
            "{} has no archive of Orange {VERSION}, so there is nothing to release",
            out.display()
        ));
    }
    if repository.contains(".invalid/") {
        println!(
            "{INSTALLER} and {FORMULA} name {repository}, which leads nowhere: `--repository` takes the address"
        );
    }
    write(&out.join(SUMS), archive::sums(&archives).as_bytes())?;
    write(&out.join(INSTALLER), installer(&workspace.read(INSTALLER)?.text, repository)?.as_bytes())?;
    match formula::rendered(&Described { version: VERSION, repository, sums: &sums }) {
        Ok(formula) => write(&out.join(FORMULA), formula.as_bytes()),
        Err(missing) => {
            println!("{FORMULA} is not written: it needs an archive for {} as well", missing.join(", "));
            Ok(())
        }
    }
}

/// The script with the address of the repository whose releases it installs.
fn installer(script: &str, repository: &str) -> Result<String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ":/._-".contains(letter);
    if !repository.chars().all(is_plain) {
        return Err(format!(
            "{repository} is not an address that a script can have: `--repository` takes one"
        ));
    }
    if script.matches(INSTALLER_LINE).count() != 1 {
        return Err(format!("{INSTALLER} has no line `{}` to complete", INSTALLER_LINE.trim()));
    }
    Ok(script.replacen(INSTALLER_LINE, &format!("\nrepository={repository}\n"), 1))
}

fn read(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).map_err(|error| format!("{} cannot be read: {error}", file.display()))
}

fn write(file: &Path, contents: &[u8]) -> Result<()> {
    atomic::replace(file, contents).map_err(|error| format!("{} cannot be written: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_of_a_release_knows_its_address() {
        let workspace = OwnRepository::find().unwrap();
        let script = workspace.read(INSTALLER).unwrap().text;
        let released = installer(&script, "https://forge.example/o/orange").unwrap();
        assert!(released.contains("\nrepository=https://forge.example/o/orange\n"), "{released}");
        assert!(installer(&script, "https://forge.example/$(touch x)").is_err());
        assert!(installer(&released, "https://forge.example").unwrap_err().contains("has no line"));
        assert!(script.lines().count() <= 120, "{} lines", script.lines().count());
    }

    #[test]
    fn an_archive_has_pages_scripts_and_licences() {
        let workspace = OwnRepository::find().unwrap();
        let paths = |package| {
            let members = beside(&workspace, package).unwrap();
            members.into_iter().map(|member| member.path).collect::<Vec<_>>()
        };
        let orange = paths("orange");
        for path in [
            "share/doc/orange/LICENSE-MIT",
            "share/man/man1/orange-task-create.1",
            "share/man/man1/orange-workflow-check.1",
            "share/bash-completion/completions/orange",
            "share/zsh/site-functions/_orange-workflow",
            "share/fish/vendor_completions.d/orange.fish",
        ] {
            assert!(orange.iter().any(|it| it == path), "{path}: {orange:?}");
        }
        // `install.sh` finds files at this depth.
        assert!(orange.iter().all(|path| path.matches('/').count() == 3), "{orange:?}");
        assert_eq!(
            paths("orange-fleet"),
            ["share/doc/orange-fleet/LICENSE-APACHE", "share/doc/orange-fleet/LICENSE-MIT"]
        );
    }

    #[test]
    fn cargo_binstall_asks_for_the_names_of_a_release() {
        let manifest = OwnRepository::find().unwrap().read("tools/cli/Cargo.toml").unwrap().text;
        let value = |key: &str| {
            let line = manifest.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""));
            let text = line.and_then(|rest| rest.strip_suffix('"')).unwrap();
            let fill =
                [("{ repo }", "https://forge.example/o"), ("{ version }", VERSION), ("{ target }", "T")];
            fill.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
        };
        let file = archive::name("orange", VERSION, "T");
        assert_eq!(value("pkg-url"), formula::address("https://forge.example/o", VERSION, &file));
        assert_eq!(value("bin-dir"), format!("{}/bin/{{ bin }}", archive::folder("orange", VERSION, "T")));
    }
}
