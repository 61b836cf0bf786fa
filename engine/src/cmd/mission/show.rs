//! `orange mission show`

use orange_core::plan::{Inputs, Value};

use crate::Result;
use crate::app::App;
use crate::cmd::answer::{CommandAnswer, one_line, table};
use crate::cmd::task::show::{agent_lines, need_lines, waiting_line};
use crate::flow::mission::{Projection, view};
use crate::flow::names::KnownNames;
use crate::flow::need;
use crate::flow::observed::Observed;
use crate::flow::session::Panes;
use crate::store::{WorkItem, WorkItemDir};
use orange_api::{LoopCount, MissionAsk, MissionPause, MissionPolicy, MissionStep, ShownMission};
use orange_system::fault;

/// Shows a mission: its steps, attempts and results, and what it asks a person.
pub fn run(app: &App, dir: &WorkItemDir) -> Result<CommandAnswer> {
    let (shown, projection) = record(app, dir)?;
    let is_ended = projection.mission.status.is_terminal();
    let ended = if is_ended { projection.commands(&dir.id) } else { Vec::new() };
    let text = text(&shown, &view::standing(projection.plan, &projection), &ended);
    CommandAnswer::of(&shown, text)
}

/// The record of a mission, with the projection of its journal.
pub fn record(app: &App, dir: &WorkItemDir) -> Result<(ShownMission, Projection)> {
    let (task, journal) = WorkItem::read(&app.home, dir)?;
    let observed = Observed::of(app, dir, task, journal.history(), &Panes::of(app))?;
    let projection = Projection::of(dir, &observed.history)?;
    let names = KnownNames::of(app);
    let need = Some(names.in_need(need::of_mission(dir, &observed, &projection)));
    let unnoticed = observed.unnoticed(dir);
    let Observed { task, history, session, agents } = observed;
    let project = app.project_of(&task);
    let restoring = project.map(|project| view::restoring(&project.path, &task, &history));
    let pauses: Vec<_> = projection.pauses(&dir.id).into_iter().map(|pause| names.in_pause(pause)).collect();
    let shown = ShownMission {
        restoring: restoring.unwrap_or_default(),
        current_step_index: projection.current_index(),
        last_step_result: projection.last_result(&dir.id, &history),
        policy: MissionPolicy {
            execution: projection.mission.policy.execution,
            intervene: projection.mission.policy.intervene,
        },
        pause: pauses.first().cloned(),
        pauses,
        asks: names.in_asks(projection.asks(dir, &history)),
        steps: projection.steps(&dir.id, &history),
        worktree: task.owned.workspace.as_ref().map(|name| app.home.workspace(name).display().to_string()),
        session: session.state(),
        unnoticed,
        need,
        agents,
        path: dir.task_md().display().to_string(),
        waiting_until: task.owned.waiting_until,
        waiting: history.agents.waiting,
        history: journal.records,
        prompt: projection.prompt.clone(),
        inputs: projection.mission.inputs.clone(),
        run_id: task.id,
        workflow_id: task.owned.workflow,
        definition: task.owned.definition,
        project: task.project,
        branch: task.branch,
        status: projection.mission.status,
        tmux_session: task.owned.tmux_session,
        attention: task.attention,
        created_at: task.created_at,
        updated_at: task.updated_at,
    };
    Ok((shown, projection))
}

/// `ended` are the commands that an ended mission still takes.
fn text(mission: &ShownMission, standing: &str, ended: &[String]) -> String {
    let mut lines = vec![format!("{}  {}  {}", mission.run_id, mission.workflow_id, one_line(standing, 200))];
    lines.extend(
        mission.need.iter().filter(|need| !need.is_over()).flat_map(|need| need_lines(need, fault::now())),
    );
    lines.extend(mission.attention.iter().map(|it| format!("attention: {}", one_line(it, 1000))));
    lines.extend(mission.pauses.iter().flat_map(pause_lines));
    lines.extend(mission.asks.iter().flat_map(ask_lines));
    lines.extend(ended.iter().map(|command| format!("  {command}")));
    lines.push(format!("prompt     {}", one_line(&mission.prompt, 100)));
    if !mission.inputs.is_empty() {
        lines.push(format!("inputs     {}", values_text(&mission.inputs)));
    }
    lines.push(format!("project    {}", mission.project));
    lines.push(format!("branch     {}", mission.branch));
    let MissionPolicy { execution, intervene } = mission.policy;
    lines.push(format!("policy     execution {}, intervene {}", execution.as_str(), intervene.as_str()));
    let name = mission.tmux_session.as_deref().unwrap_or("none");
    lines.push(format!("session    {name} ({})", mission.session.as_str()));
    lines.extend(mission.unnoticed.iter().map(|what| format!("           {what}")));
    lines.extend(mission.agents.iter().flat_map(agent_lines));
    lines.extend(mission.waiting.iter().map(waiting_line));
    lines.push(format!("worktree   {}", mission.worktree.as_deref().unwrap_or("none")));
    lines.push(format!("file       {}", mission.path));
    lines.extend(mission.restoring.iter().map(|command| format!("backup     `{command}`")));
    let rows: Vec<_> = mission.steps.iter().flat_map(rows).collect();
    lines.push(table(["STEP", "ROLE", "STATUS", "ATTEMPTS", "RESULT", "SUMMARY"], &rows));
    lines.join("\n")
}

/// A pause with the commands that answer it.
pub fn pause_lines(pause: &MissionPause) -> Vec<String> {
    let mut lines = vec![format!("pause {}    {}", pause.number, one_line(&pause.what, 300))];
    lines.extend(pause.offers.iter().map(|command| format!("  {command}")));
    lines
}

/// A question with the commands that answer it.
pub fn ask_lines(ask: &MissionAsk) -> Vec<String> {
    let mut lines = vec![format!("asks       {}", one_line(&ask.what, 300))];
    let context = ask.context.as_deref().filter(|it| !it.is_empty());
    lines.extend(context.into_iter().flat_map(str::lines).map(|line| format!("           | {line}")));
    if let (Some(until), Some(what)) = (&ask.until, &ask.on_timeout) {
        lines.push(format!("           until {until}, then `{what}` counts"));
    }
    lines.extend(ask.offers.iter().map(|command| format!("  {command}")));
    lines
}

/// The row of a step, then those of its items.
fn rows(step: &MissionStep) -> Vec<[String; 6]> {
    let items = (1..).zip(&step.items).map(|(place, item)| {
        let attempts = step.attempts.iter().filter(|it| it.item == Some(place)).count();
        let said = item.reason.as_deref().or(item.summary.as_deref()).unwrap_or_default();
        [
            format!("  {}", one_line(&item.item, 30)),
            String::new(),
            item.status.as_str().to_owned(),
            attempts.to_string(),
            item.result.clone().unwrap_or_default(),
            one_line(said, 70),
        ]
    });
    [row(step)].into_iter().chain(items).collect()
}

fn row(step: &MissionStep) -> [String; 6] {
    let times =
        step.loops.map(|LoopCount { completions, max, .. }| format!(" (loop {completions} of {max})"));
    let outputs = step.attempts.iter().rev().map(|it| &it.outputs).find(|it| !it.is_empty());
    let outputs = outputs.map(|it| format!("{}; ", values_text(it))).unwrap_or_default();
    let said = step.failure.as_deref().or(step.summary.as_deref()).unwrap_or_default();
    [
        step.id.clone(),
        step.role.clone(),
        step.status.as_str().to_owned(),
        format!("{}{}", step.attempts.len(), times.unwrap_or_default()),
        step.result.clone().unwrap_or_default(),
        one_line(&format!("{outputs}{said}"), 70),
    ]
}

/// `risk=low, parts=web api`
fn values_text(values: &Inputs) -> String {
    let one = |(name, value): (&String, &Value)| format!("{name}={}", one_line(&value.text(), 60));
    values.iter().map(one).collect::<Vec<_>>().join(", ")
}
