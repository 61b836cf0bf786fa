//! Reads values out of the syntax tree, and collects every fault instead of stopping at one.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use super::keys::{Key, Object};
use super::shapes::ValueWriter;
use crate::catalogue::{Check, S02, S03, S04, S07, S09};
use crate::diag::{Diagnostic, Fix};
use crate::edit;
use crate::included::Included;
use crate::source::{Format, Source};
use crate::span::{Span, Spanned};
use crate::suggest;
use crate::syntax::{Node, NodeKind, Scalar, ScalarForm, Text};

/// Suggestions given for one file; a file with more unknown names than that is wrong altogether.
const MAX_SUGGESTIONS: usize = 200;

/// The faults found so far.
pub struct Decoder<'s> {
    source: &'s str,
    /// The language in which helps say what to write.
    format: Format,
    found: Vec<Diagnostic>,
    included: Included,
    suggestions: usize,
}

/// The entries of an object whose keys are known.
pub struct ObjectFields<'n> {
    /// Its keys.
    pub object: &'static Object,
    /// Place of the object.
    pub span: Span,
    slots: Vec<Option<Field<'n>>>,
}

/// One entry of an object.
#[derive(Clone, Copy)]
pub struct Field<'n> {
    /// The key, or what a list item is called in messages.
    pub name: &'n str,
    /// Place of the key.
    pub key: Span,
    /// The value.
    pub value: &'n Node,
}

/// One entry of a mapping whose keys are names that the author chose.
pub struct NamedEntry<'n> {
    /// The key.
    pub name: Spanned<&'n str>,
    /// The value.
    pub value: &'n Node,
}

impl<'s> Decoder<'s> {
    /// Reads from this source, and has found nothing yet.
    pub fn new(source: &'s Source) -> Self {
        Self {
            source: &source.text,
            format: source.format,
            found: Vec::new(),
            included: Included::of(&source.text),
            suggestions: MAX_SUGGESTIONS,
        }
    }

    /// Writes values in the language of the source.
    pub(super) fn writer(&self) -> ValueWriter<'s> {
        ValueWriter { source: self.source, format: self.format }
    }

    /// The text that a span is in, of the source or of a file that it includes, and the first byte of that text.
    fn text_at(&self, span: Span) -> (&str, u32) {
        self.included.text_at(span).unwrap_or((self.source, 0))
    }

    /// Adds a finding.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// Takes in the text of another file, which the source names here; nothing if there is too much already.
    pub fn include(&mut self, name: &Spanned<String>, text: String) -> Option<Text> {
        self.included.add(name, text)
    }

    /// The files whose texts were taken in.
    pub fn included(&self) -> &Included {
        &self.included
    }

    /// Everything that was found.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        self.included.relocate(&mut self.found);
        self.found
    }

    /// Reports that a name is not known, with the closest known one.
    pub fn unknown<'k>(
        &mut self,
        check: &'static Check,
        (kind, plural): (&str, &str),
        name: &Spanned<&str>,
        known: impl IntoIterator<Item = &'k str> + Clone,
    ) {
        let help = self.suggest(name.value, plural, known.clone());
        let fix = help.as_ref().and_then(|_| self.respelled(name, known));
        let message = unknown_name(kind, name.value);
        let found = Diagnostic::new(check, name.span, message.as_str()).help_if(help);
        self.report(found.about(message).fix_if(fix));
    }

    /// A help for an unknown word, as long as there are suggestions left.
    pub fn suggest<'k>(
        &mut self,
        word: &str,
        plural: &str,
        known: impl IntoIterator<Item = &'k str> + Clone,
    ) -> Option<String> {
        self.suggestions = self.suggestions.checked_sub(1)?;
        suggest::help(word, plural, known)
    }

    /// The edit that writes the one known word in the place of a word that is almost it.
    pub fn respelled<'k>(
        &self,
        word: &Spanned<&str>,
        known: impl IntoIterator<Item = &'k str> + Clone,
    ) -> Option<Fix> {
        let meant = suggest::only(word.value, known)?;
        let (text, start) = self.text_at(word.span);
        let span = Span::new(word.span.start - start, word.span.end - start);
        let mut fix = edit::replace_word(text, span, word.value, meant)?;
        for edit in &mut fix.edits {
            edit.span = Span::new(edit.span.start + start, edit.span.end + start);
        }
        Some(fix)
    }

    /// The edit that writes `new` in the place of a text, where the text stands in its file as it is.
    pub fn rewritten(&self, span: Span, text: &str, new: &str) -> Option<Fix> {
        let (written, start) = self.text_at(span);
        let stands_there =
            written.get((span.start - start) as usize..(span.end - start) as usize) == Some(text);
        stands_there.then(|| Fix::replace(format!("write `{new}`"), span, new))
    }
}

/// Mappings and lists.
impl Decoder<'_> {
    /// The entries of an object. Unknown, repeated and missing keys are reported.
    pub fn object<'n>(&mut self, node: &'n Node, object: &'static Object) -> Option<ObjectFields<'n>> {
        let entries = self.mapping(node, object.what, object.keys)?;
        let mut fields = ObjectFields { object, span: node.span, slots: vec![None; object.keys.len()] };
        let mut unknown = Vec::new();
        for entry in entries {
            let Some(slot) = object.slot(entry.name.value) else {
                unknown.push(entry);
                continue;
            };
            match fields.slots[slot] {
                Some(first) => self.repeated(&entry.name, first.key),
                None => fields.fill(slot, &entry),
            }
        }
        for entry in unknown {
            // What a misspelled key says is read as it was meant: its faults are the author's too.
            if let Some(slot) = self.unknown_key(&entry, object).filter(|slot| fields.slots[*slot].is_none())
            {
                fields.fill(slot, &entry);
            }
        }
        for (key, slot) in object.keys.iter().zip(&fields.slots) {
            if key.required && slot.is_none() {
                self.missing(key.name, object.what, node.span.first_line(self.source));
            }
        }
        Some(fields)
    }

    /// The entries of a mapping from names to values. Repeated names are reported and left out.
    pub fn names<'n>(&mut self, field: &Field<'n>) -> Vec<NamedEntry<'n>> {
        let Some(mut entries) = self.mapping(field.value, &format!("`{}`", field.name), &[]) else {
            return Vec::new();
        };
        let mut first: HashMap<&str, Span> = HashMap::with_capacity(entries.len());
        entries.retain(|entry| match first.get(entry.name.value) {
            Some(first) => {
                self.repeated(&entry.name, *first);
                false
            }
            None => {
                first.insert(entry.name.value, entry.name.span);
                true
            }
        });
        entries
    }

    fn mapping<'n>(&mut self, node: &'n Node, what: &str, keys: &[Key]) -> Option<Vec<NamedEntry<'n>>> {
        match &node.kind {
            NodeKind::Mapping(entries) => {
                Some(entries.iter().filter_map(|(key, value)| self.entry(key, value, what, keys)).collect())
            }
            NodeKind::Scalar(_) | NodeKind::Sequence(_) => {
                let help = self.writer().mapping_instead(what, node);
                self.wrong(node, &format!("{what} is a mapping"), help);
                None
            }
        }
    }

    fn entry<'n>(
        &mut self,
        key: &'n Node,
        value: &'n Node,
        what: &str,
        keys: &[Key],
    ) -> Option<NamedEntry<'n>> {
        match &key.kind {
            NodeKind::Scalar(scalar) if !scalar.is_null() => {
                // `on` is a key of the language.
                if keys.iter().all(|known| known.name != scalar.text.value) {
                    self.warn_of_yaml_traps(scalar);
                }
                Some(NamedEntry { name: Spanned::new(&scalar.text.value, key.span), value })
            }
            NodeKind::Scalar(_) | NodeKind::Sequence(_) | NodeKind::Mapping(_) => {
                self.wrong(key, &format!("a key of {what} is a word"), None);
                None
            }
        }
    }

    /// The items of a list.
    pub fn list<'n>(&mut self, field: &Field<'n>) -> &'n [Node] {
        match &field.value.kind {
            NodeKind::Sequence(items) => items,
            NodeKind::Scalar(_) | NodeKind::Mapping(_) => {
                let help = self.writer().list_instead(field.name, field.value);
                let help = help.unwrap_or_else(|| self.help_for_list(field));
                self.wrong(field.value, &format!("`{}` takes a list", field.name), Some(help));
                &[]
            }
        }
    }

    /// The items of a list, or the one value that stands for a list of one.
    pub fn one_or_list<'n>(&mut self, field: &Field<'n>) -> Vec<Field<'n>> {
        match &field.value.kind {
            NodeKind::Sequence(items) => items.iter().map(|value| field.item(value)).collect(),
            NodeKind::Scalar(_) | NodeKind::Mapping(_) => vec![*field],
        }
    }

    /// Reports a key that is not known; the slot of the one that was meant, if that is clear.
    fn unknown_key(&mut self, entry: &NamedEntry<'_>, object: &'static Object) -> Option<usize> {
        let word = entry.name.value;
        let known = object.keys.iter().map(|key| key.name);
        let help = self.suggest(word, &format!("keys of {}", object.what), known.clone());
        let meant = help.as_ref().and_then(|_| suggest::closest(word, known.clone()));
        let fix = meant.and_then(|_| self.respelled(&entry.name, known));
        let message = format!("unknown key `{}` in {}", shortened(word), object.what);
        self.report(Diagnostic::new(&S02, entry.name.span, message).help_if(help).fix_if(fix));
        meant.and_then(|name| object.slot(name))
    }

    fn repeated(&mut self, name: &Spanned<&str>, first: Span) {
        let word = shortened(name.value);
        self.report(
            Diagnostic::new(&S03, name.span, format!("`{word}` stands here a second time"))
                .label(first, "the first one")
                .label(name.span, "the second one")
                .help("delete one of the two, or give it another name"),
        );
    }

    /// Reports that a key is missing.
    pub fn missing(&mut self, key: &str, what: &str, span: Span) {
        let message = format!("{what} needs the key `{key}`");
        let entry = match self.format {
            Format::Yaml => format!("{key}: …"),
            Format::Toml => format!("{key} = …"),
        };
        self.report(Diagnostic::new(&S09, span, message).help(format!("add `{entry}`")));
    }
}

/// Decoders of single values, which report a value of another type.
impl Decoder<'_> {
    /// A text.
    pub fn text<'n>(&mut self, field: &Field<'n>) -> Option<&'n Text> {
        let takes = format!("`{}` takes text", field.name);
        let NodeKind::Scalar(scalar) = &field.value.kind else {
            let clause = (field.name == "when").then(|| self.writer().clause_instead(field.value)).flatten();
            let help = key_without_value(field.value)
                .filter(|_| clause.is_none())
                .map(|word| format!("`{word}:` makes a mapping; delete the `:`, or put the text in quotes"));
            self.wrong(field.value, &takes, clause.or(help));
            return None;
        };
        if scalar.is_null() || is_boolean(scalar) || is_number(scalar) {
            let help = if scalar.is_null() { self.help_for_nothing(field) } else { in_quotes(scalar) };
            self.wrong(field.value, &takes, Some(help));
            return None;
        }
        self.warn_of_yaml_traps(scalar);
        // An argument of a program cannot have it, and no reader sees it.
        if let Some(at) = scalar.text.value.find('\0') {
            let message =
                format!("`{}` has the character U+0000, which is not a text", shortened(field.name));
            let found = Diagnostic::new(&S04, scalar.text.locate(at, at + 1), message);
            self.report(found.help("delete it"));
        }
        Some(&scalar.text)
    }

    /// A text as a value of its own.
    pub fn string(&mut self, field: &Field<'_>) -> Option<Spanned<String>> {
        let value = self.text(field)?.value.clone();
        Some(Spanned::new(value, field.value.span))
    }

    /// Any scalar, taken as text.
    pub fn scalar(&mut self, field: &Field<'_>) -> Option<Spanned<String>> {
        match &field.value.kind {
            NodeKind::Scalar(scalar) if !scalar.is_null() => {
                Some(Spanned::new(scalar.text.value.clone(), field.value.span))
            }
            NodeKind::Scalar(_) | NodeKind::Sequence(_) | NodeKind::Mapping(_) => self.string(field),
        }
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, field: &Field<'_>) -> Option<bool> {
        if let NodeKind::Scalar(scalar) = &field.value.kind
            && is_boolean(scalar)
        {
            return Some(scalar.text.value == "true");
        }
        let meant = match &field.value.kind {
            NodeKind::Scalar(scalar) => meant_boolean(&scalar.text.value),
            NodeKind::Sequence(_) | NodeKind::Mapping(_) => None,
        };
        let help = meant.map_or("write `true` or `false`".to_owned(), |meant| format!("write `{meant}`"));
        let fix = meant.and_then(|meant| self.unquoted(field.value, &meant.to_string()));
        self.wrong_with_fix(field.value, &format!("`{}` takes true or false", field.name), Some(help), fix);
        None
    }

    /// A whole number from 0 to 4294967295.
    pub fn integer(&mut self, field: &Field<'_>) -> Option<u32> {
        self.integer_meant_in(field, 0..=u32::MAX)
    }

    /// A whole number. The help for a value that is not a number names these bounds; the number may be outside.
    pub fn integer_meant_in(&mut self, field: &Field<'_>, bounds: RangeInclusive<u32>) -> Option<u32> {
        let takes = format!("`{}` takes a whole number", field.name);
        let NodeKind::Scalar(scalar) = &field.value.kind else {
            self.wrong(field.value, &takes, None);
            return None;
        };
        let text = &scalar.text.value;
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if scalar.style == ScalarForm::Quoted {
            let help = digits.then(|| "write it without quotes".to_owned());
            let fix = digits.then(|| self.unquoted(field.value, text)).flatten();
            self.wrong_with_fix(field.value, &takes, help, fix);
            return None;
        }
        if digits && text.len() > 1 && text.starts_with('0') {
            let message = format!("readers of YAML 1.1 take `{}` for an octal number", shortened(text));
            self.report(
                Diagnostic::new(&S07, field.value.span, message).help("write it without leading zeros"),
            );
        }
        let number = digits.then(|| text.parse().ok()).flatten();
        if number.is_none() {
            self.wrong(
                field.value,
                &takes,
                Some(format!("write a number from {} to {}", bounds.start(), bounds.end())),
            );
        }
        number
    }

    /// One of a few words.
    pub fn word<T: Copy>(&mut self, field: &Field<'_>, words: &[(&str, T)]) -> Option<Spanned<T>> {
        self.word_or(field, words, |_| None)
    }

    /// One of a few words. The help for another word says how it can be made a known one, unless one of them is meant.
    pub fn word_or<T: Copy>(
        &mut self,
        field: &Field<'_>,
        words: &[(&str, T)],
        otherwise: impl Fn(&str) -> Option<String>,
    ) -> Option<Spanned<T>> {
        let text = self.text(field)?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text.value) {
            return Some(Spanned::new(*value, field.value.span));
        }
        let known = words.iter().map(|(word, _)| *word);
        let help = self.suggest(&text.value, &format!("values of `{}`", field.name), known.clone());
        let word = Spanned::new(text.value.as_str(), field.value.span);
        let fix = help.as_ref().and_then(|_| self.respelled(&word, known));
        let help = help.map(|help| match otherwise(&text.value) {
            Some(or) if !help.starts_with("did you mean") => format!("{help}; {or}"),
            Some(_) | None => help,
        });
        let message = format!("unknown value `{}` of `{}`", shortened(&text.value), field.name);
        self.report(Diagnostic::new(&S04, field.value.span, message).help_if(help).fix_if(fix));
        None
    }

    /// Reports a value of the wrong kind: what was to be there, and what is.
    fn wrong(&mut self, node: &Node, takes: &str, help: Option<String>) {
        self.wrong_with_fix(node, takes, help, None);
    }

    /// Reports a value of the wrong kind, with the edit that mends it.
    fn wrong_with_fix(&mut self, node: &Node, takes: &str, help: Option<String>, fix: Option<Fix>) {
        if matches!(&node.kind, NodeKind::Scalar(scalar) if scalar.style == ScalarForm::Broken) {
            return;
        }
        let message = format!("{takes}, and this is {}", describe(node));
        self.report(
            Diagnostic::new(&S04, node.span.first_line(self.source), message).help_if(help).fix_if(fix),
        );
    }

    /// The edit that writes `new` without quotes in the place of a scalar.
    fn unquoted(&self, node: &Node, new: &str) -> Option<Fix> {
        let NodeKind::Scalar(scalar) = &node.kind else { return None };
        let written = self.source.get(node.span.range())?;
        let stands_there = written.trim_matches(['"', '\'']) == scalar.text.value;
        stands_there.then(|| Fix::replace(format!("write `{new}`"), node.span, new))
    }

    /// Words that are text here and truth values to older readers of YAML.
    fn warn_of_yaml_traps(&mut self, scalar: &Scalar) {
        let text = &scalar.text.value;
        if scalar.style == ScalarForm::Plain && meant_boolean(text).is_some() {
            let message = format!("`{text}` is text here, and a truth value to readers of YAML 1.1");
            let fix = self.rewritten(scalar.text.span, text, &format!("\"{text}\""));
            self.report(Diagnostic::new(&S07, scalar.text.span, message).help(in_quotes(scalar)).fix_if(fix));
        }
    }

    fn help_for_list(&self, field: &Field<'_>) -> String {
        let name = field.name;
        match (self.format, &field.value.kind) {
            (Format::Yaml, _) => format!("write `{name}:` and under it one `- ` for each item"),
            (Format::Toml, NodeKind::Mapping(_)) => format!("write `[[{name}]]` above each item"),
            (Format::Toml, NodeKind::Scalar(_) | NodeKind::Sequence(_)) => {
                format!("write `{name} = [\"…\"]`, with commas between the items")
            }
        }
    }

    fn help_for_nothing(&self, field: &Field<'_>) -> String {
        let rest = self.source[field.key.end as usize..].lines().next().unwrap_or_default();
        match rest.trim_start().strip_prefix(':').map(str::trim) {
            Some(comment) if comment.starts_with("# ") || comment.starts_with("##") => {
                format!("`#` begins a comment; write `{}: \"{comment}\"`", field.name)
            }
            Some(_) | None => format!("write a value, or delete `{}`", field.name),
        }
    }
}

impl<'n> ObjectFields<'n> {
    fn fill(&mut self, slot: usize, entry: &NamedEntry<'n>) {
        let name = self.object.keys[slot].name;
        self.slots[slot] = Some(Field { name, key: entry.name.span, value: entry.value });
    }

    /// The entry of a key.
    pub fn get(&self, name: &str) -> Option<Field<'n>> {
        let slot = self.object.slot(name);
        debug_assert!(slot.is_some(), "{} has no key {name}", self.object.what);
        self.slots[slot?]
    }
}

impl<'n> Field<'n> {
    /// An item of the list that this entry's value is.
    pub fn item(&self, value: &'n Node) -> Field<'n> {
        Field { name: self.name, key: self.key, value }
    }
}

fn describe(node: &Node) -> String {
    match &node.kind {
        NodeKind::Sequence(_) => "a list".to_owned(),
        NodeKind::Mapping(_) => "a mapping".to_owned(),
        NodeKind::Scalar(scalar) if scalar.is_null() => "nothing".to_owned(),
        NodeKind::Scalar(scalar) if scalar.style == ScalarForm::Quoted => {
            format!("the text `{}`", shortened(&scalar.text.value))
        }
        NodeKind::Scalar(scalar) => format!("`{}`", shortened(&scalar.text.value)),
    }
}

/// Message about an unknown name. Findings that are about one name are about one fault.
pub fn unknown_name(kind: &str, name: &str) -> String {
    format!("unknown {kind} `{}`", shortened(name))
}

/// A word that a message can quote: one line, not too long.
pub fn shortened(word: &str) -> String {
    const MAX: usize = 60;
    let line = word.lines().next().unwrap_or_default();
    match line.char_indices().nth(MAX) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None if line.len() < word.trim_end().len() => format!("{line}…"),
        None => line.to_owned(),
    }
}

fn in_quotes(scalar: &Scalar) -> String {
    format!("put it in quotes: `\"{}\"`", shortened(&scalar.text.value))
}

fn is_boolean(scalar: &Scalar) -> bool {
    scalar.style == ScalarForm::Plain && matches!(scalar.text.value.as_str(), "true" | "false")
}

fn is_number(scalar: &Scalar) -> bool {
    scalar.style == ScalarForm::Plain && reads_as_number(&scalar.text.value)
}

/// Its value is not computed: turning it into a float would carry tables of powers into every binary with a compiler.
fn reads_as_number(text: &str) -> bool {
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = |text| str::strip_prefix(text, ['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = unsigned(text).split_once(['e', 'E']).unwrap_or((unsigned(text), "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = unsigned(exponent);
    let has_mantissa = !whole.is_empty() || !fraction.is_empty();
    has_mantissa && !exponent.is_empty() && [whole, fraction, exponent].into_iter().all(digits)
}

/// The boolean that the author probably meant by a word that is none here.
fn meant_boolean(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "true" | "yes" | "y" | "on" => Some(true),
        "false" | "no" | "n" | "off" => Some(false),
        _ => None,
    }
}

/// `PASS` of a mapping `PASS:` without a value.
fn key_without_value(node: &Node) -> Option<&str> {
    let NodeKind::Mapping(entries) = &node.kind else { return None };
    match &entries[..] {
        [(Node { kind: NodeKind::Scalar(key), .. }, Node { kind: NodeKind::Scalar(value), .. })]
            if value.is_null() =>
        {
            Some(&key.text.value)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::reads_as_number;

    #[test]
    fn numbers_are_no_words() {
        for number in ["0", "-1", "+2.5", ".5", "3.", "1e9", "-1.5E-3", "007"] {
            assert!(reads_as_number(number), "{number}");
        }
        for word in ["", ".", "-", "e5", "1e", "--1", "1.2.3", "0x1f", "1_000", "inf", "1a"] {
            assert!(!reads_as_number(word), "{word}");
        }
    }
}
