//! What a person can do about a row now. The machine decides that: here its answers only get their keys.

use super::State;
use super::ask::{Choice, Item, Menu};
use super::effect::Order;
use super::row::{Group, Kind, Row};
use orange_api::{ActionName, NeedAction, Next};

/// Something that a key does with a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Offered {
    /// The key, as the footer shows it.
    pub key: &'static str,
    /// What it does, in a word or two.
    pub label: String,
    /// What it does.
    pub deed: Deed,
    /// Why it cannot be done now; the footer shows it dim.
    pub refusal: Option<String>,
}

/// What a key does with a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
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
    /// It asks, and takes a transition with this order.
    Move(Order),
    /// It shows these items, one of which is chosen.
    Choose(Menu),
    /// It shows a session on this terminal.
    Attach(Vec<String>),
    /// It prints the conversation of the agent on this terminal.
    Print(Vec<String>),
}

/// The key of an action, and what the footer calls it.
fn key_of(name: ActionName) -> Option<(&'static str, &'static str)> {
    Some(match name {
        ActionName::Allow => ("a", "allow"),
        ActionName::Continue => ("a", "continue"),
        ActionName::Seen => ("a", "seen"),
        ActionName::Deny => ("d", "deny"),
        ActionName::Accept => ("A", "accept the failure"),
        ActionName::Attach => ("Enter", "attach"),
        ActionName::Spawn => ("Enter", "start"),
        ActionName::Send => ("s", "send"),
        ActionName::Respawn => ("r", "start again"),
        ActionName::Restart => ("r", "restart"),
        ActionName::Retry => ("r", "retry"),
        ActionName::RetryHooks => ("r", "retry hooks"),
        ActionName::Merge => ("m", "merge"),
        ActionName::Open => ("p", "open PR"),
        ActionName::Refresh => ("R", "refresh PR"),
        ActionName::Logs => ("l", "logs"),
        ActionName::Cancel => ("x", "cancel"),
        ActionName::Status => return None,
    })
}

/// What the keys do with a row, the most likely first; each key once.
pub fn of(state: &State, row: &Row) -> Vec<Offered> {
    let mut offered: Vec<Offered> = Vec::new();
    let mut add = |one: Offered| {
        if !offered.iter().any(|it| it.key == one.key) {
            offered.push(one);
        }
    };
    let offers = row.need.as_ref().map(|need| need.actions.as_slice()).unwrap_or_default();
    for offer in offers {
        if let Some((key, _)) = key_of(offer.name) {
            let label = label_of(offer);
            add(Offered { key, deed: deed(row, offer, &label), label, refusal: None });
        }
    }
    revived(row, offers).into_iter().for_each(&mut add);
    moves(state, row).into_iter().for_each(&mut add);
    forced(state, row).into_iter().for_each(&mut add);
    refused(state, row).into_iter().for_each(&mut add);
    others(state, row).into_iter().for_each(&mut add);
    offered
}

/// Enter starts an agent again where none is left to attach to.
fn revived(row: &Row, offers: &[NeedAction]) -> Option<Offered> {
    let offer = offers.iter().find(|offer| offer.name == ActionName::Respawn).filter(|_| !row.is_busy())?;
    let label = label_of(offer);
    Some(Offered { key: "Enter", deed: deed(row, offer, &label), label, refusal: None })
}

/// What an action is called: a merge with how it merges, if that is not how it always does.
fn label_of(offer: &NeedAction) -> String {
    let label = key_of(offer.name).map_or(offer.name.as_str(), |(_, label)| label);
    let strategy = offer.command.iter().skip_while(|word| *word != "--strategy").nth(1);
    match strategy.filter(|_| offer.name == ActionName::Merge) {
        Some(how) => format!("{label} (--strategy {how})"),
        None => label.to_owned(),
    }
}

fn deed(row: &Row, offer: &NeedAction, label: &str) -> Deed {
    let words = offer.command.clone();
    match offer.name {
        ActionName::Attach => Deed::Attach(words),
        ActionName::Logs => Deed::Print(words),
        ActionName::Allow | ActionName::Deny => Deed::Answer(order(row, label, words)),
        ActionName::Cancel | ActionName::Merge => Deed::Confirm(order(row, label, offer.arguments(false))),
        // The agent at work loses what it is doing.
        ActionName::Respawn | ActionName::Restart if row.is_busy() => Deed::Confirm(order(row, label, words)),
        ActionName::Send
        | ActionName::Spawn
        | ActionName::Respawn
        | ActionName::Restart
        | ActionName::RetryHooks
        | ActionName::Seen
        | ActionName::Open
        | ActionName::Refresh
        | ActionName::Status
        | ActionName::Continue
        | ActionName::Accept
        | ActionName::Retry => {
            let order = order(row, label, words);
            if offer.text { Deed::Text(order) } else { Deed::Order(order) }
        }
    }
}

/// A transition that a person can take, or that something is missing for.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// The status that it leads to.
    pub to: String,
    /// Whether it gives judged work back to the worker.
    pub returns: bool,
    /// What takes it.
    pub order: Order,
    /// Why it cannot be taken now.
    pub refusal: Option<String>,
}

/// The transitions of a row that belong to no command of their own, those that can be taken first.
fn transitions(state: &State, row: &Row) -> Vec<Move> {
    let order = |returns: bool, to: &str, words| match returns {
        true => order(row, "send back", words),
        false => Order { label: format!("move {} to {to}", row.branch), ..order(row, "", words) },
    };
    let mut moves = Vec::new();
    for offer in
        row.need.iter().flat_map(|need| &need.actions).filter(|offer| offer.name == ActionName::Status)
    {
        let (to, returns) = (offer.to.clone().unwrap_or_default(), offer.returns);
        let order = order(returns, &to, offer.command.clone());
        moves.push(Move { to, returns, order, refusal: None });
    }
    let workflow = state.catalog.workflows.get(&row.workflow);
    let is_command = |to: &str| {
        let leads = |name: &str| workflow.and_then(|it| it.target_of(name)).is_some_and(|it| it == to);
        ["merge", "cancel", "crash"].into_iter().any(leads) || leads("clarify") && !leads("spawn")
    };
    // What waits for its start is started, and is not moved on.
    let is_moved = workflow.is_some() && matches!(row.group(), Group::NeedsYou | Group::Running);
    for next in next(state, row).iter().filter(|_| is_moved) {
        let for_person = next.by.is_empty() || next.by.iter().any(|by| by == "human");
        if !for_person || is_command(&next.to) || moves.iter().any(|it| it.to == next.to) {
            continue;
        }
        let words = ["task", "update", &row.id, "--status", &next.to].map(str::to_owned).to_vec();
        let order = order(next.returns, &next.to, words);
        let refusal = (!next.allowed).then(|| refusal(next));
        moves.push(Move { to: next.to.clone(), returns: next.returns, order, refusal });
    }
    moves.sort_by_key(|it| it.refusal.is_some());
    moves
}

/// The transitions that send work back, and that can be taken now.
pub fn returns(state: &State, row: &Row) -> Vec<Move> {
    transitions(state, row).into_iter().filter(|it| it.returns && it.refusal.is_none()).collect()
}

/// `r` sends work back where there is no agent to start again, and `>` leads it on: never the one instead of the other.
fn moves(state: &State, row: &Row) -> Vec<Offered> {
    let (back, on): (Vec<Move>, Vec<Move>) = transitions(state, row).into_iter().partition(|it| it.returns);
    let title = |words: &str| format!("{words} {}?", row.branch);
    let back = offered(back, "r", "back to", title("Where does the work go back to:"), Deed::Return);
    let on = offered(on, ">", "to", title("Which status gets"), Deed::Move);
    [back, on].into_iter().flatten().collect()
}

/// The key of these transitions: with the first one if it is the only one that can be taken, or that there is.
fn offered(
    moves: Vec<Move>,
    key: &'static str,
    words: &str,
    title: String,
    deed: fn(Order) -> Deed,
) -> Option<Offered> {
    let open = moves.iter().filter(|it| it.refusal.is_none()).count();
    let first = moves.first()?;
    if open < 2 {
        let label = format!("{words} {}", first.to);
        return Some(Offered { key, label, refusal: first.refusal.clone(), deed: deed(first.order.clone()) });
    }
    let open: Vec<Move> = moves.into_iter().filter(|it| it.refusal.is_none()).collect();
    let names: Vec<&str> = open.iter().map(|it| it.to.as_str()).collect();
    let label = format!("{words} {}", names.join(" or "));
    let items = open.into_iter().map(|it| item_of(&it)).collect();
    Some(Offered { key, label, refusal: None, deed: Deed::Choose(Menu { title, items, selected: 0 }) })
}

/// A transition as an item of a menu.
fn item_of(it: &Move) -> Item {
    let order = it.order.clone();
    let choice = if it.returns { Choice::Return(order) } else { Choice::Order(order) };
    Item { label: format!("to {}", it.to), refusal: it.refusal.clone(), choice }
}

/// A merge from a status that does not lead there, where the engine would accept it.
fn forced(state: &State, row: &Row) -> Option<Offered> {
    let is_known = state.details.id == row.id && state.details.can_force;
    let words = ["task", "merge", "--force", "--yes", &row.id].map(str::to_owned).to_vec();
    let label = format!("merge {} by force, from {}", row.branch, row.status);
    let deed = Deed::Confirm(Order { label, ..order(row, "", words) });
    is_known.then_some(Offered { key: "m", label: "force merge".to_owned(), deed, refusal: None })
}

/// The commands whose transition exists from here and is refused, with the reason.
fn refused(state: &State, row: &Row) -> Vec<Offered> {
    let workflow = state.catalog.workflows.get(&row.workflow);
    let next = next(state, row);
    let is_refused = |name: &str| {
        let to = workflow?.target_of(name)?;
        next.iter().find(|it| it.to == to && !it.allowed)
    };
    [("merge", "m"), ("cancel", "x")]
        .into_iter()
        .filter_map(|(name, key)| {
            let refusal = refusal(is_refused(name)?);
            let order = order(row, name, Vec::new());
            Some(Offered { key, label: name.to_owned(), deed: Deed::Order(order), refusal: Some(refusal) })
        })
        .collect()
}

/// What does not depend on a transition: a pull request of work that has a worktree, and the removal of what is over.
fn others(state: &State, row: &Row) -> Vec<Offered> {
    let one = |key, label: &str, deed| Offered { key, label: label.to_owned(), deed, refusal: None };
    let about =
        |words: &[&str]| words.iter().map(|word| (*word).to_owned()).chain([row.id.clone()]).collect();
    if row.kind == Kind::Mission || row.broken.is_some() {
        return Vec::new();
    }
    let mut others = Vec::new();
    let cancelled = state.catalog.workflows.get(&row.workflow).and_then(|it| it.target_of("cancel"));
    if row.group() == Group::Over && cancelled == Some(row.status.as_str()) {
        let order = order(row, "undo the cancel of", about(&["task", "undo"]));
        others.push(one("u", "undo the cancel", Deed::Order(order)));
    }
    if row.group() == Group::Over {
        others.push(one(
            "d",
            "delete",
            Deed::Confirm(order(row, "delete", about(&["task", "delete", "--yes"]))),
        ));
    } else if row.workspace.is_some() && row.pr.is_none() {
        others.push(one("p", "PR", Deed::Order(order(row, "open a PR for", about(&["task", "create-pr"])))));
    }
    if row.pr.is_some() {
        others.push(one("p", "open PR", Deed::Order(order(row, "open the PR of", about(&["task", "open"])))));
        others.push(one(
            "R",
            "refresh PR",
            Deed::Order(order(row, "refresh the PR of", about(&["task", "refresh"]))),
        ));
    }
    others
}

/// Why no agent of this row can get a text now.
pub fn why_unheard(row: &Row) -> &'static str {
    match row.kind {
        Kind::Mission => "agents of missions get no texts",
        Kind::Task if super::request::of(row).is_some() => {
            "its agent asks something, and a text would answer that"
        }
        Kind::Task if row.agents.is_empty() => "no agent is alive to get a text",
        Kind::Task => "no agent reads a text now",
    }
}

/// An order about a row.
pub fn order(row: &Row, label: &str, words: Vec<String>) -> Order {
    Order { about: row.id.clone(), label: format!("{label} {}", row.branch), words, ..Order::default() }
}

/// Everything that can be done with a row, also without a key of its own: its actions, and every transition.
pub fn menu(state: &State, row: &Row) -> Menu {
    let mut items = Vec::new();
    let moves = transitions(state, row);
    for offer in row.need.iter().flat_map(|need| &need.actions) {
        if offer.name == ActionName::Status {
            let to = offer.to.as_deref().unwrap_or_default();
            items.extend(moves.iter().find(|it| it.to == to).map(item_of));
            continue;
        }
        let name =
            if offer.name == ActionName::Merge { label_of(offer) } else { offer.name.as_str().to_owned() };
        let choice = match deed(row, offer, &name) {
            Deed::Order(order) | Deed::Move(order) => Choice::Order(order),
            Deed::Confirm(order) => Choice::Held(order),
            Deed::Answer(order) => Choice::Answer(order),
            Deed::Return(order) => Choice::Return(order),
            Deed::Text(order) => Choice::Text(order),
            Deed::Attach(words) => Choice::Attach(words),
            Deed::Print(words) => Choice::Print(words),
            Deed::Choose(_) => continue,
        };
        items.push(Item { label: name, refusal: None, choice });
    }
    for next in next(state, row) {
        let is_there = items.iter().any(|item| item.label == format!("to {}", next.to));
        let own = moves.iter().find(|it| it.to == next.to).filter(|_| !is_there);
        if let Some(own) = own {
            items.push(item_of(own));
        } else if !is_there {
            let words = ["task", "update", &row.id, "--status", &next.to].map(str::to_owned).to_vec();
            let label = format!("to {}", next.to);
            let moves =
                Order { label: format!("move {} to {}", row.branch, next.to), ..order(row, "", words) };
            let workflow = state.catalog.workflows.get(&row.workflow);
            let is_end = workflow
                .is_some_and(|it| it.states().iter().any(|state| state.terminal && state.name == next.to));
            let is_merged = workflow.and_then(|it| it.target_of("merge")).is_some_and(|it| it == next.to);
            let choice = match (is_merged, is_end) {
                (true, _) => {
                    let label = format!("end {} as {} without a merge", row.branch, next.to);
                    Choice::Unmerged(Order { label, ..moves })
                }
                (false, true) => Choice::Held(moves),
                (false, false) => Choice::Order(moves),
            };
            items.push(Item { label, refusal: (!next.allowed).then(|| refusal(next)), choice });
        }
    }
    for other in others(state, row) {
        let is_there = items.iter().any(|item| Some(item.label.as_str()) == name_of(other.key));
        let choice = match other.deed {
            Deed::Order(order) => Choice::Order(order),
            Deed::Confirm(order) => Choice::Held(order),
            Deed::Answer(_)
            | Deed::Text(_)
            | Deed::Return(_)
            | Deed::Move(_)
            | Deed::Choose(_)
            | Deed::Attach(_)
            | Deed::Print(_) => continue,
        };
        if !is_there {
            items.push(Item { label: other.label, refusal: None, choice });
        }
    }
    Menu { title: format!("What happens to {}?", row.branch), items, selected: 0 }
}

/// The action of a need that this key stands for beside what no transition decides.
fn name_of(key: &str) -> Option<&'static str> {
    match key {
        "p" => Some("open"),
        "R" => Some("refresh"),
        _ => None,
    }
}

/// The statuses that the row can go to, if they are known.
pub fn next<'s>(state: &'s State, row: &Row) -> &'s [Next] {
    let is_known = state.details.id == row.id;
    state.details.next.as_deref().filter(|_| is_known).unwrap_or_default()
}

/// Why a transition cannot be taken now, in a few words.
pub fn refusal(next: &Next) -> String {
    let guard = next.guard.as_ref().map(|guard| format!("only when {guard}"));
    let by = (!next.by.is_empty()).then(|| format!("only for {}", next.by.join(", ")));
    next.missing.clone().or(guard).or(by).unwrap_or_else(|| "not now".to_owned())
}
