//! Opens a pull request for a task, by command.

use crate::app::App;
use crate::flow::lock_recovered;
use crate::flow::snapshot::status_of;
use crate::hooks::pull_request::{self, Opened};
use crate::store::TaskDir;
use crate::{Error, Kind, Result};

/// Opens a pull request for a task, or finds the open one.
pub fn create_pr(app: &App, dir: &TaskDir) -> Result<Opened> {
    app.caller.check_person("open a pull request")?;
    let mut locked = lock_recovered(app, dir)?;
    let machine = app.machine_of(&locked.task().owned)?;
    if machine.state(status_of(machine, locked.task())?).terminal {
        let message = format!("the task is over: it is {}", locked.task().status());
        return Err(Error::new(Kind::Refused, message).help("create a new task for what is still to be done"));
    }
    pull_request::open(app, &mut locked)
}
