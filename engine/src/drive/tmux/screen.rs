//! The content of a pane now, and the size of its window.

use super::{Pane, Tmux, checked, colours, parse};
use crate::{Error, ErrorKind, Result};

/// The size of a pane or a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Its width in columns.
    pub columns: u16,
    /// Its height in rows.
    pub rows: u16,
}

/// Content of a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaneScreen {
    pub size: Size,
    /// The column of its cursor, and the line in `lines`; `None` where no cursor is shown.
    pub cursor: Option<(u16, usize)>,
    /// True if its program has ended.
    pub is_dead: bool,
    /// Its lines with their colours.
    pub lines: Vec<String>,
}

/// The fields of the first line that [`parse_screen`] reads.
const FORMAT: &str = "#{pane_width}:#{pane_height}:#{cursor_x}:#{cursor_y}:#{cursor_flag}:#{pane_dead}:#{@orange_task}:#{@orange_agent}";

impl Tmux {
    /// Content of this pane of an agent: its screen, or so many last lines of it and of the lines above it. `None` when the pane is
    /// gone.
    pub fn screen(&self, pane: &Pane, lines: Option<usize>) -> Result<Option<PaneScreen>> {
        let id = pane.pane_id.as_str();
        let start = lines.map_or_else(|| "0".to_owned(), |lines| format!("-{lines}"));
        let output = self.run(|call| {
            let call = call.args(["display-message", "-p", "-t", id, FORMAT, ";"]);
            call.args(["capture-pane", "-e", "-p", "-t", id, "-S", &start])
        })?;
        if parse::says_no_target(&output.complaint()) {
            return Ok(None);
        }
        let printed = checked(output)?.text_as_it_is();
        let (head, captured) = printed.split_once('\n').unwrap_or((&printed, ""));
        let Some((screen, marks)) = parse_screen(head, captured, lines) else {
            return Err(Error::new(
                ErrorKind::Environment,
                format!("tmux described a pane in an unknown form: {head}"),
            ));
        };
        // After the end of a server, another pane may have its number.
        let is_same = marks == (pane.task.as_deref().unwrap_or(""), pane.agent.as_deref().unwrap_or(""));
        Ok(is_same.then_some(screen))
    }

    /// Gives the window of this pane another size, unless a terminal shows its session: a terminal that is attached
    /// later gets its own size.
    pub fn resize(&self, pane: &Pane, size: Size) -> Result<()> {
        const NOBODY: &str = "#{&&:#{==:#{session_attached},0},#{==:#{window_active_clients},0}}";
        let id = pane.window_id.as_str();
        // tmux would keep the size for every terminal from now on.
        let resize = format!(
            "resize-window -t {id} -x {} -y {} ; set-option -wu -t {id} window-size",
            size.columns, size.rows
        );
        let output = self.run(|call| call.args(["if-shell", "-F", "-t", &pane.pane_id, NOBODY, &resize]))?;
        if parse::says_no_target(&output.complaint()) { Ok(()) } else { checked(output).map(drop) }
    }
}

/// The screen in the output of [`FORMAT`] and `capture-pane`, and the marks of its session and its pane.
fn parse_screen<'h>(
    head: &'h str,
    captured: &str,
    wanted: Option<usize>,
) -> Option<(PaneScreen, (&'h str, &'h str))> {
    let mut fields = head.splitn(8, ':');
    let mut number = || fields.next()?.parse::<u16>().ok();
    let size = Size { columns: number()?, rows: number()? };
    let (column, row, has_cursor, is_dead) = (number()?, number()?, number()?, number()?);
    let marks = (fields.next()?, fields.next()?);
    let mut lines = colours::whole_lines(captured);
    // The screen is the end of what was captured.
    let first = lines.len().saturating_sub(size.rows.into());
    let mut cursor = Some(first + usize::from(row)).filter(|_| has_cursor == 1);
    if let Some(wanted) = wanted {
        let end = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
        lines.truncate(end);
        let dropped = end.saturating_sub(wanted);
        lines.drain(..dropped);
        cursor = cursor.and_then(|row| row.checked_sub(dropped)).filter(|row| *row < lines.len());
    }
    let cursor = cursor.map(|row| (column, row));
    Some((PaneScreen { size, cursor, is_dead: is_dead == 1, lines }, marks))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(captured: &str, wanted: Option<usize>) -> (Vec<String>, Option<(u16, usize)>) {
        let (screen, marks) = parse_screen("80:3:4:1:1:0:k3v9:worker", captured, wanted).unwrap();
        assert_eq!((screen.size.columns, marks), (80, ("k3v9", "worker")));
        (screen.lines, screen.cursor)
    }

    #[test]
    fn the_screen_is_whole_and_the_last_lines_have_text() {
        assert_eq!(screen("a\nb\n\n", None).0, ["a", "b", ""]);
        assert_eq!(screen("a\nb\n\n", None).1, Some((4, 1)));
        assert_eq!(screen("old\na\nb\n\n", Some(1)), (vec!["b".to_owned()], Some((4, 0))));
        assert_eq!(screen("old\na\nb\n\n", Some(9)).0, ["old", "a", "b"]);
        assert_eq!(screen("old\na\nb\n\n", Some(9)).1, Some((4, 2)));
        assert_eq!(screen("a\n\n\n", Some(9)), (vec!["a".to_owned()], None));
        assert!(parse_screen("", "", None).is_none());
        let hidden = parse_screen("80:3:4:1:0:1:k3v9:worker", "a\nb\n\n", None).unwrap().0;
        assert_eq!((hidden.cursor, hidden.is_dead), (None, true));
    }
}
