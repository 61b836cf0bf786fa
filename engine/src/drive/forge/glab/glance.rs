//! A glance at many merge requests with one question in GraphQL for each project.

use std::collections::BTreeMap;

use orange_journal::event::Checks;
use serde::{Deserialize, Serialize};

use super::super::{Glance, Glances};
use super::{Glab, MergeRequestAddress, answer, checked, place, posted, says_too_many, unclear};
use crate::Result;

/// The most merge requests of one question: GitLab lists up to a hundred.
const MOST: usize = 50;

const QUERY: &str = "query($project: ID!, $numbers: [String!]) { project(fullPath: $project) { \
    mergeRequests(iids: $numbers) { nodes { iid state updatedAt diffHeadSha detailedMergeStatus headPipeline { sha status } } } } }";

#[derive(Serialize)]
struct Question<'a> {
    query: &'a str,
    variables: Variables<'a>,
}

#[derive(Serialize)]
struct Variables<'a> {
    project: &'a str,
    numbers: Vec<&'a str>,
}

#[derive(Deserialize)]
struct Answer {
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    project: Option<Project>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Project {
    merge_requests: Nodes,
}

#[derive(Deserialize)]
struct Nodes {
    nodes: Vec<Facts>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
    iid: String,
    state: String,
    updated_at: String,
    diff_head_sha: Option<String>,
    detailed_merge_status: Option<String>,
    head_pipeline: Option<Pipeline>,
}

#[derive(Deserialize)]
struct Pipeline {
    sha: Option<String>,
    status: String,
}

impl Glab {
    /// Glances at these merge requests, in one call for each project and fifty of them.
    pub fn glances(&self, urls: &[&str]) -> Result<Glances> {
        let mut by_project: BTreeMap<(&str, &str), Vec<(&str, &str)>> = BTreeMap::new();
        for url in urls {
            let MergeRequestAddress { host, project, number } = place(url)?;
            by_project.entry((host, project)).or_default().push((number, *url));
        }
        let mut found = Glances::default();
        for ((host, project), wanted) in by_project {
            for wanted in wanted.chunks(MOST) {
                let numbers = wanted.iter().map(|(number, _)| *number).collect();
                let question = Question { query: QUERY, variables: Variables { project, numbers } };
                let call =
                    self.call(&["api", "graphql", "--hostname", host, "--method", "POST", "--input", "-"]);
                let answer = posted(call, &question)?.run()?;
                if !answer.success() && says_too_many(&answer.complaint()) {
                    found.is_scarce = true;
                    return Ok(found);
                }
                let answer = checked(answer)?;
                found.each.extend(parse(&answer.stdout, wanted).ok_or_else(|| unclear(&answer))?);
            }
        }
        Ok(found)
    }
}

/// The glances of an answer about these numbers and addresses. One with an unknown word of its state has none.
fn parse(json: &[u8], wanted: &[(&str, &str)]) -> Option<Vec<Glance>> {
    let nodes = serde_json::from_slice::<Answer>(json).ok()?.data.project?.merge_requests.nodes;
    let one = |facts: Facts| {
        let (_, url) = wanted.iter().find(|(number, _)| *number == facts.iid)?;
        facts.read(url)
    };
    Some(nodes.into_iter().filter_map(one).collect())
}

impl Facts {
    fn read(self, url: &str) -> Option<Glance> {
        let Facts { state, updated_at, diff_head_sha, detailed_merge_status, head_pipeline, .. } = self;
        // Words of GraphQL are in capitals.
        let word = head_pipeline.as_ref().map(|it| it.status.to_ascii_lowercase());
        let checks = match word {
            Some(word) => answer::checks_of(&word).unwrap_or(Checks::Red),
            None => Checks::None,
        };
        let commits = [diff_head_sha, head_pipeline.and_then(|it| it.sha), detailed_merge_status];
        let commits: Vec<String> = commits.into_iter().map(Option::unwrap_or_default).collect();
        let state = answer::pr_state(&state)?;
        Some(Glance { url: url.to_owned(), state, commits: commits.join(" "), updated_at, checks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::forge::PrState;

    const WANTED: [(&str, &str); 2] = [
        ("7", "https://gitlab.com/toys/toy/-/merge_requests/7"),
        ("8", "https://gitlab.com/toys/toy/-/merge_requests/8"),
    ];

    /// An answer of GitLab's GraphQL API, as documented for GitLab 18.
    fn answered(state: &str, status: &str) -> String {
        let one = |number: u32| {
            format!(
                r#"{{"iid":"{number}","state":"{state}","updatedAt":"2026-11-22T09:30:00Z","diffHeadSha":"c0ffee",
                "detailedMergeStatus":"MERGEABLE","headPipeline":{{"sha":"c0ffee","status":"{status}"}}}}"#
            )
        };
        let nodes = [9, 8, 7].map(one).join(",");
        format!(r#"{{"data":{{"project":{{"mergeRequests":{{"nodes":[{nodes}]}}}}}}}}"#)
    }

    #[test]
    fn each_glance_has_the_address_that_was_asked_for() {
        let found = parse(answered("opened", "SUCCESS").as_bytes(), &WANTED).unwrap();
        let urls: Vec<&str> = found.iter().map(|it| it.url.as_str()).collect();
        assert_eq!(urls, [WANTED[1].1, WANTED[0].1]);
        assert_eq!((found[0].state, &found[0].checks), (PrState::Open, &Checks::Green));
    }

    #[test]
    fn an_open_one_without_a_change_has_nothing_new() {
        for (state, status, is_calm) in [
            ("opened", "SUCCESS", true),
            ("locked", "SUCCESS", true),
            ("opened", "RUNNING", false),
            ("opened", "FAILED", false),
            ("opened", "A_NEW_WORD", false),
            ("merged", "SUCCESS", false),
        ] {
            let found = parse(answered(state, status).as_bytes(), &WANTED).unwrap();
            assert_eq!(found[0].has_nothing_new(&found[0]), is_calm, "{state} {status}");
        }
        let [before, after] = ["MERGEABLE", "CI_MUST_PASS"].map(|word| {
            let json = answered("opened", "SUCCESS").replace("MERGEABLE", word);
            parse(json.as_bytes(), &WANTED).unwrap().remove(0)
        });
        assert!(!after.has_nothing_new(&before));
    }

    #[test]
    fn what_gitlab_does_not_know_has_no_glance() {
        assert!(parse(answered("archived", "SUCCESS").as_bytes(), &WANTED).unwrap().is_empty());
        for json in [r#"{"data":{"project":null}}"#, r#"{"errors":[{"message":"no"}]}"#, "", "{\"data\":"] {
            assert!(parse(json.as_bytes(), &WANTED).is_none(), "{json}");
        }
    }
}
