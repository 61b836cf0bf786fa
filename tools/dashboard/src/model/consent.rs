//! Consent of a person: a key stands for the screen before it was pressed, or else it asks or does nothing.

use super::act::{act, give};
use super::ask::{Confirm, Mode};
use super::effect::Order;
use super::request::{self, Sighted};
use super::update::UpdateTurn;

/// Asks, before these orders are given.
pub(super) fn confirm(turn: &mut UpdateTurn, question: String, orders: Vec<Order>, is_held: bool) {
    let frames = turn.state.sight.frames;
    turn.state.mode = Mode::Confirm(Confirm { question, orders, is_held, quits: false, frames });
}

/// Ends. Asks first while orders can still be withdrawn.
pub(super) fn ask_to_quit(turn: &mut UpdateTurn) {
    let count = turn.state.held.len();
    if count == 0 {
        return turn.quit();
    }
    let orders = if count == 1 { "1 order".to_owned() } else { format!("{count} orders") };
    let them = if count == 1 { "it" } else { "them" };
    let question = format!("carry out {orders} now and quit? (y / u withdraws {them})");
    let frames = turn.state.sight.frames;
    turn.state.mode =
        Mode::Confirm(Confirm { question, orders: Vec::new(), is_held: false, quits: true, frames });
}

/// The keys of the question before the end.
pub(super) fn answer_quit(turn: &mut UpdateTurn, confirm: Confirm, name: &str) {
    match name {
        // It was pressed before the question was drawn.
        "y" | "Y" | "q" if turn.frames <= confirm.frames || turn.is_held => {
            turn.state.mode = Mode::Confirm(confirm);
        }
        "y" | "Y" | "q" => turn.quit(),
        "u" => {
            let held = std::mem::take(&mut turn.state.held);
            let labels: Vec<String> = held.into_iter().map(|held| held.order.label).collect();
            turn.state.tell(false, format!("withdrawn: {}", labels.join(", ")));
        }
        "n" | "N" | "Esc" => {}
        _ => turn.state.mode = Mode::Confirm(confirm),
    }
}

/// Gives an order if its row was on the screen, with what it needs now, when the key was pressed.
pub(super) fn give_seen(turn: &mut UpdateTurn, order: Order) {
    let row = turn.state.row(&order.about);
    let is_seen = row.is_none_or(|row| turn.state.sight.has_shown(row, turn.frames));
    if is_seen && !turn.is_held {
        give(turn, vec![order]);
    } else {
        drop_key(turn, &order);
    }
}

/// Answers what an agent asks if that was drawn whole before the key was pressed. Where a part was not drawn, it asks first.
pub(super) fn answer_request(turn: &mut UpdateTurn, order: Order) {
    let Some(row) = turn.state.row(&order.about) else { return };
    match request::sighted(&turn.state, row, turn.frames) {
        Sighted::Late => drop_key(turn, &order),
        _ if turn.is_held => drop_key(turn, &order),
        Sighted::Absent => turn.state.mode = Mode::Request(0),
        Sighted::Whole => give(turn, vec![order]),
        Sighted::Partly(count) => {
            let lines = if count == 1 { "line".to_owned() } else { format!("{count} lines") };
            let were = if count == 1 { "1 line was".to_owned() } else { format!("{lines} were") };
            confirm(
                turn,
                format!("{}? {were} not shown (n, then o shows all)", order.label),
                vec![order],
                false,
            );
        }
    }
}

/// Says that a key was pressed before its row was drawn.
fn drop_key(turn: &mut UpdateTurn, order: &Order) {
    let note =
        format!("not done: {}. The key came before its row was on the screen; press it again", order.label);
    turn.state.dropped_key = Some(note);
}

/// Asks whether these requests are answered, and says how many of them no frame has shown whole.
pub(super) fn question_about_requests(turn: &UpdateTurn, orders: &[Order]) -> String {
    let asked = orders.iter().filter_map(|order| request::of(turn.state.row(&order.about)?));
    let unread = asked.filter(|it| request::unread(&turn.state, it) > 0).count();
    let verb = orders.first().and_then(|it| it.label.split(' ').next()).unwrap_or_default();
    let which = if orders.len() == 1 { "a request".to_owned() } else { format!("{} requests", orders.len()) };
    match unread {
        0 => format!("{verb} {which}?"),
        count => format!("{verb} {which}, {count} of them not shown whole?"),
    }
}

/// Shows what the agent of the selected row asks, in full.
pub(super) fn open_request(turn: &mut UpdateTurn) {
    if turn.state.selected().and_then(request::of).is_some() {
        turn.state.mode = Mode::Request(0);
    } else {
        turn.state.tell(false, "its agent asks nothing");
    }
}

/// The keys of a request in full.
pub(super) fn read_request(turn: &mut UpdateTurn, above: usize, name: &str) {
    let shown = request::shown_in(&turn.state, &Mode::Request(above));
    let page = shown.as_ref().map_or(1, |it| it.lines.len().max(1));
    // What was scrolled too far does not count.
    let (above, below) = shown.map_or((0, 0), |it| (it.above, it.below));
    turn.state.mode = Mode::Request(match name {
        "j" | "Down" | "J" => above + below.min(1),
        "k" | "Up" | "K" => above.saturating_sub(1),
        "PgDn" | " " => above + below.min(page),
        "PgUp" => above.saturating_sub(page),
        "g" | "Home" => 0,
        "G" | "End" => above + below,
        "a" | "d" => {
            turn.state.mode = Mode::List;
            return act(turn, name);
        }
        "Esc" | "q" | "o" | "Left" => {
            turn.state.mode = Mode::List;
            return;
        }
        _ => above,
    });
}
