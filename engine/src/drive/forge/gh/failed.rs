//! The failed checks of a pull request on GitHub, with the logs of those that are jobs of GitHub Actions.

use orange_api::{FailedCheck, MOST_CHECKS};
use serde::Deserialize;

use super::super::{LONGEST_LOG, check_commit, check_log, not_asked_for};
use super::checks::{CheckEntry, Failed, failed};
use super::{Gh, PullRequestAddress, asked, check_url, place, unclear};
use crate::Result;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShownChecks {
    head_ref_oid: String,
    status_check_rollup: Option<Vec<CheckEntry>>,
}

impl Gh {
    /// The failed checks of a pull request whose newest commit is this one.
    pub fn failed_checks(&self, url: &str, commit: &str) -> Result<Vec<FailedCheck>> {
        check_url(url)?;
        let answer = asked(self.call(&["pr", "view", url, "--json", "headRefOid,statusCheckRollup"]))?;
        let ShownChecks { head_ref_oid, status_check_rollup } =
            serde_json::from_slice(&answer.stdout).map_err(|_| unclear(&answer))?;
        check_commit(&head_ref_oid, commit)?;
        let entries = status_check_rollup.unwrap_or_default();
        let address = place(url)?;
        let with_log = |(index, check): (usize, Failed<'_>)| {
            let log =
                if index < MOST_CHECKS { check_log(self.log(address, &check)) } else { not_asked_for() };
            FailedCheck {
                name: check.name.to_owned(),
                workflow: check.workflow.map(str::to_owned),
                conclusion: check.conclusion,
                url: check.url.map(str::to_owned),
                log,
            }
        };
        Ok(failed(&entries).enumerate().map(with_log).collect())
    }

    /// The log of the failed steps of a check's job, else its whole log. The error is the reason for which there is none.
    fn log(
        &self,
        address: PullRequestAddress<'_>,
        check: &Failed<'_>,
    ) -> std::result::Result<String, String> {
        let PullRequestAddress { host, owner, name, .. } = address;
        let Some(job) = check.url.and_then(|url| job_of(url, address)) else {
            return Err("it is not a job of GitHub Actions of this repository".to_owned());
        };
        let repository = format!("{host}/{owner}/{name}");
        let steps = self.call(&["run", "view", "--repo", &repository, "--job", job, "--log-failed"]);
        let of_steps = steps.ends(LONGEST_LOG).run();
        if let Ok(answer) = &of_steps
            && answer.success()
            && !answer.text().trim().is_empty()
        {
            return Ok(without_columns(&answer.text_as_it_is()));
        }
        let endpoint = format!("repos/{owner}/{name}/actions/jobs/{job}/logs");
        match self.call(&["api", &endpoint, "--hostname", host]).ends(LONGEST_LOG).run() {
            Ok(answer) if answer.success() && !answer.text().trim().is_empty() => {
                Ok(without_columns(&answer.text_as_it_is()))
            }
            Ok(answer) if answer.success() => Err("the forge gives an empty log".to_owned()),
            Ok(answer) => Err(answer.failure().message.clone()),
            Err(error) => Err(error.message.clone()),
        }
    }
}

/// The number of the job in the address of a check of this repository.
fn job_of<'u>(url: &'u str, address: PullRequestAddress<'_>) -> Option<&'u str> {
    let PullRequestAddress { host, owner, name, .. } = address;
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let parts: Vec<&str> = rest.split(['?', '#']).next()?.split('/').collect();
    let [of_host, of_owner, of_name, "actions", "runs", _, "job", job] = parts[..] else { return None };
    // The repository may have another name since.
    let is_here = of_host.eq_ignore_ascii_case(host)
        && (of_owner.eq_ignore_ascii_case(owner) || of_name.eq_ignore_ascii_case(name));
    let is_number = !job.is_empty() && job.bytes().all(|byte| byte.is_ascii_digit());
    (is_here && is_number).then_some(job)
}

/// The lines of a log without the names of job and step, which gh puts before each, and without their times.
fn without_columns(log: &str) -> String {
    let lines = log.split('\n').map(|line| {
        let mut columns = line.splitn(3, '\t');
        let line = match (columns.next(), columns.next(), columns.next()) {
            (Some(_), Some(_), Some(rest)) if after_time(rest).is_some() => rest,
            _ => line,
        };
        after_time(line).unwrap_or(line)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The rest of a line that begins with a time.
fn after_time(line: &str) -> Option<&str> {
    let (time, rest) = line.split_once(' ').unwrap_or((line, ""));
    orange_system::clock::parse(time.trim_start_matches('\u{feff}')).map(|_| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: PullRequestAddress<'_> =
        PullRequestAddress { host: "github.com", owner: "toys", name: "toy", number: 7 };

    #[test]
    fn only_a_job_of_the_repository_has_a_log() {
        for (url, expect) in [
            ("https://github.com/toys/toy/actions/runs/1/job/22", Some("22")),
            ("https://github.com/toys/toy/actions/runs/1/job/22?pr=7", Some("22")),
            ("https://github.com/Toys/toy/actions/runs/1/job/22#step:3:1", Some("22")),
            ("https://github.com/toys/toy/actions/runs/1", None),
            ("https://github.com/toys/toy/actions/runs/1/job/--web", None),
            ("https://github.com/toys/toy/actions/runs/1/job/", None),
            ("https://ci.example.org/toys/toy/actions/runs/1/job/22", None),
            ("https://github.com/others/game/actions/runs/1/job/22", None),
            ("", None),
        ] {
            assert_eq!(job_of(url, PLACE), expect, "{url}");
        }
    }

    #[test]
    fn lines_of_a_log_are_as_the_job_wrote_them() {
        let log = "test\tRun tests\t2026-11-20T10:00:00.1234567Z error: a\tb\tc\n\
            test\tUNKNOWN STEP\t\u{feff}2026-11-20T10:00:01.0000000Z \n\
            test\tRun tests\tno time here\n";
        assert_eq!(without_columns(log), "error: a\tb\tc\n\ntest\tRun tests\tno time here\n");
        assert_eq!(without_columns("\u{feff}2026-11-20T10:00:00.0Z ##[error]x\ny"), "##[error]x\ny");
    }
}
