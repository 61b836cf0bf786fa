//! As much of TOML as `harnesses.toml` needs: tables of strings and lists of strings. Everything else is refused by name.

use std::iter::Peekable;
use std::str::Chars;

/// A table with its keys, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) entries: Vec<Entry>,
}

impl Table {
    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }
}

/// One `key = value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) line: usize,
    pub(super) value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    List(Vec<String>),
}

/// What is wrong, and in which line; lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flaw {
    pub(super) line: usize,
    pub(super) what: String,
}

type Read<T> = Result<T, Flaw>;

pub(super) fn parse(text: &str) -> Read<Vec<Table>> {
    let text = text.trim_start_matches('\u{FEFF}');
    let mut reader = Reader { left: text.chars().peekable(), line: 1 };
    let mut tables: Vec<Table> = Vec::new();
    loop {
        reader.skip_blank();
        match (reader.peek(), tables.last_mut()) {
            (None, _) => return Ok(tables),
            (Some('['), _) => {
                let table = reader.table()?;
                if tables.iter().any(|known| known.name == table.name) {
                    return reader.flaw(format!("the table `{}` is there twice", table.name));
                }
                tables.push(table);
            }
            (Some(_), None) => return reader.flaw("a key needs a table before it, such as `[aider]`"),
            (Some(_), Some(table)) => {
                let entry = reader.entry()?;
                if table.has(&entry.key) {
                    return reader.flaw(format!("the key `{}` is there twice", entry.key));
                }
                table.entries.push(entry);
            }
        }
        reader.end_of_line()?;
    }
}

struct Reader<'t> {
    left: Peekable<Chars<'t>>,
    line: usize,
}

impl Reader<'_> {
    fn table(&mut self) -> Read<Table> {
        let line = self.line;
        self.next();
        if self.peek() == Some('[') {
            return self.flaw("lists of tables (`[[…]]`) are not read here");
        }
        self.skip_spaces();
        let name = self.key()?;
        self.skip_spaces();
        self.expect(']', "a table's name ends with `]`")?;
        Ok(Table { name, line, entries: Vec::new() })
    }

    fn entry(&mut self) -> Read<Entry> {
        let line = self.line;
        let key = self.key()?;
        self.skip_spaces();
        self.expect('=', format!("`{key}` is followed by `=` and a value"))?;
        self.skip_spaces();
        let value =
            if self.peek() == Some('[') { Value::List(self.list()?) } else { Value::Text(self.text()?) };
        Ok(Entry { key, line, value })
    }

    fn key(&mut self) -> Read<String> {
        let key = match self.peek() {
            Some('"' | '\'') => self.text()?,
            Some(_) | None => self.bare(),
        };
        self.skip_spaces();
        match self.peek() {
            Some('.') => self.flaw("names with dots are not read here: each harness is a table of its own"),
            Some(_) | None if key.is_empty() => self.flaw("a name is missing: letters, digits, `_` and `-`"),
            Some(_) | None => Ok(key),
        }
    }

    fn bare(&mut self) -> String {
        let mut name = String::new();
        while let Some(letter) = self.left.next_if(|it| it.is_ascii_alphanumeric() || "_-".contains(*it)) {
            name.push(letter);
        }
        name
    }

    fn list(&mut self) -> Read<Vec<String>> {
        self.next();
        let mut list = Vec::new();
        loop {
            self.skip_blank();
            if self.peek() == Some(']') {
                self.next();
                return Ok(list);
            }
            list.push(self.text()?);
            self.skip_blank();
            match self.peek() {
                Some(',') => {
                    self.next();
                }
                Some(']') => {}
                Some(_) | None => {
                    return self.flaw("between the values of a list stands `,`, at its end `]`");
                }
            }
        }
    }

    fn text(&mut self) -> Read<String> {
        let quote = match self.peek() {
            Some(quote @ ('"' | '\'')) => quote,
            Some(_) | None => return self.flaw("a value is a string in quotes, or a list of such"),
        };
        self.next();
        let mut text = String::new();
        loop {
            match self.next() {
                Some(end) if end == quote => break,
                Some('\\') if quote == '"' => text.push(self.escaped()?),
                Some(letter) if letter != '\t' && letter.is_control() => {
                    return self
                        .flaw("a string ends in the line that it begins in; write \\n for a line break");
                }
                Some(letter) => text.push(letter),
                None => return self.flaw("a string is not closed"),
            }
        }
        if text.is_empty() && self.peek() == Some(quote) {
            return self
                .flaw("strings of several lines are not read here: write \\n in one of a single line");
        }
        Ok(text)
    }

    fn escaped(&mut self) -> Read<char> {
        match self.next() {
            Some(letter @ ('"' | '\\')) => Ok(letter),
            Some('n') => Ok('\n'),
            Some('t') => Ok('\t'),
            Some('r') => Ok('\r'),
            Some('u') => self.unicode(4),
            Some('U') => self.unicode(8),
            Some(_) | None => {
                self.flaw("after `\\` stands one of `\" \\ n t r u U`; 'single quotes' escape nothing")
            }
        }
    }

    fn unicode(&mut self, digits: usize) -> Read<char> {
        let number: String = (0..digits).filter_map(|_| self.left.next_if(char::is_ascii_hexdigit)).collect();
        let letter = u32::from_str_radix(&number, 16).ok().filter(|_| number.len() == digits);
        match letter.and_then(char::from_u32) {
            // No argument of a program can have it.
            Some('\0') | None => {
                self.flaw(format!("\\u and \\U are followed by the {digits} digits of a character"))
            }
            Some(letter) => Ok(letter),
        }
    }

    fn end_of_line(&mut self) -> Read<()> {
        self.skip_spaces();
        match self.peek() {
            None | Some('\n' | '\r' | '#') => Ok(()),
            Some(_) => self.flaw("nothing else stands in this line"),
        }
    }

    fn expect(&mut self, wanted: char, otherwise: impl Into<String>) -> Read<()> {
        if self.peek() != Some(wanted) {
            return self.flaw(otherwise);
        }
        self.next();
        Ok(())
    }

    /// Spaces, line breaks and comments.
    fn skip_blank(&mut self) {
        while let Some(letter) = self.peek() {
            match letter {
                '#' => while self.left.next_if(|letter| *letter != '\n').is_some() {},
                ' ' | '\t' | '\r' | '\n' => {
                    self.next();
                }
                _ => return,
            }
        }
    }

    fn skip_spaces(&mut self) {
        while self.left.next_if(|letter| matches!(letter, ' ' | '\t')).is_some() {}
    }

    fn peek(&mut self) -> Option<char> {
        self.left.peek().copied()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.left.next();
        self.line += usize::from(letter == Some('\n'));
        letter
    }

    fn flaw<T>(&self, what: impl Into<String>) -> Read<T> {
        Err(Flaw { line: self.line, what: what.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: &str, expect: Value) {
        let tables = parse(&format!("# one\r\n[a-1] # table\nk = {value} # end\n")).unwrap();
        assert_eq!((tables[0].name.as_str(), tables[0].line), ("a-1", 2));
        assert_eq!(tables[0].entries, [Entry { key: "k".to_owned(), line: 3, value: expect }]);
    }

    #[track_caller]
    fn check_flaw(text: &str, line: usize, part: &str) {
        let flaw = parse(text).unwrap_err();
        assert!(flaw.line == line && flaw.what.contains(part), "{flaw:?}");
    }

    #[test]
    fn strings_and_lists_of_them_are_read() {
        let text = |text: &str| Value::Text(text.to_owned());
        check(r#""a # b""#, text("a # b"));
        check(r#""\"\\\n\t\u00e9\U0001F34A""#, text("\"\\\n\té🍊"));
        check(r"'C:\n'", text(r"C:\n"));
        check(r#""""#, text(""));
        let list = |words: &[&str]| Value::List(words.iter().map(|word| (*word).to_owned()).collect());
        check("[]", list(&[]));
        check("[ # first\n 'a',\n\n \"b\" , ]", list(&["a", "b"]));
    }

    #[test]
    fn everything_else_is_refused_with_its_line() {
        check_flaw("a = 'b'", 1, "table before it");
        check_flaw("[a]\nb = 1", 2, "string in quotes");
        check_flaw("[a]\nb = true", 2, "string in quotes");
        check_flaw("[a]\nb = {c = 'd'}", 2, "string in quotes");
        check_flaw("[a]\nb = [['c']]", 2, "string in quotes");
        check_flaw("[a]\nb.c = 'd'", 2, "dots");
        check_flaw("[a.b]", 1, "dots");
        check_flaw("[[a]]", 1, "lists of tables");
        check_flaw("[a]\nb = \"\"\"\nc\"\"\"", 2, "several lines");
        check_flaw("[a]\nb = \"c\nd\"", 3, "ends in the line");
        check_flaw("[a]\nb = 'c", 2, "not closed");
        check_flaw("[a]\nb = \"\\x\"", 2, "after `\\`");
        check_flaw("[a]\nb = \"\\u00\"", 2, "4 digits");
        check_flaw("[a]\nb = \"\\u0000\"", 2, "4 digits");
        check_flaw("[a]\nb = 'c' d", 2, "nothing else");
        check_flaw("[a]\nb = ['c' 'd']", 2, "`,`");
        check_flaw("[a]\nb = ['c',\n", 3, "string in quotes");
        check_flaw("[a]\nb 'c'", 2, "`=`");
        check_flaw("[a]\n= 'c'", 2, "name is missing");
        check_flaw("[a]\nb = 'c'\nb = 'd'", 3, "twice");
        check_flaw("[a]\n[b]\n[a]", 3, "twice");
    }
}
