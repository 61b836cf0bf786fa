//! Gates: what sections of the body must say, which programs must succeed, and whether checks must be green.

use orange_core::{Heading, Program, Verdict};

use super::actors::actors;
use super::decoder::{self, Decoder, Field, NamedEntry, shortened};
use super::hooks::{argv, at_least_one};
use super::keys::{
    ALL_FIELDS, ALL_GATES, CHECKS_GATE, CHILDREN_GATE, COMMAND_GATE, GATE, GATE_PROGRAM, GREEN, MERGE,
    WRITERS,
};
use super::scope::Scope;
use super::verdicts::verdicts;
use super::{Gate, NamedGate, OpenChildren, RequiredFields, SectionGate, VerdictOf, Verdicts};
use crate::catalogue::{A17, S04};
use crate::diag::Diagnostic;
use crate::span::{Span, Spanned};
use crate::syntax::limits::{MAX_GATES, exceeded};
use crate::syntax::{Node, NodeKind};

/// A program that must succeed.
#[derive(Clone, Debug)]
pub struct CommandGate {
    /// Place in a transition or a rule: the whole mapping, or the name of a gate under `gates`.
    pub place: Span,
    /// The whole mapping.
    pub span: Span,
    /// The program and its arguments; at least one word.
    pub argv: Vec<String>,
    /// Seconds for its run; at least 1.
    pub timeout: u32,
    /// True if it runs on the result of the merge.
    pub on_merge: bool,
}

/// Created tasks that must be open, or none.
#[derive(Clone, Copy, Debug)]
pub struct ChildrenGate {
    /// Place in a transition or a rule: the whole mapping, or the name of a gate under `gates`.
    pub place: Span,
    /// The whole mapping.
    pub span: Span,
    /// The open tasks that it asks for.
    pub wanted: OpenChildren,
}

/// Checks that must be green.
#[derive(Clone, Copy, Debug)]
pub struct ChecksGate {
    /// Place in a transition or a rule: the whole mapping, or the name of a gate under `gates`.
    pub place: Span,
    /// The whole mapping.
    pub span: Span,
}

const WORK: [(&str, VerdictOf); 2] =
    [(VerdictOf::Patch.as_str(), VerdictOf::Patch), (VerdictOf::Commit.as_str(), VerdictOf::Commit)];

/// The gates of a transition or of an exit rule: one, the name of one, or `all` of several. Those that are not understood are left
/// out.
pub(super) fn gates(decoder: &mut Decoder<'_>, scope: &Scope<'_>, field: &Field<'_>) -> Vec<Gate> {
    if matches!(field.value.kind, NodeKind::Sequence(_)) {
        let message = format!("`{}` takes one gate, and this is a list", field.name);
        let help = decoder.writer().gates_instead(field.name, field.value);
        let help = help.unwrap_or_else(|| "name a gate, or leave the key out".to_owned());
        decoder.report(Diagnostic::new(&S04, field.key, message).help(help));
        return Vec::new();
    }
    if !has_key(field.value, "all") {
        return one(decoder, scope, field).into_iter().collect();
    }
    let Some(all) = decoder.object(field.value, &ALL_GATES).and_then(|it| it.get("all")) else {
        return Vec::new();
    };
    let items = decoder.list(&all);
    if items.is_empty() && matches!(all.value.kind, NodeKind::Sequence(_)) {
        let found = Diagnostic::new(&S04, all.value.span, "`all` names no gate");
        decoder.report(found.help(format!("name one, or delete `{}`", field.name)));
    }
    if items.len() > MAX_GATES {
        decoder.report(exceeded("gates", MAX_GATES, all.key));
    }
    let mut gates: Vec<Gate> = Vec::new();
    for item in items.iter().take(MAX_GATES) {
        let Some(gate) = one(decoder, scope, &all.item(item)) else { continue };
        match gates.iter().find_map(|it| in_vain(it, &gate)) {
            Some(found) => decoder.report(found),
            None => gates.push(gate),
        }
    }
    gates
}

/// An entry of `gates`.
pub(super) fn named(decoder: &mut Decoder<'_>, scope: &Scope<'_>, entry: &NamedEntry<'_>) -> NamedGate {
    let gate =
        mapping(decoder, scope, &Field { name: entry.name.value, key: entry.name.span, value: entry.value });
    NamedGate { name: entry.name.map(str::to_owned), gate }
}

/// A gate, or the name of one.
fn one(decoder: &mut Decoder<'_>, scope: &Scope<'_>, field: &Field<'_>) -> Option<Gate> {
    match &field.value.kind {
        NodeKind::Scalar(scalar) if !scalar.is_null() => {
            let name = Spanned::new(decoder.text(field)?.value.as_str(), field.value.span);
            let Some(known) = scope.gate_names.id(name.value) else {
                unknown(decoder, scope, &name);
                return None;
            };
            scope.gates[usize::from(known)].gate.as_ref().map(|it| it.at(name.span))
        }
        NodeKind::Scalar(_) | NodeKind::Sequence(_) | NodeKind::Mapping(_) => mapping(decoder, scope, field),
    }
}

fn mapping(decoder: &mut Decoder<'_>, scope: &Scope<'_>, field: &Field<'_>) -> Option<Gate> {
    if has_key(field.value, "all") {
        let message = "`all` stands in a `gate` or a `has_artifact`, not inside another gate";
        let found = Diagnostic::new(&S04, field.value.span, message);
        decoder.report(found.help("write all gates into one list, and under `gates` one gate for each name"));
        return None;
    }
    if has_key(field.value, "command") {
        command_gate(decoder, field).map(Gate::Command)
    } else if has_key(field.value, "checks") {
        checks_gate(decoder, field).map(Gate::Checks)
    } else if has_key(field.value, "children") {
        children_gate(decoder, field).map(Gate::Children)
    } else {
        section_gate(decoder, scope, field).map(Gate::Section)
    }
}

fn command_gate(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<CommandGate> {
    let fields = decoder.object(field.value, &COMMAND_GATE)?;
    let command = decoder.object(fields.get("command")?.value, &GATE_PROGRAM)?;
    let timeout = command.get("timeout").map(|it| at_least_one(decoder, &it));
    Some(CommandGate {
        place: fields.span,
        span: fields.span,
        argv: command.get("argv").and_then(|it| argv(decoder, &it))?,
        timeout: timeout.flatten().unwrap_or(Program::TIMEOUT),
        on_merge: command.get("on").and_then(|it| decoder.word(&it, &[(MERGE, ())])).is_some(),
    })
}

fn checks_gate(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<ChecksGate> {
    let fields = decoder.object(field.value, &CHECKS_GATE)?;
    let wanted = fields.get("checks").and_then(|it| decoder.word(&it, &[(GREEN, ())]));
    wanted.map(|_| ChecksGate { place: fields.span, span: fields.span })
}

fn children_gate(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<ChildrenGate> {
    let fields = decoder.object(field.value, &CHILDREN_GATE)?;
    let words = OpenChildren::ALL.map(|it| (it.as_str(), it));
    let wanted = fields.get("children").and_then(|it| decoder.word(&it, &words))?.value;
    Some(ChildrenGate { place: fields.span, span: fields.span, wanted })
}

fn section_gate(decoder: &mut Decoder<'_>, scope: &Scope<'_>, field: &Field<'_>) -> Option<SectionGate> {
    let fields = decoder.object(field.value, &GATE)?;
    let section = fields.get("section").and_then(|it| heading(decoder, &it));
    let heading = section.as_ref().map_or("", |it| it.value.as_str());
    let written = fields.get("verdicts").map(|it| verdicts(decoder, &it)).unwrap_or_default();
    if let Some(words) = &written.words {
        scope.verdicts.compare(decoder, heading, words);
    }
    let words = scope.verdicts.of(heading);
    let asks = fields.get("verdict").is_some() || written.words.is_some();
    let gate = SectionGate {
        place: fields.span,
        span: fields.span,
        section: section.clone().unwrap_or(Spanned::new(String::new(), fields.span)),
        required: flag(decoder, &fields, "required"),
        verdict: fields.get("verdict").and_then(|it| verdict(decoder, &it, words)),
        words: words.filter(|_| asks).map(<[String]>::to_vec).unwrap_or_default(),
        strict: flag(decoder, &fields, "strict"),
        fresh: flag(decoder, &fields, "fresh"),
        of: fields.get("of").and_then(|it| decoder.word(&it, &WORK)),
        verdicts: written.of,
        reviewer: None,
        written_by: fields.get("written_by").map(|it| actors(decoder, scope, &it, &WRITERS)),
        fields: fields
            .get("fields")
            .map_or(RequiredFields::All(Vec::new()), |it| wanted_fields(decoder, &it)),
    };
    if let Some(verdicts) = fields.get("verdicts").filter(|_| written.of.is_some() && !asks) {
        let message = "`verdicts` says whose verdict counts, and this gate asks for none";
        let help = "add `verdict: PASS` or `verdict: FAIL`, or delete `verdicts`";
        decoder.report(Diagnostic::new(&S04, verdicts.key, message).help(help));
    }
    if gate.strict && !asks {
        let at = fields.get("strict").map_or(fields.span, |it| it.key);
        let message = "`strict` says how a verdict is written, and this gate asks for none";
        decoder.report(
            Diagnostic::new(&S04, at, message)
                .help("add `verdict: PASS` or `verdict: FAIL`, or delete `strict`"),
        );
    }
    if let Some(of) = fields.get("of") {
        let found = if !asks {
            let help = "add `verdict: PASS` or `verdict: FAIL`, or delete `of`";
            Some(("`of` says of which work a verdict is, and this gate asks for none", help))
        } else if gate.fresh {
            let help = "keep `fresh` where the verdict is given, and `of` where an earlier one counts";
            Some((
                "`of` says of which work an earlier verdict may be, and `fresh` takes no earlier one",
                help,
            ))
        } else {
            None
        };
        if let Some((message, help)) = found {
            decoder.report(Diagnostic::new(&S04, of.key, message).help(help));
        }
    }
    section.is_some().then_some(gate)
}

/// A verdict: one of those of the section.
fn verdict(
    decoder: &mut Decoder<'_>,
    field: &Field<'_>,
    words: Option<&[String]>,
) -> Option<Spanned<String>> {
    let words: Vec<&str> = match words {
        Some(words) => words.iter().map(String::as_str).collect(),
        None => Verdict::BOTH.to_vec(),
    };
    let numbered: Vec<(&str, usize)> = words.iter().copied().zip(0..).collect();
    let list =
        |_: &str| Some("other verdicts of a section stand in `verdicts`: `[PASS, FAIL, DISCUSS]`".to_owned());
    let found = decoder.word_or(field, &numbered, list)?;
    Some(found.map(|it| words[it].to_owned()))
}

impl Gate {
    /// True if both gates have equal requirements.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Section(one), Self::Section(other)) => one.asks() == other.asks(),
            (Self::Command(one), Self::Command(other)) => one.argv == other.argv,
            (Self::Checks(_), Self::Checks(_)) => true,
            (Self::Children(one), Self::Children(other)) => one.wanted == other.wanted,
            (
                Self::Section(_)
                | Self::AnySection(_)
                | Self::Command(_)
                | Self::Checks(_)
                | Self::Children(_),
                _,
            ) => false,
        }
    }
}

impl SectionGate {
    fn asks(&self) -> impl PartialEq + use<'_> {
        let Self { section, required, verdict, words, strict, fresh, of, fields, .. } = self;
        let verdicts = self.verdicts.map(|it| it.value == Verdicts::All);
        let each = matches!(fields, RequiredFields::All(_));
        let names: Vec<&str> = fields.names().iter().map(|it| it.value.as_str()).collect();
        let (verdict, of) = (verdict.as_ref().map(|it| it.value.as_str()), of.map(|it| it.value));
        (section.value.as_str(), (*required, (verdict, words), verdicts, *strict, *fresh, of), (each, names))
    }
}

fn has_key(node: &Node, name: &str) -> bool {
    let is_it = |key: &Node| matches!(&key.kind, NodeKind::Scalar(scalar) if scalar.text.value == name);
    matches!(&node.kind, NodeKind::Mapping(entries) if entries.iter().any(|(key, _)| is_it(key)))
}

/// Reason for which the second of two gates of one list has no meaning: it is the first once more, or excludes it.
fn in_vain(first: &Gate, second: &Gate) -> Option<Diagnostic> {
    if first.is_same(second) {
        let found = Diagnostic::new(&S04, second.place(), "`all` has this gate twice")
            .label(first.place(), "the first time")
            .label(second.place(), "the second time");
        return Some(found.help("delete one of the two"));
    }
    let (Gate::Section(one), Gate::Section(other)) = (first, second) else { return None };
    let is_one = one.section.value == other.section.value
        && !matches!((one.verdicts, other.verdicts), (Some(_), _) | (_, Some(_)));
    let verdicts = one.verdict.as_ref().zip(other.verdict.as_ref()).filter(|_| is_one);
    let (wanted, excluded) = verdicts.filter(|(one, other)| one.value != other.value)?;
    let message = format!("`all` asks `{}` for two verdicts, and it has one", one.section.value);
    let found = Diagnostic::new(&S04, second.place(), message)
        .label(first.place(), format!("asks for {}", wanted.value))
        .label(second.place(), format!("asks for {}", excluded.value));
    Some(found.help("make two transitions or two exit rules of them"))
}

fn unknown(decoder: &mut Decoder<'_>, scope: &Scope<'_>, name: &Spanned<&str>) {
    let word = shortened(name.value);
    if Heading::parse(name.value).is_some() {
        let message = format!("`{word}` is a heading, and no name of a gate");
        let help = format!("write `{{section: \"{word}\"}}`");
        decoder.report(Diagnostic::new(&A17, name.span, message).help(help));
    } else if scope.gates.is_empty() {
        let message = format!("unknown gate `{word}`: there are none");
        let help = format!("write it under `gates:` as `{word}: {{section: …}}`");
        decoder.report(Diagnostic::new(&A17, name.span, message).help(help));
    } else {
        decoder.unknown(&A17, ("gate", "gates"), name, scope.gate_names.names());
    }
}

/// `true` only when it says so.
pub(super) fn flag(decoder: &mut Decoder<'_>, fields: &decoder::ObjectFields<'_>, name: &str) -> bool {
    fields.get(name).and_then(|it| decoder.boolean(&it)).unwrap_or(false)
}

fn heading(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<Spanned<String>> {
    let text = decoder.string(field)?.map(|it| it.trim().to_owned());
    let is_heading = Heading::parse(&text.value).is_some_and(|it| !it.text.is_empty());
    if is_heading && !text.value.contains('\n') {
        return Some(text);
    }
    let name = text.value.lines().next().unwrap_or_default().trim_matches(['#', ' ']);
    let name = if name.is_empty() { "Handoff" } else { name };
    decoder.report(
        Diagnostic::new(&S04, field.value.span, "`section` takes a heading of one line")
            .help(format!("write `section: \"## {name}\"`")),
    );
    None
}

/// `fields`: a list of which one is enough, or `all` of a list.
fn wanted_fields(decoder: &mut Decoder<'_>, field: &Field<'_>) -> RequiredFields {
    if !matches!(field.value.kind, NodeKind::Mapping(_)) {
        return RequiredFields::Any(names(decoder, field));
    }
    let all = decoder.object(field.value, &ALL_FIELDS).and_then(|it| it.get("all"));
    RequiredFields::All(all.map(|it| names(decoder, &it)).unwrap_or_default())
}

/// Names of fields: each stands before a `:` at the start of a line.
fn names(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Vec<Spanned<String>> {
    let items = decoder.list(field);
    if items.is_empty() {
        let message = format!("`{}` names no field", field.name);
        decoder.report(Diagnostic::new(&S04, field.value.span, message).help("name one, or delete `fields`"));
    }
    items.iter().filter_map(|item| name(decoder, &field.item(item))).collect()
}

fn name(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<Spanned<String>> {
    let name = decoder.string(field)?;
    let fits = !name.value.is_empty() && !name.value.contains([':', '\n']) && name.value.trim() == name.value;
    if !fits {
        let message = "a field is the word before the `:` of a line";
        decoder.report(Diagnostic::new(&S04, name.span, message).help("write it as `DONE`"));
    }
    fits.then_some(name)
}
