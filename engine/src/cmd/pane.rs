//! `orange task pane` and `orange mission pane`: what the pane of an agent shows.

use crate::Result;
use crate::app::App;
use crate::cmd::answer::CommandAnswer;
use crate::cmd::args::PaneArgs;
use crate::cmd::screen;
use crate::flow::pane::{self, AgentPane, PaneScreen, follow, look, resize, without_colours};
use crate::store::WorkItemDir;
use orange_api::{Cursor, ShownPane};
use std::borrow::Cow;

/// Sequence that clears a terminal, so that a pane is printed over the one before.
const CLEAR: &str = "\u{1b}[H\u{1b}[2J\u{1b}[3J";

/// Shows the pane, and with `--follow` each change of it.
///
/// # Errors
/// `not_found` when the agent has no pane; `environment` when tmux fails.
pub fn run(
    app: &App,
    dir: &WorkItemDir,
    args: &PaneArgs,
    as_json: bool,
    tell: &dyn Fn(&CommandAnswer) -> Result<bool>,
) -> Result<CommandAnswer> {
    let found = pane::of(app, dir, args.spawn)?;
    if let Some(size) = args.size {
        resize(app, &found, size)?;
    }
    let has_colours = !as_json && screen::has_colours();
    if !args.follow {
        return answer(dir, &found, &look(app, dir, &found, args.lines)?, has_colours);
    }
    let tell = |shown: &PaneScreen| {
        let answer = answer(dir, &found, shown, has_colours)?;
        let clear = if has_colours { CLEAR } else { "" };
        tell(&CommandAnswer { text: format!("{clear}{}", answer.text), ..answer })
    };
    follow(app, dir, &found, args.lines, &screen::is_read, &tell)?;
    Ok(CommandAnswer::default())
}

fn answer(
    dir: &WorkItemDir,
    found: &AgentPane,
    shown: &PaneScreen,
    has_colours: bool,
) -> Result<CommandAnswer> {
    let end = shown.lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    let lines = shown.lines.iter().take(end);
    let text: Vec<String> =
        lines.map(|line| if has_colours { line.clone() } else { without_colours(line) }).collect();
    let answer = ShownPane {
        id: dir.id.as_str().into(),
        spawn: found.agent.spawn,
        window: found.agent.window.as_str().into(),
        columns: shown.size.columns,
        rows: shown.size.rows,
        cursor: shown.cursor.map(|(column, row)| Cursor { column, row }),
        alive: !shown.is_dead,
        lines: Cow::Borrowed(&shown.lines),
    };
    CommandAnswer::of(&answer, text.join("\n"))
}
