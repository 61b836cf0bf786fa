//! glab: merge requests on GitLab, by version 4 of its REST API, whose answers `glab api` passes on.

mod answer;
mod discussion;
mod failed;
mod glance;
mod issues;
mod merge;
mod outlook;
mod reply;

use std::path::PathBuf;
use std::time::Duration;

use orange_system::exec::{CallOutput, ProgramCall};
use orange_system::variables;
use serde::Serialize;

use super::{Issue, NewPullRequest, PATIENCE, PullRequest};
use crate::{Error, ErrorKind, Result};

/// glab in one project's repository, whose remotes name the project on GitLab.
#[derive(Clone, Debug)]
pub struct Glab {
    repo: PathBuf,
    patience: Duration,
}

/// The parts of a merge request's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MergeRequestAddress<'a> {
    host: &'a str,
    /// The groups and the name, with `/` between them.
    project: &'a str,
    number: &'a str,
}

#[derive(Serialize)]
struct NewMergeRequest<'a> {
    source_branch: &'a str,
    target_branch: &'a str,
    title: &'a str,
    description: String,
}

impl Glab {
    /// glab in this folder.
    pub fn at(repo: impl Into<PathBuf>) -> Glab {
        Glab { repo: repo.into(), patience: PATIENCE }
    }

    /// Sets another time limit.
    pub fn patience(self, patience: Duration) -> Glab {
        Glab { patience, ..self }
    }

    /// The merge request of this address, with the pipeline of its commit.
    pub fn view(&self, url: &str) -> Result<PullRequest> {
        let MergeRequestAddress { host, project, number } = place(url)?;
        let endpoint = format!("projects/{}/merge_requests/{number}", encoded(project));
        let answer = asked(self.call(&["api", &endpoint, "--hostname", host]))?;
        answer::view(&answer.stdout).ok_or_else(|| unclear(&answer))
    }

    /// The issue of this number.
    pub fn issue(&self, number: u64) -> Result<Issue> {
        let answer = asked(self.call(&["api", &format!("projects/:fullpath/issues/{number}")]))?;
        answer::issue(&answer.stdout).ok_or_else(|| unclear(&answer))
    }

    /// The newest open merge request of a branch, or else the newest one.
    pub fn of_branch(&self, branch: &str) -> Result<Option<PullRequest>> {
        let answer = asked(self.list(branch))?;
        answer::list(&answer.stdout).ok_or_else(|| unclear(&answer))
    }

    /// The merge request of a branch of a project that may not use GitLab: `None` also if glab has no login, and if no remote of the
    /// repository is on GitLab.
    pub fn of_branch_if_used(&self, branch: &str) -> Result<Option<PullRequest>> {
        let answer = self.list(branch).run()?;
        let complaint = answer.complaint();
        if !answer.success() && (says_no_login(&complaint) || says_no_gitlab(&complaint)) {
            return Ok(None);
        }
        let answer = checked(answer)?;
        answer::list(&answer.stdout).ok_or_else(|| unclear(&answer))
    }

    fn list(&self, branch: &str) -> ProgramCall {
        let asked = "state=all&order_by=created_at&sort=desc&per_page=50";
        let endpoint = format!("projects/:fullpath/merge_requests?source_branch={}&{asked}", encoded(branch));
        self.call(&["api", &endpoint])
    }

    /// Opens a merge request and returns its address. Its texts go through a pipe.
    pub fn create(&self, new: &NewPullRequest<'_>) -> Result<String> {
        let wanted = NewMergeRequest {
            source_branch: new.head,
            target_branch: new.base,
            title: new.title,
            description: without_quick_actions(new.body),
        };
        let call =
            self.call(&["api", "projects/:fullpath/merge_requests", "--method", "POST", "--input", "-"]);
        let answer = asked(posted(call, &wanted)?)?;
        let opened = answer::list_entry(&answer.stdout).filter(|opened| place(&opened.url).is_ok());
        opened.map(|opened| opened.url).ok_or_else(|| unclear(&answer))
    }

    /// A call without questions and without a check for updates.
    fn call(&self, args: &[&str]) -> ProgramCall {
        ProgramCall::new("glab")
            .args(args)
            .folder(&self.repo)
            .bound(self.patience)
            .without(variables::GIT)
            .without(&["DEBUG", "GLAB_DEBUG", "GLAB_DEBUG_HTTP", "FORCE_HYPERLINKS", "GLAB_FORCE_HYPERLINKS"])
            .env("GLAB_NO_PROMPT", "true")
            .env("GLAB_CHECK_UPDATE", "false")
            .env("NO_COLOR", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
    }
}

/// The call with this value as JSON in its input.
fn posted(call: ProgramCall, value: &impl Serialize) -> Result<ProgramCall> {
    let json = serde_json::to_vec(value)
        .map_err(|cause| Error::new(ErrorKind::Environment, format!("a question has no JSON: {cause}")))?;
    Ok(call.args(["--header", "Content-Type: application/json"]).input(&json))
}

/// Takes an address apart, and refuses one that glab might read as something else: people and agents write it into `TASK.md`.
fn place(url: &str) -> Result<MergeRequestAddress<'_>> {
    let plain = |text: &str, more: &[u8]| {
        !text.is_empty()
            && text.as_bytes()[0].is_ascii_alphanumeric()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || more.contains(&byte))
    };
    let read = || {
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
        let (host, path) = rest.split_once('/')?;
        let (project, number) = path.rsplit_once("/merge_requests/")?;
        let project = project.strip_suffix("/-").unwrap_or(project);
        let is_one = plain(host, b".-:")
            && project.contains('/')
            && project.split('/').all(|part| plain(part.trim_start_matches('_'), b"._-"))
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit());
        is_one.then_some(MergeRequestAddress { host, project, number })
    };
    read().ok_or_else(|| {
        let message = format!("`{}` is not a merge request's address", url.escape_debug());
        let help =
            "write it as `pr_url: https://gitlab.com/GROUP/NAME/-/merge_requests/NUMBER` in TASK.md, or take the line out";
        Error::new(ErrorKind::Refused, message).help(help)
    })
}

/// A text as one part of a path or a query.
fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(byte.into()),
            _ => encoded += &format!("%{byte:02X}"),
        }
    }
    encoded
}

/// The text with a `\` before each `/` that begins a line: GitLab obeys lines such as `/merge` and `/approve`, which agents may write.
/// Readers do not see the `\`.
fn without_quick_actions(text: &str) -> String {
    let lines = text.split('\n').map(|line| {
        let blank = line.len() - line.trim_start().len();
        let (blank, rest) = line.split_at(blank);
        if rest.starts_with('/') { format!("{blank}\\{rest}") } else { line.to_owned() }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn asked(call: ProgramCall) -> Result<CallOutput> {
    checked(call.run()?)
}

fn checked(answer: CallOutput) -> Result<CallOutput> {
    if answer.success() {
        return Ok(answer);
    }
    Err(answer.failure().help(advice(&answer.complaint())))
}

/// Advice on a failure that glab describes in these words.
fn advice(complaint: &str) -> &'static str {
    if says_no_login(complaint) {
        "run `glab auth login`, or set GITLAB_TOKEN"
    } else if complaint.contains("for moved projects") {
        "the project has moved: `git remote set-url origin URL` with its new address"
    } else if says_too_many(complaint) {
        "GitLab answers no more questions for now: wait a minute, then repeat this"
    } else {
        "`glab auth status` and `glab repo view` in the repository show what is wrong"
    }
}

fn says_no_login(complaint: &str) -> bool {
    complaint.contains("HTTP 401") || complaint.contains("glab auth login")
}

/// True if glab reports that no remote is on GitLab.
fn says_no_gitlab(complaint: &str) -> bool {
    complaint.contains("no git remotes found") || complaint.contains("point to a known GitLab host")
}

fn says_too_many(complaint: &str) -> bool {
    complaint.contains("HTTP 429")
}

fn unclear(answer: &CallOutput) -> Error {
    Error::new(ErrorKind::Environment, format!("`glab` said what was not understood: {}", answer.text()))
        .help("repeat this; `glab --version` should be 1.36 or newer, and GitLab 15.6 or newer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_host_a_project_and_a_number() {
        for (url, expect) in [
            ("https://gitlab.com/toys/toy/-/merge_requests/7", Some(("gitlab.com", "toys/toy", "7"))),
            (
                "https://gitlab.example.org:8443/toys/parts/_a/t.o-y/-/merge_requests/12",
                Some(("gitlab.example.org:8443", "toys/parts/_a/t.o-y", "12")),
            ),
            ("http://gitlab.com/toys/toy/merge_requests/7", Some(("gitlab.com", "toys/toy", "7"))),
            ("https://gitlab.com/toy/-/merge_requests/7", None),
            ("https://gitlab.com/toys/toy/-/merge_requests/7?x", None),
            ("https://gitlab.com/toys/toy/-/merge_requests/", None),
            ("https://gitlab.com/toys/%2e%2e/-/merge_requests/7", None),
            ("https://gitlab.com/toys/../-/merge_requests/7", None),
            ("https://gitlab.com/toys/:id/-/merge_requests/7", None),
            ("https://--web/toys/toy/-/merge_requests/7", None),
            ("https://github.com/toys/toy/pull/7", None),
            ("--web", None),
            ("7", None),
            ("", None),
        ] {
            let expect = expect.map(|(host, project, number)| MergeRequestAddress { host, project, number });
            assert_eq!(place(url).map_err(|error| error.kind), expect.ok_or(ErrorKind::Refused), "{url}");
        }
    }

    #[test]
    fn a_branch_is_one_part_of_a_query() {
        assert_eq!(encoded("fix/a&state=:id #ä"), "fix%2Fa%26state%3D%3Aid%20%23%C3%A4");
        assert_eq!(encoded("toys/parts/toy-1.0_b~"), "toys%2Fparts%2Ftoy-1.0_b~");
    }

    #[test]
    fn a_text_has_no_command_for_gitlab() {
        let text = "Mend a/b\n/merge\n  /approve\r\n> /close\n\n//";
        assert_eq!(without_quick_actions(text), "Mend a/b\n\\/merge\n  \\/approve\r\n> /close\n\n\\//");
        assert_eq!(without_quick_actions(""), "");
    }

    #[test]
    fn a_failure_has_the_advice_that_mends_it() {
        for (complaint, part) in [
            ("glab: 401 Unauthorized (HTTP 401)", "glab auth login"),
            ("glab: Non GET methods are not allowed for moved projects (HTTP 405)", "set-url"),
            ("glab: Retry later (HTTP 429)", "wait"),
            ("glab: 502 Bad Gateway (HTTP 502)", "glab auth status"),
            ("glab: 404 Project Not Found (HTTP 404)", "glab repo view"),
        ] {
            assert!(advice(complaint).contains(part), "{complaint}");
        }
        assert!(!says_no_gitlab("glab: 404 Project Not Found (HTTP 404)"));
        assert!(says_no_gitlab(
            "none of the git remotes configured for this repository point to a known GitLab host."
        ));
    }
}
