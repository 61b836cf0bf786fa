//! The outside of the dashboard: the terminal, the commands that it runs, files and signals. It decides nothing.

mod clipboard;
mod editor;
mod input;
mod journals;
mod monitor;
mod orange;
mod pane;
mod signals;
mod terminal;
mod worktree;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::model::effect::{Event, ShellEffect};
use crate::model::update::{begin, update, wakes_in};
use crate::model::{DashboardOptions, State, request};
use crate::view;
use crate::view::theme::Theme;
use input::TerminalInput;
use monitor::MonitorProcess;
use orange::OrangeProgram;
use pane::PaneFollower;
use terminal::TerminalScreen;
use worktree::WorktreeWatch;

/// Message of a thread to the loop.
enum ShellNote {
    /// Something has happened.
    Event(Event),
    /// The process is to stop until it is continued.
    Suspend,
    /// The process was continued, and the screen may show something else.
    Redraw,
}

/// Shows the dashboard until the person ends it.
pub fn run(scope: DashboardOptions) -> Result<(), String> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err("the dashboard needs a terminal (`docker exec -it`, `ssh -t`); `orange task list` lists the tasks elsewhere".to_owned());
    }
    let (sender, notes) = channel();
    let screen = TerminalScreen::enter().map_err(|cause| format!("cannot use the terminal: {cause}"))?;
    let mut shell = ShellLoop::begin(scope, screen, sender, notes)?;
    let outcome = shell.turn();
    shell.end();
    outcome
}

/// The home, as `orange` finds it.
fn home() -> Option<PathBuf> {
    let named = std::env::var_os("ORANGE_HOME").filter(|value| !value.is_empty()).map(PathBuf::from);
    named.or_else(|| std::env::home_dir().map(|home| home.join("orange")))
}

/// Milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The loop with everything that it uses.
struct ShellLoop {
    state: State,
    theme: Theme,
    screen: TerminalScreen,
    sender: Sender<ShellNote>,
    notes: Receiver<ShellNote>,
    input: TerminalInput,
    orange: OrangeProgram,
    follower: PaneFollower,
    worktree: WorktreeWatch,
    monitor: Option<MonitorProcess>,
    orders: Vec<JoinHandle<()>>,
    is_over: bool,
}

impl ShellLoop {
    fn begin(
        scope: DashboardOptions,
        screen: TerminalScreen,
        sender: Sender<ShellNote>,
        notes: Receiver<ShellNote>,
    ) -> Result<ShellLoop, String> {
        let orange = OrangeProgram::find();
        let has_colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let (columns, lines) = screen.size();
        let failed = |cause: std::io::Error| format!("cannot watch the terminal: {cause}");
        let input = TerminalInput::start(sender.clone()).map_err(failed)?;
        signals::watch(sender.clone()).map_err(failed)?;
        let home = home();
        if let Some(home) = home.clone() {
            journals::watch(home, sender.clone());
        }
        let (state, effects) = begin(State::new(scope, columns, lines, now()));
        let mut shell = ShellLoop {
            state,
            theme: Theme::new(has_colours),
            screen,
            follower: PaneFollower::new(orange.clone(), sender.clone()),
            worktree: WorktreeWatch::new(home, sender.clone()),
            monitor: None,
            sender,
            notes,
            input,
            orange,
            orders: Vec::new(),
            is_over: false,
        };
        effects.into_iter().for_each(|effect| shell.perform(effect));
        shell.monitor = Some(MonitorProcess::start(shell.orange.clone(), shell.sender.clone()));
        Ok(shell)
    }

    /// Takes one event after the other, and draws when there is none.
    fn turn(&mut self) -> Result<(), String> {
        while !self.is_over {
            let (state, theme) = (&self.state, self.theme);
            self.screen
                .draw(|frame| view::draw(frame, state, theme))
                .map_err(|cause| format!("cannot draw: {cause}"))?;
            request::drawn(&mut self.state);
            self.input.has_drawn(self.state.sight.frames);
            let wait = Duration::from_millis(u64::try_from(wakes_in(&self.state)).unwrap_or(1000));
            match self.notes.recv_timeout(wait) {
                Ok(note) => self.take(note),
                Err(RecvTimeoutError::Timeout) => self.take(ShellNote::Event(Event::Tick)),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            // A burst is one frame, and still a key is drawn soon.
            for _ in 0..64 {
                // What comes after the end is not lost: an order may have failed.
                if self.is_over {
                    break;
                }
                let Ok(note) = self.notes.try_recv() else { break };
                self.take(note);
            }
        }
        Ok(())
    }

    fn take(&mut self, note: ShellNote) {
        match note {
            ShellNote::Event(event) => {
                let (state, effects) = update(std::mem::take(&mut self.state), event, now());
                self.state = state;
                effects.into_iter().for_each(|effect| self.perform(effect));
            }
            ShellNote::Suspend => self.suspend(),
            ShellNote::Redraw => {
                self.screen.redraw();
                let (columns, lines) = self.screen.size();
                self.take(ShellNote::Event(Event::Resize(columns, lines)));
            }
        }
    }

    fn perform(&mut self, effect: ShellEffect) {
        match effect {
            ShellEffect::Ask(question) => self.orange.ask(question, &self.state.scope, self.sender.clone()),
            ShellEffect::Carry(order) => {
                self.orders.retain(|thread| !thread.is_finished());
                self.orders.push(self.orange.carry(order, self.sender.clone()));
            }
            ShellEffect::Attach(words) => {
                let ended = self.outside(|orange| orange.attach(&words));
                self.send(Event::Attached(ended));
            }
            ShellEffect::Print(words) => {
                let ended = self.outside(|orange| orange.print(&words));
                if let Err(failure) = ended {
                    self.send(Event::Attached(Err(failure)));
                }
            }
            ShellEffect::Write(text) => {
                let written = self.outside(|orange| editor::write(orange, &text));
                // Later events come after this one: they may close the field.
                self.take(ShellNote::Event(Event::Written(written)));
            }
            ShellEffect::Follow(followed) => self.follower.follow(followed),
            ShellEffect::Watch(watched) => self.worktree.watch(watched),
            ShellEffect::Copy(text) => self.send(Event::Copied(clipboard::copy(&text))),
            ShellEffect::Suspend => self.suspend(),
            ShellEffect::Quit => self.is_over = true,
        }
    }

    fn send(&self, event: Event) {
        // The receiver lives as long as this does.
        self.sender.send(ShellNote::Event(event)).unwrap_or_default();
    }

    /// Does something on the terminal without the dashboard.
    fn outside<T>(&mut self, run: impl FnOnce(&OrangeProgram) -> T) -> T {
        self.input.pause();
        let followed = self.follower.stop();
        self.screen.leave();
        let done = run(&self.orange);
        self.screen.enter_again();
        self.follower.follow(followed);
        self.state.sight.forget();
        self.input.resume();
        self.take(ShellNote::Redraw);
        done
    }

    fn suspend(&mut self) {
        self.outside(|_| signals::stop_this());
    }

    /// Waits for the orders that run, and says on standard error which they are and which fail: the screen is gone.
    fn finish(&mut self) {
        let say = |text: String| {
            // A closed standard error cannot say it.
            writeln!(std::io::stderr(), "{text}").unwrap_or_default();
        };
        self.state.messages.clear();
        loop {
            self.orders.retain(|order| !order.is_finished());
            if !self.orders.is_empty() && !self.state.running.is_empty() {
                let labels: Vec<&str> = self.state.running.values().map(String::as_str).collect();
                say(format!("orange-dashboard waits until this is done: {}", labels.join(", ")));
            }
            for order in std::mem::take(&mut self.orders) {
                // A thread that has panicked has said so.
                order.join().unwrap_or_default();
            }
            while let Ok(note) = self.notes.try_recv() {
                let ShellNote::Event(event @ Event::Carried(..)) = note else { continue };
                let (state, effects) = update(std::mem::take(&mut self.state), event, now());
                self.state = state;
                // What follows an order belongs to it; nothing else is done any more.
                effects
                    .into_iter()
                    .filter(|it| matches!(it, ShellEffect::Carry(_)))
                    .for_each(|it| self.perform(it));
            }
            if self.orders.is_empty() {
                break;
            }
        }
        for message in self.state.messages.iter().filter(|message| message.is_failure) {
            say(format!("error: {}", message.text));
        }
    }

    /// Restores the terminal and ends what it has started. Orders are carried out first.
    fn end(mut self) {
        self.input.end();
        self.follower.stop();
        self.screen.leave();
        self.finish();
        if let Some(monitor) = self.monitor {
            monitor.end();
        }
    }
}
