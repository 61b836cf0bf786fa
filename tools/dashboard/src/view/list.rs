//! The list: groups with their rows.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::symbols::merge::MergeStrategy;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph};
use unicode_width::UnicodeWidthStr;

use super::text::{fit, left, right, wrap};
use super::theme::Theme;
use orange_core::need::NeedKind;

use crate::model::list::{ListLine, entries};
use crate::model::row::{Row, RowGroup, RowKind, mark};
use crate::model::{State, areas, clock};

pub fn draw(frame: &mut Frame<'_>, state: &State, theme: Theme, area: Rect) {
    let entries = entries(state);
    let inner = areas::inside(area);
    let width = usize::from(inner.width);
    let block = Block::bordered().merge_borders(MergeStrategy::Exact).border_style(theme.dim());
    frame.render_widget(block, area);
    // The title of the group whose row comes first stands in the border.
    let first = entries.iter().take(state.list.offset + 1).rev().find_map(|entry| match entry {
        ListLine::Title(group) => Some(*group),
        ListLine::Row(_) | ListLine::Summary(_) => None,
    });
    if let Some(group) = first {
        title(frame, theme, Rect { height: 1, ..area }, group);
    }
    if entries.is_empty() {
        let lines: Vec<Line<'_>> =
            nothing(state).iter().flat_map(|text| wrap(text, width)).map(Line::raw).collect();
        frame.render_widget(Paragraph::new(lines), inner);
        return;
    }
    let columns = Columns::of(state, theme, width);
    let rows = areas::rows(area);
    if rows.y > inner.y {
        frame.render_widget(columns.heads(theme), Rect { height: 1, ..inner });
    }
    let inner = rows;
    for (line, entry) in
        entries.iter().skip(1 + state.list.offset).take(usize::from(inner.height)).enumerate()
    {
        let y = inner.y + u16::try_from(line).unwrap_or(u16::MAX);
        match entry {
            ListLine::Title(group) => {
                let line = Rect { y, height: 1, ..area };
                let rule = format!("├{}┤", "─".repeat(usize::from(area.width.saturating_sub(2))));
                frame.render_widget(Line::styled(rule, theme.dim()), line);
                title(frame, theme, line, *group);
            }
            ListLine::Row(row) => {
                let line = Rect { y, height: 1, ..inner };
                frame.render_widget(columns.line(state, theme, row), line);
            }
            ListLine::Summary(row) => {
                let line = Rect { y, height: 1, ..inner };
                let is_selected = state.list.selected.as_ref() == Some(&row.id);
                let style = if is_selected { Style::new() } else { theme.dim() };
                frame.render_widget(Line::styled(fit(&summary(row), width), style), line);
            }
        }
    }
}

fn title(frame: &mut Frame<'_>, theme: Theme, line: Rect, group: RowGroup) {
    let (name, style) = match group {
        RowGroup::NeedsYou => (" NEEDS YOU ", theme.warm().patch(theme.bold())),
        RowGroup::Running => (" RUNNING ", theme.bold()),
        RowGroup::Queued => (" QUEUED ", theme.bold()),
        RowGroup::Over => (" DONE ", theme.dim()),
    };
    let area = Rect { x: line.x + 1, width: line.width.saturating_sub(2), ..line };
    frame.render_widget(Line::styled(name, style), area);
}

fn nothing(state: &State) -> Vec<String> {
    let texts: &[&str] = match state {
        State { is_loaded: false, .. } => &["…"],
        State { failure: Some(failure), .. } => {
            let message = format!("The tasks cannot be listed: {}", failure.message);
            return vec![message, String::new(), failure.help.clone()];
        }
        State { catalog, .. } if catalog.projects.is_empty() => &[
            "No project yet. To begin:",
            "",
            "  orange project add PATH",
            "  orange setup",
            "",
            "Then c makes a task.",
        ],
        State { list, .. } if !list.search.is_empty() => {
            &["No task contains this text. Esc shows all of them."]
        }
        _ => &["No task is under way.", "", "c makes one, and f shows those that are over."],
    };
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Summary of the row, below it.
fn summary(row: &Row) -> String {
    let text = row.summary.lines().next().unwrap_or_default();
    match text {
        _ if row.broken.is_some() => String::new(),
        "" => "    └ (no summary)".to_owned(),
        text => format!("    └ {text}"),
    }
}

/// The widths of the columns, for all rows alike.
struct Columns {
    has_numbers: bool,
    name: usize,
    about: usize,
    /// The columns of [`MORE`] that are shown.
    more: Vec<usize>,
}

/// Additional columns of a wide list: the name of the column, and its width.
const MORE: [(&str, usize); 6] =
    [("status", 13), ("agents", 10), ("pull request", 12), ("commits", 7), ("changes", 11), ("harness", 9)];

/// The columns in the order in which they get room.
const FIRST: [usize; 6] = [2, 4, 3, 5, 0, 1];

/// The width from which on names have the number of their worktree.
const WITH_NUMBERS: usize = 48;

/// Least width of the words about a row beside more columns.
const LEAST: usize = 22;

impl Columns {
    fn of(state: &State, theme: Theme, width: usize) -> Columns {
        let longest = |has_numbers| state.rows().map(|row| name(state, row, has_numbers).width()).max();
        // Two for the selection, two for the icon, five for the age.
        let mut room = width.saturating_sub(9);
        // The name comes first: neither a column nor the number of a worktree takes room of it where the screen is wider.
        let most = (room * 2 / 5).max(8);
        let has_numbers = width >= WITH_NUMBERS && longest(true) <= Some(most);
        let name = longest(has_numbers).unwrap_or(0).clamp(4, most);
        room = room.saturating_sub(name + 1);
        let mut more = Vec::new();
        let mut is_used = [false; MORE.len()];
        for row in state.rows() {
            let cells = cells(theme, row);
            is_used.iter_mut().zip(cells).for_each(|(is_used, (text, _))| *is_used |= !text.is_empty());
        }
        for column in FIRST {
            let needed = MORE[column].1 + 1;
            if !is_used[column] {
                continue;
            }
            if room < LEAST + needed {
                break;
            }
            room -= needed;
            more.push(column);
        }
        more.sort_unstable();
        Columns { has_numbers, name, about: room, more }
    }

    /// The names of the columns.
    fn heads(&self, theme: Theme) -> Line<'static> {
        let mut heads = format!("    {} {}", left("task", self.name), left("what it needs", self.about));
        for column in &self.more {
            let (name, width) = MORE[*column];
            heads += &format!(" {}", left(name, width));
        }
        Line::styled(heads + &right("age", 5), theme.dim())
    }

    fn line(&self, state: &State, theme: Theme, row: &Row) -> Line<'static> {
        let is_selected = state.list.selected.as_ref() == Some(&row.id);
        let is_marked = state.list.marked.contains(&row.id);
        let sign = match (is_selected, is_marked) {
            (true, true) => "◆ ",
            (true, false) => "▶ ",
            (false, true) => "◇ ",
            (false, false) => "  ",
        };
        let text = if is_selected { theme.bold() } else { Style::new() };
        let text = if row.group() == RowGroup::Over && !is_selected { theme.dim() } else { text };
        let about = busy(state, row).map_or_else(
            || Span::styled(left(&about(state, row), self.about), text),
            |what| Span::styled(left(&what, self.about), theme.warm()),
        );
        let mut spans = vec![
            Span::styled(sign, theme.key()),
            Span::styled(format!("{} ", row.icon()), theme.icon(row)),
            Span::styled(left(&name(state, row, self.has_numbers), self.name), text),
            Span::raw(" "),
            about,
        ];
        let cells = cells(theme, row);
        for column in &self.more {
            let (text, style) = &cells[*column];
            spans.push(Span::raw(" "));
            spans.push(Span::styled(left(text, MORE[*column].1), *style));
        }
        let age = clock::age(row.since(), state.now).unwrap_or_default();
        spans.push(Span::styled(right(&age, 5), theme.dim()));
        Line::from(spans)
    }
}

/// Branch, with the number of the worktree, the project where there are several, and a mark for a mission.
fn name(state: &State, row: &Row, has_number: bool) -> String {
    if row.broken.is_some() {
        return row.id.chars().take(8).collect();
    }
    let is_mission = if row.kind == RowKind::Mission { "◇" } else { "" };
    let of_several = state.project().is_none();
    // The number of a worktree stands behind its project's name.
    let number = row
        .workspace
        .as_deref()
        .filter(|_| has_number)
        .and_then(|it| it.rsplit_once("--"))
        .map(|(_, number)| number);
    let number = number.map(|number| format!("[{number}] ")).unwrap_or_default();
    match of_several {
        true => format!("{number}{is_mission}{}/{}", row.project, row.branch),
        false => format!("{number}{is_mission}{}", row.branch),
    }
}

fn about(state: &State, row: &Row) -> String {
    let about = row.about(state.now);
    match row.need.as_ref().filter(|need| need.person).map(|need| need.kind) {
        Some(NeedKind::ReviewReady) | None => about.into_owned(),
        Some(NeedKind::IdleWithoutArtifact) => format!("idle {about}"),
        Some(kind) => format!("{} {about}", kind.as_str().replace('-', " ")),
    }
}

/// Order that is carried out on the row, or is about to be.
fn busy(state: &State, row: &Row) -> Option<String> {
    if let Some(held) = state.held.iter().find(|held| held.order.about == row.id) {
        let left = (held.due - state.now).max(0).div_euclid(1000) + 1;
        return Some(format!("{} in {left}s: u undoes", verb(&held.order.label)));
    }
    state.order_on(&row.id).map(|label| format!("{} …", verb(label)))
}

fn verb(label: &str) -> &str {
    label.rsplit_once(' ').map_or(label, |(verb, _)| verb)
}

/// Texts of the row in the columns of [`MORE`].
fn cells(theme: Theme, row: &Row) -> [(String, Style); MORE.len()] {
    let agents: Vec<&str> =
        row.agents.iter().map(|agent| agent.name.as_deref().unwrap_or(agent.actor.as_str())).collect();
    let pr = row.pr.as_ref().map(|pr| {
        let number = pr.number.map(|number| format!("#{number}")).unwrap_or_else(|| "PR".to_owned());
        let state = pr.state.as_deref().unwrap_or_default();
        format!("{number} {state} {}", pr.checks.as_deref().map(mark).unwrap_or_default())
    });
    let changes = row.changes.or(row.need.as_ref().and_then(|need| need.change));
    let commits = changes.filter(|it| it.commits > 0).map(|it| it.commits.to_string());
    let lines =
        changes.filter(|it| it.added + it.removed > 0).map(|it| format!("+{} −{}", it.added, it.removed));
    let style = match changes {
        Some(it) if it.removed == 0 => theme.good(),
        Some(it) if it.added == 0 => theme.bad(),
        _ => Style::new(),
    };
    let checks = row.pr.as_ref().and_then(|pr| pr.checks.as_deref()).map(mark);
    let pr_style = if checks == Some("✗") { theme.bad() } else { Style::new() };
    [
        (row.status.clone(), theme.dim()),
        (agents.join(" "), theme.dim()),
        (pr.unwrap_or_default(), pr_style),
        (commits.unwrap_or_default(), Style::new()),
        (lines.unwrap_or_default(), style),
        (row.harness.clone(), theme.dim()),
    ]
}
