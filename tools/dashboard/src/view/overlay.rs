//! Boxes that are drawn over the screen: the form, a menu, the keys.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};
use unicode_width::UnicodeWidthStr;

use super::form;
use super::request;
use super::text::{fit, left, wrap};
use super::theme::Theme;
use crate::model::State;
use crate::model::ask::{Menu, Mode};
use crate::model::keys::HELP;

/// Draws it, if there is one.
pub fn draw(frame: &mut Frame<'_>, state: &State, theme: Theme) {
    match &state.mode {
        Mode::Form(form) => form::draw(frame, theme, form),
        Mode::Menu(menu) => draw_menu(frame, theme, menu),
        Mode::Request(_) => request::in_full(frame, state, theme),
        Mode::Help => draw_help(frame, theme),
        Mode::Messages(above) => draw_messages(frame, state, theme, *above),
        Mode::List | Mode::Details | Mode::Search(_) | Mode::Confirm(_) | Mode::Text(_) => {}
    }
}

/// The messages in full, the latest failure first.
fn draw_messages(frame: &mut Frame<'_>, state: &State, theme: Theme, above: usize) {
    let screen = frame.area();
    let width = screen.width.min(104);
    let room = usize::from(width.saturating_sub(4));
    let (bad, good): (Vec<_>, Vec<_>) = state.messages.iter().rev().partition(|it| it.is_failure);
    let texts = bad.iter().chain(&good).map(|it| (it.is_failure, it.text.clone()));
    let list =
        state.failure.iter().map(|it| (true, format!("the tasks cannot be listed: {}", it.sentence())));
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (is_failure, text) in list.chain(texts) {
        let (mark, style) = if is_failure { ("✗", theme.bad()) } else { ("✓", theme.good()) };
        for (number, text) in wrap(&text, room).into_iter().enumerate() {
            let mark = if number == 0 { mark } else { " " };
            lines.push(Line::from(vec![Span::styled(format!("{mark} "), style), Span::raw(text)]));
        }
    }
    let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX);
    let inner = open_box(frame, theme, "Messages", width, height);
    let above = above.min(lines.len().saturating_sub(usize::from(inner.height)));
    frame.render_widget(Paragraph::new(lines.split_off(above)), inner);
}

/// An empty box of at most this size in the middle; returns what is inside.
pub(super) fn open_box(frame: &mut Frame<'_>, theme: Theme, title: &str, width: u16, height: u16) -> Rect {
    let screen = frame.area();
    let width = width.min(screen.width);
    let height = height.min(screen.height.saturating_sub(2));
    let area = Rect { x: (screen.width - width) / 2, y: (screen.height - height) / 2, width, height };
    let title = Span::styled(format!(" {} ", fit(title, usize::from(width.saturating_sub(4)))), theme.bold());
    let block = Block::bordered().title(title).border_style(theme.key());
    let inner = block.inner(area);
    frame.render_widget(Clear, area);
    frame.render_widget(block, area);
    inner
}

fn draw_menu(frame: &mut Frame<'_>, theme: Theme, menu: &Menu) {
    let height = u16::try_from(menu.items.len()).unwrap_or(u16::MAX).saturating_add(2);
    let inner = open_box(frame, theme, &menu.title, 76, height);
    let width = usize::from(inner.width);
    let rows = usize::from(inner.height).max(1);
    let first = (menu.selected + 1).saturating_sub(rows);
    let mut lines = Vec::new();
    for (at, item) in menu.items.iter().enumerate().skip(first).take(rows) {
        let is_selected = at == menu.selected;
        let sign = if is_selected { "▶ " } else { "  " };
        let why = item.refusal.as_ref().map(|why| format!("  {why}")).unwrap_or_default();
        let label = fit(&item.label, width.saturating_sub(2));
        let room = width.saturating_sub(2 + label.width());
        let style = if item.refusal.is_some() { theme.dim() } else { theme.bold() };
        lines.push(Line::from(vec![
            Span::styled(sign, theme.key()),
            Span::styled(label, style),
            Span::styled(fit(&why, room), theme.dim()),
        ]));
    }
    if lines.is_empty() {
        lines.push(Line::styled(" nothing can be done with it", theme.dim()));
    }
    frame.render_widget(Paragraph::new(lines), inner);
}

fn draw_help(frame: &mut Frame<'_>, theme: Theme) {
    let screen = frame.area();
    let columns: usize = if screen.width >= 112 { 2 } else { 1 };
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (title, keys) in HELP {
        lines.push(Line::styled(format!(" {title}"), theme.bold()));
        for help in *keys {
            lines.push(Line::from(vec![
                Span::styled(format!("  {}", left(help.keys, 10)), theme.key()),
                Span::raw(help.does),
            ]));
        }
    }
    let rows = lines.len().div_ceil(columns);
    let fits = rows + 2 <= usize::from(screen.height.saturating_sub(2));
    // Where the screen is low, two narrow columns have room for more.
    let columns = if fits { columns } else { 2 };
    let rows = lines.len().div_ceil(columns);
    let height = u16::try_from(rows + 2).unwrap_or(u16::MAX);
    let width = if columns == 1 { 58 } else { screen.width.min(110) };
    let inner = open_box(frame, theme, "Keys", width, height);
    let half = inner.width / u16::try_from(columns).unwrap_or(1);
    for (column, part) in lines.chunks(rows).enumerate() {
        let x = inner.x + half * u16::try_from(column).unwrap_or(0);
        frame.render_widget(Paragraph::new(part.to_vec()), Rect { x, width: half, ..inner });
    }
}
