//! Colours. They are the terminal's own sixteen, so that they fit a light and a dark background.

use ratatui::style::{Color, Modifier, Style};

use crate::model::row::{Row, RowGroup};

/// Colours of the screen, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    has_colours: bool,
}

impl Theme {
    /// With or without colours.
    pub fn new(has_colours: bool) -> Theme {
        Theme { has_colours }
    }

    /// True if there are colours.
    pub fn has_colours(self) -> bool {
        self.has_colours
    }

    /// A colour, if there are any.
    pub fn colour(self, colour: Color) -> Style {
        if self.has_colours { Style::new().fg(colour) } else { Style::new() }
    }

    /// Style of less important text.
    pub fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// Style of more important text.
    pub fn bold(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Style of the selection.
    pub fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// A key in a line of keys.
    pub fn key(self) -> Style {
        self.colour(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    /// Style of failures.
    pub fn bad(self) -> Style {
        self.colour(Color::Red)
    }

    /// Style of successes.
    pub fn good(self) -> Style {
        self.colour(Color::Green)
    }

    /// Style of something that a person should look at.
    pub fn warm(self) -> Style {
        self.colour(Color::Yellow)
    }

    /// The icon of a row.
    pub fn icon(self, row: &Row) -> Style {
        let kind = row.need.as_ref().map(|need| need.kind.as_str()).unwrap_or_default();
        match row.group() {
            RowGroup::NeedsYou => match kind {
                "review-ready" => self.good().add_modifier(Modifier::BOLD),
                "permission" | "question" | "idle-without-artifact" | "paused" => {
                    self.warm().add_modifier(Modifier::BOLD)
                }
                _ => self.bad().add_modifier(Modifier::BOLD),
            },
            RowGroup::Running if kind == "limit" => self.warm(),
            RowGroup::Running => self.good(),
            RowGroup::Queued | RowGroup::Over => self.dim(),
        }
    }
}
