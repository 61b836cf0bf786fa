//! Reading files of scenarios, as far as those of state machines and of step workflows are alike.

use orange_codegen::catalogue::{S04, S09};
use orange_codegen::diag::Diagnostic;
use orange_codegen::model::decoder::{Decoder, Field, ObjectFields};
use orange_codegen::model::keys::{Key, NameKind, Takes, key};
use orange_codegen::source::Source;
use orange_codegen::span::{Span, Spanned};
use orange_codegen::syntax::{self, Node};

/// The key that names the workflow of a file.
pub(crate) const WORKFLOW: Key = key(
    "workflow",
    Takes::Name(NameKind::Files),
    "The workflow's file; by default the one of the same stem.",
);

/// Reads a file, and everything that is wrong with it.
pub(crate) fn read<T>(
    source: &Source,
    file: impl FnOnce(&mut Decoder<'_>, &Node) -> Option<T>,
) -> (Option<T>, Vec<Diagnostic>) {
    let (tree, mut found) = syntax::parse(source);
    let Some(tree) = tree else {
        if found.is_empty() {
            let help = "write `scenarios:` and under it one `- name: …` for each";
            found.push(Diagnostic::new(&S09, Span::at(0), "this file is empty").help(help));
        }
        return (None, found);
    };
    let mut decoder = Decoder::new(source);
    let scenarios = file(&mut decoder, &tree);
    found.extend(decoder.finish());
    (scenarios.filter(|_| found.iter().all(|it| it.level > orange_codegen::Level::Error)), found)
}

/// The items of the list under a key, as far as they can be read.
pub(crate) fn items<T>(
    decoder: &mut Decoder<'_>,
    fields: &ObjectFields<'_>,
    key: &str,
    read: impl Fn(&mut Decoder<'_>, &Node) -> Option<T>,
) -> Vec<T> {
    let Some(field) = fields.get(key) else { return Vec::new() };
    let items: Vec<&Node> = decoder.list(&field).iter().collect();
    items.into_iter().filter_map(|it| read(decoder, it)).collect()
}

/// The entries of the mapping under a key, as far as they can be read.
pub(crate) fn entries<T>(
    decoder: &mut Decoder<'_>,
    fields: &ObjectFields<'_>,
    key: &str,
    read: impl Fn(&mut Decoder<'_>, &Field<'_>) -> Option<Spanned<T>>,
) -> Vec<(Spanned<String>, Spanned<T>)> {
    let Some(field) = fields.get(key) else { return Vec::new() };
    let entries = decoder.names(&field).into_iter();
    let read = entries.filter_map(|entry| {
        let value = Field { name: entry.name.value, key: entry.name.span, value: entry.value };
        Some((entry.name.map(str::to_owned), read(decoder, &value)?))
    });
    read.collect()
}

/// The one of these acts that a step names. Steps that name none, or several, are errors with these messages.
pub(crate) fn one_act<'n>(
    decoder: &mut Decoder<'_>,
    fields: &ObjectFields<'n>,
    acts: &[&str],
    [none, several]: [&str; 2],
) -> Option<Field<'n>> {
    let mut said = acts.iter().filter_map(|name| fields.get(name));
    let message = match (said.next(), said.next()) {
        (Some(one), None) => return Some(one),
        (None, _) => none,
        (Some(_), Some(_)) => several,
    };
    let [others @ .., last] = acts else { return None };
    let help = format!("write exactly one of `{}` and `{last}`", others.join("`, `"));
    decoder.report(Diagnostic::new(&S04, fields.span, message).help(help));
    None
}

/// Reports each of these keys that stands beside another act than its own.
pub(crate) fn only_beside(
    decoder: &mut Decoder<'_>,
    fields: &ObjectFields<'_>,
    act: &Field<'_>,
    keys: &[(&str, &[&str])],
) {
    for (key, with) in keys {
        if let Some(field) = fields.get(key).filter(|_| !with.contains(&act.name)) {
            let message = format!("`{key}` says nothing without `{}`", with.join("` or `"));
            decoder.report(Diagnostic::new(&S04, field.key, message).help(format!("delete `{key}`")));
        }
    }
}

/// True if the step says that this is done. `false` is an error: an act that is not done is not a step.
pub(crate) fn is_done(decoder: &mut Decoder<'_>, act: &Field<'_>) -> bool {
    let is_done = decoder.boolean(act);
    if is_done == Some(false) {
        let message = format!("`{}: false` does nothing", act.name);
        let help = "write `true`, or delete the step";
        decoder.report(Diagnostic::new(&S04, act.value.span, message).help(help));
    }
    is_done == Some(true)
}
