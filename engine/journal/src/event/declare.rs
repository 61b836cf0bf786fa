//! The macros that declare words, objects and events; all code that handles them follows from the declaration.

use serde::de::{DeserializeOwned, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::{Error, Map, Value};

/// A declared type of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventType {
    /// Its name in journals.
    pub name: &'static str,
    /// The names of its fields.
    pub fields: &'static [&'static str],
    /// The lines of its documentation, which say when it is written.
    pub when: &'static [&'static str],
}

/// The members of a JSON object that are not taken yet. A member that is never taken comes from a newer version.
pub(crate) struct EventFields(Map<String, Value>);

impl EventFields {
    pub(crate) fn read<'de, D: Deserializer<'de>>(object: D) -> Result<EventFields, D::Error> {
        object.deserialize_map(UniqueObject).map(EventFields)
    }

    /// The member of this name. For one that is absent it returns `missing`, or else reads `null`.
    pub(crate) fn take<T: DeserializeOwned>(&mut self, name: &str, missing: Option<T>) -> Result<T, Error> {
        let found = self.0.remove(name);
        let is_there = found.is_some();
        match missing {
            Some(missing) if !is_there => Ok(missing),
            Some(_) | None => {
                T::deserialize(found.unwrap_or_default()).map_err(|cause| flaw(name, is_there, &cause))
            }
        }
    }
}

fn flaw(name: &str, is_there: bool, cause: &Error) -> Error {
    Error::custom(if is_there {
        format!("field `{name}`: {cause}")
    } else {
        format!("missing field `{name}`")
    })
}

/// Reads an object and refuses two members of one name.
struct UniqueObject;

impl<'de> Visitor<'de> for UniqueObject {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Map<String, Value>, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(A::Error::custom(format!("duplicate field `{name}`")));
            }
            object.insert(name, members.next_value()?);
        }
        Ok(object)
    }
}

/// Declares the words of a field. A word that is not declared is preserved.
macro_rules! words {
    ($($(#[doc = $doc:literal])* $name:ident { $($(#[doc = $means:literal])* $variant:ident = $word:literal,)* })*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            $($(#[doc = $means])* $variant,)*
            /// A word of a newer version.
            Other(String),
        }

        impl $name {
            /// Word in the journal.
            pub fn as_str(&self) -> &str {
                match self {
                    $($name::$variant => $word,)*
                    $name::Other(word) => word,
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> $name {
                match word {
                    $($word => $name::$variant,)*
                    other => $name::Other(other.to_owned()),
                }
            }
        }

        impl Default for $name {
            fn default() -> $name {
                $name::Other(String::new())
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }

        #[cfg(test)]
        impl crate::event::sample::SampleValue for $name {
            fn sample(count: &mut u32) -> $name {
                let words = [$($name::$variant,)*];
                words[(u32::sample(count) as usize) % words.len()].clone()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<$name, D::Error> {
                Ok($name::from(String::deserialize(from)?.as_str()))
            }
        }
    )*};
}

/// Takes the fields of an object one by one. A field with an attribute for serde, or of type `Option`, may be absent.
macro_rules! take {
    ($fields:ident, $field:ident : $of:ty) => {
        $fields.take::<$of>(stringify!($field), None)?
    };
    ($fields:ident, $field:ident : $of:ty, $serde:tt) => {
        $fields.take::<$of>(stringify!($field), Some(Default::default()))?
    };
}

/// Declares objects that are parts of events.
macro_rules! objects {
    ($($(#[doc = $doc:literal])* $name:ident {
        $($(#[doc = $means:literal])* $(#[serde $serde:tt])? $field:ident: $of:ty,)*
    })*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
        pub struct $name {
            $($(#[doc = $means])* $(#[serde $serde])? pub $field: $of,)*
        }

        impl $name {
            /// The names of its fields.
            pub const FIELDS: &[&str] = &[$(stringify!($field)),*];

            pub(crate) fn take(
                fields: &mut crate::event::declare::EventFields,
            ) -> Result<$name, serde_json::Error> {
                Ok($name { $($field: take!(fields, $field: $of $(, $serde)?),)* })
            }
        }

        #[cfg(test)]
        impl crate::event::sample::SampleValue for $name {
            fn sample(count: &mut u32) -> $name {
                $name { $($field: <$of>::sample(count),)* }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<$name, D::Error> {
                let mut fields = crate::event::declare::EventFields::read(from)?;
                $name::take(&mut fields).map_err(serde::de::Error::custom)
            }
        }
    )*};
}

/// Declares the events: the type, how it is written and read, and the list of types.
macro_rules! events {
    ($($(#[doc = $when:literal])* $type:literal $variant:ident
        $({ $($(#[doc = $means:literal])* $(#[serde $serde:tt])? $field:ident: $of:ty,)* })?
        $(($object:ident))?
    ,)*) => {
        /// Event of a task or mission. Readers ignore the fields and types of newer versions.
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
        #[serde(tag = "type")]
        pub enum Event {
            $(
                $(#[doc = $when])*
                #[serde(rename = $type)]
                $variant
                    $({ $($(#[doc = $means])* $(#[serde $serde])? $field: $of,)* })?
                    $(($object))?,
            )*
            /// An event of a newer version.
            #[default]
            #[serde(rename = "unknown")]
            Unknown,
        }

        impl Event {
            /// All types, in the order of declaration.
            pub const TYPES: &[EventType] = &[$(EventType {
                name: $type,
                fields: events!(@fields $({ $($field)* })? $(($object))?),
                when: &[$($when),*],
            }),*];

            pub(crate) fn take(kind: &str, fields: &mut EventFields) -> Result<Event, serde_json::Error> {
                Ok(match kind {
                    $($type => events!(@take fields, $variant
                        $({ $($field: $of $(, $serde)?;)* })?
                        $(($object))?
                    ),)*
                    _ => Event::Unknown,
                })
            }

            /// One event of each type, with no two equal values, so that a test notices swapped fields.
            #[cfg(test)]
            pub(crate) fn samples(count: &mut u32) -> Vec<Event> {
                use crate::event::sample::SampleValue;
                vec![$(Event::$variant
                    $({ $($field: <$of>::sample(count),)* })?
                    $(($object::sample(count)))?
                ),*]
            }
        }
    };
    (@fields { $($field:ident)* }) => { &[$(stringify!($field)),*] };
    (@fields ($object:ident)) => { $object::FIELDS };
    (@take $fields:ident, $variant:ident { $($field:ident: $of:ty $(, $serde:tt)?;)* }) => {
        Event::$variant { $($field: take!($fields, $field: $of $(, $serde)?),)* }
    };
    (@take $fields:ident, $variant:ident ($object:ident)) => { Event::$variant($object::take($fields)?) };
}

pub(crate) use {events, objects, take, words};
