//! `orange step`: what the agent of a step asks and reports.

use orange_core::mission::Report;
use orange_core::plan::{self, Inputs};

use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::{CompleteArgs, MissionName, StepCommand};
use crate::cmd::{mission, stdin};
use crate::flow::mission::Projection;
use crate::flow::mission::attempt::{AttemptReport, Claim, OwnAttempt, ReportEffect, own, report};
use crate::store::{WorkItem, WorkItemDir};
use crate::{Error, ErrorKind, Result};
use orange_api::{DeclaredValue, ReportedStep, ShownStep, Success};

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
        StepCommand::Complete(args) => {
            let outputs = outputs(app, &dir, args)?;
            let CompleteArgs { result, summary, warning, .. } = args;
            let summary = text(summary, "the summary")?;
            let report = Report {
                result: result.clone(),
                summary,
                warning: warning.clone().filter(|it| !it.trim().is_empty()),
                outputs,
                answer: None,
            };
            reported(app, &dir, AttemptReport::Completed(report))
        }
        StepCommand::Fail { reason } => {
            reported(app, &dir, AttemptReport::Failed(text(reason, "the reason")?))
        }
    }
}

/// The outputs that an agent reports.
fn outputs(app: &App, dir: &WorkItemDir, args: &CompleteArgs) -> Result<Inputs> {
    if let Some(given) = &args.outputs_json {
        if given == "-" && args.summary == "-" {
            return Err(Error::new(
                ErrorKind::Usage,
                "the summary and the outputs cannot both come from standard input",
            )
            .help("give one of the two as an argument"));
        }
        let text = stdin::or_text(given, "the outputs")?;
        return serde_json::from_str(&text).map_err(|cause| {
            Error::new(ErrorKind::Usage, format!("the outputs are not as expected: {cause}")).help(
                "give a JSON object of texts, whole numbers, true or false, and lists of texts: {\"risk\": \"low\"}",
            )
        });
    }
    if args.outputs.is_empty() {
        return Ok(Inputs::new());
    }
    let (task, journal) = WorkItem::read_last(&app.home, dir, 0)?;
    let history = journal.history();
    let spawn = app.caller.check_step(&app.home, &app.folder, &task)?;
    let OwnAttempt { step, .. } = own(&history, spawn, &Claim::from_env())?;
    let projection = Projection::of(dir, &history)?;
    let declared = projection.plan.step_named(&step).map_or(&[][..], |id| projection.plan.outputs_of(id));
    let declared: Vec<_> = declared.iter().map(|it| (it.name, it.kind)).collect();
    plan::given(&declared, args.outputs.iter().cloned()).map_err(|fault| {
        Error::new(ErrorKind::Usage, fault.words("output"))
            .help("`orange step show` lists what the step reports: correct it and report again")
    })
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
        is_current: projection.works_at(id, attempt),
        item: projection.mission.item(id, attempt).map(str::to_owned),
        needs_result: projection.plan.needs_result(id),
        results,
        outputs: projection.plan.outputs_of(id).iter().map(DeclaredValue::of_output).collect(),
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
    let outputs: String = step.outputs.iter().map(|it| format!(" --output {}=VALUE", it.name)).collect();
    let results = format!("{results}{outputs}");
    let current = if step.is_current { "" } else { "; it is over, stop here" };
    let mut lines = vec![format!(
        "{}  step {} ({}), attempt {}{current}",
        step.mission, step.step, step.title, step.attempt
    )];
    lines.extend(step.item.iter().map(|it| format!("item       {it}")));
    lines.extend([
        format!("prompt     {}", step.prompt),
        format!("branch     {}", step.branch),
        format!("ends by    orange step complete{results} --summary -"),
        "       or  orange step fail --reason -".to_owned(),
    ]);
    if !step.context.is_empty() {
        lines.push(format!("\n{}", step.context.trim_end()));
    }
    lines.join("\n")
}
