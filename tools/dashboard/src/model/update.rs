//! The one function that changes the state.

use super::areas;
use super::ask::Mode;
use super::details::{self, Details, DetailsSource, DetailsTab};
use super::diff::TaskDiff;
use super::effect::{
    Completion, Event, FollowedPane, Order, Question, QuestionAnswer, ShellEffect, WatchedWorktree,
};
use super::list::ScreenLayout;
use super::row::{Row, RowGroup, RowKind};
use super::{Carried, HeldOrder, State, list, press, request, write};
use orange_api::{Error, OpenedPage, OpenedPullRequest, Refreshed, SessionState, ShownTask};

/// Time in which an order can be withdrawn, in milliseconds.
pub const GRACE: i64 = 5000;

/// Suffix of the failure of a form that is not on the screen.
const REOPENS: &str = " (c opens the form again)";

/// Returns the state with the first effects for the shell.
pub fn begin(state: State) -> (State, Vec<ShellEffect>) {
    let mut turn = UpdateTurn::of(state);
    for question in [Question::First, Question::Missions, Question::Projects, Question::Worktrees] {
        turn.ask(question);
    }
    (turn.state, turn.effects)
}

/// The state after an event, and what is to be done.
pub fn update(state: State, event: Event, now: i64) -> (State, Vec<ShellEffect>) {
    let mut turn = UpdateTurn::of(state);
    turn.state.now = now;
    turn.take(event);
    turn.carry_due();
    list::show_selected(&mut turn.state);
    turn.look();
    (turn.state, turn.effects)
}

/// In how many milliseconds the screen changes by itself.
pub fn wakes_in(state: &State) -> i64 {
    // Ages below a minute are shown in seconds; they may be this old.
    const AGES: i64 = 10_000;
    match state.held.iter().map(|held| held.due).min() {
        Some(due) => (due - state.now).clamp(1, 1000),
        None if is_changing(state) => 1000,
        None => AGES,
    }
}

/// True if the session of a task was about to change when the list was read.
fn is_changing(state: &State) -> bool {
    state.tasks.iter().any(|row| row.session == SessionState::Unknown)
}

/// A state that changes, and what is to be done.
pub(super) struct UpdateTurn {
    pub(super) state: State,
    pub(super) effects: Vec<ShellEffect>,
    /// Number of frames that were drawn when the key was read.
    pub(super) frames: u64,
    /// True if the key is held down.
    pub(super) is_held: bool,
}

impl UpdateTurn {
    fn of(state: State) -> UpdateTurn {
        UpdateTurn { state, effects: Vec::new(), frames: 0, is_held: false }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Key(typed) => {
                (self.frames, self.is_held) = (typed.frames, typed.is_held);
                press::key(self, typed.key);
            }
            Event::Mouse(mouse) => press::mouse(self, mouse),
            Event::Paste(text) => write::paste(self, &text),
            Event::Resize(columns, lines) => (self.state.columns, self.state.lines) = (columns, lines),
            Event::Tick => self.look_at_changing(),
            Event::Changed => {
                self.ask_again();
                self.look_again();
            }
            Event::Settings => self.ask_settings(),
            Event::Edited => self.look_at_files(),
            Event::Tokens(tokens) => self.state.spent_today.note_ended(tokens),
            Event::Answered(question, answer) => self.answered(&question, *answer),
            Event::Carried(order, answer) => self.carried(order, *answer),
            Event::Attached(answer) => self.attached(answer),
            Event::Pane(id, pane) if id == self.state.details.id => {
                self.state.details.failures.remove(&DetailsSource::Pane);
                self.state.details.pane = Some(*pane);
            }
            Event::NoPane(id, failure) if id == self.state.details.id => {
                self.state.details.failures.insert(DetailsSource::Pane, failure);
            }
            Event::Pane(..) | Event::NoPane(..) => {}
            Event::Said(is_failure, text) => self.state.tell(is_failure, text),
            Event::Written(written) => write::written(self, written),
            Event::Copied(Ok(by)) => self.state.tell(false, by),
            Event::Copied(Err(why)) => self.state.tell(true, why),
            Event::End => self.quit(),
        }
    }

    /// Asks, unless the same question is still open: then it is asked again after its answer.
    pub(super) fn ask(&mut self, question: Question) {
        let is_open = self.state.asking.get_mut(&question);
        match is_open {
            Some(again) => *again = true,
            None => {
                self.state.asking.insert(question.clone(), false);
                self.effects.push(ShellEffect::Ask(question));
            }
        }
    }

    /// Reads everything again that journals change.
    fn ask_again(&mut self) {
        self.ask(Question::Tasks);
        self.ask(Question::Missions);
        self.ask(Question::Worktrees);
    }

    /// Asks again about the selected row what its journal decides: its events while they are shown, and what could not be read.
    fn look_again(&mut self) {
        let details = &mut self.state.details;
        if !std::mem::take(&mut details.failures).is_empty() {
            return details.asked.clear();
        }
        if details.tab == DetailsTab::History {
            details.asked.retain(|it| !matches!(it, Question::Task(_) | Question::Mission(_)));
        }
    }

    /// Asks again about what was about to change: when that is over, no journal says so.
    fn look_at_changing(&mut self) {
        if is_changing(&self.state) && !self.state.asking.contains_key(&Question::Tasks) {
            self.ask(Question::Tasks);
        }
    }

    /// Asks again what files in the worktree decide. Beside the screen of an agent, they rarely decide what can be done.
    fn look_at_files(&mut self) {
        let details = &mut self.state.details;
        let is_shown = !matches!(details.tab, DetailsTab::Agent | DetailsTab::Why);
        details.asked.retain(|it| !is_shown && matches!(it, Question::Task(_)));
    }

    /// Reads again what is the same for many rows.
    fn ask_settings(&mut self) {
        let known: Vec<String> = self.state.catalog.workflows.keys().cloned().collect();
        self.ask(Question::Projects);
        self.ask(Question::Workflows);
        known.into_iter().for_each(|name| self.ask(Question::Workflow(name)));
        self.state.details.asked.clear();
    }

    fn answered(&mut self, question: &Question, answer: Result<QuestionAnswer, Error>) {
        if self.state.asking.remove(question) == Some(true) {
            self.ask(question.clone());
        }
        self.release(question);
        match answer {
            Ok(answer) => self.know(question, answer),
            Err(failure) => self.refused(question, failure),
        }
    }

    fn refused(&mut self, question: &Question, failure: Error) {
        match question {
            Question::First => self.ask(Question::Tasks),
            Question::Tasks => {
                self.state.is_loaded = true;
                self.state.failure = Some(failure);
            }
            // The list without them stays as it is.
            Question::Changes | Question::Harnesses | Question::Workflow(_) => {}
            // A workflow that does not compile at the moment is a row's to say.
            Question::Missions | Question::Projects | Question::Worktrees | Question::Workflows => {
                self.state.tell(true, failure.message.clone());
            }
            Question::Next(id) | Question::Task(id) | Question::Mission(id) | Question::Diff(id) => {
                if *id == self.state.details.id {
                    self.state.details.failures.insert(DetailsSource::Answer(question.clone()), failure);
                }
            }
        }
    }

    fn know(&mut self, question: &Question, answer: QuestionAnswer) {
        if question.row().is_some_and(|id| *id != self.state.details.id) {
            return;
        }
        let details = &mut self.state.details;
        details.failures.remove(&DetailsSource::Answer(question.clone()));
        match answer {
            QuestionAnswer::Tasks(listed) => {
                let rows: Vec<Row> = listed.into_iter().map(Row::of_task).collect();
                self.state.spent_today.note_living(rows.iter());
                match (*question == Question::First, *question == Question::Changes) {
                    (true, _) => self.know_first(rows),
                    (_, true) => self.know_changes(rows),
                    (false, false) => self.know_tasks(rows),
                }
            }
            QuestionAnswer::Missions(listed) => {
                self.state.missions = listed.into_iter().map(Row::of_mission).collect();
                self.know_rows();
            }
            QuestionAnswer::Projects(projects) => {
                self.state.catalog.projects = projects;
                self.state.catalog.has_projects = true;
                write::fill_form(self);
            }
            QuestionAnswer::Worktrees(worktrees) => self.state.worktrees = worktrees,
            QuestionAnswer::Workflows(names) => {
                self.state.catalog.names = names;
                write::fill_form(self);
            }
            QuestionAnswer::Harnesses(harnesses) => {
                self.state.catalog.harnesses = harnesses;
                write::fill_form(self);
            }
            QuestionAnswer::Workflow(workflow) => {
                if let Question::Workflow(name) = question {
                    self.state.catalog.workflows.insert(name.clone(), *workflow);
                }
                if let Mode::Form(form) = &mut self.state.mode {
                    form.turn_to_workflow(&self.state.catalog);
                }
            }
            QuestionAnswer::Next(next) => details.next = Some(next),
            QuestionAnswer::Task(task) => {
                if let Some(diff) = &mut details.diff {
                    diff.judge(reviews(&task));
                }
                details.task = Some(*task);
            }
            QuestionAnswer::Mission(mission) => details.mission = Some(*mission),
            QuestionAnswer::Diff(text) => {
                let draft = details.diff.take().or_else(|| self.state.drafts.remove(&details.id));
                let mut diff = TaskDiff::parse(&text);
                diff.judge(details.task.as_ref().map(reviews).unwrap_or_default());
                details.diff = Some(match &draft {
                    Some(older) => diff.with_comments_of(older),
                    None => diff,
                });
            }
        }
    }

    fn know_first(&mut self, rows: Vec<Row>) {
        // The answer with git may have been faster.
        if !self.state.is_loaded {
            self.list(rows);
            self.ask(Question::Tasks);
        }
    }

    fn know_tasks(&mut self, mut rows: Vec<Row>) {
        // Only git knows these; the last answer stands until it is asked again.
        for row in &mut rows {
            if let Some(old) = self.state.tasks.iter().find(|old| old.id == row.id) {
                row.changes = row.changes.or(old.changes);
                row.pr = row.pr.take().or_else(|| old.pr.clone());
                row.other_branch = old.other_branch.clone();
            }
        }
        let is_new = self.list(rows);
        if is_new || !self.state.has_changes {
            self.ask(Question::Changes);
        }
    }

    /// Lists these tasks. Says whether they are others than before.
    fn list(&mut self, rows: Vec<Row>) -> bool {
        self.state.is_loaded = true;
        self.state.failure = None;
        let is_new = self.state.tasks != rows;
        self.state.tasks = rows;
        self.know_rows();
        is_new
    }

    /// Takes over what git knows, and nothing else: git takes so long that the rest of this answer may be older than the list.
    fn know_changes(&mut self, rows: Vec<Row>) {
        self.state.has_changes = true;
        for row in &mut self.state.tasks {
            if let Some(answer) = rows.iter().find(|answer| answer.id == row.id) {
                row.changes = answer.changes;
                row.pr.clone_from(&answer.pr);
                row.other_branch.clone_from(&answer.other_branch);
            }
        }
    }

    /// Keeps selection and marks on their rows, and asks again about a selected row that has changed.
    fn know_rows(&mut self) {
        self.state.forget_missing();
        if let Some(id) = self.state.list.awaited.clone()
            && list::visible(&self.state).iter().any(|row| row.id == id)
        {
            self.state.list.selected = Some(id);
            self.state.list.awaited = None;
        }
        list::keep(&mut self.state);
        let seen =
            self.state.selected().map(|row| (row.updated_at.clone(), row.need.clone(), row.agents.len()));
        if self.state.details.seen != seen {
            self.state.details.seen = seen;
            self.state.details.asked.clear();
        }
    }

    /// Gives an order. The row is busy until it is carried out.
    pub(super) fn carry(&mut self, mut order: Order) {
        self.state.orders += 1;
        order.number = self.state.orders;
        if !order.about.is_empty() {
            self.state.running.insert(order.about.clone(), order.label.clone());
        }
        self.effects.push(ShellEffect::Carry(order));
    }

    /// Gives an order after a grace, in which it can be withdrawn.
    pub(super) fn hold(&mut self, order: Order) {
        self.state.held.retain(|held| held.order.about != order.about);
        self.state.held.push(HeldOrder { order, due: self.state.now + GRACE });
    }

    fn carry_due(&mut self) {
        let now = self.state.now;
        let (due, held) =
            std::mem::take(&mut self.state.held).into_iter().partition(|held: &HeldOrder| held.due <= now);
        self.state.held = held;
        // Nothing is left to ask about.
        if self.state.held.is_empty() && matches!(&self.state.mode, Mode::Confirm(it) if it.quits) {
            self.state.mode = Mode::List;
        }
        due.into_iter().for_each(|held: HeldOrder| self.carry(held.order));
    }

    fn carried(&mut self, order: Order, answer: Result<Completion, Error>) {
        if let Some(label) = self.state.running.remove(&order.about) {
            let list = order.list();
            let is_asked = self.state.asking.contains_key(&list);
            self.state.carried.insert(order.about.clone(), Carried { label, list, is_asked });
        }
        self.state.details.asked.clear();
        match answer {
            Err(failure) => {
                let text = format!("cannot {}: {}", order.label, failure.sentence());
                let hint = if write::form_ended(self, order.number, Some(&text)) { REOPENS } else { "" };
                self.state.tell(true, format!("{text}{hint}"));
            }
            Ok(outcome) => {
                write::form_ended(self, order.number, None);
                if order.input.is_some() {
                    self.state.unsent.remove(&order.about);
                }
                let failed = match &outcome {
                    Completion::Transitioned(result) => result.hook_errors.first(),
                    Completion::Created(_)
                    | Completion::Started(_)
                    | Completion::Opened(_)
                    | Completion::PullRequest(_)
                    | Completion::Refreshed(_)
                    | Completion::Done => None,
                };
                let but = failed.map(|error| format!(", but {error}")).unwrap_or_default();
                let news = news(&outcome).map(|news| format!(": {news}")).unwrap_or_default();
                self.state.tell(failed.is_some(), format!("{}{news}{but}", order.label));
                self.has_carried(&order, outcome);
                if let Some(then) = order.then {
                    self.carry(*then);
                }
            }
        }
        self.ask_again();
    }

    /// Frees the rows that this list now shows as their orders have left them.
    fn release(&mut self, list: &Question) {
        let waits = |order: &mut Carried| std::mem::take(&mut order.is_asked);
        self.state.carried.retain(|_, order| order.list != *list || waits(order));
    }

    /// Takes over what the answer of a command says about rows.
    fn has_carried(&mut self, order: &Order, outcome: Completion) {
        match outcome {
            Completion::Created(created) => {
                if let (Some(waiting), Some(branch)) = (created.waiting, created.branch) {
                    self.state.tell(false, format!("{branch} is created and waits: {waiting}"));
                }
                self.state.list.awaited = created.id;
            }
            Completion::Started(mission) => self.state.list.awaited = Some(mission.id),
            Completion::Transitioned(_)
            | Completion::Opened(_)
            | Completion::PullRequest(_)
            | Completion::Refreshed(_)
            | Completion::Done => {}
        }
        let words: Vec<&str> = order.words.iter().map(String::as_str).take(2).collect();
        match words[..] {
            ["task", "cancel"] => self.state.last_cancelled = Some(order.about.clone()),
            ["task", "undo"] => self.state.last_cancelled = None,
            ["task", "update"] if order.input.is_some() => {
                self.state.drafts.remove(&order.about);
                if self.state.details.id == order.about
                    && let Some(diff) = &mut self.state.details.diff
                {
                    diff.comments.clear();
                }
            }
            _ => {}
        }
    }

    fn attached(&mut self, answer: Result<(), Error>) {
        self.state.details.asked.clear();
        self.ask_again();
        match answer {
            Ok(()) if self.state.scope.exit_on_attach => self.quit(),
            Ok(()) => {}
            Err(failure) => self.state.tell(true, failure.message.clone()),
        }
    }

    /// Ends. What the person has agreed to is not forgotten with the grace.
    pub(super) fn quit(&mut self) {
        for held in std::mem::take(&mut self.state.held) {
            self.carry(held.order);
        }
        self.effects.push(ShellEffect::Quit);
    }

    /// Asks about the selected row, follows its pane and watches its files.
    fn look(&mut self) {
        let is_asked = self.state.selected().and_then(request::of).is_some();
        if matches!(self.state.mode, Mode::Request(_)) && !is_asked {
            self.state.mode = Mode::List;
        }
        let Some(row) = self.state.selected().cloned() else {
            self.follow(None);
            self.watch(None);
            return;
        };
        if self.state.details.id != row.id {
            let left = std::mem::take(&mut self.state.details);
            self.state.details = Details {
                tab: details::opened(self.state.tab, &row),
                followed: left.followed,
                watched: left.watched,
                ..Details::of(&row)
            };
            if let Some(diff) = left.diff.filter(|diff| !diff.comments.is_empty()) {
                self.state.drafts.insert(left.id, diff);
            }
        }
        if !self.state.details.is_chosen {
            self.state.details.tab = details::opened(self.state.tab, &row);
        }
        // Of rows that a person only passes by, none but the last is asked about.
        let is_other = |open: &&Question| open.row().is_some_and(|id| *id != row.id);
        let open: Vec<bool> = self.state.asking.keys().filter(is_other).map(Question::is_slow).collect();
        if !open.contains(&false) {
            for question in details::questions(&self.state, &row) {
                if question.is_slow() && open.contains(&true) {
                    continue;
                }
                if self.state.details.asked.insert(question.clone()) {
                    self.ask(question);
                }
            }
        }
        self.follow(self.followed(&row));
        self.watch(self.watched(&row));
    }

    fn followed(&self, row: &Row) -> Option<FollowedPane> {
        let is_shown =
            self.state.details.tab == DetailsTab::Agent && self.state.list.layout != ScreenLayout::List;
        let session = match row.kind {
            RowKind::Task => Some(row.session.as_str()),
            RowKind::Mission => self.state.details.mission.as_ref().map(|mission| mission.session.as_str()),
        };
        let has_pane = session == Some("active") && row.group() != RowGroup::Over;
        let body = areas::of(&self.state).body;
        let has_room = body.width >= 10 && body.height >= 3;
        (is_shown && has_pane && has_room).then(|| FollowedPane {
            kind: row.kind,
            id: row.id.clone(),
            columns: body.width,
            lines: body.height,
            agents: row.agents.iter().map(|agent| agent.spawn).collect(),
        })
    }

    /// The worktree of a row: all of it while its changes are shown.
    fn watched(&self, row: &Row) -> Option<WatchedWorktree> {
        let of_mission = || self.state.details.mission.as_ref().and_then(|it| it.worktree.clone());
        let worktree = row.workspace.clone().or_else(of_mission)?;
        let is_shown =
            self.state.details.tab == DetailsTab::Diff && self.state.list.layout != ScreenLayout::List;
        Some(WatchedWorktree { worktree, is_whole: is_shown })
    }

    fn watch(&mut self, watched: Option<WatchedWorktree>) {
        if self.state.details.watched != watched {
            self.state.details.watched.clone_from(&watched);
            self.effects.push(ShellEffect::Watch(watched));
        }
    }

    fn follow(&mut self, followed: Option<FollowedPane>) {
        if self.state.details.followed != followed {
            self.state.details.followed.clone_from(&followed);
            self.state.details.failures.remove(&DetailsSource::Pane);
            self.effects.push(ShellEffect::Follow(followed));
        }
    }
}

/// Reviews of the work, and the worker's words about it: the sections of its text that speak of the work.
fn reviews(task: &ShownTask) -> String {
    let is_about = |heading: &str| heading.starts_with("## Review") || heading.starts_with("## Handoff");
    let about = task.sections.iter().rev().filter(|(heading, _)| is_about(heading));
    about.map(|(heading, text)| format!("{heading}\n{}\n\n", text.trim())).collect()
}

/// The news of a command about a pull request.
fn news(outcome: &Completion) -> Option<String> {
    Some(match outcome {
        Completion::Opened(OpenedPage { url, browser: Some(_), .. }) => url.clone(),
        Completion::Opened(OpenedPage { url, browser: None, .. }) => {
            format!("{url} (no browser was found: set BROWSER to the name of one)")
        }
        Completion::PullRequest(OpenedPullRequest { pr_url, created, .. }) => {
            let url = pr_url.as_deref().unwrap_or_default();
            if *created { url.to_owned() } else { format!("{url} was open already") }
        }
        Completion::Refreshed(Refreshed { news, pr_url, state, done, .. }) => {
            let done = done.as_ref().map(|done| format!(", {done}")).unwrap_or_default();
            let (url, state) = (pr_url.as_deref().unwrap_or_default(), state.as_deref().unwrap_or_default());
            match news.as_str() {
                "none" => "the forge has none for this branch".to_owned(),
                "linked" => format!("{url} is linked now{done}"),
                "unchanged" => format!("nothing is new, {url} is {state}"),
                "checked" => format!("its checks have changed{done}"),
                other => format!("it is {other}{done}"),
            }
        }
        Completion::Created(_) | Completion::Started(_) | Completion::Transitioned(_) | Completion::Done => {
            return None;
        }
    })
}
