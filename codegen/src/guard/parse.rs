//! The grammar of `when` clauses:
//! `or := and ('||' and)*`, `and := not ('&&' not)*`, `not := '!' not | '(' or ')' | counter op integer`.

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::{Compare, Expr, Op};
use crate::syntax::Text;
use crate::syntax::limits::{MAX_COMPARISONS, MAX_DEPTH};
use orange_core::CounterId;

/// A mistake in a clause: its place in the decoded text, and the text to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClauseFault {
    /// Bytes of the decoded text.
    pub range: Range<usize>,
    /// The message.
    pub message: String,
    /// The text to write instead.
    pub help: Option<String>,
    /// The one text that can have been meant in its place.
    pub instead: Option<String>,
}

/// A mistake in the name of a counter, and the text to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The message.
    pub message: String,
    /// The text to write instead.
    pub help: Option<String>,
    /// The one name that can have been meant.
    pub instead: Option<String>,
}

/// Finds the counter of a name.
pub type Lookup<'l> = dyn FnMut(&str) -> Result<CounterId, Unknown> + 'l;

/// Parses a clause. `lookup` gives the counter of a name, or says what is wrong with it. Unknown names and signs that
/// are only misspelled do not end the parse; the first other fault of the grammar does.
pub fn parse(text: &Text, lookup: &mut Lookup<'_>) -> Result<Expr, Vec<ClauseFault>> {
    let mut parser = Parser { text, at: 0, depth: 0, comparisons: 0, lookup, faults: Vec::new() };
    match parser.whole() {
        Ok(expr) if parser.faults.is_empty() => Ok(expr),
        Ok(_) => Err(parser.faults),
        Err(fault) => {
            parser.faults.push(*fault);
            Err(parser.faults)
        }
    }
}

/// The names of counters in a clause, whether it is whole or not, as bytes of its text.
pub fn names(clause: &str) -> impl Iterator<Item = Range<usize>> {
    let starts = clause.char_indices().filter(|(at, it)| {
        is_word_char(*it) && !it.is_ascii_digit() && !clause[..*at].ends_with(is_word_char)
    });
    let words = starts.map(|(at, _)| {
        let word = &clause[at..];
        at..at + word.find(|it| !is_word_char(it)).unwrap_or(word.len())
    });
    words.filter(|it| !JOINING.iter().any(|word| clause[it.clone()].eq_ignore_ascii_case(word)))
}

/// Words that people write for `||` and `&&`.
const JOINING: [&str; 2] = ["or", "and"];

struct Parser<'p> {
    text: &'p Text,
    at: usize,
    depth: usize,
    comparisons: usize,
    lookup: &'p mut Lookup<'p>,
    faults: Vec<ClauseFault>,
}

type ParsedClause<T> = Result<T, Box<ClauseFault>>;

impl Parser<'_> {
    fn whole(&mut self) -> ParsedClause<Expr> {
        if self.rest().is_empty() {
            let help = "write a comparison such as `review_round < 2`, or leave `when` out";
            return Err(fault(0..self.text.value.len(), "the clause is empty", Some(help)));
        }
        let expr = self.disjunction()?;
        if self.rest().is_empty() { Ok(expr) } else { Err(self.after_the_end()) }
    }

    fn disjunction(&mut self) -> ParsedClause<Expr> {
        let mut any = vec![self.and()?];
        while self.joined_by("||", '|', JOINING[0])? {
            any.push(self.and()?);
        }
        Ok(if any.len() == 1 { any.remove(0) } else { Expr::Or(any) })
    }

    fn and(&mut self) -> ParsedClause<Expr> {
        let mut all = vec![self.not()?];
        while self.joined_by("&&", '&', JOINING[1])? {
            all.push(self.not()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Expr::And(all) })
    }

    fn not(&mut self) -> ParsedClause<Expr> {
        let rest = self.rest();
        if rest.starts_with('!') && !rest.starts_with("!=") {
            return self.nested(|it| Ok(Expr::Not(Box::new(it.not()?))));
        }
        if rest.starts_with('(') {
            let open = self.at;
            return self.nested(|it| {
                let inner = it.disjunction()?;
                it.close(open)?;
                Ok(inner)
            });
        }
        self.compare()
    }

    /// Goes past one character and one level down.
    fn nested(&mut self, inner: impl FnOnce(&mut Self) -> ParsedClause<Expr>) -> ParsedClause<Expr> {
        if self.depth == MAX_DEPTH {
            let message = format!("nested too deeply: the limit is {MAX_DEPTH} levels");
            return Err(fault(self.at..self.at + 1, message, None));
        }
        self.at += 1;
        self.depth += 1;
        let expr = inner(self);
        self.depth -= 1;
        expr
    }

    fn close(&mut self, open: usize) -> ParsedClause<()> {
        let rest = self.rest();
        if rest.starts_with(')') {
            self.at += 1;
            return Ok(());
        }
        if rest.is_empty() {
            return Err(fault(open..open + 1, "this `(` is never closed", Some("add a `)`")));
        }
        Err(self.after_the_end())
    }

    fn compare(&mut self) -> ParsedClause<Expr> {
        let start = self.word_start();
        let name = self.name()?;
        let op = self.operator(&name)?;
        let value = self.integer(op)?;
        self.comparisons += 1;
        if self.comparisons > MAX_COMPARISONS {
            let message = format!("too many comparisons: the limit is {MAX_COMPARISONS}");
            return Err(fault(start..self.at, message, None));
        }
        let counter = (self.lookup)(&name).unwrap_or_else(|Unknown { message, help, instead }| {
            self.faults.push(ClauseFault { range: start..start + name.len(), message, help, instead });
            CounterId(0)
        });
        Ok(Expr::Compare(Compare { span: self.text.locate(start, self.at), counter, op, value }))
    }

    fn name(&mut self) -> ParsedClause<String> {
        let start = self.word_start();
        let name = self.word();
        let help = "a comparison reads `counter op integer`, for example `review_round < 2`";
        if name.is_empty() {
            return Err(self.unexpected("the name of a counter", help));
        }
        if name.starts_with(|it: char| it.is_ascii_digit()) {
            let message = format!("expected the name of a counter, found the number {name}");
            return Err(fault(
                start..self.at,
                message,
                Some("write the counter on the left: `review_round < 2`"),
            ));
        }
        Ok(name)
    }

    fn operator(&mut self, name: &str) -> ParsedClause<Op> {
        let start = self.word_start();
        let rest = self.rest();
        let len = rest.find(|it: char| !"<>=!~".contains(it)).unwrap_or(rest.len());
        let found = &rest[..len];
        if let Some(op) = Op::ALL.into_iter().find(|op| op.as_str() == found) {
            self.at += len;
            return Ok(op);
        }
        let meant = match found {
            "=<" => Some(Op::AtMost),
            "=>" => Some(Op::AtLeast),
            "=" | "===" => Some(Op::Equal),
            "<>" | "=!" | "!==" | "~=" | "!" => Some(Op::NotEqual),
            "<<" => Some(Op::Less),
            ">>" => Some(Op::Greater),
            _ => None,
        };
        if let Some(op) = meant {
            let message = format!("expected a comparison, found `{found}`");
            self.misspelled(start..start + len, message, op.as_str());
            self.at += len;
            return Ok(op);
        }
        // Quoting one of these would split no character: all are ASCII, and so is what `find` stopped at or not at all.
        if len > 0 {
            let message = format!("`{found}` is not a comparison");
            return Err(fault(
                start..start + len,
                message,
                Some("write one of `<`, `>`, `<=`, `>=`, `==`, `!=`"),
            ));
        }
        let help = format!("write what `{name}` is compared with, for example `{name} < 2`");
        Err(self.unexpected("one of `<`, `>`, `<=`, `>=`, `==`, `!=`", &help))
    }

    fn integer(&mut self, op: Op) -> ParsedClause<u32> {
        let start = self.word_start();
        if self.rest().starts_with(['-', '+']) {
            let end = start + 1 + self.text.value[start + 1..].bytes().take_while(u8::is_ascii_digit).count();
            let help = "counters count from 0; write an integer without a sign";
            return Err(fault(start..end, "counters are never negative", Some(help)));
        }
        let word = self.word();
        let range = start..self.at;
        if word.is_empty() {
            let help = format!("write an integer after `{}`", op.as_str());
            return Err(self.unexpected("an integer", &help));
        }
        if !word.bytes().all(|byte| byte.is_ascii_digit()) {
            let message = format!("expected an integer, found `{}`", shortened(&word));
            return Err(fault(range, message, Some("a counter is compared with an integer only")));
        }
        if self.text.value[self.at..].starts_with('.') {
            return Err(fault(start..self.at + 1, "counters are whole numbers", Some("write an integer")));
        }
        word.parse().map_err(|_| {
            let message = format!("the integer {} does not fit a counter", shortened(&word));
            fault(range, message, Some(&format!("counters go up to {}", u32::MAX)))
        })
    }

    /// Reads `sign`; true if it stands here. `half` and `word` are what people write for it.
    fn joined_by(&mut self, sign: &str, half: char, word: &str) -> ParsedClause<bool> {
        let rest = self.rest();
        if rest.starts_with(sign) {
            self.at += sign.len();
            return Ok(true);
        }
        let is_word = rest.get(..word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word))
            && !rest[word.len()..].starts_with(is_word_char);
        let len = if rest.starts_with(half) { 1 } else { word.len() };
        if rest.starts_with(half) || is_word {
            let found = rest[..len].to_owned();
            let message = format!("expected `{sign}`, found `{found}`");
            self.misspelled(self.at..self.at + len, message, sign);
            self.at += len;
            return Ok(true);
        }
        Ok(false)
    }

    /// Something stands for what only `meant` can be; the parse goes on as if that stood there.
    fn misspelled(&mut self, range: Range<usize>, message: String, meant: &str) {
        let help = Some(format!("did you mean `{meant}`?"));
        self.faults.push(ClauseFault { range, message, help, instead: Some(meant.to_owned()) });
    }

    fn after_the_end(&mut self) -> Box<ClauseFault> {
        let help = "join comparisons with `&&` or `||`";
        if self.rest().starts_with(')') {
            return fault(self.at..self.at + 1, "this `)` closes nothing", Some("delete it"));
        }
        self.unexpected("`&&`, `||` or the end", help)
    }

    fn unexpected(&mut self, expected: &str, help: &str) -> Box<ClauseFault> {
        let start = self.word_start();
        let rest = self.rest();
        let word = rest.find(|it| !is_word_char(it)).unwrap_or(rest.len());
        let len = word.max(rest.chars().next().map_or(0, char::len_utf8));
        let found = match &rest[..len] {
            "" => "the end".to_owned(),
            found => format!("`{}`", shortened(found)),
        };
        fault(start..start + len, format!("expected {expected}, found {found}"), Some(help))
    }

    fn word_start(&mut self) -> usize {
        self.rest();
        self.at
    }

    fn word(&mut self) -> String {
        let rest = self.rest();
        let len = rest.find(|it| !is_word_char(it)).unwrap_or(rest.len());
        let word = rest[..len].to_owned();
        self.at += len;
        word
    }

    /// The rest of the text, without white space at its start.
    fn rest(&mut self) -> &str {
        let rest = &self.text.value[self.at..];
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
        &self.text.value[self.at..]
    }
}

fn is_word_char(it: char) -> bool {
    it.is_alphanumeric() || it == '_'
}

fn fault(range: Range<usize>, message: impl Into<String>, help: Option<&str>) -> Box<ClauseFault> {
    Box::new(ClauseFault { range, message: message.into(), help: help.map(str::to_owned), instead: None })
}

/// A word that a message can quote.
fn shortened(word: &str) -> String {
    const MAX: usize = 48;
    match word.char_indices().nth(MAX) {
        Some((at, _)) => format!("{}…", &word[..at]),
        None => word.to_owned(),
    }
}
