//! The last lines: what has happened or is asked, and the keys.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthStr;

use super::text::fit;
use super::text_field;
use super::theme::Theme;
use crate::model::State;
use crate::model::areas::text_width;
use crate::model::ask::{Mode, TextQuestion};
use crate::model::details::DetailsTab;
use crate::model::form::NewWorkForm;
use crate::model::text_field::TextField;
use crate::model::{keys, offers};

/// Draws the last message, or what is asked in one line.
pub fn message(frame: &mut Frame<'_>, state: &State, theme: Theme, area: Rect) {
    let width = usize::from(area.width);
    let line = match &state.mode {
        Mode::Search(field) => {
            let area = below_failure(frame, state, theme, area);
            return search(frame, theme, field, area);
        }
        Mode::Text(question) => {
            let area = below_failure(frame, state, theme, area);
            return text_question(frame, theme, question, area);
        }
        Mode::Confirm(confirm) if confirm.quits => {
            let text = format!(" {}", fit(&confirm.question, width.saturating_sub(1)));
            Line::styled(text, theme.warm().patch(theme.bold()))
        }
        Mode::Confirm(confirm) => {
            let text = format!(" {} (y/N)", fit(&confirm.question, width.saturating_sub(8)));
            Line::styled(text, theme.warm().patch(theme.bold()))
        }
        Mode::List
        | Mode::Details
        | Mode::Menu(_)
        | Mode::Form(_)
        | Mode::Request(_)
        | Mode::Help
        | Mode::Messages(_) => said(state, theme, width),
    };
    frame.render_widget(line, area);
}

/// Draws the last failure where a text is written. Returns the place below.
fn below_failure(frame: &mut Frame<'_>, state: &State, theme: Theme, area: Rect) -> Rect {
    if !state.has_failed() {
        return area;
    }
    frame.render_widget(
        said(state, theme, usize::from(area.width)),
        Rect { height: area.height.min(1), ..area },
    );
    Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area }
}

fn search(frame: &mut Frame<'_>, theme: Theme, field: &TextField, area: Rect) {
    const SIGN: u16 = 3;
    frame.render_widget(Line::styled(" / ", theme.bold()), area);
    let area = Rect { x: area.x.saturating_add(SIGN), width: area.width.saturating_sub(SIGN), ..area };
    text_field::draw(frame, theme, field, area, true);
}

/// The question in the first line, and the text below it.
fn text_question(frame: &mut Frame<'_>, theme: Theme, question: &TextQuestion, area: Rect) {
    let width = text_width(area.width);
    let text = Rect { x: area.x + 1, y: area.y + 1, width, height: area.height.saturating_sub(1) };
    let shown = text_field::draw(frame, theme, &question.field, text.intersection(area), true);
    let place = text_field::place(theme, &shown);
    let room = usize::from(width).saturating_sub(place.iter().map(Span::width).sum());
    let mut spans = vec![Span::styled(format!(" {}", fit(&question.question, room)), theme.bold())];
    spans.extend(place);
    frame.render_widget(Line::from(spans), area);
}

fn said(state: &State, theme: Theme, width: usize) -> Line<'static> {
    // A letter is typed, and Esc leaves what is written.
    let is_written = matches!(state.mode, Mode::Form(_) | Mode::Text(_) | Mode::Search(_));
    if let Some(note) = &state.dropped_key {
        return Line::styled(fit(&format!(" {note}"), width), theme.warm());
    }
    if let Some(held) = state.held.last() {
        let hint = if is_written { " …" } else { ": u undoes" };
        let text = format!(" {}{hint}", held.order.label);
        return Line::styled(fit(&text, width), theme.warm());
    }
    if let Some(failure) = state.failure.as_ref().filter(|_| state.messages.is_empty()) {
        return Line::styled(fit(&format!(" ✗ {}", failure.message), width), theme.bad());
    }
    let Some(at) = state.first_message() else { return Line::default() };
    let message = &state.messages[at];
    let (mark, style) = if message.is_failure { ("✗", theme.bad()) } else { ("✓", theme.good()) };
    let text = format!(" {mark} {}", message.text);
    let failures = state.messages.iter().filter(|it| it.is_failure).count();
    let more = match (failures, state.messages.len() - failures) {
        _ if is_written => String::new(),
        (0, 1) | (1, 0) if text.width() + 5 <= width => "  Esc".to_owned(),
        (0, 1) | (1, 0) => "  e reads it, Esc".to_owned(),
        (failures, 0) => format!("  {failures} ✗: e reads all, Esc"),
        (failures, others) => format!("  {failures} ✗ {others} ✓: e reads all, Esc"),
    };
    let text = fit(&text, width.saturating_sub(more.width()));
    Line::from(vec![Span::styled(text, style), Span::styled(more, theme.dim())])
}

/// Draws the keys, the most likely first, as many as there is room for.
pub fn bar(frame: &mut Frame<'_>, state: &State, theme: Theme, area: Rect) {
    let mut lines: Vec<Line<'static>> = vec![Line::default()];
    let (mut used, mut room) = (0, usize::from(area.width));
    for (key, label, is_allowed) in shown(state) {
        let width = key.width() + label.width() + 3;
        if used + width > room {
            if lines.len() >= usize::from(area.height) {
                break;
            }
            lines.push(Line::default());
            (used, room) = (0, usize::from(area.width));
        }
        used += width;
        let Some(line) = lines.last_mut() else { break };
        let styles = if is_allowed { (theme.key(), theme.dim()) } else { (theme.dim(), theme.dim()) };
        let label = if is_allowed { Span::raw(label) } else { Span::styled(label, theme.dim()) };
        line.spans.extend([
            Span::raw(" "),
            Span::styled(key, styles.0),
            Span::raw(" "),
            label,
            Span::raw(" "),
        ]);
    }
    frame.render_widget(Paragraph::new(lines), area);
}

/// The keys of this moment, what they do, and whether they can be used.
fn shown(state: &State) -> Vec<ShownKey> {
    let fixed = |keys: &[(&str, &str)]| {
        keys.iter().map(|(key, label)| ((*key).to_owned(), (*label).to_owned(), true)).collect::<Vec<_>>()
    };
    match &state.mode {
        Mode::Search(_) => fixed(&[("⏎", "search"), ("Esc", "all")]),
        Mode::Text(_) => {
            fixed(&[("Ctrl-S", "send"), ("⏎", "new line"), ("Ctrl-E", "editor"), ("Esc", "drop")])
        }
        Mode::Confirm(confirm) if confirm.quits => {
            fixed(&[("y q", "quit"), ("u", "withdraw"), ("n", "stay")])
        }
        Mode::Confirm(_) => fixed(&[("y", "yes"), ("n", "no")]),
        Mode::Menu(_) => fixed(&[("j k", "choose"), ("⏎", "do it"), ("Esc", "back")]),
        Mode::Form(form) => fixed(&keys_of_form(form)),
        Mode::Request(_) => {
            let answers = of_row(state).0.into_iter().filter(|(key, ..)| key == "a" || key == "d");
            answers.chain(fixed(&[("j k PgDn PgUp", "scroll"), ("Esc", "back")])).collect()
        }
        Mode::Help => fixed(&[("any key", "back")]),
        Mode::Messages(_) => fixed(&[("j k", "scroll"), ("any other key", "they are read")]),
        Mode::Details if state.details.tab == DetailsTab::Diff => fixed(&[
            ("j k", "line"),
            ("[ ]", "file"),
            ("{ }", "hunk"),
            ("c", "comment"),
            ("F", "send back"),
            ("←", "list"),
            ("?", "keys"),
        ]),
        Mode::Details => {
            let (can, cannot) = of_row(state);
            [fixed(&[("j k", "scroll"), ("←", "list")]), can, fixed(&[("?", "keys")]), cannot].concat()
        }
        Mode::List => {
            let first = fixed(&[("n", "next need"), ("t", "more"), ("?", "keys"), ("c", "create")]);
            let last =
                fixed(&[("v", "mark"), ("/", "find"), ("f", "filter"), ("y", "copy id"), ("q", "quit")]);
            let (can, cannot) = of_row(state);
            [can, first, last, cannot].concat()
        }
    }
}

/// The keys of the form: of a choice, of a text, or while its order runs.
fn keys_of_form(form: &NewWorkForm) -> Vec<(&'static str, &'static str)> {
    if form.sent.is_some() {
        return vec![("Esc", "back to the list")];
    }
    let send = ("Ctrl-S", if form.is_mission { "start" } else { "create" });
    let own = match form.text(form.field) {
        None => vec![("← →", "choose")],
        Some(text) if text.has_lines() => vec![("⏎", "new line"), ("Ctrl-E", "editor")],
        Some(_) => vec![("Ctrl-E", "editor")],
    };
    let end = if form.is_empty() {
        vec![("Esc", "back")]
    } else {
        vec![("Esc", "back, keeps it"), ("Ctrl-X", "drop")]
    };
    [vec![("Tab", "next field"), send], own, end].concat()
}

/// A key, what it does, and whether it can be used.
type ShownKey = (String, String, bool);

/// Keys for the selected row, and those that are refused now. A row that waits for an order takes none.
fn of_row(state: &State) -> (Vec<ShownKey>, Vec<ShownKey>) {
    let Some(row) = state.selected() else { return (Vec::new(), Vec::new()) };
    if state.order_on(&row.id).is_some() {
        return (Vec::new(), Vec::new());
    }
    let label = |offered: &offers::Offered| match &offered.refusal {
        Some(why) => format!("{} ({})", offered.label, fit(why, 28)),
        None => offered.label.clone(),
    };
    let offered = offers::of(state, row);
    let shown = offered.iter().map(|it| (keys::sign(&it.key).to_owned(), label(it), it.refusal.is_none()));
    shown.partition(|(_, _, is_allowed)| *is_allowed)
}
