//! Scalars of YAML: reads the values of the frontmatter, and writes them on one line.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::Chars;

/// A value of the frontmatter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// Any text; it is quoted when it would read as something else.
    Text(&'a str),
    /// A number or a time, written as it is.
    Plain(&'a str),
    Number(u32),
    Null,
}

impl<'a> Value<'a> {
    /// The text, or no value.
    pub fn text_or_null(text: Option<&'a str>) -> Value<'a> {
        text.map_or(Value::Null, Value::Text)
    }

    /// The value that a reader gets.
    pub fn decoded(self) -> Option<Cow<'a, str>> {
        match self {
            Value::Text(text) | Value::Plain(text) => Some(text.into()),
            Value::Number(number) => Some(number.to_string().into()),
            Value::Null => None,
        }
    }

    /// The value on one line, whatever it contains.
    pub fn encoded(self) -> Cow<'a, str> {
        match self {
            Value::Text(text) if is_plain(text) => text.into(),
            Value::Text(text) => quote(text).into(),
            Value::Plain(text) => text.into(),
            Value::Number(number) => number.to_string().into(),
            Value::Null => "null".into(),
        }
    }
}

/// Reads what follows `key:`, over one line or several; `None` for null.
///
/// Text that is invalid as a plain scalar but unambiguous (`[wip] fix: it`) is accepted.
pub fn decode(raw: &str) -> Result<Option<String>, String> {
    let value = skip_blank(raw);
    match value.chars().next() {
        Some('"') => {
            let end = quoted_end(value)?;
            double(&value[1..end - 1]).map(Some)
        }
        Some('\'') => {
            let end = quoted_end(value)?;
            Ok(Some(single(&value[1..end - 1])))
        }
        Some('|' | '>') if BlockHeader::parse(value).is_some() => block(value).map(Some),
        Some(_) | None => Ok(plain(value)),
    }
}

/// Recognizes the beginning of a block scalar, and returns whether the scalar keeps its trailing blank lines; `None` for any other
/// value.
pub fn is_block(value: &str) -> Option<KeepsBlankLines> {
    BlockHeader::parse(value.trim_ascii_start()).map(|header| KeepsBlankLines(header.chomp == Chomp::Keep))
}

/// True if blank lines after a block scalar belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepsBlankLines(pub bool);

/// The length of the value at the beginning of this line, without the comment and the spaces that follow.
pub fn one_line_length(line: &str) -> usize {
    match line.chars().next() {
        // A comment needs a blank before it.
        Some('"' | '\'') => quoted_end(line)
            .ok()
            .filter(|end| line[*end..].is_empty() || line[*end..].starts_with([' ', '\t']))
            .unwrap_or(line.len()),
        Some(_) | None => without_comment(line).len(),
    }
}

/// True if the text can be read back without quotes, in YAML 1.1 and 1.2.
fn is_plain(text: &str) -> bool {
    let harmless = |letter: char| letter.is_alphanumeric() || " _-./+@#()=:,;!?%&*~'".contains(letter);
    let begins = text.starts_with(|first: char| first.is_alphanumeric() || first == '_' || first == '/');
    begins
        && !text.ends_with([' ', ':'])
        && text.chars().all(harmless)
        && !text.contains(": ")
        && !text.contains(" #")
        && !looks_like_another_type(text)
}

/// True if the text is a number, a time, or a word that a YAML version reads as a boolean or null.
fn looks_like_another_type(text: &str) -> bool {
    const WORDS: [&str; 10] = ["true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan"];
    let numeric = |letter: char| letter.is_ascii_hexdigit() || "oOxX_.:+-tTzZ ".contains(letter);
    WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
        || text.starts_with(|first: char| first.is_numeric()) && text.chars().all(numeric)
}

fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 8);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            letter if is_printable(letter) => quoted.push(letter),
            letter if u32::from(letter) > 0xFFFF => quoted.push_str(&format!("\\U{:08X}", u32::from(letter))),
            letter => quoted.push_str(&format!("\\u{:04X}", u32::from(letter))),
        }
    }
    quoted.push('"');
    quoted
}

/// True if YAML allows this in a quoted scalar, and no editor hides it or takes it for a line break.
fn is_printable(letter: char) -> bool {
    let hidden = matches!(letter, '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}');
    let no_character = u32::from(letter) & 0xFFFE == 0xFFFE;
    !letter.is_control() && !hidden && !no_character
}

/// The text from the value on, without blanks and comments before it.
fn skip_blank(raw: &str) -> &str {
    let mut rest = raw.trim_ascii_start();
    while rest.starts_with('#') {
        rest = rest.split_once('\n').map_or("", |(_, below)| below).trim_ascii_start();
    }
    rest
}

/// The end of the quoted scalar at the beginning of the text, with its closing quote.
fn quoted_end(text: &str) -> Result<usize, String> {
    let mut letters = text.char_indices().peekable();
    let quote = letters.next().map_or('"', |(_, quote)| quote);
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' && quote == '"' {
            letters.next();
        } else if letter == quote {
            if quote == '\'' && letters.next_if(|&(_, next)| next == '\'').is_some() {
                continue;
            }
            return match without_comment(&text[at + 1..]) {
                "" => Ok(at + 1),
                more => Err(format!("`{}` follows the closing quote", shorten(more.trim()))),
            };
        }
    }
    Err(format!("the quote {quote} is not closed"))
}

/// The text without a comment and trailing blanks.
fn without_comment(text: &str) -> &str {
    let begins = |at: usize| at == 0 || text[..at].ends_with([' ', '\t', '\n']);
    let comment = text.match_indices('#').map(|(at, _)| at).find(|&at| begins(at));
    text[..comment.unwrap_or(text.len())].trim_ascii_end()
}

fn plain(value: &str) -> Option<String> {
    let mut lines = value.lines().map(|line| without_comment(line.trim_ascii()));
    let mut text = lines.next().unwrap_or_default().to_owned();
    let mut breaks = 0;
    for line in lines {
        if line.is_empty() {
            breaks += 1;
        } else {
            fold_break(&mut text, breaks);
            breaks = 0;
            text.push_str(line);
        }
    }
    let is_null = matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL");
    (!is_null).then_some(text)
}

/// Joins two lines of a flow scalar: by a space, or by one line break less than there are.
fn fold_break(text: &mut String, blank_lines: usize) {
    if blank_lines == 0 {
        text.push(' ');
    }
    text.extend(std::iter::repeat_n('\n', blank_lines));
}

fn single(inside: &str) -> String {
    let mut folded = Folded::default();
    let mut letters = inside.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => {
                letters.next();
                folded.push('\'');
            }
            letter => folded.take(letter, &mut letters),
        }
    }
    folded.text
}

fn double(inside: &str) -> Result<String, String> {
    let mut folded = Folded::default();
    let mut letters = inside.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => escape(&mut letters, &mut folded)?,
            letter => folded.take(letter, &mut letters),
        }
    }
    Ok(folded.text)
}

/// The contents of a quoted scalar while its lines are joined.
#[derive(Default)]
struct Folded {
    text: String,
    /// The length that stays when a line break follows.
    solid: usize,
}

impl Folded {
    fn push(&mut self, letter: char) {
        self.text.push(letter);
        self.solid = self.text.len();
    }

    fn take(&mut self, letter: char, rest: &mut Peekable<Chars>) {
        match letter {
            '\r' if rest.peek() == Some(&'\n') => {}
            '\n' => self.line_break(rest),
            ' ' | '\t' => self.text.push(letter),
            letter => self.push(letter),
        }
    }

    fn line_break(&mut self, rest: &mut Peekable<Chars>) {
        let mut blank_lines = 0;
        while let Some(blank) = rest.next_if(|next| matches!(next, ' ' | '\t' | '\r' | '\n')) {
            blank_lines += usize::from(blank == '\n');
        }
        self.text.truncate(self.solid);
        fold_break(&mut self.text, blank_lines);
        self.solid = self.text.len();
    }
}

fn escape(letters: &mut Peekable<Chars>, into: &mut Folded) -> Result<(), String> {
    let letter = letters.next().unwrap_or_default();
    into.push(match letter {
        '0' => '\0',
        'a' => '\x07',
        'b' => '\x08',
        't' | '\t' => '\t',
        'n' => '\n',
        'v' => '\x0B',
        'f' => '\x0C',
        'r' => '\r',
        'e' => '\x1B',
        ' ' | '"' | '/' | '\\' => letter,
        'N' => '\u{85}',
        '_' => '\u{A0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        'x' => code_point(letters, 2)?,
        'u' => code_point(letters, 4)?,
        'U' => code_point(letters, 8)?,
        '\n' | '\r' => {
            while letters.next_if(|next| matches!(next, ' ' | '\t' | '\r' | '\n')).is_some() {}
            return Ok(());
        }
        other => return Err(format!("`\\{other}` is not an escape sequence")),
    });
    Ok(())
}

/// A character by its number; a pair of surrogates, as in JSON, is one character.
fn code_point(letters: &mut Peekable<Chars>, digits: usize) -> Result<char, String> {
    let code = hexadecimal(letters, digits)?;
    let code = match code {
        0xD800..=0xDBFF if letters.next_if_eq(&'\\').is_some() && letters.next_if_eq(&'u').is_some() => {
            0x10000 + ((code - 0xD800) << 10) + (hexadecimal(letters, 4)?.wrapping_sub(0xDC00) & 0x3FF)
        }
        code => code,
    };
    char::from_u32(code).ok_or_else(|| format!("there is no character with the number {code:X}"))
}

fn hexadecimal(letters: &mut Peekable<Chars>, digits: usize) -> Result<u32, String> {
    let text: String = letters.by_ref().take(digits).collect();
    let whole = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let code = whole.then(|| u32::from_str_radix(&text, 16).ok()).flatten();
    code.ok_or_else(|| format!("an escape sequence wants {digits} hexadecimal digits, not `{text}`"))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomp {
    Strip,
    Clip,
    Keep,
}

struct BlockHeader {
    folded: bool,
    chomp: Chomp,
    indent: Option<usize>,
}

impl BlockHeader {
    fn parse(value: &str) -> Option<BlockHeader> {
        let folded = match value.as_bytes().first()? {
            b'|' => false,
            b'>' => true,
            _ => return None,
        };
        let letters = without_comment(value.lines().next().unwrap_or_default()).chars().skip(1);
        let mut header = BlockHeader { folded, chomp: Chomp::Clip, indent: None };
        for letter in letters {
            match letter {
                '-' if header.chomp == Chomp::Clip => header.chomp = Chomp::Strip,
                '+' if header.chomp == Chomp::Clip => header.chomp = Chomp::Keep,
                '1'..='9' if header.indent.is_none() => {
                    header.indent = letter.to_digit(10).and_then(|digit| usize::try_from(digit).ok());
                }
                _ => return None,
            }
        }
        Some(header)
    }
}

/// The text of a block scalar: its header line and the indented lines below.
fn block(value: &str) -> Result<String, String> {
    let header = BlockHeader::parse(value).ok_or("this is not a block scalar")?;
    let lines: Vec<&str> = value.lines().skip(1).collect();
    let is_blank = |line: &&str| line.trim_start_matches(' ').is_empty();
    let found = lines.iter().find(|line| !is_blank(line)).map_or(1, |line| indentation(line));
    let indent = header.indent.unwrap_or(found);

    let mut text = String::new();
    let mut previous: Option<&str> = None;
    let mut breaks = 0;
    for line in lines {
        if is_blank(&line) && line.len() <= indent {
            breaks += 1;
            continue;
        }
        if indentation(line) < indent {
            return Err(format!("`{}` is not indented by {indent} spaces", shorten(line.trim())));
        }
        let line = &line[indent..];
        match previous {
            None => text.extend(std::iter::repeat_n('\n', breaks)),
            Some(before) if header.folded && !is_deeper(before) && !is_deeper(line) => {
                fold_break(&mut text, breaks)
            }
            Some(_) => text.extend(std::iter::repeat_n('\n', breaks + 1)),
        }
        breaks = 0;
        text.push_str(line);
        previous = Some(line);
    }
    match header.chomp {
        Chomp::Keep => text.extend(std::iter::repeat_n('\n', breaks + usize::from(previous.is_some()))),
        Chomp::Clip if previous.is_some() => text.push('\n'),
        Chomp::Clip | Chomp::Strip => {}
    }
    Ok(text)
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// True if a line of a folded scalar is indented more than the others, and so keeps its line breaks.
fn is_deeper(line: &str) -> bool {
    line.starts_with([' ', '\t'])
}

/// The beginning of a text, for a message.
fn shorten(text: &str) -> &str {
    const SHOWN: usize = 30;
    text.char_indices().nth(SHOWN).map_or(text, |(at, _)| &text[..at])
}
