//! Which pull requests are looked at, and when: GitHub is asked seldom, and no failure of it holds up the rest. And when it is
//! time to remove what could go.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::app::App;
use crate::drive::gh::{self, Gh};
use crate::flow::pull_request;
use crate::hooks;
use crate::store::{Task, TaskDir};
use crate::{Error, Result};

/// How long a pull request is left alone after it was asked for.
const PAUSE: Duration = Duration::from_secs(60);

/// How long a task without one is left alone after GitHub was asked whether somebody has opened one for its branch.
const LONG_PAUSE: Duration = Duration::from_secs(300);

/// How long one of them may take: the agents want to be looked after meanwhile.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long nobody looks for what could go after somebody has looked.
const SWEEPS: Duration = Duration::from_secs(3600);

/// After so many failures in a row the others wait for the next round: it is not this or that pull request then.
const ENOUGH: usize = 2;

/// What was asked so far, by task.
#[derive(Debug, Default)]
pub struct Polls {
    asked: BTreeMap<String, Asked>,
    swept: Option<Instant>,
}

#[derive(Debug)]
struct Asked {
    at: Instant,
    /// How it failed, which is told once.
    failure: Option<Error>,
}

/// A task that has a pull request, or may have got one.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The task.
    pub dir: TaskDir,
    /// Its pull request's address, where that is known.
    pub url: Option<String>,
}

impl Watched {
    /// The task, if it is not over and has a pull request, or was started and may have one.
    pub fn of(app: &App, dir: &TaskDir, task: &Task) -> Option<Watched> {
        let url = task.pr_url.clone();
        let machine = app.machine_of(&task.owned).ok()?;
        let status = machine.state_named(task.status())?;
        let may_have_one = url.is_some() || status != machine.initial;
        (may_have_one && !machine.state(status).terminal).then(|| Watched { dir: dir.clone(), url })
    }

    fn pause(&self) -> Duration {
        if self.url.is_some() { PAUSE } else { LONG_PAUSE }
    }
}

impl Polls {
    /// Whether it is time to look for what could go, which is then said to be done.
    pub fn is_time_to_sweep(&mut self) -> bool {
        let is_time = self.swept.is_none_or(|swept| swept.elapsed() >= SWEEPS);
        if is_time {
            self.swept = Some(Instant::now());
        }
        is_time
    }

    /// Asks GitHub about each whose time has come, those that waited longest first, and ends the tasks whose pull requests
    /// have ended. What came of it, by task; a failure that was told before is left out.
    pub fn round(&mut self, app: &App, mut watched: Vec<Watched>) -> Vec<(TaskDir, Result<String>)> {
        self.asked.retain(|id, _| watched.iter().any(|it| it.dir.id == *id));
        watched.retain(|it| self.asked.get(&it.dir.id).is_none_or(|asked| asked.at.elapsed() >= it.pause()));
        watched.sort_by_key(|it| self.asked.get(&it.dir.id).map(|asked| asked.at));
        let mut told = Vec::new();
        let mut failures = 0;
        for it in watched {
            let outcome = ask(app, &it);
            failures = if outcome.is_err() { failures + 1 } else { 0 };
            let failure = outcome.as_ref().err().cloned();
            let before = self.asked.insert(it.dir.id.clone(), Asked { at: Instant::now(), failure });
            match outcome {
                Ok(None) => {}
                // A task that never had a pull request lacks nothing.
                Err(_) if it.url.is_none() => {}
                Ok(Some(story)) => told.push((it.dir, Ok(story))),
                Err(error) if before.is_some_and(|before| before.failure.as_ref() == Some(&error)) => {}
                Err(error) => told.push((it.dir, Err(error))),
            }
            if failures == ENOUGH {
                break;
            }
        }
        told
    }
}

fn ask(app: &App, watched: &Watched) -> Result<Option<String>> {
    let (task, _) = Task::read(&app.home, &watched.dir)?;
    let gh = Gh::at(&app.project_of(&task)?.path).patience(PATIENCE);
    let Some(url) = &watched.url else {
        return match hooks::pull_request::find(app, &gh, &task)? {
            Some(pr) => pull_request::found(app, &watched.dir, &pr).map(Some),
            None => Ok(None),
        };
    };
    gh::check(app.path())?;
    pull_request::follow(app, &watched.dir, &gh.view(url)?)
}
