//! Reads one prompt: which commands it tells, which sections and verdicts it names, and under which conditions.

use std::collections::{BTreeMap, HashMap};

use orange_core::StateId;

use super::blocks::{Block, Kind, blocks};
use super::names::{self, Named};
use super::sentence::{Before, Scope, Sentence};
use super::words::{Token, Tokens, tokens};
use super::{Command, Mood, Reading, SectionName};
use orange_codegen::syntax::Text;

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

/// Reads block after block, and in each word after word.
pub(super) struct Reader<'r> {
    pub text: &'r Text,
    pub states: &'r States<'r>,
    pub reading: Reading,
    /// By block: what holds for the blocks under it.
    pub under: Vec<Scope>,
    /// What holds for the block that is being read.
    pub above: Scope,
    pub sentence: Sentence,
    /// By command: the block that it stands in.
    pub homes: Vec<usize>,
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
    pub(super) fn end_case(&mut self) {
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

    /// Reads `--status …`; where it ends.
    pub(super) fn command(&mut self, at: usize, word: &str) -> Option<usize> {
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

    pub(super) fn add(&mut self, at: usize, named: Vec<Named>, is_whole: bool) {
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

    pub(super) fn mood(&self) -> Mood {
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
