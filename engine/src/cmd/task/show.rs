//! `orange task show`

use std::collections::BTreeMap;
use std::time::SystemTime;

use orange_core::Heading;

use super::{budget, doings};
use crate::Result;
use crate::app::App;
use crate::cmd::answer::{CommandAnswer, one_line};
use crate::cmd::needs::why;
use crate::flow::definition::compare;
use crate::flow::delegation;
use crate::flow::doing::words;
use crate::flow::observed::Observed;
use crate::flow::queue::StartQueue;
use crate::flow::refusal::short;
use crate::flow::session::{self, Panes};
use crate::flow::snapshot::status_of;
use crate::flow::{activity, need, person_budget};
use crate::store::Record;
use crate::store::event::{Event, Exited, Pass, Waiting};
use crate::store::{WorkItem, WorkItemDir, WorkItemHistory};
use orange_api::{
    Agent, BudgetState, CreatedTask, Need, NeedAction, PassedGate, ShownTask, Spending, WaitingHooks,
};
use orange_system::{clock, fault};

/// The number of last events in an answer for programs.
const SHOWN: usize = 200;

/// The number of last events that people see.
const SHOWN_TO_PEOPLE: usize = 10;

/// Shows a task: its fields, its body's sections, its history, what needs attention.
pub fn run(app: &App, dir: &WorkItemDir, all: bool) -> Result<CommandAnswer> {
    let (task, journal) = WorkItem::read_last(&app.home, dir, if all { usize::MAX } else { SHOWN })?;
    let observed = Observed::of(app, dir, task, journal.history(), &Panes::of(app))?;
    let queue = StartQueue::about(app, &observed.task);
    let need = need::here(app, dir, &observed, queue.as_ref());
    let unnoticed = observed.unnoticed(dir);
    let Observed { task, history, session, agents } = observed;
    // The monitor reports settings that cannot be read.
    let budget = person_budget::shown(app, dir, &task, &history).ok().filter(|it| !it.limits.is_empty());
    let budget = budget.map(|it| BudgetState { limits: it.limits, spent: it.spent });
    let spent = Spending::from(&activity::spent(app, dir, &task, &history));
    let children = delegation::children(app, &task)?.into_iter().map(CreatedTask::from).collect();
    let shown = ShownTask {
        children,
        workflow_note: workflow_note(app, &task),
        need,
        waits_for: queue.and_then(|queue| queue.waits_for(app, &task)),
        session: session.state(),
        unnoticed,
        your_turn: session::your_turn(app, &task, session),
        agents,
        spent,
        workspace: task.owned.workspace.as_deref().map(str::to_owned),
        worktree: task.owned.workspace.map(|name| app.home.workspace(&name).display().to_string()),
        waiting: history.agents.waiting.clone(),
        hooks_waiting: history.transition.waiting_hooks.as_ref().map(|waiting| WaitingHooks {
            from: waiting.plan.from.clone(),
            to: waiting.plan.to.clone(),
            error: waiting.error.clone().unwrap_or_default(),
            hooks: waiting.left().map(|hook| hook.name.clone()).collect(),
        }),
        path: dir.task_md().display().to_string(),
        sections: sections(&task.body),
        gates: gates(&history, &task.body),
        history: journal.records,
        history_left_out: journal.left_out,
        id: task.id,
        project: task.project,
        branch: task.branch,
        summary: task.summary,
        status: task.owned.status,
        workflow: task.owned.workflow,
        definition: task.owned.definition,
        harness: task.harness,
        review_harness: task.review_harness,
        base: task.owned.base,
        parent: task.owned.parent,
        priority: task.priority,
        blocked_by: task.blocked_by,
        counters: task.owned.counters,
        tmux_session: task.owned.tmux_session,
        waiting_until: task.owned.waiting_until,
        stopped_at: task.owned.stopped_at,
        budget,
        budget_holds: history.budget.holds,
        attention: task.attention,
        pr_url: task.pr_url,
        created_at: task.created_at,
        updated_at: task.updated_at,
    };
    CommandAnswer::of(&shown, text(&shown, all))
}

fn text(task: &ShownTask, all: bool) -> String {
    let now = fault::now();
    let mut lines = vec![format!("{}  {}  {}", task.id, task.status, one_line(&task.summary, 80))];
    lines.extend(task.need.iter().filter(|need| !need.is_over()).flat_map(|need| need_lines(need, now)));
    lines.extend(task.attention.iter().map(|it| format!("attention: {}", one_line(it, 1000))));
    let counters: Vec<_> = task.counters.iter().map(|(name, value)| format!("{name} {value}")).collect();
    lines.push(format!("project    {}", task.project));
    lines.push(format!("branch     {}", task.branch));
    lines.extend(task.base.iter().map(|base| format!("base       {base}")));
    lines.extend(task.parent.iter().map(|parent| format!("created by {parent}")));
    let child = |it: &CreatedTask| format!("created    {}: {}", it.branch, it.standing.words());
    lines.extend(task.children.iter().map(child));
    lines.push(format!("workflow   {} ({})", task.workflow, task.definition));
    lines.extend(task.workflow_note.iter().map(|note| format!("           {note}")));
    lines.push(format!("counters   {}", counters.join(", ")));
    let name = task.tmux_session.as_deref().unwrap_or("none");
    lines.push(format!("session    {name} ({})", task.session.as_str()));
    lines.extend(task.unnoticed.iter().map(|what| format!("           {what}")));
    lines.extend(task.your_turn.iter().map(|command| format!("your turn  `{command}` goes on")));
    let by = if task.budget_holds { "for its budget" } else { "by a person" };
    lines.extend(task.stopped_at.iter().map(|time| format!("stopped    {by} at {time}")));
    lines.extend(task.agents.iter().flat_map(agent_lines));
    lines.extend(doings::spent_line(&task.spent).map(|spent| format!("taken      {spent}")));
    if let Some(budget) = &task.budget {
        lines.push(format!("budget     {}", budget::line(&budget.limits, &budget.spent)));
    }
    lines.extend(task.waiting.iter().map(waiting_line));
    lines.extend(task.hooks_waiting.iter().flat_map(|waiting| {
        let WaitingHooks { from, to, hooks, .. } = waiting;
        let retry = format!("orange task update {} --retry-hooks", task.id);
        [
            format!("hooks      of {from} → {to} wait: {}", hooks.join(", ")),
            format!("           `{retry}` runs them"),
        ]
    }));
    let place = if task.workspace.as_ref() == Some(&task.id) { "folder    " } else { "worktree  " };
    lines.push(format!("{place} {}", task.worktree.as_deref().unwrap_or("none")));
    lines.extend(task.pr_url.iter().map(|url| format!("pull       {}", one_line(url, 120))));
    lines.push(format!("file       {}", task.path));
    for (heading, content) in &task.sections {
        let passed = task.gates.get(heading).map(passed).unwrap_or_default();
        lines.push(format!("{heading}{passed}"));
        lines.extend(content.lines().map(|line| format!("  {}", one_line(line, 1000)).trim_end().to_owned()));
    }
    lines.extend(last_end(&task.history));
    let shown = if all { task.history.len() } else { SHOWN_TO_PEOPLE.min(task.history.len()) };
    let left_out = task.history_left_out + (task.history.len() - shown);
    lines.push(match left_out {
        0 => "history:".to_owned(),
        more => format!("history, after {more} events that --all shows, too:"),
    });
    let line = |record: &Record| {
        let age = ago(&record.timestamp, now);
        format!("  {:>3} {age:>10}  {}", record.seq, event_words(record))
    };
    lines.extend(task.history[task.history.len() - shown..].iter().map(line));
    lines.join("\n")
}

/// Lines about a need: its kind, its age, its reason, and the commands that answer it.
pub fn need_lines(need: &Need, now: SystemTime) -> Vec<String> {
    let age =
        need.since.as_deref().map(|since| format!(" for {}", since_then(since, now))).unwrap_or_default();
    let mut lines = vec![format!("needs      {}{age}: {}", need.kind.as_str(), one_line(&why(need), 400))];
    let command = |action: &NeedAction| {
        let text = if action.text { " TEXT" } else { "" };
        format!("           orange {}{text}", action.command.join(" "))
    };
    lines.extend(need.answers().map(command));
    lines
}

fn since_then(time: &str, now: SystemTime) -> String {
    let since = clock::parse(time);
    since.map_or_else(|| "?".to_owned(), |since| words(now.duration_since(since).unwrap_or_default()))
}

fn ago(time: &str, now: SystemTime) -> String {
    format!("{} ago", since_then(time, now))
}

/// Lines about an agent: its activity, and the command with which a person answers it.
pub fn agent_lines(agent: &Agent) -> Vec<String> {
    let mut lines = vec![format!("agent      {}", one_line(&doings::line(agent), 400))];
    lines.extend(doings::how_to_answer(agent).map(|how| format!("           `{how}`, or `deny`")));
    lines
}

/// Until when an agent is waited for, and why.
pub fn waiting_line(Waiting { until, reason, .. }: &Waiting) -> String {
    format!("waiting    until {until}: {}", one_line(reason, 200))
}

/// Reason for which the task cannot follow its workflow, or a note that the workflow has changed since.
fn workflow_note(app: &App, task: &WorkItem) -> Option<String> {
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

/// Lines about the last end of an agent that its wrapper has reported: how long it lived, and its last lines.
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

/// An event in one line: its type and its important fields.
pub fn event_words(record: &Record) -> String {
    let mut json = record.to_json();
    let kind = json["type"].as_str().unwrap_or("?").to_owned();
    let mut rest = Vec::new();
    if json["step"].is_string() && kind.starts_with("agent.") {
        // At a step, its role says who works, and its prompt has the name of the step.
        json["actor"].take();
        json["prompt"].take();
    }
    for key in [
        "step",
        "role",
        "attempt",
        "end",
        "result",
        "warning",
        "number",
        "pause",
        "obstacle",
        "status",
        "from",
        "to",
        "hook",
        "error",
        "actor",
        "name",
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

/// Last pass of each section at a gate, and whether the section still has that content.
fn gates(history: &WorkItemHistory, body: &str) -> BTreeMap<String, PassedGate> {
    let gate = |Pass { section, hash, commit, .. }: &Pass| {
        let content = orange_core::section(body, section);
        let unchanged = content.is_some_and(|it| Pass::hash_of(orange_core::fingerprint(it)) == *hash);
        (section.clone(), PassedGate { hash: hash.clone(), commit: commit.clone(), unchanged })
    };
    history.gates.passes.values().map(gate).collect()
}

fn passed(gate: &PassedGate) -> String {
    let at = gate.commit.as_ref().map(|commit| format!(" at {}", short(commit))).unwrap_or_default();
    let since = if gate.unchanged { "unchanged since" } else { "changed since" };
    format!("  (passed{at}, {since})")
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Set;
    use crate::store::event::Spawn;

    #[test]
    fn an_agent_of_a_step_has_its_step_and_role() {
        let spawn = Spawn {
            spawn: 2,
            prompt: "check".to_owned(),
            step: Some("check".to_owned()),
            role: Some("reviewer".to_owned()),
            attempt: Some(1),
            ..Spawn::default()
        };
        let record = |event| Record { seq: 1, timestamp: String::new(), event, set: Set::new() };
        let words = event_words(&record(Event::AgentSpawned(spawn)));
        assert_eq!(words, "agent.spawned  step=check role=reviewer attempt=1 spawn=2");
        let ended = event_words(&record(Event::MissionEnded { status: "failed".to_owned() }));
        assert_eq!(ended, "mission.ended  status=failed");
    }
}
