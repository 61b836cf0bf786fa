//! Decides which pull requests are due: a forge is asked rarely, and its failures do not delay the rest. It also decides when
//! leftovers are due.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use orange_core::FactKind;
use orange_journal::history::AskedAnswer;

use crate::app::App;
use crate::drive::forge::{Glance, PrState};
use crate::drive::git::Git;
use crate::flow::watch::intake::IntakePolls;
use crate::flow::watch::rules;
use crate::flow::watch::schedule::SchedulePolls;
use crate::flow::{changed, pull_request};
use crate::hooks;
use crate::store::projects::Project;
use crate::store::{WorkItem, WorkItemDir, projects};
use crate::{Error, ErrorKind, Result};

/// The time between two questions about a pull request.
const PAUSE: Duration = Duration::from_secs(60);

/// The time between two questions whether somebody has opened one for a branch.
const LONG_PAUSE: Duration = Duration::from_secs(300);

/// The time limit for one question, since the agents need the monitor meanwhile.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time between two searches for leftovers.
const SWEEPS: Duration = Duration::from_secs(3600);

/// After so many failures in a row the others wait for the next round: the cause is not a single pull request.
const ENOUGH: usize = 2;

/// The questions so far, by task.
#[derive(Debug, Default)]
pub struct Polls {
    asked: BTreeMap<String, LastPoll>,
    swept: Option<Instant>,
    /// The labelled issues.
    pub intake: IntakePolls,
    /// The schedules.
    pub schedule: SchedulePolls,
    /// True if a forge has few answers left for this hour, so that the pauses are twice as long.
    is_scarce: bool,
}

#[derive(Debug)]
struct LastPoll {
    at: Instant,
    /// The last failure, which is reported once.
    failure: Option<Error>,
    /// The glance before the last view.
    glance: Option<Glance>,
}

/// A task that has a pull request, or may have one.
#[derive(Clone, Debug)]
pub struct PolledTask {
    pub dir: WorkItemDir,
    /// The address of its pull request, if it is known.
    pub url: Option<String>,
    /// True if its state has watch rules.
    watches: bool,
    /// True if one of them is about the base.
    watches_base: bool,
}

impl PolledTask {
    /// The task, if it is unfinished and has a pull request, or was started and may have one.
    pub fn of(app: &App, dir: &WorkItemDir, task: &WorkItem) -> Option<PolledTask> {
        let url = task.pr_url.clone();
        let machine = app.machine_of(&task.owned).ok()?;
        let status = machine.state_named(task.status())?;
        let may_have_one = url.is_some() || status != machine.initial;
        let watches = rules::watches_for(machine, task, |kind| kind != FactKind::Children);
        let watches_base = rules::watches_for(machine, task, |kind| kind == FactKind::Base);
        (may_have_one && !machine.state(status).terminal).then(|| PolledTask {
            dir: dir.clone(),
            url,
            watches,
            watches_base,
        })
    }

    fn pause(&self) -> Duration {
        if self.url.is_some() || self.watches { PAUSE } else { LONG_PAUSE }
    }
}

impl Polls {
    /// True if leftovers are due; if so, the next search is an hour later.
    pub fn is_time_to_sweep(&mut self) -> bool {
        let is_time = self.swept.is_none_or(|swept| swept.elapsed() >= SWEEPS);
        if is_time {
            self.swept = Some(Instant::now());
        }
        is_time
    }

    /// Asks the forges about the pull requests that are due, the longest waiting first, and ends the tasks whose pull requests have
    /// ended. Returns what was done, by task; a repeated failure is omitted.
    pub fn round(&mut self, app: &App, mut watched: Vec<PolledTask>) -> Vec<(WorkItemDir, Result<String>)> {
        self.asked.retain(|id, _| watched.iter().any(|it| it.dir.id == *id));
        // Those of one round are due again together, so that one question is about all of them.
        let now = Instant::now();
        let times = if self.is_scarce { 2 } else { 1 };
        let is_due = |it: &PolledTask| {
            self.asked.get(&it.dir.id).is_none_or(|asked| now.duration_since(asked.at) >= it.pause() * times)
        };
        watched.retain(is_due);
        watched.sort_by_key(|it| self.asked.get(&it.dir.id).map(|asked| asked.at));
        let glances = self.glances(app, &watched);
        let mut bases = FetchedBases::default();
        let mut polled = Vec::new();
        let mut failures = 0;
        for it in watched {
            let glance = it.url.as_deref().and_then(|url| glances.get(url).cloned());
            // A rule may also be about the base, or may have waited for an agent.
            if let Some(asked) = self.asked.get_mut(&it.dir.id)
                && !it.watches
                && asked.has_seen(glance.as_ref())
                && !is_merging(app, &it.dir)
            {
                asked.at = now;
                continue;
            }
            let outcome = ask(app, &it, &mut bases);
            failures = if outcome.is_err() { failures + 1 } else { 0 };
            let failure = outcome.as_ref().err().cloned();
            let poll = LastPoll { at: now, failure, glance };
            let before = self.asked.insert(it.dir.id.clone(), poll);
            match outcome {
                Ok(stories) => polled.extend(stories.into_iter().map(|story| (it.dir.clone(), Ok(story)))),
                // A task that never had a pull request needs none.
                Err(_) if it.url.is_none() && !it.watches => {}
                Err(error) if before.is_some_and(|before| before.failure.as_ref() == Some(&error)) => {}
                Err(error) => polled.push((it.dir, Err(error))),
            }
            if failures == ENOUGH {
                break;
            }
        }
        polled
    }

    /// Glances at the pull requests of each repository that has several. Without an answer each is viewed, which says what is
    /// wrong.
    fn glances(&mut self, app: &App, watched: &[PolledTask]) -> BTreeMap<String, Glance> {
        let mut by_repository: BTreeMap<PathBuf, (Project, Vec<&str>)> = BTreeMap::new();
        for it in watched {
            if let (Some(url), Ok(project)) = (&it.url, projects::get(&app.home, &it.dir.project)) {
                by_repository
                    .entry(project.path.clone())
                    .or_insert_with(|| (project, Vec::new()))
                    .1
                    .push(url);
            }
        }
        let (mut found, mut is_scarce) = (BTreeMap::new(), false);
        for (project, urls) in by_repository.into_values().filter(|(_, urls)| urls.len() > 1) {
            let glances = app.forge_of(&project).and_then(|forge| forge.patience(PATIENCE).glances(&urls));
            let Ok(glances) = glances else { continue };
            is_scarce |= glances.is_scarce;
            found.extend(glances.each.into_iter().map(|it| (it.url.clone(), it)));
        }
        self.is_scarce = is_scarce;
        found
    }
}

impl LastPoll {
    /// True if a view has nothing new after this glance.
    fn has_seen(&self, glance: Option<&Glance>) -> bool {
        let seen = self.glance.as_ref().zip(glance);
        self.failure.is_none() && seen.is_some_and(|(earlier, glance)| glance.has_nothing_new(earlier))
    }
}

/// True if the forge has accepted a merge that it has not made, as far as the journal knows; an unreadable one is looked at.
fn is_merging(app: &App, dir: &WorkItemDir) -> bool {
    let Ok((_, journal)) = WorkItem::read(&app.home, dir) else { return true };
    let answer = journal.history().branch.asked_merge.and_then(|asked| asked.answer);
    matches!(answer, Some(AskedAnswer::Pending { .. } | AskedAnswer::Queued { .. }))
}

fn ask(app: &App, watched: &PolledTask, bases: &mut FetchedBases) -> Result<Vec<String>> {
    let (task, _) = WorkItem::read(&app.home, &watched.dir)?;
    let forge = app.forge_of(&app.project_of(&task)?)?.patience(PATIENCE);
    let mut stories = Vec::new();
    let pr = match &watched.url {
        Some(url) => {
            forge.check(app.path())?;
            let pr = forge.view(url)?;
            stories.extend(pull_request::follow(app, &watched.dir, &pr)?);
            Some(pr)
        }
        None => {
            let pr = hooks::pull_request::find(app, &forge, &task)?;
            if let Some(pr) = &pr {
                stories.push(pull_request::found(app, &watched.dir, pr)?);
            }
            pr
        }
    };
    if watched.watches {
        let fetched = if watched.watches_base { bases.fetch(app, &task) } else { Ok(()) };
        let open = pr.as_ref().filter(|pr| pr.state == PrState::Open);
        stories.extend(rules::apply(app, &watched.dir, open)?);
        // Without an answer, the rules are about the base that is known here.
        if stories.is_empty() {
            fetched?;
        }
    }
    Ok(stories)
}

/// The bases that were fetched in a round, each once.
#[derive(Debug, Default)]
struct FetchedBases(Vec<(PathBuf, String, Result<()>)>);

impl FetchedBases {
    /// Fetches the base of a task, if that was not done in this round.
    fn fetch(&mut self, app: &App, task: &WorkItem) -> Result<()> {
        let (repo, base) = (app.project_of(task)?.path, changed::merge_target_of(app, task)?);
        if let Some((_, _, fetched)) = self.0.iter().find(|(path, name, _)| *path == repo && *name == base) {
            return fetched.clone();
        }
        let fetched = Git::at(&repo).fetch(&[&base]).and_then(|warning| match warning {
            Some(warning) => Err(Error::new(ErrorKind::Environment, warning)),
            None => Ok(()),
        });
        self.0.push((repo, base, fetched.clone()));
        fetched
    }
}
