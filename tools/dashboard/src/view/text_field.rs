//! A text that a person writes, with its cursor.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::theme::Theme;
use crate::model::text_field::{ShownField, TextField};

/// Draws the lines around the cursor, which is there only while the field is active. Returns what is shown.
pub fn draw(
    frame: &mut Frame<'_>,
    theme: Theme,
    field: &TextField,
    area: Rect,
    is_active: bool,
) -> ShownField {
    let shown = field.shown(area.width, usize::from(area.height));
    let lines: Vec<Line<'_>> = shown.lines.iter().map(|line| Line::raw(line.text.clone())).collect();
    frame.render_widget(Paragraph::new(lines), area);
    let (line, column) = shown.cursor;
    let offset = u16::try_from(column).ok().zip(u16::try_from(line).ok());
    let place = offset
        .map(|(column, line)| Position::new(area.x.saturating_add(column), area.y.saturating_add(line)));
    if let Some(place) = place.filter(|place| is_active && area.contains(*place))
        && let Some(cell) = frame.buffer_mut().cell_mut(place)
    {
        cell.set_style(theme.selected());
    }
    shown
}

/// Number of the text's line that has the cursor, where not all lines are shown.
pub fn place(theme: Theme, shown: &ShownField) -> Option<Span<'static>> {
    let (line, lines) = shown.place;
    (lines > shown.lines.len()).then(|| Span::styled(format!(" {line}/{lines}"), theme.dim()))
}
