//! Each row of the table "What may be missing" holds: the command runs where that piece is missing, and answers as the table says.

use std::fs;
use std::process::Command;

use crate::given::{GivenWorld, Setting};
use crate::page::MarkdownPage;
use crate::said::ProgramOutput;
use crate::world::{target_program, write_program};

const PAGE: &str = "docs/installing.md";
const HEAD: &str = "| missing | command | answer | what helps | exit status |\n|---|---|---|---|---|\n";

/// The programs that an installation needs.
const PROGRAMS: &[&str] = &["git", "tmux", "claude"];

/// Takes a piece away from a world, and gives `orange` there.
type Taking = fn(&Setting) -> Command;

/// Each row by its first column, with the world from which its piece is taken.
const ROWS: &[(&str, GivenWorld, Taking)] = &[
    ("tmux", GivenWorld::Repository, |place| with_all_but(place, "tmux")),
    ("a tmux that is new enough", GivenWorld::Repository, |place| {
        let orange = with_all_but(place, "tmux");
        write_program(&place.world.path("tools/tmux"), "#!/bin/sh\necho tmux 2.8\n");
        orange
    }),
    ("git", GivenWorld::Repository, |place| with_all_but(place, "git")),
    ("your name in git", GivenWorld::Project, |place| {
        fs::remove_file(place.world.path("home/.gitconfig")).unwrap();
        place.world.command(place.world.program)
    }),
    ("a repository", GivenWorld::Repository, |place| {
        fs::remove_dir_all(place.folder.join(".git")).unwrap();
        place.world.command(place.world.program)
    }),
    ("a commit in the repository", GivenWorld::Repository, |place| {
        fs::remove_dir_all(place.folder.join(".git")).unwrap();
        place.world.git(&place.folder, &["init", "--quiet"]);
        place.world.command(place.world.program)
    }),
    ("a coding agent on `PATH`", GivenWorld::Repository, |place| with_all_but(place, "claude")),
    ("a login of the coding agent", GivenWorld::Project, |place| {
        fs::remove_file(place.world.path("home/.claude.json")).unwrap();
        place.world.command(place.world.program)
    }),
    ("your agreement to its questions", GivenWorld::Project, |place| {
        let known = "{\"hasCompletedOnboarding\": true}";
        fs::write(place.world.path("home/.claude.json"), known).unwrap();
        place.world.command(place.world.program)
    }),
    ("a user other than root", GivenWorld::Project, |place| {
        let mut orange = place.world.command(place.world.program);
        orange.env_remove("IS_SANDBOX");
        orange
    }),
    ("a disk of Linux, in WSL", GivenWorld::Repository, |place| {
        let mut orange = place.world.command(place.world.program);
        orange.envs([("WSL_DISTRO_NAME", "Debian"), ("ORANGE_HOME", "/mnt/c/orange")]);
        orange
    }),
    ("a terminal, in a container", GivenWorld::Project, |place| {
        target_program("orange-dashboard");
        place.world.command(place.world.program)
    }),
    ("the folder of `orange` on `PATH`", GivenWorld::Repository, |place| with_all_but(place, "")),
];

/// `orange` with nothing but the programs that it needs, less one.
fn with_all_but(place: &Setting, missing: &str) -> Command {
    let there: Vec<_> = PROGRAMS.iter().copied().filter(|program| *program != missing).collect();
    place.world.with_only(&there)
}

/// A row of the table.
struct MissingPiece<'p> {
    name: &'p str,
    command: &'p str,
    answer: &'p str,
    help: &'p str,
    status: i32,
}

fn rows(page: &MarkdownPage) -> Vec<MissingPiece<'_>> {
    let (_, from) = page.text.split_once(HEAD).unwrap();
    let row = |line| {
        let cells: Vec<&str> = str::trim(line).trim_matches('|').split(" | ").map(str::trim).collect();
        let [name, command, answer, help, status] = cells[..] else { panic!("{PAGE}: {line}") };
        let [command, answer, help] = [command, answer, help].map(|cell| cell.trim_matches('`').trim());
        MissingPiece { name, command, answer, help, status: status.parse().unwrap() }
    };
    from.lines().take_while(|line| line.starts_with('|')).map(row).collect()
}

#[test]
fn every_missing_piece_is_answered_as_documented() {
    let page = MarkdownPage::read(PAGE);
    let rows = rows(&page);
    assert!(rows.iter().map(|row| row.name).eq(ROWS.iter().map(|row| row.0)), "{PAGE} has other rows");
    for (row, (_, given, take)) in rows.iter().zip(ROWS) {
        if row.name == "a user other than root" && !is_root() {
            eprintln!("SKIPPED: the row about root, since root does not run this test");
            continue;
        }
        let place = Setting::new(*given);
        let mut orange = take(&place);
        let words = row.command.strip_prefix("orange ").unwrap().split(' ');
        let said = ProgramOutput::of(orange.args(words).current_dir(&place.folder));
        let home = place.world.path("home");
        let all = [said.out.as_str(), &said.err].concat().replace(home.to_str().unwrap(), "~");
        assert_eq!(said.status, row.status, "{}: {all}", row.name);
        for expected in [row.answer, row.help] {
            assert!(all.contains(expected), "{}: `{expected}` is not in:\n{all}", row.name);
        }
    }
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().unwrap();
    output.stdout.trim_ascii() == b"0"
}
