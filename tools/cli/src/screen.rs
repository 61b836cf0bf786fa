//! Properties of the two output streams, and the style of findings there.

use std::env;
use std::os::fd::AsFd;

use clap::ValueEnum;
use rustix::termios::{isatty, tcgetwinsize};

/// The width where nothing says another one, in columns.
const WIDTH: usize = 80;

/// Narrower than this, lines break between words only in places that nobody wants to read.
const MIN_WIDTH: usize = 40;

/// Both output streams, and what the environment asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screens {
    /// Standard output.
    pub out: Screen,
    /// Standard error.
    pub err: Screen,
    /// The environment.
    pub wishes: Wishes,
}

/// One output stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// True if it is a terminal.
    pub is_terminal: bool,
    /// The columns that a line may have.
    pub width: usize,
}

/// Wishes of the environment about the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wishes {
    /// Colour in any case, or in no case.
    pub colour: Option<bool>,
    /// True if drawings may be used.
    pub drawings: bool,
}

/// Use of colour in the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal, unless the environment says otherwise
    #[default]
    Auto,
    /// In any case, with drawings
    Always,
    /// In no case
    Never,
}

/// Style of both streams, for people.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Styles {
    /// Standard output.
    pub out: Style,
    /// Standard error.
    pub err: Style,
}

/// Style of findings for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    /// Drawn with the lines of the file; otherwise in sentences without a drawing character, for screen readers, files and pipes.
    pub drawn: bool,
    /// With escape sequences for colour, which only drawings have.
    pub colour: bool,
    /// The columns that a line may have, as far as words and the place of a label allow.
    pub width: usize,
    /// True if the stream is a terminal.
    pub is_terminal: bool,
}

impl Screens {
    /// The streams and the environment of this process.
    pub fn of_process() -> Self {
        let columns = set("COLUMNS").and_then(|it| it.parse().ok()).filter(|it| *it > 0);
        let wishes =
            Wishes { colour: Wishes::colour(set), drawings: set("NO_GRAPHICS").is_none_or(|it| it == "0") };
        Self {
            out: Screen::of(std::io::stdout(), columns),
            err: Screen::of(std::io::stderr(), columns),
            wishes,
        }
    }

    /// Two terminals of 80 columns without colour.
    pub const fn plain() -> Self {
        let screen = Screen { is_terminal: true, width: WIDTH };
        Self { out: screen, err: screen, wishes: Wishes { colour: Some(false), drawings: true } }
    }

    /// Style of both streams; the flag has precedence over the environment.
    pub(crate) fn styles(self, flag: Colour) -> Styles {
        let colour = match flag {
            Colour::Auto => self.wishes.colour,
            Colour::Always => Some(true),
            Colour::Never => Some(false),
        };
        let style = |screen: Screen| Style {
            drawn: self.wishes.drawings && (screen.is_terminal || colour == Some(true)),
            colour: colour.unwrap_or(screen.is_terminal),
            width: screen.width,
            is_terminal: screen.is_terminal,
        };
        Styles { out: style(self.out), err: style(self.err) }
    }
}

impl Screen {
    /// `COLUMNS` has precedence over the size of a terminal, so that a reader can choose.
    fn of(stream: impl AsFd, columns: Option<usize>) -> Self {
        let is_terminal = isatty(&stream);
        let size = || tcgetwinsize(&stream).ok().map(|it| usize::from(it.ws_col)).filter(|it| *it > 0);
        let width = columns.or_else(|| is_terminal.then(size).flatten()).unwrap_or(WIDTH);
        Self { is_terminal, width: width.max(MIN_WIDTH) }
    }
}

impl Wishes {
    /// `NO_COLOR` (<https://no-color.org>) has precedence over `FORCE_COLOR` (<https://force-color.org>), and both over a
    /// terminal that cannot show colour.
    fn colour(set: impl Fn(&str) -> Option<String>) -> Option<bool> {
        match (set("NO_COLOR"), set("FORCE_COLOR")) {
            (Some(_), _) => Some(false),
            (None, Some(force)) => Some(force != "0"),
            (None, None) => set("TERM").filter(|it| it == "dumb").map(|_| false),
        }
    }
}

impl Style {
    /// Drawn in any case.
    pub(crate) fn drawn(self) -> Self {
        Self { drawn: true, ..self }
    }

    /// In sentences in any case.
    pub(crate) fn narrated(self) -> Self {
        Self { drawn: false, ..self }
    }
}

/// A variable that is set to something.
fn set(name: &str) -> Option<String> {
    env::var_os(name).filter(|it| !it.is_empty()).map(|it| it.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIPE: Screen = Screen { is_terminal: false, width: 80 };
    const TERMINAL: Screen = Screen { is_terminal: true, width: 80 };

    #[track_caller]
    fn check(screen: Screen, env: &[(&str, &str)], flag: Colour, expect: &str) {
        let get = |name: &str| env.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
        let wishes = Wishes { colour: Wishes::colour(get), drawings: get("NO_GRAPHICS").is_none() };
        let style = Screens { out: screen, err: screen, wishes }.styles(flag).out;
        let found = match (style.drawn, style.colour) {
            (true, true) => "colour",
            (true, false) => "plain",
            (false, _) => "narrated",
        };
        assert_eq!(found, expect, "{screen:?} {env:?} {flag:?}");
    }

    #[test]
    fn a_flag_wins_over_the_environment_and_that_over_the_stream() {
        check(TERMINAL, &[], Colour::Auto, "colour");
        check(PIPE, &[], Colour::Auto, "narrated");
        check(TERMINAL, &[("NO_COLOR", "1")], Colour::Auto, "plain");
        check(TERMINAL, &[("NO_COLOR", "1"), ("FORCE_COLOR", "1")], Colour::Auto, "plain");
        check(TERMINAL, &[("TERM", "dumb")], Colour::Auto, "plain");
        check(TERMINAL, &[("TERM", "dumb"), ("FORCE_COLOR", "1")], Colour::Auto, "colour");
        check(TERMINAL, &[("FORCE_COLOR", "0")], Colour::Auto, "plain");
        check(PIPE, &[("FORCE_COLOR", "1")], Colour::Auto, "colour");
        check(PIPE, &[("FORCE_COLOR", "1"), ("NO_GRAPHICS", "1")], Colour::Auto, "narrated");
        check(PIPE, &[("NO_COLOR", "1")], Colour::Always, "colour");
        check(TERMINAL, &[("FORCE_COLOR", "1")], Colour::Never, "plain");
        check(PIPE, &[("FORCE_COLOR", "1")], Colour::Never, "narrated");
    }
}
