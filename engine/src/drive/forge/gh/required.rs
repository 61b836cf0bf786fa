//! The required checks of a pull request on GitHub, which gh's own list does not mark.

use serde::Deserialize;

use super::super::{CheckedCommit, check_commit};
use super::checks::{self, CheckEntry};
use super::graphql::of_pull_request;
use super::{Gh, asked, unclear};
use crate::{Error, ErrorKind, Result};

/// The checks of the newest commit, the first hundred.
const QUERY: &str = "query($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, name: $name) { \
    pullRequest(number: $number) { headRefOid commits(last: 1) { nodes { commit { oid statusCheckRollup { \
    contexts(first: 100) { pageInfo { hasNextPage } nodes { __typename \
    ... on CheckRun { name conclusion startedAt completedAt detailsUrl isRequired(pullRequestNumber: $number) \
    checkSuite { workflowRun { workflow { name } } } } \
    ... on StatusContext { context state targetUrl createdAt isRequired(pullRequestNumber: $number) } } } } } } } } } }";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
    head_ref_oid: String,
    commits: Nodes<CommitNode>,
}

#[derive(Deserialize)]
struct Nodes<T> {
    nodes: Vec<T>,
}

#[derive(Deserialize)]
struct CommitNode {
    commit: Commit,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Commit {
    oid: String,
    /// Null for a commit without checks.
    status_check_rollup: Option<Rollup>,
}

#[derive(Deserialize)]
struct Rollup {
    contexts: Contexts,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Contexts {
    page_info: PageInfo,
    nodes: Vec<Context>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageInfo {
    has_next_page: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Context {
    is_required: bool,
    check_suite: Option<CheckSuite>,
    #[serde(flatten)]
    entry: CheckEntry,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CheckSuite {
    /// Null for a check that is not of a workflow of the repository.
    workflow_run: Option<WorkflowRun>,
}

#[derive(Deserialize)]
struct WorkflowRun {
    workflow: Workflow,
}

#[derive(Deserialize)]
struct Workflow {
    name: String,
}

/// The required checks of a commit.
struct RequiredChecks {
    commit: String,
    entries: Vec<CheckEntry>,
    /// True if there are more checks than were asked for.
    has_more: bool,
}

impl Gh {
    /// The result of the required checks of a pull request.
    pub fn required_checks(&self, url: &str) -> Result<CheckedCommit> {
        let RequiredChecks { commit, entries, .. } = self.required(url)?;
        let (state, unknown) = checks::result(&entries);
        Ok(CheckedCommit { commit, state, have_ended: checks::have_ended(&entries), unknown })
    }

    /// The required checks of a pull request whose newest commit is this one.
    pub(super) fn required_entries(&self, url: &str, commit: &str) -> Result<Vec<CheckEntry>> {
        let found = self.required(url)?;
        check_commit(&found.commit, commit)?;
        Ok(found.entries)
    }

    fn required(&self, url: &str) -> Result<RequiredChecks> {
        let answer = asked(self.graphql_about(url, QUERY)?)?;
        let found = parse(&answer.stdout).ok_or_else(|| unclear(&answer))?;
        if found.has_more {
            let message = "the pull request has more than 100 checks, so its required checks are not known";
            return Err(Error::new(ErrorKind::Environment, message)
                .help("take `required: true` out of the watch rule"));
        }
        Ok(found)
    }
}

fn parse(json: &[u8]) -> Option<RequiredChecks> {
    let facts = of_pull_request::<Facts>(json)?;
    let newest =
        facts.commits.nodes.into_iter().map(|it| it.commit).find(|it| it.oid == facts.head_ref_oid)?;
    let contexts = newest.status_check_rollup.map(|it| it.contexts);
    let has_more = contexts.as_ref().is_some_and(|it| it.page_info.has_next_page);
    let required = contexts.into_iter().flat_map(|it| it.nodes).filter(|it| it.is_required);
    let entry = |it: Context| {
        let workflow = it.check_suite.and_then(|suite| suite.workflow_run).map(|run| run.workflow.name);
        it.entry.of_workflow(workflow)
    };
    Some(RequiredChecks { commit: newest.oid, entries: required.map(entry).collect(), has_more })
}

#[cfg(test)]
mod tests {
    use orange_journal::event::Checks;

    use super::*;

    fn answer(nodes: &[&str], has_more: bool) -> String {
        format!(
            r#"{{"data":{{"repository":{{"pullRequest":{{"headRefOid":"c0ffee","commits":{{"nodes":[{{"commit":{{"oid":"c0ffee",
            "statusCheckRollup":{{"contexts":{{"pageInfo":{{"hasNextPage":{has_more}}},"nodes":[{}]}}}}}}}}]}}}}}}}}}}"#,
            nodes.join(",")
        )
    }

    fn run(name: &str, conclusion: &str, is_required: bool) -> String {
        format!(
            r#"{{"__typename":"CheckRun","name":"{name}","conclusion":{conclusion},"startedAt":"2026-11-20T10:00:00Z",
            "completedAt":null,"detailsUrl":"https://github.com/toys/toy/actions/runs/1/job/2","isRequired":{is_required},
            "checkSuite":{{"workflowRun":{{"workflow":{{"name":"CI"}}}}}}}}"#
        )
    }

    #[track_caller]
    fn check(nodes: &[&str], expect: (Checks, bool)) {
        let found = parse(answer(nodes, false).as_bytes()).unwrap();
        let state = checks::result(&found.entries).0;
        assert_eq!((state, checks::have_ended(&found.entries)), expect);
    }

    #[test]
    fn only_required_checks_count() {
        let (passed, failed) = (run("test", "\"SUCCESS\"", true), run("docs", "\"FAILURE\"", false));
        check(&[&passed, &failed], (Checks::Green, true));
        check(&[&run("test", "\"FAILURE\"", true), &run("slow", "null", true)], (Checks::Red, false));
        check(&[&run("slow", "null", true), &failed], (Checks::Pending, false));
        check(&[&run("test", "\"A_NEW_WORD\"", true)], (Checks::Red, true));
        // Without a required check, there is nothing that has succeeded.
        check(&[&failed], (Checks::None, true));
        check(&[], (Checks::None, true));
        let status = r#"{"__typename":"StatusContext","context":"ci","state":"EXPECTED","targetUrl":null,"createdAt":"2026-11-20T10:00:00Z","isRequired":true}"#;
        check(&[status, &passed], (Checks::Pending, false));
    }

    #[test]
    fn an_answer_without_the_mark_is_not_read() {
        let unmarked = run("test", "\"SUCCESS\"", true).replace("\"isRequired\":true,", "");
        assert!(parse(answer(&[&unmarked], false).as_bytes()).is_none());
        assert!(parse(br#"{"data":{"repository":{"pullRequest":null}}}"#).is_none());
        assert!(parse(answer(&[], true).as_bytes()).unwrap().has_more);
        let other = answer(&[], false).replacen("c0ffee", "bad", 1);
        assert!(parse(other.as_bytes()).is_none());
    }

    #[test]
    fn a_required_check_has_the_name_of_its_workflow() {
        let failing = run("test", "\"FAILURE\"", true);
        let found = parse(answer(&[&failing], false).as_bytes()).unwrap();
        let names: Vec<String> = checks::failed(&found.entries).map(|it| it.title()).collect();
        assert_eq!(names, ["CI / test"]);
    }
}
