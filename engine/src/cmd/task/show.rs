//! `orange task show`

use std::collections::BTreeMap;

use orange_core::Heading;
use serde_json::{Value, json};

use super::doings;
use super::session::Session;
use crate::Result;
use crate::app::App;
use crate::cmd::answer::{Answer, one_line};
use crate::flow::activity::{self, Agent};
use crate::flow::definition::compare;
use crate::flow::refusal::short;
use crate::flow::snapshot::status_of;
use crate::store::Record;
use crate::store::event::{Event, Exited, Pass, Spent, Waiting};
use crate::store::journal::Journal;
use crate::store::{Task, TaskDir, TaskHistory};

/// How many of its last events a task is shown with.
const SHOWN: usize = 200;

/// Shows a task: its fields, its body's sections, its history, what needs attention.
pub fn run(app: &App, dir: &TaskDir, all: bool) -> Result<Answer> {
    let (task, journal) = Task::read_last(&app.home, dir, if all { usize::MAX } else { SHOWN })?;
    let session = Session::of(dir, &task, || app.tmux.panes());
    let history = journal.history();
    let agents = doings::with_history(app, dir, &task, &history, || app.tmux.panes().ok());
    let spent = activity::spent(app, dir, &task, &history);
    let events: Vec<Value> = journal.records.iter().map(Record::to_json).collect();
    let json = json!({
        "id": task.id,
        "project": task.project,
        "branch": task.branch,
        "summary": task.summary,
        "status": task.status(),
        "workflow": task.owned.workflow,
        "definition": task.owned.definition,
        "workflow_note": workflow_note(app, &task),
        "harness": task.harness,
        "review_harness": task.review_harness,
        "counters": task.owned.counters,
        "workspace": task.owned.workspace,
        "tmux_session": task.owned.tmux_session,
        "session": session.as_str(),
        "unnoticed": doings::unnoticed(dir, &history, session),
        "your_turn": doings::your_turn(app, &task, session),
        "agents": doings::to_json(&agents),
        "spent": doings::spent_to_json(&spent),
        "waiting_until": task.owned.waiting_until,
        "stopped_at": task.owned.stopped_at,
        "attention": task.attention,
        "pr_url": task.pr_url,
        "created_at": task.created_at,
        "updated_at": task.updated_at,
        "path": dir.task_md(),
        "sections": sections(&task.body),
        "gates": gates(&history, &task.body),
        "history": events,
        "history_left_out": journal.left_out,
    });
    let agents = agent_lines(&agents, &spent);
    Ok(Answer::new(json, text(app, &task, dir, session, agents, &journal, &history)))
}

fn text(
    app: &App,
    task: &Task,
    dir: &TaskDir,
    session: Session,
    agents: Vec<String>,
    journal: &Journal,
    history: &TaskHistory,
) -> String {
    let mut lines = vec![format!("{}  {}  {}", task.id, task.status(), one_line(&task.summary, 80))];
    if let Some(attention) = &task.attention {
        lines.push(format!("attention: {}", one_line(attention, 1000)));
    }
    let counters: Vec<_> =
        task.owned.counters.iter().map(|(name, value)| format!("{name} {value}")).collect();
    lines.push(format!("project    {}", task.project));
    lines.push(format!("branch     {}", task.branch));
    lines.push(format!("workflow   {} ({})", task.owned.workflow, task.owned.definition));
    lines.extend(workflow_note(app, task).map(|note| format!("           {note}")));
    lines.push(format!("counters   {}", counters.join(", ")));
    let name = task.owned.tmux_session.as_deref().unwrap_or("none");
    lines.push(format!("session    {name} ({})", session.as_str()));
    lines.extend(doings::unnoticed(dir, history, session).map(|what| format!("           {what}")));
    lines.extend(
        doings::your_turn(app, task, session).map(|command| format!("your turn  `{command}` goes on")),
    );
    lines.extend(task.owned.stopped_at.as_ref().map(|time| format!("stopped    by a person at {time}")));
    lines.extend(agents);
    if let Some(Waiting { until, reason, .. }) = &history.waiting {
        lines.push(format!("waiting    until {until}: {}", one_line(reason, 200)));
    }
    let worktree = task.owned.workspace.as_ref().map(|name| app.home.workspace(name).display().to_string());
    lines.push(format!("worktree   {}", worktree.as_deref().unwrap_or("none")));
    lines.extend(task.pr_url.as_ref().map(|url| format!("pull       {}", one_line(url, 120))));
    lines.push(format!("file       {}", dir.task_md().display()));
    for (heading, content) in sections(&task.body) {
        let first = content.lines().find(|line| !line.trim().is_empty()).unwrap_or("(empty)");
        let passed = history.passes.get(&heading).map(|pass| passed(pass, &content)).unwrap_or_default();
        lines.push(format!("{heading}: {}{passed}", one_line(first, 80)));
    }
    let Journal { records, left_out, .. } = journal;
    lines.extend(last_end(records));
    lines.push(match left_out {
        0 => "history:".to_owned(),
        more => format!("history, after {more} events that --all shows, too:"),
    });
    let line = |record: &Record| format!("  {:>3} {}  {}", record.seq, record.timestamp, event_words(record));
    lines.extend(records.iter().map(line));
    lines.join("\n")
}

/// What the living agents do, how to answer what they ask, and what all have taken.
fn agent_lines(agents: &[Agent], spent: &BTreeMap<u32, Spent>) -> Vec<String> {
    let mut lines = Vec::new();
    for agent in agents {
        lines.push(format!("agent      {}", one_line(&doings::line(agent), 400)));
        lines.extend(doings::how_to_answer(agent).map(|how| format!("           `{how}`, or `deny`")));
    }
    lines.extend(doings::spent_line(spent).map(|spent| format!("taken      {spent}")));
    lines
}

/// What stands between the task and its workflow, if anything does.
fn workflow_note(app: &App, task: &Task) -> Option<String> {
    let definition = &task.owned.definition;
    match app.machine_of(&task.owned) {
        Err(error) => Some(error.to_string()),
        Ok(machine) => match status_of(machine, task) {
            Err(error) => Some(error.to_string()),
            Ok(_) if machine.source_hash == definition || definition.is_empty() => None,
            Ok(_) => {
                let compare = compare(app, machine, definition);
                Some(format!("it has changed since, to {}: `{compare}` shows how", machine.source_hash))
            }
        },
    }
}

/// How the last agent ended whose wrapper could tell: after how long, and what it showed.
fn last_end(records: &[Record]) -> Vec<String> {
    let last = records.iter().rev().find_map(|record| {
        let Event::AgentExited(Exited { spawn, reason, duration, last_lines, .. }) = &record.event else {
            return None;
        };
        let lived = (*duration)?;
        Some((
            format!("last end   agent {spawn} after {lived} s: {}", one_line(reason.as_str(), 200)),
            last_lines,
        ))
    });
    let Some((end, shown)) = last else { return Vec::new() };
    std::iter::once(end).chain(shown.iter().map(|line| format!("  | {}", one_line(line, 200)))).collect()
}

/// An event in one line: its type and what matters of it.
pub fn event_words(record: &Record) -> String {
    let mut json = record.to_json();
    let kind = json["type"].as_str().unwrap_or("?").to_owned();
    let mut rest = Vec::new();
    for key in [
        "from",
        "to",
        "hook",
        "error",
        "actor",
        "prompt",
        "spawn",
        "spawns",
        "state",
        "reason",
        "until",
        "request",
        "duration",
        "branch",
        "field",
        "found",
        "kept",
        "strategy",
        "into",
        "commit",
        "url",
        "code",
        "output",
        "reference",
        "workflow",
        "compare",
    ] {
        let value = json[key].take();
        if let Some(text) = value.as_str() {
            rest.push(format!("{key}={}", one_line(text, 60)));
        } else if !value.is_null() {
            rest.push(format!("{key}={value}"));
        }
    }
    format!("{kind}  {}", rest.join(" ")).trim_end().to_owned()
}

/// How each section last passed a gate, and whether it is still what passed.
fn gates(history: &TaskHistory, body: &str) -> Value {
    let mut gates = json!({});
    for pass in history.passes.values() {
        let unchanged =
            orange_core::section(body, &pass.section).is_some_and(|content| is_what_passed(pass, content));
        gates[&pass.section] = json!({ "hash": pass.hash, "commit": pass.commit, "unchanged": unchanged });
    }
    gates
}

fn passed(pass: &Pass, content: &str) -> String {
    let at = pass.commit.as_ref().map(|commit| format!(" at {}", short(commit))).unwrap_or_default();
    let since = if is_what_passed(pass, content) { "unchanged since" } else { "changed since" };
    format!("  (passed{at}, {since})")
}

fn is_what_passed(pass: &Pass, content: &str) -> bool {
    Pass::hash_of(orange_core::fingerprint(content)) == pass.hash
}

/// Every `## …` section that a gate could read, with its content.
fn sections(body: &str) -> BTreeMap<String, String> {
    let mut sections = BTreeMap::new();
    for heading in body.lines().filter_map(Heading::parse).filter(|heading| heading.level == 2) {
        let name = format!("## {}", heading.text);
        if let Some(content) = orange_core::section(body, &name) {
            sections.insert(name, content.trim().to_owned());
        }
    }
    sections
}
