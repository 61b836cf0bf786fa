//! The changes of the selected row: files, hunks, lines and comments.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Color;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::details::hint;
use super::text::{fit, left, wrap};
use super::theme::Theme;
use crate::model::State;
use crate::model::ask::Mode;
use crate::model::diff::{Diff, LineKind};

/// Draws them, with the selected line in the middle where that is possible.
pub fn draw(frame: &mut Frame<'_>, state: &State, theme: Theme, area: Rect) {
    let Some(diff) = &state.details.diff else { return hint(frame, theme, area, "…") };
    if diff.lines.is_empty() {
        return hint(frame, theme, area, "Nothing has changed.");
    }
    let width = usize::from(area.width);
    let (files, added, removed) = diff.size();
    let comments = match diff.comments.len() {
        0 => String::new(),
        count => format!(", {count} commented: F sends them back"),
    };
    let files = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
    let size = fit(&format!("{files}, +{added} −{removed}{comments}"), width);
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
        lines.push(line(diff, at, theme, width, is_focused && at == diff.selected));
        for text in diff.comments.get(&at).into_iter().flat_map(|it| wrap(it, width.saturating_sub(4))) {
            lines.push(Line::styled(format!("  ▌ {text}"), theme.warm()));
        }
    }
    frame.render_widget(Paragraph::new(lines), below);
}

fn line(diff: &Diff, at: usize, theme: Theme, width: usize, is_selected: bool) -> Line<'static> {
    let line = &diff.lines[at];
    let text = line.text.replace('\t', "    ");
    let style = match line.kind {
        LineKind::File => theme.bold(),
        LineKind::Hunk => theme.colour(Color::Cyan),
        LineKind::Added => theme.good(),
        LineKind::Removed => theme.bad(),
        LineKind::Other => theme.dim(),
    };
    let style = if is_selected { style.patch(theme.selected()) } else { style };
    let mark = if diff.comments.contains_key(&at) { "▌" } else { " " };
    Line::from(vec![
        Span::styled(mark, theme.warm()),
        Span::styled(left(&text, width.saturating_sub(1)), style),
    ])
}
