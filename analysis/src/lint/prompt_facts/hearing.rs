//! What each word does to the sentence that it stands in, and to the commands and sections around it.

use super::names;
use super::reading::Reader;
use super::sentence::Before;
use super::words::{Role, Tokens, role};
use super::{Mood, SectionName, VerdictWord};

impl Reader<'_> {
    /// Hears a word; what was said last then.
    pub(super) fn word(&mut self, at: usize, word: &str, tokens: &mut Tokens<'_>) -> Before {
        if let Some(end) = self.command(at, word) {
            tokens.skip_to(end);
            return Before::Word(Role::Other);
        }
        let role = role(word);
        let before = self.sentence.before;
        self.sentence.is_labelled &= role == Role::Run || matches!(word, "task" | "update");
        match self.states.get(word) {
            Some(state) if self.sentence.in_case || self.sentence.is_label => {
                self.sentence.cases.push(*state)
            }
            Some(_) => {}
            None if role == Role::Or => {}
            None => self.end_label(),
        }
        match role {
            Role::Not => self.sentence.scope.negated = true,
            Role::Instead => {
                let next = &self.text.value[at + word.len()..];
                if next.starts_with(" of") || next.starts_with(" than") {
                    self.sentence.scope.negated = true;
                } else if before == Before::Comma {
                    self.affirm();
                }
            }
            Role::Without if self.sentence.scope.negated => self.sentence.twisted = true,
            Role::Without => self.sentence.scope.negated = true,
            Role::Forget => self.sentence.twisted |= self.sentence.scope.negated,
            Role::Before => {
                self.sentence.spoken = true;
                self.sentence.twisted |= self.sentence.scope.negated;
            }
            Role::Forbidden => self.forbid(),
            Role::Allowed if self.sentence.scope.negated => self.forbid(),
            Role::Allowed => {}
            Role::If => self.start_case(false),
            Role::When => self.start_case(!self.sentence.scope.conditional),
            Role::Or => self.alternate(),
            Role::Then => {
                self.end_case();
                self.go_on();
            }
            Role::Else => {
                self.end_case();
                self.affirm();
                self.sentence.scope.conditional = true;
                self.reading.otherwise = true;
            }
            Role::But if before == Before::Comma => self.affirm(),
            Role::But => {}
            Role::Run => self.run(before),
            Role::Gerund => (self.sentence.runs, self.sentence.gerund) = (true, true),
            Role::Read => self.sentence.reads = true,
            Role::Write => self.sentence.reads = false,
            Role::Needs => {
                self.sentence.reads = false;
                let first = std::mem::replace(&mut self.sentence.sections, self.reading.sections.len());
                self.reading.sections[first..].iter_mut().for_each(|it| it.reads = false);
            }
            Role::Wait => self.wait(),
            Role::GoOn => self.go_on(),
            Role::End => self.reading.ends |= !self.sentence.scope.negated,
            Role::Status => self.status(at + word.len(), tokens),
            Role::You | Role::Other => self.other(at, word),
        }
        Before::Word(role)
    }

    fn end_label(&mut self) {
        if std::mem::take(&mut self.sentence.is_label) {
            self.sentence.cases.clear();
        }
    }

    fn affirm(&mut self) {
        (self.sentence.scope.negated, self.sentence.twisted) = (false, false);
    }

    fn forbid(&mut self) {
        let first = std::mem::replace(&mut self.sentence.commands, self.reading.commands.len());
        self.reading.commands[first..].iter_mut().for_each(|it| it.mood = Mood::Negated);
    }

    /// `if` before a command makes it conditional, and so does one directly behind it.
    fn start_case(&mut self, will_come: bool) {
        let at_once = matches!(self.sentence.before, Before::Clause | Before::Word(Role::But));
        if self.sentence.clauses == 0 || (self.sentence.clauses == 1 && at_once) {
            self.make_conditional();
        }
        self.sentence.in_case = true;
        self.sentence.scope.conditional = true;
        self.sentence.will_come = will_come;
    }

    /// `or` between commands leaves a choice.
    fn alternate(&mut self) {
        if self.sentence.clauses == 0 && self.sentence.commands < self.reading.commands.len() {
            self.make_conditional();
            self.sentence.scope.conditional = true;
        }
    }

    fn make_conditional(&mut self) {
        let first = std::mem::replace(&mut self.sentence.settled, self.reading.commands.len());
        self.reading.commands[first..].iter_mut().for_each(|it| it.conditional = true);
    }

    fn go_on(&mut self) {
        let home = self.under.len();
        let last = self.reading.commands.iter_mut().zip(&self.homes).rev();
        last.take_while(|(it, at)| **at == home && !it.goes_on).for_each(|(it, _)| it.goes_on = true);
    }

    /// It is the commands of one block, the last that had any, after which to wait.
    fn wait(&mut self) {
        let home = self.homes.last().copied();
        let last = self.reading.commands.iter_mut().zip(&self.homes).rev();
        last.take_while(|(it, at)| Some(**at) == home && !it.waits).for_each(|(it, _)| it.waits = true);
    }

    /// A command may follow. One that somebody else runs, or has run, is spoken of.
    fn run(&mut self, before: Before) {
        let sentence = &mut self.sentence;
        sentence.runs = true;
        match before {
            Before::Word(Role::You) => sentence.gerund = true,
            Before::Word(Role::Not | Role::Gerund | Role::Run) => {}
            Before::Word(_) | Before::Start | Before::Comma | Before::Clause => {
                sentence.gerund = false;
                self.end_case();
            }
        }
    }

    /// `status` is what a case is about, or what is set: `set the status to working`.
    fn status(&mut self, end: usize, tokens: &mut Tokens<'_>) {
        if self.sentence.in_case {
            self.sentence.scope.of_status = true;
            return;
        }
        self.sentence.scope.of_status = true;
        if self.sentence.runs
            && let Some(named) = names::after_status(&self.text.value, end, self.states)
        {
            tokens.skip_to(named.end);
            self.add(end, vec![named], false);
        }
    }

    fn other(&mut self, at: usize, word: &str) {
        if word.split('/').any(|it| matches!(it, "PASS" | "FAIL")) {
            self.sentence.scope.conditional = true;
            self.sentence.will_come = false;
        }
        if word.starts_with('#') || names::is_called_section(&self.text.value, at, word) {
            let mood = self.mood();
            self.reading.sections.push(SectionName { at, reads: self.sentence.reads, mood });
        }
        if word.get(..7).is_some_and(|it| it.eq_ignore_ascii_case("verdict")) && self.mood() != Mood::Negated
        {
            let (words, is_line) = names::verdicts(&self.text.value, at);
            self.reading.verdict_line |= is_line;
            let located = words.into_iter().map(|it| VerdictWord {
                span: self.text.locate(it.start, it.end),
                word: self.text.value[it].to_owned(),
            });
            self.reading.verdicts.extend(located);
        }
    }
}
