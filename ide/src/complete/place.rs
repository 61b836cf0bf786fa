//! The place at which the tree has the word of the cursor.

use orange_codegen::model::keys::{MapKeys, Object, Takes};
use orange_codegen::model::visit::{Ancestor, Visited, visit};
use orange_codegen::syntax::{Node, NodeKind, Text};

use super::CURSOR;

/// A place of the cursor in the tree.
pub(super) struct Found<'n> {
    /// The mappings in which it stands, outermost first.
    pub(super) ancestors: Vec<Ancestor<'n>>,
    /// Words that can stand there.
    pub(super) wanted: Wanted<'n>,
}

/// Words that can stand at the cursor.
pub(super) enum Wanted<'n> {
    /// A key of one of these objects; these are there.
    Key { objects: Vec<&'static Object>, present: Vec<&'n str> },
    /// A name that is defined elsewhere, as the key of a mapping.
    Name { keys: MapKeys, present: Vec<&'n str> },
    /// A value, in a text.
    Value { takes: &'static Takes, text: &'n Text },
}

/// The place of the word of the cursor.
pub(super) fn find<'n>(tree: &'n Node, keys: &'static Object) -> Option<Found<'n>> {
    let mut found = None;
    // By their depths: the mappings in which the walk is, and what each can be.
    let mut around: Vec<Option<(&'n Node, Vec<&'static Object>)>> = Vec::new();
    visit(tree, keys, &mut |ancestors, visited| {
        let wanted = match visited {
            Visited::Object { node, object, others } => {
                let is_bare = present(node).iter().all(|it| object.slot(it).is_none());
                let all = others.iter().filter_map(object_of);
                let objects = if is_bare && !others.is_empty() { all.collect() } else { vec![object] };
                around.resize(ancestors.len(), None);
                around.push(Some((node, objects)));
                return;
            }
            Visited::Key { node, .. } if is_cursor(node) => match around.get(ancestors.len()) {
                Some(Some((object, objects))) => {
                    Wanted::Key { objects: objects.clone(), present: present(object) }
                }
                Some(None) | None => return,
            },
            Visited::Name { node, keys, .. } if is_cursor(node) => {
                let around = ancestors.last().and_then(|it| it.node.value_of(it.key));
                let mapping = around.and_then(|it| mapping_with(it, node));
                Wanted::Name { keys, present: mapping.map(present).unwrap_or_default() }
            }
            Visited::Value { node, takes } if is_cursor(node) => match objects(takes) {
                objects if !objects.is_empty() && !takes.takes_scalar() => {
                    Wanted::Key { objects, present: Vec::new() }
                }
                _ => match &node.kind {
                    NodeKind::Scalar(scalar) => Wanted::Value { takes, text: &scalar.text },
                    NodeKind::Sequence(_) | NodeKind::Mapping(_) => return,
                },
            },
            Visited::Key { .. } | Visited::Name { .. } | Visited::Value { .. } => return,
        };
        found.get_or_insert_with(|| Found { ancestors: ancestors.to_vec(), wanted });
    });
    found
}

fn is_cursor(node: &Node) -> bool {
    node.text().is_some_and(|it| it.contains(CURSOR))
}

/// The innermost mapping in which this is a key.
fn mapping_with<'n>(around: &'n Node, key: &Node) -> Option<&'n Node> {
    match &around.kind {
        NodeKind::Mapping(entries) if entries.iter().any(|(it, _)| it.span == key.span) => Some(around),
        NodeKind::Mapping(entries) => entries.iter().find_map(|(_, it)| mapping_with(it, key)),
        NodeKind::Sequence(items) => items.iter().find_map(|it| mapping_with(it, key)),
        NodeKind::Scalar(_) => None,
    }
}

fn present(node: &Node) -> Vec<&str> {
    let NodeKind::Mapping(entries) = &node.kind else { return Vec::new() };
    entries.iter().filter_map(|(key, _)| key.text()).filter(|it| !it.contains(CURSOR)).collect()
}

fn object_of(takes: &'static Takes) -> Option<&'static Object> {
    if let Takes::Object(object) = takes { Some(object) } else { None }
}

/// The objects that can stand in the place of a scalar.
fn objects(takes: &'static Takes) -> Vec<&'static Object> {
    if let Takes::OneOf(several) = takes {
        several.iter().filter_map(object_of).collect()
    } else if let Takes::List(inner) | Takes::OneOrList(inner) = takes {
        objects(inner)
    } else if let Takes::Tagged(_, objects) = takes {
        objects.first().into_iter().collect()
    } else {
        object_of(takes).into_iter().collect()
    }
}
