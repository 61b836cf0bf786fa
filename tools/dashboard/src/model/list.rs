//! The list: which rows it shows, in which order, and which one is selected.

use std::collections::BTreeSet;

use super::row::{Row, RowGroup};
use super::{State, areas, request};

/// The tasks that the list shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListFilter {
    /// Those that are not over.
    #[default]
    Active,
    All,
    /// Those that are over.
    Over,
}

/// Division of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScreenLayout {
    /// The list, and the selected row beside it.
    #[default]
    Both,
    /// The list alone, with all its columns.
    List,
    /// The selected row alone.
    Details,
}

/// Selection, marks and filter. The selection is an id, so that it stays on its task whatever the order is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListView {
    /// The id of the selected row.
    pub selected: Option<String>,
    /// The number that it had among the visible rows, for the case that it goes away.
    pub number: usize,
    /// The ids of the marked rows.
    pub marked: BTreeSet<String>,
    /// The tasks that are shown.
    pub filter: ListFilter,
    /// Text that the rows have to contain.
    pub search: String,
    /// Division of the screen.
    pub layout: ScreenLayout,
    /// Number of lines that are scrolled away.
    pub offset: usize,
    /// The id of a new task, which is selected as soon as it is there.
    pub awaited: Option<String>,
}

impl ListFilter {
    /// The next one.
    pub fn next(self) -> ListFilter {
        match self {
            ListFilter::Active => ListFilter::All,
            ListFilter::All => ListFilter::Over,
            ListFilter::Over => ListFilter::Active,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            ListFilter::Active => "active",
            ListFilter::All => "all",
            ListFilter::Over => "done",
        }
    }

    fn shows(self, row: &Row) -> bool {
        match self {
            ListFilter::Active => row.group() != RowGroup::Over,
            ListFilter::All => true,
            ListFilter::Over => row.group() == RowGroup::Over,
        }
    }
}

impl ScreenLayout {
    /// The next one.
    pub fn next(self) -> ScreenLayout {
        match self {
            ScreenLayout::Both => ScreenLayout::List,
            ScreenLayout::List => ScreenLayout::Details,
            ScreenLayout::Details => ScreenLayout::Both,
        }
    }
}

/// The visible rows, group by group, each in the order of the answer.
pub fn visible(state: &State) -> Vec<&Row> {
    let ListView { filter, search, .. } = &state.list;
    let is_found = |row: &&Row| search.is_empty() || row.matches(search);
    let mut rows: Vec<&Row> = state.rows().filter(|row| filter.shows(row)).filter(is_found).collect();
    rows.sort_by_key(|row| row.group());
    rows
}

/// Selects the row with this number, or the last one.
pub fn select(state: &mut State, number: usize) {
    let rows = visible(state);
    let number = number.min(rows.len().saturating_sub(1));
    let selected = rows.get(number).map(|row| row.id.clone());
    state.list.selected = selected;
    state.list.number = number;
}

/// Moves the selection by so many rows, and stops at the ends.
pub fn step(state: &mut State, by: isize) {
    let now = position(state).unwrap_or(0);
    select(state, now.saturating_add_signed(by));
}

/// Keeps the selection on its row. When that is no longer visible, the row in its position is selected.
pub fn keep(state: &mut State) {
    match position(state) {
        Some(number) => state.list.number = number,
        None => select(state, state.list.number),
    }
}

/// Selects the next row that needs a person, from the row after this number on, and from the beginning again. Returns whether
/// there is one.
pub fn next_need(state: &mut State, after: usize) -> bool {
    let rows = visible(state);
    let is_free = |row: &Row| state.order_on(&row.id).is_none();
    let needs = |number: &usize| rows[*number].group() == RowGroup::NeedsYou && is_free(rows[*number]);
    let found = (after + 1..rows.len()).chain(0..rows.len().min(after + 1)).find(needs);
    if let Some(number) = found {
        select(state, number);
    }
    found.is_some()
}

/// Selects the first row that needs a person: one whose agent asks something before all others. A row that has an order is answered.
pub fn first_need(state: &mut State) {
    let rows = visible(state);
    let is_held = |row: &Row| state.held.iter().any(|held| held.order.about == row.id);
    let needs =
        |row: &Row| row.group() == RowGroup::NeedsYou && state.order_on(&row.id).is_none() && !is_held(row);
    let asks = |row: &Row| needs(row) && request::of(row).is_some();
    let first = rows.iter().position(|row| asks(row)).or_else(|| rows.iter().position(|row| needs(row)));
    if let Some(number) = first {
        select(state, number);
    }
}

/// The number of the selected row among the visible ones.
pub fn position(state: &State) -> Option<usize> {
    let selected = state.list.selected.as_ref()?;
    visible(state).iter().position(|row| row.id == *selected)
}

/// Number of rows of a group, whatever the filter is.
pub fn count(state: &State, group: RowGroup) -> usize {
    state.rows().filter(|row| row.group() == group).count()
}

/// A line of the list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ListLine<'s> {
    /// The title of a group.
    Title(RowGroup),
    Row(&'s Row),
    /// Summary of its row, where there is room for a second line.
    Summary(&'s Row),
}

/// The lines of the list: each group with its title. The first title stands in the border.
pub fn entries(state: &State) -> Vec<ListLine<'_>> {
    let mut entries = Vec::new();
    let mut last = None;
    let rows = visible(state);
    let height = areas::of(state).list.map_or(0, |area| usize::from(areas::rows(area).height));
    let mut groups: Vec<RowGroup> = rows.iter().map(|row| row.group()).collect();
    groups.dedup();
    // The first title stands in the border.
    let is_tall = 2 * rows.len() + groups.len().saturating_sub(1) <= height;
    for row in rows {
        if last.replace(row.group()) != Some(row.group()) {
            entries.push(ListLine::Title(row.group()));
        }
        entries.push(ListLine::Row(row));
        if is_tall {
            entries.push(ListLine::Summary(row));
        }
    }
    entries
}

/// Scrolls so that the selected row is visible, with the title of its group where that has room.
pub fn show_selected(state: &mut State) {
    let height = areas::of(state).list.map_or(0, |area| usize::from(areas::rows(area).height));
    let entries = entries(state);
    let is_selected = |entry: &ListLine<'_>| match entry {
        ListLine::Row(row) => state.list.selected.as_ref() == Some(&row.id),
        ListLine::Title(_) | ListLine::Summary(_) => false,
    };
    // The first title is not among the lines inside of the border.
    let count = entries.len().saturating_sub(1);
    let at = entries.iter().position(is_selected).unwrap_or(1).saturating_sub(1);
    let last = count.saturating_sub(height);
    let first = (at + 1).saturating_sub(height.max(1));
    let top = if at > 0 && matches!(entries.get(at), Some(ListLine::Title(_))) { at - 1 } else { at };
    state.list.offset = state.list.offset.clamp(first.min(top), top).min(last);
}

/// The id of the row at this line of the screen.
pub fn at_line(state: &State, line: usize) -> Option<String> {
    let inner = areas::rows(areas::of(state).list?);
    let at = line.checked_sub(usize::from(inner.y)).filter(|at| *at < usize::from(inner.height))?;
    match entries(state).get(at + 1 + state.list.offset)? {
        ListLine::Row(row) | ListLine::Summary(row) => Some(row.id.clone()),
        ListLine::Title(_) => None,
    }
}
