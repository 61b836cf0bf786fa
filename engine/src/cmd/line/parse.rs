//! From words to a command, or to what is wrong with them.

use std::ffi::OsString;
use std::str::FromStr;

use super::{Arg, Does, Shape, Spec, Takes, help};
use crate::cmd::args::Cli;
use crate::store::suggest;
use crate::{Error, Kind, Result};

/// What a command line asks for.
#[derive(Debug)]
pub enum Parsed {
    /// A command.
    Cli(Cli),
    /// A text: help, or the version.
    Text(String),
}

/// What was given for a command's arguments.
#[derive(Debug, Default)]
pub struct Given(Vec<(&'static str, Option<String>)>);

/// How far a command line has been read.
#[derive(Debug)]
pub struct Line {
    /// The command, or the group of which a command comes next.
    pub spec: &'static Spec,
    /// How it is called: `orange task update`.
    pub path: String,
    /// What was given for it.
    pub given: Given,
    /// The option whose value comes next.
    pub awaits: Option<&'static Arg>,
    /// Whether `--` has been there, behind which nothing is an option.
    pub options_ended: bool,
    words: usize,
}

/// Reads the words behind the program's name.
///
/// # Errors
/// `usage` for what no command takes, with what it does take.
pub fn parse(root: &'static Spec, words: impl IntoIterator<Item = OsString>) -> Result<Parsed> {
    let mut line = Line::begin(root);
    for word in words {
        let word = word.into_string().map_err(|word| not_text(&word))?;
        line.push(&word)?;
        if line.given.has("help") {
            return Ok(Parsed::Text(help::page(line.spec, &line.path)));
        }
        if line.given.has("version") {
            return Ok(Parsed::Text(format!("{} {}", root.name, env!("CARGO_PKG_VERSION"))));
        }
    }
    line.end().map(Parsed::Cli)
}

/// Whether the answer is to be JSON, even if the line makes no sense.
pub fn asks_for_json(words: impl IntoIterator<Item = OsString>) -> bool {
    words.into_iter().take_while(|word| word != "--").any(|word| word == "--json")
}

impl Line {
    /// A line of which nothing has been read.
    pub fn begin(root: &'static Spec) -> Line {
        Line {
            spec: root,
            path: root.name.to_owned(),
            given: Given::default(),
            awaits: None,
            options_ended: false,
            words: 0,
        }
    }

    /// Reads one more word.
    ///
    /// # Errors
    /// `usage` when it makes no sense there.
    pub fn push(&mut self, word: &str) -> Result<()> {
        let is_option = word.starts_with('-') && word != "-" && !self.options_ended;
        match self.awaits.take() {
            Some(arg) if !is_option || arg.may_be_hyphenated(word) => return self.give(arg, Some(word)),
            Some(arg) => self.go_without(arg)?,
            None => {}
        }
        match (is_option, word) {
            (false, _) => self.plain(word),
            (true, "--") => {
                self.options_ended = true;
                Ok(())
            }
            (true, "-h") => self.option("--help"),
            (true, "-V") => self.option("--version"),
            (true, _) => self.option(word),
        }
    }

    /// The command that was asked for, when nothing is missing.
    ///
    /// # Errors
    /// `usage` when something is.
    pub fn end(mut self) -> Result<Cli> {
        if let Some(arg) = self.awaits.take() {
            self.go_without(arg)?;
        }
        let build = match self.spec.does {
            Does::Command(build) => build,
            Does::Group(_) => {
                return Err(usage(format!("`{}` needs a command", self.path)).help(self.commands()));
            }
        };
        for arg in self.spec.args.iter().filter(|arg| !self.given.has(arg.name)).collect::<Vec<_>>() {
            if arg.required {
                return Err(usage(format!("`{}` needs {}", self.path, arg.typed())).help(self.help()));
            }
            if !arg.default.is_empty() {
                self.given.0.push((arg.name, Some(arg.default.to_owned())));
            }
        }
        Ok(Cli { json: self.given.has("json"), command: build(&self.given) })
    }

    /// The word that the command would take next.
    pub fn next_word(&self) -> Option<&'static Arg> {
        let words = || self.spec.words();
        words().nth(self.words).or_else(|| words().last().filter(|arg| arg.many))
    }

    fn plain(&mut self, word: &str) -> Result<()> {
        if let Does::Group(commands) = self.spec.does {
            let Some(spec) = commands.iter().find(|spec| spec.name == word) else {
                let error = usage(format!("`{}` has no command `{word}`", self.path));
                let near = suggest::nearest(word, self.spec.shown().map(|spec| spec.name));
                return Err(error.help(near.map_or_else(|| self.commands(), did_you_mean)));
            };
            self.spec = spec;
            self.path = format!("{} {}", self.path, spec.name);
            return Ok(());
        }
        let Some(arg) = self.next_word() else {
            return Err(
                usage(format!("`{}` does not know what to do with `{word}`", self.path)).help(self.help())
            );
        };
        self.words += 1;
        self.give(arg, Some(word))
    }

    fn option(&mut self, word: &str) -> Result<()> {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let is_it = |arg: &&Arg| name.strip_prefix("--") == Some(arg.name);
        let Some(arg) = self.spec.options().find(is_it) else {
            let error = usage(format!("`{}` has no option `{name}`", self.path));
            let names: Vec<_> = self.spec.options().map(|arg| format!("--{}", arg.name)).collect();
            let near = suggest::nearest(name, names.iter().map(String::as_str));
            let help = near.map_or_else(
                || format!("{}; a text that begins with `-` goes behind `--`", self.help()),
                did_you_mean,
            );
            return Err(error.help(help));
        };
        match (arg.shape, value) {
            (Shape::Flag, Some(_)) => Err(usage(format!("`{name}` takes no value")).help(self.help())),
            (Shape::Option(_) | Shape::Bare(_), None) => {
                self.awaits = Some(arg);
                Ok(())
            }
            (Shape::Word | Shape::Flag, None)
            | (Shape::Word | Shape::Option(_) | Shape::Bare(_), Some(_)) => self.give(arg, value),
        }
    }

    fn go_without(&mut self, arg: &'static Arg) -> Result<()> {
        match arg.shape {
            Shape::Bare(_) => self.give(arg, None),
            Shape::Word | Shape::Flag | Shape::Option(_) => {
                Err(usage(format!("`--{}` needs a value", arg.name)).help(format!(
                    "write {}; a value that begins with `-` as `--{}=VALUE`",
                    arg.typed(),
                    arg.name
                )))
            }
        }
    }

    fn give(&mut self, arg: &'static Arg, value: Option<&str>) -> Result<()> {
        if self.given.has(arg.name) && !arg.many {
            return Err(usage(format!("`--{}` was given twice", arg.name)).help("give it once"));
        }
        if let Some(value) = value {
            check(arg, value)?;
        }
        self.given.0.push((arg.name, value.map(str::to_owned)));
        Ok(())
    }

    fn commands(&self) -> String {
        let names: Vec<_> = self.spec.shown().map(|spec| spec.name).collect();
        format!("it has: {}; `{} --help` tells more", names.join(", "), self.path)
    }

    fn help(&self) -> String {
        format!("`{} --help` says what it takes: {}", self.path, help::usage(self.spec, &self.path))
    }
}

impl Given {
    /// Whether it was given.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(of, _)| *of == name)
    }

    /// Its value.
    pub fn text(&self, name: &str) -> Option<String> {
        self.all(name).into_iter().next()
    }

    /// The value of what has to be there, or has a default.
    pub fn needed(&self, name: &str) -> String {
        self.text(name).unwrap_or_default()
    }

    /// Its value as the number that it was checked to be.
    pub fn number<N: FromStr>(&self, name: &str) -> Option<N> {
        self.text(name)?.parse().ok()
    }

    /// Each of its values.
    pub fn all(&self, name: &str) -> Vec<String> {
        self.0.iter().filter(|(of, _)| *of == name).filter_map(|(_, value)| value.clone()).collect()
    }

    /// The value of an option that may go without.
    pub fn bare(&self, name: &str) -> Option<Option<String>> {
        self.has(name).then(|| self.text(name))
    }
}

impl Arg {
    /// Whether this is its value, though it looks like an option.
    fn may_be_hyphenated(&self, word: &str) -> bool {
        let is_number = matches!(self.takes, Takes::Number(..)) && word.parse::<i64>().is_ok();
        self.takes == Takes::Text || is_number
    }
}

fn check(arg: &Arg, value: &str) -> Result<()> {
    let name = if arg.is_option() { format!("--{}", arg.name) } else { arg.name.to_owned() };
    let help = match arg.takes {
        Takes::Number(from, to) => {
            let is_in = value.parse().is_ok_and(|number: i64| (from..=to).contains(&number));
            (!is_in).then(|| format!("give a number from {from} to {to}"))
        }
        Takes::OneOf(words) => {
            (!words.contains(&value)).then(|| suggest::help(value, words, "possible values"))
        }
        Takes::Text | Takes::Name | Takes::Path => None,
        Takes::Task | Takes::Status | Takes::Project | Takes::Workflow | Takes::Harness => None,
    };
    match help {
        Some(help) => Err(usage(format!("`{name}` cannot be `{value}`")).help(help)),
        None => Ok(()),
    }
}

fn not_text(word: &OsString) -> Error {
    usage(format!("an argument is not UTF-8: {word:?}"))
        .help("give it as UTF-8; a file of such a name needs another one")
}

fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}

fn usage(message: String) -> Error {
    Error::new(Kind::Usage, message)
}
