//! Check of labelled issues that become tasks: rules that admit everyone, and issues that wait for a person.

use orange_core::intake::IntakeAuthors;
use orange_core::{Hook, Machine, Permissions};

use crate::Result;
use crate::doctor::{CheckData, CheckFinding, FindingLevel, or_fine};
use crate::store::effective::effective;
use crate::store::intake::IntakeBook;
use crate::store::projects::Project;
use crate::store::settings::IntakeSettings;

pub(super) fn intake(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let mut findings = Vec::new();
    for project in seen.projects()? {
        for rule in effective(&seen.app.home, project)?.intake.value {
            findings.extend(of_authors(project, &rule));
            let workflow = rule.workflow.as_deref().unwrap_or_else(|| project.workflow());
            findings.push(match seen.app.machines.named(workflow) {
                Ok(machine) if starts_at_full(machine) => at_full(project, &rule, workflow),
                Ok(_) => continue,
                Err(error) => CheckFinding::of(FindingLevel::Broken, &error),
            });
        }
        findings.extend(IntakeBook::read(&seen.app.home, &project.name)?.waiting.values().map(|waiting| {
            let message = format!(
                "issue {} of {} waits for a person: {}",
                waiting.number,
                project.name,
                waiting.rule()
            );
            CheckFinding::new(FindingLevel::Warning, message)
        }));
    }
    Ok(or_fine(findings, "no labelled issue waits for a person"))
}

fn of_authors(project: &Project, rule: &IntakeSettings) -> Option<CheckFinding> {
    let message = format!(
        "authors-anyone: issues of {} with the label {} become tasks, also those that strangers write",
        project.name, rule.label
    );
    let finding = CheckFinding::new(FindingLevel::Warning, message)
        .remedy("set `authors = \"write\"` in [[intake]], or name the people");
    (rule.authors == IntakeAuthors::Anyone).then_some(finding)
}

fn at_full(project: &Project, rule: &IntakeSettings, workflow: &str) -> CheckFinding {
    let message = format!(
        "outsiders-at-full: agents of {workflow} that work on issues of {} with the label {} may do everything without a question",
        project.name, rule.label
    );
    CheckFinding::new(FindingLevel::Warning, message).remedy(
        "give [[intake]] a `workflow` whose agents have `permissions: reduced`, or run agents in a sandbox",
    )
}

/// True if a workflow starts an agent with all permissions.
fn starts_at_full(machine: &Machine<'_>) -> bool {
    let of_transitions = machine.transitions.iter().flat_map(|transition| transition.hooks);
    let mut hooks = of_transitions.chain(machine.states.iter().filter_map(|state| state.respawn.as_ref()));
    hooks.any(|hook| Hook::spawn(hook).is_some_and(|spawn| spawn.permissions == Permissions::Full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authors_anyone_is_a_finding() {
        let project = Project { name: "toy".to_owned(), ..Project::default() };
        let rule = IntakeSettings { label: "agent".to_owned(), ..IntakeSettings::default() };
        assert_eq!(of_authors(&project, &rule), None);
        let found = of_authors(&project, &IntakeSettings { authors: IntakeAuthors::Anyone, ..rule.clone() });
        assert!(found.is_some_and(|it| it.message.starts_with("authors-anyone: issues of toy")));
        assert!(
            at_full(&project, &rule, "default").message.starts_with("outsiders-at-full: agents of default")
        );
    }
}
