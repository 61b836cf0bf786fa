//! Coding agents as data: what each is called, and how it is given a prompt.

mod file;
mod toml;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use super::exec::{Call, GIT_VARIABLES, find_on_path};
use crate::{Error, Kind, Result};

pub use file::{all, named};

/// A coding agent that can be started with a prompt in a terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Harness {
    /// What a task calls it.
    pub name: String,
    /// Its program: a name that is looked up on `PATH`, or a path.
    pub binary: String,
    /// Its arguments when it may do everything unasked. [`PROMPT`] or [`PROMPT_FILE`] stands for the prompt.
    pub full: Vec<String>,
    /// Its arguments when it asks before what goes beyond editing, reading history and calling `orange`.
    pub reduced: Vec<String>,
    /// Its arguments when it reviews, where these are others.
    pub review: Option<Vec<String>>,
    /// Its arguments for how hard to think, [`EFFORT`] standing for the level; empty if it has none.
    pub effort: Vec<String>,
    /// Files that it keeps in a worktree for itself and that are no part of the work.
    pub workspace_files: Vec<String>,
    /// Variables by which it would take itself for nested in another one, and refuse.
    pub unset: Vec<String>,
    /// How to install it.
    pub install: String,
}

/// A harness as it is built in.
#[derive(Debug)]
pub struct BuiltIn {
    /// What a task calls it.
    pub name: &'static str,
    /// Its program.
    pub binary: &'static str,
    full: &'static [&'static str],
    reduced: &'static [&'static str],
    effort: &'static [&'static str],
    workspace_files: &'static [&'static str],
    unset: &'static [&'static str],
    install: &'static str,
}

/// How an agent is to be started.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start<'s> {
    /// It may do everything unasked.
    pub full: bool,
    /// It reviews.
    pub reviews: bool,
    /// How hard it is to think, in the harness's own words.
    pub effort: Option<&'s str>,
}

/// The place of the prompt in an argument.
pub const PROMPT: &str = "{prompt}";

/// The place of the path of a file with the prompt.
pub const PROMPT_FILE: &str = "{prompt_file}";

/// The place of the effort level in an argument.
pub const EFFORT: &str = "{effort}";

/// The harnesses that are built in.
pub const HARNESSES: &[BuiltIn] = &[
    BuiltIn {
        name: "claude",
        binary: "claude",
        full: &["--dangerously-skip-permissions", "--", PROMPT],
        reduced: &[
            "--permission-mode=acceptEdits",
            "--allowedTools=Bash(orange:*),Bash(git diff:*),Bash(git log:*),Bash(git show:*),Bash(git status:*)",
            "--",
            PROMPT,
        ],
        effort: &["--effort", EFFORT],
        workspace_files: &[".claude/settings.local.json"],
        unset: &["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT"],
        install: "`npm install -g @anthropic-ai/claude-code`, then run `claude` once to log in",
    },
    BuiltIn {
        name: "codex",
        binary: "codex",
        full: &["--dangerously-bypass-approvals-and-sandbox", "--", PROMPT],
        reduced: &["--sandbox=workspace-write", "--ask-for-approval=on-request", "--", PROMPT],
        effort: &["--config", "model_reasoning_effort={effort}"],
        workspace_files: &[],
        unset: &[],
        install: "`npm install -g @openai/codex`, then run `codex` once to log in",
    },
    BuiltIn {
        name: "opencode",
        binary: "opencode",
        // What it may do unasked is said in its own configuration only.
        full: &["--prompt={prompt}"],
        reduced: &["--prompt={prompt}"],
        effort: &[],
        workspace_files: &[],
        unset: &[],
        install: "`npm install -g opencode-ai`, then run `opencode` once to log in",
    },
    BuiltIn {
        name: "pi",
        binary: "pi",
        // It never asks.
        full: &[PROMPT],
        reduced: &[PROMPT],
        effort: &["--thinking", EFFORT],
        workspace_files: &[],
        unset: &[],
        install: "`npm install -g @earendil-works/pi-coding-agent`, then run `pi` once to log in",
    },
];

/// The longest argument that Linux takes, without the zero byte at its end.
const LONGEST_ARGUMENT: usize = 128 * 1024 - 1;

impl From<&BuiltIn> for Harness {
    fn from(from: &BuiltIn) -> Harness {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Harness {
            name: from.name.to_owned(),
            binary: from.binary.to_owned(),
            full: owned(from.full),
            reduced: owned(from.reduced),
            review: None,
            effort: owned(from.effort),
            workspace_files: owned(from.workspace_files),
            unset: owned(from.unset),
            install: from.install.to_owned(),
        }
    }
}

impl Harness {
    /// Is its program on this `PATH`?
    ///
    /// # Errors
    /// `environment` if not, with how to install it.
    pub fn check(&self, path: &OsStr) -> Result<()> {
        if find_on_path(&self.binary, path).is_some() {
            return Ok(());
        }
        let Harness { name, binary, install, .. } = self;
        let message =
            format!("`{binary}`, the program of the harness {name}, is not installed or not on PATH");
        let help =
            if install.is_empty() { "install it".to_owned() } else { format!("install it: {install}") };
        Err(Error::new(Kind::Environment, message).help(help))
    }

    /// The call of it in this folder, with the prompt in this file.
    ///
    /// # Errors
    /// `environment` when the prompt cannot be read.
    pub fn call(&self, prompt: &Path, start: Start<'_>, folder: &Path) -> Result<Call> {
        let text = fs::read(prompt).map_err(|cause| Error::io("read the prompt", prompt, &cause))?;
        let call = Call::new(&self.binary).args(self.args(start, text, prompt)).folder(folder);
        let unset: Vec<&str> = self.unset.iter().map(String::as_str).collect();
        Ok(call.without(&unset).without(GIT_VARIABLES))
    }

    /// Its arguments. The prompt is a part of one of them; one that cannot be, because it is too long or has a
    /// zero byte in it, is named by its file instead.
    pub fn args(&self, start: Start<'_>, prompt: Vec<u8>, file: &Path) -> Vec<OsString> {
        let by_permission = if start.full { &self.full } else { &self.reduced };
        let template = self.review.as_ref().filter(|_| start.reviews).unwrap_or(by_permission);
        let longest = template.iter().map(String::len).max().unwrap_or_default();
        let room = LONGEST_ARGUMENT.saturating_sub(longest);
        let prompt =
            if prompt.len() > room || prompt.contains(&0) { pointer_to(file) } else { plain(prompt) };
        let effort = start.effort.map(OsStr::new);
        let effort = effort.iter().flat_map(|level| self.effort.iter().map(|arg| fill(arg, EFFORT, level)));
        let rest = template.iter().map(|arg| match arg.contains(PROMPT_FILE) {
            true => fill(arg, PROMPT_FILE, file.as_os_str()),
            false => fill(arg, PROMPT, &prompt),
        });
        effort.chain(rest).collect()
    }
}

fn fill(template: &str, place: &str, value: &OsStr) -> OsString {
    let Some((before, after)) = template.split_once(place) else { return template.into() };
    let mut filled = OsString::from(before);
    filled.push(value);
    filled.push(after);
    filled
}

/// The prompt as it stands, but never so that it could be read as an option (`-`) or a file (`@`).
fn plain(mut prompt: Vec<u8>) -> OsString {
    if prompt.first().is_some_and(|first| b"-@".contains(first)) {
        prompt.insert(0, b'\n');
    }
    OsString::from_vec(prompt)
}

fn pointer_to(file: &Path) -> OsString {
    let mut text = OsString::from("Read the file ");
    text.push(file);
    text.push(" and do what it says: it is your prompt.");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Harness {
        super::named(Path::new("/nowhere"), name).unwrap()
    }

    #[track_caller]
    fn check(name: &str, full: bool, prompt: &str, expect: &[&str]) {
        let start = Start { full, ..Start::default() };
        let args = named(name).args(start, prompt.into(), Path::new("/t/1.md"));
        assert_eq!(args, expect.iter().map(OsString::from).collect::<Vec<_>>());
    }

    #[test]
    fn a_prompt_is_one_argument_whatever_it_says() {
        check(
            "claude",
            true,
            "a $(b)\n{prompt}",
            &["--dangerously-skip-permissions", "--", "a $(b)\n{prompt}"],
        );
        check("codex", true, "go", &["--dangerously-bypass-approvals-and-sandbox", "--", "go"]);
        check(
            "codex",
            false,
            "go",
            &["--sandbox=workspace-write", "--ask-for-approval=on-request", "--", "go"],
        );
        check("opencode", true, "-x", &["--prompt=\n-x"]);
        check("pi", false, "--help", &["\n--help"]);
        check("pi", false, "@secret", &["\n@secret"]);
    }

    #[test]
    fn a_prompt_that_cannot_be_an_argument_is_named_by_its_file() {
        let pointer = "Read the file /t/1.md and do what it says: it is your prompt.";
        check("pi", true, &"x".repeat(1 << 20), &[pointer]);
        check("opencode", true, &"x".repeat(LONGEST_ARGUMENT - 8), &[&format!("--prompt={pointer}")]);
        check("pi", true, "a\0b", &[pointer]);
        let longest = "x".repeat(LONGEST_ARGUMENT - PROMPT.len());
        check("pi", true, &longest, &[&longest]);
    }

    #[test]
    fn every_template_has_a_place_for_the_prompt() {
        for harness in HARNESSES {
            for template in [harness.full, harness.reduced] {
                assert_eq!(template.iter().filter(|arg| arg.contains(PROMPT)).count(), 1, "{}", harness.name);
            }
            assert!(
                harness.effort.is_empty() || harness.effort.iter().any(|arg| arg.contains(EFFORT)),
                "{}",
                harness.name
            );
        }
        let start = Start { effort: Some("$(x)"), ..Start::default() };
        let args = named("codex").args(start, "go".into(), Path::new("/"));
        assert_eq!(args[..2], ["--config", "model_reasoning_effort=$(x)"].map(OsString::from));
    }

    #[test]
    fn a_reviewer_may_be_called_in_another_way_and_a_prompt_be_left_in_its_file() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let harness = Harness {
            full: words(&["--file={prompt_file}"]),
            reduced: words(&["{prompt}"]),
            review: Some(words(&["review", "{prompt}"])),
            ..Harness::default()
        };
        let args = |start| harness.args(start, "go".into(), Path::new("/t/1.md"));
        assert_eq!(args(Start { full: true, ..Start::default() }), ["--file=/t/1.md"]);
        assert_eq!(args(Start { full: true, reviews: true, effort: Some("high") }), ["review", "go"]);
        assert_eq!(args(Start::default()), ["go"]);
        let long = Harness { full: vec!["x".repeat(LONGEST_ARGUMENT), PROMPT.to_owned()], ..harness.clone() };
        let args = long.args(Start { full: true, ..Start::default() }, "go".into(), Path::new("/t/1.md"));
        assert_eq!(args[1], pointer_to(Path::new("/t/1.md")));
    }

    #[test]
    fn what_is_missing_says_how_to_get_it() {
        let error = named("claude").check(OsStr::new("/no/such/folder")).unwrap_err();
        assert!(error.help.contains("npm install"), "{error}");
    }
}
