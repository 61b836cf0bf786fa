//! Argument templates: text with placeholders that are filled in once. Values are never searched for placeholders.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::store::suggest;

/// The values of the placeholders in one start of an agent.
#[derive(Clone, Copy, Debug)]
pub struct StartValues<'v> {
    pub prompt: &'v OsStr,
    /// `{prompt_file}`: a file with the prompt.
    pub prompt_file: &'v Path,
    /// `{effort}`: the effort, in the harness's own words.
    pub effort: &'v OsStr,
    /// `{model}`: the model, likewise.
    pub model: &'v OsStr,
    /// `{task_dir}`: the folder of the task in the store.
    pub task_dir: &'v Path,
    /// `{worktree}`: the folder that the agent works in.
    pub worktree: &'v Path,
    /// `{repo}`: the main checkout of the project.
    pub repo: &'v Path,
    /// `{home}`: `ORANGE_HOME`.
    pub home: &'v Path,
    /// `{session}`: the harness's id of a conversation.
    pub session: &'v OsStr,
    /// `{orange}`: the program itself.
    pub orange: &'v Path,
    /// `{variables}`: the names of the agent's variables, as [`quoted_names`] writes them.
    pub variables: &'v OsStr,
}

/// The names of placeholders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placeholder {
    Prompt,
    /// `{prompt_file}`
    PromptFile,
    Effort,
    Model,
    WorkItemDir,
    Worktree,
    Repo,
    Home,
    Session,
    Orange,
    /// `{variables}`
    Variables,
}

/// The form of a value, after a colon: `{repo:json}`. Several apply from left to right: `{orange:sh:json}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueForm {
    /// The inside of a quoted string in JSON and TOML.
    Json,
    /// A single-quoted word of a shell's command line.
    Shell,
}

#[derive(Debug, PartialEq, Eq)]
enum TemplatePiece<'t> {
    Text(&'t str),
    Value(Placeholder, Vec<ValueForm>),
    /// A word in braces that is not a placeholder and stays as it is.
    Other(&'t str),
}

const NAMES: [(&str, Placeholder); 11] = [
    ("prompt", Placeholder::Prompt),
    ("prompt_file", Placeholder::PromptFile),
    ("effort", Placeholder::Effort),
    ("model", Placeholder::Model),
    ("task_dir", Placeholder::WorkItemDir),
    ("worktree", Placeholder::Worktree),
    ("repo", Placeholder::Repo),
    ("home", Placeholder::Home),
    ("session", Placeholder::Session),
    ("orange", Placeholder::Orange),
    ("variables", Placeholder::Variables),
];

const FORMS: [(&str, ValueForm); 2] = [("json", ValueForm::Json), ("sh", ValueForm::Shell)];

impl StartValues<'_> {
    fn of(&self, name: Placeholder) -> &OsStr {
        match name {
            Placeholder::Prompt => self.prompt,
            Placeholder::PromptFile => self.prompt_file.as_os_str(),
            Placeholder::Effort => self.effort,
            Placeholder::Model => self.model,
            Placeholder::WorkItemDir => self.task_dir.as_os_str(),
            Placeholder::Worktree => self.worktree.as_os_str(),
            Placeholder::Repo => self.repo.as_os_str(),
            Placeholder::Home => self.home.as_os_str(),
            Placeholder::Session => self.session,
            Placeholder::Orange => self.orange.as_os_str(),
            Placeholder::Variables => self.variables,
        }
    }
}

/// Fills in a template.
pub fn fill(template: &str, values: &StartValues<'_>) -> OsString {
    let mut filled = Vec::new();
    for piece in pieces(template) {
        match piece {
            TemplatePiece::Text(text) | TemplatePiece::Other(text) => {
                filled.extend_from_slice(text.as_bytes())
            }
            TemplatePiece::Value(name, forms) => {
                let value = values.of(name).as_bytes().to_vec();
                filled.extend(forms.into_iter().fold(value, |value, form| form.write(&value)));
            }
        }
    }
    OsString::from_vec(filled)
}

/// The number of times that a template has this placeholder.
pub fn count(template: &str, name: Placeholder) -> usize {
    pieces(template)
        .iter()
        .filter(|piece| matches!(piece, TemplatePiece::Value(it, _) if *it == name))
        .count()
}

/// The flaw of a template's placeholders. Other words in braces are allowed, unless they resemble a placeholder.
pub fn flaw(template: &str) -> Option<String> {
    pieces(template).into_iter().find_map(|piece| match piece {
        TemplatePiece::Text(_) | TemplatePiece::Value(..) => None,
        TemplatePiece::Other(text) => {
            let word = text.trim_matches(['{', '}']);
            let (name, forms) = word.split_once(':').unwrap_or((word, ""));
            let nearest = suggest::nearest(name, NAMES.map(|(name, _)| name))?;
            Some(match nearest == name {
                true => {
                    format!("`{text}`: `{forms}` is not a form of a value; the forms are `json` and `sh`")
                }
                false => format!("`{text}` is not a placeholder: did you mean `{{{nearest}}}`?"),
            })
        }
    })
}

/// Names of variables as the inside of a list of strings in JSON and TOML, without names that are not UTF-8.
pub fn quoted_names(names: impl Iterator<Item = OsString>) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let names = names.filter_map(|name| name.into_string().ok()).filter(|name| name.chars().all(plain));
    names.map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(",")
}

/// A path as a word of a shell's command line, quoted if necessary.
pub fn shell_word(path: &Path) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+".contains(byte);
    let bytes = path.as_os_str().as_bytes();
    let word = if bytes.iter().all(is_plain) { bytes.to_vec() } else { ValueForm::Shell.write(bytes) };
    String::from_utf8_lossy(&word).into_owned()
}

impl ValueForm {
    fn write(self, value: &[u8]) -> Vec<u8> {
        match self {
            ValueForm::Json => value.iter().flat_map(|byte| json(*byte)).collect(),
            ValueForm::Shell => {
                let inside = value.iter().flat_map(|byte| match byte {
                    b'\'' => br"'\''".to_vec(),
                    other => vec![*other],
                });
                [b'\''].into_iter().chain(inside).chain([b'\'']).collect()
            }
        }
    }
}

/// Escapes a byte for JSON and TOML. TOML forbids a delete character, which both read as `\u007f`.
fn json(byte: u8) -> Vec<u8> {
    match byte {
        b'"' | b'\\' => vec![b'\\', byte],
        control if control.is_ascii_control() => format!("\\u{control:04x}").into_bytes(),
        other => vec![other],
    }
}

fn pieces(template: &str) -> Vec<TemplatePiece<'_>> {
    let mut pieces = Vec::new();
    let (mut text, mut from) = (0, 0);
    while let Some(open) = template[from..].find('{').map(|at| from + at) {
        from = open + 1;
        let word = &template[from..];
        let word = &word[..word.find(|letter: char| !is_of_word(letter)).unwrap_or(word.len())];
        let end = from + word.len();
        if word.is_empty() || !template[end..].starts_with('}') {
            continue;
        }
        pieces.push(TemplatePiece::Text(&template[text..open]));
        pieces.push(value(word).unwrap_or(TemplatePiece::Other(&template[open..=end])));
        (text, from) = (end + 1, end + 1);
    }
    pieces.push(TemplatePiece::Text(&template[text..]));
    pieces
}

fn is_of_word(letter: char) -> bool {
    letter.is_ascii_lowercase() || letter == '_' || letter == ':'
}

fn value(word: &str) -> Option<TemplatePiece<'_>> {
    let mut words = word.split(':');
    let name = words.next()?;
    let (_, name) = NAMES.into_iter().find(|(known, _)| *known == name)?;
    let form = |word: &str| FORMS.into_iter().find(|(known, _)| *known == word).map(|(_, form)| form);
    Some(TemplatePiece::Value(name, words.map(form).collect::<Option<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NASTY: &str = "/a \"b\"\\c'd\n{prompt}\u{7f}é";

    fn values(repo: &OsStr) -> StartValues<'_> {
        StartValues {
            prompt: OsStr::new("do {effort}"),
            prompt_file: Path::new("/task/1.md"),
            model: OsStr::new("m"),
            effort: OsStr::new("high"),
            task_dir: Path::new("/task"),
            worktree: Path::new("/wt"),
            repo: Path::new(repo),
            home: Path::new("/home"),
            session: OsStr::new("s-1"),
            orange: Path::new("/bin/orange"),
            variables: OsStr::new(r#""HOME","PATH""#),
        }
    }

    #[track_caller]
    fn check(template: &str, expect: &str) {
        assert_eq!(fill(template, &values(OsStr::new("/repo"))), expect);
    }

    #[test]
    fn an_argument_has_any_number_of_placeholders() {
        check("{prompt}", "do {effort}");
        check("a{prompt_file}b{effort}c", "a/task/1.mdbhighc");
        check("{task_dir}{worktree}{repo}{home}{orange}", "/task/wt/repo/home/bin/orange");
        check("", "");
    }

    #[test]
    fn names_of_variables_are_a_list() {
        check("env_vars=[{variables}]", r#"env_vars=["HOME","PATH"]"#);
        let names = ["HOME", "BASH_FUNC_a%%", "a\"b", "X_1"].map(OsString::from).into_iter();
        assert_eq!(quoted_names(names), r#""HOME","X_1""#);
    }

    #[test]
    fn other_braces_stand_for_themselves() {
        check(r#"{"a":{"b":["{repo}"]}}"#, r#"{"a":{"b":["/repo"]}}"#);
        check("{{repo}} {} {unknown} {Repo} { repo } {repo", "{/repo} {} {unknown} {Repo} { repo } {repo");
        check("é{é}{:}{repo:}", "é{é}{:}{repo:}");
    }

    #[test]
    fn a_value_cannot_break_out_of_json_or_toml() {
        let values = values(OsStr::new(NASTY));
        let filled = fill(r#"{"path":"{repo:json}"}"#, &values).into_string().unwrap();
        let read: serde_json::Value = serde_json::from_str(&filled).unwrap();
        assert_eq!(read["path"], NASTY);
        let line = filled.strip_prefix(r#"{"path":"#).unwrap().strip_suffix('}').unwrap();
        let text = format!("k = {line}\n");
        let table = toml::de::DeTable::parse(&text).unwrap();
        assert_eq!(table.get_ref()["k"].get_ref().as_str(), Some(NASTY));
    }

    #[test]
    fn a_value_is_one_word_of_a_shell() {
        let values = values(OsStr::new(NASTY));
        let script = fill("printf %s {repo:sh}", &values);
        let output = std::process::Command::new("sh").arg("-c").arg(script).output().unwrap();
        assert_eq!(output.stdout, NASTY.as_bytes());
        let filled = fill(r#"["{repo:sh:json}"]"#, &values).into_string().unwrap();
        let read: Vec<String> = serde_json::from_str(&filled).unwrap();
        assert_eq!(OsStr::new(&read[0]), fill("{repo:sh}", &values));
    }

    #[test]
    fn a_path_is_quoted_for_a_shell_where_it_needs_it() {
        assert_eq!(shell_word(Path::new("/usr/bin/orange-1.0")), "/usr/bin/orange-1.0");
        assert_eq!(shell_word(Path::new("/a b/it's")), r"'/a b/it'\''s'");
    }

    #[test]
    fn a_path_that_is_no_text_stays_as_it_is() {
        let path = OsStr::from_bytes(b"/a\xff\"");
        assert_eq!(fill("{repo:json}", &values(path)), OsStr::from_bytes(b"/a\xff\\\""));
    }

    #[test]
    fn a_misspelled_placeholder_is_a_flaw() {
        assert_eq!(flaw(r#"{"a":"{repo:json}"} {unknown} {"b":{}}"#), None);
        assert!(flaw("{worktre}").unwrap().contains("did you mean `{worktree}`?"));
        assert!(flaw("{repo:yaml}").unwrap().contains("`yaml` is not a form"));
        assert_eq!((count("{prompt}{prompt:json}{prompt_file}", Placeholder::Prompt)), 2);
    }
}
