//! The words of the table of keys: objects, their keys, and the values that these take.

/// A mapping with known keys.
#[derive(Debug)]
pub struct Object {
    /// Its name in messages, with an article: `a transition`.
    pub what: &'static str,
    /// Its keys, in the order that people write them in.
    pub keys: &'static [Key],
}

impl Object {
    /// The object and every object within it, as often as it may stand there.
    pub fn with_inner(&'static self) -> Vec<&'static Self> {
        let mut all = vec![self];
        self.keys.iter().for_each(|key| key.takes.add_objects(&mut all));
        all
    }

    /// The number of the key with this name.
    pub fn slot(&self, name: &str) -> Option<usize> {
        self.keys.iter().position(|key| key.name == name)
    }
}

/// One key of an object.
#[derive(Debug)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// True if it must be there.
    pub required: bool,
    /// The values that it takes.
    pub takes: Takes,
    /// Its meaning, in one sentence.
    pub doc: &'static str,
}

/// The values that a key takes.
#[derive(Debug)]
pub enum Takes {
    /// Any text.
    Text,
    /// `true` or `false`.
    Boolean,
    /// A whole number that fits 32 bits, at least this.
    Integer(u32),
    /// One of these words.
    Word(&'static [&'static str]),
    /// The name of something that the workflow defines.
    Name(NameKind),
    /// One of these words, or the name of something that the workflow defines.
    NameOr(NameKind, &'static [&'static str]),
    /// A new name, which the workflow defines here.
    NewName(NameKind),
    /// A `when` clause.
    Guard,
    /// A condition of a step: `review.result == 'PASS'`.
    Condition,
    /// The name of a list that a step reports or a mission is started with: `plan.parts`, `inputs.names`.
    ListName,
    /// A section heading: `## Review`.
    Heading,
    /// A text for the readers of these, with placeholders.
    Prompt(PromptKind),
    /// A whole number with its unit, seconds, minutes, hours or days: `90s`.
    Duration,
    /// Any scalar, taken as text.
    Scalar,
    /// An object.
    Object(&'static Object),
    /// One of these objects; the value of this key says which.
    Tagged(&'static str, &'static [Object]),
    /// A list of these.
    List(&'static Takes),
    /// One of these, or a list of them.
    OneOrList(&'static Takes),
    /// One of these; no two of them have the same shape, which is a text, a list, or an object with a key that it must have.
    OneOf(&'static [Takes]),
    /// A mapping from names to these.
    Map(MapKeys, &'static Takes),
}

/// The keys of a mapping whose keys are names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapKeys {
    /// The mapping defines them.
    New(NameKind),
    /// The workflow defines them elsewhere.
    Known(NameKind),
}

/// The readers of a text with placeholders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptKind {
    /// The agent of a task: `{summary}`.
    Task,
    /// The agent of a step: `{{context}}`.
    Step,
    /// A worker or a person, by the message of a hook.
    Message,
}

impl Takes {
    /// True if it takes lists only.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self, Takes::List(_))
    }

    /// True if it takes mappings only.
    pub(crate) fn is_mapping(&self) -> bool {
        matches!(self, Takes::Object(_) | Takes::Tagged(..) | Takes::Map(..))
    }

    /// True if a scalar is one of its values.
    pub fn takes_scalar(&self) -> bool {
        if let Takes::OneOf(several) = self {
            several.iter().any(Takes::takes_scalar)
        } else if let Takes::OneOrList(inner) = self {
            inner.takes_scalar()
        } else {
            !self.is_list() && !self.is_mapping()
        }
    }

    fn add_objects(&'static self, all: &mut Vec<&'static Object>) {
        match self {
            Takes::Object(object) => all.extend(object.with_inner()),
            Takes::Tagged(_, objects) => objects.iter().for_each(|it| all.extend(it.with_inner())),
            Takes::List(inner) | Takes::OneOrList(inner) | Takes::Map(_, inner) => inner.add_objects(all),
            Takes::OneOf(several) => several.iter().for_each(|it| it.add_objects(all)),
            Takes::Text
            | Takes::Boolean
            | Takes::Integer(_)
            | Takes::Word(_)
            | Takes::Name(_)
            | Takes::NameOr(..)
            | Takes::NewName(_)
            | Takes::Guard
            | Takes::Condition
            | Takes::ListName
            | Takes::Heading
            | Takes::Prompt(_)
            | Takes::Duration
            | Takes::Scalar => {}
        }
    }
}

/// The kinds of names in workflows and scenarios.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameKind {
    /// `name`
    Workflows,
    /// `states`
    States,
    /// `prompts`
    Prompts,
    /// `gates`
    Gates,
    /// `review_round`, `crash_count` and `fields`
    Counters,
    /// `steps`
    Steps,
    /// Those of the task, and those that are installed where the workflow runs.
    Harnesses,
    /// `actors`
    Actors,
    /// The names of reviewers, where hooks start several.
    Reviewers,
    /// The headings that gates read.
    Sections,
    /// The `roles` of steps.
    Roles,
    /// The `verdicts` of a section.
    Verdicts,
    /// The `results` of a step.
    Results,
    /// The `inputs` of a step workflow.
    Inputs,
    /// The `outputs` of a step.
    Outputs,
    /// Actions of hooks.
    Actions,
    /// Values of a task or of a step, for which a prompt has placeholders.
    Values,
    /// Files in the folder of the workflow.
    Files,
}

/// A key that may be left out.
pub const fn key(name: &'static str, takes: Takes, doc: &'static str) -> Key {
    Key { name, required: false, takes, doc }
}

/// A key that must be there.
pub const fn required(name: &'static str, takes: Takes, doc: &'static str) -> Key {
    Key { name, required: true, takes, doc }
}
