//! Draws the request of the selected row's agent word for word, above every tab or in full over the screen.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};

use super::text::fit;
use super::theme::Theme;
use crate::model::State;
use crate::model::ask::Mode;
use crate::model::request::{ShownRequest, shown, shown_in};
use crate::model::{areas, verbatim};

/// Draws the request above the tab that is shown, if there is room.
pub fn above(frame: &mut Frame<'_>, state: &State, theme: Theme) {
    // A menu or a form is drawn over the request later. It covers a part, and for consent it counts as covering all of it.
    let Some(shown) = shown_in(state, &Mode::List) else { return };
    let Rect { width, height, .. } = shown.area;
    let rule = |text: &str| {
        let text = fit(text, usize::from(width.saturating_sub(4)));
        let rest = usize::from(width).saturating_sub(unicode_width::UnicodeWidthStr::width(&*text) + 2);
        format!("├{text}{}┤", "─".repeat(rest))
    };
    let top = Rect { height: 1, ..shown.area };
    frame.render_widget(Line::styled(rule(&format!(" {} ", shown.request.about)), theme.warm()), top);
    let below = Rect { y: top.y + height.saturating_sub(1), height: 1, ..top };
    let (text, style) = match shown.below {
        0 => (String::new(), theme.dim()),
        count => (format!(" {}: o shows them ", more(count)), theme.warm().patch(theme.bold())),
    };
    frame.render_widget(Line::styled(rule(&text), style), below);
    draw_lines(frame, theme, &shown);
}

/// Draws the whole request in a box over the screen, or as much of it as fits.
pub fn in_full(frame: &mut Frame<'_>, state: &State, theme: Theme) {
    let Some(shown) = shown(state) else { return };
    let branch = state.selected().map_or("", |row| &row.branch);
    let title = format!(" {branch}: {} ", shown.request.about);
    let title = fit(&title, usize::from(shown.area.width.saturating_sub(4)));
    let rest = match (shown.above, shown.below) {
        (0, 0) => String::new(),
        (above, 0) => format!(" {} above ", more(above)),
        (0, below) => format!(" {} below ", more(below)),
        (above, below) => format!(" {} above, {below} below ", more(above)),
    };
    let block = Block::bordered().border_style(theme.key()).title(Span::styled(title, theme.bold()));
    let block = block.title_bottom(Span::styled(rest, theme.warm().patch(theme.bold())));
    frame.render_widget(Clear, shown.area);
    frame.render_widget(block, shown.area);
    draw_lines(frame, theme, &shown);
}

fn more(count: usize) -> String {
    if count == 1 { "1 more line".to_owned() } else { format!("{count} more lines") }
}

fn draw_lines(frame: &mut Frame<'_>, theme: Theme, shown: &ShownRequest<'_>) {
    let line = |line: &verbatim::VerbatimLine| {
        let mark = if line.is_continued { "┆ " } else { "  " };
        Line::from(vec![Span::styled(mark, theme.dim()), Span::raw(line.text.clone())])
    };
    let lines: Vec<Line<'_>> = shown.lines.iter().map(line).collect();
    frame.render_widget(Paragraph::new(lines), areas::inside(shown.area));
}
