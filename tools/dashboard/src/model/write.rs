//! The keys of what a person writes: a search, a text for an agent, the form for a new task or mission.

use super::act::{give, with_text};
use super::ask::{Mode, TextQuestion, TextUse};
use super::effect::{Order, Question, ShellEffect};
use super::form::NewWorkForm;
use super::text_field::TextField;
use super::update::UpdateTurn;
use super::{State, areas, keys, list};
use orange_api::Error;

/// A text that was pasted goes where one is written, and nowhere else.
pub(super) fn paste(turn: &mut UpdateTurn, text: &str) {
    change(&mut turn.state, |field, fit| field.insert(&fit(text)));
}

/// The text that an editor has saved becomes that of the field. An editor that has failed changes nothing; an open form shows why.
pub(super) fn written(turn: &mut UpdateTurn, written: Result<String, Error>) {
    match (written, &mut turn.state.mode) {
        (Ok(text), mode) => {
            if let Mode::Form(form) = mode {
                form.refusal = None;
            }
            change(&mut turn.state, |field, fit| field.replace(&fit(&text)));
        }
        (Err(failure), Mode::Form(form)) => form.refusal = Some(failure.sentence()),
        (Err(failure), _) => turn.state.tell(true, failure.sentence()),
    }
}

/// Changes the field that a person writes in, if there is one. `fit` leaves out what the field does not take.
fn change(state: &mut State, change: impl FnOnce(&mut TextField, &dyn Fn(&str) -> String)) {
    match &mut state.mode {
        Mode::Search(field) => {
            change(field, &str::to_owned);
            state.list.search = field.text().to_owned();
            list::keep(state);
        }
        Mode::Text(question) => change(&mut question.field, &str::to_owned),
        Mode::Form(form) if form.sent.is_none() => {
            let of_field = form.field;
            if let Some(field) = form.active_text() {
                change(field, &|text| of_field.fit(text));
            }
        }
        Mode::Form(_)
        | Mode::List
        | Mode::Details
        | Mode::Confirm(_)
        | Mode::Menu(_)
        | Mode::Request(_)
        | Mode::Help
        | Mode::Messages(_) => {}
    }
}

/// The keys of a search.
pub(super) fn search(turn: &mut UpdateTurn, mut field: TextField, name: &str) {
    match name {
        "Enter" => {}
        "Esc" => field = TextField::line(""),
        _ => {
            press(turn, &mut field, name, areas::text_width(turn.state.columns));
            turn.state.mode = Mode::Search(field.clone());
        }
    }
    turn.state.list.search = field.text().to_owned();
    list::keep(&mut turn.state);
}

/// The keys of a question with a text for an answer.
pub(super) fn text(turn: &mut UpdateTurn, mut question: TextQuestion, name: &str) {
    match name {
        "Esc" if question.use_of == TextUse::Comment => turn.state.mode = Mode::Details,
        "Esc" => {}
        "Ctrl-S" => use_text(turn, question),
        _ => {
            press(turn, &mut question.field, name, areas::text_width(turn.state.columns));
            turn.state.mode = Mode::Text(question);
        }
    }
}

/// A key in a field: Ctrl-E opens the text in the editor of the person.
fn press(turn: &mut UpdateTurn, field: &mut TextField, name: &str, width: u16) -> bool {
    if name == "Ctrl-E" {
        turn.effects.push(ShellEffect::Write(field.text().to_owned()));
        return true;
    }
    field.press(name, width)
}

fn use_text(turn: &mut UpdateTurn, question: TextQuestion) {
    let text = question.field.text();
    match question.use_of {
        TextUse::Comment => {
            turn.state.mode = Mode::Details;
            if let Some(diff) = &mut turn.state.details.diff {
                diff.comment(text);
            }
        }
        TextUse::LastWord(_) if question.field.is_blank() => {
            turn.state.tell(true, format!("nothing is sent: {} has no text", question.question));
        }
        TextUse::LastWord(orders) => send(turn, orders, "-", text),
        TextUse::Feedback(orders) | TextUse::Remark(orders) if question.field.is_blank() => {
            give(turn, orders)
        }
        TextUse::Feedback(orders) => send(turn, orders, "--feedback=-", text),
        TextUse::Remark(orders) => send(turn, orders, "--comment=-", text),
    }
}

/// Gives orders with a text, which is not lost if they fail.
fn send(turn: &mut UpdateTurn, orders: Vec<Order>, word: &str, text: &str) {
    for order in &orders {
        turn.state.unsent.insert(order.about.clone(), text.to_owned());
    }
    give(turn, orders.into_iter().map(|order| with_text(order, word, text)).collect());
}

/// Opens the form: the one that was left with texts or while its order ran, or an empty one.
pub(super) fn open_form(turn: &mut UpdateTurn) {
    for question in [Question::Workflows, Question::Harnesses, Question::Projects] {
        turn.ask(question);
    }
    if let Some(form) = turn.state.form_aside.take() {
        turn.state.mode = Mode::Form(form);
        return;
    }
    match NewWorkForm::new(&turn.state.catalog, project(&turn.state)) {
        Ok(form) => turn.state.mode = Mode::Form(Box::new(form)),
        Err(why) => turn.state.tell(true, why),
    }
    ask_workflow(turn);
}

/// The project that a new task most likely belongs to.
fn project(state: &State) -> Option<&str> {
    state.project().or_else(|| state.selected().map(|row| row.project.as_str()))
}

/// Fills the choices of an open form whose names have come later. What was written and chosen stays.
pub(super) fn fill_form(turn: &mut UpdateTurn) {
    let Mode::Form(form) = &turn.state.mode else { return };
    match form.renewed(&turn.state.catalog, project(&turn.state)) {
        Ok(form) => {
            turn.state.mode = Mode::Form(Box::new(form));
            ask_workflow(turn);
        }
        Err(why) => {
            if form.is_empty() {
                turn.state.mode = Mode::List;
            }
            turn.state.tell(true, why);
        }
    }
}

/// The order of a form has ended: the form goes away, or stays with the reason. Says whether it was left meanwhile.
pub(super) fn form_ended(turn: &mut UpdateTurn, order: u64, refusal: Option<&str>) -> bool {
    let state = &mut turn.state;
    let refused = |form: &NewWorkForm| {
        let mut form = Box::new(form.clone());
        (form.sent, form.refusal) = (None, Some(refusal?.to_owned()));
        Some(form)
    };
    if let Mode::Form(form) = &state.mode
        && form.sent == Some(order)
    {
        state.mode = refused(form).map_or(Mode::List, Mode::Form);
    }
    let Some(form) = state.form_aside.as_ref().filter(|form| form.sent == Some(order)) else { return false };
    state.form_aside = refused(form);
    true
}

/// Asks in which statuses a task of the chosen workflow may begin.
fn ask_workflow(turn: &mut UpdateTurn) {
    let Mode::Form(form) = &turn.state.mode else { return };
    let name = form.workflow().filter(|name| !turn.state.catalog.workflows.contains_key(*name));
    if let Some(name) = name {
        turn.ask(Question::Workflow(name.to_owned()));
    }
}

/// The keys of the form.
pub(super) fn fill(turn: &mut UpdateTurn, mut form: Box<NewWorkForm>, name: &str) {
    match name {
        // The order runs; if it fails, the form is opened again.
        "Esc" if form.sent.is_some() => turn.state.form_aside = Some(form),
        "Esc" if form.is_empty() => {}
        "Esc" => {
            turn.state.form_aside = Some(form);
            turn.state.tell(false, "the form is kept: c opens it again");
        }
        _ if form.sent.is_some() => turn.state.mode = Mode::Form(form),
        "Ctrl-X" => {}
        "Ctrl-S" => send_form(turn, form),
        "Enter" if !form.text(form.field).is_some_and(TextField::has_lines) => send_form(turn, form),
        _ => {
            press_in_form(turn, &mut form, name);
            turn.state.mode = Mode::Form(form);
            ask_workflow(turn);
        }
    }
}

fn press_in_form(turn: &mut UpdateTurn, form: &mut NewWorkForm, name: &str) {
    let is_refused = keys::typed(name).is_some() && form.field.fit(name).is_empty();
    let width = areas::form_text_width(turn.state.columns);
    let is_text = match form.active_text() {
        _ if matches!(name, "Tab" | "BackTab") => false,
        Some(_) if is_refused => true,
        Some(field) => press(turn, field, name, width),
        None => false,
    };
    match name {
        _ if is_text => {}
        "Tab" | "Down" => form.turn(true),
        "BackTab" | "Up" => form.turn(false),
        "Left" => form.step(false, &turn.state.catalog),
        "Right" => form.step(true, &turn.state.catalog),
        // Any letter takes the next choice.
        _ if keys::typed(name).is_some() => form.step(true, &turn.state.catalog),
        _ => {}
    }
}

/// Gives the order of the form, which stays until that is carried out.
fn send_form(turn: &mut UpdateTurn, mut form: Box<NewWorkForm>) {
    if form.is_empty() {
        let what = if form.is_mission { "started" } else { "created" };
        form.refusal = Some(format!("nothing is {what}: write a branch, or what is to be done"));
    } else {
        let order = form.order();
        turn.state.tell(false, format!("{} …", order.label));
        turn.carry(order);
        (form.sent, form.refusal) = (Some(turn.state.orders), None);
    }
    turn.state.mode = Mode::Form(form);
}
