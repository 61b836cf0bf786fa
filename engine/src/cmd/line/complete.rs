//! What could be typed next, and the scripts that make shells ask for it.

use super::parse::Line;
use super::{Arg, Spec, Takes};

/// What could be the last of these words, which may be empty; a candidate without a word stands for files and folders, which
/// the shell knows better. `names` knows the values of what is not in the table.
pub fn candidates(
    root: &'static Spec,
    words: &[String],
    names: impl Fn(Takes, &Line) -> Vec<Candidate>,
) -> Vec<Candidate> {
    let Some((last, before)) = words.split_last() else { return Vec::new() };
    let mut line = Line::begin(root);
    for word in before {
        // What makes no sense yet may still be mended: it hides nothing that could follow.
        line.push(word).unwrap_or_default();
    }
    let all = match (line.awaits, last.split_once('=')) {
        (Some(arg), _) => values(arg, &line, &names),
        (None, Some((name, _))) if !line.options_ended && name.starts_with("--") => {
            let arg = line.spec.options().find(|arg| name.strip_prefix("--") == Some(arg.name));
            let found = arg.map_or_else(Vec::new, |arg| values(arg, &line, &names));
            found.into_iter().map(|candidate| candidate.behind(name)).collect()
        }
        (None, _) if last.starts_with('-') && !line.options_ended => options(&line),
        (None, _) => {
            let commands = line.spec.shown().map(|spec| Candidate::new(spec.name, spec.about));
            commands.chain(line.next_word().map_or_else(Vec::new, |arg| values(arg, &line, &names))).collect()
        }
    };
    all.into_iter().filter(|candidate| candidate.is_files() || candidate.word.starts_with(last)).collect()
}

/// A word that could be typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The word.
    pub word: String,
    /// What it means; may be empty.
    pub about: String,
}

impl Candidate {
    /// A word and what it means.
    pub fn new(word: impl Into<String>, about: impl Into<String>) -> Candidate {
        Candidate { word: word.into(), about: about.into() }
    }

    fn files() -> Candidate {
        Candidate::new("", "a file or folder")
    }

    fn is_files(&self) -> bool {
        self.word.is_empty()
    }

    /// The same as the value of an option that is written with `=`.
    fn behind(self, option: &str) -> Candidate {
        if self.is_files() { self } else { Candidate { word: format!("{option}={}", self.word), ..self } }
    }
}

/// The script that makes a shell ask; `None` for a shell that is not known.
pub fn script(shell: &str) -> Option<&'static str> {
    match shell {
        "bash" => Some(include_str!("complete.bash")),
        "zsh" => Some(include_str!("complete.zsh")),
        "fish" => Some(include_str!("complete.fish")),
        _ => None,
    }
}

fn options(line: &Line) -> Vec<Candidate> {
    let open = line.spec.options().filter(|arg| arg.many || !line.given.has(arg.name));
    open.map(|arg| Candidate::new(format!("--{}", arg.name), arg.help)).collect()
}

fn values(arg: &Arg, line: &Line, names: impl Fn(Takes, &Line) -> Vec<Candidate>) -> Vec<Candidate> {
    match arg.takes {
        Takes::OneOf(words) => words.iter().map(|word| Candidate::new(*word, "")).collect(),
        Takes::Path => vec![Candidate::files()],
        Takes::Text | Takes::Name | Takes::Number(..) => Vec::new(),
        Takes::Task | Takes::Status | Takes::Project | Takes::Workflow | Takes::Harness => {
            names(arg.takes, line)
        }
    }
}
