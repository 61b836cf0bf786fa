//! The commands of a walk: one a line, in scripts, at the prompt and in proofs.

use orange_codegen::suggest;
use orange_core::mission::Report;
use orange_core::plan::{self, Inputs, Plan, StepId, ValueType, WorktreeUse};

use crate::missions::{self, MissionAct, PauseReply};

/// One line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Something that happens.
    Act(MissionAct),
    /// Begin another mission, with these inputs.
    Start(Inputs),
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
start [NAME=VALUE]...              begin another mission, with these inputs
complete STEP [RESULT] [NAME=VALUE]...[: SUMMARY]
                                   the agent of a step completes it, with outputs; \\n begins a new line
warn STEP [RESULT]: WARNING        the same, with a warning
conflict STEP …                    the same as `complete`, and its own branch does not merge
fail STEP[: REASON]                the agent of a step reports a failure
answer STEP ANSWER[: COMMENT]      a person answers the question of a step
expire STEP                        nobody answers the question of a step in time
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
        let (head, text) = parts(line);
        let text = text.trim().replace("\\n", "\n");
        let all = words(head);
        let words: Vec<&str> = all.iter().map(String::as_str).collect();
        let command = match &words[..] {
            ["start", values @ ..] => {
                let declared: Vec<_> = plan.inputs.iter().map(|it| (it.name, it.kind)).collect();
                Command::Start(given(&declared, values, "input")?)
            }
            ["complete" | "warn" | "conflict", step, said @ ..] => {
                let step = named(plan, step)?;
                if words[0] == "conflict" && plan.step(step).worktree != WorktreeUse::Own {
                    return Err(format!("`{}` has no worktree of its own", plan.step(step).id));
                }
                let (values, results): (Vec<&str>, Vec<&str>) = said.iter().partition(|it| it.contains('='));
                let result = match &results[..] {
                    [] => None,
                    [result] => Some((*result).to_owned()),
                    [..] => return Err(format!("`{head}` has two results; an output is `NAME=VALUE`")),
                };
                let declared: Vec<_> = plan.outputs_of(step).iter().map(|it| (it.name, it.kind)).collect();
                let outputs = given(&declared, &values, "output")?;
                let (summary, warning) = match words[0] {
                    "warn" => (String::new(), Some(text)),
                    _ => (text, None),
                };
                let report = Report { result, summary, warning, outputs, answer: None };
                Command::Act(match words[0] {
                    "conflict" => MissionAct::Conflict(step, report),
                    _ => MissionAct::Complete(step, report),
                })
            }
            ["fail", step] => Command::Act(MissionAct::Fail(named(plan, step)?, text)),
            ["answer", step, word] => {
                Command::Act(missions::answer(plan, named(plan, step)?, (*word).to_owned(), text))
            }
            ["expire", step] => Command::Act(MissionAct::Expire(named(plan, step)?)),
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

/// The values of `NAME=VALUE` words.
pub(crate) fn given(
    declared: &[(&str, ValueType<'_>)],
    words: &[&str],
    kind: &str,
) -> Result<Inputs, String> {
    let pairs = words.iter().map(|it| it.split_once('=').ok_or_else(|| format!("`{it}` is not NAME=VALUE")));
    let pairs: Vec<(&str, &str)> = pairs.collect::<Result<_, String>>()?;
    let pairs = pairs.into_iter().map(|(name, value)| (name.to_owned(), value.replace("\\n", "\n")));
    plan::given(declared, pairs).map_err(|fault| fault.words(kind))
}

/// A line before its first colon outside of quotes, and what follows.
fn parts(line: &str) -> (&str, &str) {
    let mut is_quoted = false;
    let colon = line.char_indices().find(|(_, it)| {
        is_quoted ^= *it == '\'';
        *it == ':' && !is_quoted
    });
    colon.map_or((line, ""), |(at, _)| (&line[..at], &line[at + 1..]))
}

/// The words of a text. A blank between single quotes ends no word, and the quotes are left out.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for next in text.chars() {
        match next {
            '\'' => is_quoted = !is_quoted,
            _ if next.is_whitespace() && !is_quoted => words.push(String::new()),
            _ => words.iter_mut().last().into_iter().for_each(|it| it.push(next)),
        }
    }
    words.retain(|it| !it.is_empty());
    words
}
