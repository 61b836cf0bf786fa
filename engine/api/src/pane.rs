//! `orange task pane` and `orange mission pane`.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Content of the pane of an agent; with `--follow`, each line is one of these.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ShownPane<'p> {
    /// The task's or the mission's id.
    pub id: Cow<'p, str>,
    /// The agent's number.
    pub spawn: u32,
    /// The window in which the agent was started, such as `worker`.
    pub window: Cow<'p, str>,
    /// The width of the pane.
    pub columns: u16,
    /// The height of the pane.
    pub rows: u16,
    /// Position of the cursor; null where none is shown.
    pub cursor: Option<Cursor>,
    /// True if the program in the pane runs.
    pub alive: bool,
    /// Its lines, from the top: text with escape sequences that set colours and attributes (`ESC [ … m`) and with no others. Each line begins and
    /// ends without colours. Without `--lines`, they are the whole screen, with empty lines at its end.
    pub lines: Cow<'p, [String]>,
}

/// The place of a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Cursor {
    /// Its column, from 0.
    pub column: u16,
    /// Its line in `lines`, from 0.
    pub row: usize,
}
