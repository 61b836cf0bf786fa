//! `orange doctor`: what its checks find, with what to do about it.

use serde_json::{Value, json};

use crate::Kind;
use crate::app::App;
use crate::cmd::answer::{Answer, one_line};
use crate::doctor::{self, Finding, Level};

/// Runs every check. Something broken makes the exit status that of the environment.
pub fn run(app: &App) -> Answer {
    let findings = doctor::examine(app);
    let worst = findings.iter().map(|finding| finding.level).max().unwrap_or(Level::Fine);
    let json = json!({
        "healthy": worst != Level::Broken,
        "findings": findings.iter().map(to_json).collect::<Vec<Value>>(),
    });
    let lines: Vec<String> = findings.iter().map(told).collect();
    let answer = Answer::new(json, lines.join("\n"));
    if worst == Level::Broken { answer.wrong(Kind::Environment) } else { answer }
}

fn to_json(finding: &Finding) -> Value {
    json!({
        "check": finding.check,
        "level": word(finding.level),
        "message": finding.message,
        "remedy": Some(&finding.remedy).filter(|remedy| !remedy.is_empty()),
    })
}

fn told(finding: &Finding) -> String {
    let Finding { check, level, message, remedy } = finding;
    let line = format!("{:<8} {check:<12} {}", word(*level), one_line(message, 1000));
    if remedy.is_empty() { line } else { format!("{line}\n{:<21} → {remedy}", "") }
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Fine => "ok",
        Level::Warning => "warning",
        Level::Broken => "broken",
    }
}
