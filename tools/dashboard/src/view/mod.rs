//! A frame of a state: pure, so that snapshots show the whole screen.

mod details;
mod diff;
mod footer;
mod form;
mod header;
mod list;
mod overlay;
mod pane;
mod request;
pub mod text;
mod text_field;
pub mod theme;

use ratatui::Frame;

use crate::model::{State, areas};
use theme::Theme;

/// Draws the whole screen.
pub fn draw(frame: &mut Frame<'_>, state: &State, theme: Theme) {
    let areas = areas::of(state);
    frame.render_widget(header::line(state, theme, areas.header.width), areas.header);
    if let Some(area) = areas.list {
        list::draw(frame, state, theme, area);
    }
    if areas.details.is_some() {
        details::draw(frame, state, theme, &areas);
    }
    if let Some(area) = areas.message {
        footer::message(frame, state, theme, area);
    }
    footer::bar(frame, state, theme, areas.footer);
    overlay::draw(frame, state, theme);
}
