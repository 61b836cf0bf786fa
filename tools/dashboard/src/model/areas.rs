//! Areas of the screen.

use ratatui::layout::Rect;

use super::ask::Mode;
use super::details::DetailsTab;
use super::list::ScreenLayout;
use super::{State, request};

/// The parts of the screen. Neighbours share the line between them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Areas {
    /// The figures at the top.
    pub header: Rect,
    /// The list with its border.
    pub list: Option<Rect>,
    /// The selected row with its border.
    pub details: Option<Rect>,
    /// The names of the tabs.
    pub tabs: Rect,
    /// The request of the selected row's agent, with the rules above and below it.
    pub request: Option<Rect>,
    /// The shown part of the selected row.
    pub body: Rect,
    /// The line above the explanation, and the explanation below an agent.
    pub why: Option<Rect>,
    /// The last message, or a question.
    pub message: Option<Rect>,
    pub footer: Rect,
}

/// Below this width the list and the details are not beside each other.
const NARROW: u16 = 60;

/// Divides the screen.
pub fn of(state: &State) -> Areas {
    let (columns, lines) = (state.columns, state.lines);
    let message_lines = message_lines(state);
    let footer_lines = if lines < 16 { 1 } else { 2 };
    let below = footer_lines + message_lines;
    let at = |y: u16, height: u16| Rect::new(0, y.min(lines), columns, height.min(lines.saturating_sub(y)));
    let body_height = lines.saturating_sub(1 + below);
    let message = (message_lines > 0).then(|| at(1 + body_height, message_lines));
    let mut areas = Areas {
        header: at(0, 1),
        message,
        footer: at(lines.saturating_sub(footer_lines), footer_lines),
        ..Areas::default()
    };
    let all = at(1, body_height);
    let layout = if columns < NARROW && state.list.layout == ScreenLayout::Both {
        ScreenLayout::List
    } else {
        state.list.layout
    };
    match layout {
        ScreenLayout::List => areas.list = Some(all),
        ScreenLayout::Details => areas.details = Some(all),
        ScreenLayout::Both => {
            let width = (columns * 9 / 20).clamp(40, 100).min(columns - 24);
            areas.list = Some(Rect { width, ..all });
            areas.details = Some(Rect { x: width - 1, width: columns - width + 1, ..all });
        }
    }
    if let Some(details) = areas.details {
        let inner = inside(details);
        areas.tabs = Rect { height: inner.height.min(1), ..inner };
        let below =
            Rect { y: inner.y + areas.tabs.height, height: inner.height - areas.tabs.height, ..inner };
        let asked = asked_lines(state, below);
        let rules = Rect { x: details.x, y: below.y, width: details.width, height: asked };
        areas.request = (asked > 0).then_some(rules);
        let below = Rect { y: below.y + asked, height: below.height - asked, ..below };
        let why = if state.details.tab == DetailsTab::Agent && below.height >= 12 {
            5.min(below.height / 3)
        } else {
            0
        };
        areas.body = Rect { height: below.height - why, ..below };
        let line = Rect { x: details.x, y: below.y + below.height - why, width: details.width, height: why };
        areas.why = (why > 0).then_some(line);
    }
    areas
}

/// Number of lines of the last message or a question. A text that a person writes grows up to a third of the screen, and stands
/// below a failure.
fn message_lines(state: &State) -> u16 {
    let is_said = state.dropped_key.is_some()
        || !state.messages.is_empty()
        || !state.held.is_empty()
        || state.failure.is_some();
    match &state.mode {
        Mode::Text(question) => {
            let most = (state.lines / 3).max(1);
            let lines = question.field.height(text_width(state.columns));
            1 + u16::try_from(lines).unwrap_or(most).min(most) + u16::from(state.has_failed())
        }
        Mode::Search(_) => 1 + u16::from(state.has_failed()),
        Mode::Confirm(_) => 1,
        Mode::List
        | Mode::Details
        | Mode::Menu(_)
        | Mode::Form(_)
        | Mode::Request(_)
        | Mode::Help
        | Mode::Messages(_) => u16::from(is_said),
    }
}

/// Width of a text that a person writes below the list.
pub fn text_width(columns: u16) -> u16 {
    columns.saturating_sub(2)
}

/// Width of the form, with its border.
pub const FORM_WIDTH: u16 = 76;

/// Width of the names of its fields.
pub const FORM_NAMES: u16 = 12;

/// Width of a text that a person writes in the form.
pub fn form_text_width(columns: u16) -> u16 {
    columns.min(FORM_WIDTH).saturating_sub(FORM_NAMES + 3)
}

/// Least number of lines of the shown part of the row, below a long request.
const LEAST_BODY: u16 = 3;

/// Number of lines of a request above the shown part, with its two rules: all that it needs, as far as there is room.
fn asked_lines(state: &State, below: Rect) -> u16 {
    let most = below.height.saturating_sub(LEAST_BODY + 2);
    let request =
        state.selected().and_then(request::of).filter(|_| most > 0 && below.width > request::GUTTER);
    request.map_or(0, |request| request::height(&request, below.width, most) + 2)
}

/// The box that shows a request in full, above the last lines.
pub fn request_box(state: &State) -> Rect {
    let areas = of(state);
    let end = areas.message.unwrap_or(areas.footer).y;
    Rect::new(0, 0, state.columns, end.min(state.lines))
}

/// The lowest list that has a line for the names of its columns.
const WITH_HEADS: u16 = 10;

/// The lines of the list that have rows: inside of the border, and below the names of the columns.
pub fn rows(list: Rect) -> Rect {
    let inner = inside(list);
    let heads = u16::from(inner.height >= WITH_HEADS);
    Rect { y: inner.y + heads, height: inner.height - heads, ..inner }
}

/// The area inside of a border.
pub fn inside(area: Rect) -> Rect {
    Rect {
        x: area.x + 1,
        y: area.y + 1,
        width: area.width.saturating_sub(2),
        height: area.height.saturating_sub(2),
    }
}
