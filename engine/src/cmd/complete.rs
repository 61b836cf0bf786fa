//! What shells ask while somebody types: the names of what there is, and the scripts that ask.

use orange_core::Machine;
use serde_json::{Value, json};

use crate::cmd::answer::{Answer, one_line};
use crate::cmd::args::{ORANGE, TaskName};
use crate::cmd::line::complete::{self, Candidate, candidates};
use crate::cmd::line::{Takes, parse::Line};
use crate::cmd::task::named_or_here;
use crate::drive::harness;
use crate::orange::Orange;
use crate::store::{self, Task, projects};
use crate::{Error, Kind, Result};

/// `orange completions SHELL`
pub fn script(shell: &str) -> Result<Answer> {
    let script = complete::script(shell)
        .ok_or_else(|| Error::new(Kind::Usage, format!("no completions are known for {shell}")))?;
    Ok(Answer::new(json!({ "shell": shell, "script": script }), script.trim_end()))
}

/// `orange complete -- WORDS`: a candidate a line, with what it means behind a tab; nothing before the tab means files.
pub fn run(orange: &Orange, words: &[String]) -> Answer {
    let found = candidates(&ORANGE, words, |takes, line| names(orange, takes, line));
    let text: Vec<_> = found.iter().map(|it| format!("{}\t{}", it.word, one_line(&it.about, 100))).collect();
    let json = found.iter().map(|it| json!({ "word": it.word, "about": it.about }));
    Answer::new(Value::Array(json.collect()), text.join("\n"))
}

/// The names of this kind. What cannot be read has none: who types a line is told of it when the line is run.
fn names(orange: &Orange, takes: Takes, line: &Line) -> Vec<Candidate> {
    match takes {
        Takes::Text | Takes::Name | Takes::Path | Takes::Number(..) | Takes::OneOf(_) => Vec::new(),
        Takes::Workflow => workflows(orange),
        Takes::Harness => harnesses(orange),
        Takes::Status => statuses(orange, line),
        Takes::Project => projects_of(orange),
        Takes::Task => tasks(orange),
    }
}

fn harnesses(orange: &Orange) -> Vec<Candidate> {
    let known = harness::all(&orange.home.harnesses_toml()).unwrap_or_default();
    known.iter().map(|it| Candidate::new(&it.name, "")).collect()
}

fn workflows(orange: &Orange) -> Vec<Candidate> {
    let listed = orange.machines.all().unwrap_or_default().into_iter();
    listed
        .map(|workflow| {
            Candidate::new(workflow.name, workflow.machine.map_or("", |machine| machine.description))
        })
        .collect()
}

/// The statuses of the task that the line is about, else those of every workflow.
fn statuses(orange: &Orange, line: &Line) -> Vec<Candidate> {
    let all =
        of_task(orange, line).map_or_else(|| orange.machines.usable().unwrap_or_default(), |it| vec![it]);
    let mut found: Vec<Candidate> = Vec::new();
    for state in all.iter().flat_map(|machine| machine.states) {
        if !found.iter().any(|candidate| candidate.word == state.name) {
            found.push(Candidate::new(state.name, state.description));
        }
    }
    found
}

fn of_task(orange: &Orange, line: &Line) -> Option<&'static Machine<'static>> {
    let arg = line.spec.words().find(|arg| arg.takes == Takes::Task)?;
    let dir = named_or_here(orange, &TaskName { name: line.given.text(arg.name) }).ok()?;
    let (task, _) = Task::read(&orange.home, &dir).ok()?;
    orange.machine_of(&task.owned).ok()
}

fn projects_of(orange: &Orange) -> Vec<Candidate> {
    let projects = projects::read(&orange.home).unwrap_or_default();
    projects
        .into_iter()
        .map(|project| Candidate::new(project.name, project.path.display().to_string()))
        .collect()
}

/// The unfinished tasks, by id and by branch.
fn tasks(orange: &Orange) -> Vec<Candidate> {
    let listed = store::list(&orange.home, None).unwrap_or_default();
    let open =
        listed.into_iter().filter_map(|listed| listed.task.ok()).filter(|task| !orange.is_over(&task.owned));
    let names = |task: Task| {
        let about = format!("{} ({})", task.branch, task.owned.status);
        [Candidate::new(task.id, about), Candidate::new(task.branch, task.summary)]
    };
    open.flat_map(names).collect()
}
