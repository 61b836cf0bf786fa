//! The program that makes walls: where it is, whether it can make one here, and its call.

use std::ffi::{OsStr, OsString};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use super::profile::{NAMESPACES, WallPlan};
use super::{filter, profile};
use crate::{Error, ErrorKind, Result};
use orange_system::exec::{ProgramCall, find_on_path, not_installed, readable};

const PROGRAM: &str = "bwrap";

/// Set to 1 where AppArmor lets only named programs make namespaces.
const APPARMOR: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

/// Bubblewrap of this machine.
#[derive(Clone, Debug)]
pub struct Bubblewrap {
    program: PathBuf,
    /// The filter of system calls, as a program of the kernel.
    filter: Vec<u8>,
}

impl Bubblewrap {
    /// The first one on this `PATH` outside of a folder in which agents write.
    ///
    /// # Errors
    /// `environment` if there is none, or no filter of system calls for this processor.
    pub fn find(path: &OsStr, of_agents: &Path) -> Result<Bubblewrap> {
        let filter = filter::bytes().ok_or_else(|| {
            let message = format!("walls cannot be made on the processor {}", std::env::consts::ARCH);
            Error::new(ErrorKind::Environment, message)
                .help("`sandbox.level = \"off\"` starts agents without one; x86-64 and aarch64 have walls")
        })?;
        let is_safe = |folder: &PathBuf| folder.is_absolute() && !folder.starts_with(of_agents);
        let folders = std::env::split_paths(path).filter(is_safe);
        let path = std::env::join_paths(folders).unwrap_or_default();
        match find_on_path(PROGRAM, &path) {
            Some(program) => Ok(Bubblewrap { program, filter }),
            None => Err(refused(not_installed(PROGRAM))),
        }
    }

    /// Makes a wall around nothing, which fails here as one around an agent would.
    ///
    /// # Errors
    /// `environment` with what the system lacks.
    pub fn check(&self, path: &OsStr) -> Result<()> {
        let variables = [("PATH".into(), path.to_owned())];
        let call = self.call(&variables, ["--ro-bind", "/", "/"].map(OsString::from).to_vec(), |all| all)?;
        let output = ProgramCall::new("true").within(call).run()?;
        if output.success() {
            return Ok(());
        }
        let restricted = std::fs::read_to_string(APPARMOR).is_ok_and(|text| text.trim() == "1");
        let message = format!("`{PROGRAM}` cannot make a wall here: {}", output.complaint());
        Err(refused(Error::new(ErrorKind::Environment, message).help(remedy(restricted))))
    }

    /// A call of it with these variables, which makes this wall around the program that runs [`within`](ProgramCall::within) it.
    pub fn around(&self, plan: &WallPlan, variables: &[(OsString, OsString)]) -> Result<ProgramCall> {
        self.changed(plan, variables, |arguments| arguments)
    }

    /// Such a call with changed arguments: tests take restrictions away.
    pub(crate) fn changed(
        &self,
        plan: &WallPlan,
        variables: &[(OsString, OsString)],
        change: impl Fn(Vec<OsString>) -> Vec<OsString>,
    ) -> Result<ProgramCall> {
        self.call(variables, plan.arguments(), change)
    }

    fn call(
        &self,
        variables: &[(OsString, OsString)],
        arguments: Vec<OsString>,
        change: impl Fn(Vec<OsString>) -> Vec<OsString>,
    ) -> Result<ProgramCall> {
        let fail = |cause| {
            Error::new(ErrorKind::Environment, format!("cannot pass on the filter of system calls: {cause}"))
        };
        let filter = readable(&self.filter).map_err(fail)?;
        let number = filter.as_raw_fd().to_string();
        let fixed = [NAMESPACES, &["--seccomp", &number], profile::DEVICES].concat();
        let all = fixed.into_iter().map(OsString::from).chain(arguments).collect();
        // Bubblewrap is visible inside, with the environment that it was started with.
        let call = ProgramCall::new(&self.program).only(|_| false).passing(filter).preset(change(all));
        Ok(variables.iter().fold(call, |call, (name, value)| call.env(name, value)))
    }
}

/// The error that no agent was started without the wall that it is to have.
fn refused(error: Error) -> Error {
    let help = format!(
        "{}; where a project wants a wall, no agent starts without it; `orange doctor --wall` tries again",
        error.help
    );
    error.help(help)
}

/// Advice for a system that refuses namespaces.
fn remedy(is_restricted_by_apparmor: bool) -> &'static str {
    if is_restricted_by_apparmor {
        "AppArmor lets only named programs make namespaces: install `apparmor-profiles`, copy \
         /usr/share/apparmor/extra-profiles/bwrap-userns-restrict to /etc/apparmor.d and run `apparmor_parser -r` with it; or, for \
         every program, `sysctl kernel.apparmor_restrict_unprivileged_userns=0`"
    } else {
        "let users make namespaces: `sysctl user.max_user_namespaces=15000`, on older systems also \
         `sysctl kernel.unprivileged_userns_clone=1`; a container needs a profile of seccomp that allows `clone` and `mount`"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orange_testkit::write_program;

    fn path() -> OsString {
        std::env::var_os("PATH").unwrap_or_default()
    }

    /// Bubblewrap, if it can make a wall here.
    pub(crate) fn here() -> Option<Bubblewrap> {
        let found =
            Bubblewrap::find(&path(), Path::new("/nowhere")).and_then(|it| it.check(&path()).map(|()| it));
        found.map_err(|error| println!("SKIPPED: walls: {}", error.one_line())).ok()
    }

    #[test]
    fn a_missing_bubblewrap_is_an_error_with_its_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let error = Bubblewrap::find(folder.path().as_os_str(), Path::new("/nowhere")).unwrap_err();
        assert!(
            error.help.contains("apt install bubblewrap") && error.help.contains("no agent starts"),
            "{error}"
        );
        write_program(&folder.path().join(PROGRAM), "#!/bin/sh\nexit 0\n");
        assert!(Bubblewrap::find(folder.path().as_os_str(), Path::new("/nowhere")).is_ok());
        // An agent may have put it there.
        assert!(Bubblewrap::find(folder.path().as_os_str(), folder.path()).is_err());
    }

    #[test]
    fn a_system_without_namespaces_is_an_error_with_its_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let script = "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n";
        write_program(&folder.path().join(PROGRAM), script);
        let found = Bubblewrap::find(folder.path().as_os_str(), Path::new("/nowhere")).unwrap();
        let error = found.check(&path()).unwrap_err();
        assert!(error.message.contains("No permissions to create new namespace"), "{error}");
        assert!(error.help.contains("no agent starts"), "{error}");
        assert!(remedy(true).contains("AppArmor") && remedy(false).contains("max_user_namespaces"));
    }

    #[test]
    fn a_program_in_a_wall_sees_what_is_granted_and_no_more() {
        let Some(bubblewrap) = here() else { return };
        let folder = tempfile::tempdir().unwrap();
        let root = orange_system::files::real(folder.path());
        let at = |name: &str| root.join(name);
        for made in [
            "home/.ssh",
            "home/grant",
            "home/cache",
            "home/o/tasks/wall",
            "home/o/wt/.orange/1",
            "home/o/wt/.orange/2",
        ] {
            std::fs::create_dir_all(at(made)).unwrap();
        }
        for made in [
            "home/.ssh/id",
            "home/grant/a",
            "home/o/secret",
            "home/o/wt/a",
            "home/o/wt/.orange/2/secret",
            "home/o/wt/.git",
        ] {
            std::fs::write(at(made), "x").unwrap();
        }
        let plan = WallPlan {
            homes: vec![at("home")],
            private_home: at("home/o/tasks/wall"),
            orange_home: at("home/o"),
            worktree: at("home/o/wt"),
            requests: at("home/o/wt/.orange/1"),
            read: vec![at("home/grant")],
            write: vec![at("home/cache")],
            ..WallPlan::default()
        };
        let script = "cd; ls -A; for place in x grant/x cache/x o/x o/wt/x o/wt/.git o/wt/.orange/x o/wt/.orange/1/x /x /etc/x; do \
                      (echo y > $place) 2>/dev/null && echo \"w $place\"; done; ls o o/wt/.orange; env | grep -c SECRET; \
                      tr '\\0' '\\n' < /proc/1/environ | grep -c SECRET; grep NoNewPrivs /proc/self/status";
        let variables = [("HOME".into(), at("home").into_os_string()), ("PATH".into(), path())];
        let call = bubblewrap.around(&plan, &variables).unwrap();
        let output = ProgramCall::new("sh").args(["-c", script]).within(call.env("NAME", "v")).run().unwrap();
        let said = output.text();
        let lines: Vec<&str> = said.split_whitespace().collect();
        let expect =
            "cache grant o w x w cache/x w o/wt/x w o/wt/.orange/1/x o: wt o/wt/.orange: 1 0 0 NoNewPrivs: 1";
        assert_eq!(lines.join(" "), expect, "{}", output.complaint());
        assert!(!at("home/x").exists() && at("home/cache/x").exists() && at("home/o/wt/x").exists());
    }
}
