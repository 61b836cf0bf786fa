//! The words of a prompt: cut apart, and what each of them does to the sentence that it stands in.

use std::ops::Range;

/// A word, or a mark that a sentence or a clause ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    Word(&'t str),
    Comma,
    /// A colon, a dash, a bracket: a new clause begins.
    Clause,
    /// `→`: what stands before it is the case, what comes after it is to be done.
    Arrow,
    /// The sentence ends.
    Stop,
}

/// What a word does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Not to be done: `never`.
    Not,
    /// Not to be done, with `of` or `than` after it: `instead`.
    Instead,
    /// `without`
    Without,
    /// What was named before is not to be done: `forbidden`.
    Forbidden,
    /// The same, with `not` before it: `allowed`.
    Allowed,
    /// `or`
    Or,
    /// What follows is spoken of, not asked for: `before setting …`.
    Before,
    /// Not to do this is to do the rest: do not `forget` to.
    Forget,
    /// A case: `if`.
    If,
    /// A case that will come: `when`.
    When,
    /// The end of a case: `then`.
    Then,
    /// Every other case: `otherwise`.
    Else,
    /// After a comma, something new that is to be done: `but`.
    But,
    /// What one does with a command: `run`.
    Run,
    /// What one does with a command, spoken of: `running`.
    Gerund,
    /// One who does, or did: `you`.
    You,
    /// `read`
    Read,
    /// `write`
    Write,
    /// What was named before is to be written: `missing`.
    Needs,
    /// `wait`
    Wait,
    /// `continue`
    GoOn,
    /// `exit`
    End,
    /// `status`
    Status,
    /// Nothing that matters here.
    Other,
}

/// Words of at most this many bytes have a role.
const LONGEST: usize = 12;

/// The role of a word, in any case.
pub(super) fn role(word: &str) -> Role {
    let mut small = [0; LONGEST];
    let mut length = 0;
    for letter in word.chars() {
        let letter = if letter == '’' { '\'' } else { letter.to_ascii_lowercase() };
        if length == LONGEST || !letter.is_ascii() {
            return Role::Other;
        }
        small[length] = letter as u8;
        length += 1;
    }
    std::str::from_utf8(&small[..length]).map_or(Role::Other, of_small)
}

fn of_small(word: &str) -> Role {
    match word {
        "not" | "never" | "don't" | "dont" | "cannot" | "can't" | "cant" | "mustn't" | "shouldn't"
        | "avoid" | "nor" | "doesn't" | "isn't" | "won't" => Role::Not,
        "forbidden" | "prohibited" => Role::Forbidden,
        "allowed" | "permitted" => Role::Allowed,
        "instead" | "rather" => Role::Instead,
        "without" => Role::Without,
        "before" | "until" | "till" | "after" | "upon" => Role::Before,
        "forget" | "hesitate" | "fail" | "omit" | "skip" | "neglect" => Role::Forget,
        "if" | "unless" | "case" | "depending" => Role::If,
        "when" | "whenever" | "once" | "while" => Role::When,
        "or" => Role::Or,
        "then" => Role::Then,
        "otherwise" | "else" => Role::Else,
        "but" | "always" | "just" | "only" | "simply" => Role::But,
        "set" | "run" | "use" | "call" | "execute" | "mark" | "move" | "issue" | "report" | "type"
        | "send" | "orange" => Role::Run,
        "setting" | "running" | "using" | "calling" | "executing" | "marking" | "moving" | "issuing" => {
            Role::Gerund
        }
        "you" | "to" | "have" | "has" | "had" => Role::You,
        "read" | "reading" | "check" | "see" | "consult" | "follow" | "following" | "according" | "look"
        | "understand" | "from" | "per" | "address" | "find" | "study" | "inspect" | "via" => Role::Read,
        "write" | "writing" | "wrote" | "update" | "updating" | "append" | "fill" | "document" | "record"
        | "create" | "draft" | "revise" | "rewrite" | "complete" | "produce" | "include" | "summarize"
        | "summarise" | "describe" | "add" | "adding" | "put" | "leave" | "save" | "note" | "give" => {
            Role::Write
        }
        "must" | "missing" | "required" | "exists" | "exist" | "written" | "filled" | "completed"
        | "updated" => Role::Needs,
        "wait" | "waits" | "waiting" | "pause" => Role::Wait,
        "continue" | "proceed" | "resume" | "continuing" => Role::GoOn,
        "exit" | "quit" | "terminate" | "stop" => Role::End,
        "status" | "state" => Role::Status,
        _ => Role::Other,
    }
}

/// Cuts a range of a text into tokens, each with its place.
pub(super) fn tokens(text: &str, range: Range<usize>) -> Tokens<'_> {
    Tokens { text, at: range.start, end: range.end }
}

/// The tokens of a text.
#[derive(Clone, Debug)]
pub(super) struct Tokens<'t> {
    text: &'t str,
    at: usize,
    end: usize,
}

impl<'t> Tokens<'t> {
    /// Goes on behind a place that was read otherwise.
    pub(super) fn skip_to(&mut self, at: usize) {
        self.at = at.clamp(self.at, self.end);
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..self.end]
    }

    /// Passes over white space and quotes; whether a line ended there.
    fn pass_blanks(&mut self) -> bool {
        let rest = self.rest();
        let blank = |it: char| it.is_whitespace() || matches!(it, '`' | '"' | '*' | '“' | '”' | '\'');
        let length = rest.len() - rest.trim_start_matches(blank).len();
        self.at += length;
        rest[..length].contains('\n')
    }

    fn mark(&mut self, mark: Token<'t>, length: usize) -> Option<(usize, Token<'t>)> {
        let at = self.at;
        self.at += length;
        Some((at, mark))
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = (usize, Token<'t>);

    fn next(&mut self) -> Option<Self::Item> {
        let line_ended = self.pass_blanks();
        let rest = self.rest();
        let first = rest.chars().next()?;
        // A new line that begins with a capital is a new sentence, with or without a full stop before it.
        if line_ended && first.is_uppercase() {
            return Some((self.at, Token::Stop));
        }
        match first {
            ',' => self.mark(Token::Comma, 1),
            ';' | '.' | '!' | '?' => self.mark(Token::Stop, 1),
            ':' | '(' | ')' | '[' | ']' | '—' | '–' | '|' => self.mark(Token::Clause, first.len_utf8()),
            '→' | '⇒' => self.mark(Token::Arrow, first.len_utf8()),
            '-' | '=' if rest[1..].starts_with('>') => self.mark(Token::Arrow, 2),
            '-' if rest[1..].starts_with([' ', '\n']) => self.mark(Token::Clause, 1),
            _ => {
                let length = word_length(rest);
                self.mark(Token::Word(&rest[..length]), length)
            }
        }
    }
}

/// How long the word is that a text begins with, at least one character.
fn word_length(text: &str) -> usize {
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, it)| *it);
        let ends = match letter {
            ',' | ';' | '(' | ')' | '[' | ']' | '—' | '–' | '→' | '⇒' | '|' | '`' | '"' | '*' | '“' | '”' => {
                true
            }
            '.' | ':' | '!' | '?' | '\'' => next.is_none_or(|it| !it.is_alphanumeric()),
            _ => letter.is_whitespace(),
        };
        if ends && at > 0 {
            return at;
        }
    }
    text.len()
}
