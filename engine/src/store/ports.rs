//! The ports of projects: no two worktrees have the same.

use crate::store::effective::effective;
use crate::store::projects::{self, Project};
use crate::store::settings::Ports;
use crate::store::settings::ports::PortRange;
use crate::store::{Home, pool, trust};
use crate::{Error, ErrorKind, Result};

/// Refuses ports of a project that reach beyond the last one, or that another project has. The ports of a project whose `orange.toml`
/// has changed stay its own: a person may trust the former content again.
///
/// # Errors
/// `refused`.
pub fn check(home: &Home, project: &Project, ports: Ports) -> Result<()> {
    let slots = slots_of(home, project)?;
    let Some(range) = ports.of_all(slots) else {
        let message = format!(
            "the {slots} worktrees of {} need {} ports each, and {} is followed by too few",
            project.name, ports.per_slot, ports.base
        );
        return Err(
            Error::new(ErrorKind::Refused, message).help("begin with a lower port, or take fewer for each")
        );
    };
    for other in projects::read(home)?.into_iter().filter(|other| other.name != project.name) {
        let Some(taken) = reserved(home, &other)? else { continue };
        if range.overlaps(taken) {
            let (PortRange { first, last }, free) = (taken, taken.last + 1);
            let message = format!(
                "{} would have the ports {} to {}, and {} has {first} to {last}",
                project.name, range.first, range.last, other.name
            );
            return Err(Error::new(ErrorKind::Refused, message).help(format!(
                "give one of them another base, such as {free}: `orange project update {} --ports {free}:{}`",
                project.name, ports.per_slot
            )));
        }
    }
    Ok(())
}

/// The ports of a worktree of a project, if the project sets any.
///
/// # Errors
/// `refused` as by [`check`]: the worktree may have a number beyond the size of the pool.
pub fn of_slot(home: &Home, project: &Project, number: u32) -> Result<Option<PortRange>> {
    let Some(ports) = effective(home, project)?.ports.value else { return Ok(None) };
    check(home, project, ports)?;
    Ok(ports.of_slot(number))
}

/// The ports that no other project may have: a person's, or those of the content of `orange.toml` that was trusted last.
fn reserved(home: &Home, project: &Project) -> Result<Option<PortRange>> {
    let ports = match project.settings.ports {
        Some(ports) => Some(ports),
        None => trust::last(home, project)?.and_then(|settings| settings.ports),
    };
    let Some(ports) = ports else { return Ok(None) };
    Ok(ports.of_all(slots_of(home, project)?))
}

/// Number of worktrees that the project has, or may have.
fn slots_of(home: &Home, project: &Project) -> Result<u32> {
    let slots = pool::by_file(home)?;
    let numbers = slots.iter().filter(|slot| slot.project == project.name).map(pool::number);
    Ok(numbers.filter(|number| *number != u32::MAX).fold(project.pool_size, u32::max))
}
