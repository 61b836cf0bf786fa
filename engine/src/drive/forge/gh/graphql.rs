//! Questions to GitHub in GraphQL, and what stands around the facts in each answer.

use orange_system::exec::ProgramCall;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Gh, PullRequestAddress, place};
use crate::{Error, ErrorKind, Result};

#[derive(Serialize)]
struct Question<'a, V> {
    query: &'a str,
    variables: &'a V,
}

/// The variables of a question about one pull request: `$owner`, `$name` and `$number`.
#[derive(Serialize)]
struct OfPullRequest<'a> {
    owner: &'a str,
    name: &'a str,
    number: u64,
}

#[derive(Deserialize)]
struct Answer<D> {
    data: D,
}

#[derive(Deserialize)]
struct RepositoryData<R> {
    repository: Option<R>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PullRequestData<F> {
    pull_request: Option<F>,
}

impl Gh {
    /// The call that asks a question.
    pub(super) fn graphql(&self, host: &str, query: &str, variables: &impl Serialize) -> Result<ProgramCall> {
        let call = self.call(&["api", "graphql", "--hostname", host, "--input", "-"]);
        Ok(call.input(&json(&Question { query, variables })?))
    }

    /// The call that asks a question about the pull request of this address.
    pub(super) fn graphql_about(&self, url: &str, query: &str) -> Result<ProgramCall> {
        let PullRequestAddress { host, owner, name, number } = place(url)?;
        self.graphql(host, query, &OfPullRequest { owner, name, number })
    }
}

/// The body of a request.
pub(super) fn json(value: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(value)
        .map_err(|cause| Error::new(ErrorKind::Environment, format!("a question has no JSON: {cause}")))
}

/// The data of an answer; `None` for an answer without data, or with other data.
pub(super) fn data<D: DeserializeOwned>(json: &[u8]) -> Option<D> {
    serde_json::from_slice::<Answer<D>>(json).ok().map(|answer| answer.data)
}

/// The facts of the repository in an answer.
pub(super) fn of_repository<R: DeserializeOwned>(json: &[u8]) -> Option<R> {
    data::<RepositoryData<R>>(json)?.repository
}

/// The facts of the pull request in an answer.
pub(super) fn of_pull_request<F: DeserializeOwned>(json: &[u8]) -> Option<F> {
    of_repository::<PullRequestData<F>>(json)?.pull_request
}
