//! The form for a new task or mission.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::overlay::open_box;
use super::text::{fit, left, wrap};
use super::text_field;
use super::theme::Theme;
use crate::model::areas::{FORM_NAMES, FORM_WIDTH, form_text_width};
use crate::model::form::{FormField, NewWorkForm};
use crate::model::text_field::TextField;

/// Draws it. A text of several lines gets the lines that it needs, as far as there is room.
pub fn draw(frame: &mut Frame<'_>, theme: Theme, form: &NewWorkForm) {
    let screen = frame.area();
    let width = form_text_width(screen.width);
    let refusal = refusal(form, usize::from(width + FORM_NAMES), usize::from(screen.height / 3));
    let heights = heights(form, width, screen.height.saturating_sub(4 + height_of(&refusal)));
    let title = match (form.sent.is_some(), form.is_mission) {
        (true, _) => format!("{} …", form.order().label),
        (false, true) => "A new mission".to_owned(),
        (false, false) => "A new task".to_owned(),
    };
    let height = heights.iter().sum::<u16>() + height_of(&refusal) + 2;
    let inner = open_box(frame, theme, &title, FORM_WIDTH, height);
    let mut y = inner.y;
    for (field, height) in form.fields().iter().zip(heights) {
        let area = Rect { y, height, ..inner }.intersection(inner);
        draw_field(frame, theme, form, *field, area);
        y = y.saturating_add(height);
    }
    let below = Rect { x: inner.x + 1, y, height: height_of(&refusal), ..inner }.intersection(inner);
    let lines: Vec<Line<'_>> = refusal.into_iter().map(|text| Line::styled(text, theme.bad())).collect();
    frame.render_widget(Paragraph::new(lines), below);
}

/// Reason for its refusal, or for the failure of its editor.
fn refusal(form: &NewWorkForm, width: usize, most: usize) -> Vec<String> {
    let mut lines = form.refusal.as_ref().map(|text| wrap(&format!("✗ {text}"), width)).unwrap_or_default();
    lines.truncate(most);
    lines
}

fn height_of(lines: &[String]) -> u16 {
    u16::try_from(lines.len()).unwrap_or(u16::MAX)
}

/// Number of lines of each field. Texts of several lines share what the others leave.
fn heights(form: &NewWorkForm, width: u16, room: u16) -> Vec<u16> {
    let fields = form.fields();
    let long: Vec<Option<&TextField>> =
        fields.iter().map(|field| form.text(*field).filter(|text| text.has_lines())).collect();
    let count = long.iter().flatten().count();
    let left = usize::from(room).saturating_sub(fields.len() - count);
    let most = (left / count.max(1)).max(1);
    let height = |text: Option<&TextField>| text.map_or(1, |text| text.height(width).min(most));
    long.into_iter().map(|text| u16::try_from(height(text)).unwrap_or(1)).collect()
}

fn draw_field(frame: &mut Frame<'_>, theme: Theme, form: &NewWorkForm, field: FormField, area: Rect) {
    let is_active = field == form.field && form.sent.is_none();
    let style = if is_active { theme.key() } else { theme.dim() };
    let label = left(&format!(" {}", field.name(form.is_mission)), usize::from(FORM_NAMES));
    let mut labels = vec![Line::styled(label, style)];
    let value = Rect {
        x: area.x.saturating_add(FORM_NAMES),
        width: area.width.saturating_sub(FORM_NAMES + 1),
        ..area
    };
    if let Some(text) = form.text(field) {
        let shown = text_field::draw(frame, theme, text, value, is_active);
        labels.extend(text_field::place(theme, &shown).filter(|_| area.height > 1).map(Line::from));
        if text.text().is_empty() {
            let hint = Rect { x: value.x + u16::from(is_active), ..value };
            let room = usize::from(value.width).saturating_sub(1);
            frame.render_widget(
                Line::styled(fit(hint_of(form, field), room), theme.dim()),
                hint.intersection(area),
            );
        }
    } else {
        let name = form.pick(field).and_then(|pick| pick.name()).unwrap_or("…");
        let name = fit(name, usize::from(value.width).saturating_sub(4));
        let line = if is_active {
            Line::from(Span::styled(format!("‹ {name} ›"), theme.bold()))
        } else {
            Line::styled(name, Style::new())
        };
        frame.render_widget(line, value);
    }
    frame.render_widget(Paragraph::new(labels), Rect { width: area.width.min(FORM_NAMES), ..area });
}

/// Meaning of an empty field.
fn hint_of(form: &NewWorkForm, field: FormField) -> &'static str {
    match field {
        FormField::Branch if form.is_mission => "(made from the prompt)",
        FormField::Branch => "(made from the summary)",
        FormField::Summary if form.is_mission => "(what is to be done)",
        FormField::Summary => "(without one, the agent asks what to do)",
        FormField::Context => "(more about it)",
        FormField::Project
        | FormField::Workflow
        | FormField::Status
        | FormField::Execution
        | FormField::Intervene
        | FormField::Harness
        | FormField::ReviewHarness => "",
    }
}
