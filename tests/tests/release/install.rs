//! `install.sh`: it installs a whole release, or changes nothing and says why.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::download::{PROGRAMS, SYSTEMS, VERSION, archive, pack, release, serve};
use crate::machine::{InstallEnd, Machine, ended, found, machine, machines, piped, script};

const OLD: &str = "#!/bin/sh\necho the old one\n";

/// A copy of the release, for tests that change it.
fn copied() -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(release()).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    copy
}

/// The installation must fail with these words, and leave an older program as it was.
#[track_caller]
fn check_refused(machine: &Machine, address: &str, args: &[&str], says: &str) {
    let bin = machine.bin();
    fs::create_dir_all(&bin).unwrap();
    fs::write(bin.join("orange"), OLD).unwrap();
    let end = machine.install(address, args);
    assert_eq!(end.status, Some(1), "{end:?}");
    assert!(end.complaint.contains(says), "{says}: {end:?}");
    assert_eq!(machine.names(&bin), ["orange"], "{end:?}");
    assert_eq!(fs::read_to_string(bin.join("orange")).unwrap(), OLD);
}

#[track_caller]
fn check_done(end: &InstallEnd, says: &[&str]) {
    assert_eq!(end.status, Some(0), "{end:?}");
    assert_eq!(end.out.lines().collect::<Vec<_>>(), says, "{end:?}");
}

fn installed(machine: &Machine) -> String {
    format!("Orange {VERSION} is installed in {}", machine.bin().display())
}

fn version_of(program: &Path) -> String {
    String::from_utf8(Command::new(program).arg("--version").output().unwrap().stdout).unwrap()
}

#[test]
fn a_release_is_installed_and_installed_again() {
    let address = serve(release().to_owned(), false);
    for machine in machines() {
        for _ in 0..2 {
            let end = machine.install(&address, &[]);
            check_done(&end, &[&installed(&machine), "next: run `orange setup`"]);
        }
        assert_eq!(machine.names(&machine.bin()), PROGRAMS[..4]);
        assert!(version_of(&machine.bin().join("orange")).starts_with(&format!("orange {VERSION} ")));
        let share = machine.path("home/.local/share");
        for file in [
            "man/man1/orange-task-create.1",
            "bash-completion/completions/orange-workflow",
            "zsh/site-functions/_orange",
            "fish/vendor_completions.d/orange.fish",
            "doc/orange/LICENSE-MIT",
        ] {
            assert!(share.join(file).is_file(), "{file}");
        }
    }
}

#[test]
fn every_system_gets_its_own_archive() {
    let address = serve(release().to_owned(), false);
    let Some(machine) = machine() else { return };
    for (target, system, processor) in SYSTEMS {
        machine.is_a(system, processor);
        let end = machine.install(&address, &["--fleet"]);
        assert_eq!(end.status, Some(0), "{end:?}");
        for program in PROGRAMS {
            let said = version_of(&machine.bin().join(program));
            assert_eq!(said, format!("{program} {VERSION} {target}\n"));
        }
    }
}

#[test]
fn a_system_without_an_archive_is_refused() {
    let Some(machine) = machine() else { return };
    let copy = copied();
    let sums = fs::read_to_string(copy.path().join("SHA256SUMS")).unwrap();
    let kept: String =
        sums.lines().filter(|line| !line.contains("darwin")).map(|line| format!("{line}\n")).collect();
    fs::write(copy.path().join("SHA256SUMS"), kept).unwrap();
    let address = serve(copy.path().to_owned(), false);
    machine.is_a("Darwin", "arm64");
    check_refused(&machine, &address, &[], "has no archive of orange for aarch64-apple-darwin");
    machine.is_a("FreeBSD", "x86_64");
    check_refused(&machine, &address, &[], "no release for the system FreeBSD");
    machine.is_a("Linux", "riscv64");
    check_refused(&machine, &address, &[], "no release for the processor riscv64");
    machine.is_a("Linux", "x86_64");
    fs::remove_file(copy.path().join(archive("orange", "x86_64-unknown-linux-musl"))).unwrap();
    check_refused(&machine, &address, &[], "cannot be downloaded whole");
}

#[test]
fn another_file_than_the_sum_names_is_refused() {
    let copy = copied();
    let file = copy.path().join(archive("orange", "x86_64-unknown-linux-musl"));
    let other = fs::read(copy.path().join(archive("orange", "aarch64-unknown-linux-musl"))).unwrap();
    fs::write(file, other).unwrap();
    let address = serve(copy.path().to_owned(), false);
    for machine in machines() {
        check_refused(&machine, &address, &[], "is not the file that SHA256SUMS names");
    }
}

#[test]
fn a_download_that_is_cut_changes_nothing() {
    let address = serve(release().to_owned(), true);
    for machine in machines() {
        check_refused(&machine, &address, &[], "cannot be downloaded whole");
    }
}

#[test]
fn a_script_that_is_cut_does_nothing() {
    let Some(machine) = machine() else { return };
    let whole = fs::read_to_string(script()).unwrap();
    let cut = machine.path("cut.sh");
    for part in 1..8 {
        let end = whole.len() * part / 8;
        fs::write(&cut, &whole[..end]).unwrap();
        let mut shell = machine.bare_shell();
        piped(shell.env("ORANGE_DOWNLOAD", "http://127.0.0.1:9"), &cut);
        assert!(!machine.path("home/.local").exists(), "{end} bytes");
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let address = serve(release().to_owned(), false);
    for machine in machines() {
        fs::write(machine.path("file"), "").unwrap();
        let end = machine.install(&address, &["--to", "file/bin"]);
        assert_eq!(end.status, Some(1), "{end:?}");
        assert!(
            end.complaint.contains("file/bin cannot be written: name another folder with --to"),
            "{end:?}"
        );
    }
    let Some(machine) = machine() else { return };
    let closed = machine.path("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, Permissions::from_mode(0o555)).unwrap();
    fs::set_permissions(machine.path(""), Permissions::from_mode(0o755)).unwrap();
    let Some(mut shell) = without_rights(&machine) else { return };
    let end = piped(shell.args(["-s", "--", "--to"]).arg(&closed).env("ORANGE_DOWNLOAD", address), &script());
    assert_eq!(end.status, Some(1), "{end:?}");
    assert!(end.complaint.contains("closed cannot be written: name another folder with --to"), "{end:?}");
    assert!(machine.names(&closed).is_empty());
}

/// A shell of a user for whom permissions count: they do not count for root.
fn without_rights(machine: &Machine) -> Option<Command> {
    let shell = machine.bare_shell();
    let is_root = ended(Command::new("id").arg("-u")).out.trim() == "0";
    if !is_root {
        return Some(shell);
    }
    let Some(setpriv) = found("setpriv") else {
        eprintln!("SKIPPED: a folder that is read-only: root may write it, and setpriv is not installed");
        return None;
    };
    let mut command = Command::new(setpriv);
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(shell.get_program());
    command.args(shell.get_args()).env_clear().current_dir(machine.path(""));
    command.envs(shell.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Some(command)
}

#[test]
fn missing_programs_are_listed_after_the_installation() {
    let address = serve(release().to_owned(), false);
    for machine in machines() {
        for program in ["tmux", "claude"] {
            machine.lacks(program);
        }
        let to = machine.path("elsewhere");
        let end = machine.install(&address, &["--to", "elsewhere"]);
        check_done(
            &end,
            &[
                &format!("Orange {VERSION} is installed in {}", to.display()),
                &format!(
                    "missing: {0} on PATH; add it in your shell's profile: export PATH=\"{0}:$PATH\"",
                    to.display()
                ),
                "missing: tmux; install it with the packages of your system",
                "missing: a coding agent, for example claude, codex, opencode, pi, gemini or copilot",
                "next: run `orange setup`",
            ],
        );
        assert!(to.join("share/man/man1/orange.1").is_file());
    }
}

#[test]
fn programs_that_the_installation_needs_are_named() {
    let address = serve(release().to_owned(), false);
    for machine in machines() {
        machine.lacks_the(1);
        check_refused(&machine, &address, &[], "sha256sum or shasum is missing");
        machine.lacks_the(0);
        check_refused(&machine, &address, &[], "curl or wget is missing");
    }
}

#[test]
fn a_program_that_does_not_run_here_replaces_nothing() {
    let Some(machine) = machine() else { return };
    let copy = copied();
    let programs = TempDir::new().unwrap();
    for name in PROGRAMS {
        orange_testkit::write_program(&programs.path().join(name), "#!/bin/sh\nexit 1\n");
    }
    let mut xtask = Command::new(crate::download::xtask());
    xtask.args(["release", "--target", "x86_64-unknown-linux-musl", "--programs"]).arg(programs.path());
    assert_eq!(ended(xtask.arg("--out").arg(copy.path())).status, Some(0));
    let address = serve(copy.path().to_owned(), false);
    check_refused(&machine, &address, &[], "does not run on this system");
}

#[test]
fn one_program_or_one_version_can_be_asked_for() {
    let address = serve(release().to_owned(), false);
    let Some(machine) = machine() else { return };
    let end = machine.install(&address, &["--only", "orange-workflow", "--version", &format!("v{VERSION}")]);
    check_done(&end, &[&installed(&machine)]);
    assert_eq!(machine.names(&machine.bin()), ["orange-workflow"]);
    assert!(!machine.path("home/.local/share").exists());
    fs::remove_file(machine.bin().join("orange-workflow")).unwrap();
    check_refused(&machine, &address, &["--version", "9.9.9"], &format!("is {VERSION}, and not 9.9.9"));
    check_refused(&machine, &address, &["--only", "orange-x"], "has no program orange-x");
    check_refused(&machine, &address, &["--to"], "--to needs a value");
    check_refused(&machine, &address, &["--from", "x"], "there is no option --from");
    check_refused(&machine, "", &[], "this install.sh is of no release");
    assert!(machine.install(&address, &["--help"]).out.starts_with("Usage: sh install.sh [--to DIR]"));
}

#[test]
fn the_script_of_a_release_asks_its_repository() {
    let Some(machine) = machine() else { return };
    let says = "https://forge.example/o/orange/releases/";
    // This curl prints what it is asked for.
    machine.lacks_the(0);
    orange_testkit::write_program(
        &machine.path("tools/curl"),
        "#!/bin/sh\nfor it; do :; done\necho \"$it\"; exit 22\n",
    );
    for (args, file) in [(&[][..], "latest/download"), (&["--version", "0.2.0"][..], "download/v0.2.0")] {
        let end = ended(machine.shell(&release().join("install.sh")).args(args));
        assert_eq!((end.status, end.out), (Some(1), format!("{says}{file}/SHA256SUMS\n")));
    }
}

#[test]
fn the_same_programs_give_the_same_release() {
    let files = |folder: &Path| {
        let mut files: Vec<(PathBuf, Vec<u8>)> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| (entry.file_name().into(), fs::read(entry.path()).unwrap()))
            .collect();
        files.sort();
        files
    };
    let other = tempfile::tempdir().unwrap();
    for (target, _, _) in SYSTEMS.into_iter().rev() {
        pack(target, other.path());
    }
    let (one, other) = (files(release()), files(other.path()));
    let names: Vec<_> = one.iter().map(|(name, _)| name.display().to_string()).collect();
    let mut expected = vec!["SHA256SUMS".to_owned(), "install.sh".to_owned(), "orange.rb".to_owned()];
    for (target, _, _) in SYSTEMS {
        expected.extend(["orange", "orange-fleet"].map(|package| archive(package, target)));
    }
    expected.sort();
    assert_eq!(names, expected);
    assert!(one == other, "the bytes differ");
}

#[test]
fn a_system_that_cannot_be_built_for_is_left_out() {
    let run = |args: &[&str]| {
        let out = tempfile::tempdir().unwrap();
        ended(Command::new(crate::download::xtask()).arg("release").args(args).arg("--out").arg(out.path()))
    };
    if cfg!(target_os = "linux") {
        let end = run(&["--target", "aarch64-apple-darwin"]);
        assert_eq!(end.status, Some(2), "{end:?}");
        let says = "LEFT OUT: aarch64-apple-darwin: its archives are built on macOS";
        assert!(end.complaint.starts_with(says), "{end:?}");
    }
    let end = run(&["--collect"]);
    assert!(end.status == Some(2) && end.complaint.contains("has no archive of Orange"), "{end:?}");
    let end = run(&["--collect", "--tag", "v9.9.9"]);
    assert!(end.complaint.contains(&format!("the tag v9.9.9 is not v{VERSION}")), "{end:?}");
}
