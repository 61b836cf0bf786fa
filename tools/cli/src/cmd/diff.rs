//! `diff`: what changes for running tasks when one workflow replaces another.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use orange_analysis::evolution::{self, Comparison, Side};
use orange_analysis::step_changes::step_changes;
use orange_codegen::model::Definition;
use orange_codegen::{Checked, Diagnostic, Source};

use crate::answer::{Answer, Exit, Failure};
use crate::cmd::one;
use crate::home::{self, HomeTasks, Task};
use crate::input::not_both_from_stdin;
use crate::json::{self, DiffAnswer, StrandedTask};
use crate::output::{DiffOutput, changed_steps, changed_steps_short, printable, put};
use crate::report::File;
use crate::screen::{Style, Styles};

/// Print what changes when a new workflow replaces an old one: for running tasks, or for the next missions.
#[derive(Debug, Args)]
#[command(after_help = "\
A change is breaking when a task that is under way may be refused what it was allowed, or stay where it is for ever: a state or a \
transition is gone, a guard or a gate lets less through, an end is none any more. Nothing is said of what stays the same.

Of two step workflows, every difference is listed. It concerns missions that start later: a mission keeps the plan and the prompts with \
which it was started. So nothing breaks.

With --home, the tasks are listed that would be stranded: those that are not over, and whose state is gone or has lost its last transition.

Examples:
  orange-workflow diff workflows/flow.yml flow.yml
  git show HEAD:flow.yml | orange-workflow diff - flow.yml

Exit status: 0 nothing breaks, 1 something does, 2 the work could not be done.")]
pub(crate) struct Diff {
    /// The workflow that tasks were started with; `-` reads it from standard input
    pub old: PathBuf,

    /// The workflow that replaces it; `-` as above
    pub new: PathBuf,

    /// List the tasks of this `ORANGE_HOME` that would be stranded; nothing is changed there
    #[arg(long, value_name = "DIR")]
    pub home: Option<PathBuf>,

    /// Format of the changes
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    pub format: ChangeFormat,
}

/// Format of the changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ChangeFormat {
    /// With the lines of both files that they are about
    Human,
    /// One line each
    Short,
    /// One JSON object
    Json,
}

pub(super) fn run(args: &Diff, styles: Styles) -> Result<Answer, Answer> {
    not_both_from_stdin(&args.old, &args.new)?;
    let (old, checked_old) = workflow(&args.old, styles)?;
    let (new, checked_new) = workflow(&args.new, styles)?;
    if let Some(changes) = step_changes(&checked_old, &checked_new) {
        let answer = DiffAnswer::of_steps((&old.source, &new.source), &changes);
        let out = match args.format {
            ChangeFormat::Human => changed_steps(&answer, styles.out.width),
            ChangeFormat::Short => changed_steps_short(&answer),
            ChangeFormat::Json => json::written(&answer)?,
        };
        return Ok(Answer::text(out));
    }
    let comparison = compared((&old.source, &checked_old), (&new.source, &checked_new))?;
    let home = args.home.as_deref().map(home::read).transpose()?.unwrap_or_default();
    let stranded = stranded(&home, &comparison, (&checked_old, &checked_new));
    let answer = DiffAnswer::new((&old.source, &new.source), &comparison, stranded, &home.broken);
    let changes = DiffOutput { old: &old.source, new: &new.source, comparison: &comparison, answer: &answer };
    let out = match args.format {
        ChangeFormat::Human => changes.human(styles.out),
        ChangeFormat::Short => changes.short(),
        ChangeFormat::Json => json::written(&answer)?,
    };
    let exit = if comparison.is_breaking() { Exit::Found } else { Exit::Clean };
    Ok(Answer { out, err: unread(&home), exit })
}

/// The changes between two workflows, for people; empty if there are none.
pub(crate) fn text(
    old: (&Source, &Checked),
    new: (&Source, &Checked),
    style: Style,
) -> Result<String, Failure> {
    let sources = (old.0, new.0);
    if let Some(changes) = step_changes(old.1, new.1) {
        return Ok(changed_steps(&DiffAnswer::of_steps(sources, &changes), style.width));
    }
    let comparison = compared(old, new)?;
    let answer = DiffAnswer::new(sources, &comparison, Vec::new(), &[]);
    Ok(DiffOutput { old: old.0, new: new.0, comparison: &comparison, answer: &answer }.human(style))
}

fn compared(old: (&Source, &Checked), new: (&Source, &Checked)) -> Result<Comparison, Failure> {
    if let Some(refused) = of_two_kinds(old, new) {
        return Err(refused);
    }
    evolution::compare((old.1, old.0), (new.1, new.0))
        .map_err(|(side, refused)| no_machine(if side == Side::Old { old.0 } else { new.0 }, &refused))
}

/// An error in one of the two files is not a difference between them.
fn workflow(path: &Path, styles: Styles) -> Result<(File, Checked), Answer> {
    one::load(path, styles).map_err(|answer| Answer { exit: Exit::Failed, ..answer })
}

/// Failure for a workflow of states and one of steps, which are not compared.
fn of_two_kinds(old: (&Source, &Checked), new: (&Source, &Checked)) -> Option<Failure> {
    let (steps, states) = match (old.1.definition(), new.1.definition()) {
        (Definition::Steps(_), Definition::Machine(_)) => (old.0, new.0),
        (Definition::Machine(_), Definition::Steps(_)) => (new.0, old.0),
        (Definition::Machine(_), Definition::Machine(_)) | (Definition::Steps(_), Definition::Steps(_)) => {
            return None;
        }
    };
    let message = format!("{} has steps, and {} has states", steps.path, states.path);
    Some(Failure::new(message, "give two workflows of one kind"))
}

fn no_machine(source: &Source, refused: &[Diagnostic]) -> Failure {
    let why: Vec<&str> = refused.iter().map(|it| it.message.as_str()).collect();
    Failure::new(
        format!("no machine can be made of {}, so nothing can be compared: {}", source.path, why.join("; ")),
        "`orange-workflow emit` says what is too large",
    )
}

/// The tasks of the old workflow that no transition of the new one leads on.
fn stranded<'h>(
    home: &'h HomeTasks,
    comparison: &Comparison,
    (old, new): (&Checked, &Checked),
) -> Vec<StrandedTask<'h>> {
    let tasks = home.tasks.iter().filter(|task| task.workflow == old.name());
    let renamed = old.name() != new.name();
    let why = |task: &Task| {
        let over = comparison.endings.contains(&task.status);
        let other = || format!("the new workflow is called `{}`", new.name());
        if renamed { (!over).then(other) } else { comparison.strands(&task.status) }
    };
    let stranded = tasks.filter_map(|task| {
        let Task { project, id, status, .. } = task;
        Some(StrandedTask { project, id, status, why: why(task)? })
    });
    stranded.collect()
}

fn unread(home: &HomeTasks) -> String {
    let mut err = String::new();
    for (path, why) in &home.broken {
        put(&mut err, format_args!("skipped {}: {}\n", printable(path), printable(why)));
    }
    err
}
