//! The workflow language as a JSON Schema, written from the tables that the compiler itself reads by.

use std::collections::BTreeMap;

use orange_codegen::model::keys::{Key, Names, Object, STEP_WORKFLOW, Takes, WORKFLOW};
use serde_json::{Map, Value, json};

#[cfg(test)]
mod tests;

/// The schema of both kinds of workflow, draft 2020-12. What one file may refer to by name, it cannot say; `check` does.
pub(crate) fn schema() -> Value {
    let mut defs = Defs::default();
    let (machine, steps) = (defs.definition(&WORKFLOW, None), defs.definition(&STEP_WORKFLOW, None));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Orange workflow",
        "description": "What an agent's task may become: states and transitions, or steps.",
        "type": "object",
        "if": {
            "anyOf": [{"required": ["steps"]}, {"required": ["workflow"]}],
            "not": {"anyOf": [{"required": ["states"]}, {"required": ["transitions"]}]},
        },
        "then": steps,
        "else": machine,
        "$defs": defs.known,
    })
}

/// What is defined once and referred to by name.
#[derive(Default)]
struct Defs {
    known: BTreeMap<String, Value>,
}

impl Defs {
    /// A reference to an object, which is defined if it is not yet.
    fn object(&mut self, object: &Object) -> Value {
        let name = name(object.what);
        if !self.known.contains_key(&name) {
            // The name is taken before what is inside is defined.
            self.known.insert(name.clone(), Value::Null);
            let definition = self.definition(object, None);
            self.known.insert(name.clone(), definition);
        }
        json!({"$ref": format!("#/$defs/{name}")})
    }

    /// The keys of an object; `tag` is the one that tells it from others, with its value.
    fn definition(&mut self, object: &Object, tag: Option<(&str, &str)>) -> Value {
        let properties: Map<String, Value> = object
            .keys
            .iter()
            .map(|key| {
                let is_tag = tag.filter(|(tag, _)| *tag == key.name);
                (
                    key.name.to_owned(),
                    is_tag.map_or_else(|| self.key(key), |(_, value)| json!({"const": value})),
                )
            })
            .collect();
        let required: Vec<&str> = object.keys.iter().filter(|it| it.required).map(|it| it.name).collect();
        let mut definition =
            json!({"type": "object", "properties": properties, "additionalProperties": false});
        if !required.is_empty() {
            definition["required"] = json!(required);
        }
        definition
    }

    fn key(&mut self, key: &Key) -> Value {
        let mut value = self.value(&key.takes);
        value["description"] = json!(key.doc);
        value
    }

    fn value(&mut self, takes: &Takes) -> Value {
        match takes {
            Takes::Text => json!({"type": "string"}),
            Takes::Boolean => json!({"type": "boolean"}),
            Takes::Integer(least) => json!({"type": "integer", "minimum": least, "maximum": u32::MAX}),
            Takes::Word(words) => json!({"enum": words}),
            Takes::Name(names) => json!({"type": "string", "pattern": pattern(*names)}),
            Takes::Guard => json!({
                "type": "string",
                "pattern": r"[A-Za-z_][A-Za-z0-9_]*\s*(<|>|<=|>=|==|!=)\s*[0-9]+",
                "examples": ["review_round < 2"],
            }),
            Takes::Heading => {
                json!({"type": "string", "pattern": r"^\s*#{1,6}\s+\S", "examples": ["## Handoff"]})
            }
            Takes::Scalar => json!({"type": ["string", "number", "boolean"]}),
            Takes::Object(object) => self.object(object),
            Takes::Tagged(tag, objects) => self.tagged(tag, objects),
            Takes::List(item) => json!({"type": "array", "items": self.value(item)}),
            Takes::OneOrList(item) => {
                let item = self.value(item);
                json!({"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]})
            }
            Takes::Map(Takes::Object(object)) => {
                // Of what has a name there may be nothing more to say: `pending:`.
                let value = json!({"if": {"not": {"type": "null"}}, "then": self.object(object)});
                json!({"type": "object", "additionalProperties": value})
            }
            Takes::Map(value) => json!({"type": "object", "additionalProperties": self.value(value)}),
        }
    }

    /// One of several objects. The tag is looked at first, so that an error is about the object that is meant.
    fn tagged(&mut self, tag: &str, objects: &[Object]) -> Value {
        let cases: Vec<Value> = objects.iter().map(|object| self.case(tag, object)).collect();
        let words: Vec<&str> = objects.iter().map(|it| it.what).collect();
        json!({
            "type": "object",
            "required": [tag],
            "properties": {tag: {"enum": words}},
            "allOf": cases,
        })
    }

    fn case(&mut self, tag: &str, object: &Object) -> Value {
        let definition = self.definition(object, Some((tag, object.what)));
        self.known.insert(object.what.to_owned(), definition);
        json!({
            "if": {"properties": {tag: {"const": object.what}}, "required": [tag]},
            "then": {"$ref": format!("#/$defs/{}", object.what)},
        })
    }
}

/// What an object is called: `exit-rule` for "an exit rule".
fn name(what: &str) -> String {
    let bare = what.trim_start_matches("a ").trim_start_matches("an ");
    bare.replace('`', "").replace(' ', "-")
}

fn pattern(names: Names) -> &'static str {
    match names {
        Names::States => "^[A-Za-z][A-Za-z0-9_-]*$",
        Names::Counters => "^[a-z_][a-z0-9_]*$",
        Names::Prompts | Names::Steps => r"\S",
    }
}
