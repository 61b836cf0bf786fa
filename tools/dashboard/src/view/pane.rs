//! Draws the screen of the selected row's agent, with its colours.

use ansi_to_tui::IntoText;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Text};
use ratatui::widgets::Paragraph;

use super::details::hint;
use super::text::fit;
use super::theme::Theme;
use crate::model::row::{Row, RowGroup};
use crate::model::{State, details};
use orange_api::ShownPane;

pub fn draw(frame: &mut Frame<'_>, state: &State, theme: Theme, row: &Row, area: Rect) {
    let Some(pane) = &state.details.pane else {
        return hint(frame, theme, area, &absent(row));
    };
    let is_over = details::is_last_screen(state, row, pane);
    let area = if is_over { below_end(frame, theme, row, pane, area) } else { area };
    let lines = lines(pane, theme);
    let height = usize::from(area.height);
    // The view ends at the cursor or at the last line with text, the lower of the two. Without a cursor it ends at the last line.
    let last = pane.cursor.map_or(lines.len(), |cursor| cursor.row + 1);
    let end =
        last.max(lines.iter().rposition(|line| line.width() > 0).map_or(0, |at| at + 1)).min(lines.len());
    let first = end.saturating_sub(height).saturating_sub(state.details.scroll);
    let shown: Vec<_> = lines.into_iter().skip(first).take(height).collect();
    let style = if is_over { theme.dim() } else { Style::new() };
    frame.render_widget(Paragraph::new(shown).style(style), area);
    if let Some(cursor) = pane.cursor.filter(|_| !is_over) {
        let y = cursor.row.checked_sub(first).filter(|y| *y < height);
        if let (Some(y), true) = (y, cursor.column < area.width) {
            let place = (area.x + cursor.column, area.y + u16::try_from(y).unwrap_or(0));
            if let Some(cell) = frame.buffer_mut().cell_mut(place) {
                cell.set_style(Style::new().add_modifier(Modifier::REVERSED));
            }
        }
    }
}

/// Draws a line above the last screen of an agent, which says that the agent has ended. Returns the area below that line.
fn below_end(frame: &mut Frame<'_>, theme: Theme, row: &Row, pane: &ShownPane<'static>, area: Rect) -> Rect {
    let text = format!("Agent {} has ended ({} is {}). Its last screen:", pane.spawn, row.branch, row.status);
    let line = Line::styled(fit(&text, usize::from(area.width)), theme.warm());
    frame.render_widget(line, Rect { height: area.height.min(1), ..area });
    Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area }
}

fn absent(row: &Row) -> String {
    match (row.group(), row.session.as_str()) {
        (RowGroup::Over, _) => format!("{} is {}.", row.branch, row.status),
        (RowGroup::Queued, _) => "Its agent is not started yet.".to_owned(),
        (_, "active") => "…".to_owned(),
        (_, "crashed") => "Its agent has ended.".to_owned(),
        (_, "stopped") => "Its agent was stopped.".to_owned(),
        _ => "No agent of it is alive.".to_owned(),
    }
}

/// The lines of the pane. Of its control sequences, only colours have an effect.
fn lines(pane: &ShownPane<'static>, theme: Theme) -> Vec<Line<'static>> {
    pane.lines.iter().flat_map(|line| one(line, theme)).collect()
}

fn one(line: &str, theme: Theme) -> Vec<Line<'static>> {
    // Of the control characters, only the escape that begins a control sequence is kept: the parser reads the rest of the
    // sequence.
    let line: String = line.chars().filter(|it| !it.is_control() || *it == '\u{1b}').collect();
    let text = line.into_text().unwrap_or_else(|_| Text::raw(line.clone()));
    let mut lines: Vec<Line<'static>> = text.lines.into_iter().map(clean).collect();
    if !theme.has_colours() {
        for span in lines.iter_mut().flat_map(|line| &mut line.spans) {
            span.style = Style { fg: None, bg: None, underline_color: None, ..span.style };
        }
    }
    if lines.is_empty() { vec![Line::default()] } else { lines }
}

/// The line without control characters, which the terminal would obey.
fn clean(mut line: Line<'static>) -> Line<'static> {
    for span in &mut line.spans {
        if span.content.chars().any(char::is_control) {
            span.content = span.content.chars().filter(|letter| !letter.is_control()).collect();
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str, has_colours: bool) -> Vec<(String, Style)> {
        let lines = one(line, Theme::new(has_colours));
        assert_eq!(lines.len(), 1, "{line:?}");
        lines[0].spans.iter().map(|span| (span.content.to_string(), span.style)).collect()
    }

    #[test]
    fn colours_of_an_agent_are_kept() {
        let red = shown("\u{1b}[31mred\u{1b}[0m plain", true);
        assert_eq!(red[0].0, "red");
        assert_eq!(red[0].1.fg, Some(ratatui::style::Color::Red));
        assert_eq!(red[1].1.fg.unwrap_or_default(), ratatui::style::Color::Reset);
        let none = shown("\u{1b}[1;38;5;200mbold\u{1b}[0m", false);
        assert_eq!((none[0].1.fg, none[0].1.add_modifier.contains(Modifier::BOLD)), (None, true));
    }

    #[test]
    fn an_agent_cannot_reach_the_terminal() {
        for line in ["a\u{1b}[2Jb", "a\u{1b}]0;title\u{7}b", "a\u{1b}[31", "\u{9b}31m", "a\rb\u{8}"] {
            let text: String = shown(line, true).into_iter().map(|it| it.0).collect();
            assert!(!text.chars().any(char::is_control), "{line:?} gives {text:?}");
        }
    }
}
