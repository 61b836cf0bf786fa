//! Reads one prompt: which commands it tells, which sections and verdicts it names, and under which conditions.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use orange_core::StateId;

use super::blocks::{Block, Kind, blocks};
use super::names::{self, Named};
use super::words::{Role, Token, Tokens, role, tokens};
use super::{Command, Mood, Reading, SectionName, VerdictWord};
use crate::syntax::Text;

/// The states of a workflow by their names.
pub(super) type States<'w> = HashMap<&'w str, StateId>;

/// Reads a prompt.
pub(super) fn read(text: &Text, states: &States<'_>) -> Reading {
    let blocks = blocks(&text.value);
    let mut reader = Reader {
        text,
        states,
        reading: Reading::default(),
        under: Vec::with_capacity(blocks.len()),
        above: Scope::default(),
        sentence: Sentence::default(),
        homes: Vec::new(),
        labelled: Vec::new(),
    };
    for block in &blocks {
        reader.block(block);
    }
    reader.mark_alternatives(&blocks);
    reader.reading
}

/// What a block says about all that stands under it.
#[derive(Clone, Debug, Default)]
struct Scope {
    negated: bool,
    conditional: bool,
    /// The states that it is about, if it is about some alone.
    only_in: Rc<[StateId]>,
    /// Whether it speaks of the status, so that `planning:` under it is a case.
    of_status: bool,
}

/// Where a sentence stands.
#[derive(Clone, Debug, Default)]
struct Sentence {
    scope: Scope,
    /// `without`, or `not` and `forget`: two negations.
    twisted: bool,
    /// Between `if` and what is to be done then.
    in_case: bool,
    /// Whether that is a `when`.
    will_come: bool,
    /// The states that the case names.
    cases: Vec<StateId>,
    /// After `before`: commands are spoken of.
    spoken: bool,
    gerund: bool,
    reads: bool,
    /// Whether something is set, run or used.
    runs: bool,
    /// What was said last.
    before: Before,
    /// Whether nothing but names of states has been said.
    is_label: bool,
    /// Whether a command that comes next stands directly behind a label: `Approve: …`.
    is_labelled: bool,
    /// The first of its commands, of those that may still turn out to be conditional, and of its clause's sections.
    commands: usize,
    settled: usize,
    sections: usize,
    /// How many clauses have ended since its last command.
    clauses: usize,
    /// What it said when its last clause ended, as long as nothing has come after that.
    introduced: Option<Scope>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Before {
    #[default]
    Start,
    Comma,
    Clause,
    Word(Role),
}

impl Sentence {
    /// Whether a command that comes next is only spoken of.
    fn is_spoken_of(&self) -> bool {
        self.spoken && self.gerund && !self.twisted
    }
}

struct Reader<'r> {
    text: &'r Text,
    states: &'r States<'r>,
    reading: Reading,
    /// By block: what holds for the blocks under it.
    under: Vec<Scope>,
    /// What holds for the block that is being read.
    above: Scope,
    sentence: Sentence,
    /// By command: the block that it stands in.
    homes: Vec<usize>,
    /// By command: whether it has a label.
    labelled: Vec<bool>,
}

impl Reader<'_> {
    fn block(&mut self, block: &Block) {
        self.above = block.parent.map(|at| self.under[at].clone()).unwrap_or_default();
        self.start_sentence();
        if let Kind::Heading(level) = block.kind {
            let at = block.range.start - (level + 1);
            self.reading.sections.push(SectionName { at, reads: false, mood: self.mood() });
        }
        let mut tokens = tokens(&self.text.value, block.range.clone());
        while let Some((at, token)) = tokens.next() {
            self.token(at, token, &mut tokens);
        }
        self.end_case();
        let said = match self.sentence.introduced.take() {
            Some(introduced) => introduced,
            None => {
                let negated = self.sentence.scope.negated && matches!(block.kind, Kind::Heading(_));
                Scope { negated, ..self.sentence.scope.clone() }
            }
        };
        let only_in = if said.only_in.is_empty() { self.above.only_in.clone() } else { said.only_in };
        self.under.push(Scope {
            negated: said.negated || self.above.negated,
            conditional: said.conditional || self.above.conditional,
            of_status: said.of_status || self.above.of_status,
            only_in,
        });
    }

    fn start_sentence(&mut self) {
        self.sentence = Sentence {
            is_label: true,
            commands: self.reading.commands.len(),
            settled: self.reading.commands.len(),
            sections: self.reading.sections.len(),
            ..Sentence::default()
        };
    }

    fn token(&mut self, at: usize, token: Token<'_>, tokens: &mut Tokens<'_>) {
        let before = match token {
            Token::Word(word) => {
                self.sentence.introduced = None;
                self.word(at, word, tokens)
            }
            Token::Comma => {
                self.end_case();
                (self.sentence.spoken, self.sentence.gerund) = (false, false);
                self.sentence.sections = self.reading.sections.len();
                Before::Comma
            }
            Token::Clause => {
                self.end_clause();
                Before::Clause
            }
            Token::Arrow => {
                self.sentence.scope.conditional |= self.sentence.before != Before::Start;
                self.end_clause();
                Before::Clause
            }
            Token::Stop => {
                self.end_case();
                self.start_sentence();
                Before::Start
            }
        };
        self.sentence.before = before;
    }

    fn end_clause(&mut self) {
        if self.sentence.is_label && self.above.of_status && !self.sentence.cases.is_empty() {
            self.sentence.in_case = true;
            self.sentence.scope.of_status = true;
        }
        self.end_case();
        let sentence = &mut self.sentence;
        sentence.introduced = Some(sentence.scope.clone());
        (sentence.scope.negated, sentence.twisted) = (false, false);
        (sentence.spoken, sentence.gerund, sentence.runs, sentence.is_label) = (false, false, false, false);
        sentence.sections = self.reading.sections.len();
        sentence.is_labelled = sentence.before != Before::Start;
        sentence.clauses += 1;
    }

    /// What comes next is to be done in the case that was named.
    fn end_case(&mut self) {
        let sentence = &mut self.sentence;
        if !std::mem::take(&mut sentence.in_case) {
            return;
        }
        let cases = std::mem::take(&mut sentence.cases);
        if sentence.scope.of_status && !cases.is_empty() {
            if sentence.scope.negated {
                self.reading.otherwise = true;
            } else {
                self.reading.branches.extend(&cases);
                sentence.scope.only_in = cases.into();
            }
        }
        (sentence.scope.negated, sentence.twisted) = (false, false);
    }

    fn word(&mut self, at: usize, word: &str, tokens: &mut Tokens<'_>) -> Before {
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

    /// Reads `--status …`; where it ends.
    fn command(&mut self, at: usize, word: &str) -> Option<usize> {
        let rest = word.strip_prefix(names::FLAG)?;
        if !(rest.is_empty() || rest.starts_with('=')) {
            return None;
        }
        let is_whole = names::is_whole(&self.text.value, at);
        let named = names::after_flag(&self.text.value, at + names::FLAG.len(), self.states, is_whole);
        let end = named.last().map(|it| it.end)?;
        self.add(at, named, is_whole);
        Some(end)
    }

    fn add(&mut self, at: usize, named: Vec<Named>, is_whole: bool) {
        let mood = match self.mood() {
            Mood::Told if self.sentence.in_case => Mood::Mentioned,
            Mood::Told if self.sentence.is_spoken_of() => Mood::Presumed,
            mood @ (Mood::Told | Mood::Presumed | Mood::Mentioned | Mood::Negated) => mood,
        };
        let is_choice = named.len() > 1;
        let conditional = self.sentence.scope.conditional || self.above.conditional || is_choice;
        let only_in = if self.sentence.scope.only_in.is_empty() {
            &self.above.only_in
        } else {
            &self.sentence.scope.only_in
        };
        self.sentence.clauses = 0;
        for Named { start, end, target } in named {
            self.reading.commands.push(Command {
                name: self.text.value[start..end].to_owned(),
                target,
                span: self.text.locate(start, end),
                at,
                mood,
                conditional,
                will_come: self.sentence.will_come && !self.above.conditional && !is_choice,
                only_in: only_in.clone(),
                waits: false,
                goes_on: false,
                is_whole,
            });
            self.homes.push(self.under.len());
            self.labelled.push(self.sentence.is_labelled);
        }
    }

    fn mood(&self) -> Mood {
        let negated = self.sentence.scope.negated || self.above.negated;
        if negated && !self.sentence.twisted { Mood::Negated } else { Mood::Told }
    }

    /// Items without an order that tell different commands are there to choose from, and so are commands with labels.
    fn mark_alternatives(&mut self, blocks: &[Block]) {
        let mut lists: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (command, home) in self.homes.iter().enumerate() {
            let Block { kind, parent, .. } = blocks[*home];
            let is_choice = kind == Kind::Bullet || self.labelled[command];
            if is_choice && self.reading.commands[command].mood == Mood::Told {
                lists.entry((parent, kind)).or_default().push(command);
            }
        }
        for commands in lists.into_values() {
            let is_apart = |it: &usize| self.labelled[*it] || self.homes[*it] != self.homes[commands[0]];
            if commands[1..].iter().any(is_apart) {
                commands.into_iter().for_each(|it| self.reading.commands[it].conditional = true);
            }
        }
    }
}
