//! `orange-fleet mission`

use std::io::Read;

use clap::{Args, Subcommand};
use orange_api::gateway::{
    Acted, AnswerBody, AskAnswer, AskAnswered, ContinueBody, MissionAnswer, MissionLine, Missions,
    NewMissionBody, Nothing, PauseAnswer, PauseEffect, PauseOffer, ReportOutcome, RetryBody, RunAnswer, Runs,
    TaskAnswer,
};
use orange_api::{Error, ErrorKind, Result};
use orange_core::plan::Value;
use serde::Serialize;

use super::Said;
use super::client::{ClientArgs, CommandClient, Received, encoded};
use super::status::{or_dash, table};
use crate::model::ids::is_id;

/// `orange-fleet mission …`
#[derive(Debug, Subcommand)]
pub enum MissionCommand {
    /// Start a mission: one run of a step workflow
    #[command(after_help = "\
Examples:
  orange-fleet mission start dev-task \"Add a login form\" --colony coffee
  orange-fleet mission start dev-task --colony coffee --branch login --execution step \"Add a login form\"
  git log -1 | orange-fleet mission start dev-task --colony coffee -")]
    Start(StartArgs),
    /// List missions, the newest first
    #[command(
        visible_alias = "ls",
        after_help = "\
Examples:
  orange-fleet mission list
  orange-fleet mission list --status paused,failed --colony coffee
  orange-fleet mission list --search login --json"
    )]
    List(ListArgs),
    /// Show a mission: its steps, and what it asks
    #[command(after_help = "Example:\n  orange-fleet mission show 0mgd1x0s5000k3v9q2w1z")]
    Show(OneArgs),
    /// Answer the pause of a mission
    #[command(after_help = "\
Examples:
  orange-fleet mission continue 0mgd1x0s5000k3v9q2w1z --pause 1
  orange-fleet mission continue login --accept-failure

After an error it tries the step again, at an exhausted loop it grants one more round, and at the cap as many attempts again; with
--accept-failure the failure counts, and no step starts any more. At any other pause it goes on. With --pause, an answer to an older pause is refused.")]
    Continue(ContinueArgs),
    /// Answer the question of a step
    #[command(after_help = "\
Examples:
  orange-fleet mission answer 0mgd1x0s5000k3v9q2w1z approve
  orange-fleet mission answer login plan-ok reject --comment \"The plan lacks tests\"

The answers are in `orange-fleet mission show`. You answer in the name of your token, and the first answer counts. With --commit, an
answer is refused where the question shows another commit.")]
    Answer(AnswerArgs),
    /// Run a failed mission again from its failed steps
    #[command(after_help = "\
Examples:
  orange-fleet mission retry 0mgd1x0s5000k3v9q2w1z
  orange-fleet mission retry 0mgd1x0s5000k3v9q2w1z plan")]
    Retry {
        /// The mission.
        #[command(flatten)]
        one: OneArgs,
        /// From this step [default: every failed one]
        #[arg(value_name = "STEP")]
        step: Option<String>,
    },
    /// End a mission and its agent; its branch stays
    #[command(after_help = "Example:\n  orange-fleet mission cancel 0mgd1x0s5000k3v9q2w1z")]
    Cancel(OneArgs),
    /// List the attempts of a mission with their crabs
    #[command(after_help = "Example:\n  orange-fleet mission runs 0mgd1x0s5000k3v9q2w1z")]
    Runs(OneArgs),
}

/// `orange-fleet mission start …`
#[derive(Debug, Args)]
pub struct StartArgs {
    /// The step workflow
    #[arg(value_name = "WORKFLOW")]
    workflow: String,
    /// The work to do; `-` reads standard input
    #[arg(value_name = "PROMPT|-", allow_hyphen_values = true)]
    prompt: String,
    /// The colony whose crabs do it
    #[arg(long, value_name = "NAME")]
    colony: String,
    /// The branch to work on, which no other mission of the colony has [default: one named after the mission]
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,
    /// A word of your own for this mission: the same command with the same one starts no second mission
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// The value of an input that the workflow declares
    #[arg(long = "input", value_name = "NAME=VALUE", value_parser = named_value)]
    inputs: Vec<(String, String)>,
    /// Policy of its pauses, if not that of the workflow.
    #[command(flatten)]
    policy: PolicyArgs,
    /// The gateway.
    #[command(flatten)]
    client: ClientArgs,
}

/// Policy of the pauses of a mission.
#[derive(Debug, Args)]
pub struct PolicyArgs {
    /// step: pause after every step; auto: go on
    #[arg(long, value_name = "HOW")]
    execution: Option<String>,
    /// At which ends of steps it pauses: never, on-warning, on-error or always
    #[arg(long, value_name = "WHEN")]
    intervene: Option<String>,
}

/// `orange-fleet mission list …`
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only of this colony
    #[arg(long, value_name = "NAME")]
    colony: Option<String>,
    /// Only with one of these statuses
    #[arg(long, value_name = "STATUS,…")]
    status: Option<String>,
    /// Only with this text in prompt, branch or workflow
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Only with a question of a step that waits for an answer
    #[arg(long)]
    asks: bool,
    /// Older than this mission
    #[arg(long, value_name = "MISSION")]
    after: Option<String>,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
    /// The gateway.
    #[command(flatten)]
    client: ClientArgs,
}

/// Names a mission.
#[derive(Debug, Args)]
pub struct OneArgs {
    /// Its id, or the name of its branch
    #[arg(value_name = "MISSION")]
    mission: String,
    /// The gateway.
    #[command(flatten)]
    client: ClientArgs,
}

/// `orange-fleet mission continue …`
#[derive(Debug, Args)]
pub struct ContinueArgs {
    /// The mission.
    #[command(flatten)]
    one: OneArgs,
    /// The number of the pause that this answers [default: the oldest open one]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pause: Option<u32>,
    /// Take the failure as it is
    #[arg(long)]
    accept_failure: bool,
    /// Policy of its pauses from now on.
    #[command(flatten)]
    policy: PolicyArgs,
}

/// `orange-fleet mission answer …`
#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// The mission.
    #[command(flatten)]
    one: OneArgs,
    /// The answer, after the step if several steps ask
    #[arg(value_name = "[STEP] ANSWER", num_args = 1..=2, required = true)]
    words: Vec<String>,
    /// A comment, which the steps after it see
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
    /// The commit that you have seen, or its first digits
    #[arg(long, value_name = "COMMIT")]
    commit: Option<String>,
}

impl MissionCommand {
    pub(super) fn run(self) -> Result<Said> {
        match self {
            MissionCommand::Start(args) => args.run(),
            MissionCommand::List(args) => args.run(),
            MissionCommand::Show(one) => {
                let mission = one.found()?;
                let found: Received<MissionAnswer> = mission.client.get(&mission.path())?;
                Ok(Said { text: shown(&found.answer, &one), json: found.json })
            }
            MissionCommand::Continue(args) => args.run(),
            MissionCommand::Answer(args) => args.run(),
            MissionCommand::Retry { one, step } => {
                let json = one.found()?.post("retry", &RetryBody { step })?.json;
                Ok(Said { text: format!("mission {} runs again", one.mission), json })
            }
            MissionCommand::Cancel(one) => {
                let json = one.found()?.post("cancel", &Nothing {})?.json;
                Ok(Said { text: format!("mission {} is cancelled", one.mission), json })
            }
            MissionCommand::Runs(one) => {
                let mission = one.found()?;
                let path = format!("/v1/runs?limit=500&mission={}", encoded(&mission.id));
                let found: Received<Runs> = mission.client.get(&path)?;
                Ok(Said { text: runs(found.answer), json: found.json })
            }
        }
    }
}

/// A gateway that does not answer may have started the mission all the same.
fn may_have_begun(error: Error) -> Error {
    if error.kind != ErrorKind::Environment {
        return error;
    }
    let help = format!(
        "{}; the mission may have begun: `orange-fleet mission list` shows it; with `--key KEY` the same command again starts no second one",
        error.help
    );
    error.help(help)
}

/// `NAME=VALUE`
fn named_value(text: &str) -> std::result::Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        Some(_) | None => Err("write NAME=VALUE".to_owned()),
    }
}

impl StartArgs {
    fn run(self) -> Result<Said> {
        let StartArgs { workflow, prompt, colony, branch, key, inputs, policy, client } = self;
        let inputs = inputs.into_iter().map(|(name, text)| (name, Value::Text(text))).collect();
        let prompt = if prompt == "-" { standard_input()? } else { prompt };
        let PolicyArgs { execution, intervene } = policy;
        let body =
            NewMissionBody { colony_id: colony, prompt, workflow, branch, execution, intervene, inputs };
        let (client, path) = (client.client()?, "/v1/missions");
        let made = match &key {
            Some(key) => client.post_with(key, path, &body),
            None => client.post(path, &body).map_err(may_have_begun),
        };
        let Received::<MissionAnswer> { json, answer } = made?;
        let text = format!("mission {} has begun, on branch {}", answer.mission_id, answer.branch);
        Ok(Said { text, json })
    }
}

impl ListArgs {
    fn run(self) -> Result<Said> {
        let ListArgs { colony, status, search, asks, after, limit, client } = self;
        let mut path = format!("/v1/missions?limit={limit}");
        for (key, value) in [("colony", colony), ("status", status), ("q", search), ("after", after)] {
            path.extend(value.map(|it| format!("&{key}={}", encoded(&it))));
        }
        if asks {
            path.push_str("&asks=true");
        }
        let Received { json, answer: Missions { missions, next } } = client.client()?.get(&path)?;
        let mut text = listed(missions);
        if let Some(next) = next {
            text.push_str(&format!("\nolder ones: --after {next}"));
        }
        Ok(Said { text, json })
    }
}

impl ContinueArgs {
    fn run(self) -> Result<Said> {
        let ContinueArgs { one, pause, accept_failure, policy } = self;
        let PolicyArgs { execution, intervene } = policy;
        let body = ContinueBody { pause, accept_failure, execution, intervene };
        let Received { json, answer } = one.found()?.post("continue", &body)?;
        let step = answer.step_id.unwrap_or_default();
        let text = match answer.answered {
            Some(PauseEffect::TriedAgain) => format!("step {step} is tried again"),
            Some(PauseEffect::Granted) => format!("the loop of step {step} has one more round"),
            Some(PauseEffect::Accepted) => format!("the failure of step {step} counts"),
            Some(PauseEffect::Extended) => "as many attempts again are granted".to_owned(),
            Some(PauseEffect::Capped) => "no step starts any more".to_owned(),
            Some(PauseEffect::WentOn) | None => format!("mission {} goes on", one.mission),
        };
        Ok(Said { text, json })
    }
}

impl AnswerArgs {
    fn run(self) -> Result<Said> {
        let AnswerArgs { one, mut words, comment, commit } = self;
        let answer = words.pop().unwrap_or_default();
        let comment = comment.unwrap_or_default();
        let body = AnswerBody { step: words.pop(), attempt: None, answer, comment, commit };
        let mission = one.found()?;
        let given: Received<AskAnswered> =
            mission.client.post(&format!("{}/answers", mission.path()), &body)?;
        let AskAnswered { step_id, answer, by, outcome, .. } = given.answer;
        let before = if outcome == ReportOutcome::Repeated { " (it was before)" } else { "" };
        Ok(Said { text: format!("step {step_id} is answered: {answer}, by {by}{before}"), json: given.json })
    }
}

impl OneArgs {
    /// The mission that has this id or branch.
    fn found(&self) -> Result<FoundMission> {
        let client = self.client.client()?;
        let id = match is_id(&self.mission) {
            true => self.mission.clone(),
            false => on_branch(&client, &self.mission)?,
        };
        Ok(FoundMission { client, id })
    }
}

/// A mission of a gateway.
struct FoundMission {
    client: CommandClient,
    id: String,
}

impl FoundMission {
    fn path(&self) -> String {
        format!("/v1/missions/{}", encoded(&self.id))
    }

    fn post(&self, what: &str, body: &impl Serialize) -> Result<Received<Acted>> {
        self.client.post(&format!("{}/{what}", self.path()), body)
    }
}

/// The id of the mission on this branch. Each colony has branches of its own, so that several may have one of this name.
fn on_branch(client: &CommandClient, branch: &str) -> Result<String> {
    let path = format!("/v1/missions?limit=500&q={}", encoded(branch));
    let page: Missions = client.get(&path)?.answer;
    let mut named: Vec<MissionLine> = page.missions.into_iter().filter(|it| it.branch == branch).collect();
    match (named.len(), named.pop()) {
        (1, Some(one)) => Ok(one.mission_id),
        (_, None) => {
            let error =
                Error::new(ErrorKind::NotFound, format!("the gateway has no mission on a branch `{branch}`"));
            Err(error.help("`orange-fleet mission list` shows the missions with their ids and branches"))
        }
        (count, Some(last)) => {
            let ids: Vec<String> = named.into_iter().chain([last]).map(|it| it.mission_id).collect();
            let error = Error::new(ErrorKind::Usage, format!("{count} missions are on a branch `{branch}`"));
            Err(error.help(format!("name one of them by its id: {}", ids.join(", "))))
        }
    }
}

fn listed(missions: Vec<MissionLine>) -> String {
    let columns = ["MISSION_ID", "STATUS", "STEP_ID", "WORKFLOW", "BRANCH", "SUMMARY"];
    let row =
        |it: MissionLine| [it.mission_id, it.status, or_dash(it.step_id), it.workflow, it.branch, it.summary];
    table(columns, missions.into_iter().map(row))
}

fn runs(page: Runs) -> String {
    let row = |it: RunAnswer| {
        let status = it.status.as_str().to_owned();
        [it.run_id, status, or_dash(it.crab_id), or_dash(it.result), or_dash(it.commit)]
    };
    table(["RUN_ID", "STATUS", "CRAB_ID", "RESULT", "COMMIT"], page.runs.into_iter().map(row))
}

fn steps(tasks: &[TaskAnswer]) -> String {
    let columns = ["STEP_ID", "STATUS", "CRAB_ID", "ATTEMPT", "ROLE", "RESULT", "FAILURE"];
    let row = |it: &TaskAnswer| {
        [
            it.step_id.clone(),
            it.status.as_str().to_owned(),
            or_dash(it.crab_id.clone()),
            it.attempt.to_string(),
            it.role.clone(),
            or_dash(it.result.clone()),
            or_dash(it.failure.clone()),
        ]
    };
    table(columns, tasks.iter().map(row))
}

/// The suggested commands name the mission as this one does, and reach the same gateway.
fn shown(mission: &MissionAnswer, one: &OneArgs) -> String {
    let (named, same) = (&one.mission, one.client.words());
    let mut text = format!(
        "{}  {}  {} on branch {}\n{}\n\n{}",
        mission.mission_id,
        mission.status.as_str(),
        mission.workflow,
        mission.branch,
        mission.prompt.lines().next().unwrap_or_default(),
        steps(&mission.tasks)
    );
    text.extend(mission.tasks.iter().flat_map(said));
    if let Some(why) = &mission.waits {
        text.push_str(&format!("\n\nit waits: {why}"));
    }
    for pause in &mission.pauses {
        let number = pause.number;
        text.push_str(&format!("\n\n{}\n", paused(pause)));
        text.push_str(&format!(
            "`orange-fleet mission continue {named} --pause {number}{same}` answers it\n"
        ));
        if pause.offers.contains(&PauseOffer::AcceptFailure) {
            let accept = format!("mission continue {named} --pause {number} --accept-failure{same}");
            text.push_str(&format!("`orange-fleet {accept}` takes the failure as it is\n"));
        }
    }
    text.extend(mission.asks.iter().map(|ask| asked(ask, named, &same)));
    if !mission.pauses.is_empty() {
        text.push_str(&format!("`orange-fleet mission cancel {named}{same}` ends the mission"));
    }
    text
}

/// The question of a step, with the commands that answer it.
fn asked(ask: &AskAnswer, named: &str, same: &str) -> String {
    let AskAnswer { step_id, question, answers, who, commit, .. } = ask;
    let whom = if who.is_empty() { "a person".to_owned() } else { who.join(", ") };
    let commit = commit.as_ref().map(|it| format!(" --commit {it}")).unwrap_or_default();
    let command = |answer: &String| {
        format!("`orange-fleet mission answer {named} {step_id} {answer}{commit}{same}` answers it\n")
    };
    let commands: String = answers.iter().map(command).collect();
    format!("\n\n{step_id} asks {whom}: {question}\n{commands}")
}

/// Last words of the agent of a step: the first line of its summary, and its warning.
fn said(task: &TaskAnswer) -> impl Iterator<Item = String> {
    let step = &task.step_id;
    let summary = task.summary.as_deref().and_then(|it| it.lines().next());
    let warning = task.warning.as_deref().filter(|it| !it.is_empty());
    let summary = summary.map(|line| format!("\n\n{step}: {line}"));
    summary.into_iter().chain(warning.map(|it| format!("\n\n{step} warns: {it}")))
}

fn paused(pause: &PauseAnswer) -> String {
    match pause.message.as_str() {
        "" => format!("paused after {}", pause.step_id.as_deref().unwrap_or_default()),
        message => format!("paused ({}): {message}", pause.reason.as_str()),
    }
}

fn standard_input() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|cause| {
        Error::new(ErrorKind::Usage, format!("standard input is not a text: {cause}"))
            .help("give the prompt as UTF-8")
    })?;
    Ok(text)
}
