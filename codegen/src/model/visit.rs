//! A walk through the syntax tree of a file along the table of keys.

use super::keys::{Key, MapKeys, Object, Takes};
use crate::syntax::{Node, NodeKind, Scalar};

/// A part of the tree that the table describes.
#[derive(Clone, Copy)]
pub enum Visited<'n> {
    /// A mapping with known keys.
    Object {
        /// The mapping.
        node: &'n Node,
        /// Keys that it may have.
        object: &'static Object,
        /// The values of which its place takes one, where that may be another.
        others: &'static [Takes],
    },
    /// A key of such a mapping, with its description if it is known.
    Key {
        /// The key.
        node: &'n Node,
        /// Its entry in the table.
        key: Option<&'static Key>,
    },
    /// A key of a mapping whose keys are names.
    Name {
        /// The key.
        node: &'n Node,
        /// The key, as it is written.
        scalar: &'n Scalar,
        /// Their kind, and who defines them.
        keys: MapKeys,
    },
    /// A scalar, or a value of another shape than its place takes.
    Value {
        /// The value.
        node: &'n Node,
        /// The values that its place takes.
        takes: &'static Takes,
    },
}

/// A mapping in which a place stands.
#[derive(Clone, Copy)]
pub struct Ancestor<'n> {
    /// The mapping.
    pub node: &'n Node,
    /// Its keys; a mapping whose keys are names has none.
    pub object: Option<&'static Object>,
    /// The key under which the walk goes on.
    pub key: &'n str,
}

/// A visitor: gets each part in the order of the source, with the mappings in which it stands, outermost first.
pub type Visitor<'v, 'n> = dyn FnMut(&[Ancestor<'n>], Visited<'n>) + 'v;

/// Walks through the tree of a file with these keys. What the table does not describe is left out.
pub fn visit<'n>(tree: &'n Node, object: &'static Object, visitor: &mut Visitor<'_, 'n>) {
    Walk { ancestors: Vec::new(), visitor }.object(tree, object, &[]);
}

struct Walk<'v, 'w, 'n> {
    ancestors: Vec<Ancestor<'n>>,
    visitor: &'v mut Visitor<'w, 'n>,
}

impl<'n> Walk<'_, '_, 'n> {
    fn tell(&mut self, visited: Visited<'n>) {
        (self.visitor)(&self.ancestors, visited);
    }

    fn value(&mut self, node: &'n Node, takes: &'static Takes) {
        match (&node.kind, takes) {
            (_, Takes::OneOf(several)) => self.one_of(node, several, takes),
            (NodeKind::Sequence(items), Takes::List(inner) | Takes::OneOrList(inner)) => {
                items.iter().for_each(|it| self.value(it, inner));
            }
            (_, Takes::OneOrList(inner)) => self.value(node, inner),
            (NodeKind::Mapping(_), Takes::Object(object)) => self.object(node, object, &[]),
            (NodeKind::Mapping(_), Takes::Tagged(tag, objects)) => {
                let named = node.value_of(tag).and_then(Node::text);
                let object = objects.iter().find(|it| Some(it.what) == named).or(objects.first());
                if let Some(object) = object {
                    self.object(node, object, &[]);
                }
            }
            (NodeKind::Mapping(entries), Takes::Map(keys, inner)) => self.map(node, entries, *keys, inner),
            _ => self.tell(Visited::Value { node, takes }),
        }
    }

    fn one_of(&mut self, node: &'n Node, several: &'static [Takes], takes: &'static Takes) {
        let NodeKind::Mapping(entries) = &node.kind else {
            let is_list = matches!(node.kind, NodeKind::Sequence(_));
            return match several.iter().find(|it| it.is_list() == is_list && !it.is_mapping()) {
                Some(meant) => self.value(node, meant),
                None => self.tell(Visited::Value { node, takes }),
            };
        };
        let known = |object: &Object| entries.iter().filter_map(|(key, _)| object.slot(key.text()?)).count();
        let objects = several.iter().filter_map(|it| {
            let Takes::Object(object) = it else { return None };
            Some(*object)
        });
        // The first of those with the most keys.
        let meant = objects.rev().max_by_key(|it| known(it));
        match meant {
            Some(object) => self.object(node, object, several),
            None => self.tell(Visited::Value { node, takes }),
        }
    }

    fn object(&mut self, node: &'n Node, object: &'static Object, others: &'static [Takes]) {
        let NodeKind::Mapping(entries) = &node.kind else { return };
        self.tell(Visited::Object { node, object, others });
        for (key_node, value) in entries {
            let Some(name) = key_node.text() else { continue };
            let key = object.slot(name).map(|slot| &object.keys[slot]);
            self.tell(Visited::Key { node: key_node, key });
            if let Some(key) = key {
                self.ancestors.push(Ancestor { node, object: Some(object), key: name });
                self.value(value, &key.takes);
                self.ancestors.pop();
            }
        }
    }

    fn map(&mut self, node: &'n Node, entries: &'n [(Node, Node)], keys: MapKeys, inner: &'static Takes) {
        for (key_node, value) in entries {
            let NodeKind::Scalar(scalar) = &key_node.kind else { continue };
            self.tell(Visited::Name { node: key_node, scalar, keys });
            self.ancestors.push(Ancestor { node, object: None, key: &scalar.text.value });
            self.value(value, inner);
            self.ancestors.pop();
        }
    }
}
