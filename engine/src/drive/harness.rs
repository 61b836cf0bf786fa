//! Coding agents as data: what each is called, and how it is given a prompt.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use super::exec::{Call, GIT_VARIABLES, find_on_path};
use crate::{Error, Kind, Result};

/// A coding agent that can be started with a prompt in a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Harness {
    /// What a task calls it.
    pub name: &'static str,
    /// Its program.
    pub binary: &'static str,
    /// Its arguments when it may do everything unasked. [`PROMPT`] stands for the prompt.
    pub full: &'static [&'static str],
    /// Its arguments when it asks before what goes beyond editing, reading history and calling `orange`.
    pub reduced: &'static [&'static str],
    /// Its arguments for how hard to think, [`EFFORT`] standing for the level; empty if it has none.
    pub effort: &'static [&'static str],
    /// Files that it keeps in a worktree for itself and that are no part of the work.
    pub workspace_files: &'static [&'static str],
    /// Variables by which it would take itself for nested in another one, and refuse.
    pub unset: &'static [&'static str],
    /// How to install it.
    pub install: &'static str,
}

/// The place of the prompt in an argument.
pub const PROMPT: &str = "{prompt}";

/// The place of the effort level in an argument.
pub const EFFORT: &str = "{effort}";

/// The harnesses that are built in.
pub const HARNESSES: &[Harness] = &[
    Harness {
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
    Harness {
        name: "codex",
        binary: "codex",
        full: &["--dangerously-bypass-approvals-and-sandbox", "--", PROMPT],
        reduced: &["--sandbox=workspace-write", "--ask-for-approval=on-request", "--", PROMPT],
        effort: &["--config", "model_reasoning_effort={effort}"],
        workspace_files: &[],
        unset: &[],
        install: "`npm install -g @openai/codex`, then run `codex` once to log in",
    },
    Harness {
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
    Harness {
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

/// The harness of this name.
///
/// # Errors
/// `not_found`, with the names there are.
pub fn named(name: &str) -> Result<&'static Harness> {
    HARNESSES.iter().find(|harness| harness.name == name).ok_or_else(|| {
        let names: Vec<&str> = HARNESSES.iter().map(|harness| harness.name).collect();
        Error::new(Kind::NotFound, format!("there is no harness `{name}`"))
            .help(format!("use one of: {}", names.join(", ")))
    })
}

impl Harness {
    /// Is its program on this `PATH`?
    ///
    /// # Errors
    /// `environment` if not, with how to install it.
    pub fn check(&self, path: &OsStr) -> Result<()> {
        match find_on_path(self.binary, path) {
            Some(_) => Ok(()),
            None => Err(Error::new(
                Kind::Environment,
                format!(
                    "`{}`, the program of the harness {}, is not installed or not on PATH",
                    self.binary, self.name
                ),
            )
            .help(format!("install it: {}", self.install))),
        }
    }

    /// The call of it in this folder, with the prompt in this file.
    ///
    /// # Errors
    /// `environment` when the prompt cannot be read.
    pub fn call(&self, prompt: &Path, full: bool, folder: &Path) -> Result<Call> {
        let text = fs::read(prompt).map_err(|cause| Error::io("read the prompt", prompt, &cause))?;
        let call = Call::new(self.binary).args(self.args(full, None, text, prompt)).folder(folder);
        Ok(call.without(self.unset).without(GIT_VARIABLES))
    }

    /// Its arguments. The prompt is a part of one of them; one that cannot be, because it is too long or has a
    /// zero byte in it, is named by its file instead.
    pub fn args(&self, full: bool, effort: Option<&str>, prompt: Vec<u8>, file: &Path) -> Vec<OsString> {
        let template = if full { self.full } else { self.reduced };
        let room = LONGEST_ARGUMENT - template.iter().map(|arg| arg.len()).max().unwrap_or_default();
        let prompt =
            if prompt.len() > room || prompt.contains(&0) { pointer_to(file) } else { plain(prompt) };
        let effort_args = if effort.is_some() { self.effort } else { &[] };
        let effort = OsString::from(effort.unwrap_or_default());
        let effort_args = effort_args.iter().map(|arg| fill(arg, EFFORT, &effort));
        effort_args.chain(template.iter().map(|arg| fill(arg, PROMPT, &prompt))).collect()
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

    #[track_caller]
    fn check(name: &str, full: bool, prompt: &str, expect: &[&str]) {
        let args = named(name).unwrap().args(full, None, prompt.into(), Path::new("/t/1.md"));
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
        let args = named("codex").unwrap().args(true, Some("$(x)"), "go".into(), Path::new("/"));
        assert_eq!(args[..2], ["--config", "model_reasoning_effort=$(x)"].map(OsString::from));
    }

    #[test]
    fn what_is_missing_says_what_there_is_and_how_to_get_it() {
        assert!(named("cursor").unwrap_err().help.contains("claude, codex, opencode, pi"));
        let error = named("claude").unwrap().check(OsStr::new("/no/such/folder")).unwrap_err();
        assert!(error.help.contains("npm install"), "{error}");
    }
}
