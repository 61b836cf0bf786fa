//! Which pull requests are looked at, and when: GitHub is asked seldom, and no failure of it holds up the rest.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::drive::gh::{self, Gh};
use crate::flow::pull_request;
use crate::orange::Orange;
use crate::store::{Task, TaskDir};
use crate::{Error, Result};

/// How long a pull request is left alone after it was asked for.
const PAUSE: Duration = Duration::from_secs(60);

/// How long one of them may take: the agents want to be looked after meanwhile.
const PATIENCE: Duration = Duration::from_secs(10);

/// After so many failures in a row the others wait for the next round: it is not this or that pull request then.
const ENOUGH: usize = 2;

/// What was asked so far, by task.
#[derive(Debug, Default)]
pub struct Polls {
    asked: BTreeMap<String, Asked>,
}

#[derive(Debug)]
struct Asked {
    at: Instant,
    /// How it failed, which is told once.
    failure: Option<Error>,
}

/// A task under way that has a pull request.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The task.
    pub dir: TaskDir,
    /// Its pull request's address.
    pub url: String,
}

impl Watched {
    /// The task, if it is under way and has a pull request.
    pub fn of(orange: &Orange, dir: &TaskDir, task: &Task) -> Option<Watched> {
        let url = task.pr_url.clone()?;
        let machine = orange.machine_of(&task.owned).ok()?;
        let status = machine.state_named(task.status())?;
        (!machine.state(status).terminal).then(|| Watched { dir: dir.clone(), url })
    }
}

impl Polls {
    /// Asks GitHub about each whose time has come, those that waited longest first, and ends the tasks whose pull requests
    /// have ended. What came of it, by task; a failure that was told before is left out.
    pub fn round(&mut self, orange: &Orange, mut watched: Vec<Watched>) -> Vec<(TaskDir, Result<String>)> {
        self.asked.retain(|id, _| watched.iter().any(|it| it.dir.id == *id));
        watched.retain(|it| self.asked.get(&it.dir.id).is_none_or(|asked| asked.at.elapsed() >= PAUSE));
        watched.sort_by_key(|it| self.asked.get(&it.dir.id).map(|asked| asked.at));
        let mut told = Vec::new();
        let mut failures = 0;
        for it in watched {
            let outcome = ask(orange, &it);
            failures = if outcome.is_err() { failures + 1 } else { 0 };
            let failure = outcome.as_ref().err().cloned();
            let before = self.asked.insert(it.dir.id.clone(), Asked { at: Instant::now(), failure });
            match outcome {
                Ok(None) => {}
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

fn ask(orange: &Orange, watched: &Watched) -> Result<Option<String>> {
    gh::check(orange.path())?;
    let (task, _) = Task::read(&orange.home, &watched.dir)?;
    let pr = Gh::at(&orange.project_of(&task)?.path).patience(PATIENCE).view(&watched.url)?;
    pull_request::follow(orange, &watched.dir, &pr)
}
