//! The workflow language as a JSON Schema, written from the tables that the compiler itself reads by.

mod types;

use std::collections::BTreeMap;

use orange_analysis::{plan_scenario, scenario};
use orange_codegen::model::keys::{Key, NameKind, Object, STEP_WORKFLOW, Takes, WORKFLOW};

pub(crate) use types::Schema;

use types::{Others, ValueType};

#[cfg(test)]
mod tests;

/// The schema of both kinds of workflow, draft 2020-12. What one file may refer to by name, it cannot say; `check` does.
pub(crate) fn schema() -> Schema {
    let mut defs = Defs::default();
    let (machine, steps) = (defs.definition(&WORKFLOW, None), defs.definition(&STEP_WORKFLOW, None));
    let one_of = |keys: [&str; 2]| Schema { any_of: keys.map(Schema::with).into(), ..Schema::default() };
    let has_steps = Schema { not: boxed(one_of(["states", "transitions"])), ..one_of(["steps", "workflow"]) };
    Schema {
        dialect: Some("https://json-schema.org/draft/2020-12/schema"),
        title: Some("Orange workflow"),
        description: Some("What an agent's task may become: states and transitions, or steps."),
        condition: boxed(has_steps),
        then: boxed(steps),
        otherwise: boxed(machine),
        defs: defs.known,
        ..Schema::of("object")
    }
}

/// The schema of files of scenarios, those of tasks and those of missions: the workflow says which it is, and no schema can
/// look there.
pub(crate) fn scenarios() -> Schema {
    let mut defs = Defs { acts: &scenario::ACTS, ..Defs::default() };
    let of_tasks = defs.object(&scenario::FILE);
    defs.prefix = "mission-";
    defs.acts = &plan_scenario::ACTS;
    let of_missions = defs.object(&plan_scenario::FILE);
    Schema {
        dialect: Some("https://json-schema.org/draft/2020-12/schema"),
        title: Some("Scenarios of an Orange workflow"),
        description: Some("What a workflow does with a task or a mission, step by step."),
        any_of: vec![of_tasks, of_missions],
        defs: defs.known,
        ..Schema::of("object")
    }
}

/// Schemas that are defined once and referred to by name.
#[derive(Default)]
struct Defs {
    known: BTreeMap<String, Schema>,
    /// Prefix of the names.
    prefix: &'static str,
    /// The keys of which an object that has them has exactly one.
    acts: &'static [&'static str],
}

impl Defs {
    /// A reference to an object, which is defined if it is not yet.
    fn object(&mut self, object: &Object) -> Schema {
        let name = format!("{}{}", self.prefix, name(object.what));
        if !self.known.contains_key(&name) {
            // The name is taken before what is inside is defined.
            self.known.insert(name.clone(), Schema::default());
            let definition = self.definition(object, None);
            self.known.insert(name.clone(), definition);
        }
        Schema::reference(&name)
    }

    /// The keys of an object; `tag` is the one that tells it from others, with its value.
    fn definition(&mut self, object: &Object, tag: Option<(&str, &str)>) -> Schema {
        let acts = if self.acts.iter().all(|it| object.slot(it).is_some()) { self.acts } else { &[] };
        let mut property = |key: &Key| match tag.filter(|(tag, _)| *tag == key.name) {
            Some((_, value)) => Schema { constant: Some(value.to_owned()), ..Schema::default() },
            None => Schema { description: Some(key.doc), ..self.value(&key.takes) },
        };
        let required = object.keys.iter().filter(|it| it.required).map(|it| it.name.to_owned());
        Schema {
            one_of: acts.iter().map(|it| Schema::with(it)).collect(),
            required: required.collect(),
            properties: object.keys.iter().map(|key| (key.name.to_owned(), property(key))).collect(),
            additional_properties: Some(Others::Allowed(false)),
            ..Schema::of("object")
        }
    }

    fn value(&mut self, takes: &Takes) -> Schema {
        match takes {
            Takes::Text | Takes::NewName(_) | Takes::Condition | Takes::Prompt(_) => Schema::of("string"),
            Takes::ListName => Schema {
                pattern: Some(r"^[^.]+\.[^.]+$"),
                examples: vec!["plan.parts", "inputs.names"],
                ..Schema::of("string")
            },
            Takes::Boolean => Schema::of("boolean"),
            Takes::Integer(least) => {
                Schema { minimum: Some(*least), maximum: Some(u32::MAX), ..Schema::of("integer") }
            }
            Takes::Word(words) => Schema { words: words.to_vec(), ..Schema::default() },
            Takes::NameOr(names, words) => {
                let words = Schema { words: words.to_vec(), ..Schema::default() };
                Schema { any_of: vec![words, named(*names)], ..Schema::default() }
            }
            Takes::Name(names) => named(*names),
            Takes::Guard => Schema {
                pattern: Some(r"[A-Za-z_][A-Za-z0-9_]*\s*(<|>|<=|>=|==|!=)\s*[0-9]+"),
                examples: vec!["review_round < 2"],
                ..Schema::of("string")
            },
            Takes::Heading => Schema {
                pattern: Some(r"^\s*#{1,6}\s+\S"),
                examples: vec!["## Handoff"],
                ..Schema::of("string")
            },
            Takes::Duration => Schema {
                pattern: Some("^[0-9]+[smhd]$"),
                examples: vec!["90s", "2h"],
                ..Schema::of("string")
            },
            Takes::Scalar => Schema { kind: Some(ValueType::Any(ANY_SCALAR)), ..Schema::default() },
            Takes::Object(object) => self.object(object),
            Takes::Tagged(tag, objects) => self.tagged(tag, objects),
            Takes::List(item) => Schema { items: boxed(self.value(item)), ..Schema::of("array") },
            Takes::OneOrList(item) => {
                let item = self.value(item);
                let list = Schema { items: boxed(item.clone()), min_items: Some(1), ..Schema::of("array") };
                Schema { any_of: vec![item, list], ..Schema::default() }
            }
            Takes::OneOf(several) => self.one_of(several),
            Takes::Map(_, Takes::Object(object)) => {
                // Of what has a name there may be nothing more to say: `pending:`.
                let not_null = Schema { not: boxed(Schema::of("null")), ..Schema::default() };
                let then = boxed(self.object(object));
                Schema::map(Schema { condition: boxed(not_null), then, ..Schema::default() })
            }
            Takes::Map(_, value) => Schema::map(self.value(value)),
        }
    }

    /// One of several values, by their shapes; an error is about the value that is meant.
    fn one_of(&mut self, several: &[Takes]) -> Schema {
        match several {
            [] => Schema::default(),
            [last] => self.value(last),
            [first, rest @ ..] => Schema {
                condition: boxed(shape(first)),
                then: boxed(self.value(first)),
                otherwise: boxed(self.one_of(rest)),
                ..Schema::default()
            },
        }
    }

    /// One of several objects. The tag is looked at first, so that an error is about the object that is meant.
    fn tagged(&mut self, tag: &str, objects: &[Object]) -> Schema {
        let words = objects.iter().map(|it| it.what).collect();
        Schema {
            kind: Some(ValueType::One("object")),
            properties: BTreeMap::from([(tag.to_owned(), Schema { words, ..Schema::default() })]),
            all_of: objects.iter().map(|object| self.case(tag, object)).collect(),
            ..Schema::with(tag)
        }
    }

    fn case(&mut self, tag: &str, object: &Object) -> Schema {
        let definition = self.definition(object, Some((tag, object.what)));
        self.known.insert(object.what.to_owned(), definition);
        let is_it = Schema { constant: Some(object.what.to_owned()), ..Schema::default() };
        let properties = BTreeMap::from([(tag.to_owned(), is_it)]);
        Schema {
            condition: boxed(Schema { properties, ..Schema::with(tag) }),
            then: boxed(Schema::reference(object.what)),
            ..Schema::default()
        }
    }
}

/// Shape that tells a value from others: its kind, and of an object a key that it must have.
fn shape(takes: &Takes) -> Schema {
    match takes {
        Takes::Object(object) => {
            let required = object.keys.iter().filter(|it| it.required).map(|it| it.name.to_owned());
            Schema { required: required.take(1).collect(), ..Schema::of("object") }
        }
        Takes::List(_) => Schema::of("array"),
        Takes::Tagged(..) | Takes::Map(..) => Schema::of("object"),
        Takes::Boolean => Schema::of("boolean"),
        Takes::Integer(_) => Schema::of("integer"),
        Takes::Text
        | Takes::Word(_)
        | Takes::Name(_)
        | Takes::NameOr(..)
        | Takes::NewName(_)
        | Takes::Guard
        | Takes::Condition
        | Takes::ListName
        | Takes::Heading
        | Takes::Prompt(_)
        | Takes::Duration => Schema::of("string"),
        Takes::Scalar | Takes::OneOrList(_) | Takes::OneOf(_) => Schema::default(),
    }
}

fn boxed(schema: Schema) -> Option<Box<Schema>> {
    Some(Box::new(schema))
}

/// Name of an object: `exit-rule` for "an exit rule".
fn name(what: &str) -> String {
    let bare = what.trim_start_matches("a ").trim_start_matches("an ");
    bare.replace('`', "").replace(' ', "-")
}

const ANY_SCALAR: &[&str] = &["string", "number", "boolean"];

/// A name, and the pattern of its kind. An agent may report any scalar where a step declares no results.
fn named(names: NameKind) -> Schema {
    if names == NameKind::Results {
        return Schema { kind: Some(ValueType::Any(ANY_SCALAR)), ..Schema::default() };
    }
    Schema { pattern: pattern(names), ..Schema::of("string") }
}

fn pattern(names: NameKind) -> Option<&'static str> {
    match names {
        NameKind::States | NameKind::Gates => Some("^[A-Za-z][A-Za-z0-9_-]*$"),
        NameKind::Harnesses => Some("^[A-Za-z0-9_][A-Za-z0-9_-]*$"),
        NameKind::Counters => Some("^[a-z_][a-z0-9_]*$"),
        NameKind::Actors => Some("^[a-z][a-z0-9-]*$"),
        NameKind::Prompts | NameKind::Steps => Some(r"\S"),
        NameKind::Verdicts => Some("^[A-Za-z][A-Za-z0-9]*$"),
        NameKind::Workflows
        | NameKind::Reviewers
        | NameKind::Sections
        | NameKind::Roles
        | NameKind::Results
        | NameKind::Inputs
        | NameKind::Outputs
        | NameKind::Actions
        | NameKind::Values
        | NameKind::Files => None,
    }
}
