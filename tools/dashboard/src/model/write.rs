//! The keys of what a person writes: a search, a text for an agent, the form for a new task.

use super::act::{give, with_feedback};
use super::ask::{Mode, TextQuestion, TextUse};
use super::effect::{Order, Question};
use super::form::{Field, Form};
use super::keys;
use super::line::Line;
use super::list;
use super::update::Turn;

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
/// The keys of a search.
pub(super) fn search(turn: &mut Turn, mut line: Line, name: &str) {
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

/// The keys of a question with a text for an answer.
pub(super) fn text(turn: &mut Turn, mut question: TextQuestion, name: &str) {
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

/// Opens the form for a new task.
pub(super) fn open_form(turn: &mut Turn) {
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

/// The keys of the form.
pub(super) fn fill(turn: &mut Turn, mut form: Box<Form>, name: &str) {
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
