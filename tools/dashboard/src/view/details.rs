//! The selected row: its tabs, and what the shown one says.

use std::collections::BTreeMap;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::symbols::merge::MergeStrategy;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph};

use super::text::{fit, left, wrap};
use super::theme::Theme;
use super::{diff, pane, request};
use crate::model::areas::Areas;
use crate::model::ask::Mode;
use crate::model::details::{DetailsTab, tabs};
use crate::model::row::{Row, RowKind};
use crate::model::{State, clock, offers, plan};
use orange_api::{ShownMission, ShownTask, ShownWorkflow};
use orange_core::mission::StepStatus;
use orange_journal::Record;

pub fn draw(frame: &mut Frame<'_>, state: &State, theme: Theme, areas: &Areas) {
    let Some(area) = areas.details else { return };
    let border = if state.mode == Mode::Details { theme.key() } else { theme.dim() };
    let block = Block::bordered().merge_borders(MergeStrategy::Exact).border_style(border);
    let Some(row) = state.selected() else {
        frame.render_widget(block, area);
        return;
    };
    let room = usize::from(area.width.saturating_sub(4));
    let summary = row.summary.lines().next().unwrap_or_default();
    let title = if summary.is_empty() { row.branch.clone() } else { format!("{} · {summary}", row.branch) };
    let title = Span::styled(format!(" {} ", fit(&title, room.saturating_sub(2))), theme.bold());
    frame.render_widget(block.title(title), area);
    frame.render_widget(tab_line(state, theme, row, usize::from(areas.tabs.width)), areas.tabs);
    request::above(frame, state, theme);
    body(frame, state, theme, row, areas.body);
    if let Some(area) = areas.why {
        below(frame, state, theme, row, area);
    }
}

fn tab_line(state: &State, theme: Theme, row: &Row, width: usize) -> Line<'static> {
    let (mut spans, mut at) = (Vec::new(), 0);
    for (begins, tab, text) in tabs(row.kind, width) {
        let is_shown = tab == state.details.tab;
        spans.push(Span::raw(" ".repeat((begins - at).saturating_sub(usize::from(is_shown)))));
        at = begins + text.len() + usize::from(is_shown);
        spans.push(match is_shown {
            true => Span::styled(format!("[{text}]"), theme.bold()),
            false => Span::styled(text, theme.dim()),
        });
    }
    Line::from(spans)
}

fn body(frame: &mut Frame<'_>, state: &State, theme: Theme, row: &Row, area: Rect) {
    let details = &state.details;
    let width = usize::from(area.width);
    if let Some(error) = &row.broken {
        return scrolled(frame, state, area, plain(error, width));
    }
    if let Some(failure) = details.failure(row.kind) {
        let text = format!("{}\n\n{}", failure.message, failure.help);
        return scrolled(frame, state, area, plain(&text, width));
    }
    match (details.tab, row.kind) {
        (DetailsTab::Agent, RowKind::Mission) if details.pane.is_none() => {
            scrolled(frame, state, area, mission_agents(theme, row, width));
        }
        (DetailsTab::Agent, _) => pane::draw(frame, state, theme, row, area),
        (DetailsTab::Diff, _) => diff::draw(frame, state, theme, area),
        (DetailsTab::Text, RowKind::Task) => {
            let lines = details.task.as_ref().map(|task| task_text(theme, row, task, width));
            scrolled(frame, state, area, lines.unwrap_or_default());
        }
        (DetailsTab::Text, RowKind::Mission) => {
            let lines = details.mission.as_ref().map(|mission| plan_text(state, theme, row, mission, width));
            scrolled(frame, state, area, lines.unwrap_or_default());
        }
        (DetailsTab::Why, RowKind::Task) => scrolled(frame, state, area, why(state, theme, row, width)),
        (DetailsTab::Why, RowKind::Mission) => {
            scrolled(frame, state, area, mission_why(state, theme, row, width))
        }
        (DetailsTab::History, _) => {
            let history = match row.kind {
                RowKind::Task => details.task.as_ref().map(|task| &task.history),
                RowKind::Mission => details.mission.as_ref().map(|mission| &mission.history),
            };
            scrolled(
                frame,
                state,
                area,
                history.map(|it| events(state, theme, it, width)).unwrap_or_default(),
            );
        }
    }
}

/// Draws lines from the first one that is not scrolled away. The last page stays full.
fn scrolled(frame: &mut Frame<'_>, state: &State, area: Rect, lines: Vec<Line<'static>>) {
    let last = lines.len().saturating_sub(usize::from(area.height));
    let lines: Vec<_> = lines.into_iter().skip(state.details.scroll.min(last)).collect();
    frame.render_widget(Paragraph::new(lines), area);
}

fn plain(text: &str, width: usize) -> Vec<Line<'static>> {
    wrap(text, width).into_iter().map(Line::raw).collect()
}

fn field(theme: Theme, name: &str, value: impl AsRef<str>, width: usize) -> Line<'static> {
    let room = width.saturating_sub(11);
    Line::from(vec![Span::styled(left(name, 11), theme.dim()), Span::raw(fit(value.as_ref(), room))])
}

fn task_text(theme: Theme, row: &Row, task: &ShownTask, width: usize) -> Vec<Line<'static>> {
    let mut lines = plain(&task.summary, width);
    lines.push(Line::default());
    let counters: Vec<_> =
        task.counters.iter().filter(|(_, it)| **it > 0).map(|(name, it)| format!("{name} {it}")).collect();
    let fields = [
        ("status", format!("{} ({})", row.status, row.workflow)),
        ("project", row.project.clone()),
        ("harness", format!("{}, reviews by {}", task.harness, task.review_harness)),
        ("counters", counters.join(", ")),
        ("attention", task.attention.clone().unwrap_or_default()),
        ("PR", task.pr_url.clone().unwrap_or_default()),
        ("worktree", row.workspace.clone().unwrap_or_default()),
        (
            "branch",
            row.other_branch.as_ref().map(|other| format!("{other} is checked out")).unwrap_or_default(),
        ),
        ("id", row.id.clone()),
    ];
    lines.extend(
        fields
            .into_iter()
            .filter(|it| !it.1.is_empty())
            .map(|(name, value)| field(theme, name, value, width)),
    );
    lines.extend(sections(theme, &task.sections, width));
    lines
}

fn sections(theme: Theme, sections: &BTreeMap<String, String>, width: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for (heading, text) in sections {
        lines.push(Line::default());
        lines.push(Line::styled(fit(heading, width), theme.bold()));
        lines.extend(plain(text.trim(), width));
    }
    lines
}

fn mission_agents(theme: Theme, row: &Row, width: usize) -> Vec<Line<'static>> {
    let mut lines = plain(&row.summary, width);
    lines.push(Line::default());
    lines.push(field(theme, "status", &row.status, width));
    lines.push(field(theme, "workflow", &row.workflow, width));
    lines.extend(row.step.iter().map(|step| field(theme, "step", step, width)));
    lines
}

fn plan_text(
    state: &State,
    theme: Theme,
    row: &Row,
    mission: &ShownMission,
    width: usize,
) -> Vec<Line<'static>> {
    let workflow = state.catalog.workflows.get(&row.workflow);
    let steps = workflow.map(ShownWorkflow::steps).unwrap_or_default();
    let mut lines = plain(&mission.prompt, width);
    lines.push(Line::default());
    for line in plan::lines(&mission.steps, steps) {
        let (icon, style) = match line.status {
            StepStatus::Completed => ("✓", theme.good()),
            StepStatus::Failed | StepStatus::Cancelled => ("✗", theme.bad()),
            StepStatus::Running | StepStatus::Assigned | StepStatus::Asked => ("●", theme.warm()),
            StepStatus::Skipped => ("–", theme.dim()),
            StepStatus::Blocked | StepStatus::Queued => ("○", theme.dim()),
        };
        let branch =
            if line.depth == 0 { String::new() } else { format!("{}└ ", "  ".repeat(line.depth - 1)) };
        let tries = if line.attempts > 1 { format!(" ×{}", line.attempts) } else { String::new() };
        let joins =
            if line.joins.is_empty() { String::new() } else { format!(" (after {})", line.joins.join(", ")) };
        let head = format!("{} {}{tries}{joins}", line.id, line.role);
        let said = if line.said.is_empty() { String::new() } else { format!("  {}", line.said) };
        let room = width.saturating_sub(branch.chars().count() + 2);
        lines.push(Line::from(vec![
            Span::styled(branch, theme.dim()),
            Span::styled(format!("{icon} "), style),
            Span::raw(fit(&format!("{head}{said}"), room)),
        ]));
    }
    lines
}

/// Explanation of the row's place: a sentence, and the needs of every transition.
fn why(state: &State, theme: Theme, row: &Row, width: usize) -> Vec<Line<'static>> {
    let mut lines: Vec<Line<'static>> =
        reasons(state, row).iter().flat_map(|text| plain(text, width)).collect();
    let next = offers::next(state, row);
    if !next.is_empty() {
        lines.push(Line::default());
    }
    for next in next {
        let (mark, style) = if next.allowed { ("✓", theme.good()) } else { ("✗", theme.dim()) };
        let by = if next.by.is_empty() { String::new() } else { format!("  ({})", next.by.join(", ")) };
        lines.push(Line::from(vec![
            Span::styled(format!("{mark} "), style),
            Span::styled(next.to.clone(), theme.bold()),
            Span::styled(by, theme.dim()),
        ]));
        let about = [
            next.guard.as_ref().map(|guard| format!("when {guard}")),
            next.gate.as_ref().map(|gate| format!("needs {gate}")),
            next.missing.as_ref().map(|missing| format!("missing: {missing}")),
            (!next.hooks.is_empty()).then(|| format!("then {}", next.hooks.join(", "))),
        ];
        for text in about.into_iter().flatten() {
            let wrapped = wrap(&text, width.saturating_sub(4));
            lines.extend(wrapped.into_iter().map(|text| Line::styled(format!("    {text}"), theme.dim())));
        }
    }
    lines
}

/// Explanation of a mission's place: a sentence, its pause with what answers it, its agents, and the steps that have failed or go
/// on.
fn mission_why(state: &State, theme: Theme, row: &Row, width: usize) -> Vec<Line<'static>> {
    let mut lines: Vec<Line<'static>> =
        reasons(state, row).iter().flat_map(|text| plain(text, width)).collect();
    let Some(mission) = &state.details.mission else { return lines };
    let dim = |text: &str| {
        let wrapped = wrap(text, width.saturating_sub(4));
        wrapped.into_iter().map(|text| Line::styled(format!("    {text}"), theme.dim())).collect::<Vec<_>>()
    };
    for pause in &mission.pauses {
        let step = pause.step.as_ref().map(|step| format!(" at {step}")).unwrap_or_default();
        lines.push(Line::default());
        lines.push(Line::styled(format!("‖ it pauses{step}"), theme.warm()));
        lines.extend(dim(&pause.what));
        lines.extend(pause.offers.iter().flat_map(|offer| dim(offer)));
    }
    for agent in &mission.agents {
        lines.push(Line::default());
        lines.push(Line::raw(fit(&format!("● agent {}, {}", agent.spawn, agent.actor), width)));
        lines.extend(dim(&agent.assessment.reason));
    }
    for step in
        mission.steps.iter().filter(|step| step.failure.is_some() || step.status == StepStatus::Running)
    {
        let (mark, style) = if step.failure.is_some() { ("✗", theme.bad()) } else { ("●", theme.warm()) };
        lines.push(Line::default());
        lines.push(Line::from(vec![
            Span::styled(format!("{mark} "), style),
            Span::styled(step.id.clone(), theme.bold()),
            Span::styled(format!("  {} ({})", step.status.as_str(), step.role), theme.dim()),
        ]));
        lines.extend(step.failure.iter().flat_map(|failure| dim(failure)));
    }
    lines
}

fn reasons(state: &State, row: &Row) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Some(need) = &row.need {
        let age = need.since.as_deref().and_then(|since| clock::age(since, state.now));
        let since = age.map(|age| format!(" ({age})")).unwrap_or_default();
        reasons.push(format!("{}{since}", without_request(row, &need.why)));
    }
    let said = row.need.as_ref().map(|need| need.why.as_str()).unwrap_or_default();
    reasons.extend(
        row.attention.iter().filter(|it| !said.contains(it.as_str())).map(|it| format!("attention: {it}")),
    );
    reasons.extend(
        row.other_branch
            .iter()
            .map(|it| format!("{it} is checked out in its worktree instead of {}", row.branch)),
    );
    reasons
}

/// The sentence without the text of a request, which stands above as it is.
fn without_request<'w>(row: &Row, why: &'w str) -> &'w str {
    let request = crate::model::request::of(row);
    let text = request.map(|it| it.text.trim()).unwrap_or_default();
    let first = text.split(char::is_control).next().unwrap_or_default();
    let at = Some(first).filter(|it| !it.is_empty()).and_then(|it| why.rfind(&format!(": {it}")));
    at.map_or(why, |at| &why[..at])
}

/// The explanation below an agent: why, and the transitions that something is missing for.
fn below(frame: &mut Frame<'_>, state: &State, theme: Theme, row: &Row, area: Rect) {
    let rule = format!("├ WHY {}┤", "─".repeat(usize::from(area.width.saturating_sub(7))));
    frame.render_widget(Line::styled(rule, theme.dim()), Rect { height: 1, ..area });
    let inner = Rect {
        x: area.x + 1,
        y: area.y + 1,
        width: area.width.saturating_sub(2),
        height: area.height.saturating_sub(1),
    };
    let width = usize::from(inner.width);
    let mut lines: Vec<Line<'static>> =
        reasons(state, row).iter().flat_map(|text| plain(text, width)).collect();
    for next in offers::next(state, row).iter().filter(|next| next.missing.is_some()) {
        let missing = next.missing.as_deref().unwrap_or_default();
        lines.push(Line::from(vec![
            Span::styled(format!("{}  ", next.to), Style::new()),
            Span::styled("✗ ", theme.bad()),
            Span::styled(fit(missing, width.saturating_sub(next.to.len() + 4)), theme.dim()),
        ]));
    }
    let height = usize::from(inner.height);
    if lines.len() > height {
        let more = lines.len() + 1 - height;
        lines.truncate(height.saturating_sub(1));
        lines.push(Line::styled(fit(&format!("… {more} more lines: 4 shows them"), width), theme.warm()));
    }
    frame.render_widget(Paragraph::new(lines), inner);
}

/// The events, the latest first.
fn events(state: &State, theme: Theme, history: &[Record], width: usize) -> Vec<Line<'static>> {
    let line = |event: &Record| {
        let age = clock::age(&event.timestamp, state.now).unwrap_or_default();
        let fields = fields_of(event);
        let about = said(&fields);
        let name = fields.get("type").and_then(serde_json::Value::as_str).unwrap_or_default();
        Line::from(vec![
            Span::styled(format!("{age:>4} "), theme.dim()),
            Span::raw(left(name, 19)),
            Span::styled(fit(&about, width.saturating_sub(24)), theme.dim()),
        ])
    };
    history.iter().rev().map(line).collect()
}

/// A record as its line in the journal.
fn fields_of(event: &Record) -> serde_json::Map<String, serde_json::Value> {
    match serde_json::to_value(event) {
        Ok(serde_json::Value::Object(fields)) => fields,
        Ok(_) | Err(_) => serde_json::Map::new(),
    }
}

/// The fields of an event that say most, in a line.
fn said(fields: &serde_json::Map<String, serde_json::Value>) -> String {
    let text = |name: &str| {
        let value = fields.get(name)?;
        if let Some(all) = value.as_array() {
            let words: Vec<&str> = all.iter().filter_map(serde_json::Value::as_str).collect();
            return (!words.is_empty()).then(|| words.join(", "));
        }
        let number = || value.as_u64().map(|number| number.to_string());
        value.as_str().map(str::to_owned).or_else(number)
    };
    if let (Some(from), Some(to)) = (text("from"), text("to")) {
        return format!("{from} → {to}");
    }
    let names = [
        "state", "hook", "action", "step", "actor", "harness", "status", "reason", "error", "url", "branch",
        "ref",
    ];
    names.iter().filter_map(|name| text(name)).take(3).collect::<Vec<_>>().join(", ")
}

/// Says why there is nothing to show.
pub(super) fn hint(frame: &mut Frame<'_>, theme: Theme, area: Rect, text: &str) {
    let lines: Vec<_> =
        wrap(text, usize::from(area.width)).into_iter().map(|it| Line::styled(it, theme.dim())).collect();
    frame.render_widget(Paragraph::new(lines), area);
}
