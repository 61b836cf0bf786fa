//! `cargo xtask tidy`: the rules of this repository that no compiler checks, each with a remedy.

mod arrows;
mod circles;
mod docs;
mod lists;
mod packages;
mod prose;
mod rooms;
mod sources;
mod words;

use std::process::ExitCode;

use crate::Result;
use crate::workspace::{OwnRepository, TextFile, members};

/// A breach of a rule.
#[derive(Debug, PartialEq, Eq)]
struct RuleBreach {
    /// The file, or the file and line, or the package.
    place: String,
    problem: String,
    /// The change that mends it.
    remedy: &'static str,
}

impl RuleBreach {
    fn new(place: impl Into<String>, problem: impl Into<String>, remedy: &'static str) -> RuleBreach {
        RuleBreach { place: place.into(), problem: problem.into(), remedy }
    }
}

pub(crate) fn run(workspace: &OwnRepository) -> Result<ExitCode> {
    Ok(if report(workspace)? == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints every finding and says how many there are.
pub(crate) fn report(workspace: &OwnRepository) -> Result<usize> {
    let findings = findings(workspace)?;
    for RuleBreach { place, problem, remedy } in &findings {
        println!("{place}: {problem}\n    {remedy}");
    }
    println!(
        "tidy: {}",
        if findings.is_empty() { "in order".to_string() } else { format!("{} to mend", findings.len()) }
    );
    Ok(findings.len())
}

fn findings(workspace: &OwnRepository) -> Result<Vec<RuleBreach>> {
    let paths = workspace.paths()?;
    let read = |extension: &str| -> Result<Vec<TextFile>> {
        paths.iter().filter(|path| path.ends_with(extension)).map(|path| workspace.read(path)).collect()
    };
    let (rust, manifests) = (read(".rs")?, read("Cargo.toml")?);
    let packages = members(workspace)?;
    let mut findings = arrows::declared(&packages);
    findings.extend(arrows::compiler(workspace)?);
    findings.extend(arrows::no_fail_points(&workspace.features()?));
    findings.extend(arrows::binaries(workspace)?);
    findings.extend(sources::all(&rust, &workspace.read(sources::LONG_FILES)?));
    findings.extend(packages::reach_outside(&packages, &rust));
    findings.extend(packages::cannot_be_published(&packages));
    findings.extend(rooms::climbs(&rust));
    findings.extend(circles::circles(&rust));
    findings.extend(words::all(&rust));
    findings.extend(docs::all(&rust));
    // A file that is not UTF-8 is the input of a test.
    let others = paths.iter().filter(|path| words::READ.iter().any(|end| path.ends_with(end)));
    findings.extend(words::all(&others.filter_map(|path| workspace.read(path).ok()).collect::<Vec<_>>()));
    findings.extend(manifests.iter().filter_map(sources::lints_are_the_workspaces));
    findings.extend(lists::fixtures_are_used(&paths, &rust));
    findings.extend(lists::golden_have_sources(&paths));
    findings.extend(lists::pages_are_registered(&paths, &rust));
    Ok(findings)
}

/// The entries of a committed list: one name a line, then `#` and the reason for it.
fn entries(list: &TextFile) -> impl Iterator<Item = ListEntry<'_>> {
    list.text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty() && !line.starts_with('#')).map(
        |(line, number)| {
            let (name, reason) = line.split_once('#').unwrap_or((line, ""));
            ListEntry { name: name.trim(), reason: reason.trim(), place: format!("{}:{number}", list.path) }
        },
    )
}

/// One line of a committed list.
struct ListEntry<'l> {
    name: &'l str,
    reason: &'l str,
    place: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_names_reasons_and_places() {
        let list = TextFile {
            path: "l.txt".to_string(),
            text: "# What this is.\n\nclap # arguments\nmemchr\n".to_string(),
        };
        let read: Vec<_> = entries(&list).map(|entry| (entry.name, entry.reason, entry.place)).collect();
        assert_eq!(
            read,
            [("clap", "arguments", "l.txt:3".to_string()), ("memchr", "", "l.txt:4".to_string())]
        );
    }
}
