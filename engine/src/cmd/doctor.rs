//! `orange doctor`: the findings of its checks, with remedies.

use crate::app::App;
use crate::cmd::answer::{CommandAnswer, one_line};
use crate::doctor::{self, CheckFinding, FindingLevel};
use crate::{ErrorKind, Result};
use orange_api::Diagnosis;

/// Runs every check, or attacks a wall. A broken requirement gives the exit status of the environment.
pub fn run(app: &App, wall: bool) -> Result<CommandAnswer> {
    let findings = if wall { doctor::wall::examine(app) } else { doctor::examine(app) };
    let worst = findings.iter().map(|finding| finding.level).max().unwrap_or(FindingLevel::Fine);
    let is_broken = worst == FindingLevel::Broken;
    let diagnosis =
        Diagnosis { healthy: !is_broken, findings: findings.into_iter().map(to_answer).collect() };
    let lines: Vec<String> = diagnosis.findings.iter().map(describe).collect();
    let answer = CommandAnswer::of(&diagnosis, lines.join("\n"))?;
    Ok(if is_broken { answer.wrong(ErrorKind::Environment) } else { answer })
}

/// A finding as answers have it.
pub fn to_answer(CheckFinding { check, level, message, remedy }: CheckFinding) -> orange_api::Finding {
    let remedy = Some(remedy).filter(|remedy| !remedy.is_empty());
    orange_api::Finding { check: check.into(), level: word(level).into(), message, remedy }
}

/// A finding as people read it.
pub fn describe(orange_api::Finding { check, level, message, remedy }: &orange_api::Finding) -> String {
    let line = format!("{level:<8} {check:<12} {}", one_line(message, 1000));
    remedy.iter().fold(line, |line, remedy| format!("{line}\n{:<21} → {remedy}", ""))
}

fn word(level: FindingLevel) -> &'static str {
    match level {
        FindingLevel::Fine => "ok",
        FindingLevel::Warning => "warning",
        FindingLevel::Broken => "broken",
    }
}
