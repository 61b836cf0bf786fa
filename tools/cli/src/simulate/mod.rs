//! A simulation: a walk that lines of text lead and lines of text describe.

mod plan;
mod tell;

use std::io::{self, BufRead, Write};

use orange_analysis::walk::command::{Command, HELP};
use orange_analysis::walk::{Impossible, Walk};
use orange_core::Machine;

/// A walk that can be taken back step by step.
#[derive(Debug)]
pub(crate) struct Simulation<W> {
    walk: W,
    before: Vec<W>,
    /// True if something could not be done at all.
    failed: bool,
}

/// Effect of a line on the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// The next line.
    GoOn,
    /// Nothing: the simulation ends.
    Stop,
}

/// A walk that lines of text lead.
pub(crate) trait Simulated {
    /// Executes a line and prints the result.
    fn line(&mut self, line: &str, out: &mut impl Write) -> io::Result<Then>;

    /// Shows where it is.
    fn show(&self, out: &mut impl Write) -> io::Result<()>;
}

impl<W> Simulation<W> {
    fn of(walk: W) -> Self {
        Self { walk, before: Vec::new(), failed: false }
    }

    /// True if something could not be done at all.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed
    }

    fn back(&mut self, out: &mut impl Write) -> io::Result<()>
    where
        Self: Simulated,
    {
        match self.before.pop() {
            Some(before) => {
                self.walk = before;
                self.show(out)
            }
            None => self.cannot("nothing has happened yet", out),
        }
    }

    fn cannot(&mut self, why: &str, out: &mut impl Write) -> io::Result<()> {
        self.failed = true;
        writeln!(out, "cannot: {why}")
    }
}

impl<'m> Simulation<Walk<'m>> {
    /// A new task in the machine's initial state.
    pub(crate) fn of_task(machine: &'m Machine<'m>) -> Self {
        Self::of(Walk::new(machine))
    }

    /// A new task in the state of this name.
    ///
    /// # Errors
    ///
    /// There is no such state.
    pub(crate) fn starting_in(machine: &'m Machine<'m>, state: &str) -> Result<Self, Impossible> {
        let status = machine.state_named(state);
        let status = status.ok_or_else(|| Impossible(format!("there is no state `{state}`")))?;
        Ok(Self::of(Walk::at(machine, status)))
    }

    fn command(&mut self, command: Command, out: &mut impl Write) -> io::Result<()> {
        match command {
            Command::Act(act) => {
                let before = self.walk.clone();
                match self.walk.act(&act) {
                    Ok(story) => {
                        self.before.push(before);
                        story.iter().try_for_each(|it| tell::happened(&self.walk, it, out))
                    }
                    Err(Impossible(why)) => self.cannot(&why, out),
                }
            }
            Command::Set { counter, value } => match self.walk.counter_named(&counter) {
                Some(id) => {
                    self.before.push(self.walk.clone());
                    self.walk.set_counter(id, value);
                    writeln!(out, "{counter} = {value}")
                }
                None => self.cannot(&format!("there is no counter `{counter}`"), out),
            },
            Command::Back => self.back(out),
            Command::Next => tell::options(&self.walk, out),
            Command::Show => self.show(out),
            Command::Help => out.write_all(HELP.as_bytes()),
            Command::Quit => Ok(()),
        }
    }
}

impl Simulated for Simulation<Walk<'_>> {
    fn line(&mut self, line: &str, out: &mut impl Write) -> io::Result<Then> {
        match Command::parse(line) {
            Ok(None) => Ok(Then::GoOn),
            Ok(Some(Command::Quit)) => Ok(Then::Stop),
            Ok(Some(command)) => self.command(command, out).map(|()| Then::GoOn),
            Err(Impossible(why)) => self.cannot(&why, out).map(|()| Then::GoOn),
        }
    }

    fn show(&self, out: &mut impl Write) -> io::Result<()> {
        tell::task(&self.walk, out)
    }
}

/// Lets a person lead, line by line.
pub(crate) fn converse(
    simulation: &mut impl Simulated,
    mut input: impl BufRead,
    mut out: impl Write,
) -> io::Result<()> {
    simulation.show(&mut out)?;
    writeln!(out, "`help` lists the commands.")?;
    let mut line = String::new();
    loop {
        write!(out, "> ")?;
        out.flush()?;
        line.clear();
        if input.read_line(&mut line)? == 0 {
            return writeln!(out);
        }
        if simulation.line(&line, &mut out)? == Then::Stop {
            return Ok(());
        }
    }
}

/// A heading begins with `##`, and no command begins with it.
fn is_comment(line: &str) -> bool {
    line.trim().starts_with('#')
}

/// Executes the lines of a script, and prints each before its result.
pub(crate) fn perform<'l>(
    simulation: &mut impl Simulated,
    lines: impl IntoIterator<Item = &'l str>,
    out: &mut impl Write,
) -> io::Result<()> {
    simulation.show(out)?;
    for line in lines {
        if line.trim().is_empty() || is_comment(line) {
            continue;
        }
        writeln!(out, "> {}", line.trim())?;
        if simulation.line(line, out)? == Then::Stop {
            break;
        }
    }
    Ok(())
}
