//! The names that a workflow defines, and how a reference finds its own.

use std::collections::HashMap;

use super::decoder::{Decoder, Field, shortened};
use super::verdicts::SectionVerdicts;
use super::{Counter, CounterId, NamedGate, PromptId, StateId};
use crate::catalogue::{A12, Check, S04};
use crate::diag::Diagnostic;
use crate::guard::{Guard, parse};
use crate::span::{Span, Spanned};
use crate::suggest;

/// Everything that can be referred to by name.
#[derive(Default)]
pub(crate) struct Scope<'n> {
    pub(crate) states: NameTable<'n>,
    pub(crate) prompts: NameTable<'n>,
    pub(crate) gate_names: NameTable<'n>,
    /// By number of their names.
    pub(crate) gates: Vec<NamedGate>,
    pub(crate) verdicts: SectionVerdicts,
    pub(crate) counters: Vec<Counter>,
    /// The actors that it declares.
    pub(crate) actors: Vec<Spanned<String>>,
    counter_ids: HashMap<String, CounterId>,
}

/// Names in source order, and their numbers.
#[derive(Default)]
pub(crate) struct NameTable<'n> {
    names: Vec<Spanned<&'n str>>,
    ids: HashMap<&'n str, u16>,
}

impl<'n> NameTable<'n> {
    /// Adds a name; it must be new. Limits keep the number below 65 536.
    pub(crate) fn add(&mut self, name: Spanned<&'n str>) {
        self.ids.insert(name.value, self.names.len() as u16);
        self.names.push(name);
    }

    pub(crate) fn id(&self, name: &str) -> Option<u16> {
        self.ids.get(name).copied()
    }

    /// Place of the name, if there is one.
    pub(crate) fn span(&self, name: &str) -> Option<Span> {
        self.id(name).map(|id| self.names[usize::from(id)].span)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'n str> + Clone {
        self.names.iter().map(|it| it.value)
    }

    pub(crate) fn name(&self, id: u16) -> &'n str {
        self.names[usize::from(id)].value
    }
}

impl Scope<'_> {
    pub(crate) fn add_counter(&mut self, counter: Counter) {
        self.counter_ids.insert(counter.name.clone(), CounterId(self.counters.len() as u16));
        self.counters.push(counter);
    }

    pub(crate) fn counter(&self, name: &str) -> Option<CounterId> {
        self.counter_ids.get(name).copied()
    }

    pub(crate) fn counter_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.counters.iter().map(|it| it.name.as_str())
    }

    /// The state that a value names; `check` says what an unknown one is called here.
    pub(crate) fn state(
        &self,
        decoder: &mut Decoder<'_>,
        field: &Field<'_>,
        check: &'static Check,
    ) -> Option<Spanned<StateId>> {
        let name = Spanned::new(decoder.text(field)?.value.as_str(), field.value.span);
        let id = self.states.id(name.value);
        // Without any state, that is what is wrong, and it has been said.
        if id.is_none() && self.states.names().next().is_some() {
            decoder.unknown(check, ("state", "states"), &name, self.states.names());
        }
        id.map(|id| Spanned::new(StateId(id), name.span))
    }

    /// A state that a key other than those of transitions and exit rules names.
    pub(crate) fn some_state(
        &self,
        decoder: &mut Decoder<'_>,
        field: &Field<'_>,
    ) -> Option<Spanned<StateId>> {
        self.state(decoder, field, &A12)
    }

    /// The prompt that a value names.
    pub(crate) fn prompt(
        &self,
        decoder: &mut Decoder<'_>,
        field: &Field<'_>,
        check: &'static Check,
    ) -> Option<Spanned<PromptId>> {
        let name = Spanned::new(decoder.text(field)?.value.as_str(), field.value.span);
        let id = self.prompts.id(name.value);
        match id {
            Some(_) => {}
            None if self.prompts.names().next().is_none() => {
                let message = format!("unknown prompt `{0}`: there are none", shortened(name.value));
                let help = format!("write it under `prompts:` as `{0}: |`", shortened(name.value));
                decoder.report(Diagnostic::new(check, name.span, message).help(help));
            }
            None => decoder.unknown(check, ("prompt", "prompts"), &name, self.prompts.names()),
        }
        id.map(|id| Spanned::new(PromptId(id), name.span))
    }

    /// The counter that a hook names.
    pub(crate) fn counter_of(
        &self,
        decoder: &mut Decoder<'_>,
        field: &Field<'_>,
    ) -> Option<Spanned<CounterId>> {
        let name = Spanned::new(decoder.text(field)?.value.as_str(), field.value.span);
        let id = self.counter(name.value);
        if id.is_none() {
            let help = decoder.suggest(name.value, "counters", self.counter_names());
            let fix = help.as_ref().and_then(|_| decoder.respelled(&name, self.counter_names()));
            let help = with_declaration(help, name.value);
            let message = format!("unknown counter `{}`", shortened(name.value));
            decoder.report(Diagnostic::new(&S04, name.span, message).help(help).fix_if(fix));
        }
        id.map(|id| Spanned::new(id, name.span))
    }

    /// A `when` clause.
    pub(crate) fn guard(&self, decoder: &mut Decoder<'_>, field: &Field<'_>) -> Option<Guard> {
        let text = decoder.text(field)?;
        let parsed = parse::parse(text, &mut |name| {
            self.counter(name).ok_or_else(|| {
                let help = decoder.suggest(name, "counters", self.counter_names());
                let instead = help.as_ref().and_then(|_| suggest::only(name, self.counter_names()));
                let message = format!("unknown counter `{}`", shortened(name));
                let instead = instead.map(str::to_owned);
                parse::Unknown { message, help: Some(with_declaration(help, name)), instead }
            })
        });
        match parsed {
            Ok(expr) => {
                let trimmed = text.value.trim_end();
                let start = trimmed.len() - trimmed.trim_start().len();
                let clause = text.locate(start, trimmed.len());
                Some(Guard { text: trimmed[start..].to_owned(), span: field.value.span, clause, expr })
            }
            Err(faults) => {
                for fault in faults {
                    let span = text.locate(fault.range.start, fault.range.end);
                    let written = &text.value[fault.range];
                    let fix = fault.instead.and_then(|it| decoder.rewritten(span, written, &it));
                    let found = Diagnostic::new(&crate::catalogue::A08, span, fault.message);
                    decoder.report(found.help_if(fault.help).fix_if(fix));
                }
                None
            }
        }
    }
}

fn with_declaration(help: Option<String>, name: &str) -> String {
    match help {
        Some(help) if help.starts_with("did you mean") => help,
        Some(help) => format!("{help}; or declare it: `fields: {{{name}: 0}}`"),
        None => format!("declare it: `fields: {{{name}: 0}}`"),
    }
}
