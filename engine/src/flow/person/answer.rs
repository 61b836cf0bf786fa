//! Answers what an agent asks, for a person.

use crate::app::App;
use crate::flow::asked::{Answer, is_answered, is_asked, path};
use crate::flow::{lock_recovered, typed};
use crate::store::activity::{self, Activity, Note};
use crate::store::event::{self, Report};
use crate::store::{Event, LockedTask, Set, TaskDir, atomic, find, home};
use crate::{Error, Kind, Result};

/// Answers a request that is open: it has no answer, and the agent waits for one. The error lists the open requests.
pub fn answer(app: &App, request: &str, answer: &Answer) -> Result<Note> {
    app.caller.check_person("answer what an agent asks")?;
    let task = request.split('.').next().unwrap_or_default();
    let dir = find::by_id(&app.home, task).map_err(|error| {
        Error::new(error.kind, format!("there is no request `{request}`"))
            .help("`orange task list`, `orange task show` and `orange mission show` name each with `waiting`")
    })?;
    let mut locked = lock_recovered(app, &dir)?;
    let asked = open_requests(app, &locked);
    let Some(note) = asked.iter().find(|note| note.request.as_deref() == Some(request)) else {
        return Err(not_open(&dir, request, &asked));
    };
    if note.pid.is_none() {
        typed::answer(app, &locked, note, answer)?;
    }
    home::make_folder(&dir.answers())?;
    let text = serde_json::to_vec(answer).unwrap_or_default();
    let word = if answer.allow { "allow" } else { "deny" };
    let tool = note.tool.as_deref().unwrap_or("a tool");
    let report = Report {
        spawn: note.spawn,
        state: event::Activity::Answered,
        reason: format!("{word}: {tool}: {}", note.text.as_deref().unwrap_or_default()),
        request: Some(request.to_owned()),
        ..Report::default()
    };
    locked.append(Event::AgentActivity(report), Set::new())?;
    atomic::write(&path(&dir, request), &text)?;
    Ok(note.clone())
}

/// The requests of the task's agents that can be answered.
fn open_requests(app: &App, locked: &LockedTask) -> Vec<Note> {
    let dir = locked.dir();
    let notes = activity::read(dir);
    let asked = locked.history().agents.values().flat_map(|record| {
        let mut activity = Activity::of(&notes, record.spawn);
        typed::name_requests(app, dir, locked.task(), record, &mut activity);
        activity.asked
    });
    let is_open = |note: &Note| {
        is_asked(note) && note.request.as_ref().is_some_and(|request| !is_answered(dir, request))
    };
    asked.filter(is_open).collect()
}

fn not_open(dir: &TaskDir, request: &str, asked: &[Note]) -> Error {
    let was_answered = is_answered(dir, request);
    let why = if was_answered { "was answered already" } else { "is not open, or not any more" };
    let help = match asked {
        [] => format!("the agents of {} ask nothing that can be answered now", dir.id),
        [..] => {
            let names = asked.iter().filter_map(|note| {
                let text = note.text.as_deref().unwrap_or_default();
                Some(format!(
                    "{} ({}: {text})",
                    note.request.as_deref()?,
                    note.tool.as_deref().unwrap_or("?")
                ))
            });
            format!("open now: {}", names.collect::<Vec<_>>().join(", "))
        }
    };
    Error::new(Kind::Refused, format!("the request `{request}` {why}")).help(help)
}
