//! The terminal: raw and with a screen of its own while the dashboard is shown, as it was before after that.

use std::io::{self, Stdout, stdout};

use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::execute;
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size,
};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal};

/// The terminal with the dashboard's screen.
pub(super) struct TerminalScreen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl TerminalScreen {
    /// Shows an empty screen. A panic shows the former one before its message.
    pub(super) fn enter() -> io::Result<TerminalScreen> {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            hook(panic);
        }));
        take().inspect_err(|_| restore())?;
        Ok(TerminalScreen { terminal: Terminal::new(CrosstermBackend::new(stdout()))? })
    }

    /// Draws a frame; the terminal gets what has changed.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(drop)
    }

    /// Draws everything with the next frame.
    pub(super) fn redraw(&mut self) {
        let (columns, lines) = self.size();
        // Not `clear`: that asks the terminal where its cursor is, and the answer is taken from the keys. What fails here fails
        // with the next frame, too, and that is reported.
        self.terminal.resize(Rect::new(0, 0, columns, lines)).unwrap_or_default();
    }

    /// The columns and lines.
    pub(super) fn size(&self) -> (u16, u16) {
        size().unwrap_or((80, 24))
    }

    /// Shows the former screen.
    pub(super) fn leave(&self) {
        restore();
    }

    /// Shows the dashboard's screen again.
    pub(super) fn enter_again(&self) {
        // What fails here fails with the next frame, too, and that is reported.
        take().unwrap_or_default();
    }
}

fn take() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(stdout(), EnterAlternateScreen, EnableMouseCapture, EnableBracketedPaste)
}

/// A terminal that is gone needs nothing.
fn restore() {
    execute!(stdout(), DisableBracketedPaste, DisableMouseCapture, LeaveAlternateScreen, Show)
        .unwrap_or_default();
    disable_raw_mode().unwrap_or_default();
}
