//! A glance at many pull requests with one question. It tells which of them are worth a view each.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use orange_journal::event::Checks;

use super::super::{Glance, Glances};
use super::graphql::data;
use super::{Gh, check_url, checked, pr_state, unclear};
use crate::Result;

/// The most pull requests of one question: GitHub bounds its size.
const MOST: usize = 50;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
    state: String,
    head_ref_oid: String,
    updated_at: String,
    commits: CommitNodes,
}

#[derive(Deserialize)]
struct CommitNodes {
    nodes: Vec<CommitNode>,
}

#[derive(Deserialize)]
struct CommitNode {
    commit: Commit,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Commit {
    status_check_rollup: Option<Rollup>,
}

/// GitHub's summary of checks. Unlike [`super::checks::result`], it counts superseded ones.
#[derive(Deserialize)]
struct Rollup {
    state: String,
}

#[derive(Deserialize)]
struct RateLimit {
    limit: u64,
    remaining: u64,
}

impl Facts {
    /// In our words; `None` if a word of its state is unknown. An unknown word of checks counts as a failure.
    fn read(self, url: &str) -> Option<Glance> {
        let rollups = self.commits.nodes.into_iter().filter_map(|it| it.commit.status_check_rollup);
        let mut checks = rollups.map(|it| match it.state.as_str() {
            "SUCCESS" => Checks::Green,
            "PENDING" | "EXPECTED" => Checks::Pending,
            _ => Checks::Red,
        });
        Some(Glance {
            url: url.to_owned(),
            state: pr_state(&self.state)?,
            commits: self.head_ref_oid,
            updated_at: self.updated_at,
            checks: checks.next_back().unwrap_or(Checks::None),
        })
    }
}

impl Gh {
    /// Glances at these pull requests, in one call for each host and fifty of them.
    ///
    /// # Errors
    /// Those of [`Gh::view`].
    pub fn glances(&self, urls: &[&str]) -> Result<Glances> {
        let mut by_host: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for url in urls {
            check_url(url)?;
            let host = url.split('/').nth(2).unwrap_or_default();
            by_host.entry(host).or_default().push(url);
        }
        let mut found = Glances::default();
        for (host, urls) in by_host {
            for urls in urls.chunks(MOST) {
                let (query, variables) = question(urls);
                let answer = self.graphql(host, &query, &variables)?.run()?;
                // It fails, too, if it does not know one of them, and has the others all the same.
                let Some(glances) = parse(&answer.stdout, urls) else {
                    return Err(unclear(&checked(answer)?));
                };
                found.each.extend(glances.each);
                found.is_scarce |= glances.is_scarce;
            }
        }
        Ok(found)
    }
}

/// The query about these, with its variables.
fn question<'a>(urls: &[&'a str]) -> (String, BTreeMap<String, &'a str>) {
    let variables = urls.iter().enumerate().map(|(index, url)| (format!("u{index}"), *url)).collect();
    let declared: Vec<String> = (0..urls.len()).map(|index| format!("$u{index}: URI!")).collect();
    let asked: String =
        (0..urls.len()).map(|index| format!(" p{index}: resource(url: $u{index}) {{ ...facts }}")).collect();
    let facts =
        "state headRefOid updatedAt commits(last: 1) { nodes { commit { statusCheckRollup { state } } } }";
    let query = format!(
        "query({}) {{ rateLimit {{ limit remaining }}{asked} }} fragment facts on PullRequest {{ {facts} }}",
        declared.join(", ")
    );
    (query, variables)
}

fn parse(json: &[u8], urls: &[&str]) -> Option<Glances> {
    let mut data = data::<BTreeMap<String, Value>>(json)?;
    let limit = data.remove("rateLimit").and_then(|it| serde_json::from_value::<RateLimit>(it).ok());
    let one = |(index, url): (usize, &&str)| {
        let facts = serde_json::from_value::<Facts>(data.remove(&format!("p{index}"))?).ok()?;
        facts.read(url)
    };
    let each = urls.iter().enumerate().filter_map(one).collect();
    Some(Glances { each, is_scarce: limit.is_some_and(|it| it.remaining.saturating_mul(5) < it.limit) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const URLS: [&str; 2] = ["https://github.com/toys/toy/pull/7", "https://github.com/toys/toy/pull/8"];

    fn answer(each: &[(&str, &str)], remaining: u32) -> String {
        let each = each.iter().enumerate().map(|(index, (state, rollup))| {
            let rollup =
                if *rollup == "null" { "null".to_owned() } else { format!(r#"{{"state":"{rollup}"}}"#) };
            format!(
                r#","p{index}":{{"state":"{state}","headRefOid":"c0ffee","updatedAt":"2026-11-20T10:00:00Z",
                "commits":{{"nodes":[{{"commit":{{"statusCheckRollup":{rollup}}}}}]}}}}"#
            )
        });
        let each: String = each.collect();
        format!(r#"{{"data":{{"rateLimit":{{"limit":5000,"remaining":{remaining}}}{each}}}}}"#)
    }

    fn glances(json: &str) -> Glances {
        parse(json.as_bytes(), &URLS).unwrap()
    }

    #[test]
    fn addresses_are_values_of_a_question_and_no_part_of_its_text() {
        let (query, variables) = question(&URLS);
        assert!(
            query.starts_with("query($u0: URI!, $u1: URI!) { rateLimit { limit remaining } p0:"),
            "{query}"
        );
        assert!(query.contains(" p1: resource(url: $u1) { ...facts } }"), "{query}");
        assert!(!query.contains("github.com"), "{query}");
        let expect = [("u0".to_owned(), URLS[0]), ("u1".to_owned(), URLS[1])];
        assert_eq!(variables, BTreeMap::from(expect));
    }

    #[test]
    fn an_open_one_without_a_change_has_nothing_new() {
        let calm = ["SUCCESS", "null"];
        for rollup in calm.iter().chain(&["PENDING", "EXPECTED", "FAILURE", "ERROR", "A_NEW_WORD"]) {
            let one = glances(&answer(&[("OPEN", rollup)], 5000)).each.remove(0);
            assert_eq!(one.has_nothing_new(&one), calm.contains(rollup), "{rollup}");
        }
        let [before, after] =
            ["PENDING", "SUCCESS"].map(|it| glances(&answer(&[("OPEN", it)], 5000)).each.remove(0));
        assert!(!after.has_nothing_new(&before));
        for state in ["MERGED", "CLOSED"] {
            let ended = glances(&answer(&[(state, "null")], 5000)).each.remove(0);
            assert!(!ended.has_nothing_new(&ended), "{state}");
        }
    }

    #[test]
    fn what_github_does_not_know_has_no_glance() {
        let known = answer(&[("OPEN", "SUCCESS"), ("OPEN", "SUCCESS")], 5000);
        let urls = |json: &str| glances(json).each.into_iter().map(|it| it.url).collect::<Vec<_>>();
        assert_eq!(urls(&known), URLS);
        let one = known.replacen("\"p0\":{", "\"p0\":null,\"other\":{", 1);
        assert_eq!(urls(&one), URLS[1..]);
        assert!(parse(b"gh: Not Found", &URLS).is_none());
        assert!(parse(br#"{"errors":[{"message":"no"}]}"#, &URLS).is_none());
    }

    #[test]
    fn less_than_a_fifth_of_the_hours_questions_is_scarce() {
        assert!(!glances(&answer(&[], 1000)).is_scarce);
        assert!(glances(&answer(&[], 999)).is_scarce);
        assert!(!glances(r#"{"data":{}}"#).is_scarce);
    }
}
