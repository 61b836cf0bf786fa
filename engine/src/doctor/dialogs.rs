//! Checks for what would stop an agent at its start: dialogs, a missing login, root; and for the skill that prompts name.

use std::collections::BTreeSet;

use crate::Result;
use crate::doctor::programs::default_harnesses;
use crate::doctor::{CheckData, CheckFinding, FindingLevel, or_fine};
use crate::setup::{self, Matter, Remedy, SetupRecord, skill};

pub(super) fn dialogs(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    open(seen, &["trust", "bypass", "key"], "every question that agents ask at their start has an answer")
}

pub(super) fn logins(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    open(seen, &["login"], "agents are logged in, as far as their files say")
}

pub(super) fn root(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    open(seen, &["root"], "no agent is refused for running as root")
}

pub(super) fn skills(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let around = seen.app.around()?;
    let names: BTreeSet<String> = used(seen)?.into_iter().map(|(harness, _)| harness).collect();
    let findings = names.into_iter().filter_map(|name| {
        let file = skill::missing(&name, &around)?;
        let message = format!("{name} has no orange skill, which every prompt names: {}", file.display());
        let remedy = format!("`orange install --harness {name}` writes it");
        Some(CheckFinding::new(FindingLevel::Warning, message).remedy(remedy))
    });
    Ok(or_fine(findings.collect(), "agents have the orange skill"))
}

/// Each harness that an unfinished task or mission names, or a project for its new ones, with the project.
fn used(seen: &CheckData<'_>) -> Result<BTreeSet<(String, String)>> {
    let tasks = seen.unfinished()?.into_iter();
    let both = tasks.flat_map(|task| [&task.harness, &task.review_harness].map(|it| (it, &task.project)));
    let mut used: BTreeSet<_> = both.map(|(harness, project)| (harness.clone(), project.clone())).collect();
    for project in seen.projects()? {
        let defaults = default_harnesses(seen, project)?;
        used.extend(defaults.into_iter().map(|harness| (harness, project.name.clone())));
    }
    Ok(used)
}

/// The unanswered questions with these names.
fn open(seen: &CheckData<'_>, names: &[&str], fine: &str) -> Result<Vec<CheckFinding>> {
    let (record, around) = (SetupRecord::read(&seen.app.home)?, seen.app.around()?);
    let mut findings = Vec::new();
    for (harness, name) in used(seen)? {
        let Some(project) = seen.projects()?.iter().find(|project| project.name == name) else { continue };
        let matters = setup::matters(&harness, &project.path, &record, &around)?;
        let open = matters.iter().filter(|matter| !matter.is_answered && names.contains(&matter.name));
        findings.extend(open.map(|matter| found(&harness, &name, matter)));
    }
    Ok(or_fine(findings, fine))
}

fn found(harness: &str, project: &str, matter: &Matter) -> CheckFinding {
    let level = if matter.blocks { FindingLevel::Broken } else { FindingLevel::Warning };
    let message = format!("{harness} in {project} has no answer whether it may {}", matter.allows);
    let remedy = match &matter.remedy {
        Remedy::Person(help) => help.clone(),
        Remedy::Argument | Remedy::File { .. } => {
            format!(
                "`orange setup --harness {harness} --yes` agrees to it; `orange setup` shows what that is"
            )
        }
    };
    CheckFinding::new(level, message).remedy(remedy)
}
