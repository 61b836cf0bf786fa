//! What keys and the mouse do.

use crossterm::event::{KeyEvent, KeyEventKind, MouseButton, MouseEvent, MouseEventKind};

use super::ask::{Choice, Confirm, Item, Menu, Mode, TextQuestion, TextUse};
use super::consent::{
    answer_request, confirm, give_seen, open_request, question_about_requests, read_request,
};
use super::details::Tab;
use super::diff::LineKind;
use super::effect::{Effect, Order, Question};
use super::form::{Field, Form};
use super::line::Line;
use super::offers::{self, Deed, Offered};
use super::row::Group;
use super::update::Turn;
use super::{areas, keys, list};

/// How many lines a page has.
const PAGE: isize = 10;

/// A key.
pub(super) fn key(turn: &mut Turn, key: KeyEvent) {
    if key.kind == KeyEventKind::Release {
        return;
    }
    let name = keys::name(key);
    if name == "Ctrl-C" {
        return turn.quit();
    }
    if name == "Ctrl-Z" {
        return turn.effects.push(Effect::Suspend);
    }
    match std::mem::take(&mut turn.state.mode) {
        Mode::List => in_list(turn, &name),
        Mode::Details => in_details(turn, &name),
        Mode::Search(line) => search(turn, line, &name),
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

/// A text that was pasted goes where a line is typed, and nowhere else.
pub(super) fn paste(turn: &mut Turn, text: &str) {
    match &mut turn.state.mode {
        Mode::Search(line) => {
            line.paste(text);
            turn.state.list.search.clone_from(&line.text);
            list::keep(&mut turn.state);
        }
        Mode::Text(question) => question.line.paste(text),
        Mode::Form(form) if form.field == Field::Branch => {
            let letters: Vec<char> = text.trim().chars().collect();
            letters.into_iter().for_each(|letter| form.push(letter, &turn.state.catalog));
        }
        Mode::Form(form) => form.line().into_iter().for_each(|line| line.paste(text)),
        Mode::List
        | Mode::Details
        | Mode::Confirm(_)
        | Mode::Menu(_)
        | Mode::Request(_)
        | Mode::Help
        | Mode::Messages(_) => {}
    }
}

/// The mouse: a click selects a row or a tab, the wheel moves what is below it.
pub(super) fn mouse(turn: &mut Turn, mouse: MouseEvent) {
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

fn in_list(turn: &mut Turn, name: &str) {
    let state = &mut turn.state;
    match name {
        "q" => turn.quit(),
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
        "/" => state.mode = Mode::Search(Line::of(state.list.search.clone())),
        "Right" if turn.state.selected().is_some() => turn.state.mode = Mode::Details,
        "Esc" => back(turn),
        "c" => open_form(turn),
        _ => anywhere(turn, name),
    }
}

/// The keys of the scrolled text.
fn in_details(turn: &mut Turn, name: &str) {
    turn.state.mode = Mode::Details;
    let diff = turn.state.details.diff.as_mut().filter(|_| turn.state.details.tab == Tab::Diff);
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
            turn.state.mode =
                Mode::Text(TextQuestion { question, line: Line::of(before), use_of: TextUse::Comment });
        }
        ("j" | "Down", None) => scroll(turn, 1),
        ("k" | "Up", None) => scroll(turn, -1),
        ("g" | "Home", None) => turn.state.details.scroll = 0,
        ("G" | "End", None) => scroll(turn, isize::MAX),
        _ => anywhere(turn, name),
    }
}

/// The keys that do the same in the list and in the text beside it.
fn anywhere(turn: &mut Turn, name: &str) {
    match name {
        "w" => turn.state.list.layout = turn.state.list.layout.next(),
        "Tab" => show(turn, turn.state.details.tab.next()),
        "1" | "2" | "3" | "4" | "5" => {
            let number = name.bytes().next().map_or(0, |digit| usize::from(digit - b'1'));
            show(turn, Tab::ALL[number]);
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
fn back(turn: &mut Turn) {
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

fn show(turn: &mut Turn, tab: Tab) {
    turn.state.tab = tab;
    turn.state.details.is_chosen = true;
    if turn.state.details.tab != tab {
        turn.state.details.tab = tab;
        turn.state.details.scroll = 0;
        turn.state.details.failure = None;
        // Its files may have changed while it was not shown.
        turn.state.details.asked.clear();
    }
}

fn scroll(turn: &mut Turn, by: isize) {
    if turn.state.details.tab == Tab::Diff
        && let Some(diff) = &mut turn.state.details.diff
    {
        return diff.step(by);
    }
    let scroll = &mut turn.state.details.scroll;
    // The view shows no line behind the last one.
    *scroll = scroll.saturating_add_signed(by).min(100_000);
}

fn copy(turn: &mut Turn) {
    let ids: Vec<String> = turn.state.targets().into_iter().map(|row| row.id.clone()).collect();
    if !ids.is_empty() {
        turn.effects.push(Effect::Copy(ids.join("\n")));
    }
}

fn undo(turn: &mut Turn) {
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
            let order = offers::order(row, "undo the cancel of", words);
            turn.carry(order);
        }
    }
}

/// Does what a key stands for with every marked row, or with the selected one.
pub(super) fn act(turn: &mut Turn, name: &str) {
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
                refusals.push(format!("{}: no {label}: {why}", row.branch))
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

fn perform(turn: &mut Turn, deeds: Vec<Deed>, is_many: bool) {
    let (mut orders, mut texts, mut confirms, mut returns) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut moves, mut answers) = (Vec::new(), Vec::new());
    for deed in deeds {
        match deed {
            Deed::Order(order) => orders.push(order),
            Deed::Answer(order) => answers.push(order),
            Deed::Text(order) => texts.push(order),
            Deed::Confirm(order) => confirms.push(order),
            Deed::Return(order) => returns.push(order),
            Deed::Move(order) => moves.push(order),
            Deed::Choose(menu) if !is_many => turn.state.mode = Mode::Menu(menu),
            Deed::Choose(menu) => turn.state.tell(true, format!("{} Select that row alone", menu.title)),
            Deed::Attach(words) if !is_many => turn.effects.push(Effect::Attach(words)),
            Deed::Print(words) if !is_many => turn.effects.push(Effect::Print(words)),
            Deed::Attach(_) | Deed::Print(_) => {}
        }
    }
    match &orders[..] {
        [one] if !is_many => give_seen(turn, one.clone()),
        _ => moves.extend(orders),
    }
    let ask = |question: String, use_of| Mode::Text(TextQuestion { question, line: Line::default(), use_of });
    if let ([one], false) = (&answers[..], is_many) {
        answer_request(turn, one.clone());
    } else if !answers.is_empty() {
        let question = question_about_requests(turn, &answers);
        confirm(turn, question, answers, false);
    } else if !texts.is_empty() {
        turn.state.mode = ask(question(&texts), TextUse::LastWord(texts));
    } else if !returns.is_empty() {
        turn.state.mode = ask(
            format!("{} (what is to change; may be empty)", question(&returns)),
            TextUse::Feedback(returns),
        );
    } else if !confirms.is_empty() {
        let question = question(&confirms);
        confirm(turn, question, confirms, true);
    } else if !moves.is_empty() {
        let question = question(&moves);
        confirm(turn, question, moves, false);
    }
}

/// Asks whether these orders are meant.
fn question(orders: &[Order]) -> String {
    match orders {
        [one] => format!("{}?", one.label),
        [first, ..] => {
            let verb = first.label.split(' ').next().unwrap_or_default();
            format!("{verb} {} tasks?", orders.len())
        }
        [] => String::new(),
    }
}

/// Gives orders, forgets the marks, and goes on to the next row that needs the person.
pub(super) fn give(turn: &mut Turn, orders: Vec<Order>) {
    if orders.is_empty() {
        return;
    }
    let is_needed = turn.state.selected().is_some_and(|row| row.group() == Group::NeedsYou);
    let is_answer = is_needed && orders.iter().any(Order::is_answer);
    orders.into_iter().for_each(|order| turn.carry(order));
    go_on(turn, is_answer);
}

fn go_on(turn: &mut Turn, is_answer: bool) {
    turn.state.list.marked.clear();
    if is_answer && let Some(at) = list::position(&turn.state) {
        list::next_need(&mut turn.state, at);
    }
}

fn answer(turn: &mut Turn, confirm: Confirm, name: &str) {
    match name {
        // It was pressed before the question was drawn.
        "y" | "Y" if turn.frames <= confirm.frames => turn.state.mode = Mode::Confirm(confirm),
        "y" | "Y" => {
            let is_answer = turn.state.selected().is_some_and(|row| row.group() == Group::NeedsYou);
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

fn search(turn: &mut Turn, mut line: Line, name: &str) {
    match name {
        "Enter" => {}
        "Esc" => line = Line::default(),
        _ => {
            edit(&mut line, name);
            turn.state.mode = Mode::Search(line.clone());
        }
    }
    turn.state.list.search = line.text;
    list::keep(&mut turn.state);
}

fn text(turn: &mut Turn, mut question: TextQuestion, name: &str) {
    match name {
        "Esc" if question.use_of == TextUse::Comment => turn.state.mode = Mode::Details,
        "Esc" => {}
        "Enter" => use_text(turn, question),
        _ => {
            edit(&mut question.line, name);
            turn.state.mode = Mode::Text(question);
        }
    }
}

fn use_text(turn: &mut Turn, question: TextQuestion) {
    let text = question.line.text.trim().to_owned();
    match question.use_of {
        TextUse::Comment => {
            turn.state.mode = Mode::Details;
            if let Some(diff) = &mut turn.state.details.diff {
                diff.comment(&text);
            }
        }
        TextUse::LastWord(orders) if text.is_empty() => {
            turn.state.tell(false, format!("nothing is sent: {} has no text", question.question));
            drop(orders);
        }
        TextUse::LastWord(orders) => {
            let with_text = |mut order: Order| {
                // A text may begin with `-`.
                order.words.extend(["--".to_owned(), text.clone()]);
                order
            };
            give(turn, orders.into_iter().map(with_text).collect());
        }
        TextUse::Feedback(orders) => {
            give(turn, orders.into_iter().map(|order| with_feedback(order, &text)).collect())
        }
    }
}

/// The order with a text that becomes a section of the task.
fn with_feedback(mut order: Order, text: &str) -> Order {
    if !text.trim().is_empty() {
        order.words.push("--feedback=-".to_owned());
        order.input = Some(format!("{}\n", text.trim()));
    }
    order
}

/// Sends the comments on lines back, with the work.
fn send_review(turn: &mut Turn) {
    let state = &turn.state;
    let Some(row) = state.selected() else { return };
    let review = state.details.diff.as_ref().map(super::diff::Diff::review).unwrap_or_default();
    if review.is_empty() {
        return turn
            .state
            .tell(false, "no line has a comment yet: → goes to the changes, c comments on a line");
    }
    let (returns, branch) = (offers::returns(state, row), row.branch.clone());
    let is_busy = state.order_on(&row.id).is_some();
    let order = |it: &offers::Move| with_feedback(it.order.clone(), &review);
    match &returns[..] {
        [] => turn.state.tell(true, format!("no transition sends {branch} back now; t shows every one")),
        _ if is_busy => turn.state.tell(true, format!("{branch} is busy")),
        [one] => give(turn, vec![order(one)]),
        several => {
            let item = |it: &offers::Move| Item {
                label: format!("to {}", it.to),
                refusal: None,
                choice: Choice::Order(order(it)),
            };
            let title = format!("Where do the comments on {branch} go?");
            let items = several.iter().map(item).collect();
            turn.state.mode = Mode::Menu(Menu { title, items, selected: 0 });
        }
    }
}

fn choose(turn: &mut Turn, mut menu: Menu, name: &str) {
    let last = menu.items.len().saturating_sub(1);
    match name {
        "Esc" | "q" | "t" => return,
        "j" | "Down" => menu.selected = (menu.selected + 1).min(last),
        "k" | "Up" => menu.selected = menu.selected.saturating_sub(1),
        "Enter" => {
            return match menu.items.get(menu.selected).cloned() {
                Some(Item { refusal: None, choice, .. }) => chosen(turn, choice),
                Some(Item { refusal: Some(why), label, .. }) => {
                    turn.state.tell(true, format!("not {label}: {why}"))
                }
                None => {}
            };
        }
        _ => {}
    }
    turn.state.mode = Mode::Menu(menu);
}

fn chosen(turn: &mut Turn, choice: Choice) {
    match choice {
        Choice::Order(order) | Choice::Held(order) | Choice::Answer(order)
            if turn.state.order_on(&order.about).is_some() =>
        {
            let what = turn.state.order_on(&order.about).unwrap_or_default();
            let note = format!("it is busy: {what}");
            turn.state.tell(true, note);
        }
        Choice::Order(order) => confirm(turn, format!("{}?", order.label), vec![order], false),
        Choice::Held(order) => perform(turn, vec![Deed::Confirm(order)], false),
        Choice::Answer(order) => answer_request(turn, order),
        Choice::Return(order) => perform(turn, vec![Deed::Return(order)], false),
        Choice::Text(order) => perform(turn, vec![Deed::Text(order)], false),
        Choice::Attach(words) => turn.effects.push(Effect::Attach(words)),
        Choice::Print(words) => turn.effects.push(Effect::Print(words)),
    }
}

fn open_form(turn: &mut Turn) {
    for question in [Question::Workflows, Question::Harnesses, Question::Projects] {
        turn.ask(question);
    }
    let selected = turn.state.selected().map(|row| row.project.as_str());
    let project = turn.state.project().or(selected).map(str::to_owned);
    match Form::new(&turn.state.catalog, project.as_deref()) {
        Ok(form) => turn.state.mode = Mode::Form(Box::new(form)),
        Err(why) => turn.state.tell(true, why),
    }
    ask_workflow(turn);
}

/// Fills the choices of an open form whose names have come later. Typed texts stay.
pub(super) fn fill_form(turn: &mut Turn) {
    let Mode::Form(form) = &turn.state.mode else { return };
    let project = form.project.name().map(str::to_owned);
    match Form::new(&turn.state.catalog, project.as_deref()) {
        Ok(fresh) => {
            let Form { field, branch, summary, context, .. } = (**form).clone();
            turn.state.mode = Mode::Form(Box::new(Form { field, branch, summary, context, ..fresh }));
            ask_workflow(turn);
        }
        Err(why) => {
            turn.state.mode = Mode::List;
            turn.state.tell(true, why);
        }
    }
}

/// Asks in which statuses a task of the chosen workflow may begin.
fn ask_workflow(turn: &mut Turn) {
    let Mode::Form(form) = &turn.state.mode else { return };
    let name = form.workflow.name().filter(|name| !turn.state.catalog.workflows.contains_key(*name));
    if let Some(name) = name {
        turn.ask(Question::Workflow(name.to_owned()));
    }
}

fn fill(turn: &mut Turn, mut form: Box<Form>, name: &str) {
    let catalog = &turn.state.catalog;
    match (name, keys::typed(name)) {
        ("Esc", _) => return,
        ("Enter", _) if form.is_empty() => {
            turn.state.tell(false, "nothing is created: write a branch, or what is to be done");
        }
        ("Enter", _) => {
            let order = form.order();
            turn.state.tell(false, format!("{} …", order.label));
            return turn.carry(order);
        }
        ("Tab" | "Down", _) => form.turn(true),
        ("BackTab" | "Up", _) => form.turn(false),
        ("Right", _) => form.step(true, catalog),
        ("Left", _) => form.step(false, catalog),
        (_, Some(letter)) => form.push(letter, catalog),
        (_, None) => form.line().into_iter().for_each(|line| edit(line, name)),
    }
    turn.state.mode = Mode::Form(form);
    ask_workflow(turn);
}

fn edit(line: &mut Line, name: &str) {
    match (name, keys::typed(name)) {
        ("Ctrl-U", _) => *line = Line::default(),
        ("Ctrl-W", _) => line.pop_word(),
        ("Backspace", _) => line.pop(),
        (_, Some(letter)) => line.push(letter),
        (_, None) => {}
    }
}
