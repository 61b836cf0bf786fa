//! Stand-in programs are installed into a scratch folder.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

/// A program in the place of one that cargo has built, which says how it was called.
const STAND_IN: &str =
    "#!/bin/sh\nif [ \"$1\" = manual ]; then echo page > \"$2/${0##*/}.1\"; else echo \"${0##*/} $*\"; fi\n";

fn stand_ins(folder: &Path, names: &[&str]) {
    make_writable(folder).unwrap();
    for name in names {
        fs::write(folder.join(name), STAND_IN).unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// The files below a folder, from there.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path.strip_prefix(folder).unwrap().display().to_string());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn everything_is_built_by_one_call_of_cargo() {
    let arguments = |fleet| cargo_arguments(&programs(fleet), "x86_64-unknown-linux-gnu").join(" ");
    let plain = "build --profile quick --target x86_64-unknown-linux-gnu --package orange --package orange-dashboard \
                 --package orange-workflow";
    assert_eq!(arguments(false), plain);
    assert_eq!(arguments(true), format!("{plain} --package orange-fleet --package orange-mcp"));
}

#[test]
fn files_go_where_shells_and_man_look() {
    let shown = |folders: &InstallFolders| folders.all().map(|it| it.display().to_string()).join("\n");
    assert_eq!(
        shown(&InstallFolders::of_home(Some(Path::new("/h")), None).unwrap()),
        "/h/.local/bin\n/h/.local/share/bash-completion/completions\n/h/.local/share/zsh/site-functions\n\
         /h/.local/share/fish/vendor_completions.d\n/h/.local/share/man/man1"
    );
    let data = shown(&InstallFolders::of_home(Some(Path::new("/h")), Some(Path::new("/d"))).unwrap());
    assert!(data.contains("\n/d/fish/vendor_completions.d\n/h/.local/share/man/man1"), "{data}");
    assert!(shown(&InstallFolders::at(Path::new("/usr/local/bin"))).contains("\n/usr/local/share/man/man1"));
    assert!(shown(&InstallFolders::at(Path::new("/opt/orange"))).contains("\n/opt/orange/share/man/man1"));
    assert!(InstallFolders::of_home(None, None).unwrap_err().contains("`--to DIR`"));
}

#[test]
fn programs_completions_and_pages_are_installed() {
    let scratch = tempfile::tempdir().unwrap();
    let folders = InstallFolders::at(&scratch.path().join("to/bin"));
    stand_ins(&scratch.path().join("built"), &PROGRAMS);
    folders.all().into_iter().for_each(|folder| make_writable(folder).unwrap());
    install_built(&scratch.path().join("built"), &folders, &programs(false)).unwrap();
    let to = scratch.path().join("to");
    assert_eq!(
        files(&to),
        [
            "bin/orange",
            "bin/orange-dashboard",
            "bin/orange-workflow",
            "share/bash-completion/completions/orange",
            "share/bash-completion/completions/orange-workflow",
            "share/fish/vendor_completions.d/orange-workflow.fish",
            "share/fish/vendor_completions.d/orange.fish",
            "share/man/man1/orange-workflow.1",
            "share/man/man1/orange.1",
            "share/zsh/site-functions/_orange",
            "share/zsh/site-functions/_orange-workflow",
        ]
    );
    let zsh = fs::read_to_string(to.join("share/zsh/site-functions/_orange-workflow")).unwrap();
    assert_eq!(zsh, "orange-workflow completions zsh\n");
    let mode = fs::metadata(to.join("bin/orange")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[test]
fn a_program_that_fails_says_which() {
    let scratch = tempfile::tempdir().unwrap();
    let folders = InstallFolders::at(&scratch.path().join("to/bin"));
    stand_ins(&scratch.path().join("built"), &PROGRAMS);
    fs::write(scratch.path().join("built/orange"), "#!/bin/sh\necho no disk >&2\nexit 3\n").unwrap();
    folders.all().into_iter().for_each(|folder| make_writable(folder).unwrap());
    let message = install_built(&scratch.path().join("built"), &folders, &programs(false)).unwrap_err();
    assert!(message.contains("orange completions bash") && message.contains("no disk"), "{message}");
    assert_eq!(files(&folders.bash), [""; 0]);
}

#[test]
fn missing_requirements_are_those_of_the_doctor() {
    let said = "ok       tmux         tmux 3.4\n\
                broken   git          git 2.30 is too old\n                      → install git 2.38 or newer\n\
                ok       home         /h/orange\n\
                warning  harnesses    no claude on PATH\n                      → install it\n\
                warning  monitor      none\n                      → leave `orange monitor` running\n";
    assert_eq!(
        requirements(said),
        "ok       tmux         tmux 3.4\n\
         broken   git          git 2.30 is too old\n                      → install git 2.38 or newer\n\
         warning  harnesses    no claude on PATH\n                      → install it"
    );
    assert_eq!(requirements(""), "`orange doctor` says what is missing");
}

#[test]
fn a_folder_that_is_not_on_path_has_a_remedy() {
    let scratch = tempfile::tempdir().unwrap();
    let (bin, other) = (scratch.path().join("bin"), scratch.path().join("other"));
    stand_ins(&bin, &["orange"]);
    stand_ins(&other, &["orange"]);
    let path = |folders: &[&Path]| std::env::join_paths(folders).unwrap();
    assert_eq!(path_hint(&bin, &path(&[&bin, &other])), None);
    let first = path_hint(&bin, &path(&[&other, &bin])).unwrap();
    assert!(first.contains("other/orange on PATH, before "), "{first}");
    let none = path_hint(&bin, &path(&[Path::new("/nowhere")])).unwrap();
    assert!(
        none.contains("bin is not on PATH: add `export PATH=") && none.contains("fish_add_path"),
        "{none}"
    );
}

#[test]
fn a_folder_that_is_not_writable_is_refused_before_the_build() {
    let scratch = tempfile::tempdir().unwrap();
    fs::write(scratch.path().join("flow.yml"), "name: a").unwrap();
    // Cargo cannot run in a folder that is not there, and would be what fails.
    let workspace = OwnRepository { root: scratch.path().join("nowhere") };
    let workflows = Some(scratch.path().to_path_buf());
    let arguments = Install { to: Some(scratch.path().join("flow.yml/bin")), fleet: false, workflows };
    let message = run(&workspace, &arguments).unwrap_err();
    assert!(message.contains("flow.yml/bin cannot be written: "), "{message}");
}
