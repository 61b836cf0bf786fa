//! Completion for shells: the candidates for a word, and the scripts that ask for them.

use std::ffi::{OsStr, OsString};

use clap::CommandFactory;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, complete};
use orange_core::Machine;

use crate::Result;
use crate::app::App;
use crate::cmd::answer::{CommandAnswer, one_line};
use crate::cmd::args::{Cli, CompletionShell, TaskName};
use crate::cmd::task::named_or_here;
use crate::store::{WorkItem, WorkItemKind, list, projects};
use orange_api::{Candidate, Completions};

/// The kind of thing that a value names, read from its placeholder in the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameKind {
    Tasks,
    Missions,
    Statuses,
    Projects,
    Workflows,
    Harnesses,
    Files,
}

/// `orange completions SHELL`
pub fn script(shell: CompletionShell) -> Result<CommandAnswer> {
    let (shell, script) = match shell {
        CompletionShell::Bash => ("bash", include_str!("complete/orange.bash")),
        CompletionShell::Zsh => ("zsh", include_str!("complete/orange.zsh")),
        CompletionShell::Fish => ("fish", include_str!("complete/orange.fish")),
    };
    CommandAnswer::of(&Completions { shell: shell.into(), script: script.into() }, script.trim_end())
}

/// `orange complete -- WORDS`: a candidate a line, with what it means behind a tab; nothing before the tab means files.
pub fn run(app: Result<App>, words: &[String]) -> Result<CommandAnswer> {
    let app = or_log(app.map(Some));
    let found = app.map_or_else(Vec::new, |app| found(&app, words));
    let text: Vec<_> = found.iter().map(|it| format!("{}\t{}", it.word, one_line(&it.about, 100))).collect();
    CommandAnswer::of(&found, text.join("\n"))
}

fn found(app: &App, words: &[String]) -> Vec<Candidate> {
    candidates(words, |names| match names {
        NameKind::Tasks => tasks(app),
        NameKind::Missions => unfinished(app, WorkItemKind::Mission),
        NameKind::Statuses => statuses(app, words),
        NameKind::Projects => projects_of(app),
        NameKind::Workflows => workflows(app),
        NameKind::Harnesses => harnesses(app),
        NameKind::Files => vec![candidate("", "a file or folder")],
    })
}

/// The names that were read, and none after an error: the line that is being typed stays as it is, and `orange log` has the error.
fn or_log<T: Default>(read: Result<T>) -> T {
    read.unwrap_or_else(|error| {
        log::error!(target: "complete", "{}", error.one_line());
        T::default()
    })
}

/// The candidates for the last of these words, which may be empty. `list` has the names of each kind.
fn candidates(words: &[String], list: impl Fn(NameKind) -> Vec<Candidate>) -> Vec<Candidate> {
    let Some(last) = words.last() else { return Vec::new() };
    let line: Vec<OsString> =
        std::iter::once("orange").chain(words.iter().map(String::as_str)).map(Into::into).collect();
    let found = complete(&mut asking(Cli::whole()), line, words.len(), None).unwrap_or_default();
    let found = found.iter().filter(|candidate| !candidate.is_hide_set());
    let found = found.flat_map(|candidate| match NameKind::asked_by(candidate) {
        Some(names) => named(list(names), last),
        None => vec![of_clap(candidate)],
    });
    // Options are candidates only for a word that begins with `-`.
    found.filter(|candidate| last.starts_with('-') || !candidate.word.starts_with('-')).collect()
}

/// The command with a completer for each value that is a name: it answers with what it is asked for, as the tag of what was
/// typed, since a completer does not see the rest of the line. A word that begins with `-` is an option, and asks for no positional
/// argument.
fn asking(command: clap::Command) -> clap::Command {
    let marked = command.mut_args(|arg| match NameKind::of(&arg) {
        Some(names) => {
            let is_positional = arg.is_positional();
            arg.add(ArgValueCompleter::new(move |typed: &OsStr| {
                let is_option = is_positional && typed.as_encoded_bytes().starts_with(b"-");
                let marker = CompletionCandidate::new(typed).tag(Some(names.tag().into()));
                if is_option { Vec::new() } else { vec![marker] }
            }))
        }
        None => arg,
    });
    marked.mut_subcommands(asking)
}

/// The candidates that begin with the typed word; for `--option=value`, with the value.
fn named(candidates: Vec<Candidate>, typed: &str) -> Vec<Candidate> {
    let (option, value) = match typed.split_once('=') {
        Some((option, value)) if option.starts_with("--") => (format!("{option}="), value),
        Some(_) | None => (String::new(), typed),
    };
    let fitting = candidates.into_iter().filter(|it| it.word.is_empty() || it.word.starts_with(value));
    fitting
        .map(|it| if it.word.is_empty() { it } else { Candidate { word: option.clone() + &it.word, ..it } })
        .collect()
}

impl NameKind {
    const ALL: [NameKind; 7] = [
        NameKind::Tasks,
        NameKind::Missions,
        NameKind::Statuses,
        NameKind::Projects,
        NameKind::Workflows,
        NameKind::Harnesses,
        NameKind::Files,
    ];

    fn of(arg: &clap::Arg) -> Option<NameKind> {
        let placeholder = arg.get_value_names()?.first()?.as_str();
        NameKind::ALL.into_iter().find(|names| names.tag() == placeholder)
    }

    fn asked_by(candidate: &CompletionCandidate) -> Option<NameKind> {
        let tag = candidate.get_tag()?.to_string();
        NameKind::ALL.into_iter().find(|names| names.tag() == tag)
    }

    /// The placeholder of such a value in the help.
    fn tag(self) -> &'static str {
        match self {
            NameKind::Tasks => "ID",
            NameKind::Missions => "MISSION",
            NameKind::Statuses => "STATUS",
            NameKind::Projects => "PROJECT",
            NameKind::Workflows => "WORKFLOW",
            NameKind::Harnesses => "HARNESS",
            NameKind::Files => "PATH",
        }
    }
}

fn candidate(word: impl Into<String>, about: impl Into<String>) -> Candidate {
    Candidate { word: word.into(), about: about.into() }
}

fn of_clap(known: &CompletionCandidate) -> Candidate {
    let about = known.get_help().map_or_else(String::new, ToString::to_string);
    candidate(known.get_value().to_string_lossy(), about)
}

fn harnesses(app: &App) -> Vec<Candidate> {
    let known = or_log(app.harnesses());
    known.iter().map(|it| candidate(&it.name, "")).collect()
}

fn workflows(app: &App) -> Vec<Candidate> {
    let listed = or_log(app.machines.all()).into_iter();
    listed
        .map(|workflow| {
            candidate(workflow.name, workflow.workflow.map_or("", |workflow| workflow.description()))
        })
        .collect()
}

/// The statuses of the task that the line is about, else those of every workflow.
fn statuses(app: &App, words: &[String]) -> Vec<Candidate> {
    let all = of_task(app, words).map_or_else(|| or_log(app.machines.usable()), |it| vec![it]);
    let mut found: Vec<Candidate> = Vec::new();
    for state in all.iter().flat_map(|machine| machine.states) {
        if !found.iter().any(|candidate| candidate.word == state.name) {
            found.push(candidate(state.name, state.description));
        }
    }
    found
}

fn of_task(app: &App, words: &[String]) -> Option<&'static Machine<'static>> {
    let dir = named_or_here(app, &task_in(words)?).ok()?;
    let (task, _) = or_log(WorkItem::read(&app.home, &dir).map(Some))?;
    or_log(app.machine_of(&task.owned).map(Some))
}

/// The task that the words name, if their command takes one.
fn task_in(words: &[String]) -> Option<TaskName> {
    let line = std::iter::once("orange").chain(words.iter().map(String::as_str));
    let matches = Cli::command().ignore_errors(true).try_get_matches_from(line).ok()?;
    let mut command = &matches;
    while let Some((_, below)) = command.subcommand() {
        command = below;
    }
    Some(TaskName { name: command.try_get_one::<String>("ID").ok()?.cloned() })
}

fn projects_of(app: &App) -> Vec<Candidate> {
    let projects = or_log(projects::read(&app.home));
    projects.into_iter().map(|project| candidate(project.name, project.path.display().to_string())).collect()
}

fn tasks(app: &App) -> Vec<Candidate> {
    unfinished(app, WorkItemKind::Task)
}

/// The unfinished tasks or missions, by id and by branch.
fn unfinished(app: &App, kind: WorkItemKind) -> Vec<Candidate> {
    let mut known = or_log(list::journals(&app.home, &[kind], None, &|kind, owned| !app.is_end(kind, owned)));
    known.retain(|one| one.may_be(|owned| !app.is_end(kind, owned)));
    let open = list::each(known, Some)
        .into_iter()
        .filter_map(|listed| or_log(listed.task.map(Some)))
        .filter(|task| !app.is_over(task));
    let names = |task: WorkItem| {
        let about = format!("{} ({})", task.branch, task.owned.status);
        [candidate(task.id, about), candidate(task.branch, task.summary)]
    };
    open.flat_map(names).collect()
}

#[cfg(test)]
mod tests;
