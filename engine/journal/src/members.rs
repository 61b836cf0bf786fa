//! What a JSON object holds, taken out member by member.
//!
//! serde can read our objects from a derive; with tags and flattened rests in them, that is a reader for each, 100 KiB in all.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// The members of an object that nobody has taken yet, and what was wrong with those that somebody has.
#[derive(Default)]
pub struct Members<'a> {
    left: Vec<(Cow<'a, str>, Value)>,
    flaw: Option<String>,
}

/// What can be the value of a member. Its default stands in where there is a flaw, and goes no further.
pub trait Member: Default {
    /// The value, if it is of the right kind.
    fn of(value: Value) -> Option<Self>;
}

/// What an object can be read as.
pub trait Object: Default {
    /// Takes what it needs.
    fn take(members: &mut Members) -> Self;
}

/// Reads a whole object, for serde.
///
/// # Errors
/// What is wrong with which member.
pub fn deserialize<'de, T: Object, D: Deserializer<'de>>(object: D) -> Result<T, D::Error> {
    object.deserialize_map(Reader)?.whole().map_err(D::Error::custom)
}

impl<'a> Members<'a> {
    /// The member with this name, which has to be there.
    pub fn required<T: Member>(&mut self, name: &str) -> T {
        match self.remove(name) {
            Some(value) => self.known(name, T::of(value)),
            None => self.flawed(format!("missing field `{name}`")),
        }
    }

    /// The member with this name, or the type's default.
    pub fn optional<T: Member>(&mut self, name: &str) -> T {
        self.optional_or(name, T::default())
    }

    /// The member with this name, or this.
    pub fn optional_or<T: Member>(&mut self, name: &str, default: T) -> T {
        match self.remove(name) {
            Some(value) => self.known(name, T::of(value)),
            None => default,
        }
    }

    /// Whatever nobody has taken.
    pub fn rest(&mut self) -> Map<String, Value> {
        let mut rest = Map::new();
        for (name, value) in self.left.drain(..) {
            rest.insert(name.into_owned(), value);
        }
        rest
    }

    fn whole<T: Object>(mut self) -> Result<T, String> {
        let object = T::take(&mut self);
        self.flaw.map_or(Ok(object), Err)
    }

    fn remove(&mut self, name: &str) -> Option<Value> {
        let place = self.left.iter().position(|(it, _)| it == name)?;
        Some(self.left.swap_remove(place).1)
    }

    fn add(&mut self, name: Cow<'a, str>, value: Value) {
        if self.left.iter().any(|(it, _)| *it == name) {
            self.flawed::<()>(format!("duplicate field `{name}`"));
        }
        self.left.push((name, value));
    }

    /// Takes note of what is wrong with a value of the right kind.
    pub fn refuse(&mut self, what: String) {
        self.flawed::<()>(what);
    }

    fn known<T: Member>(&mut self, name: &str, value: Option<T>) -> T {
        value.unwrap_or_else(|| self.flawed(format!("field `{name}` is of another kind")))
    }

    fn flawed<T: Default>(&mut self, what: String) -> T {
        self.flaw.get_or_insert(what);
        T::default()
    }
}

/// The name of a member, which needs no copy where it has no escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// Reads the members of an object in their order.
struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Members<'de>, A::Error> {
        let mut members = Members::default();
        while let Some(Name(name)) = object.next_key()? {
            members.add(name, object.next_value()?);
        }
        Ok(members)
    }
}

impl<T: Object> Member for T {
    fn of(value: Value) -> Option<T> {
        let left = Map::of(value)?.into_iter().map(|(name, value)| (Cow::Owned(name), value));
        Members { left: left.collect(), flaw: None }.whole().ok()
    }
}

impl Member for Map<String, Value> {
    fn of(value: Value) -> Option<Map<String, Value>> {
        if let Value::Object(object) = value { Some(object) } else { None }
    }
}

impl Member for Value {
    fn of(value: Value) -> Option<Value> {
        Some(value)
    }
}

impl Member for bool {
    fn of(value: Value) -> Option<bool> {
        value.as_bool()
    }
}

impl Member for String {
    fn of(value: Value) -> Option<String> {
        if let Value::String(text) = value { Some(text) } else { None }
    }
}

impl Member for PathBuf {
    fn of(value: Value) -> Option<PathBuf> {
        String::of(value).map(PathBuf::from)
    }
}

impl Member for u64 {
    fn of(value: Value) -> Option<u64> {
        value.as_u64()
    }
}

impl Member for u32 {
    fn of(value: Value) -> Option<u32> {
        value.as_u64()?.try_into().ok()
    }
}

impl Member for usize {
    fn of(value: Value) -> Option<usize> {
        value.as_u64()?.try_into().ok()
    }
}

impl Member for i32 {
    fn of(value: Value) -> Option<i32> {
        value.as_i64()?.try_into().ok()
    }
}

impl<T: Member> Member for Option<T> {
    fn of(value: Value) -> Option<Option<T>> {
        if value.is_null() { Some(None) } else { T::of(value).map(Some) }
    }
}

impl<T: Member> Member for Vec<T> {
    fn of(value: Value) -> Option<Vec<T>> {
        if let Value::Array(values) = value { values.into_iter().map(T::of).collect() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq)]
    struct Pair {
        name: String,
        count: Option<u32>,
        inner: Vec<Pair>,
        rest: usize,
    }

    impl Object for Pair {
        fn take(from: &mut Members) -> Pair {
            let (name, count, inner) =
                (from.required("name"), from.optional("count"), from.optional("inner"));
            Pair { name, count, inner, rest: from.rest().len() }
        }
    }

    #[track_caller]
    fn check(text: &str, expect: Result<Pair, &str>) {
        let read = deserialize(&mut serde_json::Deserializer::from_str(text));
        assert_eq!(read.map_err(|cause: serde_json::Error| cause.to_string()), expect.map_err(str::to_owned));
    }

    #[test]
    fn objects_are_read_member_by_member() {
        let pair = |name: &str| Pair { name: name.to_owned(), ..Pair::default() };
        check(r#"{"name":"a"}"#, Ok(pair("a")));
        check(r#"{"name":"a","count":null,"x":1,"y":{}}"#, Ok(Pair { rest: 2, ..pair("a") }));
        check(r#"{"count":2,"name":"a"}"#, Ok(Pair { count: Some(2), ..pair("a") }));
        check(r#"{"name":"a","inner":[{"name":"b"}]}"#, Ok(Pair { inner: vec![pair("b")], ..pair("a") }));
    }

    #[test]
    fn the_first_flaw_is_told() {
        check(r#"{"count":true}"#, Err("missing field `name`"));
        check(r#"{"name":"a","\u006eame":"b"}"#, Err("duplicate field `name`"));
        check(r#"{"name":null}"#, Err("field `name` is of another kind"));
        check(r#"{"name":"a","count":4294967296}"#, Err("field `count` is of another kind"));
        check(r#"{"name":"a","count":-1}"#, Err("field `count` is of another kind"));
        check(r#"{"name":"a","inner":[{"name":"b"},{}]}"#, Err("field `inner` is of another kind"));
    }
}
