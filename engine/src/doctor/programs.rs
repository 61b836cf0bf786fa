//! Checks of the programs that agents need, and of the projects' repositories.

use std::collections::BTreeSet;

use orange_core::forge::ForgeKind;

use crate::Result;
use crate::doctor::{CheckData, CheckFinding, FindingLevel, or_fine};
use crate::drive::git::{Git, TASK_FILE};
use crate::drive::harness::{self, Harness};
use crate::store::effective::effective;
use crate::store::projects::Project;
use crate::store::work_item::DEFAULT_HARNESS;
use orange_system::exec::find_on_path;
use orange_system::files::is_same;

pub(super) fn tmux(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    seen.app.tmux.check()?;
    let version = seen.app.tmux.version()?;
    Ok(vec![CheckFinding::fine(
        version.map_or_else(|| "tmux".to_owned(), |version| format!("tmux {version}")),
    )])
}

pub(super) fn git(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let git = Git::at(seen.app.home.root());
    git.check()?;
    Ok(vec![CheckFinding::fine(format!("git {}", git.version()?))])
}

/// Agents find `orange` in any case: their PATH begins with its folder.
pub(super) fn path(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let program = &seen.app.program;
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let folder = program.parent().unwrap_or(program).display();
    let export = format!("`export PATH=\"{folder}:$PATH\"`, and in your shell's profile, such as ~/.profile");
    Ok(vec![match find_on_path(&name, seen.app.path()) {
        Some(file) if is_same(&file, program) => CheckFinding::fine(format!("{name}: {}", file.display())),
        Some(file) => {
            let message = format!("PATH has another {name} first: {}", file.display());
            CheckFinding::new(FindingLevel::Warning, message).remedy(format!("remove that one, or {export}"))
        }
        None => {
            let message = format!("{folder} is not on PATH: your shell does not find {name}");
            CheckFinding::new(FindingLevel::Warning, message).remedy(export)
        }
    }])
}

pub(super) fn gh(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    forge(seen, ForgeKind::GitHub)
}

pub(super) fn glab(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    forge(seen, ForgeKind::GitLab)
}

/// The program of the forge of each project. Without projects, it is that of GitHub.
fn forge(seen: &CheckData<'_>, kind: ForgeKind) -> Result<Vec<CheckFinding>> {
    let projects = seen.projects()?;
    // Other checks report why the forge of a project cannot be found.
    let of = |project: &Project| seen.app.forge_of(project).map_or(ForgeKind::default(), |it| it.kind());
    let names: Vec<&str> =
        projects.iter().filter(|project| of(project) == kind).map(|project| project.name.as_str()).collect();
    let (program, forge) = (kind.program(), kind.name());
    if names.is_empty() && !(projects.is_empty() && kind == ForgeKind::default()) {
        return Ok(vec![CheckFinding::fine(format!("{program}: no project is on {forge}"))]);
    }
    Ok(vec![match find_on_path(program, seen.app.path()) {
        Some(file) => CheckFinding::fine(format!("{program}: {}", file.display())),
        None => {
            let of = if names.is_empty() { String::new() } else { format!(" of {}", names.join(", ")) };
            let message = format!("no {program}: pull requests{of} are neither opened nor followed");
            CheckFinding::new(FindingLevel::Warning, message)
        }
    }])
}

/// The harnesses of the new tasks of a project.
pub(super) fn default_harnesses(seen: &CheckData<'_>, project: &Project) -> Result<Vec<String>> {
    let settings = effective(&seen.app.home, project)?;
    Ok(vec![settings.worker().to_owned(), settings.reviewer().to_owned()])
}

/// Checks the harnesses of unfinished tasks and missions, and those of new tasks of each project; of all others, one suffices.
pub(super) fn harnesses(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let path = seen.app.path();
    let flaw = |name: &String| seen.app.harness(name).and_then(|found| found.check(path)).err();
    let tasks = seen.unfinished()?.into_iter();
    let mut used: BTreeSet<String> =
        tasks.flat_map(|task| seen.app.harnesses_of(task)).map(str::to_owned).collect();
    let mut broken: Vec<CheckFinding> =
        used.iter().filter_map(flaw).map(|error| CheckFinding::of(FindingLevel::Broken, &error)).collect();
    for project in seen.projects()? {
        for name in default_harnesses(seen, project)? {
            if used.insert(name.clone()) {
                let lacks = |error| {
                    let finding = CheckFinding::of(FindingLevel::Warning, &error);
                    CheckFinding {
                        message: format!("new tasks of {}: {}", project.name, finding.message),
                        ..finding
                    }
                };
                broken.extend(flaw(&name).map(lacks));
            }
        }
    }
    let known = harness::all(&seen.app.home.harnesses_toml())?;
    let there = known.iter().filter(|harness| harness.check(path).is_ok());
    let there: Vec<&str> = there.map(|harness| harness.name.as_str()).collect();
    if there.is_empty() && broken.is_empty() {
        let error = seen.app.harness(DEFAULT_HARNESS)?.check(path).err();
        return Ok(error.iter().map(|error| CheckFinding::of(FindingLevel::Warning, error)).collect());
    }
    let used = known.iter().filter(|harness| used.contains(&harness.name));
    broken.extend(
        used.filter(|harness| harness.check(path).is_ok()).filter_map(|harness| silent(seen, harness)),
    );
    Ok(or_fine(broken, format!("on PATH: {}", there.join(", "))))
}

/// The finding about a harness that could report what its agents do, and does not here.
fn silent(seen: &CheckData<'_>, harness: &Harness) -> Option<CheckFinding> {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if !harness.has_reports() {
        return None;
    }
    let why = harness.why_silent(seen.app.path(), is_set)?;
    let name = &harness.name;
    let message = format!("agents of {name} do not report what they do: {why}");
    let remedy = "what they do is guessed from their screens; docs/agents.md names the versions that report";
    Some(CheckFinding::new(FindingLevel::Warning, message).remedy(remedy))
}

pub(super) fn projects(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let projects = seen.projects()?;
    let mut findings = Vec::new();
    for project in projects {
        let git = Git::at(&project.path);
        if !project.path.is_dir() {
            let message = format!("{}: {} is gone", project.name, project.path.display());
            let remedy = format!(
                "`orange project update {} --path PATH` says where it is, and links its worktrees to it",
                project.name
            );
            findings.push(CheckFinding::new(FindingLevel::Broken, message).remedy(remedy));
        } else if let Err(error) =
            git.top_level().and_then(|_| git.check_branch_exists(&project.default_branch))
        {
            let finding = CheckFinding::of(FindingLevel::Broken, &error);
            findings
                .push(CheckFinding { message: format!("{}: {}", project.name, finding.message), ..finding });
        } else if git.tracks(&project.default_branch, &project.default_branch, TASK_FILE)? {
            let message =
                format!("{}: `{}` has a {TASK_FILE} of its own in git", project.name, project.default_branch);
            findings.push(CheckFinding::new(FindingLevel::Broken, message).remedy(format!(
                "no task of it can start: `git rm {TASK_FILE}` there, or `git mv` where it is the project's own; commit and push"
            )));
        }
        let unused = effective(&seen.app.home, project)?.trust.warning(&project.name);
        let remedy = format!("read it, and agree to it: `orange project trust {}`", project.name);
        findings.extend(unused.map(|unused| CheckFinding::new(FindingLevel::Warning, unused).remedy(remedy)));
    }
    let names: Vec<&str> = projects.iter().map(|project| project.name.as_str()).collect();
    let fine = if names.is_empty() { "none yet".to_owned() } else { names.join(", ") };
    Ok(or_fine(findings, fine))
}

pub(super) fn identity(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let mut findings = Vec::new();
    for project in seen.projects()?.iter().filter(|project| project.path.is_dir()) {
        if let Err(error) = Git::at(&project.path).check_identity() {
            findings.push(CheckFinding::of(FindingLevel::Broken, &error));
        }
    }
    Ok(or_fine(findings, "git knows who commits"))
}
