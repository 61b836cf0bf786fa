//! gh: pull requests on GitHub. Every call needs the network and an account.

mod checks;
mod discussion;
mod failed;
mod glance;
mod graphql;
mod issues;
mod merge;
mod outlook;
mod reply;
mod required;

use orange_system::variables;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::{CheckedCommit, Issue, NewPullRequest, PATIENCE, PrState, PullRequest};
use crate::{Error, ErrorKind, Result};
use orange_system::exec::{CallOutput, ProgramCall};

/// The exit status of gh without a login.
const NO_LOGIN: i32 = 4;

/// gh in one project's repository, whose remotes name the repository on GitHub.
#[derive(Clone, Debug)]
pub struct Gh {
    repo: PathBuf,
    patience: Duration,
}

/// The parts of a pull request's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PullRequestAddress<'a> {
    host: &'a str,
    owner: &'a str,
    name: &'a str,
    number: u64,
}

impl Gh {
    /// gh in this folder.
    pub fn at(repo: impl Into<PathBuf>) -> Gh {
        Gh { repo: repo.into(), patience: PATIENCE }
    }

    /// Sets another time limit.
    pub fn patience(self, patience: Duration) -> Gh {
        Gh { patience, ..self }
    }

    /// The pull request of this address.
    ///
    /// # Errors
    /// `refused` for what is not a pull request's address; `environment` when gh is missing, cannot log in, is too slow or fails.
    pub fn view(&self, url: &str) -> Result<PullRequest> {
        check_url(url)?;
        let answer = asked(self.call(&[
            "pr",
            "view",
            url,
            "--json",
            "url,state,mergeCommit,headRefOid,statusCheckRollup",
        ]))?;
        parse_view(&answer.stdout).ok_or_else(|| unclear(&answer))
    }

    /// The issue of this number.
    pub fn issue(&self, number: u64) -> Result<Issue> {
        let number = number.to_string();
        let answer = asked(self.call(&["issue", "view", &number, "--json", "number,title,body,url"]))?;
        serde_json::from_slice(&answer.stdout).map_err(|_| unclear(&answer))
    }

    /// The newest open pull request of a branch, or else the newest one.
    pub fn of_branch(&self, branch: &str) -> Result<Option<PullRequest>> {
        let answer = asked(self.list(branch))?;
        parse_list(&answer.stdout).ok_or_else(|| unclear(&answer))
    }

    /// The pull request of a branch of a project that may not use GitHub: `None` also if gh has no login, and if no remote of the
    /// repository is on GitHub.
    pub fn of_branch_if_used(&self, branch: &str) -> Result<Option<PullRequest>> {
        let answer = self.list(branch).run()?;
        if answer.code() == Some(NO_LOGIN) || says_no_github(&answer.complaint()) {
            return Ok(None);
        }
        let answer = checked(answer)?;
        parse_list(&answer.stdout).ok_or_else(|| unclear(&answer))
    }

    fn list(&self, branch: &str) -> ProgramCall {
        let head = format!("--head={branch}");
        let fields = "--json=url,state,mergeCommit,mergedAt,isCrossRepository";
        self.call(&["pr", "list", &head, "--state=all", fields])
    }

    /// Opens a pull request and returns its address. The text goes through a pipe, the title in one argument.
    pub fn create(&self, new: &NewPullRequest<'_>) -> Result<String> {
        let (base, head) = (format!("--base={}", new.base), format!("--head={}", new.head));
        let title = format!("--title={}", new.title);
        let call = self.call(&["pr", "create", &base, &head, &title, "--body-file=-"]);
        // An empty input has no pipe.
        let answer = asked(call.input(format!("{}\n", new.body).as_bytes()))?;
        parse_created(&answer.text()).ok_or_else(|| unclear(&answer))
    }

    /// A call without questions and without a check for updates.
    fn call(&self, args: &[&str]) -> ProgramCall {
        ProgramCall::new("gh")
            .args(args)
            .folder(&self.repo)
            .bound(self.patience)
            .without(variables::GIT)
            .without(&["GH_DEBUG", "DEBUG", "GH_FORCE_TTY", "CLICOLOR_FORCE"])
            .env("GH_PROMPT_DISABLED", "1")
            .env("GH_NO_UPDATE_NOTIFIER", "1")
            .env("NO_COLOR", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
    }
}

/// Takes an address apart.
fn place(url: &str) -> Result<PullRequestAddress<'_>> {
    check_url(url)?;
    let is_plain = |text: &&str, more: &[u8]| {
        text.as_bytes().first().is_some_and(|first| first.is_ascii_alphanumeric() || b"._".contains(first))
            && !matches!(*text, "." | "..")
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || more.contains(&byte))
    };
    let read = || {
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
        let [host, owner, name, _, number] = rest.split('/').collect::<Vec<_>>().try_into().ok()?;
        let host = Some(host).filter(|it| is_plain(it, b".-:"))?;
        let [owner, name] = [owner, name].map(|it| Some(it).filter(|it| is_plain(it, b"._-")));
        Some(PullRequestAddress { host, owner: owner?, name: name?, number: number.parse().ok()? })
    };
    read().ok_or_else(|| no_address(url))
}

/// Refuses an address that gh might read as something else: people and agents write it into `TASK.md`.
fn check_url(url: &str) -> Result<()> {
    let is_one = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).is_some_and(|rest| {
        let number = rest.rsplit_once("/pull/").map_or("", |(_, number)| number);
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    if is_one {
        return Ok(());
    }
    Err(no_address(url))
}

fn no_address(url: &str) -> Error {
    let message = format!("`{}` is not a pull request's address", url.escape_debug());
    let help =
        "write it as `pr_url: https://github.com/OWNER/NAME/pull/NUMBER` in TASK.md, or take the line out";
    Error::new(ErrorKind::Refused, message).help(help)
}

fn asked(call: ProgramCall) -> Result<CallOutput> {
    checked(call.run()?)
}

/// True if gh reports that no remote is on GitHub.
fn says_no_github(complaint: &str) -> bool {
    complaint.contains("no git remotes found") || complaint.contains("point to a known GitHub host")
}

fn checked(answer: CallOutput) -> Result<CallOutput> {
    match answer.code() {
        Some(0) => Ok(answer),
        Some(NO_LOGIN) => Err(answer.failure().help("run `gh auth login`, or set GH_TOKEN")),
        _ => Err(answer
            .failure()
            .help("`gh auth status` and `gh repo view` in the repository show what is wrong")),
    }
}

fn unclear(answer: &CallOutput) -> Error {
    Error::new(ErrorKind::Environment, format!("`gh` said what was not understood: {}", answer.text()))
        .help("`gh --version` should be 2.0 or newer")
}

/// A pull request as gh writes it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListedPullRequest {
    url: String,
    state: String,
    merge_commit: Option<MergeCommit>,
    merged_at: Option<String>,
    #[serde(default)]
    is_cross_repository: bool,
    #[serde(default)]
    head_ref_oid: Option<String>,
    #[serde(default)]
    status_check_rollup: Option<Vec<checks::CheckEntry>>,
}

#[derive(Deserialize)]
struct MergeCommit {
    oid: String,
}

impl ListedPullRequest {
    /// In our words; `None` if a word of its state is unknown.
    fn read(self) -> Option<PullRequest> {
        let ListedPullRequest {
            url, state, merge_commit, merged_at, head_ref_oid, status_check_rollup, ..
        } = self;
        let checks = head_ref_oid.zip(status_check_rollup);
        let checks = checks.map(|(commit, checks)| {
            let (state, unknown) = checks::result(&checks);
            CheckedCommit { commit, state, have_ended: checks::have_ended(&checks), unknown }
        });
        let commit = merge_commit.map(|commit| commit.oid);
        Some(PullRequest { url, state: pr_state(&state)?, commit, merged_at, checks })
    }
}

fn pr_state(word: &str) -> Option<PrState> {
    match word {
        "OPEN" => Some(PrState::Open),
        "MERGED" => Some(PrState::Merged),
        "CLOSED" => Some(PrState::Closed),
        _ => None,
    }
}

fn parse_view(json: &[u8]) -> Option<PullRequest> {
    serde_json::from_slice::<ListedPullRequest>(json).ok()?.read()
}

/// Pull requests of forks are ignored: other people's branches can have the same name.
fn parse_list(json: &[u8]) -> Option<Option<PullRequest>> {
    let all: Vec<ListedPullRequest> = serde_json::from_slice(json).ok()?;
    let own = all.into_iter().filter(|one| !one.is_cross_repository);
    Some(super::open_or_first(own.map(ListedPullRequest::read).collect::<Option<_>>()?))
}

/// The address is on the last line, after other messages.
fn parse_created(printed: &str) -> Option<String> {
    let last = printed.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    check_url(last).ok().map(|()| last.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use orange_journal::event::Checks;

    const URL: &str = "https://github.com/toys/toy/pull/7";

    #[track_caller]
    fn check_view(json: &str, expect: Option<(PrState, Option<&str>)>) {
        let expect = expect.map(|(state, commit)| PullRequest {
            url: URL.to_owned(),
            state,
            commit: commit.map(str::to_owned),
            merged_at: None,
            checks: None,
        });
        assert_eq!(parse_view(json.as_bytes()), expect);
    }

    #[track_caller]
    fn check_list(json: &str, expect: Option<Option<PrState>>) {
        assert_eq!(parse_list(json.as_bytes()).map(|found| found.map(|it| it.state)), expect);
    }

    #[test]
    fn a_view_is_read() {
        let view = |state: &str, commit: &str| {
            format!("{{\"mergeCommit\":{commit},\"state\":\"{state}\",\"url\":\"{URL}\"}}\n")
        };
        check_view(&view("OPEN", "null"), Some((PrState::Open, None)));
        check_view(&view("CLOSED", "null"), Some((PrState::Closed, None)));
        check_view(&view("MERGED", "{\"oid\":\"c0ffee\"}"), Some((PrState::Merged, Some("c0ffee"))));
        check_view(&view("ELSEWHERE", "null"), None);
        check_view("no json", None);
    }

    #[test]
    fn a_view_has_the_newest_checks_of_its_commit() {
        let run = |started: &str, conclusion: &str| {
            format!(
                r#"{{"__typename":"CheckRun","conclusion":"{conclusion}","name":"test","startedAt":"{started}","workflowName":"CI"}}"#
            )
        };
        let runs =
            [run("2026-11-20T10:00:00Z", "CANCELLED"), run("2026-11-20T10:07:31Z", "SUCCESS")].join(",");
        let json = format!(
            r#"{{"headRefOid":"c0ffee","mergeCommit":null,"state":"OPEN","statusCheckRollup":[{runs}],"url":"{URL}"}}"#
        );
        let expect = Some(CheckedCommit {
            commit: "c0ffee".to_owned(),
            state: Checks::Green,
            have_ended: true,
            unknown: None,
        });
        assert_eq!(parse_view(json.as_bytes()).and_then(|pr| pr.checks), expect);
    }

    #[test]
    fn the_open_pull_request_of_a_branch_counts_then_the_newest() {
        let one = |state: &str, fork: bool| {
            format!(
                "{{\"isCrossRepository\":{fork},\"mergeCommit\":null,\"state\":\"{state}\",\"url\":\"{URL}\"}}"
            )
        };
        let list = |all: &[String]| format!("[{}]", all.join(","));
        check_list("[]", Some(None));
        check_list(&list(&[one("CLOSED", false), one("OPEN", false)]), Some(Some(PrState::Open)));
        check_list(&list(&[one("MERGED", false), one("CLOSED", false)]), Some(Some(PrState::Merged)));
        check_list(&list(&[one("OPEN", true)]), Some(None));
        check_list("{}", None);
    }

    #[test]
    fn a_repository_without_github_is_no_failure() {
        assert!(says_no_github("no git remotes found"));
        assert!(says_no_github(
            "none of the git remotes configured for this repository point to a known GitHub host. To tell gh about a \
             new GitHub host, please use `gh auth login`"
        ));
        assert!(!says_no_github("HTTP 502: Bad gateway (https://api.github.com/graphql)"));
    }

    #[test]
    fn a_new_one_s_address_is_the_last_line() {
        let printed = format!("Warning: 1 uncommitted change\n{URL}\n");
        assert_eq!(parse_created(&printed).as_deref(), Some(URL));
        assert_eq!(parse_created("a template was used\n"), None);
    }

    #[test]
    fn what_may_be_an_option_or_a_name_is_no_address() {
        for url in
            ["--web", "7", "https://github.com/toys/toy", "https://github.com/t/t/pull/7?x", "", "a/pull/7"]
        {
            assert_eq!(check_url(url).map_err(|error| error.kind), Err(ErrorKind::Refused), "{url}");
        }
        assert!(check_url(URL).is_ok());
        assert!(check_url("https://ghe.example.org/o/r/pull/12").is_ok());
    }

    #[test]
    fn an_address_has_a_host_an_owner_a_name_and_a_number() {
        for (url, expect) in [
            (URL, Some(("github.com", "toys", "toy", 7))),
            (
                "http://ghe.example.org:8443/o-x/.r_1/pull/12",
                Some(("ghe.example.org:8443", "o-x", ".r_1", 12)),
            ),
            ("https://github.com/toys/pull/7", None),
            ("https://github.com/toys/a/b/pull/7", None),
            ("https://github.com/toys/../pull/7", None),
            ("https://github.com/toys/a%2fb/pull/7", None),
            ("https://github.com/-toys/toy/pull/7", None),
            ("https://a@github.com/toys/toy/pull/7", None),
            ("https://github.com/toys/toy/pull/99999999999999999999", None),
        ] {
            let found = place(url).map(|it| (it.host, it.owner, it.name, it.number));
            assert_eq!(found.map_err(|error| error.kind), expect.ok_or(ErrorKind::Refused), "{url}");
        }
    }
}
