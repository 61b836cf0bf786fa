//! Actions of a person for a row now. The engine decides them: here they only become keys and menus.

use std::collections::BTreeSet;

use orange_api::{ActionName, NeedAction, Next, Shows};

use super::State;
use super::ask::{Menu, MenuItem};
use super::effect::Order;
use super::row::Row;

/// Something that a key does with a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Offered {
    /// The key, as the footer shows it.
    pub key: String,
    /// Name of the action, in a word or two.
    pub label: String,
    pub deed: RowDeed,
    /// Reason why it cannot be done now; the footer shows it dim.
    pub refusal: Option<String>,
}

/// Effect of a key or a menu item on a row.
#[derive(Clone, Debug, PartialEq)]
pub enum RowDeed {
    /// It gives this order.
    Order(Order),
    /// It answers what an agent asks with this order.
    Answer(Order),
    /// It asks for a text, which is the last word of this order.
    Text(Order),
    /// It asks first, and gives the order after a grace.
    Confirm(Order),
    /// It sends work back with this order; the text is feedback.
    Return(Order),
    /// It answers the question of a step with this order; the text is a comment.
    Remark(Order),
    /// It asks, and takes a transition with this order.
    Move(Order),
    /// It shows these items, one of which is chosen.
    Choose(Menu),
    /// It shows a session on this terminal.
    Attach(Vec<String>),
    /// It prints a text on this terminal.
    Print(Vec<String>),
}

/// The actions of a row. `orange task show` has asked git more than the list has, so its actions count while they are about the same
/// need.
fn actions<'s>(state: &'s State, row: &'s Row) -> &'s [NeedAction] {
    let Some(listed) = &row.need else { return &[] };
    let shown = state.details.task.as_ref().filter(|task| *task.id == *row.id);
    let shown = shown.and_then(|task| task.need.as_ref());
    let is_same = |shown: &&orange_api::Need| {
        (shown.kind, &shown.since, &shown.request) == (listed.kind, &listed.since, &listed.request)
    };
    &shown.filter(is_same).unwrap_or(listed).actions
}

/// Actions of the keys for a row, the most likely first; each key once. A transition gets a key that no other action has.
pub fn of(state: &State, row: &Row) -> Vec<Offered> {
    let actions = actions(state, row);
    let is_move = |action: &&NeedAction| action.name == ActionName::Status;
    let others = |is_open: bool| {
        actions.iter().filter(move |it| !is_move(it) && it.is_open() == is_open).flat_map(|it| one(row, it))
    };
    let mut offered: Vec<Offered> = Vec::new();
    for offer in others(true).chain(moves(row, actions)).chain(others(false)) {
        if !offered.iter().any(|it| it.key == offer.key) {
            offered.push(offer);
        }
    }
    offered
}

/// The keys of an action.
fn one<'r>(row: &'r Row, action: &'r NeedAction) -> impl Iterator<Item = Offered> + 'r {
    action.keys.iter().map(move |key| Offered {
        key: key.clone(),
        label: action.label.clone(),
        deed: deed(row, action),
        refusal: action.refusal.clone(),
    })
}

/// Turns an action of the engine into a deed of the dashboard.
fn deed(row: &Row, action: &NeedAction) -> RowDeed {
    let order = order(row, action);
    match action.shows {
        Some(Shows::Session) => return RowDeed::Attach(order.words),
        Some(Shows::Text) => return RowDeed::Print(order.words),
        Some(Shows::Page) => return RowDeed::Order(order),
        None => {}
    }
    if action.answers_request() {
        RowDeed::Answer(order)
    } else if action.takes_comment() {
        RowDeed::Remark(order)
    } else if action.returns {
        RowDeed::Return(order)
    } else if action.text {
        RowDeed::Text(order)
    } else if action.warning.is_some() {
        RowDeed::Confirm(Order { words: action.arguments(false), ..order })
    } else if action.name == ActionName::Status {
        RowDeed::Move(order)
    } else {
        RowDeed::Order(order)
    }
}

/// The order of an action.
fn order(row: &Row, action: &NeedAction) -> Order {
    let label = match (&action.to, action.returns) {
        (Some(_), true) => format!("send back {}", row.branch),
        (Some(to), false) if action.warning.is_none() => format!("move {} to {to}", row.branch),
        _ => format!("{} {}", action.label, row.branch),
    };
    let words = action.command.clone();
    Order { about: row.id.clone(), label, words, warning: action.warning.clone(), ..Order::default() }
}

/// The transitions that send work back, and that can be taken now, each with its label.
pub fn returns(state: &State, row: &Row) -> Vec<(String, Order)> {
    let is_return = |action: &&NeedAction| action.returns && action.is_open();
    let named = |action: &NeedAction| (action.label.clone(), order(row, action));
    actions(state, row).iter().filter(is_return).map(named).collect()
}

/// The keys of transitions, of which one key may have several. `r` comes before `>`: work goes back before it goes on.
fn moves(row: &Row, actions: &[NeedAction]) -> Vec<Offered> {
    let moves: Vec<&NeedAction> = actions.iter().filter(|it| it.name == ActionName::Status).collect();
    let keys: BTreeSet<&String> = moves.iter().flat_map(|action| &action.keys).collect();
    let of_key = |key| {
        let its: Vec<&NeedAction> = moves.iter().copied().filter(|it| it.keys.contains(key)).collect();
        let open: Vec<&NeedAction> = its.iter().copied().filter(|it| it.is_open()).collect();
        match &open[..] {
            [] => its.first().and_then(|it| one(row, it).next()),
            [only] => one(row, only).next(),
            [..] => Some(Offered {
                key: key.clone(),
                label: label_of(&open),
                deed: RowDeed::Choose(menu_of(row, format!("Which status gets {}?", row.branch), &open)),
                refusal: None,
            }),
        }
    };
    keys.into_iter().rev().filter_map(of_key).collect()
}

/// The label of several transitions: `back to planning or hacking`.
fn label_of(several: &[&NeedAction]) -> String {
    let first = several.first().map(|action| action.label.clone());
    let others = several.iter().skip(1).filter_map(|action| action.to.clone());
    first.into_iter().chain(others).collect::<Vec<_>>().join(" or ")
}

/// Every action of the row, also without a key of its own.
pub fn menu(state: &State, row: &Row) -> Menu {
    let all: Vec<&NeedAction> = actions(state, row).iter().collect();
    menu_of(row, format!("What happens to {}?", row.branch), &all)
}

fn menu_of(row: &Row, title: String, actions: &[&NeedAction]) -> Menu {
    let item = |action: &&NeedAction| MenuItem {
        label: action.label.clone(),
        refusal: action.refusal.clone(),
        deed: deed(row, action),
    };
    Menu { title, items: actions.iter().map(item).collect(), selected: 0 }
}

/// The statuses that the row can go to, if they are known.
pub fn next<'s>(state: &'s State, row: &Row) -> &'s [Next] {
    let is_known = state.details.id == row.id;
    state.details.next.as_deref().filter(|_| is_known).unwrap_or_default()
}
