//! The keys of a harness: the meaning of each, and how it is read from `harnesses.toml`.

use toml::de::DeValue;

use super::needs::HarnessSandbox;
use super::template::{self, Placeholder};

/// Defines [`Harness`] and [`KEYS`]: a line for each key with its type and the function that reads it.
macro_rules! keys {
    ($($(#[$doc:meta])* $key:ident: $type:ty = $read:expr,)*) => {
        /// A coding agent that can be started with a prompt in a terminal.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Harness {
            /// Its name in tasks.
            pub name: String,
            /// Its needs inside a wall.
            pub sandbox: HarnessSandbox,
            $($(#[$doc])* pub $key: $type,)*
        }

        /// Every key that a table of `harnesses.toml` can have.
        pub(super) const KEYS: &[HarnessKey] = &[$(HarnessKey {
            name: stringify!($key),
            set: |harness, entry| $read(entry).map(|value| harness.$key = value),
        }),*];
    };
}

/// A key of a table in `harnesses.toml`.
pub(super) struct HarnessKey {
    pub(super) name: &'static str,
    /// Sets the key of a harness, or says why the entry is invalid.
    pub(super) set: fn(&mut Harness, &TableEntry<'_>) -> KeyResult<()>,
}

/// One `key = value` of a table.
pub(super) struct TableEntry<'t> {
    pub(super) key: &'t str,
    pub(super) value: &'t DeValue<'t>,
}

/// The value, or why it is invalid.
pub(super) type KeyResult<T> = Result<T, String>;

keys! {
    /// Its program: a name on `PATH`, or a path.
    binary: String = program,
    /// Its arguments when it may do everything without asking, as templates. `{prompt}` or `{prompt_file}` occurs in them once.
    full: Vec<String> = prompted,
    /// Its arguments when it asks before anything but editing, reading history and calling `orange`.
    reduced: Vec<String> = prompted,
    /// Its arguments when it reviews, if they differ.
    review: Option<Vec<String>> = |entry| prompted(entry).map(Some),
    /// Its arguments for the effort, before the others; empty if it has none.
    effort: Vec<String> = |entry| with(Placeholder::Effort, "the level: `{effort}`", entry),
    /// Its word for the effort `max` of step workflows; empty if it has none.
    max_effort: String = text,
    /// Its arguments for the model, before the others; empty if it chooses one itself.
    model: Vec<String> = |entry| with(Placeholder::Model, "the model's name: `{model}`", entry),
    /// Its arguments after a person has agreed to its first dialogs, before the others.
    consent: Vec<String> = template,
    /// Its arguments that make it report what it does, before the others; empty if it cannot.
    report: Vec<String> = template,
    /// Variables that make it report what it does, as `NAME=value` with placeholders; empty if it needs none.
    report_set: Vec<String> = variables,
    /// Variables that it gets when it reports, unless they are set: they shorten a start that reporting makes longer.
    report_defaults: Vec<String> = variables,
    /// The beginning of its `--version` that `report` requires; empty if it requires none.
    report_version: String = text,
    /// The text on its screen, from the start of a line, when it asks for a permission, with `{text}` for the subject; empty if
    /// answers cannot be typed.
    answer_screen: String = text,
    /// The keys for yes and no, by their names in tmux.
    answer_keys: Vec<String> = list,
    /// Its arguments that add `orange mcp` to its servers of the Model Context Protocol, before the others.
    mcp: Vec<String> = template,
    /// Files that it writes into a worktree for itself.
    workspace_files: Vec<String> = list,
    /// Its arguments that set the id of a new conversation, before the others; empty if it chooses one itself.
    session: Vec<String> = |entry| with(Placeholder::Session, "the conversation's id: `{session}`", entry),
    /// Its arguments that continue a conversation, before the others; empty if it cannot.
    resume: Vec<String> = |entry| with(Placeholder::Session, "the conversation's id: `{session}`", entry),
    /// Its messages when it does not find the conversation to continue.
    resume_errors: Vec<String> = list,
    /// The paths of its transcripts, with `{session}` in them.
    transcripts: Vec<String> = transcripts,
    /// Variables that would make it refuse to run nested in another harness.
    unset: Vec<String> = list,
    /// Variables that it gets, as `NAME=value` with placeholders.
    set: Vec<String> = variables,
    /// Variables that it changes for its agent's commands. `orange` drops them for its own work, since they say nothing about the user.
    overrides: Vec<String> = names,
    /// Instructions for its installation.
    install: String = text,
}

fn text(entry: &TableEntry<'_>) -> KeyResult<String> {
    string(entry.value).ok_or_else(|| format!("`{}` is one string in quotes", entry.key))
}

/// The string, unless it has a NUL, which no argument and no variable can have.
fn string(value: &DeValue<'_>) -> Option<String> {
    value.as_str().filter(|text| !text.contains('\0')).map(str::to_owned)
}

fn program(entry: &TableEntry<'_>) -> KeyResult<String> {
    text(entry)
        .ok()
        .filter(|text| !text.is_empty())
        .ok_or_else(|| format!("`{}` is the name or path of a program, in quotes", entry.key))
}

pub(super) fn list(entry: &TableEntry<'_>) -> KeyResult<Vec<String>> {
    let items =
        entry.value.as_array().and_then(|items| items.iter().map(|item| string(item.get_ref())).collect());
    items.ok_or_else(|| format!("`{}` is a list of strings in quotes: [\"…\", \"…\"]", entry.key))
}

fn template(entry: &TableEntry<'_>) -> KeyResult<Vec<String>> {
    let args = list(entry)?;
    args.iter().find_map(|arg| template::flaw(arg)).map_or(Ok(args), Err)
}

pub(super) fn prompted(entry: &TableEntry<'_>) -> KeyResult<Vec<String>> {
    let args = template(entry)?;
    let places = args.iter().flat_map(|arg| {
        [Placeholder::Prompt, Placeholder::PromptFile].map(|name| template::count(arg, name))
    });
    if places.sum::<usize>() == 1 {
        return Ok(args);
    }
    Err(format!(
        "`{}` has the place of the prompt once: `{{prompt}}`, or `{{prompt_file}}` for a file with it",
        entry.key
    ))
}

/// A template that is empty or has this placeholder.
fn with(name: Placeholder, what: &str, entry: &TableEntry<'_>) -> KeyResult<Vec<String>> {
    let args = template(entry)?;
    if args.is_empty() || args.iter().any(|arg| template::count(arg, name) > 0) {
        return Ok(args);
    }
    Err(format!("`{}` has the place of {what}", entry.key))
}

fn variables(entry: &TableEntry<'_>) -> KeyResult<Vec<String>> {
    let variables = template(entry)?;
    let is_one = |variable: &String| {
        variable.split_once('=').is_some_and(|(name, _)| is_variable(name))
            && template::count(variable, Placeholder::Prompt) == 0
    };
    if variables.iter().all(is_one) {
        return Ok(variables);
    }
    Err(format!(
        "`{}` is a list of variables: [\"NAME=value\"]; those of `orange` are its own, and the prompt is none: \
         `{{prompt_file}}` names its file",
        entry.key
    ))
}

pub(super) fn names(entry: &TableEntry<'_>) -> KeyResult<Vec<String>> {
    let names = list(entry)?;
    if names.iter().all(|name| is_variable(name)) {
        return Ok(names);
    }
    Err(format!("`{}` is a list of variables' names: [\"NAME\"]; those of `orange` are its own", entry.key))
}

fn is_variable(name: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    !name.is_empty() && name.chars().all(plain) && !name.starts_with("ORANGE_")
}

fn transcripts(entry: &TableEntry<'_>) -> KeyResult<Vec<String>> {
    let paths = list(entry)?;
    let is_place = |path: &String| {
        path.starts_with(['/', '$', '~'])
            && path.rsplit_once('/').is_some_and(|(_, name)| name.matches("{session}").count() == 1)
    };
    if paths.iter().all(is_place) {
        return Ok(paths);
    }
    Err(format!(
        "a path in `{}` begins with `/`, `~/` or `$NAME/` and has `{{session}}` in the file's name once",
        entry.key
    ))
}
