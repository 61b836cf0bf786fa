//! The actors that a workflow declares, and lists of actors.

use super::decoder::{Decoder, Field, shortened};
use super::header::is_name;
use super::scope::Scope;
use super::{Actor, ActorId, Actors, MAX_ACTORS, Workflow};
use crate::catalogue::S04;
use crate::diag::Diagnostic;
use crate::span::Spanned;
use crate::syntax::limits::exceeded;

impl Workflow {
    /// The name of an actor.
    pub fn actor_name(&self, actor: Actor) -> &str {
        match actor {
            Actor::Worker | Actor::Reviewer | Actor::Human | Actor::Engine => actor.kind(),
            Actor::Declared(ActorId(id)) => &self.actors[usize::from(id)].value,
        }
    }
}

/// The actors that `actors` declares.
pub(super) fn declared(decoder: &mut Decoder<'_>, field: &Field<'_>) -> Vec<Spanned<String>> {
    let mut names: Vec<Spanned<String>> = Vec::new();
    for item in decoder.list(field) {
        let Some(name) = decoder.string(&field.item(item)) else { continue };
        let refused = |message: String, help: &str| Diagnostic::new(&S04, name.span, message).help(help);
        let found = if Actor::built_in(&name.value).is_some() {
            refused(format!("the actor `{}` is always there", name.value), "delete it from `actors`")
        } else if !is_name(&name.value) {
            let help = "a small letter first, then small letters, digits and `-`: `ci`";
            refused(format!("`{}` is not a name for an actor", shortened(&name.value)), help)
        } else if let Some(first) = names.iter().find(|it| it.value == name.value) {
            refused(format!("`{}` stands here a second time", name.value), "delete one of the two")
                .label(first.span, "the first one")
                .label(name.span, "the second one")
        } else {
            names.push(name);
            continue;
        };
        decoder.report(found);
    }
    if names.len() > MAX_ACTORS {
        decoder.report(exceeded("actors", MAX_ACTORS, field.key));
        names.truncate(MAX_ACTORS);
    }
    names
}

/// The actors that `by` or `written_by` names: some of these built-in ones, and declared ones.
pub(super) fn actors(
    decoder: &mut Decoder<'_>,
    scope: &Scope<'_>,
    field: &Field<'_>,
    built_in: &[Actor],
) -> Actors {
    let built_in = built_in.iter().map(|actor| (actor.kind(), *actor));
    let declared = scope.actors.iter().map(|it| it.value.as_str());
    let declared = declared.zip((0..).map(|id| Actor::Declared(ActorId(id))));
    let words: Vec<_> = built_in.chain(declared).collect();
    let fields = decoder.one_or_list(field);
    if fields.is_empty() {
        let found = Diagnostic::new(&S04, field.value.span, format!("`{}` names nobody", field.name));
        let all = "leave `by` out for anyone, or write `by: [engine]` for the engine alone";
        let help = if field.name == "by" { all } else { "name who writes it: `written_by: reviewer`" };
        decoder.report(found.help(help));
    }
    let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
    if let Some(help) = decoder.writer().words_instead(field.name, field.value, &known) {
        let message = format!("`{}` takes a word, or a list of words", field.name);
        decoder.report(Diagnostic::new(&S04, field.value.span, message).help(help));
        return Actors::NONE;
    }
    let declare = |word: &str| is_name(word).then(|| format!("or declare it: `actors: [{word}]`"));
    let named = fields.iter().filter_map(|it| decoder.word_or(it, &words, declare));
    named.fold(Actors::NONE, |all, actor| all.with(actor.value))
}
