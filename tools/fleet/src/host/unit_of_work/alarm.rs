//! A row that nobody can read is set aside with an alarm, and taken up again by a program that can read it.

use super::load::Loaded;
use super::{Alarm, Failed, Rows, UnitOfWork};
use crate::actors::Cascade;

impl<R: Rows> UnitOfWork<R> {
    /// Sets an actor aside. The alarm outlives a transaction that fails.
    pub(super) fn set_aside(&mut self, kind: &'static str, id: &str, why: &str) {
        self.alarms.push(Alarm { kind, id: id.to_owned(), why: why.to_owned() });
    }

    /// Looks again at what was set aside. A mission that can be read now is scheduled again.
    pub(super) fn take_up(&mut self) -> Result<(), Failed> {
        for (kind, id) in self.rows.alarms()? {
            let is_readable = match kind.as_str() {
                "mission" => self.take_up_mission(&id)?,
                _ => self.load_colony(&id).is_ok(),
            };
            if is_readable {
                self.rows.end_alarm(&kind, &id)?;
            }
        }
        Ok(())
    }

    fn take_up_mission(&mut self, id: &str) -> Result<bool, Failed> {
        match self.load_mission(id)? {
            Loaded::Unreadable { .. } => Ok(false),
            Loaded::Missing => Ok(true),
            Loaded::Found => {
                if let Some(loaded) = self.missions.get(id) {
                    let cascade = Cascade::reminded(&loaded.actor);
                    self.run(cascade)?.map(drop).unwrap_or_default();
                }
                Ok(true)
            }
        }
    }
}
