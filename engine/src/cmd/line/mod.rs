//! What can be typed, as one table: parsing, help, suggestions, completions and man pages all come from it.

pub mod complete;
pub mod help;
pub mod man;
pub mod parse;

pub use parse::Given;

use crate::cmd::args::Command;

/// A command, or a group of them.
#[derive(Debug)]
pub struct Spec {
    /// The word it is called by.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// What comes of it.
    pub does: Does,
    /// What it takes: words in their order, options in any.
    pub args: &'static [Arg],
    /// Command lines that work, each with a remark behind two spaces if it needs one.
    pub examples: &'static [&'static str],
    /// What else its help says, below the examples.
    pub notes: &'static str,
    /// Whether nobody is told of it: what `orange` starts by itself.
    pub hidden: bool,
}

/// What comes of a command.
#[derive(Debug)]
pub enum Does {
    /// One of these has to follow.
    Group(&'static [Spec]),
    /// What was given becomes a command.
    Command(fn(&Given) -> Command),
}

/// Something that a command takes.
#[derive(Debug)]
pub struct Arg {
    /// A word's placeholder, as `ID`; an option's name, as `status` for `--status`.
    pub name: &'static str,
    /// How it is given.
    pub shape: Shape,
    /// What its value is.
    pub takes: Takes,
    /// What it is for, in one line.
    pub help: &'static str,
    /// The value when it is not given; empty when there is none.
    pub default: &'static str,
    /// Whether it has to be given.
    pub required: bool,
    /// Whether it may be given more than once.
    pub many: bool,
}

/// How an argument is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A word in its place.
    Word,
    /// `--name`.
    Flag,
    /// `--name VALUE`, with the value's placeholder.
    Option(&'static str),
    /// `--name` or `--name VALUE`.
    Bare(&'static str),
}

/// What a value is: how it is checked, and how it is completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Anything, also what begins with `-`.
    Text,
    /// A name that nothing is known of.
    Name,
    /// A file or folder.
    Path,
    /// A whole number from the one to the other.
    Number(i64, i64),
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A task: its id, the start of it, or its branch.
    Task,
    /// A status of some workflow.
    Status,
    /// A project's name.
    Project,
    /// A workflow's name.
    Workflow,
    /// A harness's name.
    Harness,
}

/// What every command takes.
const EVERYWHERE: &[Arg] = &[
    Arg::flag("json", "Answer with one JSON value on standard output and nothing else there"),
    Arg::flag("help", "Print help"),
];

impl Spec {
    /// A group of commands.
    pub const fn group(name: &'static str, about: &'static str, commands: &'static [Spec]) -> Spec {
        Spec::new(name, about, Does::Group(commands))
    }

    /// A command, from what was given for it.
    pub const fn command(name: &'static str, about: &'static str, build: fn(&Given) -> Command) -> Spec {
        Spec::new(name, about, Does::Command(build))
    }

    const fn new(name: &'static str, about: &'static str, does: Does) -> Spec {
        Spec { name, about, does, args: &[], examples: &[], notes: "", hidden: false }
    }

    /// The same with these arguments.
    pub const fn args(mut self, args: &'static [Arg]) -> Spec {
        self.args = args;
        self
    }

    /// The same with these examples.
    pub const fn examples(mut self, examples: &'static [&'static str]) -> Spec {
        self.examples = examples;
        self
    }

    /// The same with this below its examples.
    pub const fn notes(mut self, notes: &'static str) -> Spec {
        self.notes = notes;
        self
    }

    /// The same, told to nobody.
    pub const fn hidden(mut self) -> Spec {
        self.hidden = true;
        self
    }

    /// The commands of a group.
    pub fn commands(&self) -> &'static [Spec] {
        match self.does {
            Does::Group(commands) => commands,
            Does::Command(_) => &[],
        }
    }

    /// The commands that people are told of; who asks for a group that nobody is told of is told of all of it.
    pub fn shown(&self) -> impl Iterator<Item = &'static Spec> {
        self.commands().iter().filter(|spec| !spec.hidden || self.hidden)
    }

    /// Its words, in their order.
    pub fn words(&self) -> impl Iterator<Item = &'static Arg> {
        self.args.iter().filter(|arg| !arg.is_option())
    }

    /// Its options and those that every command has.
    pub fn options(&self) -> impl Iterator<Item = &'static Arg> {
        self.args.iter().chain(EVERYWHERE).filter(|arg| arg.is_option())
    }
}

impl Arg {
    /// A word that may be left out.
    pub const fn word(name: &'static str, takes: Takes, help: &'static str) -> Arg {
        Arg { name, shape: Shape::Word, takes, help, default: "", required: false, many: false }
    }

    /// A word that has to be there.
    pub const fn needed(name: &'static str, takes: Takes, help: &'static str) -> Arg {
        Arg::word(name, takes, help).required()
    }

    /// An option without a value.
    pub const fn flag(name: &'static str, help: &'static str) -> Arg {
        Arg { shape: Shape::Flag, ..Arg::word(name, Takes::Name, help) }
    }

    /// An option with a value.
    pub const fn option(
        name: &'static str,
        placeholder: &'static str,
        takes: Takes,
        help: &'static str,
    ) -> Arg {
        Arg { shape: Shape::Option(placeholder), ..Arg::word(name, takes, help) }
    }

    /// An option that may go without its value.
    pub const fn bare(
        name: &'static str,
        placeholder: &'static str,
        takes: Takes,
        help: &'static str,
    ) -> Arg {
        Arg { shape: Shape::Bare(placeholder), ..Arg::word(name, takes, help) }
    }

    /// The same with this value when it is not given.
    pub const fn or(mut self, default: &'static str) -> Arg {
        self.default = default;
        self
    }

    /// The same, and it has to be given.
    pub const fn required(mut self) -> Arg {
        self.required = true;
        self
    }

    /// The same, as often as one likes.
    pub const fn many(mut self) -> Arg {
        self.many = true;
        self
    }

    /// Whether it begins with `--`.
    pub fn is_option(&self) -> bool {
        match self.shape {
            Shape::Word => false,
            Shape::Flag | Shape::Option(_) | Shape::Bare(_) => true,
        }
    }

    /// As it is typed: `ID`, `[ID]`, `--status S`.
    pub fn typed(&self) -> String {
        let dots = if self.many { "…" } else { "" };
        match self.shape {
            Shape::Word if self.required => format!("{}{dots}", self.name),
            Shape::Word => format!("[{}]{dots}", self.name),
            Shape::Flag => format!("--{}", self.name),
            Shape::Option(placeholder) => format!("--{} {placeholder}{dots}", self.name),
            Shape::Bare(placeholder) => format!("--{} [{placeholder}]", self.name),
        }
    }
}

#[cfg(test)]
mod tests;
