//! Answers what an agent asks, for a person.

use crate::app::App;
use crate::flow::asked::{RequestAnswer, is_answered, is_asked, path};
use crate::flow::{lock_recovered, typed};
use crate::store::activity::{self, Activity, ActivityNote};
use crate::store::event::{self, Report};
use crate::store::{Event, LockedWorkItem, Set, WorkItemDir, find, home};
use crate::{Error, ErrorKind, Result};
use orange_system::atomic;

/// Request that is meant, and its task or mission.
struct Meant {
    dir: WorkItemDir,
    /// Its name; without one, the only request that is open.
    request: Option<String>,
}

/// Answers a request that is open: it has no answer, and the agent waits for one. It has its own name, or that of its task or mission
/// where only one is open. `via` is the path by which the answer came. The error lists the open requests.
pub fn answer(
    app: &App,
    name: &str,
    answer: &RequestAnswer,
    via: Option<event::Via>,
) -> Result<ActivityNote> {
    app.caller.check_person("answer what an agent asks")?;
    let Meant { dir, request } = meant(app, name)?;
    let mut locked = lock_recovered(app, &dir)?;
    let asked = open_requests(app, &locked);
    let note = match &request {
        Some(request) => asked.iter().find(|note| note.request.as_ref() == Some(request)),
        None => asked.first().filter(|_| asked.len() == 1),
    };
    let (note, request) = match note.and_then(|note| Some((note, note.request.as_deref()?))) {
        Some(found) => found,
        None => return Err(not_open(&dir, name, request.as_deref(), &asked)),
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
        reason: format!("{word}: {tool}: {}", note.line()),
        request: Some(request.to_owned()),
        actor: Some(event::Actor::Human),
        via,
        ..Report::default()
    };
    locked.append(Event::AgentActivity(report), Set::new())?;
    atomic::write(&path(&dir, request), &text)?;
    Ok(note.clone())
}

/// A request is named `TASK.SPAWN.HASH`, with the id or the branch of its task or mission. A branch may have dots, too.
fn meant(app: &App, name: &str) -> Result<Meant> {
    let task = name.split('.').next().unwrap_or_default();
    if task != name
        && let Ok(dir) = find::by_id(&app.home, task)
    {
        return Ok(Meant { dir, request: Some(name.to_owned()) });
    }
    let find = |name: &str| find::either(&app.home, name, &|kind, owned| app.is_end(kind, owned));
    let unknown = match find(name) {
        Ok(dir) => return Ok(Meant { dir, request: None }),
        Err(error) if error.kind == ErrorKind::NotFound => Error::new(
            error.kind,
            format!("there is no request `{name}`, nor a task or mission of that name"),
        )
        .help("`orange task list`, `orange task show` and `orange mission show` name each with `waiting`"),
        Err(error) => return Err(error),
    };
    let Some((at, _)) = name.rmatch_indices('.').nth(1) else { return Err(unknown) };
    let (task, request) = name.split_at(at);
    let dir = find(task).map_err(|error| if error.kind == ErrorKind::NotFound { unknown } else { error })?;
    Ok(Meant { request: Some(format!("{}{request}", dir.id)), dir })
}

/// The requests of the task's agents that can be answered.
fn open_requests(app: &App, locked: &LockedWorkItem) -> Vec<ActivityNote> {
    let dir = locked.dir();
    let notes = activity::read(dir);
    let asked = locked.history().agents.alive.values().flat_map(|record| {
        let mut activity = Activity::of(&notes, record.spawn);
        typed::name_requests(app, dir, locked.task(), record, &mut activity);
        activity.asked
    });
    let is_open = |note: &ActivityNote| {
        is_asked(note) && note.request.as_ref().is_some_and(|request| !is_answered(dir, request))
    };
    asked.filter(is_open).collect()
}

fn not_open(dir: &WorkItemDir, name: &str, request: Option<&str>, asked: &[ActivityNote]) -> Error {
    let why = match (request, asked.len()) {
        (Some(request), _) if is_answered(dir, request) => {
            format!("the request `{name}` was answered already")
        }
        (Some(_), _) => format!("the request `{name}` is not open, or not any more"),
        (None, 0) => format!("no agent of {name} asks anything that can be answered now"),
        (None, open) => format!("{open} requests of {name} are open: which one?"),
    };
    let open = asked.iter().filter_map(|note| {
        let (tool, text) = (note.tool.as_deref().unwrap_or("?"), note.line());
        Some(format!("`orange task answer {} allow` ({tool}: {text})", note.request.as_deref()?))
    });
    let open: Vec<String> = open.collect();
    let help = match open[..] {
        [] => format!("{} shows what its agents do", dir.command("show")),
        [..] => format!("open now: {}", open.join(", ")),
    };
    Error::new(ErrorKind::Refused, why).help(help)
}
