//! The failed checks of a pull request on GitHub, with the logs of those that are jobs of GitHub Actions.

use orange_api::{FailedCheck, MOST_CHECKS};
use serde::Deserialize;

use super::super::{FailedRun, LONGEST_LOG, check_commit, check_log, not_asked_for};
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
        let entries = self.entries(url, commit)?;
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

    /// The failed runs of its checks, of required ones alone or of all.
    pub fn failed_runs(&self, url: &str, commit: &str, is_of_required: bool) -> Result<Vec<FailedRun>> {
        let entries = match is_of_required {
            true => self.required_entries(url, commit)?,
            false => self.entries(url, commit)?,
        };
        let address = place(url)?;
        Ok(failed(&entries).map(|check| failed_run(&check, address)).collect())
    }

    /// Asks for the failed jobs of these runs again.
    pub fn rerun(&self, url: &str, again: &[&str]) -> Result<()> {
        let PullRequestAddress { host, owner, name, .. } = place(url)?;
        let repository = format!("{host}/{owner}/{name}");
        for run in again {
            asked(self.call(&["run", "rerun", run, "--failed", "--repo", &repository]))?;
        }
        Ok(())
    }

    /// The checks of a pull request whose newest commit is this one.
    fn entries(&self, url: &str, commit: &str) -> Result<Vec<CheckEntry>> {
        check_url(url)?;
        let answer = asked(self.call(&["pr", "view", url, "--json", "headRefOid,statusCheckRollup"]))?;
        let ShownChecks { head_ref_oid, status_check_rollup } =
            serde_json::from_slice(&answer.stdout).map_err(|_| unclear(&answer))?;
        check_commit(&head_ref_oid, commit)?;
        Ok(status_check_rollup.unwrap_or_default())
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

fn failed_run(check: &Failed<'_>, address: PullRequestAddress<'_>) -> FailedRun {
    let url = check.url.unwrap_or_default();
    let again = job_address(url, address).map(|(run, _)| run.to_owned());
    FailedRun { name: check.title(), run: format!("{} {url} {}", check.title(), check.time), again }
}

/// The number of the job in the address of a check of this repository.
fn job_of<'u>(url: &'u str, address: PullRequestAddress<'_>) -> Option<&'u str> {
    job_address(url, address).map(|(_, job)| job)
}

/// The numbers of the run and of the job in such an address.
fn job_address<'u>(url: &'u str, address: PullRequestAddress<'_>) -> Option<(&'u str, &'u str)> {
    let PullRequestAddress { host, owner, name, .. } = address;
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let parts: Vec<&str> = rest.split(['?', '#']).next()?.split('/').collect();
    let [of_host, of_owner, of_name, "actions", "runs", run, "job", job] = parts[..] else {
        return None;
    };
    // The repository may have another name since.
    let is_here = of_host.eq_ignore_ascii_case(host)
        && (of_owner.eq_ignore_ascii_case(owner) || of_name.eq_ignore_ascii_case(name));
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit());
    (is_here && is_number(run) && is_number(job)).then_some((run, job))
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
            ("https://github.com/toys/toy/actions/runs/--all/job/22", None),
            ("https://ci.example.org/toys/toy/actions/runs/1/job/22", None),
            ("https://github.com/others/game/actions/runs/1/job/22", None),
            ("", None),
        ] {
            assert_eq!(job_of(url, PLACE), expect, "{url}");
        }
    }

    #[test]
    fn a_failed_run_differs_from_the_next_run_of_its_check() {
        let check = |url, time| {
            let check =
                Failed { name: "test", workflow: Some("CI"), conclusion: "failure".to_owned(), url, time };
            failed_run(&check, PLACE)
        };
        let first = check(Some("https://github.com/toys/toy/actions/runs/1/job/22"), "2026-11-20T10:00:00Z");
        let second = check(Some("https://github.com/toys/toy/actions/runs/1/job/23"), "2026-11-20T10:07:00Z");
        assert_eq!((first.name.as_str(), first.again.as_deref()), ("CI / test", Some("1")));
        assert_eq!(second.again, first.again);
        assert_ne!(second.run, first.run);
        assert_eq!(check(Some("https://ci.example.org/7"), "").again, None);
        assert_eq!(check(None, "").again, None);
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
