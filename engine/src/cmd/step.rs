//! `orange step`: what the agent of a step asks and reports.

use orange_core::mission::Report;

use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::{CompleteArgs, MissionName, StepCommand};
use crate::cmd::{mission, stdin};
use crate::flow::mission::Projection;
use crate::flow::mission::attempt::{AttemptReport, Claim, OwnAttempt, ReportEffect, own, report};
use crate::store::{WorkItem, WorkItemDir};
use crate::{Error, ErrorKind, Result};
use orange_api::{ReportedStep, ShownStep, Success};

/// Runs a command.
pub fn run(app: &App, command: &StepCommand) -> Result<CommandAnswer> {
    let dir = mission::named_or_here(app, &MissionName { name: None }).map_err(|error| {
        if error.kind != ErrorKind::Usage {
            return error;
        }
        error.help(
            "an agent reports from its mission's worktree; a person answers for it: `orange mission list`",
        )
    })?;
    match command {
        StepCommand::Show => show(app, &dir),
        StepCommand::Complete(CompleteArgs { result, summary, warning }) => {
            let summary = text(summary, "the summary")?;
            let report = Report {
                result: result.clone(),
                summary,
                warning: warning.clone().filter(|it| !it.trim().is_empty()),
            };
            reported(app, &dir, AttemptReport::Completed(report))
        }
        StepCommand::Fail { reason } => {
            reported(app, &dir, AttemptReport::Failed(text(reason, "the reason")?))
        }
    }
}

/// A text that somebody is going to read.
fn text(given: &str, what: &str) -> Result<String> {
    let text = stdin::or_text(given, what)?;
    match text.trim().is_empty() {
        true => Err(Error::new(ErrorKind::Usage, format!("{what} is empty"))
            .help("say in a few sentences what was done: later steps and people read it")),
        false => Ok(text.trim_end().to_owned()),
    }
}

fn reported(app: &App, dir: &WorkItemDir, said: AttemptReport) -> Result<CommandAnswer> {
    let claim = Claim::from_env();
    let (OwnAttempt { step, attempt }, taken) = report(app, dir, &claim, said)?;
    let text = match taken {
        ReportEffect::Counted => format!("step {step}, attempt {attempt}: recorded; stop here"),
        ReportEffect::Repeated => {
            format!("step {step}, attempt {attempt}: this was recorded before; stop here")
        }
    };
    let repeated = taken == ReportEffect::Repeated;
    let answer = ReportedStep { success: Success, mission: dir.id.clone(), step, attempt, repeated };
    CommandAnswer::of(&answer, text)
}

fn show(app: &App, dir: &WorkItemDir) -> Result<CommandAnswer> {
    let (task, journal) = WorkItem::read_last(&app.home, dir, 0)?;
    let history = journal.history();
    let spawn = app.caller.check_step(&app.home, &app.folder, &task)?;
    let OwnAttempt { step: name, attempt } = own(&history, spawn, &Claim::from_env())?;
    let projection = Projection::of(dir, &history)?;
    let Some(id) = projection.plan.step_named(&name) else {
        return Err(Error::new(
            ErrorKind::NotFound,
            format!("{} has no step `{name}`", projection.plan.name),
        ));
    };
    let (step, state) = (projection.plan.step(id), projection.mission.step(id));
    let results: Vec<String> = projection.plan.results_of(id).iter().map(|word| (*word).to_owned()).collect();
    let shown = ShownStep {
        mission: dir.id.clone(),
        workflow: task.owned.workflow,
        title: step.title.to_owned(),
        role: projection.plan.role(step.role).to_owned(),
        status: state.status,
        is_current: state.attempt() == attempt && state.status.is_active(),
        needs_result: projection.plan.needs_result(id),
        results,
        context: projection.mission.context(projection.plan, id),
        prompt: dir.prompt(spawn).display().to_string(),
        branch: task.branch,
        attempt,
        step: name,
    };
    let text = shown_text(&shown);
    CommandAnswer::of(&shown, text)
}

fn shown_text(step: &ShownStep) -> String {
    let results = match &step.results[..] {
        [] if step.needs_result => " --result WORD".to_owned(),
        [] => String::new(),
        words => format!(" --result {}", words.join("|")),
    };
    let current = if step.is_current { "" } else { "; it is over, stop here" };
    let mut lines = vec![
        format!("{}  step {} ({}), attempt {}{current}", step.mission, step.step, step.title, step.attempt),
        format!("prompt     {}", step.prompt),
        format!("branch     {}", step.branch),
        format!("ends by    orange step complete{results} --summary -"),
        "       or  orange step fail --reason -".to_owned(),
    ];
    if !step.context.is_empty() {
        lines.push(format!("\n{}", step.context.trim_end()));
    }
    lines.join("\n")
}
