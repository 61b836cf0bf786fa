//! The changes of the selected row: files, hunks, lines and comments.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::details::hint;
use super::text::{fit, left, wrap};
use super::theme::Theme;
use crate::model::State;
use crate::model::ask::Mode;
use crate::model::diff::{LineKind, TaskDiff};
use crate::model::row::Row;

/// Draws them, with the selected line in the middle where that is possible.
pub fn draw(frame: &mut Frame<'_>, state: &State, theme: Theme, area: Rect) {
    let Some(diff) = &state.details.diff else { return hint(frame, theme, area, "…") };
    if diff.lines.is_empty() {
        return hint(frame, theme, area, "Nothing has changed.");
    }
    let verdict = state.selected().and_then(verdict).unwrap_or_default();
    let width = usize::from(area.width);
    let (files, added, removed) = diff.size();
    let comments = match diff.comments.len() {
        0 => String::new(),
        count => format!(", {count} commented: F sends them back"),
    };
    let files = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
    let size = if diff.is_unchanged() {
        "nothing has changed".to_owned()
    } else {
        format!("{files}, +{added} −{removed}")
    };
    let size = fit(&format!("{verdict}{size}{comments}"), width);
    frame.render_widget(Line::styled(size, theme.dim()), Rect { height: area.height.min(1), ..area });
    let below = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let is_focused = matches!(state.mode, Mode::Details | Mode::Text(_));
    let height = usize::from(below.height);
    let mut lines = Vec::new();
    let first = diff.selected.saturating_sub(height / 2).min(diff.lines.len().saturating_sub(height));
    for at in first..diff.lines.len() {
        if lines.len() >= height {
            break;
        }
        lines.extend(line(diff, at, theme, width, is_focused && at == diff.selected));
        for text in diff.comments.get(&at).into_iter().flat_map(|it| wrap(it, width.saturating_sub(4))) {
            lines.push(Line::styled(format!("  ▌ {text}"), theme.warm()));
        }
    }
    lines.truncate(height);
    frame.render_widget(Paragraph::new(lines), below);
}

/// The verdict of a row whose work was reviewed.
fn verdict(row: &Row) -> Option<String> {
    let need = row.need.as_ref()?;
    let round = need.round.map(|round| format!(" {round}")).unwrap_or_default();
    Some(format!("review{round}: {}, ", need.verdict.as_ref()?))
}

fn line(diff: &TaskDiff, at: usize, theme: Theme, width: usize, is_selected: bool) -> Vec<Line<'static>> {
    let line = &diff.lines[at];
    let text = line.text.replace('\t', "    ");
    let style = match line.kind {
        LineKind::Said if text.starts_with('#') => theme.bold(),
        LineKind::Said => Style::new(),
        LineKind::File => theme.bold(),
        LineKind::Hunk => theme.colour(Color::Cyan),
        LineKind::Added => theme.good(),
        LineKind::Removed => theme.bad(),
        LineKind::Other => theme.dim(),
    };
    let style = if is_selected { style.patch(theme.selected()) } else { style };
    let mark = if diff.comments.contains_key(&at) { "▌" } else { " " };
    let room = width.saturating_sub(1);
    // What people say has long lines, and is read to its end.
    let texts = if line.kind == LineKind::Said { wrap(&text, room) } else { vec![text] };
    let shown = |text: String| {
        Line::from(vec![Span::styled(mark, theme.warm()), Span::styled(left(&text, room), style)])
    };
    texts.into_iter().map(shown).collect()
}
