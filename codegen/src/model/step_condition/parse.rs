//! The grammar of conditions, as ranges of their text.

use std::ops::Range;

use orange_core::plan::{Items, Relation};

use crate::model::decoder::shortened;

/// Quotes that people and their editors write around a word.
const QUOTES: [char; 6] = ['"', '`', '‘', '’', '“', '”'];

/// The deepest nesting of a condition.
const MAX_DEPTH: usize = 32;

/// The most tests of a condition.
const MAX_TESTS: usize = 100;

/// An expression of tests.
#[derive(Debug)]
pub(super) enum Parsed {
    Or(Vec<Parsed>),
    And(Vec<Parsed>),
    Not(Box<Parsed>),
    Test(ParsedTest),
}

/// One test. Names are ranges of the text.
#[derive(Debug)]
pub(super) struct ParsedTest {
    pub(super) range: Range<usize>,
    pub(super) items: Option<(Items, Range<usize>)>,
    /// `review.result`, `inputs.target`
    pub(super) operand: Range<usize>,
    /// The part before the last dot.
    pub(super) step: Range<usize>,
    /// The part after it.
    pub(super) field: Range<usize>,
    pub(super) is: ParsedComparison,
}

#[derive(Debug)]
pub(super) enum ParsedComparison {
    /// A relation with its place, and the right side.
    Is(Relation, Range<usize>, ParsedLiteral),
    In(Vec<Range<usize>>),
    Has(Range<usize>),
    /// A field alone.
    Alone,
}

/// A literal; a text is its range between the quotes.
#[derive(Debug)]
pub(super) enum ParsedLiteral {
    Text(Range<usize>),
    Number(i64, Range<usize>),
    Bool(bool, Range<usize>),
}

/// A name with a dot: all of it, the part before the last dot, and the part behind it.
type OperandRanges = (Range<usize>, Range<usize>, Range<usize>);

/// A mistake that keeps a text from being a condition.
#[derive(Debug)]
pub(super) struct ConditionFault {
    pub(super) range: Range<usize>,
    pub(super) message: String,
    pub(super) help: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Open,
    Close,
    OpenList,
    CloseList,
    Comma,
    Not,
    And,
    Or,
    Relation(Relation),
    /// Between single quotes; the range of the token includes them.
    Text,
    Number,
    /// A name with dots, or a word of the grammar.
    Name,
    End,
}

const FORM: &str = "write tests such as `review.result == 'PASS'`, joined by `&&`, `||` and `!`, with parentheses where needed";

pub(super) fn parse(text: &str) -> Result<Parsed, ConditionFault> {
    let mut parser = Parser { text, tokens: Vec::new(), at: 0, tests: 0 };
    parser.tokens = tokens(text)?;
    if parser.tokens.len() == 1 {
        return Err(fault(super::trimmed(text, 0..text.len()), "this is not a condition", FORM));
    }
    let parsed = parser.disjunction(0)?;
    match parser.peek() {
        Token::End => Ok(parsed),
        Token::Name => {
            let word = &text[parser.range()];
            let sign = match word {
                "and" => "`&&`",
                "or" => "`||`",
                _ => return Err(parser.expected("`&&` or `||`")),
            };
            Err(fault(parser.range(), &format!("a condition has no `{word}`"), &format!("write {sign}")))
        }
        Token::Open
        | Token::Close
        | Token::OpenList
        | Token::CloseList
        | Token::Comma
        | Token::Not
        | Token::And
        | Token::Or
        | Token::Relation(_)
        | Token::Text
        | Token::Number => Err(parser.expected("`&&` or `||`")),
    }
}

fn fault(range: Range<usize>, message: &str, help: &str) -> ConditionFault {
    ConditionFault { range, message: message.to_owned(), help: help.to_owned() }
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<(Token, Range<usize>)>,
    at: usize,
    tests: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Token {
        self.tokens.get(self.at).map_or(Token::End, |it| it.0)
    }

    fn range(&self) -> Range<usize> {
        self.tokens.get(self.at).map_or(self.text.len()..self.text.len(), |it| it.1.clone())
    }

    fn take(&mut self) -> Range<usize> {
        let range = self.range();
        self.at += 1;
        range
    }

    fn eats(&mut self, token: Token) -> bool {
        let is_it = self.peek() == token;
        self.at += usize::from(is_it);
        is_it
    }

    fn expected(&self, what: &str) -> ConditionFault {
        let range = self.range();
        let message = match self.peek() == Token::End {
            true => format!("the condition ends where {what} is expected"),
            false => format!("{what} is expected here"),
        };
        fault(range, &message, FORM)
    }

    fn disjunction(&mut self, depth: usize) -> Result<Parsed, ConditionFault> {
        let mut parts = vec![self.conjunction(depth)?];
        while self.eats(Token::Or) {
            parts.push(self.conjunction(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Parsed::Or(parts) })
    }

    fn conjunction(&mut self, depth: usize) -> Result<Parsed, ConditionFault> {
        let mut parts = vec![self.negation(depth)?];
        while self.eats(Token::And) {
            parts.push(self.negation(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Parsed::And(parts) })
    }

    fn negation(&mut self, depth: usize) -> Result<Parsed, ConditionFault> {
        if depth > MAX_DEPTH {
            return Err(fault(
                self.range(),
                "this condition is nested too deeply",
                "write it without so many parentheses",
            ));
        }
        if self.eats(Token::Not) {
            return Ok(Parsed::Not(Box::new(self.negation(depth + 1)?)));
        }
        if self.eats(Token::Open) {
            let inner = self.disjunction(depth + 1)?;
            return if self.eats(Token::Close) { Ok(inner) } else { Err(self.expected("`)`")) };
        }
        self.tests += 1;
        if self.tests > MAX_TESTS {
            let message = format!("a condition has at most {MAX_TESTS} tests");
            return Err(fault(self.range(), &message, "let a step report as an output what they decide"));
        }
        self.test().map(Parsed::Test)
    }

    fn test(&mut self) -> Result<ParsedTest, ConditionFault> {
        let start = self.range().start;
        let items = match &self.text[self.range()] {
            "all" => Some((Items::All, self.take())),
            "any" => Some((Items::Any, self.take())),
            _ => None,
        };
        if self.peek() == Token::Text {
            let word = inner(self.take());
            if &self.text[self.range()] != "in" {
                return Err(fault(
                    word.start - 1..word.end + 1,
                    "a test begins with a field of a step",
                    "write `step.field == 'value'`, or `'value' in step.list`",
                ));
            }
            self.take();
            let (operand, step, field) = self.operand()?;
            let range = start..operand.end;
            return Ok(ParsedTest { range, items, operand, step, field, is: ParsedComparison::Has(word) });
        }
        let (operand, step, field) = self.operand()?;
        let is = if let Token::Relation(relation) = self.peek() {
            let place = self.take();
            ParsedComparison::Is(relation, place, self.literal()?)
        } else if self.peek() == Token::Name && &self.text[self.range()] == "in" {
            self.take();
            ParsedComparison::In(self.words()?)
        } else {
            ParsedComparison::Alone
        };
        let range = start..self.tokens[self.at - 1].1.end;
        Ok(ParsedTest { range, items, operand, step, field, is })
    }

    /// A name with a dot: all of it, the part before the last dot, and the part behind it.
    fn operand(&mut self) -> Result<OperandRanges, ConditionFault> {
        let form = "write `step.field == 'value'`: `review.result == 'PASS'`";
        if self.peek() != Token::Name {
            return Err(self.expected("a test"));
        }
        let range = self.take();
        let name = &self.text[range.clone()];
        match name.rfind('.').filter(|dot| *dot > 0 && dot + 1 < name.len()) {
            Some(dot) => {
                let (step, field) = (range.start..range.start + dot, range.start + dot + 1..range.end);
                Ok((range, step, field))
            }
            None if name == "not" => Err(fault(range, "a condition has no `not`", "write `!`")),
            None => Err(fault(range, "a condition reads a field of a step", form)),
        }
    }

    fn literal(&mut self) -> Result<ParsedLiteral, ConditionFault> {
        match self.peek() {
            Token::Text => Ok(ParsedLiteral::Text(inner(self.take()))),
            Token::Number => {
                let range = self.take();
                let number = self.text[range.clone()].parse().map_err(|_| {
                    fault(range.clone(), "this is not a whole number that fits", "write a whole number")
                })?;
                Ok(ParsedLiteral::Number(number, range))
            }
            Token::Name => {
                let range = self.range();
                match &self.text[range.clone()] {
                    "true" => Ok(ParsedLiteral::Bool(true, self.take())),
                    "false" => Ok(ParsedLiteral::Bool(false, self.take())),
                    word if word.contains('.') => Err(fault(
                        range,
                        "the right side of a test is a value, and this is a field",
                        "write a text between single quotes, a number, `true` or `false`",
                    )),
                    word => Err(fault(
                        range,
                        "the value stands between single quotes",
                        &format!("write `'{}'`", shortened(word)),
                    )),
                }
            }
            Token::Open
            | Token::Close
            | Token::OpenList
            | Token::CloseList
            | Token::Comma
            | Token::Not
            | Token::And
            | Token::Or
            | Token::Relation(_)
            | Token::End => Err(self.expected("a value")),
        }
    }

    /// `['a', 'b']`
    fn words(&mut self) -> Result<Vec<Range<usize>>, ConditionFault> {
        if !self.eats(Token::OpenList) {
            return Err(self.expected("a list such as `['low', 'high']`"));
        }
        let mut words = Vec::new();
        loop {
            match self.literal()? {
                ParsedLiteral::Text(range) => words.push(range),
                ParsedLiteral::Number(_, range) | ParsedLiteral::Bool(_, range) => {
                    return Err(fault(
                        range,
                        "a list has texts between single quotes",
                        "write `['low', 'high']`",
                    ));
                }
            }
            if self.eats(Token::CloseList) {
                return Ok(words);
            }
            if !self.eats(Token::Comma) {
                return Err(self.expected("`,` or `]`"));
            }
        }
    }
}

/// A text without its quotes.
fn inner(range: Range<usize>) -> Range<usize> {
    range.start + 1..range.end - 1
}

fn tokens(text: &str) -> Result<Vec<(Token, Range<usize>)>, ConditionFault> {
    const SIGNS: [(&str, Token); 15] = [
        ("&&", Token::And),
        ("||", Token::Or),
        ("==", Token::Relation(Relation::Equal)),
        ("!=", Token::Relation(Relation::Unequal)),
        ("<=", Token::Relation(Relation::AtMost)),
        (">=", Token::Relation(Relation::AtLeast)),
        ("=~", Token::End),
        ("<", Token::Relation(Relation::Less)),
        (">", Token::Relation(Relation::Greater)),
        ("!", Token::Not),
        ("(", Token::Open),
        (")", Token::Close),
        ("[", Token::OpenList),
        ("]", Token::CloseList),
        (",", Token::Comma),
    ];
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        let rest = &text[at..];
        let token = if next.is_whitespace() {
            at += next.len_utf8();
            continue;
        } else if let Some((sign, token)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
            if *sign == "=~" {
                return Err(fault(at..at + 2, "a condition has no `=~`", FORM));
            }
            (*token, at..at + sign.len())
        } else if next == '\'' {
            let Some(end) = rest[1..].find('\'') else {
                let word = rest[1..].split_whitespace().next().unwrap_or_default();
                let help = format!("write `'{}'`", shortened(word));
                return Err(fault(
                    at..text.trim_end().len(),
                    "the value stands between single quotes",
                    &help,
                ));
            };
            (Token::Text, at..at + end + 2)
        } else if next.is_ascii_digit()
            || next == '-' && rest[1..].starts_with(|it: char| it.is_ascii_digit())
        {
            let end = rest[1..]
                .find(|it: char| !it.is_ascii_alphanumeric() && it != '.')
                .map_or(rest.len(), |it| it + 1);
            (Token::Number, at..at + end)
        } else if next.is_alphabetic() || next == '_' {
            let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-' | '.');
            let end = rest.find(|it: char| !is_part(it)).unwrap_or(rest.len());
            (Token::Name, at..at + end)
        } else {
            return Err(unexpected(text, at, next));
        };
        at = token.1.end;
        found.push(token);
    }
    found.push((Token::End, text.trim_end().len()..text.trim_end().len()));
    Ok(found)
}

fn unexpected(text: &str, at: usize, next: char) -> ConditionFault {
    let range = at..at + next.len_utf8();
    match next {
        '=' => fault(range, "`=` compares nothing", "write `==`"),
        '&' => fault(range, "a condition has no `&`", "write `&&`"),
        '|' => fault(range, "a condition has no `|`", "write `||`"),
        _ if QUOTES.contains(&next) => {
            let rest = &text[range.end..];
            let end = rest.find(QUOTES).unwrap_or(rest.len());
            let close = rest[end..].chars().next().map_or(0, char::len_utf8);
            let help = format!("write `'{}'`", shortened(&rest[..end]));
            fault(at..range.end + end + close, "the value stands between single quotes", &help)
        }
        _ => fault(range, &format!("a condition has no `{next}`"), FORM),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expression with every parenthesis that it means.
    fn shown(text: &str, parsed: &Parsed) -> String {
        let all = |parts: &[Parsed], sign: &str| {
            let parts: Vec<String> = parts.iter().map(|it| shown(text, it)).collect();
            format!("({})", parts.join(sign))
        };
        match parsed {
            Parsed::Or(parts) => all(parts, " | "),
            Parsed::And(parts) => all(parts, " & "),
            Parsed::Not(part) => format!("!{}", shown(text, part)),
            Parsed::Test(test) => {
                let items = test.items.as_ref().map_or("", |it| it.0.as_str());
                let of = format!("{items}{}:{}", &text[test.step.clone()], &text[test.field.clone()]);
                match &test.is {
                    ParsedComparison::Is(relation, _, value) => {
                        let value = match value {
                            ParsedLiteral::Text(it) => text[it.clone()].to_owned(),
                            ParsedLiteral::Number(it, _) => it.to_string(),
                            ParsedLiteral::Bool(it, _) => it.to_string(),
                        };
                        format!("{of}{}{value}", relation.as_str())
                    }
                    ParsedComparison::In(words) => {
                        let words: Vec<&str> = words.iter().map(|it| &text[it.clone()]).collect();
                        format!("{of} in {}", words.join(","))
                    }
                    ParsedComparison::Has(word) => format!("{} in {of}", &text[word.clone()]),
                    ParsedComparison::Alone => of,
                }
            }
        }
    }

    #[track_caller]
    fn check(text: &str, expect: Result<&str, (&str, &str)>) {
        let found = parse(text);
        let found = match &found {
            Ok(parsed) => Ok(shown(text, parsed)),
            Err(fault) => Err((&text[fault.range.clone()], fault.message.as_str())),
        };
        assert_eq!(found, expect.map(str::to_owned), "{text}");
    }

    #[test]
    fn one_test_is_a_condition() {
        check("review.result == 'PASS'", Ok("review:result==PASS"));
        check("  a-b.summary=='lgtm, almost' ", Ok("a-b:summary==lgtm, almost"));
        check("a.b.result == ''", Ok("a.b:result=="));
        check("a.score<=-3", Ok("a:score<=-3"));
        check("a.risk in ['low', 'high']", Ok("a:risk in low,high"));
        check("'web' in a.parts", Ok("web in a:parts"));
        check("a.ok", Ok("a:ok"));
        check("a.ok != false", Ok("a:ok!=false"));
        check("any p.verdict == 'x'", Ok("anyp:verdict==x"));
    }

    #[test]
    fn not_binds_closer_than_and_and_closer_than_or() {
        check("a.x || b.x && !c.x", Ok("(a:x | (b:x & !c:x))"));
        check("(a.x || b.x) && !(c.x || d.x)", Ok("((a:x | b:x) & !(c:x | d:x))"));
        check("!!a.x && a.y == 1 && a.z", Ok("(!!a:x & a:y==1 & a:z)"));
        check("'web' in a.parts && a.n > 1 || a.ok", Ok("((web in a:parts & a:n>1) | a:ok)"));
    }

    #[test]
    fn everything_else_is_refused_at_its_place() {
        check("review.result = 'FAIL'", Err(("=", "`=` compares nothing")));
        check("review.result =~ 'FAIL'", Err(("=~", "a condition has no `=~`")));
        check("review.result == PASS", Err(("PASS", "the value stands between single quotes")));
        check("review.result == \"PASS\"", Err(("\"PASS\"", "the value stands between single quotes")));
        check("review.result == 'PASS", Err(("'PASS", "the value stands between single quotes")));
        check("review == 'PASS'", Err(("review", "a condition reads a field of a step")));
        check(
            "a.result == b.result",
            Err(("b.result", "the right side of a test is a value, and this is a field")),
        );
        check("a.x and b.x", Err(("and", "a condition has no `and`")));
        check("not a.x", Err(("not", "a condition has no `not`")));
        check("a.x & b.x", Err(("&", "a condition has no `&`")));
        check("(a.x || b.x", Err(("", "the condition ends where `)` is expected")));
        check("a.x ||", Err(("", "the condition ends where a test is expected")));
        check("a.x)", Err((")", "`&&` or `||` is expected here")));
        check("a.x in 'low'", Err(("'low'", "a list such as `['low', 'high']` is expected here")));
        check("a.x in [1]", Err(("1", "a list has texts between single quotes")));
        check("a.x == 7.5", Err(("7.5", "this is not a whole number that fits")));
        check("'PASS' == a.result", Err(("'PASS'", "a test begins with a field of a step")));
        check("always", Err(("always", "a condition reads a field of a step")));
        check("", Err(("", "this is not a condition")));
        let deep = format!("{}a.x{}", "(".repeat(40), ")".repeat(40));
        check(&deep, Err(("(", "this condition is nested too deeply")));
        assert!(parse(&vec!["a.x"; 101].join(" && ")).is_err(), "too many tests");
    }
}
