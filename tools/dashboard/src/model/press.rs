//! Effects of keys and of the mouse.

use crossterm::event::{KeyEvent, KeyEventKind, MouseButton, MouseEvent, MouseEventKind};

use super::act::{act, answer, choose, send_review, undo};
use super::ask::{Mode, TextQuestion, TextUse};
use super::consent::{answer_quit, ask_to_quit, open_request, read_request};
use super::details::DetailsTab;
use super::diff::LineKind;
use super::effect::ShellEffect;
use super::text_field::TextField;
use super::update::UpdateTurn;
use super::write::{fill, open_form, search, text};
use super::{areas, keys, list, offers};

/// Number of lines by which PgUp and PgDn scroll.
const PAGE: isize = 10;

pub(super) fn key(turn: &mut UpdateTurn, key: KeyEvent) {
    if key.kind == KeyEventKind::Release {
        return;
    }
    turn.state.dropped_key = None;
    let name = keys::name(key);
    if name == "Ctrl-C" {
        return turn.quit();
    }
    if name == "Ctrl-Z" {
        return turn.effects.push(ShellEffect::Suspend);
    }
    match std::mem::take(&mut turn.state.mode) {
        Mode::List => in_list(turn, &name),
        Mode::Details => in_details(turn, &name),
        Mode::Search(line) => search(turn, line, &name),
        Mode::Confirm(confirm) if confirm.quits => answer_quit(turn, confirm, &name),
        Mode::Confirm(confirm) => answer(turn, confirm, &name),
        Mode::Text(question) => text(turn, question, &name),
        Mode::Menu(menu) => choose(turn, menu, &name),
        Mode::Form(form) => fill(turn, form, &name),
        Mode::Request(above) => read_request(turn, above, &name),
        // Any key closes the help.
        Mode::Help => {}
        Mode::Messages(above) => match name.as_str() {
            "j" | "Down" => turn.state.mode = Mode::Messages(above.saturating_add(1).min(10_000)),
            "k" | "Up" => turn.state.mode = Mode::Messages(above.saturating_sub(1)),
            _ => turn.state.messages.clear(),
        },
    }
}

/// The mouse: a click selects a row or a tab, the wheel moves what is below it.
pub(super) fn mouse(turn: &mut UpdateTurn, mouse: MouseEvent) {
    if !matches!(turn.state.mode, Mode::List | Mode::Details) {
        return;
    }
    let areas = areas::of(&turn.state);
    let is_in = |area: Option<ratatui::layout::Rect>| {
        area.is_some_and(|area| area.contains(ratatui::layout::Position::new(mouse.column, mouse.row)))
    };
    let is_list = is_in(areas.list) && !is_in(Some(areas.body));
    let wheel = isize::from(mouse.kind == MouseEventKind::ScrollDown)
        - isize::from(mouse.kind == MouseEventKind::ScrollUp);
    if wheel != 0 {
        return if is_list { list::step(&mut turn.state, wheel) } else { scroll(turn, 3 * wheel) };
    }
    if mouse.kind == MouseEventKind::Down(MouseButton::Left) {
        if is_in(Some(areas.tabs)) {
            let column = usize::from(mouse.column - areas.tabs.x);
            if let Some(tab) = super::details::tab_at(&turn.state, column) {
                show(turn, tab);
            }
        } else if is_list {
            turn.state.mode = Mode::List;
            if let Some(id) = list::at_line(&turn.state, usize::from(mouse.row)) {
                turn.state.list.selected = Some(id);
                list::keep(&mut turn.state);
            }
        } else if is_in(Some(areas.body)) {
            turn.state.mode = Mode::Details;
        }
    }
}

fn in_list(turn: &mut UpdateTurn, name: &str) {
    let state = &mut turn.state;
    match name {
        "q" => ask_to_quit(turn),
        "j" | "Down" => list::step(state, 1),
        "k" | "Up" => list::step(state, -1),
        "g" | "Home" => list::select(state, 0),
        "G" | "End" => list::select(state, usize::MAX),
        "n" => {
            let at = list::position(state).unwrap_or(usize::MAX - 1);
            if !list::next_need(state, at) {
                state.tell(false, "nothing needs you");
            }
        }
        "v" => {
            if let Some(id) = state.list.selected.clone() {
                if !state.list.marked.remove(&id) {
                    state.list.marked.insert(id);
                }
                list::step(state, 1);
            }
        }
        "f" => {
            state.list.filter = state.list.filter.next();
            list::keep(state);
        }
        "/" => state.mode = Mode::Search(TextField::line(state.list.search.clone())),
        "Right" if turn.state.selected().is_some() => turn.state.mode = Mode::Details,
        "Esc" => back(turn),
        "c" => open_form(turn),
        _ => anywhere(turn, name),
    }
}

/// The keys of the scrolled text.
fn in_details(turn: &mut UpdateTurn, name: &str) {
    turn.state.mode = Mode::Details;
    let diff = turn.state.details.diff.as_mut().filter(|_| turn.state.details.tab == DetailsTab::Diff);
    match (name, diff) {
        ("q" | "Left" | "Esc", _) => turn.state.mode = Mode::List,
        ("j" | "Down", Some(diff)) => diff.step(1),
        ("k" | "Up", Some(diff)) => diff.step(-1),
        ("PgDn", Some(diff)) => diff.step(PAGE),
        ("PgUp", Some(diff)) => diff.step(-PAGE),
        ("g" | "Home", Some(diff)) => diff.selected = 0,
        ("G" | "End", Some(diff)) => diff.step(isize::MAX),
        ("]", Some(diff)) => diff.jump(&[LineKind::File], true),
        ("[", Some(diff)) => diff.jump(&[LineKind::File], false),
        ("}", Some(diff)) => diff.jump(&[LineKind::File, LineKind::Hunk], true),
        ("{", Some(diff)) => diff.jump(&[LineKind::File, LineKind::Hunk], false),
        ("c", Some(diff)) => {
            let before = diff.comments.get(&diff.selected).cloned().unwrap_or_default();
            let question = "What about this line?".to_owned();
            let field = TextField::lines(before);
            turn.state.mode = Mode::Text(TextQuestion { question, field, use_of: TextUse::Comment });
        }
        ("j" | "Down", None) => scroll(turn, 1),
        ("k" | "Up", None) => scroll(turn, -1),
        ("g" | "Home", None) => turn.state.details.scroll = 0,
        ("G" | "End", None) => scroll(turn, isize::MAX),
        _ => anywhere(turn, name),
    }
}

/// The keys that do the same in the list and in the text beside it.
fn anywhere(turn: &mut UpdateTurn, name: &str) {
    match name {
        "w" => turn.state.list.layout = turn.state.list.layout.next(),
        "Tab" => show(turn, turn.state.details.tab.next()),
        "1" | "2" | "3" | "4" | "5" => {
            let number = name.bytes().next().map_or(0, |digit| usize::from(digit - b'1'));
            show(turn, DetailsTab::ALL[number]);
        }
        "J" => scroll(turn, 1),
        "K" => scroll(turn, -1),
        "PgDn" => scroll(turn, PAGE),
        "PgUp" => scroll(turn, -PAGE),
        "u" => undo(turn),
        "y" => copy(turn),
        "?" => turn.state.mode = Mode::Help,
        "e" if turn.state.messages.is_empty() && turn.state.failure.is_none() => {
            turn.state.tell(false, "there is no message");
        }
        "e" => turn.state.mode = Mode::Messages(0),
        "t" => {
            if let Some(row) = turn.state.selected() {
                let menu = offers::menu(&turn.state, row);
                turn.state.mode = Mode::Menu(menu);
            }
        }
        "F" => send_review(turn),
        "o" => open_request(turn),
        _ => act(turn, name),
    }
}

/// Goes back one step: a message that was read, marks, the search.
fn back(turn: &mut UpdateTurn) {
    let state = &mut turn.state;
    if let Some(at) = state.first_message() {
        state.messages.remove(at);
        return;
    }
    if state.list.marked.is_empty() {
        state.list.search.clear();
        list::keep(state);
    }
    state.list.marked.clear();
}

fn show(turn: &mut UpdateTurn, tab: DetailsTab) {
    turn.state.tab = tab;
    turn.state.details.is_chosen = true;
    if turn.state.details.tab != tab {
        turn.state.details.tab = tab;
        turn.state.details.scroll = 0;
        turn.state.details.failures.clear();
        // Its files may have changed while it was not shown.
        turn.state.details.asked.clear();
    }
}

fn scroll(turn: &mut UpdateTurn, by: isize) {
    if turn.state.details.tab == DetailsTab::Diff
        && let Some(diff) = &mut turn.state.details.diff
    {
        return diff.step(by);
    }
    let scroll = &mut turn.state.details.scroll;
    // The view shows no line behind the last one.
    *scroll = scroll.saturating_add_signed(by).min(100_000);
}

fn copy(turn: &mut UpdateTurn) {
    let ids: Vec<String> = turn.state.targets().into_iter().map(|row| row.id.clone()).collect();
    if !ids.is_empty() {
        turn.effects.push(ShellEffect::Copy(ids.join("\n")));
    }
}
