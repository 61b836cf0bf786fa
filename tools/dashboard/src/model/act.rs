//! Actions on rows: orders, the questions before them, and menus.

use super::ask::{Confirm, Menu, MenuItem, Mode, TextQuestion, TextUse};
use super::consent::{answer_request, confirm, give_seen, question_about_requests};
use super::effect::{Order, ShellEffect};
use super::list;
use super::offers::{self, Offered, RowDeed};
use super::row::RowGroup;
use super::text_field::TextField;
use super::update::UpdateTurn;

/// Withdraws an order, or takes the last cancel back.
pub(super) fn undo(turn: &mut UpdateTurn) {
    if let Some(held) = turn.state.held.pop() {
        return turn.state.tell(false, format!("withdrawn: {}", held.order.label));
    }
    let selected = turn.state.selected();
    if selected.is_some_and(|row| offers::of(&turn.state, row).iter().any(|it| it.key == "u")) {
        return act(turn, "u");
    }
    let row = turn.state.last_cancelled.as_deref().and_then(|id| turn.state.row(id));
    match row {
        None => turn.state.tell(false, "there is nothing to undo"),
        Some(row) => {
            let words = ["task", "undo", &row.id].map(str::to_owned).to_vec();
            let label = format!("undo the cancel of {}", row.branch);
            turn.carry(Order { about: row.id.clone(), label, words, ..Order::default() });
        }
    }
}

/// Does what a key stands for with every marked row, or with the selected one.
pub(super) fn act(turn: &mut UpdateTurn, name: &str) {
    let state = &turn.state;
    let targets = state.targets();
    let (mut busy, mut deeds, mut refusals) = (Vec::new(), Vec::new(), Vec::new());
    for row in &targets {
        if let Some(what) = state.order_on(&row.id) {
            busy.push(format!("{}: {what} is under way", row.branch));
            continue;
        }
        match offers::of(state, row).into_iter().find(|offered| offered.key == name) {
            Some(Offered { refusal: None, deed, .. }) => deeds.push(deed),
            Some(Offered { refusal: Some(why), label, .. }) => {
                refusals.push(format!("{}: {label} is refused: {why}", row.branch))
            }
            None => {}
        }
    }
    let is_many = targets.len() > 1;
    let notes = [busy, refusals].concat();
    if let Some(note) = notes.first() {
        let note = note.clone();
        turn.state.tell(true, note);
    }
    perform(turn, deeds, is_many);
}

fn perform(turn: &mut UpdateTurn, deeds: Vec<RowDeed>, is_many: bool) {
    let (mut orders, mut texts, mut confirms, mut returns) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut moves, mut answers, mut remarks) = (Vec::new(), Vec::new(), Vec::new());
    for deed in deeds {
        match deed {
            RowDeed::Order(order) => orders.push(order),
            RowDeed::Answer(order) => answers.push(order),
            RowDeed::Text(order) => texts.push(order),
            RowDeed::Confirm(order) => confirms.push(order),
            RowDeed::Return(order) => returns.push(order),
            RowDeed::Remark(order) => remarks.push(order),
            RowDeed::Move(order) => moves.push(order),
            RowDeed::Choose(menu) if !is_many => turn.state.mode = Mode::Menu(menu),
            RowDeed::Choose(menu) => turn.state.tell(true, format!("{} Select that row alone", menu.title)),
            RowDeed::Attach(words) if !is_many => turn.effects.push(ShellEffect::Attach(words)),
            RowDeed::Print(words) if !is_many => turn.effects.push(ShellEffect::Print(words)),
            RowDeed::Attach(_) | RowDeed::Print(_) => {}
        }
    }
    match &orders[..] {
        [one] if !is_many => give_seen(turn, one.clone()),
        _ => moves.extend(orders),
    }
    if let ([one], false) = (&answers[..], is_many) {
        answer_request(turn, one.clone());
    } else if !answers.is_empty() {
        let question = question_about_requests(turn, &answers);
        confirm(turn, question, answers, false);
    } else if !texts.is_empty() {
        ask_text(turn, question(&texts), TextUse::LastWord(texts));
    } else if !returns.is_empty() {
        let question = format!("{} (what is to change; may be empty)", question(&returns));
        ask_text(turn, question, TextUse::Feedback(returns));
    } else if !remarks.is_empty() {
        let question = format!("{} (a comment; may be empty)", question(&remarks));
        ask_text(turn, question, TextUse::Remark(remarks));
    } else if !confirms.is_empty() {
        let question = question(&confirms);
        confirm(turn, question, confirms, true);
    } else if !moves.is_empty() {
        let question = question(&moves);
        confirm(turn, question, moves, false);
    }
}

/// Asks for the text of these orders. It begins with what could not be sent to the same row before.
fn ask_text(turn: &mut UpdateTurn, question: String, use_of: TextUse) {
    let unsent = match &use_of {
        TextUse::LastWord(orders) | TextUse::Feedback(orders) | TextUse::Remark(orders) => {
            match &orders[..] {
                [one] => turn.state.unsent.get(&one.about).cloned(),
                [..] => None,
            }
        }
        TextUse::Comment => None,
    };
    let field = TextField::lines(unsent.unwrap_or_default());
    turn.state.mode = Mode::Text(TextQuestion { question, field, use_of });
}

/// Asks whether these orders are meant.
fn question(orders: &[Order]) -> String {
    match orders {
        [one] => match &one.warning {
            Some(warning) => format!("{}? {warning}", one.label),
            None => format!("{}?", one.label),
        },
        [first, ..] => {
            let verb = first.label.split(' ').next().unwrap_or_default();
            format!("{verb} {} tasks?", orders.len())
        }
        [] => String::new(),
    }
}

/// Gives orders, forgets the marks, and goes on to the first row that needs the person.
pub(super) fn give(turn: &mut UpdateTurn, orders: Vec<Order>) {
    if orders.is_empty() {
        return;
    }
    let is_needed = turn.state.selected().is_some_and(|row| row.group() == RowGroup::NeedsYou);
    let is_answer = is_needed && orders.iter().any(Order::is_answer);
    orders.into_iter().for_each(|order| turn.carry(order));
    go_on(turn, is_answer);
}

fn go_on(turn: &mut UpdateTurn, is_answer: bool) {
    turn.state.list.marked.clear();
    if is_answer {
        list::first_need(&mut turn.state);
    }
}

/// The keys of a question with yes or no.
pub(super) fn answer(turn: &mut UpdateTurn, confirm: Confirm, name: &str) {
    match name {
        // It was pressed before the question was drawn.
        "y" | "Y" if turn.frames <= confirm.frames => turn.state.mode = Mode::Confirm(confirm),
        "y" | "Y" => {
            let is_answer = turn.state.selected().is_some_and(|row| row.group() == RowGroup::NeedsYou);
            let Confirm { orders, is_held, .. } = confirm;
            if is_held {
                orders.into_iter().for_each(|order| turn.hold(order));
                go_on(turn, is_answer);
            } else {
                give(turn, orders);
            }
        }
        "n" | "N" | "Esc" | "q" => {}
        _ => turn.state.mode = Mode::Confirm(confirm),
    }
}

/// The order with this text on its standard input, and with the word that says so.
pub(super) fn with_text(mut order: Order, word: &str, text: &str) -> Order {
    order.words.push(word.to_owned());
    order.input = Some(text.to_owned());
    order
}

/// Sends the comments on lines back, with the work.
pub(super) fn send_review(turn: &mut UpdateTurn) {
    let state = &turn.state;
    let Some(row) = state.selected() else { return };
    let review = state.details.diff.as_ref().map(super::diff::TaskDiff::review).unwrap_or_default();
    if review.is_empty() {
        return turn
            .state
            .tell(false, "no line has a comment yet: → goes to the changes, c comments on a line");
    }
    let (returns, branch) = (offers::returns(state, row), row.branch.clone());
    let is_busy = state.order_on(&row.id).is_some();
    let order = |order: &Order| with_text(order.clone(), "--feedback=-", &review);
    match &returns[..] {
        [] => turn.state.tell(true, format!("no transition sends {branch} back now; t shows every one")),
        _ if is_busy => turn.state.tell(true, format!("{branch} is busy")),
        [(_, one)] => give(turn, vec![order(one)]),
        several => {
            let item = |(label, it): &(String, Order)| MenuItem {
                label: label.clone(),
                refusal: None,
                deed: RowDeed::Order(order(it)),
            };
            let title = format!("Where do the comments on {branch} go?");
            let items = several.iter().map(item).collect();
            turn.state.mode = Mode::Menu(Menu { title, items, selected: 0 });
        }
    }
}

/// The keys of a menu.
pub(super) fn choose(turn: &mut UpdateTurn, mut menu: Menu, name: &str) {
    let last = menu.items.len().saturating_sub(1);
    match name {
        "Esc" | "q" | "t" => return,
        "j" | "Down" => menu.selected = (menu.selected + 1).min(last),
        "k" | "Up" => menu.selected = menu.selected.saturating_sub(1),
        "Enter" => {
            return match menu.items.get(menu.selected).cloned() {
                Some(MenuItem { refusal: None, deed, .. }) => chosen(turn, deed),
                Some(MenuItem { refusal: Some(why), label, .. }) => {
                    turn.state.tell(true, format!("{label} is refused: {why}"))
                }
                None => {}
            };
        }
        _ => {}
    }
    turn.state.mode = Mode::Menu(menu);
}

fn chosen(turn: &mut UpdateTurn, deed: RowDeed) {
    match deed {
        RowDeed::Order(ref order)
        | RowDeed::Confirm(ref order)
        | RowDeed::Answer(ref order)
        | RowDeed::Move(ref order)
            if turn.state.order_on(&order.about).is_some() =>
        {
            let what = turn.state.order_on(&order.about).unwrap_or_default();
            let note = format!("it is busy: {what}");
            turn.state.tell(true, note);
        }
        // An item is chosen by its place, so it is asked about once more.
        RowDeed::Order(order) => confirm(turn, format!("{}?", order.label), vec![order], false),
        RowDeed::Confirm(_)
        | RowDeed::Answer(_)
        | RowDeed::Move(_)
        | RowDeed::Return(_)
        | RowDeed::Remark(_)
        | RowDeed::Text(_)
        | RowDeed::Choose(_)
        | RowDeed::Attach(_)
        | RowDeed::Print(_) => perform(turn, vec![deed], false),
    }
}
