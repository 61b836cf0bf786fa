//! The commands of a walk: one a line, in scripts, at the prompt and in proofs.

use orange_codegen::suggest;
use orange_core::mission::Report;
use orange_core::plan::{Plan, StepId};

use crate::missions::{MissionAct, PauseReply};

/// One line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Something that happens.
    Act(MissionAct),
    /// Show what can happen now.
    Next,
    /// Show the mission.
    Show,
    /// Show what the prompt of a step says under `{{context}}`.
    Context(StepId),
    /// Take the last command back.
    Back,
    /// Show these commands.
    Help,
    Quit,
}

/// Help text that lists the commands.
pub const HELP: &str = "\
complete STEP [RESULT][: SUMMARY]  the agent of a step completes it; \\n begins a new line
warn STEP [RESULT]: WARNING        the same, with a warning
fail STEP[: REASON]                the agent of a step reports a failure
lose STEP                          the agent of a step ends without a word
continue, accept [PAUSE]           answer a pause, by default the oldest; take the failure as it is
retry [STEP]                       run a failed mission again
cancel                             end the mission
next, show, context STEP           look at what can happen, at the mission, at a context
back, help, quit                   take a step back, show this, stop
";

impl Command {
    /// Reads a line; `None` of an empty one and of a comment.
    ///
    /// # Errors
    /// What cannot be read, in a sentence.
    pub fn parse(plan: &Plan<'_>, line: &str) -> Result<Option<Command>, String> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let (head, text) = line.split_once(':').unwrap_or((line, ""));
        let text = text.trim().replace("\\n", "\n");
        let words: Vec<&str> = head.split_whitespace().collect();
        let command = match &words[..] {
            ["complete", step] => Command::Act(complete(named(plan, step)?, None, text)),
            ["complete", step, result] => Command::Act(complete(named(plan, step)?, Some(result), text)),
            ["warn", step] => Command::Act(warn(named(plan, step)?, None, text)),
            ["warn", step, result] => Command::Act(warn(named(plan, step)?, Some(result), text)),
            ["fail", step] => Command::Act(MissionAct::Fail(named(plan, step)?, text)),
            ["lose", step] => Command::Act(MissionAct::Lose(named(plan, step)?)),
            ["continue"] => Command::Act(MissionAct::Continue(PauseReply::default())),
            ["accept"] => Command::Act(MissionAct::ACCEPT),
            ["continue", pause] => Command::Act(answer(pause, false)?),
            ["accept", pause] => Command::Act(answer(pause, true)?),
            ["retry"] => Command::Act(MissionAct::Retry(None)),
            ["retry", step] => Command::Act(MissionAct::Retry(Some(named(plan, step)?))),
            ["cancel"] => Command::Act(MissionAct::Cancel),
            ["next"] => Command::Next,
            ["show"] => Command::Show,
            ["context", step] => Command::Context(named(plan, step)?),
            ["back"] => Command::Back,
            ["help"] => Command::Help,
            ["quit"] => Command::Quit,
            _ => return Err(format!("`{head}` is not a command; `help` lists them")),
        };
        Ok(Some(command))
    }
}

/// The step of this name.
///
/// # Errors
/// There is none; the sentence names a similar one.
pub fn named(plan: &Plan<'_>, name: &str) -> Result<StepId, String> {
    plan.step_named(name).ok_or_else(|| {
        let close = suggest::closest(name, plan.steps.iter().map(|it| it.id));
        let close = close.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
        format!("there is no step `{name}`{close}")
    })
}

/// The answer to the pause with this number.
fn answer(pause: &str, accept_failure: bool) -> Result<MissionAct, String> {
    let pause = pause.parse().map_err(|_| format!("`{pause}` is not the number of a pause"))?;
    Ok(MissionAct::Continue(PauseReply { pause: Some(pause), accept_failure, ..PauseReply::default() }))
}

fn complete(step: StepId, result: Option<&str>, summary: String) -> MissionAct {
    MissionAct::Complete(step, Report { result: result.map(str::to_owned), summary, warning: None })
}

fn warn(step: StepId, result: Option<&str>, warning: String) -> MissionAct {
    let report = Report { result: result.map(str::to_owned), summary: String::new(), warning: Some(warning) };
    MissionAct::Complete(step, report)
}
