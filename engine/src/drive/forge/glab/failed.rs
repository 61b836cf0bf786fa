//! The failed jobs of a merge request's pipeline on GitLab, with their logs.

use orange_api::{CheckLog, FailedCheck, MOST_CHECKS};
use serde::Deserialize;

use super::super::{FailedRun, LONGEST_LOG, check_commit, check_log, not_asked_for};
use super::{Glab, MergeRequestAddress, asked, encoded, place};
use crate::Result;

#[derive(Deserialize)]
struct Facts {
    sha: Option<String>,
    head_pipeline: Option<Pipeline>,
}

#[derive(Deserialize)]
struct Pipeline {
    id: u64,
    /// A merge request of another project can have its pipeline there.
    project_id: u64,
    status: String,
    sha: String,
    #[serde(rename = "ref", default)]
    reference: String,
    web_url: Option<String>,
}

#[derive(Deserialize)]
struct Job {
    id: u64,
    name: String,
    stage: Option<String>,
    status: String,
    #[serde(default)]
    allow_failure: bool,
    web_url: Option<String>,
}

impl Glab {
    /// The failed checks of a merge request whose newest commit is this one.
    pub fn failed_checks(&self, url: &str, commit: &str) -> Result<Vec<FailedCheck>> {
        let MergeRequestAddress { host, .. } = place(url)?;
        let Some((pipeline, failed)) = self.failed_jobs(url, commit)? else { return Ok(Vec::new()) };
        let project_id = pipeline.project_id;
        if failed.is_empty() {
            return Ok(pipeline.into_check().into_iter().collect());
        }
        let with_log = |(index, job): (usize, Job)| {
            let endpoint = format!("projects/{project_id}/jobs/{}/trace", job.id);
            let log =
                if index < MOST_CHECKS { check_log(self.log(host, &endpoint)) } else { not_asked_for() };
            FailedCheck { name: job.name, workflow: job.stage, conclusion: job.status, url: job.web_url, log }
        };
        Ok(failed.into_iter().enumerate().map(with_log).collect())
    }

    /// The failed runs of its checks.
    pub fn failed_runs(&self, url: &str, commit: &str) -> Result<Vec<FailedRun>> {
        let Some((pipeline, failed)) = self.failed_jobs(url, commit)? else { return Ok(Vec::new()) };
        Ok(failed_runs(pipeline, failed))
    }

    /// Asks for the failed jobs of these pipelines again.
    pub fn rerun(&self, url: &str, again: &[&str]) -> Result<()> {
        let MergeRequestAddress { host, .. } = place(url)?;
        for pipeline in again {
            let endpoint = format!("{pipeline}/retry");
            asked(self.call(&["api", &endpoint, "--hostname", host, "--method", "POST"]))?;
        }
        Ok(())
    }

    /// The pipeline of a commit, and those of its own jobs that have failed.
    fn failed_jobs(&self, url: &str, commit: &str) -> Result<Option<(Pipeline, Vec<Job>)>> {
        let MergeRequestAddress { host, project, number } = place(url)?;
        let Facts { sha, head_pipeline } =
            self.read(host, &format!("projects/{}/merge_requests/{number}", encoded(project)))?;
        check_commit(sha.as_deref().unwrap_or_default(), commit)?;
        let Some(pipeline) = head_pipeline.filter(|it| it.is_about(commit)) else { return Ok(None) };
        let Pipeline { id, project_id, .. } = pipeline;
        let jobs: Vec<Job> = self.read(
            host,
            &format!(
                "projects/{project_id}/pipelines/{id}/jobs?scope[]=failed&scope[]=canceled&per_page=100"
            ),
        )?;
        Ok(Some((pipeline, jobs.into_iter().filter(|job| !job.allow_failure).collect())))
    }

    fn log(&self, host: &str, endpoint: &str) -> std::result::Result<String, String> {
        match self.call(&["api", endpoint, "--hostname", host]).ends(LONGEST_LOG).run() {
            Ok(answer) if answer.success() && !answer.text().trim().is_empty() => Ok(answer.text_as_it_is()),
            Ok(answer) if answer.success() => Err("the forge gives an empty log".to_owned()),
            Ok(answer) => Err(answer.failure().message.clone()),
            Err(error) => Err(error.message.clone()),
        }
    }
}

/// The failed runs of a pipeline: its jobs, or else the pipeline, whose failed parts are elsewhere and do not run again with it.
fn failed_runs(pipeline: Pipeline, failed: Vec<Job>) -> Vec<FailedRun> {
    let again = format!("projects/{}/pipelines/{}", pipeline.project_id, pipeline.id);
    let of_job = |job: Job| {
        let name = job.stage.map_or_else(|| job.name.clone(), |stage| format!("{stage} / {}", job.name));
        FailedRun { run: format!("{name} {}", job.id), name, again: Some(again.clone()) }
    };
    let runs: Vec<FailedRun> = failed.into_iter().map(of_job).collect();
    if runs.is_empty() {
        let of_pipeline =
            |check: FailedCheck| FailedRun { run: again.clone(), name: check.name, again: None };
        return pipeline.into_check().map(of_pipeline).into_iter().collect();
    }
    runs
}

impl Pipeline {
    /// True unless it has examined an earlier commit. One of the merged result has examined a commit that GitLab has made.
    fn is_about(&self, commit: &str) -> bool {
        let of_result =
            self.reference.strip_prefix("refs/merge-requests/").is_some_and(|it| !it.ends_with("/head"));
        self.sha == commit || of_result
    }

    /// The check of a pipeline that has failed without a job of its own: by a pipeline that it has started, or by another program.
    fn into_check(self) -> Option<FailedCheck> {
        let Pipeline { status, web_url, .. } = self;
        let has_failed = matches!(status.as_str(), "failed" | "canceled");
        has_failed.then(|| FailedCheck {
            name: "pipeline".to_owned(),
            workflow: None,
            conclusion: status,
            url: web_url,
            log: CheckLog::Missing { reason: "none of its own jobs has failed".to_owned() },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipeline(status: &str, sha: &str, reference: &str) -> Pipeline {
        let json = format!(
            r#"{{"id":31,"iid":3,"project_id":2,"sha":"{sha}","ref":"{reference}","status":"{status}","source":"push",
            "web_url":"https://gitlab.com/toys/toy/-/pipelines/31"}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    #[test]
    fn a_pipeline_of_an_earlier_commit_is_not_read() {
        assert!(pipeline("failed", "c0ffee", "fix").is_about("c0ffee"));
        assert!(!pipeline("failed", "bad", "fix").is_about("c0ffee"));
        assert!(!pipeline("failed", "bad", "refs/merge-requests/7/head").is_about("c0ffee"));
        assert!(pipeline("failed", "bad", "refs/merge-requests/7/merge").is_about("c0ffee"));
    }

    #[test]
    fn failed_jobs_run_again_with_their_pipeline() {
        let job = r#"{"id":41,"name":"unit","stage":"test","status":"failed"}"#;
        let job: Job = serde_json::from_str(job).unwrap();
        let found = failed_runs(pipeline("failed", "c0ffee", "fix"), vec![job]);
        let again = Some("projects/2/pipelines/31".to_owned());
        let expect = FailedRun { name: "test / unit".to_owned(), run: "test / unit 41".to_owned(), again };
        assert_eq!(found, [expect]);
        let found = failed_runs(pipeline("failed", "c0ffee", "fix"), Vec::new());
        assert_eq!(FailedRun::again(&found), None);
        assert_eq!(found.len(), 1);
        assert!(failed_runs(pipeline("running", "c0ffee", "fix"), Vec::new()).is_empty());
    }

    #[test]
    fn a_pipeline_can_fail_without_a_job() {
        let check = pipeline("failed", "c0ffee", "fix").into_check().unwrap();
        assert_eq!((check.name.as_str(), check.conclusion.as_str()), ("pipeline", "failed"));
        assert!(matches!(check.log, CheckLog::Missing { .. }));
        for status in ["success", "running", "skipped"] {
            assert_eq!(pipeline(status, "c0ffee", "fix").into_check(), None, "{status}");
        }
    }
}
