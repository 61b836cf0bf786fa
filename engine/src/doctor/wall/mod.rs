//! `orange doctor --wall`: makes a wall and attacks it.

mod attack;
mod lab;
#[cfg(test)]
mod tests;

use orange_core::wall::Level;

use super::{CheckData, CheckFinding, FindingLevel};
use crate::app::App;
use crate::drive::wall::Bubblewrap;
use crate::store::effective::effective;
use crate::{Error, ErrorKind, Result};
use orange_system::exec::ProgramCall;

pub use attack::{AttackResult, AttackTargets};
use lab::WallLab;

/// The name of the check.
const CHECK: &str = "wall";

/// A finding for each attack on a wall as agents have it, or the reason for which none can be made here.
pub fn examine(app: &App) -> Vec<CheckFinding> {
    match attacked(app) {
        Ok(results) => results.into_iter().map(finding).collect(),
        Err(error) => vec![CheckFinding {
            check: CHECK,
            level: FindingLevel::Broken,
            message: error.message.clone(),
            remedy: error.help.clone(),
        }],
    }
}

/// Checks that walls can be made, if a project wants them.
pub(super) fn walls(seen: &CheckData<'_>) -> Result<Vec<CheckFinding>> {
    let mut wanted = Vec::new();
    for project in seen.projects()? {
        if effective(&seen.app.home, project)?.sandbox.level.value == Level::Wall {
            wanted.push(project.name.as_str());
        }
    }
    if wanted.is_empty() {
        return Ok(vec![CheckFinding::fine("no project wants a wall around its agents")]);
    }
    let path = seen.app.path();
    let wanted = wanted.join(", ");
    let made = Bubblewrap::find(path, seen.app.home.root()).and_then(|bubblewrap| bubblewrap.check(path));
    Ok(vec![match made {
        Ok(()) => CheckFinding::fine(format!("walls can be made here, for {wanted}")),
        Err(error) => {
            let finding = CheckFinding::of(FindingLevel::Broken, &error);
            CheckFinding {
                message: format!("no agent of {wanted} can start: {}", finding.message),
                ..finding
            }
        }
    }])
}

/// Makes the attacks on everything that these words describe, and answers with their results as JSON.
pub fn attack(targets: &str) -> Result<String> {
    let wrong = |cause| Error::new(ErrorKind::Usage, format!("these are not targets of attacks: {cause}"));
    let targets: AttackTargets = serde_json::from_str(targets).map_err(wrong)?;
    serde_json::to_string(&attack::attack(&targets)).map_err(wrong)
}

fn attacked(app: &App) -> Result<Vec<AttackResult>> {
    let bubblewrap = Bubblewrap::find(app.path(), app.home.root())?;
    bubblewrap.check(app.path())?;
    let lab = WallLab::make()?;
    let within = bubblewrap.around(&lab.plan(&app.program), &lab.variables(app.path()))?;
    let targets = serde_json::to_string(&lab.targets()?).map_err(|cause| {
        Error::new(ErrorKind::Environment, format!("the targets of attacks cannot be written: {cause}"))
    })?;
    lab.results(ProgramCall::new(&app.program).args(["agent", "attack", &targets]), within)
}

fn finding(AttackResult { name, held }: AttackResult) -> CheckFinding {
    let (level, message, remedy) = match held {
        Some(true) => (FindingLevel::Fine, format!("held: {name}"), ""),
        Some(false) => (FindingLevel::Broken, format!("an agent in a wall can {name}"), REMEDY),
        None => (FindingLevel::Warning, format!("not tried, its program is missing: {name}"), ""),
    };
    CheckFinding { check: CHECK, level, message, remedy: remedy.to_owned() }
}

const REMEDY: &str =
    "give walled agents no secret here, and report this with the versions of the kernel and of bwrap";
