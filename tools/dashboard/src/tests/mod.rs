//! The model and the view with scripted answers: keys in, orders and frames out.

mod consent;
mod deeds;
mod frames;
mod keys;
mod opens;
mod orders;
mod picture;
mod schemas;
mod writing;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use crate::model::effect::{Event, Order, Question, ShellEffect, TypedKey};
use crate::model::spent::EndedToday;
use crate::model::update::{begin, update};
use crate::model::{DashboardOptions, State, clock, request};
use crate::view;
use crate::view::theme::Theme;
use orange_api::{Error, ErrorKind};

pub(super) const TASKS: &str = include_str!("tasks.json");
pub(super) const MISSIONS: &str = include_str!("missions.json");

pub(super) const PROJECTS: &str = r#"[{"name": "toy", "path": "/code/toy", "default_branch": "main", "pool_size": 8, "workflow": "default"}]"#;

pub(super) const WORKFLOW: &str = r#"{"name": "default",
    "state_list": [{"name": "pending", "terminal": false, "entry": true}, {"name": "reviewing", "terminal": false, "entry": true},
        {"name": "done", "terminal": true, "entry": false}],
    "commands": {"merge": "done", "cancel": "cancelled", "spawn": "working"}}"#;

pub(super) const NEXT: &str = r###"[
    {"to": "agent-review", "by": [], "allowed": false, "returns": false, "guard": null, "gate": "a section ## Handoff", "missing": "no ## Handoff yet", "hooks": ["kill_session", "spawn_agent"]},
    {"to": "done", "by": ["human"], "allowed": false, "guard": "review_round > 0", "gate": null, "missing": null, "hooks": []},
    {"to": "stuck", "by": [], "allowed": true, "guard": null, "gate": null, "missing": null, "hooks": []},
    {"to": "cancelled", "by": [], "allowed": true, "guard": null, "gate": null, "missing": null, "hooks": ["kill_session"]}]"###;

pub(super) const DIFF: &str = "\
diff --git a/src/login.rs b/src/login.rs
index 1..2 100644
--- a/src/login.rs
+++ b/src/login.rs
@@ -1,3 +1,4 @@ fn login() {
 let user = ask();
-let key = password();
+let key = passkey();
+check(key);
 end();
";

pub(super) const PANE: &str = r#"{"id": "perm0000000000000000", "spawn": 1, "window": "worker", "columns": 64, "rows": 8, "alive": true,
    "cursor": {"column": 2, "row": 5},
    "lines": ["\u001b[1mBash\u001b[0m(rm -rf node_modules)", "", "Do you want to proceed?", "\u001b[36m❯ 1. Yes\u001b[0m", "  2. No, 漢字", "", "", ""]}"#;

/// A dashboard with scripted answers.
pub(super) struct Desk {
    pub(super) state: State,
    pub(super) effects: Vec<ShellEffect>,
    pub(super) now: i64,
}

impl Desk {
    /// One that has not heard anything yet.
    pub(super) fn silent(columns: u16, lines: u16) -> Desk {
        let now = clock::parse("2026-11-25T20:00:00Z").unwrap();
        let (state, effects) = begin(State::new(DashboardOptions::default(), columns, lines, now));
        Desk { state, effects, now }
    }

    /// One that knows every task and mission.
    pub(super) fn new(columns: u16, lines: u16) -> Desk {
        let mut desk = Desk::silent(columns, lines);
        desk.answer(Question::Projects, PROJECTS);
        desk.answer(Question::Worktrees, &worktrees());
        desk.answer(Question::Tasks, TASKS);
        desk.answer(Question::Missions, MISSIONS);
        desk.answer(Question::Workflow("default".to_owned()), WORKFLOW);
        desk.event(Event::Tokens(EndedToday { tokens: 380_000, ..EndedToday::default() }));
        desk
    }

    pub(super) fn event(&mut self, event: Event) {
        let (state, effects) = update(std::mem::take(&mut self.state), event, self.now);
        self.state = state;
        self.effects.extend(effects);
    }

    /// Answers a question with this text. Of an answer in JSON, it says only what the test is about.
    #[track_caller]
    pub(super) fn answer(&mut self, question: Question, text: &str) {
        let text = match question.is_text() {
            true => text.to_owned(),
            false => {
                let words = question.words(&DashboardOptions::default());
                schemas::completed(&words[..2].join("-"), text).to_string()
            }
        };
        let answer = question.parse(text.as_bytes()).unwrap();
        self.event(Event::Answered(question, Box::new(Ok(answer))));
    }

    pub(super) fn fails(&mut self, question: Question, message: &str) {
        let failure = Error::new(ErrorKind::Refused, message).help("see the help");
        self.event(Event::Answered(question, Box::new(Err(failure))));
    }

    /// An order is over: it has succeeded, or failed with this message.
    pub(super) fn ends(&mut self, order: Order, message: Option<&str>) {
        match message {
            None => self.succeeds(order, r#"{"success": true}"#),
            Some(message) => {
                let failure = Error::new(ErrorKind::Refused, message).help("try again");
                self.event(Event::Carried(order, Box::new(Err(failure))));
            }
        }
    }

    /// An order succeeds with this answer, which says only what the test is about.
    #[track_caller]
    pub(super) fn succeeds(&mut self, order: Order, answer: &str) {
        let name = order.words.iter().take(2).cloned().collect::<Vec<_>>().join("-");
        let answer = schemas::completed(&name, answer).to_string();
        let outcome = order.parse(answer.as_bytes()).unwrap();
        self.event(Event::Carried(order, Box::new(Ok(outcome))));
    }

    /// An order is over, as in `ends`, and the lists are read again.
    pub(super) fn carried(&mut self, order: Order, message: Option<&str>) {
        self.ends(order, message);
        self.answer(Question::Tasks, TASKS);
        self.answer(Question::Missions, MISSIONS);
    }

    /// Presses these keys, one character each.
    pub(super) fn press(&mut self, keys: &str) {
        for letter in keys.chars() {
            self.key(KeyCode::Char(letter));
        }
    }

    /// Presses these keys before anything is drawn.
    pub(super) fn burst(&mut self, keys: &str) {
        let frames = self.state.sight.frames;
        for letter in keys.chars() {
            let key = KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE);
            self.event(Event::Key(TypedKey { key, frames, is_held: false }));
        }
    }

    pub(super) fn key(&mut self, code: KeyCode) {
        self.key_with(code, KeyModifiers::NONE);
    }

    /// Presses a key together with Ctrl.
    pub(super) fn control(&mut self, letter: char) {
        self.key_with(KeyCode::Char(letter), KeyModifiers::CONTROL);
    }

    fn key_with(&mut self, code: KeyCode, modifiers: KeyModifiers) {
        request::drawn(&mut self.state);
        let frames = self.state.sight.frames;
        let key = KeyEvent::new(code, modifiers);
        self.event(Event::Key(TypedKey { key, frames, is_held: false }));
    }

    pub(super) fn wait(&mut self, seconds: i64) {
        self.now += seconds * 1000;
        self.event(Event::Tick);
    }

    /// The orders that were given since the last call, each as its words.
    pub(super) fn orders(&mut self) -> Vec<Order> {
        let order = |effect| match effect {
            ShellEffect::Carry(order) => Some(order),
            ShellEffect::Ask(_)
            | ShellEffect::Attach(_)
            | ShellEffect::Print(_)
            | ShellEffect::Follow(_)
            | ShellEffect::Watch(_)
            | ShellEffect::Write(_)
            | ShellEffect::Copy(_)
            | ShellEffect::Suspend
            | ShellEffect::Quit => None,
        };
        std::mem::take(&mut self.effects).into_iter().filter_map(order).collect()
    }

    /// The words of each order that was given since the last call.
    pub(super) fn said(&mut self) -> Vec<String> {
        self.orders().into_iter().map(|order| order.words.join(" ")).collect()
    }

    /// The branch of the selected row.
    pub(super) fn selected(&self) -> &str {
        self.state.selected().map_or("", |row| &row.branch)
    }

    /// The screen as text.
    pub(super) fn screen(&self) -> String {
        self.terminal(Theme::new(true)).backend().to_string()
    }

    pub(super) fn terminal(&self, theme: Theme) -> Terminal<TestBackend> {
        let mut terminal = Terminal::new(TestBackend::new(self.state.columns, self.state.lines)).unwrap();
        terminal.draw(|frame| view::draw(frame, &self.state, theme)).unwrap();
        terminal
    }
}

fn worktrees() -> String {
    let one = |number: u32| format!(r#"{{"name": "toy--{number}", "project": "toy", "task": "t{number}"}}"#);
    format!("[{}]", (1..8).map(one).collect::<Vec<_>>().join(","))
}
