//! Request of an agent: its lines on the screen, and the number of those that a person has seen.

use std::collections::BTreeMap;

use ratatui::layout::Rect;

use super::ask::Mode;
use super::row::Row;
use super::verbatim::{self, VerbatimLine};
use super::{State, areas};
use orange_api::NeedAction;
use orange_core::need::NeedKind;

/// Request of an agent to a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonRequest<'r> {
    /// Its name, or that of its agent where it can be answered on the agent's screen alone.
    pub name: String,
    /// The tool that the agent wants to use, or that it asks a question.
    pub about: String,
    /// The command, file or question.
    pub text: &'r str,
}

/// The lines of a request that are on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownRequest<'r> {
    pub request: PersonRequest<'r>,
    /// Its place, with a rule above and one below.
    pub area: Rect,
    pub lines: Vec<VerbatimLine>,
    /// Number of characters before them.
    pub begin: usize,
    /// Number of lines before them.
    pub above: usize,
    /// Number of lines after them.
    pub below: usize,
}

/// Record of the rows and requests that the frames up to now have shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// Number of drawn frames.
    pub frames: u64,
    row: Option<SeenSince<RowSight>>,
    request: Option<SeenSince<String>>,
    /// Number of drawn characters of each request, from its beginning on.
    read: BTreeMap<String, usize>,
}

/// Something that is on the screen, and the first frame since which it always was.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SeenSince<T> {
    what: T,
    since: u64,
}

/// A selected row, and what could be done with it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RowSight {
    id: String,
    kind: Option<NeedKind>,
    actions: Vec<NeedAction>,
}

/// Visibility of a request: a person can mean it by a key only after it was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sighted {
    /// No frame has room for it, or something is drawn over it.
    Absent,
    /// It came on the screen after the key was pressed.
    Late,
    /// So many of its lines were not drawn.
    Partly(usize),
    /// It was drawn whole.
    Whole,
}

/// Request of the agent of a row.
pub fn of(row: &Row) -> Option<PersonRequest<'_>> {
    let need = row.need.as_ref()?;
    let text = need.argument.as_deref().or_else(|| need.request.as_deref().map(|_| ""))?;
    let agent = need.agent.map(|number| number.to_string()).unwrap_or_default();
    let name = need.request.clone().unwrap_or_else(|| format!("{}.{agent}", row.id));
    let about = if need.kind == NeedKind::Permission {
        format!("MAY IT USE {}?", need.tool.as_deref().unwrap_or("THIS"))
    } else {
        "IT ASKS".to_owned()
    };
    Some(PersonRequest { name, about, text })
}

/// The columns before a line, which say whether it continues another.
pub const GUTTER: u16 = 2;

/// Number of lines that a request needs at this width, counted no further than `most`.
pub fn height(request: &PersonRequest<'_>, width: u16, most: u16) -> u16 {
    let lines = verbatim::lines(request.text, room(width), usize::from(most));
    u16::try_from(lines.len()).unwrap_or(most)
}

fn room(width: u16) -> usize {
    usize::from(width.saturating_sub(GUTTER))
}

/// The lines of the selected row's request that a frame of this state shows.
pub fn shown(state: &State) -> Option<ShownRequest<'_>> {
    shown_in(state, &state.mode)
}

/// The lines of the selected row's request that a frame shows if the keys are for this mode.
pub fn shown_in<'s>(state: &'s State, mode: &Mode) -> Option<ShownRequest<'s>> {
    let row = state.selected()?;
    let request = of(row)?;
    let (area, scroll) = match mode {
        Mode::Request(scroll) => (areas::request_box(state), *scroll),
        Mode::List | Mode::Details | Mode::Search(_) | Mode::Confirm(_) | Mode::Text(_) => {
            (areas::of(state).request?, 0)
        }
        Mode::Menu(_) | Mode::Form(_) | Mode::Help | Mode::Messages(_) => return None,
    };
    let inner = areas::inside(area);
    let height = usize::from(inner.height);
    let mut lines = verbatim::lines(request.text, room(inner.width), usize::MAX);
    let above = scroll.min(lines.len().saturating_sub(height));
    let below = lines.len().saturating_sub(above + height);
    lines.truncate(above + height);
    let rest = lines.split_off(above);
    let begin = lines.last().map_or(0, |line| line.end);
    (height > 0 && inner.width > GUTTER).then_some(ShownRequest {
        request,
        area,
        lines: rest,
        begin,
        above,
        below,
    })
}

/// Notes what the frame of this state shows, which is drawn now.
pub fn drawn(state: &mut State) {
    let row = state.selected().map(RowSight::of);
    let shown = shown(state);
    let read = shown.as_ref().map(|it| (it.begin, it.lines.last().map_or(it.begin, |line| line.end)));
    let name = shown.map(|it| it.request.name);
    let asked: Vec<String> = state.rows().filter_map(of).map(|it| it.name).collect();
    let sight = &mut state.sight;
    sight.frames += 1;
    sight.row = SeenSince::after(sight.row.take(), row, sight.frames);
    sight.request = SeenSince::after(sight.request.take(), name.clone(), sight.frames);
    sight.read.retain(|name, _| asked.contains(name));
    if let (Some(name), Some((begin, end))) = (name, read) {
        let before = sight.read.entry(name).or_default();
        if begin <= *before {
            *before = end.max(*before);
        }
    }
}

impl Sight {
    /// Nothing of it is on the screen any more, since another program has the terminal.
    pub fn forget(&mut self) {
        (self.row, self.request) = (None, None);
    }

    /// True if this row was selected on the screen, with what it needs now, when so many frames were drawn.
    pub fn has_shown(&self, row: &Row, frames: u64) -> bool {
        self.row.as_ref().is_some_and(|seen| seen.what == RowSight::of(row) && seen.since <= frames)
    }
}

impl<T: PartialEq> SeenSince<T> {
    fn after(before: Option<SeenSince<T>>, now: Option<T>, frame: u64) -> Option<SeenSince<T>> {
        let what = now?;
        match before {
            Some(before) if before.what == what => Some(before),
            Some(_) | None => Some(SeenSince { what, since: frame }),
        }
    }
}

impl RowSight {
    fn of(row: &Row) -> RowSight {
        let need = row.need.as_ref();
        RowSight {
            id: row.id.clone(),
            kind: need.map(|need| need.kind),
            actions: need.iter().flat_map(|need| &need.actions).filter(|it| it.is_open()).cloned().collect(),
        }
    }
}

/// Visibility of the request of this row, for a key that was read when so many frames were drawn.
pub fn sighted(state: &State, row: &Row, frames: u64) -> Sighted {
    let Some(request) = of(row) else { return Sighted::Late };
    match &state.sight.request {
        Some(seen) if seen.what == request.name && seen.since <= frames => match unread(state, &request) {
            0 => Sighted::Whole,
            count => Sighted::Partly(count),
        },
        Some(_) => Sighted::Late,
        // The frame that has no room for it must have been there, too.
        None if state.sight.has_shown(row, frames) => Sighted::Absent,
        None => Sighted::Late,
    }
}

/// Number of lines of a request that no frame has shown yet, at the width that it has now.
pub fn unread(state: &State, request: &PersonRequest<'_>) -> usize {
    let areas = areas::of(state);
    let area = areas.request.unwrap_or_else(|| areas::request_box(state));
    let lines = verbatim::lines(request.text, room(areas::inside(area).width), usize::MAX);
    match state.sight.read.get(&request.name) {
        Some(read) => lines.iter().filter(|line| line.end > *read).count(),
        None => lines.len(),
    }
}
