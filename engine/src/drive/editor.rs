//! The editor of the user, on this terminal.

use std::path::Path;

use crate::{Error, ErrorKind, Result};
use orange_system::exec::{ProcessGroup, ProgramCall};

/// The editor of a user who names none, as for git.
pub const DEFAULT: &str = "vi";

/// Opens a file in an editor, whose command may have arguments, and waits until it has ended.
///
/// # Errors
/// `environment` when the editor cannot be started, or says that it has failed.
pub fn edit(command: &str, file: &Path) -> Result<()> {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or(DEFAULT);
    let set = "set VISUAL or EDITOR to the command of your editor";
    let call = ProgramCall::new(program).args(words).arg(file).complaining_here();
    let mut child = call.attended(ProcessGroup::Inherited).map_err(|error| error.clone().help(set))?;
    let ended = child.wait().map_err(|cause| {
        Error::new(ErrorKind::Environment, format!("cannot wait for `{program}`: {cause}"))
    })?;
    if ended.success() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Environment, format!("the editor `{command}` has failed: {ended}")).help(set))
}
