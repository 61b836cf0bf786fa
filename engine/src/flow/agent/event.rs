//! Reports of a harness about its agent: each is noted, and a request for a permission is held until it has an answer.

use orange_system::variables;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::app::App;
use crate::drive::harness::report;
use crate::flow::asked::{self, RequestAnswer};
use crate::hooks::agent_processes::AgentProcesses;
use crate::hooks::wall;
use crate::store::activity::{self, Activity, ActivityNote, NoteKind};
use crate::store::{Home, WorkItemDir, find, home, work_item};
use crate::{Error, Result, caller};
use orange_system::changes::FolderWatch;
use orange_system::clock;
use orange_system::process::Process;

/// So long an answer is waited for: less than a harness waits for its hook.
const PATIENCE: Duration = Duration::from_secs(86_400 - 60);

/// Notes the event that a harness has `given`. With `hold`, a request for a permission waits for a person's answer, which is
/// returned.
pub fn note(given: &[u8], hold: bool, open: impl FnOnce() -> Result<App>) -> Result<Option<RequestAnswer>> {
    let variable = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    let spawn = variable(variables::SPAWN).and_then(|number| number.parse().ok());
    // Outside of a task, or from an agent of somebody else's, nothing is noted.
    let Some((task, spawn)) = variable(variables::TASK).zip(spawn) else { return Ok(None) };
    let Some(note) = report::read(spawn, given) else { return Ok(None) };
    let home = Home::from_env()?;
    let dir = find::by_id(&home, &task)?;
    caller::check_shown(&dir, spawn, caller::shown().as_deref())?;
    let note = if variable(variables::RELAYED).is_some() { outside(&dir, note)? } else { note };
    if note.kind == NoteKind::Permission && hold {
        return ask(&dir, note);
    }
    append(&dir, &note)?;
    if note.kind == NoteKind::Limit {
        wake_up(&open()?, &dir, spawn)?;
    }
    Ok(None)
}

/// The note of an agent that may be walled, with the path of its transcript outside.
fn outside(dir: &WorkItemDir, note: ActivityNote) -> Result<ActivityNote> {
    let agents = work_item::read_journal_last(dir, 0)?.history().agents.alive;
    let Some(record) = agents.get(&note.spawn).filter(|record| wall::is_walled(record)) else {
        return Ok(note);
    };
    let transcript = note.transcript.as_ref().and_then(|path| wall::outside(dir, record, Path::new(path)));
    Ok(ActivityNote { transcript: transcript.map(|path| path.to_string_lossy().into_owned()), ..note })
}

fn append(dir: &WorkItemDir, note: &ActivityNote) -> Result<()> {
    activity::append(dir, note).map_err(|cause| Error::io("append to", &dir.activity(), &cause))
}

/// Has another process see to it that the agent goes on when the limit is over.
pub(super) fn wake_up(app: &App, dir: &WorkItemDir, spawn: u32) -> Result<()> {
    let limited = ["agent", "limited", "--task", &dir.id, &format!("--spawn={spawn}")];
    app.start_detached_for(spawn, &limited, dir)
}

/// Notes the request with a name and waits for the answer: from a person by `orange task answer`, or on the agent's screen,
/// where the harness shows its own dialog meanwhile.
fn ask(dir: &WorkItemDir, note: ActivityNote) -> Result<Option<RequestAnswer>> {
    let own = Process::alive(rustix::process::getpid().as_raw_nonzero().get())?;
    let Some(own) = own else { return append(dir, &note).map(|()| None) };
    home::make_folder(&dir.answers())?;
    let mut changes = FolderWatch::of(&[&dir.path, &dir.answers()]);
    let request = asked::name(dir, note.spawn, &format!("{:x}{:04x}", own.pid, own.start & 0xffff));
    let held = ActivityNote {
        request: Some(request.clone()),
        pid: Some(own.pid),
        start: Some(own.start),
        ..note.clone()
    };
    append(dir, &held)?;
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if let Some(given) = asked::given(dir, &request) {
            append(
                dir,
                &ActivityNote {
                    request: Some(request),
                    tool: note.tool,
                    text: note.text,
                    ..ActivityNote::now(note.spawn, NoteKind::Answered)
                },
            )?;
            return Ok(Some(given));
        }
        if !is_open(dir, note.spawn, &request) {
            return Ok(None);
        }
        changes.wait_for_any(Duration::from_secs(30));
    }
    // Its harness stops waiting for this process now; the dialog on the screen stays.
    append(dir, &ActivityNote { time: clock::now(), ..note }).map(|()| None)
}

/// True if the agent lives and nothing has happened that only happens after an answer.
fn is_open(dir: &WorkItemDir, spawn: u32, request: &str) -> bool {
    let processes = AgentProcesses::read(dir, spawn).ok().flatten();
    // Nothing proves its end where the process table cannot be read.
    let is_alive = processes.is_some_and(|processes| processes.is_alive().unwrap_or(true));
    let activity = Activity::of(&activity::read(dir), spawn);
    is_alive && activity.asked.iter().any(|note| note.request.as_deref() == Some(request))
}
