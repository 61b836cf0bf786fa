//! Sorts the keys of a file into the order of the language's key tables.

use orange_codegen::model::keys::{Key, Object, STEP_WORKFLOW, Takes, WORKFLOW};
use orange_codegen::syntax::layout::{WrittenForm, WrittenNode};

use super::attach::{Collection, CollectionItem, CommentLine, Value};

/// Sorts the keys of a whole file, and marks its guards. A file with anchors is not sorted: an alias must come after its anchor.
pub(super) fn order(root: &mut Collection<'_>) {
    let sort = !has_anchors(root);
    let header = take_header(root);
    let has = |wanted: &str| root.pieces.iter().any(|it| name(it) == Some(wanted));
    let is_steps = (has("steps") || has("workflow")) && !has("states") && !has("transitions");
    object(root, if is_steps { &STEP_WORKFLOW } else { &WORKFLOW }, sort);
    put_header(root, header);
    comments_before_dashes(root);
}

/// The head of a file: its first comments, and true if a blank line is below them.
type LeadingComments<'t> = (Vec<CommentLine<'t>>, bool);

fn take_header<'t>(root: &mut Collection<'t>) -> LeadingComments<'t> {
    root.pieces.first_mut().map(|it| (std::mem::take(&mut it.leading), it.apart)).unwrap_or_default()
}

/// Puts the head back before the first key, which can be another one after sorting.
fn put_header<'t>(root: &mut Collection<'t>, (mut header, apart): LeadingComments<'t>) {
    let Some(first) = root.pieces.first_mut() else { return };
    if first.leading.is_empty() {
        first.apart = apart;
    }
    header.append(&mut first.leading);
    first.leading = header;
}

/// Moves the comments above the first entry of a list item to above its dash: that entry is on the line of the dash.
fn comments_before_dashes(collection: &mut Collection<'_>) {
    for piece in &mut collection.pieces {
        let Value::Collection(inner) = &mut piece.value else { continue };
        comments_before_dashes(inner);
        if let (None, Some(first)) = (piece.key, inner.pieces.first_mut()) {
            piece.leading.append(&mut first.leading);
        }
    }
}

fn object(mapping: &mut Collection<'_>, object: &'static Object, sort: bool) {
    let slot = |piece: &CollectionItem<'_>| object.keys.iter().position(|key| Some(key.name) == name(piece));
    if sort {
        mapping.pieces.sort_by_key(|piece| slot(piece).unwrap_or(object.keys.len()));
    }
    for piece in &mut mapping.pieces {
        if let Some(Key { takes, .. }) = slot(piece).map(|it| &object.keys[it]) {
            value(&mut piece.value, takes, sort);
        }
    }
}

fn value(it: &mut Value<'_>, takes: &'static Takes, sort: bool) {
    match (it, takes) {
        (Value::Leaf { is_guard, .. }, Takes::Guard) => *is_guard = true,
        (Value::Collection(it), Takes::Object(inner)) if it.is_mapping => object(it, inner, sort),
        (Value::Collection(it), Takes::Tagged(tag, objects)) if it.is_mapping => {
            let named = it.pieces.iter().find(|it| name(it) == Some(tag)).and_then(|it| leaf(&it.value));
            if let Some(inner) = objects.iter().find(|it| Some(it.what) == named) {
                object(it, inner, sort);
            }
        }
        (Value::Collection(it), Takes::List(inner) | Takes::OneOrList(inner)) if !it.is_mapping => {
            it.pieces.iter_mut().for_each(|it| value(&mut it.value, inner, sort));
        }
        (it @ Value::Collection(_), Takes::OneOf(several)) => {
            if let Some(meant) = several.iter().find(|takes| has_shape(it, takes)) {
                value(it, meant, sort);
            }
        }
        (Value::Collection(it), Takes::Map(_, inner)) if it.is_mapping => {
            it.pieces.iter_mut().for_each(|it| value(&mut it.value, inner, sort));
        }
        (Value::Leaf { .. } | Value::Collection(_), _) => {}
    }
}

/// True if the value has the shape of `takes`: a list, or a mapping with every required key of an object.
fn has_shape(it: &Value<'_>, takes: &Takes) -> bool {
    let Value::Collection(it) = it else { return false };
    if let Takes::Object(object) = takes {
        let mut required = object.keys.iter().filter(|key| key.required);
        it.is_mapping && required.all(|key| it.pieces.iter().any(|it| name(it) == Some(key.name)))
    } else {
        matches!(takes, Takes::List(_)) && !it.is_mapping
    }
}

fn name<'p>(piece: &CollectionItem<'p>) -> Option<&'p str> {
    piece.key.and_then(scalar)
}

fn leaf<'p>(value: &Value<'p>) -> Option<&'p str> {
    match value {
        Value::Leaf { written, .. } => scalar(written),
        Value::Collection(_) => None,
    }
}

fn scalar(written: &WrittenNode) -> Option<&str> {
    match &written.form {
        WrittenForm::Scalar { text, .. } => Some(text),
        WrittenForm::Nothing
        | WrittenForm::Alias
        | WrittenForm::Block { .. }
        | WrittenForm::Sequence { .. }
        | WrittenForm::Mapping { .. } => None,
    }
}

fn has_anchors(collection: &Collection<'_>) -> bool {
    collection.pieces.iter().any(|it| {
        let inside = match &it.value {
            Value::Leaf { .. } => false,
            Value::Collection(inner) => has_anchors(inner),
        };
        it.anchor.is_some() || it.key.is_some_and(|key| key.anchor.is_some()) || inside
    })
}
